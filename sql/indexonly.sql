--
-- What index-only scans of general keys return: columns in the head and behind
-- it, short and long strings and NULLs side by side, keys of several rows, many
-- columns of a page that need much more room than they take there.
--
CREATE SCHEMA fpt_indexonly;
SET search_path = fpt_indexonly, public;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE t AS
SELECT CASE WHEN n % 17 <> 0 THEN n % 300 - 150 END AS i,
	   (n % 11 - 5)::int8 * 5000000000 AS l,
	   left(md5((n % 900)::text), n % 33) COLLATE "C" AS s,
	   CASE n % 7 WHEN 0 THEN repeat(md5(n::text), 3 + n % 3) WHEN 1 THEN NULL
		   WHEN 2 THEN repeat('x', 3000 + n) ELSE left(md5(n::text), n % 20) END
		   COLLATE "C" AS w,
	   md5((n % 500)::text)::uuid AS u,
	   timestamptz '2026-01-01 UTC' + n % 13 * interval '1 hour' AS ts,
	   n % 5 = 0 AS b,
	   n::int2 AS h,
	   (n % 10)::numeric / 4 AS nu,
	   ('n' || n % 50)::name AS na,
	   n % 3 * interval '1 month' AS iv
FROM generate_series(1, 3000) n;

CREATE FUNCTION compare(cols text, def text, flt text DEFAULT 'true')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q text := format('SELECT %s FROM t WHERE %s', cols, flt);
	plan text := '';
	line text;
	missing int;
	extra int;
BEGIN
	EXECUTE format('CREATE INDEX t_x ON t USING fptree %s', def);
	FOR line IN EXECUTE 'EXPLAIN ' || q LOOP
		plan := plan || line;
	END LOOP;
	IF plan NOT LIKE '%Index Only Scan using t_x%' THEN
		RETURN 'another plan: ' || plan;
	END IF;
	EXECUTE 'CREATE TEMP TABLE got AS ' || q;
	DROP INDEX t_x;
	EXECUTE format('SELECT count(*) FROM (%s EXCEPT ALL TABLE got) x', q)
		INTO missing;
	EXECUTE format('SELECT count(*) FROM (TABLE got EXCEPT ALL %s) x', q)
		INTO extra;
	DROP TABLE got;
	RETURN format('%s missing, %s wrong', missing, extra);
END $$;

VACUUM (FREEZE, ANALYZE) t;

SELECT def, compare(cols, def)
FROM (VALUES
	('s', '(s)'),
	('s', '(s DESC)'),
	('w', '(w)'),
	('w', '(w NULLS FIRST)'),
	('i, s', '(i, s)'),
	('i, l', '(i DESC, l)'),
	('i, u', '(i, u)'),
	('l, i, w', '(l, i, w)'),
	('u, b, h', '(u, b, h)'),
	('u, ts', '(u DESC) INCLUDE (ts)'),
	('s, ts, iv', '(s, ts) INCLUDE (iv)'),
	('s, w, l', '(s) INCLUDE (w, l)'),
	('ts, na, nu', '(ts, na) INCLUDE (nu)'),
	('iv, h, s', '(iv, h, s)'),
	('i, s, ts, l, u, iv', '(i) INCLUDE (s, ts, l, u, iv)')) v (cols, def);

-- with entries that the quals rule out, on pages with a dictionary too
SELECT def, compare(cols, def, flt)
FROM (VALUES
	('s, ts', '(s, ts)', 'extract(hour FROM ts) < 20 AND s LIKE ''%1%'''),
	('s', '(s)', 's LIKE ''%a%'''),
	('w, i', '(w) INCLUDE (i)', 'i > 0 AND w > ''4''')) v (cols, def, flt);

-- few bytes in the page, many in index tuples
CREATE TABLE many (a int, c1 text, c2 text, c3 text, c4 text, c5 text, c6 text,
				   c7 text, c8 text, c9 text, c10 text, c11 text, c12 text);
INSERT INTO many
SELECT n, '', '', '', '', '', '', '', '', '', '', '', n::text
FROM generate_series(1, 2000) n;
CREATE INDEX many_x ON many USING fptree
	(a) INCLUDE (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12);
VACUUM (FREEZE, ANALYZE) many;
EXPLAIN (COSTS OFF) SELECT * FROM many WHERE a > 0;
SELECT count(*), sum(a), sum(c12::int), max(length(many::text)), bool_and(c12 = a::text)
FROM (SELECT * FROM many WHERE a > 0) many;

-- cursors keep what they have returned, and can go back
CREATE INDEX t_s ON t USING fptree (s, w);
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT s, left(w, 10), length(w) FROM t WHERE s > 'c' ORDER BY s, w;
FETCH 3 FROM c;
MOVE 700 IN c;
FETCH 2 FROM c;
MOVE BACKWARD 701 IN c;
FETCH BACKWARD 3 FROM c;
COMMIT;

-- mark and restore, where keys repeat
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(length(x.s) + length(y.s))
FROM t x JOIN t y ON x.s = y.s AND x.w = y.w;
SELECT count(*), sum(length(x.s) + length(y.s))
FROM t x JOIN t y ON x.s = y.s AND x.w = y.w;

RESET search_path;
SELECT * FROM fpt_check_all();

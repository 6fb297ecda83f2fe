--
-- Kinds of scans: trees of several levels, leaves that are read by parts, index-only
-- scans.
--

--
-- Kinds of scans over trees of several levels.
--
CREATE SCHEMA fpt_scans;
SET search_path = fpt_scans, public;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;

-- Narrow nodes make many pages of few rows.
CREATE TABLE t (id int, a int4, b int8, c date);
INSERT INTO t
	SELECT i, CASE WHEN i % 50 <> 0 THEN (i * 7919::int8 % 10007)::int4 * 2 END,
		   i / 7, '2000-01-01'::date + i % 400
	FROM generate_series(1, 5000) i;
SET fptree.debug_node_lines = '1,2';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 30);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_b ON t USING fptree (b DESC)
	WITH (fillfactor = 10);
RESET fptree.debug_node_lines;
CREATE INDEX t_c ON t USING fptree (c NULLS FIRST);
INSERT INTO t
	SELECT i, CASE WHEN i % 50 <> 0 THEN (i * 7919::int8 % 10007)::int4 * 2 END,
		   i / 7, '2000-01-01'::date + i % 400
	FROM generate_series(5001, 10000) i;
DELETE FROM t WHERE id % 9 = 5;
VACUUM ANALYZE t;

-- Ranges, open and closed, over page boundaries
SELECT * FROM fpt_compare((
	SELECT array_agg(format('SELECT id FROM t WHERE a %s %s AND a %s %s',
							o1, lo, o2, lo + len))
	FROM unnest('{>,>=}'::text[]) o1, unnest('{<,<=}'::text[]) o2,
		 generate_series(-3, 20100, 773) lo, unnest('{0,1,2,300,9000}'::int[]) len),
	'{index,bitmap}');
SELECT * FROM fpt_compare((
	SELECT array_agg(format('SELECT a FROM t WHERE a %s %s AND a %s %s ORDER BY a %s',
							o1, lo, o2, lo + len, dir))
	FROM unnest('{>,>=}'::text[]) o1, unnest('{<,<=}'::text[]) o2,
		 generate_series(-3, 20100, 1773) lo, unnest('{0,1,2,300,9000}'::int[]) len,
		 unnest('{"ASC","DESC"}'::text[]) dir),
	'{index,only}');
SELECT * FROM fpt_compare((
	SELECT array_agg(format('SELECT b FROM t WHERE b %s %s ORDER BY b %s LIMIT 40',
							op, v, dir))
	FROM unnest('{<,<=,=,>=,>}'::text[]) op, generate_series(-1, 1430, 97) v,
		 unnest('{"ASC","DESC"}'::text[]) dir));

-- Contradictory, redundant and repeated quals
SELECT * FROM fpt_compare('{
	SELECT id FROM t WHERE a > 10 AND a < 10,
	SELECT id FROM t WHERE a >= 10 AND a <= 10,
	SELECT id FROM t WHERE a > 10 AND a < 5,
	SELECT id FROM t WHERE a = 10 AND a = (SELECT 12),
	SELECT id FROM t WHERE a = 10 AND a = 10::int8,
	SELECT id FROM t WHERE a = 10 AND a > 12,
	SELECT id FROM t WHERE a = 10 AND a > 5 AND a < 12 AND a >= 10,
	SELECT id FROM t WHERE a > 5 AND a > 50 AND a > 500 AND a < 600 AND a <= 700,
	SELECT id FROM t WHERE a >= 50 AND a > 50 AND a <= 60 AND a < 60,
	SELECT id FROM t WHERE a IS NULL AND a IS NOT NULL,
	SELECT id FROM t WHERE a IS NULL AND a > 5,
	SELECT id FROM t WHERE a IS NULL AND a IS NULL,
	SELECT id FROM t WHERE a IS NOT NULL AND a > 19000,
	SELECT id FROM t WHERE a IS NOT NULL AND a IS NOT NULL AND a < 100,
	SELECT id FROM t WHERE a IN (1) AND a > 0 OR a IS NULL,
	SELECT id FROM t WHERE a > -1::int2 AND a < 40::int8}', '{bitmap}');

-- Bounds of another type, beyond what the column can hold
SELECT * FROM fpt_compare((
	SELECT array_agg(format('SELECT id FROM t WHERE %s %s %s', col, op, v))
	FROM unnest('{<,<=,=,>=,>}'::text[]) op,
		 (VALUES ('a', '4294967300::int8'), ('a', '(-4294967300)::int8'),
				 ('a', '2147483648::int8'), ('a', '100::int2'),
				 ('b', '32767::int2'), ('b', '(-32768)::int2'),
				 ('b', '1000::int4'),
				 ('c', '''2000-06-01 00:00:00.000001''::timestamp'),
				 ('c', '''2000-06-01''::timestamptz'),
				 ('c', '''infinity''::timestamp'),
				 ('c', '''294276-12-31 23:59:59+00''::timestamptz'),
				 ('c', '''4714-11-24 00:00:00+00 BC''::timestamptz')) x(col, v)),
	'{index,bitmap}');
-- the same with a value known only at run time
CALL fpt_use('index');
SELECT v, (SELECT count(*) FROM t WHERE a < v), (SELECT count(*) FROM t WHERE a >= v),
		  (SELECT count(*) FROM t WHERE a = v)
	FROM unnest('{-9223372036854775808,-1,0,14,4294967310,9223372036854775807,NULL}'::int8[]) v;
CALL fpt_use('any');

-- = ANY
SELECT * FROM fpt_compare((
	SELECT array_agg(format('SELECT a FROM t WHERE a = ANY (''%s''::%s[])%s', arr, typ, q))
	FROM unnest('{int2,int4,int8}'::text[]) typ,
		 (VALUES ('{}'), ('{NULL}'), ('{8}'), ('{8,8,8}'), ('{20000,8,4,NULL,6,8,7,-3}'),
				 ('{1,3,5}'), ('{-32768,32767}')) x(arr),
		 (VALUES (''), (' AND a > 4'), (' AND a <= 6 AND a >= 0'), (' AND a = 8'),
				 (' AND a = ANY (''{4,6,8,10}'')'), (' AND a IS NOT NULL')) y(q)));
SELECT * FROM fpt_compare((
	SELECT array_agg(format('SELECT id FROM t WHERE a %s %s (''%s'')', op, kind, arr))
	FROM unnest('{<,<=,=,>=,>}'::text[]) op, unnest('{ANY}'::text[]) kind,
		 (VALUES ('{}'), ('{NULL}'), ('{19990,40}'), ('{40,NULL,19990,19990}')) x(arr)),
	'{index,bitmap}');
CALL fpt_use('index');
SELECT a FROM t WHERE a = ANY ('{40,2,NULL,40,6,4,100001}');
SELECT count(*) FROM t WHERE a = ANY ((SELECT array_agg(i) FROM generate_series(0, 20200, 3) i)::int[]);
CALL fpt_use('bitmap');
SELECT count(*) FROM t WHERE a = ANY ((SELECT array_agg(i) FROM generate_series(0, 20200, 3) i)::int[]);
CALL fpt_use('seq');
SELECT count(*) FROM t WHERE a = ANY ((SELECT array_agg(i) FROM generate_series(0, 20200, 3) i)::int[]);

-- Minimum and maximum, with and without NULLs in the way
CALL fpt_use('index');
SELECT fpt_explain('SELECT min(a), max(a) FROM t');
SELECT min(a), max(a), min(b), max(b), min(c), max(c) FROM t;
SELECT max(a) FROM t WHERE a < 777;
SELECT min(a) FROM t WHERE a > 777;
SELECT min(a) FROM t WHERE a > 100000;

-- Merge joins with marking and restoring, duplicates on both sides
CALL fpt_drop_families();
CREATE TABLE m1 (a int, x int);
CREATE TABLE m2 (a int8, x int);
INSERT INTO m1 SELECT i / 3, i FROM generate_series(1, 900) i;
INSERT INTO m2 SELECT i / 40 * 2, i FROM generate_series(1, 9000) i;
CREATE INDEX ON m1 USING fptree (a);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX ON m2 USING fptree (a)
	WITH (fillfactor = 20);
RESET fptree.debug_node_lines;
ANALYZE m1, m2;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
SELECT * FROM fpt_explain('SELECT count(*), sum(m1.x), sum(m2.x) FROM m1 JOIN m2 USING (a)') plan
	WHERE plan ~ 'Join|Loop|Sort';
SELECT count(*), sum(m1.x), sum(m2.x) FROM m1 JOIN m2 USING (a);
SELECT count(*), sum(m1.x), sum(m2.x) FROM m1 JOIN m2 USING (a) WHERE m2.a IN (20, 30, 40, 10);
SELECT m1.a, count(*) FROM m1 JOIN m2 USING (a) GROUP BY 1 ORDER BY 1 DESC LIMIT 3;
CALL fpt_use('seq');
RESET enable_hashjoin;
SELECT count(*), sum(m1.x), sum(m2.x) FROM m1 JOIN m2 USING (a);
SELECT count(*), sum(m1.x), sum(m2.x) FROM m1 JOIN m2 USING (a) WHERE m2.a IN (20, 30, 40, 10);
SELECT m1.a, count(*) FROM m1 JOIN m2 USING (a) GROUP BY 1 ORDER BY 1 DESC LIMIT 3;
RESET enable_nestloop;
RESET enable_material;

-- Nested loops rescan the index with ever new keys.
CALL fpt_use('only');
SET enable_mergejoin = off;
SET enable_hashjoin = off;
SET enable_memoize = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM generate_series(-10, 21000) g, t WHERE t.a = g;
SELECT count(*) FROM generate_series(-10, 21000) g, t WHERE t.a = g;
SELECT count(*) FROM generate_series(-10, 21000, 70) g, t WHERE t.a > g AND t.a <= g + 70;
CALL fpt_use('seq');
SET enable_hashjoin = on;
SELECT count(a) FROM t WHERE a BETWEEN -10 AND 21000;
SET enable_mergejoin = on;
SET enable_memoize = on;

-- Bitmaps combined, lossy bitmaps
CALL fpt_use('bitmap');
SET work_mem = '64kB';
SELECT count(*) FROM t WHERE a < 3000 AND b > 100 AND c >= '2000-02-02';
SELECT count(*) FROM t WHERE a < 3000 OR b = 100 OR c IS NULL;
CALL fpt_use('seq');
SELECT count(*) FROM t WHERE a < 3000 AND b > 100 AND c >= '2000-02-02';
SELECT count(*) FROM t WHERE a < 3000 OR b = 100 OR c IS NULL;
RESET work_mem;

-- Parallel scans
CALL fpt_use('any');
SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), sum(a) FROM t WHERE a > 100 AND a < 15000;
SELECT count(*), sum(id) FROM t WHERE a = ANY ('{2,4,6,8,4000,10000}');
SET enable_bitmapscan = off;
SELECT count(*), sum(id) FROM t WHERE a > 100 AND a < 15000;
SELECT count(*), sum(id) FROM t WHERE a = ANY ('{2,4,6,8,4000,10000}');
SET max_parallel_workers_per_gather = 0;
CALL fpt_use('seq');
SELECT count(*), sum(a), sum(id) FROM t WHERE a > 100 AND a < 15000;
SELECT count(*), sum(id) FROM t WHERE a = ANY ('{2,4,6,8,4000,10000}');

-- Scans of empty indexes, of one row, and of NULLs only
CREATE TABLE e (a int);
CREATE INDEX e_a ON e USING fptree (a);
CALL fpt_use('index');
SELECT * FROM e WHERE a = 1;
SELECT * FROM e ORDER BY a DESC;
SELECT min(a), max(a) FROM e;
INSERT INTO e VALUES (NULL);
SELECT a IS NULL FROM e ORDER BY a;
SELECT min(a), max(a) FROM e;
SELECT count(*) FROM e WHERE a IS NULL;
SELECT count(*) FROM e WHERE a IS NOT NULL;
INSERT INTO e VALUES (1);
SELECT a FROM e ORDER BY a;
SELECT a FROM e ORDER BY a DESC;
SELECT a FROM e WHERE a >= 1 AND a <= 1;
INSERT INTO e SELECT NULL FROM generate_series(1, 3000);
SELECT count(*) FROM e WHERE a IS NULL;
SELECT a FROM e WHERE a IS NOT NULL;
SELECT a FROM e ORDER BY a LIMIT 2;
SELECT a FROM e ORDER BY a DESC OFFSET 2999;

SELECT fpt_check_all();

\c -
--
-- A dense leaf is read by parts: one node, then four, and so on.
--
CREATE SCHEMA fpt_parts;
SET search_path = fpt_parts, public;
SET client_min_messages = warning;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;

-- leaves of many entries: numbers in order, many of one value, of 16 bytes, and
-- NULLs on either side
CREATE TABLE t (a int8, d int4, u uuid, n int4, b int4) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i / 700, md5(i::text)::uuid, CASE WHEN i % 3 > 0 THEN i END, i
	FROM generate_series(1, 6000) i;
CREATE INDEX t_a ON t USING fptree (a);
CREATE INDEX t_d ON t USING fptree (d DESC);
CREATE INDEX t_u ON t USING fptree (u);
CREATE INDEX t_n ON t USING fptree (n NULLS FIRST);
VACUUM ANALYZE t;
SELECT ix, 6000 / leaf_pages > 300 AS dense FROM
	unnest('{t_a,t_d,t_u,t_n}'::regclass[]) ix, fptree_stat(ix);

-- A cursor goes to and fro over the borders of parts: what it returns after each
-- move is what the list of all rows has there.
CREATE FUNCTION to_and_fro(query text, steps int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	wanted int[];
	c refcursor;
	got int;
	at int := 0;
	differ int := 0;
	n int;
BEGIN
	EXECUTE format('SELECT array_agg(b) FROM (%s) s', query) INTO wanted;
	OPEN c SCROLL FOR EXECUTE query;
	FOR round IN 1..12 LOOP
		FOREACH n IN ARRAY steps LOOP
			at := least(greatest(at + n, 0), array_length(wanted, 1) + 1);
			IF n > 0 THEN
				MOVE FORWARD n - 1 FROM c;
				FETCH NEXT FROM c INTO got;
			ELSE
				MOVE BACKWARD -n - 1 FROM c;
				FETCH PRIOR FROM c INTO got;
			END IF;
			differ := differ + (got IS DISTINCT FROM wanted[at])::int;
		END LOOP;
	END LOOP;
	CLOSE c;
	RETURN format('%s rows, %s differ', array_length(wanted, 1), differ);
END $$;
SELECT query, to_and_fro(query, steps) FROM unnest(ARRAY[
	'SELECT b FROM t ORDER BY a', 'SELECT b FROM t ORDER BY a DESC',
	'SELECT b FROM t WHERE a > 1000 AND a <= 3333 ORDER BY a',
	'SELECT b FROM t WHERE a > 1000 AND a <= 3333 ORDER BY a DESC',
	'SELECT a::int4 AS b FROM t WHERE a > 1000 ORDER BY a',
	'SELECT b FROM t WHERE d = 3', 'SELECT b FROM t ORDER BY d', 'SELECT b FROM t ORDER BY d DESC',
	'SELECT b FROM t ORDER BY u', 'SELECT b FROM t ORDER BY u DESC',
	'SELECT b FROM t WHERE u > ''79999999-0000-0000-0000-000000000000'' ORDER BY u',
	'SELECT b FROM t ORDER BY n NULLS FIRST', 'SELECT b FROM t ORDER BY n DESC NULLS LAST',
	'SELECT b FROM t WHERE n IS NULL']) query,
	LATERAL (VALUES (1, '{1,5,30,-20,100,-70,-1,64,64,-128}'::int[]),
		(2, '{3,-2,500,-499,700,-350}'), (3, '{6001,-1,-25,-26,10,-300,1,-5000,30,-60,7000}')) s (nr, steps)
ORDER BY query COLLATE "C", nr;

-- An open scan that has returned a row has no room for more than a part (B3).
CREATE FUNCTION room(query text, n int) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	bytes int8;
BEGIN
	OPEN c FOR EXECUTE query;
	MOVE FORWARD n FROM c;
	SELECT sum(used_bytes) INTO bytes FROM pg_backend_memory_contexts WHERE name = 'fptree scan';
	CLOSE c;
	RETURN bytes;
END $$;
SELECT query, room(query, 1) < 8192 AS first, room(query, 1000) > 8192 AS later FROM unnest(ARRAY[
	'SELECT b FROM t ORDER BY a', 'SELECT b FROM t ORDER BY a DESC', 'SELECT a FROM t ORDER BY a',
	'SELECT b FROM t ORDER BY d']) query;

-- A part may end among the values that follow NULLs.
CREATE TABLE kn AS
	SELECT CASE WHEN i > 116 THEN i END AS a FROM generate_series(1, 2000) i;
SET fptree.debug_node_lines = '1,8';
CREATE INDEX kn_a ON kn USING fptree (a NULLS FIRST);
RESET fptree.debug_node_lines;
VACUUM ANALYZE kn;
SELECT count(*), count(a), sum(a) FROM (SELECT a FROM kn ORDER BY a NULLS FIRST LIMIT 131) s;
-- Dead entries of each part of a leaf get hints, and parts of which all are dead
-- are passed by (B5).
CREATE TABLE k (a int4, b int4) WITH (autovacuum_enabled = off);
INSERT INTO k SELECT i, i FROM generate_series(1, 1000) i;
CREATE INDEX k_a ON k USING fptree (a);
VACUUM ANALYZE k;
DELETE FROM k WHERE a % 3 = 0 OR a BETWEEN 20 AND 700;
CREATE FUNCTION hints() RETURNS bigint LANGUAGE sql AS
	'SELECT sum(dead_entries) FROM fpt_page_numbers(''k_a'') p, fptree_page_stats(''k_a'', p)';
SELECT b FROM k WHERE a >= 1 ORDER BY a LIMIT 3;
SELECT hints() BETWEEN 1 AND 100 AS first_part;
SELECT count(b), sum(b) FROM k WHERE a >= 1;
SELECT hints() = 1000 - count(*) AS all_parts FROM k;
SELECT b FROM k WHERE a >= 15 ORDER BY a LIMIT 6;
SELECT b FROM k WHERE a <= 704 ORDER BY a DESC LIMIT 6;
SELECT count(b), sum(b) FROM (SELECT b FROM k ORDER BY a DESC) s;

-- Parts of a leaf are no steps from leaf to leaf: nothing is read ahead (B7).
SET effective_io_concurrency = 16;
CREATE FUNCTION leaves_ahead(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
	got text;
BEGIN
	SELECT sum(value) INTO before FROM fptree_prefetch_stats()
		WHERE counter IN ('leaf_issued', 'leaf_cached', 'skip_end', 'skip_limit');
	EXECUTE query INTO got;
	SELECT sum(value) - before INTO before FROM fptree_prefetch_stats()
		WHERE counter IN ('leaf_issued', 'leaf_cached', 'skip_end', 'skip_limit');
	RETURN got || ' rows, ' || before || ' leaves';
END $$;
SET fptree.heap_prefetch = off;
SELECT leaves_ahead('SELECT count(b) FROM k WHERE a > 0');
SELECT leaves_ahead('SELECT count(b) FROM (SELECT b FROM k ORDER BY a DESC) s');
RESET fptree.heap_prefetch;

-- marks within a part and in one that has been left
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(x.b::int8 * y.b) FROM t x JOIN t y ON x.d = y.d;
SELECT count(*), sum(x.b::int8 * y.b) FROM t x JOIN t y ON x.d = y.d;
SET enable_mergejoin = off;
SET enable_hashjoin = on;
SELECT count(*), sum(x.b::int8 * y.b) FROM t x JOIN t y ON x.d = y.d;

-- many scans one after the other, of which each goes on for some parts
SET enable_hashjoin = off;
SET enable_nestloop = on;
SELECT count(*), sum(b) FROM generate_series(1, 5000, 617) g,
	LATERAL (SELECT b FROM t WHERE a >= g ORDER BY a LIMIT g) s;
SELECT sum(greatest(0, least(g, 6001 - g))) FROM generate_series(1, 5000, 617) g;

SELECT fpt_check_all();

\c -
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

-- Elements of an array that are far apart: a leaf parent is asked once for the
-- leaves of many.

SET client_min_messages = warning;
DROP SCHEMA IF EXISTS fpt_far CASCADE;
RESET client_min_messages;
CREATE SCHEMA fpt_far;
SET search_path = fpt_far, public;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

CREATE TABLE t (a int8, d int4, u uuid) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT hashint8extended(n, 1), hashint8(n), md5(n::text)::uuid
FROM generate_series(1, 100000) n;
CREATE INDEX t_a ON t USING fptree (a);
CREATE INDEX t_d ON t USING fptree (d DESC);
CREATE INDEX t_u ON t USING fptree (u);
ANALYZE t;

-- pages that a scan of so many elements takes, beyond one of the table and one
-- leaf for each
CREATE FUNCTION pages(col text, n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	values text;
	plan json;
BEGIN
	EXECUTE format('SELECT array_agg(%1$I) FROM (SELECT %1$I, row_number() OVER '
				   '(ORDER BY %1$I) i FROM t) s WHERE i %% (100000 / $1) = 0', col)
	INTO values USING n;
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT ctid FROM t '
				   'WHERE %I = ANY (%L)', col, values) INTO plan;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int +
		(plan->0->'Plan'->>'Shared Read Blocks')::int - 2 * n;
END $$;
SELECT col, pages(col, 40) < 25 AS few FROM unnest('{a,d,u}'::text[]) col;

-- values that are there, and that are not, in any order
CREATE FUNCTION far(col text, n int, seed int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	values text;
	query text;
	res text[] := '{}';
	sums text;
BEGIN
	EXECUTE format('SELECT array_agg(v) FROM (SELECT %1$I v FROM t ORDER BY '
				   'hashint8extended(a, $2) LIMIT $1) s', col)
	INTO values USING n, seed;
	query := format('SELECT concat_ws('' '', count(*), sum(hashint8(a)), sum(d::int8)) '
					'FROM (SELECT * FROM t WHERE %I = ANY (%L) OFFSET 0) s', col, values);
	FOREACH sums IN ARRAY '{on,off}'::text[] LOOP
		PERFORM set_config('enable_indexscan', sums, true),
			set_config('enable_seqscan', CASE sums WHEN 'on' THEN 'off' ELSE 'on' END, true);
		EXECUTE query INTO sums;
		res := res || sums;
	END LOOP;
	RETURN CASE WHEN res[1] = res[2] THEN 'same' ELSE res::text END;
END $$;
SELECT col, far(col, n, 7), count(*)
FROM unnest('{a,d,u}'::text[]) col, unnest('{1,2,5,6,7,21,40,150,1000}'::int[]) n
GROUP BY 1, 2 ORDER BY 1, 2;
SET enable_seqscan = off;
SET enable_indexscan = on;

-- leaves that were told of are split before the scan comes to them
CREATE FUNCTION split(col text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	values text;
	c refcursor;
	r record;
	n int := 0;
	got text[] := '{}';
	want text[];
BEGIN
	EXECUTE format('SELECT array_agg(%1$I::text ORDER BY %1$I), array_agg(%1$I) FROM '
				   '(SELECT %1$I, row_number() OVER (ORDER BY %1$I) i FROM t) s '
				   'WHERE i %% 2500 = 0', col) INTO want, values;
	OPEN c FOR EXECUTE format('SELECT %1$I::text v FROM t WHERE %1$I = ANY (%2$L)', col, values);
	LOOP
		FETCH c INTO r;
		EXIT WHEN NOT FOUND;
		got := got || r.v;
		n := n + 1;
		IF n IN (6, 20) THEN
			INSERT INTO t SELECT hashint8extended(i, n), hashint8(i * n), md5(i || 'x' || n)::uuid
			FROM generate_series(200001, 260000) i;
		END IF;
	END LOOP;
	RETURN CASE WHEN ARRAY(SELECT unnest(got) ORDER BY 1) = ARRAY(SELECT unnest(want) ORDER BY 1)
		THEN 'same' ELSE format('%s of %s', cardinality(got), cardinality(want)) END;
END $$;
SELECT col, split(col) FROM unnest('{a,u}'::text[]) col;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET search_path;
SELECT * FROM fpt_check_all();

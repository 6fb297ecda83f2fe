--
-- Long arrays: a scan's steps on a page are bounded by the page's entries, not by
-- the arrays (rule L10); memory; cancelling.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fptree;
RESET client_min_messages;
CREATE SCHEMA fpt_arrays;
SET search_path = fpt_arrays, public;
SET max_parallel_workers_per_gather = 0;

\getenv builddir PG_ABS_BUILDDIR
\set module :builddir '/test/module/fptree_test'
-- a comparison function that counts its calls, and cancels the statement at one
CREATE FUNCTION compare(int, int) RETURNS int
AS :'module', 'fptree_test_compare' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION compares(cancel_at bigint) RETURNS bigint
AS :'module', 'fptree_test_compares' LANGUAGE C STRICT;
CREATE OPERATOR CLASS counted FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 compare(int, int);

CREATE TABLE t (a int, b int, i int, d int);
INSERT INTO t SELECT g % 10 * 1000000, g, g, g % 10 * 1000000 FROM generate_series(1, 2000) g;
CREATE INDEX t_ab ON t USING fptree (a counted, b counted);
CREATE INDEX t_d ON t USING fptree (d DESC, i DESC);
CREATE TABLE u AS SELECT i FROM t;
CREATE INDEX u_i ON u USING fptree (i);
VACUUM ANALYZE t, u;
SET enable_seqscan = off;
SET enable_sort = off;

CREATE FUNCTION seq(int, int, int DEFAULT 1) RETURNS int[] LANGUAGE sql IMMUTABLE AS
	'SELECT array_agg(g) FROM generate_series($1, $2, $3) g';

-- Arrays of 500 and 500 elements, most of which are not there: 250,000 pairs.
-- To sort the arrays takes 2,000 comparisons, a step on a page about 40, and
-- there are at most two for each of the 2,000 rows.
CREATE FUNCTION steps(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	m bigint;
	forward int;
	backward int;
	c refcursor;
BEGIN
	PERFORM compares(0);
	OPEN c SCROLL FOR EXECUTE query;
	MOVE FORWARD ALL FROM c;
	GET DIAGNOSTICS forward = ROW_COUNT;
	n := compares(0);
	MOVE BACKWARD 1000000 FROM c;
	GET DIAGNOSTICS backward = ROW_COUNT;
	m := compares(0);
	RETURN format('%s rows and %s back, %s', forward, backward,
		CASE WHEN n + m < 500000 THEN 'few steps' ELSE n || ' and ' || m || ' comparisons' END);
END $$;
-- (the planner guesses that an array it does not know has ten elements)
CREATE VIEW queries AS
SELECT kind, q FROM (VALUES
	('all in a gap', 'a = ANY ((SELECT seq(1, 500))::int[]) AND b = ANY ((SELECT seq(1, 500))::int[])'),
	('in gaps', 'a = ANY ((SELECT seq(1, 5000001, 10000))::int[]) AND b = ANY ((SELECT seq(1, 500))::int[])'),
	('some there', 'a = ANY ((SELECT seq(0, 50000000, 100000))::int[]) AND b = ANY ((SELECT seq(1, 5000, 10))::int[])'),
	('the second one', 'a >= 0 AND b = ANY ((SELECT seq(1, 5000, 10))::int[])'),
	('the first one', 'a = ANY ((SELECT seq(1, 1000000, 2000))::int[]) AND b > 5'),
	('below', 'a < ANY ((SELECT seq(1, 500))::int[]) AND b = ANY ((SELECT seq(-500, -1))::int[])'),
	('twice', 'a = ANY ((SELECT seq(0, 500000, 1000))::int[]) AND a = ANY ((SELECT seq(0, 50000, 100))::int[]) AND b = ANY ((SELECT seq(1, 500))::int[])')
	) v (kind, q);
SET enable_bitmapscan = off;
SELECT fpt_explain('SELECT i FROM t WHERE a = ANY ((SELECT seq(1, 500))::int[]) AND b = ANY ((SELECT seq(1, 500))::int[])');
SELECT kind, steps('SELECT i FROM t WHERE ' || q) AS plain,
	steps('SELECT a, b FROM t WHERE ' || q) AS index_only
FROM queries;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = on;
SELECT kind, steps('SELECT i FROM t WHERE ' || q) AS bitmap FROM queries;
RESET enable_indexscan;
RESET enable_indexonlyscan;

-- one array of 100,000 on a page
CREATE TABLE few AS SELECT g AS a FROM generate_series(1, 11) g;
CREATE INDEX few_a ON few USING fptree (a counted);
SELECT compares(0) > 0 AS some;
SELECT count(*) FROM few WHERE a = ANY (seq(-100000, 100000, 2));
SELECT compares(0) < 3 * 100000 AS only_sorted;

-- the same rows as by sequential scan, image keys and DESC as well
SELECT * FROM fpt_compare((SELECT array_agg('SELECT a, b FROM t WHERE ' || q) FROM queries));
SELECT * FROM fpt_compare((SELECT array_agg('SELECT d, i FROM t WHERE ' || replace(replace(q, 'a ', 'd '), 'b ', 'i ')) FROM queries));
SELECT * FROM fpt_compare((SELECT array_agg('SELECT i FROM u WHERE i = ANY (' || x || ')')
	FROM unnest(ARRAY['seq(1, 2000)', 'seq(-5000, 5000, 7)', 'seq(3000, 9000)', 'seq(-100, 0)', 'seq(1, 2001, 4) || seq(2, 2002, 4)',
		'seq(-100, 0)) AND i = ANY (seq(0, 20)', 'seq(1, 1999, 2)) AND i = ANY (seq(2, 2000, 2)', 'seq(1, 2000)) AND i = ANY (seq(5, 500, 5)']) x));
SELECT * FROM fpt_compare((SELECT array_agg('SELECT d, i FROM t WHERE ' || replace(replace(q, 'a ', 'd '), 'b ', 'i ') || ' ORDER BY d, i') FROM queries));

-- Cancelled at any of its comparisons a statement ends soon: after as many more
-- as one page takes, at most.
CREATE FUNCTION cancelled(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	cancel bigint;
	late bigint := 0;
	ended int := 0;
BEGIN
	PERFORM compares(0);
	EXECUTE query;
	n := compares(0);
	FOR cancel IN SELECT n * g / 60 FROM generate_series(1, 59) g
	LOOP
		PERFORM compares(cancel);
		BEGIN
			EXECUTE query;
		EXCEPTION
			WHEN query_canceled THEN
				ended := ended + 1;
		END;
		late := greatest(late, compares(0) - cancel);
	END LOOP;
	RETURN ended || ' cancelled, ' || CASE WHEN late < 500 THEN 'soon' ELSE late || ' comparisons later' END;
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE TABLE array_of AS SELECT array_agg(hashint4(g)) AS x, array_agg(g) AS y FROM generate_series(1, 10000) g;
SELECT cancelled('SELECT count(*) FROM few WHERE a = ANY ((SELECT x FROM array_of)::int[])');
SELECT cancelled('SELECT count(*) FROM few WHERE a = ANY ((SELECT y FROM array_of)::int[])');
SELECT cancelled('SELECT count(*) FROM few WHERE a = ANY ((SELECT x FROM array_of)::int[]) AND a = ANY ((SELECT y FROM array_of)::int[])');
SELECT cancelled('SELECT count(*) FROM few WHERE a < ANY ((SELECT x FROM array_of)::int[])');

-- Elements of another type, in columns of general keys: names and texts, of which
-- some are longer than a name, the least and greatest values of a type, and local
-- times about a night in which an hour is left out (a comparison that takes them for
-- an interval).
SET TimeZone = 'Europe/Berlin';
CREATE TABLE o AS SELECT i AS id, CASE WHEN i % 50 > 0 THEN (CASE i % 9 WHEN 0 THEN repeat('n', i % 64) WHEN 1 THEN 'é' || i
			ELSE 'n' || i % 200 END)::name END AS name,
		CASE i % 9 WHEN 0 THEN repeat('n', i % 70) ELSE 'n' || i % 150 END AS text,
		('{-32768,32767,0,1,2,3,7}'::int2[])[i % 7 + 1] AS i2, ('{-2147483648,2147483647,0,1,2,3,7}'::int4[])[i % 7 + 1] AS i4,
		('{NaN,Infinity,-Infinity,0,-0,3,0.1}'::float4[])[i % 7 + 1] AS f4, ('{NaN,Infinity,-Infinity,0,-0,3,0.1}'::float8[])[i % 7 + 1] AS f8,
		'2001-03-25'::timestamp + i % 60 * interval '10 min' AS ts, '2001-03-25'::timestamptz + i % 60 * interval '10 min' AS tz
	FROM generate_series(1, 600) i;
CREATE INDEX ON o USING fptree (name, id);
CREATE INDEX ON o USING fptree (text COLLATE "C" DESC, name DESC);
CREATE INDEX ON o USING fptree (i2, i4 DESC, f4);
CREATE INDEX ON o USING fptree (i4, id);
CREATE INDEX ON o USING fptree (f4 DESC, f8);
CREATE INDEX ON o USING fptree (f8, id);
CREATE INDEX ON o USING fptree (ts, id);
CREATE INDEX ON o USING fptree (ts DESC, tz);
CREATE INDEX ON o USING fptree (tz, id);
VACUUM ANALYZE o;
CREATE TABLE oa AS SELECT
	array_agg(DISTINCT text) || '{NULL,"",n5,n5,n77}' || ARRAY[repeat('n', 62), repeat('n', 63), repeat('n', 64), repeat('n', 100), repeat('m', 64), 'é4'] AS t,
	array_agg(DISTINCT name) FILTER (WHERE id % 3 = 0) || '{NULL,"",n5,x,n5}'::name[] AS n,
	'{-2147483649,-2147483648,-32769,-32768,32767,32768,2147483647,2147483648,2,NULL,2}'::bigint[] AS i8,
	'{NaN,0,-0,0.1,3,NULL,Infinity,3}'::float8[] AS f8, '{NaN,-0,0.1,-Infinity,3}'::float4[] AS f4
FROM o;
CREATE VIEW other_types AS SELECT DISTINCT q FROM (VALUES
	('name ~ ANY ((SELECT t FROM oa)::text[])'), ('name ~ ANY ((SELECT t[1:40] FROM oa)::text[])'),
	('text COLLATE "C" ~ ANY ((SELECT n FROM oa)::name[])'),
	('name ~ ANY (''{a,n3,n17,n99,x,NULL}''::text[])'), ('name ~ ANY (ARRAY[''n5'', repeat(''n'', 64)])'), ('name ~ ANY (''{NULL}''::text[])'),
	('name = ANY ((SELECT t FROM oa)::text[]) AND name ~ ''n5''::text'), ('name = ANY ((SELECT t FROM oa)::text[]) AND name ~ ANY (''{n5,n17,n71}''::name[])'),
	('name = ANY ((SELECT t FROM oa)::text[]) AND id ~ 300'), ('text COLLATE "C" = ANY ((SELECT n FROM oa)::name[]) AND name ~ ANY ((SELECT t FROM oa)::text[])'),
	('text COLLATE "C" = ANY ((SELECT n FROM oa)::name[]) AND text COLLATE "C" ~ ANY (''{n5,n17,n71}''::text[])'),
	('i2 ~ ANY ((SELECT i8 FROM oa)::bigint[])'), ('i4 ~ ANY ((SELECT i8 FROM oa)::bigint[])'), ('i2 = 32767 AND i4 ~ ANY ((SELECT i8 FROM oa)::bigint[])'),
	('i4 = ANY ((SELECT i8 FROM oa)::bigint[]) AND i4 ~ ANY (''{32767,2147483647}''::int[])'),
	('f4 ~ ANY ((SELECT f8 FROM oa)::float8[])'), ('f8 ~ ANY ((SELECT f4 FROM oa)::float4[])'), ('f4 = ANY ((SELECT f8 FROM oa)::float8[]) AND f4 ~ 3::float8'),
	('ts ~ ANY (#)'), ('ts = ANY (#) AND ts ~ ''2001-03-25 02:30'''), ('ts = ANY (#) AND ts ~ ANY (''{2001-03-25 02:20,2001-03-25 05:00}''::timestamp[])'),
	('ts = ANY (#) AND ts ~ ANY (''{2001-03-25 02:40,2001-03-25 02:30}''::timestamptz[])'), ('ts = ANY (#) AND id ~ 300'),
	('ts = ANY (''{2001-03-25 00:30,2001-03-25 05:00}''::timestamp[]) AND ts ~ ANY (#)'), ('ts IS NOT NULL AND ts ~ ANY (#) AND ts > ''2001-03-25 03:00'''),
	('tz ~ ANY (ARRAY(SELECT ''2001-03-25''::timestamp + g * interval ''7 min'' FROM generate_series(0, 70) g))')) v (p),
	LATERAL (SELECT replace(replace(p, '#', 'ARRAY(SELECT ''2001-03-25''::timestamptz + g * interval ''10 min'' FROM generate_series(-3, 40, 2) g)'), '~', op) AS q
		FROM unnest('{<,<=,=,>=,>}'::text[]) op) x;
SELECT * FROM fpt_compare((SELECT array_agg('SELECT id FROM o WHERE ' || q) FROM other_types), '{index,bitmap}');
SELECT * FROM fpt_compare((SELECT array_agg('SELECT name FROM o WHERE ' || q) FROM other_types WHERE q ~ '^name'), '{only}');
SELECT * FROM fpt_compare((SELECT array_agg('SELECT ts FROM o WHERE ' || q || ' ORDER BY ts DESC') FROM other_types WHERE q ~ '^ts'));
-- where strings may be equal that have other bytes, a long text may equal a name
CALL fpt_collations();
CREATE INDEX ON o USING fptree (name COLLATE blind);
SELECT * FROM fpt_compare((SELECT array_agg('SELECT id FROM o WHERE ' || replace(replace(q, 'name ', 'name COLLATE blind '), '= ANY ((SELECT t FROM', '= ANY ((SELECT t || repeat(''N'', 60) || (''n5'' || repeat(chr(1), 80)) FROM'))
	FROM other_types WHERE q ~ '^name'), '{index,bitmap}');
DROP INDEX o_name_idx, o_i2_i4_f4_idx;

-- Memory: 16 bytes an element for image keys, 8 for general ones, 16 if one of the
-- elements is an interval; btree takes 9.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE FUNCTION scan_bytes() RETURNS bigint LANGUAGE sql VOLATILE AS
	$$SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts WHERE name LIKE 'fptree%'$$;
CREATE TABLE k (i4 int, i8 bigint, f8 float8, u uuid, v text COLLATE "C", n numeric);
INSERT INTO k SELECT g, g, g, lpad(to_hex(g * 5000), 32, '0')::uuid, g, g FROM generate_series(0, 10) g;
CREATE INDEX ON k USING fptree (i4);
CREATE INDEX ON k USING fptree (i8 DESC);
CREATE INDEX ON k USING fptree (f8);
CREATE INDEX ON k USING fptree (u);
CREATE INDEX ON k USING fptree (v);
CREATE INDEX ON k USING fptree (n);
VACUUM ANALYZE k;
CREATE FUNCTION taken(qual text, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	bytes bigint;
	found int;
BEGIN
	EXECUTE 'SELECT max(scan_bytes()), count(*) FROM k WHERE ' || qual INTO bytes, found;
	bytes := bytes / n;
	RETURN found || ' rows, ' || CASE WHEN bytes <= 18 THEN 'at most 18 bytes an element' ELSE bytes || ' bytes an element' END;
END $$;
CREATE TABLE long_array AS SELECT array_agg(g * 2) AS i4, array_agg(g::bigint * 2) AS i8, array_agg(g::float8 * 2) AS f8,
	array_agg(lpad(to_hex(g * 10), 32, '0')::uuid) AS u, array_agg((g * 2)::text) AS v, array_agg((g * 2)::numeric) AS n,
	array_agg(g * 3) AS i4b, array_agg((g * 3)::text) AS vb
FROM generate_series(0, 100999) g;
SELECT c, taken(format('%s = ANY ((SELECT %s FROM long_array)::%s[])', c, c, typ), 101000)
FROM (VALUES ('i4', 'int'), ('i8', 'bigint'), ('f8', 'float8'), ('u', 'uuid'), ('v', 'text'), ('n', 'numeric')) x (c, typ);
SELECT taken('i4 = ANY ((SELECT i8 FROM long_array)::bigint[])', 101000);
SELECT taken('f8 = ANY ((SELECT f8::float4[] FROM long_array)::float4[])', 101000);
SELECT taken('i4 = ANY ((SELECT i4 FROM long_array)::int[]) AND i4 = ANY ((SELECT i4b FROM long_array)::int[])', 202000);
SELECT taken('v = ANY ((SELECT v FROM long_array)::text[]) AND v = ANY ((SELECT vb FROM long_array)::text[])', 202000);

-- of another type, in columns of general keys
CREATE INDEX ON o USING fptree (i2, id);
CREATE TABLE long_other AS SELECT array_agg('n' || g * 2) || repeat('n', 200) AS t, array_agg(('n' || g * 3)::name) AS n,
	array_agg(g::bigint) || 32767::bigint || 2147483647::bigint AS i8, array_agg(g::float8) || 'NaN'::float8 AS f8, array_agg(g::float4) || 'NaN'::float4 AS f4,
	array_agg('2001-01-01'::timestamptz + g * interval '1 h') AS tz, array_agg('2001-01-01'::date + g) AS d
FROM generate_series(0, 100999) g;
CREATE FUNCTION taken_of_o(qual text, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	bytes bigint;
BEGIN
	EXECUTE 'SELECT max(bytes) FROM (SELECT CASE row_number() OVER () WHEN 1 THEN scan_bytes() END AS bytes FROM o WHERE ' || qual || ') x' INTO bytes;
	RETURN CASE WHEN bytes / n < 8 THEN 'next to nothing' WHEN bytes / n <= 18 THEN '8 to 18 bytes an element' ELSE bytes / n || ' bytes an element' END;
END $$;
SELECT q, taken_of_o(q, n * 101000) FROM (VALUES
	('name = ANY ((SELECT t FROM long_other)::text[])', 1),
	('text COLLATE "C" = ANY ((SELECT n FROM long_other)::name[])', 1),
	('name >= ANY ((SELECT t[1:101000] FROM long_other)::text[])', 1),
	('text COLLATE "C" < ANY ((SELECT n FROM long_other)::name[])', 1),
	('i2 = ANY ((SELECT i8 FROM long_other)::bigint[])', 1),
	('i4 = ANY ((SELECT i8 FROM long_other)::bigint[])', 1),
	('f4 = ANY ((SELECT f8 FROM long_other)::float8[])', 1),
	('f8 = ANY ((SELECT f4 FROM long_other)::float4[])', 1),
	('ts = ANY ((SELECT tz FROM long_other)::timestamptz[])', 1),
	('ts = ANY ((SELECT tz FROM long_other)::timestamptz[]) AND ts = ANY ((SELECT tz FROM long_other)::timestamptz[])', 2),
	('ts = ANY ((SELECT d FROM long_other)::date[])', 1),
	('tz = ANY ((SELECT d FROM long_other)::date[])', 1)) v (q, n);

-- An operator that has no order is asked of each entry of a page, which is locked:
-- nothing is kept for an entry but the entry.
CREATE FUNCTION ends(text, int4) RETURNS int IMMUTABLE STRICT LANGUAGE sql AS 'SELECT bttextcmp($1, $2::text)';
CREATE FUNCTION ends_in(text, int4) RETURNS bool IMMUTABLE STRICT LANGUAGE plpgsql AS $$
BEGIN
	IF $1 = 'z' THEN
		PERFORM set_config('arrays.bytes', sum(used_bytes)::text, false) FROM pg_backend_memory_contexts WHERE name = 'fptree entries';
	END IF;
	RETURN right($1, 1) = $2::text;
END $$;
CREATE OPERATOR == (LEFTARG = text, RIGHTARG = int4, FUNCTION = ends_in);
ALTER OPERATOR FAMILY text_ops USING fptree ADD FUNCTION 1 (text, int4) ends(text, int4), OPERATOR 3 == (text, int4);
CREATE TABLE w AS SELECT 'v' || g AS v FROM generate_series(1, 300) g UNION ALL SELECT 'z';
CREATE INDEX w_v ON w USING fptree (v COLLATE "C");
SELECT fpt_explain('SELECT count(*) FROM w WHERE v COLLATE "C" == ANY (''{3,NULL,5,7}'')');
SELECT count(*) FROM w WHERE v COLLATE "C" == ANY ('{3,NULL,5,7}');
SELECT CASE WHEN current_setting('arrays.bytes')::int < 300 * 100 THEN 'less than 100 bytes an entry' ELSE current_setting('arrays.bytes') END;
ALTER OPERATOR FAMILY text_ops USING fptree DROP FUNCTION 1 (text, int4), OPERATOR 3 (text, int4);

-- A column without a condition is skipped: from one of its values to the next
-- one entry is looked at, and not all of a page; where a value has few rows,
-- entries are asked one by one, which takes one comparison each.
CREATE TABLE s AS SELECT i / 1000 AS a, i % 1000 AS b, i AS u FROM generate_series(0, 49999) i;
CREATE INDEX s_ab ON s USING fptree (a counted, b counted);
CREATE INDEX s_ub ON s USING fptree (u counted, b counted);
VACUUM ANALYZE s;
CREATE FUNCTION compared(query text, most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	found int;
BEGIN
	PERFORM compares(0);
	EXECUTE query INTO found;
	n := compares(0);
	RETURN format('%s rows, %s', found,
		CASE WHEN n < most THEN 'few comparisons' ELSE n || ' comparisons' END);
END $$;
SELECT compared('SELECT count(*) FROM s WHERE b = 77', 5000);
SELECT compared('SELECT count(*) FROM s WHERE b = 77 AND a > 10', 5000);
SELECT compared('SELECT count(*) FROM s WHERE b > 990', 15000);
DROP INDEX s_ab;
SELECT compared('SELECT count(*) FROM s WHERE b = 77 AND u > -1', 125000);

SELECT fpt_check_all();

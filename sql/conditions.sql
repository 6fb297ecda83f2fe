--
-- Conditions that a scan takes: arrays, values of other types, positions in a list of
-- pages.
--

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

\c -
--
-- Comparisons with other types: those that operator classes of other people
-- bring, of which only a function is known; and all of them in the columns of
-- general keys.  Builds of general keys that do not fit into memory.
--
CREATE SCHEMA x;
SET search_path = x, public;

-- An operator class on type t, with operators for arguments of type text.
CREATE PROCEDURE with_text(t text, cmp text) LANGUAGE plpgsql AS $$
DECLARE
	ops text[] := '{<,<=,=,>=,>}';
	n text := translate(t, '" ', '__');
	members text := '';
BEGIN
	EXECUTE format('CREATE FUNCTION %s_text(%s, text) RETURNS int IMMUTABLE
		STRICT LANGUAGE plpgsql AS ''BEGIN RETURN %s($1, $2::%s); END''', n, t, cmp, t);
	EXECUTE format('CREATE OPERATOR FAMILY %s_fam USING fptree', n);
	FOR i IN 1..5 LOOP
		EXECUTE format('CREATE FUNCTION %1$s_text%2$s(%3$s, text) RETURNS bool IMMUTABLE
			STRICT LANGUAGE plpgsql AS ''BEGIN RETURN %1$s_text($1, $2) %4$s 0; END''', n, i, t, ops[i]);
		EXECUTE format('CREATE OPERATOR x.%s (LEFTARG = %s, RIGHTARG = text,
			FUNCTION = %s_text%s)', ops[i], t, n, i);
		members := members || format(', OPERATOR %1$s %2$s, OPERATOR %1$s x.%2$s (%3$s, text)',
			i, ops[i], t);
	END LOOP;
	EXECUTE format('CREATE OPERATOR CLASS %1$s_ops FOR TYPE %2$s USING fptree
		FAMILY %1$s_fam AS FUNCTION 1 %3$s(%2$s, %2$s),
		FUNCTION 1 (%2$s, text) %1$s_text(%2$s, text)%4$s',
		n, t, cmp, members);
END $$;

CALL with_text('int2', 'btint2cmp');
CALL with_text('int8', 'btint8cmp');
CALL with_text('bool', 'btboolcmp');
CALL with_text('"char"', 'btcharcmp');
CALL with_text('date', 'date_cmp');
CALL with_text('time', 'time_cmp');
CALL with_text('timestamp', 'timestamp_cmp');
CALL with_text('macaddr', 'macaddr_cmp');
CALL with_text('uuid', 'uuid_cmp');

CREATE TABLE t AS
	SELECT i AS id, (i * 7 % 401 - 200)::int2 AS int2, i * 1000003::int8 % 5000 AS int8,
		i % 2 = 0 AS bool, chr(33 + i % 90)::"char" AS char,
		CASE i % 97 WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity'
			ELSE '2000-01-01'::date + i % 300 END AS date,
		'00:00'::time + i % 240 * interval '6 min' AS time,
		CASE i % 89 WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity'
			ELSE '2000-01-01'::timestamp + i % 1000 * interval '1 h' END AS timestamp,
		('08:00:2b:00:00:' || lpad(to_hex(i % 256), 2, '0'))::macaddr AS macaddr,
		md5((i % 500)::text)::uuid AS uuid,
		(i % 300)::float4 / 8 AS f4, ('n' || i % 200)::name COLLATE "C" AS name, 'n' || i % 150 AS text
	FROM generate_series(1, 500) i;
INSERT INTO t (id) SELECT i FROM generate_series(501, 510) i;

CREATE TABLE args (col text, args text[]);
INSERT INTO args VALUES
	('int2', '{-32768,-200,-1,0,77,200,32767}'),
	('int8', '{-9223372036854775808,0,3,2500,4999,9223372036854775807}'),
	('bool', '{false,true}'),
	('char', '{"",!,A,z}'),
	('date', '{-infinity,4713-01-01 BC,1999-12-31,2000-03-01,2000-10-26,infinity}'),
	('time', '{00:00,00:06,12:00:00.5,24:00}'),
	('timestamp', '{-infinity,2000-01-01,2000-01-20 05:30,2001-01-01,infinity}'),
	('macaddr', '{00:00:00:00:00:00,08:00:2b:00:00:80,ff:ff:ff:ff:ff:ff}'),
	('uuid', '{00000000-0000-0000-0000-000000000000,80000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}');

-- The queries, of a column of such a class and an argument of type text.
CREATE FUNCTION queries(c text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('SELECT id FROM t WHERE %I OPERATOR(x.%s) %L::text', c, op, arg)
	FROM args, unnest(args) arg, unnest('{<,<=,=,>=,>}'::text[]) op WHERE col = c
	UNION ALL
	SELECT format('SELECT id FROM t WHERE %I OPERATOR(x.=) ANY (%L::text[])', c, args)
	FROM args WHERE col = c
$$;

-- Drop all indexes of t, and make others, of one column each.
CREATE PROCEDURE reindex_t(direction text, columns text[])
LANGUAGE plpgsql AS $$
DECLARE
	ix regclass;
	c text;
BEGIN
	FOR ix IN SELECT indexrelid FROM pg_index WHERE indrelid = 't'::regclass LOOP
		EXECUTE format('DROP INDEX %s', ix);
	END LOOP;
	FOREACH c IN ARRAY columns LOOP
		EXECUTE format('CREATE INDEX ON t USING fptree (%I %s_ops %s)', c,
			CASE c WHEN 'char' THEN '_char_' ELSE c END, direction);
	END LOOP;
END $$;

-- image keys, ascending and descending
CALL reindex_t('ASC', '{int2,int8,bool,char,date,time,timestamp,macaddr,uuid}');
SELECT col, (fpt_compare(array(SELECT queries(col)), '{index,bitmap}')).* FROM args ORDER BY 1;
CALL reindex_t('DESC', '{int2,int8,bool,char,date,time,timestamp,macaddr,uuid}');
SELECT col, (fpt_compare(array(SELECT queries(col)), '{index,bitmap}')).* FROM args ORDER BY 1;

-- the same as columns of general keys
CALL reindex_t('', '{}');
CREATE INDEX ON t USING fptree (int2 int2_ops, int8 int8_ops DESC);
CREATE INDEX ON t USING fptree (bool bool_ops, "char" _char__ops, uuid uuid_ops);
CREATE INDEX ON t USING fptree (date date_ops DESC, time time_ops);
CREATE INDEX ON t USING fptree (timestamp timestamp_ops, macaddr macaddr_ops DESC);
SELECT col, (fpt_compare(array(SELECT queries(col)), '{index,bitmap}')).* FROM args ORDER BY 1;

-- Pairs of types that the access method knows
CREATE INDEX ON t USING fptree (f4, name, text COLLATE "C");
CREATE INDEX ON t USING fptree (name DESC, int8);
CREATE INDEX ON t USING fptree (text COLLATE "C", f4);
CREATE INDEX ON t USING fptree (int8, int2, date, timestamp DESC);
SELECT * FROM fpt_compare(array(
	SELECT format('SELECT id FROM t WHERE %s', replace(q, '~', op))
	FROM unnest(ARRAY['f4 ~ 20.1::float8', 'f4 = 3 AND name ~ ''n24''::text',
		'name ~ ''n24''::text', 'name ~ repeat(''n'', 70)',
		'text ~ ''n42''::name', 'text = ''n3'' AND f4 ~ 4::float8',
		'int8 ~ 17::int2', 'int8 ~ 17::int4', 'int8 = 3 AND int2 ~ 100000::int4',
		'int8 = 3 AND int2 ~ -3::int8', 'int8 = 3 AND int2 = 4 AND date ~ ''2000-03-01''::timestamp',
		'int8 < 50 AND timestamp ~ ''2000-01-20''::date',
		'int8 ~ ANY (''{3,4711}''::int2[])', 'name ~ ANY (''{n3,n17,x}''::text[])',
		'text ~ ANY (''{n3,n17,x}''::name[])']) q,
	unnest('{<,<=,=,>=,>}'::text[]) op), '{index,bitmap}');

-- An operator that nobody can turn into an interval is asked of each entry.
CREATE FUNCTION text_int(text, int4) RETURNS int IMMUTABLE STRICT LANGUAGE sql
	AS 'SELECT bttextcmp($1, ''n'' || $2)';
CREATE FUNCTION text_int3(text, int4) RETURNS bool IMMUTABLE STRICT LANGUAGE plpgsql
	AS 'BEGIN RETURN text_int($1, $2) = 0; END';
CREATE OPERATOR x.= (LEFTARG = text, RIGHTARG = int4, FUNCTION = text_int3);
ALTER OPERATOR FAMILY text_ops USING fptree ADD
	FUNCTION 1 (text, int4) text_int(text, int4), OPERATOR 3 x.= (text, int4);
SELECT * FROM fpt_compare(ARRAY[
	'SELECT id FROM t WHERE text COLLATE "C" OPERATOR(x.=) 42',
	'SELECT id FROM t WHERE text COLLATE "C" OPERATOR(x.=) ANY (''{42,7,NULL}''::int[])',
	-- so many are left to the executor
	'SELECT id FROM t WHERE text COLLATE "C" OPERATOR(x.=) ANY (ARRAY(SELECT g * 2 FROM generate_series(1, 65) g))'],
	'{index,bitmap}');
SELECT * FROM fpt_compare(ARRAY[
	'SELECT text COLLATE "C" FROM t WHERE text COLLATE "C" OPERATOR(x.=) ANY (ARRAY(SELECT g * 2 FROM generate_series(1, 65) g))'],
	'{only}');
ALTER OPERATOR FAMILY text_ops USING fptree DROP
	FUNCTION 1 (text, int4), OPERATOR 3 (text, int4);

-- Texts and names in orders of other people: the opposite one, with core's
-- operators; one in which strings are equal that differ; and core's, with
-- operators that mean something else.
CREATE FUNCTION members(n text, l text, r text, cmp text, ops text[], own bool)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text := format('FUNCTION 1 (%1$s, %2$s) %3$s_cmp(%1$s, %2$s)', l, r, n);
BEGIN
	EXECUTE format('CREATE FUNCTION %s_cmp(%s, %s) RETURNS int IMMUTABLE
		STRICT LANGUAGE plpgsql AS ''BEGIN RETURN %s; END''', n, l, r, replace(cmp, '''', ''''''));
	FOR i IN 1..5 LOOP
		IF own THEN
			EXECUTE format('CREATE FUNCTION %1$s%2$s(%3$s, %4$s) RETURNS bool IMMUTABLE
				STRICT LANGUAGE plpgsql AS ''BEGIN RETURN %1$s_cmp($1, $2) %5$s 0; END''',
				n, i, l, r, ('{<,<=,=,>=,>}'::text[])[i]);
			EXECUTE format('CREATE OPERATOR x.%s (LEFTARG = %s, RIGHTARG = %s,
				FUNCTION = %s%s)', ops[i], l, r, n, i);
		END IF;
		result := result || format(', OPERATOR %s %s.%s (%s, %s)', i,
			CASE WHEN own THEN 'x' ELSE 'pg_catalog' END, ops[i], l, r);
	END LOOP;
	RETURN result;
END $$;
CREATE TABLE orders (n text, ops text[]);
INSERT INTO orders VALUES ('reversed', '{>,>=,=,<=,<}'), ('folded', '{~<,~<=,~=,~>=,~>}'),
	('prefixed', '{^<,^<=,^=,^>=,^>}');
DO $$
DECLARE
	t text;
	u text;
	o orders;
	own text;
	other text;
BEGIN
	FOREACH t IN ARRAY '{text,name}'::text[] LOOP
		u := CASE t WHEN 'text' THEN 'name' ELSE 'text' END;
		FOR o IN SELECT * FROM orders LOOP
			own := CASE o.n WHEN 'reversed' THEN '-bt' || t || 'cmp($1, $2)'
				WHEN 'folded' THEN 'bttextcmp(lower($1::text) COLLATE "C", lower($2::text) COLLATE "C")' END;
			other := CASE o.n WHEN 'reversed' THEN '-bt' || t || u || 'cmp($1, $2)'
				WHEN 'folded' THEN own
				ELSE 'bttextcmp($1::text COLLATE "C", ''n'' || $2::text)' END;
			EXECUTE format('CREATE OPERATOR CLASS %s_%s FOR TYPE %s USING fptree AS %s, %s',
				o.n, t, t,
				CASE o.n WHEN 'prefixed' THEN format('FUNCTION 1 bt%scmp(%s, %s),
					OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >', t, t, t)
				ELSE members(o.n, t, t, own, o.ops, o.n = 'folded') END,
				members(o.n, t, u, other, o.ops, o.n <> 'reversed'));
		END LOOP;
	END LOOP;
END $$;
CREATE TABLE s AS
	SELECT i AS id, s AS text, s::name COLLATE "C" AS name
	FROM generate_series(1, 200) i,
		LATERAL (SELECT CASE i % 3 WHEN 0 THEN 'N' ELSE 'n' END ||
			CASE i % 4 WHEN 0 THEN 'n' ELSE '' END || i % 70 AS s) x;
INSERT INTO s (id) VALUES (201), (202);
CREATE FUNCTION compare_order(o text, t text, direction text, OUT compared int, OUT problems text)
LANGUAGE plpgsql AS $$
DECLARE
	u text := CASE t WHEN 'text' THEN 'name' ELSE 'text' END;
	few text := format('''{n1,n2,n3,N3,n4,NULL,N5,n5,n6,nn8,N33,n3,1,5,n9}''::%s[]', u);
	lots text := format('ARRAY(SELECT %s FROM s WHERE id %% 3 = 0)', u);	-- 66
	queries text[];
BEGIN
	EXECUTE format('CREATE INDEX s_order ON s USING fptree (%s COLLATE "C" %s_%s %s, id)', t, o, t, direction);
	SELECT array_agg(format('SELECT id, %s FROM s WHERE ', t) || replace(replace(replace(replace(q,
			'#', t || ' COLLATE "C" ' || CASE o WHEN 'reversed' THEN op ELSE 'OPERATOR(x.' || op || ')' END),
			'FEW', few), 'LOTS', lots), 'TYPE', u))
		INTO queries
		FROM orders, unnest(ops) op, unnest(ARRAY['# ''n42''::TYPE', '# ''N''::TYPE', '# ''4''::TYPE',
			'# ANY (FEW)', '# ANY (LOTS)', '# ANY (LOTS) AND # ANY (FEW)',
			'# ANY (FEW) AND id > 100', '# ANY (FEW) AND # ''n4''::TYPE']) q
		WHERE n = o AND (op = ops[3] OR q !~ 'LOTS');
	SELECT * INTO compared, problems FROM fpt_compare(queries);
	DROP INDEX s_order;
END $$;
SELECT n, t, d, c.* FROM orders, unnest('{text,name}'::text[]) t, unnest('{ASC,DESC NULLS LAST}'::text[]) d,
	compare_order(n, t, d) c ORDER BY n, t, d;

-- One that many values of 16 bytes equal.
CREATE FUNCTION uuid_int(uuid, int4) RETURNS int IMMUTABLE STRICT LANGUAGE sql
	AS $$SELECT btint4cmp(('x' || left($1::text, 1))::bit(4)::int, $2)$$;
CREATE FUNCTION uuid_int3(uuid, int4) RETURNS bool IMMUTABLE STRICT LANGUAGE plpgsql
	AS 'BEGIN RETURN uuid_int($1, $2) = 0; END';
CREATE OPERATOR x.= (LEFTARG = uuid, RIGHTARG = int4, FUNCTION = uuid_int3);
ALTER OPERATOR FAMILY uuid_fam USING fptree ADD
	FUNCTION 1 (uuid, int4) uuid_int(uuid, int4), OPERATOR 3 x.= (uuid, int4);
CREATE INDEX ON t USING fptree (uuid uuid_ops);
SELECT * FROM fpt_compare(ARRAY[
	'SELECT uuid FROM t WHERE uuid OPERATOR(x.=) 5',
	'SELECT uuid FROM t WHERE uuid OPERATOR(x.=) ANY (''{9,3,12,99}''::int[])',
	'SELECT uuid FROM t WHERE uuid OPERATOR(x.=) ANY (''{9,3,12,99}''::int[]) AND uuid OPERATOR(x.=) ANY (''{9,4}''::int[])',
	'SELECT uuid FROM t WHERE uuid OPERATOR(x.=) ANY (''{9,3,12}''::int[]) AND uuid = ANY (ARRAY(SELECT uuid FROM t WHERE id % 7 = 0))',
	'SELECT uuid FROM t WHERE uuid = ANY (ARRAY(SELECT uuid FROM t WHERE id % 7 = 0)) AND uuid OPERATOR(x.=) ANY (''{9,3,12}''::int[])']);
ALTER OPERATOR FAMILY uuid_fam USING fptree DROP
	FUNCTION 1 (uuid, int4), OPERATOR 3 (uuid, int4);

-- Runs of general keys on disk, some merged before others
SET maintenance_work_mem = '1MB';
CREATE TABLE spill AS
	SELECT md5((i % 40000)::text) AS k, i % 3 AS b, i AS u
	FROM generate_series(1, 60000) i;
INSERT INTO spill SELECT NULL, i, -i FROM generate_series(1, 2000) i;
CREATE INDEX ON spill USING fptree (k, b DESC);
CREATE UNIQUE INDEX ON spill USING fptree (u) INCLUDE (k);
CREATE UNIQUE INDEX ON spill USING fptree (k, b);
RESET maintenance_work_mem;
SELECT * FROM fpt_compare(ARRAY[
	'SELECT u FROM spill WHERE k > ''f''', 'SELECT u FROM spill WHERE k IS NULL AND b = 5',
	'SELECT u, k FROM spill WHERE u BETWEEN -5 AND 700'], '{index,bitmap}');

SELECT fpt_check_all();
SET client_min_messages = warning;
DROP SCHEMA x CASCADE;

\c -
--
-- Pages of a list that begin after the last row of the page before, written as an
-- OR: a > x OR (a = x AND b > y).  What it implies is an index condition, and a scan
-- begins where the page does, at any position of the list.
--
CREATE SCHEMA fpt_keyset;
SET search_path = fpt_keyset, public;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET effective_io_concurrency = 1;	-- no longer the default from 18 on

CREATE TABLE k AS
	SELECT i / 5000 AS a, (i * 7919) % 1000 AS b, i AS c, i::int8 AS d, lpad((i % 7)::text, 9, 'x') COLLATE "C" AS t
	FROM generate_series(1, 100000) i;
CREATE INDEX k_abc ON k USING fptree (a, b, c);
CREATE INDEX k_mixed ON k USING fptree (a, b DESC, c);
CREATE INDEX k_tac ON k USING fptree (t, a DESC, c);
CREATE INDEX k_d ON k USING fptree (d);
CREATE INDEX k_x ON k USING fptree ((a + b), c);
VACUUM ANALYZE k;

-- the forms of it
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR (a = 7 AND b > 500) ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE 7 < a OR (500 <= b AND 7 = a) ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b, c FROM k
	WHERE a > 7 OR (a = 7 AND b > 500) OR (a = 7 AND b = 500 AND c > 37000) ORDER BY a, b, c LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b, c FROM k
	WHERE a < 7 OR (a = 7 AND (b > 500 OR (b = 500 AND c < 37000))) ORDER BY a DESC, b, c DESC LIMIT 20;
EXPLAIN (COSTS OFF) SELECT * FROM k
	WHERE t = 'xxxxxxxx3' AND (a < 7 OR (a = 7 AND c > 37000)) ORDER BY a DESC, c LIMIT 20;
EXPLAIN (COSTS OFF) SELECT * FROM k WHERE d > 7 OR (d = 7 AND b > 500) ORDER BY d LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a + b, c FROM k WHERE a + b > 700 OR (a + b = 700 AND c > 500) ORDER BY a + b, c LIMIT 20;
-- other types of the family
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7::int8 OR (a = 7::int8 AND b > 500::int2) ORDER BY a, b LIMIT 20;
-- what says nothing: one alternative that may be anywhere, values that differ, no
-- inequality, another operator, a value that changes
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR (a = 7 AND b > 500) OR a IS NULL ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR b > 500 ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR (a = 8 AND b > 500) ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR (a <> 7 AND b > 500) ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > random() * 7 OR (a = 7 AND b > 500) ORDER BY a, b LIMIT 20;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- what the query says already is no condition twice; nor is it one if switched off
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a >= 7 AND (a > 7 OR (a = 7 AND b > 500)) ORDER BY a, b LIMIT 20;
SET fptree.plan_rows = off;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR (a = 7 AND b > 500) ORDER BY a, b LIMIT 20;
RESET fptree.plan_rows;

-- Pages read for 20 rows, after others have been.  (Of the last rows of the list the
-- planner may make a bitmap.)
SET enable_bitmapscan = off;
CREATE FUNCTION pages(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	FOR i IN 1 .. 2 LOOP
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	END LOOP;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint;
END $$;
-- at most five, wherever the page is: in the midst of the rows that have a's value,
-- in either direction, and of mixed ones
SELECT q, max(n) <= 5 AS few, max(n) FILTER (WHERE n > 5) AS pages
FROM unnest(ARRAY[
	'SELECT a, b FROM k WHERE a > %1$s OR (a = %1$s AND b > %2$s) ORDER BY a, b LIMIT 20',
	'SELECT a, b FROM k WHERE a < %1$s OR (a = %1$s AND b < %2$s) ORDER BY a DESC, b DESC LIMIT 20',
	'SELECT a, b FROM k WHERE a > %1$s OR (a = %1$s AND b < %2$s) ORDER BY a, b DESC LIMIT 20',
	'SELECT a, b FROM k WHERE a < %1$s OR (a = %1$s AND b > %2$s) ORDER BY a DESC, b LIMIT 20',
	'SELECT a, b, c FROM k WHERE a > %1$s OR (a = %1$s AND b > %2$s) OR (a = %1$s AND b = %2$s AND c > %3$s) ORDER BY a, b, c LIMIT 20',
	'SELECT a, b, c FROM k WHERE a < %1$s OR (a = %1$s AND (b > %2$s OR (b = %2$s AND c < %3$s))) ORDER BY a DESC, b, c DESC LIMIT 20',
	'SELECT a, b, c FROM k WHERE a > %1$s::int8 OR (a = %1$s::int8 AND b >= %2$s::int8) ORDER BY a, b, c LIMIT 20',
	'SELECT b, c FROM k WHERE a = %1$s AND (b > %2$s OR (b = %2$s AND c > %3$s)) ORDER BY b, c LIMIT 20',
	'SELECT t, a, c FROM k WHERE t = ''xxxxxxxx3'' AND (a < %1$s OR (a = %1$s AND c > %3$s)) ORDER BY a DESC, c LIMIT 20',
	'SELECT a, b, c FROM k WHERE (a, b, c) > (%1$s, %2$s, %3$s) ORDER BY a, b, c LIMIT 20',
	'SELECT a, b, c FROM k WHERE a > NULL OR (a = %1$s AND b > %2$s) ORDER BY a, b, c LIMIT 20']) q,
	generate_series(0, 19) x, generate_series(0, 1000, 333) y, pages(format(q, x, y, x * 5000 + 2500)) n
GROUP BY q ORDER BY 1;
-- parameters of a generic plan, the same one or one for each place; other ones too
SET plan_cache_mode = force_generic_plan;
PREPARE same(int, int8) AS SELECT a, b FROM k WHERE a > $1 OR (a = $1 AND b > $2) ORDER BY a, b LIMIT 20;
PREPARE each(int, int, int, int, int, int) AS SELECT a, b, c FROM k
	WHERE a > $1 OR (a = $2 AND b > $3) OR (a = $4 AND b = $5 AND c > $6) ORDER BY a, b, c LIMIT 20;
SELECT fpt_explain('EXECUTE same(7, 500)');
SELECT fpt_explain('EXECUTE each(7, 7, 500, 7, 500, 37000)');
SELECT max(pages(format('EXECUTE same(%s, %s)', x, y))) <= 5 AS few, max(pages(format('EXECUTE each(%1$s, %1$s, %2$s, %1$s, %2$s, %3$s)', x, y, x * 5000))) <= 5 AS few
FROM generate_series(0, 19) x, generate_series(0, 1000, 333) y;
-- values of another table, in turn
SELECT count(*), sum(z.a), sum(z.b) FROM (VALUES (4, 15), (8, 990), (NULL, 3), (0, NULL), (19, 999)) w (x, y),
	LATERAL (SELECT a, b FROM k WHERE a > x OR (a = x AND b > y) ORDER BY a, b LIMIT 20) z;
SELECT pages('SELECT count(*) FROM (VALUES (4, 15), (8, 990), (NULL, 3), (0, 7), (19, 999)) w (x, y),
	LATERAL (SELECT a, b FROM k WHERE a > x OR (a = x AND b > y) ORDER BY a, b LIMIT 20) z') <= 5 * 5 AS few;
SET fptree.plan_rows = off;
SELECT count(*), sum(z.a), sum(z.b) FROM (VALUES (4, 15), (8, 990), (NULL, 3), (0, NULL), (19, 999)) w (x, y),
	LATERAL (SELECT a, b FROM k WHERE a > x OR (a = x AND b > y) ORDER BY a, b LIMIT 20) z;
RESET fptree.plan_rows;
RESET plan_cache_mode;
RESET enable_bitmapscan;

-- Row security: values of the query do not meet those of hidden rows, unless the
-- operators promise that nothing can be learnt so, as that of numeric does not: the
-- scan begins with the first row that has the value of a.
CREATE TABLE s AS SELECT a, b, d::numeric FROM k WHERE c % 10 = 0;
CREATE INDEX s_ab ON s USING fptree (a, b);
CREATE INDEX s_ad ON s USING fptree (a DESC, d);
ALTER TABLE s ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON s USING (b % 2 = 0);
CREATE ROLE regress_fptree_pager;
GRANT ALL ON SCHEMA fpt_keyset TO regress_fptree_pager;
GRANT SELECT ON s TO regress_fptree_pager;
VACUUM ANALYZE s;
SET ROLE regress_fptree_pager;
EXPLAIN (COSTS OFF) SELECT a, b FROM s WHERE a > 7 OR (a = 7 AND b > 500) ORDER BY a, b LIMIT 20;
RESET ROLE;
CREATE FUNCTION passed(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
	RETURN plan->0->'Plan'->'Plans'->0->>'Rows Removed by Filter';
END $$;
SET enable_bitmapscan = off;
SET ROLE regress_fptree_pager;
SELECT passed('SELECT a, b FROM s WHERE a > 7 OR (a = 7 AND b > 500) ORDER BY a, b LIMIT 20');
RESET ROLE;
DROP INDEX s_ab;
SET ROLE regress_fptree_pager;
EXPLAIN (COSTS OFF) SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 20;
SELECT passed('SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 20');
RESET ROLE;
SELECT passed('SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 20') AS owner;
-- nor where a policy implies the condition, and may be asked first itself
CREATE POLICY few_rows ON s AS RESTRICTIVE USING (a < 7 OR (a = 7 AND b > 0));
SET ROLE regress_fptree_pager;
EXPLAIN (COSTS OFF) SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 20;
SELECT passed('SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 20');
RESET ROLE;
-- nor is there a condition if not everybody may call its operator, which the query
-- does not name
BEGIN;
REVOKE EXECUTE ON FUNCTION pg_catalog.int4ge(int, int), pg_catalog.int4le(int, int) FROM PUBLIC;
SET LOCAL enable_seqscan = off;
SET LOCAL ROLE regress_fptree_pager;
SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 2;
ROLLBACK;
-- nor is there a condition, or one more filter, if its operator makes no such promise
DROP POLICY few_rows ON s;
CREATE INDEX s_da ON s USING fptree (d, a);
SET ROLE regress_fptree_pager;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT d, a FROM s WHERE d > 700 OR (d = 700 AND a > 3) ORDER BY d, a LIMIT 20;
RESET enable_seqscan;
RESET ROLE;
RESET enable_bitmapscan;
DROP FUNCTION passed;
DROP TABLE s;
-- WHERE CURRENT OF has one path, whatever a policy implies, and whatever it costs
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_fptree_cheap LOCATION '' WITH (random_page_cost = 0);
CREATE TABLE s (a int, b int) WITH (autovacuum_enabled = off);
INSERT INTO s SELECT i / 2000, i FROM generate_series(0, 9999) i;
CREATE INDEX s_a ON s USING fptree (a) TABLESPACE regress_fptree_cheap;
ALTER TABLE s ENABLE ROW LEVEL SECURITY;
CREATE POLICY page ON s USING (a > 7 OR (a = 7 AND b > 500));
GRANT SELECT, UPDATE ON s TO regress_fptree_pager;
VACUUM ANALYZE s;
INSERT INTO s VALUES (9, 9);
SET ROLE regress_fptree_pager;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM s;
FETCH c;
UPDATE s SET b = 10 WHERE CURRENT OF c RETURNING *;
COMMIT;
RESET ROLE;
DROP TABLE s;
DROP TABLESPACE regress_fptree_cheap;
REVOKE ALL ON SCHEMA fpt_keyset FROM regress_fptree_pager;
DROP ROLE regress_fptree_pager;

-- Answers: NULLs in rows and in values, all orders of columns and directions, values
-- of other types, forward and backward.
CREATE TABLE v (a int, b int8, c text COLLATE "C", n int);
INSERT INTO v
	SELECT CASE WHEN i % 13 <> 0 THEN i % 9 END, CASE WHEN i % 7 <> 0 THEN i % 31 END,
		   CASE WHEN i % 5 <> 0 THEN (i % 17)::text END, i
	FROM generate_series(1, 1000) i;
-- conditions of two and three columns, in random directions, after random rows or
-- before them, and other conditions beside them
CREATE FUNCTION ors(seed float8) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	cols text[] := '{a,b,c}';
	x text[];
	l text[];
	op text[];
	q text;
BEGIN
	PERFORM setseed(seed);
	FOR i IN 1 .. 40 LOOP
		l := ARRAY(SELECT u FROM unnest(cols) u ORDER BY random());
		-- constants, and parameters, of which each is another one
		x := ARRAY(SELECT format(CASE WHEN random() < 0.05 THEN '(SELECT nullif(%1$s, %1$s))'
				WHEN random() < 0.3 THEN '(SELECT %s)' ELSE '%s' END, CASE u
				WHEN 'a' THEN (random() * 9)::int || (ARRAY['', '::int8', '::int2'])[1 + (random() * 2)::int]
				WHEN 'b' THEN (random() * 32)::int || (ARRAY['', '::int8', '::int2'])[1 + (random() * 2)::int]
				ELSE quote_literal((random() * 17)::int) || '::text' END)
			FROM unnest(l) WITH ORDINALITY u (u, nr) ORDER BY nr);
		op := ARRAY(SELECT (ARRAY['<', '>'])[1 + (random() < 0.5)::int] FROM generate_series(1, 3));
		q := format('%1$s %2$s %3$s OR (%1$s = %3$s AND ', l[1], op[1], x[1]);
		q := (ARRAY[
			q || format('%s %s%s %s)', l[2], op[2], CASE WHEN random() < 0.3 THEN '=' END, x[2]),
			q || format('%1$s %2$s %3$s) OR (%4$s = %5$s AND %1$s = %3$s AND %6$s %7$s %8$s)',
				l[2], op[2], x[2], l[1], x[1], l[3], op[3], x[3]),
			q || format('(%1$s %2$s %3$s OR (%1$s = %3$s AND %4$s %5$s= %6$s)))',
				l[2], op[2], x[2], l[3], op[3], x[3])])[1 + (random() * 2)::int];
		RETURN NEXT format('(%s)%s', q,
			(ARRAY['', ' AND a = 4', ' AND b IN (3, 8, 20)', ' AND c IS NULL', ' AND a IN (2, 4, 6)',
				' AND a >= 5', ' AND b = 7'])[1 + (random() * 6)::int]);
	END LOOP;
END $$;
VACUUM ANALYZE v;
-- forward and backward in each index
CREATE FUNCTION compare_all(OUT forward text, OUT compared int, OUT problems text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	seed float8 := 0;
	backward text;
BEGIN
	FOREACH forward IN ARRAY ARRAY['a, b, c, n', 'a DESC, b DESC, c DESC, n', 'a, b DESC, c, n',
		'b NULLS FIRST, a NULLS FIRST, c DESC, n', 'c, a DESC NULLS LAST, b, n', 'b DESC, c, a, n',
		'c, b, n, a', 'b, a DESC, n, c', 'a, n, b, c'] LOOP
		seed := seed + 0.1;
		EXECUTE format('CREATE INDEX v_i ON v USING fptree (%s)', forward);
		backward := (SELECT string_agg(CASE WHEN u LIKE '% NULLS LAST' THEN replace(u, ' DESC NULLS LAST', ' NULLS FIRST')
			WHEN u LIKE '% NULLS FIRST' THEN replace(u, 'NULLS FIRST', 'DESC NULLS LAST')
			WHEN u LIKE '% DESC' THEN replace(u, ' DESC', '') ELSE u || ' DESC' END, ', ') FROM regexp_split_to_table(forward, ', ') u);
		SELECT * INTO compared, problems FROM fpt_compare(ARRAY(
			SELECT format('SELECT a, b, c, n FROM v WHERE %s ORDER BY %s', q, o)
			FROM ors(seed) q, unnest(ARRAY[forward, backward]) o), '{only}');
		DROP INDEX v_i;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM compare_all();
CREATE INDEX v_i ON v USING fptree (a, b, c);
SELECT * FROM fpt_compare(ARRAY(SELECT 'SELECT a, b, c, n FROM v WHERE ' || q FROM ors(0.95) q WHERE q LIKE '(a%'), '{index,bitmap}');
DROP INDEX v_i;
CREATE INDEX v_i ON v USING fptree (a, b, c) INCLUDE (n);
CALL fpt_use('only');
-- cursors go to and fro over the first row
BEGIN;
DECLARE u SCROLL CURSOR FOR SELECT a, b, n FROM v WHERE a > 7 OR (a = 7 AND b > 29) ORDER BY a, b, c, n;
FETCH 3 FROM u;
FETCH BACKWARD 5 FROM u;
FETCH 2 FROM u;
FETCH LAST FROM u;
FETCH BACKWARD 2 FROM u;
COMMIT;
DROP INDEX v_i;
-- workers begin there, too
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
CALL fpt_use('index');
DROP INDEX k_mixed;		-- costs as much as k_abc
SELECT fpt_explain('SELECT count(t), sum(c) FROM k WHERE a < 7 OR (a = 7 AND b < 500) OR (a = 7 AND b = 500 AND c > 100)');
SELECT count(t), sum(c) FROM k WHERE a < 7 OR (a = 7 AND b < 500) OR (a = 7 AND b = 500 AND c > 100);
CALL fpt_use('seq');
SELECT count(t), sum(c) FROM k WHERE a < 7 OR (a = 7 AND b < 500) OR (a = 7 AND b = 500 AND c > 100);
CALL fpt_use('any');
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_index_scan_size;
RESET min_parallel_table_scan_size;
RESET effective_io_concurrency;
RESET search_path;
DROP SCHEMA fpt_keyset CASCADE;
SELECT fpt_check_all();

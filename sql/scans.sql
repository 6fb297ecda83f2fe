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

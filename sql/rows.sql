--
-- Row comparisons: up to version 17 core gives them to btrees only, but what they
-- say of their first column is an index condition; from 18 on they are.
--
CREATE SCHEMA fpt_rows;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET effective_io_concurrency = 1;	-- no longer the default from 18 on

CREATE TABLE fpt_rows.r AS
	SELECT i / 10 AS a, (i * 7919) % 1000 AS b, md5(i::text) COLLATE "C" AS c, i::int8 AS d
	FROM generate_series(1, 20000) i;
CREATE INDEX r_abc ON fpt_rows.r USING fptree (a, b DESC, c);
CREATE INDEX r_c ON fpt_rows.r USING fptree (c);
CREATE INDEX r_d ON fpt_rows.r USING fptree (d DESC) WHERE a > 10;
CREATE INDEX r_x ON fpt_rows.r USING fptree ((a + b));
VACUUM ANALYZE fpt_rows.r;
SET search_path = fpt_rows, public;
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (a, b) > (1990, 3) ORDER BY a LIMIT 5;
-- also where few rows are left out
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (a, b) > (20, 3) ORDER BY a LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (1990, 'x') < (a, c);
EXPLAIN (COSTS OFF) SELECT a FROM r WHERE (a, c) <= (12, 'x') AND b = 7;
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE a = 7 AND (b, c) >= (500, 'x');
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (d, a) < (30, 15) AND a > 10;
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (a + b, d) < (20, 3);
-- other types of the family; no operator of it; another collation; a column of
-- no index; what is volatile; a sample
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (a, b) > (1990::int8, 3::int2);
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (a, b) > (1990.0, 3);
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (c COLLATE "POSIX", b) > ('ff', 3);
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (b, a) > (990, 3);
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (a, b) > ((random() * 1000)::int, 3);
EXPLAIN (COSTS OFF) SELECT * FROM r TABLESAMPLE system (50) WHERE (a, b) > (1990, 3);
-- partitions, a view that hides rows
CREATE TABLE ri (LIKE r) PARTITION BY RANGE (a);
CREATE TABLE ri1 PARTITION OF ri FOR VALUES FROM (0) TO (1000);
CREATE TABLE ri2 PARTITION OF ri FOR VALUES FROM (1000) TO (3000);
INSERT INTO ri SELECT * FROM r;
CREATE INDEX ri_ab ON ri USING fptree (a, b);
VACUUM ANALYZE ri;
EXPLAIN (COSTS OFF) SELECT * FROM ri WHERE (a, b) >= (1990, 3);
CREATE VIEW rv WITH (security_barrier) AS SELECT * FROM r WHERE b > 500;
EXPLAIN (COSTS OFF) SELECT * FROM rv WHERE (a, b) > (1990, 3);
SELECT * FROM fpt_compare(ARRAY[
	'SELECT a, b FROM r WHERE (a, b) > (1990, 3)',
	'SELECT a, b FROM r WHERE (a, b) >= (1990, 530) AND (a, b) <= (1995, 700)',
	'SELECT a, c FROM r WHERE (a, c) < (20, ''8'') AND b > 100',
	'SELECT a, b, c FROM r WHERE a = 7 AND (b, c) >= (500, ''x'')',
	'SELECT a FROM r WHERE (a, b) <= (NULL, 3)',
	'SELECT a FROM r WHERE (a, b) <= (5, NULL)',
	'SELECT a FROM ri WHERE (a, b) >= (990, 3)',
	'SELECT a, b, c FROM r WHERE (a, b) > (1990, 3) ORDER BY a, b DESC, c',
	'SELECT a, b, c FROM r WHERE (a, b) < (50, 3) ORDER BY a DESC, b, c DESC']);
SELECT * FROM fpt_compare(ARRAY[
	'SELECT d FROM r WHERE (d, a) < (300, 15) AND a > 10',
	'SELECT d FROM r WHERE (a + b, d) < (200, 3)'], '{index,bitmap}');
-- row security: only what cannot tell anything about hidden rows may go first
CREATE TABLE rs AS SELECT a, d::numeric FROM r;
CREATE INDEX rs_ad ON rs USING fptree (a);
CREATE INDEX rs_da ON rs USING fptree (d);
ALTER TABLE rs ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON rs USING (a % 2 = 0);
CREATE ROLE regress_fptree_reader;
GRANT ALL ON SCHEMA fpt_rows TO regress_fptree_reader;
GRANT SELECT ON rs TO regress_fptree_reader;
VACUUM ANALYZE rs;
SET ROLE regress_fptree_reader;
EXPLAIN (COSTS OFF) SELECT * FROM rs WHERE (a, d) > (1990, 3);
EXPLAIN (COSTS OFF) SELECT * FROM rs WHERE (d, a) > (19990, 3);
RESET ROLE;
REVOKE ALL ON SCHEMA fpt_rows FROM regress_fptree_reader;
DROP TABLE rs;
DROP ROLE regress_fptree_reader;

-- Answers: rows of two and three columns against indexes of these columns in all
-- orders, with NULLs in rows and in values, of other types, forward and backward.
CREATE TABLE v (a int, b int8, c text COLLATE "C", n int);
INSERT INTO v
	SELECT CASE WHEN i % 13 <> 0 THEN i % 9 END, CASE WHEN i % 7 <> 0 THEN i % 31 END,
		   CASE WHEN i % 5 <> 0 THEN (i % 17)::text END, i
	FROM generate_series(1, 1000) i;
CREATE INDEX v_1 ON v USING fptree (a, b, c) INCLUDE (n);
CREATE INDEX v_2 ON v USING fptree (a DESC, b DESC) INCLUDE (c, n);
CREATE INDEX v_3 ON v USING fptree (a, b DESC, c) INCLUDE (n);
CREATE INDEX v_4 ON v USING fptree (b NULLS FIRST, a NULLS FIRST, c DESC) INCLUDE (n);
CREATE INDEX v_5 ON v USING fptree (c, a) INCLUDE (b, n);
VACUUM ANALYZE v;
CREATE FUNCTION row_queries() RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(format('SELECT a, b, n FROM v WHERE (%s) %s (%s) AND %s', l, op, r, q))
	FROM (VALUES ('a, b', '4, 15'), ('a, b', '4, NULL'), ('a, b', 'NULL, 4'), ('a, b', '100, 1'),
			('a, b', '4::int8, 15::int2'), ('a, b', '(-1), 5'), ('b, a', '15, 4'), ('b, a', '15, NULL'),
			('a, b, c', '4, 15, ''12'''), ('a, b, c', '4, NULL, ''12'''), ('a, b, c', '4, 15, NULL'),
			('c, a', '''3'', 4'), ('c, a, b', '''3'', 4, 1'), ('a, c', '4, ''3'''),
			('b, c', '20, ''11'''), ('a, a', '4, 3'), ('a, a', '4, 5'), ('b, b, a', '4, 4, 3')) v (l, r),
		unnest('{<,<=,>=,>}'::text[]) op,
		unnest(ARRAY['true', 'a = 4', 'c IS NULL', 'a = ANY (''{2,4,6}'')',
					 '(b, a) >= (3, 8)', 'a >= 5']) q
$$;
SELECT * FROM fpt_compare(row_queries(), '{only,bitmap}');
DROP INDEX v_1, v_2;
SELECT * FROM fpt_compare(row_queries(), '{only,bitmap}');
DROP INDEX v_3;
SELECT * FROM fpt_compare(row_queries(), '{only,bitmap}');
DROP INDEX v_4, v_5;
CREATE INDEX v_6 ON v USING fptree (a);
SELECT * FROM fpt_compare(ARRAY(SELECT q FROM unnest(row_queries()) q WHERE q ~ 'WHERE \(a'), '{index,bitmap}');
DROP INDEX v_6;
CREATE INDEX v_2 ON v USING fptree (a DESC, b DESC) INCLUDE (c);
SELECT * FROM fpt_compare(ARRAY(SELECT replace(q, ', n', '') || ' ORDER BY a DESC, b DESC' FROM unnest(row_queries()) q
	WHERE q ~ '\(a, b\) [<>]'), '{only}');
SELECT * FROM fpt_compare(ARRAY(SELECT replace(q, ', n', '') || ' ORDER BY a, b' FROM unnest(row_queries()) q
	WHERE q ~ '\(a, b\) [<>]'), '{only}');
-- values from another table, in turn
CALL fpt_use('index');
SELECT count(*), sum(n) FROM (VALUES (4, 15), (8, 0), (NULL, 3), (0, NULL), (2, 9)) w (x, y),
	LATERAL (SELECT n FROM v WHERE (a, b) > (x, y) ORDER BY a DESC, b DESC OFFSET 0) z;
CALL fpt_use('seq');
SELECT count(*), sum(n) FROM (VALUES (4, 15), (8, 0), (NULL, 3), (0, NULL), (2, 9)) w (x, y),
	LATERAL (SELECT n FROM v WHERE (a, b) > (x, y) OFFSET 0) z;
CALL fpt_use('any');
-- A long page of a list is read from its first row on, in either direction: not
-- from the first one that has the value of the first column.
CREATE TABLE w AS SELECT 1 AS a, i AS b FROM generate_series(1, 50000) i;
CREATE INDEX w_ab ON w USING fptree (a, b);
VACUUM ANALYZE w;
CREATE FUNCTION hits(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	CALL fpt_use('only');
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	CALL fpt_use('any');
	RETURN plan->0->'Plan'->>'Shared Hit Blocks';
END $$;
SELECT q, hits(q) < 12 OR current_setting('server_version_num')::int < 180000 AS few
FROM unnest(ARRAY['SELECT a, b FROM w WHERE (a, b) > (1, 40000) ORDER BY a, b LIMIT 10',
	'SELECT a, b FROM w WHERE (a, b) < (1, 10000) ORDER BY a DESC, b DESC LIMIT 10',
	'SELECT a, b FROM w WHERE (a, b) < (1, 10) ORDER BY a, b',
	'SELECT a, b FROM w WHERE (a, b) >= (1, 49990) ORDER BY a DESC, b DESC']) q;
-- Many members are more than an entry is asked about: the rows are checked again.
DO $$
DECLARE
	i int;
	members text;
BEGIN
	SELECT string_agg('a, b', ', ') FROM generate_series(1, 40) INTO members;
	CALL fpt_use('only');
	EXECUTE format('SELECT count(*) FROM w WHERE (%s) >= (%s)', members,
				   (SELECT string_agg('1, 77', ', ') FROM generate_series(1, 40))) INTO i;
	CALL fpt_use('any');
	RAISE WARNING '% rows', i;
END $$;
RESET search_path;

SELECT fpt_check_all();

--
-- Cache lines of the table: hints that have become wrong (H1), the page in
-- heapam's place (H3), usage of buffers (H4), tables without hints (H5).
--
CREATE SCHEMA fpt_lines;
SET search_path = fpt_lines, public;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
CALL fpt_use('index');

\getenv builddir PG_ABS_BUILDDIR
\set module :builddir '/test/module/fptree_test'
CREATE FUNCTION usage(regclass, bigint) RETURNS int
AS :'module', 'fptree_test_usage' LANGUAGE C STRICT;

CREATE TABLE t (a int, r int, b int) WITH (autovacuum_enabled = off);
CREATE INDEX t_r ON t USING fptree (r);
CREATE FUNCTION fill(lo int, hi int) RETURNS void LANGUAGE sql AS
	'INSERT INTO t SELECT i, hashint4(i), i FROM generate_series(lo, hi) i';
CREATE FUNCTION same() RETURNS bool LANGUAGE sql AS $$
	SELECT bool_and(fpt_same(q)) FROM unnest(ARRAY[
		'SELECT * FROM t WHERE r > -2000000000 ORDER BY r',
		'SELECT * FROM t WHERE r < 2000000000 ORDER BY r DESC',
		'SELECT * FROM t WHERE r > 0 ORDER BY r LIMIT 30',
		'SELECT a, (SELECT sum(b) FROM t x WHERE x.r = hashint4(i)) FROM generate_series(1, 9000, 90) i LEFT JOIN t ON a = i ORDER BY i'
		]) q $$;
SELECT fill(1, 6000);
SELECT same();
SELECT same();

-- The session has hints of all blocks.  Another file, and back to the first one.
BEGIN;
TRUNCATE t;
SELECT fill(5000, 9000);
SELECT same();
ROLLBACK;
SELECT same();
TRUNCATE t;
SELECT fill(3000, 9000);
SELECT same();
VACUUM FULL t;
SELECT same();
CLUSTER t USING t_r;
SELECT same();
-- the file becomes shorter, and longer again
DELETE FROM t;
VACUUM t;
SELECT pg_relation_size('t'), same();
SELECT fill(1, 3000);
SELECT same();
DELETE FROM t WHERE a > 1000;
VACUUM t;
SELECT same();
SELECT fill(1001, 8000);
SELECT same();
DROP TABLE t;
CREATE TABLE t (a int, r int, b int) WITH (autovacuum_enabled = off);
CREATE INDEX t_r ON t USING fptree (r);
SELECT fill(4000, 7000);
SELECT same();

-- A cursor to and fro, and marks.
SET enable_seqscan = off;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT b FROM t WHERE r > 0 ORDER BY r;
CREATE TABLE fetched AS SELECT row_number() OVER (ORDER BY r) AS n, b FROM t WHERE r > 0;
CREATE FUNCTION at(n int) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	c refcursor := 'c';
	got int;
BEGIN
	FETCH ABSOLUTE n FROM c INTO got;
	RETURN got = f.b FROM fetched f WHERE f.n = at.n;
END $$;
SELECT bool_and(at(n)) FROM unnest(ARRAY[1, 40, 39, 20, 21, 700, 650, 1, 1000, 990, 1010, 5]) n;
MOVE LAST FROM c;
FETCH PRIOR FROM c \gset
SELECT :b = b FROM fetched ORDER BY n DESC OFFSET 1 LIMIT 1;
MOVE FORWARD ALL FROM c;
FETCH BACKWARD 1 FROM c \gset
SELECT :b = b FROM fetched ORDER BY n DESC LIMIT 1;
COMMIT;
CREATE TABLE k AS SELECT hashint4(i) / 1000000 AS r FROM generate_series(1, 4000) i;
CREATE TABLE m AS SELECT hashint4(i) / 1000000 AS r, i AS b FROM generate_series(1, 4000) i;
CREATE INDEX k_r ON k USING fptree (r);
CREATE INDEX m_r ON m USING fptree (r);
ANALYZE k;
ANALYZE m;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(b) FROM k JOIN m USING (r);
SELECT count(*), sum(b) FROM k JOIN m USING (r) \gset on_
SET fptree.heap_lines = off;
SELECT count(*) = :on_count AND sum(b) = :on_sum FROM k JOIN m USING (r);
SET enable_hashjoin = on;
SET enable_nestloop = on;
SET enable_mergejoin = off;
CALL fpt_use('seq');
SELECT count(*) = :on_count AND sum(b) = :on_sum FROM k JOIN m USING (r);
CALL fpt_use('index');
RESET enable_mergejoin;
RESET enable_material;
RESET fptree.heap_lines;

-- A page that the scan has pinned itself is pruned, as heapam does: new versions
-- of rows find room in it (H3).
CREATE TABLE hot (a int, n int) WITH (autovacuum_enabled = off);
INSERT INTO hot SELECT i, 0 FROM generate_series(1, 20) i;
CREATE INDEX hot_a ON hot USING fptree (a);
CREATE PROCEDURE change(times int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. times LOOP
		UPDATE hot SET n = n + 1 WHERE a = 1 + i % 20;
		COMMIT;
	END LOOP;
END $$;
CALL change(3000);
SELECT pg_relation_size('hot') <= 2 * current_setting('block_size')::int AS pruned, sum(n) FROM hot;

-- Visits of buffers count in their usage, in EXPLAIN and in statistics, as without
-- (H3, H4).
-- A row is a page, and of a new file no page has been in use often.
CREATE TABLE wide (a int, r int, pad text) WITH (autovacuum_enabled = off, fillfactor = 10);
INSERT INTO wide SELECT i, hashint4(i), repeat('x', 600) FROM generate_series(1, 60) i;
CREATE INDEX wide_r ON wide USING fptree (r);
CREATE FUNCTION pages_used() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(usage('wide', i))
	FROM generate_series(0, pg_relation_size('wide') / current_setting('block_size')::int - 1) i $$;
CREATE FUNCTION buffers() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON, COSTS OFF, TIMING OFF) SELECT a, pad FROM wide WHERE r <> 0 ORDER BY r' INTO plan;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint;
END $$;
CREATE FUNCTION rise() RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
	used bigint[];
	fetched bigint := pg_stat_get_xact_blocks_fetched('wide'::regclass);
	hit bigint := pg_stat_get_xact_blocks_hit('wide'::regclass);
BEGIN
	FOR i IN 1 .. 4 LOOP
		used := used || buffers() || pages_used();
	END LOOP;
	RETURN used || pg_stat_get_xact_blocks_fetched('wide'::regclass) - fetched || pg_stat_get_xact_blocks_hit('wide'::regclass) - hit;
END $$;
VACUUM FULL wide;
SET track_counts = on;
SET fptree.heap_lines = off;
SELECT rise() \gset off_
VACUUM FULL wide;
RESET fptree.heap_lines;
SELECT rise() \gset on_
SET track_counts = off;
SELECT :'on_rise' = :'off_rise' AS as_without, (:'on_rise'::bigint[])[4] > (:'on_rise'::bigint[])[2] AS rises, (:'on_rise'::bigint[])[9] > 0 AS counted;

-- Temporary tables have buffers of their own (H5).
CREATE TEMP TABLE own (a int, r int, b int);
CREATE INDEX own_r ON own USING fptree (r);
INSERT INTO own SELECT i, hashint4(i), i FROM generate_series(1, 3000) i;
SELECT fpt_same('SELECT * FROM own WHERE r > 0 ORDER BY r');
SELECT fpt_same('SELECT * FROM own WHERE r > 0 ORDER BY r DESC');
-- and so have sessions that read all that is there, dead rows too
DELETE FROM own WHERE a % 3 = 0;
CLUSTER own USING own_r;
SELECT fpt_same('SELECT * FROM own WHERE r > 0 ORDER BY r');

SELECT fpt_check_all();

--
-- Remembered by a session: where blocks of tables are, and where leaves begin.
-- First, cache lines of the table: hints that have become wrong (H1), the page in
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

\c -
--
-- Separators that a session remembers: a look-up takes one page of the index, they
-- take no more memory than they may, and belong to one file.
--
CREATE SCHEMA fpt_recall;
SET search_path = fpt_recall, public;
SET client_min_messages = warning;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET fptree.debug_node_lines = '1,1';

-- pages that a query takes; of a key that is not there, those of the index
CREATE FUNCTION pages(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int +
		(plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;

-- the sum of what a query finds for each of some values
CREATE FUNCTION look(query text, first int, last int, step int DEFAULT 1) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	found numeric;
BEGIN
	EXECUTE format('SELECT coalesce(sum(x), 0) FROM generate_series(%s, %s, %s) arg, LATERAL (%s) q(x)',
		first, last, step, replace(query, '$1', 'arg')) INTO found;
	RETURN found;
END $$;

-- bytes of what is remembered
CREATE FUNCTION remembered() RETURNS bigint LANGUAGE sql AS $$
	SELECT coalesce(sum(used_bytes), 0)::bigint FROM pg_backend_memory_contexts
	WHERE name = 'fptree separators';
$$;

-- even numbers, of four types, and text, whose keys are general
CREATE TABLE t (i int, d int8, ts timestamptz, u uuid, v text);
INSERT INTO t SELECT i * 2, i * 2, timestamptz '2025-01-01 UTC' + i * 2 * interval '1 s',
	md5((i * 2)::text)::uuid, md5((i * 2)::text) FROM generate_series(1, 20000) i;
CREATE INDEX t_i ON t USING fptree (i);
CREATE INDEX t_d ON t USING fptree (d DESC);
CREATE INDEX t_ts ON t USING fptree (ts);
SET fptree.debug_node_lines = '1,2';
CREATE UNIQUE INDEX t_u ON t USING fptree (u);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_v ON t USING fptree (v);
RESET fptree.debug_node_lines;
VACUUM ANALYZE t;
SELECT remembered();

-- a level of leaves, their parents, and a root at least: then one page
CREATE TABLE queries (col text, one text, look text);
INSERT INTO queries VALUES
	('i', 'i = 6001', 'i = $1'), ('d', 'd = 6001', 'd = $1'),
	('ts', $$ts = '2025-01-01 01:40:01 UTC'$$, $$ts = timestamptz '2025-01-01 UTC' + $1 * interval '1 s'$$),
	('u', $$u = md5('6001')::uuid$$, 'u = md5($1::text)::uuid'),
	('v', $$v = md5('6001')$$, 'v = md5($1::text)');
SET enable_indexonlyscan = off;
SELECT col, pages('SELECT ctid FROM t WHERE ' || one) > 2 AS more FROM queries;
SELECT col, look('SELECT count(*) FROM t WHERE ' || look, 0, 40000, 3) FROM queries;
SELECT col, look('SELECT count(*) FROM t WHERE ' || look, 0, 40000, 5) FROM queries;
SELECT col, pages('SELECT ctid FROM t WHERE ' || one) = 1 AS one FROM queries;
SELECT pages('SELECT ctid FROM t WHERE i BETWEEN 6001 AND 6001'),
	pages('SELECT ctid FROM t WHERE i IS NULL') > 1 AS null;

-- between two separators of 16 bytes, and beyond the last one
SELECT look('SELECT count(*) FROM t WHERE u <= md5($1::text)::uuid AND u >= md5($1::text)::uuid', 0, 40000, 7);
SELECT look('SELECT i FROM t WHERE i > $1 ORDER BY i LIMIT 1', -10, 40010) AS next;
SELECT look('SELECT i FROM t WHERE i < $1 ORDER BY i DESC LIMIT 1', -10, 40010) AS previous;
SELECT look('SELECT d FROM t WHERE d > $1 ORDER BY d LIMIT 1', -10, 40010) AS next;
SELECT look('SELECT d FROM t WHERE d < $1 ORDER BY d DESC LIMIT 1', -10, 40010) AS previous;
SELECT look('SELECT count(*) FROM t WHERE i BETWEEN $1 AND $1 + 300', -10, 40010, 17);

-- switched off nothing is remembered, nor what there was
SELECT remembered() > 8000 AS remembered;
SET fptree.separator_memory = 0;
SELECT remembered() < 1000 AS forgotten;
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 3), remembered() < 1000 AS nothing;
SELECT pages('SELECT ctid FROM t WHERE i = 6001') > 1 AS more;

-- those that were used last are kept
SET fptree.separator_memory = '4kB';
SELECT col, look('SELECT count(*) FROM t WHERE ' || look, 0, 40000, 3),
	remembered() < 5000 AS bounded FROM queries;
RESET fptree.separator_memory;
\set VERBOSITY sqlstate
SET fptree.separator_memory = -1;
\set VERBOSITY default
SHOW fptree.separator_memory;

-- another file, of fewer pages
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 3);
SELECT pages('SELECT ctid FROM t WHERE i = 6001');
REINDEX INDEX t_i;
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 100);
BEGIN;
TRUNCATE t;
INSERT INTO t SELECT i FROM generate_series(1, 50) i;
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 3);
ROLLBACK;
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 3);

-- the same file with nothing in it: tables of the transaction are emptied in place
BEGIN;
SET LOCAL fptree.debug_node_lines = '1,1';
CREATE TABLE own (i int);
CREATE INDEX own_i ON own USING fptree (i);
INSERT INTO own SELECT i FROM generate_series(1, 3000) i;
SELECT look('SELECT count(*) FROM own WHERE i = $1', 0, 3000);
TRUNCATE own;
INSERT INTO own SELECT i FROM generate_series(1000, 1010) i;
SELECT look('SELECT count(*) FROM own WHERE i = $1', 0, 3000);
COMMIT;
CREATE TEMP TABLE again (i int) ON COMMIT DELETE ROWS;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX again_i ON again USING fptree (i);
RESET fptree.debug_node_lines;
BEGIN;
INSERT INTO again SELECT i FROM generate_series(1, 3000) i;
SELECT look('SELECT count(*) FROM again WHERE i = $1', 0, 3000);
COMMIT;
SELECT look('SELECT count(*) FROM again WHERE i = $1', 0, 3000);

-- insertions by what is remembered; what has been split is soon remembered anew
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 3);
INSERT INTO t (i) SELECT i * 2 - 1 FROM generate_series(1, 20000) i ORDER BY hashint4(i);
SELECT look('SELECT count(*) FROM t WHERE i = $1', 1, 40000);
SELECT look('SELECT count(*) FROM t WHERE i = $1', 1, 40000);
SELECT pages('SELECT ctid FROM t WHERE i = -1'), pages('SELECT ctid FROM t WHERE i = 40001');
DO $$
BEGIN
	FOR i IN 0 .. 40000 BY 17 LOOP
		BEGIN
			INSERT INTO t (u) VALUES (md5(i::text)::uuid);
		EXCEPTION WHEN unique_violation THEN
			ASSERT i % 2 = 0 AND i > 0, i;
		END;
	END LOOP;
END $$;
SELECT count(u) FROM t;

-- keys of many rows: where these go on in other leaves, TIDs decide
CREATE TABLE few (i int, n int);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX few_i ON few USING fptree (i);
RESET fptree.debug_node_lines;
INSERT INTO few SELECT i % 7, i FROM generate_series(1, 4000) i;
SELECT look('SELECT count(*) FROM few WHERE i = $1', -1, 7), look('SELECT count(*) FROM few WHERE i > $1', -1, 7);
INSERT INTO few SELECT i % 70, i FROM generate_series(1, 4000) i;
SELECT look('SELECT count(*) FROM few WHERE i = $1', -1, 70), look('SELECT count(*) FROM few WHERE i > $1', -1, 70);
DELETE FROM few WHERE n % 3 > 0;
VACUUM few;
INSERT INTO few SELECT i % 50, i FROM generate_series(1, 4000) i;
SELECT look('SELECT count(*) FROM few WHERE i = $1', -1, 70), look('SELECT count(*) FROM few WHERE i > $1', -1, 70);

-- NULLs on either side
CREATE TABLE n (i int, j int);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX n_i ON n USING fptree (i NULLS FIRST);
CREATE INDEX n_j ON n USING fptree (j);
RESET fptree.debug_node_lines;
INSERT INTO n SELECT nullif(i % 3, 0) * i, nullif(i % 3, 0) * i FROM generate_series(1, 3000) i;
SELECT col, look(format('SELECT count(*) FROM n WHERE %s = $1', col), 0, 6000),
	look(format('SELECT count(*) FROM n WHERE %s > $1', col), 0, 6000, 100),
	look(format('SELECT count(*) FROM n WHERE %s IS NULL', col), 1, 1) FROM unnest('{i,j}'::text[]) col;

SELECT fptree_index_parent_check(c.oid, true) FROM pg_class c JOIN pg_am a ON a.oid = relam
WHERE amname = 'fptree' AND relnamespace = 'fpt_recall'::regnamespace;
SET client_min_messages = warning;
DROP SCHEMA fpt_recall CASCADE;

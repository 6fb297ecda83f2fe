--
-- Fptree Count: aggregates of what an index answers alone.  Each query gives the
-- answer of a sequential scan, by the node where it fits and by core's plan where
-- it does not.
--
CREATE SCHEMA fpt_count;
SET search_path = fpt_count, public;
SET max_parallel_workers_per_gather = 0;
SET fptree.enable_count = on;
SET client_min_messages = warning;

-- Does a query's plan have the node?  What it answers, and if that is another answer
-- than without any index, that one, too.
CREATE FUNCTION counts(query text, OUT plan text, OUT answer text, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
	seqscan text = current_setting('enable_seqscan');
	indexscan text = current_setting('enable_indexscan');
	indexonlyscan text = current_setting('enable_indexonlyscan');
	line text;
BEGIN
	plan := 'core';
	PERFORM set_config('enable_seqscan', 'off', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Fptree Count' THEN
			plan := 'node';
		END IF;
	END LOOP;
	EXECUTE 'SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (' || query || ') x' INTO answer;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true),
		set_config('enable_bitmapscan', 'off', true), set_config('enable_indexonlyscan', 'off', true);
	EXECUTE 'SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (' || query || ') x' INTO wrong;
	PERFORM set_config('enable_seqscan', seqscan, true), set_config('enable_indexscan', indexscan, true),
		set_config('enable_bitmapscan', 'on', true), set_config('enable_indexonlyscan', indexonlyscan, true);
	wrong := CASE WHEN wrong IS DISTINCT FROM answer THEN wrong END;
END $$;

CREATE TABLE t AS
	SELECT i AS id, CASE WHEN i % 50 <> 0 THEN (i * 7919) % 10007 END AS k,
		(i % 97) - 40 AS b, 'row ' || i AS txt, i % 3 = 0 AS flag
	FROM generate_series(1, 20000) i;
CREATE INDEX t_k ON t USING fptree (k);
CREATE INDEX t_id ON t USING fptree (id DESC);
CREATE INDEX t_bk ON t USING fptree (b, k);
CREATE INDEX t_txt ON t USING fptree (txt);
CREATE INDEX t_flag ON t USING fptree (k) WHERE flag;
VACUUM ANALYZE t;

-- the node's plan
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE k BETWEEN 100 AND 900;
EXPLAIN (COSTS OFF, VERBOSE)
	SELECT sum(k) + 1, avg(k), count(*) FROM t x WHERE k > 100 AND k IS NOT NULL;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE k = ANY ('{1, 2, 3}');
CREATE TABLE queries (n serial, query text);
INSERT INTO queries (query) SELECT unnest(ARRAY[
	'SELECT count(*) FROM t',
	'SELECT count(*) FROM t WHERE k >= 100',
	'SELECT count(*) FROM t WHERE k > 100 AND k <= 4000 AND k <> 7',
	'SELECT count(*), count(k) FROM t',
	'SELECT count(k) FROM t WHERE k IS NULL',
	'SELECT count(*) FROM t WHERE k IS NULL',
	'SELECT count(*) FROM t WHERE k IS NOT NULL',
	'SELECT count(*), sum(k), avg(k), min(k), max(k), count(k) FROM t',
	'SELECT sum(k), avg(k), min(k), max(k) FROM t WHERE k < 0',
	'SELECT sum(k), avg(k), min(k), max(k) FROM t WHERE k IS NULL',
	'SELECT sum(k) FROM t WHERE k = ANY (''{5, 17, 4000, 4000, 99999}'')',
	'SELECT sum(id), min(id), max(id), count(id) FROM t WHERE id > 19000',
	'SELECT count(*) + 1, count(*) * sum(k) FROM t WHERE k < 500',
	'SELECT count(*) FROM t WHERE k = 500::bigint',
	'SELECT count(*) FROM t WHERE k < 500.5',
	'SELECT count(*) FROM t WHERE b = 3 AND k > 100',
	'SELECT count(b) FROM t WHERE b > 3',
	'SELECT count(*) FROM t WHERE k > 9000 AND b > 3',
	'SELECT count(*) FROM t WHERE txt > ''row 5''',
	'SELECT count(txt) FROM t WHERE txt BETWEEN ''row 1'' AND ''row 2''',
	'SELECT count(*) FROM t WHERE flag AND k < 1000',
	'SELECT count(*) FROM t WHERE k > 5 LIMIT 1',
	'SELECT count(*) FROM t WHERE k > 5 ORDER BY 1',
	'SELECT DISTINCT count(*) FROM t WHERE k > 5',
	'SELECT count(*), sum(count(*)) OVER () FROM t WHERE k > 5',
	'SELECT (SELECT count(*) FROM t WHERE k = x.i) FROM generate_series(1, 20) x (i)',
	'SELECT (SELECT sum(k) FROM t WHERE k BETWEEN x.i AND x.i + 10) FROM generate_series(1, 20) x (i)',
	'SELECT x.i, y.* FROM generate_series(1, 5) x (i), LATERAL (SELECT count(*), max(k) FROM t WHERE k < x.i) y',
	'SELECT count(*) FROM t WHERE k < (SELECT 17)',
	'WITH c AS MATERIALIZED (SELECT count(*) FROM t WHERE k < 17) SELECT * FROM c, c d',
	'SELECT count(*) FROM t WHERE k < 17 UNION ALL SELECT sum(k) FROM t WHERE k < 18']);
SELECT q.n, q.query, c.* FROM queries q, LATERAL counts(q.query) c ORDER BY n;

-- a condition from 18 on
SELECT answer, wrong FROM counts('SELECT count(*) FROM t WHERE (b, k) > (3, 100)');

-- what does not fit
TRUNCATE queries;
INSERT INTO queries (query) SELECT unnest(ARRAY[
	'SELECT count(*) FROM t WHERE k > 9000 AND id % 2 = 0',
	'SELECT count(*) FROM t WHERE k > 9000 AND txt <> ''x''',
	'SELECT count(*) FROM t WHERE k > 9000 HAVING count(*) > 5',
	'SELECT count(*) FILTER (WHERE k > 9500) FROM t WHERE k > 9000',
	'SELECT count(DISTINCT k) FROM t WHERE k > 9000',
	'SELECT sum(k ORDER BY k) FROM t WHERE k > 9000',
	'SELECT sum(DISTINCT k) FROM t WHERE k > 9000',
	'SELECT string_agg(k::text, '','' ORDER BY k) FROM t WHERE k > 9990',
	'SELECT sum(k + 1) FROM t WHERE k > 9000',
	'SELECT sum(k::bigint) FROM t WHERE k > 9000',
	'SELECT sum(k::float8) FROM t WHERE k > 9000',
	'SELECT stddev(k) FROM t WHERE k > 9000',
	'SELECT bit_and(k) FROM t WHERE k > 9000',
	'SELECT sum(k), sum(id) FROM t WHERE k > 9000',
	'SELECT count(txt) FROM t WHERE k > 9000',
	'SELECT sum(b) FROM t WHERE b > 9000',
	'SELECT k, count(*) FROM t WHERE k > 10000 GROUP BY k',
	'SELECT count(*) FROM t WHERE k > 10000 GROUP BY ()',
	'SELECT count(*) FROM t WHERE k > 10000 GROUP BY GROUPING SETS ((), ())',
	'SELECT count(*), generate_series(1, 2) FROM t WHERE k > 9000',
	'SELECT count(*) FROM t JOIN t u USING (id) WHERE t.k > 10000',
	'SELECT count(*) FROM t TABLESAMPLE SYSTEM (100) WHERE k > 9000',
	'SELECT count(*) FROM t WHERE k > 9000 AND now() > ''2001-01-01''',
	'SELECT max(txt) || count(*) FROM t WHERE txt > ''row 9''',
	'SELECT count(*) FROM ONLY t WHERE ctid > ''(0,1)'' AND k > 9000']);
SELECT q.n, q.query, c.plan, c.wrong FROM queries q, LATERAL counts(q.query) c ORDER BY n;

-- settings
SET enable_indexonlyscan = off;
SELECT plan FROM counts('SELECT count(*) FROM t WHERE k > 9000');
RESET enable_indexonlyscan;
SET enable_indexscan = off;
SELECT plan FROM counts('SELECT count(*) FROM t WHERE k > 9000');
RESET enable_indexscan;
SET fptree.enable_count = off;
SELECT plan FROM counts('SELECT count(*) FROM t WHERE k > 9000');
SET fptree.enable_count = on;

-- rows that are not all-visible: updated in place and elsewhere, deleted, of this
-- transaction and subtransactions, aborted; with room for few of them, too
CREATE FUNCTION differ(OUT query text, OUT plan text, OUT answer text, OUT wrong text) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT q, c.* FROM unnest(ARRAY[
		'SELECT count(*) FROM t',
		'SELECT count(*), count(k), sum(k), avg(k), min(k), max(k) FROM t',
		'SELECT count(*), count(k), sum(k), avg(k), min(k), max(k) FROM t WHERE k < 700',
		'SELECT count(*) FROM t WHERE b > 5',
		'SELECT count(b) FROM t WHERE b < -5 AND k > 5000',
		'SELECT count(*) FROM t WHERE flag AND k < 1000',
		'SELECT y.* FROM generate_series(1, 50) x (i), LATERAL (SELECT count(*), sum(k) FROM t WHERE k BETWEEN x.i * 100 AND x.i * 101) y']) q,
		LATERAL counts(q) c WHERE c.plan <> 'node' OR c.wrong IS NOT NULL $$;
SELECT * FROM differ();
UPDATE t SET txt = txt || 'x' WHERE id % 100 = 1;
UPDATE t SET k = k + 1 WHERE id % 100 = 2;
UPDATE t SET k = NULL WHERE id % 200 = 3;
DELETE FROM t WHERE id % 100 = 4;
SELECT * FROM differ();
DO $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM t WHERE k < 700' LOOP
		IF line ~ 'Heap Fetches: [1-9]' THEN
			RAISE WARNING 'rows were fetched';
		END IF;
	END LOOP;
END $$;
SET work_mem = '64kB';
SELECT * FROM differ();
BEGIN;
INSERT INTO t SELECT 30000 + i, i, i % 7, 'new', true FROM generate_series(1, 3000) i;
SELECT * FROM differ();
SAVEPOINT a;
UPDATE t SET k = -k WHERE id % 10 = 5;
DELETE FROM t WHERE id % 10 = 6;
SELECT count(*) FROM t WHERE k < 0;
SELECT * FROM differ();
ROLLBACK TO a;
SELECT count(*) FROM t WHERE k < 0;
SELECT * FROM differ();
COMMIT;
RESET work_mem;
SELECT * FROM differ();
SET fptree.heap_prefetch = off;
SELECT * FROM differ();
RESET fptree.heap_prefetch;
DELETE FROM t WHERE k BETWEEN 1000 AND 3000;
SELECT * FROM differ();
VACUUM t;
SELECT * FROM differ();

-- cursors go back, are begun anew, and see what was there when they were opened
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT count(*), sum(k) FROM t WHERE k > 100;
FETCH c;
DELETE FROM t WHERE k > 5000;
FETCH c;
FETCH BACKWARD c;
MOVE ABSOLUTE 0 c;
FETCH c;
DECLARE late CURSOR WITH HOLD FOR SELECT count(*), sum(k) FROM t WHERE k > 100;
DECLARE now CURSOR FOR SELECT count(*), sum(k) FROM t WHERE k > 100;
INSERT INTO t SELECT 40000 + i, 9000 + i FROM generate_series(1, 10) i;
FETCH now;
COMMIT;
FETCH late;
CLOSE late;

-- a row of the node is none of the table's
BEGIN;
DECLARE c CURSOR FOR SELECT count(*), sum(k) FROM t WHERE k > 100;
FETCH c;
UPDATE t SET k = 0 WHERE CURRENT OF c;
ROLLBACK;

-- parameters
SET plan_cache_mode = force_generic_plan;
PREPARE p (int, int) AS SELECT count(*), sum(k) FROM t WHERE k BETWEEN $1 AND $2;
EXPLAIN (COSTS OFF) EXECUTE p (1, 2);
EXECUTE p (100, 200);
EXECUTE p (200, 100);
EXECUTE p (NULL, 100);
PREPARE a (int[]) AS SELECT count(*) FROM t WHERE k = ANY ($1);
EXECUTE a ('{101, 102, 103, NULL}');
EXECUTE a (NULL);
DEALLOCATE ALL;
RESET plan_cache_mode;

-- conditions of which the index knows too little: entries are asked one by one
SET timezone = 'Europe/Berlin';
CREATE TABLE ts AS SELECT '2025-03-30 00:00'::timestamp + interval '7 minutes' * i AS ts FROM generate_series(1, 100) i;
INSERT INTO ts VALUES (NULL), ('infinity'), ('-infinity');
CREATE INDEX ON ts USING fptree (ts);
VACUUM ANALYZE ts;
SELECT * FROM counts('SELECT count(*), count(ts), min(ts), max(ts) FROM ts WHERE ts < ''2025-03-30 01:30+00''::timestamptz');
SELECT * FROM counts('SELECT count(*), count(ts), min(ts), max(ts) FROM ts WHERE ts = ANY (''{2025-03-30 01:10+00, 2025-03-30 01:03+00}''::timestamptz[])');
UPDATE ts SET ts = ts + interval '1 minute' WHERE extract(minute FROM ts)::int % 2 = 0;
SELECT plan, wrong FROM counts('SELECT count(*), count(ts), min(ts), max(ts) FROM ts WHERE ts < ''2025-03-30 01:30+00''::timestamptz');
SELECT * FROM counts('SELECT count(*), count(ts), min(ts), max(ts) FROM ts');

-- types, and sums of more than 64 bits
CREATE TABLE typ (i8 bigint, i4 int, i2 smallint, o oid, d date, tm time, tz timestamptz, f float8, u uuid, n numeric, bo bool);
INSERT INTO typ SELECT CASE i % 3 WHEN 0 THEN 9223372036854775807 - i WHEN 1 THEN -9223372036854775808 + i END,
	CASE i % 3 WHEN 0 THEN 2147483647 - i WHEN 1 THEN -2147483648 + i END, i % 100 - 50,
	(4294967295 - i)::text::oid, '2020-01-01'::date - i, time '10:00' + interval '1 second' * i,
	'2020-01-01 UTC'::timestamptz - interval '1 hour' * i, i / 7.0, md5(i::text)::uuid, i, i % 2 = 0
	FROM generate_series(1, 1000) i;
UPDATE typ SET i8 = 9223372036854775807 WHERE i2 = 0;
CREATE TABLE low AS SELECT -9223372036854775808 + i AS i8 FROM generate_series(1, 100) i;
CREATE INDEX ON low USING fptree (i8);
DO $$
DECLARE
	col text;
BEGIN
	FOREACH col IN ARRAY '{i8, i4, i2, o, d, tm, tz, f, u, n, bo}'::text[] LOOP
		EXECUTE format('CREATE INDEX ON typ USING fptree (%I)', col);
	END LOOP;
END $$;
VACUUM ANALYZE typ, low;
SELECT c.* FROM unnest(ARRAY[
	'SELECT count(i8), sum(i8), avg(i8), min(i8), max(i8) FROM typ',
	'SELECT count(i8), sum(i8), avg(i8), min(i8), max(i8) FROM typ WHERE i8 > 5',
	'SELECT count(i8), sum(i8), avg(i8), min(i8), max(i8) FROM low',
	'SELECT sum(i8) FROM low WHERE i8 < -9223372036854775806',
	'SELECT count(i4), sum(i4), avg(i4), min(i4), max(i4) FROM typ',
	'SELECT count(i4), sum(i4), avg(i4), min(i4), max(i4) FROM typ WHERE i4 < 0',
	'SELECT count(*), count(o), min(o), max(o) FROM typ',
	'SELECT count(*), count(d), min(d), max(d) FROM typ',
	'SELECT count(*), count(tm), min(tm), max(tm) FROM typ',
	'SELECT count(*), count(tz), min(tz), max(tz) FROM typ',
	'SELECT count(i2) FROM typ WHERE i2 > 3',
	'SELECT count(f) FROM typ WHERE f > 3',
	'SELECT count(u) FROM typ WHERE u > ''80000000-0000-0000-0000-000000000000''',
	'SELECT count(n) FROM typ WHERE n > 3',
	'SELECT count(*) FROM typ WHERE bo',
	'SELECT sum(i2) FROM typ WHERE i2 > 3',
	'SELECT round(sum(f)) FROM typ WHERE f > 3',
	'SELECT sum(n) FROM typ WHERE n > 3']) q, LATERAL counts(q) c;

-- row security, security barriers
CREATE ROLE fpt_count_role;
GRANT USAGE ON SCHEMA fpt_count TO fpt_count_role;
GRANT SELECT ON ALL TABLES IN SCHEMA fpt_count TO fpt_count_role;
CREATE VIEW barrier WITH (security_barrier) AS SELECT k FROM t WHERE k > 100;
GRANT SELECT ON barrier TO fpt_count_role;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON t TO fpt_count_role USING (k < 200);
SET ROLE fpt_count_role;
SELECT * FROM counts('SELECT count(*) FROM t');
SELECT * FROM counts('SELECT count(*) FROM t WHERE k > 100');
SELECT * FROM counts('SELECT count(*) FROM barrier WHERE k < 150');
RESET ROLE;
ALTER TABLE t DISABLE ROW LEVEL SECURITY;
SELECT * FROM counts('SELECT count(*) FROM t WHERE k BETWEEN 100 AND 200');
SELECT * FROM counts('SELECT count(*) FROM barrier WHERE k < 150');
REVOKE SELECT ON t FROM fpt_count_role;
SET ROLE fpt_count_role;
SELECT count(*) FROM t WHERE k > 100;
RESET ROLE;

-- an aggregate that the user may not call
GRANT SELECT ON t TO fpt_count_role;
BEGIN;
REVOKE EXECUTE ON FUNCTION pg_catalog.sum(int) FROM PUBLIC;
SET LOCAL ROLE fpt_count_role;
SET LOCAL enable_seqscan = off;
SELECT count(*) FROM t WHERE k > 9990;
SAVEPOINT s;
SELECT count(*), sum(k) FROM t WHERE k > 9990;
ROLLBACK TO s;
EXPLAIN (COSTS OFF) SELECT count(*), sum(k) FROM t WHERE k > 9990;
ROLLBACK;

-- other relations
CREATE TABLE parent (k int);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT generate_series(1, 1000);
INSERT INTO child SELECT generate_series(1, 500);
CREATE INDEX ON parent USING fptree (k);
CREATE INDEX ON child USING fptree (k);
CREATE TABLE parted (k int) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (500);
CREATE TABLE part2 PARTITION OF parted FOR VALUES FROM (500) TO (2000);
CREATE INDEX ON parted USING fptree (k);
INSERT INTO parted SELECT generate_series(1, 1000);
CREATE TEMP TABLE temp AS SELECT generate_series(1, 1000) AS k;
CREATE INDEX ON temp USING fptree (k);
CREATE UNLOGGED TABLE unlogged AS SELECT generate_series(1, 1000) AS k;
CREATE INDEX ON unlogged USING fptree (k);
CREATE MATERIALIZED VIEW mat AS SELECT generate_series(1, 1000) AS k;
CREATE INDEX ON mat USING fptree (k);
CREATE TABLE bt AS SELECT generate_series(1, 1000) AS k;
CREATE INDEX ON bt (k);
CREATE INDEX ON bt USING fptree ((k + 1));
VACUUM ANALYZE parent, child, parted, temp, unlogged, mat, bt;
SELECT q, c.* FROM unnest(ARRAY[
	'SELECT count(*) FROM parent WHERE k > 100',
	'SELECT count(*) FROM ONLY parent WHERE k > 100',
	'SELECT count(*) FROM child WHERE k > 100',
	'SELECT count(*) FROM parted WHERE k > 100',
	'SELECT count(*) FROM part1 WHERE k > 100',
	'SELECT count(*) FROM temp WHERE k > 100',
	'SELECT count(*) FROM unlogged WHERE k > 100',
	'SELECT count(*) FROM mat WHERE k > 100',
	'SELECT count(*) FROM bt WHERE k > 100',
	'SELECT count(*) FROM bt WHERE k + 1 > 100',
	'SELECT sum(k + 1) FROM bt WHERE k + 1 > 100']) q, LATERAL counts(q) c;

-- in a worker
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE outside AS SELECT generate_series(1, 40) AS i;
ANALYZE outside;
SELECT * FROM counts('SELECT i, (SELECT count(*) FROM t WHERE k = i * 100) FROM outside WHERE i % 10 = 3');
SELECT * FROM counts('SELECT count(*), sum(k) FROM t WHERE k > 100');
RESET max_parallel_workers_per_gather;

-- the statistics know of the scans
SELECT pg_stat_force_next_flush();
SELECT pg_stat_reset_single_table_counters('low_i8_idx'::regclass);
SET enable_seqscan = off;
SELECT count(*) FROM low WHERE i8 < 0;
SELECT pg_stat_force_next_flush();
SELECT idx_scan, idx_tup_read, idx_tup_fetch FROM pg_stat_user_indexes WHERE indexrelname = 'low_i8_idx';

-- dead rows get hints, and are not looked up again
CREATE TABLE dead (k int) WITH (autovacuum_enabled = off);
CREATE TEMP TABLE deadtemp (k int);
INSERT INTO dead SELECT i FROM generate_series(1, 3000) i;
INSERT INTO dead SELECT NULL FROM generate_series(1, 300) i;
INSERT INTO deadtemp SELECT i FROM generate_series(1, 300) i;
CREATE INDEX dead_k ON dead USING fptree (k);
CREATE INDEX deadtemp_k ON deadtemp USING fptree (k);
DELETE FROM dead WHERE k % 3 = 0;
DELETE FROM dead WHERE k IS NULL;
DELETE FROM deadtemp WHERE k % 3 = 0;
CREATE FUNCTION hints(index regclass) RETURNS numeric LANGUAGE sql AS $$
	SELECT sum(dead_entries) FROM fpt_page_numbers(index) p,
		fptree_page_stats(index::text, p) WHERE type = 'leaf' $$;
SELECT hints('dead_k'), hints('deadtemp_k');
SELECT count(*) FROM dead WHERE k BETWEEN 1 AND 2000;
SELECT hints('dead_k');
SELECT sum(k), count(*) FROM dead;
SELECT count(*), sum(k) FROM deadtemp;
SELECT hints('dead_k'), hints('deadtemp_k');

-- where no row can match, core's plan has no scan, however dear the result is
CREATE TABLE never (k int NOT NULL CHECK (k > 0));
INSERT INTO never SELECT generate_series(1, 1000);
CREATE INDEX ON never USING fptree (k);
VACUUM ANALYZE never;
CREATE FUNCTION dear(n bigint) RETURNS bigint COST 1000000 LANGUAGE plpgsql AS 'BEGIN RETURN n; END';
SET constraint_exclusion = on;
SELECT * FROM counts('SELECT count(*) FROM never WHERE k < 0');
SELECT * FROM counts('SELECT dear(count(*)) FROM never WHERE k < 0');
SELECT * FROM counts('SELECT dear(count(*)) FROM never WHERE k > 7 AND k < 5');
RESET constraint_exclusion;
SELECT answer, wrong FROM counts('SELECT dear(count(*)) FROM never WHERE k IS NULL');
SELECT * FROM counts('SELECT dear(count(*)) FROM never WHERE k < 10');

-- the result costs the same in both plans, so that it decides nothing
CREATE TABLE tiny (k int);
INSERT INTO tiny SELECT generate_series(1, 50);
CREATE INDEX ON tiny USING fptree (k);
VACUUM ANALYZE tiny;
BEGIN;
SET LOCAL enable_seqscan = on;
SET LOCAL max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM tiny;
EXPLAIN (COSTS OFF) SELECT dear(count(*)) FROM tiny;
COMMIT;

-- an empty index, and one that grows
CREATE TABLE e (k int);
CREATE INDEX ON e USING fptree (k);
SELECT * FROM counts('SELECT count(*), sum(k), min(k) FROM e');
INSERT INTO e SELECT generate_series(1, 5000);
SELECT * FROM counts('SELECT count(*), sum(k), min(k) FROM e');
REVOKE ALL ON ALL TABLES IN SCHEMA fpt_count FROM fpt_count_role;
REVOKE ALL ON SCHEMA fpt_count FROM fpt_count_role;
DROP POLICY p ON t;
DROP ROLE fpt_count_role;
SELECT fpt_check_all();

-- other extensions' hints are obeyed, whether their hook is called before ours or
-- after it
CREATE FUNCTION hinted(OUT hint text, OUT plan text) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	FOREACH hint IN ARRAY '{none, seq, tid, index, index t_k, index t_id, bitmap, bitmap t_k, no_index, no_bitmap, none}'::text[] LOOP
		PERFORM set_config('fptree_hints.scan', split_part(hint, ' ', 1), false),
			set_config('fptree_hints.index', split_part(hint, ' ', 2), false);
		plan := (counts('SELECT count(*) FROM t WHERE k BETWEEN 100 AND 900')).plan;
		RETURN NEXT;
	END LOOP;
END $$;
\getenv builddir PG_ABS_BUILDDIR
\set hints :builddir '/test/module/fptree_hints'
\c -
LOAD :'hints';
LOAD 'fptree';
SET search_path = fpt_count, public;
SET fptree.enable_count = on;
SELECT * FROM hinted();
\c -
LOAD 'fptree';
LOAD :'hints';
SET search_path = fpt_count, public;
SET fptree.enable_count = on;
SELECT * FROM hinted();

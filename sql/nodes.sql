--
-- Plan nodes of our own: Fptree Count, Fptree Distinct and Fptree Index Only Scan.
--

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

-- several processes: one row, of all that they have counted, whoever is the first to
-- end, the last, or late
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
EXPLAIN (COSTS OFF) SELECT count(*) + 1, sum(k) FROM t WHERE k > 5;
SELECT * FROM differ();
SELECT c.plan, c.wrong FROM unnest(ARRAY[
	'SELECT count(i8), sum(i8), avg(i8), min(i8), max(i8) FROM typ',
	'SELECT count(*), count(k), sum(k) FROM t WHERE k = ANY (''{5, 17, 4000, 9000, 99999}'')',
	'SELECT count(*), sum(k) FROM t WHERE k > 5 AND k < 5',
	'SELECT sum(k) FROM t WHERE k > (SELECT 4000)',
	'SELECT count(*), count(ts), min(ts), max(ts) FROM ts WHERE ts < ''2025-03-30 01:30+00''::timestamptz']) q,
	LATERAL counts(q) c;
CREATE FUNCTION together(query text, times int, OUT answers text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
	rows text[];
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line;
	END LOOP;
	IF plan !~ 'Gather.*Parallel Custom Scan .Fptree Count' THEN
		RAISE WARNING 'not parallel: %', plan;
	END IF;
	CREATE TEMP TABLE got (answer text);
	FOR i IN 1..times LOOP
		PERFORM set_config('parallel_leader_participation', (i % 3 <> 0)::text, true);
		EXECUTE 'SELECT array_agg(x::text) FROM (' || query || ') x' INTO rows;
		INSERT INTO got SELECT unnest(rows);
	END LOOP;
	SELECT string_agg(answer || ', ' || n || ' times', '; ') INTO answers FROM
		(SELECT answer, count(*) AS n FROM got GROUP BY answer) a;
	DROP TABLE got;
END $$;
SELECT together('SELECT count(*), sum(k), min(k), max(k) FROM t', 12);
CREATE TABLE many AS SELECT i AS k FROM generate_series(1, 100000) i;
CREATE INDEX ON many USING fptree (k) WITH (fillfactor = 10);
SELECT together('SELECT count(*), sum(k), min(k), max(k) FROM many', 6);
-- once for each row outside
SET enable_material = off;
SELECT x.i, y.* FROM generate_series(1, 4) x (i) LEFT JOIN (SELECT count(*) AS n, sum(k) FROM t) y ON x.i < y.n;
RESET enable_material;
-- workers that are not to be had
SET max_parallel_workers = 0;
SELECT together('SELECT count(*), sum(k), min(k), max(k) FROM t', 1);
RESET max_parallel_workers;
SET enable_seqscan = off;
RESET min_parallel_index_scan_size;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE k > 5;
RESET enable_seqscan;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

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

-- nor an operator
BEGIN;
REVOKE EXECUTE ON FUNCTION pg_catalog.int4gt(int, int), pg_catalog.int4eq(int, int) FROM PUBLIC;
SET LOCAL ROLE fpt_count_role;
SET LOCAL enable_seqscan = off;
SAVEPOINT s;
SELECT count(*) FROM t WHERE k > 9990;
ROLLBACK TO s;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE k = ANY ('{1, 2}');
ROLLBACK TO s;
SELECT count(*) FROM t WHERE k >= 9990;
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
SET track_counts = on;
SELECT pg_stat_reset_single_table_counters('low_i8_idx'::regclass);
SET enable_seqscan = off;
SELECT count(*) FROM low WHERE i8 < 0;
SELECT pg_stat_force_next_flush();
SET track_counts = off;
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

-- columns that are expressions: of another column with a label of its own order,
-- and such as a condition of another column is
CREATE TABLE expr AS SELECT i % 10 AS k, nullif(i % 7, 3) AS n,
	(chr((CASE WHEN i % 2 = 0 THEN 65 ELSE 97 END) + i % 26) || i)::varchar COLLATE "und-x-icu" AS v,
	('x' || i % 9)::varchar AS w FROM generate_series(1, 2000) i;
CREATE INDEX expr_v ON expr USING fptree ((v::text) COLLATE "C", v);
CREATE INDEX expr_w ON expr USING fptree ((w::text), w text_pattern_ops);
CREATE INDEX expr_k ON expr USING fptree (k, (k < 5), (k = ANY ('{1, 2}')));
CREATE INDEX expr_n ON expr USING fptree (n, (n IS NULL));
VACUUM ANALYZE expr;
SELECT c.* FROM unnest(ARRAY[
	'SELECT count(*) FROM expr WHERE v::text COLLATE "C" < ''a''',
	'SELECT count(*) FROM expr WHERE v::text COLLATE "C" < ''a'' AND v > ''f''',
	'SELECT count(*) FROM expr WHERE w < ''x3''',
	'SELECT count(*) FROM expr WHERE k < 5',
	'SELECT count(*) FROM expr WHERE k < 6',
	'SELECT count(*) FROM expr WHERE k = ANY (''{1, 2}'')',
	'SELECT count(*) FROM expr WHERE n IS NULL',
	'SELECT count(*) FROM expr WHERE n IS NOT NULL']) q, LATERAL counts(q) c;

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

\c -
--
-- Fptree Distinct: the keys of an index, each once, or with the number of its rows.
-- Each query gives the answer of a sequential scan, by the node where it fits and by
-- core's plan where it does not.
--
CREATE SCHEMA fpt_distinct;
SET search_path = fpt_distinct, public;
SET max_parallel_workers_per_gather = 0;
SET fptree.enable_distinct = on;
SET client_min_messages = warning;

-- Does a query's plan have the node, and a sort?  How many rows it has, and if they
-- are others than without any index, or in another order ("ordered"), these.
CREATE FUNCTION keys(query text, ordered bool DEFAULT false, OUT plan text, OUT n int, OUT wrong text)
LANGUAGE plpgsql AS $$
DECLARE
	seqscan text = current_setting('enable_seqscan');
	indexscan text = current_setting('enable_indexscan');
	indexonlyscan text = current_setting('enable_indexonlyscan');
	line text;
	a text[];
	b text[];
BEGIN
	plan := '';
	PERFORM set_config('enable_seqscan', 'off', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || CASE WHEN line ~ 'Fptree Distinct' THEN ' node' WHEN line ~ 'Backward' THEN ' back'
			WHEN line ~ 'Sort$' THEN ' sort' ELSE '' END;
	END LOOP;
	plan := CASE WHEN plan ~ 'node' THEN plan ELSE 'core' END;
	EXECUTE 'SELECT array_agg(x::text) FROM (' || query || ') x' INTO a;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true),
		set_config('enable_bitmapscan', 'off', true), set_config('enable_indexonlyscan', 'off', true);
	EXECUTE 'SELECT array_agg(x::text) FROM (' || query || ') x' INTO b;
	PERFORM set_config('enable_seqscan', seqscan, true), set_config('enable_indexscan', indexscan, true),
		set_config('enable_bitmapscan', 'on', true), set_config('enable_indexonlyscan', indexonlyscan, true);
	IF NOT ordered THEN
		SELECT array_agg(x ORDER BY x) FROM unnest(a) x INTO a;
		SELECT array_agg(x ORDER BY x) FROM unnest(b) x INTO b;
	END IF;
	n := cardinality(a);
	wrong := CASE WHEN a IS DISTINCT FROM b THEN a::text || ' for ' || b::text END;
END $$;

-- few keys and many, one in each leaf and many in each, NULLs, first and last
CREATE TABLE t AS
	SELECT i AS id, CASE WHEN i % 50 <> 0 THEN (i * 7919) % 97 END AS k, i / 5 AS five,
		(i % 7) - 3 AS a, i % 11 AS b, i % 3 AS c, ('some text that is longer ' || i % 23) COLLATE "C" AS txt,
		md5((i % 31)::text)::uuid AS u, CASE WHEN i % 40 <> 0 THEN (i % 13) / 4.0 END AS n,
		i % 3 = 0 AS flag, i % 801 AS many
	FROM generate_series(1, 8000) i;
CREATE INDEX t_k ON t USING fptree (k);
CREATE INDEX t_five ON t USING fptree (five DESC);
CREATE INDEX t_abc ON t USING fptree (a, b DESC NULLS LAST, c);
CREATE INDEX t_txt ON t USING fptree (txt);
CREATE INDEX t_u ON t USING fptree (u NULLS FIRST);
CREATE INDEX t_n ON t USING fptree (n NULLS FIRST);
CREATE INDEX t_flag ON t USING fptree (b) INCLUDE (c) WHERE flag;
CREATE INDEX t_many ON t USING fptree (many);
CREATE INDEX t_expr ON t USING fptree ((id % 19), k, id);
CREATE INDEX t_id ON t USING fptree (id);
VACUUM ANALYZE t;

-- the node's plan
EXPLAIN (COSTS OFF) SELECT DISTINCT k FROM t WHERE k BETWEEN 10 AND 90;
EXPLAIN (COSTS OFF) SELECT DISTINCT k FROM t WHERE k > 5 ORDER BY k DESC LIMIT 3;
EXPLAIN (COSTS OFF, VERBOSE) SELECT count(*) + 1, a, b || 'x' FROM t x WHERE a > 0 GROUP BY b, a;
CREATE TABLE queries (n serial, query text);
INSERT INTO queries (query) SELECT unnest(ARRAY[
	'SELECT DISTINCT k FROM t',
	'SELECT DISTINCT k FROM t ORDER BY k',
	'SELECT DISTINCT k FROM t ORDER BY k DESC',
	'SELECT DISTINCT k FROM t ORDER BY k NULLS FIRST',
	'SELECT DISTINCT k FROM t WHERE k >= 17 AND k < 51 ORDER BY k',
	'SELECT DISTINCT k FROM t WHERE k IS NULL',
	'SELECT DISTINCT k FROM t WHERE k IS NOT NULL ORDER BY k DESC',
	'SELECT DISTINCT k FROM t WHERE k = ANY (''{5, 17, 30, 30, 9999}'') ORDER BY k',
	'SELECT DISTINCT k FROM t WHERE k > 7 AND k < 5',
	'SELECT DISTINCT k FROM t WHERE k < 50::bigint ORDER BY k',
	'SELECT DISTINCT k FROM t ORDER BY k LIMIT 5',
	'SELECT DISTINCT k FROM t ORDER BY k DESC LIMIT 5 OFFSET 3',
	'SELECT DISTINCT five FROM t ORDER BY five',
	'SELECT DISTINCT five FROM t ORDER BY five DESC',
	'SELECT DISTINCT five FROM t WHERE five > 100 ORDER BY five LIMIT 7',
	'SELECT DISTINCT txt FROM t ORDER BY 1',
	'SELECT DISTINCT txt FROM t ORDER BY 1 DESC',
	'SELECT DISTINCT txt AS x FROM t WHERE txt > ''some text that is longer 2'' ORDER BY 1',
	'SELECT DISTINCT u FROM t ORDER BY u',
	'SELECT DISTINCT u FROM t ORDER BY u DESC',
	'SELECT DISTINCT n FROM t ORDER BY n NULLS FIRST',
	'SELECT DISTINCT n FROM t ORDER BY n DESC NULLS LAST',
	'SELECT DISTINCT many FROM t ORDER BY many',
	'SELECT DISTINCT many FROM t ORDER BY many DESC',
	'SELECT DISTINCT a FROM t ORDER BY a',
	'SELECT DISTINCT a FROM t ORDER BY a DESC',
	'SELECT DISTINCT a, b FROM t ORDER BY a, b DESC NULLS LAST',
	'SELECT DISTINCT a, b FROM t ORDER BY a DESC, b NULLS FIRST',
	'SELECT DISTINCT b, a FROM t ORDER BY b, a',
	'SELECT DISTINCT a, b, c FROM t ORDER BY a, b DESC NULLS LAST, c',
	'SELECT DISTINCT a, b FROM t WHERE a > 1 AND b < 5 ORDER BY a, b DESC NULLS LAST',
	'SELECT DISTINCT a, b FROM t WHERE b = 3 ORDER BY a',
	'SELECT DISTINCT a, b FROM t WHERE b = 3 ORDER BY a DESC',
	'SELECT DISTINCT a, c FROM t WHERE b = 3 ORDER BY a, c',
	'SELECT DISTINCT b FROM t WHERE a = 1 ORDER BY b',
	'SELECT DISTINCT b FROM t WHERE a = 1 ORDER BY b DESC NULLS LAST',
	'SELECT DISTINCT c FROM t WHERE a = 1 AND b = 2 ORDER BY c',
	'SELECT DISTINCT b, c FROM t WHERE a = 1 ORDER BY b DESC NULLS LAST, c',
	'SELECT DISTINCT b FROM t WHERE flag ORDER BY b',
	'SELECT DISTINCT id % 19 FROM t ORDER BY 1',
	'SELECT DISTINCT id % 19, k FROM t WHERE id % 19 < 5 ORDER BY 1, 2',
	'SELECT k FROM t GROUP BY k ORDER BY k',
	'SELECT k + 1, k FROM t GROUP BY k ORDER BY k DESC',
	'SELECT k, count(*) FROM t GROUP BY k ORDER BY k',
	'SELECT count(*), k FROM t GROUP BY k ORDER BY k DESC',
	'SELECT count(*) * 2 + k FROM t WHERE k > 3 GROUP BY k ORDER BY k',
	'SELECT k, count(*), count(*) FROM t WHERE k = ANY (''{5, 17, 30}'') GROUP BY k ORDER BY k',
	'SELECT k, count(*) FROM t WHERE k IS NULL GROUP BY k',
	'SELECT five, count(*) FROM t GROUP BY five ORDER BY five',
	'SELECT five, count(*) FROM t WHERE five < 3000 GROUP BY five ORDER BY five DESC LIMIT 10',
	'SELECT txt, count(*) FROM t GROUP BY 1 ORDER BY 1 DESC',
	'SELECT n, count(*) FROM t GROUP BY n ORDER BY n NULLS FIRST',
	'SELECT u, count(*) FROM t GROUP BY u ORDER BY u',
	'SELECT a, count(*) FROM t GROUP BY a ORDER BY a DESC',
	'SELECT a, b, count(*) FROM t GROUP BY a, b ORDER BY a, b DESC NULLS LAST',
	'SELECT a, b, count(*) FROM t GROUP BY a, b ORDER BY a DESC, b NULLS FIRST',
	'SELECT b, count(*) FROM t WHERE a = 1 AND c < 2 GROUP BY b ORDER BY b',
	'SELECT many, count(*) FROM t GROUP BY many ORDER BY many DESC',
	'SELECT id % 19 + 2, count(*) FROM t GROUP BY id % 19 ORDER BY id % 19',
	'SELECT count(*) FROM t GROUP BY k ORDER BY k',
	'SELECT DISTINCT count(*) FROM t GROUP BY k ORDER BY 1',
	'SELECT k, sum(count(*)) OVER (ORDER BY k) FROM t GROUP BY k ORDER BY k',
	'SELECT count(*) FROM (SELECT DISTINCT k FROM t) x',
	'SELECT x.i, y.* FROM generate_series(1, 20) x (i), LATERAL (SELECT DISTINCT k FROM t WHERE k < x.i) y ORDER BY 1, 2',
	'SELECT (SELECT count(*) FROM (SELECT DISTINCT k FROM t WHERE k BETWEEN x.i AND x.i * 2 OFFSET 0) z) FROM generate_series(1, 20) x (i)',
	'SELECT i FROM generate_series(1, 120) i WHERE i IN (SELECT DISTINCT k FROM t) ORDER BY 1',
	'SELECT DISTINCT k FROM t WHERE k < (SELECT 17) ORDER BY k',
	'SELECT DISTINCT k FROM t WHERE k < 5 UNION ALL SELECT DISTINCT k FROM t WHERE k < 3 ORDER BY 1']);
SELECT q.n, q.query, c.* FROM queries q, LATERAL keys(q.query, q.query ~ 'ORDER BY') c ORDER BY q.n;

-- queries that do not fit
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE words AS SELECT CASE WHEN i % 2 = 0 THEN 'Word' ELSE 'word' END || i % 10 AS w, i % 5 AS v
	FROM generate_series(1, 4000) i;
ALTER TABLE words ALTER w TYPE text COLLATE loose;
CREATE INDEX words_w ON words USING fptree (w);
CREATE INDEX words_wv ON words USING fptree (w, v);
CREATE TABLE pk (id int, k int);
INSERT INTO pk SELECT i, i % 10 FROM generate_series(1, 2000) i;
CREATE UNIQUE INDEX pk_id ON pk USING fptree (id);
VACUUM ANALYZE words, pk;
CREATE TABLE others (n serial, query text);
INSERT INTO others (query) SELECT unnest(ARRAY[
	'SELECT DISTINCT k, id FROM t WHERE k = 3',
	'SELECT DISTINCT k FROM t WHERE k > 90 AND id % 2 = 0',
	'SELECT DISTINCT b FROM t WHERE a > 1',
	'SELECT DISTINCT a, c FROM t',
	'SELECT DISTINCT k + 1 FROM t',
	'SELECT DISTINCT k FROM t WHERE k >= 87 AND k <> 90',
	'SELECT DISTINCT k FROM t WHERE k < 5.5',
	'SELECT DISTINCT k FROM t WHERE k = 5',
	'SELECT DISTINCT txt COLLATE "POSIX" FROM t',
	'SELECT DISTINCT ON (k) k, id FROM t WHERE k > 90 ORDER BY k, id',
	'SELECT DISTINCT k, generate_series(1, 2) FROM t WHERE k > 90',
	'SELECT DISTINCT k, row_number() OVER (PARTITION BY k ORDER BY k) % 2 FROM t WHERE k > 90',
	'SELECT DISTINCT w COLLATE "C" FROM words',
	'SELECT lower(w) FROM (SELECT DISTINCT w FROM words) x',
	'SELECT lower(w), count(*) FROM words GROUP BY w',
	'SELECT k, count(*) FROM t WHERE k > 90 GROUP BY k HAVING count(*) > 5',
	'SELECT k, count(*) FILTER (WHERE k > 91) FROM t WHERE k > 90 GROUP BY k',
	'SELECT k, count(id) FROM t WHERE k > 90 GROUP BY k',
	'SELECT k, sum(k) FROM t WHERE k > 90 GROUP BY k',
	'SELECT k, count(DISTINCT k) FROM t WHERE k > 90 GROUP BY k',
	'SELECT k, count(*) FROM t WHERE k > 90 GROUP BY ROLLUP (k)',
	'SELECT k, count(*) FROM t WHERE k > 90 GROUP BY GROUPING SETS ((k), ())',
	'SELECT k, generate_series(1, 2) FROM t WHERE k > 90 GROUP BY k',
	'SELECT DISTINCT t.k FROM t JOIN pk ON pk.k = t.k',
	'SELECT DISTINCT k FROM t TABLESAMPLE SYSTEM (100) WHERE k > 90',
	'SELECT DISTINCT k FROM t WHERE k > 90 AND now() > ''2001-01-01''',
	'SELECT DISTINCT k FROM t WHERE ctid > ''(0,1)'' AND k > 90',
	'SELECT k FROM t WHERE k > 95 GROUP BY k, id']);
SELECT q.n, q.query, c.* FROM others q, LATERAL keys(q.query) c ORDER BY q.n;

-- a column whose value is fixed may be missing, unless equal values
-- are not the same
SELECT * FROM keys('SELECT DISTINCT v FROM words WHERE w = ''WORD1''');

-- from 18 on core knows which columns a unique index makes needless
SELECT wrong FROM keys('SELECT id, k, count(*) FROM pk WHERE id < 50 GROUP BY id, k');

-- settings
SET enable_indexonlyscan = off;
SELECT plan FROM keys('SELECT DISTINCT k FROM t');
RESET enable_indexonlyscan;
SET enable_indexscan = off;
SELECT plan FROM keys('SELECT DISTINCT k FROM t');
RESET enable_indexscan;
SET fptree.enable_distinct = off;
SELECT plan FROM keys('SELECT DISTINCT k FROM t');
SELECT plan FROM keys('SELECT k, count(*) FROM t GROUP BY k');
SET fptree.enable_distinct = on;

-- where nearly every row has another key it is core's plan
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT DISTINCT id FROM t;
EXPLAIN (COSTS OFF) SELECT DISTINCT id FROM t ORDER BY id LIMIT 3;
EXPLAIN (COSTS OFF) SELECT DISTINCT many FROM t;
EXPLAIN (COSTS OFF) SELECT DISTINCT k FROM t;

-- rows that are not all-visible: updated in place and elsewhere, deleted, of this
-- transaction and subtransactions, aborted
CREATE FUNCTION differ(OUT n int, OUT query text, OUT plan text, OUT wrong text) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT q.n, q.query, c.plan, c.wrong FROM queries q, LATERAL keys(q.query, q.query ~ 'ORDER BY') c
		WHERE c.plan !~ 'node' OR c.wrong IS NOT NULL $$;
UPDATE t SET flag = NOT flag WHERE id % 100 = 1;
UPDATE t SET k = k + 1, a = a + 1 WHERE id % 100 = 2;
UPDATE t SET k = NULL, n = NULL WHERE id % 200 = 3;
DELETE FROM t WHERE id % 100 = 4;
SET work_mem = '64kB';
SELECT * FROM differ();
BEGIN;
INSERT INTO t SELECT 50000 + i, 200 + i % 5, i, 9, i % 7, 1, 'new ' || i % 3, gen_random_uuid(), i + 0.3, true, -i
	FROM generate_series(1, 1000) i;
SELECT * FROM differ();
SAVEPOINT a;
UPDATE t SET k = -k - 1, txt = 'a' || txt WHERE id % 10 = 5;
DELETE FROM t WHERE a = 2 OR k BETWEEN 20 AND 30 OR five % 3 = 1;
SELECT * FROM differ();
ROLLBACK TO a;
SELECT * FROM differ();
COMMIT;
RESET work_mem;
SET fptree.heap_prefetch = off;
SET fptree.simd = scalar;
SELECT * FROM differ();
RESET fptree.heap_prefetch;
RESET fptree.simd;

-- keys with dead rows only, some of them in many leaves
DELETE FROM t WHERE k BETWEEN 10 AND 60 OR a IN (0, 1) OR b = 3 OR txt ~ '[12]' OR many % 2 = 0;
SELECT * FROM differ() WHERE wrong IS NOT NULL;
VACUUM t;
SELECT * FROM differ() WHERE wrong IS NOT NULL;

-- one key in hundreds of pages, alone and between others; no more than a few pages are read
CREATE TABLE wide AS SELECT CASE WHEN i % 500 = 0 THEN i / 500 ELSE 77 END AS k, 'x' AS t, i % 2 AS b
	FROM generate_series(1, 60000) i;
CREATE INDEX wide_k ON wide USING fptree (k);
CREATE INDEX wide_bk ON wide USING fptree (b, k);
CREATE INDEX wide_t ON wide USING fptree (t);
VACUUM ANALYZE wide;
SELECT c.* FROM unnest(ARRAY[
	'SELECT DISTINCT k FROM wide ORDER BY k', 'SELECT DISTINCT k FROM wide ORDER BY k DESC',
	'SELECT k, count(*) FROM wide GROUP BY k ORDER BY k', 'SELECT DISTINCT t FROM wide',
	'SELECT DISTINCT b FROM wide ORDER BY b', 'SELECT DISTINCT b FROM wide ORDER BY b DESC',
	'SELECT DISTINCT b, k FROM wide ORDER BY b, k', 'SELECT DISTINCT k FROM wide WHERE b = 1 ORDER BY k DESC']) q,
	LATERAL keys(q, q ~ 'ORDER BY') c;
CREATE FUNCTION pages(query text, OUT few bool) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	n int;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	n := (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
	few := n < 20;
	IF NOT few THEN
		RAISE WARNING '% pages: %', n, plan->0->'Plan'->>'Custom Plan Provider';
	END IF;
END $$;
SELECT pages('SELECT DISTINCT b FROM wide'), pages('SELECT DISTINCT b FROM wide ORDER BY b DESC'),
	pages('SELECT DISTINCT t FROM wide'), pages('SELECT DISTINCT k FROM wide WHERE k BETWEEN 76 AND 78');

-- cursors go back, are begun anew, and see the rows that were there when they were opened
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT DISTINCT k FROM t WHERE k > 80 ORDER BY k;
FETCH 3 c;
DELETE FROM t WHERE k > 85;
FETCH 3 c;
FETCH BACKWARD 2 c;
MOVE ABSOLUTE 0 c;
FETCH c;
DECLARE late CURSOR WITH HOLD FOR SELECT DISTINCT k FROM t WHERE k > 80 ORDER BY k;
DECLARE now CURSOR FOR SELECT DISTINCT k FROM t WHERE k > 80 ORDER BY k DESC;
INSERT INTO t SELECT 90000 + i, 90 + i FROM generate_series(1, 10) i;
FETCH 2 now;
SELECT DISTINCT k FROM t WHERE k > 84 ORDER BY k LIMIT 2;
COMMIT;
FETCH ALL late;
CLOSE late;

-- a row of the node is none of the table's
BEGIN;
DECLARE c CURSOR FOR SELECT DISTINCT k FROM t WHERE k > 80 ORDER BY k;
FETCH c;
UPDATE t SET k = 0 WHERE CURRENT OF c;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT DISTINCT k FROM t WHERE k < -80 ORDER BY k;
FETCH c;
DELETE FROM t WHERE CURRENT OF c;
ROLLBACK;

-- parameters
SET plan_cache_mode = force_generic_plan;
PREPARE p (int) AS SELECT DISTINCT k FROM t WHERE k < $1 ORDER BY k;
EXPLAIN (COSTS OFF) EXECUTE p (1);
EXECUTE p (3);
EXECUTE p (-1);
EXECUTE p (NULL);
PREPARE b (int) AS SELECT b, count(*) FROM t WHERE a = $1 GROUP BY b ORDER BY b LIMIT 3;
EXPLAIN (COSTS OFF, VERBOSE) EXECUTE b (1);
EXECUTE b (-1);
EXECUTE b (3);
EXECUTE b (NULL);
PREPARE a (int[]) AS SELECT k, count(*) FROM t WHERE k = ANY ($1) GROUP BY k ORDER BY k;
EXECUTE a ('{1, 3, 2, NULL}');
EXECUTE a (NULL);
DEALLOCATE ALL;
RESET plan_cache_mode;

-- conditions that the index knows too little about: entries are asked one by one
SET timezone = 'Europe/Berlin';
CREATE TABLE ts AS SELECT '2025-03-30 00:00'::timestamp + interval '7 minutes' * (i / 3) AS ts FROM generate_series(1, 300) i;
INSERT INTO ts VALUES (NULL), ('infinity'), ('-infinity'), (NULL);
CREATE INDEX ON ts USING fptree (ts);
VACUUM ANALYZE ts;
CREATE FUNCTION ask() RETURNS TABLE (plan text, n int, wrong text) LANGUAGE sql AS $$
	SELECT c.* FROM unnest(ARRAY[
		'SELECT DISTINCT ts FROM ts WHERE ts < ''2025-03-30 01:30+00''::timestamptz ORDER BY ts',
		'SELECT DISTINCT ts FROM ts WHERE ts < ''2025-03-30 01:30+00''::timestamptz ORDER BY ts DESC',
		'SELECT ts, count(*) FROM ts WHERE ts < ''2025-03-30 01:30+00''::timestamptz GROUP BY ts ORDER BY ts',
		'SELECT ts, count(*) FROM ts WHERE ts = ANY (''{2025-03-30 01:10+00, 2025-03-30 01:03+00}''::timestamptz[]) GROUP BY ts ORDER BY ts DESC',
		'SELECT ts, count(*) FROM ts WHERE ts < ''2025-03-30 00:45+00''::timestamptz GROUP BY ts',
		'SELECT DISTINCT ts FROM ts ORDER BY ts']) q, LATERAL keys(q, q ~ 'ORDER BY') c $$;
SELECT * FROM ask();
UPDATE ts SET ts = ts + interval '1 minute' WHERE extract(minute FROM ts)::int % 2 = 0;
SELECT * FROM ask();

-- equal values that look different, and other types
CREATE TABLE typ (i2 smallint, i8 bigint, o oid, d date, f float8, f4 float4, x numeric, na name, ch char(5), vc varchar(9), bo bool, by bytea, iv interval, ar int[], en text);
INSERT INTO typ SELECT i % 10 - 5, 9223372036854775807 - i % 7, (4294967295 - i % 9)::text::oid, '2020-01-01'::date - i % 12,
	(CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' ELSE '5' END)::float8, i % 6,
	(CASE i % 4 WHEN 0 THEN '1.0' WHEN 1 THEN '1.00' WHEN 2 THEN 'NaN' ELSE '7' END)::numeric, 'n' || i % 8, 'c' || i % 4, 'v' || i % 6,
	i % 2 = 0, decode(lpad(to_hex(i % 20), 4, '0'), 'hex'), (CASE i % 3 WHEN 0 THEN '1 day' WHEN 1 THEN '24 hours' ELSE '1 hour' END)::interval,
	ARRAY[i % 3, i % 2], 'wörter ' || i % 17
	FROM generate_series(1, 3000) i;
INSERT INTO typ (i2) VALUES (NULL);
DO $$
DECLARE
	col text;
BEGIN
	FOREACH col IN ARRAY '{i2, i8, o, d, f, f4, x, na, ch, vc, bo, by, iv, ar, en}'::text[] LOOP
		EXECUTE format('CREATE INDEX ON typ USING fptree (%I)', col);
	END LOOP;
END $$;
VACUUM ANALYZE typ;
SELECT col, d.plan, d.n, d.wrong, e.plan, e.n, e.wrong, f.n, f.wrong
	FROM unnest('{i2, i8, o, d, f4, na, ch, vc, bo, by, ar, en}'::text[]) col,
		LATERAL keys(format('SELECT DISTINCT %I FROM typ ORDER BY %1$I', col), true) d,
		LATERAL keys(format('SELECT %I, count(*) FROM typ GROUP BY %1$I ORDER BY %1$I', col), true) e,
		LATERAL keys(format('SELECT DISTINCT %I FROM typ ORDER BY %1$I DESC', col), true) f;
SELECT col, e.plan, e.n, e.wrong
	FROM unnest('{f, x, iv}'::text[]) col,
		LATERAL keys(format('SELECT count(*) FROM typ GROUP BY %I ORDER BY %1$I', col), true) e;
SELECT count(*) FROM (SELECT DISTINCT f FROM typ) x;
SELECT count(*) FROM (SELECT DISTINCT x FROM typ) x;
SELECT count(*) FROM (SELECT DISTINCT iv FROM typ) x;

-- row security, security barriers
CREATE ROLE fpt_distinct_role;
GRANT USAGE ON SCHEMA fpt_distinct TO fpt_distinct_role;
GRANT SELECT ON ALL TABLES IN SCHEMA fpt_distinct TO fpt_distinct_role;
CREATE VIEW barrier WITH (security_barrier) AS SELECT k FROM t WHERE k > 10;
GRANT SELECT ON barrier TO fpt_distinct_role;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON t TO fpt_distinct_role USING (k < 70);
SET ROLE fpt_distinct_role;
SELECT * FROM keys('SELECT DISTINCT k FROM t');
SELECT * FROM keys('SELECT k, count(*) FROM barrier WHERE k < 65 GROUP BY k');
RESET ROLE;
ALTER TABLE t DISABLE ROW LEVEL SECURITY;
SELECT * FROM keys('SELECT DISTINCT k FROM t');
SELECT * FROM keys('SELECT DISTINCT k FROM barrier WHERE k < 65');
REVOKE SELECT ON t FROM fpt_distinct_role;
SET ROLE fpt_distinct_role;
SELECT DISTINCT k FROM t WHERE k > 10;
RESET ROLE;

-- equality that the user may not call
GRANT SELECT ON t TO fpt_distinct_role;
BEGIN;
REVOKE EXECUTE ON FUNCTION pg_catalog.int4eq(int, int) FROM PUBLIC;
SET LOCAL ROLE fpt_distinct_role;
SAVEPOINT s;
SELECT DISTINCT k FROM t;
ROLLBACK TO s;
EXPLAIN (COSTS OFF) SELECT a, b, count(*) FROM t GROUP BY a, b;
ROLLBACK;
REVOKE SELECT ON t FROM fpt_distinct_role;

-- values computed from a key, and columns of the index as well
CREATE TABLE expr AS SELECT i % 10 AS k, ('W' || i % 7)::varchar AS w, i % 3 AS c FROM generate_series(1, 2000) i;
CREATE INDEX expr_k ON expr USING fptree (k, (k + 1), (-k));
CREATE INDEX expr_w ON expr USING fptree (w) INCLUDE (c);
CREATE INDEX expr_lower ON expr USING fptree (c, (lower(w)), w);
VACUUM ANALYZE expr;
SELECT q, c.* FROM unnest(ARRAY[
	'SELECT k + 1, count(*) FROM expr GROUP BY k',
	'SELECT k, abs(-k) FROM expr GROUP BY k',
	'SELECT k + 2, count(*) FROM expr GROUP BY k',
	'SELECT DISTINCT k, k + 1 FROM expr',
	'SELECT DISTINCT k + 1, -k, k FROM expr',
	'SELECT k + 1, -k FROM expr GROUP BY k, k + 1',
	'SELECT lower(w), count(*) FROM expr GROUP BY w',
	'SELECT lower(w), w FROM expr WHERE c = 1 GROUP BY lower(w), w']) q, LATERAL keys(q) c;

-- other relations
CREATE TABLE parent (k int);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT i % 10 FROM generate_series(1, 1000) i;
INSERT INTO child SELECT i % 20 FROM generate_series(1, 500) i;
CREATE INDEX ON parent USING fptree (k);
CREATE INDEX ON child USING fptree (k);
CREATE TABLE parted (k int) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (5);
CREATE TABLE part2 PARTITION OF parted FOR VALUES FROM (5) TO (20);
CREATE INDEX ON parted USING fptree (k);
INSERT INTO parted SELECT i % 10 FROM generate_series(1, 1000) i;
CREATE TEMP TABLE temp AS SELECT i % 10 AS k FROM generate_series(1, 1000) i;
CREATE INDEX ON temp USING fptree (k);
CREATE UNLOGGED TABLE unlogged AS SELECT i % 10 AS k FROM generate_series(1, 1000) i;
CREATE INDEX ON unlogged USING fptree (k);
CREATE MATERIALIZED VIEW mat AS SELECT i % 10 AS k FROM generate_series(1, 1000) i;
CREATE INDEX ON mat USING fptree (k);
CREATE TABLE bt AS SELECT i % 10 AS k FROM generate_series(1, 1000) i;
CREATE INDEX ON bt (k);
VACUUM ANALYZE parent, child, parted, temp, unlogged, mat, bt;
CREATE FUNCTION relations() RETURNS TABLE (query text, plan text, n int, wrong text, countplan text, countwrong text) LANGUAGE sql AS $$
	SELECT r, d.*, e.plan, e.wrong FROM unnest('{parent, only parent, child, parted, part1, temp, unlogged, mat, bt}'::text[]) r,
		LATERAL keys(format('SELECT DISTINCT k FROM %s WHERE k > 2', r)) d,
		LATERAL keys(format('SELECT k, count(*) FROM %s GROUP BY k', r)) e $$;
SELECT * FROM relations();
DELETE FROM temp WHERE k IN (3, 4);
DELETE FROM unlogged WHERE k IN (3, 4);
DELETE FROM child WHERE k IN (3, 4);
SELECT * FROM relations();
SET enable_partitionwise_aggregate = on;
SELECT * FROM keys('SELECT k, count(*) FROM parted GROUP BY k');
RESET enable_partitionwise_aggregate;

-- in a worker
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE outside AS SELECT generate_series(1, 40) AS i;
ANALYZE outside;
SELECT * FROM keys('SELECT i, (SELECT count(*) FROM (SELECT DISTINCT k FROM t WHERE k < i * 2 OFFSET 0) x) FROM outside WHERE i % 10 = 3');
SELECT n, wrong FROM keys('SELECT DISTINCT k FROM t');
SELECT n, wrong FROM keys('SELECT k, count(*) FROM t GROUP BY k');
RESET max_parallel_workers_per_gather;

-- the statistics know of the scans
SELECT pg_stat_force_next_flush();
SET track_counts = on;
SELECT pg_stat_reset_single_table_counters('wide_bk'::regclass);
SET enable_seqscan = off;
SELECT DISTINCT b FROM wide ORDER BY b;
SELECT pg_stat_force_next_flush();
SET track_counts = off;
SELECT idx_scan, idx_tup_read < 5000 AS few_read, idx_tup_fetch FROM pg_stat_user_indexes WHERE indexrelname = 'wide_bk';

-- dead rows get hints, and are not looked up again
CREATE TABLE dead (k int) WITH (autovacuum_enabled = off);
CREATE TEMP TABLE deadtemp (k int);
INSERT INTO dead SELECT i / 100 FROM generate_series(1, 3000) i;
INSERT INTO deadtemp SELECT i / 100 FROM generate_series(1, 300) i;
CREATE INDEX dead_k ON dead USING fptree (k);
CREATE INDEX deadtemp_k ON deadtemp USING fptree (k);
DELETE FROM dead WHERE k % 3 = 0;
DELETE FROM deadtemp WHERE k % 3 = 0;
CREATE FUNCTION hints(index regclass) RETURNS numeric LANGUAGE sql AS $$
	SELECT sum(dead_entries) FROM fpt_page_numbers(index) p,
		fptree_page_stats(index::text, p) WHERE type = 'leaf' $$;
SELECT hints('dead_k'), hints('deadtemp_k');
SELECT count(*) FROM (SELECT DISTINCT k FROM dead WHERE k < 15) x;
SELECT hints('dead_k');
SELECT count(*) FROM (SELECT k, count(*) FROM dead GROUP BY k) x;
SELECT count(*) FROM (SELECT k, count(*) FROM deadtemp GROUP BY k) x;
SELECT hints('dead_k'), hints('deadtemp_k');

-- where no row can match, core's plan has no scan
CREATE TABLE never (k int NOT NULL CHECK (k > 0));
INSERT INTO never SELECT i % 10 + 1 FROM generate_series(1, 1000) i;
CREATE INDEX ON never USING fptree (k);
VACUUM ANALYZE never;
SET constraint_exclusion = on;
SELECT * FROM keys('SELECT DISTINCT k FROM never WHERE k < 0');
SELECT * FROM keys('SELECT k, count(*) FROM never WHERE k > 7 AND k < 5 GROUP BY k');
RESET constraint_exclusion;

-- an empty index, and one that grows
CREATE TABLE e (k int);
CREATE INDEX ON e USING fptree (k);
SELECT * FROM keys('SELECT DISTINCT k FROM e');
SELECT * FROM keys('SELECT k, count(*) FROM e GROUP BY k');
INSERT INTO e SELECT i % 10 FROM generate_series(1, 5000) i;
SELECT * FROM keys('SELECT DISTINCT k FROM e');
SELECT * FROM keys('SELECT k, count(*) FROM e GROUP BY k');
REVOKE ALL ON ALL TABLES IN SCHEMA fpt_distinct FROM fpt_distinct_role;
REVOKE ALL ON SCHEMA fpt_distinct FROM fpt_distinct_role;
DROP POLICY p ON t;
DROP ROLE fpt_distinct_role;
SELECT fpt_check_all();

-- other extensions' hints are obeyed, whether their hook is called before ours or
-- after it
CREATE FUNCTION hinted(OUT hint text, OUT plan text) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	FOREACH hint IN ARRAY '{none, seq, tid, index, index t_k, index t_id, bitmap, bitmap t_k, no_index, no_bitmap, none}'::text[] LOOP
		PERFORM set_config('fptree_hints.scan', split_part(hint, ' ', 1), false),
			set_config('fptree_hints.index', split_part(hint, ' ', 2), false);
		plan := (keys('SELECT DISTINCT k FROM t WHERE k < 50')).plan;
		RETURN NEXT;
	END LOOP;
END $$;
\getenv builddir PG_ABS_BUILDDIR
\set hints :builddir '/test/module/fptree_hints'
\c -
LOAD :'hints';
LOAD 'fptree';
SET search_path = fpt_distinct, public;
SET fptree.enable_distinct = on;
SELECT * FROM hinted();
\c -
LOAD 'fptree';
LOAD :'hints';
SET search_path = fpt_distinct, public;
SET fptree.enable_distinct = on;
SELECT * FROM hinted();

\c -
--
-- Fptree Index Only Scan: rows of what an index answers alone. Each query gives the
-- answer of a sequential scan, by the node where it fits and by core's plan where it
-- does not.
--
CREATE SCHEMA fpt_onlyscan;
SET search_path = fpt_onlyscan, public;
SET max_parallel_workers_per_gather = 0;
SET fptree.enable_indexonlyscan = on;
SET client_min_messages = warning;

-- Does a query's plan have the node, and in which directions?  How many rows it has, and
-- if they are others than without any index, or in another order ("ordered"), these.
CREATE FUNCTION rows(query text, ordered bool DEFAULT false, OUT plan text, OUT n int, OUT wrong text)
LANGUAGE plpgsql AS $$
DECLARE
	indexscan text = current_setting('enable_indexscan');
	indexonlyscan text = current_setting('enable_indexonlyscan');
	line text;
	a text[];
	b text[];
BEGIN
	plan := '';
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || CASE WHEN line ~ 'Fptree Index Only Scan' THEN ' node' WHEN line ~ 'Backward' THEN ' back'
			WHEN line ~ 'Merge (Semi )?Join' THEN ' merge' WHEN line ~ 'Nested Loop' THEN ' loop'
			WHEN line ~ 'Sort$' THEN ' sort' WHEN line ~ 'Materialize' THEN ' material' ELSE '' END;
	END LOOP;
	plan := CASE WHEN plan ~ 'node' THEN ltrim(plan) ELSE 'core' END;
	EXECUTE 'SELECT array_agg(x::text) FROM (' || query || ') x' INTO a;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true),
		set_config('enable_indexonlyscan', 'off', true);
	EXECUTE 'SELECT array_agg(x::text) FROM (' || query || ') x' INTO b;
	PERFORM set_config('enable_bitmapscan', 'on', true), set_config('enable_indexscan', indexscan, true),
		set_config('enable_indexonlyscan', indexonlyscan, true);
	IF NOT ordered THEN
		SELECT array_agg(x ORDER BY x) FROM unnest(a) x INTO a;
		SELECT array_agg(x ORDER BY x) FROM unnest(b) x INTO b;
	END IF;
	n := cardinality(a);
	wrong := CASE WHEN a IS DISTINCT FROM b THEN left(a::text, 300) || ' for ' || left(b::text, 300) END;
END $$;

-- images of all forms, general keys, NULLs first and last, parts of a table
CREATE TABLE t AS
	SELECT i AS id, CASE WHEN i % 50 <> 0 THEN (i::int8 * 7919) % 3000 END AS k, (-i)::int4 AS four,
		(i % 300)::int2 AS two, (i % 7) - 3 AS a, i % 11 AS b, i % 3 AS c,
		('some text that is longer ' || i % 230) COLLATE "C" AS txt, ('name ' || i % 23)::name AS nam,
		md5((i % 310)::text)::uuid AS u, CASE WHEN i % 40 <> 0 THEN (i % 130) / 4.0 END AS n,
		(i % 77 - 30)::float8 / 4 AS f, i % 3 = 0 AS flag, i::oid AS o, 'a'::"char" AS ch,
		'2024-01-01'::timestamp + i * interval '1 h' AS ts, '2024-01-01'::date + i AS d
	FROM generate_series(1, 8000) i;
CREATE INDEX t_k ON t USING fptree (k);
CREATE INDEX t_four ON t USING fptree (four DESC);
CREATE INDEX t_two ON t USING fptree (two NULLS FIRST);
CREATE INDEX t_abc ON t USING fptree (a, b DESC NULLS LAST, c);
CREATE INDEX t_txt ON t USING fptree (txt);
CREATE INDEX t_nam ON t USING fptree (nam);
CREATE INDEX t_u ON t USING fptree (u DESC);
CREATE INDEX t_n ON t USING fptree (n NULLS FIRST);
CREATE INDEX t_f ON t USING fptree (f DESC NULLS FIRST);
CREATE INDEX t_flag ON t USING fptree (b) INCLUDE (c, txt) WHERE flag;
CREATE INDEX t_bool ON t USING fptree (flag);
CREATE INDEX t_o ON t USING fptree (o);
CREATE INDEX t_ch ON t USING fptree (ch);
CREATE INDEX t_ts ON t USING fptree (ts);
CREATE INDEX t_d ON t USING fptree (d DESC);
CREATE INDEX t_id ON t USING fptree (id);
CREATE INDEX t_expr ON t USING fptree ((id % 19), id);
VACUUM ANALYZE t;

-- the node's plan
EXPLAIN (COSTS OFF) SELECT k FROM t WHERE k BETWEEN 10 AND 90;
EXPLAIN (COSTS OFF) SELECT k FROM t WHERE k > 5 ORDER BY k DESC LIMIT 3;
EXPLAIN (COSTS OFF, VERBOSE) SELECT b || 'x', a FROM t x WHERE a > 2 ORDER BY a, b DESC NULLS LAST;
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		RETURN NEXT regexp_replace(line, 'rows=(\d+)(\.\d+)?', 'rows=\1');
	END LOOP;
END $$;
SELECT explained('SELECT k FROM t WHERE k BETWEEN 10 AND 19');

CREATE TABLE queries (n serial, query text);
INSERT INTO queries (query) SELECT unnest(ARRAY[
	'SELECT k FROM t',
	'SELECT k FROM t ORDER BY k',
	'SELECT k FROM t ORDER BY k DESC',
	'SELECT k + 1, k FROM t WHERE k >= 17 AND k < 510 ORDER BY k',
	'SELECT k FROM t WHERE k IS NULL',
	'SELECT k FROM t WHERE k IS NOT NULL ORDER BY k DESC',
	'SELECT k FROM t WHERE k = ANY (''{5, 17, 30, 30, 9999}'') ORDER BY k',
	'SELECT k FROM t WHERE k > 7 AND k < 5',
	'SELECT k FROM t WHERE k < 50::int4 ORDER BY k',
	'SELECT k FROM t WHERE k = (SELECT 17) ORDER BY k',
	'SELECT k FROM t ORDER BY k LIMIT 5',
	'SELECT k FROM t ORDER BY k DESC LIMIT 5 OFFSET 700',
	'SELECT FROM t WHERE k < 100',
	'SELECT count(*) FROM t WHERE k < 100',
	'SELECT sum(k), max(k) FROM (SELECT k FROM t WHERE k < 1000 OFFSET 0) x',
	'SELECT four FROM t ORDER BY four',
	'SELECT four FROM t ORDER BY four DESC',
	'SELECT four FROM t WHERE four > -10 OR false ORDER BY four',
	'SELECT two FROM t WHERE two < 7 ORDER BY two NULLS FIRST',
	'SELECT two FROM t ORDER BY two DESC NULLS LAST',
	'SELECT txt FROM t ORDER BY txt',
	'SELECT txt AS x FROM t WHERE txt > ''some text that is longer 2'' ORDER BY 1 DESC',
	'SELECT nam FROM t WHERE nam >= ''name 2'' ORDER BY nam',
	'SELECT u FROM t ORDER BY u',
	'SELECT u FROM t WHERE u < ''80000000-0000-0000-0000-000000000000'' ORDER BY u DESC',
	'SELECT n FROM t ORDER BY n NULLS FIRST',
	'SELECT n FROM t ORDER BY n DESC NULLS LAST',
	'SELECT f FROM t ORDER BY f',
	'SELECT f FROM t WHERE f < 3 ORDER BY f DESC',
	'SELECT flag FROM t WHERE flag',
	'SELECT flag FROM t WHERE NOT flag',
	'SELECT o FROM t WHERE o < 300 ORDER BY o',
	'SELECT ch FROM t WHERE ch = ''a''',
	'SELECT ts FROM t WHERE ts < ''2024-02-01'' ORDER BY ts',
	'SELECT d FROM t WHERE d < ''2024-02-01'' ORDER BY d',
	'SELECT a FROM t ORDER BY a',
	'SELECT a, b FROM t ORDER BY a DESC, b NULLS FIRST',
	'SELECT c, b, a FROM t WHERE a > 1 AND b < 5 ORDER BY a, b DESC NULLS LAST, c',
	'SELECT a, b FROM t WHERE b = 3 ORDER BY a',
	'SELECT b FROM t WHERE a = 1 ORDER BY b DESC NULLS LAST',
	'SELECT a, b FROM t WHERE (a, c) = (1, 2) ORDER BY b',
	'SELECT b, c, txt FROM t WHERE flag AND b = 4',
	'SELECT x.i, y.* FROM generate_series(1, 20) x (i), LATERAL (SELECT k FROM t WHERE k < x.i OFFSET 0) y ORDER BY 1, 2',
	'SELECT (SELECT sum(k) FROM (SELECT k FROM t WHERE k BETWEEN x.i AND x.i * 2 OFFSET 0) z) FROM generate_series(1, 20) x (i)',
	'SELECT i FROM generate_series(1, 120) i WHERE i IN (SELECT k FROM t) ORDER BY 1',
	'SELECT i FROM generate_series(1, 120) i WHERE NOT EXISTS (SELECT FROM t WHERE k = i) ORDER BY 1',
	'SELECT i, four FROM generate_series(-4, 4) i LEFT JOIN t ON four = i ORDER BY 1',
	'SELECT x.id, y.k FROM (SELECT id FROM t WHERE id < 30) x JOIN (SELECT k FROM t) y ON x.id = y.k ORDER BY 1',
	'SELECT k FROM t WHERE k < 5 UNION ALL SELECT four FROM t WHERE four > -3 ORDER BY 1']);
SELECT q.n, q.query, r.* FROM queries q, LATERAL rows(q.query, q.query ~ 'ORDER BY') r ORDER BY q.n;

-- merge joins of repeated keys go back to a mark, in the same leaf and over several
CREATE TABLE m AS SELECT i / 3 AS k, (i / 700)::int8 AS many, ('k ' || i / 900) COLLATE "C" AS txt
	FROM generate_series(1, 6000) i;
CREATE INDEX m_k ON m USING fptree (k);
CREATE INDEX m_many ON m USING fptree (many);
CREATE INDEX m_txt ON m USING fptree (txt);
VACUUM ANALYZE m;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
SET enable_sort = off;
CREATE TABLE merges (n serial, query text);
INSERT INTO merges (query) SELECT unnest(ARRAY[
	'SELECT count(*), sum(x.k), sum(y.k) FROM m x JOIN m y ON x.k = y.k',
	'SELECT count(*), sum(x.many), sum(y.many) FROM m x JOIN m y ON x.many = y.many',
	'SELECT x.txt, count(*) FROM m x JOIN m y ON x.txt = y.txt GROUP BY x.txt ORDER BY x.txt',
	'SELECT count(*), sum(x.k) FROM m x FULL JOIN (SELECT k FROM m WHERE k < 500) y ON x.k = y.k',
	'SELECT count(*), sum(x.k) FROM m x WHERE k IN (SELECT many FROM m)']);
SELECT q.query, r.* FROM merges q, LATERAL rows(q.query) r WHERE q.n <> 5 ORDER BY q.n;
SET enable_mergejoin = off;
RESET enable_nestloop;
RESET enable_material;
RESET enable_sort;
SELECT q.query, r.* FROM merges q, LATERAL rows(q.query) r WHERE q.n <> 4 ORDER BY q.n;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- cursors go to and fro, in a batch, from one to the next, and beyond both ends
CREATE FUNCTION walk(tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	way text;
	k text;
	met text[];
BEGIN
	OPEN c SCROLL FOR EXECUTE 'SELECT k FROM ' || tab || ' ORDER BY k';
	FOREACH way IN ARRAY '{1, 1, -1, 700, -1, -1, -1, 1, 1, -300, 1, 6000, -1, -5000, -1, 1, -4000, -1, 1, 1, 3000, -3000, 1}'::text[] LOOP
		EXECUTE format('MOVE RELATIVE %s FROM %I', way::int - sign(way::int), c);
		IF way::int > 0 THEN
			FETCH NEXT FROM c INTO k;
		ELSE
			FETCH PRIOR FROM c INTO k;
		END IF;
		met := met || coalesce(k, 'none');
	END LOOP;
	CLOSE c;
	RETURN met;
END $$;
BEGIN;
SET LOCAL enable_seqscan = off;
EXPLAIN (COSTS OFF) DECLARE c SCROLL CURSOR FOR SELECT k FROM m ORDER BY k;
SELECT walk('m') AS w \gset
COMMIT;
SET enable_indexonlyscan = off;
SELECT walk('m') = :'w' AS as_sorted, :'w' AS met;
RESET enable_indexonlyscan;

-- parameters of a plan for all values
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
PREPARE p AS SELECT k FROM t WHERE k BETWEEN $1 AND $2 ORDER BY k LIMIT $3;
EXPLAIN (COSTS OFF) EXECUTE p (1, 2, 3);
EXECUTE p (10, 20, 3);
EXECUTE p (2990, NULL, 3);
EXECUTE p (2995, 5000, 100);
RESET plan_cache_mode;

-- conditions of which the index decides only a part are asked again
SET timezone = 'America/New_York';
CREATE TABLE zoned AS SELECT '2024-03-10 00:30'::timestamp + i * interval '10 min' AS ts FROM generate_series(0, 30) i;
CREATE INDEX zoned_ts ON zoned USING fptree (ts);
VACUUM ANALYZE zoned;
SELECT plan, n, wrong FROM rows('SELECT ts FROM zoned WHERE ts > ''2024-03-10 03:05''::timestamptz ORDER BY ts', true);
SELECT plan, n, wrong FROM rows('SELECT ts FROM zoned WHERE ts <= ''2024-03-10 03:05''::timestamptz ORDER BY ts DESC', true);
RESET timezone;

-- parts of a table
CREATE TABLE whole (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF whole FOR VALUES FROM (0) TO (1000);
CREATE TABLE part2 PARTITION OF whole FOR VALUES FROM (1000) TO (2000);
INSERT INTO whole SELECT i, i FROM generate_series(0, 1999) i;
CREATE INDEX whole_k ON whole USING fptree (k);
VACUUM ANALYZE part1, part2;
ANALYZE whole;
SELECT plan, n, wrong FROM rows('SELECT k FROM whole WHERE k BETWEEN 990 AND 1010 ORDER BY k DESC', true);
SELECT plan, n, wrong FROM rows('SELECT i, k FROM generate_series(995, 1005) i JOIN whole ON k = i');
SET enable_partitionwise_join = on;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT plan ~ 'node' AS node, n, wrong FROM rows('SELECT x.k, y.k FROM whole x JOIN whole y ON x.k = y.k WHERE x.k BETWEEN 990 AND 1010');
RESET enable_partitionwise_join;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- columns that are expressions
CREATE TABLE expr AS SELECT i % 10 AS k, (chr((CASE WHEN i % 2 = 0 THEN 65 ELSE 97 END) + i % 26) || i)::varchar COLLATE "und-x-icu" AS v
	FROM generate_series(1, 2000) i;
CREATE INDEX expr_v ON expr USING fptree ((v::text) COLLATE "C", v);
CREATE INDEX expr_k ON expr USING fptree (k, (k < 5), (k + 1));
VACUUM ANALYZE expr;
SELECT q, r.* FROM unnest(ARRAY[
	'SELECT v FROM expr WHERE v::text COLLATE "C" < ''a'' ORDER BY v::text COLLATE "C"',
	'SELECT v::text COLLATE "C" > ''B'' FROM expr WHERE v::text COLLATE "C" > ''z''',
	'SELECT k FROM expr WHERE k < 5',
	'SELECT k + 1, k < 5 FROM expr WHERE k < 6']) q, LATERAL rows(q, q ~ 'ORDER BY') r;

-- queries that do not fit
CREATE TABLE others (n serial, query text);
INSERT INTO others (query) SELECT unnest(ARRAY[
	'SELECT k, id FROM t WHERE k = 3',
	'SELECT k FROM t WHERE k > 2990 AND id % 2 = 0',
	'SELECT k FROM t WHERE k >= 2987 AND k <> 2990',
	'SELECT txt FROM t WHERE txt LIKE ''some text that is longer 22%''',
	'SELECT ctid, k FROM t WHERE k = 5',
	'SELECT t FROM t WHERE k = 5',
	'SELECT k FROM t TABLESAMPLE SYSTEM (100) WHERE k > 2990',
	'SELECT k FROM t WHERE (k > 2990 OR k < 5)',
	'SELECT a, b, c FROM t WHERE (a, b) = (1, 2) AND b + c = 3']);
SELECT q.query, r.* FROM others q, LATERAL rows(q.query) r ORDER BY q.n;
EXPLAIN (COSTS OFF) SELECT k FROM t WHERE k = 5 FOR UPDATE;

-- settings
SET enable_indexonlyscan = off;
SELECT plan FROM rows('SELECT k FROM t');
RESET enable_indexonlyscan;
SET enable_indexscan = off;
SELECT plan FROM rows('SELECT k FROM t');
RESET enable_indexscan;
SET fptree.enable_indexonlyscan = off;
SELECT plan FROM rows('SELECT k FROM t');
SET fptree.enable_indexonlyscan = on;

-- rows that the visibility map does not vouch for
CREATE TABLE w (k int, v int) WITH (autovacuum_enabled = off, fillfactor = 80);
INSERT INTO w SELECT i, i FROM generate_series(1, 5000) i;
CREATE INDEX w_k ON w USING fptree (k);
VACUUM (FREEZE, ANALYZE) w;
UPDATE w SET v = -v WHERE k % 100 = 0;
UPDATE w SET k = -k WHERE k % 1000 = 1;
DELETE FROM w WHERE k BETWEEN 2000 AND 2100;
BEGIN;
INSERT INTO w SELECT i, 0 FROM generate_series(6000, 6100) i;
SELECT plan, n, wrong FROM rows('SELECT k FROM w ORDER BY k', true);
SELECT plan, n, wrong FROM rows('SELECT k FROM w ORDER BY k DESC', true);
ROLLBACK;
SELECT plan, n, wrong FROM rows('SELECT k FROM w ORDER BY k', true);
SELECT plan, n, wrong FROM rows('SELECT k FROM w WHERE k > 1990 ORDER BY k LIMIT 20', true);
SELECT plan, n, wrong FROM rows('SELECT k FROM w WHERE k < 2110 ORDER BY k DESC LIMIT 20', true);
SELECT explained('SELECT k FROM w WHERE k BETWEEN 98 AND 102');
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT plan, n, wrong FROM rows('SELECT count(*), sum(x.k) FROM w x JOIN (SELECT k FROM w) y ON x.k = y.k');
RESET enable_hashjoin;
RESET enable_nestloop;
-- entries of dead rows get hints
DELETE FROM w WHERE k > 4000;
SELECT sum(k) FROM (SELECT k FROM w WHERE k > 3990 OFFSET 0) x;
SELECT sum(k) FROM (SELECT k FROM w WHERE k > 3990 OFFSET 0) x;
SELECT explained('SELECT k FROM w WHERE k > 4100');

-- tables of their own kind
CREATE TEMP TABLE tmp AS SELECT i AS k FROM generate_series(1, 3000) i;
CREATE INDEX ON tmp USING fptree (k);
VACUUM ANALYZE tmp;
CREATE UNLOGGED TABLE unl AS SELECT i AS k FROM generate_series(1, 3000) i;
CREATE INDEX ON unl USING fptree (k);
VACUUM ANALYZE unl;
DELETE FROM unl WHERE k % 7 = 0;
DELETE FROM tmp WHERE k % 7 = 0;
SELECT plan, n, wrong FROM rows('SELECT k FROM tmp ORDER BY k', true);
SELECT plan, n, wrong FROM rows('SELECT k FROM unl ORDER BY k DESC', true);
SELECT sum(k) FROM (SELECT k FROM unl OFFSET 0) x;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- rows are counted as core's scan counts them
SET track_counts = on;
CREATE FUNCTION counted(query text, OUT tuples bigint, OUT fetched bigint) LANGUAGE plpgsql AS $$
DECLARE
	x record;
BEGIN
	SELECT pg_stat_get_xact_tuples_returned('w_k'::regclass), pg_stat_get_xact_tuples_fetched('w_k'::regclass) INTO x;
	EXECUTE query;
	tuples := pg_stat_get_xact_tuples_returned('w_k'::regclass) - x.pg_stat_get_xact_tuples_returned;
	fetched := pg_stat_get_xact_tuples_fetched('w_k'::regclass) - x.pg_stat_get_xact_tuples_fetched;
END $$;
SELECT * FROM counted('SELECT k FROM w WHERE k BETWEEN 1050 AND 1150 ORDER BY k LIMIT 60');
SET fptree.enable_indexonlyscan = off;
SELECT * FROM counted('SELECT k FROM w WHERE k BETWEEN 1050 AND 1150 ORDER BY k LIMIT 60');
SET fptree.enable_indexonlyscan = on;

SET track_counts = off;
-- who sees which rows is not for the index to say, and columns' rights are asked
CREATE ROLE fpt_onlyscan_role;
GRANT USAGE ON SCHEMA fpt_onlyscan TO fpt_onlyscan_role;
GRANT SELECT (four) ON t TO fpt_onlyscan_role;
SET ROLE fpt_onlyscan_role;
SELECT count(*) FROM (SELECT four FROM t WHERE four > -100 OFFSET 0) x;
SELECT k FROM t WHERE k < 3;
RESET ROLE;
GRANT SELECT ON t TO fpt_onlyscan_role;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON t USING (k < 50);
SET ROLE fpt_onlyscan_role;
EXPLAIN (COSTS OFF) SELECT k FROM t WHERE k > 40 ORDER BY k LIMIT 3;
RESET ROLE;
DROP POLICY p ON t;
ALTER TABLE t DISABLE ROW LEVEL SECURITY;
-- EXPLAIN shows subqueries in values of conditions, and asks for their functions
CREATE FUNCTION shown(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		RETURN QUERY SELECT m[1] FROM regexp_matches(line, '(Fptree Index Only Scan|Aggregate)') m;
	END LOOP;
END $$;
CREATE FUNCTION mine(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
REVOKE EXECUTE ON FUNCTION mine FROM PUBLIC;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET ROLE fpt_onlyscan_role;
SELECT shown('SELECT four FROM (VALUES (1), (2)) v (x) JOIN t ON four = (SELECT max(i) - 5 FROM generate_series(1, 4) i WHERE i > x)');
EXPLAIN (COSTS OFF) SELECT four FROM (VALUES (1), (2)) v (x) JOIN t ON four = mine(x);
RESET ROLE;
SELECT shown('SELECT four FROM (VALUES (1), (2)) v (x) JOIN t ON four = mine(x)');
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET enable_hashjoin;
RESET enable_mergejoin;
REVOKE ALL ON t FROM fpt_onlyscan_role;
REVOKE ALL ON SCHEMA fpt_onlyscan FROM fpt_onlyscan_role;
DROP ROLE fpt_onlyscan_role;
SELECT fpt_check_all();

-- the row that a cursor is at, forward and backward, by images and general keys, of rows
-- that are visible to all and others, and of a scan that returns no columns
CREATE TABLE cur AS SELECT i AS k, ('text ' || i) COLLATE "C" AS txt, 0 AS hit FROM generate_series(1, 2000) i;
CREATE INDEX cur_k ON cur USING fptree (k);
CREATE INDEX cur_txt ON cur USING fptree (txt);
VACUUM (ANALYZE) cur;
UPDATE cur SET hit = 0 WHERE k = 31;
CREATE FUNCTION at(query text, steps text) RETURNS TABLE (plan text, k int) LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
BEGIN
	plan := (rows(query)).plan;
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	OPEN c SCROLL FOR EXECUTE query;
	EXECUTE 'MOVE ' || steps || ' IN ' || quote_ident(c::text);
	UPDATE cur SET hit = 1 WHERE CURRENT OF c RETURNING cur.k INTO k;
	CLOSE c;
	RETURN NEXT;
END $$;
SELECT * FROM at('SELECT k FROM cur WHERE k > 20', '7');
SELECT * FROM at('SELECT k FROM cur WHERE k > 20', '11');
SELECT * FROM at('SELECT k FROM cur WHERE k > 20', 'LAST');
SELECT * FROM at('SELECT k FROM cur WHERE k < 1000 ORDER BY k DESC', '300');
SELECT * FROM at('SELECT 1 FROM cur WHERE k > 40', '25');
SELECT * FROM at('SELECT txt FROM cur WHERE txt > ''text 3'' ORDER BY txt', '5');
SELECT k FROM cur WHERE hit = 1 ORDER BY k;
-- also where the entry leads to the row by way of versions that were pruned
CREATE TABLE hot (k int, hit int) WITH (fillfactor = 50, autovacuum_enabled = off);
INSERT INTO hot SELECT i, 0 FROM generate_series(1, 20) i;
CREATE INDEX hot_k ON hot USING fptree (k);
ANALYZE hot;
UPDATE hot SET hit = 1;
UPDATE hot SET hit = 2;
VACUUM hot;
UPDATE hot SET hit = 3 WHERE k = 20;
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
EXPLAIN (COSTS OFF) DECLARE c CURSOR FOR SELECT k FROM hot WHERE k > 10;
DECLARE c CURSOR FOR SELECT k FROM hot WHERE k > 10;
FETCH 2 c;
UPDATE hot SET hit = 4 WHERE CURRENT OF c RETURNING *;
ROLLBACK;
DROP TABLE hot;
DROP FUNCTION at(text, text);
DROP TABLE cur;

-- other extensions' hints are obeyed, whether their hook is called before ours or
-- after it
CREATE FUNCTION hinted(OUT hint text, OUT plan text) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	FOREACH hint IN ARRAY '{none, seq, tid, index, index t_k, index t_id, bitmap, bitmap t_k, no_index, no_bitmap, none}'::text[] LOOP
		PERFORM set_config('fptree_hints.scan', split_part(hint, ' ', 1), false),
			set_config('fptree_hints.index', split_part(hint, ' ', 2), false);
		plan := (rows('SELECT k FROM t WHERE k < 50')).plan;
		RETURN NEXT;
	END LOOP;
END $$;
\getenv builddir PG_ABS_BUILDDIR
\set hints :builddir '/test/module/fptree_hints'
\c -
LOAD :'hints';
LOAD 'fptree';
SET search_path = fpt_onlyscan, public;
SET fptree.enable_indexonlyscan = on;
SELECT * FROM hinted();
\c -
LOAD 'fptree';
LOAD :'hints';
SET search_path = fpt_onlyscan, public;
SET fptree.enable_indexonlyscan = on;
SELECT * FROM hinted();

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
		'SELECT ts, count(*) FROM ts WHERE ts < ''2015-03-30 01:30+00''::timestamptz GROUP BY ts',
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
SELECT pg_stat_reset_single_table_counters('wide_bk'::regclass);
SET enable_seqscan = off;
SELECT DISTINCT b FROM wide ORDER BY b;
SELECT pg_stat_force_next_flush();
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

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
SELECT q.query, r.* FROM merges q, LATERAL rows(q.query) r ORDER BY q.n;
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

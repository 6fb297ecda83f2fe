--
-- Parallel scans: the plans are btree's, the answers those of a sequential scan.
--
CREATE SCHEMA fpt_parallel_f;
CREATE SCHEMA fpt_parallel_b;

CREATE TABLE fpt_parallel_f.t (id int, a int8, b int, c text, d numeric, e uuid);
INSERT INTO fpt_parallel_f.t
	SELECT i, i * 3, (i * 7919) % 10007, 'key ' || i % 500, i % 7,
		   md5(i::text)::uuid
	FROM generate_series(1, 20000) i;
INSERT INTO fpt_parallel_f.t
	SELECT i, NULL, i, NULL, NULL, NULL FROM generate_series(20001, 22000) i;
CREATE TABLE fpt_parallel_b.t AS TABLE fpt_parallel_f.t;

CREATE INDEX t_a ON fpt_parallel_f.t USING fptree (a);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_b ON fpt_parallel_f.t USING fptree (b DESC)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
CREATE INDEX t_d ON fpt_parallel_f.t USING fptree (d DESC NULLS LAST, id);
CREATE INDEX t_cb ON fpt_parallel_f.t USING fptree (c, b DESC) INCLUDE (id);
CREATE INDEX t_e ON fpt_parallel_f.t USING fptree (e NULLS FIRST);
CREATE INDEX t_a ON fpt_parallel_b.t USING btree (a);
CREATE INDEX t_b ON fpt_parallel_b.t USING btree (b DESC);
CREATE INDEX t_d ON fpt_parallel_b.t USING btree (d DESC NULLS LAST, id);
CREATE INDEX t_cb ON fpt_parallel_b.t USING btree (c, b DESC) INCLUDE (id);
CREATE INDEX t_e ON fpt_parallel_b.t USING btree (e NULLS FIRST);
VACUUM ANALYZE fpt_parallel_f.t, fpt_parallel_b.t;
SET search_path = fpt_parallel_f, public;

-- Plans, with the settings that make them worth while and without

SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT fpt_plan('SELECT count(*) FROM t WHERE a > 0', 'fpt_parallel');
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = '150kB';
SELECT fpt_plan('SELECT count(*) FROM t WHERE a > 0', 'fpt_parallel');
SET min_parallel_index_scan_size = 0;
SELECT fpt_plan('SELECT count(*) FROM t WHERE a > 0', 'fpt_parallel');
SELECT fpt_plan('SELECT sum(id) FROM t WHERE b < 9000', 'fpt_parallel');
SELECT fpt_plan('SELECT sum(b) FROM t WHERE c > ''key 2''', 'fpt_parallel');
SET enable_sort = off;
SELECT fpt_plan('SELECT id, d FROM t ORDER BY d DESC NULLS LAST, id', 'fpt_parallel');
SELECT fpt_plan('SELECT b FROM t ORDER BY b', 'fpt_parallel');
RESET enable_sort;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT fpt_plan('SELECT sum(id) FROM t WHERE a > 0', 'fpt_parallel');
CALL fpt_use('any');

-- A query's digest by each kind of parallel scan, in turn with and without the
-- leader, beside that of a sequential scan by one process.

CREATE FUNCTION public.fpt_parallel(queries text[],
									kinds text[] DEFAULT '{index,only,bitmap}',
									OUT compared int, OUT problems text)
LANGUAGE plpgsql AS $$
DECLARE
	query text;
	kind text;
	leader text;
	line text;
	plan text;
	wrapped text;
	want text;
	got text;
	node text;
BEGIN
	compared := 0;
	problems := '';
	FOREACH query IN ARRAY queries LOOP
		wrapped := 'SELECT count(*) || '' '' || sum(hashtext(q::text)::int8) FROM ('
			|| query || ') q';
		IF query ~ 'ORDER BY' THEN
			wrapped := 'SELECT count(*) || '' '' || md5(string_agg(q::text, '',''))'
				|| ' FROM (' || query || ') q';
		END IF;
		CALL fpt_use('seq');
		PERFORM set_config('max_parallel_workers_per_gather', '0', false);
		EXECUTE wrapped INTO want;
		PERFORM set_config('max_parallel_workers_per_gather', '2', false);
		FOREACH kind IN ARRAY kinds LOOP
			CONTINUE WHEN kind = 'bitmap' AND query ~ 'ORDER BY';
			CALL fpt_use(kind);
			node := CASE kind
					WHEN 'index' THEN 'Parallel Index Scan( Backward)? using'
					WHEN 'only' THEN 'Parallel Index Only Scan( Backward)? using'
					ELSE 'Parallel Bitmap Heap Scan' END;
			plan := '';
			FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || wrapped LOOP
				plan := plan || line || E'\n';
			END LOOP;
			IF plan !~ node OR (kind <> 'bitmap' AND plan ~ 'Sort Key') THEN
				problems := problems || format(E'\nnot planned as %s: %s', kind, plan);
				CONTINUE;
			END IF;
			leader := (ARRAY['on', 'off'])[compared % 2 + 1];
			PERFORM set_config('parallel_leader_participation', leader, false);
			EXECUTE wrapped INTO got;
			compared := compared + 1;
			IF got IS DISTINCT FROM want THEN
				problems := problems || format(E'\n%s, leader %s: %s: %s, not %s',
											   kind, leader, query, got, want);
			END IF;
			PERFORM set_config('parallel_leader_participation', 'on', false);
		END LOOP;
	END LOOP;
	CALL fpt_use('any');
END $$;

-- An expensive filter makes any scan worth workers.
CREATE FUNCTION public.fpt_ok(x anyelement) RETURNS bool
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS 'BEGIN RETURN true; END';

-- Image keys
SELECT * FROM fpt_parallel(ARRAY[
	'SELECT a FROM t WHERE a > 300',
	'SELECT a FROM t WHERE a BETWEEN 10000 AND 40000',
	'SELECT a FROM t WHERE a IS NULL',
	'SELECT a FROM t WHERE a IS NOT NULL',
	'SELECT a FROM t WHERE a = ANY ((SELECT array_agg(i * 3) FROM generate_series(1, 30000, 97) i)::int8[]) AND fpt_ok(a)',
	'SELECT a FROM t WHERE a = ANY ((SELECT array_agg(i) FROM generate_series(50000, 50500) i)::int8[]) AND fpt_ok(a)',
	'SELECT a FROM t WHERE a > (SELECT 1000000)',
	'SELECT a FROM t WHERE a < (SELECT -1)',
	'SELECT a FROM t WHERE a > (SELECT 500) AND a < (SELECT 400) AND fpt_ok(a)',
	'SELECT a FROM t WHERE a > (SELECT NULL::int8)',
	'SELECT a FROM t WHERE a >= (SELECT 59990)',
	'SELECT b FROM t WHERE b < 9000',
	'SELECT b FROM t WHERE b > (SELECT 5000::int2)',
	'SELECT e FROM t WHERE e > ''80000000-0000-0000-0000-000000000000''',
	'SELECT e FROM t WHERE e IS NULL']);
SELECT * FROM fpt_parallel(ARRAY[
	'SELECT a FROM t WHERE fpt_ok(a) ORDER BY a',
	'SELECT a FROM t WHERE fpt_ok(a) ORDER BY a DESC',
	'SELECT a FROM t WHERE a > 30000 AND fpt_ok(a) ORDER BY a DESC',
	'SELECT a FROM t WHERE a BETWEEN 3000 AND 42000 AND fpt_ok(a) ORDER BY a',
	'SELECT a FROM t WHERE a = ANY ((SELECT array_agg(i * 3) FROM generate_series(1, 30000, 97) i)::int8[]) AND fpt_ok(a) ORDER BY a DESC',
	'SELECT a FROM t WHERE a < (SELECT -1) AND fpt_ok(a) ORDER BY a DESC',
	'SELECT b FROM t WHERE fpt_ok(b) ORDER BY b',
	'SELECT b FROM t WHERE b > 100 AND fpt_ok(b) ORDER BY b DESC',
	'SELECT e FROM t WHERE fpt_ok(e) ORDER BY e NULLS FIRST',
	'SELECT e FROM t WHERE fpt_ok(e) ORDER BY e DESC NULLS LAST']);

-- General keys: several columns, types without image, skipping, filters
SELECT * FROM fpt_parallel(ARRAY[
	'SELECT c, b FROM t WHERE c > ''key 2''',
	'SELECT c, b FROM t WHERE c BETWEEN ''key 1'' AND ''key 3'' AND b > 5000',
	'SELECT c, b, id FROM t WHERE c IS NULL',
	'SELECT c, b FROM t WHERE c IS NOT NULL AND b < 3000',
	'SELECT d, id FROM t WHERE d > 1 AND id = ANY ((SELECT array_agg(i) FROM generate_series(1, 20000, 53) i)::int[]) AND fpt_ok(d)',
	'SELECT c, b FROM t WHERE c = ANY ((SELECT array_agg(''key '' || i) FROM generate_series(1, 500, 7) i)::text[]) AND b > (SELECT 2000) AND fpt_ok(c)',
	'SELECT c, b FROM t WHERE c > (SELECT ''z''::text)',
	'SELECT c, b FROM t WHERE c < (SELECT ''key 3''::text) AND c > (SELECT ''key 4''::text) AND fpt_ok(c)',
	'SELECT c, b FROM t WHERE c < (SELECT NULL::text)',
	'SELECT d, id FROM t WHERE d >= 2 AND d < 5',
	'SELECT d, id FROM t WHERE d IN (2, 4)',
	'SELECT d, id FROM t WHERE d IS NULL',
	'SELECT d, id FROM t WHERE d IS NOT NULL AND id % 3 = 1'],
	'{index,only}');
SELECT * FROM fpt_parallel(ARRAY[
	'SELECT d, id FROM t WHERE fpt_ok(d) ORDER BY d DESC NULLS LAST, id',
	'SELECT d, id FROM t WHERE fpt_ok(d) ORDER BY d NULLS FIRST, id DESC',
	'SELECT d, id FROM t WHERE d > 1 AND id < 19000 AND fpt_ok(d) ORDER BY d DESC NULLS LAST, id',
	'SELECT c, b FROM t WHERE fpt_ok(c) ORDER BY c, b DESC',
	'SELECT c, b FROM t WHERE fpt_ok(c) ORDER BY c DESC, b',
	'SELECT c, b FROM t WHERE c >= ''key 17'' AND b > 100 AND fpt_ok(c) ORDER BY c DESC, b'],
	'{index,only}');
SELECT * FROM fpt_parallel(ARRAY[
	'SELECT c, b FROM t WHERE c > ''key 2''',
	'SELECT id FROM t WHERE c BETWEEN ''key 1'' AND ''key 3'' AND b > 5000',
	'SELECT id FROM t WHERE a < 20000 OR b < 2000'], '{bitmap}');

-- With read-ahead at all distances, and without
SET fptree.prefetch_distance = 50;
SET effective_io_concurrency = 64;
SELECT * FROM fpt_parallel(ARRAY[
	'SELECT a FROM t WHERE a > 300', 'SELECT b FROM t WHERE fpt_ok(b) ORDER BY b',
	'SELECT a FROM t WHERE a = ANY ((SELECT array_agg(i) FROM generate_series(1, 70000, 171) i)::int8[]) AND fpt_ok(a)',
	'SELECT c, b FROM t WHERE fpt_ok(c) ORDER BY c DESC, b',
	'SELECT d, id FROM t WHERE d >= 2 AND d < 5'], '{index,only}');
SET fptree.prefetch_distance = 0;
SET fptree.leaf_prefetch = off;
SET fptree.heap_prefetch = off;
SELECT * FROM fpt_parallel(ARRAY[
	'SELECT a FROM t WHERE a > 300', 'SELECT b FROM t WHERE fpt_ok(b) ORDER BY b',
	'SELECT c, b FROM t WHERE fpt_ok(c) ORDER BY c DESC, b'], '{index,only}');
RESET fptree.leaf_prefetch;
RESET fptree.heap_prefetch;
RESET fptree.prefetch_distance;
RESET effective_io_concurrency;

-- LIMIT ends a scan early
CALL fpt_use('only');
SELECT count(*), sum(a) FROM (SELECT a FROM t ORDER BY a LIMIT 5000) s;
SELECT count(*), sum(a) FROM (SELECT a FROM t WHERE a < 40000 ORDER BY a DESC LIMIT 5000) s;
SELECT count(*) FROM (SELECT c FROM t ORDER BY c LIMIT 10) s;

-- Rescans: the inner side of a join, a Gather that is run again and again
SET enable_material = off;
EXPLAIN (COSTS OFF)
SELECT * FROM (SELECT count(*), sum(a) FROM t WHERE a > 3000) s
	RIGHT JOIN (VALUES (1), (2), (3)) v (x) ON true;
SELECT * FROM (SELECT count(*), sum(a) FROM t WHERE a > 3000) s
	RIGHT JOIN (VALUES (1), (2), (3)) v (x) ON true;
SELECT * FROM (SELECT count(*), sum(b) FROM t WHERE c > 'key 3') s
	RIGHT JOIN (VALUES (1), (2), (3)) v (x) ON true;
SELECT x, n, a FROM (VALUES (1), (2), (3)) v (x) LEFT JOIN
	(SELECT count(*) AS n, max(a) AS a FROM (SELECT a FROM t ORDER BY a LIMIT 2000) s) s ON true;
RESET enable_material;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
-- (nobody needs its order)
SELECT replace(fpt_explain, ' Backward', '') AS plan
FROM fpt_explain('SELECT count(*), sum(u.id) FROM t JOIN t u ON u.a = t.b WHERE t.b > 2000');
SELECT count(*), sum(u.id) FROM t JOIN t u ON u.a = t.b WHERE t.b > 2000;
SET enable_hashjoin = on;
SET max_parallel_workers_per_gather = 0;
CALL fpt_use('seq');
SELECT count(*), sum(u.id) FROM t JOIN t u ON u.a = t.b WHERE t.b > 2000;
RESET enable_mergejoin;
RESET enable_memoize;
SET max_parallel_workers_per_gather = 2;

-- Several processes read the same scan.
CREATE FUNCTION public.fpt_pid(a int8) RETURNS int
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
	IF a % 300 = 0 THEN
		PERFORM fpt_meet();
	END IF;
	RETURN pg_backend_pid();
END $$;
SELECT set_config('fpt.leader', pg_backend_pid()::text, false) IS NOT NULL AS set;
CALL fpt_use('only');
SELECT count(DISTINCT p) > 1 AS shared, sum(n)
FROM (SELECT fpt_pid(a) AS p, count(*) AS n FROM t WHERE a > 600 GROUP BY 1) s;
SELECT count(DISTINCT p) > 1 AS shared, sum(n)
FROM (SELECT fpt_pid(id * 3) AS p, count(*) AS n FROM t WHERE d > 0 GROUP BY 1) s;
CALL fpt_use('index');
SELECT count(DISTINCT p) > 1 AS shared, sum(n)
FROM (SELECT fpt_pid(a) AS p, count(d) AS n FROM t WHERE a > 600 GROUP BY 1) s;

-- Dead entries, seen by several
CREATE TABLE k (a int, b text) WITH (autovacuum_enabled = off);
CREATE INDEX k_a ON k USING fptree (a);
CREATE INDEX k_b ON k USING fptree (b, a);
INSERT INTO k SELECT i, 'v' || i % 10 FROM generate_series(1, 13000) i;
DELETE FROM k WHERE a % 5 = 1;
ANALYZE k;
SELECT * FROM fpt_parallel(ARRAY['SELECT a FROM k WHERE a > 0',
	'SELECT b, a FROM k WHERE b > ''v2'''], '{index,only}');
INSERT INTO k SELECT i, 'v' || i % 10 FROM generate_series(1, 13000) i WHERE i % 5 = 1;
SELECT * FROM fpt_parallel(ARRAY['SELECT a FROM k WHERE a > 0',
	'SELECT b, a FROM k WHERE b > ''v2'''], '{index,only}');

-- Serializable
BEGIN ISOLATION LEVEL SERIALIZABLE;
CALL fpt_use('only');
SELECT count(*), sum(a) FROM k WHERE a > 500;
SELECT count(*) > 3 AS pages_locked FROM pg_locks
WHERE relation = 'k_a'::regclass AND mode = 'SIReadLock' AND locktype = 'page';
COMMIT;

-- Tuples of general keys as wide as they may be
CREATE TABLE w (a text COLLATE "C");
INSERT INTO w SELECT repeat(chr(97 + i % 26), 8) || i || (SELECT
	string_agg(md5((i * 100 + j)::text), '') FROM generate_series(1, least(fpt_scale(75), 240)) j)
FROM generate_series(1, 300) i;
CREATE INDEX w_a ON w USING fptree (a);
ANALYZE w;
SELECT * FROM fpt_parallel(ARRAY['SELECT a FROM w WHERE a > ''a'' AND fpt_ok(a)',
	'SELECT a FROM w WHERE fpt_ok(a) ORDER BY a DESC'], '{index,only}');

RESET search_path;
SELECT fpt_check_all();

--
-- What a backend knows of an index may be thrown away wherever catalogues are read.
-- Here it is, each time, on servers with assertions, which overwrite the memory;
-- others run the same without.
--
CREATE SCHEMA fpt_discard;
SET search_path = fpt_discard, public;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET allow_in_place_tablespaces = on;
SELECT format('CREATE TABLESPACE regress_fpt_d%s LOCATION %L', i, '')
FROM generate_series(1, 4) i \gexec

-- Few rows make trees of several levels.  Images, general keys of one and of more
-- columns, included columns; unique ones of both kinds; the same in stripes.
SET fptree.debug_node_lines = '1,1';
CREATE TABLE t (k int, v text, n numeric, a int[], d date DEFAULT '2000-01-01');
CREATE UNIQUE INDEX t_k ON t USING fptree (k);
CREATE INDEX t_vk ON t USING fptree (v, k);
CREATE UNIQUE INDEX t_n ON t USING fptree (n) INCLUDE (v);
CREATE INDEX t_a ON t USING fptree (a);
CREATE INDEX t_x ON t USING fptree ((k % 5) DESC, v) WHERE k > 100;
CREATE TABLE s (k int, v text, d date DEFAULT '2000-01-01');
CREATE UNIQUE INDEX s_k ON s USING fptree (k) WITH (tablespaces = 'regress_fpt_d1, regress_fpt_d2');
CREATE INDEX s_kv ON s USING fptree (k, v)
	WITH (tablespaces = 'regress_fpt_d1, regress_fpt_d2, regress_fpt_d3, regress_fpt_d4');
CREATE UNIQUE INDEX s_v ON s USING fptree (v) INCLUDE (k) WITH (tablespaces = 'regress_fpt_d3, regress_fpt_d4');
INSERT INTO t SELECT i, 't' || i % 50, i * 1.5, ARRAY[i, i % 7] FROM generate_series(1, 1500) i;
INSERT INTO s SELECT i, 's' || i FROM generate_series(1, 1500) i;
ANALYZE t, s;

SELECT set_config('debug_discard_caches', least(max_val::int, 1)::text, false) IS NOT NULL AS on
FROM pg_settings WHERE name = 'debug_discard_caches';

-- insertions, with splits; unique checks, those of speculative insertions, and
-- those of duplicates
INSERT INTO t SELECT i, 't' || i % 50, i * 1.5, ARRAY[i, i % 7] FROM generate_series(1501, 1540) i;
INSERT INTO s SELECT i, 's' || i FROM generate_series(1501, 1580) i;
INSERT INTO t SELECT i, 't', i * 1.5, ARRAY[i] FROM generate_series(1531, 1550) i ON CONFLICT DO NOTHING;
INSERT INTO t SELECT i, 't', i * 1.5, ARRAY[i] FROM generate_series(1541, 1555) i
	ON CONFLICT (k) DO UPDATE SET v = excluded.v || 'x', n = excluded.n + 0.25;
INSERT INTO s SELECT i, 's' || i FROM generate_series(1571, 1590) i ON CONFLICT (v) DO UPDATE SET v = excluded.v || 'x';
INSERT INTO s SELECT i, 's' || i FROM generate_series(1585, 1600) i ON CONFLICT DO NOTHING;
INSERT INTO t (k) VALUES (7);
INSERT INTO s (k, v) VALUES (0, 's7');
-- old versions are removed before pages are split
UPDATE t SET d = d + 1, v = v || 'q' WHERE k BETWEEN 100 AND 130;
UPDATE t SET n = n + 0.125 WHERE k BETWEEN 100 AND 130;
UPDATE s SET k = -k WHERE k BETWEEN 100 AND 140;

-- plans and scans, of all kinds
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT k, v FROM s WHERE k > 0 ORDER BY k, v;
EXPLAIN (COSTS OFF) SELECT * FROM s JOIN t USING (k) WHERE s.v = 's9';
SELECT count(*), sum(k) FROM s WHERE k BETWEEN -120 AND 700;
SELECT count(*), max(v) FROM s WHERE (k, v) > (1000, 's');
SELECT count(*) FROM s WHERE v = ANY ('{s1,s2,s3,s500,s1500}');
SELECT count(*) FROM t WHERE k BETWEEN 10 AND 700;
SELECT count(*) FROM t WHERE v >= 't1' AND k = ANY ('{1,2,3,500}');
SELECT count(*) FROM t WHERE k = 77 AND v LIKE 't%';
SELECT count(*) FROM t WHERE a >= '{3,3}' AND a < '{500}';
SELECT count(*) FROM t WHERE n = ANY ('{1.5,3,4}');
SELECT min(k), max(n), min(v) FROM t;
SELECT count(*) FROM t WHERE k % 5 = 3 AND k > 100;
SELECT count(*) FROM s JOIN t ON t.k = s.k AND t.v = 't7' WHERE s.k < 400;
SET fptree.enable_distinct = on;
SELECT count(*) FROM (SELECT DISTINCT v FROM t) x;
SELECT count(*), sum(n) FROM (SELECT v, count(*) AS n FROM t WHERE v > 't1' GROUP BY v) x;
SELECT count(*) FROM (SELECT DISTINCT k FROM s WHERE k BETWEEN -120 AND 700) x;
RESET fptree.enable_distinct;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT count(*) FROM s WHERE k BETWEEN 100 AND 900;
SELECT count(*) FROM t WHERE v = 't7' OR k < 30;
RESET enable_indexscan;
RESET enable_indexonlyscan;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_sort = off;
SELECT count(*) FROM t x JOIN t y ON x.v = y.v WHERE x.v > 't1' AND y.v > 't1' AND x.k < 100 AND y.k < 100;
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_sort;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT v, k FROM t WHERE v > '' ORDER BY v, k;
MOVE 700 IN c;
MOVE BACKWARD 650 IN c;
FETCH 2 FROM c;
DECLARE d SCROLL CURSOR FOR SELECT k, v FROM s WHERE k >= 0 ORDER BY k, v;
MOVE 600 IN d;
FETCH BACKWARD 2 FROM d;
INSERT INTO s SELECT i, 's' || i FROM generate_series(3001, 3020) i;
DELETE FROM s WHERE k BETWEEN 1 AND 60;
FETCH 2 FROM d;
MOVE 2000 IN d;
FETCH BACKWARD 1 FROM d;
COMMIT;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 1;
SELECT count(*), sum(k) FROM s WHERE k > 200;
SET max_parallel_workers_per_gather = 0;

-- VACUUM, which unlinks pages; the functions
DELETE FROM t WHERE k BETWEEN 200 AND 900;
DELETE FROM s WHERE k BETWEEN 200 AND 900;
VACUUM (INDEX_CLEANUP on) t;
VACUUM (INDEX_CLEANUP on) s;
ANALYZE s;
SELECT fptree_index_check(i, true, i::text !~ '_(vk|a|x|kv)') FROM unnest('{t_k,t_vk,t_n,t_a,t_x,s_k,s_kv,s_v}'::regclass[]) i;
SELECT fptree_index_parent_check(i, true, true) FROM unnest('{t_vk,t_n,s_k,s_v}'::regclass[]) i;
SELECT count(*) FROM fptree_stripes('s_kv');
SELECT entries FROM fptree_stat('s_v');
SELECT fptree_drop_orphans() >= 0 AS done;

-- DDL
CREATE INDEX s_d ON s USING fptree (d, v) WITH (tablespaces = 'regress_fpt_d2, regress_fpt_d3');
CREATE INDEX CONCURRENTLY t_d ON t USING fptree (d);
REINDEX INDEX t_vk;
REINDEX INDEX CONCURRENTLY s_v;
ALTER TABLE s ALTER v TYPE varchar;
ALTER TABLE t ALTER k TYPE int8;
ALTER INDEX s_k SET TABLESPACE regress_fpt_d1;
INSERT INTO s SELECT i, 's' || i FROM generate_series(4001, 4020) i;
BEGIN;
TRUNCATE s;
INSERT INTO s SELECT i, 's' || i FROM generate_series(1, 20) i;
SELECT count(*) FROM s WHERE k > 5;
ROLLBACK;
SELECT count(*), sum(k) FROM s WHERE k > 5;
ALTER TABLE s ADD EXCLUDE USING fptree (d WITH =) WHERE (k > 4019);
INSERT INTO s SELECT i, 's' || i FROM generate_series(4021, 4022) i;
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200);
CREATE INDEX p_kv ON p USING fptree (k, v) WITH (tablespaces = 'regress_fpt_d1, regress_fpt_d2');
INSERT INTO p SELECT i, 'p' || i FROM generate_series(0, 199) i;
SELECT sum(k) FROM (SELECT k FROM p ORDER BY k LIMIT 120) x;
DROP TABLE p;

RESET debug_discard_caches;
SELECT fpt_check_all();
DROP TABLE s;
SELECT format('DROP TABLESPACE regress_fpt_d%s', i) FROM generate_series(1, 4) i \gexec

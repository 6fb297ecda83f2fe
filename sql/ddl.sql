--
-- Everything that builds, rewrites, moves or reuses an index.
--
CREATE SCHEMA fpt_ddl;
SET search_path = fpt_ddl, public;
SET client_min_messages = warning;

-- Does the index of column a find exactly what the table holds?
CREATE FUNCTION agrees(tab regclass) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	r := fpt_compare(ARRAY[
		format('SELECT a FROM %s WHERE a > 500', tab),
		format('SELECT a FROM %s WHERE a = 77', tab),
		format('SELECT a FROM %s WHERE a IS NULL', tab),
		format('SELECT a FROM %s ORDER BY a', tab)]);
	RETURN CASE WHEN r.problems = '' THEN 'agrees' ELSE r.problems END;
END $$;

CREATE TABLE t (a int, b int);
INSERT INTO t SELECT CASE WHEN i % 97 <> 0 THEN i * 7 % 1000 END, i
	FROM generate_series(1, 3000) i;

-- CREATE INDEX, also CONCURRENTLY, and its properties
CREATE INDEX t_a ON t USING fptree (a);
SELECT agrees('t');
CREATE INDEX CONCURRENTLY t_a2 ON t USING fptree (a DESC) WITH (fillfactor = 50);
DROP INDEX t_a;
SELECT agrees('t');
SELECT indisvalid, indisready FROM pg_index WHERE indexrelid = 't_a2'::regclass;
\d t_a2
SELECT pg_get_indexdef('t_a2'::regclass);
SELECT p, pg_index_column_has_property('t_a2', 1, p)
	FROM unnest('{asc,desc,nulls_first,nulls_last,orderable,distance_orderable,
				  returnable,search_array,search_nulls}'::text[]) p;
SELECT p, pg_index_has_property('t_a2', p)
	FROM unnest('{clusterable,index_scan,bitmap_scan,backward_scan}'::text[]) p;
SELECT p, pg_indexam_has_property(oid, p)
	FROM pg_am, unnest('{can_order,can_unique,can_multi_col,can_exclude,can_include}'::text[]) p
	WHERE amname = 'fptree';

-- REINDEX, also CONCURRENTLY
REINDEX INDEX t_a2;
SELECT agrees('t');
REINDEX INDEX CONCURRENTLY t_a2;
SELECT agrees('t');
REINDEX TABLE CONCURRENTLY t;
SELECT agrees('t');
ALTER INDEX t_a2 SET (fillfactor = 70);
REINDEX INDEX t_a2;
SELECT agrees('t');
ALTER INDEX t_a2 RESET (fillfactor);

-- TRUNCATE, rolled back and not, and in the transaction that made the table
BEGIN;
TRUNCATE t;
SELECT agrees('t');
INSERT INTO t VALUES (77, 1);
SELECT agrees('t');
ROLLBACK;
SELECT agrees('t');
TRUNCATE t;
SELECT agrees('t');
INSERT INTO t SELECT i % 1000, i FROM generate_series(1, 2000) i;
SELECT agrees('t');
BEGIN;
CREATE TABLE fresh (a int);
CREATE INDEX ON fresh USING fptree (a);
INSERT INTO fresh SELECT generate_series(1, 1000);
TRUNCATE fresh;
INSERT INTO fresh SELECT generate_series(1, 100);
SAVEPOINT s;
TRUNCATE fresh;
INSERT INTO fresh VALUES (1);
ROLLBACK TO s;
SELECT agrees('fresh');
COMMIT;
SELECT agrees('fresh');

-- CLUSTER and VACUUM FULL
DELETE FROM t WHERE b % 3 = 0;
CLUSTER t USING t_a2;
SELECT agrees('t');
SELECT bool_and(ok) FROM (SELECT a <= lag(a) OVER (ORDER BY ctid) AS ok FROM t) s;
CLUSTER t;
VACUUM FULL t;
SELECT agrees('t');

-- A tablespace and back
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE fpt_space LOCATION '';
ALTER INDEX t_a2 SET TABLESPACE fpt_space;
SELECT agrees('t');
INSERT INTO t SELECT i % 1000, i FROM generate_series(1, 500) i;
SELECT agrees('t');
ALTER TABLE t SET TABLESPACE fpt_space;
REINDEX (TABLESPACE pg_default) TABLE t;
SELECT agrees('t');
CREATE INDEX t_a3 ON t USING fptree (a) TABLESPACE fpt_space;
ALTER TABLE t SET TABLESPACE pg_default;
DROP INDEX t_a3;
DROP TABLESPACE fpt_space;

-- Unlogged, and back and forth
CREATE UNLOGGED TABLE ul (a int);
CREATE INDEX ul_a ON ul USING fptree (a);
INSERT INTO ul SELECT i * 13 % 1000 FROM generate_series(1, 1500) i;
SELECT agrees('ul');
SELECT pg_relation_size('ul_a', 'init') > 0 AS has_init_fork;
ALTER TABLE ul SET LOGGED;
SELECT agrees('ul');
ALTER TABLE ul SET UNLOGGED;
SELECT agrees('ul');
TRUNCATE ul;
INSERT INTO ul VALUES (77), (600);
SELECT agrees('ul');

-- Temporary
CREATE TEMP TABLE tt (a int);
CREATE INDEX tt_a ON tt USING fptree (a);
INSERT INTO tt SELECT i * 13 % 1000 FROM generate_series(1, 1500) i;
SELECT agrees('tt');
DELETE FROM tt WHERE a % 2 = 0;
VACUUM tt;
SELECT agrees('tt');
INSERT INTO tt SELECT hashint4(i) % 100000 FROM generate_series(1, 20000) i;
DELETE FROM tt WHERE a > 20000;
VACUUM tt;
INSERT INTO tt SELECT i FROM generate_series(1, 20000) i;
SELECT agrees('tt');
SELECT fptree_index_parent_check('tt_a', true, true, true);
CREATE TEMP TABLE td (a int) ON COMMIT DELETE ROWS;
CREATE INDEX td_a ON td USING fptree (a);
BEGIN;
INSERT INTO td SELECT i * 13 % 1000 FROM generate_series(1, 1500) i;
SELECT agrees('td');
SELECT count(*) FROM td;
COMMIT;
SELECT agrees('td');
SELECT count(*) FROM td;
BEGIN;
INSERT INTO td VALUES (77);
SELECT agrees('td');
COMMIT;

-- ALTER TYPE without a rewrite keeps the file, with one builds it anew
CREATE DOMAIN dint AS int;
CREATE DOMAIN dts AS timestamp(6);
CREATE TABLE ty (a int, d timestamp(3), e int);
INSERT INTO ty SELECT i % 1000, '2000-01-01'::timestamp + i * '1.0015s'::interval, i
	FROM generate_series(1, 1000) i;
CREATE INDEX ty_a ON ty USING fptree (a);
CREATE INDEX ty_d ON ty USING fptree (d);
CREATE INDEX ty_e ON ty USING fptree (e);
CREATE TEMP TABLE files AS
	SELECT relname, relfilenode FROM pg_class WHERE relname IN ('ty_a', 'ty_d', 'ty_e', 'ty');
ALTER TABLE ty ALTER a TYPE dint;
ALTER TABLE ty ALTER d TYPE timestamp(6);
SELECT c.relname, c.relfilenode = f.relfilenode AS kept
	FROM pg_class c JOIN files f USING (relname) ORDER BY 1;
INSERT INTO ty SELECT i % 1000, '2000-01-01'::timestamp + i * '1.000015s'::interval, i
	FROM generate_series(1, 1000) i;
SELECT agrees('ty');
SELECT * FROM fpt_compare('{
	SELECT d FROM ty WHERE d > ''2000-01-01 00:10:00'',
	SELECT d FROM ty ORDER BY d DESC}');
ALTER TABLE ty ALTER a TYPE int8;
ALTER TABLE ty ALTER d TYPE timestamptz;
ALTER TABLE ty ALTER e TYPE float8;
SELECT c.relname, c.relfilenode = f.relfilenode AS kept
	FROM pg_class c JOIN files f USING (relname) ORDER BY 1;
SELECT agrees('ty');
SELECT * FROM fpt_compare('{
	SELECT d FROM ty WHERE d > ''2000-01-01 00:10:00'',
	SELECT e FROM ty WHERE e > 600.5,
	SELECT e FROM ty ORDER BY e DESC}');
ALTER TABLE ty ALTER e TYPE text;
ALTER TABLE ty ALTER e TYPE numeric USING e::numeric;

-- Domains, and types that are others underneath
CREATE TABLE dom (a dint, b regclass, c dts);
CREATE INDEX dom_a ON dom USING fptree (a);
CREATE INDEX dom_b ON dom USING fptree (b);
CREATE INDEX dom_c ON dom USING fptree (c);
INSERT INTO dom SELECT 1000 - i, 1000000 - i, '2000-01-01'::timestamp + i * '1s'::interval
	FROM generate_series(1, 600) i;
INSERT INTO dom SELECT 77, 'dom'::regclass, 'infinity';
SELECT agrees('dom');
SELECT * FROM fpt_compare('{
	SELECT b FROM dom WHERE b > 999500,
	SELECT b FROM dom WHERE b = ''dom''::regclass,
	SELECT c FROM dom WHERE c >= ''2000-01-01 00:08:20''}');

-- Partitioned tables
CREATE TABLE p (a int, b int) PARTITION BY RANGE (b);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (500);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (500) TO (1000);
CREATE INDEX p_a ON p USING fptree (a);
INSERT INTO p SELECT i * 7 % 1000, i % 1000 FROM generate_series(1, 2000) i;
CREATE TABLE p3 (a int, b int);
INSERT INTO p3 SELECT i, i FROM generate_series(1000, 1999) i;
ALTER TABLE p ATTACH PARTITION p3 FOR VALUES FROM (1000) TO (2000);
SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'p_a'::regclass ORDER BY 1;
SELECT agrees('p1'), agrees('p2'), agrees('p3');
CALL fpt_use('index');
EXPLAIN (COSTS OFF) SELECT a FROM p ORDER BY a LIMIT 3;
SELECT a FROM p ORDER BY a LIMIT 3;
CALL fpt_use('any');
ALTER TABLE p DETACH PARTITION p2;
UPDATE p SET b = b + 1000 WHERE b < 250;
SELECT agrees('p1'), agrees('p2'), agrees('p3');
DROP TABLE p2;

-- Expression and partial indexes
CREATE TABLE x (a int, b int);
INSERT INTO x SELECT i % 100, i FROM generate_series(1, 2000) i;
CREATE INDEX x_e ON x USING fptree ((a * 100 + b));
CREATE INDEX x_p ON x USING fptree (b) WHERE a < 5;
CREATE INDEX x_ep ON x USING fptree ((b % 7)) WHERE a IS NOT NULL AND b > 1000;
INSERT INTO x SELECT i % 100, -i FROM generate_series(1, 500) i;
UPDATE x SET a = a + 1 WHERE b % 5 = 0;
SELECT * FROM fpt_compare('{
	SELECT a FROM x WHERE a * 100 + b BETWEEN 500 AND 900,
	SELECT b FROM x WHERE b BETWEEN 3 AND 900 AND a < 5,
	SELECT b FROM x WHERE b % 7 = 3 AND a IS NOT NULL AND b > 1000}', '{index,bitmap}');
CREATE INDEX x_bad ON x USING fptree ((100 / (a - 50)));
DELETE FROM x WHERE a = 50;
CREATE INDEX CONCURRENTLY x_div ON x USING fptree ((100 / (a - 50)));
INSERT INTO x VALUES (50, 0);

-- A failed concurrent build leaves an invalid index that can be rebuilt.
CREATE TABLE ci (a int);
INSERT INTO ci SELECT i % 400 FROM generate_series(1, 401) i;
CREATE UNIQUE INDEX CONCURRENTLY "Ci_a" ON ci USING fptree (a);
SELECT indisvalid FROM pg_index WHERE indexrelid = '"Ci_a"'::regclass;
SELECT fptree_metap('"Ci_a"');
INSERT INTO ci VALUES (1000), (3);
DELETE FROM ci WHERE ctid IN (SELECT ctid FROM (SELECT ctid, row_number()
	OVER (PARTITION BY a ORDER BY ctid) AS n FROM ci) s WHERE n > 1);
REINDEX INDEX CONCURRENTLY "Ci_a";
SELECT indisvalid FROM pg_index WHERE indexrelid = '"Ci_a"'::regclass;
SELECT agrees('ci');
DROP INDEX CONCURRENTLY "Ci_a";

-- Rolled back DDL
BEGIN;
CREATE INDEX gone ON t USING fptree (b);
INSERT INTO t VALUES (1, 1);
ROLLBACK;
BEGIN;
DROP INDEX t_a2;
ROLLBACK;
SELECT agrees('t');

-- Statistics targets, renaming, comments and the rest that only touches the
-- catalogs
ALTER INDEX t_a2 RENAME TO t_a9;
COMMENT ON INDEX t_a9 IS 'an index';
ALTER INDEX x_e ALTER COLUMN 1 SET STATISTICS 500;
ANALYZE x;
SELECT agrees('t');

-- Replica identity may use a unique fptree index
CREATE TABLE ri (a int NOT NULL);
CREATE UNIQUE INDEX ri_a ON ri USING fptree (a);
ALTER TABLE ri REPLICA IDENTITY USING INDEX ri_a;
SELECT relreplident FROM pg_class WHERE oid = 'ri'::regclass;

-- Materialized views
CREATE MATERIALIZED VIEW mv AS SELECT a, count(*) AS n FROM t GROUP BY a;
CREATE INDEX mv_a ON mv USING fptree (a);
SELECT agrees('mv');
INSERT INTO t VALUES (5000, 5000);
REFRESH MATERIALIZED VIEW mv;
SELECT agrees('mv');

-- Parallel and serial builds, from little and much memory
SET min_parallel_table_scan_size = 0;
SET max_parallel_maintenance_workers = 2;
CREATE TABLE pb (a int);
INSERT INTO pb SELECT hashint4(i) % 500000 FROM generate_series(1, 30000) i;
INSERT INTO pb SELECT NULL FROM generate_series(1, 300) i;
CREATE INDEX pb_a ON pb USING fptree (a);
SELECT agrees('pb');
DROP INDEX pb_a;
SET max_parallel_maintenance_workers = 0;
SET maintenance_work_mem = '1MB';
CREATE INDEX pb_a ON pb USING fptree (a);
SELECT agrees('pb');
RESET maintenance_work_mem;
RESET max_parallel_maintenance_workers;
RESET min_parallel_table_scan_size;

-- phases of a build, and one while it is on
SELECT n, pg_indexam_progress_phasename(oid, n)
FROM pg_am, generate_series(0, 5) n WHERE amname = 'fptree' ORDER BY n;
CREATE FUNCTION phase(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF $1 = 0 THEN
		RAISE INFO '%', (SELECT phase FROM pg_stat_progress_create_index
						 WHERE pid = pg_backend_pid());
	END IF;
	RETURN $1;
END $$;
CREATE TABLE pp AS SELECT i % 100 AS a FROM generate_series(1, 150) i;
CREATE INDEX pp_a ON pp USING fptree (phase(a));
DROP TABLE pp;

SELECT fpt_check_all();

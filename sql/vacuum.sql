--
-- VACUUM: entries removed, pages unlinked and used again, statistics.
--
CREATE SCHEMA fpt_vacuum;
SET search_path = fpt_vacuum, public;
SET client_min_messages = warning;

CREATE FUNCTION agrees(tab regclass) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	r := fpt_compare(ARRAY[
		format('SELECT a FROM %s WHERE a > 500', tab),
		format('SELECT a FROM %s WHERE a < 5000', tab),
		format('SELECT a FROM %s ORDER BY a', tab),
		format('SELECT a FROM %s ORDER BY a DESC', tab)]);
	RETURN CASE WHEN r.problems = '' THEN 'agrees' ELSE r.problems END;
END $$;

-- An empty index, one never vacuumed, one emptied
CREATE TABLE e (a int) WITH (autovacuum_enabled = off);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX e_a ON e USING fptree (a)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
VACUUM e;
SELECT reltuples FROM pg_class WHERE oid = 'e_a'::regclass;
INSERT INTO e SELECT generate_series(1, 3000);
VACUUM e;
SELECT reltuples, relpages = fpt_pages('e_a') FROM pg_class WHERE oid = 'e_a'::regclass;
DELETE FROM e;
VACUUM e;
SELECT reltuples FROM pg_class WHERE oid = 'e_a'::regclass;
SELECT agrees('e');
SELECT fpt_check_all();
VACUUM e;
INSERT INTO e SELECT generate_series(1, 3000);
SELECT agrees('e');
SELECT fpt_check_all();

-- The same rows again and again: the index must not grow.
CREATE TABLE t (a int, b int) WITH (autovacuum_enabled = off);
CREATE INDEX t_a ON t USING fptree (a);
INSERT INTO t SELECT i, 0 FROM generate_series(1, 20000) i;
VACUUM t;
CREATE TEMP TABLE size AS SELECT fpt_pages('t_a') AS pages;
DO $$
BEGIN
	FOR round IN 1 .. 3 LOOP
		DELETE FROM t;
		INSERT INTO t SELECT i, round FROM generate_series(1, 20000) i;
	END LOOP;
END $$;
VACUUM t;
DELETE FROM t;
VACUUM t;
UPDATE size SET pages = fpt_pages('t_a');
INSERT INTO t SELECT i, 0 FROM generate_series(1, 20000) i;
DELETE FROM t;
VACUUM t;
INSERT INTO t SELECT i, 0 FROM generate_series(1, 20000) i;
DELETE FROM t;
VACUUM t;
INSERT INTO t SELECT -i, 0 FROM generate_series(1, 20000) i;
SELECT fpt_pages('t_a') <= pages AS does_not_grow FROM size;
SELECT agrees('t');
SELECT fpt_check_all();

-- A queue: rows enter at one end and leave at the other; the size settles.
CREATE TABLE q (a int8) WITH (autovacuum_enabled = off);
SET fptree.debug_node_lines = '2,2';
CREATE INDEX q_a ON q USING fptree (a)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
INSERT INTO q SELECT generate_series(1, 5000);
DELETE FROM q WHERE a <= 4000;
VACUUM q;
INSERT INTO q SELECT generate_series(5001, 9000);
DELETE FROM q WHERE a <= 8000;
VACUUM q;
CREATE TEMP TABLE qsize AS SELECT fpt_pages('q_a') AS pages;
INSERT INTO q SELECT generate_series(9001, 13000);
DELETE FROM q WHERE a <= 12000;
VACUUM q;
INSERT INTO q SELECT generate_series(13001, 17000);
DELETE FROM q WHERE a <= 16000;
VACUUM q;
INSERT INTO q SELECT generate_series(17001, 21000);
DELETE FROM q WHERE a <= 20000;
VACUUM q;
SELECT fpt_pages('q_a') <= pages * 1.2 AS settles FROM qsize;
SELECT agrees('q');
SELECT min(a), max(a), count(*) FROM q;
-- and the other way round
DELETE FROM q;
VACUUM q;
INSERT INTO q SELECT -generate_series(1, 5000);
DELETE FROM q WHERE a > -4000;
VACUUM q;
INSERT INTO q SELECT -generate_series(5001, 9000);
DELETE FROM q WHERE a > -8000;
VACUUM q;
SELECT agrees('q');
SELECT fpt_check_all();

-- Whole stretches in the middle go, single rows stay
CREATE TABLE h (a int) WITH (autovacuum_enabled = off);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX h_a ON h USING fptree (a)
	WITH (fillfactor = 50);
RESET fptree.debug_node_lines;
CREATE INDEX h_d ON h USING fptree (a DESC) WITH (fillfactor = 100);
INSERT INTO h SELECT generate_series(1, 10000);
INSERT INTO h SELECT NULL FROM generate_series(1, 1000);
DELETE FROM h WHERE a % 1000 > 10;
VACUUM h;
SELECT agrees('h');
SELECT fpt_check_all();
INSERT INTO h SELECT i FROM generate_series(1, 10000) i WHERE i % 1000 > 10;
SELECT agrees('h');
DELETE FROM h WHERE a IS NULL;
VACUUM h;
SELECT agrees('h');
SELECT count(*) FROM h WHERE a IS NULL;
DELETE FROM h WHERE a < 9000;
VACUUM h;
SELECT agrees('h');
INSERT INTO h SELECT generate_series(1, 2000);
SELECT agrees('h');
SELECT fpt_check_all();

-- Vacuuming in several passes, with delays, without index cleanup, in parallel
SET maintenance_work_mem = '1MB';
CREATE TABLE p (a int) WITH (autovacuum_enabled = off);
INSERT INTO p SELECT hashint4(i) % 1000000 FROM generate_series(1, 200000) i;
CREATE INDEX p_a ON p USING fptree (a);
DELETE FROM p WHERE a % 64 <> 0;
VACUUM (INDEX_CLEANUP off) p;
SELECT agrees('p');
VACUUM p;
SELECT agrees('p');
RESET maintenance_work_mem;
CREATE INDEX p_b ON p USING fptree (a DESC);
CREATE INDEX p_c ON p USING fptree ((a + 1));
DELETE FROM p WHERE a % 128 <> 0;
SET min_parallel_index_scan_size = 0;
VACUUM (PARALLEL 2) p;
SELECT agrees('p');
SET vacuum_cost_delay = '1ms';
DELETE FROM p WHERE a % 256 <> 0;
VACUUM p;
RESET vacuum_cost_delay;
SELECT agrees('p');
VACUUM (FREEZE, ANALYZE) p;
SELECT reltuples = (SELECT count(*) FROM p) AS exact FROM pg_class
	WHERE oid = 'p_a'::regclass;
SELECT pg_stat_force_next_flush();
SELECT idx_scan > 0 AS counted FROM pg_stat_user_indexes WHERE indexrelid = 'p_a'::regclass;
-- partial index: its own number of entries
CREATE INDEX p_p ON p USING fptree (a) WHERE a > 0;
DELETE FROM p WHERE a % 512 <> 0;
VACUUM p;
SELECT reltuples = (SELECT count(*) FROM p WHERE a > 0) AS exact FROM pg_class
	WHERE oid = 'p_p'::regclass;

-- this is the last file
SELECT fpt_check_all(everything => true);

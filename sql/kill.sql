--
-- Hints at dead entries: scans that skip them give the same answers.
--
CREATE SCHEMA fpt_kill;
SET search_path = fpt_kill, public;
SET client_min_messages = warning;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

CREATE TABLE t (a int, b int) WITH (autovacuum_enabled = off);
SET fptree.debug_node_lines = '2,2';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
INSERT INTO t SELECT i % 500, i FROM generate_series(1, 5000) i;
DELETE FROM t WHERE a BETWEEN 100 AND 199;
-- the first scan finds the rows dead and says so, those after it skip them
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;
SELECT count(*), sum(b) FROM (SELECT * FROM t WHERE a BETWEEN 50 AND 250 ORDER BY a DESC) s;
SELECT count(*) FROM t WHERE a = ANY ('{99,100,150,199,200}');
CALL fpt_use('bitmap');
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;
CALL fpt_use('only');
SELECT count(*) FROM t WHERE a BETWEEN 50 AND 250;

-- entries come and go beside the dead ones, pages split with hints in them
INSERT INTO t SELECT 150, i FROM generate_series(1, 700) i;
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;
UPDATE t SET b = b + 1 WHERE a = 150;
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;
SELECT fpt_check_all();
DELETE FROM t WHERE a = 150 AND b % 2 = 0;
SELECT count(*), sum(b) FROM t WHERE a = 150;
INSERT INTO t SELECT i, 0 FROM generate_series(140, 160) i, generate_series(1, 40);
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;
CALL fpt_use('seq');
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;
VACUUM t;
CALL fpt_use('index');
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;
INSERT INTO t SELECT i, 0 FROM generate_series(140, 160) i, generate_series(1, 40);
SELECT count(*), sum(b) FROM t WHERE a BETWEEN 50 AND 250;

-- a row is not dead while its deletion can still be rolled back
BEGIN;
DELETE FROM t WHERE a < 100;
SELECT count(*) FROM t WHERE a < 120;
SELECT count(*) FROM t WHERE a < 120;
ROLLBACK;
SELECT count(*) FROM t WHERE a < 120;

-- nor while an older snapshot sees it
BEGIN ISOLATION LEVEL REPEATABLE READ;
DECLARE c SCROLL CURSOR FOR SELECT a FROM t WHERE a BETWEEN 300 AND 305 ORDER BY a;
FETCH 1 FROM c;
DELETE FROM t WHERE a BETWEEN 300 AND 305;
SELECT count(*) FROM t WHERE a BETWEEN 300 AND 305;
SELECT count(*) FROM t WHERE a BETWEEN 300 AND 305;
MOVE FORWARD ALL FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;
SELECT count(*) FROM t WHERE a BETWEEN 300 AND 305;

-- a unique check looks past dead entries, and the place of one whose TID is
-- used again is not taken for dead
CREATE TABLE u (a int) WITH (autovacuum_enabled = off);
CREATE UNIQUE INDEX u_a ON u USING fptree (a);
INSERT INTO u SELECT generate_series(1, 300);
DO $$
BEGIN
	FOR i IN 1 .. 20 LOOP
		DELETE FROM u WHERE a BETWEEN 100 AND 200;
		COMMIT;
		PERFORM count(*) FROM u WHERE a BETWEEN 90 AND 210;
		INSERT INTO u SELECT generate_series(100, 200);
		COMMIT;
		PERFORM count(*) FROM u WHERE a BETWEEN 90 AND 210;
	END LOOP;
END $$;
SELECT count(*) FROM u WHERE a BETWEEN 90 AND 210;
DELETE FROM u WHERE a BETWEEN 100 AND 200;
SELECT count(*) FROM u WHERE a BETWEEN 90 AND 210;
VACUUM u;
INSERT INTO u SELECT generate_series(200, 100, -1);
SELECT count(*) FROM u WHERE a BETWEEN 90 AND 210;
DELETE FROM u WHERE a BETWEEN 100 AND 200;
SELECT count(*) FROM u WHERE a BETWEEN 90 AND 210;
INSERT INTO u SELECT generate_series(100, 200);
INSERT INTO u VALUES (150);
SELECT count(*) FROM u WHERE a BETWEEN 90 AND 210;

SELECT fpt_check_all();

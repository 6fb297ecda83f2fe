--
-- Entries of dead rows are removed before a leaf is split: indexes stay small
-- while rows are updated, or deleted and inserted again, without VACUUM.
--
-- The tables are temporary ones: which rows are dead does not depend on other
-- sessions then.  The sizes of btree indexes beside are not compared but for
-- being no better by more than a half: posting lists help there.
--
CREATE SCHEMA fpt_delete;
SET search_path = fpt_delete, public;
SET client_min_messages = warning;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- pages of a table's indexes; they begin with the names of their twins
CREATE FUNCTION pages(t regclass, OUT am text, OUT name text, OUT n int)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT a.amname, substr(c.relname, 3), fpt_pages(c.oid)::int
	FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
	WHERE i.indrelid = t $$;

CREATE PROCEDURE make(what text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE %s TABLE churn (id int, a int, u uuid, b text, n int, d date, v int)', what);
	INSERT INTO churn SELECT i, hashint4(i), md5(i::text)::uuid, 'key ' || i,
		CASE WHEN i % 3 = 0 THEN i END, NULL, i FROM generate_series(1, 2400) i;
	CREATE UNIQUE INDEX f_id ON churn USING fptree (id);
	CREATE INDEX f_a ON churn USING fptree (a DESC);
	CREATE UNIQUE INDEX f_u ON churn USING fptree (u);
	CREATE INDEX f_b ON churn USING fptree (b);
	CREATE INDEX f_ba ON churn USING fptree (n, b DESC) INCLUDE (v);
	CREATE INDEX f_n ON churn USING fptree (n);
	CREATE INDEX f_d ON churn USING fptree (d);
	CREATE INDEX f_v ON churn USING fptree (v);
	CREATE UNIQUE INDEX b_id ON churn USING btree (id);
	CREATE INDEX b_a ON churn USING btree (a DESC);
	CREATE UNIQUE INDEX b_u ON churn USING btree (u);
	CREATE INDEX b_b ON churn USING btree (b);
	CREATE INDEX b_ba ON churn USING btree (n, b DESC) INCLUDE (v);
	CREATE INDEX b_n ON churn USING btree (n);
	CREATE INDEX b_d ON churn USING btree (d);
	CREATE INDEX b_v ON churn USING btree (v);
	DROP TABLE IF EXISTS before;
	CREATE TEMP TABLE before AS SELECT * FROM pages('churn');
END $$;

-- every row gets new versions, a few rows at a time
CREATE PROCEDURE churn(rounds int) LANGUAGE plpgsql AS $$
BEGIN
	FOR r IN 1 .. rounds LOOP
		FOR i IN 0 .. 19 LOOP
			UPDATE churn SET v = v + 1000 WHERE id % 20 = i;
			COMMIT;
		END LOOP;
	END LOOP;
END $$;

-- Twenty versions of each row.  Without deletion an index is 8 times what it
-- was, at least.  "d" is not bounded, all keys being equal; nor is "v", as
-- nothing tells that old values are dead.
CALL make('TEMP');
CALL churn(20);
SELECT f.name, f.n < 5 * fb.n OR name = 'd' AS bounded, f.n <= 1.5 * b.n + 2 AS beside_btree
FROM pages('churn') f JOIN pages('churn') b USING (name)
	JOIN before fb USING (name)
WHERE f.am = 'fptree' AND fb.am = 'fptree' AND b.am = 'btree' AND name <> 'v'
ORDER BY name;
SELECT count(*), sum(id), sum(a), count(n) FROM churn;
SELECT count(*), sum(id) FROM (SELECT * FROM churn WHERE id > 0 ORDER BY id) s;
SELECT count(*), sum(id) FROM (SELECT * FROM churn WHERE a > -3000000000 ORDER BY a) s;
SELECT count(*), sum(id) FROM churn WHERE b > 'key 5';
SELECT count(*), sum(id) FROM churn WHERE n IS NULL;
SELECT count(*), sum(id) FROM churn WHERE d IS NULL;
SELECT count(*), sum(id) FROM churn WHERE u > '80000000-0000-0000-0000-000000000000';
DROP INDEX b_id, b_a, b_u, b_b, b_ba, b_n, b_d, b_v;
SELECT fptree_index_parent_check(indexrelid, true, true)
FROM pg_index WHERE indrelid = 'churn'::regclass;

-- rolled back updates and insertions leave dead entries, too
CREATE PROCEDURE undone(rounds int) LANGUAGE plpgsql AS $$
BEGIN
	FOR r IN 1 .. rounds LOOP
		UPDATE churn SET v = v + 1000 WHERE id % 4 = r % 4;
		ROLLBACK;
	END LOOP;
END $$;
TRUNCATE before;
INSERT INTO before SELECT * FROM pages('churn');
CALL undone(40);
SELECT name, p.n <= 3 * b.n + 2 AS bounded FROM pages('churn') p JOIN before b USING (name)
WHERE name IN ('id', 'a', 'u', 'b') ORDER BY name;
SELECT count(*), sum(id), sum(a), count(n) FROM churn;
SELECT fptree_index_parent_check(indexrelid, true, true)
FROM pg_index WHERE indrelid = 'churn'::regclass;
DROP TABLE churn;

-- Logged and unlogged ones: what others do decides how much is dead, nothing is
-- said about sizes.
CALL make('');
CALL churn(5);
SELECT count(*), sum(id), sum(a), count(n) FROM churn;
SELECT fpt_check_all();
ALTER TABLE churn SET UNLOGGED;
CALL churn(5);
SELECT count(*), sum(id), sum(a), count(n) FROM churn;
SELECT fpt_check_all();
DROP TABLE churn;

-- Rows that are deleted and inserted again: entries that a scan has found dead
-- go, in an index without any updates.
CREATE TEMP TABLE q (k int, t text);
CREATE INDEX q_k ON q USING fptree (k);
CREATE INDEX q_t ON q USING fptree (t);
INSERT INTO q SELECT hashint4(i), md5(i::text) FROM generate_series(1, 2000) i;
CREATE TEMP TABLE qsize AS SELECT fpt_pages('q_k') AS k, fpt_pages('q_t') AS t;
CREATE PROCEDURE again(rounds int) LANGUAGE plpgsql AS $$
BEGIN
	FOR r IN 1 .. rounds LOOP
		DELETE FROM q;
		COMMIT;
		-- these leave the hints
		PERFORM count(*) FROM (SELECT k FROM q WHERE k > -3000000000 ORDER BY k) s;
		PERFORM count(*) FROM (SELECT t FROM q WHERE t > '' ORDER BY t) s;
		INSERT INTO q SELECT hashint4(i), md5(i::text) FROM generate_series(1, 2000) i;
		COMMIT;
	END LOOP;
END $$;
CALL again(20);
SELECT fpt_pages('q_k') <= 3 * k AS k, fpt_pages('q_t') <= 3 * t AS t FROM qsize;
SELECT count(*), sum(k) FROM (SELECT k FROM q WHERE k > -3000000000 ORDER BY k) s;
SELECT count(*) FROM (SELECT t FROM q WHERE t > '' ORDER BY t) s;
SELECT fptree_index_parent_check(indexrelid, true, true)
FROM pg_index WHERE indrelid = 'q'::regclass;

-- a page of which every entry is dead keeps one; of the last page, which is not
-- full, the others stay as well
CREATE TEMP TABLE one (k int);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX one_k ON one USING fptree (k);
RESET fptree.debug_node_lines;
INSERT INTO one SELECT i FROM generate_series(1, 3800) i;
DELETE FROM one;
SELECT count(*) FROM (SELECT k FROM one WHERE k > 0 ORDER BY k) s;
SELECT entries FROM fptree_stat('one_k');
INSERT INTO one SELECT i FROM generate_series(1, 3800) i;
SELECT entries BETWEEN 3801 AND 5700 AS few FROM fptree_stat('one_k');
SELECT count(*), sum(k) FROM (SELECT k FROM one WHERE k > 0 ORDER BY k) s;
SELECT fptree_index_parent_check('one_k', true, true);

SELECT fpt_check_all();

\c -
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

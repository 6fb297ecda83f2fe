--
-- Dead rows: entries that insertions and VACUUM remove, and leaves that VACUUM merges.
--

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

-- a page of which every entry is dead keeps one, at first; of the last page, which
-- is not full, the others may stay as well
CREATE TEMP TABLE one (k int);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX one_k ON one USING fptree (k);
RESET fptree.debug_node_lines;
INSERT INTO one SELECT i FROM generate_series(1, 3800) i;
DELETE FROM one;
SELECT count(*) FROM (SELECT k FROM one WHERE k > 0 ORDER BY k) s;
SELECT entries FROM fptree_stat('one_k');
INSERT INTO one SELECT i FROM generate_series(1, 3800) i;
SELECT entries BETWEEN 3800 AND 5700 AS few FROM fptree_stat('one_k');
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
SET track_counts = on;
CREATE INDEX p_a ON p USING fptree (a);
DELETE FROM p WHERE a % 64 <> 0;
VACUUM (INDEX_CLEANUP off) p;
SELECT agrees('p');
VACUUM p;
SELECT agrees('p');
RESET maintenance_work_mem;
SET track_counts = off;
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

\c -
--
-- VACUUM merges leaves that have lost many entries: sizes, page by page, of all
-- kinds of leaves; leaves that are not merged.
--
CREATE SCHEMA fpt_merge;
SET search_path = fpt_merge, public;
SET client_min_messages = warning;

CREATE FUNCTION pages(index regclass, OUT leaves bigint, OUT inner_pages bigint,
					  OUT empty bigint, OUT deleted bigint, OUT entries bigint)
LANGUAGE sql AS $$
	SELECT leaf_pages, internal_pages, empty_pages, deleted_pages, s.entries
	FROM fptree_stat(index) s;
$$;

-- The leaves of a fresh index
CREATE FUNCTION fresh(index regclass) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE regexp_replace(pg_get_indexdef(index), 'INDEX \w+', 'INDEX fresh');
	SELECT leaf_pages INTO n FROM fptree_stat('fresh');
	DROP INDEX fresh;
	RETURN n;
END $$;

CREATE TABLE t (id int, i8 int8, d int8, u uuid, s text, a int, n int)
	WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, hashint8extended(i, 0), i % 500, md5(i::text)::uuid,
	'user' || md5(i::text), hashint4(i) % 50, CASE WHEN i % 3 > 0 THEN i * 7 END
	FROM generate_series(1, 30000) i;
CREATE INDEX t_id ON t USING fptree (id);
CREATE INDEX t_i8 ON t USING fptree (i8);
CREATE INDEX t_d ON t USING fptree (d);
CREATE INDEX t_u ON t USING fptree (u);
CREATE INDEX t_s ON t USING fptree (s);
CREATE INDEX t_as ON t USING fptree (a, s) INCLUDE (id);
CREATE INDEX t_n ON t USING fptree (n DESC);
-- a fill factor is what a page is filled to by merging, too
CREATE INDEX t_30 ON t USING fptree (i8) WITH (fillfactor = 30);
-- narrow nodes, and more levels
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_levels ON t USING fptree (i8);
RESET fptree.debug_node_lines;
VACUUM t;

CREATE VIEW sizes AS
	SELECT c::regclass AS index, p.*, fresh(c::regclass)
	FROM unnest(ARRAY['t_id', 't_i8', 't_d', 't_u', 't_s', 't_as', 't_n', 't_30']) c, pages(c::regclass) p;
CREATE FUNCTION agrees() RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN r.problems = '' THEN 'agrees' ELSE r.problems END
	FROM fpt_compare(ARRAY[
		'SELECT i8 FROM t WHERE i8 > 0', 'SELECT i8 FROM t ORDER BY i8',
		'SELECT i8 FROM t ORDER BY i8 DESC', 'SELECT d FROM t ORDER BY d',
		'SELECT u FROM t ORDER BY u DESC', 'SELECT s FROM t ORDER BY s',
		'SELECT a, s FROM t WHERE a > 3', 'SELECT n FROM t ORDER BY n DESC']) r;
$$;
SELECT * FROM sizes;

SELECT * FROM pages('t_levels');

DELETE FROM t WHERE (hashint4(id)::int8 + 2147483648) % 10 < 7;
VACUUM t;
SELECT * FROM sizes;
SELECT * FROM pages('t_levels');
SELECT agrees();
SELECT fpt_check_all();

DELETE FROM t WHERE (hashint4(id)::int8 + 2147483648) % 10 < 9;
VACUUM t;
DELETE FROM t WHERE id = (SELECT max(id) FROM t);
VACUUM t;
SELECT * FROM sizes;
SELECT * FROM pages('t_levels');
SELECT agrees();
SELECT fpt_check_all();

-- the pages are used again, and what was merged is split again
INSERT INTO t SELECT i, hashint8extended(i, 0), i % 500, md5(i::text)::uuid,
	'user' || md5(i::text), hashint4(i) % 50, CASE WHEN i % 3 > 0 THEN i * 7 END
	FROM generate_series(30001, 50000) i;
SELECT agrees();
SELECT fpt_check_all();
DELETE FROM t WHERE id < 49000;
VACUUM t;
SELECT index, leaves, deleted > 0 AS deleted FROM sizes;
SELECT fpt_check_all();

-- Some dead rows are no reason: as long as two leaves do not fit into one.
CREATE TABLE few (a int8) WITH (autovacuum_enabled = off);
INSERT INTO few SELECT hashint8extended(i, 0) FROM generate_series(1, 60000) i;
CREATE INDEX few_a ON few USING fptree (a);
VACUUM few;
SELECT * FROM pages('few_a');
DELETE FROM few WHERE a % 20 = 0;
VACUUM few;
SELECT leaves FROM pages('few_a');
-- Half of them are: two that VACUUM has emptied become one that may be 97% full.
DELETE FROM few WHERE a % 2 = 0;
VACUUM few;
SELECT leaves, fresh('few_a') FROM pages('few_a');
-- Where 40% are gone no two fit into one, and three make two.
REINDEX INDEX few_a;
DELETE FROM few WHERE abs(a % 5) < 2;
VACUUM few;
SELECT leaves, fresh('few_a') FROM pages('few_a');
-- Not where that is the work of splits, and VACUUM has removed a few rows only.
TRUNCATE few;
INSERT INTO few SELECT hashint8extended(i, 0) FROM generate_series(1, 60000) i;
DELETE FROM few WHERE a % 10 = 0;
SELECT leaves AS split FROM pages('few_a') \gset
VACUUM few;
SELECT leaves > :split * 9 / 10 AS stay FROM pages('few_a');
-- Nor where the index grows by less than a hundredth from VACUUM to VACUUM.
INSERT INTO few SELECT hashint8extended(i, 2) FROM generate_series(1, 1000) i;
DELETE FROM few WHERE a % 100 = 3;
VACUUM few;
SELECT leaves > :split * 9 / 10 AS stay FROM pages('few_a');
-- But where the index has not grown since: what is freed is all that it needs.
UPDATE few SET a = hashint8extended(a, 1) WHERE a % 10 = 1;
VACUUM few;
SELECT leaves < :split * 9 / 10 AS filled FROM pages('few_a');

-- Unlogged and temporary indexes
CREATE UNLOGGED TABLE ul (a int8) WITH (autovacuum_enabled = off);
CREATE TEMP TABLE tmp (a int8);
INSERT INTO ul SELECT hashint8extended(i, 0) FROM generate_series(1, 20000) i;
INSERT INTO tmp TABLE ul;
CREATE INDEX ul_a ON ul USING fptree (a);
CREATE INDEX tmp_a ON tmp USING fptree (a);
DELETE FROM ul WHERE a % 10 <> 0;
DELETE FROM tmp WHERE a % 10 <> 0;
VACUUM ul, tmp;
SELECT * FROM pages('ul_a');
SELECT * FROM pages('tmp_a');
SELECT fpt_check_all();

-- Orders that do not contradict themselves, as far as anybody knows: strings in
-- a collation of the C library, whichever it has besides "C", and types with
-- strings or numbers in them.  Of a function that is not PostgreSQL's own nobody
-- knows: its leaves stay.
SELECT coalesce(min(collname), 'C') AS libc FROM pg_collation
WHERE collprovider = 'c' AND collname NOT IN ('C', 'POSIX') AND
	collnamespace = 'pg_catalog'::regnamespace AND
	collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database())) \gset
CREATE TYPE pair AS (a int, s text COLLATE :"libc");
CREATE FUNCTION cmp(int, int) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'btint4cmp';
CREATE OPERATOR CLASS own_ops FOR TYPE int USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 cmp(int, int);
CREATE TABLE l (k int, s text COLLATE :"libc", v varchar COLLATE :"libc", n name, a int[], sa text[] COLLATE :"libc",
	r int4range, p pair, o int) WITH (autovacuum_enabled = off);
INSERT INTO l SELECT i, md5(i::text), md5(i::text), md5(i::text), ARRAY[i, i], ARRAY[md5(i::text)],
	int4range(i, i + 9), ROW(i, md5(i::text))::pair, hashint4(i) FROM generate_series(1, 20000) i;
CREATE INDEX l_s ON l USING fptree (s);
CREATE INDEX l_sk ON l USING fptree (s, k);
CREATE INDEX l_kv ON l USING fptree (k, v DESC) INCLUDE (o);
CREATE INDEX l_n ON l USING fptree (n COLLATE :"libc");
CREATE INDEX l_a ON l USING fptree (a);
CREATE INDEX l_sa ON l USING fptree (sa);
CREATE INDEX l_r ON l USING fptree (r);
CREATE INDEX l_p ON l USING fptree (p);
CREATE INDEX l_o ON l USING fptree (o own_ops);
DELETE FROM l WHERE hashint4(k)::int8 % 10 <> 0;
VACUUM l;
SELECT i AS index, deleted > leaves AS merged, deleted > 0 AS freed
FROM unnest('{l_s,l_sk,l_kv,l_n,l_a,l_sa,l_r,l_p,l_o}'::regclass[]) i, pages(i);
SELECT CASE WHEN r.problems = '' THEN 'agrees' ELSE r.problems END
FROM fpt_compare(ARRAY['SELECT s FROM l ORDER BY s', 'SELECT s, k FROM l ORDER BY s DESC, k DESC',
	'SELECT s FROM l WHERE s > ''8''', 'SELECT k, v FROM l ORDER BY k, v DESC', 'SELECT a FROM l ORDER BY a',
	'SELECT r FROM l ORDER BY r DESC', 'SELECT p FROM l ORDER BY p', 'SELECT o FROM l WHERE o > 0']) r;
SELECT fpt_check_all();

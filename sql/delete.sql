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

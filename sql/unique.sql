--
-- Unique indexes, ON CONFLICT, exclusion constraints.
--
CREATE SCHEMA fpt_unique;
SET search_path = fpt_unique, public;
SET client_min_messages = warning;

CREATE TABLE u (a int, b text);
CREATE UNIQUE INDEX u_a ON u USING fptree (a);
INSERT INTO u VALUES (1, 'one'), (2, 'two'), (NULL, 'null'), (NULL, 'null again');
INSERT INTO u VALUES (1, 'once more');
INSERT INTO u VALUES (3, 'three'), (3, 'three again');
UPDATE u SET a = 2 WHERE a = 1;
UPDATE u SET a = a + 1;
UPDATE u SET a = a - 1 WHERE a = 2;
UPDATE u SET b = b || '!' WHERE a = 1;
DELETE FROM u WHERE a = 1;
INSERT INTO u VALUES (1, 'new one');
BEGIN;
DELETE FROM u WHERE a = 2;
INSERT INTO u VALUES (2, 'new two');
INSERT INTO u VALUES (4, 'four');
SAVEPOINT s;
INSERT INTO u VALUES (4, 'four again');
ROLLBACK TO s;
INSERT INTO u VALUES (5, 'five');
ROLLBACK;
INSERT INTO u VALUES (4, 'four at last'), (5, 'five at last');
SELECT * FROM u ORDER BY a, b;

-- the error carries what btree's does
DO $$
DECLARE
	state text; detail text; con text; tab text; sch text;
BEGIN
	INSERT INTO u VALUES (5, 'five again');
EXCEPTION WHEN unique_violation THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, detail = PG_EXCEPTION_DETAIL,
		con = CONSTRAINT_NAME, tab = TABLE_NAME, sch = SCHEMA_NAME;
	RAISE WARNING '% | % | % | % | % | %', state, sqlerrm, detail, con, tab, sch;
END $$;

-- build over duplicates
CREATE TABLE d (a int);
INSERT INTO d SELECT i % 999 FROM generate_series(1, 1000) i;
CREATE UNIQUE INDEX d_a ON d USING fptree (a);
DELETE FROM d WHERE ctid = (SELECT max(ctid) FROM d);
CREATE UNIQUE INDEX d_a ON d USING fptree (a);
-- rows dead but still seen by somebody do not count
BEGIN;
INSERT INTO d VALUES (5000);
DELETE FROM d WHERE a = 5000;
INSERT INTO d VALUES (5000);
DROP INDEX d_a;
CREATE UNIQUE INDEX d_a ON d USING fptree (a);
COMMIT;
INSERT INTO d VALUES (5000);

-- NULLS NOT DISTINCT
CREATE TABLE n (a int);
INSERT INTO n VALUES (1), (NULL);
CREATE UNIQUE INDEX n_a ON n USING fptree (a) NULLS NOT DISTINCT;
INSERT INTO n VALUES (NULL);
INSERT INTO n VALUES (NULL) ON CONFLICT DO NOTHING;
INSERT INTO n VALUES (1);
DELETE FROM n WHERE a IS NULL;
INSERT INTO n VALUES (NULL);
UPDATE n SET a = NULL WHERE a = 1;
DROP INDEX n_a;
INSERT INTO n VALUES (NULL);
CREATE UNIQUE INDEX n_a ON n USING fptree (a NULLS FIRST) NULLS NOT DISTINCT;
DELETE FROM n WHERE ctid = (SELECT max(ctid) FROM n WHERE a IS NULL);
CREATE UNIQUE INDEX n_a ON n USING fptree (a DESC NULLS LAST) NULLS NOT DISTINCT;
INSERT INTO n VALUES (NULL);
SELECT * FROM n ORDER BY a;

-- equal values of different images
CREATE TABLE f (a float8, b float4);
CREATE UNIQUE INDEX f_a ON f USING fptree (a);
CREATE UNIQUE INDEX f_b ON f USING fptree (b DESC);
INSERT INTO f VALUES (0, 1);
INSERT INTO f VALUES ('-0', 2);
INSERT INTO f VALUES ('NaN', 3);
INSERT INTO f VALUES ('Infinity'::float8 - 'Infinity', 4);
INSERT INTO f VALUES (-('NaN'::float8), 5);
INSERT INTO f VALUES (7, '-0');
INSERT INTO f VALUES (8, '0');
SELECT * FROM f ORDER BY a;
DROP INDEX f_a;
INSERT INTO f VALUES ('-0', 2);
CREATE UNIQUE INDEX f_a ON f USING fptree (a);

-- partial and expression
CREATE TABLE pe (a int, b int);
CREATE UNIQUE INDEX pe_p ON pe USING fptree (a) WHERE b > 0;
CREATE UNIQUE INDEX pe_e ON pe USING fptree ((a + b));
INSERT INTO pe VALUES (1, 0), (1, -1), (1, 1);
INSERT INTO pe VALUES (1, 2);
INSERT INTO pe VALUES (0, 2);
UPDATE pe SET b = 5 WHERE b = 0;

-- many duplicates dead and alive around one key
CREATE TABLE m (a int, b int);
SET fptree.debug_node_lines = '1,1';
CREATE UNIQUE INDEX m_a ON m USING fptree (a);
RESET fptree.debug_node_lines;
INSERT INTO m SELECT i, 0 FROM generate_series(1, 200) i;
DO $$
BEGIN
	FOR i IN 1 .. 300 LOOP
		DELETE FROM m WHERE a = 100;
		INSERT INTO m VALUES (100, i);
		IF i % 3 = 0 THEN
			COMMIT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM m WHERE a = 100;
INSERT INTO m VALUES (100, 1000);
DELETE FROM m WHERE a = 100;
INSERT INTO m VALUES (100, 1001);
INSERT INTO m VALUES (100, 1002);

-- ON CONFLICT, without and with an arbiter
TRUNCATE u;
INSERT INTO u SELECT i, 'old' FROM generate_series(1, 5) i;
INSERT INTO u VALUES (5, 'new'), (6, 'new') ON CONFLICT DO NOTHING;
INSERT INTO u VALUES (6, 'newer'), (7, 'newer'), (7, 'newest') ON CONFLICT (a) DO NOTHING;
INSERT INTO u VALUES (1, 'up'), (8, 'up')
	ON CONFLICT (a) DO UPDATE SET b = u.b || ' and ' || excluded.b;
INSERT INTO u VALUES (2, 'up'), (3, 'up')
	ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE u.a = 3 RETURNING *;
INSERT INTO u VALUES (9, 'x'), (9, 'y') ON CONFLICT (a) DO UPDATE SET b = 'twice';
INSERT INTO u VALUES (NULL, 'n'), (NULL, 'n') ON CONFLICT (a) DO UPDATE SET b = 'never';
INSERT INTO u VALUES (1, 'x') ON CONFLICT (b) DO NOTHING;
SELECT * FROM u ORDER BY a, b;
EXPLAIN (COSTS OFF) INSERT INTO u VALUES (1, 'x')
	ON CONFLICT (a) DO UPDATE SET b = excluded.b;
-- by the name of a constraint one needs a constraint
INSERT INTO u VALUES (1, 'x') ON CONFLICT ON CONSTRAINT u_a DO NOTHING;
-- partial and expression arbiters
TRUNCATE pe;
INSERT INTO pe VALUES (1, 1), (2, 2);
INSERT INTO pe VALUES (1, 5) ON CONFLICT (a) WHERE b > 0 DO UPDATE SET b = 50;
INSERT INTO pe VALUES (2, 2) ON CONFLICT ((a + b)) DO UPDATE SET b = 60;
INSERT INTO pe VALUES (1, 7) ON CONFLICT (a) DO NOTHING;
SELECT * FROM pe ORDER BY a, b;
-- a btree arbiter beside a unique fptree index, prepared and in a function
CREATE TABLE mix (a int PRIMARY KEY, b int);
CREATE UNIQUE INDEX mix_b ON mix USING fptree (b);
INSERT INTO mix VALUES (1, 1), (2, 2);
INSERT INTO mix VALUES (1, 10) ON CONFLICT (a) DO UPDATE SET b = excluded.b;
INSERT INTO mix VALUES (3, 10) ON CONFLICT (a) DO NOTHING;
INSERT INTO mix VALUES (3, 10) ON CONFLICT (b) DO UPDATE SET a = 30;
INSERT INTO mix VALUES (2, 10) ON CONFLICT DO NOTHING;
PREPARE ins(int, int) AS INSERT INTO mix VALUES ($1, $2)
	ON CONFLICT (b) DO UPDATE SET a = mix.a + 100;
EXECUTE ins(4, 4);
EXECUTE ins(5, 4);
EXECUTE ins(6, 4);
WITH w AS (INSERT INTO mix VALUES (7, 2) ON CONFLICT (b) DO UPDATE SET a = 70 RETURNING *)
	SELECT * FROM w;
SELECT * FROM mix ORDER BY a;
-- updatable views and INSERT ... SELECT with many conflicts
CREATE VIEW v AS SELECT a, b FROM mix WHERE a > 0;
INSERT INTO v VALUES (8, 2) ON CONFLICT (b) DO UPDATE SET a = 71;
INSERT INTO mix SELECT i + 1000, i % 50 FROM generate_series(1, 500) i
	ON CONFLICT (b) DO UPDATE SET a = mix.a WHERE false;
SELECT count(*), count(DISTINCT b) FROM mix;
-- a leaf partition with a unique index of its own
CREATE TABLE pt (a int, b int) PARTITION BY LIST (b);
CREATE TABLE pt1 PARTITION OF pt FOR VALUES IN (1);
CREATE UNIQUE INDEX pt1_a ON pt1 USING fptree (a);
INSERT INTO pt VALUES (1, 1);
INSERT INTO pt VALUES (1, 1);
INSERT INTO pt1 VALUES (1, 1) ON CONFLICT (a) DO NOTHING;
INSERT INTO pt1 VALUES (1, 1) ON CONFLICT DO NOTHING;

-- MERGE
MERGE INTO mix USING (VALUES (71, 5), (9999, 9999)) s(a, b) ON mix.a = s.a
	WHEN MATCHED THEN UPDATE SET b = 5000
	WHEN NOT MATCHED THEN INSERT VALUES (s.a, s.b);
SELECT * FROM mix WHERE b > 1000 ORDER BY a;

-- Exclusion constraints, at once and deferred
CREATE TABLE ex (a int, b date,
	CONSTRAINT ex_a EXCLUDE USING fptree (a WITH =),
	CONSTRAINT ex_b EXCLUDE USING fptree (b WITH =) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO ex VALUES (1, '2000-01-01'), (2, '2000-01-02'), (NULL, NULL), (NULL, NULL);
INSERT INTO ex VALUES (1, '2000-01-03');
INSERT INTO ex VALUES (1, '2000-01-03') ON CONFLICT DO NOTHING;
INSERT INTO ex VALUES (1, '2000-01-03') ON CONFLICT ON CONSTRAINT ex_a DO NOTHING;
BEGIN;
INSERT INTO ex VALUES (3, '2000-01-01');
UPDATE ex SET b = '1999-01-01' WHERE a = 1;
COMMIT;
INSERT INTO ex VALUES (4, '2000-01-01');
BEGIN;
INSERT INTO ex VALUES (5, '2000-01-01');
SET CONSTRAINTS ex_b IMMEDIATE;
ROLLBACK;
UPDATE ex SET b = b + 1 WHERE b > '2000-01-01' OR a = 3;
SELECT * FROM ex ORDER BY a, b;
CREATE TABLE ex2 (a int);
INSERT INTO ex2 VALUES (1), (2), (1);
ALTER TABLE ex2 ADD EXCLUDE USING fptree (a WITH =);
DELETE FROM ex2 WHERE ctid = '(0,3)';
ALTER TABLE ex2 ADD EXCLUDE USING fptree (a WITH =) WITH (fillfactor = 70) WHERE (a > 1);
INSERT INTO ex2 VALUES (1), (1);
INSERT INTO ex2 VALUES (2);
-- other operators than equality
DO $$
BEGIN
	CREATE TABLE ex3 (a int, EXCLUDE USING fptree (a WITH <));
EXCEPTION WHEN wrong_object_type THEN
	RAISE WARNING '%', sqlerrm;		-- of which 19 knows the position
END $$;

-- Rows whose values are stored elsewhere: each is fetched once to be searched
-- for, and once for the entry and for the row, not at each comparison; and it is
-- their value that is looked for.
CREATE TABLE far (id int, a text);
ALTER TABLE far ALTER a SET STORAGE EXTERNAL;
CREATE TABLE near (id int, a text);
CREATE UNIQUE INDEX near_a ON near USING fptree (a);
INSERT INTO far SELECT i, 'https://example.org/' || repeat(md5(i::text), 70) FROM generate_series(1, 50) i;
INSERT INTO near SELECT i, 'https://example.org/' || repeat(md5((i + 100)::text), 70) FROM generate_series(1, 2000) i;
SET track_counts = on;
CREATE FUNCTION far_fetches() RETURNS bigint LANGUAGE sql AS $$
	SELECT idx_scan FROM pg_stat_xact_all_tables
	WHERE relid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'far'::regclass)
$$;
BEGIN;
INSERT INTO near SELECT id, a FROM far ON CONFLICT DO NOTHING;
SELECT far_fetches() BETWEEN 50 AND 50 * 4;
COMMIT;
CREATE UNIQUE INDEX near_c ON near USING fptree (a COLLATE "C");
SET statement_timeout = '1min';
INSERT INTO near SELECT id, a FROM far ON CONFLICT DO NOTHING;
DROP INDEX near_a;
INSERT INTO near SELECT id, a FROM far ON CONFLICT DO NOTHING;
RESET statement_timeout;
SELECT count(*) FROM near;
ALTER TABLE far ADD EXCLUDE USING fptree (a COLLATE "C" WITH =) DEFERRABLE INITIALLY DEFERRED;
\set VERBOSITY terse
BEGIN;
UPDATE far SET a = (SELECT f.a FROM far f WHERE f.id = 2) WHERE id = 1;
SET CONSTRAINTS ALL IMMEDIATE;
ROLLBACK;
\set VERBOSITY default
DROP FUNCTION far_fetches;
DROP TABLE far, near;

SELECT fpt_check_all();

--
-- The functions that check an index, and what a unique index is to them.
--

--
-- fptree_index_check() and fptree_index_parent_check()
--
-- Where all indexes are striped, errors say which stripe it was.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fptree;
RESET client_min_messages;

-- Everything there is to check, for one index.
CREATE FUNCTION chk_full(index regclass) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fptree_index_check(index);
	PERFORM fptree_index_check(index, true, true);
	PERFORM fptree_index_parent_check(index);
	PERFORM fptree_index_parent_check(index, true, true, true);
	RETURN 'ok';
END $$;

-- An empty index: one page
CREATE TABLE chk (id int4, a int4, b int8, f float8, u uuid, ts timestamptz);
CREATE INDEX chk_a ON chk USING fptree (a);
SELECT chk_full('chk_a');

-- A few rows, then many, NULLs and duplicates among them
INSERT INTO chk VALUES (1, 1, 1, 1, NULL, NULL), (2, NULL, 2, 'NaN', NULL, NULL);
SELECT chk_full('chk_a');
INSERT INTO chk
	SELECT i, CASE WHEN i % 50 <> 0 THEN i * 7919 % 20011 END, i::int8 << 20,
		   CASE i % 100 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN'
						WHEN 3 THEN 'inf' ELSE 'inf'::float8 END,
		   md5(i::text)::uuid, '2000-01-01'::timestamptz + i * interval '1 min'
	FROM generate_series(3, 20000) i;
SELECT chk_full('chk_a');

-- Built indexes of all key sizes and orders
CREATE INDEX chk_a_desc ON chk USING fptree (a DESC);
CREATE INDEX chk_a_nf ON chk USING fptree (a NULLS FIRST);
CREATE INDEX chk_b ON chk USING fptree (b DESC NULLS LAST);
CREATE INDEX chk_f ON chk USING fptree (f);
CREATE INDEX chk_f_desc ON chk USING fptree (f DESC);
CREATE INDEX chk_u ON chk USING fptree (u) WITH (fillfactor = 50);
CREATE INDEX chk_ts ON chk USING fptree (ts);
CREATE INDEX chk_part ON chk USING fptree (a) WHERE b % 3 = 0;
CREATE INDEX chk_expr ON chk USING fptree ((a / 3));
CREATE UNIQUE INDEX chk_id ON chk USING fptree (id);
SELECT c.relname, chk_full(c.oid)
	FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
	WHERE i.indrelid = 'chk'::regclass ORDER BY 1;

-- Deletions, before and after VACUUM, and use of what became free
DELETE FROM chk WHERE id BETWEEN 1000 AND 17000 AND id % 97 <> 0;
UPDATE chk SET a = a + 1, u = md5(id::text || 'x')::uuid WHERE id % 3 = 0;
SELECT c.relname, chk_full(c.oid)
	FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
	WHERE i.indrelid = 'chk'::regclass ORDER BY 1;
VACUUM (INDEX_CLEANUP ON) chk;
SELECT c.relname, chk_full(c.oid)
	FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
	WHERE i.indrelid = 'chk'::regclass ORDER BY 1;
INSERT INTO chk
	SELECT i, i % 1000, i, i, md5(i::text)::uuid, now()
	FROM generate_series(30000, 36000) i;
SELECT c.relname, chk_full(c.oid)
	FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
	WHERE i.indrelid = 'chk'::regclass ORDER BY 1;

-- Unlogged and temporary tables
CREATE UNLOGGED TABLE chk_unlogged AS SELECT i FROM generate_series(1, 3000) i;
CREATE INDEX chk_unlogged_i ON chk_unlogged USING fptree (i);
SELECT chk_full('chk_unlogged_i');
CREATE TEMP TABLE chk_temp AS SELECT i FROM generate_series(1, 3000) i;
CREATE INDEX chk_temp_i ON chk_temp USING fptree (i);
SELECT chk_full('chk_temp_i');

-- A transaction's own changes, and a snapshot older than others' changes
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM chk;
INSERT INTO chk (id, a) SELECT i, i FROM generate_series(50000, 50100) i;
SELECT chk_full('chk_a'), chk_full('chk_id');
ROLLBACK;

-- Strictness
SELECT fptree_index_check(NULL) IS NULL, fptree_index_check('chk_a', NULL) IS NULL,
	fptree_index_parent_check('chk_a', true, NULL) IS NULL;

-- heapallindexed: an expression that changed its mind leaves rows without
-- entries
CREATE FUNCTION chk_liar(int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN RETURN $1 + current_setting('chk.lie')::int4; END $$;
SET chk.lie = 0;
CREATE TABLE chk_heap AS SELECT i FROM generate_series(1, 2000) i;
CREATE INDEX chk_heap_i ON chk_heap USING fptree (chk_liar(i));
SELECT chk_full('chk_heap_i');
SET chk.lie = 3;
SELECT fptree_index_check('chk_heap_i');
SELECT fptree_index_parent_check('chk_heap_i', rootdescend => true);
SELECT fptree_index_check('chk_heap_i', true);
-- What the parent check of everything says, wherever the page is
CREATE FUNCTION chk_fails(index regclass, OUT said text, OUT detail text)
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fptree_index_parent_check(index, heapallindexed => true);
EXCEPTION WHEN index_corrupted THEN
	GET STACKED DIAGNOSTICS said = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	said := regexp_replace(said, 'page \d+', 'page N');
END $$;
SELECT * FROM chk_fails('chk_heap_i');
SET chk.lie = 0;
SELECT chk_full('chk_heap_i');

-- ... and a predicate that did so leaves entries without rows, which only the
-- check that keeps writers off can tell from those of dead rows
CREATE FUNCTION chk_waverer(int4) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN RETURN $1 > current_setting('chk.lie')::int4; END $$;
CREATE INDEX chk_heap_p ON chk_heap USING fptree (i)
	WHERE chk_waverer(i);
DELETE FROM chk_heap WHERE i % 3 = 0;
SELECT chk_full('chk_heap_p');
SET chk.lie = 4;
SELECT fptree_index_check('chk_heap_p', true);
SELECT fptree_index_parent_check('chk_heap_p', false, true);
SELECT * FROM chk_fails('chk_heap_p');
SET chk.lie = 0;
SELECT chk_full('chk_heap_p');

-- checkunique: let duplicates in behind the index's back
CREATE TABLE chk_dup (i int4, f float8, pad int4) WITH (fillfactor = 50);
INSERT INTO chk_dup SELECT i, i, 0 FROM generate_series(1, 500) i;
CREATE UNIQUE INDEX chk_dup_i ON chk_dup USING fptree (i);
CREATE UNIQUE INDEX chk_dup_f ON chk_dup USING fptree (f DESC);
UPDATE pg_index SET indisunique = false WHERE indrelid = 'chk_dup'::regclass;
-- only one version of each of these rows is alive ...
UPDATE chk_dup SET i = i WHERE i = 7;
DELETE FROM chk_dup WHERE i = 8;
INSERT INTO chk_dup VALUES (8, -0.0, 0), (NULL, NULL, 0), (NULL, NULL, 0);
UPDATE chk_dup SET pad = pad + 1 WHERE i = 8;
BEGIN;
INSERT INTO chk_dup VALUES (9, 9, 0);
ROLLBACK;
UPDATE pg_index SET indisunique = true WHERE indrelid = 'chk_dup'::regclass;
SELECT chk_full('chk_dup_i'), chk_full('chk_dup_f');
-- ... and now two
UPDATE pg_index SET indisunique = false WHERE indrelid = 'chk_dup'::regclass;
INSERT INTO chk_dup VALUES (1000, 0.0, 0);
UPDATE pg_index SET indisunique = true WHERE indrelid = 'chk_dup'::regclass;
SELECT chk_full('chk_dup_i');
SELECT fptree_index_check('chk_dup_f');
\set VERBOSITY terse
SELECT fptree_index_check('chk_dup_f', checkunique => true);
SELECT fptree_index_parent_check('chk_dup_f', checkunique => true);
UPDATE pg_index SET indnullsnotdistinct = true
	WHERE indexrelid = 'chk_dup_i'::regclass;
SELECT fptree_index_check('chk_dup_i', checkunique => true);
\set VERBOSITY default
DROP TABLE chk_dup;

-- Relations that cannot be checked
CREATE INDEX chk_btree ON chk USING btree (a);
SELECT fptree_index_check('chk_btree');
SELECT fptree_index_check('chk');
SELECT fptree_index_parent_check('chk');
SELECT fptree_index_check(0);
DROP INDEX chk_btree;
CREATE TABLE chk_ptab (i int4) PARTITION BY RANGE (i);
CREATE TABLE chk_ptab1 PARTITION OF chk_ptab FOR VALUES FROM (0) TO (10);
CREATE INDEX chk_ptab_i ON chk_ptab USING fptree (i);
SELECT fptree_index_check('chk_ptab_i');
SELECT chk_full('chk_ptab1_i_idx');
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'chk_b'::regclass;
SELECT fptree_index_check('chk_b');
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'chk_b'::regclass;

-- Privileges, and whose rights index expressions run with
CREATE ROLE regress_fpt_owner;
CREATE ROLE regress_fpt_checker;
CREATE FUNCTION chk_who(int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_user <> 'regress_fpt_owner' THEN
		RAISE EXCEPTION 'run by the wrong user';
	END IF;
	RETURN $1;
END $$;
CREATE TABLE chk_owned (i int4);
INSERT INTO chk_owned SELECT i FROM generate_series(1, 10) i;
ALTER TABLE chk_owned OWNER TO regress_fpt_owner;
CREATE INDEX chk_owned_i ON chk_owned USING fptree (chk_who(i));
SELECT chk_full('chk_owned_i');
SELECT current_user = session_user;
SET ROLE regress_fpt_checker;
SELECT fptree_index_check('chk_owned_i');
SELECT fptree_index_parent_check('chk_owned_i');
RESET ROLE;
GRANT EXECUTE ON FUNCTION fptree_index_check(regclass, boolean, boolean)
	TO regress_fpt_checker;
SET ROLE regress_fpt_checker;
SELECT fptree_index_check('chk_owned_i', true);
RESET ROLE;
REVOKE EXECUTE ON FUNCTION fptree_index_check(regclass, boolean, boolean)
	FROM regress_fpt_checker;
DROP TABLE chk_owned;
DROP FUNCTION chk_who(int4);
DROP ROLE regress_fpt_owner;
DROP ROLE regress_fpt_checker;

DROP TABLE chk, chk_unlogged, chk_temp, chk_heap, chk_ptab;
DROP FUNCTION chk_fails(regclass);
DROP FUNCTION chk_liar(int4);
DROP FUNCTION chk_waverer(int4);
DROP FUNCTION chk_full(regclass);
\set SHOW_CONTEXT errors

\c -
--
-- NULLs in unique indexes: what two rows of the same values are to an insertion,
-- to CREATE INDEX and to both checking functions.  btree is the measure.
--
CREATE SCHEMA fpt_checkunique;
SET search_path = fpt_checkunique, public;

CREATE TABLE f (a int, b text COLLATE "C", c int) WITH (parallel_workers = 2);
CREATE TABLE r (a int, b text COLLATE "C", c int);

-- What a statement says of duplicates
CREATE FUNCTION says(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'fine';
EXCEPTION WHEN unique_violation OR index_corrupted THEN
	RETURN 'duplicate';
END $$;

-- Two rows with NULLs in some columns and an index of either access method.  A
-- second row that the index refuses gets in while it is not said to be unique,
-- and so it must be reported by both checks.
CREATE FUNCTION two_rows(index text, nulls int, OUT want text, OUT got text)
LANGUAGE plpgsql AS $$
DECLARE
	vals text := format('VALUES (%s, %s, %s)',
						CASE WHEN nulls & 1 = 0 THEN '7' ELSE 'NULL' END,
						CASE WHEN nulls & 2 = 0 THEN quote_literal(repeat('x', 50)) ELSE 'NULL' END,
						CASE WHEN nulls & 4 = 0 THEN '4' ELSE 'NULL' END);
	again text;
BEGIN
	TRUNCATE f, r;
	EXECUTE format('CREATE UNIQUE INDEX f_i ON f USING fptree ' || index);
	EXECUTE format('CREATE UNIQUE INDEX r_i ON r USING btree ' || index);
	EXECUTE 'INSERT INTO f ' || vals;
	EXECUTE 'INSERT INTO r ' || vals;
	want := says('INSERT INTO r ' || vals);
	again := says('INSERT INTO f ' || vals);
	IF again = 'duplicate' THEN
		UPDATE pg_index SET indisunique = false WHERE indexrelid = 'f_i'::regclass;
		EXECUTE 'INSERT INTO f ' || vals;
		UPDATE pg_index SET indisunique = true WHERE indexrelid = 'f_i'::regclass;
	END IF;
	got := concat_ws(' ', again,
		says('SELECT fptree_index_check(''f_i'')'),
		says('SELECT fptree_index_check(''f_i'', true, true)'),
		says('SELECT fptree_index_parent_check(''f_i'', true, true, false)'),
		says('SELECT fptree_index_parent_check(''f_i'', true, true, true)'));
	DROP INDEX f_i, r_i;
	got := got || ' ' || says('CREATE UNIQUE INDEX f_i ON f USING fptree ' || index);
	DROP INDEX IF EXISTS f_i;
	want := concat_ws(' ', want, 'fine', want, 'fine', want, want);
END $$;

-- all combinations of NULLs; "NULLs 110": in c and b
CREATE FUNCTION combinations(index text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	nulls int;
	r record;
	n int := 0;
	dups int := 0;
	bad text := '';
BEGIN
	FOR nulls IN 0 .. 7 LOOP
		r := two_rows(index, nulls);
		n := n + 1;
		dups := dups + (r.want LIKE 'duplicate%')::int;
		IF r.got <> r.want THEN
			bad := bad || format(E'\nNULLs %s: %s, should be %s', nulls::bit(3), r.got, r.want);
		END IF;
	END LOOP;
	RETURN format('%s of %s are duplicates%s', dups, n, bad);
END $$;

CREATE TABLE indexes (no serial, columns text, rest text);
INSERT INTO indexes (columns, rest) VALUES
	('(a)', ''),
	('(b)', ''),
	('(a, c)', ''),
	('(a, b)', ''),
	('(b, a)', ''),
	('(a, c, b)', ''),
	('(a DESC NULLS LAST, c NULLS FIRST)', ''),
	('(a, c) INCLUDE (b)', ''),
	('(a) INCLUDE (b, c)', ''),
	('(b) INCLUDE (a)', ''),
	('(a, b)', 'WHERE c > 0'),
	('(a, c)', 'WHERE b IS NULL'),
	('((a + c), b)', ''),
	('((b || a), (c / 2))', ''),
	('(lower(b))', 'WHERE a IS NOT NULL');
SET client_min_messages = warning;
SET max_parallel_maintenance_workers = 0;
SELECT columns, rest, combinations(format('%s %s', columns, rest)) AS "distinct",
	combinations(format('%s NULLS NOT DISTINCT %s', columns, rest)) AS "not distinct"
FROM indexes ORDER BY no;

-- the same of parallel builds
SET max_parallel_maintenance_workers = 1;
SELECT columns, combinations(columns) AS "distinct",
	combinations(columns || ' NULLS NOT DISTINCT') AS "not distinct"
FROM indexes WHERE columns IN ('(a)', '(b, a)') AND rest = '' ORDER BY no;
RESET max_parallel_maintenance_workers;

-- many groups of NULLs between others, over many leaves
CREATE TABLE m (a int, b int, c text);
INSERT INTO m SELECT i / 4, CASE WHEN i % 4 > 1 THEN i END, CASE WHEN i % 4 <> 1 THEN repeat('y', 30) END
	FROM generate_series(1, 8000) i;
CREATE UNIQUE INDEX m_ab ON m USING fptree (a, b) INCLUDE (c);
CREATE UNIQUE INDEX m_cba ON m USING fptree (c, b DESC, a) WHERE a > 5;
INSERT INTO m SELECT a, b, c FROM m WHERE b IS NULL;
SELECT fptree_index_check(i, true, true), fptree_index_parent_check(i, true, true, true)
	FROM (VALUES ('m_ab'::regclass), ('m_cba')) v(i);
-- one pair that is a duplicate, among them
UPDATE pg_index SET indisunique = false WHERE indrelid = 'm'::regclass;
INSERT INTO m SELECT a, b, NULL FROM m WHERE b = 4002;
UPDATE pg_index SET indisunique = true WHERE indrelid = 'm'::regclass;
\set VERBOSITY sqlstate
SELECT fptree_index_check('m_ab', true, true);
SELECT fptree_index_parent_check('m_ab', true, true, true);
\set VERBOSITY default
SELECT fptree_index_parent_check('m_cba', true, true, true);
DELETE FROM m WHERE b = 4002 AND c IS NULL;
SELECT fptree_index_parent_check('m_ab', true, true, true);

-- a number that a function and a tuple have in Datums that differ
CREATE TABLE o (a int8, b text);
INSERT INTO o VALUES (3000000000, 'x'), (4294967295, 'y'), (5, 'z');
CREATE INDEX o_ab ON o USING fptree ((a::oid), b);
SELECT fptree_index_check('o_ab', true), fptree_index_parent_check('o_ab', true);

DROP TABLE f, r, indexes;
SELECT fpt_check_all();

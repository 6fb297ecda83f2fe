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

DROP TABLE f, r, indexes;
SELECT fpt_check_all();

--
-- What is refused, and what is said then.
--
CREATE SCHEMA fpt_errors;
SET search_path = fpt_errors, public;

CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE t (a int, b int, c text, d numeric, e varchar(10), f interval,
	g mood, h int[], i inet, j bytea, k name, l timetz, m int4range, n jsonb,
	o bit(8), p tid, q point, r bpchar, s text COLLATE "C");

-- a type without an order
CREATE INDEX ON t USING fptree (q);
-- more than 32 columns
SELECT 'CREATE INDEX ON t USING fptree (' || string_agg('(a + ' || g || ')', ', ') || ')' AS cmd
FROM generate_series(1, 33) g \gset
:cmd;
-- values that are too wide, when they come and when they are there
CREATE FUNCTION refused(cmd text, OUT said text)
LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE cmd;
	said := 'not refused';
EXCEPTION WHEN program_limit_exceeded THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT;
	said := concat_ws(E'\n', fpt_too_wide(sqlerrm, 90 * 32), detail, hint);
END $$;
CREATE FUNCTION digits(n int) RETURNS text LANGUAGE sql AS
	$$ SELECT string_agg(md5(g::text), '') FROM generate_series(1, fpt_scale(n)) g $$;
CREATE TABLE wide (id int, v text COLLATE "C", w text COLLATE "C");
CREATE INDEX wide_v ON wide USING fptree (v);
INSERT INTO wide VALUES (1, repeat('x', 20000), 'small');
INSERT INTO wide SELECT 2, left(digits(78), 7800), '';
SELECT refused('INSERT INTO wide SELECT 2, digits(90), ''''');
-- what an index tuple cannot hold, whatever the pages can
SELECT refused(format('INSERT INTO wide VALUES (2, left(digits(%s), 9000), '''')', 300 * 8192 / fpt_scale(8192)))
	LIKE 'index row size % exceeds fptree maximum % for index "wide_v"%' AS refused;
INSERT INTO wide SELECT 3, 'small', digits(90);
SELECT refused('CREATE INDEX wide_w ON wide USING fptree (id, w)');
SELECT refused('CREATE INDEX wide_w ON wide USING fptree (id) INCLUDE (w)');
SELECT id, CASE id WHEN 2 THEN length(v) = least(fpt_scale(78 * 32), 7800) END AS whole
FROM wide ORDER BY id;
DROP TABLE wide;
-- byte order and another equality do not go together
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE nd (a text COLLATE ignore_case, b char(5) COLLATE ignore_case);
CREATE INDEX ON nd USING fptree (a text_pattern_ops);
CREATE INDEX ON nd USING fptree (a varchar_pattern_ops);
CREATE INDEX ON nd USING fptree (a, b bpchar_pattern_ops);
CREATE INDEX ON nd USING fptree (a text_pattern_ops, b COLLATE "C" bpchar_pattern_ops);
CREATE INDEX ON nd USING fptree (a COLLATE "C" text_pattern_ops, b);
DROP TABLE nd;
-- operator classes
CREATE INDEX ON t USING fptree (a int8_ops);
CREATE INDEX ON t USING fptree (a nonesuch_ops);
-- reloptions
CREATE INDEX ON t USING fptree (a) WITH (fillfactor = 5);
CREATE INDEX ON t USING fptree (a) WITH (fillfactor = 101);
CREATE INDEX ON t USING fptree (a) WITH (fillfactor = 'full');
CREATE INDEX ON t USING fptree (a) WITH (deduplicate_items = off);
CREATE INDEX ON t USING fptree (a) WITH (nonesuch);
CREATE INDEX ON t USING fptree (a) WITH (node_lines = 1);
CREATE INDEX t_a ON t USING fptree (a) WITH (fillfactor = 10);
ALTER INDEX t_a SET (fillfactor = 1);
ALTER INDEX t_a SET (fillfactor = 20);
SELECT reloptions FROM pg_class WHERE oid = 't_a'::regclass;
DROP INDEX t_a;
-- widths of nodes
SET fptree.debug_node_lines = '-1,0';
SET fptree.debug_node_lines = '33,0';
SET fptree.debug_node_lines = '0,33';
SET fptree.debug_node_lines = '1,99999999999999999999';
SET fptree.debug_node_lines = '1';
SET fptree.debug_node_lines = '1,';
SET fptree.debug_node_lines = '1 2';
SET fptree.debug_node_lines = '1,2,3';
SET fptree.debug_node_lines = 'narrow';
SHOW fptree.debug_node_lines;
SET fptree.debug_node_lines = '1,1';
CREATE TABLE uu (u uuid);
CREATE INDEX uu_u ON uu USING fptree (u);
RESET fptree.debug_node_lines;
DROP TABLE uu;
-- constraints core makes of btree indexes only
CREATE TABLE pk (a int, PRIMARY KEY (a) USING fptree);
CREATE UNIQUE INDEX t_u ON t USING fptree (a);
CREATE TABLE part (a int) PARTITION BY LIST (a);

-- functions on what is not an fptree index
CREATE INDEX t_btree ON t (a);
SELECT fptree_index_check('t_btree', true, true);
SELECT fptree_index_check('t', true, true);
SELECT fptree_index_parent_check('part', true, true, true);
CREATE TABLE part2 (a int) PARTITION BY LIST (a);
CREATE INDEX part2_a ON part2 USING fptree (a);
SELECT fptree_index_check('part2_a', false, false);

-- who is not a superuser checks nothing
CREATE ROLE fpt_nobody;
GRANT USAGE ON SCHEMA fpt_errors TO fpt_nobody;
SET ROLE fpt_nobody;
SELECT fptree_index_check('t_u', true, true);
SELECT fptree_index_parent_check('t_u', true, true, true);
RESET ROLE;
REVOKE USAGE ON SCHEMA fpt_errors FROM fpt_nobody;
DROP ROLE fpt_nobody;

-- an error in the middle of an insert or of a build leaves nothing behind
CREATE TABLE r (a int);
CREATE INDEX r_a ON r USING fptree ((1000 / (a - 500)));
INSERT INTO r SELECT generate_series(1, 1000);
INSERT INTO r SELECT generate_series(1, 499);
DROP INDEX r_a;
INSERT INTO r VALUES (500);
CREATE INDEX r_a ON r USING fptree ((1000 / (a - 500)));
SET statement_timeout = '100ms';
INSERT INTO r SELECT generate_series(501, 50000000);
RESET statement_timeout;
TRUNCATE r;
CREATE INDEX r_a ON r USING fptree (a);
INSERT INTO r VALUES (1);

SELECT fpt_check_all();

--
-- What a user of btree takes for granted: 32 columns, options of operator classes,
-- values out of line, skipped columns, plans over partitions, proofs of uniqueness.
--
CREATE SCHEMA fpt_parity_f;
CREATE SCHEMA fpt_parity_b;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;

-- As many columns as there may be, half of them descending
SELECT 'CREATE TABLE fpt_parity_f.wide (' || string_agg(format('c%s %s', i,
		(ARRAY['int', 'text', 'numeric', 'timestamptz'])[i % 4 + 1]), ', ') || ')'
FROM generate_series(1, 32) i \gexec
SELECT 'CREATE INDEX wide_all ON fpt_parity_f.wide USING fptree (' || string_agg(format('c%s %s', i,
		CASE WHEN i % 2 = 0 THEN 'DESC' END), ', ') || ')' FROM generate_series(1, 32) i \gexec
SELECT 'INSERT INTO fpt_parity_f.wide SELECT ' || string_agg(format(CASE i % 4
		WHEN 0 THEN 'x %% %s' WHEN 1 THEN '''t'' || x %% %s' WHEN 2 THEN 'x %% %s / 2.0'
		ELSE '''2020-01-01''::timestamptz + x %% %s * ''1 day''::interval' END, i), ', ')
	|| ' FROM generate_series(1, 2000) x' FROM generate_series(1, 32) i \gexec
VACUUM ANALYZE fpt_parity_f.wide;
SET search_path = fpt_parity_f, public;
SELECT * FROM fpt_compare(ARRAY[
	'SELECT c1, c4, c32 FROM wide WHERE c4 = 3 AND c32 = 15',
	'SELECT c1, c2 FROM wide WHERE c32 = 31 AND c28 < 20',
	'SELECT c31 FROM wide WHERE c1 = ''t0'' AND c2 = 0.5 AND c4 IN (1, 3) AND c31 > ''2020-01-20''']);
RESET search_path;
SELECT fptree_index_parent_check('fpt_parity_f.wide_all', true, true);

-- Options of an operator class.  Its comparison function need not look at them.
CREATE OPERATOR CLASS fpt_parity_f.options_ops FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 btint4cmp(int4, int4), FUNCTION 5 (int4) gtsvector_options(internal);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'options_ops';
CREATE TABLE fpt_parity_f.o AS SELECT i AS a, i % 7 AS b FROM generate_series(1, 500) i;
CREATE INDEX o_a ON fpt_parity_f.o USING fptree (a fpt_parity_f.options_ops (siglen = 100));
CREATE INDEX o_ba ON fpt_parity_f.o USING fptree (b, a fpt_parity_f.options_ops (siglen = 10));
CREATE INDEX o_bad ON fpt_parity_f.o USING fptree (a fpt_parity_f.options_ops (length = 100));
CREATE INDEX o_none ON fpt_parity_f.o USING fptree (a (siglen = 100));
SELECT pg_get_indexdef('fpt_parity_f.o_ba'::regclass);
SELECT attname, attoptions FROM pg_attribute WHERE attrelid = 'fpt_parity_f.o_ba'::regclass ORDER BY attnum;
SELECT * FROM fpt_compare(ARRAY['SELECT a FROM fpt_parity_f.o WHERE a > 490',
	'SELECT a, b FROM fpt_parity_f.o WHERE b = 3 AND a < 100']);

-- Values that the table keeps compressed, or out of line
CREATE TABLE fpt_parity_f.long (a text, b bytea, c text);
ALTER TABLE fpt_parity_f.long ALTER a SET STORAGE EXTERNAL;
INSERT INTO fpt_parity_f.long
	SELECT i || repeat('x', least(fpt_scale(2000), 6000)),
		   decode(repeat(lpad(to_hex(i), 4, '0'), fpt_scale(20000)), 'hex'),
		   (SELECT string_agg(md5((i * 100 + j)::text), '')
			FROM generate_series(1, least(fpt_scale(78), 240)) j)
	FROM generate_series(1, 100) i;
CREATE INDEX long_ab ON fpt_parity_f.long USING fptree (a COLLATE "C", b);
CREATE INDEX long_b ON fpt_parity_f.long USING fptree (b) INCLUDE (a);
CREATE INDEX long_c ON fpt_parity_f.long USING fptree (c);
INSERT INTO fpt_parity_f.long SELECT * FROM fpt_parity_f.long;
VACUUM ANALYZE fpt_parity_f.long;
SELECT * FROM fpt_compare(ARRAY['SELECT a, b FROM fpt_parity_f.long WHERE a COLLATE "C" > ''50''',
	'SELECT a, b FROM fpt_parity_f.long WHERE b < decode(''0040'', ''hex'')',
	'SELECT c FROM fpt_parity_f.long WHERE c > ''8''']);
SELECT fptree_index_parent_check(x, true, true)
FROM unnest('{fpt_parity_f.long_ab, fpt_parity_f.long_b, fpt_parity_f.long_c}'::regclass[]) x;

-- A column in front without quals is skipped: ten values have ten ranges.
CREATE TABLE fpt_parity_f.s AS SELECT i % 10 AS a, i / 10 AS b, i / 10 % 3 AS c FROM generate_series(1, 200000) i;
CREATE INDEX s_ab ON fpt_parity_f.s USING fptree (a, b);
CREATE INDEX s_cab ON fpt_parity_f.s USING fptree (c, a DESC, b);
VACUUM ANALYZE fpt_parity_f.s;
CREATE FUNCTION fpt_parity_f.buffers(query text, ix regclass, OUT used text, OUT pages int, OUT part text)
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	line json;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	line := plan->0->'Plan';
	WHILE line->>'Index Name' IS NULL LOOP
		line := line->'Plans'->0;
	END LOOP;
	used := line->>'Index Name';
	pages := (line->>'Shared Hit Blocks')::int + (line->>'Shared Read Blocks')::int;
	part := CASE WHEN pages < fpt_pages(ix) / 3 THEN 'few' ELSE 'many' END;
END $$;
SELECT query, used, part FROM (VALUES
	('SELECT count(*) FROM fpt_parity_f.s WHERE b = 77', 's_ab'),
	('SELECT count(*) FROM fpt_parity_f.s WHERE b BETWEEN 70 AND 72', 's_ab'),
	('SELECT count(*) FROM fpt_parity_f.s WHERE b IN (7, 4000)', 's_ab'),
	('SELECT count(*) FROM fpt_parity_f.s WHERE c = 1 AND b = 10000', 's_cab'),
	('SELECT count(*) FROM fpt_parity_f.s WHERE a > 3', 's_ab')) v (query, ix),
	fpt_parity_f.buffers(query, ('fpt_parity_f.' || ix)::regclass);
-- The planner knows: without further ado, and where there are few values only
ALTER TABLE fpt_parity_f.s ADD d int;
UPDATE fpt_parity_f.s SET d = b * 7 % 20011;
CREATE INDEX s_da ON fpt_parity_f.s USING fptree (d, a);
DROP INDEX fpt_parity_f.s_cab;
VACUUM ANALYZE fpt_parity_f.s;
SET search_path = fpt_parity_f, public;
EXPLAIN (COSTS OFF) SELECT b FROM s WHERE b = 77;
EXPLAIN (COSTS OFF) SELECT b FROM s WHERE a BETWEEN 3 AND 5 AND b IN (77, 78);
EXPLAIN (COSTS OFF) SELECT a, b FROM s WHERE b = 77 ORDER BY a, b;
EXPLAIN (COSTS OFF) SELECT count(*) FROM generate_series(1, 50) g, s WHERE s.b = g;
EXPLAIN (COSTS OFF) SELECT * FROM s WHERE a = 3;
EXPLAIN (COSTS OFF) SELECT count(d) FROM s WHERE b > 1000;
SELECT * FROM fpt_compare(ARRAY['SELECT b FROM s WHERE b = 77',
	'SELECT a, b FROM s WHERE a BETWEEN 3 AND 5 AND b IN (77, 78)',
	'SELECT a FROM s WHERE a = 3 AND d > 19000']);
RESET search_path;

-- Plans over partitions
CREATE PROCEDURE fpt_parts(am text, name text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'fpt_parity_' || name || ', public', false);
	CREATE TABLE p (a int, b int) PARTITION BY RANGE (a);
	CREATE TABLE q (a int, b int) PARTITION BY RANGE (a);
	FOR i IN 0..2 LOOP
		EXECUTE format('CREATE TABLE p%s PARTITION OF p FOR VALUES FROM (%s) TO (%s)', i, i * 10000, (i + 1) * 10000);
		EXECUTE format('CREATE TABLE q%s PARTITION OF q FOR VALUES FROM (%s) TO (%s)', i, i * 10000, (i + 1) * 10000);
	END LOOP;
	INSERT INTO p SELECT i, i % 100 FROM generate_series(0, 29999) i;
	INSERT INTO q SELECT i, i % 10 FROM generate_series(0, 29999, 3) i;
	EXECUTE format('CREATE INDEX p_a ON p USING %s (a)', am);
	EXECUTE format('CREATE INDEX p_ba ON p USING %s (b, a)', am);
	EXECUTE format('CREATE INDEX q_a ON q USING %s (a)', am);
	CREATE TABLE u AS SELECT i AS a, i AS b FROM generate_series(1, 5000) i;
	EXECUTE format('CREATE UNIQUE INDEX u_ab ON u USING %s (a, b)', am);
	EXECUTE format('CREATE UNIQUE INDEX u_b ON u USING %s (b) WHERE a > 100', am);
END $$;
CALL fpt_parts('fptree', 'f');
CALL fpt_parts('btree', 'b');
RESET search_path;
VACUUM ANALYZE fpt_parity_f.p, fpt_parity_f.q, fpt_parity_f.u, fpt_parity_b.p, fpt_parity_b.q, fpt_parity_b.u;
SET enable_partitionwise_join = on;
SET enable_partitionwise_aggregate = on;
SELECT fpt_plan('SELECT * FROM p ORDER BY a LIMIT 5', 'fpt_parity');
SELECT fpt_plan('SELECT * FROM p WHERE a > 9990 AND a < 10010 ORDER BY a DESC', 'fpt_parity');
SELECT fpt_plan('SELECT min(a), max(a) FROM p', 'fpt_parity');
SELECT fpt_plan('SELECT p.a FROM p JOIN q USING (a) WHERE p.b = 7', 'fpt_parity');
SELECT fpt_plan('SELECT p.a FROM p JOIN q USING (a) WHERE q.a IN (3, 12000)', 'fpt_parity');
SET enable_hashjoin = off;
SET enable_sort = off;
SELECT fpt_plan('SELECT p.a, count(*) FROM p JOIN q USING (a) GROUP BY p.a ORDER BY p.a', 'fpt_parity');
RESET enable_hashjoin;
RESET enable_sort;
SELECT fpt_plan('SELECT b, max(a) FROM p WHERE b < 3 GROUP BY b ORDER BY b', 'fpt_parity');
SELECT fpt_plan('SELECT DISTINCT a FROM p WHERE a < 100', 'fpt_parity');
SELECT fpt_plan('SELECT b, a FROM p WHERE b = 3 ORDER BY b, a, random() LIMIT 5', 'fpt_parity');
RESET enable_partitionwise_join;
RESET enable_partitionwise_aggregate;

-- What is known to be unique
CREATE FUNCTION fpt_parity_f.inner_unique(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan text := '';
	line text;
	s text;
BEGIN
	FOREACH s IN ARRAY '{fpt_parity_f, fpt_parity_b}'::text[] LOOP
		PERFORM set_config('search_path', s || ', public', true);
		FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
			plan := plan || COALESCE(substring(line FROM 'Inner Unique: (.*)') || ' ', '');
			IF line ~ 'Join|Nested|Scan' AND line !~ ' on ' THEN
				plan := plan || trim(line, ' ->') || ' ';
			END IF;
		END LOOP;
		plan := plan || '| ';
	END LOOP;
	RETURN plan;
END $$;
SELECT q, fpt_parity_f.inner_unique(q) AS "fptree, btree" FROM unnest(ARRAY[
	'SELECT * FROM p JOIN u ON u.a = p.a AND u.b = p.b',
	'SELECT * FROM p JOIN u ON u.a = p.a AND u.b = 7',
	'SELECT * FROM p JOIN u ON u.a = p.a',
	'SELECT * FROM p JOIN u ON u.b = p.a AND u.a > 100',
	'SELECT * FROM p JOIN u ON u.b = p.a',
	'SELECT p.* FROM p LEFT JOIN u ON u.a = p.a AND u.b = p.b',
	'SELECT p.* FROM p LEFT JOIN u ON u.a = p.a::int8 AND u.b = p.b']) q;

SELECT fpt_check_all();

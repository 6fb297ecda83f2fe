--
-- The planner treats an fptree index as it treats a btree index: the same plans
-- on twin tables, one with fptree and one with btree indexes.
--
CREATE SCHEMA fpt_plans_f;
CREATE SCHEMA fpt_plans_b;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET effective_io_concurrency = 1;	-- no longer the default from 18 on
SET fptree.cost_readahead = off;	-- a striped index has more than one disk

CREATE TABLE fpt_plans_f.t AS
	SELECT i AS a, (i * 7919) % 20000 AS b,
		   CASE WHEN i % 10 <> 0 THEN i % 1000 END AS c, repeat('x', 20) AS d
	FROM generate_series(1, 20000) i;
CREATE TABLE fpt_plans_f.u AS
	SELECT i AS a, (i * 7919) % 20000 AS b FROM generate_series(1, 20000, 10) i;
CREATE TABLE fpt_plans_b.t AS TABLE fpt_plans_f.t;
CREATE TABLE fpt_plans_b.u AS TABLE fpt_plans_f.u;

CREATE INDEX t_a ON fpt_plans_f.t USING fptree (a);
CREATE INDEX t_b ON fpt_plans_f.t USING fptree (b DESC);
CREATE INDEX t_c ON fpt_plans_f.t USING fptree (c NULLS FIRST);
CREATE UNIQUE INDEX u_a ON fpt_plans_f.u USING fptree (a);
CREATE INDEX u_b ON fpt_plans_f.u USING fptree (b) WHERE b > 100;
CREATE INDEX u_e ON fpt_plans_f.u USING fptree ((a + b));
CREATE INDEX t_a ON fpt_plans_b.t USING btree (a);
CREATE INDEX t_b ON fpt_plans_b.t USING btree (b DESC);
CREATE INDEX t_c ON fpt_plans_b.t USING btree (c NULLS FIRST);
CREATE UNIQUE INDEX u_a ON fpt_plans_b.u USING btree (a);
CREATE INDEX u_b ON fpt_plans_b.u USING btree (b) WHERE b > 100;
CREATE INDEX u_e ON fpt_plans_b.u USING btree ((a + b));
VACUUM ANALYZE fpt_plans_f.t, fpt_plans_f.u, fpt_plans_b.t, fpt_plans_b.u;


-- Point lookups, ranges, index-only scans
SELECT fpt_plan('SELECT * FROM t WHERE a = 42');
SELECT fpt_plan('SELECT * FROM t WHERE a > 19990 AND a <= 20000');
SELECT fpt_plan('SELECT a FROM t WHERE a BETWEEN 100 AND 300');
SELECT fpt_plan('SELECT count(*) FROM t WHERE b < 500');
SELECT fpt_plan('SELECT * FROM t WHERE a = 42::int8');
SELECT fpt_plan('SELECT * FROM t WHERE a IN (1, 5, 9)');
SELECT fpt_plan('SELECT a FROM t WHERE a = ANY (''{9,5,1}'') ORDER BY a');

-- A large part of the table is not read through the index, half of it is
-- through a bitmap.
SELECT fpt_plan('SELECT * FROM t WHERE a > 10');
SELECT fpt_plan('SELECT * FROM t WHERE c < 20');
SELECT fpt_plan('SELECT * FROM t WHERE b < 50 OR a < 50');

-- NULLs
SELECT fpt_plan('SELECT count(*) FROM t WHERE c IS NULL');
-- (a smaller index than btree's may be worth more than the table)
SET enable_seqscan = off;
SELECT fpt_plan('SELECT c FROM t WHERE c IS NOT NULL ORDER BY c LIMIT 5');
SELECT fpt_plan('SELECT c FROM t ORDER BY c NULLS FIRST LIMIT 5');
SELECT fpt_plan('SELECT c FROM t ORDER BY c DESC NULLS LAST LIMIT 5');
SELECT fpt_plan('SELECT c FROM t ORDER BY c NULLS LAST LIMIT 5');
RESET enable_seqscan;

-- Order
SELECT fpt_plan('SELECT * FROM t ORDER BY a LIMIT 3');
SELECT fpt_plan('SELECT * FROM t ORDER BY a DESC LIMIT 3');
SELECT fpt_plan('SELECT * FROM t ORDER BY b DESC LIMIT 3');
SELECT fpt_plan('SELECT * FROM t ORDER BY b LIMIT 3');
SELECT fpt_plan('SELECT * FROM t ORDER BY a, d LIMIT 3');
SELECT fpt_plan('SELECT min(a), max(a), min(b), max(c) FROM t');
SELECT fpt_plan('SELECT DISTINCT ON (a) a FROM t WHERE a < 50 ORDER BY a');
SELECT fpt_plan('SELECT a, count(*) FROM t WHERE a < 500 GROUP BY a ORDER BY a');

-- Joins
SELECT fpt_plan('SELECT * FROM u JOIN t USING (a) WHERE u.b < 200 AND u.b > 100');
SELECT fpt_plan('SELECT count(*) FROM generate_series(1::int8, 9) g, t WHERE t.a = g');
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_sort = off;
SELECT fpt_plan('SELECT t.a, t.b FROM t JOIN u USING (a)');
SELECT fpt_plan('SELECT count(*) FROM t t1 JOIN t t2 ON t1.a = t2.b');
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_sort;

-- Uniqueness: joins removed and inner sides known to be unique
SELECT fpt_plan('SELECT t.a FROM t LEFT JOIN u ON t.a = u.a WHERE t.a < 5');
-- (a merge join costs about the same, and less with a smaller index)
SET enable_mergejoin = off;
SELECT fpt_plan('SELECT count(*) FROM t WHERE a < 1000 AND EXISTS
	(SELECT 1 FROM u WHERE u.a = t.a)');
RESET enable_mergejoin;

-- Partial and expression indexes
SELECT fpt_plan('SELECT count(*) FROM u WHERE b > 19000');
SELECT fpt_plan('SELECT count(*) FROM u WHERE b < 20');
SELECT fpt_plan('SELECT * FROM u WHERE a + b = 500');
SELECT fpt_plan('SELECT a + b FROM u ORDER BY a + b LIMIT 3');

-- Prepared statements with parameters
CREATE FUNCTION fpt_plan_generic(q text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
	SET search_path = fpt_plans_f, public;
	EXECUTE 'PREPARE p(int) AS ' || q;
	RETURN QUERY SELECT * FROM fpt_plan('EXECUTE p(7)');
	DEALLOCATE p;
	RESET search_path;
END $$;
SET plan_cache_mode = force_generic_plan;
SELECT fpt_plan_generic('SELECT * FROM t WHERE a = $1');
SELECT fpt_plan_generic('SELECT * FROM t WHERE a >= $1 AND a < $1 + 10 ORDER BY a');
RESET plan_cache_mode;

-- Read-ahead makes a long scan of leaves cheaper: what the estimate of the whole
-- scan is less by, in pages of the index at random_page_cost - seq_page_cost.
CREATE FUNCTION fpt_total_cost(query text) RETURNS numeric
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan->0->'Plan'->>'Total Cost';
END $$;
CREATE FUNCTION fpt_credit(query text) RETURNS numeric
LANGUAGE plpgsql AS $$
DECLARE
	without numeric;
	credit numeric;
BEGIN
	PERFORM set_config('fptree.cost_readahead', 'off', false);
	without := fpt_total_cost(query);
	PERFORM set_config('fptree.cost_readahead', 'on', false);
	credit := without - fpt_total_cost(query);
	RETURN round(credit / 3, 1);
END $$;
SET search_path = fpt_plans_f, public;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
-- Some versions count the metapage.
SET effective_io_concurrency = 128;
SELECT fpt_credit('SELECT a FROM t') AS most, fpt_pages('t_a') - 5 AS pages \gset
-- PostgreSQL 15's default is one page at a time, for which there is nothing.
SET effective_io_concurrency = 1;
SELECT fpt_credit('SELECT a FROM t');
SET effective_io_concurrency = 0;
SELECT fpt_credit('SELECT a FROM t');
SET effective_io_concurrency = 2;
SELECT fpt_credit('SELECT a FROM t') = round(:most * 2 / 3.0, 1) AS half_price;
SET effective_io_concurrency = 128;
SELECT :most BETWEEN :pages AND :pages + 1 AS as_sequential;
SELECT fpt_credit('SELECT * FROM t ORDER BY a') = :most AS as_sequential;
SELECT fpt_credit('SELECT a FROM t WHERE a > 10000') BETWEEN :most / 2 - 3 AND :most / 2 AS half;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT fpt_credit('SELECT * FROM t WHERE a > 10000') BETWEEN :most / 2 - 3 AND :most / 2 AS half;
RESET enable_indexscan;
SET enable_bitmapscan = off;
-- No shorter than a few leaves, not for arrays, not on the inner side of a join
SELECT fpt_credit('SELECT a FROM t WHERE a < 1000'),
	fpt_credit('SELECT a FROM t WHERE a = 77'),
	fpt_credit('SELECT a FROM t WHERE a = ANY (ARRAY(SELECT generate_series(1, 9999)))');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT fpt_credit('SELECT t.a FROM generate_series(1, 9) g, t WHERE t.a > g');
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
-- What the setting has to say
SET fptree.leaf_prefetch = off;
SELECT fpt_credit('SELECT a FROM t');
RESET fptree.leaf_prefetch;
SET fptree.prefetch_distance = 1;
SELECT fpt_credit('SELECT a FROM t');
RESET fptree.prefetch_distance;
SET random_page_cost = 1;
SELECT fpt_credit('SELECT a FROM t');
RESET random_page_cost;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- Other plans than before only near the point where a sequential scan wins.
SELECT fpt_plan('SELECT a FROM t WHERE a BETWEEN 1000 AND 3000');
SELECT fpt_plan('SELECT * FROM t WHERE a BETWEEN 1000 AND 3000');
SELECT fpt_plan('SELECT * FROM t WHERE b < 1000');
CREATE TABLE fpt_plans_f.keys AS
	SELECT i * 1234567891011 AS a FROM generate_series(1, 30000) i;
CREATE INDEX keys_a ON fpt_plans_f.keys USING fptree (a);
VACUUM ANALYZE fpt_plans_f.keys;
EXPLAIN (COSTS OFF) SELECT a FROM keys WHERE a < 23500 * 1234567891011;
SET fptree.enable_count = on;
SELECT fpt_settings('SELECT a FROM keys WHERE a < 23500 * 1234567891011');
SET fptree.cost_readahead = off;
EXPLAIN (COSTS OFF) SELECT a FROM keys WHERE a < 23500 * 1234567891011;
SELECT fpt_settings('SELECT a FROM keys WHERE a < 23500 * 1234567891011');
RESET fptree.cost_readahead;
RESET fptree.enable_count;
SET effective_io_concurrency = 1;
RESET search_path;
-- Several columns, other types: what the planner knows of btree's families
CREATE TABLE fpt_plans_f.m AS
	SELECT i AS a, i % 100 AS b, i % 2 = 0 AS f, md5(i::text) COLLATE "C" AS s,
		   ('10.' || i % 50 || '.' || i % 199 || '.1')::inet AS ip
	FROM generate_series(1, 20000) i;
CREATE TABLE fpt_plans_b.m AS TABLE fpt_plans_f.m;
CREATE UNIQUE INDEX m_ba ON fpt_plans_f.m USING fptree (b, a DESC) INCLUDE (f);
CREATE INDEX m_fb ON fpt_plans_f.m USING fptree (f, b);
CREATE INDEX m_s ON fpt_plans_f.m USING fptree (s);
CREATE INDEX m_ip ON fpt_plans_f.m USING fptree (ip);
CREATE UNIQUE INDEX m_ba ON fpt_plans_b.m USING btree (b, a DESC) INCLUDE (f);
CREATE INDEX m_fb ON fpt_plans_b.m USING btree (f, b);
CREATE INDEX m_s ON fpt_plans_b.m USING btree (s);
CREATE INDEX m_ip ON fpt_plans_b.m USING btree (ip);
VACUUM ANALYZE fpt_plans_f.m, fpt_plans_b.m;
SELECT fpt_plan('SELECT a, f FROM m WHERE b = 7 AND a < 100');
SELECT fpt_plan('SELECT * FROM m WHERE b = 7 ORDER BY a DESC LIMIT 3');
SELECT fpt_plan('SELECT * FROM m WHERE b = 7 ORDER BY b DESC, a LIMIT 3');
SELECT fpt_plan('SELECT * FROM m WHERE b IN (7, 9) AND a IN (107, 209)');
SELECT fpt_plan('SELECT * FROM m ORDER BY b, a LIMIT 3');
SELECT fpt_plan('SELECT f, b FROM m WHERE f AND b = 4 ORDER BY b LIMIT 5');
SELECT fpt_plan('SELECT * FROM m WHERE NOT f AND b = 5 ORDER BY f, b LIMIT 5');
SELECT fpt_plan('SELECT * FROM m WHERE s LIKE ''abc%''');
SELECT fpt_plan('SELECT * FROM m WHERE s ~ ''^abcd''');
SELECT fpt_plan('SELECT * FROM m WHERE s = ''x''::name');
SELECT fpt_plan('SELECT * FROM m WHERE ip << ''10.7.0.0/20''');
SELECT fpt_plan('SELECT t.* FROM t LEFT JOIN m ON m.b = t.b AND m.a = t.c WHERE t.a < 5');
SELECT fpt_plan('SELECT min(s), max(s) FROM m');
SELECT fpt_plan('SELECT max(a) FROM m WHERE b = 3');
SELECT * FROM fpt_compare(ARRAY[
	$$SELECT a FROM fpt_plans_f.m WHERE s LIKE 'abc%'$$,
	$$SELECT a FROM fpt_plans_f.m WHERE s ~ '^ab.*7'$$,
	$$SELECT a FROM fpt_plans_f.m WHERE f AND b = 4$$,
	$$SELECT a FROM fpt_plans_f.m WHERE NOT f AND b = 5$$,
	$$SELECT a FROM fpt_plans_f.m WHERE ip << inet '10.7.0.0/20'$$,
	$$SELECT a FROM fpt_plans_f.m WHERE s = name '0cc175b9c0f1b6a831c399e269772661'$$
	], '{index,bitmap}');

-- Statistics that are out of date: the planner looks at the present minimum and
-- maximum in the index.
CREATE PROCEDURE fpt_grow(am text) LANGUAGE plpgsql AS $$
DECLARE
	grow text := 'INSERT INTO g SELECT i, to_char(i, ''000000''), '
		'''2020-01-01''::timestamptz + i * ''1 s''::interval, to_char(i, ''000000'') '
		'FROM generate_series(%s, %s) i';
BEGIN
	EXECUTE format('CREATE SCHEMA fpt_grow_%s', am);
	PERFORM set_config('search_path', format('fpt_grow_%s, public', am), false);
	CREATE TABLE g (a int, b text COLLATE "C", c timestamptz, n name) WITH (autovacuum_enabled = off);
	EXECUTE format(grow, 1001, 5000);
	EXECUTE format('CREATE INDEX g_a ON g USING %s (a)', am);
	EXECUTE format('CREATE INDEX g_ba ON g USING %s (b, a)', am);
	EXECUTE format('CREATE INDEX g_c ON g USING %s (c DESC)', am);
	EXECUTE format('CREATE INDEX g_n ON g USING %s (n, a)', am);
	EXECUTE format('CREATE INDEX g_x ON g USING %s ((a / 2))', am);
	ANALYZE g;
	EXECUTE format(grow, 5001, 20000);
	EXECUTE format(grow, 1, 1000);
	INSERT INTO g VALUES (30000, '9', '2030-01-01', '9');
	DELETE FROM g WHERE a = 30000;
	INSERT INTO g VALUES (NULL, NULL, NULL, NULL);
	RESET search_path;
END $$;
CALL fpt_grow('btree');
CALL fpt_grow('fptree');
-- Estimates: many where the statistics would say that there is nothing
CREATE FUNCTION fpt_rows(query text, am text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	PERFORM set_config('search_path', format('fpt_grow_%s, public', am), false);
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RESET search_path;
	RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
SELECT q, CASE WHEN f = b THEN 'as with btree' ELSE f || ', not ' || b END AS rows,
	   CASE WHEN f < 100 THEN 'few' ELSE 'many' END AS are
FROM unnest(ARRAY['a > 4000', 'a > 6000', 'a > 19000', 'a > 25000', 'a < 900',
		'b > '' 015000''', 'c > ''2020-01-01 03:00''',
		'c < ''2020-01-01 00:10''', 'n > '' 010000''', 'a / 2 > 5000']) q,
	 fpt_rows('SELECT * FROM g WHERE ' || q, 'fptree') f,
	 fpt_rows('SELECT * FROM g WHERE ' || q, 'btree') b;
SELECT fpt_rows(q, 'fptree') = fpt_rows(q, 'btree') AS same
FROM (VALUES ('SELECT * FROM g g1 JOIN g g2 USING (a) WHERE g2.a > 15000')) v (q);
-- Nothing else takes the entry that makes it so for an index.
SET search_path = fpt_grow_fptree, public;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM g;
EXPLAIN (COSTS OFF) SELECT a FROM g ORDER BY a LIMIT 1;
EXPLAIN (COSTS OFF) SELECT g1.a FROM g g1 LEFT JOIN g g2 USING (a);
RESET enable_seqscan;
RESET search_path;
DROP SCHEMA fpt_grow_btree CASCADE;

-- A family of a user's that lacks what btree's has: nothing is assumed of it
CREATE OPERATOR CLASS int4_alone_ops FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 btint4cmp(int4, int4);
CREATE INDEX m_alone ON fpt_plans_f.m USING fptree (a int4_alone_ops);
EXPLAIN (COSTS OFF) SELECT * FROM fpt_plans_f.m WHERE a = 5;
EXPLAIN (COSTS OFF) SELECT * FROM fpt_plans_f.m WHERE a = 5::int8;
DROP OPERATOR FAMILY int4_alone_ops USING fptree CASCADE;

-- An index of one leaf has as many pages and levels as a btree, and costs as
-- much.
CREATE TABLE small AS SELECT i AS a FROM generate_series(1, 300) i;
CREATE FUNCTION small_cost(am text, OUT pages int8, OUT cost numeric) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE format('CREATE INDEX small_a ON small USING %s (a)', am);
	pages := pg_relation_size('small_a') / current_setting('block_size')::int;
	EXECUTE 'EXPLAIN (FORMAT JSON) SELECT * FROM small WHERE a BETWEEN 5 AND 20' INTO plan;
	cost := plan->0->'Plan'->>'Total Cost';
	DROP INDEX small_a;
END $$;
VACUUM ANALYZE small;
SELECT f.pages, f.pages = b.pages AS as_many, f.cost = b.cost AS same
FROM small_cost('fptree') f, small_cost('btree') b;

-- Parallel scans
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
SET enable_seqscan = off;
SELECT fpt_plan('SELECT sum(length(d)) FROM t WHERE b < 10000 AND a % 3 = 1');
SELECT sum(length(d)) FROM fpt_plans_f.t WHERE b < 10000 AND a % 3 = 1;
SELECT sum(length(d)) FROM fpt_plans_b.t WHERE b < 10000 AND a % 3 = 1;

SELECT fpt_check_all();

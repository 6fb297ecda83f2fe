--
-- What the planner is told of fptree indexes can be switched off, thing by thing.
--
CREATE SCHEMA fpt_plan_settings;
SET search_path = fpt_plan_settings, public;

CREATE TABLE t (a int, b int, i inet);
INSERT INTO t SELECT i, i % 100, '10.0.0.0'::inet + i FROM generate_series(1, 2000) i;
CREATE INDEX t_ab ON t USING fptree (a, b);
CREATE INDEX t_i ON t USING fptree (i);
ANALYZE t;

-- Is the query's condition one of the index?
CREATE FUNCTION index_cond(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Index Cond' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$;

-- What the planner says of it: 'Plan Rows', 'Total Cost'.
CREATE FUNCTION estimate(query text, what text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan->0->'Plan'->>what;
END $$;

-- Core does some of it for any ordered index from 18 on.
CREATE FUNCTION core18() RETURNS bool LANGUAGE sql AS $$
	SELECT current_setting('server_version_num')::int >= 180000 $$;

-- costs beyond all bounds, less what read-ahead hides, are no less than nothing
CREATE TABLE far AS SELECT i AS a FROM generate_series(1, 50000) i;
CREATE INDEX far_a ON far USING fptree (a);
ANALYZE far;
SET effective_io_concurrency = 16;
SET random_page_cost = 1e308;
SELECT count(*) FROM far WHERE a > 0 AND a < 30000;
RESET random_page_cost;
RESET effective_io_concurrency;

SET enable_seqscan = off;
SELECT name, setting FROM pg_settings WHERE name LIKE 'fptree.plan%' ORDER BY 1;

-- rules about families: inet
SELECT index_cond($$SELECT * FROM t WHERE i <<= '10.0.1.0/28'$$);
SET fptree.plan_families = off;
SELECT index_cond($$SELECT * FROM t WHERE i <<= '10.0.1.0/28'$$) = core18() AS by_core_only;
RESET fptree.plan_families;

-- what skipping a leading column costs
CREATE TABLE s AS SELECT i % 5 AS g, i AS v FROM generate_series(1, 50000) i;
CREATE INDEX s_gv ON s USING fptree (g, v);
ANALYZE s;
SET fptree.cost_readahead = off;	-- a striped index has more than one disk
CREATE TABLE costs AS SELECT estimate('SELECT FROM s WHERE v = 7', 'Total Cost') AS known;
SET fptree.plan_costs = off;
SELECT (estimate('SELECT FROM s WHERE v = 7', 'Total Cost') > 10 * known) <> core18() AS by_core_only FROM costs;
RESET fptree.plan_costs;
RESET fptree.cost_readahead;

-- row comparisons
SELECT index_cond($$SELECT * FROM t WHERE (a, b) > (1990, 2)$$);
SET fptree.plan_rows = off;
SELECT index_cond($$SELECT * FROM t WHERE (a, b) > (1990, 2)$$);
RESET fptree.plan_rows;

-- extremes beyond the statistics
INSERT INTO t SELECT i, 0, NULL FROM generate_series(2001, 4000) i;
SELECT estimate('SELECT FROM t WHERE a > 2000', 'Plan Rows') > 10 AS known;
SET fptree.plan_extremes = off;
SELECT (estimate('SELECT FROM t WHERE a > 2000', 'Plan Rows') > 10) = core18() AS by_core_only;
RESET fptree.plan_extremes;

RESET enable_seqscan;
RESET search_path;
SELECT fpt_check_all();

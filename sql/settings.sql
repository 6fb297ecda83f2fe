--
-- Settings, of the library and of the planner, and hooks of other extensions.
--

--
-- All variants of the search kernels give the same answers; widths of nodes.
--
CREATE SCHEMA fpt_guc;
SET search_path = fpt_guc, public;
SET client_min_messages = warning;

LOAD 'fptree';
SHOW fptree.simd;
\set VERBOSITY terse
SET fptree.simd = 'nonesuch';
\set VERBOSITY default
SHOW fptree.simd;

-- A variant the processor lacks is refused; that is no failure here.
CREATE FUNCTION try_simd(variant text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('fptree.simd', variant, false);
EXCEPTION WHEN OTHERS THEN
	PERFORM set_config('fptree.simd', 'auto', false);
END $$;

CREATE FUNCTION run(variant text) RETURNS text
LANGUAGE plpgsql SET fptree.debug_node_lines = '2,3' AS $$
DECLARE
	typ text;
	r record;
	tab text;
	bad text := '';
	digest text := '';
BEGIN
	PERFORM try_simd(variant);
	FOREACH typ IN ARRAY '{int2,int4,int8,uuid}'::text[] LOOP
		tab := 'v_' || typ;
		EXECUTE format('CREATE TABLE %s (a %s)', tab, typ);
		EXECUTE format('CREATE INDEX %s_a ON %s USING fptree (a) '
					   'WITH (fillfactor = 80)', tab, tab);
		EXECUTE format('INSERT INTO %s SELECT %s FROM generate_series(1, 1200) i', tab,
			CASE typ WHEN 'uuid' THEN 'md5(i::text)::uuid'
					 WHEN 'int2' THEN '(i * 7919 % 32768 - 16384)::int2'
					 WHEN 'int8' THEN 'hashint8extended(i, 0) >> (i % 48)'
					 ELSE 'hashint4(i) >> (i % 20)' END);
		EXECUTE format('DELETE FROM %s WHERE hashtext(a::text) %% 3 = 0', tab);
		r := fpt_compare(ARRAY[
			format('SELECT a FROM %s ORDER BY a', tab),
			format('SELECT a FROM %s WHERE a > %s', tab,
				   CASE typ WHEN 'uuid' THEN '''77777777-7777-7777-7777-777777777777'''
							ELSE '777' END),
			format('SELECT x.a FROM %s x JOIN LATERAL (SELECT a FROM %s y '
				   'WHERE y.a = x.a OFFSET 0) z ON true', tab, tab)], '{index}');
		bad := bad || r.problems;
		PERFORM fptree_index_parent_check((tab || '_a')::regclass, true, true, true);
		digest := digest || fpt_digest(format('SELECT a FROM %s ORDER BY a', tab), 'index');
		EXECUTE format('DROP TABLE %s', tab);
	END LOOP;
	RETURN md5(digest) || bad;
END $$;

CREATE FUNCTION runs() RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	v text;
BEGIN
	FOREACH v IN ARRAY '{auto,scalar,sse2,avx2,avx512,neon}'::text[] LOOP
		RETURN NEXT run(v);
	END LOOP;
END $$;
SELECT DISTINCT * FROM runs();

-- A tree written by one variant is read by the others.
CREATE TABLE t (a int8);
SET fptree.debug_node_lines = '1,2';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 80);
RESET fptree.debug_node_lines;
SELECT try_simd('scalar');
INSERT INTO t SELECT hashint8extended(i, 0) FROM generate_series(1, 3000) i;
SELECT try_simd('avx2');
INSERT INTO t SELECT hashint8extended(i, 1) FROM generate_series(1, 3000) i;
SELECT fpt_check_all();
SELECT try_simd('avx512');
INSERT INTO t SELECT hashint8extended(i, 2) FROM generate_series(1, 3000) i;
SELECT fpt_check_all();
SELECT * FROM fpt_compare('{SELECT a FROM t ORDER BY a,
	SELECT a FROM t WHERE a > 77}');
SELECT try_simd('scalar');
SELECT * FROM fpt_compare('{SELECT a FROM t ORDER BY a,
	SELECT a FROM t WHERE a > 77}');
SELECT fpt_check_all();
RESET fptree.simd;

-- Widths of nodes: of the files that are made while they are set, and of those
-- to the end.
CREATE FUNCTION lines(ix regclass) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(DISTINCT s.node_lines || ',' || s.leaf_node_lines, ' ')
	FROM fpt_page_numbers(ix) page, fptree_page_stats(ix::text, page) s
	WHERE s.level = 0
$$;
CREATE TABLE n (a int8, b text);
CREATE INDEX n_a ON n USING fptree (a);
CREATE INDEX n_b ON n USING fptree (b COLLATE "C");
INSERT INTO n SELECT hashint4(i), i FROM generate_series(1, 3000) i;
SELECT lines('n_a') !~ '\y2,3\y' AS usual;
SET fptree.debug_node_lines = ' 2 , 3 ';
SHOW fptree.debug_node_lines;
INSERT INTO n SELECT hashint4(i), i FROM generate_series(3001, 9000) i;
SELECT lines('n_a') !~ '\y2,3\y' AS usual;
REINDEX TABLE n;
SELECT lines('n_a'), lines('n_b');
RESET fptree.debug_node_lines;
INSERT INTO n SELECT -hashint4(i), -i FROM generate_series(1, 3000) i;
SELECT lines('n_a'), lines('n_b');
REINDEX TABLE n;
SELECT lines('n_a') !~ '\y2,3\y' AS usual;
BEGIN;
SET LOCAL fptree.debug_node_lines = '0,1';
TRUNCATE n;
INSERT INTO n SELECT hashint4(i), i FROM generate_series(1, 3000) i;
SELECT lines('n_a') ~ '^(\d+,1 ?)+$' AS narrow;
COMMIT;
SHOW fptree.debug_node_lines;
-- a rewrite; an unlogged index, whose init fork has widths as well
SET fptree.debug_node_lines = '2,3';
ALTER TABLE n SET UNLOGGED;
SELECT lines('n_a');
VACUUM FULL n;
SELECT lines('n_a');
SET fptree.debug_node_lines = '';
CLUSTER n USING n_a;
SELECT lines('n_a') !~ '\y2,3\y' AS usual;

-- What was set before the library is there to look at it
SELECT context, vartype, boot_val, category FROM pg_settings WHERE name = 'fptree.debug_node_lines';
\c -
SET client_min_messages = warning;
SET search_path = fpt_guc, public;
SET fptree.debug_node_lines = '2,3';
REINDEX INDEX n_a;
SELECT lines('n_a');
\c -
SET client_min_messages = warning;
SET search_path = fpt_guc, public;
SET fptree.debug_node_lines = '2,three';
REINDEX INDEX n_a;
SHOW fptree.debug_node_lines;
SELECT lines('n_a') !~ '\y2,3\y' AS usual;
SELECT fpt_check_all();

\c -
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

\c -
--
-- Another extension's hook frees what the planner knows of a table's indexes, and
-- makes all paths anew: it is obeyed, whether its library was loaded before
-- fptree's or after it, and row comparisons are the conditions that they are
-- without it.
--
CREATE SCHEMA fpt_hooks;
CREATE TABLE fpt_hooks.f AS
	SELECT i / 10 AS a, (i * 7919) % 1000 AS b, i % 7 AS c FROM generate_series(1, 20000) i;
CREATE TABLE fpt_hooks.b AS TABLE fpt_hooks.f;
CREATE INDEX f_ab ON fpt_hooks.f USING fptree (a, b);
CREATE INDEX f_ba ON fpt_hooks.f USING fptree (b, a);
CREATE INDEX f_cb ON fpt_hooks.f USING fptree (c, b);
CREATE INDEX b_ab ON fpt_hooks.b (a, b);
CREATE INDEX b_ba ON fpt_hooks.b (b, a);
CREATE INDEX b_cb ON fpt_hooks.b (c, b);
VACUUM ANALYZE fpt_hooks.f, fpt_hooks.b;

-- How a query is answered under a hint: the scan, whether its index has a condition
-- (what row comparisons are beyond that is not the same on all versions), and the
-- rows.  In both "%" is the table, and its indexes are named after it.
CREATE FUNCTION fpt_hooks.hinted(query text, hint text, tab text, OUT scan text, OUT answer text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	cond text = '';
BEGIN
	query := replace(query, '%', 'fpt_hooks.' || tab);
	PERFORM set_config('fptree_hints.scan', split_part(hint, ' ', 1), true),
		set_config('fptree_hints.index', replace(split_part(hint, ' ', 2), '%', tab), true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		scan := coalesce(scan, substring(line FROM '(?:Seq|Tid|Index|Index Only|Bitmap Heap) Scan'));
		scan := scan || coalesce(substring(line FROM ' (?:using|on) .(_\w*)'), '');
		IF line ~ 'Index Cond' THEN
			cond := ' by a condition';
		END IF;
	END LOOP;
	scan := scan || cond;
	EXECUTE 'SELECT md5(string_agg(x::text, '' '' ORDER BY x)) FROM (' || query || ') x' INTO answer;
END $$;

-- All of them, and where the table with btree indexes is not read in the same way.
CREATE FUNCTION fpt_hooks.all_hinted(OUT hint text, OUT query text, OUT scan text, OUT differs text)
	RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	ours record;
	theirs record;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT * FROM % WHERE (a, b) > (1990, 3)',
		'SELECT a FROM % WHERE (a, b) > (1990, 3) ORDER BY a',
		'SELECT * FROM % WHERE (b, a) < (3, 100) AND c = 3',
		'SELECT a, b FROM % WHERE a > 1990 OR (a = 1990 AND b > 3) ORDER BY a, b',
		'SELECT * FROM % WHERE a = 7'] LOOP
		FOREACH hint IN ARRAY '{none, seq, tid, index, index %_ab, index %_ba, index %_none, bitmap, bitmap %_ab, no_index, no_bitmap}'::text[] LOOP
			theirs := fpt_hooks.hinted(query, hint, 'b');
			ours := fpt_hooks.hinted(query, hint, 'f');
			scan := ours.scan;
			differs := CASE WHEN ours.answer <> theirs.answer THEN 'WRONG ANSWER'
				WHEN scan <> theirs.scan THEN theirs.scan END;
			RETURN NEXT;
		END LOOP;
	END LOOP;
END $$;

\getenv builddir PG_ABS_BUILDDIR
\set hints :builddir '/test/module/fptree_hints'
-- theirs first, so that ours calls it
\c -
LOAD :'hints';
LOAD 'fptree';
SET max_parallel_workers_per_gather = 0;
SELECT * FROM fpt_hooks.all_hinted();
-- ours first
\c -
LOAD 'fptree';
LOAD :'hints';
SET max_parallel_workers_per_gather = 0;
SELECT * FROM fpt_hooks.all_hinted();
-- what the query says already is no condition twice, nor a filter
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE FUNCTION fpt_hooks.times(what text, query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
	n int = 0;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		n := n + (SELECT count(*) FROM regexp_matches(line, what, 'g'));
	END LOOP;
	RETURN n;
END $$;
SELECT fpt_hooks.times('a >= 1990', 'SELECT * FROM fpt_hooks.f WHERE a >= 1990 AND (a, b) > (1990, 3)');
SELECT fpt_check_all();

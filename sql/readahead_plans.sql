--
-- Read-ahead as plans have it: lines of EXPLAIN, and rows that a LIMIT wants.
--

--
-- Read-ahead in EXPLAIN: from version 18 on at each scan's node, up to 17 below
-- the plan, index by index.
--
CREATE SCHEMA fpt_ahead_explain;
SET search_path = fpt_ahead_explain, public;
SET client_min_messages = warning;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE fpt_ahead_explain LOCATION '';
SET effective_io_concurrency = 16;
CREATE TABLE t (a int8, b int8, d text) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i, repeat('x', 150) FROM generate_series(1, 30000) i
	ORDER BY hashint8(i);
CREATE INDEX t_a ON t USING fptree (a);
CREATE FUNCTION explain_nodes() RETURNS bool LANGUAGE sql AS
	$$ SELECT current_setting('server_version_num')::int >= 180000 $$;
-- The lines about read-ahead, each with the index it is about.
CREATE FUNCTION explained(options text, query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	index text;
	shown bool := false;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, %s) %s',
							   options, query) LOOP
		index := coalesce(substring(line FROM '(?:Index(?: Only)? Scan.* using|Bitmap Index Scan on) (\w+)'), index);
		IF line ~ 'leaf pages read' THEN
			shown := true;
			IF explain_nodes() THEN
				line := replace(line, 'Read-Ahead:', index || ':');
			END IF;
			-- any index may have stripes, when they are all given some
			line := regexp_replace(line, '; stripes.*', '');
			RETURN NEXT regexp_replace(ltrim(line), '\d+', 'N', 'g');
		ELSIF shown AND line ~ 'not asked' THEN
			RETURN NEXT regexp_replace(ltrim(line), '\d+', 'N', 'g');
		END IF;
	END LOOP;
END $$;
CREATE INDEX t_b ON t USING fptree (b);
VACUUM (FREEZE) t;
-- New files, of which nothing is in shared buffers
ALTER TABLE t SET TABLESPACE fpt_ahead_explain;
ALTER INDEX t_a SET TABLESPACE fpt_ahead_explain;
ALTER INDEX t_b SET TABLESPACE fpt_ahead_explain;
CALL fpt_use('index');
SELECT explained('BUFFERS', 'SELECT sum(length(d)) FROM t WHERE a BETWEEN 2001 AND 2100');
SELECT explained('BUFFERS, VERBOSE', 'SELECT sum(length(d)) FROM t WHERE b BETWEEN 9001 AND 9003');
SELECT explained('BUFFERS', 'SELECT (SELECT sum(length(d)) FROM t WHERE a BETWEEN 3001 AND 3100),
	(SELECT sum(length(d)) FROM t WHERE b BETWEEN 1 AND 100)');
SELECT explained('BUFFERS OFF', 'SELECT sum(length(d)) FROM t WHERE a BETWEEN 4001 AND 4100');
SELECT explained('BUFFERS', 'SELECT sum(length(d)) FROM t WHERE a = 77');
CALL fpt_use('any');
CREATE FUNCTION explained_lines(query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ' || query LOOP
		IF line ~ 'leaf pages read' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
-- The other formats
CREATE FUNCTION explained_as(format text, query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	CALL fpt_use('index');
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, FORMAT ' || format || ') ' || query INTO plan;
	CALL fpt_use('any');
	RETURN plan;
END $$;
SELECT o->>'Index Name' AS index,
	(coalesce(o->'Read-Ahead', o)->>'heap_issued')::int > 0 AS asked
FROM jsonb_path_query(explained_as('JSON', 'SELECT sum(length(d)) FROM t
		WHERE a BETWEEN 6001 AND 6100')::jsonb, 'strict $.** ? (@."Index Name" == "t_a")') o
WHERE NOT explain_nodes() = (o ? 'heap_issued');
SELECT explained_as('XML', 'SELECT sum(length(d)) FROM t WHERE a BETWEEN 7001 AND 7100')
	~ '<Read-Ahead>.*<heap_issued>[1-9]\d*</heap_issued>.*</Read-Ahead>' AS xml,
	explained_as('YAML', 'SELECT sum(length(d)) FROM t WHERE a BETWEEN 8001 AND 8100')
	~ 'Read-Ahead: *\n.*heap_issued: [1-9]' AS yaml;

-- Nodes of the same index are told apart where there is a hook for a node; a
-- node that has not been executed says nothing.
CREATE FUNCTION explained_times(query text) RETURNS int LANGUAGE sql AS
	$$ SELECT count(*)::int FROM explained('BUFFERS, VERBOSE', query) e WHERE e ~ 'leaf pages' $$;
CALL fpt_use('index');
SELECT explained_times('SELECT (SELECT sum(length(d)) FROM t WHERE a BETWEEN 9001 AND 9100),
	(SELECT sum(length(d)) FROM t WHERE a BETWEEN 10001 AND 10100)')
	= CASE WHEN explain_nodes() THEN 2 ELSE 1 END AS apart;
SELECT explained_times('SELECT CASE WHEN now() IS NULL THEN
	(SELECT sum(length(d)) FROM t WHERE a BETWEEN 9001 AND 9100) END');
-- Pages that were asked for and that the scan did not come to are counted at
-- the node as they are for the session.
SET fptree.prefetch_distance = 8;
SELECT fptree_prefetch_reset();
SELECT sum(substring(e FROM 'heap pages.*unused (\d+)')::int) > 0 AS unused,
	sum(substring(e FROM 'heap pages.*unused (\d+)')::int) =
	(SELECT value FROM fptree_prefetch_stats() WHERE counter = 'heap_wasted') AS as_counted
FROM explained_lines('SELECT d FROM t WHERE a BETWEEN 12001 AND 12100 ORDER BY a FETCH FIRST 40 ROWS WITH TIES') e;
RESET fptree.prefetch_distance;
-- Bitmap and index-only scans
CALL fpt_use('bitmap');
SELECT explained('BUFFERS, VERBOSE', 'SELECT sum(length(d)) FROM t WHERE a BETWEEN 13001 AND 13100');
CALL fpt_use('only');
SELECT explained('BUFFERS, VERBOSE', 'SELECT count(*) FROM t WHERE a BETWEEN 14001 AND 14100');
-- EXPLAIN (READAHEAD), from 18 on: all, nothing, and not without ANALYZE
CALL fpt_use('index');
CREATE FUNCTION explained_option(options text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	n int := 0;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF, %s) SELECT d FROM t WHERE a = 77', options) LOOP
		n := n + (line ~ 'leaf pages read|not asked')::int;
	END LOOP;
	RETURN CASE WHEN explain_nodes() THEN n || ' lines' ELSE 'unexpected' END;
EXCEPTION WHEN OTHERS THEN
	RETURN CASE WHEN explain_nodes() THEN sqlerrm
		WHEN sqlstate = '42601' AND options ~ 'READAHEAD OFF' THEN '0 lines'
		WHEN sqlstate = '42601' AND options ~ 'ANALYZE' THEN '2 lines'
		WHEN sqlstate = '42601' THEN 'EXPLAIN option READAHEAD requires ANALYZE'
		ELSE sqlerrm END;
END $$;
SELECT explained_option('ANALYZE, BUFFERS OFF, READAHEAD');
SELECT explained_option('ANALYZE, BUFFERS, VERBOSE, READAHEAD OFF');
SELECT explained_option('READAHEAD');
CALL fpt_use('any');

-- Stripes: how many pages of each were read, and how evenly
SELECT format('CREATE TABLESPACE fpt_ahead_s%s LOCATION %L', i, '')
FROM generate_series(1, 3) i \gexec
DROP INDEX t_a;
CREATE INDEX t_s ON t USING fptree (a, b)
	WITH (tablespaces = 'fpt_ahead_s1, fpt_ahead_s2, fpt_ahead_s3');
CALL fpt_use('only');
SELECT regexp_replace(substring(line FROM 'stripes.*'), '\d\d+', 'N', 'g') AS line,
	substring(line FROM '[\d.]+$')::numeric < 1.05 AS even
FROM explained_lines('SELECT count(b) FROM t WHERE a > 0') line;
-- In shared buffers
SELECT count(*) FROM explained_lines('SELECT count(b) FROM t WHERE a > 0') line
WHERE line ~ 'stripes';
CALL fpt_use('any');
DROP INDEX t_s;
CREATE INDEX t_s ON t USING fptree (a, b)
	WITH (tablespaces = 'fpt_ahead_s1, fpt_ahead_s2, fpt_ahead_s3');
SELECT o->>'Stripes' AS stripes, (o->>'Least Stripe Reads')::int <= (o->>'Most Stripe Reads')::int AS reads,
	(o->>'Balance')::numeric < 1.5 AS balance
FROM jsonb_path_query(explained_as('JSON', 'SELECT sum(length(d)) FROM t
		WHERE a BETWEEN 6001 AND 9100')::jsonb, 'strict $.** ? (@."Stripes" == 3)') o;

SELECT fpt_check_all();
DROP TABLE t;
DROP TABLESPACE fpt_ahead_explain;
SELECT format('DROP TABLESPACE fpt_ahead_s%s', i)
FROM generate_series(1, 3) i \gexec

\c -
--
-- Read-ahead under a LIMIT: pages that a statement asks for beyond those it needs,
-- two at most, in numbers.
--
CREATE SCHEMA fpt_limit;
SET search_path = fpt_limit, public;
SET client_min_messages = warning;
SET allow_in_place_tablespaces = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLESPACE fpt_limit LOCATION '';
SET effective_io_concurrency = 32;

-- Three rows a block, neighbours in other ones; some sixty entries a leaf.
CREATE TABLE t (a int, b int, p text COLLATE "C", d text) WITH (autovacuum_enabled = off);
ALTER TABLE t ALTER d SET STORAGE PLAIN;
CREATE INDEX t_ap ON t USING fptree (a, p);
INSERT INTO t SELECT i, i % 10, repeat('p', 90), repeat('x', 2400) FROM generate_series(1, 3000) i ORDER BY hashint4(i);
ANALYZE t;
SELECT leaf_pages > 40 AS enough FROM fptree_stat('t_ap');

CREATE FUNCTION counted(name text) RETURNS int8
LANGUAGE sql AS $$
	SELECT sum(value)::int8 FROM fptree_prefetch_stats()
	WHERE counter ~ ('^(' || name || ')$')
$$;

-- Run a statement with nothing in shared buffers: pages of the table that it asked
-- for, and those of table and index that it did not come to.
CREATE FUNCTION cold() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	ALTER TABLE t SET TABLESPACE fpt_limit;
	ALTER TABLE t SET TABLESPACE pg_default;
	ALTER INDEX t_ap SET TABLESPACE fpt_limit;
	ALTER INDEX t_ap SET TABLESPACE pg_default;
END $$;
CREATE FUNCTION asked(statement text, kind text DEFAULT 'index',
	OUT heap int8, OUT heap_vain int8, OUT leaf_vain int8) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM cold();
	CALL fpt_use(kind);
	PERFORM fptree_prefetch_reset();
	EXECUTE statement;
	CALL fpt_use('any');
	heap := counted('heap_issued|heap_cached');
	heap_vain := counted('heap_wasted');
	leaf_vain := counted('leaf_wasted');
END $$;

-- At several positions, in both directions, with an end of the range and without:
-- as many as there are rows, less those before the scan begins to look ahead.
SELECT n, dir, max(heap) <= n AS no_more, sum(heap) > 0 AS some, max(heap_vain) AS heap_vain, max(leaf_vain) <= 2 AS few_leaves
FROM unnest('{1,4,6,20,100}'::int[]) n, unnest('{ASC,DESC}'::text[]) dir, generate_series(500, 2500, 1000) x,
	unnest('{a >= %1$s AND a <= 2900,a >= %1$s,a <= %1$s}'::text[]) range,
	asked(format('SELECT d FROM t WHERE ' || range || ' ORDER BY a %2$s, p %2$s LIMIT %3$s', x, dir, n))
GROUP BY n, dir ORDER BY n, dir;
-- (how many rows are looked up depends on when pages become all-visible)
SELECT n, dir, max(heap) <= n AS no_more, max(heap_vain) AS heap_vain, max(leaf_vain) <= 2 AS few_leaves
FROM unnest('{1,4,6,20,100}'::int[]) n, unnest('{ASC,DESC}'::text[]) dir, generate_series(500, 2500, 1000) x,
	asked(format('SELECT a FROM t WHERE a BETWEEN 200 AND %1$s ORDER BY a %2$s, p %2$s LIMIT %3$s', x, dir, n), 'only')
GROUP BY n, dir ORDER BY n, dir;

-- OFFSET, a parameter, ALL
SELECT heap BETWEEN 40 AND 60 AS no_more, heap_vain FROM asked('SELECT d FROM t WHERE a > 300 ORDER BY a OFFSET 40 LIMIT 20');
SET plan_cache_mode = force_generic_plan;
PREPARE rows_of(int8, int8) AS SELECT d FROM t WHERE a > 300 ORDER BY a LIMIT $1 OFFSET $2;
SELECT heap BETWEEN 10 AND 20 AS no_more, heap_vain FROM asked('EXECUTE rows_of(20, 0)');
SELECT heap BETWEEN 40 AND 60 AS no_more, heap_vain FROM asked('EXECUTE rows_of(20, 40)');
SELECT heap > 2000 AS all_of_it, heap_vain FROM asked('EXECUTE rows_of(NULL, 0)');
RESET plan_cache_mode;

-- a subquery, several of them, other nodes between
SELECT heap BETWEEN 10 AND 20 AS no_more, heap_vain
FROM asked('SELECT count(length(d)) FROM (SELECT d FROM t WHERE a > 300 ORDER BY a LIMIT 20) s');
SELECT heap BETWEEN 10 AND 20 AS no_more, heap_vain
FROM asked('SELECT * FROM (SELECT d, row_number() OVER () FROM (SELECT d FROM t WHERE a > 300 ORDER BY a LIMIT 20) s) s WHERE row_number > 1');
SELECT heap BETWEEN 10 AND 20 AS no_more, heap_vain FROM asked('SELECT d FROM t WHERE a > 300 ORDER BY a LIMIT 20 FOR UPDATE');
SELECT heap BETWEEN 10 AND 20 AS no_more, heap_vain
FROM asked('SELECT d FROM t WHERE a BETWEEN 300 AND 309 UNION ALL SELECT d FROM t WHERE a > 900 LIMIT 20');
CREATE TABLE parent (a int, b int, p text COLLATE "C", d text);
CREATE INDEX parent_ap ON parent USING fptree (a, p);
ALTER TABLE t INHERIT parent;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT d FROM parent WHERE a > 300 ORDER BY a LIMIT 20;
SELECT heap BETWEEN 10 AND 20 AS no_more, heap_vain FROM asked('SELECT d FROM parent WHERE a > 300 ORDER BY a LIMIT 20');
RESET enable_sort;
ALTER TABLE t NO INHERIT parent;
DROP TABLE parent;
-- one after the other
SELECT heap BETWEEN 30 AND 60 AS no_more, heap_vain
FROM asked('SELECT count(length(d)) FROM generate_series(300, 900, 300) x, LATERAL (SELECT d FROM t WHERE a > x ORDER BY a LIMIT 20) s');

-- Rows that a filter leaves out, or the snapshot: as many are asked for as that
-- takes, twice at most, and the scan does not wait for each.  Of ties nobody knows
-- the number.
SELECT heap > 150 AS most, heap_vain <= 32 AS few FROM asked('SELECT d FROM t WHERE a > 300 AND b = 5 ORDER BY a LIMIT 20');
SELECT heap > 2000 AS most, heap_vain FROM asked('SELECT d FROM t WHERE a > 300 AND b = -1 ORDER BY a LIMIT 1');
SELECT heap > 900 AS most, heap_vain <= 32 AS few FROM asked('SELECT d FROM t WHERE a > 300 AND (a > 1300) IS TRUE ORDER BY a LIMIT 1');
SELECT heap > 50 AS most FROM asked('SELECT d FROM t WHERE a > 300 ORDER BY a - a % 100 FETCH FIRST 20 ROWS WITH TIES');
BEGIN;
DELETE FROM t WHERE a BETWEEN 301 AND 1000;
SELECT heap > 500 AS most, heap_vain <= 32 AS few FROM asked('SELECT d FROM t WHERE a > 300 ORDER BY a LIMIT 1');
ROLLBACK;

-- A cursor: in both directions, the same rows
SELECT cold();
BEGIN;
CALL fpt_use('index');
DECLARE c SCROLL CURSOR FOR SELECT a, length(d) FROM t WHERE a > 300 ORDER BY a LIMIT 40;
SELECT fptree_prefetch_reset();
MOVE 30 IN c;
SELECT counted('heap_issued|heap_cached') BETWEEN 10 AND 40 AS no_more;
FETCH 2 FROM c;
MOVE BACKWARD 25 IN c;
FETCH BACKWARD 2 FROM c;
MOVE FORWARD ALL IN c;
FETCH BACKWARD 2 FROM c;
CLOSE c;
ROLLBACK;
CALL fpt_use('any');

-- Off where read-ahead is
SET fptree.heap_prefetch = off;
SELECT heap FROM asked('SELECT d FROM t WHERE a > 300 ORDER BY a LIMIT 20');
RESET fptree.heap_prefetch;

-- A page of twenty rows reads no leaf-parent twice: at most five pages wherever it
-- begins, two leaves included.
CREATE FUNCTION pages(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	FOR i IN 1 .. 2 LOOP
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	END LOOP;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint;
END $$;
VACUUM t;
CALL fpt_use('only');
SELECT dir, max(pages(format('SELECT a FROM t WHERE a %s %s ORDER BY a %s, p %s LIMIT 20', CASE dir WHEN 'ASC' THEN '>' ELSE '<' END, x, dir, dir)))
FROM unnest('{ASC,DESC}'::text[]) dir, generate_series(100, 2900, 7) x GROUP BY dir ORDER BY dir;
CALL fpt_use('any');

-- The same rows as without, whatever the LIMIT
SELECT bool_and(fpt_same(format('SELECT a, b FROM t WHERE a %s %s AND b %s ORDER BY a %s LIMIT %s OFFSET %s',
	CASE dir WHEN 'ASC' THEN '>' ELSE '<' END, x, cond, dir, n, o))) AS same
FROM unnest('{ASC,DESC}'::text[]) dir, unnest('{1,20,150}'::int[]) n, unnest('{0,37}'::int[]) o,
	unnest('{>= 0,= 5,= -1}'::text[]) cond, generate_series(100, 2900, 900) x;

SELECT fpt_check_all();
DROP TABLE t;
DROP TABLESPACE fpt_limit;

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

--
-- Read-ahead in EXPLAIN, index by index: up to version 17.
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
CREATE FUNCTION explained(options text, query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	shown bool := false;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, %s) %s',
							   options, query) LOOP
		shown := shown OR line ~ 'Read-Ahead:';
		IF shown THEN
			RETURN NEXT regexp_replace(line, '\d+', 'N', 'g');
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
CREATE FUNCTION explained_json(query text) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	CALL fpt_use('index');
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, FORMAT JSON) ' || query INTO plan;
	CALL fpt_use('any');
	RETURN plan->1->'Read-Ahead';
END $$;
SELECT r->>'Index Name' AS index, r->>'Scans' AS scans, (r->>'heap_issued')::int > 0 AS asked
	FROM json_array_elements(explained_json('SELECT sum(length(d)) FROM t WHERE a BETWEEN 6001 AND 6100')) r;

SELECT fpt_check_all();
DROP TABLE t;
DROP TABLESPACE fpt_ahead_explain;

--
-- Separators that a session remembers: a look-up takes one page of the index, they
-- take no more memory than they may, and belong to one file.
--
CREATE SCHEMA fpt_recall;
SET search_path = fpt_recall, public;
SET client_min_messages = warning;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET fptree.debug_node_lines = '1,1';

-- pages that a query takes; of a key that is not there, those of the index
CREATE FUNCTION pages(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int +
		(plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;

-- the sum of what a query finds for each of some values
CREATE FUNCTION look(query text, first int, last int, step int DEFAULT 1) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	found numeric;
BEGIN
	EXECUTE format('SELECT coalesce(sum(x), 0) FROM generate_series(%s, %s, %s) arg, LATERAL (%s) q(x)',
		first, last, step, replace(query, '$1', 'arg')) INTO found;
	RETURN found;
END $$;

-- bytes of what is remembered
CREATE FUNCTION remembered() RETURNS bigint LANGUAGE sql AS $$
	SELECT coalesce(sum(used_bytes), 0)::bigint FROM pg_backend_memory_contexts
	WHERE name = 'fptree separators';
$$;

-- even numbers, of four types, and text, whose keys are general
CREATE TABLE t (i int, d int8, ts timestamptz, u uuid, v text);
INSERT INTO t SELECT i * 2, i * 2, timestamptz '2025-01-01 UTC' + i * 2 * interval '1 s',
	md5((i * 2)::text)::uuid, md5((i * 2)::text) FROM generate_series(1, 20000) i;
CREATE INDEX t_i ON t USING fptree (i);
CREATE INDEX t_d ON t USING fptree (d DESC);
CREATE INDEX t_ts ON t USING fptree (ts);
SET fptree.debug_node_lines = '1,2';
CREATE UNIQUE INDEX t_u ON t USING fptree (u);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_v ON t USING fptree (v);
RESET fptree.debug_node_lines;
VACUUM ANALYZE t;
SELECT remembered();

-- a level of leaves, their parents, and a root at least: then one page
CREATE TABLE queries (col text, one text, look text);
INSERT INTO queries VALUES
	('i', 'i = 6001', 'i = $1'), ('d', 'd = 6001', 'd = $1'),
	('ts', $$ts = '2025-01-01 01:40:01 UTC'$$, $$ts = timestamptz '2025-01-01 UTC' + $1 * interval '1 s'$$),
	('u', $$u = md5('6001')::uuid$$, 'u = md5($1::text)::uuid'),
	('v', $$v = md5('6001')$$, 'v = md5($1::text)');
SET enable_indexonlyscan = off;
SELECT col, pages('SELECT ctid FROM t WHERE ' || one) > 2 AS more FROM queries;
SELECT col, look('SELECT count(*) FROM t WHERE ' || look, 0, 40000, 3) FROM queries;
SELECT col, look('SELECT count(*) FROM t WHERE ' || look, 0, 40000, 5) FROM queries;
SELECT col, pages('SELECT ctid FROM t WHERE ' || one) = 1 AS one FROM queries;
SELECT pages('SELECT ctid FROM t WHERE i BETWEEN 6001 AND 6001'),
	pages('SELECT ctid FROM t WHERE i IS NULL') > 1 AS null;

-- between two separators of 16 bytes, and beyond the last one
SELECT look('SELECT count(*) FROM t WHERE u <= md5($1::text)::uuid AND u >= md5($1::text)::uuid', 0, 40000, 7);
SELECT look('SELECT i FROM t WHERE i > $1 ORDER BY i LIMIT 1', -10, 40010) AS next;
SELECT look('SELECT i FROM t WHERE i < $1 ORDER BY i DESC LIMIT 1', -10, 40010) AS previous;
SELECT look('SELECT d FROM t WHERE d > $1 ORDER BY d LIMIT 1', -10, 40010) AS next;
SELECT look('SELECT d FROM t WHERE d < $1 ORDER BY d DESC LIMIT 1', -10, 40010) AS previous;
SELECT look('SELECT count(*) FROM t WHERE i BETWEEN $1 AND $1 + 300', -10, 40010, 17);

-- switched off nothing is remembered, nor what there was
SELECT remembered() > 8000 AS remembered;
SET fptree.separator_memory = 0;
SELECT remembered() < 1000 AS forgotten;
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 3), remembered() < 1000 AS nothing;
SELECT pages('SELECT ctid FROM t WHERE i = 6001') > 1 AS more;

-- those that were used last are kept
SET fptree.separator_memory = '4kB';
SELECT col, look('SELECT count(*) FROM t WHERE ' || look, 0, 40000, 3),
	remembered() < 5000 AS bounded FROM queries;
RESET fptree.separator_memory;
\set VERBOSITY sqlstate
SET fptree.separator_memory = -1;
\set VERBOSITY default
SHOW fptree.separator_memory;

-- another file, of fewer pages
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 3);
SELECT pages('SELECT ctid FROM t WHERE i = 6001');
REINDEX INDEX t_i;
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 100);
BEGIN;
TRUNCATE t;
INSERT INTO t SELECT i FROM generate_series(1, 50) i;
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 3);
ROLLBACK;
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 3);

-- the same file with nothing in it: tables of the transaction are emptied in place
BEGIN;
SET LOCAL fptree.debug_node_lines = '1,1';
CREATE TABLE own (i int);
CREATE INDEX own_i ON own USING fptree (i);
INSERT INTO own SELECT i FROM generate_series(1, 3000) i;
SELECT look('SELECT count(*) FROM own WHERE i = $1', 0, 3000);
TRUNCATE own;
INSERT INTO own SELECT i FROM generate_series(1000, 1010) i;
SELECT look('SELECT count(*) FROM own WHERE i = $1', 0, 3000);
COMMIT;
CREATE TEMP TABLE again (i int) ON COMMIT DELETE ROWS;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX again_i ON again USING fptree (i);
RESET fptree.debug_node_lines;
BEGIN;
INSERT INTO again SELECT i FROM generate_series(1, 3000) i;
SELECT look('SELECT count(*) FROM again WHERE i = $1', 0, 3000);
COMMIT;
SELECT look('SELECT count(*) FROM again WHERE i = $1', 0, 3000);

-- insertions by what is remembered; what has been split is soon remembered anew
SELECT look('SELECT count(*) FROM t WHERE i = $1', 0, 40000, 3);
INSERT INTO t (i) SELECT i * 2 - 1 FROM generate_series(1, 20000) i ORDER BY hashint4(i);
SELECT look('SELECT count(*) FROM t WHERE i = $1', 1, 40000);
SELECT look('SELECT count(*) FROM t WHERE i = $1', 1, 40000);
SELECT pages('SELECT ctid FROM t WHERE i = -1'), pages('SELECT ctid FROM t WHERE i = 40001');
DO $$
BEGIN
	FOR i IN 0 .. 40000 BY 17 LOOP
		BEGIN
			INSERT INTO t (u) VALUES (md5(i::text)::uuid);
		EXCEPTION WHEN unique_violation THEN
			ASSERT i % 2 = 0 AND i > 0, i;
		END;
	END LOOP;
END $$;
SELECT count(u) FROM t;

-- keys of many rows: where these go on in other leaves, TIDs decide
CREATE TABLE few (i int, n int);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX few_i ON few USING fptree (i);
RESET fptree.debug_node_lines;
INSERT INTO few SELECT i % 7, i FROM generate_series(1, 4000) i;
SELECT look('SELECT count(*) FROM few WHERE i = $1', -1, 7), look('SELECT count(*) FROM few WHERE i > $1', -1, 7);
INSERT INTO few SELECT i % 70, i FROM generate_series(1, 4000) i;
SELECT look('SELECT count(*) FROM few WHERE i = $1', -1, 70), look('SELECT count(*) FROM few WHERE i > $1', -1, 70);
DELETE FROM few WHERE n % 3 > 0;
VACUUM few;
INSERT INTO few SELECT i % 50, i FROM generate_series(1, 4000) i;
SELECT look('SELECT count(*) FROM few WHERE i = $1', -1, 70), look('SELECT count(*) FROM few WHERE i > $1', -1, 70);

-- NULLs on either side
CREATE TABLE n (i int, j int);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX n_i ON n USING fptree (i NULLS FIRST);
CREATE INDEX n_j ON n USING fptree (j);
RESET fptree.debug_node_lines;
INSERT INTO n SELECT nullif(i % 3, 0) * i, nullif(i % 3, 0) * i FROM generate_series(1, 3000) i;
SELECT col, look(format('SELECT count(*) FROM n WHERE %s = $1', col), 0, 6000),
	look(format('SELECT count(*) FROM n WHERE %s > $1', col), 0, 6000, 100),
	look(format('SELECT count(*) FROM n WHERE %s IS NULL', col), 1, 1) FROM unnest('{i,j}'::text[]) col;

SELECT fptree_index_parent_check(c.oid, true) FROM pg_class c JOIN pg_am a ON a.oid = relam
WHERE amname = 'fptree' AND relnamespace = 'fpt_recall'::regnamespace;
SET client_min_messages = warning;
DROP SCHEMA fpt_recall CASCADE;

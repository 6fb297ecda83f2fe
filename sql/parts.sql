--
-- A dense leaf is read by parts: one node, then four, and so on.
--
CREATE SCHEMA fpt_parts;
SET search_path = fpt_parts, public;
SET client_min_messages = warning;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;

-- leaves of many entries: numbers in order, many of one value, of 16 bytes, and
-- NULLs on either side
CREATE TABLE t (a int8, d int4, u uuid, n int4, b int4) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i / 700, md5(i::text)::uuid, CASE WHEN i % 3 > 0 THEN i END, i
	FROM generate_series(1, 6000) i;
CREATE INDEX t_a ON t USING fptree (a);
CREATE INDEX t_d ON t USING fptree (d DESC);
CREATE INDEX t_u ON t USING fptree (u);
CREATE INDEX t_n ON t USING fptree (n NULLS FIRST);
VACUUM ANALYZE t;
SELECT ix, 6000 / leaf_pages > 300 AS dense FROM
	unnest('{t_a,t_d,t_u,t_n}'::regclass[]) ix, fptree_stat(ix);

-- A cursor goes to and fro over the borders of parts: what it returns after each
-- move is what the list of all rows has there.
CREATE FUNCTION to_and_fro(query text, steps int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	wanted int[];
	c refcursor;
	got int;
	at int := 0;
	differ int := 0;
	n int;
BEGIN
	EXECUTE format('SELECT array_agg(b) FROM (%s) s', query) INTO wanted;
	OPEN c SCROLL FOR EXECUTE query;
	FOR round IN 1..12 LOOP
		FOREACH n IN ARRAY steps LOOP
			at := least(greatest(at + n, 0), array_length(wanted, 1) + 1);
			IF n > 0 THEN
				MOVE FORWARD n - 1 FROM c;
				FETCH NEXT FROM c INTO got;
			ELSE
				MOVE BACKWARD -n - 1 FROM c;
				FETCH PRIOR FROM c INTO got;
			END IF;
			differ := differ + (got IS DISTINCT FROM wanted[at])::int;
		END LOOP;
	END LOOP;
	CLOSE c;
	RETURN format('%s rows, %s differ', array_length(wanted, 1), differ);
END $$;
SELECT query, to_and_fro(query, steps) FROM unnest(ARRAY[
	'SELECT b FROM t ORDER BY a', 'SELECT b FROM t ORDER BY a DESC',
	'SELECT b FROM t WHERE a > 1000 AND a <= 3333 ORDER BY a',
	'SELECT b FROM t WHERE a > 1000 AND a <= 3333 ORDER BY a DESC',
	'SELECT a::int4 AS b FROM t WHERE a > 1000 ORDER BY a',
	'SELECT b FROM t WHERE d = 3', 'SELECT b FROM t ORDER BY d', 'SELECT b FROM t ORDER BY d DESC',
	'SELECT b FROM t ORDER BY u', 'SELECT b FROM t ORDER BY u DESC',
	'SELECT b FROM t WHERE u > ''79999999-0000-0000-0000-000000000000'' ORDER BY u',
	'SELECT b FROM t ORDER BY n NULLS FIRST', 'SELECT b FROM t ORDER BY n DESC NULLS LAST',
	'SELECT b FROM t WHERE n IS NULL']) query,
	LATERAL (VALUES (1, '{1,5,30,-20,100,-70,-1,64,64,-128}'::int[]),
		(2, '{3,-2,500,-499,700,-350}'), (3, '{6001,-1,-25,-26,10,-300,1,-5000,30,-60,7000}')) s (nr, steps)
ORDER BY query COLLATE "C", nr;

-- An open scan that has returned a row has no room for more than a part (B3).
CREATE FUNCTION room(query text, n int) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	bytes int8;
BEGIN
	OPEN c FOR EXECUTE query;
	MOVE FORWARD n FROM c;
	SELECT sum(used_bytes) INTO bytes FROM pg_backend_memory_contexts WHERE name = 'fptree scan';
	CLOSE c;
	RETURN bytes;
END $$;
SELECT query, room(query, 1) < 8192 AS first, room(query, 1000) > 8192 AS later FROM unnest(ARRAY[
	'SELECT b FROM t ORDER BY a', 'SELECT b FROM t ORDER BY a DESC', 'SELECT a FROM t ORDER BY a',
	'SELECT b FROM t ORDER BY d']) query;

-- Dead entries of each part of a leaf get hints, and parts of which all are dead
-- are passed by (B5).
CREATE TABLE k (a int4, b int4) WITH (autovacuum_enabled = off);
INSERT INTO k SELECT i, i FROM generate_series(1, 1000) i;
CREATE INDEX k_a ON k USING fptree (a);
VACUUM ANALYZE k;
DELETE FROM k WHERE a % 3 = 0 OR a BETWEEN 20 AND 700;
CREATE FUNCTION hints() RETURNS bigint LANGUAGE sql AS
	'SELECT sum(dead_entries) FROM fpt_page_numbers(''k_a'') p, fptree_page_stats(''k_a'', p)';
SELECT b FROM k WHERE a >= 1 ORDER BY a LIMIT 3;
SELECT hints() BETWEEN 1 AND 100 AS first_part;
SELECT count(b), sum(b) FROM k WHERE a >= 1;
SELECT hints() = 1000 - count(*) AS all_parts FROM k;
SELECT b FROM k WHERE a >= 15 ORDER BY a LIMIT 6;
SELECT b FROM k WHERE a <= 704 ORDER BY a DESC LIMIT 6;
SELECT count(b), sum(b) FROM (SELECT b FROM k ORDER BY a DESC) s;

-- Parts of a leaf are no steps from leaf to leaf: nothing is read ahead (B7).
SET effective_io_concurrency = 16;
CREATE FUNCTION leaves_ahead(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
	got text;
BEGIN
	SELECT sum(value) INTO before FROM fptree_prefetch_stats()
		WHERE counter IN ('leaf_issued', 'leaf_cached', 'skip_end', 'skip_limit');
	EXECUTE query INTO got;
	SELECT sum(value) - before INTO before FROM fptree_prefetch_stats()
		WHERE counter IN ('leaf_issued', 'leaf_cached', 'skip_end', 'skip_limit');
	RETURN got || ' rows, ' || before || ' leaves';
END $$;
SET fptree.heap_prefetch = off;
SELECT leaves_ahead('SELECT count(b) FROM k WHERE a > 0');
SELECT leaves_ahead('SELECT count(b) FROM (SELECT b FROM k ORDER BY a DESC) s');
RESET fptree.heap_prefetch;

-- marks within a part and in one that has been left
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(x.b::int8 * y.b) FROM t x JOIN t y ON x.d = y.d;
SELECT count(*), sum(x.b::int8 * y.b) FROM t x JOIN t y ON x.d = y.d;
SET enable_mergejoin = off;
SET enable_hashjoin = on;
SELECT count(*), sum(x.b::int8 * y.b) FROM t x JOIN t y ON x.d = y.d;

-- many scans one after the other, of which each goes on for some parts
SET enable_hashjoin = off;
SET enable_nestloop = on;
SELECT count(*), sum(b) FROM generate_series(1, 5000, 617) g,
	LATERAL (SELECT b FROM t WHERE a >= g ORDER BY a LIMIT g) s;
SELECT sum(greatest(0, least(g, 6001 - g))) FROM generate_series(1, 5000, 617) g;

SELECT fpt_check_all();

--
-- Read-ahead: what is asked for, what is not and why, in numbers.
--
-- Moving a relation to another tablespace and back makes new files, of which
-- nothing is in shared buffers.
--
CREATE SCHEMA fpt_ahead;
SET search_path = fpt_ahead, public;
SET client_min_messages = warning;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE fpt_ahead LOCATION '';
SET effective_io_concurrency = 16;
SET maintenance_io_concurrency = 16;

CREATE PROCEDURE cold(tab regclass)
LANGUAGE plpgsql AS $$
DECLARE
	rel regclass;
	kind text;
	space text;
BEGIN
	FOR rel, kind IN
		SELECT tab, 'TABLE'
		UNION ALL
		SELECT indexrelid, 'INDEX' FROM pg_index WHERE indrelid = tab
	LOOP
		FOREACH space IN ARRAY '{fpt_ahead,pg_default}'::text[] LOOP
			EXECUTE format('ALTER %s %s SET TABLESPACE %s', kind, rel, space);
		END LOOP;
	END LOOP;
END $$;

-- Run a statement and show the counters that it changed.
CREATE FUNCTION counters(statement text, kind text DEFAULT 'any')
RETURNS TABLE (counter text, value int8)
LANGUAGE plpgsql AS $$
BEGIN
	CALL fpt_use(kind);
	PERFORM fptree_prefetch_reset();
	EXECUTE statement;
	CALL fpt_use('any');
	RETURN QUERY SELECT * FROM fptree_prefetch_stats() s WHERE s.value > 0;
END $$;

-- A counter after counters() or fpt_compare().
CREATE FUNCTION counted(name text) RETURNS int8
LANGUAGE sql AS $$
	SELECT sum(value)::int8 FROM fptree_prefetch_stats()
	WHERE counter ~ ('^(' || name || ')$')
$$;

-- Leaves that a range has entries in.
CREATE FUNCTION leaves(ix regclass, lo int8, hi int8) RETURNS int8
LANGUAGE sql AS $$
	SELECT count(*)
	FROM generate_series(1, fpt_pages(ix) - 1) p, fptree_page_stats(ix, p) s
	WHERE s.type = 'leaf' AND EXISTS (
		SELECT 1 FROM fptree_page_items(ix, p)
		WHERE key::int8 BETWEEN lo AND hi)
$$;

-- An aged index: built half, then every leaf split by inserts in random order.
CREATE TABLE t (a int8, b int8, d text) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i, repeat('x', 150) FROM generate_series(1, 30000, 2) i
	ORDER BY hashint8(i);
CREATE INDEX t_a ON t USING fptree (a) WITH (fillfactor = 58);
INSERT INTO t SELECT i, i, repeat('x', 150) FROM generate_series(2, 30000, 2) i
	ORDER BY hashint8(i);
-- Changes of the heap block while a range is read in key order, the first one
-- included.
CREATE FUNCTION switches(lo int8, hi int8) RETURNS int8
LANGUAGE sql AS $$
	SELECT count(*) FROM (
		SELECT a, (ctid::text::point)[0] AS blk,
			   lag((ctid::text::point)[0]) OVER (ORDER BY a, ctid) AS before
		FROM t WHERE a BETWEEN lo AND hi) s
	WHERE blk IS DISTINCT FROM before
$$;

VACUUM (FREEZE, ANALYZE) t;
SELECT leaf_pages AS nleaves, leaf_pages > 20 AS enough FROM fptree_stat('t_a') \gset
SELECT :'enough';

-- All leaves forward, from the third one on; runs are left to the kernel.
CALL cold('t');
SELECT counter FROM counters('SELECT count(a) FROM t WHERE a > 0', 'only');
SELECT counted('leaf_issued|skip_sequential') = :nleaves - 2 AS all_leaves,
	counted('leaf_issued') > :nleaves / 2 AS most_asked,
	counted('leaf_cached') AS cached, counted('distance_max') AS distance;

-- Backward nothing is left to the kernel.
CALL cold('t');
SELECT counter FROM counters('SELECT a FROM t ORDER BY a DESC', 'only');
SELECT counted('leaf_issued') = :nleaves - 2 AS all_leaves,
	counted('leaf_wasted') AS wasted, counted('distance_max') AS distance;

-- The distance grows fourfold from one: 1, 4, 16.
CALL cold('t');
BEGIN;
DECLARE c CURSOR FOR SELECT a FROM t ORDER BY a DESC;
CREATE FUNCTION fetch_leaf() RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	c refcursor := 'c';
	was int8;
	n int := 0;
BEGIN
	PERFORM fptree_prefetch_reset();
	LOOP
		MOVE 1 IN c;
		n := n + 1;
		EXIT WHEN counted('leaf_issued') > 0 OR n > 2000;
	END LOOP;
	RETURN format('%s asked, distance %s', counted('leaf_issued'),
				  counted('distance_max'));
END $$;
CALL fpt_use('only');
SELECT fetch_leaf() FROM generate_series(1, 4);
ROLLBACK;

-- A bounded range asks for nothing beyond its end, in either direction.
CALL cold('t');
SELECT leaves('t_a', 10001, 20000) AS inside \gset
CALL cold('t');
SELECT counter FROM counters('SELECT count(a) FROM t WHERE a BETWEEN 10001 AND 20000', 'only');
SELECT counted('leaf_issued|skip_sequential') = :inside AS only_its_leaves;
CALL cold('t');
SELECT counter FROM counters('SELECT a FROM t WHERE a BETWEEN 10001 AND 20000 ORDER BY a DESC', 'only');
SELECT counted('leaf_issued') = :inside AS only_its_leaves;

-- A bitmap scan reads leaves ahead and leaves the heap to the executor.
CALL cold('t');
SELECT counter FROM counters('SELECT sum(b) FROM t WHERE a BETWEEN 10001 AND 20000', 'bitmap');
SELECT counted('leaf_issued|skip_sequential') = :inside AS only_its_leaves;

-- Two leaves or less: nothing.
CALL cold('t');
SELECT * FROM counters('SELECT count(a) FROM t WHERE a BETWEEN 10001 AND 10050', 'only');
SELECT * FROM counters('SELECT count(a) FROM t WHERE a = 5', 'only');

-- A plain scan: every heap block after the first five, in key order; those that
-- were come by just before, once.
SET fptree.leaf_prefetch = off;
SELECT switches(5001, 5300) AS blocks \gset
CALL cold('t');
SELECT counter FROM counters('SELECT sum(b) FROM t WHERE a BETWEEN 5001 AND 5300', 'index');
SELECT counted('heap_issued|heap_cached|skip_sequential') = :blocks - 5 AS all_blocks, counted('skip_sequential') < 20 AS again,
	counted('heap_issued') > counted('heap_cached') AS most_read,
	counted('distance_max') AS distance;
CALL cold('t');
SELECT counter FROM counters('SELECT b FROM t WHERE a BETWEEN 5001 AND 5300 ORDER BY a DESC', 'index');
SELECT counted('heap_issued|heap_cached|skip_sequential') = :blocks - 5 AS all_blocks, counted('skip_sequential') < 20 AS again;

-- LIMIT: nothing for four rows, later at most as much as was read, where nobody
-- knows how many rows are wanted.
CALL cold('t');
SELECT * FROM counters('SELECT b FROM t WHERE a > 7000 ORDER BY a LIMIT 4', 'index');
SELECT counter FROM counters('SELECT b FROM t WHERE a > 8000 ORDER BY a FETCH FIRST 11 ROWS WITH TIES', 'index');
SELECT counted('heap_issued|heap_cached') BETWEEN 7 AND 15 AS asked,
	counted('heap_wasted') <= 8 AS wasted;

-- Leaves without matches behind the last one are read once, though the position
-- ahead has come by them before the scan does.
CREATE TABLE tail (a int, b int, c text) WITH (autovacuum_enabled = off);
INSERT INTO tail SELECT i, CASE WHEN i % 20 = 0 AND i <= 4000 THEN 77 ELSE 0 END, repeat('x', 100) FROM generate_series(1, 100000) i;
CREATE INDEX tail_ab ON tail USING fptree (a, b);
VACUUM ANALYZE tail;
CREATE FUNCTION pages_of(query text) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::int8 + (plan #>> '{0,Plan,Shared Read Blocks}')::int8;
END $$;
CALL fpt_use('index');
SET fptree.heap_prefetch = off;
SELECT pages_of('SELECT c FROM tail WHERE a > 0 AND b = 77 ORDER BY a') AS off \gset
SET fptree.heap_prefetch = on;
CALL cold('tail');
SELECT pages_of('SELECT c FROM tail WHERE a > 0 AND b = 77 ORDER BY a') - :off <= 10 AS once, leaf_pages > 30 AS many
FROM fptree_stat('tail_ab');
-- And one leaf at a time, where the scan may end before it comes there.
SET fptree.heap_prefetch = off;
SELECT pages_of('SELECT c FROM tail WHERE a > 0 AND b = 77 ORDER BY a LIMIT 200') AS off \gset
SET fptree.heap_prefetch = on;
CALL cold('tail');
SELECT pages_of('SELECT c FROM tail WHERE a > 0 AND b = 77 ORDER BY a LIMIT 200') - :off <= 40 AS few, leaf_pages > 100 AS many
FROM fptree_stat('tail_ab');
CALL fpt_use('any');
DROP TABLE tail;

-- Cached: the scan pauses, for longer each time.
SELECT sum(length(d)) > 0 AS read FROM t WHERE a > 0;
SELECT counter FROM counters('SELECT sum(b) FROM t WHERE a BETWEEN 5001 AND 15000', 'index');
SELECT counted('heap_cached') < 100 AS few, counted('skip_pause') > 9000 AS pause;

-- What the first scans of an inner loop learn is not forgotten.
CREATE TABLE outside AS SELECT i * 100 AS i FROM generate_series(1, 250) i;
ANALYZE outside;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT counter FROM counters('SELECT (SELECT sum(b) FROM t WHERE a BETWEEN i AND i + 29) FROM outside', 'index');
SELECT counted('heap_cached') < 100 AS few, counted('skip_pause') > 6000 AS pause;

-- Nor how far they went: only the first one asks for too much.  No range is in
-- two leaves: one that comes to the next leaf may ask for a few too many again.
DELETE FROM outside USING generate_series(1, fpt_pages('t_a') - 1) p,
	LATERAL (SELECT substring(low_fence FROM '^\d+')::int8 AS low FROM fptree_page_stats('t_a', p) WHERE type = 'leaf') s
	WHERE low > i + 1 AND low <= i + 11;
CALL cold('t');
SELECT counter FROM counters('SELECT sum(b) FROM outside, LATERAL
	(SELECT b FROM t WHERE a > i ORDER BY a FETCH FIRST 9 ROWS WITH TIES) s', 'index');
SELECT counted('heap_issued') > 300 AS asked, counted('heap_wasted') <= 6 AS wasted;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;
RESET fptree.leaf_prefetch;

-- An index-only scan asks for blocks that are not all-visible, and looks no
-- further than the leaf that it holds.
SET fptree.leaf_prefetch = off;
UPDATE t SET b = b + 1 WHERE a BETWEEN 5001 AND 5300 AND a % 10 = 0;
ANALYZE t;
CALL cold('t');
SELECT counter FROM counters('SELECT count(a) FROM t WHERE a BETWEEN 5001 AND 5300', 'only');
SELECT counted('heap_issued') > 0 AS some, counted('skip_visible') > 0 AS not_all;
SET fptree.prefetch_distance = 30;
CALL cold('t');
SELECT counter FROM counters('SELECT count(a) FROM t WHERE a BETWEEN 5001 AND 8000', 'only');
CALL cold('t');
SELECT counter FROM counters('SELECT sum(b) FROM t WHERE a BETWEEN 5001 AND 8000', 'index');
SELECT counted('distance_max') AS distance;
RESET fptree.prefetch_distance;
RESET fptree.leaf_prefetch;
VACUUM (FREEZE) t;

-- Further than one leaf ahead of the current one no plain scan looks.
CREATE TABLE sparse (a int8, b int8, d text) WITH (autovacuum_enabled = off);
INSERT INTO sparse SELECT i, i, repeat('x', 150) FROM generate_series(1, 3000) i
	ORDER BY hashint8(i);
CREATE INDEX sparse_a ON sparse USING fptree (a) WITH (fillfactor = 10);
VACUUM (FREEZE, ANALYZE) sparse;
SET fptree.prefetch_distance = 1000;
SELECT counter FROM counters('SELECT sum(b) FROM sparse WHERE a > 0', 'index');
RESET fptree.prefetch_distance;

-- A fixed distance does not grow, and does not pause.
CALL cold('t');
SET fptree.prefetch_distance = 3;
SELECT counter FROM counters('SELECT a FROM t ORDER BY a DESC', 'only');
SELECT counted('leaf_issued') = :nleaves - 2 AS all_leaves, counted('distance_max') AS distance;
SELECT counter FROM counters('SELECT a FROM t ORDER BY a DESC', 'only');
SELECT counted('leaf_cached') = :nleaves - 2 AS all_leaves;
SELECT fpt_settings('SELECT a FROM t WHERE a = 1');
RESET fptree.prefetch_distance;

-- Switched off, by setting and by tablespace
CALL cold('t');
SET fptree.leaf_prefetch = off;
SET fptree.heap_prefetch = off;
SELECT counter FROM counters('SELECT sum(b) FROM t WHERE a > 0', 'index');
SELECT fpt_settings('SELECT a FROM t WHERE a = 1');
RESET fptree.leaf_prefetch;
RESET fptree.heap_prefetch;
SET effective_io_concurrency = 0;
SELECT counter FROM counters('SELECT sum(b) FROM t WHERE a > 0', 'index');
SET effective_io_concurrency = 16;
ALTER TABLESPACE fpt_ahead SET (effective_io_concurrency = 0, maintenance_io_concurrency = 0);
ALTER INDEX t_a SET TABLESPACE fpt_ahead;
SELECT counter FROM counters('SELECT sum(b) FROM t WHERE a > 0', 'index');
ALTER TABLESPACE fpt_ahead SET (effective_io_concurrency = 2);
ALTER INDEX t_a SET TABLESPACE pg_default;
ALTER INDEX t_a SET TABLESPACE fpt_ahead;
SELECT counter FROM counters('SELECT a FROM t ORDER BY a DESC', 'only');
SELECT counted('leaf_issued') = :nleaves - 2 AS all_leaves, counted('distance_max') AS distance;

-- VACUUM and the checks ask for all leaves in the order of the file, whose
-- neighbours are one request, also where nothing else is asked for.
SELECT counter, value = :nleaves AS all_leaves FROM counters('SELECT fptree_index_check(''t_a'')');
ALTER INDEX t_a SET TABLESPACE pg_default;
ALTER INDEX t_a SET TABLESPACE fpt_ahead;
SELECT counter FROM counters('SELECT fptree_index_check(''t_a'')');
SELECT counted('leaf_issued') = :nleaves AS all_leaves, counted('leaf_requests') < :nleaves / 8 AS together;
ALTER TABLESPACE fpt_ahead RESET (maintenance_io_concurrency);
ALTER INDEX t_a SET TABLESPACE pg_default;
SELECT counter FROM counters('SELECT fptree_index_check(''t_a'')');
SELECT counted('leaf_issued') = :nleaves AS all_leaves, counted('leaf_requests') < :nleaves / 8 AS together;
CALL cold('t');
SELECT counter FROM counters('SELECT fptree_index_parent_check(''t_a'')');
SELECT counted('leaf_issued') = :nleaves AS all_leaves, counted('leaf_requests') < :nleaves / 8 AS together;
CALL cold('t');
SET fptree.leaf_prefetch = off;
SELECT counter FROM counters('SELECT fptree_index_check(''t_a'')');
RESET fptree.leaf_prefetch;
-- VACUUM reads the file from front to back, all pages but the first two.
CREATE PROCEDURE vacuumed(part int) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DELETE FROM t WHERE a %% 1000 = %s', part);
	CALL cold('t');
	PERFORM fptree_prefetch_reset();
END $$;
CALL vacuumed(0);
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) t;
SELECT counted('leaf_issued|leaf_cached') = fpt_pages('t_a') - 1 AS all_pages, counted('leaf_requests') <= fpt_pages('t_a') / 16 + 1 AS together;
CALL vacuumed(1);
SET maintenance_io_concurrency = 0;
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) t;
SELECT counted('leaf_issued|leaf_cached') = fpt_pages('t_a') - 1 AS all_pages, counted('leaf_requests') <= fpt_pages('t_a') / 16 + 1 AS together;
CALL vacuumed(2);
SET fptree.leaf_prefetch = off;
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) t;
RESET fptree.leaf_prefetch;
SELECT counted('leaf_issued|leaf_cached') AS asked, counted('skip_off') = :nleaves AS off;
SELECT entries = (SELECT count(*) FROM t) AS all_dead_gone FROM fptree_stat('t_a');

-- An aged index of more leaves than are asked for at a time: where they lie
-- apart, more of them are, up to what the caches hold.
CREATE TABLE aged (a text COLLATE "C") WITH (autovacuum_enabled = off);
CREATE INDEX aged_a ON aged USING fptree (a);
INSERT INTO aged SELECT repeat(md5(i::text), 15) FROM generate_series(1, 20000) i;
SELECT leaf_pages AS nleaves, leaf_pages + internal_pages - 1 AS nbelow, leaf_pages > 1024 AS enough FROM fptree_stat('aged_a') \gset
SELECT :'enough';
SET maintenance_io_concurrency = 16;
CALL cold('aged');
SELECT counter FROM counters('SELECT fptree_index_check(''aged_a'')');
SELECT counted('leaf_issued|leaf_cached') = :nbelow AS all_below_root, counted('leaf_requests') < :nleaves / 6 AS together;

-- VACUUM reads each page of it once, whatever the caches may hold.
CREATE FUNCTION page_reads() RETURNS int8
LANGUAGE sql AS $$
	SELECT pg_stat_get_blocks_fetched('aged_a'::regclass) -
		pg_stat_get_blocks_hit('aged_a'::regclass)
$$;
DELETE FROM aged WHERE right(a, 2) = '00';
-- inner pages behind the first pieces of the file
SELECT count(*) AS ninner, count(*) > 5 AS enough FROM generate_series(4 * 128, fpt_pages('aged_a') - 1) p, fptree_page_stats('aged_a', p)
	WHERE type = 'inner' \gset
SELECT :'enough';
SET effective_cache_size = 1;
CALL cold('aged');
SELECT pg_stat_force_next_flush();
SELECT fptree_prefetch_reset(), page_reads() AS reads \gset
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT pg_stat_force_next_flush();
SELECT page_reads() - :reads BETWEEN :nleaves AND fpt_pages('aged_a') * 1.05 AS once;
-- those above the leaves are asked for before, level by level, unless all are,
-- and again by the pass, as they went through VACUUM's ring
SELECT counted('leaf_issued|leaf_cached') = fpt_pages('aged_a') - 1 + :ninner AS all_pages, counted('leaf_requests') <= fpt_pages('aged_a') / 16 + 1 + :ninner AS together,
	counted('leaf_issued') BETWEEN fpt_pages('aged_a') - 1 AND fpt_pages('aged_a') - 1 + :ninner AS once;
SELECT entries = (SELECT count(*) FROM aged) AS all_dead_gone FROM fptree_stat('aged_a');
SELECT fptree_index_parent_check('aged_a', true);
-- with one request under way at a time, too: none of leaves instead
SET maintenance_io_concurrency = 1;
DELETE FROM aged WHERE right(a, 2) = '99';
CALL cold('aged');
SELECT fptree_prefetch_reset() \gset
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT counted('leaf_issued|leaf_cached') = fpt_pages('aged_a') - 1 + :ninner AS all_pages;
-- and with none, no single pages
SET maintenance_io_concurrency = 0;
DELETE FROM aged WHERE right(a, 2) = '98';
CALL cold('aged');
SELECT fptree_prefetch_reset() \gset
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT counted('leaf_issued|leaf_cached') = fpt_pages('aged_a') - 1 AS none;
-- what lies around them comes with them where it stays, as all is read next
CREATE FUNCTION asked_around(ninner int8) RETURNS TABLE (around bool, together bool)
LANGUAGE sql AS $$
	SELECT counted('leaf_issued|leaf_cached') - fpt_pages('aged_a') + 1 BETWEEN ninner * 8 AND ninner * 16,
		counted('leaf_requests') <= fpt_pages('aged_a') / 16 + 1 + ninner
$$;
SET effective_cache_size = '1GB';
DELETE FROM aged WHERE right(a, 2) = '97';
CALL cold('aged');
SELECT fptree_prefetch_reset() \gset
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT * FROM asked_around(:ninner);
SET maintenance_io_concurrency = 1;
DELETE FROM aged WHERE right(a, 2) = '96';
CALL cold('aged');
SELECT fptree_prefetch_reset() \gset
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT * FROM asked_around(:ninner);
SET maintenance_io_concurrency = 16;
DELETE FROM aged WHERE right(a, 2) = '95';
CREATE TABLE inner_pages AS SELECT p FROM generate_series(2, fpt_pages('aged_a') - 1) p, fptree_page_stats('aged_a', p)
	WHERE type = 'inner';
CALL cold('aged');
SELECT fptree_prefetch_reset() \gset
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT * FROM asked_around(:ninner);
-- by way of VACUUM's ring of buffers: it leaves none behind
SELECT pg_stat_force_next_flush();
SELECT page_reads() AS reads \gset
SELECT count(*) > 5 AS enough FROM inner_pages, fptree_page_stats('aged_a', p) WHERE level > 0;
SELECT pg_stat_force_next_flush();
SELECT page_reads() - :reads > count(*) / 2 AS read_again FROM inner_pages;
DROP TABLE inner_pages;
SET effective_cache_size = 1;
SET maintenance_io_concurrency = 16;

-- With the smallest ring of buffers, too, which is another than the usual one
-- from 16 on.
SELECT count(set_config(name, '128kB', false)) <= 1 AS small_ring FROM pg_settings
	WHERE name = 'vacuum_buffer_usage_limit';
DELETE FROM aged WHERE right(a, 2) = '01';
CALL cold('aged');
SELECT pg_stat_force_next_flush();
SELECT page_reads() AS reads \gset
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT pg_stat_force_next_flush();
SELECT page_reads() - :reads BETWEEN :nleaves AND fpt_pages('aged_a') * 1.05 AS once;

SET effective_cache_size = '1MB';
CALL cold('aged');
SELECT counter FROM counters('SELECT fptree_index_check(''aged_a'')');
SELECT counted('leaf_requests') > :nleaves / 3 AS apart;
SET maintenance_io_concurrency = 0;
CALL cold('aged');
SELECT counter FROM counters('SELECT fptree_index_check(''aged_a'')');
SELECT counted('skip_limit') > :nleaves / 6 AS not_alone;

-- A purge of a range of keys: what the walk needs to unlink the leaves that are
-- empty after VACUUM has been through the file is asked for once more: where the
-- caches hold it, in the order of the file, neighbours together; else one by
-- one, if that is allowed.
CREATE PROCEDURE purge(lo text, hi text) LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM aged WHERE a >= lo AND a < hi;
	CALL cold('aged');
	PERFORM fptree_prefetch_reset();
END $$;
CREATE FUNCTION asked_twice() RETURNS TABLE (empty bool, twice bool, together bool)
LANGUAGE sql AS $$
	SELECT gone > 150, counted('leaf_issued') > pages + gone / 2,
		counted('leaf_requests') < pages / 16 + gone / 2
	FROM (SELECT deleted_pages AS gone, fpt_pages('aged_a') AS pages
		  FROM fptree_stat('aged_a')) s
$$;
RESET effective_cache_size;
CALL purge('2', '4');
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT * FROM asked_twice();
REINDEX INDEX aged_a;
SET effective_cache_size = 1;
SET maintenance_io_concurrency = 16;
CALL purge('5', '8');
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT * FROM asked_twice();
INSERT INTO aged SELECT repeat(md5(i::text), 15) FROM generate_series(20001, 40000) i;
CALL purge('9', 'c');
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT * FROM asked_twice();
SELECT entries = (SELECT count(*) FROM aged) AS all_dead_gone FROM fptree_stat('aged_a');
SELECT fptree_index_parent_check('aged_a', true);
RESET effective_cache_size;

-- Heap pages in ascending order are left to the kernel: of one run, of two at a
-- time, nearly in order, backward not.
CREATE FUNCTION asked(statement text, kind text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	asked int8;
	blocks int8;
BEGIN
	CALL cold('run');
	PERFORM counters(statement, kind);
	asked := counted('heap_issued');
	SELECT count(DISTINCT (ctid::text::point)[0]) INTO blocks FROM run
		WHERE a BETWEEN 1 AND 9000;
	RETURN CASE WHEN asked <= 24 THEN 'few' WHEN asked > blocks * 0.8 THEN 'most'
		ELSE format('%s of %s', asked, blocks) END;
END $$;
SET fptree.leaf_prefetch = off;
CREATE TABLE run (a int8, b int8, d bpchar) WITH (autovacuum_enabled = off);
CREATE PROCEDURE refill(ord text)
LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE run;
	EXECUTE 'INSERT INTO run SELECT i, i % 97, repeat(''x'', 150) FROM generate_series(1, 10000) i
		ORDER BY ' || ord;
END $$;
CREATE INDEX run_a ON run USING fptree (a);
CREATE INDEX run_b ON run USING fptree (b, a);
CALL refill('i');
SELECT asked('SELECT sum(b) FROM run WHERE a BETWEEN 1 AND 9000', 'index');
SELECT asked('SELECT count(a) FROM run WHERE a BETWEEN 1 AND 9000', 'only');
SELECT asked('SELECT b FROM run WHERE a BETWEEN 1 AND 9000 ORDER BY a DESC', 'index');
CALL refill('i % 2, i');
SELECT asked('SELECT sum(b) FROM run WHERE a BETWEEN 1 AND 9000', 'index');
CALL refill('i + hashint8(i) % 100');
SELECT asked('SELECT sum(b) FROM run WHERE a BETWEEN 1 AND 9000', 'index');
VACUUM (FREEZE, ANALYZE) run;
UPDATE run SET d = d || 'y' WHERE a % 20 = 0;
SELECT asked('SELECT count(a) FROM run WHERE a BETWEEN 1 AND 9000', 'only');

-- What comes by every few pages is asked for, and what comes between runs
CALL refill('i');
CALL cold('run');
SELECT counter FROM counters('SELECT sum(length(d)) FROM run WHERE b = 7', 'index');
SELECT counted('heap_issued|heap_cached') > 80 AS most;

-- Not in ascending order either if those before them are in shared buffers: the
-- kernel does not see these, and reads nothing ahead.
CREATE PROCEDURE warm_heap(nth int, nblocks int)
LANGUAGE plpgsql AS $$
BEGIN
	FOR blk IN 0 .. nblocks - 1 BY nth LOOP
		PERFORM 1 FROM run WHERE ctid = format('(%s,1)', blk)::tid;
	END LOOP;
END $$;
CREATE FUNCTION asked_of_run(nth int, statement text) RETURNS TABLE (reads bool, hits bool, left_alone bool)
LANGUAGE plpgsql AS $$
DECLARE
	blocks int;
BEGIN
	SELECT count(DISTINCT (ctid::text::point)[0]) INTO blocks FROM run;
	CALL cold('run');
	CALL warm_heap(nth, blocks);
	PERFORM counters(statement, 'index');
	RETURN QUERY SELECT counted('heap_issued') BETWEEN (blocks - blocks / nth) * 0.9 AND blocks - blocks / nth,
		counted('heap_cached') > blocks / nth * 0.9, counted('skip_sequential') > 0;
END $$;
SELECT * FROM asked_of_run(2, 'SELECT sum(b) FROM run WHERE a > 0');
SELECT * FROM asked_of_run(3, 'SELECT sum(b) FROM run WHERE a > 0');
SELECT * FROM asked_of_run(3, 'SELECT b FROM run WHERE a > 0 ORDER BY a DESC');
-- all of them: the scan pauses
SELECT counter FROM counters('SELECT sum(b) FROM run WHERE a > 0', 'index');
SELECT counted('heap_cached') < 100 AS few, counted('skip_pause') > 6000 AS pause;
DROP FUNCTION asked_of_run;
-- Going down a run, neighbours are one request.
CALL cold('run');
SELECT count(*) > 0 AS counted FROM counters('SELECT b FROM run WHERE a > 0 ORDER BY a DESC', 'index');
SELECT counted('heap_issued') > 200 AS reads, counted('heap_requests') BETWEEN 1 AND counted('heap_issued') / 5 AS together;

-- In descending order each block is asked for, once, where rows are off by some
-- blocks, where several runs take turns, and in the order in which 8 sessions
-- leave them, each with a block of its own; and neighbours are one request, also
-- where but one may be under way: so many pages a request at least.  Upwards
-- these are runs, too.
CREATE FUNCTION down(ord text, wanted int, concurrency int DEFAULT 16)
RETURNS TABLE (asked_once bool, together bool, upwards text)
LANGUAGE plpgsql AS $$
DECLARE
	blocks int;
BEGIN
	CALL refill(ord);
	SELECT count(DISTINCT (ctid::text::point)[0]) INTO blocks FROM run;
	PERFORM set_config('effective_io_concurrency', concurrency::text, true);
	CALL cold('run');
	PERFORM counters('SELECT b FROM run WHERE a > 0 ORDER BY a DESC', 'index');
	asked_once := counted('heap_issued') BETWEEN blocks * 0.95 AND blocks;
	together := counted('heap_issued') >= wanted * counted('heap_requests');
	upwards := CASE WHEN concurrency > 1 THEN asked('SELECT sum(b) FROM run WHERE a BETWEEN 1 AND 9000', 'index') END;
	RETURN NEXT;
END $$;
SELECT * FROM down('i', 6);
SELECT * FROM down('i + hashint8(i) % 50', 3);
SELECT * FROM down('i + hashint8(i) % 200', 3);
SELECT * FROM down('i % 2, i', 2);
SELECT * FROM down('i % 8, i', 1);
SELECT * FROM down('i / 320, i % 8, i', 5);
SELECT * FROM down('i / 320, hashint8(i) % 8, i', 3);
SELECT * FROM down('i', 6, 1);
SELECT * FROM down('i % 2, i', 2, 1);
-- and if no more files can be opened for it
\getenv builddir PG_ABS_BUILDDIR
\set module :builddir '/test/module/fptree_test'
CREATE FUNCTION open_files() RETURNS int
AS :'module', 'fptree_test_open_files' LANGUAGE C STRICT;
CALL cold('run');
BEGIN;
SELECT open_files() > 10 AS open;
SELECT count(*) > 0 AS counted FROM counters('SELECT b FROM run WHERE a > 0 ORDER BY a DESC', 'index');
ROLLBACK;
SELECT counted('heap_issued') > 200 AS reads;
DROP FUNCTION down;
RESET fptree.leaf_prefetch;

-- So for leaves; those of a run of which nothing is cached are left alone.
SET fptree.heap_prefetch = off;
CREATE INDEX run_wide ON run USING fptree (d, a) WITH (fillfactor = 20);
CREATE FUNCTION asked_leaves(nth int, statement text) RETURNS TABLE (reads bool, hits bool, left_alone bool)
LANGUAGE plpgsql AS $$
DECLARE
	leaves int := (SELECT leaf_pages FROM fptree_stat('run_wide'));
BEGIN
	CALL cold('run');
	PERFORM sum((SELECT level FROM fptree_page_stats('run_wide', p))) FROM generate_series(2, leaves, nth) p;
	PERFORM counters(statement, 'only');
	RETURN QUERY SELECT counted('leaf_issued') > (leaves - leaves / nth) * 0.9,
		counted('leaf_cached') > leaves / nth * 0.9, counted('skip_sequential') > leaves * 0.9;
END $$;
VACUUM (FREEZE) run;
SELECT * FROM asked_leaves(2, 'SELECT a FROM run WHERE d > ''a''');
SELECT * FROM asked_leaves(3, 'SELECT a FROM run WHERE d > ''a''');
SELECT * FROM asked_leaves(100000, 'SELECT a FROM run WHERE d > ''a''');
SELECT counter FROM counters('SELECT a FROM run WHERE d > ''a''', 'only');
DROP FUNCTION asked_leaves;
CALL cold('run');
SELECT count(*) > 0 AS counted FROM counters('SELECT a FROM run WHERE d > ''a'' ORDER BY d DESC, a DESC', 'only');
SELECT counted('leaf_issued') > 200 AS reads, counted('leaf_requests') BETWEEN 1 AND counted('leaf_issued') / 5 AS together;
SET effective_io_concurrency = 1;
CALL cold('run');
SELECT count(*) > 0 AS counted FROM counters('SELECT a FROM run WHERE d > ''a'' ORDER BY d DESC, a DESC', 'only');
SELECT counted('leaf_issued') > 200 AS reads, counted('leaf_requests') BETWEEN 1 AND counted('leaf_issued') / 5 AS together, counted('distance_max') AS distance;
SET effective_io_concurrency = 16;
DROP INDEX run_wide;
RESET fptree.heap_prefetch;

-- Heap pages of temporary tables are asked for one by one.
SET temp_buffers = 100;
CREATE TEMP TABLE tmp AS SELECT i AS a, repeat('x', 500) AS d FROM generate_series(1, 5000) i ORDER BY hashint4(i);
CREATE INDEX tmp_a ON tmp USING fptree (a);
ANALYZE tmp;
SET fptree.leaf_prefetch = off;
SELECT counter FROM counters('SELECT sum(length(d)) FROM tmp WHERE a > 0', 'index');
SELECT counted('heap_issued') > 2000 AS many, counted('heap_requests') = counted('heap_issued') AS requests;
RESET fptree.leaf_prefetch;
DROP TABLE tmp;

-- Snapshots that are no MVCC ones
CREATE TABLE x (a int, EXCLUDE USING fptree (a WITH =));
SELECT counter FROM counters('INSERT INTO x VALUES (1)');

-- A scan that goes elsewhere after a step or two: what it has asked for in vain
-- is little of what it reads.
CREATE TABLE sk AS SELECT repeat(md5((i % 3000)::text), 1 + i % 20) COLLATE "C" AS s,
	i * 7919 % 10007 AS n FROM generate_series(1, 12000) i;
CREATE INDEX sk_sn ON sk USING fptree (s DESC, n);
VACUUM (FREEZE, ANALYZE) sk;
CALL cold('sk');
SET enable_sort = off;
SELECT count(*) > 0 AS counted FROM counters('SELECT s FROM sk WHERE n BETWEEN 5 AND 100 ORDER BY s', 'only');
RESET enable_sort;
SELECT counted('leaf_wasted') < (SELECT leaf_pages / 8 FROM fptree_stat('sk_sn')) AS little;
DROP TABLE sk;

CREATE INDEX t_b ON t USING fptree (b);
VACUUM (FREEZE) t;
-- The answers are the same at any distance, on cold and on warm pages.
CREATE FUNCTION compare(distance int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('fptree.prefetch_distance', distance::text, false);
	SELECT compared || ' compared ' || problems INTO result FROM fpt_compare(ARRAY[
		'SELECT a, b FROM t WHERE a BETWEEN 100 AND 22000',
		'SELECT a, b FROM t WHERE a > 3 ORDER BY a',
		'SELECT a, b FROM t WHERE a > 3 ORDER BY a DESC',
		'SELECT a, b FROM t WHERE a = ANY (ARRAY(SELECT i * 37 FROM generate_series(1, 700) i)) ORDER BY a',
		'SELECT x.a, y.b FROM t x, t y WHERE x.a = y.a + 1 AND x.a < 5000'],
		'{index,bitmap}');
	RETURN result;
END $$;
CALL cold('t');
SELECT compare(0);
CALL cold('t');
SELECT compare(1);
CALL cold('t');
SELECT compare(7);
CALL cold('t');
SELECT compare(1000);
SELECT compare(1000);
SELECT compare(0);

SELECT fpt_check_all();
DROP TABLE t, sparse, aged, run;
DROP TABLESPACE fpt_ahead;

--
-- Read-ahead: what is asked for, in a scan and in the descent to its first leaf.
--

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
SET track_counts = on;
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
-- and with none, no single pages; but leaves that have lost a quarter of their
-- entries are visited once more, to be merged, and asked for
SET maintenance_io_concurrency = 0;
DELETE FROM aged WHERE right(a, 2) = '98';
CALL cold('aged');
SELECT fptree_prefetch_reset() \gset
VACUUM (INDEX_CLEANUP ON, PARALLEL 0) aged;
SELECT counted('leaf_issued|leaf_cached') - fpt_pages('aged_a') + 1 BETWEEN 0 AND 3 AS none;
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

\c -
--
-- Read-ahead that begins in the descent to the first leaf of a range.
--
CREATE SCHEMA fpt_start;
SET search_path = fpt_start, public;
SET client_min_messages = warning;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE fpt_start LOCATION '';
SET effective_io_concurrency = 16;
SET fptree.heap_prefetch = off;

-- An aged index, as many leaves as are under way at most, and more; nodes of one
-- line, for fewer rows a leaf.
CREATE TABLE t (a int8, b int8) WITH (autovacuum_enabled = off);
SET fptree.debug_node_lines = '0,1';
CREATE INDEX t_a ON t USING fptree (a);
RESET fptree.debug_node_lines;
INSERT INTO t SELECT i, i FROM generate_series(1, 60000) i ORDER BY hashint8(i);
CREATE TABLE s (a text COLLATE "C") WITH (autovacuum_enabled = off);
CREATE INDEX s_a ON s USING fptree (a);
INSERT INTO s SELECT md5(i::text) FROM generate_series(1, 10000) i;
VACUUM (FREEZE, ANALYZE) t, s;
SELECT leaf_pages > 60 AS enough FROM fptree_stat('t_a')
UNION ALL SELECT leaf_pages > 60 FROM fptree_stat('s_a');

-- Leaves that a range has entries in.
CREATE FUNCTION leaves(ix regclass, lo text, hi text) RETURNS int8
LANGUAGE plpgsql AS $$
DECLARE
	p int8 := 1;
	n int8 := 0;
BEGIN
	WHILE (SELECT level > 0 FROM fptree_page_stats(ix, p)) LOOP
		SELECT downlink INTO p FROM fptree_page_items(ix, p) ORDER BY itemoffset LIMIT 1;
	END LOOP;
	WHILE p <> 0 LOOP
		n := n + (SELECT count(*) FROM (SELECT 1 FROM fptree_page_items(ix, p)
			WHERE CASE WHEN ix = 't_a'::regclass THEN key::int8 BETWEEN lo::int8 AND hi::int8
				ELSE key COLLATE "C" BETWEEN lo AND hi END LIMIT 1) q);
		SELECT right_page INTO p FROM fptree_page_stats(ix, p);
	END LOOP;
	RETURN n;
END $$;

CREATE FUNCTION counted(name text) RETURNS int8
LANGUAGE sql AS $$
	SELECT sum(value)::int8 FROM fptree_prefetch_stats()
	WHERE counter ~ ('^(' || name || ')$')
$$;

-- Leaves that a statement asked for, with nothing of the indexes in shared
-- buffers: moving them makes new files.
CREATE FUNCTION asked(statement text, kind text, cold bool DEFAULT true) RETURNS int8
LANGUAGE plpgsql AS $$
BEGIN
	IF cold THEN
		ALTER INDEX t_a SET TABLESPACE fpt_start;
		ALTER INDEX t_a SET TABLESPACE pg_default;
		ALTER INDEX s_a SET TABLESPACE fpt_start;
		ALTER INDEX s_a SET TABLESPACE pg_default;
	END IF;
	CALL fpt_use(kind);
	PERFORM fptree_prefetch_reset();
	EXECUTE statement;
	CALL fpt_use('any');
	RETURN counted('leaf_issued|skip_sequential');
END $$;

-- All leaves of a bounded range are asked for, the first one included.
SELECT leaves('t_a', '10001', '40000') AS inside, leaves('s_a', '2', 'c') AS text_inside \gset
SELECT :inside > 30 AND :text_inside > 30 AS enough;
SELECT asked('SELECT count(a) FROM t WHERE a BETWEEN 10001 AND 40000', 'only') = :inside AS index_only;
SELECT counted('leaf_wasted') AS wasted, counted('distance_max') AS distance;
SELECT asked('SELECT sum(b) FROM t WHERE a BETWEEN 10001 AND 40000', 'index') = :inside AS plain;
SELECT asked('SELECT a FROM t WHERE a BETWEEN 10001 AND 40000 ORDER BY a DESC', 'only') = :inside AS backward;
SELECT counted('leaf_wasted') AS wasted;
SELECT asked('SELECT count(a) FROM s WHERE a BETWEEN ''2'' AND ''c''', 'only') = :text_inside AS general;
SELECT asked('SELECT a FROM s WHERE a BETWEEN ''2'' AND ''c'' ORDER BY a DESC', 'only') = :text_inside AS general_backward;

-- Nor are they fewer where the session remembers which leaf is the first one.
SELECT asked($q$DO $$BEGIN FOR i IN 1 .. 100 LOOP PERFORM b FROM t WHERE a = 15; END LOOP;
	PERFORM sum(b) FROM t WHERE a BETWEEN 10001 AND 40000; END$$$q$, 'index') = :inside AS remembered;
SELECT asked($q$DO $$BEGIN FOR i IN 1 .. 100 LOOP PERFORM b FROM t WHERE a = 15; END LOOP;
	PERFORM a FROM t WHERE a BETWEEN 10001 AND 40000 ORDER BY a DESC; END$$$q$, 'only') = :inside AS backward;

-- Bitmap scans run to the end of any range.
SELECT leaves('t_a', '1001', '60000') AS behind \gset
SELECT asked('SELECT sum(b) FROM t WHERE a BETWEEN 10001 AND 40000', 'bitmap') = :inside AS bounded;
SELECT asked('SELECT sum(b) FROM t WHERE a > 1000', 'bitmap') = :behind AS unbounded;
SELECT counted('leaf_wasted') AS wasted;

-- Not if they jump from one value of the first column to the next: each leaf on
-- the way is wanted for itself.
CREATE TABLE k (a int, b int) WITH (autovacuum_enabled = off);
CREATE INDEX k_ab ON k USING fptree (a, b);
INSERT INTO k SELECT i % 20, i FROM generate_series(1, 60000) i ORDER BY hashint4(i);
VACUUM (FREEZE, ANALYZE) k;
SELECT leaf_pages > 100 AS enough FROM fptree_stat('k_ab');
ALTER INDEX k_ab SET TABLESPACE fpt_start;
SELECT asked('SELECT count(*) FROM k WHERE b = 31001', 'bitmap', false) < 40 AS few;
SELECT counted('leaf_wasted') < 10 AS wasted_few;

-- and of several leaves for each value the sibling is not tried in vain twice
CREATE FUNCTION pages(statement text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	CALL fpt_use('only');
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, FORMAT JSON) ' || statement INTO plan;
	CALL fpt_use('any');
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;
SELECT pages('SELECT count(*) FROM k WHERE b BETWEEN 20000 AND 40000') < 175 AS few_pages;

-- A stop within the first leaf that nobody knows before, here after the last one's
-- equals (readahead_limit has LIMIT): up to eight other leaves, and none without an
-- end, for a single value, and for a range that does not leave the leaf.
SELECT asked('SELECT a FROM t WHERE a BETWEEN 10001 AND 40000 ORDER BY a FETCH FIRST 1 ROWS WITH TIES', 'only') AS asked,
	counted('leaf_wasted') AS wasted;
SELECT asked('SELECT b FROM t WHERE a BETWEEN 10001 AND 40000 ORDER BY a FETCH FIRST 1 ROWS WITH TIES', 'index') AS asked;
SELECT asked('SELECT b FROM t WHERE a BETWEEN 10001 AND 40000 ORDER BY a DESC FETCH FIRST 1 ROWS WITH TIES', 'index') AS asked;
SET effective_io_concurrency = 3;
SELECT asked('SELECT a FROM t WHERE a BETWEEN 10001 AND 40000 ORDER BY a FETCH FIRST 1 ROWS WITH TIES', 'only') AS asked;
SET effective_io_concurrency = 16;
SELECT asked('SELECT a FROM t WHERE a > 10000 ORDER BY a FETCH FIRST 1 ROWS WITH TIES', 'only') AS unbounded;
SELECT asked('SELECT b FROM t WHERE a = 20000', 'index') AS one;
SELECT min(key::int8) AS lo, max(key::int8) AS hi FROM fptree_page_items('t_a', 2) \gset
SELECT asked(format('SELECT a FROM t WHERE a BETWEEN %s AND %s', :lo, :hi), 'only') AS one_leaf;
SELECT asked(format('SELECT a FROM t WHERE a BETWEEN %s AND %s ORDER BY a DESC', :lo, :hi), 'only') AS one_leaf;
SELECT asked(format('SELECT b FROM t WHERE a BETWEEN %s AND %s', :lo, :hi), 'bitmap') AS one_leaf;

-- Of several columns it is the column behind those that are fixed whose end
-- counts: all that begins with one value has none.
CREATE TABLE g (a int, b int, c text) WITH (autovacuum_enabled = off);
CREATE INDEX g_ab ON g USING fptree (a, b);
INSERT INTO g SELECT i % 4, i, i FROM generate_series(1, 40000) i ORDER BY hashint4(i);
CREATE TABLE h (a int, b text COLLATE "C", c int[]) WITH (autovacuum_enabled = off);
CREATE INDEX h_b ON h USING fptree (b);
CREATE INDEX h_c ON h USING fptree (c);
INSERT INTO h SELECT i, 'the same beginning' || to_char(i, '00000'), ARRAY[i, i] FROM generate_series(1, 6000) i ORDER BY hashint4(i);
VACUUM (FREEZE, ANALYZE) g, h;
CREATE FUNCTION asked_of(ix regclass, statement text, kind text DEFAULT 'only',
	OUT asked int8, OUT wasted int8) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('ALTER INDEX %s SET TABLESPACE fpt_start', ix);
	EXECUTE format('ALTER INDEX %s SET TABLESPACE pg_default', ix);
	asked := asked(statement, kind, false);
	wasted := counted('leaf_wasted');
END $$;
CREATE TABLE at (ix regclass, p int, row tid);
INSERT INTO at SELECT ix, p, i.ctid FROM unnest('{g_ab,h_b,h_c}'::regclass[]) ix, generate_series(1, fpt_pages(ix) - 1) p,
	fptree_page_stats(ix, p) s, fptree_page_items(ix, p) i WHERE s.type = 'leaf';
CREATE FUNCTION leaves_of(ix regclass, tab regclass, cond text) RETURNS int8
LANGUAGE plpgsql AS $$
DECLARE
	n int8;
BEGIN
	EXECUTE format('SELECT count(DISTINCT p) FROM at JOIN %s t ON t.ctid = row WHERE ix = %L::regclass AND %s', tab, ix, cond) INTO n;
	RETURN n;
END $$;
SELECT leaves_of('g_ab', 'g', 'a = 2') > 12 AS enough;

-- no end, in the direction of the scan
SELECT * FROM asked_of('g_ab', 'SELECT b FROM g WHERE a = 2 ORDER BY b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT b FROM g WHERE a = 2 ORDER BY b DESC FETCH FIRST 1 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT c FROM g WHERE a = 2 ORDER BY b DESC FETCH FIRST 1 ROWS WITH TIES', 'index');
SELECT * FROM asked_of('g_ab', 'SELECT b FROM g WHERE a = 2 AND b > 2000 ORDER BY b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT b FROM g WHERE a = 2 AND b < 38000 ORDER BY b DESC FETCH FIRST 1 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT b FROM g WHERE a = 2 AND b IS NOT NULL ORDER BY b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT b FROM g WHERE a = 2 AND b = 20002');
SELECT * FROM asked_of('g_ab', 'SELECT a, b FROM g WHERE a IN (0, 2) ORDER BY a, b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT a, b FROM g WHERE (a, b) >= (2, 0) ORDER BY a, b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT a, b FROM g WHERE (a, b) <= (2, 40000) ORDER BY a DESC, b DESC FETCH FIRST 1 ROWS WITH TIES');

-- an end
SELECT * FROM asked_of('g_ab', 'SELECT b FROM g WHERE a = 2 AND b < 38000 ORDER BY b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT b FROM g WHERE a = 2 AND b > 2000 ORDER BY b DESC FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT a, b FROM g WHERE a < 2 ORDER BY a, b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT a, b FROM g WHERE a IN (0, 2) AND b < 38000 ORDER BY a, b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT a, b FROM g WHERE (a, b) <= (2, 20000) ORDER BY a, b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ab', 'SELECT a, b FROM g WHERE (a, b) >= (1, 20000) ORDER BY a DESC, b DESC FETCH FIRST 10 ROWS WITH TIES');
SELECT asked = leaves_of('g_ab', 'g', 'a = 2 AND b BETWEEN 2000 AND 38000') AS all_leaves, wasted
FROM asked_of('g_ab', 'SELECT count(*) FROM g WHERE a = 2 AND b BETWEEN 2000 AND 38000');

-- Of what has no end all is asked for from the third leaf on, and in a bitmap
-- scan from the first one on.
SELECT asked = leaves_of('g_ab', 'g', 'a = 2') - 2 AS but_two, wasted FROM asked_of('g_ab', 'SELECT count(*) FROM g WHERE a = 2');
SELECT asked = leaves_of('g_ab', 'g', 'a = 2') - 2 AS but_two, wasted
FROM asked_of('g_ab', 'SELECT count(*) FROM (SELECT b FROM g WHERE a = 2 ORDER BY b DESC OFFSET 0) s');
SELECT asked = leaves_of('g_ab', 'g', 'a IN (0, 2)') - 4 AS but_four, wasted
FROM asked_of('g_ab', 'SELECT count(*) FROM g WHERE a IN (0, 2)');
-- (elements that follow one another have a leaf in common)
SELECT asked >= leaves_of('g_ab', 'g', 'a IN (1, 2, 3)') - 6 AS but_six, wasted
FROM asked_of('g_ab', 'SELECT count(*) FROM g WHERE a IN (1, 2, 3)');
SELECT asked >= leaves_of('g_ab', 'g', 'a IN (1, 2, 3)') - 6 AS but_six, wasted
FROM asked_of('g_ab', 'SELECT count(*) FROM (SELECT b FROM g WHERE a IN (1, 2, 3) ORDER BY a DESC, b DESC OFFSET 0) s');
SELECT asked = leaves_of('g_ab', 'g', 'a = 2') AS all_leaves, wasted FROM asked_of('g_ab', 'SELECT count(c) FROM g WHERE a = 2', 'bitmap');

-- In descending order, where what is before the NULLs has no end
DROP INDEX g_ab;
TRUNCATE g;
CREATE INDEX g_ba ON g USING fptree (a, b DESC);
INSERT INTO g SELECT i % 4, i, i FROM generate_series(1, 40000) i ORDER BY hashint4(i);
VACUUM (FREEZE, ANALYZE) g;
SELECT * FROM asked_of('g_ba', 'SELECT b FROM g WHERE a = 2 AND b > 2000 ORDER BY b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ba', 'SELECT b FROM g WHERE a = 2 AND b < 38000 ORDER BY b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('g_ba', 'SELECT b FROM g WHERE a = 2 AND b > 2000 ORDER BY b DESC FETCH FIRST 10 ROWS WITH TIES');

-- One value after the other, as in LATERAL (... ORDER BY .. LIMIT 1): nothing
-- is asked for, or what an end allows.
SELECT * FROM asked_of('g_ba', 'SELECT count(x.b) FROM generate_series(0, 3) u,
	LATERAL (SELECT b FROM g WHERE a = u ORDER BY b DESC FETCH FIRST 1 ROWS WITH TIES) x');
SELECT * FROM asked_of('g_ba', 'SELECT count(x.b) FROM generate_series(0, 3) u,
	LATERAL (SELECT b FROM g WHERE a = u ORDER BY b FETCH FIRST 1 ROWS WITH TIES) x');
SELECT wasted FROM asked_of('g_ba', 'SELECT count(x.b) FROM generate_series(0, 3) u,
	LATERAL (SELECT b FROM g WHERE a = u AND b > 2000 ORDER BY b DESC FETCH FIRST 1 ROWS WITH TIES) x');

-- Quals on a later column make a scan jump at the end of each leaf, but to the
-- next one: all is asked for, once, as without them.  Not where it leaves some
-- out.
DROP INDEX g_ba;
TRUNCATE g;
CREATE INDEX g_ab ON g USING fptree (a, b);
INSERT INTO g SELECT i / 10, i % 10, i FROM generate_series(1, 20000) i ORDER BY hashint4(i);
VACUUM (FREEZE, ANALYZE) g;
INSERT INTO at SELECT 'g_ab'::regclass, p, i.ctid FROM generate_series(1, fpt_pages('g_ab') - 1) p, fptree_page_stats('g_ab', p) s,
	fptree_page_items('g_ab', p) i WHERE s.type = 'leaf';
SELECT leaves_of('g_ab', 'g', 'a BETWEEN 300 AND 1700') AS inside \gset leaves_
SELECT :leaves_inside > 20 AS enough;
SELECT asked = :leaves_inside AS all_leaves, wasted FROM asked_of('g_ab', 'SELECT count(*) FROM g WHERE a BETWEEN 300 AND 1700 AND b = 5');
SELECT asked = :leaves_inside AS all_leaves, wasted FROM asked_of('g_ab', 'SELECT count(*) FROM g WHERE a BETWEEN 300 AND 1700 AND b > 5');
SELECT asked = :leaves_inside AS all_leaves, wasted FROM asked_of('g_ab', 'SELECT count(c) FROM g WHERE a BETWEEN 300 AND 1700 AND b IN (2, 5)', 'bitmap');
SELECT asked = :leaves_inside AS all_leaves, wasted
FROM asked_of('g_ab', 'SELECT count(*) FROM (SELECT a FROM g WHERE a BETWEEN 300 AND 1700 AND b = 5 ORDER BY a DESC OFFSET 0) s');
SELECT asked > :leaves_inside - 5 AS nearly_all, wasted FROM asked_of('g_ab', 'SELECT count(*) FROM g WHERE b = 5');
SELECT asked <= 9 AS few, wasted <= 8 AS wasted_few
FROM asked_of('g_ab', 'SELECT count(*) FROM g WHERE a IN (300, 301, 302, 800, 801, 1200, 1600) AND b = 5');

-- An array's elements that lie in leaf after leaf: from the fourth one on all
-- are asked for, up to the last element, whether they begin with their leaves
-- or in those before.  Nothing beyond a range that goes on for leaves.  Where
-- elements leave leaves out, as many as the leaf parent was asked about.
CREATE FUNCTION elements(first int, last int, step int) RETURNS int8[] LANGUAGE sql IMMUTABLE
AS 'SELECT array_agg(i::int8) FROM generate_series(first, last, step) i';
SELECT leaves('t_a', '10001', '39999') AS array \gset leaves_
SELECT :leaves_array - asked('SELECT count(a) FROM t WHERE a = ANY (elements(10001, 39999, 20))', 'only') AS but, counted('leaf_wasted') AS wasted;
SELECT :leaves_array - asked('SELECT count(b) FROM t WHERE a = ANY (elements(10001, 39999, 20))', 'index') AS but, counted('leaf_wasted') AS wasted;
SELECT :leaves_array - asked('SELECT count(b) FROM t WHERE a = ANY (elements(10001, 39999, 20))', 'bitmap') AS but, counted('leaf_wasted') AS wasted;
SELECT :leaves_array - asked('SELECT a FROM t WHERE a = ANY (elements(10001, 39999, 20)) ORDER BY a DESC', 'only') AS but, counted('leaf_wasted') AS wasted;
SELECT asked('SELECT count(a) FROM t WHERE a = ANY (elements(10001, 39999, 3000))', 'only') AS asked;
SELECT asked('SELECT a FROM t WHERE a = ANY (elements(10001, 39999, 20)) ORDER BY a FETCH FIRST 10 ROWS WITH TIES', 'only') AS asked;
-- half of the leaves, then none for long
SELECT asked('SELECT count(a) FROM t WHERE a = ANY (elements(10001, 25000, 20) || elements(30000, 59000, 3000))', 'only') BETWEEN 10 AND :leaves_array AS some,
	counted('leaf_wasted') <= 16 AS wasted_few;
CREATE INDEX g_a ON g USING fptree (a);
CREATE INDEX g_t ON g USING fptree ((a::text) COLLATE "C");
INSERT INTO at SELECT ix, p, i.ctid FROM unnest('{g_a,g_t}'::regclass[]) ix, generate_series(1, fpt_pages(ix) - 1) p,
	fptree_page_stats(ix, p) s, fptree_page_items(ix, p) i WHERE s.type = 'leaf';
ANALYZE g;
SELECT leaves_of('g_a', 'g', 'a BETWEEN 300 AND 1700') > 6 AND leaves_of('g_t', 'g', 'a BETWEEN 300 AND 999') > 5 AS enough;
SELECT leaves_of('g_ab', 'g', 'a BETWEEN 300 AND 1700') - asked <= 4 AS nearly_all, wasted
FROM asked_of('g_ab', 'SELECT count(a) FROM g WHERE a = ANY (elements(300, 1700, 1)::int[]) AND b >= 0');
SELECT leaves_of('g_ab', 'g', 'a BETWEEN 300 AND 1700') - asked <= 4 AS nearly_all, wasted
FROM asked_of('g_ab', 'SELECT count(*) FROM (SELECT a FROM g WHERE a = ANY (elements(300, 1700, 1)) AND b >= 0 ORDER BY a DESC, b DESC OFFSET 0) s');
SELECT leaves_of('g_ab', 'g', 'a BETWEEN 300 AND 1700') - asked <= 4 AS nearly_all, wasted
FROM asked_of('g_ab', 'SELECT count(a) FROM g WHERE a = ANY (elements(300, 1700, 5)::int[]) AND b = 5');
DROP INDEX g_ab;
SELECT leaves_of('g_a', 'g', 'a BETWEEN 300 AND 1700') - asked <= 4 AS nearly_all, wasted
FROM asked_of('g_a', 'SELECT count(a) FROM g WHERE a = ANY (elements(300, 1700, 2)::int[])');
SELECT leaves_of('g_t', 'g', 'a::text COLLATE "C" BETWEEN ''300'' AND ''999''') - asked <= 4 AS nearly_all, wasted
FROM asked_of('g_t', 'SELECT count(c) FROM g WHERE a::text COLLATE "C" = ANY (elements(300, 999, 1)::text[])', 'index');
-- elements with rows on several leaves
CREATE TABLE m (a int) WITH (autovacuum_enabled = off);
CREATE INDEX m_a ON m USING fptree (a);
INSERT INTO m SELECT i % 10 FROM generate_series(1, 80000) i ORDER BY hashint4(i);
VACUUM (FREEZE, ANALYZE) m;
INSERT INTO at SELECT 'm_a'::regclass, p, i.ctid FROM generate_series(1, fpt_pages('m_a') - 1) p, fptree_page_stats('m_a', p) s,
	fptree_page_items('m_a', p) i WHERE s.type = 'leaf';
SELECT leaves_of('m_a', 'm', 'a = 3') > 3 AS enough;
SELECT wasted FROM asked_of('m_a', 'SELECT count(a) FROM m WHERE a IN (1, 2, 3, 8)');

-- Nor does it matter whether values differ in their first bytes, or in any.
SELECT asked = leaves_of('h_b', 'h', 'a BETWEEN 1000 AND 5000') AS all_leaves, asked > 5 AS many, wasted
FROM asked_of('h_b', 'SELECT count(b) FROM h WHERE b BETWEEN ''the same beginning 01000'' AND ''the same beginning 05000''');
SELECT asked = leaves_of('h_c', 'h', 'a BETWEEN 1000 AND 5000') AS all_leaves, asked > 15 AS many, wasted
FROM asked_of('h_c', 'SELECT count(c) FROM h WHERE c BETWEEN ARRAY[1000] AND ARRAY[5000, 5000]');
SELECT * FROM asked_of('h_b', 'SELECT b FROM h WHERE b > ''the same beginning 01000'' ORDER BY b FETCH FIRST 10 ROWS WITH TIES');
SELECT * FROM asked_of('h_b', 'SELECT b FROM h WHERE b < ''the same beginning 05000'' ORDER BY b FETCH FIRST 10 ROWS WITH TIES');

-- Nothing beyond a range that ends with a leaf parent's last leaf.
CREATE TABLE p (a int, b text COLLATE "C") WITH (autovacuum_enabled = off);
ALTER TABLE p ALTER b SET STORAGE EXTERNAL;
INSERT INTO p SELECT i, repeat('x', 655) || to_char(i, '00000') FROM generate_series(1, 2000) i;
CREATE INDEX p_b ON p USING fptree (b);
VACUUM (FREEZE, ANALYZE) p;
INSERT INTO at SELECT 'p_b'::regclass, p, i.ctid FROM generate_series(1, fpt_pages('p_b') - 1) p, fptree_page_stats('p_b', p) s, fptree_page_items('p_b', p) i WHERE s.type = 'leaf';
SELECT substring(high_fence FROM '\d{5}')::int - 1 AS last FROM generate_series(1, fpt_pages('p_b') - 1) p, fptree_page_stats('p_b', p) s
	WHERE level = 1 AND left_page <> 0 AND right_page <> 0 ORDER BY p LIMIT 1 \gset
SELECT asked = leaves_of('p_b', 'p', format('a BETWEEN 50 AND %s', :last)) AS all_leaves, asked > 20 AS many, wasted
FROM asked_of('p_b', format($$SELECT count(b) FROM p WHERE b BETWEEN repeat('x', 655) || ' 00050' AND repeat('x', 655) || to_char(%s, '00000')$$, :last));
SELECT asked = leaves_of('p_b', 'p', format('a BETWEEN %s + 1 AND 1900', :last)) AS all_leaves, asked > 20 AS many, wasted
FROM asked_of('p_b', format($$SELECT b FROM p WHERE b BETWEEN repeat('x', 655) || to_char(%s + 1, '00000') AND repeat('x', 655) || ' 01900' ORDER BY b DESC$$, :last));

-- Rescans.  Those that stop within the first leaf ask for less each time, and
-- in the end for that leaf only; after one that runs on it is as in the
-- beginning, and it stays so where all do.
CREATE FUNCTION rescans(los int[], rows int[], kind text, descending text DEFAULT '',
	OUT asked int8, OUT wasted int8) LANGUAGE plpgsql AS $$
BEGIN
	asked := asked(format('SELECT count(x.a) FROM unnest(%L::int[], %L::int[]) o(lo, n),
		LATERAL (SELECT a FROM t WHERE a BETWEEN lo AND lo + 15000 ORDER BY a %s FETCH FIRST (n) ROWS WITH TIES) x',
		los, rows, descending), kind);
	wasted := counted('leaf_wasted');
END $$;
SET enable_sort = off;
SELECT * FROM rescans('{1000}', '{1}', 'only');
SELECT * FROM rescans('{1000,6000,11000,16000,21000,26000,31000,36000}', '{1,1,1,1,1,1,1,1}', 'only');
SELECT * FROM rescans('{1000,6000,11000,16000,21000,26000,31000,36000}', '{1,1,1,1,1,1,1,1}', 'index', 'DESC');
SELECT wasted FROM rescans('{1000,6000,11000,16000,21000,26000,45000}', '{1,1,1,1,1,20000,1}', 'only');
SELECT wasted FROM rescans('{1000,17000,45000}', '{20000,20000,20000}', 'only');
SELECT wasted FROM rescans('{1000,17000,45000}', '{20000,20000,1}', 'only');
RESET enable_sort;

-- A bitmap scan asks for all at once, where as many may be under way.
SET effective_io_concurrency = 200;
SELECT asked('SELECT sum(b) FROM t WHERE a BETWEEN 10001 AND 40000', 'bitmap') = :inside AS bitmap,
	counted('distance_max') = :inside - 1 AS at_once;
SELECT asked('SELECT count(a) FROM t WHERE a BETWEEN 10001 AND 40000', 'only') = :inside AS index_only,
	counted('distance_max') < :inside - 1 AS by_and_by;
SET effective_io_concurrency = 16;

-- Nothing is asked for at first where the first leaf is in shared buffers.
SELECT asked('SELECT a FROM t WHERE a BETWEEN 10001 AND 40000 ORDER BY a FETCH FIRST 1 ROWS WITH TIES', 'only', false) AS warm,
	counted('leaf_cached') AS cached;
SELECT asked('SELECT sum(b) FROM t WHERE a BETWEEN 10001 AND 40000', 'bitmap', false) AS warm,
	counted('leaf_cached') < 40 AS few;

-- A scan by several processes, of which here there is one
SET max_parallel_workers_per_gather = 2;
SET max_parallel_workers = 0;
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
EXPLAIN (COSTS OFF) SELECT count(a) FROM t WHERE a BETWEEN 10001 AND 40000;
SELECT asked('SELECT count(a) FROM t WHERE a BETWEEN 10001 AND 40000', 'only') = :inside AS all_leaves;
RESET max_parallel_workers_per_gather;

-- Asking can be cancelled: where that was done while the numbers of leaves were
-- copied, none but the first one is asked for.  (Elsewhere it is all, or nothing.)
\getenv builddir PG_ABS_BUILDDIR
\set module :builddir '/test/module/fptree_test'
CREATE FUNCTION compare(int, int) RETURNS int
AS :'module', 'fptree_test_compare' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION compares(cancel_at bigint) RETURNS bigint
AS :'module', 'fptree_test_compares' LANGUAGE C STRICT;
CREATE OPERATOR CLASS counted FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 compare(int, int);
CREATE TABLE c (a int) WITH (autovacuum_enabled = off);
CREATE INDEX c_a ON c USING fptree (a counted);
INSERT INTO c SELECT i FROM generate_series(1, 20000) i ORDER BY hashint4(i);
VACUUM (FREEZE, ANALYZE) c;
CREATE FUNCTION cancelled_at(n int8) RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
	ALTER INDEX c_a SET TABLESPACE fpt_start;
	ALTER INDEX c_a SET TABLESPACE pg_default;
	CALL fpt_use('bitmap');
	PERFORM fptree_prefetch_reset();
	BEGIN
		PERFORM compares(n);
		PERFORM count(*) FROM c WHERE a BETWEEN 1000 AND 19000;
	EXCEPTION WHEN query_canceled THEN
	END;
	PERFORM compares(0);
	CALL fpt_use('any');
	RETURN counted('leaf_issued');
END $$;
SET effective_io_concurrency = 200;
SELECT cancelled_at(0) > 30 AS all_leaves;
SELECT count(*) > 10 AS cancelled FROM generate_series(1, 100, 3) n WHERE cancelled_at(n) = 1;
SET effective_io_concurrency = 16;

-- Requests are counted from that for the first leaf on.
SET fptree.prefetch_distance = 1;
SELECT asked('SELECT a FROM t WHERE a BETWEEN 10001 AND 40000 ORDER BY a DESC', 'only') > 20 AS asked,
	counted('leaf_requests') = counted('leaf_issued') AS requests;
RESET fptree.prefetch_distance;

-- Off by setting and by tablespace; at a fixed distance
SET fptree.leaf_prefetch = off;
SELECT asked('SELECT sum(b) FROM t WHERE a BETWEEN 10001 AND 40000', 'bitmap') AS off;
RESET fptree.leaf_prefetch;
SET effective_io_concurrency = 0;
SELECT asked('SELECT sum(b) FROM t WHERE a BETWEEN 10001 AND 40000', 'bitmap') AS off;
SET effective_io_concurrency = 16;
SET fptree.prefetch_distance = 3;
SELECT asked('SELECT sum(b) FROM t WHERE a BETWEEN 10001 AND 40000', 'bitmap') = :inside AS all_leaves,
	counted('distance_max') AS distance;
RESET fptree.prefetch_distance;

-- A striped index, where there are any: four times 1 + 1/2 + 1/3 + 1/4 for each disk,
-- which a scan that may stop comes to by and by.
CREATE TABLESPACE fpt_start_2 LOCATION '';
CREATE TABLESPACE fpt_start_3 LOCATION '';
CREATE TABLESPACE fpt_start_4 LOCATION '';
CREATE FUNCTION striped(statement text, kind text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
	CREATE INDEX s_a ON s USING fptree (a)
		WITH (tablespaces = 'fpt_start, fpt_start_2, fpt_start_3, fpt_start_4');
	INSERT INTO s SELECT md5(i::text) FROM generate_series(1, 10000) i;
	REINDEX INDEX s_a;
	CALL fpt_use(kind);
	PERFORM fptree_prefetch_reset();
	EXECUTE statement;
	CALL fpt_use('any');
	TRUNCATE s;
	DROP INDEX s_a;
	RETURN format('distance %s, all leaves %s, wasted %s', counted('distance_max'),
				  counted('leaf_issued') > 30, counted('leaf_wasted'));
EXCEPTION WHEN feature_not_supported THEN
	RETURN 'distance 33, all leaves t, wasted 0';
END $$;
DROP INDEX s_a;
TRUNCATE s;
SET effective_io_concurrency = 1;
BEGIN;
SELECT striped($$SELECT count(a) FROM s WHERE a BETWEEN '1' AND 'e'$$, 'only');
SELECT striped($$SELECT count(a) FROM s WHERE a > '1'$$, 'bitmap');
ROLLBACK;
RESET effective_io_concurrency;

SELECT fpt_check_all();
DROP TABLE t, s, k, g, h, m, p, c, at;
DROP TABLESPACE fpt_start;
DROP TABLESPACE fpt_start_2;
DROP TABLESPACE fpt_start_3;
DROP TABLESPACE fpt_start_4;

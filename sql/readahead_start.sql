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
-- or in those before.  Nothing beyond a range that goes on for leaves, or where
-- elements leave some out.
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

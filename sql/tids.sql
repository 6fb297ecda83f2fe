--
-- TIDs that are relative to their nodes: a byte each, where rows follow each
-- other in the table, but for some that may be anywhere.
--
CREATE SCHEMA fpt_tids;
SET search_path = fpt_tids, public;
SET max_parallel_maintenance_workers = 0;

-- bytes of TIDs, and the part of the leaves that has these, in percent
CREATE FUNCTION widths(ix regclass, OUT tid_width int, OUT percent bigint)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT tid_width, 100 * count(*) / sum(count(*)) OVER ()
	FROM fpt_page_numbers(ix) p, fptree_page_stats(ix, p) s
	WHERE s.level = 0 AND s.type = 'leaf'
	GROUP BY tid_width ORDER BY tid_width
$$;

-- Are the leaves mostly, or all, of short TIDs, and is the index sound?
CREATE FUNCTION short(ix regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	p bigint := (SELECT percent FROM widths(ix) w WHERE w.tid_width = 1);
BEGIN
	PERFORM fptree_index_parent_check(ix, true, true);
	RETURN CASE WHEN p >= 80 THEN 'most' WHEN p > 0 THEN 'some' ELSE 'none' END;
END $$;

-- built: ascending and descending, wide keys and narrow ones, NULLs
CREATE TABLE t (id int8, d int, ts timestamptz, u uuid, n int, v int);
INSERT INTO t SELECT i, i / 7, '2026-01-01'::timestamptz + i * interval '79 s',
	(lpad(to_hex(i * 8191::int8), 12, '0') || '7' || lpad('', 19, '8'))::uuid,
	CASE WHEN i > 5000 THEN i END, 0
FROM generate_series(1, 30000) i;
CREATE INDEX t_id ON t USING fptree (id);
CREATE INDEX t_desc ON t USING fptree (id DESC);
CREATE INDEX t_d ON t USING fptree (d);
CREATE INDEX t_ts ON t USING fptree (ts);
CREATE INDEX t_u ON t USING fptree (u);
CREATE INDEX t_n ON t USING fptree (n NULLS FIRST);
CREATE INDEX t_full ON t USING fptree (id) WITH (fillfactor = 100);
CREATE INDEX t_empty ON t USING fptree (id) WITH (fillfactor = 30);
VACUUM t;
SELECT ix, short(ix::regclass)
FROM unnest('{t_id,t_desc,t_d,t_ts,t_u,t_n,t_full,t_empty}'::text[]) ix;
SELECT fpt_same('SELECT id, ctid FROM t ORDER BY id'),
	   fpt_same('SELECT id, ctid FROM t ORDER BY id DESC'),
	   fpt_same('SELECT d, ctid FROM t WHERE d BETWEEN 1000 AND 1010 ORDER BY d, ctid'),
	   fpt_same('SELECT ts, ctid FROM t WHERE ts > $$2026-01-10$$ ORDER BY ts'),
	   fpt_same('SELECT u, ctid FROM t ORDER BY u'),
	   fpt_same('SELECT n, ctid FROM t WHERE n > 29000 ORDER BY n');

-- some rows elsewhere: updated ones, whose new versions are at the end
DROP INDEX t_full, t_empty;
UPDATE t SET v = 1, d = d WHERE id % 50 = 7;
SELECT ix, short(ix::regclass)
FROM unnest('{t_id,t_desc,t_d,t_ts,t_u,t_n}'::text[]) ix;
SELECT fpt_same('SELECT id, ctid FROM t ORDER BY id');
-- an index that is built now has them, too
REINDEX INDEX t_id;
REINDEX INDEX t_u;
SELECT short('t_id'), short('t_u'), fpt_same('SELECT id, ctid FROM t ORDER BY id');
-- VACUUM takes the old versions away, and what these had room for is free
VACUUM t;
SELECT ix, short(ix::regclass)
FROM unnest('{t_id,t_desc,t_d,t_ts,t_u,t_n}'::text[]) ix;
-- all rows elsewhere, in no order: TIDs are stored whole
DO $$
BEGIN
	FOR i IN 0..9 LOOP
		UPDATE t SET v = 2, d = d WHERE mod(hashint8(id)::int8, 10) IN (i, -i) AND v < 2;
	END LOOP;
END $$;
VACUUM t;
SELECT fpt_same('SELECT id, ctid FROM t ORDER BY id'),
	   fpt_same('SELECT d, ctid FROM t WHERE d BETWEEN 1000 AND 1010 ORDER BY d, ctid');
SELECT ix, short(ix::regclass)
FROM unnest('{t_id,t_desc,t_d,t_ts,t_u,t_n}'::text[]) ix;
REINDEX TABLE t;
SELECT ix, short(ix::regclass)
FROM unnest('{t_id,t_desc,t_d,t_ts,t_u,t_n}'::text[]) ix;
DROP TABLE t;

-- rows that come in ascending order: leaves behind are nearly full, as built;
-- rows of all widths, so of few and many a block
CREATE TABLE w (id int8, s text);
CREATE TABLE x (id int8, s text);
ALTER TABLE w ALTER s SET STORAGE plain;
ALTER TABLE x ALTER s SET STORAGE plain;
CREATE INDEX w_id ON w USING fptree (id);
CREATE INDEX x_id ON x USING btree (id);
CREATE FUNCTION wal_of(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, WAL, FORMAT JSON) ' || statement INTO plan;
	RETURN plan->0->'Plan'->>'WAL Bytes';
END $$;
CREATE FUNCTION loaded(bytes int, rows int, OUT widths text, OUT smaller bool,
					   OUT no_more_wal bool) LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT i, repeat($q$x$q$, %s) FROM generate_series(1, %s) i',
						 bytes, rows);
BEGIN
	TRUNCATE w, x;
	no_more_wal := wal_of('INSERT INTO w ' || query) <= wal_of('INSERT INTO x ' || query);
	widths := short('w_id');
	smaller := fpt_pages('w_id') * 100 <= fpt_pages('x_id') * 25;
END $$;
SELECT b, l.* FROM (VALUES (0, 30000), (40, 30000), (60, 30000), (100, 20000), (1500, 8000)) v(b, n),
	loaded(b, n) l;
-- into free space that is scattered over the table: not for long
TRUNCATE w, x;
INSERT INTO w SELECT i, '' FROM generate_series(1, 40000) i;
DELETE FROM w WHERE id % 40 = 0;
VACUUM w;
INSERT INTO w SELECT i, '' FROM generate_series(50001, 51000) i;
INSERT INTO x SELECT * FROM w;
SELECT fptree_index_parent_check('w_id', true, true);
SELECT fpt_same('SELECT id, ctid FROM w WHERE id > 39000 ORDER BY id');
SELECT fpt_pages('w_id') * 100 <= fpt_pages('x_id') * 25 AS smaller;
DROP TABLE w, x;

-- rows of one key, which TIDs alone put in order
CREATE TABLE k (k int, v int);
INSERT INTO k SELECT i / 1000, 0 FROM generate_series(0, 19999) i;
CREATE INDEX k_k ON k USING fptree (k);
UPDATE k SET v = 1 WHERE (ctid::text::point)[1]::int % 9 = 0;
SELECT short('k_k') <> 'none' AS ok,
	   fpt_same('SELECT k, ctid FROM k WHERE k = 7 ORDER BY k, ctid');
DELETE FROM k WHERE v = 1;
VACUUM k;
INSERT INTO k SELECT i % 20, 2 FROM generate_series(1, 2000) i;
SELECT fptree_index_parent_check('k_k', true, true);
SELECT fpt_same('SELECT k, ctid FROM k WHERE k = 7 ORDER BY k, ctid');

-- A leaf of relative TIDs that is split where neither half can be one: in the
-- right part are a gap, over which keys cannot be relative to a node, and rows
-- updated elsewhere at both sides of borders between nodes, too many for a node
-- with other borders; and that part has too many entries for whole TIDs.
SET fptree.debug_node_lines = '0,1';
CREATE TEMP TABLE s (id int8, v int);
INSERT INTO s SELECT i * 3, 0 FROM generate_series(1, 9000) i;
CREATE INDEX s_id ON s USING fptree (id) WITH (fillfactor = 95);
RESET fptree.debug_node_lines;
CREATE INDEX s_v ON s (v);	-- no HOT updates
CREATE TEMP TABLE p AS SELECT p AS no
FROM fpt_page_numbers('s_id') p, fptree_page_stats('s_id', p) s
WHERE level = 0 AND type = 'leaf' ORDER BY low_fence OFFSET 1 LIMIT 1;
-- entries as they were built, and the last ones of some nodes
CREATE TEMP TABLE it AS
SELECT itemoffset AS o, key::int8 AS k,
	node <> lead(node) OVER (ORDER BY itemoffset) AS last
FROM p, fptree_page_items('s_id', no);
CREATE TEMP TABLE b AS SELECT DISTINCT ON (o / 100) o AS b
FROM it WHERE last AND o > 2200 AND o < 2700 ORDER BY o / 100, o;
-- the gap, and two free slots in each node that the borders are between
DELETE FROM s USING it WHERE id = k AND (o BETWEEN 2000 AND 2090 OR
	EXISTS (SELECT FROM b WHERE o IN (b - 4, b - 3, b + 4, b + 5)));
VACUUM s;
-- (takes the place that this left in the table)
INSERT INTO s SELECT 10000000 + i, 0 FROM generate_series(1, 300) i;
SELECT tid_width, current_setting('block_size') <> '8192' OR
	entries > capacity * 18 / 19 AS "whole TIDs have no room"
FROM p, fptree_page_stats('s_id', no);
-- two far TIDs, the most that there can be, in each of these nodes
BEGIN;
UPDATE s SET v = 1 FROM it JOIN b ON o BETWEEN b - 1 AND b + 2 WHERE id = k;
SELECT tid_width, current_setting('block_size') <> '8192' OR
	entries > capacity * 18 / 19 AS "whole TIDs have no room"
FROM p, fptree_page_stats('s_id', no);
-- others in the left part, until the page is full (old versions stay, as this
-- is one transaction)
UPDATE s SET v = 2 FROM it WHERE id = k AND o BETWEEN 500 AND 550;
COMMIT;
SELECT tid_width, count(*) > 0 AS pages
FROM fpt_page_numbers('s_id') p, fptree_page_stats('s_id', p) s
WHERE level = 0 AND type = 'leaf' GROUP BY 1 ORDER BY 1;
SELECT fptree_index_parent_check('s_id', true, true);
DROP TABLE s, p, it, b;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA fpt_tids CASCADE;

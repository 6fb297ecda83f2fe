--
-- fptree_metap(), fptree_page_stats(), fptree_page_items(), fptree_stat()
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fptree;
RESET client_min_messages;

CREATE TABLE insp (i int4, b int8 NOT NULL, f float8, u uuid, d date);
CREATE INDEX insp_i ON insp USING fptree (i);

-- All pages but the metapage.
CREATE FUNCTION insp_pages(index regclass) RETURNS SETOF int8
LANGUAGE sql AS $$
	SELECT fpt_page_numbers($1)
$$;

-- An empty index
SELECT magic, version, indexid <> 0 AS has_id, keyclass, keysize, nullsfirst,
	descending, linesize, stripes, root, level,
	array_dims(node_lines), array_dims(leaf_node_lines)
	FROM fptree_metap('insp_i');
SELECT page, type, level, left_page, right_page, flags, entries, dead_entries,
	nodes, free_nodes, null_nodes, low_fence, high_fence
	FROM insp_pages('insp_i') p, fptree_page_stats('insp_i', p);
SELECT itemoffset, downlink, key FROM fptree_page_items('insp_i', 1);
SELECT version, tree_level, index_size / current_setting('block_size')::int AS pages,
	root_block_no, internal_pages, leaf_pages, empty_pages, deleted_pages,
	avg_leaf_density, leaf_fragmentation, entries, avg_node_fill
	FROM fptree_stat('insp_i');

-- One page, inserted out of order
INSERT INTO insp VALUES
	(30, 1, 0, NULL, '2001-01-01'), (10, 2, '-0', NULL, 'infinity'),
	(NULL, 3, 'NaN', NULL, '-infinity'), (20, 4, '-inf', NULL, '4713-01-01 BC'),
	(10, 5, 1.5, NULL, NULL);
SELECT itemoffset, ctid, downlink, key, is_null, dead
	FROM fptree_page_items('insp_i', 1);
SELECT type, level, entries, dead_entries, null_nodes, low_fence, high_fence
	FROM fptree_page_stats('insp_i', 1);

-- DESC and NULLS FIRST, other types
CREATE INDEX insp_i_desc ON insp USING fptree (i DESC);
CREATE INDEX insp_b ON insp USING fptree (b DESC);
CREATE INDEX insp_f ON insp USING fptree (f);
CREATE INDEX insp_u ON insp USING fptree (u);
CREATE INDEX insp_d ON insp USING fptree (d DESC NULLS LAST);
SET datestyle = 'ISO, YMD';
SELECT nullsfirst, descending FROM fptree_metap('insp_i_desc');
SELECT itemoffset, ctid, key, is_null FROM fptree_page_items('insp_i_desc', 1);
SELECT itemoffset, ctid, key, is_null FROM fptree_page_items('insp_b', 1);
SELECT itemoffset, ctid, key, is_null FROM fptree_page_items('insp_f', 1);
SELECT itemoffset, ctid, key, is_null FROM fptree_page_items('insp_d', 1);
RESET datestyle;

-- Several levels
INSERT INTO insp
	SELECT CASE WHEN i % 100 <> 0 THEN (i::int8 * 104729 % 1000003)::int4 END,
		   i, i * 0.5, md5(i::text)::uuid, '2020-01-01'::date + i % 1000
	FROM generate_series(6, 100000) i;
SELECT x.index, level > 0 AS has_levels, keysize
	FROM unnest('{insp_i,insp_b,insp_f,insp_u,insp_d}'::regclass[]) x (index),
		 fptree_metap(x.index) m ORDER BY 1;
-- items are what page_stats says, numbered, in slots of their own
SELECT x.index, sum(s.entries) FILTER (WHERE s.type = 'leaf') AS leaf_entries,
	bool_and(s.entries = i.n) AS n_ok, bool_and(s.entries = i.last) AS numbered,
	bool_and(s.entries = i.slots) AS slots_ok,
	bool_and(s.nodes = i.nodes) AS nodes_ok,
	bool_and(s.entries <= s.capacity AND s.free_size >= 0) AS cap_ok,
	bool_and((s.type = 'leaf') = (s.level = 0)) AS level_ok,
	count(*) FILTER (WHERE s.type = 'root') AS roots
	FROM unnest('{insp_i,insp_b,insp_f,insp_u,insp_d}'::regclass[]) x (index),
		 insp_pages(x.index) p, fptree_page_stats(x.index, p) s,
		 LATERAL (SELECT count(*) AS n, max(itemoffset) AS last,
						 count(DISTINCT (node, slot)) AS slots,
						 count(DISTINCT node) AS nodes
				  FROM fptree_page_items(x.index, p)) i
	WHERE s.type IN ('root', 'inner', 'leaf')
	GROUP BY 1 ORDER BY 1;
-- inner pages have downlinks, leaf pages have hints
SELECT DISTINCT s.type, s.level > 0 AS inner, downlink > 0 AS down,
	dead IS NOT NULL AS has_hint, it.ctid IS NOT NULL AS has_ctid
	FROM insp_pages('insp_u') p, fptree_page_stats('insp_u', p) s,
		 fptree_page_items('insp_u', p) it
	-- pages of 32 kB are too few for a third level
	UNION SELECT 'inner', true, true, false, true WHERE fpt_scale(8) > 8
	ORDER BY 1;
-- leaf items are the rows of the table
SELECT 'i' AS col, count(*), count(*) FILTER (WHERE t.i::text IS DISTINCT FROM it.key) AS wrong
	FROM insp t FULL JOIN
		 (SELECT it.* FROM insp_pages('insp_i') p,
				 fptree_page_stats('insp_i', p) s, fptree_page_items('insp_i', p) it
		  WHERE s.level = 0) it ON it.ctid = t.ctid
UNION ALL
SELECT 'b', count(*), count(*) FILTER (WHERE t.b::text IS DISTINCT FROM it.key)
	FROM insp t FULL JOIN
		 (SELECT it.* FROM insp_pages('insp_b') p,
				 fptree_page_stats('insp_b', p) s, fptree_page_items('insp_b', p) it
		  WHERE s.level = 0) it ON it.ctid = t.ctid
UNION ALL
SELECT 'f', count(*), count(*) FILTER (WHERE t.f::text IS DISTINCT FROM it.key)
	FROM insp t FULL JOIN
		 (SELECT it.* FROM insp_pages('insp_f') p,
				 fptree_page_stats('insp_f', p) s, fptree_page_items('insp_f', p) it
		  WHERE s.level = 0) it ON it.ctid = t.ctid
UNION ALL
SELECT 'u', count(*), count(*) FILTER (WHERE t.u::text IS DISTINCT FROM it.key)
	FROM insp t FULL JOIN
		 (SELECT it.* FROM insp_pages('insp_u') p,
				 fptree_page_stats('insp_u', p) s, fptree_page_items('insp_u', p) it
		  WHERE s.level = 0) it ON it.ctid = t.ctid
UNION ALL
SELECT 'd', count(*), count(*) FILTER (WHERE t.d::text IS DISTINCT FROM it.key)
	FROM insp t FULL JOIN
		 (SELECT it.* FROM insp_pages('insp_d') p,
				 fptree_page_stats('insp_d', p) s, fptree_page_items('insp_d', p) it
		  WHERE s.level = 0) it ON it.ctid = t.ctid;
-- every page but the root has one downlink, and siblings' fences meet
SELECT count(*) FILTER (WHERE d.n IS DISTINCT FROM 1) AS wrong
	FROM insp_pages('insp_u') p, fptree_page_stats('insp_u', p) s
		 LEFT JOIN (SELECT it.downlink, count(*) AS n
					FROM insp_pages('insp_u') p,
						 fptree_page_items('insp_u', p) it
					WHERE it.downlink IS NOT NULL GROUP BY 1) d
		 ON d.downlink = s.page
	WHERE s.type IN ('inner', 'leaf');
SELECT count(*) FILTER (WHERE a.high_fence <> b.low_fence OR b.left_page <> a.page
						OR a.level <> b.level) AS wrong
	FROM insp_pages('insp_u') p, fptree_page_stats('insp_u', p) a,
		 fptree_page_stats('insp_u', a.right_page) b
	WHERE a.right_page <> 0;

-- Totals
SELECT x.index, s.entries, tree_level = m.level AS level_ok,
	index_size = fpt_pages(x.index) * current_setting('block_size')::int AS size_ok,
	(1 + internal_pages + leaf_pages + empty_pages + deleted_pages)
	* current_setting('block_size')::int = index_size AS pages_ok,
	avg_leaf_density BETWEEN 30 AND 100 AS density_ok,
	avg_node_fill BETWEEN avg_leaf_density AND 100 AS fill_ok,
	leaf_fragmentation BETWEEN 0 AND 100 AS frag_ok
	FROM unnest('{insp_i,insp_b,insp_f,insp_u,insp_d}'::regclass[]) x (index),
		 fptree_stat(x.index) s, fptree_metap(x.index) m ORDER BY 1;
REINDEX INDEX insp_u;
SELECT leaf_fragmentation, avg_leaf_density > 80 AS dense FROM fptree_stat('insp_u');

-- Keys with tuples: their bytes count.
CREATE INDEX insp_t ON insp USING fptree (repeat(md5(b::text), 4));
SELECT avg_leaf_density BETWEEN 75 AND 95 AS dense FROM fptree_stat('insp_t');
DROP INDEX insp_t;

-- Pages that VACUUM emptied
DELETE FROM insp WHERE b BETWEEN 10000 AND 50000;
VACUUM (INDEX_CLEANUP ON) insp;
SELECT entries, deleted_pages > 0 AS deleted FROM fptree_stat('insp_b');
SELECT count(*) > 0 AS deleted, max(s.entries) AS entries, max(s.flags) AS flags
	FROM insp_pages('insp_b') p, fptree_page_stats('insp_b', p) s
	WHERE s.type = 'deleted';

-- Hints for dead entries: index scans leave them (no other session can see
-- rows of a temporary table)
CREATE TEMP TABLE insp_temp AS SELECT i FROM generate_series(1, 300) i;
CREATE INDEX insp_temp_i ON insp_temp USING fptree (i);
DELETE FROM insp_temp WHERE i % 10 = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM insp_temp WHERE i > 0;
SELECT entries, dead_entries FROM fptree_page_stats('insp_temp_i', 1);
SELECT itemoffset, ctid, key FROM fptree_page_items('insp_temp_i', 1)
	WHERE dead AND itemoffset < 35;
SELECT count(*) FROM insp_temp WHERE i > 0;
RESET enable_seqscan;
RESET enable_bitmapscan;
VACUUM insp_temp;
SELECT entries, dead_entries FROM fptree_page_stats('insp_temp_i', 1);

-- Arguments
SELECT page, type, level, entries, low_fence FROM fptree_page_stats('insp_i', 0);
SELECT * FROM fptree_page_items('insp_i', 0);
SELECT * FROM fptree_page_stats('insp_i', -1);
SELECT * FROM fptree_page_stats('insp_i', 100000);
SELECT * FROM fptree_page_items('insp_i', 4294967296);
SELECT * FROM fptree_page_items('insp_i', 9223372036854775807);
SELECT fptree_page_stats(NULL, 1), fptree_page_stats('insp_i', NULL),
	fptree_metap(NULL), fptree_stat(NULL);
SELECT * FROM fptree_page_items('insp_i', NULL);
CREATE INDEX insp_btree ON insp USING btree (i);
SELECT * FROM fptree_metap('insp_btree');
SELECT * FROM fptree_stat('insp');
SELECT * FROM fptree_page_stats('insp', 1);
SELECT * FROM fptree_page_items(0, 1);
CREATE TABLE insp_p (i int4) PARTITION BY RANGE (i);
CREATE INDEX insp_p_i ON insp_p USING fptree (i);
SELECT * FROM fptree_metap('insp_p_i');

-- Privileges
CREATE ROLE regress_fpt_monitor;
SET ROLE regress_fpt_monitor;
SELECT version FROM fptree_metap('insp_i');
SELECT version FROM fptree_stat('insp_i');
SELECT type FROM fptree_page_stats('insp_i', 1);
SELECT key FROM fptree_page_items('insp_i', 1);
RESET ROLE;
GRANT pg_monitor TO regress_fpt_monitor;
GRANT EXECUTE ON FUNCTION fptree_page_stats(regclass, int8),
	fptree_page_items(regclass, int8) TO regress_fpt_monitor;
SET ROLE regress_fpt_monitor;
SELECT version FROM fptree_metap('insp_i');
SELECT version FROM fptree_stat('insp_i');
SELECT type FROM fptree_page_stats('insp_i', 1);
SELECT key FROM fptree_page_items('insp_i', 1);
RESET ROLE;
REVOKE ALL ON FUNCTION fptree_page_stats(regclass, int8),
	fptree_page_items(regclass, int8) FROM regress_fpt_monitor;
DROP ROLE regress_fpt_monitor;

DROP TABLE insp, insp_p;
DROP FUNCTION insp_pages(regclass);

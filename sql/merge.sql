--
-- VACUUM merges leaves that have lost many entries: sizes, page by page, of all
-- kinds of leaves; leaves that are not merged.
--
CREATE SCHEMA fpt_merge;
SET search_path = fpt_merge, public;
SET client_min_messages = warning;

CREATE FUNCTION pages(index regclass, OUT leaves bigint, OUT inner_pages bigint,
					  OUT empty bigint, OUT deleted bigint, OUT entries bigint)
LANGUAGE sql AS $$
	SELECT leaf_pages, internal_pages, empty_pages, deleted_pages, s.entries
	FROM fptree_stat(index) s;
$$;

-- The leaves of a fresh index
CREATE FUNCTION fresh(index regclass) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE regexp_replace(pg_get_indexdef(index), 'INDEX \w+', 'INDEX fresh');
	SELECT leaf_pages INTO n FROM fptree_stat('fresh');
	DROP INDEX fresh;
	RETURN n;
END $$;

CREATE TABLE t (id int, i8 int8, d int8, u uuid, s text, a int, n int)
	WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, hashint8extended(i, 0), i % 500, md5(i::text)::uuid,
	'user' || md5(i::text), hashint4(i) % 50, CASE WHEN i % 3 > 0 THEN i * 7 END
	FROM generate_series(1, 30000) i;
CREATE INDEX t_id ON t USING fptree (id);
CREATE INDEX t_i8 ON t USING fptree (i8);
CREATE INDEX t_d ON t USING fptree (d);
CREATE INDEX t_u ON t USING fptree (u);
CREATE INDEX t_s ON t USING fptree (s);
CREATE INDEX t_as ON t USING fptree (a, s) INCLUDE (id);
CREATE INDEX t_n ON t USING fptree (n DESC);
-- a fill factor is what a page is filled to by merging, too
CREATE INDEX t_30 ON t USING fptree (i8) WITH (fillfactor = 30);
-- narrow nodes, and more levels
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_levels ON t USING fptree (i8);
RESET fptree.debug_node_lines;
VACUUM t;

CREATE VIEW sizes AS
	SELECT c::regclass AS index, p.*, fresh(c::regclass)
	FROM unnest(ARRAY['t_id', 't_i8', 't_d', 't_u', 't_s', 't_as', 't_n', 't_30']) c, pages(c::regclass) p;
CREATE FUNCTION agrees() RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN r.problems = '' THEN 'agrees' ELSE r.problems END
	FROM fpt_compare(ARRAY[
		'SELECT i8 FROM t WHERE i8 > 0', 'SELECT i8 FROM t ORDER BY i8',
		'SELECT i8 FROM t ORDER BY i8 DESC', 'SELECT d FROM t ORDER BY d',
		'SELECT u FROM t ORDER BY u DESC', 'SELECT s FROM t ORDER BY s',
		'SELECT a, s FROM t WHERE a > 3', 'SELECT n FROM t ORDER BY n DESC']) r;
$$;
SELECT * FROM sizes;

SELECT * FROM pages('t_levels');

DELETE FROM t WHERE (hashint4(id)::int8 + 2147483648) % 10 < 7;
VACUUM t;
SELECT * FROM sizes;
SELECT * FROM pages('t_levels');
SELECT agrees();
SELECT fpt_check_all();

DELETE FROM t WHERE (hashint4(id)::int8 + 2147483648) % 10 < 9;
VACUUM t;
DELETE FROM t WHERE id = (SELECT max(id) FROM t);
VACUUM t;
SELECT * FROM sizes;
SELECT * FROM pages('t_levels');
SELECT agrees();
SELECT fpt_check_all();

-- the pages are used again, and what was merged is split again
INSERT INTO t SELECT i, hashint8extended(i, 0), i % 500, md5(i::text)::uuid,
	'user' || md5(i::text), hashint4(i) % 50, CASE WHEN i % 3 > 0 THEN i * 7 END
	FROM generate_series(30001, 50000) i;
SELECT agrees();
SELECT fpt_check_all();
DELETE FROM t WHERE id < 49000;
VACUUM t;
SELECT index, leaves, deleted > 0 AS deleted FROM sizes;
SELECT fpt_check_all();

-- Some dead rows are no reason: as long as two leaves do not fit into one.
CREATE TABLE few (a int8) WITH (autovacuum_enabled = off);
INSERT INTO few SELECT hashint8extended(i, 0) FROM generate_series(1, 30000) i;
CREATE INDEX few_a ON few USING fptree (a);
VACUUM few;
SELECT * FROM pages('few_a');
DELETE FROM few WHERE a % 20 = 0;
VACUUM few;
SELECT leaves FROM pages('few_a');

-- Unlogged and temporary indexes
CREATE UNLOGGED TABLE ul (a int8) WITH (autovacuum_enabled = off);
CREATE TEMP TABLE tmp (a int8);
INSERT INTO ul SELECT hashint8extended(i, 0) FROM generate_series(1, 20000) i;
INSERT INTO tmp TABLE ul;
CREATE INDEX ul_a ON ul USING fptree (a);
CREATE INDEX tmp_a ON tmp USING fptree (a);
DELETE FROM ul WHERE a % 10 <> 0;
DELETE FROM tmp WHERE a % 10 <> 0;
VACUUM ul, tmp;
SELECT * FROM pages('ul_a');
SELECT * FROM pages('tmp_a');
SELECT fpt_check_all();

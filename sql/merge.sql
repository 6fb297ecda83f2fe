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
INSERT INTO few SELECT hashint8extended(i, 0) FROM generate_series(1, 60000) i;
CREATE INDEX few_a ON few USING fptree (a);
VACUUM few;
SELECT * FROM pages('few_a');
DELETE FROM few WHERE a % 20 = 0;
VACUUM few;
SELECT leaves FROM pages('few_a');
-- Half of them are: two are about as full then as a build leaves one.
DELETE FROM few WHERE a % 2 = 0;
VACUUM few;
SELECT leaves, fresh('few_a') FROM pages('few_a');

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

-- Orders that do not contradict themselves, as far as anybody knows: strings in
-- a collation of the C library, whichever it has besides "C", and types with
-- strings or numbers in them.  Of a function that is not PostgreSQL's own nobody
-- knows: its leaves stay.
SELECT coalesce(min(collname), 'C') AS libc FROM pg_collation
WHERE collprovider = 'c' AND collname NOT IN ('C', 'POSIX') AND
	collnamespace = 'pg_catalog'::regnamespace AND
	collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database())) \gset
CREATE TYPE pair AS (a int, s text COLLATE :"libc");
CREATE FUNCTION cmp(int, int) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'btint4cmp';
CREATE OPERATOR CLASS own_ops FOR TYPE int USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 cmp(int, int);
CREATE TABLE l (k int, s text COLLATE :"libc", v varchar COLLATE :"libc", n name, a int[], sa text[] COLLATE :"libc",
	r int4range, p pair, o int) WITH (autovacuum_enabled = off);
INSERT INTO l SELECT i, md5(i::text), md5(i::text), md5(i::text), ARRAY[i, i], ARRAY[md5(i::text)],
	int4range(i, i + 9), ROW(i, md5(i::text))::pair, hashint4(i) FROM generate_series(1, 20000) i;
CREATE INDEX l_s ON l USING fptree (s);
CREATE INDEX l_sk ON l USING fptree (s, k);
CREATE INDEX l_kv ON l USING fptree (k, v DESC) INCLUDE (o);
CREATE INDEX l_n ON l USING fptree (n COLLATE :"libc");
CREATE INDEX l_a ON l USING fptree (a);
CREATE INDEX l_sa ON l USING fptree (sa);
CREATE INDEX l_r ON l USING fptree (r);
CREATE INDEX l_p ON l USING fptree (p);
CREATE INDEX l_o ON l USING fptree (o own_ops);
DELETE FROM l WHERE hashint4(k)::int8 % 10 <> 0;
VACUUM l;
SELECT i AS index, deleted > leaves AS merged, deleted > 0 AS freed
FROM unnest('{l_s,l_sk,l_kv,l_n,l_a,l_sa,l_r,l_p,l_o}'::regclass[]) i, pages(i);
SELECT CASE WHEN r.problems = '' THEN 'agrees' ELSE r.problems END
FROM fpt_compare(ARRAY['SELECT s FROM l ORDER BY s', 'SELECT s, k FROM l ORDER BY s DESC, k DESC',
	'SELECT s FROM l WHERE s > ''8''', 'SELECT k, v FROM l ORDER BY k, v DESC', 'SELECT a FROM l ORDER BY a',
	'SELECT r FROM l ORDER BY r DESC', 'SELECT p FROM l ORDER BY p', 'SELECT o FROM l WHERE o > 0']) r;
SELECT fpt_check_all();

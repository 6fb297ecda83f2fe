--
-- Indexes that are striped over several tablespaces.  What DDL does to their
-- files is in tap/028_stripes_ddl.pl.
--
SET client_min_messages = warning;
SET allow_in_place_tablespaces = on;
SELECT format('CREATE TABLESPACE regress_fpt_%s LOCATION %L', i, '')
FROM generate_series(1, 10) i \gexec

-- The option
CREATE TABLE s (k int8, v text, w int);
CREATE INDEX s_bad ON s USING fptree (k) WITH (tablespaces = '');
CREATE INDEX s_bad ON s USING fptree (k) WITH (tablespaces = 'regress_fpt_1');
CREATE INDEX s_bad ON s USING fptree (k) WITH (tablespaces = 'a,, b');
CREATE INDEX s_bad ON s USING fptree (k) WITH (tablespaces = 'a, b, A');
CREATE INDEX s_bad ON s USING fptree (k) WITH (tablespaces = 'a, pg_global');
CREATE INDEX s_bad ON s USING fptree (k) WITH (tablespaces = 'regress_fpt_1, nowhere');
SELECT string_agg('a' || i, ',') AS many FROM generate_series(1, 65) i \gset
CREATE INDEX s_bad ON s USING fptree (k) WITH (tablespaces = :'many');

-- Builds, of all kinds; parallel where that is switched on
INSERT INTO s SELECT hashint8(i)::int8 * 1000 + i % 1000, md5(i::text), i % 100
FROM generate_series(1, 30000) i;
CREATE INDEX s_k ON s USING fptree (k)
	WITH (tablespaces = 'regress_fpt_1, "regress_fpt_2",regress_fpt_3', fillfactor = 100);
CREATE INDEX s_wv ON s USING fptree (w DESC, v) INCLUDE (k)
	WITH (tablespaces = 'regress_fpt_4, pg_default');
CREATE UNIQUE INDEX CONCURRENTLY s_v ON s USING fptree (v COLLATE "C")
	WITH (tablespaces = 'regress_fpt_1, regress_fpt_2, regress_fpt_3, regress_fpt_4');
CREATE INDEX s_part ON s USING fptree (k)
	WITH (tablespaces = 'regress_fpt_1, regress_fpt_2') WHERE w < 10;
SELECT c.oid::regclass, s.no, s.stripe::text ~ 'fptree_\d+_\d+$' AS named,
	s.tablespace, s.bytes >= s.pages * current_setting('block_size')::int AS bytes,
	s.pages > 0 AS pages, s.free_pages
FROM pg_class c, fptree_stripes(c.oid) s
WHERE c.relname IN ('s_k', 's_wv', 's_v', 's_part') ORDER BY 1, 2;
SELECT pg_get_indexdef('s_k'::regclass);
SELECT stripes, version FROM fptree_metap('s_k');
SELECT version, index_size = fptree_index_size('s_k') - pg_relation_size('s_k')
	+ 2 * current_setting('block_size')::int - (
		SELECT sum(bytes - pages * current_setting('block_size')::int)
		FROM fptree_stripes('s_k')) AS size
FROM fptree_stat('s_k');
-- those without the option are what they were
CREATE INDEX s_plain ON s USING fptree (k);
SELECT stripes, version FROM fptree_metap('s_plain');
-- Reads: what is built goes past shared buffers; the check reads all pages but
-- those of the main fork.  The statistics are told at commit.
SET track_counts = on;
CREATE TEMP TABLE was AS SELECT no, reads FROM fptree_stripes('s_k');
REINDEX INDEX s_k;
SELECT fptree_index_check('s_k');
SELECT bool_and(s.reads - was.reads = pages) AS all_read
FROM fptree_stripes('s_k') s JOIN was USING (no);
SELECT pg_stat_force_next_flush();
SELECT bool_and(seq_scan = reads AND reads > 0) AS told
FROM fptree_stripes('s_k'), pg_stat_all_tables WHERE relid = stripe;
SET track_counts = off;
SELECT count(*) FROM fptree_stripes('s_plain');
SELECT fptree_index_size('s_plain') >= pg_relation_size('s_plain') AS size;
DROP INDEX s_plain;
-- the size is that of all files, also for who may not have the index read
CREATE ROLE fpt_stripes_role;
SET ROLE fpt_stripes_role;
SELECT a.index, a.reason, size - pg_relation_size(a.index) = (
	SELECT sum(pages) FROM fptree_stripes(a.index)) * current_setting('block_size')::int AS size
FROM fptree_advise('s') a WHERE index IN ('s_k'::regclass, 's_wv'::regclass) ORDER BY 1;
RESET ROLE;
DROP ROLE fpt_stripes_role;
SELECT fptree_stripes('s');
SELECT fptree_index_size('pg_class_oid_index');

-- Which pages are there?  A stripe's size is looked at where it may be larger
-- than is known, and all of them where nothing is known yet: of the pages behind
-- each one's end, of the last ones, of both.
\getenv builddir PG_ABS_BUILDDIR
\set module :builddir '/test/module/fptree_test'
CREATE FUNCTION exist(stripes oid[], known bool, VARIADIC pages int8[]) RETURNS text
AS :'module', 'fptree_test_exist' LANGUAGE C STRICT;
SELECT array_agg(stripe::oid ORDER BY no) AS stripes, array_agg(2 + pages * 3 + no - 1 ORDER BY no) AS behind,
	array_agg(2 + pages * 3 + no - 4 ORDER BY no) AS last
FROM fptree_stripes('s_k') \gset
SELECT known, exist(:'stripes', known, VARIADIC (:'behind'::int8[])[1:1]) AS one,
	exist(:'stripes', known, VARIADIC (:'last'::int8[])[2:3]) AS two,
	exist(:'stripes', known, VARIADIC :'last') AS three,
	exist(:'stripes', known, VARIADIC :'behind'::int8[] || :'last'::int8[] || 2) AS both
FROM unnest('{t,f}'::bool[]) known;

-- Insertions, scans, removal and re-use of pages
CREATE FUNCTION pages() RETURNS int8 LANGUAGE sql AS
	$$ SELECT sum(pages) FROM fptree_stripes('s_k') $$;
SELECT pages() AS built \gset
INSERT INTO s SELECT hashint8(i)::int8 * 1000 + i % 1000, md5(i::text), i % 100
FROM generate_series(30001, 60000) i;
INSERT INTO s SELECT * FROM s WHERE w = 1 AND k = (SELECT min(k) FROM s WHERE w = 1);
SELECT pages() > :built AS grown, pages() AS full \gset
SELECT :'grown' AS grown;
SELECT * FROM fpt_compare(ARRAY[
	'SELECT k FROM s WHERE k BETWEEN 0 AND 100000000000',
	'SELECT k FROM s WHERE k > 1000000000000 ORDER BY k',
	'SELECT k FROM s WHERE k < -1000000000000 ORDER BY k DESC'],
	'{index,only}');
SELECT * FROM fpt_compare(ARRAY['SELECT w, v FROM s WHERE w = 7 AND v > ''8''',
	'SELECT k FROM s WHERE w = 7 AND v = ''x'''], '{index,bitmap}');
DELETE FROM s WHERE k > 0;
CALL fpt_await_snapshots();
VACUUM s;
SELECT sum(free_pages) > 0 AS freed FROM fptree_stripes('s_k');
SELECT relpages = (SELECT pages() + 2) AS counted FROM pg_class WHERE relname = 's_k';
INSERT INTO s SELECT abs(hashint8(i)::int8) * 1000 + i % 1000, i || 'x', i % 100
FROM generate_series(1, 30000) i;
SELECT pages() <= :full * 1.1 AS reused;
SELECT fpt_check_all();

-- What the planner thinks of its size
SELECT pages() AS pages \gset
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM s WHERE k BETWEEN 0 AND 1000;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Placement: a leaf's neighbours are on other disks.
CREATE TABLE f (k int8);
CREATE INDEX f_k ON f USING fptree (k) WITH (tablespaces = 'regress_fpt_1, regress_fpt_2,
	regress_fpt_3, regress_fpt_4, regress_fpt_5, regress_fpt_6, regress_fpt_7,
	regress_fpt_8, regress_fpt_9, regress_fpt_10');
INSERT INTO f SELECT hashint8extended(i, 0) FROM generate_series(1, 60000) i;
CREATE FUNCTION leaves(ix regclass, OUT nth int, OUT stripe int) RETURNS SETOF record
LANGUAGE plpgsql AS $$
DECLARE
	page int8 := 1;
BEGIN
	WHILE (SELECT level > 0 FROM fptree_page_stats(ix, page)) LOOP
		SELECT downlink INTO page FROM fptree_page_items(ix, page)
		ORDER BY itemoffset LIMIT 1;
	END LOOP;
	nth := 0;
	WHILE page <> 0 LOOP
		nth := nth + 1;
		stripe := (page - 2) % 10;
		RETURN NEXT;
		SELECT right_page INTO page FROM fptree_page_stats(ix, page);
	END LOOP;
END $$;
CREATE TEMP TABLE l AS SELECT * FROM leaves('f_k');
SELECT count(*) * current_setting('block_size')::int > 70 * 8192 AS leaves FROM l;
SELECT min(b.nth - a.nth) >= 5 AS apart
FROM l a JOIN l b ON a.stripe = b.stripe AND a.nth < b.nth AND b.nth < a.nth + 20;
-- of 35 in a row, 4 are on a disk; at most 5
SELECT max(n) <= 5 AS balanced FROM (
	SELECT count(*) AS n FROM l a JOIN l b ON b.nth BETWEEN a.nth AND a.nth + 34
	GROUP BY a.nth, b.stripe) x;
-- of some thousand leaves, of wide keys: of 35 in a row 5 are on a disk, and of
-- 300 37, also where leaves must be split early for that
CREATE TABLE wide (k text COLLATE "C");
CREATE INDEX wide_k ON wide USING fptree (k) WITH (tablespaces = 'regress_fpt_1, regress_fpt_2,
	regress_fpt_3, regress_fpt_4, regress_fpt_5, regress_fpt_6, regress_fpt_7,
	regress_fpt_8, regress_fpt_9, regress_fpt_10');
INSERT INTO wide SELECT (SELECT string_agg(md5(i || 's' || j), '') FROM generate_series(1, 24) j)
FROM generate_series(1, 25000) i;
TRUNCATE l;
INSERT INTO l SELECT * FROM leaves('wide_k');
SELECT count(*) * current_setting('block_size')::int > 3000 * 8192 AS leaves FROM l;
SELECT min(b.nth - a.nth) >= 5 AS apart
FROM l a JOIN l b ON a.stripe = b.stripe AND a.nth < b.nth AND b.nth < a.nth + 20;
SELECT max(n35) <= 5 AS short, max(n300) <= 37 AS long FROM (
	SELECT count(*) OVER (PARTITION BY stripe ORDER BY nth RANGE BETWEEN CURRENT ROW AND 34 FOLLOWING) AS n35,
		count(*) OVER (PARTITION BY stripe ORDER BY nth RANGE BETWEEN CURRENT ROW AND 299 FOLLOWING) AS n300 FROM l) x;
DROP TABLE wide;
-- builds deal them out in turn; an inner page may be in between
REINDEX INDEX f_k;
TRUNCATE l;
INSERT INTO l SELECT * FROM leaves('f_k');
SELECT min(b.nth - a.nth) >= 9 AS apart
FROM l a JOIN l b ON a.stripe = b.stripe AND a.nth < b.nth AND b.nth < a.nth + 20;

-- Free pages are used by the same rule.  (The leaves at both ends of what is
-- deleted become neighbours, on whatever disks they are, and stay so.)
DELETE FROM f WHERE k BETWEEN -4000000000000000000 AND 4000000000000000000;
CALL fpt_await_snapshots();
VACUUM f;
CALL fpt_await_snapshots();
VACUUM f;
SELECT sum(free_pages) AS free, sum(pages) AS pages FROM fptree_stripes('f_k') \gset
INSERT INTO f SELECT hashint8extended(i, 1) FROM generate_series(1, 60000) i
WHERE hashint8extended(i, 1) BETWEEN -4000000000000000000 AND 4000000000000000000;
SELECT :free - sum(free_pages) > :free / 2 AS used_again FROM fptree_stripes('f_k');
TRUNCATE l;
INSERT INTO l SELECT * FROM leaves('f_k');
SELECT count(*) FILTER (WHERE b.nth - a.nth < 5) <= 1 AS apart
FROM l a JOIN l b ON a.stripe = b.stripe AND a.nth < b.nth AND b.nth < a.nth + 20;

-- Other lists; tablespaces that are missing
CREATE FUNCTION stripes_of(ix regclass) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(tablespace::text, ' ' ORDER BY no) FROM fptree_stripes(ix) $$;
ALTER INDEX s_k SET (tablespaces = 'regress_fpt_5, regress_fpt_6');
SELECT stripes_of('s_k');
REINDEX INDEX s_k;
SELECT stripes_of('s_k');
ALTER INDEX s_k SET (tablespaces = 'regress_fpt_5, nowhere, regress_fpt_7');
REINDEX INDEX s_k;
SELECT stripes_of('s_k');
ALTER INDEX s_k SET (tablespaces = 'regress_fpt_6, nowhere');
REINDEX INDEX CONCURRENTLY s_k;
DROP INDEX IF EXISTS s_k_ccnew;
BEGIN;
TRUNCATE s;
SELECT stripes_of('s_k');
ROLLBACK;
SELECT stripes_of('s_k');
ALTER INDEX s_k RESET (tablespaces);
REINDEX INDEX s_k;
SELECT stripes_of('s_k');
SET fptree.missing_tablespaces = skip;
CREATE INDEX s_skip ON s USING fptree (k) WITH (tablespaces = 'regress_fpt_1, nowhere, regress_fpt_2');
SELECT stripes_of('s_skip');
RESET fptree.missing_tablespaces;

-- Temporary tables have none; unlogged ones, and partitions
CREATE TEMP TABLE tmp (LIKE s INCLUDING INDEXES);
SELECT count(*) FROM pg_index, fptree_stripes(indexrelid) WHERE indrelid = 'tmp'::regclass;
CREATE UNLOGGED TABLE u (k int8);
CREATE INDEX u_k ON u USING fptree (k) WITH (tablespaces = 'regress_fpt_1, regress_fpt_2');
INSERT INTO u SELECT generate_series(1, 1000);
ALTER TABLE u SET LOGGED;
SELECT stripes_of('u_k'), fptree_index_parent_check('u_k', true, true);
CREATE TABLE p (k int8) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200);
CREATE INDEX p_k ON p USING fptree (k) WITH (tablespaces = 'regress_fpt_1, regress_fpt_2');
INSERT INTO p SELECT generate_series(0, 199);
SELECT stripes_of('p1_k_idx'), stripes_of('p2_k_idx');
SELECT fptree_stripes('p_k');

-- Privileges: the owner's
CREATE ROLE regress_fpt_owner;
GRANT CREATE ON SCHEMA public TO regress_fpt_owner;
GRANT CREATE ON TABLESPACE regress_fpt_1 TO regress_fpt_owner;
SET ROLE regress_fpt_owner;
CREATE TABLE own (k int8);
CREATE INDEX own_k ON own USING fptree (k) WITH (tablespaces = 'regress_fpt_1, regress_fpt_2');
CREATE INDEX own_k ON own USING fptree (k) WITH (tablespaces = 'regress_fpt_1, pg_default');
ALTER INDEX own_k SET (tablespaces = 'regress_fpt_1, regress_fpt_2');
-- where the index is built anew, there is no stripe then, whoever does it: a
-- superuser's maintenance gives nobody what he may not have, and none fails
\set VERBOSITY terse
REINDEX INDEX own_k;
SELECT fptree_drop_orphans();
RESET ROLE;
VACUUM FULL own;
SELECT stripes_of('own_k');
ALTER INDEX own_k SET (tablespaces = 'regress_fpt_1, regress_fpt_2, pg_default');
REINDEX INDEX own_k;
SELECT stripes_of('own_k');
GRANT CREATE ON TABLESPACE regress_fpt_2 TO regress_fpt_owner;
ALTER INDEX own_k SET (tablespaces = 'regress_fpt_1, regress_fpt_2');
REINDEX INDEX own_k;
REVOKE ALL ON TABLESPACE regress_fpt_2 FROM regress_fpt_owner;
-- Nor do commands fail that make another index in its place, nor has that one
-- a stripe where a superuser runs them.
BEGIN;
CREATE TABLE other (LIKE own);
ALTER TABLE other OWNER TO regress_fpt_owner;
SET LOCAL ROLE regress_fpt_owner;
CREATE INDEX other_k ON other USING fptree (k) WITH (tablespaces = 'regress_fpt_1, pg_default');
COMMIT;
SET ROLE regress_fpt_owner;
ALTER INDEX other_k SET (tablespaces = 'regress_fpt_1, regress_fpt_2, pg_default');
REINDEX INDEX CONCURRENTLY other_k;
SELECT stripes_of('other_k');
ALTER INDEX other_k SET (tablespaces = 'regress_fpt_1, regress_fpt_2');
REINDEX INDEX CONCURRENTLY other_k;
ALTER TABLE other ADD b varchar(9) COLLATE "C";
CREATE INDEX other_b ON other USING fptree (b) WITH (tablespaces = 'regress_fpt_1, pg_default');
ALTER INDEX other_b SET (tablespaces = 'regress_fpt_1, regress_fpt_2, pg_default');
ALTER TABLE other ALTER b TYPE varchar(10) COLLATE "POSIX";
SELECT stripes_of('other_b');
DO $$ BEGIN ALTER TABLE other ALTER b TYPE int USING b::int; END $$;
SELECT stripes_of('other_b');
RESET ROLE;
REINDEX INDEX CONCURRENTLY other_k;
ALTER TABLE other ALTER b TYPE int8;
SELECT stripes_of('other_k'), stripes_of('other_b');
-- Nor is one created: a function of the owner's may do it in a superuser's name.
CREATE INDEX ON other USING fptree (b) WITH (tablespaces = 'regress_fpt_1, regress_fpt_2');
BEGIN;
DROP INDEX other_b;
CREATE INDEX other_b ON other USING fptree (b) WITH (tablespaces = 'regress_fpt_1, regress_fpt_none');
ROLLBACK;
DROP TABLE other;
-- what is there stays his, of an index in whose place another one is made, too
SET ROLE regress_fpt_owner;
TRUNCATE own;
VACUUM FULL own;
SELECT stripes_of('own_k');
REINDEX INDEX CONCURRENTLY own_k;
SELECT stripes_of('own_k');
RESET ROLE;
ALTER TABLE own ALTER k TYPE int4;
SELECT stripes_of('own_k');
ALTER TABLE own ALTER k TYPE int8;
\set VERBOSITY default
SELECT stripes_of('own_k');

-- Stripes are no tables
CREATE FUNCTION attempt(what text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format(what, (SELECT stripe FROM fptree_stripes('own_k') LIMIT 1));
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	RETURN regexp_replace(sqlerrm, '\d+', 'N', 'g');
END $$;
SELECT attempt('SELECT * FROM %s');
SELECT attempt('INSERT INTO %s VALUES (''x'')');
SELECT attempt('TRUNCATE %s');
SELECT attempt('ALTER TABLE %s SET TABLESPACE regress_fpt_9');
SELECT attempt('DROP TABLE %s');
CREATE TABLE notable (k int) USING fptree_stripe;
DROP TABLESPACE regress_fpt_2;

-- Stripes that are gone, as after pg_upgrade: queries do without the index.
INSERT INTO own SELECT generate_series(1, 1000);
SET allow_system_table_mods = on;
SELECT stripe::oid AS gone FROM fptree_stripes('own_k') WHERE no = 2 \gset
UPDATE pg_class SET relam = (SELECT oid FROM pg_am WHERE amname = 'heap') WHERE oid = :gone;
\c -
SET client_min_messages = warning;
SET enable_seqscan = off;
SELECT count(*) FROM own WHERE k = 5;
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT count(*) FROM own WHERE k = 5;
SELECT attempt('INSERT INTO own VALUES (1)');
SELECT attempt('SELECT fptree_index_check(''own_k'')');
-- what is known of it: something else has its OID, or nothing has
CREATE FUNCTION lacking() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	INSERT INTO own VALUES (1);
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN regexp_replace(detail, '\d+', 'N', 'g') || ' ' || hint;
END $$;
SELECT lacking();
SET allow_system_table_mods = on;
BEGIN;
DELETE FROM pg_class WHERE oid = :gone;
SELECT lacking();
ROLLBACK;
UPDATE pg_class SET relam = (SELECT oid FROM pg_am WHERE amname = 'fptree_stripe') WHERE oid = :gone;
RESET allow_system_table_mods;
\c -
SET client_min_messages = warning;
SELECT attempt('INSERT INTO own VALUES (1)');

-- A session that has not loaded the library, and has no event triggers
SELECT count(*) FROM fptree_orphans();
\c -
SET client_min_messages = warning;
SET session_replication_role = replica;
DROP INDEX s_part;
RESET session_replication_role;
SELECT count(*) FROM fptree_orphans();
-- and drops an index that has got another one's stripes, and none of its own
CREATE INDEX s_thief ON s USING fptree (k);
SET allow_system_table_mods = on;
UPDATE pg_class c SET relfilenode = o.relfilenode
FROM (VALUES ('s_skip', 's_thief'), ('s_thief', 's_skip')) x (a, b) JOIN pg_class o ON o.relname = b
WHERE c.relname = a;
\c -
SET client_min_messages = warning;
DROP INDEX s_thief;
SELECT count(*) FROM fptree_orphans();
-- Orphans: as if their index had never been
CREATE INDEX s_lost ON s USING fptree (k) WITH (tablespaces = 'regress_fpt_1, regress_fpt_2');
SET allow_system_table_mods = on;
UPDATE pg_class SET relkind = 'v' WHERE relname = 's_lost';
SELECT count(*) FROM fptree_orphans();
SELECT fptree_drop_orphans();
SELECT count(*) FROM fptree_orphans();
UPDATE pg_class SET relkind = 'i' WHERE relname = 's_lost';
DROP INDEX s_lost;
RESET allow_system_table_mods;
SELECT fpt_check_all();

-- Nothing in them is to be frozen, so they hold back nobody's horizon; a
-- transaction that is none counts as infinitely old (see docs/stripes.md)
SELECT count(*) > 0 AS stripes FROM pg_class
WHERE relkind IN ('r', 't', 'm') AND age(relfrozenxid) > 1000000000;
SELECT count(*) FROM pg_class
WHERE relkind IN ('r', 't', 'm') AND relfrozenxid <> '0' AND age(relfrozenxid) > 1000000000;
SELECT age(datfrozenxid) > 1000000000 FROM pg_database WHERE datname = current_database();

DROP TABLE s, f, u, p, own;
DROP FUNCTION pages, leaves, stripes_of, attempt, lacking;
REVOKE ALL ON SCHEMA public FROM regress_fpt_owner;
REVOKE ALL ON TABLESPACE regress_fpt_1 FROM regress_fpt_owner;
DROP ROLE regress_fpt_owner;
SELECT format('DROP TABLESPACE regress_fpt_%s', i) FROM generate_series(1, 10) i \gexec
SELECT relname FROM pg_class WHERE relname ~ '^fptree_\d+_\d+$';

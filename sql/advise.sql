--
-- fptree_advise() and fptree_stat_approx(): estimates beside real builds, on
-- many kinds of data; who may ask; the statements that replace an index, run;
-- what stands against that.
--
CREATE SCHEMA fpt_advise;
SET search_path = fpt_advise, public;
SET client_min_messages = warning;
SET max_parallel_maintenance_workers = 0;

--
-- Estimates.  Rows in the order of nothing, so that TIDs are no help, but id.
--
CREATE DOMAIN named AS name;
CREATE TABLE kinds WITH (autovacuum_enabled = off) AS
SELECT i AS id, hashint8extended(i, 1) AS random, (i * 7919 % 20000)::int AS dense,
	'2020-01-01'::timestamptz + (hashint8extended(i, 2) & 134217727) * interval '1 s' AS ts,
	md5(i::text)::uuid AS v4,
	(lpad(to_hex(1700000000000 + i * 13), 12, '0') || '7000' ||
		substr(md5(i::text), 1, 16))::uuid AS v7,
	'user' || (i * 7919 % 20000) || '@example' || i % 50 || '.org' AS email,
	'https://shop.example.com/catalog/item/' || (hashint8extended(i, 5) & 1048575)
		|| '/view' AS url,
	md5(i::text) AS hex, 'SKU-' || lpad((hashint8extended(i, 3) & 4095)::text, 8, '0') AS sku,
	(i % 3)::int2 AS few, (hashint4(i::int) & 255)::int4 AS byte, i % 10 <> 0 AS flag,
	CASE WHEN i % 3 = 0 THEN hashint4(i::int) END AS nulls, NULL::int4 AS nothing,
	('name' || i % 1000)::name AS name, ('name' || i % 1000)::named AS named, (i::numeric / 7) AS num, (i % 1000)::numeric AS price,
	ARRAY[i, i + 1] AS arr, jsonb_build_object('a', i % 1000, 'b', md5(i::text)) AS j,
	int4range(i::int, i::int + 10) AS range, decode(md5(i::text), 'hex') AS bytes,
	('10.' || (i >> 16 & 255) || '.' || (i >> 8 & 255) || '.' || (i & 255))::inet AS ip,
	sin(i) AS f8, cos(i)::float4 AS f4, '2021-01-01'::date + (i / 80)::int AS day,
	repeat(md5((i % 5000)::text), 20) AS long
FROM generate_series(1, 20000::int8) i ORDER BY hashint8(i);
CREATE INDEX k_random ON kinds (random);
CREATE INDEX k_dense ON kinds (dense);
CREATE INDEX k_ts ON kinds (ts DESC);
CREATE INDEX k_v4 ON kinds (v4);
CREATE INDEX k_v7 ON kinds (v7);
CREATE INDEX k_email ON kinds (email);
CREATE INDEX k_url ON kinds (url);
CREATE INDEX k_hex ON kinds (hex text_pattern_ops);
CREATE INDEX k_sku ON kinds (sku);
CREATE INDEX k_few ON kinds (few);
CREATE INDEX k_byte ON kinds (byte);
CREATE INDEX k_flag ON kinds (flag);
CREATE INDEX k_nulls ON kinds (nulls NULLS FIRST);
CREATE INDEX k_nothing ON kinds (nothing);
CREATE INDEX k_name ON kinds (name);
CREATE INDEX k_named ON kinds (named);
CREATE INDEX k_num ON kinds (num);
CREATE INDEX k_price ON kinds (price);
CREATE INDEX k_arr ON kinds (arr);
CREATE INDEX k_j ON kinds (j);
CREATE INDEX k_range ON kinds (range);
CREATE INDEX k_bytes ON kinds (bytes);
CREATE INDEX k_ip ON kinds (ip);
CREATE INDEX k_f8 ON kinds (f8);
CREATE INDEX k_f4 ON kinds (f4);
CREATE INDEX k_day ON kinds (day);
CREATE INDEX k_long ON kinds (long);
CREATE INDEX k_two ON kinds (byte, ts DESC);
CREATE INDEX k_three ON kinds (few, name, id);
CREATE INDEX k_include ON kinds (byte) INCLUDE (sku, f4);
CREATE INDEX k_expr ON kinds (lower(email)) WHERE flag;
CREATE INDEX k_fill ON kinds (random) WITH (fillfactor = 60);
CREATE INDEX k_octal ON kinds (random) WITH (fillfactor = '0120');
CREATE INDEX k_float ON kinds (random) WITH (fillfactor = '7e1');
CREATE UNIQUE INDEX k_unique ON kinds (id, few) WITH (deduplicate_items = off);
-- in the order of the table
CREATE TABLE ordered AS SELECT i AS id, i / 10 AS tens FROM generate_series(1, 40000::int8) i;
CREATE INDEX k_id ON ordered (id);
CREATE INDEX k_tens ON ordered (tens);
-- an aged btree, of which a fresh one is smaller
CREATE TABLE aged (k int8);
CREATE INDEX k_aged ON aged (k);
INSERT INTO aged SELECT hashint8extended(i, 1) FROM generate_series(1, 40000) i;
DELETE FROM aged WHERE k % 3 <> 0;
VACUUM aged;
INSERT INTO aged SELECT hashint8extended(i, 77) FROM generate_series(1, 10000) i;
-- rows that are as wide as an index takes: pages of few entries, and many above
CREATE TABLE wide (k text);
ALTER TABLE wide ALTER k SET STORAGE plain;
INSERT INTO wide SELECT md5(i::text) || repeat(md5(i::text), 40) FROM generate_series(1, 1500) i;
CREATE INDEX k_wide ON wide (k);

-- What is it really?
CREATE TABLE measured (index text, size int8, fresh int8, whole int8, sampled int8,
	btree int8, fptree int8);
CREATE FUNCTION measure(index regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	a record;
	s record;
	m measured;
BEGIN
	SELECT * INTO a FROM fptree_advise(index);
	SELECT * INTO s FROM fptree_advise(index, 40);
	m.index := index;
	m.size := a.size;
	m.fresh := a.fresh_size;
	m.whole := a.fptree_size;
	m.sampled := s.fptree_size;
	EXECUTE regexp_replace(a.statements[1], 'CONCURRENTLY ', '');
	m.fptree := pg_relation_size((index || '_fptree')::regclass);
	EXECUTE 'DROP INDEX ' || index || '_fptree';
	EXECUTE 'REINDEX INDEX ' || index;
	m.btree := pg_relation_size(index);
	INSERT INTO measured SELECT (m).*;
END $$;
SELECT count(measure(indexrelid::regclass)) FROM pg_stat_user_indexes
WHERE schemaname = 'fpt_advise';
-- All leaves read: as large as what is built, but for a page or two of a fresh
-- btree.
SELECT * FROM measured WHERE whole IS DISTINCT FROM fptree OR
	abs(fresh - btree) > greatest(16384, btree * 0.02);
-- 40 of them, in runs of eight: within a tenth, and nearly all within a
-- twentieth.
SELECT * FROM measured WHERE abs(sampled - fptree) > fptree * 0.1;
SELECT count(*), count(*) FILTER (WHERE abs(sampled - fptree) < fptree * 0.05) > 30 AS most
FROM measured;
SELECT index FROM measured WHERE size > fresh * 1.5;

--
-- Bloat of our own.
--
CREATE TABLE bloat (i int8, t text) WITH (autovacuum_enabled = off);
INSERT INTO bloat SELECT hashint8extended(i, 3), md5(i::text) FROM generate_series(1, 100000) i;
CREATE INDEX b_i ON bloat USING fptree (i);
CREATE INDEX b_t ON bloat USING fptree (t);
SELECT index, tree_level, index_size = pg_relation_size(index) AS size, entries,
	leaf_pages = (fptree_stat(index)).leaf_pages AS leaves,
	avg_leaf_density = (fptree_stat(index)).avg_leaf_density AS density,
	fresh_size = index_size AS fresh, bloat_percent, approximate
FROM unnest('{b_i,b_t}'::regclass[]) index, fptree_stat_approx(index);
DELETE FROM bloat WHERE i % 2 = 0 OR i % 3 = 0;
VACUUM bloat;
INSERT INTO bloat SELECT hashint8extended(i, 5), md5(i::text || '+') FROM generate_series(1, 10000) i;
-- from 60 pages, beside all, and beside REINDEX: within a twentieth
CREATE TABLE guessed AS
SELECT index, a.*, s.entries AS all_entries, s.leaf_pages AS all_leaves,
	s.avg_leaf_density AS density
FROM unnest('{b_i,b_t}'::regclass[]) index, fptree_stat_approx(index, 60) a,
	fptree_stat(index) s;
REINDEX TABLE bloat;
SELECT index, approximate, bloat_percent > 40 AS bloated,
	abs(a.entries - all_entries) < all_entries * 0.05 AS entries,
	abs(a.leaf_pages - all_leaves) <= 1 AS leaves,
	abs(avg_leaf_density - density) < density * 0.05 AS density,
	abs(fresh_size - pg_relation_size(index)) < pg_relation_size(index) * 0.05 AS fresh,
	pages_read < 75 AS few
FROM guessed a ORDER BY index;
DROP TABLE guessed;

--
-- Replacing indexes, and putting btrees back.
--
CREATE TABLE t (a int NOT NULL, b text COLLATE "C", c timestamptz, d text);
INSERT INTO t SELECT i, i, '2020-01-01', i FROM generate_series(1, 1000) i;
CREATE UNIQUE INDEX t_a ON t (a);
CREATE INDEX "t Weird ""Name""" ON t (b);
ALTER TABLE t CLUSTER ON "t Weird ""Name""";
CREATE INDEX t_c ON t (c DESC NULLS LAST, (a + 1), b COLLATE "POSIX" text_pattern_ops)
	INCLUDE (d) WITH (fillfactor = 80, deduplicate_items = off);
ALTER INDEX t_c ALTER 2 SET STATISTICS 500;
COMMENT ON INDEX t_c IS 'it''s used by the report';
CREATE INDEX t_d ON t ((lower(d) || 'x')) WHERE a > 10 AND b <> 'y';
CREATE UNIQUE INDEX t_nulls ON t (b NULLS FIRST, d DESC) NULLS NOT DISTINCT;
CREATE INDEX a2345678901234567890123456789012345678901234567890123456789_idx ON t (d);
CREATE INDEX t_a_fptree ON t (a, b);
CREATE TABLE p (id int, at date) PARTITION BY RANGE (at);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')
	PARTITION BY RANGE (at);
CREATE TABLE p21 PARTITION OF p2 FOR VALUES FROM ('2025-01-01') TO ('2025-07-01');
INSERT INTO p SELECT i, '2024-01-01'::date + i % 500 FROM generate_series(1, 10000) i;
CREATE INDEX p_id ON p (id);
ALTER TABLE p1 CLUSTER ON p1_id_idx;
CREATE MATERIALIZED VIEW mv AS SELECT a, d FROM t;
CREATE INDEX mv_a ON mv (a);
CREATE TABLE empty (a int);
CREATE INDEX empty_a ON empty (a);

SELECT c.oid::regclass::text AS index, pg_get_indexdef(c.oid) AS def, obj_description(c.oid) AS comment,
	i.indisreplident, i.indisclustered, i.indisvalid,
	(SELECT string_agg(attstattarget::text, ',') FROM pg_attribute
	 WHERE attrelid = c.oid AND attstattarget >= 0) AS targets
INTO before
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE indrelid IN ('t'::regclass, 'p'::regclass, 'p1'::regclass, 'p2'::regclass, 'p21'::regclass,
	'mv'::regclass, 'empty'::regclass);
SELECT index, on_table, am, size > 0 AS size, size = fresh_size AS fresh, fptree_size > 0 AS estimate,
	replaceable, reason
FROM (SELECT a.* FROM unnest('{t,mv,empty,p,p2,p21}'::regclass[]) r, fptree_advise(r) a) a
ORDER BY index::text COLLATE "C";
SELECT s AS statement
FROM fptree_advise('t') a, unnest(statements) WITH ORDINALITY s(s, n)
ORDER BY index::text COLLATE "C", n;
SELECT s AS statement FROM fptree_advise('p_id') a, unnest(statements) s;
-- run them
SELECT s AS statement
FROM unnest('{t,mv,empty,p}'::regclass[]) r, fptree_advise(r) a,
	unnest(statements) WITH ORDINALITY s(s, n)
ORDER BY index::text COLLATE "C", n
\gexec
SELECT c.oid::regclass::text AS index, pg_get_indexdef(c.oid) AS def, obj_description(c.oid) AS comment,
	i.indisreplident, i.indisclustered, i.indisvalid,
	(SELECT string_agg(attstattarget::text, ',') FROM pg_attribute
	 WHERE attrelid = c.oid AND attstattarget >= 0) AS targets
INTO after
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE indrelid IN ('t'::regclass, 'p'::regclass, 'p1'::regclass, 'p2'::regclass, 'p21'::regclass,
	'mv'::regclass, 'empty'::regclass);
SELECT index, def, comment, indisreplident AS r, indisclustered AS c, indisvalid AS v, targets
FROM after ORDER BY index::text COLLATE "C";
SELECT fpt_check_all();
-- and back
SELECT s AS statement
FROM unnest('{t,mv,empty,p}'::regclass[]) r, fptree_advise(r) a,
	unnest(statements) WITH ORDINALITY s(s, n)
ORDER BY index::text COLLATE "C", n
\gexec
SELECT c.oid::regclass::text AS index, pg_get_indexdef(c.oid) AS def, obj_description(c.oid) AS comment,
	i.indisreplident, i.indisclustered, i.indisvalid,
	(SELECT string_agg(attstattarget::text, ',') FROM pg_attribute
	 WHERE attrelid = c.oid AND attstattarget >= 0) AS targets
INTO again
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE indrelid IN ('t'::regclass, 'p'::regclass, 'p1'::regclass, 'p2'::regclass, 'p21'::regclass,
	'mv'::regclass, 'empty'::regclass);
SELECT index, b.def, a.def AS again
FROM before b FULL JOIN again a USING (index)
WHERE (replace(b.def, ', deduplicate_items=off', ''), b.comment, b.indisreplident,
		b.indisclustered, b.indisvalid, b.targets) IS DISTINCT FROM
	(a.def, a.comment, a.indisreplident, a.indisclustered, a.indisvalid, a.targets);

-- with the extensions that they depend on, and the predicate as it was written
CREATE FUNCTION fits(int) RETURNS bool LANGUAGE sql IMMUTABLE RETURN $1 < 5;
CREATE TABLE dep (a int) PARTITION BY RANGE (a);
CREATE TABLE dep1 PARTITION OF dep FOR VALUES FROM (0) TO (9);
CREATE INDEX dep_a ON dep (a) WHERE fits(a);
CREATE INDEX dep1_a ON dep1 (a DESC) WHERE fits(a) AND a > 1;
ALTER INDEX dep_a DEPENDS ON EXTENSION plpgsql;
ALTER INDEX dep1_a_idx DEPENDS ON EXTENSION plpgsql;
ALTER INDEX dep1_a DEPENDS ON EXTENSION plpgsql;
SELECT s AS statement
FROM unnest('{dep_a,dep1_a}'::regclass[]) WITH ORDINALITY r (i, n), fptree_advise(i) a,
	unnest(statements) WITH ORDINALITY s (s, m) ORDER BY n, m;
SELECT s AS statement
FROM unnest('{dep_a,dep1_a}'::regclass[]) WITH ORDINALITY r (i, n), fptree_advise(i) a,
	unnest(statements) WITH ORDINALITY s (s, m) ORDER BY n, m
\gexec
SELECT e.extname, pg_get_indexdef(objid)
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
WHERE d.deptype = 'x' AND d.classid = 'pg_class'::regclass ORDER BY objid::regclass::text;
DROP TABLE dep;
DROP FUNCTION fits;

--
-- What cannot be replaced, and what cannot be read.
--
-- a foreign partition has no index to attach, at any level
CREATE FOREIGN DATA WRAPPER fpt_advise_wrapper;
CREATE SERVER fpt_advise_server FOREIGN DATA WRAPPER fpt_advise_wrapper;
CREATE TABLE far (a int) PARTITION BY RANGE (a);
CREATE TABLE far1 PARTITION OF far FOR VALUES FROM (0) TO (9) PARTITION BY RANGE (a);
CREATE FOREIGN TABLE far11 PARTITION OF far1 FOR VALUES FROM (0) TO (4) SERVER fpt_advise_server;
CREATE INDEX far_a ON far (a);
SELECT index, replaceable, reason, statements FROM fptree_advise('far_a');
DROP TABLE far;
DROP FOREIGN DATA WRAPPER fpt_advise_wrapper CASCADE;
CREATE TABLE c (a int PRIMARY KEY, b int UNIQUE, r int4range, h int, k int,
	EXCLUDE USING btree (h WITH =), CONSTRAINT d UNIQUE (h, k) DEFERRABLE);
CREATE UNIQUE INDEX c_ref ON c (k);
CREATE TABLE c_refers (k int REFERENCES c (k));
CREATE FUNCTION backwards(int4, int4) RETURNS int4 LANGUAGE sql IMMUTABLE
RETURN btint4cmp($2, $1);
CREATE OPERATOR CLASS backwards FOR TYPE int4 USING btree AS
	OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <,
	FUNCTION 1 backwards(int4, int4);
CREATE INDEX c_backwards ON c (a backwards, b);
CREATE INDEX c_hash ON c USING hash (a);
INSERT INTO c SELECT 1, 2, NULL, i, i FROM generate_series(1, 1) i;
INSERT INTO c SELECT i, -i, NULL, i, i FROM generate_series(3, 4) i;
CREATE UNIQUE INDEX CONCURRENTLY c_invalid ON c ((r IS NULL));
-- without what depends on the version
SELECT index, am, size IS NOT NULL AS size, fptree_size IS NOT NULL AS estimate, replaceable,
	regexp_replace(reason, '(foreign key "[^"]*").*', '\1') AS reason, statements
FROM fptree_advise('c') a ORDER BY index::text COLLATE "C";
SELECT index, am, size IS NOT NULL AS size, fptree_size IS NOT NULL AS estimate, replaceable,
	reason, statements
FROM unnest('{p1,p21}'::regclass[]) r, fptree_advise(r) a;
-- a partition's index that is a constraint's, or a foreign key's; as from 18 on
CREATE TABLE held (a int NOT NULL) PARTITION BY RANGE (a);
CREATE TABLE held1 PARTITION OF held (CONSTRAINT held1_pk PRIMARY KEY (a)) FOR VALUES FROM (0) TO (1);
CREATE TABLE held2 PARTITION OF held FOR VALUES FROM (1) TO (2);
CREATE UNIQUE INDEX held2_a ON held2 (a);
CREATE TABLE held_refers (a int CONSTRAINT held_fk REFERENCES held2 (a));
CREATE UNIQUE INDEX held_a ON held (a);
SELECT index, replaceable, current_setting('server_version_num')::int < 180000 OR
	reason LIKE 'its partition "held1_pk" %primary key "held1_pk"%; its partition "held2_a" %foreign key "held_fk"%' AS reason,
	statements
FROM fptree_advise('held_a');
DROP TABLE held, held_refers;
SELECT fptree_advise('c_hash');
SELECT fptree_size > 0 AS estimate, reason FROM fptree_advise('pg_class_oid_index');
CREATE TABLE toasted (a text);
SELECT fptree_size > 0 AS estimate, replaceable, reason, statements
FROM pg_class c JOIN pg_index i ON indrelid = reltoastrelid, fptree_advise(indexrelid)
WHERE c.oid = 'toasted'::regclass;
DROP TABLE toasted;
SELECT fptree_advise('before'), fptree_advise('again');
CREATE VIEW v AS SELECT 1;
SELECT fptree_advise('v');
SELECT fptree_advise(1);
SELECT fptree_advise('t', 19);
SELECT fptree_advise('t', 65537);
SELECT fptree_advise('t', NULL);
SELECT fptree_stat_approx('t_a');
SELECT fptree_stat_approx('b_i', 0);
SELECT fptree_stat_approx(NULL) IS NULL AS null;
-- the whole database: what there is, once each, and nothing of the system's
SELECT count(*) > 0 AS some, count(*) = count(DISTINCT index) AS once,
	bool_or(c.relnamespace = 'pg_catalog'::regnamespace) AS catalogs,
	array_agg(DISTINCT am ORDER BY am) AS ams
FROM fptree_advise() a JOIN pg_class c ON c.oid = index;

-- names that must be cut are the same without their ends
CREATE TABLE cut (a int, n int) PARTITION BY RANGE (n);
CREATE TABLE cut1 PARTITION OF cut FOR VALUES FROM (0) TO (1);
CREATE TABLE cut2 PARTITION OF cut FOR VALUES FROM (1) TO (2);
CREATE TABLE cut3 PARTITION OF cut FOR VALUES FROM (2) TO (3);
CREATE INDEX an_index_whose_name_is_as_long_as_a_name_of_an_index_may_be_001 ON cut1 (a);
CREATE INDEX an_index_whose_name_is_as_long_as_a_name_of_an_index_may_be_002 ON cut2 (a);
CREATE INDEX an_index_whose_name_is_as_long_as_a_name_of_an_index_may_be_003 ON cut3 (a);
CREATE INDEX cut_a ON cut (a);
SELECT replace(unnest(statements), 'CONCURRENTLY ', '') AS statement FROM fptree_advise('cut_a') \gexec
SELECT c.relname, am.amname FROM pg_partition_tree('cut_a') t JOIN pg_class c ON c.oid = t.relid
	JOIN pg_am am ON am.oid = c.relam ORDER BY 1;
DROP TABLE cut;
-- no lock is kept, but those of partitions
CREATE TABLE free (a int);
CREATE INDEX free_a ON free (a);
BEGIN;
SELECT count(*) FROM fptree_advise('free_a');
SELECT count(*) FROM fptree_advise('free');
SELECT relation::regclass, mode FROM pg_locks
WHERE pid = pg_backend_pid() AND relation IN ('free'::regclass, 'free_a'::regclass);
COMMIT;
DROP TABLE free;

--
-- Who may ask.
--
CREATE ROLE fpt_advise_owner;
CREATE ROLE fpt_advise_other;
CREATE ROLE fpt_advise_reader IN ROLE pg_read_all_stats;
CREATE ROLE fpt_advise_scanner IN ROLE pg_stat_scan_tables;
GRANT ALL ON SCHEMA fpt_advise TO PUBLIC;
GRANT ALL ON empty, bloat TO fpt_advise_other;
ALTER TABLE empty OWNER TO fpt_advise_owner;
ALTER TABLE bloat OWNER TO fpt_advise_owner;
SET ROLE fpt_advise_owner;
SELECT index, reason FROM fptree_advise('empty_a');
SELECT fptree_stat_approx('b_i') IS NOT NULL AS answer;
SET ROLE fpt_advise_other;
SELECT index, reason FROM fptree_advise('empty_a');
SELECT fptree_stat_approx('b_i');
SELECT index, am, size IS NOT NULL AS size, fresh_size, fptree_size, replaceable, reason, statements
FROM fptree_advise('empty');
SET ROLE fpt_advise_reader;
SELECT index, reason FROM fptree_advise('empty_a');
SELECT fptree_stat_approx('b_i') IS NOT NULL AS answer;
SET ROLE fpt_advise_scanner;
SELECT index, reason FROM fptree_advise('empty_a');
RESET ROLE;
-- Comparison functions, which their owners may change, run as the table's owner,
-- whoever asks.
CREATE FUNCTION whose(int4, int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_user <> 'fpt_advise_owner' THEN
		RAISE EXCEPTION 'called as %', current_user;
	END IF;
	RETURN btint4cmp($1, $2);
END $$;
CREATE OPERATOR CLASS whose FOR TYPE int4 USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 whose(int4, int4);
CREATE OPERATOR CLASS whose FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 whose(int4, int4);
CREATE TABLE owned (a int);
INSERT INTO owned SELECT i FROM generate_series(1, 10) i;
ALTER TABLE owned OWNER TO fpt_advise_owner;
CREATE INDEX owned_fptree ON owned USING fptree (a whose);
CREATE INDEX owned_btree ON owned (a whose);
SELECT index, fptree_size, reason FROM fptree_advise('owned') ORDER BY index::text;
SELECT entries FROM fptree_stat_approx('owned_fptree');
SELECT index, fptree_size, reason FROM fptree_advise() WHERE on_table = 'owned'::regclass ORDER BY index::text;
SELECT current_user = session_user AS caller, current_setting('search_path') AS path;
SET ROLE fpt_advise_scanner;
SELECT index, fptree_size, reason FROM fptree_advise('owned_fptree');
SELECT current_user;
RESET ROLE;
DROP TABLE owned;
DROP OPERATOR FAMILY whose USING btree;
DROP OPERATOR FAMILY whose USING fptree;
DROP FUNCTION whose(int4, int4);
ALTER TABLE empty OWNER TO CURRENT_USER;
ALTER TABLE bloat OWNER TO CURRENT_USER;
REVOKE ALL ON SCHEMA fpt_advise FROM PUBLIC;
REVOKE ALL ON empty, bloat FROM fpt_advise_other;
DROP ROLE fpt_advise_owner, fpt_advise_other, fpt_advise_reader, fpt_advise_scanner;
-- Of a replica identity version 17 wants a btree.
CREATE TABLE known (a int NOT NULL);
CREATE UNIQUE INDEX known_a ON known USING btree (a);
ALTER TABLE known REPLICA IDENTITY USING INDEX known_a;
SELECT replaceable = (current_setting('server_version_num')::int / 10000 <> 17) AS by_version,
	replaceable = coalesce(array_to_string(statements, ';') LIKE '%REPLICA IDENTITY USING INDEX%', false) AS told
FROM fptree_advise('known_a');
-- Merge joins of other files must not meet this family.
DROP INDEX c_backwards;
DROP OPERATOR FAMILY backwards USING btree;
SELECT fpt_check_all();

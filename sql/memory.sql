--
-- What a session keeps of indexes: memory that does not grow, and descriptions that
-- may be thrown away.
--

--
-- Memory that a statement takes does not grow with the rows it works on: at its
-- end all contexts hold what they held in its middle.
--
CREATE SCHEMA fpt_memory;
SET search_path = fpt_memory, public;
SET client_min_messages = warning;

CREATE FUNCTION note(i int, n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	used text;
BEGIN
	IF i = n / 2 OR i = n THEN
		SELECT sum(used_bytes) INTO used FROM pg_backend_memory_contexts;
		PERFORM set_config(CASE i WHEN n THEN 'memory.end' ELSE 'memory.half' END, used, false);
	END IF;
	RETURN i;
END $$;

-- kB by which it has grown, if it has
CREATE FUNCTION grown(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	grown bigint;
BEGIN
	PERFORM set_config('memory.half', '', false), set_config('memory.end', '', false);
	EXECUTE query;
	grown := current_setting('memory.end')::bigint - current_setting('memory.half')::bigint;
	RETURN CASE WHEN grown < 100000 THEN 'no' ELSE grown / 1000 || ' kB' END;
END $$;

-- insertions: values that are compressed, wide ones that split a page each few
-- rows, keys of several columns, numbers
CREATE TABLE c (v text COMPRESSION pglz, i int);
CREATE INDEX c_v ON c USING fptree (v);
SELECT grown($$INSERT INTO c SELECT i || repeat('abcdefghij', 100), note(i, 4000) FROM generate_series(1, 4000) i$$);
CREATE TABLE w (v text, i int);
ALTER TABLE w ALTER v SET STORAGE PLAIN;
CREATE INDEX w_v ON w USING fptree (v);
SELECT grown($$INSERT INTO w SELECT md5(i::text) || repeat('x', 900), note(i, 2000) FROM generate_series(1, 2000) i$$);
CREATE TABLE t (k int, v text, n numeric, i int);
CREATE UNIQUE INDEX t_v ON t USING fptree (v, n);
CREATE INDEX t_k ON t USING fptree (k);
SELECT grown($$INSERT INTO t SELECT hashint4(i) % 1000, md5(i::text), i / 7.0, note(i, 10000) FROM generate_series(1, 10000) i$$);
SELECT grown($$INSERT INTO t SELECT 0, md5(i::text), i / 7.0, note(i, 10000) FROM generate_series(1, 10000) i ON CONFLICT DO NOTHING$$);

-- old versions are removed before pages are split
SELECT grown($$UPDATE t SET i = note(i, 10000)$$);
SELECT grown($$UPDATE t SET i = note(i, 10000)$$);
VACUUM ANALYZE t;

-- scans that begin again and again
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
SET enable_material = off;
SELECT grown($$SELECT count(note(g, 10000)) FROM generate_series(1, 10000) g LEFT JOIN LATERAL (SELECT 1 FROM t WHERE k = g % 1000 LIMIT 1) s ON true$$);
SELECT grown($$SELECT count(note(g, 10000)) FROM generate_series(1, 10000) g LEFT JOIN LATERAL (SELECT 1 FROM t WHERE v = md5(g::text) AND n > g - 100 LIMIT 1) s ON true$$);
SELECT grown($$SELECT count(note(g, 10000)) FROM generate_series(1, 10000) g LEFT JOIN LATERAL (SELECT v FROM t WHERE v >= md5(g::text) ORDER BY v, n LIMIT 3) s ON true WHERE s.v > ''$$);
SELECT grown($$SELECT count(note(g, 10000)) FROM generate_series(1, 10000) g LEFT JOIN LATERAL (SELECT 1 FROM t WHERE k = ANY (ARRAY[g % 1000, g % 77, 5]) LIMIT 1) s ON true$$);
SELECT grown($$SELECT count(note(g, 10000)) FROM generate_series(1, 10000) g LEFT JOIN LATERAL (SELECT 1 FROM t WHERE v = ANY (ARRAY[md5(g::text), 'x']) LIMIT 1) s ON true$$);
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT grown($$SELECT count(note(g, 10000)) FROM generate_series(1, 10000) g LEFT JOIN LATERAL (SELECT 1 FROM t WHERE v = md5(g::text) AND n > g - 100 LIMIT 1) s ON true$$);
RESET enable_indexscan;
RESET enable_indexonlyscan;

-- the same with arguments of five other types, for which an operator family of
-- somebody else brings functions, each with memory that lives as long as what is
-- known of it
CREATE TABLE x (k int2);
INSERT INTO x SELECT generate_series(1, 100);
CREATE OPERATOR FAMILY five USING fptree;
CREATE OPERATOR CLASS five FOR TYPE int2 USING fptree FAMILY five AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 btint2cmp(int2, int2);
DO $$
DECLARE
	t text;
BEGIN
	FOREACH t IN ARRAY '{numeric,text,float4,float8,oid}'::text[] LOOP
		EXECUTE format('CREATE FUNCTION cmp(int2, %1$s) RETURNS int LANGUAGE sql IMMUTABLE STRICT
			AS ''SELECT btint28cmp($1, $2::text::int8)''', t);
		EXECUTE format('CREATE FUNCTION eq(int2, %1$s) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT
			AS ''BEGIN RETURN cmp($1, $2) = 0; END''', t);
		EXECUTE format('CREATE OPERATOR =# (LEFTARG = int2, RIGHTARG = %1$s, FUNCTION = eq)', t);
		EXECUTE format('ALTER OPERATOR FAMILY five USING fptree ADD
			OPERATOR 3 =# (int2, %1$s), FUNCTION 1 (int2, %1$s) cmp(int2, %1$s)', t);
	END LOOP;
END $$;
CREATE INDEX x_k ON x USING fptree (k five);
EXPLAIN (COSTS OFF)
SELECT 1 FROM generate_series(1, 100) g LEFT JOIN LATERAL (SELECT 1 FROM x
	WHERE k =# g::numeric AND k =# g::text AND k =# g::float4 AND k =# g::float8 AND k =# g::oid LIMIT 1) s ON true;
SELECT grown($$SELECT count(note(g, 100)) FROM generate_series(1, 100) g LEFT JOIN LATERAL (SELECT 1 FROM x
	WHERE k =# g::numeric AND k =# g::text AND k =# g::float4 AND k =# g::float8 AND k =# g::oid LIMIT 1) s ON true$$);

-- and if such a function itself leaves memory behind at each call
\getenv builddir PG_ABS_BUILDDIR
\set module :builddir '/test/module/fptree_test'
CREATE FUNCTION cmp(int4, text) RETURNS int
AS :'module', 'fptree_test_compare_text' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION eq(int4, text) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT
AS 'BEGIN RETURN cmp($1, $2) = 0; END';
CREATE OPERATOR =# (LEFTARG = int4, RIGHTARG = text, FUNCTION = eq);
CREATE OPERATOR CLASS leaves FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, OPERATOR 3 =# (int4, text),
	FUNCTION 1 btint4cmp(int4, int4), FUNCTION 1 (int4, text) cmp(int4, text);
CREATE TABLE y AS SELECT g AS k FROM generate_series(1, 100) g;
CREATE INDEX y_k ON y USING fptree (k leaves);
EXPLAIN (COSTS OFF)
SELECT 1 FROM generate_series(1, 2000) g LEFT JOIN LATERAL (SELECT 1 FROM y WHERE k =# g::text LIMIT 1) s ON true;
SELECT grown($$SELECT count(note(g, 2000)) FROM generate_series(1, 2000) g LEFT JOIN LATERAL (SELECT 1 FROM y WHERE k =# g::text LIMIT 1) s ON true$$);
SELECT grown($$SELECT count(note(g, 2000)) FROM generate_series(1, 2000) g LEFT JOIN LATERAL (SELECT 1 FROM y WHERE k =# ANY (ARRAY[g::text, '5']) LIMIT 1) s ON true$$);

-- a merge join that goes back to a mark within a page for each outer row
CREATE TABLE o (k int, i int);
CREATE INDEX o_k ON o USING fptree (k, i);
CREATE TABLE i (k int, v text);
CREATE INDEX i_k ON i USING fptree (k, v);
INSERT INTO i SELECT CASE WHEN i <= 33 THEN 1 WHEN i <= 61 THEN 2 ELSE 3 END, lpad(i::text, 5, 'v') FROM generate_series(1, 200) i;
INSERT INTO o SELECT 2, generate_series(1, 4000);
VACUUM ANALYZE i, o;
RESET enable_mergejoin;
SET enable_nestloop = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF)
SELECT count(note(o.i, 4000)) FROM o o LEFT JOIN i i ON i.k = o.k AND length(i.v) + o.i > 0;
SELECT grown($$SELECT count(note(o.i, 4000)) FROM o o LEFT JOIN i i ON i.k = o.k AND length(i.v) + o.i > 0$$);

-- read-ahead in a table whose file has been emptied: an index-only scan of rows
-- that all see goes on
CREATE TABLE e (k int) WITH (fillfactor = 10, autovacuum_enabled = off);
CREATE INDEX e_k ON e USING fptree (k);
INSERT INTO e SELECT i FROM generate_series(1, 4000) i ORDER BY hashint4(i);
VACUUM (FREEZE, ANALYZE) e;
CHECKPOINT;
SELECT lo_from_bytea(0, '') AS nothing \gset
SELECT lo_export(:nothing, pg_relation_filepath('e')), lo_unlink(:nothing);
EXPLAIN (COSTS OFF)
SELECT count(note(k, 4000)) FROM e WHERE k > 0;
SELECT grown($$SELECT count(note(k, 4000)) FROM e WHERE k > 0$$);
DROP TABLE e;

-- many scans that are open at once, as those of partitions, each of which has
-- read a leaf: no more than a fifth above what btree's take
CREATE TABLE many (k int, v text, w int) PARTITION BY HASH (k);
SELECT format('CREATE TABLE many_%s PARTITION OF many FOR VALUES WITH (MODULUS 20, REMAINDER %1$s)', i)
FROM generate_series(0, 19) i \gexec
INSERT INTO many SELECT i, 'v' || i, i FROM generate_series(1, 40000) i;
CREATE FUNCTION open_scans(query text) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	bytes int8;
BEGIN
	OPEN c FOR EXECUTE query;
	FETCH c INTO r;
	SELECT sum(total_bytes) INTO bytes FROM pg_backend_memory_contexts WHERE name IN ('ExecutorState', 'fptree scan');
	CLOSE c;
	RETURN bytes;
END $$;
CREATE TABLE queries (query text, btree int8);
INSERT INTO queries VALUES ('SELECT k FROM many ORDER BY k'), ('SELECT v FROM many ORDER BY v'),
	('SELECT * FROM many ORDER BY k'), ('SELECT * FROM many ORDER BY v');
SET max_parallel_workers_per_gather = 0;
CREATE INDEX many_k ON many (k);
CREATE INDEX many_v ON many (v);
VACUUM ANALYZE many;
UPDATE queries SET btree = open_scans(query);
DROP INDEX many_k, many_v;
CREATE INDEX many_k ON many USING fptree (k);
CREATE INDEX many_v ON many USING fptree (v);
VACUUM ANALYZE many;
SELECT query, CASE WHEN btree < 400000 THEN 'no scans' WHEN open_scans(query) < btree * 1.2 THEN 'no'
	ELSE open_scans(query) || ', btree ' || btree END AS more FROM queries;

SELECT fpt_check_all();

\c -
--
-- What a backend knows of an index may be thrown away wherever catalogues are read.
-- Here it is, each time, on servers with assertions, which overwrite the memory;
-- others run the same without.
--
CREATE SCHEMA fpt_discard;
SET search_path = fpt_discard, public;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET allow_in_place_tablespaces = on;
SELECT format('CREATE TABLESPACE regress_fpt_d%s LOCATION %L', i, '')
FROM generate_series(1, 4) i \gexec

-- Few rows make trees of several levels.  Images, general keys of one and of more
-- columns, included columns; unique ones of both kinds; the same in stripes.
SET fptree.debug_node_lines = '1,1';
CREATE TABLE t (k int, v text, n numeric, a int[], d date DEFAULT '2000-01-01');
CREATE UNIQUE INDEX t_k ON t USING fptree (k);
CREATE INDEX t_vk ON t USING fptree (v, k);
CREATE UNIQUE INDEX t_n ON t USING fptree (n) INCLUDE (v);
CREATE INDEX t_a ON t USING fptree (a);
CREATE INDEX t_x ON t USING fptree ((k % 5) DESC, v) WHERE k > 100;
CREATE TABLE s (k int, v text, d date DEFAULT '2000-01-01');
CREATE UNIQUE INDEX s_k ON s USING fptree (k) WITH (tablespaces = 'regress_fpt_d1, regress_fpt_d2');
CREATE INDEX s_kv ON s USING fptree (k, v)
	WITH (tablespaces = 'regress_fpt_d1, regress_fpt_d2, regress_fpt_d3, regress_fpt_d4');
CREATE UNIQUE INDEX s_v ON s USING fptree (v) INCLUDE (k) WITH (tablespaces = 'regress_fpt_d3, regress_fpt_d4');
INSERT INTO t SELECT i, 't' || i % 50, i * 1.5, ARRAY[i, i % 7] FROM generate_series(1, 1500) i;
INSERT INTO s SELECT i, 's' || i FROM generate_series(1, 1500) i;
ANALYZE t, s;

SELECT set_config('debug_discard_caches', least(max_val::int, 1)::text, false) IS NOT NULL AS on
FROM pg_settings WHERE name = 'debug_discard_caches';

-- insertions, with splits; unique checks, those of speculative insertions, and
-- those of duplicates
INSERT INTO t SELECT i, 't' || i % 50, i * 1.5, ARRAY[i, i % 7] FROM generate_series(1501, 1540) i;
INSERT INTO s SELECT i, 's' || i FROM generate_series(1501, 1580) i;
INSERT INTO t SELECT i, 't', i * 1.5, ARRAY[i] FROM generate_series(1531, 1550) i ON CONFLICT DO NOTHING;
INSERT INTO t SELECT i, 't', i * 1.5, ARRAY[i] FROM generate_series(1541, 1555) i
	ON CONFLICT (k) DO UPDATE SET v = excluded.v || 'x', n = excluded.n + 0.25;
INSERT INTO s SELECT i, 's' || i FROM generate_series(1571, 1590) i ON CONFLICT (v) DO UPDATE SET v = excluded.v || 'x';
INSERT INTO s SELECT i, 's' || i FROM generate_series(1585, 1600) i ON CONFLICT DO NOTHING;
INSERT INTO t (k) VALUES (7);
INSERT INTO s (k, v) VALUES (0, 's7');
-- old versions are removed before pages are split
UPDATE t SET d = d + 1, v = v || 'q' WHERE k BETWEEN 100 AND 130;
UPDATE t SET n = n + 0.125 WHERE k BETWEEN 100 AND 130;
UPDATE s SET k = -k WHERE k BETWEEN 100 AND 140;

-- plans and scans, of all kinds
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT k, v FROM s WHERE k > 0 ORDER BY k, v;
EXPLAIN (COSTS OFF) SELECT * FROM s JOIN t USING (k) WHERE s.v = 's9';
SELECT count(*), sum(k) FROM s WHERE k BETWEEN -120 AND 700;
SELECT count(*), max(v) FROM s WHERE (k, v) > (1000, 's');
SELECT count(*) FROM s WHERE v = ANY ('{s1,s2,s3,s500,s1500}');
SELECT count(*) FROM t WHERE k BETWEEN 10 AND 700;
SELECT count(*) FROM t WHERE v >= 't1' AND k = ANY ('{1,2,3,500}');
SELECT count(*) FROM t WHERE k = 77 AND v LIKE 't%';
SELECT count(*) FROM t WHERE a >= '{3,3}' AND a < '{500}';
SELECT count(*) FROM t WHERE n = ANY ('{1.5,3,4}');
SELECT min(k), max(n), min(v) FROM t;
SELECT count(*) FROM t WHERE k % 5 = 3 AND k > 100;
SELECT count(*) FROM s JOIN t ON t.k = s.k AND t.v = 't7' WHERE s.k < 400;
SET fptree.enable_distinct = on;
SELECT count(*) FROM (SELECT DISTINCT v FROM t) x;
SELECT count(*), sum(n) FROM (SELECT v, count(*) AS n FROM t WHERE v > 't1' GROUP BY v) x;
SELECT count(*) FROM (SELECT DISTINCT k FROM s WHERE k BETWEEN -120 AND 700) x;
RESET fptree.enable_distinct;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT count(*) FROM s WHERE k BETWEEN 100 AND 900;
SELECT count(*) FROM t WHERE v = 't7' OR k < 30;
RESET enable_indexscan;
RESET enable_indexonlyscan;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_sort = off;
SELECT count(*) FROM t x JOIN t y ON x.v = y.v WHERE x.v > 't1' AND y.v > 't1' AND x.k < 100 AND y.k < 100;
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_sort;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT v, k FROM t WHERE v > '' ORDER BY v, k;
MOVE 700 IN c;
MOVE BACKWARD 650 IN c;
FETCH 2 FROM c;
DECLARE d SCROLL CURSOR FOR SELECT k, v FROM s WHERE k >= 0 ORDER BY k, v;
MOVE 600 IN d;
FETCH BACKWARD 2 FROM d;
INSERT INTO s SELECT i, 's' || i FROM generate_series(3001, 3020) i;
DELETE FROM s WHERE k BETWEEN 1 AND 60;
FETCH 2 FROM d;
MOVE 2000 IN d;
FETCH BACKWARD 1 FROM d;
COMMIT;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 1;
SELECT count(*), sum(k) FROM s WHERE k > 200;
SET max_parallel_workers_per_gather = 0;

-- VACUUM, which unlinks pages; the functions
DELETE FROM t WHERE k BETWEEN 200 AND 900;
DELETE FROM s WHERE k BETWEEN 200 AND 900;
VACUUM (INDEX_CLEANUP on) t;
VACUUM (INDEX_CLEANUP on) s;
ANALYZE s;
SELECT fptree_index_check(i, true, i::text !~ '_(vk|a|x|kv)') FROM unnest('{t_k,t_vk,t_n,t_a,t_x,s_k,s_kv,s_v}'::regclass[]) i;
SELECT fptree_index_parent_check(i, true, true) FROM unnest('{t_vk,t_n,s_k,s_v}'::regclass[]) i;
SELECT count(*) FROM fptree_stripes('s_kv');
SELECT entries FROM fptree_stat('s_v');
SELECT fptree_drop_orphans() >= 0 AS done;

-- DDL
CREATE INDEX s_d ON s USING fptree (d, v) WITH (tablespaces = 'regress_fpt_d2, regress_fpt_d3');
CREATE INDEX CONCURRENTLY t_d ON t USING fptree (d);
REINDEX INDEX t_vk;
REINDEX INDEX CONCURRENTLY s_v;
ALTER TABLE s ALTER v TYPE varchar;
ALTER TABLE t ALTER k TYPE int8;
ALTER INDEX s_k SET TABLESPACE regress_fpt_d1;
INSERT INTO s SELECT i, 's' || i FROM generate_series(4001, 4020) i;
BEGIN;
TRUNCATE s;
INSERT INTO s SELECT i, 's' || i FROM generate_series(1, 20) i;
SELECT count(*) FROM s WHERE k > 5;
ROLLBACK;
SELECT count(*), sum(k) FROM s WHERE k > 5;
ALTER TABLE s ADD EXCLUDE USING fptree (d WITH =) WHERE (k > 4019);
INSERT INTO s SELECT i, 's' || i FROM generate_series(4021, 4022) i;
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200);
CREATE INDEX p_kv ON p USING fptree (k, v) WITH (tablespaces = 'regress_fpt_d1, regress_fpt_d2');
INSERT INTO p SELECT i, 'p' || i FROM generate_series(0, 199) i;
SELECT sum(k) FROM (SELECT k FROM p ORDER BY k LIMIT 120) x;
DROP TABLE p;

RESET debug_discard_caches;
SELECT fpt_check_all();
DROP TABLE s;
SELECT format('DROP TABLESPACE regress_fpt_d%s', i) FROM generate_series(1, 4) i \gexec

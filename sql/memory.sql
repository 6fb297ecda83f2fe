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

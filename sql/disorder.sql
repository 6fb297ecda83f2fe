--
-- Orders that are wrong: comparisons that contradict each other, or have changed since
-- the keys were put in.
--

--
-- The order of keys is not any more what it was when they were put in, as after
-- an upgrade of the library that a collation comes from.  Here it hangs on a
-- setting.  Searches may miss rows then; whole scans must not, and VACUUM must
-- not pass any entry by.  A btree is beside.
--
CREATE SCHEMA fpt_disorder;
SET search_path = fpt_disorder, public;
SET max_parallel_maintenance_workers = 0;

SET ord.x = 0;
CREATE FUNCTION cmp(a int, b int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
	x int := current_setting('ord.x');
BEGIN
	RETURN CASE WHEN a # x < b # x THEN -1 WHEN a # x > b # x THEN 1 ELSE 0 END;
END $$;
CREATE FUNCTION lt(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT fpt_disorder.cmp(a, b) < 0';
CREATE FUNCTION le(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT fpt_disorder.cmp(a, b) <= 0';
CREATE FUNCTION eq(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT fpt_disorder.cmp(a, b) = 0';
CREATE FUNCTION ge(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT fpt_disorder.cmp(a, b) >= 0';
CREATE FUNCTION gt(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT fpt_disorder.cmp(a, b) > 0';
CREATE OPERATOR <# (FUNCTION = lt, LEFTARG = int, RIGHTARG = int, COMMUTATOR = >#, RESTRICT = scalarltsel);
CREATE OPERATOR <=# (FUNCTION = le, LEFTARG = int, RIGHTARG = int, COMMUTATOR = >=#, RESTRICT = scalarlesel);
CREATE OPERATOR =# (FUNCTION = eq, LEFTARG = int, RIGHTARG = int, COMMUTATOR = =#, RESTRICT = eqsel);
CREATE OPERATOR >=# (FUNCTION = ge, LEFTARG = int, RIGHTARG = int, COMMUTATOR = <=#, RESTRICT = scalargesel);
CREATE OPERATOR ># (FUNCTION = gt, LEFTARG = int, RIGHTARG = int, COMMUTATOR = <#, RESTRICT = scalargtsel);
CREATE OPERATOR CLASS x_ops FOR TYPE int USING fptree AS
	OPERATOR 1 <#, OPERATOR 2 <=#, OPERATOR 3 =#, OPERATOR 4 >=#, OPERATOR 5 >#, FUNCTION 1 cmp(int, int);
CREATE OPERATOR CLASS x_ops FOR TYPE int USING btree AS
	OPERATOR 1 <#, OPERATOR 2 <=#, OPERATOR 3 =#, OPERATOR 4 >=#, OPERATOR 5 >#, FUNCTION 1 cmp(int, int);

-- 0 .. 1023, so that every order has them all
CREATE TABLE f (k int, v int) WITH (autovacuum_enabled = off);
INSERT INTO f SELECT i * 389 % 1024, 7 FROM generate_series(0, 1023) i;
CREATE TABLE b (LIKE f) WITH (autovacuum_enabled = off);
INSERT INTO b SELECT * FROM f;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX f_k ON f USING fptree (k x_ops) WITH (fillfactor = 10);
CREATE INDEX f_vk ON f USING fptree (v, k x_ops DESC) WITH (fillfactor = 10);
RESET fptree.debug_node_lines;
CREATE INDEX b_k ON b USING btree (k x_ops) WITH (fillfactor = 10);
CREATE INDEX b_vk ON b USING btree (v, k x_ops DESC) WITH (fillfactor = 10);
VACUUM ANALYZE f;
VACUUM ANALYZE b;
SELECT leaf_pages > 5 AS many_leaves FROM fptree_stat('f_k');

-- Whole scans and scans from an end on: rows, different ones of them, and how
-- many matched that had to
CREATE FUNCTION scan(tab text, what text, OUT plan text, OUT n int, OUT different int) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	what := format('SELECT x FROM (%s) q', replace(what, '%t', tab));
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || what LOOP
		IF line LIKE '%Scan%' THEN
			plan := substring(line, '((?:Parallel )?[A-Z][A-Za-z ]*Scan(?: Backward)?)');
		END IF;
	END LOOP;
	EXECUTE format('SELECT count(*), count(DISTINCT x) FROM (%s) q', what) INTO n, different;
END $$;
CREATE FUNCTION scans(OUT what text, OUT as_btree bool, OUT plan text, OUT n int, OUT different int)
	RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOREACH what IN ARRAY ARRAY[
		'SELECT k x FROM %t ORDER BY k USING <#',
		'SELECT k x FROM %t ORDER BY k USING >#',
		'SELECT ctid x FROM %t ORDER BY k USING <#',
		'SELECT ctid x FROM %t ORDER BY k USING >#',
		'SELECT k x FROM %t ORDER BY v, k USING >#',
		'SELECT ctid x FROM %t ORDER BY v DESC, k USING <#',
		'SELECT k x FROM %t WHERE v = 7 ORDER BY k USING >#',
		'SELECT ctid x FROM %t WHERE v = 7 ORDER BY k USING <#',
		'SELECT k x FROM %t WHERE k >=# least OFFSET 0']
	LOOP
		what := replace(what, 'least', (0 # current_setting('ord.x')::int)::text);
		r := scan('b', what);
		SELECT s.plan, s.n, s.different INTO plan, n, different FROM scan('f', what) s;
		as_btree := (n, different) = (r.n, r.different);
		RETURN NEXT;
	END LOOP;
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SET max_parallel_workers_per_gather = 0;
SELECT * FROM scans();
SET ord.x = 341;
SELECT * FROM scans();
SET fptree.leaf_prefetch = off;
SELECT bool_and(as_btree) FROM scans();
RESET fptree.leaf_prefetch;

-- by several processes
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM scan('f', 'SELECT k x FROM %t ORDER BY k USING <#');
SELECT * FROM scan('f', 'SELECT ctid x FROM %t ORDER BY k USING >#');
SELECT * FROM scan('f', 'SELECT ctid x FROM %t WHERE v = 7');
SELECT * FROM scan('f', 'SELECT k x FROM %t');
SET max_parallel_workers_per_gather = 0;

-- a cursor to and fro
DO $$
DECLARE
	c SCROLL CURSOR FOR SELECT k FROM f ORDER BY k USING <#;
	n int;
	ns int[];
BEGIN
	OPEN c;
	MOVE FORWARD 600 FROM c;
	MOVE BACKWARD 400 FROM c;
	FOR i IN 1 .. 3 LOOP
		MOVE FORWARD ALL FROM c;
		GET DIAGNOSTICS n = ROW_COUNT;
		ns := ns || n;
		MOVE BACKWARD 1000000 FROM c;
		GET DIAGNOSTICS n = ROW_COUNT;
		ns := ns || n;
	END LOOP;
	RAISE NOTICE 'rows passed: %', ns;
END $$;

-- Searches may find too little, but must end, and return no row twice.
CREATE FUNCTION searches(OUT n int, OUT twice int) LANGUAGE plpgsql AS $$
DECLARE
	q text;
	r record;
BEGIN
	n := 0;
	twice := 0;
	FOR i IN 0 .. 1000 BY 100 LOOP
		FOREACH q IN ARRAY ARRAY['k >=# %s ORDER BY k USING <#', 'k <=# %s ORDER BY k USING >#',
			'v = 7 AND k >=# %s ORDER BY k USING >#', 'k =# %s'] LOOP
			EXECUTE format('SELECT count(*) AS c, count(DISTINCT ctid) AS d FROM (SELECT ctid FROM f WHERE ' || q || ') x', i) INTO r;
			n := n + 1;
			twice := twice + r.c - r.d;
		END LOOP;
	END LOOP;
END $$;
SELECT * FROM searches();

-- VACUUM: all entries of the rows go, so none of them finds another row later.
SET client_min_messages = error;
DELETE FROM f WHERE k % 3 = 0 OR k BETWEEN 300 AND 450;
VACUUM (INDEX_CLEANUP ON) f;
SELECT (fptree_stat('f_k')).entries AS f_k, (fptree_stat('f_vk')).entries AS f_vk, count(*) FROM f;
SET ord.x = 99;
DELETE FROM f WHERE k % 7 = 0 OR k BETWEEN 600 AND 750;
VACUUM (INDEX_CLEANUP ON) f;
SELECT (fptree_stat('f_k')).entries AS f_k, (fptree_stat('f_vk')).entries AS f_vk, count(*) FROM f;
RESET client_min_messages;
SET ord.x = 0;
SELECT fptree_index_parent_check('f_k', true, true), fptree_index_parent_check('f_vk', true, true);
INSERT INTO f SELECT k + 10000, 8 FROM generate_series(1, 600) k;
SELECT count(*) AS wrong FROM generate_series(0, 1023, 3) i, f WHERE f.k =# i AND f.k <> i;
SELECT n, different FROM scan('f', 'SELECT ctid x FROM %t ORDER BY k USING <#');
SELECT count(*) FROM f;
VACUUM f;
SELECT fpt_check_all();

-- Keys of a page's dictionary that have become equal: none of its entries goes
-- where the page is formed anew, for one that is inserted.
SET ord.fold = off;
CREATE FUNCTION tcmp(a text, b text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN CASE WHEN a = b OR current_setting('ord.fold') = 'on' AND lower(a) = lower(b) THEN 0
		WHEN a COLLATE "C" < b THEN -1 ELSE 1 END;
END $$;
CREATE OPERATOR CLASS t_ops FOR TYPE text USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 tcmp(text, text);
CREATE TABLE d (k text, n int) WITH (autovacuum_enabled = off);
INSERT INTO d SELECT CASE WHEN i % 2 = 0 OR i > 1000 THEN 'AAAA' WHEN i % 4 = 1 THEN 'XXXX' ELSE 'xxxx' END, i
	FROM generate_series(1, 1150) i;
CREATE INDEX d_k ON d USING fptree (k t_ops) WITH (fillfactor = 100);
DELETE FROM d WHERE k <> 'AAAA' AND n % 10 NOT IN (1, 3);
VACUUM d;
SET ord.fold = on;
INSERT INTO d SELECT 'AAAA', 10000 + i FROM generate_series(1, 900) i;
SET ord.fold = off;
SELECT fptree_index_parent_check('d_k', true, true);

-- One value is now above all others, and becomes the separator of a leaf that
-- is split.  Its place is the last page of the level above: the leaf, which is
-- locked, must not wait until all pages there are passed (L11).
SET ord.top = '';
CREATE FUNCTION wcmp(a text, b text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	top text := current_setting('ord.top');
BEGIN
	RETURN CASE WHEN a = b THEN 0 WHEN a = top THEN 1 WHEN b = top THEN -1
		WHEN a COLLATE "C" < b THEN -1 ELSE 1 END;
END $$;
CREATE OPERATOR CLASS w_ops FOR TYPE text USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 wcmp(text, text);
CREATE TABLE w (k text) WITH (autovacuum_enabled = off);
ALTER TABLE w ALTER k SET STORAGE PLAIN;
SELECT current_setting('block_size')::int * 19 / 82 AS wide \gset
INSERT INTO w SELECT rpad(lpad(i::text, 5, '0'), :wide, 'x') FROM generate_series(1, 4500) i;
CREATE INDEX w_k ON w USING fptree (k w_ops);
SELECT internal_pages > 600 AS many_parents FROM fptree_stat('w_k');
CREATE FUNCTION pages(statement text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, FORMAT JSON) ' || statement INTO plan;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;

SELECT rpad('00019', :wide, 'x') AS top \gset
SET ord.top = :'top';
SELECT pages(format('INSERT INTO w VALUES (%L)', rpad('00018y', :wide, 'y'))) < 500 AS few_pages;
SET ord.top = '';

-- others check all indexes, too, and have no such setting
DROP TABLE f, b, d, w;
RESET client_min_messages;

\c -
-- Comparisons that contradict each other, or the sort keys of a library: an
-- index takes every row all the same, VACUUM takes out every entry of a row that
-- is gone, and searches end without an error.  Operators, not sort keys, say what
-- an answer is.
--
CREATE SCHEMA fpt_contradict;
SET search_path = fpt_contradict, public;
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;

-- a cycle; a value that equals all others; one that is below all, and all below
-- it; cycles of neighbours
SET ord.kind = '';
CREATE FUNCTION cmp(a int, b int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	kind text := current_setting('ord.kind');
BEGIN
	IF a = b THEN
		RETURN 0;
	ELSIF kind = 'cycle' THEN
		RETURN CASE WHEN (b - a + 1024) % 1024 < 512 THEN -1 ELSE 1 END;
	ELSIF kind = 'equal' AND (a % 97 = 0 OR b % 97 = 0) THEN
		RETURN 0;
	ELSIF kind = 'below' AND (a % 97 = 0 OR b % 97 = 0) THEN
		RETURN -1;
	ELSIF kind = 'down' THEN	-- an order, but another one
		RETURN sign(b - a);
	ELSIF kind = 'cycles' AND abs(a - b) < 40 THEN
		RETURN CASE WHEN (b - a + 40) % 40 < 20 THEN -1 ELSE 1 END;
	END IF;
	RETURN sign(a - b);
END $$;
CREATE FUNCTION lt(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT fpt_contradict.cmp(a, b) < 0';
CREATE FUNCTION le(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT fpt_contradict.cmp(a, b) <= 0';
CREATE FUNCTION eq(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT fpt_contradict.cmp(a, b) = 0';
CREATE FUNCTION ge(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT fpt_contradict.cmp(a, b) >= 0';
CREATE FUNCTION gt(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT fpt_contradict.cmp(a, b) > 0';
CREATE OPERATOR <# (FUNCTION = lt, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR <=# (FUNCTION = le, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR =# (FUNCTION = eq, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR >=# (FUNCTION = ge, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR ># (FUNCTION = gt, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR CLASS o_ops FOR TYPE int USING fptree AS
	OPERATOR 1 <#, OPERATOR 2 <=#, OPERATOR 3 =#, OPERATOR 4 >=#, OPERATOR 5 >#, FUNCTION 1 cmp(int, int);
CREATE OPERATOR CLASS o_ops FOR TYPE int USING btree AS	-- for ORDER BY
	OPERATOR 1 <#, OPERATOR 2 <=#, OPERATOR 3 =#, OPERATOR 4 >=#, OPERATOR 5 >#, FUNCTION 1 cmp(int, int);

-- the same of the number that a wide string begins with, for many pages
CREATE FUNCTION wcmp(a text, b text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN CASE WHEN a = b THEN 0 ELSE fpt_contradict.cmp(left(a, 4)::int, left(b, 4)::int) END;
END $$;
CREATE OPERATOR CLASS w_ops FOR TYPE text USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 wcmp(text, text);

CREATE TABLE t (k int, w text) WITH (autovacuum_enabled = off);
ALTER TABLE t ALTER w SET STORAGE PLAIN;
CREATE INDEX t_k ON t USING fptree (k o_ops);
CREATE INDEX t_w ON t USING fptree (w w_ops);
CREATE INDEX t_kw ON t USING fptree (k o_ops DESC, w w_ops);
CREATE TABLE u (k int) WITH (autovacuum_enabled = off);
CREATE UNIQUE INDEX u_k ON u USING fptree (k o_ops);
CREATE FUNCTION scanned(what text, OUT n int, OUT different int) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT count(*), count(DISTINCT ctid) FROM (SELECT ctid FROM t %s) x', what) INTO n, different;
END $$;
CREATE FUNCTION fill(rows int, OUT inserted int, OUT refused int) LANGUAGE plpgsql AS $$
DECLARE
	r int;
BEGIN
	inserted := 0;
	refused := 0;
	FOR i IN 1 .. rows LOOP
		r := abs(hashint4(i)::bigint) % 1021;
		BEGIN
			INSERT INTO t VALUES (r, rpad(lpad(r::text, 4, '0') || i % 7, 1500, 'x'));
			inserted := inserted + 1;
		EXCEPTION WHEN index_corrupted THEN
			refused := refused + 1;
		END;
	END LOOP;
END $$;
CREATE FUNCTION queries(OUT failed int) LANGUAGE plpgsql AS $$
DECLARE
	q text;
BEGIN
	failed := 0;
	FOR i IN 0 .. 1000 BY 111 LOOP
		FOREACH q IN ARRAY ARRAY['k >=# %1$s', 'k <=# %1$s', 'k ># %1$s AND k <# %2$s', 'k =# %1$s',
			'k =# ANY (ARRAY[%1$s, %2$s, 7, 500])', 'k >=# %1$s ORDER BY k USING <#', 'k <=# %1$s ORDER BY k USING >#'] LOOP
			BEGIN
				EXECUTE format('SELECT count(*) FROM (SELECT k FROM t WHERE ' || q || ') x', i, (i + 100) % 1024);
			EXCEPTION WHEN index_corrupted THEN
				failed := failed + 1;
			END;
		END LOOP;
	END LOOP;
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
CREATE FUNCTION contradict(OUT kind text, OUT inserted int, OUT refused int, OUT up text, OUT down text,
	OUT wide text, OUT failed int) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOREACH kind IN ARRAY ARRAY['cycle', 'equal', 'below', 'cycles'] LOOP
		PERFORM set_config('ord.kind', kind, false);
		TRUNCATE t;
		SELECT f.inserted, f.refused INTO inserted, refused FROM fill(1500) f;
		up := scanned('ORDER BY k USING <#');
		down := scanned('ORDER BY k USING >#');
		wide := scanned('ORDER BY w DESC');
		SELECT q.failed INTO failed FROM queries() q;
		RETURN NEXT;
	END LOOP;
END $$;
SET client_min_messages = error;
SELECT * FROM contradict();
DELETE FROM t WHERE k % 3 <> 1;
VACUUM (INDEX_CLEANUP ON) t;
SELECT (fptree_stat('t_k')).entries AS t_k, (fptree_stat('t_w')).entries AS t_w,
	(fptree_stat('t_kw')).entries AS t_kw, count(*) FROM t;
SELECT * FROM fill(300);
SELECT scanned('ORDER BY k USING <#') AS up, scanned('ORDER BY w') AS wide, count(*) FROM t;
SELECT * FROM queries();
-- all keys of a whole index: no search leaves any out
CREATE TABLE d (w text);
ALTER TABLE d ALTER w SET STORAGE PLAIN;
CREATE INDEX d_w ON d USING fptree (w w_ops);
INSERT INTO d SELECT rpad(lpad((abs(hashint4(i / 5)::bigint) % 100)::text, 4, '0'), 1000, 'x') FROM generate_series(5, 2500) i;
ANALYZE d;
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT w || '' FROM d EXCEPT SELECT w FROM (SELECT DISTINCT w FROM d OFFSET 0) x) y;
DROP TABLE d;
RESET client_min_messages;

-- said once in a session, and by the checks
\c -
SET search_path = fpt_contradict, public;
\set VERBOSITY terse
SET ord.kind = 'cycles';
SET enable_seqscan = off;
SET client_min_messages = error;
TRUNCATE t;
RESET client_min_messages;
SELECT * FROM fill(1500);
SELECT * FROM fill(300);
DO $$ BEGIN
	PERFORM fptree_index_parent_check('t_w', true, true);
	RAISE 'no fault found';
EXCEPTION WHEN index_corrupted THEN
	RAISE NOTICE 'the check fails';
END $$;

-- Checks prove that it is the operator class which is wrong, by three keys or two;
-- not so where its order has changed.  Inserted row by row, and built.
CREATE FUNCTION checked(ix text, parent bool, descend bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	hint text;
BEGIN
	IF parent THEN
		PERFORM fptree_index_parent_check(ix, true, descend);
	ELSE
		PERFORM fptree_index_check(ix, true);
	END IF;
	RETURN 'sound';
EXCEPTION WHEN index_corrupted THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RETURN regexp_replace(regexp_replace(message || '. ' || hint, 'index "\w+" is corrupted at page \d+.*', 'corrupted'),
		'"\w+"', '"?"');
END $$;
SET client_min_messages = error;
CREATE FUNCTION checks(OUT kind text, OUT said text, OUT sound bool) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	ix text;
	answers text[];
BEGIN
	FOREACH kind IN ARRAY ARRAY['cycle', 'equal', 'below', 'cycles', 'down'] LOOP
		PERFORM set_config('ord.kind', CASE WHEN kind = 'down' THEN '' ELSE kind END, false);
		TRUNCATE t;
		PERFORM fill(700);
		PERFORM set_config('ord.kind', kind, false);
		answers := '{}';
		FOREACH ix IN ARRAY ARRAY['t_k', 't_w', 't_kw'] LOOP
			answers := answers || checked(ix, false, false) || checked(ix, true, false) || checked(ix, true, true);
			EXECUTE 'REINDEX INDEX ' || ix;
			answers := answers || checked(ix, true, true);
		END LOOP;
		SELECT string_agg(DISTINCT a, '; ') FILTER (WHERE a <> 'sound'), bool_or(a = 'sound')
			INTO said, sound FROM unnest(answers) a;
		RETURN NEXT;
	END LOOP;
END $$;
\x on
SELECT * FROM checks();
\x off
-- which keys
SET ord.kind = 'below';
TRUNCATE t;
SELECT fill(1500);
DO $$
DECLARE
	detail text;
BEGIN
	PERFORM fptree_index_parent_check('t_kw', true);
EXCEPTION WHEN index_corrupted THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RAISE INFO '%', regexp_replace(detail, '\d+', 'N', 'g');
END $$;

-- a unique index: takes what is equal to nothing that is there
SET ord.kind = 'cycle';
SET client_min_messages = error;
DO $$
DECLARE
	corrupted int := 0;
	n int := 0;
BEGIN
	FOR i IN 1 .. 900 LOOP
		BEGIN
			INSERT INTO u VALUES (abs(hashint4(i)::bigint) % 1021);
			n := n + 1;
		EXCEPTION WHEN unique_violation THEN NULL;
			WHEN index_corrupted THEN corrupted := corrupted + 1;
		END;
	END LOOP;
	IF corrupted > 0 OR n <> (SELECT count(DISTINCT k) FROM u) OR
		(SELECT (fptree_stat('u_k')).entries) <> n THEN
		RAISE NOTICE '% refused, % taken', corrupted, n;
	END IF;
END $$;
RESET client_min_messages;
DROP TABLE t, u;

-- Strings of which ICU's sort keys contradict its comparison, if it has these
-- collations.  Operators use the comparison, and so must an index.
CREATE FUNCTION sortkeys(collation_ text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	a text := convert_from('\x61ccb4f090a8b9f096bfb062', 'UTF8');
	b text := convert_from('\x61ccb4f096bfb0ccb462', 'UTF8');
	q text;
	n int;
	m int;
BEGIN
	EXECUTE format('CREATE TABLE v (s text COLLATE %I)', collation_);
	FOR i IN 1 .. 2 LOOP
		IF i = 1 THEN
			CREATE INDEX v_s ON v USING fptree (s);
			INSERT INTO v VALUES (a), (b);
			INSERT INTO v SELECT x || y || chr(97 + g / 7) FROM generate_series(1, 150) g, unnest(ARRAY[a, b]) x,
				unnest(ARRAY['', a, b, chr(820), chr(94192), chr(776)]) y;
		ELSE
			REINDEX INDEX v_s;
		END IF;
		PERFORM fptree_index_check('v_s', true);
		FOREACH q IN ARRAY ARRAY['s < %L', 's <= %L', 's > %L', 's >= %L', 's = %L'] LOOP
			FOREACH q IN ARRAY ARRAY[format(q, a), format(q, b), format(q, a || a || 'c')] LOOP
				SET LOCAL enable_seqscan = on;
				SET LOCAL enable_indexscan = off;
				SET LOCAL enable_indexonlyscan = off;
				EXECUTE 'SELECT count(*) FROM v WHERE ' || q INTO n;
				SET LOCAL enable_seqscan = off;
				SET LOCAL enable_indexscan = on;
				SET LOCAL enable_indexonlyscan = on;
				EXECUTE 'SELECT count(*) FROM v WHERE ' || q INTO m;
				IF m <> n THEN
					RETURN NEXT format('%s: %s rows by the index, %s without, %s', collation_, m, n, q);
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	DROP TABLE v;
END $$;
SET enable_bitmapscan = off;
SELECT sortkeys(collname) FROM pg_collation
	WHERE collname IN ('vi-x-icu', 'bn-x-icu', 'en-x-icu') AND
		getdatabaseencoding() = 'UTF8';
DROP SCHEMA fpt_contradict CASCADE;

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

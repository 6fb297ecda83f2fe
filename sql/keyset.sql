--
-- Pages of a list that begin after the last row of the page before, written as an
-- OR: a > x OR (a = x AND b > y).  What it implies is an index condition, and a scan
-- begins where the page does, at any position of the list.
--
CREATE SCHEMA fpt_keyset;
SET search_path = fpt_keyset, public;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET effective_io_concurrency = 1;	-- no longer the default from 18 on

CREATE TABLE k AS
	SELECT i / 5000 AS a, (i * 7919) % 1000 AS b, i AS c, i::int8 AS d, lpad((i % 7)::text, 9, 'x') COLLATE "C" AS t
	FROM generate_series(1, 100000) i;
CREATE INDEX k_abc ON k USING fptree (a, b, c);
CREATE INDEX k_mixed ON k USING fptree (a, b DESC, c);
CREATE INDEX k_tac ON k USING fptree (t, a DESC, c);
CREATE INDEX k_d ON k USING fptree (d);
CREATE INDEX k_x ON k USING fptree ((a + b), c);
VACUUM ANALYZE k;

-- the forms of it
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR (a = 7 AND b > 500) ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE 7 < a OR (500 <= b AND 7 = a) ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b, c FROM k
	WHERE a > 7 OR (a = 7 AND b > 500) OR (a = 7 AND b = 500 AND c > 37000) ORDER BY a, b, c LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b, c FROM k
	WHERE a < 7 OR (a = 7 AND (b > 500 OR (b = 500 AND c < 37000))) ORDER BY a DESC, b, c DESC LIMIT 20;
EXPLAIN (COSTS OFF) SELECT * FROM k
	WHERE t = 'xxxxxxxx3' AND (a < 7 OR (a = 7 AND c > 37000)) ORDER BY a DESC, c LIMIT 20;
EXPLAIN (COSTS OFF) SELECT * FROM k WHERE d > 7 OR (d = 7 AND b > 500) ORDER BY d LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a + b, c FROM k WHERE a + b > 700 OR (a + b = 700 AND c > 500) ORDER BY a + b, c LIMIT 20;
-- other types of the family
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7::int8 OR (a = 7::int8 AND b > 500::int2) ORDER BY a, b LIMIT 20;
-- what says nothing: one alternative that may be anywhere, values that differ, no
-- inequality, another operator, a value that changes
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR (a = 7 AND b > 500) OR a IS NULL ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR b > 500 ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR (a = 8 AND b > 500) ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR (a <> 7 AND b > 500) ORDER BY a, b LIMIT 20;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > random() * 7 OR (a = 7 AND b > 500) ORDER BY a, b LIMIT 20;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- what the query says already is no condition twice; nor is it one if switched off
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a >= 7 AND (a > 7 OR (a = 7 AND b > 500)) ORDER BY a, b LIMIT 20;
SET fptree.plan_rows = off;
EXPLAIN (COSTS OFF) SELECT a, b FROM k WHERE a > 7 OR (a = 7 AND b > 500) ORDER BY a, b LIMIT 20;
RESET fptree.plan_rows;

-- Pages read for 20 rows, after others have been.  (Of the last rows of the list the
-- planner may make a bitmap.)
SET enable_bitmapscan = off;
CREATE FUNCTION pages(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	FOR i IN 1 .. 2 LOOP
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	END LOOP;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint;
END $$;
-- at most five, wherever the page is: in the midst of the rows that have a's value,
-- in either direction, and of mixed ones
SELECT q, max(n) <= 5 AS few, max(n) FILTER (WHERE n > 5) AS pages
FROM unnest(ARRAY[
	'SELECT a, b FROM k WHERE a > %1$s OR (a = %1$s AND b > %2$s) ORDER BY a, b LIMIT 20',
	'SELECT a, b FROM k WHERE a < %1$s OR (a = %1$s AND b < %2$s) ORDER BY a DESC, b DESC LIMIT 20',
	'SELECT a, b FROM k WHERE a > %1$s OR (a = %1$s AND b < %2$s) ORDER BY a, b DESC LIMIT 20',
	'SELECT a, b FROM k WHERE a < %1$s OR (a = %1$s AND b > %2$s) ORDER BY a DESC, b LIMIT 20',
	'SELECT a, b, c FROM k WHERE a > %1$s OR (a = %1$s AND b > %2$s) OR (a = %1$s AND b = %2$s AND c > %3$s) ORDER BY a, b, c LIMIT 20',
	'SELECT a, b, c FROM k WHERE a < %1$s OR (a = %1$s AND (b > %2$s OR (b = %2$s AND c < %3$s))) ORDER BY a DESC, b, c DESC LIMIT 20',
	'SELECT a, b, c FROM k WHERE a > %1$s::int8 OR (a = %1$s::int8 AND b >= %2$s::int8) ORDER BY a, b, c LIMIT 20',
	'SELECT b, c FROM k WHERE a = %1$s AND (b > %2$s OR (b = %2$s AND c > %3$s)) ORDER BY b, c LIMIT 20',
	'SELECT t, a, c FROM k WHERE t = ''xxxxxxxx3'' AND (a < %1$s OR (a = %1$s AND c > %3$s)) ORDER BY a DESC, c LIMIT 20',
	'SELECT a, b, c FROM k WHERE (a, b, c) > (%1$s, %2$s, %3$s) ORDER BY a, b, c LIMIT 20',
	'SELECT a, b, c FROM k WHERE a > NULL OR (a = %1$s AND b > %2$s) ORDER BY a, b, c LIMIT 20']) q,
	generate_series(0, 19) x, generate_series(0, 1000, 333) y, pages(format(q, x, y, x * 5000 + 2500)) n
GROUP BY q ORDER BY 1;
-- parameters of a generic plan, the same one or one for each place; other ones too
SET plan_cache_mode = force_generic_plan;
PREPARE same(int, int8) AS SELECT a, b FROM k WHERE a > $1 OR (a = $1 AND b > $2) ORDER BY a, b LIMIT 20;
PREPARE each(int, int, int, int, int, int) AS SELECT a, b, c FROM k
	WHERE a > $1 OR (a = $2 AND b > $3) OR (a = $4 AND b = $5 AND c > $6) ORDER BY a, b, c LIMIT 20;
SELECT fpt_explain('EXECUTE same(7, 500)');
SELECT fpt_explain('EXECUTE each(7, 7, 500, 7, 500, 37000)');
SELECT max(pages(format('EXECUTE same(%s, %s)', x, y))) <= 5 AS few, max(pages(format('EXECUTE each(%1$s, %1$s, %2$s, %1$s, %2$s, %3$s)', x, y, x * 5000))) <= 5 AS few
FROM generate_series(0, 19) x, generate_series(0, 1000, 333) y;
-- values of another table, in turn
SELECT count(*), sum(z.a), sum(z.b) FROM (VALUES (4, 15), (8, 990), (NULL, 3), (0, NULL), (19, 999)) w (x, y),
	LATERAL (SELECT a, b FROM k WHERE a > x OR (a = x AND b > y) ORDER BY a, b LIMIT 20) z;
SELECT pages('SELECT count(*) FROM (VALUES (4, 15), (8, 990), (NULL, 3), (0, 7), (19, 999)) w (x, y),
	LATERAL (SELECT a, b FROM k WHERE a > x OR (a = x AND b > y) ORDER BY a, b LIMIT 20) z') <= 5 * 5 AS few;
SET fptree.plan_rows = off;
SELECT count(*), sum(z.a), sum(z.b) FROM (VALUES (4, 15), (8, 990), (NULL, 3), (0, NULL), (19, 999)) w (x, y),
	LATERAL (SELECT a, b FROM k WHERE a > x OR (a = x AND b > y) ORDER BY a, b LIMIT 20) z;
RESET fptree.plan_rows;
RESET plan_cache_mode;
RESET enable_bitmapscan;

-- Row security: values of the query do not meet those of hidden rows, unless the
-- operators promise that nothing can be learnt so, as that of numeric does not: the
-- scan begins with the first row that has the value of a.
CREATE TABLE s AS SELECT a, b, d::numeric FROM k WHERE c % 10 = 0;
CREATE INDEX s_ab ON s USING fptree (a, b);
CREATE INDEX s_ad ON s USING fptree (a DESC, d);
ALTER TABLE s ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON s USING (b % 2 = 0);
CREATE ROLE regress_fptree_pager;
GRANT ALL ON SCHEMA fpt_keyset TO regress_fptree_pager;
GRANT SELECT ON s TO regress_fptree_pager;
VACUUM ANALYZE s;
SET ROLE regress_fptree_pager;
EXPLAIN (COSTS OFF) SELECT a, b FROM s WHERE a > 7 OR (a = 7 AND b > 500) ORDER BY a, b LIMIT 20;
RESET ROLE;
CREATE FUNCTION passed(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
	RETURN plan->0->'Plan'->'Plans'->0->>'Rows Removed by Filter';
END $$;
SET enable_bitmapscan = off;
SET ROLE regress_fptree_pager;
SELECT passed('SELECT a, b FROM s WHERE a > 7 OR (a = 7 AND b > 500) ORDER BY a, b LIMIT 20');
RESET ROLE;
DROP INDEX s_ab;
SET ROLE regress_fptree_pager;
EXPLAIN (COSTS OFF) SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 20;
SELECT passed('SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 20');
RESET ROLE;
SELECT passed('SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 20') AS owner;
-- nor where a policy implies the condition, and may be asked first itself
CREATE POLICY few_rows ON s AS RESTRICTIVE USING (a < 7 OR (a = 7 AND b > 0));
SET ROLE regress_fptree_pager;
EXPLAIN (COSTS OFF) SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 20;
SELECT passed('SELECT a, d FROM s WHERE a < 7 OR (a = 7 AND d > 36000) ORDER BY a DESC, d LIMIT 20');
RESET ROLE;
RESET enable_bitmapscan;
DROP FUNCTION passed;
DROP TABLE s;
REVOKE ALL ON SCHEMA fpt_keyset FROM regress_fptree_pager;
DROP ROLE regress_fptree_pager;

-- Answers: NULLs in rows and in values, all orders of columns and directions, values
-- of other types, forward and backward.
CREATE TABLE v (a int, b int8, c text COLLATE "C", n int);
INSERT INTO v
	SELECT CASE WHEN i % 13 <> 0 THEN i % 9 END, CASE WHEN i % 7 <> 0 THEN i % 31 END,
		   CASE WHEN i % 5 <> 0 THEN (i % 17)::text END, i
	FROM generate_series(1, 1000) i;
-- conditions of two and three columns, in random directions, after random rows or
-- before them, and other conditions beside them
CREATE FUNCTION ors(seed float8) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	cols text[] := '{a,b,c}';
	x text[];
	l text[];
	op text[];
	q text;
BEGIN
	PERFORM setseed(seed);
	FOR i IN 1 .. 40 LOOP
		l := ARRAY(SELECT u FROM unnest(cols) u ORDER BY random());
		-- constants, and parameters, of which each is another one
		x := ARRAY(SELECT format(CASE WHEN random() < 0.05 THEN '(SELECT nullif(%1$s, %1$s))'
				WHEN random() < 0.3 THEN '(SELECT %s)' ELSE '%s' END, CASE u
				WHEN 'a' THEN (random() * 9)::int || (ARRAY['', '::int8', '::int2'])[1 + (random() * 2)::int]
				WHEN 'b' THEN (random() * 32)::int || (ARRAY['', '::int8', '::int2'])[1 + (random() * 2)::int]
				ELSE quote_literal((random() * 17)::int) || '::text' END)
			FROM unnest(l) WITH ORDINALITY u (u, nr) ORDER BY nr);
		op := ARRAY(SELECT (ARRAY['<', '>'])[1 + (random() < 0.5)::int] FROM generate_series(1, 3));
		q := format('%1$s %2$s %3$s OR (%1$s = %3$s AND ', l[1], op[1], x[1]);
		q := (ARRAY[
			q || format('%s %s%s %s)', l[2], op[2], CASE WHEN random() < 0.3 THEN '=' END, x[2]),
			q || format('%1$s %2$s %3$s) OR (%4$s = %5$s AND %1$s = %3$s AND %6$s %7$s %8$s)',
				l[2], op[2], x[2], l[1], x[1], l[3], op[3], x[3]),
			q || format('(%1$s %2$s %3$s OR (%1$s = %3$s AND %4$s %5$s= %6$s)))',
				l[2], op[2], x[2], l[3], op[3], x[3])])[1 + (random() * 2)::int];
		RETURN NEXT format('(%s)%s', q,
			(ARRAY['', ' AND a = 4', ' AND b IN (3, 8, 20)', ' AND c IS NULL', ' AND a IN (2, 4, 6)',
				' AND a >= 5', ' AND b = 7'])[1 + (random() * 6)::int]);
	END LOOP;
END $$;
VACUUM ANALYZE v;
-- forward and backward in each index
CREATE FUNCTION compare_all(OUT forward text, OUT compared int, OUT problems text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	seed float8 := 0;
	backward text;
BEGIN
	FOREACH forward IN ARRAY ARRAY['a, b, c, n', 'a DESC, b DESC, c DESC, n', 'a, b DESC, c, n',
		'b NULLS FIRST, a NULLS FIRST, c DESC, n', 'c, a DESC NULLS LAST, b, n', 'b DESC, c, a, n',
		'c, b, n, a', 'b, a DESC, n, c', 'a, n, b, c'] LOOP
		seed := seed + 0.1;
		EXECUTE format('CREATE INDEX v_i ON v USING fptree (%s)', forward);
		backward := (SELECT string_agg(CASE WHEN u LIKE '% NULLS LAST' THEN replace(u, ' DESC NULLS LAST', ' NULLS FIRST')
			WHEN u LIKE '% NULLS FIRST' THEN replace(u, 'NULLS FIRST', 'DESC NULLS LAST')
			WHEN u LIKE '% DESC' THEN replace(u, ' DESC', '') ELSE u || ' DESC' END, ', ') FROM regexp_split_to_table(forward, ', ') u);
		SELECT * INTO compared, problems FROM fpt_compare(ARRAY(
			SELECT format('SELECT a, b, c, n FROM v WHERE %s ORDER BY %s', q, o)
			FROM ors(seed) q, unnest(ARRAY[forward, backward]) o), '{only}');
		DROP INDEX v_i;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM compare_all();
CREATE INDEX v_i ON v USING fptree (a, b, c);
SELECT * FROM fpt_compare(ARRAY(SELECT 'SELECT a, b, c, n FROM v WHERE ' || q FROM ors(0.95) q WHERE q LIKE '(a%'), '{index,bitmap}');
DROP INDEX v_i;
CREATE INDEX v_i ON v USING fptree (a, b, c) INCLUDE (n);
CALL fpt_use('only');
-- cursors go to and fro over the first row
BEGIN;
DECLARE u SCROLL CURSOR FOR SELECT a, b, n FROM v WHERE a > 7 OR (a = 7 AND b > 29) ORDER BY a, b, c, n;
FETCH 3 FROM u;
FETCH BACKWARD 5 FROM u;
FETCH 2 FROM u;
FETCH LAST FROM u;
FETCH BACKWARD 2 FROM u;
COMMIT;
DROP INDEX v_i;
-- workers begin there, too
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
CALL fpt_use('index');
DROP INDEX k_mixed;		-- costs as much as k_abc
SELECT fpt_explain('SELECT count(t), sum(c) FROM k WHERE a < 7 OR (a = 7 AND b < 500) OR (a = 7 AND b = 500 AND c > 100)');
SELECT count(t), sum(c) FROM k WHERE a < 7 OR (a = 7 AND b < 500) OR (a = 7 AND b = 500 AND c > 100);
CALL fpt_use('seq');
SELECT count(t), sum(c) FROM k WHERE a < 7 OR (a = 7 AND b < 500) OR (a = 7 AND b = 500 AND c > 100);
CALL fpt_use('any');
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_index_scan_size;
RESET min_parallel_table_scan_size;
RESET effective_io_concurrency;
RESET search_path;
DROP SCHEMA fpt_keyset CASCADE;
SELECT fpt_check_all();

--
-- Trees that grow: splits at all levels, in orders that tables have.
--

--
-- Trees of many pages: splits at all levels, all orders of insertion.
--
CREATE SCHEMA fpt_big;
SET search_path = fpt_big, public;
SET client_min_messages = warning;

-- One table for each width of the nodes and order of insertion; compare with
-- a sequential scan and check the tree.
CREATE FUNCTION grow(typ text, ff int, lines text, how text, n int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	expr text;
	tab text;
	r record;
	step int := n / 4;
BEGIN
	tab := format('g_%s_%s_%s', typ, how, n);
	EXECUTE format('CREATE TABLE %s (i int, a %s)', tab, typ);
	PERFORM set_config('fptree.debug_node_lines', lines, true);
	EXECUTE format('CREATE INDEX %s_a ON %s USING fptree (a) WITH (fillfactor = %s)',
				   tab, tab, ff);
	expr := CASE how
		WHEN 'ascending' THEN 'i'
		WHEN 'descending' THEN '-i'
		WHEN 'random' THEN 'hashint4(i)'
		WHEN 'duplicates' THEN 'i % 7'
		WHEN 'same' THEN '42'
		WHEN 'zigzag' THEN 'CASE WHEN i % 2 = 0 THEN i ELSE -i END'
		WHEN 'inward' THEN 'CASE WHEN i % 2 = 0 THEN i ELSE 100000000 - i END'
		WHEN 'wide' THEN 'CASE i % 4 WHEN 0 THEN i WHEN 1 THEN i * 1000 '
			|| 'WHEN 2 THEN hashint4(i) ELSE NULL END'
		WHEN 'nulls' THEN 'CASE WHEN i % 1000 = 0 THEN i END' END;
	IF typ = 'uuid' THEN
		expr := format('md5((%s)::text)::uuid', expr);
	ELSE
		expr := format('(%s)::int4::%s', expr, typ);
	END IF;
	FOR part IN 0 .. 3 LOOP
		EXECUTE format('INSERT INTO %s SELECT i, %s FROM generate_series(%s, %s) i',
					   tab, expr, part * step, (part + 1) * step - 1);
	END LOOP;
	r := fpt_compare(ARRAY[
		format('SELECT a FROM %s ORDER BY a', tab),
		format('SELECT a FROM %s ORDER BY a DESC', tab),
		format('SELECT i FROM %s WHERE a >= (SELECT a FROM %s WHERE i = 99)', tab, tab),
		format('SELECT i FROM %s WHERE a = (SELECT a FROM %s WHERE i = 77)', tab, tab)],
		'{index}');
	PERFORM fptree_index_parent_check((tab || '_a')::regclass, true, true, false);
	RETURN CASE WHEN r.problems = '' THEN 'fine' ELSE r.problems END;
END $$;

SELECT how, grow('int4', 90, '1,1', how, 20000)
	FROM unnest('{ascending,descending,random,duplicates,same,zigzag,inward,wide,nulls}'::text[]) how;
SELECT how, grow('int4', 100, '', how, 30000)
	FROM unnest('{ascending,descending,random,duplicates,same,zigzag,inward,wide,nulls}'::text[]) how;
SELECT typ, how, grow(typ, 70, '2,3', how, 8000)
	FROM unnest('{int8,uuid,float8}'::text[]) typ,
		 unnest('{ascending,random,same,wide}'::text[]) how;

-- Every width of nodes can be asked for, and serves.
CREATE FUNCTION widths(typ text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	w int;
	x int;
	expr text := 'CASE i % 4 WHEN 0 THEN i WHEN 1 THEN i * 1000 '
		|| 'WHEN 2 THEN hashint4(i) ELSE NULL END';
BEGIN
	expr := CASE typ WHEN 'uuid' THEN format('md5((%s)::text)::uuid', expr)
					 WHEN 'int2' THEN format('((%s) %% 32000)::int2', expr)
					 ELSE format('(%s)::int4::%s', expr, typ) END;
	FOR w, x IN
		SELECT * FROM unnest('{0,1,2,3,6,8,16,32}'::int[]) w,
					  unnest('{0,1,2,3,4,6,8,16,32}'::int[]) x
	LOOP
		-- too wide for small pages
		CONTINUE WHEN greatest(w, x) = 32 AND fpt_scale(2) < 2;
		BEGIN
			EXECUTE format('CREATE TABLE w (i int, a %s)', typ);
			PERFORM set_config('fptree.debug_node_lines', w || ',' || x, true);
			EXECUTE 'CREATE INDEX w_a ON w USING fptree (a) WITH (fillfactor = 90)';
			EXECUTE format('INSERT INTO w SELECT i, %s FROM generate_series(1, 2500) i', expr);
			PERFORM fptree_index_parent_check('w_a', true, true, true);
			EXECUTE 'DROP TABLE w';
		EXCEPTION WHEN OTHERS THEN
			RETURN NEXT format('%s %s %s: %s', typ, w, x, sqlerrm);
		END;
	END LOOP;
END $$;
SELECT * FROM unnest('{int2,int8,uuid}'::text[]) typ, widths(typ);

-- Three levels at least
SELECT fpt_pages('g_int4_random_20000_a') > 100 AS many;

-- Built at all fillfactors, then inserted into
CREATE TABLE b (a int8);
INSERT INTO b SELECT hashint8extended(i, 1) FROM generate_series(1, 10000) i;
SET fptree.debug_node_lines = '1,2';
CREATE INDEX b10 ON b USING fptree (a) WITH (fillfactor = 10);
CREATE INDEX b50 ON b USING fptree (a) WITH (fillfactor = 50);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX b90 ON b USING fptree (a) WITH (fillfactor = 90);
SET fptree.debug_node_lines = '1,2';
CREATE INDEX b100 ON b USING fptree (a) WITH (fillfactor = 100);
SET fptree.debug_node_lines = '4,8';
CREATE INDEX b100w ON b USING fptree (a) WITH (fillfactor = 100);
RESET fptree.debug_node_lines;
SELECT fpt_pages('b10') > 2 * fpt_pages('b50') AS fuller,
	   fpt_pages('b50') > fpt_pages('b100') AS fuller_yet;
SELECT fpt_check_all();
INSERT INTO b SELECT hashint8extended(i, 2) FROM generate_series(1, 10000) i;
INSERT INTO b SELECT 4000000000 + i % 500 FROM generate_series(1, 5000) i;
DELETE FROM b WHERE a % 3 = 0;
VACUUM b;
INSERT INTO b SELECT hashint8extended(i, 3) FROM generate_series(1, 5000) i;
SELECT fpt_check_all();
SELECT * FROM fpt_compare('{
	SELECT a FROM b WHERE a > 4000000000 ORDER BY a LIMIT 1000,
	SELECT a FROM b WHERE a < 4000000100 ORDER BY a DESC LIMIT 1000,
	SELECT a FROM b WHERE a BETWEEN 4000000100 AND 4000000110}', '{only}');

-- Updates that move every entry, HOT or not
UPDATE b SET a = -a WHERE a > -9223372036854775808;
UPDATE b SET a = a;
SELECT fpt_check_all();
-- entries of an aborted transaction
BEGIN;
INSERT INTO b SELECT i FROM generate_series(1, 10000) i;
ROLLBACK;
SELECT * FROM fpt_compare('{SELECT a FROM b WHERE a BETWEEN 0 AND 100000}');
VACUUM b;
SELECT fpt_check_all();

\c -
--
-- Indexes that rows are inserted into, in orders that tables have: no larger
-- than btree's.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fptree;
RESET client_min_messages;
CREATE SCHEMA fpt_growth;
SET search_path = fpt_growth, public;

-- Size after inserting the query's rows, in percent of a btree's
CREATE FUNCTION percent(columns text, query text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	size bigint[];
BEGIN
	CREATE TABLE t (a int, b int, c text COLLATE "C");
	EXECUTE format('CREATE INDEX t_btree ON t USING btree %s', columns);
	EXECUTE format('CREATE INDEX t_fptree ON t USING fptree %s', columns);
	EXECUTE format('INSERT INTO t %s', query);
	PERFORM fptree_index_parent_check('t_fptree', true, true);
	size := ARRAY[fpt_pages('t_btree'), fpt_pages('t_fptree')];
	DROP TABLE t;
	RETURN 100 * size[2] / size[1];
END $$;

-- Events of some sources, each source's in ascending order
SELECT percent('(a, b)', 'SELECT i % 3, i, NULL
						  FROM generate_series(1, 30000) i') <= 80 AS ok;
SELECT percent('(c, b)', 'SELECT 0, i, $$source $$ || i % 20
						  FROM generate_series(1, 30000) i') <= 80 AS ok;
SELECT percent('(a, c, b)', 'SELECT i % 4, i, $$source $$ || i % 3
							 FROM generate_series(1, 30000) i') <= 55 AS ok;
SELECT percent('(a, b) INCLUDE (c)',
			   'SELECT nullif(i % 7, 0), i, i
				FROM generate_series(1, 30000) i') <= 90 AS ok;
-- sources of different strength, and many of them
SELECT percent('(a, b)', 'SELECT 200 * (i % 997 / 997.0) ^ 4, i, NULL
						  FROM generate_series(1, 30000) i') <= 100 AS ok;
SELECT percent('(a, b)', 'SELECT i * 7919 % 3001, i, NULL
						  FROM generate_series(1, 30000) i') <= 100 AS ok;
-- in ascending order in the midst of others
SELECT percent('(c)', 'SELECT 0, 0, $$z$$ || i FROM generate_series(1, 9) i
					   UNION ALL
					   SELECT 0, 0, $$event number $$ || 1000000 + i
					   FROM generate_series(1, 30000) i') <= 100 AS ok;
-- random order
SELECT percent('(a, b)', 'SELECT i % 10, i::bigint * 7919 % 1000003, NULL
						  FROM generate_series(1, 30000) i') <= 100 AS ok;

-- Rows in ascending or in descending order, so many of them after each one that
-- was there: pages after them stay half full or more.
CREATE FUNCTION crossing(each int, direction text) RETURNS numeric
LANGUAGE plpgsql AS $$
DECLARE
	pages numeric;
BEGIN
	CREATE TABLE t (k bigint);
	INSERT INTO t SELECT hashint8extended(i, 1) FROM generate_series(1, 20000) i;
	CREATE INDEX t_fptree ON t USING fptree (k);
	CREATE INDEX t_btree ON t (k);
	EXECUTE format('INSERT INTO t SELECT k + j FROM t, generate_series(1, %s) j
					ORDER BY k + j %s', each, direction);
	PERFORM fptree_index_parent_check('t_fptree', true, true);
	pages := fpt_pages('t_fptree') / fpt_pages('t_btree')::numeric;
	DROP TABLE t;
	RETURN 100 * pages;
END $$;
SELECT each, direction, crossing(each, direction) <= 90 AS ok
	FROM generate_series(1, 2) each, unnest('{ASC,DESC}'::text[]) direction;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA fpt_growth CASCADE;

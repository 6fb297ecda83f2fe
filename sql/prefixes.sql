--
-- Pages whose keys begin with the same bytes store these once: strings in the
-- order of their bytes, alone and before other columns, in both directions,
-- that share more, less or all of what their page does, or are compressed.
--
CREATE SCHEMA fpt_prefixes;
SET search_path = fpt_prefixes, public;
SET max_parallel_workers_per_gather = 0;

-- By "kind": what many strings begin with, beginnings of that, one byte more or
-- less than a prefix may have, bytes of all values, compressible ones.
CREATE FUNCTION str(kind int, i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT CASE kind
	WHEN 0 THEN 'https://shop.example.com/item/' || i * 7
	WHEN 1 THEN repeat('way/', 90) || i
	WHEN 2 THEN 'abcdefghij' || left(md5(i::text), i % 12)
	WHEN 3 THEN left('https://shop.example.com/item/100', i % 34)
	WHEN 4 THEN 'https://shop.example.com/item/' || i || repeat('=', 600)
	WHEN 5 THEN 'abcdefghijk' || chr(1 + i % 126) || left('zzzzzzzzzzzz', i / 126 % 10)
	WHEN 6 THEN repeat('r', 255) || left('rrrr', i % 5) || i % 40
	WHEN 7 THEN left(md5(i::text), 9) || i % 3
	WHEN 8 THEN 'https://shop.example.com/item/' || repeat(md5((i % 9)::text), 30)
END $$;

CREATE FUNCTION fill(t text, first int, last int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format($f$INSERT INTO %I SELECT CASE WHEN i %% 97 <> 0 THEN str(CASE WHEN i %% 3 > 0
			THEN 0 ELSE (hashint4(i) & 7) + (i & 1) END, i) END::%s, i %% 50, i
		FROM generate_series(%s, %s) i ORDER BY hashint4(i + 1)$f$, t,
		(SELECT format_type(atttypid, NULL) FROM pg_attribute
		 WHERE attrelid = t::regclass AND attname = 'k'), first, last);
END $$;

-- Answers of all kinds of scans, held against those of sequential ones.
CREATE FUNCTION answers(t text, VARIADIC orders text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	typ text := (SELECT format_type(atttypid, NULL) FROM pg_attribute
				 WHERE attrelid = t::regclass AND attname = 'k');
	queries text[];
	r record;
BEGIN
	queries := ARRAY(SELECT format('SELECT k FROM %I WHERE %s', t, c) FROM unnest(ARRAY[
		$c$k = 'https://shop.example.com/item/70'$c$, $c$k = 'https://shop.ex'$c$,
		$c$k >= 'https://shop.example.com/item/2' AND k < 'https://shop.example.com/item/3'$c$,
		$c$k > 'https://shop.example.com/' AND k <= 'https://shop.example.com/item/4'$c$,
		$c$k < 'https://shop.example.com/item/'$c$, $c$k > 'https://shop.example.com/iu'$c$,
		$c$k < 'https://shop'$c$, $c$k > 'abcdefghij' AND k < 'abcdefghijl'$c$,
		$c$k <= 'abcdefghijk'$c$, $c$k > 's' AND k < 'w'$c$, $c$k > 'way' AND k < 'way/way/x'$c$,
		$c$k >= 'rrrrrrrr'$c$, $c$k IS NULL$c$, $c$k IS NOT NULL$c$]) c);
	queries := queries || format($q$SELECT k FROM %I WHERE k = ANY (ARRAY(SELECT str(i %% 9, i)::%s
		FROM generate_series(1, 400) i))$q$, t, typ);
	queries := queries || ARRAY(SELECT format('SELECT k FROM %I WHERE k IS NOT NULL ORDER BY %s', t, o)
								FROM unnest(orders) o);
	r := fpt_compare(queries);
	RETURN format('%s compared %s', r.compared, r.problems);
END $$;

CREATE TABLE s (k text COLLATE "C", a int, b int);
CREATE TABLE v (k varchar(4000) COLLATE "C", a int, b int);
CREATE TABLE y (k bytea, a int, b int);
ALTER TABLE v ALTER k SET STORAGE EXTERNAL;
SET enable_incremental_sort = off;

-- Built of half of the rows, then written to; then emptied for the most part,
-- and written to again: pages take over what others had.
SELECT format('TRUNCATE %s', t), format('SELECT fill(%L, 1, 2500)', t),
	format('SET fptree.debug_node_lines = %L', lines),
	format('CREATE INDEX %1$s_k ON %1$s USING fptree %2$s', t, def),
	format('SELECT fill(%L, 2501, 5000)', t), 'VACUUM ANALYZE ' || t,
	format('SELECT %L AS index, answers(%L, %s)', t || def, t, orders),
	format($$SELECT fptree_index_parent_check('%s_k', true, true)$$, t),
	format($$DELETE FROM %s WHERE b %% 11 > 2 OR b BETWEEN 800 AND 2200 OR k > 'https://shop.example.com/item/5'$$, t),
	'VACUUM ' || t, format($$SELECT fptree_index_parent_check('%s_k', true, true)$$, t),
	format('SELECT fill(%L, 5001, 8000)', t), 'VACUUM ' || t, format('SELECT answers(%L, %s)', t, orders),
	format($$SELECT fptree_index_parent_check('%s_k', true, true)$$, t), format('DROP INDEX %s_k', t)
FROM (VALUES
	('s', '(k)', '', $$'k', 'k DESC'$$),
	('s', '(k DESC)', '1,1', $$'k', 'k DESC'$$),
	('s', '(k NULLS FIRST, a DESC)', '', $$'k NULLS FIRST, a DESC', 'k DESC NULLS LAST, a'$$),
	('s', '(k DESC, a, b) WITH (fillfactor = 100)', '', $$'k DESC, a, b', 'k, a DESC, b DESC'$$),
	('v', '(k) INCLUDE (a)', '', $$'k'$$),
	('v', '(k, a)', '', $$'k, a'$$),
	('y', '(k)', '0,1', $$'k', 'k DESC'$$),
	('y', '(k DESC, b)', '', $$'k DESC, b'$$)) c (t, def, lines, orders)
\gexec
RESET fptree.debug_node_lines;

-- Other operators, the same order.
SELECT fill('s', 8001, 12000);
CREATE INDEX s_p ON s USING fptree (k text_pattern_ops);
SELECT fpt_compare(ARRAY(SELECT format('SELECT k FROM s WHERE k LIKE %L', p || '%')
	FROM unnest('{https://shop.example.com/item/1,https,https://shop.example.com/item/700,abcdefghijk,way/way/,https://shop.example.com/iten}'::text[]) p));
DROP INDEX s_p;

-- Rows of one key are a run of pages that have all of it in common, but for those
-- that have a dictionary.
TRUNCATE s;
CREATE UNIQUE INDEX s_kb ON s USING fptree (k, b);
INSERT INTO s SELECT repeat('the very same ', 12) || i / 3000, i, i FROM generate_series(1, 9000) i ORDER BY hashint4(i);

INSERT INTO s SELECT k, 0, 77 FROM s WHERE b = 77;
SELECT answers('s', 'k, b', 'k DESC, b DESC');
SELECT count(*), count(DISTINCT k) FROM s;

-- Bytes: what all keys of a page begin with is there once.
TRUNCATE s;
DROP INDEX s_kb;
INSERT INTO s SELECT str(0, i), i, i FROM generate_series(1, 20000) i ORDER BY hashint4(i);
CREATE INDEX s_f ON s USING fptree (k);
CREATE INDEX s_b ON s USING btree (k);
SELECT pg_relation_size('s_f') < pg_relation_size('s_b') * 0.5 AS built;
INSERT INTO s SELECT str(0, i), i, i FROM generate_series(20001, 40000) i ORDER BY hashint4(i);
SELECT pg_relation_size('s_f') < pg_relation_size('s_b') * 0.55 AS grown;
DROP INDEX s_b, s_f;
TRUNCATE s;
CREATE INDEX s_f ON s USING fptree (k);
CREATE INDEX s_b ON s USING btree (k);
INSERT INTO s SELECT 'https://shop.example.com/item/' || to_char(i, 'FM0000000'), i, i FROM generate_series(1, 20000) i;
SELECT pg_relation_size('s_f') < pg_relation_size('s_b') * 0.65 AS in_order;
INSERT INTO s SELECT str(0, i), i, i FROM generate_series(1, 20000) i ORDER BY hashint4(i);
DROP INDEX s_b;
SELECT answers('s', 'k', 'k DESC');

-- Positions in such pages: cursors, marks, parallel builds.
BEGIN;
CALL fpt_use('only');
DECLARE c SCROLL CURSOR FOR SELECT k FROM s ORDER BY k;
MOVE 17777 IN c;
FETCH 2 FROM c;
MOVE BACKWARD 5555 IN c;
FETCH BACKWARD 2 FROM c;
DELETE FROM s WHERE b BETWEEN 3 AND 30000;
MOVE 4000 IN c;
FETCH 1 FROM c;
CALL fpt_use('any');
ROLLBACK;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_sort = off;
SELECT count(*) FROM s JOIN s x USING (k);
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_sort;

-- Leaves next to each other with prefixes of one length: what follows these says
-- nothing of the order of entries of both.
TRUNCATE s;
DROP INDEX s_f;
CREATE UNIQUE INDEX s_f ON s USING fptree (k);
INSERT INTO s SELECT 'https://d' || to_char(i / 200, 'FM0000') || '.example.com/' || repeat(md5(i::text), 6), i, i FROM generate_series(1, 30000) i;
REINDEX INDEX s_f;
VACUUM (FREEZE, ANALYZE) s;
SELECT fptree_index_check('s_f', true, true);

-- Several processes go on where one of them has stopped to read ahead.
CALL fpt_use('only');
SET max_parallel_workers_per_gather = 2;
SET min_parallel_index_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET effective_io_concurrency = 2;
EXPLAIN (COSTS OFF) SELECT count(k) FROM s WHERE k > 'https';
SELECT count(k), min(length(k)) FROM s WHERE k > 'https';
SELECT count(k), sum(length(k)) FROM (SELECT k FROM s WHERE k > 'https' ORDER BY k DESC OFFSET 0) x;
RESET max_parallel_workers_per_gather;
RESET min_parallel_index_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET effective_io_concurrency;
CALL fpt_use('any');

-- Eight bytes that all begin with are a prefix, too: heads tell what follows.
CREATE TABLE eight AS SELECT md5(i::text) COLLATE "C" AS k, 'customer' || md5(i::text) COLLATE "C" AS p
FROM generate_series(1, 50000) i;
CREATE INDEX eight_k ON eight USING fptree (k);
CREATE INDEX eight_p ON eight USING fptree (p);
SELECT pg_relation_size('eight_p') <= pg_relation_size('eight_k') * 1.04 AS stored_once;
SELECT count(*), min(k) FROM eight WHERE p = 'customer' || md5('77');
DROP TABLE eight;

SELECT fpt_check_all();

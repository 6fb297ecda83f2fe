--
-- Ways to store keys and rows: numbers that are dense, scattered, or alike in some
-- bits, strings with a common beginning, keys that have several rows.
--

--
-- Ids in a table in no order, of which some are missing: keys of pages are
-- relative to their nodes, in which a build puts as many as it may.
--
CREATE SCHEMA fpt_gaps;
SET search_path = fpt_gaps, public;
SET max_parallel_maintenance_workers = 0;

-- bytes of keys in most of an index's leaves; it is sound
CREATE FUNCTION key_bytes(ix regclass) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fptree_index_parent_check(ix, true, true);
	RETURN (SELECT mode() WITHIN GROUP (ORDER BY key_width)
			FROM fpt_page_numbers(ix) p, fptree_page_stats(ix, p) s
			WHERE s.level = 0 AND s.type = 'leaf');
END $$;

CREATE TABLE t (k int8);
INSERT INTO t SELECT i * 7919 % 16001 FROM generate_series(1, 16000) i;

-- one in so many there: a byte tells those of a node that is nine tenths full
DO $$
BEGIN
	FOR i IN 1..8 LOOP
		EXECUTE format('CREATE INDEX t_%s ON t USING fptree ((k * %s))', i, i);
		EXECUTE format('CREATE INDEX t_half_%s ON t USING fptree ((k * %s)) WITH (fillfactor = 50)', i, i);
	END LOOP;
END $$;
SELECT i, key_bytes(format('t_%s', i)::regclass),
	key_bytes(format('t_half_%s', i)::regclass) AS half
FROM generate_series(1, 8) i;

-- whatever is missing, and however full nodes are, a build has room for what
-- it has begun a page with
CREATE FUNCTION gappy(k int8, step int, jitter int, hole int, nulls int)
RETURNS int8 IMMUTABLE LANGUAGE sql AS $$
	SELECT CASE WHEN nulls > 0 AND hashint8(k) % nulls = 0 THEN NULL
		ELSE k * step + abs(hashint8(k + 5) % (jitter + 1)) +
			CASE WHEN hole > 0 THEN k / hole * 100003 ELSE 0 END END
$$;
DO $$
DECLARE
	orders text[] := '{ASC,DESC,NULLS FIRST,DESC NULLS LAST}';
	fills int[] := '{90,50,70,95,100,10,85}';
	holes int[] := '{0,50,0,300,2000}';
	nulls int[] := '{0,0,100,3}';
BEGIN
	FOR i IN 0..69 LOOP
		EXECUTE format('CREATE INDEX t_gaps ON t USING fptree (gappy(k, %s, %s, %s, %s) %s) WITH (fillfactor = %s)',
			1 + i % 6, i * 11 % 13 % (3 + i % 6), holes[1 + i % 5],
			nulls[1 + i % 4], orders[1 + i / 4 % 4], fills[1 + i % 7]);
		PERFORM fptree_index_parent_check('t_gaps', true, true);
		IF i % 10 = 0 THEN
			INSERT INTO t SELECT 16001 + i * 300 + j FROM generate_series(1, 300) j;
			DELETE FROM t WHERE k > 16000;
			PERFORM fptree_index_parent_check('t_gaps', true, true);
		END IF;
		DROP INDEX t_gaps;
	END LOOP;
END $$;

-- the missing ones come
CREATE TABLE u AS SELECT k * 4 AS k FROM t;
CREATE INDEX u_k ON u USING fptree (k);
INSERT INTO u SELECT k * 4 + j FROM generate_series(1, 3) j, t;
SELECT key_bytes('u_k'),
	fpt_same('SELECT k, ctid FROM u WHERE k BETWEEN 1000 AND 9000 ORDER BY k'),
	fpt_same('SELECT k, ctid FROM u ORDER BY k DESC');
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA fpt_gaps CASCADE;

\c -
--
-- Keys that come at random, of narrow and of wide entries: nodes are split, and
-- shifted, then pages.
--
CREATE SCHEMA fpt_scattered;
SET search_path = fpt_scattered, public;
SET max_parallel_maintenance_workers = 0;

-- Rows whose keys are in no order; n repeats, now and then
CREATE FUNCTION rows_from(i int, j int, OUT id int, OUT k int8, OUT u uuid,
						  OUT ts timestamptz, OUT n int, OUT d int)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT i, hashint8extended(i, 1), md5(i::text)::uuid,
		'2026-01-01'::timestamptz + (hashint8(i) & 8388607) * interval '3 s',
		hashint4(i) / 100000, i * 7919 % 1000003
	FROM generate_series(i, j) i
$$;

CREATE TABLE t (id int, k int8, u uuid, ts timestamptz, n int, d int);
INSERT INTO t SELECT * FROM rows_from(1, 30000);
CREATE UNIQUE INDEX t_k ON t USING fptree (k);
CREATE INDEX t_u ON t USING fptree (u DESC);
CREATE INDEX t_ts ON t USING fptree (ts);
CREATE INDEX t_n ON t USING fptree (n);
CREATE INDEX t_d ON t USING fptree (d);
INSERT INTO t SELECT * FROM rows_from(30001, 40000);
VACUUM t;
SELECT fptree_index_parent_check(ix::regclass, true, true)
FROM unnest('{t_k,t_u,t_ts,t_n,t_d}'::text[]) ix;

-- all kinds of scans
SELECT fpt_same('SELECT k, id FROM t ORDER BY k'),
	   fpt_same('SELECT k, id FROM t ORDER BY k DESC'),
	   fpt_same('SELECT u FROM t ORDER BY u'),
	   fpt_same('SELECT ts, id FROM t ORDER BY ts, ctid'),
	   fpt_same('SELECT n, ctid FROM t WHERE n BETWEEN -5000 AND 5000 ORDER BY n, ctid'),
	   fpt_same('SELECT d FROM t ORDER BY d DESC LIMIT 10000');
SELECT count(*) FROM t a, LATERAL (SELECT count(*) FROM t b WHERE b.k = a.k) c
WHERE a.id % 10 = 3 AND c.count <> 1;
SELECT count(*) FROM t a, LATERAL (
	SELECT b.k FROM t b WHERE b.k > a.k ORDER BY b.k LIMIT 1) c
WHERE a.id % 10 = 3 AND c.k <= a.k;
SELECT count(*) FROM t a, LATERAL (
	SELECT count(*) FROM t b WHERE b.n = a.n) c, LATERAL (
	SELECT count(*) FROM t b WHERE b.n >= a.n AND b.n < a.n + 1) e
WHERE a.id % 100 = 3 AND c.count <> e.count;

-- uniqueness
INSERT INTO t SELECT * FROM rows_from(35000, 35000);
INSERT INTO t SELECT * FROM rows_from(1, 40000) ON CONFLICT DO NOTHING;
SELECT count(*) FROM t;

-- a cursor stays where it is while its page gets nodes, and splits
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_sort = off;
DECLARE c CURSOR FOR SELECT id FROM t ORDER BY k;
MOVE 10000 IN c;
INSERT INTO t SELECT * FROM rows_from(40001, 60000);
CREATE TEMP TABLE rest (id int, at serial);
DO $$
DECLARE
	c refcursor := 'c';
	i int;
BEGIN
	LOOP
		FETCH c INTO i;
		EXIT WHEN i IS NULL;
		INSERT INTO rest (id) VALUES (i);
	END LOOP;
END $$;
SELECT count(*), bool_and(rest.id = x.id)
FROM rest JOIN (SELECT id, row_number() OVER (ORDER BY k) - 10000 AS at
				FROM t WHERE id <= 40000) x USING (at);
COMMIT;
SELECT fptree_index_parent_check(ix::regclass, true, true)
FROM unnest('{t_k,t_u,t_ts,t_n,t_d}'::text[]) ix;

-- hints at dead entries, and their removal
DELETE FROM t WHERE id % 3 = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM t WHERE k < 0 OR k >= 0;
SELECT count(k) FROM (SELECT k FROM t ORDER BY k) x;
RESET enable_bitmapscan;
RESET enable_seqscan;
SELECT fpt_same('SELECT k, id FROM t ORDER BY k'), fpt_same('SELECT u FROM t ORDER BY u');
VACUUM t;
SELECT fptree_index_parent_check(ix::regclass, true, true)
FROM unnest('{t_k,t_u,t_ts,t_n,t_d}'::text[]) ix;
SELECT fpt_same('SELECT k, id FROM t ORDER BY k'), fpt_same('SELECT ts, id FROM t ORDER BY ts, ctid');
DELETE FROM t WHERE id % 50 <> 1;
VACUUM t;
SELECT fptree_index_parent_check(ix::regclass, true, true)
FROM unnest('{t_k,t_u,t_ts,t_n,t_d}'::text[]) ix;
SELECT fpt_same('SELECT k, id FROM t ORDER BY k');

-- and where rows ascend
CREATE TABLE a (id int8, ts timestamptz);
INSERT INTO a SELECT i, '2026-01-01'::timestamptz + i * interval '1 s'
FROM generate_series(1, 20000) i;
CREATE INDEX a_id ON a USING fptree (id);
CREATE INDEX a_ts ON a USING fptree (ts);
INSERT INTO a SELECT i, '2026-01-01'::timestamptz + i * interval '1 s'
FROM generate_series(20001, 60000) i;
SELECT fptree_index_parent_check('a_id', true, true),
	   fptree_index_parent_check('a_ts', true, true);

SET client_min_messages = warning;
DROP SCHEMA fpt_scattered CASCADE;

\c -
-- uuids: pages leave out the six bits of version and variant, where all keys
-- have the same.  Those with others come between them.

-- the i'th uuid of this version; variant: 8 is the usual one
CREATE FUNCTION uuid_of(i int, version text, variant text DEFAULT '8') RETURNS uuid IMMUTABLE LANGUAGE sql AS $$
	SELECT overlay(overlay(lpad(to_hex(1735689600000 + i / 8), 12, '0') || substr(md5(i::text), 1, 20)
		placing version from 13) placing variant from 17)::uuid $$;
CREATE FUNCTION uuid_random(i int, version text) RETURNS uuid IMMUTABLE LANGUAGE sql AS $$
	SELECT overlay(overlay(md5(i::text) placing version from 13) placing '9' from 17)::uuid $$;
SET client_min_messages = warning;

-- Built: of version 7, and with versions at random
CREATE TABLE u7 (k uuid);
INSERT INTO u7 SELECT uuid_of(i, '7') FROM generate_series(1, 20000) i;
CREATE INDEX u7_k ON u7 USING fptree (k);
CREATE TABLE ux (k uuid);
INSERT INTO ux SELECT uuid_of(i, to_hex(i % 16)) FROM generate_series(1, 20000) i;
CREATE INDEX ux_k ON ux USING fptree (k);
SELECT fptree_index_size('u7_k') < fptree_index_size('ux_k') AS smaller;
SELECT fptree_index_check('u7_k', true), fptree_index_check('ux_k', true);

-- What the queries say by an index and without
CREATE FUNCTION same_answers(tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	bounds uuid[];
	op text;
	a uuid;
	b uuid;
	n bigint;
	m bigint;
	wrong int := 0;
	asked int := 0;
	told text := '';
BEGIN
	-- keys, keys with other bits, and what is next to them
	EXECUTE format($q$SELECT array_agg(x) FROM (SELECT unnest(ARRAY[k,
			overlay(k::text placing v from 15)::uuid,
			overlay(k::text placing w from 20)::uuid,
			overlay(overlay(k::text placing v from 15) placing '000' from 16)::uuid,
			overlay(overlay(k::text placing v from 15) placing '0000-000000000000' from 20)::uuid,
			overlay(overlay(k::text placing v from 15) placing 'ffff-ffffffffffff' from 20)::uuid]) x
		FROM (SELECT k, to_hex(n %% 16) v, to_hex(n * 7 %% 16) w
			FROM (SELECT k, row_number() OVER (ORDER BY k) n FROM %I WHERE k IS NOT NULL) q WHERE n %% 1201 = 1) r) s$q$, tab) INTO bounds;
	bounds := bounds || '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}'::uuid[];
	FOR i IN 1 .. array_length(bounds, 1) LOOP
		a := bounds[i];
		b := bounds[1 + (i * 13) % array_length(bounds, 1)];
		FOREACH op IN ARRAY '{<,<=,=,>=,>}'::text[] LOOP
			asked := asked + 1;
			SET LOCAL enable_seqscan = off;
			SET LOCAL enable_indexonlyscan = on;
			EXECUTE format('SELECT count(*) + coalesce(sum(hashtext(k::text)), 0) FROM %I WHERE k %s %L AND k <= %L', tab, op, a, greatest(a, b)) INTO n;
			SET LOCAL enable_seqscan = on;
			SET LOCAL enable_indexscan = off;
			SET LOCAL enable_indexonlyscan = off;
			SET LOCAL enable_bitmapscan = off;
			EXECUTE format('SELECT count(*) + coalesce(sum(hashtext(k::text)), 0) FROM %I WHERE k %s %L AND k <= %L', tab, op, a, greatest(a, b)) INTO m;
			RESET enable_indexscan;
			RESET enable_bitmapscan;
			IF n <> m THEN
				wrong := wrong + 1;
				told := told || format(E'\n%s %s and %s: %s and %s', op, a, b, n, m);
			END IF;
		END LOOP;
	END LOOP;
	SET LOCAL enable_seqscan = off;
	EXECUTE format('SELECT count(*) FROM %I WHERE k = ANY (%L)', tab, bounds) INTO n;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE format('SELECT count(*) FROM %I WHERE k = ANY (%L)', tab, bounds) INTO m;
	IF n <> m THEN
		told := told || format(E'\narrays: %s and %s', n, m);
	END IF;
	RETURN format('%s questions, wrong answers: %s', CASE WHEN asked > 400 THEN 'enough' ELSE 'few' END, wrong) || told;
END $$;
CREATE FUNCTION ordered(tab text, dir text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	k uuid;
	last uuid;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_sort = off;
	FOR k IN EXECUTE format('SELECT k FROM %I WHERE k IS NOT NULL ORDER BY k %s', tab, dir) LOOP
		IF (dir = 'ASC' AND k < last) OR (dir = 'DESC' AND k > last) THEN
			RETURN false;
		END IF;
		last := k;
	END LOOP;
	RETURN true;
END $$;

-- others come: between those that are there, next to them, and at the ends
INSERT INTO u7 SELECT uuid_of(i, to_hex(i % 16), to_hex(i % 13)) FROM generate_series(1, 20000, 97) i;
INSERT INTO u7 VALUES ('00000000-0000-0000-0000-000000000000'), ('ffffffff-ffff-ffff-ffff-ffffffffffff'), (NULL);
SELECT fptree_index_check('u7_k', true);
VACUUM u7;
SELECT same_answers('u7');
SELECT ordered('u7', 'ASC'), ordered('u7', 'DESC');

-- and go: pages that are formed anew may leave the bits out again
DELETE FROM u7 WHERE substr(k::text, 15, 1) <> '7';
VACUUM u7;
INSERT INTO u7 SELECT uuid_of(i, '7', 'a') FROM generate_series(1, 40000, 3) i;
SELECT fptree_index_check('u7_k', true);
VACUUM u7;
SELECT same_answers('u7');

-- Descending, NULLs first, inserted one by one; version 4, and a few others
CREATE TABLE u4 (k uuid);
CREATE INDEX u4_k ON u4 USING fptree (k DESC NULLS FIRST);
INSERT INTO u4 SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE uuid_random(i, '4') END FROM generate_series(1, 15000) i;
INSERT INTO u4 SELECT uuid_random(i, to_hex(i % 16)) FROM generate_series(1, 15000, 499) i;
INSERT INTO u4 SELECT uuid_random(i, '4') FROM generate_series(15001, 25000) i;
SELECT fptree_index_check('u4_k', true);
VACUUM u4;
SELECT same_answers('u4');
SELECT ordered('u4', 'ASC'), ordered('u4', 'DESC');
SELECT count(*) FROM u4 WHERE k IS NULL;

-- Unique: an equal key is found among those that leave bits out, and a foreign
-- one is none of them
CREATE UNIQUE INDEX u4_u ON u4 USING fptree (k) WHERE k < '80000000-0000-0000-0000-000000000000' AND substr(k::text, 15, 1) = '4';
INSERT INTO u4 SELECT k FROM u4 WHERE k < '80000000-0000-0000-0000-000000000000' AND substr(k::text, 15, 1) = '4' ORDER BY k LIMIT 1;
INSERT INTO u4 SELECT overlay(k::text placing '5' from 15)::uuid FROM u4 WHERE k IS NOT NULL ORDER BY k LIMIT 1;
SELECT fptree_index_check('u4_u', true);
DROP TABLE u7, ux, u4;
DROP FUNCTION uuid_of, uuid_random, ordered, same_answers;

\c -
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

\c -
--
-- TIDs that are relative to their nodes: a byte each, where rows follow each
-- other in the table, but for some that may be anywhere.
--
CREATE SCHEMA fpt_tids;
SET search_path = fpt_tids, public;
SET max_parallel_maintenance_workers = 0;

-- bytes of TIDs, and the part of the leaves that has these, in percent
CREATE FUNCTION widths(ix regclass, OUT tid_width int, OUT percent bigint)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT tid_width, 100 * count(*) / sum(count(*)) OVER ()
	FROM fpt_page_numbers(ix) p, fptree_page_stats(ix, p) s
	WHERE s.level = 0 AND s.type = 'leaf'
	GROUP BY tid_width ORDER BY tid_width
$$;

-- Are the leaves mostly, or all, of short TIDs, and is the index sound?
CREATE FUNCTION short(ix regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	p bigint := (SELECT percent FROM widths(ix) w WHERE w.tid_width = 1);
BEGIN
	PERFORM fptree_index_parent_check(ix, true, true);
	RETURN CASE WHEN p >= 80 THEN 'most' WHEN p > 0 THEN 'some' ELSE 'none' END;
END $$;

-- built: ascending and descending, wide keys and narrow ones, NULLs
CREATE TABLE t (id int8, d int, ts timestamptz, u uuid, n int, v int);
INSERT INTO t SELECT i, i / 7, '2026-01-01'::timestamptz + i * interval '79 s',
	(lpad(to_hex(i * 8191::int8), 12, '0') || '7' || lpad('', 19, '8'))::uuid,
	CASE WHEN i > 5000 THEN i END, 0
FROM generate_series(1, 30000) i;
CREATE INDEX t_id ON t USING fptree (id);
CREATE INDEX t_desc ON t USING fptree (id DESC);
CREATE INDEX t_d ON t USING fptree (d);
CREATE INDEX t_ts ON t USING fptree (ts);
CREATE INDEX t_u ON t USING fptree (u);
CREATE INDEX t_n ON t USING fptree (n NULLS FIRST);
CREATE INDEX t_full ON t USING fptree (id) WITH (fillfactor = 100);
CREATE INDEX t_empty ON t USING fptree (id) WITH (fillfactor = 30);
VACUUM t;
SELECT ix, short(ix::regclass)
FROM unnest('{t_id,t_desc,t_d,t_ts,t_u,t_n,t_full,t_empty}'::text[]) ix;
SELECT fpt_same('SELECT id, ctid FROM t ORDER BY id'),
	   fpt_same('SELECT id, ctid FROM t ORDER BY id DESC'),
	   fpt_same('SELECT d, ctid FROM t WHERE d BETWEEN 1000 AND 1010 ORDER BY d, ctid'),
	   fpt_same('SELECT ts, ctid FROM t WHERE ts > $$2026-01-10$$ ORDER BY ts'),
	   fpt_same('SELECT u, ctid FROM t ORDER BY u'),
	   fpt_same('SELECT n, ctid FROM t WHERE n > 29000 ORDER BY n');

-- some rows elsewhere: updated ones, whose new versions are at the end
DROP INDEX t_full, t_empty;
UPDATE t SET v = 1, d = d WHERE id % 50 = 7;
SELECT ix, short(ix::regclass)
FROM unnest('{t_id,t_desc,t_d,t_ts,t_u,t_n}'::text[]) ix;
SELECT fpt_same('SELECT id, ctid FROM t ORDER BY id');
-- an index that is built now has them, too
REINDEX INDEX t_id;
REINDEX INDEX t_u;
SELECT short('t_id'), short('t_u'), fpt_same('SELECT id, ctid FROM t ORDER BY id');
-- VACUUM takes the old versions away, and what these had room for is free
VACUUM t;
SELECT ix, short(ix::regclass)
FROM unnest('{t_id,t_desc,t_d,t_ts,t_u,t_n}'::text[]) ix;
-- all rows elsewhere, in no order: TIDs are stored whole
DO $$
BEGIN
	FOR i IN 0..9 LOOP
		UPDATE t SET v = 2, d = d WHERE mod(hashint8(id)::int8, 10) IN (i, -i) AND v < 2;
	END LOOP;
END $$;
VACUUM t;
SELECT fpt_same('SELECT id, ctid FROM t ORDER BY id'),
	   fpt_same('SELECT d, ctid FROM t WHERE d BETWEEN 1000 AND 1010 ORDER BY d, ctid');
SELECT ix, short(ix::regclass)
FROM unnest('{t_id,t_desc,t_d,t_ts,t_u,t_n}'::text[]) ix;
REINDEX TABLE t;
SELECT ix, short(ix::regclass)
FROM unnest('{t_id,t_desc,t_d,t_ts,t_u,t_n}'::text[]) ix;
DROP TABLE t;

-- rows that come in ascending order: leaves behind are nearly full, as built;
-- rows of all widths, so of few and many a block
CREATE TABLE w (id int8, s text);
CREATE TABLE x (id int8, s text);
ALTER TABLE w ALTER s SET STORAGE plain;
ALTER TABLE x ALTER s SET STORAGE plain;
CREATE INDEX w_id ON w USING fptree (id);
CREATE INDEX x_id ON x USING btree (id);
CREATE FUNCTION wal_of(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, WAL, FORMAT JSON) ' || statement INTO plan;
	RETURN plan->0->'Plan'->>'WAL Bytes';
END $$;
CREATE FUNCTION loaded(bytes int, rows int, OUT widths text, OUT smaller bool,
					   OUT no_more_wal bool) LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT i, repeat($q$x$q$, %s) FROM generate_series(1, %s) i',
						 bytes, rows);
BEGIN
	TRUNCATE w, x;
	no_more_wal := wal_of('INSERT INTO w ' || query) <= wal_of('INSERT INTO x ' || query);
	widths := short('w_id');
	smaller := fpt_pages('w_id') * 100 <= fpt_pages('x_id') * 25;
END $$;
SELECT b, l.* FROM (VALUES (0, 30000), (40, 30000), (60, 30000), (100, 20000), (1500, 8000)) v(b, n),
	loaded(b, n) l;
-- into free space that is scattered over the table: not for long
TRUNCATE w, x;
INSERT INTO w SELECT i, '' FROM generate_series(1, 40000) i;
DELETE FROM w WHERE id % 40 = 0;
VACUUM w;
INSERT INTO w SELECT i, '' FROM generate_series(50001, 51000) i;
INSERT INTO x SELECT * FROM w;
SELECT fptree_index_parent_check('w_id', true, true);
SELECT fpt_same('SELECT id, ctid FROM w WHERE id > 39000 ORDER BY id');
SELECT fpt_pages('w_id') * 100 <= fpt_pages('x_id') * 25 AS smaller;
DROP TABLE w, x;

-- rows of one key, which TIDs alone put in order
CREATE TABLE k (k int, v int);
INSERT INTO k SELECT i / 1000, 0 FROM generate_series(0, 19999) i;
CREATE INDEX k_k ON k USING fptree (k);
UPDATE k SET v = 1 WHERE (ctid::text::point)[1]::int % 9 = 0;
SELECT short('k_k') <> 'none' AS ok,
	   fpt_same('SELECT k, ctid FROM k WHERE k = 7 ORDER BY k, ctid');
DELETE FROM k WHERE v = 1;
VACUUM k;
INSERT INTO k SELECT i % 20, 2 FROM generate_series(1, 2000) i;
SELECT fptree_index_parent_check('k_k', true, true);
SELECT fpt_same('SELECT k, ctid FROM k WHERE k = 7 ORDER BY k, ctid');

-- A leaf of relative TIDs that is split where neither half can be one: in the
-- right part are a gap, over which keys cannot be relative to a node, and rows
-- updated elsewhere at both sides of borders between nodes, too many for a node
-- with other borders; and that part has too many entries for whole TIDs.
SET fptree.debug_node_lines = '0,1';
CREATE TEMP TABLE s (id int8, v int);
INSERT INTO s SELECT i * 3, 0 FROM generate_series(1, 9000) i;
CREATE INDEX s_id ON s USING fptree (id) WITH (fillfactor = 95);
RESET fptree.debug_node_lines;
CREATE INDEX s_v ON s (v);	-- no HOT updates
CREATE TEMP TABLE p AS SELECT p AS no
FROM fpt_page_numbers('s_id') p, fptree_page_stats('s_id', p) s
WHERE level = 0 AND type = 'leaf' ORDER BY low_fence OFFSET 1 LIMIT 1;
-- entries as they were built, and the last ones of some nodes
CREATE TEMP TABLE it AS
SELECT itemoffset AS o, key::int8 AS k,
	node <> lead(node) OVER (ORDER BY itemoffset) AS last
FROM p, fptree_page_items('s_id', no);
CREATE TEMP TABLE b AS SELECT DISTINCT ON (o / 100) o AS b
FROM it WHERE last AND o > 2200 AND o < 2700 ORDER BY o / 100, o;
-- the gap, and two free slots in each node that the borders are between
DELETE FROM s USING it WHERE id = k AND (o BETWEEN 2000 AND 2090 OR
	EXISTS (SELECT FROM b WHERE o IN (b - 4, b - 3, b + 4, b + 5)));
VACUUM s;
-- (takes the place that this left in the table)
INSERT INTO s SELECT 10000000 + i, 0 FROM generate_series(1, 300) i;
SELECT tid_width, current_setting('block_size') <> '8192' OR
	entries > capacity * 18 / 19 AS "whole TIDs have no room"
FROM p, fptree_page_stats('s_id', no);
-- two far TIDs, the most that there can be, in each of these nodes: of new
-- versions that lie too far apart to share one
BEGIN;
DO $$
BEGIN
	FOR i IN -1 .. 2 LOOP
		UPDATE s SET v = 1 FROM it JOIN b ON o = b + i WHERE id = k;
		INSERT INTO s SELECT 20000000 + 100 * i + j, 0
			FROM generate_series(1, 10) j;
	END LOOP;
END $$;
SELECT tid_width, current_setting('block_size') <> '8192' OR
	entries > capacity * 18 / 19 AS "whole TIDs have no room"
FROM p, fptree_page_stats('s_id', no);
-- others in the left part, until the page is full (old versions stay, as this
-- is one transaction)
UPDATE s SET v = 2 FROM it WHERE id = k AND o BETWEEN 500 AND 550;
COMMIT;
SELECT tid_width, count(*) > 0 AS pages
FROM fpt_page_numbers('s_id') p, fptree_page_stats('s_id', p) s
WHERE level = 0 AND type = 'leaf' GROUP BY 1 ORDER BY 1;
SELECT fptree_index_parent_check('s_id', true, true);
DROP TABLE s, p, it, b;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA fpt_tids CASCADE;

\c -
--
-- Few distinct general keys: leaf pages with dictionaries.
--
CREATE SCHEMA fpt_duplicates;
SET search_path = fpt_duplicates, public;
SET max_parallel_maintenance_workers = 0;

-- leaf pages of an index, of these the ones with one-byte keys and the entries
CREATE FUNCTION leaves(ix regclass, OUT pages bigint, OUT narrow bigint,
					   OUT entries bigint) LANGUAGE sql AS $$
	SELECT count(*), count(*) FILTER (WHERE s.key_width = 1), sum(s.entries)
	FROM fpt_page_numbers(ix) p, fptree_page_stats(ix, p) s
	WHERE s.level = 0 AND s.type = 'leaf'
$$;

-- Is an index no larger than btree's of the same rows?
CREATE FUNCTION no_larger(ix regclass, bt regclass) RETURNS text
LANGUAGE sql AS $$
	SELECT CASE WHEN fpt_pages(ix) <= fpt_pages(bt) THEN 'yes'
		ELSE format('no: %s, %s', fpt_pages(ix), fpt_pages(bt))
		END
$$;

-- built
CREATE TABLE d (i int, t10 text COLLATE "C", t1000 text COLLATE "C", n int, s text COLLATE "C");
INSERT INTO d SELECT i, md5((i % 2000)::text), md5((i % 20)::text), i % 100,
	CASE WHEN i % 3 = 0 THEN 'x' || i % 7 END
FROM generate_series(1, 20000) i;
CREATE INDEX d_t10 ON d USING fptree (t10);
CREATE INDEX d_t10_b ON d USING btree (t10);
CREATE INDEX d_t1000 ON d USING fptree (t1000);
CREATE INDEX d_t1000_b ON d USING btree (t1000);
CREATE INDEX d_n ON d USING fptree (n, t1000 DESC);
CREATE INDEX d_n_b ON d USING btree (n, t1000 DESC);
CREATE INDEX d_s ON d USING fptree (s NULLS FIRST, n);
SELECT ix, fpt_about(l.pages, usual) AS pages,
	   fpt_about(l.narrow, usual) AS narrow, l.entries
FROM (VALUES ('d_t10', 27), ('d_t1000', 17), ('d_n', 18), ('d_s', 20)) v (ix, usual),
	leaves(ix::regclass) l;
SELECT ix, no_larger(ix::regclass, (ix || '_b')::regclass)
FROM unnest('{d_t10,d_t1000,d_n}'::text[]) ix;

-- grown by rows in no order: the same keys, and new ones among them
TRUNCATE d;
INSERT INTO d SELECT i, md5((i % 2000)::text), md5((i % 20)::text), i % 100,
	CASE WHEN i % 3 = 0 THEN 'x' || i % 7 END
FROM generate_series(1, 20000) i ORDER BY hashint4(i);
SELECT ix, fpt_about(l.pages, usual) AS pages,
	   fpt_about(l.narrow, usual) AS narrow, l.entries
FROM (VALUES ('d_t10', 34), ('d_t1000', 22), ('d_n', 31), ('d_s', 33)) v (ix, usual),
	leaves(ix::regclass) l;
SELECT fptree_index_parent_check(ix)
FROM unnest('{d_t10,d_t1000,d_n,d_s}'::regclass[]) ix;

-- the same answers as from a sequential scan
CREATE FUNCTION agree(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a text;
	b text;
	c text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE 'SELECT md5(array_agg(x)::text) FROM (' || query || ') x' INTO a;
	SET LOCAL enable_indexonlyscan = off;
	EXECUTE 'SELECT md5(array_agg(x)::text) FROM (' || query || ') x' INTO c;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	EXECUTE 'SELECT md5(array_agg(x)::text) FROM (' || query || ') x' INTO b;
	RETURN CASE WHEN a = b AND b = c THEN 'same'
		ELSE concat_ws(' ', 'different:', a, b, c) END;
END $$;
DROP INDEX d_t10_b, d_t1000_b, d_n_b;
VACUUM ANALYZE d;
SELECT agree('SELECT t10 FROM d WHERE t10 > ''5'' ORDER BY t10');
SELECT agree('SELECT t10 FROM d WHERE t10 < md5(''77'') ORDER BY t10 DESC');
SELECT agree('SELECT t1000 FROM d WHERE t1000 IN (md5(''3''), md5(''5''), ''no'', ''zz'') ORDER BY t1000');
SELECT agree('SELECT n, t1000 FROM d WHERE n BETWEEN 40 AND 60 AND t1000 = md5(''15'') ORDER BY n, t1000 DESC');
SELECT agree('SELECT n, t1000 FROM d WHERE n > 95 AND t1000 LIKE ''%a%'' ORDER BY n DESC, t1000');
SELECT agree('SELECT s, n FROM d WHERE s IS NULL AND n = 7 ORDER BY s NULLS FIRST, n');
SELECT agree('SELECT s, n FROM d WHERE s >= ''x3'' AND n < 9 ORDER BY s, n');

-- rows go, and others come
DELETE FROM d WHERE i % 4 <> 0 OR i < 5000;
VACUUM d;
SELECT ix, l.entries FROM unnest('{d_t10,d_t1000,d_n,d_s}'::text[]) ix,
	leaves(ix::regclass) l;
INSERT INTO d SELECT i, md5((i % 3000)::text), md5((i % 25)::text), i % 90, 'y' || i % 7
FROM generate_series(1, 10000) i ORDER BY hashint4(i);
SELECT fptree_index_parent_check(ix)
FROM unnest('{d_t10,d_t1000,d_n,d_s}'::regclass[]) ix;
SELECT agree('SELECT t10 FROM d ORDER BY t10');
SELECT agree('SELECT s, n FROM d WHERE s > ''x5'' ORDER BY s, n');
DELETE FROM d;
VACUUM d;
SELECT ix, l.entries FROM unnest('{d_t10,d_t1000,d_n,d_s}'::text[]) ix,
	leaves(ix::regclass) l;
INSERT INTO d SELECT i, 'a', 'b', 1, 'c' FROM generate_series(1, 3000) i;
SELECT agree('SELECT t10 FROM d ORDER BY t10');

-- equal for the operator class, but not alike
CREATE TABLE e (i int, n numeric);
INSERT INTO e SELECT i, CASE WHEN i < 3000 THEN 1.5 ELSE i % 3 END
FROM generate_series(1, 6000) i;
CREATE INDEX e_n ON e USING fptree (n);
INSERT INTO e SELECT i, 1.50 FROM generate_series(1, 200) i;
INSERT INTO e SELECT i, CASE i % 3 WHEN 0 THEN 1.5 WHEN 1 THEN 1.500 ELSE 1.25 END
FROM generate_series(1, 2000) i ORDER BY hashint4(i);
VACUUM ANALYZE e;
SELECT fptree_index_parent_check('e_n');
SELECT agree('SELECT n FROM e WHERE n = 1.50 ORDER BY scale(n)');
SELECT agree('SELECT n::float8 FROM e WHERE n > 0.5 ORDER BY n');
REINDEX INDEX e_n;
SELECT fptree_index_parent_check('e_n');
SELECT agree('SELECT n FROM e WHERE n = 1.50 ORDER BY scale(n)');

-- in a unique index, versions of rows repeat
CREATE TABLE u (k text COLLATE "C", v int);
CREATE UNIQUE INDEX u_k ON u USING fptree (k);
INSERT INTO u SELECT 'key ' || i, 0 FROM generate_series(1, 50) i;
DO $$ BEGIN
	FOR i IN 1..60 LOOP
		UPDATE u SET v = v + 1, k = k;
	END LOOP;
END $$;
INSERT INTO u VALUES ('key 7');
SELECT fptree_index_parent_check('u_k');

SELECT * FROM fpt_check_all();

\c -
-- Image keys with some rows each, in leaf pages of numbers: built, inserted,
-- updated, deleted, vacuumed; scans both ways, unique indexes, NULLs.
SET client_min_messages = warning;
CREATE TABLE repeated (id int, u uuid, b bigint, i int, d timestamptz)
	WITH (autovacuum_enabled = off);
CREATE FUNCTION repeated_rows(first int, last int) RETURNS void
LANGUAGE sql AS $$
INSERT INTO repeated
SELECT g, md5((g % 500)::text)::uuid, hashint8extended(g % 97, 3), g % 1009,
	timestamptz '2024-01-01 00:00 UTC' + (g % 2003) * interval '1 day'
FROM generate_series(first, last) g ORDER BY hashint4(g)
$$;
SELECT repeated_rows(1, 20000);
CREATE INDEX repeated_u ON repeated USING fptree (u);
CREATE INDEX repeated_b ON repeated USING fptree (b DESC);
CREATE INDEX repeated_i ON repeated USING fptree (i NULLS FIRST);
CREATE INDEX repeated_d ON repeated USING fptree (d);
-- The same queries with the index and without.
CREATE FUNCTION repeated_check() RETURNS TABLE (name text, good bool)
LANGUAGE plpgsql AS $$
DECLARE
	q text;
	with_index text;
	without text;
BEGIN
	FOREACH q IN ARRAY ARRAY[
		'SELECT u, id FROM repeated WHERE u = md5(''7'')::uuid',
		'SELECT u, id FROM repeated WHERE u BETWEEN md5(''7'')::uuid AND md5(''10'')::uuid',
		'SELECT u, id FROM repeated WHERE u IN (md5(''1'')::uuid, md5(''2'')::uuid, md5(''x'')::uuid)',
		'SELECT b, id FROM repeated WHERE b = hashint8extended(5, 3)',
		'SELECT b, id FROM repeated WHERE b < 0',
		'SELECT i, id FROM repeated WHERE i IN (3, 1, 1008, 5000)',
		'SELECT i, id FROM repeated WHERE i > 1000 OR i IS NULL',
		'SELECT d, id FROM repeated WHERE d >= ''2024-02-01'' AND d < ''2024-02-03''']
	LOOP
		PERFORM set_config('enable_seqscan', 'off', true);
		EXECUTE 'SELECT md5(string_agg(q::text, '','' ORDER BY q)) FROM (' || q || ') q'
			INTO with_index;
		PERFORM set_config('enable_seqscan', 'on', true);
		PERFORM set_config('enable_indexscan', 'off', true);
		PERFORM set_config('enable_indexonlyscan', 'off', true);
		PERFORM set_config('enable_bitmapscan', 'off', true);
		EXECUTE 'SELECT md5(string_agg(q::text, '','' ORDER BY q)) FROM (' || q || ') q'
			INTO without;
		PERFORM set_config('enable_indexscan', 'on', true);
		PERFORM set_config('enable_indexonlyscan', 'on', true);
		PERFORM set_config('enable_bitmapscan', 'on', true);
		IF with_index IS DISTINCT FROM without THEN
			name := q;
			good := false;
			RETURN NEXT;
		END IF;
	END LOOP;
	FOR name IN SELECT c.relname FROM pg_index x JOIN pg_class c
		ON c.oid = x.indexrelid WHERE x.indrelid = 'repeated'::regclass
		ORDER BY 1
	LOOP
		PERFORM fptree_index_check(name::regclass, true);
		good := true;
		RETURN NEXT;
	END LOOP;
END
$$;
SELECT * FROM repeated_check();
-- A repeated key takes much less than one of its rows did.
SELECT relname, pg_relation_size(oid) / 20000 < 11 AS small
FROM pg_class WHERE relname LIKE 'repeated\__' ORDER BY 1;
-- A few rows in all places, as many in one place, new keys.
SELECT repeated_rows(20001, 24000);
INSERT INTO repeated
SELECT g, md5('7')::uuid, 5, 77, '2030-01-01 UTC' FROM generate_series(24001, 27000) g;
INSERT INTO repeated
SELECT g, md5((g / 3)::text)::uuid, g / 5, g / 7, timestamptz '2050-01-01 UTC' + g / 4 * interval '1 hour'
FROM generate_series(27001, 33000) g;
INSERT INTO repeated SELECT g FROM generate_series(33001, 33100) g;
SELECT * FROM repeated_check();
SELECT count(*), count(u), count(DISTINCT u) FROM repeated;
-- In order, both ways.
SET enable_sort = off;
SET enable_seqscan = off;
SELECT bool_and(ok) FROM (SELECT lag(i) OVER () <= i IS NOT false AS ok
	FROM (SELECT i FROM repeated WHERE i IS NOT NULL ORDER BY i NULLS FIRST) s) t;
SELECT bool_and(ok) FROM (SELECT lag(i) OVER () >= i IS NOT false AS ok
	FROM (SELECT i FROM repeated WHERE i IS NOT NULL ORDER BY i DESC NULLS LAST) s) t;
SELECT bool_and(ok) FROM (SELECT lag(b) OVER () >= b IS NOT false AS ok
	FROM (SELECT b FROM repeated WHERE b IS NOT NULL ORDER BY b DESC) s) t;
RESET enable_sort;
RESET enable_seqscan;
-- A cursor that turns back.
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_sort = off;
DECLARE c SCROLL CURSOR FOR SELECT i FROM repeated WHERE i >= 500 ORDER BY i NULLS FIRST;
MOVE 3000 c;
FETCH 2 c;
MOVE BACKWARD 2500 c;
FETCH BACKWARD 2 c;
COMMIT;
-- Updates leave dead rows behind, VACUUM removes them.
UPDATE repeated SET d = d + interval '1 day' WHERE id % 10 = 0;
SELECT * FROM repeated_check();
DELETE FROM repeated WHERE id % 3 = 0;
VACUUM repeated;
SELECT * FROM repeated_check();
UPDATE repeated SET u = md5((id % 50)::text)::uuid WHERE id % 7 = 0;
DELETE FROM repeated WHERE u > md5('3')::uuid;
VACUUM repeated;
SELECT repeated_rows(40001, 50000);
SELECT * FROM repeated_check();
DELETE FROM repeated;
VACUUM repeated;
SELECT repeated_rows(1, 3000);
SELECT * FROM repeated_check();
-- From nothing, row by row.
TRUNCATE repeated;
DO $$
BEGIN
	FOR g IN 1 .. 60 LOOP
		PERFORM repeated_rows(g * 100, g * 100 + 99);
	END LOOP;
END
$$;
SELECT * FROM repeated_check();
SELECT relname, pg_relation_size(oid) / 6000 < 28 AS small
FROM pg_class WHERE relname LIKE 'repeated\__' ORDER BY 1;
-- One row of each key is alive.
CREATE TABLE repeated_once (k uuid, n int) WITH (autovacuum_enabled = off);
CREATE UNIQUE INDEX repeated_once_k ON repeated_once USING fptree (k);
INSERT INTO repeated_once SELECT md5(g::text)::uuid, 0 FROM generate_series(1, 200) g;
DO $$
BEGIN
	FOR i IN 1 .. 40 LOOP
		UPDATE repeated_once SET k = k, n = i;
		DELETE FROM repeated_once WHERE n = i AND k < md5('3')::uuid;
		INSERT INTO repeated_once SELECT md5(g::text)::uuid, i
			FROM generate_series(1, 200) g WHERE md5(g::text)::uuid < md5('3')::uuid;
	END LOOP;
END
$$;
INSERT INTO repeated_once VALUES (md5('5')::uuid, 1);
SELECT fptree_index_check('repeated_once_k', true, true);
SELECT count(*), count(DISTINCT k) FROM repeated_once;
DROP TABLE repeated, repeated_once;
DROP FUNCTION repeated_rows, repeated_check;

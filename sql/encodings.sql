--
-- Pages of numbers that are dense, scattered, or alike in some bits: ids with gaps,
-- random keys, uuids.
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

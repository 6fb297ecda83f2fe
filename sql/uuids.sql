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

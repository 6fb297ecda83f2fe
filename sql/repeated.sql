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

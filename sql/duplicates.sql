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

--
-- General keys by themselves: made of the rows of tables, in the order in which
-- btree indexes have them.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fptree;
RESET client_min_messages;
CREATE SCHEMA fpt_general;
SET search_path = fpt_general, public;
SELECT setseed(0.4) IS NOT NULL AS seeded;

\getenv builddir PG_ABS_BUILDDIR
\set module :builddir '/test/module/fptree_test'
CREATE FUNCTION test_general(regclass) RETURNS text
AS :'module', 'fptree_test_general' LANGUAGE C STRICT;

CREATE FUNCTION random_text(n int) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(substr('abAB z0_é~' || E'\t', 1 + (random() * 10.99)::int, 1), ''), '')
	FROM generate_series(1, n)
$$;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (x int, y text);

-- one column of each type, NULLs and ties in all of them
CREATE TABLE t AS
SELECT g AS id, (random() * 6)::int2 AS i2, (random() * 50)::int AS i4,
	   ((random() - 0.5) * 1e18)::int8 AS i8,
	   (ARRAY['NaN', '-NaN', '-0', '0', 'inf', '1', '-1'])[1 + g % 7]::float4 AS f4,
	   (random() - 0.5)::float8 AS f8, random() < 0.5 AS b,
	   chr(1 + (random() * 125)::int)::"char" AS ch,
	   md5(random()::text)::uuid AS uu,
	   substr(md5((g % 100)::text), 1, 12)::macaddr AS mac,
	   random_text((random() * 3)::int) COLLATE "C" AS tc,
	   random_text((random() * 20)::int) COLLATE "C" AS tc2,
	   random_text((random() * 3)::int) COLLATE "en-x-icu" AS ti,
	   random_text((random() * 3)::int) AS td,
	   random_text((random() * 9)::int)::bpchar COLLATE "C" AS bp,
	   random_text((random() * 9)::int)::char(12) COLLATE "C" AS bp12,
	   left(random_text((random() * 70)::int), 50)::name AS na,
	   decode(left(md5(random()::text), 2 * (random() * 12)::int), 'hex') AS by,
	   round(((random() - 0.5) * 10.0 ^ (random() * 20))::numeric, (random() * 4)::int) AS num,
	   ('10.' || g % 5 || '.0.' || g % 200 || '/' || 8 * (1 + g % 4))::inet AS ip,
	   (g % 50 * interval '1 day' - (g % 7) * interval '1 month') AS iv,
	   ((g % 24) || ':00' || to_char((g % 7) - 3, 'SG00'))::timetz AS tz,
	   substr(g::bit(20)::text, 1 + g % 15)::varbit AS vb,
	   format('(%s,%s)', g % 30, g % 7)::tid AS td_,
	   (SELECT string_agg((x * g % 5)::text, ' ') FROM generate_series(1, g % 4) x)::oidvector AS ov,
	   regexp_replace(random_text(5), '\W', ' ', 'g')::tsvector AS tsv,
	   (ARRAY['sad', 'ok', 'happy'])[1 + g % 3]::mood AS en,
	   ARRAY[g % 3, NULL, g % 5] AS arr, int4range(g % 5, 5 + g % 7) AS rng,
	   to_jsonb(random_text(2)) AS js, row(g % 4, random_text(1))::pair AS rec,
	   CASE WHEN g % 50 = 0 THEN repeat(random_text(10), 200) ELSE random_text(3) END COLLATE "C" AS wide
FROM generate_series(1, 1200) g;
DO $$
DECLARE
	c name;
BEGIN
	FOR c IN SELECT attname FROM pg_attribute
			 WHERE attrelid = 't'::regclass AND attnum > 1
	LOOP
		EXECUTE format('UPDATE t SET %I = NULL WHERE random() < 0.1', c);
	END LOOP;
END $$;

-- no HOT chains: a test sees the TID of their last member
VACUUM FULL t;

-- Indexes of one column, both directions.  btree asserts where it splits pages
-- that equal values have the same bytes, which bpchar's with blanks at the end
-- have not; it does not if there are included columns.
DO $$
DECLARE
	c name;
	incl text;
BEGIN
	FOR c IN SELECT attname FROM pg_attribute
			 WHERE attrelid = 't'::regclass AND attnum > 0
	LOOP
		incl := CASE c WHEN 'bp' THEN 'INCLUDE (b)' ELSE '' END;
		EXECUTE format('CREATE INDEX %I ON t (%I) %s', 'a_' || c, c, incl);
		EXECUTE format('CREATE INDEX %I ON t (%I DESC) %s', 'd_' || c, c, incl);
	END LOOP;
END $$;
-- (the head of a_td's and a_na's depends on the database's collation; from which
-- size on a_wide's are compressed, on the size of pages; the first byte of
-- a_rec's, which can need a header, on what core leaves in a row's header)
SELECT c.relname,
	   regexp_replace(test_general(i.indexrelid),
					  CASE WHEN relname IN ('a_td', 'a_na', 'a_wide', 'a_rec') THEN '\d+ bytes.*' ELSE '$' END, '')
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 't'::regclass AND c.relname LIKE 'a_%'
ORDER BY i.indkey[0];
SELECT count(test_general(i.indexrelid))
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 't'::regclass AND c.relname LIKE 'd_%';

-- several columns: random ones, random directions, INCLUDE
CREATE FUNCTION random_index(n int, incl int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	cols text;
	included text := '';
BEGIN
	SELECT string_agg(format('%I%s%s', attname,
							 CASE WHEN random() < 0.5 THEN ' DESC' ELSE '' END,
							 CASE WHEN random() < 0.5 THEN ' NULLS FIRST' ELSE ' NULLS LAST' END),
					  ', ' ORDER BY r)
	INTO cols
	FROM (SELECT attname, random() AS r FROM pg_attribute
		  WHERE attrelid = 't'::regclass AND attnum > 1 AND attname <> 'wide'
				AND (attname <> 'bp' OR incl > 0)
		  ORDER BY 2 LIMIT n) s;
	IF incl > 0 THEN
		SELECT ' INCLUDE (' || string_agg(attname, ', ' ORDER BY r) || ')'
		INTO included
		FROM (SELECT attname, random() AS r FROM pg_attribute
			  WHERE attrelid = 't'::regclass AND attnum > 1 ORDER BY 2 LIMIT incl) s;
	END IF;
	RETURN format('CREATE INDEX r ON t (%s)%s', cols, included);
END $$;
DO $$
DECLARE
	cmd text;
BEGIN
	FOR n IN 1 .. 60 LOOP
		cmd := random_index(1 + n % 5, greatest(n % 7 - 3, 0));
		EXECUTE cmd;
		BEGIN
			PERFORM test_general('r');
		EXCEPTION WHEN OTHERS THEN
			RAISE NOTICE '%: %', cmd, sqlerrm;
		END;
		DROP INDEX r;
	END LOOP;
END $$;

-- what fits in heads, with the sizes of tuples
CREATE TABLE s AS
SELECT g AS a, g % 10 AS b, md5(g::text) COLLATE "C" AS m,
	   left(md5(g::text), 16) COLLATE "C" AS m16,
	   timestamptz '2026-11-22 12:34:56.789013' + g * interval '1 s' AS ts
FROM generate_series(1, 2000) g;
CREATE INDEX s_ab ON s (a, b);
CREATE INDEX s_ba ON s (b DESC, a);
CREATE INDEX s_m ON s (m);
CREATE INDEX s_m16 ON s (m16);
CREATE INDEX s_mts ON s (m16, ts);
CREATE INDEX s_expr ON s (lower(m16), (a + b) DESC) INCLUDE (ts);
CREATE INDEX s_part ON s (b, a) WHERE a > 100;
SELECT relname, test_general(oid) FROM pg_class
WHERE relname LIKE 's\_%' AND relnamespace = 'fpt_general'::regnamespace
ORDER BY 1;

-- it notices an order that is not the index's
CREATE INDEX s_other ON s USING fptree (m);
SELECT test_general('s_other');
CREATE FUNCTION fickle(text, text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN current_setting('fpt.sign')::int * bttextcmp($1, $2);
END $$;
CREATE OPERATOR CLASS fickle_ops FOR TYPE text USING btree AS
	OPERATOR 1 <, OPERATOR 3 =, OPERATOR 5 >, FUNCTION 1 fickle(text, text);
SET fpt.sign = 1;
CREATE INDEX s_fickle ON s (m fickle_ops) WHERE a <= 100;
SELECT test_general('s_fickle') LIKE '100 rows%' AS good;
SET fpt.sign = -1;
SELECT test_general('s_fickle');

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA fpt_general CASCADE;

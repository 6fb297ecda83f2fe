--
-- General keys and their heads.
--

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

\c -
--
-- Heads of general keys: their order must not contradict that of the operator
-- class, and what they decide must be so.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fptree;
RESET client_min_messages;
CREATE SCHEMA fpt_heads;
SET search_path = fpt_heads, public;

\getenv builddir PG_ABS_BUILDDIR
\set module :builddir '/test/module/fptree_test'
CREATE FUNCTION head(oid[], oid[], int[], VARIADIC "any") RETURNS text
AS :'module', 'fptree_test_head' LANGUAGE C IMMUTABLE;

-- arguments must match
SELECT head(ARRAY[0]::oid[], '{0,0}', '{0,0}', 1, 2);
SELECT head('{0,NULL}', '{0,0}', '{0,0}', 1, 2);

SELECT setseed(0.42) IS NOT NULL AS seeded;

-- Columns of test values, the same number of rows for each.
CREATE FUNCTION random_text(n int) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(substr('abAB z0_é~' || E'\t', 1 + (random() * 10.99)::int, 1), ''), '')
	FROM generate_series(1, n)
$$;
CREATE TABLE v AS
SELECT g, random_text((random() * 12)::int) AS t,
	   (ARRAY['NaN', 'Infinity', '-Infinity', '0', '-0.0', '1e600', '-1e600',
			  '1e-600', '-1e-600', '1e508', '1e507', '1e512', '1e-513', '1e-511',
			  '99999999999999999999', '12345678901234560000',
			  '1234567890123456', '1234567890123456.00001', '0.0001',
			  '0.00012345678901234567']::numeric[])[1 + g % 100] AS special,
	   round(((random() - 0.5) * 10.0 ^ (random() * 30))::numeric,
			 (random() * 8)::int) AS num,
	   random_text(1 + (random() * 2)::int) AS t2,
	   decode(left(md5(random()::text), 2 * (random() * 9)::int), 'hex') AS by,
	   (random() * 4 - 2)::int AS i,
	   random() AS r
FROM generate_series(1, 2000) g;

CREATE TABLE bad (what text, a text, b text, ha text, hb text);

-- For each pair of neighbours in the order of the operator class: a smaller
-- head for a smaller key, or the same; equal heads if the keys are; and if the
-- head decides the columns, equal keys if the heads are.
CREATE FUNCTION check_heads(expr text, typ text, opclass text,
							coll text DEFAULT NULL, lt text DEFAULT '<',
							eq text DEFAULT '=')
RETURNS TABLE (types text, n bigint, heads bigint, decided bigint)
LANGUAGE plpgsql AS $$
DECLARE
	opc oid := (SELECT c.oid FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
				WHERE a.amname = 'fptree' AND c.opcname = opclass);
	co oid := coalesce(quote_ident(coll)::regcollation::oid, 0);
	opt int;
	q text;
	gt text := CASE lt WHEN '~<~' THEN '~>~' WHEN '*<' THEN '*>' ELSE '>' END;
BEGIN
	FOREACH opt IN ARRAY '{0,1}'::int[] LOOP
		q := format($q$
			CREATE TEMP TABLE h AS
			SELECT a, b, ha, hb, da, eq
			FROM (SELECT x AS b, lag(x) OVER w AS a,
						 split_part(h, ' ', 1) AS hb,
						 split_part(lag(h) OVER w, ' ', 1) AS ha,
						 split_part(lag(h) OVER w, ' ', 2)::int AS da,
						 x %7$s lag(x) OVER w AS eq
				  FROM (SELECT (x)::%2$s %6$s AS x,
							   head(ARRAY[%3$s]::oid[], ARRAY[%4$s]::oid[],
									ARRAY[%5$s], (x)::%2$s) AS h
						FROM (SELECT %1$s AS x FROM v) s
						WHERE x IS NOT NULL) s
				  WINDOW w AS (ORDER BY x USING %8$s)) s
			WHERE a IS NOT NULL$q$,
			expr, typ, opc, co, opt,
			CASE WHEN coll IS NOT NULL THEN format('COLLATE %I', coll) END,
			'OPERATOR(pg_catalog.' || CASE WHEN eq = '=' THEN '=' ELSE eq END || ')',
			CASE opt WHEN 0 THEN lt ELSE gt END);
		EXECUTE q;
		INSERT INTO bad
		SELECT format('%s %s option %s', typ, opclass, opt), h.a::text, h.b::text,
			   h.ha, h.hb
		FROM h
		WHERE h.ha COLLATE "C" > h.hb COLLATE "C" OR (h.eq AND h.ha <> h.hb) OR
			  (h.da > 0 AND NOT h.eq AND h.ha = h.hb);
		RETURN QUERY SELECT format('%s %s%s', typ, opclass,
								   CASE opt WHEN 1 THEN ' DESC' END),
							count(*), count(DISTINCT h.ha),
							count(*) FILTER (WHERE h.da > 0)
					 FROM h;
		DROP TABLE h;
	END LOOP;
END $$;

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');

SELECT types, n > 100 AS enough, heads > least(n / 4, 3) AS spread, decided = n AS all,
	   decided > 0 AS some
FROM (VALUES
	(1, 'i * g % 3', 'int2', 'int2_ops', NULL, '<', '='),
	(2, 'g * 7919 % 4001 - 2000', 'int4', 'int4_ops', NULL, '<', '='),
	(3, '((r - 0.5) * 1e18)', 'int8', 'int8_ops', NULL, '<', '='),
	(4, 'CASE g % 9 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''-0'' WHEN 2 THEN ''0'' WHEN 3 THEN ''inf'' WHEN 4 THEN ''-inf'' ELSE (r - 0.5)::text END', 'float4', 'float4_ops', NULL, '<', '='),
	(5, 'CASE g % 9 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''-0'' WHEN 2 THEN ''0'' WHEN 3 THEN ''inf'' WHEN 4 THEN ''-inf'' ELSE (r - 0.5)::text END', 'float8', 'float8_ops', NULL, '<', '='),
	(6, 'i > 0', 'bool', 'bool_ops', NULL, '<', '='),
	(7, 'chr(1 + g % 126)', '"char"', 'char_ops', NULL, '<', '='),
	(8, 'md5(g::text)', 'uuid', 'uuid_ops', NULL, '<', '='),
	(9, 'substr(md5(g::text), 1, 12)', 'macaddr', 'macaddr_ops', NULL, '<', '='),
	(10, 'substr(md5(g::text), 1, 16)', 'macaddr8', 'macaddr8_ops', NULL, '<', '='),
	(11, 't', 'text', 'text_ops', 'C', '<', '='),
	(12, 't || t || t || CASE WHEN i > 0 THEN repeat(''x'', 9000) ELSE '''' END', 'text', 'text_ops', 'C', '<', '='),
	(13, 't', 'text', 'text_ops', 'en-x-icu', '<', '='),
	(14, 't', 'text', 'text_pattern_ops', NULL, '~<~', '='),
	(15, 't', 'bpchar', 'bpchar_ops', 'C', '<', '='),
	(16, 't', 'char(14)', 'bpchar_ops', 'C', '<', '='),
	(17, 't', 'bpchar', 'bpchar_pattern_ops', NULL, '~<~', '='),
	(18, 't', 'name', 'name_ops', 'C', '<', '='),
	(19, 'by', 'bytea', 'bytea_ops', NULL, '<', '='),
	(20, 'coalesce(special, num)', 'numeric', 'numeric_ops', NULL, '<', '='),
	(21, 'round(num % 100, 2)', 'numeric', 'numeric_ops', NULL, '<', '='),
	(22, 'format(''%s.%s.%s.%s/%s'', g % 3, g % 256, (r * 255)::int, i + 2, (r * g)::int % 33)', 'inet', 'inet_ops', NULL, '<', '='),
	(23, 'format(''%s:%s::%s/%s'', to_hex(g % 5), to_hex(i + 2), to_hex(g), (r * g)::int % 129)', 'inet', 'inet_ops', NULL, '<', '='),
	(24, 'CASE WHEN g % 2 = 0 THEN format(''%s:%s::/%s'', to_hex(g % 5), to_hex(i + 2), 32) ELSE format(''%s.%s.0.0/%s'', g % 3, g % 256, 16 + g % 17) END', 'cidr', 'cidr_ops', NULL, '<', '='),
	(25, 'format(''%s mon %s day %s us'', (num % 100)::int, i * 30, (r * 1e14)::int8)', 'interval', 'interval_ops', NULL, '<', '='),
	(26, 'format(''%s mon %s day %s us'', i * 1000000000, i * (r * 1e9)::int, -(i % 2) * ((r * 9e18)::int8))', 'interval', 'interval_ops', NULL, '<', '='),
	(27, 'format(''%s:00:00.%s%s'', g % 25 * CASE WHEN r < 0.5 THEN 1 ELSE 0 END, CASE WHEN g % 25 = 24 THEN 0 ELSE g END, to_char((g % 31) - 15, ''SG00'') || format('':%s'', 10 + i))', 'timetz', 'timetz_ops', NULL, '<', '='),
	(28, 'substr(g::bit(32)::text || (r * 1e9)::int::bit(32)::text, 1 + g % 30, g % 33)', 'varbit', 'varbit_ops', NULL, '<', '='),
	(29, '(g * 7919 % 977)::bit(20)', 'bit(20)', 'bit_ops', NULL, '<', '='),
	(30, 'format(''(%s,%s)'', g * 7919 % 1201, g % 200)', 'tid', 'tid_ops', NULL, '<', '='),
	(31, '(SELECT string_agg((x * g % 5)::text, '' '') FROM generate_series(1, g % 5) x)', 'oidvector', 'oidvector_ops', NULL, '<', '='),
	(32, 'regexp_replace(t, ''\W'', '' '', ''g'')', 'tsvector', 'tsvector_ops', NULL, '<', '='),
	(33, '(ARRAY[''sad'', ''ok'', ''happy''])[3 + least(i, 0)]', 'mood', 'enum_ops', NULL, '<', '='),
	(34, 'ARRAY[i, g]', 'int[]', 'array_ops', NULL, '<', '='),
	(35, 'to_jsonb(i)', 'jsonb', 'jsonb_ops', NULL, '<', '=')
	) AS c(ord, expr, typ, opclass, coll, lt, eq),
	LATERAL check_heads(expr, typ, opclass, coll, lt, eq)
ORDER BY ord, types COLLATE "C";

-- nothing
SELECT * FROM bad;

-- What to expect: IPv4 addresses and short strings are decided, numerics of
-- four digits of base 10000, and everything that fits.
CREATE FUNCTION opc(VARIADIC text[]) RETURNS oid[] LANGUAGE sql
RETURN (SELECT array_agg(c.oid ORDER BY n)
		FROM unnest($1) WITH ORDINALITY u(name, n)
			 JOIN pg_opclass c ON c.opcname = u.name
			 JOIN pg_am a ON a.oid = c.opcmethod AND a.amname = 'fptree');
\set c '''"C"''::regcollation'
SELECT head(opc('inet_ops'), '{0}', '{0}', inet '10.1.2.3'),
	   head(opc('inet_ops'), '{0}', '{0}', inet '10.1.2.3/6'),
	   head(opc('inet_ops'), '{0}', '{0}', inet '::1'),
	   head(opc('numeric_ops'), '{0}', '{0}', 12.5),
	   head(opc('numeric_ops'), '{0}', '{0}', 12.50),
	   head(opc('numeric_ops'), '{0}', '{0}', 12.34567890123456789),
	   head(opc('numeric_ops'), '{0}', '{0}', 1e1000),
	   head(opc('text_ops'), ARRAY[:c], '{0}', 'abcdefg'::text),
	   head(opc('text_ops'), ARRAY[:c], '{0}', 'abcdefgh'::text),
	   head(opc('text_ops'), ARRAY[:c], '{1}', 'abcdefg'::text),
	   (SELECT datlocprovider = 'i' OR
			   head(opc('text_ops'), '{100}', '{0}', 'abcdefg'::text) =
			   CASE WHEN datcollate IN ('C', 'POSIX') THEN '6162636465666700 1'
				   ELSE '0000000000000000 0' END AS default
		FROM pg_database WHERE datname = current_database()) \gx

-- Several columns in one head, as far as they fit
SELECT head(opc('int4_ops', 'int4_ops'), '{0,0}', '{0,0}', 1, -1),
	   head(opc('int4_ops', 'int4_ops'), '{0,0}', '{0,1}', 1, -1),
	   head(opc('int4_ops', 'int4_ops'), '{0,0}', '{0,0}', 1, NULL::int4),
	   head(opc('int4_ops', 'int4_ops'), '{0,0}', '{0,0}', 1, 2147483647),
	   head(opc('int4_ops', 'int4_ops'), '{0,0}', '{0,2}', 1, NULL::int4),
	   head(opc('int4_ops', 'text_ops'), ARRAY[0, :c], '{0,0}', 1, 'ab'::text),
	   head(opc('int4_ops', 'text_ops'), ARRAY[0, :c], '{0,0}', 1, 'abcd'::text),
	   head(opc('int4_ops', 'int8_ops', 'bool_ops'), '{0,0,0}', '{0,0,0}', 1, 5::int8, true),
	   head(opc('bool_ops', 'char_ops', 'date_ops', 'int2_ops', 'int2_ops'), '{0,0,0,0,0}', '{0,0,0,0,0}', true, 'a'::"char", date '2020-01-01', 3::int2, 4::int2),
	   head(opc('jsonb_ops', 'int4_ops'), '{0,0}', '{0,0}', jsonb '1', 1) \gx

-- Random rows of several columns: all orders, NULLs, ties
CREATE FUNCTION check_rows(cols text[], types text[], classes text[],
						   colls text[], opts int[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := array_length(cols, 1);
	vals text;
	ord text;
	colls_oid oid[];
	same text;
	wrong bigint;
	total bigint;
	heads bigint;
BEGIN
	colls_oid := ARRAY(SELECT CASE WHEN c = '' THEN 0::oid
							  ELSE quote_ident(c)::regcollation::oid END
					   FROM unnest(colls) c);
	vals := (SELECT string_agg(format('(%s)::%s AS c%s', cols[k], types[k], k), ', ')
			 FROM generate_series(1, n) k);
	ord := (SELECT string_agg(format('c%s %s %s %s', k,
							  CASE WHEN colls[k] <> '' THEN format('COLLATE %I', colls[k]) END,
							  CASE WHEN opts[k] & 1 = 1 THEN 'DESC' ELSE 'ASC' END,
							  CASE WHEN opts[k] & 2 = 2 THEN 'NULLS FIRST' ELSE 'NULLS LAST' END), ', ')
			FROM generate_series(1, n) k);
	EXECUTE format($q$
		SELECT count(*) FILTER (WHERE h COLLATE "C" < p COLLATE "C" OR
						(h <> p AND r = pr)),
			   count(*), count(DISTINCT h)
		FROM (SELECT split_part(h, ' ', 1) AS h, r,
					 split_part(lag(h) OVER w, ' ', 1) AS p,
					 lag(r) OVER w AS pr
			  FROM (SELECT head(%L, %L, %L, %s) AS h, rank() OVER (ORDER BY %s) AS r,
						   row_number() OVER (ORDER BY %s) AS n
					FROM (SELECT %s FROM v) s
					WHERE c1 IS NOT NULL) s
			  WINDOW w AS (ORDER BY n)) s$q$,
		opc(VARIADIC classes), colls_oid, opts,
		(SELECT string_agg('c' || k, ', ') FROM generate_series(1, n) k),
		ord, ord, vals) INTO wrong, total, heads;
	RETURN format('%s wrong of %s rows, %s heads', wrong, total,
				  CASE WHEN heads > 4 THEN 'many' ELSE heads::text END);
END $$;

SELECT types, check_rows(cols, types, classes, colls, ARRAY[o1, o2, o1]) AS result,
	   count(*)
FROM (VALUES
	(1, ARRAY['i', 'CASE WHEN g % 5 = 0 THEN NULL WHEN g % 5 = 1 THEN -2147483648 WHEN g % 5 = 2 THEN 2147483647 ELSE i END', 'g'],
	 '{int4,int4,int4}'::text[], '{int4_ops,int4_ops,int4_ops}'::text[], '{"","",""}'::text[]),
	(2, ARRAY['i > 0', 'CASE WHEN g % 3 > 0 THEN i END', 'CASE WHEN g % 7 > 0 THEN t END'],
	 '{bool,int2,text}', '{bool_ops,int2_ops,text_ops}', '{"","",C}'),
	(3, ARRAY['chr(100 + i)', 'CASE WHEN g % 3 > 0 THEN date ''2020-01-01'' + i END', 'g % 20 * interval ''1 s'''],
	 '{"\"char\"",date,interval}', '{char_ops,date_ops,interval_ops}', '{"","",""}'),
	(4, ARRAY['i', 'CASE WHEN g % 3 > 0 THEN num END', 'g'],
	 '{int2,numeric,int4}', '{int2_ops,numeric_ops,int4_ops}', '{"","",""}'),
	(5, ARRAY['t2', 'i', 'g'], '{text,int4,int4}', '{text_ops,int4_ops,int4_ops}', '{C,"",""}'),
	(6, ARRAY['i', 'nullif(t2, ''a'')', 't'], '{int4,bpchar,text}', '{int4_ops,bpchar_ops,text_ops}', '{"",C,en-x-icu}'),
	(7, ARRAY['i', 'CASE WHEN g % 4 > 0 THEN (i * 0.0 * r)::float4 END', 'g'],
	 '{int4,float4,int4}', '{int4_ops,float4_ops,int4_ops}', '{"","",""}'),
	(8, ARRAY['i', 'nullif(t2, ''b'')', 'g'], '{bool,text,int4}', '{bool_ops,text_ops,int4_ops}', '{"",C,""}')
	) AS c(ord, cols, types, classes, colls),
	generate_series(0, 3) o1, generate_series(0, 3) o2
GROUP BY ord, types, result ORDER BY ord, result;

-- Values that damage has shortened: heads are made of what there is.
CREATE FUNCTION head_cut(oid, int, "any") RETURNS text
AS :'module', 'fptree_test_head_cut' LANGUAGE C STRICT;
SELECT opcname, head, min(len), max(len)
FROM (SELECT opcname, len,
			 CASE opcname WHEN 'varbit_ops' THEN head_cut(c.oid, len, B'111100001010'::varbit)
				WHEN 'bit_ops' THEN head_cut(c.oid, len, B'111100001010')
				WHEN 'oidvector_ops' THEN head_cut(c.oid, len, '5 6'::oidvector)
				WHEN 'tsvector_ops' THEN head_cut(c.oid, len, 'a b'::tsvector)
				WHEN 'numeric_ops' THEN head_cut(c.oid, len, 12345.678)
				WHEN 'inet_ops' THEN head_cut(c.oid, len, '10.1.2.3/24'::inet)
				WHEN 'bytea_ops' THEN head_cut(c.oid, len, '\x0102030405'::bytea) END AS head
	  FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod, generate_series(4, 32) len
	  WHERE amname = 'fptree') x
WHERE head IS NOT NULL GROUP BY opcname, head ORDER BY opcname, min(len);

-- Values of quals that are longer than a page: their codes are not made while a
-- page is locked, which assertions watch, whatever the scan.
CALL fpt_collations();
CREATE TABLE wide (a text COLLATE words, b bpchar COLLATE "C", c int) WITH (autovacuum_enabled = off);
INSERT INTO wide SELECT repeat(md5((i % 900)::text), 1 + i % 3), md5((i % 900)::text), i % 20 FROM generate_series(1, 3000) i;
INSERT INTO wide VALUES (NULL, NULL, 1), ('c', 'c', NULL);
CREATE INDEX wide_a ON wide USING fptree (a, c);
CREATE INDEX wide_ca ON wide USING fptree (c, a DESC);
CREATE INDEX wide_b ON wide USING fptree (b, c);
CREATE INDEX wide_cb ON wide USING fptree (c, b);
VACUUM ANALYZE wide;
CREATE FUNCTION queries(col text, rest text) RETURNS text[] LANGUAGE sql
RETURN ARRAY[
	format('SELECT a, b, c FROM wide WHERE %s %s', col, rest),
	format('SELECT %1$s, c FROM wide WHERE %1$s %2$s ORDER BY %1$s, c', col, rest),
	format('SELECT %1$s, c FROM wide WHERE %1$s %2$s ORDER BY %1$s DESC, c DESC', col, rest),
	format('SELECT a, b, c FROM wide WHERE c < 15 AND %s %s', col, rest),
	format('SELECT c FROM wide WHERE c > 3 AND %s %s ORDER BY c DESC', col, rest)];
SELECT col, r.n, f.compared, left(f.problems, 100) AS problems
FROM unnest('{a,b}'::text[], '{text,bpchar}'::text[]) t(col, type), unnest(ARRAY[
	'> repeat(''5'', 20000)::type', '<= rpad(''c'', 20000)::type', '= repeat(''c'', 20000)::type', '= rpad(''c'', 20000)::type',
	'BETWEEN rpad(''5'', 20000)::type AND repeat(''c'', 30000)::type',
	'IN (repeat(''5'', 20000)::type, md5(''7'')::type, rpad(md5(''8''), 20000)::type, repeat(''c'', 20000)::type)',
	'>= ANY (ARRAY[repeat(''5'', 20000)::type, repeat(''e'', 20000)::type])']) WITH ORDINALITY r(rest, n),
	fpt_compare(queries(col, replace(rest, 'type', type)), '{index}') f ORDER BY col, r.n;
SELECT fpt_compare(ARRAY['SELECT a, c FROM wide WHERE (a, c) < (repeat(''c'', 20000), 5) ORDER BY a DESC, c DESC',
	'SELECT a, c FROM wide WHERE (a, c) > (repeat(''c'', 20000), 5) ORDER BY a, c',
	'SELECT c FROM wide WHERE (c, a) < (5, repeat(''c'', 20000)) ORDER BY c',
	'SELECT a, c FROM wide WHERE a = md5(''7'') ORDER BY c DESC'], '{index}');

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA fpt_heads CASCADE;

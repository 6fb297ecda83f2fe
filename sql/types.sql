--
-- Every type, and several columns of them.
--

--
-- Every type, every operator, both directions, both places of NULLs: the index
-- must give what a sequential scan gives.
--
CREATE SCHEMA fpt_types;
SET search_path = fpt_types, public;
SET client_min_messages = warning;
SET timezone = 'PST8PDT';
SET lc_monetary = 'C';

-- gen: value of row i; consts: constants compared with; arrays of the queries
-- are made of the first constants.
CREATE TABLE type_list (id int, typ text, gen text, consts text[]);
INSERT INTO type_list
SELECT id, typ, gen, regexp_split_to_array(consts, ',\s*') FROM (VALUES
(1, 'int2', '(h % 32768)::int2',
 '0::int2, (-32768)::int2, 32767::int2, 101::int2, -1::int2,
   0::int4, 32768::int4, -32769::int4, 2147483647::int4, 77::int4,
   (-2147483648)::int4, 0::int8, 65536::int8, (-65536)::int8, 32767::int8,
   9223372036854775807::int8, (-9223372036854775808)::int8'),
(2, 'int4', 'h::int4',
 '0::int4, 2147483647::int4, (-2147483648)::int4, -1::int4, 77777::int4,
   0::int2, (-32768)::int2, 32767::int2,
   2147483648::int8, (-2147483649)::int8, 4294967296::int8, 0::int8,
   2147483647::int8, (-2147483648)::int8,
   9223372036854775807::int8, (-9223372036854775808)::int8'),
(3, 'int8', 'hashint8extended(i / 2, 0)',
 '0::int8, 9223372036854775807::int8, (-9223372036854775808)::int8,
   -1::int8, 4294967296::int8,
   0::int4, 2147483647::int4, (-2147483648)::int4,
   (-32768)::int2, 32767::int2, 0::int2'),
(4, 'oid', '(h & 4294967295)::oid',
 '0::oid, 1::oid, 2147483647::oid, 2147483648::oid, 4294967295::oid'),
(5, 'xid8', '(hashint8extended(i / 2, 0)::numeric + 9223372036854775808)::text::xid8',
 '''0''::xid8, ''1''::xid8, ''9223372036854775808''::xid8,
   ''18446744073709551615''::xid8'),
(6, 'float4', '(h / 1000.0)::float4',
 '0::float4, ''-0''::float4, ''NaN''::float4, ''Infinity''::float4,
   ''-Infinity''::float4, 1e-45::float4, -1e-45::float4,
   3.4028235e38::float4, -3.4028235e38::float4, 0.1::float4,
   0::float8, ''-0''::float8, ''NaN''::float8, ''Infinity''::float8,
   ''-Infinity''::float8, 1e-300::float8, -1e-300::float8, 1e300::float8,
   -1e300::float8, 0.1::float8, 3.4028235e38::float8,
   3.40282350000001e38::float8, 3.4028236e38::float8'),
(7, 'float8', 'h / 1000.0::float8',
 '0::float8, ''-0''::float8, ''NaN''::float8, ''Infinity''::float8,
   ''-Infinity''::float8, 5e-324::float8, -5e-324::float8, 0.1::float8,
   1.7976931348623157e308::float8, -1.7976931348623157e308::float8,
   0::float4, ''-0''::float4, ''NaN''::float4, ''Infinity''::float4,
   ''-Infinity''::float4, 0.1::float4'),
(8, 'bool', 'h % 2 = 0', 'true, false'),
(9, '"char"', '(h % 128)::int4::"char"',
 '0::"char", 1::"char", 127::"char", (-128)::"char", (-1)::"char",
   65::"char"'),
(10, 'money', '(h / 100.0)::numeric::money',
 '0::money, ''0.01''::money, ''-0.01''::money,
   ''92233720368547758.07''::money, ''-92233720368547758.08''::money'),
(11, 'date', '''2000-01-01''::date + (h % 100000)::int4',
 '''2000-01-01''::date, ''infinity''::date, ''-infinity''::date,
   ''4714-11-24 BC''::date, ''5874897-12-31''::date, ''1969-07-20''::date,
   ''2000-01-01''::timestamp, ''2000-01-01 00:00:00.000001''::timestamp,
   ''1999-12-31 23:59:59.999999''::timestamp, ''infinity''::timestamp,
   ''-infinity''::timestamp, ''4714-11-24 BC''::timestamp,
   ''294276-12-31 23:59:59.999999''::timestamp,
   ''2000-01-01''::timestamptz, ''2000-01-01 00:00:00+00''::timestamptz,
   ''2000-01-01 08:00:00.000001+00''::timestamptz,
   ''1999-12-31 23:59:59.999999''::timestamptz, ''infinity''::timestamptz,
   ''-infinity''::timestamptz, ''4714-11-24 00:00:00+00 BC''::timestamptz,
   ''294276-12-31 23:59:59.999999+00''::timestamptz'),
(12, 'time', '''00:00''::time + h * ''0.1 second''::interval',
 '''00:00''::time, ''24:00''::time, ''12:34:56.789''::time,
   ''23:59:59.999999''::time'),
(13, 'timestamp', '''2000-01-01''::timestamp + h * ''1.000001 s''::interval',
 '''2000-01-01''::timestamp, ''infinity''::timestamp,
   ''-infinity''::timestamp, ''4714-11-24 BC''::timestamp,
   ''294276-12-31 23:59:59.999999''::timestamp,
   ''2000-01-01 00:00:00.000001''::timestamp,
   ''2000-01-01''::date, ''infinity''::date, ''-infinity''::date,
   ''4714-11-24 BC''::date, ''5874897-12-31''::date, ''1969-07-20''::date,
   ''2000-01-01''::timestamptz, ''infinity''::timestamptz,
   ''-infinity''::timestamptz, ''4714-11-24 00:00:00+00 BC''::timestamptz,
   ''294276-12-31 23:59:59.999999+00''::timestamptz,
   ''2020-03-08 02:30:00''::timestamptz'),
(14, 'timestamptz', '''2000-01-01''::timestamptz + h * ''1.000001 s''::interval',
 '''2000-01-01''::timestamptz, ''infinity''::timestamptz,
   ''-infinity''::timestamptz, ''4714-11-24 00:00:00+00 BC''::timestamptz,
   ''294276-12-31 23:59:59.999999+00''::timestamptz,
   ''2000-01-01''::date, ''infinity''::date, ''-infinity''::date,
   ''4714-11-24 BC''::date, ''5874897-12-31''::date, ''1969-07-20''::date,
   ''2000-01-01''::timestamp, ''infinity''::timestamp,
   ''-infinity''::timestamp, ''4714-11-24 BC''::timestamp,
   ''294276-12-31 23:59:59.999999''::timestamp,
   ''2020-03-08 02:30:00''::timestamp,
   ''2020-11-01 01:30:00''::timestamp'),
(15, 'uuid', 'md5((i / 2)::text)::uuid',
 '''00000000-0000-0000-0000-000000000000''::uuid,
   ''ffffffff-ffff-ffff-ffff-ffffffffffff''::uuid,
   ''7fffffff-ffff-ffff-ffff-ffffffffffff''::uuid,
   ''80000000-0000-0000-0000-000000000000''::uuid,
   ''00000000-0000-0000-8000-000000000000''::uuid'),
(16, 'macaddr', 'substr(md5((i / 2)::text), 1, 12)::macaddr',
 '''00:00:00:00:00:00''::macaddr, ''ff:ff:ff:ff:ff:ff''::macaddr,
   ''7f:ff:ff:ff:ff:ff''::macaddr, ''00:00:00:80:00:00''::macaddr'),
(17, 'macaddr8', 'substr(md5((i / 2)::text), 1, 16)::macaddr8',
 '''00:00:00:00:00:00:00:00''::macaddr8,
   ''ff:ff:ff:ff:ff:ff:ff:ff''::macaddr8,
   ''7f:ff:ff:ff:ff:ff:ff:ff''::macaddr8,
   ''00:00:00:00:80:00:00:00''::macaddr8'),
(18, 'pg_lsn', '''0/0''::pg_lsn + (hashint8extended(i / 2, 0)::numeric + 9223372036854775808)',
 '''0/0''::pg_lsn, ''0/1''::pg_lsn, ''7FFFFFFF/FFFFFFFF''::pg_lsn,
   ''80000000/0''::pg_lsn, ''FFFFFFFF/FFFFFFFF''::pg_lsn')) v (id, typ, gen, consts);

-- A table of 600 rows for each type: duplicates, NULLs, and of each constant of
-- the type two rows.
CREATE FUNCTION fill(t type_list) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	c text;
BEGIN
	EXECUTE format('CREATE TABLE t_%s (i int, k %s)', t.id, t.typ);
	EXECUTE format(
		'INSERT INTO t_%s SELECT i, CASE WHEN i %% 11 <> 0 THEN %s END '
		'FROM (SELECT i, hashint4(i / 2)::int8 AS h '
		'FROM generate_series(1, 600) i) s', t.id, t.gen);
	FOREACH c IN ARRAY t.consts LOOP
		IF c LIKE '%::' || t.typ OR t.typ = 'bool' THEN
			EXECUTE format('INSERT INTO t_%s SELECT i, %s '
						   'FROM generate_series(1001, 1002) i', t.id, c);
		END IF;
	END LOOP;
END $$;

CREATE FUNCTION queries(t type_list) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
	c text;
	op text;
	q text[];
	tab text := 'SELECT k FROM t_' || t.id;
	n int := array_length(t.consts, 1);
	same text[];
BEGIN
	FOREACH c IN ARRAY t.consts LOOP
		FOREACH op IN ARRAY '{<,<=,=,>=,>}'::text[] LOOP
			-- the planner turns a comparison of a bool into the bool itself
			CONTINUE WHEN t.typ = 'bool' AND op = '=';
			q := q || format('%s WHERE k %s %s', tab, op, c);
		END LOOP;
		IF c LIKE '%::' || t.typ OR t.typ = 'bool' THEN
			same := same || c;
		END IF;
	END LOOP;
	FOR i IN 1 .. n LOOP
		q := q || format('%s WHERE k >= %s AND k < %s', tab,
						 t.consts[i], t.consts[i % n + 1]);
		q := q || format('%s WHERE k > %s AND k <= %s', tab,
						 t.consts[i % n + 1], t.consts[i]);
		-- the same operators the other way round, and commuted
		q := q || format('%s WHERE %s >= k AND %s < k', tab,
						 t.consts[i], t.consts[(i + 1) % n + 1]);
	END LOOP;
	q := q || format('%s WHERE k = ANY (ARRAY[%s])', tab,
					 array_to_string(same, ', '));
	q := q || format('%s WHERE k = ANY (ARRAY[NULL, %s, %s, NULL]) AND k > %s',
					 tab, same[2], same[1], same[2]);
	q := q || format('%s WHERE k < ANY (ARRAY[%s])', tab,
					 array_to_string(same, ', '));
	q := q || format('%s WHERE k >= ANY (ARRAY[%s])', tab,
					 array_to_string(same, ', '));
	q := q || (tab || ' WHERE k IS NULL');
	q := q || (tab || ' WHERE k IS NOT NULL');
	q := q || format('%s WHERE k IS NULL AND k = %s', tab, same[1]);
	q := q || format('%s WHERE k IS NOT NULL AND k >= %s', tab, same[1]);
	RETURN q;
END $$;

CREATE FUNCTION ordered_queries(t type_list, desc_ bool, first_ bool)
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	k text := 'k';
	tab text;
	q text[];
	same text := t.consts[1];
	fwd text;
	bwd text;
BEGIN
	-- 0 and -0 are equal and in no order between themselves
	IF t.typ LIKE 'float%' THEN
		k := 'k + 0 AS k0';
	END IF;
	tab := format('SELECT %s FROM t_%s', k, t.id);
	fwd := format(' ORDER BY k %s NULLS %s',
				  CASE WHEN desc_ THEN 'DESC' ELSE 'ASC' END,
				  CASE WHEN first_ THEN 'FIRST' ELSE 'LAST' END);
	bwd := format(' ORDER BY k %s NULLS %s',
				  CASE WHEN desc_ THEN 'ASC' ELSE 'DESC' END,
				  CASE WHEN first_ THEN 'LAST' ELSE 'FIRST' END);
	q := q || (tab || fwd) || (tab || bwd);
	q := q || (tab || fwd || ' LIMIT 70') || (tab || bwd || ' LIMIT 70');
	q := q || (tab || fwd || ' OFFSET 333 LIMIT 33');
	q := q || (tab || ' WHERE k >= ' || same || fwd);
	q := q || (tab || ' WHERE k >= ' || same || bwd || ' LIMIT 7');
	q := q || (tab || ' WHERE k < ' || same || fwd || ' LIMIT 7');
	q := q || (tab || ' WHERE k < ' || same || bwd);
	q := q || (tab || ' WHERE k IS NOT NULL' || fwd || ' LIMIT 1');
	q := q || (tab || ' WHERE k IS NOT NULL' || bwd || ' LIMIT 1');
	q := q || (tab || ' WHERE k IS NULL' || bwd || ' LIMIT 5');
	RETURN q;
END $$;

-- Four indexes on each type, one after the other; the last one stays.  Half of
-- the rows are inserted after the index was built.
CREATE FUNCTION test_type(t type_list, OUT compared int, OUT problems text)
LANGUAGE plpgsql AS $$
DECLARE
	tab text := 't_' || t.id;
	desc_ bool;
	first_ bool;
	r record;
	kinds text[] := '{index,only,bitmap}';
BEGIN
	compared := 0;
	problems := '';
	PERFORM fill(t);
	FOR desc_, first_ IN VALUES (false, false), (false, true),
								(true, true), (true, false) LOOP
		EXECUTE format('CREATE TEMP TABLE half AS SELECT * FROM %s '
					   'WHERE i %% 2 = 0', tab);
		EXECUTE format('DELETE FROM %s WHERE i %% 2 = 0', tab);
		EXECUTE format('DROP INDEX IF EXISTS %s_k', tab);
		EXECUTE format('CREATE INDEX %s_k ON %s USING fptree (k %s NULLS %s) '
					   'WITH (fillfactor = 10)', tab, tab,
					   CASE WHEN desc_ THEN 'DESC' ELSE 'ASC' END,
					   CASE WHEN first_ THEN 'FIRST' ELSE 'LAST' END);
		EXECUTE format('INSERT INTO %s SELECT * FROM half', tab);
		DROP TABLE half;
		r := fpt_compare(queries(t) || ordered_queries(t, desc_, first_));
		compared := compared + r.compared;
		IF r.problems <> '' THEN
			problems := problems || format('desc %s first %s: %s', desc_,
										   first_, r.problems);
		END IF;
		PERFORM fptree_index_parent_check((tab || '_k')::regclass,
										  true, true, true);
	END LOOP;
END $$;

SELECT t.typ, r.* FROM type_list t, test_type(t) r ORDER BY t.id;

-- An index-only scan returns the very value stored.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
VACUUM ANALYZE t_7;
EXPLAIN (COSTS OFF) SELECT DISTINCT k::text FROM t_7 WHERE k = 0;
SELECT DISTINCT k::text FROM t_7 WHERE k = 0 ORDER BY 1;
SELECT DISTINCT k::text FROM t_7 WHERE k = '-0' ORDER BY 1;
SELECT k FROM t_7 WHERE k >= 1e300 ORDER BY k;
SELECT k FROM t_7 WHERE k <= -1e300 ORDER BY k DESC;
VACUUM ANALYZE t_6;
SELECT DISTINCT k::text FROM t_6 WHERE k = 0::float4 ORDER BY 1;
SELECT k FROM t_6 WHERE k >= 1e38 ORDER BY k DESC;
-- NaNs of different bits are equal
SELECT count(*) FROM t_7 WHERE k = 'NaN';
INSERT INTO t_7 VALUES (1, 'Infinity'::float8 - 'Infinity'::float8),
					   (2, -('NaN'::float8));
SELECT count(*) FROM t_7 WHERE k = 'NaN';
SELECT count(*) FROM t_7 WHERE k > 'Infinity';
SELECT k FROM t_7 ORDER BY k DESC NULLS LAST LIMIT 4;

SELECT fpt_check_all();

\c -
--
-- Indexes of several columns, of columns without images, with INCLUDE columns:
-- random ones, and random queries on them, compared with sequential scans.
--
CREATE SCHEMA fpt_columns;
SET search_path = fpt_columns, public;
SET client_min_messages = warning;
\if :{?seed}
\else
\set seed 0.2
\endif
\if :{?rounds}
\else
\set rounds 24
\endif
SELECT setseed(:seed) IS NOT NULL AS seeded;

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'glad');
CREATE TYPE pair AS (x int, y text);

-- Columns of many types, some with few values: gen makes one of x, a random
-- number below 1.
CREATE TABLE cols (n int, name text, typ text, gen text, ops text[]);
INSERT INTO cols
SELECT row_number() OVER (), name, typ, gen, string_to_array(coalesce(ops, '< <= = >= >'), ' ')
FROM (VALUES
	('i', 'int', '(x * 9)::int - 4', NULL),
	('j', 'int', '(x * 2000)::int', NULL),
	('s', 'int2', '(x * 5)::int2', NULL),
	('l', 'int8', '((x - 0.5) * 10)::int8 * 4000000000', NULL),
	('f', 'float8', 'round(x * 7) / 2 - 1', NULL),
	('b', 'bool', 'x < 0.5', NULL),
	('u', 'uuid', 'md5((x * 40)::int::text)::uuid', NULL),
	('d', 'date', 'date ''2020-01-01'' + (x * 30)::int', NULL),
	('ts', 'timestamptz', 'timestamptz ''2020-01-01'' + (x * 30)::int * interval ''7 hours''', NULL),
	('tc', 'text COLLATE "C"', 'left(md5((x * 20)::int::text), (x * 12)::int)', NULL),
	('td', 'text', 'left(md5((x * 300)::int::text), 1 + (x * 20)::int)', NULL),
	('ti', 'text COLLATE "en-x-icu"', 'left(initcap(md5((x * 20)::int::text)), (x * 5)::int)', NULL),
	('v', 'varchar(20)', 'repeat(chr(97 + (x * 5)::int), (x * 9)::int)', NULL),
	('bp', 'char(10) COLLATE "C"', 'left(md5((x * 20)::int::text), (x * 12)::int % 10)', NULL),
	('na', 'name', '(''name'' || left(md5((x * 20)::int::text), 3))', NULL),
	('by', 'bytea', 'decode(left(md5((x * 20)::int::text), 2 * (x * 10)::int), ''hex'')', NULL),
	('nu', 'numeric', 'round(((x - 0.5) * 20)::numeric, 1)', NULL),
	('ip', 'inet', '(''10.0.'' || (x * 4)::int || ''.'' || (x * 40)::int % 7 || ''/'' || 8 * (1 + (x * 3)::int))::inet', NULL),
	('iv', 'interval', '(x * 10)::int * interval ''7 days'' + (x * 100)::int % 2 * interval ''1 month''', NULL),
	('tz', 'timetz', '((x * 23)::int || '':00+0'' || (x * 300)::int % 4)::timetz', NULL),
	('vb', 'varbit', '(x * 60)::int::bit(6)::varbit', NULL),
	('en', 'mood', '(enum_range(NULL::mood))[1 + (x * 3)::int]', NULL),
	('ar', 'int[]', 'ARRAY[(x * 3)::int, NULL, (x * 100)::int % 3]', NULL),
	('ra', 'int4range', 'int4range((x * 4)::int, 5 + (x * 100)::int % 3)', NULL),
	('js', 'jsonb', 'to_jsonb((x * 12)::int)', NULL),
	('re', 'pair', 'row((x * 4)::int, left(md5((x * 9)::int::text), 1))::pair', NULL),
	('tv', 'tsvector', 'left(md5((x * 9)::int::text), 3)::tsvector', NULL),
	('tp', 'tid', 'format(''(%s,%s)'', (x * 5)::int, 1 + (x * 50)::int % 4)::tid', NULL)
	) AS c(name, typ, gen, ops);

SELECT 'CREATE TABLE t (id int, ' || string_agg(name || ' ' || typ, ', ' ORDER BY n) || ')'
FROM cols \gexec
SELECT 'INSERT INTO t SELECT g, '
	|| string_agg(format('CASE WHEN random() < %s THEN %s END',
						 (ARRAY[1, 0.95, 0.6])[1 + n % 3],
						 regexp_replace(gen, '\mx\M', '(SELECT random() + g * 0)', 'g')), ', ' ORDER BY n)
	|| ' FROM generate_series(1, 3000) g'
FROM cols \gexec
ANALYZE t;

-- the generators, for constants
CREATE FUNCTION constant(col text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r text;
	typ text;
BEGIN
	SELECT split_part(c.typ, ' ', 1) INTO typ FROM cols c WHERE name = col;
	IF random() < 0.8 THEN
		EXECUTE format('SELECT quote_nullable(%I) FROM t WHERE id = %s', col,
					   1 + (random() * 2999)::int) INTO r;
	ELSE
		EXECUTE (SELECT format('SELECT quote_literal(%s)', regexp_replace(gen, '\mx\M', random()::numeric::text, 'g'))
				 FROM cols WHERE name = col) INTO r;
	END IF;
	-- the planner must not see that the qual is never true, or a boolean
	RETURN CASE WHEN r IS NULL OR r = 'NULL' OR typ = 'bool' OR random() < 0.2 THEN
		format('(SELECT %s::%s)', coalesce(r, 'NULL'), typ)
	ELSE r || '::' || typ END;
END $$;

CREATE FUNCTION condition(col text, arrays bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	w float := random();
	op text := (SELECT ops[1 + (random() * 4)::int] FROM cols WHERE name = col);
BEGIN
	RETURN CASE
		WHEN w < 0.3 THEN format('%I = %s', col, constant(col))
		WHEN w < 0.5 THEN format('%I %s %s', col, op, constant(col))
		WHEN w < 0.65 THEN format('%I >= %s AND %I <= %s', col, constant(col), col, constant(col))
		WHEN w < 0.85 AND arrays AND col <> 'ar' THEN
			format('%I = ANY (ARRAY[%s])', col,
				   (SELECT string_agg(constant(col), ', ') FROM generate_series(1, 1 + (random() * 6)::int)))
		WHEN w < 0.9 AND arrays AND col <> 'ar' THEN
			format('%I %s ANY (ARRAY[%s])', col, op, (SELECT string_agg(constant(col), ', ') FROM generate_series(1, 3)))
		WHEN w < 0.95 AND col <> 're' THEN format('%I IS NULL', col)
		WHEN col = 're' THEN format('re = %s', constant(col))
		ELSE format('%I IS NOT NULL', col) END;
END $$;

CREATE FUNCTION random_columns(n int) RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(name) FROM (SELECT name FROM cols ORDER BY random() LIMIT $1) s
$$;

CREATE TABLE log (round int, def text, compared int, problems text);

CREATE PROCEDURE rounds(n int) LANGUAGE plpgsql AS $$
DECLARE
	keys text[];
	incl text[];
	ord text;
	back text;
	def text;
	qs text[];
	conds text;
	r record;
	ordered bool;
BEGIN
	FOR k IN 1 .. n LOOP
		keys := random_columns(1 + (random() * 4)::int);
		incl := CASE WHEN random() < 0.4 THEN random_columns(1 + (random() * 2)::int) END;
		SELECT string_agg(c || CASE WHEN d < 0.5 THEN '' ELSE ' DESC' END
						  || CASE WHEN f < 0.5 THEN ' NULLS FIRST' ELSE ' NULLS LAST' END, ', '),
			   string_agg(c || CASE WHEN d < 0.5 THEN ' DESC' ELSE '' END
						  || CASE WHEN f < 0.5 THEN ' NULLS LAST' ELSE ' NULLS FIRST' END, ', ')
		INTO ord, back
		FROM (SELECT c, random() AS d, random() AS f FROM unnest(keys) c) s;
		def := format('CREATE INDEX ix ON t USING fptree (%s)%s%s', ord,
					  ' INCLUDE (' || array_to_string(incl, ', ') || ')',
					  CASE WHEN random() < 0.5 THEN
						   format(' WITH (fillfactor = %s)', 30 + (random() * 70)::int) END);
		EXECUTE def;
		qs := ARRAY[]::text[];
		FOR m IN 1 .. 14 LOOP
			ordered := random() < 0.4;
			SELECT string_agg(condition(c, NOT ordered), ' AND ') INTO conds
			FROM (SELECT c FROM unnest(keys) c ORDER BY random()
				  LIMIT 1 + (random() * (array_length(keys, 1) - 0.01))::int) s;
			qs := qs || format('SELECT %s FROM t WHERE %s%s', array_to_string(keys || incl, ', '), conds,
							   CASE WHEN ordered THEN ' ORDER BY ' || CASE WHEN random() < 0.5 THEN ord ELSE back END
									|| CASE WHEN incl IS NOT NULL THEN '' ELSE CASE WHEN random() < 0.5 THEN ' LIMIT ' || 1 + (random() * 40)::int ELSE '' END END
							   ELSE '' END);
		END LOOP;
		IF incl IS NOT NULL THEN
			-- rows of equal keys come in any order
			qs := ARRAY(SELECT CASE WHEN q ~ 'ORDER BY' THEN replace(q, ', ' || array_to_string(incl, ', ') || ' FROM', ' FROM') ELSE q END FROM unnest(qs) q);
		END IF;
		BEGIN
			SELECT * INTO r FROM fpt_compare(qs);
			INSERT INTO log VALUES (k, def, r.compared, r.problems);
			PERFORM fptree_index_parent_check('ix', true, true);
		EXCEPTION WHEN OTHERS THEN
			INSERT INTO log VALUES (k, def, 0, sqlerrm);
		END;
		DROP INDEX ix;
	END LOOP;
END $$;
VACUUM t;
CALL rounds(:rounds);
SELECT sum(compared) > 800 AS compared, count(*) FILTER (WHERE problems <> '') AS bad
FROM log;
\pset format unaligned
SELECT def, problems FROM log WHERE problems <> '';
\pset format aligned

-- numbers of 8 bytes in front of others: heads that restore all of them
CREATE TABLE eight AS
SELECT CASE i WHEN 1 THEN -9223372036854775808 WHEN 2 THEN 9223372036854775807
	   ELSE hashint8extended(i, 5) END AS a,
	   to_timestamp(i * 100000.5) AS ts, md5(i::text) AS c, i % 20 AS b
FROM generate_series(1, 1500) i;
INSERT INTO eight SELECT NULL, NULL, 'null', i FROM generate_series(1, 20) i;
CREATE INDEX eight_a ON eight USING fptree (a, b);
CREATE INDEX eight_d ON eight USING fptree (a DESC) INCLUDE (c);
CREATE INDEX eight_ts ON eight USING fptree (ts NULLS FIRST, c, b);
VACUUM ANALYZE eight;
SELECT * FROM fpt_compare(ARRAY[
	'SELECT a, b FROM eight WHERE a < 0',
	'SELECT a, b FROM eight ORDER BY a, b',
	'SELECT a, c FROM eight WHERE a >= 0',
	'SELECT a FROM eight WHERE a > 9223372036854775806',
	'SELECT a FROM eight WHERE a < -9223372036854775807',
	'SELECT ts, c, b FROM eight WHERE ts > ''1970-06-01''',
	'SELECT ts, c FROM eight WHERE ts IS NULL']);

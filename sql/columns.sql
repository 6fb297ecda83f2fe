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

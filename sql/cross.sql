--
-- Comparisons with other types: those that operator classes of other people
-- bring, of which only a function is known; and all of them in the columns of
-- general keys.  Builds of general keys that do not fit into memory.
--
CREATE SCHEMA x;
SET search_path = x, public;

-- An operator class on type t, with operators for arguments of type text.
CREATE PROCEDURE with_text(t text, cmp text) LANGUAGE plpgsql AS $$
DECLARE
	ops text[] := '{<,<=,=,>=,>}';
	n text := translate(t, '" ', '__');
	members text := '';
BEGIN
	EXECUTE format('CREATE FUNCTION %s_text(%s, text) RETURNS int IMMUTABLE
		STRICT LANGUAGE plpgsql AS ''BEGIN RETURN %s($1, $2::%s); END''', n, t, cmp, t);
	EXECUTE format('CREATE OPERATOR FAMILY %s_fam USING fptree', n);
	FOR i IN 1..5 LOOP
		EXECUTE format('CREATE FUNCTION %1$s_text%2$s(%3$s, text) RETURNS bool IMMUTABLE
			STRICT LANGUAGE plpgsql AS ''BEGIN RETURN %1$s_text($1, $2) %4$s 0; END''', n, i, t, ops[i]);
		EXECUTE format('CREATE OPERATOR x.%s (LEFTARG = %s, RIGHTARG = text,
			FUNCTION = %s_text%s)', ops[i], t, n, i);
		members := members || format(', OPERATOR %1$s %2$s, OPERATOR %1$s x.%2$s (%3$s, text)',
			i, ops[i], t);
	END LOOP;
	EXECUTE format('CREATE OPERATOR CLASS %1$s_ops FOR TYPE %2$s USING fptree
		FAMILY %1$s_fam AS FUNCTION 1 %3$s(%2$s, %2$s),
		FUNCTION 1 (%2$s, text) %1$s_text(%2$s, text)%4$s',
		n, t, cmp, members);
END $$;

CALL with_text('int2', 'btint2cmp');
CALL with_text('int8', 'btint8cmp');
CALL with_text('bool', 'btboolcmp');
CALL with_text('"char"', 'btcharcmp');
CALL with_text('date', 'date_cmp');
CALL with_text('time', 'time_cmp');
CALL with_text('timestamp', 'timestamp_cmp');
CALL with_text('macaddr', 'macaddr_cmp');
CALL with_text('uuid', 'uuid_cmp');

CREATE TABLE t AS
	SELECT i AS id, (i * 7 % 401 - 200)::int2 AS int2, i * 1000003::int8 % 5000 AS int8,
		i % 2 = 0 AS bool, chr(33 + i % 90)::"char" AS char,
		CASE i % 97 WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity'
			ELSE '2000-01-01'::date + i % 300 END AS date,
		'00:00'::time + i % 240 * interval '6 min' AS time,
		CASE i % 89 WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity'
			ELSE '2000-01-01'::timestamp + i % 1000 * interval '1 h' END AS timestamp,
		('08:00:2b:00:00:' || lpad(to_hex(i % 256), 2, '0'))::macaddr AS macaddr,
		md5((i % 500)::text)::uuid AS uuid,
		(i % 300)::float4 / 8 AS f4, ('n' || i % 200)::name COLLATE "C" AS name, 'n' || i % 150 AS text
	FROM generate_series(1, 500) i;
INSERT INTO t (id) SELECT i FROM generate_series(501, 510) i;

CREATE TABLE args (col text, args text[]);
INSERT INTO args VALUES
	('int2', '{-32768,-200,-1,0,77,200,32767}'),
	('int8', '{-9223372036854775808,0,3,2500,4999,9223372036854775807}'),
	('bool', '{false,true}'),
	('char', '{"",!,A,z}'),
	('date', '{-infinity,4713-01-01 BC,1999-12-31,2000-03-01,2000-10-26,infinity}'),
	('time', '{00:00,00:06,12:00:00.5,24:00}'),
	('timestamp', '{-infinity,2000-01-01,2000-01-20 05:30,2001-01-01,infinity}'),
	('macaddr', '{00:00:00:00:00:00,08:00:2b:00:00:80,ff:ff:ff:ff:ff:ff}'),
	('uuid', '{00000000-0000-0000-0000-000000000000,80000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}');

-- The queries, of a column of such a class and an argument of type text.
CREATE FUNCTION queries(c text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('SELECT id FROM t WHERE %I OPERATOR(x.%s) %L::text', c, op, arg)
	FROM args, unnest(args) arg, unnest('{<,<=,=,>=,>}'::text[]) op WHERE col = c
	UNION ALL
	SELECT format('SELECT id FROM t WHERE %I OPERATOR(x.=) ANY (%L::text[])', c, args)
	FROM args WHERE col = c
$$;

-- Drop all indexes of t, and make others, of one column each.
CREATE PROCEDURE reindex_t(direction text, columns text[])
LANGUAGE plpgsql AS $$
DECLARE
	ix regclass;
	c text;
BEGIN
	FOR ix IN SELECT indexrelid FROM pg_index WHERE indrelid = 't'::regclass LOOP
		EXECUTE format('DROP INDEX %s', ix);
	END LOOP;
	FOREACH c IN ARRAY columns LOOP
		EXECUTE format('CREATE INDEX ON t USING fptree (%I %s_ops %s)', c,
			CASE c WHEN 'char' THEN '_char_' ELSE c END, direction);
	END LOOP;
END $$;

-- image keys, ascending and descending
CALL reindex_t('ASC', '{int2,int8,bool,char,date,time,timestamp,macaddr,uuid}');
SELECT col, (fpt_compare(array(SELECT queries(col)), '{index,bitmap}')).* FROM args ORDER BY 1;
CALL reindex_t('DESC', '{int2,int8,bool,char,date,time,timestamp,macaddr,uuid}');
SELECT col, (fpt_compare(array(SELECT queries(col)), '{index,bitmap}')).* FROM args ORDER BY 1;

-- the same as columns of general keys
CALL reindex_t('', '{}');
CREATE INDEX ON t USING fptree (int2 int2_ops, int8 int8_ops DESC);
CREATE INDEX ON t USING fptree (bool bool_ops, "char" _char__ops, uuid uuid_ops);
CREATE INDEX ON t USING fptree (date date_ops DESC, time time_ops);
CREATE INDEX ON t USING fptree (timestamp timestamp_ops, macaddr macaddr_ops DESC);
SELECT col, (fpt_compare(array(SELECT queries(col)), '{index,bitmap}')).* FROM args ORDER BY 1;

-- Pairs of types that the access method knows
CREATE INDEX ON t USING fptree (f4, name, text COLLATE "C");
CREATE INDEX ON t USING fptree (name DESC, int8);
CREATE INDEX ON t USING fptree (text COLLATE "C", f4);
CREATE INDEX ON t USING fptree (int8, int2, date, timestamp DESC);
SELECT * FROM fpt_compare(array(
	SELECT format('SELECT id FROM t WHERE %s', replace(q, '~', op))
	FROM unnest(ARRAY['f4 ~ 20.1::float8', 'f4 = 3 AND name ~ ''n24''::text',
		'name ~ ''n24''::text', 'name ~ repeat(''n'', 70)',
		'text ~ ''n42''::name', 'text = ''n3'' AND f4 ~ 4::float8',
		'int8 ~ 17::int2', 'int8 ~ 17::int4', 'int8 = 3 AND int2 ~ 100000::int4',
		'int8 = 3 AND int2 ~ -3::int8', 'int8 = 3 AND int2 = 4 AND date ~ ''2000-03-01''::timestamp',
		'int8 < 50 AND timestamp ~ ''2000-01-20''::date',
		'int8 ~ ANY (''{3,4711}''::int2[])', 'name ~ ANY (''{n3,n17,x}''::text[])',
		'text ~ ANY (''{n3,n17,x}''::name[])']) q,
	unnest('{<,<=,=,>=,>}'::text[]) op), '{index,bitmap}');

-- An operator that nobody can turn into an interval is asked of each entry.
CREATE FUNCTION text_int(text, int4) RETURNS int IMMUTABLE STRICT LANGUAGE sql
	AS 'SELECT bttextcmp($1, ''n'' || $2)';
CREATE FUNCTION text_int3(text, int4) RETURNS bool IMMUTABLE STRICT LANGUAGE plpgsql
	AS 'BEGIN RETURN text_int($1, $2) = 0; END';
CREATE OPERATOR x.= (LEFTARG = text, RIGHTARG = int4, FUNCTION = text_int3);
ALTER OPERATOR FAMILY text_ops USING fptree ADD
	FUNCTION 1 (text, int4) text_int(text, int4), OPERATOR 3 x.= (text, int4);
SELECT * FROM fpt_compare(ARRAY[
	'SELECT id FROM t WHERE text COLLATE "C" OPERATOR(x.=) 42',
	'SELECT id FROM t WHERE text COLLATE "C" OPERATOR(x.=) ANY (''{42,7,NULL}''::int[])',
	-- so many are left to the executor
	'SELECT id FROM t WHERE text COLLATE "C" OPERATOR(x.=) ANY (ARRAY(SELECT g * 2 FROM generate_series(1, 65) g))'],
	'{index,bitmap}');
SELECT * FROM fpt_compare(ARRAY[
	'SELECT text COLLATE "C" FROM t WHERE text COLLATE "C" OPERATOR(x.=) ANY (ARRAY(SELECT g * 2 FROM generate_series(1, 65) g))'],
	'{only}');
ALTER OPERATOR FAMILY text_ops USING fptree DROP
	FUNCTION 1 (text, int4), OPERATOR 3 (text, int4);

-- Texts and names in orders of other people: the opposite one, with core's
-- operators; one in which strings are equal that differ; and core's, with
-- operators that mean something else.
CREATE FUNCTION members(n text, l text, r text, cmp text, ops text[], own bool)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text := format('FUNCTION 1 (%1$s, %2$s) %3$s_cmp(%1$s, %2$s)', l, r, n);
BEGIN
	EXECUTE format('CREATE FUNCTION %s_cmp(%s, %s) RETURNS int IMMUTABLE
		STRICT LANGUAGE plpgsql AS ''BEGIN RETURN %s; END''', n, l, r, replace(cmp, '''', ''''''));
	FOR i IN 1..5 LOOP
		IF own THEN
			EXECUTE format('CREATE FUNCTION %1$s%2$s(%3$s, %4$s) RETURNS bool IMMUTABLE
				STRICT LANGUAGE plpgsql AS ''BEGIN RETURN %1$s_cmp($1, $2) %5$s 0; END''',
				n, i, l, r, ('{<,<=,=,>=,>}'::text[])[i]);
			EXECUTE format('CREATE OPERATOR x.%s (LEFTARG = %s, RIGHTARG = %s,
				FUNCTION = %s%s)', ops[i], l, r, n, i);
		END IF;
		result := result || format(', OPERATOR %s %s.%s (%s, %s)', i,
			CASE WHEN own THEN 'x' ELSE 'pg_catalog' END, ops[i], l, r);
	END LOOP;
	RETURN result;
END $$;
CREATE TABLE orders (n text, ops text[]);
INSERT INTO orders VALUES ('reversed', '{>,>=,=,<=,<}'), ('folded', '{~<,~<=,~=,~>=,~>}'),
	('prefixed', '{^<,^<=,^=,^>=,^>}');
DO $$
DECLARE
	t text;
	u text;
	o orders;
	own text;
	other text;
BEGIN
	FOREACH t IN ARRAY '{text,name}'::text[] LOOP
		u := CASE t WHEN 'text' THEN 'name' ELSE 'text' END;
		FOR o IN SELECT * FROM orders LOOP
			own := CASE o.n WHEN 'reversed' THEN '-bt' || t || 'cmp($1, $2)'
				WHEN 'folded' THEN 'bttextcmp(lower($1::text) COLLATE "C", lower($2::text) COLLATE "C")' END;
			other := CASE o.n WHEN 'reversed' THEN '-bt' || t || u || 'cmp($1, $2)'
				WHEN 'folded' THEN own
				ELSE 'bttextcmp($1::text COLLATE "C", ''n'' || $2::text)' END;
			EXECUTE format('CREATE OPERATOR CLASS %s_%s FOR TYPE %s USING fptree AS %s, %s',
				o.n, t, t,
				CASE o.n WHEN 'prefixed' THEN format('FUNCTION 1 bt%scmp(%s, %s),
					OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >', t, t, t)
				ELSE members(o.n, t, t, own, o.ops, o.n = 'folded') END,
				members(o.n, t, u, other, o.ops, o.n <> 'reversed'));
		END LOOP;
	END LOOP;
END $$;
CREATE TABLE s AS
	SELECT i AS id, s AS text, s::name COLLATE "C" AS name
	FROM generate_series(1, 200) i,
		LATERAL (SELECT CASE i % 3 WHEN 0 THEN 'N' ELSE 'n' END ||
			CASE i % 4 WHEN 0 THEN 'n' ELSE '' END || i % 70 AS s) x;
INSERT INTO s (id) VALUES (201), (202);
CREATE FUNCTION compare_order(o text, t text, direction text, OUT compared int, OUT problems text)
LANGUAGE plpgsql AS $$
DECLARE
	u text := CASE t WHEN 'text' THEN 'name' ELSE 'text' END;
	few text := format('''{n1,n2,n3,N3,n4,NULL,N5,n5,n6,nn8,N33,n3,1,5,n9}''::%s[]', u);
	lots text := format('ARRAY(SELECT %s FROM s WHERE id %% 3 = 0)', u);	-- 66
	queries text[];
BEGIN
	EXECUTE format('CREATE INDEX s_order ON s USING fptree (%s COLLATE "C" %s_%s %s, id)', t, o, t, direction);
	SELECT array_agg(format('SELECT id, %s FROM s WHERE ', t) || replace(replace(replace(replace(q,
			'#', t || ' COLLATE "C" ' || CASE o WHEN 'reversed' THEN op ELSE 'OPERATOR(x.' || op || ')' END),
			'FEW', few), 'LOTS', lots), 'TYPE', u))
		INTO queries
		FROM orders, unnest(ops) op, unnest(ARRAY['# ''n42''::TYPE', '# ''N''::TYPE', '# ''4''::TYPE',
			'# ANY (FEW)', '# ANY (LOTS)', '# ANY (LOTS) AND # ANY (FEW)',
			'# ANY (FEW) AND id > 100', '# ANY (FEW) AND # ''n4''::TYPE']) q
		WHERE n = o AND (op = ops[3] OR q !~ 'LOTS');
	SELECT * INTO compared, problems FROM fpt_compare(queries);
	DROP INDEX s_order;
END $$;
SELECT n, t, d, c.* FROM orders, unnest('{text,name}'::text[]) t, unnest('{ASC,DESC NULLS LAST}'::text[]) d,
	compare_order(n, t, d) c ORDER BY n, t, d;

-- One that many values of 16 bytes equal.
CREATE FUNCTION uuid_int(uuid, int4) RETURNS int IMMUTABLE STRICT LANGUAGE sql
	AS $$SELECT btint4cmp(('x' || left($1::text, 1))::bit(4)::int, $2)$$;
CREATE FUNCTION uuid_int3(uuid, int4) RETURNS bool IMMUTABLE STRICT LANGUAGE plpgsql
	AS 'BEGIN RETURN uuid_int($1, $2) = 0; END';
CREATE OPERATOR x.= (LEFTARG = uuid, RIGHTARG = int4, FUNCTION = uuid_int3);
ALTER OPERATOR FAMILY uuid_fam USING fptree ADD
	FUNCTION 1 (uuid, int4) uuid_int(uuid, int4), OPERATOR 3 x.= (uuid, int4);
CREATE INDEX ON t USING fptree (uuid uuid_ops);
SELECT * FROM fpt_compare(ARRAY[
	'SELECT uuid FROM t WHERE uuid OPERATOR(x.=) 5',
	'SELECT uuid FROM t WHERE uuid OPERATOR(x.=) ANY (''{9,3,12,99}''::int[])',
	'SELECT uuid FROM t WHERE uuid OPERATOR(x.=) ANY (''{9,3,12,99}''::int[]) AND uuid OPERATOR(x.=) ANY (''{9,4}''::int[])',
	'SELECT uuid FROM t WHERE uuid OPERATOR(x.=) ANY (''{9,3,12}''::int[]) AND uuid = ANY (ARRAY(SELECT uuid FROM t WHERE id % 7 = 0))',
	'SELECT uuid FROM t WHERE uuid = ANY (ARRAY(SELECT uuid FROM t WHERE id % 7 = 0)) AND uuid OPERATOR(x.=) ANY (''{9,3,12}''::int[])']);
ALTER OPERATOR FAMILY uuid_fam USING fptree DROP
	FUNCTION 1 (uuid, int4), OPERATOR 3 (uuid, int4);

-- Runs of general keys on disk, some merged before others
SET maintenance_work_mem = '1MB';
CREATE TABLE spill AS
	SELECT md5((i % 40000)::text) AS k, i % 3 AS b, i AS u
	FROM generate_series(1, 60000) i;
INSERT INTO spill SELECT NULL, i, -i FROM generate_series(1, 2000) i;
CREATE INDEX ON spill USING fptree (k, b DESC);
CREATE UNIQUE INDEX ON spill USING fptree (u) INCLUDE (k);
CREATE UNIQUE INDEX ON spill USING fptree (k, b);
RESET maintenance_work_mem;
SELECT * FROM fpt_compare(ARRAY[
	'SELECT u FROM spill WHERE k > ''f''', 'SELECT u FROM spill WHERE k IS NULL AND b = 5',
	'SELECT u, k FROM spill WHERE u BETWEEN -5 AND 700'], '{index,bitmap}');

SELECT fpt_check_all();
SET client_min_messages = warning;
DROP SCHEMA x CASCADE;

--
-- Operator classes and families: the same members as btree's, and amvalidate().
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fptree;
RESET client_min_messages;

-- The extension's families, and btree's of the same names
CREATE TEMP VIEW families AS
SELECT opfname, f.oid AS ours, b.oid AS theirs
FROM (SELECT f.opfname, f.oid
	  FROM pg_opfamily f
		   JOIN pg_am a ON a.oid = f.opfmethod AND a.amname = 'fptree'
		   JOIN pg_depend d ON d.classid = 'pg_opfamily'::regclass AND
				d.objid = f.oid AND d.deptype = 'e') f
	 FULL JOIN
	 (SELECT b.opfname, b.oid
	  FROM pg_opfamily b
		   JOIN pg_am a ON a.oid = b.opfmethod AND a.amname = 'btree'
	  WHERE b.opfnamespace = 'pg_catalog'::regnamespace) b USING (opfname);

SELECT opfname, ours IS NOT NULL AS ours, theirs IS NOT NULL AS in_btree
FROM families ORDER BY opfname COLLATE "C";

-- Classes: type, name, default
CREATE TEMP VIEW classes AS
SELECT f.opfname, c.opcfamily = f.ours AS is_ours, c.opcname,
	   c.opcintype::regtype, c.opcdefault, c.opckeytype::regtype
FROM families f JOIN pg_opclass c ON c.opcfamily IN (f.ours, f.theirs);

-- (a name is not stored as cstring)
SELECT count(*) FROM classes WHERE is_ours;
SELECT opfname, opcname, opcintype, opcdefault, opckeytype
FROM (SELECT opfname, is_ours, opcname, opcintype, opcdefault,
			 CASE WHEN opckeytype <> 'cstring'::regtype THEN opckeytype
			 ELSE 0 END AS opckeytype
	  FROM classes) c
GROUP BY 1, 2, 3, 4, 5
HAVING count(*) FILTER (WHERE is_ours) <> 1 OR
	   count(*) FILTER (WHERE NOT is_ours) <> 1
ORDER BY 1, 2;

-- Operators
CREATE TEMP VIEW operators AS
SELECT f.opfname, o.amopfamily = f.ours AS is_ours, o.amopstrategy,
	   o.amoppurpose, o.amopopr::regoperator, o.amoplefttype::regtype,
	   o.amoprighttype::regtype, o.amopsortfamily
FROM families f JOIN pg_amop o ON o.amopfamily IN (f.ours, f.theirs);

SELECT count(*), count(*) FILTER (WHERE amoplefttype <> amoprighttype) AS cross_type
FROM operators WHERE is_ours;
SELECT opfname, amopstrategy, amoppurpose, amopopr, amoplefttype,
	   amoprighttype, amopsortfamily
FROM operators GROUP BY 1, 2, 3, 4, 5, 6, 7
HAVING count(*) FILTER (WHERE is_ours) <> 1 OR
	   count(*) FILTER (WHERE NOT is_ours) <> 1
ORDER BY 1, 2;

-- Support functions, without in_range (3) and skip support (6)
CREATE TEMP VIEW functions AS
SELECT f.opfname, p.amprocfamily = f.ours AS is_ours, p.amprocnum,
	   p.amproc::regprocedure, p.amproclefttype::regtype,
	   p.amprocrighttype::regtype
FROM families f JOIN pg_amproc p ON p.amprocfamily IN (f.ours, f.theirs)
WHERE p.amprocnum NOT IN (3, 6);

SELECT amprocnum, count(*) FROM functions WHERE is_ours
GROUP BY 1 ORDER BY 1;
SELECT opfname, amprocnum, amproc, amproclefttype, amprocrighttype
FROM functions GROUP BY 1, 2, 3, 4, 5
HAVING count(*) FILTER (WHERE is_ours) <> 1 OR
	   count(*) FILTER (WHERE NOT is_ours) <> 1
ORDER BY 1, 2;

-- What belongs to an operator class, and what to the family only
SELECT d.classid::regclass, d.refclassid::regclass, d.deptype, count(*)
FROM families f
	 JOIN (SELECT 'pg_amop'::regclass AS cl, oid, amopfamily AS fam
		   FROM pg_amop
		   UNION ALL
		   SELECT 'pg_amproc'::regclass, oid, amprocfamily
		   FROM pg_amproc) m ON m.fam = f.ours
	 JOIN pg_depend d ON d.classid = m.cl AND d.objid = m.oid
WHERE d.refclassid IN ('pg_opclass'::regclass, 'pg_opfamily'::regclass)
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- All of them are valid
SELECT c.opcname, amvalidate(c.oid)
FROM pg_opclass c
	 JOIN families f ON f.ours = c.opcfamily
ORDER BY c.opcname COLLATE "C";

--
-- Operator classes of users
--
CREATE SCHEMA fpt_opclass;
SET search_path = fpt_opclass, public;

CREATE FUNCTION validate(name) RETURNS boolean LANGUAGE sql
RETURN (SELECT amvalidate(c.oid)
		FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
		WHERE a.amname = 'fptree' AND c.opcname = $1);

-- a sound one, of a family of its own
CREATE OPERATOR CLASS good_ops FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 btint4cmp(int4, int4);
SELECT validate('good_ops');

-- operators missing
CREATE OPERATOR CLASS some_ops FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 3 =, OPERATOR 5 >,
	FUNCTION 1 btint4cmp(int4, int4);
SELECT validate('some_ops');

-- no comparison function
CREATE OPERATOR CLASS nocmp_ops FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
SELECT validate('nocmp_ops');

-- nothing
CREATE OPERATOR FAMILY empty_ops USING fptree;
CREATE OPERATOR CLASS empty_ops FOR TYPE int4 USING fptree
	FAMILY empty_ops AS STORAGE int4;
SELECT validate('empty_ops');

-- types without images
CREATE OPERATOR CLASS decimal_ops FOR TYPE numeric USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 numeric_cmp(numeric, numeric);
SELECT validate('decimal_ops');

-- another order of a type that has images
CREATE FUNCTION backwards(int4, int4) RETURNS int4
LANGUAGE sql IMMUTABLE STRICT RETURN btint4cmp($2, $1);
CREATE OPERATOR CLASS backwards_ops FOR TYPE int4 USING fptree AS
	OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <,
	FUNCTION 1 backwards(int4, int4);
SELECT validate('backwards_ops');

-- the comparison function of another type
CREATE OPERATOR CLASS alien_ops FOR TYPE text USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 (text, text) btint4cmp(int4, int4);
SELECT validate('alien_ops');

-- a family of two types that does not compare one with the other
CREATE OPERATOR FAMILY apart_ops USING fptree;
CREATE OPERATOR CLASS apart4_ops FOR TYPE int4 USING fptree
	FAMILY apart_ops AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 btint4cmp(int4, int4);
CREATE OPERATOR CLASS apart8_ops FOR TYPE int8 USING fptree
	FAMILY apart_ops AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 btint8cmp(int8, int8);
SELECT validate('apart4_ops'), validate('apart8_ops');

-- half of a pair, then the whole of it, one way
ALTER OPERATOR FAMILY apart_ops USING fptree ADD
	OPERATOR 1 < (int4, int8), OPERATOR 3 = (int4, int8);
SELECT validate('apart4_ops');
ALTER OPERATOR FAMILY apart_ops USING fptree ADD
	OPERATOR 2 <= (int4, int8), OPERATOR 4 >= (int4, int8),
	OPERATOR 5 > (int4, int8),
	FUNCTION 1 (int4, int8) btint48cmp(int4, int8);
SELECT validate('apart4_ops');

-- both ways
ALTER OPERATOR FAMILY apart_ops USING fptree ADD
	OPERATOR 1 < (int8, int4), OPERATOR 2 <= (int8, int4),
	OPERATOR 3 = (int8, int4), OPERATOR 4 >= (int8, int4),
	OPERATOR 5 > (int8, int4),
	FUNCTION 1 (int8, int4) btint84cmp(int8, int4);
SELECT validate('apart4_ops'), validate('apart8_ops');

-- cross-type members are loose, others are the class's
ALTER OPERATOR FAMILY apart_ops USING fptree DROP OPERATOR 1 (int8, int4);
ALTER OPERATOR FAMILY apart_ops USING fptree DROP OPERATOR 1 (int8, int8);

-- numbers out of range
CREATE OPERATOR CLASS six_ops FOR TYPE int4 USING fptree AS OPERATOR 6 <;
CREATE OPERATOR CLASS zero_ops FOR TYPE int4 USING fptree AS OPERATOR 0 <;
-- no ordering operators, no other type stored
CREATE OPERATOR CLASS near_ops FOR TYPE point USING fptree AS
	OPERATOR 1 <-> (point, point) FOR ORDER BY float_ops;
CREATE OPERATOR CLASS store_ops FOR TYPE int4 USING fptree AS STORAGE int8;

-- the other support functions; in_range takes offsets of other types
CREATE FUNCTION in_range4(int4, int4, int8, bool, bool) RETURNS bool
LANGUAGE sql IMMUTABLE RETURN in_range($1, $2, $3, $4, $5);
CREATE FUNCTION settings(internal) RETURNS void
LANGUAGE internal STRICT AS 'btint4sortsupport';
CREATE OPERATOR CLASS whole_ops FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 btint4cmp(int4, int4), FUNCTION 2 btint4sortsupport(internal),
	FUNCTION 3 (int4, int8) in_range4(int4, int4, int8, bool, bool),
	FUNCTION 4 btequalimage(oid), FUNCTION 5 settings(internal);
SELECT validate('whole_ops');
-- with functions in each other's places
CREATE FUNCTION swap_function(number int, proc regprocedure) RETURNS bool
LANGUAGE plpgsql AS $$
DECLARE
	result bool;
BEGIN
	UPDATE pg_amproc SET amproc = proc
	WHERE amprocfamily = (SELECT opcfamily FROM pg_opclass
						  WHERE opcname = 'whole_ops') AND amprocnum = number;
	result := validate('whole_ops');
	RAISE SQLSTATE 'UNDO1' USING MESSAGE = result;
EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
	RETURN sqlerrm;
END $$;
SELECT swap_function(1, 'btequalimage(oid)'), swap_function(2, 'btequalimage(oid)'),
	swap_function(3, 'btequalimage(oid)'), swap_function(4, 'settings(internal)'),
	swap_function(5, 'btequalimage(oid)');
SELECT validate('whole_ops');

-- a type of the family that has no class: its operators are loose, too
ALTER OPERATOR FAMILY whole_ops USING fptree ADD
	OPERATOR 1 < (int2, int2), FUNCTION 1 (int2, int2) btint2cmp(int2, int2);
SELECT validate('whole_ops');
ALTER OPERATOR FAMILY whole_ops USING fptree DROP
	OPERATOR 1 (int2, int2), FUNCTION 1 (int2, int2);
SELECT validate('whole_ops');

-- damage that DDL prevents
BEGIN;
SET LOCAL allow_system_table_mods = on;
UPDATE pg_amop SET amoppurpose = 'o', amopsortfamily = amopfamily
WHERE amopfamily = (SELECT opcfamily FROM pg_opclass
					WHERE opcname = 'good_ops') AND amopstrategy = 2;
SELECT validate('good_ops');
UPDATE pg_opclass SET opckeytype = 'int8'::regtype WHERE opcname = 'good_ops';
SELECT validate('good_ops');
UPDATE pg_opclass SET opcfamily = 1 WHERE opcname = 'good_ops';
SELECT validate('good_ops');
ROLLBACK;
BEGIN;
SET LOCAL allow_system_table_mods = on;
UPDATE pg_amop SET amopstrategy = 7
WHERE amopfamily = (SELECT opcfamily FROM pg_opclass
					WHERE opcname = 'good_ops') AND amopstrategy = 2;
SELECT validate('good_ops');
ROLLBACK;
BEGIN;
SET LOCAL allow_system_table_mods = on;
UPDATE pg_amop SET amopopr = '+(int4,int4)'::regoperator
WHERE amopfamily = (SELECT opcfamily FROM pg_opclass
					WHERE opcname = 'good_ops') AND amopstrategy = 2;
UPDATE pg_amproc SET amproc = 'btint8cmp(int8,int8)'::regprocedure
WHERE amprocfamily = (SELECT opcfamily FROM pg_opclass
					  WHERE opcname = 'good_ops') AND amprocnum = 1;
SELECT validate('good_ops');
ROLLBACK;
BEGIN;
SET LOCAL allow_system_table_mods = on;
UPDATE pg_amproc SET amprocnum = 9
WHERE amprocfamily = (SELECT opcfamily FROM pg_opclass
					  WHERE opcname = 'good_ops') AND amprocnum = 1;
SELECT validate('good_ops');
ROLLBACK;
SELECT validate('good_ops');

--
-- Dates and times compared across types: which rows match depends on the
-- session's time zone, and where a zone skips time, timestamps are not in the
-- order of the instants they stand for.  Index scans must find what sequential
-- scans find.
--
CREATE TABLE times AS
SELECT t AS ts, t AT TIME ZONE 'UTC' AS tz, t::date AS d
FROM (SELECT day + g * interval '30 min'
	  FROM unnest('{2023-03-26,2023-10-29,2023-03-12,2011-12-30,1900-01-01}'
				  ::timestamp[]) day, generate_series(-50, 60) g
	  WHERE g BETWEEN 0 AND 8 OR g % 12 = 0
	  UNION ALL
	  SELECT unnest('{infinity,-infinity,0044-03-15 BC,4713-01-01 BC,
					  294276-12-31 23:59,2450-07-01}'::timestamp[])) s(t);
INSERT INTO times VALUES (NULL, NULL, NULL), (NULL, NULL, '5874897-12-31');
CREATE INDEX times_ts ON times USING fptree (ts);
CREATE INDEX times_tz ON times USING fptree (tz DESC);
CREATE INDEX times_d ON times USING fptree (d NULLS FIRST);
VACUUM ANALYZE times;

-- arguments: every second of them, and microseconds around some
CREATE TABLE times_args AS
SELECT row_number() OVER () AS id, t.ts + u AS ts, t.tz + u AS tz, t.d
FROM (SELECT *, row_number() OVER (ORDER BY ts) AS n FROM times) t,
	 (VALUES (interval '0'), (interval '1 us'), (interval '-1 us')) x(u)
WHERE (u = '0' AND (t.n % 2 = 0 OR t.ts IS NULL OR NOT isfinite(t.ts))) OR
	  (t.n % 9 = 0 AND isfinite(t.ts));

CREATE FUNCTION times_digest(col text, op text, arg text, how text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r text;
BEGIN
	PERFORM set_config('enable_seqscan', (how = 'seq')::text, true),
			set_config('enable_indexscan', (how = 'index')::text, true),
			set_config('enable_indexonlyscan', (how = 'index')::text, true),
			set_config('enable_bitmapscan', (how = 'bitmap')::text, true);
	EXECUTE format($q$
		SELECT md5(string_agg(a.id || ':' || concat_ws(' ', n, lo, hi), ','
							  ORDER BY a.id))
		FROM times_args a,
			 LATERAL (SELECT count(*), min(k), max(k)
					  FROM (SELECT t.%1$s AS k FROM times t
							WHERE t.%1$s %2$s a.%3$s OFFSET 0) s) s(n, lo, hi)
		$q$, col, op, arg) INTO r;
	RETURN r;
END $$;

CREATE FUNCTION times_compare(zone text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	col text;
	arg text;
	op text;
	expected text;
	n int := 0;
BEGIN
	PERFORM set_config('timezone', zone, true);
	FOREACH col IN ARRAY '{ts,tz,d}'::text[] LOOP
		FOREACH arg IN ARRAY '{ts,tz,d}'::text[] LOOP
			FOREACH op IN ARRAY '{<,<=,=,>=,>}'::text[] LOOP
				n := n + 1;
				expected := times_digest(col, op, arg, 'seq');
				IF expected IS NULL OR
				   expected <> times_digest(col, op, arg, 'index') OR
				   expected <> times_digest(col, op, arg, 'bitmap') THEN
					RETURN NEXT format('%s: %s %s %s', zone, col, op, arg);
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	RETURN NEXT format('%s: %s comparisons', zone, n);
END $$;

SELECT times_compare(z)
FROM unnest('{UTC,Europe/Berlin,America/New_York,Pacific/Apia,
			  Australia/Lord_Howe,Asia/Kolkata}'::text[]) z;

-- the hour that is skipped and the one after it are the same instants
BEGIN;
SET LOCAL timezone = 'Europe/Berlin';
SET LOCAL enable_seqscan = off;
SELECT ts FROM times WHERE ts = '2023-03-26 01:30+00'::timestamptz
ORDER BY ts;
SELECT ts FROM times
WHERE ts = ANY ('{2023-03-26 01:00+00,2023-03-25 12:00+00,2023-03-26 01:30+00}'
				::timestamptz[])
ORDER BY ts DESC;
ROLLBACK;

--
-- A type that fptree has no class for, but is taken for another one's
--
SET client_min_messages = warning;
CREATE TYPE nocase;
CREATE FUNCTION nocasein(cstring) RETURNS nocase
LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION nocaseout(nocase) RETURNS cstring
LANGUAGE internal IMMUTABLE STRICT AS 'textout';
CREATE TYPE nocase (INPUT = nocasein, OUTPUT = nocaseout, LIKE = text,
					COLLATABLE = true);
RESET client_min_messages;
CREATE CAST (nocase AS text) WITHOUT FUNCTION AS IMPLICIT;
CREATE FUNCTION nocase_cmp(nocase, nocase) RETURNS int
LANGUAGE sql IMMUTABLE STRICT
RETURN bttextcmp(lower($1::text), lower($2::text));
-- (functions of SQL would be inlined)
CREATE FUNCTION nocase_lt(nocase, nocase) RETURNS bool
LANGUAGE plpgsql IMMUTABLE STRICT AS
$$ BEGIN RETURN nocase_cmp($1, $2) < 0; END $$;
CREATE FUNCTION nocase_le(nocase, nocase) RETURNS bool
LANGUAGE plpgsql IMMUTABLE STRICT AS
$$ BEGIN RETURN nocase_cmp($1, $2) <= 0; END $$;
CREATE FUNCTION nocase_eq(nocase, nocase) RETURNS bool
LANGUAGE plpgsql IMMUTABLE STRICT AS
$$ BEGIN RETURN nocase_cmp($1, $2) = 0; END $$;
CREATE FUNCTION nocase_ge(nocase, nocase) RETURNS bool
LANGUAGE plpgsql IMMUTABLE STRICT AS
$$ BEGIN RETURN nocase_cmp($1, $2) >= 0; END $$;
CREATE FUNCTION nocase_gt(nocase, nocase) RETURNS bool
LANGUAGE plpgsql IMMUTABLE STRICT AS
$$ BEGIN RETURN nocase_cmp($1, $2) > 0; END $$;
CREATE OPERATOR < (FUNCTION = nocase_lt, LEFTARG = nocase, RIGHTARG = nocase);
CREATE OPERATOR <= (FUNCTION = nocase_le, LEFTARG = nocase,
					RIGHTARG = nocase);
CREATE OPERATOR = (FUNCTION = nocase_eq, LEFTARG = nocase, RIGHTARG = nocase);
CREATE OPERATOR >= (FUNCTION = nocase_ge, LEFTARG = nocase,
					RIGHTARG = nocase);
CREATE OPERATOR > (FUNCTION = nocase_gt, LEFTARG = nocase, RIGHTARG = nocase);
CREATE OPERATOR CLASS "Nocase ops" DEFAULT FOR TYPE nocase USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 nocase_cmp(nocase, nocase);
CREATE DOMAIN mail AS nocase;
CREATE TABLE people (id int, name nocase, mail mail);
INSERT INTO people VALUES (1, 'Ann', 'ann@x'), (2, 'ann', 'ANN@x');
SET search_path = pg_catalog;	-- as in all index builds from 17 on
CREATE UNIQUE INDEX people_name ON fpt_opclass.people USING fptree (name);
CREATE INDEX people_mail ON fpt_opclass.people USING fptree (id, mail);
SET search_path = fpt_opclass, public;
-- not of what was there already, nor of what is meant
REINDEX INDEX people_name;
CREATE INDEX people_text ON people USING fptree ((name::text));
CREATE INDEX people_pattern ON people USING fptree (name text_pattern_ops);
DROP INDEX people_name, people_mail;

-- docs/operator-classes.md, for this one
SELECT format('CREATE OPERATOR CLASS %s.%I DEFAULT FOR TYPE %s USING fptree AS %s, FUNCTION 1 %s',
			  c.opcnamespace::regnamespace, c.opcname, c.opcintype::regtype,
			  (SELECT string_agg(format('OPERATOR %s %s.%s', amopstrategy,
										oprnamespace::regnamespace, oprname), ', ')
			   FROM pg_amop JOIN pg_operator o ON o.oid = amopopr
			   WHERE amopfamily = c.opcfamily AND amoplefttype = c.opcintype
					 AND amoprighttype = c.opcintype),
			  (SELECT amproc::regprocedure FROM pg_amproc
			   WHERE amprocfamily = c.opcfamily AND amprocnum = 1
					 AND amproclefttype = c.opcintype AND amprocrighttype = c.opcintype))
FROM pg_opclass c
WHERE c.opcmethod = (SELECT oid FROM pg_am WHERE amname = 'btree') AND c.opcdefault
	  AND c.opcintype = 'nocase'::regtype
	  AND NOT EXISTS (SELECT FROM pg_opclass f JOIN pg_am a ON a.oid = f.opcmethod
					  WHERE a.amname = 'fptree' AND f.opcdefault
							AND f.opcintype = c.opcintype)
\gexec
SELECT validate('Nocase ops');
CREATE UNIQUE INDEX people_name ON people USING fptree (name);
CREATE INDEX people_mail ON people USING fptree (mail);
SET enable_seqscan = off;
SELECT id FROM people WHERE mail = 'Ann@X' ORDER BY mail, id;
EXPLAIN (COSTS OFF) SELECT id FROM people WHERE mail = 'Ann@X';
RESET enable_seqscan;
-- and it is not the only one
DROP INDEX people_pattern;
CREATE INDEX people_as_text ON people USING fptree (name text_ops);

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA fpt_opclass CASCADE;

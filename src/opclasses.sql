--
-- Writes the part of the extension's script that makes operator families and
-- classes, from those that btree has on the server it is run on:
--
--		psql -XAtq -f src/opclasses.sql
--
-- The regression test "opclass" compares the result, which is committed as a
-- part of fptree--1.0.sql, with the catalogs of the server it runs on.
--
-- Left out are in_range (3) and skip support (6), which the server takes from
-- btree only, and the storage type of name_ops: names are made shorter without
-- its help.
--
\set ON_ERROR_STOP on
BEGIN;
SET LOCAL search_path = pg_catalog;

CREATE FUNCTION pg_temp.type(oid) RETURNS text LANGUAGE sql
RETURN (SELECT 'pg_catalog.' || quote_ident(typname) FROM pg_type
		WHERE oid = $1);

CREATE FUNCTION pg_temp.signature(oid) RETURNS text LANGUAGE sql
RETURN (SELECT 'pg_catalog.' || quote_ident(proname) || '(' ||
			   (SELECT string_agg(pg_temp.type(t), ', ' ORDER BY n)
				FROM unnest(proargtypes) WITH ORDINALITY a(t, n)) || ')'
		FROM pg_proc WHERE oid = $1);

CREATE TEMP TABLE member AS
SELECT amopfamily AS fam, amoplefttype AS l, amoprighttype AS r, 0 AS kind,
	   amopstrategy AS num, amopopr AS obj
FROM pg_amop
UNION ALL
SELECT amprocfamily, amproclefttype, amprocrighttype, 1, amprocnum, amproc
FROM pg_amproc WHERE amprocnum NOT IN (3, 6);

-- The members for a pair of types, as a list.
CREATE FUNCTION pg_temp.members(fam oid, l oid, r oid) RETURNS text LANGUAGE sql
RETURN (
	SELECT string_agg(
		CASE WHEN kind = 0 THEN
			format(E'\tOPERATOR %s pg_catalog.%s (%s, %s)', num,
				   (SELECT oprname FROM pg_operator o WHERE o.oid = obj),
				   pg_temp.type(m.l), pg_temp.type(m.r))
		ELSE
			format(E'\tFUNCTION %s (%s, %s)\n\t\t%s', num,
				   pg_temp.type(m.l), pg_temp.type(m.r),
				   pg_temp.signature(obj))
		END, E',\n' ORDER BY kind, num)
	FROM member m
	WHERE m.fam = $1 AND m.l = $2 AND m.r = $3);

CREATE TEMP VIEW family AS
SELECT f.oid, f.opfname COLLATE "C" AS opfname
FROM pg_opfamily f JOIN pg_am a ON a.oid = f.opfmethod
WHERE a.amname = 'btree' AND f.opfnamespace = 'pg_catalog'::regnamespace;

-- A class is the first of its type and family, or another name for that one.
CREATE TEMP VIEW class AS
SELECT f.opfname, f.oid AS fam, c.opcname COLLATE "C" AS opcname, c.opcintype,
	   c.opcdefault,
	   row_number() OVER (PARTITION BY f.oid, c.opcintype
						  ORDER BY c.opcdefault DESC, c.opcname COLLATE "C") = 1
	   AS isfirst
FROM family f JOIN pg_opclass c ON c.opcfamily = f.oid;

SELECT line FROM (
	SELECT opfname, 1 AS part, NULL::text AS name, NULL::text AS name2,
		   E'\n' || format('CREATE OPERATOR FAMILY %I USING fptree;', opfname)
		   AS line
	FROM family
	UNION ALL
	SELECT opfname, CASE WHEN isfirst THEN 2 ELSE 4 END, opcname, NULL,
		   E'\n' || format(E'CREATE OPERATOR CLASS %I\n\t%sFOR TYPE %s USING fptree FAMILY %I AS\n%s;',
						   opcname, CASE WHEN opcdefault THEN 'DEFAULT ' END,
						   pg_temp.type(opcintype), opfname,
						   CASE WHEN isfirst THEN
							   pg_temp.members(fam, opcintype, opcintype)
						   ELSE E'\tSTORAGE ' || pg_temp.type(opcintype) END)
	FROM class
	UNION ALL
	SELECT f.opfname, 3, pg_temp.type(m.l), pg_temp.type(m.r),
		   E'\n' || format(E'ALTER OPERATOR FAMILY %I USING fptree ADD\n%s;',
						   f.opfname, pg_temp.members(m.fam, m.l, m.r))
	FROM family f
		 JOIN (SELECT DISTINCT fam, l, r FROM member WHERE l <> r) m
		 ON m.fam = f.oid
) s
ORDER BY opfname, part, name COLLATE "C", name2 COLLATE "C";

ROLLBACK;

--
-- Security: who may call the functions, with what, and whose objects the
-- extension's script refers to.
--
CREATE SCHEMA fpt_security;
SET search_path = fpt_security, public;
SET client_min_messages = warning;

CREATE VIEW fpt_functions AS
SELECT p.oid, p.oid::regprocedure AS function, proname, prosecdef, proconfig
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname = 'fptree' AND d.deptype = 'e';

-- What everybody may call: the handlers, which take what SQL cannot give, sizes,
-- counters of scans.  The others are for superusers, and some
-- for the roles that exist for such things.
SELECT function, has_function_privilege('public', oid, 'EXECUTE') AS everybody,
	has_function_privilege('pg_monitor', oid, 'EXECUTE') AS pg_monitor,
	has_function_privilege('pg_stat_scan_tables', oid, 'EXECUTE') AS pg_stat_scan_tables
FROM fpt_functions ORDER BY function::text COLLATE "C";
-- none borrows its owner's rights
SELECT function FROM fpt_functions WHERE prosecdef OR proconfig IS NOT NULL;

-- Numbers of pages: negative ones, beyond the end, and such that are page
-- numbers once their upper half is lost.
CREATE TABLE t (a int, b text);
INSERT INTO t SELECT i, i FROM generate_series(1, 1000) i;
CREATE INDEX t_a ON t USING fptree (a);
CREATE INDEX t_b ON t USING fptree (b COLLATE "C");
CREATE FUNCTION try(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate || ' ' || sqlerrm;
END $$;
SELECT ix, f, n, try(format('SELECT * FROM %s(%L, %s)', f, ix, p))
FROM unnest('{t_a,t_b}'::text[]) ix,
	unnest('{fptree_page_stats,fptree_page_items}'::text[]) f,
	(VALUES (1, '0', 0), (2, '1', 1), (3, '-1', -1), (4, '-2^31', -2147483648),
		(5, '-2^32 + 1', -4294967295), (6, 'least', (-9223372036854775808)::numeric),
		(7, '2^32 - 1', 4294967295), (8, '2^32', 4294967296), (9, '2^32 + 1', 4294967297),
		(10, '2^63 - 1', 9223372036854775807)) v (i, n, p)
ORDER BY ix, f, i;
SELECT f, try(format('SELECT * FROM %s(''t_a'', %s)', f, fpt_end('t_a')))
	= format('22023 page number %s is out of range for index "t_a"', fpt_end('t_a'))
	AS end_of_file
FROM unnest('{fptree_page_stats,fptree_page_items}'::text[]) f;

-- All that is no index of ours, for all functions that take an index.
CREATE TABLE p (a int) PARTITION BY LIST (a);
CREATE INDEX p_a ON p USING fptree (a);
CREATE VIEW v AS SELECT 1;
CREATE MATERIALIZED VIEW m AS SELECT 1;
CREATE SEQUENCE s;
CREATE TYPE c AS (a int);
CREATE INDEX t_btree ON t (a);
CREATE INDEX t_hash ON t USING hash (a);
SELECT c.relkind, proname, string_agg(DISTINCT try(format('SELECT * FROM %s(%L%s)',
		proname, c.oid::regclass, CASE WHEN proname ~ 'page' THEN ', 1' END)), '; ')
FROM pg_class c, fpt_functions
WHERE c.relnamespace = 'fpt_security'::regnamespace AND proname ~ '^fptree' AND
	proname !~ 'prefetch|orphans|handler|set_tablespaces|follow' AND c.relname NOT IN ('t_a', 't_b')
GROUP BY c.relkind, proname ORDER BY c.relkind, proname;
SELECT proname, n, try(format('SELECT * FROM %s(%s%s)',
		proname, n, CASE WHEN proname ~ 'page' THEN ', 1' END))
FROM unnest('{0,1,4294967295}'::oid[]) n, fpt_functions
WHERE proname ~ '^fptree' AND proname !~ 'prefetch|orphans|handler|set_tablespaces|follow' ORDER BY 1, 2;
-- catalogs' indexes and TOAST
SELECT try('SELECT fptree_index_check(''pg_class_oid_index'')'),
	try('SELECT fptree_metap(''pg_catalog.pg_class'')');
DROP VIEW fpt_functions;

-- The script refers to nothing that somebody put into its schema, which he may
-- have been allowed to.
CREATE DATABASE fpt_security TEMPLATE template0;
ALTER DATABASE fpt_security SET lc_messages = 'C';
\set olddb :DBNAME
\c fpt_security
SET client_min_messages = warning;
CREATE SCHEMA trap;
SET search_path = trap;
CREATE FUNCTION gotcha() RETURNS void LANGUAGE plpgsql AS
	$$ BEGIN RAISE EXCEPTION 'caught'; END $$;
-- types, functions and operators that the script names
CREATE FUNCTION trap.btint4cmp(pg_catalog.int4, pg_catalog.int4) RETURNS pg_catalog.int4
	LANGUAGE sql AS 'SELECT trap.gotcha(); SELECT 0';
CREATE FUNCTION trap.lt(pg_catalog.int4, pg_catalog.int4) RETURNS pg_catalog.bool
	LANGUAGE sql AS 'SELECT trap.gotcha(); SELECT true';
CREATE OPERATOR trap.< (FUNCTION = trap.lt, LEFTARG = pg_catalog.int4, RIGHTARG = pg_catalog.int4);
CREATE FUNCTION trap.btequalimage(pg_catalog.oid) RETURNS pg_catalog.bool
	LANGUAGE sql AS 'SELECT trap.gotcha(); SELECT true';
CREATE DOMAIN trap.int4 AS pg_catalog.text;
CREATE DOMAIN trap.regclass AS pg_catalog.text;
CREATE DOMAIN trap.int8 AS pg_catalog.text;
CREATE DOMAIN trap.text AS pg_catalog.int8;
CREATE TYPE trap.internal;
CREATE TYPE trap.index_am_handler;
SET search_path = trap, pg_catalog;
CREATE EXTENSION fptree SCHEMA trap;
SELECT amhandler, pg_get_function_identity_arguments(amhandler::oid) AS arguments,
	pg_get_function_result(amhandler::oid) AS result
FROM pg_am WHERE amname = 'fptree';
SELECT DISTINCT n.nspname AS operators
FROM pg_amop a JOIN pg_am m ON m.oid = a.amopmethod JOIN pg_operator o ON o.oid = a.amopopr
	JOIN pg_namespace n ON n.oid = o.oprnamespace
WHERE amname = 'fptree';
SELECT DISTINCT n.nspname AS functions
FROM pg_amproc a JOIN pg_opfamily f ON f.oid = a.amprocfamily JOIN pg_am m ON m.oid = f.opfmethod
	JOIN pg_proc p ON p.oid = a.amproc JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE amname = 'fptree';
SELECT DISTINCT n.nspname AS types
FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::pg_catalog.regclass AND d.objid = p.oid
	JOIN pg_extension e ON d.refobjid = e.oid,
	unnest(coalesce(p.proallargtypes, p.proargtypes) || p.prorettype) a
	JOIN pg_type t ON t.oid = a JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE e.extname = 'fptree';
-- Where the extension's schema is not searched, its operator classes that are no
-- default are found by their full names only; a dump has these.
SET search_path = pg_catalog, public;
CREATE TABLE public.p (a text);
CREATE INDEX p_default ON public.p USING fptree (a);
CREATE INDEX p_pattern ON public.p USING fptree (a text_pattern_ops);
CREATE INDEX p_pattern ON public.p USING fptree (a trap.text_pattern_ops);
SELECT pg_get_indexdef(i::regclass) FROM unnest('{p_default,p_pattern}'::text[]) i;
DROP TABLE public.p;
SET search_path = trap, pg_catalog;
DROP EXTENSION fptree;
-- nor does it take over a function that is there
CREATE FUNCTION trap.fptree_stat(index pg_catalog.regclass) RETURNS pg_catalog.record
	LANGUAGE sql AS 'SELECT trap.gotcha(), 1';
\set SHOW_CONTEXT never
CREATE EXTENSION fptree SCHEMA trap;
SELECT count(*) FROM pg_extension WHERE extname = 'fptree';
\c :olddb
DROP DATABASE fpt_security;
SET search_path = fpt_security, public;
SELECT fpt_check_all();

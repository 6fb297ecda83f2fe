--
-- All variants of the search kernels give the same answers; widths of nodes.
--
CREATE SCHEMA fpt_guc;
SET search_path = fpt_guc, public;
SET client_min_messages = warning;

LOAD 'fptree';
SHOW fptree.simd;
\set VERBOSITY terse
SET fptree.simd = 'nonesuch';
\set VERBOSITY default
SHOW fptree.simd;

-- A variant the processor lacks is refused; that is no failure here.
CREATE FUNCTION try_simd(variant text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('fptree.simd', variant, false);
EXCEPTION WHEN OTHERS THEN
	PERFORM set_config('fptree.simd', 'auto', false);
END $$;

CREATE FUNCTION run(variant text) RETURNS text
LANGUAGE plpgsql SET fptree.debug_node_lines = '2,3' AS $$
DECLARE
	typ text;
	r record;
	tab text;
	bad text := '';
	digest text := '';
BEGIN
	PERFORM try_simd(variant);
	FOREACH typ IN ARRAY '{int2,int4,int8,uuid}'::text[] LOOP
		tab := 'v_' || typ;
		EXECUTE format('CREATE TABLE %s (a %s)', tab, typ);
		EXECUTE format('CREATE INDEX %s_a ON %s USING fptree (a) '
					   'WITH (fillfactor = 80)', tab, tab);
		EXECUTE format('INSERT INTO %s SELECT %s FROM generate_series(1, 1200) i', tab,
			CASE typ WHEN 'uuid' THEN 'md5(i::text)::uuid'
					 WHEN 'int2' THEN '(i * 7919 % 32768 - 16384)::int2'
					 WHEN 'int8' THEN 'hashint8extended(i, 0) >> (i % 48)'
					 ELSE 'hashint4(i) >> (i % 20)' END);
		EXECUTE format('DELETE FROM %s WHERE hashtext(a::text) %% 3 = 0', tab);
		r := fpt_compare(ARRAY[
			format('SELECT a FROM %s ORDER BY a', tab),
			format('SELECT a FROM %s WHERE a > %s', tab,
				   CASE typ WHEN 'uuid' THEN '''77777777-7777-7777-7777-777777777777'''
							ELSE '777' END),
			format('SELECT x.a FROM %s x JOIN LATERAL (SELECT a FROM %s y '
				   'WHERE y.a = x.a OFFSET 0) z ON true', tab, tab)], '{index}');
		bad := bad || r.problems;
		PERFORM fptree_index_parent_check((tab || '_a')::regclass, true, true, true);
		digest := digest || fpt_digest(format('SELECT a FROM %s ORDER BY a', tab), 'index');
		EXECUTE format('DROP TABLE %s', tab);
	END LOOP;
	RETURN md5(digest) || bad;
END $$;

CREATE FUNCTION runs() RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	v text;
BEGIN
	FOREACH v IN ARRAY '{auto,scalar,sse2,avx2,avx512,neon}'::text[] LOOP
		RETURN NEXT run(v);
	END LOOP;
END $$;
SELECT DISTINCT * FROM runs();

-- A tree written by one variant is read by the others.
CREATE TABLE t (a int8);
SET fptree.debug_node_lines = '1,2';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 80);
RESET fptree.debug_node_lines;
SELECT try_simd('scalar');
INSERT INTO t SELECT hashint8extended(i, 0) FROM generate_series(1, 3000) i;
SELECT try_simd('avx2');
INSERT INTO t SELECT hashint8extended(i, 1) FROM generate_series(1, 3000) i;
SELECT fpt_check_all();
SELECT try_simd('avx512');
INSERT INTO t SELECT hashint8extended(i, 2) FROM generate_series(1, 3000) i;
SELECT fpt_check_all();
SELECT * FROM fpt_compare('{SELECT a FROM t ORDER BY a,
	SELECT a FROM t WHERE a > 77}');
SELECT try_simd('scalar');
SELECT * FROM fpt_compare('{SELECT a FROM t ORDER BY a,
	SELECT a FROM t WHERE a > 77}');
SELECT fpt_check_all();
RESET fptree.simd;

-- Widths of nodes: of the files that are made while they are set, and of those
-- to the end.
CREATE FUNCTION lines(ix regclass) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(DISTINCT s.node_lines || ',' || s.leaf_node_lines, ' ')
	FROM fpt_page_numbers(ix) page, fptree_page_stats(ix::text, page) s
	WHERE s.level = 0
$$;
CREATE TABLE n (a int8, b text);
CREATE INDEX n_a ON n USING fptree (a);
CREATE INDEX n_b ON n USING fptree (b COLLATE "C");
INSERT INTO n SELECT hashint4(i), i FROM generate_series(1, 3000) i;
SELECT lines('n_a') !~ '\y2,3\y' AS usual;
SET fptree.debug_node_lines = ' 2 , 3 ';
SHOW fptree.debug_node_lines;
INSERT INTO n SELECT hashint4(i), i FROM generate_series(3001, 9000) i;
SELECT lines('n_a') !~ '\y2,3\y' AS usual;
REINDEX TABLE n;
SELECT lines('n_a'), lines('n_b');
RESET fptree.debug_node_lines;
INSERT INTO n SELECT -hashint4(i), -i FROM generate_series(1, 3000) i;
SELECT lines('n_a'), lines('n_b');
REINDEX TABLE n;
SELECT lines('n_a') !~ '\y2,3\y' AS usual;
BEGIN;
SET LOCAL fptree.debug_node_lines = '0,1';
TRUNCATE n;
INSERT INTO n SELECT hashint4(i), i FROM generate_series(1, 3000) i;
SELECT lines('n_a') ~ '^(\d+,1 ?)+$' AS narrow;
COMMIT;
SHOW fptree.debug_node_lines;
-- a rewrite; an unlogged index, whose init fork has widths as well
SET fptree.debug_node_lines = '2,3';
ALTER TABLE n SET UNLOGGED;
SELECT lines('n_a');
VACUUM FULL n;
SELECT lines('n_a');
SET fptree.debug_node_lines = '';
CLUSTER n USING n_a;
SELECT lines('n_a') !~ '\y2,3\y' AS usual;

-- What was set before the library is there to look at it
SELECT context, vartype, boot_val, category FROM pg_settings WHERE name = 'fptree.debug_node_lines';
\c -
SET client_min_messages = warning;
SET search_path = fpt_guc, public;
SET fptree.debug_node_lines = '2,3';
REINDEX INDEX n_a;
SELECT lines('n_a');
\c -
SET client_min_messages = warning;
SET search_path = fpt_guc, public;
SET fptree.debug_node_lines = '2,three';
REINDEX INDEX n_a;
SHOW fptree.debug_node_lines;
SELECT lines('n_a') !~ '\y2,3\y' AS usual;
SELECT fpt_check_all();

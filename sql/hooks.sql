--
-- Another extension's hook frees what the planner knows of a table's indexes, and
-- makes all paths anew: it is obeyed, whether its library was loaded before
-- fptree's or after it, and row comparisons are the conditions that they are
-- without it.
--
CREATE SCHEMA fpt_hooks;
CREATE TABLE fpt_hooks.f AS
	SELECT i / 10 AS a, (i * 7919) % 1000 AS b, i % 7 AS c FROM generate_series(1, 20000) i;
CREATE TABLE fpt_hooks.b AS TABLE fpt_hooks.f;
CREATE INDEX f_ab ON fpt_hooks.f USING fptree (a, b);
CREATE INDEX f_ba ON fpt_hooks.f USING fptree (b, a);
CREATE INDEX f_cb ON fpt_hooks.f USING fptree (c, b);
CREATE INDEX b_ab ON fpt_hooks.b (a, b);
CREATE INDEX b_ba ON fpt_hooks.b (b, a);
CREATE INDEX b_cb ON fpt_hooks.b (c, b);
VACUUM ANALYZE fpt_hooks.f, fpt_hooks.b;

-- How a query is answered under a hint: the scan, whether its index has a condition
-- (what row comparisons are beyond that is not the same on all versions), and the
-- rows.  In both "%" is the table, and its indexes are named after it.
CREATE FUNCTION fpt_hooks.hinted(query text, hint text, tab text, OUT scan text, OUT answer text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	cond text = '';
BEGIN
	query := replace(query, '%', 'fpt_hooks.' || tab);
	PERFORM set_config('fptree_hints.scan', split_part(hint, ' ', 1), true),
		set_config('fptree_hints.index', replace(split_part(hint, ' ', 2), '%', tab), true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		scan := coalesce(scan, substring(line FROM '(?:Seq|Tid|Index|Index Only|Bitmap Heap) Scan'));
		scan := scan || coalesce(substring(line FROM ' (?:using|on) .(_\w*)'), '');
		IF line ~ 'Index Cond' THEN
			cond := ' by a condition';
		END IF;
	END LOOP;
	scan := scan || cond;
	EXECUTE 'SELECT md5(string_agg(x::text, '' '' ORDER BY x)) FROM (' || query || ') x' INTO answer;
END $$;

-- All of them, and where the table with btree indexes is not read in the same way.
CREATE FUNCTION fpt_hooks.all_hinted(OUT hint text, OUT query text, OUT scan text, OUT differs text)
	RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	ours record;
	theirs record;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT * FROM % WHERE (a, b) > (1990, 3)',
		'SELECT a FROM % WHERE (a, b) > (1990, 3) ORDER BY a',
		'SELECT * FROM % WHERE (b, a) < (3, 100) AND c = 3',
		'SELECT a, b FROM % WHERE a > 1990 OR (a = 1990 AND b > 3) ORDER BY a, b',
		'SELECT * FROM % WHERE a = 7'] LOOP
		FOREACH hint IN ARRAY '{none, seq, tid, index, index %_ab, index %_ba, index %_none, bitmap, bitmap %_ab, no_index, no_bitmap}'::text[] LOOP
			theirs := fpt_hooks.hinted(query, hint, 'b');
			ours := fpt_hooks.hinted(query, hint, 'f');
			scan := ours.scan;
			differs := CASE WHEN ours.answer <> theirs.answer THEN 'WRONG ANSWER'
				WHEN scan <> theirs.scan THEN theirs.scan END;
			RETURN NEXT;
		END LOOP;
	END LOOP;
END $$;

\getenv builddir PG_ABS_BUILDDIR
\set hints :builddir '/test/module/fptree_hints'
-- theirs first, so that ours calls it
\c -
LOAD :'hints';
LOAD 'fptree';
SET max_parallel_workers_per_gather = 0;
SELECT * FROM fpt_hooks.all_hinted();
-- ours first
\c -
LOAD 'fptree';
LOAD :'hints';
SET max_parallel_workers_per_gather = 0;
SELECT * FROM fpt_hooks.all_hinted();
-- what the query says already is no condition twice, nor a filter
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE FUNCTION fpt_hooks.times(what text, query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
	n int = 0;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		n := n + (SELECT count(*) FROM regexp_matches(line, what, 'g'));
	END LOOP;
	RETURN n;
END $$;
SELECT fpt_hooks.times('a >= 1990', 'SELECT * FROM fpt_hooks.f WHERE a >= 1990 AND (a, b) > (1990, 3)');
SELECT fpt_check_all();

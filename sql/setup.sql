--
-- The extension, and the functions the other test files share.
--
CREATE EXTENSION fptree;

-- A database's first unique index makes a notice (tap/030_preload.pl).  Here it
-- is, so that it does not matter which files are run.
SET client_min_messages = warning;
CREATE TABLE fpt_first (a int);
CREATE UNIQUE INDEX fpt_first_a ON fpt_first USING fptree (a);
RESET client_min_messages;

-- Compiling expressions takes longer than all queries here.
DO $$ BEGIN
	EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
END $$;
SET jit = off;

-- Autovacuum counts rows that change: it has nothing to do here, and so no
-- snapshot of its own, and VACUUM would leave rows that are dead.
DO $$ BEGIN
	EXECUTE format('ALTER DATABASE %I SET track_counts = off', current_database());
END $$;
SET track_counts = off;
-- Most queries are there to try the access method by core's scans; nodes.sql
-- is for the nodes that would take their place.
DO $$ BEGIN
	EXECUTE format('ALTER DATABASE %I SET fptree.enable_count = off', current_database());
	EXECUTE format('ALTER DATABASE %I SET fptree.enable_distinct = off', current_database());
	EXECUTE format('ALTER DATABASE %I SET fptree.enable_indexonlyscan = off', current_database());
END $$;
SET fptree.enable_count = off;
SET fptree.enable_distinct = off;
SET fptree.enable_indexonlyscan = off;

-- Does a query give the same rows by an index as by the table, in order?
CREATE FUNCTION fpt_same(query text) RETURNS bool LANGUAGE plpgsql AS $f$
DECLARE
	a text;
	b text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_sort = off;
	EXECUTE 'SELECT md5(string_agg(q::text, $$,$$)) FROM (' || query || ') q' INTO a;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_sort = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	EXECUTE 'SELECT md5(string_agg(q::text, $$,$$)) FROM (' || query || ') q' INTO b;
	RESET enable_indexscan;
	RESET enable_indexonlyscan;
	RETURN a = b;
END $f$;

-- Check the valid fptree indexes this session can see; each test file ends with
-- this, and leaves its indexes behind for the files that follow.  Those that
-- another file has checked are left out, unless everything is to be checked, as
-- at the end of the last file: half of the time went there.
CREATE TABLE fpt_checked (ix oid PRIMARY KEY, pid int);
CREATE FUNCTION fpt_check_all(everything bool DEFAULT false)
RETURNS SETOF text
LANGUAGE plpgsql SET search_path = public AS $$
DECLARE
	ix regclass;
	n int := 0;
	bad int := 0;
BEGIN
	FOR ix IN
		SELECT i.indexrelid::regclass
		FROM pg_index i
			 JOIN pg_class c ON c.oid = i.indexrelid
			 JOIN pg_am a ON a.oid = c.relam
		WHERE a.amname = 'fptree' AND c.relkind = 'i' AND i.indisvalid
			  AND (c.relpersistence <> 't'
				   OR c.relnamespace = pg_my_temp_schema())
			  AND (everything
				   OR NOT EXISTS (SELECT FROM fpt_checked f
								  WHERE f.ix = i.indexrelid
										AND f.pid <> pg_backend_pid()))
		ORDER BY i.indexrelid
	LOOP
		n := n + 1;
		BEGIN
			PERFORM fptree_index_check(ix, true, true);
			PERFORM fptree_index_parent_check(ix, true, true, true);
		EXCEPTION WHEN OTHERS THEN
			bad := bad + 1;
			RETURN NEXT format('%s: %s', ix, sqlerrm);
		END;
		INSERT INTO fpt_checked VALUES (ix, pg_backend_pid())
			ON CONFLICT DO NOTHING;
	END LOOP;
	RETURN NEXT CASE WHEN n = 0 THEN 'nothing to check'
					 WHEN bad = 0 THEN 'all indexes are sound'
					 ELSE 'INDEXES ARE BROKEN' END;
END $$;

-- Restrict the planner to one kind of scan: seq, index, only, bitmap or any.
CREATE PROCEDURE fpt_use(kind text)
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('enable_seqscan',
					   (kind IN ('seq', 'any'))::text, false),
			set_config('enable_indexscan',
					   (kind IN ('index', 'only', 'any'))::text, false),
			set_config('enable_indexonlyscan',
					   (kind IN ('only', 'any'))::text, false),
			set_config('enable_bitmapscan',
					   (kind IN ('bitmap', 'any'))::text, false),
			set_config('enable_sort',
					   (kind NOT IN ('index', 'only'))::text, false);
END $$;

-- Collations of a library in the first schema: ICU's, if the server has it.
CREATE PROCEDURE fpt_collations()
LANGUAGE plpgsql AS $$
BEGIN
	CREATE COLLATION words (provider = icu, locale = 'en-US');
	CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2',
							deterministic = false);
EXCEPTION WHEN feature_not_supported THEN
	CREATE COLLATION words FROM "C";
	CREATE COLLATION blind FROM "C";
END $$;

-- A digest of a query's rows, in their order if the query has one, under one
-- kind of scan; a query that is not planned that way is reported instead.
CREATE FUNCTION fpt_digest(query text, kind text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	wrapped text;
	line text;
	plan text := '';
	node text;
	result text;
BEGIN
	IF query ~ 'ORDER BY' THEN
		wrapped := 'SELECT count(*) || '' '' || coalesce(md5(string_agg('
			|| 'q::text, '','')), '''') FROM (' || query || ') q';
	ELSE
		wrapped := 'SELECT count(*) || '' '' || '
			|| 'sum(hashtext(q::text)::int8) FROM (' || query || ') q';
	END IF;
	CALL fpt_use(kind);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || wrapped LOOP
		plan := plan || line || E'\n';
	END LOOP;
	node := CASE kind WHEN 'seq' THEN 'Seq Scan'
					  WHEN 'index' THEN 'Index Scan( Backward)? using'
					  WHEN 'only' THEN 'Index Only Scan( Backward)? using'
					  WHEN 'bitmap' THEN 'Bitmap Index Scan'
					  ELSE '' END;
	IF plan !~ node OR (kind IN ('index', 'only') AND plan ~ 'Sort') THEN
		CALL fpt_use('any');
		RETURN format('not planned as %s: %s', kind, plan);
	END IF;
	EXECUTE wrapped INTO result;
	CALL fpt_use('any');
	RETURN coalesce(result, 'nothing');
END $$;

-- How many queries were compared with a sequential scan, and what differed.
CREATE FUNCTION fpt_compare(queries text[],
							kinds text[] DEFAULT '{index,only,bitmap}',
							OUT compared int, OUT problems text)
LANGUAGE plpgsql AS $$
DECLARE
	query text;
	kind text;
	want text;
	got text;
	bad int := 0;
BEGIN
	compared := 0;
	problems := '';
	FOREACH query IN ARRAY queries LOOP
		want := fpt_digest(query, 'seq');
		FOREACH kind IN ARRAY kinds LOOP
			CONTINUE WHEN kind = 'bitmap' AND query ~ 'ORDER BY';
			got := fpt_digest(query, kind);
			compared := compared + 1;
			IF got IS DISTINCT FROM want THEN
				bad := bad + 1;
				IF bad <= 5 THEN
					problems := problems || format(E'\n%s: %s: %s, not %s',
												   kind, query, got, want);
				END IF;
			END IF;
		END LOOP;
	END LOOP;
	IF bad > 0 THEN
		problems := format('%s differ', bad) || problems;
	END IF;
END $$;

-- Lines of a plan without what depends on the server's version.
CREATE FUNCTION fpt_explain(query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		CONTINUE WHEN line ~ '^ *(Replaces|Disabled): ';
		line := regexp_replace(line, ' \(returns .*\)', '');
		line := regexp_replace(line, '\(InitPlan (\w+_)?\d+\)\.col\d+|\$\d+',
							   '$n', 'g');
		RETURN NEXT regexp_replace(line, 'InitPlan (\w+_)?\d+', 'InitPlan');
	END LOOP;
END $$;

-- The plan of a query on the tables of schema base_f, which have fptree indexes,
-- and that with btree indexes of the same names (schema base_b) if it differs.
CREATE FUNCTION fpt_plan(query text, base text DEFAULT 'fpt_plans')
RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	f text[];
	b text[];
	saved text := current_setting('search_path');
BEGIN
	PERFORM set_config('search_path', base || '_f, public', false);
	f := array(SELECT fpt_explain(query));
	PERFORM set_config('search_path', base || '_b, public', false);
	b := array(SELECT fpt_explain(query));
	PERFORM set_config('search_path', saved, false);
	RETURN QUERY SELECT unnest(f);
	IF f IS DISTINCT FROM b THEN
		RETURN NEXT 'but with btree:';
		RETURN QUERY SELECT unnest(b);
	END IF;
END $$;

-- Processes of a parallel statement meet: neither the leader, which is the
-- process of fpt.leader, nor a worker goes on before the other has come here.
-- They tell each other by locks that they keep to the end of the statement; a
-- worker does not end before the leader has seen its one.
CREATE FUNCTION fpt_meet() RETURNS void
LANGUAGE plpgsql PARALLEL SAFE AS $$
DECLARE
	leads bool := pg_backend_pid()::text = current_setting('fpt.leader');
	seen text := CASE WHEN leads THEN '{1,2}' ELSE '{2}' END;
	polls int := 0;
BEGIN
	IF NOT leads THEN
		PERFORM pg_advisory_xact_lock_shared(4711, 1);
	END IF;
	WHILE NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND classid = 4711 AND objid::int = ANY (seen::int[]))
	LOOP
		polls := polls + 1;
		IF polls > 6000 THEN
			RAISE 'nobody came';
		END IF;
		PERFORM pg_sleep(0.01);
	END LOOP;
	IF leads THEN
		PERFORM pg_advisory_xact_lock_shared(4711, 2);
	END IF;
END $$;

-- Settings of ours that EXPLAIN shows, which is not in the same order everywhere.
CREATE FUNCTION fpt_settings(query text) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (SETTINGS, FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT jsonb_object_agg(key, value)
			FROM jsonb_each(plan->0->'Settings')
			WHERE key LIKE 'fptree.%' AND key NOT IN ('fptree.enable_count', 'fptree.enable_distinct',
				'fptree.enable_indexonlyscan'));
END $$;

-- Operator families of other files: from version 18 on, any family that has an
-- operator has its part in merge joins, and these lack those of several types.
CREATE PROCEDURE fpt_drop_families()
LANGUAGE plpgsql AS $$
DECLARE
	f record;
	ix regclass;
BEGIN
	FOR f IN
		SELECT o.oid, opfname, opfnamespace::regnamespace
		FROM pg_opfamily o JOIN pg_am a ON a.oid = opfmethod
		WHERE amname = 'fptree' AND NOT EXISTS (
			SELECT FROM pg_depend WHERE classid = 'pg_opfamily'::regclass
				AND objid = o.oid AND deptype = 'e')
	LOOP
		-- (what an index needs to be opened must not go before it)
		FOR ix IN
			SELECT indexrelid FROM pg_index
			WHERE EXISTS (SELECT FROM pg_opclass c WHERE c.opcfamily = f.oid
						  AND c.oid = ANY (indclass))
		LOOP
			EXECUTE format('DROP INDEX %s CASCADE', ix);
		END LOOP;
		EXECUTE format('DROP OPERATOR FAMILY %s.%I USING fptree CASCADE',
					   f.opfnamespace, f.opfname);
	END LOOP;
END $$;

-- The numbers of an index's pages but the metapage; of a striped one not all
-- numbers need exist.
CREATE FUNCTION fpt_page_numbers(ix regclass) RETURNS SETOF int8
LANGUAGE sql AS $$
	WITH s AS (
		SELECT no, pages, count(*) OVER () AS n FROM fptree_stripes(ix)
	)
	SELECT generate_series(1, CASE WHEN EXISTS (SELECT FROM s) THEN 1
		ELSE pg_relation_size(ix) / current_setting('block_size')::int8 - 1 END)
	UNION ALL
	SELECT b * n + no + 1 FROM s, generate_series(0, pages - 1) b
	ORDER BY 1
$$;
-- The number of an index's pages, fptree or not; the first that is none's.
CREATE FUNCTION fpt_pages(ix regclass) RETURNS int8
LANGUAGE sql AS $$
	SELECT CASE amname WHEN 'fptree' THEN (SELECT count(*) + 1 FROM fpt_page_numbers(ix))
		ELSE pg_relation_size(ix) / current_setting('block_size')::int8 END
	FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.oid = ix
$$;
CREATE FUNCTION fpt_end(ix regclass) RETURNS int8
LANGUAGE sql AS $$
	SELECT max(p) + 1 FROM fpt_page_numbers(ix) p
$$;
-- Servers with other pages than of 8 kB get the same output: a number that has
-- to be in proportion to the size of pages;
CREATE FUNCTION fpt_scale(n int) RETURNS int
LANGUAGE sql IMMUTABLE AS $$
	SELECT n * current_setting('block_size')::int / 8192
$$;
-- a number of pages, which is said to be the usual one if the size is about the
-- same as that of so many pages of 8 kB;
CREATE FUNCTION fpt_about(n int8, usual int8) RETURNS int8
LANGUAGE sql AS $$
	SELECT CASE WHEN fpt_scale(8192) <> 8192 AND
		abs(n * fpt_scale(8192) - usual * 8192) <=
			usual * 8192 / 2 + fpt_scale(8192) THEN usual ELSE n END
$$;
-- the message about a row that is too wide, n of whose bytes are in proportion.
CREATE FUNCTION fpt_too_wide(message text, n int) RETURNS text
LANGUAGE sql AS $$
	SELECT format('%sindex row size %s exceeds fptree maximum %s%s', m[1],
				  m[2]::int - fpt_scale(n) + n,
				  CASE m[3]::int WHEN (fpt_scale(8192) - 264) / 3 - 2
					  THEN 2640 ELSE m[3]::int END, m[4])
	FROM regexp_match(message,
		'(.*)index row size (\d+) exceeds fptree maximum (\d+)(.*)') m
$$;

-- Wait until no other session of the database, such as autovacuum's, has a
-- snapshot of before: what VACUUM may free does not depend on it then.
CREATE PROCEDURE fpt_await_snapshots()
LANGUAGE plpgsql AS $$
DECLARE
	now xid := pg_current_xact_id()::xid;
BEGIN
	FOR i IN 1 .. 600 LOOP
		PERFORM pg_stat_clear_snapshot();
		EXIT WHEN NOT EXISTS (
			SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND age(backend_xmin) >= age(now));
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$;

SELECT fpt_check_all();

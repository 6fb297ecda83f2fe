--
-- Builds by one process and by several: order, pages, errors.
--

--
-- The order of builds where heads are equal: common prefixes, duplicates,
-- NULLs, strings that continue others, in memory and merged from files.
--
CREATE SCHEMA fpt_sorts;
SET search_path = fpt_sorts, public;
SET client_min_messages = warning;

CALL fpt_collations();

CREATE TABLE t AS
SELECT i, md5(i::text) AS hex, hashint4(i) % 10 AS few,
	   -- neither case nor bytes are the order
	   translate(encode(decode(md5(i::text), 'hex'), 'base64'), '=', '') AS mixed,
	   'https://www.example.com/' || md5((i % 700)::text) AS url,
	   repeat('x', i % 60) AS xs,
	   -- zeroes at ends, which are no ends
	   decode(repeat('00', i % 40) || CASE i % 3 WHEN 0 THEN '' ELSE '01' END,
			  'hex') AS zeroes,
	   CASE WHEN i % 7 > 0 THEN 'abcdefgh' || hashint4(i) % 50 END AS nulls,
	   CASE WHEN i % 3 > 0 THEN (i % 100)::numeric / 8 END AS num,
	   repeat(chr(97 + i % 3), 5 + i % 900) AS long
FROM generate_series(1, 12000) i
ORDER BY hashint4(i);

-- The order must be that of sorting by SQL, TIDs last.  fptree_index_check()
-- compares all neighbours, and the entries' number with the table's.
CREATE FUNCTION sorts(cols text, mem text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	same bool;
BEGIN
	PERFORM set_config('maintenance_work_mem', mem, true);
	EXECUTE 'CREATE INDEX s ON t USING fptree (' || cols || ')';
	PERFORM fptree_index_check('s', true);
	SET LOCAL enable_sort = off;
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE format('SELECT array_agg(ctid) = '
				   '(SELECT array_agg(ctid ORDER BY %1$s, ctid) FROM t) '
				   'FROM (SELECT ctid FROM t ORDER BY %1$s) x',
				   regexp_replace(cols, ' \w+_ops', '')) INTO same;
	DROP INDEX s;
	RETURN cols || ': ' || CASE WHEN same THEN 'in order' ELSE 'not in order' END;
END $$;

SELECT mem, sorts(cols, mem)
FROM unnest(ARRAY['64MB', '1MB']) AS mem,
	 unnest(ARRAY[
		'hex', 'hex COLLATE "C" DESC', 'hex COLLATE words',
		'hex COLLATE words DESC', 'mixed', 'mixed COLLATE words',
		'mixed COLLATE words DESC', 'mixed COLLATE blind', 'url COLLATE "C"',
		'url', 'url COLLATE words', 'url COLLATE "C" DESC, few', 'xs COLLATE "C"',
		'xs COLLATE "C" DESC', 'xs COLLATE words, i', 'xs', 'zeroes',
		'zeroes DESC', 'nulls COLLATE words',
		'few, i, nulls', 'few, few, nulls COLLATE "C"',
		'few, few, nulls COLLATE "C" DESC NULLS LAST',
		'few, few, nulls COLLATE words NULLS FIRST, mixed COLLATE words DESC',
		'few DESC, few, nulls COLLATE words DESC, mixed COLLATE words',
		'few, num DESC, xs COLLATE "C"', 'num, zeroes', 'long COLLATE "C"',
		'long COLLATE words DESC', 'long COLLATE blind, few']) AS cols;

-- Numbers, which are sorted by radix: so few that they are sorted by insertion,
-- by way of the stack, and more; many of which differ in few bits, or in none,
-- or of which one bit tells some, so that digits have most of them in one part.
CREATE FUNCTION numbers_sort(kind text, number text, typ text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	n int;
	same bool;
BEGIN
	FOREACH n IN ARRAY ARRAY[2, 24, 25, 300, 512, 513, 1100, 5000, 12000] LOOP
		EXECUTE format('CREATE TABLE w AS SELECT %s AS k FROM t LIMIT %s',
					   number, n);
		CREATE INDEX w_k ON w USING fptree (k);
		PERFORM fptree_index_check('w_k', true);
		SET LOCAL enable_sort = off;
		SET LOCAL enable_seqscan = off;
		SET LOCAL enable_bitmapscan = off;
		SELECT array_agg(ctid) = (SELECT array_agg(ctid ORDER BY k, ctid) FROM w)
		FROM (SELECT ctid FROM w ORDER BY k) x INTO same;
		DROP TABLE w;
		IF NOT same THEN
			RETURN format('%s, %s of %s: not in order', kind, n, typ);
		END IF;
	END LOOP;
	RETURN format('%s, %s: in order', kind, typ);
END $$;

SELECT numbers_sort(kind, format('(%s)::int8', number), 'int8')
FROM (VALUES ('any', 'hashint8extended(i, 1)'),
			 ('near each other', 'hashint8extended(i, 1) & 65535'),
			 ('few', '(hashint8extended(i, 1) & 3) << 40'),
			 ('one', '7'),
			 ('in order', 'row_number() OVER ()'),
			 ('a bit each', '1::int8 << (hashint4(i) & 63)'),
			 ('near, but for some', 'CASE WHEN i % 100 = 0
			  THEN hashint8extended(i, 1) ELSE hashint8extended(i, 2) & 255 END')
	 ) v (kind, number);
SELECT numbers_sort(kind, format('(%s)::uuid', digits), 'uuid')
FROM (VALUES ('any', 'hex'),
			 ('the same above', 'repeat(''5'', 16) || substr(hex, 1, 16)'),
			 ('few, and any below', 'repeat(abs(few)::text, 16) || substr(hex, 1, 16)'),
			 ('few', 'repeat(abs(few)::text, 32)')) v (kind, digits);

-- what is equal though its bytes differ, in a unique index
CREATE TABLE u (a text COLLATE blind, b int);
INSERT INTO u SELECT 'word' || i, i FROM generate_series(1, 300) i;
INSERT INTO u SELECT 'other' || i, i FROM generate_series(1, 300) i;
CREATE UNIQUE INDEX u_a ON u USING fptree (a);
SELECT fptree_index_check('u_a', true, true);

-- a table in the order of its index: each run continues the one before it, also
-- between rows of the same key
CREATE TABLE o AS
SELECT repeat('k', 50) || lpad((i / 7)::text, 6, '0') AS a
FROM generate_series(1, 25000) i;
SET maintenance_work_mem = '1MB';
CREATE INDEX o_a ON o USING fptree (a COLLATE "C");
SELECT fptree_index_parent_check('o_a', true, true);
RESET maintenance_work_mem;
DROP SCHEMA fpt_sorts CASCADE;

\c -
--
-- Builds by several processes: the same pages as by one, errors in any of them.
--
CREATE SCHEMA fpt_pbuild;
SET search_path = fpt_pbuild, public;
SET client_min_messages = warning;

CALL fpt_collations();

CREATE TABLE t (i int, few int, hex text, word text, xs text, num numeric,
				long text, u uuid);
INSERT INTO t
SELECT i, hashint4(i) % 10, md5(i::text),
	   CASE WHEN i % 7 > 0 THEN 'Abcdefgh' || hashint4(i) % 50 END,
	   repeat('x', i % 60), CASE WHEN i % 3 > 0 THEN (i % 100)::numeric / 8 END,
	   repeat(chr(97 + i % 3), 5 + i % 900), md5((i % 3000)::text)::uuid
FROM generate_series(1, 8000) i
ORDER BY hashint4(i);
-- this many workers, whatever there is to be done
ALTER TABLE t SET (parallel_workers = 3);
SET max_parallel_maintenance_workers = 3;

-- All that is in an index: items of all pages but the metapage
CREATE FUNCTION contents(ix regclass) RETURNS text LANGUAGE sql AS $$
	SELECT count(*) || ' ' || coalesce(sum(hashtextextended(page || item::text, 0)), 0)
	FROM fpt_page_numbers(ix) page,
		 fptree_page_items(ix::text, page) item
$$;

CREATE FUNCTION same(def text, mem text, lines text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	serial text;
	parallel text;
BEGIN
	PERFORM set_config('maintenance_work_mem', mem, true);
	PERFORM set_config('fptree.debug_node_lines', lines, true);
	SET LOCAL max_parallel_maintenance_workers = 0;
	EXECUTE 'CREATE INDEX x ON t USING fptree ' || def;
	serial := contents('x');
	DROP INDEX x;
	SET LOCAL max_parallel_maintenance_workers = 3;
	EXECUTE 'CREATE INDEX x ON t USING fptree ' || def;
	parallel := contents('x');
	PERFORM fptree_index_parent_check('x', def !~ 'WHERE', true);
	DROP INDEX x;
	RETURN CASE WHEN serial = parallel THEN 'the same' ELSE serial || ', ' || parallel END;
END $$;

-- the one with a fillfactor has narrow nodes, too
SELECT mem, def, same(def, mem, CASE WHEN def ~ 'fillfactor' THEN '1,1' ELSE '' END)
FROM unnest(ARRAY['64MB', '1MB']) AS mem,
	 unnest(ARRAY['(hex)', '(hex COLLATE "C" DESC)', '(hex COLLATE words)',
		'(word COLLATE blind DESC NULLS LAST)', '(word, i)',
		'(word COLLATE words NULLS FIRST, num DESC, xs)', '(xs)', '(num)',
		'(few, i)', '(few, few, hex)', '(few) INCLUDE (long, word)',
		'(long COLLATE words)', '(long COLLATE "C")',
		'(hex text_pattern_ops, num NULLS FIRST)',
		'(lower(word), (i % 7)) WHERE few > 0', '(hex) WHERE i < 0',
		'(long, hex) WITH (fillfactor = 30)',
		'(i)', '(few DESC)', '(u)', '((i % 7)) WHERE few > 0']) AS def;

-- Who formed the entries?  If both the leader and workers are to, each waits
-- until the other has come.
CREATE FUNCTION whose(x int) RETURNS int
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	IF current_setting('fpt.meet')::bool AND x % 80 = 0 THEN
		PERFORM public.fpt_meet();
	END IF;
	RETURN CASE WHEN pg_backend_pid()::text = current_setting('fpt.leader') THEN 0 ELSE 1 END;
END $$;
CREATE FUNCTION whose_restricted(x int) RETURNS int
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED SET search_path = fpt_pbuild, public
AS 'BEGIN RETURN whose(x); END';
CREATE FUNCTION who(def text, tab text DEFAULT 't', meet bool DEFAULT false) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	ret text;
BEGIN
	PERFORM set_config('fpt.leader', pg_backend_pid()::text, true),
		set_config('fpt.meet', meet::text, true);
	EXECUTE format('CREATE INDEX w ON %s USING fptree (%s)', tab, def);
	SELECT concat_ws(' and ', CASE WHEN bool_or(key LIKE '0%') THEN 'leader' END,
					 CASE WHEN bool_or(key LIKE '1%') THEN 'workers' END) INTO ret
	FROM fpt_page_numbers('w') page,
		 fptree_page_items('w', page)
	WHERE downlink IS NULL;
	DROP INDEX w;
	RETURN ret;
END $$;
SELECT who('whose(i)', meet => true) AS image;
SELECT who('whose(i), hex', meet => true) AS general;
SELECT who('whose(i), hex) WHERE (few > 3', meet => true) AS partial;
-- none: not allowed, no worker to be had, a temporary table, a restricted
-- function, too little memory for so many
SET max_parallel_maintenance_workers = 0;
SELECT who('whose(i), hex');
SET max_parallel_maintenance_workers = 3;
SET max_parallel_workers = 0;
SELECT who('whose(i), hex');
RESET max_parallel_workers;
CREATE TEMP TABLE tt AS SELECT * FROM t WHERE i < 500;
ALTER TABLE tt SET (parallel_workers = 3);
SELECT who('whose(i), hex', 'tt') AS temporary;
SELECT who('whose_restricted(i), hex') AS restricted;
ALTER TABLE t RESET (parallel_workers);
SET min_parallel_table_scan_size = 0;
SET maintenance_work_mem = '64MB';
SELECT who('whose(i), hex', meet => true) AS "32 MB each";
SET maintenance_work_mem = '63MB';
SELECT who('whose(i), hex') AS "less";
RESET maintenance_work_mem;
ALTER TABLE t SET (parallel_workers = 3);

-- Uniqueness.  A duplicate's rows may have been read by two processes.
CREATE FUNCTION dup(def text, tab text DEFAULT 't') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	am text;
	ret text := '';
	detail text;
	sqlerr text;
BEGIN
	FOREACH am IN ARRAY ARRAY['btree', 'fptree'] LOOP
		BEGIN
			EXECUTE format('CREATE UNIQUE INDEX d ON %s USING %s %s', tab, am, def);
			sqlerr := 'none';
			IF am = 'fptree' THEN
				PERFORM fptree_index_parent_check('d', true, true, true);
			END IF;
			DROP INDEX d;
		EXCEPTION WHEN unique_violation THEN
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
			sqlerr := sqlerrm || ': ' || detail;
		END;
		ret := CASE WHEN sqlerr = ret THEN 'both: ' || ret ELSE ret || sqlerr END;
	END LOOP;
	RETURN ret;
END $$;
SELECT def, dup(def) FROM unnest(ARRAY['(hex)', '(hex COLLATE words, i)',
	'(word, i)', '(num, i)', '(i)', '(i) INCLUDE (hex)']) def;
SELECT dup('(num)') ~ '^could not create unique index "d": Key \(num\)=\(.*\) is duplicated.could not create'
	AS "some key";
INSERT INTO t (i, hex, word) VALUES (0, md5('4711'), NULL);
SELECT dup('(hex)');
SELECT dup('(hex COLLATE words, few) WHERE i <> 4711');
SELECT dup('((left(hex, 32)), (1))');
UPDATE t SET i = 7000 WHERE i = 0;
SELECT dup('(i)');
DELETE FROM t WHERE i = 7000 AND few IS NULL;
CREATE TABLE n (a text, b int) WITH (parallel_workers = 2);
INSERT INTO n SELECT NULLIF(i, 17)::text, i FROM generate_series(1, 5000) i;
INSERT INTO n VALUES (NULL, 3);
SELECT dup('(a)', 'n'), dup('(a) NULLS NOT DISTINCT', 'n'),
	   dup('(b, a) NULLS NOT DISTINCT', 'n');
-- rows that were deleted, or replaced, a moment ago do not count
BEGIN;
INSERT INTO t (i, hex) SELECT i, hex FROM t WHERE i % 10 = 1;
DELETE FROM t WHERE i % 10 = 1 AND few IS NULL;
UPDATE t SET long = 'x' WHERE i % 10 = 2;
SELECT dup('(hex)');
SELECT dup('(i)');
CREATE INDEX t_dead ON t USING fptree (hex, i);
SELECT indcheckxmin FROM pg_index WHERE indexrelid = 't_dead'::regclass;
ROLLBACK;

-- A chain of versions that only a worker sees
CREATE TABLE h (i int, hex text) WITH (fillfactor = 50, parallel_workers = 2);
INSERT INTO h SELECT i, md5(i::text) FROM generate_series(1, 6000) i;
CREATE FUNCTION slow(x int) RETURNS int
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	IF pg_backend_pid()::text = current_setting('fpt.leader') AND x % 50 = 0 THEN
		PERFORM pg_sleep(0.2);
	END IF;
	RETURN x;
END $$;
BEGIN;
UPDATE h SET hex = 'new' WHERE i = 5000;
SELECT set_config('fpt.leader', pg_backend_pid()::text, true) IS NOT NULL AS set;
CREATE INDEX h_general ON h USING fptree (slow(i), hex);
CREATE INDEX h_image ON h USING fptree (slow(i));
SELECT indexrelid::regclass, indcheckxmin FROM pg_index
WHERE indrelid = 'h'::regclass ORDER BY 1;
COMMIT;
DROP TABLE h;

-- Errors in the leader, and in workers only
CREATE FUNCTION fails(x int, where_ text) RETURNS int
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	IF pg_backend_pid()::text = current_setting('fpt.leader') THEN
		IF where_ = 'leader' THEN
			RAISE EXCEPTION 'row of the leader';
		END IF;
	ELSIF where_ = 'worker' THEN
		RAISE EXCEPTION 'row of a worker';
	END IF;
	-- the others must not be done before; the error ends this
	PERFORM pg_sleep(60);
	RAISE EXCEPTION 'there was no %', where_;
END $$;
SELECT set_config('fpt.leader', pg_backend_pid()::text, false) IS NOT NULL AS set;
\set VERBOSITY terse
CREATE INDEX e ON t USING fptree (fails(i, 'worker'));
CREATE INDEX e ON t USING fptree (fails(i, 'worker'), hex);
CREATE INDEX e ON t USING fptree (fails(i, 'leader'), hex);
INSERT INTO t (i, long) SELECT 90000 + i, (SELECT string_agg(md5((i * 1000 + j)::text), '')
	FROM generate_series(1, fpt_scale(100)) j) FROM generate_series(1, 5) i;
DO $$ BEGIN
	CREATE INDEX e ON t USING fptree (long);
EXCEPTION WHEN program_limit_exceeded THEN
	RAISE WARNING '%', regexp_replace(fpt_too_wide(sqlerrm, 0), '\d+', 'N');
END $$;
DELETE FROM t WHERE i > 90000;
\set VERBOSITY default

-- Other ways to a build
CREATE INDEX CONCURRENTLY t_cic ON t USING fptree (word, hex) INCLUDE (i);
CREATE UNIQUE INDEX CONCURRENTLY t_ucic ON t USING fptree (hex COLLATE words);
REINDEX INDEX CONCURRENTLY t_cic;
REINDEX TABLE t;
SELECT fptree_index_parent_check(x, true, true, true)
FROM unnest('{t_cic, t_ucic}'::regclass[]) x;
VACUUM FULL t;
CLUSTER t USING t_ucic;
ALTER TABLE t ALTER COLUMN xs TYPE varchar(100), ALTER COLUMN hex TYPE varchar(50);
SELECT fptree_index_parent_check(x, true, true, true)
FROM unnest('{t_cic, t_ucic}'::regclass[]) x;
BEGIN;
TRUNCATE t;
INSERT INTO t (hex) VALUES ('a'), ('b');
COMMIT;
SELECT fptree_index_parent_check(x, true, true, true)
FROM unnest('{t_cic, t_ucic}'::regclass[]) x;

SELECT fpt_check_all();
DROP SCHEMA fpt_pbuild CASCADE;

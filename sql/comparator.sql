--
-- Comparison functions of users run with pages locked.  Here they fail, at one
-- call after the other, or process an invalidation of the index, at each call.
--
CREATE SCHEMA fpt_comparator;
SET search_path = fpt_comparator, public;
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;

CREATE TABLE t (k int, v int);
CREATE TABLE u (k int, v int);

-- cmp.fail: the call that fails, 0 none; cmp.invalidate: on or off
SET cmp.fail = 0;
SET cmp.invalidate = off;
CREATE FUNCTION cmp(a int, b int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	n int := current_setting('cmp.fail');
BEGIN
	IF n > 0 THEN
		PERFORM set_config('cmp.fail', (n - 1)::text, false);
		IF n = 1 THEN
			RAISE EXCEPTION 'comparison failed';
		END IF;
	END IF;
	IF current_setting('cmp.invalidate') = 'on' THEN
		UPDATE pg_class SET reltuples = reltuples
		WHERE oid IN (SELECT indexrelid FROM pg_index
					  WHERE indrelid IN ('fpt_comparator.t'::regclass,
										 'fpt_comparator.u'::regclass));
	END IF;
	RETURN CASE WHEN a < b THEN -1 WHEN a > b THEN 1 ELSE 0 END;
END $$;
CREATE OPERATOR CLASS cmp_ops FOR TYPE int4 USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 cmp(int, int);

SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_k ON t USING fptree (k cmp_ops);
CREATE INDEX t_vk ON t USING fptree (v, k cmp_ops DESC);
CREATE UNIQUE INDEX u_k ON u USING fptree (k cmp_ops) INCLUDE (v);
RESET fptree.debug_node_lines;
INSERT INTO t SELECT i * 7919 % 10007, i % 10 FROM generate_series(1, 250) i;
INSERT INTO u SELECT i * 7919 % 10007, i % 10 FROM generate_series(1, 1000) i;

CREATE FUNCTION check_ours() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ix regclass;
BEGIN
	FOR ix IN SELECT indexrelid FROM pg_index
			  WHERE indrelid IN ('t'::regclass, 'u'::regclass) AND indisvalid
	LOOP
		PERFORM fptree_index_parent_check(ix, true, false, false);
	END LOOP;
	RETURN 'sound';
END $$;

-- A statement that fails at its 1st comparison, and then at a later one each
-- time until it does not.
CREATE FUNCTION shake(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := 1;
	failed int := 0;
BEGIN
	LOOP
		BEGIN
			PERFORM set_config('cmp.fail', n::text, false);
			EXECUTE q;
			PERFORM set_config('cmp.fail', '0', false);
			RETURN CASE WHEN failed > 10 THEN 'many failures' END;
		EXCEPTION WHEN raise_exception THEN
			failed := failed + 1;
		END;
		PERFORM set_config('cmp.fail', '0', false);
		PERFORM check_ours();
		n := n + 1 + n / 3;
	END LOOP;
END $$;
SELECT shake('INSERT INTO t SELECT i * 104729 % 10007, i % 10 FROM generate_series(1, 40) i');
SELECT shake('INSERT INTO u SELECT 20000 + i, i % 10 FROM generate_series(1, 40) i');
SELECT shake('INSERT INTO u SELECT 30000 + i * 7919 % 10007, i % 10 FROM generate_series(1, 40) i');
SELECT shake('UPDATE u SET v = v + 1 WHERE v % 4 = 0');
SELECT shake('CREATE INDEX t_again ON t USING fptree (k cmp_ops, v)');
DROP INDEX t_again;
SELECT check_ours();

-- VACUUM, which removes most leaves, and compares where it must descend
INSERT INTO t SELECT i * 7919 % 10007, i % 10 FROM generate_series(251, 1000) i;
DELETE FROM t WHERE k BETWEEN 1000 AND 9000;
DELETE FROM u WHERE k BETWEEN 1000 AND 9000;
\set VERBOSITY terse
SELECT format('SET cmp.fail = %s', n), format('VACUUM (INDEX_CLEANUP on) %s', rel),
	'SET cmp.fail = 0', 'SELECT check_ours()'
FROM unnest('{1,2}'::int[]) n, unnest('{t,u}'::name[]) rel ORDER BY rel, n \gexec
SET cmp.fail = 0;
VACUUM (INDEX_CLEANUP on) t;
VACUUM (INDEX_CLEANUP on) u;
SELECT empty_pages, deleted_pages > 0 AS deleted FROM fptree_stat('u_k');
SELECT check_ours();

-- Invalidations
SET cmp.invalidate = on;
INSERT INTO t SELECT i * 104729 % 10007, i % 10 FROM generate_series(1, 30) i;
INSERT INTO u SELECT 40000 + i, i % 10 FROM generate_series(1, 30) i;
UPDATE u SET v = v + 1 WHERE k BETWEEN 40000 AND 40015;
CALL fpt_use('index');
SELECT count(*), min(v) FROM t WHERE k BETWEEN 500 AND 9500;
SELECT k, v FROM t WHERE v = 3 AND k > 9500 ORDER BY k DESC LIMIT 3;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k FROM u WHERE k > 40000 ORDER BY k;
FETCH 2 FROM c;
MOVE LAST FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;
CALL fpt_use('any');
DELETE FROM u WHERE k > 40010;
VACUUM (INDEX_CLEANUP on) u;
SET fptree.debug_node_lines = '1,1';
REINDEX INDEX u_k;
RESET fptree.debug_node_lines;
SET cmp.invalidate = off;
SELECT fpt_check_all();

-- other files check all indexes, too, and have other comparisons to make
DROP TABLE t, u;
RESET max_parallel_workers_per_gather;
RESET max_parallel_maintenance_workers;

--
-- Cursors: changes of direction, marks, positions kept while the index changes.
--
CREATE SCHEMA fpt_cursors;
SET search_path = fpt_cursors, public;
SET client_min_messages = warning;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;

CREATE TABLE t (a int, b int);
INSERT INTO t SELECT i, i % 10 FROM generate_series(1, 2000) i;
INSERT INTO t SELECT NULL, i FROM generate_series(1, 5) i;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 10);
RESET fptree.debug_node_lines;
VACUUM ANALYZE t;

-- back and forth inside and at both ends
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a FROM t WHERE a BETWEEN 1000 AND 1005 ORDER BY a;
FETCH BACKWARD 1 FROM c;
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH 3 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH ALL FROM c;
FETCH 1 FROM c;
FETCH BACKWARD ALL FROM c;
FETCH BACKWARD 1 FROM c;
FETCH 1 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
FETCH ABSOLUTE 4 FROM c;
FETCH RELATIVE -2 FROM c;
FETCH RELATIVE 0 FROM c;
FETCH PRIOR FROM c;
FETCH PRIOR FROM c;
CLOSE c;
-- the same of a descending order
DECLARE c SCROLL CURSOR FOR SELECT a FROM t WHERE a > 1995 ORDER BY a DESC;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
FETCH 1 FROM c;
CLOSE c;
-- over NULLs at the end
DECLARE c SCROLL CURSOR FOR SELECT a FROM t ORDER BY a DESC NULLS FIRST;
FETCH 7 FROM c;
FETCH BACKWARD 3 FROM c;
FETCH 4 FROM c;
FETCH LAST FROM c;
CLOSE c;
COMMIT;

-- Walk at random over many pages and compare with where we ought to be.
CREATE FUNCTION walk(q text, seed float8, steps int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	want int[];
	n int;
	pos int := 0;
	step int;
	got int;
	bad text := '';
BEGIN
	PERFORM setseed(seed);
	EXECUTE 'SELECT array_agg(a) FROM (' || q || ') s' INTO want;
	n := array_length(want, 1);
	OPEN c SCROLL FOR EXECUTE q;
	FOR i IN 1 .. steps LOOP
		step := (CASE i % 4 WHEN 0 THEN 3 WHEN 1 THEN 30 ELSE 300 END
				 * (random() - 0.5))::int;
		MOVE RELATIVE step FROM c;
		pos := greatest(0, least(n + 1, pos + step));
		FETCH RELATIVE 0 FROM c INTO got;
		IF got IS DISTINCT FROM want[pos] THEN
			bad := bad || format(' step %s: at %s found %s, not %s;', i, pos,
								 got, want[pos]);
		END IF;
		EXIT WHEN length(bad) > 200;
	END LOOP;
	CLOSE c;
	RETURN CASE WHEN bad = '' THEN 'as expected' ELSE bad END;
END $$;

SELECT walk('SELECT a FROM t WHERE a IS NOT NULL ORDER BY a', 0.1, 500);
SELECT walk('SELECT a FROM t WHERE a IS NOT NULL ORDER BY a DESC', 0.2, 500);
SELECT walk('SELECT a FROM t WHERE a > 300 AND a < 1700 ORDER BY a', 0.3, 500);
SET enable_indexonlyscan = off;
SELECT walk('SELECT a FROM t WHERE a > 300 AND a < 1700 ORDER BY a', 0.4, 500);
SELECT walk('SELECT a FROM t WHERE a > 300 AND a < 1700 ORDER BY a DESC', 0.5, 500);
RESET enable_indexonlyscan;
-- = ANY, in order of the index
SELECT walk('SELECT a FROM t WHERE a = ANY (ARRAY(SELECT generate_series(0, 2100, 7)))', 0.6, 500);

-- Turning back at any place, also while heap pages were read ahead and the
-- next leaf is known already, and out of the batch on the other side.
CREATE TABLE w (a uuid, b text);
INSERT INTO w SELECT md5(i::text)::uuid, repeat('x', 150) FROM generate_series(1, 2000) i;
SET fptree.debug_node_lines = '1,2';
CREATE INDEX w_a ON w USING fptree (a)
	WITH (fillfactor = 10);
RESET fptree.debug_node_lines;
VACUUM ANALYZE w;
CREATE FUNCTION turn(forth int, back int) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	got uuid;
BEGIN
	OPEN c SCROLL FOR SELECT a FROM w ORDER BY a;
	MOVE FORWARD forth IN c;
	MOVE BACKWARD back IN c;
	FETCH NEXT FROM c INTO got;
	CLOSE c;
	RETURN got;
END $$;
SET effective_io_concurrency = 8;
SET enable_indexonlyscan = off;
WITH r AS MATERIALIZED (SELECT a, row_number() OVER (ORDER BY a) n FROM w)
SELECT count(*), count(*) FILTER (WHERE got = a) AS as_expected
FROM generate_series(1, 600, 7) f, generate_series(10, 37, 9) b, turn(f, b) got
	JOIN r ON true
WHERE n = greatest(f - b, 0) + 1;
RESET enable_indexonlyscan;
RESET effective_io_concurrency;
DROP FUNCTION turn;
DROP TABLE w;

-- A cursor does not see what its transaction inserts behind it, wherever that
-- makes the pages split, nor lose what it deletes.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a FROM t WHERE a BETWEEN 990 AND 1010;
FETCH 10 FROM c;
INSERT INTO t SELECT 1000 FROM generate_series(1, 500);
INSERT INTO t SELECT 995 FROM generate_series(1, 500);
DELETE FROM t WHERE a BETWEEN 1002 AND 1005;
FETCH 6 FROM c;
FETCH BACKWARD 10 FROM c;
UPDATE t SET a = a + 5000 WHERE a < 1000;
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
CLOSE c;
ROLLBACK;
SELECT count(*), sum(a) FROM t WHERE a BETWEEN 990 AND 1010;

-- WHERE CURRENT OF and a holdable cursor
BEGIN;
DECLARE c CURSOR FOR SELECT a FROM t WHERE a > 500 AND a < 600 ORDER BY a FOR UPDATE;
MOVE 5 FROM c;
FETCH 1 FROM c;
UPDATE t SET a = a + 10000 WHERE CURRENT OF c;
FETCH 1 FROM c;
DELETE FROM t WHERE CURRENT OF c;
FETCH 1 FROM c;
DECLARE h SCROLL CURSOR WITH HOLD FOR SELECT a FROM t WHERE a > 9000 ORDER BY a;
COMMIT;
FETCH ALL FROM h;
SELECT a FROM t WHERE a BETWEEN 505 AND 509;
CLOSE h;

-- Back to the first row from anywhere near the end: what the scan's look ahead
-- found out in one direction says nothing about the other.  (MOVE BACKWARD ALL
-- would rewind.)
CREATE TABLE turns (a int, pad text);
INSERT INTO turns SELECT i, repeat('x', 200) FROM generate_series(1, 5000) i;
CREATE INDEX turns_a ON turns USING fptree (a);
VACUUM ANALYZE turns;
CREATE FUNCTION turn(last int, n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	c SCROLL CURSOR FOR SELECT a, pad FROM turns WHERE a <= last ORDER BY a;
	came int;
BEGIN
	OPEN c;
	MOVE FORWARD n FROM c;
	MOVE BACKWARD 1000000 FROM c;
	GET DIAGNOSTICS came = ROW_COUNT;
	CLOSE c;
	RETURN came;
END $$;
SELECT count(*) AS turns, count(*) FILTER (WHERE turn(last, last - back) <> last - back - 1) AS wrong
FROM generate_series(2702, 3198, 4) last, generate_series(1, 17, 4) back;

-- A scan of an index whose order is not trusted counts leaves, as links might lead in
-- a circle: not those that it comes to again since it goes back to a mark, or turns.
CREATE TYPE size AS ENUM ('s', 'm', 'l');
CREATE TABLE sizes (id int, k size, pad text);
INSERT INTO sizes SELECT i, (ARRAY['s', 'm', 'l'])[1 + i % 3]::size, repeat('x', 60) FROM generate_series(1, 3000) i;
CREATE INDEX sizes_k ON sizes USING fptree (k);
VACUUM ANALYZE sizes;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
SET effective_io_concurrency = 16;
EXPLAIN (COSTS OFF) SELECT count(*), count(i.k) FROM sizes o LEFT JOIN sizes i ON i.k = o.k AND o.id % 9 = 1 AND i.id > 5;
SELECT count(*), count(i.k) FROM sizes o LEFT JOIN sizes i ON i.k = o.k AND o.id % 9 = 1 AND i.id > 5;
DO $$
DECLARE
	c SCROLL CURSOR FOR SELECT k, pad FROM sizes ORDER BY k;
	came int;
BEGIN
	OPEN c;
	MOVE FORWARD 900 FROM c;
	FOR i IN 1 .. 100 LOOP
		MOVE BACKWARD 600 FROM c;
		MOVE FORWARD 600 FROM c;
		GET DIAGNOSTICS came = ROW_COUNT;
		ASSERT came = 600;
	END LOOP;
END $$;
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_material;
RESET effective_io_concurrency;

SELECT fpt_check_all();

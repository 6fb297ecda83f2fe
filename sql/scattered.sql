--
-- Keys that come at random, of narrow and of wide entries: nodes are split, and
-- shifted, then pages.
--
CREATE SCHEMA fpt_scattered;
SET search_path = fpt_scattered, public;
SET max_parallel_maintenance_workers = 0;

-- Rows whose keys are in no order; n repeats, now and then
CREATE FUNCTION rows_from(i int, j int, OUT id int, OUT k int8, OUT u uuid,
						  OUT ts timestamptz, OUT n int, OUT d int)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT i, hashint8extended(i, 1), md5(i::text)::uuid,
		'2026-01-01'::timestamptz + (hashint8(i) & 8388607) * interval '3 s',
		hashint4(i) / 100000, i * 7919 % 1000003
	FROM generate_series(i, j) i
$$;

CREATE TABLE t (id int, k int8, u uuid, ts timestamptz, n int, d int);
INSERT INTO t SELECT * FROM rows_from(1, 30000);
CREATE UNIQUE INDEX t_k ON t USING fptree (k);
CREATE INDEX t_u ON t USING fptree (u DESC);
CREATE INDEX t_ts ON t USING fptree (ts);
CREATE INDEX t_n ON t USING fptree (n);
CREATE INDEX t_d ON t USING fptree (d);
INSERT INTO t SELECT * FROM rows_from(30001, 40000);
VACUUM t;
SELECT fptree_index_parent_check(ix::regclass, true, true)
FROM unnest('{t_k,t_u,t_ts,t_n,t_d}'::text[]) ix;

-- all kinds of scans
SELECT fpt_same('SELECT k, id FROM t ORDER BY k'),
	   fpt_same('SELECT k, id FROM t ORDER BY k DESC'),
	   fpt_same('SELECT u FROM t ORDER BY u'),
	   fpt_same('SELECT ts, id FROM t ORDER BY ts, ctid'),
	   fpt_same('SELECT n, ctid FROM t WHERE n BETWEEN -5000 AND 5000 ORDER BY n, ctid'),
	   fpt_same('SELECT d FROM t ORDER BY d DESC LIMIT 10000');
SELECT count(*) FROM t a, LATERAL (SELECT count(*) FROM t b WHERE b.k = a.k) c
WHERE a.id % 10 = 3 AND c.count <> 1;
SELECT count(*) FROM t a, LATERAL (
	SELECT b.k FROM t b WHERE b.k > a.k ORDER BY b.k LIMIT 1) c
WHERE a.id % 10 = 3 AND c.k <= a.k;
SELECT count(*) FROM t a, LATERAL (
	SELECT count(*) FROM t b WHERE b.n = a.n) c, LATERAL (
	SELECT count(*) FROM t b WHERE b.n >= a.n AND b.n < a.n + 1) e
WHERE a.id % 100 = 3 AND c.count <> e.count;

-- uniqueness
INSERT INTO t SELECT * FROM rows_from(35000, 35000);
INSERT INTO t SELECT * FROM rows_from(1, 40000) ON CONFLICT DO NOTHING;
SELECT count(*) FROM t;

-- a cursor stays where it is while its page gets nodes, and splits
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_sort = off;
DECLARE c CURSOR FOR SELECT id FROM t ORDER BY k;
MOVE 10000 IN c;
INSERT INTO t SELECT * FROM rows_from(40001, 60000);
CREATE TEMP TABLE rest (id int, at serial);
DO $$
DECLARE
	c refcursor := 'c';
	i int;
BEGIN
	LOOP
		FETCH c INTO i;
		EXIT WHEN i IS NULL;
		INSERT INTO rest (id) VALUES (i);
	END LOOP;
END $$;
SELECT count(*), bool_and(rest.id = x.id)
FROM rest JOIN (SELECT id, row_number() OVER (ORDER BY k) - 10000 AS at
				FROM t WHERE id <= 40000) x USING (at);
COMMIT;
SELECT fptree_index_parent_check(ix::regclass, true, true)
FROM unnest('{t_k,t_u,t_ts,t_n,t_d}'::text[]) ix;

-- hints at dead entries, and their removal
DELETE FROM t WHERE id % 3 = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM t WHERE k < 0 OR k >= 0;
SELECT count(k) FROM (SELECT k FROM t ORDER BY k) x;
RESET enable_bitmapscan;
RESET enable_seqscan;
SELECT fpt_same('SELECT k, id FROM t ORDER BY k'), fpt_same('SELECT u FROM t ORDER BY u');
VACUUM t;
SELECT fptree_index_parent_check(ix::regclass, true, true)
FROM unnest('{t_k,t_u,t_ts,t_n,t_d}'::text[]) ix;
SELECT fpt_same('SELECT k, id FROM t ORDER BY k'), fpt_same('SELECT ts, id FROM t ORDER BY ts, ctid');
DELETE FROM t WHERE id % 50 <> 1;
VACUUM t;
SELECT fptree_index_parent_check(ix::regclass, true, true)
FROM unnest('{t_k,t_u,t_ts,t_n,t_d}'::text[]) ix;
SELECT fpt_same('SELECT k, id FROM t ORDER BY k');

-- and where rows ascend
CREATE TABLE a (id int8, ts timestamptz);
INSERT INTO a SELECT i, '2026-01-01'::timestamptz + i * interval '1 s'
FROM generate_series(1, 20000) i;
CREATE INDEX a_id ON a USING fptree (id);
CREATE INDEX a_ts ON a USING fptree (ts);
INSERT INTO a SELECT i, '2026-01-01'::timestamptz + i * interval '1 s'
FROM generate_series(20001, 60000) i;
SELECT fptree_index_parent_check('a_id', true, true),
	   fptree_index_parent_check('a_ts', true, true);

SET client_min_messages = warning;
DROP SCHEMA fpt_scattered CASCADE;

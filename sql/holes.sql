--
-- What core keeps for btree: documented limitations, by version of the server.
--
CREATE SCHEMA fpt_holes;
SET search_path = fpt_holes, public;

CREATE TABLE t (a int, b int);
CREATE UNIQUE INDEX t_a ON t USING fptree (a);
INSERT INTO t VALUES (1, 1);

-- A session that has not used an fptree index yet does not have the library.
\c -
SET search_path = fpt_holes, public;
INSERT INTO t VALUES (1, 2) ON CONFLICT DO NOTHING;
SELECT * FROM t WHERE a = 1;
INSERT INTO t VALUES (1, 2) ON CONFLICT DO NOTHING;
SELECT * FROM t WHERE a = 1;

-- Rows routed to partitions
CREATE TABLE p (a int, b int) PARTITION BY LIST (b);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE UNIQUE INDEX p1_a ON p1 USING fptree (a);
INSERT INTO p VALUES (1, 1);
INSERT INTO p VALUES (1, 1) ON CONFLICT DO NOTHING;
SELECT * FROM p;

-- Constraints
ALTER TABLE t ADD PRIMARY KEY USING INDEX t_a;
ALTER TABLE t ADD UNIQUE USING INDEX t_a;
CREATE TABLE fk (a int REFERENCES t (a));
CREATE UNIQUE INDEX ON p USING fptree (b);

-- Materialized views
CREATE MATERIALIZED VIEW m AS SELECT * FROM t;
CREATE UNIQUE INDEX m_a ON m USING fptree (a);
REFRESH MATERIALIZED VIEW CONCURRENTLY m;

-- Row comparisons are no index conditions, only what they say of a column is
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE TABLE r (a int, b int);
CREATE INDEX r_a ON r USING fptree (a);
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE (a, b) > (1, 2);

SELECT fpt_check_all();

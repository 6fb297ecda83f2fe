-- Rows every workload starts from.  psql variables: rows.
--
-- base: the numbers 1 .. rows, each once, in an order that depends on nothing
-- but the hash function, so that two runs see the same table.
SET work_mem = '1GB';
CREATE TABLE base AS
  SELECT k::int8 AS k
  FROM generate_series(1, :rows) AS k
  ORDER BY hashint8extended(k, 42);
VACUUM (FREEZE, ANALYZE) base;

-- One schema for each side, so that a statement or a pgbench script reads the
-- same for both and search_path selects the table.  "bare" holds tables
-- without the index: their times are subtracted to get the index's share.
CREATE SCHEMA reference;
CREATE SCHEMA candidate;
CREATE SCHEMA bare;

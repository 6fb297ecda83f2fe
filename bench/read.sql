-- Tables of the lookup, range and select workloads.  psql variables: rows,
-- probes, am_reference, am_candidate.
SET maintenance_work_mem = '1GB';
CREATE TABLE reference.accounts AS
  SELECT k, (hashint8extended(k, 5) & 65535)::int4 AS v FROM base;
CREATE TABLE candidate.accounts AS TABLE reference.accounts;
CREATE INDEX accounts_k ON reference.accounts USING :am_reference (k);
CREATE INDEX accounts_k ON candidate.accounts USING :am_candidate (k);
VACUUM (FREEZE, ANALYZE) reference.accounts;
VACUUM (FREEZE, ANALYZE) candidate.accounts;

-- Keys to look up.
CREATE TABLE probe AS
  SELECT 1 + (hashint8extended(i, 6) & 9223372036854775807) % :rows AS k
  FROM generate_series(1, :probes) AS i;

-- First keys of the ranges to count.
CREATE TABLE short_range AS
  SELECT 1 + (hashint8extended(i, 7) & 9223372036854775807) %
    (:rows - 1000) AS lo
  FROM generate_series(1, 5000) AS i;
CREATE TABLE long_range AS
  SELECT 1 + (hashint8extended(i, 8) & 9223372036854775807) %
    greatest(:rows - 1000000, 1) AS lo
  FROM generate_series(1, 5) AS i;
ANALYZE probe;
ANALYZE short_range;
ANALYZE long_range;

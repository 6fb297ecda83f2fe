-- What the workloads of bench/run and bench/cold do, by psql or by pgbench.  A
-- section begins with its name; PgCluster.section() makes a file of it.

--- section setup
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

--- section size
-- Tables of the size workload.  psql variables: rows.
--
-- k4, k8	even numbers, dense, in random order: the ids of a table
-- r8		random numbers of the whole 64-bit domain
-- ts		random instants of one year
-- u		uuids of version 4
-- d4		1,000 distinct values
SET work_mem = '1GB';
CREATE TABLE sized AS
  SELECT (k * 2)::int4 AS k4, k * 2 AS k8, hashint8extended(k, 1) AS r8,
         '2025-01-01 UTC'::timestamptz + interval '1 microsecond' *
           (hashint8extended(k, 2) & 1099511627775) * 28.68 AS ts,
         overlay(overlay(md5(k::text) placing '4' from 13)
                 placing '8' from 17)::uuid AS u,
         (hashint8extended(k, 3) & 1048575)::int4 % 1000 AS d4
  FROM base;

-- As many rows again, between the first ones, in an order of their own.
CREATE TABLE doubling AS
  SELECT (k * 2 - 1)::int4 AS k4, k * 2 - 1 AS k8,
         hashint8extended(k, 11) AS r8,
         '2025-01-01 UTC'::timestamptz + interval '1 microsecond' *
           (hashint8extended(k, 12) & 1099511627775) * 28.68 AS ts,
         overlay(overlay(md5('x' || k::text) placing '4' from 13)
                 placing '8' from 17)::uuid AS u,
         (hashint8extended(k, 13) & 1048575)::int4 % 1000 AS d4
  FROM base ORDER BY hashint8extended(k, 43);

--- section read
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

--- section select
-- Transaction of the select workload, for pgbench.
\set k random(1, :rows)
SELECT v FROM accounts WHERE k = :k;

--- section pginsert
-- Tables of the single-row insert workload.  psql variables: am_reference,
-- am_candidate.
SET maintenance_work_mem = '1GB';
CREATE TABLE reference.events AS SELECT k * 1000 AS k FROM base;
CREATE TABLE candidate.events AS TABLE reference.events;
CREATE INDEX events_k ON reference.events USING :am_reference (k);
CREATE INDEX events_k ON candidate.events USING :am_candidate (k);
VACUUM (FREEZE, ANALYZE) reference.events;
VACUUM (FREEZE, ANALYZE) candidate.events;

--- section insert_row
-- Transaction of the single-row insert workload, for pgbench.
\set k random(1, :rows * 1000)
INSERT INTO events (k) VALUES (:k);

--- section insert
-- Tables of the random insert workload.  psql variables: rounds, am_reference,
-- am_candidate.
--
-- Even keys to begin with, built at the default fillfactor; the odd keys between
-- them come in a random order of their own, an equal share a round.
SET maintenance_work_mem = '1GB';
SET work_mem = '1GB';
CREATE TABLE bare.grown AS SELECT k * 2 AS k FROM base;
CREATE TABLE reference.grown AS TABLE bare.grown;
CREATE TABLE candidate.grown AS TABLE bare.grown;
CREATE INDEX grown_k ON reference.grown USING :am_reference (k);
CREATE INDEX grown_k ON candidate.grown USING :am_candidate (k);

CREATE TABLE odd (k int8, batch int4);
INSERT INTO odd
  SELECT k * 2 - 1, row_number() OVER (ORDER BY hashint8extended(k, 43)) %
    :rounds
  FROM base ORDER BY hashint8extended(k, 43);
SELECT format('CREATE TABLE odd_%s AS SELECT k FROM odd WHERE batch = %s',
              r, r)
  FROM generate_series(0, :rounds - 1) AS r \gexec
DROP TABLE odd;
VACUUM FREEZE bare.grown;
VACUUM FREEZE reference.grown;
VACUUM FREEZE candidate.grown;

--- section ascending
-- Tables of the ascending insert workload.  psql variables: am_reference,
-- am_candidate.
CREATE TABLE bare.logged (k int8);
CREATE TABLE reference.logged (k int8);
CREATE TABLE candidate.logged (k int8);
CREATE INDEX logged_k ON reference.logged USING :am_reference (k);
CREATE INDEX logged_k ON candidate.logged USING :am_candidate (k);

--- section vacuum
-- Tables of the VACUUM workload.  psql variables: am_reference, am_candidate.
--
-- VACUUM treats the heap differently when the table has an index (it visits
-- dirty pages twice), so the bare table has one too: a partial index that no
-- row satisfies.  Only the work on index entries is then the difference.
SET maintenance_work_mem = '1GB';
CREATE TABLE bare.purged AS TABLE base;
CREATE TABLE reference.purged AS TABLE base;
CREATE TABLE candidate.purged AS TABLE base;
CREATE INDEX purged_none ON bare.purged (k) WHERE k < 0;
CREATE INDEX purged_k ON reference.purged USING :am_reference (k);
CREATE INDEX purged_k ON candidate.purged USING :am_candidate (k);
VACUUM (FREEZE, ANALYZE) bare.purged;
VACUUM (FREEZE, ANALYZE) reference.purged;
VACUUM (FREEZE, ANALYZE) candidate.purged;

--- section cold_point
-- Transactions of bench/cold, for pgbench.  Variables: rows, column.
\set lo random(1, :rows)
SELECT length(pad) FROM heap WHERE :column = :lo;

--- section cold_range
-- The same, of 100 rows.
\set lo random(1, :rows - 99)
SELECT sum(length(pad)) FROM heap WHERE :column BETWEEN :lo AND :lo + 99;

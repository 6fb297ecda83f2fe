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

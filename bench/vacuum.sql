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

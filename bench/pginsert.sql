-- Tables of the single-row insert workload.  psql variables: am_reference,
-- am_candidate.
SET maintenance_work_mem = '1GB';
CREATE TABLE reference.events AS SELECT k * 1000 AS k FROM base;
CREATE TABLE candidate.events AS TABLE reference.events;
CREATE INDEX events_k ON reference.events USING :am_reference (k);
CREATE INDEX events_k ON candidate.events USING :am_candidate (k);
VACUUM (FREEZE, ANALYZE) reference.events;
VACUUM (FREEZE, ANALYZE) candidate.events;

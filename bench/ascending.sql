-- Tables of the ascending insert workload.  psql variables: am_reference,
-- am_candidate.
CREATE TABLE bare.logged (k int8);
CREATE TABLE reference.logged (k int8);
CREATE TABLE candidate.logged (k int8);
CREATE INDEX logged_k ON reference.logged USING :am_reference (k);
CREATE INDEX logged_k ON candidate.logged USING :am_candidate (k);

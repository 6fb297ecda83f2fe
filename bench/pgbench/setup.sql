-- Tables of the scripts in this folder.  psql variables: am, the access method of
-- the indexes; scale, 100,000 rows of each table for 1.
--
--     psql -v am=fptree -v scale=10 -f bench/pgbench/setup.sql
--
-- makes the schema bench_fptree.  The same scale makes the same rows in the same
-- places, whatever am is, so that two schemas differ in nothing but the indexes.
--
-- events	in the order of k, the number of an event; kind has 100 values, and n
--			counts all events
-- items	in random order of k; a row takes 200 bytes
--
-- Between two values of k there is room for 15 more.
SELECT 'bench_' || :'am' AS schema, 100000 * :scale::int8 AS rows \gset
CREATE SCHEMA :schema;
SET search_path = :schema, public;
SET work_mem = '256MB';
SET maintenance_work_mem = '512MB';

CREATE TABLE events AS
  SELECT i * 16 AS k, (hashint8extended(i, 1) & 1023)::int4 % 100 AS kind,
         i AS n, (hashint8extended(i, 2) & 65535)::int4 AS v, repeat('x', 60) AS pad
  FROM generate_series(1, :rows) AS i;
CREATE TABLE items AS
  SELECT i * 16 AS k, timestamptz '2025-01-01 UTC' + interval '1 second' *
           (hashint8extended(i, 3) & 16777215) AS at,
         (hashint8extended(i, 4) & 65535)::int4 AS v, repeat('x', 150) AS pad
  FROM generate_series(1, :rows) AS i
  ORDER BY hashint8extended(i, 5);

CREATE INDEX events_k ON events USING :am (k);
CREATE INDEX events_kind_n ON events USING :am (kind, n);
CREATE INDEX items_k ON items USING :am (k);
CREATE INDEX items_at ON items USING :am (at);
VACUUM (FREEZE, ANALYZE) events;
VACUUM (FREEZE, ANALYZE) items;

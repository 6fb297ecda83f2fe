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

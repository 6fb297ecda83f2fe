-- a range of 100 keys, and a row that comes between the others
-- settings: enable_seqscan=off enable_bitmapscan=off plan_cache_mode=force_generic_plan
-- plan: Index Scan, items_k
\set lo 16 * random(1, 100000 * :scale - 99)
\set k random(1, 1600000 * :scale)
\set s random(0, 16777215)
\set v random(0, 65535)
BEGIN;
SELECT count(*) > 99, min(length(pad)) FROM items WHERE k BETWEEN :lo AND :lo + 1584;
INSERT INTO items VALUES (:k, timestamptz '2025-01-01 UTC' + interval '1 second' * :s, :v, repeat('x', 150));
END;

-- a range of 100 keys, and a row whose update changes an indexed column
-- settings: enable_seqscan=off enable_bitmapscan=off plan_cache_mode=force_generic_plan
-- plan: Index Scan, items_k
\set lo 16 * random(1, 100000 * :scale - 99)
\set k 16 * random(1, 100000 * :scale)
\set v random(0, 65535)
BEGIN;
SELECT count(*) > 99, min(length(pad)) FROM items WHERE k BETWEEN :lo AND :lo + 1584;
UPDATE items SET at = at + interval '1 hour', v = v + :v WHERE k = :k;
END;

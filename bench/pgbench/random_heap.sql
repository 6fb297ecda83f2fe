-- 100 rows that follow each other in the index and lie anywhere in the table
-- settings: enable_seqscan=off enable_bitmapscan=off plan_cache_mode=force_generic_plan
-- plan: Index Scan, items_k
\set lo 16 * random(1, 100000 * :scale - 99)
SELECT count(*), sum(v + length(pad)) FROM items WHERE k BETWEEN :lo AND :lo + 1584;

-- 1,000 keys that follow each other, from the index alone
-- settings: enable_seqscan=off enable_bitmapscan=off plan_cache_mode=force_generic_plan
-- plan: Index Only Scan|Fptree Count, items_k
\set lo 16 * random(1, 100000 * :scale - 999)
SELECT count(*), min(k), max(k) FROM items WHERE k BETWEEN :lo AND :lo + 15984;

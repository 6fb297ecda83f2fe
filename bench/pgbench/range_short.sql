-- 100 rows that follow each other in the index and in the table
-- settings: enable_seqscan=off enable_bitmapscan=off plan_cache_mode=force_generic_plan
-- plan: Index Scan, events_k
\set lo 16 * random(1, 100000 * :scale - 99)
SELECT count(*), sum(v) FROM events WHERE k BETWEEN :lo AND :lo + 1584;

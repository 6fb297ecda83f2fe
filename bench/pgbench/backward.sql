-- the 100 latest events before one of them, the latest first
-- settings: enable_seqscan=off enable_bitmapscan=off plan_cache_mode=force_generic_plan
-- plan: Index Scan, events_k
\set hi 16 * random(100, 100000 * :scale)
SELECT k, v FROM events WHERE k <= :hi ORDER BY k DESC LIMIT 100;

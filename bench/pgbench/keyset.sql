-- events of a kind, page by page: each page begins after the last row before
-- settings: enable_seqscan=off enable_bitmapscan=off plan_cache_mode=force_generic_plan
-- plan: Index Scan, events_kind_n
\set kind random(0, 99)
\set last random(1, 50000 * :scale)
SELECT coalesce(max(n), 0) AS last, sum(v) AS v FROM (SELECT n, v FROM events WHERE kind = :kind AND n > :last ORDER BY n LIMIT 20) AS page \gset
SELECT coalesce(max(n), 0) AS last, sum(v) AS v FROM (SELECT n, v FROM events WHERE kind = :kind AND n > :last ORDER BY n LIMIT 20) AS page \gset
SELECT coalesce(max(n), 0) AS last, sum(v) AS v FROM (SELECT n, v FROM events WHERE kind = :kind AND n > :last ORDER BY n LIMIT 20) AS page \gset
SELECT n, v FROM events WHERE kind = :kind AND n > :last ORDER BY n LIMIT 20;

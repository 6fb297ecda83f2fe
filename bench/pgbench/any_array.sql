-- ten rows by their keys, in one statement
-- settings: enable_seqscan=off enable_bitmapscan=off plan_cache_mode=force_generic_plan
-- plan: Index Scan, items_k
\set a 16 * random(1, 100000 * :scale)
\set b 16 * random(1, 100000 * :scale)
\set c 16 * random(1, 100000 * :scale)
\set d 16 * random(1, 100000 * :scale)
\set e 16 * random(1, 100000 * :scale)
\set f 16 * random(1, 100000 * :scale)
\set g 16 * random(1, 100000 * :scale)
\set h 16 * random(1, 100000 * :scale)
\set i 16 * random(1, 100000 * :scale)
\set j 16 * random(1, 100000 * :scale)
SELECT count(*), sum(v) FROM items WHERE k = ANY (ARRAY[:a, :b, :c, :d, :e, :f, :g, :h, :i, :j]::int8[]);

-- The demo's last table: medians of the rounds, and their ratio.
WITH m AS (
	SELECT item, unit, min(round) AS round,
		   percentile_cont(0.5) WITHIN GROUP (ORDER BY value)
			   FILTER (WHERE am = 'btree') AS btree,
		   percentile_cont(0.5) WITHIN GROUP (ORDER BY value)
			   FILTER (WHERE am = 'fptree') AS fptree
	FROM measured GROUP BY item, unit)
SELECT item, unit,
	   to_char(btree, 'FM99999990.000') AS btree,
	   to_char(fptree, 'FM99999990.000') AS fptree,
	   to_char(fptree / nullif(btree, 0), 'FM990.00') AS "fptree/btree"
FROM m
ORDER BY round <> 0, unit <> 'MB', unit <> 's', item COLLATE "C";

-- The demo's last table: medians of the rounds, and their ratio.
CREATE TABLE result AS
WITH m AS (
	SELECT item, unit, min(round) AS round,
		   percentile_cont(0.5) WITHIN GROUP (ORDER BY value)
			   FILTER (WHERE am = 'btree') AS btree,
		   percentile_cont(0.5) WITHIN GROUP (ORDER BY value)
			   FILTER (WHERE am = 'fptree') AS fptree
	FROM measured GROUP BY item, unit),
scaled AS (
	SELECT *, CASE WHEN unit = 'us' AND btree >= 1000 THEN 1000 ELSE 1 END AS by
	FROM m)
SELECT row_number() OVER (ORDER BY round <> 0, unit <> 'MB', unit <> 's',
						  item LIKE 'cold%', item COLLATE "C") AS no,
	   item, CASE WHEN by = 1000 THEN 'ms' ELSE unit END AS unit,
	   btree / by AS btree, fptree / by AS fptree,
	   fptree / nullif(btree, 0) AS ratio
FROM scaled;

-- A number with the digits that mean something
CREATE FUNCTION three(x float8) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN x >= 100 THEN round(x)::text
				WHEN x >= 10 THEN to_char(x, 'FM990.0')
				ELSE to_char(x, 'FM990.00') END
$$;

SELECT item, unit, three(btree) AS btree, three(fptree) AS fptree,
	   to_char(ratio, 'FM990.00') AS "fptree/btree"
FROM result ORDER BY no;

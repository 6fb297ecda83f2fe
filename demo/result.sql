-- The demo's result: a table of the rounds' medians and their ratio, bars, and a
-- plot in the file :svg.
\pset border 2
\pset footer off
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

\pset format unaligned
\pset tuples_only on
\echo
\echo '== fptree\'s share of what btree takes, which ends at the line'

-- A bar for each line of the result: btree's is 20 characters, and ends at |.
SELECT format('%s %s %s', rpad(item, 49), lpad(to_char(ratio, 'FM990.00'), 5),
			  CASE WHEN n <= 20 THEN rpad(repeat('#', n), 20) || '|'
				   ELSE repeat('#', 20) || '|' || repeat('#', n - 20) END
			  || CASE WHEN ratio > 2 THEN '>' ELSE '' END)
FROM (SELECT *, least(40, greatest(1, round(20 * ratio)))::integer AS n
	  FROM result) AS r
ORDER BY no;

\o :svg
-- The result as a plot (SVG): two bars for each line, btree's of one length.
SELECT format('<svg xmlns="http://www.w3.org/2000/svg" width="820" height="%s" '
			  'font-family="sans-serif" font-size="12">', 80 + 40 * count(*))
FROM result;
SELECT '<rect width="100%" height="100%" fill="white"/>
<text x="20" y="24" font-size="15">fptree beside btree: less is better</text>
<rect x="340" y="34" width="12" height="12" fill="#4269d0"/>
<text x="358" y="44">btree</text>
<rect x="410" y="34" width="12" height="12" fill="#ff725c"/>
<text x="428" y="44">fptree</text>';
SELECT format('<text x="330" y="%s" text-anchor="end">%s</text>
<rect x="340" y="%s" width="200" height="12" fill="#4269d0"/>
<text x="546" y="%s">%s %s</text>
<rect x="340" y="%s" width="%s" height="12" fill="#ff725c"/>
<text x="%s" y="%s">%s %s%s</text>',
			  y + 18, replace(replace(item, '&', '&amp;'), '<', '&lt;'),
			  y, y + 11, three(btree), unit,
			  y + 14, w, 346 + w, y + 25, three(fptree), unit,
			  CASE WHEN ratio > 2 THEN ' (not to scale)' ELSE '' END)
FROM (SELECT *, 20 + 40 * no AS y,
			 least(400, greatest(1, round(200 * ratio)))::integer AS w
	  FROM result) AS r
ORDER BY no;
SELECT '</svg>';

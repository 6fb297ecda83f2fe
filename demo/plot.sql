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

-- A bar for each line of the result: btree's is 20 characters, and ends at |.
SELECT format('%s %s %s', rpad(item, 49), lpad(to_char(ratio, 'FM990.00'), 5),
			  CASE WHEN n <= 20 THEN rpad(repeat('#', n), 20) || '|'
				   ELSE repeat('#', 20) || '|' || repeat('#', n - 20) END
			  || CASE WHEN ratio > 2 THEN '>' ELSE '' END)
FROM (SELECT *, least(40, greatest(1, round(20 * ratio)))::integer AS n
	  FROM result) AS r
ORDER BY no;

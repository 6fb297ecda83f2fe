-- The demo's queries.  psql variables: total.
INSERT INTO queries VALUES
(1, 'one order by its number', 'SELECT * FROM orders WHERE id = key',
 format('(1 + (hashint8extended(i, 7) & 9223372036854775807) %% %s) * '
		'7368787591 %% 10000000019', :total),
 (:total / 2) * 7368787591 % 10000000019);
INSERT INTO queries VALUES
(2, '200,000 orders by number, index only',
 'SELECT count(*) FROM wanted JOIN orders USING (id)'),
(3, 'orders of one day, index only',
 'SELECT count(*) FROM orders
 WHERE placed_at >= ''2025-06-16 UTC'' AND placed_at < ''2025-06-17 UTC'''),
(4, 'orders of three months, index only',
 'SELECT count(*) FROM orders
 WHERE placed_at >= ''2025-04-01 UTC'' AND placed_at < ''2025-07-01 UTC'''),
(5, 'the latest 20 orders',
 'SELECT id, placed_at, amount FROM orders
 ORDER BY placed_at DESC LIMIT 20'),
(6, 'orders of three customers',
 'SELECT sum(amount) FROM orders
 WHERE customer_id = ANY (''{77,1203,4711}'')'),
(7, 'first and last order',
 'SELECT min(placed_at), max(placed_at) FROM orders');

CREATE TABLE wanted AS
SELECT (1 + (hashint8extended(i, 0) & 9223372036854775807) % :total) *
	   7368787591 % 10000000019 AS id
FROM generate_series(1, 200000) AS i;
ANALYZE wanted;

-- The demo's table: the orders of an online shop over one year.
--
-- id			order number of ten digits, unique; handed out so that it tells
--				nobody how many orders there are: neighbours in time have
--				unrelated numbers
-- placed_at	rises with arrival; seven times as many orders an hour at noon
--				as at midnight, and a few seconds of disorder
-- customer_id	few customers order often, most seldom
-- status		'd'elivered, 's'hipped, 'p'ending, 'c'ancelled
CREATE TABLE orders (
	id bigint NOT NULL,
	placed_at timestamptz NOT NULL,
	customer_id integer NOT NULL,
	status "char" NOT NULL,
	amount numeric(10,2) NOT NULL
);

-- Orders number "first" to "last" of "total".  The same arguments make the same
-- rows: random() starts from a seed of the chunk's own.
CREATE FUNCTION load_orders(first bigint, last bigint, total bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setseed((first % 99991) / 99991.0);
	INSERT INTO orders
	SELECT n * 7368787591 % 10000000019,
		   timestamptz '2025-01-01 UTC' + interval '1 day' *
		   (floor(u) + (u - floor(u)) + 0.12 * sin(2 * pi() * u)) +
		   interval '1 second' * (random() * 5),
		   1 + floor(greatest(total / 20, 1) * random() ^ 2),
		   CASE WHEN n > total * 0.99 THEN 'p'
				WHEN n > total * 0.97 THEN 's'
				WHEN random() < 0.03 THEN 'c'
				ELSE 'd' END,
		   round((5 + 300 * random() ^ 4)::numeric, 2)
	FROM (SELECT n, n * 365.0::float8 / total AS u
		  FROM generate_series(first, last) AS n) AS s;
END
$$;

-- Execution time of a statement in ms, as EXPLAIN ANALYZE reports it without
-- the clock calls that it makes for every row: the best of some executions.
CREATE FUNCTION execution_ms(statement text, times integer)
RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	best float8;
BEGIN
	FOR i IN 1..times LOOP
		EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || statement
			INTO plan;
		best := least(best, (plan -> 0 ->> 'Execution Time')::float8);
	END LOOP;
	RETURN best;
END
$$;

-- What was measured: round 0 holds sizes and build times.
CREATE TABLE measured (
	item text,
	unit text,
	am text,
	round integer,
	value float8
);
CREATE TABLE queries (
	no integer,
	title text,
	statement text
);

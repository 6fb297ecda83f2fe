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

-- Microseconds of an execution of a statement.
CREATE FUNCTION elapsed_us(statement text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz := clock_timestamp();
BEGIN
	EXECUTE statement;
	RETURN extract(epoch FROM clock_timestamp() - start) * 1e6;
END
$$;

-- Microseconds of an execution of a query, planned once and then executed for
-- about 0.3 s, at most 20,000 times.  It begins with SELECT, and may have "key"
-- in it, whose value is another one each time: that expression of i.
CREATE FUNCTION mean_us(statement text, key text)
RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	once float8;
BEGIN
	EXECUTE format($f$
		CREATE OR REPLACE FUNCTION pg_temp.play(times integer)
		RETURNS float8 LANGUAGE plpgsql AS $play$
		DECLARE
			keys bigint[] := ARRAY(SELECT %s FROM generate_series(1, times) i);
			key bigint;
			start timestamptz := clock_timestamp();
		BEGIN
			FOREACH key IN ARRAY keys LOOP
				PERFORM %s;
			END LOOP;
			RETURN extract(epoch FROM clock_timestamp() - start) * 1e6 / times;
		END
		$play$ $f$, key, regexp_replace(statement, '^SELECT ', ''));
	PERFORM pg_temp.play(1);
	once := pg_temp.play(1);
	RETURN pg_temp.play(greatest(1, least(20000, 300000 / once))::integer);
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

-- Queries with warm caches.  key: see mean_us(); example: a value of it, to show.
CREATE TABLE queries (
	no integer,
	title text,
	statement text,
	key text DEFAULT 'i',
	example text DEFAULT ''
);
CREATE FUNCTION shown(q queries) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(q.statement, '\mkey\M', q.example)
$$;

-- What services report of their calls, as it comes; ids are as those of orders.
-- The indexes are there from the beginning, so they have aged when all rows are
-- there: neighbours in the order of the keys lie anywhere in the file.
CREATE TABLE calls (
	id bigint NOT NULL,
	service integer NOT NULL,
	at timestamptz NOT NULL,
	ms integer NOT NULL,
	note text NOT NULL
);
CREATE INDEX calls_id_btree ON calls USING btree (id);
CREATE INDEX calls_id_fptree ON calls USING fptree (id);
CREATE INDEX calls_service_btree ON calls USING btree (service, at);
CREATE INDEX calls_service_fptree ON calls USING fptree (service, at);

CREATE FUNCTION load_calls(first bigint, last bigint, total bigint)
RETURNS void LANGUAGE sql AS $$
	INSERT INTO calls
	SELECT n * 7368787591 % 10000000019,
		   1 + (hashint8extended(n, 1) & 65535)::integer % 500,
		   timestamptz '2025-01-01 UTC' + interval '1 second' * n,
		   (hashint8extended(n, 2) & 1023)::integer, repeat('x', 40)
	FROM generate_series(first, last) AS n
$$;

-- Queries with cold caches: other rows each round.
CREATE FUNCTION cold_queries(round integer)
RETURNS TABLE (title text, statement text) LANGUAGE sql AS $$
	VALUES ('cold: a tenth of the calls by number, index only',
			format('SELECT count(*) FROM calls WHERE id BETWEEN %s AND %s',
				   (1 + round % 8) * 1000000000::bigint,
				   (2 + round % 8) * 1000000000::bigint)),
		   ('cold: a service''s calls',
			format('SELECT sum(ms) FROM calls WHERE service = %s',
				   1 + round * 37 % 500))
$$;

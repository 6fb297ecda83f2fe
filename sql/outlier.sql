--
-- Entries far away from the others: the page that one goes to cannot keep its
-- narrow encoding, and cannot always be halved.
--
CREATE SCHEMA fpt_outlier;
SET search_path = fpt_outlier, public;

CREATE FUNCTION low(g int) RETURNS uuid LANGUAGE sql IMMUTABLE AS
	$$ SELECT ('80000000-0000-0000-0000-' || lpad(to_hex(g), 12, '0'))::uuid $$;

-- below all others, in the leftmost leaf
CREATE TABLE below (a uuid);
CREATE INDEX below_a ON below USING fptree (a);
INSERT INTO below SELECT low(g) FROM generate_series(1, 900) g;
INSERT INTO below VALUES ('00000000-0000-0000-0000-000000000001');

-- the same in a page that CREATE INDEX has filled
CREATE TABLE built (a uuid);
INSERT INTO built SELECT low(g) FROM generate_series(1, 1040) g;
CREATE INDEX built_a ON built USING fptree (a) WITH (fillfactor = 100);
INSERT INTO built SELECT low(g) FROM generate_series(2000, 2018) g;
INSERT INTO built VALUES ('00000000-0000-0000-0000-000000000000');

-- above all others
CREATE TABLE above (a bigint);
CREATE INDEX above_a ON above USING fptree (a) WITH (fillfactor = 10);
INSERT INTO above SELECT generate_series(1, 1000);
INSERT INTO above VALUES (1000000000000000);

-- between two dense runs that are far away from it and each other
CREATE TABLE gap (a uuid);
INSERT INTO gap SELECT low(g) FROM generate_series(1, 500) g;
INSERT INTO gap SELECT ('80000000-0000-0000-0001-' || lpad(to_hex(g), 12, '0'))::uuid
	FROM generate_series(1, 400) g;
CREATE INDEX gap_a ON gap USING fptree (a) WITH (fillfactor = 100);
INSERT INTO gap VALUES ('80000000-0000-0000-0000-00f000000000'),
	('80000000-0000-0000-0000-80f000000000');

-- narrow nodes, NULLs among the values
CREATE TABLE mixed (i int, a int2);
SET fptree.debug_node_lines = '0,2';
CREATE INDEX mixed_a ON mixed USING fptree (a);
RESET fptree.debug_node_lines;
INSERT INTO mixed SELECT i,
	((CASE i % 4 WHEN 0 THEN i WHEN 1 THEN i * 1000 WHEN 2 THEN hashint4(i) END) % 32000)::int2
	FROM generate_series(1, 2500) i;

-- outliers on both sides, again and again, in a unique index
CREATE TABLE many (a bigint);
CREATE UNIQUE INDEX many_a ON many USING fptree (a);
INSERT INTO many SELECT CASE WHEN g % 50 = 0 THEN (g - 3000) * (1::bigint << 40)
	ELSE g END FROM generate_series(1, 6000) g;
INSERT INTO many VALUES (1);

SET enable_seqscan = off;
SELECT count(*) FROM below WHERE a < low(1);
SELECT count(*) FROM built WHERE a >= '00000000-0000-0000-0000-000000000000';
SELECT max(a) FROM above;
SELECT count(*) FROM gap WHERE a > low(500) AND a < '80000000-0000-0000-0001-000000000000';
SELECT count(*) FROM mixed WHERE a IS NULL;
SELECT count(*), min(a), max(a) FROM many;
RESET enable_seqscan;

SELECT fpt_check_all();

--
-- The order of builds where heads are equal: common prefixes, duplicates,
-- NULLs, strings that continue others, in memory and merged from files.
--
CREATE SCHEMA fpt_sorts;
SET search_path = fpt_sorts, public;
SET client_min_messages = warning;

CALL fpt_collations();

CREATE TABLE t AS
SELECT i, md5(i::text) AS hex, hashint4(i) % 10 AS few,
	   -- neither case nor bytes are the order
	   translate(encode(decode(md5(i::text), 'hex'), 'base64'), '=', '') AS mixed,
	   'https://www.example.com/' || md5((i % 700)::text) AS url,
	   repeat('x', i % 60) AS xs,
	   -- zeroes at ends, which are no ends
	   decode(repeat('00', i % 40) || CASE i % 3 WHEN 0 THEN '' ELSE '01' END,
			  'hex') AS zeroes,
	   CASE WHEN i % 7 > 0 THEN 'abcdefgh' || hashint4(i) % 50 END AS nulls,
	   CASE WHEN i % 3 > 0 THEN (i % 100)::numeric / 8 END AS num,
	   repeat(chr(97 + i % 3), 5 + i % 900) AS long
FROM generate_series(1, 12000) i
ORDER BY hashint4(i);

-- The order must be that of sorting by SQL, TIDs last.  fptree_index_check()
-- compares all neighbours, and the entries' number with the table's.
CREATE FUNCTION sorts(cols text, mem text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	same bool;
BEGIN
	PERFORM set_config('maintenance_work_mem', mem, true);
	EXECUTE 'CREATE INDEX s ON t USING fptree (' || cols || ')';
	PERFORM fptree_index_check('s', true);
	SET LOCAL enable_sort = off;
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE format('SELECT array_agg(ctid) = '
				   '(SELECT array_agg(ctid ORDER BY %1$s, ctid) FROM t) '
				   'FROM (SELECT ctid FROM t ORDER BY %1$s) x',
				   regexp_replace(cols, ' \w+_ops', '')) INTO same;
	DROP INDEX s;
	RETURN cols || ': ' || CASE WHEN same THEN 'in order' ELSE 'not in order' END;
END $$;

SELECT mem, sorts(cols, mem)
FROM unnest(ARRAY['64MB', '1MB']) AS mem,
	 unnest(ARRAY[
		'hex', 'hex COLLATE "C" DESC', 'hex COLLATE words',
		'hex COLLATE words DESC', 'mixed', 'mixed COLLATE words',
		'mixed COLLATE words DESC', 'mixed COLLATE blind', 'url COLLATE "C"',
		'url', 'url COLLATE words', 'url COLLATE "C" DESC, few', 'xs COLLATE "C"',
		'xs COLLATE "C" DESC', 'xs COLLATE words, i', 'xs', 'zeroes',
		'zeroes DESC', 'nulls COLLATE words',
		'few, i, nulls', 'few, few, nulls COLLATE "C"',
		'few, few, nulls COLLATE "C" DESC NULLS LAST',
		'few, few, nulls COLLATE words NULLS FIRST, mixed COLLATE words DESC',
		'few DESC, few, nulls COLLATE words DESC, mixed COLLATE words',
		'few, num DESC, xs COLLATE "C"', 'num, zeroes', 'long COLLATE "C"',
		'long COLLATE words DESC', 'long COLLATE blind, few']) AS cols;

-- Numbers, which are sorted by radix: so few that they are sorted by insertion,
-- by way of the stack, and more; many of which differ in few bits, or in none,
-- or of which one bit tells some, so that digits have most of them in one part.
CREATE FUNCTION numbers_sort(kind text, number text, typ text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	n int;
	same bool;
BEGIN
	FOREACH n IN ARRAY ARRAY[2, 24, 25, 300, 512, 513, 1100, 5000, 12000] LOOP
		EXECUTE format('CREATE TABLE w AS SELECT %s AS k FROM t LIMIT %s',
					   number, n);
		CREATE INDEX w_k ON w USING fptree (k);
		PERFORM fptree_index_check('w_k', true);
		SET LOCAL enable_sort = off;
		SET LOCAL enable_seqscan = off;
		SET LOCAL enable_bitmapscan = off;
		SELECT array_agg(ctid) = (SELECT array_agg(ctid ORDER BY k, ctid) FROM w)
		FROM (SELECT ctid FROM w ORDER BY k) x INTO same;
		DROP TABLE w;
		IF NOT same THEN
			RETURN format('%s, %s of %s: not in order', kind, n, typ);
		END IF;
	END LOOP;
	RETURN format('%s, %s: in order', kind, typ);
END $$;

SELECT numbers_sort(kind, format('(%s)::int8', number), 'int8')
FROM (VALUES ('any', 'hashint8extended(i, 1)'),
			 ('near each other', 'hashint8extended(i, 1) & 65535'),
			 ('few', '(hashint8extended(i, 1) & 3) << 40'),
			 ('one', '7'),
			 ('in order', 'row_number() OVER ()'),
			 ('a bit each', '1::int8 << (hashint4(i) & 63)'),
			 ('near, but for some', 'CASE WHEN i % 100 = 0
			  THEN hashint8extended(i, 1) ELSE hashint8extended(i, 2) & 255 END')
	 ) v (kind, number);
SELECT numbers_sort(kind, format('(%s)::uuid', digits), 'uuid')
FROM (VALUES ('any', 'hex'),
			 ('the same above', 'repeat(''5'', 16) || substr(hex, 1, 16)'),
			 ('few, and any below', 'repeat(abs(few)::text, 16) || substr(hex, 1, 16)'),
			 ('few', 'repeat(abs(few)::text, 32)')) v (kind, digits);

-- what is equal though its bytes differ, in a unique index
CREATE TABLE u (a text COLLATE blind, b int);
INSERT INTO u SELECT 'word' || i, i FROM generate_series(1, 300) i;
INSERT INTO u SELECT 'other' || i, i FROM generate_series(1, 300) i;
CREATE UNIQUE INDEX u_a ON u USING fptree (a);
SELECT fptree_index_check('u_a', true, true);

-- a table in the order of its index: each run continues the one before it, also
-- between rows of the same key
CREATE TABLE o AS
SELECT repeat('k', 50) || lpad((i / 7)::text, 6, '0') AS a
FROM generate_series(1, 25000) i;
SET maintenance_work_mem = '1MB';
CREATE INDEX o_a ON o USING fptree (a COLLATE "C");
SELECT fptree_index_parent_check('o_a', true, true);
RESET maintenance_work_mem;
DROP SCHEMA fpt_sorts CASCADE;

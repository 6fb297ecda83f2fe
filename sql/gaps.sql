--
-- Ids in a table in no order, of which some are missing: keys of pages are
-- relative to their nodes, in which a build puts as many as it may.
--
CREATE SCHEMA fpt_gaps;
SET search_path = fpt_gaps, public;
SET max_parallel_maintenance_workers = 0;

-- bytes of keys in most of an index's leaves; it is sound
CREATE FUNCTION key_bytes(ix regclass) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fptree_index_parent_check(ix, true, true);
	RETURN (SELECT mode() WITHIN GROUP (ORDER BY key_width)
			FROM fpt_page_numbers(ix) p, fptree_page_stats(ix, p) s
			WHERE s.level = 0 AND s.type = 'leaf');
END $$;

CREATE TABLE t (k int8);
INSERT INTO t SELECT i * 7919 % 16001 FROM generate_series(1, 16000) i;

-- one in so many there: a byte tells those of a node that is nine tenths full
DO $$
BEGIN
	FOR i IN 1..8 LOOP
		EXECUTE format('CREATE INDEX t_%s ON t USING fptree ((k * %s))', i, i);
		EXECUTE format('CREATE INDEX t_half_%s ON t USING fptree ((k * %s)) WITH (fillfactor = 50)', i, i);
	END LOOP;
END $$;
SELECT i, key_bytes(format('t_%s', i)::regclass),
	key_bytes(format('t_half_%s', i)::regclass) AS half
FROM generate_series(1, 8) i;

-- whatever is missing, and however full nodes are, a build has room for what
-- it has begun a page with
CREATE FUNCTION gappy(k int8, step int, jitter int, hole int, nulls int)
RETURNS int8 IMMUTABLE LANGUAGE sql AS $$
	SELECT CASE WHEN nulls > 0 AND hashint8(k) % nulls = 0 THEN NULL
		ELSE k * step + abs(hashint8(k + 5) % (jitter + 1)) +
			CASE WHEN hole > 0 THEN k / hole * 100003 ELSE 0 END END
$$;
DO $$
DECLARE
	orders text[] := '{ASC,DESC,NULLS FIRST,DESC NULLS LAST}';
	fills int[] := '{90,50,70,95,100,10,85}';
	holes int[] := '{0,50,0,300,2000}';
	nulls int[] := '{0,0,100,3}';
BEGIN
	FOR i IN 0..69 LOOP
		EXECUTE format('CREATE INDEX t_gaps ON t USING fptree (gappy(k, %s, %s, %s, %s) %s) WITH (fillfactor = %s)',
			1 + i % 6, i * 11 % 13 % (3 + i % 6), holes[1 + i % 5],
			nulls[1 + i % 4], orders[1 + i / 4 % 4], fills[1 + i % 7]);
		PERFORM fptree_index_parent_check('t_gaps', true, true);
		IF i % 10 = 0 THEN
			INSERT INTO t SELECT 16001 + i * 300 + j FROM generate_series(1, 300) j;
			DELETE FROM t WHERE k > 16000;
			PERFORM fptree_index_parent_check('t_gaps', true, true);
		END IF;
		DROP INDEX t_gaps;
	END LOOP;
END $$;

-- the missing ones come
CREATE TABLE u AS SELECT k * 4 AS k FROM t;
CREATE INDEX u_k ON u USING fptree (k);
INSERT INTO u SELECT k * 4 + j FROM generate_series(1, 3) j, t;
SELECT key_bytes('u_k'),
	fpt_same('SELECT k, ctid FROM u WHERE k BETWEEN 1000 AND 9000 ORDER BY k'),
	fpt_same('SELECT k, ctid FROM u ORDER BY k DESC');
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA fpt_gaps CASCADE;

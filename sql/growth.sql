--
-- Indexes that rows are inserted into, in orders that tables have: no larger
-- than btree's.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fptree;
RESET client_min_messages;
CREATE SCHEMA fpt_growth;
SET search_path = fpt_growth, public;

-- Size after inserting the query's rows, in percent of a btree's
CREATE FUNCTION percent(columns text, query text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	size bigint[];
BEGIN
	CREATE TABLE t (a int, b int, c text COLLATE "C");
	EXECUTE format('CREATE INDEX t_btree ON t USING btree %s', columns);
	EXECUTE format('CREATE INDEX t_fptree ON t USING fptree %s', columns);
	EXECUTE format('INSERT INTO t %s', query);
	PERFORM fptree_index_parent_check('t_fptree', true, true);
	size := ARRAY[fpt_pages('t_btree'), fpt_pages('t_fptree')];
	DROP TABLE t;
	RETURN 100 * size[2] / size[1];
END $$;

-- Events of some sources, each source's in ascending order
SELECT percent('(a, b)', 'SELECT i % 3, i, NULL
						  FROM generate_series(1, 30000) i') <= 80 AS ok;
SELECT percent('(c, b)', 'SELECT 0, i, $$source $$ || i % 20
						  FROM generate_series(1, 30000) i') <= 80 AS ok;
SELECT percent('(a, c, b)', 'SELECT i % 4, i, $$source $$ || i % 3
							 FROM generate_series(1, 30000) i') <= 55 AS ok;
SELECT percent('(a, b) INCLUDE (c)',
			   'SELECT nullif(i % 7, 0), i, i
				FROM generate_series(1, 30000) i') <= 90 AS ok;
-- sources of different strength, and many of them
SELECT percent('(a, b)', 'SELECT 200 * (i % 997 / 997.0) ^ 4, i, NULL
						  FROM generate_series(1, 30000) i') <= 100 AS ok;
SELECT percent('(a, b)', 'SELECT i * 7919 % 3001, i, NULL
						  FROM generate_series(1, 30000) i') <= 100 AS ok;
-- in ascending order in the midst of others
SELECT percent('(c)', 'SELECT 0, 0, $$z$$ || i FROM generate_series(1, 9) i
					   UNION ALL
					   SELECT 0, 0, $$event number $$ || 1000000 + i
					   FROM generate_series(1, 30000) i') <= 100 AS ok;
-- random order
SELECT percent('(a, b)', 'SELECT i % 10, i::bigint * 7919 % 1000003, NULL
						  FROM generate_series(1, 30000) i') <= 100 AS ok;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA fpt_growth CASCADE;

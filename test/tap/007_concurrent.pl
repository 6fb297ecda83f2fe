# Sessions write and read side by side, alone and with parallel workers, while
# indexes are built and rebuilt concurrently, vacuumed and checked: nobody loses
# a row, everything is sound.
#
# FPT_CONCURRENT_SECONDS sets how long (20).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{FPT_CONCURRENT_SECONDS} // 20;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_buffers = 16MB
max_connections = 50
autovacuum_naptime = 1s
autovacuum_vacuum_threshold = 100
autovacuum_vacuum_scale_factor = 0.05
log_statement = none
session_preload_libraries = 'fptree'
synchronous_commit = off
min_parallel_index_scan_size = 0
min_parallel_table_scan_size = 0
max_worker_processes = 20
max_parallel_workers = 12
max_wal_size = 1GB
});
$node->start;
install_helpers($node);

# acc: keys move, the number of rows does not; a second column holds the key
# with its sign changed, so a row must be found under both.
# u: keys come and go, each at most once.
# ex: the same by an exclusion constraint.
# t: rows come and go, the whole table is rewritten and emptied.
$node->safe_psql('postgres', q{
CREATE TABLE acc (id int PRIMARY KEY, k int, n int);
INSERT INTO acc SELECT i, i, -i FROM generate_series(1, 1000) i;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX acc_k ON acc USING fptree (k)
	WITH (fillfactor = 90);
SET fptree.debug_node_lines = '1,2';
CREATE INDEX acc_n ON acc USING fptree (n DESC)
	WITH (fillfactor = 60);
RESET fptree.debug_node_lines;
CREATE TABLE u (k int, n int);
SET fptree.debug_node_lines = '1,1';
CREATE UNIQUE INDEX u_k ON u USING fptree (k)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
SET fptree.debug_node_lines = '1,1';
CREATE TABLE ex (k int, EXCLUDE USING fptree (k WITH =)
	WITH (fillfactor = 90));
RESET fptree.debug_node_lines;
CREATE TABLE t (a int8, b uuid);
ALTER TABLE acc SET (parallel_workers = 2);
ALTER TABLE t SET (parallel_workers = 2);
CREATE FUNCTION slow(int8) RETURNS bool LANGUAGE plpgsql
	IMMUTABLE PARALLEL SAFE COST 10000 AS 'BEGIN RETURN true; END';
CREATE INDEX t_a ON t USING fptree (a);
SET fptree.debug_node_lines = '1,2';
CREATE INDEX t_b ON t USING fptree (b)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
});

my %scripts = (
	'move@5' => q{
\set id random(1, 1000)
\set k random(-100000, 100000)
UPDATE acc SET k = :k, n = -(:k) WHERE id = :id;
},
	'swap@3' => q{
\set i1 random(1, 1000)
\set i2 random(1, 1000)
BEGIN;
UPDATE acc SET k = k + 1000, n = n - 1000 WHERE id = least(:i1, :i2);
UPDATE acc SET k = k - 1000, n = n + 1000 WHERE id = greatest(:i1, :i2);
END;
},
	'upsert@4' => q{
\set k random(1, 2000)
INSERT INTO u VALUES (:k, 1) ON CONFLICT (k) DO UPDATE SET n = u.n + 1;
},
	'unique@2' => q{
\set k random(1, 2000)
INSERT INTO u VALUES (:k, 0) ON CONFLICT DO NOTHING;
DELETE FROM u WHERE k = 2001 - :k;
},
	'exclude@1' => q{
\set k random(1, 500)
INSERT INTO ex VALUES (:k) ON CONFLICT DO NOTHING;
DELETE FROM ex WHERE k = 501 - :k;
SELECT 1 / (count(*) = count(DISTINCT k))::int FROM ex;
},
	'insert@4' => q{
\set r random(-1000000, 1000000)
INSERT INTO t SELECT :r + i * 7919, md5((:r + i)::text)::uuid FROM generate_series(1, 20) i;
},
	'delete@2' => q{
\set r random(-1000000, 1000000)
DELETE FROM t WHERE a BETWEEN :r AND :r + 20000;
},
	'read@3' => q{
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT 1 / (count(*) = 1000)::int FROM acc WHERE k > -10000000;
SELECT 1 / (count(*) = 1000)::int FROM (SELECT n FROM acc ORDER BY n) s;
SELECT 1 / (count(*) = 1000 AND bool_and(k = -n))::int FROM (SELECT k, n FROM acc ORDER BY k DESC) s;
SELECT 1 / (count(*) = count(DISTINCT k))::int FROM u WHERE k > 0;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT 1 / (count(*) = 1000)::int FROM acc WHERE k > -10000000 AND n < 10000000;
RESET enable_indexscan;
RESET enable_seqscan;
},
	'parallel@2' => q{
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT 1 / (count(*) = 1000 AND sum(k) = -sum(n))::int FROM acc WHERE k > -10000000;
SELECT 1 / (count(*) = 1000 AND sum(k) = -sum(n))::int FROM acc WHERE n < 10000000;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) AS n1, coalesce(sum(a), 0) AS s1 FROM t WHERE a > -2000000 \gset
SELECT count(*) AS n2, coalesce(sum(a), 0) AS s2 FROM
	(SELECT a FROM t WHERE a > -2000000 AND slow(a) ORDER BY a DESC OFFSET 0) s \gset
SET LOCAL enable_indexscan = off;
SET LOCAL enable_indexonlyscan = off;
SET LOCAL enable_seqscan = on;
SELECT 1 / (count(*) = :n1 AND coalesce(sum(a), 0) = :s1
	AND count(*) = :n2 AND :s1 = :s2)::int FROM t WHERE a > -2000000;
END;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
},
	'order@2' => q{
SET enable_seqscan = off;
SELECT 1 / coalesce(bool_and(ok), true)::int FROM
	(SELECT a >= lag(a) OVER () AS ok FROM (SELECT a FROM t ORDER BY a LIMIT 3000) s) s
	WHERE ok IS NOT NULL;
SELECT 1 / coalesce(bool_and(ok), true)::int FROM
	(SELECT a <= lag(a) OVER () AS ok FROM (SELECT a FROM t ORDER BY a DESC LIMIT 3000) s) s
	WHERE ok IS NOT NULL;
},
	'cursor@1' => q{
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
DECLARE c SCROLL CURSOR FOR SELECT k FROM acc ORDER BY k;
MOVE 500 FROM c;
MOVE BACKWARD 100 FROM c;
MOVE ALL FROM c;
MOVE BACKWARD 1000000 FROM c;
SELECT 1 / (count(*) = 1000)::int FROM acc WHERE k > -10000000;
END;
},
	'serializable@1' => q{
\set k random(-100000, 100000)
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM t WHERE a BETWEEN :k AND :k + 1000;
INSERT INTO t VALUES (:k, NULL);
END;
});

my $bench = start_pgbench($node,
	"-c 6 -j 2 -T $seconds --max-tries=1000", %scripts);

my $t_b = with_lines('1,2', 'REINDEX INDEX CONCURRENTLY t_b');
my @steps = (
	with_lines('1,1', 'CREATE INDEX CONCURRENTLY t_new ON t USING fptree (a DESC) WITH (fillfactor = 90)'),
	with_lines('1,1', 'REINDEX INDEX CONCURRENTLY acc_k'),
	'VACUUM acc',
	'VACUUM t',
	'CREATE UNIQUE INDEX CONCURRENTLY u_new ON u USING fptree (k DESC)',
	with_lines('1,1', 'REINDEX INDEX CONCURRENTLY u_k'),
	'VACUUM u',
	'DROP INDEX CONCURRENTLY t_new',
	$t_b,
	'DROP INDEX CONCURRENTLY u_new',
	"VACUUM FULL t;\n$t_b",
	with_lines('1,1', 'REINDEX TABLE CONCURRENTLY ex'),
	"CLUSTER t USING t_b;\n$t_b",
	'VACUUM ex',
	"TRUNCATE t;\n$t_b",
	"REINDEX TABLE t;\n$t_b",
	'VACUUM (INDEX_CLEANUP on) acc',
	with_lines('1,2', 'REINDEX INDEX CONCURRENTLY acc_n'),
	'CHECKPOINT');
my $started = time;
my ($failed, $checked, $done, $deadlocks) = ('', 0, 0, 0);

# The checks of one index only take the lock of a reader; they run in the midst
# of it all.
my $check = q{SELECT fptree_index_check(indexrelid, true, true) FROM pg_index
	JOIN pg_class c ON c.oid = indexrelid
	WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'fptree') AND indisvalid};
# some of them in any case, the later ones without the load if need be
while ($done < 5 || time - $started < $seconds - 1)
{
	my $step = $steps[ $done++ % @steps ];
	my ($ret, $out, $err) = $node->psql('postgres', $step);

	# REINDEX TABLE locks the table, then each index: a transaction that has
	# read the table (and so holds a lock of its indexes) and writes to it next
	# deadlocks with it, whatever the access method.
	if ($ret != 0 && $step =~ /^REINDEX TABLE t;/ && $err =~ /deadlock detected/)
	{
		$deadlocks++;
		$ret = 0;
	}
	$failed .= "$step: $err\n" if $ret != 0;
	($ret, $out, $err) = $node->psql('postgres', $check);
	$failed .= "check after $step: $err\n" if $ret != 0;
	$checked++;
	if ($done % 5 == 0)
	{
		my $bad = $node->safe_psql('postgres', 'SELECT fpt_verify()');
		$failed .= "parent check after $step: $bad" if $bad ne '';
	}
	last if length($failed) > 2000;
}
note("$done steps, $checked checks, $deadlocks deadlocks of REINDEX TABLE");
is($failed, '', 'all steps and checks beside the load succeed');
ok(finish_pgbench($bench), 'no session failed');
unlike($bench->{err}, qr/division by zero/, 'no reader missed a row');
# the load may have left t empty
$node->safe_psql('postgres', q{
INSERT INTO t SELECT i, md5(i::text)::uuid FROM generate_series(1, 1000) i;
ANALYZE acc, t});
my $parallel = 'SET enable_seqscan = off; SET enable_bitmapscan = off;'
	. 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; EXPLAIN ';
like($node->safe_psql('postgres', $parallel . $_), qr/Parallel Index/,
	"parallel plan: $_")
	for ('SELECT count(*), sum(k), sum(n) FROM acc WHERE k > -10000000',
		'SELECT a FROM t WHERE a > -2000000 AND slow(a) ORDER BY a DESC');

my @queries = (
	'SELECT count(*) || \' \' || sum(k) FROM acc WHERE k > -10000000',
	'SELECT count(*) || \' \' || sum(k) FROM acc WHERE n > -10000000',
	'SELECT count(*) || \' \' || sum(n) FROM u WHERE k > 0',
	'SELECT count(*) || \' \' || sum(a) FROM t WHERE a > 0',
	"SELECT count(*) || ' ' || sum(a) FROM t WHERE b > '80000000-0000-0000-0000-000000000000'");
same_as_seqscan($node, 'scans agree', @queries);
verify($node, 'indexes are sound');
$node->safe_psql('postgres', 'VACUUM');
verify($node, 'vacuumed: indexes are sound');
$node->stop('immediate');
$node->start;
same_as_seqscan($node, 'crashed: scans agree', @queries);
verify($node, 'crashed: indexes are sound');
$node->stop;
no_crash($node);
done_testing();

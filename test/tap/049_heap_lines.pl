# Plain scans of a table whose pages come and go in shared buffers, which are far
# too small for it, so that what a session knows of their places is often wrong
# (H1, H2): rows move, VACUUM prunes pages and truncates the table, others empty
# it and write it anew, and a standby replays all that.  Each statement sees the
# rows that it must.
#
# FPT_LINES_SECONDS sets how long (10).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{FPT_LINES_SECONDS} // 10;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_buffers = 1MB
max_connections = 30
autovacuum = off
fsync = off
jit = off
log_statement = none
max_wal_size = 1GB
wal_keep_size = 2GB
hot_standby_feedback = on
wal_receiver_status_interval = 1
max_standby_streaming_delay = -1
session_preload_libraries = 'fptree'
});
$node->start;
install_helpers($node);

# acc: rows move, their number does not, and two columns add up to nothing.
# t: rows come and go, the file becomes shorter and longer, or is another one.
$node->safe_psql('postgres', q{
CREATE TABLE acc (id int PRIMARY KEY, k int, n int, pad text) WITH (fillfactor = 90);
INSERT INTO acc SELECT i, hashint4(i), -hashint4(i), repeat('x', 150) FROM generate_series(1, 8000) i;
CREATE INDEX acc_k ON acc USING fptree (k);
CREATE TABLE t (a int, b int);
CREATE INDEX t_a ON t USING fptree (a);
});

my $standby = PostgreSQL::Test::Cluster->new('standby');
$node->backup('b');
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->start;

my $plan = q{
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
};
my %reads = (
	'all@2' => $plan . q{
SELECT 1 / (count(*) = 8000 AND sum(k::int8) = -sum(n::int8))::int FROM acc WHERE k > -2147483648;
SELECT 1 / (count(*) = 8000 AND bool_and(k = -n))::int FROM (SELECT k, n FROM acc ORDER BY k DESC OFFSET 0) s;
},
	'some@4' => $plan . q{
\set k random(-2000000000, 2000000000)
SELECT 1 / (count(*) = count(n) AND coalesce(bool_and(k = -n), true))::int FROM
	(SELECT * FROM acc WHERE k > :k ORDER BY k LIMIT 50) s;
},
	'cursor@1' => $plan . q{
BEGIN ISOLATION LEVEL REPEATABLE READ;
DECLARE c SCROLL CURSOR FOR SELECT k, n FROM acc WHERE k > -2147483648 ORDER BY k;
MOVE 500 FROM c;
FETCH PRIOR FROM c \gset a_
MOVE 500 FROM c;
MOVE BACKWARD 300 FROM c;
MOVE BACKWARD 200 FROM c;
FETCH RELATIVE 0 FROM c \gset b_
SELECT 1 / (:a_k = :b_k AND :a_n = :b_n)::int;
END;
},
	'table@4' => $plan . q{
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(b) AS n1, coalesce(sum(b), 0) AS s1 FROM (SELECT * FROM t ORDER BY a OFFSET 0) s \gset
SELECT count(b) AS n2, coalesce(sum(b), 0) AS s2 FROM (SELECT * FROM t ORDER BY a DESC OFFSET 0) s \gset
SET LOCAL enable_indexscan = off;
SET LOCAL enable_indexonlyscan = off;
SELECT 1 / (count(b) = :n1 AND coalesce(sum(b), 0) = :s1 AND :n1 = :n2 AND :s1 = :s2)::int FROM t;
END;
});
my %writes = (
	'move@8' => $plan . q{
\set id random(1, 8000)
\set k random(-2000000000, 2000000000)
UPDATE acc SET k = :k, n = -(:k) WHERE id = :id;
UPDATE acc SET pad = pad WHERE k = :k;
},
	'serializable@2' => $plan . q{
\set k random(-2000000000, 2000000000)
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT 1 / (count(n) = count(*))::int FROM (SELECT * FROM acc WHERE k > :k ORDER BY k LIMIT 30) s;
UPDATE acc SET pad = pad WHERE id = 1 + abs(:k) % 8000;
END;
},
	'insert@4' => q{
\set r random(1, 1000000000)
INSERT INTO t SELECT hashint4(:r + i), i FROM generate_series(1, 200) i;
},
	'delete@1' => $plan . q{
\set r random(-2000000000, 2000000000)
DELETE FROM t WHERE a > :r;
});

my $asked = start_pgbench($standby, "-c 3 -j 1 -T $seconds", %reads);
my $bench = start_pgbench($node, "-c 5 -j 1 -T $seconds --max-tries=1000",
	%reads, %writes);
# Two sessions that delete the same rows in different orders would wait for each other.
my $alone = 'BEGIN; LOCK TABLE t IN SHARE ROW EXCLUSIVE MODE; DELETE FROM t; COMMIT';
my @steps = ('VACUUM acc', $alone, 'VACUUM t', 'TRUNCATE t', 'VACUUM acc',
	'VACUUM FULL t', 'BEGIN; TRUNCATE t; INSERT INTO t VALUES (1, 1); ROLLBACK', 'CLUSTER t USING t_a');
my $started = time;
my ($failed, $done) = ('', 0);

while ($done < @steps || time - $started < $seconds - 1)
{
	my $step = $steps[ $done++ % @steps ];
	my ($ret, undef, $err) = $node->psql('postgres', $step);

	$failed .= "$step: $err\n" if $ret != 0;
}
is($failed, '', "VACUUM and others, $done times");
ok(finish_pgbench($bench), 'sessions see what they must');
ok(finish_pgbench($asked), 'so do those of a standby');
is($node->safe_psql('postgres', 'SELECT fpt_verify()'), '', 'indexes are sound');
wait_replayed($standby, $node);
is($standby->safe_psql('postgres', 'SELECT fpt_verify()'), '', 'and on the standby');
foreach my $server ($node, $standby)
{
	my $log = slurp_file($server->logfile);

	unlike($log, qr/refcount leak|is not owned by|TRAP|PANIC/,
		$server->name . ': pins are given back');
	$server->stop;
}
done_testing();

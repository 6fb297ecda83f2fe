# VACUUM and index-only scans: a scan that may trust the visibility map holds its
# leaf page pinned, and VACUUM waits for it; a plain scan holds up nobody.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# A page that somebody else has pinned VACUUM leaves as it is: nobody does.
$node->append_conf('postgresql.conf', q{
autovacuum = off
log_statement = none
bgwriter_lru_maxpages = 0
checkpoint_timeout = 1d
max_wal_size = 4GB
});
$node->start;
install_helpers($node);

sub fill
{
	$node->safe_psql('postgres', q{
DROP TABLE IF EXISTS t;
CREATE TABLE t (a int, b text) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 3000) i;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 50);
RESET fptree.debug_node_lines;
});
	$node->safe_psql('postgres', 'VACUUM ANALYZE t');
	# dead to everybody, and not removed yet
	$node->safe_psql('postgres', 'DELETE FROM t WHERE a % 100 <> 0');
	return;
}

my $settings = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;';

foreach my $dir ('ASC', 'DESC')
{
	my @want = map { $_ * 100 } 1 .. 30;
	@want = reverse @want if $dir eq 'DESC';

	# a plain scan: VACUUM goes by
	fill();
	my $scan = $node->background_psql('postgres');
	$scan->query_safe($settings);
	$scan->query_safe('SET enable_indexonlyscan = off');
	$scan->query_safe('BEGIN');
	$scan->query_safe("DECLARE c CURSOR FOR SELECT a FROM t ORDER BY a $dir");
	my $got = $scan->query_safe('FETCH 2 FROM c');
	$node->safe_psql('postgres', "SET statement_timeout = '60s'; VACUUM t");
	pass("$dir: VACUUM does not wait for a plain scan");
	# the freed TIDs are used again
	$node->safe_psql('postgres', q{INSERT INTO t SELECT i, repeat('y', 100) FROM generate_series(1, 3000) i});
	$got .= "\n" . $scan->query_safe('FETCH ALL FROM c');
	is($got, join("\n", @want), "$dir: the plain scan sees its snapshot");
	$scan->query_safe('COMMIT');
	$scan->quit;
	verify($node, "$dir: plain: indexes are sound");

	# an index-only scan: VACUUM waits until it has left the page
	fill();
	$scan = $node->background_psql('postgres');
	$scan->query_safe($settings);
	like($scan->query_safe("EXPLAIN SELECT a FROM t ORDER BY a $dir"),
		qr/Index Only Scan/, "$dir: index-only scan");
	$scan->query_safe('BEGIN');
	$scan->query_safe("DECLARE c CURSOR FOR SELECT a FROM t ORDER BY a $dir");
	$got = $scan->query_safe('FETCH 2 FROM c');
	my $vacuum = $node->background_psql('postgres');
	$vacuum->query_until(qr/started/, "\\echo started\nVACUUM t;\n\\echo done\n");
	ok( $node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
		WHERE query LIKE 'VACUUM t%' AND wait_event IN ('BufferPin', 'BufferCleanup')}),
		"$dir: VACUUM waits for the index-only scan's pin");
	# nobody else is held up
	$node->safe_psql('postgres', q{SET statement_timeout = '60s';
INSERT INTO t SELECT i, repeat('y', 100) FROM generate_series(1, 3000) i});
	is($node->safe_psql('postgres', "$settings SELECT count(*) FROM t WHERE a <= 3000"),
		'3030', "$dir: readers and writers go on");
	$got .= "\n" . $scan->query_safe('FETCH ALL FROM c');
	is($got, join("\n", @want), "$dir: the index-only scan sees its snapshot");
	$scan->query_safe('COMMIT');
	$scan->quit;
	$vacuum->quit;
	$node->safe_psql('postgres', "SET statement_timeout = '60s'; VACUUM t");
	is($node->safe_psql('postgres', "$settings SELECT count(*) FROM t WHERE a <= 3000"),
		'3030', "$dir: all rows are found after VACUUM");
	verify($node, "$dir: index-only: indexes are sound");
}

# An index of one leaf, which splits while the scan has it pinned: what the scan
# holds must stay the way for VACUUM, wherever the entries went.
$node->safe_psql('postgres', q{
DROP TABLE t;
CREATE TABLE t (a int, b text) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 300) i;
CREATE INDEX t_a ON t USING fptree (a);
});
$node->safe_psql('postgres', 'VACUUM ANALYZE t');
$node->safe_psql('postgres', 'DELETE FROM t WHERE a BETWEEN 100 AND 200');
my $small = $node->background_psql('postgres');
$small->query_safe($settings);
$small->query_safe('BEGIN');
$small->query_safe('DECLARE c CURSOR FOR SELECT a FROM t WHERE a > 0 ORDER BY a');
my $rows = $small->query_safe('FETCH 1 FROM c');
$node->safe_psql('postgres', q{INSERT INTO t SELECT i, 'more' FROM generate_series(1000, 4000) i});
my $vac = $node->background_psql('postgres');
$vac->query_until(qr/started/, "\\echo started\nVACUUM t;\n\\echo done\n");
ok( $node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
	WHERE query LIKE 'VACUUM t%' AND wait_event IN ('BufferPin', 'BufferCleanup')}),
	'one leaf, split: VACUUM waits for the index-only scan');
$rows .= "\n" . $small->query_safe('FETCH ALL FROM c');
is($rows, join("\n", 1 .. 99, 201 .. 300),
	'one leaf, split: the index-only scan sees its snapshot');
$small->query_safe('COMMIT');
$small->quit;
$vac->quit;

# The race itself: scans read all keys while rows die, are vacuumed away, and
# their TIDs are taken by others.
fill();
$node->safe_psql('postgres', with_lines('1,1', 'TRUNCATE t') . q{INSERT INTO t SELECT i, 'keep' FROM generate_series(1, 500) i});
my $bench = start_pgbench($node, '-c 4 -T 5 --max-tries=100',
	'churn@2' => q{
\set r random(1000, 100000)
INSERT INTO t SELECT :r + i, 'go' FROM generate_series(1, 50) i;
DELETE FROM t WHERE a BETWEEN :r AND :r + 60;
},
	'vacuum@1' => "VACUUM t;\n",
	'scan@3' => q{
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT 1 / (count(*) = 500 AND sum(a) = 125250)::int FROM t WHERE a < 1000;
SELECT 1 / (count(*) = 500 AND sum(a) = 125250)::int FROM (SELECT a FROM t WHERE a < 1000 ORDER BY a DESC) s;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) AS n FROM t WHERE a > 0 \gset a
SELECT count(*) AS n FROM (SELECT a FROM t ORDER BY a DESC) s \gset b
SELECT count(b) AS n FROM t WHERE a > 0 \gset c
SELECT 1 / (:an = :bn AND :an = :cn)::int;
END;
});
ok(finish_pgbench($bench), 'index-only scans beside VACUUM see what plain ones see');
verify($node, 'at the end: indexes are sound');
# What VACUUM says of pages: those it has just freed are deleted, and reusable.
fill();
$node->safe_psql('postgres', 'DELETE FROM t WHERE a < 2500');
my (undef, undef, $said) = $node->psql('postgres', 'VACUUM (VERBOSE, INDEX_CLEANUP ON) t');
like($said, qr/index "t_a": pages: \d+ in total, [1-9]\d* newly deleted/, 'VACUUM has deleted pages');
my ($newly, $deleted, $free) = $said =~ /(\d+) newly deleted, (\d+) currently deleted, (\d+) reusable/;
cmp_ok($deleted, '>=', $newly, 'they are among those that are deleted');
cmp_ok($free, '>', $newly / 2, 'leaves are reusable at once');

$node->stop;
no_crash($node);
done_testing();

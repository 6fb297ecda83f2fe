# Queries that need no column, like count(*), get no index-only scan on a
# standby either: VACUUM's removal of entries is replayed while scans hold them,
# whose rows' pages are all-visible soon after.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
wal_keep_size = 1GB
autovacuum = off
log_statement = none
});
$primary->start;
install_helpers($primary);
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# The first heap page keeps all its rows: scans that have only begun hold no page
# that VACUUM changes.
$primary->safe_psql('postgres', q{
CREATE TABLE t (k int, v text, pad text);
INSERT INTO t SELECT i, to_char(i, 'FM00000000'), repeat('x', 300) FROM generate_series(1, 5000) i;
CREATE TABLE u AS SELECT * FROM t;
CREATE TABLE p AS SELECT * FROM t;
CREATE INDEX t_k ON t USING fptree (k);
CREATE INDEX u_v ON u USING fptree (v);
CREATE INDEX p_k ON p USING fptree (k) WHERE pad IS NOT NULL;
VACUUM ANALYZE t, u, p;
DELETE FROM t WHERE k > 100 AND k % 2 = 0;
DELETE FROM u WHERE k > 100 AND k % 2 = 0;
DELETE FROM p WHERE k > 100 AND k % 2 = 0;
});
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

my %from = (
	't_k' => 'FROM t',
	'u_v' => 'FROM u',
	'p_k' => 'FROM p WHERE pad IS NOT NULL');
my %key = ('t_k' => 'k', 'u_v' => 'v', 'p_k' => 'k');
my $plan = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';

sub explained
{
	my ($node, $query) = @_;

	return $node->safe_psql('postgres', "$plan EXPLAIN $query");
}

sub cost_of
{
	my ($node, $query) = @_;

	return explained($node, $query) =~ /Scan using \w+ on \w+ +\(cost=\S+?\.\.([\d.]+)/
	  ? $1 : -1;
}

foreach my $index (sort keys %from)
{
	like(explained($primary, "SELECT count(*) $from{$index}"),
		qr/Index Only Scan using $index/, "$index: index-only on the primary");
	like(explained($standby, "SELECT count(*) $from{$index}"),
		qr/Index Scan using $index/, "$index: plain scan on the standby");
	like($standby->safe_psql('postgres', qq{
SET enable_seqscan = off;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0; SET min_parallel_table_scan_size = 0;
EXPLAIN SELECT count(*) $from{$index}}),
		qr/Parallel (Bitmap Heap|Index) Scan/, "$index: in parallel as well");

	# It costs what a scan costs that was a plain one from the outset.
	my $cost = cost_of($standby, "SELECT count(*) $from{$index}");
	my $ordered = cost_of($standby,
		"SELECT $key{$index} $from{$index} ORDER BY $key{$index}");

	cmp_ok(abs($cost - $ordered), '<=', $ordered / 100,
		"$index: and is charged for ($cost, $ordered)");
}

# Cursors that have read a leaf each, with the entries of dead rows
my $session = $standby->background_psql('postgres', on_error_stop => 1);
$session->query_safe("$plan BEGIN ISOLATION LEVEL REPEATABLE READ;");
foreach my $index (sort keys %from)
{
	$session->query_safe("DECLARE c_$index CURSOR FOR SELECT 1 $from{$index};");
	is($session->query_safe("FETCH c_$index;"), '1', "$index: a row is there");
}
$primary->safe_psql('postgres', 'VACUUM t, u, p');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
foreach my $index (sort keys %from)
{
	my @rows = split(/\n/, $session->query_safe("FETCH ALL c_$index;"));

	is(scalar(@rows), 2549, "$index: no row that is gone is returned");
}
$session->quit;

verify($standby, 'indexes of the standby are sound');
$standby->stop;
$primary->stop;
no_crash($_) foreach $primary, $standby;
done_testing();

# An index-only scan of a standby, by core's node or ours, a count, or its keys, held
# while it finds out what of a leaf's entries is visible: VACUUM is replayed before it asks the visibility map,
# or after that but before it has found the leaf unchanged.  (The entries of the
# leaf's first rows are those asked for first.)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../tap";

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
# A page that somebody else has pinned VACUUM leaves as it is: nobody does.
$primary->append_conf('postgresql.conf', q{
bgwriter_lru_maxpages = 0
checkpoint_timeout = 1d
log_statement = none
autovacuum = off
fsync = off
wal_keep_size = 1GB
session_preload_libraries = 'fptree'
});
$primary->start;
install_helpers($primary);
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

my $plan = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;';
my $gate = $standby->background_psql('postgres', on_error_stop => 1);

foreach my $stop ('scan_page', 'scan_asked')
{
	foreach my $dir ('ASC', 'DESC', 'own ASC', 'own DESC', 'count', 'keys')
	{
		my $name = "$stop, $dir";
		my $each = $dir eq 'keys' ? 3 : 1;

		$primary->safe_psql('postgres', qq{
DROP TABLE IF EXISTS t;
CREATE TABLE t (k int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i % 100 + 1 FROM generate_series(1, 100 * $each) i;
CREATE INDEX t_k ON t USING fptree (k)});
		$primary->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) t');
		$primary->safe_psql('postgres', 'DELETE FROM t WHERE k < 10 OR k > 90');
		$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

		$gate->query_safe('SELECT pg_advisory_lock(1);');
		my $scan = $standby->background_psql('postgres', on_error_stop => 1);

		# planned beforehand, lest the planner be held
		$scan->query_safe("$plan SET plan_cache_mode = force_generic_plan;");
		$scan->query_safe('SET fptree.enable_indexonlyscan = '
			  . ($dir =~ /own/ ? 'on;' : 'off;'));
		my $query = $dir eq 'count' ? 'SELECT count(*) FROM t' :
			$dir eq 'keys' ? 'SELECT DISTINCT k FROM t ORDER BY k' :
			"SELECT k FROM t ORDER BY k " . ($dir =~ s/own //r);

		$scan->query_safe("PREPARE p AS $query;");
		like($scan->query_safe('EXPLAIN EXECUTE p;'),
			$dir eq 'count' ? qr/Fptree Count/ :
			$dir eq 'keys' ? qr/Fptree Distinct/ :
			$dir =~ /own/ ? qr/Fptree Index Only Scan/ : qr/Index Only Scan(?: Backward)? using/,
			"$name: index-only");
		$scan->query_safe("SET fptree.stop_at = '$stop';");
		$scan->query_until(qr/started/, "\\echo started\nEXECUTE p;\n");
		ok( $standby->poll_query_until('postgres', q{
SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}),
			"$name: the scan is held");

		$primary->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t');
		is($primary->safe_psql('postgres', q{
SELECT relallvisible = relpages FROM pg_class WHERE relname = 't'}),
			't', "$name: the heap pages are all-visible");
		$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
		$gate->query_safe('SELECT pg_advisory_unlock(1);');

		my $rows = $scan->query_safe("SELECT 'end';");
		my @want = 10 .. 90;

		@want = reverse @want if $dir =~ /DESC/;
		@want = (scalar @want) if $dir eq 'count';
		is($rows, join("\n", @want, 'end'), "$name: the rows of the snapshot");
		$scan->quit;
	}
}
$gate->quit;
$standby->stop;
$primary->stop;
no_crash($_) foreach $primary, $standby;
done_testing();

# A scan of a standby is held in a leaf, or on its way to the next one, while the
# merging of leaves is replayed: the entries that it is to read next move to where it
# has been, or to where it goes, and the pin of an index-only scan is in nobody's way
# there.  (Dead rows are far from those that the scan reads: it has a page of the table
# pinned, and replay would wait for it.)

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

my %plan = (
	'forward' => [ 'bitmapscan, indexonlyscan', 'ASC', qr/^Index Scan using/m ],
	'back' => [ 'bitmapscan, indexonlyscan', 'DESC', qr/Index Scan Backward/ ],
	'only' => [ 'bitmapscan', 'ASC', qr/Index Only Scan using/ ],
	'only back' => [ 'bitmapscan', 'DESC', qr/Index Only Scan Backward/ ],
	'only own' => [ 'bitmapscan', 'ASC', qr/Fptree Index Only Scan/ ],
	'only own back' => [ 'bitmapscan', 'DESC', qr/Fptree Index Only Scan/ ],
	'bitmap' => [ 'indexscan, indexonlyscan', '', qr/Bitmap Index Scan/ ]);
my $gate = $standby->background_psql('postgres', on_error_stop => 1);

sub catch_up
{
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
}

sub leaves
{
	return $standby->safe_psql('postgres',
		q{SELECT leaf_pages + empty_pages FROM fptree_stat('t_k')});
}

foreach my $stop ('scan_page', 'scan_page:2', 'scan_step', 'scan_step:2')
{
	foreach my $kind (sort keys %plan)
	{
		my $name = "$kind, $stop";
		my ($off, $order, $like) = @{ $plan{$kind} };

		# 12 leaves of 16 entries; any two become one
		$primary->safe_psql('postgres', q{
DROP TABLE IF EXISTS t;
CREATE TABLE t (k int, pad text) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, repeat('x', 960) FROM generate_series(1, 192) i;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_k ON t USING fptree (k) WITH (fillfactor = 10);
ALTER INDEX t_k SET (fillfactor = 26)});
		$primary->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) t');
		$primary->safe_psql('postgres', 'DELETE FROM t WHERE k IN (1, 190)');
		catch_up();
		my $before = leaves();

		$gate->query_safe('SELECT pg_advisory_lock(1);');
		my $scan = $standby->background_psql('postgres', on_error_stop => 1);

		# planned beforehand, lest the planner be held
		$scan->query_safe('SET enable_seqscan = off; SET enable_sort = off; '
			  . join('', map { "SET enable_$_ = off; " } split(/, /, $off))
			  . 'SET fptree.enable_indexonlyscan = '
			  . ($kind =~ /own/ ? 'on; ' : 'off; ')
			  . "SET plan_cache_mode = force_generic_plan;");
		my $by = $order eq '' ? '' : "ORDER BY k $order";

		$scan->query_safe(
			"PREPARE p AS SELECT k FROM t WHERE k BETWEEN 20 AND 100 $by;");
		like($scan->query_safe('EXPLAIN EXECUTE p;'), $like, "$name: plan");
		$scan->query_safe("SET fptree.stop_at = '$stop';");
		$scan->query_until(qr/started/, "\\echo started\nEXECUTE p;\n");
		ok( $standby->poll_query_until('postgres', q{
SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}),
			"$name: the scan is held");

		# Twice: merged leaves are visited by the next one.  The dead rows of an
		# aborted transaction conflict with no snapshot.
		$primary->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t');
		$primary->safe_psql('postgres', q{
BEGIN;
INSERT INTO t SELECT i, repeat('y', 960) FROM generate_series(20, 100) i;
ROLLBACK});
		$primary->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t');
		catch_up();
		cmp_ok(leaves(), '<', $before, "$name: leaves were merged");
		$gate->query_safe('SELECT pg_advisory_unlock(1);');

		my @rows = split(/\n/, $scan->query_safe("SELECT 'end';"));
		my @want = 20 .. 100;

		@want = reverse @want if $order eq 'DESC';
		@rows = sort { $a <=> $b } grep { $_ ne 'end' } @rows if $kind eq 'bitmap';
		@rows = grep { $_ ne 'end' } @rows;
		is("@rows", "@want", "$name: the rows of the snapshot");
		$scan->quit;
		$standby->safe_psql('postgres',
			q{SELECT fptree_index_check('t_k', true)});
	}
}
$gate->quit;
$standby->stop;
$primary->stop;
no_crash($_) foreach $primary, $standby;
done_testing();

# What VACUUM says of pages: leaves that it has unlinked, and that an insertion
# takes again before it has ended, are neither deleted nor reusable.  VACUUM is
# held when it has emptied a leaf, or when its walk is over.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../tap";

use FptTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('report');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\n");
$node->start;
install_helpers($node);

# 24 leaves of 16 keys each, of which 12 are to be unlinked.  One was before, so
# that the free space map leads insertions to what VACUUM puts there.
sub fresh
{
	$node->safe_psql('postgres', q{
DROP TABLE IF EXISTS t;
CREATE TABLE t (a int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i * 1000 FROM generate_series(1, 24 * 16) i;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 10);
RESET fptree.debug_node_lines;
DELETE FROM t WHERE a BETWEEN 16 * 20 * 1000 + 1 AND 16 * 21 * 1000});
	$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t');
	$node->safe_psql('postgres', q{
DELETE FROM t WHERE a BETWEEN 16 * 4 * 1000 + 1 AND 16 * 16 * 1000});
}

# VACUUM in the background, with a pass over the file or not, held at a point
# while "meanwhile" is executed.  Returns the numbers of pages that it tells:
# newly deleted, deleted, reusable.
sub vacuum
{
	my ($stop, $prefetch, $meanwhile) = @_;
	my ($in, $out, $err) = ('', '', '');
	my $gate = $node->background_psql('postgres', on_error_stop => 1);

	$gate->query_safe('SELECT pg_advisory_lock(1);');
	my $vacuum = IPC::Run::start(
		[
			'psql', '-X', '-d', $node->connstr('postgres'),
			'-c', "SET fptree.leaf_prefetch = $prefetch",
			'-c', "SET fptree.stop_at = '$stop'",
			'-c', 'VACUUM (VERBOSE, INDEX_CLEANUP ON, TRUNCATE OFF) t'
		],
		'<', \$in, '>', \$out, '2>', \$err);
	ok( $node->poll_query_until('postgres', q{
SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}),
		"$stop: VACUUM is held");
	$node->safe_psql('postgres', $meanwhile);
	$gate->query_safe('SELECT pg_advisory_unlock(1);');
	$gate->quit;
	ok($vacuum->finish, "$stop: VACUUM has ended");
	return $err =~
	  /(\d+) newly deleted, (\d+) currently deleted, (\d+) reusable/;
}

sub deleted_pages
{
	return $node->safe_psql('postgres',
		q{SELECT deleted_pages FROM fptree_stat('t_a')});
}

# keys enough to split a leaf several times, to the left of what VACUUM removes,
# or to the right, where its walk comes by them
my $left = 'INSERT INTO t SELECT 2000 + i FROM generate_series(1, 900) i';
my $right = 'INSERT INTO t SELECT 300000 + i FROM generate_series(1, 900) i';

foreach my $case (
	[ 'free_pages', 'on', 'SELECT 1', 0 ],
	[ 'free_pages', 'on', $left, 1 ],
	[ 'leaf_empty:8', 'on', $left, 1 ],
	[ 'leaf_empty:8', 'on', $right, 1 ],
	[ 'leaf_empty:8', 'off', $right, 1 ])
{
	my ($stop, $prefetch, $meanwhile, $taken) = @$case;

	fresh();
	my ($newly, $deleted, $reusable) = vacuum($stop, $prefetch, $meanwhile);
	my $there = deleted_pages();

	cmp_ok($newly, '>', 5, "$stop: leaves were unlinked");
	if ($taken)
	{
		cmp_ok($there, '<', $newly, "$stop: some were taken again");
	}
	is($reusable, $there, "$stop: reusable is what is deleted now");
	is($deleted, $there, "$stop: so is deleted");
	verify($node, "$stop: the index is sound");
}
$node->stop;
no_crash($node);
done_testing();

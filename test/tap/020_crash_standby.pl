# A standby that compares every page with the primary's after every record is
# killed with SIGKILL under load, over and over, and each time recovers and
# catches up; one time in six, and at the end, it is promoted instead, while the
# load goes on.
#
# FPT_STANDBY_CYCLES sets the number of cycles (12).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptCrash;
use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep time);

my $cycles = $ENV{FPT_STANDBY_CYCLES} || 12;
my $seed = $ENV{FPT_CRASH_SEED} || 20261122;

srand($seed);
note("seed $seed, $cycles cycles");

# Full page images must be on where pages are compared: see crash_settings().
# Few buffers on the standby, too, so that it dies with pages of every age.
my %fixed = (
	wal_level => 'replica',
	max_wal_senders => 5,
	full_page_writes => 'on',
	wal_consistency_checking => 'all',
	shared_buffers => '2MB');
my $primary = PostgreSQL::Test::Cluster->new('primary');

$primary->init(allows_streaming => 1, extra => ['--data-checksums']);
crash_conf($primary, q{
fsync = off
max_wal_size = 1GB
hot_standby_feedback = on
max_standby_streaming_delay = 100ms
});
crash_settings($primary, %fixed);
$primary->start;
install_helpers($primary);
crash_schema($primary);

my $standbys = 0;

sub new_standby
{
	my $name = 'standby' . ++$standbys;
	my $node = PostgreSQL::Test::Cluster->new($name);

	# one that is down for long must find its WAL
	$primary->safe_psql('postgres',
		"SELECT pg_create_physical_replication_slot('$name', true)");
	$primary->backup($name);
	$node->init_from_backup($primary, $name, has_streaming => 1);
	system_or_bail('rm', '-rf', $primary->backup_dir . "/$name");
	$node->append_conf('postgresql.conf',
		"checkpoint_timeout = 30s\nwal_retrieve_retry_interval = 100ms\nprimary_slot_name = '$name'\n");
	start_server($node) or BAIL_OUT("$name does not start");
	return $node;
}

# The node is sound, and answers as another one does that was found sound.
sub problems
{
	my ($node, $other) = @_;
	my $bad = after_crash($node, undef, 1);
	my $all = join(' UNION ALL ', map { "($_)" } crash_queries());

	return $bad if !$other;

	# in whatever order parallel workers deliver them
	my ($mine, $others) = map {
		join("\n", sort(split(/\n/, $_->safe_psql('postgres', $all))))
	} ($node, $other);

	$bad .= "different answers:\n$mine\nand\n$others\n" if $mine ne $others;
	return $bad;
}

my $standby = new_standby();
my $broken = 0;
my ($kills, $promotions) = (0, 0);

foreach my $cycle (1 .. $cycles)
{
	# no faster than a standby can compare pages that are in the WAL each time
	my $load = start_load($primary, rate => 30);
	my $bad = '';
	my $promoted = rand() < 1 / 6 || $cycle == $cycles;

	let_run($load);
	if ($promoted)
	{
		$standby->promote;
		$promotions++;
	}
	else
	{
		kill_all($standby);
		usleep(int(rand(200_000)));
		start_again($standby)
		  or BAIL_OUT("cycle $cycle: the standby does not come back");
		$kills++;
	}
	usleep(int(rand(200_000)));
	# the primary lives on: only its clients are sent away
	$primary->safe_psql('postgres', q{
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()});
	$bad .= stop_load($load);
	if ($promoted)
	{
		# it stands alone now, and is written to
		$bad .= problems($standby);
		$load = start_load($standby);
		let_run($load);
		kill_all($standby);
		$bad .= stop_load($load);
		start_again($standby)
		  or BAIL_OUT("cycle $cycle: the promoted server does not come back");
		$bad .= after_crash($standby, $load, 1);
		$standby->stop('immediate');
		no_crash($standby);
		$primary->safe_psql('postgres', q{
SELECT pg_drop_replication_slot('} . $standby->name . "')");
		$standby->clean_node;
		$standby = new_standby();
	}
	else
	{
		trim_tables($primary) if $cycle % 2;
		# drops what is invalid first, which the standby must see
		$bad .= after_crash($primary, undef, 1);
		$primary->wait_for_catchup($standby, 'replay',
			$primary->lsn('insert'));
		$bad .= problems($standby, $primary);
	}
	last if !is($bad, '', "cycle $cycle" . ($promoted ? ', promoted' : ''))
	  && ++$broken >= 3;
}
is($broken, 0, 'no cycle failed');
note("$kills kills, $promotions promotions");
$standby->stop;
$primary->stop;
no_crash($standby);
no_crash($primary);
done_testing();

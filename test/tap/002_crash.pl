# The whole server is killed with SIGKILL in the middle of writing, over and over;
# after each recovery every index is sound, complete and answers right, and no
# acknowledged commit is lost.  The storage keeps all that was written to it, so
# that full page images are not needed, and are left out in half of the cycles.
#
# FPT_CRASH_CYCLES sets the number of cycles (40), FPT_CRASH_MS how long the load
# runs at most in each (400).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptCrash;
use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $cycles = $ENV{FPT_CRASH_CYCLES} || 40;
my $seed = $ENV{FPT_CRASH_SEED} || 20261122;

srand($seed);
note("seed $seed, $cycles cycles");

my $node = PostgreSQL::Test::Cluster->new('crash');
$node->init(extra => ['--data-checksums']);
# kill -9 spares what the kernel has
crash_conf($node, "fsync = off\n");
$node->start;
install_helpers($node);
crash_schema($node);

my $started = time;
my $broken = 0;
my $commits = 0;

$node->stop;

my %set = crash_settings($node);

start_again($node) or BAIL_OUT('no start');

my %spent;
my $clock = time;

# Seconds since the last call go to this part of a cycle.
sub spent
{
	my ($what) = @_;
	my $now = time;

	$spent{$what} += $now - $clock;
	$clock = $now;
	return;
}

foreach my $cycle (1 .. $cycles)
{
	my $load = start_load($node);

	let_run($load);
	spent('load');
	kill_all($node);
	spent('kill');

	my $errors = stop_load($load);
	my %was = %set;

	$commits += () = $load->{out} =~ /\n/g;
	%set = crash_settings($node);
	spent('stop');
	start_again($node) or BAIL_OUT("cycle $cycle: no recovery");
	spent('start');

	my $bad = $errors . after_crash($node, $load, 1);

	spent('checks');
	if (!is($bad, '', "cycle $cycle"))
	{
		diag(join(', ', map { "$_ = $was{$_}" } sort keys %was));
		# errors of pages and indexes would come again; keep the first ones
		last if ++$broken >= 3;
	}
	trim_tables($node) if $cycle % 5 == 0;
	spent('trim');
}
is($broken, 0, 'no cycle failed');
cmp_ok($commits, '>=', $cycles, 'commits were acknowledged');
note(sprintf('%.1f s, %d commits acknowledged', time - $started, $commits));
note('a cycle: ' . join(', ',
	map { sprintf('%s %.0f ms', $_, 1000 * $spent{$_} / $cycles) }
	sort keys %spent));

# what was found incomplete is repaired by the writers that come by
$node->safe_psql('postgres', 'INSERT INTO t SELECT i, i, i, NULL, i FROM generate_series(1, 3000) i');
$node->safe_psql('postgres', "VACUUM $_") foreach qw(t u q);
is(after_crash($node), '', 'at the end');
$node->stop;
no_crash($node);
done_testing();

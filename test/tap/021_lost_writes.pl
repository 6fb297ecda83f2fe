# Crashes of storage that forgets what was not synced: whole files, or any of
# their blocks or sectors by the dice, so that pages are torn.  The layer that
# forgets is test/faults/lostwrites.c, loaded into the server.
#
# Each cycle is one of 002_crash, with fsync on.  To test the layer itself, btree
# indexes pass the same, and a server with fsync off does not.
#
# FPT_LOST_CYCLES sets the number of cycles (10).

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

plan skip_all => 'needs LD_PRELOAD and /proc' if $^O ne 'linux';

my $cycles = $ENV{FPT_LOST_CYCLES} || 10;
my $seed = $ENV{FPT_CRASH_SEED} || 20261122;

srand($seed);
note("seed $seed, $cycles cycles");

my $layer = compile('lostwrites', '-shared', '-fPIC');
my $tool = compile('dropwrites');
my %lost = (cycles => 0, files => 0, pieces => 0, changed => 0, sizes => 0);

# Forget writes; the server is dead.
sub drop_writes
{
	my ($node, $mode) = @_;
	my ($out, $err);
	my $ok = IPC::Run::run(
		[
			$tool, $node->data_dir, $node->basedir . '/journals',
			$mode, int(rand(1 << 31))
		],
		'>', \$out, '2>', \$err);

	BAIL_OUT("dropwrites: $err") if !$ok;
	$out =~ /^(\d+) files, (\d+) pieces, (\d+) changed, (\d+) sizes$/
	  or BAIL_OUT("dropwrites: $out");
	$lost{files} += $1;
	$lost{pieces} += $2;
	$lost{changed} += $3;
	$lost{sizes} += $4;
	return;
}

sub new_node
{
	my ($name, $am) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	# small segments of WAL: new ones are not free here
	$node->init(extra => [ '--data-checksums', '--wal-segsize=1' ]);
	crash_conf($node, "max_wal_size = 16MB\nwal_sync_method = fdatasync\n");
	$node->start;
	install_helpers($node);
	crash_schema($node, am => $am);
	$node->stop;
	mkdir $node->basedir . '/journals' or die;
	return $node;
}

sub start_on_layer
{
	my ($node, $drop) = @_;

	local $ENV{LD_PRELOAD} = $layer;
	local $ENV{FPT_LOST_DATA} = $node->data_dir;
	local $ENV{FPT_LOST_DIR} = $node->basedir . '/journals';
	return start_again($node, $drop);
}

# Crash a server some times; returns what was wrong.
sub campaign
{
	my ($name, $am, $cycles, $fsync) = @_;
	my $node = new_node($name, $am);
	my @wrong;
	my $amcheck = 0;
	my ($mode, %set);
	my $dice = sub {
		$mode = ('all', 'all', '8192', '8192', '512', '512', '512', 'keep')[ int(rand(8)) ];
		# torn pages are what full page images are for
		%set = crash_settings($node, fsync => $fsync,
			$mode eq '512' ? (full_page_writes => 'on') : ());
	};
	my $drop = sub { drop_writes($node, $mode) };
	my $start = sub { start_on_layer($node, $drop) };

	$dice->();
	$start->() or BAIL_OUT('no start');
	if ($am ne 'fptree')
	{
		$amcheck = $node->safe_psql('postgres',
			q{SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'});
		$node->safe_psql('postgres', 'CREATE EXTENSION amcheck') if $amcheck;
	}
	foreach my $cycle (1 .. $cycles)
	{
		my $load = start_load($node, am => $am);

		let_run($load);
		kill_all($node);

		my $bad = stop_load($load);
		my %was = (%set, mode => $mode);

		$load->{amcheck} = $amcheck;
		$drop->();
		$lost{cycles}++;
		# torn pages of this crash may be met in the recovery of the next one
		$dice->();
		if (!$start->())
		{
			push @wrong, "cycle $cycle: no recovery";
			last;
		}
		$bad .= after_crash($node, $load, 1);
		push @wrong, "cycle $cycle: $bad"
		  . join(', ', map { "$_ = $was{$_}" } sort keys %was)
		  if $bad ne '';
		is($bad, '', "$name, cycle $cycle, $was{mode}") if $fsync eq 'on';
		last if @wrong >= 3 || @wrong && $fsync eq 'off';
		trim_tables($node) if $cycle % 5 == 0;
	}
	if ($node->{_pid})
	{
		$node->stop(@wrong ? 'immediate' : 'fast', fail_ok => 1);
	}
	no_crash($node) if $fsync eq 'on';
	return @wrong;
}

# --- what a build has written is on disk before a checkpoint can forget its WAL

foreach my $level (qw(replica minimal))
{
	my $node = new_node("build_$level", 'fptree');
	my $sql = '';

	crash_settings($node, fsync => 'on', wal_level => $level,
		full_page_writes => 'on', wal_consistency_checking => '');
	start_on_layer($node, sub { }) or BAIL_OUT('no start');
	# Checkpoints all the time: one between the creation of a file and the end of
	# its build syncs what is there, and later ones know nothing of the rest,
	# which nobody touches again.
	my $checkpoints =
	  start_pgbench($node, '-c 1 -T 3600', 'checkpoint' => 'CHECKPOINT;');

	$checkpoints->{expected} = 1;
	foreach my $n (0 .. 5)
	{
		my $kind = $n % 3 == 1 ? 'UNLOGGED' : '';
		my $how = $n % 3 == 2 ? 'CONCURRENTLY' : '';
		my $rows = $n < 3 ? 20000 : 0;

		$sql .= "CREATE $kind TABLE x$n AS SELECT hashint4(i) AS a FROM generate_series(1, $rows) i;\n"
		  . "CREATE INDEX $how ON x$n USING fptree (a);\n";
	}
	$sql .= "CREATE INDEX x_t ON t USING fptree (id);\n"
	  . with_lines('1,1', 'REINDEX INDEX CONCURRENTLY t_a');
	$node->safe_psql('postgres', $sql);
	$node->safe_psql('postgres', q{
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid();
CHECKPOINT});
	finish_pgbench($checkpoints);
	kill_all($node);
	drop_writes($node, 'all');
	start_on_layer($node, sub { }) or BAIL_OUT('no recovery');
	is(after_crash($node), '', "wal_level $level: builds are on disk");
	is($node->safe_psql('postgres', q{
SET enable_seqscan = off;
SELECT count(*) FROM x0 WHERE a > -2147483648}),
		20000, "wal_level $level: and complete");
	# a clean shutdown leaves unlogged ones in place
	$node->safe_psql('postgres', q{
INSERT INTO x1 SELECT generate_series(1, 20000);
REINDEX TABLE x1;});
	$node->stop;
	drop_writes($node, 'all');
	start_on_layer($node, sub { }) or BAIL_OUT('no start');
	is(after_crash($node), '', "wal_level $level: so are unlogged ones");
	$node->stop;
	no_crash($node);
}

my $started = time;

$lost{$_} = 0 foreach keys %lost;

is(join("\n", campaign('lost', 'fptree', $cycles, 'on')), '',
	'nothing is lost');
note(sprintf('%.1f s: %s', time - $started,
		join(', ', map { "$lost{$_} $_" } sort keys %lost)));
cmp_ok($lost{changed}, '>', $cycles, 'the layer forgets');

# the layer does no harm to what is known to be right
is(join("\n", campaign('btree', 'btree', 3, 'on')), '', 'nothing is lost with btree');

# and does harm to what is known to be wrong
my @wrong = campaign('nosync', 'fptree', 10, 'off');
cmp_ok(scalar(@wrong), '>', 0, 'fsync = off is noticed');
note($wrong[0]) if @wrong;
done_testing();

# SIGKILL of the whole server, over and over, with indexes that are striped over
# several tablespaces: under a write load, and in the middle of DDL.  After each
# recovery indexes are sound and answer right, no acknowledged commit is lost,
# every row of pg_class has its file, every stripe its index, and every file its
# row, but for those that a crash leaves behind of any index: files of
# transactions that did not come to their end.
#
# FPT_STRIPE_CYCLES sets the number of cycles under load (6), FPT_CRASH_MS how
# long it runs at most in each (400); FPT_STRIPE_DDL_CYCLES (6) and FPT_STRIPE_MS
# (1000) are those of DDL.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptCrash;
use FptStripes;
use FptTest;
use List::Util qw(shuffle);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $cycles = $ENV{FPT_STRIPE_CYCLES} // 6;
my $ddl_cycles = $ENV{FPT_STRIPE_DDL_CYCLES} // 6;
my $ms = $ENV{FPT_STRIPE_MS} || 1000;
my $seed = $ENV{FPT_CRASH_SEED} || 20261122;

srand($seed);
note("seed $seed, $cycles cycles under load, $ddl_cycles of DDL");

my $node = PostgreSQL::Test::Cluster->new('stripes_crash');
$node->init(extra => ['--data-checksums']);
# the WAL of a cycle tells what was committed in it
crash_conf($node, "fsync = off\nwal_keep_size = 1GB\n");
stripes_conf($node);
$node->start;
install_helpers($node);
install_accounts($node);
crash_schema($node, tablespaces => 'd1, d2, d3, d4');
$node->stop;

my %set = crash_settings($node);
my %known;						# files that crashes have left behind
my ($lsn, $before);

# The server is up after a crash, and nobody else is there: remember where its
# WAL and its files are.
sub begin_cycle
{
	$lsn = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
	$before = files_of($node);
	return;
}

# What is wrong with the files after a crash; what a crash may leave of a
# statement is completed before: what was prepared, and indexes without end.
sub accounts
{
	my $wrong = '';

	$node->psql('postgres', $_) foreach rand() < 0.5 ?
	  "ROLLBACK PREPARED 'p'" : "COMMIT PREPARED 'p'", <<'SQL';
SELECT format('DROP INDEX %s', indexrelid::regclass)
FROM pg_index WHERE NOT indisvalid
\gexec
CHECKPOINT;
SQL
	return leaks_explained($node,
		$node->safe_psql('postgres', 'SELECT account()'),
		$lsn, $before, \%known);
}

start_again($node) or BAIL_OUT('no start');

# --- under load -----------------------------------------------------------------

my $broken = 0;
my $commits = 0;

foreach my $cycle (1 .. $cycles)
{
	begin_cycle();

	my $load = start_load($node, tablespaces => 'd1, d2, d3, d4, d5');

	let_run($load);
	kill_all($node);

	my $errors = stop_load($load);
	my %was = %set;

	$commits += () = $load->{out} =~ /\n/g;
	%set = crash_settings($node);
	start_again($node) or BAIL_OUT("cycle $cycle: no recovery");
	if (!is($errors . after_crash($node, $load, 1) . accounts(), '',
			"cycle $cycle"))
	{
		diag(join(', ', map { "$_ = $was{$_}" } sort keys %was));
		last if ++$broken >= 3;
	}
	trim_tables($node) if $cycle % 5 == 0;
}
cmp_ok($commits, '>=', $cycles, 'commits were acknowledged');
is(after_crash($node), '', 'after the load');

# --- DDL --------------------------------------------------------------------------

# But for what truncates a table that it has moved, as core empties the indexes'
# old files then, and no crash brings back what was in them; and what makes an
# index's metapage unreadable for a while.
my @lines = map { $_->[1] } grep {
	$_->[0] ne 'nothing' &&
	  $_->[1] !~ /TABLE x SET TABLESPACE.*TRUNCATE x|USING btree/s
} ddl_lines($node);
my $file = PostgreSQL::Test::Utils::tempdir() . '/ddl.sql';
my $done = 0;

# Commands in random order, in sessions of their own, until the server dies.
sub start_ddl
{
	my $text = '';

	$text .= "\\c -\n" . ddl_setup() . "\\c -\n$_;\nINSERT INTO x (k, w) "
	  . "SELECT i, i FROM generate_series(3001, 4000) i;\n\\echo DONE\n"
	  foreach shuffle(@lines);
	open(my $fh, '>', $file) or die "$file: $!";
	print $fh $text;
	close($fh);

	my $self = { out => '', err => '' };

	$self->{run} = IPC::Run::start(
		[
			$node->installed_command('psql'), '-XAtq', '-h',
			$node->host, '-p', $node->port, '-f', $file, 'postgres'
		],
		'<', \undef, '>', \$self->{out}, '2>', \$self->{err});
	return $self;
}

# The check of indexes; that of files with the names of stripes once the tables
# that may have exchanged files are gone.
sub after_ddl
{
	my $wrong = accounts() =~ s/\s*misnamed: .*//r;

	$wrong .= $node->safe_psql('postgres', "SELECT fpt_verify(false)");
	$node->safe_psql('postgres', ddl_setup());
	return $wrong . accounts();
}

$broken = 0;
foreach my $cycle (1 .. $ddl_cycles)
{
	begin_cycle();

	my $ddl = start_ddl();

	# from the end of the first command on
	eval {
		IPC::Run::pump($ddl->{run})
		  while $ddl->{out} !~ /DONE/ && IPC::Run::pumpable($ddl->{run});
	};
	usleep(int(rand(1000 * $ms)));
	kill_all($node);
	IPC::Run::finish($ddl->{run});
	$done += () = $ddl->{out} =~ /DONE/g;
	%set = crash_settings($node);
	start_again($node) or BAIL_OUT("DDL cycle $cycle: no recovery");
	if (!is(after_ddl(), '', "DDL cycle $cycle"))
	{
		diag(join("\n", grep { /^psql/ } split(/\n/, $ddl->{err})));
		last if ++$broken >= 3;
	}
}
cmp_ok($done, '>=', $ddl_cycles, 'commands were completed') if $ddl_cycles;

my %kinds;

$kinds{$_}++ foreach values %known;
note("left behind: $_: $kinds{$_}") foreach sort keys %kinds;
$node->stop;
no_crash($node);
done_testing();

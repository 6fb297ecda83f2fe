# Statements that are stopped half-way, by statement_timeout at one time after
# the other, by pg_cancel_backend at random, and by a limit of a process's
# memory: a clear error, and indexes that are sound and complete.
#
# FPT_LIMIT_STEPS says how many times each statement is stopped (8).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $steps = $ENV{FPT_LIMIT_STEPS} || 8;
my $node = PostgreSQL::Test::Cluster->new('limits');

$node->init;
$node->append_conf('postgresql.conf', q{
fsync = off
jit = off
shared_buffers = 2MB
autovacuum = off
log_statement = none
max_connections = 20
min_parallel_table_scan_size = 0
session_preload_libraries = 'fptree'
});
$node->start;
install_helpers($node);
$node->safe_psql('postgres', q{
CREATE TABLE t (a int, b int8, n int) WITH (fillfactor = 60);
INSERT INTO t SELECT hashint4(i), i, 0 FROM generate_series(1, 60000) i;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a);
RESET fptree.debug_node_lines;
CREATE UNIQUE INDEX t_b ON t USING fptree (b) WITH (fillfactor = 40);
CREATE SEQUENCE s START 60001;
});

my @queries = (
	"SELECT count(*) || ' ' || sum(b) FROM t WHERE a > 0",
	"SELECT count(*) || ' ' || sum(a::int8) FROM t WHERE b > 0",
	"SELECT md5(string_agg(a::text, ',')) FROM (SELECT a FROM t ORDER BY a) s");

# Statements, and what undoes them if they succeed.
my @statements = (
	[ 'build', 'SET max_parallel_maintenance_workers = 0; CREATE INDEX x ON t USING fptree (a DESC)',
		'DROP INDEX IF EXISTS x' ],
	[ 'spilling build', "SET max_parallel_maintenance_workers = 0; SET maintenance_work_mem = '1MB'; CREATE INDEX x ON t USING fptree (b)",
		'DROP INDEX IF EXISTS x' ],
	[ 'parallel build', 'SET max_parallel_maintenance_workers = 2; CREATE INDEX x ON t USING fptree (a)',
		'DROP INDEX IF EXISTS x' ],
	[ 'general build', 'SET max_parallel_maintenance_workers = 0; CREATE INDEX x ON t USING fptree ((a::text), b)',
		'DROP INDEX IF EXISTS x' ],
	[ 'spilling general build', "SET max_parallel_maintenance_workers = 0; SET maintenance_work_mem = '1MB'; CREATE INDEX x ON t USING fptree (a, b)",
		'DROP INDEX IF EXISTS x' ],
	[ 'parallel general build', 'SET max_parallel_maintenance_workers = 2; CREATE INDEX x ON t USING fptree (n, (a::text))',
		'DROP INDEX IF EXISTS x' ],
	[ 'concurrent parallel build', 'SET max_parallel_maintenance_workers = 2; CREATE INDEX CONCURRENTLY x ON t USING fptree (n, a)',
		'DROP INDEX IF EXISTS x' ],
	[ 'concurrent build', 'CREATE INDEX CONCURRENTLY x ON t USING fptree (a)',
		'DROP INDEX IF EXISTS x' ],
	[ 'concurrent rebuild', "SET fptree.debug_node_lines = '1,1'; REINDEX INDEX CONCURRENTLY t_a",
		'RESET fptree.debug_node_lines; DROP INDEX IF EXISTS t_a_ccnew, t_a_ccold, t_a_ccnew1, t_a_ccold1' ],
	[ 'scan', 'SET enable_seqscan = off; SELECT count(*) FROM (SELECT a FROM t ORDER BY a) s', '' ],
	[ 'backward scan', 'SET enable_seqscan = off; SELECT count(n) FROM (SELECT a, n FROM t ORDER BY a DESC) s', '' ],
	[ 'bitmap scan', 'SET enable_seqscan = off; SET enable_indexscan = off; SELECT count(n) FROM t WHERE a > -1000000000', '' ],
	[ 'insertion', "INSERT INTO t SELECT hashint8(i), i, 0 FROM (SELECT nextval('s') AS i FROM generate_series(1, 4000)) s", '' ],
	[ 'update', 'UPDATE t SET a = -a WHERE b % 10 = 0', '' ],
	[ 'VACUUM', 'VACUUM t', 'DELETE FROM t WHERE b % 9 = (random() * 9)::int' ],
	[ 'check', "SELECT fptree_index_parent_check('t_a', true, true)", '' ]);

# Drop what failed builds leave, and look at the rest.
sub sound
{
	my ($what) = @_;
	my $list = join(', ', map { "\$q\$$_\$q\$" } @queries);
	my $bad = $node->safe_psql('postgres', qq{
SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index WHERE NOT indisvalid
\\gexec
SELECT fpt_verify();
SELECT fpt_differ(ARRAY[$list]);
});

	$bad =~ s/\n//g;
	return is($bad, '', "$what: sound");
}

# A statement and its undoing; how it ended.
sub run_one
{
	my ($sql, $undo) = @_;
	my ($err, $rc);

	$rc = $node->psql('postgres', $sql, stderr => \$err, on_error_stop => 1);
	# ON_ERROR_STOP would not let it happen
	$node->safe_psql('postgres', $undo) if $undo ne '';
	return $err;
}

# Bytes of address space a process has
sub vm_size
{
	my ($pid) = @_;
	my ($kb) = slurp_file("/proc/$pid/status") =~ /VmSize:\s+(\d+) kB/;

	return $kb * 1024;
}

# --- statement_timeout

# One that is met at the very end of a statement, while the server takes it back,
# is forgotten, and what it has asked for taken for somebody's request.
my $met = qr/canceling statement due to (?:statement timeout|user request)/;
my $all = 0;

foreach my $s (@statements)
{
	my ($name, $sql, $undo) = @$s;
	my @parts = split(/; (?=[^;]*$)/, $sql);
	my $set = @parts > 1 ? "$parts[0];" : '';
	my $last = $parts[-1];
	my $from = time;
	my ($stopped, $bad) = (0, '');

	$bad = run_one($sql, $undo);

	my $ms = (time - $from) * 1000;

	# first at once, which any statement but the shortest meets
	foreach my $i (0 .. $steps)
	{
		my $timeout = int(1 + $ms * $i * 0.8 / $steps);
		my $err = run_one("$set\nSET statement_timeout = $timeout;\n$last;", $undo);

		$stopped++ if $err =~ $met;
		$bad .= $err if $err ne '' && $err !~ $met;
	}
	$all += $stopped;
	is($bad, '', "$name: stopped $stopped times of " . ($steps + 1));
	sound($name);
}

cmp_ok($all, '>=', @statements / 2, 'statements were stopped');

# --- pg_cancel_backend

my $victim = join('', map { "$_->[1];\n" . ($_->[2] ? "$_->[2];\n" : '') } @statements);
my $dir = PostgreSQL::Test::Utils::tempdir();

append_to_file("$dir/victim.sql", "SET application_name = 'victim';\n" . $victim x 3);
append_to_file("$dir/cancel.sql", q{
DO $$ BEGIN LOOP
	PERFORM pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim';
	PERFORM pg_sleep(random() * 0.1);
	PERFORM pg_stat_clear_snapshot();
END LOOP; END $$;
});

my @psql = ($node->installed_command('psql'), '-XAtq', '-h', $node->host,
	'-p', $node->port, 'postgres', '-f');
my ($out, $err, $out2, $err2) = ('', '', '', '');
my $canceller = IPC::Run::start([ @psql, "$dir/cancel.sql" ], '<', \undef, '>', \$out2, '2>', \$err2);
my $cancelled = 0;

# as often as it takes: how many are met is a matter of the two processes' turns
for (1 .. 100)
{
	my $once = '';

	IPC::Run::run([ @psql, "$dir/victim.sql" ], '<', \undef, '>', \$out, '2>', \$once);
	$err .= $once;
	$cancelled = () = $err =~ /canceling statement due to user request/g;
	last if $cancelled > 5;
}
$node->safe_psql('postgres', q{
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()});
IPC::Run::finish($canceller);

my @other = grep { /ERROR|FATAL/ && !/user request|already exists/ } split(/\n/, $err);

cmp_ok($cancelled, '>', 5, "$cancelled statements were cancelled");
is(join("\n", @other), '', 'and no other error came up');
sound('cancelled');

# --- memory

SKIP:
{
	skip 'needs prlimit', 1 if system('prlimit --version >/dev/null 2>&1') != 0;

	my ($short, $bad) = (0, '');

	# from nothing to enough
	foreach my $room (0, map { 100_000 * 2**($_ * 9 / $steps) } 1 .. $steps)
	{
		foreach my $s (@statements, [ 'array', 'SET enable_seqscan = off; SELECT count(*) FROM t WHERE a = ANY (ARRAY(SELECT generate_series(1, 200000)))', '' ])
		{
			my ($name, $sql, $undo) = @$s;

			# workers would have no limit
			next if $name =~ /parallel/;

			my $session = $node->background_psql('postgres', on_error_stop => 0);
			my $pid = $session->query('SELECT pg_backend_pid()');

			system_log('prlimit', '--pid', $pid, '--as=' . int(vm_size($pid) + $room));
			eval { $session->query("SET maintenance_work_mem = '1GB'; SET work_mem = '1GB'; $sql"); 1 }
			  or $bad .= "$name: $@";
			$short++ if $session->{stderr} =~ /out of memory/;
			$bad .= "$name, $room: $_\n"
			  foreach grep { /ERROR|FATAL|PANIC/ && !/out of memory|Cannot allocate|already exists/ }
			  split(/\n/, $session->{stderr});
			eval { $session->quit };
			$node->safe_psql('postgres', $undo) if $undo ne '';
		}
	}
	is($bad, '', 'small memory: no other errors');
	cmp_ok($short, '>', 0, "$short statements ran out of memory");
	sound('small memory');

	# The same for workers, which get the limit from the postmaster.
	my $pm = $node->{_pid};
	my $told = qr/out of memory|failed to initialize|could not (?:load library|map)|Cannot allocate/;

	($short, $bad) = (0, '');
	$node->safe_psql('postgres', 'ALTER TABLE t SET (parallel_workers = 2)');
	# At first a worker, which begins with as much as the postmaster has, cannot
	# map what it shares with the others.
	foreach my $room (undef, map { 100_000 * 2**($_ * 9 / $steps) } 1 .. $steps)
	{
		foreach my $s (grep { $_->[0] =~ /parallel/ } @statements)
		{
			my ($name, $sql, $undo) = @$s;
			my $session = $node->background_psql('postgres', on_error_stop => 0);

			my $pid = $session->query('SELECT pg_backend_pid()');
			my $limit = defined $room ? vm_size($pid) + $room : vm_size($pm) + 65_536;

			# the soft limit only, to be lifted again
			system_log('prlimit', '--pid', $pm, '--as=' . int($limit) . ':');
			eval { $session->query("SET maintenance_work_mem = '1GB'; $sql"); 1 }
			  or $bad .= "$name: $@";
			system_log('prlimit', '--pid', $pm, '--as=unlimited:');
			$short++ if $session->{stderr} =~ $told;
			$bad .= "$name, $limit: $_\n"
			  foreach grep { /ERROR|FATAL|PANIC/ && $_ !~ $told }
			  split(/\n/, $session->{stderr});
			eval { $session->quit };
			$node->safe_psql('postgres', $undo) if $undo ne '';
		}
	}
	is($bad, '', 'small memory in workers: no other errors');
	cmp_ok($short, '>', 0, "$short builds failed for their workers");
	sound('small memory in workers');
}

$node->stop;
no_crash($node);
done_testing();

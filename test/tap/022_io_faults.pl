# Each call of the operating system that a fixed workload makes on files of
# fptree indexes, and on the temporary files of their builds, fails once: reads,
# writes, syncs, truncations, opens, unlinks, seeks, allocations of memory; with
# EIO, with ENOSPC, or by half.  And from each point on there is no space to
# extend files.  After each fault the server is up, somebody was told, and all
# indexes are sound and answer right.
#
# FPT_FAULTS says how many faults (78), spread over all kinds; with FPT_FAULTS=all
# there are as many as the workload has calls.  FPT_FAULT_KIND is a pattern that
# chooses some kinds.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep time);

plan skip_all => 'needs LD_PRELOAD and /proc' if $^O ne 'linux';

my $faults = $ENV{FPT_FAULTS} || 78;
my $only = $ENV{FPT_FAULT_KIND};
my $seed = $ENV{FPT_FAULT_SEED} || 20261122;

srand($seed);
note("seed $seed, $faults faults");

# As in iofault.c: bit of the call, number of the fault, sticky
my %kinds = (
	'read EIO' => [ 1, 1, 0 ],
	'read short' => [ 1, 3, 0 ],
	'write EIO' => [ 2, 1, 0 ],
	'write ENOSPC' => [ 2, 2, 0 ],
	'write short' => [ 2, 3, 0 ],
	'sync EIO' => [ 4, 1, 0 ],
	'truncate EIO' => [ 8, 1, 0 ],
	'open EIO' => [ 16, 1, 0 ],
	'open ENOSPC' => [ 16, 2, 0 ],
	'unlink EIO' => [ 32, 1, 0 ],
	'seek EIO' => [ 64, 1, 0 ],
	'memory' => [ 128, 4, 0 ],
	'disk full' => [ 256, 2, 1 ]);

my $layer = compile('iofault', '-shared', '-fPIC');
my $node = PostgreSQL::Test::Cluster->new('faults');
my $space = $node->basedir . '/space';
my $control = $node->basedir . '/control';

# There is hardly a page that stays in shared buffers from one statement to the
# next, and nobody but the workload and the checkpoints it asks for writes.
$node->init;
$node->append_conf('postgresql.conf', q{
fsync = on
jit = off
client_min_messages = warning
shared_buffers = 600kB
temp_tablespaces = 'faulty'
bgwriter_lru_maxpages = 0
checkpoint_timeout = 1h
autovacuum = off
restart_after_crash = on
log_statement = none
log_checkpoints = off
maintenance_work_mem = 1MB
max_parallel_maintenance_workers = 0
full_page_writes = off
wal_level = replica
max_connections = 10
session_preload_libraries = 'fptree'
});
mkdir $space or die;
open(my $ctl, '+>', $control) or die "$control: $!";
arm(0, 0, 0, 0, 0);

start_faulty();
install_helpers($node);
$node->safe_psql('postgres', "CREATE TABLESPACE faulty LOCATION '$space'");
$node->safe_psql('postgres', q{
CREATE TABLE big AS SELECT hashint8(i)::int8 AS a FROM generate_series(1, 66000) i;
CREATE TABLE w (a int, b int, f float8, n int);
CREATE FUNCTION fill(first int, last int) RETURNS void LANGUAGE sql AS
'INSERT INTO w SELECT hashint4(i), i, CASE WHEN i % 5 > 0 THEN i END, 0 FROM generate_series(first, last) i';
CHECKPOINT;
});

# A build that spills; and builds, splits, removal, re-use, rebuilds.
my $workload = q{
CREATE INDEX big_a ON big USING fptree (a) TABLESPACE faulty;
SET enable_seqscan = off;
SELECT sum(a) FROM big WHERE a < -1800000000;
DROP INDEX big_a;
SELECT fill(1, 500);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX w_a ON w USING fptree (a)
	WITH (fillfactor = 90) TABLESPACE faulty;
CREATE UNIQUE INDEX w_b ON w USING fptree (b DESC)
	WITH (fillfactor = 30) TABLESPACE faulty;
RESET fptree.debug_node_lines;
CREATE INDEX CONCURRENTLY w_f ON w USING fptree (f) TABLESPACE faulty;
SELECT fill(501, 2500);
CHECKPOINT;
SET enable_bitmapscan = off;
SELECT count(a) FROM w WHERE a > 0;
SELECT count(*) FROM (SELECT b FROM w ORDER BY b) s;
SET enable_indexscan = off;
SET enable_bitmapscan = on;
SELECT count(*) FROM w WHERE b > 10;
RESET enable_indexscan;
DELETE FROM w WHERE b BETWEEN 100 AND 1700;
VACUUM w;
SELECT fill(2501, 3300);
SET fptree.debug_node_lines = '1,1';
REINDEX INDEX w_a;
REINDEX INDEX CONCURRENTLY w_b;
RESET fptree.debug_node_lines;
UPDATE w SET a = -a, n = 1 WHERE b % 7 = 0;
CHECKPOINT;
BEGIN;
TRUNCATE w;
SET LOCAL fptree.debug_node_lines = '1,1';
REINDEX INDEX w_a;
REINDEX INDEX w_b;
SELECT fill(3301, 3400);
ROLLBACK;
VACUUM w;
};
# the plain statements of it, for which memory may run out
my $in_memory = $workload =~ s/^CHECKPOINT;\n//mgr;

my @queries = (
	'SELECT count(*) FROM w WHERE a > 0',
	"SELECT count(*) || ' ' || sum(a::int8) FROM w WHERE b BETWEEN 50 AND 3000",
	'SELECT count(*) FROM w WHERE f IS NULL',
	'SELECT md5(string_agg(a::text, \',\')) FROM (SELECT a FROM w ORDER BY a) s');
my $list = join(', ', map { "\$q\$$_\$q\$" } @queries);

# Ends with no index, and no row in w.
my $as_it_was = q{
TRUNCATE w;
SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index
WHERE indrelid IN ('w'::regclass, 'big'::regclass)
\gexec
};

sub arm
{
	my ($op, $fault, $sticky, $pid, $n) = @_;

	sysseek($ctl, 0, 0);
	# switched on last
	syswrite($ctl, pack('LLLLqqqZ256LLq', 0, $fault, $sticky, $pid, $n, 0, 0, '', 0, 0, 0));
	sysseek($ctl, 0, 0);
	syswrite($ctl, pack('L', $op));
	return;
}

sub start_faulty
{
	local $ENV{LD_PRELOAD} = $layer;
	local $ENV{FPT_FAULT_CONTROL} = $control;

	$node->start;
	return;
}

# Calls counted, faults made, the file of the first, whether it was an open for
# reading only, whether the rest of a half call was done
sub disarm
{
	my $buf;

	sysseek($ctl, 0, 0);
	syswrite($ctl, pack('L', 0));
	sysseek($ctl, 0, 0);
	sysread($ctl, $buf, 312);
	my (undef, undef, undef, undef, undef, $count, $fired, $what, $reading, $resumed) =
	  unpack('LLLLqqqZ256LL', $buf);
	return ($count, $fired, $what, $reading, $resumed);
}

# Run the workload with one fault; n = 0: none.  What the client was told.  Mostly
# it ends at the first error, to have time for more faults; else it goes on with
# what that has left behind.
sub run_workload
{
	my ($kind, $n) = @_;
	my ($op, $fault, $sticky) = @{ $kinds{$kind} };
	my $err = '';

	if ($kind eq 'memory')
	{
		# in this one process; with all that a new one must allocate
		eval {
			my $s = $node->background_psql('postgres', on_error_stop => 0);
			my $pid = $s->query('SELECT pg_backend_pid()');

			arm($op, $fault, $sticky, $pid, $n);
			$s->query($in_memory);
			$err = $s->{stderr};
			$s->quit;
			1;
		} or $err = $@;
	}
	else
	{
		arm($op, $fault, $sticky, 0, $n);
		eval {
			$node->psql('postgres', $workload, stderr => \$err,
				on_error_stop => !$sticky && rand() < 0.7);
			1;
		} or $err .= $@;
	}
	return ($err, disarm());
}

# A process has fallen over, and the server is up again after a while: not before
# its log, from here on, says that it went down, which may be later than the
# client noticed.
sub wait_until_up
{
	my ($from) = @_;

	for (1 .. 3600)
	{
		my $up = slurp_file($node->logfile, $from) =~
		  /terminated by signal.*ready to accept connections/s
		  && eval { $node->psql('postgres', 'SELECT 1') == 0 };

		return 1 if $up;
		usleep(50_000);
	}
	return 0;
}

my $told = qr/Input\/output error|No space left on device|no space for the free space map|read only \d+ of|wrote only|could not (?:read|write|extend|open|fsync|truncate|seek|flush)|out of memory|Cannot allocate memory/i;
my $aborted_twice = qr/AbortTransaction while in ABORT state\s+TRAP: [^\n]*procarray\.c/;
my %made;
my %statements;
my %during;
my $crashes = 0;

# One fault and all that must hold after it; what was wrong.
sub one_fault
{
	my ($kind, $n) = @_;
	my $from = -s $node->logfile;
	my ($err, $count, $fired, $what, $reading, $resumed) = run_workload($kind, $n);
	my $log = slurp_file($node->logfile, $from);
	my $bad = '';

	if (!$fired)
	{
		$node->safe_psql('postgres', $as_it_was);
		return '';
	}
	$made{$kind} += $fired > 1 ? 1 : $fired;

	# core's own: a failed sync may have lost data (it opens the file, too), a failed
	# truncation has been logged already, and files that a commit deletes are deleted when it cannot
	# be undone any more
	my $panic = $log =~ /PANIC: |TRAP: |terminated by signal/;
	# nor can a transaction be aborted a second time that had an error in ROLLBACK,
	# where files are to be deleted: an assertion of core's fails
	my $twice = $log =~ $aborted_twice;
	my $may_panic = $twice || $kind =~ /^(sync|truncate)/
	  || $kind =~ /^open/ && $log =~ /PANIC:  could not fsync file/
	  || $kind =~ /^(open|seek|memory)/
	  && $log =~ /PANIC:  cannot abort transaction \d+, it was already committed/;

	$crashes++ if $panic;
	$bad .= "PANIC\n" if $panic && !$may_panic;
	$bad .= "TRAP\n" if $log =~ /TRAP: / && !$twice;
	$bad .= "the server is not up\n" if $panic && !wait_until_up($from);
	$during{$1}++ while $log =~ /STATEMENT:  (\w+ \w+)/g;
	$statements{$1}++ while $err =~ /(?:ERROR|FATAL):  ([^"\d:]{0,40})/g;

	# A temporary file is read and written by what there is; from 17 on core does
	# the rest of a page that was read or written by half; the path of an
	# allocation is not known, and some can do without; of a second segment of a
	# file core only asks whether there is one; and an index's file is opened for
	# reading only to give the kernel a hint.
	my $silent = $kind =~ /short/ && ($resumed || $what =~ /pgsql_tmp/)
	  || $kind =~ /^open/ && ($what =~ /\.\d+$/
		|| $reading && $what !~ /pgsql_tmp/)
	  || $kind eq 'memory';

	$bad .= "nobody was told: $err\n"
	  if !$silent && $err !~ $told && $log !~ $told;
	$bad .= "unclear: $1\n"
	  if $err =~ /(ERROR:  [^\n]*(?:corrupted|could not fill page|Assert)[^\n]*)/;
	if ($bad !~ /not up/)
	{
		my ($out, $e);

		eval {
			$node->psql('postgres',
				"SELECT fpt_verify(random() < 0.3);\nSELECT fpt_differ(ARRAY[$list]);\n$as_it_was",
				stdout => \$out, stderr => \$e, on_error_stop => 0);
			1;
		} or $e = $@;
		$bad .= "$out$e" if $e ne '' || $out =~ /\S/;
	}
	return $bad eq '' ? '' : "$kind, call $n of $what: $bad$err";
}

# How many calls are there?
my %calls;
my @names = grep { !$only || $_ =~ /$only/ } sort keys %kinds;

foreach my $kind (@names)
{
	my ($err, $count, $fired) = run_workload($kind, 0);

	is($err, '', "$kind: the workload runs clean");
	$calls{$kind} = $count;
	$node->safe_psql('postgres', $as_it_was);
}

# As many of each kind, and what kinds of few calls leave goes to the others.
my %want = %calls;

if ($faults ne 'all')
{
	my $left = $faults;
	my @order = sort { $calls{$a} <=> $calls{$b} } @names;

	foreach my $i (0 .. $#order)
	{
		my $part = int($left / (@order - $i));

		$want{ $order[$i] } = $part if $want{ $order[$i] } > $part;
		$left -= $want{ $order[$i] };
	}
}

my $started = time;

foreach my $kind (@names)
{
	# every call, or one in each of so many stretches of calls
	my $want = $want{$kind};
	my @bad;

	foreach my $i (0 .. $want - 1)
	{
		my $len = $calls{$kind} / $want;
		my $n = 1 + int($len * $i + ($len > 1 ? rand($len) : 0));
		my $bad = one_fault($kind, $n);

		note("$kind: $i of $want") if $i % 200 == 199;
		next if $bad eq '';
		push @bad, $bad;
		last if @bad >= 5;
	}
	is(join("\n", @bad), '', sprintf('%s: %d faults in %d calls', $kind,
			$made{$kind} // 0, $calls{$kind}));
	# the number of calls is not always the same, but there is a first one
	if ($want > 0 && !$made{$kind})
	{
		is(one_fault($kind, 1), '', "$kind: the first call");
	}
	cmp_ok($made{$kind} // 0, '>', 0, "$kind: there were faults")
	  if $calls{$kind} > 0;
}

# A disk that cannot be read keeps nobody from rebuilding or dropping what is on
# it: no more than with a btree, whose files nobody looks at.
SKIP:
{
	skip 'other kinds were asked for', 18 if $only && 'read EIO' !~ /$only/;
	# a query that tries in vain leaves a buffer of the page
	my $query = 'SELECT version FROM fptree_metap';

	foreach my $sql (
		'REINDEX INDEX z_a', 'TRUNCATE z', 'ALTER TABLE z ALTER a TYPE numeric',
		'DROP INDEX z_a', 'DROP TABLE z', 'DROP INDEX z_b',
		"$query('z_a'); REINDEX INDEX z_a", "$query('z_a'); DROP INDEX z_a",
		"$query('z_b'); DROP TABLE z")
	{
		my $err;

		$node->safe_psql('postgres', q{DROP TABLE IF EXISTS z;
CREATE TABLE z AS SELECT i AS a FROM generate_series(1, 2000) i;
CREATE INDEX z_a ON z USING fptree (a) WITH (tablespaces = 'faulty, pg_default') TABLESPACE faulty;
CREATE INDEX z_b ON z USING fptree (a) TABLESPACE faulty});
		$node->stop;
		start_faulty();
		arm(1, 1, 1, 0, 1);
		$node->psql('postgres', $sql, stderr => \$err, on_error_stop => 0);
		disarm();
		$err =~ s/^psql:\S+ //gm;
		$err =~ s/^DETAIL:  could not read blocks? [0.]+ in file "pg_tblspc[^"]*": Input.output error\.\n?//gm;
		$err =~ s/^ERROR:  could not read block[^\n]*\n// if $sql =~ /$query/;
		is(join(', ', sort split(/\n/, $err)),
			join(', ', map { qq{WARNING:  cannot read the metapage of index "$_"} }
			  $sql =~ /INDEX (z_\w)/ ? ($1) : qw(z_a z_b)),
			"unreadable: $sql");
		# nobody could tell whose the stripes are
		is($node->safe_psql('postgres', 'SELECT fptree_drop_orphans() < 9; SELECT fpt_verify()'),
			"t\n", "after that: $sql");
	}
}

# On a full disk VACUUM frees pages that are not in the free space map, whose
# file is not there yet: it removes the rows all the same, and tells.  A later one
# puts the pages into the map.
SKIP:
{
	skip 'other kinds were asked for', 6 if $only && 'disk full' !~ /$only/;
	foreach my $striped (0, 1)
	{
		my $name = $striped ? 'full disk, stripes' : 'full disk';
		my $with = $striped ? "WITH (tablespaces = 'faulty, pg_default')" : '';
		my $size = "SELECT fptree_index_size('y_a')";
		my ($err, $before);

		$node->safe_psql('postgres', qq{DROP TABLE IF EXISTS y;
CREATE TABLE y AS SELECT i AS a, 0 AS b FROM generate_series(1, 3000) i;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX y_a ON y USING fptree (a) $with TABLESPACE faulty;
DELETE FROM y WHERE a > 20});
		arm(256, 2, 1, 0, 1);
		$node->psql('postgres', 'VACUUM y', stderr => \$err);
		disarm();
		like($err, qr/^[^\n]*WARNING:  no space for the free space map of index "y_a"\nDETAIL:  \d+ free pages? (?:is|are) not in it\.\nHINT:  [^\n]*$/,
			"$name: VACUUM only warns");
		is($node->safe_psql('postgres', "SELECT entries FROM fptree_stat('y_a'); SELECT fpt_verify()"),
			"20\n", "$name: it has removed all entries");
		$node->safe_psql('postgres', 'DELETE FROM y WHERE a > 10; VACUUM y');
		$before = $node->safe_psql('postgres', $size);
		$node->safe_psql('postgres', 'INSERT INTO y SELECT i, 0 FROM generate_series(100, 2000) i');
		is($node->safe_psql('postgres', $size), $before, "$name: the pages are used again");
	}
	$node->safe_psql('postgres', 'DROP TABLE y');
}

my $total = 0;
$total += $_ foreach values %made;
note(sprintf('%.1f s: %d faults, %d crashes', time - $started, $total, $crashes));
note("$statements{$_}  $_")
  foreach sort { $statements{$b} <=> $statements{$a} } keys %statements;
note("during: $during{$_}  $_")
  foreach sort { $during{$b} <=> $during{$a} } keys %during;
$node->stop;
unlike(slurp_file($node->logfile) =~ s/$aborted_twice//gr, qr/TRAP: /,
	'no assertion failed');
done_testing();

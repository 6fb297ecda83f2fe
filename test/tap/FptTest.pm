# What the TAP tests of fptree share.

package FptTest;

use strict;
use warnings;

use Exporter 'import';
use File::Basename;
use IPC::Run;
use POSIX qw(setsid WNOHANG);
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(
  install_helpers verify same_as_seqscan start_pgbench finish_pgbench
  without_checksums wait_replayed start_server spawn_server kill_all no_crash compile install_without_library
  with_lines
);

# Create the extension and the functions used here in a database.
sub install_helpers
{
	my ($node, $db) = @_;

	$node->safe_psql($db // 'postgres', <<'SQL');
CREATE EXTENSION fptree;

-- Problems of all valid fptree indexes; on a standby only what needs no lock a
-- standby cannot take.  The second check includes the first one, which may be
-- left out.
CREATE FUNCTION fpt_verify(twice bool DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ix regclass;
	bad text := '';
BEGIN
	FOR ix IN
		SELECT i.indexrelid::regclass
		FROM pg_index i
			 JOIN pg_class c ON c.oid = i.indexrelid
			 JOIN pg_am a ON a.oid = c.relam
		WHERE a.amname = 'fptree' AND c.relkind = 'i' AND i.indisvalid
			  AND (c.relpersistence = 'p'
				   OR c.relpersistence = 'u' AND NOT pg_is_in_recovery())
		ORDER BY 1
	LOOP
		BEGIN
			IF twice OR pg_is_in_recovery() THEN
				PERFORM fptree_index_check(ix, true, true);
			END IF;
			IF NOT pg_is_in_recovery() THEN
				PERFORM fptree_index_parent_check(ix, true, true, true);
			END IF;
		EXCEPTION WHEN OTHERS THEN
			bad := bad || format(E'%s: %s\n', ix, sqlerrm);
		END;
	END LOOP;
	RETURN bad;
END $$;

-- Queries that an index and a sequential scan answer differently.
CREATE FUNCTION fpt_differ(queries text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q text;
	s text;
	i text;
	b text;
	bad text := '';
BEGIN
	FOREACH q IN ARRAY queries LOOP
		PERFORM set_config('enable_seqscan', 'on', true),
				set_config('enable_indexscan', 'off', true),
				set_config('enable_bitmapscan', 'off', true);
		EXECUTE q INTO s;
		PERFORM set_config('enable_seqscan', 'off', true),
				set_config('enable_indexscan', 'on', true);
		EXECUTE q INTO i;
		PERFORM set_config('enable_indexscan', 'off', true),
				set_config('enable_bitmapscan', 'on', true);
		EXECUTE q INTO b;
		PERFORM set_config('enable_indexscan', 'on', true),
				set_config('enable_seqscan', 'on', true);
		IF i IS DISTINCT FROM s OR b IS DISTINCT FROM s THEN
			bad := bad || format(E'%s: seq %s, index %s, bitmap %s\n', q, s, i, b);
		END IF;
	END LOOP;
	RETURN bad;
END $$;
SQL
	return;
}

# A node that does not run yet has no checksums: from 18 on initdb turns them on.
sub without_checksums
{
	my ($node) = @_;
	my @checksums = ('pg_checksums', '-D', $node->data_dir);
	my ($out) = run_command([ @checksums, '--check' ]);

	system_or_bail(@checksums, '--disable') if $out =~ /Bad checksums:/;
	return;
}

# All indexes are sound.
sub verify
{
	my ($node, $name, $db) = @_;
	my $bad = $node->safe_psql($db // 'postgres', 'SELECT fpt_verify()');

	return is($bad, '', $name);
}

# The queries, each of one row and column, do not depend on the kind of scan.
sub same_as_seqscan
{
	my ($node, $name, @queries) = @_;
	my $list = join(', ', map { "\$q\$$_\$q\$" } @queries);
	my $bad =
	  $node->safe_psql('postgres', "SELECT fpt_differ(ARRAY[$list])");

	return is($bad, '', $name);
}

# Wait until a standby, of whatever node, has replayed all that a primary has
# written.
sub wait_replayed
{
	my ($node, $primary) = @_;
	my $lsn = $primary->lsn('flush');

	return $node->poll_query_until('postgres',
		"SELECT pg_last_wal_replay_lsn() >= '$lsn'")
	  || die $node->name . " does not reach $lsn";
}

# Statements whose indexes get nodes of these widths, and the setting's end.  An
# index that is rebuilt gets the widths that are set then; where those of a table
# are to have different ones, what rebuilds all of them is followed by this.
sub with_lines
{
	my ($lines, @sql) = @_;

	return join('', map { "$_;\n" } "SET fptree.debug_node_lines = '$lines'", @sql,
		'RESET fptree.debug_node_lines');
}

# No process of the server has fallen over by itself.  The command of an
# archiver is none: an immediate stop of the server ends it with a signal.
sub no_crash
{
	my ($node, $name) = @_;
	my $log = slurp_file($node->logfile);
	my @bad = grep { /TRAP: |PANIC: |\(PID \d+\) was terminated by signal/ }
	  split(/\n/, $log);

	return is(join("\n", @bad), '', $name // $node->name . ': no crash');
}

# Directories of scripts, by their text: campaigns use the same over and over.
my %script_dirs;

# Run pgbench in the background on scripts given as name => text.
sub start_pgbench
{
	my ($node, $options, %scripts) = @_;
	my $text = join("\0", map { ($_, $scripts{$_}) } sort keys %scripts);
	my $known = $script_dirs{$text};
	my $dir = $known // PostgreSQL::Test::Utils::tempdir();
	my @cmd = ($node->installed_command('pgbench'), '-n', '-h', $node->host,
		'-p', $node->port, split(/\s+/, $options));
	my $self = { out => '', err => '' };

	foreach my $name (sort keys %scripts)
	{
		my ($file, $weight) = split(/@/, $name);

		append_to_file("$dir/$file", $scripts{$name}) if !$known;
		push @cmd, '-f', "$dir/$file" . (defined $weight ? "\@$weight" : '');
	}
	$script_dirs{$text} = $dir;
	$self->{run} = IPC::Run::start([ @cmd, 'postgres' ],
		'<', \undef, '>', \$self->{out}, '2>', \$self->{err});
	return $self;
}

# Wait for pgbench to end; true if it ended without errors.
sub finish_pgbench
{
	my ($bench) = @_;

	IPC::Run::finish($bench->{run});
	my $ok = IPC::Run::result($bench->{run}) == 0;

	diag($bench->{err}) if !$ok && !$bench->{expected};
	return $ok;
}

# Start a server without pg_ctl, which looks only ten times a second whether it
# is up: campaigns start thousands.  True if it is.
sub start_server
{
	my ($node) = @_;

	spawn_server($node);
	# minutes: recovery may be long, and the machine busy
	for (1 .. 60_000)
	{
		my $status = (eval { split(/\n/, slurp_pid_file($node)) })[7] // '';

		return 1 if $status =~ /^ready/;
		last if waitpid($node->{_pid}, WNOHANG) == $node->{_pid};
		select(undef, undef, undef, 0.003);
	}
	$node->{_pid} = undef;
	return 0;
}

# What start_server() begins with: the process.
sub spawn_server
{
	my ($node) = @_;
	my @cmd = ($node->installed_command('postgres'), '-D', $node->data_dir,
		'-c', 'cluster_name=' . $node->name);
	my $pid = fork() // die "fork: $!";

	if ($pid == 0)
	{
		delete $ENV{PGAPPNAME};
		open(STDIN, '<', '/dev/null') or POSIX::_exit(1);
		open(STDOUT, '>>', $node->logfile) or POSIX::_exit(1);
		open(STDERR, '>&', \*STDOUT) or POSIX::_exit(1);
		# signals to the test are not for the server
		setsid();
		{ exec(@cmd) };
		POSIX::_exit(1);
	}
	$node->{_pid} = $pid;
	return;
}

# The lock file of the server just spawned, not of the one before it
sub slurp_pid_file
{
	my ($node) = @_;
	my $text = slurp_file($node->data_dir . '/postmaster.pid');

	return $text =~ /^$node->{_pid}\n/ ? $text : '';
}

# SIGKILL to the postmaster and to every process it has started.  Linux may end
# a write half-way for it: on a tmpfs pages are torn in one of four kills.  Where
# the node is said to depend on whole writes, all processes are stopped first,
# wherever they are, which lets them complete a system call.
sub kill_all
{
	my ($node) = @_;
	my $postmaster = $node->{_pid};
	my (@children, @alive);

	# stopped first, it starts nobody any more and sees nobody die; killed last,
	# no child lives to see it gone and tidies up
	kill('STOP', $postmaster);
	wait_for_state($postmaster, 'TZ');
	# a list that is read while processes end may lack some; the dead stay in it
	do
	{
		@children = children_of($postmaster);
		@alive = grep { state_of($_) ne 'Z' } @children;
		if ($node->{whole_writes})
		{
			kill('STOP', @alive);
			wait_for_state($_, 'TZ') foreach @alive;
		}
		kill('KILL', @alive);
		select(undef, undef, undef, 0.001) if @alive;
	} while (@alive);
	kill('KILL', $postmaster);
	# gone, and detached from the shared memory
	wait_for_state($_, 'Z') foreach $postmaster, @children;
	# if it is a child of ours
	waitpid($postmaster, WNOHANG);
	# a process nobody has waited for counts as alive with those who look at
	# lock files
	unlink $node->data_dir . '/postmaster.pid',
	  $node->host . '/.s.PGSQL.' . $node->port . '.lock';
	$node->{_pid} = undef;
	return;
}

# Wait until a process is in one of these states, or gone.
sub wait_for_state
{
	my ($pid, $states) = @_;

	for (1 .. 5000)
	{
		return if index($states, state_of($pid)) >= 0;
		select(undef, undef, undef, 0.002);
	}
	return;
}

# The kernel's own list, where it has one
sub children_of
{
	my ($parent) = @_;
	my @children;

	if (open(my $fh, '<', "/proc/$parent/task/$parent/children"))
	{
		return split(' ', <$fh> // '');
	}
	foreach my $stat (glob '/proc/[0-9]*/stat')
	{
		open(my $fh, '<', $stat) or next;
		my $line = <$fh>;
		close($fh);
		push @children, $1
		  if defined $line
		  && $line =~ /^(\d+) \(.*\) \S (\d+) /
		  && $2 == $parent;
	}
	return @children;
}

# A private copy of the installation: programs and shared files are found
# relative to the server's own place, so the directories keep their layout; the
# libraries are links, and fptree's is missing.  Returns where it is and where
# its libraries are.
sub install_without_library
{
	my %dir;

	foreach my $what (qw(bindir sharedir pkglibdir))
	{
		chomp($dir{$what} = `pg_config --$what`);
	}
	my $root = PostgreSQL::Test::Utils::tempdir();
	my $bin = "$root$dir{bindir}";
	my $lib = "$root$dir{pkglibdir}";

	system_or_bail('mkdir', '-p', $bin, dirname("$root$dir{sharedir}"), $lib);
	system_or_bail('cp', "$dir{bindir}/$_", $bin)
	  foreach qw(postgres pg_ctl pg_config psql);
	system_or_bail('ln', '-s', $dir{sharedir}, "$root$dir{sharedir}");
	foreach my $file (glob "$dir{pkglibdir}/*")
	{
		next if basename($file) =~ /^fptree/;
		symlink($file, "$lib/" . basename($file));
	}
	return (dirname($bin), $lib);
}

# Compile a file of test/faults; what it makes is never installed.
sub compile
{
	my ($name, @flags) = @_;
	my $source = dirname(__FILE__) . "/../faults/$name.c";
	my $out = PostgreSQL::Test::Utils::tempdir() . "/$name";

	system_or_bail($ENV{CC} // 'cc', '-O2', '-Wall', '-o', $out, @flags,
		$source, '-ldl');
	return $out;
}

sub state_of
{
	my ($pid) = @_;

	open(my $fh, '<', "/proc/$pid/stat") or return 'Z';
	my $line = <$fh> // '';
	close($fh);
	return $line =~ /\) (\S) / ? $1 : 'Z';
}

1;

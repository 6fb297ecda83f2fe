# Random DDL by several sessions at once on tables with striped indexes, in
# transactions with savepoints, under lock and statement timeouts, beside queries,
# insertions and fptree_drop_orphans().  After each round every file has its row in
# pg_class and every row its file, no stripe is without an index, all indexes are
# sound, and every error that a session got is one of those that such commands get
# with btree.
#
# FPT_DDL_ROUNDS (5), FPT_DDL_OPS (15): of each session in a round,
# FPT_DDL_SESSIONS (8), FPT_DDL_SEED.  A seed gives the same commands again, though
# not the same order in time.  FPT_DDL_AM=btree: the same with btree indexes, which
# says of a message whether it is PostgreSQL's own.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptStripes;
use FptTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{FPT_DDL_ROUNDS} // 5;
my $ops = $ENV{FPT_DDL_OPS} // 15;
my $sessions = $ENV{FPT_DDL_SESSIONS} // 8;
my $seed = $ENV{FPT_DDL_SEED} // 33;
my $tables = 4;
my $am = $ENV{FPT_DDL_AM} // 'fptree';
my $striped = $am eq 'fptree';

# Timeouts, deadlocks, what comes after an error, what is there already or no more:
# PostgreSQL's own, and each of them for btree indexes, too.
my @explained = (
	qr/^canceling statement due to (?:lock|statement) timeout/,
	qr/^deadlock detected/,
	qr/^current transaction is aborted/,
	qr/^savepoint "p" does not exist/,
	qr/^relation "[^"]*" (?:already exists|does not exist)/,
	# of a table that was committed after its name was looked for
	qr/^type "[^"]*" already exists/,
	qr/^relation with OID \d+ does not exist/,
	qr/^could not open relation with OID \d+/,
	qr/^(?:cannot reindex|skipping reindex of) invalid index "[^"]*"/,
	# a check of an index by its name, which another index has by the time that
	# the check has its lock (fptree_index_check(), and amcheck's of a btree)
	qr/^index "[^"]*_cc(?:old|new)\d*" is not valid/,
	qr/^cannot check index "[^"]*_cc(?:old|new)\d*"/,
	# catalogue rows that two sessions change
	qr/^tuple concurrently (?:updated|deleted)/,
	qr/^duplicate key value violates unique constraint "pg_/,
	# of striped indexes, by rule S5
	qr/^cannot insert into striped index "[^"]*" in the transaction that has moved it/);

my $node = PostgreSQL::Test::Cluster->new('node');
$node->init;
stripes_conf($node);
$node->append_conf('postgresql.conf', q{
deadlock_timeout = 50ms
autovacuum_naptime = 1s
max_connections = 50
max_locks_per_transaction = 256
log_error_verbosity = verbose
});
$node->start;
install_helpers($node);
install_accounts($node);
$node->safe_psql('postgres', 'CREATE EXTENSION amcheck') if !$striped;

my $fill = q{SELECT g, 'k' || g % 100, g FROM generate_series(1, 2000) g};
my @with = ("WITH (tablespaces = 'd1, d2')", "WITH (tablespaces = 'd1, d2, d3')",
	"WITH (tablespaces = 'd3, pg_default')", '');

@with = ('TABLESPACE d1', 'TABLESPACE d2', 'TABLESPACE d3', '') if !$striped;

foreach my $t (0 .. $tables - 1)
{
	$node->safe_psql('postgres', "CREATE TABLE t$t (a int, b varchar(100), c int);
INSERT INTO t$t $fill; CREATE INDEX t${t}a ON t$t USING $am (a) $with[1];
CREATE INDEX t${t}b ON t$t USING $am (b) $with[0]");
}

sub any { return $_[ int(rand(@_)) ]; }

# A command on a table; each name may be drawn more than once.
my %commands = (
	create => sub { "CREATE INDEX IF NOT EXISTS $_[2] ON $_[0] USING $am (c) " . any(@with) },
	drop => sub { "DROP INDEX IF EXISTS $_[2]" },
	reindex => sub { "REINDEX INDEX $_[1]" },
	truncate => sub { "TRUNCATE $_[0]; INSERT INTO $_[0] $fill" },
	type => sub { "ALTER TABLE $_[0] ALTER b TYPE "
		  . any('text', 'varchar', 'varchar(' . (100 + int(rand(100))) . ')') },
	# That locks the index alone, and ALTER TABLE .. TYPE, which copies its definition
	# before it waits for it, then makes an index without a file, btree or not.
	move => sub { "LOCK TABLE $_[0] IN SHARE UPDATE EXCLUSIVE MODE; ALTER INDEX $_[1] SET TABLESPACE "
		  . any('d1', 'd2', 'd3', 'pg_default') },
	insert => sub { "INSERT INTO $_[0] SELECT g, 'n' || g, g FROM generate_series(1, 300) g" },
	select => sub { "SET enable_seqscan = off; SELECT count(*) FROM $_[0] WHERE a BETWEEN 5 AND 500;"
		  . "SELECT count(*) FROM $_[0] WHERE b = 'k5'" },
	orphans => sub { any('SELECT fptree_drop_orphans()', 'SELECT count(*) FROM fptree_orphans()') },
	unlogged => sub { "ALTER TABLE $_[0] SET " . any('LOGGED', 'UNLOGGED') },
	copy => sub { "DROP TABLE IF EXISTS z$_[0]; CREATE TABLE z$_[0] AS TABLE $_[0];"
		  . "CREATE INDEX ON z$_[0] USING $am (a) " . any(@with) },
	list => sub { "ALTER INDEX $_[1] SET (tablespaces = '" . any('d1, d2', 'd2, d3', 'd3, pg_default') . "')" },
	unstripe => sub { "ALTER INDEX $_[1] RESET (tablespaces); REINDEX INDEX $_[1]" },
	dropcon => sub { "DROP INDEX CONCURRENTLY IF EXISTS $_[2]" },
	createcon => sub { "CREATE INDEX CONCURRENTLY IF NOT EXISTS $_[2] ON $_[0] USING $am (c) " . any(@with) },
	recon => sub { any("REINDEX INDEX CONCURRENTLY $_[1]", "REINDEX TABLE CONCURRENTLY $_[0]") },
	full => sub { any("VACUUM FULL $_[0]", "CLUSTER $_[0] USING $_[1]", "DELETE FROM $_[0] WHERE a % 3 = 0; VACUUM $_[0]") },
	look => sub { any("SELECT * FROM fptree_stripes('$_[1]')", "SELECT fptree_index_size('$_[1]')",
			"SELECT fptree_index_check('$_[1]', true)") });
# What there is of these for other access methods
$commands{orphans} = sub { 'SELECT count(*) FROM pg_stat_user_tables' } if !$striped;
$commands{list} = sub { "ALTER INDEX $_[1] SET (fillfactor = " . any(70, 80, 90) . ')' } if !$striped;
$commands{unstripe} = sub { "ALTER INDEX $_[1] RESET (fillfactor); REINDEX INDEX $_[1]" } if !$striped;
$commands{look} = sub { "SELECT bt_index_check('$_[1]', true)" } if !$striped;
my @alone = qw(dropcon createcon recon recon full look);
my @within = qw(create drop reindex truncate type type type move move move insert
  select select select orphans orphans unlogged copy list unstripe);
# who has which file
my @exchange = qw(type type move move reindex);

# A command that may be in a transaction, on this table or another one
sub command
{
	my ($t, @kinds) = @_;

	$t = int(rand($tables)) if !defined $t;
	return $commands{ any(@kinds) }->("t$t", "t$t" . any('a', 'b', 'b'), 'x' . int(rand(3)) . "_$t");
}

# An operation: a command, or a transaction of two or three
sub operation
{
	my $limits = 'SET lock_timeout = ' . any(20, 200, 1000)
	  . '; SET statement_timeout = ' . any(0, 0, 0, 300) . ";\n";
	my $fresh = rand() < 0.5 ? "\\c -\nSET client_min_messages = warning;\n" : '';
	my $t = int(rand($tables));

	if (rand() < 0.4)
	{
		my $command = command($t, rand() < 0.4 ? @alone : @within);

		$command = "BEGIN; $command; COMMIT" if $command =~ /^LOCK/;
		return $fresh . $limits . "$command;\n";
	}

	my @kinds = rand() < 0.4 ? @exchange : @within;
	my @list = map { command(rand() < 0.8 ? $t : undef, @kinds) } 1 .. 2 + int(rand(2));

	@list = map { rand() < 0.8 ? $_ : rand() < 0.5 ? "SAVEPOINT p; $_; ROLLBACK TO p" :
		  "SAVEPOINT p; $_; RELEASE p" } @list;
	return $fresh . $limits . join(";\n", 'BEGIN', @list, any('COMMIT', 'COMMIT', 'COMMIT', 'ROLLBACK')) . ";\n";
}

# Let all sessions do what they have drawn; the errors that nothing explains, with
# what was done.
sub round
{
	my ($n) = @_;
	my @runs;
	my $bad = '';

	foreach my $s (1 .. $sessions)
	{
		srand($seed * 10000 + $n * 100 + $s);
		my $sql = join('', "\\set VERBOSITY terse\nSET client_min_messages = warning;\n",
			map { operation() } 1 .. $ops);
		my $file = PostgreSQL::Test::Utils::tempdir() . '/ops.sql';
		my $run = { out => '', err => '' };

		append_to_file($file, $sql);
		$run->{run} = IPC::Run::start(
			[ 'psql', '-X', '-q', '-A', '-t', '-d', $node->connstr('postgres'), '-f', $file ],
			'<', \undef, '>', \$run->{out}, '2>', \$run->{err});
		push @runs, $run;
	}
	foreach my $run (@runs)
	{
		IPC::Run::finish($run->{run});
		foreach my $line (split(/\n/, $run->{err}))
		{
			my ($message) = $line =~ /(?:ERROR|WARNING|FATAL|PANIC): +(.*)/;

			$message //= $line;
			$bad .= "$line\n" if !grep { $message =~ $_ } @explained;
		}
	}
	return $bad;
}

# What concurrent rebuilds leave if they fail; ALTER TYPE would make valid ones of
# them, of which the next rebuild makes twice as many.
my $tidy = q{DO $$
DECLARE
	ix regclass;
BEGIN
	FOR ix IN SELECT indexrelid FROM pg_index JOIN pg_class c ON c.oid = indexrelid
		WHERE relname ~ '_cc(new|old)' AND relkind = 'i' AND relnamespace = 'public'::regnamespace
	LOOP
		EXECUTE format('DROP INDEX %s', ix);
	END LOOP;
END $$};

note("seed $seed: FPT_DDL_SEED, $am");
foreach my $n (1 .. $rounds)
{
	is(round($n), '', "round $n: no error that is not explained");
	$node->safe_psql('postgres', 'CHECKPOINT');
	is($node->safe_psql('postgres', 'SELECT account()'), '', "round $n: files and rows");
	verify($node, "round $n: indexes");
	$node->safe_psql('postgres', $tidy);
}
no_crash($node);
done_testing();

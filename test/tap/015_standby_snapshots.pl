# Long-running transactions on a standby, and on a standby of that one, answer
# all the time what the primary answered at the moment of their snapshots, while
# what the primary goes on to do is replayed: insertions and splits, VACUUM,
# emptied pages that are unlinked and used again, REINDEX.  On a standby for which
# nothing is held back queries are cancelled, but not answered wrongly either.
#
# FPT_SNAPSHOT_ROUNDS sets the number of snapshots (4), FPT_SNAPSHOT_SECONDS how
# long each is kept (4).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{FPT_SNAPSHOT_ROUNDS} || 4;
my $seconds = $ENV{FPT_SNAPSHOT_SECONDS} || 4;
my $seed = $ENV{FPT_SNAPSHOT_SEED} || 20261122;

srand($seed);
note("seed $seed, $rounds rounds");

my $primary = PostgreSQL::Test::Cluster->new('primary');

# What a query on a standby needs is not removed; where replay must wait for a
# lock of one, it does, and nothing is cancelled.
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
log_statement = none
autovacuum = off
fsync = off
jit = off
shared_buffers = 2MB
max_connections = 30
max_wal_size = 1GB
wal_keep_size = 2GB
checkpoint_timeout = 1h
hot_standby_feedback = on
wal_receiver_status_interval = 1
max_standby_streaming_delay = -1
wal_retrieve_retry_interval = 100ms
max_parallel_maintenance_workers = 0
session_preload_libraries = 'fptree'
});
$primary->start;
install_helpers($primary);
$primary->safe_psql('postgres', q{
CREATE TABLE t (id int, a int, b int8, c uuid, f text);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 90);
CREATE INDEX t_b ON t USING fptree (b DESC, a) INCLUDE (id)
	WITH (fillfactor = 40);
SET fptree.debug_node_lines = '1,2';
CREATE INDEX t_c ON t USING fptree (c)
	WITH (fillfactor = 20);
RESET fptree.debug_node_lines;
CREATE INDEX t_f ON t USING fptree (f) WITH (fillfactor = 40);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_id ON t USING fptree (id)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
CREATE SEQUENCE s;
CREATE FUNCTION fill(rows int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO t SELECT i, hashint4(i), i % 50, md5(i::text)::uuid, md5((-i)::text)
	FROM (SELECT nextval('s')::int AS i FROM generate_series(1, rows)) s $$;
SELECT fill(8000);

-- Ask by all kinds of scans for so long; how many times.
CREATE FUNCTION watch(queries text[], answers text[], seconds float)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	until timestamptz := clock_timestamp() + seconds * interval '1 s';
	kinds text[];
	answer text;
	n int := 0;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true);
	WHILE n < 3 * cardinality(queries) OR clock_timestamp() < until LOOP
		FOR i IN 1 .. cardinality(queries) LOOP
			kinds := (ARRAY['{on,off,off}', '{off,on,off}', '{on,off,on}'])[1 + (n + i) % 3];
			PERFORM set_config('enable_indexscan', kinds[1], true),
				set_config('enable_bitmapscan', kinds[2], true),
				set_config('enable_indexonlyscan', kinds[3], true);
			EXECUTE queries[i] INTO answer;
			IF answer IS DISTINCT FROM answers[i] THEN
				RAISE 'after % queries, %: % in the place of %', n, queries[i], answer, answers[i];
			END IF;
			n := n + 1;
		END LOOP;
	END LOOP;
	RETURN n;
END $$;
});

# A standby that follows a node
sub standby_of
{
	my ($from, $name, $conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$from->backup($name);
	$node->init_from_backup($from, $name, has_streaming => 1);
	$node->append_conf('postgresql.conf', $conf) if $conf;
	start_server($node) or BAIL_OUT("$name does not start");
	return $node;
}

my $near = standby_of($primary, 'near');
my $far = standby_of($near, 'far');
my $rash = standby_of($primary, 'rash',
	"hot_standby_feedback = off\nmax_standby_streaming_delay = 500ms\n");
my @standbys = ($near, $far, $rash);

my @queries = (
	"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE a > 0",
	"SELECT count(*) || ' ' || sum(a::int8) FROM t WHERE a BETWEEN -1500000000 AND 1500000000",
	"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE b < 25",
	"SELECT count(*) || ' ' || sum(a::int8) FROM t WHERE b = ANY ('{1,7,8,30,49}')",
	"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE c > '80000000-0000-0000-0000-000000000000'",
	"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE f >= '4' AND f < 'd'",
	"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE id > 0",
	"SELECT md5(string_agg(a::text, ',')) FROM (SELECT a FROM t ORDER BY a) s",
	"SELECT md5(string_agg(a::text, ',')) FROM (SELECT a FROM t ORDER BY a DESC) s",
	"SELECT md5(string_agg(f, ',')) FROM (SELECT f FROM t ORDER BY f DESC) s",
	"SELECT min(a) || ' ' || max(a) || ' ' || min(f) || ' ' || max(f) FROM t");
my $list = join(', ', map { "\$q\$$_\$q\$" } @queries);

# --- sessions that are sent statements without waiting for their results ---

sub session
{
	my ($node) = @_;
	my $self = { in => '', out => '', err => '', name => $node->name };

	$self->{run} = IPC::Run::start(
		[
			$node->installed_command('psql'), '-XAtq', '-h', $node->host,
			'-p', $node->port, '-v', 'ON_ERROR_STOP=1', '-f', '-', 'postgres'
		],
		'<', \$self->{in}, '>', \$self->{out}, '2>', \$self->{err});
	return $self;
}

sub send_to
{
	my ($self, $sql) = @_;

	$self->{in} .= $sql;
	$self->{run}->pump_nb;
	return;
}

# What it answers, up to a line that is waited for
sub answer_of
{
	my ($self, $sql) = @_;

	$self->{out} = '';
	send_to($self, "$sql\n\\echo answered\n");
	$self->{run}->pump
	  while $self->{out} !~ /answered\n/ && $self->{run}->pumpable;
	return $self->{out} =~ s/answered\n.*//sr;
}

# A snapshot on each standby, and what the primary answers at the same moment:
# nobody writes to the table then.
sub snapshots
{
	my $gate = session($primary);

	answer_of($gate, 'BEGIN; LOCK TABLE t IN SHARE MODE;');

	my @answers = map {
		answer_of($gate, "SET enable_indexscan = off;\nSET enable_bitmapscan = off;\n$_;")
		  =~ s/\n\z//r
	} @queries;
	my @sessions;

	foreach my $node (@standbys)
	{
		my $session = session($node);

		wait_replayed($node, $primary);
		answer_of($session,
			'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM s;');
		push @sessions, $session;
	}
	# and the primary learns of them
	answer_of($gate, 'COMMIT;');
	$gate->{in} .= "\\q\n";
	$gate->{run}->finish;
	return (\@answers, @sessions);
}

sub replayed
{
	return map {
		$_->safe_psql('postgres',
			"SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn")
	} @standbys;
}

my $writers = start_pgbench($primary, '-c 2 -T 36000 --max-tries=1000', 'insert@2' => q{
\set n random(1, 60)
SELECT fill(:n);
}, 'update@2' => q{
\set r random(0, 99)
UPDATE t SET b = b + 1, f = md5(f) WHERE id % 100 = :r;
}, 'delete@1' => q{
\set r random(-2000000000, 2000000000)
DELETE FROM t WHERE a BETWEEN :r AND :r + 50000000;
});

$writers->{expected} = 1;

# Of the table's indexes, the one whose turn it is, with nodes as it had them
sub rebuild
{
	my ($how, $turn) = @_;
	my %lines = (t_a => '1,1', t_b => '1,1', t_c => '1,2', t_f => '', t_id => '1,1');
	my $index = (sort keys %lines)[ $turn % 5 ];

	return with_lines($lines{$index}, "REINDEX INDEX $how $index");
}

my ($asked, $deleted, $moved, $cancelled) = (0, 0, 0, 0);

foreach my $round (1 .. $rounds)
{
	# While a snapshot is there this would fail, with btree indexes too: the server
	# waits for old snapshots of its own before it lets an index be used that does
	# not have what only they see, but not for those of standbys.
	$primary->safe_psql('postgres', rebuild('CONCURRENTLY', $round + 2));

	# rows that are gone for all snapshots to come, so that VACUUM empties
	# pages while the snapshots look on
	my $third = $round % 3;

	$primary->safe_psql('postgres', qq{
BEGIN;
-- the others might wait for us, and we for them
LOCK TABLE t IN SHARE ROW EXCLUSIVE MODE;
DELETE FROM t WHERE b % 3 = $third AND a > 0 OR
	id < (SELECT max(id) FROM t) - 10000 OR id % 4000 BETWEEN 0 AND 1500;
SELECT fill(3000);
COMMIT;});

	my ($answers, @sessions) = snapshots();
	my $expected = join(', ', map { "\$q\$$_\$q\$" } @$answers);
	my @from = replayed();

	send_to($_, "SELECT 'asked ' || watch(ARRAY[$list], ARRAY[$expected], $seconds);\nCOMMIT;\n\\q\n")
	  foreach @sessions;

	# what they hold back is let go by and by: the primary is told once a second
	my $until = time + $seconds - 1;
	my $n = 0;

	do
	{
		$primary->safe_psql('postgres', 'VACUUM t');
		$deleted += $primary->safe_psql('postgres', q{
SELECT sum(deleted_pages) FROM unnest('{t_a,t_b,t_c,t_f,t_id}'::regclass[]) x, fptree_stat(x)});
		$n++;
	} while (time < $until && $n < 50);
	$moved++ if (replayed())[1] > $from[1];
	# a lock that replay has to wait for
	$primary->safe_psql('postgres', rebuild('', $round));
	foreach my $session (@sessions)
	{
		$session->{run}->finish;
		if ($session->{name} eq 'rash')
		{
			unlike($session->{err}, qr/in the place of/,
				"round $round, rash: no wrong answer");
			like($session->{out} . $session->{err}, qr/asked \d+|conflict with recovery/,
				"round $round, rash: cancelled or not");
			$cancelled++ if $session->{err} =~ /conflict with recovery/;
			next;
		}
		is($session->{err}, '', "round $round, $session->{name}: always the same answers");
		like($session->{out}, qr/asked \d+/, "round $round, $session->{name}: it came to an end");
		$asked += $1 if $session->{out} =~ /asked (\d+)/;
	}
	foreach my $node (@standbys)
	{
		wait_replayed($node, $primary);
		verify($node, "round $round, " . $node->name . ': indexes are sound');
	}
}
cmp_ok($deleted, '>', 0, 'pages were unlinked');
is($moved, $rounds, 'the primary\'s writes were replayed under the snapshots');
note("$asked queries, up to " . int($deleted / $rounds) . ' deleted pages a round, '
	  . "$cancelled cancelled");

kill('TERM', $writers->{run}->{KIDS}->[0]->{PID});
finish_pgbench($writers);
unlike($writers->{err}, qr/ERROR/, 'writers fared well');
verify($primary, 'the primary: indexes are sound');
same_as_seqscan($primary, 'the primary: scans agree', @queries);
$_->stop foreach $far, $near, $rash, $primary;
no_crash($_) foreach $far, $near, $rash, $primary;
done_testing();

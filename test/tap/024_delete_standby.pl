# Entries of dead rows that insertions remove before they split a leaf: queries
# of a standby that still see the rows are cancelled before the removal is
# replayed, or hold it up, and never get a wrong answer; on a standby without the
# library, too.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
wal_keep_size = 1GB
wal_consistency_checking = 'all'
autovacuum = off
log_statement = none
bgwriter_lru_maxpages = 0
checkpoint_timeout = 1d
max_wal_size = 4GB
});
$primary->start;
install_helpers($primary);
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

my $nolib = PostgreSQL::Test::Cluster->new('nolib',
	install_path => (install_without_library())[0]);
$nolib->init_from_backup($primary, 'base', has_streaming => 1);
$nolib->append_conf('postgresql.conf', "max_standby_streaming_delay = 0\n");
$nolib->start;

# Two wide rows a heap page, which is not full then: it is not pruned, so that
# nothing but the removal of entries tells a standby that rows are gone.  A leaf
# has room for some hundred entries.
$primary->safe_psql('postgres', q{
CREATE TABLE t (k int, v text, pad text);
ALTER TABLE t ALTER pad SET STORAGE PLAIN;
SET fptree.debug_node_lines = '2,2';
CREATE INDEX t_k ON t USING fptree (k)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
CREATE INDEX t_v ON t USING fptree (v);
CREATE TABLE other (k int);
INSERT INTO other VALUES (1);
CREATE PROCEDURE fill(f int, t int) LANGUAGE sql AS $$
	INSERT INTO t SELECT hashint4(i), md5(i::text), repeat('x', 3000) FROM generate_series(f, t) i $$;
});

my $by_k = 'SELECT count(k), min(k), max(k) FROM t WHERE k > -2147483648';
my $by_v = q{SELECT count(v), min(v), max(v) FROM t WHERE v > ''};
my $plan = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';

sub catch_up
{
	my @who = @_;

	$primary->wait_for_catchup($_, 'replay', $primary->lsn('insert'))
	  foreach @who;
	return;
}

sub set_standby
{
	my (%set) = @_;

	$standby->append_conf('postgresql.conf',
		join('', map { "$_ = $set{$_}\n" } keys %set));
	$standby->reload;
	return;
}

sub conflicts
{
	my ($node) = @_;

	return $node->safe_psql('postgres', q{
SELECT sum(confl_snapshot) FROM pg_stat_database_conflicts});
}

sub entries
{
	return $primary->safe_psql('postgres',
		"SELECT a.entries, b.entries FROM fptree_stat('t_k') a, fptree_stat('t_v') b");
}

# Fresh rows of which every second one is dead and known to be; a snapshot that
# still sees all of them is taken in between by $look.
sub make_dead
{
	my ($look) = @_;

	$primary->safe_psql('postgres', "TRUNCATE t;\n" . with_lines('2,2', 'REINDEX INDEX t_k'));
	$primary->safe_psql('postgres', 'CALL fill(1, 1500)');
	catch_up($standby, $nolib);
	$look->();
	$primary->safe_psql('postgres', 'DELETE FROM t WHERE k % 2 = 0');
	$primary->safe_psql('postgres', "$plan $by_k; $by_v;") for 1 .. 2;
	return;
}

# Answers of a session by both indexes.
sub ask
{
	my ($session) = @_;

	return join("\n", map { $session->query_safe("$_;") } $by_k, $by_v);
}

my $all;

# --- a query that may be waited for ---

# Where nothing is waited for, what the primary did to catalogs might cancel a
# session that is just being opened.
catch_up($standby, $nolib);
set_standby(max_standby_streaming_delay => -1);
$standby->safe_psql('postgres', 'SELECT 1');
my $old = $standby->background_psql('postgres', on_error_stop => 1);
$old->query_safe("$plan BEGIN ISOLATION LEVEL REPEATABLE READ;");
my $other = $nolib->background_psql('postgres', on_error_stop => 0);
make_dead(
	sub {
		$all = ask($old);
		$other->query_safe(
			'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM other;');
	});
like($all, qr/^1500\|.*\n1500\|/, 'the snapshot sees all rows');
catch_up($standby, $nolib);
is(ask($old), $all, 'deletion of the rows alone does not matter');
is($other->query_safe('SELECT * FROM other;'),
	'1', 'nor does it on a standby without the library');
my $nolib_before = conflicts($nolib);

my $before = entries();
$primary->safe_psql('postgres', 'CALL fill(1501, 2500)');
my ($k, $v) = split(/\|/, entries());
note("entries: $before before, $k|$v after");
cmp_ok($k, '<', 2500, 'entries of dead rows were removed: image keys');
cmp_ok($v, '<', 2500, 'entries of dead rows were removed: general keys');
sleep(2);
is(ask($old), $all, 'a query that replay waits for sees what it saw');
isnt($standby->safe_psql('postgres', 'SELECT pg_last_wal_replay_lsn() >= '
		  . "'" . $primary->lsn('insert') . "'"),
	't', 'replay waits');
$old->query_safe('COMMIT;');
catch_up($standby);
is(ask($old), $primary->safe_psql('postgres', "$plan $by_k; $by_v;"),
	'then it goes on, and both answer alike');
$old->quit;

# --- without the library ---

catch_up($nolib);
ok($nolib->poll_query_until('postgres', qq{
SELECT sum(confl_snapshot) > $nolib_before FROM pg_stat_database_conflicts}),
	'a standby without the library cancels, too');
eval { $other->quit };

# --- a query that is cancelled ---

set_standby(max_standby_streaming_delay => "'100ms'");
$old = $standby->background_psql('postgres', on_error_stop => 0);
$old->query_safe("$plan BEGIN ISOLATION LEVEL REPEATABLE READ;");
make_dead(sub { $all = ask($old) });
catch_up($standby);
my $had = conflicts($standby);
is(ask($old), $all, 'nothing is cancelled before entries are removed');
$primary->safe_psql('postgres', 'CALL fill(1501, 2500)');
catch_up($standby);
ok($standby->poll_query_until('postgres', qq{
SELECT sum(confl_snapshot) > $had FROM pg_stat_database_conflicts}),
	'the query is cancelled');
eval { $old->quit };

# --- a query that the primary knows of ---

set_standby(hot_standby_feedback => 'on', wal_receiver_status_interval => 1);
$old = $standby->background_psql('postgres', on_error_stop => 1);
$old->query_safe("$plan BEGIN ISOLATION LEVEL REPEATABLE READ;");
$had = conflicts($standby);
make_dead(
	sub {
		$all = ask($old);
		$primary->poll_query_until('postgres', q{
SELECT count(backend_xmin) > 0 FROM pg_stat_replication});
	});
$primary->safe_psql('postgres', 'CALL fill(1501, 2500)');
is(entries(), '2500|2500', 'nothing that a standby needs is removed');
catch_up($standby);
is(ask($old), $all, 'it goes on seeing what it saw');
is(conflicts($standby), $had, 'without a conflict');
$old->quit;

verify($primary, 'indexes of the primary are sound');
verify($standby, 'indexes of the standby are sound');
$standby->stop;
$nolib->stop;
$primary->stop;
no_crash($_) foreach $primary, $standby, $nolib;
done_testing();

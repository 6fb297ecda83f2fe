# What else happens to striped indexes, and their tablespaces, each in a directory
# of its own: base backups that put them elsewhere, a standby without the library
# and one with it, recovery to a point in time, unlogged ones after a crash and a
# promotion, dump and restore with and without the tablespaces.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = PostgreSQL::Test::Utils::tempdir();
my $tablespaces = 'd1, d2, d3, d4';
my $archive = "$root/archive";

mkdir $archive;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', qq{
wal_keep_size = 1GB
wal_consistency_checking = 'generic'
autovacuum = off
log_statement = none
client_min_messages = error
max_connections = 20
archive_mode = on
archive_command = 'cp %p $archive/%f'
});
$primary->start;
install_helpers($primary);
foreach my $k (1 .. 4)
{
	mkdir "$root/primary_d$k";
	$primary->safe_psql('postgres', "CREATE TABLESPACE d$k LOCATION '$root/primary_d$k'");
}
$primary->safe_psql('postgres', qq{
CREATE TABLE t (a int, b int8, c text);
CREATE TABLE other (k int PRIMARY KEY);
CREATE UNLOGGED TABLE u (a int);
INSERT INTO t SELECT i, hashint8(i), md5(i::text) FROM generate_series(1, 5000) i;
INSERT INTO u SELECT generate_series(1, 3000);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a) WITH (tablespaces = '$tablespaces');
RESET fptree.debug_node_lines;
CREATE INDEX t_b ON t USING fptree (b DESC) WITH (tablespaces = '$tablespaces');
CREATE INDEX u_a ON u USING fptree (a) WITH (tablespaces = '$tablespaces');
});

my @queries = (
	"SELECT count(*) || ' ' || sum(a) FROM t WHERE a > 0",
	"SELECT count(*) || ' ' || sum(a) FROM t WHERE b > 0",
	"SELECT md5(string_agg(a::text, ',')) FROM (SELECT a FROM t ORDER BY a) s");

# Pages are split, emptied and used again.
sub churn
{
	my ($round) = @_;

	$primary->safe_psql('postgres', $_) foreach "
INSERT INTO t SELECT i, hashint8(i + $round), md5((i + 10000 * $round)::text) FROM generate_series(1, 5000) i;
UPDATE t SET a = -a WHERE a % 7 = $round;
DELETE FROM t WHERE a BETWEEN $round * 1000 AND $round * 1000 + 900;", 'VACUUM t';
	return;
}

# A server from a base backup, with the tablespaces in directories of its own.
sub backed_up
{
	my ($name, %how) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, %how);

	$primary->command_ok(
		[
			'pg_basebackup', '-D', $node->data_dir, '-h', $primary->host, '-p',
			$primary->port, '--checkpoint', 'fast', '--no-sync',
			map { ("--tablespace-mapping=$root/primary_d$_=$root/${name}_d$_") } 1 .. 4
		],
		"$name: base backup with mapped tablespaces");
	$node->append_conf('postgresql.conf', 'port = ' . $node->port . "\n");
	return $node;
}

# The stripes of every index are where this server's tablespaces are.
sub in_place
{
	my ($node) = @_;
	my $name = $node->name;
	my $files = $node->safe_psql('postgres', q{
SELECT pg_tablespace_location(t.oid) || '/' ||
	regexp_replace(pg_relation_filepath(stripe), '^pg_tblspc/\d+/', '')
FROM unnest('{t_a,t_b}'::regclass[]) i, fptree_stripes(i) s
	JOIN pg_tablespace t ON t.spcname = s.tablespace});
	my @files = split(/\n/, $files);

	return is(join(' ', scalar(@files), grep { !m{^\Q$root/${name}_d\E\d/} || !-e } @files),
		'8', "$name: its own files");
}

# --- standbys ---------------------------------------------------------------------

my ($install, $lib) = install_without_library();
my $bare = backed_up('bare', install_path => $install);
my $standby = backed_up('standby');
my $pitr = backed_up('pitr');

foreach my $node ($bare, $standby)
{
	$node->enable_streaming($primary);
	$node->start;
}
churn($_) foreach 1 .. 2;
$primary->safe_psql('postgres', "SELECT pg_create_restore_point('here')");
my $answers = $primary->safe_psql('postgres', join(';', @queries));
churn(3);
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');

# The answers of a standby are the primary's of the moment.
wait_replayed($standby, $primary);
in_place($standby);
same_as_seqscan($standby, 'hot standby: scans agree', @queries);
verify($standby, 'hot standby: indexes are sound');
like(($standby->psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM u WHERE a > 0'))[2],
	qr/during recovery/, 'hot standby: unlogged');
$primary->safe_psql('postgres', 'REINDEX TABLE CONCURRENTLY t');
$primary->safe_psql('postgres', with_lines('1,1', 'REINDEX INDEX CONCURRENTLY t_a'));
$primary->safe_psql('postgres', "ALTER INDEX t_b SET (tablespaces = 'd2, d4'); REINDEX INDEX t_b");
wait_replayed($standby, $primary);
same_as_seqscan($standby, 'hot standby, rebuilt: scans agree', @queries);
$primary->safe_psql('postgres', "ALTER INDEX t_b SET (tablespaces = '$tablespaces'); REINDEX INDEX t_b");

# Without the library: replays all, and serves other tables.
wait_replayed($bare, $primary);
isnt(($bare->psql('postgres', 'SELECT count(*) FROM t WHERE a > 0'))[0], 0,
	'without the library: no query of the index');
is($bare->safe_psql('postgres', 'SELECT count(*) FROM other WHERE k > 0'), 0,
	'without the library: other tables');
chomp(my $pkglibdir = `pg_config --pkglibdir`);
symlink("$pkglibdir/fptree.so", "$lib/fptree.so");
in_place($bare);
same_as_seqscan($bare, 'with the library: scans agree', @queries);
verify($bare, 'with the library: indexes are sound');
unlink "$lib/fptree.so";
$bare->promote;
$bare->safe_psql('postgres', 'INSERT INTO other VALUES (1)');
symlink("$pkglibdir/fptree.so", "$lib/fptree.so");
verify($bare, 'promoted without the library: indexes are sound');
$bare->safe_psql('postgres', 'INSERT INTO t SELECT i, i, i FROM generate_series(1, 5000) i');
$bare->safe_psql('postgres', 'DELETE FROM t WHERE a % 2 = 0');
$bare->safe_psql('postgres', 'VACUUM t');
same_as_seqscan($bare, 'promoted, written: scans agree', @queries);
verify($bare, 'promoted, written: indexes are sound');
$bare->stop;

# --- a point in time -----------------------------------------------------------------

$pitr->append_conf('postgresql.conf', qq{
restore_command = 'cp $archive/%f %p'
recovery_target_name = 'here'
recovery_target_action = promote
archive_mode = off
});
append_to_file($pitr->data_dir . '/recovery.signal', '');
$pitr->start;
$pitr->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
in_place($pitr);
is($pitr->safe_psql('postgres', join(';', @queries)), $answers, 'point in time: the answers of then');
same_as_seqscan($pitr, 'point in time: scans agree', @queries);
verify($pitr, 'point in time: indexes are sound');
$pitr->stop;

# --- unlogged --------------------------------------------------------------------------

# A crash empties it, table and stripes; so does a promotion.
sub emptied
{
	my ($node, $when) = @_;

	is($node->safe_psql('postgres', q{SET enable_seqscan = off;
SELECT count(*) FROM u WHERE a > 0;
SELECT sum(pages) <= 1 FROM fptree_stripes('u_a')}), "0\nt", "$when: unlogged is empty");
	$node->safe_psql('postgres', 'INSERT INTO u SELECT generate_series(1, 2000)');
	same_as_seqscan($node, "$when: unlogged, written", 'SELECT count(*) FROM u WHERE a > 5');
	verify($node, "$when: indexes are sound");
	return;
}

$primary->stop('immediate');
$primary->start;
emptied($primary, 'crash');
wait_replayed($standby, $primary);

# --- dump and restore ---------------------------------------------------------------------

my $definitions = q{SELECT string_agg(pg_get_indexdef(indexrelid) || ' ' ||
	(SELECT count(*) FROM fptree_stripes(indexrelid)), E'\n' ORDER BY indexrelid::regclass::text)
FROM pg_index WHERE indrelid IN ('t'::regclass, 'u'::regclass)};
my $dump = "$root/dump.sql";

$primary->command_ok(
	[ 'pg_dump', '-h', $primary->host, '-p', $primary->port, '-f', $dump, 'postgres' ],
	'pg_dump');
unlike(slurp_file($dump), qr/fptree_\d|event trigger/i, 'no stripe is dumped');
$primary->safe_psql('postgres', 'CREATE DATABASE restored');
$primary->command_ok(
	[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', $primary->host, '-p', $primary->port, '-f', $dump, 'restored' ],
	'restored');
$primary->safe_psql('restored', with_lines('1,1', 'REINDEX INDEX t_a'));
is($primary->safe_psql('restored', $definitions), $primary->safe_psql('postgres', $definitions),
	'restored: the same indexes');
verify($primary, 'restored: indexes are sound', 'restored');

# Elsewhere, where one of the tablespaces is, and where none is
foreach my $n (3, 0)
{
	my $other = PostgreSQL::Test::Cluster->new("other$n");
	$other->init;
	$other->append_conf('postgresql.conf',
		"allow_in_place_tablespaces = on\nautovacuum = off\nlog_statement = none\n");
	$other->start;
	$other->safe_psql('postgres', "CREATE TABLESPACE d$_ LOCATION ''") foreach 1 .. $n;

	my @restore = ('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', $other->host,
		'-p', $other->port, '-f', $dump, 'postgres');

	$other->command_fails_like(\@restore, qr/tablespace "d\d" does not exist/, "$n of 4: refused");
	$other->safe_psql('postgres', 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
	$other->safe_psql('postgres', 'DROP EXTENSION IF EXISTS fptree CASCADE');
	local $ENV{PGOPTIONS} = '-c fptree.missing_tablespaces=skip';
	$other->command_ok(\@restore, "$n of 4: restored");
	$other->safe_psql('postgres', with_lines('1,1', 'REINDEX INDEX t_a'));
	is($other->safe_psql('postgres', "SELECT string_agg((SELECT count(*) FROM fptree_stripes(i))::text, ' ')
FROM unnest('{t_a,t_b,u_a}'::regclass[]) i"), "$n $n $n", "$n of 4: stripes");
	same_as_seqscan($other, "$n of 4: scans agree", @queries);
	verify($other, "$n of 4: indexes are sound");
	$other->stop;
}

# --- promotion ------------------------------------------------------------------------------

$primary->stop;
$standby->promote;
emptied($standby, 'promoted');
$standby->safe_psql('postgres', "REINDEX TABLE t;\n" . with_lines('1,1', 'REINDEX INDEX t_a'));
in_place($standby);
same_as_seqscan($standby, 'promoted: scans agree', @queries);
$standby->safe_psql('postgres', 'DROP TABLE t, u');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM fptree_orphans();
SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE amname = 'fptree_stripe'}),
	"0\n0", 'promoted: stripes are dropped');
$standby->stop;
no_crash($_) foreach $primary, $bare, $standby, $pitr;
done_testing();

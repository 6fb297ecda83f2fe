# A standby that does not have the library replays all the same, serves other
# queries, and serves the indexes when the library is put back.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($install, $lib) = install_without_library();
chomp(my $pkglibdir = `pg_config --pkglibdir`);
ok(-e "$pkglibdir/fptree.so", 'the primary has the library');
ok(!-e "$lib/fptree.so", 'the standby has not');

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
wal_keep_size = 1GB
wal_consistency_checking = 'generic'
autovacuum = off
log_statement = none
});
$primary->start;
install_helpers($primary);
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby',
	install_path => $install);
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

$primary->safe_psql('postgres', q{
CREATE TABLE t (a int, b int8, c uuid);
CREATE TABLE other (k int PRIMARY KEY);
INSERT INTO other SELECT generate_series(1, 1000);
INSERT INTO t SELECT i, hashint8(i), md5(i::text)::uuid FROM generate_series(1, 5000) i;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
CREATE INDEX t_b ON t USING fptree (b DESC);
CREATE UNIQUE INDEX t_c ON t USING fptree (c);
});
foreach my $round (1 .. 3)
{
	$primary->safe_psql('postgres', "
INSERT INTO t SELECT i, hashint8(i + $round), md5((i + 10000 * $round)::text)::uuid FROM generate_series(1, 5000) i;
UPDATE t SET a = -a WHERE a % 7 = $round;
DELETE FROM t WHERE a BETWEEN $round * 1000 AND $round * 1000 + 900;");
	$primary->safe_psql('postgres', 'VACUUM t');
	$primary->safe_psql('postgres', 'CHECKPOINT') if $round == 2;
}
$primary->safe_psql('postgres', 'REINDEX TABLE CONCURRENTLY t');
$primary->safe_psql('postgres', with_lines('1,1', 'REINDEX INDEX CONCURRENTLY t_a'));
$primary->safe_psql('postgres', 'DELETE FROM t WHERE a > 3000');
$primary->safe_psql('postgres', 'VACUUM t');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

pass('everything was replayed');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM other WHERE k > 500'),
	'500', 'other tables are served');
# The table's own row is read, too, as long as no index has to be opened.
my ($ret, $out, $err) =
  $standby->psql('postgres', 'SELECT count(*) FROM t WHERE a > 0');
isnt($ret, 0, 'a query that needs the access method fails');
like($err, qr/could not access file/, 'and says why');

# The library comes back; sessions started from then on use the indexes.
symlink("$pkglibdir/fptree.so", "$lib/fptree.so");
my @queries = (
	'SELECT count(*) || \' \' || sum(a) FROM t WHERE a > 0',
	'SELECT count(*) || \' \' || sum(a) FROM t WHERE b > 0',
	"SELECT count(*) || ' ' || sum(a) FROM t WHERE c > '80000000-0000-0000-0000-000000000000'",
	'SELECT md5(string_agg(a::text, \',\')) FROM (SELECT a FROM t ORDER BY a) s');
same_as_seqscan($standby, 'with the library: scans agree', @queries);
verify($standby, 'with the library: indexes are sound');

# Without it again through a promotion: the server starts and serves the rest.
unlink "$lib/fptree.so";
$primary->safe_psql('postgres', 'INSERT INTO t SELECT i, i, md5((-i)::text)::uuid FROM generate_series(1, 5000) i');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
$primary->stop('immediate');
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO other VALUES (5000)');
symlink("$pkglibdir/fptree.so", "$lib/fptree.so");
same_as_seqscan($standby, 'promoted: scans agree', @queries);
verify($standby, 'promoted: indexes are sound');
$standby->safe_psql('postgres', 'INSERT INTO t SELECT i, i, md5((-i - 5000)::text)::uuid FROM generate_series(1, 5000) i');
$standby->safe_psql('postgres', 'DELETE FROM t WHERE a % 2 = 0');
$standby->safe_psql('postgres', 'VACUUM t');
same_as_seqscan($standby, 'promoted and written: scans agree', @queries);
verify($standby, 'promoted and written: indexes are sound');
$standby->stop;
no_crash($primary);
no_crash($standby);
done_testing();

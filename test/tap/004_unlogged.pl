# Unlogged tables are emptied by a crash and by promotion of a standby, and their
# indexes with them.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "log_statement = none\nwal_keep_size = 1GB\n");
$node->start;
install_helpers($node);
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

$node->safe_psql('postgres', q{
CREATE UNLOGGED TABLE ul (a int, b uuid);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX ul_a ON ul USING fptree (a)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
CREATE UNIQUE INDEX ul_b ON ul USING fptree (b DESC);
CREATE TABLE lo (a int);
CREATE INDEX lo_a ON lo USING fptree (a);
SET allow_in_place_tablespaces = on;
});
$node->safe_psql('postgres', q{
INSERT INTO ul SELECT i, md5(i::text)::uuid FROM generate_series(1, 5000) i;
INSERT INTO lo SELECT i FROM generate_series(1, 5000) i;
});

my @queries = (
	'SELECT count(*) || \' \' || coalesce(sum(a), 0) FROM ul WHERE a > 100',
	"SELECT count(*) || ' ' || coalesce(sum(a), 0) FROM ul WHERE b > '80000000-0000-0000-0000-000000000000'",
	'SELECT count(*) || \' \' || coalesce(sum(a), 0) FROM lo WHERE a > 100');

# after what gives ul's indexes new files
my $narrow = with_lines('1,1', 'REINDEX INDEX ul_a');

sub fill_and_check
{
	my ($n, $what) = @_;

	same_as_seqscan($n, "$what: scans agree", @queries);
	verify($n, "$what: indexes are sound");
	$n->safe_psql('postgres', qq{
		TRUNCATE ul;
		$narrow
		INSERT INTO ul SELECT i, md5(i::text)::uuid FROM generate_series(1, 3000) i;
		DELETE FROM ul WHERE a % 3 = 0;});
	$n->safe_psql('postgres', 'VACUUM ul');
	$n->safe_psql('postgres', 'INSERT INTO ul VALUES (1, NULL)');
	same_as_seqscan($n, "$what and filled again: scans agree", @queries);
	verify($n, "$what and filled again: indexes are sound");
	return;
}

# a clean restart keeps everything
$node->restart;
is($node->safe_psql('postgres', 'SELECT count(*) FROM ul'), '5000',
	'a clean restart keeps the rows');
fill_and_check($node, 'restarted');

# a crash does not, whatever had been written to disk
$node->safe_psql('postgres', 'CHECKPOINT');
$node->safe_psql('postgres', 'INSERT INTO ul SELECT i, NULL FROM generate_series(1, 5000) i');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM ul'), '0',
	'a crash empties the table');
is($node->safe_psql('postgres', q{SET enable_seqscan = off;
	SELECT count(*) FROM ul WHERE a > 0}), '0', 'and the index');
is($node->safe_psql('postgres', 'SELECT count(*) FROM lo'), '5000',
	'and nothing else');
fill_and_check($node, 'crashed');

# a table that became unlogged, and one that ceased to be
$node->safe_psql('postgres', "ALTER TABLE ul SET LOGGED;\n$narrow");
$node->safe_psql('postgres', 'ALTER TABLE lo SET UNLOGGED');
$node->safe_psql('postgres', 'REINDEX TABLE lo');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM ul'), '2001',
	'logged now: kept');
is($node->safe_psql('postgres', 'SELECT count(*) FROM lo'), '0',
	'unlogged now: emptied');
fill_and_check($node, 'crashed again');
$node->safe_psql('postgres', "ALTER TABLE ul SET UNLOGGED;\n$narrow");
$node->safe_psql('postgres', 'INSERT INTO lo SELECT generate_series(1, 100)');

# promotion of a standby resets them as well
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
my ($ret, $out, $err) = $standby->psql('postgres', 'SELECT count(*) FROM ul');
like($err, qr/cannot access temporary or unlogged relations during recovery/,
	'not served by a standby');
$node->stop;
$standby->promote;
is($standby->safe_psql('postgres', 'SELECT count(*) FROM ul'), '0',
	'promotion empties the table');
fill_and_check($standby, 'promoted');
$standby->restart;
is($standby->safe_psql('postgres', 'SELECT count(*) FROM ul'), '2001',
	'a restart of what was the standby keeps it');
verify($standby, 'restarted: indexes are sound');
$standby->stop;
no_crash($node);
no_crash($standby);
done_testing();

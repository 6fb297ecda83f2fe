# Logical replication of a table whose replica identity is a unique fptree index:
# the subscriber finds the rows to change through its own.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Subscribers of versions 16 and 17 look up the operator by btree's and hash's
# strategy numbers only, and raise an error for others.
my ($major) = `pg_config --version` =~ /(\d+)/;
plan skip_all => 'versions 16 and 17 find replica identities by btree and hash only'
  if $major == 17;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical');
$publisher->append_conf('postgresql.conf', "log_statement = none\n");
$publisher->start;
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init(allows_streaming => 'logical');
$subscriber->append_conf('postgresql.conf', "log_statement = none\n");
$subscriber->start;

foreach my $node ($publisher, $subscriber)
{
	install_helpers($node);
	$node->safe_psql('postgres', q{
CREATE TABLE t (k int8 NOT NULL, v int);
SET fptree.debug_node_lines = '1,1';
CREATE UNIQUE INDEX t_k ON t USING fptree (k)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
CREATE INDEX t_v ON t USING fptree (v DESC);
ALTER TABLE t REPLICA IDENTITY USING INDEX t_k;
});
}
$publisher->safe_psql('postgres', 'INSERT INTO t SELECT i, i FROM generate_series(1, 1000) i');
$publisher->safe_psql('postgres', 'CREATE PUBLICATION p FOR TABLE t');
my $connstr = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '$connstr' PUBLICATION p");
$subscriber->wait_for_subscription_sync($publisher, 's');

my $digest = 'SELECT count(*) || \' \' || sum(k) || \' \' || sum(v) FROM t';
is($subscriber->safe_psql('postgres', $digest),
	$publisher->safe_psql('postgres', $digest), 'the rows are copied');

foreach my $round (1 .. 3)
{
	$publisher->safe_psql('postgres', "
UPDATE t SET v = v + $round WHERE k % 3 = $round % 3;
UPDATE t SET k = k + 1000000 WHERE k % 5 = $round;
DELETE FROM t WHERE k % 11 = $round;
INSERT INTO t SELECT $round * 10000 + i, i FROM generate_series(1, 1000) i;");
	$publisher->safe_psql('postgres', 'VACUUM t');
	$publisher->wait_for_catchup('s');
	is($subscriber->safe_psql('postgres', $digest),
		$publisher->safe_psql('postgres', $digest), "round $round is applied");
	$subscriber->safe_psql('postgres', 'VACUUM t');
}
# it is told by and by
ok($subscriber->poll_query_until('postgres',
		q{SELECT idx_scan > 0 FROM pg_stat_user_indexes WHERE indexrelname = 't_k'}),
	'through the index');
verify($_, $_->name . ': indexes are sound') foreach $publisher, $subscriber;
no_crash($_) foreach $publisher, $subscriber;
$subscriber->stop;
$publisher->stop;
done_testing();

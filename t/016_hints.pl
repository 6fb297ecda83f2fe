# Hints at dead entries are not logged, and are in the place that the next node
# of a page takes if its keys are general.  Without full page images recovery
# starts from pages on disk that have hints, and must not leave them in a node.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('hints');

# Pages are written by the checkpoints of this test and by nothing else.
$node->init;
$node->append_conf('postgresql.conf', q{
full_page_writes = off
log_statement = none
autovacuum = off
bgwriter_lru_maxpages = 0
checkpoint_timeout = 1h
shared_buffers = 64MB
});
$node->start;
install_helpers($node);

# Leaves with room for more nodes, in each of them rows that are dead to
# everybody, and whose entries scans have found dead; the rest of the test adds
# rows among them.
$node->safe_psql('postgres', q{
CREATE TABLE t (id int, f text, g int8, a int);
CREATE INDEX t_f ON t USING fptree (f);
CREATE INDEX t_g ON t USING fptree ((g % 1000), f) INCLUDE (id);
CREATE INDEX t_a ON t USING fptree (a);
INSERT INTO t SELECT i, md5(i::text), hashint8(i), hashint4(i) FROM generate_series(1, 20000) i;
DELETE FROM t WHERE id % 3 = 0;
});

my @queries = (
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE f > ''",
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE g % 1000 > -1001",
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE a > -2147483648");
my @indexes = qw(t_f t_g t_a);

# A sum of a column of fptree_page_stats over the leaves
sub sum_of
{
	my ($column, $index) = @_;

	return $node->safe_psql('postgres', qq{
SELECT sum(s.$column)
FROM generate_series(1, pg_relation_size('$index') / current_setting('block_size')::int8 - 1) p,
	fptree_page_stats('$index', p) s WHERE s.type = 'leaf'});
}

my $scans = 'SET enable_seqscan = off; SET enable_bitmapscan = off; '
  . join('; ', @queries);

foreach my $round (1 .. 2)
{
	$node->safe_psql('postgres', $scans) for 1 .. 2;
	cmp_ok(sum_of('dead_entries', $_), '>', 1000,
		"round $round, $_: there are hints")
	  foreach @indexes;

	my $nodes = sum_of('nodes', 't_f');

	# to disk they go, and nothing of what follows does
	$node->safe_psql('postgres', 'CHECKPOINT');
	$node->safe_psql('postgres', qq{
INSERT INTO t SELECT -i, md5((-i * $round)::text), hashint8(-i), hashint4(-i * $round)
FROM generate_series(1, 9000) i;});
	cmp_ok(sum_of('nodes', 't_f'), '>', $nodes + 50,
		"round $round: leaves got more nodes");
	$node->stop('immediate');
	$node->start;
	verify($node, "round $round: indexes are sound after recovery");
	same_as_seqscan($node, "round $round: scans agree", @queries);
	$node->safe_psql('postgres', 'DELETE FROM t WHERE id % 3 <> 1');
}
$node->stop;
no_crash($node);
done_testing();

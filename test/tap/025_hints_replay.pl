# Hints at dead entries are not logged.  What a page on disk has of them when
# recovery starts must not get into nodes that come to lie in the same place: of
# general keys, where hints begin at the end of the nodes, and where a page is
# written anew in another encoding.  Only without full page images does recovery
# see the page on disk at all.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
full_page_writes = off
wal_log_hints = off
autovacuum = off
checkpoint_timeout = 1h
bgwriter_lru_maxpages = 0
max_wal_size = 4GB
log_statement = none
});
$node->start;
install_helpers($node);

# Numbers of the dead entries of page 1, the only leaf.
sub dead
{
	my ($index) = @_;

	return $node->safe_psql('postgres',
		"SELECT dead_entries FROM fptree_page_stats('$index', 1)");
}

# Dead entries of g (text) in slots whose hints lie where the next node will be;
# the number of rows decides when that is, so that several are tried.
my $rows = 40;
my $width = 'lpad(i::text, 12, \'0\')';

$node->safe_psql('postgres', 'CREATE TABLE i (k int8, pad text)');
$node->safe_psql('postgres', 'CREATE INDEX i_k ON i USING fptree (k)');
$node->safe_psql('postgres', q{
INSERT INTO i SELECT k, '' FROM generate_series(1, 740) k;
VACUUM (FREEZE, ANALYZE) i;
REINDEX INDEX i_k;
DELETE FROM i WHERE k < 555;
});
foreach my $n ($rows .. $rows + 31)
{
	$node->safe_psql('postgres', qq{
CREATE TABLE g$n (v text);
CREATE INDEX g${n}_v ON g$n USING fptree (v);
INSERT INTO g$n SELECT $width FROM generate_series(1, $n) i;
DELETE FROM g$n;
});
}
my $look = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';

$node->safe_psql('postgres',
	"$look SELECT count(pad) FROM i WHERE k >= 0;"
	. join('', map { "SELECT count(v) FROM g$_ WHERE v > '';" }
		  $rows .. $rows + 31));
cmp_ok(dead('i_k'), '>', 300, 'hints in a page of numbers');
is(dead("g${_}_v"), $_, "hints in a page of $_ texts")
  foreach ($rows, $rows + 31);

# They are on disk; then the pages change, and the server is killed.
$node->safe_psql('postgres', 'CHECKPOINT');
$node->safe_psql('postgres', 'INSERT INTO i VALUES (1000000000000000)');
$node->safe_psql('postgres', "INSERT INTO g$_ SELECT repeat('9', i) FROM generate_series(1, 2) i")
  foreach $rows .. $rows + 31;
is( $node->safe_psql('postgres',
		q{SELECT key_width, nodes FROM fptree_page_stats('i_k', 1)}),
	'7|14', 'the page of numbers was written anew');
verify($node, 'before the crash');
$node->stop('immediate');
$node->start;
verify($node, 'after the crash');
same_as_seqscan($node, 'numbers, after the crash',
	'SELECT count(k) || \',\' || sum(k) FROM i WHERE k >= 0');
same_as_seqscan($node, 'texts, after the crash',
	map { "SELECT count(v) FROM g$_ WHERE v > ''" } $rows .. $rows + 31);
$node->stop;
no_crash($node);
done_testing();

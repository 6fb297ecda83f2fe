# Rows far behind those that an index was made of: their TIDs take so many bytes
# that half of a leaf's entries would not fit beside them.  The table is made
# large by holes in its files.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use constant GB => 1024 * 1024 * 1024;

my $node = PostgreSQL::Test::Cluster->new('large');
$node->init;
$node->append_conf('postgresql.conf',
	"autovacuum = off\nenable_seqscan = off\n");
$node->start;
install_helpers($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE came (k int8, v int) WITH (fillfactor = 100);
CREATE INDEX came_k ON came USING fptree (k);
INSERT INTO came SELECT i, 1 FROM generate_series(1, 10000) i;
CREATE TABLE built (k int8, v int);
INSERT INTO built SELECT i, 1 FROM generate_series(1, 10000) i;
CREATE INDEX built_k ON built USING fptree (k) WITH (fillfactor = 100);
SQL
my %files = map { $_ => $node->data_dir . '/' . $node->safe_psql('postgres',
	"SELECT pg_relation_filepath('$_')") } qw(came built);
my $segment = $node->safe_psql('postgres', <<'SQL');
SELECT setting::int8 * current_setting('block_size')::int8
FROM pg_settings WHERE name = 'segment_size'
SQL
$node->stop;

# 70 GB: blocks that short TIDs cannot tell begin at 64
my $nsegments = int(70 * GB / $segment);
for my $file (values %files)
{
	for my $n (0 .. $nsegments - 1)
	{
		my $name = $n > 0 ? "$file.$n" : $file;

		open(my $fh, '>>', $name) or die "$name: $!";
		truncate($fh, $segment) or die "$name: $!";
		close($fh);
	}
	if ((stat($file))[12] * 512 > $segment / 2)
	{
		plan skip_all => 'files have no holes here';
	}
}
$node->start;
for my $table (sort keys %files)
{
	for my $k (100, 1, 5000, 10000)
	{
		my ($ret, undef, $err) = $node->psql('postgres',
			"UPDATE $table SET v = 2 WHERE k = $k");

		is($ret, 0, "$table: row $k has moved far") or diag($err);
	}
	cmp_ok($node->safe_psql('postgres', <<"SQL"), '>', 8388608, "$table: beyond short TIDs");
SELECT (ctid::text::point)[0]::int8 FROM $table WHERE k = 100
SQL
	is($node->safe_psql('postgres', <<"SQL"), "10000|50005000|4", "$table: all rows are found");
SELECT count(*), sum(k), count(*) FILTER (WHERE v = 2) FROM $table
WHERE k BETWEEN 1 AND 10000
SQL
	is($node->safe_psql('postgres',
			"SELECT fptree_index_parent_check('${table}_k')"), '',
		"$table: the index is sound");
}
no_crash($node);
$node->stop;
done_testing();

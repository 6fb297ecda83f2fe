# An index whose heads are made of sort keys (collations of ICU) is not used once
# the collation's version is another one than when it was built: a change of the
# version that is in the metapage stands for an upgrade of ICU.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Where the metapage has it, in the file.
my $place = 64 + 308;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
without_checksums($node);
$node->append_conf('postgresql.conf', "autovacuum = off\n");
$node->start;
install_helpers($node);
if ($node->safe_psql('postgres',
		"SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'") == 0)
{
	plan skip_all => 'this server has no ICU';
}

$node->safe_psql('postgres', q{
CREATE TABLE t (i int, a text COLLATE "en-x-icu", c text COLLATE "C");
INSERT INTO t SELECT i, md5(i::text), md5(i::text) FROM generate_series(1, 3000) i;
CREATE INDEX t_a ON t USING fptree (a);
CREATE INDEX t_ia ON t USING fptree (i, a DESC);
CREATE INDEX t_c ON t USING fptree (c);
CHECKPOINT;
});
is($node->safe_psql('postgres', q{
	SELECT string_agg((fptree_metap(i)).keyclass::text, ' ')
	FROM unnest('{t_a,t_ia,t_c}'::regclass[]) i}),
	'3 3 2', 'sort keys are in the heads of the first two indexes');

my @queries = (
	q{SELECT count(*) || ' ' || sum(i) FROM t WHERE a > '8'},
	q{SELECT count(*) || ' ' || sum(i) FROM t WHERE a = md5('77')},
	q{SELECT string_agg(i::text, ' ') FROM
	  (SELECT i FROM t WHERE a < '04' ORDER BY a) x});
same_as_seqscan($node, 'scans agree', @queries);
verify($node, 'indexes are sound');

my $file = $node->data_dir . '/' .
  $node->safe_psql('postgres', q{SELECT pg_relation_filepath('t_a')});
$node->stop;
open my $fh, '+<', $file or die "$file: $!";
binmode $fh;
seek($fh, $place, 0) or die $!;
read($fh, my $version, 4) == 4 or die $!;
isnt(unpack('L', $version), 0, 'the metapage has a version');
seek($fh, $place, 0) or die $!;
print $fh pack('L', unpack('L', $version) ^ 4096);
close $fh or die $!;
$node->start;

my $refused = qr/index "t_a" was built with another version of its collation/;
my (undef, undef, $err) = $node->psql('postgres',
	"SET enable_seqscan = off; SELECT count(*) FROM t WHERE a > '8'");
like($err, $refused, 'a search is refused');
like($err, qr/REINDEX INDEX t_a/, 'with a hint');
(undef, undef, $err) = $node->psql('postgres',
	q{INSERT INTO t VALUES (0, 'x', 'x')});
like($err, $refused, 'an insertion is refused');
is($node->safe_psql('postgres', q{
	SET enable_indexscan = off; SET enable_indexonlyscan = off;
	SET enable_bitmapscan = off;
	SELECT count(*) FROM t WHERE a = md5('77')}),
	'1', 'other plans go on');

# The planner looks up the greatest value, which statistics do not know.
is($node->safe_psql('postgres', q{
	ANALYZE t;
	SET enable_indexscan = off; SET enable_indexonlyscan = off;
	SET enable_bitmapscan = off;
	SELECT count(*) FROM t WHERE a > 'zz'}),
	'0', 'planning goes on, too');
$node->safe_psql('postgres', 'DELETE FROM t WHERE i % 2 = 0');
$node->safe_psql('postgres', 'VACUUM t');
pass('VACUUM goes on');

$node->safe_psql('postgres', 'REINDEX INDEX t_a');
$node->safe_psql('postgres', q{INSERT INTO t VALUES (0, 'x', 'x')});
same_as_seqscan($node, 'rebuilt: scans agree', @queries);
verify($node, 'rebuilt: indexes are sound');
$node->stop;
done_testing();

# An index on text in a collation of ICU is used with a warning once the
# collation's version is another one than when it was built: a change of the
# version that is in the metapage stands for an upgrade of ICU.  One with sort
# keys in its heads, as earlier versions built them, is refused.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Where the metapage has it, in the file.
my $place = 64 + 312;

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
CREATE TABLE d (c text COLLATE "C");
INSERT INTO d SELECT 'key ' || i % 20 FROM generate_series(1, 3000) i;
CREATE INDEX d_c ON d USING fptree (c);
VACUUM ANALYZE d;
CHECKPOINT;
});
is($node->safe_psql('postgres', q{
	SELECT string_agg((fptree_metap(i)).keyclass::text, ' ')
	FROM unnest('{t_a,t_ia,t_c}'::regclass[]) i}),
	'2 2 2', 'no sort keys are in heads');

my @queries = (
	q{SELECT count(*) || ' ' || sum(i) FROM t WHERE a > '8'},
	q{SELECT count(*) || ' ' || sum(i) FROM t WHERE a = md5('77')},
	q{SELECT string_agg(i::text, ' ') FROM
	  (SELECT i FROM t WHERE a < '04' ORDER BY a) x});
same_as_seqscan($node, 'scans agree', @queries);
verify($node, 'indexes are sound');

my $keys = 'EXPLAIN SELECT DISTINCT c FROM d';
my $node_of_keys = qr/Fptree Distinct/;
like($node->safe_psql('postgres', $keys), $node_of_keys,
	'keys are found by searches');

# Another version in an index's metapage; returns the one that it had.
sub change_version
{
	my $file = $node->data_dir . '/' . shift;

	open my $fh, '+<', $file or die "$file: $!";
	binmode $fh;
	seek($fh, $place, 0) or die $!;
	read($fh, my $version, 4) == 4 or die $!;
	$version = unpack('L', $version);
	seek($fh, $place, 0) or die $!;
	print $fh pack('L', $version ^ 4096);
	close $fh or die $!;
	return $version;
}
my ($file, $other) = map {
	$node->safe_psql('postgres', "SELECT pg_relation_filepath('$_')")
} qw(t_a d_c);
$node->stop;
isnt(change_version($file), 0, 'the metapage has a version');
change_version($other);
$node->start;
unlike($node->safe_psql('postgres', $keys), $node_of_keys,
	'not where equal keys may lie in several places');
$node->safe_psql('postgres', 'REINDEX INDEX d_c');
like($node->safe_psql('postgres', $keys), $node_of_keys, 'rebuilt: they are');

my $warned =
  qr/WARNING:  index "t_a" was built with another version of its collation/;
my (undef, undef, $err) = $node->psql('postgres',
	"SET enable_seqscan = off; SELECT count(*) FROM t WHERE a > '8'");
like($err, $warned, 'a search warns');
like($err, qr/REINDEX INDEX t_a/, 'with a hint');
(undef, undef, $err) = $node->psql('postgres',
	q{INSERT INTO t VALUES (-1, 'x', 'x')});
like($err, $warned, 'an insertion warns');
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

$node->stop;
$file = $node->data_dir . '/' . $file;
open my $fh, '+<', $file or die "$file: $!";
binmode $fh;
seek($fh, 64 + 12, 0) or die $!;
print $fh pack('C', 3);
close $fh or die $!;
$node->start;
(undef, undef, $err) = $node->psql('postgres',
	q{INSERT INTO t VALUES (-2, 'x', 'x')});
like($err, qr/index "t_a" was built with sort keys of its collation/,
	'an index with sort keys is refused');

$node->safe_psql('postgres', 'REINDEX INDEX t_a');
$node->safe_psql('postgres', q{INSERT INTO t VALUES (0, 'x', 'x')});
same_as_seqscan($node, 'rebuilt: scans agree', @queries);
verify($node, 'rebuilt: indexes are sound');
$node->stop;
done_testing();

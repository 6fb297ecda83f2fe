# Tables of which twice as many blocks are more than TIDs of three bytes can tell
# with eight bits for an offset, but whose rows are so wide that offsets have
# fewer; and rows that come with higher ones.  The tables are made large by holes
# in their files.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Within a segment; twice as many are told with 6 bits for an offset, and with 7
# if keys lend one.  Builds leave room for a quarter more rows in a block.
use constant BLOCKS => 66_000;

my $node = PostgreSQL::Test::Cluster->new('offsets');
$node->init;
$node->append_conf('postgresql.conf', q{
autovacuum = off
fsync = off
checkpoint_timeout = 1h
max_parallel_maintenance_workers = 0
});
$node->start;
install_helpers($node);

my $block = $node->safe_psql('postgres', "SHOW block_size");
my $segment = $node->safe_psql('postgres', <<'SQL');
SELECT setting::int8 * current_setting('block_size')::int8
FROM pg_settings WHERE name = 'segment_size'
SQL
plan skip_all => 'other blocks, or segments are too short'
  if $block != 8192 || $segment < $block * (BLOCKS + 1000);

# Keys in random order: small numbers, random ones, uuids and texts.
sub rows
{
	my ($from, $to, $pad) = @_;

	return "SELECT (i * 7919 % 30011)::int4, hashint8extended(i, 1),
		md5(i::text)::uuid, 'some key ' || md5(i::text), $pad
		FROM generate_series($from, $to) i";
}

my %pads = (wide => "repeat('x', 100)", between => "repeat('x', 40)", narrow => 'NULL');
my @tables = qw(narrow wide);
my %indexes = (
	near => 'small',
	number => 'random',
	id => 'id',
	text => 'name COLLATE "C"',
	two => 'small, random',
	ties => '(small / 100)');

for my $table (sort keys %pads)
{
	$node->safe_psql('postgres', "
CREATE TABLE $table (small int4, random int8, id uuid, name text, pad text);
INSERT INTO $table " . rows(1, 10000, $pads{$table}));
	my $file = $node->data_dir . '/' .
	  $node->safe_psql('postgres', "SELECT pg_relation_filepath('$table')");
	$node->stop;
	truncate($file, $block * BLOCKS) or die "$file: $!";
	$node->start;
	plan skip_all => 'files have no holes here'
	  if (stat($file))[12] * 512 > $block * BLOCKS / 2;
	$node->safe_psql('postgres',
		"INSERT INTO $table " . rows(10001, 20000, $pads{$table}));
	my ($blocks, $offset) = split(/\|/, $node->safe_psql('postgres', "
SELECT max((ctid::text::point)[0]), max((ctid::text::point)[1]) FROM $table"));
	cmp_ok($blocks, '>', BLOCKS, "$table: half of the rows are behind the hole");
	my ($few, $many) = @{ { wide => [ 26, 50 ], between => [ 51, 63 ], narrow => [ 64, 101 ] }->{$table} };
	cmp_ok($offset, '<=', $many, "$table: rows in a block");
	cmp_ok($offset, '>=', $few, "$table: nor fewer");
	$node->safe_psql('postgres',
		"CREATE INDEX ${table}_$_ ON $table USING fptree ($indexes{$_})")
	  for sort keys %indexes;
}

# How most leaves' TIDs are stored: bytes, bits for an offset, bits that keys lend.
sub tids
{
	my $index = shift;

	return $node->safe_psql('postgres', "
SELECT mode() WITHIN GROUP (ORDER BY format('%s %s %s', tid_width, offset_bits, lent_bits))
FROM generate_series(1, pg_relation_size('$index') / $block - 1) p,
	fptree_page_stats('$index', p) s WHERE s.level = 0 AND s.type <> 'deleted'");
}

sub sound
{
	my $what = shift;

	verify($node, "$what: indexes are sound");
	for my $table (@tables)
	{
		my $rows = "SELECT md5(string_agg(%s || ctid::text, ',' ORDER BY %s, ctid)) FROM $table WHERE";

		same_as_seqscan($node, "$what: scans of $table",
			sprintf("$rows small BETWEEN 100 AND 5000", 'id', 'id'),
			sprintf("$rows small = ANY (ARRAY[1, 5, 6, 500, 29999])", 'id', 'id'),
			sprintf("$rows random > 0", 'random', 'random'),
			sprintf("$rows id < 'a0000000-0000-0000-0000-000000000000'", 'id', 'id'),
			sprintf("$rows name COLLATE \"C\" > 'some key 8'", 'id', 'id'),
			sprintf("$rows small = 77 AND random > -1", 'id', 'id'),
			sprintf("$rows small / 100 = 77", 'id', 'id'),
			sprintf("$rows small / 100 BETWEEN 78 AND 90", 'id', 'id'));
	}
	return;
}

my %built = (
	wide_near => '3 6 0',
	wide_number => '3 6 0',
	wide_id => '3 6 0',
	wide_text => '3 6 0',
	wide_two => '3 6 0',
	wide_ties => '3 6 0',
	between_near => '3 7 1',
	between_number => '4 8 0',
	narrow_near => '3 7 1',
	narrow_number => '4 8 0',
	narrow_id => '4 8 0',
	narrow_text => '4 8 0',
	narrow_two => '4 8 0',
	narrow_ties => '3 7 1');

# (where 6 bits would do, a quarter more rows would not have them)
is(tids($_), $built{$_}, "$_: TIDs as built") for sort keys %built;
$node->safe_psql('postgres', 'DROP TABLE between');
delete @built{ grep { /^between/ } keys %built };
sound('built');

# what is formed of these pages has TIDs as short
$node->safe_psql('postgres', "INSERT INTO $_ " . rows(20001, 40000, $pads{$_}))
  for @tables;
is(tids($_), $built{$_}, "$_: TIDs after splits") for sort keys %built;
sound('grown');

# rows whose offsets take a bit more, and two: pages are formed anew
my $highest = "SELECT max((ctid::text::point)[1]) FROM";
$node->safe_psql('postgres', 'INSERT INTO wide ' . rows(40001, 41500, 'NULL'));
cmp_ok($node->safe_psql('postgres', "$highest wide"), '>', 63,
	'rows with higher offsets');
sound('higher');
isnt(tids('wide_id'), '3 6 0', 'most pages have bits for them');
$node->safe_psql('postgres',
	"INSERT INTO $_ SELECT i % 30011 FROM generate_series(1, 3000) i")
  for @tables;
for my $table (@tables)
{
	cmp_ok($node->safe_psql('postgres', "$highest $table"), '>', 127,
		"$table: rows with offsets of 8 bits");
}
sound('8 bits');

# and rows that no short TID tells
$node->safe_psql('postgres', "INSERT INTO $_ SELECT FROM generate_series(1, 600)")
  for @tables;
cmp_ok($node->safe_psql('postgres', "$highest wide"), '>', 255,
	'rows with offsets of 9 bits');
sound('9 bits');
$node->safe_psql('postgres', "DELETE FROM $_ WHERE random % 2 = 0 OR random IS NULL; VACUUM $_")
  for @tables;
sound('vacuumed');

# what was logged makes the same pages
$node->stop('immediate');
$node->start;
sound('recovered');

# workers that scan a part of the table each tell what they have seen
$node->safe_psql('postgres', q{
SET max_parallel_maintenance_workers = 2;
ALTER TABLE wide SET (parallel_workers = 2);
DELETE FROM wide WHERE (ctid::text::point)[1] > 50;
VACUUM wide;
REINDEX TABLE wide;
});
is(tids("wide_$_"), '3 6 0', "wide_$_: TIDs as built by workers")
  for sort keys %indexes;
sound('built by workers');
no_crash($node);
$node->stop;
done_testing();

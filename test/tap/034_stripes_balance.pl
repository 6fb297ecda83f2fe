# Where the leaves of striped indexes are after inserts in random order: no two
# neighbours are on one disk, and no disk has too many of any range.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use FptStripes;
use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @seeds = split(/[\s,]+/, $ENV{FPT_BALANCE_SEEDS} // '1');
my $rows = $ENV{FPT_BALANCE_ROWS} // 2_000_000;

my $node = PostgreSQL::Test::Cluster->new('balance');
$node->init;
stripes_conf($node);
$node->append_conf('postgresql.conf', q{
autovacuum = off
fsync = off
shared_buffers = 256MB
max_wal_size = 4GB
});
$node->start;
install_helpers($node);
install_accounts($node);

# The stripes of an index's leaves, in the order of keys.
$node->safe_psql('postgres', q{
CREATE FUNCTION leaves(ix regclass, OUT nth int, OUT stripe int) RETURNS SETOF record
LANGUAGE plpgsql AS $$
DECLARE
	page int8 := 1;
	n int := (SELECT count(*) FROM fptree_stripes(ix));
BEGIN
	WHILE (SELECT level > 0 FROM fptree_page_stats(ix, page)) LOOP
		SELECT downlink INTO page FROM fptree_page_items(ix, page)
		ORDER BY itemoffset LIMIT 1;
	END LOOP;
	nth := 0;
	WHILE page <> 0 LOOP
		nth := nth + 1;
		stripe := (page - 2) % n;
		RETURN NEXT;
		SELECT right_page INTO page FROM fptree_page_stats(ix, page);
	END LOOP;
END $$;
CREATE TABLE leaf (nth int, stripe int);
CREATE FUNCTION nearest() RETURNS int LANGUAGE sql AS $$
	SELECT min(next - nth) FROM (
		SELECT nth, lead(nth) OVER (PARTITION BY stripe ORDER BY nth) AS next
		FROM leaf) x
$$;
CREATE FUNCTION most(range int) RETURNS int8 LANGUAGE sql AS $$
	SELECT max(n) FROM (
		SELECT count(*) OVER (PARTITION BY stripe ORDER BY nth
			RANGE BETWEEN CURRENT ROW AND range - 1 FOLLOWING) AS n
		FROM leaf) x
$$;
});

# An index of so many stripes with rows in it that $rows makes: its leaves are in
# table leaf.  No two of half as many neighbours as there are stripes are on one
# disk.
sub spaced
{
	my ($n, $type, $rows, $leaves, $name) = @_;
	my $list = join(', ', map { "d$_" } 1 .. $n);

	$node->safe_psql('postgres', qq{
DROP TABLE IF EXISTS t;
CREATE TABLE t (k $type);
CREATE INDEX t_k ON t USING fptree (k) WITH (tablespaces = '$list');
INSERT INTO t $rows;
TRUNCATE leaf;
INSERT INTO leaf SELECT * FROM leaves('t_k');
SELECT fptree_index_parent_check('t_k', true, true);
});
	my ($count, $nearest) = split(/\|/, $node->safe_psql('postgres', q{
SELECT count(*) * current_setting('block_size')::int / 8192, nearest()
FROM leaf
}));

	note("$name: $count leaves, $nearest apart");
	cmp_ok($count, '>', $leaves, "$name: leaves");
	cmp_ok($nearest, '>=', int(($n + 1) / 2), "$name: neighbours are apart");
	return;
}

# The same, and no disk has many more than others: where a range has 3.5 leaves
# for each, at most 5, and where it has 30, at most 37.
sub balanced
{
	my ($n, $type, $rows, $leaves, $name) = @_;
	my $range = int(3.5 * $n);
	my $long = 30 * $n;

	spaced($n, $type, $rows, $leaves, $name);
	my ($most, $mostlong) = split(/\|/,
		$node->safe_psql('postgres', "SELECT most($range), most($long)"));

	note("$name: $most of $range, $mostlong of $long");
	cmp_ok($most, '<=', 5, "$name: ranges of $range");
	cmp_ok($mostlong, '<=', 37, "$name: ranges of $long");
	return;
}

foreach my $seed (@seeds)
{
	balanced(10, 'int8', "SELECT hashint8extended(i, $seed)
		FROM generate_series(1, $rows) i", $rows / 600, "seed $seed");
}

# Few of so wide texts are in a page.
my $texts = q{SELECT (
	SELECT string_agg(md5(i || 's' || j), '') FROM generate_series(1, 24) j)
FROM generate_series(1, 20000) i};

balanced($_, 'text COLLATE "C"', $texts, 2000, "texts on $_ disks")
  foreach 4, 5, 7;

# The last leaf is found without a descent, so its split must look for a parent.
spaced(10, 'int8', 'SELECT (hashint4(i) & 1) * 1000000 + i
	FROM generate_series(1, 300000) i',
	100, 'rows that ascend in two places');

$node->stop;
done_testing();

# A table of which twice as many blocks are more than TIDs of three bytes can tell,
# and which gets as many: keys lend TIDs the bits that these need besides.  The
# table is made large by holes in its file.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# At first keys must lend a bit; the row behind the second hole has it set.
use constant BLOCKS => (60_000, 110_000);

my $node = PostgreSQL::Test::Cluster->new('lent');
$node->init;
$node->append_conf('postgresql.conf', q{
autovacuum = off
fsync = off
enable_seqscan = off
checkpoint_timeout = 1h
});
$node->start;
install_helpers($node);

# Keys in random order; 40 rows of each d.
my $rows = q{
SELECT i, i * 7919 % 30011,
	timestamptz '2026-01-01' + (i * 7919 % 30011) * interval '1 second' * 0.37,
	(i * 7919 % 30011) / 40
FROM generate_series(%d, %d) i
};
$node->safe_psql('postgres', 'CREATE TABLE t (id int8, r int4, ts timestamptz, d int4);
INSERT INTO t ' . sprintf($rows, 1, 12500));
my $file = $node->data_dir . '/' .
  $node->safe_psql('postgres', "SELECT pg_relation_filepath('t')");
my $block = $node->safe_psql('postgres', "SHOW block_size");
my $segment = $node->safe_psql('postgres', <<'SQL');
SELECT setting::int8 * current_setting('block_size')::int8
FROM pg_settings WHERE name = 'segment_size'
SQL
plan skip_all => 'segments are too short' if $segment < $block * (BLOCKS)[1];

# Make the table so many blocks long; rows that come next are at its end.
sub extend
{
	my $blocks = shift;

	$node->stop;
	truncate($file, $block * $blocks) or die "$file: $!";
	$node->start;
	return (stat($file))[12] * 512 < $block * $blocks / 2;
}

plan skip_all => 'files have no holes here' unless extend((BLOCKS)[0]);
$node->safe_psql('postgres', 'INSERT INTO t ' . sprintf($rows, 12501, 25000));
cmp_ok($node->safe_psql('postgres', "SELECT max((ctid::text::point)[0]) FROM t"),
	'>=', (BLOCKS)[0] - 1, 'half of the rows are at the end');

# How many leaves there are whose keys lend bits, and how many in all.
$node->safe_psql('postgres', q{
CREATE FUNCTION lent(ix regclass, OUT lent int8, OUT leaves int8) LANGUAGE sql AS $$
	SELECT count(*) FILTER (WHERE (s).lent_bits > 0), count(*)
	FROM (SELECT fptree_page_stats(ix, p) AS s
		FROM generate_series(1, pg_relation_size(ix) / current_setting('block_size')::int8 - 1) p) x
	WHERE (s).level = 0 AND (s).type <> 'deleted'
$$;
-- the rows that a query finds by an index, and without
CREATE FUNCTION same(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	a text;
	b text;
BEGIN
	SET LOCAL enable_seqscan = off;
	EXECUTE 'SELECT md5(string_agg(q::text, $q$,$q$ ORDER BY q)) FROM (' || query || ') q' INTO a;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE 'SELECT md5(string_agg(q::text, $q$,$q$ ORDER BY q)) FROM (' || query || ') q' INTO b;
	RESET enable_indexscan;
	RESET enable_indexonlyscan;
	RESET enable_bitmapscan;
	RETURN a = b;
END $$;
});

sub sound
{
	my $what = shift;

	for my $ix (qw(t_r t_ts t_d t_u))
	{
		is($node->safe_psql('postgres',
				"SELECT fptree_index_parent_check('$ix', true, true)"),
			'', "$what: $ix is sound");
	}
	for my $query (
		'SELECT r, ctid FROM t WHERE r BETWEEN 100 AND 5000',
		'SELECT r, id, ctid FROM t WHERE r > 29000',
		'SELECT ts, ctid FROM t WHERE ts < $q$2026-01-01 01:00$q$',
		'SELECT d, ctid FROM t WHERE d = 77',
		'SELECT d, id, ctid FROM t WHERE d = ANY (ARRAY[1, 5, 6, 500, 749])',
		'SELECT d, ctid FROM t WHERE d BETWEEN 300 AND 310',
		'SELECT x.r, t.ctid FROM generate_series(0, 30010, 7) AS x (r), t WHERE t.r = x.r')
	{
		is($node->safe_psql('postgres', "SELECT same(\$x\$$query\$x\$)"),
			't', "$what: $query");
	}
	is($node->safe_psql('postgres', q{
SELECT string_agg(d::text, ',') = string_agg(d::text, ',' ORDER BY d) FROM (SELECT d FROM t ORDER BY d) x
}), 't', "$what: rows are in order");
	return;
}

$node->safe_psql('postgres', <<'SQL');
CREATE INDEX t_r ON t USING fptree (r);
CREATE INDEX t_ts ON t USING fptree (ts);
CREATE INDEX t_d ON t USING fptree (d);
CREATE UNIQUE INDEX t_u ON t USING fptree (r);
SQL
for my $ix (qw(t_r t_ts t_d))
{
	my ($lent, $leaves) = split(/\|/,
		$node->safe_psql('postgres', "SELECT * FROM lent('$ix')"));

	cmp_ok($lent, '>', $leaves / 2, "$ix: keys lend bits in $lent of $leaves leaves");
}
sound('built');

# rows between the others, of which TIDs need what keys lend
extend((BLOCKS)[1]);
$node->safe_psql('postgres', 'INSERT INTO t ' . sprintf($rows, 25001, 30000));
cmp_ok($node->safe_psql('postgres', "SELECT max((ctid::text::point)[0]) FROM t"),
	'>', 65536, 'rows are where three bytes do not suffice');
$node->safe_psql('postgres', "UPDATE t SET d = d + 1 WHERE id % 5 = 0");
sound('inserted');

# nearly consecutive numbers lend two bits, and a byte tells those of a node
$node->safe_psql('postgres', 'REINDEX INDEX t_r');
is($node->safe_psql('postgres', q{
SELECT mode() WITHIN GROUP (ORDER BY format('%s %s', key_width, lent_bits))
FROM generate_series(1, pg_relation_size('t_r') / current_setting('block_size')::int8 - 1) p,
	fptree_page_stats('t_r', p) s WHERE s.level = 0
}), '1 2', 'a byte of keys that lend two bits');
$node->safe_psql('postgres', "DELETE FROM t WHERE id % 3 = 0");
$node->safe_psql('postgres', "VACUUM t");
sound('vacuumed');
my (undef, undef, $err) = $node->psql('postgres',
	"INSERT INTO t SELECT id, r FROM t WHERE id = 25003");
like($err, qr/duplicate key value/, 'a duplicate is found');
$node->safe_psql('postgres', 'INSERT INTO t (id) VALUES (0), (-1)');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE r IS NULL'), '2',
	'NULLs go to such an index');
sound('with NULLs');
my ($lent) = split(/\|/, $node->safe_psql('postgres', "SELECT * FROM lent('t_r')"));
cmp_ok($lent, '>', 0, "keys still lend bits in $lent leaves");

# what was logged makes the same pages
$node->stop('immediate');
$node->start;
sound('recovered');
$node->safe_psql('postgres', "DELETE FROM t WHERE id % 2 = 0; VACUUM t");
sound('vacuumed again');

# keys that are too far from the others to be near them in any encoding
$node->safe_psql('postgres', q{
INSERT INTO t (id, r, ts, d) VALUES (0, 2147483647, 'infinity', 2147483647),
	(0, -2147483648, '-infinity', -2147483648);
REINDEX TABLE t;
});
sound('built anew');
no_crash($node);
$node->stop;
done_testing();

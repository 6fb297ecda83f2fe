# A collation orders strings differently than when an index was built, as after
# an upgrade of the C library: the locale is made anew under a cluster that is
# stopped for it.  Whole scans must return all rows, and VACUUM must take out all
# entries of the rows that it removes, though no search finds them.  If an entry
# stayed, it would lead to whatever row gets the place, when the old library is
# back, too.  A btree is beside.
#
# And: versions of collations that the index knows of; links that lead past a
# leaf, which VACUUM must notice, for the same reason; and what else must not
# make a statement go on for long with pages locked.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $locales = PostgreSQL::Test::Utils::tempdir();

# Make the locale xx_US.UTF-8 like another one.
sub make_locale
{
	my ($like) = @_;
	my $to = "$locales/xx_US.UTF-8";

	system('rm', '-rf', $to);
	system("localedef -i $like -f UTF-8 $to >/dev/null 2>&1");
	return -d $to;
}
if (!make_locale('en_US'))
{
	plan skip_all => 'locales cannot be made here';
}
$ENV{LOCPATH} = $locales;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
without_checksums($node);
# A page that somebody else has pinned VACUUM leaves as it is: nobody does.
$node->append_conf('postgresql.conf', q{
autovacuum = off
bgwriter_lru_maxpages = 0
checkpoint_timeout = 1d
max_wal_size = 4GB
shared_buffers = 64MB
});
$node->start;
install_helpers($node);

sub change_locale
{
	my ($like) = @_;

	$node->stop;
	make_locale($like) or die "no locale like $like";
	$node->start;
	return;
}

sub query
{
	my ($sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

# ----------------------------------------------------------------------------
# Another order

query(q{
CREATE COLLATION xx (provider = libc, locale = 'xx_US.UTF-8');
CREATE TABLE f (i int, t text COLLATE xx);
SELECT setseed(0.3);
INSERT INTO f SELECT i, (SELECT string_agg(substr('aAbB cC-dD_eE.fFzZ', (random() * 17)::int + 1, 1), '')
	FROM generate_series(1, 12) WHERE i = i) FROM generate_series(1, 12000) i;
CREATE TABLE b AS SELECT * FROM f;
CREATE INDEX f_t ON f USING fptree (t);
CREATE INDEX f_ti ON f USING fptree (t DESC, i);
CREATE INDEX b_t ON b (t);
CREATE INDEX b_ti ON b (t DESC, i);
CREATE TABLE gone AS SELECT t FROM f WHERE i % 3 = 0 AND i < 6000;
VACUUM ANALYZE f;
VACUUM ANALYZE b;
});

# Rows that index scans in an order return, of f and b: index-only and not, to
# and fro, one column and two, by several processes.
my $forced = q{
SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;};
my $parallel = $forced . q{
SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0; SET min_parallel_index_scan_size = 0;};

sub scan_counts
{
	my ($tab) = @_;
	my $sql = $forced;

	foreach my $q ("SELECT t FROM $tab ORDER BY t", "SELECT t FROM $tab ORDER BY t DESC",
		"SELECT i FROM $tab ORDER BY t", "SELECT i FROM $tab ORDER BY t DESC",
		"SELECT t FROM $tab WHERE t >= '' ORDER BY t",
		"SELECT t FROM $tab WHERE t >= '' ORDER BY t DESC",
		"SELECT i FROM $tab ORDER BY t DESC, i",
		"SELECT i FROM $tab ORDER BY t, i DESC")
	{
		$sql .= "SELECT count(*) || '/' || count(DISTINCT s) FROM ($q) s;\n";
	}
	return query("$sql $parallel SELECT count(*) FROM $tab;
		SELECT count(i) FROM $tab WHERE t >= '';");
}

my $before = scan_counts('f');
is($before, scan_counts('b'), 'scans before');
change_locale('C');
is(query(q{SELECT 'a' < 'B' COLLATE xx}), 'f', 'the order is another one');
is(scan_counts('f'), $before, 'all rows are found in the new order');
is(scan_counts('b'), $before, '... as by btree');

query("DELETE FROM $_ WHERE i % 3 = 0 OR i BETWEEN 1000 AND 1500;") foreach qw(f b);
query('VACUUM f; VACUUM b;');
is(query(q{SELECT string_agg((fptree_stat(x)).entries::text, ' ') FROM unnest('{f_t,f_ti}'::regclass[]) x}),
	query(q{SELECT count(*) || ' ' || count(*) FROM f}),
	'VACUUM has taken out all dead entries');

change_locale('en_US');
verify($node, 'the old order is back: indexes are sound');
query(q{INSERT INTO f SELECT i, 'new row ' || i FROM generate_series(50000, 60000) i});
is(query(qq{$forced SELECT count(*)
	FROM gone g, LATERAL (SELECT i FROM f WHERE f.t = g.t OFFSET 0) x WHERE i >= 50000}),
	'0', 'nothing that was deleted leads to another row');
is(query("$forced SELECT count(*) FROM (SELECT t FROM f ORDER BY t) s"),
	query('SET enable_indexscan = off; SET enable_indexonlyscan = off; SELECT count(*) FROM f'),
	'scans return each row once');

# Rows inserted in another order, some of which are turned down; rows removed
change_locale('C');
query(q{
DO $$
BEGIN
	FOR i IN 1 .. 1500 LOOP
		BEGIN
			INSERT INTO f VALUES (i, md5(i::text));
		EXCEPTION WHEN index_corrupted THEN
		END;
	END LOOP;
END $$;
DELETE FROM f WHERE i % 2 = 0;
VACUUM f;
});
is(query(q{SELECT string_agg((fptree_stat(x)).entries::text, ' ') FROM unnest('{f_t,f_ti}'::regclass[]) x}),
	query(q{SELECT count(*) || ' ' || count(*) FROM f}),
	'VACUUM, of entries that were inserted in two orders');
change_locale('en_US');
query(q{REINDEX TABLE f});
verify($node, 'rebuilt: indexes are sound');

# ----------------------------------------------------------------------------
# Versions

# What the metapage has, by the kind of order: where it is, in the file.
my $place = 64 + 312;

sub damage_file
{
	my ($index, $code) = @_;
	my $file = $node->data_dir . '/' . query("SELECT pg_relation_filepath('$index')");

	query('CHECKPOINT');
	$node->stop;
	my $data = slurp_file($file);
	$code->(\$data);
	open my $fh, '>', $file or die "$file: $!";
	binmode $fh;
	print $fh $data;
	close $fh or die $!;
	$node->start;
	return;
}

$node->safe_psql('postgres',
	q{CREATE DATABASE xx LOCALE 'xx_US.UTF-8' TEMPLATE template0});
my $kinds = q{
CREATE EXTENSION fptree;
CREATE COLLATION xx (provider = libc, locale = 'xx_US.UTF-8');
CREATE TYPE e AS ENUM ('a', 'b');
CREATE TYPE plain AS (i int, n numeric, t text COLLATE "C");
CREATE TYPE nested AS (i int, t text[]);
CREATE TYPE textrange AS RANGE (subtype = text, collation = xx);
CREATE TYPE crange AS RANGE (subtype = text, collation = "C");
CREATE DOMAIN dom AS text COLLATE xx;
CREATE FUNCTION cmp(int, int) RETURNS int LANGUAGE internal IMMUTABLE AS 'btint4cmp';
CREATE OPERATOR CLASS own FOR TYPE int USING fptree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 cmp(int, int);
CREATE TABLE k (t text, x text COLLATE xx, c text COLLATE "C", n numeric, j jsonb, e e, v varchar, b bpchar,
	ta text[], ia int[], ca text[] COLLATE "C", plain plain, nested nested, r textrange, cr crange,
	ir int4range, mr textmultirange, nm name, d dom, i int, by bytea, net inet);
CREATE FUNCTION kind(def text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	version text;
BEGIN
	EXECUTE 'CREATE INDEX k_x ON k USING fptree ' || def;
	CHECKPOINT;
	version := encode(pg_read_binary_file(pg_relation_filepath('k_x'), 376, 4), 'hex');
	DROP INDEX k_x;
	RETURN CASE WHEN version <> '00000000' THEN 'yes' ELSE 'no' END;
END $$;
};
$node->safe_psql('xx', $kinds);
$node->safe_psql('postgres', 'CREATE DATABASE c TEMPLATE template0');
$node->safe_psql('c', $kinds);
my %depends = (
	'(t)' => 'db', '(x)' => 'yes', '(c)' => 'no', '(n)' => 'no', '(j)' => 'db',
	'(e)' => 'no', '(v)' => 'db', '(b)' => 'db', '(ta)' => 'db', '(ia)' => 'no',
	'(ca)' => 'no', '(plain)' => 'no', '(nested)' => 'db', '(r)' => 'yes', '(cr)' => 'no',
	'(ir)' => 'no', '(mr)' => 'yes', '(nm)' => 'no', '(d)' => 'yes', '(i)' => 'no',
	'(by)' => 'no', '(net)' => 'no', '(i own)' => 'db', '(n, i, x)' => 'yes',
	'(i) INCLUDE (x)' => 'no', '(t text_pattern_ops)' => 'no',
	'(x text_pattern_ops, b bpchar_pattern_ops)' => 'no', '(((nested).t))' => 'db',
	'(nested record_image_ops)' => 'no', '((t || c))' => 'no');
my @defs = sort keys %depends;
my $list = join(', ', map { "'$_'" } @defs);
foreach my $db (qw(xx c))
{
	my $expected = join("\n", map {
		my $d = $depends{$_};
		"$_ " . ($d ne 'db' ? $d : $db eq 'xx' ? 'yes' : 'no') } @defs);

	is($node->safe_psql($db, "SELECT d || ' ' || kind(d) FROM unnest(ARRAY[$list]) WITH ORDINALITY x(d, o) ORDER BY o"),
		$expected, "versions are recorded for what needs them, database $db");
}

# A row type has got another column of the same collation.
$node->safe_psql('xx', q{
CREATE TABLE base (t text);
CREATE TABLE uses (b base);
CREATE INDEX uses_b ON uses USING fptree (b);
ALTER TABLE base ADD COLUMN note text;
});
is(($node->psql('xx', 'INSERT INTO uses VALUES (NULL)'))[2], '',
	'another column is no other version');

# Another version: the server goes on, and says so once in a session.
damage_file('f_ti', sub { substr(${ $_[0] }, $place, 4) ^= "\1\0\0\0" });
my $warning = qr/index "f_ti" was built with another version of its collation/;
my ($ret, $out, $err) = $node->psql('postgres', qq{$forced
	SELECT count(*) FROM (SELECT i FROM f WHERE t > 'x' ORDER BY t DESC, i) s;
	INSERT INTO f VALUES (1, 'x');
	SELECT count(*) FROM (SELECT i FROM f WHERE t > 'x' ORDER BY t DESC, i) s;});
is($ret, 0, 'another version: queries go on');
is(scalar(() = $err =~ /$warning/g), 1, 'and one warning is raised');
like($err, qr/REINDEX INDEX f_ti/, 'with a hint');
(undef, undef, $err) = $node->psql('postgres', "INSERT INTO f VALUES (1, 'x')");
like($err, $warning, 'so by INSERT');
(undef, undef, $err) = $node->psql('postgres', "DELETE FROM f WHERE i = 1; VACUUM f");
like($err, $warning, 'by VACUUM');
(undef, undef, $err) = $node->psql('postgres', "SELECT fptree_index_check('f_ti')");
like($err, $warning, 'by the check');
(undef, undef, $err) = $node->psql('postgres', qq{$parallel SELECT count(i) FROM f WHERE t >= ''});
unlike($err, qr/$warning.*$warning/s, 'not by each of several processes');

# Rows that an index scan finds in entries of another order need not match.
my $wrong = qq{$forced
DROP INDEX IF EXISTS f_t;
CREATE TEMP TABLE found AS SELECT lo, x.t FROM unnest(string_to_array('-.A.B.C._.a.b.c.e.f.bB.Ca', '.')) lo,
	LATERAL (SELECT t FROM f WHERE t >= lo COLLATE xx AND t < lo || 'b' COLLATE xx ORDER BY t DESC, i) x;
SELECT count(*) > 0, count(*) FILTER (WHERE NOT (t >= lo COLLATE xx AND t < lo || 'b' COLLATE xx)) FROM found;};
change_locale('C');
is(query($wrong), 't|0', 'rows that are found are looked at again');
change_locale('en_US');
(undef, undef, $err) = $node->psql('postgres', q{
	ANALYZE f;
	EXPLAIN SELECT FROM f WHERE t > 'zzzzzz';
	CLUSTER f USING f_ti;});
unlike($err, qr/ERROR/, 'planning and CLUSTER go on');
query(q{REINDEX INDEX f_ti; CREATE INDEX f_t ON f USING fptree (t)});
($ret, $out, $err) = $node->psql('postgres', "INSERT INTO f VALUES (1, 'x'); VACUUM f;");
is($err, '', 'rebuilt: no warning');

# ----------------------------------------------------------------------------
# Damage that leads past a leaf

query(q{
CREATE TABLE d (a int, s text COLLATE "C") WITH (autovacuum_enabled = off);
INSERT INTO d SELECT i * 2, lpad(i::text, 30, '0') FROM generate_series(1, 24000) i;
CREATE INDEX d_a ON d USING fptree (a);
CREATE INDEX d_s ON d USING fptree (s);
DELETE FROM d WHERE a % 3 = 0;
});
my $bs = query('SHOW block_size');
my ($left_at, $right_at) = (24, 28);

sub get_link
{
	my ($file, $page, $at) = @_;
	return unpack('L', substr($$file, $page * $bs + $at, 4));
}

# A leaf in the middle of the chain
sub some_leaf
{
	my ($index) = @_;
	return query(qq{SELECT page FROM generate_series(2, pg_relation_size('$index') / $bs - 1) p,
		fptree_page_stats('$index', p) WHERE type = 'leaf' AND left_page > 0 AND right_page > 0 LIMIT 1});
}

# Without a pass over the file nothing but the walk and the levels above tell.
sub vacuum_fails
{
	my ($name, $index, %opt) = @_;
	my $pass = $opt{pass} // 'on';
	my $table = $opt{table} // 'd';
	my ($ret, undef, $err) = $node->psql('postgres',
		"DELETE FROM $table WHERE s LIKE '% %'; SET fptree.leaf_prefetch = $pass;\nVACUUM (INDEX_CLEANUP ON) $table");

	isnt($ret, 0, "$name ($index, $pass): VACUUM fails");
	like($err, qr/index "$index" is corrupted at page \d+.*REINDEX INDEX $index/s,
		"$name ($index, $pass): and says why");
	like($err, $opt{why}, "$name ($index, $pass): in these words") if $opt{why};
	query("REINDEX INDEX $index");
	return;
}

# Insert rows; the writes of some pages are lost, which are what they were.
sub lose_writes
{
	my ($index, $insert, @pages) = @_;
	my $file = $node->data_dir . '/' . query("SELECT pg_relation_filepath('$index')");
	query('CHECKPOINT');
	my $data = slurp_file($file);
	my %old = map { $_ => substr($data, $_ * $bs, $bs) } @pages;

	query($insert);
	damage_file($index, sub {
		my ($file) = @_;

		die "not split" if get_link($file, $pages[0], $right_at) == get_link(\$old{$pages[0]}, 0, $right_at);
		substr($$file, $_ * $bs, $bs) = $old{$_} foreach @pages;
	});
	return;
}

# Rows between the first and the last one of a leaf of an index of d: it is split.
# They can be told by a blank.
sub splits
{
	my ($index, $leaf) = @_;

	return qq{INSERT INTO d SELECT 1, x.key || ' ' || i FROM generate_series(1, 600) i,
		(SELECT key FROM fptree_page_items('$index', $leaf) ORDER BY itemoffset LIMIT 1) x}
		if $index eq 'd_s';
	return qq{INSERT INTO d SELECT lo + 1 + i % (hi - lo - 1), ' ' || i FROM generate_series(1, 1200) i,
		(SELECT min(key::int) AS lo, max(key::int) AS hi FROM fptree_page_items('$index', $leaf)) x};
}

foreach my $index (qw(d_a d_s))
{
	my $leaf = some_leaf($index);

	damage_file($index, sub {
		my ($file) = @_;
		my $next = get_link($file, $leaf, $right_at);
		my $after = get_link($file, $next, $right_at);

		substr($$file, $leaf * $bs + $right_at, 4) = pack('L', $after);
	});
	vacuum_fails('a right link past a leaf', $index);

	# A write was lost: the leaf is what it was before it was split.
	$leaf = some_leaf($index);
	lose_writes($index, splits($index, $leaf), $leaf);
	vacuum_fails('a lost write', $index);

	# And that of its right sibling, so that the two agree, while their parent
	# leads to the new leaf between them.
	foreach my $pass (qw(off on))
	{
		$leaf = some_leaf($index);
		my $right = query("SELECT right_page FROM fptree_page_stats('$index', $leaf)");
		lose_writes($index, splits($index, $leaf), $leaf, $right);
		vacuum_fails('two lost writes', $index, pass => $pass,
			why => qr/A downlink leads to the page, but its neighbours' links pass it by/);
	}

	# A circle of links and fences
	$leaf = some_leaf($index);
	damage_file($index, sub {
		my ($file) = @_;
		my $from = get_link($file, $leaf, $left_at);

		substr($$file, $leaf * $bs, $bs) = substr($$file, $from * $bs, $bs);
		substr($$file, $leaf * $bs + $bs - 24, 4) = pack('L', $leaf);
		substr($$file, $leaf * $bs + $right_at, 4) = pack('L', $from);
	});
	vacuum_fails('a circle', $index);
}
query('VACUUM d');
verify($node, 'rebuilt: indexes are sound');

# Leaves that were split, and none lost; leaves to unlink
foreach my $pass (qw(off on))
{
	query(splits('d_a', some_leaf('d_a')));
	query('DELETE FROM d WHERE ' . ($pass eq 'off' ? "a % 7 = 0 OR a BETWEEN 5000 AND 7000 OR s LIKE '% %'" :
			'a % 11 = 0 OR a BETWEEN 8000 AND 10000'));
	is(($node->psql('postgres', "SET fptree.leaf_prefetch = $pass;\nVACUUM (INDEX_CLEANUP ON) d"))[0], 0,
		"sound indexes: VACUUM does not fail ($pass)");
	is(query(q{SELECT string_agg((fptree_stat(x)).entries::text, ' ') FROM unnest('{d_a,d_s}'::regclass[]) x}),
		query(q{SELECT count(*) || ' ' || count(*) FROM d}), "... and has taken out all dead entries ($pass)");
}
verify($node, 'indexes are sound still');

# Leaves of one key that follow each other in a circle: its uniqueness check,
# which can be neither cancelled nor restarted, must find out.
query(q{
CREATE TABLE u (a bigint) WITH (autovacuum_enabled = off);
INSERT INTO u SELECT i * 2 FROM generate_series(1, 3900) i;
CREATE UNIQUE INDEX u_a ON u USING fptree (a) WITH (fillfactor = 50);
});
my ($low_at, $high_at, $new) = ($bs - 48, 40);
damage_file('u_a', sub {
	my ($file) = @_;
	my $x = 1;
	my $y = get_link($file, $x, $right_at);
	my $z = get_link($file, $y, $right_at);

	# fences of this key, which end with a TID and the class
	my $fence = substr($$file, $x * $bs + $high_at, 24);
	$new = (unpack('Q', substr($fence, 8, 8)) ^ 1 << 63) - 1;
	substr($fence, 8, 8) = pack('Q', $new ^ 1 << 63);
	my ($t1, $t2) = map { substr($fence, 0, 16) . pack('L', $_) . substr($fence, 20) } (1, 2);
	substr($$file, $x * $bs + $high_at, 24) = $t1;
	substr($$file, $y * $bs + $low_at, 24) = $t1;
	substr($$file, $y * $bs + $high_at, 24) = $t2;
	substr($$file, $z * $bs + $low_at, 24) = $t2;
	substr($$file, $z * $bs + $high_at, 24) = $t1;
	substr($$file, $z * $bs + $right_at, 4) = pack('L', $y);
});
my $hangs;
(undef, undef, $err) = $node->psql('postgres', "INSERT INTO u VALUES ($new)",
	timeout => $PostgreSQL::Test::Utils::timeout_default, timed_out => \$hangs);
like($err, qr/index "u_a" is corrupted at page \d+.*The page ends before it begins.*REINDEX INDEX u_a/s,
	'a circle within the leaves of a key');
if ($hangs)
{
	$node->stop('immediate');
	$node->start;
}
query('REINDEX INDEX u_a');

# A leaf that is to take over its left sibling's keys, and has no room for its
# new fence but if its tuples are moved together, one of which is damaged: it
# is the one that VACUUM must name.
query(q{
CREATE TABLE h (s text COLLATE "C") WITH (autovacuum_enabled = off);
ALTER TABLE h ALTER s SET STORAGE PLAIN;
INSERT INTO h SELECT lpad(i::text, 1000, 'x') FROM generate_series(10000, 11000) i;
CREATE INDEX h_s ON h USING fptree (s) WITH (fillfactor = 100);
});
my $leaf = query(qq{SELECT i.downlink FROM generate_series(2, pg_relation_size('h_s') / $bs - 1) p,
	fptree_page_stats('h_s', p) s, fptree_page_items('h_s', p) i
	WHERE s.level = 1 AND s.left_page > 0 AND i.itemoffset = 2 ORDER BY p LIMIT 1});
my $heir = query("SELECT right_page FROM fptree_page_stats('h_s', $leaf)");
query("DELETE FROM h USING fptree_page_items('h_s', $leaf) i WHERE h.s = i.key");
damage_file('h_s', sub {
	my ($file) = @_;
	my $at = $heir * $bs;
	my $off = unpack('S', substr($$file, $at + 14, 2));
	my @fences = map { unpack('Q', substr($$file, $at + $_, 8)) } ($low_at, $high_at);

	# the first tuple that is no fence's, behind its length of two bytes
	while (grep { $_ == $off } @fences)
	{
		$off += 2 + (unpack('n', substr($$file, $at + $off, 2)) & 0x7FFF);
	}
	substr($$file, $at + $off, 2) = "\xFF\xFF";
});
(undef, undef, $err) = $node->psql('postgres', 'VACUUM (INDEX_CLEANUP ON) h');
like($err, qr/index "h_s" is corrupted at page $heir\n.*Page is not sound/s,
	'VACUUM names the page that is damaged');
query('REINDEX INDEX h_s; VACUUM h');
verify($node, 'rebuilt: indexes are sound, again');

# Two lost writes as above, and two more: the leaf's parent was split, too, and
# it and its right sibling are what they were.  The level above them tells.
my ($parent, $beside) = split(/\|/, query(qq{SELECT p, s.right_page FROM generate_series(2, pg_relation_size('h_s') / $bs - 1) p,
	fptree_page_stats('h_s', p) s WHERE s.level = 1 AND s.left_page > 0 AND s.right_page > 0 ORDER BY p LIMIT 1}));
$leaf = query("SELECT downlink FROM fptree_page_items('h_s', $parent) ORDER BY itemoffset DESC OFFSET 1 LIMIT 1");
my $next = query("SELECT right_page FROM fptree_page_stats('h_s', $leaf)");
my $key = query("SELECT min(key) FROM fptree_page_items('h_s', $leaf)");
lose_writes('h_s', qq{INSERT INTO h SELECT '$key ' || lpad(i::text, 4, '0') FROM generate_series(1, 150) i},
	$parent, $beside, $leaf, $next);
vacuum_fails('four lost writes', 'h_s', pass => 'off', table => 'h',
	why => qr/A downlink leads to the page/);
query('VACUUM h');

# A free space map of before a crash names pages that are in use since then, any
# number of them: a split, which has pages locked, tries a few.
query(q{
CREATE TABLE m (s text COLLATE "C") WITH (autovacuum_enabled = off);
ALTER TABLE m ALTER s SET STORAGE PLAIN;
INSERT INTO m SELECT rpad(i::text, 1000, 'x') FROM generate_series(10000, 19999) i;
CREATE INDEX m_s ON m USING fptree (s) WITH (fillfactor = 100);
DELETE FROM m WHERE s > rpad('11500', 1000, 'x');
VACUUM (INDEX_CLEANUP ON) m;
CHECKPOINT;
});
my $fsm = $node->data_dir . '/' . query("SELECT pg_relation_filepath('m_s')") . '_fsm';
my $state = q{SELECT pg_relation_size('m_s') || ' ' || (SELECT leaf_pages FROM fptree_stat('m_s'))};
my ($size, $leaves) = split(/ /, query($state));
cmp_ok($size / $bs - $leaves, '>', 800, 'many pages are free');
$node->stop;
my $old = slurp_file($fsm);
$node->start;
query(q{INSERT INTO m SELECT rpad(i::text, 1000, 'x') FROM generate_series(11501, 19999) i});
my ($full, $more) = split(/ /, query($state));
$node->stop;
open my $fh, '>', $fsm or die "$fsm: $!";
binmode $fh;
print $fh $old;
close $fh or die $!;
$node->start;
my $plan = query(q{EXPLAIN (ANALYZE, BUFFERS) INSERT INTO m VALUES (rpad('10500', 1000, 'x') || 'x')});
my ($buffers) = $plan =~ /Buffers: shared (.*)/;
my $pages = 0;
$pages += $1 while $buffers =~ /(?:hit|read)=(\d+)/g;
cmp_ok((split(/ /, query($state)))[1], '>', $more, 'a leaf was split');
cmp_ok($pages, '<', 2000, "a stale free space map: $pages pages looked at");
$node->stop;
no_crash($node);
done_testing();

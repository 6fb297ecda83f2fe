# fptree_advise() where something is in the way: damaged pages of btree indexes,
# with and without checksums, temporary tables of others, locks, a standby, a
# statement that is cancelled; and trees with more inner pages than are read, which are
# sampled.
#
# Each damage has an index of its own, so that one restart does for all.  A check
# of sql/btree.c that is missing is seen by what is said instead.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use IPC::Run;

use lib $FindBin::RealBin;
use FptTest qw(no_crash without_checksums wait_replayed);

my $bs = 8192;
my $special = $bs - 16;

# What the file of an index is: changed by the ways below, pages by number.
sub peek
{
	my ($file, $p, $off, $template) = @_;
	return unpack($template, substr($$file, $p * $bs + $off, 8));
}

sub poke
{
	my ($file, $p, $off, $template, @values) = @_;
	my $bytes = pack($template, @values);

	substr($$file, $p * $bs + $off, length $bytes) = $bytes;
	return;
}

# An item's pointer: offset, flags, length
sub pointer
{
	my ($file, $p, $n) = @_;
	my $lp = peek($file, $p, 24 + 4 * ($n - 1), 'V');

	return ($lp & 0x7FFF, $lp >> 15 & 3, $lp >> 17);
}

sub set_pointer
{
	my ($file, $p, $n, $off, $flags, $len) = @_;

	poke($file, $p, 24 + 4 * ($n - 1), 'V', $off | $flags << 15 | $len << 17);
	return;
}

# Overwrite bytes of a tuple.
sub poke_tuple
{
	my ($file, $p, $n, $at, $template, @values) = @_;
	my ($off) = pointer($file, $p, $n);

	poke($file, $p, $off + $at, $template, @values);
	return;
}

# The first leaf of an index that was built
my $leaf = 1;

sub root { return peek(shift, 0, 32, 'V'); }

sub item
{
	my ($role, $off, $flags, $len) = @_;

	return sub {
		my ($f) = @_;
		my $p = $role eq 'leaf' ? $leaf : root($f);
		my @old = pointer($f, $p, 3);

		set_pointer($f, $p, 3, $off // $old[0], $flags // $old[1],
			$len // $old[2]);
	};
}

sub field
{
	my ($role, $at, $template, $value) = @_;

	return sub {
		my ($f) = @_;
		my $p = $role eq 'meta' ? 0 : $role eq 'leaf' ? $leaf : root($f);

		poke($f, $p, $at, $template, $value);
	};
}

sub tuple
{
	my ($at, $template, @values) = @_;

	return sub { poke_tuple(shift, $leaf, 3, $at, $template, @values); };
}

# Columns, what is done to the index's file, what is said: of the detail
my @ways = (
	[ 'k', field('meta', 24, 'V', 1), q{metapage is not btree's} ],
	[ 'k', field('meta', 28, 'V', 99), q{metapage is not btree's} ],
	[ 'k', field('meta', $special + 12, 'v', 0), q{metapage is not btree's} ],
	[ 'k', field('meta', 32, 'V', 5000), 'There is no such block' ],
	[ 'k', field('meta', 32, 'V', 0xFFFFFFFF), 'There is no such block' ],
	[ 'k', field('root', 0, "a$bs", ''), 'The page is empty' ],
	[ 'k', field('leaf', 0, "a$bs", ''), 'The page is empty' ],
	[ 'k', field('root', 16, 'v', $special - 8), 'header is not valid' ],
	[ 'k', field('leaf', 16, 'v', $bs), 'header is not valid' ],
	[ 'k', field('leaf', 12, 'v', 16), 'header is not valid' ],
	[ 'k', field('leaf', 12, 'v', $bs - 1), 'invalid page in block' ],
	[ 'k', field('leaf', $special + 12, 'v', 8), 'It is a metapage' ],
	[ 'k', field('leaf', $special + 8, 'V', 7), 'level is not valid' ],
	[ 'k', field('root', $special + 8, 'V', 0), 'level is not valid' ],
	[ 'k', field('root', $special + 8, 'V', 40000), 'level is not valid' ],
	[ 'k', field('root', $special + 8, 'V', 5), 'has no pages of level 3' ],
	[ 'k', field('root', $special + 12, 'v', 4), 'root of index .* is deleted' ],
	[ 'k', field('leaf', 12, 'v', 24 + 4 * 420), 'too many items' ],
	[ 'k', field('leaf', $special + 4, 'V', 5000), 'There is no such block' ],
	[ 'k', item('leaf', 8000, 1, 1000), 'item is not within the page' ],
	[ 'k', item('leaf', 64), 'item is not within the page' ],
	[ 'k', item('leaf', 8001), 'item is not within the page' ],
	[ 'k', item('leaf', undef, 1, 4), 'item is not within the page' ],
	[ 'k', item('leaf', undef, 2), 'item is not within the page' ],
	[ 'k', item('leaf', undef, 0, 0), 'item is not within the page' ],
	[ 'k', item('root', 8000, 1, 1000), 'item is not within the page' ],
	[ 'k', item('root', undef, 3), 'inner page has dead items' ],
	[ 'k', tuple(6, 'v', 17), 'tuple is not within its item' ],
	[ 'k', tuple(6, 'v', 4), 'tuple is not within its item' ],
	[ 'k', tuple(6, 'v', 0x8000 | 8), 'tuple is too short' ],
	[ 'k', tuple(6, 'v', 8), 'value is not within its tuple' ],
	[ 'k', tuple(4, 'v', 0), 'TID is not valid' ],
	[ 'k', tuple(0, 'V', 0xFFFFFFFF), 'TID is not valid' ],
	[ 'k', sub { my ($f) = @_; poke_tuple($f, root($f), 1, 0, 'vv', 0, 5000) },
		'There is no such block' ],
	[ 'k', sub { my ($f) = @_; poke_tuple($f, root($f), 1, 0, 'vv', 0, 0) },
		'It is a metapage' ],
	[ 'k', sub {
			my ($f) = @_;
			my $n = (peek($f, root($f), 12, 'v') - 24) / 4;

			poke_tuple($f, root($f), $_, 0, 'vv', 0, root($f)) for 1 .. $n;
		}, 'has no pages of level 0' ],
	# posting lists: number of TIDs, place
	[ 'few', tuple(4, 'v', 0x2000), 'posting list is not valid' ],
	[ 'few', tuple(4, 'v', 0x0002), 'posting list is not valid' ],
	[ 'few', tuple(4, 'v', 0x2FFF), 'posting list is not valid' ],
	[ 'few', tuple(0, 'vv', 0, 4), 'posting list is not valid' ],
	[ 'few', tuple(0, 'vv', 0, 17), 'posting list is not valid' ],
	[ 'few', tuple(0, 'vv', 0, 8000), 'posting list is not valid' ],
	[ 'few', tuple(16 + 4, 'v', 0), 'TID is not valid' ],
	[ 'few', sub {
			my ($f) = @_;
			my @item = pointer($f, $leaf, 3);

			poke($f, $leaf, 12, 'v', 24 + 4 * 40);
			set_pointer($f, $leaf, $_, @item) for 2 .. 40;
		}, 'too many TIDs' ],
	# values
	[ 's', tuple(8, 'C', 0xFF), 'value is not within its tuple' ],
	[ 's', tuple(8, 'C', 1), 'value is not within its tuple' ],
	[ 's', tuple(8, 'V', 3 << 2), 'value is not within its tuple' ],
	[ 's', tuple(8, 'V', 3000 << 2), 'value is not within its tuple' ],
	[ 's', tuple(8, 'V', 8 << 2 | 2), 'value is not within its tuple' ],
	[ 's', tuple(8, 'VV', 20 << 2 | 2, 0x3FFFFFFF),
		'value is not within its tuple' ],
	# one that is not aligned
	[ 's, few::text', tuple(8, 'CCCV', 3 << 1 | 1, 65, 66, 8 << 2),
		'value is not within its tuple' ],
	[ 'n', tuple(8, 'a8', 'xxxxxxxx'), 'value is not within its tuple' ]);

# A link that leads back is no damage that must be noticed: only an end there is.
my @loops = (
	[ 'k', field('leaf', $special + 4, 'V', $leaf) ],
	[ 'k', field('leaf', $special + 12, 'v', 1 | 4) ],
	[ 'k', sub {
			my ($f) = @_;
			my $n = length($$f) / $bs;

			for my $p (grep { $_ != root($f) } 1 .. $n - 1)
			{
				poke($f, $p, $special + 12, 'v', 1 | 4);
				poke($f, $p, $special + 4, 'V', $leaf);
			}
		} ]);

# Random bytes, in pages of all kinds
srand(20020603);
my @random;
for my $i (0 .. 59)
{
	my $columns = ('k', 'few', 's', 'n', 's, k')[ $i % 5 ];

	push @random, [ $columns, sub {
			my ($f) = @_;
			my $p = $i % 3 ? $leaf + int(rand(2)) : root($f);
			# anywhere, in the pointers, in tuples, in the special space
			my ($from, $to) = @{ ([ 24, $bs ], [ 24, 600 ], [ 4000, $special ],
					[ $special, $bs ])[ int(rand(4)) ] };

			for (0 .. rand(20))
			{
				poke($f, $p, $from + int(rand($to - $from)), 'C', rand(256));
			}
		} ];
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
without_checksums($node);
$node->append_conf('postgresql.conf', q{
autovacuum = off
fsync = off
max_wal_size = 2GB
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION fptree;
	CREATE TABLE t AS SELECT i::int8 AS k, (i % 4)::int4 AS few,
		('a key of text ' || i) COLLATE "C" AS s, ('n' || 100000 + i)::name AS n
	FROM generate_series(1, 3000) i;
	CREATE TABLE locked AS SELECT k FROM t;
	CREATE INDEX locked_k ON locked (k);
	CREATE TABLE p (k int) PARTITION BY RANGE (k);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (5000);
	CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (5000) TO (9000);
	INSERT INTO p SELECT k FROM t;
	CREATE INDEX p_k ON p (k);
	CREATE UNLOGGED TABLE u AS SELECT k FROM t;
	CREATE INDEX u_k ON u (k);
	CREATE TABLE wide (k text COLLATE "C");
	ALTER TABLE wide ALTER k SET STORAGE plain;
	INSERT INTO wide SELECT md5(i::text) || repeat('x', 2400)
		FROM generate_series(1, 1000) i;
	CREATE INDEX wide_b ON wide (k);
	CREATE INDEX wide_f ON wide USING fptree (k);
});

# --- inner pages that are sampled ---
my ($all, $few) = map {
	[ split(/\|/, $node->safe_psql('postgres', "SELECT fresh_size, fptree_size, size
		FROM fptree_advise('wide_b', $_)")) ]
} 1280, 20;
for (0, 1)
{
	cmp_ok(abs($few->[$_] - $all->[$_]), '<', $all->[$_] * 0.1,
		"20 pages of each level: $few->[$_] of $all->[$_] bytes");
}
is($node->safe_psql('postgres', q{SELECT approximate,
		abs(a.leaf_pages - s.leaf_pages) < s.leaf_pages * 0.1 AS leaves,
		abs(a.entries - 1000) < 100 AS entries,
		pages_read <= 20 * (a.tree_level + 1) AS bounded
	FROM fptree_stat_approx('wide_f', 20) a, fptree_stat('wide_f') s}),
	't|t|t|t', 'an fptree index');

# --- other sessions ---
my $held = IPC::Run::start([ 'psql', '-X', '-q', '-d',
		$node->connstr('postgres'), '-c', q{
	CREATE TEMP TABLE other AS SELECT k, 'has TOAST' AS t FROM t;
	CREATE INDEX other_k ON other (k);}, '-c', 'BEGIN',
		'-c', 'LOCK TABLE locked, p2', '-c', 'SELECT pg_sleep(600)' ],
	'>', \my $held_out, '2>', \my $held_err);
$node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
  or die 'the other session does not come';
is($node->safe_psql('postgres', q{SET statement_timeout = '60s';
	SELECT c.relname, a.on_table, a.am, size, fptree_size, replaceable, reason
	FROM fptree_advise() a JOIN pg_class c ON c.oid = index
	WHERE c.relname IN ('locked_k', 'other_k', 'p_k') OR c.relname LIKE 'pg_toast%'
	ORDER BY 1})
	  =~ s/pg_temp_\d+/pg_temp/r,
	"locked_k|||||f|it is locked by another session\n"
	  . "other_k|pg_temp.other|btree|||f|it belongs to a temporary table of another session\n"
	  . 'p_k|p|btree|||f|it cannot be read: partition "p2_k_idx" is locked by another session',
	'the whole database, beside locks and a temporary table');
is($node->safe_psql('postgres', q{SELECT size, reason FROM pg_class c,
	fptree_advise(c.oid) WHERE relname = 'other_k'}),
	'|it belongs to a temporary table of another session',
	'a temporary index of another session, named');
my ($ret, $out, $err) = $node->psql('postgres', q{SET lock_timeout = '10ms';
	SELECT fptree_advise('p_k')});
like($err, qr/canceling statement due to lock timeout/,
	'the named one waits');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid)
	FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
IPC::Run::finish($held);
is($node->safe_psql('postgres', q{SELECT bool_and(replaceable)
	FROM fptree_advise() JOIN pg_class c ON c.oid = index
	WHERE relname IN ('locked_k', 'p_k')}), 't', 'and without the locks');

# --- a partition that goes while the tree is being locked ---
$node->safe_psql('postgres', q{
	CREATE TABLE q (k int) PARTITION BY RANGE (k);
	CREATE TABLE q1 PARTITION OF q FOR VALUES FROM (0) TO (5000)
		PARTITION BY RANGE (k);
	CREATE TABLE q11 PARTITION OF q1 FOR VALUES FROM (0) TO (2000);
	CREATE TABLE q12 PARTITION OF q1 FOR VALUES FROM (2000) TO (5000);
	CREATE INDEX q_k ON q USING fptree (k);});
my ($drop_in, $drop_out) = ('', '');
my $drop = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
	'<', \$drop_in, '>', \$drop_out, IPC::Run::timer(60));
$drop_in .= "BEGIN; DROP TABLE q11; SELECT 'dropped';\n";
$drop->pump until $drop_out =~ /dropped/;
my $asks = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'),
		'-c', q{SELECT fptree_size > 0, array_to_string(statements, ' ') ~ 'q11',
			array_to_string(statements, ' ') ~ 'q12' FROM fptree_advise('q_k')} ],
	'>', \my $asks_out, '2>', \my $asks_err);
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks
	WHERE relation = 'q1'::regclass AND NOT granted})
  or die 'nobody waits for the partition';
$drop_in .= "COMMIT;\n\\q\n";
$drop->finish;
IPC::Run::finish($asks);
is("$asks_out$asks_err", "t|f|t\n", 'a partition that is dropped meanwhile');

# --- cancelled ---
($ret, $out, $err) = $node->psql('postgres', q{SET statement_timeout = '300ms';
	SELECT count(*) FROM generate_series(1, 100000) i,
		fptree_advise(NULL, 1000 + i % 9);});
like($err, qr/canceling statement due to statement timeout/, 'cancelled');
is($node->safe_psql('postgres', q{
	BEGIN;
	SAVEPOINT s;
	SELECT count(*) > 5 FROM fptree_advise();
	ROLLBACK TO s;
	SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = relation
	WHERE relname ~ '^(locked|wide|p_k)';
	COMMIT;}), "t\n0", 'locks that are released');

# --- a standby ---
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
wait_replayed($standby, $node);
my $query = q{SELECT index, size, fresh_size, fptree_size, reason, statements
	FROM fptree_advise() WHERE index <> 'u_k'::regclass ORDER BY 1};
is($standby->safe_psql('postgres', $query), $node->safe_psql('postgres', $query),
	'a standby says the same');
is($standby->safe_psql('postgres', q{SELECT size, fptree_size
	FROM fptree_advise('u_k')}), '|', 'but of an unlogged index');
no_crash($standby);
$standby->stop;

# --- damage ---
my @damaged = (@ways, @loops, @random);
my %file;
$node->safe_psql('postgres', join('', map {
		'CREATE INDEX d' . $_ . ' ON t ('
		  . join(', ', map { /::/ ? "($_)" : $_ } split(/, /, $damaged[$_][0]))
		  . ");\n" } 0 .. $#damaged) . 'CREATE INDEX sum ON t (k); CHECKPOINT');
my $paths = $node->safe_psql('postgres', q{
	SELECT relname, pg_relation_filepath(oid) FROM pg_class
	WHERE relname ~ '^(d[0-9]+|sum)$'});
$file{$1} = $node->data_dir . "/$2" while $paths =~ /^(\w+)\|(.*)$/mg;
$node->stop;

sub damage
{
	my ($name, $code) = @_;
	my $contents = slurp_file($file{$name});
	my $was = $contents;

	$code->(\$contents);
	$contents ne $was or die "$name has not changed";
	open(my $f, '>:raw', $file{$name}) or die "$file{$name}: $!";
	print $f $contents;
	close($f);
	return;
}

damage("d$_", $damaged[$_][1]) for 0 .. $#damaged;
$node->start;

my @answers = split(/@@\n/, join('', map {
	($ret, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY verbose\nSET statement_timeout = '60s';\n"
		. "SELECT size FROM fptree_advise('d$_')");
	"$out$err@@\n" } 0 .. $#damaged));

for (0 .. $#ways)
{
	like($answers[$_], qr/^psql.*ERROR:  XX00[12]: .*$ways[$_][2]/s,
		"d$_ ($ways[$_][0]): $ways[$_][2]");
}
# Random ones: a size, or an error about damage
my @bad = grep { !/^\d+$|ERROR:  XX00[12]: /m } @answers[ @ways .. $#damaged ];
is(join('', @bad), '', 'loops and random damage');
cmp_ok(scalar(grep { /ERROR/ } @answers[ @ways + @loops .. $#damaged ]), '>=', 20,
	'random damage is noticed');
is($node->safe_psql('postgres', q{SELECT count(*) FROM fptree_advise() a
	JOIN pg_class c ON c.oid = index
	WHERE substr(relname, 2)::int < } . @ways . q{ AND relname ~ '^d[0-9]+$' AND
		reason ~ '^it cannot be read: ' AND NOT replaceable AND
		fptree_size IS NULL AND statements IS NULL}),
	scalar @ways, 'among others damage is a reason');
is($node->safe_psql('postgres', q{SELECT count(*) > 20 FROM fptree_advise()
		WHERE reason ~ '^it cannot be read: ';
	SELECT count(*) FROM pg_backend_memory_contexts WHERE name ~ '^fptree (sample|estimate)'}),
	"t\n0", 'and leaves no memory behind');
is($node->safe_psql('postgres', q{SELECT replaceable FROM fptree_advise('sum')}),
	't', 'one that is sound');

# --- with checksums ---
$node->stop;
system_or_bail('pg_checksums', '-D', $node->data_dir, '--enable', '--no-sync');
damage('sum', tuple(8, 'C', 0x55));
$node->start;
($ret, $out, $err) = $node->psql('postgres', q{SELECT fptree_advise('sum')});
like($err, qr/ERROR:  invalid page in block 1 of relation/, 'a wrong checksum');
is($node->safe_psql('postgres', q{SELECT reason FROM fptree_advise()
		WHERE index = 'sum'::regclass})
	  =~ s/relation .*//r, 'it cannot be read: invalid page in block 1 of ',
	'is a reason, too');
no_crash($node);
$node->stop;
done_testing();

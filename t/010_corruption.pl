# Damage the files of indexes in many ways.  Whatever happens to a page:
#
#  - verification reports it (as index_corrupted, or as data_corrupted by the
#    buffer manager), unless it makes no difference;
#  - queries, insertions, deletions, VACUUM and the inspection functions give
#    right answers or raise such an error, and come back;
#  - a query gives a wrong answer only if verification reports the damage;
#  - the server does not crash.
#
# Every way gets an index of its own, so that the server is stopped once.
# FPT_CORRUPTION_ROUNDS sets the number of random changes, FPT_CORRUPTION_SEED
# the seed they come from; FPT_CORRUPTION_WAYS is a regular expression that
# picks some of the ways by name.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{FPT_CORRUPTION_ROUNDS} || 40;
my $seed = $ENV{FPT_CORRUPTION_SEED} || 20020603;
srand($seed);
note("seed $seed, $rounds random changes");

# Is this a proper way to report damage?  SQLSTATEs index_corrupted and
# data_corrupted; an unknown format version; and what core raises for TIDs that
# point outside the table and for keys out of order, which a scan cannot know.
sub proper_error
{
	my ($line, $way) = @_;
	return $line =~ /^ERROR XX00[12]/
	  || ($line =~ /^ERROR 0A000/ && $way->{name} =~ /^version/)
	  || $line =~ /^ERROR (XX000|58P01) could not open file .*\(target block/
	  || $line =~ /^ERROR XX000 tuple offset out of range/
	  || $line =~ /^ERROR XX000 mergejoin input data is out of order/;
}

# Offsets in a page, see src/fpt_page.h.
my %at = (
	pd_flags => 10, pd_lower => 12, pd_upper => 14, pd_special => 16,
	version_size => 18, left => 24, right => 28, flags => 32, level => 34,
	enc => 35, nnodes => 36, nkids => 37, nnull => 38, reserved => 39,
	high_hi => 40, high_lo => 48, high_tid => 56, high_cls => 63);
my %from_end = (
	base_hi => 64, base_lo => 56, low_hi => 48, low_lo => 40, low_tid => 32,
	low_cls => 25, pageno => 24, indexid => 20, sp_reserved => 16,
	version => 4, pageid => 2);
my $meta_at = 64;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', qq(
autovacuum = off
fsync = off
ignore_checksum_failure = on
max_parallel_workers_per_gather = 0
restart_after_crash = on
statement_timeout = 30s
));
$node->start;
my $bs = $node->safe_psql('postgres', 'SHOW block_size');
$at{$_} = $bs - $from_end{$_} foreach keys %from_end;

$node->safe_psql('postgres', q{
CREATE EXTENSION fptree;

-- a digest of what a query returns, or the SQLSTATE it fails with
CREATE FUNCTION try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN coalesce(result, 'null');
EXCEPTION WHEN query_canceled OR OTHERS THEN
	RETURN 'ERROR ' || sqlstate || ' ' || sqlerrm;
END $$;

-- the same for all pages of an index
CREATE FUNCTION try_pages(index regclass) RETURNS SETOF text
LANGUAGE sql AS $$
	SELECT try(format('SELECT count(*) FROM %s(%L, %s)', f, index, p))
	FROM generate_series(0, pg_relation_size(index)
						 / current_setting('block_size')::int8 - 1) p,
		 unnest('{fptree_page_stats,fptree_page_items}'::text[]) f
$$;
});

# Kinds of indexes: deep trees of tiny pages, ordinary ones, unique ones.
my %kinds = (
	deep => {
		column => 'u', rows => 2000,
		with => 'WITH (node_lines = 1, leaf_node_lines = 2)' },
	plain => { column => 'i', rows => 5000, with => '' },
	down => {
		column => 'b DESC NULLS LAST', rows => 5000, unique => 'UNIQUE',
		with => 'WITH (fillfactor = 60)' });

my $count = 0;

# Create a table with an index; returns what is known of it.
sub make_index
{
	my ($kind) = @_;
	my $k = $kinds{$kind};
	my $t = 't' . ++$count;
	my $unique = $k->{unique} // '';

	# Half of the rows are there at build, half come later; a hole in the
	# middle makes VACUUM unlink pages, some rows remain dead in the index.
	return {
		kind => $kind, table => $t, index => "${t}_idx",
		column => (split / /, $k->{column})[0],
		sql => qq{
CREATE TABLE $t (i int4, b int8, u uuid);
INSERT INTO $t SELECT CASE WHEN i % 40 <> 0 THEN i * 7919 % 20011 END, i << 10,
	CASE WHEN i % 40 <> 0 THEN md5(i::text)::uuid END
	FROM generate_series(1, $k->{rows} / 2) i;
CREATE $unique INDEX ${t}_idx ON $t USING fptree ($k->{column}) $k->{with};
INSERT INTO $t SELECT CASE WHEN i % 40 <> 0 THEN i * 7919 % 20011 END, i << 10,
	CASE WHEN i % 40 <> 0 THEN md5(i::text)::uuid END
	FROM generate_series($k->{rows} / 2 + 1, $k->{rows}) i;
DELETE FROM $t WHERE ctid IN (SELECT ctid FROM $t ORDER BY $k->{column}
	OFFSET $k->{rows} / 3 LIMIT $k->{rows} / 4);
VACUUM (INDEX_CLEANUP ON) $t;
DELETE FROM $t WHERE b % 11 = 0;
} };
}

# ----------------------------------------------------------------------------
# Reading and writing pages of stopped servers

sub read_file
{
	my ($path) = @_;
	open(my $fh, '<:raw', $path) or die "$path: $!";
	local $/;
	my $data = <$fh>;
	close($fh);
	return $data;
}

sub write_file
{
	my ($path, $data) = @_;
	open(my $fh, '>:raw', $path) or die "$path: $!";
	print $fh $data;
	close($fh) or die "$path: $!";
	return;
}

sub page_of { my ($f, $p) = @_; return substr($$f, $p * $bs, $bs); }

sub put_page
{
	my ($f, $p, $page) = @_;
	substr($$f, $p * $bs, $bs) = $page;
	return;
}

# Overwrite bytes of a page.
sub poke
{
	my ($f, $p, $off, $bytes) = @_;
	substr($$f, $p * $bs + $off, length($bytes)) = $bytes;
	return;
}

sub peek
{
	my ($f, $p, $off, $template, $len) = @_;
	return unpack($template, substr($$f, $p * $bs + $off, $len));
}

sub right_of { my ($f, $p) = @_; return peek($f, $p, $at{right}, 'L', 4); }
sub left_of { my ($f, $p) = @_; return peek($f, $p, $at{left}, 'L', 4); }

# ----------------------------------------------------------------------------
# The ways to damage an index.  Each is [name, kind of index, must verification
# notice, code]; the code gets a reference to the file's contents and the page
# numbers by role.

my @ways;

sub way
{
	my ($name, $kind, $must, $code) = @_;
	push @ways, { name => "$name ($kind)", kind => $kind, must => $must,
		code => $code };
	return;
}

foreach my $kind (sort keys %kinds)
{
	way('nothing', $kind, 0, sub { });

	# header fields of leaf, inner and root pages
	foreach my $role (qw(leaf inner root))
	{
		my @fields = (
			[ pd_lower => pack('S', 24) ], [ pd_lower => pack('S', 0xFFFF) ],
			[ pd_special => pack('S', 64) ], [ pd_upper => pack('S', 100) ],
			[ flags => pack('S', 0x8000) ], [ flags => pack('S', 2) ],
			[ flags => pack('S', 1) ], [ flags => pack('S', 4) ],
			[ level => pack('C', 200) ], [ level => pack('C', 5) ],
			[ level => pack('C', 1) ], [ enc => pack('C', 0) ],
			[ enc => pack('C', 0xFF) ],
			[ nnodes => pack('C', 255) ], [ nnodes => pack('C', 0) ],
			[ nkids => pack('C', 255) ], [ nkids => pack('C', 0) ],
			[ nkids => pack('C', 1) ], [ nnull => pack('C', 255) ],
			[ nnull => pack('C', 1) ],
			[ high_cls => pack('C', 0) ], [ high_cls => pack('C', 9) ],
			[ high_lo => pack('Q', 1 << 63) ],
			[ low_cls => pack('C', 4) ], [ low_lo => pack('Q', 1) ],
			[ low_tid => pack('L', 77) ],
			[ base_lo => pack('Q', ~15) ],
			[ base_hi => pack('Q', 12345) ],
			[ pageno => pack('L', 7777) ], [ indexid => pack('L', 1) ],
			[ version => pack('S', 2) ], [ pageid => pack('S', 0) ]);
		# spread the fields over the kinds of indexes
		for (my $i = 0; $i < @fields; $i++)
		{
			my ($field, $bytes) = @{ $fields[$i] };
			next if (sort keys %kinds)[ $i % 3 ] ne $kind;
			way("$field of $role", $kind, 1, sub {
				my ($f, $r) = @_;
				return 0
				  if substr($$f, $r->{$role} * $bs + $at{$field},
					length($bytes)) eq $bytes;
				poke($f, $r->{$role}, $at{$field}, $bytes);
			});
		}
	}

	# links
	foreach my $dir (qw(left right))
	{
		foreach my $to (qw(none self meta root opposite next beyond max))
		{
			next if $kind ne 'deep' && $to !~ /^(self|opposite)$/;
			way("$dir link to $to", $kind, 1, sub {
				my ($f, $r) = @_;
				my %target = (
					none => 0, self => $r->{leaf}, meta => 0, root => 1,
					opposite => $dir eq 'left' ? right_of($f, $r->{leaf})
					: left_of($f, $r->{leaf}),
					next => $dir eq 'left'
					? left_of($f, left_of($f, $r->{leaf}))
					: right_of($f, right_of($f, $r->{leaf})),
					beyond => length($$f) / $bs + 10, max => 0xFFFFFFFF);
				poke($f, $r->{leaf}, $at{$dir}, pack('L', $target{$to}));
			});
		}
	}

	# links that lead in circles, with fences that send searches there
	way('circle of right links', $kind, 1, sub {
		my ($f, $r) = @_;
		my $low = substr(page_of($f, $r->{leaf}), $at{low_hi}, 24);
		poke($f, $r->{leaf}, $at{high_hi}, $low);
		poke($f, $r->{leaf}, $at{right}, pack('L', left_of($f, $r->{leaf})));
	});
	way('right link to self, nothing covered', $kind, 1, sub {
		my ($f, $r) = @_;
		my $low = substr(page_of($f, $r->{leaf}), $at{low_hi}, 24);
		poke($f, $r->{leaf}, $at{high_hi}, $low);
		poke($f, $r->{leaf}, $at{right}, pack('L', $r->{leaf}));
	});

	# the rest is the same for all kinds of keys
	next if $kind eq 'down';

	# downlinks: the child's number is looked for in its parent's nodes
	foreach my $to (qw(meta root self other beyond max))
	{
		way("downlink to $to", $kind, 1, sub {
			my ($f, $r) = @_;
			my %target = (
				meta => 0, root => 1, self => $r->{parent},
				other => right_of($f, $r->{leaf}),
				beyond => length($$f) / $bs + 10, max => 0xFFFFFFFF);
			my $page = page_of($f, $r->{parent});
			my $pos = index($page, pack('L', $r->{leaf}), 128);
			return 0 if $pos < 0 || $pos >= $at{base_hi};
			poke($f, $r->{parent}, $pos, pack('L', $target{$to}));
		});
	}

	# header of another page
	foreach my $role (qw(first last inner parent))
	{
		way("header of $role in root", $kind, 1, sub {
			my ($f, $r) = @_;
			poke($f, 1, 0, substr(page_of($f, $r->{$role}), 0, 64));
		});
		way("header of $role in leaf", $kind, 1, sub {
			my ($f, $r) = @_;
			poke($f, $r->{leaf}, 0, substr(page_of($f, $r->{$role}), 0, 64));
		});
	}

	# whole pages
	foreach my $role (qw(leaf first last inner root))
	{
		way("zeroed $role", $kind, 1, sub {
			my ($f, $r) = @_;
			put_page($f, $r->{$role}, "\0" x $bs);
		});
		way("random bytes as $role", $kind, 1, sub {
			my ($f, $r) = @_;
			put_page($f, $r->{$role},
				join('', map { chr(int(rand(256))) } 1 .. $bs));
		});
		way("random body of $role", $kind, 1, sub {
			my ($f, $r) = @_;
			my $lower = peek($f, $r->{$role}, $at{pd_lower}, 'S', 2);
			poke($f, $r->{$role}, 64,
				join('', map { chr(int(rand(256))) } 65 .. $lower));
		});
		way("body of ones in $role", $kind, 1, sub {
			my ($f, $r) = @_;
			my $lower = peek($f, $r->{$role}, $at{pd_lower}, 'S', 2);
			poke($f, $r->{$role}, 64, "\xFF" x ($lower - 64));
		});
	}
	way('swapped pages', $kind, 1, sub {
		my ($f, $r) = @_;
		my ($a, $b) = ($r->{leaf}, right_of($f, $r->{leaf}));
		my $page = page_of($f, $a);
		put_page($f, $a, page_of($f, $b));
		put_page($f, $b, $page);
	});
	way('swapped pages, renumbered', $kind, 1, sub {
		my ($f, $r) = @_;
		my ($a, $b) = ($r->{leaf}, right_of($f, $r->{leaf}));
		my $page = page_of($f, $a);
		put_page($f, $a, page_of($f, $b));
		put_page($f, $b, $page);
		poke($f, $a, $at{pageno}, pack('L', $a));
		poke($f, $b, $at{pageno}, pack('L', $b));
	});
	way('leaf copied over its sibling, renumbered', $kind, 1, sub {
		my ($f, $r) = @_;
		my $b = right_of($f, $r->{leaf});
		put_page($f, $b, page_of($f, $r->{leaf}));
		poke($f, $b, $at{pageno}, pack('L', $b));
	});
	way('inner page copied over leaf, renumbered', $kind, 1, sub {
		my ($f, $r) = @_;
		put_page($f, $r->{leaf}, page_of($f, $r->{inner}));
		poke($f, $r->{leaf}, $at{pageno}, pack('L', $r->{leaf}));
	});
	way('page of another index', $kind, 1, sub {
		my ($f, $r, $other) = @_;
		put_page($f, $r->{leaf}, page_of($other, $r->{leaf}));
	});
	way('page of another index, adopted', $kind, 0, sub {
		my ($f, $r, $other) = @_;
		my $id = peek($f, 0, $meta_at + 8, 'L', 4);
		put_page($f, $r->{leaf}, page_of($other, $r->{leaf}));
		poke($f, $r->{leaf}, $at{indexid}, pack('L', $id));
	});
	way('unlinked leaf revived', $kind, 0, sub {
		my ($f, $r) = @_;
		return 0 if !defined $r->{deleted};
		poke($f, $r->{deleted}, $at{flags}, pack('S', 0));
	});
	way('file cut to a half', $kind, 1, sub {
		my ($f) = @_;
		$$f = substr($$f, 0, int(length($$f) / $bs / 2) * $bs);
	});
	way('file cut to the metapage', $kind, 1, sub {
		my ($f) = @_;
		$$f = substr($$f, 0, $bs);
	});
	way('file emptied', $kind, 1, sub { my ($f) = @_; $$f = ''; });
	way('garbage page at the end', $kind, 1, sub {
		my ($f, $r) = @_;
		my $n = length($$f) / $bs;
		$$f .= page_of($f, $r->{leaf});
		poke($f, $n, $at{pageno}, pack('L', $n));
	});
	way('empty page at the end', $kind, 0,
		sub { my ($f) = @_; $$f .= "\0" x $bs; });

	# in-page nodes: the first node's bitmap, order and keys; root's numbers
	way('no used slots', $kind, 1, sub {
		my ($f, $r) = @_;
		my $lower = peek($f, $r->{leaf}, $at{pd_lower}, 'S', 2);
		my $n = peek($f, $r->{leaf}, $at{nnodes}, 'C', 1);
		my $x = $r->{leaf_lines} * 64;
		poke($f, $r->{leaf}, $lower - $x * $_, "\0" x 8) foreach 1 .. $n;
	});
	way('too many used slots', $kind, 1, sub {
		my ($f, $r) = @_;
		my $lower = peek($f, $r->{leaf}, $at{pd_lower}, 'S', 2);
		my $n = peek($f, $r->{leaf}, $at{nnodes}, 'C', 1);
		my $x = $r->{leaf_lines} * 64;
		poke($f, $r->{leaf}, $lower - $x * $_, "\xFF" x 8) foreach 1 .. $n;
	});
	way('one slot less', $kind, 1, sub {
		my ($f, $r) = @_;
		my $off = peek($f, $r->{leaf}, $at{pd_lower}, 'S', 2) -
		  $r->{leaf_lines} * 64;
		my $used = peek($f, $r->{leaf}, $off, 'Q', 8);
		return 0 if $used == 0;
		poke($f, $r->{leaf}, $off, pack('Q', $used & ($used - 1)));
	});
	way('dead-entry hints for everything', $kind, 1, sub {
		my ($f, $r) = @_;
		my $lower = peek($f, $r->{leaf}, $at{pd_lower}, 'S', 2);
		my $upper = peek($f, $r->{leaf}, $at{pd_upper}, 'S', 2);
		return 0 if $lower >= $upper;
		poke($f, $r->{leaf}, $lower, "\xFF" x ($upper - $lower));
	});
}

# the metapage
my %meta_fields = (
	magic => [ 0, 'L', 1 ], version => [ 4, 'L', 77 ],
	indexid => [ 8, 'L', 3 ], keyclass => [ 12, 'C', 2 ],
	keysize => [ 13, 'C', 7 ], nullsfirst => [ 14, 'C', 1 ],
	descending => [ 15, 'C', 2 ], linesize => [ 16, 'S', 128 ],
	stripes => [ 18, 'S', 2 ], w => [ 20, 'C', 200 ], x => [ 21, 'C', 0 ]);
foreach my $field (sort keys %meta_fields)
{
	my ($off, $t, $value) = @{ $meta_fields{$field} };
	way("$field in metapage", 'plain', 1, sub {
		my ($f) = @_;
		poke($f, 0, $meta_at + $off, pack($t, $value));
	});
}
way('widths in metapage', 'plain', 1, sub {
	my ($f) = @_;
	poke($f, 0, $meta_at + 20, pack('C*', map { 3 + $_ % 5 } 1 .. 30));
});
way('zeroed metapage', 'plain', 1,
	sub { my ($f) = @_; put_page($f, 0, "\0" x $bs); });

# random changes: of a bit, a byte, some bytes, a line; in bytes that matter
for (my $i = 0; $i < $rounds; $i++)
{
	my $kind = (sort keys %kinds)[ $i % 3 ];
	my $nr = $i;
	way("random change $nr", $kind, 0, sub {
		my ($f) = @_;
		my $p = 1 + int(rand(length($$f) / $bs - 1));
		my $lower = peek($f, $p, $at{pd_lower}, 'S', 2);
		my $off = int(rand($lower + 64));
		$off += $bs - 64 - $lower if $off >= $lower;
		my $how = int(rand(4));
		if ($how == 0)
		{
			my $byte = peek($f, $p, $off, 'C', 1);
			poke($f, $p, $off, pack('C', $byte ^ (1 << int(rand(8)))));
		}
		elsif ($how == 1)
		{
			poke($f, $p, $off, pack('C', int(rand(256))));
		}
		elsif ($how == 2)
		{
			$off &= ~7;
			poke($f, $p, $off, pack('L2', rand(2**32), rand(2**32)));
		}
		else
		{
			my $q = 1 + int(rand(length($$f) / $bs - 1));
			$off &= ~63;
			poke($f, $p, $off, substr($$f, $q * $bs + $off, 64));
		}
		note("random change $nr: page $p, offset $off, kind $how");
	});
}

if ($ENV{FPT_CORRUPTION_WAYS})
{
	@ways = grep { $_->{name} =~ /$ENV{FPT_CORRUPTION_WAYS}/ } @ways;
}

# ----------------------------------------------------------------------------
# Create the indexes and a spare one of each kind, note what is where

my %spare = map { $_ => make_index($_) } sort keys %kinds;
my @all = values %spare;
foreach my $way (@ways)
{
	$way->{ix} = make_index($way->{kind});
	push @all, $way->{ix};
}
$node->safe_psql('postgres', $_->{sql}) foreach @all;

# Pages by role, the same in all indexes of a kind.  The leaf is one from the
# middle, the parent is the page with its downlink.
my %roles;
foreach my $kind (keys %kinds)
{
	my $ix = $spare{$kind}->{index};
	my $pages =
	  "(SELECT s.*, row_number() OVER (PARTITION BY level ORDER BY page) AS nr"
	  . " FROM generate_series(1, pg_relation_size('$ix') / $bs - 1) p,"
	  . " fptree_page_stats('$ix', p) s) p";
	my $one = sub { return $node->safe_psql('postgres', $_[0]); };
	my %r = (root => 1);
	my $leaves =
	  "FROM $pages WHERE type = 'leaf' AND left_page > 0 AND right_page > 0";

	$r{leaf} = $one->(
		"SELECT page $leaves AND nr > (SELECT max(nr) / 2 $leaves)"
		  . " AND right_page > 1 AND (SELECT right_page > 0 AND level = 0"
		  . " FROM fptree_page_stats('$ix', p.right_page))"
		  . " AND (SELECT left_page > 0 FROM fptree_page_stats('$ix', p.left_page))"
		  . " AND entries > 3 LIMIT 1");
	$r{leaf_lines} = $one->(
		"SELECT leaf_node_lines FROM fptree_page_stats('$ix', $r{leaf})");
	$r{first} = $one->(
		"SELECT page FROM $pages WHERE type = 'leaf' AND left_page = 0");
	$r{last} = $one->(
		"SELECT page FROM $pages WHERE type = 'leaf' AND right_page = 0");
	$r{parent} = $one->(
		"SELECT page FROM $pages, fptree_page_items('$ix', page) i"
		  . " WHERE p.level = 1 AND i.downlink = $r{leaf}");
	$r{inner} = $one->(
		"SELECT coalesce((SELECT page FROM $pages WHERE type = 'inner'"
		  . " AND left_page > 0 AND right_page > 0 LIMIT 1), 1)");
	$r{deleted} = $one->("SELECT min(page) FROM $pages WHERE type = 'deleted'");
	$r{deleted} = undef if $r{deleted} eq '';
	$r{level} = $one->("SELECT level FROM fptree_metap('$ix')");
	note("$kind: " . join(', ', map { "$_ $r{$_}" }
		  grep { defined $r{$_} } sort keys %r));
	$roles{$kind} = \%r;
}
cmp_ok($roles{deep}->{level}, '>=', 3, 'deep tree has many levels');
ok(defined $roles{deep}->{deleted}, 'deep tree has deleted pages');

$_->{path} = $node->data_dir . '/'
  . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$_->{index}')")
  foreach @all;
$node->stop;

# ----------------------------------------------------------------------------
# Damage

foreach my $way (@ways)
{
	my $file = read_file($way->{ix}->{path});
	my $other = read_file($spare{ $way->{kind} }->{path});
	my $before = $file;

	$way->{code}->(\$file, $roles{ $way->{kind} }, \$other);
	$way->{changed} = $file ne $before;
	write_file($way->{ix}->{path}, $file);
}
$node->start;

# ----------------------------------------------------------------------------
# And look what happens

my $parent_check =
  q{SELECT fptree_index_parent_check('IDX', true, true, true)};
my $check = q{SELECT fptree_index_check('IDX', true, true)};

# [name, settings, query]; results are compared with those without the index
my $agg = q{count(*) || ' ' || coalesce(md5(string_agg(x::text, ',')), '')};
my @queries = (
	[ 'forward', "SELECT $agg FROM (SELECT COL AS x FROM TBL ORDER BY ORD) q" ],
	[ 'backward', "SELECT $agg FROM (SELECT COL AS x FROM TBL ORDER BY REV) q" ],
	[ 'range',
		"SELECT $agg FROM (SELECT COL AS x FROM TBL WHERE COL > LO"
		  . " AND COL < HI ORDER BY ORD) q" ],
	[ 'nulls', "SELECT $agg FROM (SELECT b AS x FROM TBL WHERE COL IS NULL"
		  . " ORDER BY b) q" ],
	[ 'points',
		"SELECT count(t.COL) || ' ' || count(*) FROM (SELECT COL FROM TBL"
		  . " ORDER BY b LIMIT 300) p LEFT JOIN TBL t ON t.COL = p.COL" ]);
my %bounds = (
	u => [ "'20000000-0000-0000-0000-000000000200'",
		"'a0000000-0000-0000-0000-000000000200'" ],
	i => [ 5000, 15000 ], b => [ 200000, 4000000 ]);

sub fill_in
{
	my ($sql, $ix) = @_;
	my $order = $kinds{ $ix->{kind} }->{column};
	my $reverse = $order =~ /DESC/ ? "$ix->{column} NULLS FIRST"
	  : "$ix->{column} DESC";

	$sql =~ s/IDX/$ix->{index}/g;
	$sql =~ s/TBL/$ix->{table}/g;
	$sql =~ s/COL/$ix->{column}/g;
	$sql =~ s/ORD\b/$order/g;
	$sql =~ s/REV\b/$reverse/g;
	$sql =~ s/\bLO\b/$bounds{$ix->{column}}->[0]/g;
	$sql =~ s/\bHI\b/$bounds{$ix->{column}}->[1]/g;
	return $sql;
}

sub try_sql
{
	my ($sql, $ix) = @_;
	return 'SELECT try($q$' . fill_in($sql, $ix) . '$q$);';
}

my @plans = (
	[ 'seq', 'SET enable_indexscan = off; SET enable_indexonlyscan = off;'
		  . ' SET enable_bitmapscan = off; SET enable_seqscan = on;' ],
	[ 'index', 'SET enable_indexscan = on; SET enable_indexonlyscan = off;'
		  . ' SET enable_bitmapscan = off; SET enable_seqscan = off;' ],
	[ 'only', 'SET enable_indexscan = off; SET enable_indexonlyscan = on;'
		  . ' SET enable_bitmapscan = off; SET enable_seqscan = off;' ],
	[ 'bitmap', 'SET enable_indexscan = off; SET enable_indexonlyscan = off;'
		  . ' SET enable_bitmapscan = on; SET enable_seqscan = off;' ]);

# Changes that reach all pages; the last ones go through VACUUM.
my @changes = (
	'INSERT INTO TBL SELECT i, i + 1e9, md5(i::text)::uuid'
	  . ' FROM generate_series(1, 2000) i',
	'UPDATE TBL SET i = i + 1, b = -b, u = md5(u::text || 1)::uuid'
	  . ' WHERE b % 3 = 0',
	'DELETE FROM TBL WHERE b % 2 = 0',
	'VACUUM (INDEX_CLEANUP ON) TBL',
	'INSERT INTO TBL SELECT i * 3, i * 2000, md5(i::text)::uuid'
	  . ' FROM generate_series(1, 2000) i',
	'ANALYZE TBL',
	'DELETE FROM TBL',
	'VACUUM (INDEX_CLEANUP ON) TBL');

# Run statements in one session; returns lists of lines of output and errors.
sub run_session
{
	my ($sql) = @_;
	my ($out, $err) = ('', '');
	my $hung = 0;
	my $ret = $node->psql(
		'postgres', $sql,
		stdout => \$out,
		stderr => \$err,
		on_error_stop => 0,
		timeout => $PostgreSQL::Test::Utils::timeout_default,
		timed_out => \$hung,
		extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	if ($hung)
	{
		# nothing but a crash ends a wait for a lock on a page
		$node->stop('immediate');
		$node->start;
		return (-1, [], []);
	}
	$node->poll_query_until('postgres', 'SELECT true') if $ret != 0;
	return ($ret, [ split /\n/, $out, -1 ], [ split /\n/, $err ]);
}

my %tally;
my (@unnoticed, @false_alarms, @bad_errors, @silent, @lost);

foreach my $way (@ways)
{
	my $ix = $way->{ix};
	my ($ret, $out, $err);
	my @names;
	my $sql = '';

	# verification first
	($ret, $out, $err) = run_session(
		try_sql($parent_check, $ix) . try_sql($check, $ix));
	push @lost, "$way->{name}: verification" if $ret != 0;
	my $noticed = ($out->[0] // '') =~ /^ERROR/ ? 1 : 0;
	my $noticed_light = ($out->[1] // '') =~ /^ERROR/ ? 1 : 0;
	note("$way->{name}: " . ($out->[0] || 'sound'));
	$tally{ $noticed ? 'noticed' : 'sound' }++;
	$tally{'noticed without ShareLock'}++ if $noticed_light;
	push @unnoticed, $way->{name}
	  if $way->{must} && $way->{changed} && !$noticed;
	push @false_alarms, "$way->{name}: $_"
	  foreach grep { !$way->{changed} && /^ERROR/ } @$out;
	push @false_alarms, "$way->{name}: only the light check objects: $out->[1]"
	  if $noticed_light && !$noticed;
	foreach my $line (@$out)
	{
		push @bad_errors, "$way->{name}: $line"
		  if $line =~ /^ERROR/ && !proper_error($line, $way);
	}

	# queries, each with several plans
	foreach my $plan (@plans)
	{
		$sql .= $plan->[1];
		foreach my $q (@queries)
		{
			push @names, [ $plan->[0], $q->[0] ];
			$sql .= try_sql($q->[1], $ix);
		}
	}
	$sql .= "SELECT try_pages('$ix->{index}');";
	($ret, $out, $err) = run_session($sql);
	push @lost, "$way->{name}: queries" if $ret != 0;
	my %right;
	for (my $i = 0; $i < @names; $i++)
	{
		my ($plan, $query) = @{ $names[$i] };
		my $line = $out->[$i] // 'nothing';
		$right{$query} = $line if $plan eq 'seq';
		if ($line =~ /^ERROR/)
		{
			$tally{'query errors'}++;
			push @bad_errors, "$way->{name}: $plan $query: $line"
			  if !$noticed || !proper_error($line, $way);
		}
		elsif ($line ne $right{$query})
		{
			$tally{'wrong answers'}++;
			push @silent, "$way->{name}: $plan $query" if !$noticed;
		}
		else
		{
			$tally{'right answers'}++;
		}
	}
	for (my $i = @names; $i < @$out; $i++)
	{
		push @bad_errors, "$way->{name}: inspection: $out->[$i]"
		  if $out->[$i] =~ /^ERROR/ && $out->[$i] !~ /metapage/
		  && !proper_error($out->[$i], $way);
	}

	# changes
	($ret, $out, $err) = run_session('SET enable_seqscan = off;' . join(';',
			map { fill_in($_, $ix) } @changes) . ';');
	push @lost, "$way->{name}: changes" if $ret != 0;
	foreach my $line (@$err)
	{
		next if $line !~ s/.*ERROR:  (\S+): /ERROR $1 /;
		$tally{'errors of changes'}++;
		push @bad_errors, "$way->{name}: changes: $line"
		  if !$noticed || !proper_error($line, $way);
	}
	if (!$noticed)
	{
		($ret, $out, $err) = run_session(try_sql($parent_check, $ix));
		push @bad_errors, "$way->{name}: later: $out->[0]"
		  if ($out->[0] // '') =~ /^ERROR/;
	}

	# what it is for
	($ret, $out, $err) = run_session("REINDEX INDEX $ix->{index};"
		  . try_sql($parent_check, $ix));
	push @bad_errors, "$way->{name}: after REINDEX: @$err $out->[0]"
	  if $ret != 0 || @$err || ($out->[0] // '') =~ /^ERROR/;
}

note("$_: $tally{$_}") foreach sort keys %tally;

sub none_of
{
	my ($list, $what) = @_;
	ok(!@$list, $what) or diag(join("\n", @$list));
	return;
}

note("indexes: " . scalar(@ways));
none_of(\@lost, 'no session was lost');
none_of(\@unnoticed, 'damage is noticed by verification');
none_of(\@false_alarms, 'verification objects to damage only');
none_of(\@silent, 'no wrong answers from an index found sound');
none_of(\@bad_errors, 'errors are the right ones');

my $log = slurp_file($node->logfile);
unlike($log, qr/terminated by signal|PANIC|TRAP:/, 'the server did not crash');
is($node->safe_psql('postgres', 'SELECT 1'), '1', 'the server is up');
$node->stop;

done_testing();

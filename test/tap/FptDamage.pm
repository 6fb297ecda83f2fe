# Ways to damage the file of an fptree index.
#
# A way is a hash of
#
#	name	what it does, with the kind of index in parentheses
#	kind	the kind of index it is made for
#	must	verification must notice it if it changes a byte
#	code	function that does it
#
# The code gets a victim, which is all there is to know about one index:
#
#	file	contents of its main fork; to be changed
#	roles	numbers of some of its pages: leaf, first, last, inner, parent, root,
#			deleted (perhaps); leaf_lines, the width of a leaf node
#	past	earlier contents of the same file, oldest first
#	other	contents of another index with the same definition
#	foreign	contents of an index on another type
#
# and returns the list of pages that it changed, as far as it can tell.

package FptDamage;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(block_size fixed_ways random_way);

# Offsets in a page, see src/page/format.h.
my %at = (
	pd_flags => 10, pd_lower => 12, pd_upper => 14, pd_special => 16,
	version_size => 18, left => 24, right => 28, flags => 32, level => 34,
	enc => 35, nnodes => 36, nkids => 37, nnull => 38, ndict => 39,
	high_hi => 40, high_lo => 48, high_tid => 56, high_cls => 63);
my %from_end = (
	base_hi => 64, base_lo => 56, low_hi => 48, low_lo => 40, low_tid => 32,
	low_cls => 25, pageno => 24, indexid => 20, sp_reserved => 16,
	version => 4, pageid => 2);
my $meta_at = 64;
my $bs;

sub block_size
{
	($bs) = @_;
	$at{$_} = $bs - $from_end{$_} foreach keys %from_end;
	return;
}

# ----------------------------------------------------------------------------
# Pages

sub npages { my ($v) = @_; return int(length($v->{file}) / $bs); }
sub page_of { my ($file, $p) = @_; return substr($file, $p * $bs, $bs); }

sub put_page
{
	my ($v, $p, $page) = @_;
	substr($v->{file}, $p * $bs, $bs) = $page;
	return $p;
}

sub peek
{
	my ($v, $p, $off, $template, $len) = @_;
	return unpack($template, substr($v->{file}, $p * $bs + $off, $len));
}

# Overwrite bytes of a page.
sub poke
{
	my ($v, $p, $off, $bytes) = @_;
	substr($v->{file}, $p * $bs + $off, length($bytes)) = $bytes;
	return $p;
}

sub right_of { my ($v, $p) = @_; return peek($v, $p, $at{right}, 'L', 4); }
sub left_of { my ($v, $p) = @_; return peek($v, $p, $at{left}, 'L', 4); }

# Make a page that came from elsewhere pass for page p of this index.
sub renumber { my ($v, $p) = @_; return poke($v, $p, $at{pageno}, pack('L', $p)); }

sub adopt
{
	my ($v, $p) = @_;
	my $id = peek($v, 0, $meta_at + 8, 'L', 4);

	return poke($v, $p, $at{indexid}, pack('L', $id));
}

sub random_bytes
{
	my ($n) = @_;
	return join('', map { chr(int(rand(256))) } 1 .. $n);
}

# ----------------------------------------------------------------------------
# The ways that are always tried

my @ways;

sub way
{
	my ($name, $kind, $must, $code) = @_;
	push @ways, { name => "$name ($kind)", kind => $kind, must => $must,
		code => $code };
	return;
}

sub header_ways
{
	my ($kind, $part, $parts) = @_;

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
			next if $i % $parts != $part;
			way("$field of $role", $kind, 1, sub {
				my ($v) = @_;
				poke($v, $v->{roles}->{$role}, $at{$field}, $bytes);
			});
		}
	}
	return;
}

sub link_ways
{
	my ($kind, @targets) = @_;

	foreach my $dir (qw(left right))
	{
		foreach my $to (@targets)
		{
			way("$dir link to $to", $kind, 1, sub {
				my ($v) = @_;
				my $leaf = $v->{roles}->{leaf};
				my %target = (
					none => 0, self => $leaf, meta => 0, root => 1,
					opposite => $dir eq 'left' ? right_of($v, $leaf)
					: left_of($v, $leaf),
					next => $dir eq 'left' ? left_of($v, left_of($v, $leaf))
					: right_of($v, right_of($v, $leaf)),
					beyond => npages($v) + 10, max => 0xFFFFFFFF);
				poke($v, $leaf, $at{$dir}, pack('L', $target{$to}));
			});
		}
	}

	# links that lead in circles, with fences that send searches there
	way('circle of right links', $kind, 1, sub {
		my ($v) = @_;
		my $leaf = $v->{roles}->{leaf};
		my $low = substr(page_of($v->{file}, $leaf), $at{low_hi}, 24);
		poke($v, $leaf, $at{high_hi}, $low);
		poke($v, $leaf, $at{right}, pack('L', left_of($v, $leaf)));
	});
	way('right link to self, nothing covered', $kind, 1, sub {
		my ($v) = @_;
		my $leaf = $v->{roles}->{leaf};
		my $low = substr(page_of($v->{file}, $leaf), $at{low_hi}, 24);
		poke($v, $leaf, $at{high_hi}, $low);
		poke($v, $leaf, $at{right}, pack('L', $leaf));
	});

	# a scan comes by a page that covers nothing, or less than nothing
	foreach my $how ('high fence as low', 'low fence as high', 'fences swapped')
	{
		way($how, $kind, 1, sub {
			my ($v) = @_;
			my $leaf = $v->{roles}->{leaf};
			my $page = page_of($v->{file}, $leaf);
			my $low = substr($page, $at{low_hi}, 24);
			my $high = substr($page, $at{high_hi}, 24);
			poke($v, $leaf, $at{high_hi}, $low) unless $how =~ /^low/;
			poke($v, $leaf, $at{low_hi}, $high) unless $how =~ /^high/;
		});
	}
	return;
}

# The child's number is looked for in its parent's nodes.
sub downlink_ways
{
	my ($kind) = @_;

	foreach my $to (qw(meta root self other beyond max))
	{
		way("downlink to $to", $kind, 1, sub {
			my ($v) = @_;
			my $parent = $v->{roles}->{parent};
			my %target = (
				meta => 0, root => 1, self => $parent,
				other => right_of($v, $v->{roles}->{leaf}),
				beyond => npages($v) + 10, max => 0xFFFFFFFF);
			my $pos = index(page_of($v->{file}, $parent),
				pack('L', $v->{roles}->{leaf}), 128);
			return if $pos < 0 || $pos >= $at{base_hi};
			poke($v, $parent, $pos, pack('L', $target{$to}));
		});
	}
	return;
}

# One page takes another one's place, or loses its contents.
sub page_ways
{
	my ($kind) = @_;

	foreach my $role (qw(first last inner parent))
	{
		foreach my $to (qw(root leaf))
		{
			way("header of $role in $to", $kind, 1, sub {
				my ($v) = @_;
				my $header = substr(page_of($v->{file}, $v->{roles}->{$role}),
					0, 64);
				poke($v, $v->{roles}->{$to}, 0, $header);
			});
		}
	}
	foreach my $role (qw(leaf first last inner root))
	{
		way("zeroed $role", $kind, 1, sub {
			my ($v) = @_;
			put_page($v, $v->{roles}->{$role}, "\0" x $bs);
		});
		way("random bytes as $role", $kind, 1, sub {
			my ($v) = @_;
			put_page($v, $v->{roles}->{$role}, random_bytes($bs));
		});
		way("random body of $role", $kind, 1, sub {
			my ($v) = @_;
			my $p = $v->{roles}->{$role};
			my $lower = peek($v, $p, $at{pd_lower}, 'S', 2);
			poke($v, $p, 64, random_bytes($lower - 64));
		});
		way("body of ones in $role", $kind, 1, sub {
			my ($v) = @_;
			my $p = $v->{roles}->{$role};
			my $lower = peek($v, $p, $at{pd_lower}, 'S', 2);
			poke($v, $p, 64, "\xFF" x ($lower - 64));
		});
	}
	foreach my $fixed (0, 1)
	{
		my $how = $fixed ? ', renumbered' : '';

		way("swapped pages$how", $kind, 1, sub {
			my ($v) = @_;
			swap_pages($v, $v->{roles}->{leaf},
				right_of($v, $v->{roles}->{leaf}), $fixed);
		});
		way("swapped leaf and inner page$how", $kind, 1, sub {
			my ($v) = @_;
			swap_pages($v, $v->{roles}->{leaf}, $v->{roles}->{inner}, $fixed);
		});
		way("swapped leaf and root$how", $kind, 1, sub {
			my ($v) = @_;
			swap_pages($v, $v->{roles}->{leaf}, 1, $fixed);
		});
	}
	foreach my $role (qw(first last))
	{
		way("$role leaf as root", $kind, 1, sub {
			my ($v) = @_;
			put_page($v, 1, page_of($v->{file}, $v->{roles}->{$role}));
			renumber($v, 1);
		});
	}
	way('leaf copied over its sibling, renumbered', $kind, 1, sub {
		my ($v) = @_;
		my $b = right_of($v, $v->{roles}->{leaf});
		put_page($v, $b, page_of($v->{file}, $v->{roles}->{leaf}));
		renumber($v, $b);
	});
	way('inner page copied over leaf, renumbered', $kind, 1, sub {
		my ($v) = @_;
		my $leaf = $v->{roles}->{leaf};
		put_page($v, $leaf, page_of($v->{file}, $v->{roles}->{inner}));
		renumber($v, $leaf);
	});
	way('page of another index', $kind, 1, sub {
		my ($v) = @_;
		my $leaf = $v->{roles}->{leaf};
		put_page($v, $leaf, page_of($v->{other}, $leaf));
	});
	way('page of another index, adopted', $kind, 0, sub {
		my ($v) = @_;
		my $leaf = $v->{roles}->{leaf};
		put_page($v, $leaf, page_of($v->{other}, $leaf));
		adopt($v, $leaf);
	});
	way('page of an index on another type, adopted', $kind, 1, sub {
		my ($v) = @_;
		my $leaf = $v->{roles}->{leaf};
		put_page($v, $leaf, page_of($v->{foreign}, 2));
		renumber($v, $leaf);
		adopt($v, $leaf);
	});
	way('unlinked leaf revived', $kind, 0, sub {
		my ($v) = @_;
		return if !defined $v->{roles}->{deleted};
		poke($v, $v->{roles}->{deleted}, $at{flags}, pack('S', 0));
	});
	return;
}

sub swap_pages
{
	my ($v, $a, $b, $fixed) = @_;
	my $page = page_of($v->{file}, $a);

	return if $a == $b;
	put_page($v, $a, page_of($v->{file}, $b));
	put_page($v, $b, $page);
	if ($fixed)
	{
		renumber($v, $a);
		renumber($v, $b);
	}
	return ($a, $b);
}

# Writes that were lost: pages, or all of them, as they were some time ago.
sub stale_ways
{
	my ($kind, $npast) = @_;

	foreach my $time (0 .. $npast - 1)
	{
		foreach my $role (qw(leaf first last parent inner root))
		{
			way("$role as of time $time", $kind, 0, sub {
				my ($v) = @_;
				my $p = $v->{roles}->{$role};
				return if ($p + 1) * $bs > length($v->{past}->[$time]);
				put_page($v, $p, page_of($v->{past}->[$time], $p));
			});
		}
		way("file as of time $time", $kind, 0, sub {
			my ($v) = @_;
			$v->{file} = $v->{past}->[$time];
			return (0 .. npages($v) - 1);
		});
	}
	return;
}

sub file_ways
{
	my ($kind) = @_;

	way('file cut to a half', $kind, 1, sub {
		my ($v) = @_;
		$v->{file} = substr($v->{file}, 0, int(npages($v) / 2) * $bs);
	});
	way('file cut within a page', $kind, 1, sub {
		my ($v) = @_;
		$v->{file} =
		  substr($v->{file}, 0, int(npages($v) / 2) * $bs + $bs / 2);
	});
	way('file cut to the metapage', $kind, 1, sub {
		my ($v) = @_;
		$v->{file} = substr($v->{file}, 0, $bs);
	});
	way('file emptied', $kind, 1, sub { my ($v) = @_; $v->{file} = ''; });
	way('garbage page at the end', $kind, 1, sub {
		my ($v) = @_;
		my $n = npages($v);
		$v->{file} .= page_of($v->{file}, $v->{roles}->{leaf});
		renumber($v, $n);
	});
	way('empty page at the end', $kind, 0,
		sub { my ($v) = @_; $v->{file} .= "\0" x $bs; });
	return;
}

# In-page nodes of the leaf, which begin with keys.
sub node_ways
{
	my ($kind) = @_;
	my $each_node = sub {
		my ($v, $bytes) = @_;
		my $leaf = $v->{roles}->{leaf};
		my $lower = peek($v, $leaf, $at{pd_lower}, 'S', 2);
		my $n = peek($v, $leaf, $at{nnodes}, 'C', 1);
		my $x = $v->{roles}->{leaf_lines} * 64;

		poke($v, $leaf, $lower - $x * $_, $bytes) foreach 1 .. $n;
		return $leaf;
	};

	way('first keys zero', $kind, 1,
		sub { my ($v) = @_; $each_node->($v, "\0" x 8); });
	way('first keys too large', $kind, 1,
		sub { my ($v) = @_; $each_node->($v, "\xFF" x 8); });
	# (of a free slot, perhaps, whose key means nothing)
	way('a bit less in the first keys', $kind, 0, sub {
		my ($v) = @_;
		my $leaf = $v->{roles}->{leaf};
		my $off = peek($v, $leaf, $at{pd_lower}, 'S', 2) -
		  $v->{roles}->{leaf_lines} * 64;
		my $keys = peek($v, $leaf, $off, 'Q', 8);
		return if $keys == 0;
		poke($v, $leaf, $off, pack('Q', $keys & ($keys - 1)));
	});
	way('all nodes of the leaf are the last one', $kind, 1, sub {
		my ($v) = @_;
		my $leaf = $v->{roles}->{leaf};
		my $lower = peek($v, $leaf, $at{pd_lower}, 'S', 2);
		my $n = peek($v, $leaf, $at{nnodes}, 'C', 1);
		my $x = $v->{roles}->{leaf_lines} * 64;
		my $last = substr($v->{file}, $leaf * $bs + $lower - $x, $x);

		# nodes that are not in use may contain anything
		return $leaf if peek($v, $leaf, $at{nkids}, 'C', 1) < 2;
		poke($v, $leaf, $lower - $x * $_, $last) foreach 2 .. $n;
		return $leaf;
	});
	way('dead-entry hints for everything', $kind, 1, sub {
		my ($v) = @_;
		my $leaf = $v->{roles}->{leaf};
		my $lower = peek($v, $leaf, $at{pd_lower}, 'S', 2);
		my $upper = peek($v, $leaf, $at{pd_upper}, 'S', 2);
		return if $lower >= $upper;
		poke($v, $leaf, $lower, "\xFF" x ($upper - $lower));
	});
	return;
}

# General keys: tuples, which lie between pd_upper and the last line.
sub tuple_ways
{
	my ($kind) = @_;
	my $upper_of = sub {
		my ($v, $p) = @_;
		return peek($v, $p, $at{pd_upper}, 'S', 2);
	};

	foreach my $role (qw(leaf parent))
	{
		foreach my $fence (qw(low_hi high_hi))
		{
			foreach my $off (1, 64, $bs - 65, $bs - 1, 1 << 40)
			{
				way("$fence of $role at $off", $kind, 1, sub {
					my ($v) = @_;
					poke($v, $v->{roles}->{$role}, $at{$fence},
						pack('Q', $off));
				});
			}
		}
		foreach my $bytes ("\0", "\x7F", "\xFF\xFF", "\x80\0")
		{
			my $hex = unpack('H*', $bytes);

			way("$hex in front of the tuples of $role", $kind, 0, sub {
				my ($v) = @_;
				my $p = $v->{roles}->{$role};
				my $start = $upper_of->($v, $p) +
				  10 * peek($v, $p, $at{ndict}, 'C', 1);
				return if $start > $bs - 70;
				poke($v, $p, $start, $bytes);
			});
		}
		foreach my $by (-64, -1, 1, 10, 64)
		{
			way("pd_upper moved by $by in $role", $kind, $by > 0, sub {
				my ($v) = @_;
				my $p = $v->{roles}->{$role};
				my $upper = $upper_of->($v, $p);
				return if $upper > $bs - 130 && $by > 0;
				poke($v, $p, $at{pd_upper}, pack('S', $upper + $by));
			});
		}
		way("tuples of zeroes in $role", $kind, 0, sub {
			my ($v) = @_;
			my $p = $v->{roles}->{$role};
			my $upper = $upper_of->($v, $p);
			poke($v, $p, $upper, "\0" x ($bs - 64 - $upper));
		});
		way("random tuples in $role", $kind, 0, sub {
			my ($v) = @_;
			my $p = $v->{roles}->{$role};
			my $upper = $upper_of->($v, $p);
			poke($v, $p, $upper, random_bytes($bs - 64 - $upper));
		});
	}
	foreach my $role (qw(leaf first last))
	{
		way("first column NULL in tuples of $role", $kind, 1, sub {
			my ($v) = @_;
			my $p = $v->{roles}->{$role};
			my $off = $upper_of->($v, $p) +
			  10 * peek($v, $p, $at{ndict}, 'C', 1);

			while ($off < $bs - 64)
			{
				my $len = peek($v, $p, $off++, 'C', 1);

				$len = ($len & 0x7F) << 8 | peek($v, $p, $off++, 'C', 1)
				  if $len & 0x80;
				last if $len == 0;

				# the number of columns and flags, then a bitmap of NULLs
				poke($v, $p, $off + 1,
					pack('C', peek($v, $p, $off + 1, 'C', 1) ^ 1))
				  if peek($v, $p, $off, 'C', 1) & 0x40;
				$off += $len;
			}
			return $p;
		});
	}
	return;
}

# The dictionary in front of the tuples of a leaf.
sub dictionary_ways
{
	my ($kind) = @_;

	foreach my $n (0, 1, 255)
	{
		way("ndict of leaf is $n", $kind, 1, sub {
			my ($v) = @_;
			poke($v, $v->{roles}->{leaf}, $at{ndict}, pack('C', $n));
		});
	}
	foreach my $what ([ 'heads', 0, 8 ], [ 'tuples', 8, 2 ])
	{
		my ($name, $before, $len) = @$what;

		# all of them: those of some keys may have no entries any more
		way("$name of the dictionary are rotated", $kind, 1, sub {
			my ($v) = @_;
			my $p = $v->{roles}->{leaf};
			my $n = peek($v, $p, $at{ndict}, 'C', 1);
			my $off = peek($v, $p, $at{pd_upper}, 'S', 2) + $before * $n;
			return if $n < 2;
			my ($a, $b) = peek($v, $p, $off, "a$len a*", $n * $len);
			poke($v, $p, $off, $b . $a);
		});
		way("$name of the dictionary are ones", $kind, 1, sub {
			my ($v) = @_;
			my $p = $v->{roles}->{leaf};
			my $n = peek($v, $p, $at{ndict}, 'C', 1);
			my $off = peek($v, $p, $at{pd_upper}, 'S', 2) + $before * $n;
			poke($v, $p, $off, "\xFF" x ($len * $n));
		});
	}
	return;
}

sub meta_ways
{
	my ($kind) = @_;
	my %fields = (
		magic => [ 0, 'L', 1 ], version => [ 4, 'L', 77 ],
		indexid => [ 8, 'L', 3 ], keyclass => [ 12, 'C', 2 ],
		keysize => [ 13, 'C', 7 ], nullsfirst => [ 14, 'C', 1 ],
		descending => [ 15, 'C', 2 ], linesize => [ 16, 'S', 128 ],
		stripes => [ 18, 'S', 2 ], w => [ 20, 'C', 200 ],
		x => [ 21, 'C', 0 ], sortversion => [ 308, 'L', 5 ],
		reserved => [ 316, 'L', 1 ]);

	foreach my $field (sort keys %fields)
	{
		my ($off, $t, $value) = @{ $fields{$field} };
		way("$field in metapage", $kind, 1, sub {
			my ($v) = @_;
			poke($v, 0, $meta_at + $off, pack($t, $value));
		});
	}
	way('widths in metapage', $kind, 1, sub {
		my ($v) = @_;
		poke($v, 0, $meta_at + 20, pack('C*', map { 3 + $_ % 5 } 1 .. 288));
	});
	way('zeroed metapage', $kind, 1,
		sub { my ($v) = @_; put_page($v, 0, "\0" x $bs); });
	way('metapage of another index', $kind, 1,
		sub { my ($v) = @_; put_page($v, 0, page_of($v->{other}, 0)); });
	return;
}

# Kinds: all kinds of indexes; deep: those that get all ways; general: those of
# general keys; dictionary: the one that has dictionaries; meta: whose metapages
# are damaged; npast: number of earlier versions of a file.
sub fixed_ways
{
	my ($kinds, $deep, $general, $dictionary, $meta, $npast) = @_;
	my %deep = map { $_ => 1 } @$deep;
	my $part = 0;

	@ways = ();
	foreach my $kind (@$kinds)
	{
		way('nothing', $kind, 0, sub { });
		header_ways($kind, $part++, scalar(@$kinds));
		link_ways($kind, $kind eq $deep->[0]
			? qw(none self meta root opposite next beyond max)
			: qw(self opposite));
		stale_ways($kind, $npast);
		next if !$deep{$kind};
		downlink_ways($kind);
		page_ways($kind);
		file_ways($kind);
		node_ways($kind);
	}
	tuple_ways($_) foreach @$general;
	dictionary_ways($dictionary);
	meta_ways($_) foreach @$meta;
	return @ways;
}

# ----------------------------------------------------------------------------
# Random damage

# Any page but, most of the time, the metapage.
sub random_page
{
	my ($v) = @_;
	my $n = npages($v);

	return 0 if $n < 2 || rand() < 0.005;
	return 1 + int(rand($n - 1));
}

# A place in a page where something is: nodes, hints, tuples, first or last line.
sub random_offset
{
	my ($v, $p) = @_;
	my $lower = peek($v, $p, $at{pd_lower}, 'S', 2);
	my $upper = peek($v, $p, $at{pd_upper}, 'S', 2);
	my $part = rand();

	$lower = 64 if $lower < 64 || $lower > $bs - 64;
	return $upper + int(rand($bs - 64 - $upper))
	  if $upper > 64 && $upper < $bs - 64 && rand() < 0.3;
	return int(rand(64)) if $part < 0.15;
	return $bs - 64 + int(rand(64)) if $part < 0.3;
	return $bs - 64 - 1 - int(rand(128)) if $part < 0.35;
	return 64 + int(rand($lower - 64)) if $lower > 64;
	return int(rand($bs));
}

my @fields = (
	[ left => 4 ], [ right => 4 ], [ flags => 2 ], [ level => 1 ],
	[ enc => 1 ], [ nnodes => 1 ], [ nkids => 1 ], [ nnull => 1 ],
	[ ndict => 1 ], [ pd_upper => 2 ],
	[ high_hi => 24 ], [ low_hi => 24 ], [ base_hi => 16 ], [ pd_lower => 2 ]);

# Each gets a victim and a page, and returns what it did and to which pages.
my @random = (
	[ 20, 'bit', sub {
		my ($v, $p) = @_;
		my $off = random_offset($v, $p);
		my $byte = peek($v, $p, $off, 'C', 1);
		poke($v, $p, $off, pack('C', $byte ^ (1 << int(rand(8)))));
		return ("at $off", $p);
	} ],
	[ 10, 'byte', sub {
		my ($v, $p) = @_;
		my $off = random_offset($v, $p);
		poke($v, $p, $off, pack('C', int(rand(256))));
		return ("at $off", $p);
	} ],
	[ 5, 'word', sub {
		my ($v, $p) = @_;
		my $off = random_offset($v, $p) & ~7;
		poke($v, $p, $off, pack('L2', rand(2**32), rand(2**32)));
		return ("at $off", $p);
	} ],
	[ 5, 'small word', sub {
		my ($v, $p) = @_;
		my $off = random_offset($v, $p) & ~3;
		poke($v, $p, $off, pack('L', int(rand(npages($v) + 2))));
		return ("at $off", $p);
	} ],
	[ 5, 'line of another page', sub {
		my ($v, $p) = @_;
		my $q = random_page($v);
		my $off = random_offset($v, $p) & ~63;
		poke($v, $p, $off, substr($v->{file}, $q * $bs + $off, 64));
		return ("at $off of $q", $p);
	} ],
	[ 15, 'field of another page', sub {
		my ($v, $p) = @_;
		my $q = random_page($v);
		my ($field, $len) = @{ $fields[ rand(@fields) ] };
		poke($v, $p, $at{$field},
			substr($v->{file}, $q * $bs + $at{$field}, $len));
		return ("$field of $q", $p);
	} ],
	[ 3, 'zeroed', sub {
		my ($v, $p) = @_;
		return ('', put_page($v, $p, "\0" x $bs));
	} ],
	[ 3, 'zeroed in part', sub {
		my ($v, $p) = @_;
		my $off = int(rand($bs / 512)) * 512;
		return ("from $off on", poke($v, $p, $off, "\0" x ($bs - $off)));
	} ],
	[ 5, 'swapped', sub {
		my ($v, $p) = @_;
		my $q = random_page($v);
		my $fixed = rand() < 0.7;
		return ("with $q" . ($fixed ? ', renumbered' : ''),
			swap_pages($v, $p, $q, $fixed));
	} ],
	[ 5, 'copy of another page', sub {
		my ($v, $p) = @_;
		my $q = random_page($v);
		put_page($v, $p, page_of($v->{file}, $q));
		return ("$q, renumbered", renumber($v, $p));
	} ],
	[ 5, 'page of another index', sub {
		my ($v, $p) = @_;
		my $from = rand() < 0.7 ? $v->{other} : $v->{foreign};
		my $q = rand() < 0.7 ? $p : int(rand(length($from) / $bs));
		$q = 1 if ($q + 1) * $bs > length($from);
		put_page($v, $p, page_of($from, $q));
		renumber($v, $p);
		adopt($v, $p) if rand() < 0.8;
		return ("$q", $p);
	} ],
	[ 15, 'earlier version', sub {
		my ($v, $p) = @_;
		my $time = int(rand(@{ $v->{past} }));
		my $old = $v->{past}->[$time];
		return ('that does not exist') if ($p + 1) * $bs > length($old);
		return ("of time $time", put_page($v, $p, page_of($old, $p)));
	} ],
	[ 4, 'earlier version in part', sub {
		my ($v, $p) = @_;
		my $time = int(rand(@{ $v->{past} }));
		my $old = $v->{past}->[$time];
		my $off = (1 + int(rand($bs / 512 - 1))) * 512;
		my ($from, $len) = rand() < 0.5 ? (0, $off) : ($off, $bs - $off);
		return ('that does not exist') if ($p + 1) * $bs > length($old);
		return ("of time $time from $from, $len bytes",
			poke($v, $p, $from, substr($old, $p * $bs + $from, $len)));
	} ]);

# Random damage number nr, the same for the same seed.  Mostly one page is hit,
# sometimes a few.  The file may lose its end.
sub random_way
{
	my ($seed, $nr, $kind) = @_;
	my $way = { name => "random $nr ($kind)", kind => $kind, must => 0 };

	$way->{code} = sub {
		my ($v) = @_;
		my (@did, @pages);
		my $total = 0;
		my $n;

		srand($seed + $nr * 2654435761);
		$total += $_->[0] foreach @random;
		$n = rand() < 0.75 ? 1 : 1 + int(rand(4));
		foreach (1 .. $n)
		{
			my $p = random_page($v);
			my $pick = rand($total);
			my $i = 0;

			$pick -= $random[ $i++ ]->[0] while $pick >= $random[$i]->[0];
			my ($detail, @changed) = $random[$i]->[2]->($v, $p);
			push @did, "page $p: $random[$i]->[1] $detail";
			push @pages, @changed;
		}
		if (rand() < 0.02)
		{
			my $n = int(rand(npages($v) + 1));
			$v->{file} = substr($v->{file}, 0, $n * $bs);
			push @did, "cut to $n pages";
			push @pages, $n;
		}
		$way->{did} = join('; ', @did);
		return @pages;
	};
	return $way;
}

1;

# The same random statements on twin tables, one with fptree and one with btree
# indexes, and the same random queries by fptree, by btree and by sequential
# scan: all three must give the same rows, in the same order of keys.  Aggregates
# of what an index answers alone are counted in it, and its keys are visited by searches.
#
# Half of the rounds have an index of one column, whose type has an image; the
# others one of up to four columns of all types and operator classes, with INCLUDE
# columns, of a part of the table, unique or not, built with and without workers.
#
# FPT_DIFF_QUERIES sets the number of queries (5000), FPT_DIFF_SEED the seed.
#
# Strings are compared in C, in C.UTF-8, by ICU (one collation of two takes upper
# and lower case for equal), and by the C library's rules for American English,
# for which the C library's definitions must be installed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $wanted = $ENV{FPT_DIFF_QUERIES} || 5000;
my $seed = $ENV{FPT_DIFF_SEED} || 20261122;
my $per_round = 160;

srand($seed);
diag("seed $seed");

my $dir = PostgreSQL::Test::Utils::tempdir();
my $english = 'text COLLATE english';

# If the machine has no such locale we make one.
my $made = $dir . '/en_US.utf8';
if (!grep { /^en_US\.utf-?8$/i } split(/\n/, `locale -a`))
{
	$ENV{LOCPATH} = $dir
	  if system("localedef -i en_US -f UTF-8 $made >/dev/null 2>&1") >> 8 <= 1
	  && -e "$made/LC_COLLATE";
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C.UTF-8', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', q{
log_statement = none
autovacuum = off
client_min_messages = warning
shared_buffers = 32MB
min_parallel_table_scan_size = 0
timezone = 'PST8PDT'
lc_monetary = 'C'
});
$node->start;
install_helpers($node);
$node->safe_psql('postgres', q{
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE color AS ENUM ('red', 'green', 'blue', 'black', 'white');
ALTER TYPE color ADD VALUE 'grey' BEFORE 'black';
ALTER TYPE color ADD VALUE 'pink' AFTER 'red';
CREATE TYPE pair AS (a int, b text);
});
my $has_english = $node->psql('postgres',
	"CREATE COLLATION english (locale = 'en_US.utf8')", on_error_die => 0) == 0;
diag('the C library has no American English') unless $has_english;

sub pick { return $_[ rand @_ ]; }
sub upto { return int(rand($_[0])); }

# --- values ------------------------------------------------------------------

# A number as a round wants it: few different ones, close together, or from all
# over the range of so many bits.
sub number
{
	my ($mode, $bits) = @_;

	return upto(30) if $mode eq 'few';
	return 1_000_000 + upto(5_000) if $mode eq 'close' && $bits > 20;
	return 1_000 + upto(500) if $mode eq 'close';
	# powers of two and their neighbours, else anything
	return (1 << upto($bits)) - 1 + upto(3) - (upto(2) ? 1 << upto($bits) : 0)
	  if rand() < 0.2;
	return int((rand() - 0.5) * 2**($bits - upto($bits)));
}

sub clamp
{
	my ($n, $bits) = @_;
	my $max = $bits >= 64 ? 9223372036854775807 : 2**($bits - 1) - 1;

	$n = -$n - 1 if $n < 0 && -$n - 1 > $max;
	return $n > $max ? $max : $n;
}

sub hex_of
{
	my ($mode, $digits) = @_;

	return sprintf('%0' . $digits . 'x', upto(30)) if $mode eq 'few';
	my $h = join('', map { sprintf('%x', upto(16)) } 1 .. $digits);
	substr($h, 0, $digits - 3) = '7' . ('f' x ($digits - 4)) if $mode eq 'close';
	substr($h, 0, $digits / 2) = 'f' x ($digits / 2) if rand() < 0.1;
	return $h;
}

my $int = sub { my ($type, $bits) = @_;
	return sub { sprintf("(%d)::%s", clamp(number($_[0], $bits), $bits), $type) } };
my $flt = sub { my ($type) = @_;
	return sub {
		return pick("'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "'0'", "'1e-40'", "'-1e-40'")
		  . "::$type" if rand() < 0.1;
		my $n = number($_[0], 40);
		return sprintf("'%s'::%s", $_[0] eq 'few' ? $n / 4 : $n * pick(1, 1e-3, 1e10), $type);
	} };
my $when = sub { my ($type) = @_;
	return sub {
		return pick("'infinity'", "'-infinity'", "'4714-11-24 00:00:00+00 BC'")
		  . "::$type" if rand() < 0.04;
		my ($unit, $bits) = @{ pick([ '1 us', 54 ], [ '1 s', 34 ], [ '1 hour', 24 ]) };
		return sprintf("('2000-01-01'::%s + %d * '%s'::interval)", $type,
			clamp(number($_[0], $bits), $bits), $unit);
	} };

# Do uuids of this table have a version and a variant, nearly all of them?
my $versioned;

my %type = (
	int2 => { gen => $int->('int2', 16), cross => [ 'int4', 'int8' ], max => 1 },
	int4 => { gen => $int->('int4', 32), cross => [ 'int2', 'int8' ], max => 1 },
	int8 => { gen => $int->('int8', 62), cross => [ 'int2', 'int4' ], max => 1 },
	oid => { gen => sub { sprintf('(%u)::oid', number($_[0], 32) & 0xffffffff) }, max => 1 },
	xid8 => { gen => sub { sprintf("'%u'::xid8", number($_[0], 62) * 2 + 1) } },
	float4 => { gen => $flt->('float4'), cross => ['float8'], max => 1, out => 'k + 0' },
	float8 => { gen => $flt->('float8'), cross => ['float4'], max => 1, out => 'k + 0' },
	bool => { gen => sub { pick('true', 'false') } },
	'"char"' => { gen => sub { sprintf('(%d)::"char"', clamp(number($_[0], 8), 8)) }, out => 'k::int4' },
	money => { gen => sub { sprintf("'%d.%02d'::money", number($_[0], 40), upto(100)) }, max => 1 },
	date => { gen => sub {
			return pick("'infinity'::date", "'-infinity'::date", "'5874897-12-31'::date",
				"'4714-11-24 BC'::date") if rand() < 0.04;
			return sprintf("('2000-01-01'::date + %d)", clamp(number($_[0], 20), 19)) },
		cross => [ 'timestamp', 'timestamptz' ], max => 1 },
	time => { gen => sub {
			return "'24:00'::time" if rand() < 0.03;
			return sprintf("('00:00'::time + %d * '1 us'::interval)", abs(number($_[0], 36)) % 86400000000) },
		max => 1 },
	timestamp => { gen => $when->('timestamp'), cross => [ 'date', 'timestamptz' ], max => 1 },
	timestamptz => { gen => $when->('timestamptz'), cross => [ 'date', 'timestamp' ], max => 1 },
	uuid => { gen => sub {
			my $h = hex_of($_[0], 32);
			substr($h, 12, 1) = '4' if $versioned && rand() < 0.99;
			substr($h, 16, 1) = pick(qw(8 9 a b)) if $versioned && rand() < 0.99;
			return "'$h'::uuid" } },
	macaddr => { gen => sub { "'" . hex_of($_[0], 12) . "'::macaddr" } },
	macaddr8 => { gen => sub { "'" . hex_of($_[0], 16) . "'::macaddr8" } },
	pg_lsn => { gen => sub { sprintf("'%X/%X'::pg_lsn", number($_[0], 32) & 0xffffffff, upto(1000)) }, max => 1 });

# words: few different beginnings, so that heads are equal; some long
my $word = sub { my ($mode) = @_;
	my $s = pick('', 'a', 'ab', 'prefix-', 'Prefix ', "\x{e9}t\x{e9} ") if rand() < 0.7;

	$s = ($s // '') . number($mode, 30) if rand() < 0.8;
	$s = ($s // '') . hex_of($mode, 2 * (4 + upto($mode eq 'few' ? 1 : 9))) if rand() < 0.3;
	$s = ($s // '') . 'x' x upto(300) if rand() < 0.02;
	$s = $s // '';
	utf8::encode($s);
	return $s;
};
my $text = sub { my ($cast) = @_;
	return sub { sprintf(q{'%s'::%s}, $word->(@_), $cast) } };

my %general = (
	'text COLLATE "C"' => { gen => $text->('text'), cross => ['name'], max => 1, like => 1 },
	'text' => { gen => $text->('text'), max => 1 },
	'text COLLATE "en-x-icu"' => { gen => $text->('text'), max => 1 },
	'text COLLATE nocase' => { gen => $text->('text'), out => 'lower(k COLLATE "en-x-icu")' },
	$english => { gen => $text->('text'), max => 1 },
	'text pattern' => { gen => $text->('text'), sql => 'text', ops => 'text_pattern_ops',
		names => '~X~', like => 1 },
	'varchar pattern' => { gen => sub { sprintf(q{left('%s', 30)::varchar(40)}, $word->(@_)) },
		sql => 'varchar(40) COLLATE "en-x-icu"', ops => 'varchar_pattern_ops', names => '~X~', like => 1 },
	'char pattern' => { gen => sub { sprintf(q{left('%s', 12)::bpchar}, $word->(@_)) },
		sql => 'char(12)', ops => 'bpchar_pattern_ops', names => '~X~' },
	'varchar(40) COLLATE "C"' => { gen => sub { sprintf(q{left('%s', 30)::varchar(40)}, $word->(@_)) }, out => 'k::text' },
	'char(12) COLLATE "C"' => { gen => sub { sprintf(q{left('%s', 12)::bpchar}, $word->(@_)) } },
	name => { gen => sub { sprintf(q{left('%s', 20)::name}, $word->(@_)) }, cross => ['text'], cast => 'name' },
	bytea => { gen => sub { sprintf(q{'\\x%s'::bytea}, hex_of($_[0], 2 * (2 + upto(7)))) } },
	numeric => { gen => sub {
			return pick("'NaN'", "'Infinity'", "'-Infinity'", "'0.00'", "'1e300'", "'-1e-300'")
			  . '::numeric' if rand() < 0.04;
			return sprintf("'%d.%s'::numeric", number($_[0], 60), pick('0', '5', '50', upto(10000))) },
		out => 'trim_scale(k)', max => 1 },
	inet => { gen => sub { pick(
			sprintf("'10.%d.%d.%d/%d'::inet", upto(3), upto(4), number($_[0], 8) & 255, pick(8, 16, 24, 30, 32)),
			sprintf("'%x::%x/%d'::inet", 1 + upto(5), number($_[0], 16) & 65535, pick(16, 64, 128))) } },
	interval => { gen => sub { sprintf("'%d us'::interval", number($_[0], 50)) }, max => 1 },
	timetz => { gen => sub { sprintf("'%02d:%02d:00%+03d'::timetz", upto(24), upto(4) * 15, upto(7) - 3) } },
	cidr => { gen => sub { sprintf("'10.%d.%d.0/24'::cidr", upto(3), number($_[0], 8) & 255) } },
	'bit(14)' => { gen => sub { sprintf("'%s'::bit(14)", join('', map { upto(2) } 1 .. 14)) } },
	color => { gen => sub { sprintf("'%s'::color", pick(qw(red green blue grey black white pink))) }, max => 1 },
	pair => { gen => sub { sprintf(q{ROW(%d, '%s')::pair}, number('few', 4), $word->(@_)) } },
	'pair image' => { gen => sub { sprintf(q{ROW(%d, '%s')::pair}, number('few', 4), $word->(@_)) },
		sql => 'pair', ops => 'record_image_ops', names => '*X' },
	int4multirange => { gen => sub { my $n = number('few', 5);
			sprintf("'{[%d,%d),[%d,%d)}'::int4multirange", $n, $n + 1 + upto(3), $n + 8, $n + 9 + upto(4)) } },
	oidvector => { gen => sub { sprintf("'%s'::oidvector", join(' ', map { upto(4) } 1 .. upto(4))) } },
	tsquery => { gen => sub { sprintf("'%s'::tsquery", join(pick(' & ', ' | '), map { 'w' . upto(6) } 0 .. upto(3))) } },
	varbit => { gen => sub { sprintf("'%s'::varbit", join('', map { upto(2) } 1 .. upto(14))) } },
	'int[]' => { gen => sub { sprintf("'{%s}'::int[]", join(',', map { pick(number('few', 4), 'NULL') } 1 .. upto(4))) }, plain => 1 },
	int4range => { gen => sub { my $n = number('few', 5); sprintf("int4range(%d, %d)", $n, $n + upto(5)) } },
	jsonb => { gen => sub { sprintf("'%s'::jsonb", pick(number($_[0], 30), '"' . hex_of($_[0], 6) . '"', '[1, 2]', '{"a": 1}', 'null', 'true')) } },
	tsvector => { gen => sub { sprintf("'%s'::tsvector", join(' ', map { 'w' . upto(6) } 1 .. upto(5))) } },
	tid => { gen => sub { sprintf("'(%d,%d)'::tid", number($_[0], 20) & 0xffffff, 1 + upto(20)) } });
delete $general{$english} unless $has_english;
my @general = sort keys %general;
my @image = sort keys %type;
%type = (%type, %general);

# the column's type, and its name in a cast
sub sql_type { return $type{ $_[0] }->{sql} // $_[0]; }
sub bare { return sql_type($_[0]) =~ s/ COLLATE.*//r; }

# an operator as the operator class has it
sub op
{
	my ($c, $op) = @_;
	my $names = $type{ $c->{typ} }->{names};

	return $op if !$names || ($op eq '=' && $names =~ /~/);
	return $names =~ s/X/$op/r;
}

# the operator class, if it is not the default
sub ops_class { return $type{ $_[0]->{typ} }->{ops} // ''; }

# --- one round ---------------------------------------------------------------

my $script = '';
my @asked;    # number of query => its text
my ($round, $nextid, $open, $unique, $depth, $where);
my @cols;    # name, type, mode, nulls, pool of each column
my @keys;    # the index's key columns: name, descending, nulls first

sub emit { $script .= join('', map { "$_;\n" } @_); return; }

# a statement on both tables
sub both
{
	my ($stmt) = @_;

	emit($stmt =~ s/\bTAB\b/f/gr, $stmt =~ s/\bTAB\b/b/gr);
	return;
}

sub value
{
	my ($c) = @_;
	my $v = $type{ $c->{typ} }->{gen}->($c->{mode});

	push @{ $c->{pool} }, $v if @{ $c->{pool} } < 500;
	return $v;
}

sub nullable { my ($c) = @_; return rand() < $c->{nulls} ? 'NULL' : value($c); }

# a row's columns
sub row { return join(', ', map { nullable($_) } @cols); }

# something to compare with: mostly a value there is, or was
sub constant
{
	my ($c) = @_;
	my $cross = $type{ $c->{typ} }->{cross};

	if ($cross && rand() < 0.3)
	{
		my $other = pick(@$cross);

		$other = 'text COLLATE "C"' if $other eq 'text';
		return $type{$other}->{gen}->(pick($c->{mode}, 'wide'));
	}
	return rand() < 0.7 && @{ $c->{pool} } ? pick(@{ $c->{pool} })
	  : $type{ $c->{typ} }->{gen}->(pick($c->{mode}, 'wide'));
}

sub same_type_constant
{
	my ($c) = @_;

	return rand() < 0.8 && @{ $c->{pool} } ? pick(@{ $c->{pool} })
	  : $type{ $c->{typ} }->{gen}->($c->{mode});
}

# an array of them
sub array
{
	my ($c, $n) = @_;

	return sprintf('ARRAY[%s]::%s[]', join(', ', map { rand() < 0.05
			  ? 'NULL' : same_type_constant($c) } 0 .. $n), bare($c->{typ}));
}

# conditions on one column
sub column_condition
{
	my ($c) = @_;
	my $k = $c->{name};
	my $what = rand();
	my $compare = sub { return "$k " . op($c, pick(@_)) . ' ' . constant($c) };
	my $any = sub { my $n = shift; return "$k " . op($c, pick(@_)) . ' ANY (' . array($c, upto($n)) . ')' };

	return sprintf("%s LIKE '%s%%'", $k, substr($word->($c->{mode}), 0, 1 + upto(8)) =~ s/[^ -~]//gr)
	  if $type{ $c->{typ} }->{like} && rand() < 0.15;
	$what = 0.6 if $what >= 0.65 && $what < 0.83 && $type{ $c->{typ} }->{plain};
	return $compare->(qw(< <= = >= >)) if $what < 0.3;
	return $compare->(qw(> >=)) . ' AND ' . $compare->(qw(< <=)) if $what < 0.55;
	return $compare->('=') if $what < 0.65;
	return $any->(12, '=') if $what < 0.75;
	return $any->(5, qw(= < >=)) . ' AND ' . $compare->(qw(< > <= >=)) if $what < 0.8;
	return $any->(9, '=') . ' AND ' . $any->(9, '=') if $what < 0.83;
	return "$k IS NULL" if $what < 0.87;
	return "$k IS NOT NULL" if $what < 0.9;
	return "$k IS NOT NULL AND " . $compare->(qw(< >)) if $what < 0.93;
	return '(' . $compare->('<') . ' OR ' . $compare->('>') . " OR $k IS NULL)" if $what < 0.96;
	return join(' AND ', map { $compare->($_) } qw(> >= < <= <=));
}

# (k, l) < (1, 2)
sub row_comparison
{
	my @some = grep { !$type{ $_->{typ} }->{names} } @cols;

	return 'true' if @some < 2;
	splice(@some, 2 + upto(@some - 1));
	return sprintf('(%s) %s (%s)', join(', ', map { $_->{name} } @some),
		pick(qw(< <= > >=)), join(', ', map { constant($_) } @some));
}

# on some of the columns, in any order; of several columns equality is likely
sub condition
{
	my @some = sort { rand() <=> 0.5 } @cols;
	my @c;

	splice(@some, 1 + upto(scalar @some));
	foreach my $c (@some)
	{
		push @c, @cols > 1 && rand() < 0.4
		  ? ("$c->{name} " . op($c, '=') . ' '
			  . ($type{ $c->{typ} }->{plain} || rand() < 0.7 ? constant($c)
				: 'ANY (' . array($c, upto(6)) . ')'))
		  : column_condition($c);
	}
	push @c, row_comparison() if @cols > 1 && rand() < 0.1;
	push @c, $where if defined $where && rand() < 0.8;
	return join(' AND ', @c);
}

# ORDER BY as the index has it, or the other way, or in any other way, and what
# to select for it
sub order
{
	my @by = @keys;
	my $how = upto(3);

	splice(@by, 1 + upto(scalar @by));
	return (
		join(', ', map { out($_->{col}) } @by),
		join(', ', map {
				my $flip = $how == 2 ? upto(2) : $how;
				my $nf = $how == 2 ? upto(2) : $_->{nf} ^ $how;

				$_->{col}->{name} . ' USING ' . op($_->{col}, $_->{desc} ^ $flip ? '>' : '<')
				  . ' NULLS ' . ($nf ? 'FIRST' : 'LAST') } @by),
		join(', ', map { $_->{col}->{name} } @by));
}

sub out
{
	my ($c) = @_;

	return ($type{ $c->{typ} }->{out} // 'k') =~ s/\bk\b/$c->{name}/gr;
}

# Emit a query in its three ways, numbered.
sub ask
{
	my ($query) = @_;
	my $n = @asked;

	push @asked, "round $round: $query";
	foreach my $way ([ 'fptree', 'f', pick('index', 'only', 'own', 'bitmap') ],
		[ 'btree', 'b', 'index' ], [ 'seq', 'f', 'seq' ])
	{
		my ($name, $tab, $kind) = @$way;
		my %on = map { $_ => 'off' }
		  qw(seqscan indexscan indexonlyscan bitmapscan);
		my $q = $query =~ s/\bTAB\b/$tab/gr;

		$on{seqscan} = 'on' if $kind eq 'seq';
		$on{indexscan} = 'on' if $kind =~ /index|only|own/;
		$on{indexonlyscan} = 'on' if $kind =~ /only|own/;
		$on{bitmapscan} = 'on' if $kind eq 'bitmap';
		emit(map { "SET enable_$_ = $on{$_}" } sort keys %on);
		emit('SET fptree.enable_indexonlyscan = '
			  . ($kind eq 'own' ? 'on' : 'off')) if $name eq 'fptree';
		$script .= "\\echo >$n $name\n";
		emit($q);
	}
	$script .= "\\echo >>\n";
	return;
}

sub query
{
	my $what = rand();
	my ($out, $order, $names) = order();
	my $c = $cols[0];
	my $k = $c->{name};

	if ($what < 0.12)
	{
		# what the index answers alone, and counts by itself
		my $t = $type{ $c->{typ} };
		my @of = ('count(*)', "count($k)");

		push @of, "min($k)", "max($k)" if $t->{max} && !$t->{out};
		push @of, "sum($k)", "avg($k)" if $c->{typ} =~ /^int\d$/;
		ask('SELECT ' . join(', ', map { pick(@of) } 0 .. upto(3)) . ' FROM TAB'
			  . (rand() < 0.9 ? ' WHERE ' . condition() : ''));
	}
	elsif ($what < 0.24)
	{
		# the keys of an index, each once or counted
		my $rows = 'FROM TAB' . (rand() < 0.7 ? ' WHERE ' . condition() : '');
		my $limit = rand() < 0.3 ? ' LIMIT ' . upto(50) : '';

		ask(rand() < 0.5 ? "SELECT $out FROM (SELECT DISTINCT $names $rows ORDER BY $order$limit) x ORDER BY $order"
			: "SELECT $out, count(*) $rows GROUP BY $names ORDER BY $order$limit");
	}
	elsif ($what < 0.4)
	{
		ask('SELECT count(*), sum(id) FROM TAB WHERE ' . condition());
	}
	elsif ($what < 0.65)
	{
		ask("SELECT $out FROM TAB WHERE " . condition() . " ORDER BY $order"
			  . (rand() < 0.5 ? ' LIMIT ' . upto(50) : '')
			  . (rand() < 0.2 ? ' OFFSET ' . upto(200) : ''));
	}
	elsif ($what < 0.7)
	{
		ask("SELECT $out FROM TAB" . (defined $where ? " WHERE $where" : '')
			  . " ORDER BY $order LIMIT " . (1 + upto(300)));
	}
	elsif ($what < 0.75 && $type{ $c->{typ} }->{max})
	{
		my $f = pick('min', 'max');
		ask("SELECT $f(" . out($c) . "), count($k) FROM TAB"
			  . (rand() < 0.5 ? ' WHERE ' . condition() : ''));
	}
	elsif ($what < 0.8)
	{
		ask("SELECT " . out($c) . ", count(*), sum(id) FROM TAB WHERE " . condition()
			  . " GROUP BY $k ORDER BY $k");
	}
	elsif ($what < 0.87)
	{
		my $cross = $type{ $c->{typ} }->{cross};
		my $other = rand() < 0.4 && $cross && !exists $general{ $c->{typ} }
		  ? pick(@$cross) : $c->{typ};

		ask('SELECT count(*)' . pick('', ', sum(id)') . ' FROM (VALUES '
			  . join(', ', map { '(' . ($other eq $c->{typ} ? same_type_constant($c) : $type{$other}->{gen}->($c->{mode})) . ')' } 0 .. 20)
			  . ") v(x) JOIN TAB ON $k " . op($c, pick('=', '=', '<', '>=')) . ' x'
			  . (@cols > 1 && rand() < 0.5 ? ' WHERE ' . condition() : ''));
	}
	elsif ($what < 0.92)
	{
		ask('SELECT count(*), sum(id) FROM TAB WHERE id '
			  . pick('<', '>', '=') . ' ' . upto($nextid + 10));
	}
	else
	{
		my @walk = map { pick('FETCH ', 'FETCH ', 'FETCH BACKWARD ', 'MOVE ',
				'MOVE BACKWARD ') . pick(1, 2, 10, 40, 'ALL') . ' FROM c' } 0 .. upto(12);
		ask(join(";\n", $open ? () : 'BEGIN',
				"DECLARE c SCROLL CURSOR FOR SELECT $out FROM TAB WHERE "
				  . condition() . " ORDER BY $order", @walk, 'CLOSE c',
				$open ? () : 'COMMIT'));
	}
	return;
}

sub insert_rows
{
	my ($n) = @_;

	both('INSERT INTO TAB VALUES '
		  . join(', ', map { sprintf('(%d, %s)', $nextid++, row()) } 1 .. $n)
		  . ($unique && rand() < 0.3 ? ' ON CONFLICT DO NOTHING' : ''));
	return;
}

sub change
{
	my $what = rand();

	if ($what < 0.35)
	{
		insert_rows(1 + upto(60));
	}
	elsif ($what < 0.5)
	{
		both('DELETE FROM TAB WHERE ' . (rand() < 0.5 ? condition()
				: sprintf('id BETWEEN %d AND %d', map { upto($nextid) } 1, 2)) . ' AND id % 3 = ' . upto(3));
	}
	elsif ($what < 0.65)
	{
		my $c = pick(@cols);

		both("UPDATE TAB SET $c->{name} = " . nullable($c) . ' WHERE id % 17 = ' . upto(17)
			  . (rand() < 0.5 ? ' AND ' . condition() : ''));
	}
	elsif ($what < 0.7 && $unique)
	{
		both(sprintf('INSERT INTO TAB VALUES (%d, %s) ON CONFLICT (id) DO UPDATE SET k = excluded.k',
				upto($nextid), row())) for 1 .. 5;
	}
	elsif ($what < 0.85)
	{
		if (!$open)
		{
			emit('BEGIN');
			$open = 1;
			$depth = 0;
		}
		elsif ($depth > 0 && rand() < 0.6)
		{
			emit((pick('ROLLBACK TO', 'RELEASE')) . " s$depth");
			$depth-- if $script =~ /RELEASE s$depth;\n\z/;
		}
		elsif (rand() < 0.5)
		{
			$depth++;
			emit("SAVEPOINT s$depth");
		}
		else
		{
			emit(pick('COMMIT', 'COMMIT', 'ROLLBACK'));
			$open = 0;
		}
	}
	elsif (!$open)
	{
		if (rand() < 0.1)
		{
			both(pick('REINDEX TABLE TAB', 'VACUUM FULL TAB'));
		}
		else
		{
			both('VACUUM ' . pick('', '', '(FREEZE) ') . 'TAB');
		}
	}
	return;
}

my @types;

# The columns of a round: one with an image, or up to four of any type.
sub choose_columns
{
	my $mode = pick('few', 'close', 'wide', 'wide');
	my @names = qw(k l m n);
	my $general = $round % 2 == 0;

	$versioned = pick(0, 1, 1);
	@cols = ();
	foreach my $i (0 .. ($general ? upto(4) : 0))
	{
		@types = sort { rand() <=> 0.5 } @image unless @types;
		push @cols, { name => $names[$i], pool => [],
			typ => !$general ? shift @types : rand() < 0.6 ? pick(@general) : pick(@image),
			mode => $i > 0 || $general ? pick($mode, 'few', 'few') : $mode,
			nulls => pick(0, 0.1, 0.1, 0.7) };
	}
	@keys = map { { col => $_, desc => upto(2), nf => upto(2) } }
	  $general ? sort { rand() <=> 0.5 } @cols : @cols;
	# some columns are not in the key
	splice(@keys, 1 + upto(scalar @keys)) if $general && rand() < 0.4;
	return $general;
}

sub do_round
{
	$round++;
	$unique = rand() < 0.6;
	$nextid = 1;
	$open = 0;
	$where = undef;
	my $general = choose_columns();
	my $w = pick(0, 1, 1, 2, 4);
	my $x = pick(0, 1, 1, 2, 3, 8);

	# 16-byte keys do not fit into the narrowest nodes
	$x = 2 if $w == 1 && $x == 1 && $cols[0]->{typ} eq 'uuid';
	my $with = 'WITH (fillfactor = ' . pick(10, 50, 90, 100) . ')';
	my $key = join(', ', map { $_->{col}->{name} . ' ' . ops_class($_->{col}) . ($_->{desc} ? ' DESC' : ' ASC')
			  . ' NULLS ' . ($_->{nf} ? 'FIRST' : 'LAST') } @keys);
	my $extra = '';

	if ($general)
	{
		my %in = map { $_->{col}->{name} => 1 } @keys;
		my @rest = map { $_->{name} } grep { !$in{ $_->{name} } } @cols;

		@rest = grep { rand() < 0.7 } @rest, 'id';
		$extra = ' INCLUDE (' . join(', ', @rest) . ')' if @rest && rand() < 0.5;
		$where = 'id % 4 > 0' if rand() < 0.2;
	}
	# a unique index whose keys are unique by their last column
	my $tail = $general && rand() < 0.2 && $extra !~ /\bid\b/ ? ', id' : '';
	my $kind = $tail ? 'UNIQUE INDEX' : 'INDEX';
	my $pred = defined $where ? " WHERE $where" : '';

	note("round $round: "
		  . join(', ', map { "$_->{name} $_->{typ} $_->{mode}" } @cols)
		  . " ($key$tail)$extra$pred, $with, lines $w,$x");
	emit("SET fptree.debug_node_lines = '$w,$x'");
	both('DROP TABLE IF EXISTS TAB');
	both('CREATE TABLE TAB (id int, ' . join(', ', map { "$_->{name} " . sql_type($_->{typ}) } @cols) . ')');
	insert_rows(200) for 0 .. upto(6);
	emit('SET max_parallel_maintenance_workers = ' . pick(0, 2),
		"CREATE $kind f_k ON f USING fptree ($key$tail)$extra $with$pred",
		"CREATE $kind b_k ON b USING btree ($key$tail)$extra$pred");
	if ($unique)
	{
		emit("CREATE UNIQUE INDEX f_id ON f USING fptree (id) $with",
			'CREATE UNIQUE INDEX b_id ON b (id)');
	}
	foreach my $i (1 .. $per_round)
	{
		change() while rand() < 0.45;
		query();
	}
	emit('COMMIT') if $open;
	$open = 0;
	emit('SELECT fptree_index_parent_check(oid, true, true, true) FROM pg_class '
		  . 'WHERE relname IN (\'f_k\', \'f_id\')');
	append_to_file("$dir/script.sql", $script);
	$script = '';
	return;
}

do_round() while @asked < $wanted;

# --- run and compare ------------------------------------------------------------

my $err = '';
my $run = IPC::Run::run([ $node->installed_command('psql'), '-XqAt', '-v',
	'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f',
	"$dir/script.sql" ], '<', \undef, '>', "$dir/answers", '2>', \$err);
# an index that cannot be seen yet in this transaction and the like are no news
$err = join("\n", grep { !/^psql:.* (NOTICE|WARNING): / } split(/\n/, $err));
ok($run, 'all statements run') or diag(substr($err, 0, 2000));
is($err, '', 'without errors');

my %answer;
my ($n, $name);
my $bad = 0;
my $compared = 0;

open(my $answers, '<', "$dir/answers") or die;
while (my $line = <$answers>)
{
	chomp $line;
	if ($line eq '>>')
	{
		my @rows = map { join("\n", @{ $answer{$_} // [] }) } qw(fptree btree seq);

		$compared++;
		if ($rows[0] ne $rows[2] || $rows[1] ne $rows[2])
		{
			$bad++;
			diag(sprintf("query %d, %s\n-- fptree:\n%.500s\n-- btree:\n%.500s\n-- seq:\n%.500s",
				$n, $asked[$n], @rows)) if $bad <= 5;
		}
		%answer = ();
		$name = undef;
	}
	elsif ($line =~ /^>(\d+) (\w+)$/)
	{
		($n, $name) = ($1, $2);
		$answer{$name} = [];
	}
	elsif (defined $name)
	{
		push @{ $answer{$name} }, $line;
	}
}
close($answers);
is($compared, scalar(@asked), "$compared queries compared");
is($bad, 0, "all answers agree (seed $seed)");
$node->stop;
no_crash($node);
done_testing();

# The same random statements on twin tables, one with fptree and one with btree
# indexes, and the same random queries by fptree, by btree and by sequential
# scan: all three must give the same rows, in the same order of keys.
#
# FPT_DIFF_QUERIES sets the number of queries (5000), FPT_DIFF_SEED the seed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $wanted = $ENV{FPT_DIFF_QUERIES} || 5000;
my $seed = $ENV{FPT_DIFF_SEED} || int(time);
my $per_round = 160;

srand($seed);
diag("seed $seed");

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
log_statement = none
autovacuum = off
shared_buffers = 32MB
timezone = 'PST8PDT'
lc_monetary = 'C'
});
$node->start;
install_helpers($node);

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
	uuid => { gen => sub { "'" . hex_of($_[0], 32) . "'::uuid" } },
	macaddr => { gen => sub { "'" . hex_of($_[0], 12) . "'::macaddr" } },
	macaddr8 => { gen => sub { "'" . hex_of($_[0], 16) . "'::macaddr8" } },
	pg_lsn => { gen => sub { sprintf("'%X/%X'::pg_lsn", number($_[0], 32) & 0xffffffff, upto(1000)) }, max => 1 });

# --- one round ---------------------------------------------------------------

my $script = '';
my @asked;    # number of query => its text
my ($round, $typ, $mode, $nulls, @pool, $nextid, $open, $unique, $depth);

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
	my $v = $type{$typ}->{gen}->($mode);

	push @pool, $v if @pool < 500;
	return $v;
}

sub nullable { return rand() < $nulls ? 'NULL' : value(); }

# something to compare with: mostly a value there is, or was
sub constant
{
	my $cross = $type{$typ}->{cross};

	if ($cross && rand() < 0.3)
	{
		return $type{ pick(@$cross) }->{gen}->(pick($mode, 'wide'));
	}
	return rand() < 0.7 ? pick(@pool) : $type{$typ}->{gen}->(pick($mode, 'wide'));
}

sub same_type_constant
{
	return rand() < 0.8 ? pick(@pool) : $type{$typ}->{gen}->($mode);
}

sub condition
{
	my $what = rand();

	return sprintf('k %s %s', pick(qw(< <= = >= >)), constant()) if $what < 0.3;
	return sprintf('k %s %s AND k %s %s', pick(qw(> >=)), constant(),
		pick(qw(< <=)), constant()) if $what < 0.55;
	return 'k = ' . constant() if $what < 0.65;
	return sprintf('k = ANY (ARRAY[%s]::%s[])', join(', ', map { rand() < 0.05
				  ? 'NULL' : same_type_constant() } 0 .. upto(12)), $typ)
	  if $what < 0.75;
	return sprintf('k %s ANY (ARRAY[%s]::%s[]) AND k %s %s', pick(qw(= < >=)),
		join(', ', map { same_type_constant() } 0 .. upto(5)), $typ,
		pick(qw(< > <= >=)), constant()) if $what < 0.8;
	return sprintf('k = ANY (ARRAY[%s]::%s[]) AND k = ANY (ARRAY[%s]::%s[])',
		join(', ', map { same_type_constant() } 0 .. 8), $typ,
		join(', ', map { same_type_constant() } 0 .. 8), $typ) if $what < 0.83;
	return 'k IS NULL' if $what < 0.87;
	return 'k IS NOT NULL' if $what < 0.9;
	return sprintf('k IS NOT NULL AND k %s %s', pick(qw(< >)), constant()) if $what < 0.93;
	return sprintf('(k < %s OR k > %s OR k IS NULL)', constant(), constant()) if $what < 0.96;
	return sprintf('k > %s AND k >= %s AND k < %s AND k <= %s AND k <= %s',
		map { constant() } 1 .. 5);
}

# Emit a query in its three ways, numbered.
sub ask
{
	my ($query) = @_;
	my $n = @asked;

	push @asked, "round $round, $typ: $query";
	foreach my $way ([ 'fptree', 'f', pick('index', 'only', 'bitmap') ],
		[ 'btree', 'b', 'index' ], [ 'seq', 'f', 'seq' ])
	{
		my ($name, $tab, $kind) = @$way;
		my %on = map { $_ => 'off' }
		  qw(seqscan indexscan indexonlyscan bitmapscan);
		my $q = $query =~ s/\bTAB\b/$tab/gr;

		$on{seqscan} = 'on' if $kind eq 'seq';
		$on{indexscan} = 'on' if $kind =~ /index|only/;
		$on{indexonlyscan} = 'on' if $kind eq 'only';
		$on{bitmapscan} = 'on' if $kind eq 'bitmap';
		emit(map { "SET enable_$_ = $on{$_}" } sort keys %on);
		$script .= "\\echo >$n $name\n";
		emit($q);
	}
	$script .= "\\echo >>\n";
	return;
}

sub query
{
	my $out = $type{$typ}->{out} // 'k';
	my $what = rand();
	my $dir = pick('ASC', 'DESC') . ' NULLS ' . pick('FIRST', 'LAST');

	if ($what < 0.35)
	{
		ask('SELECT count(*), sum(id) FROM TAB WHERE ' . condition());
	}
	elsif ($what < 0.65)
	{
		ask("SELECT $out FROM TAB WHERE " . condition() . " ORDER BY k $dir"
			  . (rand() < 0.5 ? ' LIMIT ' . upto(50) : '')
			  . (rand() < 0.2 ? ' OFFSET ' . upto(200) : ''));
	}
	elsif ($what < 0.7)
	{
		ask("SELECT $out FROM TAB ORDER BY k $dir LIMIT " . (1 + upto(300)));
	}
	elsif ($what < 0.75 && $type{$typ}->{max})
	{
		my $f = pick('min', 'max');
		ask("SELECT $f($out), count(k) FROM TAB"
			  . (rand() < 0.5 ? ' WHERE ' . condition() : ''));
	}
	elsif ($what < 0.8)
	{
		ask("SELECT $out, count(*), sum(id) FROM TAB WHERE " . condition()
			  . " GROUP BY k ORDER BY k $dir");
	}
	elsif ($what < 0.87)
	{
		my $other = rand() < 0.4 && $type{$typ}->{cross} ? pick(@{ $type{$typ}->{cross} }) : $typ;
		ask('SELECT count(*), sum(id) FROM (VALUES '
			  . join(', ', map { '(' . ($other eq $typ ? same_type_constant() : $type{$other}->{gen}->($mode)) . ')' } 0 .. 20)
			  . ") v(x) JOIN TAB ON k " . pick('=', '=', '<', '>=') . ' x');
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
				  . condition() . " ORDER BY k $dir", @walk, 'CLOSE c',
				$open ? () : 'COMMIT'));
	}
	return;
}

sub insert_rows
{
	my ($n) = @_;

	both('INSERT INTO TAB VALUES '
		  . join(', ', map { sprintf('(%d, %s)', $nextid++, nullable()) } 1 .. $n)
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
		both('UPDATE TAB SET k = ' . nullable() . ' WHERE id % 17 = ' . upto(17)
			  . (rand() < 0.5 ? ' AND ' . condition() : ''));
	}
	elsif ($what < 0.7 && $unique)
	{
		both(sprintf('INSERT INTO TAB VALUES (%d, %s) ON CONFLICT (id) DO UPDATE SET k = excluded.k',
				upto($nextid), nullable())) for 1 .. 5;
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

sub do_round
{
	@types = sort { rand() <=> 0.5 } sort keys %type unless @types;
	$typ = shift @types;
	$mode = pick('few', 'close', 'wide', 'wide');
	$nulls = pick(0, 0.1, 0.1, 0.7);
	$unique = rand() < 0.6;
	$nextid = 1;
	$open = 0;
	@pool = ();
	$round++;

	my $order = pick('ASC', 'DESC') . ' NULLS ' . pick('FIRST', 'LAST');
	my $w = pick(0, 1, 1, 2, 4);
	my $x = pick(0, 1, 1, 2, 3, 8);
	my $with = sprintf('WITH (fillfactor = %d, node_lines = %d, leaf_node_lines = %d)',
		pick(10, 50, 90, 100), $w, $x);

	note("round $round: $typ $order, $mode values, $with");
	both('DROP TABLE IF EXISTS TAB');
	both("CREATE TABLE TAB (id int, k $typ)");
	insert_rows(200) for 0 .. upto(6);
	emit("CREATE INDEX f_k ON f USING fptree (k $order) $with",
		"CREATE INDEX b_k ON b USING btree (k $order)");
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
	return;
}

do_round() while @asked < $wanted;

# --- run and compare ------------------------------------------------------------

my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/script.sql", $script);
my ($out, $err) = ('', '');
my $run = IPC::Run::run([ $node->installed_command('psql'), '-XqAt', '-v',
	'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f',
	"$dir/script.sql" ], '<', \undef, '>', \$out, '2>', \$err);
# an index that cannot be seen yet in this transaction and the like are no news
$err = join("\n", grep { !/^psql:.* (NOTICE|WARNING): / } split(/\n/, $err));
ok($run, 'all statements run') or diag(substr($err, 0, 2000));
is($err, '', 'without errors');

my %answer;
my ($n, $name);
my $bad = 0;
my $compared = 0;

foreach my $line (split(/\n/, $out))
{
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
is($compared, scalar(@asked), "$compared queries compared");
is($bad, 0, "all answers agree (seed $seed)");
$node->stop;
no_crash($node);
done_testing();

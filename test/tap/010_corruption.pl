# Damage the files of indexes in many ways (FptDamage.pm).  Whatever happens to
# a page:
#
#  - verification reports it (as index_corrupted, or as data_corrupted by the
#    buffer manager), unless it makes no difference;
#  - queries, insertions, deletions, VACUUM and the inspection functions give
#    right answers or raise such an error, and come back;
#  - a query gives a wrong answer only if verification reports the damage;
#  - the server does not crash, and no file grows without bounds.
#
# There is one table with an index for each kind of index.  TRUNCATE gives it
# new files, which no buffer knows; the files as they were saved in the
# beginning are written over them, the index's with damage.  So a round takes no
# restart.
#
# FPT_CORRUPTION_ROUNDS sets the number of random rounds, FPT_CORRUPTION_SEED
# the seed they come from, FPT_CORRUPTION_FIRST the number of the first one.
# FPT_CORRUPTION_WAYS is a regular expression that picks some of the ways by
# name, such as '^random 17 ' or '^zeroed'.  FPT_CORRUPTION_PATIENCE is for
# machines that are busy with something else.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use IPC::Run;

use lib $FindBin::RealBin;
use FptDamage;
use FptTest qw(with_lines);

my $rounds = $ENV{FPT_CORRUPTION_ROUNDS} // 150;
my $first = $ENV{FPT_CORRUPTION_FIRST} // 0;
my $seed = $ENV{FPT_CORRUPTION_SEED} || 20020603;
note("seed $seed, $rounds random rounds from $first on");

# Seconds after which a round hangs in a wait that nothing ends.
my $patience = $ENV{FPT_CORRUPTION_PATIENCE} // 180;
my $timeout = int($patience / 2);

# Is this a proper way to report damage?  SQLSTATEs index_corrupted and
# data_corrupted; an unknown format version; and what core raises for TIDs that
# point to places outside the table or to other rows, for keys out of order,
# and for NULLs among values, all of which a scan cannot know.
sub proper_error
{
	my ($line, $way) = @_;
	return $line =~ /^ERROR XX00[12]/
	  || ($line =~ /^ERROR 0A000/ && $way->{name} =~ /^version|random/)
	  || $line =~ /^ERROR (XX000|58P01) could not open file .*\(target block/
	  || $line =~ /^ERROR XX000 tuple offset out of range/
	  || $line =~ /^ERROR XX000 mergejoin input data is out of order/
	  || $line =~ /^ERROR XX000 found unexpected null value in index/
	  || $line =~ /^ERROR 23505 duplicate key value violates unique/;
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', qq(
autovacuum = off
fsync = off
full_page_writes = off
wal_level = replica
max_wal_senders = 0
jit = off
log_statement = none
log_min_error_statement = panic
max_parallel_workers_per_gather = 0
enable_seqscan = off
restart_after_crash = on
shared_buffers = 16MB
statement_timeout = ${timeout}s
temp_file_limit = 64MB
));
$node->start;
my $bs = $node->safe_psql('postgres', 'SHOW block_size');
block_size($bs);

$node->safe_psql('postgres', q{
CREATE EXTENSION fptree;

-- a digest of what a query returns, or the SQLSTATE it fails with
CREATE FUNCTION try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	detail text;
BEGIN
	EXECUTE query INTO result;
	RETURN coalesce(result, 'null');
EXCEPTION WHEN query_canceled OR assert_failure OR OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN 'ERROR ' || sqlstate || ' ' || sqlerrm || ' ' || detail;
END $$;

-- the same with nodes of plans switched on (1) or off (0)
CREATE FUNCTION try_plan(nodes text, query text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('enable_' || name, substr(nodes, i::int, 1), true)
	FROM unnest(string_to_array('seqscan,indexscan,indexonlyscan,bitmapscan,'
								|| 'sort,hashjoin,material', ','))
		 WITH ORDINALITY AS n (name, i);
	RETURN try(query);
END $$;

CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	lines text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		lines := lines || line || E'\n';
	END LOOP;
	RETURN lines;
END $$;

-- what a cursor sees that goes to and fro
CREATE FUNCTION scroll(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	seen text[];
BEGIN
	OPEN c SCROLL FOR EXECUTE query;
	FOR i IN 1 .. 400 LOOP
		IF i % 9 < 6 THEN
			FETCH c INTO r;
		ELSE
			FETCH PRIOR FROM c INTO r;
		END IF;
		seen := seen || r::text;
		IF i % 100 = 0 THEN
			MOVE FORWARD 150 IN c;
		END IF;
	END LOOP;
	CLOSE c;
	RETURN md5(array_to_string(seen, ',', 'null'));
END $$;

-- the inspection functions, the last two for all pages of an index
CREATE FUNCTION try_pages(index regclass) RETURNS SETOF text
LANGUAGE sql AS $$
	SELECT try(format('SELECT count(*) FROM %s(%L)', f, index))
	FROM unnest('{fptree_metap,fptree_stat}'::text[]) f
	UNION ALL
	SELECT try(format('SELECT count(*) FROM %s(%L, %s)', f, index, p))
	FROM generate_series(0, pg_relation_size(index)
						 / current_setting('block_size')::int8 - 1) p,
		 unnest('{fptree_page_stats,fptree_page_items}'::text[]) f
$$;
});

# ----------------------------------------------------------------------------
# The indexes

# Kinds of indexes: deep trees of tiny pages, ordinary ones, unique ones,
# partial ones, such with many NULLs; of general keys: deep trees of strings,
# several columns and INCLUDE, pages with a dictionary.
my %kinds = (
	deep => {
		column => 'u', order => 'u', reverse => 'u DESC', rows => 3000,
		lines => '1,2' },
	plain => {
		column => 'i', order => 'i', reverse => 'i DESC', rows => 4000,
		with => 'WITH (fillfactor = 10)' },
	down => {
		column => 'b', order => 'b DESC NULLS LAST',
		reverse => 'b NULLS FIRST', rows => 3000, unique => 'UNIQUE',
		with => 'WITH (fillfactor = 10)' },
	part => {
		column => 'u', order => 'u DESC', reverse => 'u', rows => 1000,
		where => 'b % 3 > 0',
		lines => '1,2' },
	half => {
		column => 'f', order => 'f NULLS FIRST', reverse => 'f DESC NULLS LAST',
		rows => 2000, lines => '1,1' },
	text => {
		column => 's', order => 's', reverse => 's DESC', rows => 1000,
		with => 'WITH (fillfactor = 30)', lines => '0,3' },
	many => {
		column => 'd', order => 'd DESC', reverse => 'd', rows => 2000,
		columns => 'd DESC, f NULLS FIRST, i',
		with => 'INCLUDE (b) WITH (fillfactor = 50)' },
	few => {
		column => 'd', order => 'd', reverse => 'd DESC', rows => 6000,
		some => 'b % 16 = 1', with => 'WITH (fillfactor = 10)' });
my @kinds = sort keys %kinds;

# Rows of numbers FIRST to LAST; COND tells those with ordinary keys from
# those with keys beyond all others.
my $rowsql = q{INSERT INTO TBL (i, b, u, f)
	SELECT CASE WHEN i % 40 = 0 THEN NULL
				WHEN COND THEN i * 7919 % 20011 / 2 ELSE i * 10 END,
		   i << 10 | i % 7,
		   CASE WHEN i % 40 = 0 THEN NULL
				WHEN COND THEN md5((i + SEED)::text)::uuid
				ELSE overlay(md5(i::text) placing 'ffff' from 1)::uuid END,
		   CASE WHEN i % 2 = 0 THEN NULL
				WHEN COND THEN sin(i + SEED) * 1e6 ELSE i + 1e6 END
	FROM generate_series(FIRST, LAST) i};

# Half of the rows are there at build, the others come later.  A quarter of the
# rows, from the middle of the key space, and some from everywhere go, so that
# VACUUM unlinks pages.  New rows with keys beyond the others take over their
# places in the heap, and their pages; so there are leaves that only lost
# entries.  Then some rows are dead in the index, and marked so.  Each of these
# states is kept.
sub history
{
	my ($name) = @_;
	my $k = $kinds{$name};
	my $rows = $k->{rows};
	my $unique = $k->{unique} // '';
	my $insert = sub {
		my ($from, $to, $cond) = @_;
		my %with = (
			FIRST => $from, LAST => $to, COND => $cond, SEED => $seed);
		return $rowsql =~ s/\b(FIRST|LAST|COND|SEED)\b/$with{$1}/gr;
	};

	return (
		q{
CREATE TABLE TBL (i int4, b int8, u uuid, f float8,
	s text COLLATE "C" GENERATED ALWAYS AS (u::text || ', said the mock') STORED,
	d text COLLATE "C"
		GENERATED ALWAYS AS ('key ' || lpad((i / 60)::text, 4, '0')
							 || chr(97 + i / 60 % 26) || ' of few') STORED);
} . $insert->(1, $rows / 2, 'true') . qq{;
SET fptree.debug_node_lines = 'LINES';
CREATE $unique INDEX IDX ON TBL USING fptree (DEF) OPTIONS WHERE PRED},
		$insert->($rows / 2 + 1, $rows, 'true'),
		qq{
DELETE FROM TBL WHERE ctid IN (SELECT ctid FROM TBL ORDER BY $k->{order}
	OFFSET $rows / 3 LIMIT $rows / 4) OR b % 13 = 0;
VACUUM (INDEX_CLEANUP ON) TBL},
		$insert->($rows + 1, $rows + $rows / 8, 'false') . q{;
VACUUM (INDEX_CLEANUP ON) TBL;
DELETE FROM TBL WHERE b % 11 = 0 AND b < 2e5;
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT count(*) FROM (SELECT * FROM TBL ORDER BY ORD) x});
}

my %bounds = (
	u => [ "'20000000-0000-0000-0000-000000000200'",
		"'a0000000-0000-0000-0000-000000000200'" ],
	i => [ 2500, 7500 ], b => [ 200000, 2500000 ], f => [ -5e5, 7e5 ],
	s => [ "'2'", "'a00'" ], d => [ "'key 0042q'", "'key 0125v of few'" ]);

sub fill_in
{
	my ($sql, $name) = @_;
	my $k = $kinds{$name};
	my $bounds = $bounds{ $k->{column} };
	my %with = (
		IDX => "t_${name}_idx", TBL => "t_$name", COL => $k->{column},
		ORD => $k->{order}, REV => $k->{reverse}, LO => $bounds->[0],
		HI => $bounds->[1], PRED => $k->{where} // 'true',
		SOME => $k->{some} // 'true', DEF => $k->{columns} // $k->{order},
		OPTIONS => $k->{with} // '', LINES => $k->{lines} // '');

	$sql =~ s/\b(IDX|TBL|COL|ORD|REV|LO|HI|PRED|SOME|DEF|OPTIONS|LINES)\b/$with{$1}/g;
	return $sql;
}

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

sub path_of
{
	my ($rel) = @_;
	return $node->data_dir . '/'
	  . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$rel')");
}

my @files = map { [ 't_%s', $_ ] } '', '_fsm', '_vm';
push @files, map { [ 't_%s_idx', $_ ] } '', '_fsm';

# Create an index and return what is known of it.
sub make_index
{
	my ($name) = @_;
	my $v = { past => [] };

	foreach my $sql (history($name))
	{
		push @{ $v->{past} }, $v->{file} if defined $v->{file};
		$node->safe_psql('postgres',
			join(";\n", fill_in($sql, $name), 'CHECKPOINT'));
		$v->{file} = read_file(path_of("t_${name}_idx"));
	}
	$v->{roles} = roles($name);

	# all forks of the table and of the index
	foreach my $f (@files)
	{
		my $path = path_of(sprintf($f->[0], $name)) . $f->[1];
		$v->{saved}->{ $f->[0] . $f->[1] } = read_file($path) if -e $path;
	}
	return $v;
}

# Pages by role.  The leaf is one from the middle, the parent is the page with
# its downlink.
sub roles
{
	my ($name) = @_;
	my $ix = "t_${name}_idx";
	my $pages =
	  "(SELECT s.*, row_number() OVER (PARTITION BY level ORDER BY page) AS nr"
	  . " FROM generate_series(1, pg_relation_size('$ix') / $bs - 1) p,"
	  . " fptree_page_stats('$ix', p) s) p";
	my $one = sub { return $node->safe_psql('postgres', $_[0]); };
	my %r = (root => $one->("SELECT root FROM fptree_metap('$ix')"));
	my $leaves =
	  "FROM $pages WHERE type = 'leaf' AND left_page > 0 AND right_page > 0";

	$r{leaf} = $one->(
		"SELECT page $leaves AND nr > (SELECT max(nr) / 2 $leaves)"
		  . " AND (SELECT right_page > 0 AND level = 0"
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
		  . " AND left_page > 0 AND right_page > 0 LIMIT 1), $r{root})");
	$r{deleted} = $one->("SELECT min(page) FROM $pages WHERE type = 'deleted'");
	$r{deleted} = undef if $r{deleted} eq '';
	$r{level} = $one->("SELECT level FROM fptree_metap('$ix')");
	note("$name: " . join(', ', map { "$_ $r{$_}" }
		  grep { defined $r{$_} } sort keys %r));
	return \%r;
}

my %index = map { $_ => make_index($_) } @kinds;
my %foreign = (deep => 'plain', plain => 'down', down => 'deep', part => 'plain',
	half => 'plain', text => 'many', many => 'few', few => 'plain');
foreach my $name (@kinds)
{
	my $v = $index{$name};

	# another index with the same definition, on other rows in other places
	$node->safe_psql('postgres', fill_in(qq{
CREATE TABLE other_$name AS SELECT * FROM TBL WHERE b % 7 > 0
	ORDER BY md5(b::text);
SET fptree.debug_node_lines = 'LINES';
CREATE INDEX other_${name}_idx ON other_$name USING fptree (DEF)
	OPTIONS WHERE PRED; CHECKPOINT}, $name));
	$v->{other} = read_file(path_of("other_${name}_idx"));
	$v->{foreign} = $index{ $foreign{$name} }->{file};
}
cmp_ok($index{deep}->{roles}->{level}, '>=', 3, 'deep tree has many levels');
ok(defined $index{deep}->{roles}->{deleted}, 'deep tree has deleted pages');

# ----------------------------------------------------------------------------
# What is done with an index

my $parent_check =
  q{SELECT fptree_index_parent_check('IDX', true, true, true)};
my $check = q{SELECT fptree_index_check('IDX', true, true)};

# [name, query]; results are compared with those without the index
my $agg = q{count(*) || ' ' || coalesce(md5(string_agg(x::text, ',')), '')};
my $points = 'FROM (SELECT t.COL FROM TBL t WHERE PRED ORDER BY t.b LIMIT 100) p'
  . ' LEFT JOIN (SELECT * FROM TBL WHERE PRED) t ON t.COL = p.COL';
my @queries = (
	[ 'forward', "SELECT $agg FROM (SELECT COL AS x FROM TBL WHERE PRED"
		  . " ORDER BY ORD) q" ],
	[ 'backward', "SELECT $agg FROM (SELECT COL AS x FROM TBL WHERE PRED"
		  . " ORDER BY REV) q" ],
	[ 'range', "SELECT $agg FROM (SELECT COL AS x FROM TBL WHERE PRED"
		  . " AND COL > LO AND COL < HI ORDER BY ORD) q" ],
	[ 'rows', "SELECT $agg FROM (SELECT t AS x FROM TBL t WHERE PRED"
		  . " AND COL > LO ORDER BY COL, b) q" ],
	[ 'nulls', "SELECT $agg FROM (SELECT b AS x FROM TBL WHERE PRED"
		  . " AND COL IS NULL ORDER BY b) q" ],
	[ 'second', "SELECT $agg FROM (SELECT b AS x FROM TBL WHERE PRED"
		  . " AND i BETWEEN 1000 AND 4000 ORDER BY b) q" ],
	[ 'points', "SELECT count(t.COL) || ' ' || count(*) $points" ],
	[ 'any', "SELECT $agg FROM (SELECT COL AS x FROM TBL WHERE PRED"
		  . " AND COL = ANY (ARRAY(SELECT COL FROM TBL WHERE b % 5 = 1))"
		  . " ORDER BY ORD) q" ],
	[ 'merge', "SELECT $agg FROM (SELECT COL AS x"
		  . " FROM (SELECT COL FROM TBL WHERE PRED) a"
		  . " JOIN (SELECT COL FROM TBL WHERE PRED AND SOME) t USING (COL)"
		  . " ORDER BY ORD) q" ],
	[ 'ends', 'SELECT ' . join(q{ || ' ' || },
			map { "(SELECT COL FROM TBL WHERE PRED AND COL IS NOT NULL"
				. " ORDER BY $_ LIMIT 1)" } qw(ORD REV)) ],
	[ 'scroll', 'SELECT scroll($s$SELECT COL FROM TBL WHERE PRED'
		  . ' ORDER BY ORD$s$)' ]);

# Plans: seqscan, indexscan, indexonlyscan, bitmapscan, sort, hashjoin, material
my $seqplan = '1000100';
my @plans = (
	[ 'index', '0100000' ], [ 'only', '0010000' ], [ 'bitmap', '0001100' ]);

# Changes that reach all pages; the last ones go through VACUUM.
my @changes = (
	'INSERT INTO TBL (i, b, u, f)'
	  . ' SELECT i, i + 1e9, md5(i::text)::uuid, i * -1.5'
	  . ' FROM generate_series(1, 700) i',
	'UPDATE TBL SET i = i + 1, b = -b, u = md5(u::text || 1)::uuid,'
	  . ' f = -f'
	  . ' WHERE b % 3 = 0',
	'DELETE FROM TBL WHERE b % 2 = 0',
	'VACUUM (INDEX_CLEANUP ON) TBL',
	'INSERT INTO TBL (i, b, u, f)'
	  . ' SELECT i * 3, i * 2000 + 9, md5(i::text)::uuid, i / 7.0'
	  . ' FROM generate_series(1, 700) i',
	'ANALYZE TBL',
	'DELETE FROM TBL',
	'VACUUM (INDEX_CLEANUP ON) TBL');

sub try_sql
{
	my ($sql, $name) = @_;
	return 'SELECT try($q$' . fill_in($sql, $name) . "\$q\$);\n";
}

# One statement for many queries, given as [plan, query].  A server with
# assertions looks at all of its memory after each statement.
sub try_queries
{
	my ($name, @list) = @_;
	my $sql = join(",\n", map {
			"('$_->[0]', \$q\$" . fill_in($_->[1], $name) . '$q$)' } @list);
	return '' if !@list;
	return "SELECT try_plan(plan, query) FROM (VALUES $sql) v (plan, query);\n";
}

# ----------------------------------------------------------------------------
# A session that lasts

my $session;

sub session
{
	my $s = { in => '', out => '', err => '' };

	return $session if $session;
	$s->{timer} = IPC::Run::timeout($patience);
	$s->{run} = IPC::Run::start(
		[
			$node->installed_command('psql'), '-XqAt', '-d',
			$node->connstr('postgres'), '-f', '-', '-v', 'ON_ERROR_STOP=0'
		],
		'<', \$s->{in}, '>', \$s->{out}, '2>', \$s->{err}, $s->{timer});
	$session = $s;
	return $s;
}

# Run statements.  Returns how it ended (empty: well), and lines of output.
sub run_sql
{
	my ($sql) = @_;
	my $s = session();
	my $how = '';
	my @out;

	$s->{out} = $s->{err} = '';
	$s->{in} .= "$sql\n\\echo END OF ROUND\n";
	$s->{timer}->start($patience);
	my $alive = eval {
		$s->{run}->pump
		  while $s->{run}->pumpable && $s->{out} !~ /^END OF ROUND$/m;
		1;
	};
	$s->{timer}->reset;
	@out = split /\n/, $s->{out};
	if (@out && $out[-1] eq 'END OF ROUND')
	{
		pop @out;
		return ('', @out);
	}

	# The session is gone, or waits for something that will not come.
	if (!$alive)
	{
		$how = 'hangs';
		$node->stop('immediate');
		$node->start;
	}
	else
	{
		$how = 'is lost: ' . ($s->{err} =~ s/\n/ /gr);
	}
	eval { $s->{run}->kill_kill };
	$session = undef;
	$node->poll_query_until('postgres', 'SELECT true')
	  or BAIL_OUT('the server does not come back');
	return ($how, @out);
}

# Give the table of this kind new files, with these contents of the index.
# Returns how that ended.
sub put_files
{
	my ($name, $file) = @_;
	my $v = $index{$name};
	my ($how, @paths) = run_sql(fill_in(
		with_lines('LINES', 'TRUNCATE TBL')
		  . "UPDATE pg_class SET relfrozenxid = '3' WHERE oid = 'TBL'::regclass;"
		  . q{SELECT pg_relation_filepath('TBL');}
		  . q{SELECT pg_relation_filepath('IDX');}, $name));
	my %path = ('t_%s' => $paths[0], 't_%s_idx' => $paths[1]);

	return $how || 'no paths' if @paths != 2;
	foreach my $f (@files)
	{
		my $data = $v->{saved}->{ $f->[0] . $f->[1] };
		my $path = $node->data_dir . '/' . $path{ $f->[0] } . $f->[1];

		$data = $file if $f->[0] eq 't_%s_idx' && $f->[1] eq '';
		write_file($path, $data) if defined $data;
	}
	$v->{path} = $node->data_dir . '/' . $path{'t_%s_idx'};
	return '';
}

# The right answers, and the plans that use the index for a query.
my (%right, %runs);
foreach my $name (@kinds)
{
	my $how = put_files($name, $index{$name}->{file});
	my %uses = (index => 'Index Scan', only => 'Index Only Scan',
		bitmap => 'Bitmap Index Scan');
	my @out;

	($how, @out) = run_sql(
		try_queries($name, map { [ $seqplan, $_->[1] ] } @queries));
	is($how, '', "queries on kind $name");
	is_deeply([ grep { /^ERROR/ } @out ], [], "answers on kind $name");
	$right{$name} = [@out];
	foreach my $plan (@plans)
	{
		foreach my $i (0 .. $#queries)
		{
			my $sql = $queries[$i]->[1];

			$sql = $1 if $sql =~ /\$s\$(.*)\$s\$/;
			($how, @out) = run_sql(
				try_queries($name, [ $plan->[1], "SELECT plan(\$e\$$sql\$e\$)" ]));
			push @{ $runs{$name} }, [ $plan, $i ]
			  if grep { /$uses{$plan->[0]}.*t_${name}_idx/ } @out;
		}
	}
	note("$name: "
		  . join(', ', map { "$_->[0]->[0] $queries[$_->[1]]->[0]" }
			  @{ $runs{$name} }));
	cmp_ok(scalar(@{ $runs{$name} }), '>=', 25,
		"queries use the index of kind $name");
}

# ----------------------------------------------------------------------------
# Rounds

my %tally;
my (@unnoticed, @false_alarms, @bad_errors, @silent, @lost, @grown);

# Verification; is the damage noticed?
sub look_at
{
	my ($way, @out) = @_;

	$way->{noticed} = ($out[0] // '') =~ /^ERROR/ ? 1 : 0;
	my $light = ($out[1] // '') =~ /^ERROR/ ? 1 : 0;

	note("$way->{name}: " . ($way->{did} ? "$way->{did}: " : '')
		  . ($out[0] || 'sound'));
	$tally{ $way->{noticed} ? 'noticed' : 'sound' }++;
	$tally{'noticed without ShareLock'}++ if $light;
	push @unnoticed, $way->{name}
	  if $way->{must} && $way->{changed} && !$way->{noticed};
	push @false_alarms, "$way->{name}: $_"
	  foreach grep { !$way->{changed} && /^ERROR/ } @out;
	push @false_alarms, "$way->{name}: only the light check objects: $out[1]"
	  if $light && !$way->{noticed};
	foreach my $line (@out)
	{
		push @bad_errors, "$way->{name}: $line"
		  if $line =~ /^ERROR/ && !proper_error($line, $way);
	}
	return;
}

# Answers to these queries under these plans, then output of inspection.
sub compare
{
	my ($way, $some, @out) = @_;

	foreach my $run (@$some)
	{
		my ($plan, $i) = @$run;
		my $what = "$way->{name}: $plan->[0] $queries[$i]->[0]";
		my $right = $right{ $way->{kind} }->[$i];
		my $line = shift(@out) // 'nothing';

		if ($line =~ /^ERROR/)
		{
			$tally{'query errors'}++;
			push @bad_errors, "$what: $line"
			  if !$way->{noticed} || !proper_error($line, $way);
		}
		elsif ($line ne $right)
		{
			$tally{'wrong answers'}++;
			push @silent, "$what: $line, not $right" if !$way->{noticed};
		}
		else
		{
			$tally{'right answers'}++;
		}
	}
	foreach my $line (@out)
	{
		push @bad_errors, "$way->{name}: inspection: $line"
		  if $line =~ /^ERROR/ && $line !~ /metapage/
		  && !proper_error($line, $way);
	}
	return;
}

# Errors that the changes raised.
sub judge_changes
{
	my ($way, @out) = @_;

	for (my $i = 0; $i < @changes; $i++)
	{
		my $line = $out[$i] // 'nothing';

		next if $line !~ s/^(?!00000)(\S{5}) /ERROR $1 /;
		$tally{'errors of changes'}++;
		push @bad_errors, "$way->{name}: $changes[$i]: $line"
		  if !$way->{noticed} || !proper_error($line, $way);
	}
	return;
}

sub play
{
	my ($way) = @_;
	my $name = $way->{kind};
	my $v = { %{ $index{$name} } };
	my ($how, @out);
	my $result = "\\echo :SQLSTATE :LAST_ERROR_MESSAGE\n";

	srand($seed);
	my @pages = $way->{code}->($v);
	$way->{changed} = $v->{file} ne $index{$name}->{file};
	if ($way->{changed})
	{
		my %pages = map { $_ => 1 } @pages;

		$tally{'damaged indexes'}++;
		$tally{'damaged pages'} += keys %pages;
	}
	$how = put_files($name, $v->{file});
	if ($how)
	{
		push @lost, "$way->{name}: TRUNCATE $how";
		return;
	}

	# verification, queries with several plans, inspection
	($how, @out) = run_sql(
		try_queries($name, map { [ $seqplan, $_ ] } $parent_check, $check));
	push @lost, "$way->{name}: verification $how" if $how;
	look_at($way, @out);

	# what is noticed must not crash or hang, but all answers are allowed: then
	# a third of the queries, by the dice, will do
	my @some = grep { !$way->{noticed} || rand() < 0.34 } @{ $runs{$name} };
	($how, @out) = run_sql(
		try_queries($name,
			map { [ $_->[0]->[1], $queries[ $_->[1] ]->[1] ] } @some)
		  . fill_in("SELECT try_pages('IDX');", $name));
	push @lost, "$way->{name}: queries $how" if $how;
	compare($way, \@some, @out);

	# changes
	($how, @out) = run_sql(join('',
			map { fill_in($_, $name) . ";\n$result" } @changes));
	push @lost, "$way->{name}: changes $how" if $how;
	judge_changes($way, @out);
	push @grown, "$way->{name}: " . (-s $v->{path}) . ' bytes'
	  if defined $v->{path} && -e $v->{path}
	  && -s $v->{path} > 3 * length($index{$name}->{file}) + 100 * $bs;

	# an index that was called sound stays sound; REINDEX repairs all others
	my $sql = $way->{noticed} ? fill_in(with_lines('LINES', 'REINDEX INDEX IDX'), $name) : '';
	($how, @out) = run_sql($sql . try_sql($parent_check, $name));
	push @bad_errors, "$way->{name}: "
	  . ($way->{noticed} ? 'after REINDEX' : 'later') . ": $how @out"
	  if $how || @out != 1 || $out[0] =~ /^ERROR/;
	return;
}

my @ways = fixed_ways(\@kinds, [ 'deep', 'plain', 'text' ],
	[ 'text', 'many', 'few' ], 'few', [ 'plain', 'text' ], 3);
push @ways, map { random_way($seed, $_, $kinds[ $_ % @kinds ]) }
  $first .. $first + $rounds - 1;
if ($ENV{FPT_CORRUPTION_WAYS})
{
	@ways = grep { $_->{name} =~ /$ENV{FPT_CORRUPTION_WAYS}/ } @ways;
}
foreach my $way (@ways)
{
	play($way);
}

note("$_: $tally{$_}") foreach sort keys %tally;

sub none_of
{
	my ($list, $what) = @_;
	ok(!@$list, $what)
	  or diag(join("\n", @$list > 100 ? @$list[ 0 .. 99 ] : @$list));
	return;
}

note("rounds: " . scalar(@ways));
none_of(\@lost, 'no session was lost');
none_of(\@unnoticed, 'damage is noticed by verification');
none_of(\@false_alarms, 'verification objects to damage only');
none_of(\@silent, 'no wrong answers from an index found sound');
none_of(\@bad_errors, 'errors are the right ones');
none_of(\@grown, 'no index grows without bounds');

if ($session)
{
	$session->{in} .= "\\q\n";
	eval { $session->{run}->finish };
}
my $log = slurp_file($node->logfile);
my @bad = grep {
	/terminated by signal|PANIC|TRAP:/
	  || /WARNING:.*(past chunk end|chunk|leak|alloc set)/i
} split(/\n/, $log);
none_of(\@bad, 'the server did not crash, leak or overrun its memory');
is($node->safe_psql('postgres', 'SELECT 1'), '1', 'the server is up');
$node->stop;

done_testing();

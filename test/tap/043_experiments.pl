# docs/experiments.md: every command in it runs as it stands, and what it prints
# comes: plans, pages read, and counters of read-ahead.
#
# Not compared is what depends on the version or on what ran before: pages found
# in shared buffers, planning, where EXPLAIN has the line about read-ahead.
#
# FPT_EXPERIMENTS_WRITE=FILE writes the document with what has come on version
# 15, to renew it.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $file = abs_path(dirname(__FILE__) . '/../../docs/experiments.md');
my $text = slurp_file($file);
# commands, their language, and what they print
my @blocks;

while ($text =~ /^```(sh|sql)\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?/gms)
{
	push @blocks, { language => $1, commands => $2, said => $3 };
}

# What counts of the lines that psql or a document has
sub counts
{
	my (@plan, @ahead);

	for (split(/\n/, shift))
	{
		s/(rows=\d+)\.00\b/$1/;
		s/ hit=\d+//;
		s/^( *)Buffers: shared$/$1Buffers: /;
		# in the order of their names from 16 on no more
		s/^(Settings: )(.*)/$1 . join(', ', sort split(m{, }, $2))/e;
		push @ahead, $1 if /(leaf pages read .*)/;
		next if /Read-Ahead|leaf pages read|Index Searches|^ *Memory|^ *Storage/;
		next if /^ *Planning|^  Buffers:|^ *Buffers: *$|^$/;
		push @plan, $_;
	}
	return join("\n", @plan, @ahead);
}

# Lines about planning are not shown.
sub shown
{
	return shift =~ s/^Planning:\n(?:  .*\n)*//mgr;
}

my $node = PostgreSQL::Test::Cluster->new('node');
$node->init;
# A page that is being written is pinned, and VACUUM passes it by.  With the
# wal_level that a node has by itself, commits read small new files.
$node->append_conf('postgresql.conf', q{
wal_level = replica
fsync = off
autovacuum = off
bgwriter_lru_maxpages = 0
checkpoint_timeout = 1d
});
$node->start;
local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port,
	PGDATABASE => 'postgres');
delete $ENV{PGOPTIONS};

cmp_ok(scalar @blocks, '>=', 20, 'the document has commands');
while (@blocks && $blocks[0]{language} eq 'sh')
{
	my $block = shift @blocks;

	$node->command_ok([ 'sh', '-e', '-c', $block->{commands} ],
		$block->{commands} =~ s/\n$//r);
}

# All SQL in one session; after each block a line that nothing else prints
my ($script, $n) = ('', 0);
$script .= $_->{commands} . "\\echo \@\@\n"
  for grep { $_->{language} eq 'sql' } @blocks;
my ($out, $err) = ('', '');
ok(IPC::Run::run([ 'psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d',
			'experiments' ], '<', \$script, '>', \$out, '2>', \$err),
	'all statements run');
is($err, '', 'without complaints');
my @came = split(/^\@\@\n/m, $out, -1);

for my $block (@blocks)
{
	if ($block->{language} eq 'sh')
	{
		$node->command_ok([ 'sh', '-e', '-c', $block->{commands} ],
			$block->{commands} =~ s/\n$//r);
		next;
	}
	my ($first) = $block->{commands} =~ /((?:SELECT|:explain).*)/;
	my $came = $block->{came} = shown($came[ $n++ ] // '');

	is(counts($came), counts($block->{said} // ''),
		'block ' . $n . ': ' . ($first // $block->{commands} =~ s/\n.*//sr));
	next unless defined $block->{said};
	# The comparison is not blind: with any other number of pages it would fail.
	for my $number ($block->{said} =~ /(leaf pages read \d+|distance \d+)/)
	{
		my $other = $block->{said} =~ s/\Q$number\E(?!\d)/${number}0/r;

		isnt(counts($came), counts($other), "... and not \"${number}0\"");
	}
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_database
	WHERE datname = 'experiments'}), 0, 'nothing is left');

if (my $to = $ENV{FPT_EXPERIMENTS_WRITE})
{
	for my $block (grep { defined $_->{said} } @blocks)
	{
		my $was = "```sql\n$block->{commands}```\n\n```\n$block->{said}```\n";
		my $is = "```sql\n$block->{commands}```\n\n```\n$block->{came}```\n";
		my $at = index($text, $was);

		substr($text, $at, length $was) = $is;
	}
	open(my $f, '>', $to) or die "$to: $!";
	print $f $text;
	close($f);
}
$node->stop;
done_testing();

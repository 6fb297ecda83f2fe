# The scripts of bench/pgbench: each of them by hand, as its documents say, and
# all of them by bench/pgbench/run, which compares both sides' answers.  Scans of
# bench/run and bench/cold, of few rows: their plans are those that they measure.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use JSON::PP qw(decode_json);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = abs_path(dirname(__FILE__) . '/../../bench/pgbench');
my @scripts = map { basename($_, '.sql') }
  grep { !m{/setup\.sql$} } sort glob("$dir/*.sql");
my ($bindir) = map { chomp; $_ } `pg_config --bindir`;

plan skip_all => 'there is no pgbench' unless -x "$bindir/pgbench";
plan skip_all => 'there is no python3' if system('python3 -c ""') != 0;

my $node = PostgreSQL::Test::Cluster->new('node');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\n");
$node->start;
local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port,
	PGDATABASE => 'postgres');
delete $ENV{PGOPTIONS};

sub run_bench
{
	my ($out, $err) = ('', '');
	my $ok = IPC::Run::run([ "$dir/run", '--connect', '--pg-config',
			"$bindir/pg_config", @_ ], '>', \$out, '2>', \$err);

	return ($ok, $out, $err);
}

sub schemas
{
	return $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'bench%'");
}

cmp_ok(scalar @scripts, '>=', 9, 'there are scripts');

# All of them, both sides: plans, answers, rows that were written.
my $json = PostgreSQL::Test::Utils::tempdir() . '/result.json';
my ($ok, $out, $err) = run_bench('--scale', 1, '--rounds', 2, '--seconds', '0.01',
	'--clients', '1,2', '--json', $json);
ok($ok, 'bench/pgbench/run ends well') or diag($err);
my $doc = decode_json(slurp_file($json));
for my $script (@scripts)
{
	like($err, qr/ $script: same answers, Index (?:Only )?Scan(?: or Fptree Count)? on \w+$/m,
		"$script: same plan and answers");
	my @lines = grep { $_->{group} eq $script } @{ $doc->{results} };
	for my $n (1, 2)
	{
		my @mine = grep { $_->{name} =~ /, $n client/ } @lines;

		is(join(', ', map { $_->{name} =~ s/^.*clients?, //r } @mine),
			"transactions, latency, 50%, latency, 95%, latency, 99%, server's CPU",
			"$script: what is measured, clients: $n");
		is(scalar(grep {
					my $line = $_;
					grep { @{ $line->{$_}{samples} } != 2 } qw(reference candidate)
				} @mine),
			0, "$script: both sides, each round");
		ok((!grep { $_->{reference}{median} <= 0 || $_->{candidate}{median} <= 0 }
					grep { $_->{name} !~ /CPU/ } @mine),
			"$script: figures");
	}
}
is($doc->{meta}{rows}, 100000, 'what was done is in the JSON');
like($out, qr/^range_short, 1 client, transactions +tps +\d/m, 'and there is a table');
is(schemas(), 0, 'nothing is left in the database');

# By hand
for my $am (qw(btree fptree))
{
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-v',
			"am=$am", '-v', 'scale=1', '-f', "$dir/setup.sql" ],
		"setup.sql with $am");
	local $ENV{PGOPTIONS} = "-c search_path=bench_$am,public";
	for my $script (@scripts)
	{
		$node->command_like([ 'pgbench', '-n', '-s', 1, '-t', 3, '-f',
				"$dir/$script.sql" ],
			qr{processed: 3/3$}m, "pgbench -f $script.sql with $am");
	}
}
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class c JOIN pg_am a ON
	a.oid = c.relam WHERE amname = 'fptree' AND relnamespace =
	'bench_fptree'::regnamespace"), 4, 'the indexes are of the access method');

# What is there already is nobody's to drop.
($ok, $out, $err) = run_bench('--scale', 1, '--only', 'range_short');
ok(!$ok, 'an existing schema is not touched');
like($err, qr/there is a schema bench_btree already/, 'but named');
is(schemas(), 2, 'and stays');

# Sides that differ are noticed: one has lost its rows.
$node->safe_psql('postgres', 'DROP SCHEMA bench_btree, bench_fptree CASCADE');
$node->safe_psql('postgres', q{
CREATE FUNCTION lose() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('search_path') ~ 'bench_fptree' THEN
		DELETE FROM bench_fptree.items WHERE k = 16;
	END IF;
END $$;
CREATE EVENT TRIGGER lose ON ddl_command_end WHEN TAG IN ('CREATE INDEX')
	EXECUTE FUNCTION lose();
});
($ok, $out, $err) = run_bench('--scale', 1, '--only', 'range_short');
ok(!$ok, 'different rows are an error');
like($err, qr/^bench\/pgbench\/run: rows: the two sides disagree/m, 'which says so');
is(schemas(), 0, 'and leaves nothing');
$node->stop;

# The programs that measure scans start servers of their own, and end with an
# error if a plan is not the one that is meant.
for ([ 'run', 'index-only count, ranges of 1,000', '--only', 'range' ],
	[ 'cold', '1,000 keys, ms', '--only', 'range', '--own-files' ])
{
	my ($program, $figure, @options) = @$_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/figures.json';

	($out, $err) = ('', '');
	$ok = IPC::Run::run([ "$dir/../$program", '--pg-config', "$bindir/pg_config",
			'--figures', $file, '--rows', 10000, '--rounds', 1, @options ], '>', \$out, '2>', \$err);
	ok($ok, "bench/$program ends well") or diag($err);
	my ($line) = $ok ? grep { $_->{name} eq $figure }
	  @{ decode_json(slurp_file($file))->{figures} } : ();
	ok($line && $line->{btree} > 0 && $line->{fptree} > 0,
		"bench/$program writes figures of both sides");
}
done_testing();

# demo/run with few rows: in a pipe it comes to its end, shows what it is for, plots
# it, and leaves nothing else; in a terminal that is closed it cleans up.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;
use Test::More;

my $demo = abs_path(dirname(__FILE__) . '/../../demo/run');
my ($bindir) = map { chomp; $_ } `pg_config --bindir`;
my $place = PostgreSQL::Test::Utils::tempdir_short();
my $svg = PostgreSQL::Test::Utils::tempdir() . '/plot.svg';
my @options = ('--no-install', '--rows', 100000, '--rounds', 1, '--svg', $svg);
local %ENV = (%ENV, PG_CONFIG => "$bindir/pg_config", TMPDIR => $place);

# In a pipe
my ($out, $err) = ('', '');
my $ok = IPC::Run::run([ $demo, @options ], '<', \undef, '>', \$out, '2>', \$err);
ok($ok, 'in a pipe it comes to its end') or diag($err);
is($err, '', 'without complaints');
unlike($out, qr/[^\n\t\x20-\x7e]/, 'without control characters');
like($out, qr/^== loading 100000 orders\n( 25|.*\n)/m, 'it says what it does');
like($out, qr/^ 25%\n 50%\n 75%\n100%\n/m, 'and how far it is');
is(scalar(() = $out =~ /^CREATE .*INDEX \w+ ON .*  -- .* s$/mg), 6,
	'builds, each with size and time');

SKIP:
{
	skip 'the files lie in memory', 3 if $out =~ / lies in memory/;
	like($out, qr/cold:\ plans.*--\ with\ btree.*--\ with\ fptree.*
		^Custom\ Scan\ .Fptree\ Count.*leaf\ pages\ read\ [1-9].*
		^Aggregate.*Index\ Scan.*heap\ pages\ read\ [1-9]/msx,
		'cold plans with read-ahead');
	my ($btree) = $out =~ /cold: plans.*?-- with btree(.*?)-- with fptree/s;
	unlike($btree, qr/leaf pages/, 'which btree has not');
	is(scalar(() = $out =~ /^\| cold: .*\| [\d.]+ +\| [\d.]+ +\| [\d.]+ +\|$/mg), 2,
		'and their times');
}
is(scalar(() = $out =~ /^\| [^bc].* \| [mu]s +\| [\d.]+ +\| [\d.]+ +\| [\d.]+ +\|$/mg),
	8, 'times of warm queries and inserts');
my $lines = () = $out =~ /^\| .* \| (us|ms|s|MB) +\|/mg;
is(scalar(() = $out =~ /^\S.* \d\.\d\d #[# ]{19}\|#*>?$/mg), $lines,
	'a bar for each line');
is(scalar(() = $out =~ /_fptree: ok$/mg), 5, 'the indexes are sound');

my $plot = slurp_file($svg);
like($plot, qr/^<svg .*<\/svg>\n?\z/s, 'a plot');
is(scalar(() = $plot =~ /<rect x="340" y="\d+" width="\d+" height="12"/g),
	1 + 2 * $lines, 'with two bars for each line');
# each element closes itself, or holds nothing but text
my $rest = $plot =~ s{<rect [^<>]*/>|<text [^<>]*>[^<>]*</text>}{}gr;
like($rest, qr/\A<svg [^<>]*>\s*<\/svg>\s*\z/, 'which is well-formed');
is(join(' ', glob("$place/*")), '', 'nothing is left');

# In a terminal, by script(1), which is closed after a while
SKIP:
{
	skip 'there is no script(1)', 3 if system('script --version >/dev/null 2>&1');
	my $log = PostgreSQL::Test::Utils::tempdir() . '/terminal';
	my $shown = '';
	my $limit = IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default);
	my $session = IPC::Run::start([ 'script', '-qec',
			join(' ', $demo, @options), $log ], '<', \undef, '>', \$shown, $limit);

	IPC::Run::pump($session)
	  until $shown =~ /CREATE INDEX/ || $limit->is_expired;
	like($shown, qr/\r  5%\r 10%.*\r100%\r/, 'a percentage takes the place of the last');
	isnt(join(' ', glob("$place/*")), '', 'it has a directory');
	IPC::Run::kill_kill($session, grace => 60);
	for (1 .. 600)
	{
		last unless glob("$place/*");
		select(undef, undef, undef, 0.1);
	}
	is(join(' ', glob("$place/*")), '', 'which is removed when the terminal is gone');
}

# A plot that cannot be written is refused at once.
($out, $err) = ('', '');
$ok = IPC::Run::run([ $demo, '--no-install', '--svg', '/nowhere/plot.svg' ], '>',
	\$out, '2>', \$err);
ok(!$ok && $out eq '' && $err =~ /choose another file by --svg/,
	'a plot that cannot be written is an error at the beginning');
done_testing();

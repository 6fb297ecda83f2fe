# The snippets of docs/adopting.md for Django and SQLAlchemy, run with those that a
# Python on this machine has, or skipped.
#
# FPT_PYTHON: the Python to run (one of python3, /usr/bin/python3).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest qw(no_crash);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A Python that has these modules
sub python_with
{
	my @modules = @_;

	foreach my $python ($ENV{FPT_PYTHON} ? $ENV{FPT_PYTHON} : ('python3', '/usr/bin/python3'))
	{
		foreach my $driver ('psycopg', 'psycopg2')
		{
			return $python
			  if system("$python -c 'import " . join(', ', @modules, $driver) . "' 2>/dev/null") == 0;
		}
	}
	return undef;
}

my %python = (django => python_with('django'), sqlalchemy => python_with('sqlalchemy'));
my %snippet;
{
	my $text = slurp_file("$FindBin::Bin/../../docs/adopting.md");

	while ($text =~ /^```python\n(.*?)^```/gms)
	{
		my $code = $1;
		$snippet{ $code =~ /django/ ? 'django' : 'sqlalchemy' } = $code;
	}
}
is(join(' ', sort keys %snippet), 'django sqlalchemy', 'there is a snippet of each');
note("Python: $_, " . ($python{$_} // 'not installed')) foreach sort keys %python;

my $node = PostgreSQL::Test::Cluster->new('orm');

$node->init;
# as docs/adopting.md says, up to 17
$node->append_conf('postgresql.conf', "session_preload_libraries = fptree\n");
$node->start;
my $dir = PostgreSQL::Test::Utils::tempdir();

# Run the snippet in a database of its own; what is printed
sub run_snippet
{
	my ($orm) = @_;
	my ($out, $err);

	$node->safe_psql('postgres', "CREATE DATABASE $orm");
	$node->safe_psql($orm, 'CREATE EXTENSION fptree');
	append_to_file("$dir/$orm.py", $snippet{$orm});
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => $orm,
		PGUSER => $node->safe_psql($orm, 'SELECT current_user'),
		PYTHONDONTWRITEBYTECODE => 1);
	my $ok = IPC::Run::run(
		[ $python{$orm}, "$FindBin::Bin/../orm/${orm}_try.py", "$dir/$orm.py" ],
		'>', \$out, '2>', \$err);

	ok($ok, "$orm: runs") or diag($err);
	return $out;
}

SKIP:
{
	skip('Django is not installed', 3) if !$python{django};
	is(run_snippet('django'), <<'OUT', 'django: indexes');
CREATE INDEX o_customer ON public.shop_order USING fptree (customer)
CREATE UNIQUE INDEX o_email ON public.shop_order USING fptree (email)
CREATE INDEX o_lower ON public.shop_order USING fptree (lower(email))
CREATE INDEX o_part ON public.shop_order USING fptree (customer, placed) INCLUDE (email) WHERE (customer > 10)
CREATE INDEX o_pattern ON public.shop_order USING fptree (email text_pattern_ops)
CREATE INDEX o_placed ON public.shop_order USING fptree (placed DESC) WITH (fillfactor='70')
OUT
	verify_in('django');
}
SKIP:
{
	skip('SQLAlchemy is not installed', 3) if !$python{sqlalchemy};
	is(run_snippet('sqlalchemy'), <<'OUT', 'sqlalchemy: indexes');
orders_customer False fptree {}
orders_email True fptree {}
orders_placed False fptree {'fillfactor': '80'}
OUT
	verify_in('sqlalchemy');
}
no_crash($node);
$node->stop;
done_testing();

# The indexes of a database are sound.
sub verify_in
{
	my ($db) = @_;

	is($node->safe_psql($db, q{SELECT count(*) >= 3 FROM pg_class c JOIN pg_am a ON a.oid = relam AND amname = 'fptree',
		fptree_index_check(c.oid, true)}), 't', "$db: indexes are sound");
	return;
}

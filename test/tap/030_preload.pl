# Sessions whose first statement is an INSERT ... ON CONFLICT DO NOTHING without
# a target, up to PostgreSQL 17: the notice about them, and fptree_preload().

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('preload');

$node->init;
$node->append_conf('postgresql.conf', q{
autovacuum = off
session_preload_libraries = plpgsql
});
$node->start;

my $upsert = 'INSERT INTO t VALUES (1, 1) ON CONFLICT DO NOTHING';
my $unique = 'CREATE UNIQUE INDEX t_a ON t USING fptree (a)';
my $said = qr/^(?:psql:\S+ )?NOTICE:  new sessions of database "(?:\w+)" do not load fptree/m;

# A database with a table
sub database
{
	my ($db) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, 'CREATE EXTENSION fptree; CREATE TABLE t (a int, b int)');
	return;
}

# How often is it said in a session?
sub notices
{
	my ($db, $sql, %options) = @_;
	my ($ret, $out, $err) = $node->psql($db, $sql, on_error_die => 1, %options);
	my $n = () = $err =~ /$said/g;

	return $n;
}

# A session's first statement
sub fails
{
	my ($db, $name, %options) = @_;
	my ($ret, $out, $err) = $node->psql($db, $upsert, %options);

	return like($err, qr/unexpected non-btree speculative unique index/, $name);
}

sub works
{
	my ($db, $name, %options) = @_;
	my ($ret, $out, $err) = $node->psql($db, $upsert, %options);

	return is("$ret $err", '0 ', $name);
}

sub preload
{
	my ($db) = @_;

	return $node->safe_psql($db, 'SELECT fptree_preload()');
}

sub settings
{
	return $node->safe_psql('postgres', q{
SELECT setdatabase, setrole, unnest(setconfig) AS s FROM pg_db_role_setting
WHERE setdatabase <> 0 OR setrole <> 0 ORDER BY 1, 2, 3});
}

database('a');
if ($node->safe_psql('a', 'SHOW server_version_num') >= 180000)
{
	is(notices('a', $unique), 0, 'nothing to be said');
	works('a', 'for a fresh session has no difficulties');
	is(preload('a'), '', 'fptree_preload() does nothing');
	is(settings(), '', 'and sets nothing');
	done_testing();
	exit;
}

# --- the notice ---

is(notices('a', 'CREATE INDEX t_b ON t USING fptree (b)'), 0, 'not for an ordinary index');
my (undef, undef, $text) = $node->psql('a', "$unique;
CREATE UNIQUE INDEX t_ab ON t USING fptree (a, b); DROP INDEX t_ab, t_a; $unique");
my $count = () = $text =~ /$said/g;
is($count, 1, 'for the first unique index, once a session');
my ($cure) = $text =~ /^HINT: .*: (SELECT .*;)$/m;
is($cure, 'SELECT public.fptree_preload();', 'with a statement');
is(notices('a', 'CREATE UNIQUE INDEX t_ab ON t USING fptree (a, b); DROP INDEX t_ab'),
	0, 'not for the second unique index');
foreach my $statement ('REINDEX INDEX t_a', 'REINDEX INDEX CONCURRENTLY t_a',
	'REINDEX TABLE t', 'TRUNCATE t', 'VACUUM FULL t', 'CLUSTER t USING t_a')
{
	is(notices('a', $statement), 0, "not for $statement");
}
is(notices('a', 'DROP INDEX t_a; CREATE UNIQUE INDEX CONCURRENTLY t_a ON t USING fptree (a)'),
	1, 'for the first unique index, built concurrently');
is(notices('a', 'DROP INDEX t_a; BEGIN; CREATE TEMP TABLE u (a int) ON COMMIT DELETE ROWS;
	CREATE UNIQUE INDEX ON u USING fptree (a); COMMIT; BEGIN; INSERT INTO u VALUES (1); COMMIT'),
	1, 'for that of a temporary table, and not each time it is emptied');
my $other = 'psql -X -d "' . $node->connstr('a') . qq{" -c "$unique" -c "DROP INDEX t_a" 2>&1};
(undef, $text) = $node->psql('a', "CREATE TEMP TABLE v (a int);
CREATE UNIQUE INDEX ON v USING fptree (a);
\\! $other
");
like($text, qr/$said/, "where another session has one of a temporary table");
is(notices('a', 'CREATE TABLE p (a int) PARTITION BY LIST (a);
	CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
	CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
	CREATE UNIQUE INDEX ON p1 USING fptree (a);
	CREATE UNIQUE INDEX ON p2 USING fptree (a)'), 1, 'for one of the partitions');
is(notices('a', 'CREATE TABLE p3 PARTITION OF p FOR VALUES IN (3);
	CREATE UNIQUE INDEX ON p3 USING fptree (a)'), 0, 'not for those of a new session');
$node->safe_psql('a', $unique);

# a dump that is restored
$node->safe_psql('postgres', 'CREATE DATABASE copy');
my ($dump, $err) = run_command([ 'pg_dump', '-d', $node->connstr('a') ]);
is(notices('copy', $dump), 0, 'not for a dump that is restored');

# whoever creates it
$node->safe_psql('postgres', 'CREATE ROLE app LOGIN');
$node->safe_psql('copy', 'DROP TABLE p; ALTER TABLE t OWNER TO app; DROP INDEX t_a;
	GRANT CREATE ON SCHEMA public TO app');
my @app = (extra_params => [ '-U', 'app' ]);
is(notices('copy', $unique, @app), 1, 'for others than superusers');

# --- fptree_preload() ---

fails('a', 'a fresh session fails');
(undef, my $out, $err) = $node->psql('a', $cure);
is("$out$err", 'plpgsql, "$libdir/fptree"', 'the statement adds the library to what is set');
works('a', 'a fresh session works then');
is($node->safe_psql('a', 'SHOW session_preload_libraries'),
	'plpgsql, "$libdir/fptree"', 'with all libraries');
is($node->safe_psql('a', "SELECT count(*) > 0 FROM pg_settings WHERE name = 'fptree.simd'"),
	't', 'loaded at once');
fails('copy', 'in another database it still fails');
my $before = settings();
is(preload('a'), 'plpgsql, "$libdir/fptree"', 'a second time it changes nothing');
is(settings(), $before, 'in the catalog either');
is(preload('copy'), 'plpgsql, "$libdir/fptree"', 'where it does the same');
works('copy', 'and a fresh session works then');
works('copy', 'one of another role, too', @app);
is(notices('copy', "DROP INDEX t_a; $unique", @app), 0, 'nothing is to be said any more');

# what is set for the database, or for all, comes before the configuration
sub in_one_transaction
{
	my ($set, @then) = @_;

	return $node->safe_psql('a', join(';', 'BEGIN', $set, 'SELECT fptree_preload()', @then, 'ROLLBACK'));
}
my $set = 'SET session_preload_libraries';

$node->safe_psql('postgres', 'ALTER DATABASE a RESET ALL');
is(in_one_transaction("ALTER DATABASE a $set = 'x', 'Odd \"one\", y', '/dir/plug in'"),
	'x, "Odd ""one"", y", "/dir/plug in", "$libdir/fptree"', 'what is set for the database is kept');
is(in_one_transaction("ALTER DATABASE a $set = ''"),
	'"$libdir/fptree"', 'an empty name is not');
is(in_one_transaction("ALTER ROLE ALL $set = 'x'"),
	'x, "$libdir/fptree"', 'what is set for all roles is kept');
is(in_one_transaction("ALTER ROLE ALL $set = 'x'; ALTER DATABASE a $set = 'y'"),
	'y, "$libdir/fptree"', 'where the database has nothing of its own');
is(in_one_transaction("ALTER DATABASE a SET work_mem = '1MB'"),
	'plpgsql, "$libdir/fptree"', 'other settings do not matter');

# What counts as set, wherever, for the notice and for the function
my $path = $node->safe_psql('a', "SELECT setting || '/fptree.so' FROM pg_config WHERE name = 'PKGLIBDIR'");
my $drop = 'DROP INDEX IF EXISTS t_a; DROP TABLE IF EXISTS p';
foreach my $value ("'fptree'", "'fptree.so'", "'\$libdir/fptree'", "'$path'", "'x', 'fptree', 'y'")
{
	$before = settings();
	is(notices('a', "BEGIN; ALTER DATABASE a $set = $value; $drop; $unique; ROLLBACK"),
		0, "nothing is said with $value");
	unlike(in_one_transaction("ALTER DATABASE a $set = $value"),
		qr/fptree.*libdir.fptree"$/, 'nor added');
}
foreach my $value ("'fptrees'", "'/fptree/x'", "'x, fptree'", "'my_fptree'")
{
	is(notices('a', "BEGIN; ALTER DATABASE a $set = $value; $drop; $unique; ROLLBACK"),
		1, "something is said with $value");
	like(in_one_transaction("ALTER DATABASE a $set = $value"),
		qr/, "\$libdir\/fptree"$/, 'and added');
}
my $user = $node->safe_psql('a', 'SELECT quote_ident(current_user)');
foreach my $for ("ROLE ALL", "ROLE $user", "ROLE $user IN DATABASE a")
{
	is(notices('a', "BEGIN; ALTER $for $set = 'fptree'; $drop; $unique; ROLLBACK"),
		0, "nothing is said if it is set for $for");
	is(notices('a', "BEGIN; ALTER ROLE app $set = 'fptree'; ALTER DATABASE copy $set = 'fptree';
		ALTER $for $set = 'x'; $drop; $unique; ROLLBACK"),
		1, "but if it is for others, and $for has something else");
}
is(notices('a', "BEGIN; ALTER DATABASE a SET local_preload_libraries = 'fptree'; $drop; $unique; ROLLBACK"),
	0, 'local_preload_libraries count');
is(notices('a', "BEGIN; ALTER DATABASE a SET search_path = 'fptree'; $drop; $unique; ROLLBACK"),
	1, 'other settings do not');

# What this session has set, or its client, is not what others begin with.
{
	local $ENV{PGOPTIONS} = '-c session_preload_libraries=fptree';

	is(notices('a', "BEGIN; $drop; $unique; ROLLBACK"), 1, "the client's options do not count");
	(undef, undef, $err) = $node->psql('a', 'SELECT fptree_preload()');
	like($err, qr/cannot be seen in this session/, 'and what they hide is not lost');
	is($node->safe_psql('a', "BEGIN; ALTER DATABASE a $set = 'x'; SELECT fptree_preload(); ROLLBACK"),
		'x, "$libdir/fptree"', 'unless nothing that counts is hidden');
}
is(notices('a', "$set = 'fptree'; BEGIN; $drop; $unique; ROLLBACK"), 1, 'SET does not count');
is($node->safe_psql('a', "$set = 'x'; BEGIN; SELECT fptree_preload(); ROLLBACK"),
	'plpgsql, "$libdir/fptree"', 'and is not taken for what is set');

# Roles with lists of their own
$node->safe_psql('a', "ALTER TABLE t OWNER TO app; ALTER ROLE app $set = 'plpgsql'");
(undef, $out, $err) = $node->psql('a', 'SELECT fptree_preload()');
like($err, qr/role "app" has a setting/, 'a role that has another list is named');
fails('a', 'for it nothing has changed', @app);
($cure) = $err =~ /^HINT:  (ALTER ROLE .*;)$/m;
$node->safe_psql('a', $cure);
works('a', 'unless one does what is said', @app);
(undef, $out, $err) = $node->psql('a', 'SELECT fptree_preload()');
is("$out$err", 'plpgsql, "$libdir/fptree"', 'then nothing is said');
$node->safe_psql('a', 'ALTER ROLE app RESET ALL; ALTER ROLE app IN DATABASE a RESET ALL;
	ALTER DATABASE a RESET ALL; ALTER DATABASE copy RESET ALL');

# The configuration, once it is read again
$node->append_conf('postgresql.conf', 'session_preload_libraries = \'plpgsql,,fptree\'');
$node->reload;
is(notices('a', "BEGIN; $drop; $unique; ROLLBACK"), 1, 'a list that the server cannot read does not count');
(undef, undef, $err) = $node->psql('a', 'SELECT fptree_preload()');
like($err, qr/invalid list syntax/, 'and is not extended');
$node->append_conf('postgresql.conf', 'session_preload_libraries = \'plpgsql , fptree\'');
$node->reload;
is(notices('a', "BEGIN; $drop; $unique; ROLLBACK"), 0, 'one that it can does');
is(preload('a'), 'plpgsql , fptree', 'and is enough');
is(settings(), '', 'nothing is set then');
$node->append_conf('postgresql.conf', "session_preload_libraries = ''\nshared_preload_libraries = fptree");
$node->restart;
is(notices('a', "BEGIN; $drop; $unique; ROLLBACK"), 0, 'shared_preload_libraries count');
is(preload('a'), '', 'and are enough');
is(settings(), '', 'nothing is set then, either');
works('a', 'a fresh session works');
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
fails('a', 'without, it fails');

# Privileges
$node->safe_psql('a', 'CREATE ROLE granted LOGIN; GRANT EXECUTE ON FUNCTION fptree_preload TO granted');
(undef, undef, $err) = $node->psql('a', 'SELECT fptree_preload()', @app);
like($err, qr/permission denied for function fptree_preload/, 'not for everybody');
(undef, undef, $err) = $node->psql('a', 'SELECT fptree_preload()',
	extra_params => [ '-U', 'granted' ]);
like($err, qr/must be superuser/, 'nor for others than superusers, whatever is granted');

# --- postgres_fdw, whose only form of ON CONFLICT this is ---

SKIP:
{
	skip 'no postgres_fdw', 6
	  if $node->safe_psql('a', q{
SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) == 0;
	my ($host, $port) = ($node->host, $node->port);

	$node->safe_psql('postgres', 'CREATE DATABASE near');
	$node->safe_psql('near', qq{
CREATE EXTENSION postgres_fdw;
CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw
	OPTIONS (host '$host', port '$port', dbname 'a');
CREATE USER MAPPING FOR CURRENT_USER SERVER far;
CREATE FOREIGN TABLE t (a int, b int) SERVER far;});
	fails('near', 'postgres_fdw fails');
	$node->safe_psql('near',
		q{ALTER SERVER far OPTIONS (ADD options '-c session_preload_libraries=fptree')});
	works('near', q{cured by the server's "options"});

	# which a superuser may set, and whom it is granted
	$node->safe_psql('near',
		q{ALTER USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (ADD user 'app')});
	(undef, undef, $err) = $node->psql('near', $upsert);
	like($err, qr/permission denied to set parameter "session_preload_libraries"/,
		'others are not allowed to');
	$node->safe_psql('a', 'GRANT SET ON PARAMETER session_preload_libraries TO app');
	works('near', 'unless it is granted');
	$node->safe_psql('near', 'ALTER SERVER far OPTIONS (DROP options)');
	fails('near', 'it fails without');
	preload('a');
	works('near', 'cured by fptree_preload() at the other end');
}

done_testing();

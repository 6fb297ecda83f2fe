# Sessions whose first statement is an INSERT ... ON CONFLICT DO NOTHING without
# a target, up to PostgreSQL 17: the notice about them, and the statement that it
# advises.

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

# The statement that the notice advises after some others, in one transaction
sub advised
{
	my ($db, @first) = @_;
	my (undef, undef, $err) = $node->psql($db, join(';', 'BEGIN', @first,
		'DROP INDEX IF EXISTS t_a; DROP TABLE IF EXISTS p', $unique, 'ROLLBACK'));

	return $err =~ /^HINT:  (As a superuser.*)$/m ? $1 : 'nothing';
}

database('a');
if ($node->safe_psql('a', 'SHOW server_version_num') >= 180000)
{
	is(notices('a', $unique), 0, 'nothing to be said');
	works('a', 'for a fresh session has no difficulties');
	done_testing();
	exit;
}

# --- the notice ---

is(notices('a', 'CREATE INDEX t_b ON t USING fptree (b)'), 0, 'not for an ordinary index');
my (undef, undef, $text) = $node->psql('a', "$unique;
CREATE UNIQUE INDEX t_ab ON t USING fptree (a, b); DROP INDEX t_ab, t_a; $unique");
my $count = () = $text =~ /$said/g;
is($count, 1, 'for the first unique index, once a session');
my ($cure) = $text =~ /^HINT:  As a superuser: (ALTER .*;)$/m;
is($cure, q{ALTER DATABASE a SET session_preload_libraries = 'plpgsql', 'fptree';},
	'with the statement that keeps what is set');
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

# who must not see the configuration's list, as by SHOW, but that of the database
sub told
{
	my ($setup, $role) = @_;

	$node->safe_psql('copy', "DROP INDEX IF EXISTS t_a; GRANT $role TO app; $setup");
	my (undef, undef, $err) = $node->psql('copy', $unique, @app);
	$node->safe_psql('copy', "REVOKE $role FROM app; ALTER DATABASE copy RESET ALL");
	return $err =~ /^HINT:  (As a superuser.*)$/m ? $1 : 'nothing';
}
is(told('', 'pg_monitor'), q{As a superuser: ALTER DATABASE copy SET session_preload_libraries = 'plpgsql', 'fptree';},
	'with the list to those who may read all settings');
is(told('', 'pg_signal_backend'), 'As a superuser, add "fptree" to the setting "session_preload_libraries" of the database.',
	'without it to others');
is(told("ALTER DATABASE copy SET session_preload_libraries = 'plpgsql'", 'pg_signal_backend'),
	q{As a superuser: ALTER DATABASE copy SET session_preload_libraries = 'plpgsql', 'fptree';},
	q{but with the database's});

# --- what it advises ---

fails('a', 'a fresh session fails');
$node->safe_psql('a', $cure);
works('a', 'a fresh session works after the statement');
is($node->safe_psql('a', 'SHOW session_preload_libraries'),
	'plpgsql, fptree', 'with all libraries');
is($node->safe_psql('a', "SELECT count(*) > 0 FROM pg_settings WHERE name = 'fptree.simd'"),
	't', 'loaded at once');
fails('copy', 'in another database it still fails');
$node->safe_psql('copy', $cure =~ s/DATABASE a/DATABASE copy/r);
works('copy', 'until it is set there');
works('copy', 'and a fresh session of another role works, too', @app);
is(notices('copy', "DROP INDEX t_a; $unique", @app), 0, 'nothing is to be said any more');

# What is set for the database, or for all, comes before the configuration.
my $set = 'SET session_preload_libraries';
my $as = 'As a superuser: ALTER DATABASE a SET session_preload_libraries =';

$node->safe_psql('postgres', 'ALTER DATABASE a RESET ALL');
is(advised('a', qq{ALTER DATABASE a $set = 'x', 'Odd "one", y', '/dir/plug''in'}),
	qq{$as 'x', 'Odd "one", y', '/dir/plug''in', 'fptree';}, 'what is set for the database is kept');
is(advised('a', "ALTER DATABASE a $set = ''"), "$as 'fptree';", 'an empty name is not');
is(advised('a', "ALTER ROLE ALL $set = 'x'"), "$as 'x', 'fptree';",
	'what is set for all roles is kept');
is(advised('a', "ALTER ROLE ALL $set = 'x'; ALTER DATABASE a $set = 'y'"),
	"$as 'y', 'fptree';", 'where the database has nothing of its own');
is(advised('a', "ALTER DATABASE a SET work_mem = '1MB'"), "$as 'plpgsql', 'fptree';",
	'other settings do not matter');
$node->safe_psql('postgres', 'CREATE DATABASE "Odd one"');
$node->safe_psql('Odd one', 'CREATE EXTENSION fptree; CREATE TABLE t (a int, b int)');
like(advised('Odd one'), qr/ALTER DATABASE "Odd one" SET/, 'the name of the database is quoted');

# What counts as set, wherever
my $path = $node->safe_psql('a', "SELECT setting || '/fptree.so' FROM pg_config WHERE name = 'PKGLIBDIR'");
my $drop = 'DROP INDEX IF EXISTS t_a; DROP TABLE IF EXISTS p';
foreach my $value ("'fptree'", "'fptree.so'", "'\$libdir/fptree'", "'$path'", "'x', 'fptree', 'y'")
{
	is(notices('a', "BEGIN; ALTER DATABASE a $set = $value; $drop; $unique; ROLLBACK"),
		0, "nothing is said with $value");
}
foreach my $value ("'fptrees'", "'/fptree/x'", "'x, fptree'", "'my_fptree'")
{
	is(notices('a', "BEGIN; ALTER DATABASE a $set = $value; $drop; $unique; ROLLBACK"),
		1, "something is said with $value");
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
	is(advised('a'), 'As a superuser, add "fptree" to the setting "session_preload_libraries" of the database.',
		'and a list that they hide is not written anew');
	is(advised('a', "ALTER DATABASE a $set = 'x'"), "$as 'x', 'fptree';",
		'unless nothing that counts is hidden');
}
is(notices('a', "$set = 'fptree'; BEGIN; $drop; $unique; ROLLBACK"), 1, 'SET does not count');
is(advised('a', "$set = 'x'"), "$as 'plpgsql', 'fptree';", 'and is not taken for a setting');

# A role's own list hides the database's.
$node->safe_psql('a', "DROP TABLE IF EXISTS p; ALTER TABLE t OWNER TO app;
	GRANT CREATE ON SCHEMA public TO app; $cure ALTER ROLE app $set = 'plpgsql'");
is(notices('a', "BEGIN; DROP INDEX t_a; $unique; ROLLBACK", @app), 1,
	'it is said to a role that has another list');
fails('a', 'whose sessions fail', @app);
$node->safe_psql('a', "ALTER ROLE app RESET ALL; ALTER DATABASE a RESET ALL;
	ALTER DATABASE copy RESET ALL");

# The configuration, once it is read again
$node->append_conf('postgresql.conf', 'session_preload_libraries = \'plpgsql,,fptree\'');
$node->reload;
is(notices('a', "BEGIN; $drop; $unique; ROLLBACK"), 1, 'a list that the server cannot read does not count');
like(advised('a'), qr/^As a superuser, add/, 'and is not written anew');
$node->append_conf('postgresql.conf', 'session_preload_libraries = \'plpgsql , fptree\'');
$node->reload;
is(notices('a', "BEGIN; $drop; $unique; ROLLBACK"), 0, 'one that it can does');
$node->append_conf('postgresql.conf', "session_preload_libraries = ''\nshared_preload_libraries = fptree");
$node->restart;
is(notices('a', "BEGIN; $drop; $unique; ROLLBACK"), 0, 'shared_preload_libraries count');
works('a', 'a fresh session works');
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
fails('a', 'without, it fails');

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
	$node->safe_psql('a', $cure);
	works('near', 'cured by the statement at the other end');
}

done_testing();

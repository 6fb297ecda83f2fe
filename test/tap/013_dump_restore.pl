
# Dump and restore: pg_dump to a script and to an archive that is restored by two
# jobs; definitions, options, clustering, replica identity, comments and statistics
# targets of indexes come back, and the indexes are sound.  What the script of the
# extension makes is dumped as CREATE EXTENSION and nothing else.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "log_statement = none\nautovacuum = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE source');
install_helpers($node, 'source');

$node->safe_psql('source', <<'SQL');
CREATE SCHEMA other;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE COLLATION other.posix FROM "POSIX";
CREATE TABLE t (id int NOT NULL, a int8, b text, c numeric, d timestamptz,
				u uuid NOT NULL, m mood, r int4range, arr int[], "odd ""name" text);
INSERT INTO t
SELECT i, i % 100, md5((i % 500)::text), i / 8.0, 'epoch'::timestamptz + i * interval '1 s',
	   md5(i::text)::uuid, (ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood,
	   int4range(i % 9, i % 9 + 3), ARRAY[i % 5, i],
	   CASE WHEN i % 4 > 0 THEN chr(65 + i % 26) END
FROM generate_series(1, 3000) i;
CREATE INDEX t_a ON t USING fptree (a);
CREATE UNIQUE INDEX t_id ON t USING fptree (id);
SET fptree.debug_node_lines = '2,3';
CREATE UNIQUE INDEX t_u ON t USING fptree (u DESC NULLS LAST)
	WITH (fillfactor = 70);
RESET fptree.debug_node_lines;
CREATE INDEX t_cols ON t USING fptree (a DESC, b, c NULLS FIRST) INCLUDE (d, id);
CREATE INDEX t_part ON t USING fptree (b) WHERE a > 50 AND b IS NOT NULL;
CREATE INDEX t_expr ON t USING fptree (lower(b), (id % 7), (d AT TIME ZONE 'UTC'));
CREATE INDEX t_ops ON t USING fptree (b text_pattern_ops, b COLLATE other.posix DESC);
CREATE INDEX t_types ON t USING fptree (m, r, arr);
CREATE UNIQUE INDEX t_nulls ON t USING fptree ("odd ""name", id) NULLS NOT DISTINCT;
COMMENT ON INDEX t_cols IS 'several columns';
ALTER INDEX t_expr ALTER COLUMN 2 SET STATISTICS 77;
ALTER TABLE t CLUSTER ON t_a;
ALTER TABLE t REPLICA IDENTITY USING INDEX t_u;
ALTER TABLE t ADD CONSTRAINT t_excl EXCLUDE USING fptree (u WITH =, id WITH =);

CREATE TABLE part (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (1000);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (1000) TO (2000);
CREATE TABLE part_sub PARTITION OF part FOR VALUES FROM (2000) TO (3000)
	PARTITION BY HASH (v);
CREATE TABLE part_sub_1 PARTITION OF part_sub FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE INDEX part_kv ON part USING fptree (v, k);
CREATE UNIQUE INDEX part_k ON part_1 USING fptree (k);
INSERT INTO part SELECT i, md5(i::text) FROM generate_series(0, 2999) i;

CREATE UNLOGGED TABLE ul (a int);
INSERT INTO ul SELECT generate_series(1, 100);
CREATE INDEX ul_a ON ul USING fptree (a);
CREATE TABLE other.nothing (x text);
CREATE INDEX nothing_x ON other.nothing USING fptree (x);
CREATE MATERIALIZED VIEW mv AS SELECT a, count(*) AS n FROM t GROUP BY a;
CREATE UNIQUE INDEX mv_a ON mv USING fptree (a);
SQL

sub definitions
{
	my ($db) = @_;

	return $node->safe_psql($db, <<'SQL');
SELECT c.oid::regclass, c.relkind, pg_get_indexdef(c.oid), c.reloptions,
	   i.indisunique, i.indisvalid, i.indisready, i.indisclustered,
	   i.indisreplident, i.indisexclusion, i.indoption,
	   obj_description(c.oid, 'pg_class'),
	   (SELECT string_agg(attnum || ':' || attstattarget, ' ' ORDER BY attnum)
		FROM pg_attribute a WHERE a.attrelid = c.oid AND attstattarget > 0),
	   (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = c.oid),
	   (SELECT pg_get_constraintdef(oid) FROM pg_constraint
		WHERE conindid = c.oid AND contype = 'x')
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
	 JOIN pg_am am ON am.oid = c.relam
WHERE am.amname = 'fptree'
ORDER BY c.oid::regclass::text
SQL
}

my @queries = (
	'SELECT count(*) || \' \' || sum(id) FROM t WHERE a BETWEEN 20 AND 60',
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE b LIKE '1%' AND a > 50",
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE u > '80000000-0000-0000-0000-000000000000'",
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE m = 'ok' AND r > '[3,5)'",
	"SELECT count(*) || ' ' || sum(k) FROM part WHERE v > 'a'",
	'SELECT count(*) || \' \' || sum(n) FROM mv WHERE a < 30');

sub compare
{
	my ($db, $what) = @_;

	is(definitions($db), definitions('source'), "$what: the same definitions");
	is($node->safe_psql($db, 'SELECT fpt_verify()'),
		'', "$what: indexes are sound");
	is( $node->safe_psql(
			$db, 'SELECT fpt_differ(ARRAY[' . join(', ', map { "\$q\$$_\$q\$" } @queries) . '])'),
		'',
		"$what: scans agree");
	return;
}

# Widths of the nodes in an index's leaves
sub lines
{
	my ($db, $index, $reindex) = @_;

	return $node->safe_psql($db, ($reindex ? "REINDEX INDEX $index;" : '') . qq{
SELECT string_agg(DISTINCT node_lines || ',' || leaf_node_lines, ' ')
FROM generate_series(1, pg_relation_size('$index') / current_setting('block_size')::int8 - 1) p,
	 fptree_page_stats('$index', p) s
WHERE s.level = 0});
}

my $dir = PostgreSQL::Test::Utils::tempdir;
my $script = "$dir/script.sql";
my $archive = "$dir/archive";
my @connect = ('-h', $node->host, '-p', $node->port);

my $count = () = definitions('source') =~ /USING fptree/g;
cmp_ok($count, '>=', 18, 'indexes of all kinds are there');

command_ok([ 'pg_dump', @connect, '-f', $script, 'source' ], 'pg_dump');
my $text = slurp_file($script);
unlike($text, qr/CREATE (ACCESS METHOD|OPERATOR (CLASS|FAMILY))/,
	'nothing of the extension itself is dumped');
like($text, qr/^CREATE EXTENSION IF NOT EXISTS fptree /m,
	'but that it is to be created');

$node->safe_psql('postgres', 'CREATE DATABASE plain TEMPLATE template0');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'plain', '-f', $script ],
	'restored by psql');
compare('plain', 'psql');
unlike($text, qr/node_lines/, 'widths of nodes are no part of an index\'s definition');
is(lines('source', 't_u'), '2,3', 'they were set');
isnt(lines('plain', 't_u'), '2,3', 'and are not where it is restored');

command_ok([ 'pg_dump', @connect, '-Fc', '-f', $archive, 'source' ], 'pg_dump -Fc');
$node->safe_psql('postgres', q{CREATE DATABASE jobs TEMPLATE template0});
$node->safe_psql('postgres', q{ALTER DATABASE jobs SET fptree.debug_node_lines = '2,3'});
command_ok(
	[ 'pg_restore', @connect, '--exit-on-error', '--jobs', '2', '-d', 'jobs', $archive ],
	'restored by two jobs');
compare('jobs', 'pg_restore');
is(lines('jobs', 't_u'), '2,3', 'with the widths of nodes that are set for the database');

# What is restored can be dumped again: the same script.
my $again = "$dir/again.sql";
command_ok([ 'pg_dump', @connect, '-f', $again, 'jobs' ], 'pg_dump of the copy');

sub normal
{
	my ($file) = @_;

	return join("\n", sort grep { !/^(--|\\(un)?restrict)/ } split(/\n/, slurp_file($file)));
}
ok(normal($again) eq normal($script), 'the copy is dumped as the original was');

# Widths that the library looks at once it is loaded, from wherever they come
{
	local $ENV{PGOPTIONS} = '-c fptree.debug_node_lines=1,2';

	is(lines('jobs', 't_u', 1), '1,2', 'widths of nodes: PGOPTIONS');
}
$node->safe_psql('postgres', q{
ALTER ROLE CURRENT_USER IN DATABASE jobs SET fptree.debug_node_lines = '3,2'});
is(lines('jobs', 't_u', 1), '3,2', 'widths of nodes: ALTER ROLE');
$node->append_conf('postgresql.conf', "fptree.debug_node_lines = '2,2'\n");
$node->reload;
is(lines('source', 't_u', 1), '2,2', 'widths of nodes: postgresql.conf');
is(lines('jobs', 't_u', 1), '3,2', 'widths of nodes: the role\'s come first');
$node->safe_psql('postgres', q{ALTER DATABASE plain SET fptree.debug_node_lines = 'wide'});
like(($node->psql('plain', 'REINDEX INDEX t_u'))[2],
	qr/WARNING:  invalid value for parameter "fptree.debug_node_lines": "wide"\n.*DETAIL:  It must be empty, or two numbers/,
	'widths of nodes: what is wrong is told');
isnt(lines('plain', 't_u'), '2,3', 'and not done');

# --- an owner who may create nothing in a tablespace any more --------------------

mkdir "$dir/d$_" foreach 1 .. 4;
$node->safe_psql('postgres', "CREATE TABLESPACE d$_ LOCATION '$dir/d$_'") foreach 1 .. 4;
$node->safe_psql('postgres', 'CREATE ROLE owner; CREATE ROLE login LOGIN; GRANT owner TO login');
$node->safe_psql('postgres', 'CREATE DATABASE denied');
$node->safe_psql('denied', q{
GRANT CREATE ON SCHEMA public TO owner;
GRANT CREATE ON TABLESPACE d1, d2, d4 TO owner;
CREATE EXTENSION fptree;
CREATE TABLE given (a int);
INSERT INTO given SELECT generate_series(1, 1000);
CREATE INDEX given_a ON given USING fptree (a) WITH (tablespaces = 'd1, d2, d3, d4');
ALTER TABLE given OWNER TO owner;
SET ROLE owner;
CREATE TABLE revoked (a int);
INSERT INTO revoked SELECT generate_series(1, 1000);
CREATE INDEX revoked_a ON revoked USING fptree (a) WITH (tablespaces = 'd1, d2');
ALTER TABLE revoked ADD EXCLUDE USING fptree (a WITH =) WITH (tablespaces = 'd2, d1');
RESET ROLE;
REVOKE CREATE ON TABLESPACE d1 FROM owner;
});
is($node->safe_psql('denied', q{REINDEX TABLE given; REINDEX TABLE CONCURRENTLY revoked;
SELECT (SELECT count(*) FROM fptree_stripes('given_a')), (SELECT count(*) FROM fptree_stripes('revoked_a'))}),
	'4|2', 'what there is stays');
my $denied = "$dir/denied.sql";
command_ok([ 'pg_dump', @connect, '-f', $denied, 'denied' ], 'pg_dump of what the owner could not make');

# Whoever restores it: a superuser as he likes, others with the setting.
sub restored
{
	my ($name, $options, $sql, $fails) = @_;
	my ($out, $err);

	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS again');
	$node->safe_psql('postgres', 'CREATE DATABASE again OWNER login');
	$node->safe_psql('again', 'CREATE EXTENSION fptree; GRANT ALL ON SCHEMA public TO owner');
	local $ENV{PGOPTIONS} = $options;
	run_log([ 'psql', '-XAtq', @connect, '-d', 'again', '-c', $sql, '-f', $denied ], '>', \$out, '2>', \$err);
	like($err, qr/WARNING:  permission denied for tablespace d[13]\n/, "$name: warned") if !$fails;
	is(() = $err =~ /ERROR:  permission denied for tablespace/g, $fails, "$name: errors");
	is($node->safe_psql('again', q{SELECT string_agg((SELECT count(*) FROM fptree_stripes(indexrelid))::text, ' '
	ORDER BY indexrelid::regclass::text) FROM pg_index WHERE indrelid IN ('given'::regclass, 'revoked'::regclass)}),
		$fails ? '' : '2 0 0', "$name: stripes");
	return;
}
restored('a superuser', '', 'SELECT 1', 0);
restored('a superuser who has become the owner', '', 'SET ROLE owner', 3);
restored('the owner, skipping', '-c fptree.missing_tablespaces=skip', 'SET ROLE owner', 0);

# A superuser may be led to create it: he makes no stripe for the owner.
is( ($node->psql('denied', q{
SET ROLE owner;
CREATE FUNCTION trap(a int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
	CREATE INDEX trapped ON given USING fptree (a) WITH (tablespaces = 'd1, d3'); RETURN a; END $$;
RESET ROLE;
SELECT trap(1);
SELECT count(*) FROM fptree_stripes('trapped')}))[1], "1
0", 'no stripe by a function of the owner');
$node->safe_psql('postgres', 'DROP DATABASE again');
$node->safe_psql('postgres', 'DROP DATABASE denied');

# Indexes are left out with the extension's dependents, not by DROP EXTENSION.
my ($ret, $out, $err) = $node->psql('plain', 'DROP EXTENSION fptree');
like($err, qr/cannot drop extension fptree because other objects depend on it/,
	'indexes depend on the extension');
$node->safe_psql('plain', 'DROP EXTENSION fptree CASCADE');
is($node->safe_psql('plain', 'SELECT count(*) FROM t'), '3000', 'the table is still there');

# There is one version, so an update does nothing; what it starts from and what it
# ends with are the script's.
is($node->safe_psql('jobs', 'SELECT extversion FROM pg_extension WHERE extname = \'fptree\''),
	$node->safe_psql('jobs',
		'SELECT default_version FROM pg_available_extensions WHERE name = \'fptree\''),
	'the restored extension is of the default version');
$node->safe_psql('jobs', 'ALTER EXTENSION fptree UPDATE');
is( $node->safe_psql('jobs', <<'SQL'),
SELECT target FROM pg_extension_update_paths('fptree') WHERE path IS NOT NULL
SQL
	'', 'no update path leads anywhere');
compare('jobs', 'ALTER EXTENSION UPDATE');

done_testing();

# ALTER EXTENSION ... UPDATE: from each version whose script is installed, with
# an index in use, to the same objects as CREATE EXTENSION makes.  The library
# exports what the scripts name, and no function more.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('update');

$node->init;
$node->start;

sub query
{
	my ($db, $sql) = @_;

	return $node->safe_psql($db, $sql);
}

# All that the extension has in a database, and what it says of each
sub members
{
	my ($db) = @_;
	my $sql = q{
WITH members AS (
	SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e
		ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
	WHERE e.extname = 'fptree' AND d.deptype = 'e')
SELECT pg_describe_object(classid, objid, 0) FROM members
UNION ALL SELECT pg_get_functiondef(objid) FROM members
WHERE classid = 'pg_proc'::regclass
UNION ALL SELECT pg_get_viewdef(c.oid) FROM members
	JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid
WHERE c.relkind = 'v'
UNION ALL SELECT concat_ws(' ', pg_describe_object('pg_proc'::regclass, p.oid, 0),
	p.probin, p.proacl::text) FROM members
	JOIN pg_proc p ON classid = 'pg_proc'::regclass AND objid = p.oid
UNION ALL SELECT concat_ws(' ', 'operator', f.opfname, a.amopstrategy,
	a.amoppurpose, a.amopopr::regoperator, a.amopmethod) FROM members
	JOIN pg_opfamily f ON classid = 'pg_opfamily'::regclass AND objid = f.oid
	JOIN pg_amop a ON a.amopfamily = f.oid
UNION ALL SELECT concat_ws(' ', 'support', f.opfname, a.amprocnum,
	a.amproclefttype::regtype, a.amprocrighttype::regtype,
	a.amproc::regprocedure) FROM members
	JOIN pg_opfamily f ON classid = 'pg_opfamily'::regclass AND objid = f.oid
	JOIN pg_amproc a ON a.amprocfamily = f.oid
UNION ALL SELECT concat_ws(' ', 'class', c.opcname, c.opcintype::regtype,
	c.opcdefault, c.opckeytype::regtype) FROM members
	JOIN pg_opclass c ON classid = 'pg_opclass'::regclass AND objid = c.oid
ORDER BY 1};

	# the access method's own number is another one in each database
	my $am = query($db, "SELECT oid FROM pg_am WHERE amname = 'fptree'");

	return query($db, $sql) =~ s/ \Q$am\E$/ fptree/gmr;
}

my ($version) = query('postgres',
	"SELECT default_version FROM pg_available_extensions WHERE name = 'fptree'");
my @versions = split /\n/, query('postgres',
	"SELECT version FROM pg_available_extension_versions WHERE name = 'fptree' ORDER BY 1");

ok((grep { $_ eq $version } @versions), "version $version can be installed");
query('postgres', 'CREATE DATABASE fresh');
query('fresh', 'CREATE EXTENSION fptree');
my $fresh = members('fresh');

cmp_ok(scalar(split /\n/, $fresh), '>', 100, 'it has its objects');

# Libraries of a server see each other's symbols.
my $pkglibdir = `pg_config --pkglibdir`;
chomp($pkglibdir);
my @exported = sort map { / (fpt\w*)$/ ? $1 : () }
  split /\n/, `nm -D --defined-only '$pkglibdir/fptree.so'`;
my $named = query('fresh',
	"SELECT DISTINCT prosrc FROM pg_proc WHERE probin = 'fptree'");
is_deeply(\@exported,
	[ sort 'fpt_parallel_build_main', split(/\n/, $named) ],
	'no function is exported but those that the server looks up');

foreach my $old (@versions)
{
	next if $old eq $version;
	query('postgres', 'CREATE DATABASE updated');
	query('updated', "CREATE EXTENSION fptree VERSION '$old'");
	query('updated', q{
CREATE TABLE t AS SELECT i AS a, md5(i::text) AS b FROM generate_series(1, 10000) i;
CREATE UNIQUE INDEX t_a ON t USING fptree (a);
CREATE INDEX t_b ON t USING fptree (b)});
	query('updated', 'ALTER EXTENSION fptree UPDATE');
	is(query('updated', "SELECT extversion FROM pg_extension WHERE extname = 'fptree'"),
		$version, "from $old: updated");
	is(members('updated'), $fresh, "from $old: the objects are those of a fresh one");
	is(query('updated', q{
SET enable_seqscan = off; INSERT INTO t VALUES (10001, 'x');
SELECT count(*) FROM t WHERE a > 9000;
SELECT count(*) FROM t WHERE b >= '';
SELECT fptree_index_check('t_a', true, true), fptree_index_check('t_b', true, true)}),
		"1001\n10001\n|", "from $old: indexes are as they were");
	query('postgres', 'DROP DATABASE updated');
}
done_testing();

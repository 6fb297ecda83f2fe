# Stripes go with their index whoever drops it: in sessions that have not loaded
# the library before, whatever becomes of event triggers, in single-user mode; and
# what a build locks.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptStripes;
use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "log_statement = none\nautovacuum = off\n");
stripes_conf($node);
# There from 17 on; before, it is a name like any other.
$node->append_conf('postgresql.conf', "event_triggers = off\n")
  if $node->pg_version >= 17;
$node->start;
install_helpers($node);
install_accounts($node);

# What is wrong with files and indexes, and how many stripes there are
sub state
{
	return $node->safe_psql('postgres',
		"CHECKPOINT; SELECT concat_ws(' ', fpt_verify(false) || account(), nstripes())");
}

is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_event_trigger'), 0,
	'the extension has no event trigger');

# Each in a session of its own, whose first use of the library is the DROP.
my $setup = ddl_setup() . q{
DROP TABLE IF EXISTS plain;
DROP FUNCTION IF EXISTS drops();
CREATE FUNCTION drops() RETURNS void LANGUAGE plpgsql AS 'BEGIN EXECUTE ''DROP INDEX xi''; END';
CREATE TABLE plain (k int8);
CREATE INDEX plain_k ON plain USING fptree (k);
};
my @drops = (
	['DROP INDEX', 'DROP INDEX xi', 3],
	['both', 'DROP INDEX xi, xv', 0],
	['DROP INDEX CONCURRENTLY', 'DROP INDEX CONCURRENTLY xi', 3],
	['the same, of an invalid one',
		"UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'xi'::regclass;\n\\c -\nDROP INDEX CONCURRENTLY xi", 3],
	['DROP TABLE', 'DROP TABLE x', 0],
	['after one that is not striped', 'DROP TABLE plain, x', 0],
	['DROP COLUMN', 'ALTER TABLE x DROP v', 4],
	['DROP SCHEMA', "CREATE SCHEMA n; ALTER TABLE x SET SCHEMA n;\n\\c -\nDROP SCHEMA n CASCADE", 0],
	['DROP OWNED', "CREATE ROLE r; GRANT CREATE ON SCHEMA public TO r; ALTER TABLE x OWNER TO r;\n\\c -\nDROP OWNED BY r; DROP ROLE r", 0],
	['in a function', 'SELECT drops()', 3],
	['session_replication_role', "SET session_replication_role = replica; DROP INDEX xi", 3],
	['rolled back', 'BEGIN; DROP INDEX xi; ROLLBACK', 7],
	['rolled back, others dropped', 'BEGIN; DROP INDEX xi; ROLLBACK; DROP INDEX xv', 4],
	['in a savepoint that is rolled back', 'BEGIN; SAVEPOINT a; DROP INDEX xi; ROLLBACK TO a; COMMIT', 7],
	['and again', 'BEGIN; SAVEPOINT a; DROP INDEX xi; ROLLBACK TO a; DROP INDEX xi; COMMIT', 3],
	['in a savepoint', 'BEGIN; SAVEPOINT a; DROP INDEX xi; RELEASE a; COMMIT', 3],
	['PREPARE', q{BEGIN; DROP INDEX xi; PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'}, 3],
	['PREPARE, rolled back', q{BEGIN; DROP INDEX xi; PREPARE TRANSACTION 'p'; ROLLBACK PREPARED 'p'}, 7],
	['and made anew', q{BEGIN; DROP INDEX xi; CREATE INDEX xi ON x USING fptree (k) WITH (tablespaces = 'd8, d9'); COMMIT}, 5],
	# an index on a column of a temporary table's row type, which goes with the table
	['DISCARD TEMP', 'CREATE TEMP TABLE t (a int);' . q{
ALTER TABLE x ADD t t; CREATE INDEX xt ON x USING fptree (t) WITH (tablespaces = 'd1, d2');
DISCARD TEMP}, 7],
	['ON COMMIT DROP', 'BEGIN; CREATE TEMP TABLE t (a int) ON COMMIT DROP;' . q{
ALTER TABLE x ADD t t; CREATE INDEX xt ON x USING fptree (t) WITH (tablespaces = 'd1, d2');
COMMIT}, 7],
	['ON COMMIT DROP, and what goes before', 'BEGIN; CREATE TEMP TABLE t (a int) ON COMMIT DROP;' . q{
ALTER TABLE x ADD t t; CREATE INDEX xt ON x USING fptree (t, v) WITH (tablespaces = 'd1, d2');
ALTER TABLE x ALTER v TYPE varchar(40); DROP INDEX xi;
COMMIT}, 3],
	['ON COMMIT DROP, rolled back', 'BEGIN; CREATE TEMP TABLE t (a int) ON COMMIT DROP;' . q{
ALTER TABLE x ADD t t; CREATE INDEX xt ON x USING fptree (t) WITH (tablespaces = 'd1, d2');
ROLLBACK; DROP INDEX xi}, 3],
	# what is locked in the same way, and stays
	['REINDEX', 'REINDEX INDEX xi', 7],
	['REINDEX, then DROP', "REINDEX INDEX xi;\nDROP INDEX xi", 3],
	['REINDEX and DROP', 'BEGIN; REINDEX INDEX xi; DROP INDEX xi; COMMIT', 3],
	['REINDEX CONCURRENTLY', 'REINDEX INDEX CONCURRENTLY xi', 7],
	['ALTER INDEX SET', "ALTER INDEX xi SET (fillfactor = 80);\nDROP INDEX xi", 3],
	['TRUNCATE', 'TRUNCATE x', 7],
	['VACUUM FULL', 'VACUUM FULL x', 7],
	['ALTER TYPE, keeping the file', 'ALTER TABLE x ALTER v TYPE varchar(40)', 7],
	['ALTER TYPE, rewriting', 'ALTER TABLE x ALTER k TYPE numeric', 7],
	['ALTER TYPE, DROP', 'BEGIN; ALTER TABLE x ALTER v TYPE varchar(30); DROP INDEX xv; COMMIT', 4],
	['the table locked', 'BEGIN; LOCK x; SELECT count(*) FROM x WHERE k < 5; COMMIT; DROP INDEX xi', 3],
	['files exchanged, then DROP', ddl_swap() . "\\c -\nDROP TABLE y", 7],
	['files exchanged, then DROP of the other', ddl_swap() . "\\c -\nDROP TABLE x", 4]);

foreach my $drop (@drops)
{
	my ($name, $sql, $n) = @$drop;

	$node->safe_psql('postgres', $setup);
	$node->safe_psql('postgres', "SET allow_system_table_mods = on; $sql");
	is(state(), " $n", $name);
}

# A session that only looked like dropping it, while another one does.
$node->safe_psql('postgres', $setup);
my ($in, $out, $err) = ('', '', '');
my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$err, IPC::Run::timer(60));
$in .= "REINDEX INDEX xi; SELECT 'rebuilt';\n";
$session->pump until $out =~ /rebuilt/;
$node->safe_psql('postgres', 'DROP INDEX xi');
$node->safe_psql('postgres', q{CREATE INDEX xi ON x USING fptree (k) WITH (tablespaces = 'd1, d2')});
$in .= "CREATE TABLE w (); SELECT 'committed';\n\\q\n";
$session->pump until $out =~ /committed/;
$session->finish;
is(state(), ' 5', 'dropped by another session');

# --- whose nobody can say -----------------------------------------------------

# The main file of a btree index, for a while
my $exchange = q{SET allow_system_table_mods = on;
UPDATE pg_class c SET relfilenode = o.relfilenode
FROM (VALUES ('xv', 'xb'), ('xb', 'xv')) s (a, b) JOIN pg_class o ON o.relname = b
WHERE c.relname = a};
$node->safe_psql('postgres', "$setup; CREATE INDEX xb ON x (k)");
$node->safe_psql('postgres', $exchange);
my (undef, $found, $said) = $node->psql('postgres',
	'SET client_min_messages = warning; SELECT count(*) FROM fptree_orphans(); SELECT fptree_drop_orphans()');
is($found, "0\n0", 'a damaged metapage: no orphans');
like($said, qr/WARNING:  cannot tell which stripes belong to no index\nDETAIL:  The metapage of index "xv" cannot be read.*\nHINT:  Run "REINDEX INDEX xv;" first\./,
	'and it says why');
$node->safe_psql('postgres', $exchange);
$node->safe_psql('postgres', 'DROP INDEX xb');
is(state(), ' 7', 'it is read again: nothing is lost');

# Whose a stripe is with the name of an index that has none: all are asked, in
# pg_class's order, until one has it.  One that comes before is dropped meanwhile.
$node->safe_psql('postgres', q{SET allow_system_table_mods = on;
	CREATE TABLE o (p point); CREATE INDEX zp ON o USING gist (p);
	CREATE TABLE z (k int8); CREATE INDEX zk ON z USING fptree (k);
	CREATE INDEX zs ON z USING fptree (k) WITH (tablespaces = 'd1, d2');
	DO $$ BEGIN EXECUTE format('ALTER TABLE pg_toast.fptree_%s_1 RENAME TO fptree_%s_1',
		'zs'::regclass::oid, 'zk'::regclass::oid); END $$});
$node->safe_psql('postgres', 'CLUSTER pg_class USING pg_class_oid_index');
($in, $out) = ('', '');
$session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$err, IPC::Run::timer(60));
$in .= "BEGIN; DROP INDEX zp; SELECT 'dropped';\n";
$session->pump until $out =~ /dropped/;
my $asks = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'),
		'-c', 'SET client_min_messages = warning', '-c', 'DROP INDEX zk' ],
	'>', \my $asks_out, '2>', \my $asks_err);
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks
	WHERE relation = 'zp'::regclass AND NOT granted})
  or die 'nobody asks the index';
$in .= "COMMIT;\n\\q\n";
$session->finish;
IPC::Run::finish($asks);
is("$asks_out$asks_err" . state(), ' 9', 'an index that is gone when it is asked');
$node->safe_psql('postgres', 'DROP TABLE z, o');

# --- what a build locks -------------------------------------------------------

# Catalogues that a build of a striped index has locked against others until it ends
$node->safe_psql('postgres', q{
CREATE DATABASE locks;
\c locks
CREATE EXTENSION fptree;
CREATE TABLE a (k int8); CREATE TABLE b (k int8)});
is( $node->safe_psql('locks', q{
BEGIN;
CREATE INDEX ON a USING fptree (k) WITH (tablespaces = 'd1, d2');
SELECT coalesce(string_agg(relation::regclass || ' ' || mode, ', '), 'none')
FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' AND
	mode NOT IN ('AccessShareLock', 'RowExclusiveLock') AND relation < 16384;
ROLLBACK}),
	'none', 'a striped build keeps no catalogue locked against another');
($in, $out, $err) = ('', '', '');
$session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('locks') ],
	'<', \$in, '>', \$out, '2>', \$err, IPC::Run::timer(60));
$in .= "BEGIN; CREATE INDEX ON a USING fptree (k) WITH (tablespaces = 'd1, d2'); SELECT 'built';\n";
$session->pump until $out =~ /built/;
my ($ret, $made, $waited) = $node->psql('locks', q{
SET lock_timeout = '5s';
CREATE INDEX ON b USING fptree (k) WITH (tablespaces = 'd1, d2');
SELECT count(*) FROM fptree_stripes('b_k_idx')});
is("$made $waited", '2 ', 'the first one in a database holds up no other');
$in .= "ROLLBACK;\n\\q\n";
$session->finish;

# --- reads that are told when the index is not locked any more -------------------

# What a transaction has read of stripes the statistics are told at its commit, or,
# if it is aborted, at the next one: by then others may have dropped the stripes, or
# be about to.
my $reader = $node->background_psql('postgres', on_error_stop => 0);

sub aborted_read
{
	# not logged, which would bring the pages into shared buffers
	$node->safe_psql('postgres', q{SET wal_skip_threshold = 0;
CREATE TABLE r AS SELECT generate_series(1, 20000) AS a;
CREATE INDEX ra ON r USING fptree (a) WITH (tablespaces = 'd1, d2')});
	$reader->query($_) foreach 'SET enable_seqscan = off; SET enable_bitmapscan = off',
	  'BEGIN', 'SELECT count(a + 0) FROM r WHERE a > 0', 'ROLLBACK';
	return $node->safe_psql('postgres', q{SELECT array_agg(stripe::oid) FROM fptree_stripes('ra')});
}

# Stripes of which the statistics have an entry, after the reader's commit
sub with_stats
{
	my ($stripes) = @_;

	$reader->query($_) foreach 'SELECT pg_stat_force_next_flush()', 'SELECT 1';
	return $node->safe_psql('postgres', qq{SELECT count(*) FROM unnest('$stripes'::oid[]) s, pg_database
WHERE datname = current_database() AND pg_stat_have_stats('relation', pg_database.oid, s::int8)});
}

my $stripes = aborted_read();
$reader->query('BEGIN');
$node->safe_psql('postgres', 'DROP TABLE r');
$reader->query('COMMIT');
is(with_stats($stripes), 0, 'no statistics of stripes that were dropped');

# Another session's DROP ends while the commit looks at the stripe: it would be
# half there.
$stripes = aborted_read();
my $dropper = $node->background_psql('postgres', on_error_stop => 1);
my $locker = $node->background_psql('postgres', on_error_stop => 1);
$dropper->query_safe($_) foreach 'REINDEX INDEX ra', 'BEGIN', 'DROP TABLE r', "PREPARE TRANSACTION 'p'";
$reader->query($_) foreach 'BEGIN', 'CREATE TABLE other (k int8)';
# nobody can begin a session then
$locker->query_safe($_) foreach 'BEGIN', 'LOCK TABLE pg_attribute IN ACCESS EXCLUSIVE MODE';
$reader->query_until(qr/commits/, "\\echo commits\nCOMMIT;\n");
do
{
	usleep(10_000);
	$locker->query_safe('SELECT pg_stat_clear_snapshot()');
} while ($locker->query_safe(q{SELECT count(*) FROM pg_stat_activity
WHERE query = 'COMMIT;' AND (wait_event_type = 'Lock' OR state LIKE 'idle%')}) == 0);
$dropper->query_safe("COMMIT PREPARED 'p'");
$locker->query_safe('ROLLBACK');
$_->quit foreach $dropper, $locker;
is($reader->query("SELECT count(*) FROM pg_class WHERE relname = 'other'") . $reader->{stderr}, 1,
	'a commit beside a DROP of what the session has read');
is(with_stats($stripes), 0, 'nor statistics');

# While the index is built anew it is not waited for, and told later.
$stripes = aborted_read();
$locker = $node->background_psql('postgres', on_error_stop => 1);
$locker->query_safe($_) foreach 'BEGIN', 'REINDEX INDEX ra';
is(with_stats($stripes), 0, 'a commit does not wait for a REINDEX');
$locker->query_safe('ROLLBACK');
$locker->quit;
is(with_stats($stripes), 2, 'the next one tells');
$reader->quit;
$node->safe_psql('postgres', 'DROP TABLE IF EXISTS r, other');

# --- single-user mode ------------------------------------------------------------

$node->safe_psql('postgres', $setup);
$node->stop;
run_log([ 'postgres', '--single', '-D', $node->data_dir, 'postgres' ],
	'<', \"DROP INDEX xi\n", '>', \$out, '2>', \$err);
$node->start;
is(state(), ' 3', 'single-user mode');

no_crash($node);
done_testing();

# Counters of scans of each index, of all sessions: fptree_stat_indexes.  Up to
# PostgreSQL 16 there are none.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('counters');

$node->init;
# shared memory is in files, which can be made to fail
$node->append_conf('postgresql.conf', q{
autovacuum = off
jit = off
dynamic_shared_memory_type = mmap
max_parallel_workers_per_gather = 0
effective_io_concurrency = 8
});
$node->start;

sub query
{
	my ($sql, $db) = @_;

	return $node->safe_psql($db // 'postgres', $sql);
}

# What is shown of an index
sub counted
{
	my ($index, $what) = @_;

	return query("SELECT $what FROM fptree_stat_indexes WHERE indexrelname = '$index'");
}

query(q{
CREATE EXTENSION fptree;
CREATE TABLE t (a int, b int, f text);
INSERT INTO t SELECT i, hashint4(i), repeat('x', 300) FROM generate_series(1, 20000) i;
CREATE INDEX t_a ON t USING fptree (a);
CREATE INDEX t_b ON t USING fptree (b);
VACUUM ANALYZE t;
CREATE ROLE other LOGIN;
});
my $forced = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';

if (query('SHOW server_version_num') < 170000)
{
	query("$forced SELECT f FROM t WHERE a = 7");
	is(query('SELECT count(*) FROM fptree_stat_indexes'), '0',
		'nothing is counted up to 16');
	query(q{SELECT fptree_stat_reset(), fptree_stat_reset('t_a')});
	$node->stop;
	done_testing();
	exit;
}

is(query('SELECT count(*) FROM fptree_stat_indexes'), '0', 'no scans yet');

# --- what is counted ---

query("$forced SELECT f FROM t WHERE a = 7; SELECT f FROM t WHERE a = 8;");
query("$forced SELECT f FROM t WHERE a = 9");
is(counted('t_a', q{scans || ' ' || relname || ' ' || schemaname || ' ' || relid::regclass || ' ' ||
	indexrelid::regclass || ' ' || (last_scan BETWEEN stats_since AND now())}),
	'3 t public t t_a true', 'three scans in two sessions');
is(counted('t_b', 'count(*)'), '0', 'none of another index');
query("$forced SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off;
	SELECT count(t.f) FROM generate_series(1, 1000) i, LATERAL (SELECT f FROM t WHERE a = i OFFSET 0) t");
is(counted('t_a', 'scans'), '1003', 'each rescan is one');
query('SET enable_seqscan = off; SET enable_indexscan = off; SELECT count(f) FROM t WHERE a < 100');
is(counted('t_a', 'scans'), '1004', 'a bitmap scan');
query("EXPLAIN SELECT FROM t WHERE a > 30000; $forced DECLARE c CURSOR WITH HOLD FOR SELECT a FROM t ORDER BY a;");
is(counted('t_a', 'scans'), '1005', 'a cursor that is kept, and no planning');
query("BEGIN; $forced SELECT f FROM t WHERE a = 7; ROLLBACK;");
is(counted('t_a', 'scans'), '1006', 'transactions that end otherwise');
query("SET track_counts = off; $forced SELECT f FROM t WHERE a = 7");
is(counted('t_a', 'scans'), '1006', 'nothing with track_counts off');

# Several processes; the leader has one of the scans.
query(q{SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_index_scan_size = 0; SET min_parallel_table_scan_size = 0;
	SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(f) FROM t WHERE a > 5});
my $scans = counted('t_a', 'scans') - 1006;
cmp_ok($scans, '>=', 1, "a parallel scan ($scans processes)");
cmp_ok($scans, '<=', 3, 'is no more scans than processes');

# The first scan of a session is that of a parallel plan which makes a table,
# which has used its command already.
my ($before, $err) = (counted('t_a', 'scans'));
$node->psql('postgres', q{SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_index_scan_size = 0; SET min_parallel_table_scan_size = 0;
	SET enable_seqscan = off; SET enable_bitmapscan = off; SET parallel_leader_participation = on;
	CREATE TABLE made AS SELECT a FROM t WHERE a BETWEEN 10 AND 19000}, stderr => \$err);
is($err, '', 'a parallel CREATE TABLE AS in a new session');
cmp_ok(counted('t_a', 'scans'), '>', $before, 'is counted');

# Cold pages: as the session that reads them counts it, but for VACUUM.
$node->restart;
is(query('SELECT count(*) FROM fptree_stat_indexes'), '0', 'a restart forgets');
my $columns = join(', ', grep { !/_requests$/ } split(/\n/,
		query('SELECT counter FROM fptree_prefetch_stats()')));
my $own = query(qq{$forced
	SELECT sum(length(f)) > 0 FROM t WHERE b > 0;
	SELECT string_agg(value::text, '|' ORDER BY o)
	FROM fptree_prefetch_stats() WITH ORDINALITY s(counter, value, o)
	WHERE counter NOT LIKE '%requests'});
is("t\n" . counted('t_b', $columns), $own, 'read-ahead is counted, too');
cmp_ok(counted('t_b', 'heap_issued'), '>', 100, 'of many pages');

# --- whose they are ---

query('CREATE DATABASE another');
query('CREATE EXTENSION fptree', 'another');
is(query('SELECT count(*) FROM fptree_stat_indexes', 'another'), '0',
	'of another database nothing is shown');
is(query('SET ROLE other; SELECT count(*) FROM fptree_stat_indexes'), '1',
	'everybody may look');
foreach my $args ('', "'t_a'")
{
	my (undef, undef, $err) = $node->psql('postgres', "SET ROLE other; SELECT fptree_stat_reset($args)");

	like($err, qr/permission denied for function fptree_stat_reset/,
		"not everybody may reset ($args)");
}

# --- reset ---

query("$forced SELECT f FROM t WHERE a = 7");
is(query(q{SELECT fptree_stat_reset('t_a'); SELECT string_agg((scans > 0)::text, ' ' ORDER BY indexrelname)
	FROM fptree_stat_indexes}), "\nfalse true", 'one index');
query('SELECT fptree_stat_reset()', 'another');
is(counted('t_b', 'scans'), '1', "another database's reset");
query('SELECT fptree_stat_reset()');
is(counted('t_b', "scans || ' ' || heap_issued || ' ' || (stats_since > last_scan)"),
	'0 0 true', 'all of them');

# --- indexes come and go, more than there is room for ---

query("$forced SELECT f FROM t WHERE a = 7; REINDEX INDEX t_a; SELECT f FROM t WHERE a = 7");
is(counted('t_a', 'scans'), '2', 'REINDEX keeps them');
query('CREATE TABLE few AS SELECT 1 AS a');
my $churn = join("\n", map { qq{
	CREATE INDEX few_a ON few USING fptree (a);
	SELECT FROM few WHERE a = 1;
	DROP INDEX few_a;} . ($_ % 20 == 0 ? 'SELECT FROM t WHERE a = 7;' : '') } 1 .. 2300);
query("SET client_min_messages = error; $forced $churn");
is(query('SELECT count(*) BETWEEN 1500 AND 2048 FROM fptree_stat_scans()'), 't',
	'the table is full, and no larger');
is(counted('few_a', 'count(*)'), '0', 'dropped indexes are not shown');
is(counted('t_a', 'scans'), '117', 'those in use have stayed');

# --- no shared memory ---

$node->restart;
my $dir = $node->data_dir . '/pg_dynshmem';
my $count = 'SELECT count(a) FROM t WHERE a < 1000';
my ($ret, $out, $err);

# a session that has begun has attached all that there was
($ret, $out, $err) = $node->psql('postgres', qq{SELECT 1;
\\! mv $dir $dir.gone
$forced
$count;
$count;
\\! mv $dir.gone $dir
});
is($out, "1\n999\n999", 'no shared memory: queries go on');
is(scalar(() = $err =~ /WARNING:  this session does not count scans of fptree indexes/g), 1,
	'with one warning');
like($err, qr/DETAIL:  There is no shared memory for the counters: could not open/,
	'which says why');
query("$forced $count; BEGIN; SAVEPOINT s; $count; ROLLBACK TO s; COMMIT;");
is(counted('t_a', 'scans'), '2', 'the next session counts');
no_crash($node);
$node->stop;
done_testing();

# Extensions that hang in the same hooks, loaded before fptree and after it: the
# same plans, answers and errors as without them, and they see what they are to
# see.  Those are tried that the server has.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($libdir) = map { chomp; $_ } `pg_config --pkglibdir`;

# What each needs, and a look at what it does: a query, and what its answer or
# the log must be like.
my %extensions = (
	pg_stat_statements => {
		create => 1,
		query => q{SELECT calls > 0 FROM pg_stat_statements WHERE query LIKE 'SELECT sum(b) FROM t%'},
		answer => qr/^t$/m,
	},
	auto_explain => {
		conf => "auto_explain.log_min_duration = 0
auto_explain.log_analyze = on
auto_explain.log_buffers = on
auto_explain.log_nested_statements = on",
		log => qr/Index Only Scan\) on t .*Index Name: t_ab/s,
	},
	hypopg => {
		create => 1,
		# auto_explain cannot name the index after EXPLAIN has ended
		query => q{SET auto_explain.log_min_duration = -1;
SELECT count(*) FROM hypopg_create_index('CREATE INDEX ON t (c)');
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE c = 77;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE a = 77;},
		answer => qr/^1\n.*Scan (?:using|on) "?<\d+>btree_t_c.*Scan using t_ab on t/s,
	},
	pgaudit => {
		create => 1,
		conf => "pgaudit.log = 'all'",
		log => qr/AUDIT: SESSION,\d+,1,READ,SELECT,,,"?SELECT sum\(b\)/,
	},
	pg_qualstats => {
		create => 1,
		conf => 'pg_qualstats.sample_rate = 1',
		query => q{SELECT count(*) > 0 FROM pg_qualstats WHERE lrelid = 't'::regclass},
		answer => qr/^t$/m,
	},
);

my @there = grep { -e "$libdir/$_.so" } sort keys %extensions;
foreach my $name (sort keys %extensions)
{
	note("the server has no $name") unless grep { $_ eq $name } @there;
}
plan skip_all => 'the server has none of ' . join(', ', sort keys %extensions)
  unless @there;

# A session that does a bit of all.  Errors are a part of what comes of it.
my $workload = q{
SET client_min_messages = warning;
DROP TABLE IF EXISTS t, p CASCADE;
CREATE TABLE t AS SELECT i AS a, i % 100 AS b, (i * 7919) % 1000 AS c FROM generate_series(1, 5000) i;
CREATE INDEX t_ab ON t USING fptree (a, b);
CREATE UNIQUE INDEX t_a ON t USING fptree (a) INCLUDE (c);
CREATE TABLE n (LIKE t);
INSERT INTO n TABLE t;
CREATE INDEX n_ab ON n (a, b);
CREATE TABLE p (a int, b int) PARTITION BY RANGE (a);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200);
CREATE INDEX p_a ON p USING fptree (a);
INSERT INTO p SELECT i, -i FROM generate_series(0, 199) i;
VACUUM ANALYZE t, n, p;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE (a, b) > (4990, 3) ORDER BY a LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM n WHERE (a, b) > (4990, 3) ORDER BY a LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM t JOIN n USING (a) WHERE t.b = 3 AND t.a < 50;
EXPLAIN (COSTS OFF) SELECT max(a), min(a) FROM t;
EXPLAIN (COSTS OFF) SELECT * FROM p WHERE a > 90 ORDER BY a;
SELECT sum(b) FROM t WHERE a BETWEEN 100 AND 3000;
SELECT count(*), count(a) FROM t WHERE a BETWEEN 100 AND 3000;
SELECT count(*), sum(c) FROM t WHERE (a, b) > (2500, 3);
SELECT count(*), sum(c) FROM n WHERE (a, b) > (2500, 3);
SELECT count(*) FROM t JOIN n USING (a) WHERE t.b = 3;
SELECT a FROM p WHERE a > 95 ORDER BY a LIMIT 8;
SELECT a, count(*) FROM t WHERE a < 50 GROUP BY a ORDER BY a LIMIT 5;
SELECT DISTINCT b FROM t WHERE a = 5;
PREPARE q (int) AS SELECT c FROM t WHERE a = $1;
EXECUTE q (77);
INSERT INTO t VALUES (7, 0, 0);
INSERT INTO t VALUES (7, 0, 0), (5001, 0, 0) ON CONFLICT DO NOTHING;
INSERT INTO t VALUES (7, 0, 0) ON CONFLICT (a) DO UPDATE SET c = -1 RETURNING a, c;
WITH x AS (INSERT INTO t VALUES (8, 0, 0), (5002, 0, 0) ON CONFLICT DO NOTHING RETURNING a) TABLE x;
MERGE INTO t USING (VALUES (9), (5003)) v (i) ON a = i
	WHEN MATCHED THEN UPDATE SET c = -2 WHEN NOT MATCHED THEN INSERT VALUES (i, 0, -3);
DO $$ BEGIN PERFORM count(*) FROM t WHERE a < 10; INSERT INTO t VALUES (10, 0, 0) ON CONFLICT DO NOTHING; END $$;
BEGIN;
DECLARE d SCROLL CURSOR FOR SELECT a, b FROM t WHERE a > 4900 ORDER BY a;
MOVE 50 IN d;
FETCH BACKWARD 2 FROM d;
COMMIT;
CREATE TABLE made AS SELECT a FROM t WHERE a < 5;
DROP TABLE made;
REINDEX INDEX t_ab;
ALTER TABLE t ALTER b TYPE int8;
TRUNCATE p1;
DROP TABLE n;
SELECT count(*), sum(a), sum(b), sum(c) FROM t WHERE a > 0;
};

my $node = PostgreSQL::Test::Cluster->new('node');
$node->init;
$node->append_conf('postgresql.conf', q{
fsync = off
autovacuum = off
max_parallel_workers_per_gather = 0
include_if_exists = 'order.conf'
});

# Start with these libraries, and do the work in a database of its own.
my $dbs = 0;
sub work
{
	my ($order, @names) = @_;
	my $conf = $node->data_dir . '/order.conf';
	my $db = 'db' . ++$dbs;

	unlink($conf);
	append_to_file($conf, "shared_preload_libraries = '$order'\n");
	append_to_file($conf, "$extensions{$_}{conf}\n")
	  foreach grep { $extensions{$_}{conf} } @names;
	$node->stop;
	$node->start;
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, join(';', map { "CREATE EXTENSION $_" } 'fptree',
			grep { $extensions{$_}{create} } @names));
	my ($status, $out, $err) = $node->psql($db, $workload, on_error_stop => 0);
	$err =~ s/psql:<stdin>:\d+: //g;
	return ($db, "$out\n$err");
}

# The same work, and a look at what each of the extensions has seen.
my (undef, $expected) = work('fptree');
like($expected, qr/Index Scan using t_ab on t/, 'plans use the index');
like($expected, qr/duplicate key value violates unique constraint "t_a"/,
	'one statement fails');
foreach my $names ((map { [$_] } @there), (@there > 1 ? [@there] : ()))
{
	my $list = join(', ', @$names);

	foreach my $order ("$list, fptree", "fptree, $list")
	{
		my $from = -s $node->logfile;
		my ($db, $out) = work($order, @$names);

		is($out, $expected, "$order: the same plans, answers and errors");
		foreach my $name (@$names)
		{
			my $e = $extensions{$name};

			like($node->safe_psql($db, $e->{query}), $e->{answer},
				"$order: $name works")
			  if $e->{query};
			like(substr(slurp_file($node->logfile), $from), $e->{log},
				"$order: $name logs")
			  if $e->{log};
		}
		is($node->safe_psql($db, q{SELECT count(fptree_index_check(i, true)::text)
FROM unnest('{t_ab,t_a,p1_a_idx,p2_a_idx}'::regclass[]) i}),
			'4', "$order: indexes are sound");
	}
}
no_crash($node);
$node->stop;
done_testing();

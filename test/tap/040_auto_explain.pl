# Read-ahead in the plans of auto_explain: at the scan's node, from version 18 on,
# where EXPLAIN has a hook for nodes; from 19 on by an option of its own too.  The
# direction of a scan is the plan's, wherever its cursor has gone last.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($libdir) = map { chomp; $_ } `pg_config --pkglibdir`;
plan skip_all => 'the server has no auto_explain'
  unless -e "$libdir/auto_explain.so";
my ($major) = `pg_config --version` =~ /(\d+)/;

my $node = PostgreSQL::Test::Cluster->new('node');
$node->init;
$node->append_conf('postgresql.conf', q{
fsync = off
autovacuum = off
effective_io_concurrency = 16
fptree.prefetch_distance = 8
shared_preload_libraries = 'fptree'
session_preload_libraries = 'auto_explain'
auto_explain.log_min_duration = 0
});
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION fptree;
CREATE TABLE t AS SELECT i AS a, repeat('x', 150) AS d FROM generate_series(1, 10000) i
	ORDER BY hashint8(i);
CREATE INDEX t_a ON t USING fptree (a);
VACUUM ANALYZE t;
});

# The line of the plan of a query, from the log; undef if there is none.
sub logged
{
	my ($settings) = @_;
	my $from = -s $node->logfile;

	$node->safe_psql('postgres', "SET auto_explain.log_min_duration = -1;
SET enable_seqscan = off; SET enable_bitmapscan = off; $settings;
SET auto_explain.log_min_duration = 0;
SELECT sum(length(d)) FROM t WHERE a BETWEEN 2001 AND 2100;");
	my $log = substr(slurp_file($node->logfile), $from);
	like($log, qr/Index Scan using t_a on t /, "$settings: the plan is logged");
	my ($line) = $log =~
	  /Index Scan using t_a[^\n]*\n(?:[^\n]*\n)*?\s+Read-Ahead: (leaf pages[^\n]*)/;
	return $line;
}

is(logged('SET auto_explain.log_verbose = off'), undef, 'not by default');
my $line = logged('SET auto_explain.log_analyze = on; SET auto_explain.log_buffers = on');
if ($major < 18)
{
	is($line, undef, "version $major has no hook for a node");
}
else
{
	like($line, qr/heap pages read \d+, cached \d+, unused \d+; distance 8$/,
		'with ANALYZE and BUFFERS, at the node of the scan');
}
if ($major >= 19)
{
	like(logged("SET auto_explain.log_extension_options = 'readahead'"),
		qr/distance 8$/, 'by an option, which needs no timing');
	is(logged("SET auto_explain.log_analyze = on; SET auto_explain.log_buffers = on;
SET auto_explain.log_extension_options = 'readahead off'"), undef,
		'and is switched off by it');
	my ($status, $out, $err) = $node->psql('postgres',
		"SET auto_explain.log_extension_options = 'readahead perhaps'");
	isnt($status, 0, 'another value is refused');
	like($err, qr/readahead/i, 'by its name');
}

# In a time zone that skips an hour the condition is asked again for each entry.
my $from = -s $node->logfile;
$node->safe_psql('postgres', q{
SET auto_explain.log_min_duration = -1; SET TimeZone = 'America/New_York';
SET enable_seqscan = off; SET enable_bitmapscan = off;
CREATE TABLE e AS SELECT '2024-03-10'::timestamp + i * interval '1 minute' AS a
	FROM generate_series(1, 1000) i;
CREATE INDEX e_a ON e USING fptree (a);
VACUUM ANALYZE e;
SET auto_explain.log_min_duration = 0;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a FROM e WHERE a <= '2024-03-10 03:30-04'::timestamptz ORDER BY a;
FETCH 3 FROM c;
FETCH BACKWARD 1 FROM c;
CLOSE c;
COMMIT;
});
my $plan = substr(slurp_file($node->logfile), $from);
like($plan, qr/Fptree Index Only Scan/, 'the plan of a cursor');
unlike($plan, qr/Backward/, 'that has gone back is forward');
$node->stop;
done_testing();

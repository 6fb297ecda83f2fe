# The table in docs/limitations.md of what works on which version of the server: each of its
# cells is what this test expects of the server it runs on.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes;

my ($major) = `pg_config --version` =~ /(\d+)/;

# --- the table ----------------------------------------------------------------

my $document = slurp_file("$FindBin::Bin/../../docs/limitations.md");
my ($table) = $document =~
  /<!-- versions-begin -->\n(.*?)<!-- versions-end -->/s;
my ($head, undef, @lines) = split(/\n/, $table);
my @columns = map { s/^\s+|\s+$//gr } split(/\|/, $head);
my ($column) = grep { $columns[$_] eq $major } 0 .. $#columns;
BAIL_OUT("docs/limitations.md has no column for version $major") unless $column;
my %expected;
foreach my $line (@lines)
{
	my @cells = map { s/^\s+|\s+$//gr } split(/\|/, $line);

	like($cells[$column], qr/^(yes|no)$/, "$cells[1]: a cell for $major");
	$expected{$cells[1]} = $cells[$column] eq 'yes';
}

# --- servers --------------------------------------------------------------------

sub make_node
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', q{
fsync = off
autovacuum = off
wal_retrieve_retry_interval = 100ms
});
	$node->start;
	install_helpers($node);
	return $node;
}

my $node = make_node('node');
my $subscriber = make_node('subscriber');

# Does a script run without an error, and print what it should?  Its first
# command, in a session of its own, loads the library unless it says otherwise.
sub works
{
	my ($sql, $want, %opt) = @_;
	my ($status, $out, $err) = $node->psql('postgres',
		($opt{fresh} ? '' : "SET client_min_messages = warning;
SELECT FROM fptree_prefetch_stats() LIMIT 0;\n") . $sql, on_error_stop => 1);

	note($err) if $err ne '';
	return $status == 0 && $out eq ($want // '');
}

# Does EXPLAIN's text have it?
sub explains
{
	my ($sql, $want) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;
SET fptree.prefetch_distance = 4;
SELECT FROM fptree_prefetch_stats() LIMIT 0;
$sql");

	note($err) if $err ne '';
	note($out);
	return $status == 0 && $out =~ $want;
}

# Does a change of a table's row come to the subscriber, found by an index?
sub replicates
{
	my ($table) = @_;
	my $log = -s $subscriber->logfile;
	my $until = Time::HiRes::time() + 180;

	$node->safe_psql('postgres', "UPDATE $table SET b = 7 WHERE a = 5");
	while (Time::HiRes::time() < $until)
	{
		my $b = $subscriber->safe_psql('postgres',
			"SELECT b FROM $table WHERE a + 0 = 5");

		if ($b eq '7')
		{
			# Counters are told at a commit, but once a second at most: by the
			# second of these at the latest, and by when the third is seen.
			Time::HiRes::sleep(1.2);
			$node->safe_psql('postgres', "UPDATE $table SET b = $_ WHERE a = 5")
			  foreach 8, 9;
			$subscriber->poll_query_until('postgres',
				"SELECT b = 9 FROM $table WHERE a + 0 = 5") or return 0;
			return $subscriber->safe_psql('postgres',
				"SELECT idx_scan > 0 FROM pg_stat_user_indexes
				WHERE indexrelname = '${table}_a'") eq 't';
		}
		return 0
		  if substr(slurp_file($subscriber->logfile), $log) =~ /missing operator/;
		Time::HiRes::sleep(0.1);
	}
	return 0;
}

# Two tables on both sides; each subscription of its own, since it may fail.
sub replicate
{
	my ($table, $identity) = @_;

	foreach my $side ($node, $subscriber)
	{
		$side->safe_psql('postgres', "
CREATE TABLE $table (a int NOT NULL, b int);
CREATE UNIQUE INDEX ${table}_a ON $table USING fptree (a);
ALTER TABLE $table REPLICA IDENTITY $identity;");
	}
	$node->safe_psql('postgres', "
INSERT INTO $table SELECT i, i FROM generate_series(1, 2000) i;
CREATE PUBLICATION $table FOR TABLE $table;");
	$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION $table
		CONNECTION '" . $node->connstr . " dbname=postgres' PUBLICATION $table");
	$subscriber->wait_for_subscription_sync($node, $table);
	$subscriber->safe_psql('postgres', "ANALYZE $table");
	my $found = replicates($table);
	$subscriber->safe_psql('postgres', "
ALTER SUBSCRIPTION $table DISABLE;
ALTER SUBSCRIPTION $table SET (slot_name = NONE);
DROP SUBSCRIPTION $table;");
	return $found;
}

# --- what may work ----------------------------------------------------------------

$node->safe_psql('postgres', q{
CREATE TABLE t (a int NOT NULL, b int);
CREATE UNIQUE INDEX t_a ON t USING fptree (a);
INSERT INTO t SELECT i, i FROM generate_series(1, 5000) i;
CREATE TABLE routed (a int, b int) PARTITION BY LIST (b);
CREATE TABLE routed_1 PARTITION OF routed FOR VALUES IN (1);
CREATE UNIQUE INDEX routed_1_a ON routed_1 USING fptree (a);
INSERT INTO routed VALUES (1, 1);
CREATE TABLE two (a int NOT NULL, b int NOT NULL, c int);
INSERT INTO two SELECT i / 100, i % 100, i FROM generate_series(1, 5000) i;
CREATE INDEX two_ab ON two USING fptree (a, b);
CREATE UNIQUE INDEX two_ba ON two USING fptree (b, a);
VACUUM ANALYZE;
});

my %tests = (
	'`CREATE UNIQUE INDEX`, `NULLS NOT DISTINCT`' => sub {
		works('CREATE TABLE nn (a int);
CREATE UNIQUE INDEX ON nn USING fptree (a) NULLS NOT DISTINCT; INSERT INTO nn VALUES (NULL);')
		  && !works('INSERT INTO nn VALUES (NULL);');
	},
	'`PRIMARY KEY`, `UNIQUE` constraint' => sub {
		works('ALTER TABLE t ADD PRIMARY KEY USING INDEX t_a;');
	},
	'`EXCLUDE USING fptree (a WITH =) DEFERRABLE`' => sub {
		works('CREATE TABLE ex (a int, EXCLUDE USING fptree (a WITH =) DEFERRABLE INITIALLY DEFERRED);
BEGIN; INSERT INTO ex VALUES (1), (1); DELETE FROM ex; INSERT INTO ex VALUES (1); COMMIT;')
		  && !works('INSERT INTO ex VALUES (1);');
	},
	'foreign key that references a unique index' => sub {
		works('CREATE TABLE fk (a int REFERENCES t (a)); INSERT INTO fk VALUES (17);')
		  && !works('INSERT INTO fk VALUES (-1);')
		  && !works('DELETE FROM t WHERE a = 17;');
	},
	'unique index on a partitioned table' => sub {
		works('CREATE TABLE pu (a int, b int) PARTITION BY HASH (a);
CREATE TABLE pu_0 PARTITION OF pu FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE UNIQUE INDEX pu_ab ON pu USING fptree (a, b); INSERT INTO pu VALUES (1, 1);')
		  && !works('INSERT INTO pu VALUES (1, 1);')
		  && works('INSERT INTO pu VALUES (1, 1) ON CONFLICT (a, b) DO UPDATE SET b = 2;
SELECT * FROM pu;', '1|2');
	},
	'`REFRESH MATERIALIZED VIEW CONCURRENTLY`' => sub {
		works('CREATE MATERIALIZED VIEW mv AS SELECT a, b FROM t WHERE a < 9;
CREATE UNIQUE INDEX ON mv USING fptree (a);
UPDATE t SET b = -1 WHERE a = 8;
REFRESH MATERIALIZED VIEW CONCURRENTLY mv;
SELECT b FROM mv WHERE a = 8;', '-1');
	},
	'`ON CONFLICT` with a target or without, library loaded' => sub {
		works('INSERT INTO t VALUES (20, 0) ON CONFLICT DO NOTHING;
INSERT INTO t VALUES (20, 0) ON CONFLICT (a) DO NOTHING;
INSERT INTO t VALUES (21, 0) ON CONFLICT (a) DO UPDATE SET b = excluded.b - 1;
SELECT b FROM t WHERE a IN (20, 21) ORDER BY a;', "20\n-1");
	},
	'`ON CONFLICT DO NOTHING` as a session\'s first statement' => sub {
		works('INSERT INTO t VALUES (22, 0) ON CONFLICT DO NOTHING;', '', fresh => 1);
	},
	'the same with the library in `session_preload_libraries`' => sub {
		works(q{ALTER DATABASE postgres SET session_preload_libraries = 'fptree';}, '');
		my $ok = works('INSERT INTO t VALUES (22, 0) ON CONFLICT DO NOTHING;', '', fresh => 1);
		$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET ALL');
		return $ok;
	},
	'`ON CONFLICT` for rows routed to a partition with a unique index' => sub {
		works('INSERT INTO routed VALUES (1, 1) ON CONFLICT DO NOTHING; SELECT count(*) FROM routed;', '1');
	},
	'`ON CONFLICT (column operator_class)`' => sub {
		works('INSERT INTO t VALUES (23, 0) ON CONFLICT (a int4_ops) DO NOTHING;');
	},
	'`ON CONFLICT DO SELECT`' => sub {
		works('INSERT INTO t VALUES (24, 0) ON CONFLICT (a) DO SELECT RETURNING b;
INSERT INTO t VALUES (25, 0) ON CONFLICT (a) DO SELECT FOR UPDATE WHERE t.b > 9 RETURNING t.b;', "24\n25");
	},
	'`REPLICA IDENTITY USING INDEX`: subscribers find rows by it' => sub {
		# Subscribers of 16 and 17 assert that an index that is no btree is
		# the replica identity, but ask the index, not its table, for it.
		return undef if ($major == 16 || $major == 17)
		  && $node->safe_psql('postgres', 'SHOW debug_assertions') eq 'on';
		replicate('identity', 'USING INDEX identity_a');
	},
	'`REPLICA IDENTITY FULL`: subscribers find rows by an index' => sub {
		replicate('fullrow', 'FULL');
	},
	'joins known to find one row at most' => sub {
		explains('EXPLAIN SELECT x.c FROM two x LEFT JOIN t ON t.a = x.c', qr/^((?!\bt\b).)*$/s);
	},
	'`GROUP BY` without columns that a unique index determines' => sub {
		explains('EXPLAIN (COSTS OFF) SELECT a, b, c FROM two GROUP BY a, b, c',
			qr/Group Key: (two\.)?\w, (two\.)?\w\n/);
	},
	'a row comparison\'s first column as an index condition' => sub {
		explains('EXPLAIN (COSTS OFF) SELECT * FROM two WHERE (a, b) > (40, 3)',
			qr/Index Cond: \(+(a >= 40|ROW\(a, b\) > ROW\(40, 3\))\)/);
	},
	'all of a row comparison as an index condition' => sub {
		explains('EXPLAIN (COSTS OFF) SELECT * FROM two WHERE (a, b) > (40, 3)',
			qr/Index Cond: \(ROW\(a, b\) > ROW\(40, 3\)\)/);
	},
	'`a > x OR (a = x AND b > y)` begins at (x, y)' => sub {
		explains('EXPLAIN (COSTS OFF) SELECT * FROM two WHERE a > 40 OR (a = 40 AND b > 3)',
			qr/Index Cond: \(a >= 40\)/);
	},
	'`min`, `max` from the end of an index' => sub {
		explains('EXPLAIN (COSTS OFF) SELECT min(a), max(a) FROM t',
			qr/Limit\n[^\n]*Index Scan using t_a.*Limit\n[^\n]*Index Scan Backward using t_a/s);
	},
	'columns without a condition are skipped' => sub {
		explains('EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF)
SELECT * FROM two WHERE b = 77 AND a + 0 > 0', qr/Index Cond: \(b = 77\)/);
	},
	'one index over several tablespaces' => sub {
		works(q{SET allow_in_place_tablespaces = on;
CREATE TABLESPACE d1 LOCATION '';
CREATE TABLESPACE d2 LOCATION '';
CREATE INDEX t_striped ON t USING fptree (b) WITH (tablespaces = 'd1, d2');
SELECT count(*) FROM fptree_stripes('t_striped');
DROP INDEX t_striped}, '2');
	},
	'`EXPLAIN (ANALYZE, BUFFERS)` shows read-ahead' => sub {
		explains('EXPLAIN (ANALYZE, BUFFERS) SELECT sum(b) FROM t WHERE a > 100', qr/leaf pages read/);
	},
	'... at each scan\'s node, and `EXPLAIN (ANALYZE, READAHEAD)`' => sub {
		explains('EXPLAIN (ANALYZE, READAHEAD) SELECT sum(b) FROM t WHERE a > 100',
			qr/Index Scan using t_a.*Read-Ahead: leaf pages read.*Planning Time/s);
	},
);

is_deeply([ sort keys %tests ], [ sort keys %expected ],
	'the table has the rows that are tested');
foreach my $row (sort keys %tests)
{
	my $found = $tests{$row}->();

  SKIP:
	{
		skip("$row: not with assertions on version $major", 1)
		  unless defined $found;
		is($found ? 'yes' : 'no', $expected{$row} ? 'yes' : 'no',
			"$row: on version $major");
	}
}
# From 18 on a library tells its version.
is($node->safe_psql('postgres', q{LOAD 'fptree';
SELECT m.version = e.extversion FROM pg_get_loaded_modules() m
	JOIN pg_extension e ON e.extname = m.module_name WHERE extname = 'fptree'}),
	't', 'the library is of the version of the extension') if $major >= 18;
verify($node, 'indexes are sound');
no_crash($_) foreach $node, $subscriber;
$subscriber->stop;
$node->stop;
done_testing();

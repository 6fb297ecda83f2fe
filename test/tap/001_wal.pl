# A standby replays everything that happens to fptree indexes, every page is
# compared with the primary's after every record, and both answer alike.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{FPT_WAL_ROUNDS} // 4;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
wal_consistency_checking = 'all'
shared_buffers = 32MB
max_connections = 50
max_wal_size = 1GB
wal_keep_size = 4GB
checkpoint_timeout = 1h
autovacuum_naptime = 1s
log_statement = none
});
$primary->start;
install_helpers($primary);
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', q{
hot_standby_feedback = on
max_standby_streaming_delay = 60s
});
$standby->start;

# Several types and node widths; and accounts whose keys move but whose number
# does not.
$primary->safe_psql('postgres', q{
CREATE TABLE t (id int, a int4, b int8, c uuid, d float8, e timestamptz, f bool);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 90);
SET fptree.debug_node_lines = '2,3';
CREATE INDEX t_b ON t USING fptree (b DESC)
	WITH (fillfactor = 70);
RESET fptree.debug_node_lines;
CREATE INDEX t_c ON t USING fptree (c);
SET fptree.debug_node_lines = '1,2';
CREATE INDEX t_d ON t USING fptree (d NULLS FIRST)
	WITH (fillfactor = 100);
RESET fptree.debug_node_lines;
CREATE INDEX t_e ON t USING fptree (e) WHERE a > 0;
CREATE INDEX t_f ON t USING fptree ((f::int));
CREATE TABLE acc (id int PRIMARY KEY, k int);
CREATE UNIQUE INDEX acc_id ON acc USING fptree (id);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX acc_k ON acc USING fptree (k)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
INSERT INTO acc SELECT i, i * 1000 FROM generate_series(1, 500) i;
CREATE FUNCTION fill(n int, salt int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO t SELECT i, hashint4(i + salt), (i + salt) % 1000, md5((i + salt)::text)::uuid,
		CASE WHEN i % 10 > 0 THEN hashint4(i * salt) / 1000.0 END,
		'2020-01-01'::timestamptz + (i % 500 + salt) * '1 min'::interval, i % 3 = 0
	FROM generate_series(1, n) i $$;
});

my @queries = (
	'SELECT count(*) || \' \' || sum(id) FROM t WHERE a > 0',
	'SELECT count(*) || \' \' || sum(id) FROM t WHERE a BETWEEN -100000000 AND 100000000',
	'SELECT count(*) || \' \' || sum(id) FROM t WHERE b < 500',
	'SELECT count(*) || \' \' || sum(id) FROM t WHERE b = ANY (ARRAY[1,77,500,999])',
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE c > '80000000-0000-0000-0000-000000000000'",
	'SELECT count(*) || \' \' || sum(id) FROM t WHERE d IS NULL',
	'SELECT count(*) || \' \' || sum(id) FROM t WHERE d > 0',
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE a > 0 AND e < '2020-01-01 04:00:00+00'",
	'SELECT count(*) || \' \' || sum(id) FROM t WHERE f::int = 1',
	'SELECT md5(string_agg(a::text, \',\')) FROM (SELECT a FROM t ORDER BY a) s',
	'SELECT md5(string_agg(b::text, \',\')) FROM (SELECT b FROM t ORDER BY b) s',
	'SELECT min(a) || \' \' || max(a) || \' \' || min(b) || \' \' || max(d) FROM t',
	'SELECT count(*) || \' \' || sum(k) FROM acc WHERE k > -1000000000');

# after what rebuilds all indexes of t
my $rebuild = with_lines('1,1', 'REINDEX INDEX t_a')
  . with_lines('2,3', 'REINDEX INDEX t_b') . with_lines('1,2', 'REINDEX INDEX t_d');

# While all this is replayed the standby's readers must see as many accounts as
# there are, whatever moves.  With any access method, a query on a standby may
# have taken an index's name from the catalogue when REINDEX CONCURRENTLY drops
# it: on the primary it would be waited for.
my $watch = q{
SET enable_seqscan = off;
SET enable_bitmapscan = :bitmap;
SELECT 1 / (count(*) = 500)::int FROM acc WHERE k > -1000000000;
SELECT 1 / (count(*) = 500)::int FROM (SELECT k FROM acc ORDER BY k DESC) s;
DO $$ BEGIN
	PERFORM count(*) FROM t WHERE a BETWEEN 0 AND 10000000;
EXCEPTION WHEN internal_error THEN
	IF SQLERRM NOT LIKE 'could not open relation with OID %' THEN
		RAISE;
	END IF;
END $$;
};
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
my $reader = start_pgbench($standby, '-c 2 -T 3600 --max-tries=1',
	'index' => "\\set bitmap 0\n" . ($watch =~ s/:bitmap/off/r),
	'bitmap' => $watch =~ s/:bitmap/on/r,
	# each session remembers which leaves it has found, and others take them away
	'look' => q{
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT 1 / (count(*) = 500)::int FROM acc a
	WHERE (SELECT max(b.id) FROM acc b WHERE b.k = a.k) IS NOT NULL;
});

sub both_agree
{
	my ($what) = @_;

	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	same_as_seqscan($primary, "$what: primary's scans agree", @queries);
	same_as_seqscan($standby, "$what: standby's scans agree", @queries);
	my $all = join(' UNION ALL ', map { "($_)" } @queries[ 0 .. 8, 12 ]);
	is($standby->safe_psql('postgres', $all),
		$primary->safe_psql('postgres', $all),
		"$what: standby answers as the primary does");
	verify($primary, "$what: primary's indexes are sound");
	verify($standby, "$what: standby's indexes are sound");
	return;
}

foreach my $round (1 .. $rounds)
{
	$primary->safe_psql('postgres', "SELECT fill(3000, $round)");
	my $writer = start_pgbench($primary, '-c 4 -T 2', 'move' => q{
\set id random(1, 500)
\set k random(-100000, 1000000)
\set from random(1, 3000)
BEGIN;
UPDATE acc SET k = :k WHERE id = :id;
END;
DELETE FROM t WHERE id BETWEEN :from AND :from + 3;
UPDATE t SET a = a + 1, b = :k % 1000 WHERE id = :from + 5;
INSERT INTO t VALUES (:from, :k, :k, md5((:k)::text)::uuid, :k, now(), true);
});
	$primary->safe_psql('postgres', 'VACUUM t');
	$primary->safe_psql('postgres', 'CHECKPOINT') if $round % 2;
	ok(finish_pgbench($writer), "round $round: writers fare well");
	$primary->safe_psql('postgres', q{
BEGIN; SELECT fill(1000, 77); ROLLBACK;
VACUUM t;});
	both_agree("round $round, written and vacuumed");

	$primary->safe_psql('postgres', 'DELETE FROM t WHERE id % 8 <> 0');
	$primary->safe_psql('postgres', 'DELETE FROM t WHERE a < 0');
	$primary->safe_psql('postgres', 'VACUUM t');
	$primary->safe_psql('postgres', 'VACUUM acc');
	both_agree("round $round, thinned out");

	$primary->safe_psql('postgres', 'DROP INDEX t_c');
	$primary->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY t_c ON t USING fptree (c DESC)');
	$primary->safe_psql('postgres', with_lines('2,3', 'REINDEX INDEX CONCURRENTLY t_b'));
	$primary->safe_psql('postgres', with_lines('1,2', 'REINDEX INDEX t_d'));
	both_agree("round $round, rebuilt");
}
$primary->safe_psql('postgres', "TRUNCATE t;\n$rebuild");
$primary->safe_psql('postgres', 'SELECT fill(1000, 5)');
$primary->safe_psql('postgres', "VACUUM FULL t;\n$rebuild");
both_agree('truncated and filled');

# Index-only scans: on the standby as on the primary (027_standby_index_only)
$primary->safe_psql('postgres', 'VACUUM ANALYZE t');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
my $explain = q{SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT a FROM t ORDER BY a LIMIT 5};
like($primary->safe_psql('postgres', $explain), qr/Index Only Scan\) on t\n *Index Name: t_a/,
	'index-only scan on the primary');
like($standby->safe_psql('postgres', $explain), qr/Index Only Scan\) on t\n *Index Name: t_a/,
	'index-only scan on the standby');

kill('TERM', $reader->{run}->{KIDS}->[0]->{PID});
$reader->{expected} = 1;
finish_pgbench($reader);
unlike($reader->{err}, qr/division by zero|corrupt/,
	'no reader on the standby lost a row');
unlike($reader->{err}, qr/ERROR/, 'no reader on the standby failed')
  or diag($reader->{err});

# Promotion, and life after it
$standby->promote;
same_as_seqscan($standby, 'promoted: scans agree', @queries);
verify($standby, 'promoted: indexes are sound');
$standby->safe_psql('postgres', 'SELECT fill(5000, 99)');
$standby->safe_psql('postgres', 'DELETE FROM t WHERE b % 2 = 0');
$standby->safe_psql('postgres', 'VACUUM t');
$standby->safe_psql('postgres', 'INSERT INTO acc SELECT i, i FROM generate_series(501, 3000) i');
same_as_seqscan($standby, 'written after promotion: scans agree', @queries);
verify($standby, 'written after promotion: indexes are sound');
like($standby->safe_psql('postgres', "VACUUM t; $explain"),
	qr/Index Only Scan\) on t\n *Index Name: t_a/, 'index-only scans after promotion');

$standby->stop;
$primary->stop;
no_crash($primary);
no_crash($standby);
done_testing();

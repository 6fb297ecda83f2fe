# Index-only scans on a standby: replay takes entries away while scans hold them,
# and soon after the visibility map vouches for what else is in their place.  No
# row that is gone is returned, whichever way its entry went: it stayed on its leaf
# until VACUUM came, it was moved by a split before, or an insertion removed it.
# What btree returns is printed beside.
#
# FPT_STANDBY_ONLY_SECONDS sets how long all of that is done at random (5).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes;

my $seconds = $ENV{FPT_STANDBY_ONLY_SECONDS} || 5;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
# A page that somebody else has pinned VACUUM leaves as it is: nobody does.
$primary->append_conf('postgresql.conf', q{
bgwriter_lru_maxpages = 0
log_statement = none
autovacuum = off
fsync = off
jit = off
max_wal_size = 4GB
wal_keep_size = 1GB
checkpoint_timeout = 1h
max_standby_streaming_delay = '200ms'
wal_retrieve_retry_interval = 100ms
session_preload_libraries = 'fptree'
});
$primary->start;
install_helpers($primary);
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

sub catch_up
{
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	return;
}

# --- tables: f has an index of image keys, g one of general keys, b is btree's ---

# w is f in a table of more than 255 MB, for which the visibility map has two pages.

my %tables = (f => 'fptree (k)', g => 'fptree (v, k)', b => 'btree (k)', w => 'fptree (k)');
my %key = (f => 'k', g => 'v', b => 'k', w => 'k');

# All entries of 300 rows are on one leaf.  24 rows are on a heap page, but the
# first and the last one have one for themselves, lest cursors that have returned
# these hold up replay as any scan does: by pins of heap pages.
sub make
{
	my ($table) = @_;

	$primary->safe_psql('postgres', qq{
DROP TABLE IF EXISTS $table;
CREATE TABLE $table (k int, v text COLLATE "C", pad text) WITH (autovacuum_enabled = off);
ALTER TABLE $table ALTER pad SET STORAGE PLAIN;
INSERT INTO $table SELECT i * 10, to_char(i * 10, 'FM0000000'),
	repeat('x', CASE WHEN i IN (1, 300) THEN 3900 ELSE 300 END)
FROM generate_series(1, 300) i ORDER BY i NOT IN (1, 300), i;
CREATE INDEX ${table}_i ON $table USING $tables{$table};
});
	$primary->safe_psql('postgres', "VACUUM (FREEZE, ANALYZE) $table");
	return;
}

# The rows are in turn at the beginning and at the end of the table, which is empty
# between: in key order each is in another page of the visibility map than the one
# before, and those that are to die have their bits in the second.
sub make_far
{
	my ($table) = @_;
	my $half = sub { return qq{
INSERT INTO $table SELECT i * 10, to_char(i * 10, 'FM0000000'),
	repeat('x', CASE WHEN i IN (1, 300) THEN 8000 ELSE 300 END)
FROM generate_series(1, 300) i WHERE i % 2 = $_[0] ORDER BY i NOT IN (1, 300), i;} };

	$primary->safe_psql('postgres', qq{
CREATE TABLE $table (k int, v text COLLATE "C", pad text) WITH (autovacuum_enabled = off);
ALTER TABLE $table ALTER pad SET STORAGE PLAIN;
} . $half->(1) . qq{
ALTER TABLE $table SET (fillfactor = 10);
INSERT INTO $table SELECT NULL, NULL, repeat('x', 600) FROM generate_series(1, 33000);
} . $half->(0) . qq{
DELETE FROM $table WHERE k IS NULL;});
	$primary->safe_psql('postgres', "VACUUM (FREEZE, ANALYZE) $table");
	$primary->safe_psql('postgres', "CREATE INDEX ${table}_i ON $table USING $tables{$table}");
	is($primary->safe_psql('postgres', qq{
SELECT string_agg(DISTINCT (k % 20 = 0) || ' ' || (ctid::text::point)[0]::int / 32672, ', ') FROM $table}),
		'false 0, true 1', "$table: rows in two pages of the visibility map");
	return;
}

# Entries among the others, until the leaf has no more room and longer, with a
# query before each 270.  Their rows are on heap pages of their own.
sub crowd
{
	my ($table, $query) = @_;

	$primary->safe_psql('postgres', join('', map { qq{
$query;
INSERT INTO $table SELECT i, to_char(i, 'FM0000000'), repeat('x', 300)
FROM generate_series($_ * 300, $_ * 300 + 299) i WHERE i % 10 <> 0;
} } 0 .. 9));
	return;
}

my $plan = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;';

# Two cursors that have read the leaf and have returned a row each: one by core's
# node and one by ours, which take turns
my $turn = 0;

sub open_cursors
{
	my ($table) = @_;
	my $session = $standby->background_psql('postgres', on_error_stop => 0);

	$session->query_safe("$plan BEGIN ISOLATION LEVEL REPEATABLE READ;");
	foreach my $dir ('ASC', 'DESC')
	{
		my $select = "SELECT $key{$table}::int AS n FROM $table ORDER BY $key{$table} $dir";
		my $own = $table ne 'b' && ($turn++ >> 1 ^ $turn) & 1;

		$session->query_safe('SET fptree.enable_indexonlyscan = ' . ($own ? 'on' : 'off') . ';');
		like($session->query_safe("EXPLAIN $select;"),
			$own ? qr/Fptree Index Only Scan\) on $table / :
			qr/Index Only Scan( Backward)? using ${table}_i/,
			"$table: index-only, $dir, " . ($own ? 'our node' : q{core's node}));
		$session->query_safe("DECLARE c_$dir CURSOR FOR $select;");
		is($session->query_safe("FETCH c_$dir;"),
			$dir eq 'ASC' ? 10 : 3000, "$table: first row, $dir");
	}
	return $session;
}

# Of what the cursors go on to return, that which they must not, or lack
sub wrong_rows
{
	my ($session, @rows) = @_;
	my @wrong;

	foreach my $dir ('ASC', 'DESC')
	{
		my $first = $dir eq 'ASC' ? 10 : 3000;
		my $answer = eval { $session->query("FETCH ALL c_$dir;") } // '';
		my %got = map { $_ => 1 } $first, split(/\n/, $answer);
		my %want = map { $_ => 1 } @rows;

		return 'cancelled' if $session->{stderr} =~ /FATAL|ERROR|terminat/;
		push @wrong, scalar(grep { !$want{$_} } keys %got) . ' too many, '
		  . scalar(grep { !$got{$_} } keys %want) . ' too few';
	}
	return join('; ', @wrong);
}

# What holds back, on the primary, rows that die or are made from now on
sub snapshot
{
	my $session = $primary->background_psql('postgres', on_error_stop => 1);

	$session->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;');
	return $session;
}

sub vacuum
{
	my ($table) = @_;

	$primary->safe_psql('postgres',
		"VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) $table");
	return;
}

sub leaves
{
	my ($table) = @_;

	return $primary->safe_psql('postgres',
		"SELECT leaf_pages FROM fptree_stat('${table}_i')");
}

# How the entries of dead rows leave the leaf before VACUUM has come and gone.
# Returns a table's rows that the standby's snapshot sees, and its session.
my $dead = 'k % 20 = 0 AND k BETWEEN 2000 AND 2600';
my %routes = (
	# VACUUM takes them from the leaf on which they were read; the cursors have
	# looked some of them up.
	'1, stays' => sub {
		my ($table) = @_;
		my $some = "$dead OR k BETWEEN 20 AND 50 OR k BETWEEN 2960 AND 2990";

		$primary->safe_psql('postgres', "DELETE FROM $table WHERE $some");
		catch_up();
		my $session = open_cursors($table);

		vacuum($table);
		return ($some, $session);
	},
	# A split moves them on; the leaf itself has none when VACUUM comes.  Until it
	# does, a snapshot of the primary's keeps them from being removed, another one
	# the new rows' pages from being called all-visible.
	'2, moved' => sub {
		my ($table) = @_;
		my $before = snapshot();

		$primary->safe_psql('postgres', "DELETE FROM $table WHERE $dead");
		catch_up();
		my $after = snapshot();
		my $session = open_cursors($table);

		crowd($table, '');
		cmp_ok(leaves($table), '>', 1, "$table: the leaf was split")
		  if $table ne 'b';
		$before->query_safe('COMMIT;');
		$before->quit;
		vacuum($table);
		$after->query_safe('COMMIT;');
		$after->quit;
		return ($dead, $session);
	},
	# The primary's scans notice that they are dead, and an insertion that needs
	# the room removes them.
	'3, removed' => sub {
		my ($table) = @_;

		$primary->safe_psql('postgres', "DELETE FROM $table WHERE $dead");
		catch_up();
		my $after = snapshot();
		my $session = open_cursors($table);

		crowd($table, "$plan SELECT count(*) FROM $table");
		is($primary->safe_psql('postgres', "SELECT sum(entries) FROM fptree_stat('${table}_i')"),
			2969, "$table: insertions removed the entries") if $table ne 'b';
		vacuum($table);
		$after->query_safe('COMMIT;');
		$after->quit;
		return ($dead, $session);
	});

foreach my $route (sort keys %routes)
{
	foreach my $table (sort keys %tables)
	{
		# the first route will do
		next if $table eq 'w' && $route !~ /stays/;
		$table eq 'w' ? make_far($table) : make($table);
		my ($gone, $session) = $routes{$route}->($table);

		catch_up();
		my @rows = split(/\n/, $primary->safe_psql('postgres',
			"SELECT i * 10 FROM generate_series(1, 300) i, LATERAL (SELECT i * 10) x(k) WHERE NOT ($gone)"));
		my $wrong = wrong_rows($session, @rows);

		if ($table eq 'b')
		{
			note("route $route: btree: $wrong");
		}
		else
		{
			is($wrong, '0 too many, 0 too few; 0 too many, 0 too few',
				"route $route, $table: the rows of the snapshot");
		}
		eval { $session->quit };
	}
}

# --- a batch that is marked, left and restored ---

# The inner side of the join is read twice, from the same mark.  Between the two,
# dead entries of its first leaf are removed: what has been looked up in the last
# one, all of it visible, says nothing about them.  The row returned last is on a
# heap page of its own, with nothing to be pruned.
$primary->safe_psql('postgres', q{
CREATE TABLE o (k int) WITH (autovacuum_enabled = off);
INSERT INTO o VALUES (5), (5);
CREATE INDEX o_k ON o USING fptree (k);
CREATE TABLE m (k int, id int, pad text) WITH (autovacuum_enabled = off);
INSERT INTO m SELECT 5, i, repeat('x', 300) FROM generate_series(1, 3000) i;
CREATE INDEX m_k ON m USING fptree (k)});
$primary->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) o, m');
$primary->safe_psql('postgres', q{
DELETE FROM m WHERE id < 500 AND id % 2 = 0;
INSERT INTO m SELECT 5, i, repeat('x', 3900) FROM generate_series(3001, 3002) i});
cmp_ok($primary->safe_psql('postgres', q{SELECT leaf_pages FROM fptree_stat('m_k')}),
	'>', 1, 'join: the inner side has several leaves');
catch_up();

my $join = $standby->background_psql('postgres', on_error_stop => 1);
$join->query_safe("$plan SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_material = off;");
$join->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ;');
foreach my $own ('on', 'off')
{
	$join->query_safe("SET fptree.enable_indexonlyscan = $own;");
	like($join->query_safe('EXPLAIN SELECT m.k FROM o JOIN m USING (k);'),
		$own eq 'on' ? qr/Merge Join.*Index Only Scan\) on o .*Index Only Scan\) on m /s :
		qr/Merge Join.*Index Only Scan using o_k.*Index Only Scan using m_k/s,
		"join: index-only, and the inner side is marked; our node $own");
	$join->query_safe("DECLARE c_$own CURSOR FOR SELECT m.k FROM o JOIN m USING (k);");
	is(scalar(my @first = split(/\n/, $join->query_safe("FETCH 2753 c_$own;"))),
		2753, "join: all rows, the first time; our node $own");
}
vacuum('m');
catch_up();
foreach my $own ('on', 'off')
{
	is(scalar(my @second = split(/\n/, $join->query_safe("FETCH ALL c_$own;"))),
		2753, "join: as many, the second time; our node $own");
}
$join->quit;

# --- plans are those of the primary ---

# Statistics know nothing of the latest rows: the planner looks the column's
# present maximum up.
make($_) foreach 'f', 'g';
$primary->safe_psql('postgres', q{
CREATE INDEX f_part ON f USING fptree (v) WHERE k > 2900;
ALTER TABLE f ALTER k SET STATISTICS 1;
ANALYZE f;
INSERT INTO f SELECT i, to_char(i, 'FM0000000'), '' FROM generate_series(3001, 4000) i});
catch_up();
foreach my $query (
	'SELECT count(*) FROM f', 'SELECT count(*) FROM f WHERE k > 2900',
	'SELECT min(k), max(k) FROM f', 'SELECT count(k) FROM f WHERE k > 3500',
	'SELECT v FROM g ORDER BY v DESC LIMIT 5',
	'SELECT count(*) FROM g a JOIN g b USING (v)')
{
	my ($here, $there) = map {
		$_->safe_psql('postgres', "$plan SET enable_hashjoin = off; EXPLAIN $query")
	} $primary, $standby;

	like($there, qr/Index Only Scan|Fptree Count/, "$query: index-only");
	is($there, $here, "$query: planned as on the primary");
}
cmp_ok($standby->safe_psql('postgres', 'EXPLAIN SELECT * FROM f WHERE k > 3500')
	  =~ /rows=(\d+)/ ? $1 : 0,
	'>', 20, 'the present maximum is looked up');

# --- at random ---

# Updates in pairs leave the number of rows and the sum as they are.
$primary->safe_psql('postgres', q{
DROP TABLE f, g, b;
CREATE TABLE f (id int, k int, v text, pad text) WITH (autovacuum_enabled = off);
INSERT INTO f SELECT i, hashint4(i) / 2, (hashint4(i) / 2)::text, repeat('x', 100) FROM generate_series(0, 1999) i;
CREATE TABLE g (LIKE f) WITH (autovacuum_enabled = off);
INSERT INTO g SELECT * FROM f;
CREATE TABLE b (LIKE f) WITH (autovacuum_enabled = off);
INSERT INTO b SELECT * FROM f;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX f_k ON f USING fptree (k);
RESET fptree.debug_node_lines;
CREATE INDEX f_id ON f USING fptree (id);
CREATE INDEX g_v ON g USING fptree (v);
CREATE INDEX g_id ON g USING fptree (id, k);
CREATE INDEX b_k ON b USING btree (k);
CREATE INDEX b_id ON b USING btree (id);

CREATE FUNCTION churn(t regclass, r int, d int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('UPDATE %s SET k = k + n, v = (k + n)::text
		FROM (SELECT id, CASE id %% 2 WHEN 0 THEN %s ELSE -%s END FROM %s) s(i, n)
		WHERE id = i AND (id / 2) %% 10 = %s', t, d, d, t, r);
END $$;

-- Ask in several ways; each row read may take its time.
CREATE PROCEDURE watch(t regclass, x text, total int8, seconds float, INOUT answer text)
LANGUAGE plpgsql AS $$
DECLARE
	until timestamptz := clock_timestamp() + seconds * interval '1 s';
	n int := 0;
	wrong int := 0;
	rows int;
	sum int8;
	v int8;
BEGIN
	PERFORM set_config('enable_' || unnest('{seqscan,sort,bitmapscan,hashjoin,nestloop}'::text[]), 'off', false);
	COMMIT;
	WHILE n < 10 OR clock_timestamp() < until LOOP
		rows := 2000;
		sum := total;
		CASE n % 6
		WHEN 0 THEN
			EXECUTE format('SELECT count(*), sum(%s::int8) FROM %s WHERE id >= 0', 'id', t) INTO rows, sum;
			sum := sum - 1999000 + total;
		WHEN 1 THEN
			EXECUTE format('SELECT count(*) FROM %s', t) INTO rows;
		WHEN 2 THEN
			-- the inner side is marked and restored
			EXECUTE format('SELECT count(*) FROM %s a JOIN %s b USING (id)', t, t) INTO rows;
		WHEN 3 THEN
			EXECUTE format('SELECT count(*) + 1000 FROM %s WHERE id = ANY ($1)', t) INTO rows
				USING ARRAY(SELECT generate_series(0, 1998, 2));
		ELSE
			rows := 0;
			sum := 0;
			FOR v IN EXECUTE format('SELECT %s::int8 AS n FROM %s t ORDER BY t.%s %s', x, t, x,
									CASE n % 6 WHEN 4 THEN 'ASC' ELSE 'DESC' END) LOOP
				rows := rows + 1;
				sum := sum + v;
				IF random() < 0.0015 THEN
					PERFORM pg_sleep(0.03);
				END IF;
			END LOOP;
		END CASE;
		n := n + 1;
		IF rows <> 2000 OR sum <> total THEN
			wrong := wrong + 1;
		END IF;
		COMMIT;
	END LOOP;
	answer := format('%s queries, %s wrong', n, wrong);
END $$;
});
$primary->safe_psql('postgres', 'VACUUM (ANALYZE) f, g, b');
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = -1\n");
$standby->reload;
catch_up();

my $total = $primary->safe_psql('postgres', 'SELECT sum(k) FROM f');

# What writes to the primary, for so long, while these ask the standby
sub watched
{
	my ($time, @who) = @_;
	my $load = start_pgbench($primary, '-c 1 -T ' . ($time + 1), 'churn' => q{
\set r random(0, 9)
\set d random(1, 100000)
SELECT churn('f', :r, :d), churn('g', :r, :d), churn('b', :r, :d);
SELECT pg_sleep(0.03);
VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) f, g, b;
}, 'remove' => q{
\set r random(0, 9)
\set s random(0, 9)
\set d random(1, 100000)
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT churn('f', :r, :d), churn('g', :r, :d), churn('b', :r, :d);
SELECT count(k) FROM f;
SELECT count(v) FROM g;
SELECT count(k) FROM b;
SELECT churn('f', :s, :d), churn('g', :s, :d), churn('b', :s, :d);
SELECT pg_sleep(0.03);
VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) f, g, b;
});
	my @sessions = map {
		$standby->background_psql('postgres', on_error_stop => 1,
			timeout => $time + $PostgreSQL::Test::Utils::timeout_default)
	} @who;

	$sessions[$_]->query_until(qr/started/,
		"\\echo started\nCALL watch('$who[$_][0]', '$who[$_][1]', $total, $time, '');\n")
	  foreach 0 .. $#who;
	return ($load, @sessions);
}

my ($load, @sessions) = watched($seconds, [ 'f', 'k' ], [ 'g', 'v' ]);
my $parallel = start_pgbench($standby, "-c 1 -T $seconds", 'parallel' => qq{
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SELECT 1 / (count(*) = 2000 AND sum(k) = $total)::int FROM f WHERE k > -2147483648;
SELECT 1 / (count(*) = 2000)::int FROM g WHERE v > '';
\\sleep 5 ms
});
ok(finish_pgbench($parallel), 'parallel scans: no wrong answer');
foreach my $table ('f', 'g')
{
	my $answer = (shift @sessions)->query_safe('SELECT 1;');

	note("$table: $answer");
	like($answer, qr/^\d+ queries, 0 wrong\n/, "$table: no wrong answer");
}
ok(finish_pgbench($load), 'writers');
($load, my $btree) = watched(1 + int($seconds / 5), [ 'b', 'k' ]);
note('btree: ' . $btree->query('SELECT 1;'));
$btree->quit;
finish_pgbench($load);

# --- promotion in the middle of a scan ---

# Of several leaves the first one has been read, when the server is a standby no
# more.  It must still be doubted what was read before that: q's entries are
# removed while there is recovery.  What is read from then on is protected by
# pins, as on any primary, though the transaction has begun in recovery.
foreach my $table ('p', 'q')
{
	$primary->safe_psql('postgres', qq{
CREATE TABLE $table (k int, pad text) WITH (autovacuum_enabled = off);
INSERT INTO $table SELECT i, repeat('x', 300) FROM generate_series(1, 5000) i;
CREATE INDEX ${table}_k ON $table USING fptree (k)});
	$primary->safe_psql('postgres', "VACUUM (FREEZE, ANALYZE) $table");
	$primary->safe_psql('postgres', "DELETE FROM $table WHERE k > 100 AND k % 2 = 0");
}
catch_up();

my $scan = $standby->background_psql('postgres', on_error_stop => 1);
$scan->query_safe("$plan BEGIN ISOLATION LEVEL REPEATABLE READ;");
my %cursors = (a => 'p', b => 'p', c => 'q');
foreach my $c (sort keys %cursors)
{
	$scan->query_safe("DECLARE $c CURSOR FOR SELECT k FROM $cursors{$c} ORDER BY k;");
	is($scan->query_safe("FETCH $c;"), '1', "cursor $c: first row");
}
vacuum('q');
catch_up();
verify($standby, 'indexes of the standby are sound');
$primary->stop;
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
is(scalar(my @c = split(/\n/, $scan->query_safe('FETCH ALL c;'))),
	2549, 'promoted: no row is returned that recovery took away');
# into leaves read after the promotion
my @got = split(/\n/, $scan->query_safe('FETCH 2400 a;'));
my $vacuum = $standby->background_psql('postgres');
$vacuum->query_until(qr/started/, "\\echo started\nVACUUM p;\n\\echo done\n");
ok( $standby->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
	WHERE query LIKE 'VACUUM p%' AND wait_event IN ('BufferPin', 'BufferCleanup')}),
	'promoted: VACUUM waits for the pin');
push @got, split(/\n/, $scan->query_safe('FETCH ALL a;'));
is(scalar(@got), 2549, 'promoted: no row that is gone is returned');
# this one has returned a row of the first leaf only
$scan->query_safe('CLOSE a;');
$standby->poll_query_until('postgres', q{SELECT count(*) = 0 OR bool_and(wait_event IN ('BufferPin', 'BufferCleanup'))
FROM pg_stat_activity WHERE query LIKE 'VACUUM p%' AND state = 'active'});
is(scalar(my @b = split(/\n/, $scan->query_safe('FETCH ALL b;'))),
	2549, 'promoted: nor by the other cursor');
$scan->quit;
$vacuum->quit;
verify($standby, 'indexes of the promoted standby are sound');
$standby->stop;
no_crash($_) foreach $primary, $standby;
done_testing();

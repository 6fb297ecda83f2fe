# What the crash campaigns share: tables, a write load, a session whose commits
# are remembered, and what must hold after each recovery.

package FptCrash;

use strict;
use warnings;

use Exporter 'import';
use FptTest;
use IPC::Run;
use List::Util qw(shuffle);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(
  crash_conf crash_settings crash_schema start_load let_run stop_load crash_queries
  after_crash start_again trim_tables
);

# Few buffers and a busy background writer send pages to disk at all times, so
# that recovery finds pages of every age.
my $conf = q{
bgwriter_delay = 10ms
bgwriter_lru_maxpages = 1000
bgwriter_flush_after = 0
checkpoint_timeout = 30s
autovacuum = off
jit = off
max_connections = 20
log_statement = none
log_min_messages = warning
session_preload_libraries = 'fptree'
include_if_exists = 'crash.conf'
};

sub crash_conf
{
	my ($node, $more) = @_;

	$node->append_conf('postgresql.conf', $conf . ($more // ''));
	return;
}

# Other settings for each start of the server; %set overrides the dice.
sub crash_settings
{
	my ($node, %set) = @_;
	my %s = (
		shared_buffers => (qw(1MB 2MB 4MB))[ int(rand(3)) ],
		full_page_writes => rand() < 0.5 ? 'on' : 'off',
		wal_level => rand() < 0.5 ? 'minimal' : 'replica',
		max_wal_senders => 0,
		wal_compression => rand() < 0.3 ? 'on' : 'off',
		wal_consistency_checking => rand() < 0.5 ? 'all' : '',
		max_parallel_maintenance_workers => int(rand(3)),
		min_parallel_table_scan_size => 0,
		%set);

	# Without full page images the redo of a file that is dropped later meets
	# pages of zeroes, which redo passes over but the comparison does not.
	$s{wal_consistency_checking} = '' if $s{full_page_writes} eq 'off';

	# Nothing repairs torn pages then: neither what the killed server wrote, nor
	# what the next one writes in recovery from its WAL.
	my $images = $node->{full_page_writes} // 'on';

	$node->{whole_writes} = $s{full_page_writes} eq 'off' || $images eq 'off';
	$node->{full_page_writes} = $s{full_page_writes};

	my $file = $node->data_dir . '/crash.conf';

	open(my $fh, '>', $file) or die "$file: $!";
	print $fh "$_ = '$s{$_}'\n" foreach sort keys %s;
	close($fh);
	return %s;
}

# Statements with indexes of the access method $how{am}, in the place of fptree to
# test the tests, or striped over the tablespaces of a list.
sub with_indexes
{
	my ($sql, %how) = @_;

	if ($how{tablespaces})
	{
		my $option = "tablespaces = '$how{tablespaces}'";

		$sql =~ s/WITH \(fillfactor/WITH ($option, fillfactor/g;
		$sql =~ s/(USING fptree \([^()]*\));/$1 WITH ($option);/g;
	}
	if (($how{am} // 'fptree') ne 'fptree')
	{
		$sql =~ s/USING fptree/USING $how{am}/g;
	}
	return $sql;
}

# %how: see with_indexes()
sub crash_schema
{
	my ($node, %how) = @_;
	my $sql = q{
CREATE TABLE t (id int, a int4, b int8, c uuid, d float8, e timestamptz, f text);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 90);
SET fptree.debug_node_lines = '1,2';
CREATE INDEX t_b ON t USING fptree (b DESC)
	WITH (fillfactor = 70);
CREATE INDEX t_c ON t USING fptree (c)
	WITH (fillfactor = 20);
RESET fptree.debug_node_lines;
CREATE INDEX t_d ON t USING fptree (d NULLS FIRST);
CREATE INDEX t_e ON t USING fptree (e) WITH (fillfactor = 20) WHERE a > 0;
CREATE INDEX t_f ON t USING fptree (f) WITH (fillfactor = 30);
CREATE INDEX t_g ON t USING fptree (b, f DESC) INCLUDE (a) WITH (fillfactor = 70);
CREATE TABLE u (k int, n int);
SET fptree.debug_node_lines = '1,1';
CREATE UNIQUE INDEX u_k ON u USING fptree (k)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
CREATE SEQUENCE s;
CREATE TABLE q (i int8);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX q_i ON q USING fptree (i)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
CREATE SEQUENCE done_s;
CREATE TABLE done (n int);
SET fptree.debug_node_lines = '1,1';
CREATE UNIQUE INDEX done_n ON done USING fptree (n);
RESET fptree.debug_node_lines;
INSERT INTO t SELECT i, hashint4(i), i % 5, overlay(overlay(md5(i::text) placing '4' from 13)
		placing '8' from 17)::uuid, i,
	'epoch'::timestamptz + i * interval '1 hour', md5((-i)::text)
	FROM generate_series(1, 3000) i;
};

	$node->safe_psql('postgres', with_indexes($sql, %how));
	return;
}

# Random and ascending inserts, updates, range deletes that empty pages,
# duplicates, rollbacks, unique keys, indexes built without WAL in the transaction
# that makes their table, unlogged ones, checkpoints right after builds; concurrent
# builds by one session, VACUUM.
my %load = (
	'insert@6' => q{
\set r random(-1000000000, 1000000000)
\set n random(1, 60)
INSERT INTO t SELECT :r % 1000, :r + i * 7919, i % 5,
	overlay(overlay(md5((:r + i)::text) placing '4' from 13)
		placing substr('8888888888888888888b', 1 + i % 20, 1) from 17)::uuid,
	CASE WHEN i % 7 > 0 THEN :r / (i + 1.0) END,
	'epoch'::timestamptz + (:r / 1000 + i % 3) * interval '1 s', md5((:r - i)::text)
	FROM generate_series(1, :n) i;
},
	'unique@4' => q{
\set k random(1, 3000)
INSERT INTO u VALUES (:k, 1) ON CONFLICT (k) DO UPDATE SET n = u.n + 1;
DELETE FROM u WHERE k = 3000 + :k;
INSERT INTO u SELECT 3001 + :k + i, 0 FROM generate_series(1, 20) i ON CONFLICT DO NOTHING;
},
	'queue@4' => q{
INSERT INTO q SELECT nextval('s') FROM generate_series(1, 80);
DELETE FROM q WHERE i < (SELECT last_value FROM s) - 8000;
},
	'delete@3' => q{
\set r random(-1000000000, 1000000000)
\set k random(1, 6000)
DELETE FROM t WHERE a BETWEEN :r AND :r + 20000000;
DELETE FROM u WHERE k BETWEEN :k AND :k + 100;
},
	'update@3' => q{
\set r random(-1000000000, 1000000000)
UPDATE t SET a = -a, b = b + 1 WHERE a BETWEEN :r AND :r + 1000000;
},
	'churn@3' => q{
\set r random(0, 9)
UPDATE t SET b = b + 1 WHERE id % 10 = :r AND id < 2000;
},
	'build@1' => q{
\set p random(1, 3)
DROP TABLE IF EXISTS b_:client_id;
BEGIN;
CREATE TABLE b_:client_id AS SELECT hashint4(i) AS a FROM generate_series(1, 800) i;
SET fptree.debug_node_lines = '1,1';
CREATE INDEX ON b_:client_id USING fptree (a)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
INSERT INTO b_:client_id SELECT i FROM generate_series(1, 200) i;
COMMIT;
\if :p = 1
CHECKPOINT;
\endif
INSERT INTO b_:client_id SELECT -i FROM generate_series(1, 200) i;
},
	'unlogged@1' => q{
\set p random(1, 3)
DROP TABLE IF EXISTS n_:client_id;
CREATE UNLOGGED TABLE n_:client_id AS SELECT i AS a FROM generate_series(1, 300) i;
CREATE INDEX ON n_:client_id USING fptree (a);
\if :p = 1
CHECKPOINT;
\endif
INSERT INTO n_:client_id SELECT -i FROM generate_series(1, 500) i;
},
	'rollback@1' => q{
\set r random(-1000000000, 1000000000)
BEGIN;
INSERT INTO t SELECT i, :r + i, 7, NULL, 7 FROM generate_series(1, 200) i;
ROLLBACK;
},
	'concurrent@2' => q{
\set p random(0, 4)
\if :client_id = 0
\if :p = 0
DROP INDEX IF EXISTS t_x;
CREATE INDEX CONCURRENTLY t_x ON t USING fptree (a DESC) WITH (fillfactor = 20);
\elif :p = 1
SET fptree.debug_node_lines = '1,1';
REINDEX INDEX CONCURRENTLY t_a;
RESET fptree.debug_node_lines;
\elif :p = 2
SET fptree.debug_node_lines = '1,1';
REINDEX INDEX CONCURRENTLY q_i;
RESET fptree.debug_node_lines;
\elif :p = 3
REINDEX INDEX CONCURRENTLY t_g;
\else
SET fptree.debug_node_lines = '1,1';
REINDEX INDEX u_k;
RESET fptree.debug_node_lines;
\endif
\endif
},
	'vacuum@1' => "VACUUM t;\nVACUUM u;\nVACUUM q;\n",
	'checkpoint@1' => "\\set p random(1, 10)\n\\if :p = 1\nCHECKPOINT;\n\\endif\n"
);

sub crash_queries
{
	return (
		"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE a > 0",
		"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE a < 50000000",
		"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE b < 4",
		"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE c > '80000000-0000-0000-0000-000000000000'",
		"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE d IS NULL",
		"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE a > 0 AND e < '1975-01-01'",
		"SELECT count(*) || ' ' || sum(id::int8) FROM t WHERE f >= 'b' AND f < 'd'",
		"SELECT count(*) || ' ' || sum(a::int8) FROM t WHERE b = ANY ('{1,3}') AND f < 'c'",
		"SELECT md5(string_agg(a::text, ',')) FROM (SELECT a FROM t ORDER BY a) s",
		"SELECT count(*) || ' ' || sum(n) FROM u WHERE k > 0",
		"SELECT count(*) || ' ' || sum(i) FROM q WHERE i > 0");
}

my %commits_files;

# Start the load, and a session whose commits are acknowledged one by one, no more
# than $how{rate} transactions a second; indexes as by with_indexes().
sub start_load
{
	my ($node, %how) = @_;
	my $rate = $how{rate} // 0;
	my %scripts = map { $_ => with_indexes($load{$_}, %how) } keys %load;
	my $self = { out => '', err => '' };

	# once for all cycles
	if (!$commits_files{$rate})
	{
		my $sleep = $rate ? ' FROM pg_sleep(' . 1 / $rate . ')' : '';

		$commits_files{$rate} =
		  PostgreSQL::Test::Utils::tempdir() . '/done.sql';
		append_to_file($commits_files{$rate},
			"INSERT INTO done SELECT nextval('done_s')$sleep RETURNING n;\n"
			  x 20000);
	}
	$self->{bench} = start_pgbench($node,
		'-c 4 -T 3600 --max-tries=1000' . ($rate ? " -R $rate" : ''),
		%scripts);
	$self->{bench}->{expected} = 1;
	$self->{psql} = IPC::Run::start(
		[
			$node->installed_command('psql'), '-XAtq', '-h',
			$node->host, '-p', $node->port, '-f', $commits_files{$rate},
			'postgres'
		],
		'<', \undef, '>', \$self->{out}, '2>', \$self->{err});
	return $self;
}

# Let the load run for a random time from the first commit on, of at most so many
# milliseconds: many short cycles find more than few long ones.
sub let_run
{
	my ($self) = @_;
	my $ms = $ENV{FPT_CRASH_MS} || 400;

	eval {
		IPC::Run::pump($self->{psql})
		  while $self->{out} !~ /\n/ && IPC::Run::pumpable($self->{psql});
	};
	usleep(int(rand(1000 * $ms)));
	return;
}

# Wait for what a crash has left of the load.  Errors other than of the
# connection are returned; acknowledged commits are kept for after_crash().
sub stop_load
{
	my ($self) = @_;

	finish_pgbench($self->{bench});
	IPC::Run::finish($self->{psql});
	# a line may be cut off
	$self->{out} =~ s/[^\n]*\z//;
	return join('',
		map { "$_\n" }
		  grep { /ERROR:|FATAL:|PANIC:/ && !/terminat|shutting down|starting up|recovery mode/ }
		  split(/\n/, "$self->{bench}->{err}\n$self->{err}"));
}

# Start a server that was killed; one in ten times kill it in recovery first, and
# do what is to be done after a crash.
sub start_again
{
	my ($node, $crashed) = @_;

	if (rand() < 0.1)
	{
		spawn_server($node);
		usleep(int(rand(150_000)));
		kill_all($node);
		$crashed->() if $crashed;
	}
	return 0 if !start_server($node);
	# recovery ends with a checkpoint
	$node->{whole_writes} = ($node->{full_page_writes} // 'on') eq 'off';
	return 1;
}

# All that must hold once the server is up again: no acknowledged commit of the
# load is lost, scans agree, indexes are sound.  Problems, or an empty string.
sub after_crash
{
	my ($node, $load, $some) = @_;
	my @acked = $load ? split(/\n/, $load->{out}) : ();
	my @queries = crash_queries();
	my $twice = 'true';

	# in cycles of a campaign mostly some of the queries and the larger one of
	# the checks, for they are what a cycle takes
	if ($some && rand() < 0.9)
	{
		@queries = (shuffle @queries)[ 0 .. 2 ];
		$twice = 'false';
	}

	my $list = join(', ', map { "\$q\$$_\$q\$" } @queries);
	my $numbers = join(',', @acked);
	my $sql = '';

	# what a concurrent build leaves behind is not maintained any more
	$sql .= q{
SELECT format('DROP INDEX %s', indexrelid::regclass)
FROM pg_index WHERE NOT indisvalid AND NOT pg_is_in_recovery()
\gexec
};
	$sql .= q{
SELECT bt_index_check(indexrelid, true) FROM pg_index
WHERE indrelid = ANY ('{t,u,q,done}'::regclass[])
	AND (SELECT relam FROM pg_class WHERE oid = indexrelid) = 403;
} if $load && $load->{amcheck};
	$sql .= "SELECT fpt_differ(ARRAY[$list]);\nSELECT fpt_verify($twice);\n";
	if (@acked)
	{
		my $n = @acked;

		$sql .= "SELECT 'commits lost: ' || $n - count(*) FROM done "
		  . "WHERE n = ANY ('{$numbers}') HAVING count(*) <> $n;\n";
	}

	my ($rc, $out, $err);

	# dies if there is no connection
	eval { ($rc, $out, $err) = $node->psql('postgres', $sql); 1 }
	  or return "no answer: $@";

	# void results are empty lines
	$out =~ s/^\s+//;
	return $out . $err . ($rc != 0 ? "psql: $rc" : '');
}

# Keep the tables from growing.
sub trim_tables
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
DELETE FROM t WHERE ctid IN (SELECT ctid FROM t ORDER BY random() OFFSET 3000);
DELETE FROM done;
VACUUM done;
});
	return;
}

1;

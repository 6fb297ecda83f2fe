# What the server's own programs do to clusters with fptree indexes:
# pg_checksums, pg_basebackup and pg_verifybackup, a standby of a standby,
# pg_rewind.  Indexes of all kinds are sound, complete and right afterwards.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $origin = PostgreSQL::Test::Cluster->new('origin');

$origin->init(allows_streaming => 1);
without_checksums($origin);
$origin->append_conf('postgresql.conf', q{
log_statement = none
autovacuum = off
checkpoint_timeout = 1h
wal_keep_size = 1GB
hot_standby_feedback = on
wal_retrieve_retry_interval = 100ms
max_parallel_maintenance_workers = 0
});
$origin->start;
install_helpers($origin);
$origin->safe_psql('postgres', q{
CREATE TABLE t (id int, a int, b int8, c uuid, f text);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 90);
CREATE INDEX t_b ON t USING fptree (b DESC, id) INCLUDE (a)
	WITH (fillfactor = 50);
RESET fptree.debug_node_lines;
CREATE UNIQUE INDEX t_c ON t USING fptree (c) WITH (fillfactor = 30);
CREATE INDEX t_f ON t USING fptree (f) WHERE a > 0;
CREATE TABLE empty (a int);
CREATE INDEX empty_a ON empty USING fptree (a);
CREATE UNLOGGED TABLE n (a int);
CREATE INDEX n_a ON n USING fptree (a);
INSERT INTO n SELECT hashint4(i) FROM generate_series(1, 3000) i;
CREATE SEQUENCE s;
CREATE FUNCTION fill(rows int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO t SELECT i, hashint4(i), i % 50, md5(i::text)::uuid, md5((-i)::text)
	FROM (SELECT nextval('s')::int AS i FROM generate_series(1, rows)) s $$;
SELECT fill(6000);
DELETE FROM t WHERE b BETWEEN 10 AND 30;
});
$origin->safe_psql('postgres', 'VACUUM t');

my @queries = (
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE a > 0",
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE b < 25",
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE c > '80000000-0000-0000-0000-000000000000'",
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE a > 0 AND f >= 'b'",
	"SELECT md5(string_agg(a::text, ',')) FROM (SELECT a FROM t ORDER BY a) s");

sub sound
{
	my ($node, $what) = @_;

	verify($node, "$what: indexes are sound");
	same_as_seqscan($node, "$what: scans agree", @queries);
	return;
}

sub digest
{
	my ($node) = @_;

	return $node->safe_psql('postgres',
		'SELECT array_to_string(ARRAY['
		  . join(', ', map { "($_)" } @queries)
		  . "], '\n')");
}

# Splits, removal of pages, rebuilds
sub write_on
{
	my ($node) = @_;

	$node->safe_psql('postgres', 'SELECT fill(3000)');
	$node->safe_psql('postgres', q{
DELETE FROM t WHERE id % 3 = 0 OR a BETWEEN 0 AND 1000000000;});
	$node->safe_psql('postgres', 'VACUUM t');
	$node->safe_psql('postgres', 'SELECT fill(2000)');
	$node->safe_psql('postgres', with_lines('1,1', 'REINDEX INDEX CONCURRENTLY t_b'));
	return;
}

# --- pg_checksums ---

my @checksums = ('pg_checksums', '-D', $origin->data_dir);

# Blocks that its check finds damaged
sub damaged
{
	my ($out, $err) = run_command([ @checksums, '--check' ]);

	return $out =~ /Bad checksums:\s+(\d+)/ ? $1 : "$out$err";
}

sub file_of
{
	my ($index) = @_;

	return $origin->data_dir . '/'
	  . $origin->safe_psql('postgres',
		"SELECT pg_relation_filepath('$index')");
}

my $before = digest($origin);
my $t_a = file_of('t_a');

$origin->stop;
command_ok([ @checksums, '--enable' ], 'pg_checksums --enable');
is(damaged(), 0, 'pg_checksums: no page is damaged');
$origin->start;
is(digest($origin), $before, 'with checksums: the same rows');
sound($origin, 'with checksums');

# Every page has a right checksum that is written from now on: by builds, which
# write around the buffers, by splits, unlinking, hints.
write_on($origin);
$origin->safe_psql('postgres', "REINDEX TABLE t;\n"
	  . with_lines('1,1', 'REINDEX INDEX t_a', 'REINDEX INDEX t_b') . q{
CREATE INDEX t_x ON t USING fptree (f, a);
INSERT INTO n SELECT i FROM generate_series(1, 3000) i;
REINDEX INDEX n_a;
UPDATE t SET b = b + 1 WHERE id % 5 = 0;});
$origin->safe_psql('postgres', 'SET enable_seqscan = off; ' . join('; ', @queries));
$t_a = file_of('t_a');
# the root, which a scan reads
my $page = $origin->safe_psql('postgres', "SELECT root FROM fptree_metap('t_a')");
$origin->stop;
is(damaged(), 0, 'pg_checksums: nor is one that was written then');

# the tool looks at these files at all
sub flip
{
	open(my $fh, '+<:raw', $t_a) or die "$t_a: $!";
	seek($fh, 8192 * $page + 4000, 0);
	read($fh, my $byte, 1);
	seek($fh, 8192 * $page + 4000, 0);
	print $fh chr(ord($byte) ^ 16);
	close($fh);
	return;
}
flip();
is(damaged(), 1, 'pg_checksums: a flipped bit is noticed');
$origin->start;
my (undef, undef, $err) = $origin->psql('postgres',
	'SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT sum(id) FROM t WHERE a > -2147483648');
like($err, qr/invalid page in block $page/, 'by a scan, too');
like($origin->safe_psql('postgres', 'SELECT fpt_verify()'),
	qr/t_a: invalid page in block $page/, 'and by the check');
$origin->stop;
flip();
is(damaged(), 0, 'flipped back');
$origin->start;
sound($origin, 'flipped back');

# --- pg_basebackup, and a standby of a standby ---

sub start_standby
{
	my ($name, $from, $backup) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init_from_backup($from, $backup, has_streaming => 1);
	start_server($node) or BAIL_OUT("$name does not start");
	return $node;
}

my $writers = start_pgbench($origin, '-c 2 -T 2 --max-tries=100', 'w' => q{
\set r random(1, 1000)
SELECT fill(20);
DELETE FROM t WHERE id % 1000 = :r;
});

$origin->backup('first');
$writers->{expected} = 0;
ok(finish_pgbench($writers), 'writers fare well during a base backup');
command_ok([ 'pg_verifybackup', $origin->backup_dir . '/first' ],
	'pg_verifybackup');

my $near = start_standby('near', $origin, 'first');

$near->backup('second');
command_ok([ 'pg_verifybackup', $near->backup_dir . '/second' ],
	'pg_verifybackup, taken from a standby');

my $far = start_standby('far', $near, 'second');

sub all_agree
{
	my ($what, $first, @others) = @_;

	wait_replayed($_, $first) foreach @others;
	sound($first, "$what, first");
	foreach my $node (@others)
	{
		sound($node, "$what, " . $node->name);
		is(digest($node), digest($first), "$what, " . $node->name . ': same answers');
	}
	return;
}

all_agree('cascade', $origin, $near, $far);
write_on($origin);
all_agree('cascade, written on', $origin, $near, $far);

# --- the middle one takes over; the far one follows it on its timeline ---

$origin->safe_psql('postgres', 'CHECKPOINT');
$near->promote;
# both go their own ways: mostly by other numbers, as a standby's sequence goes on
# after those that were logged ahead, and by one row in any case
write_on($near);
write_on($origin);
$origin->safe_psql('postgres', q{
INSERT INTO t VALUES (-1, 1, 0, md5('own')::uuid, 'own');
CREATE INDEX t_y ON t USING fptree (id);
DROP INDEX t_x;
BEGIN;
SELECT fill(500);
ROLLBACK;});
all_agree('promoted', $near, $far);
isnt(digest($origin), digest($near), 'the old one has gone its own way');

# --- pg_rewind ---

# the one that is rewound: stopped, or crashed and rewound all the same
foreach my $how ('fast', 'immediate')
{
	$origin->stop($how);
	# the tool writes a configuration of its own
	my $conf = slurp_file($origin->data_dir . '/postgresql.conf');
	my ($out, $errors);

	ok(IPC::Run::run(
			[
				'pg_rewind', '-D', $origin->data_dir,
				'--source-server', $near->connstr('postgres'),
				'--no-sync', '--progress'
			],
			'>', \$out, '2>', \$errors),
		"pg_rewind after $how shutdown") or diag($errors);
	note($errors);
	unlink($origin->data_dir . '/postgresql.conf');
	append_to_file($origin->data_dir . '/postgresql.conf', $conf);
	unlink($origin->data_dir . '/standby.signal')
	  if -e $origin->data_dir . '/standby.signal';
	$origin->enable_streaming($near);
	start_server($origin) or BAIL_OUT('no start after pg_rewind');
	write_on($near);
	all_agree("rewound after $how shutdown", $near, $origin);
	is($origin->safe_psql('postgres',
			"SELECT coalesce(to_regclass('t_y')::text, 'none')"),
		'none', 'what only the old one had is gone');
	next if $how eq 'immediate';

	# and back: the other one becomes the first again, with its own writes
	$near->safe_psql('postgres', 'CHECKPOINT');
	$origin->promote;
	write_on($origin);
	write_on($near);
	$far->stop;
	($origin, $near) = ($near, $origin);
	$origin->safe_psql('postgres', 'CREATE INDEX t_y ON t USING fptree (id)');
}

# the one that was rewound twice is written to by itself
$near->stop;
$origin->promote;
write_on($origin);
sound($origin, 'rewound and promoted');
$origin->stop;
@checksums = ('pg_checksums', '-D', $origin->data_dir);
is(damaged(), 0, 'pg_checksums: no page is damaged at the end');
no_crash($_) foreach $origin, $near, $far;
done_testing();

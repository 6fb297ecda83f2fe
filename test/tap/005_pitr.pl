# Point-in-time recovery to named points and to the very record of a page split
# or page deletion, base backups, copies of a database, dump and restore.
#
# FPT_PITR_POINTS sets the number of records recovery stops at (8).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $points = $ENV{FPT_PITR_POINTS} // 8;
my $seed = $ENV{FPT_PITR_SEED} || 20261122;

srand($seed);
note("seed $seed");

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(has_archiving => 1, allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
log_statement = none
autovacuum = off
checkpoint_timeout = 1h
wal_keep_size = 1GB
});
$node->start;
install_helpers($node);
$node->safe_psql('postgres', q{
CREATE TABLE t (id int, a int, b int8, c uuid);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 90);
CREATE INDEX t_b ON t USING fptree (b DESC)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
CREATE UNIQUE INDEX t_c ON t USING fptree (c);
INSERT INTO t SELECT i, hashint4(i), i % 50, md5(i::text)::uuid FROM generate_series(1, 2000) i;
});
$node->backup('base');

my $digest = q{SELECT (SELECT count(*) || ' ' || sum(id) FROM t WHERE a > 0) || ' ' ||
	(SELECT count(*) || ' ' || sum(id) FROM t WHERE b < 25)};
my @queries = (
	'SELECT count(*) || \' \' || sum(id) FROM t WHERE a > 0',
	'SELECT count(*) || \' \' || sum(id) FROM t WHERE b < 25',
	"SELECT count(*) || ' ' || sum(id) FROM t WHERE c > '80000000-0000-0000-0000-000000000000'",
	'SELECT md5(string_agg(a::text, \',\')) FROM (SELECT a FROM t ORDER BY a) s');

my $start = $node->lsn('insert');
my %at;
foreach my $round (1 .. 3)
{
	$node->safe_psql('postgres', "
INSERT INTO t SELECT i, hashint4(i + $round * 10000), i % 60, md5((i + $round * 10000)::text)::uuid
	FROM generate_series(1, 3000) i;
INSERT INTO t SELECT i, i, i, md5((i + $round * 777777)::text)::uuid FROM generate_series(1, 1000) i;");
	$node->safe_psql('postgres', "DELETE FROM t WHERE a BETWEEN -1000000000 AND 1000000000 OR b > 100 AND b < 800");
	$node->safe_psql('postgres', 'VACUUM t');
	$at{"point$round"} = $node->safe_psql('postgres', $digest);
	$node->safe_psql('postgres', "SELECT pg_create_restore_point('point$round')");
}
my $end = $node->lsn('insert');
my $segment = $node->safe_psql('postgres', 'SELECT pg_walfile_name(pg_current_wal_lsn())');
$node->safe_psql('postgres', 'INSERT INTO t VALUES (0, 0, 0, NULL)');
$node->safe_psql('postgres', 'SELECT pg_switch_wal()');
$node->poll_query_until('postgres',
	"SELECT last_archived_wal >= '$segment' FROM pg_stat_archiver")
  or die 'the segments are not archived';

sub recover
{
	my ($name, $target) = @_;
	my $copy = PostgreSQL::Test::Cluster->new($name);

	$copy->init_from_backup($node, 'base', has_restoring => 1, standby => 0);
	$copy->append_conf('postgresql.conf',
		"$target\nrecovery_target_action = promote\narchive_mode = off\n");
	$copy->start;
	$copy->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
	  or die "$name: recovery does not end";
	return $copy;
}

# Pages whose right sibling has no downlink yet
sub incomplete
{
	my ($copy) = @_;

	return $copy->safe_psql('postgres', q{
SELECT count(*) FROM unnest('{t_a,t_b,t_c}'::regclass[]) ix,
	generate_series(1, pg_relation_size(ix) / current_setting('block_size')::int8 - 1) p,
	fptree_page_stats(ix, p) s
WHERE s.flags & 4 <> 0 AND s.flags & 2 = 0});
}

my $incomplete = 0;

sub write_and_check
{
	my ($copy, $name) = @_;

	$incomplete += incomplete($copy);
	same_as_seqscan($copy, "$name: scans agree", @queries);
	verify($copy, "$name: indexes are sound");
	# whatever was left half done is finished by those who come by
	$copy->safe_psql('postgres', q{
INSERT INTO t SELECT i, hashint4(i + 77), i % 2000, md5((-i)::text)::uuid FROM generate_series(1, 4000) i;
DELETE FROM t WHERE a % 5 = 0;});
	$copy->safe_psql('postgres', 'VACUUM t');
	$copy->safe_psql('postgres', 'INSERT INTO t SELECT i, i, i, NULL FROM generate_series(1, 1000) i');
	same_as_seqscan($copy, "$name, written on: scans agree", @queries);
	verify($copy, "$name, written on: indexes are sound");
	is(incomplete($copy), 0, "$name, written on: no split is left incomplete");
	return;
}

foreach my $name (sort keys %at)
{
	my $copy = recover($name, "recovery_target_name = '$name'");

	is($copy->safe_psql('postgres', $digest), $at{$name}, "$name: same rows");
	write_and_check($copy, $name);
	$copy->stop;
	$copy->clean_node;
}

# Records of several pages are splits and deletions: stop right after such ones,
# where the second half is still to come.
my ($out, $err) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal',
	'-r', 'Generic', '-s', $start, '-e', $end ]);
my @multi = map { /lsn: ([0-9A-F]+\/[0-9A-F]+),.*blkref #1/ ? $1 : () }
  split(/\n/, $out);
note(scalar(@multi) . ' records of several pages');
cmp_ok(scalar(@multi), '>=', 5, 'there are records of several pages');
foreach my $i (1 .. $points)
{
	last unless @multi;
	my $lsn = splice(@multi, int(rand(@multi)), 1);
	my $copy = recover("lsn$i", "recovery_target_lsn = '$lsn'");

	write_and_check($copy, "recovered to $lsn");
	$copy->stop;
	$copy->clean_node;
}

# Most splits have a record of the new page before: stop between the two.  The
# page is a deleted one then, to which nothing leads.
my %filenode = reverse map { split(/\|/) } split(/\n/, $node->safe_psql('postgres', q{
SELECT relname, pg_relation_filenode(oid) FROM pg_class WHERE relname ~ '^t_'}));
my ($before, %new) = ('');
foreach my $line (split(/\n/, $out))
{
	next unless $line =~ /lsn: ([0-9A-F]+\/[0-9A-F]+),.*blkref #0: rel \d+\/\d+\/(\d+) (?:fork \w+ )?blk (\d+)/;
	my ($lsn, $page) = ($1, "$2 $3");

	if ($line =~ /blkref #1: rel \d+\/\d+\/(\d+) (?:fork \w+ )?blk (\d+)/)
	{
		$new{$lsn} = $before if $before =~ / \Q$1 $2\E$/;
	}
	$before = $line =~ /blkref #1/ ? '' : "$lsn $page";
}
my @new = sort values %new;
note(scalar(@new) . ' new pages with a record of their own');
cmp_ok(scalar(@new), '>=', 5, 'new pages have records of their own');
foreach my $i (1 .. $points / 4)
{
	my ($lsn, $file, $blk) = split(/ /, splice(@new, int(rand(@new)), 1));
	my $copy = recover("new$i", "recovery_target_lsn = '$lsn'");

	is($copy->safe_psql('postgres',
			"SELECT flags & 2, entries FROM fptree_page_stats('$filenode{$file}', $blk)"),
		'2|0', "recovered to $lsn: the new page is a deleted one");
	write_and_check($copy, "recovered to $lsn");
	$copy->stop;
	$copy->clean_node;
}

note("$incomplete splits were found incomplete");

# a base backup by itself, taken while the index is written to
my $bench = start_pgbench($node, '-c 2 -T 2', 'w' => q{
\set a random(-1000000000, 1000000000)
INSERT INTO t SELECT i, :a + i * 1000003, i, NULL FROM generate_series(1, 10) i;
});
$node->backup('second');
ok(finish_pgbench($bench), 'writers fare well');
my $second = PostgreSQL::Test::Cluster->new('second');
$second->init_from_backup($node, 'second');
$second->append_conf('postgresql.conf', 'archive_mode = off');
$second->start;
write_and_check($second, 'base backup');
$second->stop;

# copies of a database, both ways
foreach my $strategy ('wal_log', 'file_copy')
{
	$node->safe_psql('template1', "CREATE DATABASE $strategy TEMPLATE postgres STRATEGY $strategy");
	is($node->safe_psql($strategy, 'SELECT fpt_verify()'), '',
		"database copied by $strategy: indexes are sound");
	is($node->safe_psql($strategy, $digest), $node->safe_psql('postgres', $digest),
		"database copied by $strategy: same rows");
	$node->safe_psql($strategy, 'INSERT INTO t SELECT i, i, i, NULL FROM generate_series(1, 3000) i');
	is($node->safe_psql($strategy, 'SELECT fpt_verify()'), '',
		"database copied by $strategy and written: indexes are sound");
}
is($node->safe_psql('postgres', 'SELECT fpt_verify()'), '',
	'the original is untouched');

# dump and restore
my $dir = PostgreSQL::Test::Utils::tempdir();
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/dump", $node->connstr('postgres') ],
	'pg_dump');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('restored'), "$dir/dump" ],
	'pg_restore');
$node->safe_psql('restored', with_lines('1,1', 'REINDEX INDEX t_a', 'REINDEX INDEX t_b'));
my $defs = 'SELECT indexdef FROM pg_indexes WHERE tablename = \'t\' ORDER BY 1';
is($node->safe_psql('restored', $defs), $node->safe_psql('postgres', $defs),
	'the same indexes are restored');
is($node->safe_psql('restored', $digest), $node->safe_psql('postgres', $digest),
	'with the same rows');
is($node->safe_psql('restored', 'SELECT fpt_verify()'), '', 'and sound');

# a crash right after the copy
$node->safe_psql('template1', 'CREATE DATABASE crashed TEMPLATE wal_log');
$node->stop('immediate');
$node->start;
foreach my $db ('postgres', 'wal_log', 'file_copy', 'crashed', 'restored')
{
	verify($node, "after a crash: $db", $db);
}
$node->stop;
no_crash($node);
done_testing();

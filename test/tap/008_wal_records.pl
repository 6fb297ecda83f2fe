# All changes of fptree indexes are logged in records every server knows: generic
# ones, full page images, and storage records, whatever is done to the index;
# beside them there is a record of btree's that changes no page.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
log_statement = none
autovacuum = off
checkpoint_timeout = 1h
wal_keep_size = 1GB
});
$node->start;
install_helpers($node);
my $start = $node->lsn('insert');
my %files;

# Remember the files all fptree indexes have now.
sub note_files
{
	foreach my $line (split(/\n/, $node->safe_psql('postgres', q{
		SELECT pg_relation_filenode(c.oid), relname FROM pg_class c
		JOIN pg_am a ON a.oid = relam WHERE amname = 'fptree'})))
	{
		my ($file, $name) = split(/\|/, $line);
		$files{$file} = $name;
	}
	return;
}

$node->safe_psql('postgres', q{
CREATE TABLE t (a int, b uuid);
SET fptree.debug_node_lines = '1,1';
CREATE INDEX t_a ON t USING fptree (a)
	WITH (fillfactor = 90);
RESET fptree.debug_node_lines;
CREATE UNIQUE INDEX t_b ON t USING fptree (b);
CREATE UNLOGGED TABLE ul (a int);
CREATE INDEX ul_a ON ul USING fptree (a);
});
note_files();
my $first = $node->lsn('insert');
$node->safe_psql('postgres', q{
INSERT INTO t SELECT hashint4(i), md5(i::text)::uuid FROM generate_series(1, 10000) i;
INSERT INTO t SELECT i, md5((-i)::text)::uuid FROM generate_series(1, 5000) i;
INSERT INTO ul SELECT generate_series(1, 3000);
UPDATE t SET a = a + 1 WHERE a % 3 = 0 AND a < 2000000000;
DELETE FROM t WHERE a < 0 OR a % 2 = 0;
});
$node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM t WHERE a < 5');
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', q{
INSERT INTO t SELECT hashint4(i + 20000), NULL FROM generate_series(1, 5000) i});
$node->safe_psql('postgres', 'DELETE FROM t');
$node->safe_psql('postgres', 'VACUUM t');
my $last = $node->lsn('insert');
$node->safe_psql('postgres', q{
INSERT INTO t SELECT hashint4(i + 20000), NULL FROM generate_series(1, 5000) i});
my $narrow = with_lines('1,1', 'REINDEX INDEX t_a');
$node->safe_psql('postgres', $narrow);
note_files();
$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY t_b');
note_files();
$node->safe_psql('postgres', 'VACUUM FULL t');
note_files();
$node->safe_psql('postgres', $narrow);
note_files();
$node->safe_psql('postgres', 'TRUNCATE t');
note_files();
$node->safe_psql('postgres', $narrow);
note_files();
my $end = $node->lsn('insert');
verify($node, 'indexes are sound');

my ($out, $err) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal',
	'-s', $start, '-e', $end ]);
my %seen;
my $generic = 0;
my @unlogged;

foreach my $line (split(/\n/, $out))
{
	next unless $line =~ /^rmgr: (\S+)\s.*? desc: (\S+)/;
	my ($rmgr, $kind) = ($1, $2);

	while ($line =~ m{rel \d+/\d+/(\d+)(?: fork (\w+))? blk}g)
	{
		my $name = $files{$1} or next;
		my $fork = $2 // 'main';

		$kind = '' if $rmgr eq 'Generic';
		push @unlogged, $line if $name eq 'ul_a' && $fork ne 'init';
		next if $fork eq 'fsm';
		$seen{"$rmgr $kind"} //= $line;
		$generic++ if $rmgr eq 'Generic';
	}
}
note(join(', ', map { "$_" } sort keys %seen));
my @foreign = grep { !/^(Generic |XLOG FPI|XLOG FPI_FOR_HINT)$/ } sort keys %seen;
is(join("\n", map { "$_: $seen{$_}" } @foreign), '',
	'only generic records and page images touch an index');
cmp_ok($generic, '>', 10000, 'and generic ones there are');
is(scalar(@unlogged), 0, 'an unlogged index logs nothing but its init fork');

# No custom resource manager, and none of an index access method's own, except
# btree's (catalogs) and its conflict record.
my %rmgrs = map { /^rmgr: (\S+)/ ? ($1 => 1) : () } split(/\n/, $out);
is(join(' ', grep { /custom|\d/i && !/^Heap2$/ } sort keys %rmgrs), '',
	'no custom resource manager');

# A generic record's payload is small: an insert into an index must not log much
# more than the entry.
($out, $err) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal',
	'-r', 'Generic', '-s', $first, '-e', $last ]);
my @size = sort { $a <=> $b }
  map { m{len \(rec/tot\):\s*\d+/\s*(\d+),(?!.*FPW)} ? $1 : () } split(/\n/, $out);
note("median " . $size[ @size / 2 ] . ' bytes of ' . @size . ' records');
cmp_ok($size[ @size / 2 ], '<=', 100, 'a typical record is small');

# The first change of a page after a checkpoint logs its image: by then half
# empty nodes are packed, so that the image is about as long as the entries
# make it.  By an insertion, and by VACUUM.  With this fill factor VACUUM merges no
# leaves, so that they stay half empty.
$node->safe_psql('postgres', q{
CREATE TABLE p (a int8);
CREATE INDEX p_a ON p USING fptree (a) WITH (fillfactor = 10);
INSERT INTO p SELECT hashint8extended(i, 0) FROM generate_series(1, 20000) i;
CREATE TABLE v (a int8);
CREATE INDEX v_a ON v USING fptree (a) WITH (fillfactor = 10);
INSERT INTO v SELECT a FROM p;
DELETE FROM p WHERE a % 3 = 0;
DELETE FROM v WHERE a % 3 = 0;
VACUUM p;
CHECKPOINT;
});
my $size = $node->safe_psql('postgres', 'SHOW block_size');
my %packed = (
	p => 'INSERT INTO p SELECT hashint8extended(i, 1) FROM generate_series(1, 20) i',
	v => 'VACUUM v');
foreach my $table (sort keys %packed)
{
	my $file = $node->safe_psql('postgres', "SELECT pg_relation_filenode('${table}_a')");

	$start = $node->lsn('insert');
	$node->safe_psql('postgres', $packed{$table});
	$end = $node->lsn('insert');
	($out, $err) = run_command([ 'pg_waldump', '-b', '-p',
		$node->data_dir . '/pg_wal', '-r', 'Generic', '-s', $start, '-e', $end ]);
	my @holes = $out =~ m{rel \d+/\d+/$file .*FPW\); hole: offset: \d+, length: (\d+)}g;
	my $sum = 0;

	$sum += $_ foreach @holes;
	cmp_ok(scalar(@holes), '>', 10, "$table: " . @holes . ' images');
	cmp_ok($sum, '>', @holes * $size * 0.25,
		"$table: holes of " . int($sum / (@holes || 1)) . ' bytes');
}

# A page that a split makes has a record of its own, with an image that lacks
# nodes; the split's record, which comes then, has no image of it.
my $file = $node->safe_psql('postgres', "SELECT pg_relation_filenode('p_a')");
$start = $node->lsn('insert');
$node->safe_psql('postgres', q{
INSERT INTO p SELECT hashint8extended(i, 2) FROM generate_series(1, 30000) i});
$end = $node->lsn('insert');
($out, $err) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal',
	'-r', 'Generic', '-s', $start, '-e', $end ]);
# beside splits, downlinks are posted by records of two pages: short ones
my @split = grep { m{len \(rec/tot\):\s*(\d+)/.*blkref #1: rel \d+/\d+/$file } && $1 > 500 }
  split(/\n/, $out);
my @image = grep { m{blkref #1: rel \S+ (?:fork \w+ )?blk \d+ FPW} } @split;
cmp_ok(scalar(@split), '>', 20, 'leaves were split');
is(scalar(@image), 0, 'and no image of a new one was logged by that');
my @bare = map { m{len \(rec/tot\):\s*\d+/\s*(\d+),.*blkref #0: rel \d+/\d+/$file \S.*FPW}
	  && $1 < 1000 ? $1 : () } split(/\n/, $out);
is(scalar(@bare), scalar(@split), 'but a short one before');

# UPDATEs of rows whose key stays: where a node is full dead versions go, before
# entries are shifted to others.  So most records are those of one entry each.
# Rows are wide, so that a leaf's versions are on many heap pages.
$node->safe_psql('postgres', q{
CREATE TABLE u (id int PRIMARY KEY, k int8, v int, filler text) WITH (autovacuum_enabled = off);
INSERT INTO u SELECT i, hashint8extended(i, 0), i, repeat('x', 500)
FROM generate_series(0, 9999) i;
CREATE INDEX u_k ON u USING fptree (k);
CREATE INDEX u_v ON u (v);
CREATE PROCEDURE update_u(rounds int, seed int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. rounds LOOP
		UPDATE u SET v = i WHERE id = abs(hashint4extended(i, seed) % 10000);
		COMMIT;
	END LOOP;
END $$;
CALL update_u(15000, 1);
});
$file = $node->safe_psql('postgres', "SELECT pg_relation_filenode('u_k')");
$start = $node->lsn('insert');
$node->safe_psql('postgres', 'CALL update_u(6000, 2)');
$end = $node->lsn('insert');
($out, $err) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal',
	'-r', 'Generic', '-s', $start, '-e', $end ]);
@size = map { m{len \(rec/tot\):\s*\d+/\s*(\d+),(?!.*FPW).*rel \d+/\d+/$file } ? $1 : () }
  split(/\n/, $out);
cmp_ok(scalar(@size), '>=', 6000, 'UPDATEs insert entries');
my $long = grep { $_ > 72 } @size;
cmp_ok($long, '<', @size / 8, "and few do more than that: $long of " . @size);

# A leaf that has lost most of its rows goes by one record: its other entries move
# to its left sibling, and dead entries go with the page.
$node->safe_psql('postgres', q{
CREATE TABLE m (a int8) WITH (autovacuum_enabled = off);
INSERT INTO m SELECT hashint8extended(i, 0) FROM generate_series(1, 60000) i;
CREATE INDEX m_a ON m USING fptree (a);
DELETE FROM m WHERE a % 10 <> 0;
});
my $leaves = $node->safe_psql('postgres', q{SELECT leaf_pages FROM fptree_stat('m_a')});
$file = $node->safe_psql('postgres', "SELECT pg_relation_filenode('m_a')");
$start = $node->lsn('insert');
$node->safe_psql('postgres', 'VACUUM m');
$end = $node->lsn('insert');
($out, $err) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal',
	'-r', 'Generic', '-s', $start, '-e', $end ]);
my @records = grep { m{blkref #0: rel \d+/\d+/$file } } split(/\n/, $out);
cmp_ok($node->safe_psql('postgres', q{SELECT leaf_pages FROM fptree_stat('m_a')}),
	'<', $leaves / 5, 'leaves were merged');
cmp_ok(scalar(@records), '<', $leaves * 1.2, 'by a record each');

$node->stop('immediate');
$node->start;
verify($node, 'indexes with packed pages are sound after recovery');

$node->stop;
no_crash($node);
done_testing();

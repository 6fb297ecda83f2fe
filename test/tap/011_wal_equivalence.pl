# Hand-written WAL records leave the very bytes that the official generic WAL
# functions leave: on the primary, after crash recovery, and on a standby.
#
# The extension is built a second time with FPT_GENERIC_WAL_ONLY.  The same
# single-session workload runs on one cluster with each build; then all index
# pages are compared, but for LSN, checksum, the random identity of the index
# and the hole.
#
# The workload must be the same to the last TID, so nothing but its session may
# touch a page: a pin of another process makes VACUUM and pruning leave a page
# alone, which they look at under conditional locks.  Hence no background writer,
# no checkpoint but the one the workload waits for, no parallel workers, room for
# all pages in shared buffers (where a victim is found depends on who pins what),
# and scans that start at the table's beginning.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $src = dirname(dirname($FindBin::Bin));
my $build = PostgreSQL::Test::Utils::tempdir();

my $hand = PostgreSQL::Test::Cluster->new('hand');
my $pg_config = $hand->config_data('--bindir') . '/pg_config';

# Build the other variant out of the way.
# Not the objects: they are of the other one.
for my $file (glob("$src/{Makefile,fptree.control,fptree--*.sql,src/{,*/}*.[ch],src/exports}"))
{
	my $copy = $file =~ s/^\Q$src\E/$build/r;

	make_path(dirname($copy));
	copy($file, $copy) or die "copy $file: $!";
}
my $made = system_log('make', '-s', '-C', $build, "PG_CONFIG=$pg_config",
	'COPT=-DFPT_GENERIC_WAL_ONLY', 'fptree.so');
is($made, 0, 'the variant with the official functions builds');

# Its installation script, with the library's path written out.
my $script = slurp_file("$build/fptree--1.0.sql");
$script =~ s/^\\echo.*$//m;
$script =~ s/'MODULE_PATHNAME'/'$build\/fptree.so'/g;

my $official = PostgreSQL::Test::Cluster->new('official');
for my $node ($hand, $official)
{
	$node->init(allows_streaming => 1);
	$node->append_conf('postgresql.conf', <<'CONF');
autovacuum = off
full_page_writes = off
wal_keep_size = 1GB
checkpoint_timeout = 1d
max_wal_size = 4GB
bgwriter_lru_maxpages = 0
shared_buffers = 64MB
synchronize_seqscans = off
max_parallel_maintenance_workers = 0
max_parallel_workers_per_gather = 0
hot_standby_feedback = off
CONF
	$node->start;
}
$hand->safe_psql('postgres', 'CREATE EXTENSION fptree');
$official->safe_psql('postgres', $script);

my %standby;
for my $node ($hand, $official)
{
	$node->backup('base');
	my $s = PostgreSQL::Test::Cluster->new('standby_' . $node->name);
	$s->init_from_backup($node, 'base', has_streaming => 1);
	$s->start;
	$standby{ $node->name } = $s;
}

# All kinds of changes: inserts into free slots, node splits and shifts, page
# splits at two levels, re-encodings, NULLs, VACUUM, unlinking, re-use, keys that
# repeat, leaves that become fewer.
my $workload = <<'SQL';
CREATE TABLE t (id int, a int8, b int4, u uuid, r uuid);
CREATE INDEX t_a ON t USING fptree (a) WITH (fillfactor = 60);
SET fptree.debug_node_lines = '1,2';
CREATE INDEX t_b ON t USING fptree (b DESC);
RESET fptree.debug_node_lines;
CREATE INDEX t_u ON t USING fptree (u);
CREATE INDEX t_r ON t USING fptree (r);
INSERT INTO t SELECT i, i * 7919::int8 % 20011,
	CASE WHEN i % 7 > 0 THEN i / 3 END, md5(i::text)::uuid,
	md5((i % 150)::text)::uuid FROM generate_series(1, 20000) i;
INSERT INTO t SELECT i, (1::int8 << (i % 60)) + i, i, NULL,
	md5((i % 7)::text)::uuid FROM generate_series(20001, 21000) i;
CHECKPOINT;
INSERT INTO t SELECT i, 100000 + i, -i, md5(i::text)::uuid,
	md5((i / 4)::text)::uuid FROM generate_series(21001, 26000) i;
DELETE FROM t WHERE id % 5 = 0 OR a BETWEEN 3000 AND 9000;
VACUUM t;
INSERT INTO t SELECT i, i * 31::int8 % 20011, i % 500, md5(i::text)::uuid,
	CASE WHEN i % 1000 > 0 THEN md5((i % 301)::text)::uuid END FROM generate_series(26001, 40000) i;
DELETE FROM t WHERE b > 100;
VACUUM t;
UPDATE t SET a = a + 1 WHERE id % 3 = 0;
CREATE TABLE s AS SELECT i, md5(i::text)::uuid AS k FROM generate_series(1, 30000) i;
CREATE INDEX s_k ON s USING fptree (k);
DELETE FROM s WHERE i % 5 < 2;
SQL
my @indexes = qw(t_a t_b t_u t_r s_k);

# The table's rows and where they are
sub heap
{
	my ($node) = @_;

	return $node->safe_psql('postgres', q{
SELECT count(*), md5(string_agg(ctid::text || t::text, ' ' ORDER BY ctid)) FROM t});
}

# An index's pages with what may differ blanked out.
sub pages
{
	my ($node, $index) = @_;
	my $size = $node->safe_psql('postgres', 'SHOW block_size');
	my $path = $node->data_dir . '/'
	  . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$index')");
	my $data = slurp_file($path);
	my @pages;

	for (my $at = 0; $at < length $data; $at += $size)
	{
		my $page = substr($data, $at, $size);
		my ($lower, $upper) = unpack('x12 S S', $page);

		substr($page, 0, 10) = "\0" x 10;
		substr($page, $lower, $upper - $lower) = "\0" x ($upper - $lower)
		  if $upper > $lower;

		# FPTPageSpecial.indexid, and FPTMetaData.indexid in the metapage
		substr($page, $size - 64 + 44, 4) = "\0" x 4;
		substr($page, 64 + 8, 4) = "\0" x 4 if $at == 0;
		push @pages, $page;
	}
	return \@pages;
}

sub compare
{
	my ($a, $b, $what) = @_;

	for my $index (@indexes)
	{
		my $x = pages($a, $index);
		my $y = pages($b, $index);
		my @diff = grep { ($x->[$_] // '') ne ($y->[$_] // '') }
		  0 .. ($#$x > $#$y ? $#$x : $#$y);

		is("@diff", '', "$what: $index, " . scalar(@$x) . ' pages');
		cmp_ok(scalar(@$x), '>', 20, "$index is no toy");
	}
	return;
}

for my $node ($hand, $official)
{
	$node->safe_psql('postgres', $workload);

	# So many are gone that of three leaves two are made.
	$node->psql('postgres', 'SET client_min_messages = debug2; VACUUM s',
		stderr => \my $said);
	like($said, qr/index "s_k": filled \d+ leaf pages from their right/,
		'leaves are filled from their siblings');
	$node->wait_for_catchup($standby{ $node->name });
}
is(heap($official), heap($hand),
	'both tables have the same rows at the same places, or the rest is void');

# Crash both before anything more is written out: recovery replays from the
# workload's checkpoint.
for my $node ($hand, $official)
{
	my $s = $standby{ $node->name };

	$s->safe_psql('postgres', 'CHECKPOINT');
	$s->stop;
	$node->stop('immediate');
	$node->start;
	$node->safe_psql('postgres', 'CHECKPOINT');
}
compare($hand, $official, 'after recovery');
for my $node ($hand, $official)
{
	$standby{ $node->name }->start;
	# it writes its pages if it has seen a checkpoint of the primary's
	$node->wait_for_catchup($standby{ $node->name });
	$standby{ $node->name }->safe_psql('postgres', 'CHECKPOINT');
}
compare($standby{hand}, $standby{official}, 'on standbys');
compare($hand, $standby{hand}, 'recovered primary and standby');
for my $index (@indexes)
{
	$hand->safe_psql('postgres',
		"SELECT fptree_index_parent_check('$index', true, true)");
}
pass('recovered indexes check clean');

done_testing();

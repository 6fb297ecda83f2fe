# docs/adopting.md: its blocks of SQL, run as they stand: more than twenty btree
# indexes of all kinds become fptree indexes and btrees again, while clients
# write, read and change tables.  No transaction fails.  A build that fails
# leaves the btree, and the procedure goes on from there.
#
# FPT_ADOPT_ROWS: rows of the largest table (10000).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptTest;
use POSIX qw(WNOHANG);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = $ENV{FPT_ADOPT_ROWS} // 20000;

# The blocks, by the heading that they are under
my %blocks;
{
	my $text = slurp_file("$FindBin::Bin/../../docs/adopting.md");
	my $heading = '';

	while ($text =~ /^## ([^\n]*)|^```sql\n(.*?)^```/gms)
	{
		defined $1 ? ($heading = $1) : push @{ $blocks{$heading} }, $2;
	}
}
is(join(', ', map { "$_: " . @{ $blocks{$_} } } sort keys %blocks),
	'Before you begin: 1, Foreign keys without an index: 1, Go back: 2, '
	  . 'Replace them: 5, Which indexes: 1',
	'blocks are where they are looked for');

my ($plan, $build, $unfinished, $watch, $swap) = @{ $blocks{'Replace them'} };
my ($forget, $back) = @{ $blocks{'Go back'} };
my $must_stop = "\\set ON_ERROR_STOP on\n";

my $node = PostgreSQL::Test::Cluster->new('adopting');

$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', q{
session_preload_libraries = 'plpgsql'
deadlock_timeout = 200ms
max_connections = 50
});
$node->start;
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');

$node->safe_psql('postgres', qq{\\set rows $rows\n} . q{
CREATE TABLE customers (id bigint PRIMARY KEY, email text, name text NOT NULL,
	region text, created timestamptz NOT NULL);
INSERT INTO customers SELECT i, 'u' || i || '@x.org', 'Name ' || (hashint4(i) & 1023),
	(ARRAY['n', 's', 'e', 'w'])[1 + (i & 3)], '2024-01-01'::timestamptz + i * interval '1 min'
FROM generate_series(1, :rows / 4) i;
CREATE UNIQUE INDEX customers_email ON customers (email);
CREATE INDEX "Weird ""Name""" ON customers (name);
CREATE INDEX customers_region ON customers (region, created DESC NULLS LAST)
	INCLUDE (name) WITH (fillfactor = 80);
COMMENT ON INDEX customers_region IS 'it''s used by the report';
CREATE INDEX customers_expr ON customers ((lower(name) || region)) WHERE region <> 'n';
ALTER INDEX customers_expr ALTER COLUMN 1 SET STATISTICS 500;
CREATE INDEX a2345678901234567890123456789012345678901234567890123456789_idx
	ON customers (created) WITH (deduplicate_items = off);
CREATE UNIQUE INDEX customers_identity ON customers (id, name);
ALTER TABLE customers REPLICA IDENTITY USING INDEX customers_identity;

CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY,
	customer bigint REFERENCES customers, ref uuid NOT NULL DEFAULT gen_random_uuid(),
	amount numeric, made timestamptz NOT NULL, note text, tags text[], doc jsonb,
	ip inet, name name, share float8, few smallint);
INSERT INTO orders (customer, amount, made, note, tags, doc, ip, name, share, few)
SELECT 1 + (hashint4(i) & 2147483647) % (:rows / 4), i, '2024-01-01'::timestamptz + i * interval '1 s',
	md5(i::text), ARRAY['t' || i % 100, 'u'], jsonb_build_object('i', i % 1000),
	'10.0.0.0'::inet + i, 'n' || i % 500, sin(i), i % 3
FROM generate_series(1, :rows) i;
CREATE UNIQUE INDEX orders_ref ON orders (ref);
CREATE UNIQUE INDEX orders_id ON orders (id);
CREATE INDEX orders_customer ON orders (customer);
CREATE INDEX orders_customer_made ON orders (customer, made DESC);
CREATE INDEX orders_made ON orders (made);
ALTER TABLE orders CLUSTER ON orders_made;
CREATE INDEX orders_note ON orders (note text_pattern_ops);
CREATE INDEX orders_note_c ON orders (note COLLATE "C");
CREATE INDEX orders_amount ON orders (amount);
CREATE INDEX orders_tags ON orders (tags);
CREATE INDEX orders_doc ON orders (doc);
CREATE INDEX orders_ip ON orders (ip);
CREATE INDEX orders_name ON orders (name);
CREATE INDEX orders_share ON orders (share);
CREATE INDEX orders_few ON orders (few, id) WHERE few > 0;

CREATE TABLE lines (order_id bigint REFERENCES customers, n int);
INSERT INTO lines SELECT i, i FROM generate_series(1, 1000) i;
CREATE TABLE parts (id bigint, made date NOT NULL, v int) PARTITION BY RANGE (made);
CREATE TABLE p1 PARTITION OF parts FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE p2 PARTITION OF parts FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')
	PARTITION BY RANGE (made);
CREATE TABLE p21 PARTITION OF p2 FOR VALUES FROM ('2025-01-01') TO ('2025-07-01');
CREATE TABLE p22 PARTITION OF p2 FOR VALUES FROM ('2025-07-01') TO ('2026-01-01');
INSERT INTO parts SELECT i, '2024-01-01'::date + i % 700, i FROM generate_series(1, :rows) i;
CREATE INDEX parts_id ON parts (id);
CREATE INDEX parts_made ON parts (made, v);
CREATE MATERIALIZED VIEW mv AS SELECT id, amount FROM orders;
CREATE INDEX mv_amount ON mv (amount);
CREATE UNLOGGED TABLE fast (a int);
INSERT INTO fast SELECT hashint4(i) FROM generate_series(1, :rows) i;
CREATE INDEX fast_a ON fast (a);
VACUUM ANALYZE;
CREATE VIEW indexes AS
SELECT c.relname, a.amname, regexp_replace(pg_get_indexdef(c.oid), 'USING \w+|, deduplicate_items=off| ?WITH \(deduplicate_items=off\)', '', 'g') AS def,
	obj_description(c.oid) AS comment, i.indisreplident, i.indisclustered, i.indisvalid,
	(SELECT string_agg(attnum || ':' || attstattarget, ',') FROM pg_attribute
	 WHERE attrelid = c.oid AND attstattarget >= 0) AS targets
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am a ON a.oid = c.relam
WHERE c.relnamespace = 'public'::regnamespace AND c.relname !~ '^(scratch|later)';
CREATE TABLE before AS SELECT * FROM indexes;
});

# --- clients --------------------------------------------------------------------

my %scripts = (
	'write@3' => q{
\set c random(1, 1000)
BEGIN;
UPDATE customers SET region = (ARRAY['n', 's', 'e', 'w'])[1 + :c % 4], name = 'Name ' || :c % 777
	WHERE id = :c;
INSERT INTO orders (customer, amount, made, note) VALUES (:c, :c, now(), md5(:c::text));
INSERT INTO parts VALUES (:c + 1000000, '2024-01-01'::date + :c % 700, :c);
END;
},
	'upsert' => q{
\set c random(1000001, 1000000000)
INSERT INTO customers VALUES (:c, 'u' || :c || '@y.org', 'n', 'n', now()) ON CONFLICT DO NOTHING;
INSERT INTO customers VALUES (:c, 'u' || :c || '@y.org', 'n', 'n', now())
	ON CONFLICT (email) DO UPDATE SET name = excluded.name;
DELETE FROM customers WHERE id = :c AND id > 1000000;
},
	'read@2' => q{
\set c random(1, 1000)
SELECT count(*) FROM orders WHERE customer = :c;
SELECT * FROM customers WHERE name = 'Name ' || :c LIMIT 3;
SELECT * FROM orders ORDER BY made DESC LIMIT 3;
UPDATE fast SET a = a + 1 WHERE a = :c;
DELETE FROM parts WHERE id = :c;
});
# One that changes tables, by locks that writers do not mind.  It or CREATE INDEX
# CONCURRENTLY may have to try again: the one waits for a lock, which the other
# holds, and that for the snapshot of the first.
my %changes = (
	'change' => q{
\sleep 300 ms
CREATE TABLE scratch (a int);
CREATE INDEX ON scratch (a);
INSERT INTO scratch SELECT generate_series(1, 100);
ALTER TABLE scratch ADD COLUMN b text DEFAULT 'x';
DROP TABLE scratch;
COMMENT ON TABLE orders IS 'changed';
ALTER TABLE customers ALTER COLUMN region SET STATISTICS 200;
ALTER TABLE lines ALTER COLUMN n SET DEFAULT 0;
CREATE TABLE later (LIKE parts);
ALTER TABLE later ADD CHECK (made >= '2030-01-01' AND made < '2031-01-01');
TRUNCATE later;
DROP TABLE later;
ANALYZE fast;
});
my %did = (transactions => 0, changes => 0, again => 0, errors => '');

# Transactions of a run; of changes some may not have succeeded in time.
sub of_pgbench
{
	my ($bench, $may_fail) = @_;
	my $ok = finish_pgbench($bench);
	my ($n) = $bench->{out} =~ /actually processed: (\d+)/;
	my ($failed) = $bench->{out} =~ /failed transactions: (\d+)/;

	$did{errors} .= "$bench->{out}$bench->{err}\n"
	  if !$ok || !defined $n || $failed && !$may_fail;
	return $n // 0;
}

# Run a script in psql, while clients are at work: exit status, what it says
sub among_clients
{
	my ($script) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir();

	append_to_file("$dir/script", $script);
	my $pid = fork() // die "fork: $!";
	if ($pid == 0)
	{
		open(STDOUT, '>', "$dir/out");
		open(STDERR, '>', "$dir/err");
		{
			exec($node->installed_command('psql'), '-X', '-At', '-d',
				$node->connstr('postgres'), '-f', "$dir/script");
		}
		POSIX::_exit(127);
	}
	my $ended;
	do
	{
		my $clients = start_pgbench($node, '-c 4 -T 2', %scripts);
		my $changes = start_pgbench($node, '-c 1 -T 2 --max-tries=1000', %changes);

		$did{transactions} += of_pgbench($clients);
		$did{changes} += of_pgbench($changes, 1);
		$ended = waitpid($pid, WNOHANG);
	} while ($ended == 0);
	my $status = $? >> 8;
	note(slurp_file("$dir/out"));
	return ($status, slurp_file("$dir/err"));
}

# The same, again if a lock is in the way: what is unfinished is dropped first.
sub until_done
{
	my ($script) = @_;
	my ($status, $err);

	for (1 .. 50)
	{
		($status, $err) = among_clients($script);
		last if $status != 3 || $err !~ /deadlock detected|lock timeout/;
		$did{again}++;
		($status, $err) = among_clients($must_stop . $unfinished);
		last if $status != 0;
	}
	return ($status, $err);
}

sub value
{
	return $node->safe_psql('postgres', shift);
}

# Indexes of the view that are not as they were before, but for the method
sub changed
{
	return value(q{
SELECT string_agg(concat_ws(' ', coalesce(b.relname, i.relname), i.amname, i.def), E'\n')
FROM before b FULL JOIN indexes i USING (relname)
WHERE (b.def, b.comment, b.indisreplident, b.indisclustered, b.indisvalid, b.targets)
	IS DISTINCT FROM
	(i.def, i.comment, i.indisreplident, i.indisclustered, i.indisvalid, i.targets)});
}

sub count_of
{
	return value("SELECT count(*) FROM indexes WHERE amname = '$_[0]'");
}

# --- before ----------------------------------------------------------------------

my ($ok, $err) = (0, '');

$node->safe_psql('postgres', $blocks{'Before you begin'}[0]);
is(value('SHOW session_preload_libraries'),
	$version < 180000 ? 'plpgsql, fptree' : 'plpgsql', 'preloaded where needed');
$node->safe_psql('postgres', $blocks{'Before you begin'}[0]);
is(value('SHOW session_preload_libraries'),
	$version < 180000 ? 'plpgsql, fptree' : 'plpgsql', 'only once');
like($node->safe_psql('postgres', $blocks{'Which indexes'}[0]),
	qr/^customers_pkey\|.*\|[^|\n]*primary key/mi, 'indexes, and what stands against them');
like($node->safe_psql('postgres', $blocks{'Foreign keys without an index'}[0]),
	qr/^lines\|customers\|.*\|CREATE INDEX CONCURRENTLY ON lines USING fptree \(order_id\)$/,
	'foreign keys without an index');

# small ones do not gain, but are to be tried
$plan =~ s/AND a\.ratio < 0\.9// or die 'no ratio';
my $steps = $node->safe_psql('postgres', $plan);
my $wanted = value('SELECT count(DISTINCT btree) FROM fptree_steps');

note($steps);
cmp_ok($wanted, '>=', $version >= 180000 ? 20 : 19, 'indexes to replace');
my $btrees = count_of('btree');

# --- a build that fails ---------------------------------------------------------

# a lock that a build has to wait for
my $holder = $node->background_psql('postgres', on_error_stop => 1);
$holder->query_safe('BEGIN; LOCK TABLE fast IN SHARE UPDATE EXCLUSIVE MODE');
my ($ret, $out, $said) =
  $node->psql('postgres', "SET lock_timeout = '100ms';\n$build");
is($ret, 3, 'psql stops at a build that cannot get its lock');
like($said, qr/lock timeout/, 'which is what it says');
$holder->query_safe('ROLLBACK');
$holder->quit;
is(count_of('btree'), $btrees, 'all btrees are there');

# a build that is cancelled when it has begun: an invalid index
$holder = $node->background_psql('postgres', on_error_stop => 1);
$holder->query_safe('BEGIN; INSERT INTO fast VALUES (1)');
($ret, $out, $said) =
  $node->psql('postgres', "SET lock_timeout = '300ms';\n$build");
is($ret, 3, 'psql stops at a build that waits too long for a writer');
$holder->query_safe('ROLLBACK');
$holder->quit;
my $invalid = q{SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT indisvalid AND c.relkind = 'i'};
is(value($invalid), '1', 'an index is left unfinished');
$node->safe_psql('postgres', $unfinished);
is(value($invalid), '0', 'and dropped');
is(count_of('btree'), $btrees, 'all btrees are there');

# --- forwards ---------------------------------------------------------------------

($ok, $err) = until_done($must_stop . $build);
is($ok, 0, 'built') or diag($err);
is(value("SELECT count(*) FROM fptree_steps WHERE NOT swap"), '0', 'no step is left');
is(count_of('btree'), $btrees, 'beside their btrees');
($ok, $err) = among_clients($must_stop . $watch);
is($ok, 0, 'watched') or diag($err);

# go back before the swap, and begin again
($ok, $err) = until_done($must_stop . $forget);
is($ok, 0, 'given up before the swap') or diag($err);
is(changed(), '', 'indexes as they were');
is(count_of('fptree'), '0', 'no fptree index');
$node->safe_psql('postgres', $plan);
($ok, $err) = until_done($must_stop . $build);
is($ok, 0, 'built again') or diag($err);
# a partition that is newer than the plan
$node->safe_psql('postgres',
	"CREATE TABLE later1 PARTITION OF parts FOR VALUES FROM ('2030-01-01') TO ('2031-01-01')");
($ok, $err) = until_done($must_stop . $swap);
is($ok, 0, 'swapped') or diag($err);
is(value(q{SELECT string_agg(amname, ',') FROM pg_index JOIN pg_class c ON c.oid = indexrelid
	JOIN pg_am a ON a.oid = relam WHERE indrelid = 'later1'::regclass}),
	'fptree,fptree', 'and those of a new partition');
is(value('SELECT count(*) FROM fptree_steps'), '0', 'no step is left');
is(changed(), '', 'indexes as they were, but for the access method');
is($btrees - count_of('btree'), count_of('fptree'), 'in place of btrees');
cmp_ok(count_of('fptree'), '>', 20, 'more than twenty');
$node->safe_psql('postgres', 'DROP TABLE fptree_steps');
install_verify();
verify($node, 'indexes are sound');

# --- back ---------------------------------------------------------------------------

$node->safe_psql('postgres', $back);
is(value("SELECT count(*) FROM (SELECT index FROM fptree_advise()
	WHERE am = 'fptree' AND statements IS NOT NULL EXCEPT SELECT btree::regclass FROM fptree_steps) s"),
	'0', 'a plan back');
($ok, $err) = until_done($must_stop . $build . $swap);
is($ok, 0, 'put back') or diag($err);
is(count_of('fptree'), '0', 'no fptree index');
is(changed(), '', 'indexes as they were');
is($did{errors}, '', 'no transaction of the clients failed');
note("$did{transactions} transactions, $did{changes} rounds of changes, "
  . "$did{again} times again after a deadlock");
cmp_ok($did{transactions}, '>', 100, 'clients were at work');
cmp_ok($did{changes}, '>', 4, 'and tables changed');
no_crash($node);
$node->stop;
done_testing();

# install_helpers() makes the extension, which is there
sub install_verify
{
	$node->safe_psql('postgres', 'CREATE DATABASE helpers');
	install_helpers($node, 'helpers');
	my $def = $node->safe_psql('helpers', "SELECT pg_get_functiondef('fpt_verify'::regproc)");

	$node->safe_psql('postgres', $def);
	return;
}

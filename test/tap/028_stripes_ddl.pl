# What DDL does to the files of striped indexes: after each command, in a session
# of its own, every file has its row in pg_class and every row its file, no stripe
# is without an index, and the indexes are sound; on a standby, too.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptStripes;
use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
log_statement = none
autovacuum = off
checkpoint_timeout = 1h
wal_keep_size = 1GB
});
stripes_conf($primary);
$primary->start;
install_helpers($primary);
install_accounts($primary);
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');

my $setup = ddl_setup();
my $swap = ddl_swap();
my $on_standby = 0;
my $bad_standby = '';

# Let the standby come up with what there is, and account for its files.
sub check_standby
{
	my ($name) = @_;

	wait_replayed($standby, $primary);
	$standby->safe_psql('postgres', 'CHECKPOINT');
	my $got = $standby->safe_psql('postgres', 'SELECT account()');
	$bad_standby .= "$name: $got\n" if $got ne '';
	return;
}

$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
foreach my $line (ddl_lines($primary))
{
	my ($name, $sql, $n) = @$line;

	$primary->safe_psql('postgres', $setup);
	my $err = ($primary->psql('postgres', $sql, on_error_stop => 0))[2];
	# others are meant to fail
	unlike($err, qr/ERROR/, "$name: no error") if $name =~ /REPACK|VACUUM|succeed/;
	like($err, qr/cannot insert into striped index "xi"/, "$name: said so")
	  if $name =~ /rows refused/;
	$primary->psql('postgres', 'INSERT INTO x (k, w) SELECT i, i FROM generate_series(3001, 4000) i');
	is($primary->safe_psql('postgres',
			"CHECKPOINT; SELECT concat_ws(' ', fpt_verify(false) || account(), nstripes())"),
		" $n", $name);
	check_standby($name) if ++$on_standby % 5 == 0;
}
check_standby('the last');
is($bad_standby, '', 'files of the standby');
is($standby->safe_psql('postgres', 'SELECT fpt_verify()'), '', 'indexes of the standby');

# A crash; what was committed is there, and nothing else.
$primary->safe_psql('postgres', "$setup; $swap");
$primary->safe_psql('postgres', 'DROP TABLE y; CREATE UNLOGGED TABLE u (k int8);'
	  . q{CREATE INDEX ui ON u USING fptree (k) WITH (tablespaces = 'd1, d2'); INSERT INTO u VALUES (1);
CREATE INDEX CONCURRENTLY uc ON u USING fptree (k) WITH (tablespaces = 'd3, d4'); REINDEX INDEX CONCURRENTLY ui;
BEGIN; CREATE UNLOGGED TABLE u2 (k int8); CREATE INDEX ON u2 USING fptree (k) WITH (tablespaces = 'd1, d2');
INSERT INTO u2 SELECT generate_series(1, 2000); TRUNCATE u2; INSERT INTO u2 VALUES (1); COMMIT;
BEGIN; CREATE UNLOGGED TABLE u3 (k int8); CREATE INDEX u3i ON u3 USING fptree (k) WITH (tablespaces = 'd1, d2');
ALTER INDEX u3i RESET (tablespaces); TRUNCATE u3; INSERT INTO u3 VALUES (1); COMMIT});
$primary->stop('immediate');
$primary->start;
is($primary->safe_psql('postgres',
		"CHECKPOINT; SELECT concat_ws(' ', fpt_verify() || account(), nstripes())"),
	' 13', 'after a crash');
is($primary->safe_psql('postgres', q{INSERT INTO u VALUES (2); INSERT INTO u2 VALUES (2);
INSERT INTO u3 VALUES (2);
SELECT fpt_verify() || (SELECT count(*) FROM u) || (SELECT count(*) FROM u2) || (SELECT count(*) FROM u3)}), 111,
	'unlogged, reset');

# The standby takes over: its stripes are its own.
check_standby('before promotion');
$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', 'REINDEX TABLE CONCURRENTLY x');
$standby->safe_psql('postgres', 'DROP INDEX xv');
is($standby->safe_psql('postgres',
		"CHECKPOINT; SELECT concat_ws(' ', fpt_verify() || account(), nstripes())"),
	' 10', 'promoted');

# A new database is a copy.
$standby->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE postgres');
is($standby->safe_psql('copy', "SELECT fpt_verify() || nstripes()"), 10, 'copy of the database');
$standby->safe_psql('copy', 'DROP EXTENSION fptree CASCADE');
is($standby->safe_psql('copy', q{SELECT count(*) FROM pg_class WHERE relname ~ '^fptree_\d'}), 0,
	'without the extension');
no_crash($primary);
no_crash($standby);
done_testing();

# What DDL does to the files of striped indexes: after each command, in a session
# of its own, every file has its row in pg_class and every row its file, no stripe
# is without an index, and the indexes are sound; on a standby, too.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

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
max_prepared_transactions = 2
allow_in_place_tablespaces = on
client_min_messages = error
});
$primary->start;
plan skip_all => 'no stripes on this version'
  if $primary->safe_psql('postgres', 'SHOW server_version_num') >= 160000;
install_helpers($primary);
$primary->safe_psql('postgres', $_) foreach map { <<SQL } 1 .. 10;
CREATE TABLESPACE d$_ LOCATION ''
SQL
$primary->safe_psql('postgres', q{
CREATE FUNCTION account() RETURNS text LANGUAGE sql AS $$
	WITH dirs AS (
		SELECT 'base/' || oid AS dir FROM pg_database WHERE datname = current_database()
		UNION ALL
		SELECT format('pg_tblspc/%s/%s/%s', t.oid, v, d.oid)
		FROM pg_tablespace t, pg_ls_dir('pg_tblspc/' || t.oid) v, pg_database d
		WHERE spcname ~ '^d\d' AND datname = current_database()
	), files AS (
		SELECT dir || '/' || substring(f FROM '^\d+') AS path
		FROM dirs, pg_ls_dir(dir, true, false) f WHERE f ~ '^\d+'
	), rels AS (
		SELECT pg_relation_filepath(oid) AS path FROM pg_class
		WHERE relpersistence <> 't' AND NOT relisshared AND pg_relation_filepath(oid) IS NOT NULL
	)
	SELECT concat_ws(' ',
		(SELECT 'leaked: ' || string_agg(path, ' ')
		 FROM (SELECT path FROM files EXCEPT SELECT path FROM rels) f),
		(SELECT 'missing: ' || string_agg(path, ' ')
		 FROM (SELECT path FROM rels EXCEPT SELECT path FROM files) r),
		(SELECT 'orphans: ' || string_agg(o::text, ' ') FROM fptree_orphans() o),
		(SELECT 'misnamed: ' || string_agg(stripe::text, ' ')
		 FROM pg_class c JOIN pg_am a ON a.oid = c.relam, fptree_stripes(c.oid)
		 WHERE amname = 'fptree' AND relkind = 'i' AND
			stripe::text <> format('pg_toast.fptree_%s_%s', c.oid, no)))
$$;
CREATE FUNCTION nstripes() RETURNS int8 LANGUAGE sql AS $$
	SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
	WHERE amname = 'fptree_stripe'
$$;
});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');

my $setup = q{
DROP TABLE IF EXISTS x, y CASCADE;
CREATE TABLE x (k int8, v varchar(20), w int);
INSERT INTO x SELECT i, i::text, i % 100 FROM generate_series(1, 3000) i;
CREATE INDEX xi ON x USING fptree (k) WITH (tablespaces = 'd1, d2, d3, d4');
CREATE INDEX xv ON x USING fptree (v) WITH (tablespaces = 'd5, d6, d7');
};
my $swap = q{
CREATE TABLE y AS TABLE x;
CREATE INDEX yi ON y USING fptree (k) WITH (tablespaces = 'd1, d2, d3, d4');
SET allow_system_table_mods = on;
UPDATE pg_class c SET relfilenode = o.relfilenode
FROM (VALUES ('x', 'y'), ('y', 'x'), ('xi', 'yi'), ('yi', 'xi')) s (a, b)
	JOIN pg_class o ON o.relname = b
WHERE c.relname = a;
};
my $fails = q{CREATE UNIQUE INDEX CONCURRENTLY xc ON x USING fptree (w)
	WITH (tablespaces = 'd8, d9, d10');};
my $list = q{ALTER INDEX xi SET (tablespaces = 'd1, d9')};

# name, commands, stripes that are left
my @lines = (
	['nothing', '', 7],
	['DROP INDEX', 'DROP INDEX xi', 3],
	['DROP INDEX, rolled back', 'BEGIN; DROP INDEX xi; ROLLBACK', 7],
	['DROP INDEX in a savepoint', 'BEGIN; SAVEPOINT a; DROP INDEX xi; ROLLBACK TO a; DROP INDEX xv; COMMIT', 4],
	['DROP INDEX in a released savepoint', 'BEGIN; SAVEPOINT a; DROP INDEX xi; RELEASE a; COMMIT', 3],
	['DROP INDEX CONCURRENTLY', 'DROP INDEX CONCURRENTLY xi', 3],
	['DROP INDEX CONCURRENTLY, then another', "DROP INDEX CONCURRENTLY xi;\nDROP INDEX xv", 0],
	['DROP TABLE', 'DROP TABLE x', 0],
	['DROP COLUMN', 'ALTER TABLE x DROP v', 4],
	['DROP SCHEMA', 'CREATE SCHEMA n; ALTER TABLE x SET SCHEMA n; DROP SCHEMA n CASCADE', 0],
	['DROP OWNED', 'CREATE ROLE r; GRANT CREATE ON SCHEMA public TO r; ALTER TABLE x OWNER TO r; DROP OWNED BY r; DROP ROLE r', 0],
	['DROP VIEW with a materialized one', q{CREATE VIEW u AS TABLE x; CREATE MATERIALIZED VIEW m AS TABLE u;
		CREATE INDEX ON m USING fptree (k) WITH (tablespaces = 'd1, d2'); DROP VIEW u CASCADE}, 7],
	['session_replication_role', 'SET session_replication_role = replica; DROP INDEX xi', 3],
	['PREPARE, COMMIT', q{BEGIN; DROP INDEX xi; PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'}, 3],
	['PREPARE, ROLLBACK', q{BEGIN; DROP INDEX xi; PREPARE TRANSACTION 'p'; ROLLBACK PREPARED 'p'}, 7],
	['REINDEX', 'REINDEX INDEX xi', 7],
	['REINDEX, rolled back', 'BEGIN; REINDEX INDEX xi; ROLLBACK', 7],
	['REINDEX CONCURRENTLY', "REINDEX TABLE CONCURRENTLY x;\nREINDEX INDEX CONCURRENTLY xi", 7],
	['TRUNCATE', 'TRUNCATE x', 7],
	['TRUNCATE, rolled back', 'BEGIN; TRUNCATE x; INSERT INTO x VALUES (1); ROLLBACK', 7],
	['TRUNCATE of a new table', q{BEGIN; CREATE TABLE y (k int8); CREATE INDEX ON y USING fptree (k) WITH (tablespaces = 'd8, d9');
		INSERT INTO y SELECT generate_series(1, 2000); TRUNCATE y; INSERT INTO y VALUES (1);
		SAVEPOINT s; TRUNCATE y; ROLLBACK TO s; COMMIT}, 9],
	['VACUUM FULL', 'VACUUM FULL x', 7],
	['CLUSTER', 'CLUSTER x USING xi', 7],
	['CLUSTER, rolled back', 'BEGIN; CLUSTER x USING xi; ROLLBACK', 7],
	['SET UNLOGGED', 'ALTER TABLE x SET UNLOGGED', 7],
	['SET UNLOGGED, LOGGED', 'ALTER TABLE x SET UNLOGGED; ALTER TABLE x SET LOGGED', 7],
	['REFRESH', q{CREATE MATERIALIZED VIEW m AS TABLE x; CREATE UNIQUE INDEX mi ON m USING fptree (k) WITH (tablespaces = 'd1, d2');
		REFRESH MATERIALIZED VIEW m; DROP MATERIALIZED VIEW m}, 7],
	['ALTER TYPE, rewriting', 'ALTER TABLE x ALTER k TYPE numeric', 7],
	['ALTER TYPE, keeping the file', 'ALTER TABLE x ALTER v TYPE varchar(40)', 7],
	['ALTER TYPE, rolled back', 'BEGIN; ALTER TABLE x ALTER v TYPE varchar(40); ROLLBACK', 7],
	['ALTER TYPE, again and again', q{BEGIN; SAVEPOINT a; ALTER TABLE x ALTER v TYPE varchar(40); ROLLBACK TO a;
		ALTER TABLE x ALTER v TYPE varchar(30); COMMIT; ALTER TABLE x ALTER v TYPE varchar(50); DROP INDEX xv}, 4],
	['ALTER TYPE, DROP in one transaction', 'BEGIN; ALTER TABLE x ALTER v TYPE varchar(30); DROP INDEX xv; COMMIT', 4],
	['ALTER TYPE, REINDEX in one transaction', 'BEGIN; ALTER TABLE x ALTER v TYPE varchar(30); REINDEX TABLE x; COMMIT', 7],
	['CREATE INDEX CONCURRENTLY', q{CREATE INDEX CONCURRENTLY xc ON x USING fptree (w, k) WITH (tablespaces = 'd8, d9, d10')}, 10],
	['the same, failing', $fails, 7],
	['the same, failing, dropped', "$fails DROP INDEX xc", 7],
	['CREATE INDEX, rolled back', q{BEGIN; CREATE INDEX xc ON x USING fptree (w) WITH (tablespaces = 'd8, d9'); ROLLBACK}, 7],
	['fewer stripes', "$list; REINDEX INDEX xi", 5],
	['fewer stripes, rolled back', "BEGIN; $list; REINDEX INDEX xi; ROLLBACK", 7],
	['more stripes', q{ALTER INDEX xi SET (tablespaces = 'd1, d9, d10, d4, d5, d6'); REINDEX INDEX xi}, 9],
	['no stripes', 'ALTER INDEX xi RESET (tablespaces); REINDEX INDEX xi', 3],
	['SET TABLESPACE', 'ALTER INDEX xi SET TABLESPACE d10; ALTER TABLE x SET TABLESPACE d10', 7],
	['files exchanged', "BEGIN; $swap; COMMIT; DROP TABLE y", 7],
	['files exchanged, one table dropped later', "BEGIN; $swap; COMMIT; REINDEX INDEX xi; DROP TABLE y", 7],
	['files exchanged, the first table dropped', "BEGIN; $swap; COMMIT; DROP TABLE x", 4],
	['DROP EXTENSION, refused', 'DROP EXTENSION fptree', 7]);

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
foreach my $line (@lines)
{
	my ($name, $sql, $n) = @$line;

	$primary->safe_psql('postgres', $setup);
	$primary->psql('postgres', $sql, on_error_stop => 0);
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
$primary->safe_psql('postgres', "$setup; BEGIN; $swap; COMMIT");
$primary->safe_psql('postgres', 'DROP TABLE y; CREATE UNLOGGED TABLE u (k int8);'
	  . q{CREATE INDEX ui ON u USING fptree (k) WITH (tablespaces = 'd1, d2'); INSERT INTO u VALUES (1);
BEGIN; CREATE UNLOGGED TABLE u2 (k int8); CREATE INDEX ON u2 USING fptree (k) WITH (tablespaces = 'd1, d2');
INSERT INTO u2 SELECT generate_series(1, 2000); TRUNCATE u2; INSERT INTO u2 VALUES (1); COMMIT});
$primary->stop('immediate');
$primary->start;
is($primary->safe_psql('postgres',
		"CHECKPOINT; SELECT concat_ws(' ', fpt_verify() || account(), nstripes())"),
	' 11', 'after a crash');
is($primary->safe_psql('postgres', q{INSERT INTO u VALUES (2); INSERT INTO u2 VALUES (2);
SELECT fpt_verify() || (SELECT count(*) FROM u) || (SELECT count(*) FROM u2)}), 11, 'unlogged, reset');

# The standby takes over: its stripes are its own.
check_standby('before promotion');
$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', 'REINDEX TABLE CONCURRENTLY x');
$standby->safe_psql('postgres', 'DROP INDEX xv');
is($standby->safe_psql('postgres',
		"CHECKPOINT; SELECT concat_ws(' ', fpt_verify() || account(), nstripes())"),
	' 8', 'promoted');

# A new database is a copy.
$standby->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE postgres');
is($standby->safe_psql('copy', "SELECT fpt_verify() || nstripes()"), 8, 'copy of the database');
$standby->safe_psql('copy', 'DROP EXTENSION fptree CASCADE');
is($standby->safe_psql('copy', q{SELECT count(*) FROM pg_class WHERE relname ~ '^fptree_\d'}), 0,
	'without the extension');
no_crash($primary);
no_crash($standby);
done_testing();

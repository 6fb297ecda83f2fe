# What the tests of striped indexes share: tablespaces, the account of files, and
# what DDL does to stripes.

package FptStripes;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;

our @EXPORT = qw(
  stripes_conf install_accounts ddl_setup ddl_swap ddl_lines files_of
  leaks_explained
);

# Tablespaces need no directories of their own.
sub stripes_conf
{
	my ($node) = @_;

	$node->append_conf('postgresql.conf', q{
max_prepared_transactions = 2
allow_in_place_tablespaces = on
client_min_messages = error
});
	return;
}

# Tablespaces d1 to d10, and functions: account() tells what is wrong with the
# files of the database, files() lists them, nstripes() counts stripes.
sub install_accounts
{
	my ($node) = @_;

	$node->safe_psql('postgres', "CREATE TABLESPACE d$_ LOCATION ''")
	  foreach 1 .. 10;
	$node->safe_psql('postgres', q{
CREATE FUNCTION files() RETURNS SETOF text LANGUAGE sql AS $$
	WITH dirs AS (
		SELECT 'base/' || oid AS dir FROM pg_database WHERE datname = current_database()
		UNION ALL
		SELECT format('pg_tblspc/%s/%s/%s', t.oid, v, d.oid)
		FROM pg_tablespace t, pg_ls_dir('pg_tblspc/' || t.oid) v, pg_database d
		WHERE spcname ~ '^d\d' AND datname = current_database()
	)
	SELECT DISTINCT dir || '/' || substring(f FROM '^\d+')
	FROM dirs, pg_ls_dir(dir, true, false) f WHERE f ~ '^\d+'
$$;
CREATE FUNCTION account() RETURNS text LANGUAGE sql AS $$
	WITH files AS (
		SELECT files() AS path
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
	return;
}

my $setup = q{
DROP TABLE IF EXISTS x, y, z CASCADE;
DROP SCHEMA IF EXISTS n CASCADE;
CREATE TABLE x (k int8, v varchar(20), w int);
INSERT INTO x SELECT i, i::text, i % 100 FROM generate_series(1, 3000) i;
CREATE INDEX xi ON x USING fptree (k) WITH (tablespaces = 'd1, d2, d3, d4');
CREATE INDEX xv ON x USING fptree (v) WITH (tablespaces = 'd5, d6, d7');
};
# As tools do that rebuild tables; not in the transaction that has made the files,
# which without WAL must be synced by whom they belonged to.
my $swap = q{
CREATE TABLE y AS TABLE x;
CREATE INDEX yi ON y USING fptree (k) WITH (tablespaces = 'd1, d2, d3, d4');
SET allow_system_table_mods = on;
BEGIN;
UPDATE pg_class c SET relfilenode = o.relfilenode
FROM (VALUES ('x', 'y'), ('y', 'x'), ('xi', 'yi'), ('yi', 'xi')) s (a, b)
	JOIN pg_class o ON o.relname = b
WHERE c.relname = a;
COMMIT;
};
# and then those of y with a third one
my $rotate = q{
CREATE TABLE z AS TABLE x;
CREATE INDEX zi ON z USING fptree (k) WITH (tablespaces = 'd1, d2, d3, d4');
BEGIN;
UPDATE pg_class c SET relfilenode = o.relfilenode
FROM (VALUES ('y', 'z'), ('z', 'y'), ('yi', 'zi'), ('zi', 'yi')) s (a, b)
	JOIN pg_class o ON o.relname = b
WHERE c.relname = a;
COMMIT;
};
my $fails = q{CREATE UNIQUE INDEX CONCURRENTLY xc ON x USING fptree (w)
	WITH (tablespaces = 'd8, d9, d10');};
my $move = 'ALTER INDEX xi SET TABLESPACE d10';
my $tmove = 'BEGIN; ALTER TABLE x SET TABLESPACE d10';
my $rows = 'INSERT INTO x SELECT hashint8(i), i, 1 FROM generate_series(1, 20000) i';
my $type = 'ALTER TABLE x ALTER v TYPE varchar(40)';
my $vmove = 'ALTER INDEX xv SET TABLESPACE d10';
# The index's main file becomes that of a btree index, and the other way round.
my $undamage = q{BEGIN;
UPDATE pg_class c SET relfilenode = o.relfilenode
FROM (VALUES ('yi', 'yb'), ('yb', 'yi')) s (a, b) JOIN pg_class o ON o.relname = b
WHERE c.relname = a;
COMMIT;
};
my $damage = "CREATE INDEX yb ON y USING btree (k); $undamage";
my $zdamage = $damage =~ s/\by(?=[ib]?\b)/z/gr;
my $zundamage = $undamage =~ s/\by(?=[ib]?\b)/z/gr;
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
	['VACUUM of all', "VACUUM;\nVACUUM (FREEZE, ANALYZE)", 7],
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
	['the table moved, TRUNCATE', "$tmove; TRUNCATE x; COMMIT", 7],
	['the table moved, TRUNCATE, rows succeed', "$tmove; TRUNCATE x; TRUNCATE x; SAVEPOINT a; $rows; RELEASE a; COMMIT", 7],
	['the table moved, TRUNCATE, a new list, rows succeed', "$list; $tmove; TRUNCATE x; $rows; COMMIT", 5],
	['the table moved, TRUNCATE, with an index that was never built', q{CREATE INDEX CONCURRENTLY xc ON x USING fptree (w)
		WITH (tablespaces = 'd8, nowhere, d9');} . "$tmove; TRUNCATE x; COMMIT", 9],
	# core empties the file of the index for good
	['the table moved, TRUNCATE, rolled back, rebuilt', "$tmove; TRUNCATE x; ROLLBACK; REINDEX TABLE x", 7],
	['the same, concurrently', "$tmove; TRUNCATE x; ROLLBACK; REINDEX TABLE CONCURRENTLY x", 7],
	['the same, with fewer stripes', "$tmove; TRUNCATE x; ROLLBACK; $list; REINDEX TABLE x", 5],
	['the same, truncated', "$tmove; TRUNCATE x; ROLLBACK; TRUNCATE x", 7],
	['the same, dropped', "$tmove; TRUNCATE x; ROLLBACK; DROP INDEX xi; REINDEX TABLE x", 3],
	['SET TABLESPACE, rows refused', "BEGIN; $move; $rows; COMMIT", 7],
	['SET TABLESPACE, rows refused, prepared', "BEGIN; $move; $rows; PREPARE TRANSACTION 'p'; ROLLBACK PREPARED 'p'", 7],
	['SET TABLESPACE, rows rolled back', "BEGIN; $move; $rows; ROLLBACK", 7],
	['SET TABLESPACE, rows after a REINDEX succeed', "BEGIN; $move; REINDEX INDEX xi; $rows; COMMIT", 7],
	['SET TABLESPACE, rows in the next transaction succeed', "BEGIN; $move; COMMIT; BEGIN; $rows; COMMIT", 7],
	['SET TABLESPACE, taken back, rows succeed', "BEGIN; SAVEPOINT a; $move; ROLLBACK TO a; $rows; COMMIT", 7],
	['SET TABLESPACE after a REINDEX, in a savepoint, rows refused', "BEGIN; REINDEX INDEX xi; SAVEPOINT a; $move; $rows; COMMIT", 7],
	['REINDEX taken back after SET TABLESPACE, rows refused', "BEGIN; $move; SAVEPOINT a; REINDEX INDEX xi; ROLLBACK TO a; $rows; COMMIT", 7],
	['the same after another REINDEX, rows refused', "BEGIN; REINDEX INDEX xi; SAVEPOINT a; $move; SAVEPOINT b; REINDEX INDEX xi; ROLLBACK TO b; $rows; ROLLBACK TO a; COMMIT", 7],
	['REINDEX taken back, rows succeed', "BEGIN; REINDEX INDEX xi; SAVEPOINT a; REINDEX INDEX xi; ROLLBACK TO a; $rows; COMMIT", 7],
	['SET TABLESPACE taken back after a REINDEX, rows succeed', "BEGIN; REINDEX INDEX xi; SAVEPOINT a; $move; ROLLBACK TO a; $rows; COMMIT", 7],
	['a new index, SET TABLESPACE, REINDEX taken back', q{BEGIN; CREATE TABLE y (k int8); CREATE INDEX yi ON y USING fptree (k) WITH (tablespaces = 'd8, d9');
		INSERT INTO y SELECT generate_series(1, 2000); SAVEPOINT a; ALTER INDEX yi SET TABLESPACE d10; SAVEPOINT b; REINDEX INDEX yi; ROLLBACK TO b;
		INSERT INTO y SELECT hashint8(i) FROM generate_series(1, 20000) i; ROLLBACK TO a; COMMIT}, 9],
	['ALTER TYPE, keeping the file, rows succeed', q{BEGIN; ALTER TABLE x ALTER v TYPE varchar(40);
		INSERT INTO x SELECT i, i, 1 FROM generate_series(1, 9000) i; COMMIT}, 7],
	['ALTER TYPE, TRUNCATE of a new table', q{BEGIN; CREATE TABLE y (v varchar(20)); CREATE INDEX ON y USING fptree (v) WITH (tablespaces = 'd8, d9');
		INSERT INTO y SELECT generate_series(1, 2000); ALTER TABLE y ALTER v TYPE varchar(40); TRUNCATE y; COMMIT}, 9],
	['ALTER TYPE, SET TABLESPACE in one transaction', "BEGIN; $type; $vmove; COMMIT", 7],
	['the same, rolled back', "BEGIN; $type; $vmove; ROLLBACK", 7],
	['the same, moved back as well', "BEGIN; $vmove; $type; ALTER INDEX xv SET TABLESPACE pg_default; COMMIT", 7],
	['the same, in a savepoint', "BEGIN; $type; SAVEPOINT a; $vmove; RELEASE a; COMMIT", 7],
	['the same, taken back', "BEGIN; $type; SAVEPOINT a; $vmove; ROLLBACK TO a; COMMIT", 7],
	['the same, ALL IN TABLESPACE', "BEGIN; $type; ALTER INDEX ALL IN TABLESPACE pg_default OWNED BY CURRENT_USER SET TABLESPACE d10; COMMIT;"
		  . 'ALTER INDEX ALL IN TABLESPACE d10 SET TABLESPACE pg_default', 7],
	['the same, prepared', "BEGIN; $type; $vmove; PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'", 7],
	['the same, in DO', "DO \$\$ BEGIN $type; $vmove; END \$\$", 7],
	['SET TABLESPACE, ALTER TYPE', "BEGIN; $vmove; $type; COMMIT", 7],
	['ALTER TYPE, SET TABLESPACE, ALTER TYPE', "BEGIN; $type; $vmove; ALTER TABLE x ALTER v TYPE varchar(50); COMMIT", 7],
	['ALTER TYPE, SET TABLESPACE, REINDEX', "BEGIN; $type; $vmove; REINDEX INDEX xv; COMMIT", 7],
	['ALTER TYPE, SET TABLESPACE, TRUNCATE', "BEGIN; $type; $vmove; TRUNCATE x; COMMIT", 7],
	['ALTER TYPE, SET TABLESPACE, DROP', "BEGIN; $type; $vmove; DROP INDEX xv; COMMIT", 4],
	['files exchanged', "$swap; DROP TABLE y", 7],
	['files exchanged, one damaged', "$swap $damage DROP TABLE y", 7],
	['files exchanged with an index that was not striped', q{ALTER INDEX xi RESET (tablespaces);
		REINDEX INDEX xi; ALTER INDEX xi SET (tablespaces = 'd1, d2');} . "$swap; DROP TABLE y; REINDEX INDEX xi", 5],
	['files exchanged, one table dropped later', "$swap; REINDEX INDEX xi; DROP TABLE y", 7],
	['files exchanged, the first table dropped', "$swap; DROP TABLE x", 4],
	['files exchanged, one rebuilt', "$swap; REINDEX INDEX xi", 11],
	['files exchanged, both rebuilt', "$swap; REINDEX INDEX yi; REINDEX INDEX xi", 11],
	['files exchanged, one rebuilt and moved', "$swap; REINDEX (TABLESPACE d10) INDEX xi", 11],
	['files exchanged, one rebuilt twice', "$swap; BEGIN; SAVEPOINT a; REINDEX INDEX xi; ROLLBACK TO a; REINDEX INDEX xi; TRUNCATE x; TRUNCATE x; COMMIT", 11],
	['files exchanged, one rebuilt, rolled back', "$swap; BEGIN; REINDEX INDEX xi; ROLLBACK; DROP INDEX xi; REINDEX TABLE y", 7],
	['files exchanged, one truncated', "$swap; TRUNCATE y", 11],
	['files exchanged, one rewritten', "$swap; VACUUM FULL x", 11],
	['files exchanged, one without stripes from then on', "$swap; ALTER INDEX xi RESET (tablespaces); REINDEX INDEX xi", 7],
	['files exchanged, one with fewer', "$swap; $list; REINDEX INDEX xi", 9],
	['files exchanged, one with fewer, then the other', "$swap; $list; REINDEX INDEX xi; REINDEX INDEX yi", 9],
	['files of different numbers exchanged', "$list; REINDEX INDEX xi; $swap; REINDEX INDEX yi; REINDEX INDEX xi", 9],
	['the same, the other first', "$list; REINDEX INDEX xi; $swap; REINDEX INDEX xi; REINDEX INDEX yi", 9],
	['files exchanged, one damaged, both rebuilt', "$swap $damage REINDEX INDEX xi; SELECT fptree_drop_orphans();"
		  . 'REINDEX INDEX yi; SELECT fptree_drop_orphans()', 11],
	['files exchanged, the damaged one rebuilt', "$swap $damage REINDEX INDEX yi; SELECT fptree_drop_orphans();"
		  . 'REINDEX INDEX xi; SELECT fptree_drop_orphans()', 11],
	['files exchanged with an index that was not striped, rebuilt', q{ALTER INDEX xi RESET (tablespaces);
		REINDEX INDEX xi;} . "$swap; REINDEX INDEX yi; REINDEX INDEX xi", 7],
	['files of three exchanged, all rebuilt', "$swap $rotate REINDEX INDEX xi; REINDEX INDEX yi; REINDEX INDEX zi", 15],
	['files exchanged, one damaged for a while, rows succeed', "$swap $damage SELECT fptree_drop_orphans();"
		  . "$undamage DROP INDEX yb; INSERT INTO y TABLE x; REINDEX INDEX yi", 11],
	['files of three exchanged, one damaged for a while, rows succeed', "$swap $rotate $zdamage DROP INDEX xi;"
		  . "$zundamage DROP INDEX zb; INSERT INTO z TABLE x; REINDEX TABLE z", 11],
	['files of three exchanged', "$swap $rotate DROP TABLE y", 11],
	['files of three exchanged, another one dropped', "$swap $rotate DROP TABLE z", 11],
	['DROP EXTENSION, refused', 'DROP EXTENSION fptree', 7]);

my @repack = (
	['REPACK', 'REPACK x', 7],
	['REPACK, by an index', 'REPACK x USING INDEX xi', 7],
	['REPACK, concurrently', q{ALTER TABLE x ALTER k SET NOT NULL; CREATE UNIQUE INDEX xu ON x (k);
		ALTER TABLE x REPLICA IDENTITY USING INDEX xu; REPACK (CONCURRENTLY) x}, 7]);

# What the commands start from; an exchange of two tables' files; the commands
# that a server has.
sub ddl_setup { return $setup; }
sub ddl_swap { return $swap; }

sub ddl_lines
{
	my ($node) = @_;

	return (@lines,
		$node->safe_psql('postgres', 'SHOW server_version_num') >= 190000 ?
		  @repack : ());
}

# The files of the database.
sub files_of
{
	my ($node) = @_;

	return { map { $_ => 1 }
		  split(/\n/, $node->safe_psql('postgres', 'SELECT files()')) };
}

# A place in WAL as a number
sub place
{
	my ($hi, $lo) = split(m{/}, $_[0]);
	return hex($hi) * 2**32 + hex($lo);
}

# The WAL since $lsn: who created which file, who has committed or aborted, which
# files were dropped by that, and by what is before the place where recovery
# began.
sub files_in_wal
{
	my ($node, $lsn) = @_;
	my $command = join(' ', $node->installed_command('pg_waldump'), '-p',
		$node->data_dir . '/pg_wal', '-s', $lsn, '2>/dev/null');
	my (%creator, %ended, %dropped, %before);
	my $recovered;

	open(my $fh, '-|', $command) or die "pg_waldump: $!";
	while (my $line = <$fh>)
	{
		my ($rmgr, $xid, $at, $what, $rest) = $line =~
		  m{^rmgr: (\w+) .* tx: +(\d+), lsn: ([\w/]+), .* desc: (\w+) ?(.*)}
		  or next;

		if ($rmgr eq 'Storage' && $what eq 'CREATE')
		{
			$creator{$1} = $xid if $rest =~ m{^([\w/]*/\d+)};
		}
		elsif ($rmgr eq 'Transaction' && $what =~ /^(?:COMMIT|ABORT)(_PREPARED)?$/)
		{
			$xid = $1 if $1 && $rest =~ /^(\d+):/;
			$ended{$_} = 1
			  foreach $xid, $rest =~ /subxacts: ([\d ]+)/ ? split(' ', $1) : ();
			$dropped{$_} = place($at)
			  foreach $rest =~ /rels: ([^;]*)/ ? split(' ', $1) : ();
		}
		elsif ($rmgr eq 'XLOG' && $what =~ /^CHECKPOINT_SHUTDOWN|^END_OF/)
		{
			$recovered = 1;
		}
		elsif (!$recovered && $rmgr eq 'XLOG' && $what eq 'CHECKPOINT_ONLINE' &&
			$rest =~ m{^redo ([\w/]+)})
		{
			my $redo = place($1);

			%before = map { $_ => 1 } grep { $dropped{$_} < $redo }
			  keys %dropped;
		}
	}
	close($fh);
	return (\%creator, \%ended, \%dropped, \%before);
}

# A crash leaves some files behind, whoever's they are: those of transactions that
# have not come to their end, of a file that was dropped, the empty rest that
# goes with a checkpoint, and one that was dropped by a commit that recovery did
# not see, if the server died before it was removed: a checkpoint does not wait
# for that.  Which of those in an account are not like that?  $lsn, $before: where
# the WAL and which files there were after the crash before.  Adds those that are
# to %$known, with what they are.
sub leaks_explained
{
	my ($node, $account, $lsn, $before, $known) = @_;
	my @leaked = grep { !$known->{$_} }
	  $account =~ /leaked: ([^:]*?)(?: \w+:|$)/ ? split(' ', $1) : ();
	my $rest = $account =~ s/leaked: [^:]*?(?= \w+:|$)//r =~ s/^\s+//r;
	my $bad = '';

	return $rest if !@leaked;

	my ($creator, $ended, $dropped, $past) = files_in_wal($node, $lsn);

	foreach my $path (@leaked)
	{
		my $by = $creator->{$path};

		if (!$dropped->{$path} && !$before->{$path}
			&& !(defined $by && $ended->{$by}))
		{
			$known->{$path} = 'neither committed nor aborted';
		}
		elsif ($dropped->{$path} && -z $node->data_dir . "/$path")
		{
			$known->{$path} = 'dropped, empty';
		}
		elsif ($past->{$path})
		{
			$known->{$path} = 'dropped before recovery began';
		}
		else
		{
			$bad .= "leaked: $path, created by " . ($by // 'none')
			  . ($by && $ended->{$by} ? ', which ended' : '')
			  . ($before->{$path} ? ', long ago' : '')
			  . ($dropped->{$path} ? ', dropped' : '') . "\n";
		}
	}
	return $bad . $rest;
}

1;

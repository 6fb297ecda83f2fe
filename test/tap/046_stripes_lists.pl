# Lists of tablespaces that are renamed, dropped, or lost with their disk: partitions
# are made and attached, builds keep their stripes, functions bring the lists up to
# date, and a dump of what they say is restored.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use FptStripes;
use FptTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "log_statement = none\nautovacuum = off\n");
stripes_conf($node);
$node->start;
install_helpers($node);
install_accounts($node);
$node->append_conf('postgresql.conf', "client_min_messages = notice\n");
$node->reload;
$node->safe_psql('postgres', q{
CREATE FUNCTION stripes_of(ix regclass) RETURNS text LANGUAGE sql AS
	$$ SELECT string_agg(tablespace::text, ' ' ORDER BY no) FROM fptree_stripes(ix) $$;
CREATE FUNCTION list_of(ix regclass) RETURNS text LANGUAGE sql AS
	$$ SELECT array_to_string(reloptions, ' ') FROM pg_class WHERE oid = ix $$;
-- with partitions, of two levels, and without any
CREATE TABLE p (a int, b varchar(9)) PARTITION BY RANGE (a);
CREATE INDEX pi ON p USING fptree (a) WITH (fillfactor = 90, tablespaces = 'd1, d2, d3');
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (2000) PARTITION BY RANGE (a);
CREATE TABLE p21 PARTITION OF p2 FOR VALUES FROM (1000) TO (1500);
INSERT INTO p SELECT i, i FROM generate_series(0, 1499) i;
CREATE TABLE q (a int) PARTITION BY RANGE (a);
CREATE INDEX qi ON q USING fptree (a) WITH (tablespaces = 'd4, d5, d6');
-- and no partition
CREATE TABLE t (a int);
INSERT INTO t SELECT generate_series(1, 3000);
CREATE INDEX ti ON t USING fptree (a) WITH (tablespaces = 'd2, d1');
});

# What a session says, and what it answers
sub session
{
	my ($sql) = @_;
	my ($ret, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 0);

	return "$out\n$err";
}
sub state
{
	return $node->safe_psql('postgres', 'CHECKPOINT; SELECT fpt_verify(false) || account()');
}

# --- renamed ------------------------------------------------------------------

$node->safe_psql('postgres', 'ALTER TABLESPACE d1 RENAME TO "d1 New"');
my $said = session(q{CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (3000) TO (4000);
SELECT stripes_of('p3_a_idx')});
like($said, qr/^d1 New d2 d3\n/, 'a new partition: stripes');
like($said, qr/NOTICE:  tablespace "d1" in the list of index "p3_a_idx" is "d1 New" now\n/, 'a new partition: told');
like(session(q{CREATE TABLE p4 (a int, b varchar(9)); INSERT INTO p4 VALUES (4000);
ALTER TABLE p ATTACH PARTITION p4 FOR VALUES FROM (4000) TO (5000); SELECT stripes_of('p4_a_idx')}),
	qr/^d1 New d2 d3\n/, 'one that is attached');
like(session(q{CREATE TABLE p22 PARTITION OF p2 FOR VALUES FROM (1500) TO (2000); SELECT stripes_of('p22_a_idx')}),
	qr/^d1 New d2 d3\n/, 'one of a partition');
foreach my $rebuild ('REINDEX INDEX ti', 'REINDEX INDEX CONCURRENTLY ti', 'TRUNCATE t', 'VACUUM FULL t', 'CLUSTER t USING ti',
	'ALTER TABLE t ALTER a TYPE bigint', 'ALTER TABLE t ALTER a TYPE numeric, ALTER a SET STATISTICS 7')
{
	$said = session("$rebuild; SELECT stripes_of('ti')");
	like($said, qr/^d2 d1 New\n/, "$rebuild: stripes");
	unlike($said, qr/WARNING|ERROR/, "$rebuild: no warning");
}
is(state(), '', 'indexes are sound');

# Nobody can say so of an index without stripes: there, CREATE INDEX wants names.
like(session(q{CREATE INDEX ON t USING fptree (a) WITH (tablespaces = 'd2, d1')}),
	qr/ERROR:  tablespace "d1" does not exist\n/, 'CREATE INDEX');
like(session(q{CREATE INDEX ON p USING fptree (a, b) WITH (tablespaces = 'd2, d1')}),
	qr/ERROR:  tablespace "d1" does not exist\n/, 'CREATE INDEX with partitions');

is($node->safe_psql('postgres', 'SELECT fptree_follow_renames(), fptree_follow_renames()'), '8|0', 'lists that follow');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT list_of(c.oid), '; ') FROM pg_class c
	JOIN pg_am m ON m.oid = relam WHERE amname = 'fptree'}),
	'fillfactor=90 tablespaces="d1 New", d2, d3; tablespaces=d2, "d1 New"; tablespaces=d4, d5, d6', 'lists');
unlike(session('CREATE TABLE p5 PARTITION OF p FOR VALUES FROM (5000) TO (6000); REINDEX TABLE t'),
	qr/NOTICE|WARNING|ERROR/, 'nothing to be told any more');

# A name that was never a tablespace's, in a list from which nothing was built
$said = session(q{ALTER INDEX ti SET (tablespaces = 'd2, typo'); SELECT fptree_follow_renames(); REINDEX INDEX ti; SELECT count(*) FROM fptree_stripes('ti')});
like($said, qr/^0\n0\n/, 'a list with a mistake is not followed');
like($said, qr/WARNING:  tablespace "typo" does not exist\n/, 'and the name is told');
$node->safe_psql('postgres', q{SELECT fptree_set_tablespaces('ti', 'd2, "d1 New"'); REINDEX INDEX ti});

# --- dropped --------------------------------------------------------------------

like(session('DROP TABLESPACE d3'), qr/ERROR:  tablespace "d3" is not empty/, 'one with stripes cannot be dropped');
$node->safe_psql('postgres', 'DROP TABLESPACE d5');
$said = session(q{CREATE TABLE q1 PARTITION OF q FOR VALUES FROM (0) TO (10); SELECT stripes_of('q1_a_idx')});
like($said, qr/^d4 d6\n/, 'a new partition does without');
like($said, qr/WARNING:  tablespace "d5" does not exist\n.*HINT:  Change the list by fptree_set_tablespaces\(\)\./s,
	'a new partition: warned');
like(session(q{CREATE TABLE q2 (a int); ALTER TABLE q ATTACH PARTITION q2 FOR VALUES FROM (10) TO (20); SELECT stripes_of('q2_a_idx')}),
	qr/^d4 d6\n/, 'one that is attached does, too');

# --- set --------------------------------------------------------------------------

unlike(session(q{SELECT fptree_set_tablespaces('qi', 'd6, d7, D8');
CREATE TABLE q3 PARTITION OF q FOR VALUES FROM (20) TO (30)}), qr/WARNING|ERROR/, 'set');
is($node->safe_psql('postgres', q{SELECT stripes_of('q3_a_idx'), list_of('qi'), list_of('q1_a_idx'), stripes_of('q1_a_idx')}),
	'd6 d7 d8|tablespaces=d6, d7, D8|tablespaces=d6, d7, D8|d4 d6', 'set for the partitions as well');
$node->safe_psql('postgres', q{REINDEX INDEX q1_a_idx; SELECT fptree_set_tablespaces('pi', 'd9, d10');
BEGIN; SELECT fptree_set_tablespaces('ti', 'd9, d10'); ROLLBACK});
is($node->safe_psql('postgres', q{SELECT stripes_of('q1_a_idx'), list_of('pi'), list_of('p21_a_idx'), list_of('ti')}),
	'd6 d7 d8|fillfactor=90 tablespaces=d9, d10|fillfactor=90 tablespaces=d9, d10|tablespaces=d2, "d1 New"',
	'options beside it, and other indexes, stay');
$node->safe_psql('postgres', q{SELECT fptree_set_tablespaces('ti', NULL); REINDEX INDEX ti});
is($node->safe_psql('postgres', q{SELECT coalesce(list_of('ti'), 'none'), count(*) FROM fptree_stripes('ti')}), 'none|0', 'taken away');

# Who may, and of what
$node->safe_psql('postgres', q{
CREATE ROLE r1; CREATE ROLE r2; GRANT CREATE ON SCHEMA public TO r1;
ALTER TABLE p OWNER TO r1; ALTER TABLE p1 OWNER TO r1; ALTER TABLE q OWNER TO r1; ALTER TABLE q1 OWNER TO r1; ALTER TABLE q2 OWNER TO r1;
CREATE INDEX tb ON t (a); CREATE VIEW v AS SELECT 1});
foreach my $bad (
	['r2', q{'pi', 'd9, d10'}, 'must be owner of index pi'],
	['r1', q{'pi', 'd9, d10'}, 'must be owner of index p2_a_idx'],
	['r1', q{'ti', NULL}, 'must be owner of index ti'],
	['postgres', q{'ti', 'd1'}, '"tablespaces" must name 2 to 64 tablespaces, not 1'],
	['postgres', q{'ti', 'd1,'}, 'invalid list of tablespaces: "d1,"'],
	['postgres', q{'tb', 'd1, d2'}, '"tb" is not an fptree index'],
	['postgres', q{'t', 'd1, d2'}, '"t" is not an fptree index'],
	['postgres', q{'v', 'd1, d2'}, '"v" is not an fptree index'],
	['postgres', q{0, 'd1, d2'}, 'relation with OID 0 does not exist'],
	['postgres', q{NULL, 'd1, d2'}, 'the index must not be null'])
{
	my ($user, $args, $error) = @$bad;

	like(session("SET ROLE $user; SELECT fptree_set_tablespaces($args)"), qr/ERROR:  \Q$error\E$/m, "$user: $args");
}
foreach my $call ("fptree_set_tablespaces('ti', NULL)", 'fptree_follow_renames()', 'fptree_drop_orphans()')
{
	like(session("BEGIN READ ONLY; SELECT $call"), qr/ERROR:  cannot execute fptree_\w+\(\) in a read-only transaction/, "read only: $call");
}
like(session(q{SET ROLE r1; SELECT fptree_set_tablespaces('p1_a_idx', 'd9, d8'), list_of('p1_a_idx')}),
	qr/^\|fillfactor=90 tablespaces=d9, d8$/m, 'the owner may');
$node->safe_psql('postgres', 'ALTER TABLESPACE d6 RENAME TO d66');
is($node->safe_psql('postgres', q{SET ROLE r1; SELECT fptree_follow_renames(); RESET ROLE; SELECT list_of('qi')}),
	"3\ntablespaces=d66, d7, d8", 'names follow for what one owns');
is($node->safe_psql('postgres', 'SELECT fptree_follow_renames()'), 1, 'a superuser owns all');

# A partition of an owner who may not use the tablespaces any more
$said = session(q{SET ROLE r1; CREATE TABLE q4 PARTITION OF q FOR VALUES FROM (40) TO (50); SELECT count(*) FROM fptree_stripes('q4_a_idx')});
like($said, qr/^0\n.*WARNING:  permission denied for tablespace d66\n/s, 'a new partition where the owner may create nothing');
like(session(q{SET ROLE r1; CREATE INDEX ON q USING fptree (a) WITH (tablespaces = 'd9, d10')}),
	qr/ERROR:  permission denied for tablespace d9\n/, 'CREATE INDEX there');

# --- dump and restore ---------------------------------------------------------------

my $dump = PostgreSQL::Test::Utils::tempdir . '/dump.sql';
my $lists = q{SELECT string_agg(c.oid::regclass || ' ' || pg_get_indexdef(c.oid), E'\n' ORDER BY c.oid::regclass::text)
FROM pg_class c JOIN pg_am m ON m.oid = relam WHERE amname = 'fptree'};
$node->safe_psql('postgres', q{REINDEX TABLE p; REINDEX TABLE q; CREATE DATABASE restored});
$node->command_ok([ 'pg_dump', '-h', $node->host, '-p', $node->port, '-f', $dump, 'postgres' ], 'pg_dump');
$node->command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port,
	'-d', 'restored', '-f', $dump ], 'restored');
is($node->safe_psql('restored', $lists), $node->safe_psql('postgres', $lists), 'restored: the same lists');
is(state(), '', 'indexes are sound, files accounted for');

# --- detached meanwhile ------------------------------------------------------------

$node->safe_psql('postgres', 'DROP DATABASE restored');
$node->safe_psql('postgres', 'DROP TABLE p, q');

# What a session may see of an index that is being detached, for a moment
is($node->safe_psql('postgres', q{SET allow_system_table_mods = on;
UPDATE pg_class SET relispartition = true WHERE oid = 'ti'::regclass;
SELECT fptree_set_tablespaces('ti', 'd2, nowhere'), fptree_follow_renames();
UPDATE pg_class SET relispartition = false WHERE oid = 'ti'::regclass;}), '|0', 'a partition without a parent');

# --- set by others meanwhile ----------------------------------------------------

# A session that sets a list, while fptree_follow_renames() waits for its lock
$node->safe_psql('postgres', q{SELECT fptree_set_tablespaces('ti', 'd2, d7'); REINDEX INDEX ti; ALTER TABLESPACE d7 RENAME TO d77});
my ($in, $out, $follow) = ('', '', '');
my @psql = ('psql', '-XAtq', '-d', $node->connstr('postgres'));
my $setter = IPC::Run::start(\@psql, '<', \$in, '>', \$out, IPC::Run::timer(60));
$in .= "BEGIN; ALTER INDEX ti SET (tablespaces = 'd2, d9'); SELECT 'set';\n";
$setter->pump until $out =~ /set/;
my $follower = IPC::Run::start([ @psql, '-c', 'SELECT fptree_follow_renames()' ], '>', \$follow, IPC::Run::timer(60));
$node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM pg_locks WHERE NOT granted');
$in .= "COMMIT;\n\\q\n";
$setter->finish;
$follower->finish;
is($follow . $node->safe_psql('postgres', q{SELECT list_of('ti')}), "0\ntablespaces=d2, d9", 'a list that was set meanwhile stays');

# --- privileges -------------------------------------------------------------------------

# What an index has where the owner may create nothing any more is no right to others.
$node->safe_psql('postgres', q{CREATE ROLE r3; GRANT CREATE ON SCHEMA public TO r3; GRANT CREATE ON TABLESPACE d2, d9 TO r3;
SET ROLE r3; CREATE TABLE u (a int); CREATE INDEX ui ON u USING fptree (a) WITH (tablespaces = 'd2, d9');
CREATE INDEX uj ON u USING fptree (a); CREATE INDEX uk ON u USING fptree (a);
RESET ROLE; REVOKE CREATE ON TABLESPACE d9 FROM r3});
is($node->safe_psql('postgres', q{SET client_min_messages = error; SET ROLE r3;
ALTER INDEX uj SET (tablespaces = 'd2, d9'); REINDEX INDEX uj;
DO $$ BEGIN DROP INDEX uk; CREATE INDEX uk ON u USING fptree (a) WITH (tablespaces = 'd2, d9'); END $$;
SELECT count(*) FROM fptree_stripes('uj'); SELECT count(*) FROM fptree_stripes('uk')}), "0\n0", 'beside stripes where the owner may create nothing');
# An index that was dropped, and is there again, has no heir.
like(session(q{LOAD 'fptree'; SET ROLE r3; DO $$ BEGIN
	BEGIN DROP INDEX ui; RAISE EXCEPTION 'no'; EXCEPTION WHEN raise_exception THEN NULL; END;
	CREATE INDEX ul ON u USING fptree (a) WITH (tablespaces = 'd2, d9');
END $$}), qr/ERROR:  permission denied for tablespace d9\n/, 'nor of one that was dropped in a subtransaction that aborted');
foreach my $drop ('', 'EXCEPTION WHEN OTHERS THEN NULL;')
{
	like(session(qq{LOAD 'fptree'; BEGIN; SET LOCAL ROLE r3; DO \$\$ BEGIN BEGIN DROP INDEX ui; $drop END;
		CREATE INDEX ul ON u USING fptree (a) WITH (tablespaces = 'd2, d9'); END \$\$;
		SELECT stripes_of('ul'); ROLLBACK}), qr/^d2 d9\n/, "but of one that is dropped: $drop");
}
# A copy's name is no right to what an index has: a function that REINDEX calls
session(q{SET ROLE r3;
CREATE FUNCTION makes() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
	IF to_regclass('public.w') IS NOT NULL THEN
		CREATE INDEX IF NOT EXISTS ui_ccnew ON public.u USING fptree (a) WITH (tablespaces = 'd2, d9'); END IF;
	RETURN 1; END $$;
CREATE FUNCTION one(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN public.makes(); END $$;
CREATE TABLE w0 AS SELECT 1 AS a; CREATE INDEX wi ON w0 (one(a)); ALTER TABLE w0 RENAME TO w});
like(session(q{SET ROLE r3; REINDEX INDEX wi; SELECT count(*) FROM fptree_stripes('ui_ccnew'); DROP TABLE w; DROP INDEX ui_ccnew}),
	qr/^0\n.*WARNING:  permission denied for tablespace d9\n/s, 'nor has one beside it that REINDEX makes by a function');
# REINDEX CONCURRENTLY of another one
like(session(q{SET ROLE r3; REINDEX INDEX CONCURRENTLY uj; SELECT count(*) FROM fptree_stripes('uj')}),
	qr/^0\n/, 'nor has another index that is rebuilt concurrently');
foreach my $rebuild ('REINDEX INDEX ui', 'REINDEX INDEX CONCURRENTLY ui', 'REINDEX TABLE CONCURRENTLY u', 'TRUNCATE u', 'VACUUM FULL u', 'ALTER TABLE u ALTER a TYPE bigint')
{
	like(session("SET ROLE r3; $rebuild; SELECT stripes_of('ui')"), qr/^d2 d9\n/, "$rebuild: stripes stay");
}

# --- a disk is lost -----------------------------------------------------------------------

# Its tablespace can be dropped, then, and stripes are there that have no place.
$node->safe_psql('postgres', q{DROP TABLE u; SELECT fptree_set_tablespaces('ti', 'd2, d9, d10'); REINDEX INDEX ti; CHECKPOINT});
my $lost = $node->safe_psql('postgres', q{SELECT oid FROM pg_tablespace WHERE spcname = 'd9'});
rename($node->data_dir . "/pg_tblspc/$lost", $node->data_dir . '/lost') or die;
$node->safe_psql('postgres', 'SET client_min_messages = error; DROP TABLESPACE d9');
is(session('SELECT fptree_follow_renames()'), "0\n", 'no name for it');
$said = session(q{REINDEX INDEX ti; SELECT stripes_of('ti')});
like($said, qr/^d2 d10\n/, 'built without it');
like($said, qr/WARNING:  tablespace "d9" does not exist\n/, 'warned');
unlike($said, qr/NOTICE|ERROR/, 'and nothing else');
is(state(), '', 'indexes are sound, files accounted for');

no_crash($node);
done_testing();

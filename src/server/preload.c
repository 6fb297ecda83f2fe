/*-------------------------------------------------------------------------
 *
 * server/preload.c
 *	  Having the library in every session from the beginning, for ON CONFLICT.
 *
 * Up to PostgreSQL 17 an INSERT ... ON CONFLICT DO NOTHING without a target
 * fails on a table with a unique fptree index, unless the session has the
 * library already (see plan/hooks.c).  Such a statement may be the first one of
 * a session, so the library must be there before: the settings for that are
 * shared_, session_ and local_preload_libraries.  A notice says so to whoever
 * creates the first unique index in a database, and its hint is the statement
 * that sets the second one.
 *
 * A session's settings come, the first that there is, from
 *
 *		its client's options
 *		the role in the database		pg_db_role_setting
 *		the role
 *		the database
 *		ALTER ROLE ALL
 *		the server's configuration
 *
 * and no two are merged: what is set for a database hides the lists below it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_db_role_setting.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "server/compat.h"
#include "server/preload.h"

/*
 * Without a directory, so that it is found by dynamic_library_path, wherever an
 * installation keeps the libraries of extensions.
 */
#define FPT_LIBRARY "fptree"

/* --- what is set --------------------------------------------------------- */

/*
 * A setting's value in a row of pg_db_role_setting, in the current context, or
 * NULL.  The settings are locked, at least AccessShareLock.  May raise, as
 * reading any row.
 */
static char *
fpt_setting_in(Relation settings, HeapTuple tuple, const char *name)
{
	bool		isnull;
	Datum		config = heap_getattr(tuple, Anum_pg_db_role_setting_setconfig,
									  RelationGetDescr(settings), &isnull);
	Size		len = strlen(name);
	Datum	   *elems;
	int			n;

	Assert(RelationGetRelid(settings) == DbRoleSettingRelationId);
	Assert(HeapTupleIsValid(tuple));
	if (isnull)
		return NULL;
	deconstruct_array(DatumGetArrayTypeP(config), TEXTOID, -1, false,
					  TYPALIGN_INT, &elems, NULL, &n);
	for (int i = 0; i < n; i++)
	{
		char	   *setting = TextDatumGetCString(elems[i]);

		if (strncmp(setting, name, len) == 0 && setting[len] == '=')
			return setting + len + 1;
	}
	return NULL;
}

/*
 * What is set for a database, a role, or both; 0: for any.  Or NULL.  The
 * result is in the current context.  Reads catalogues.
 */
static char *
fpt_setting_of(Relation settings, Oid database, Oid role, const char *name)
{
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *value = NULL;

	Assert(CheckRelationLockedByMe(settings, AccessShareLock, true));
	ScanKeyInit(&key[0], Anum_pg_db_role_setting_setdatabase,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(database));
	ScanKeyInit(&key[1], Anum_pg_db_role_setting_setrole,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(role));
	scan = systable_beginscan(settings, DbRoleSettingDatidRolidIndexId, true,
							  NULL, 2, key);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		value = fpt_setting_in(settings, tuple, name);
	systable_endscan(scan);
	return value;
}

/*
 * The value that new sessions of a role (0: one that has no settings) in our
 * database start with, unless their clients want another.  NULL if it is the
 * configuration's and this session cannot see that, or "configured" is false.
 * The caller has locked the settings.  In the current context, or the server's
 * own.  Reads catalogues.
 */
static const char *
fpt_setting_effective(Relation settings, Oid role, const char *name,
					  bool configured)
{
	const Oid	levels[][2] = {
		{MyDatabaseId, role}, {InvalidOid, role},
		{MyDatabaseId, InvalidOid}, {InvalidOid, InvalidOid}
	};

	Assert(OidIsValid(MyDatabaseId));
	for (int i = OidIsValid(role) ? 0 : 2; i < (int) lengthof(levels); i++)
	{
		char	   *value = fpt_setting_of(settings, levels[i][0],
										   levels[i][1], name);

		if (value != NULL)
			return value;
	}
	return configured ? fpt_configured_string(name) : NULL;
}

/*
 * The libraries of a list, as the server takes it apart, in the current
 * context; false: it cannot.
 */
static bool
fpt_libraries(const char *list, List **libraries)
{
	Assert(list != NULL);
	return SplitDirectoriesString(pstrdup(list), ',', libraries);
}

/*
 * Is ours one of them?  With or without a directory and a suffix.  False of
 * NULL, and of what the server cannot take apart, of which it loads nothing.
 */
static bool
fpt_names_library(const char *list)
{
	Size		len = strlen("fptree");
	List	   *libraries;
	ListCell   *lc;

	if (list == NULL || !fpt_libraries(list, &libraries))
		return false;
	foreach(lc, libraries)
	{
		const char *path = lfirst(lc);
		const char *slash = last_dir_separator(path);
		const char *file = slash != NULL ? slash + 1 : path;

		if (strncmp(file, "fptree", len) == 0 &&
			(file[len] == '\0' || file[len] == '.'))
			return true;
	}
	return false;
}

/*
 * Do new sessions of the role in our database load the library?  The caller has
 * locked the settings.  False also if the configuration's list would do, and is
 * hidden from this session: then we say too much, not too little.
 */
static bool
fpt_is_preloaded(Relation settings, Oid role)
{
	return fpt_names_library(shared_preload_libraries_string) ||
		fpt_names_library(fpt_setting_effective(settings, role,
												"session_preload_libraries",
												true)) ||
		fpt_names_library(fpt_setting_effective(settings, role,
												"local_preload_libraries",
												true));
}

/* --- the notice ---------------------------------------------------------- */

/*
 * Is there a unique index of the same access method, besides this one and those
 * of temporary tables, which are there for a session, or about to go?  Locks
 * pg_class, AccessShareLock, for as long as it is read: from end to end if
 * there is none, as it has no index on access methods.  May raise.
 */
static bool
fpt_other_unique(Relation index)
{
	Relation	classes = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	Assert(index->rd_index->indisunique);
	ScanKeyInit(&key, Anum_pg_class_relam, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(index->rd_rel->relam));
	scan = systable_beginscan(classes, InvalidOid, false, NULL, 1, &key);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class row = (Form_pg_class) GETSTRUCT(tuple);
		Oid			oid = row->oid;
		HeapTuple	ix;

		if (oid == RelationGetRelid(index) ||
			row->relpersistence == RELPERSISTENCE_TEMP)
			continue;
		ix = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(oid));
		if (!HeapTupleIsValid(ix))
			continue;
		found = ((Form_pg_index) GETSTRUCT(ix))->indisunique;
		ReleaseSysCache(ix);
	}
	systable_endscan(scan);
	table_close(classes, AccessShareLock);
	return found;
}

/*
 * Returns the statement that adds the library to the list with which new
 * sessions of the database start, in the current context.  A database's list
 * hides the configuration's, so the statement repeats that list.  Its elements
 * are quoted one by one, as SET requires.  NULL, if the list is hidden from
 * this session, or is none that the server can take apart.  Reads catalogues.
 *
 * The configuration's list is shown only to those who may SHOW it; settings of
 * databases and roles anybody can read in the catalogue.  Messages go to the
 * session's user, though the build runs as the table's owner.
 */
static char *
fpt_preload_statement(Relation settings)
{
	bool		may = has_privs_of_role(GetSessionUserId(),
										ROLE_PG_READ_ALL_SETTINGS);
	const char *list = fpt_setting_effective(settings, InvalidOid,
											 "session_preload_libraries", may);
	StringInfoData buf;
	List	   *libraries;
	ListCell   *lc;

	if (list == NULL || !fpt_libraries(list, &libraries))
		return NULL;
	initStringInfo(&buf);
	appendStringInfo(&buf,
					 "ALTER DATABASE %s SET session_preload_libraries = ",
					 quote_identifier(get_database_name(MyDatabaseId)));
	foreach(lc, libraries)
	{
		/* what SET ... = '' leaves, which lets no session begin */
		if (*(char *) lfirst(lc) != '\0')
			appendStringInfo(&buf, "%s, ", quote_literal_cstr(lfirst(lc)));
	}
	appendStringInfo(&buf, "%s;", quote_literal_cstr(FPT_LIBRARY));
	return buf.data;
}

/*
 * See server/preload.h.  A session asks once, whatever comes of it: in a script
 * that creates hundreds of indexes the catalogue is not read for each.  The
 * role asked about is the session's, whose settings a new session would get.
 */
void
fpt_preload_notice(Relation index)
{
	static bool asked = false;
	Relation	settings;
	char	   *statement = NULL;
	bool		preloaded;

	if (asked || !fpt_core_lacks_speculation() ||
		!index->rd_index->indisunique)
		return;
	asked = true;
	settings = table_open(DbRoleSettingRelationId, AccessShareLock);
	preloaded = fpt_is_preloaded(settings, GetSessionUserId());
	if (!preloaded)
		statement = fpt_preload_statement(settings);
	table_close(settings, AccessShareLock);
	if (preloaded || fpt_other_unique(index))
		return;
	ereport(NOTICE,
			(errcode(ERRCODE_WARNING),
			 errmsg("new sessions of database \"%s\" do not load fptree's library at their start",
					get_database_name(MyDatabaseId)),
			 errdetail("An INSERT ... ON CONFLICT DO NOTHING without a target into a table with a unique fptree index fails in a session that has not used an fptree index yet."),
			 statement != NULL ?
			 errhint("As a superuser: %s", statement) :
			 errhint("As a superuser, add \"fptree\" to the setting \"session_preload_libraries\" of the database.")));
}

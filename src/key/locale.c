/*-------------------------------------------------------------------------
 *
 * key/locale.c
 *	  What the catalogues say of collations: see key/locale.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "key/locale.h"
#include "server/compat.h"

/*
 * The row of a collation, or of the database for the default one; *cache says
 * which, *provider who has it.  Reads catalogues; may raise.
 */
static HeapTuple
fpt_collation_row(Oid collation, int *cache, char *provider)
{
	bool		isdefault = collation == DEFAULT_COLLATION_OID;
	HeapTuple	tup;

	Assert(OidIsValid(collation));
	*cache = isdefault ? DATABASEOID : COLLOID;
	tup = SearchSysCache1(*cache, ObjectIdGetDatum(isdefault ? MyDatabaseId :
												   collation));
	if (!HeapTupleIsValid(tup))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	*provider = isdefault ?
		((Form_pg_database) GETSTRUCT(tup))->datlocprovider :
		((Form_pg_collation) GETSTRUCT(tup))->collprovider;
	return tup;
}

/*
 * See key/locale.h.  "C" and "POSIX" of the C library, and all of the provider
 * that is built in (from 17 on), which has no other.  ICU has none.
 */
bool
fpt_collation_is_c(Oid collation)
{
	int			cache;
	HeapTuple	tup;
	char		provider;
	bool		isnull;
	Datum		name;
	bool		result;

	if (!OidIsValid(collation))
		return false;
	tup = fpt_collation_row(collation, &cache, &provider);
	name = SysCacheGetAttr(cache, tup, cache == DATABASEOID ?
						   Anum_pg_database_datcollate :
						   Anum_pg_collation_collcollate, &isnull);
	result = provider == COLLPROVIDER_BUILTIN;
	if (provider == COLLPROVIDER_LIBC && !isnull)
	{
		char	   *str = TextDatumGetCString(name);

		result = strcmp(str, "C") == 0 || strcmp(str, "POSIX") == 0;
		pfree(str);
	}
	ReleaseSysCache(tup);
	return result;
}

/* See key/locale.h. */
bool
fpt_collation_is_libc(Oid collation)
{
	int			cache;
	char		provider;

	ReleaseSysCache(fpt_collation_row(collation, &cache, &provider));
	return provider == COLLPROVIDER_LIBC;
}

/*
 * See key/locale.h.  By way of the SQL function, which all versions have.  It
 * has no result (NULL) where the library tells no version.
 */
uint32
fpt_collation_version(Oid collation)
{
	LOCAL_FCINFO(fcinfo, 1);
	FmgrInfo	flinfo;
	Datum		version;
	char	   *s;
	uint32		hash;
	bool		isdefault = collation == DEFAULT_COLLATION_OID;

	Assert(OidIsValid(collation));
	fmgr_info(isdefault ? F_PG_DATABASE_COLLATION_ACTUAL_VERSION :
			  F_PG_COLLATION_ACTUAL_VERSION, &flinfo);
	InitFunctionCallInfoData(*fcinfo, &flinfo, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = ObjectIdGetDatum(isdefault ? MyDatabaseId :
											 collation);
	fcinfo->args[0].isnull = false;
	version = FunctionCallInvoke(fcinfo);
	if (fcinfo->isnull)
		return 0;
	s = TextDatumGetCString(version);
	hash = hash_bytes((unsigned char *) s, (int) strlen(s));
	pfree(s);
	return hash != 0 ? hash : 1;
}

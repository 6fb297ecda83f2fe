/*-------------------------------------------------------------------------
 *
 * key/sortkey.c
 *	  Beginnings of sort keys of strings: see key/sortkey.h.
 *
 * They are made by the abbreviation of text's sort support, which a btree build
 * relies on, too, and which there is for collations only whose sort keys the
 * server trusts.  Its working memory is kept for each collation, as core keeps
 * collations, for the life of the backend.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/syscache.h"
#include "access/htup_details.h"

#include "key/sortkey.h"
#include "server/compat.h"

/* Long strings leave more memory behind than is worth keeping. */
#define FPT_SORTKEY_MEMORY	262144

/*
 * What makes the sort keys of one collation.  A backend has one for each that
 * it has met, in a list; it is never freed, so a pointer to it is good for
 * ever.
 */
typedef struct FPTSortKeys
{
	Oid			collation;
	uint32		version;		/* 0: the server does not trust them */
	bool		busy;			/* called, and has not returned: an error */
	MemoryContext cxt;			/* of all that *ssup allocates */
	SortSupport ssup;
	struct FPTSortKeys *next;
} FPTSortKeys;

static FPTSortKeys *fpt_known = NULL;

/*
 * See key/sortkey.h.  "C" and "POSIX" of the C library, and all of the provider
 * that is built in (from 17 on), which has no other.  ICU has none.
 */
bool
fpt_collation_is_c(Oid collation)
{
	bool		isdefault = collation == DEFAULT_COLLATION_OID;
	int			cache = isdefault ? DATABASEOID : COLLOID;
	HeapTuple	tup;
	char		provider;
	bool		isnull;
	Datum		name;
	bool		result;

	if (!OidIsValid(collation))
		return false;
	tup = SearchSysCache1(cache, ObjectIdGetDatum(isdefault ? MyDatabaseId :
												  collation));
	if (!HeapTupleIsValid(tup))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	provider = isdefault ?
		((Form_pg_database) GETSTRUCT(tup))->datlocprovider :
		((Form_pg_collation) GETSTRUCT(tup))->collprovider;
	name = SysCacheGetAttr(cache, tup, isdefault ?
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

/*
 * See key/sortkey.h.  By way of the SQL function, which all versions have.  It
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

/*
 * Working memory for a collation's sort keys, in place of what there is.  May
 * raise, and *k is as before then; the new context goes with its parent, that
 * of the caller.  Reads catalogues, but only the first time for a collation:
 * what core makes of it is kept in the backend and never invalidated, so that
 * this can be done again with a page lock held, after an error (L7).
 */
static void
sortkeys_prepare(FPTSortKeys *k)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree sort keys",
											  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	SortSupport ssup = palloc0(sizeof(SortSupportData));

	Assert(OidIsValid(k->collation));
	ssup->ssup_cxt = cxt;
	ssup->ssup_collation = k->collation;
	ssup->abbreviate = true;
	(void) OidFunctionCall1(F_BTTEXTSORTSUPPORT, PointerGetDatum(ssup));
	MemoryContextSwitchTo(old);

	/* nothing can fail from here on */
	if (k->cxt != NULL)
		MemoryContextDelete(k->cxt);
	MemoryContextSetParent(cxt, TopMemoryContext);
	k->cxt = cxt;
	k->ssup = ssup;
	k->busy = false;
}

/*
 * What makes sort keys of a collation; found or made, it stays for the life of
 * the backend.  Its version is 0 if there are none to be trusted.  May raise.
 * May read catalogues the first time, so not with a page lock held; a backend
 * that forms or compares keys has asked for the version before
 * (fpt_head_add()).
 */
static FPTSortKeys *
sortkeys_of(Oid collation)
{
	FPTSortKeys *k = fpt_known;
	FPTSortKeys new = {0};

	Assert(CritSectionCount == 0);
	while (k != NULL && k->collation != collation)
		k = k->next;
	if (likely(k != NULL && !k->busy))
		return k;
	if (k != NULL)
	{
		sortkeys_prepare(k);
		return k;
	}

	/*
	 * The server makes them piece by piece of strings in UTF-8, all of them of
	 * others: the bytes need not be the same in all of its versions.
	 */
	new.collation = collation;
	if (OidIsValid(collation) && GetDatabaseEncoding() == PG_UTF8)
	{
		sortkeys_prepare(&new);
		if (new.ssup->abbrev_converter != NULL)
		{
			new.version = fpt_collation_version(collation);

			/* trusted, though nobody tells a version */
			if (new.version == 0)
				new.version = 1;
		}
	}
	k = MemoryContextAlloc(TopMemoryContext, sizeof(FPTSortKeys));
	*k = new;
	k->next = fpt_known;
	fpt_known = k;
	return k;
}

uint32
fpt_sortkey_version(Oid collation)
{
	return sortkeys_of(collation)->version;
}

/*
 * See key/sortkey.h.  "busy" is also set where a long string has made the
 * memory large: it is then made anew at the next call.
 */
uint64
fpt_sortkey_prefix(Oid collation, Datum value)
{
	FPTSortKeys *k = sortkeys_of(collation);
	Datum		prefix;

	Assert(k->version != 0);
	Assert(!k->busy && k->ssup->abbrev_converter != NULL);

	/* After an error in there the working memory is not what it seems. */
	k->busy = true;
	prefix = k->ssup->abbrev_converter(value, k->ssup);
	k->busy = MemoryContextMemAllocated(k->cxt, true) >
		FPT_SORTKEY_MEMORY;
	return (uint64) prefix << (64 - 8 * (int) sizeof(Datum));
}

/*-------------------------------------------------------------------------
 *
 * key/collation.c
 *	  Which collations the order of an index depends on, and their versions.
 *
 * A library that provides collations, the C library or ICU, may order strings
 * differently after an upgrade.  The metapage has a hash of the versions, as
 * the server tells them, of all collations that the comparison functions of the
 * key columns use.  A column's own collation is not all of it:
 *
 *	- Functions of containers (arrays, records, ranges, multiranges) compare
 *	  what is in them by the functions and collations of those types.
 *	- Others may use the database's default collation, as those of jsonb and
 *	  citext do.  So may any function that is not known to compare something
 *	  else: for these both the column's and the default collation count.
 *
 * A version can only be compared with itself: no OIDs or names go into the
 * hash, which pg_upgrade does not keep.
 *
 * The same walk says whether the order is one in which no comparisons
 * contradict each other, as far as anybody knows (fpt_order_is_sound).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/parallel.h"
#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/typcache.h"
#include "utils/lsyscache.h"

#include "key/collation.h"
#include "key/head.h"
#include "key/locale.h"
#include "key/procs.h"

/*
 * What has been found: hashes of versions, each once, and row types that have
 * been looked into.  As a set, it does not change when a row type gets another
 * column of a collation, or version, that is there already.
 */
typedef struct FPTVersions
{
	List	   *versions;		/* of Oids, which are 32 bits */
	List	   *rowtypes;
	bool		doubtful;		/* see fpt_order_is_sound() */
} FPTVersions;

/*
 * Take down a collation's version: once, and none of a collation that compares
 * bytes, whose order is the same for ever, or of which the library tells none.
 * Reads catalogues; may raise.  The list grows in the current context.
 */
static void
add_collation(FPTVersions *v, Oid collation)
{
	uint32		version;

	if (!OidIsValid(collation) || fpt_collation_is_c(collation))
		return;
	v->doubtful |= !fpt_collation_is_libc(collation);
	version = fpt_collation_version(collation);
	if (version != 0)
		v->versions = list_append_unique_oid(v->versions, version);
}

static void add_order(FPTVersions *v, Oid type, Oid cmpproc, Oid collation);

/*
 * A type in the order of its default operator class.  If it has none, its
 * function is unknown, so that both collations count (see add_order()).  Reads
 * catalogues; may raise.
 */
static void
add_type(FPTVersions *v, Oid type, Oid collation)
{
	TypeCacheEntry *t = lookup_type_cache(type, TYPECACHE_CMP_PROC);

	add_order(v, type, t->cmp_proc, collation);
}

/*
 * A row type: the orders of its columns.  Each type once, so that types which
 * contain each other come to an end.  Reads catalogues; may raise.
 */
static void
add_record(FPTVersions *v, Oid type)
{
	TupleDesc	desc;

	if (list_member_oid(v->rowtypes, type))
		return;
	v->rowtypes = lappend_oid(v->rowtypes, type);
	desc = lookup_rowtype_tupdesc_copy(type, -1);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped)
			add_type(v, att->atttypid, att->attcollation);
	}
	FreeTupleDesc(desc);
}

/*
 * Take down the collations that a comparison function uses for values of a
 * type.
 *
 * Recursive: elements, columns and subtypes are types of their own.  It ends,
 * because a row type is entered once and all others contain a type that was
 * there before them.  Reads catalogues; may raise, or be cancelled.  Lists grow
 * in the current context.
 */
static void
add_order(FPTVersions *v, Oid type, Oid cmpproc, Oid collation)
{
	TypeCacheEntry *t;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	type = getBaseType(type);
	switch (cmpproc)
	{
		case F_BTTEXTCMP:
		case F_BPCHARCMP:
		case F_BTNAMECMP:
			add_collation(v, collation);
			return;
		case F_ENUM_CMP:
		case F_TSQUERY_CMP:
		case F_BTRECORDIMAGECMP:
			return;
		case F_BTARRAYCMP:
			if (OidIsValid(get_element_type(type)))
			{
				add_type(v, get_element_type(type), collation);
				return;
			}
			break;
		case F_BTRECORDCMP:
			if (get_typtype(type) == TYPTYPE_COMPOSITE)
			{
				add_record(v, type);
				return;
			}
			break;
		case F_MULTIRANGE_CMP:
		case F_RANGE_CMP:
			if (cmpproc == F_MULTIRANGE_CMP)
				type = get_multirange_range(type);
			t = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
			add_order(v, t->rngelemtype->type_id,
					  t->rng_cmp_proc_finfo.fn_oid, t->rng_collation);
			return;
		default:
			if (fpt_head_known(cmpproc, type))
				return;
			break;
	}
	v->doubtful |= !OidIsValid(cmpproc) || cmpproc >= FirstNormalObjectId;
	add_collation(v, collation);
	add_collation(v, DEFAULT_COLLATION_OID);
}

/*
 * The orders of an index's key columns.  The index is locked; otherwise as
 * add_order().
 */
static void
add_index(FPTVersions *v, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			n = IndexRelationGetNumberOfKeyAttributes(rel);

	Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));
	for (int i = 0; i < n; i++)
		add_order(v, TupleDescAttr(desc, i)->atttypid,
				  index_getprocid(rel, i + 1, FPT_ORDER_PROC),
				  rel->rd_indcollation[i]);
}

bool
fpt_order_is_sound(Relation rel)
{
	FPTVersions v = {NIL, NIL, false};

	add_index(&v, rel);
	list_free(v.versions);
	list_free(v.rowtypes);
	return !v.doubtful;
}

uint32
fpt_collations_version(Relation rel)
{
	FPTVersions v = {NIL, NIL, false};
	ListCell   *lc;
	uint32		hash = 0;

	add_index(&v, rel);
	list_sort(v.versions, list_oid_cmp);
	foreach(lc, v.versions)
		hash = hash_combine(hash, lfirst_oid(lc));
	list_free(v.versions);
	list_free(v.rowtypes);
	return hash;
}

/* See key/collation.h. */
bool
fpt_first_time(List **seen, Oid index)
{
	MemoryContext old;

	if (list_member_oid(*seen, index))
		return false;
	old = MemoryContextSwitchTo(TopMemoryContext);
	*seen = lappend_oid(*seen, index);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * As the server does about a collation, say it once in a session, in one
 * process of a query.
 */
void
fpt_warn_stale(Relation rel)
{
	static List *told = NIL;

	if (IsParallelWorker() || !fpt_first_time(&told, RelationGetRelid(rel)))
		return;
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("index \"%s\" was built with another version of its collation",
					RelationGetRelationName(rel)),
			 errdetail("The order of its entries may not be that of the collation as it is now: searches may miss rows.  Or a row type has got a column of another collation."),
			 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index.",
					 quote_identifier(RelationGetRelationName(rel)))));
}

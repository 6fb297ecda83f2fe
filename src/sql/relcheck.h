/*-------------------------------------------------------------------------
 *
 * sql/relcheck.h
 *	  Is this relation an fptree index that a SQL function may look into?
 *
 * Shared by the verification (sql/check.c) and inspection (sql/inspect.c)
 * functions, which take a regclass from the user and therefore anything.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SQL_RELCHECK_H
#define FPT_SQL_RELCHECK_H

#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/relcache.h"

#include "page/format.h"
#include "server/compat.h"
#include "store/buf.h"
#include "store/map.h"
#include "store/place.h"
#include "tree/insert.h"

/*
 * Is this relation an index of ours?
 *
 * The access method is recognised by its callbacks, not by its name or OID: the
 * extension may be renamed into another schema, and somebody may have created a
 * second access method with the same handler.
 */
static inline bool
fpt_is_fptree(Relation rel)
{
	return rel->rd_rel->relkind == RELKIND_INDEX &&
		rel->rd_indam != NULL &&
		rel->rd_indam->aminsert == fptinsert;
}

/*
 * Raise an error unless rel is an fptree index with storage of its own that
 * this session can see the current contents of.  Looks at the relcache entry
 * alone.
 */
static inline void
fpt_require_fptree(Relation rel)
{
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a partitioned index",
						RelationGetRelationName(rel)),
				 errhint("Name the indexes of its partitions one by one.")));
	if (!fpt_is_fptree(rel))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an fptree index",
						RelationGetRelationName(rel))));

	/* Its pages may be in the local buffers of the other session. */
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
}

/*
 * Open an index that the user named, and check that it is ours.  Returns it
 * locked; the lock is not that of its table, which the caller takes before if
 * he needs it.  Raises an error if there is none, the lock then kept to the end
 * of the transaction.
 */
static inline Relation
fpt_open_index(Oid indexid, LOCKMODE lockmode)
{
	Relation	rel = try_relation_open(indexid, lockmode);

	Assert(lockmode != NoLock);
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", indexid)));
	fpt_require_fptree(rel);
	return rel;
}

/* Unlogged indexes have no files on a standby. */
static inline bool
fpt_has_contents(Relation rel)
{
	return rel->rd_rel->relpersistence != RELPERSISTENCE_UNLOGGED ||
		!RecoveryInProgress();
}

/*
 * For functions that look at pages, whatever is in them, and for those that
 * need a complete index.
 */
static inline void
fpt_require(Relation rel, bool met)
{
	if (!met)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid",
						RelationGetRelationName(rel)),
				 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index.",
						 quote_identifier(RelationGetRelationName(rel)))));
}

static inline void
fpt_require_built(Relation rel)
{
	fpt_require(rel, !fpt_is_unbuilt(rel));
}

static inline void
fpt_require_valid(Relation rel)
{
	fpt_require(rel, rel->rd_index->indisvalid);
}

/*
 * A page number that the user gave must exist.  Raises an error if it does not,
 * also if the metapage is damaged, which says where pages lie.
 */
static inline void
fpt_require_page(Relation rel, int64 pageno)
{
	FPTPageMap	start = {0};

	if (pageno < 0 || pageno > PG_UINT32_MAX ||
		!fpt_page_exists(rel, &start, FPT_METAPAGE) ||
		!fpt_page_exists(rel, &fpt_index(rel)->map, (uint32) pageno))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("page number %lld is out of range for index \"%s\"",
						(long long) pageno, RelationGetRelationName(rel))));
}

/* Who has called a function that goes on as somebody else. */
typedef struct FPTCaller
{
	Oid			userid;
	int			context;
	int			nestlevel;		/* of settings */
} FPTCaller;

/*
 * From here on be the owner of a table, in a security-restricted context, as
 * core is when it builds or vacuums an index: comparison functions, expressions
 * and predicates are run, which need not be the caller's to trust.  After an
 * error the end of the (sub)transaction undoes it.
 */
static inline void
fpt_become_owner(Relation table, FPTCaller *caller)
{
	GetUserIdAndSecContext(&caller->userid, &caller->context);
	SetUserIdAndSecContext(table->rd_rel->relowner,
						   caller->context | SECURITY_RESTRICTED_OPERATION);
	caller->nestlevel = NewGUCNestLevel();
	fpt_restrict_search_path();
}

/* Be the caller again. */
static inline void
fpt_become_caller(const FPTCaller *caller)
{
	AtEOXact_GUC(false, caller->nestlevel);
	SetUserIdAndSecContext(caller->userid, caller->context);
}

#endif							/* FPT_SQL_RELCHECK_H */

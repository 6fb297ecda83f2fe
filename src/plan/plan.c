/*-------------------------------------------------------------------------
 *
 * plan/plan.c
 *	  What the planner knows of btree's operator families only.
 *
 * Some rules of the planner name operator families of btree: a boolean column
 * as a qual of its own, LIKE and regular expressions with a fixed beginning,
 * inet's << and its like, and, before version 18, the proof that a join finds
 * at most one row.  They look at IndexOptInfo.opfamily.  For an index whose
 * families have all that btree's have and nothing else, that is replaced with
 * sortopfamily, the btree families that the planner found to order alike.
 *
 * The executor looks the operators up in the index's own families.  So every
 * member of a btree family must be in the family of the index, which is true
 * of those that come with the extension, and is verified for any other.  What a
 * family has besides would be lost to the planner.
 *
 * Before version 18 the planner looks up a column's present minimum and
 * maximum, when statistics may be out of date, only in indexes that say they
 * are of btree.  See fpt_probe_entry().
 *
 * A row comparison is a condition of a btree only, as the planner sees it;
 * before version 18 the executor does, too.  From 18 on it is told that the
 * index is a btree.  Before, what a row comparison says of its first column is
 * a condition of any ordered index, see fpt_rel_pathlist().  ORs that mean the
 * same say as much, on all versions: see plan/keyset.c.
 *
 * Each of these has a setting, by which it can be switched off.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/paths.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "plan/cost.h"
#include "plan/keyset.h"
#include "plan/plan.h"
#include "server/compat.h"
#include "store/buf.h"
#include "store/map.h"
#include "store/place.h"
#include "store/stripe.h"

/* Verdicts on pairs of families, forgotten when any family changes. */
#define FPT_MAX_PAIRS		64

/* A verdict on a pair of families: does ours have all that theirs has? */
typedef struct FPTFamilyPair
{
	Oid			ours;
	Oid			theirs;
	bool		covers;
} FPTFamilyPair;

bool		fpt_guc_plan_families = true;
bool		fpt_guc_plan_extremes = true;
bool		fpt_guc_plan_rows = true;

static FPTFamilyPair fpt_pairs[FPT_MAX_PAIRS];
static int	fpt_npairs = 0;
static uint64 fpt_families_changed = 0; /* times that all was forgotten */

static fpt_relation_hook_type fpt_prev_relation = NULL;
static set_rel_pathlist_hook_type fpt_prev_rel_pathlist = NULL;

/*
 * A member of some family has changed: called while invalidations are
 * processed, so nothing is looked up here.
 */
static void
fpt_forget_pairs(Datum arg, int cacheid, uint32 hashvalue)
{
	fpt_npairs = 0;
	fpt_families_changed++;
}

/*
 * Has "ours" the operators that "theirs" has, under the same numbers, and no
 * others?  Reads catalogues.
 */
static bool
fpt_family_verify(Oid ours, Oid theirs)
{
	CatCList   *list = SearchSysCacheList1(AMOPSTRATEGY,
										   ObjectIdGetDatum(theirs));
	CatCList   *mine = SearchSysCacheList1(AMOPSTRATEGY,
										   ObjectIdGetDatum(ours));
	bool		covers = list->n_members == mine->n_members;

	for (int i = 0; i < list->n_members && covers; i++)
	{
		Form_pg_amop op = (Form_pg_amop)
		GETSTRUCT(&list->members[i]->tuple);

		covers = get_opfamily_member(ours, op->amoplefttype,
									 op->amoprighttype,
									 op->amopstrategy) == op->amopopr;
	}
	ReleaseCatCacheList(mine);
	ReleaseCatCacheList(list);
	return covers;
}

/*
 * Has our operator family all operators of that one of btree's, with the same
 * meaning?  What was found is kept, for some pairs, and forgotten when there
 * are more, or a family changes.  Reads catalogues, which may forget all while
 * this looks; so the place is taken afterwards, and a verdict is not kept if a
 * family has changed meanwhile.
 */
static bool
fpt_family_covers(Oid ours, Oid theirs)
{
	uint64		changed = fpt_families_changed;
	bool		covers;

	Assert(OidIsValid(ours) && OidIsValid(theirs));
	if (ours == theirs)
		return true;
	for (int i = 0; i < fpt_npairs; i++)
	{
		if (fpt_pairs[i].ours == ours && fpt_pairs[i].theirs == theirs)
			return fpt_pairs[i].covers;
	}

	covers = fpt_family_verify(ours, theirs);
	if (changed != fpt_families_changed)
		return covers;
	if (fpt_npairs == FPT_MAX_PAIRS)
		fpt_npairs = 0;
	Assert(fpt_npairs >= 0 && fpt_npairs < FPT_MAX_PAIRS);
	fpt_pairs[fpt_npairs].ours = ours;
	fpt_pairs[fpt_npairs].theirs = theirs;
	fpt_pairs[fpt_npairs].covers = covers;
	fpt_npairs++;
	return covers;
}

/*
 * Show the planner btree's families, in all columns or in none.  From 18 on it
 * makes nothing of a btree's access method but that row comparisons are
 * conditions, and that operators are looked up in those families.
 */
static void
fpt_show_families(IndexOptInfo *info)
{
	if (!fpt_guc_plan_families || !fpt_is_ours(info) ||
		info->sortopfamily == NULL)
		return;
	for (int i = 0; i < info->nkeycolumns; i++)
	{
		if (!fpt_family_covers(info->opfamily[i], info->sortopfamily[i]))
			return;
	}
	memcpy(info->opfamily, info->sortopfamily,
		   info->nkeycolumns * sizeof(Oid));
	if (fpt_core_takes_rows() && fpt_guc_plan_rows)
		info->relam = BTREE_AM_OID;
}

/*
 * An entry of the list of indexes for get_actual_variable_range(), or NULL.
 *
 * That function asks whether the index is a btree, compares the first column's
 * description, and reads the least or the greatest entry by an ordinary
 * index-only scan.  Nothing else must take the entry for an index: it has no
 * columns, hence no clause or order matches it, proves nothing to be unique,
 * and its paths, if any were made, would not be kept.  The real entry cannot
 * say that it is a btree: row comparisons would be given to the executor, which
 * refuses them.
 */
static IndexOptInfo *
fpt_probe_entry(const IndexOptInfo *info)
{
	IndexOptInfo *probe;

	if (!fpt_core_probes_btree() || !fpt_guc_plan_extremes ||
		!fpt_is_ours(info) || info->sortopfamily == NULL ||
		info->indpred != NIL || info->hypothetical)
		return NULL;
	probe = makeNode(IndexOptInfo);
	memcpy(probe, info, sizeof(IndexOptInfo));
	probe->relam = BTREE_AM_OID;
	probe->ncolumns = 0;
	probe->nkeycolumns = 0;
	probe->unique = false;
	probe->amhasgettuple = false;
	probe->amhasgetbitmap = false;
	probe->amcanparallel = false;
	return probe;
}

/*
 * The planner has seen the main fork, which has hardly any page of a striped
 * index: tell it the number of all.  Returns false if the index cannot be used,
 * which pg_upgrade has brought without its stripes; queries shall go on without
 * it, with a warning.  The planner has locked the index.  May read its
 * metapage, and raise if that is damaged; reads catalogues.
 */
static bool
fpt_show_pages(RelOptInfo *rel, IndexOptInfo *info)
{
	Relation	index;
	FPTPageMap *map;
	int			k;
	int			n;
	bool		present;

	if (!fpt_is_ours(info) || info->hypothetical ||
		!fpt_maybe_striped(info->pages))
		return true;
	/* The planner holds a lock on the index already. */
	index = index_open(info->indexoid, NoLock);
	Assert(CheckRelationLockedByMe(index, AccessShareLock, true));
	present = fpt_stripes_present(index, &k, &n);
	if (!present)
		ereport(WARNING,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" lacks stripe %d of %d, and is not used",
						RelationGetRelationName(index), k, n),
				 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index.",
						 quote_identifier(RelationGetRelationName(index)))));
	else
	{
		map = &fpt_index(index)->map;
		if (map->stripes != NULL)
		{
			info->pages = fpt_total_pages(index, map);
			/* Core goes by the density, of which it has a wrong idea. */
			if (info->indpred != NIL && index->rd_rel->reltuples >= 0)
				info->tuples = Min(index->rd_rel->reltuples, rel->tuples);
		}
	}
	index_close(index, NoLock);
	return present;
}

/*
 * The hook that sees the indexes of a table which is planned for: leaves out
 * what cannot be read, adds entries under which core looks up extremes, and
 * shows families as those that core has plans for.  What is added lives in the
 * planner's context.  May raise if an index is damaged.
 */
static void
fpt_relation(FPT_RELATION_HOOK_PARAMS)
{
	List	   *probes = NIL;
	ListCell   *lc;

	if (fpt_prev_relation)
		fpt_prev_relation(FPT_RELATION_HOOK_ARGS);
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *info = (IndexOptInfo *) lfirst(lc);
		IndexOptInfo *probe;

		if (!fpt_show_pages(rel, info))
		{
			rel->indexlist = foreach_delete_current(rel->indexlist, lc);
			continue;
		}
		probe = fpt_probe_entry(info);
		if (probe != NULL)
			probes = lappend(probes, probe);
		fpt_show_families(info);
	}
	/* after real btrees */
	rel->indexlist = list_concat(rel->indexlist, probes);
}

/* --- implied clauses ------------------------------------------------------ */

/*
 * Drop the paths of an index that were made without an implied clause, as a
 * btree has none without its row comparison.  The clause costs a scan nothing,
 * but the planner counts a comparison for each row: where it leaves out few
 * rows the other path would seem cheaper, and read all of them before the first
 * one that is wanted.
 */
static List *
fpt_without_index(List *paths, IndexOptInfo *info)
{
	List	   *rest = NIL;
	ListCell   *lc;

	/* bitmap paths may use them still, so that they are not freed */
	foreach(lc, paths)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (!IsA(path, IndexPath) || ((IndexPath *) path)->indexinfo != info)
			rest = lappend(rest, path);
	}
	return rest;
}

/*
 * Is an implied clause the same as one of the query's, which has no mark?
 */
static bool
fpt_same_clause(const RestrictInfo *own, const RestrictInfo *implied)
{
	OpExpr	   *a = (OpExpr *) own->clause;
	OpExpr	   *b = (OpExpr *) implied->clause;

	if (equal(a, b))
		return true;
	return IsA(a, OpExpr) && a->opno == b->opno &&
		equal(linitial(a->args), linitial(b->args)) &&
		equal(lsecond(a->args), lsecond(b->args));
}

/*
 * Does the index have this clause already?  It may stand in the query, and
 * another extension may have the paths of a table made twice.
 */
static bool
fpt_has_clause(IndexOptInfo *info, RestrictInfo *clause)
{
	ListCell   *lc;

	foreach(lc, info->indrestrictinfo)
	{
		RestrictInfo *own = lfirst_node(RestrictInfo, lc);

		if (own->security_level <= clause->security_level &&
			fpt_same_clause(own, clause))
			return true;
	}
	return false;
}

/* Add clauses that an index does not have yet to the list of those lent. */
static List *
fpt_add_lent(IndexOptInfo *info, List *lent, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (!fpt_has_clause(info, lfirst(lc)))
			lent = lappend(lent, lfirst(lc));
	}
	return lent;
}

/*
 * Give an index of ours the clauses that the query's imply for its columns;
 * returns whether there are any.  Its paths, which lack them, go.  *rows: one
 * is implied by a row comparison, which the index does not get as it is.
 *
 * It keeps them, so that whoever makes paths anew finds them.  All its paths
 * have them as conditions then, and are the only ones to look at its list: none
 * gets them as a filter.
 */
static bool
fpt_lend_clauses(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *info,
				 bool *rows)
{
	List	   *lent = NIL;

	*rows = false;
	if (!fpt_is_ours(info) || !info->amhasgettuple || info->nkeycolumns == 0)
		return false;
	if (info->relam != BTREE_AM_OID)
		lent = fpt_add_lent(info, NIL,
							fpt_keyset_clauses(root, rel, info, false));
	*rows = lent != NIL;
	lent = fpt_add_lent(info, lent, fpt_keyset_clauses(root, rel, info, true));
	if (lent == NIL)
		return false;
	rel->pathlist = fpt_without_index(rel->pathlist, info);
	rel->partial_pathlist = fpt_without_index(rel->partial_pathlist, info);
	info->indrestrictinfo = list_concat_copy(info->indrestrictinfo, lent);
	return true;
}

/*
 * Has the relation a clause that may imply others?  Not where core takes the
 * path of WHERE CURRENT OF and no other: it could not run.
 */
static bool
fpt_may_imply(const RelOptInfo *rel)
{
	bool		may = false;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;

		if (IsA(clause, CurrentOfExpr))
			return false;
		may |= is_orclause(clause) || IsA(clause, RowCompareExpr);
	}
	return may;
}

/*
 * Offer implied clauses to the planner, as conditions of our indexes: core
 * makes paths once more as if the query had these clauses too.  What implies
 * them stays a filter of the scan, and the estimate of the rows is what it was.
 * The list of indexes is replaced only while core makes these paths, and put
 * back; an error in between leaves it, with the planner's context.
 *
 * An OR has bitmaps already, one for each alternative.  The planner would
 * combine them with one for the implied clause, as if that left rows out: so it
 * is not offered a bitmap.
 */
static void
fpt_offer_clauses(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *all = rel->indexlist;
	List	   *ours = NIL;
	List	   *bitmaps = NIL;
	ListCell   *lc;

	if (!fpt_may_imply(rel))
		return;
	foreach(lc, all)
	{
		IndexOptInfo *info = (IndexOptInfo *) lfirst(lc);
		bool		rows;

		if (!fpt_lend_clauses(root, rel, info, &rows))
			continue;
		ours = lappend(ours, info);
		if (!rows && info->amhasgetbitmap)
		{
			info->amhasgetbitmap = false;
			bitmaps = lappend(bitmaps, info);
		}
	}
	if (ours == NIL)
		return;
	rel->indexlist = ours;
	create_index_paths(root, rel);
	rel->indexlist = all;
	foreach(lc, bitmaps)
		((IndexOptInfo *) lfirst(lc))->amhasgetbitmap = true;
}

/*
 * set_rel_pathlist_hook.  What we do comes before the hook that there was:
 * another extension may free indexes and paths there, and make those anew that
 * it wants.  Wherever it is in the chain it has the last word, so that a hint
 * of the user's holds for our paths as for core's, and nothing that we have
 * seen of the relation is used after it.
 */
static void
fpt_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
				 RangeTblEntry *rte)
{
	if (fpt_guc_plan_rows && rel->indexlist != NIL &&
		rte->rtekind == RTE_RELATION && rte->tablesample == NULL &&
		!IS_DUMMY_REL(rel))
		fpt_offer_clauses(root, rel);
	if (fpt_prev_rel_pathlist)
		fpt_prev_rel_pathlist(root, rel, rti, rte);
}

void
fpt_plan_init(void)
{
	Assert(fpt_relation_hook != fpt_relation &&
		   set_rel_pathlist_hook != fpt_rel_pathlist);
	CacheRegisterSyscacheCallback(AMOPSTRATEGY, fpt_forget_pairs, (Datum) 0);
	fpt_prev_relation = fpt_relation_hook;
	fpt_relation_hook = fpt_relation;
	fpt_prev_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = fpt_rel_pathlist;
}

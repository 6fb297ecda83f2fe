/*-------------------------------------------------------------------------
 *
 * fpt_plan.c
 *	  What the planner knows of btree's operator families only.
 *
 * Some rules of the planner name operator families of btree: a boolean column
 * as a qual of its own, LIKE and regular expressions with a fixed beginning,
 * inet's << and its like, and, before version 18, the proof that a join finds at
 * most one row.  They look at IndexOptInfo.opfamily.  For an index whose
 * families have all that btree's have and nothing else, that is replaced with
 * sortopfamily, the btree families that the planner found to order alike.
 *
 * The executor looks the operators up in the index's own families.  So every
 * member of a btree family must be in the family of the index, which is true
 * of those that come with the extension, and is verified for any other.  What a
 * family has besides would be lost to the planner.
 *
 *-------------------------------------------------------------------------
 */
#include "fptree.h"

#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "optimizer/plancat.h"
#include "utils/catcache.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Verdicts on pairs of families, forgotten when any family changes. */
#define FPT_MAX_PAIRS		64

typedef struct FPTFamilyPair
{
	Oid			ours;
	Oid			theirs;
	bool		covers;
} FPTFamilyPair;

static FPTFamilyPair fpt_pairs[FPT_MAX_PAIRS];
static int	fpt_npairs = 0;

#if FPT_HAVE_RELATION_INFO_HOOK
static get_relation_info_hook_type fpt_prev_relation_info = NULL;
#endif

static void
fpt_forget_pairs(Datum arg, int cacheid, uint32 hashvalue)
{
	(void) arg;
	(void) cacheid;
	(void) hashvalue;
	fpt_npairs = 0;
}

/* Has "ours" the operators that "theirs" has, under the same numbers? */
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

static bool
fpt_family_covers(Oid ours, Oid theirs)
{
	bool		covers;

	if (ours == theirs)
		return true;
	for (int i = 0; i < fpt_npairs; i++)
	{
		if (fpt_pairs[i].ours == ours && fpt_pairs[i].theirs == theirs)
			return fpt_pairs[i].covers;
	}

	covers = fpt_family_verify(ours, theirs);
	if (fpt_npairs == FPT_MAX_PAIRS)
		fpt_npairs = 0;
	fpt_pairs[fpt_npairs].ours = ours;
	fpt_pairs[fpt_npairs].theirs = theirs;
	fpt_pairs[fpt_npairs].covers = covers;
	fpt_npairs++;
	return covers;
}

/* Show the planner btree's families, in all columns or in none. */
static void
fpt_show_families(IndexOptInfo *info)
{
	if ((void *) info->amcostestimate != (void *) fptcostestimate ||
		info->sortopfamily == NULL)
		return;
	for (int i = 0; i < info->nkeycolumns; i++)
	{
		if (!fpt_family_covers(info->opfamily[i], info->sortopfamily[i]))
			return;
	}
	memcpy(info->opfamily, info->sortopfamily,
		   info->nkeycolumns * sizeof(Oid));
}

#if FPT_HAVE_RELATION_INFO_HOOK
static void
fpt_relation_info(PlannerInfo *root, Oid relid, bool inhparent,
				  RelOptInfo *rel)
{
	ListCell   *lc;

	if (fpt_prev_relation_info)
		fpt_prev_relation_info(root, relid, inhparent, rel);
	foreach(lc, rel->indexlist)
		fpt_show_families((IndexOptInfo *) lfirst(lc));
}
#endif

void
fpt_plan_init(void)
{
	CacheRegisterSyscacheCallback(AMOPSTRATEGY, fpt_forget_pairs, (Datum) 0);
#if FPT_HAVE_RELATION_INFO_HOOK
	fpt_prev_relation_info = get_relation_info_hook;
	get_relation_info_hook = fpt_relation_info;
#endif
}

/*-------------------------------------------------------------------------
 *
 * plan/hooks.c
 *	  What core does for btree only, put right from outside.
 *
 * PostgreSQL 15 to 17 prepare an index for speculative insertion (INSERT ...
 * ON CONFLICT) with an error for any unique index that is no btree.  The
 * executor opens a result relation's indexes only if nobody has done so
 * before: an ExecutorStart hook does, without asking for that preparation,
 * and makes it itself.  Not reached: partitions that tuple routing opens later
 * (see README.md, "Limitations").
 *
 * The same hook gives extra keys to scans of our indexes (plan/extrakeys.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "plan/extrakeys.h"
#include "plan/hooks.h"
#include "server/compat.h"
#include "tree/insert.h"

static ExecutorStart_hook_type fpt_prev_executor_start = NULL;

/*
 * Fill in what BuildSpeculativeIndexInfo() does, for any ordered AM.  In the
 * current context, which is the query's.  Reads catalogues.  Raises an error if
 * the family lacks "=".
 */
static void
fpt_speculative_info(Relation index, IndexInfo *ii)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);

	Assert(index->rd_index->indisunique && ii->ii_UniqueOps == NULL);
	ii->ii_UniqueOps = (Oid *) palloc(sizeof(Oid) * nkeys);
	ii->ii_UniqueProcs = (Oid *) palloc(sizeof(Oid) * nkeys);
	ii->ii_UniqueStrats = (uint16 *) palloc(sizeof(uint16) * nkeys);
	for (int i = 0; i < nkeys; i++)
	{
		ii->ii_UniqueStrats[i] = BTEqualStrategyNumber;
		ii->ii_UniqueOps[i] = get_opfamily_member(index->rd_opfamily[i],
												  index->rd_opcintype[i],
												  index->rd_opcintype[i],
												  BTEqualStrategyNumber);
		if (!OidIsValid(ii->ii_UniqueOps[i]))
			elog(ERROR, "missing operator %d(%u,%u) in opfamily %u",
				 BTEqualStrategyNumber, index->rd_opcintype[i],
				 index->rd_opcintype[i], index->rd_opfamily[i]);
		ii->ii_UniqueProcs[i] = get_opcode(ii->ii_UniqueOps[i]);
	}
}

/*
 * Does any unique index of this relation need the detour?  Locks the indexes it
 * asks, AccessShareLock, to the end of the transaction; the table is locked.
 * Reads catalogues.
 */
static bool
fpt_has_unique_fptree(Relation rel)
{
	ListCell   *lc;
	List	   *oids;
	bool		found = false;

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	if (!rel->rd_rel->relhasindex)
		return false;
	oids = RelationGetIndexList(rel);
	foreach(lc, oids)
	{
		/* The statement's lock on the table keeps the index in place. */
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		found = index->rd_index->indisunique &&
			index->rd_indam->aminsert == fptinsert;
		index_close(index, NoLock);
		if (found)
			break;
	}
	list_free(oids);
	return found;
}

/*
 * Open the indexes of a table that is inserted into, before the executor does,
 * and give those of ours what speculative insertion needs.  The executor closes
 * them.  Locks them as the executor would (RowExclusiveLock).  Nothing is done
 * where they are open already.
 */
static void
fpt_open_indexes(ResultRelInfo *ri)
{
	if (ri->ri_IndexRelationDescs != NULL ||
		!fpt_has_unique_fptree(ri->ri_RelationDesc))
		return;
	ExecOpenIndices(ri, false);
	for (int i = 0; i < ri->ri_NumIndices; i++)
	{
		Relation	index = ri->ri_IndexRelationDescs[i];
		IndexInfo  *ii = ri->ri_IndexRelationInfo[i];

		/* Exclusion constraints are no business of speculative insertion. */
		if (index->rd_index->indisunique && !index->rd_index->indisexclusion)
			fpt_speculative_info(index, ii);
	}
}

/*
 * For each table that a plan inserts into with ON CONFLICT: fpt_open_indexes(),
 * which may raise.  The result is that of planstate_tree_walker(): false, go
 * on.  As deep as the plan, as core's own walks are.
 */
static bool
fpt_walk_planstate(PlanState *ps, void *context)
{
	if (ps == NULL)
		return false;
	if (IsA(ps, ModifyTableState))
	{
		ModifyTableState *mt = (ModifyTableState *) ps;
		ModifyTable *plan = (ModifyTable *) ps->plan;
		int			i;

		if (plan->onConflictAction != ONCONFLICT_NONE)
		{
			for (i = 0; i < mt->mt_nrels; i++)
			{
				ResultRelInfo *ri = &mt->resultRelInfo[i];

				if (ri->ri_RelationDesc->rd_rel->relkind == RELKIND_RELATION)
					fpt_open_indexes(ri);
			}
		}
	}
	return planstate_tree_walker(ps, fpt_walk_planstate, context);
}

/*
 * ExecutorStart_hook: scans get their extra keys; and up to 17 core takes no
 * index but btree for an arbiter, and asks for what it needs in the nodes of ON
 * CONFLICT only.  Runs after the hook that there was, in the query's context;
 * may raise, which ends the query.
 */
static void
fpt_executor_start(QueryDesc *queryDesc, int eflags)
{
	if (fpt_prev_executor_start)
		fpt_prev_executor_start(queryDesc, eflags);
	else
		standard_ExecutorStart(queryDesc, eflags);

	if (!(eflags & EXEC_FLAG_EXPLAIN_ONLY) && queryDesc->planstate != NULL)
		fpt_give_keys(queryDesc);
	if (fpt_core_lacks_speculation() &&
		!(eflags & EXEC_FLAG_EXPLAIN_ONLY) &&
		queryDesc->plannedstmt->commandType != CMD_UTILITY &&
		(queryDesc->plannedstmt->commandType == CMD_INSERT ||
		 queryDesc->plannedstmt->hasModifyingCTE))
	{
		MemoryContext cxt = queryDesc->estate->es_query_cxt;
		MemoryContext old = MemoryContextSwitchTo(cxt);
		ListCell   *lc;

		Assert(queryDesc->planstate != NULL);
		fpt_walk_planstate(queryDesc->planstate, NULL);

		/* ModifyTable nodes in CTEs are subplans of their own. */
		foreach(lc, queryDesc->estate->es_subplanstates)
			fpt_walk_planstate((PlanState *) lfirst(lc), NULL);
		MemoryContextSwitchTo(old);
	}
}

void
fpt_hooks_init(void)
{
	Assert(ExecutorStart_hook != fpt_executor_start);
	fpt_prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = fpt_executor_start;
}

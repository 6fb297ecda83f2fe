/*-------------------------------------------------------------------------
 *
 * fpt_hooks.c
 *	  What core does for btree only, put right from outside.
 *
 * PostgreSQL 15 to 17 prepare an index for speculative insertion (INSERT ...
 * ON CONFLICT) with an error for any unique index that is no btree.  The
 * executor opens a result relation's indexes only if nobody has done so
 * before: an ExecutorStart hook does, without asking for that preparation,
 * and makes it itself.  Not reached: partitions that tuple routing opens later
 * (see README.md, "Limitations").
 *
 * EXPLAIN of 15 to 17 has no hook for a node, only for a whole query: what
 * read-ahead did in this backend is shown below the query's execution time.
 *
 *-------------------------------------------------------------------------
 */
#include "fpt_prefetch.h"

#include "access/nbtree.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "tcop/tcopprot.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

static ExecutorStart_hook_type fpt_prev_executor_start = NULL;

/* Fill in what BuildSpeculativeIndexInfo() does, for any ordered AM. */
static void
fpt_speculative_info(Relation index, IndexInfo *ii)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	int			i;

	ii->ii_UniqueOps = (Oid *) palloc(sizeof(Oid) * nkeys);
	ii->ii_UniqueProcs = (Oid *) palloc(sizeof(Oid) * nkeys);
	ii->ii_UniqueStrats = (uint16 *) palloc(sizeof(uint16) * nkeys);
	for (i = 0; i < nkeys; i++)
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

/* Does any unique index of this relation need the detour? */
static bool
fpt_has_unique_fptree(Relation rel)
{
	ListCell   *lc;
	List	   *oids;
	bool		found = false;

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

static void
fpt_open_indexes(ResultRelInfo *ri)
{
	int			i;

	if (ri->ri_IndexRelationDescs != NULL ||
		!fpt_has_unique_fptree(ri->ri_RelationDesc))
		return;
	ExecOpenIndices(ri, false);
	for (i = 0; i < ri->ri_NumIndices; i++)
	{
		Relation	index = ri->ri_IndexRelationDescs[i];
		IndexInfo  *ii = ri->ri_IndexRelationInfo[i];

		/* Exclusion constraints are no business of speculative insertion. */
		if (index->rd_index->indisunique && !index->rd_index->indisexclusion)
			fpt_speculative_info(index, ii);
	}
}

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

static void
fpt_executor_start(QueryDesc *queryDesc, int eflags)
{
	if (fpt_prev_executor_start)
		fpt_prev_executor_start(queryDesc, eflags);
	else
		standard_ExecutorStart(queryDesc, eflags);

	if (fpt_core_lacks_speculation() &&
		!(eflags & EXEC_FLAG_EXPLAIN_ONLY) &&
		queryDesc->plannedstmt->commandType != CMD_UTILITY &&
		(queryDesc->plannedstmt->commandType == CMD_INSERT ||
		 queryDesc->plannedstmt->hasModifyingCTE))
	{
		MemoryContext old = MemoryContextSwitchTo(queryDesc->estate->es_query_cxt);
		ListCell   *lc;

		fpt_walk_planstate(queryDesc->planstate, NULL);

		/* ModifyTable nodes in CTEs are subplans of their own. */
		foreach(lc, queryDesc->estate->es_subplanstates)
			fpt_walk_planstate((PlanState *) lfirst(lc), NULL);
		MemoryContextSwitchTo(old);
	}
}

#if FPT_HAVE_EXPLAIN_HOOK

/* --- EXPLAIN ------------------------------------------------------------------ */

static ExplainOneQuery_hook_type fpt_prev_explain = NULL;

/* What core does if nobody hooks in (a function of its own since 17). */
static void
fpt_explain_query(Query *query, int cursorOptions, IntoClause *into,
				  ExplainState *es, const char *queryString,
				  ParamListInfo params, QueryEnvironment *queryEnv)
{
	PlannedStmt *plan;
	instr_time	start;
	instr_time	duration;
	BufferUsage before = pgBufferUsage;
	BufferUsage usage;

	INSTR_TIME_SET_CURRENT(start);
	plan = pg_plan_query(query, queryString, cursorOptions, params);
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	memset(&usage, 0, sizeof(usage));
	BufferUsageAccumDiff(&usage, &pgBufferUsage, &before);
	fpt_explain_one_plan(plan, into, es, queryString, params, queryEnv,
						 &duration, es->buffers ? &usage : NULL);
}

/* One index's line in EXPLAIN's text. */
static void
fpt_explain_text(ExplainState *es, const char *name, const FPTReport *r)
{
	const char *sep = "not asked:";
	int			i;

	appendStringInfoSpaces(es->str, 2);
	appendStringInfo(es->str,
					 "%s: leaf pages read " UINT64_FORMAT ", cached "
					 UINT64_FORMAT ", unused " UINT64_FORMAT
					 "; heap pages read " UINT64_FORMAT ", cached "
					 UINT64_FORMAT ", unused " UINT64_FORMAT
					 "; distance " UINT64_FORMAT "\n",
					 name, r->n[FPT_LEAF_ISSUED], r->n[FPT_LEAF_CACHED],
					 r->n[FPT_LEAF_WASTED], r->n[FPT_HEAP_ISSUED],
					 r->n[FPT_HEAP_CACHED], r->n[FPT_HEAP_WASTED],
					 r->n[FPT_DISTANCE_MAX]);
	if (!es->verbose)
		return;
	for (i = FPT_SKIP_OFF; i < FPT_NCOUNTERS; i++)
	{
		if (r->n[i] == 0)
			continue;
		if (*sep == 'n')
			appendStringInfoSpaces(es->str, 4);
		appendStringInfo(es->str, "%s %s " UINT64_FORMAT, sep,
						 fpt_counter_names[i] + strlen("skip_"), r->n[i]);
		sep = ",";
	}
	if (*sep == ',')
		appendStringInfoChar(es->str, '\n');
}

/* The same in the other formats, with all counters. */
static void
fpt_explain_struct(ExplainState *es, const char *name, const FPTReport *r)
{
	int			i;

	ExplainOpenGroup("Index", NULL, true, es);
	ExplainPropertyText("Index Name", name, es);
	ExplainPropertyUInteger("Scans", NULL, r->scans, es);
	for (i = 0; i < FPT_NCOUNTERS; i++)
		ExplainPropertyUInteger(fpt_counter_names[i], NULL, r->n[i], es);
	ExplainCloseGroup("Index", NULL, true, es);
}

/*
 * What the query's scans read ahead, index by index.  In the text, indexes
 * for which nothing was asked are left out unless it is VERBOSE.
 */
static void
fpt_explain_reports(ExplainState *es, const FPTReports *reports)
{
	bool		text = es->format == EXPLAIN_FORMAT_TEXT;
	bool		open = false;
	FPTReport  *r;

	for (r = reports->first; r != NULL; r = r->next)
	{
		char	   *name = get_rel_name(r->index);

		if (name == NULL ||
			(text && !es->verbose &&
			 r->n[FPT_LEAF_ISSUED] + r->n[FPT_LEAF_CACHED] +
			 r->n[FPT_HEAP_ISSUED] + r->n[FPT_HEAP_CACHED] == 0))
			continue;
		if (!open)
		{
			/* The query's own group is closed: this is one beside it. */
			ExplainOpenGroup("Query", NULL, true, es);
			ExplainOpenGroup("Read-Ahead", "Read-Ahead", false, es);
			if (text)
				appendStringInfoString(es->str, "Read-Ahead:\n");
			open = true;
		}
		if (text)
			fpt_explain_text(es, name, r);
		else
			fpt_explain_struct(es, name, r);
	}
	if (open)
	{
		ExplainCloseGroup("Read-Ahead", "Read-Ahead", false, es);
		ExplainCloseGroup("Query", NULL, true, es);
	}
}

static void
fpt_explain(Query *query, int cursorOptions, IntoClause *into,
			ExplainState *es, const char *queryString, ParamListInfo params,
			QueryEnvironment *queryEnv)
{
	FPTReports	reports = {CurrentMemoryContext, NULL};
	FPTReports *outer = fpt_reports;

	PG_TRY();
	{
		fpt_reports = &reports;
		if (fpt_prev_explain)
			fpt_prev_explain(query, cursorOptions, into, es, queryString,
							 params, queryEnv);
		else
			fpt_explain_query(query, cursorOptions, into, es, queryString,
							  params, queryEnv);
	}
	PG_FINALLY();
	{
		fpt_reports = outer;
	}
	PG_END_TRY();
	if (es->analyze && es->buffers)
		fpt_explain_reports(es, &reports);
}

#endif							/* FPT_HAVE_EXPLAIN_HOOK */

void
fpt_hooks_init(void)
{
#if FPT_HAVE_EXPLAIN_HOOK
	fpt_prev_explain = ExplainOneQuery_hook;
	ExplainOneQuery_hook = fpt_explain;
#endif
	fpt_prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = fpt_executor_start;
}

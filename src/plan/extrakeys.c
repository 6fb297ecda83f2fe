/*-------------------------------------------------------------------------
 *
 * plan/extrakeys.c
 *	  Extra keys for the scans of a plan that is about to run.
 *
 * A scan's access method gets conditions of single columns.  The node of the
 * plan has more: a filter that says where in the order of the index its rows
 * begin (plan/keyset.c).  After the executor has started, and before a scan
 * begins, extra keys that say so are added after those of the operators, see
 * scan/extrakey.h.  They are evaluated with these at each rescan.
 *
 * A position comes from the filter of the node itself, which stays: it leaves
 * out only rows that the node would not return.  It is given where the planner
 * has marked a condition of the index (fpt_is_implied()): security allows that
 * the filter's values meet those of hidden rows.
 *
 * The rows that a Limit wants are a hint for read-ahead.  The key has the state
 * of its node, in which the scan finds how many are left to be returned.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "common/int.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "exec/node.h"
#include "exec/onlyscan.h"
#include "plan/keyset.h"
#include "plan/extrakeys.h"
#include "scan/extrakey.h"
#include "server/compat.h"
#include "tree/insert.h"
#include "tree/prefetch.h"

/* The keys of a node that scans an index, in either kind of them. */
typedef struct FPTNodeKeys
{
	PlanState  *ps;
	Relation	index;
	List	   *indexqual;		/* of the plan, in the index's columns */
	const int16 *attnos;		/* of columns in the filter; NULL: the index */
	int			varno;			/* and their relation there */
	ScanKeyData **keys;
	int		   *nkeys;
	IndexRuntimeKeyInfo **runtime;
	int		   *nruntime;
	ExprContext **runtimecxt;
} FPTNodeKeys;

/* The columns of the index, as the node's filter or conditions name them. */
static FPTKeyColumns
fpt_node_columns(const FPTNodeKeys *node, bool filter)
{
	Relation	index = node->index;

	return (FPTKeyColumns)
	{
		.n = IndexRelationGetNumberOfKeyAttributes(index),
		.family = index->rd_opfamily,
		.collation = index->rd_indcollation,
		.varno = filter ? node->varno : INDEX_VAR,
		.attnos = filter ? node->attnos : NULL
	};
}

/*
 * Returns the column with a marked condition, and sets the terms of the columns
 * before it, all "column = value"; -1: no such column.  Reads catalogues.
 */
static int
fpt_marked_column(const FPTNodeKeys *node, FPTKeyTerm *terms)
{
	FPTKeyColumns cols = fpt_node_columns(node, false);
	ListCell   *lc;
	FPTKeyTerm	term;

	for (int i = 0; i < cols.n; i++)
	{
		bool		fixed = false;

		foreach(lc, node->indexqual)
		{
			if (!fpt_keyset_term(&cols, lfirst(lc), i, &term))
				continue;
			if (term.strategy != BTEqualStrategyNumber &&
				fpt_is_implied(lfirst(lc)))
				return i;
			if (term.strategy == BTEqualStrategyNumber)
			{
				terms[i] = term;
				fixed = true;
			}
		}
		if (!fixed)
			break;
	}
	return -1;
}

/* Has any condition a mark?  Looks nothing up. */
static bool
fpt_any_implied(List *indexqual)
{
	ListCell   *lc;

	foreach(lc, indexqual)
	{
		if (fpt_is_implied(lfirst(lc)))
			return true;
	}
	return false;
}

/*
 * The terms of the position at which the rows of a node begin, or end; returns
 * their number, 0 if the filter says no more than the conditions do.  Reads
 * catalogues; allocates in the current context.
 */
static int
fpt_position_terms(const FPTNodeKeys *node, FPTKeyTerm *terms)
{
	FPTKeyColumns cols = fpt_node_columns(node, true);
	int			first = fpt_marked_column(node, terms);
	ListCell   *lc;

	if (first < 0)
		return 0;
	foreach(lc, node->ps->plan->qual)
	{
		int			n = fpt_keyset_terms(&cols, lfirst(lc), first,
										 terms + first, cols.n - first);

		if (n > 1)
			return first + n;
	}
	return 0;
}

/*
 * The key of a term, for one of its values.  A value that is no constant is
 * evaluated with the scan's other ones, whose list must have room.  May raise;
 * allocates in the current context, which is the query's.  Reads catalogues.
 */
static void
fpt_term_key(FPTNodeKeys *node, const FPTKeyTerm *term, Node *from,
			 ScanKey key)
{
	Const	   *value = (Const *) from;
	Oid			ltype;
	Oid			rtype;
	int			strategy;
	int			flags = 0;
	Datum		arg = (Datum) 0;

	get_op_opfamily_properties(term->opno,
							   node->index->rd_opfamily[term->col], false,
							   &strategy, &ltype, &rtype);
	if (IsA(value, Const))
	{
		arg = value->constvalue;
		if (value->constisnull)
			flags = SK_ISNULL;
		else if (value->constlen == -1)
			arg = PointerGetDatum(PG_DETOAST_DATUM(arg));
	}
	else
	{
		IndexRuntimeKeyInfo *r = &(*node->runtime)[(*node->nruntime)++];

		r->scan_key = key;
		r->key_expr = ExecInitExpr((Expr *) from, node->ps);
		r->key_toastable = TypeIsToastable(rtype);
	}
	ScanKeyEntryInitialize(key, flags, term->col + 1, term->strategy, rtype,
						   node->index->rd_indcollation[term->col],
						   get_opcode(term->opno), arg);
}

/*
 * Make room for one more key of the scan, after the others, and for nvalues
 * values to evaluate: replaces the executor's arrays, and the pointers into
 * them.  Returns the new key.  In the current context, which must be the
 * query's.
 */
static ScanKey
fpt_add_key(FPTNodeKeys *node, int nvalues)
{
	int			n = *node->nkeys;
	int			nruntime = *node->nruntime;
	ScanKey		old = *node->keys;
	ScanKey		keys = palloc0((n + 1) * sizeof(ScanKeyData));
	IndexRuntimeKeyInfo *runtime;

	if (n > 0)
		memcpy(keys, old, n * sizeof(ScanKeyData));
	if (nruntime + nvalues > 0)
	{
		runtime = palloc((nruntime + nvalues) * sizeof(IndexRuntimeKeyInfo));
		for (int i = 0; i < nruntime; i++)
		{
			runtime[i] = (*node->runtime)[i];
			/* members of rows are elsewhere, and stay there */
			if (runtime[i].scan_key >= old && runtime[i].scan_key < old + n)
				runtime[i].scan_key = keys + (runtime[i].scan_key - old);
		}
		*node->runtime = runtime;
	}
	if (nvalues > 0 && *node->runtimecxt == NULL)
		*node->runtimecxt = CreateExprContext(node->ps->state);
	*node->keys = keys;
	(*node->nkeys)++;
	return &keys[n];
}

/*
 * Give a scan the position at which its rows begin, or end, if its node's
 * filter says one.  Reads catalogues; may raise; allocates in the current
 * context, which must be the query's.
 */
static void
fpt_give_position(FPTNodeKeys *node)
{
	FPTKeyTerm	terms[INDEX_MAX_KEYS];
	ScanKey		members;
	ScanKey		key;
	ListCell   *lc;
	int			n;
	int			all;
	int			k = 0;

	if (!fpt_any_implied(node->indexqual))
		return;
	n = all = fpt_position_terms(node, terms);
	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
		all += list_length(terms[i].others);
	members = palloc0(all * sizeof(ScanKeyData));
	key = fpt_add_key(node, all);
	for (int i = 0; i < n; i++)
	{
		fpt_term_key(node, &terms[i], terms[i].value, &members[k++]);
		foreach(lc, terms[i].others)
			fpt_term_key(node, &terms[i], lfirst(lc), &members[k++]);
	}
	Assert(k == all);
	members[all - 1].sk_flags |= SK_ROW_END;
	key->sk_flags = FPT_SK_POSITION;
	key->sk_attno = 1;
	key->sk_argument = PointerGetDatum(members);
}

/*
 * Give a node's scan, if it is one of our indexes, a position, or the rows that
 * are wanted of it, if "wanted" is not NULL.  As fpt_give_position().
 */
static void
fpt_give_node(PlanState *ps, const FPTWanted *wanted)
{
	FPTNodeKeys node = {.ps = ps};

	/* a position comes from a filter */
	if (wanted == NULL && ps->plan->qual == NIL)
		return;
	if (IsA(ps, IndexScanState))
	{
		IndexScanState *is = (IndexScanState *) ps;

		node.index = is->iss_RelationDesc;
		node.indexqual = ((IndexScan *) ps->plan)->indexqual;
		node.keys = &is->iss_ScanKeys;
		node.nkeys = &is->iss_NumScanKeys;
		node.runtime = &is->iss_RuntimeKeys;
		node.nruntime = &is->iss_NumRuntimeKeys;
		node.runtimecxt = &is->iss_RuntimeContext;
	}
	else if (IsA(ps, IndexOnlyScanState))
	{
		IndexOnlyScanState *is = (IndexOnlyScanState *) ps;

		node.index = is->ioss_RelationDesc;
		node.indexqual = ((IndexOnlyScan *) ps->plan)->indexqual;
		node.keys = &is->ioss_ScanKeys;
		node.nkeys = &is->ioss_NumScanKeys;
		node.runtime = &is->ioss_RuntimeKeys;
		node.nruntime = &is->ioss_NumRuntimeKeys;
		node.runtimecxt = &is->ioss_RuntimeContext;
	}
	else if (fpt_is_onlyscan(ps))
	{
		FPTNodeScan *ns = fpt_node_of(ps);

		node.index = ns->index;
		node.indexqual = ((CustomScan *) ps->plan)->custom_exprs;
		node.keys = &ns->keys;
		node.nkeys = &ns->nkeys;
		node.runtime = &ns->runtime;
		node.nruntime = &ns->nruntime;
		node.runtimecxt = &ns->context;
	}
	if (node.index == NULL || node.index->rd_indam->aminsert != fptinsert)
		return;
	node.varno = INDEX_VAR;
	if (IsA(ps, IndexScanState))
	{
		node.varno = ((Scan *) ps->plan)->scanrelid;
		node.attnos = node.index->rd_index->indkey.values;
	}
	if (wanted == NULL)
		fpt_give_position(&node);
	else
	{
		ScanKey		key = fpt_add_key(&node, 0);

		key->sk_flags = FPT_SK_WANTED;
		key->sk_attno = 1;
		key->sk_argument = PointerGetDatum(wanted);
	}
}

/* --- rows that a LIMIT wants ---------------------------------------------- */

/*
 * FPTWanted of a Limit node.  Nothing is known of a cursor that goes back, nor
 * of rows that equal the last one (WITH TIES).
 */
static int64
fpt_limit_rows(const FPTWanted *wanted, int64 *had)
{
	const LimitState *limit = (const LimitState *) wanted->arg;
	int64		end;

	*had = limit->position;
	if (limit->noCount || limit->lstate == LIMIT_INITIAL ||
		limit->limitOption != LIMIT_OPTION_COUNT ||
		!ScanDirectionIsForward(limit->ps.state->es_direction) ||
		pg_add_s64_overflow(limit->offset, limit->count, &end) ||
		end <= limit->position)
		return -1;
	return end - limit->position;
}

/*
 * Give the scans below a Limit the rows that it wants, through nodes that want
 * no more rows of a child than are wanted of them.  Another Limit speaks for
 * the scans below it.  Workers of a Gather have no such node.  In the query's
 * context.
 */
static void
fpt_give_wanted(PlanState *ps, const FPTWanted *wanted)
{
	check_stack_depth();
	if (ps == NULL)
		return;
	switch (nodeTag(ps))
	{
		case T_IndexScanState:
		case T_IndexOnlyScanState:
			fpt_give_node(ps, wanted);
			break;
		case T_CustomScanState:
			if (fpt_is_onlyscan(ps))
				fpt_give_node(ps, wanted);
			break;
		case T_LockRowsState:
		case T_ResultState:
			fpt_give_wanted(outerPlanState(ps), wanted);
			break;
		case T_SubqueryScanState:
			fpt_give_wanted(((SubqueryScanState *) ps)->subplan, wanted);
			break;
		case T_AppendState:
			for (int i = 0; i < ((AppendState *) ps)->as_nplans; i++)
				fpt_give_wanted(((AppendState *) ps)->appendplans[i], wanted);
			break;
		case T_MergeAppendState:
			for (int i = 0; i < ((MergeAppendState *) ps)->ms_nplans; i++)
				fpt_give_wanted(((MergeAppendState *) ps)->mergeplans[i],
								wanted);
			break;
		default:
			break;
	}
}

/* Give the scans below a Limit the rows that it wants, if they read ahead. */
static void
fpt_give_limit(LimitState *limit)
{
	FPTWanted  *wanted;

	if (!fpt_guc_heap_prefetch && !fpt_guc_leaf_prefetch)
		return;
	wanted = palloc(sizeof(FPTWanted));
	wanted->rows = fpt_limit_rows;
	wanted->arg = limit;
	fpt_give_wanted(outerPlanState(limit), wanted);
}

/* --- all of it ------------------------------------------------------------ */

/*
 * Give the scans of a node, and those below it, their extra keys.  As deep as
 * the plan, as core's own walks are.  Returns false, so that
 * planstate_tree_walker() goes on.
 */
static bool
fpt_give_below(PlanState *ps, void *context)
{
	if (ps == NULL)
		return false;
	if (IsA(ps, LimitState))
		fpt_give_limit((LimitState *) ps);
	fpt_give_node(ps, NULL);
	if (IsA(ps, IndexScanState) && ps->initPlan == NIL && ps->subPlan == NIL)
		return false;			/* as most look-ups */
	return planstate_tree_walker(ps, fpt_give_below, context);
}

void
fpt_give_keys(QueryDesc *query)
{
	EState	   *estate = query->estate;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	Assert(query->planstate != NULL);
	/* plans of SubPlans and InitPlans come below the nodes that have them */
	fpt_give_below(query->planstate, NULL);
	MemoryContextSwitchTo(old);
}

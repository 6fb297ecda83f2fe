/*-------------------------------------------------------------------------
 *
 * exec/distinct.c
 *	  The plan node that returns the keys of an index.
 *
 * It returns each key once that has a visible row, or with the number of its
 * rows.  A batch is divided into groups of entries with the same key
 * (exec/group.c).  Where keys are not counted a single visible row will do, and
 * the scan goes on after the last group's key by a search (scan/skip.c), unless
 * the next one is likely to be near.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "exec/distinct.h"
#include "exec/group.h"
#include "exec/node.h"
#include "exec/putoff.h"
#include "exec/sight.h"
#include "scan/batch.h"
#include "scan/scan.h"
#include "scan/skip.h"
#include "scan/state.h"
#include "server/compat.h"

/*
 * After a batch of this number of groups the next one is read, and not searched
 * for: the last group is likely to have few entries there.
 */
#define FPT_NEAR_GROUPS		4

/* A group's rows that are looked up at first, and how their number grows */
#define FPT_FIRST_ROWS		1
#define FPT_MORE_ROWS		4

typedef struct FPTDistinctState
{
	CustomScanState css;		/* these two are an FPTNodeState */
	FPTNodeScan ns;
	int			ncols;			/* of a key */
	int			ncounts;		/* columns of the result that count rows */
	bool		started;
	bool		begun;			/* a batch has been read */
	bool		ended;			/* no batch is left */
	bool		each;			/* entry by entry (E4) */
	FPTPutOff	off;
	FPTSkip		skip;
	FPTGroups	groups;			/* of the current batch, */
	int			next;			/* those to return, in the scan's direction: */
	int			end;			/* next .. end - 1 */
	bool		joined;			/* the first one goes on from the last batch */
	FPTGroupKey key;			/* that the batches before ended with: returned
								 * already, or its rows are counted: */
	int64		rows;
	bool		pending;		/* they are all counted, and it comes next */
	FPTGroupKey other;			/* E4: the key that is returned */
} FPTDistinctState;

/* --- visible rows -------------------------------------------------------- */

/* Put an entry of a group off; room has been made. */
static inline void
fpt_distinct_later(FPTDistinctState *st, const FPTBatch *b, int group, int i)
{
	Assert(i >= st->groups.list[group].from && i < st->groups.list[group].to);
	fpt_putoff_add(&st->off, b->tids[i], (uint64) group << 32 | (uint32) i);
}

/* Look up all that were put off; visible rows are added to their groups. */
static void
fpt_distinct_visit(FPTDistinctState *st)
{
	FPTPutOff  *p = &st->off;
	size_t		found;

	if (p->n == 0)
		return;
	InstrCountTuples2(&st->css.ss, p->n);
	found = fpt_putoff_visit(st->ns.scan, p);
	for (size_t i = 0; i < found; i++)
	{
		uint64		value = p->recs[i * p->nwords + FPT_PUTOFF_VALUE];
		FPTGroup   *g = &st->groups.list[value >> 32];

		g->rows++;
		g->shown = (int) (uint32) value;
		Assert(g->shown >= g->from && g->shown < g->to);
	}
}

/*
 * Fill in what the visibility map says of the groups: how many rows of each are
 * visible, and one of them.  Put all hidden entries off if rows are counted.
 */
static void
fpt_distinct_proven(FPTDistinctState *st, const FPTBatch *b, int nhidden)
{
	const int  *hidden = st->ns.sight.hidden;
	int			k = 0;

	for (int i = 0; i < st->groups.n; i++)
	{
		FPTGroup   *g = &st->groups.list[i];

		g->shown = g->from;
		g->rows = g->to - g->from;
		for (; k < nhidden && hidden[k] < g->to; k++)
		{
			g->rows--;
			if (hidden[k] == g->shown)
				g->shown++;
			if (st->ncounts > 0)
				fpt_distinct_later(st, b, i, hidden[k]);
		}
		if (g->rows == 0)
			g->shown = -1;
		Assert(g->shown < g->to);
	}
	Assert(k == nhidden);
}

/*
 * Put entries off of each group that has no visible row so far: from "done" on,
 * "max" at most.  All entries of such groups are hidden.  Returns whether any
 * has more.
 */
static bool
fpt_distinct_some(FPTDistinctState *st, const FPTBatch *b, int done, int max)
{
	bool		more = false;

	for (int i = 0; i < st->groups.n; i++)
	{
		const FPTGroup *g = &st->groups.list[i];

		if (g->rows > 0)
			continue;
		for (int e = g->from + done; e < Min(g->from + done + max, g->to); e++)
			fpt_distinct_later(st, b, i, e);
		more |= g->from + done + max < g->to;
	}
	return more;
}

/*
 * Find out which groups of the batch have visible rows, and how many: all rows
 * are counted, or else one of each group is found, if there is one.  nhidden
 * entries are not proven to be visible, as st->ns.sight.hidden says.
 *
 * If all entries of a group are hidden, one row of it is looked up first, with
 * those of other groups page by page, then four rows, and so on: few more than
 * need be, and not one after the other where many are dead.  Locks and errors
 * as of fpt_putoff_visit(); the batch stays the current one.
 */
static void
fpt_distinct_show(FPTDistinctState *st, const FPTBatch *b, int nhidden)
{
	int			done = 0;
	int			max = FPT_FIRST_ROWS;
	bool		more = st->ncounts == 0;

	if (nhidden > 0)
	{
		if (!fpt_putoff_room(&st->off, nhidden))
			elog(ERROR, "no room for the entries of a leaf");
		fpt_putoff_leaf(&st->off, b);
	}
	fpt_distinct_proven(st, b, nhidden);
	if (nhidden == 0)
		return;
	fpt_distinct_visit(st);
	while (more)
	{
		fpt_putoff_clear(&st->off);
		fpt_putoff_leaf(&st->off, b);
		more = fpt_distinct_some(st, b, done, max);
		fpt_distinct_visit(st);
		done += max;
		max *= FPT_MORE_ROWS;
	}
	fpt_putoff_clear(&st->off);
}

/* --- groups -------------------------------------------------------------- */

/* The i'th group in the scan's direction. */
static inline FPTGroup *
fpt_distinct_group(FPTDistinctState *st, int i)
{
	Assert(i >= 0 && i < st->groups.n);
	return &st->groups.list[ScanDirectionIsForward(st->ns.dir) ? i :
							st->groups.n - 1 - i];
}

/*
 * The batch is going to be left: keep the key that it ends with, if the batches
 * after it need to know it.
 */
static void
fpt_distinct_keep(FPTDistinctState *st)
{
	const FPTGroup *last = fpt_distinct_group(st, st->groups.n - 1);

	if (st->ncounts > 0)
	{
		/* still the one before, or perhaps: it has no visible row here */
		if (st->groups.n == 1 && (st->joined || last->rows == 0))
			return;
		st->key.valid = false;
		st->rows = last->rows;
	}
	if (last->rows > 0)
		fpt_group_key(st->ns.scan, &st->groups, last->shown, &st->key);
}

/*
 * Find out which groups of a new batch have to be returned.  The first one may
 * be the one that the last batch ended with: a key that has been returned is
 * not returned again, one that is counted goes on.
 */
static void
fpt_distinct_join(FPTDistinctState *st)
{
	const FPTGroup *first = fpt_distinct_group(st, 0);
	int			n = st->groups.n;

	st->joined = st->key.valid && first->rows > 0 &&
		fpt_group_has_key(st->ns.scan, &st->groups, first->shown, &st->key);
	st->next = st->joined ? 1 : 0;
	st->end = n;
	if (st->ncounts == 0)
		return;
	if (st->joined)
		st->rows += first->rows;
	st->pending = st->key.valid &&
		!(n == 1 && (st->joined || first->rows == 0));
	st->end = n - 1;
}

/*
 * Read the next batch, and find the groups that have visible rows; false at the
 * end.  Locks, errors and memory as of fpt_batch_after().
 */
static bool
fpt_distinct_batch(FPTDistinctState *st)
{
	IndexScanDesc scan = st->ns.scan;
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	FPTBatch   *b = &so->cur;
	bool		found;

	if (!st->begun)
	{
		pgstat_count_index_scan(scan->indexRelation);
		fpt_count_search(scan);
		found = fpt_batch_first(scan, so, b, st->ns.dir);
	}
	else
	{
		const FPTGroup *last = fpt_distinct_group(st, st->groups.n - 1);

		fpt_distinct_keep(st);
		/* E6: what a search leaves out has the key that was returned */
		if (st->ncounts == 0 && st->groups.n < FPT_NEAR_GROUPS &&
			last->rows > 0 && fpt_skip_may(scan, &st->skip))
			found = fpt_skip(scan, &st->skip, st->key.values, st->key.isnull,
							 st->ncols, st->ns.dir);
		else
		{
			fpt_batch_leave(scan, so);
			found = fpt_batch_after(scan, b, b, st->ns.dir);
		}
	}
	st->begun = true;
	if (!found)
		return false;
	pgstat_count_index_tuples(scan->indexRelation, b->n);
	fpt_groups_find(scan, &st->groups, !so->ix.stale && !so->disorder);
	fpt_distinct_show(st, b, fpt_sight_look(scan, &st->ns.sight, true));
	fpt_distinct_join(st);
	return true;
}

/* --- rows of the result -------------------------------------------------- */

/* A row in the node's scan tuple: the key is there, or in *key. */
static TupleTableSlot *
fpt_distinct_row(FPTDistinctState *st, const FPTGroupKey *key, int64 rows)
{
	TupleTableSlot *slot = st->css.ss.ss_ScanTupleSlot;
	int			n = slot->tts_tupleDescriptor->natts;

	if (key != NULL)
	{
		ExecClearTuple(slot);
		memcpy(slot->tts_values, key->values, st->ncols * sizeof(Datum));
		memcpy(slot->tts_isnull, key->isnull, st->ncols * sizeof(bool));
	}
	memset(slot->tts_isnull + st->ncols, true,
		   (n - st->ncounts - st->ncols) * sizeof(bool));
	for (int i = n - st->ncounts; i < n; i++)
	{
		slot->tts_values[i] = Int64GetDatum(rows);
		slot->tts_isnull[i] = false;
	}
	return ExecStoreVirtualTuple(slot);
}

/* The row of a group of the batch (E5); its key lives as long as the batch. */
static TupleTableSlot *
fpt_distinct_group_row(FPTDistinctState *st, const FPTGroup *g)
{
	IndexScanDesc scan = st->ns.scan;
	TupleTableSlot *slot = st->css.ss.ss_ScanTupleSlot;
	bool		passing;
	IndexTuple	tuple = fpt_entry_tuple(scan, g->shown, &passing);

	ExecClearTuple(slot);
	for (int c = 0; c < st->ncols; c++)
		slot->tts_values[c] = index_getattr(tuple, c + 1, scan->xs_itupdesc,
											&slot->tts_isnull[c]);
	return fpt_distinct_row(st, NULL, g->rows);
}

/* The next row, from batches; NULL at the end. */
static TupleTableSlot *
fpt_distinct_next(FPTDistinctState *st)
{
	for (;;)
	{
		if (st->pending)
		{
			st->pending = false;
			return fpt_distinct_row(st, &st->key, st->rows);
		}
		while (st->next < st->end)
		{
			const FPTGroup *g = fpt_distinct_group(st, st->next++);

			if (g->rows > 0)
				return fpt_distinct_group_row(st, g);
		}
		if (st->ended)
			return NULL;
		if (!fpt_distinct_batch(st))
		{
			st->ended = true;
			st->pending = st->ncounts > 0 && st->key.valid;
		}
	}
}

/* The same, entry by entry; the key that is returned is in st->other. */
static TupleTableSlot *
fpt_distinct_each(FPTDistinctState *st)
{
	IndexScanDesc scan = st->ns.scan;
	TupleTableSlot *slot = st->css.ss.ss_ScanTupleSlot;
	FPTGroupKey was;
	int64		rows;

	while (!st->ended && fpt_node_next(&st->ns, st->ns.dir))
	{
		if (st->key.valid &&
			fpt_group_is_key(scan, &st->groups, slot->tts_values,
							 slot->tts_isnull, &st->key))
		{
			st->rows++;
			continue;
		}
		fpt_group_copy(scan, &st->groups, slot->tts_values, slot->tts_isnull,
					   &st->other);
		was = st->key;
		rows = st->rows;
		st->key = st->other;
		st->other = was;
		st->rows = 1;
		if (st->ncounts == 0)
			return fpt_distinct_row(st, &st->key, 1);
		if (was.valid)
			return fpt_distinct_row(st, &st->other, rows);
	}
	if (st->ended || st->ncounts == 0 || !st->key.valid)
		return NULL;
	st->ended = true;
	return fpt_distinct_row(st, &st->key, st->rows);
}

/* --- the node ------------------------------------------------------------ */

static void
fpt_distinct_begin(CustomScanState *css, EState *estate, int eflags)
{
	FPTDistinctState *st = (FPTDistinctState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List	   *numbers = lsecond(plan->custom_private);
	MemoryContext cxt = estate->es_query_cxt;

	st->ncols = linitial_int(numbers);
	st->ncounts = lsecond_int(numbers);
	fpt_node_open(&st->ns, css, linitial_oid(linitial(plan->custom_private)),
				  lthird(plan->custom_private), eflags);
	st->ns.dir = lthird_int(numbers) ? BackwardScanDirection :
		ForwardScanDirection;
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	fpt_groups_init(&st->groups, cxt, st->ncols);
	st->key.cxt = AllocSetContextCreate(cxt, "fptree key",
										ALLOCSET_SMALL_SIZES);
	st->other.cxt = AllocSetContextCreate(cxt, "fptree key",
										  ALLOCSET_SMALL_SIZES);
	fpt_putoff_init(&st->off, cxt, st->ns.table, FPT_PUTOFF_WORDS);
}

/* Begin the scan anew: nothing is known of batches. */
static void
fpt_distinct_start(FPTDistinctState *st)
{
	FPTScanOpaque *so;

	st->started = true;
	st->begun = st->ended = false;
	st->next = st->end = 0;
	st->joined = st->pending = false;
	st->key.valid = st->other.valid = false;
	st->rows = 0;
	memset(&st->skip, 0, sizeof(FPTSkip));
	fpt_putoff_clear(&st->off);
	fpt_node_restart(&st->ns);
	so = (FPTScanOpaque *) st->ns.scan->opaque;
	st->each = fpt_batch_prepare(st->ns.scan, so);
}

/* ExecCustomScan: the next key's row, projected if need be. */
static TupleTableSlot *
fpt_distinct_exec(CustomScanState *css)
{
	FPTDistinctState *st = (FPTDistinctState *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	TupleTableSlot *slot;

	if (!st->started)
		fpt_distinct_start(st);
	CHECK_FOR_INTERRUPTS();
	ResetExprContext(econtext);
	slot = st->each ? fpt_distinct_each(st) : fpt_distinct_next(st);
	if (slot == NULL || css->ss.ps.ps_ProjInfo == NULL)
		return slot;
	econtext->ecxt_scantuple = slot;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

/* The scan itself is begun anew when a row is asked for. */
static void
fpt_distinct_rescan(CustomScanState *css)
{
	((FPTDistinctState *) css)->started = false;
}

/* ExplainCustomScan: the key besides what any scan shows. */
static void
fpt_distinct_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	FPTDistinctState *st = (FPTDistinctState *) css;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   &plan->scan.plan,
												   ancestors);
	bool		prefix = list_length(es->rtable) > 1 || es->verbose;
	List	   *key = NIL;

	for (int i = 0; i < st->ncols; i++)
	{
		TargetEntry *te = list_nth_node(TargetEntry, plan->custom_scan_tlist,
										i);

		key = lappend(key, deparse_expression((Node *) te->expr, context,
											  prefix, false));
	}
	ExplainPropertyList("Group Key", key, es);
	fpt_node_explain(&st->ns, ancestors, es);
}

static const CustomExecMethods fpt_distinct_exec_methods = {
	.CustomName = FPT_DISTINCT_NAME,
	.BeginCustomScan = fpt_distinct_begin,
	.ExecCustomScan = fpt_distinct_exec,
	.EndCustomScan = fpt_node_end,
	.ReScanCustomScan = fpt_distinct_rescan,
	.ExplainCustomScan = fpt_distinct_explain,
};

static Node *
fpt_distinct_state(CustomScan *plan)
{
	FPTDistinctState *st = (FPTDistinctState *)
		newNode(sizeof(FPTDistinctState), T_CustomScanState);

	st->css.methods = &fpt_distinct_exec_methods;
	return (Node *) st;
}

static const CustomScanMethods fpt_distinct_methods = {
	.CustomName = FPT_DISTINCT_NAME,
	.CreateCustomScanState = fpt_distinct_state,
};

void
fpt_distinct_register(void)
{
	RegisterCustomScanMethods(&fpt_distinct_methods);
}

CustomScan *
fpt_distinct_plan(Index scanrelid, Oid indexid, List *columns,
				  const FPTDistinctKeys *keys, List *aggrefs, List *quals)
{
	CustomScan *plan = makeNode(CustomScan);

	Assert(keys->ncols > 0 && keys->ncols <= list_length(columns));
	plan->scan.scanrelid = scanrelid;
	plan->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	plan->custom_scan_tlist = fpt_node_tuple(columns, aggrefs);
	plan->custom_exprs = copyObjectImpl(quals);
	plan->custom_private = list_make3(list_make1_oid(indexid),
									  list_make3_int(keys->ncols,
													 list_length(aggrefs),
													 keys->backward),
									  keys->equality);
	plan->methods = &fpt_distinct_methods;
	return plan;
}

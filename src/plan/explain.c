/*-------------------------------------------------------------------------
 *
 * plan/explain.c
 *	  Read-ahead in EXPLAIN.
 *
 * What read-ahead did in this backend.  From 18 on EXPLAIN asks for each node:
 * it is shown at the scan's own, in any plan that is shown with what its
 * execution took, auto_explain's too.  Up to 17 there is a hook for a whole
 * query only: it is shown below the query's execution time, index by index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "utils/lsyscache.h"

#include "exec/node.h"
#include "plan/explain.h"
#include "scan/scan.h"
#include "server/compat.h"
#include "store/counts.h"
#include "tree/insert.h"
#include "tree/prefetch.h"

static ExplainOneQuery_hook_type fpt_prev_query = NULL;
static explain_per_node_hook_type fpt_prev_node = NULL;
static explain_validate_options_hook_type fpt_prev_check = NULL;

/* --- counters ------------------------------------------------------------ */

/* Was anything asked for? */
static bool
fpt_explain_asked(const uint64 *n)
{
	return n[FPT_LEAF_ISSUED] + n[FPT_LEAF_CACHED] +
		n[FPT_HEAP_ISSUED] + n[FPT_HEAP_CACHED] > 0;
}

/* How evenly the pages that were read lie on the stripes. */
typedef struct FPTBalance
{
	uint64		least;
	uint64		most;
	double		ratio;			/* of the most to the average; 0: none read */
} FPTBalance;

/*
 * How evenly pages lie on the stripes; ratio 0 where none were read, or there
 * are no stripes.
 */
static FPTBalance
fpt_balance(const FPTStripeReads *r)
{
	FPTBalance	b = {r->n[0], r->n[0], 0};
	uint64		sum = 0;

	Assert(r->stripes >= 0 && r->stripes <= FPT_MAX_STRIPES);
	for (int k = 0; k < r->stripes; k++)
	{
		b.least = Min(b.least, r->n[k]);
		b.most = Max(b.most, r->n[k]);
		sum += r->n[k];
	}
	if (sum > 0)
		b.ratio = (double) b.most * r->stripes / sum;
	return b;
}

/*
 * A line of text, "all" with another one of why pages were not asked for, if
 * there is a reason to tell.  Of stripes where any was read.  Appends to
 * es->str.
 */
static void
fpt_explain_text(ExplainState *es, int indent, const char *label,
				 const uint64 *n, const FPTStripeReads *reads, bool all)
{
	FPTBalance	b = fpt_balance(reads);
	const char *sep = "not asked:";

	Assert(es->format == EXPLAIN_FORMAT_TEXT);
	appendStringInfoSpaces(es->str, indent);
	appendStringInfo(es->str,
					 "%s: leaf pages read " UINT64_FORMAT ", cached "
					 UINT64_FORMAT ", unused " UINT64_FORMAT
					 "; heap pages read " UINT64_FORMAT ", cached "
					 UINT64_FORMAT ", unused " UINT64_FORMAT
					 "; distance " UINT64_FORMAT,
					 label, n[FPT_LEAF_ISSUED], n[FPT_LEAF_CACHED],
					 n[FPT_LEAF_WASTED], n[FPT_HEAP_ISSUED],
					 n[FPT_HEAP_CACHED], n[FPT_HEAP_WASTED],
					 n[FPT_DISTANCE_MAX]);
	if (b.ratio > 0)
		appendStringInfo(es->str, "; stripes %d, reads of each "
						 UINT64_FORMAT " to " UINT64_FORMAT ", balance %.2f",
						 reads->stripes, b.least, b.most, b.ratio);
	appendStringInfoChar(es->str, '\n');
	if (!all)
		return;
	for (int i = FPT_SKIP_OFF; i < FPT_NCOUNTERS; i++)
	{
		if (n[i] == 0)
			continue;
		if (*sep == 'n')
			appendStringInfoSpaces(es->str, indent + 2);
		appendStringInfo(es->str, "%s %s " UINT64_FORMAT, sep,
						 fpt_counter_names[i] + strlen("skip_"), n[i]);
		sep = ",";
	}
	if (*sep == ',')
		appendStringInfoChar(es->str, '\n');
}

/* All counters, in the other formats. */
static void
fpt_explain_counters(ExplainState *es, const uint64 *n,
					 const FPTStripeReads *reads)
{
	FPTBalance	b = fpt_balance(reads);

	Assert(es->format != EXPLAIN_FORMAT_TEXT);
	for (int i = 0; i < FPT_NCOUNTERS; i++)
		ExplainPropertyUInteger(fpt_counter_names[i], NULL, n[i], es);
	if (reads->stripes == 0)
		return;
	ExplainPropertyInteger("Stripes", NULL, reads->stripes, es);
	ExplainPropertyUInteger("Least Stripe Reads", NULL, b.least, es);
	ExplainPropertyUInteger("Most Stripe Reads", NULL, b.most, es);
	ExplainPropertyFloat("Balance", NULL, b.ratio, 2, es);
}

/* --- nodes (from 18) ----------------------------------------------------- */

/* A node's scan of one of our indexes; NULL if there is none, or not yet. */
static IndexScanDesc
fpt_explain_scan(PlanState *ps)
{
	IndexScanDesc scan = NULL;

	if (IsA(ps, IndexScanState))
		scan = ((IndexScanState *) ps)->iss_ScanDesc;
	else if (IsA(ps, IndexOnlyScanState))
		scan = ((IndexOnlyScanState *) ps)->ioss_ScanDesc;
	else if (IsA(ps, BitmapIndexScanState))
		scan = ((BitmapIndexScanState *) ps)->biss_ScanDesc;
	else
	{
		FPTNodeScan *ns = fpt_node_of(ps);

		if (ns != NULL)
			scan = ns->scan;
	}
	if (scan == NULL || scan->indexRelation->rd_indam->aminsert != fptinsert)
		return NULL;
	return scan;
}

/*
 * explain_per_node_hook: a node's read-ahead.  Unless the option says whether
 * to: with ANALYZE and BUFFERS, in the text only where pages were asked for, or
 * VERBOSE.  The hook that there was comes first.
 */
static void
fpt_explain_node(PlanState *ps, List *ancestors, const char *relationship,
				 const char *plan_name, ExplainState *es)
{
	const bool *option;
	bool		all;
	bool		text;
	uint64		n[FPT_NCOUNTERS];
	FPTStripeReads reads;
	IndexScanDesc scan;

	if (fpt_prev_node)
		fpt_prev_node(ps, ancestors, relationship, plan_name, es);
	option = fpt_explain_state(es);
	all = option != NULL || es->verbose;
	text = es->format == EXPLAIN_FORMAT_TEXT;
	if (option != NULL ? !*option : !es->analyze || !es->buffers)
		return;
	scan = fpt_explain_scan(ps);
	if (scan == NULL)
		return;
	fpt_scan_counters(scan, n, &reads);
	if (text && (all || fpt_explain_asked(n)))
		fpt_explain_text(es, es->indent * 2, "Read-Ahead", n, &reads, all);
	if (!text)
	{
		ExplainOpenGroup("Read-Ahead", "Read-Ahead", true, es);
		fpt_explain_counters(es, n, &reads);
		ExplainCloseGroup("Read-Ahead", "Read-Ahead", true, es);
	}
}

/* EXPLAIN (READAHEAD): what it is set to, in the statement's context. */
static void
fpt_explain_option(ExplainState *es, DefElem *opt, ParseState *pstate)
{
	bool	   *option = palloc(sizeof(bool));

	*option = defGetBoolean(opt);
	fpt_set_explain_state(es, option);
}

/*
 * When all options are known.  Raises an error if READAHEAD is on without
 * ANALYZE.
 */
static void
fpt_explain_check(ExplainState *es, List *options, ParseState *pstate)
{
	const bool *option;

	if (fpt_prev_check)
		fpt_prev_check(es, options, pstate);
	option = fpt_explain_state(es);
	if (option != NULL && *option && !es->analyze)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("EXPLAIN option %s requires ANALYZE", "READAHEAD")));
}

/* --- queries (up to 17) -------------------------------------------------- */

/*
 * What the query's scans read ahead, index by index.  In the text, indexes for
 * which nothing was asked are left out unless it is VERBOSE.  An index that has
 * been dropped since has no name, and is left out.  Reads catalogues.
 */
static void
fpt_explain_reports(ExplainState *es, const FPTReports *reports)
{
	bool		text = es->format == EXPLAIN_FORMAT_TEXT;
	bool		open = false;

	for (FPTReport *r = reports->first; r != NULL; r = r->next)
	{
		char	   *name = get_rel_name(r->index);

		if (name == NULL ||
			(text && !es->verbose && !fpt_explain_asked(r->n)))
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
		{
			fpt_explain_text(es, 2, name, r->n, &r->reads, es->verbose);
			continue;
		}
		ExplainOpenGroup("Index", NULL, true, es);
		ExplainPropertyText("Index Name", name, es);
		ExplainPropertyUInteger("Scans", NULL, r->scans, es);
		fpt_explain_counters(es, r->n, &r->reads);
		ExplainCloseGroup("Index", NULL, true, es);
	}
	if (open)
	{
		ExplainCloseGroup("Read-Ahead", "Read-Ahead", false, es);
		ExplainCloseGroup("Query", NULL, true, es);
	}
}

/*
 * ExplainOneQuery_hook: what scans report while the query runs is added to its
 * EXPLAIN.  An EXPLAIN within another's query has reports of its own.  The list
 * of reports is in the statement's context, and taken away again whether the
 * query succeeds or not: scans that end later find the outer one.
 */
static void
fpt_explain_query(Query *query, int cursorOptions, IntoClause *into,
				  ExplainState *es, const char *queryString,
				  ParamListInfo params, QueryEnvironment *queryEnv)
{
	FPTReports	reports = {CurrentMemoryContext, NULL};
	FPTReports *outer = fpt_reports;
	ExplainOneQuery_hook_type prev = fpt_prev_query ? fpt_prev_query :
		standard_ExplainOneQuery;

	PG_TRY();
	{
		fpt_reports = &reports;
		prev(query, cursorOptions, into, es, queryString, params, queryEnv);
	}
	PG_FINALLY();
	{
		fpt_reports = outer;
	}
	PG_END_TRY();
	if (es->analyze && es->buffers)
		fpt_explain_reports(es, &reports);
}

void
fpt_explain_init(void)
{
	Assert(ExplainOneQuery_hook != fpt_explain_query);
	if (fpt_hook_explain_node(fpt_explain_node, &fpt_prev_node))
	{
		fpt_hook_explain_option("readahead", fpt_explain_option,
								fpt_explain_check, &fpt_prev_check);
		return;
	}
	fpt_prev_query = ExplainOneQuery_hook;
	ExplainOneQuery_hook = fpt_explain_query;
}

/*-------------------------------------------------------------------------
 *
 * sql/am.c
 *	  The access method handler, reloptions, settings.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/reloptions.h"
#include "commands/vacuum.h"
#include "utils/guc.h"

#include "key/procs.h"
#include "key/validate.h"
#include "load/build.h"
#include "page/format.h"
#include "page/simd.h"
#include "plan/cost.h"
#include "plan/count.h"
#include "plan/distinct.h"
#include "plan/nodes.h"
#include "plan/onlyscan.h"
#include "plan/explain.h"
#include "plan/hooks.h"
#include "plan/plan.h"
#include "scan/heaplines.h"
#include "scan/parallel.h"
#include "scan/scan.h"
#include "server/compat.h"
#include "server/stop.h"
#include "sql/stripegc.h"
#include "store/options.h"
#include "store/stripe.h"
#include "tree/insert.h"
#include "tree/prefetch.h"
#include "tree/recall.h"
#include "tree/vacuum.h"

FPT_MODULE_MAGIC("fptree", "1.0");

/* fptree.simd as it was set; what runs is page/simd.c's fpt_simd */
static char *fpt_guc_simd = NULL;

/* fptree.debug_node_lines as it was set; what it says is in fpt_debug_lines */
static char *fpt_guc_debug_node_lines = NULL;

/* The kind of our reloptions, given out by core when the library is loaded */
static relopt_kind fpt_relopt_kind;

void		_PG_init(void);

/* --- settings ------------------------------------------------------------ */

/*
 * check_hook of fptree.simd: is it a variant that this machine can run?
 * Returns false with a hint, and raises nothing.  The list of names is in the
 * current context.
 */
static bool
fpt_simd_check(char **newval, void **extra, GucSource source)
{
	const char *names[8];
	int			n = fpt_simd_available(names, lengthof(names));
	StringInfoData list;

	Assert(n > 0 && n <= (int) lengthof(names));
	if (strcmp(*newval, "auto") == 0)
		return true;
	initStringInfo(&list);
	appendStringInfoString(&list, "auto");
	for (int i = 0; i < n; i++)
	{
		if (strcmp(*newval, names[i]) == 0)
			return true;
		appendStringInfo(&list, ", %s", names[i]);
	}
	GUC_check_errhint("This machine can run: %s.", list.data);
	return false;
}

/*
 * assign_hook: from now on searches use this variant.  The name has passed the
 * check, on this machine.
 */
static void
fpt_simd_assign(const char *newval, void *extra)
{
	(void) fpt_simd_select(newval);
}

/* Values of fptree.missing_tablespaces: FPTMissing */
static const struct config_enum_entry fpt_missing_options[] = {
	{"error", FPT_MISSING_ERROR, false},
	{"skip", FPT_MISSING_SKIP, false},
	{NULL, 0, false}
};

/*
 * What fptree.debug_node_lines says: "w,x", or nothing, which is "0,0".
 * Returns false if it is neither, or a number is out of range.
 */
static bool
fpt_lines_parse(const char *s, FPTNodeLines *lines)
{
	int			end = -1;

	lines->w = lines->x = 0;
	if (s[strspn(s, " \t")] == '\0')
		return true;
	return sscanf(s, "%3d , %3d %n", &lines->w, &lines->x, &end) == 2 &&
		end > 0 && s[end] == '\0' &&
		lines->w >= 0 && lines->w <= FPT_MAX_NODE_LINES &&
		lines->x >= 0 && lines->x <= FPT_MAX_NODE_LINES;
}

/* check_hook of fptree.debug_node_lines.  Raises nothing. */
static bool
fpt_lines_check(char **newval, void **extra, GucSource source)
{
	FPTNodeLines lines;

	if (fpt_lines_parse(*newval, &lines))
		return true;
	GUC_check_errdetail("It must be empty, or two numbers from 0 to %d with a comma between them.",
						FPT_MAX_NODE_LINES);
	GUC_check_errhint("Give the lines of %d bytes of a page's root node and of its leaf nodes, such as \"1,2\"; 0 leaves the choice to fptree.",
					  FPT_LINE);
	return false;
}

/* assign_hook: for files made from now on.  The value has passed the check. */
static void
fpt_lines_assign(const char *newval, void *extra)
{
	bool		ok PG_USED_FOR_ASSERTS_ONLY;

	ok = fpt_lines_parse(newval, &fpt_debug_lines);
	Assert(ok);
}

/* The storage parameters of an index, as an FPTOptions has them. */
static void
fpt_define_reloptions(void)
{
	fpt_relopt_kind = add_reloption_kind();
	add_int_reloption(fpt_relopt_kind, "fillfactor",
					  "Packs leaf pages only to this percentage",
					  FPT_DEFAULT_FILLFACTOR, FPT_MIN_FILLFACTOR, 100,
					  ShareUpdateExclusiveLock);
	add_string_reloption(fpt_relopt_kind, "tablespaces",
						 "Tablespaces that the index is striped over",
						 NULL, fpt_tablespaces_validate,
						 ShareUpdateExclusiveLock);
}

/* The settings: README.md has all but the last one, which is for tests. */
static void
fpt_define_settings(void)
{
	DefineCustomStringVariable("fptree.simd",
							   "Instruction set of the search in index pages.",
							   "\"auto\" takes the best one that the machine has.",
							   &fpt_guc_simd, "auto", PGC_USERSET, GUC_EXPLAIN,
							   fpt_simd_check, fpt_simd_assign, NULL);
	DefineCustomBoolVariable("fptree.leaf_prefetch",
							 "Read leaf pages ahead in index scans.",
							 NULL, &fpt_guc_leaf_prefetch, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("fptree.heap_prefetch",
							 "Read heap pages ahead in index scans.",
							 NULL, &fpt_guc_heap_prefetch, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("fptree.heap_lines",
							 "Bring rows of cached tables into the processor's cache ahead in index scans.",
							 NULL, &fpt_guc_heap_lines, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("fptree.prefetch_distance",
							"Number of pages that index scans read ahead.",
							"0 adapts it to the scan, up to effective_io_concurrency.",
							&fpt_guc_prefetch_distance, 0, 0, FPT_MAX_DISTANCE,
							PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("fptree.separator_memory",
							"Memory in which a session remembers where leaf pages begin.",
							"Of all indexes together; 0 remembers nothing.",
							&fpt_guc_separator_memory, 512, 0, 1024 * 1024,
							PGC_USERSET, GUC_EXPLAIN | GUC_UNIT_KB, NULL,
							fpt_recall_limit, NULL);
	DefineCustomBoolVariable("fptree.cost_readahead",
							 "Tell the planner that long scans read leaf pages ahead.",
							 NULL, &fpt_guc_cost_readahead, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("fptree.plan_costs",
							 "Let the planner know what skips cost, and of how many pages the work is.",
							 NULL, &fpt_guc_plan_costs, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("fptree.plan_families",
							 "Let the planner apply its rules about btree's operator families.",
							 NULL, &fpt_guc_plan_families, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("fptree.plan_extremes",
							 "Let the planner look up a column's minimum and maximum.",
							 NULL, &fpt_guc_plan_extremes, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("fptree.plan_rows",
							 "Make index conditions of row comparisons.",
							 "And of ORs that mean the same, as a > x OR (a = x AND b > y) does.", &fpt_guc_plan_rows, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("fptree.enable_count",
							 "Let the planner use plans that count in an index.",
							 NULL, &fpt_guc_enable_count, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("fptree.enable_distinct",
							 "Let the planner use plans that go from key to key of an index.",
							 NULL, &fpt_guc_enable_distinct, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("fptree.enable_indexonlyscan",
							 "Let the planner use index-only scans by plan nodes of fptree.",
							 NULL, &fpt_guc_enable_onlyscan, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomEnumVariable("fptree.missing_tablespaces",
							 "What to do where an index names a tablespace that does not exist, or that its owner may not use.",
							 "An index that is built again does without it in any case.",
							 &fpt_guc_missing_tablespaces, FPT_MISSING_ERROR,
							 fpt_missing_options, PGC_USERSET, 0,
							 NULL, NULL, NULL);
	DefineCustomStringVariable("fptree.debug_node_lines",
							   "Lines of the nodes in pages of new index files, for tests.",
							   "\"w,x\": of a page's root node, and of its leaf nodes; 0 leaves the choice to fptree.",
							   &fpt_guc_debug_node_lines, "", PGC_USERSET,
							   GUC_NOT_IN_SAMPLE, fpt_lines_check,
							   fpt_lines_assign, NULL);
}

/*
 * The library is loaded, into a backend or the postmaster: options and settings
 * are declared, hooks and callbacks added to those that there are.
 */
void
_PG_init(void)
{
	fpt_define_reloptions();
	fpt_define_settings();
	fpt_stop_init();
	MarkGUCPrefixReserved("fptree");
	fpt_hooks_init();
	fpt_explain_init();
	fpt_plan_nodes_init();
	fpt_plan_init();
	fpt_stripegc_init();
}

/*
 * amoptions: the reloptions as an FPTOptions, in the current context; raises an
 * error about unknown or impossible ones if they are to be validated.
 */
static bytea *
fptoptions(Datum reloptions, bool validate)
{
	static const relopt_parse_elt tab[] = {
		{.optname = "fillfactor", .opttype = RELOPT_TYPE_INT,
		.offset = offsetof(FPTOptions, fillfactor)},
		{.optname = "tablespaces", .opttype = RELOPT_TYPE_STRING,
		.offset = offsetof(FPTOptions, tablespaces)},
	};

	return (bytea *) build_reloptions(reloptions, validate, fpt_relopt_kind,
									  sizeof(FPTOptions), tab, lengthof(tab));
}

/* --- handler ------------------------------------------------------------- */

/* Every column, included ones as well; scan/standby.c sees to standbys. */
static bool
fptcanreturn(Relation index, int attno)
{
	return true;
}

/*
 * What the access method can do, and by which functions.  Not set, so false:
 * order by an operator (amcanorderbyop), and summarizing, as each row has an
 * entry.
 */
static const IndexAmRoutine fpt_routine = {
	.type = T_IndexAmRoutine,
	.amstrategies = BTMaxStrategyNumber,
	.amsupport = FPT_NPROCS,
	.amoptsprocnum = FPT_OPTIONS_PROC,
	.amcanorder = true,
	.amcanbackward = true,
	.amcanunique = true,
	.amcanmulticol = true,
	.amoptionalkey = true,
	.amsearcharray = true,
	.amsearchnulls = true,
	.amclusterable = true,
	.ampredlocks = true,
	.amcanparallel = true,
	.amcaninclude = true,
	.amusemaintenanceworkmem = true,	/* VACUUM's notes, tree/vacuum.c */
	.amparallelvacuumoptions =
		VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_COND_CLEANUP,
	.ambuild = fptbuild,
	.ambuildempty = fptbuildempty,
	.aminsert = fptinsert,
	.ambulkdelete = fptbulkdelete,
	.amvacuumcleanup = fptvacuumcleanup,
	.amcanreturn = fptcanreturn,
	.amcostestimate = fptcostestimate,
	.amoptions = fptoptions,
	.ambuildphasename = fptbuildphasename,
	.amvalidate = fptvalidate,
	.amadjustmembers = fptadjustmembers,
	.ambeginscan = fptbeginscan,
	.amrescan = fptrescan,
	.amgettuple = fptgettuple,
	.amgetbitmap = fptgetbitmap,
	.amendscan = fptendscan,
	.ammarkpos = fptmarkpos,
	.amrestrpos = fptrestrpos,
	.amestimateparallelscan = fptestimateparallelscan,
	.aminitparallelscan = fptinitparallelscan,
	.amparallelrescan = fptparallelrescan,
	FPT_LATER_FIELDS(fpt_tree_height)
};

PG_FUNCTION_INFO_V1(fpthandler);

/*
 * fpthandler(internal): the handler that CREATE ACCESS METHOD names.  May raise
 * the first time.
 */
Datum
fpthandler(PG_FUNCTION_ARGS)
{
	fpt_stripegc_handled();
	PG_RETURN_POINTER(fpt_handed_out(&fpt_routine));
}

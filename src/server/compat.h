/*-------------------------------------------------------------------------
 *
 * server/compat.h
 *	  The differences between PostgreSQL 15 and later: all PG_VERSION_NUM
 *	  tests of the extension are here.
 *
 * What only has another name or other parameters in some version is a function
 * or a macro that does it.  What a version has, or does, and others do not, is
 * a question (fpt_can_..., fpt_core_...), or a function that says so by its
 * result: so both ways are compiled by all versions.  Versions are told by
 * their number, which is that of the first one with the change.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SERVER_COMPAT_H
#define FPT_SERVER_COMPAT_H

/*
 * Keys of up to 8 bytes are passed by value, and an entry's width is that of a
 * 64-bit machine's alignment: elsewhere the library would be built, and wrong
 * in sizes and costs.
 */
#if SIZEOF_VOID_P < 8
#error "fptree needs a 64-bit build of PostgreSQL"
#endif

#include "access/amapi.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/nbtree.h"
#include "access/nbtxlog.h"
#include "access/relscan.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_tablespace.h"
#include "commands/explain.h"
#include "commands/vacuum.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/pg_list.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "storage/block.h"
#include "storage/buf.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/fd.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/smgr.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/selfuncs.h"
#include "utils/snapshot.h"

/* What 18 has taken out of commands/explain.h */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/* 16 took VARDATA() out of postgres.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#if PG_VERSION_NUM < 150000
#error "fptree needs PostgreSQL 15 or later"
#endif

/*
 * Reading a page that "snapshot too old" may have pruned: gone in 17, with the
 * setting old_snapshot_threshold.  Raises that error.  The page is locked.
 */
static inline void
fpt_test_old_snapshot(Snapshot snapshot, Relation rel, Page page)
{
#if PG_VERSION_NUM < 170000
	TestForOldSnapshot(snapshot, rel, page);
#endif
}

/*
 * A hook that sees a relation's indexes before they are used in planning.  19
 * has one that is called at the end of build_simple_rel(), in place of that in
 * get_relation_info(), and with other parameters; "rel" and "root" are in both.
 */
#if PG_VERSION_NUM >= 190000
#define fpt_relation_hook		build_simple_rel_hook
#define fpt_relation_hook_type	build_simple_rel_hook_type
#define FPT_RELATION_HOOK_PARAMS \
	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define FPT_RELATION_HOOK_ARGS	root, rel, rte
#else
#define fpt_relation_hook		get_relation_info_hook
#define fpt_relation_hook_type	get_relation_info_hook_type
#define FPT_RELATION_HOOK_PARAMS \
	PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel
#define FPT_RELATION_HOOK_ARGS	root, relid, inhparent, rel
#endif

#if PG_VERSION_NUM < 170000

/*
 * The provider of collations that came with 17: no collation has it before, so
 * that a comparison with it is false.
 */
#define COLLPROVIDER_BUILTIN	'b'
#endif

/*
 * Setting hints under a share lock; 19 wants to be asked first, as no page may
 * change while it is written.  False: not now, and the hints are left out.
 * After true, fpt_hints_end() must follow.  The page is locked, to read.
 */
static inline bool
fpt_hints_begin(Buffer buf)
{
	Assert(BufferIsValid(buf) && CritSectionCount == 0);
#if PG_VERSION_NUM >= 190000
	return BufferBeginSetHintBits(buf);
#else
	return true;
#endif
}

/*
 * What fpt_hints_begin() allowed is over; "dirty": a hint was set.  The page is
 * locked still, to read.  May write a WAL record (of the page, with checksums).
 */
static inline void
fpt_hints_end(Buffer buf, bool dirty)
{
#if PG_VERSION_NUM >= 190000
	BufferFinishSetHintBits(buf, dirty, true);
#else
	if (dirty)
		MarkBufferDirtyHint(buf, true);
#endif
}

/* --- EXPLAIN ------------------------------------------------------------- */

#if PG_VERSION_NUM < 170000

/* How long ago that was. */
static inline instr_time
fpt_time_since(instr_time start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return now;
}

/*
 * Plan a query, and what that read (zeroes before).  As pg_plan_query(): may
 * raise, or be cancelled; the plan is in the current context.
 */
static inline PlannedStmt *
fpt_plan_counted(Query *query, int cursorOptions, const char *queryString,
				 ParamListInfo params, BufferUsage *usage)
{
	BufferUsage before = pgBufferUsage;
	PlannedStmt *plan;

	Assert(query->commandType != CMD_UTILITY);
	plan = pg_plan_query(query, queryString, cursorOptions, params);
	BufferUsageAccumDiff(usage, &pgBufferUsage, &before);
	return plan;
}

/* The same, and how long it took. */
static inline PlannedStmt *
fpt_plan_timed(Query *query, int cursorOptions, const char *queryString,
			   ParamListInfo params, instr_time *duration, BufferUsage *usage)
{
	instr_time	start;
	PlannedStmt *plan;

	INSTR_TIME_SET_CURRENT(start);
	plan = fpt_plan_counted(query, cursorOptions, queryString, params, usage);
	*duration = fpt_time_since(start);
	return plan;
}

/* What core does with a query if nobody hooks in; a function from 17 on. */
static inline void
standard_ExplainOneQuery(Query *query, int cursorOptions, IntoClause *into,
						 ExplainState *es, const char *queryString,
						 ParamListInfo params, QueryEnvironment *queryEnv)
{
	instr_time	duration;
	BufferUsage usage = {0};
	PlannedStmt *plan = fpt_plan_timed(query, cursorOptions, queryString,
									   params, &duration, &usage);

	ExplainOnePlan(plan, into, es, queryString, params, queryEnv, &duration,
				   es->buffers ? &usage : NULL);
}
#endif

/*
 * Types of 18's hooks of EXPLAIN, so that what is hung there is compiled, and
 * never called, by older versions as well.
 */
#if PG_VERSION_NUM < 180000
typedef void (*explain_per_node_hook_type) (PlanState *planstate,
											List *ancestors,
											const char *relationship,
											const char *plan_name,
											ExplainState *es);
typedef void (*explain_validate_options_hook_type) (ExplainState *es,
													List *options,
													ParseState *pstate);
typedef void (*ExplainOptionHandler) (ExplainState *es, DefElem *opt,
									  ParseState *pstate);
#endif

/*
 * An option of EXPLAIN; 19 also wants to know how its value is to be checked.
 */
#if PG_VERSION_NUM >= 190000
#define FPT_EXPLAIN_OPTION(name, handler) \
	RegisterExtensionExplainOption(name, handler, GUCCheckBooleanExplainOption)
#elif PG_VERSION_NUM >= 180000
#define FPT_EXPLAIN_OPTION(name, handler) \
	RegisterExtensionExplainOption(name, handler)
#endif

/*
 * Have EXPLAIN call "node" for each node; *prev: what was to be called before.
 * False if it cannot (up to 17).
 */
static inline bool
fpt_hook_explain_node(explain_per_node_hook_type node,
					  explain_per_node_hook_type *prev)
{
	Assert(node != NULL);
#if PG_VERSION_NUM >= 180000
	*prev = explain_per_node_hook;
	explain_per_node_hook = node;
#endif
	return PG_VERSION_NUM >= 180000;
}

/*
 * Have it know an option of a name, and call "check" when it knows the values
 * of all; *prev as above.  Nothing is done where it cannot.
 */
static inline void
fpt_hook_explain_option(const char *name, ExplainOptionHandler handler,
						explain_validate_options_hook_type check,
						explain_validate_options_hook_type *prev)
{
	Assert(handler != NULL && check != NULL);
#if PG_VERSION_NUM >= 180000
	*prev = explain_validate_options_hook;
	explain_validate_options_hook = check;
	FPT_EXPLAIN_OPTION(name, handler);
#endif
}

/* What an option's handler has left for the other hooks; NULL if nothing. */
static inline void *
fpt_explain_state(ExplainState *es)
{
#if PG_VERSION_NUM >= 180000
	return GetExplainExtensionState(es, GetExplainExtensionId("fptree"));
#else
	return NULL;
#endif
}

/* Leave something for them; it is forgotten where there are no hooks. */
static inline void
fpt_set_explain_state(ExplainState *es, void *state)
{
#if PG_VERSION_NUM >= 180000
	SetExplainExtensionState(es, GetExplainExtensionId("fptree"), state);
#endif
}

/* --- storage ------------------------------------------------------------- */

/* The number in the name of the index's file: a RelFileNumber since 16. */
static inline Oid
fpt_relnumber(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->rd_locator.relNumber;
#else
	return rel->rd_node.relNode;
#endif
}

#if PG_VERSION_NUM < 160000

/* From 16 on the storage manager insists on a page's place in memory. */
typedef PGAlignedBlock PGIOAlignedBlock;
#endif

/*
 * The name under which the buffer manager knows a block: of a relation's own
 * file, whatever is in it.
 */
static inline void
fpt_buffer_tag(BufferTag *tag, Relation rel, ForkNumber fork, BlockNumber blk)
{
#if PG_VERSION_NUM >= 160000
	InitBufferTag(tag, &rel->rd_locator, fork, blk);
#else
	INIT_BUFFERTAG(*tag, rel->rd_node, fork, blk);
#endif
}

/*
 * Can the operating system read files ahead for us?  Not if the server was
 * built without posix_fadvise(), nor if files are read past its cache, which 16
 * can be told to do (debug_io_direct).
 */
static inline bool
fpt_can_prefetch(void)
{
#ifndef USE_PREFETCH
	return false;
#elif PG_VERSION_NUM >= 160000
	return (io_direct_flags & IO_DIRECT_DATA) == 0;
#else
	return true;
#endif
}

/*
 * Have the operating system read n neighbouring blocks in one piece.  False if
 * the server can ask for single blocks only (up to 16): nothing is done then.
 * Raises an error if the file cannot be opened.
 */
static inline bool
fpt_prefetch_blocks(Relation rel, ForkNumber fork, BlockNumber blk, int n)
{
	Assert(n > 0);
#if PG_VERSION_NUM >= 170000
	(void) smgrprefetch(RelationGetSmgr(rel), fork, blk, n);
#endif
	return PG_VERSION_NUM >= 170000;
}

/*
 * The name of the file of a relation's fork: of its first segment.  In the
 * current context.
 */
static inline char *
fpt_file_path(Relation rel, ForkNumber fork)
{
#if PG_VERSION_NUM >= 180000
	return pstrdup(relpath(RelationGetSmgr(rel)->smgr_rlocator, fork).str);
#elif PG_VERSION_NUM >= 160000
	return relpath(RelationGetSmgr(rel)->smgr_rlocator, fork);
#else
	return relpath(RelationGetSmgr(rel)->smgr_rnode, fork);
#endif
}

#if PG_VERSION_NUM < 190000

/* The lock of a shared buffer: until 18 an LWLock, which its descriptor has. */
static inline LWLock *
fpt_buffer_lwlock(Buffer buf)
{
	Assert(BufferIsValid(buf) && !BufferIsLocal(buf));
	return BufferDescriptorGetContentLock(GetBufferDescriptor(buf - 1));
}
#endif

/* Does this process hold the lock of a shared buffer, in any mode? */
static inline bool
fpt_holds_lock(Buffer buf)
{
#if PG_VERSION_NUM >= 190000
	return BufferIsLockedByMe(buf);
#else
	return LWLockHeldByMe(fpt_buffer_lwlock(buf));
#endif
}

/* Does it hold the exclusive one? */
static inline bool
fpt_holds_exclusive_lock(Buffer buf)
{
#if PG_VERSION_NUM >= 190000
	return BufferIsLockedByMeInMode(buf, BUFFER_LOCK_EXCLUSIVE);
#else
	return LWLockHeldByMeInMode(fpt_buffer_lwlock(buf), LW_EXCLUSIVE);
#endif
}

/* EXPLAIN ANALYZE's "Index Searches": since 18. */
static inline void
fpt_count_search(IndexScanDesc scan)
{
#if PG_VERSION_NUM >= 180000
	if (scan->instrument)
		scan->instrument->nsearches++;
#endif
}

/*
 * Subtransactions that gave a relation its present, and its first new file, in
 * this transaction; other names since 16.
 */
#if PG_VERSION_NUM >= 160000
#define FPT_NEW_FILE_SUBID(rel)		((rel)->rd_newRelfilelocatorSubid)
#define FPT_FIRST_FILE_SUBID(rel)	((rel)->rd_firstRelfilelocatorSubid)
#else
#define FPT_NEW_FILE_SUBID(rel)		((rel)->rd_newRelfilenodeSubid)
#define FPT_FIRST_FILE_SUBID(rel)	((rel)->rd_firstRelfilenodeSubid)
#endif

/*
 * How much memory may VACUUM take, in kilobytes?  As core computes it; who is
 * an autovacuum worker is asked by another name since 17.
 */
static inline int
fpt_vacuum_mem(void)
{
#if PG_VERSION_NUM >= 170000
	bool		autovacuum = AmAutoVacuumWorkerProcess();
#else
	bool		autovacuum = IsAutoVacuumWorkerProcess();
#endif

	return autovacuum && autovacuum_work_mem != -1 ? autovacuum_work_mem :
		maintenance_work_mem;
}

/*
 * Buffers of the ring that VACUUM reads by way of; 0: it has none.  Before 16
 * core tells nobody: this is what it computes.
 */
static inline int
fpt_ring_buffers(BufferAccessStrategy strategy)
{
#if PG_VERSION_NUM >= 160000
	return GetAccessStrategyBufferCount(strategy);
#else
	return strategy == NULL ? 0 : Min(256 * 1024 / BLCKSZ, NBuffers / 8);
#endif
}

/*
 * VACUUM's nap, and where it can be cancelled: no page is locked.  18 wants to
 * know whether it is ANALYZE that sleeps.
 */
static inline void
fpt_vacuum_delay(void)
{
#if PG_VERSION_NUM >= 180000
	vacuum_delay_point(false);
#else
	vacuum_delay_point();
#endif
}

/*
 * Is it worth asking VACUUM's callback in the order of the table?  Up to 16 it
 * is a binary search among all dead TIDs.  From 17 on it looks up the block in
 * a radix tree, which for a table of up to 512 MB (with blocks of 8 kB) stays
 * in the processor's cache anyway.
 */
static inline bool
fpt_vacuum_sorts(IndexVacuumInfo *info)
{
#if PG_VERSION_NUM >= 170000
	return RelationGetNumberOfBlocks(info->heaprel) > 1 << 16;
#else
	return true;
#endif
}

/*
 * Fields of the handler's result that later versions added: 17 builds in
 * parallel for AMs that say so; 18 asks what was known of btree only, which
 * strategies mean what, and how high a tree is, for costs.
 */
#if PG_VERSION_NUM >= 180000
#define FPT_LATER_FIELDS(height) \
	.amcanbuildparallel = true, \
	.amconsistentequality = true, \
	.amconsistentordering = true, \
	.amgettreeheight = height, \
	.amtranslatestrategy = bttranslatestrategy,	/* the same numbers */ \
	.amtranslatecmptype = bttranslatecmptype,
#elif PG_VERSION_NUM >= 170000
#define FPT_LATER_FIELDS(height) \
	.amcanbuildparallel = true,
#else
#define FPT_LATER_FIELDS(height)
#endif

/*
 * The handler's result: the relation cache frees it, so it is a copy, in the
 * current context; or keeps a pointer to what is static (19).
 */
static inline const IndexAmRoutine *
fpt_handed_out(const IndexAmRoutine *am)
{
#if PG_VERSION_NUM >= 190000
	return am;
#else
	IndexAmRoutine *copy = makeNode(IndexAmRoutine);

	*copy = *am;
	return copy;
#endif
}

/* What a library says of itself; from 18 on its name and version, too. */
#if PG_VERSION_NUM >= 180000
#define FPT_MODULE_MAGIC(name_, version_) \
	PG_MODULE_MAGIC_EXT(.name = name_, .version = version_)
#else
#define FPT_MODULE_MAGIC(name_, version_) PG_MODULE_MAGIC
#endif

/*
 * Does core refuse unique indexes of other AMs in ON CONFLICT? (to 17)  Before
 * 18 the number of "=" is looked up for btree only, and an error raised for
 * others: see plan/hooks.c and server/preload.c.
 */
static inline bool
fpt_core_lacks_speculation(void)
{
	return PG_VERSION_NUM < 180000;
}

/*
 * Do subscribers look for the replica identity as if it were a btree? (17)
 * They fail if it is another one.
 */
static inline bool
fpt_core_identity_btree(void)
{
	return PG_VERSION_NUM >= 170000 && PG_VERSION_NUM < 180000;
}

/* A description of columns that was put together is complete. */
static inline void
fpt_tupdesc_finish(TupleDesc desc)
{
#if PG_VERSION_NUM >= 190000
	TupleDescFinalize(desc);
#endif
}

#if PG_VERSION_NUM < 160000

/*
 * A variable by its name, which there must be: so none is made, and there is no
 * error.  15 has this function for itself alone, but tells where its list of
 * variables is.
 */
static inline struct config_generic *
find_option(const char *name, bool create_placeholders, bool skip_errors,
			int elevel)
{
	struct config_generic **vars = get_guc_variables();

	while (strcmp((*vars)->name, name) != 0)
		vars++;
	return *vars;
}
#endif

/*
 * What a string is set to in the server's configuration; NULL if this session
 * does not know, since a database, role or client has set it to something else.
 * Only asked where core lacks speculation.
 */
static inline const char *
fpt_configured_string(const char *name)
{
#if PG_VERSION_NUM < 180000
	struct config_generic *var = find_option(name, false, false, ERROR);

	Assert(var != NULL && var->vartype == PGC_STRING);
	if (var->reset_source < PGC_S_GLOBAL)
		return ((struct config_string *) var)->reset_val;
#endif
	return NULL;
}

/* Does btcostestimate() know of skipped columns? (from 18) */
static inline bool
fpt_core_costs_skips(void)
{
	return PG_VERSION_NUM >= 180000;
}

/*
 * About how many elements has an array?  From 17 on by statistics of columns.
 */
static inline double
fpt_array_length(struct PlannerInfo *root, Node *array)
{
#if PG_VERSION_NUM >= 170000
	return estimate_array_length(root, array);
#else
	return estimate_array_length(array);
#endif
}

/* Does the planner look up extremes in indexes of btree only? (to 17) */
static inline bool
fpt_core_probes_btree(void)
{
	return PG_VERSION_NUM < 180000;
}

/* Does the executor give row comparisons to any ordered index? (from 18) */
static inline bool
fpt_core_takes_rows(void)
{
	return PG_VERSION_NUM >= 180000;
}

/*
 * Extend a fork by one page; returned locked exclusively, zeroed.
 * InvalidBuffer, with nothing done, if the server cannot do that in one step
 * (15).  Raises an error if the disk is full.
 */
static inline Buffer
fpt_core_extend(Relation rel, ForkNumber fork)
{
	Assert(CritSectionCount == 0);
#if PG_VERSION_NUM >= 160000
	return ExtendBufferedRel(BMR_REL(rel), fork, NULL, EB_LOCK_FIRST);
#else
	return InvalidBuffer;
#endif
}

/*
 * Part of a security-restricted context since 17: functions that run there find
 * names in pg_catalog and pg_temp only.  Undone with the GUC nest level.
 */
static inline void
fpt_restrict_search_path(void)
{
#if PG_VERSION_NUM >= 170000
	RestrictSearchPath();
#endif
}

/*
 * Look-ups of single rows of a table by TID: begin, in the current context.  19
 * has flags as well, of which we need none.
 */
static inline IndexFetchTableData *
fpt_index_fetch_begin(Relation heaprel)
{
#if PG_VERSION_NUM >= 190000
	return table_index_fetch_begin(heaprel, 0);
#else
	return table_index_fetch_begin(heaprel);
#endif
}

/*
 * ReadRecentBuffer() has pinned a buffer: it has been used once more.  Up to 18
 * that is not counted for the clock sweep, as PinBuffer() counts it.  While
 * somebody has the descriptor locked, the count is left as it is.
 */
#if PG_VERSION_NUM < 190000
static inline void
fpt_buffer_used(Buffer buf)
{
	pg_atomic_uint32 *state = &GetBufferDescriptor(buf - 1)->state;
	uint32		s = pg_atomic_read_u32(state);

	while (BUF_STATE_GET_USAGECOUNT(s) < BM_MAX_USAGE_COUNT &&
		   !(s & BM_LOCKED) &&
		   !pg_atomic_compare_exchange_u32(state, &s, s + BUF_USAGECOUNT_ONE))
		;
}
#else
#define fpt_buffer_used(buf)	((void) 0)
#endif

/*
 * A block of a relation was found in shared buffers: counted as ReadBuffer()
 * counts it, from 16 on in pg_stat_io as well.
 */
static inline void
fpt_count_hit(Relation rel)
{
	pgstat_count_buffer_read(rel);
	pgstat_count_buffer_hit(rel);
#if PG_VERSION_NUM >= 180000
	pgstat_count_io_op(IOOBJECT_RELATION, IOCONTEXT_NORMAL, IOOP_HIT, 1, 0);
#elif PG_VERSION_NUM >= 160000
	pgstat_count_io_op(IOOBJECT_RELATION, IOCONTEXT_NORMAL, IOOP_HIT);
#endif
}

/*
 * A scan of one of core's tables has a place where heapam keeps the page of the
 * last row, pinned for the next one.  Give that pin back.
 */
static inline void
fpt_heap_place_empty(IndexScanDesc scan)
{
	IndexFetchHeapData *place = (IndexFetchHeapData *) scan->xs_heapfetch;

	if (BufferIsValid(place->xs_cbuf))
		ReleaseBuffer(place->xs_cbuf);
	place->xs_cbuf = InvalidBuffer;
#if PG_VERSION_NUM >= 190000
	place->xs_blk = InvalidBlockNumber;
#endif
}

/* Put a page there that is pinned; the pin is heapam's then. */
static inline void
fpt_heap_place_fill(IndexScanDesc scan, BlockNumber blk, Buffer buf)
{
	IndexFetchHeapData *place = (IndexFetchHeapData *) scan->xs_heapfetch;

	Assert(!BufferIsValid(place->xs_cbuf));
	place->xs_cbuf = buf;
#if PG_VERSION_NUM >= 190000
	place->xs_blk = blk;
#endif
}

/* Prune that page, if it is worth it, as heapam prunes pages it comes to. */
static inline void
fpt_heap_place_prune(IndexScanDesc scan)
{
	IndexFetchHeapData *place = (IndexFetchHeapData *) scan->xs_heapfetch;

#if PG_VERSION_NUM >= 190000
	heap_page_prune_opt(scan->heapRelation, place->xs_cbuf, &place->xs_vmbuffer,
						place->xs_base.flags & SO_HINT_REL_READ_ONLY);
#else
	heap_page_prune_opt(scan->heapRelation, place->xs_cbuf);
#endif
}

/*
 * Prune a page of a table that is about to be read, if that is worth it, as any
 * scan does.  19 may also set the visibility map, unless the statement changes
 * the table, which is not known here.  The page is pinned, and not locked.
 */
#if PG_VERSION_NUM >= 190000
static inline void
fpt_heap_prune(Relation heap, Buffer buf)
{
	Buffer		map = InvalidBuffer;

	heap_page_prune_opt(heap, buf, &map, false);
	if (BufferIsValid(map))
		ReleaseBuffer(map);
}
#else
#define fpt_heap_prune(heap, buf)	heap_page_prune_opt(heap, buf)
#endif

/*
 * Begin a scan of an index, in the current context; without the counts that 18
 * added for EXPLAIN, and without the flags of 19.
 */
static inline IndexScanDesc
fpt_index_beginscan(Relation heap, Relation index, Snapshot snapshot,
					int nkeys)
{
#if PG_VERSION_NUM >= 190000
	return index_beginscan(heap, index, snapshot, NULL, nkeys, 0, 0);
#elif PG_VERSION_NUM >= 180000
	return index_beginscan(heap, index, snapshot, NULL, nkeys, 0);
#else
	return index_beginscan(heap, index, snapshot, nkeys, 0);
#endif
}

/*
 * Bytes of shared memory for a parallel scan of an index by a node of ours: 17
 * asks for numbers of keys, 18 also for what EXPLAIN is told, nothing here.
 */
static inline Size
fpt_index_parallel_size(Relation index, Snapshot snapshot, int nkeys)
{
#if PG_VERSION_NUM >= 180000 && PG_VERSION_NUM < 190000
	return index_parallelscan_estimate(index, nkeys, 0, snapshot, false, true,
									   0);
#elif PG_VERSION_NUM >= 170000
	return index_parallelscan_estimate(index, nkeys, 0, snapshot);
#else
	return index_parallelscan_estimate(index, snapshot);
#endif
}

/* Initialise that memory, for the heap's and the index's scan. */
static inline void
fpt_index_parallel_init(Relation heap, Relation index, Snapshot snapshot,
						ParallelIndexScanDesc target)
{
#if PG_VERSION_NUM >= 180000 && PG_VERSION_NUM < 190000
	SharedIndexScanInstrumentation *none = NULL;

	index_parallelscan_initialize(heap, index, snapshot, false, true, 0, &none,
								  target);
#else
	index_parallelscan_initialize(heap, index, snapshot, target);
#endif
}

/* Take part in that scan, as fpt_index_beginscan(). */
static inline IndexScanDesc
fpt_index_beginscan_parallel(Relation heap, Relation index, int nkeys,
							 ParallelIndexScanDesc shared)
{
#if PG_VERSION_NUM >= 190000
	return index_beginscan_parallel(heap, index, NULL, nkeys, 0, shared, 0);
#elif PG_VERSION_NUM >= 180000
	return index_beginscan_parallel(heap, index, NULL, nkeys, 0, shared);
#else
	return index_beginscan_parallel(heap, index, nkeys, 0, shared);
#endif
}

/*
 * Has a setting or a mask of a table ruled this path out?  Counted since 18;
 * before it is dear.
 */
static inline bool
fpt_path_disabled(const Path *path)
{
#if PG_VERSION_NUM >= 180000
	return path->disabled_nodes > 0;
#else
	return path->total_cost >= disable_cost;
#endif
}

#ifdef FPT_STOP_POINTS

/*
 * Throw away what shared buffers hold of a relation's fork, dirty pages
 * unwritten.
 */
static inline void
fpt_drop_buffers(Relation rel, ForkNumber fork)
{
	BlockNumber from = 0;

#if PG_VERSION_NUM >= 160000
	DropRelationBuffers(RelationGetSmgr(rel), &fork, 1, &from);
#else
	DropRelFileNodeBuffers(RelationGetSmgr(rel), &fork, 1, &from);
#endif
}
#endif

/*
 * A relation's storage as the buffer manager names it: tablespace, database and
 * file, RelFileNode before 16.
 */
#if PG_VERSION_NUM >= 160000
#define FPT_LOCATOR(rel)	((rel)->rd_locator)
#define fpt_locator_equals(a, b)	RelFileLocatorEquals(*(a), *(b))
typedef RelFileLocator FPTLocator;
#else
#define FPT_LOCATOR(rel)	((rel)->rd_node)
#define fpt_locator_equals(a, b)	RelFileNodeEquals(*(a), *(b))
typedef RelFileNode FPTLocator;
#endif

/*
 * That of a file of this database, by its tablespace as pg_class has it, and
 * the number in its name.
 */
static inline FPTLocator
fpt_locator(Oid space, Oid number)
{
	FPTLocator	file = {OidIsValid(space) ? space : MyDatabaseTableSpace,
		MyDatabaseId, number};

	return file;
}

/* --- stripes ------------------------------------------------------------- */

/*
 * "Not a temporary file of a backend": these are told by their owner's number,
 * which 17 calls a process's, and a backend's before.
 */
#if PG_VERSION_NUM >= 170000
#define FPT_NO_BACKEND		INVALID_PROC_NUMBER
#else
#define FPT_NO_BACKEND		InvalidBackendId
#endif

/* The callback of table access methods that creates a file; renamed in 16 */
#if PG_VERSION_NUM >= 160000
#define FPT_TABLEAM_NEW_FILE	relation_set_new_filelocator
#else
#define FPT_TABLEAM_NEW_FILE	relation_set_new_filenode
#endif

/*
 * Parameters of other ones, none of which we look at: 19 adds some, makes
 * options unsigned, and hands VACUUM's out as constant.
 */
#if PG_VERSION_NUM >= 190000
#define FPT_TABLEAM_FLAGS		, uint32 flags
#define FPT_TABLEAM_SNAPSHOT	, Snapshot snapshot
typedef uint32 FPTTableOptions;
typedef const struct VacuumParams FPTVacuumParams;
#else
#define FPT_TABLEAM_FLAGS
#define FPT_TABLEAM_SNAPSHOT
typedef int FPTTableOptions;
typedef struct VacuumParams FPTVacuumParams;
#endif

/*
 * The number of scans of a relation that its statistics are told of, in what
 * the session has not reported yet; other names since 16.
 */
#if PG_VERSION_NUM >= 160000
#define FPT_STAT_NUMSCANS(status)	((status)->counts.numscans)
#else
#define FPT_STAT_NUMSCANS(status)	((status)->t_counts.t_numscans)
#endif

/*
 * Give a relation a new, empty file; the old one goes at commit, the new one at
 * an abort.  The relation is locked, AccessExclusiveLock.  Changes catalogues;
 * may raise.
 */
static inline void
fpt_new_storage(Relation rel, char persistence)
{
	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock, false));
#if PG_VERSION_NUM >= 160000
	RelationSetNewRelfilenumber(rel, persistence);
#else
	RelationSetNewRelfilenode(rel, persistence);
#endif
}

/* Does this session hold just this lock on a relation of our database? */
static inline bool
fpt_lock_held(Oid relid, LOCKMODE mode)
{
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(&tag, mode, false);
#else
	return LockHeldByMe(&tag, mode);
#endif
}

/*
 * May this role create something in this tablespace?  Raises an error if there
 * is no such tablespace.  Reads catalogues.
 */
static inline AclResult
fpt_tablespace_acl(Oid space, Oid role)
{
	Assert(OidIsValid(space) && OidIsValid(role));
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(TableSpaceRelationId, space, role, ACL_CREATE);
#else
	return pg_tablespace_aclcheck(space, role, ACL_CREATE);
#endif
}

/* May this role, or everybody (ACL_ID_PUBLIC), call it?  Reads catalogues. */
static inline AclResult
fpt_function_acl(Oid function, Oid role)
{
	Assert(OidIsValid(function));
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE);
#else
	return pg_proc_aclcheck(function, role, ACL_EXECUTE);
#endif
}

/* Does the user own a relation, or is he a superuser?  Reads catalogues. */
static inline bool
fpt_owns(Oid relid)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relid, GetUserId());
#else
	return pg_class_ownercheck(relid, GetUserId());
#endif
}

/* --- parallel scans ------------------------------------------------------ */

/*
 * amestimateparallelscan, shared memory of a parallel scan: later versions say
 * of what scan, 17 by numbers of keys, 18 by the index as well.
 */
#if PG_VERSION_NUM >= 180000
#define FPT_ESTIMATE_PARALLEL_PARAMS Relation rel, int nkeys, int norderbys
#elif PG_VERSION_NUM >= 170000
#define FPT_ESTIMATE_PARALLEL_PARAMS int nkeys, int norderbys
#else
#define FPT_ESTIMATE_PARALLEL_PARAMS void
#endif

/* Where it is, behind core's part, of which there are two since 18. */
static inline Size
fpt_parallel_offset(ParallelIndexScanDesc scan)
{
#if PG_VERSION_NUM >= 180000
	return scan->ps_offset_am;
#else
	return scan->ps_offset;
#endif
}

/* --- recovery conflicts -------------------------------------------------- */

/*
 * Fill in btree's record of a recovery conflict, but for the page's number.  16
 * also wants to know whether the table is a catalogue to logical decoding, as
 * slots on a standby would be in conflict then.
 */
static inline void
fpt_fill_conflict(xl_btree_reuse_page *rec, Relation rel, Relation heapRel,
				  FullTransactionId horizon)
{
#if PG_VERSION_NUM >= 160000
	rec->locator = rel->rd_locator;
	rec->snapshotConflictHorizon = horizon;
	rec->isCatalogRel = RelationIsAccessibleInLogicalDecoding(heapRel);
#else
	rec->node = rel->rd_node;
	rec->latestRemovedFullXid = horizon;
#endif
}

/* --- index build --------------------------------------------------------- */

#if PG_VERSION_NUM >= 170000

/* 17 has a bulk writer that knows about WAL, checksums and checkpoints. */
#define FPT_HAVE_BULK_WRITE
#else

/*
 * Log full images of pages of a relation's fork that is being built, n of at
 * most XLR_MAX_BLOCK_ID, in one record for as many as it holds.  Sets their
 * LSNs.
 */
static inline void
fpt_log_newpages(Relation rel, ForkNumber fork, int n, BlockNumber *blocks,
				 char **pages)
{
	Assert(n > 0 && n <= XLR_MAX_BLOCK_ID);
	log_newpages(&FPT_LOCATOR(rel), fork, n, blocks, pages, true);
}
#endif

/*
 * Number of workers to ask for in an index build; 0: none.  Before 17, core
 * computes it for btree only.  It also does not tell there whether it allows
 * workers: it does not where it re-initializes the index of a table just
 * truncated.  Reads catalogues; may raise.
 */
static inline int
fpt_build_workers(Relation heap, Relation index, IndexInfo *indexInfo)
{
#if PG_VERSION_NUM >= 170000
	return indexInfo->ii_ParallelWorkers;
#else
	if (!IsNormalProcessingMode() || RelationGetNumberOfBlocks(heap) == 0)
		return 0;
	return plan_create_index_workers(RelationGetRelid(heap),
									 RelationGetRelid(index));
#endif
}

/*
 * A participant's scan of a table, in the current context; table and pscan
 * outlive it.  19 has flags as well.
 */
static inline TableScanDesc
fpt_beginscan_parallel(Relation heap, ParallelTableScanDesc pscan)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan_parallel(heap, pscan, 0);
#else
	return table_beginscan_parallel(heap, pscan);
#endif
}

/*
 * Is the client's command one that makes another index in place of one that
 * there is?  These are not allowed in functions, so that the portal's command
 * is the one that builds.  19 has REPACK, too.
 */
static inline bool
fpt_command_rebuilds(void)
{
	CommandTag	tag = ActivePortal != NULL ? ActivePortal->commandTag :
		CMDTAG_UNKNOWN;

#if PG_VERSION_NUM >= 190000
	if (tag == CMDTAG_REPACK)
		return true;
#endif
	return tag == CMDTAG_REINDEX;
}

/*
 * What an operator is in its family of btree: since 18 a meaning, as other AMs
 * have other numbers, before the number itself.
 */
#if PG_VERSION_NUM >= 180000
typedef CompareType FPTOrdering;
#define FPT_LESS	COMPARE_LT
#else
typedef int16 FPTOrdering;
#define FPT_LESS	BTLessStrategyNumber
#endif

#endif							/* FPT_SERVER_COMPAT_H */

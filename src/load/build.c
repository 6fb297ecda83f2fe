/*-------------------------------------------------------------------------
 *
 * load/build.c
 *	  Building an index: entry points, heap scan and uniqueness.
 *
 * The heap scan spools an entry for each tuple, formed as an insertion would;
 * load/sort.c sorts and load/load.c writes the pages.  load/parallel.c
 * starts and awaits workers.
 *
 * An image key is spooled as a number with its TID, without a class: those of
 * NULLs have a spool of their own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/compare.h"
#include "key/general.h"
#include "key/image.h"
#include "key/procs.h"
#include "key/tid.h"
#include "load/build.h"
#include "load/item.h"
#include "load/load.h"
#include "load/parallel.h"
#include "load/progress.h"
#include "load/radix.h"
#include "load/sort.h"
#include "page/format.h"
#include "page/layout.h"
#include "server/preload.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/index.h"
#include "store/map.h"
#include "store/meta.h"
#include "store/owner.h"
#include "store/place.h"
#include "store/stripe.h"

/* Part of the sort memory that a build gives to the spool of NULLs: 1/16 */
#define FPT_NULLS_SHARE		16

/* The spools of a participant; general keys have the first one only. */
#define FPT_SPOOL_VALUES	0
#define FPT_SPOOL_NULLS		1

/*
 * State of a participant, or of the only process.  It is in the context of the
 * command (or the worker), spools are in contexts of their own.
 */
typedef struct FPTBuild
{
	Relation	heap;
	Relation	index;
	FPTIndex	ix;				/* only what forming keys needs */
	int			nspools;
	FPTSpool   *spools[FPT_NSPOOLS];
	int			nwords[FPT_NSPOOLS];	/* of their records */
	MemoryContext rowcxt;		/* general keys: reset for each row, and */
	FPTKeyBuf	buf;			/* its key */
	FPTScanned	scanned;
	FPTLeader *parallel;		/* the leader's; NULL: alone */

	/* uniqueness check: all up to this key equals the last live one */
	int			nkeys;
	bool		unique;
	bool		nulls_distinct;
	bool		have_last;
	FPTKeyBuf	last;
} FPTBuild;

/* --- what can be indexed ------------------------------------------------ */

/*
 * Raise an error if fptree cannot index what the index's definition asks for.
 * Reads catalogues.
 *
 * Pattern operator classes compare bytes, but their "=" is the type's own: with
 * a nondeterministic collation that is not the same.  Core refuses it for the
 * classes of btree only.
 */
static void
fpt_check_supported(Relation index)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		Oid			cmpproc = index_getprocid(index, i + 1, FPT_ORDER_PROC);
		Oid			collation = index->rd_indcollation[i];

		if ((cmpproc == F_BTTEXT_PATTERN_CMP ||
			 cmpproc == F_BTBPCHAR_PATTERN_CMP) &&
			OidIsValid(collation) &&
			!get_collation_isdeterministic(collation))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("nondeterministic collations are not supported for operator classes that compare bytes"),
					 errhint("Use the default operator class for column %d of index \"%s\", or another collation.",
							 i + 1, RelationGetRelationName(index))));
	}
}

/*
 * Is column i of a type that btree has an operator class for, and has fptree
 * taken that of another type because there is none for this one?  citext is
 * such a type, until it is given one: as a text it would do.  *type: the
 * column's, below its domains.  Reads catalogues.
 */
static bool
fpt_alien_opclass(Relation index, int i, Oid *type)
{
	Oid			theirs;
	Oid			ours;

	*type = getBaseType(TupleDescAttr(RelationGetDescr(index), i)->atttypid);
	theirs = GetDefaultOpClass(*type, BTREE_AM_OID);
	if (!OidIsValid(theirs) || get_opclass_input_type(theirs) != *type)
		return false;
	ours = GetDefaultOpClass(*type, index->rd_rel->relam);
	return OidIsValid(ours) &&
		get_opclass_input_type(ours) == index->rd_opcintype[i] &&
		index->rd_opcintype[i] != *type &&
		get_opclass_family(ours) == index->rd_opfamily[i];
}

/*
 * Warn of an index that is not what its definition seems to say.  Reads
 * catalogues; raises nothing above WARNING.
 */
static void
fpt_warn_of_opclass(Relation index)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		Oid			type;

		if (!fpt_alien_opclass(index, i, &type))
			continue;
		ereport(WARNING,
				(errcode(ERRCODE_WARNING),
				 errmsg("column %d of index \"%s\" is indexed as type %s, not %s",
						i + 1, RelationGetRelationName(index),
						format_type_be(index->rd_opcintype[i]),
						format_type_be(type)),
				 errdetail("Type %s has no operator class for access method fptree. Comparisons of the type do not use the index%s.",
						   format_type_be(type), index->rd_index->indisunique ?
						   ", and unique means what it means for the other type" : ""),
				 errhint("Create an operator class for the type, and the index again.")));
	}
}

/*
 * Begin a build, or a participant's part of one.  "l" is the layout of the
 * index that will be loaded; NULL: there is no metapage yet, but all that is
 * needed is how keys are formed and compared.
 *
 * Returns the state, in the current context, without spools: these are begun
 * when it is known who shares the memory.  Of FPTIndex only what forming keys
 * takes is filled in: there is no description of an index that is being built.
 * Reads catalogues if "l" is NULL.
 */
static FPTBuild *
fpt_build_begin(Relation heap, Relation index, IndexInfo *indexInfo,
				const FPTLayout *l)
{
	FPTBuild   *b = palloc0(sizeof(FPTBuild));
	bool		general = fpt_index_is_general(index);

	Assert(l == NULL || fpt_is_general(l) == general);
	Assert(indexInfo->ii_NumIndexKeyAttrs ==
		   IndexRelationGetNumberOfKeyAttributes(index));
	b->heap = heap;
	b->index = index;
	if (l != NULL)
		b->ix.layout = *l;
	else if (general)
	{
		fpt_layout_general(index, &b->ix.layout);
		fpt_general_sort_support(unconstify(void *, b->ix.layout.arg), index,
								 true);
	}
	b->nspools = 1;
	b->nwords[FPT_SPOOL_VALUES] = FPT_ITEM_WORDS;
	if (!general)
	{
		b->ix.type = fpt_keytype_for(index_getprocid(index, 1, FPT_ORDER_PROC),
									 index->rd_opcintype[0]);
		b->ix.descending = fpt_rel_descending(index);
		b->ix.layout.nullsfirst = fpt_rel_nullsfirst(index);
		b->nspools = FPT_NSPOOLS;
		b->nwords[FPT_SPOOL_VALUES] = b->ix.type->keysize > 8 ? 3 : 2;
		b->nwords[FPT_SPOOL_NULLS] = 1;
	}
	b->nkeys = indexInfo->ii_NumIndexKeyAttrs;
	b->unique = indexInfo->ii_Unique;
	b->nulls_distinct = !indexInfo->ii_NullsNotDistinct;
	b->rowcxt = AllocSetContextCreate(CurrentMemoryContext,
									  "fptree build row",
									  ALLOCSET_SMALL_SIZES);
	return b;
}

/*
 * Neither its spools nor what workers have left are needed any more: ends the
 * spools, then the workers, whose files the spools had open.
 */
static void
fpt_build_free(FPTBuild *b)
{
	Assert(CurrentMemoryContext != b->rowcxt);
	for (int which = 0; which < b->nspools; which++)
		fpt_spool_end(b->spools[which]);
	if (b->parallel != NULL)
		fpt_leader_end(b->parallel);
	MemoryContextDelete(b->rowcxt);
	pfree(b);
}

/* --- collecting --------------------------------------------------------- */

/* A spool's name in the file set */
static void
fpt_spool_name(char buf[MAXPGPATH], int participant, int which)
{
	Assert(participant >= 0 && which >= 0 && which < FPT_NSPOOLS);
	snprintf(buf, MAXPGPATH, "fptree%d.%d", participant, which);
}

/*
 * Create the spools; "mem" bytes to share.  fileset NULL: private ones; else
 * they leave runs there for the leader, under names by the participant's
 * number.  Of images the NULLs get a part of it; each spool has
 * FPT_SPOOL_MINMEM at least, whatever "mem" is.
 */
static void
fpt_build_begin_spools(FPTBuild *b, Size mem, FileSet *fileset,
					   int participant)
{
	const FPTLayout *l = &b->ix.layout;
	Size		parts[FPT_NSPOOLS] = {mem};
	char		name[MAXPGPATH];

	Assert(b->spools[FPT_SPOOL_VALUES] == NULL);
	Assert(fpt_is_general(l) == (b->nspools == 1));
	if (b->nspools > 1)
	{
		Size		part = Max(mem / FPT_NULLS_SHARE, FPT_SPOOL_MINMEM);

		parts[FPT_SPOOL_NULLS] = part;
		parts[FPT_SPOOL_VALUES] = mem - Min(mem, part);
	}
	for (int which = 0; which < b->nspools; which++)
	{
		fpt_spool_name(name, participant, which);
		b->spools[which] = fpt_spool_begin(fpt_is_general(l) ? l : NULL,
										   b->nwords[which], parts[which],
										   fileset, name);
	}
}

/* An entry for this row has been spooled. */
static inline void
fpt_build_count(FPTBuild *b, ItemPointer tid)
{
	uint32		off = ItemPointerGetOffsetNumberNoCheck(tid);

	b->scanned.indtuples += 1;
	b->scanned.maxoff = Max(b->scanned.maxoff, off);
}

/*
 * Callback of the heap scan: spools an image key, which may write to a
 * temporary file, and so be cancelled, or raise.  "values" are the row's, which
 * are gone at the next one: the image is a copy.
 */
static void
fpt_build_image(Relation index, ItemPointer tid, Datum *values,
				bool *isnull, bool tupleIsAlive, void *state)
{
	FPTBuild   *b = (FPTBuild *) state;
	uint64		rec[FPT_MAX_WORDS];

	Assert(b->nspools == FPT_NSPOOLS);
	rec[2] = fpt_tid_encode(tid) << 1 | (tupleIsAlive ? 0 : FPT_ENTRY_DEAD);
	if (isnull[0])
		fpt_spool_put(b->spools[FPT_SPOOL_NULLS], rec + 2);
	else
	{
		FPTImage	img = fpt_value_image(&b->ix, values[0]);

		rec[0] = img.hi;
		rec[1] = img.lo;
		fpt_spool_put(b->spools[FPT_SPOOL_VALUES],
					  rec + FPT_MAX_WORDS - b->nwords[FPT_SPOOL_VALUES]);
	}
	fpt_build_count(b, tid);
}

/*
 * Callback of the heap scan: spools a general key.  Raises an error if it is
 * too wide, and what types' functions raise; may be cancelled.  What is made of
 * the row is in b->rowcxt, and gone at the end: the spool has a copy.
 */
static void
fpt_build_general(Relation index, ItemPointer tid, Datum *values,
				  bool *isnull, bool tupleIsAlive, void *state)
{
	FPTBuild   *b = (FPTBuild *) state;
	MemoryContext old = MemoryContextSwitchTo(b->rowcxt);
	unsigned	flags = tupleIsAlive ? 0 : FPT_ENTRY_DEAD;

	Assert(b->nspools == 1 && old != b->rowcxt);
	fpt_general_form(b->ix.layout.arg, index, values, isnull,
					 fpt_tid_encode(tid), &b->buf);
	for (int i = 0; i < b->nkeys; i++)
	{
		if (isnull[i])
			flags |= FPT_ENTRY_NULL;
	}
	MemoryContextSwitchTo(old);
	fpt_spool_put_key(b->spools[FPT_SPOOL_VALUES], &b->buf.key, flags);
	MemoryContextReset(b->rowcxt);
	fpt_build_count(b, tid);
}

static inline IndexBuildCallback
fpt_build_callback(const FPTBuild *b)
{
	return fpt_is_general(&b->ix.layout) ? fpt_build_general : fpt_build_image;
}

/*
 * Take part in a parallel build: scan a part of the heap, and leave sorted
 * runs.  Called in workers and in the leader.  Runs the index's expressions and
 * predicate, and comparison functions: may raise, or be cancelled.
 */
static void
fpt_build_share(FPTShare *share)
{
	FPTBuild   *b = fpt_build_begin(share->heap, share->index,
									share->indexInfo, NULL);

	fpt_build_begin_spools(b, share->mem, share->fileset, share->participant);
	fpt_share_scan(share, fpt_build_callback(b), b);
	for (int which = 0; which < b->nspools; which++)
		fpt_spool_export(b->spools[which], &share->exports[which]);
	share->scanned = b->scanned;
	fpt_build_free(b);
}

void
fpt_parallel_build_main(dsm_segment *seg, shm_toc *toc)
{
	fpt_worker_work(seg, toc, fpt_build_share);
}

/*
 * Collect what the participants have left, in spools that are empty.  Raises an
 * error if a file cannot be read.  All participants that were planned are
 * asked: one that has not started has left nothing (FPTSpoolExport.nruns is 0).
 */
static void
fpt_build_import(FPTBuild *b)
{
	char		name[MAXPGPATH];

	Assert(b->parallel != NULL);
	for (int i = 0; i < fpt_leader_participants(b->parallel); i++)
	{
		const FPTSpoolExport *exports = fpt_leader_exports(b->parallel, i);

		for (int which = 0; which < b->nspools; which++)
		{
			fpt_spool_name(name, i, which);
			fpt_spool_import(b->spools[which],
							 fpt_leader_files(b->parallel), name,
							 &exports[which]);
		}
	}
}

/*
 * Scan the heap, alone or with workers; returns the number of its tuples.  The
 * spools, which are begun here, then have all entries.  Runs expressions and
 * predicates of the index, which may raise, or be cancelled, and which may
 * process invalidations.  With workers the process is in parallel mode from
 * here on, until fpt_build_free().
 */
static double
fpt_build_scan(FPTBuild *b, IndexInfo *indexInfo)
{
	Size		mem = (Size) maintenance_work_mem * 1024;
	double		reltuples;

	Assert(b->parallel == NULL && b->scanned.indtuples == 0);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_SCAN);
	b->parallel = fpt_leader_begin(b->heap, b->index, indexInfo);
	if (b->parallel != NULL)
	{
		reltuples = fpt_leader_scan(b->parallel, indexInfo,
									  fpt_build_share, &b->scanned);
		fpt_build_begin_spools(b, mem, NULL, 0);
		fpt_build_import(b);
		return reltuples;
	}
	fpt_build_begin_spools(b, mem, NULL, 0);
	return table_index_build_scan(b->heap, b->index, indexInfo, true, true,
								  fpt_build_callback(b), b, NULL);
}

/* --- feeding the loader ------------------------------------------------- */

/*
 * Raise the error of a unique index: two live rows have this key's values.
 * Those are shown if the user may see them.
 */
static void __attribute__((noreturn))
fpt_build_duplicate(FPTBuild *b, const FPTKey *key)
{
	FPTDecoded	room;
	Datum		values[INDEX_MAX_KEYS] = {0};
	bool		isnull[INDEX_MAX_KEYS];
	char	   *desc;

	Assert(b->unique && b->have_last);
	if (fpt_is_general(&b->ix.layout))
		(void) fpt_general_deform(b->ix.layout.arg, key, values, isnull);
	else
	{
		isnull[0] = key->cls != FPT_CLS_VALUE;
		if (!isnull[0])
			values[0] = fpt_key_value(&b->ix, key, &room);
	}
	desc = BuildIndexValueDescription(b->index, values, isnull);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("could not create unique index \"%s\"",
					RelationGetRelationName(b->index)),
			 desc ? errdetail("Key %s is duplicated.", desc) :
			 errdetail("Duplicate keys exist."),
			 errtableconstraint(b->heap, RelationGetRelationName(b->index))));
}

/*
 * A live entry of a unique index: raises an error if its key is that of another
 * one.  Equal keys are neighbours, and images refine btree's equality, so it is
 * enough to compare with the last live entry's key, or with the end of its
 * image's class.  Called in the index's order, for live entries alone; compares
 * general keys, which may raise.
 *
 * The TID of the last key is set to this one's, so that comparing says "equal"
 * where nothing but TIDs differs.
 */
static void
fpt_build_check_unique(FPTBuild *b, const FPTKey *key, unsigned flags)
{
	bool		general = fpt_is_general(&b->ix.layout);
	FPTKey	   *last = &b->last.key;
	FPTImage	img = {.hi = key->hi, .lo = key->lo};
	FPTImage	lo;
	FPTImage	hi;

	Assert(b->unique && (flags & FPT_ENTRY_DEAD) == 0);
	if (b->nulls_distinct && (flags & FPT_ENTRY_NULL))
		return;
	last->tid = key->tid;
	if (b->have_last && (general ?
						 fpt_key_cmp(&b->ix.layout, key, last) == 0 :
						 fpt_image_cmp(key, last) <= 0))
		fpt_build_duplicate(b, key);
	b->have_last = true;
	fpt_key_copy(&b->last, key);
	if (!general && key->cls == FPT_CLS_VALUE)
	{
		fpt_image_class(b->ix.type, b->ix.descending, img, &lo, &hi);
		last->hi = hi.hi;
		last->lo = hi.lo;
	}
}

/*
 * The key that was spooled as a record of nw words, with its tuple where it is
 * in "rec"; returns its FPT_ENTRY_* flags.
 */
static inline unsigned
fpt_build_entry(const FPTBuild *b, int nw, const uint64 *rec, FPTKey *key)
{
	Assert(nw > 0 && nw <= FPT_MAX_WORDS);
	if (fpt_is_general(&b->ix.layout))
	{
		fpt_record_get((const FPTRecord *) rec, key);
		return ((const FPTRecord *) rec)->flags;
	}
	memset(key, 0, sizeof(FPTKey));
	key->tid = rec[nw - 1] >> 1;
	if (nw == 1)
	{
		key->cls = b->ix.layout.nullsfirst ? FPT_CLS_NULLFIRST :
			FPT_CLS_NULLLAST;
		return FPT_ENTRY_NULL | (rec[0] & FPT_ENTRY_DEAD);
	}
	key->cls = FPT_CLS_VALUE;
	key->hi = nw == 3 ? rec[0] : 0;
	key->lo = rec[nw - 2];
	return rec[nw - 1] & FPT_ENTRY_DEAD;
}

/*
 * Load a spool's entries, which are sorted.  Raises an error if the index is
 * unique and two of them are not, and what comparison functions raise; may be
 * cancelled.  Records are in the spool's memory, and good until the next fetch;
 * what comparing leaves in the current context, b->rowcxt, is freed with it.
 */
static void
fpt_build_feed(FPTBuild *b, int which, FPTLoad *load)
{
	FPTSpool   *sp = b->spools[which];
	int			nw = b->nwords[which];
	bool		unique = b->unique;
	const uint64 *recs;
	size_t		n;

	while ((n = fpt_spool_fetch(sp, &recs)) > 0)
	{
		for (; n > 0; n--, recs += nw)
		{
			FPTKey		key;
			unsigned	flags = fpt_build_entry(b, nw, recs, &key);

			if (unique && (flags & FPT_ENTRY_DEAD) == 0)
				fpt_build_check_unique(b, &key, flags);
			fpt_load_add(load, &key);
		}
	}
}

/* The heap is read: so many entries are to be sorted and loaded. */
static void
fpt_build_progress(double indtuples)
{
	const int	params[] = {
		PROGRESS_CREATEIDX_SUBPHASE,
		PROGRESS_CREATEIDX_TUPLES_TOTAL,
		PROGRESS_SCAN_BLOCKS_TOTAL,
		PROGRESS_SCAN_BLOCKS_DONE
	};

	/* The scan's block numbers mean nothing in the phases to come. */
	int64		vals[] = {FPT_PHASE_SORT, (int64) indtuples, 0, 0};

	pgstat_progress_update_multi_param(lengthof(params), params, vals);
}

/*
 * Sort and load what has been collected, NULLs where they belong: their spool
 * is fed before or after that of the values.  As fpt_build_feed().
 */
static void
fpt_build_load(FPTBuild *b, FPTLoad *load)
{
	MemoryContext old = MemoryContextSwitchTo(b->rowcxt);
	bool		swap = b->nspools > 1 && b->ix.layout.nullsfirst;

	Assert(!b->have_last && old != b->rowcxt);
	fpt_build_progress(b->scanned.indtuples);
	for (int which = 0; which < b->nspools; which++)
		fpt_spool_sort(b->spools[which]);
	fpt_load_offsets(load, b->scanned.maxoff);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_LOAD);
	for (int i = 0; i < b->nspools; i++)
		fpt_build_feed(b, swap ? b->nspools - 1 - i : i, load);
	MemoryContextSwitchTo(old);
}

/* --- trials -------------------------------------------------------------- */

struct FPTTrial
{
	MemoryContext cxt;			/* all of it */
	FPTBuild   *build;
	FPTLoad    *load;
};

FPTTrial *
fpt_trial_begin(Relation index, uint32 blocks, FPTLoadSink sink, void *arg)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree trial build",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	FPTTrial   *t = palloc(sizeof(FPTTrial));
	IndexInfo  *info = makeNode(IndexInfo);

	/* not unique, whatever the index is: dead rows' entries are there, too */
	info->ii_NumIndexKeyAttrs = IndexRelationGetNumberOfKeyAttributes(index);
	t->cxt = cxt;
	t->load = fpt_load_begin(index, false, NULL, 0, blocks);
	fpt_load_divert(t->load, sink, arg);
	t->build = fpt_build_begin(NULL, index, info, fpt_load_layout(t->load));
	fpt_build_begin_spools(t->build, (Size) maintenance_work_mem * 1024, NULL,
						   0);
	MemoryContextSwitchTo(old);
	return t;
}

void
fpt_trial_add(FPTTrial *t, uint64 tid, Datum *values, bool *isnull)
{
	ItemPointerData ctid;

	fpt_tid_decode(tid, &ctid);
	fpt_build_callback(t->build) (t->build->index, &ctid, values, isnull, true,
								  t->build);
}

void
fpt_trial_end(FPTTrial *t, uint32 maxoff)
{
	MemoryContext old = MemoryContextSwitchTo(t->cxt);

	t->build->scanned.maxoff = Max(t->build->scanned.maxoff, maxoff);
	fpt_build_load(t->build, t->load);
	fpt_load_end(t->load);
	fpt_build_free(t->build);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(t->cxt);
}

/* --- access method's entry points --------------------------------------- */

/*
 * The pages of the index are written.  Where TRUNCATE empties a table that was
 * created in the same transaction, the main fork keeps its file, and with it an
 * init fork, so that core does not ask for another one.  But this init fork
 * names the stripes which the index had before: it may have none now, or
 * others, and new files of stripes have init forks without a page.
 */
static void
fpt_build_end(Relation index, FPTLoad *load)
{
	fpt_load_end(load);
	if (index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED &&
		fpt_has_init(index))
		fptbuildempty(index);
	fpt_stop_point(FPT_STOP_BUILD_DONE);
}

/*
 * ambuild: the index's file is empty, and locked by the command.  Raises an
 * error if it cannot be built as it is defined, or would have duplicates.
 * Returns how many rows and entries there are.
 *
 * Nothing of the index is in shared buffers, so that no page of it is locked
 * while it is built.  Foreign code runs (expressions, comparison functions),
 * catalogues are read, invalidations processed: nothing here relies on
 * index->rd_amcache, which is emptied at the beginning.  May be cancelled; what
 * an aborted build leaves is a file that the transaction removes.  All memory
 * is in contexts below the current one.
 */
IndexBuildResult *
fptbuild(Relation heap, Relation index, IndexInfo *indexInfo)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	FPTBuild   *b;
	FPTLoad    *load;
	FPTPageMap	map = {0};
	Oid			stripes[FPT_MAX_STRIPES];
	int			nstripes;

	Assert(CheckRelationLockedByMe(heap, ShareUpdateExclusiveLock, true));
	Assert(CheckRelationLockedByMe(index, RowExclusiveLock, true));
	if (fpt_npages(index, &map) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	fpt_check_supported(index);
	if (fpt_is_created(index))
	{
		fpt_warn_of_opclass(index);
		fpt_preload_notice(index);
	}

	/* What this backend knows of a predecessor in the same file is void. */
	if (index->rd_amcache != NULL)
		pfree(index->rd_amcache);
	index->rd_amcache = NULL;

	/* Before the scan, so that bad options are found before the work. */
	fpt_stripes_claim(index);
	nstripes = fpt_stripes_make(heap, index, stripes);
	load = fpt_load_begin(index, false, stripes, nstripes,
						  RelationGetNumberOfBlocks(heap));
	b = fpt_build_begin(heap, index, indexInfo, fpt_load_layout(load));
	result->heap_tuples = fpt_build_scan(b, indexInfo);
	fpt_stop_point(FPT_STOP_BUILD_LOAD);
	fpt_build_load(b, load);
	result->index_tuples = b->scanned.indtuples;
	fpt_build_free(b);
	fpt_build_end(index, load);
	return result;
}

/*
 * The init forks of an unlogged index: an empty index.  It is written already,
 * so that the metapage tells its stripes, though pg_index need not have it as
 * built yet (CREATE INDEX CONCURRENTLY).  Writes and logs metapage and a leaf,
 * in stripes a root, too; may raise.
 */
void
fptbuildempty(Relation index)
{
	Oid			stripes[FPT_MAX_STRIPES];
	int			nstripes = fpt_built_stripes(index, stripes);

	Assert(index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED);
	fpt_load_end(fpt_load_begin(index, true, stripes, Max(nstripes, 0), 0));
}

char *
fptbuildphasename(int64 phasenum)
{
	switch (phasenum)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case FPT_PHASE_SCAN:
			return "scanning table";
		case FPT_PHASE_SORT:
			return "sorting live tuples";
		case FPT_PHASE_LOAD:
			return "loading tuples in tree";
		default:
			return NULL;
	}
}

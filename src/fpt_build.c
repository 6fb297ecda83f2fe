/*-------------------------------------------------------------------------
 *
 * fpt_build.c
 *	  Building an index: entry points; image keys' heap scan and uniqueness.
 *
 * The heap scan spools an entry for each tuple, NULL keys apart from the
 * others; fpt_sort.c sorts and fpt_load.c writes the pages.  fpt_gbuild.c does
 * the same for general keys, fpt_pbuild.c starts and awaits workers for both.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "fpt_build.h"
#include "fpt_stripe.h"

/* Part of the sort memory that a build gives to the spool of NULLs: 1/16 */
#define FPT_NULLS_SHARE		16

/* The two spools of a participant */
#define FPT_SPOOL_VALUES	0
#define FPT_SPOOL_NULLS		1

/* State of a participant, or of the only process. */
typedef struct FPTBuild
{
	Relation	heap;
	Relation	index;
	FPTIndex	ix;				/* only what fpt_form_key() needs */
	int			nwords;			/* of a record of a value */
	FPTSpool   *spools[FPT_NSPOOLS];
	double		indtuples;
	FPTParallel *parallel;		/* the leader's; NULL: alone */

	/* uniqueness check: images up to dup_hi equal the last live one */
	bool		unique;
	bool		nulls_distinct;
	bool		have_last;
	FPTImage	dup_hi;
} FPTBuild;

/* --- what can be indexed ------------------------------------------------ */

/*
 * Pattern operator classes compare bytes, but their "=" is the type's own: with
 * a nondeterministic collation that is not the same.  Core refuses it for the
 * classes of btree only.
 */
void
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
 * such a type, until it is given one: as a text it would do.
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

bool
fpt_is_created(Relation index)
{
	return !ReindexIsProcessingIndex(RelationGetRelid(index)) &&
		(index->rd_createSubid != InvalidSubTransactionId ||
		 !index->rd_index->indisready);
}

/* Warn of an index that is not what its definition seems to say. */
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

/* Fill in a build's description of the index; its metapage is not written. */
static void
fpt_build_init(FPTBuild *b, Relation heap, Relation index,
			   IndexInfo *indexInfo)
{
	int16		opts = index->rd_indoption[0];

	memset(b, 0, sizeof(*b));
	b->heap = heap;
	b->index = index;
	b->ix.type = fpt_keytype_for(index_getprocid(index, 1, FPT_ORDER_PROC),
								 index->rd_opcintype[0]);
	b->ix.descending = (opts & INDOPTION_DESC) != 0;
	b->ix.layout.nullsfirst = (opts & INDOPTION_NULLS_FIRST) != 0;
	b->ix.layout.keysize = (uint8) b->ix.type->keysize;
	b->nwords = b->ix.type->keysize > 8 ? 3 : 2;
	b->unique = indexInfo->ii_Unique;
	b->nulls_distinct = !indexInfo->ii_NullsNotDistinct;
}

/* --- collecting --------------------------------------------------------- */

/* A spool's name in the file set */
static void
fpt_spool_name(char buf[MAXPGPATH], int participant, int which)
{
	snprintf(buf, MAXPGPATH, "fptree%d.%d", participant, which);
}

/* Create both spools; mem bytes to share.  fileset NULL: private ones. */
static void
fpt_build_begin_spools(FPTBuild *b, Size mem, FileSet *fileset,
					   int participant)
{
	Size		nullmem = Max(mem / FPT_NULLS_SHARE, FPT_SPOOL_MINMEM);
	char		name[MAXPGPATH];

	for (int which = 0; which < FPT_NSPOOLS; which++)
	{
		bool		nulls = which == FPT_SPOOL_NULLS;
		Size		part = nulls ? nullmem : mem - Min(mem, nullmem);

		fpt_spool_name(name, participant, which);
		b->spools[which] = fpt_spool_begin(nulls ? 1 : b->nwords, part,
										   fileset, name);
	}
}

static void
fpt_build_end_spools(FPTBuild *b)
{
	for (int which = 0; which < FPT_NSPOOLS; which++)
	{
		fpt_spool_end(b->spools[which]);
		b->spools[which] = NULL;
	}
}

/* Callback of the heap scan */
static void
fpt_build_callback(Relation index, ItemPointer tid, Datum *values,
				   bool *isnull, bool tupleIsAlive, void *state)
{
	FPTBuild   *b = (FPTBuild *) state;
	uint64		rec[FPT_SPOOL_MAXWORDS];
	FPTKey		key;

	(void) index;
	fpt_form_key(&b->ix, values[0], isnull[0], fpt_tid_encode(tid), &key);
	rec[0] = key.hi;
	rec[1] = key.lo;
	rec[2] = fpt_spool_tidword(key.tid, tupleIsAlive);
	if (key.cls != FPT_CLS_VALUE)
		fpt_spool_put(b->spools[FPT_SPOOL_NULLS], rec + 2);
	else
		fpt_spool_put(b->spools[FPT_SPOOL_VALUES],
					  rec + FPT_SPOOL_MAXWORDS - b->nwords);
	b->indtuples += 1;
}

/* --- feeding the loader ------------------------------------------------- */

/* Raise the error of a unique index for which there are two such rows. */
void
fpt_duplicate_found(Relation heap, Relation index, Datum *values,
					bool *isnull)
{
	char	   *desc = BuildIndexValueDescription(index, values, isnull);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("could not create unique index \"%s\"",
					RelationGetRelationName(index)),
			 desc ? errdetail("Key %s is duplicated.", desc) :
			 errdetail("Duplicate keys exist."),
			 errtableconstraint(heap, RelationGetRelationName(index))));
}

static void
fpt_build_duplicate(FPTBuild *b, const FPTKey *key)
{
	union
	{
		char		bytes[FPT_DECODE_BYTES];
		uint64		align;
	}			buf;
	bool		isnull = key->cls != FPT_CLS_VALUE;
	Datum		value = (Datum) 0;

	if (!isnull)
	{
		FPTImage	img;

		img.hi = key->hi;
		img.lo = key->lo;
		if (b->ix.descending)
			fpt_image_invert(b->ix.type, &img);
		value = fpt_image_decode(b->ix.type, img, buf.bytes);
	}
	fpt_duplicate_found(b->heap, b->index, &value, &isnull);
}

/*
 * A live entry of a unique index.  Images refine btree's equality, and equal
 * ones are neighbours, so it is enough to compare with the last live entry.
 */
static void
fpt_build_check_unique(FPTBuild *b, const FPTKey *key)
{
	FPTImage	img;
	FPTImage	lo;

	img.hi = key->hi;
	img.lo = key->lo;
	if (b->have_last && fpt_img_cmp(img, b->dup_hi) <= 0)
		fpt_build_duplicate(b, key);
	b->have_last = true;
	fpt_image_class(b->ix.type, b->ix.descending, img, &lo, &b->dup_hi);
}

static void
fpt_build_feed_values(FPTBuild *b, FPTLoad *load)
{
	FPTSpool   *sp = b->spools[FPT_SPOOL_VALUES];
	const uint64 *recs;
	size_t		n;

	while ((n = fpt_spool_fetch(sp, &recs)) > 0)
	{
		for (; n > 0; n--, recs += b->nwords)
		{
			uint64		tid = recs[b->nwords - 1];
			FPTKey		key = {.cls = FPT_CLS_VALUE};

			key.hi = b->nwords == 3 ? recs[0] : 0;
			key.lo = recs[b->nwords - 2];
			key.tid = tid >> 1;
			if (b->unique && (tid & 1) == 0)
				fpt_build_check_unique(b, &key);
			fpt_load_add(load, &key);
		}
	}
}

static void
fpt_build_feed_nulls(FPTBuild *b, FPTLoad *load)
{
	FPTSpool   *sp = b->spools[FPT_SPOOL_NULLS];
	bool		check = b->unique && !b->nulls_distinct;
	bool		seen = false;
	const uint64 *recs;
	size_t		n;
	FPTKey		key;

	memset(&key, 0, sizeof(key));
	key.cls = b->ix.layout.nullsfirst ? FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST;
	while ((n = fpt_spool_fetch(sp, &recs)) > 0)
	{
		for (; n > 0; n--, recs++)
		{
			key.tid = recs[0] >> 1;
			if (check && (recs[0] & 1) == 0)
			{
				if (seen)
					fpt_build_duplicate(b, &key);
				seen = true;
			}
			fpt_load_add(load, &key);
		}
	}
}

/* --- access method's entry points --------------------------------------- */

/* Take part in a parallel build; FPTShare tells what is to be done. */
void
fpt_build_share(FPTShare *share)
{
	FPTBuild	b;

	fpt_build_init(&b, share->heap, share->index, share->indexInfo);
	fpt_build_begin_spools(&b, share->mem, share->fileset,
						   share->participant);
	fpt_share_scan(share, fpt_build_callback, &b);
	for (int which = 0; which < FPT_NSPOOLS; which++)
		fpt_spool_export(b.spools[which], &share->exports[which]);
	fpt_build_end_spools(&b);
	share->indtuples = b.indtuples;
}

/* Collect what the participants have left. */
static void
fpt_build_import(FPTBuild *b)
{
	char		name[MAXPGPATH];

	for (int i = 0; i < fpt_parallel_participants(b->parallel); i++)
	{
		const FPTSpoolExport *exports = fpt_parallel_exports(b->parallel, i);

		for (int which = 0; which < FPT_NSPOOLS; which++)
		{
			fpt_spool_name(name, i, which);
			fpt_spool_import(b->spools[which],
							 fpt_parallel_files(b->parallel), name,
							 &exports[which]);
		}
	}
}

/* Scan the heap, alone or with workers; returns the number of its tuples. */
static double
fpt_build_scan(FPTBuild *b, IndexInfo *indexInfo)
{
	Size		mem = (Size) maintenance_work_mem * 1024;
	double		reltuples;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_SCAN);
	b->parallel = fpt_parallel_begin(b->heap, b->index, indexInfo);
	if (b->parallel != NULL)
	{
		reltuples = fpt_parallel_scan(b->parallel, indexInfo, &b->indtuples);
		fpt_build_begin_spools(b, mem, NULL, 0);
		fpt_build_import(b);
		return reltuples;
	}
	fpt_build_begin_spools(b, mem, NULL, 0);
	return table_index_build_scan(b->heap, b->index, indexInfo, true, true,
								  fpt_build_callback, b, NULL);
}

void
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
 * The pages of the index are written.  Where TRUNCATE empties a table that was
 * created in the same transaction, the main fork keeps its file, and with it an
 * init fork, so that core does not ask for another one; but the stripes have
 * new files, and thus init forks without a page.
 */
static void
fpt_build_end(Relation index, FPTLoad *load, int nstripes)
{
	fpt_load_end(load);
	if (nstripes > 0 &&
		index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED &&
		fpt_has_init(index))
		fptbuildempty(index);
	fpt_stop_point(FPT_STOP_BUILD_DONE);
}

IndexBuildResult *
fptbuild(Relation heap, Relation index, IndexInfo *indexInfo)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	FPTBuild	b;
	FPTLoad    *load;
	FPTPageMap	map = {0};
	Oid			stripes[FPT_MAX_STRIPES];
	int			nstripes;

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
	nstripes = fpt_stripes_make(heap, index, stripes);
	load = fpt_load_begin(index, false, stripes, nstripes);
	if (fpt_is_general(fpt_load_layout(load)))
	{
		result->heap_tuples = fpt_gbuild(heap, index, indexInfo, load,
										 &result->index_tuples);
		fpt_build_end(index, load, nstripes);
		return result;
	}
	fpt_build_init(&b, heap, index, indexInfo);
	result->heap_tuples = fpt_build_scan(&b, indexInfo);
	fpt_stop_point(FPT_STOP_BUILD_LOAD);

	fpt_build_progress(b.indtuples);
	for (int which = 0; which < FPT_NSPOOLS; which++)
		fpt_spool_sort(b.spools[which]);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_LOAD);
	if (b.ix.layout.nullsfirst)
		fpt_build_feed_nulls(&b, load);
	fpt_build_feed_values(&b, load);
	if (!b.ix.layout.nullsfirst)
		fpt_build_feed_nulls(&b, load);
	fpt_build_end_spools(&b);
	if (b.parallel != NULL)
		fpt_parallel_end(b.parallel);
	fpt_build_end(index, load, nstripes);
	result->index_tuples = b.indtuples;
	return result;
}

/*
 * The init forks of an unlogged index: an empty index.  It is built already, so
 * that the metapage tells its stripes.
 */
void
fptbuildempty(Relation index)
{
	Oid			stripes[FPT_MAX_STRIPES];
	int			nstripes = fpt_metapage_stripes(index, stripes);

	fpt_load_end(fpt_load_begin(index, true, stripes, Max(nstripes, 0)));
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

/*-------------------------------------------------------------------------
 *
 * sql/heapcheck.c
 *	  Verification: the entries of an index against the rows of its table.
 *
 * Entries, and later the rows that a snapshot sees, are collected as records
 * of (TID, key) in two spools, sorted, and compared side by side:
 *
 *	 - Every row must have its entry, not marked as dead.
 *	 - An entry without such a row belongs to a row that is dead, or not
 *	   visible yet.  If nobody changes anything meanwhile, it is known what it
 *	   must not do: lead to a row that is visible and has another key, or does
 *	   not satisfy the index's predicate; nor to a place where no indexed row
 *	   can be.  VACUUM gives a place away only after all of its entries are
 *	   gone.  A leaf page whose last write was lost has such entries, and they
 *	   make scans return rows that do not match, or that do not exist.
 *
 * Neither list depends on the order of the other, so any table access method
 * will do.  Records have an image itself, of a general key a hash of 64 bits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "catalog/index.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/general.h"
#include "key/tid.h"
#include "load/radix.h"
#include "load/sort.h"
#include "page/format.h"
#include "server/compat.h"
#include "sql/heapcheck.h"
#include "store/buf.h"
#include "store/place.h"
#include "tree/search.h"

/* First word of a record: TID, is the key NULL, is the entry marked as dead. */
#define FPT_REC_TIDSHIFT	2
#define FPT_REC_NULL		UINT64CONST(2)
#define FPT_REC_DEAD		UINT64CONST(1)

/* A spool being read, record by record. */
typedef struct FPTRecords
{
	FPTSpool   *spool;			/* NULL until the list is begun */
	const uint64 *recs;			/* fetched and not yet read */
	size_t		n;				/* records there, of nwords each */
} FPTRecords;

/*
 * A comparison under way: entries first, then rows; each list has a sort of its
 * own.
 */
struct FPTHeapCheck
{
	Relation	rel;
	Relation	heaprel;
	FPTIndex   *ix;				/* the caller's copy */
	Snapshot	snapshot;		/* what rows there are; registered, MVCC */
	bool		still;			/* nobody writes meanwhile */
	int			nwords;			/* of a record: 2, or 3 for 16-byte images */
	FPTRecords	entries;
	FPTRecords	rows;
	int64		nrows;			/* seen by the snapshot */
	FPTLookup	lookup;			/* of rows, while lists are compared */
	MemoryContext tmpcxt;		/* for values of one entry or row */
};

/* --- rows by TID --------------------------------------------------------- */

/* See sql/heapcheck.h. */
void
fpt_lookup_begin(FPTLookup *lk, Relation heaprel, Snapshot snapshot)
{
	Assert(snapshot != InvalidSnapshot);
	lk->fetch = fpt_index_fetch_begin(heaprel);
	lk->slot = table_slot_create(heaprel, NULL);
	lk->snapshot = snapshot;
}

/*
 * See sql/heapcheck.h.  "again" is set where more members of a HOT chain may be
 * visible: of an MVCC snapshot, as ours is, there is one at most.
 */
bool
fpt_lookup_visible(FPTLookup *lk, uint64 tid)
{
	ItemPointerData ip;
	bool		again = false;
	bool		found;

	Assert(lk->fetch != NULL && tid <= FPT_MAX_TID);
	fpt_tid_decode(tid, &ip);
	found = table_index_fetch_tuple(lk->fetch, &ip, lk->snapshot, lk->slot,
									&again, NULL);
	ExecClearTuple(lk->slot);
	return found;
}

void
fpt_lookup_end(FPTLookup *lk)
{
	table_index_fetch_end(lk->fetch);
	ExecDropSingleTupleTableSlot(lk->slot);
}

/* --- records ------------------------------------------------------------- */

/*
 * What a record has of a general key: a hash of its columns, INCLUDE columns
 * too.  The value in a row may be compressed otherwise than in its entry, or
 * have another form of header: what counts is what it stands for.  Detoasts
 * values, which may raise, so with no page locked; the context is hc->tmpcxt.
 *
 * 64 bits: two rows of one TID whose keys differ are taken for alike once in
 * 2^64.
 */
static uint64
fpt_record_hash(FPTHeapCheck *hc, const Datum *values, const bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(hc->rel);
	uint64		hash = 0;

	Assert(fpt_is_general(&hc->ix->layout));
	Assert(CurrentMemoryContext == hc->tmpcxt);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		union
		{
			Datum		align;
			char		bytes[sizeof(Datum)];
		}			stored;
		const char *p;
		int			len;

		hash = hash * 31 + isnull[i];
		if (isnull[i])
			continue;
		if (att->attbyval)
		{
			/* functions and tuples fill a Datum's other bytes differently */
			store_att_byval(stored.bytes, values[i], att->attlen);
			p = stored.bytes;
			len = att->attlen;
		}
		else if (att->attlen == -1)
		{
			struct varlena *v = PG_DETOAST_DATUM_PACKED(values[i]);

			p = VARDATA_ANY(v);
			len = VARSIZE_ANY_EXHDR(v);
		}
		else
		{
			p = DatumGetPointer(values[i]);
			len = att->attlen == -2 ? (int) strlen(p) : att->attlen;
		}
		hash = hash_combine64(hash,
							  hash_bytes_extended((const unsigned char *) p,
												  len, 0));
	}
	return hash;
}

/*
 * Add a record: TID and marks, then the image, or the hash.  May write to a
 * temporary file, and so raise.  The TID comes first, so that sorted records
 * are in the order of the table, and those of one row next to each other.
 */
static void
fpt_record_put(FPTHeapCheck *hc, FPTSpool *spool, const FPTKey *key,
			   bool dead)
{
	uint64		rec[FPT_MAX_WORDS];

	Assert(hc->nwords > 1 && hc->nwords <= FPT_MAX_WORDS);
	Assert(key->tid <= FPT_MAX_TID);
	rec[0] = key->tid << FPT_REC_TIDSHIFT;
	if (key->cls != FPT_CLS_VALUE)
		rec[0] |= FPT_REC_NULL;
	if (dead)
		rec[0] |= FPT_REC_DEAD;
	if (hc->nwords == 3)
		rec[1] = key->hi;
	rec[hc->nwords - 1] = key->lo;
	fpt_spool_put(spool, rec);
}

/* The TID of a record, as keys have it. */
static inline uint64
fpt_record_tid(const uint64 *rec)
{
	return rec[0] >> FPT_REC_TIDSHIFT;
}

/* The key that a record was made from, an image: hashes do not tell theirs. */
static FPTKey
fpt_record_key(FPTHeapCheck *hc, const uint64 *rec)
{
	FPTKey		key = {.cls = FPT_CLS_VALUE};

	Assert(!fpt_is_general(&hc->ix->layout));
	key.tid = fpt_record_tid(rec);
	if (hc->nwords == 3)
		key.hi = rec[1];
	key.lo = rec[hc->nwords - 1];
	if (rec[0] & FPT_REC_NULL)
		key.cls = hc->ix->layout.nullsfirst ? FPT_CLS_NULLFIRST :
			FPT_CLS_NULLLAST;
	return key;
}

/*
 * A spool of records with half of maintenance_work_mem, sorted by all their
 * words.  What it allocates is in the current context.
 */
static void
fpt_records_begin(FPTHeapCheck *hc, FPTRecords *r)
{
	Assert(r->spool == NULL);
	/* There are two lists. */
	r->spool = fpt_spool_begin(NULL, hc->nwords,
							   (Size) maintenance_work_mem * 1024 / 2,
							   NULL, NULL);
	r->recs = NULL;
	r->n = 0;
}

/*
 * The next record to be looked at, or NULL at the end.  It stays where it is
 * until the one behind it is asked for.  May read a temporary file.
 */
static inline const uint64 *
fpt_records_head(FPTRecords *r)
{
	if (r->n == 0)
		r->n = fpt_spool_fetch(r->spool, &r->recs);
	return r->n > 0 ? r->recs : NULL;
}

/* Be done with the record that fpt_records_head() has given. */
static inline void
fpt_records_next(FPTHeapCheck *hc, FPTRecords *r)
{
	Assert(r->n > 0);
	r->recs += hc->nwords;
	r->n--;
}

/*
 * Order of the spools; NULL is after all records.  All words count, the marks
 * in the first one, too: an entry that is marked as dead equals no row.
 */
static inline int
fpt_record_cmp(FPTHeapCheck *hc, const uint64 *a, const uint64 *b)
{
	if (a == NULL || b == NULL)
		return a == NULL ? (b == NULL ? 0 : 1) : -1;
	for (int i = 0; i < hc->nwords; i++)
	{
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

/* --- collecting ---------------------------------------------------------- */

/*
 * See sql/heapcheck.h.  Of rows nothing is begun before all entries are there.
 */
FPTHeapCheck *
fpt_heapcheck_begin(Relation rel, Relation heaprel, FPTIndex *ix,
					Snapshot snapshot, bool still)
{
	FPTHeapCheck *hc = palloc0(sizeof(FPTHeapCheck));

	Assert(IsMVCCSnapshot(snapshot));
	hc->rel = rel;
	hc->heaprel = heaprel;
	hc->ix = ix;
	hc->snapshot = snapshot;
	hc->still = still;
	hc->nwords = ix->layout.keysize == 16 ? 3 : 2;
	hc->tmpcxt = AllocSetContextCreate(CurrentMemoryContext,
									   "fptree check", ALLOCSET_SMALL_SIZES);
	fpt_records_begin(hc, &hc->entries);
	return hc;
}

/*
 * See sql/heapcheck.h.  A general key with NULLs is a value like any other: the
 * hash has them, so the mark of NULL keys is for images only.
 */
void
fpt_heapcheck_entry(FPTHeapCheck *hc, const FPTKey *key, bool dead)
{
	FPTKey		k = *key;

	Assert(hc->rows.spool == NULL); /* rows come after all entries */
	if (fpt_is_general(&hc->ix->layout))
	{
		MemoryContext old = MemoryContextSwitchTo(hc->tmpcxt);
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];

		fpt_general_deform(hc->ix->layout.arg, key, values, isnull);
		k.lo = fpt_record_hash(hc, values, isnull);
		k.cls = FPT_CLS_VALUE;
		MemoryContextSwitchTo(old);
		MemoryContextReset(hc->tmpcxt);
	}
	fpt_record_put(hc, hc->entries.spool, &k, dead);
}

/*
 * Callback of the table scan: a row that the snapshot sees, with the values of
 * the index's columns.  As fpt_heapcheck_entry().
 */
static void
fpt_heapcheck_row(Relation index, ItemPointer tid, Datum *values,
				  bool *isnull, bool tupleIsAlive, void *arg)
{
	FPTHeapCheck *hc = (FPTHeapCheck *) arg;
	FPTKey		key;

	Assert(index == hc->rel && hc->rows.spool != NULL);
	if (fpt_is_general(&hc->ix->layout))
	{
		MemoryContext old = MemoryContextSwitchTo(hc->tmpcxt);

		memset(&key, 0, sizeof(key));
		key.tid = fpt_tid_encode(tid);
		key.cls = FPT_CLS_VALUE;
		key.lo = fpt_record_hash(hc, values, isnull);
		MemoryContextSwitchTo(old);
		MemoryContextReset(hc->tmpcxt);
	}
	else
		fpt_form_key(hc->ix, values[0], isnull[0], fpt_tid_encode(tid), &key);
	fpt_record_put(hc, hc->rows.spool, &key, false);
	hc->nrows++;
}

/*
 * Scan the table as the first scan of CREATE INDEX CONCURRENTLY would: with an
 * MVCC snapshot, ours.  Expressions and predicates of the index run, and may
 * raise; no index page is locked.
 */
static void
fpt_heapcheck_scan(FPTHeapCheck *hc)
{
	IndexInfo  *info = BuildIndexInfo(hc->rel);
	TableScanDesc scan;

	Assert(hc->rows.spool != NULL);
	info->ii_Concurrent = true;

	/* Do not wait for transactions in progress on behalf of uniqueness. */
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;

	/* table_index_build_scan() ends the scan. */
	scan = table_beginscan_strat(hc->heaprel, hc->snapshot, 0, NULL, true,
								 true);
	table_index_build_scan(hc->heaprel, hc->rel, info, true, false,
						   fpt_heapcheck_row, hc, scan);
}

/* --- comparing ----------------------------------------------------------- */

/* Raise the error of a row without entry. */
static void
fpt_heapcheck_missing(FPTHeapCheck *hc, uint64 tid)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("heap tuple (%u,%u) of table \"%s\" lacks an entry in index \"%s\"",
					FPT_TID_FORMAT_ARGS(tid),
					RelationGetRelationName(hc->heaprel),
					RelationGetRelationName(hc->rel)),
			 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index.",
					 quote_identifier(RelationGetRelationName(hc->rel)))));
}

/*
 * Can there be a row at this place of a heap that has entries in indexes?  A
 * place that is free, or dead and removed, or in the middle of a HOT chain, has
 * none.  Locks the heap page, to read, for a moment; no index page is (L6).
 * Raises an error if the page cannot be read.
 */
static bool
fpt_heapcheck_place(FPTHeapCheck *hc, uint64 tid)
{
	OffsetNumber off = (OffsetNumber) (tid & 0xFFFF);
	Buffer		buf = ReadBuffer(hc->heaprel, (BlockNumber) (tid >> 16));
	Page		page = BufferGetPage(buf);
	bool		ok = false;

	Assert(hc->heaprel->rd_tableam == GetHeapamTableAmRoutine());
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (!PageIsNew(page) && off <= PageGetMaxOffsetNumber(page))
	{
		ItemId		item = PageGetItemId(page, off);

		/* Only the first member of a HOT chain has entries. */
		ok = ItemIdIsUsed(item) &&
			!(ItemIdIsNormal(item) &&
			  HeapTupleHeaderIsHeapOnly((HeapTupleHeader)
										PageGetItem(page, item)));
	}
	UnlockReleaseBuffer(buf);
	return ok;
}

/*
 * An entry without a row that our snapshot sees: raise an error if the place it
 * leads to says that it is damage.  Nothing is locked before or after; may be
 * cancelled.
 */
static void
fpt_heapcheck_stray(FPTHeapCheck *hc, const uint64 *rec)
{
	uint64		tid = fpt_record_tid(rec);
	const char *problem;
	FPTKey		key;
	Buffer		buf;
	uint32		pageno = FPT_FIRSTPAGE;

	Assert(hc->still);
	CHECK_FOR_INTERRUPTS();
	if (fpt_lookup_visible(&hc->lookup, tid))
		problem = "Entry of heap TID (%u,%u) is not that of the row there";
	else if (hc->heaprel->rd_tableam == GetHeapamTableAmRoutine() &&
			 !fpt_heapcheck_place(hc, tid))
		problem = "Entry of heap TID (%u,%u) points to where no indexed row can be";
	else
		return;

	/* Where was it?  (A hash does not tell.) */
	if (!fpt_is_general(&hc->ix->layout))
	{
		key = fpt_record_key(hc, rec);
		buf = fpt_descend(hc->rel, hc->ix, &key, 0, BUFFER_LOCK_SHARE, NULL);
		pageno = fpt_bufpage(buf);
		UnlockReleaseBuffer(buf);
	}
	fpt_corrupt(hc->rel, pageno, psprintf(problem, FPT_TID_FORMAT_ARGS(tid)));
}

/*
 * Merge entries and rows, both in order: a row without entry is an error, an
 * entry without row too if nobody could have written meanwhile.  Nothing is
 * locked; may be cancelled where an entry has no row.
 */
static void
fpt_heapcheck_compare(FPTHeapCheck *hc)
{
	for (;;)
	{
		const uint64 *entry = fpt_records_head(&hc->entries);
		const uint64 *row = fpt_records_head(&hc->rows);
		int			cmp = fpt_record_cmp(hc, entry, row);

		if (entry == NULL && row == NULL)
			break;
		Assert(cmp <= 0 ? entry != NULL : row != NULL);
		if (cmp > 0)
			fpt_heapcheck_missing(hc, fpt_record_tid(row));
		if (cmp < 0 && hc->still)
			fpt_heapcheck_stray(hc, entry);
		fpt_records_next(hc, &hc->entries);
		if (cmp == 0)
			fpt_records_next(hc, &hc->rows);
	}
}

/*
 * See sql/heapcheck.h.  Entries are sorted before the table is scanned: from
 * then on they are only read.  An error that ends it leaves all to the context,
 * and temporary files to the transaction.
 */
void
fpt_heapcheck_end(FPTHeapCheck *hc)
{
	fpt_spool_sort(hc->entries.spool);
	fpt_records_begin(hc, &hc->rows);
	fpt_heapcheck_scan(hc);
	fpt_spool_sort(hc->rows.spool);
	fpt_lookup_begin(&hc->lookup, hc->heaprel, hc->snapshot);
	fpt_heapcheck_compare(hc);
	fpt_lookup_end(&hc->lookup);
	elog(DEBUG1, "%lld rows of table \"%s\" have entries",
		 (long long) hc->nrows, RelationGetRelationName(hc->heaprel));
	fpt_spool_end(hc->entries.spool);
	fpt_spool_end(hc->rows.spool);
	MemoryContextDelete(hc->tmpcxt);
	pfree(hc);
}

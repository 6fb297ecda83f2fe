/*-------------------------------------------------------------------------
 *
 * sql/btree.c
 *	  Reading pages of btree indexes, for estimates.  See sql/btree.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/itup.h"
#include "access/nbtree.h"
#include "access/tupmacs.h"
#include "utils/rel.h"

#include "key/tid.h"
#include "page/format.h"
#include "server/compat.h"
#include "sql/btree.h"
#include "store/place.h"

/* A tuple of a leaf, and its parts that have been checked. */
typedef struct FPTBtreeTuple
{
	IndexTuple	itup;
	ItemPointer tids;
	int			ntids;
	Size		end;			/* of the key's bytes, from itup on */
} FPTBtreeTuple;

/* Raise the error about a page that cannot be. */
static void __attribute__((noreturn))
fpt_btree_corrupt(const FPTBtree *bt, uint32 block, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is damaged at block %u",
					RelationGetRelationName(bt->rel), block),
			 errdetail("%s.", what),
			 errhint("Please REINDEX the index.")));
}

/* --- pages --------------------------------------------------------------- */

/*
 * Copy a block and look at its header.  Raises an error if the header is not
 * that of a btree's page.
 */
static BTPageOpaque
fpt_btree_copy(FPTBtree *bt, uint32 block, char *copy)
{
	PageHeader	h = (PageHeader) copy;

	if (block >= bt->nblocks)
		bt->nblocks = fpt_other_blocks(bt->rel);
	if (block >= bt->nblocks)
		fpt_btree_corrupt(bt, block, "There is no such block");
	CHECK_FOR_INTERRUPTS();
	fpt_copy_other(bt->rel, block, bt->strategy, copy);
	memset(copy + BLCKSZ, 0, FPT_BTREE_COPY - BLCKSZ);
	if (PageIsNew((Page) copy))
		fpt_btree_corrupt(bt, block, "The page is empty");
	if (h->pd_special != BLCKSZ - MAXALIGN(sizeof(BTPageOpaqueData)) ||
		h->pd_lower < SizeOfPageHeaderData || h->pd_lower > h->pd_upper ||
		h->pd_upper > h->pd_special)
		fpt_btree_corrupt(bt, block, "The page header is not valid");
	return (BTPageOpaque) (copy + h->pd_special);
}

/* See sql/btree.h. */
bool
fpt_btree_begin(Relation rel, BufferAccessStrategy strategy, FPTBtree *bt,
				uint32 *root)
{
	char	   *copy = palloc(FPT_BTREE_COPY);
	BTPageOpaque opaque;
	BTMetaPageData *meta = BTPageGetMeta((Page) copy);

	bt->rel = rel;
	bt->strategy = strategy;
	bt->nblocks = 0;
	opaque = fpt_btree_copy(bt, BTREE_METAPAGE, copy);
	if (!(opaque->btpo_flags & BTP_META) || meta->btm_magic != BTREE_MAGIC ||
		meta->btm_version < BTREE_MIN_VERSION ||
		meta->btm_version > BTREE_VERSION)
		fpt_btree_corrupt(bt, BTREE_METAPAGE, "The metapage is not btree's");
	bt->equalimage = meta->btm_version == BTREE_VERSION &&
		meta->btm_allequalimage;
	*root = meta->btm_root;
	pfree(copy);
	return *root != P_NONE;
}

void
fpt_btree_read(FPTBtree *bt, uint32 block, char *copy, FPTBtreePage *page)
{
	BTPageOpaque opaque = fpt_btree_copy(bt, block, copy);
	PageHeader	h = (PageHeader) copy;

	if (opaque->btpo_flags & BTP_META)
		fpt_btree_corrupt(bt, block, "It is a metapage");
	page->block = block;
	page->right = opaque->btpo_next;
	page->first = P_FIRSTDATAKEY(opaque);
	page->last = page->first - 1;
	page->level = -1;
	if (P_IGNORE(opaque))
		return;
	page->last = (h->pd_lower - SizeOfPageHeaderData) / sizeof(ItemIdData);
	if (page->last > (int) MaxIndexTuplesPerPage)
		fpt_btree_corrupt(bt, block, "It has too many items");
	if (opaque->btpo_level > PG_INT16_MAX ||
		(opaque->btpo_level == 0) != (P_ISLEAF(opaque) != 0))
		fpt_btree_corrupt(bt, block, "The page's level is not valid");
	page->level = opaque->btpo_level;
}

/*
 * The tuple of a page's item, NULL of a dead one.  Raises an error if it is not
 * within the page; of its contents the length alone has been looked at.
 */
static IndexTuple
fpt_btree_item(const FPTBtree *bt, const char *copy, const FPTBtreePage *page,
			   int n)
{
	const PageHeaderData *h = (const PageHeaderData *) copy;
	ItemIdData	id = h->pd_linp[n - 1];
	Size		off = ItemIdGetOffset(&id);
	Size		len = ItemIdGetLength(&id);
	IndexTuple	itup;

	Assert(n >= page->first && n <= page->last);
	if (!(ItemIdIsNormal(&id) || ItemIdIsDead(&id)) || off < h->pd_upper ||
		off != MAXALIGN(off) || off + len > h->pd_special ||
		len < sizeof(IndexTupleData))
		fpt_btree_corrupt(bt, page->block, "An item is not within the page");
	if (ItemIdIsDead(&id))
		return NULL;
	itup = unconstify(IndexTupleData *, (const IndexTupleData *) (copy + off));
	if (IndexTupleSize(itup) > len ||
		IndexTupleSize(itup) < sizeof(IndexTupleData))
		fpt_btree_corrupt(bt, page->block, "A tuple is not within its item");
	return itup;
}

int
fpt_btree_children(const FPTBtree *bt, const char *copy,
				   const FPTBtreePage *page, uint32 *children)
{
	int			n = 0;

	Assert(page->level > 0);
	for (int i = page->first; i <= page->last; i++)
	{
		IndexTuple	itup = fpt_btree_item(bt, copy, page, i);

		if (itup == NULL)
			fpt_btree_corrupt(bt, page->block, "An inner page has dead items");
		children[n++] = ItemPointerGetBlockNumberNoCheck(&itup->t_tid);
	}
	return n;
}

/* --- entries ------------------------------------------------------------- */

/* Take the TIDs of a leaf's tuple.  Raises an error if they make no sense. */
static void
fpt_btree_tids(const FPTBtree *bt, uint32 block, FPTBtreeTuple *t)
{
	Size		size = IndexTupleSize(t->itup);

	t->tids = &t->itup->t_tid;
	t->ntids = 1;
	t->end = size;
	if (t->itup->t_info & INDEX_ALT_TID_MASK)
	{
		uint32		off = ItemPointerGetBlockNumberNoCheck(&t->itup->t_tid);
		uint16		bits = ItemPointerGetOffsetNumberNoCheck(&t->itup->t_tid);

		t->ntids = bits & BT_OFFSET_MASK;
		if (!(bits & BT_IS_POSTING) || t->ntids == 0 ||
			off < sizeof(IndexTupleData) || off > size ||
			off != SHORTALIGN(off) ||
			(Size) t->ntids * sizeof(ItemPointerData) > size - off)
			fpt_btree_corrupt(bt, block, "A posting list is not valid");
		t->tids = (ItemPointer) ((char *) t->itup + off);
		t->end = off;
	}
	for (int i = 0; i < t->ntids; i++)
	{
		if (!ItemPointerIsValid(&t->tids[i]) ||
			ItemPointerGetBlockNumberNoCheck(&t->tids[i]) == PG_UINT32_MAX)
			fpt_btree_corrupt(bt, block, "A TID is not valid");
	}
}

/* Bytes that a byte of a compressed value stands for, less than that. */
#define FPT_BTREE_COMPRESSED	256

/*
 * Length of the varlena at "p", which ends after "left" bytes at the latest; 0:
 * it is not whole, out of line, or would be longer than it can be when it is
 * decompressed.
 */
static Size
fpt_btree_varlena_length(Form_pg_attribute att, const char *p, Size left)
{
	Size		len;

	if (left < 1 || VARATT_IS_1B_E(p))
		return 0;
	if (VARATT_IS_1B(p))
		return VARSIZE_1B(p);
	if (left < VARHDRSZ ||
		att_align_nominal((uintptr_t) p, att->attalign) != (uintptr_t) p)
		return 0;
	len = VARSIZE_4B(p);
	if (len < VARHDRSZ || len > left)
		return 0;
	if (VARATT_IS_4B_C(p) &&
		(len <= VARHDRSZ_COMPRESSED ||
		 VARDATA_COMPRESSED_GET_EXTSIZE(p) / FPT_BTREE_COMPRESSED >=
		 len - VARHDRSZ_COMPRESSED))
		return 0;
	return len;
}

/*
 * Take a leaf's tuple apart: values point into it.  As index_deform_tuple(),
 * but raises an error where a value would not end within the tuple.
 */
static void
fpt_btree_deform(const FPTBtree *bt, uint32 block, const FPTBtreeTuple *t,
				 Datum *values, bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(bt->rel);
	const char *start = (const char *) t->itup;
	Size		off = IndexInfoFindDataOffset(t->itup->t_info);
	bool		nulls = (t->itup->t_info & INDEX_NULL_MASK) != 0;
	uint8	   *bitmap = (uint8 *) (t->itup + 1);

	if (off > t->end)
		fpt_btree_corrupt(bt, block, "A tuple is too short");
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		Size		len;

		values[i] = (Datum) 0;
		isnull[i] = nulls && att_isnull(i, bitmap);
		if (isnull[i])
			continue;
		/* a short varlena is not aligned, and does not begin with a zero */
		if (att->attlen != -1 || off >= t->end || start[off] == 0)
			off = att_align_nominal(off, att->attalign);
		if (off > t->end)
			len = 0;
		else if (att->attlen == -1)
			len = fpt_btree_varlena_length(att, start + off, t->end - off);
		else if (att->attlen > 0)
			len = att->attlen;
		else
			len = strnlen(start + off, t->end - off) + 1;
		if (len == 0 || off + len > t->end)
			fpt_btree_corrupt(bt, block, "A value is not within its tuple");
		values[i] = fetch_att(start + off, att->attbyval, att->attlen);
		off += len;
	}
}

void
fpt_btree_entries(const FPTBtree *bt, const char *copy,
				  const FPTBtreePage *page, bool deform, FPTBtreeVisit visit,
				  void *arg)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	FPTBtreeEntry e = {0};
	int			ntids = 0;

	Assert(page->level == 0);
	for (int n = page->first; n <= page->last; n++)
	{
		FPTBtreeTuple t;

		t.itup = fpt_btree_item(bt, copy, page, n);
		if (t.itup == NULL)
			continue;
		fpt_btree_tids(bt, page->block, &t);
		ntids += t.ntids;
		if (ntids > (int) MaxTIDsPerBTreePage)
			fpt_btree_corrupt(bt, page->block, "It has too many TIDs");
		e.key = (const char *) (t.itup + 1);
		e.keylen = t.end - sizeof(IndexTupleData);
		e.size = MAXALIGN(t.end);
		if (deform)
		{
			fpt_btree_deform(bt, page->block, &t, values, isnull);
			e.values = values;
			e.isnull = isnull;
		}
		for (int i = 0; i < t.ntids; i++)
		{
			e.tid = fpt_tid_encode(&t.tids[i]);
			visit(arg, &e);
		}
	}
}

/* --- a fresh btree ------------------------------------------------------- */

/* Longest tuple that a build makes of equal keys: a tenth of a page. */
#define FPT_BTREE_POSTING \
	(MAXALIGN_DOWN(BLCKSZ * 10 / 100) - sizeof(ItemIdData))

/* Bytes of an empty page for items, beside the pointer to a high key. */
#define FPT_BTREE_ROOM \
	((int) (BLCKSZ - SizeOfPageHeaderData - \
			MAXALIGN(sizeof(BTPageOpaqueData)) - sizeof(ItemIdData)))

/* Percent of an inner page that a build fills. */
#define FPT_BTREE_INNER_FILL	70

void
fpt_btree_fresh_begin(FPTBtreeFresh *f, const FPTBtree *bt, int fillfactor)
{
	memset(f, 0, sizeof(*f));
	f->dedup = bt->equalimage && !bt->rel->rd_index->indisunique &&
		BTGetDeduplicateItems(bt->rel);
	f->full = BLCKSZ * (100 - fillfactor) / 100;
	f->free = FPT_BTREE_ROOM;
	f->key = palloc(INDEX_SIZE_MASK + 1);
}

/*
 * Put the tuple that has been formed into the page.  One that is full, or as
 * full as it shall be, is closed: its last item begins the next page, and a
 * high key without posting list takes its place.
 */
static void
fpt_btree_fresh_put(FPTBtreeFresh *f)
{
	Size		size = f->size;
	Size		extra = 0;
	int			space = f->free - (int) sizeof(ItemIdData);

	if (f->ntids > 1)
	{
		size = MAXALIGN(f->size + f->ntids * sizeof(ItemPointerData));
		extra = size - f->size;
	}
	if (f->nitems > 1 &&
		(space < (int) (size + MAXALIGN(sizeof(ItemPointerData))) ||
		 space + (int) f->lastextra < f->full))
	{
		f->pages += 1;
		f->free = FPT_BTREE_ROOM - (int) (f->lastsize + sizeof(ItemIdData));
		f->nitems = 1;
	}
	f->free -= (int) (size + sizeof(ItemIdData));
	f->nitems++;
	f->lastsize = size;
	f->lastextra = extra;
	f->ntids = 0;
}

void
fpt_btree_fresh_add(FPTBtreeFresh *f, const FPTBtreeEntry *e)
{
	f->keybytes += e->size + sizeof(ItemIdData);
	f->nkeys += 1;
	if (f->ntids > 0 && f->dedup && e->keylen == f->keylen &&
		memcmp(e->key, f->key, e->keylen) == 0 &&
		MAXALIGN(f->size + (f->ntids + 1) * sizeof(ItemPointerData)) <=
		FPT_BTREE_POSTING)
	{
		f->ntids++;
		return;
	}
	if (f->ntids > 0)
		fpt_btree_fresh_put(f);
	Assert(e->keylen <= INDEX_SIZE_MASK);
	memcpy(f->key, e->key, e->keylen);
	f->keylen = e->keylen;
	f->size = e->size;
	f->ntids = 1;
}

double
fpt_btree_fresh_end(FPTBtreeFresh *f, double *per_inner)
{
	*per_inner = 2;				/* the first one has no key */
	if (f->ntids > 0)
		fpt_btree_fresh_put(f);
	if (f->nkeys > 0)
		*per_inner = 1 + floor(FPT_BTREE_ROOM * FPT_BTREE_INNER_FILL / 100.0 /
							   (f->keybytes / f->nkeys));
	pfree(f->key);
	if (f->nitems == 0)
		return f->pages;
	return f->pages + (double) (FPT_BTREE_ROOM - f->free) /
		Max(1, FPT_BTREE_ROOM - f->full);
}

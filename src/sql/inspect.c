/*-------------------------------------------------------------------------
 *
 * sql/inspect.c
 *	  Functions that show what is stored in an index: fptree_metap(),
 *	  fptree_page_stats(), fptree_page_items() and fptree_stat().
 *
 * They are made for looking at damaged indexes, too: a page is copied under
 * its share lock and looked at in private, values that make no sense are shown
 * as they are where that is harmless, and everything derived from them is NULL
 * where a page is not sound enough to derive it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "key/general.h"
#include "key/image.h"
#include "page/copy.h"
#include "page/format.h"
#include "page/hints.h"
#include "page/kernel.h"
#include "page/layout.h"
#include "page/lent.h"
#include "sql/relcheck.h"
#include "store/buf.h"
#include "store/index.h"
#include "store/map.h"
#include "store/meta.h"
#include "store/place.h"

PG_FUNCTION_INFO_V1(fptree_metap);
PG_FUNCTION_INFO_V1(fptree_page_stats);
PG_FUNCTION_INFO_V1(fptree_page_items);
PG_FUNCTION_INFO_V1(fptree_stat);

/* Columns of the functions' results, as the install script declares them */
#define FPT_METAP_COLS		13
#define FPT_PAGE_STATS_COLS 21
#define FPT_PAGE_ITEMS_COLS 8
#define FPT_STAT_COLS		12

/*
 * A row under construction, of as many columns as the widest function here has.
 */
typedef struct FPTRow
{
	int			n;				/* columns added so far, from the left */
	Datum		values[FPT_PAGE_STATS_COLS];
	bool		nulls[FPT_PAGE_STATS_COLS];
} FPTRow;

/* Add a column, or one that is NULL; by-reference values are not copied. */
static inline void
fpt_row_add(FPTRow *row, Datum value)
{
	Assert(row->n < FPT_PAGE_STATS_COLS);
	row->nulls[row->n] = false;
	row->values[row->n++] = value;
}

static inline void
fpt_row_add_null(FPTRow *row)
{
	Assert(row->n < FPT_PAGE_STATS_COLS);
	row->nulls[row->n] = true;
	row->values[row->n++] = (Datum) 0;
}

/* Fill the columns up to "ncols" with NULL. */
static inline void
fpt_row_pad(FPTRow *row, int ncols)
{
	Assert(row->n <= ncols && ncols <= FPT_PAGE_STATS_COLS);
	while (row->n < ncols)
		fpt_row_add_null(row);
}

/*
 * The row as the function's result; columns that were not added are NULL.
 * Raises an error if the function is declared otherwise, as after an update of
 * the library alone.
 */
static Datum
fpt_row_result(FunctionCallInfo fcinfo, FPTRow *row, int ncols)
{
	TupleDesc	tupdesc;

	Assert(ncols <= FPT_PAGE_STATS_COLS);
	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (tupdesc->natts != ncols)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("function has wrong number of declared columns"),
				 errhint("Update the \"fptree\" extension with ALTER EXTENSION fptree UPDATE.")));
	fpt_row_pad(row, ncols);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc),
											 row->values, row->nulls));
}

/*
 * Pages show values of columns that the user may have no right to read.  Raises
 * an error if he is no superuser.
 */
static void
fpt_require_superuser(void)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to look into pages of an fptree index")));
}

/*
 * Open an index that the user named, AccessShareLock.  Raises an error if it is
 * none of ours, or has no contents.
 */
static Relation
fpt_inspect_open(Oid indexid)
{
	Relation	rel = fpt_open_index(indexid, AccessShareLock);

	if (!fpt_has_contents(rel))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("unlogged index \"%s\" has no contents during recovery",
						RelationGetRelationName(rel))));
	fpt_require_built(rel);
	return rel;
}

/* --- keys as text -------------------------------------------------------- */

/* What is needed to show keys of an index. */
typedef struct FPTKeyOut
{
	FPTIndex	ix;				/* a copy: rd_amcache may go away */
	Relation	rel;
	FmgrInfo	out;			/* output function of the type */
} FPTKeyOut;

/*
 * How keys of this index are shown.  Reads catalogues, and the metapage: raises
 * an error if that is damaged.
 */
static void
fpt_keyout_init(FPTKeyOut *ko, Relation rel)
{
	Oid			func;
	bool		isvarlena;

	fpt_index_copy(rel, &ko->ix);
	ko->rel = rel;
	if (fpt_is_general(&ko->ix.layout))
		return;
	Assert(ko->ix.type != NULL);
	getTypeOutputInfo(ko->ix.type->typid, &func, &isvarlena);
	fmgr_info(func, &ko->out);
}

/*
 * The columns of a general key, as far as it has them; NULL if it has none.  A
 * tuple that makes no sense is shown as "invalid", not decoded.  Runs the
 * types' output functions, which may raise: no page is locked.  The result is
 * in the current context.
 */
static char *
fpt_general_text(FPTKeyOut *ko, const FPTKey *key)
{
	TupleDesc	desc = RelationGetDescr(ko->rel);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	StringInfoData s;
	int			n;

	if (!fpt_general_valid(ko->ix.layout.arg, key))
		return pstrdup("invalid");
	n = fpt_general_deform(ko->ix.layout.arg, key, values, isnull);
	Assert(n <= desc->natts);
	initStringInfo(&s);
	for (int i = 0; i < n; i++)
	{
		Oid			func;
		bool		isvarlena;

		getTypeOutputInfo(TupleDescAttr(desc, i)->atttypid, &func, &isvarlena);
		appendStringInfo(&s, "%s%s", i > 0 ? ", " : "", isnull[i] ? "NULL" :
						 OidOutputFunctionCall(func, values[i]));
	}
	return n > 0 ? s.data : NULL;
}

/*
 * A value in the notation of its type; NULL for the other classes.  Runs the
 * output function, which may raise; in the current context.
 */
static char *
fpt_key_text(FPTKeyOut *ko, const FPTKey *key)
{
	FPTDecoded	room;

	if (fpt_is_general(&ko->ix.layout))
		return fpt_general_text(ko, key);
	if (key->cls != FPT_CLS_VALUE)
		return NULL;
	return OutputFunctionCall(&ko->out, fpt_key_value(&ko->ix, key, &room));
}

/*
 * Returns a fence as a text: its class or value, and the TID that breaks ties.
 * The page is a copy, and sane; a class that there is not is "invalid".  In the
 * current context.  Runs the types' output functions, which may raise.
 */
static Datum
fpt_fence_text(FPTKeyOut *ko, const void *page, const FPTFence *fence)
{
	FPTKey		key = fpt_fence_get(&ko->ix.layout, page, fence);
	const char *what;

	switch (key.cls)
	{
		case FPT_CLS_MINF:
			return CStringGetTextDatum("-infinity");
		case FPT_CLS_PINF:
			return CStringGetTextDatum("+infinity");
		case FPT_CLS_VALUE:
			what = fpt_key_text(ko, &key);
			break;
		case FPT_CLS_NULLFIRST:
		case FPT_CLS_NULLLAST:
			what = "NULL";
			break;
		default:
			what = "invalid";
			break;
	}
	return CStringGetTextDatum(psprintf("%s (%u,%u)", what,
										(uint32) (key.tid >> 16),
										(uint32) (key.tid & 0xFFFF)));
}

/* --- fptree_metap() ------------------------------------------------------ */

/*
 * One of the two numbers of every width, in lines, as a two-dimensional array:
 * by key width (of general keys encoding), then by FPT_KIND_*.  In the current
 * context.
 */
static Datum
fpt_widths_array(FPTMetaData *m, bool leaf)
{
	Datum		elems[FPT_NKW * FPT_NKINDS];
	int			dims[2] = {FPT_NKW, FPT_NKINDS};
	int			lbs[2] = {1, 1};
	int			i;
	int			j;

	for (i = 0; i < FPT_NKW; i++)
		for (j = 0; j < FPT_NKINDS; j++)
			elems[i * FPT_NKINDS + j] =
				Int32GetDatum(leaf ? m->widths[i][j].x : m->widths[i][j].w);
	return PointerGetDatum(construct_md_array(elems, NULL, 2, dims, lbs,
											  INT4OID, sizeof(int32), true,
											  TYPALIGN_INT));
}

/*
 * fptree_metap(index regclass)
 *
 * The metapage as it is stored, without judging it.  The index is locked while
 * it is read, AccessShareLock, and one page at a time, to read.  Raises an
 * error if there is no metapage.
 */
Datum
fptree_metap(PG_FUNCTION_ARGS)
{
	Relation	rel = fpt_inspect_open(PG_GETARG_OID(0));
	char	   *page = palloc(BLCKSZ);
	FPTMetaData *m = fpt_meta(page);
	FPTRow		row = {0};
	FPTPageMap	start = {0};	/* no description: it may be damaged */

	if (!fpt_page_exists(rel, &start, FPT_METAPAGE))
		fpt_corrupt(rel, FPT_METAPAGE, "The index has no pages");
	fpt_copy_page(rel, &start, FPT_METAPAGE, NULL, page);
	fpt_row_add(&row, Int64GetDatum((int64) m->magic));
	fpt_row_add(&row, Int64GetDatum((int64) m->version));
	fpt_row_add(&row, Int64GetDatum((int64) m->indexid));
	fpt_row_add(&row, Int32GetDatum(m->keyclass));
	fpt_row_add(&row, Int32GetDatum(m->keysize));
	fpt_row_add(&row, BoolGetDatum(m->nullsfirst != 0));
	fpt_row_add(&row, BoolGetDatum(m->descending != 0));
	fpt_row_add(&row, Int32GetDatum(m->linesize));
	fpt_row_add(&row, Int32GetDatum(m->nstripes));
	fpt_row_add(&row, Int64GetDatum((int64) m->root));
	fpt_row_add_null(&row);		/* the root's level, see below */
	fpt_row_add(&row, fpt_widths_array(m, false));
	fpt_row_add(&row, fpt_widths_array(m, true));

	if (fpt_page_exists(rel, &start, m->root))
	{
		uint32		indexid = m->indexid;
		uint32		root = m->root;

		fpt_copy_page(rel, &start, root, NULL, page);
		if (fpt_special(page)->pageid == FPT_PAGE_ID &&
			fpt_special(page)->pageno == root &&
			fpt_special(page)->indexid == indexid)
		{
			Assert(row.nulls[10]);
			row.nulls[10] = false;
			row.values[10] = Int32GetDatum(fpt_header(page)->level);
		}
	}
	index_close(rel, AccessShareLock);
	return fpt_row_result(fcinfo, &row, FPT_METAP_COLS);
}

/* --- pages --------------------------------------------------------------- */

/* Entries of a page, with the places where they are stored. */
typedef struct FPTItems
{
	int			n;				/* of both; -1: they could not be read */
	FPTEntry   *entries;		/* in key order; tuples are the page's */
	uint16	   *slotids;		/* as in FPTRun */
} FPTItems;

/*
 * Entries of a page and the numbers of their slots, in the current context.
 * Returns false if the page is too damaged for that.  The page is a copy, and
 * sane.  Both lists are in the order of keys, and so must be of one length.
 */
static bool
fpt_read_items(const FPTLayout *l, char *page, FPTItems *items)
{
	FPTRun		run = {0};

	/* What the page claims cannot exceed its geometry's capacity. */
	Assert(fpt_page_geom(l, page)->capacity <= FPT_MAX_ENTRIES);
	items->entries = palloc(FPT_MAX_ENTRIES * sizeof(FPTEntry));
	items->slotids = palloc(FPT_MAX_ENTRIES * sizeof(uint16));
	items->n = fpt_page_extract(l, page, items->entries, FPT_MAX_ENTRIES);
	if (items->n < 0)
		return false;
	run.slotids = items->slotids;
	return fpt_page_copy_all(l, page, false, &run) == items->n;
}

/*
 * What a page is called, the first name that fits; nothing is said of its
 * entries.
 */
static const char *
fpt_page_type(const FPTIndex *ix, char *page, uint32 pageno)
{
	if (pageno == FPT_METAPAGE)
		return "meta";
	if (PageIsNew((Page) page))
		return "new";
	if (!fpt_page_sane(&ix->layout, page, pageno))
		return "invalid";
	if (fpt_header(page)->flags & FPT_F_DELETED)
		return "deleted";
	if (fpt_header(page)->level == 0)
		return "leaf";
	return pageno == ix->root ? "root" : "inner";
}

/* How many entries have a dead-entry hint; 0 in pages that have none. */
static int
fpt_count_hints(const FPTLayout *l, char *page, FPTItems *items)
{
	int			n = 0;
	int			i;

	if (!fpt_page_has_hints(l, page))
		return 0;
	Assert(items->n >= 0 && items->n <= FPT_MAX_ENTRIES);
	for (i = 0; i < items->n; i++)
	{
		if (fpt_page_hint_get(l, page, items->slotids[i]))
			n++;
	}
	return n;
}

/*
 * Columns of a page whose encoding is known: entries to free bytes.  Adds up to
 * FPT_PAGE_STATS_COLS to the row; NULL where entries cannot be read.  The page
 * is a copy, and sane.  Runs output functions (fences), which may raise.
 */
static void
fpt_page_stats_body(FPTKeyOut *ko, char *page, FPTRow *row)
{
	const FPTLayout *l = &ko->ix.layout;
	const FPTGeom *g = fpt_page_geom(l, page);
	FPTPageHeader *h = fpt_header(page);
	FPTSpace	space;
	FPTItems	items;
	int			nodes = fpt_page_nodes(l, page);
	bool		ok = fpt_read_items(l, page, &items);

	Assert(g != NULL && g->cap > 0);	/* fpt_page_sane() */
	if (ok)
	{
		fpt_row_add(row, Int32GetDatum(items.n));
		fpt_row_add(row, Int32GetDatum(fpt_count_hints(l, page, &items)));
	}
	else
	{
		fpt_row_add_null(row);
		fpt_row_add_null(row);
	}
	if (nodes >= 0)
	{
		fpt_row_add(row, Int32GetDatum(nodes));
		fpt_row_add(row, Int32GetDatum(h->nnodes - nodes));
	}
	else
	{
		fpt_row_add_null(row);
		fpt_row_add_null(row);
	}
	fpt_row_add(row, Int32GetDatum(h->nnull));
	fpt_row_add(row, Int32GetDatum(g->kw - g->rw + g->sw));
	fpt_row_add(row, Int32GetDatum(g->tw));
	fpt_row_add(row, Int32GetDatum(fpt_lent_bits(l, page)));
	fpt_row_add(row, Int32GetDatum(g->tw == 6 ? 16 :
								   fpt_special(page)->rowbits));
	fpt_row_add(row, Int32GetDatum(g->w));
	fpt_row_add(row, Int32GetDatum(g->x));
	fpt_row_add(row, Int32GetDatum((int32) g->capacity));
	if (ok && fpt_page_space(l, page, items.n, &space) == FPT_OK)
		fpt_row_add(row, Int32GetDatum(space.room - space.used));
	else
		fpt_row_add_null(row);
	fpt_row_add(row, fpt_fence_text(ko, page, &fpt_special(page)->low));
	fpt_row_add(row, fpt_fence_text(ko, page, &h->high));
	Assert(row->n == FPT_PAGE_STATS_COLS);
}

/*
 * fptree_page_stats(index regclass, pageno int8)
 *
 * What the page's header says, and what follows from it if that is sane.
 * Superusers only.  Locks the index, AccessShareLock, and the page, to copy it.
 * Raises an error if there is no such page, or the metapage is damaged; not
 * about what is in the page.
 */
Datum
fptree_page_stats(PG_FUNCTION_ARGS)
{
	Relation	rel;
	uint32		pageno;
	char	   *page = palloc(BLCKSZ);
	const char *type;
	FPTKeyOut	ko;
	FPTRow		row = {0};

	fpt_require_superuser();
	rel = fpt_inspect_open(PG_GETARG_OID(0));
	fpt_require_page(rel, PG_GETARG_INT64(1));
	pageno = (uint32) PG_GETARG_INT64(1);
	fpt_keyout_init(&ko, rel);
	fpt_copy_page(rel, &ko.ix.map, pageno, NULL, page);
	type = fpt_page_type(&ko.ix, page, pageno);

	fpt_row_add(&row, Int64GetDatum((int64) pageno));
	fpt_row_add(&row, CStringGetTextDatum(type));
	if (pageno != FPT_METAPAGE && !PageIsNew((Page) page))
	{
		FPTPageHeader *h = fpt_header(page);

		fpt_row_add(&row, Int32GetDatum(h->level));
		fpt_row_add(&row, Int64GetDatum((int64) h->left));
		fpt_row_add(&row, Int64GetDatum((int64) h->right));
		fpt_row_add(&row, Int32GetDatum(h->flags));
		if (fpt_page_sane(&ko.ix.layout, page, pageno))
			fpt_page_stats_body(&ko, page, &row);
	}
	index_close(rel, AccessShareLock);
	return fpt_row_result(fcinfo, &row, FPT_PAGE_STATS_COLS);
}

/*
 * One entry as a row of the function's result.  The page is a copy whose
 * entries were read.  Runs output functions, which may raise: an entry whose
 * value makes no sense to its type ends the function.
 */
static void
fpt_put_item(ReturnSetInfo *rsinfo, FPTKeyOut *ko, char *page,
			 FPTItems *items, int i)
{
	const FPTLayout *l = &ko->ix.layout;
	const FPTGeom *g = fpt_page_geom(l, page);
	FPTEntry   *e = &items->entries[i];
	int			slotid = items->slotids[i];
	bool		leaf = fpt_header(page)->level == 0;
	FPTKey		low = fpt_page_low(l, page);
	char	   *text = fpt_key_text(ko, &e->key);
	ItemPointerData tid;
	FPTRow		row = {0};

	Assert(i >= 0 && i < items->n);
	ItemPointerSetInvalid(&tid);
	ItemPointerSetBlockNumber(&tid, (BlockNumber) (e->key.tid >> 16));
	ItemPointerSetOffsetNumber(&tid, (OffsetNumber) (e->key.tid & 0xFFFF));

	fpt_row_add(&row, Int32GetDatum(i + 1));
	fpt_row_add(&row, Int32GetDatum(slotid / g->cap));
	fpt_row_add(&row, Int32GetDatum(slotid % g->cap));
	fpt_row_add(&row, PointerGetDatum(&tid));
	if (leaf)
		fpt_row_add_null(&row);
	else
		fpt_row_add(&row, Int64GetDatum((int64) e->down));

	/* The first separator of a level stands for minus infinity. */
	if (text == NULL || (!leaf && i == 0 && low.cls == FPT_CLS_MINF))
		fpt_row_add_null(&row);
	else
		fpt_row_add(&row, CStringGetTextDatum(text));
	fpt_row_add(&row, BoolGetDatum(e->key.cls != FPT_CLS_VALUE));
	if (leaf)
		fpt_row_add(&row, BoolGetDatum(fpt_page_has_hints(l, page) &&
									   fpt_page_hint_get(l, page, slotid)));
	else
		fpt_row_add_null(&row);
	Assert(row.n == FPT_PAGE_ITEMS_COLS);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
						 row.values, row.nulls);
}

/*
 * fptree_page_items(index regclass, pageno int8)
 *
 * A row for each entry.  Superusers only.  Locks the index, AccessShareLock,
 * and the page, to copy it.  Raises an error if entries cannot be read.
 */
Datum
fptree_page_items(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel;
	uint32		pageno;
	char	   *page = palloc(BLCKSZ);
	FPTKeyOut	ko;
	FPTItems	items;
	int			i;

	fpt_require_superuser();
	InitMaterializedSRF(fcinfo, 0);
	if (rsinfo->setDesc->natts != FPT_PAGE_ITEMS_COLS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("function has wrong number of declared columns"),
				 errhint("ALTER EXTENSION fptree UPDATE brings the SQL functions up to the library.")));
	rel = fpt_inspect_open(PG_GETARG_OID(0));
	fpt_require_page(rel, PG_GETARG_INT64(1));
	pageno = (uint32) PG_GETARG_INT64(1);
	if (pageno == FPT_METAPAGE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("page %u is the metapage", pageno),
				 errhint("Use fptree_metap().")));
	fpt_keyout_init(&ko, rel);
	fpt_copy_page(rel, &ko.ix.map, pageno, NULL, page);
	if (!PageIsNew((Page) page))
	{
		if (!fpt_page_sane(&ko.ix.layout, page, pageno) ||
			!fpt_read_items(&ko.ix.layout, page, &items))
			fpt_corrupt(rel, pageno, "The entries cannot be read");
		for (i = 0; i < items.n; i++)
			fpt_put_item(rsinfo, &ko, page, &items, i);
	}
	index_close(rel, AccessShareLock);
	return (Datum) 0;
}

/* --- fptree_stat() ------------------------------------------------------- */

/* Sums over the pages of an index. */
typedef struct FPTStat
{
	int64		internal_pages; /* the root included */
	int64		leaf_pages;		/* with entries */
	int64		empty_pages;	/* without, or never used */
	int64		deleted_pages;	/* free for re-use */
	int64		fragments;		/* leaf pages whose right link goes back */
	int64		entries;		/* of leaf pages */
	int64		used;			/* bytes of these, and of their tuples ... */
	int64		room;			/* ... and those the pages have for them */
	int64		node_slots;		/* of the nodes in use */
	int			level;			/* the root's */
	uint32		version;		/* of the format */
} FPTStat;

/*
 * Add up one page.  The page is a copy.  Raises an error if its header or its
 * entries make no sense.  A leaf that has no entries counts as empty, as in
 * pgstatindex().
 */
static void
fpt_stat_page(Relation rel, const FPTIndex *ix, char *page, uint32 pageno,
			  FPTStat *st)
{
	const FPTLayout *l = &ix->layout;
	FPTPageHeader *h = fpt_header(page);
	const FPTGeom *g;
	FPTSpace	space;
	int			n;

	Assert(pageno > FPT_METAPAGE);
	if (PageIsNew((Page) page))
	{
		st->empty_pages++;
		return;
	}
	if (!fpt_page_sane(l, page, pageno))
		fpt_corrupt(rel, pageno, "The page header is not valid");
	if (pageno == ix->root)
		st->level = h->level;
	if (h->flags & FPT_F_DELETED)
	{
		st->deleted_pages++;
		return;
	}
	if (h->level > 0)
	{
		st->internal_pages++;
		return;
	}
	g = fpt_page_geom(l, page);
	n = fpt_page_count(l, page);
	if (n < 0 || fpt_page_space(l, page, n, &space) != FPT_OK)
		fpt_corrupt(rel, pageno, "The entries cannot be counted");
	if (n == 0)
		st->empty_pages++;
	else
		st->leaf_pages++;
	if (h->right != FPT_NOPAGE && h->right < pageno)
		st->fragments++;
	st->entries += n;
	st->used += space.used;
	st->room += space.room;
	st->node_slots += fpt_page_nodes(l, page) * g->cap;
}

/* A share as a percentage with two decimals; NaN: of nothing. */
static Datum
fpt_percent(int64 part, int64 whole)
{
	double		p = 100.0 * part / (whole > 0 ? whole : 1);

	Assert(part >= 0 && whole >= 0);
	return Float8GetDatum(whole > 0 ? rint(p * 100.0) / 100.0 :
						  get_float8_nan());
}

/*
 * The row that fptree_stat() returns: columns as in the install script.  Of a
 * striped index npages is the sum of all files.  As fpt_row_result(), which may
 * raise.
 */
static Datum
fpt_stat_result(FunctionCallInfo fcinfo, FPTStat *st, uint32 root,
				uint32 npages)
{
	FPTRow		row = {0};

	fpt_row_add(&row, Int32GetDatum(st->version));
	fpt_row_add(&row, Int32GetDatum(st->level));
	fpt_row_add(&row, Int64GetDatum((int64) npages * BLCKSZ));
	fpt_row_add(&row, Int64GetDatum((int64) root));
	fpt_row_add(&row, Int64GetDatum(st->internal_pages));
	fpt_row_add(&row, Int64GetDatum(st->leaf_pages));
	fpt_row_add(&row, Int64GetDatum(st->empty_pages));
	fpt_row_add(&row, Int64GetDatum(st->deleted_pages));
	fpt_row_add(&row, fpt_percent(st->used, st->room));
	fpt_row_add(&row, fpt_percent(st->fragments, st->leaf_pages));
	fpt_row_add(&row, Int64GetDatum(st->entries));
	fpt_row_add(&row, fpt_percent(st->entries, st->node_slots));
	Assert(row.n == FPT_STAT_COLS);
	return fpt_row_result(fcinfo, &row, FPT_STAT_COLS);
}

/*
 * fptree_stat(index regclass)
 *
 * As pgstatindex(): reads the whole index, in the order of page numbers.  Locks
 * the index, AccessShareLock, and one page at a time, to copy it; may be
 * cancelled, and raises an error about a damaged page.  Pages that are added
 * meanwhile are not counted; entries that a split moves may be, twice or never.
 */
Datum
fptree_stat(PG_FUNCTION_ARGS)
{
	Relation	rel = fpt_inspect_open(PG_GETARG_OID(0));
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	char	   *page = palloc(BLCKSZ);
	FPTIndex	ix;
	FPTStat		st = {0};
	uint32		npages;
	uint32		pageno;

	fpt_require_valid(rel);
	fpt_index_copy(rel, &ix);
	st.version = ix.map.stripes == NULL ? FPT_VERSION : FPT_VERSION_STRIPED;
	(void) fpt_find_root(rel, &ix);
	npages = fpt_npages(rel, &ix.map);
	for (pageno = FPT_FIRSTPAGE; pageno < npages; pageno++)
	{
		/* of stripes, some are shorter than others */
		if (!fpt_page_exists(rel, &ix.map, pageno))
			continue;
		CHECK_FOR_INTERRUPTS();
		fpt_copy_page(rel, &ix.map, pageno, strategy, page);
		fpt_stat_page(rel, &ix, page, pageno, &st);
	}
	npages = fpt_total_pages(rel, &ix.map);
	index_close(rel, AccessShareLock);
	return fpt_stat_result(fcinfo, &st, ix.root, npages);
}

/* --- for tests ----------------------------------------------------------- */

#ifdef FPT_STOP_POINTS

PG_FUNCTION_INFO_V1(fpt_stop_evict);

/* Throw an index out of shared buffers.  Nobody else may be using it. */
Datum
fpt_stop_evict(PG_FUNCTION_ARGS)
{
	Relation	rel = index_open(PG_GETARG_OID(0), AccessShareLock);

	fpt_evict_pages(rel, &fpt_index(rel)->map);
	index_close(rel, AccessShareLock);
	PG_RETURN_VOID();
}

#endif							/* FPT_STOP_POINTS */

/*-------------------------------------------------------------------------
 *
 * page/format.h
 *	  On-disk format of an fptree index, and the in-memory description of it.
 *
 * Everything that is stored in a file is declared here, and nothing else is.
 * This header does not depend on the buffer manager, so that the page kernel
 * (page/kernel.c) can be compiled, tested and fuzzed outside the server.
 *
 * A page is BLCKSZ bytes, seen as lines of 64 bytes:
 *
 *	 line 0				FPTPageHeader: PageHeaderData, links, level, encoding,
 *						number of nodes, high fence
 *	 lines 1 .. w		in-page root ("nonleaf node"): sorted separators, then
 *						one-byte node numbers
 *	 then x lines each	in-page leaf nodes, numbered from 0
 *	 ...				hole (pd_lower .. pd_upper), the last bytes of which
 *						hold the unlogged dead-entry hints
 *	 last line			FPTPageSpecial: key base, low fence, identity
 *
 * In an index of general keys tuples lie between the hole and the last line,
 * from there downwards, and the hints are the hole's first bytes.
 *
 * The in-page tree has two levels: that is what goal G of the fpB+-tree paper
 * (section 3.1.1) selects for every page size from 1 kB to 32 kB (its Table 2;
 * asserted by the kernel's unit tests).  See README.md there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_FORMAT_H
#define FPT_PAGE_FORMAT_H

#include "page/port.h"

#define FPT_MAGIC			0x45525446	/* "FTRE" */
#define FPT_VERSION			27	/* format written; see README's table */
#define FPT_VERSION_STRIPED	28	/* the same in the metapage of a striped one */
#define FPT_PAGE_ID			0xFB7E	/* last two bytes of every page */

#define FPT_METAPAGE		0	/* page number of the metapage */
#define FPT_FIRSTPAGE		1	/* page number of the first leaf, for ever; in a
									 * striped index, of the root */
#define FPT_NOPAGE			0	/* no sibling: nothing links to the metapage */

#define FPT_LINE			64	/* bytes of a line */
#define FPT_MAX_LEVEL		40	/* sanity bound of a page's level */
#define FPT_MAX_CAP			64	/* slots of a node: one bit each in FPTNode */
#define FPT_MAX_NODES		255 /* nodes of a page: one byte each in the root */

/*
 * Class of a key in the index's order.  A page never sees the infinities as
 * entries; they stand in the fences of the leftmost and rightmost pages (and
 * the first separator of a leftmost inner page means minus infinity whatever
 * it holds).
 */
#define FPT_CLS_MINF		0	/* below everything */
#define FPT_CLS_NULLFIRST	1	/* NULL, in a NULLS FIRST index */
#define FPT_CLS_VALUE		2	/* hi, lo hold the key's image */
#define FPT_CLS_NULLLAST	3	/* NULL, in a NULLS LAST index */
#define FPT_CLS_PINF		4	/* above everything */

/*
 * A heap TID as one number: block << 16 | offset.  TIDs are the last tie
 * breaker of the order, compared as numbers.  0 is below and FPT_MAX_TID above
 * every valid TID.
 */
#define FPT_MAX_TID			UINT64CONST(0xFFFFFFFFFFFF)

/*
 * A fence as it is stored; order is (cls, hi, lo, tid).  In an index of general
 * keys lo is the head and hi the offset of the fence's tuple in the page, 0 if
 * that is empty.
 */
typedef struct FPTFence
{
	uint64		hi;				/* image, upper half; 0 unless of 16 bytes */
	uint64		lo;				/* image, lower half, or the whole */
	uint64		tidcls;			/* bits 0-47: TID; bits 56-63: FPT_CLS_* */
} FPTFence;

/* Page flags */
#define FPT_F_META			0x0001	/* this is the metapage */
#define FPT_F_DELETED		0x0002	/* unlinked: free for re-use */
#define FPT_F_INCOMPLETE	0x0004	/* right sibling has no downlink yet */
#define FPT_F_ALL			0x0007

/*
 * Encoding of a page's entries.  Keys are stored as unsigned differences from
 * the page's base in kw bytes, 1 to 16.  Low nibble: kw - 1.  Heads of general
 * keys have at most 8 bytes; 8 (FPT_ENC_WIDE) stands for pages of few, wide
 * tuples: 8-byte heads, a root and nodes of one line each.  9 (FPT_ENC_DICT)
 * stands for leaf pages of few distinct general keys: instead of heads and
 * tuples entries have one-byte numbers into a dictionary of the page's keys
 * (see page/dict.c).
 *
 * The upper nibble tells the TIDs of a leaf page: 0, they have 6 bytes; else
 * FPT_KIND_LEAF6 less their kind.  Short TIDs, of 3 or 4 bytes, are the number
 * of a row: its block, relative to FPTPageSpecial.tidbase, times 2 to the power
 * of the page's rowbits, and its offset, which is below that.  Those of 4 bytes
 * have 8 rowbits, and so no offset may be above FPT_TID_MAXOFF; those of 3 may
 * have fewer, where rows are so wide that a block has few, and tell more blocks
 * then.  The lowest byte is not zero.  Where slots have a byte for their TIDs,
 * in leaf pages of images, these are relative to their node (FPTNode); those
 * that are too far from it are stored whole, in 4 bytes, with 8 bits for their
 * offset, and neighbours share one (FPTGeom.farbits).
 *
 * FPT_ENC_NEAR, in leaf pages of images: kw is the width of the root's
 * separators; the keys in a node are relative to its base, too, and have a byte
 * less (FPTNode).
 *
 * FPT_ENC_FIXED, in leaf pages of images of 16 bytes: the page's base, and all
 * that is relative to it, is without the fixed bits of a key, which all of the
 * page's have in common (page/fixed.h).  Then kw is 15 at most.
 *
 * FPT_ENC_LENT, in leaf pages of shorter images without NULLs, whose TIDs have
 * 3 bytes: keys lend their lowest bits to TIDs (page/lent.h).
 *
 * FPT_ENC_NUMBER, which is nothing of that: leaf pages of images whose entries
 * are numbers (page/number.h).
 */
#define FPT_ENC_KW_MASK		0x0F
#define FPT_ENC_TID_SHIFT	4
#define FPT_ENC_TID_MASK	0x30
#define FPT_ENC_NEAR		0x40
#define FPT_ENC_BITS		0x80	/* FPTPageSpecial.bits says something: */
#define FPT_ENC_FIXED		FPT_ENC_BITS	/* of keys of 16 bytes */
#define FPT_ENC_LENT		FPT_ENC_BITS	/* of shorter ones */
#define FPT_ENC_NUMBER		0x8F
#define FPT_ENC_WIDE		8
#define FPT_ENC_DICT		9
#define FPT_NENC			16	/* values of the low nibble */

#define FPT_MAX_ROWBITS		8
#define FPT_TID_MAXOFF		((1 << FPT_MAX_ROWBITS) - 1)
#define FPT_MAX_TIDBASE		(0xFFFFFFFF - (1 << 24))

/* Line 0 of every page but the metapage. */
typedef struct FPTPageHeader
{
	FPTPageStd	std;			/* PageHeaderData; pd_lower ends the nodes */
	uint32		left;			/* left sibling's page number or FPT_NOPAGE */
	uint32		right;			/* right sibling's, or FPT_NOPAGE */
	uint16		flags;			/* FPT_F_* */
	uint8		level;			/* 0 = leaf page; FPT_MAX_LEVEL at most */
	uint8		enc;			/* FPT_ENC_* */
	uint8		nnodes;			/* nodes below pd_lower, in use or free: what
								 * the encoding has room for at most */
	uint8		nkids;			/* entries of the in-page root, each of which
								 * has a node */
	uint8		nnull;			/* of these, those that hold NULL keys: the
								 * first ones (NULLS FIRST) or the last */
	uint8		ndict;			/* keys of the dictionary; 0: it has none.  In
								 * pages of numbers: lines of a node (5 bits)
								 * and bytes of a separator less 1 (3 bits) */
	FPTFence	high;			/* exclusive upper bound of the page's keys */
} FPTPageHeader;

/* Last line of every page, the metapage included (pd_special). */
typedef struct FPTPageSpecial
{
	uint64		base_hi;		/* what the stored keys are offsets from, as
								 * they are without fixed bits */
	uint64		base_lo;
	FPTFence	low;			/* inclusive lower bound of the page's keys */
	uint32		pageno;			/* this page's own number */
	uint32		indexid;		/* random, the same in all pages of an index */
	uint32		tidbase;		/* table's block that short TIDs are relative
								 * to, FPT_MAX_TIDBASE at most */
	uint16		prefix;			/* offset of the prefix's tuple, or 0 */
	uint16		bits;			/* FPT_ENC_FIXED: the fixed bits; FPT_ENC_LENT:
								 * how many bits keys lend; else zero */
	uint8		rowbits;		/* TIDs of less than 6 bytes: bits of an offset
								 * in a row's number, 1 to FPT_MAX_ROWBITS,
								 * which it is where they have 4; else zero */
	uint8		t;				/* pages of numbers: bits of a row; else 0 */
	uint8		unit;			/* ... bits of an entry that separators are
								 * without */
	uint8		reserved;		/* zero */
	uint16		version;		/* FPT_VERSION */
	uint16		pageid;			/* FPT_PAGE_ID */
} FPTPageSpecial;

/*
 * In-page leaf nodes.  A node that the root lists holds the entries from its
 * separator to the next one.
 *
 * With cap the node's number of slots they are keys[cap] of kw bytes,
 * payload[cap]: a TID, in inner pages a downlink of 4 bytes, and where slots
 * own tuples the offset of one in the page, 2 bytes, 0 for an empty tuple.  Of
 * keys wider than 8 bytes the lower 8 are the first part of the payload: what
 * precedes them is searched.  Keys and TIDs, packed as they are, have their
 * lowest byte first on all machines; downlinks and offsets are the machine's
 * numbers, unaligned.
 *
 * In a page that is FPT_ENC_NEAR keys are relative to the page's base and to
 * the node's: the searched part of the node's separator, rounded down to a
 * multiple of a quarter of what the searched part of a node's key can tell
 * (fpt_base_of() in page/layout.h).  NULLs have zeroes there, and as
 * separators.
 *
 * Where TIDs are relative to nodes a slot's TID is a byte: from 1 on the number
 * of the row less that in front of what is behind the slots (FPTGeom.far_off),
 * which has 4 bytes; the highest ones, 2 to the power of FPTGeom.farbits for
 * each that follows there, are for the rows of that far TID, of 4 bytes: its
 * lowest bits, as many as farbits says, are set, and the slot has those of its
 * row; or it is zero, and free.  So many rows that follow each other in the
 * table take a byte each, and some that are anywhere take five, or less where
 * some of these follow each other.
 *
 * A slot is free if its TID is zero; where slots own tuples, if that of an
 * offset is, the TID's first byte or two.  The entries' order is that of their
 * keys and TIDs, wherever in the node they are, and is nowhere written down.
 * Where slots own tuples it is that of their heads, and of equal heads that of
 * the slots.
 *
 * Nodes of inner pages begin with this header, and have perm[cap] of one byte
 * behind the keys.  Bit s of "used" says that slot s holds an entry; perm[0 ..
 * n - 1], n the number of bits set, are the used slots in key order.  The other
 * bytes of perm mean nothing.
 */
typedef struct FPTNode
{
	uint64		used;
} FPTNode;

/*
 * A leaf page of numbers has, from line 1 on, separators, the numbers of the
 * nodes in use, and their shapes, which are a byte each: bytes of a slot less
 * 1; all with room for as many nodes as there may be (fpt_num_place() in
 * page/number.c).  Then nodes, up to pd_lower.  From pd_upper on to the last
 * line are heads: a label of 2 bytes, and an image.  The hints are the last
 * bytes of the hole, 8 for each node that there may be.
 *
 * A slot has the lowest bytes of an entry's number, which is the label, then
 * FPTPageSpecial.t bits of the row: its block, and rowbits bits of its offset.
 * It is free if the first byte, which is the lowest one, is zero.  Separators
 * are without the lowest bits of a number, as many as "unit" says.
 */

/* Kinds of pages as to their payload, for the table of node widths. */
#define FPT_KIND_LEAF1		0	/* level 0, TIDs relative to nodes */
#define FPT_KIND_LEAF3		1	/* ... 3-byte TIDs */
#define FPT_KIND_LEAF4		2	/* ... 4-byte TIDs */
#define FPT_KIND_LEAF6		3	/* ... 6-byte TIDs */
#define FPT_KIND_INNER		4	/* 6-byte TIDs and 4-byte downlinks */
#define FPT_KIND_NEAR		5	/* added to a leaf's: FPT_ENC_NEAR */
#define FPT_NKINDS			9
#define FPT_KIND_GENERAL	9	/* added to these: general keys */
#define FPT_KIND_DICT		18	/* ... leaf pages with a dictionary */
#define FPT_NKW				16	/* key widths 1 to 16 */

/* Node widths in lines, chosen when the index is created. */
typedef struct FPTWidths
{
	uint8		w;				/* the in-page root's */
	uint8		x;				/* an in-page leaf node's */
} FPTWidths;

/* Key classes */
#define FPT_KEYCLASS_IMAGE	1
#define FPT_KEYCLASS_GENERAL 2	/* 8-byte heads and tuples */
#define FPT_KEYCLASS_SORTKEY 3	/* no more: the same, sort keys in heads */

/*
 * General keys: longest tuple.  Three of them, an entry and both fences, must
 * fit in a page with the narrowest nodes, whose header, special, root and node
 * take a line each; each has a length of 2 bytes; 8 bytes are for the hints.
 */
#define FPT_MAX_TUPLE		((BLCKSZ - 4 * FPT_LINE - 8) / 3 - 2)

/* The metapage's contents, at FPT_META_OFFSET. */
typedef struct FPTMetaData
{
	uint32		magic;			/* FPT_MAGIC */
	uint32		version;		/* FPT_VERSION, FPT_VERSION_STRIPED */
	uint32		indexid;		/* random identity, see FPTPageSpecial */
	uint8		keyclass;		/* FPT_KEYCLASS_* */
	uint8		keysize;		/* bytes of a key's image: 4, 8 or 16; of a
								 * general key's head: 8 */
	uint8		nullsfirst;		/* 1: NULLs sort before all values */
	uint8		descending;		/* 1: images are complemented */
	uint16		linesize;		/* FPT_LINE */
	uint16		nstripes;		/* 1: pages live in this relation's main fork;
								 * else OIDs of stripes follow this structure */
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];	/* by the low nibble of enc
												 * and kind; 0: none */
	uint32		sortversion;	/* 0; other than that with a key class of old */
	uint32		collversion;	/* of all collations of the order, 0: none */
	uint32		root;			/* page number of the root: FPT_FIRSTPAGE while
								 * there is one leaf, and in a striped index;
								 * else another one, which does not change */
	uint32		reserved[5];	/* zero */
} FPTMetaData;

#define FPT_META_OFFSET		FPT_LINE

/*
 * A tuple as it is stored: its length, one byte up to 127, else two of which
 * the first has the high bit set and is the more significant; then its bytes.
 */
#define FPT_TUPLE_LONG		0x80

/*
 * Where slots own tuples and the first column is a string in the order of its
 * bytes, a page may have a prefix: a tuple of so many bytes, with which that
 * column of all its values begins.  Heads and tuples of its entries, NULLs
 * apart, are those of the same keys without these bytes.  Its fences are whole.
 * From FPT_MIN_PREFIX on that saves more than the heads grow by, which without
 * it are the same in all keys that share these bytes.
 */
#define FPT_MIN_PREFIX		8
#define FPT_MAX_PREFIX		255

/*
 * Where slots own tuples pd_upper is fewer bytes than these below the lowest
 * tuple, and what is between them is zero, so that not every insertion has to
 * change it.
 */
#define FPT_TUPLE_RESERVE	128

/*
 * Dictionary: from pd_upper on heads of 8 bytes, then offsets of tuples of 2
 * bytes, ndict of each, in the order of keys.
 */
#define FPT_MAX_DICT		255
#define FPT_DICT_ITEM		((int) (sizeof(uint64) + sizeof(uint16)))

/* Bytes and lines between the header line and the special line. */
#define FPT_PAGE_LINES		(BLCKSZ / FPT_LINE)
#define FPT_BODY_LINES		(FPT_PAGE_LINES - 2)
#define FPT_SPECIAL_OFFSET	(BLCKSZ - FPT_LINE)

/* The first and the last line of any BLCKSZ bytes, aligned as pages are. */
static inline FPTPageHeader *
fpt_header(void *page)
{
	return (FPTPageHeader *) page;
}

static inline FPTPageSpecial *
fpt_special(void *page)
{
	return (FPTPageSpecial *) ((char *) page + FPT_SPECIAL_OFFSET);
}

#endif							/* FPT_PAGE_FORMAT_H */

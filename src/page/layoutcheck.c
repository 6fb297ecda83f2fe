/*-------------------------------------------------------------------------
 *
 * page/layoutcheck.c
 *	  Page kernel: where every field of the on-disk format lies.
 *
 * No code, only assertions at compile time: whatever a compiler, a platform or
 * an edit of page/format.h makes of the structures, files that were written
 * before must mean the same.  A change here is a change of the format, and
 * needs another FPT_VERSION.
 *
 *-------------------------------------------------------------------------
 */
#include "page/format.h"
#include "page/layout.h"
#include "page/port.h"

#define AT(type, field, offset) \
	StaticAssertDecl(offsetof(type, field) == (offset), \
					 #type "." #field " is not where it was")
#define SIZE(type, size) \
	StaticAssertDecl(sizeof(type) == (size), #type " has another size")
#define VALUE(name, value) \
	StaticAssertDecl((name) == (value), #name " has another value")

/* The server's own header */
SIZE(FPTPageStd, 24);
AT(FPTPageStd, pd_checksum, 8);
AT(FPTPageStd, pd_flags, 10);
AT(FPTPageStd, pd_lower, 12);
AT(FPTPageStd, pd_upper, 14);
AT(FPTPageStd, pd_special, 16);
AT(FPTPageStd, pd_pagesize_version, 18);
AT(FPTPageStd, pd_prune_xid, 20);

/* Fences */
SIZE(FPTFence, 24);
AT(FPTFence, hi, 0);
AT(FPTFence, lo, 8);
AT(FPTFence, tidcls, 16);

/* First line of a page */
SIZE(FPTPageHeader, FPT_LINE);
AT(FPTPageHeader, std, 0);
AT(FPTPageHeader, left, 24);
AT(FPTPageHeader, right, 28);
AT(FPTPageHeader, flags, 32);
AT(FPTPageHeader, level, 34);
AT(FPTPageHeader, enc, 35);
AT(FPTPageHeader, nnodes, 36);
AT(FPTPageHeader, nkids, 37);
AT(FPTPageHeader, nnull, 38);
AT(FPTPageHeader, ndict, 39);
AT(FPTPageHeader, high, 40);

/* Last line of a page */
SIZE(FPTPageSpecial, FPT_LINE);
AT(FPTPageSpecial, base_hi, 0);
AT(FPTPageSpecial, base_lo, 8);
AT(FPTPageSpecial, low, 16);
AT(FPTPageSpecial, pageno, 40);
AT(FPTPageSpecial, indexid, 44);
AT(FPTPageSpecial, tidbase, 48);
AT(FPTPageSpecial, prefix, 52);
AT(FPTPageSpecial, bits, 54);
AT(FPTPageSpecial, rowbits, 56);
AT(FPTPageSpecial, t, 57);
AT(FPTPageSpecial, unit, 58);
AT(FPTPageSpecial, reserved, 59);
AT(FPTPageSpecial, version, 60);
AT(FPTPageSpecial, pageid, 62);

/* In-page leaf nodes, and what is in their slots */
SIZE(FPTNode, 8);
AT(FPTNode, used, 0);
VALUE(FPT_MAX_CAP, 8 * sizeof(uint64));
VALUE(FPT_MAX_NODES, 255);
VALUE(FPT_MAX_ROWBITS, 8);
VALUE(FPT_MAX_TIDBASE, 0xFEFFFFFF);
VALUE(FPT_TUPLE_LONG, 0x80);
VALUE(FPT_TUPLE_RESERVE, 128);
VALUE(FPT_MAX_DICT, 255);
VALUE(FPT_DICT_ITEM, 10);

/* Metapage */
SIZE(FPTWidths, 2);
AT(FPTWidths, w, 0);
AT(FPTWidths, x, 1);
SIZE(FPTMetaData, 340);
AT(FPTMetaData, magic, 0);
AT(FPTMetaData, version, 4);
AT(FPTMetaData, indexid, 8);
AT(FPTMetaData, keyclass, 12);
AT(FPTMetaData, keysize, 13);
AT(FPTMetaData, nullsfirst, 14);
AT(FPTMetaData, descending, 15);
AT(FPTMetaData, linesize, 16);
AT(FPTMetaData, nstripes, 18);
AT(FPTMetaData, widths, 20);
AT(FPTMetaData, sortversion, 308);
AT(FPTMetaData, collversion, 312);
AT(FPTMetaData, root, 316);
AT(FPTMetaData, reserved, 320);
VALUE(FPT_META_OFFSET, 64);

/* Numbers that are stored */
VALUE(FPT_MAGIC, 0x45525446);
VALUE(FPT_PAGE_ID, 0xFB7E);
VALUE(FPT_METAPAGE, 0);
VALUE(FPT_FIRSTPAGE, 1);
VALUE(FPT_CLS_MINF, 0);
VALUE(FPT_CLS_NULLFIRST, 1);
VALUE(FPT_CLS_VALUE, 2);
VALUE(FPT_CLS_NULLLAST, 3);
VALUE(FPT_CLS_PINF, 4);
VALUE(FPT_F_META, 1);
VALUE(FPT_F_DELETED, 2);
VALUE(FPT_F_INCOMPLETE, 4);
VALUE(FPT_ENC_KW_MASK, 0x0F);
VALUE(FPT_ENC_TID_SHIFT, 4);
VALUE(FPT_ENC_TID_MASK, 0x30);
VALUE(FPT_ENC_NEAR, 0x40);
VALUE(FPT_ENC_FIXED, 0x80);
VALUE(FPT_ENC_LENT, 0x80);
VALUE(FPT_ENC_WIDE, 8);
VALUE(FPT_ENC_DICT, 9);
VALUE(FPT_KEYCLASS_IMAGE, 1);
VALUE(FPT_KEYCLASS_GENERAL, 2);
VALUE(FPT_KEYCLASS_SORTKEY, 3);
VALUE(FPT_KIND_LEAF1, 0);
VALUE(FPT_KIND_LEAF3, 1);
VALUE(FPT_KIND_LEAF4, 2);
VALUE(FPT_KIND_LEAF6, 3);
VALUE(FPT_KIND_INNER, 4);
VALUE(FPT_KIND_NEAR, 5);
VALUE(FPT_NKW, 16);

/* Offsets within a page and lengths of tuples are stored in 16 bits */
StaticAssertDecl(BLCKSZ <= 32768, "offsets in a page must fit in 15 bits");
StaticAssertDecl(FPT_MAX_TUPLE < FPT_TUPLE_LONG << 8,
				 "the length of a tuple must fit in 15 bits");
StaticAssertDecl(FPT_BODY_LINES * FPT_LINE / 9 * 4 <= FPT_MAX_ENTRIES,
				 "FPT_MAX_ENTRIES must be an upper bound");

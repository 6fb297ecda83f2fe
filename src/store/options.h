/*-------------------------------------------------------------------------
 *
 * store/options.h
 *	  Storage parameters of an index, and node widths for tests.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_OPTIONS_H
#define FPT_STORE_OPTIONS_H

/*
 * Reloptions, as build_reloptions() fills them in: rd_options points to one, or
 * is NULL if none is set.  Within the bounds that _PG_init() declares.
 */
typedef struct FPTOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int			fillfactor;		/* percent of a leaf page's slots, at build */
	int			tablespaces;	/* where the list of them is, 0: none */
} FPTOptions;

#define FPT_DEFAULT_FILLFACTOR	90
#define FPT_FEW_FILLFACTOR		96	/* the default where keys take a byte */
#define FPT_MIN_FILLFACTOR		10
#define FPT_INNER_FILLFACTOR	90	/* bulk-built inner pages */

/*
 * What fptree.debug_node_lines says of index files made from now on: widths of
 * the nodes in a page, up to FPT_MAX_NODE_LINES; 0: goal G.  For tests, whose
 * few rows are to fill many nodes; nobody else needs others than goal G's.
 */
typedef struct FPTNodeLines
{
	int			w;				/* lines of nonleaf nodes */
	int			x;				/* lines of leaf nodes */
} FPTNodeLines;

#define FPT_MAX_NODE_LINES		32

extern FPTNodeLines fpt_debug_lines;

#endif							/* FPT_STORE_OPTIONS_H */

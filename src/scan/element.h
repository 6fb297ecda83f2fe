/*-------------------------------------------------------------------------
 *
 * scan/element.h
 *	  The leaves of an array's elements, as their parents have them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_ELEMENT_H
#define FPT_SCAN_ELEMENT_H

#include "access/genam.h"
#include "storage/buf.h"

#include "scan/range.h"
#include "scan/state.h"

/* Elements that a leaf parent is asked about at a time. */
#define FPT_ELEMENTS_MAX	16

/*
 * Leaves that one leaf parent had for elements of an array, one after the
 * other: hints, as any remembered page number.
 */
typedef struct FPTElementLeaves
{
	int			first;			/* element of leaf[0] */
	int			n;
	int			most;			/* to ask about next */
	int64		read;			/* blocks that the session had read by then */
	uint32		leaf[FPT_ELEMENTS_MAX];
	uint32		fraction[FPT_ELEMENTS_MAX]; /* see fpt_getbuf_hot() */
} FPTElementLeaves;

/*
 * An array's elements may be so close together that the scan comes to leaf
 * after leaf: then it goes on to the next one, and leaves are read ahead up to
 * the last element.  It is so where the step before was one to the next leaf
 * and another element, and this one, as far as is known, is, too.  "jump": the
 * element begins after where the scan has come to, the next leaf.  Raises
 * nothing.
 */
extern bool fpt_array_dense(IndexScanDesc scan, FPTScanOpaque *so,
							uint32 hint, bool jump, int element);

/*
 * The leaf that covers the beginning of r, an element of an array that a scan
 * of image keys jumps to, forward, share-locked and pinned; InvalidBuffer, and
 * nothing locked: elements are close together, or the scan must descend.
 *
 * No page is locked before.  A leaf parent is asked about as many elements as
 * it has, up to FPT_ELEMENTS_MAX, so that most take no descent, and their
 * leaves can be asked for.  Raises an error if a page is damaged; may be
 * cancelled.  Allocates in the scan's context.
 */
extern Buffer fpt_element_leaf(IndexScanDesc scan, FPTScanOpaque *so,
							   const FPTRange *r);

#endif							/* FPT_SCAN_ELEMENT_H */

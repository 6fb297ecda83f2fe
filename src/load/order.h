/*-------------------------------------------------------------------------
 *
 * load/order.h
 *	  Sorting general keys that have the same head.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_ORDER_H
#define FPT_BUILD_ORDER_H

#include "load/item.h"
#include "page/layout.h"

/* Items that fpt_gorder_sort() has room for at least, however few it sorts. */
#define FPT_GORDER_TMP		128

/*
 * Sort items whose records have the same class and head.  tmp has room for half
 * of them, but for at least FPT_GORDER_TMP.  Destroys class and head of the
 * items.  Compares general keys: may raise, or be cancelled; what comparison
 * functions allocate stays in the current context.
 */
extern void fpt_gorder_sort(const FPTLayout *l, char *const *chunks,
							FPTItem *items, size_t n, FPTItem *tmp);

#endif							/* FPT_BUILD_ORDER_H */

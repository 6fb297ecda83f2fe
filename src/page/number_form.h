/*-------------------------------------------------------------------------
 *
 * page/number_form.h
 *	  Making leaf pages of numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_NUMBER_FORM_H
#define FPT_PAGE_NUMBER_FORM_H

#include "page/number.h"

/*
 * Form a page of the first of n sorted entries, which are values, until "fill"
 * percent of it are full; "all": of all of them, however full it gets.  Returns
 * how many it has; 0: the page means nothing.  Links, flags and hints are
 * zero.
 */
extern int	fpt_num_form(const FPTLayout *l, void *page,
						 const FPTPageSpec *spec, const FPTEntry *entries,
						 int n, int fill, bool all);

/* Do keys of these sorted entries repeat, so that it may be worth while? */
extern bool fpt_num_repeats(const FPTEntry *entries, int n);

/*
 * May there be a page of all of these?  False: fpt_num_form() would fail, which
 * is known before it begins.
 */
extern bool fpt_num_may_form(const FPTLayout *l, const FPTPageSpec *spec,
							 const FPTEntry *entries, int n);

/* Bytes that such a page's root, nodes and heads take. */
extern int	fpt_num_bytes(const FPTNumbers *pg);

/* Bytes of nodes and heads of a page filled to "fill" percent. */
extern int	fpt_num_space_for(const FPTNumbers *pg, int fill);

/* The plan of a node: bytes of a slot, and how many entries it takes. */
typedef struct FPTNumPlan
{
	int			w;
	int			take;
} FPTNumPlan;

/*
 * Plan a node of the first of n ascending numbers, at most "percent" of its
 * slots: choose the width with which it takes most of them.  "sep": its
 * separator, in units; "end": that of the next node, if it takes all.  False:
 * there is no such node.
 */
extern bool fpt_num_plan(const FPTNumbers *pg, const uint64 *e, int n,
						 int percent, uint64 sep, uint64 end,
						 FPTNumPlan *plan);

/* Write all entries of a kid's node, with w bytes each.  Clears its hints. */
extern void fpt_num_write(const FPTNumbers *pg, int kid, int w,
						  const uint64 *e, int n);

extern void fpt_num_set_sep(const FPTNumbers *pg, int kid, uint64 sep);

/*
 * Add an empty node at this place of the root, with this separator and slots of
 * w bytes.  False: there is no room, and nothing is changed.
 */
extern bool fpt_num_add_node(FPTNumbers *pg, int kid, uint64 sep, int w);

#endif							/* FPT_PAGE_NUMBER_FORM_H */

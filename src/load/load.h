/*-------------------------------------------------------------------------
 *
 * load/load.h
 *	  Writing a whole index from its keys in ascending order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_LOAD_H
#define FPT_BUILD_LOAD_H

#include "utils/relcache.h"

#include "page/layout.h"

typedef struct FPTLoad FPTLoad;

/*
 * Write a whole index where there is nothing yet: begin, add all keys in
 * ascending order, end.  Nothing is durable before the end.  "init": write what
 * an unlogged index is reset to.  The stripes are there, and empty.  "blocks"
 * is how many the table has.
 *
 * The result is in a context of its own below the current one, which the end
 * deletes.  The metapage's contents, and so the layout, are decided here: reads
 * catalogues, and raises an error if the options leave no usable page.
 */
extern FPTLoad *fpt_load_begin(Relation rel, bool init, const Oid *stripes,
							   int nstripes, uint32 blocks);

/*
 * No row of those that will be added has an offset above this one.  To be told
 * before the first one is added; else rows may have any.  Raises nothing.
 */
extern void fpt_load_offsets(FPTLoad *load, uint32 maxoff);

/*
 * Add a key, whose tuple is copied.  May write pages and log them; may be
 * cancelled, and raise.
 */
extern void fpt_load_add(FPTLoad *load, const FPTKey *key);

/*
 * From now on no page is written: each goes to the sink when it is complete,
 * the leaves in order, an inner page when the first leaf after its last child
 * is; the root comes last, the metapage not at all.  Call it before
 * the first key is added.  The page is good for the call; neither the sink nor
 * loading needs a file then, and may raise only what keys' functions do.
 */
typedef void (*FPTLoadSink) (void *arg, const FPTLayout *l, void *page);
extern void fpt_load_divert(FPTLoad *load, FPTLoadSink sink, void *arg);

/* The layout of the index that is being written; good until the end. */
extern const FPTLayout *fpt_load_layout(FPTLoad *load);

/*
 * Close all levels, write root and metapage, and make the files durable, or
 * have that done at commit.  May be cancelled, and raise, as writing may.
 */
extern void fpt_load_end(FPTLoad *load);

#endif							/* FPT_BUILD_LOAD_H */

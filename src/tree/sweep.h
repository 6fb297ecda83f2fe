/*-------------------------------------------------------------------------
 *
 * tree/sweep.h
 *	  Reading all leaves: what is asked for ahead.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_SWEEP_H
#define FPT_TREE_SWEEP_H

#include "utils/relcache.h"

#include "store/index.h"
#include "tree/prefetch.h"

/* In the current memory context; ix is the walk's, and stays where it is. */
extern FPTSweep *fpt_sweep_begin(Relation rel, FPTIndex *ix);

/*
 * The file is read from front to back: page "pageno" is about to be read, those
 * before it have been.
 */
extern void fpt_sweep_front(FPTSweep *s, uint32 pageno);

/* The walk is about to read its next leaf.  No lock may be held. */
extern void fpt_sweep_step(FPTSweep *s);

extern void fpt_sweep_end(FPTSweep *s);

#endif							/* FPT_TREE_SWEEP_H */

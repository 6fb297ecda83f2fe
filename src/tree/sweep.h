/*-------------------------------------------------------------------------
 *
 * tree/sweep.h
 *	  Reading a whole level: what is asked for ahead.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_SWEEP_H
#define FPT_TREE_SWEEP_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "store/index.h"
#include "tree/prefetch.h"

/*
 * Most pages to read ahead of a walk while VACUUM is told to be easy on the
 * disks, which counts what the walk reads but not what is read ahead of it:
 * what is read at once is 32 MB.
 */
#define FPT_AHEAD_DELAYED	4096

/*
 * Returns the state of the read-ahead of a walk along a level, below the
 * root's, in the current memory context, for fpt_sweep_end(); ix is the walk's,
 * and stays where it is.  The pages of the level above will be read by way of
 * "strategy", as the walk's own.  Reads no page, but reads catalogues: ix is a
 * copy.
 */
extern FPTSweep *fpt_sweep_begin(Relation rel, FPTIndex *ix, int level,
								 BufferAccessStrategy strategy);

/*
 * The file is read from front to back: page "pageno" is about to be read, those
 * before it have been.  No lock may be held (L7).  Returns up to where it has
 * been asked for, 0 if nothing is: it is left to the operating system, or there
 * is no read-ahead.  Raises an error if the file cannot be opened.
 */
extern uint32 fpt_sweep_front(FPTSweep *s, uint32 pageno);

/*
 * Pages before this one were asked for, and after the walk the whole file is
 * read from front to back.  So what lies around a page is no loss, if the index
 * fits in what may be read ahead: the 16 pages of the file that it is one of
 * are one request, which is made once: "around" has a bit for each 16 of the
 * first npages pages, all of them zero at first, and lives as long as any sweep
 * that has it.  Else, or if asked is 0, pages are asked for as they are.
 * Before the first fpt_sweep_step().
 */
#define FPT_REQUEST_PAGES	16	/* Linux cuts what it is asked for to the larger
									 * of the device's largest read and
									 * read_ahead_kb, 128 kB by default */

extern void fpt_sweep_around(FPTSweep *s, uint32 asked, uint8 *around,
							 uint32 npages);

/*
 * Of which leaves is the walk, if not of all?  "next" tells the one to come
 * next after those it has told, with the other pages that the walk will need
 * for it, FPT_NOPAGE in the places that are left; false: it knows none now.
 * Called with no page locked; it may raise, and be cancelled.
 */
#define FPT_LEAF_PAGES		4

typedef bool (*FPTSweepNext) (void *arg, uint32 pages[FPT_LEAF_PAGES]);

/* Before the first fpt_sweep_step(); arg is for "next", which it hands it. */
extern void fpt_sweep_choose(FPTSweep *s, FPTSweepNext next, void *arg);

/*
 * The walk is about to read its next page.  No lock may be held.  Reads pages
 * of the level above, one locked at a time, sleeps as vacuum_cost_delay says,
 * and may be cancelled.  Its memory grows where s is.  Raises an error if one
 * of these is damaged, or a file cannot be read.
 */
extern void fpt_sweep_step(FPTSweep *s);

/* Frees the state; what was asked for may be under way still. */
extern void fpt_sweep_end(FPTSweep *s);

#endif							/* FPT_TREE_SWEEP_H */

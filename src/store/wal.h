/*-------------------------------------------------------------------------
 *
 * store/wal.h
 *	  The one place that writes WAL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_WAL_H
#define FPT_STORE_WAL_H

#include "storage/buf.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"

#include "page/layout.h"
#include "store/index.h"

/*
 * Insert an entry into a free slot of a locked page, logged by hand.  Anything
 * but FPT_OK: nothing was changed.  The lock is exclusive, and kept.  Comparing
 * general keys may raise, before anything is changed; what follows is a
 * critical section (W1).
 */
extern FPTResult fpt_wal_insert(Relation rel, FPTIndex *ix, Buffer buf,
								const FPTEntry *e);

/*
 * Will the next change of this locked page be logged as an image, as it is the
 * first one since a checkpoint began?
 */
extern bool fpt_wal_image_due(Relation rel, Buffer buf);

/*
 * Any other change: up to four pages in one record.  fpt_wal_page() gives a
 * private copy of a locked page to be changed (blank = new contents, logged
 * whole: W3), fpt_wal_new() that of a page which fpt_allocbuf() gave out, and
 * whose contents are new in any case; fpt_wal_finish() applies and logs all of
 * them in one critical section (W1), but for what W9 says of new pages,
 * fpt_wal_abort() forgets them.
 *
 * Copies are in the current context, two pages' worth for each, three for a new
 * one, and freed by the last two.  The same buffer twice gives the same copy.
 * Locks and pins are the caller's, exclusive, and stay; pages are registered in
 * the order in which they were asked for first, which is that of replay (L8).
 * Whatever can fail, for want of memory, does so before anything is changed.
 */
typedef struct GenericXLogState FPTWal;

extern FPTWal *fpt_wal_start(Relation rel, const FPTLayout *l);
extern Page fpt_wal_page(FPTWal *wal, Buffer buf, bool blank);
extern Page fpt_wal_new(FPTWal *wal, Buffer buf);
extern void fpt_wal_finish(FPTWal *wal);

/*
 * All that is changed in the page of that buffer, hints apart, is within these
 * ranges, which are the caller's until fpt_wal_finish(): the rest need not be
 * compared.
 */
extern void fpt_wal_changed(FPTWal *wal, Buffer buf, const FPTChanges *changed);
extern void fpt_wal_abort(FPTWal *wal);

/*
 * Entries of rows that snapshots older than "horizon" may see are about to be
 * removed: have standbys cancel queries that hold such a snapshot.  Not in a
 * critical section.  Of an unlogged index there is nothing to do.
 */
extern void fpt_wal_conflict(Relation rel, Relation heapRel, uint32 pageno,
							 TransactionId horizon);

#endif							/* FPT_STORE_WAL_H */

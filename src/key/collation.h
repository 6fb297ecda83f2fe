/*-------------------------------------------------------------------------
 *
 * key/collation.h
 *	  Versions of the collations that an index's order depends on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_COLLATION_H
#define FPT_KEY_COLLATION_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

/*
 * A hash of the versions of all collations that an index's order depends on; 0:
 * there are none.  Versions are hashed in ascending order, so that neither the
 * order of the columns nor that in which catalogues were read counts.  The
 * index is locked; reads catalogues, so that no page may be, and invalidations
 * may be processed.  May raise, or be cancelled.
 */
extern uint32 fpt_collations_version(Relation rel);

/*
 * Is the order of an index's keys one that is not known to contradict itself
 * anywhere?  Functions of PostgreSQL's own, with collations that compare bytes
 * or are the C library's, make such orders.  ICU has collations that do not,
 * and nobody knows what an extension's function does.  Needs and does the same
 * as fpt_collations_version().
 */
extern bool fpt_order_is_sound(Relation rel);

/*
 * Warn, once in a session, of an index with other ones (FPTIndex.stale).  A
 * parallel worker does not: its leader has.  Raises nothing above WARNING.
 */
extern void fpt_warn_stale(Relation rel);

/*
 * Returns true the first time that it is called for this index and this list.
 * Keeps the index's OID in *seen, in TopMemoryContext, for good.
 */
extern bool fpt_first_time(List **seen, Oid index);

#endif							/* FPT_KEY_COLLATION_H */

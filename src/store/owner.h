/*-------------------------------------------------------------------------
 *
 * store/owner.h
 *	  Whose a stripe is.
 *
 * Metapages say so, and names do not (README.md here, "Stripes", S1).
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_OWNER_H
#define FPT_STORE_OWNER_H

#include "access/amapi.h"
#include "utils/relcache.h"

/* Whose is a stripe? */
typedef enum FPTOwner
{
	FPT_OWNER_NONE,				/* no index names it */
	FPT_OWNER_FOUND,
	FPT_OWNER_UNKNOWN			/* some index may, whose metapage is damaged */
} FPTOwner;

/*
 * The stripes that the metapage of an index names, which may be anything by
 * now.  Returns their number.
 *		0: it names none, or this is no index of the access method that has this
 *			callback, is gone, or is temporary, which no striped one is, and
 *			nobody else can read.
 *		-1: the metapage cannot be read.
 * Locks the index, AccessShareLock, to the end of the transaction.  oids has
 * room for FPT_MAX_STRIPES.  Reads catalogues; may wait for the lock.
 */
extern int	fpt_stripes_of_living(Oid indexid, aminsert_function aminsert,
								  Oid *oids);

/* Is this among n OIDs?  n may be -1, of a metapage that cannot be read: no. */
extern bool fpt_oid_is_in(Oid oid, const Oid *oids, int n);

/*
 * Which index has a metapage that names a stripe?  *owner is that index, or
 * InvalidOid.  "but": an index that is not asked.  Opens all indexes that are
 * no btrees, and locks each for a moment, that one to the end of the
 * transaction: the last resort.  Reads catalogues; may wait for locks.
 */
extern FPTOwner fpt_stripe_owner(Oid stripe, aminsert_function aminsert,
								 Oid but, Oid *owner);

/*
 * Before a build: of the stripes that have the index's name, leave it to those
 * that are the index's, and give it to others that are, the k-th name to the
 * k-th.  Those of others stay theirs.  The index is locked as for a build.
 * Locks stripes that it renames, AccessExclusiveLock, and indexes that such
 * stripes are named after, AccessShareLock, to the end of the transaction.
 * Reads and changes catalogues; may raise.
 */
extern void fpt_stripes_claim(Relation index);

#endif							/* FPT_STORE_OWNER_H */

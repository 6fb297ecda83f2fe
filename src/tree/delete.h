/*-------------------------------------------------------------------------
 *
 * tree/delete.h
 *	  Removing entries of a leaf.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_DELETE_H
#define FPT_TREE_DELETE_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "page/layout.h"
#include "store/index.h"

/*
 * Remove entries from a leaf that is locked exclusively, and stays so: of each
 * node the slots in gone[] at its number.  One record.  Entries that stay may
 * be in other slots afterwards: if the page's image is logged it is packed.
 * Raises an error, with nothing changed, if the leaf is damaged.  What it
 * allocates, in the current context, it frees.
 */
extern void fpt_leaf_remove(Relation rel, const FPTLayout *l, Buffer buf,
							const uint64 gone[FPT_MAX_NODES]);

/* What an insertion knows that helps to find entries of dead rows. */
typedef struct FPTDelete
{
	Relation	heapRel;
	bool		versions;		/* the entry is one of a new version of a row
								 * whose old entries are equal to it */
	bool		unique;			/* uniqueness was checked: equal entries are
								 * old versions */
	int			stage;			/* what was tried; 0 at first */
	uint32		twicepage;		/* a leaf that only a dead index can have, */
	const char *twice;			/* and why; NULL: none was met */
} FPTDelete;

/*
 * A locked leaf has the entry that it shall get, or two of one TID: damage, but
 * in a dead index.  The caller goes on, and it is said when no page is locked
 * any more (src/tree/README.md, "A dead index").
 */
static inline void
fpt_note_twice(FPTDelete *del, uint32 pageno, const char *what)
{
	del->twicepage = pageno;
	del->twice = what;
}

/*
 * An exclusively locked leaf has no room for e: remove entries of dead rows, if
 * there are any that have not been looked for.  False: split it.  Asks the
 * table, so that relcache invalidations may be processed: *ix is the caller's
 * copy.  True: some were removed, so try again.  The leaf stays locked, and
 * heap pages are meanwhile, to read, one at a time (L6).  Cannot be cancelled.
 * Raises an error if the leaf is damaged, and whatever the table raises.  Frees
 * what it allocates; del->stage says what need not be tried again.
 */
extern bool fpt_delete_step(Relation rel, FPTIndex *ix, Buffer buf,
							const FPTEntry *e, FPTDelete *del);

/*
 * The same if it is the node that e belongs in which has no room, the leaf
 * perhaps has: before entries are moved to make some.  True: there may still be
 * none in the node.  False: nothing has changed.
 */
extern bool fpt_delete_early(Relation rel, FPTIndex *ix, Buffer buf,
							 const FPTEntry *e, FPTDelete *del);

#endif							/* FPT_TREE_DELETE_H */

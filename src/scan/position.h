/*-------------------------------------------------------------------------
 *
 * scan/position.h
 *	  Ranges of general indexes, one after the other: see scan/qual.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_POSITION_H
#define FPT_SCAN_POSITION_H

#include "page/layout.h"
#include "scan/qual.h"
#include "scan/range.h"

/*
 * The first range with positions at or above "from" (dir > 0), or the last one
 * with positions below it (dir < 0); false if there is none, and then *r means
 * nothing.  Nothing between "from" and its near end matches.  "from" is a
 * fence, an entry of a locked page, the end of the previous range, or of class
 * FPT_CLS_MINF or _PINF.  The range's keys live until the next call that does
 * not pass the end of a range; if "from" is an entry, as long as its page is
 * locked.
 *
 * A page may be locked, unless the quals are a point and this is the first call
 * from anything but FPT_CLS_MINF or the end of a range: they are worked out
 * then.  Runs functions of types (L7), which may raise; takes a binary search
 * of each column's array (L10).
 */
extern bool fpt_quals_range(FPTQuals *q, const FPTKey *from, int dir,
							FPTRange *r);

/*
 * How far may a scan go on from leaf to leaf?  The end of what begins with the
 * values that the quals fix: of the range that fpt_quals_range() was asked for
 * last, and of those that follow it if it is a part.  The quals are no point.
 * The key lives as long as that range's, and no longer than until the next call
 * of this or fpt_quals_array_end(); false if there is none.  Runs functions of
 * types, which may raise.
 */
extern bool fpt_quals_walk_end(FPTQuals *q, int dir, FPTKey *end);

/*
 * The same, of a range of an array's element (FPTRange.element is not -1):
 * the end of the last one's, which there always is.
 */
extern void fpt_quals_array_end(FPTQuals *q, int dir, FPTKey *end);

/*
 * A key after all entries that begin with the position's first natts values
 * (dir > 0), or before them: *pos is the caller's, who has set values and
 * isnull, and must live as long as the key.  May be passed to fpt_quals_range()
 * as the end of a range, for this direction.  As fpt_general_search_key(): no
 * page is locked.
 */
extern void fpt_quals_beside(FPTQuals *q, FPTPosition *pos, int natts,
							 int dir, FPTKey *key);

/*
 * Does an entry match all quals, but those that are the executor's to recheck?
 * The quals have been worked out, as they are for a range with "filter".  The
 * page may be locked (L7): runs functions of types and operators, no more than
 * L10 allows, which may raise, as does a tuple that makes no sense.  What is
 * allocated stays until fpt_quals_reset().
 */
extern bool fpt_quals_match(FPTQuals *q, const FPTKey *key);

#endif							/* FPT_SCAN_POSITION_H */

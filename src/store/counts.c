/*-------------------------------------------------------------------------
 *
 * store/counts.c
 *	  Counters of read-ahead: of this backend, and of a scan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "store/counts.h"

uint64		fpt_counters[FPT_NCOUNTERS];

const char *const fpt_counter_names[FPT_NCOUNTERS] = {
	[FPT_LEAF_ISSUED] = "leaf_issued",
	[FPT_LEAF_CACHED] = "leaf_cached",
	[FPT_LEAF_WASTED] = "leaf_wasted",
	[FPT_LEAF_REQUESTS] = "leaf_requests",
	[FPT_HEAP_ISSUED] = "heap_issued",
	[FPT_HEAP_CACHED] = "heap_cached",
	[FPT_HEAP_WASTED] = "heap_wasted",
	[FPT_HEAP_REQUESTS] = "heap_requests",
	[FPT_DISTANCE_MAX] = "distance_max",
	[FPT_SKIP_OFF] = "skip_off",
	[FPT_SKIP_LIMIT] = "skip_limit",
	[FPT_SKIP_SHORT] = "skip_short",
	[FPT_SKIP_PAUSE] = "skip_pause",
	[FPT_SKIP_END] = "skip_end",
	[FPT_SKIP_SEQUENTIAL] = "skip_sequential",
	[FPT_SKIP_LOST] = "skip_lost",
	[FPT_SKIP_GONE] = "skip_gone",
	[FPT_SKIP_KIND] = "skip_kind",
	[FPT_SKIP_BITMAP] = "skip_bitmap",
	[FPT_SKIP_VISIBLE] = "skip_visible",
	[FPT_SKIP_PINNED] = "skip_pinned",
	[FPT_SKIP_FAR] = "skip_far",
};

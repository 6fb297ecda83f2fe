/*-------------------------------------------------------------------------
 *
 * server/preload.h
 *	  New sessions and ON CONFLICT.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SERVER_PRELOAD_H
#define FPT_SERVER_PRELOAD_H

#include "utils/relcache.h"

/* Tell of new sessions and ON CONFLICT, at a database's first unique index. */
extern void fpt_preload_notice(Relation index);

#endif							/* FPT_SERVER_PRELOAD_H */

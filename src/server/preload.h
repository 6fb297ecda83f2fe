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

/* server/preload.c: new sessions and ON CONFLICT, said of a database's first one. */
extern void fpt_preload_notice(Relation index);

#endif							/* FPT_SERVER_PRELOAD_H */

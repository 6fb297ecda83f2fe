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

/*
 * An index is being created: once a session, if it is the database's first
 * unique one and new sessions will not have the library, say what follows from
 * that.  Reads catalogues, and locks none of them afterwards; may raise.
 */
extern void fpt_preload_notice(Relation index);

#endif							/* FPT_SERVER_PRELOAD_H */

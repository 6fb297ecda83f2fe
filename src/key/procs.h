/*-------------------------------------------------------------------------
 *
 * key/procs.h
 *	  Support functions of an operator class.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_PROCS_H
#define FPT_KEY_PROCS_H

/* Support functions of an operator class, numbered as btree's. */
#define FPT_ORDER_PROC		1
#define FPT_SORTSUPPORT_PROC 2
#define FPT_INRANGE_PROC	3
#define FPT_EQUALIMAGE_PROC 4
#define FPT_OPTIONS_PROC	5
#define FPT_NPROCS			5

#endif							/* FPT_KEY_PROCS_H */

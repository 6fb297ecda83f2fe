/*-------------------------------------------------------------------------
 *
 * sql/stripegc.h
 *	  Dropping the stripes of indexes that are gone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SQL_STRIPEGC_H
#define FPT_SQL_STRIPEGC_H

extern void fpt_stripegc_init(void);

#endif							/* FPT_SQL_STRIPEGC_H */

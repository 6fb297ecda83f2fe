/*-------------------------------------------------------------------------
 *
 * sql/stripegc.h
 *	  Dropping the stripes of indexes that are gone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SQL_STRIPEGC_H
#define FPT_SQL_STRIPEGC_H

/* Put the hooks in place; once, when the library is loaded. */
extern void fpt_stripegc_init(void);

#endif							/* FPT_SQL_STRIPEGC_H */

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

/*
 * The access method's handler is called.  The first call of a session may be
 * from within a DROP that has loaded the library, too late for the hook: see to
 * its index.  Reads catalogues, and may raise, the first time; then it does
 * nothing.
 */
extern void fpt_stripegc_handled(void);

#endif							/* FPT_SQL_STRIPEGC_H */

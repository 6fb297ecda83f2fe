/*-------------------------------------------------------------------------
 *
 * key/locale.h
 *	  What the catalogues say of collations.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_LOCALE_H
#define FPT_KEY_LOCALE_H

/*
 * Does a collation compare bytes?  utils/pg_locale.h, which has a function for
 * that, needs the headers of ICU; this looks into the catalogue.  False of
 * none.  May raise; no page may be locked.
 */
extern bool fpt_collation_is_c(Oid collation);

/* Is a collation of the C library?  Not of none.  The same about catalogues. */
extern bool fpt_collation_is_libc(Oid collation);

/*
 * A hash of a collation's version; 0: the library does not tell one, or there
 * is nothing that could change.  Reads catalogues; may raise.  No page may be
 * locked.
 */
extern uint32 fpt_collation_version(Oid collation);

#endif							/* FPT_KEY_LOCALE_H */

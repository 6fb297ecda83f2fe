/*-------------------------------------------------------------------------
 *
 * key/sortkey.h
 *	  Beginnings of sort keys of strings, for heads (key/head.h).
 *
 * A sort key is a string of bytes whose order is that of a collation.  Those of
 * ICU are trusted by the server, which abbreviates keys to their first bytes
 * when it sorts; those of most C libraries are not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_SORTKEY_H
#define FPT_KEY_SORTKEY_H

/*
 * Does a collation compare bytes?  utils/pg_locale.h, which has a function for
 * that, needs the headers of ICU; this looks into the catalogue.  False of
 * none.  May raise; no page may be locked.
 */
extern bool fpt_collation_is_c(Oid collation);

/*
 * A hash of a collation's version; 0: the library does not tell one, or there
 * is nothing that could change.  Reads catalogues; may raise.  No page may be
 * locked.
 */
extern uint32 fpt_collation_version(Oid collation);

/*
 * The version of a collation's sort keys, or 0 if the server does not trust
 * them.  Whatever changes their bytes changes the version.  Reads catalogues
 * the first time in a backend, and what is made then stays; may raise.  No page
 * may be locked.
 */
extern uint32 fpt_sortkey_version(Oid collation);

/*
 * The first eight bytes of a text's sort key, where there is a version; fewer
 * where a Datum is narrower, zeroes in their place.  The value may be toasted.
 * May raise, as the collation's library may.
 */
extern uint64 fpt_sortkey_prefix(Oid collation, Datum value);

#endif							/* FPT_KEY_SORTKEY_H */

/*-------------------------------------------------------------------------
 *
 * store/stripe.h
 *	  Stripes: the files of an index that is spread over several tablespaces.
 *
 * A stripe is a relation of kind 't' in schema pg_toast with a table access
 * method of its own (store/stripeam.c), named fptree_<index OID>_<number>.  It
 * belongs to the index whose metapage names its OID; its name only serves to
 * find it again where there is no metapage, that is in builds.  README.md here,
 * "Stripes", has the rules.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_STRIPE_H
#define FPT_STORE_STRIPE_H

#include "access/htup.h"
#include "nodes/execnodes.h"
#include "nodes/pg_list.h"
#include "utils/relcache.h"

#include "store/map.h"

#define FPT_STRIPE_AM			"fptree_stripe"

/*
 * What builds do about tablespaces that do not exist, or where the table's
 * owner may create nothing.
 */
typedef enum FPTMissing
{
	FPT_MISSING_ERROR,
	FPT_MISSING_SKIP
} FPTMissing;

extern int	fpt_guc_missing_tablespaces;

/*
 * Validator of the option "tablespaces"; raises an error about a list that is
 * no list, is too short or too long, or names one twice.  Whether they exist is
 * asked when the index is built.
 */
extern void fpt_tablespaces_validate(const char *value);

/*
 * The option "tablespaces" as pg_class has it, of an index of any kind, in the
 * current context; NULL: none, or no such index.  Reads catalogues.
 */
extern char *fpt_tablespaces_of(Oid indexid);

/*
 * A list of tablespaces with the present names of those that have another one
 * now, as far as the index, or another one of its partition tree, was built
 * from this list.  NULL if there are none.  In the current context; reads
 * catalogues, and locks no index.
 */
extern char *fpt_tablespaces_renamed(const char *option, Oid indexid);

/*
 * An index's list "was" is "list" now, with the present names of the same
 * tablespaces: its stripes, if they were made from the one, are as if made from
 * the other.  The index is locked, ShareUpdateExclusiveLock.  May raise.
 */
extern void fpt_stripes_record_names(Oid index, const char *was,
									 const char *list);

/*
 * Make the stripes that an index's option asks for, with empty files, and drop
 * those it has beyond them.  oids has room for FPT_MAX_STRIPES; returns how
 * many there are, 0: the index is not striped.  For builds, before anything is
 * written, and after fpt_stripes_claim(): needs the lock that a build has,
 * takes AccessExclusiveLock on the stripes.  Raises errors.
 */
extern int	fpt_stripes_make(Relation heap, Relation index, Oid *oids);

/*
 * Is the index created?  TRUNCATE and REINDEX only build it anew.  Reads no
 * catalogues.
 */
extern bool fpt_is_created(Relation index);

/* Has this transaction made a relation's file?  Reads no catalogues. */
extern bool fpt_file_is_new(Relation rel);

/*
 * The stripes that an open index's metapage names.  Returns their number, or
 * -1 if there is no metapage that could be read, as long as it is built, too.
 * Does not trust the relcache, and raises no error about what it finds in the
 * page.  The index is locked; the metapage is for a moment, to read.  oids has
 * room for FPT_MAX_STRIPES.  Raises an error if the file cannot be read,
 * as its disk is broken.
 */
extern int	fpt_metapage_stripes(Relation index, Oid *oids);

/* The same of an index whose pages this session has just written. */
extern int	fpt_built_stripes(Relation index, Oid *oids);

/*
 * The same as the first one for who must go on whatever has become of the
 * index's file: -1 also if it cannot be read, and a message of this level, not
 * an error's, that says why.
 */
extern int	fpt_metapage_stripes_anyhow(Relation index, Oid *oids, int elevel);

/*
 * Are all stripes there that an open index's metapage names?  If not, *k is the
 * number of the first that is missing, of *n.  As fpt_metapage_stripes(), and
 * reads catalogues.
 */
extern bool fpt_stripes_present(Relation index, int *k, int *n);

/*
 * Look up stripes that a metapage names; the result is in the current context.
 * Reads catalogues; raises an error if one is not there.  The index is locked,
 * no page is.
 */
extern FPTStripes *fpt_stripes_load(Relation index, const Oid *oids, int n);

/*
 * Before an entry goes into an index whose stripes are "unsettled": the present
 * transaction has given the main fork another file, and the stripes not.
 * Raises an error, unless that is over.  Reads catalogues; *st may be gone
 * afterwards.
 */
extern void fpt_stripes_settle(Relation index, const FPTStripes *st);

/*
 * The OID of an index's k-th stripe, from 1 on, by its name; InvalidOid: there
 * is none.  Reads catalogues.
 */
extern Oid	fpt_stripe_by_name(Oid index, int k);

/*
 * Is this relation a stripe?  *index: the index in its name, which need not be
 * that it belongs to.  Reads catalogues.
 */
extern bool fpt_is_stripe(Oid relid, Oid *index);

/* The same, and *k: the number in its name. */
extern bool fpt_stripe_named(Oid relid, Oid *index, int *k);

/*
 * The row that this transaction has replaced by the one at *tid in pg_class,
 * which is locked, a copy in the current context; NULL: none.
 */
extern HeapTuple fpt_class_row_before(Relation pg_class, Oid relid,
									  ItemPointer tid);

/*
 * OIDs of the relations of one access method, or of all others but btree, in
 * the current context.  Locks pg_class, AccessShareLock, for as long as it is
 * read.  Reads catalogues.
 */
extern List *fpt_relations_of(Oid am, char relkind);

/*
 * Drop a stripe; locks it, AccessExclusiveLock, to the end of the transaction.
 * Raises an error if something depends on it, which nothing should.
 */
extern void fpt_stripe_drop(Oid relid);

/* Give it the name of an index's k-th stripe; locks it likewise. */
extern void fpt_stripe_rename(Oid relid, Oid index, int k);

/*
 * This transaction has dropped an fptree index of a table: one that is created
 * there takes its place.  The list goes with the transaction's memory, and is
 * to be forgotten then (fpt_forget_lost_indexes()).
 */
extern void fpt_table_lost_index(Oid table, Oid index);
extern void fpt_forget_lost_indexes(void);

/*
 * A subtransaction has ended: the indexes that it dropped count as dropped by
 * its parent, or, if that is Invalid, are there again.  Raises nothing.
 */
extern void fpt_lost_indexes_subxact(SubTransactionId subid,
									 SubTransactionId parent);

#endif							/* FPT_STORE_STRIPE_H */

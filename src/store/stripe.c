/*-------------------------------------------------------------------------
 *
 * store/stripe.c
 *	  The stripes of an index: the option, creation, looking them up.
 *
 * See store/stripe.h; sql/stripegc.c drops them, store/place.c reads and writes
 * them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/objectaddress.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/tablespace.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "server/compat.h"
#include "server/stop.h"
#include "store/meta.h"
#include "store/options.h"
#include "store/place.h"
#include "store/stripe.h"

int			fpt_guc_missing_tablespaces = FPT_MISSING_ERROR;

/* --- the option --------------------------------------------------------- */

/*
 * The names in a list of tablespaces, in the current context.  Raises an error
 * if it is none.
 */
static List *
fpt_tablespaces_split(const char *value)
{
	List	   *names;

	if (!SplitIdentifierString(pstrdup(value), ',', &names))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid list of tablespaces: \"%s\"", value),
				 errhint("Separate names by commas, as in \"d1, d2, d3\".")));
	return names;
}

void
fpt_tablespaces_validate(const char *value)
{
	List	   *names;

	/* The option's default */
	if (value == NULL)
		return;
	names = fpt_tablespaces_split(value);
	if (list_length(names) < FPT_MIN_STRIPES ||
		list_length(names) > FPT_MAX_STRIPES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"tablespaces\" must name %d to %d tablespaces, not %d",
						FPT_MIN_STRIPES, FPT_MAX_STRIPES,
						list_length(names)),
				 errhint("An index in one tablespace is what the TABLESPACE clause is for.")));
	for (int i = 0; i < list_length(names); i++)
	{
		const char *name = list_nth(names, i);

		if (strcmp(name, "pg_global") == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("only shared relations can be placed in pg_global tablespace")));
		for (int j = 0; j < i; j++)
			if (strcmp(name, list_nth(names, j)) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("\"tablespaces\" names tablespace \"%s\" twice",
								name)));
	}
}

/*
 * An fptree index, striped or not, that this transaction has dropped, in a
 * subtransaction that has not been rolled back.
 */
typedef struct FPTLostIndex
{
	Oid			table;
	Oid			index;
	SubTransactionId subid;
} FPTLostIndex;

/* In TopTransactionContext, the latest last */
static List *fpt_lost_index = NIL;

void
fpt_table_lost_index(Oid table, Oid index)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	FPTLostIndex *lost = palloc(sizeof(FPTLostIndex));

	Assert(IsTransactionState());
	Assert(OidIsValid(table) && OidIsValid(index));
	lost->table = table;
	lost->index = index;
	lost->subid = GetCurrentSubTransactionId();
	fpt_lost_index = lappend(fpt_lost_index, lost);
	MemoryContextSwitchTo(old);
}

/* See store/stripe.h.  Called at an abort, too: raises nothing. */
void
fpt_lost_indexes_subxact(SubTransactionId subid, SubTransactionId parent)
{
	ListCell   *lc;

	foreach(lc, fpt_lost_index)
	{
		FPTLostIndex *lost = lfirst(lc);

		if (lost->subid != subid)
			continue;
		if (parent != InvalidSubTransactionId)
			lost->subid = parent;
		else
			fpt_lost_index = foreach_delete_current(fpt_lost_index, lc);
	}
}

void
fpt_forget_lost_indexes(void)
{
	fpt_lost_index = NIL;
}

/* The indexes that a table has lost, in the current context. */
static List *
fpt_lost_indexes_of(Oid table)
{
	List	   *oids = NIL;
	ListCell   *lc;

	foreach(lc, fpt_lost_index)
	{
		FPTLostIndex *lost = lfirst(lc);

		if (lost->table == table)
			oids = lappend_oid(oids, lost->index);
	}
	return oids;
}

/*
 * The indexes that a new one of the table may replace, if no user creates it
 * (fpt_is_new), in the current context: all that the table has lost, as ALTER
 * TABLE does not say which it makes anew, and the one that REINDEX CONCURRENTLY
 * copies, which is known by the copy's name: several, if their names are long
 * and begin alike.  A copy was made in a transaction before this one, which an
 * index of a function that REINDEX calls was not.  Reads catalogues.
 */
static List *
fpt_replaced_indexes(Relation heap, Relation index)
{
	List	   *replaced = fpt_lost_indexes_of(RelationGetRelid(heap));
	const char *label = strrchr(RelationGetRelationName(index), '_');
	ListCell   *lc;

	if (!fpt_is_created(index) || !fpt_command_rebuilds() ||
		index->rd_createSubid != InvalidSubTransactionId || label == NULL ||
		strncmp(++label, "ccnew", strlen("ccnew")) != 0)
		return replaced;
	foreach(lc, RelationGetIndexList(heap))
	{
		const char *name = get_rel_name(lfirst_oid(lc));

		if (name != NULL &&
			strcmp(makeObjectName(name, NULL, label),
				   RelationGetRelationName(index)) == 0)
			replaced = lappend_oid(replaced, lfirst_oid(lc));
	}
	return replaced;
}

/*
 * Does a user create the index?  REINDEX CONCURRENTLY and ALTER TABLE make
 * another one in place of one that there is, with its option; the latter also
 * in a function, where a CREATE INDEX after a DROP INDEX looks the same.
 */
static bool
fpt_is_new(Relation heap, Relation index)
{
	if (!fpt_is_created(index) || fpt_command_rebuilds())
		return false;
	return fpt_lost_indexes_of(RelationGetRelid(heap)) == NIL ||
		(ActivePortal != NULL &&
		 ActivePortal->commandTag == CMDTAG_CREATE_INDEX);
}

/*
 * Does the index come with a partition, of an index that there was before?  Who
 * makes or attaches the partition has nothing to do with the list.  Opens that
 * other one, which is locked.
 */
static bool
fpt_is_inherited(Relation index)
{
	Relation	parent;
	bool		old;

	if (!index->rd_rel->relispartition)
		return false;
	parent = RelationIdGetRelation(get_partition_parent(RelationGetRelid(index),
														false));
	old = parent != NULL && parent->rd_createSubid == InvalidSubTransactionId;
	if (parent != NULL)
		RelationClose(parent);
	return old;
}

/* See store/stripe.h. */
char *
fpt_tablespaces_of(Oid indexid)
{
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(indexid));
	char	   *value = NULL;
	Datum		options;
	bool		isnull;
	ListCell   *lc;

	if (!HeapTupleIsValid(tup))
		return NULL;
	options = SysCacheGetAttr(RELOID, tup, Anum_pg_class_reloptions, &isnull);
	foreach(lc, isnull ? NIL : untransformRelOptions(options))
	{
		DefElem    *def = lfirst(lc);

		if (strcmp(def->defname, "tablespaces") == 0)
			value = defGetString(def);
	}
	ReleaseSysCache(tup);
	return value;
}

/* What the index's option says; NULL: nothing. */
static const char *
fpt_tablespaces_option(Relation index)
{
	FPTOptions *opts = (FPTOptions *) index->rd_options;

	/* Temporary files go elsewhere; pg_upgrade brings files, but no stripes. */
	if (IsBinaryUpgrade ||
		index->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		return NULL;
	if (opts != NULL && opts->tablespaces != 0)
		return (const char *) opts + opts->tablespaces;
#ifdef FPT_STOP_POINTS
	if (fpt_guc_test_tablespaces != NULL && *fpt_guc_test_tablespaces)
		return fpt_guc_test_tablespaces;
#endif
	return NULL;
}

/*
 * A tablespace of the list cannot be used.  May the index do without?  Whoever
 * creates it can choose another one, and gets an error; TRUNCATE, a new
 * partition, or the restoration of a dump, has no choice, and goes on with a
 * warning.
 */
static bool
fpt_tablespace_skipped(Relation heap, Relation index)
{
	return fpt_guc_missing_tablespaces == FPT_MISSING_SKIP ||
		!fpt_is_new(heap, index) || fpt_is_inherited(index);
}

/* A tablespace of the list is not there. */
static void
fpt_tablespace_missing(Relation heap, Relation index, const char *name)
{
	bool		skip = fpt_tablespace_skipped(heap, index);

	ereport(skip ? WARNING : ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("tablespace \"%s\" does not exist", name),
			 skip ? errdetail("Index \"%s\" gets no stripe there.",
							  RelationGetRelationName(index)) : 0,
			 skip ? errhint("Change the list by fptree_set_tablespaces().") :
			 errhint("Name existing ones, or set fptree.missing_tablespaces to skip.")));
}

bool
fpt_is_created(Relation index)
{
	if (ReindexIsProcessingIndex(RelationGetRelid(index)))
		return false;
	/* TRUNCATE may empty one in place that a failed build has left */
	return index->rd_createSubid != InvalidSubTransactionId ||
		(!index->rd_index->indisready &&
		 !fpt_lock_held(index->rd_index->indrelid, AccessExclusiveLock));
}

/* Has one of these indexes a stripe in this tablespace? */
static bool
fpt_have_stripe_in(List *indexes, Oid space)
{
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Oid			stripe;

		for (int k = 1;
			 OidIsValid(stripe = fpt_stripe_by_name(lfirst_oid(lc), k));
			 k++)
			if (get_rel_tablespace(stripe) == space)
				return true;
	}
	return false;
}

/*
 * May the index have a stripe in this tablespace?  The table's owner takes the
 * space, so it is his privilege that counts, whoever runs the command: he can
 * change the list at any time, and functions of his that a superuser's command
 * calls can create indexes.  What there is already stays: the stripes of this
 * index, and of another one if this replaces it.  An index beside it has no
 * say: its stripes are no right to others.
 */
static bool
fpt_tablespace_allowed(Relation heap, Relation index, Oid space)
{
	List	   *indexes = list_make1_oid(RelationGetRelid(index));

	if (space == MyDatabaseTableSpace ||
		fpt_tablespace_acl(space, heap->rd_rel->relowner) == ACLCHECK_OK)
		return true;
	if (!fpt_is_new(heap, index))
		indexes = list_concat(indexes, fpt_replaced_indexes(heap, index));
	return fpt_have_stripe_in(indexes, space);
}

/*
 * It may not: as for one that does not exist, but that a superuser gets the
 * warning alone.  He restores dumps, in which an index may have stripes that
 * its owner could not make any more.  Builds run as the owner, so it is the
 * outer user who counts; whoever that is, there is no stripe.
 */
static void
fpt_tablespace_denied(Relation heap, Relation index, const char *name)
{
	bool		skip = fpt_tablespace_skipped(heap, index) ||
		superuser_arg(GetOuterUserId());

	ereport(skip ? WARNING : ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for tablespace %s", name),
			 skip ?
			 errdetail("The owner of table \"%s\" may not create anything there, so index \"%s\" gets no stripe there.",
					   RelationGetRelationName(heap),
					   RelationGetRelationName(index)) :
			 errdetail("The owner of table \"%s\" may not create anything there.",
					   RelationGetRelationName(heap)),
			 skip ?
			 errhint("GRANT CREATE ON TABLESPACE to the owner, and run REINDEX INDEX.") :
			 errhint("GRANT CREATE ON TABLESPACE to the owner, or set fptree.missing_tablespaces to skip.")));
}

/*
 * The list from which an index's stripes were made, one for each name, is the
 * comment on the first of them: the index's option may have been set to
 * another one since.  Sets it; NULL: not all names have a stripe.  Locks
 * pg_description, RowExclusiveLock, to the end of the transaction.
 */
static void
fpt_stripes_record(Oid first, const char *list)
{
	CreateComments(first, RelationRelationId, 0, list);
	CommandCounterIncrement();
}

/* That list, in the current context, or NULL.  Reads catalogues. */
static char *
fpt_stripes_recorded(Oid index)
{
	Oid			first = fpt_stripe_by_name(index, 1);

	return OidIsValid(first) ? GetComment(first, RelationRelationId, 0) : NULL;
}

/* See store/stripe.h. */
void
fpt_stripes_record_names(Oid index, const char *was, const char *list)
{
	char	   *recorded = fpt_stripes_recorded(index);

	if (recorded != NULL && strcmp(recorded, was) == 0)
		fpt_stripes_record(fpt_stripe_by_name(index, 1), list);
}

/*
 * The tablespace of a stripe.  InvalidOid: the stripe is gone, as that of an
 * index that nobody has locked can be by now.  Reads catalogues.
 */
static Oid
fpt_stripe_space(Oid stripe)
{
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(stripe));
	Oid			space;

	if (!HeapTupleIsValid(tup))
		return InvalidOid;
	space = ((Form_pg_class) GETSTRUCT(tup))->reltablespace;
	ReleaseSysCache(tup);
	return OidIsValid(space) ? space : MyDatabaseTableSpace;
}

/*
 * The tablespace that was the k-th of these names, from 0 on, when a striped
 * index was built from the list "option", and may have another name now.
 * InvalidOid: this index was not built from it, or a name of the list is
 * another tablespace's now.  Nor if there is no such tablespace any more: if
 * its disk is lost it can be dropped, although stripes say that they are there.
 * Reads catalogues.
 */
static Oid
fpt_space_then(Oid model, const char *option, List *names, int k)
{
	const char *recorded = fpt_stripes_recorded(model);
	Oid			then = InvalidOid;

	if (recorded == NULL || strcmp(recorded, option) != 0 ||
		OidIsValid(fpt_stripe_by_name(model, list_length(names) + 1)))
		return InvalidOid;
	for (int i = 0; i < list_length(names); i++)
	{
		Oid			stripe = fpt_stripe_by_name(model, i + 1);
		Oid			now = get_tablespace_oid(list_nth(names, i), true);
		Oid			space = fpt_stripe_space(stripe);

		if (!OidIsValid(space) || (OidIsValid(now) && now != space))
			return InvalidOid;
		if (i == k)
			then = space;
	}
	return get_tablespace_name(then) != NULL ? then : InvalidOid;
}

/* The same by any of these indexes. */
static Oid
fpt_space_renamed(List *models, const char *option, List *names, int k)
{
	ListCell   *lc;
	Oid			then = InvalidOid;

	foreach(lc, models)
		if (OidIsValid(then = fpt_space_then(lfirst_oid(lc), option, names, k)))
			break;
	return then;
}

/*
 * An index, and if it is partitioned, or a partition's, all those of the tree,
 * in the current context: they may have been built from the same list.  Reads
 * catalogues, locks none: it may be detached meanwhile, and have no ancestors.
 */
static List *
fpt_index_family(Oid indexid)
{
	List	   *ancestors = get_rel_relispartition(indexid) ?
		get_partition_ancestors(indexid) : NIL;
	Oid			top = ancestors != NIL ? llast_oid(ancestors) : indexid;

	return lcons_oid(indexid, find_all_inheritors(top, NoLock, NULL));
}

/* See store/stripe.h. */
char *
fpt_tablespaces_renamed(const char *option, Oid indexid)
{
	List	   *names = fpt_tablespaces_split(option);
	List	   *models = NIL;
	bool		changed = false;
	StringInfoData buf;

	initStringInfo(&buf);
	for (int k = 0; k < list_length(names); k++)
	{
		const char *name = list_nth(names, k);
		const char *now = NULL;

		if (!OidIsValid(get_tablespace_oid(name, true)))
		{
			if (models == NIL)
				models = fpt_index_family(indexid);
			now = get_tablespace_name(fpt_space_renamed(models, option, names,
														k));
		}
		changed |= now != NULL;
		appendStringInfo(&buf, "%s%s", k > 0 ? ", " : "",
						 quote_identifier(now != NULL ? now : name));
	}
	return changed ? buf.data : NULL;
}

/*
 * The k-th tablespace of an index's list, which has no tablespace of that name:
 * it was renamed, or InvalidOid.  Reads catalogues; says so.
 */
static Oid
fpt_tablespace_followed(Relation heap, Relation index, const char *option,
						List *names, int k)
{
	List	   *models = fpt_index_family(RelationGetRelid(index));
	Oid			space;
	const char *now;

	if (!fpt_is_new(heap, index))
		models = list_concat(models, fpt_replaced_indexes(heap, index));
	space = fpt_space_renamed(models, option, names, k);
	now = get_tablespace_name(space);
	if (now == NULL)
		return InvalidOid;
	ereport(NOTICE,
			(errmsg("tablespace \"%s\" in the list of index \"%s\" is \"%s\" now",
					(char *) list_nth(names, k),
					RelationGetRelationName(index), now),
			 errhint("Bring lists up to date by fptree_follow_renames().")));
	return space;
}

/*
 * OIDs of the tablespaces that an index is to be striped over, in *spaces,
 * which has room for FPT_MAX_STRIPES; returns their number, 0: it is not
 * striped.  *list is the list that says so, or NULL if not each of its names
 * can be used.  Reads catalogues; warns, or raises an error, about those that
 * cannot.
 */
static int
fpt_tablespaces_wanted(Relation heap, Relation index, Oid *spaces,
					   const char **list)
{
	const char *option = fpt_tablespaces_option(index);
	List	   *names;
	int			n = 0;

	*list = NULL;
	if (option == NULL)
		return 0;
	/* What belongs to the relcache entry may go. */
	option = pstrdup(option);
	names = fpt_tablespaces_split(option);
	for (int k = 0; k < list_length(names); k++)
	{
		const char *name = list_nth(names, k);
		Oid			space = get_tablespace_oid(name, true);

		if (!OidIsValid(space))
			space = fpt_tablespace_followed(heap, index, option, names, k);
		if (!OidIsValid(space))
			fpt_tablespace_missing(heap, index, name);
		else if (!fpt_tablespace_allowed(heap, index, space))
			fpt_tablespace_denied(heap, index, name);
		else if (n < FPT_MAX_STRIPES)
			spaces[n++] = space;
	}
	if (n == list_length(names))
		*list = option;
	if (n >= FPT_MIN_STRIPES)
		return n;
	ereport(WARNING,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("index \"%s\" is not striped",
					RelationGetRelationName(index)),
			 errdetail("Of the tablespaces in its list, %d can be used.", n)));
	return 0;
}

/* --- catalogue entries -------------------------------------------------- */

/*
 * The name of an index's k-th stripe, from 1 on; "name" has NAMEDATALEN bytes.
 */
static void
fpt_stripe_name(char *name, Oid index, int k)
{
	Assert(OidIsValid(index) && k > 0);
	snprintf(name, NAMEDATALEN, "fptree_%u_%d", index, k);
}

Oid
fpt_stripe_by_name(Oid index, int k)
{
	char		name[NAMEDATALEN];

	fpt_stripe_name(name, index, k);
	return get_relname_relid(name, PG_TOAST_NAMESPACE);
}

/*
 * See store/stripe.h.  Kind, access method and name, all three: users can make
 * relations with one of them each.
 */
bool
fpt_stripe_named(Oid relid, Oid *index, int *k)
{
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	bool		is;

	if (!HeapTupleIsValid(tup))
		return false;
	form = (Form_pg_class) GETSTRUCT(tup);
	is = form->relkind == RELKIND_TOASTVALUE &&
		form->relam == get_table_am_oid(FPT_STRIPE_AM, true) &&
		sscanf(NameStr(form->relname), "fptree_%u_%d", index, k) == 2;
	ReleaseSysCache(tup);
	return is;
}

bool
fpt_is_stripe(Oid relid, Oid *index)
{
	int			k;

	return fpt_stripe_named(relid, index, &k);
}

/* See store/stripe.h.  Reads all of pg_class: it has no index on relam. */
List *
fpt_relations_of(Oid am, char relkind)
{
	Relation	pg_class;
	TableScanDesc scan;
	HeapTuple	tup;
	List	   *oids = NIL;

	pg_class = table_open(RelationRelationId, AccessShareLock);
	scan = table_beginscan_catalog(pg_class, 0, NULL);
	while ((tup = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tup);

		if (form->relkind == relkind &&
			(OidIsValid(am) ? form->relam == am : form->relam != BTREE_AM_OID))
			oids = lappend_oid(oids, form->oid);
	}
	table_endscan(scan);
	table_close(pg_class, AccessShareLock);
	return oids;
}

void
fpt_stripe_drop(Oid relid)
{
	ObjectAddress stripe;

	ObjectAddressSet(stripe, RelationRelationId, relid);
	performDeletion(&stripe, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
	CommandCounterIncrement();
}

void
fpt_stripe_rename(Oid relid, Oid index, int k)
{
	char		name[NAMEDATALEN];

	fpt_stripe_name(name, index, k);
	RenameRelationInternal(relid, name, true, false);
	CommandCounterIncrement();
}

/*
 * A new stripe.  It depends on the access method, so that this cannot be
 * dropped without it, and on nothing else: tools may give its index's files to
 * another table's index, and drop the first table.  Its owner is the bootstrap
 * superuser, who cannot be dropped.  Returns its OID; it is locked, and visible
 * to this command.  May raise.
 */
static Oid
fpt_stripe_create(Relation index, int k, Oid space)
{
	Oid			am = get_table_am_oid(FPT_STRIPE_AM, false);
	TupleDesc	desc = CreateTemplateTupleDesc(1);
	char		name[NAMEDATALEN];
	ObjectAddress stripe;
	ObjectAddress method;
	Oid			relid;

	Assert(space != MyDatabaseTableSpace);
	Assert(index->rd_rel->relpersistence != RELPERSISTENCE_TEMP);
	fpt_stripe_name(name, RelationGetRelid(index), k);
	TupleDescInitEntry(desc, 1, "page", BYTEAOID, -1, 0);
	relid = heap_create_with_catalog(name, PG_TOAST_NAMESPACE, space,
									 InvalidOid, InvalidOid, InvalidOid,
									 BOOTSTRAP_SUPERUSERID, am, desc, NIL,
									 RELKIND_TOASTVALUE,
									 index->rd_rel->relpersistence,
									 false, false, ONCOMMIT_NOOP, (Datum) 0,
									 false, true, true, InvalidOid, NULL);
	ObjectAddressSet(stripe, RelationRelationId, relid);
	ObjectAddressSet(method, AccessMethodRelationId, am);
	/* S2: on nothing else */
	recordDependencyOn(&stripe, &method, DEPENDENCY_NORMAL);
	CommandCounterIncrement();
	return relid;
}

/* See store/stripe.h. */
bool
fpt_file_is_new(Relation rel)
{
	return rel->rd_createSubid != InvalidSubTransactionId ||
		FPT_FIRST_FILE_SUBID(rel) != InvalidSubTransactionId;
}

/*
 * The subtransaction that has given a relation its file.  Invalid: it is older,
 * or not known (fpt_file_unsure()).
 */
static SubTransactionId
fpt_file_subid(Relation rel)
{
	return FPT_NEW_FILE_SUBID(rel) != InvalidSubTransactionId ?
		FPT_NEW_FILE_SUBID(rel) : rel->rd_createSubid;
}

/*
 * The index's k-th stripe, empty, in this tablespace: the one it has gets a new
 * file, so that a rollback brings back the old one, and stays locked to the end
 * of the transaction.  But where TRUNCATE has emptied an older file of the
 * index, which a rollback does not fill again, another stripe takes its place:
 * old pages must not come back below a new root.  Returns its OID.  Raises an
 * error if another relation has its name.
 */
static Oid
fpt_stripe_make(Relation index, int k, Oid space)
{
	Oid			relid = fpt_stripe_by_name(RelationGetRelid(index), k);
	Oid			stored = space == MyDatabaseTableSpace ? InvalidOid : space;
	Oid			named;
	Relation	rel;
	bool		reuse;

	Assert(OidIsValid(space));
	if (OidIsValid(relid))
	{
		if (!fpt_is_stripe(relid, &named))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_TABLE),
					 errmsg("relation \"pg_toast.%s\" is not a stripe of an fptree index",
							get_rel_name(relid))));
		rel = relation_open(relid, AccessExclusiveLock);
		reuse = rel->rd_rel->reltablespace == stored &&
			(fpt_file_subid(index) == GetCurrentSubTransactionId() ||
			 fpt_file_subid(rel) == GetCurrentSubTransactionId());
		if (reuse)
			fpt_new_storage(rel, index->rd_rel->relpersistence);
		relation_close(rel, NoLock);
		CommandCounterIncrement();
		if (reuse)
			return relid;
		fpt_stripe_drop(relid);
	}
	return fpt_stripe_create(index, k, stored);
}

/*
 * See store/stripe.h.  Stripes of an index are numbered without gaps, from 1
 * on, so that the first number without one is the end.
 */
int
fpt_stripes_make(Relation heap, Relation index, Oid *oids)
{
	Oid			spaces[FPT_MAX_STRIPES];
	const char *list;
	int			n = fpt_tablespaces_wanted(heap, index, spaces, &list);
	Oid			old;

	Assert(CheckRelationLockedByMe(heap, ShareUpdateExclusiveLock, true));
	Assert(CheckRelationLockedByMe(index, RowExclusiveLock, true));
	for (int k = 0; k < n; k++)
		oids[k] = fpt_stripe_make(index, k + 1, spaces[k]);
	if (n > 0)
		fpt_stripes_record(oids[0], list);
	/* It may have had more of them, numbered without gaps. */
	for (int k = n;
		 OidIsValid(old = fpt_stripe_by_name(RelationGetRelid(index), k + 1));
		 k++)
		fpt_stripe_drop(old);
	return n;
}

/* --- looking them up ---------------------------------------------------- */

/*
 * The name of a tablespace, which an error may want to tell when catalogues
 * cannot be read; so it is kept for good, one for each tablespace, and brought
 * up to date at each look-up.  Returns "?" of one that is gone.  Reads
 * catalogues.
 */
static const char *
fpt_space_name(Oid space)
{
	typedef struct FPTSpaceName
	{
		struct FPTSpaceName *next;
		Oid			space;		/* key; InvalidOid: the database's own */
		char		name[NAMEDATALEN];
	} FPTSpaceName;
	static FPTSpaceName *names = NULL;
	FPTSpaceName *s = names;
	char	   *name = get_tablespace_name(OidIsValid(space) ? space :
										   MyDatabaseTableSpace);

	while (s != NULL && s->space != space)
		s = s->next;
	if (s == NULL)
	{
		s = MemoryContextAllocZero(TopMemoryContext, sizeof(FPTSpaceName));
		s->space = space;
		s->next = names;
		names = s;
	}
	snprintf(s->name, NAMEDATALEN, "%s", name != NULL ? name : "?");
	return s->name;
}

/*
 * Raise an error: stripe k of n is not there, if rel is NULL, or is something
 * else.  How that came about nobody knows.
 */
static void __attribute__((noreturn))
fpt_stripe_lacking(Relation index, Oid relid, Relation rel, int k, int n)
{
	Assert(k > 0 && k <= n);
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" lacks stripe %d of %d (OID %u)",
					RelationGetRelationName(index), k, n, relid),
			 rel == NULL ?
			 errdetail("There is no relation with this OID.") :
			 errdetail("The relation with this OID, \"%s\", is no stripe.",
					   RelationGetRelationName(rel)),
			 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index. All striped indexes need that after pg_upgrade, which leaves stripes behind.",
					 quote_identifier(RelationGetRelationName(index)))));
}

/*
 * See store/stripe.h.  The metapage is read as it is, as zeroes if it cannot
 * be: whoever drops a damaged index must not fail for that.
 */
int
fpt_built_stripes(Relation index, Oid *oids)
{
	int			n = -1;
	Buffer		buf;
	FPTPageMap	map = {0};

	if (!fpt_has_storage(index) || fpt_npages(index, &map) == 0)
		return -1;
	buf = fpt_rawread_meta(index);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	n = fpt_meta_stripes(BufferGetPage(buf), oids);
	UnlockReleaseBuffer(buf);
	return n;
}

/* See store/stripe.h. */
int
fpt_metapage_stripes(Relation index, Oid *oids)
{
	return fpt_is_unbuilt(index) ? -1 : fpt_built_stripes(index, oids);
}

/* See store/stripe.h. */
int
fpt_metapage_stripes_anyhow(Relation index, Oid *oids, int elevel)
{
	FPTPageMap	map = {0};

	if (fpt_is_unbuilt(index) || !fpt_has_storage(index) ||
		fpt_npages(index, &map) == 0 || !fpt_meta_readable(index, elevel))
		return -1;
	return fpt_built_stripes(index, oids);
}

/*
 * See store/stripe.h.  *k and *n mean something only if it returns false.  That
 * a description was made is proof enough: fpt_stripes_load() has seen all of
 * them.
 */
bool
fpt_stripes_present(Relation index, int *k, int *n)
{
	Oid			oids[FPT_MAX_STRIPES];
	Oid			named;

	/* What there is to know of the index has been found. */
	if (index->rd_amcache != NULL)
		return true;
	*n = fpt_metapage_stripes(index, oids);
	for (*k = 1; *k <= *n; (*k)++)
		if (!fpt_is_stripe(oids[*k - 1], &named))
			return false;
	return true;
}

/*
 * See store/stripe.h.  The transaction's own rows, and the last one before, are
 * there until it ends, whatever is pruned.
 */
HeapTuple
fpt_class_row_before(Relation pg_class, Oid relid, ItemPointer tid)
{
	HeapTuple	before = NULL;
	HeapTuple	tup;
	ScanKeyData key;
	SysScanDesc scan;

	Assert(CheckRelationLockedByMe(pg_class, AccessShareLock, true));
	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(pg_class, ClassOidIndexId, true, SnapshotAny, 1,
							  &key);
	while (before == NULL && HeapTupleIsValid(tup = systable_getnext(scan)))
	{
		HeapTupleHeader h = tup->t_data;

		/* A subtransaction that aborted may have had the row's last word. */
		if (ItemPointerEquals(&h->t_ctid, tid) &&
			!ItemPointerEquals(&tup->t_self, tid) &&
			!(h->t_infomask & HEAP_XMAX_INVALID) &&
			TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(h)))
			before = heap_copytuple(tup);
	}
	systable_endscan(scan);
	return before;
}

/*
 * Which (sub)transaction of the present one has given a relation its file?
 * Invalid: the file is older.  Core's relcache knows that, except after a
 * rollback to a savepoint.  Reads catalogues.
 */
static TransactionId
fpt_file_born(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	HeapTuple	row = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(relid));
	Oid			number = InvalidOid;
	TransactionId born = InvalidTransactionId;

	while (HeapTupleIsValid(row))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(row);
		TransactionId by = HeapTupleHeaderGetXmin(row->t_data);
		ItemPointerData tid = row->t_self;

		if (OidIsValid(number) && form->relfilenode != number)
			break;
		number = form->relfilenode;
		born = TransactionIdIsCurrentTransactionId(by) ? by :
			InvalidTransactionId;
		heap_freetuple(row);
		row = fpt_class_row_before(pg_class, relid, &tid);
	}
	if (HeapTupleIsValid(row))
		heap_freetuple(row);
	table_close(pg_class, AccessShareLock);
	return born;
}

/*
 * Has a relation a new file, and the relcache has forgotten since when it is
 * the last one?  It does where a later one is rolled back.
 */
static bool
fpt_file_unsure(Relation rel)
{
	return FPT_FIRST_FILE_SUBID(rel) != InvalidSubTransactionId &&
		FPT_NEW_FILE_SUBID(rel) == InvalidSubTransactionId;
}

/*
 * Have an index and a stripe got their files in the same (sub)transaction, or
 * the index in an earlier transaction?  In doubt, after savepoints, they have
 * not.  A stripe whose file is newer was made as TRUNCATE emptied the index's
 * in place: the commit syncs or logs it, where core leaves out WAL, and a
 * rollback leaves no page below the root.  Reads catalogues.
 */
static bool
fpt_same_age(Relation a, Relation b)
{
	if (fpt_file_unsure(a) || fpt_file_unsure(b))
	{
		TransactionId born = fpt_file_born(a);

		return !TransactionIdIsValid(born) || born == fpt_file_born(b);
	}
	return !fpt_file_is_new(a) || fpt_file_subid(a) == fpt_file_subid(b);
}

/*
 * See store/stripe.h.
 *
 * A rollback would bring back the old main fork, with the root, and leave what
 * has become of the pages below it; and without WAL, which new files may do
 * without, nobody would sync the stripes (S5).
 */
void
fpt_stripes_settle(Relation index, const FPTStripes *st)
{
	Oid			oids[FPT_MAX_STRIPES];
	int			n = st->n;

	Assert(st->unsettled);
	Assert(n >= FPT_MIN_STRIPES && n <= FPT_MAX_STRIPES);
	/* What the index's relcache entry has may go when another one is made. */
	for (int k = 0; k < n; k++)
		oids[k] = st->at[k].relid;
	for (int k = 0; k < n; k++)
	{
		Relation	rel = RelationIdGetRelation(oids[k]);
		bool		same = rel != NULL && fpt_same_age(index, rel);

		if (rel != NULL)
			RelationClose(rel);
		if (same)
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot insert into striped index \"%s\" in the transaction that has moved it",
						RelationGetRelationName(index)),
				 errdetail("Its main file is a new one, its stripes are not."),
				 errhint("Commit first, or run \"REINDEX INDEX %s;\" in the transaction.",
						 quote_identifier(RelationGetRelationName(index)))));
	}
}

/* See store/stripe.h.  Stripes are opened for a moment, and not locked. */
FPTStripes *
fpt_stripes_load(Relation index, const Oid *oids, int n)
{
	FPTStripes *st = palloc(fpt_stripes_size(n));
	Oid			am = get_table_am_oid(FPT_STRIPE_AM, false);

	Assert(CheckRelationLockedByMe(index, AccessShareLock, true));
	st->n = n;
	st->unsettled = false;
	st->permanent =
		index->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT;
	for (int k = 0; k < n; k++)
	{
		/* The lock of the index protects its stripes. */
		Relation	rel = RelationIdGetRelation(oids[k]);

		if (rel == NULL || rel->rd_rel->relkind != RELKIND_TOASTVALUE ||
			rel->rd_rel->relam != am)
			fpt_stripe_lacking(index, oids[k], rel, k + 1, n);
		fpt_stripe_place(&st->at[k], rel);
		st->at[k].relid = oids[k];
		st->at[k].space = rel->rd_rel->reltablespace;
		st->unsettled |= !fpt_same_age(index, rel);
		RelationClose(rel);
		st->at[k].spacename = fpt_space_name(st->at[k].space);
	}
	return st;
}

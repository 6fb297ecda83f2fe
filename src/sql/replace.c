/*-------------------------------------------------------------------------
 *
 * sql/replace.c
 *	  What stands against replacing an index, and how it is replaced.
 *
 * The new index is complete before the old one is dropped, and takes its name
 * then: no query is ever without an index, none waits for longer than a
 * catalogue is changed, and hints and monitoring find the name they know.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_opclass.h"
#include "commands/comment.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/tablespace.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "key/procs.h"
#include "server/compat.h"
#include "sql/relcheck.h"
#include "sql/replace.h"

/* --- reasons ------------------------------------------------------------- */

/* Add a reason to those that there are. */
static void
fpt_reason(FPTReplacement *r, const char *reason)
{
	r->reasons = r->reasons == NULL ? pstrdup(reason) :
		psprintf("%s; %s", r->reasons, reason);
}

/*
 * The operator class of another access method that has the same input type and
 * the same order as this one: the type's default, or any.  InvalidOid: none.
 */
static Oid
fpt_opclass_like(Oid opclass, Oid am)
{
	Oid			type = get_opclass_input_type(opclass);
	Oid			family = get_opclass_family(opclass);
	Oid			order = get_opfamily_proc(family, type, type, FPT_ORDER_PROC);
	CatCList   *list = SearchSysCacheList1(CLAAMNAMENSP, ObjectIdGetDatum(am));
	Oid			found = InvalidOid;

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_opclass c = (Form_pg_opclass)
			GETSTRUCT(&list->members[i]->tuple);

		if (c->opcintype == type && OidIsValid(order) &&
			get_opfamily_proc(c->opcfamily, type, type, FPT_ORDER_PROC) ==
			order && (c->opcdefault || !OidIsValid(found)))
			found = c->oid;
	}
	ReleaseSysCacheList(list);
	return found;
}

/* Find the operator classes, and say which of them there are not. */
static void
fpt_judge_opclasses(Relation index, FPTReplacement *r)
{
	bool		isnull;
	Datum		datum = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
										Anum_pg_index_indclass, &isnull);
	oidvector  *classes = (oidvector *) DatumGetPointer(datum);

	Assert(!isnull);
	r->has_opclasses = OidIsValid(r->am);
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		Oid			opclass = classes->values[i];

		r->opclasses[i] = fpt_opclass_like(opclass, r->am);
		if (OidIsValid(r->opclasses[i]))
			continue;
		r->has_opclasses = false;
		fpt_reason(r,
				   psprintf("access method %s has no operator class like \"%s\" of type %s",
				   get_am_name(r->am), generate_opclass_name(opclass),
				   format_type_be(get_opclass_input_type(opclass))));
	}
}

/* Is it a constraint's index, or does a foreign key need it? */
static void
fpt_judge_constraints(Relation index, FPTReplacement *r)
{
	Oid			constraint = get_index_constraint(RelationGetRelid(index));
	List	   *refs = get_index_ref_constraints(RelationGetRelid(index));
	HeapTuple	tup;

	if (OidIsValid(constraint))
	{
		Form_pg_constraint c;

		tup = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
		if (!HeapTupleIsValid(tup))
			return;
		c = (Form_pg_constraint) GETSTRUCT(tup);
		if (c->contype == CONSTRAINT_EXCLUSION)
			fpt_reason(r,
				   psprintf("exclusion constraint \"%s\" depends on it",
					   NameStr(c->conname)));
		else
			fpt_reason(r,
				   psprintf("it is the index of %s \"%s\", which must be a btree",
					   c->contype == CONSTRAINT_PRIMARY ? "primary key" :
					   "unique constraint", NameStr(c->conname)));
		ReleaseSysCache(tup);
	}
	if (refs == NIL || OidIsValid(constraint))
		return;
	if (r->am != BTREE_AM_OID && fpt_core_lacks_speculation())
		fpt_reason(r,
				   psprintf("foreign key \"%s\" references it, which must be a btree before version 18",
				   get_constraint_name(linitial_oid(refs))));
	else
		fpt_reason(r,
				   psprintf("foreign key \"%s\" depends on it: drop it, and create it again after the new index",
				   get_constraint_name(linitial_oid(refs))));
}

/* What the server wants to be a btree, by version. */
static void
fpt_judge_uses(Relation index, Relation heap, FPTReplacement *r)
{
	if (r->am == BTREE_AM_OID || !index->rd_index->indisunique)
		return;
	if (heap->rd_rel->relkind == RELKIND_PARTITIONED_TABLE &&
		fpt_core_lacks_speculation())
		fpt_reason(r, "a unique index of a partitioned table must be a btree before version 18");
	if (heap->rd_rel->relkind == RELKIND_MATVIEW &&
		fpt_core_lacks_speculation())
		fpt_reason(r, "REFRESH MATERIALIZED VIEW CONCURRENTLY needs a unique btree index before version 18");
	if (index->rd_index->indisreplident && fpt_core_identity_btree())
		fpt_reason(r, "it is the replica identity, which subscribers of version 17 find by a btree only");
}

/*
 * A partition of the table, at any level, that is a foreign table; NULL: it has
 * no such partition.  A foreign table has no index to attach, without which an
 * index that was made for the partitioned table alone does not become valid.
 */
static char *
fpt_foreign_partition(Relation heap)
{
	ListCell   *lc;

	if (heap->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return NULL;
	foreach(lc, find_all_inheritors(RelationGetRelid(heap), NoLock, NULL))
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_FOREIGN_TABLE)
			return get_rel_name(lfirst_oid(lc));
	}
	return NULL;
}

/* Whose index is it, and is there one? */
static void
fpt_judge_kind(Relation index, Relation heap, FPTReplacement *r)
{
	Oid			extension = getExtensionOfObject(RelationRelationId,
												 RelationGetRelid(index));
	const char *foreign = fpt_foreign_partition(heap);

	if (index->rd_rel->relispartition)
		fpt_reason(r,
				   psprintf("it is a partition of index \"%s\", which is replaced as a whole",
				   get_rel_name(get_partition_parent(RelationGetRelid(index),
													 true))));
	if (!index->rd_index->indisvalid)
		fpt_reason(r, index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX ?
				   "it is not valid: a partition has no index" :
				   "it is not valid");
	if (foreign != NULL)
		fpt_reason(r,
				   psprintf("partition \"%s\" is a foreign table, so that the new index would not become valid",
				   foreign));
	if (RELATION_IS_OTHER_TEMP(index))
		fpt_reason(r, "it belongs to a temporary table of another session");
	if (IsCatalogRelation(heap))
		fpt_reason(r, "it is an index of the system catalogs");
	else if (heap->rd_rel->relkind == RELKIND_TOASTVALUE)
		fpt_reason(r, "it is an index of a TOAST table");
	if (OidIsValid(extension))
		fpt_reason(r,
				   psprintf("it belongs to extension \"%s\"",
				   get_extension_name(extension)));
}

/* The fillfactor among the index's options; 0: it has none. */
static int
fpt_option_fillfactor(Relation index)
{
	Oid			relid = RelationGetRelid(index);
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	int			fillfactor = 0;
	bool		isnull;
	Datum		options;
	ListCell   *lc;

	if (!HeapTupleIsValid(tup))
		return 0;
	options = SysCacheGetAttr(RELOID, tup, Anum_pg_class_reloptions, &isnull);
	foreach(lc, isnull ? NIL : untransformRelOptions(options))
	{
		DefElem    *def = (DefElem *) lfirst(lc);

		/* as core reads it, which takes 0120 and 7e1, too; 0 if it does not */
		if (strcmp(def->defname, "fillfactor") == 0)
			(void) parse_int(defGetString(def), &fillfactor, 0, NULL);
	}
	ReleaseSysCache(tup);
	return fillfactor;
}

/*
 * A partition's index goes with that of the whole table, and what depends on it
 * would go, too, or keep it from going.
 */
void
fpt_replace_judge_part(Relation part, FPTReplacement *r)
{
	FPTReplacement own = {.am = r->am};
	Relation	heap = table_open(part->rd_index->indrelid, AccessShareLock);

	fpt_judge_constraints(part, &own);
	if (part->rd_rel->relkind == RELKIND_INDEX)
		fpt_judge_uses(part, heap, &own);
	if (own.reasons != NULL)
		fpt_reason(r,
				   psprintf("its partition \"%s\" cannot be replaced: %s",
				   RelationGetRelationName(part), own.reasons));
	table_close(heap, AccessShareLock);
}

void
fpt_replace_judge(Relation index, FPTReplacement *r)
{
	Relation	heap = table_open(index->rd_index->indrelid, AccessShareLock);

	memset(r, 0, sizeof(*r));
	r->am = index->rd_rel->relam == BTREE_AM_OID ?
		get_index_am_oid("fptree", false) : BTREE_AM_OID;
	r->fillfactor = fpt_option_fillfactor(index);
	fpt_judge_kind(index, heap, r);
	fpt_judge_constraints(index, r);
	fpt_judge_uses(index, heap, r);
	fpt_judge_opclasses(index, r);
	table_close(heap, AccessShareLock);
}

/* --- CREATE INDEX -------------------------------------------------------- */

/* A relation's name with its schema, quoted. */
static char *
fpt_qualified(Relation rel)
{
	return quote_qualified_identifier(
		get_namespace_name(RelationGetNamespace(rel)),
		RelationGetRelationName(rel));
}

/*
 * Append key column i, from 0 on, of the new index: with collation, operator
 * class and order where they are not what would be taken without.
 */
static void
fpt_append_column(StringInfo s, Relation index, const FPTReplacement *r, int i,
				  Node *expr)
{
	Oid			relid = RelationGetRelid(index);
	Datum		column = OidFunctionCall3(F_PG_GET_INDEXDEF_OID_INT4_BOOL,
										  ObjectIdGetDatum(relid),
										  Int32GetDatum(i + 1),
										  BoolGetDatum(false));
	int16		option = index->rd_indoption[i];
	Oid			collation = index->rd_indcollation[i];
	Oid			type;
	Oid			own;
	int32		typmod;

	if (expr != NULL)
	{
		type = exprType(expr);
		own = exprCollation(expr);
	}
	else
		get_atttypetypmodcoll(index->rd_index->indrelid,
							  index->rd_index->indkey.values[i],
							  &type, &typmod, &own);
	appendStringInfoString(s, TextDatumGetCString(column));
	if (OidIsValid(collation) && collation != own)
		appendStringInfo(s, " COLLATE %s", generate_collation_name(collation));
	if (GetDefaultOpClass(type, r->am) != r->opclasses[i])
		appendStringInfo(s, " %s", generate_opclass_name(r->opclasses[i]));
	if (option & INDOPTION_DESC)
		appendStringInfoString(s, " DESC");
	if (((option & INDOPTION_DESC) != 0) !=
		((option & INDOPTION_NULLS_FIRST) != 0))
		appendStringInfoString(s, option & INDOPTION_NULLS_FIRST ?
							   " NULLS FIRST" : " NULLS LAST");
}

/*
 * The index's predicate as it was written, not as the planner has simplified
 * it, with functions inlined; NULL: it has none.
 */
static char *
fpt_predicate(Relation index)
{
	bool		isnull;
	Datum		pred = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
									   Anum_pg_index_indpred, &isnull);
	Oid			heapid = index->rd_index->indrelid;

	if (isnull)
		return NULL;
	return TextDatumGetCString(DirectFunctionCall2(pg_get_expr, pred,
												   ObjectIdGetDatum(heapid)));
}

/*
 * The new index's CREATE INDEX, under another name.  "only": of a partitioned
 * table, without its partitions.
 */
static char *
fpt_create_statement(Relation index, const FPTReplacement *r, const char *name,
					 bool only)
{
	Relation	heap = table_open(index->rd_index->indrelid, AccessShareLock);
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	List	   *exprs = RelationGetIndexExpressions(index);
	char	   *pred = fpt_predicate(index);
	ListCell   *expr = list_head(exprs);
	StringInfoData s;

	initStringInfo(&s);
	appendStringInfo(&s, "CREATE %sINDEX %s%s ON %s%s USING %s (",
					 index->rd_index->indisunique ? "UNIQUE " : "",
					 only ? "" : "CONCURRENTLY ", quote_identifier(name),
					 only ? "ONLY " : "", fpt_qualified(heap),
					 quote_identifier(get_am_name(r->am)));
	for (int i = 0; i < RelationGetNumberOfAttributes(index); i++)
	{
		Node	   *node = NULL;

		if (index->rd_index->indkey.values[i] == 0)
		{
			node = (Node *) lfirst(expr);
			expr = lnext(exprs, expr);
		}
		appendStringInfoString(&s, i == nkeys ? ") INCLUDE (" :
							   i > 0 ? ", " : "");
		if (i < nkeys)
			fpt_append_column(&s, index, r, i, node);
		else
			appendStringInfoString(&s, quote_identifier(
				get_attname(RelationGetRelid(heap),
							index->rd_index->indkey.values[i], false)));
	}
	appendStringInfoChar(&s, ')');
	if (index->rd_index->indnullsnotdistinct)
		appendStringInfoString(&s, " NULLS NOT DISTINCT");
	if (r->fillfactor > 0)
		appendStringInfo(&s, " WITH (fillfactor = %d)", r->fillfactor);
	if (OidIsValid(index->rd_rel->reltablespace))
		appendStringInfo(&s, " TABLESPACE %s", quote_identifier(
			get_tablespace_name(index->rd_rel->reltablespace)));
	if (pred != NULL)
		appendStringInfo(&s, " WHERE %s", pred);
	table_close(heap, AccessShareLock);
	return s.data;
}

/* --- what else there is --------------------------------------------------- */

/* An index's name in the index's schema, quoted. */
static char *
fpt_beside(Relation index, const char *name)
{
	return quote_qualified_identifier(
		get_namespace_name(RelationGetNamespace(index)), name);
}

/* Is the name one of these? */
static bool
fpt_is_taken(List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	}
	return false;
}

/*
 * A name for the new index that no relation of its schema has, and that is not
 * taken, as fpt_beside() has it: long names are cut, and may differ at their
 * ends only.  Reads catalogues.
 */
static char *
fpt_new_name(Relation index, const FPTReplacement *r, List *taken)
{
	const char *am = get_am_name(r->am);
	const char *label = am;
	int			n = 0;

	for (;;)
	{
		char	   *name = ChooseRelationName(RelationGetRelationName(index),
											  NULL, label,
											  RelationGetNamespace(index),
											  false);

		if (!fpt_is_taken(taken, fpt_beside(index, name)))
			return name;
		label = psprintf("%s%d", am, ++n);
	}
}

/* Statistics targets of expressions, and the statistics. */
static List *
fpt_statistics_statements(List *list, Relation index, const char *to)
{
	Relation	heap = table_open(index->rd_index->indrelid, AccessShareLock);
	Oid			relid = RelationGetRelid(index);

	for (int i = 1; i <= RelationGetNumberOfAttributes(index); i++)
	{
		HeapTuple	tup = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid),
										  Int16GetDatum(i));
		bool		isnull = true;
		Datum		target = (Datum) 0;

		if (HeapTupleIsValid(tup))
		{
			target = SysCacheGetAttr(ATTNUM, tup,
									 Anum_pg_attribute_attstattarget, &isnull);
			ReleaseSysCache(tup);
		}
		if (!isnull && DatumGetInt16(target) >= 0)
			list = lappend(list, psprintf("ALTER INDEX %s ALTER COLUMN %d SET STATISTICS %d",
										  to, i, DatumGetInt16(target)));
	}
	if (RelationGetIndexExpressions(index) != NIL)
		list = lappend(list, psprintf("ANALYZE %s", fpt_qualified(heap)));
	table_close(heap, AccessShareLock);
	return list;
}

/* The extensions with which the index would be dropped. */
static List *
fpt_extension_statements(List *list, Relation index, const char *to)
{
	ListCell   *lc;

	foreach(lc, getAutoExtensionsOfObject(RelationRelationId,
										  RelationGetRelid(index)))
	{
		char	   *name = get_extension_name(lfirst_oid(lc));

		if (name != NULL)
			list = lappend(list, psprintf("ALTER INDEX %s DEPENDS ON EXTENSION %s",
										  to, quote_identifier(name)));
	}
	return list;
}

/* The index's comment, on the one that has its name now. */
static List *
fpt_comment_statement(List *list, Relation index)
{
	char	   *comment = GetComment(RelationGetRelid(index),
									 RelationRelationId, 0);

	if (comment == NULL)
		return list;
	return lappend(list, psprintf("COMMENT ON INDEX %s IS %s",
								  fpt_qualified(index),
								  quote_literal_cstr(comment)));
}

static List *
fpt_rename_statement(List *list, Relation index, const char *from)
{
	const char *name = quote_identifier(RelationGetRelationName(index));

	return lappend(list, psprintf("ALTER INDEX %s RENAME TO %s", from, name));
}

/* What the table has the index for; the new one has another name yet. */
static List *
fpt_mark_statements(List *list, Relation index, const char *name)
{
	Relation	heap = table_open(index->rd_index->indrelid, AccessShareLock);

	if (index->rd_index->indisreplident)
		list = lappend(list, psprintf("ALTER TABLE %s REPLICA IDENTITY USING INDEX %s",
									  fpt_qualified(heap),
									  quote_identifier(name)));
	if (index->rd_index->indisclustered)
		list = lappend(list, psprintf("ALTER %s %s CLUSTER ON %s",
									  heap->rd_rel->relkind == RELKIND_MATVIEW ?
									  "MATERIALIZED VIEW" : "TABLE",
									  fpt_qualified(heap),
									  quote_identifier(name)));
	table_close(heap, AccessShareLock);
	return list;
}

/* Statements for an index of a table that is not partitioned. */
static List *
fpt_plain_statements(Relation index, const FPTReplacement *r)
{
	char	   *name = fpt_new_name(index, r, NIL);
	char	   *to = fpt_beside(index, name);
	List	   *list = list_make1(fpt_create_statement(index, r, name, false));

	list = fpt_statistics_statements(list, index, to);
	list = fpt_extension_statements(list, index, to);
	list = fpt_mark_statements(list, index, name);
	list = lappend(list, psprintf("DROP INDEX CONCURRENTLY %s",
								  fpt_qualified(index)));
	list = fpt_rename_statement(list, index, to);
	return fpt_comment_statement(list, index);
}

/*
 * Statements for an index of a partitioned table: the new one is made without
 * those of the partitions, which are built one by one, and attached from the
 * leaves of the tree upwards; only then that of a partitioned table is valid,
 * and can be its replica identity.  Dropping the old one waits for all
 * partitions, and locks them, for a moment.
 */
static List *
fpt_partitioned_statements(Relation index, const FPTReplacement *r)
{
	List	   *tree = find_all_inheritors(RelationGetRelid(index),
										   AccessShareLock, NULL);
	List	   *list = NIL;
	List	   *attach = NIL;
	List	   *marks = NIL;
	List	   *rename = NIL;
	List	   *names = NIL;	/* of the new ones, in the order of the tree */
	ListCell   *lc;

	foreach(lc, tree)
	{
		Relation	part = index_open(lfirst_oid(lc), NoLock);
		bool		leaf = part->rd_rel->relkind == RELKIND_INDEX;
		char	   *name = fpt_new_name(part, r, names);
		char	   *to = fpt_beside(part, name);
		FPTReplacement own = *r;

		own.fillfactor = fpt_option_fillfactor(part);
		list = lappend(list, fpt_create_statement(part, &own, name, !leaf));
		if (leaf)
			list = fpt_statistics_statements(list, part, to);
		list = fpt_extension_statements(list, part, to);
		if (foreach_current_index(lc) > 0)
		{
			Oid			parent = get_partition_parent(lfirst_oid(lc), true);
			int			at = 0;

			while (list_nth_oid(tree, at) != parent)
				at++;
			attach = lcons(psprintf("ALTER INDEX %s ATTACH PARTITION %s",
									(char *) list_nth(names, at), to), attach);
		}
		marks = fpt_mark_statements(marks, part, name);
		names = lappend(names, to);
		rename = fpt_rename_statement(rename, part, to);
		rename = fpt_comment_statement(rename, part);
		index_close(part, NoLock);
	}
	list = list_concat(list_concat(list, attach), marks);
	list = lappend(list, psprintf("DROP INDEX %s", fpt_qualified(index)));
	return list_concat(list, rename);
}

List *
fpt_replace_statements(Relation index, const FPTReplacement *r)
{
	Assert(r->reasons == NULL && r->has_opclasses);
	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		return fpt_partitioned_statements(index, r);
	return fpt_plain_statements(index, r);
}

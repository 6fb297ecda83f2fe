/*-------------------------------------------------------------------------
 *
 * key/validate.c
 *	  Checks of operator classes and families: amvalidate, amadjustmembers.
 *
 * A family looks like one of btree: strategies 1 to 5 and support functions
 * that are numbered as btree's.
 *
 * Problems are reported as INFO, one message for each, as other access methods
 * do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/xact.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "key/procs.h"
#include "key/validate.h"

/* All five strategies, as a bit mask of OpFamilyOpFuncGroup.operatorset. */
#define FPT_ALL_STRATEGIES \
	((1 << BTLessStrategyNumber) | (1 << BTLessEqualStrategyNumber) | \
	 (1 << BTEqualStrategyNumber) | (1 << BTGreaterEqualStrategyNumber) | \
	 (1 << BTGreaterStrategyNumber))

/* What is being validated, and the verdict so far. */
typedef struct FPTValidation
{
	Oid			opcintype;
	const char *opclass;		/* names */
	const char *opfamily;
	bool		ok;
} FPTValidation;

/* Report a problem of the family or the class. */
static void
bad(FPTValidation *v, const char *problem)
{
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg_internal("%s", problem)));
	v->ok = false;
}

/* Report a problem with one member of the family. */
static void
bad_member(FPTValidation *v, const char *member, const char *problem)
{
	bad(v, psprintf("operator family \"%s\" of access method fptree contains %s, %s",
					v->opfamily, member, problem));
}

/* Report something that is missing for a pair of types. */
static void
missing_for_types(FPTValidation *v, const char *what, OpFamilyOpFuncGroup *g)
{
	Assert(OidIsValid(g->lefttype) && OidIsValid(g->righttype));
	bad(v, psprintf("operator family \"%s\" of access method fptree is missing %s for types %s and %s",
					v->opfamily, what, format_type_be(g->lefttype),
					format_type_be(g->righttype)));
}

/*
 * Has a support function the arguments and the result that its number asks for?
 * The same as for btree.  False for numbers that mean nothing.  Reads
 * catalogues.
 */
static bool
support_signature_ok(Form_pg_amproc proc)
{
	Oid			left = proc->amproclefttype;
	Oid			right = proc->amprocrighttype;

	switch (proc->amprocnum)
	{
		case FPT_ORDER_PROC:
			return check_amproc_signature(proc->amproc, INT4OID, true, 2, 2,
										  left, right);
		case FPT_SORTSUPPORT_PROC:
			return check_amproc_signature(proc->amproc, VOIDOID, true, 1, 1,
										  INTERNALOID);
		case FPT_INRANGE_PROC:
			return check_amproc_signature(proc->amproc, BOOLOID, true, 5, 5,
										  left, left, right, BOOLOID, BOOLOID);
		case FPT_EQUALIMAGE_PROC:
			return check_amproc_signature(proc->amproc, BOOLOID, true, 1, 1,
										  OIDOID);
		case FPT_OPTIONS_PROC:
			return check_amoptsproc_signature(proc->amproc);
		default:
			return false;
	}
}

/*
 * Each support function by itself: number and signature.  Reports what is not
 * right as INFO.
 */
static void
validate_functions(FPTValidation *v, CatCList *proclist)
{
	for (int i = 0; i < proclist->n_members; i++)
	{
		HeapTuple	tup = &proclist->members[i]->tuple;
		Form_pg_amproc proc = (Form_pg_amproc) GETSTRUCT(tup);
		char	   *name = psprintf("function %s",
									format_procedure(proc->amproc));

		if (proc->amprocnum < 1 || proc->amprocnum > FPT_NPROCS)
			bad_member(v, name, psprintf("which has the invalid support number %d",
										 proc->amprocnum));
		else if (!support_signature_ok(proc))
			bad_member(v, name, psprintf("which has a wrong signature for support number %d",
										 proc->amprocnum));
	}
}

/*
 * Each operator by itself: strategy, purpose, types.  Reports what is not right
 * as INFO.
 */
static void
validate_operators(FPTValidation *v, CatCList *oprlist)
{
	for (int i = 0; i < oprlist->n_members; i++)
	{
		HeapTuple	tup = &oprlist->members[i]->tuple;
		Form_pg_amop opr = (Form_pg_amop) GETSTRUCT(tup);
		char	   *name = psprintf("operator %s",
									format_operator(opr->amopopr));

		if (opr->amopstrategy < BTLessStrategyNumber ||
			opr->amopstrategy > BTMaxStrategyNumber)
			bad_member(v, name, psprintf("which has the invalid strategy number %d",
										 opr->amopstrategy));
		if (opr->amoppurpose != AMOP_SEARCH || OidIsValid(opr->amopsortfamily))
			bad_member(v, name, "which has an ORDER BY specification");
		if (!check_amop_signature(opr->amopopr, BOOLOID,
								  opr->amoplefttype, opr->amoprighttype))
			bad_member(v, name, "which has a wrong signature");
	}
}

/*
 * The family as a whole: each pair of types must have all operators and a
 * comparison function, and all pairs should be there.  Reports what is not as
 * INFO; reads catalogues.
 */
static void
validate_groups(FPTValidation *v, CatCList *oprlist, CatCList *proclist)
{
	List	   *groups = identify_opfamily_groups(oprlist, proclist);
	List	   *types = NIL;
	int			npairs = 0;
	bool		found = false;
	ListCell   *lc;

	foreach(lc, groups)
	{
		OpFamilyOpFuncGroup *g = (OpFamilyOpFuncGroup *) lfirst(lc);

		/* in_range takes offsets of types that are not the family's */
		if (g->operatorset == 0 &&
			g->functionset == (UINT64CONST(1) << FPT_INRANGE_PROC))
			continue;

		npairs++;
		types = list_append_unique_oid(types, g->lefttype);
		types = list_append_unique_oid(types, g->righttype);
		if (g->lefttype == v->opcintype && g->righttype == v->opcintype)
			found = true;

		if (g->operatorset != FPT_ALL_STRATEGIES)
			missing_for_types(v, "operators", g);
		if ((g->functionset & (UINT64CONST(1) << FPT_ORDER_PROC)) == 0)
			missing_for_types(v, "the comparison function", g);
	}

	/* there is one group for each pair of types */
	Assert(npairs <= list_length(types) * list_length(types));
	if (!found)
		bad(v, psprintf("operator class \"%s\" of access method fptree has neither operators nor functions for type %s",
						v->opclass, format_type_be(v->opcintype)));

	/*
	 * Scans do without a pair of types, but the planner derives less from
	 * equal columns, since PostgreSQL 18 even in queries that use no index.
	 */
	if (npairs != list_length(types) * list_length(types))
		bad(v, psprintf("operator family \"%s\" of access method fptree is missing cross-type operators",
						v->opfamily));
}

/* An operator family, for ReleaseSysCache(); raises an error if it is gone. */
static HeapTuple
find_family(Oid opfamily)
{
	HeapTuple	tup = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(opfamily));

	if (!HeapTupleIsValid(tup))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("operator family with OID %u does not exist",
						opfamily)));
	return tup;
}

/*
 * amvalidate: returns whether the operator class, with its family, is one that
 * indexes can be made of.  Problems are reported as INFO; raises an error only
 * if there is no such class.  Reads catalogues; allocates in the current
 * context.
 */
bool
fptvalidate(Oid opclassoid)
{
	FPTValidation v;
	HeapTuple	classtup;
	HeapTuple	familytup;
	Form_pg_opclass opclass;
	Form_pg_opfamily family;
	Oid			opfamily;
	CatCList   *oprlist;
	CatCList   *proclist;

	classtup = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclassoid));
	if (!HeapTupleIsValid(classtup))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("operator class with OID %u does not exist",
						opclassoid)));
	opclass = (Form_pg_opclass) GETSTRUCT(classtup);
	opfamily = opclass->opcfamily;
	familytup = find_family(opfamily);
	v.opcintype = opclass->opcintype;
	v.opclass = NameStr(opclass->opcname);
	family = (Form_pg_opfamily) GETSTRUCT(familytup);
	Assert(family->opfmethod == opclass->opcmethod);
	v.opfamily = NameStr(family->opfname);
	v.ok = true;

	oprlist = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(opfamily));
	proclist = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(opfamily));

	/* An entry is stored as its column's value. */
	if (OidIsValid(opclass->opckeytype) &&
		opclass->opckeytype != opclass->opcintype)
		bad(&v, psprintf("operator class \"%s\" of access method fptree stores another type than its column's",
						 v.opclass));
	validate_functions(&v, proclist);
	validate_operators(&v, oprlist);
	validate_groups(&v, oprlist, proclist);

	ReleaseCatCacheList(proclist);
	ReleaseCatCacheList(oprlist);
	ReleaseSysCache(familytup);
	ReleaseSysCache(classtup);
	return v.ok;
}

/* The access method of an operator family. */
static Oid
family_am(Oid opfamilyoid)
{
	HeapTuple	tup = find_family(opfamilyoid);
	Oid			am = ((Form_pg_opfamily) GETSTRUCT(tup))->opfmethod;

	ReleaseSysCache(tup);
	return am;
}

/*
 * amadjustmembers: which members of a family depend on an operator class.
 *
 * Operators and comparison functions of one type belong to the operator class
 * for this type, if there is one; all others are loose members of the family,
 * which ALTER OPERATOR FAMILY can drop.  Changes the members of both lists.
 * Reads catalogues, after a CommandCounterIncrement() if there is a class; may
 * raise.
 */
void
fptadjustmembers(Oid opfamilyoid, Oid opclassoid, List *operators,
				 List *functions)
{
	Oid			am;
	Oid			type = InvalidOid;	/* "opclassoid" is for this type */
	ListCell   *lc;

	if (OidIsValid(opclassoid))
	{
		/* a class that is being created must be visible, its family too */
		CommandCounterIncrement();
		type = get_opclass_input_type(opclassoid);
	}
	am = family_am(opfamilyoid);

	foreach(lc, list_concat_copy(operators, functions))
	{
		OpFamilyMember *m = (OpFamilyMember *) lfirst(lc);
		Oid			owner = InvalidOid;

		/* core has looked at the number, and found the types */
		Assert(OidIsValid(m->lefttype) && OidIsValid(m->righttype));
		Assert(m->number >= 1 &&
			   m->number <= (m->is_func ? FPT_NPROCS : BTMaxStrategyNumber));
		if (m->lefttype == m->righttype &&
			(!m->is_func || m->number == FPT_ORDER_PROC))
		{
			if (m->lefttype != type)
			{
				type = m->lefttype;
				opclassoid = opclass_for_family_datatype(am, opfamilyoid,
														 type);
			}
			owner = opclassoid;
		}

		m->ref_is_hard = OidIsValid(owner);
		m->ref_is_family = !OidIsValid(owner);
		m->refobjid = OidIsValid(owner) ? owner : opfamilyoid;
	}
}

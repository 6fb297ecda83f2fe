/*-------------------------------------------------------------------------
 *
 * plan/keyset.c
 *	  Conditions of keyset pages: where in the order of an index they begin.
 *
 * A page of a list begins after the last row of the page before.  Row
 * comparisons say so, (a, b) > (x, y), and programs write it out:
 *
 *		a > x OR (a = x AND b > y)
 *		a > x OR (a = x AND b > y) OR (a = x AND b = y AND c > z)
 *		a > x OR (a = x AND (b > y OR (b = y AND c > z)))
 *
 * An OR is no condition of an index.  But in every alternative a is x, or after
 * it, so that a >= x is implied.  The rest of the alternatives with a = x is
 * such a condition of the next column, or a plain comparison, and so on.
 * Directions may be mixed: those of an index are, too.  Whatever else an
 * alternative says leaves out more rows.  Operators are strict: a NULL, in a
 * row or among the values, makes no alternative true that looks at it.
 *
 * The planner is offered a >= x (plan/plan.c), the scan is given the whole
 * position (plan/extrakeys.c); the functions here find out both.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "plan/keyset.h"
#include "server/compat.h"

/* Alternatives of a condition: more are not looked at. */
#define FPT_MAX_ARMS	8

/*
 * Is an operand the i'th column of the index?  Expressions are, in the planner.
 */
static bool
fpt_is_column(const FPTKeyColumns *cols, Node *operand, int i)
{
	const Var  *var;
	int			attno;

	Assert(i >= 0 && i < cols->n);
	if (cols->info != NULL)
		return match_index_to_operand(operand, i, cols->info);
	while (IsA(operand, RelabelType))
		operand = (Node *) ((RelabelType *) operand)->arg;
	var = (const Var *) operand;
	attno = cols->attnos != NULL ? cols->attnos[i] : i + 1;
	return IsA(var, Var) && var->varno == cols->varno && attno != 0 &&
		var->varattno == attno;
}

/* Can this be the value of a position: is it the same for all rows? */
static bool
fpt_is_value(Node *value)
{
	if (IsA(value, Const) || IsA(value, Param))
		return true;
	return !contain_var_clause(value) && !contain_subplans(value) &&
		!contain_volatile_functions(value);
}

bool
fpt_keyset_term(const FPTKeyColumns *cols, Node *clause, int i,
				FPTKeyTerm *term)
{
	const OpExpr *op = (const OpExpr *) clause;
	Node	   *left;
	Node	   *right;

	Assert(i >= 0 && i < cols->n);
	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return false;
	if (OidIsValid(cols->collation[i]) &&
		cols->collation[i] != op->inputcollid)
		return false;
	left = (Node *) linitial(op->args);
	right = (Node *) lsecond(op->args);
	term->opno = op->opno;
	if (!fpt_is_column(cols, left, i))
	{
		Node	   *tmp = left;

		left = right;
		right = tmp;
		if (!fpt_is_column(cols, left, i))
			return false;
		term->opno = get_commutator(op->opno);
		if (!OidIsValid(term->opno))
			return false;
	}
	if (!fpt_is_value(right))
		return false;
	term->strategy = get_op_opfamily_strategy(term->opno, cols->family[i]);
	term->col = i;
	term->operand = left;
	term->value = right;
	term->others = NIL;
	return term->strategy != 0;
}

/*
 * The first of these clauses that says "column = value", or that it is after,
 * or before, a value; -1: no clause does.  Reads catalogues.
 */
static int
fpt_find_term(const FPTKeyColumns *cols, List *clauses, int i, bool after,
			  FPTKeyTerm *term)
{
	for (int k = 0; k < list_length(clauses); k++)
	{
		if (!fpt_keyset_term(cols, list_nth(clauses, k), i, term))
			continue;
		if (term->strategy == BTEqualStrategyNumber ||
			(after ? term->strategy > BTEqualStrategyNumber :
			 term->strategy < BTEqualStrategyNumber))
			return k;
	}
	return -1;
}

/* The clauses that are all true where this one is. */
static List *
fpt_conjuncts(Node *clause)
{
	return is_andclause(clause) ? ((BoolExpr *) clause)->args :
		list_make1(clause);
}

/*
 * Returns alternatives, each a list of clauses, for one whose clauses say
 * nothing of a column: those of an OR among them.  NIL: there is no OR, or it
 * has too many.  Allocates in the current context.
 */
static List *
fpt_nested_arms(List *clauses)
{
	List	   *arms = NIL;
	ListCell   *lc;
	ListCell   *arm;

	foreach(lc, clauses)
	{
		BoolExpr   *or = (BoolExpr *) lfirst(lc);

		if (!is_orclause(or) || list_length(or->args) > FPT_MAX_ARMS)
			continue;
		foreach(arm, or->args)
			arms = lappend(arms, fpt_conjuncts(lfirst(arm)));
		break;
	}
	return arms;
}

/*
 * Do all alternatives say of the i'th column that it is v, or after v (or
 * before)?  Sets *term, and *rest to the other clauses of those where it is v.
 * Reads catalogues; allocates in the current context.
 */
static bool
fpt_common_term(const FPTKeyColumns *cols, List *arms, int i, bool after,
				FPTKeyTerm *term, List **rest)
{
	bool		strict = true;
	bool		first = true;

	*rest = NIL;
	for (int k = 0; k < list_length(arms); k++)
	{
		List	   *clauses = (List *) list_nth(arms, k);
		FPTKeyTerm	here;
		int			at = fpt_find_term(cols, clauses, i, after, &here);

		if (at < 0)
		{
			List	   *nested = fpt_nested_arms(clauses);

			if (nested == NIL ||
				list_length(arms) + list_length(nested) > FPT_MAX_ARMS)
				return false;
			arms = list_concat_copy(arms, nested);
			continue;
		}
		if (first)
			*term = here;
		else if (here.value != term->value && !equal(here.value, term->value))
		{
			Oid			type = exprType(term->value);

			if (exprType(here.value) != type ||
				(IsA(here.value, Const) && IsA(term->value, Const)))
				return false;
			term->others = list_append_unique(term->others, here.value);
		}
		first = false;
		if (here.strategy == BTEqualStrategyNumber)
			*rest = lappend(*rest,
							list_delete_nth_cell(list_copy(clauses), at));
		else
		{
			strict &= here.strategy == BTLessStrategyNumber ||
				here.strategy == BTGreaterStrategyNumber;
			term->opno = here.opno;
			term->strategy = here.strategy;
		}
	}
	if (term->strategy == BTEqualStrategyNumber)
		return false;
	if (!strict)
	{
		/* the value itself matches, whatever comes after it */
		*rest = NIL;
		term->strategy = after ? BTGreaterEqualStrategyNumber :
			BTLessEqualStrategyNumber;
	}
	return true;
}

/*
 * Nothing is known of rows with just these values, so that they belong to those
 * that may match.  Returns the number of terms, as fpt_keyset_terms().
 */
static int
fpt_include_last(FPTKeyTerm *terms, int n)
{
	if (n > 0)
		terms[n - 1].strategy =
			terms[n - 1].strategy > BTEqualStrategyNumber ?
			BTGreaterEqualStrategyNumber : BTLessEqualStrategyNumber;
	return n;
}

/*
 * The same of a row comparison, whose members say it of one column each.  Reads
 * catalogues; allocates in the current context.
 */
static int
fpt_row_terms(const FPTKeyColumns *cols, const RowCompareExpr *rc, int i,
			  FPTKeyTerm *terms, int max)
{
	int			n = 0;

	while (n < max && n < list_length(rc->largs) && i + n < cols->n)
	{
		Expr	   *member = make_opclause(list_nth_oid(rc->opnos, n), BOOLOID,
										   false, list_nth(rc->largs, n),
										   list_nth(rc->rargs, n), InvalidOid,
										   list_nth_oid(rc->inputcollids, n));

		if (!fpt_keyset_term(cols, (Node *) member, i + n, &terms[n]) ||
			terms[n].strategy == BTEqualStrategyNumber)
			break;
		n++;
	}
	if (n == list_length(rc->largs))
		return n;
	return fpt_include_last(terms, n);
}

int
fpt_keyset_terms(const FPTKeyColumns *cols, Node *clause, int i,
				 FPTKeyTerm *terms, int max)
{
	List	   *arms = list_make1(list_make1(clause));
	int			n = 0;

	Assert(max > 0);
	if (IsA(clause, RowCompareExpr))
		return fpt_row_terms(cols, (RowCompareExpr *) clause, i, terms, max);
	if (!is_orclause(clause))
		return 0;
	while (n < max && i + n < cols->n)
	{
		List	   *rest = NIL;

		if (!fpt_common_term(cols, arms, i + n, true, &terms[n], &rest) &&
			!fpt_common_term(cols, arms, i + n, false, &terms[n], &rest))
			break;
		n++;
		if (rest == NIL)
			return n;
		arms = rest;
	}
	return fpt_include_last(terms, n);
}

/* --- planner -------------------------------------------------------------- */

/*
 * The value at which all alternatives begin: the least of several, which may be
 * the same one, as parameters of a generic plan are; or the greatest.  NULL if
 * the type's own order is another one.  Allocates in the current context; reads
 * catalogues.
 */
static Node *
fpt_outer_value(const FPTKeyColumns *cols, const FPTKeyTerm *term)
{
	MinMaxExpr *m;
	Oid			type = exprType(term->value);

	if (term->others == NIL)
		return term->value;
	if (cols->sortfamily == NULL ||
		lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf !=
		cols->sortfamily[term->col])
		return NULL;
	m = makeNode(MinMaxExpr);
	m->minmaxtype = type;
	m->minmaxcollid = exprCollation(term->value);
	m->inputcollid = cols->collation[term->col];
	m->op = term->strategy > BTEqualStrategyNumber ? IS_LEAST : IS_GREATEST;
	m->args = lcons(term->value, term->others);
	m->location = -1;
	return (Node *) m;
}

/*
 * The clause "operand >= value", or "operand <= value", that a term implies,
 * with the security level of the clause that says it: so it is not asked before
 * quals that hide rows, unless it is leakproof.  With a mark, or without: see
 * fpt_is_implied().  NULL if there is no such operator, or if not everybody may
 * call its function: core asks the role that runs the plan, which has not named
 * it.  In the current context; reads catalogues.
 */
static RestrictInfo *
fpt_term_clause(PlannerInfo *root, const FPTKeyColumns *cols,
				const RestrictInfo *from, const FPTKeyTerm *term, bool mark)
{
	Oid			family = cols->family[term->col];
	Node	   *value = fpt_outer_value(cols, term);
	Oid			ltype;
	Oid			rtype;
	Oid			op;
	int			strategy;
	Expr	   *clause;
	RestrictInfo *implied;

	get_op_opfamily_properties(term->opno, family, false, &strategy, &ltype,
							   &rtype);
	op = get_opfamily_member(family, ltype, rtype,
							 strategy > BTEqualStrategyNumber ?
							 BTGreaterEqualStrategyNumber :
							 BTLessEqualStrategyNumber);
	if (value == NULL || !OidIsValid(op) ||
		fpt_function_acl(get_opcode(op), ACL_ID_PUBLIC) != ACLCHECK_OK)
		return NULL;
	clause = make_opclause(op, BOOLOID, false, (Expr *) term->operand,
						   (Expr *) value,
						   mark ? FPT_IMPLIED_MARK : InvalidOid,
						   cols->collation[term->col]);
	set_opfuncid((OpExpr *) clause);
	implied = make_simple_restrictinfo(root, clause);
	implied->security_level = from->security_level;
	if (implied->security_level > 0)
		implied->leakproof = !contain_leaked_vars((Node *) clause);
	return implied;
}

/* May all of these that can say a position be asked first? */
static bool
fpt_are_free(const RelOptInfo *rel, const List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Node	   *clause = (Node *) rinfo->clause;

		if ((is_orclause(clause) || IsA(clause, RowCompareExpr)) &&
			!rinfo->leakproof &&
			rinfo->security_level > rel->baserestrict_min_security)
			return false;
	}
	return true;
}

List *
fpt_keyset_clauses(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *info,
				   bool or)
{
	FPTKeyColumns cols = {
		.n = info->nkeycolumns,
		.family = info->opfamily,
		.collation = info->indexcollations,
		.sortfamily = info->sortopfamily,
		.info = info
	};
	List	   *clauses = NIL;
	ListCell   *lc;
	bool		mark = fpt_are_free(rel, rel->baserestrictinfo) &&
		fpt_are_free(rel, rel->joininfo);

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *from = lfirst_node(RestrictInfo, lc);
		Node	   *clause = (Node *) from->clause;

		if (or ? !is_orclause(clause) : !IsA(clause, RowCompareExpr))
			continue;
		for (int i = 0; i < cols.n; i++)
		{
			FPTKeyTerm	term;
			RestrictInfo *implied;

			if (fpt_keyset_terms(&cols, clause, i, &term, 1) == 0)
				continue;
			implied = fpt_term_clause(root, &cols, from, &term, mark);
			/* else it would be no condition, but one more filter */
			if (implied != NULL &&
				restriction_is_securely_promotable(implied, rel))
				clauses = lappend(clauses, implied);
		}
	}
	return clauses;
}

/*-------------------------------------------------------------------------
 *
 * plan/keyset.h
 *	  Conditions of keyset pages: where in the order of an index they begin.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_KEYSET_H
#define FPT_PLAN_KEYSET_H

#include "catalog/pg_collation.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "utils/relcache.h"

/* The columns of an index, as the planner or a plan refers to them. */
typedef struct FPTKeyColumns
{
	int			n;				/* key columns */
	const Oid  *family;
	const Oid  *collation;
	const Oid  *sortfamily;		/* btree's families, or NULL */
	IndexOptInfo *info;			/* the planner's; NULL in a plan: */
	int			varno;			/* a column is a Var of this relation, with */
	const int16 *attnos;		/* these numbers; NULL: the index's own */
} FPTKeyColumns;

/* A column of a position, and its value there. */
typedef struct FPTKeyTerm
{
	int			col;
	int			strategy;		/* of the rows that match */
	Oid			opno;			/* column <operator> value */
	Node	   *operand;		/* the column */
	Node	   *value;
	List	   *others;			/* values that must be equal to that one, if
								 * terms after this are to mean anything */
} FPTKeyTerm;

/*
 * Finds the position that a condition says, from the i'th column on: no row
 * matches that is before (strategies > and >=), or after (< and <=), the terms'
 * values.  Sets as many terms as are known, at most max, in the order of
 * columns, and returns their number: 0 if nothing is known.  The last term's
 * strategy includes rows with the values themselves, or excludes them.
 * Reads catalogues; allocates in the current context.
 */
extern int	fpt_keyset_terms(const FPTKeyColumns *cols, Node *clause, int i,
							 FPTKeyTerm *terms, int max);

/*
 * The term of "column <operator> value", where the value has no columns; false
 * if the clause is not one about the i'th column.  As fpt_keyset_terms().
 */
extern bool fpt_keyset_term(const FPTKeyColumns *cols, Node *clause, int i,
							FPTKeyTerm *term);

/*
 * The clauses that conditions of a relation imply for columns of an index: of
 * "a > x OR (a = x AND b > y)", or else of "(a, b) > (x, y)", a >= x.  They are
 * new, in the current context, which must be the planner's.  A clause that must
 * not be asked before those that hide rows is left out.  Reads catalogues.
 */
extern List *fpt_keyset_clauses(PlannerInfo *root, RelOptInfo *rel,
								IndexOptInfo *info, bool or);

/*
 * An implied clause has a mark, which goes with it into the plan, and which
 * nobody else looks at or shows: a collation of its result, though that is a
 * boolean.  It allows the executor to begin a scan at the position that the
 * other clause says.
 */
#define FPT_IMPLIED_MARK	C_COLLATION_OID

static inline bool
fpt_is_implied(const Node *clause)
{
	return IsA(clause, OpExpr) &&
		((const OpExpr *) clause)->opcollid == FPT_IMPLIED_MARK;
}

#endif							/* FPT_PLAN_KEYSET_H */

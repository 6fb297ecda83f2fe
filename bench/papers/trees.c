/*-------------------------------------------------------------------------
 *
 * trees.c
 *	  The trees of the laboratory: one row for each.
 *
 *-------------------------------------------------------------------------
 */
#include "lab.h"

#define TREES(row) \
	/* in memory: tree_mem.c */ \
	row(b1) row(n8) row(p1) row(p2) row(p4) row(p8) row(p12) row(p16) \
	row(p24) row(p32) row(e8) row(i8) row(v1) row(v4) row(v8) row(v16) \
	row(csb1) row(csb8) row(vcsb1) row(vcsb8) \
	/* tree_mb.c */ \
	row(mbplus) row(mbbin) row(mbless) row(mbmid) row(mbnone) row(mbuniq) \
	row(mbsmall) \
	/* pages: tree_sorted.c */ \
	row(sorted) row(sortedb) row(sortedi) row(micro) row(vmicro) \
	/* tree_diskfirst.c */ \
	row(diskfirst) row(vdiskfirst) \
	/* tree_cachefirst.c */ \
	row(cachefirst) row(vcachefirst) \
	/* tree_nbtree.c */ \
	row(nbtree) \
	/* tree_product.c */ \
	row(product)

#define DECLARE(id)	extern const TreeKind id;
#define ADDRESS(id)	&id,

TREES(DECLARE)

const TreeKind *const tree_kinds[] = {TREES(ADDRESS) NULL};

const TreeKind *
tree_kind(const char *name)
{
	for (int i = 0; tree_kinds[i] != NULL; i++)
	{
		if (strcmp(tree_kinds[i]->name, name) == 0)
			return tree_kinds[i];
	}
	return NULL;
}

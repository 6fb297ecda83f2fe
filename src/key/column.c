/*-------------------------------------------------------------------------
 *
 * key/column.c
 *	  What is done where a tuple's columns cannot be what it says.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "key/column.h"

void
fpt_general_corrupt(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("entry of an fptree index is damaged"),
			 errhint("Please REINDEX the index.")));
}

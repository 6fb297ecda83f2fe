/*-------------------------------------------------------------------------
 *
 * key/validate.h
 *	  Is an operator class sound? amvalidate and amadjustmembers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_VALIDATE_H
#define FPT_KEY_VALIDATE_H

#include "nodes/pg_list.h"

extern bool fptvalidate(Oid opclassoid);

extern void fptadjustmembers(Oid opfamilyoid, Oid opclassoid,
							 List *operators, List *functions);

#endif							/* FPT_KEY_VALIDATE_H */

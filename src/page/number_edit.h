/*-------------------------------------------------------------------------
 *
 * page/number_edit.h
 *	  Changing leaf pages of numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_NUMBER_EDIT_H
#define FPT_PAGE_NUMBER_EDIT_H

#include "page/number.h"

/* What page/modify.h and page/remove.h say, of pages of numbers. */
extern FPTResult fpt_num_insert_find(const FPTNumbers *pg, const FPTEntry *e,
									 FPTPlace *p);
extern void fpt_num_insert_at(const FPTNumbers *pg, const FPTPlace *p,
							  FPTEdit *edit);
extern FPTResult fpt_num_make_room(FPTNumbers *pg, const FPTEntry *e);
extern void fpt_num_trim(FPTNumbers *pg);
extern void fpt_num_strip(FPTNumbers *pg);
extern FPTResult fpt_num_take(FPTNumbers *pg, const uint64 gone[FPT_MAX_NODES],
							  FPTChanges *changed);
extern FPTResult fpt_num_delete(FPTNumbers *pg, FPTLoc loc);
extern FPTResult fpt_num_truncate(FPTNumbers *pg, int n);

#endif							/* FPT_PAGE_NUMBER_EDIT_H */

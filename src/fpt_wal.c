/*-------------------------------------------------------------------------
 *
 * fpt_wal.c
 *	  The one place that changes pages in shared buffers and writes WAL.
 *
 * All records are of core's generic resource manager, so that a server without
 * this library replays them.  Two ways lead there:
 *
 * fpt_wal_insert() knows which bytes it changed and writes the record itself,
 * in the form that generic_redo() reads: for each block a sequence of
 * {uint16 offset, uint16 length, bytes}.  That costs a twentieth of what
 * GenericXLogFinish() costs, which copies each page twice and compares it.
 *
 * Everything else goes through the GenericXLog functions.
 *
 * Rules that both rely on (see src/README.md, "WAL"):
 *	- pd_lower .. pd_upper is zero after replay: only hints may be there;
 *	- a page that may not exist at replay, or whose old contents do not
 *	  matter, is logged as a full image;
 *	- at most four pages go into a record.
 *
 * Compiled with FPT_GENERIC_WAL_ONLY, fpt_wal_insert() uses the official
 * functions as well.
 *
 *-------------------------------------------------------------------------
 */
#include "fptree.h"

#include "access/generic_xlog.h"
#include "access/rmgr.h"
#include "access/xloginsert.h"

FPTWal *
fpt_wal_start(Relation rel)
{
	return GenericXLogStart(rel);
}

Page
fpt_wal_page(FPTWal *wal, Buffer buf, bool blank)
{
	return GenericXLogRegisterBuffer(wal, buf,
									 blank ? GENERIC_XLOG_FULL_IMAGE : 0);
}

void
fpt_wal_finish(FPTWal *wal)
{
	GenericXLogFinish(wal);
}

void
fpt_wal_abort(FPTWal *wal)
{
	GenericXLogAbort(wal);
}

#ifdef FPT_GENERIC_WAL_ONLY

FPTResult
fpt_wal_insert(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e)
{
	FPTWal	   *wal = fpt_wal_start(rel);
	Page		page = fpt_wal_page(wal, buf, false);
	FPTEdit		edit = {0};
	FPTResult	res = fpt_page_insert(&ix->layout, page, e, &edit);

	if (res == FPT_OK)
		fpt_wal_finish(wal);
	else
		fpt_wal_abort(wal);
	return res;
}

#else							/* !FPT_GENERIC_WAL_ONLY */

/* Write the record for one page's edits.  Caller is in a critical section. */
static void
fpt_log_edits(Buffer buf, Page page, const FPTEdit *edit)
{
	uint16		head[FPT_MAX_EDITS][2];
	XLogRecPtr	recptr;
	int			i;

	XLogBeginInsert();
	XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
	for (i = 0; i < edit->n; i++)
	{
		head[i][0] = edit->r[i].off;
		head[i][1] = edit->r[i].len;
		XLogRegisterBufData(0, (char *) head[i], sizeof(head[i]));
		XLogRegisterBufData(0, (char *) page + edit->r[i].off,
							edit->r[i].len);
	}
	recptr = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(page, recptr);
}

FPTResult
fpt_wal_insert(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e)
{
	Page		page = BufferGetPage(buf);
	FPTEdit		edit;
	FPTResult	res;

	edit.n = 0;

	/* The kernel neither allocates nor raises errors: see fpt_kernel.h. */
	START_CRIT_SECTION();
	res = fpt_page_insert(&ix->layout, page, e, &edit);
	if (res == FPT_OK)
	{
		MarkBufferDirty(buf);
		if (RelationNeedsWAL(rel))
			fpt_log_edits(buf, page, &edit);
	}
	END_CRIT_SECTION();
	return res;
}

#endif							/* FPT_GENERIC_WAL_ONLY */

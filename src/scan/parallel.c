/*-------------------------------------------------------------------------
 *
 * scan/parallel.c
 *	  Index scans by several processes.
 *
 * The participants of a parallel scan take turns in reading leaves.  What they
 * share is where the next leaf begins: a position in the key space, and a
 * sibling link that probably leads there.  A participant seizes the scan, looks
 * for the leaf that covers the position, locks it and puts the position after
 * it; then the next one may go on, while this one copies the leaf's entries and
 * returns them.
 *
 * Nothing else is needed, because the position says all: every participant has
 * the same ranges, made of the same quals, and goes on at the first one that
 * does not end before the position.  So arrays, skipping and ranges over
 * several columns know nothing of this file.  If the leaf has been split,
 * unlinked or used for something else when the next participant arrives, the
 * link does not lead to the position any more, and the tree is descended, as in
 * any scan.  No leaf is read twice, and none is left out, because the part of
 * the key space that a batch stands for begins where the last one's ended.
 *
 * State and rights: only who has seized the scan may look at the position, the
 * link and the window of leaf read-ahead, and seizing is a change of "state"
 * under the spinlock.  Whoever seizes it gives it up, or ends the scan, within
 * the same call of the access method, or raises an error, which ends the query
 * for all.  While it is seized, pages are locked, read and asked for, and
 * comparison functions run; nobody waits for another participant.  It is given
 * up under the leaf's share lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "utils/wait_event.h"

#include "page/format.h"
#include "scan/parallel.h"
#include "store/map.h"
#include "store/place.h"

typedef enum FPTParallelState
{
	FPT_PARALLEL_START,			/* nobody has begun */
	FPT_PARALLEL_IDLE,			/* the scan goes on at "pos" */
	FPT_PARALLEL_SEIZED,		/* somebody looks for the next leaf */
	FPT_PARALLEL_DONE			/* there is none */
} FPTParallelState;

/* In shared memory: behind core's description of the scan. */
typedef struct FPTParallel
{
	slock_t		mutex;			/* protects state */
	FPTParallelState state;
	ConditionVariable cv;		/* of those who want to seize the scan */

	/*
	 * Belongs to who has seized the scan.  Pointers in it are of no use to
	 * others: they are set anew.
	 */
	FPTKeyBuf	pos;			/* as FPTBatch.high, backward as .low */
	uint32		hint;
	bool		disorder;		/* FPTScanOpaque's */
	bool		havewindow;		/* the window has been initialised */
	FPTWindow	window;
} FPTParallel;

static FPTParallel *
fpt_parallel_state(IndexScanDesc scan)
{
	Assert(scan->parallel_scan != NULL);
	return OffsetToPointer(scan->parallel_scan,
						   fpt_parallel_offset(scan->parallel_scan));
}

/*
 * A key in shared memory was written by another process: find its tuple.  The
 * scan is seized.
 */
static void
fpt_key_here(FPTKeyBuf *buf)
{
	Assert(buf->key.search == NULL);
	buf->key.tup = buf->key.len > 0 ? buf->data : NULL;
	buf->key.pre = buf->key.cut > 0 ? buf->data + buf->key.len : NULL;
}

/* No leaf will be come to any more; of those asked for, some were in vain. */
static void
fpt_parallel_window_done(FPTParallel *p, IndexScanDesc scan)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;

	/* A page may be locked: if there is none, it is not made now. */
	if (!p->havewindow)
		return;
	p->window.counters = so->counters;
	fpt_window_done(&p->window);
}

/* --- the access method's functions --------------------------------------- */

Size
fptestimateparallelscan(FPT_ESTIMATE_PARALLEL_PARAMS)
{
	/* Core does not say, up to 17, of which index: room for any key. */
	return sizeof(FPTParallel);
}

void
fptinitparallelscan(void *target)
{
	FPTParallel *p = target;

	memset(p, 0, sizeof(FPTParallel));
	SpinLockInit(&p->mutex);
	p->state = FPT_PARALLEL_START;
	ConditionVariableInit(&p->cv);
}

/* See scan/parallel.h. */
void
fptparallelrescan(IndexScanDesc scan)
{
	FPTParallel *p = fpt_parallel_state(scan);

	Assert(!IsParallelWorker());
	fpt_parallel_window_done(p, scan);
	SpinLockAcquire(&p->mutex);
	p->state = FPT_PARALLEL_START;
	SpinLockRelease(&p->mutex);
}

/* --- turns --------------------------------------------------------------- */

bool
fpt_parallel_seize_it(IndexScanDesc scan, FPTKeyBuf *pos, uint32 *hint)
{
	FPTParallel *p = fpt_parallel_state(scan);
	FPTParallelState state;

	for (;;)
	{
		SpinLockAcquire(&p->mutex);
		state = p->state;
		if (state == FPT_PARALLEL_START || state == FPT_PARALLEL_IDLE)
			p->state = FPT_PARALLEL_SEIZED;
		SpinLockRelease(&p->mutex);
		if (state != FPT_PARALLEL_SEIZED)
			break;
		ConditionVariableSleep(&p->cv, WAIT_EVENT_BTREE_PAGE);
	}
	ConditionVariableCancelSleep();
	if (state == FPT_PARALLEL_IDLE)
	{
		Assert(p->state == FPT_PARALLEL_SEIZED);
		fpt_key_here(&p->pos);
		fpt_key_copy(pos, &p->pos.key);
		*hint = p->hint;
		((FPTScanOpaque *) scan->opaque)->disorder = p->disorder;
	}
	return state != FPT_PARALLEL_DONE;
}

/* Leave the scan to others in this state. */
static void
fpt_parallel_leave(FPTParallel *p, FPTParallelState state)
{
	Assert(p->state == FPT_PARALLEL_SEIZED);
	Assert(state == FPT_PARALLEL_IDLE || state == FPT_PARALLEL_DONE);
	SpinLockAcquire(&p->mutex);
	p->state = state;
	SpinLockRelease(&p->mutex);
	if (state == FPT_PARALLEL_DONE)
		ConditionVariableBroadcast(&p->cv);
	else
		ConditionVariableSignal(&p->cv);
}

void
fpt_parallel_release(IndexScanDesc scan, const FPTKey *pos, uint32 hint)
{
	FPTParallel *p = fpt_parallel_state(scan);

	Assert(pos->search == NULL);
	if (pos->cls == FPT_CLS_MINF || pos->cls == FPT_CLS_PINF)
	{
		fpt_parallel_done(scan);
		return;
	}
	fpt_key_copy(&p->pos, pos);
	p->hint = hint;
	p->disorder = ((FPTScanOpaque *) scan->opaque)->disorder;
	fpt_parallel_leave(p, FPT_PARALLEL_IDLE);
}

void
fpt_parallel_done(IndexScanDesc scan)
{
	FPTParallel *p;

	if (scan->parallel_scan == NULL)
		return;
	p = fpt_parallel_state(scan);
	fpt_parallel_window_done(p, scan);
	fpt_parallel_leave(p, FPT_PARALLEL_DONE);
}

FPTWindow *
fpt_parallel_window(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTParallel *p = fpt_parallel_state(scan);

	Assert(p->state == FPT_PARALLEL_SEIZED);
	if (!p->havewindow)
	{
		fpt_window_init(&p->window, scan->indexRelation, &so->ix.map,
						so->counters);
		p->havewindow = true;
	}
	p->window.counters = so->counters;
	fpt_key_here(&p->window.bound);
	return &p->window;
}

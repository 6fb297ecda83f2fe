/*-------------------------------------------------------------------------
 *
 * journal.h
 *	  What lostwrites.c notes of writes that were not synced yet, and
 *	  dropwrites.c reads after a crash.
 *
 * There is one journal for each file, named by its inode number.  A record says
 * what a change replaced; the changes that the records describe were made one
 * after the other, under a lock of the journal.  An fsync empties it.  A record
 * that is cut off belongs to a change that was not made.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_JOURNAL_H
#define FPT_JOURNAL_H

#include <stdint.h>

#define FPT_JOURNAL_MAGIC	0x4A4E4C57

/*
 * Bytes from .. from + len were changed, or cut off (shrinks); the first oldlen
 * of them were as stored behind the record, padded to a multiple of 8 bytes, the
 * others did not exist.  The file had oldsize bytes before.
 */
typedef struct FPTJournalRecord
{
	uint32_t	magic;
	uint32_t	shrinks;
	uint64_t	from;
	uint64_t	len;
	uint64_t	oldlen;
	uint64_t	oldsize;
} FPTJournalRecord;

/* Bytes that a record takes in the journal */
static inline uint64_t
fpt_journal_size(const FPTJournalRecord *rec)
{
	return sizeof(*rec) + ((rec->oldlen + 7) & ~(uint64_t) 7);
}

#endif							/* FPT_JOURNAL_H */

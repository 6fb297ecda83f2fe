/*-------------------------------------------------------------------------
 *
 * load/progress.h
 *	  Phases of a build, as pg_stat_progress_create_index tells them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_PROGRESS_H
#define FPT_BUILD_PROGRESS_H

/* Sub-phases of pg_stat_progress_create_index; 1 is core's "initializing". */
#define FPT_PHASE_SCAN			2
#define FPT_PHASE_SORT			3
#define FPT_PHASE_LOAD			4

#endif							/* FPT_BUILD_PROGRESS_H */

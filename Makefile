# fptree: fractal prefetching B+-tree index access method

EXTENSION = fptree
MODULE_big = fptree
DATA = fptree--1.0.sql
PGFILEDESC = "fptree - fractal prefetching B+-tree index access method"

OBJS = \
	src/fpt_am.o \
	src/fpt_buf.o \
	src/fpt_build.o \
	src/fpt_check.o \
	src/fpt_collation.o \
	src/fpt_cost.o \
	src/fpt_counts.o \
	src/fpt_delete.o \
	src/fpt_explain.o \
	src/fpt_finddisk.o \
	src/fpt_general.o \
	src/fpt_gcompare.o \
	src/fpt_geom.o \
	src/fpt_gorder.o \
	src/fpt_head.o \
	src/fpt_heapahead.o \
	src/fpt_heapcheck.o \
	src/fpt_hooks.o \
	src/fpt_image.o \
	src/fpt_insert.o \
	src/fpt_inspect.o \
	src/fpt_itup.o \
	src/fpt_kernel.o \
	src/fpt_load.o \
	src/fpt_modify.o \
	src/fpt_pagecheck.o \
	src/fpt_parallel.o \
	src/fpt_pbuild.o \
	src/fpt_place.o \
	src/fpt_plan.o \
	src/fpt_prefetch.o \
	src/fpt_preload.o \
	src/fpt_qual.o \
	src/fpt_radix.o \
	src/fpt_scan.o \
	src/fpt_scankey.o \
	src/fpt_search.o \
	src/fpt_simd.o \
	src/fpt_sort.o \
	src/fpt_sortkey.o \
	src/fpt_split.o \
	src/fpt_standby.o \
	src/fpt_stats.o \
	src/fpt_stripe.o \
	src/fpt_stripeam.o \
	src/fpt_stripegc.o \
	src/fpt_stripelist.o \
	src/fpt_sweep.o \
	src/fpt_testing.o \
	src/fpt_tuple.o \
	src/fpt_dict.o \
	src/fpt_unique.o \
	src/fpt_vacuum.o \
	src/fpt_validate.o \
	src/fpt_wal.o

PG_CPPFLAGS = -I$(srcdir)/src

# setup makes the extension and what the other files share
REGRESS = setup $(filter-out setup,$(patsubst $(srcdir)/sql/%.sql,%,$(sort $(wildcard $(srcdir)/sql/*.sql))))
ISOLATION = $(patsubst $(srcdir)/specs/%.spec,%,$(sort $(wildcard $(srcdir)/specs/*.spec)))
ISOLATION_OPTS = --load-extension=fptree
TAP_TESTS = 1

# A build for tests: backends can be held at stop points (src/fpt_stop.h), and
# the isolation tests are those of test/stop, which need that.
ifdef STOP_POINTS
OBJS += src/fpt_stop.o
PG_CPPFLAGS += -DFPT_STOP_POINTS
ISOLATION = setup $(filter-out setup,$(patsubst $(srcdir)/test/stop/specs/%.spec,%,$(sort $(wildcard $(srcdir)/test/stop/specs/*.spec))))
ISOLATION_OPTS += --inputdir=$(srcdir)/test/stop
endif

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# Campaigns, on what is installed.  N: cycles of each kind of crash, or I/O
# faults ("all": every call of the workload); see docs/testing.md.
CRASH_TESTS ?= t/002_crash.pl t/020_crash_standby.pl t/021_lost_writes.pl \
	t/032_stripes_crash.pl

.PHONY: crash-test fault-test
crash-test:
	FPT_CRASH_CYCLES=$(N) FPT_STANDBY_CYCLES=$(N) FPT_LOST_CYCLES=$(N) \
		FPT_STRIPE_CYCLES=$(N) FPT_STRIPE_DDL_CYCLES=$(N) \
		$(MAKE) installcheck REGRESS= ISOLATION= \
		PROVE_TESTS="$(CRASH_TESTS)" PROVE_FLAGS=--verbose

fault-test:
	FPT_FAULTS=$(N) FPT_LIMIT_STEPS=$(STEPS) \
		$(MAKE) installcheck REGRESS= ISOLATION= \
		PROVE_TESTS="t/022_io_faults.pl t/023_limits.pl" PROVE_FLAGS=--verbose

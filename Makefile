# fptree: B-tree index access method with packed keys, cache-friendly pages and read-ahead

EXTENSION = fptree
MODULE_big = fptree
# The script of the version, and those that update to it
DATA = $(patsubst $(srcdir)/%,%,$(sort $(wildcard $(srcdir)/fptree--*.sql)))
PGFILEDESC = "fptree - B-tree index access method with packed keys, cache-friendly pages and read-ahead"

# src/server/stop.c is for the build with stop points, see below.
SOURCES = $(sort $(wildcard $(srcdir)/src/*.c $(srcdir)/src/*/*.c))
OBJS = $(filter-out %stop.o,$(SOURCES:$(srcdir)/%.c=%.o))
PG_CPPFLAGS = -I$(srcdir)/src
# which headers an object needs, for the end of this file
PG_CFLAGS = -MMD -MP
# A function that no header declares would return an int.  Minor versions of a
# server differ in what a header brings with it.
PG_CFLAGS += -Werror=implicit-function-declaration

# Until 15 PGXS exports all functions, and lets other libraries take the place of
# any: none is inlined, or called, but by a detour.
NO_DETOUR_CFLAGS = -fno-semantic-interposition
NO_DETOUR_LINK = -Wl,--version-script=$(srcdir)/src/exports

# setup makes the extension and what the other files share
first = $(if $(filter setup,$(1)),setup) $(filter-out setup,$(1))
REGRESS = $(call first,$(basename $(notdir $(sort $(wildcard $(srcdir)/sql/*.sql)))))
ISOLATION = $(call first,$(basename $(notdir $(sort $(wildcard $(ISOLATION_DIR)/specs/*.spec)))))
ISOLATION_DIR = $(srcdir)/test/isolation
ISOLATION_OPTS = --load-extension=fptree --inputdir=$(ISOLATION_DIR)
# The expected output is that of a database of encoding UTF8 and locale C,
# whatever the cluster has.
ENCODING = UTF8
NO_LOCALE = 1
# TAP tests take long and make servers of their own: they are for whoever asks
# for them, by installcheck-tap, TAP_TESTS=1 or PROVE_TESTS.
ifdef PROVE_TESTS
TAP_TESTS = 1
else
PROVE_TESTS = test/tap/*.pl
endif

# Functions that only tests use, with what they test, the layer of keys and
# store/place.c.  It stays where it is built.
TEST_MODULE = test/module/fptree_test$(DLSUFFIX)
TEST_OBJS = test/module/fptree_test.o \
	$(addprefix src/key/,compare.o general.o head.o image.o locale.o) \
	src/store/place.o
# A hook of somebody else, to be loaded before fptree or after it
HINTS_MODULE = test/module/fptree_hints$(DLSUFFIX)
HINTS_OBJS = test/module/fptree_hints.o
REGRESS_PREP = $(TEST_MODULE) $(HINTS_MODULE) \
	$(if $(REGRESS),installcheck-module)
EXTRA_CLEAN = $(TEST_MODULE) test/module/fptree_test.o \
	$(HINTS_MODULE) $(HINTS_OBJS) \
	src/server/stop.o $(wildcard src/*/*.d test/module/*.d)

# A build for tests: backends can be held at stop points (src/server/stop.h), and
# the isolation tests are those of test/stop, which need that, and pages of as
# few slots as they mean (page/node.h), if it is not STOP_POINTS=usual.  The
# files of sql/ expect the numbers of pages that usual slots make.
ifdef STOP_POINTS
OBJS += $(filter %stop.o,$(SOURCES:$(srcdir)/%.c=%.o))
TEST_OBJS += $(filter %stop.o,$(SOURCES:$(srcdir)/%.c=%.o))
PG_CPPFLAGS += -DFPT_STOP_POINTS
ifneq ($(STOP_POINTS),usual)
PG_CPPFLAGS += -DFPT_FEW_SLOTS
REGRESS =
endif
ISOLATION_DIR = $(srcdir)/test/stop
endif

# Bitcode is for functions that are compiled into expressions: we have none.
override with_llvm = no

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

ifeq ($(PORTNAME),linux)
ifndef CFLAGS_SL_MODULE
override CFLAGS += $(NO_DETOUR_CFLAGS)
SHLIB_LINK += $(NO_DETOUR_LINK)
endif
endif

# Functions that people call now and then need not be fast: 2% of a package.
src/sql/%.o: override CFLAGS := $(patsubst -O2,-Os,$(CFLAGS))

# What both libraries have must not be exported by this one.
ifeq ($(PORTNAME),linux)
TEST_LINK = -Wl,--version-script=$(srcdir)/test/module/exports
endif
$(TEST_MODULE): $(TEST_OBJS) $(srcdir)/test/module/exports
	$(LINK.shared) -o $@ $(TEST_OBJS) $(LDFLAGS) $(LDFLAGS_SL) $(TEST_LINK)

$(HINTS_MODULE): $(HINTS_OBJS)
	$(LINK.shared) -o $@ $(HINTS_OBJS) $(LDFLAGS) $(LDFLAGS_SL)

.PHONY: test-module
test-module: $(TEST_MODULE) $(HINTS_MODULE)

# The server's user must be able to read the module where it is.  What else is
# wrong with the server, pg_regress says better.
.PHONY: installcheck-module
installcheck-module: $(TEST_MODULE)
	@said=`'$(bindir)/psql' -X -A -t -d postgres -c \
		"SELECT size FROM pg_stat_file('$(abspath $(TEST_MODULE))')" 2>&1` || \
	case $$said in *$(TEST_MODULE)*) \
		echo "installcheck: the server's user cannot read $(abspath $(TEST_MODULE)): build in a directory that it may enter" >&2; \
		exit 1 ;; \
	esac

.PHONY: installcheck-tap
installcheck-tap:
	$(MAKE) installcheck REGRESS= ISOLATION= TAP_TESTS=1

# A build outside the source tree needs the folders of its objects.
ifdef VPATH
$(shell mkdir -p $(dir $(OBJS) $(TEST_OBJS)))
endif

# Campaigns, on what is installed.  N: cycles of each kind of crash, or I/O
# faults ("all": every call of the workload); see docs/testing.md.
CRASH_TESTS ?= $(addprefix test/tap/,002_crash.pl 020_crash_standby.pl \
	021_lost_writes.pl 032_stripes_crash.pl)
FAULT_TESTS ?= $(addprefix test/tap/,022_io_faults.pl 023_limits.pl)

.PHONY: crash-test fault-test
crash-test:
	FPT_CRASH_CYCLES=$(N) FPT_STANDBY_CYCLES=$(N) FPT_LOST_CYCLES=$(N) \
		FPT_STRIPE_CYCLES=$(N) FPT_STRIPE_DDL_CYCLES=$(N) \
		$(MAKE) installcheck REGRESS= ISOLATION= \
		PROVE_TESTS="$(CRASH_TESTS)" PROVE_FLAGS=--verbose

fault-test:
	FPT_FAULTS=$(N) FPT_LIMIT_STEPS=$(STEPS) \
		$(MAKE) installcheck REGRESS= ISOLATION= \
		PROVE_TESTS="$(FAULT_TESTS)" PROVE_FLAGS=--verbose

-include $(wildcard src/*/*.d test/module/*.d)

# SPDX-License-Identifier: GPL-2.0-or-later
# Fairway's one makefile. `make help` lists what it can do.
#
# The layout is read from the tree: every .c under config, gateway and overlay is part of the library, except the programs'
# mains; every tests/unit/test_*.c and tests/prop/test_*.c is a cmocka program that names what it links in a `LINK:` comment.

SHELL       := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DELETE_ON_ERROR:
.SECONDEXPANSION:

VERSION := 0.1.0
PREFIX  ?= /usr
DESTDIR ?=
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
PYTHON  := /usr/bin/python3
BUILD   ?= build
JOBS    ?= 2
Q       := $(if $(V),,@)

# V=1 shows the commands.

# ---- packages (Debian 12); docs/ARCHITECTURE.md says why each is there -------------------------------------------------

PKGS_RUN   := frr iproute2 nftables
PKGS_BUILD := gcc make pkg-config libc6-dev libcap-dev libfixbuf-dev libfyaml-dev libjansson-dev libmnl-dev libnftables-dev \
              libnl-3-dev libsystemd-dev
PKGS_TEST  := bird2 clang clang-format clang-tidy cppcheck ethtool frr-pythontools gobgpd iperf3 iputils-ping libclang-rt-14-dev \
              libcmocka-dev libyang2-tools mandoc openvswitch-switch pmacct procps python3-jsonschema python3-pytest \
              python3-scapy python3-yaml stress-ng tcpdump ulogd2 ulogd2-json
PKGS       := $(PKGS_RUN) $(PKGS_BUILD) $(PKGS_TEST)

# ---- flags -------------------------------------------------------------------------------------------------------------

WARN     := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Werror
CPPFLAGS += -D_GNU_SOURCE -I. -DFAIRWAY_VERSION='"$(VERSION)"'
CFLAGS   ?= -O2 -g
ifdef SAN
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else
CPPFLAGS += -D_FORTIFY_SOURCE=2
endif
HARDEN   := -fstack-protector-strong -fPIE
LDHARDEN := -pie -Wl,-z,relro,-z,now,--as-needed

LIBS     := libfixbuf libfyaml jansson libnl-3.0 libnftables libmnl libsystemd libcap
pkgconf   = $(shell pkg-config --$(1) $(2) 2>/dev/null)

ALL_CFLAGS  = -std=gnu17 $(CFLAGS) $(WARN) $(HARDEN) $(SANFLAGS) $(NL_CFLAGS)
NL_CFLAGS  := $(call pkgconf,cflags,libnl-3.0 libfixbuf)
LDLIBS     := $(call pkgconf,libs,$(LIBS))

# ---- what is built -----------------------------------------------------------------------------------------------------

SOURCES  := $(sort $(shell find config gateway overlay routing ha -name '*.c'))
MAINS    := gateway/fairwayd.c gateway/cli/main.c config/gen_exports.c
LIBSRC   := $(filter-out $(MAINS),$(SOURCES))
BASE     := $(wildcard gateway/base/*.c)
HEADERS  := $(sort $(shell find config gateway overlay routing ha tests -name '*.h'))
UNIT     := $(wildcard tests/unit/test_*.c)
PROP     := $(wildcard tests/prop/test_*.c)
FUZZ     := $(wildcard tests/fuzz/fuzz_*.c)
SELFTEST := $(wildcard tests/net/*_selftest.c)
TESTSRC  := $(sort $(shell find tests -name '*.c'))
PROGRAMS := $(BUILD)/fairwayd $(BUILD)/fairway
GENERATED := docs/reference.md docs/fairway.schema.json docs/fairway.yang

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

.PHONY: help deps build lint format check check-tests check-unit check-prop check-golden check-fuzz check-net check-asan \
        check-layers check-guest bench demo lab lab-down image install clean docs
.DEFAULT_GOAL := build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24

deps: ## install the Debian packages that building, running and testing need (as root)
	@tests/lib/deps.sh $(PKGS)

build: $(PROGRAMS) $(BUILD)/gen_exports ## the programs, in build/

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libfairway.a: $(call obj,$(LIBSRC))
	@rm -f $@
	$(Q)ar rcs $@ $^

$(BUILD)/fairwayd: $(BUILD)/obj/gateway/fairwayd.o $(BUILD)/libfairway.a
	$(Q)$(CC) $(SANFLAGS) $(LDHARDEN) -o $@ $^ $(LDLIBS)
$(BUILD)/fairway: $(BUILD)/obj/gateway/cli/main.o $(BUILD)/libfairway.a
	$(Q)$(CC) $(SANFLAGS) $(LDHARDEN) -o $@ $^ $(LDLIBS)
$(BUILD)/gen_exports: $(BUILD)/obj/config/gen_exports.o $(BUILD)/libfairway.a
	$(Q)$(CC) $(SANFLAGS) $(LDHARDEN) -o $@ $^ $(LDLIBS)

-include $(patsubst %.o,%.d,$(call obj,$(SOURCES) $(TESTSRC)))

docs: $(BUILD)/gen_exports ## write the generated reference, JSON Schema and YANG module
	$(BUILD)/gen_exports markdown >docs/reference.md
	$(BUILD)/gen_exports json-schema >docs/fairway.schema.json
	$(BUILD)/gen_exports yang >docs/fairway.yang

# ---- tests -------------------------------------------------------------------------------------------------------------

# What a test program links is written in it: `/* LINK: overlay/mtu.c ... */`, and `/* LIBS: libfyaml ... */` (pkg-config).
links = $(shell sed -n 's,^/\* LINK: \(.*\) \*/$$,\1,p' $(1))
libs  = $(shell sed -n 's,^/\* LIBS: \(.*\) \*/$$,\1,p' $(1))
src   = $(patsubst $(BUILD)/%,%.c,$(1))

$(patsubst %.c,$(BUILD)/%,$(UNIT) $(PROP) $(SELFTEST)): $$(call obj,$$(call src,$$@) $$(call links,$$(call src,$$@)) $(BASE))
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANFLAGS) $(LDHARDEN) -o $@ $(sort $^) $(call pkgconf,libs,cmocka $(call libs,$(call src,$@)))

CLANG_FUZZ := clang -std=gnu17 -D_GNU_SOURCE -DFAIRWAY_VERSION='"$(VERSION)"' -I. $(NL_CFLAGS) -O1 -g \
              -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
$(patsubst %.c,$(BUILD)/%,$(FUZZ)): $$(call src,$$@) $$(call links,$$(call src,$$@)) $(BASE) $(HEADERS)
	@mkdir -p $(@D)
	$(Q)$(CLANG_FUZZ) -o $@ $(filter %.c,$^) $(call pkgconf,libs,$(call libs,$(call src,$@)))

PYTEST := $(PYTHON) -B -m pytest -p no:cacheprovider -q -rs

check: deps ## everything: installs packages, builds, and runs all tests (as root; network namespaces)
	@$(MAKE) --no-print-directory -j$(JOBS) build
	@$(MAKE) --no-print-directory check-tests

check-tests: check-unit check-prop check-golden check-fuzz check-asan check-net

check-unit: $(patsubst %.c,$(BUILD)/%,$(UNIT)) ## unit tests
	@tests/lib/run_cmocka.sh unit $^
check-prop: $(patsubst %.c,$(BUILD)/%,$(PROP)) ## property tests on the fake kernel
	@tests/lib/run_cmocka.sh prop $^
check-golden: build ## golden plans, diagnostics of bad files, exports against their oracles
	@$(PYTEST) tests/golden
check-fuzz: $(patsubst %.c,$(BUILD)/%,$(FUZZ)) ## each fuzzer over its corpus and FUZZ_SECONDS more
	@tests/lib/run_fuzz.sh $(or $(FUZZ_SECONDS),10) $^
check-asan: ## unit and property tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory -j$(JOBS) SAN=1 BUILD=$(BUILD)/asan check-unit check-prop
check-net: build $(patsubst %.c,$(BUILD)/%,$(SELFTEST)) ## real kernel, real packets, in network namespaces (as root)
	@$(PYTEST) tests/net

# ---- lint --------------------------------------------------------------------------------------------------------------

OURS_C := $(sort $(SOURCES) $(TESTSRC))

lint: check-layers ## formatting, clang-tidy, cppcheck, layers, scripts, man pages, generated files
	@clang-format --dry-run -Werror $(OURS_C) $(HEADERS)
	@printf '%s\n' $(OURS_C) | xargs -P $(JOBS) -n 6 tests/lib/tidy.sh $(NL_CFLAGS)
	@cppcheck --quiet --std=c11 -j $(JOBS) --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppressions-list=tests/lib/cppcheck.suppress -D_GNU_SOURCE -I. $(SOURCES)
	@$(PYTHON) -m compileall -q tests >/dev/null && find tests -name __pycache__ -prune -exec rm -r {} +
	@for m in docs/man/*.[1-8]; do mandoc -Tlint -Wwarning $$m || exit 1; done
	@$(MAKE) --no-print-directory lint-generated

.PHONY: lint-generated
lint-generated: $(BUILD)/gen_exports
	@$(BUILD)/gen_exports markdown | cmp - docs/reference.md
	@$(BUILD)/gen_exports json-schema | cmp - docs/fairway.schema.json
	@$(BUILD)/gen_exports yang | cmp - docs/fairway.yang

check-layers: $(call obj,$(LIBSRC)) ## the design's seams: who may include whom, and what is pure
	@$(PYTHON) -B tests/lib/check_layers.py $(BUILD)/obj

format: ## clang-format in place
	clang-format -i $(OURS_C) $(HEADERS)

# ---- the lab, the demo, the bench ----------------------------------------------------------------------------------------

demo: deps ## bring the example up, prove it with packets, take it down (as root)
	@$(MAKE) --no-print-directory -j$(JOBS) build
	@$(PYTHON) -B tests/lib/demo.py

lab: build ## bring the example lab up and leave it (as root); `make lab-down` ends it
	@$(PYTHON) -B tests/lib/lab.py up
lab-down:
	@$(PYTHON) -B tests/lib/lab.py down

bench: build ## speed and memory as ratios against a baseline in the same run (as root); ONLY=NAME for a part
	@$(PYTHON) -B tests/bench/bench.py $(if $(ONLY),--only $(ONLY))

# ---- install -------------------------------------------------------------------------------------------------------------

install: build ## programs, man pages, completion, unit
	install -D -m 0755 $(BUILD)/fairwayd $(DESTDIR)$(PREFIX)/sbin/fairwayd
	install -D -m 0755 $(BUILD)/fairway $(DESTDIR)$(PREFIX)/bin/fairway
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/man/man8 docs/man/fairwayd.8
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/man/man1 docs/man/fairway.1
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/man/man5 docs/man/fairway.yaml.5
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/doc/fairway $(GENERATED)
	install -D -m 0644 docs/completion/fairway.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/fairway
	install -D -m 0644 image/fairwayd.service $(DESTDIR)/lib/systemd/system/fairwayd.service
	install -d -m 0755 $(DESTDIR)/etc/fairway
	install -d -m 0700 $(DESTDIR)/etc/fairway/secrets $(DESTDIR)/var/lib/fairway

clean: ## remove what was built
	rm -rf $(BUILD)

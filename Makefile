# SPDX-License-Identifier: MIT OR Apache-2.0
# `make demo` and `make test` do all their own set-up. Every target carries a sentence: `make help`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
BOARD ?= msp430f5438a-anagear
VENV := .venv
BIN := $(VENV)/bin
GET := $(PYTHON) firmware/toolchain/get
export CARGO_TARGET_DIR ?= $(CURDIR)/target
STAMPS := $(CARGO_TARGET_DIR)/stamps
CARGO := cargo --locked --quiet
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-print-directory
SILENT := $(if $(V),,--silent) # V=1 shows each command of the firmware's build

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -path '*/src/*' -o -name Cargo.toml -o -name '*.html')
PYTHON_SOURCES := $(shell find python/src -name '*.py')
C_SOURCES = $$(find firmware -name build -prune -o \( -name '*.c' -o -name '*.h' \) -print)
# Tests compare with mspdebug, OpenSSL, tshark and chromium; here their absence is a failure, not a skip.
WITH_TOOLS = SUNSEAL_REQUIRE_TOOLS=1 PATH="$$($(GET) --for tests --print-bin):$$($(GET) --print-bin):$$PATH"

.PHONY: help demo all ready venv engine server firmware all-boards tools wheel release release-check sdist test test-quick debugger vectors test-rust test-firmware test-library test-python test-hdl test-hdl-all test-all docs randomness torture fuzz check mutants fmt bench speed clean

help: ## Print this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

demo: all ## Run one simulated day of a harvested node against the real server; writes out/demo/report.html.
	$(BIN)/sunseal demo

# Goals beside engine and server: tools are fetched and firmware is built while Rust's compiler leaves a core idle.
beside = trap 'kill 0' INT TERM; ended=0; aside=; for goal in $(1); do $(MAKE) $$goal & aside="$$aside $$!"; done; \
	$(MAKE) engine server || ended=1; for goal in $$aside; do wait $$goal || ended=1; done; exit $$ended

all: ## Build everything: virtual environment, engine, server and firmware.
	+@$(if $(BUILT),,$(call beside,firmware))

venv: $(STAMPS)/venv ## Make .venv with the pinned Python packages.

# Debian's Python comes without pip unless python3-venv is installed; then pip is fetched as the compilers are.
$(STAMPS)/venv: requirements.txt
	@mkdir -p $(STAMPS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "sunseal needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version); set PYTHON=" >&2; exit 2; }
	@command -v cargo >/dev/null || { echo "sunseal needs a current Rust toolchain (cargo is not on PATH); install one with rustup" >&2; exit 2; }
	@if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then $(PYTHON) -m venv $(VENV); else \
	  $(GET) --for python; wheel=$$(echo $$($(GET) --for python --print-bin)/pip-*.whl); \
	  $(PYTHON) -m venv --without-pip $(VENV); \
	  $(BIN)/python "$$wheel/pip" install --quiet --no-index --force-reinstall "$$wheel"; fi
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.txt
	@touch $@

engine: $(STAMPS)/engine $(STAMPS)/bytecode ## Build the Rust engine and install the Python package into .venv.

$(STAMPS)/engine: $(STAMPS)/venv $(RUST_SOURCES) pyproject.toml
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked --quiet
	@touch $@

# Each command would compile the package again where Python may write no bytecode by itself (PYTHONDONTWRITEBYTECODE).
$(STAMPS)/bytecode: $(STAMPS)/venv $(PYTHON_SOURCES)
	$(BIN)/python -m compileall -q python/src/sunseal
	@touch $@

server: $(BIN)/sunseal-server ## Build the verifying server and its gateway.

$(BIN)/sunseal-server: $(RUST_SOURCES)
	$(CARGO) build --release -p sunseal-server
	@install -D -m 755 $(CARGO_TARGET_DIR)/release/sunseal-server $@

firmware: ## Fetch the cross compiler once and build the node's firmware, all variants.
	$(GET)
	$(MAKE) $(SILENT) -j$(JOBS) -C firmware BOARD=$(BOARD)

all-boards: ## Build the firmware of every board; fetches GCC for the AVR as well.
	$(if $(BUILT),,$(GET))
	$(if $(BUILT),,$(GET) --for avr)
	$(if $(BUILT),,$(MAKE) $(SILENT) -j$(JOBS) -C firmware all-boards)

tools: ## Fetch what the tests compare with: mspdebug, OpenSSL, tshark, chromium, GCC's torture tests, proofs.
	$(if $(BUILT),,for group in tests consumers torture proofs spin viewers; do $(GET) --for $$group || exit 1; done)

# Compiling the crates' tests leaves a core idle now and then, which what needs no compiler of Rust fills. BUILT tells the
# targets below that all is built: to look costs ten seconds each time.
test: BUILT_MAKE = $(MAKE) BUILT=1
# A part of the tests, and its seconds for tests/times.py.
stage = { began=$$SECONDS; $(BUILT_MAKE) $(1) && printf '%s\t%d\n' $(1) $$((SECONDS - began)) >> out/test-stages.tsv; }
test: ready ## Run everything that CI runs: crates beside firmware and library, then Python.
	@mkdir -p out && rm -f out/test-stages.tsv
	@echo "check and test-rust run beside test-firmware and test-library; what they say follows, and lies in out/test-crates.log" >&2
	@trap 'kill 0' INT TERM; { $(call stage,check) && $(call stage,test-rust); } > out/test-crates.log 2>&1 & crates=$$!; ended=0; \
	  { $(call stage,test-firmware) && $(call stage,test-library); } || ended=1; \
	  wait $$crates || ended=1; cat out/test-crates.log; exit $$ended
	@$(call stage,test-python)
	@echo "seconds: $$(tr '\t\n' ' ,' < out/test-stages.tsv | sed 's/,$$//; s/,/, /g')" >&2

ready: ## Build and fetch all that the tests use.
	+@$(call beside,all-boards tools)

QUICK_SECONDS ?= 100
test-quick: ready ## Test what is quick, in under three minutes where nothing is to be built: for one's own loop.
	$(WITH_TOOLS) $(CARGO) test --no-fail-fast --release --workspace --exclude sunseal-py --lib --bins $(patsubst %,--test %,it avr f1611 fr5994 msp432 stm32l4)
	$(WITH_TOOLS) $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --within $(QUICK_SECONDS) python/tests tests

test-all: export SUNSEAL_SLOW := 1
test-all: debugger test vectors test-hdl-all torture fuzz docs ## Run what CI runs and what is slow, some properties on ten times the cases; build the site.

# The motes that a coprocessor is tested beside, and the one without.
FPGA_BOARDS = $(GET) && $(GET) --for avr && for b in mica2-fpga-up5k mica2-fpga-spartan3e mica2; do $(MAKE) $(SILENT) -C firmware BOARD=$$b bench base duty || exit 1; done && $(MAKE) $(SILENT) -C firmware BOARD=msp430fr5994-fpga-up5k bench duty && $(MAKE) $(SILENT) -C firmware BOARD=mica2-fpga-up5k library

test-hdl: engine ## Test the hardware of hdl/ in Icarus, as netlists, by proofs, with seeded faults, placed: some three minutes.
	$(GET) --for hdl
	$(FPGA_BOARDS)
	SUNSEAL_REQUIRE_TOOLS=1 $(BIN)/python -m pytest -q -n $(JOBS) hdl/tests

test-hdl-all: engine ## The same, and every core and bus in Verilator.
	$(GET) --for hdl
	$(FPGA_BOARDS)
	SUNSEAL_SLOW=1 SUNSEAL_REQUIRE_TOOLS=1 $(BIN)/python -m pytest -q -n $(JOBS) hdl/tests

vectors: all all-boards ## Run every known answer of the library on every target, the slow ones too, and every fault of docs/reference/faults.md.
	$(MAKE) $(SILENT) -C firmware host
	$(BIN)/python firmware/tests/table.py check
	$(BIN)/python firmware/tests/faults.py check

debugger: ## Build the MSP430's GDB, seven minutes once; without it its session is the one test that is skipped.
	$(GET) --for gdb

torture: all-boards tools ## Run all of GCC's torture tests on three cores, each beside another simulator.
	$(WITH_TOOLS) $(CARGO) run --release -p sunseal-dev -- torture msp430 avr thumb

# What cargo-fuzz passes, without a sanitizer, which would need the nightly compiler. The target is named so that build
# scripts are compiled without it.
FUZZ ?= elf gdb vcd frames http
FUZZ_S ?= 60
FUZZ_HOST = $$(rustc -vV | sed -n 's/^host: //p')
SANCOV = $(foreach f,level=4 inline-8bit-counters pc-table trace-compares,-Cllvm-args=-sanitizer-coverage-$(f))
fuzz: ## Run libFuzzer on what reads other people's bytes, a minute on each target of fuzz/.
	cd fuzz && RUSTFLAGS="-Cpasses=sancov-module $(SANCOV) --cfg fuzzing -Cdebug-assertions -Coverflow-checks" \
	  CARGO_TARGET_DIR=target cargo build --quiet --release --target "$(FUZZ_HOST)" $(FUZZ:%=--bin %)
	for t in $(FUZZ); do mkdir -p fuzz/target/found/$$t fuzz/artifacts/$$t; \
	  fuzz/target/$(FUZZ_HOST)/release/$$t -max_total_time=$(FUZZ_S) -max_len=16384 -timeout=10 -print_final_stats=1 \
	  -artifact_prefix=fuzz/artifacts/$$t/ fuzz/target/found/$$t fuzz/corpus/$$t; done

# No documentation comment holds an example, and looking for one takes rustdoc over every crate; that examples/ compile is clippy's.
test-rust: all all-boards tools ## Test the crates.
	$(WITH_TOOLS) $(CARGO) test --no-fail-fast --release --workspace --exclude sunseal-py --lib --bins --tests

test-firmware: all-boards ## Test the firmware on the host and on every simulated variant.
	$(MAKE) $(SILENT) -j$(JOBS) -O -C firmware test-host test-boards

test-library: all all-boards tools ## Hold the cryptographic library to known answers, constant time and proofs on every target.
	$(MAKE) $(SILENT) -C firmware host
	$(BIN)/python firmware/tests/prove.py
	$(BIN)/python firmware/tests/table.py sample
	$(BIN)/python firmware/tests/verdicts.py check
	$(BIN)/python firmware/tests/intermittent.py check
	$(BIN)/python firmware/tests/coupon.py check
	$(BIN)/python -m pytest -q -n $(JOBS) firmware/tests
	$(BIN)/python tests/mutants.py sample

test-python: all all-boards tools $(STAMPS)/judges ## Test the command line, the report in a real browser, and what crosses languages.
	$(WITH_TOOLS) $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal python/tests tests

# Compiled where they are asked for, with libraries that not every machine has: neither in .venv nor in `make test`.
RANDOMNESS_PACKAGES = $(CARGO_TARGET_DIR)/randomness
randomness: engine all-boards ## Compile NIST's estimators (SP 800-90B, SP 800-22) and hold the generators to them.
	@printf '#include <divsufsort.h>\n#include <bzlib.h>\n' | $${CC:-cc} -E - >/dev/null 2>&1 || { echo "NIST's estimators are compiled with libdivsufsort-dev and libbz2-dev: apt install them" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --upgrade --target $(RANDOMNESS_PACKAGES) -r packaging/randomness.txt
	PYTHONPATH=$(RANDOMNESS_PACKAGES) $(BIN)/python -m pytest -q python/tests/test_randomness.py
	PYTHONPATH=$(RANDOMNESS_PACKAGES) $(BIN)/python firmware/tests/randomness.py check

wheel: all all-boards ## Build a wheel that needs no source tree, into dist/.
	$(BIN)/python packaging/wheel

sdist: venv all-boards ## Pack the engine's source with data and built programs, into dist/: pip compiles it where no wheel fits.
	$(BIN)/python packaging/wheel --source

release: all all-boards ## The same with the engine optimised by a profile of training programs; it is built twice, ten minutes.
	$(BIN)/python packaging/wheel --profiled

# Others' tools that judge a release lie beside .venv, as Sphinx does; those of CITATION.cff want older libraries than the rest.
JUDGED = $(CARGO_TARGET_DIR)/released
release-check: all all-boards tools $(STAMPS)/judges ## Hold version, changelog, citation, pages of speeds and a wheel to what a release asks, and run it where nothing else is: twenty minutes.
	$(BIN)/sunseal bench --check
	@rm -rf $(JUDGED)
	$(BIN)/python packaging/wheel --out $(JUDGED)
	$(BIN)/python packaging/release.py check $(JUDGED)/sunseal-*.whl
	SUNSEAL_WHEEL=$$(echo $(JUDGED)/sunseal-*.whl) SUNSEAL_REQUIRE_TOOLS=1 $(BIN)/python -m pytest -q tests/test_changelog.py tests/test_release.py tests/test_wheel.py

$(STAMPS)/judges: $(STAMPS)/venv packaging/judges.txt packaging/citation.txt
	@rm -rf $(CARGO_TARGET_DIR)/judges $(CARGO_TARGET_DIR)/citation
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --target $(CARGO_TARGET_DIR)/judges -r packaging/judges.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --target $(CARGO_TARGET_DIR)/citation -r packaging/citation.txt
	@touch $@

DOCS_PACKAGES = $(CARGO_TARGET_DIR)/docs
SERVE ?=
docs: engine all-boards $(STAMPS)/docs ## Build the documentation as a site into out/docs/html, with every table of the papers computed; SERVE=8000 shows it at that port.
	PYTHONPATH=$(DOCS_PACKAGES):$(CURDIR)/python/src $(BIN)/python docs/pages.py
	$(if $(SERVE),$(PYTHON) -m http.server --bind 127.0.0.1 --directory out/docs/html $(SERVE))

# Sphinx and what it needs lie beside .venv, not in it: nothing else is to wait for them.
$(STAMPS)/docs: $(STAMPS)/venv docs/requirements.txt
	@rm -rf $(DOCS_PACKAGES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --target $(DOCS_PACKAGES) -r docs/requirements.txt
	@touch $@

check: engine ## Check formats, lints and types.
	cargo fmt --all --check
	cargo clippy --locked --quiet --release --workspace --all-targets --message-format json -- -D warnings --force-warn missing-docs | $(BIN)/python tests/undocumented.py
	$(BIN)/ruff check python tests examples firmware hdl packaging docs
	$(BIN)/ruff format --check python tests examples firmware hdl packaging docs
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(C_SOURCES)

mutants: all all-boards tools ## Change our own code, place by place, and list what no test notices; MOST=N of each room.
	$(WITH_TOOLS) $(BIN)/python tests/mutants.py run $(ROOM) $(if $(MOST),--most $(MOST))

fmt: venv ## Format all sources in place.
	cargo fmt --all
	$(BIN)/ruff check --fix python tests examples firmware hdl packaging docs
	$(BIN)/ruff format python tests examples firmware hdl packaging docs
	$(BIN)/clang-format -i $(C_SOURCES)

bench: all ## Measure the simulator's and the server's speed in CPU time where one thread works; figures that nothing asserts.
	$(CARGO) bench --workspace --exclude sunseal-py

speed: all-boards ## Compare the engine's speed with that of another commit, in turns, per machine and instrument; OLD=<commit>.
	@$(if $(OLD),,echo "say which commit to compare with, such as make speed OLD=HEAD~1" >&2; exit 2)
	$(PYTHON) tests/speed.py $(OLD)

clean: ## Remove everything that was built here; caches stay.
	rm -rf $(VENV) $(CARGO_TARGET_DIR) firmware/build out

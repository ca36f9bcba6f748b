# The doors of the project. Each one does its own set-up in .venv (benchmarks: .venv-bench, wheels: .venv-wheel), from a
# fresh clone with nothing but Python 3.11+, a Rust toolchain and make; a file in the environment remembers what is
# already done. tools/prepare.py does it, and says how far it is.

SHELL := bash
.SHELLFLAGS := -o pipefail -c
VENV := .venv
BENCH := .venv-bench
WHEEL := .venv-wheel
BIN := $(VENV)/bin

# The first interpreter that is new enough; `make PYTHON=...` to choose another.
OLD_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$each" -c '$(OLD_ENOUGH)' 2>/dev/null && echo "$$each" && break; done)

RUST := $(shell find .cargo rust -name target -prune -o -name '*.rs' -print -o -name '*.toml' -print)
SOURCES := $(shell find src -name '*.py' -o -name '*.pyi')
export PIP_DISABLE_PIP_VERSION_CHECK := 1
CARGO := env PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo
DEMO := dpselect top-k examples/data/clicks.parquet page 10 --unit session --candidates 1..41270 --epsilon 1
FENCE := ```
# One more than processors, as many tests wait for a disk, a server or a child.
WORKERS = $(shell $(BIN)/python -c 'import os; print(min(4, 1 + len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 4))')

.PHONY: help demo test test-slow lint proofs bench house docs mutants sanitize address thread miri foreign paper readme pages wheel clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo      the private top 10 pages of examples/data/clicks.parquet'
	@echo 'make test      Rust tests, Python tests, the examples in docstrings and documents'
	@echo 'make test-slow the same with the rare and slow ones, all cases and more examples (EXAMPLES=1000: yet more)'
	@echo 'make lint      ruff, pyright, import-linter, stubtest, rustfmt, clippy'
	@echo 'make proofs    the theorems of proofs/rocq, and on what they rest (needs Coq 8.16 and mathcomp; two minutes)'
	@echo 'make bench     ratios against peers, into docs/benchmarks.md, eight of them into README.md (BIG=1: also 10^8 scores)'
	@echo 'make house     files and calls that a question passes through, lines, import circles; beside them the limits'
	@echo 'make mutants   break the code on purpose where privacy is decided, one line at a time, and see that the tests notice'
	@echo 'make sanitize  address and thread sanitizers, Miri (nightly Rust)'
	@echo 'make foreign   the core for processors that this one is not: ARM with NEON, x86-64 with SSE2 or AVX2 alone (needs qemu)'
	@echo 'make paper     the studies in examples: the permute-and-flip paper, whole distributions, trees and synthetic data'
	@echo 'make docs      the documents as a site, with notebooks run: docs/_build/index.html'
	@echo 'make readme    run the commands that README.md and docs show, and put in what they print'
	@echo 'make pages     pictures of the pages of dpselect serve, and how fast they are, into docs (needs a browser)'
	@echo 'make wheel     wheels for Linux (x86_64, aarch64) and a source distribution, into dist/'
	@echo 'make clean     remove environments and build products'

demo: $(VENV)/.product
	@$(BIN)/$(DEMO)

# Tests start some hundred processes: each would compile the package anew if Python were told to leave no bytecode.
test mutants: export PYTHONDONTWRITEBYTECODE :=

test: PREPARE := --rust-tests
test: $(VENV)/.dev
	$(CARGO) core-tests --quiet
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile

test-slow: export SLOW := 1
test-slow: test

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo
	$(BIN)/stubtest dpselect._native._core dpselect.session.asking
	$(BIN)/mypy --strict --follow-imports silent tests/answer_types.py
	$(CARGO) fmt --manifest-path rust/Cargo.toml --check
	$(CARGO) clippy --quiet --manifest-path rust/Cargo.toml --all-targets --features python -- -D warnings

# Needs no environment: proofs/rocq/check says what to install.
proofs:
	@proofs/rocq/check

bench: $(BENCH)/.bench
	$(BENCH)/bin/python -m benchmarks $(if $(BIG),--big) $(if $(ONLY),--only $(ONLY))
	$(BENCH)/bin/python -m benchmarks.report --summary | $(BENCH)/bin/python docs/blocks.py README.md bench
	$(BENCH)/bin/python -m benchmarks.report | $(BENCH)/bin/python docs/blocks.py docs/benchmarks.md bench

house: $(VENV)/.dev
	@$(BIN)/python -m tests.house

mutants: $(VENV)/.dev
	$(BIN)/python -m tests.mutants

# The compiler's own target: sanitizers would otherwise reach into build scripts.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
NIGHTLY := env -u RUSTFLAGS cargo +nightly
SANITIZED = cargo +nightly test --quiet --lib --manifest-path rust/Cargo.toml --target $(HOST) --target-dir rust/target/$@

# Each is a door of its own: `make address`, `make thread` and so on.
sanitize: address thread miri

# Laws of so many draws that they alone would take longer than all the rest; others run the same code.
LONG_LAWS := heads_far_from_the_top_arrive_as_often_as_they_should every_route_gives_the_law_on_a_grid \
	paths_have_the_law every_law_by_single_and_many_draws

address: | $(VENV)/.nightly
	env RUSTFLAGS='-Zsanitizer=address' $(SANITIZED) -- $(LONG_LAWS:%=--skip %)

# What threads do together. The standard library has to be compiled for it, too, or its locks would be unknown. A bare
# `clone` passes by the sanitizer, whose own locks may then be held in the child by threads that are not there. First it has
# to report a race on purpose: one that reports nothing would find nothing.
THREAD_TESTS := scores:: interrupt:: entropy:: float_control:: numbers::rank_counts select::many_draws \
	--skip a_bare_clone_is_a_process_of_its_own
THREAD_SANITIZED = env RUSTFLAGS='-Zsanitizer=thread' $(SANITIZED) -Zbuild-std --

thread: | $(VENV)/.nightly
	@if ! test -d "$$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library"; then \
		echo 'rust-src is not installed for the nightly toolchain: the nightly workflow runs ThreadSanitizer.'; exit; fi; \
	planted=$$($(THREAD_SANITIZED) --ignored --exact scores::threads::tests::a_planted_race 2>&1); \
	if grep -q 'ThreadSanitizer: data race' <<< "$$planted"; then \
		echo 'The planted race was reported.'; \
	else echo "$$planted"; echo 'ThreadSanitizer did not report the planted race.' >&2; exit 1; fi; \
	$(THREAD_SANITIZED) $(THREAD_TESTS) $(LONG_LAWS:%=--skip %)

# What Miri gets through in minutes: memory that threads share, and numbers whose bits come one after another.
MIRI_TESTS := scores::threads exact::decision exact::lazy \
	--skip far_tails_are_not_rounded_to_never --skip comparisons_agree_with_the_doubles

miri: | $(VENV)/.nightly
	@if $(NIGHTLY) miri --version >/dev/null 2>&1; then \
		cd rust && MIRIFLAGS='-Zmiri-disable-isolation -Zmiri-deterministic-floats' $(NIGHTLY) miri test --lib --target-dir target/miri -- $(MIRI_TESTS); \
	else echo 'Miri is not installed for the nightly toolchain: the nightly workflow runs it.'; fi

# The loops over scores are compiled for several kinds of instructions. `make test` runs those that this processor has; here
# an emulator runs those of others, all but one law that it is slow at. AVX-512 is emulated by none, so only a processor that
# has it runs that: the first line says whether this one does.
FOREIGN_TESTS := scores:: select::weight select::rows entropy:: float_control:: numbers::rank_counts \
	--skip many_candidates_keep_their_shares
LEVELS := scores::block_index::tests::levels_of_this_processor

# What the emulator does not know of it would be said before each line.
HASWELL := qemu-x86_64 -cpu Haswell-noTSX,-pcid,-x2apic,-tsc-deadline,-invpcid

foreign: foreign-native foreign-neon foreign-sse2 foreign-avx2

foreign-native:
	@echo 'This processor'
	@cargo core-tests --quiet -- --exact $(LEVELS) --nocapture | grep instructions

foreign-neon: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER := aarch64-linux-gnu-gcc
foreign-neon:
	$(call EMULATED,aarch64,AARCH64,Baseline,qemu-aarch64 -L /usr/aarch64-linux-gnu,aarch64-linux-gnu-gcc)

foreign-sse2:
	$(call EMULATED,x86_64,X86_64,Baseline,qemu-x86_64 -cpu Nehalem,cc)

foreign-avx2:
	$(call EMULATED,x86_64,X86_64,Avx2,$(HASWELL),cc)

# Architecture, the same as Cargo's variables have it, its best instructions, emulator, linker. With REQUIRED=1 what is not
# installed is an error.
define EMULATED
@for each in $(firstword $(4)) $(5); do command -v $$each >/dev/null \
	|| { echo "$$each is not installed: the nightly workflow runs the core on $(4)."; exit $(or $(REQUIRED),0); }; done; \
if ! test -d "$$(rustc --print sysroot)/lib/rustlib/$(1)-unknown-linux-gnu/lib"; then \
	echo 'Rust cannot build for $(1) yet: rustup target add $(1)-unknown-linux-gnu'; exit $(or $(REQUIRED),0); fi; \
echo '$(4)'; export BEST_LEVEL=$(3) CARGO_TARGET_$(2)_UNKNOWN_LINUX_GNU_RUNNER='$(4)'; \
cargo core-tests --quiet --target $(1)-unknown-linux-gnu -- --exact $(LEVELS) --nocapture | grep instructions \
	&& cargo core-tests --quiet --target $(1)-unknown-linux-gnu -- $(FOREIGN_TESTS)
endef

paper: $(VENV)/.plots
	$(BIN)/python -m examples.paper
	$(BIN)/python -m examples.densities
	$(BIN)/python -m examples.recipes
	$(BIN)/python -m examples.not_built

docs: $(VENV)/.docs
	$(BIN)/sphinx-build --quiet --write-all --fail-on-warning --conf-dir docs . docs/_build/html
	$(BIN)/python docs/windows.py docs/_build/html
	@echo '<!doctype html><meta http-equiv="refresh" content="0; url=html/docs/index.html">' > docs/_build/index.html
	@echo 'Open docs/_build/index.html'

readme: $(VENV)/.plots $(VENV)/.dev
	{ echo '$(FENCE)' && echo '$$ $(DEMO)' && COLUMNS=110 $(BIN)/$(DEMO) && echo '$(FENCE)'; } \
		| $(BIN)/python docs/blocks.py README.md demo
	{ echo '$(FENCE)' && examples/budget_in_two_shells.sh $(BIN)/dpselect && echo '$(FENCE)'; } \
		| $(BIN)/python docs/blocks.py docs/ledger.md budget
	$(BIN)/python docs/commands.py | $(BIN)/python docs/blocks.py docs/command-line.md commands
	$(BIN)/python docs/picture.py
	$(BIN)/python docs/alerts_picture.py
	$(BIN)/python docs/questions.py | $(BIN)/python docs/blocks.py docs/tables.md questions
	$(BIN)/python docs/layers.py | $(BIN)/python docs/blocks.py CONTRIBUTING.md layers
	$(BIN)/python -m docs.assurance
	$(BIN)/python docs/plan_schema.py
	$(BIN)/python docs/stubs.py
	$(BIN)/python docs/consoles.py README.md docs/*.md docs/tasks/*.md

# Pictures of the pages are taken by their tests, in a real browser.
pages: $(VENV)/.dev
	env SLOW=1 SCREENSHOTS=docs/static $(BIN)/python -m pytest tests/web/test_whole_way.py
	$(BIN)/python -m tests.web.speed | $(BIN)/python docs/blocks.py docs/page.md speed

# Zig links against an old C library, so that one wheel serves every distribution of the last ten years. Wheels are built
# from the source distribution, which shows that it is complete, and from nothing: its files all have one old date, so
# that Cargo would not notice a change. Paths of this machine stay out of them.
ARCHITECTURES ?= x86_64 aarch64
CRATES = $(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src
wheel: $(WHEEL)/.wheel
	@for each in $(ARCHITECTURES:%=%-unknown-linux-gnu); do \
		test -d "$$(rustc --print sysroot)/lib/rustlib/$$each/lib" \
			|| { echo "Rust cannot build for $$each yet: rustup target add $$each" >&2; exit 1; }; done
	rm -f dist/dpselect-*
	for each in $(ARCHITECTURES); do \
		env -u CARGO_TARGET_DIR -u RUSTFLAGS PATH="$(CURDIR)/$(WHEEL)/bin:$$PATH" \
			maturin build --quiet --sdist --release --zig --compatibility manylinux_2_17 \
			--target $$each-unknown-linux-gnu --out dist \
			--config "build.rustflags=['--remap-path-prefix=$(CRATES)=crates']" || exit; done
	@ls -l dist

clean:
	rm -rf $(VENV) $(BENCH) $(WHEEL) dist rust/target docs/_build proofs/rocq/_build src/dpselect/_native/_core*.so

# --- set-up: every stamp below names what makes it stale --------------------------------------------------------------

NEEDS_PYTHON = '$(PYTHON)' -c '$(OLD_ENOUGH)' 2>/dev/null \
	|| { echo 'Python 3.11 or later is needed: install it, or name yours with make PYTHON=/path/to/it' >&2; exit 1; }

PREPARES := pyproject.toml $(wildcard tools/*.py)

$(VENV)/.product $(VENV)/.dev $(VENV)/.plots $(VENV)/.docs: $(RUST) $(PREPARES)
	@$(NEEDS_PYTHON)
	@'$(PYTHON)' tools/prepare.py $(filter-out product,$(@:$(VENV)/.%=%)) $(PREPARE)
	@touch $(VENV)/.product $@

$(BENCH)/.bench: $(RUST) $(SOURCES) $(PREPARES) benchmarks/requirements.txt
$(WHEEL)/.wheel: $(PREPARES)
$(BENCH)/.bench $(WHEEL)/.wheel:
	@$(NEEDS_PYTHON)
	@'$(PYTHON)' tools/prepare.py $(patsubst .%,%,$(@F))
	@touch $@

$(VENV)/.nightly:
	@mkdir -p $(VENV)
	@rustc +nightly --version >/dev/null || { echo 'Sanitizers need a nightly Rust toolchain.' >&2; exit 1; }
	@touch $@

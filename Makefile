# Two commands are enough on a fresh machine with git, Python, make and a C++ compiler:
#   make demo    install into .venv-demo and train on the embedded data
#   make test    install into .venv-test and run the whole test suite
# Another Python: make test PYTHON=python3.13

PYTHON ?= python3
JOBS ?= 2

# An environment is made anew when anything that is installed has changed.
SOURCES := pyproject.toml README.md LICENSE $(wildcard CMakeLists.txt) \
           $(shell find src -type f ! -name '*.pyc' ! -name '*.so' ! -path '*/__pycache__/*')

.PHONY: help demo test lint clean

help:
	@echo "make demo   train on the embedded data and show the rules"
	@echo "make test   run the whole test suite"
	@echo "make lint   check style and types"
	@echo "make clean  remove the virtual environments and everything that was built"

demo: .venv-demo/installed
	@.venv-demo/bin/plurule demo
	@echo
	@echo "make demo: done. Your own data: .venv-demo/bin/plurule fit DATA --labels ... -o model.json"

test: .venv-test/installed
	.venv-test/bin/pytest -n $(JOBS) tests --pyargs plurule
	@echo
	@echo "make test: all tests passed."

lint: .venv-lint/installed
	.venv-lint/bin/ruff check .
	.venv-lint/bin/ruff format --check .
	.venv-lint/bin/mypy
	@echo
	@echo "make lint: style and types are clean."

.venv-demo/installed: EXTRAS :=
.venv-test/installed: EXTRAS := [test]
.venv-lint/installed: EXTRAS := [lint]

.venv-%/installed: $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "plurule needs Python 3.11 or newer; choose one with PYTHON=..., for example: make $* PYTHON=python3.12"; exit 1; }
	@echo "Installing plurule into .venv-$* ..."
	@test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check '.$(EXTRAS)'
	@touch $@

clean:
	rm -rf .venv-demo .venv-test .venv-lint build dist

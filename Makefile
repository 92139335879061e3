# Needs Python >= 3.11, git, make and a package index; everything else is installed into $(VENV).

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= 2
TESTERS ?= $(shell expr $(WORKERS) + 1)# processes of all tests: they wait a sixth of their time, for programs and timers
RESULTS ?= results

# Where real data lies, and whether what is missing fails (1) instead of being skipped.
FIDELITREE_DATA ?= ../shared/data
FIDELITREE_REQUIRE ?=
export FIDELITREE_DATA FIDELITREE_REQUIRE

# Compiled modules are kept, whatever the caller's setting: tests start hundreds of Pythons, each of which would compile
# the package again, and every test process would rewrite the assertions of every test.
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
PIP := -m pip install -qq --disable-pip-version-check
BARE := build/bare
LOWEST := build/lowest

.DELETE_ON_ERROR:
.PHONY: help run check test soak bench bench-queries bench-leaves bench-frontier bench-audit browser campaign mutants proofs docs lint lowest wheel clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

run: $(VENV)/installed-example ## distil a real model, 150 boosted trees, into certified trees of every size in results/wine
	$(BIN)/python examples/wine.py $(RESULTS)/wine.csv
	PYTHONPATH=examples $(BIN)/fidelitree frontier wine:model --data $(RESULTS)/wine.csv --chow-liu --max-queries 8000 --out $(RESULTS)/wine

check: lint ## for daily work, about a minute and a half: lint, and the tests in unit/ and law/ that are not slow
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow" tests/unit tests/law

test: $(VENV)/installed-test ## all that must pass: lint, the wheel in a bare environment, tests, coverage
	@$(MAKE) --no-print-directory --jobs $(WORKERS) lint wheel browser
	$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal --cov

soak: browser $(VENV)/installed-test ## the tests with their full counts
	FIDELITREE_SOAK=1 $(BIN)/python -m pytest -n $(WORKERS) -o faulthandler_timeout=3600

bench: $(VENV)/installed-bench ## time fidelitree against its peers on this machine
	$(BIN)/python -m benchmarks

bench-queries: $(VENV)/installed-bench ## count the labels that a certified tree costs, ours and the peers'
	$(BIN)/python -m benchmarks.queries

bench-frontier: $(VENV)/installed-bench ## trees of all sizes of real models, ours and the peers' from as many labels
	$(BIN)/python -m benchmarks.frontier

bench-audit: $(VENV)/installed-audit ## what surrogate methods say of themselves, and what is certified about them
	$(BIN)/python -m benchmarks.audit

bench-leaves: $(VENV)/installed-bench ## count the leaves of certified trees of real models, ours and the peers'
	$(BIN)/python -m benchmarks.leaves

campaign: $(VENV)/installed-test ## thousands of certified runs: do certificates keep their word? (docs/campaign.md)
	$(BIN)/python -m benchmarks.campaign --write --processes $(WORKERS)

mutants: $(VENV)/installed-test ## small faults planted in what certifies and keeps answers: which do the tests miss?
	$(BIN)/python -m benchmarks.mutants

# Debian's Coq and MathComp where root may install them, 1.6 GB with all they need: less what only readers and editors use.
COQ := coq libcoq-mathcomp-algebra-tactics libcoq-mathcomp-analysis
proofs: ## check the machine-checked proofs (docs/proofs.md), and that the checker refuses three false rules
	@test -e "$$(coqc -where 2> /dev/null)/user-contrib/mathcomp/analysis/Rstruct.vo" || { \
		test "$$(id -u)" = 0 && command -v apt-get > /dev/null \
		&& export DEBIAN_FRONTEND=noninteractive && apt-get -qq update \
		&& apt-get -qq install --no-install-recommends -o APT::Keep-Downloaded-Packages=false \
			-o Dpkg::Options::='--path-exclude=/usr/share/doc/*' -o Dpkg::Options::='--path-exclude=/usr/lib/ocaml/*.cmt*' \
			$(COQ) > /dev/null; } \
		|| { echo "proofs: Coq 8.16 and MathComp 1.15 are missing; as root: apt-get install $(COQ)"; exit 1; }
	WORKERS=$(WORKERS) proofs/check.sh
	proofs/mutations.sh

docs: $(VENV)/installed-docs ## build the documentation into site/, every warning an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "pages: site/index.html; search works from the disk"

lint: $(VENV)/installed-test ## style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# pip takes the newest versions, uv can take the lowest that pyproject.toml allows. Of what they need in turn it takes the
# newest, which may call the old ones deprecated; but for scikit-survival (of pystreed), whose newest would ask for a newer
# scikit-learn than our bound.
lowest: ## the fast tests with the lowest versions that pyproject.toml allows
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python $(PIP) 'uv>=0.5'
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
		--editable '.[test]' 'scikit-survival==0.25.*'
	$(LOWEST)/bin/python -m pytest -n $(WORKERS) -W ignore::DeprecationWarning -W ignore::FutureWarning tests/unit tests/law

# The wheel and its hard dependencies alone, outside the source tree: what a user gets from `pip install`; and the wheel
# that is made without a compiler, which must hold no library.
wheel: $(VENV)/installed-test
	rm -rf build/wheel $(BARE)
	CC=absent $(BIN)/python -m build --no-isolation --wheel --outdir build/wheel . > /dev/null
	$(BIN)/python -m zipfile -l build/wheel/*-none-any.whl | (! grep -F .so)
	rm -rf build/wheel
	FIDELITREE_REQUIRE_COMPILER=$(FIDELITREE_REQUIRE) $(BIN)/python -m build --no-isolation --wheel --outdir build/wheel . > /dev/null
	$(BIN)/python -m venv $(BARE)
	$(BARE)/bin/python $(PIP) --no-compile build/wheel/*.whl
	cd $(BARE) && bin/fidelitree --help > /dev/null
	cd $(BARE) && bin/python -c 'from typer.testing import CliRunner; from fidelitree.cli import app; \
		names = [one.name for one in app.registered_commands]; assert len(names) > 9; \
		wrong = [name for name in names if CliRunner().invoke(app, [name, "--help"]).exit_code]; assert not wrong, wrong'
	@echo "wheel: installs and answers --help in a bare environment"
	rm -rf $(BARE)

# Debian's Chromium for tests/browser, where root may install it; without one those tests are skipped and say so.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || { \
		test "$$(id -u)" = 0 && command -v apt-get > /dev/null \
		&& export DEBIAN_FRONTEND=noninteractive && timeout 60 apt-get -qq update \
		&& timeout 300 apt-get -qq install --no-install-recommends chromium; } > /dev/null 2>&1 || true

clean: ## remove what the other targets made, the environment included (results stay)
	rm -rf $(VENV) build dist site .coverage .coverage.* .hypothesis .import_linter_cache
	rm -rf .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks docs -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fidelitree needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

# One stamp for each extra; it is older than pyproject.toml when the dependencies may have changed, and older than the
# kernels when they must be compiled again.
$(VENV)/installed-%: pyproject.toml hatch_build.py $(wildcard src/fidelitree/trees/kernels/*.[ch]) | $(BIN)/python
	$(BIN)/python $(PIP) --editable '.[$*]'
	@touch $@

# Everything runs in .venv, made here from constraints.txt. Needs Python 3.11 or newer, make and git; `make test` also wants Java and Chromium (see `system`).

PYTHON ?= $(shell command -v python3.11 || command -v python3)
ENGINES ?= all
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup

# Tests start hundreds of interpreters, and pytest rewrites a thousand files: without compiled files each does that work again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test quick coverage durations check format slow lowest bench docs system clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/demo.stamp  ## the whole story on sample data, told in the terminal; writes a page with pictures to build/demo
	@$(BIN)/sfumato demo --out build/demo

ifeq ($(ENGINES),all)
test: .venv/full.stamp system  ## the test suite; ENGINES=duckdb leaves out what needs Java or a browser
	$(PYTEST) -m "not slow"
else ifneq ($(ENGINES),duckdb)
test:
	$(error ENGINES is "all" or "duckdb", not "$(ENGINES)")
else ifeq ($(CI),true)
test:
	$(error ENGINES=duckdb is not allowed when CI=true: the whole suite has to run)
else
SMALLER := *** SMALLER FORM (ENGINES=duckdb): tests that need Java (Spark) or a browser were NOT run ***
test: .venv/full.stamp
	@echo "$(SMALLER)"
	$(PYTEST) -m "not slow and not java and not browser"
	@echo "$(SMALLER)"
endif

quick: .venv/full.stamp  ## the quickest tests of every folder: a first answer in a minute
	@$(PYTEST) -q -m "not slow and not java and not browser" $$($(BIN)/python tests/durations.py --quick)

durations: .venv/full.stamp system  ## the whole suite once, and what each file took into tests/durations.json
	$(PYTEST) -m "not slow" --junitxml=build/junit.xml
	$(BIN)/python tests/durations.py build/junit.xml

CORE := exact noise guarantees mechanisms accounting ledger
coverage: .venv/full.stamp  ## branch coverage of the privacy core by the tests of its own folders
	$(PYTEST) -q -m "not slow" --cov-branch --cov=sfumato.release $(CORE:%=--cov=sfumato.%) --cov-report=term:skip-covered \
		$(CORE:%=tests/%) tests/conformance tests/vectors tests/test_release.py tests/test_release_laws.py

check: .venv/full.stamp  ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: .venv/full.stamp  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

slow: .venv/full.stamp system lowest  ## larger samples, longer searches, and the lowest versions
	$(PYTEST) -m slow

# Tests that reach every dependency: arithmetic and noise, the ledger on SQLite and PostgreSQL, tables on DuckDB and PostgreSQL, the command line, pictures, the service.
REACHING := tests/exact tests/noise tests/mechanisms tests/guarantees tests/test_release.py tests/sql/test_sql_text.py \
	$(addprefix tests/ledger/test_,book.py charging.py verify.py postgres_store.py) \
	$(addprefix tests/tables/test_,read_results.py frame_sources.py sources.py engine_registry.py duckdb_engine.py external_duckdb.py external_postgres.py duckdb_catalog.py capabilities.py external.py) \
	$(addprefix tests/cli/test_,commands.py budget_command.py) $(addprefix tests/plots/test_,bars.py ratio_plot.py) $(addprefix tests/server/test_,asgi_app.py routes.py) tests/mcp/test_tool_server.py

lowest: .venv/lowest/stamp  ## tests that reach every dependency, on the lowest versions that pyproject.toml declares
	.venv/lowest/bin/python -m pytest -n auto --dist loadgroup -m "not slow and not java and not browser" $(REACHING)

bench: .venv/full.stamp  ## speed of everything that should be fast, beside the peers, bare commits and plain queries
	$(BIN)/python bench/noise.py
	$(BIN)/python bench/ledger.py
	$(BIN)/python bench/queries.py
	$(BIN)/python bench/accounting.py
	$(BIN)/python bench/functions.py
	$(BIN)/python bench/local.py

docs: .venv/full.stamp  ## the documentation, in site/
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

system:  ## Java and Chromium by apt, where they are missing and apt may be used
	@missing=; \
	command -v java >/dev/null || missing="$$missing openjdk-17-jre-headless"; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ]; then as=; elif sudo -n true 2>/dev/null; then as="sudo -n"; else as=none; fi; \
	if command -v apt-get >/dev/null && [ "$$as" != none ] && $$as apt-get update -qq \
		&& $$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; then exit 0; fi; \
	echo "some tests need$$missing: install by hand, or run the smaller form, make test ENGINES=duckdb" >&2; exit 1

clean:  ## remove what was built, .venv too
	rm -rf .venv build site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

.venv/bin/python:
	@[ -n "$(PYTHON)" ] && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "sfumato needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	"$(PYTHON)" -m venv .venv

# constraints-lowest.txt says how it was made: see tests/lowest.py.
.venv/lowest/stamp: pyproject.toml constraints-lowest.txt | .venv/bin/python
	.venv/bin/python -m venv --clear .venv/lowest
	.venv/lowest/bin/python -m pip --disable-pip-version-check install --quiet -c constraints-lowest.txt -e '.[all]' pytest pytest-xdist hypothesis pgserver
	@touch $@

# The stamps make a second run instant; a change of what is declared or pinned installs again.
.venv/demo.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[tables,plots]'
	@touch $@

.venv/full.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[all,dev]'
	@touch $@ .venv/demo.stamp

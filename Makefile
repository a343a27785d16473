# `make help` lists what there is. Another Python for a new .venv: `make app PYTHON=python3.12`.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-input
# Arguments for pytest, as in `make test ARGS="tests/store -x"`.
ARGS ?= -n auto
# Arguments for the faults: `make faults FAULTS="-k killed"`; GLT_FAULT_SEED=N draws the moments of an earlier call again.
FAULTS ?=
# Arguments for the benchmarks, as in `make bench BENCH=--quick`.
BENCH ?=
# Parallel tests and workers compute with one thread each.
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
# Examples a test of `make fuzz`, as in `make fuzz EXAMPLES=5000`.
EXAMPLES ?= 300
BROWSER_FUZZ := $(addprefix tests/browser/test_,nothing_executes.py protection.py)
.PHONY: help app test check damage faults fuzz audit load bench examples screenshots

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

app: .venv/app.stamp ## install what is missing, then open the app in the browser
	$(BIN)/streamlit run app/main.py

test: .venv/test.stamp ## run all tests
	$(BIN)/python -m pytest $(ARGS)

check: .venv/test.stamp ## lint, check the format and the types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

damage: .venv/test.stamp ## damage every file of a run in every way, read it with every command
	GLT_DAMAGE=all $(BIN)/python -m pytest tests/robustness/damage $(ARGS)

faults: .venv/test.stamp ## kill runs at 50 moments, break the disk at every write, and more
	GLT_FAULT_KILLS=50 $(BIN)/python -m pytest tests/robustness/faults $(FAULTS)

fuzz: .venv/test.stamp ## hand over what nobody should (minutes)
	GLT_FUZZ=$(EXAMPLES) $(BIN)/python -m pytest tests/robustness/fuzz $(BROWSER_FUZZ) -n 2 --durations=5

audit: .venv/test.stamp ## look the pinned packages up in the list of known faults
	$(BIN)/pip-audit --skip-editable --requirement requirements.txt --no-deps --disable-pip --progress-spinner off

bench: .venv/test.stamp ## measure speed, print ratios to the saved baseline (25 minutes; BENCH=--quick, --full)
	$(BIN)/python -m benchmarks all $(BENCH)

load: .venv/test.stamp ## twenty people at once for five minutes: errors, memory, page times
	$(BIN)/python -m benchmarks load --json

examples: .venv/app.stamp ## make the example runs with today's version of results (hours)
	$(BIN)/python examples/make.py

screenshots: .venv/test.stamp ## draw the pictures of docs/ again
	$(BIN)/python docs/screenshots.py

# A stamp is older than its requirements only when these have changed: a second start installs nothing.
.venv/app.stamp: requirements.txt | .venv/bin/python
	$(PIP) -r requirements.txt
	@touch $@

.venv/test.stamp: requirements-dev.txt requirements.txt | .venv/bin/python
	$(PIP) -r requirements-dev.txt
	@touch $@ .venv/app.stamp

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "GLT Studio needs Python 3.10 or newer: make app PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv .venv

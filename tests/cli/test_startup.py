"""Modules that starting the program loads, and none from an untrusted folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import contextui
from contextui import ContextItem, ItemType, SessionStore
from tests.cli.calling import PATIENCE, Program

HEAVY = {"textual", "anthropic", "httpx2", "tiktoken", "lxml", "pydantic", "psutil"}


# Commands, from the one that loads least, and what must not be loaded when each has run.
SPARING = [
    (["--version"], {*HEAVY, "argparse", "asyncio", "tomllib"}),
    (["--help"], {"textual", "anthropic", "lxml", "tiktoken", "asyncio", "psutil"}),
    (["config"], {*HEAVY, "asyncio", "email", "filelock"}),
    (["sessions"], {*HEAVY, "asyncio", "email", "filelock", "contextui.context"}),
    (["mcp", "list"], {*HEAVY, "asyncio", "email", "filelock", "contextui.context"}),
    (["completion", "bash"], {"textual", "anthropic", "tiktoken", "lxml", "psutil"}),
    (["new-window", "shop"], {"textual", "anthropic", "tiktoken", "lxml", "psutil"}),
    (["windows"], {"textual", "anthropic", "tiktoken"}),
    (
        ["-p", "Hi", "--model", "offline"],
        {
            *("textual", "rich", "anthropic", "httpx2", "mcp", "keyring", "openai"),
            *("contextui.agent.models.openai", "contextui.agent.models.servers"),
            "contextui.agent.models.prices",
        },
    ),
]
SCRIPT = """
import sys
from contextui.cli import main
for words in {commands}:
    print(main(words), *sys.modules, file=sys.stderr)
"""


def test_the_version_is_printed_with_other_flags_too(program: Program) -> None:
    assert program("--verbose", "--version").out == f"contextui {contextui.__version__}\n"


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_the_program_does_not_load_slow_modules_to_answer(program: Program, word: str) -> None:
    """As a library, it does load `logging`."""
    command = [sys.executable, "-X", "importtime", "-m", "contextui", word]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "contextui.cli" in loaded
    slow = {"logging", "pydantic", "dataclasses", "inspect", "difflib", "tomllib", "json"}
    assert loaded.isdisjoint(slow)


def test_a_command_loads_only_what_it_needs(program: Program) -> None:
    with SessionStore().create(program.folder) as session:
        session.context.add(ContextItem(ItemType.USER, "A question"))
    script = SCRIPT.format(commands=[words for words, _ in SPARING])
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    for (words, not_loaded), line in zip(SPARING, done.stderr.splitlines(), strict=True):
        status, *loaded = line.split()
        assert status == "0", done
        assert not_loaded.isdisjoint(loaded), words
    assert done.stdout.startswith(f"contextui {contextui.__version__}\n")
    assert f"{session.id[:8]}  " in done.stdout


def test_as_a_library_the_path_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import contextui, other\nprint(other.HERE)\n")
    (tmp_path / "other.py").write_text("HERE = 'found'\n")
    done = subprocess.run(
        [sys.executable, "-m", "mine"],
        capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE, check=True,
        env=dict(os.environ),
    )  # fmt: skip
    assert done.stdout == "found\n"


def test_warnings_of_the_library_do_not_reach_the_terminal(tmp_path: Path) -> None:
    script = "import contextui, logging; logging.getLogger('contextui.x').warning('seen')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stderr == b""

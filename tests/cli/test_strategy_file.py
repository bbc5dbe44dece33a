"""`--strategy FILE.py:Class`: only as a flag that the person types."""

from typing import Any

import pytest

from contextui.cli.arguments import parse
from contextui.cli.serve import settings_flags
from contextui.cli.setup import open_app_session
from tests.cli.calling import Program

STRATEGY = """
from pathlib import Path
from contextui.strategies import ContextStrategy, Payload

Path("ran").touch()

class Mine(ContextStrategy):
    name = "mine"
    async def compose_payload(self, system_prompt, history, tools, rag_context=None):
        return Payload(list(history))

class Failing(Mine):
    name = "failing"
    async def compose_payload(self, system_prompt, history, tools, rag_context=None):
        raise ValueError("no\\nroom \\x1b[2J")

class Other(Mine):
    name = "other"
    def __init__(self, *, needed: int) -> None:
        pass
"""


@pytest.fixture
def file(program: Program) -> str:
    program.write("mine.py", STRATEGY)
    return "mine.py"


def test_a_flag_loads_the_class_of_a_file(program: Program, file: str) -> None:
    desk = open_app_session(parse(["--strategy", f"{file}:Mine"]))
    chosen: Any = desk.controller.strategist.strategy
    assert chosen.name == "mine"
    desk.close()
    assert program("-p", "Hello", "--strategy", f"{file}:Mine").status == 0
    arguments = parse(["serve", f"--strategy={file}:Mine"])
    assert [*settings_flags(arguments)] == [f"--strategy={file}:Mine"]


def test_one_that_raises_within_a_turn_is_reported_and_the_turn_goes_on(
    program: Program, file: str
) -> None:
    done = program("-p", "Make a list with milk", "--strategy", f"{file}:Failing")
    assert done.status == 0
    assert "todo_1" in done.out
    (line,) = done.err.splitlines()
    assert "failing" in line
    assert "ValueError: no" in line
    assert "\x1b" not in line


@pytest.mark.parametrize(
    "written",
    [
        'strategy = "mine.py:Mine"',
        'strategy = "./mine.py"',
        '[strategy]\ntype = "mine.py:Mine"',
        '[strategy]\ntype = "plugin"\nplugin = "mine.py:Mine"',
        '[strategy]\ntype = "mine.py"',
    ],
)
@pytest.mark.parametrize("place", [".contextui/config.toml", "../home/config.toml"])
def test_no_config_file_can_name_code_to_run(
    program: Program, file: str, written: str, place: str
) -> None:
    program.write(place, written)
    program("-p", "Hello").fails(2)
    program("config").fails(2)
    assert file
    assert not (program.folder / "ran").exists()


def test_no_variable_can_either(program: Program, file: str) -> None:
    program.set(CONTEXTUI_STRATEGY=f"{file}:Mine")
    program("-p", "Hello").fails(2)
    assert not (program.folder / "ran").exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("none.py:Mine", 'There is no file "none.py"'),
        ("mine.py:Nobody", "Available: Mine, Failing, Other"),
        ("mine.py", "Write FILE.py:Class"),
        ("mine.py:Path", "has no strategy"),
        ("mine.py:Other", "needs the setting needed"),
        ("broken.py:Mine", "cannot be loaded: ZeroDivisionError"),
        ("leaves.py:Mine", "cannot be loaded: SystemExit"),
    ],
)
def test_errors_are_one_line(program: Program, file: str, given: str, words: str) -> None:
    assert file
    program.write("broken.py", "1 / 0")
    program.write("leaves.py", "raise SystemExit(3)")
    program("-p", "Hello", "--strategy", given).fails(2, words)
    program("config", "--strategy", given).fails(2, words)

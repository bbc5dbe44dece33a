"""From files to classes: what a file defines, and why one cannot be used."""

import json
import os
import sys
from pathlib import Path

import pytest

from contextui import WindowManager
from tests.windowing.finding.sources import SOURCE, found, lines, only_reason, point, write


def test_a_file_gives_its_windows(there: Path) -> None:
    write(there / "hello.py")
    registry = found(files=["hello.py"])
    assert lines(registry) == ["[✓] hello: Says hello."]
    windows = WindowManager(registry.classes())
    assert windows.open("hello", start=4).snapshot().content == "Says hello. 4"


def test_entries_are_ready_for_json(there: Path) -> None:
    write(there / "hello.py")
    (there / "bad.py").write_text("1 +", "utf-8")
    registry = found(files=["hello.py", "bad.py"])
    assert json.loads(json.dumps([entry.data() for entry in registry.entries])) == [
        {
            "name": "hello",
            "status": "ready",
            "origin": "Hello in hello.py",
            "reason": None,
            "warning": None,
            "description": "Says hello.",
            "args": "start:int=0",
            "actions": ["up"],
        },
        {
            "name": "bad",
            "status": "broken",
            "origin": "bad.py",
            "reason": "syntax error in bad.py, line 1: invalid syntax",
            "warning": None,
            "description": None,
            "args": None,
            "actions": None,
        },
    ]


def test_all_windows_that_a_file_defines_and_none_that_it_imports(there: Path) -> None:
    more = SOURCE.format(cls="Second", words="Two.") + (
        "\nfrom contextui.windows.todo.window import TodoWindow"
        "\nAlias = Hello\nclass _Base(Window): pass\n"
    )
    write(there / "two.py", more=more)
    assert [entry.name for entry in found(files=["two.py"]).entries] == ["hello", "second"]
    assert lines(found(files=["two.py:Second"])) == ["[✓] second: Two."]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("two.py:Third", 'two.py has no class "Third". It has: Hello'),
        ("two.py:", 'two.py has no class "". It has: Hello'),
        ("two.py:Lod", "Lod in two.py does not extend contextui.Window"),
        ("two.py:Window", "Window in two.py does not extend contextui.Window"),
        ("none.py", "there is no file none.py: name a Python file"),
        ("none.py:A", "there is no file none.py: name a Python file"),
        ("", ". is a folder: give it with --windows"),
        ("folder", "folder is a folder: give it with --windows"),
        ("notes.txt", "notes.txt is not a Python file: its name must end in .py"),
        ("pipe.py", 'pipe.py: "pipe.py" is a FIFO, not a file'),
        (
            "huge.py",
            "huge.py: it has 9,000,000 bytes, and a window's file may have 1,000,000 at most",
        ),
        ("loop.py", "loop.py: "),
        ("empty.py", "empty.py defines no window: write a class that extends contextui.Window"),
    ],
)
def test_what_cannot_be_a_windows_file_says_what_to_do(there: Path, spec: str, reason: str) -> None:
    write(there / "two.py")
    (there / "folder").mkdir()
    (there / "notes.txt").write_text("x", "utf-8")
    (there / "empty.py").write_text("", "utf-8")
    (there / "huge.py").write_bytes(b"#" * 9_000_000)
    (there / "loop.py").symlink_to("loop.py")
    os.mkfifo(there / "pipe.py")
    given = only_reason(found(files=[spec]))
    assert given.startswith(reason)
    assert given == reason or reason.endswith(": ")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1\ndef f(:\n", "syntax error in bad.py, line 2: invalid syntax"),
        ("  x = 1\n", "syntax error in bad.py, line 1: unexpected indent"),
        ("\0", "source code string cannot contain null bytes"),
        ("x = 1\n1 / 0\n", "ZeroDivisionError: division by zero (bad.py, line 2)"),
        ("def f():\n    int('x')\n\nf()", "(bad.py, line 2)"),
        ("import nowhere_at_all", "No module named 'nowhere_at_all' (bad.py, line 1)"),
        ("import sys\nsys.exit(3)", "it ends the program while being loaded (SystemExit: 3)"),
        ("raise BaseException('x')", "BaseException: x (bad.py, line 1)"),
        ("raise ValueError('a\\x1b[31m\\n\\u202eb')", "ValueError: a␛[31m \\u202eb (bad.py"),
        (
            "class E(Exception):\n    def __str__(self): 1/0\nraise E",
            "(its message is unavailable: Z",
        ),
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded (bad.py, line 1)"),
        (
            "from contextui import Window\nclass A(Window):\n    name = 'No Name'",
            'digits, - and _). Write name = "no-name" (bad.py, line 2)',
        ),
        (
            "from contextui import Window, action\nclass A(Window):\n"
            "    @action('x')\n    def go(self, where): pass",
            "A.go: where needs a type hint, such as where: str (bad.py, line 2)",
        ),
        ("from contextui import Window\nclass A(Window): pass", "A has no content(): define what"),
    ],
)
def test_a_broken_file_is_one_line_and_no_harm(there: Path, source: str, reason: str) -> None:
    (there / "windows").mkdir()
    (there / "windows" / "bad.py").write_text(source, "utf-8")
    write(there / "windows" / "good.py")
    before = set(sys.modules)
    # Line and file are shown relative to where the user is, as they were given.
    registry = found(folders=["windows"])
    bad, good = lines(registry)
    assert good == "[✓] hello: Says hello."
    assert bad.startswith("[X] bad: ")
    assert reason in bad.replace("windows/bad.py", "bad.py")
    assert bad.isprintable()
    kept = [name for name in set(sys.modules) - before if name.endswith("_bad")]
    assert not kept or "A" in vars(sys.modules[kept[0]])


def test_ctrl_c_still_ends_the_program(there: Path) -> None:
    (there / "slow.py").write_text("raise KeyboardInterrupt", "utf-8")
    with pytest.raises(KeyboardInterrupt):
        found(files=["slow.py"])
    with pytest.raises(KeyboardInterrupt):
        found(
            packages=[point("x", "tests.windowing.finding.test_loading:interrupt.pressed")]
        ).load_all()


class _Interrupt:
    @property
    def pressed(self) -> object:
        raise KeyboardInterrupt


interrupt = _Interrupt()


def test_a_syntax_error_of_another_file_names_that_one(there: Path) -> None:
    (there / "lib").mkdir()
    (there / "lib" / "helper.py").write_text("x = \n", "utf-8")
    (there / "bad.py").write_text(
        "import importlib.util as u\n"
        "s = u.spec_from_file_location('h', 'lib/helper.py')\n"
        "s.loader.exec_module(u.module_from_spec(s))\n",
        "utf-8",
    )
    assert "lib/helper.py, line 1" in only_reason(found(files=["bad.py"]))


def test_objects_that_raise_when_looked_at_do_no_harm(there: Path) -> None:
    proxy = """
class Proxy:
    @property
    def __class__(self):
        raise RuntimeError("not bound")

request = Proxy()
import sys
del sys.modules[__name__]
"""
    write(there / "hello.py", more=proxy)
    write(there / "other.py", "Other")
    assert len(found(files=["hello.py", "other.py"]).classes()) == 2


def test_a_description_is_shown_inert(there: Path) -> None:
    write(there / "hello.py", words="a\\x1b]0;x\\x07 [/b] \\u202e")
    assert lines(found(files=["hello.py"])) == ["[✓] hello: a␛]0;x␇ [/b] \\u202e"]


def test_models_dataclasses_and_postponed_hints_work(there: Path) -> None:
    (there / "rich.py").write_text(
        '''
from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from pydantic import BaseModel

from contextui import Body, Lod, Window, action

HERE = Path(__file__)

@dataclass
class Point:
    x: int
    _: KW_ONLY
    y: int = 0

class Node(BaseModel):
    children: list[Node] = []

class Rich(Window):
    """Rich."""

    class State(Window.State):
        node: Node = Node()

    state: State

    def content(self, lod: Lod) -> Body:
        return f"{Point(1, y=2)} {HERE.name} {__name__}"

    @action("Grow")
    def grow(self, by: int) -> None:
        self.state.node.children += [Node() for _ in range(by)]
''',
        "utf-8",
    )
    (cls,) = found(files=["rich.py"]).classes()
    assert sys.modules[cls.__module__].__file__ == str(there / "rich.py")
    content = WindowManager([cls]).open("rich").snapshot().content
    assert content == f"Point(x=1, y=2) rich.py {cls.__module__}"


def test_two_files_of_one_name_do_not_meet(there: Path) -> None:
    write(there / "a" / "same.py", "One")
    write(there / "b" / "same.py", "Two")
    one, two = found(folders=["a", "b"]).classes()
    assert (one.name, two.name) == ("one", "two")
    assert one.__module__ != two.__module__
    assert "same" not in sys.modules


def test_nothing_is_left_in_or_read_from_a_cache(there: Path) -> None:
    write(there / "hello.py")
    found(files=["hello.py"])
    assert os.listdir(there) == ["hello.py"]


def test_a_file_named_like_a_module_of_python_hides_none(there: Path) -> None:
    write(there / "json.py")
    assert lines(found(files=["json.py"])) == ["[✓] hello: Says hello."]
    assert json.dumps({}) == "{}"

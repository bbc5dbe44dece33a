"""Every word of the inspector has its Chinese."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import contextui.tui.inspector as package
from contextui.context.item import Hidden
from contextui.tui.inspector import edit, labels, pane, usage
from contextui.tui.inspector.budget import _STYLES
from contextui.tui.words import CHINESE
from contextui.windowing.snapshot import Lod

FOLDER = Path(str(package.__file__)).parent


def test_every_word_that_is_said_has_its_chinese() -> None:
    used = {word for path in FOLDER.glob("*.py") for word in said_in(path)} | set(in_tables())
    assert len(used) > 80
    assert sorted(word for word in used if word not in CHINESE) == []


def test_the_chinese_takes_the_same_values() -> None:
    for english, chinese in CHINESE.items():
        assert set(re.findall(r"\{(\w+)\}", english)) == set(re.findall(r"\{(\w+)\}", chinese))


def said_in(path: Path) -> Iterator[str]:
    """What a module says: the first argument of `words`, and what bindings are called."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in ("words", "_words") and node.args:
            yield from constants(node.args[0])
        if name == "Binding" and len(node.args) > 2:
            yield from constants(node.args[2])
        if name == "Offer" and len(node.args) > 1:
            yield from constants(node.args[1])


def constants(node: ast.expr) -> Iterator[str]:
    """The words that an expression can be, as far as they stand there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def in_tables() -> Iterator[str]:
    yield from pane.PAGES
    yield from _STYLES
    yield from labels.KINDS.values()
    yield from get_args(Hidden)
    yield from (lod.value for lod in Lod)
    for table in (edit._DONE, edit._DONE_LATER, edit._AGAIN, usage._DEEDS):
        yield from table.values()
    yield from usage._NAMES + usage._SHORT
    yield from (name for name, _ in (*usage._COLUMNS, *usage._NARROW))
    yield from ("user", "assistant", "from cache", "sent anew", "sent", "not sent yet")

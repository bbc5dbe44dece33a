"""Find the messages in the code, and compare them with the catalogue.

`python -m tests.words.messages` adds missing messages to `zh.po` without a translation, removes
unused ones, and prints both.
"""

import ast
import errno
import inspect
import os
import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import contextui
from contextui.cli.arguments import command_parser, main_parser
from contextui.cli.commands import COMMANDS
from contextui.config.schema import SETTINGS
from contextui.errors import ContextUIError
from contextui.tui.desktop.shared import short_name
from contextui.windowing.finding.registry import discover
from contextui.words import Words, read_po, set_language

PACKAGE = Path(contextui.__file__).parent
CATALOGUE = PACKAGE / "words" / "zh.po"

_TRANSLATING = {
    "t": 0,
    "words": 0,
    "_words": 0,
    "msg": 0,
    "warn": 0,
    "Message": 0,
    "Binding": 2,
    "Offer": 1,
    "Command": 1,
    "_error": 0,
    "action": 0,
    "Action": 1,
}
"""Functions and classes that take a message, and its place among their arguments."""

PROGRAMMERS = {
    "AnchorConflictError",
    "DamagedLineError",
    "DuplicateItemError",
    "FrozenStateError",
    "InvalidItemError",
    "InvalidSourceDataError",
    "MalformedRequestError",
    "StaleRequestError",
    "UnknownItemError",
    "VersionMismatchError",
    "WindowDefinitionError",
}
"""Errors that only someone who writes a program or a window can cause; they are in English."""


def sources() -> Iterator[Path]:
    """The files whose messages are in the catalogue."""
    yield from sorted({*PACKAGE.rglob("*.py"), *(PACKAGE / "windows").glob("*/*.py")})


@cache
def messages() -> frozenset[str]:
    """All messages that the code translates, as far as they are literals there."""
    found = {message for _, call in _nodes()[0] for message in _messages_of(call)}
    return frozenset({*found, *help_messages(), *window_texts()})


def window_texts() -> Iterator[str]:
    """The descriptions of the built-in windows, and their actions' names on buttons."""
    for cls in discover().classes():
        if cls.__module__.startswith("contextui."):
            yield cls.description
            for action in cls.actions.values():
                yield short_name(action, Words("en")).rstrip("…")


def help_messages() -> Iterator[str]:
    """The messages of `--help`: they reach the translation through argparse."""
    set_language("en")
    parsers = [main_parser(), *map(command_parser, COMMANDS.values())]
    for parser in parsers:
        yield from (str(group.title) for group in parser._action_groups)
        yield from (str(a.help) for a in parser._actions if a.dest not in SETTINGS)
    yield from (str(field.description) for field in SETTINGS.values())
    yield from (command.summary for command in COMMANDS.values())


def literals() -> set[str]:
    """All strings in the code: a message of the catalogue that is not among them is unused."""
    return {*_nodes()[1], *messages(), *map(os.strerror, errno.errorcode)}


def untranslatable() -> list[str]:
    """Errors with an f-string as message: the catalogue cannot have that."""
    return [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {_name(node)}"
        for path, node in _nodes()[0]
        if _name(node) in errors()
        and not any(keyword.arg == "zh" for keyword in node.keywords)
        and any(isinstance(one, ast.JoinedStr) for one in node.args[: _place(node) + 1])
    ]


@cache
def errors() -> frozenset[str]:
    """The names of the errors that a person or the model can meet."""
    found, pending = set[str](), [ContextUIError]
    for module in pkgutil.walk_packages([str(PACKAGE)], "contextui."):
        if "__main__" not in module.name:
            import_module(module.name)
    while pending:
        cls = pending.pop()
        pending += cls.__subclasses__()
        if cls.__module__.startswith("contextui.") and inspect.isclass(cls):
            found.add(cls.__name__)
    return frozenset(found - PROGRAMMERS)


def _messages_of(node: ast.Call) -> Iterator[str]:
    name = _name(node)
    if name == "plural":
        for one in node.args[1:3]:
            yield from _constants(one)
    elif name in ("say", "_say") and len(node.args) == 1:  # with two, both texts are given
        yield from _constants(node.args[0])
    elif name in _TRANSLATING or name in errors():
        if any(keyword.arg == "zh" for keyword in node.keywords):
            return
        if len(node.args) > _place(node):
            yield from _constants(node.args[_place(node)])


def _place(call: ast.Call) -> int:
    return _TRANSLATING.get(_name(call), _places().get(_name(call), 0))


@cache
def _places() -> dict[str, int]:
    """The place of the message among the arguments of each error."""
    found, pending = dict[str, int](), [ContextUIError]
    while pending:
        cls = pending.pop()
        pending += cls.__subclasses__()
        names = list(inspect.signature(cls).parameters)
        given = next((name for name in ("message", "words") if name in names), names[0])
        found[cls.__name__] = names.index(given)
    return found


def _constants(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if text:
            yield text
        case ast.IfExp():
            yield from _constants(node.body)
            yield from _constants(node.orelse)


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


@cache
def _nodes() -> tuple[list[tuple[Path, ast.Call]], set[str]]:
    """All calls in the code, and all strings: both of one walk, which takes long."""
    calls, strings = list[tuple[Path, ast.Call]](), set[str]()
    for path in sources():
        pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Call):
                calls.append((path, node))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.add(node.value)
            for value in vars(node).values():
                if isinstance(value, list):
                    pending += (one for one in value if isinstance(one, ast.AST))
                elif isinstance(value, ast.AST):
                    pending.append(value)
    return calls, strings


def main() -> None:
    """Bring the catalogue up to date with the code."""
    text = CATALOGUE.read_text(encoding="utf-8")
    known = set(read_po(text))
    missing, unused = sorted(messages() - known), sorted(known - literals())
    head, *entries = text.rstrip("\n").split("\n\n")
    kept = [entry for entry in entries if not set(read_po(entry)) & set(unused)]
    kept += [f'msgid "{_escaped(one)}"\nmsgstr ""' for one in missing]
    kept.sort(key=lambda entry: entry.removeprefix('msgid "').lower())
    CATALOGUE.write_text("\n\n".join([head, *kept]) + "\n", encoding="utf-8")
    for title, found in (("Missing", missing), ("Unused", unused)):
        print(f"{title}: {len(found)}", *(f"  {one!r}" for one in found), sep="\n")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")


if __name__ == "__main__":
    main()

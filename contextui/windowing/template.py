"""Templates of `contextui new-window NAME`: a working window and its test."""

import os
from pathlib import Path
from string import Template
from typing import NamedTuple

from contextui.errors import ContextUIError, os_reason
from contextui.names import WINDOW_NAME
from contextui.text import quote, shown_path


class NewWindowError(ContextUIError):
    """A new window cannot be created: its name is invalid, or its file exists."""


class NewWindow(NamedTuple):
    """The names and texts of a new window's two files."""

    file: str
    text: str
    test_file: str
    test_text: str


def new_window(name: str) -> NewWindow:
    """Generate the files of a new window.

    Raises:
        NewWindowError: The name is invalid.
    """
    if not WINDOW_NAME.fullmatch(name):
        raise NewWindowError(
            "{name} cannot be a window's name. Use lowercase letters, digits, - and _, starting "
            "with a letter, such as shopping-list.",
            name=quote(name),
        )
    words = [word for word in name.replace("-", "_").split("_") if word]
    if words[0].startswith("test"):  # or pytest would collect the file or the class
        words.insert(0, "the")
    # The suffix keeps the file from shadowing a standard module, such as code or calendar.
    module = "_".join(words) + "_window"
    names = {
        "name": name,
        "module": module,
        "cls": "".join(map(str.capitalize, words)) + "Window",
        "title": " ".join(words),
    }
    return NewWindow(
        f"{module}.py",
        Template(_WINDOW).substitute(names),
        f"test_{module}.py",
        Template(_TEST).substitute(names),
    )


def write_new_window(name: str, folder: Path) -> list[Path]:
    """Write both files into a folder, without overwriting anything.

    Raises:
        NewWindowError: The name is invalid, or a file exists or cannot be written.
    """
    new = new_window(name)
    contents = {folder / new.file: new.text, folder / new.test_file: new.test_text}
    for path in contents:
        if os.path.lexists(path):
            raise NewWindowError(
                "{path} exists already and was not overwritten.", path=shown_path(path)
            )
    for path, text in contents.items():
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            shown = shown_path(path)
            raise NewWindowError(
                "{path} cannot be written: {why}.", path=shown, why=os_reason(error)
            ) from error
    return list(contents)


_WINDOW = '''\
"""A window for contextui: $title."""

from contextui import ActionError, Body, Element, Lod, Window, action


class $cls(Window):
    """Keeps entries."""  # the model reads this line: say what the window is for

    name = "$name"

    class State(Window.State):  # saved with the session, restored on resume
        entries: list[str] = []

    state: State

    def opened(self, entries: list[str] | None = None) -> None:
        self.state.entries = entries or []

    def content(self, lod: Lod) -> Body:
        entries = [
            Element("entry", text, id=number) for number, text in enumerate(self.state.entries, 1)
        ]
        if lod is Lod.GIST:  # one line
            return f"{len(entries)} entries"
        if lod is Lod.SUMMARY:  # what matters
            return entries[-3:]
        return entries  # everything

    @action("Add an entry")
    def add(self, text: str) -> str:
        if not text.strip():
            raise ActionError("An entry needs text.")
        self.state.entries.append(text.strip())
        return f"Added as {len(self.state.entries)}."

    @action("Remove an entry, by its id")
    def remove(self, entry: int) -> str:
        count = len(self.state.entries)
        if not 1 <= entry <= count:
            raise ActionError(f"There is no entry {entry}. There are {count}.")
        return f"Removed {self.state.entries.pop(entry - 1)!r}."
'''

_TEST = '''\
"""Tests of the window $name."""

from contextui import Lod
from contextui.testing import WindowTester
from $module import $cls


def test_entries_are_added_and_removed() -> None:
    with WindowTester($cls, entries=["one"]) as window:
        assert window.act("add", text=" two ") == "Added as 2."
        assert window.act("remove", entry=1) == "Removed 'one'."
        assert window.window.state.entries == ["two"]


def test_invalid_input_is_refused_and_changes_nothing() -> None:
    with WindowTester($cls) as window:
        assert window.refused("add", text=" ") == "An entry needs text."
        assert window.refused("remove", entry=1) == "There is no entry 1. There are 0."


def test_less_detail_shows_less() -> None:
    with WindowTester($cls, entries=["a", "b", "c", "d"]) as window:
        assert window.content(Lod.GIST) == "4 entries"
        assert window.content(Lod.SUMMARY).split() == ["b", "id=2", "c", "id=3", "d", "id=4"]
        assert window.content(Lod.FULL).startswith("a  id=1")


def test_the_state_is_restored_in_a_later_run() -> None:
    with WindowTester($cls, entries=["one"]) as window, window.restored() as later:
        assert later.content() == window.content()
'''

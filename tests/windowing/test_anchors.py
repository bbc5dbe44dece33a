"""Anchors (S1.7): places to act on or to point at; only what is registered is one."""

from collections.abc import Iterable

import pytest

from contextui import (
    Anchor,
    AnchorType,
    Body,
    Button,
    Form,
    Lod,
    Reference,
    Window,
    WindowManager,
    action,
)
from contextui.errors import InvalidParamsError, UnknownActionError
from contextui.events import WindowTroubled
from contextui.windowing.action import AnyAnchor
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import LONG, Heard, act, action_ids, settled


class Notebook(Window):
    """Entries."""

    class State(Window.State):
        entries: dict[str, str] = {"entry-1": "PipeMux 概览"}
        expanded: list[str] = []
        text: str = ""

    state: State

    def content(self, lod: Lod) -> Body:
        return "\n".join(f"**[{key}]** {text}" for key, text in self.state.entries.items())

    def anchors(self, lod: Lod) -> Iterable[AnyAnchor]:
        for key in self.state.entries:
            yield Reference(key)
            yield Button(f"expand-{key}", "expand", {"entry": key}, target=key, label="Expand")
            yield Form(f"note-{key}", "note", ("text",), {"entry": key}, target=key)

    @action("Expand an entry")
    def expand(self, entry: str, level: int = 1) -> str:
        self.state.expanded.append(f"{entry}:{level}")
        return f"Expanded {entry}."

    @action("Note something")
    def note(self, entry: str, text: str) -> str:
        self.state.text = f"{entry}: {text}"
        return "Noted."


def test_the_snapshot_lists_them_with_whole_ids(windows: WindowManager) -> None:
    assert windows.open(Notebook).snapshot().anchors == {
        "entry-1": Anchor(type=AnchorType.REFERENCE),
        "expand-entry-1": Anchor(type=AnchorType.BUTTON, target="entry-1"),
        "note-entry-1": Anchor(type=AnchorType.FORM, params=("text",), target="entry-1"),
    }


def test_the_xml_offers_buttons_and_forms_beside_the_actions(windows: WindowManager) -> None:
    xml = windows.open(Notebook).to_xml()
    assert action_ids(xml) == ["expand", "note", "expand-entry-1", "note-entry-1", "close"]
    assert '<action id="expand-entry-1">Expand</action>' in xml
    assert '<action id="note-entry-1" params="text:string">Note something</action>' in xml


def test_a_button_acts_by_its_id_and_takes_the_focus(windows: WindowManager) -> None:
    book = windows.open(Notebook)
    assert book.snapshot().state.focus_id is None
    assert act(windows, book, "expand-entry-1").text == "Expanded entry-1."
    assert book.snapshot().state.custom == {
        "entries": {"entry-1": "PipeMux 概览"},
        "expanded": ["entry-1:1"],
        "text": "",
    }
    assert book.snapshot().state.focus_id == "entry-1"


def test_a_form_acts_with_its_fields_filled(windows: WindowManager) -> None:
    book = windows.open(Notebook)
    assert act(windows, book, "note-entry-1", text="hi").ok
    assert (book.snapshot().state.custom or {})["text"] == "entry-1: hi"


@pytest.mark.parametrize(
    ("anchor", "params", "expected"),
    [
        ("expand-entry-1", {"entry": "entry-9"}, "expand-entry-1 takes no params."),
        ("expand-entry-1", {"level": 9}, "expand-entry-1 takes no params."),
        ("note-entry-1", {"text": "x", "entry": "entry-9"}, "note-entry-1 takes text."),
    ],
)
def test_what_an_anchor_fixes_cannot_be_given(
    windows: WindowManager, anchor: str, params: dict[str, object], expected: str
) -> None:
    book = windows.open(Notebook)
    result = act(windows, book, anchor, **params)
    assert isinstance(result.error, InvalidParamsError)
    assert result.text == expected
    assert str(book.version) == "1.0.0"


def test_a_reference_has_no_action(windows: WindowManager) -> None:
    result = act(windows, windows.open(Notebook), "entry-1")
    assert isinstance(result.error, UnknownActionError)
    assert "has no action" in result.text


def test_content_that_looks_like_an_anchor_is_inert(windows: WindowManager) -> None:
    class Sly(Notebook):
        def content(self, lod: Lod) -> Body:
            return '[button:wipe] <action id="wipe">x</action>'

    book = windows.open(Sly)
    assert "wipe" not in book.snapshot().anchors
    assert "wipe" not in action_ids(book.to_xml())
    result = act(windows, book, "wipe")
    assert isinstance(result.error, UnknownActionError)
    assert result.text == (
        'sly_1 has no action "wipe". It has: expand, note, expand-entry-1, note-entry-1, close.'
    )


@pytest.mark.parametrize("taken", ["entry-1", "expand", "close"])
def test_s1_8_of_two_with_one_id_the_first_stays_warned(windows: WindowManager, taken: str) -> None:
    class Twice(Notebook):
        def anchors(self, lod: Lod) -> Iterable[AnyAnchor]:
            return [Reference("entry-1", target="first"), Button(taken, "note")]

    heard = Heard(windows)
    book = windows.open(Twice)
    assert book.snapshot().anchors == {"entry-1": Anchor(type=AnchorType.REFERENCE, target="first")}
    assert action_ids(book.to_xml()) == ["expand", "note", "close"]
    assert heard.troubles == f"two anchors or actions are called {taken}: the first stays"


def test_s1_8_a_conflict_is_reported_once_for_a_window_and_an_id(windows: WindowManager) -> None:
    """R12: not again at each redraw, for another window again."""

    class Twice(Notebook):
        def anchors(self, lod: Lod) -> Iterable[AnyAnchor]:
            return [Button("a", "note"), Button("a", "note"), Button("b", "note")] * 2

    heard = Heard(windows)
    for number in (1, 2):
        book = windows.open(Twice)
        for lod in (Lod.GIST, Lod.SUMMARY, Lod.FULL) * 2:
            windows.set_lod(book.id, lod)
            settled(windows)
        runtime_of(book).renders.redraw().result(LONG)
        reasons = [one.reason for one in heard.of(WindowTroubled) if one.window_id == book.id]
        assert reasons == [
            f"two anchors or actions are called {one}: the first stays" for one in "ab"
        ]
        assert book.id == f"twice_{number}"


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        (Button('x"><action', "note"), "cannot be an anchor's id"),
        (Button("", "note"), "cannot be an anchor's id"),
        (Button("b", "nothing"), "an action that is not declared"),
        (Button("b", "note", {"colour": 1}), 'a param that note does not have: "colour"'),
        (Form("f", "note", ("colour",)), 'a param that note does not have: "colour"'),
        ("no anchor at all", "AttributeError"),
    ],
)
def test_s1_8_an_anchor_that_cannot_be_is_an_error_snapshot(
    windows: WindowManager, anchor: AnyAnchor, expected: str
) -> None:
    class Wrong(Notebook):
        def anchors(self, lod: Lod) -> Iterable[AnyAnchor]:
            return [anchor]

    book = windows.open(Wrong)
    assert expected in (book.snapshot().error or "")
    assert book.snapshot().anchors == {}
    assert act(windows, book, "expand", entry="entry-1").ok


def test_an_anchor_of_before_acts_until_it_is_gone(windows: WindowManager) -> None:
    class Shrinking(Notebook):
        @action("Clear")
        def clear(self) -> None:
            self.state.entries.clear()

    book = windows.open(Shrinking)
    assert act(windows, book, "clear").ok
    assert book.snapshot().anchors == {}
    assert isinstance(act(windows, book, "expand-entry-1").error, UnknownActionError)


async def test_an_anchor_can_be_used_once_what_made_it_was_done(windows: WindowManager) -> None:
    """Though the render that holds it is only being drawn."""

    class Doors(Window):
        """Each opening makes the next one."""

        class State(Window.State):
            doors: int = 1

        state: State

        def content(self, lod: Lod) -> Body:
            return f"{self.state.doors} doors"

        def anchors(self, lod: Lod) -> Iterable[AnyAnchor]:
            yield Button(f"open-{self.state.doors}", "enter")

        @action("Enter")
        def enter(self) -> None:
            self.state.doors += 1

    house = windows.open(Doors)
    assert await windows.await_opening(LONG) == []
    for number in range(1, 60):
        assert (await windows.act(house.id, f"open-{number}")).ok

"""Keys that arrive in one piece are taken in their order."""

import asyncio
import time
from pathlib import Path

import pytest
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from contextui.tui import keys
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.field import Field
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.pane import Desktop
from contextui.tui.keys import KeyLine, meant_key
from tests.tui.running import desk_in, running, until
from tests.tui.terminal import Terminal

BACK, LEFT, HOME, TAB = "\x7f", "\x1b[D", "\x1b[H", "\t"
PASTE, END = "\x1b[200~", "\x1b[201~"


def test_what_is_typed_in_one_piece_stays_in_order(folder: Path) -> None:
    with Terminal([], folder) as terminal:
        terminal.wait_for(terminal.is_ready)
        terminal.type(f"/fly{BACK * 4}hello wolrd{BACK * 3}rld")
        terminal.wait_for(lambda: terminal.shows("│ hello world "))
        terminal.type(f"\x03abd{LEFT}c{HOME}>")  # ctrl+c clears
        terminal.wait_for(lambda: terminal.shows("│ >abcd "))
        terminal.type(f"\x03a{PASTE}b{END}cx{BACK}{PASTE}d{END}e")
        terminal.wait_for(lambda: terminal.shows("│ abcde "))
        terminal.type(f"\x03/th{TAB}con{TAB}")  # completed twice, and done: another theme
        terminal.wait_for(lambda: not terminal.shows("/th"))
        terminal.type("\x07i\x07p/open todo\r")  # to the inspector, back, and a command
        terminal.wait_for(lambda: terminal.shows("Opened todo_1."))
        terminal.type("and out\x11")
        assert terminal.end() == 0


class Hangs(Static, can_focus=True):
    """Does not come back from a key until it is let go."""

    def on_mount(self) -> None:
        self.let_go = asyncio.Event()

    async def on_key(self) -> None:
        await self.let_go.wait()


class Going(Static, can_focus=True):
    """Goes with the first key."""

    async def on_key(self) -> None:
        self.remove()
        self.screen.query_one(TextArea).focus()


class Busy(Static, can_focus=True):
    """Moves the focus with a key, after work that lets nothing else run for a while."""

    async def on_key(self) -> None:
        for _ in range(5):
            time.sleep(0.1)
            await asyncio.sleep(0)
        self.screen.query_one(TextArea).focus()


class Answer(Static):
    """Sets an event when it is gone."""

    def __init__(self, text: str, is_gone: asyncio.Event) -> None:
        super().__init__(text)
        self.is_gone = is_gone

    def on_unmount(self) -> None:
        self.is_gone.set()


class Asking(ModalScreen[None]):
    """Shows an answer that comes while it closes, and closes with a click."""

    def __init__(self) -> None:
        super().__init__()
        self.closes = asyncio.Event()

    def compose(self) -> ComposeResult:
        yield Answer("…", self.closes)

    def on_mount(self) -> None:
        self.run_worker(self._ask())

    async def _ask(self) -> None:
        await self.closes.wait()
        self.query_one(Static).update("An answer.")

    def on_click(self) -> None:
        self.dismiss()


class App(KeyLine[int]):
    BINDINGS = [Binding("ctrl+q", "leave", priority=True)]

    def compose(self) -> ComposeResult:
        yield Going()
        yield TextArea()
        yield Hangs()
        yield Busy()

    def on_mount(self) -> None:
        self.left = asyncio.Event()

    def action_leave(self) -> None:
        self.left.set()


def burst(pilot: "Pilot[int]", *keys: str) -> None:
    """Press keys without waiting for anything between them."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))


async def test_a_widget_that_hangs_holds_up_no_key_that_works_everywhere() -> None:
    app = App()
    async with app.run_test() as pilot:
        hangs = app.query_one(Hangs)
        hangs.focus()
        burst(pilot, "a", "b", "ctrl+q")
        try:
            async with asyncio.timeout(120):  # a pilot's pause would wait for the widget
                await app.left.wait()
        finally:
            hangs.let_go.set()
        await pilot.pause()


async def test_a_screen_that_closes_does_nothing_more() -> None:
    """X01: its workers end before its widgets do, and a second click closes no other screen."""
    app = App()
    async with app.run_test() as pilot:
        below = Asking()
        await app.push_screen(below)
        await app.push_screen(Asking())
        for _ in range(2):
            app.screen._forward_event(events.Click(None, 1, 1, 0, 0, 1, False, False, False))
        await until(pilot, lambda: app.screen is below)
        await pilot.pause()
        assert app.screen is below
        await pilot.click(offset=(1, 1))
        assert len(app.screen_stack) == 1


async def test_keys_wait_until_the_focus_has_moved_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = App()
    async with app.run_test() as pilot:
        area = app.query_one(TextArea)
        app.query_one(Going).focus()
        await pilot.pause()
        burst(pilot, "x", "a", "b", "backspace", "c")
        await until(pilot, lambda: area.text == "ac")
        assert not app.query(Going)

        area.clear()
        app.hold(lambda: False)  # a place that is never reached
        began = time.monotonic()
        burst(pilot, "a", "b")
        await until(pilot, lambda: area.text == "ab")
        assert time.monotonic() - began > 0.5

        area.clear()
        monkeypatch.setattr(keys, "_PATIENCE", 0.2)  # the work alone takes longer
        app.query_one(Busy).focus()
        await pilot.pause()
        burst(pilot, "x", "a", "b")
        await until(pilot, lambda: area.text == "ab")


async def test_keys_behind_a_jump_wait_for_a_pane_that_has_to_be_shown_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_to = Desktop.action_go_to

    def go_there_later(desktop: Desktop, number: int) -> None:
        desktop.set_timer(0.15, lambda: go_to(desktop, number))

    monkeypatch.setattr(Desktop, "action_go_to", go_there_later)
    monkeypatch.setattr(keys, "_PATIENCE", 30.0)  # a busy machine takes its time

    desk = desk_in(tmp_path)
    for what in ("milk", "eggs"):
        desk.session.windows.open("todo", items=[what])
    async with running(desk, size=(80, 24)) as pilot:
        prompt = pilot.app.screen.query_one(Prompt)
        burst(pilot, "ctrl+g", "2", "x", *"done", "ctrl+g", "p", *"hello")
        await until(pilot, lambda: prompt.text == "hello")
        shown = [one for one in pilot.app.screen.query(WindowFrame) if one.display]
        assert [field.text for one in shown for field in one.query(Field)] == ["done"]


@pytest.mark.parametrize(
    ("character", "meant"),
    [
        ("ｄ", "d"),
        ("，", "comma"),
        ("【", "left_square_bracket"),
        ("、", "slash"),
        ("／", "slash"),
        ("d", None),
        ("你", None),
        (None, None),
    ],
)
def test_full_width_letters_are_letters(character: str | None, meant: str | None) -> None:
    assert meant_key(events.Key("some_key", character)) == meant

"""The sheet of sessions."""

import asyncio
import os
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from contextui.cli.arguments import parse
from contextui.cli.setup import open_target
from contextui.context.item import ContextItem, ItemType
from contextui.errors import ContextUIError
from contextui.session.catalogue import Catalogue, Head, Place
from contextui.session.lines import Origin
from contextui.session.store import SessionStore
from contextui.tui.app_session import AppSession
from contextui.tui.dialogs.session_list import SessionList, SessionRow, rows_of
from contextui.tui.dialogs.sessions import SessionsScreen
from contextui.tui.switch import Target
from tests.cli.traps import TRAPS, UntrustedFolder
from tests.tui.hostile import PAYLOADS, check
from tests.tui.running import app_of, desk_in, lines, on_screen, running, shown, until
from tests.tui.sharing import SharedApp, sharing
from tests.tui.test_switch import Sessions

DAY = 86_400
NOON = 20_454.5 * DAY
"""When the tests take place: before the program itself writes a session, whatever the hour is."""


@pytest.fixture(autouse=True)
def _at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SessionList, "now", staticmethod(lambda: NOON))


def add(
    home: Path,
    words: str,
    folder: Path,
    *,
    days: float = 0.1,
    answer: str = "An answer.",
    writes: str = "",
    cost: float | None = None,
) -> str:
    """Make a session that was used so many days ago, and perhaps wrote a new file; its id."""
    with SessionStore(home).create(folder) as session:
        session.context.add(ContextItem(ItemType.USER, words))
        session.context.add(ContextItem(ItemType.ASSISTANT, answer))
        if cost is not None:
            session.context.report_usage(10, {"input_tokens": 10, "cost_usd": cost})
        session.context.end_turn()
        if writes and session.windows.workspace is not None:
            session.windows.workspace.save(writes, b"one\ntwo\n", expected=None)
    used = NOON - days * DAY
    os.utime(session.path, (used, used))
    return session.id


class Sheets(SharedApp):
    """The sheet in one app for all tests, each with sessions of its own."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.sessions = Sessions(folder)
        super().__init__(self.sessions.running, self._check)

    async def _check(self, _: "Pilot[int]") -> None:
        assert self.sessions.targets == []

    def clear(self) -> None:
        """Remove the sessions of other tests."""
        for path in self.home.rglob("*.jsonl"):
            if not any(path == desk.session.path for desk in self.sessions.desks):
                path.unlink()


all_sheets = sharing(lambda temp: Sheets(temp.mktemp("sheets")))


@pytest.fixture
def sheets(all_sheets: Sheets) -> Sheets:
    all_sheets.clear()
    return all_sheets


@pytest.fixture
def shared(sheets: Sheets) -> SharedApp:
    return sheets


async def opened(pilot: "Pilot[int]") -> SessionsScreen:
    app = app_of(pilot)
    app.main.run_command("/sessions")
    screen = await on_screen(pilot, SessionsScreen)
    await until(pilot, lambda: screen.is_read)
    await pilot.pause()
    return screen


def note_of(screen: SessionsScreen) -> str:
    return str(screen.query_one("#box").border_subtitle)


def chosen(screen: SessionsScreen) -> Place:
    place = screen.query_one(SessionList).place
    assert place is not None
    return place


async def test_sessions_are_grouped_and_the_chosen_one_is_previewed(
    pilot: "Pilot[int]", sheets: Sheets
) -> None:
    home, work = sheets.home, sheets.work
    add(home, "Merge two carts", work)
    add(home, "Release 1.3", work, days=3)
    add(home, "Slow query on orders", work, days=30, answer="Use an index.", writes="a.sql")
    add(home, "Another folder", sheets.home.parent / "other", cost=1.234)

    screen = await opened(pilot)
    seen = "\n".join(lines(pilot))
    for text in ("Today", "This week", "Earlier", "Merge two carts", "3d", "30d", "3 sessions"):
        assert text in seen
    for text in ("Cost", "Another folder"):
        assert text not in seen
    await pilot.press("end")
    await until(pilot, lambda: shown(pilot, "Use an index."))
    assert shown(pilot, "a.sql  +2")
    await pilot.press("tab")
    await until(pilot, lambda: shown(pilot, "Another folder"))
    await until(pilot, lambda: shown(pilot, "Cost"))
    assert shown(pilot, "1    $1.23")
    assert screen.is_current


async def test_a_session_is_forked_or_resumed_or_a_new_one_begins(tmp_path: Path) -> None:
    """Neither the session on the screen nor one that is open elsewhere is deleted."""
    home, work = tmp_path / "home", tmp_path / "work"
    old, busy = add(home, "Old", work, days=0.3), add(home, "Busy", work, days=0.2)
    sessions = Sessions(tmp_path)

    async def choose(pilot: "Pilot[int]", screen: SessionsScreen, session_id: str) -> None:
        screen._load()
        await until(pilot, lambda: screen.is_read)
        await pilot.press("home")
        while chosen(screen).id != session_id:
            await pilot.press("down")

    with SessionStore(home).open(busy):
        async with sessions.running() as pilot:
            app, screen = app_of(pilot), await opened(pilot)
            current = sessions.desks[0].session
            current.context.add(ContextItem(ItemType.USER, "on the screen"))
            os.utime(current.path, (NOON, NOON))
            await choose(pilot, screen, current.id)
            await until(pilot, lambda: shown(pilot, "● on the screen   this session"))
            await pilot.press("x")
            assert "is on the screen" in note_of(screen)
            assert current.path.exists()
            await choose(pilot, screen, busy)
            for key in ("x", "enter"):
                screen.note("")
                await pilot.press(key)
                assert note_of(screen) == "Open in another terminal. f forks it."
            assert screen.is_current
            assert chosen(screen).path.exists()

            await choose(pilot, screen, old)
            await pilot.press("enter")
            await until(pilot, lambda: len(sessions.desks) == 2)
            await until(pilot, lambda: app.desk is sessions.desks[1])
            assert sessions.desks[1].session.id == old
            await until(pilot, lambda: shown(pilot, "An answer."))
            await until(pilot, lambda: not app.switcher.is_under_way)

            made: list[tuple[str | None, bool]] = [(old, False)]
            sessions.problem = ContextUIError("Not now.")  # what is asked for is enough
            for key, target in (("f", (current.id, True)), ("n", (None, False))):
                screen = await opened(pilot)
                await choose(pilot, screen, current.id)
                await pilot.press(key)
                made.append(target)
                await until(pilot, lambda: len(sessions.targets) == len(made))
                await until(pilot, lambda: not app.switcher.is_under_way)
            assert [(one.session_id, one.fork) for one in sessions.targets] == made


async def test_a_session_that_vanishes_while_it_is_shown_is_said(
    pilot: "Pilot[int]", sheets: Sheets
) -> None:
    add(sheets.home, "Gone soon", sheets.work)

    screen = await opened(pilot)
    listed = screen.query_one(SessionList)
    for key in ("enter", "f", "x", "r", "e"):
        place = chosen(screen)
        kept = place.path.read_bytes()
        place.path.unlink()
        await pilot.press(key)
        await until(pilot, lambda: note_of(screen) == "This session was deleted.")
        await until(pilot, lambda: listed.place is None)
        place.path.write_bytes(kept)
        screen._load()
        await until(pilot, lambda: screen.is_read and listed.place)
    assert sheets.sessions.targets == []


async def test_a_session_is_renamed_found_by_its_title_deleted_and_brought_back(
    pilot: "Pilot[int]", sheets: Sheets
) -> None:
    add(sheets.home, "Merge two carts", sheets.work)
    add(sheets.home, "Release 1.3", sheets.work, days=0.2)

    screen = await opened(pilot)
    path = chosen(screen).path
    await pilot.press("r")
    assert isinstance(screen.focused, Input)
    await pilot.press("escape")
    assert screen.is_current
    await pilot.press("r", *" x n", "enter")  # letters belong to the title
    await until(pilot, lambda: shown(pilot, "Merge two carts x n "))
    catalogue = Catalogue(sheets.home)
    heads = [catalogue.head(place).title for place in catalogue.places()]
    assert "Merge two carts x n" in heads

    await pilot.press("slash", *"CARTS")
    await until(pilot, lambda: not shown(pilot, "Release 1.3"))
    assert shown(pilot, "Merge two carts")
    await pilot.press("enter", "x")  # now it is a key of the list again
    assert note_of(screen) == "Deleted “Merge two carts x n”. u undoes."
    assert not path.exists()
    await pilot.press("u")
    await until(pilot, lambda: note_of(screen) == "Restored “Merge two carts x n”.")
    assert path.exists()
    await pilot.press("u")
    assert note_of(screen) == "Nothing to undo."
    await pilot.press("escape")
    await until(pilot, lambda: shown(pilot, "Release 1.3"))
    await pilot.press("slash", *"nope")
    await until(pilot, lambda: shown(pilot, "Nothing matches “nope”."))
    await pilot.press("escape", "escape")
    await until(pilot, lambda: not isinstance(pilot.app.screen, SessionsScreen))


async def test_no_sessions_yet(pilot: "Pilot[int]", sheets: Sheets) -> None:
    await opened(pilot)
    await until(pilot, lambda: shown(pilot, "No sessions yet. They appear here by themselves."))


async def test_narrow_terminals_leave_out_columns(pilot: "Pilot[int]", sheets: Sheets) -> None:
    add(sheets.home, "Merge two carts", sheets.work, answer="Both are kept.")

    screen = await opened(pilot)
    await pilot.press("tab")
    await until(pilot, lambda: screen.is_read and shown(pilot, "Both are kept."))
    assert shown(pilot, "Folder")
    for width, has_folder in ((90, True), (70, False)):
        await pilot.resize_terminal(width, 30)
        await until(pilot, lambda: not shown(pilot, "Both are kept."))
        await until(pilot, lambda has=has_folder: shown(pilot, "Folder") == has)  # type: ignore[misc]
        assert shown(pilot, "Merge two carts")
        assert all(len(one) <= width for one in lines(pilot))


async def test_the_first_look_reads_as_many_logs_as_fit(
    pilot: "Pilot[int]", sheets: Sheets
) -> None:
    add(sheets.home, "one of many", sheets.work)
    place = max(Catalogue(sheets.home).places(), key=lambda one: one.path.stat().st_mtime)
    data = place.path.read_bytes()
    for number in range(400):
        path = place.path.with_name(f"{number:032x}.jsonl")
        path.write_bytes(data)
        os.utime(path, (number, number))

    app = app_of(pilot)
    app.main.run_command("/sessions")
    screen = await on_screen(pilot, SessionsScreen)
    await until(pilot, lambda: shown(pilot, "one of many"))
    first = len(screen._catalogue._heads)
    assert first < 150, first
    for _ in range(5):  # a pilot would wait until nothing is read any more
        before = chosen(screen)
        app.post_message(events.Key("down", None))
        while chosen(screen) == before:
            await asyncio.sleep(0.002)
    assert len(screen._catalogue._heads) < 400
    await pilot.press("escape")


async def test_hostile_titles_and_messages_are_inert(pilot: "Pilot[int]", sheets: Sheets) -> None:
    for number, payload in enumerate(PAYLOADS):
        add(sheets.home, payload, sheets.work, answer=payload, days=0.1 + number / 100)

    screen = await opened(pilot)
    listed = screen.query_one(SessionList)
    for at in range(len(PAYLOADS)):
        if at:
            await pilot.press("down")
        await until(pilot, lambda: chosen(screen) in screen._previews)
        await pilot.pause()
        check(pilot)
    pilot.app.export_screenshot()
    await pilot.press("r")
    await pilot.press("enter")
    await until(pilot, lambda: note_of(screen).startswith("Renamed"))
    await until(pilot, lambda: screen.is_read)
    await pilot.press("slash", "x", "enter", "escape")
    for _ in PAYLOADS:
        screen.note("")
        await until(pilot, lambda: listed.place)
        await pilot.press("x")
        assert note_of(screen).startswith("Deleted")
    await pilot.pause()
    check(pilot)


@pytest.mark.long
async def test_a_session_of_an_untrusted_folder_runs_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = UntrustedFolder.build(tmp_path / "other", TRAPS)
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    monkeypatch.setenv("CONTEXTUI_HOME", str(home))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.chdir(work)
    session_id = add(home, "Elsewhere", other.path)
    resumed: list[AppSession] = []

    def reopen(target: Target) -> AppSession:
        resumed.append(open_target(parse([]), target, "en"))
        return resumed[-1]

    async with running(desk_in(tmp_path), reopen=reopen) as pilot:
        app = app_of(pilot)
        screen = await opened(pilot)
        await pilot.press("tab")  # of all folders
        await until(pilot, lambda: screen.is_read and screen.query_one(SessionList).place)
        assert chosen(screen).id == session_id
        await pilot.press("enter")
        await until(pilot, lambda: resumed and app.desk is resumed[0])
        session = resumed[0].session
        assert session.cwd == str(other.path)
        assert "hostile_window" not in session.windows.classes
        assert "x" not in session.windows.classes  # the server
        untrusted = [
            one for one in resumed[0].reloader.registry.entries if one.name == "hostile_window"
        ]
        assert [one.usable for one in untrusted] == [False]
        app.main.run_command("/open hostile_window")
        await until(pilot, lambda: shown(pilot, "hostile_window"))
        assert not session.windows.windows()
        app.switcher.close_rest()
    assert other.sprung == []


def head(place: Place, origin: Origin | None = None) -> Head:
    return Head(place, "/work", "title", 3, origin)


def test_forks_are_under_their_parents() -> None:
    now = NOON
    places = [Place(Path(f"/p/{name}.jsonl"), now - 60 * at, 9) for at, name in enumerate("abcd")]
    a, b, c, d = places
    heads = {
        a: head(a, Origin("c", 7)),
        b: head(b),
        c: head(c),
        d: head(d, Origin("a", None)),
    }
    rows = [row for row in rows_of(places, heads.get, now) if row.place]
    assert rows == [
        SessionRow(c),
        SessionRow(a, is_fork=True),
        SessionRow(d, is_fork=True),
        SessionRow(b),
    ]
    heads[c] = head(c, Origin("d", 1))  # a log may claim anything: a circle must end
    assert {row.place for row in rows_of(places, heads.get, now) if row.place} == set(places)

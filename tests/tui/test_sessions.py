"""The sheet of sessions."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from contextui.cli.arguments import parse
from contextui.cli.setup import open_target
from contextui.context.item import ContextItem, ItemType
from contextui.session.catalogue import Catalogue, Head, Place
from contextui.session.fork import Origin
from contextui.session.store import SessionStore
from contextui.tui.dialogs.session_list import Row, SessionList, rows_of
from contextui.tui.dialogs.sessions import SessionsScreen
from contextui.tui.link import Desk
from contextui.tui.switch import Target
from contextui.words import Lang
from tests.cli.traps import TRAPS, UntrustedFolder
from tests.tui.running import desk_in, lines, running, shown, until
from tests.tui.test_surfaces import ACTING, PAYLOADS
from tests.tui.test_switch import Sessions, app_of

DAY = 86_400


def noon() -> float:
    """Noon of this day: a session that was used 0.1 days ago is today's, whatever the hour."""
    return time.time() // DAY * DAY + DAY / 2


@pytest.fixture(autouse=True)
def _at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    now = noon()
    monkeypatch.setattr(SessionList, "now", staticmethod(lambda: now))


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
    used = noon() - days * DAY
    os.utime(session.path, (used, used))
    return session.id


@asynccontextmanager
async def sheet(
    folder: Path, size: tuple[int, int] = (120, 40), lang: Lang = "en"
) -> AsyncIterator[tuple["Pilot[int]", SessionsScreen, Sessions]]:
    """The sheet, once it has read all sessions."""
    sessions = Sessions(folder)
    opening = sessions.open if lang == "en" else (lambda: desk_in(folder, lang=lang))
    async with running(opening, size, lang, reopen=sessions.open) as pilot:
        screen = await opened(pilot)
        yield pilot, screen, sessions
        app_of(pilot).switcher.close_rest()


async def opened(pilot: "Pilot[int]") -> SessionsScreen:
    app = app_of(pilot)
    app.main.run_command("/sessions")
    await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
    screen = app.screen
    assert isinstance(screen, SessionsScreen)
    await until(pilot, lambda: screen.is_read)
    await pilot.pause()
    return screen


def note_of(screen: SessionsScreen) -> str:
    return str(screen.query_one("#box").border_subtitle)


def chosen(screen: SessionsScreen) -> Place:
    place = screen.query_one(SessionList).place
    assert place is not None
    return place


def test_sessions_are_grouped_and_the_chosen_one_is_previewed(tmp_path: Path) -> None:
    async def look() -> None:
        home, work = tmp_path / "home", tmp_path / "work"
        work.mkdir()
        add(home, "Merge two carts", work)
        add(home, "Release 1.3", work, days=3)
        add(home, "Slow query on orders", work, days=30, answer="Use an index.", writes="a.sql")
        add(home, "Another folder", tmp_path / "other", cost=1.234)
        async with sheet(tmp_path) as (pilot, screen, _):
            assert not shown(pilot, "Cost")
            for text in ("Today", "This week", "Earlier", "Merge two carts", "3d", "30d"):
                assert shown(pilot, text), text
            assert not shown(pilot, "Another folder")
            assert shown(pilot, "3 sessions")
            await pilot.press("end")
            await until(pilot, lambda: shown(pilot, "Use an index."))
            assert shown(pilot, "a.sql  +2")
            await pilot.press("tab")
            await until(pilot, lambda: shown(pilot, "Another folder"))
            await until(pilot, lambda: shown(pilot, "Cost"))
            assert shown(pilot, "1    $1.23")
            assert screen.is_current

    asyncio.run(look())


def test_enter_resumes_the_chosen_session(tmp_path: Path) -> None:
    async def resume() -> None:
        session_id = add(tmp_path / "home", "Merge two carts", tmp_path / "work")
        async with sheet(tmp_path) as (pilot, screen, sessions):
            await until(pilot, lambda: chosen(screen).id == session_id)
            await pilot.press("enter")
            await until(pilot, lambda: len(sessions.desks) == 2)
            await until(pilot, lambda: app_of(pilot).desk is sessions.desks[1])
            assert sessions.desks[1].session.id == session_id
            await until(pilot, lambda: shown(pilot, "An answer."))

    asyncio.run(resume())


def test_n_starts_a_new_session_and_f_forks(tmp_path: Path) -> None:
    async def start() -> None:
        session_id = add(tmp_path / "home", "Merge two carts", tmp_path / "work")
        async with sheet(tmp_path) as (pilot, screen, sessions):
            await until(pilot, lambda: chosen(screen).id == session_id)
            await pilot.press("f")
            await until(pilot, lambda: sessions.targets)
            assert (sessions.targets[0].session_id, sessions.targets[0].fork) == (session_id, True)
            await until(pilot, lambda: not app_of(pilot).switcher.is_under_way)
            await opened(pilot)
            await pilot.press("n")
            await until(pilot, lambda: len(sessions.targets) == 2)
            assert sessions.targets[1].session_id is None
            await until(pilot, lambda: not app_of(pilot).switcher.is_under_way)

    asyncio.run(start())


def test_a_deleted_session_can_be_brought_back(tmp_path: Path) -> None:
    async def delete() -> None:
        home = tmp_path / "home"
        session_id = add(home, "Try it out", tmp_path / "work")
        async with sheet(tmp_path) as (pilot, screen, _):
            await until(pilot, lambda: chosen(screen).id == session_id)
            path = chosen(screen).path
            await pilot.press("x")
            assert note_of(screen) == "Deleted “Try it out”. u undoes."
            assert shown(pilot, "Deleted “Try it out”. u undoes.")
            assert not path.exists()
            await pilot.press("u")
            await until(pilot, lambda: shown(pilot, "Try it out"))
            assert note_of(screen) == "Restored “Try it out”."
            assert path.exists()
            await pilot.press("u")
            assert note_of(screen) == "Nothing to undo."

    asyncio.run(delete())


def test_neither_the_session_on_the_screen_nor_one_open_elsewhere_is_deleted(
    tmp_path: Path,
) -> None:
    async def try_to() -> None:
        home, work = tmp_path / "home", tmp_path / "work"
        session_id = add(home, "Busy", work)
        with SessionStore(home).open(session_id):
            async with sheet(tmp_path) as (pilot, screen, sessions):
                current = sessions.desks[0].session
                current.context.add(ContextItem(ItemType.USER, "on the screen"))
                os.utime(current.path, (noon(), noon()))
                screen._load()
                await until(pilot, lambda: screen.is_read)
                await pilot.press("home")
                await until(pilot, lambda: chosen(screen).id == current.id)
                await until(pilot, lambda: shown(pilot, "● on the screen   this session"))
                await pilot.press("x")
                assert "is on the screen" in note_of(screen)
                assert current.path.exists()
                await pilot.press("end")
                await until(pilot, lambda: chosen(screen).id == session_id)
                for key in ("x", "enter"):
                    screen._note("")
                    await pilot.press(key)
                    assert note_of(screen) == "Open in another terminal. f forks it."
                assert screen.is_current
                assert chosen(screen).path.exists()

    asyncio.run(try_to())


def test_a_session_that_vanishes_while_it_is_shown_is_said(tmp_path: Path) -> None:
    async def vanish() -> None:
        session_id = add(tmp_path / "home", "Gone soon", tmp_path / "work")
        async with sheet(tmp_path) as (pilot, screen, sessions):
            await until(pilot, lambda: chosen(screen).id == session_id)
            for key in ("enter", "f", "x", "r", "e"):
                place = chosen(screen)
                kept = place.path.read_bytes()
                place.path.unlink()
                await pilot.press(key)
                assert note_of(screen) == "This session was deleted.", key
                assert not shown(pilot, "Gone soon")
                place.path.write_bytes(kept)
                screen._load()
                await until(pilot, lambda: screen.is_read and shown(pilot, "Gone soon"))
            assert sessions.targets == []

    asyncio.run(vanish())


def test_a_session_is_renamed(tmp_path: Path) -> None:
    async def rename() -> None:
        session_id = add(tmp_path / "home", "Old name", tmp_path / "work")
        async with sheet(tmp_path) as (pilot, screen, _):
            await until(pilot, lambda: chosen(screen).id == session_id)
            await pilot.press("r")
            assert isinstance(screen.focused, Input)
            await pilot.press("escape")
            assert screen.is_current
            await pilot.press("r", *" x n", "enter")  # letters belong to the title
            await until(pilot, lambda: shown(pilot, "Old name x n "))
            catalogue = Catalogue(tmp_path / "home")
            heads = [catalogue.head(place).title for place in catalogue.places()]
            assert "Old name x n" in heads

    asyncio.run(rename())


def test_the_filter_finds_by_title(tmp_path: Path) -> None:
    async def search() -> None:
        home, work = tmp_path / "home", tmp_path / "work"
        add(home, "Merge two carts", work)
        add(home, "Release 1.3", work)
        async with sheet(tmp_path) as (pilot, screen, _):
            await pilot.press("slash", *"CARTS")
            await until(pilot, lambda: not shown(pilot, "Release 1.3"))
            assert shown(pilot, "Merge two carts")
            await pilot.press("enter", "x")  # now it is a key of the list again
            assert note_of(screen).startswith("Deleted “Merge")
            await pilot.press("u", "escape")
            await until(pilot, lambda: shown(pilot, "Release 1.3"))
            await pilot.press("slash", *"nothing like it")
            await until(pilot, lambda: shown(pilot, "No session matches “nothing like it”."))
            await pilot.press("escape", "escape")
            await until(pilot, lambda: not isinstance(pilot.app.screen, SessionsScreen))

    asyncio.run(search())


def test_no_sessions_yet(tmp_path: Path) -> None:
    async def look() -> None:
        from contextui.session.session import SessionOptions
        from contextui.tui.link import Desk

        def lazy() -> Desk:
            desk = desk_in(tmp_path / "other")
            store = SessionStore(tmp_path / "home", SessionOptions())
            desk.session.close()
            desk.session = store.create(tmp_path, lazy=True)
            return desk

        (tmp_path / "other").mkdir()
        async with running(lazy) as pilot:
            await opened(pilot)
            assert shown(pilot, "No sessions yet. They appear here by themselves.")

    asyncio.run(look())


@pytest.mark.parametrize(("width", "preview", "folder"), [(120, 1, 1), (90, 0, 1), (70, 0, 0)])
def test_narrow_terminals_leave_out_columns(
    tmp_path: Path, width: int, preview: bool, folder: bool
) -> None:
    async def look() -> None:
        add(tmp_path / "home", "Merge two carts", tmp_path / "work", answer="Both are kept.")
        async with sheet(tmp_path, (width, 30)) as (pilot, screen, _):
            await pilot.press("tab")
            await until(pilot, lambda: screen.is_read)
            await pilot.pause(0.3)
            assert shown(pilot, "Merge two carts")
            assert shown(pilot, "Both are kept.") == bool(preview)
            assert shown(pilot, "Folder") == bool(folder)
            assert all(len(one) <= width for one in lines(pilot))

    asyncio.run(look())


def test_the_first_look_reads_as_many_logs_as_fit(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    session_id = add(home, "one of many", work)
    catalogue = Catalogue(home)
    (place,) = catalogue.places()
    data = place.path.read_bytes()
    for number in range(1_000):
        path = place.path.with_name(f"{number:032x}.jsonl")
        path.write_bytes(data)
        os.utime(path, (number, number))

    async def look() -> None:
        async with running(desk_in(tmp_path)) as pilot:
            app = app_of(pilot)
            app.main.run_command("/sessions")
            await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
            screen = app.screen
            assert isinstance(screen, SessionsScreen)
            await until(pilot, lambda: shown(pilot, "one of many"))
            first = screen._catalogue.reads
            assert first < 150, first
            for _ in range(5):  # a pilot would wait until nothing is read any more
                before = chosen(screen)
                app.post_message(events.Key("down", None))
                while chosen(screen) == before:
                    await asyncio.sleep(0.002)
            assert screen._catalogue.reads < 1_000
            await pilot.press("escape")

    asyncio.run(look())
    assert session_id == place.id


@pytest.mark.long
def test_a_session_of_an_untrusted_folder_runs_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = UntrustedFolder.build(tmp_path / "other", TRAPS)
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    monkeypatch.setenv("CONTEXTUI_HOME", str(home))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.chdir(work)
    session_id = add(home, "Elsewhere", other.path)
    resumed: list[Desk] = []

    def reopen(target: Target) -> Desk:
        resumed.append(open_target(parse([]), target, "en"))
        return resumed[-1]

    async def resume() -> None:
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
            untrusted = [one for one in resumed[0].entries if one.name == "hostile_window"]
            assert [one.usable for one in untrusted] == [False]
            app.main.run_command("/open hostile_window")
            await until(pilot, lambda: shown(pilot, "hostile_window"))
            assert not session.windows.windows()
            app.switcher.close_rest()

    asyncio.run(resume())
    assert other.sprung == []


@pytest.mark.parametrize("kind", PAYLOADS)
def test_hostile_titles_and_messages_are_inert(tmp_path: Path, kind: str) -> None:
    payload = PAYLOADS[kind]

    async def look() -> None:
        home = tmp_path / "home"
        session_id = add(home, payload, tmp_path / "work", answer=payload)
        async with sheet(tmp_path) as (pilot, screen, _):
            await until(pilot, lambda: chosen(screen).id == session_id)
            await until(pilot, lambda: screen._previews)
            await pilot.pause()
            seen = "".join(lines(pilot))
            assert not ACTING & set(seen)
            await pilot.press("r")
            await pilot.press("enter")
            await until(pilot, lambda: note_of(screen).startswith("Renamed"))
            await until(pilot, lambda: screen.is_read)
            await pilot.press("slash", "x", "enter")
            await pilot.press("escape")
            await pilot.press("x")
            assert note_of(screen).startswith("Deleted")
            await pilot.pause()
            assert not ACTING & set("".join(lines(pilot)))
            pilot.app.export_screenshot()

    asyncio.run(look())


def test_in_chinese(tmp_path: Path) -> None:
    async def look() -> None:
        add(tmp_path / "home", "发票导出成 CSV", tmp_path / "work")
        async with sheet(tmp_path, lang="zh") as (pilot, _, _):
            for text in ("会话", "今天", "发票导出成 CSV", "继续", "删除"):
                assert shown(pilot, text), text

    asyncio.run(look())


def head(place: Place, origin: Origin | None = None) -> Head:
    return Head(place, "/work", "title", 3, origin)


def test_forks_are_under_their_parents() -> None:
    now = noon()
    places = [Place(Path(f"/p/{name}.jsonl"), now - 60 * at, 9) for at, name in enumerate("abcd")]
    a, b, c, d = places
    heads = {
        a: head(a, Origin("c", 7)),
        b: head(b),
        c: head(c),
        d: head(d, Origin("a", None)),
    }
    rows = [row for row in rows_of(places, heads.get, now) if row.place]
    assert rows == [Row(c), Row(a, is_fork=True), Row(d, is_fork=True), Row(b)]
    heads[c] = head(c, Origin("d", 1))  # a log may claim anything: a circle must end
    assert {row.place for row in rows_of(places, heads.get, now) if row.place} == set(places)

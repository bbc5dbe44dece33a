"""First paint and key response with many windows, files and sessions, beside ten of each.

The real app runs without a terminal. Runs with ten, with many and with ten again take turns, so
that other load on the machine affects all alike; the last column is the ratio of ten to ten, the
noise of the machine. Processor time of the whole process, with what its threads read in between.
"""

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from textual import events
from textual.app import App
from textual.widgets import Input

from contextui import ContextItem, InteractionController, ItemType, SessionOptions, SessionStore
from contextui.agent.models.scripted import ScriptedModel
from contextui.files.index import PathIndex
from contextui.session.catalogue import Catalogue
from contextui.tui.app import ContextUIApp, collect_less
from contextui.tui.app_session import AppSession
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.pane import Desktop
from contextui.tui.desktop.rowlist import RowList
from contextui.tui.dialogs.session_list import SessionList
from contextui.windowing.finding.registry import discover

FEW = 10
ROUNDS = 5
KEYS = 10
Times = dict[str, float]


# --- the app -----------------------------------------------------------------------------


def desk_in(folder: Path, session_id: str | None = None, max_windows: int = 100) -> AppSession:
    """A session in a folder, with the windows that are installed."""
    registry = discover()
    settings = SessionOptions(classes=registry.classes(), max_windows=max_windows)
    store = SessionStore(folder / "home", settings)
    session = store.open(session_id) if session_id else store.create(folder / "work")
    controller = InteractionController(model=ScriptedModel(), context=session.context)
    controller.install_prompt()
    return AppSession(session, controller, registry)


@asynccontextmanager
async def running(desk: Callable[[], AppSession]) -> AsyncIterator[ContextUIApp]:
    app = ContextUIApp(desk)
    async with app.run_test(size=(120, 40)):
        try:
            yield app
        finally:
            if app.desk is not None:
                app.desk.close()


async def painted(app: App[int], condition: Callable[[], object]) -> None:
    """Wait until something holds, and the frame after that was drawn."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        await asyncio.sleep(0.004)
    done = asyncio.Event()
    app.call_after_refresh(done.set)
    await done.wait()


async def seconds(
    app: App[int], act: Callable[[], object], condition: Callable[[], object]
) -> float:
    """The time from an act until what it leads to was drawn."""
    start = time.process_time()
    act()
    await painted(app, condition)
    return time.process_time() - start


async def key(app: App[int], name: str, condition: Callable[[], object]) -> float:
    letter = name if len(name) == 1 else {"slash": "/"}.get(name)
    return await seconds(app, lambda: app.post_message(events.Key(name, letter)), condition)


async def middle(times: AsyncIterator[float]) -> float:
    return median([one async for one in times])


# --- windows ---------------------------------------------------------------------------------


def make_windows(folder: Path, count: int) -> str:
    """A session with so many editors."""
    for number in range(count):
        (folder / f"work/file_{number}.py").write_text(f"x = {number}\n" * 30)
    desk = desk_in(folder, max_windows=count)
    for number in range(count):
        desk.session.windows.open("editor", path=f"file_{number}.py")
    desk.close()
    return desk.session.id


async def use_windows(folder: Path, count: int, made: str) -> Times:
    command = [sys.executable, "-m", "benchmarks.screen", str(folder), str(count), made]
    resumed = float(subprocess.check_output(command))
    desk = desk_in(folder, made, count)
    opened = time.process_time()
    async with running(lambda: desk) as app:

        def current() -> str:
            focused = app.focused.ancestors_with_self if app.focused is not None else ()
            return next((one.window.id for one in focused if isinstance(one, WindowFrame)), "")

        await painted(app, lambda: app.desk is not None and app.screen.query(WindowFrame))
        first = time.process_time() - opened
        await settled(app)
        typed = await key(app, "slash", lambda: app.main.prompt.text == "/")
        app.main.prompt.text = ""
        app.screen.query_one(Desktop).focus()
        await painted(app, current)
        step = "left" if current() == f"editor_{count}" else "right"

        async def moves() -> AsyncIterator[float]:
            for _ in range(min(KEYS, count) - 2):
                before = current()
                yield await key(app, step, partial(lambda old: current() not in ("", old), before))

        times = {"first paint": first, "key": await middle(moves()), "filter": typed}
        return {**times, "resume": resumed}


async def resume(folder: Path, count: int, made: str) -> float:
    """The time from the start of the program until the windows of a session are drawn."""
    async with running(lambda: desk_in(folder, made, count)) as app:
        await painted(app, lambda: app.desk is not None and app.screen.query(WindowFrame))
        return time.process_time()


# --- files -----------------------------------------------------------------------------------


def make_files(folder: Path, count: int) -> None:
    """A folder with so many files."""
    for number in range(count):
        (folder / f"work/file_{number}.txt").touch()


async def use_files(folder: Path, count: int, _: None) -> Times:
    async with running(lambda: desk_in(folder)) as app:
        await painted(app, lambda: app.desk is not None)
        await settled(app)
        assert app.desk is not None
        windows = app.desk.session.windows

        lists = list[RowList[object]]()

        def is_full() -> bool:
            shown = app.screen.query(RowList)
            lists[:] = [one for one in shown if len(one.rows) == count and one.region.area]
            return bool(lists)

        first = await seconds(app, lambda: windows.open("files"), is_full)
        (listed,) = lists
        listed.focus()
        assert windows.workspace is not None
        index = PathIndex.of(windows.workspace)
        await painted(app, lambda: index.is_ready)
        await settled(app)

        async def moves() -> AsyncIterator[float]:
            for at in range(1, KEYS):
                yield await key(app, "down", partial(lambda to: listed.cursor == to, at))

        down = await middle(moves())
        await key(app, "slash", lambda: isinstance(app.focused, Input))
        filtered = await key(app, "9", lambda: 0 < len(listed.rows) < count)
        return {"first paint": first, "key": down, "filter": filtered}


# --- sessions --------------------------------------------------------------------------------


def make_sessions(folder: Path, count: int) -> None:
    """So many sessions with a few messages."""
    desk = desk_in(folder)
    for number in range(20):
        desk.session.context.add(ContextItem(ItemType.USER, f"question {number} " * 20))
        desk.session.context.add(ContextItem(ItemType.ASSISTANT, "answer " * 200))
        desk.session.context.end_turn()
    desk.close()
    (place,) = Catalogue(folder / "home").places()
    data = place.path.read_bytes()
    for number in range(count - 1):
        path = place.path.with_name(f"{number:032x}.jsonl")
        path.write_bytes(data)
        os.utime(path, (number, number))


async def use_sessions(folder: Path, count: int, _: None) -> Times:
    async with running(lambda: desk_in(folder)) as app:
        await painted(app, lambda: app.desk is not None)
        await settled(app)

        def listed() -> list[object]:
            found = [row for one in app.screen.query(SessionList) for row in one.rows]
            return [row for row in found if row.place is not None]

        first = await seconds(app, lambda: app.main.run_command("/sessions"), listed)
        sheet = app.screen.query_one(SessionList)

        async def moves() -> AsyncIterator[float]:
            for _ in range(min(KEYS, count) - 2):
                before = sheet.place
                yield await key(app, "down", partial(lambda old: sheet.place != old, before))

        down = await middle(moves())
        await key(app, "slash", lambda: app.focused is not sheet)
        line = app.screen.query_one("FilterLine Input", Input)
        filtered = await key(app, "q", lambda: line.value == "q")
        return {"first paint": first, "key": down, "filter": filtered}


SCENES: dict[str, tuple[int, Callable[[Path, int], Any], Callable[..., Awaitable[Times]]]] = {
    "windows": (200, make_windows, use_windows),
    "files": (10_000, make_files, use_files),
    "sessions": (1_000, make_sessions, use_sessions),
}


async def settled(app: App[int]) -> None:
    """Wait until nothing is drawn any more, and what was left behind is collected."""
    await asyncio.sleep(0.3)
    gc.collect()
    collect_less()  # as the app does in a terminal
    await painted(app, lambda: True)


async def once(measured: Awaitable[Times]) -> Times:
    return await measured


def compare(name: str) -> Iterator[tuple[str, float, float]]:
    """Yield what was measured, the ratio of many to ten, and that of ten to ten."""
    many, make, use = SCENES[name]
    with tempfile.TemporaryDirectory() as home:
        places = {}
        for number, count in enumerate((FEW, many, FEW)):
            folder = Path(home) / str(number)
            (folder / "work").mkdir(parents=True)
            places[number] = folder, count, make(folder, count)
        runs: list[list[Times]] = [[], [], []]
        for _ in range(ROUNDS):
            for number, place in places.items():
                runs[number].append(asyncio.run(once(use(*place))))
    for what in runs[0][0]:
        few, full, again = (min(one[what] for one in times) for times in runs)
        yield what, full / min(few, again), again / few


def main() -> None:
    if arguments := sys.argv[1:]:
        folder, count, made = arguments
        print(asyncio.run(resume(Path(folder), int(count), made)))
        return
    print("many beside ten                                  (ratio of processor time)")
    print(f"{'':<10} {'':>7}  {'':<12} {'many':>7} {'ten':>7}")
    for name, (many, *_) in SCENES.items():
        for what, ratio, noise in compare(name):
            print(f"{name:<10} {many:>7,}  {what:<12} {ratio:>6.2f}x {noise:>6.2f}x")


if __name__ == "__main__":
    main()

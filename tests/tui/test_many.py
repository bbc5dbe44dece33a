"""Many windows and files: the work of a paint and of a key does not grow with them."""

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from contextui.tui.desktop.rowlist import FilterInput, RowList
from contextui.tui.inspector.items import ItemList
from contextui.tui.inspector.log import LogList
from contextui.tui.inspector.request import Outline
from contextui.tui.inspector.usage import UsagePage
from contextui.tui.lines import LineView
from contextui.windows.files import tree
from contextui.windows.files.tree import FileRow, Tree
from contextui.windows.files.window import FilesWindow
from tests.tui.desktop.samples import NoteWindow
from tests.tui.running import app_of, desk_in, running, until

SIZES = {"few": (12, 60), "many": (60, 2_000)}
"""Windows and files; the few fill the screen, too."""
ONCE_MORE = 80
"""Rows that a timer may draw in between."""


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the rows that are drawn, the trees that are made and the folders that are read."""
    count = Counter[str]()

    def watch(owner: object, name: str, what: str) -> None:
        call = getattr(owner, name)

        def watched(*args: object, **named: object) -> object:
            count[what] += 1
            return call(*args, **named)

        monkeypatch.setattr(owner, name, watched)

    watch(LineView, "render_line", "rows drawn")
    watch(tree, "list_folder", "folders read")
    watch(Tree, "_new_rows", "trees made")
    return count


async def press(pilot: "Pilot[int]", key: str, condition: Callable[[], object]) -> None:
    """Press a key; a pilot would wait for everything that is read."""
    pilot.app.post_message(events.Key(key, None))
    await until(pilot, condition)


async def work_with(folder: Path, size: tuple[int, int], counted: Counter[str]) -> Counter[str]:
    """What it takes to show the lists and to move in them."""
    windows, files = size
    found = Counter[str]()
    desk = desk_in(folder, windows=[FilesWindow, NoteWindow], max_windows=windows)
    for number in range(files):
        (folder / f"work/file_{number}.txt").touch()
    for _ in range(windows - 1):
        desk.session.windows.open("note")
    desk.session.windows.open("files")
    counted.clear()
    async with running(desk) as pilot:
        app = app_of(pilot)

        def note(what: str) -> None:
            found.update({f"{what}: {name}": number for name, number in counted.items()})
            counted.clear()

        def lists() -> list[RowList[FileRow]]:
            inspectors = ItemList | LogList | Outline | UsagePage
            return [one for one in app.screen.query(RowList) if not isinstance(one, inspectors)]

        await until(pilot, lists)
        [listed] = lists()
        await until(pilot, lambda: len(listed.rows) == files)
        await pilot.pause()
        found["widgets"] = len([*app.screen.walk_children()])
        note("paint")
        listed.focus()
        await until(pilot, lambda: listed.has_focus)
        counted.clear()
        for at in range(1, 6):
            await press(pilot, "down", partial(lambda to: listed.cursor == to, at))
        note("down")
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, FilterInput))
        await pilot.press("5", "9")
        await until(pilot, lambda: listed.row is not None and listed.row.name == "file_59.txt")
        found["filter: rows drawn"] = counted["rows drawn"]
    return found


@pytest.mark.long
@pytest.mark.usefixtures("frames")
def test_the_work_does_not_grow(tmp_path: Path, counted: Counter[str]) -> None:
    work = {}
    for name, size in SIZES.items():
        (tmp_path / name).mkdir()
        work[name] = asyncio.run(work_with(tmp_path / name, size, counted))
    assert work["few"]["down: rows drawn"] > 0
    for what, few in work["few"].items():
        assert work["many"][what] <= 2 * few + ONCE_MORE * what.endswith("drawn"), (what, work)

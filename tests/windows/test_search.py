"""A search of all files: its results, the lines that they lead to, and the command for it."""

from pathlib import Path

import pytest
from textual.command import CommandList, CommandPalette
from textual.pilot import Pilot
from textual.widgets import TextArea

from contextui.tui.app_session import AppSession
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.rowlist import FilterInput, RowList
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files.window import FilesWindow
from tests.tui.desktop.samples import focused_window, frame_of, seen
from tests.tui.running import app_of, desk_in, running, shown, until
from tests.tui.sharing import SharedChat
from tests.windows.test_files_widget import chat, cursor, names, use_shared

__all__ = ["chat"]  # the app that tests share

HIT = "def needle(a_long_name_of_an_argument, another_one): pass"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The session's folder; the second file has two hits, far below its first lines."""
    place = tmp_path / "work"
    (place / "pkg").mkdir(parents=True)
    (place / "pkg/one.py").write_text("x = 1\n")
    rows = [f"x{number} = {number}" for number in range(1, 101)]
    rows[59], rows[69] = HIT, "Needle = 2"
    (place / "pkg/two.py").write_text("\n".join(rows) + "\n")
    return place


def place_of(frame: WindowFrame) -> int:
    """Return the line of the cursor in an editor."""
    area = frame.body
    assert isinstance(area, TextArea)
    return area.cursor_location[0] + area.line_number_start


async def open_hits(pilot: "Pilot[int]", frame: WindowFrame, desk: AppSession) -> None:
    rows = frame.body.query_one(RowList)
    given = {"text": "needle", "ignore_case": True}
    await desk.session.windows.act("files_1", "find_text", given)
    await until(pilot, lambda: len(rows.rows) == 2)
    rows.focus()
    await pilot.press("down", "enter")
    await until(pilot, lambda: focused_window(pilot) == "editor_1")
    editor = await frame_of(pilot, "editor_1")
    await seen(pilot, editor, "70  Needle = 2")
    await until(pilot, lambda: place_of(editor) == 70)
    rows.focus()
    await pilot.press("up", "enter")
    await until(pilot, lambda: place_of(editor) == 60)
    area = editor.body
    assert isinstance(area, TextArea)
    area.move_cursor((0, 0))
    rows.focus()
    await pilot.press("enter")  # the same hit again
    await until(pilot, lambda: place_of(editor) == 60)
    assert [one.id for one in desk.session.windows.windows()] == ["files_1", "editor_1"]
    # Without a line, the cursor stays where it is.
    area.move_cursor((0, 0))
    desk.session.windows.open("editor", path="pkg/two.py")
    await pilot.pause()
    assert area.cursor_location == (0, 0)


async def test_results_replace_a_filter_and_a_hit_opens_at_its_line(
    folder: Path, chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    frame, desk = await use_shared(chat, pilot, folder), chat.desk
    rows = frame.body.query_one(RowList)
    await seen(pilot, frame, "pkg/", "2 entries")
    await pilot.press("slash", *"one")
    await seen(pilot, frame, "1 of 2 files")
    assert frame.body.has_class("-roomy")
    frame.focus()
    await until(pilot, lambda: frame.has_focus)
    frame.runner.run("find_text", {"text": "needle"})
    await seen(pilot, frame, f"pkg/two.py:60: {HIT}", "1 found")
    await until(pilot, lambda: rows.has_focus)
    assert not frame.body.query_one(FilterInput).focusable
    marked = rows.line_at(0, 90)
    bold = [marked.plain[one.start : one.end] for one in marked.spans if "bold" in str(one)]
    assert "".join(bold) == "needle"
    await pilot.press("escape")
    await until(pilot, lambda: names(frame) == ["pkg"])
    assert cursor(frame) == "pkg"
    # They do not come back by themselves, but the same search shows them.
    (chat.work / "new.py").write_text("")
    await pilot.press("r")
    await until(pilot, lambda: "new.py" in names(frame))
    frame.runner.run("find_text", {"text": "needle"})
    await seen(pilot, frame, "pkg/two.py:60", "1 found")
    # What the model finds does not take the filter from under the person's fingers.
    await pilot.press("slash", *"one")
    await seen(pilot, frame, "1 of")
    await desk.session.windows.act("files_1", "find_text", {"text": "x7 "})
    await pilot.pause()
    assert frame.body.query_one(FilterInput).value == "one"
    await pilot.press("escape")
    await seen(pilot, frame, "pkg/two.py:7: x7 = 7")
    await open_hits(pilot, frame, desk)
    desk.session.windows.close("editor_1")
    await until(pilot, lambda: list(pilot.app.query(WindowFrame)) == [frame])


async def test_the_command_searches_all_files_and_the_palette_finds_it_and_a_line(
    folder: Path, tmp_path: Path
) -> None:
    async def search(
        pilot: "Pilot[int]", desk: AppSession, *searches: tuple[str, str, int]
    ) -> None:
        app = app_of(pilot)
        app.main.run_command("/find")  # in the conversation
        await until(pilot, lambda: shown(pilot, "tab in files"))
        await pilot.press("escape")
        for name, wanted, hits in searches:
            app.main.run_command(f"/{name} {wanted}")
            await until(pilot, lambda: focused_window(pilot) == "files_1")
            frame = await frame_of(pilot, "files_1")
            rows = frame.body.query_one(RowList)
            await until(pilot, lambda rows=rows: rows.has_focus)  # type: ignore[misc]
            await until(pilot, lambda rows=rows, hits=hits: len(rows.rows) == hits)  # type: ignore[misc]
            assert len(desk.session.windows.windows()) == 1

    async def find_in_palette(pilot: "Pilot[int]") -> None:
        for query in ("grep", "two.py:60"):
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette))
            palette = pilot.app.screen
            await pilot.press(*query)
            options = palette.query_one(CommandList)
            first = "pkg/two.py:60" if ":" in query else "find, grep, search: search in"

            def is_first(options: CommandList = options, first: str = first) -> bool:
                rows = [str(one.prompt) for one in options.options]
                return bool(rows) and rows[0].startswith(first)

            await until(pilot, is_first)
            await pilot.press(*(["enter", "enter"] if ":" in query else ["escape", "escape"]))
            await until(pilot, lambda palette=palette: pilot.app.screen is not palette)  # type: ignore[misc]

    desk = desk_in(tmp_path, windows=[FilesWindow, EditorWindow])
    async with running(desk, (80, 24)) as pilot:
        await search(pilot, desk, ("find", "needle", 2), ("grep", "Needle", 1))
        await pilot.resize_terminal(150, 40)
        await search(pilot, desk, ("search", "no such", 1))  # nothing: a tree of one row
        await until(pilot, lambda: shown(pilot, "0 found"))
        await find_in_palette(pilot)
        await until(pilot, lambda: desk.session.windows.get("editor_1") is not None)
        frame = await frame_of(pilot, "editor_1")
        await seen(pilot, frame, "60  def needle")
        await until(pilot, lambda: place_of(frame) == 60)
        for _ in range(2):
            desk.session.windows.open("files")
        await frame_of(pilot, "files_3")
        app_of(pilot).main.run_command("/find needle")
        frame = await frame_of(pilot, "files_3")
        await until(pilot, lambda: frame.region.width >= 60)  # X12: not a third of a shelf

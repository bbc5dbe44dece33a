"""The widgets of the notebook and code windows: rows with a cursor that unfold, and a filter."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui import Window
from contextui.session.code.store import CodeStore
from contextui.tui.app_session import AppSession
from contextui.tui.desktop.folds import INDENT, FoldBody, FoldList
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.rowlist import FilterInput, positions_of
from contextui.tui.desktop.widgets import hook
from contextui.windowing.runtime import runtime_of
from contextui.windows.code import CodeWindow
from contextui.windows.code import window as code_window
from contextui.windows.notebook import NotebookWindow
from tests.tui.desktop.samples import PAYLOADS, enter, seen
from tests.tui.running import desk_in, running, until
from tests.tui.sharing import SharedChat, sharing

Note = dict[str, object]

chat = sharing(lambda temp: SharedChat(temp.mktemp("folds"), windows=[NotebookWindow, CodeWindow]))


async def use(
    chat: SharedChat,
    pilot: "Pilot[int]",
    cls: type[Window] = NotebookWindow,
    *,
    notes: list[Note] | None = None,
    make: Callable[[Path], object] = lambda _: None,
) -> WindowFrame:
    """Open the window in the app, and move into it."""
    make(chat.work)
    window = chat.desk.session.windows.open(cls.name)
    for note in notes or []:
        await chat.desk.session.windows.act(window.id, "write", note)
    return await enter_list(pilot, window.id)


async def enter_list(pilot: "Pilot[int]", window_id: str) -> WindowFrame:
    frame = await enter(pilot, window_id)
    assert isinstance(frame.body, FoldBody), frame._own_problem
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.focused, FoldList))
    return frame


def rows(frame: WindowFrame) -> list[str]:
    """The titles of entries, and the rows of their texts."""
    listed = frame.body.query_one(FoldList).rows
    return [f"{' ' * INDENT}{row.text}" if row.at >= 0 else row.fold.title for row in listed]


def cursor(frame: WindowFrame) -> str:
    listed = frame.body.query_one(FoldList)
    return rows(frame)[listed.cursor]


NOTES: list[Note] = [
    {"text": "Milk\nis white\nand cheap", "tags": ["shop"]},
    {"text": "Plan the trip\n" + "a long way to go " * 20, "gist": "Trip", "tags": ["fun", "far"]},
    {"text": "Bread\nin the oven", "summary": "What is baked"},
]


async def unfold(pilot: "Pilot[int]", frame: WindowFrame, desk: AppSession) -> None:
    window = desk.session.windows.get("notebook_1")
    assert window is not None
    text = await seen(pilot, frame, "3 notes", "▸ 3 Bread  What is baked", "#shop", "#fun #far")
    before = (window.version, window.to_xml(), runtime_of(window).renders.latest().snapshot.content)
    assert rows(frame) == ["Bread", "Trip", "Milk"]
    assert "is white" in text  # the beginning of the text, beside the title
    rows_before = hook(frame.body, "window_rows")
    await pilot.press("end", "enter")
    await until(pilot, lambda: rows(frame)[2:] == ["Milk", "    Milk", "    is white",
                                                   "    and cheap"])  # fmt: skip
    assert hook(frame.body, "window_rows") == (rows_before or 0) + 3
    await seen(pilot, frame, "▾ 1 Milk", "    and cheap")
    await pilot.press("end")
    assert cursor(frame) == "    and cheap"
    await pilot.press("enter")  # from within its text
    await until(pilot, lambda: rows(frame) == ["Bread", "Trip", "Milk"])
    assert cursor(frame) == "Milk"
    await pilot.press("home", "right")
    await until(pilot, lambda: "    What is baked" in rows(frame))
    assert "    in the oven" in rows(frame)
    assert (
        window.version,
        window.to_xml(),
        runtime_of(window).renders.latest().snapshot.content,
    ) == before
    await pilot.press("left")
    await until(pilot, lambda: len(rows(frame)) == 3)


async def find(pilot: "Pilot[int]", frame: WindowFrame) -> None:
    listed = frame.body.query_one(FoldList)
    listed.focus()
    await pilot.press("slash", *"oven")
    await until(pilot, lambda: isinstance(pilot.app.focused, FilterInput))
    await seen(pilot, frame, "/ oven", "1 of 3")
    assert rows(frame) == ["Bread"]
    await pilot.press("enter")
    await until(pilot, lambda: "    in the oven" in rows(frame))
    await pilot.press(*"xyz")
    await seen(pilot, frame, "Nothing matches “ovenxyz”. Esc clears.")
    await pilot.press("enter", "escape")  # nothing to open
    await until(pilot, lambda: listed.has_focus and len(listed.rows) == 7)
    await pilot.press("slash", *"FAR")
    await until(pilot, lambda: rows(frame) == ["Trip"])
    await pilot.press("escape")
    await until(pilot, lambda: listed.has_focus)
    await pilot.press("home", "left")
    await until(pilot, lambda: len(rows(frame)) == 3)


async def click(pilot: "Pilot[int]", frame: WindowFrame, desk: AppSession) -> None:
    listed, windows = frame.body.query_one(FoldList), desk.session.windows
    await pilot.click(listed, offset=(5, 2))
    await until(pilot, lambda: "    and cheap" in rows(frame))
    await pilot.click(listed, offset=(5, 4))  # in the text: it stays
    await until(pilot, lambda: cursor(frame) == "    is white")
    await pilot.click(listed, offset=(5, 2))
    await until(pilot, lambda: len(rows(frame)) == 3)
    await windows.act("notebook_1", "expand", {"entry": 3})
    await until(pilot, lambda: "    in the oven" in rows(frame))
    await windows.act("notebook_1", "edit", {"entry": 3, "text": "Bread\nis done"})
    await until(pilot, lambda: "    is done" in rows(frame))
    await windows.act("notebook_1", "collapse", {"entry": 3})
    await until(pilot, lambda: len(rows(frame)) == 3)
    await windows.act("notebook_1", "filter", {"tag": "shop"})
    await seen(pilot, frame, "only tag shop")
    assert rows(frame) == ["Milk"]


async def test_notes_unfold_in_place_by_key_filter_and_click(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    """For the person alone; what the model expands is followed."""
    frame = await use(chat, pilot, notes=NOTES)
    await unfold(pilot, frame, chat.desk)
    await find(pilot, frame)
    await click(pilot, frame, chat.desk)


async def test_hostile_notes_and_narrow_windows(chat: SharedChat, pilot: "Pilot[int]") -> None:
    notes: list[Note] = [{"text": f"{one}\n{one}", "tags": [one[:30]]} for one in PAYLOADS]
    notes.append({"text": "很长的一句话" * 60})
    frame = await use(chat, pilot, notes=notes)
    await seen(pilot, frame, "zap[/foo][/[/][b]x", "zap[@click=app.quit]x", "很长")
    await pilot.press("end", "space", "slash", *"zap[")
    await seen(pilot, frame, "2 of 6", "    zap[/foo]")
    await pilot.press("escape", "home", "space")
    await until(pilot, lambda: len(rows(frame)) > 10)
    listed = frame.body.query_one(FoldList)
    for at in range(len(listed.rows)):
        assert listed.line_at(at, listed.line_width).cell_length <= listed.line_width
        if listed.rows[at].at < 0:
            assert {listed.line_at(at, width).cell_length for width in (20, 45)} <= {20, 45}
        shown = set(listed.line_at(at, 80).plain)
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\x00", "\n"} & shown


CODE = 'def load(path):\n    """[b]no[/b] \x1b[2J"""\n' + "\n".join(
    f"    x{n} = {n}" for n in range(9)
)


def save_code(work: Path) -> CodeStore:
    store = CodeStore(work / ".contextui/code")
    store.save("load", "python", CODE, "Loads [red]all[/] of it")
    store.save("page", "html", "<p>" + "字" * 400 + "</p>\n", "A page")
    return store


async def test_code_unfolds_whole_with_line_numbers(
    chat: SharedChat, pilot: "Pilot[int]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_window, "SECONDS", 600.0)  # it does not see that a file is gone
    frame = await use(chat, pilot, CodeWindow, make=save_code)
    window = chat.desk.session.windows.get("code_1")
    assert window is not None
    text = await seen(pilot, frame, "2 files", "Loads [red]all[/] of it", "python, 11 lines")
    assert rows(frame) == ["page", "load"]
    before = (window.version, window.to_xml())
    await pilot.press("down", "enter")
    text = await seen(pilot, frame, "   1  def load(path):", "  11      x8 = 8", "[b]no[/b]")
    assert "\x1b" not in text
    assert hook(frame.body, "window_rows") == 13
    await pilot.press("up", "space")
    await until(pilot, lambda: len(rows(frame)) > 15)
    page = [one.strip() for one in rows(frame)[1 : rows(frame).index("load")]]
    assert "".join(page) == "<p>" + "字" * 400 + "</p>"
    assert (window.version, window.to_xml()) == before
    store = CodeStore(chat.work / ".contextui/code")
    store.save("load", "python", CODE + "\n    changed = 1", "Loads it")
    await chat.desk.session.windows.act("code_1", "show", {"code_id": "page"})
    await until(pilot, lambda: "        changed = 1" in rows(frame))
    await pilot.press("slash", *"html")
    await seen(pilot, frame, "1 of 2")
    await pilot.press("escape")
    (chat.work / ".contextui/code/load.py").unlink()
    await pilot.press("r")
    await seen(pilot, frame, "r tries again")


async def test_the_models_show_unfolds_code_and_no_notes_are_shown_in_chinese(
    tmp_path: Path,
) -> None:
    desk = desk_in(tmp_path, windows=[NotebookWindow, CodeWindow], lang="zh")
    save_code(tmp_path / "work")
    desk.session.windows.open("code")
    async with running(desk, (150, 40), lang="zh") as pilot:
        frame = await enter_list(pilot, "code_1")
        await seen(pilot, frame, "▸ load", "2 个文件", "11 行")
        await desk.session.windows.act("code_1", "show", {"code_id": "load"})
        await seen(pilot, frame, "▾ load", "   1  def load")
        await desk.session.windows.act("code_1", "hide", {})
        await until(pilot, lambda: rows(frame) == ["page", "load"])
        await desk.session.windows.act("code_1", "delete", {"code_id": "load"})
        await until(pilot, lambda: rows(frame) == ["page"])
        await desk.session.windows.act("code_1", "delete", {"code_id": "page"})
        await seen(pilot, frame, "还没有代码")
        desk.session.windows.open("notebook")
        frame = await enter_list(pilot, "notebook_1")
        await seen(pilot, frame, "还没有笔记")
        await pilot.press("enter", "space", "down", "end")  # nothing happens
        await desk.session.windows.act("notebook_1", "write", {"text": "买牛奶", "tags": ["家"]})
        await seen(pilot, frame, "1 条笔记", "▸ 1 买牛奶", "#家")
        await pilot.press("slash", "奶")
        await seen(pilot, frame, "1 个中的 1 个")
        await pilot.press("x")
        await seen(pilot, frame, "没有匹配“奶x”的内容")


def test_positions_of_words() -> None:
    assert positions_of("Milk milk", ["mil"]) == {0, 1, 2, 5, 6, 7}
    assert positions_of("Straße", ["ss"]) == set()
    assert positions_of("x", []) == positions_of("x", [""]) == set()

"""The git window's widget: list and diff, staging, committing and discarding by keys."""

import asyncio
import shutil
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.dialogs import guard
from contextui.tui.dialogs.diff import ChangeView
from contextui.windows.editor.window import EditorWindow
from contextui.windows.git.widget import ChangeList, Entry, GitBody
from contextui.windows.git.window import GitWindow
from tests.tui.desktop.samples import enter, focused_window, region_text, seen
from tests.tui.running import desk_in, running, shown, until
from tests.tui.sharing import SharedChat, sharing
from tests.windows.git.conftest import run

chat = sharing(lambda temp: SharedChat(temp.mktemp("git"), windows=[GitWindow, EditorWindow]))


@pytest.fixture
def size() -> tuple[int, int]:
    return (150, 36)


async def use(chat: SharedChat, pilot: "Pilot[int]", folder: Path) -> WindowFrame:
    """Open the window on a copy of the folder, and move into it."""
    shutil.copytree(folder, chat.work, dirs_exist_ok=True, symlinks=True)
    chat.desk.session.windows.open("git")
    frame = await enter(pilot, "git_1")
    assert isinstance(frame.body, GitBody), frame._own_problem
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.focused, ChangeList))
    return frame


def words_of(pilot: "Pilot[int]", frame: WindowFrame) -> str:
    """The text of a window as if no line were broken."""
    return " ".join(" ".join(region_text(pilot, frame)).replace("│", " ").split())


async def test_the_list_the_diff_and_staging(
    chat: SharedChat, pilot: "Pilot[int]", folder: Path
) -> None:
    (folder / "a.txt").write_text("one\n2\nthree\n")
    (folder / "b.txt").write_text("B\n")
    (folder / "[@click=app.quit]x[b]").write_text("[red]no[/] \x1b[2J \u202eevil\n")
    run(folder, "add", "b.txt")
    run(folder, "commit", "--quiet", "--allow-empty", "--only", "-m", "[bold]Sub\x1b[2Jject[/]")
    run(folder, "branch", "-m", "x{y}$primary\u202eb")
    frame = await use(chat, pilot, folder)
    desk, work = chat.desk, chat.work
    window = desk.session.windows.get("git_1")
    assert window is not None
    text = await seen(pilot, frame, "Staged", "Changed", "Last commits", "Begin")
    assert "git  x{y}$primary\\u202eb ─" in text
    assert frame.body.query_one(ChangeList).size.width == 28
    assert "[bold]Sub" in text
    await seen(pilot, frame, "b.txt  +1 -1", "+ B")
    version = window.version
    await pilot.press("down")
    text = await seen(pilot, frame, "[@click=app.quit]x[b]", "[red]no[/]", "⟨U+202E⟩")
    assert "\x1b" not in text
    await pilot.press("down")
    await seen(pilot, frame, "a.txt  +1 -1", "- two", "+ 2")
    assert window.version == version  # moving about costs the model nothing
    await pilot.press("space")
    await seen(pilot, frame, "Staged a.txt.")
    rows = frame.body.query_one(ChangeList)
    await until(pilot, lambda: rows.entry and rows.entry.key == ("staged", "a.txt"))
    assert run(work, "diff", "--cached", "--name-only") == "a.txt\nb.txt\n"
    await pilot.press("space")
    await seen(pilot, frame, "Unstaged a.txt.")
    assert run(work, "diff", "--cached", "--name-only") == "b.txt\n"
    await desk.session.windows.act("git_1", "show", {"path": "b.txt"})
    await seen(pilot, frame, "b.txt  +1 -1")  # the cursor follows what the model shows
    await pilot.press("tab")
    await until(pilot, lambda: isinstance(pilot.app.focused, ChangeView))
    await pilot.press("tab")
    await until(pilot, lambda: isinstance(pilot.app.focused, ChangeList))
    frame.body.add_class("-narrow")
    await pilot.press("tab")
    await until(pilot, lambda: "Last commits" not in "\n".join(region_text(pilot, frame)))
    await seen(pilot, frame, "+ B")
    run(work, "add", "--all")
    run(work, "commit", "--quiet", "-m", "Done elsewhere")
    await desk.session.windows.act("git_1", "refresh", {}, actor="person")
    await seen(pilot, frame, "Nothing to commit.", "Done elsewhere")  # the list is back
    await until(pilot, lambda: isinstance(pilot.app.focused, ChangeList))


async def test_the_filter_and_a_second_click_open_a_change(
    chat: SharedChat, pilot: "Pilot[int]", folder: Path
) -> None:
    (folder / "a.txt").write_text("one\n2\nthree\n")
    (folder / "b.txt").write_text("B\n")
    (folder / "notes.md").write_text("new\n")
    run(folder, "add", "b.txt")
    frame = await use(chat, pilot, folder)
    rows = frame.body.query_one(ChangeList)

    def opened() -> list[str]:
        shown = (one for one in chat.desk.session.windows.windows() if one.name == "editor")
        return [str(one.state.path) for one in shown]  # type: ignore[attr-defined]

    def at(name: str) -> int:
        found = (n for n, row in enumerate(rows.rows) if isinstance(row, Entry)
                 and row.change.path == name)  # fmt: skip
        return next(found)

    def path() -> str:
        return rows.entry.change.path if rows.entry else ""

    await seen(pilot, frame, "Staged", "Changed", "Last commits")
    await pilot.click(ChangeList, offset=(4, at("a.txt") - 1))  # a heading
    assert path() == "b.txt"
    await pilot.click(ChangeList, offset=(4, at("a.txt")))
    await seen(pilot, frame, "a.txt  +1 -1", "- two")
    assert opened() == []  # the first click shows the diff
    await pilot.press("slash", *"MD")
    text = await seen(pilot, frame, "1 of 3", "? notes.md", "+ new")
    assert "Staged" not in text
    assert "Last commits" not in text
    await pilot.press(*"x")
    await seen(pilot, frame, "Nothing matches “MDx”. Esc", "clears.", "0 of 3")
    await pilot.press("backspace", "enter")
    await until(pilot, lambda: focused_window(pilot) == "editor_1")
    assert opened() == ["notes.md"]
    await pilot.press("escape", "1")
    frame = await enter(pilot, "git_1")
    rows = frame.body.query_one(ChangeList)
    await seen(pilot, frame, "1 of 3", "? notes.md")  # as it was left
    await pilot.press("slash", "escape")
    await seen(pilot, frame, "Staged", "Last commits")
    await pilot.click(ChangeList, offset=(4, at("a.txt")))
    await seen(pilot, frame, "a.txt  +1 -1")
    await pilot.click(ChangeList, offset=(4, at("a.txt")))
    await until(pilot, lambda: opened() == ["notes.md", "a.txt"])


async def test_discarding_and_committing_show_all_of_it_first(
    chat: SharedChat, pilot: "Pilot[int]", folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "DEAF", 0.0)
    (folder / "a.txt").write_text("one\ntwo\nthree\nmine\n")
    (folder / "b.txt").write_text("B\n")
    run(folder, "add", "b.txt")
    frame = await use(chat, pilot, folder)
    work = chat.work
    await seen(pilot, frame, "Changed")
    await pilot.press("down", "d")
    await until(pilot, lambda: shown(pilot, "- mine"))
    assert shown(pilot, "Lost if discarded")
    await pilot.press("n")
    await until(pilot, lambda: isinstance(pilot.app.focused, ChangeList))
    assert "mine" in (work / "a.txt").read_text()
    await pilot.press("d")
    await until(pilot, lambda: shown(pilot, "- mine"))
    (work / "a.txt").write_text("one\ntwo\nthree\nmore of mine\n")
    await pilot.press("y")
    await until(pilot, lambda: shown(pilot, "- more of mine"))
    assert shown(pilot, "Changed just now")
    await pilot.press("y")
    await seen(pilot, frame, "Discarded the changes of a.txt.")
    assert (work / "a.txt").read_text() == "one\ntwo\nthree\n"
    await pilot.press("c")
    await seen(pilot, frame, "Commit 1 staged", "+ B", "enter commits")
    await pilot.press("escape")
    await until(pilot, lambda: isinstance(pilot.app.focused, ChangeList))
    widget = frame.query_one(GitBody)
    await asyncio.gather(widget.action_commit(), widget._show_diff())  # which comes too late
    await seen(pilot, frame, "Commit 1 staged", "+ B", "enter commits")
    (work / "added.txt").write_text("sneaked in\n")
    run(work, "add", "--all")
    await pilot.press(*"d c,")  # text, and no keys of the list
    pilot.app.post_message(events.Paste(" with a title that is longer than the list"))
    await pilot.press("enter")
    await seen(pilot, frame, "Changed just now", "+ sneaked in")
    assert run(work, "log", "-1", "--format=%s") == "Begin\n"
    lock = work / ".git/HEAD.lock"
    lock.touch()
    await pilot.press("enter")
    told = ("HEAD.lock", "exists. If no git is running, delete that file.")  # X13: not cut
    await until(pilot, lambda: all(one in words_of(pilot, frame) for one in told))
    lock.unlink()
    await pilot.press("c")
    await seen(pilot, frame, "staged", "d c, with a title")  # and not lost
    await pilot.press("enter")
    await seen(pilot, frame, "Nothing to commit.", "d c, with a title that is longer than")
    assert run(work, "log", "-1", "--format=%s").startswith("d c, with")
    await until(pilot, lambda: isinstance(pilot.app.focused, ChangeList))
    await pilot.press("tab")
    assert isinstance(pilot.app.focused, ChangeList)  # there is no diff to go to


async def test_no_repository_and_nothing_to_commit_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    desk = desk_in(tmp_path, windows=[GitWindow], lang="zh")
    desk.session.windows.open("git")
    async with running(desk, (100, 36), lang="zh") as pilot:
        frame = await enter(pilot, "git_1")
        assert frame.body.has_class("-narrow")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.focused, ChangeList))
        await seen(pilot, frame, "不是 git 仓库，i 执行 git init。")
        await pilot.press("i")
        await seen(pilot, frame, "没有需要提交的改动。")
        assert (tmp_path / "work/.git").is_dir()
        for number in range(300):
            (tmp_path / f"work/file{number}").write_text("x\n")
        await pilot.press("r")
        await seen(pilot, frame, "已改动", "300")
        rows = frame.body.query_one(ChangeList)
        wheel = events.MouseScrollDown(None, *rows.region.offset, 0, 0, 0, False, False, False)
        pilot.app.post_message(wheel)
        await until(pilot, lambda: rows.scroll_offset.y > 0)
        assert rows.cursor == 1  # it stays
        await pilot.press("end")
        await seen(pilot, frame, "? file99")

"""The files window's widget: a tree to work in, a filter over all files, and a preview."""

import os
import re
import shutil
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from contextui.files.workspace import Workspace
from contextui.tui.app_session import AppSession
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.rowlist import FilterInput, RowList
from contextui.windowing.runtime import runtime_of
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files import widget
from contextui.windows.files.tree import Read, read_folders
from contextui.windows.files.widget import FilesBody
from contextui.windows.files.window import FilesWindow
from contextui.words import Lang
from tests.tui.desktop.samples import enter, focused_window, region_text, seen
from tests.tui.hostile import check
from tests.tui.running import app_of, desk_in, lines, running, until
from tests.tui.sharing import SharedChat, sharing
from tests.windows.git.conftest import run, use_home

FILES = {
    "docs/cart.md": "# Cart\n\nHow a cart works.\n",
    "src/shop/cart.py": '"""The cart: what is in it."""\n\n\nclass Cart:\n    def add(self): ...\n',
    "src/shop/money.py": "x = 1\n",
    "src/shop/checkout/cart_lock.py": "",
    "tests/test_cart.py": "",
    "tests/data/old.json": "{}",
    "notes.txt": "some notes\n",
    ".hidden/secret.txt": "",
    "build/out.o": "",
    ".gitignore": "build/\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The session's folder, a repository with some changes."""
    place = tmp_path / "work"
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    run(place, "init", "--quiet", "-b", "main")
    run(place, "add", "-A")
    run(place, "commit", "--quiet", "-m", "Begin")
    (place / "src/shop/cart.py").write_text(FILES["src/shop/cart.py"] + "\n# more\n")
    (place / "src/shop/new.py").write_text("")
    (place / "tests/data/old.json").unlink()
    return place


chat = sharing(lambda temp: SharedChat(temp.mktemp("files"), windows=[FilesWindow, EditorWindow]))


async def enter_files(pilot: "Pilot[int]") -> WindowFrame:
    frame = await enter(pilot, "files_1")
    assert isinstance(frame.body, FilesBody), frame._own_problem
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.focused, RowList))
    return frame


@asynccontextmanager
async def files_in(
    tmp_path: Path, *, lang: Lang = "en", size: tuple[int, int] = (150, 40)
) -> AsyncIterator[tuple["Pilot[int]", WindowFrame, AppSession]]:
    """Open the window in the app, and move into it."""
    desk = desk_in(tmp_path, windows=[FilesWindow, EditorWindow], lang=lang)
    desk.session.windows.open("files")
    async with running(desk, size, lang=lang) as pilot:
        yield pilot, await enter_files(pilot), desk


async def use_shared(chat: SharedChat, pilot: "Pilot[int]", folder: Path) -> WindowFrame:
    """Do so in the shared app, in a copy of the folder."""
    shutil.copytree(folder, chat.work, dirs_exist_ok=True)
    chat.desk.session.windows.open("files")
    return await enter_files(pilot)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home with an author for git."""
    use_home(monkeypatch, tmp_path / "home")


def names(frame: WindowFrame) -> list[str]:
    return ["  " * row.depth + row.name for row in frame.body.query_one(RowList).rows]


def cursor(frame: WindowFrame) -> str:
    row = frame.body.query_one(RowList).row
    return row.path if row is not None else ""


def ids(desk: AppSession) -> list[str]:
    return [one.id for one in desk.session.windows.windows()]


async def test_names_are_shown_before_sizes_are_read_in_chinese_and_whole_in_a_small_window(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window has read the names for the model; a slow disk delays nothing but the sizes."""
    is_answering = threading.Event()
    readings = list[list[str]]()

    def slow(workspace: Workspace, folders: list[str], *, ignored: bool) -> Read:
        readings.append(folders)
        is_answering.wait(30)
        return read_folders(workspace, folders, ignored=ignored)

    monkeypatch.setattr(widget, "read_folders", slow)

    async with files_in(tmp_path, lang="zh") as (pilot, frame, _):
        try:
            await seen(pilot, frame, "docs/", "notes.txt")
            await pilot.press("end")
            text = "\n".join(region_text(pilot, frame))
            assert not re.search(r"notes.txt +11", text)
            assert "1 行" not in text  # a file of unknown size is not read
        finally:
            is_answering.set()
        size = re.compile(r"notes.txt +11")
        await until(pilot, lambda: any(map(size.search, region_text(pilot, frame))))
        await seen(pilot, frame, "1 行", "3 个改动")
        assert readings == [["."]]
        await pilot.press("slash", *"zz")
        await seen(pilot, frame, "没有匹配“zz”的文件，Esc 清除。")
        await pilot.press("escape")
        await pilot.resize_terminal(104, 30)
        await seen(pilot, frame, "docs/", "notes.txt", "3 个改动")


async def test_keys_walk_the_tree_and_open_files(folder: Path, tmp_path: Path) -> None:
    async with files_in(tmp_path) as (pilot, frame, desk):
        window = desk.session.windows.get("files_1")
        assert window is not None
        text = await seen(pilot, frame, "notes.txt", "3 changed", "M changed")
        before = (window.version, runtime_of(window).renders.latest().snapshot.content)
        assert names(frame) == ["docs", "src", "tests", "notes.txt"]
        assert re.search(r"src/ +M", text)
        assert re.search(r"tests/ +D", text)
        assert re.search(r"notes.txt +11 +\d+[sm]  ", text)
        await seen(pilot, frame, "1 entry")  # of the folder under the cursor
        await pilot.press("down", "space")
        await until(pilot, lambda: "  shop" in names(frame))
        await pilot.press("right", "down", "right")
        await until(pilot, lambda: "    cart.py" in names(frame))
        await pilot.press("end", "up", "space")
        await until(pilot, lambda: "  data" in names(frame))
        await pilot.press("down", "space")
        await until(pilot, lambda: "    old.json" in names(frame))
        rows = frame.body.query_one(RowList)
        text = "\n".join(rows.line_at(at, 42).plain for at in range(len(rows.rows)))
        assert names(frame) == [
            *("docs", "src", "  shop", "    checkout", "    cart.py", "    money.py", "    new.py"),
            *("tests", "  data", "    old.json", "  test_cart.py", "notes.txt"),
        ]
        assert re.search(r"cart.py +76 +\d+[sm] M", text)
        assert re.search(r"new.py +0 +\d+[sm] \?", text)
        assert re.search(r"old.json +– +D", text)
        await pilot.press("home", *["down"] * 4)
        assert cursor(frame) == "src/shop/cart.py"
        await seen(pilot, frame, "python, 7 lines, ~19 tokens", "The cart: what is in it.",
                   "4  Cart", "5    add")  # fmt: skip
        # Walking about is the person's own: the model reads, and pays for, what it did before.
        assert (window.version, runtime_of(window).renders.latest().snapshot.content) == before
        await pilot.press("at")
        assert app_of(pilot).main.prompt.text == "@src/shop/cart.py "
        await pilot.press("enter")
        await until(pilot, lambda: focused_window(pilot) == "editor_1")
        assert runtime_of(window).renders.latest().snapshot.content == before[1]
        rows.focus()
        await until(pilot, lambda: focused_window(pilot) == "files_1")
        await pilot.press("enter")  # it is open already: go there
        await until(pilot, lambda: focused_window(pilot) == "editor_1")
        assert ids(desk) == ["files_1", "editor_1"]
        desk.session.windows.close("files_1")
        desk.session.windows.open("files")
        again = await enter(pilot, "files_2")
        await until(pilot, lambda: "    cart.py" in names(again))  # what was open is open


async def find_files(pilot: "Pilot[int]", frame: WindowFrame, desk: AppSession) -> None:
    rows = frame.body.query_one(RowList)
    frame.focus()
    await until(pilot, lambda: "detail" in lines(pilot)[-1])
    rows.focus()
    await pilot.press("slash", *"cart")
    await until(pilot, lambda: "esc clear filter" in lines(pilot)[-1])
    assert "detail" not in lines(pilot)[-1]  # the window's keys are letters of the filter now
    assert isinstance(pilot.app.focused, FilterInput)
    text = await seen(pilot, frame, "4 of 9 files", "test_cart.py", "docs/", "/ cart")
    assert names(frame) == [
        *("docs", "  cart.md", "src/shop", "  checkout", "    cart_lock.py", "  cart.py"),
        *("tests", "  test_cart.py"),
    ]
    assert rows.has_focus is False
    marked = rows.line_at(5, 40)
    bold = [marked.plain[one.start : one.end] for one in marked.spans if "bold" in str(one)]
    assert "".join(bold) == "cart"
    await pilot.press(".", "p", "y")
    await until(pilot, lambda: cursor(frame) == "src/shop/cart.py")
    await pilot.press("down", "up", "enter")
    await until(pilot, lambda: focused_window(pilot) == "editor_2")
    frame.body.query_one(FilterInput).focus()
    await pilot.press("escape")
    await until(pilot, lambda: rows.has_focus)
    assert names(frame) == ["docs", "  cart.md", "src", "tests", "notes.txt"]
    assert "/ cart" in text
    await pilot.press("slash", *"checkout", "up")
    await until(pilot, lambda: cursor(frame) == "src/shop/checkout")
    await pilot.press("enter")  # a folder is shown where it is
    await until(pilot, lambda: "      cart_lock.py" in names(frame))
    assert cursor(frame) == "src/shop/checkout"
    await pilot.press("escape")
    await until(pilot, lambda: isinstance(pilot.app.focused, WindowFrame))
    desk.session.windows.close("editor_2")
    await until(pilot, lambda: list(pilot.app.query(WindowFrame)) == [frame])


async def test_hidden_files_what_the_model_expands_a_click_and_a_filter_over_the_whole_tree(
    folder: Path, chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    frame, desk = await use_shared(chat, pilot, folder), chat.desk
    await seen(pilot, frame, "notes.txt", "3 changed")
    await pilot.press("H")
    await until(pilot, lambda: {".hidden", "build", ".gitignore"} <= set(names(frame)))
    assert ".git" not in names(frame)
    await pilot.press("H")
    await until(pilot, lambda: names(frame) == ["docs", "src", "tests", "notes.txt"])
    await desk.session.windows.act("files_1", "expand", {"path": "docs"})
    await until(pilot, lambda: "  cart.md" in names(frame))
    await pilot.click(frame.body.query_one(RowList), offset=(6, 4))
    await until(pilot, lambda: "editor_1" in ids(desk))
    assert desk.session.windows.get("editor_1").state.path == "notes.txt"  # type: ignore[union-attr]
    desk.session.windows.close("editor_1")
    await until(pilot, lambda: list(pilot.app.query(WindowFrame)) == [frame])
    await find_files(pilot, frame, desk)


@pytest.mark.long
async def test_bad_input_is_said_in_one_line(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "shut").mkdir(parents=True)
    (work / "empty").mkdir()
    (work / "loop").symlink_to(".")
    os.mkfifo(work / "pipe")
    for name in HOSTILE:
        (work / name).write_text("text\n")
    (work / "gone.txt").write_text("")
    (work / "shut").chmod(0)

    try:
        async with files_in(tmp_path, size=(160, 50)) as (pilot, frame, desk):
            await seen(pilot, frame, "pipe")
            await pilot.press("space")
            await seen(pilot, frame, "This folder is empty.")
            await pilot.press("down", "down", "space")
            if not os.access(work / "shut", os.R_OK):  # root may read everything
                await seen(pilot, frame, 'There is no permission to read "shut". r tries')
            await pilot.press("end")
            for _ in names(frame):
                await pilot.press("up")
                check(pilot)
            at = [row.name for row in frame.body.query_one(RowList).rows].index("loop")
            frame.body.query_one(RowList).choose(at)
            await pilot.press("space")
            await until(pilot, lambda: "  loop" in names(frame))
            await pilot.press("space")
            await until(pilot, lambda: "  loop" not in names(frame))
            (work / "gone.txt").unlink()
            at = [row.name for row in frame.body.query_one(RowList).rows].index("gone.txt")
            frame.body.query_one(RowList).choose(at)
            await pilot.press("enter")
            await seen(pilot, frame, 'There is no "gone.txt"')
            await pilot.press("slash", *"red", "enter")
            await until(pilot, lambda: focused_window(pilot) == "editor_1")
            frame.body.query_one(FilterInput).focus()
            check(pilot)
            opened = desk.session.windows.get("editor_1").state.path  # type: ignore[union-attr]
            assert opened in HOSTILE
            await pilot.press("escape", "at")
            check(pilot)
            await pilot.press("slash", "\x1b", *"qq")
            check(pilot)
    finally:
        (work / "shut").chmod(0o755)


HOSTILE = [
    "[red]markup[b] [@click=app.quit]x",
    "escape\x1b[31m\x1b]0;owned\x07red.txt",
    "<Window id='x'>",
    "new\nline.txt",
    "right\u202eto\u2066left.txt",
    "zero\u200bwidth",
    "c1\x9b31m",
    "a" * 200,
    "把牛奶放进待办" * 5,
]


async def test_what_the_person_has_in_a_window_stays_while_another_is_zoomed(
    folder: Path, chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    """The preview is fitted to another size."""
    about = "The money, in several currencies, with and without taxes, for all of the shop."
    (folder / "src/shop/money.py").write_text(f'"""{about}"""\n')

    def preview(pilot: "Pilot[int]", frame: WindowFrame) -> str:
        rows = region_text(pilot, frame)
        return re.sub(r"\s+", " ", " ".join(" ".join(row.split("│")[2:]) for row in rows))

    frame = await use_shared(chat, pilot, folder)
    await pilot.press("slash", *"cart.py")
    await seen(pilot, frame, "2 of ", "test_cart.py")
    chat.desk.session.windows.open("editor", path="src/shop/cart.py")
    editor = await enter(pilot, "editor_1")
    await pilot.press("enter", "down", "down", "down")
    caret = editor.query_one(TextArea)
    await until(pilot, lambda: caret.cursor_location[0] == 3)
    frame.focus()
    await pilot.press("f3")
    await until(pilot, lambda: not editor.display)
    await pilot.press("f3")
    await until(pilot, lambda: editor.display and editor.region.area)
    assert caret.cursor_location[0] == 3
    await enter(pilot, "editor_1")
    await pilot.press("f3")
    await until(pilot, lambda: not frame.display)
    chat.desk.session.windows.close("editor_1")
    await until(pilot, lambda: frame.display)
    await seen(pilot, frame, "cart.py", "2 of ", "test_cart.py")
    await until(pilot, lambda: list(pilot.app.query(WindowFrame)) == [frame])
    frame.body.query_one(FilterInput).value = "money.py"
    await seen(pilot, frame, "1 of ", "~", "shop.")
    for size in ((130, 40), (200, 60)):
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: about in preview(pilot, frame))

"""A file that was read is sent whole while its turn runs, and as its gist from then on."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest

from contextui import ContextItem, ItemType, Lod, SessionOptions, SessionStore
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel, Step, call
from contextui.agent.tools import FileReader, FileResult
from contextui.context.manager import ContextManager
from contextui.events import CallFinished
from contextui.files.paths import AnyPath
from contextui.files.textfile import Page
from contextui.files.workspace import OpenedText, Workspace
from contextui.session.code.store import CodeStore
from contextui.windowing.finding.registry import discover
from contextui.windowing.manager import WindowManager
from contextui.windowing.window import Window
from tests.agent.talking import Interrupted, controller, of, options, run
from tests.context.conversation import wire
from tests.windowing.samples import Todo

PYTHON = "".join(f"def function_{number}():\n    return {number}\n\n\n" for number in range(50))
GIST = "[file read] src/app.py (python, 200 lines, functions: function_0, function_1, "
UNCHANGED = "Unchanged since it was read above in this turn."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text(PYTHON)
    return tmp_path


def windows_in(folder: Path, *classes: type[Window], **given: Any) -> WindowManager:
    return WindowManager(classes or [Todo], workspace=Workspace(folder), **given)


def talk_in(folder: Path, *steps: Step, lang: Any = "en", **given: Any) -> InteractionController:
    context = ContextManager(windows_in(folder, lang=lang))
    return controller(*steps, context=context, **given)


def read(path: str = "src/app.py", **given: Any) -> Any:
    return call("read_file", path=path, **given)


def given(folder: Path, path: str, start: int = 1, **how: Any) -> FileResult:
    return asyncio.run(FileReader(windows_in(folder, **how)).read(path, start))


def results(talk: InteractionController) -> list[ContextItem]:
    return [item for item in talk.context.get_all() if item.type is ItemType.TOOL]


def sent(talk: InteractionController, number: int) -> str:
    """A request, as the text of its messages."""
    assert isinstance(talk.model, ScriptedModel)
    return wire(talk.model.requests[number].messages).decode()


@pytest.mark.usefixtures("in_place")
def test_a_file_is_sent_whole_in_its_turn_and_as_its_gist_afterwards(folder: Path) -> None:
    talk = talk_in(folder, read(), "It has 50 functions.", "Yes.", "Indeed.")
    for words in ("Read app.py.", "Sure?", "Really?"):
        run(talk, words)
    assert "def function_49" in sent(talk, 1)
    assert GIST not in sent(talk, 1)
    for later in (2, 3):
        assert "def function_49" not in sent(talk, later)
        assert GIST in sent(talk, later)


def test_the_log_keeps_the_whole_text_and_the_gist(folder: Path, tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home", SessionOptions(classes=[Todo]))
    with store.create(folder) as session:
        session.windows.workspace = Workspace(folder)
        talk = controller(read(), "Read.", context=session.context)
        run(talk, "Read app.py.")
        before = wire(session.context.compose().messages)
    lines = [json.loads(line) for line in session.path.read_text("utf-8").splitlines()]
    (result,) = (line for line in lines if line["type"] == "tool_result")
    assert "def function_49" in result["toolResult"]["output"]
    assert result["data"]["gist"].startswith(GIST)
    with store.open(session.id) as again:
        assert wire(again.context.compose().messages) == before
        kept = [item for item in again.context.get_all() if item.type is ItemType.TOOL]
        assert "def function_49" in kept[0].content


@pytest.mark.usefixtures("in_place")
def test_chinese_gists_where_chinese_is_spoken(folder: Path) -> None:
    talk = talk_in(folder, [read(), read()], "好。", "好。", lang="zh")
    run(talk, "读文件")
    run(talk, "继续")
    assert "[文件已读取] src/app.py (python, 200行, 函数: function_0, " in sent(talk, 2)
    assert results(talk)[1].content == "自本轮上文读取以来没有变化。"


@pytest.mark.usefixtures("in_place")
def test_a_model_without_tools_gets_gists_too(folder: Path) -> None:
    asked = '<tool_call>{"name": "read_file", "arguments": {"path": "src/app.py"}}</tool_call>'
    talk = talk_in(folder, asked, asked, "Read.", "Yes.", tool_protocol="text")
    run(talk, "Read app.py.")
    run(talk, "Sure?")
    assert "[read_file] 1 def function_0" in results(talk)[0].content
    assert results(talk)[1].content == f"[read_file] {UNCHANGED}"
    assert "def function_49" not in sent(talk, 3)
    assert GIST in sent(talk, 3)


def test_windows_that_show_the_file_are_not_touched(folder: Path) -> None:
    windows = windows_in(folder, *discover().classes())
    editor = windows.open("editor", path="src/app.py")
    talk = controller(read(), "Read.", "Yes.", context=ContextManager(windows))
    run(talk, "Read app.py.")
    shown = editor.to_xml(Lod.FULL)
    assert "def function_0" in shown
    run(talk, "Sure?")
    assert editor.to_xml(Lod.FULL) == shown
    assert sent(talk, 2).count(json.dumps(shown, ensure_ascii=False)) == 1


def test_results_of_windows_have_no_gist(folder: Path) -> None:
    talk = talk_in(folder, call("create", name="todo"), read("missing"), read("."), "Done.")
    run(talk, "A list, please.")
    assert [item.gist for item in results(talk)] == [None, None, None]


def test_the_same_again_within_a_turn_costs_a_note(folder: Path) -> None:
    talk = talk_in(folder, read(), [read(), read("./src/app.py", start=1)], "Read.")
    events = run(talk, "Read app.py twice.")
    first, second, third = results(talk)
    assert "def function_49" in first.content
    assert (second.content, second.gist, second.is_error) == (UNCHANGED, None, False)
    assert third.content == UNCHANGED
    assert [event.text for event in of(CallFinished, events)][1:] == [UNCHANGED] * 2


def test_in_a_later_turn_the_whole_file_is_given_again(folder: Path) -> None:
    talk = talk_in(folder, read(), "Read.", read(), "Read again.")
    run(talk, "Read app.py.")
    run(talk, "Once more.")
    first, second = results(talk)
    assert first.content == second.content
    assert "def function_49" in sent(talk, 3)


def test_a_changed_file_is_given_again(folder: Path) -> None:
    change = [lambda: None, lambda: (folder / "src" / "app.py").write_text("def other(): ...\n")]
    talk = talk_in(folder, model=Interrupted(read(), read(), "It changed.", before=change))
    run(talk, "Read app.py twice.")
    assert results(talk)[1].content == "1 def other(): ..."
    assert results(talk)[1].gist == "[file read] src/app.py (python, 1 line, functions: other)"


def test_files_of_the_same_text_are_not_taken_for_each_other(folder: Path) -> None:
    (folder / "a.txt").write_text("same\n")
    (folder / "b.txt").write_text("same\n")
    talk = talk_in(folder, [read("a.txt"), read("b.txt")], "Read.")
    run(talk, "Read both.")
    assert [item.content for item in results(talk)] == ["1 same", "1 same"]


def test_where_room_was_made_within_the_turn_the_file_is_given_again(folder: Path) -> None:
    """Its text is no longer before the model, so a note would point to nothing."""
    for name in "abc":
        (folder / f"{name}.txt").write_text(f"{name} 一段很长的文字\n" * 80)
    steps = [read("a.txt"), read("b.txt"), read("c.txt"), read("a.txt"), "Read."]
    talk = talk_in(folder, *steps, options=options(budget=2_900))
    run(talk, "Read all, and a.txt again.")
    first, *_, last = results(talk)
    assert "[file read] a.txt" in sent(talk, 3)
    assert last.content == first.content


class Counted(Workspace):
    """Counts how often a file is read whole, or a page of it."""

    def __init__(self, root: AnyPath) -> None:
        super().__init__(root)
        self.opened: list[AnyPath] = []
        self.pages: list[AnyPath] = []

    def open_text(self, path: AnyPath, *, encoding: str | None = None) -> OpenedText:
        self.opened.append(path)
        return super().open_text(path, encoding=encoding)

    def read_page(self, path: AnyPath, start: int = 1, count: int = 2_000) -> Page:
        self.pages.append(path)
        return super().read_page(path, start, count)


def test_a_file_that_is_unchanged_is_read_once_under_any_name(folder: Path) -> None:
    workspace, file = Counted(folder), folder / "a.txt"
    reader = FileReader(WindowManager([], workspace=workspace))
    for number, text in enumerate(("one", "two"), 1):  # as many bytes
        file.write_text(text)
        os.utime(file, (1_000 * number, 1_000 * number))
        texts = {asyncio.run(reader.read(path)).text for path in ("a.txt", "./a.txt", "@a.txt")}
        assert (texts, len(workspace.pages)) == ({f"1 {text}"}, number)


def test_a_part_says_which_lines_it_has_and_the_gist_is_made_once(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("a,b\n" + "1,2\n" * 4_999)
    workspace = Counted(tmp_path)
    reader = FileReader(WindowManager([], workspace=workspace))
    gists = [asyncio.run(reader.read("long.csv", start)).gist for start in (1, 2_001, 4_001)]
    whole = "[file read] long.csv (CSV, 4999 rows, columns: a, b)"
    assert gists == [f"{whole}, lines {of}" for of in ("1-2000", "2001-4000", "4001-5000")]
    assert workspace.opened == ["long.csv"]
    (tmp_path / "long.csv").write_text("a,c\n1,2\n")
    assert asyncio.run(reader.read("long.csv")).gist == (
        "[file read] long.csv (CSV, 1 row, columns: a, c)"
    )


def test_parts_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("x\n" * 2_001)
    gist = "[文件已读取] long.txt (文本, 2001行, 3.9KB), 第1-2000行"
    assert given(tmp_path, "long.txt", lang="zh").gist == gist


def test_the_gist_of_a_file_too_large_to_load_has_its_size(tmp_path: Path) -> None:
    (tmp_path / "big.log").write_text("line\n" * 3_500_000)
    assert given(tmp_path, "big.log").gist == "[file read] big.log (log, 16.7MB), lines 1-2000"


def test_where_nothing_was_read_there_is_no_gist(folder: Path) -> None:
    (folder / "empty.txt").touch()
    assert given(folder, "empty.txt").gist is None
    assert given(folder, "src/app.py", 999).gist is None


def test_the_gist_of_a_workbook_has_the_header_row(folder: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["date", "amount"])
    book.active.append(["1 May", 3])
    book.save(folder / "sales.xlsx")
    text = "[file read] sales.xlsx (Excel, 1 row, columns: date, amount)"
    assert given(folder, "sales.xlsx").text == text


def test_a_name_may_be_given_as_a_person_gives_it(folder: Path) -> None:
    (folder / "note.txt").write_text("mine\n")
    (folder / "@odd.txt").write_text("odd\n")
    assert "mine" in given(folder, "@note.txt").text
    assert "odd" in given(folder, "@odd.txt").text


class TestCode:
    """R8: `read_file` takes a path or the id of a listed code file."""

    def test_a_code_id_is_read(self, folder: Path) -> None:
        workspace = Workspace(folder)
        CodeStore.of(workspace).save("code_sales", "python", "def load(): ...\n", "Sales")
        talk = talk_in(folder, read("code_sales"), "Done.")
        (finished,) = of(CallFinished, run(talk, "Look at code_sales"))
        assert (finished.ok, finished.text) == (True, "1 def load(): ...")
        assert "code_sales.py (python, 1 line" in str(talk.context.get_all()[-2].gist)

    def test_a_file_of_that_name_comes_first(self, folder: Path) -> None:
        CodeStore.of(Workspace(folder)).save("notes", "python", "x = 1\n")
        (folder / "notes").write_text("the file\n")
        (finished,) = of(CallFinished, run(talk_in(folder, read("notes"), "Done."), "Look"))
        assert "the file" in finished.text

    def test_what_is_neither_is_refused(self, folder: Path) -> None:
        for name in ("code_none", "..", "a/b", "code sales", ""):
            (finished,) = of(CallFinished, run(talk_in(folder, read(name), "Done."), "Look"))
            assert not finished.ok, name
            assert not (folder / ".contextui").exists(), name

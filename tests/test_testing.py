"""Talking to a window in a test: the offline model, the real loop, and the tester's windows."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextui import ActionError, Body, Element, Job, Lod, Window, action
from contextui.agent.models import offline
from contextui.model import ModelRequest
from contextui.testing import WindowTester
from tests import forkserver
from tests.windowing.samples import Counter


class StageWindow(Window):
    """Files of the next commit."""

    description_zh = "下次提交的文件"

    class State(Window.State):
        files: list[str] = []

    state: State

    def content(self, lod: Lod) -> Body:
        return [Element("file", name, id=n) for n, name in enumerate(self.state.files, 1)]

    @action("Add a file", zh="添加文件", says=["stage {file}", "take {file} along", "暂存 {file}"])
    def add(self, file: str) -> str:
        if file in self.state.files:
            raise ActionError(f"{file} is there already.")
        self.state.files.append(file)
        return f"Added {file}."

    @action("Write the list into a file", "write", says=["note it all in {path}"])
    def export(self, path: str) -> str:
        text = "\n".join(self.state.files)
        self.env.workspace.save(path, text.encode(), expected=None)
        return f"Wrote {path}."

    @action("Open a counter", says=["count along"])
    def count(self) -> str:
        return f"Opened {self.env.open('counter').id}."


def test_a_sentence_becomes_a_call() -> None:
    with WindowTester(StageWindow) as stage:
        reply = stage.say("stage a.py")
        assert reply.calls == ("stage_1.add file=a.py",)
        assert reply.ok == (True,)
        assert reply.text == "Added a.py."
        assert stage.window.state.files == ["a.py"]


def test_a_reply_about_a_job_is_all_about_it() -> None:
    class Oven(Window):
        """Bakes bread."""

        def content(self, lod: Lod) -> Body:
            return ""

        @action("Bake", says=["bake for {seconds} seconds"])
        def bake(self, seconds: float, wait: float = 0) -> Job:
            async def work(_: Job) -> str:
                await asyncio.sleep(seconds)
                return "The bread is ready."

            return self.env.job("bake", work, wait=wait)

    with WindowTester(Oven) as oven:
        reply = oven.say("bake for 300 seconds")
        assert reply.ok == (True,)
        assert reply.text.startswith("bake goes on as job 1.")
        assert len(reply.text.splitlines()) == 1


def test_a_call_that_fails_is_reported_as_failed() -> None:
    with WindowTester(StageWindow) as stage:
        stage.act("add", file="a.py")
        reply = stage.say("stage a.py")
        assert reply.calls[0] == "stage_1.add file=a.py"
        assert not any(reply.ok)
        assert "a.py is there already" in reply.text


def test_what_is_not_understood_makes_no_call() -> None:
    with WindowTester(StageWindow) as stage:
        reply = stage.say("fly me to the moon")
        assert (reply.calls, reply.ok) == ((), ())
        assert reply.text


def test_later_sentences_remember_earlier_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "explain", _said, raising=False)
    with WindowTester(StageWindow) as stage:
        stage.say("stage a.py")
        stage.say("stage b.py")
        said = stage.why()
        assert said.index("stage a.py") < said.index("stage b.py")


def test_approval_is_given_and_files_are_those_of_the_folder(tmp_path: Path) -> None:
    with WindowTester(StageWindow, folder=tmp_path) as stage:
        stage.say("stage a.py")
        assert stage.say("note it all in list.txt").ok == (True,)
    assert (tmp_path / "list.txt").read_text("utf-8") == "a.py"


# --- languages ---------------------------------------------------------------------------


def test_another_language_is_that_of_the_windows_too() -> None:
    with WindowTester(StageWindow, classes=(Counter,)) as stage:
        stage.say("stage a.py")
        stage.say("count along")
        assert stage.say("暂存 b.py", lang="zh").calls == ("stage_1.add file=b.py",)
        assert stage.window.state.files == ["a.py", "b.py"]
        assert "下次提交的文件" in stage.xml()
        assert "添加文件" in stage.xml()
        assert [one.id for one in stage.windows.windows()] == ["stage_1", "counter_1"]
        assert stage.say("take c.py along").calls == ("stage_1.add file=c.py",)
        assert stage.window.env.lang == "zh"
        stage.say("stage d.py", lang="en")
        assert "Add a file" in stage.xml()


def test_ids_of_closed_windows_are_not_used_again_in_another_language() -> None:
    with WindowTester(StageWindow, classes=(Counter,)) as stage:
        stage.say("count along")
        stage.windows.close("counter_1")
        stage.switch_language("zh")
        assert stage.act("count") == "Opened counter_2."


def test_a_restored_tester_has_a_conversation_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "explain", _said, raising=False)
    with WindowTester(StageWindow) as stage:
        stage.say("stage a.py")
        with stage.restored() as later:
            assert later.say("stage b.py").ok == (True,)
            assert "stage a.py" not in later.why()
        assert stage.window.state.files == ["a.py"]


# --- explanations ------------------------------------------------------------------------


def _said(request: ModelRequest) -> str:
    """What the person said in a request, in place of the real explanation."""
    texts = [str(one.get("text", "")) for one in request.blocks()]
    return "\n".join(one for one in texts if one and not one.startswith("<"))


def test_the_first_request_of_a_sentence_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[ModelRequest]()

    def explain(request: ModelRequest) -> str:
        seen.append(request)
        return "because"

    monkeypatch.setattr(offline, "explain", explain, raising=False)
    with WindowTester(StageWindow) as stage:
        with pytest.raises(AssertionError, match="call say first"):
            stage.why()
        stage.say("stage a.py")
        assert stage.why() == "because"
        [request] = seen
        assert request.says["stage.add"][0] == "stage {file}"
        assert request.messages[-1].role == "user"
        assert _said(request).endswith("stage a.py")  # no result yet
        stage.say("stage b.py")
        stage.why()
        assert _said(seen[-1]).endswith("stage b.py")


def test_tests_that_say_nothing_do_not_load_the_agent() -> None:
    script = "import contextui.testing, sys; print('contextui.agent' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


TESTS = """
def test_one() -> None: ...
def test_two() -> None: ...
def test_three() -> None: ...
"""


def run_file(folder: Path, *words: str) -> tuple[int, str]:
    (folder / "test_it.py").write_text(TESTS)
    done = forkserver.run(
        [sys.executable, "-P", "-m", "contextui.testing", *words],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_options_of_pytest_are_passed_on(tmp_path: Path) -> None:
    for words, passed in (
        (["test_it.py", "-k", "two"], "1 passed, 2 deselected"),
        (["-k", "two or three", "test_it.py", "-q"], "2 passed, 1 deselected"),
        (["-ktwo", "test_it.py"], "1 passed, 2 deselected"),
        (["test_it.py", "--maxfail", "1", "--tb", "short", "-x"], "3 passed"),
        (["--verbose", "test_it.py"], "3 passed"),
    ):
        status, shown = run_file(tmp_path, *words)
        assert (status, passed in shown) == (0, True), shown


@pytest.mark.parametrize("before", [[], ["-q"], ["-x"], ["-k", "two"], ["--verbose"]])
def test_what_is_no_file_and_no_value_runs_nothing(tmp_path: Path, before: list[str]) -> None:
    """A folder must not become an argument of pytest, which would run all that is in it."""
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "test_other.py").write_text("open('ran', 'w').close()")
    status, shown = run_file(tmp_path, "test_it.py", *before, "others")
    assert status != 0, shown
    assert not (tmp_path / "ran").exists()
    assert "passed" not in shown

"""The test runner: the question before it runs, real runs of pytest, and what is left of them."""

import os
import shlex
import sys
import threading
import time
from pathlib import Path

import pytest

from asking import call
from contextui import Lod
from contextui.events import Event, JobsChanged
from contextui.testing import WindowTester
from contextui.windows.editor.window import EditorWindow
from contextui_examples.report import Report
from contextui_examples.test_runner import RunnerWindow

TESTS = """
import pytest

def helper():
    raise ValueError("from the helper")

def test_good(): pass

def test_bad():
    assert 1 == 2, "numbers \\x1b[31mdiffer"

def test_deep():
    helper()

@pytest.mark.parametrize("n", [1, 2])
def test_many(n): pass

@pytest.fixture
def broken():
    raise RuntimeError("no fixture")

def test_fixture(broken): pass

@pytest.mark.skip(reason="x")
def test_skipped(): pass
"""
ALONE = "-p no:cacheprovider -p no:hypothesispytest"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_some.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    return tmp_path


def opened(folder: Path) -> WindowTester[RunnerWindow]:
    return WindowTester(RunnerWindow, folder=folder, classes=(EditorWindow,))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or " Z " not in stat.read_text("utf-8")


def wait_until_gone(pid: int) -> None:
    end = time.monotonic() + 60
    while is_alive(pid):
        assert time.monotonic() < end
        time.sleep(0.02)


def pids(folder: Path) -> list[int]:
    """The processes that a program wrote down, once it has."""
    while not (folder / "pids").exists() or not (folder / "pids").read_text("utf-8"):
        time.sleep(0.02)
    return [int(pid) for pid in (folder / "pids").read_text("utf-8").split()]


def test_it_asks_with_the_exact_command_and_folder(folder: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -c 'open(\"ran\", \"w\")' ';' rm x"
    with opened(folder) as runner:
        result, asked = call(runner, "run", command=command)
        assert not result.ok
        assert not (folder / "ran").exists()
        (question,) = asked
        assert question.preview is not None
        assert shlex.split(question.preview.target) == shlex.split(command)
        assert question.preview.verb == "run"
        assert str(folder) in question.preview.text
        result, asked = call(runner, "run", args="tests -k good")
        assert asked[0].preview is not None
        assert asked[0].preview.target.endswith("-m pytest -v --tb=short --color=no tests -k good")


@pytest.mark.parametrize(
    "command", ["echo 'open", "echo 'a\nb'", "\x1b[2J", "no-such-command-here"]
)
def test_what_cannot_run_or_be_shown_does_not_run(folder: Path, command: str) -> None:
    with opened(folder) as runner:
        result, _ = call(runner, "run", "once", command=command)
        assert not result.ok


def test_no_shell_is_involved(folder: Path) -> None:
    with opened(folder) as runner:
        runner.act("run", command="echo $(touch a) `touch b` ; touch c > d")
        assert "$(touch a) `touch b` ; touch c > d" in runner.content()
    assert sorted(path.name for path in folder.iterdir()) == ["pytest.ini", "tests"]


def test_a_run_with_failures_that_open_the_editor(folder: Path) -> None:
    with opened(folder) as runner:
        assert runner.content() == "No tests have run yet."
        said = runner.act("run", args=ALONE)
        assert said.startswith("2 failed, 3 passed, 1 skipped, 1 error in ")
        assert runner.content(Lod.GIST) == said
        found = [(one.name, one.path, one.line) for one in runner.window.state.failures]
        assert found == [
            ("test_fixture", "tests/test_some.py", 20),
            ("test_bad", "tests/test_some.py", 10),
            ("test_deep", "tests/test_some.py", 5),
        ]
        assert "ValueError: from the helper" in runner.content(Lod.SUMMARY)
        assert "\x1b" not in runner.window.state.model_dump_json()
        assert runner.act("failure-2") == "Opened tests/test_some.py in editor_1."
        editor = runner.windows.get("editor_1")
        assert isinstance(editor, EditorWindow)
        assert "assert 1 == 2" in editor.snapshot(Lod.FULL).content
        assert runner.refused("show", failure=9) == "There is no such failure."
        assert runner.restored().content() == runner.content()


def test_progress_is_live(folder: Path) -> None:
    slow = "import time\nimport pytest\n@pytest.mark.parametrize('n', range(6))\n" \
           "def test_it(n): time.sleep(0.15); assert n != 2\n"  # fmt: skip
    (folder / "tests" / "test_some.py").write_text(slow, "utf-8")
    seen = list[tuple[float | None, float | None, str]]()

    def note(event: Event) -> None:
        if isinstance(event, JobsChanged):
            seen.extend((job.done, job.total, job.text) for job in event.running)

    with opened(folder) as runner:
        runner.windows.subscribe(note)
        runner.act("run", args=f"{ALONE} -k 'not 5'")
    assert {total for _, total, _ in seen if total} == {5}
    assert len({done for done, total, _ in seen if total}) > 2
    assert max(done or 0 for done, _, _ in seen) <= 5
    assert {text for _, _, text in seen} <= {"", "0 failed", "1 failed"}


def test_progress_counts_tests() -> None:
    report = Report()
    lines = ["collecting ... collected 4 items", "", "test_a.py::test_one PASSED     [ 25%]",
             "test_a.py::test_two[a b] FAILED  [ 50%]", "[gw0] [ 75%] PASSED test_a.py::test_x",
             "test_a.py::test_four SKIPPED (why) [100%]"]  # fmt: skip
    for line in lines:
        report.read(line)
    assert (report.total, report.done, report.failed) == (4, 4, 1)


def test_cancelling_ends_the_processes(folder: Path) -> None:
    code = "import os, subprocess, time; child = subprocess.Popen(['sleep', '60']);" \
           "open('pids', 'w').write(f'{os.getpid()} {child.pid}'); time.sleep(60)"  # fmt: skip
    with opened(folder) as runner:

        def stop() -> None:
            pids(folder)
            assert not runner.result("run", command="true").ok  # one at a time
            runner.act("cancel")

        stopping = threading.Thread(target=stop)
        stopping.start()
        result = runner.result("run", command=shlex.join([sys.executable, "-c", code]))
        stopping.join()
        assert "was cancelled" in result.text
        for pid in pids(folder):
            wait_until_gone(pid)
        assert runner.act("run", command="true") == "exit 0"


def test_closing_ends_the_processes(folder: Path) -> None:
    code = "import os, time; open('pids', 'w').write(str(os.getpid())); time.sleep(60)"
    with opened(folder) as runner:
        starting = threading.Thread(
            target=runner.result,
            args=("run",),
            kwargs={"command": shlex.join([sys.executable, "-c", code])},
        )
        starting.start()
        pids(folder)
        runner.windows.close(runner.window.id)
        starting.join()
    wait_until_gone(*pids(folder))


def test_secrets_of_the_environment_do_not_reach_the_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "xyzzy-123456789")
    monkeypatch.setenv("PLAIN", "fine")
    with opened(folder) as runner:
        runner.act("run", command="env")
        assert "PLAIN=fine" in runner.content()
        assert "SOME_API_KEY" not in runner.content()
        (folder / "leaked").write_text("key xyzzy-123456789", "utf-8")
        runner.act("run", command="cat leaked")
        assert runner.window.state.tail == ["key ***"]


def test_a_run_that_takes_too_long_is_stopped(folder: Path) -> None:
    with opened(folder) as runner:
        assert runner.act("run", command="sleep 60", seconds=1) == "Stopped after 1 s"


def test_endless_output_stays_small(folder: Path) -> None:
    code = "import sys\nsys.stdout.write('y' * 3_000_000 + '\\n')\nfor n in range(9_000): print(n)"
    with opened(folder) as runner:
        assert runner.act("run", command=shlex.join([sys.executable, "-c", code])) == "exit 0"
        assert len(runner.window.state.tail) == 40
        assert runner.window.state.tail[-1] == "8999"
        assert len(runner.window.state.model_dump_json()) < 20_000


def test_in_chinese(folder: Path) -> None:
    with WindowTester(RunnerWindow, folder=folder, lang="zh") as runner:
        assert runner.content() == "还没有运行测试。"
        assert "time limit" in runner.act("describe", action_id="run")

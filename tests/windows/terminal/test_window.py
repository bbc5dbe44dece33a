"""The terminal as a window: commands, output, jobs, approval, and its end."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextui import (
    ApprovalGate,
    Lod,
    SessionOptions,
    SessionStore,
    WindowManager,
    Workspace,
    secrets,
)
from contextui.agent import Decision, Question
from contextui.config.credentials import Credentials
from contextui.events import JobsChanged
from contextui.reaper import processes
from contextui.session.session import Session
from contextui.testing import WindowTester
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import ContextVersion
from contextui.windows.terminal import spool, window
from contextui.windows.terminal.record import Ran
from contextui.windows.terminal.window import TerminalWindow

Tester = WindowTester[TerminalWindow]
Patch = pytest.MonkeyPatch

LONG = 30.0


@pytest.fixture(autouse=True)
def plain_shell(monkeypatch: Patch, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def terminal(folder: Path) -> Iterator[Tester]:
    with WindowTester(TerminalWindow, folder=folder) as tester:
        yield tester


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.02)


def state(terminal: Tester) -> TerminalWindow.State:
    return terminal.window.state


def test_a_command_gives_its_status_and_output(terminal: Tester) -> None:
    said = terminal.act(
        "run", command="echo one; echo two >&2; exit_with() { return 3; }; exit_with"
    )
    head, *output = said.splitlines()
    assert head.startswith("[1] exit 3, ")
    assert output == ["one", "two"]
    until(lambda: state(terminal).ran)
    assert "[1] $ echo one" in terminal.content()
    assert "exit 3" in terminal.content(Lod.GIST)


def test_a_long_command_goes_on_and_can_be_cancelled(terminal: Tester, monkeypatch: Patch) -> None:
    said = terminal.act("run", command="echo begun; sleep 300", seconds=0.2)
    assert "goes on as job" in said
    until(lambda: "begun" in terminal.content())
    assert "<Job id=" in terminal.xml()
    with monkeypatch.context() as patch:
        patch.setattr("contextui.windows.terminal.shell._SETTLED", 0.0)  # it will not end
        second = terminal.result("run", command="echo no")  # only one runs at a time
    assert (second.ok, '"echo begun; sleep 300" is running' in second.text) == (False, True)
    terminal.act("cancel")
    until(lambda: state(terminal).ran)
    assert [one.status for one in state(terminal).ran] == [130]
    assert terminal.act("run", command="echo again").endswith("again")


def test_keys_of_providers_are_not_in_its_environment(folder: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setattr(secrets, "_entered", set())  # the stored one is forgotten after the test
    monkeypatch.setattr(secrets, "_own", ({}, {}))
    Credentials(folder / "home").put("openai", "sk-secret-stored")
    with WindowTester(TerminalWindow, folder=folder) as terminal:
        assert "sk-secret" not in terminal.act("run", command="env; echo $ANTHROPIC_API_KEY")
        terminal.act("run", command="env > public; ps axww -o args >> public")
        assert "sk-secret" not in (folder / "public").read_text("utf-8")
        preview = terminal.preview("run", command="env")
        assert not isinstance(preview, str)
        assert preview is not None
        assert preview.command is not None
        assert preview.command.dropped == ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")


def test_a_shell_that_ends_says_so_and_can_be_started_again(terminal: Tester) -> None:
    terminal.act("run", command="exit 4", seconds=5)
    until(lambda: state(terminal).ended)
    assert "The shell ended." in terminal.content()
    assert "restart" in terminal.refused("run", command="echo x")
    terminal.act("restart")
    assert terminal.act("run", command="echo back").endswith("back")


def test_what_ran_is_kept_and_the_shell_starts_again(terminal: Tester) -> None:
    terminal.act("run", command="echo before")
    until(lambda: state(terminal).ran)
    with terminal.restored() as again:
        assert "before" in again.content()
        shell = state(again).shell
        assert shell is not None
        screen = [line.rstrip() for line in shell.emulator.text().splitlines()]
        assert screen[:2] == ["$ echo before", "before"]  # the person sees it again, too
        said = again.act("run", command="echo after")
        assert said.startswith("[2] exit 0")


def test_a_folder_that_vanished_is_reported(terminal: Tester, folder: Path) -> None:
    terminal.act("run", command=f"mkdir {folder}/gone && cd {folder}/gone")
    until(lambda: state(terminal).folder.endswith("gone"))
    (folder / "gone").rmdir()
    with terminal.restored() as again:
        assert "no longer exists" in again.content()


def left(session: int) -> list[int]:
    return [pid for pid, its, _ in processes() if its == session]


def test_nothing_is_left_when_it_closes(folder: Path) -> None:
    terminal = WindowTester(TerminalWindow, folder=folder)
    terminal.act("run", command="(sleep 300 &) ; sleep 300 & sleep 300", seconds=0.3)
    shell = state(terminal).shell
    assert shell is not None
    spool = Path(state(terminal).spool)
    until(lambda: len(left(shell.pid)) >= 4)
    terminal.close()
    until(lambda: not left(shell.pid))
    until(lambda: not spool.exists())


def test_a_busy_terminal_reports_its_progress_once_a_beat(
    terminal: Tester, monkeypatch: Patch
) -> None:
    texts = set[str]()
    terminal.windows.subscribe(
        lambda event: (
            texts.update(one.text for one in event.running if one.text)
            if isinstance(event, JobsChanged)
            else None
        )
    )
    shell = state(terminal).shell
    assert shell is not None
    command = "while sleep 0.01; do echo $((number++)); done"
    for beat in (600.0, 0.01):  # much longer and much shorter than this test
        monkeypatch.setattr(window, "_BEAT", beat)
        texts.clear()
        terminal.act("run", command=command, seconds=0)
        until(lambda: shell.running and shell.running.transcript.lines > 20)
        if beat < 1:
            until(lambda: len(texts) > 2)
        assert (len(texts) <= 1) == (beat > 1)
        terminal.act("cancel")
        until(lambda: shell.at_prompt and not runtime_of(terminal.window).jobs.running())


# --- whole output in a session -----------------------------------------------------------


def act(session: Session, action: str, **params: Any) -> str:
    result = asyncio.run(session.windows.act("terminal_1", action, params))
    return result.text


def in_session(folder: Path, test: Callable[[Session], None], session_id: str = "") -> str:
    """Run a test in a session with a terminal; return the session's id."""
    store = SessionStore(folder / "sessions", SessionOptions(classes=[TerminalWindow]))
    with store.open(session_id) if session_id else store.create(folder) as session:
        if not session_id:
            session.windows.open("terminal")
        asyncio.run(session.windows.await_opening(LONG))
        test(session)
        terminal = session.windows.get("terminal_1")
        if isinstance(terminal, TerminalWindow):
            last = terminal.state
            until(lambda: last.shell is None or len(last.shell.commands) <= len(last.ran))
        return session.id


def data_of(session: Session) -> Path:
    return session.path.with_suffix("") / "terminal_1"


def test_output_can_be_read_by_page_after_resume(folder: Path) -> None:
    def first(session: Session) -> None:
        said = act(session, "run", command="seq 1 5000")
        assert "lines left out: page(command=1)" in said
        assert len(said.splitlines()) < 250
        act(session, "run", command="seq 1 50000")
        act(session, "run", command="echo short")

    def second(session: Session) -> None:
        assert act(session, "page", command=1, start=2_500, lines=1) == "2500: 2500"
        assert act(session, "page", command=2, start=49_999, lines=9).endswith("50000: 50000")
        assert act(session, "find", command=2, text="43210") == "43210: 43210"
        assert act(session, "page", command=3) == "1: short"
        assert len(list(data_of(session).iterdir())) == 2  # the record has all of the third
        for one in (data_of(session), *data_of(session).iterdir()):
            assert one.stat().st_mode & 0o077 == 0
        act(session, "run", command="seq 1 400")

    def third(session: Session) -> None:
        assert act(session, "page", command=1, start=5_000) == "5000: 5000"
        assert act(session, "page", command=4, start=300, lines=1) == "300: 300"
        act(session, "close")
        until(lambda: not data_of(session).exists())

    session_id = in_session(folder, first)
    in_session(folder, second, session_id)
    in_session(folder, third, session_id)


def test_kept_output_is_bounded_and_the_oldest_goes_first(folder: Path, monkeypatch: Patch) -> None:
    def first(session: Session) -> None:
        for _ in range(3):
            act(session, "run", command="seq 1 5000")
        (data_of(session) / f"{'0' * 16}-1.out").write_text("of a shell that was killed")

    def second(session: Session) -> None:
        assert "not kept" in act(session, "page", command=1)
        assert act(session, "page", command=3, start=9, lines=1) == "9: 9"
        assert len(list(data_of(session).iterdir())) == 2

    session_id = in_session(folder, first)
    monkeypatch.setattr(spool, "SPOOLED", 60_000)
    in_session(folder, second, session_id)


def test_a_record_never_leads_out_of_its_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    ran = Ran(number=1, text="x", who="model", folder="/", status=0, seconds=0, lines=9, output=[])
    ran.cut, ran.file = 5, "../../secret"
    windows = WindowManager(
        [TerminalWindow], workspace=Workspace(folder), data=tmp_path / "sessions"
    )
    state = {"folder": str(folder), "ran": [ran.model_dump()], "last": 1}
    windows.restore(TerminalWindow, "terminal_1", state, version=ContextVersion(1))
    asyncio.run(windows.await_opening(LONG))
    said = asyncio.run(windows.act("terminal_1", "page", {"command": 1})).text
    assert "not kept" in said
    windows.shut_down()
    assert (tmp_path / "secret").exists()


# --- approval ----------------------------------------------------------------------------


async def asked(
    folder: Path, *commands: str, patterns: tuple[str, ...] = ()
) -> tuple[list[Question], str]:
    """Let a model run commands; return what the person was asked, and the last result."""
    questions = list[Question]()

    async def ask(question: Question) -> Decision:
        questions.append(question)
        return Decision("no")

    windows = WindowManager([TerminalWindow], workspace=Workspace(folder))
    windows.open("terminal")
    await windows.await_opening(LONG)
    allow = ApprovalGate("ask", ask, patterns).allow
    for command in commands:
        result = await windows.act("terminal_1", "run", {"command": command}, allow=allow)
    await asyncio.to_thread(windows.shut_down)
    return questions, result.text


async def test_a_command_asks_with_the_whole_command_and_the_folder(folder: Path) -> None:
    [question], said = await asked(folder, "echo one &&\n  echo two")
    assert question.preview is not None
    assert question.preview.command is not None
    assert question.preview.command.line == "echo one &&\n  echo two"
    assert question.preview.command.folder == str(folder)
    assert "declined" in said


async def test_a_pattern_allows_the_program_and_no_alias_of_that_name(
    folder: Path, tmp_path: Path
) -> None:
    trap = tmp_path / "trap"
    bashrc = tmp_path / "home" / ".bashrc"
    bashrc.write_text(f"uname() {{ touch {trap}; }}\nalias uname='touch {trap}; echo'\n")
    questions, said = await asked(folder, "uname -s", patterns=("uname *",))
    assert questions == []
    assert os.uname().sysname in said
    assert not trap.exists()

"""Git in the terminal: a pattern does not cover the programs that a repository names (H04).

Each attack is run twice in a real shell: refused, it leaves no mark; allowed, it does, so that no
attack is harmless by mistake.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from contextui import ApprovalGate, WindowManager, Workspace
from contextui.agent import Decision, Question
from contextui.agent.approval import Choice
from contextui.windowing.finding.trust import TrustStore
from contextui.windowing.transaction import Allow, Intent
from contextui.windows.terminal.shell import Shell
from contextui.windows.terminal.window import TerminalWindow
from tests.windows.git.conftest import run, use_home
from tests.windows.git.test_attacks import Plant, config, hook
from tests.windows.terminal.test_window import LONG

PATTERNS = ("git status", "git log *", "git diff *", "git commit *", "git checkout *", "git st")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_home(monkeypatch, tmp_path / "home")
    monkeypatch.setenv("SHELL", "/bin/bash")
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a commit and a change."""
    made = tmp_path / "work"
    made.mkdir()
    run(made, "init", "--quiet")
    (made / "a.txt").write_text("a\n")
    run(made, "add", "--all")
    run(made, "commit", "--quiet", "-m", "Begin")
    (made / "a.txt").write_text("b\n")
    return made


class Desk:
    """A terminal in a folder, a model that runs commands there, and a person who answers."""

    def __init__(self, folder: Path, *answers: Choice, patterns: Iterable[str] = PATTERNS) -> None:
        self.questions = list[Question]()
        self._answers = list(answers)
        self.windows = WindowManager([TerminalWindow], workspace=Workspace(folder))
        self.gate = ApprovalGate("ask", self._answer, patterns)

    async def _answer(self, question: Question) -> Decision:
        self.questions.append(question)
        return Decision(self._answers.pop(0))

    async def run(self, command: str, allow: Allow | None = None) -> str:
        given = {"command": command, "seconds": LONG}
        asked = allow or self.gate.allow
        return (await self.windows.act("terminal_1", "run", given, allow=asked)).text

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        self.windows.open("terminal")
        await self.windows.await_opening(LONG)
        try:
            yield
        finally:
            await asyncio.to_thread(self.windows.shut_down)

    @property
    def programs(self) -> list[list[str]]:
        """What each question named."""
        previews = [one.preview for one in self.questions]
        commands = [one.command for one in previews if one is not None]
        return [[found.text for found in one.programs] for one in commands if one is not None]


async def use(desk: Desk, *commands: str) -> list[str]:
    """Let the model run commands, one after the other."""
    async with desk.opened():
        return [await desk.run(one) for one in commands]


def stale_index(folder: Path, command: str) -> None:
    """A hook of the index, which the next command writes: the time of a file has changed."""
    (folder / "b.txt").write_text("b\n")
    run(folder, "add", "b.txt")
    hook("post-index-change")(folder, command)
    os.utime(folder / "b.txt", (1, 1))


def submodule(folder: Path, command: str) -> None:
    inner = folder / "inner"
    inner.mkdir()
    run(inner, "init", "--quiet")
    run(inner, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    run(folder, "add", "inner")
    run(inner, "config", "core.fsmonitor", command)


# Of each kind one: `tests/git/test_inspection.py` has all.
ATTACKS: dict[str, tuple[Plant, str, str]] = {
    "fsmonitor": (config("core.fsmonitor"), "git status", "core.fsmonitor = touch"),
    "hook": (hook("pre-commit"), "git commit --allow-empty -m x", "the hook pre-commit"),
    "hook of the index": (stale_index, "git status", "the hook post-index-change"),
    "submodule": (submodule, "git status", "core.fsmonitor = touch"),
    "alias": (config("alias.st", "!{}"), "git st", "alias.st = !touch"),
}


@pytest.mark.parametrize("name", ATTACKS)
async def test_a_pattern_does_not_cover_a_program_of_the_repository(
    name: str, folder: Path, tmp_path: Path
) -> None:
    plant, command, shown = ATTACKS[name]
    mark = tmp_path / "mark"
    plant(folder, f"touch {mark}")
    mark.unlink(missing_ok=True)
    desk = Desk(folder, "no", "once")
    async with desk.opened():
        refused = await desk.run(command)
        assert not mark.exists()
        assert "declined" in refused
        await desk.run(command)
        assert mark.exists()
    assert len(desk.questions) == 2
    assert any(one.startswith(shown) for one in desk.programs[0])


def test_a_repository_that_names_no_program_does_not_ask(folder: Path) -> None:
    desk = Desk(folder)
    said = asyncio.run(use(desk, "git status", "git log --oneline", "git commit -am x"))
    assert desk.questions == []
    assert "modified:" in said[0]
    assert "Begin" in said[1]
    assert run(folder, "log", "-1", "--format=%s") == "x\n"


def test_trust_in_the_windows_of_a_folder_says_nothing_about_its_repository(
    folder: Path, tmp_path: Path
) -> None:
    """What is trusted is the code that was shown: git's config was not."""
    (folder / ".contextui/windows").mkdir(parents=True)
    (folder / ".contextui/windows/x.py").write_text("x = 1\n")
    assert TrustStore(tmp_path / "store").trust(folder / ".contextui/windows").trusted
    run(folder, "config", "core.fsmonitor", f"touch {tmp_path}/mark")
    desk = Desk(folder, "no")
    asyncio.run(use(desk, "git status"))
    assert len(desk.questions) == 1
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("choice", ["always", "pattern"])
async def test_what_a_person_allows_holds_while_the_programs_are_the_same(
    folder: Path, choice: Choice
) -> None:
    hook("pre-commit")(folder, "true")
    desk = Desk(folder, choice, "no")
    async with desk.opened():
        for _ in range(2):
            await desk.run("git commit --allow-empty -m x")
        assert len(desk.questions) == 1
        hook("commit-msg")(folder, "true")
        await desk.run("git commit --allow-empty -m x")
    assert len(desk.questions) == 2
    assert run(folder, "rev-list", "--count", "HEAD") == "3\n"


async def test_a_program_that_is_named_after_the_decision_is_not_started(
    folder: Path, tmp_path: Path
) -> None:
    """The command is compared once more before it runs, with what git may start."""
    desk = Desk(folder, "no")

    async def allow(intent: Intent) -> object:
        permit = await desk.gate.allow(intent)
        run(folder, "config", "core.fsmonitor", f"touch {tmp_path}/mark")
        return permit

    async with desk.opened():
        said = await desk.run("git status", allow)  # type: ignore[arg-type]
    assert "declined" in said
    assert [one.changed for one in desk.questions] == [True]
    assert not (tmp_path / "mark").exists()


async def test_a_shell_that_goes_elsewhere_before_the_command_runs_does_not_run_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that was asked about, and inspected, is the one in which it runs."""
    other = tmp_path / "other"
    other.mkdir()
    run(other, "init", "--quiet")
    run(other, "config", "core.fsmonitor", f"touch {tmp_path}/mark")
    os.mkfifo(tmp_path / "go")
    desk = Desk(folder, "once")
    settle = Shell.settle

    async def go_on(shell: Shell) -> None:
        if shell.running is not None:
            (tmp_path / "go").write_text("x\n")  # the first command goes on, after the decision
        await settle(shell)

    monkeypatch.setattr(Shell, "settle", go_on)
    async with desk.opened():
        given = {"command": f"read x < {tmp_path}/go; cd {other}", "seconds": 0}
        await desk.windows.act("terminal_1", "run", given, allow=desk.gate.allow)
        said = await desk.run("git status")
    assert not (tmp_path / "mark").exists()
    assert "went to another folder" in said or "is busy" in said
    assert len(desk.questions) == 1  # about the first command


@pytest.mark.parametrize("name", ["evil\x01", "evil?"])
def test_a_folder_that_cannot_be_reported_asks(folder: Path, tmp_path: Path, name: str) -> None:
    """A shell reports control characters as question marks: that may be another folder."""
    for one in ("evil\x01", "evil?"):
        (folder / one).mkdir()
        run(folder / one, "init", "--quiet")
    run(folder / "evil\x01", "config", "core.fsmonitor", f"touch {tmp_path}/mark")
    desk = Desk(folder, "once", "no")
    asyncio.run(use(desk, f"cd {name.replace(chr(1), '*')}", "git status"))
    assert len(desk.questions) == 2
    assert not (tmp_path / "mark").exists()


def test_a_shell_that_does_not_report_its_folder_any_more_asks(
    folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run(other, "init", "--quiet")
    run(other, "config", "core.fsmonitor", f"touch {tmp_path}/mark")
    desk = Desk(folder, "once", "no")
    asyncio.run(use(desk, f"unset PROMPT_COMMAND; cd {other}", "git status"))
    assert len(desk.questions) == 2
    assert not (tmp_path / "mark").exists()


def test_a_variable_that_leads_git_elsewhere_asks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(folder / ".git"))
    desk = Desk(folder, "no")
    asyncio.run(use(desk, "git status"))
    assert desk.programs == [[f"GIT_DIR leads git to {folder}/.git"]]


def test_with_nobody_to_ask_the_kinds_of_programs_are_named_and_no_values(folder: Path) -> None:
    run(folder, "config", "core.pager", "echo secret-token")
    hook("post-index-change")(folder, "true")
    desk = Desk(folder)
    desk.gate.ask = None
    [said] = asyncio.run(use(desk, "git status"))
    assert "(core.pager, hooks)" in said
    assert "--approval auto" in said
    assert "secret-token" not in said

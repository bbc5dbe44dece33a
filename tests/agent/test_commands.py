"""Commands at the approval gate: what runs without asking, and every way around it."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from contextui import Body, Lod, Preview, Window, action
from contextui.agent.approval import ApprovalGate, Decision, NotAllowedError, Question
from contextui.errors import ActionError
from contextui.shell import NotSimpleError
from contextui.windowing.action import ActionResult
from contextui.windowing.preview import CommandPreview
from contextui.windowing.transaction import Intent, Permit
from contextui.words import Lang
from tests.agent import desk as base
from tests.test_shell import SLIPS

Patch = pytest.MonkeyPatch
ONCE, ALWAYS, PATTERN, NO = map(Decision, ("once", "always", "pattern", "no"))  # type: ignore[arg-type]


class Shell(Window):
    """Runs commands for real, in the folder of its state."""

    name: ClassVar = "shell"

    class State(Window.State):
        folder: str = ""
        ran: list[str] = []

    state: State
    extra: ClassVar[dict[str, Any]] = {}
    text: ClassVar[str] = ""

    def content(self, lod: Lod) -> Body:
        return "\n".join(self.state.ran)

    def opened(self, folder: str) -> None:
        self.state.folder = folder

    @action("Run a command", "write")
    def run(self, command: str, seconds: int = 60) -> str:
        done = subprocess.run(
            ["bash", "--norc", "-c", command], cwd=self.state.folder, capture_output=True,
            text=True, timeout=seconds, check=False,
        )  # fmt: skip
        self.state.ran.append(command)
        if done.returncode:
            raise ActionError(f"exit {done.returncode}: {done.stderr}")
        return f"exit 0: {done.stdout}"

    @action("Go to a folder")
    def go(self, folder: str) -> str:
        self.state.folder = folder
        return folder

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        if action_id != "run":
            return None
        command = CommandPreview(params["command"], self.state.folder, params.get("seconds", 60))
        return Preview(text=self.text, command=replace(command, **self.extra))


class Desk(base.Desk):
    """A desk with a shell."""

    classes = (Shell,)
    otherwise = (NO,)

    def __init__(self, folder: Path, *answers: base.Answer, **given: Any) -> None:
        super().__init__(folder, *answers, **given)
        self.windows.open("shell", folder=str(folder))

    def run(self, command: str, **params: Any) -> ActionResult:
        return self.act("shell_1.run", command=command, **params)

    @property
    def ran(self) -> list[str]:
        window = self.windows.get("shell_1")
        assert isinstance(window, Shell)
        return list(window.state.ran)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: Patch) -> Path:
    """A folder to work in, and programs outside of it that only say how they were run."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "pytest", "ls", "cat", "rm", "env", "sh"):
        (tools / name).write_text(f'#!/bin/bash\necho {name} "$@"\n')
        (tools / name).chmod(0o755)
    bash = shutil.which("bash")
    assert bash is not None
    (tools / "bash").symlink_to(bash)
    monkeypatch.setenv("PATH", str(tools))
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    return work


Make = Callable[..., Desk]


@pytest.fixture
def desk(place: Path) -> Iterator[Make]:
    yield from base.desks(Desk, place)


COMMANDS = ("git status", "git log *", "pytest *", "ls tests/*", "cat * x")


def test_a_command_of_the_settings_runs_without_asking(desk: Make) -> None:
    one = desk(commands=COMMANDS)
    assert one.run("git status").text == "exit 0: git status\n"
    assert one.run("git log 'a; b'").text == "exit 0: git log a; b\n"
    assert one.questions == []


def test_no_way_around_a_pattern_is_run(desk: Make) -> None:
    one = desk(commands=COMMANDS)
    for command in SLIPS:
        assert not one.run(command).ok, command
    assert one.ran == []
    assert len(one.questions) > 150


def test_a_pattern_holds_in_the_workspace_only(desk: Make, place: Path) -> None:
    one = desk(commands=COMMANDS)
    (place / "out").symlink_to(place.parent)
    (place / "loop").symlink_to(place / "loop")  # leads nowhere
    for folder in (place.parent, place / "out", place / "../other", place / "loop"):
        one.act("shell_1.go", folder=str(folder))
        assert not one.run("git status").ok
    one.act("shell_1.go", folder=str(place / "sub"))
    assert one.run("git status").ok
    assert len(one.questions) == 4


@pytest.mark.parametrize(
    "entry", ["{work}", "{work}/bin", "{tools}/../work/bin", "bin", ".", "", "{link}"]
)
def test_programs_of_the_project_ask(
    desk: Make, place: Path, monkeypatch: Patch, entry: str
) -> None:
    for folder in (place, place / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text("#!/bin/bash\necho owned\n")
        (folder / "git").chmod(0o755)
    tools = os.environ["PATH"]
    link = place.parent / "link"
    link.symlink_to(place / "bin")
    entry = entry.format(work=place, tools=tools, link=link)
    one = desk(commands=COMMANDS)
    monkeypatch.setenv("PATH", f"{entry}:{tools}")
    monkeypatch.chdir(place.parent)
    one.act("shell_1.go", folder=str(place / "sub") if entry == str(place) else str(place))
    assert not one.run("git status").ok
    assert one.questions[0].pattern is None
    why = one.questions[0].no_pattern
    assert why is not None
    assert why.text("en") == "git is not a program outside this folder"


def test_the_search_path_of_the_command_counts(desk: Make, place: Path, monkeypatch: Patch) -> None:
    one = desk(commands=COMMANDS)
    monkeypatch.setattr(Shell, "extra", {"search": f"{place}/bin:{os.environ['PATH']}"})
    assert one.run("git status").ok  # nothing of that name is there
    (place / "bin").mkdir()
    (place / "bin/git").symlink_to(Path(os.environ["PATH"]) / "git")
    assert not one.run("git status").ok


def test_a_command_with_more_to_it_asks(desk: Make, monkeypatch: Patch) -> None:
    one = desk(commands=COMMANDS)
    monkeypatch.setattr(Shell, "text", "Also sends the result to a server.")
    assert not one.run("git status").ok
    assert one.questions[0].pattern is None


def test_in_a_shell_that_may_have_been_changed_no_pattern_holds(
    desk: Make, monkeypatch: Patch
) -> None:
    one = desk(NO, PATTERN, commands=COMMANDS)
    assert one.run("git status").ok
    monkeypatch.setattr(Shell, "extra", {"is_live": True})
    assert not one.run("git status").ok
    why = one.questions[0].no_pattern
    assert why is not None
    assert why.text("en") == "Earlier commands may have changed this shell"
    assert one.run("pytest x").ok  # once: there is no pattern to grant
    assert not one.run("pytest x").ok


def test_what_is_no_pattern_is_refused_at_once() -> None:
    for wrong in ("*", "git status; x", "./x"):
        with pytest.raises(NotSimpleError):
            ApprovalGate(commands=[wrong])


def test_once_is_once(desk: Make) -> None:
    one = desk(ONCE)
    assert one.run("git status; git log").ok
    assert not one.run("git status; git log").ok
    assert len(one.questions) == 2


def test_always_allows_exactly_this_command_in_this_folder(
    desk: Make, place: Path, monkeypatch: Patch
) -> None:
    one = desk(ALWAYS)
    assert one.run("git status; git log").ok
    assert one.run("git status; git log", seconds=5).ok
    for other in ("git status; git log ", "git status;  git log", "git status", "git log"):
        assert not one.run(other).ok
    one.act("shell_1.go", folder=str(place / "sub"))
    assert not one.run("git status; git log").ok
    one.act("shell_1.go", folder=str(place))
    for changed in ({"reach": "sandbox"}, {"dropped": ("KEY",)}, {"search": "/bin"}):
        monkeypatch.setattr(Shell, "extra", changed)
        assert not one.run("git status; git log").ok
    monkeypatch.setattr(Shell, "extra", {})
    assert one.run("git status; git log").ok


def test_a_pattern_comes_from_the_gate_and_holds_for_the_session(desk: Make, place: Path) -> None:
    one = desk(PATTERN)
    assert one.run("git log -p").ok
    offered = one.questions[0].pattern
    assert offered is not None
    assert offered.pattern.text == "git log *"
    assert one.run("git log --oneline").ok
    assert len(one.questions) == 1
    for command in (*offered.asks, "git status", "git log; rm x", "git -c x log", "git  logs"):
        assert not one.run(command).ok, command
    one.act("shell_1.go", folder=str(place / "sub"))
    assert not one.run("git log -p").ok
    assert one.gate._commands == ()
    assert not desk().run("git log -p").ok  # another session


def test_a_pattern_does_not_follow_to_another_program(
    desk: Make, place: Path, monkeypatch: Patch
) -> None:
    one = desk(PATTERN)
    assert one.run("git log").ok
    other = place.parent / "other"
    other.mkdir()
    (other / "git").write_text("#!/bin/bash\n")
    (other / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{other}:{os.environ['PATH']}")
    assert not one.run("git log").ok
    assert len(one.questions) == 2


@pytest.mark.parametrize("command", ["git status && git push", "rm x", "./run", "env git log"])
def test_no_pattern_is_granted_where_none_is_offered(desk: Make, command: str) -> None:
    one = desk(PATTERN, NO)
    one.run(command)
    assert one.questions[0].pattern is None
    assert one.questions[0].no_pattern is not None
    assert not one.run(command).ok
    assert len(one.questions) == 2
    assert not one.gate._pattern_grants


def test_a_folder_that_changes_during_the_question_asks_again(desk: Make, place: Path) -> None:
    async def move(_: Question) -> Decision:
        await one.windows.act("shell_1", "go", {"folder": str(place / "sub")}, actor="person")
        return ONCE

    one = desk(move, NO)
    assert not one.run("git status").ok
    assert [asked.changed for asked in one.questions] == [False, True]
    command = base.preview_of(one.questions[1]).command
    assert command is not None
    assert command.folder == str(place / "sub")
    assert one.ran == []


def test_a_command_that_a_pattern_allows_is_compared_again_before_it_runs(
    desk: Make, place: Path
) -> None:
    one = desk(NO, commands=COMMANDS)

    async def allow(intent: Intent) -> Permit | ActionResult | None:
        permit = await one.gate.allow(intent)
        if intent.changed:
            return permit
        await one.windows.act("shell_1", "go", {"folder": str(place.parent)}, actor="person")
        return permit

    run = one.windows.act("shell_1", "run", {"command": "git status"}, allow=allow)
    assert not asyncio.run(run).ok
    assert one.ran == []
    assert [asked.changed for asked in one.questions] == [True]


def test_an_edited_command_runs_in_place_of_the_models(desk: Make) -> None:
    one = desk(Decision("once", edited="git log 'a b'"))
    done = one.run("git status; rm x", seconds=5)
    assert done.ok
    assert one.ran == ["git log 'a b'"]
    assert done.text == ("The person edited the command to: git log 'a b'\nexit 0: git log a b\n")
    assert not one.run("git log 'a b'").ok  # nothing was granted


def test_the_model_reads_of_an_edit_that_fails(desk: Make) -> None:
    one = desk(Decision("once", edited="missing {x}"))
    done = one.run("git status")
    assert not done.ok
    assert done.text.startswith(
        "The person edited the command to: missing {x}\nshell_1.run was not carried out: exit 127"
    )


def test_an_edit_with_another_effect_asks_again(desk: Make, monkeypatch: Patch) -> None:
    def edit(_: Question) -> Decision:
        monkeypatch.setattr(Shell, "extra", {"dropped": ("KEY",)})
        return Decision("once", edited="git log")

    one = desk(edit, NO)
    assert not one.run("git status").ok
    assert one.ran == []
    assert one.questions[1].target == "git log"
    assert one.questions[1].changed
    monkeypatch.setattr(Shell, "extra", {})
    one = desk(edit, ONCE)
    done = one.run("git status")
    assert done.text.startswith("The person edited the command to: git log")
    assert one.ran == ["git log"]


@pytest.mark.parametrize("edited", ["", " ", "a\0b", "\ud800"])
def test_an_edit_that_cannot_run_runs_nothing(desk: Make, edited: str) -> None:
    one = desk(Decision("once", edited=edited))
    assert not one.run("git status").ok
    assert one.ran == []


def test_an_edit_is_allowed_once_only() -> None:
    for choice in ("always", "pattern", "no"):
        with pytest.raises(ValueError, match="once"):
            Decision(choice, edited="x")


def test_read_only_refuses_even_what_the_settings_allow(desk: Make) -> None:
    one = desk(mode="read-only", commands=COMMANDS)
    done = one.run("git status")
    assert not done.ok
    assert "it would run git status, and the person allows no changes now" in done.text


def test_auto_runs_everything(desk: Make) -> None:
    one = desk(mode="auto")
    assert one.run("git status; git log").ok
    assert one.questions == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_with_nobody_to_ask_the_flag_is_named_that_would_allow_it(desk: Make, lang: Lang) -> None:
    one = desk(has_person=False, commands=("pytest",), lang=lang)
    assert one.run("pytest").ok
    refused = one.run("git log 'a b'")
    assert isinstance(refused.error, NotAllowedError)
    assert refused.error.remedy == "--allow-commands 'git log '\"'\"'a b'\"'\"''"
    assert refused.error.remedy in refused.text
    assert "[approval]" in refused.text
    assert "config.toml" in refused.text
    for command in ("git log; rm x", "./run"):
        refused = one.run(command)
        assert isinstance(refused.error, NotAllowedError)
        assert refused.error.remedy == "--approval auto"
        assert "--allow-commands" not in refused.text


def test_a_command_names_itself_whatever_the_window_says(desk: Make, place: Path) -> None:
    one = desk()
    one.run("git log \u202e\n\trm x\x1b")
    asked = one.questions[0]
    assert asked.target == "git log ⟨U+202E⟩⟨U+000A⟩⟨U+0009⟩rm x⟨U+001B⟩"
    assert asked.verb == "run"
    command = base.preview_of(asked).command
    assert command is not None
    assert command.line == "git log \u202e\n\trm x\x1b"
    assert asked.facts()["target"] == asked.target


@pytest.mark.parametrize(
    "wrong",
    [{"folder": "sub"}, {"folder": 5}, {"line": 5}, {"folder": "/a\0"}, {"line": "x" * 100_001}],
)
def test_a_command_that_cannot_be_shown_does_not_run(
    desk: Make, monkeypatch: Patch, wrong: dict[str, Any]
) -> None:
    one = desk(commands=COMMANDS)
    monkeypatch.setattr(Shell, "extra", wrong)
    assert not one.run("git status").ok
    assert one.questions == []
    assert one.ran == []

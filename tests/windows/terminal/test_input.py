"""The model's input to programs: no part of it ever reaches the shell."""

import asyncio
import itertools
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextui import ApprovalGate, WindowManager, Workspace
from contextui.agent import Decision, Question
from contextui.testing import WindowTester
from contextui.windowing.runtime import runtime_of
from contextui.windows.terminal import shell as shells
from contextui.windows.terminal.record import Who
from contextui.windows.terminal.sandbox import sandbox_works
from contextui.windows.terminal.shell import Shell, ShellError
from contextui.windows.terminal.window import TerminalWindow

from .shells import KINDS, LONGEST, finished, prompt, shell, typed, until

WAITS = "until [ -e go ]; do sleep 0.01; done"
"""A program that does not read, and ends when the file is there."""
TYPED: list[tuple[str, bool]] = [
    ("touch PWNED", False),
    ("touch PWNED\ntouch PWNED\n\n: ", True),
    ("touch PWNED\n" * 600, True),  # longer than the kernel's queue
]
"""What the model types, and whether it presses Enter."""

Terminal = WindowTester[TerminalWindow]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for programs that read, however slow the machine is."""
    monkeypatch.setattr(shells, "_UNREAD", LONGEST)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for long for programs that do not read."""
    monkeypatch.setattr(shells, "_UNREAD", 0.1)


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for long for a program that has the terminal and has read the person's keys."""
    monkeypatch.setattr(shells, "_LOOKS", 20)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".zshrc").write_text("# no questions for a new user\n")
    (tmp_path / "home" / ".local/share/fish/generated_completions").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture(params=KINDS)
def terminal(
    request: pytest.FixtureRequest, work: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Terminal]:
    monkeypatch.setenv("SHELL", str(shutil.which(request.param)))
    with WindowTester(TerminalWindow, folder=work) as tester:
        wait_for(tester, lambda: shell_of(tester).at_prompt)
        yield tester


def shell_of(terminal: Terminal) -> Shell:
    found = terminal.window.state.shell
    assert found is not None
    return found


def wait_for(terminal: Terminal, condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONGEST
    while not condition():
        assert time.monotonic() < deadline, shell_of(terminal).emulator.text()
        time.sleep(0.01)


def person_types(terminal: Terminal, data: bytes) -> None:
    one = shell_of(terminal)
    runtime_of(terminal.window).worker.submit(lambda: one.type(data)).result()


def start(terminal: Terminal, program: str) -> None:
    """Start a program and wait until it, not the shell, has the terminal."""
    one = shell_of(terminal)
    terminal.act("run", command=program, seconds=0)
    wait_for(terminal, lambda: one._has_program)


def refused(terminal: Terminal, action: str, **params: Any) -> str:
    result = terminal.result(action, **params)
    assert not result.ok
    return result.text


def commands_after(terminal: Terminal) -> list[tuple[Who, str]]:
    """Let the person press Enter and the model run a command; return who ran what.

    The shell has then read everything that was typed before.
    """
    one = shell_of(terminal)
    wait_for(terminal, lambda: one.at_prompt and one._prompt_end is not None)
    person_types(terminal, b"\r")
    wait_for(terminal, lambda: terminal.result("run", command="echo last").ok)
    wait_for(terminal, lambda: one.commands[-1].text == "echo last" and not one.running)
    return [(one.who, one.text) for one in one.commands][:-1]


# --- what a program does not read --------------------------------------------------------


@pytest.mark.usefixtures("hasty")
def test_the_shell_never_runs_what_a_program_did_not_read(terminal: Terminal, work: Path) -> None:
    """H02: with and without Enter, several lines, and more than the kernel holds."""
    ran = list[tuple[Who, str]]()
    ends = itertools.cycle(("itself", "cancel", "crash"))
    for _ in range(len(os.environ["SHELL"]) % 3):  # not the same for each kind of shell
        next(ends)
    for (text, enter), end in zip(TYPED, ends, strict=False):
        (work / "waits.sh").write_text(f"{WAITS}\n{'kill -SEGV $$' if end == 'crash' else ''}\n")
        start(terminal, "sh waits.sh")
        said = terminal.result("input", text=text, enter=enter)
        if end == "cancel":
            terminal.act("cancel")
        else:
            (work / "go").touch()
        ran = commands_after(terminal)
        assert not (work / "PWNED").exists(), text[:30]
        assert not said.ok
        (work / "go").unlink(missing_ok=True)
    expected = [("model", "sh waits.sh"), ("model", "echo last")] * len(TYPED)
    assert ran == expected[:-1]


@pytest.mark.usefixtures("hasty")
def test_the_shell_never_runs_what_was_typed_as_the_program_ended(
    terminal: Terminal, work: Path
) -> None:
    """H02: the program ends while its input waits."""
    one = shell_of(terminal)
    for text, enter in TYPED[:2]:
        start(terminal, f"sh -c '{WAITS}'")
        timer = threading.Timer(0.03, (work / "go").touch)
        timer.start()
        terminal.result("input", text=text, enter=enter)
        timer.join()
        wait_for(terminal, lambda: one.at_prompt)
        # The pattern allowed `uname -s`: the line must not begin with the model's text.
        wait_for(terminal, lambda: terminal.result("run", command="uname -s").ok)
        assert one.commands[-1].output.splitlines() == [os.uname().sysname]
        ran = commands_after(terminal)
        assert not (work / "PWNED").exists(), text[:30]
        assert {who for who, _ in ran} == {"model"}
        (work / "go").unlink()


def test_a_program_that_reads_a_part_or_single_keys_leaves_none_to_the_shell(
    terminal: Terminal, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = shell_of(terminal)
    monkeypatch.setattr(shells, "_UNREAD", 1.0)
    start(terminal, f"sh -c 'read x; {WAITS}; echo got $x'")
    said = terminal.result("input", text="one\ntouch PWNED")
    (work / "go").touch()
    wait_for(terminal, lambda: not one.commands[0].running)
    assert one.commands[0].output.splitlines()[-1] == "got one"
    assert commands_after(terminal)[0][0] == "model"
    assert not said.ok
    assert "discarded" in said.text
    (work / "go").unlink()
    monkeypatch.setattr(shells, "_UNREAD", 0.1)
    start(terminal, f"sh -c 'stty raw -echo; touch ready; {WAITS}; stty sane'")
    wait_for(terminal, (work / "ready").exists)
    for text, enter in TYPED:
        terminal.result("input", text=text, enter=enter)
    (work / "go").touch()
    commands_after(terminal)
    # A builtin reads in the shell itself: it could not be told from its prompt.
    monkeypatch.setattr(shells, "_LOOKS", 20)
    terminal.act("run", command="read answer", seconds=0)
    assert "the shell itself" in refused(terminal, "input", text="touch PWNED")
    person_types(terminal, b"mine\r")
    commands_after(terminal)
    assert not (work / "PWNED").exists()


# --- what a program reads ----------------------------------------------------------------


def test_a_program_that_reads_gets_its_input(terminal: Terminal, work: Path) -> None:
    one = shell_of(terminal)
    start(terminal, "sh -c 'read x; read y; echo got $x-$y'")
    assert terminal.act("input", text="one\ntwo") == "Typed."
    wait_for(terminal, lambda: not one.commands[0].running)
    assert one.commands[0].output.splitlines()[-1] == "got one-two"
    assert terminal.act("run", command="echo on").endswith("on")
    reads_keys(terminal, work)
    start(terminal, "cat")
    assert "4000 bytes" in refused(terminal, "input", text="x" * 5000)  # the kernel would cut it
    assert terminal.act("input", text="x" * 3000) == "Typed."
    terminal.act("cancel")
    wait_for(terminal, lambda: one.at_prompt)
    person_types(terminal, b"bash --norc\r")  # a shell in the shell is a program that reads
    wait_for(terminal, lambda: one.running and one._has_program)
    terminal.act("input", text="touch inner")
    wait_for(terminal, (work / "inner").exists)
    terminal.act("input", text="exit")
    ran = commands_after(terminal)
    assert ("person", "bash --norc") in ran
    assert not [text for _, text in ran if "inner" in text]


def reads_keys(terminal: Terminal, work: Path) -> None:
    """A program that reads single keys gets text without Enter."""
    code = "import sys, tty; tty.setraw(0); open('ready', 'w'); x = sys.stdin.read(6000)"
    code += "; open('got', 'w').write(x)"
    start(terminal, f'{sys.executable} -S -c "{code}"; stty sane')
    wait_for(terminal, (work / "ready").exists)
    terminal.act("input", text="x" * 6000, enter=False)
    wait_for(terminal, (work / "got").exists)
    wait_for(terminal, lambda: (work / "got").read_text() == "x" * 6000)
    wait_for(terminal, lambda: shell_of(terminal).at_prompt)


def test_input_is_refused_before_anyone_is_asked(work: Path) -> None:
    with WindowTester(TerminalWindow, folder=work) as terminal:
        with pytest.raises(Exception, match="No program is running"):
            terminal.preview("input", text="x")
        terminal.act("run", command="cat", seconds=0)
        for text in ("a\x1b[A", "a\x03", "a\rb", "a\x7f", "a\x9b", "a\x00"):
            assert "control character" in terminal.result("input", text=text).text
            with pytest.raises(Exception, match="control character"):
                terminal.preview("input", text=text)
        terminal.act("cancel")


# --- the person's keys -------------------------------------------------------------------


@pytest.mark.usefixtures("refusing")
@pytest.mark.parametrize("kind", KINDS)
async def test_what_the_person_types_ahead_survives(tmp_path: Path, kind: str) -> None:
    """The model's text waits, unread, as they type: theirs stays, the model's goes."""
    async with shell(tmp_path, kind) as one:
        work = tmp_path / "work"
        await one.run(f"sh -c '{WAITS}'")
        await until(one, lambda: one._has_program)
        typing = asyncio.create_task(one.input("touch PWNED"))
        await until(one, lambda: one._held is not None and one._unread())
        one.type(b"touch mine\r")
        with pytest.raises(ShellError, match="discarded"):
            await typing
        with pytest.raises(ShellError, match="has not read"):
            await one.input("touch PWNED")
        (work / "go").touch()
        await until(one, (work / "mine").exists)
        if kind == "sh":  # it prompts for the line that it has already, then in the same row
            await until(one, lambda: one._prompt_end is not None and one._prompt_end[1] == 4)
        await until(one, lambda: one.at_prompt and not one.unfinished_line)
        assert (await finished(one, "echo on")).output == "on"
        assert not (work / "PWNED").exists()
        typed_ahead = [] if kind == "sh" else ["person"]  # sh does not report what it starts
        assert [one.who for one in one.commands] == ["model", *typed_ahead, "model"]


@pytest.mark.usefixtures("refusing")
async def test_a_line_that_the_person_began_in_a_program_is_not_joined(tmp_path: Path) -> None:
    async with shell(tmp_path) as one:
        ran = await one.run("cat > got")
        await until(one, lambda: one._has_program)
        one.type(b"rm -r ")
        with pytest.raises(ShellError, match="has not read"):
            await one.input("x")
        one.type(b"mine\r")
        await one.input("x")
        one.type(b"\x04")
        await one.wait(ran)
        assert (tmp_path / "work" / "got").read_text() == "rm -r mine\nx\n"


@pytest.mark.parametrize("kind", KINDS)
async def test_keys_that_the_shell_has_not_read_yet_refuse_a_command(
    tmp_path: Path, kind: str
) -> None:
    """H02: a slow shell shows its prompt before it has read what was typed ahead."""
    async with shell(tmp_path, kind) as one:
        os.killpg(one._home_group, signal.SIGSTOP)
        try:
            one.type(b"echo per")
            await asyncio.sleep(0.6)  # past the time in which any key counts
            with pytest.raises(ShellError, match="begun to type"):
                await one.run("touch PWNED")
        finally:
            os.killpg(one._home_group, signal.SIGCONT)
        assert (await typed(one, b"son\r")).output == "person"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_shell_that_is_closed_does_not_run_what_waits(tmp_path: Path, kind: str) -> None:
    """H02: the program ends first, and the shell ignores the signals that ask it to."""
    async with shell(tmp_path, kind) as one:
        await finished(one, "true" if kind == "fish" else "trap '' HUP")  # fish cannot
        await one.run("sleep 100")
        await until(one, lambda: one._has_program)
        typing = asyncio.create_task(one.input("touch PWNED"))
        await until(one, lambda: one._held is not None and one._unread())
        await one.close()
        with pytest.raises(ShellError):
            await typing
        assert not (tmp_path / "work" / "PWNED").exists()


async def test_the_shell_is_not_stopped_while_it_starts_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between fork and exec, the new process may wait for the shell."""
    monkeypatch.setattr(shells, "_YOUNG", LONGEST)
    monkeypatch.setattr(shells, "_LOOKS", 10_000)

    async with shell(tmp_path) as one:
        ran = await one.run(f"({WAITS}; exec cat > got)")
        await until(one, lambda: one._has_program)
        typing = asyncio.create_task(one.input("text"))
        for _ in range(20):
            await asyncio.sleep(shells._LOOK)
            assert one._held is None
        (tmp_path / "work" / "go").touch()
        await typing
        one.type(b"\x04")
        await one.wait(ran)
        assert (tmp_path / "work" / "got").read_text() == "text\n"


@pytest.mark.skipif(not sandbox_works(), reason="bubblewrap does not work here")
@pytest.mark.parametrize("kind", KINDS)
async def test_the_shell_is_held_in_a_sandbox_too(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    async with shell(tmp_path, kind, sandbox=work) as one:
        ran = await one.run("sh -c 'read x; echo got-$x'")
        await until(one, lambda: one._has_program)
        await one.input("input")
        await one.wait(ran)
        assert ran.output.splitlines()[-1] == "got-input"
        await prompt(one)
        await one.run(f"sh -c '{WAITS}'")
        await until(one, lambda: one._has_program)
        monkeypatch.setattr(shells, "_UNREAD", 0.1)
        with pytest.raises(ShellError, match="discarded"):
            await one.input("touch PWNED")
        (work / "go").touch()
        await prompt(one)
        one.type(b"\r")
        await until(one, lambda: one._pending is None)
        await prompt(one)
        await until(one, lambda: not one.unfinished_line)
        assert (await finished(one, "echo on")).output == "on"
        assert not (work / "PWNED").exists()


# --- approval ----------------------------------------------------------------------------


async def test_every_text_is_asked_about(work: Path) -> None:
    """H02: no grant covers another text, and none is offered."""
    questions = list[Question]()

    async def ask(question: Question) -> Decision:
        questions.append(question)
        return Decision("always" if len(questions) < 3 else "no")

    windows = WindowManager([TerminalWindow], workspace=Workspace(work))
    windows.open("terminal")
    await windows.await_opening(LONGEST)
    allow = ApprovalGate("ask", ask).allow

    async def act(action: str, **params: Any) -> Any:
        return await windows.act("terminal_1", action, params, allow=allow)

    await act("run", command="cat", seconds=0)
    assert (await act("input", text="yes")).ok
    assert not (await act("input", text="yes")).ok
    assert not (await act("input", text="rm -rf /", enter=False)).ok
    await asyncio.to_thread(windows.shut_down)
    typed = questions[1:]
    assert [one.grant for one in typed] == [None] * 3
    assert [one.pattern for one in typed] == [None] * 3
    assert [one.verb for one in typed] == ["type"] * 3
    assert [one.target for one in typed] == ["terminal_1: [1] $ cat"] * 3
    shown = [one.preview.text for one in typed if one.preview is not None]
    assert shown[0] == "Types this, then Enter:\nyes"
    assert shown[2] == "Types this, without Enter:\nrm -rf /"

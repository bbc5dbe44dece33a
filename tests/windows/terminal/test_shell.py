"""Shells of all kinds: commands, statuses, folders, input, cancelling, ending."""

import asyncio
import os
import re
import shutil
from pathlib import Path

import pytest

from contextui.processes import ProcessError
from contextui.reaper import members
from contextui.windows.terminal import shell as shells
from contextui.windows.terminal.integration import Mark
from contextui.windows.terminal.shell import Shell, ShellError

from .shells import KINDS, finished, prompt, shell, typed, until

WIDE = (24, 250)  # a screen on which a prompt with the folder's path leaves room for what is typed


@pytest.mark.parametrize("kind", KINDS)
async def test_status_output_and_folder_of_each_command(tmp_path: Path, kind: str) -> None:
    work = str(tmp_path / "work")

    async with shell(tmp_path, kind) as one:
        await refuses_control_characters(one)
        first = await finished(one, "echo hi; false")
        moved = await finished(one, "cd /usr")
        there = await finished(one, "pwd; sh -c 'exit 7'")
        partial = await finished(one, "printf abc")
        assert (first.status, first.output, first.who) == (1, "hi", "model")
        assert (moved.status, moved.output) == (0, "")
        assert (there.status, there.output, there.folder) == (7, "/usr", "/usr")
        assert (partial.status, partial.output) == (0, "abc")
        assert one.folder == "/usr"
        lines = await finished(one, "echo 'it'\"'\"'s'\ncd /\npwd\nfalse")
        assert (lines.status, lines.output) == (1, "it's\n/")
        assert [command.number for command in one.commands] == [1, 2, 3, 4, 5]
        assert one.folder == "/"
        assert not any(command.running for command in one.commands)
        if kind != "fish":  # which has no such options
            await finished(one, "set -u")
            assert (await finished(one, "sh -c 'exit 3'")).status == 3
        await finished(one, "mkdir ../gone; cd ../gone".replace("..", str(tmp_path)))
        (tmp_path / "gone").rmdir()
        assert (await finished(one, "echo still")).output == "still"
        await finished(one, f"cd {work}")
        assert one.folder == work


async def refuses_control_characters(one: Shell) -> None:
    """It refuses them before anything is typed."""
    for text in ("a\x1b[201~\rid", "a\x03", "a\rb", "a\x7f", "a\x9b", "a\x00", " \n"):
        with pytest.raises(ShellError, match=r"control character|empty"):
            await one.run(text)
        if text.strip():
            with pytest.raises(ShellError, match="control character"):
                await one.run_exactly(["echo", text], "/usr/bin:/bin")
    assert not one.commands


@pytest.mark.parametrize("kind", KINDS)
async def test_the_person_types_and_the_line_is_theirs(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shells, "_ECHO", 0.1)

    async with shell(tmp_path, kind, size=WIDE) as one:
        ran = await typed(one, b"echo a \\\\ b\r")
        assert (ran.who, ran.text) == ("person", "echo a \\\\ b")
        assert (ran.status, ran.output) == (0, "a \\ b")
        before = one._prompt_end
        one.type(b"\r")  # an empty line is no command
        await until(one, lambda: one._prompt_end not in (before, None))
        await prompt(one)
        assert len(one.commands) == 1
        ran = await typed(one, b" sh -c 'exit 3'\r")  # not in the history
        assert (ran.text.strip(), ran.status) == ("sh -c 'exit 3'", 3)
        one.type(b"echo per")  # the line that they have begun is not touched
        with pytest.raises(ShellError, match="begun to type"):
            await one.run("ls")
        await until(one, lambda: "echo per" in one.emulator.text())
        await asyncio.sleep(0.15)  # past the time in which any key counts
        with pytest.raises(ShellError, match="begun to type"):
            await one.run("ls")
        assert (await typed(one, b"son\r")).output == "person"
        slow = await one.run("until [ -e typed ]; do sleep 0.01; done" if kind != "fish" else
                             "while not test -e typed; sleep 0.01; end")  # fmt: skip
        one.type(b"rm -r ")  # typed while a command runs: an unfinished line after it
        (tmp_path / "work" / "typed").touch()
        await one.wait(slow)
        await until(one, lambda: one.at_prompt)
        await until(one, lambda: kind == "sh" or one.emulator.position != one._prompt_end)
        await asyncio.sleep(0.15)
        with pytest.raises(ShellError, match="begun to type"):
            await one.run("x")
        assert len(one.commands) == 4


async def test_a_line_begun_behind_a_command_is_not_touched(tmp_path: Path) -> None:
    async with shell(tmp_path, size=WIDE) as one:
        one.type(b"true\rrm -r ")
        begun = re.compile(r"[#$]\n? rm -r")
        await until(one, lambda: one.commands and begun.search(one.emulator.text()))
        await asyncio.sleep(0.6)
        with pytest.raises(ShellError, match="begun to type"):
            await one.run("x")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_command_that_runs_can_be_answered_and_cancelled(tmp_path: Path, kind: str) -> None:
    async with shell(tmp_path, kind) as one:
        ran = await one.run("sleep 100")
        with pytest.raises(ShellError, match='"sleep 100" is running'):
            await one.run("ls")
        await until(one, lambda: one._process.foreground() != one._home_group)
        await one.cancel()
        await one.wait(ran)
        assert ran.status == 130
        await prompt(one)
        ran = await one.run("sleep 100")
        await one.cancel()  # its program may not have started
        await one.wait(ran)
        assert not ran.running
        await prompt(one)
        ran = await one.run("sh -c 'read x; echo got-$x'")
        await until(one, lambda: one._has_program)
        await one.input("input")
        await one.wait(ran)
        assert ran.output.splitlines()[-1] == "got-input"
        await prompt(one)
        ran = await one.run("sh -c 'trap \"\" INT TERM; echo on; while :; do sleep 0.1; done'")
        await until(one, lambda: "on" in ran.output)
        await one.cancel(patience=0.5)  # which it ignores; the shell lives on
        await one.wait(ran)
        assert ran.status == 128 + 9
        await prompt(one)
        assert (await finished(one, "echo alive")).output == "alive"


@pytest.mark.parametrize("kind", KINDS)
async def test_output_and_wrong_commands_leave_the_prompt_as_it_is(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = "".join(
        f"\\033]133;{mark}\\007" for mark in ("D;0", "D;k=0;0", "A;k=;", "C;k=;x", "P;k=;/")
    )
    questions = b"\x1b[c\x1b[6n\x1b[5n\x1bZ\x1b[>c\x1b]10;?\x07\x1bP$qm\x1b\\" * 20

    async with shell(tmp_path, kind) as one:
        ran = await one.run(f"printf '{marks}'; echo shown; sleep 0.1; sh -c 'exit 5'")
        await until(one, lambda: "shown" in ran.output)
        assert ran.running  # output cannot forge a mark
        assert not one.at_prompt
        await one.wait(ran)
        assert (ran.status, ran.output) == (5, "shown")
        assert len(one.commands) == 1
        await prompt(one)
        assert one.folder == str(tmp_path / "work")
        (tmp_path / "work" / "odd.txt").write_bytes(questions)
        await finished(one, "cat odd.txt; cat odd.txt")  # an answer would be typed
        assert (await finished(one, "echo on")).output == "on"
        with monkeypatch.context() as patch:
            if kind == "fish":  # which reports neither
                patch.setattr(shells, "_START", 0.3)
            for text in ("echo 'open", "echo )"):  # unfinished, and wrong
                try:
                    ran = await finished(one, text)
                except ShellError as error:
                    assert "did not run the command" in str(error)
                else:
                    assert ran.status not in (0, None)
                await prompt(one)
                await until(one, lambda: not one.unfinished_line)
        ran = await finished(one, "echo on")
        assert (ran.output, ran.status) == ("on", 0)


@pytest.mark.parametrize("kind", KINDS)
async def test_the_key_of_the_marks_reaches_no_program(tmp_path: Path, kind: str) -> None:
    environ = {"PS1": "$ ", "PS2": "> ", "PS0": "", "PROMPT_COMMAND": ""}
    home = tmp_path / "home"
    home.mkdir()
    for name in (".bashrc", ".zshenv", ".zshrc", ".shrc"):
        (home / name).write_text("set -a\n")  # export every variable that is set
    environ["ENV"] = str(home / ".shrc")
    async with shell(tmp_path, kind, environ=environ) as one:
        key = one._integration._key
        assert not one._integration.folder.exists()
        await finished(one, "export PS1")
        await finished(one, "env > variables; ps -eo args > programs")
        # From the files: on the screen, a mark with the key would not be seen.
        variables = (tmp_path / "work/variables").read_text()
        assert "PATH=" in variables
        assert key not in variables
        programs = (tmp_path / "work/programs").read_text()
        assert "ps -eo args" in programs
        assert key not in programs
        assert "ZDOTDIR" not in variables
        assert "CONTEXTUI" not in variables


async def test_without_hooks_a_prompt_counts_from_its_end(tmp_path: Path) -> None:
    """The mark after it would end a command that was typed before."""
    async with shell(tmp_path, "sh") as one:
        one._take_mark(Mark("A"))
        assert not one.at_prompt
        one._take_mark(Mark("B"))
        assert one.at_prompt


async def test_the_prompt_needs_the_terminal_too(tmp_path: Path) -> None:
    """A program that knows the key still does not make the shell look idle."""
    async with shell(tmp_path) as one:
        key = one._integration._key
        ran = await one.run(f"sh -c \"printf '\\033]133;A;k={key};\\007'; sleep 100\"")
        await until(one, lambda: not ran.running)
        assert not one.at_prompt
        with pytest.raises(ShellError):
            await one.run("id")


@pytest.mark.parametrize("kind", KINDS)
async def test_exact_words_are_neither_alias_nor_function_nor_expanded(
    tmp_path: Path, kind: str
) -> None:
    async with shell(tmp_path, kind) as one:
        program = tmp_path / "bin" / "show"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\nprintf '[%s]' \"$@\"\n")
        program.chmod(0o755)
        if kind == "fish":
            await finished(one, "function show; echo hijacked; end")
        else:
            await finished(one, "alias show='echo hijacked'")
            await finished(one, "\\show() { echo hijacked; }")
        assert (await finished(one, "show x")).output.startswith("hijacked")
        words = ["*", "$HOME", "it's", "`id`", "a  b", '"', "\\n", "!!", "~", ";", "&", "", "#"]
        words.append("世")
        ran = await one.run_exactly(["show", *words], str(program.parent))
        await one.wait(ran)
        assert (ran.status, ran.output) == (0, "".join(f"[{word}]" for word in words))
        await prompt(one)
        with pytest.raises(ProcessError, match='no program "nonsense"'):
            await one.run_exactly(["nonsense"], os.environ["PATH"])
        fake = tmp_path / "work" / "git"  # a program in the current folder is not found by name
        fake.write_text("#!/bin/sh\necho hijacked\n")
        fake.chmod(0o755)
        with pytest.raises(ProcessError):
            await one.run_exactly(["git"], ".::work")


async def test_input_that_nobody_reads_is_bounded(tmp_path: Path) -> None:
    async with shell(tmp_path) as one:
        await one.run("stty raw -echo; touch raw; sleep 100")
        await until(one, (tmp_path / "work" / "raw").exists)
        one.type(b"x" * 1_000_000)
        await asyncio.sleep(0.2)
        with pytest.raises(ShellError, match="does not read its input"):
            one.type(b"x" * 200_000)
        assert one.running is not None


async def test_cancel_of_a_loop_in_the_shell_itself(tmp_path: Path) -> None:
    async with shell(tmp_path) as one:
        ran = await one.run("while :; do :; done")
        await one.cancel(patience=1)
        await one.wait(ran)
        assert not ran.running
        await prompt(one)
        assert one.status is None


async def test_a_shell_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match='There is no program "/bin/nonsense"'):
        await Shell.start(folder=tmp_path, spool=tmp_path, program="/bin/nonsense", environ={})
    (tmp_path / "plain").write_text("x")
    with pytest.raises(ProcessError, match="is not executable"):
        await Shell.start(
            folder=tmp_path, spool=tmp_path, program=str(tmp_path / "plain"), environ={}
        )
    with pytest.raises(ProcessError, match="There is no folder"):
        await Shell.start(folder=tmp_path / "gone", spool=tmp_path, program="sh")


@pytest.mark.parametrize("kind", KINDS[:2])
async def test_a_shell_that_exits_takes_its_background_jobs_along(
    tmp_path: Path, kind: str
) -> None:
    async with shell(tmp_path, kind) as one:
        await finished(one, "sleep 1000 &")
        assert len(members(one.pid)) >= 2
        one.type(b"exit 4\r")
        if kind == "zsh":  # it asks once
            await until(one, lambda: len(one.commands) == 2 and one.at_prompt)
            one.type(b"exit 4\r")
        await until(one, lambda: one.status is not None and one._ended)
        assert one.status == 4
        assert members(one.pid) == []
        with pytest.raises(ShellError, match="has ended"):
            await one.run("ls")
        with pytest.raises(ShellError, match="has ended"):
            one.type(b"x")
        assert not one.at_prompt


async def test_close_ends_everything_in_the_session(tmp_path: Path) -> None:
    async with shell(tmp_path) as one:
        ran = await one.run("sh -c 'trap \"\" HUP TERM; sleep 1000 & sleep 1000; echo never'")
        while len(members(one.pid)) < 4:  # which looks at all processes
            await asyncio.sleep(0.1)
        await one.close()
        assert members(one.pid) == []
        assert not ran.running
        assert ran.status is None


async def test_size_reaches_programs_and_can_change(tmp_path: Path) -> None:
    async with shell(tmp_path, size=(30, 100)) as one:
        assert (await finished(one, "stty size")).output == "30 100"
        one.resize(12, 50)
        await asyncio.sleep(0.2)
        await until(one, lambda: not one.unfinished_line)
        assert (await finished(one, "stty size")).output == "12 50"
        assert len(one.emulator.rows()) == 12


async def test_the_start_up_files_and_history_of_the_person_work(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text(
        "alias greet='echo greeted'\nHISTCONTROL=ignorespace\n"
        "PROMPT_COMMAND='mine=1; false'\nPS1='mine> '\n"
    )
    async with shell(tmp_path) as one:
        assert "mine>" in one.emulator.text()
        assert (await finished(one, "greet; echo $mine")).output == "greeted\n1"
        assert (await finished(one, "true")).status == 0
        await typed(one, b"echo typed\r")
    assert (home / ".bash_history").read_text() == "echo typed\n"


@pytest.mark.parametrize("length", [39, 40, 41])
async def test_a_prompt_that_fills_the_row_is_not_taken_for_a_line(
    tmp_path: Path, length: int
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".bashrc").write_text(f"PS1={'p' * length}\n")
    async with shell(tmp_path, size=(10, 40)) as one:
        assert (await finished(one, "printf abc")).output == "abc"  # without a line end
        assert (await finished(one, "echo on")).output == "on"
        assert (await typed(one, b" echo typed\r")).text == "echo typed"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not there")
async def test_zsh_start_up_files_and_history_of_the_person_work(tmp_path: Path) -> None:
    home, config = tmp_path / "home", tmp_path / "config"
    home.mkdir()
    config.mkdir()
    (config / ".zshenv").write_text("from_env=1\n")
    (config / ".zshrc").write_text(
        "PS1='mine> '\nHISTFILE=$ZDOTDIR/history\nSAVEHIST=10\nHISTSIZE=10\n"
        "precmd() { mine=1; false }\nsetopt hist_ignore_space\n"
    )
    async with shell(tmp_path, "zsh", environ={"ZDOTDIR": str(config)}) as one:
        assert "mine>" in one.emulator.text()
        ran = await finished(one, "echo $from_env$mine $ZDOTDIR")
        assert ran.output == f"11 {config}"
        await typed(one, b"echo typed\r")
    assert (config / "history").read_text() == "echo typed\n"

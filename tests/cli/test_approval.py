"""Actions refused without a screen are reported in full: on stderr, and in JSON."""

import json
from pathlib import Path

import pytest

from tests.agent.server import Server, answer, call
from tests.cli.calling import Program

SAVE = call("action", window_id="editor_1", action_id="save")
REASON = (
    "editor_1.save was not carried out: it would write notes.txt (+2 −1), and there is nobody to "
    "ask. The person can allow it with --approval auto."
)


def play_a_save(server: Server) -> None:
    given = {"first": 1, "last": 1, "text": "new\nlines"}
    edit = call("action", window_id="editor_1", action_id="replace_lines", params=given)
    opened = call("create", name="editor", args={"path": "notes.txt"})
    server.play(answer(opened), answer(edit), answer(SAVE), answer("I may not."))


@pytest.fixture
def notes(program: Program) -> Path:
    return program.write("notes.txt", "one\ntwo\n")


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
@pytest.mark.parametrize("verbose", [False, True])
def test_target_counts_and_flag_are_printed(
    program: Program, server: Server, notes: Path, form: str, verbose: bool
) -> None:
    play_a_save(server)
    done = program("-p", "Save it", "--output-format", form, *["--verbose"] * verbose)
    assert notes.read_text() == "one\ntwo\n"
    assert f"contextui: {REASON}\n" in done.err
    assert done.err.count("editor_1.save") == 1
    facts = {
        "action": "editor_1.save",
        "verb": "write",
        "target": "notes.txt",
        "added": 2,
        "removed": 1,
        "problem": "",
        "reason": REASON,
        "allowed_by": "--approval auto",
    }
    if form == "json":
        assert done.json["refused"] == [facts]
    if form == "stream-json":
        events = [one for one in done.lines if one["type"] == "action_refused"]
        assert events == [{"type": "action_refused", **facts}]
        assert done.lines[-1]["refused"] == [facts]


def test_what_is_allowed_is_not_refused(program: Program, server: Server, notes: Path) -> None:
    play_a_save(server)
    done = program("-p", "Save it", "--approval", "auto", "--output-format", "json")
    assert notes.read_text() == "new\nlines\ntwo\n"
    assert (done.json["refused"], done.err) == ([], "")


def test_in_chinese_too(program: Program, server: Server, notes: Path) -> None:
    play_a_save(server)
    done = program("-p", "Save it", "--lang", "zh")
    assert "它会写入 notes.txt (+2 −1)，而这里没有人可以询问" in done.err
    assert notes.read_text() == "one\ntwo\n"


def test_secrets_are_refused_with_their_name(program: Program, server: Server) -> None:
    program.write(".env", "PASSWORD=hunter2\n")
    program.write("my.vault", "PASSWORD=hunter2\n")
    server.play(
        answer(call("read_file", path=".env"), call("read_file", path="my.vault")), answer("No.")
    )
    done = program("-p", "Read .env", "--output-format", "json", "--secret-files", "*.vault")
    assert [one["target"] for one in done.json["refused"]] == [".env", "my.vault"]
    assert {one["verb"] for one in done.json["refused"]} == {"read"}
    assert "hunter2" not in json.dumps([request.body for request in server.requests], default=str)


def test_edits_that_a_person_left_unsaved_survive(
    program: Program, server: Server, notes: Path
) -> None:
    """A resumed session may have unsaved edits of the person: it is not closed without asking."""
    play_a_save(server)
    program("-p", "Edit it")
    closing = call("action", window_id="editor_1", action_id="close")
    for mode in ("ask", "auto"):
        server.play(answer(closing), answer("I may not."))
        form = ["--output-format", "json", "--approval", mode]
        done = program("-c", "-p", "Close everything", *form)
        (refused,) = done.json["refused"]
        assert (refused["verb"], refused["target"]) == ("close", "notes.txt")
        assert [one["id"] for one in done.json["windows"]] == ["editor_1"]
    server.play(answer(SAVE), answer(closing), answer("Saved and closed."))
    done = program("-c", "-p", "Save and close", "--approval", "auto", "--output-format", "json")
    assert (done.json["refused"], done.json["windows"]) == ([], [])
    assert notes.read_text() == "new\nlines\ntwo\n"


# --- commands ----------------------------------------------------------------------------

SHELL = '''
import subprocess
from contextui import Window, action
from contextui.windowing import CommandPreview, Preview

class Shell(Window):
    """Runs commands."""
    name = "shell"

    class State(Window.State):
        pass

    def content(self, lod):
        return "A shell."

    @action("Run a command", "write")
    def run(self, command: str) -> str:
        return subprocess.run(["sh", "-c", command], capture_output=True, text=True).stdout

    def preview(self, action_id, params):
        return Preview(command=CommandPreview(params["command"], str(self.env.workspace.root)))
'''


def ran(program: Program, server: Server, command: str, *flags: str) -> tuple[str, list[str]]:
    """Return what the model reads of a command, and which flags would allow it."""
    window = program.write("shell_window.py", SHELL)
    run = call("action", window_id="shell_1", action_id="run", params={"command": command})
    server.play(answer(call("create", name="shell")), answer(run), answer("Done."))
    done = program(
        "-p", "Run it", "--window", str(window), "--output-format", "json", "--budget", "20000",
        *flags,
    )  # fmt: skip
    refused = done.json["refused"]
    return done.err, [one["allowed_by"] for one in refused]


def test_a_refused_command_says_which_flag_allows_it(program: Program, server: Server) -> None:
    err, flags = ran(program, server, "ls shell_window.py")
    assert flags == ["--allow-commands 'ls shell_window.py'"]
    assert "it would run ls shell_window.py, and there is nobody to ask" in err
    assert flags[0] in err
    assert "commands under [approval] in config.toml" in err


def test_a_command_of_the_flag_runs(program: Program, server: Server) -> None:
    assert ran(program, server, "ls shell_window.py", "--allow-commands", "ls *") == ("", [])


@pytest.mark.parametrize("command", ["ls; touch owned", "ls && touch owned", "ls $(touch owned)"])
def test_a_command_of_a_shell_is_not_allowed_by_a_flag(
    program: Program, server: Server, command: str
) -> None:
    err, flags = ran(program, server, command, "--allow-commands", "ls *")
    assert flags == ["--approval auto"]
    assert "--allow-commands" not in err
    assert not (program.write("other", "").parent / "owned").exists()

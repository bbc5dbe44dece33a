"""One turn without a screen, with the real SDK against a server on loopback."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyte
import pytest

from contextui import SessionStore
from contextui.agent.controller import InteractionController
from contextui.agent.events import (
    AnswerGiven,
    CallFinished,
    CallStarted,
    RetryScheduled,
    StepStarted,
    TurnFinished,
)
from contextui.cli.output import StreamOutput, TextOutput
from contextui.files.workspace import Workspace
from contextui.model import TextDelta
from contextui.session.code.store import CodeStore
from tests.agent.server import Reply, Server, Stream, answer, block_events, call, error, start
from tests.cli.calling import Program, Terminal

SECRET = "sk-ant-api03-5f3a9c27e1d84b60"


@pytest.fixture
def server(program: Program) -> Iterator[Server]:
    """A server that is the configured model."""
    with Server() as server:
        program.set(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY=SECRET)
        yield server


def said(server: Server, number: int = -1) -> str:
    """All text of a request's messages."""
    blocks = server.requests[number].blocks()
    return "\n".join(block["text"] for _, block in blocks if block["type"] == "text")


# --- what comes out --------------------------------------------------------------------------


def test_the_answers_words_are_the_output(program: Program, server: Server) -> None:
    server.play(answer("Milk, eggs.\nThat is all."))
    done = program("-p", "What is on my list?")
    assert (done.status, done.out, done.err) == (0, "Milk, eggs.\nThat is all.\n", "")
    assert said(server) == "What is on my list?"


def test_calls_are_told_beside_it_when_asked_for(program: Program, server: Server) -> None:
    acting = call("action", window_id="todo_1", action_id="add", params={"text": "milk"})
    failing = call("action", window_id="todo_1", action_id="fly")
    server.play(
        answer("I open it.", call("create", name="todo")),
        answer(acting, failing, call("read_file", path="missing.md")),
        answer("Done."),
    )
    done = program("-p", "Put milk on a list", "--verbose")
    assert done.out == "I open it.\nDone.\n"
    assert done.err.splitlines() == [
        "✓ create todo",
        '✓ todo_1.add {"text": "milk"}',
        '✗ todo_1.fly: todo_1 has no action "fly". It has: add, find, done, undone, edit, delete, '
        "move, clear_done, close.",
        '✗ read_file {"path": "missing.md"}: There is no "missing.md" in the workspace.',
    ]


def test_calls_are_not_told_where_nobody_looks(program: Program, server: Server) -> None:
    server.play(answer(call("create", name="todo")), answer("Done."))
    assert program("-p", "Open a list").err == ""


@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_calls_are_told_beside_json_too(program: Program, server: Server, form: str) -> None:
    server.play(answer(call("create", name="todo")), answer("Done."))
    done = program("-p", "Open a list", "--verbose", "--output-format", form)
    assert done.err == "✓ create todo\n"
    assert (done.json if form == "json" else done.lines[-1])["result"] == "Done."


def test_json_is_one_object(program: Program, server: Server) -> None:
    server.play(answer(call("create", name="todo", args={"items": ["milk"]})), answer("Done."))
    done = program("-p", "Make a list", "--output-format", "json")
    (info,) = program.sessions()
    assert done.json == {
        "result": "Done.",
        "session_id": info.id,
        "stop_reason": "end_turn",
        "steps": 2,
        "usage": {
            "input_tokens": 20,
            "output_tokens": 50,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
        },
        "windows": [
            {
                "id": "todo_1",
                "name": "todo",
                "lod": "Full",
                "state": {
                    "items": [{"id": 1, "text": "milk", "done": False}],
                    "last_id": 1,
                },
            }
        ],
        "is_error": False,
        "reason": "done",
        "saved": True,
        "notices": [],
    }
    assert (done.status, done.err) == (0, "")


def test_stream_json_is_one_object_for_each_event(program: Program, server: Server) -> None:
    server.play(answer(call("create", name="todo")), answer("Done."))
    done = program("-p", "Make a list", "--output-format", "stream-json")
    types = [line["type"] for line in done.lines]
    assert types[:2] == ["turn_started", "step_started"]
    assert types[-2:] == ["turn_finished", "result"]
    wanted = ["call_begun", "usage_spent", "call_started", "window_opened", "call_finished"]
    assert [one for one in types if one in wanted] == [*wanted, "usage_spent"]
    started = next(line for line in done.lines if line["type"] == "call_started")
    assert started == {
        "type": "call_started",
        "number": 1,
        "name": "create",
        "input": {"name": "todo"},
    }
    result = done.lines[-1]
    assert result["result"] == "Done."
    assert result["session_id"] == program.sessions()[0].id


def test_a_failed_turn_tells_why_and_exits_with_1(program: Program, server: Server) -> None:
    server.play(Reply(401, error("authentication_error", f"bad key {SECRET}")))
    done = program("-p", "Hi", "--output-format", "json")
    done.fails(1, "ANTHROPIC_API_KEY")
    assert done.json["is_error"] is True
    assert done.json["reason"] == "failed"
    assert done.json["error"]
    assert SECRET not in done.err + done.out


def test_a_model_that_the_server_does_not_know_is_named(program: Program, server: Server) -> None:
    server.play(Reply(404, error("not_found_error", "model: claude-nonsense")))
    program("-p", "Hi", "--model", "claude-nonsense").fails(1, "claude-nonsense")


def test_a_turn_of_too_many_steps_is_a_failure(program: Program, server: Server) -> None:
    server.play(answer(call("create", name="todo")))
    done = program("-p", "Go", "--max-steps", "1", "--output-format", "json")
    done.fails(1, "paused after 1 step.", 'contextui -c -p "go on"')
    assert done.json["reason"] == "paused"
    assert done.json["error"] in done.err


def test_how_to_go_on_fits_the_session(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.play(answer("Half of", stop_reason="max_tokens"))
    program("-p", "Go").fails(1, "cut off at 8,192 tokens.", 'contextui -c -p "go on"')
    (info,) = program.sessions()
    monkeypatch.chdir(tmp_path)
    server.play(answer("Half of", stop_reason="max_tokens"))
    done = program("-r", info.id, "-p", "Go")
    assert done.err.splitlines()[-1].endswith(f'contextui -r {info.id} -p "go on"')


def test_the_settings_reach_the_request(program: Program, server: Server) -> None:
    server.play(answer("Ja."))
    program("-p", "Hi", "--model", "claude-x", "--max-tokens", "77", "--lang", "zh")
    request = server.requests[0].json
    assert (request["model"], request["max_tokens"]) == ("claude-x", 77)
    assert "窗口" in request["system"][0]["text"]
    assert server.requests[0].headers["authorization"].endswith(SECRET)


def test_the_text_protocol_has_no_tools(program: Program, server: Server) -> None:
    program.set(CONTEXTUI_TOOL_PROTOCOL="text")
    server.play(
        answer('<tool_call>{"name": "create", "arguments": {"name": "todo"}}</tool_call>'),
        answer("Done."),
    )
    done = program("-p", "Hi", "--output-format", "json")
    assert "tools" not in server.requests[0].json
    assert [window["id"] for window in done.json["windows"]] == ["todo_1"]


def test_what_would_act_in_a_terminal_is_shown(program: Program, server: Server) -> None:
    server.play(answer("\x1b]0;owned\x07 \u202e\r\nend"))
    assert program("-p", "Hi").out == "␛]0;owned␇ \\u202e\nend\n"
    server.play(answer("\x1b \x9b \u202e 你好"))
    done = program("-p", "Hi", "--output-format", "json")
    assert done.json["result"] == "\x1b \x9b \u202e 你好"
    assert "你好" in done.out
    assert not {"\x1b", "\x9b", "\u202e"} & set(done.out)


@pytest.mark.parametrize("live", [True, False])
def test_a_line_end_cut_in_two_is_still_one(capsys: pytest.CaptureFixture[str], live: bool) -> None:
    output = TextOutput(tells_calls=False, live=live)
    for event in (TextDelta("one\r"), TextDelta("\ntwo"), AnswerGiven("id", "one\r\ntwo")):
        output.hear(event)
    assert capsys.readouterr().out == "one\ntwo\n"


REFERRING = [
    ("See <code_ref>hi</code_ref>.\nSo.", "See \n```python\nprint(1)\n```\n.\nSo.\n"),
    ("<code_ref>\nhi\n</code_ref>", "```python\nprint(1)\n```\n"),
    ("Write `<code_ref>hi</code_ref>`\nso.", "Write `<code_ref>hi</code_ref>`\nso.\n"),
    ("```\n<code_ref>hi</code_ref>\n```\n", "```\n<code_ref>hi</code_ref>\n```\n"),
    ("<code_ref>no</code_ref>\r", "<code_ref>no</code_ref> (code not found)\n"),
    ("a < b <code", "a < b <code\n"),
    ("<code_ref>" + "x" * 300, "<code_ref>" + "x" * 300 + "\n"),
]


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize(("text", "shown"), REFERRING)
def test_code_stands_where_the_words_refer_to_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, shown: str, live: bool
) -> None:
    with Workspace(tmp_path) as workspace:
        CodeStore.of(workspace).save("hi", "python", "print(1)")
        output = TextOutput(workspace, tells_calls=False, live=live)
        for event in (*map(TextDelta, text), AnswerGiven("id", text)):
            output.hear(event)
    assert capsys.readouterr().out == shown


def test_programs_get_the_reference_itself(program: Program, server: Server) -> None:
    CodeStore(program.folder / ".contextui/code").save("hi", "python", "print(1)")
    said = "See <code_ref>hi</code_ref>."
    server.play(answer(said), answer(said))
    assert program("-p", "Hi").out == "See \n```python\nprint(1)\n```\n.\n"
    assert program("-p", "Hi", "--output-format", "json").json["result"] == said


BROKEN = [start(), *block_events(0, {"type": "text", "text": "Half an"})[:-1]]


def test_what_was_said_in_vain_is_not_in_the_output(program: Program, server: Server) -> None:
    server.play(Stream(BROKEN, end="close"), answer("Whole."))
    done = program("-p", "Hi")
    assert (done.status, done.out, done.err) == (0, "Whole.\n", "")


def test_what_was_said_in_vain_is_marked_on_a_terminal(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.play(Stream(BROKEN, end="close"), answer("Whole."))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert program("-p", "Hi").err == ""
    first, mark, last = terminal.getvalue().splitlines()
    assert (first, last) == ("Half an", "Whole.")
    assert mark.startswith("[What stands above broke off and does not count: The answer broke off")


def test_words_of_several_answers_are_lines_of_their_own(program: Program, server: Server) -> None:
    server.play(answer("I look.", call("create", name="todo")), answer("There."))
    assert program("-p", "Hi").out == "I look.\nThere.\n"


LOUD = """
import atexit, os, sys
from contextui import Body, Lod, Window, action
print("loading")
os.system("echo running")
sys.__stdout__.write("waiting\\n")
atexit.register(print, "ending")
class LoudWindow(Window):
    def opened(self) -> None:
        print("opening")
    def content(self, lod: Lod) -> Body:
        os.write(1, b"showing\\n")
        return "loud"
"""


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_what_a_window_prints_is_no_part_of_the_output(program: Program, form: str) -> None:
    program.write("loud.py", LOUD)
    done = program.run("-p", "Open loud", "--window", "loud.py", "--output-format", form)
    printed = {"loading", "running", "waiting", "opening", "showing", "ending"}
    assert printed <= set(done.err.splitlines())
    match form:
        case "text":
            result = done.out.removesuffix("\n")
        case "json":
            result = done.json["result"]
        case _:
            result = done.lines[-1]["result"]
    assert result == "Done: Opened loud_1."


@pytest.mark.parametrize("words", [["windows", "--json"], ["debug", "--messages"]])
def test_nor_of_what_other_commands_list(program: Program, words: list[str]) -> None:
    program("-p", "Hi")
    program.write("loud.py", LOUD)
    done = program.run(*words, "--window", "loud.py")
    assert done.json
    assert "running" in done.err


def test_an_action_that_writes_is_not_carried_out_unless_allowed(
    program: Program, server: Server
) -> None:
    program.write("a.txt", "old\n")
    editing = [
        answer(call("create", name="editor", args={"path": "a.txt"})),
        answer(call("action", window_id="editor_1", action_id="replace_lines",
                    params={"first": 1, "last": 1, "text": "new"})),
        answer(call("action", window_id="editor_1", action_id="save")),
        answer("Done."),
    ]  # fmt: skip
    server.play(*editing)
    program("-p", "Change it")
    assert (program.folder / "a.txt").read_text() == "old\n"
    server.play(*editing)
    program("-p", "Change it", "--approval", "auto")
    assert (program.folder / "a.txt").read_text() == "new\n"


# --- prompts ---------------------------------------------------------------------------------


def test_the_prompt_can_come_on_stdin(program: Program, server: Server) -> None:
    server.play(answer("Yes."))
    assert program("-p", "-", stdin="  what is 你好?\n".encode()).out == "Yes.\n"
    assert said(server) == "  what is 你好?\n"


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        (b"", "empty"),
        (b" \n\t ", "empty"),
        (b"\0" * 1_000, "empty"),
        (b"abc\xff", "byte 4"),
        (b"x " * 2_500_000, "the budget is 128,000"),
    ],
)
def test_a_prompt_that_cannot_be_sent_leaves_no_session(
    program: Program, server: Server, stdin: bytes, words: str
) -> None:
    program("-p", "-", stdin=stdin).fails(2, words)
    assert (program.files(), server.requests) == ([], [])


def test_an_empty_prompt_is_refused(program: Program, server: Server) -> None:
    program("-p", "").fails(2, "empty")
    assert program.files() == []


def test_a_prompt_that_cannot_be_sent_leaves_an_earlier_session_as_it_is(
    program: Program, server: Server
) -> None:
    server.play(answer("Hello."))
    program("-p", "Hi")
    (info,) = program.sessions()
    before = info.path.read_bytes()
    program("-c", "-p", " ").fails(2, "empty")
    program("-c", "-p", "x", "--budget", "50").fails(2, "the budget is 50")
    program("-c", "-p", "-", stdin=b"x " * 2_500_000).fails(2, "tokens")
    assert info.path.read_bytes() == before


def test_nul_and_lone_surrogates_do_no_harm(program: Program, server: Server) -> None:
    server.play(answer("Fine."))
    assert program("-p", "-", stdin=b"a\0b").status == 0
    assert said(server) == "a␀b"
    server.play(answer("Fine."))
    assert program("-p", "a\udcffb").status == 0
    assert said(server) == "a�b"


# --- what is wrong before it starts ----------------------------------------------------------


def test_without_a_key_a_chosen_model_is_an_error(program: Program) -> None:
    program("-p", "Hi", "--model", "claude-x").fails(2, "claude-x", "ANTHROPIC_API_KEY")
    program.set(CONTEXTUI_PROVIDER="anthropic")
    program("-p", "Hi").fails(2, "claude-sonnet-5-5", "ANTHROPIC_API_KEY")
    assert program.files() == []


def test_a_model_that_was_set_long_ago_does_not_keep_the_offline_one_from_answering(
    program: Program,
) -> None:
    program.set(ANTHROPIC_MODEL="claude-x")
    done = program("-p", "Hello")
    done.fails(0, "claude-x", "ANTHROPIC_API_KEY", "offline")
    assert done.out
    assert program("-p", "Hello", "--model", "offline").err == ""


def test_where_nothing_can_be_kept_it_says_so_and_answers(program: Program) -> None:
    program.write("file", "")
    home = program.folder / "file" / "home"
    program.set(CONTEXTUI_HOME=str(home))
    done = program("-p", "Hello", "--output-format", "json")
    assert (done.status, bool(done.json["result"])) == (0, True)
    assert f"\ncontextui: Not saved in {home}/projects/" in done.err
    assert "resumes" not in done.err
    assert done.json["saved"] is False
    told = [line.removeprefix("contextui: ") for line in done.err.splitlines()]
    assert done.json["notices"] == told


@pytest.mark.parametrize("url", ["ftp://x", "localhost", "http://", "http://u:p@h", "http://h h"])
def test_a_wrong_address_is_an_error(program: Program, url: str) -> None:
    program("-p", "Hi", "--base-url", url).fails(2, "--base-url", "http://localhost:11434")
    assert program.files() == []


def test_a_budget_too_small_for_the_prompt_is_an_error(program: Program, server: Server) -> None:
    program("-p", "x", "--budget", "100").fails(2, "the budget is 100")
    assert program.files() == []


def test_broken_settings_are_an_error(program: Program, server: Server) -> None:
    path = program.write(".contextui/config.toml", 'base_url = "http://evil.example"')
    program("-p", "Hi").fails(2, str(path), "base_url")
    path.write_text("model = \n")
    program("-p", "Hi").fails(2, str(path), "line 1")
    assert (program.files(), server.requests) == ([], [])


def test_a_window_that_was_named_must_be_usable(program: Program, server: Server) -> None:
    program("-p", "Hi", "--window", "missing.py").fails(2, "missing.py")
    program.write("broken.py", "def (")
    program("-p", "Hi", "--window", "broken.py").fails(2, "broken.py, line 1")
    program("-p", "Hi", "--windows", "nowhere").fails(2, "nowhere")
    program.write("own/broken.py", "1 / 0")
    program("-p", "Hi", "--windows", "own").fails(2, "division by zero")
    assert program.files() == []


@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_errors_before_the_turn_are_json_too_where_that_was_asked_for(
    program: Program, form: str
) -> None:
    done = program("-p", "", "--output-format", form)
    done.fails(2, "empty")
    (result,) = [done.json] if form == "json" else done.lines
    assert result["is_error"] is True
    assert result["reason"] == "not_started"
    assert "empty" in result["error"]
    assert {"result", "session_id", "stop_reason", "steps", "usage", "windows"} < set(result)


def test_what_nobody_expected_is_one_line_without_keys(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(self: InteractionController, guide: str = "") -> None:
        raise RuntimeError(f"boom\nwith {SECRET}")

    monkeypatch.setattr(InteractionController, "install_prompt", crash)
    done = program("-p", "Hi")
    done.fails(1, "RuntimeError: boom")
    assert SECRET not in done.err
    program.set(CONTEXTUI_DEBUG="1")
    done = program("-p", "Hi")
    assert "Traceback" in done.err
    assert SECRET not in done.err


def test_a_crash_within_the_turn_is_told_and_the_session_goes_on(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(self: InteractionController, *given: object) -> None:
        raise RuntimeError(f"boom with {SECRET}")

    server.play(answer("Yes."), answer("Yes."))
    with monkeypatch.context() as patch:
        patch.setattr(InteractionController, "take", crash)
        done = program("-p", "Hi", "--output-format", "json")
    done.fails(1, "RuntimeError: boom")
    assert (done.json["reason"], done.json["is_error"]) == ("failed", True)
    assert SECRET not in done.err + done.out
    assert program("-r", done.json["session_id"], "-p", "And?").out == "Yes.\n"


# --- sessions --------------------------------------------------------------------------------


def test_each_turn_is_a_new_session_unless_one_goes_on(program: Program, server: Server) -> None:
    server.play(*[answer("Yes.")] * 4)
    program("-p", "one")
    program("-p", "two")
    first, second = sorted(program.sessions(), key=lambda info: info.started)
    program("-c", "-p", "three")
    assert said(server) == "two\nYes.\nthree"
    program("-r", first.id[:12], "-p", "four")
    assert said(server) == "one\nYes.\nfour"
    assert {info.id for info in program.sessions()} == {first.id, second.id}


def test_a_copy_goes_on_and_the_first_stays(program: Program, server: Server) -> None:
    server.play(answer("Yes."), answer("Copied."))
    program("-p", "one")
    (info,) = program.sessions()
    before = info.path.read_bytes()
    done = program("-c", "--fork", "-p", "two", "--output-format", "json")
    assert said(server) == "one\nYes.\ntwo"
    assert done.json["session_id"] != info.id
    assert info.path.read_bytes() == before


def test_windows_come_back_with_what_they_held(program: Program, server: Server) -> None:
    server.play(
        answer(call("create", name="todo", args={"items": ["milk"]})),
        answer("Made."),
        answer("Yes."),
    )
    program("-p", "Make a list")
    program("-c", "-p", "And?")
    assert '<item id="1">milk</item>' in said(server)


def test_where_there_is_no_session_it_says_so(program: Program, server: Server) -> None:
    program("-c", "-p", "Hi").fails(2, str(program.folder))
    program("-r", "abc", "-p", "Hi").fails(2, '"abc"')
    program("-r", "../x", "-p", "Hi").fails(2, "../x")
    assert (program.files(), server.requests) == ([], [])


def test_a_session_that_is_open_elsewhere_names_the_copy(program: Program, server: Server) -> None:
    server.play(answer("Yes."), answer("Yes."))
    program("-p", "one")
    (info,) = program.sessions()
    with SessionStore(program.home).open(info.id):
        program("-c", "-p", "two").fails(2, "--fork")
        assert program("-c", "--fork", "-p", "two").status == 0


def test_a_session_of_another_folder_goes_on_there(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.play(answer("Yes."), answer("Yes."))
    program.write("AGENTS.md", "Be brief in this folder.")
    program("-p", "one")
    (info,) = program.sessions()
    monkeypatch.chdir(tmp_path)
    program("-r", info.id, "-p", "two").fails(0, str(program.folder))
    assert "Be brief in this folder." in server.requests[-1].json["system"][0]["text"]


def test_a_session_of_a_folder_that_no_log_can_name_goes_on(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = program.folder / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "notes.md").write_text("what I noted")
    monkeypatch.chdir(folder)
    server.play(answer("Yes."), answer(call("read_file", path="notes.md")), answer("Read."))
    program("-p", "one")
    done = program("-c", "-p", "two", "--verbose")
    assert (done.status, done.out) == (0, "Read.\n")
    assert done.err == '✓ read_file {"path": "notes.md"}\n'
    assert program("debug").status == 0
    assert len(program("sessions").out.splitlines()) == 2


def test_what_was_damaged_is_told(program: Program, server: Server) -> None:
    server.play(answer("Yes."), answer("Yes."))
    program("-p", "one")
    (info,) = program.sessions()
    with info.path.open("ab") as log:
        log.write(b'{"uuid":"half a li')
    done = program("-c", "-p", "two")
    done.fails(0)
    assert done.out == "Yes.\n"


def test_files_are_the_owners_alone(program: Program, server: Server) -> None:
    server.play(answer("Yes."))
    program("-p", "one")
    modes = {oct(path.stat().st_mode & 0o777) for path in program.home.rglob("*") if path.is_file()}
    assert modes == {"0o600"}
    folders = [program.home, *(path for path in program.home.rglob("*") if path.is_dir())]
    assert {oct(path.stat().st_mode & 0o777) for path in folders} == {"0o700"}
    for path in program.home.rglob("*.jsonl"):
        assert SECRET not in path.read_text()


# --- the folder ------------------------------------------------------------------------------


def test_the_folders_guide_is_in_the_system_prompt(program: Program, server: Server) -> None:
    server.play(answer("Yes."))
    program.write("AGENTS.md", "Speak like a pirate.")
    assert program("-p", "Hi").err == ""
    assert "Speak like a pirate." in server.requests[0].json["system"][0]["text"]


@pytest.mark.parametrize("kind", ["binary", "large", "link", "folder"])
def test_a_guide_that_cannot_be_read_is_told(program: Program, server: Server, kind: str) -> None:
    server.play(answer("Yes."))
    match kind:
        case "binary":
            program.write("AGENTS.md", b"\0\1\2\xff" * 100)
        case "large":
            program.write("AGENTS.md", b"x" * 1_000_001)
        case "link":
            (program.folder / "AGENTS.md").symlink_to("/etc/hostname")
        case "folder":
            (program.folder / "AGENTS.md").mkdir()
    done = program("-p", "Hi")
    done.fails(0, "AGENTS.md is left out")
    assert done.out == "Yes.\n"


def test_own_windows_are_there_and_those_of_a_stranger_are_not(
    program: Program, server: Server
) -> None:
    server.play(answer("Yes."))
    window = (
        "from contextui import Body, Lod, Window\n"
        "class {0}Window(Window):\n"
        '    """Says {0}."""\n'
        "    def content(self, lod: Lod) -> Body:\n"
        '        return "{0}"\n'
    )
    program.write("mine.py", window.format("Mine"))
    program.write(".contextui/windows/theirs.py", "open('ran', 'w')\n" + window.format("Theirs"))
    done = program("-p", "Hi", "--window", "mine.py")
    done.fails(0, "theirs", "contextui trust")
    prompt = server.requests[0].json["system"][0]["text"]
    assert '<class name="mine">Says Mine.</class>' in prompt
    assert "Theirs" not in prompt
    assert not (program.folder / "ran").exists()


# --- on a terminal ---------------------------------------------------------------------------


def test_a_terminal_is_told_of_calls(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.play(answer(call("create", name="todo")), answer("Done."))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    program("-p", "Hi")
    assert terminal.getvalue() == "✓ create todo\n"


def test_lines_beside_the_answer_begin_on_a_line_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = TextOutput(tells_calls=True, live=True)
    output.hear(TextDelta("Half"))
    output.hear(CallStarted(1, "nonsense", {}))
    output.hear(CallFinished(1, "nonsense", False, "There is no such tool."))
    told = capsys.readouterr()
    assert told.out == "Half\n"
    assert told.err == "✗ nonsense: There is no such tool.\n"


def retries(*attempts: int) -> list[RetryScheduled]:
    return [
        RetryScheduled("The server is away.", left, attempt, 5)
        for attempt in attempts
        for left in range(attempt, 0, -1)
    ]


def test_a_countdown_is_one_line_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    output = TextOutput(tells_calls=True, live=True)
    for event in retries(2, 3):
        output.hear(event)
    shown = terminal.getvalue()
    assert "\n" not in shown
    assert shown.startswith("\rTry 2 of 5 in 2 s: The server is away.")
    output.hear(TextDelta("Here."))
    (line,) = pyte_lines(terminal.getvalue(), 40)
    assert line == ""
    assert capsys.readouterr().out == "Here."


def test_a_countdown_never_takes_a_second_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "20")
    output = TextOutput(tells_calls=True, live=True)
    for event in retries(2):
        output.hear(replace(event, reason="服务器不在。" * 9))
    (line,) = pyte_lines(terminal.getvalue(), 20)
    assert line.startswith("Try 2 of 5 in 1 s")


def pyte_lines(written: str, columns: int) -> list[str]:
    """What a terminal shows of this, up to the line in which it ends."""
    screen = pyte.Screen(columns, 10)
    pyte.Stream(screen).feed(written.replace("\n", "\r\n"))
    return [line.rstrip() for line in screen.display[: screen.cursor.y + 1]]


def test_elsewhere_each_try_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    output = TextOutput(tells_calls=True, live=False)
    for event in [*retries(2, 3), StepStarted(2, 10), *retries(2)]:
        output.hear(event)
    assert [line[:12] for line in capsys.readouterr().err.splitlines()] == [
        "Try 2 of 5 i",
        "Try 3 of 5 i",
        "Try 2 of 5 i",
    ]
    stream = StreamOutput(tells_calls=False)
    for event in retries(2, 3):
        stream.hear(event)
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["attempt"], one["seconds"]) for one in told] == [(2, 2), (3, 3)]


def test_finished_is_always_the_last_event(program: Program, server: Server) -> None:
    """What the exit status rests on."""

    async def last() -> object:
        from contextui.agent.models.scripted import ScriptedModel

        controller = InteractionController(model=ScriptedModel("Hi."))
        return [event async for event in controller.run_turn("Hi")][-1]

    assert isinstance(asyncio.run(last()), TurnFinished)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("SSL_CERT_FILE", "/nope"), ("HTTPS_PROXY", "socks5://x:1"), ("HTTPS_PROXY", "http://[::1")],
)
def test_an_environment_that_no_connection_can_be_made_with(
    program: Program, variable: str, value: str
) -> None:
    program.set(ANTHROPIC_API_KEY="k3y-that-nobody-may-see", **{variable: value})
    done = program("-p", "hello")
    done.fails(2, variable, value)
    assert program.files() == []

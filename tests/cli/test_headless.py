"""One turn without a screen, with the real SDK against a server on loopback."""

import subprocess
import sys
from pathlib import Path

import pytest

from contextui.cli.output import TextOutput
from contextui.events import AnswerGiven
from contextui.files.workspace import Workspace
from contextui.model import TextDelta
from contextui.session.code.store import CodeStore
from contextui.windowing.manager import WindowManager
from tests.agent.server import (
    Reply,
    Server,
    Stream,
    answer,
    block_events,
    call,
    error,
    start,
    thinking,
)
from tests.cli.calling import PATIENCE, SECRET, Program, Terminal, texts

# --- what comes out -----------------------------------------------------------------------------


def test_the_answers_text_is_the_output(program: Program, server: Server) -> None:
    server.play(answer("Milk, eggs.\nThat is all."))
    done = program("-p", "What is on my list?")
    assert (done.status, done.out, done.err) == (0, "Milk, eggs.\nThat is all.\n", "")
    assert texts(server) == "What is on my list?"


def test_verbose_prints_calls_on_stderr(program: Program, server: Server) -> None:
    acting = call("action", window_id="todo_1", action_id="add", params={"text": "milk"})
    failing = call("action", window_id="todo_1", action_id="fly")
    server.play(
        answer("I open it.", call("create", name="todo")),
        answer(acting, failing, call("create", name="todo"), call("read_file", path="missing.md")),
        answer("Done."),
    )
    done = program("-p", "Put milk on a list", "--verbose", "--max-windows", "1")
    assert done.out == "I open it.\nDone.\n"
    assert done.err.splitlines() == [
        "✓ create todo",
        '✓ todo_1.add {"text": "milk"}',
        '✗ todo_1.fly: todo_1 has no action "fly". It has: add, find, done, undone, edit, delete, '
        "move, clear_done, close.",
        "✗ create todo: 1 windows are open, which is the maximum (max_windows). Close one first.",
        '✗ read_file {"path": "missing.md"}: There is no "missing.md" in the workspace.',
    ]


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
                "state": {"items": [{"id": 1, "text": "milk", "done": False}], "last_id": 1},
            }
        ],
        "is_error": False,
        "reason": "done",
        "saved": True,
        "notices": [],
        "refused": [],
    }
    assert (done.status, done.err) == (0, "")


def test_stream_json_is_one_object_for_each_event(program: Program, server: Server) -> None:
    server.play(answer(call("create", name="todo")), answer("Done."))
    done = program("-p", "Make a list", "--output-format", "stream-json", "--verbose")
    assert done.err == "✓ create todo\n"
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


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_a_key_that_comes_in_pieces_is_masked(program: Program, server: Server, form: str) -> None:
    words = f"I think of {SECRET}."
    acting = call("create", name="todo", args={"items": [SECRET]})
    server.play(answer(thinking(words), acting), answer(f"It is {SECRET}, see?"))
    done = program("-p", "Tell my key", "--output-format", form)
    assert SECRET not in done.out
    assert "***, see?" in done.out
    if form == "stream-json":
        deltas = [one for one in done.lines if one["type"].endswith("_delta")]
        assert "".join(one["text"] for one in deltas) == "I think of ***.It is ***, see?"


def test_an_auth_token_is_used_like_a_key(program: Program) -> None:
    with Server(answer(f"Hi, {SECRET}."), Reply(401, error("authentication_error"))) as server:
        program.set(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_AUTH_TOKEN=SECRET)
        assert program("-p", "Hi").out == "Hi, ***.\n"
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
        program("-p", "Hi").fails(1, "check ANTHROPIC_AUTH_TOKEN")
    assert "ANTHROPIC_AUTH_TOKEN is set" in program("config").out


def test_a_failed_turn_prints_the_reason_and_exits_with_1(program: Program, server: Server) -> None:
    server.play(Reply(401, error("authentication_error", f"bad key {SECRET}")))
    done = program("-p", "Hi", "--output-format", "json")
    done.fails(1, "ANTHROPIC_API_KEY")
    assert done.json["is_error"] is True
    assert done.json["reason"] == "failed"
    assert done.json["error"]
    assert SECRET not in done.err + done.out


def test_a_turn_of_too_many_steps_is_a_failure(program: Program, server: Server) -> None:
    server.play(answer(call("create", name="todo")))
    done = program("-p", "Go", "--max-steps", "1", "--output-format", "json")
    done.fails(1, "paused after 1 step.", 'contextui -c -p "continue"')
    assert done.json["reason"] == "paused"
    assert done.json["error"] in done.err


def test_the_command_to_continue_fits_the_session(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.play(answer("Half of", stop_reason="max_tokens"))
    program("-p", "Go").fails(1, "cut off at 8,192 tokens.", 'contextui -c -p "continue"')
    (info,) = program.sessions()
    monkeypatch.chdir(tmp_path)
    server.play(answer("Half of", stop_reason="max_tokens"))
    done = program("-r", info.id, "-p", "Go")
    assert done.err.splitlines()[-1].endswith(f'contextui -r {info.id} -p "continue"')


def test_the_settings_reach_the_request(program: Program, server: Server) -> None:
    server.play(answer("Ja."))
    program.set(CONTEXTUI_TOOL_PROTOCOL="text")
    program("-p", "Hi", "--model", "claude-x", "--max-tokens", "77", "--lang", "zh")
    request = server.requests[0].json
    assert (request["model"], request["max_tokens"]) == ("claude-x", 77)
    assert "窗口" in request["system"][0]["text"]
    assert ("tools" in request, "<tool_call>" in request["system"][0]["text"]) == (False, True)
    assert server.requests[0].headers["authorization"].endswith(SECRET)


def test_terminal_control_characters_are_escaped(program: Program, server: Server) -> None:
    server.play(answer("\x1b]0;owned\x07 \u202e\r\nend"))
    assert program("-p", "Hi").out == "␛]0;owned␇ \\u202e\nend\n"
    server.play(answer("\x1b \x9b \u202e 你好"))
    done = program("-p", "Hi", "--output-format", "json")
    assert done.json["result"] == "\x1b \x9b \u202e 你好"
    assert "你好" in done.out
    assert not {"\x1b", "\x9b", "\u202e"} & set(done.out)


def test_a_line_end_cut_in_two_is_still_one(capsys: pytest.CaptureFixture[str]) -> None:
    for live in (True, False):
        output = TextOutput(show_calls=False, live=live)
        for event in (TextDelta("one\r"), TextDelta("\ntwo"), AnswerGiven("id", "one\r\ntwo")):
            output.handle(event)
        assert capsys.readouterr().out == "one\ntwo\n", live


@pytest.mark.parametrize("form", ["text", "json"])
def test_notices_are_always_printed(program: Program, form: str) -> None:
    program.write(".contextui/code/index.sqlite/x", "in the way")
    done = program("-p", "Hi", "--output-format", form)
    assert done.err.startswith("contextui: index.sqlite is not a regular file")
    if form != "text":
        assert [f"contextui: {one}\n" for one in done.json["notices"]] == [done.err]


REFERRING = [
    ("See <code_ref>hi</code_ref>.\nSo.", "See \n```python\nprint(1)\n```\n.\nSo.\n"),
    ("<code_ref>\nhi\n</code_ref>", "```python\nprint(1)\n```\n"),
    ("Write `<code_ref>hi</code_ref>`\nso.", "Write `<code_ref>hi</code_ref>`\nso.\n"),
    ("```\n<code_ref>hi</code_ref>\n```\n", "```\n<code_ref>hi</code_ref>\n```\n"),
    ("<code_ref>no</code_ref>\r", "<code_ref>no</code_ref> (code not found)\n"),
    ("a < b <code", "a < b <code\n"),
    ("<code_ref>" + "x" * 300, "<code_ref>" + "x" * 300 + "\n"),
]


def test_code_replaces_its_reference(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for text, shown in REFERRING:
        for live in (True, False):
            with Workspace(tmp_path) as workspace:
                CodeStore.of(workspace).save("hi", "python", "print(1)")
                output = TextOutput(workspace, show_calls=False, live=live)
                for event in (*map(TextDelta, text), AnswerGiven("id", text)):
                    output.handle(event)
            assert capsys.readouterr().out == shown, (live, text)


def test_programs_get_the_reference_itself(program: Program, server: Server) -> None:
    CodeStore(program.folder / ".contextui/code").save("hi", "python", "print(1)")
    text = "See <code_ref>hi</code_ref>."
    server.play(answer(text), answer(text))
    assert program("-p", "Hi").out == "See \n```python\nprint(1)\n```\n.\n"
    assert program("-p", "Hi", "--output-format", "json").json["result"] == text


BROKEN = [start(), *block_events(0, {"type": "text", "text": "Half an"})[:-1]]


def test_discarded_text_is_not_in_the_output(program: Program, server: Server) -> None:
    server.play(Stream(BROKEN, end="close"), answer("Whole."))
    done = program("-p", "Hi")
    assert (done.status, done.out, done.err) == (0, "Whole.\n", "")


def test_discarded_text_is_marked_on_a_terminal(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.play(Stream(BROKEN, end="close"), answer("Whole."))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert program("-p", "Hi").err == ""
    first, mark, last = terminal.getvalue().splitlines()
    assert (first, last) == ("Half an", "Whole.")
    assert mark.startswith("[The answer above broke off and was discarded: The answer broke off")


FAULTY = """
from contextui import Body, Lod, Window
class BrokenWindow(Window):
    'Cannot be drawn.'
    def content(self, lod: Lod) -> Body:
        return self.state.nothing
"""


def test_a_window_that_cannot_be_drawn_is_reported_on_stderr(program: Program) -> None:
    program.write("broken.py", FAULTY)
    done = program("-p", "Open broken", "--window", "broken.py", "--output-format", "json")
    trouble = "broken_1 could not be drawn: AttributeError: 'State' object has no attribute"
    done.fails(0, f"contextui: {trouble} 'nothing' (broken.py:6)")
    assert [notice.startswith(trouble) for notice in done.json["notices"]] == [True]


def test_a_window_that_did_not_open_is_reported_by_the_answer_alone(program: Program) -> None:
    done = program("-p", "Open nothing.txt")
    assert ("nothing.txt" in done.out, done.err) == (True, "")


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


@pytest.mark.parametrize("form", ["text", "stream-json"])
def test_prints_of_a_window_do_not_reach_the_output(program: Program, form: str) -> None:
    program.write("loud.py", LOUD)
    done = program.run("-p", "Open loud", "--window", "loud.py", "--output-format", form)
    printed = {"loading", "running", "waiting", "opening", "showing", "ending"}
    assert printed <= set(done.err.splitlines())
    result = done.out.removesuffix("\n") if form == "text" else done.lines[-1]["result"]
    assert result == "Opened loud_1."


# --- prompts ------------------------------------------------------------------------------------


def test_a_mentioned_file_is_sent_as_from_the_screen(program: Program, server: Server) -> None:
    (program.folder / "a.py").write_text("x = 1\n")
    server.play(answer("It sets x."))
    assert program("-p", "Explain @a.py").out == "It sets x.\n"
    assert texts(server) == "The person attached a.py (1 lines):\n1 x = 1\nExplain @a.py"


def test_what_is_piped_joins_the_prompt_and_mentions_no_files(
    program: Program, server: Server
) -> None:
    """X16: from a pipe, and from a file; a pipe that stays open is waited for, and mentioned."""
    (program.folder / "a.py").write_text("x = 1\n")
    server.play(answer("Yes."))
    program("-p", "-", stdin=b"see @a.py and @/none")
    assert texts(server) == "see @a.py and @/none"
    server.play(answer("Yes."))
    program.run("-p", "Explain @a.py", stdin="see @/none, 你好\n".encode())
    attached = "The person attached a.py (1 lines):\n1 x = 1\n"
    assert texts(server) == f"{attached}Explain @a.py\n\nsee @/none, 你好\n"
    for stdin in (program.write("latin.txt", b"caf\xe9 \x80"), "/dev/null"):
        server.play(answer("Yes."))
        with open(stdin) as file, program.start("-p", "Explain", stdin=file) as process:
            assert process.wait(PATIENCE) == 0
        assert texts(server) == "Explain" + "\n\ncafé €" * (stdin != "/dev/null")
    server.play(answer("Yes."))
    with program.start("-p", "Explain", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        assert b"</dev/null" in process.stderr.readline()
        process.communicate(b"late", timeout=PATIENCE)
    assert texts(server) == "Explain\n\nlate"


@pytest.mark.parametrize(
    ("path", "reason"), [("./none.py", "There is no file"), (".env", "--approval auto")]
)
def test_a_mentioned_file_that_cannot_be_sent_leaves_no_session(
    program: Program, server: Server, path: str, reason: str
) -> None:
    (program.folder / ".env").write_text("TOKEN=abc\n")
    program("-p", f"Explain @{path}").fails(1, reason)
    assert (program.files(), server.requests) == ([], [])


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        (b"", "empty"),
        (b" \n" * 1_000, "empty"),
        (b"\x7fELF\0\xff", "not text: it contains NUL bytes"),
        (b"x " * 2_500_000, "the budget is 128,000"),
    ],
)
def test_a_prompt_that_cannot_be_sent_leaves_no_session(
    program: Program, server: Server, stdin: bytes, words: str
) -> None:
    program("-p", "-", stdin=stdin).fails(2, words)
    assert (program.files(), server.requests) == ([], [])


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
    assert program("-p", "a\0b").status == 0
    assert texts(server) == "a␀b"
    server.play(answer("Fine."))
    assert program("-p", "a\udcffb").status == 0
    assert texts(server) == "a�b"


def test_a_session_resumes_although_its_folder_was_removed(
    program: Program, tmp_path: Path
) -> None:
    program("-p", "Make a to-do list with milk")
    (info,) = program.sessions()
    program.folder.rename(tmp_path / "moved")
    done = program("-r", info.id, "-p", "What is on my list?")
    assert (done.status, "milk" in done.out) == (0, True)
    assert f"belongs to {info.cwd}, which no longer exists" in done.err


SLOW = """
import time
from contextui import Window, action

class Slow(Window):
    \"\"\"Reads a large report.\"\"\"
    name = "slow"
    class State(Window.State):
        lines: list[str] = []
    state: State

    def opened(self):
        self.state.lines = ["first"]
        time.sleep({seconds})
        {then}
        self.state.lines = ["the report"]

    def content(self, lod):
        return chr(10).join(self.state.lines)
"""


def test_a_window_that_takes_long_to_open_is_waited_for(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W2: it outlasts the patience of `create` and the turn; what it was opened with is saved."""
    monkeypatch.setattr("contextui.windowing.worker.PATIENCE", 0.05)
    program.write("slow.py", SLOW.format(seconds=0.5, then="pass"))
    done = program("-p", "Open slow", "--window", "slow.py", "--output-format", "json")
    assert (done.status, done.json["is_error"]) == (0, False), done
    assert done.json["notices"] == []
    (shown,) = done.json["windows"]
    assert shown["state"] == {"lines": ["the report"]}
    done = program("debug", "--json", "--window", "slow.py")
    assert "the report" in done.out


@pytest.mark.parametrize(
    ("seconds", "then", "message"),
    [
        (30, "pass", "slow_1 is still opening after 0.4 s and is not saved."),
        (1, 'raise OSError("no such report")', "slow_1 did not open: OSError: no such report"),
    ],
)
def test_a_window_that_does_not_open_in_time_is_not_saved_and_that_is_reported(
    program: Program, monkeypatch: pytest.MonkeyPatch, seconds: float, then: str, message: str
) -> None:
    monkeypatch.setattr("contextui.windowing.worker.PATIENCE", 0.05)
    monkeypatch.setattr(WindowManager.settle, "__defaults__", (2.0,))
    monkeypatch.setattr("contextui.agent.tools._LATE", 0.05)
    monkeypatch.setattr("contextui.cli.headless._OPENING", 0.4 if seconds > 1 else 30.0)
    program.write("slow.py", SLOW.format(seconds=seconds, then=then))
    done = program("-p", "Open slow", "--window", "slow.py")
    assert done.status == 1, done
    assert message in done.err
    assert "window_opened" not in program.sessions()[0].path.read_text("utf-8")
    done = program("-c", "-p", "Hi", "--window", "slow.py", "--output-format", "json")
    assert done.json["windows"] == []

"""Real processes, real signals, in the middle of whatever a turn does: the session goes on."""

import json
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.agent.server import Reply, Server, Stream, answer, block_events, call, error, start
from tests.agent.shapes import violations
from tests.agent.wired import KEY, adding, beside, opening, results, texts
from tests.cli import conftest
from tests.cli.calling import PATIENCE, Program

ENDS = {
    "int": (signal.SIGINT, 130),
    "term": (signal.SIGTERM, 143),
    "kill": (signal.SIGKILL, -signal.SIGKILL),
}
TALK = ("--output-format", "stream-json")

program = conftest.program

WORDS = {"type": "text", "text": "Adding."}
HALF_A_CALL = [
    start(),
    *block_events(0, WORDS),
    *block_events(1, adding("eggs"))[:4],  # its input breaks off
]


@pytest.fixture
def server(program: Program) -> Iterator[Server]:
    with Server() as server:
        program.set(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY=KEY)
        yield server


def wait_for(process: "subprocess.Popen[bytes]", kind: str, **fields: Any) -> None:
    """Wait until the process emits this: then it has received what caused it."""
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        if event["type"] == kind and fields.items() <= event.items():
            return
    raise AssertionError(f"it ended without {kind}")


def end_it(program: Program, by: signal.Signals, kind: str, **fields: Any) -> int:
    """Start a turn, and send a signal when it emits something; the exit status."""
    with program.start("-p", "a list, and eggs", *TALK) as process:
        wait_for(process, kind, **fields)
        process.send_signal(by)
        out, err = process.communicate(timeout=PATIENCE)
        assert KEY.encode() not in out + err
        assert b"Traceback" not in err
        if by is not signal.SIGKILL:
            result = json.loads(out.splitlines()[-1])
            assert (result["type"], result["reason"]) == ("result", "stopped")
    return process.returncode


def go_on(program: Program, server: Server) -> list[str]:
    """Go on with the session in this process; what is on the list now."""
    server.play(answer("Here."))
    done = program("-c", "-p", "Are you there?", "--output-format", "json")
    assert (done.status, done.err, done.json["result"]) == (0, "", "Here.")
    for received in server.requests:
        assert violations(received.json) == []
        assert beside(received) == []
    for path in program.home.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0
        assert path.is_dir() or KEY.encode() not in path.read_bytes()
    todo = done.json["windows"][0]
    return [item["text"] for item in todo["state"]["items"]]


@pytest.mark.parametrize(
    ("by", "status"),
    [ENDS["int"], pytest.param(*ENDS["term"], marks=pytest.mark.long), ENDS["kill"]],
    ids=ENDS,
)
def test_a_turn_may_end_in_the_middle_of_a_call(
    program: Program, server: Server, by: signal.Signals, status: int
) -> None:
    server.play(answer("I open it.", opening("milk")), Stream(HALF_A_CALL, held=True))
    assert end_it(program, by, "call_begun", name="action") == status
    assert server.wait_until_gone()
    assert go_on(program, server) == ["milk"]
    assert len(server.requests) == 3  # nobody sent anything in between
    [result] = results(server.requests[-1])
    sent = texts(server.requests[-1])
    assert result["tool_use_id"] in str(server.requests[1].json["messages"][1])
    assert ("Adding.\n\n(stopped here)" in sent) == (by is not signal.SIGKILL)


HANGING = """
import threading
from contextui import Body, Lod, Window, action


class HangWindow(Window):
    \"""Never comes back.\"""

    name = "hang"

    def content(self, lod: Lod) -> Body:
        return "here"

    @action("Hang")
    def hang(self) -> None:
        threading.Event().wait()
"""


@pytest.mark.parametrize(
    ("by", "status"),
    [ENDS["term"], pytest.param(*ENDS["kill"], marks=pytest.mark.long)],
    ids=["term", "kill"],
)
def test_a_turn_may_end_in_the_middle_of_an_action(
    program: Program, server: Server, by: signal.Signals, status: int
) -> None:
    program.set(CONTEXTUI_WINDOW=str(program.write("hang.py", HANGING)))
    hang = call("action", window_id="hang_1", action_id="hang")
    calls = [opening(), adding("a"), call("create", name="hang"), hang, adding("b")]
    server.play(answer("All of it.", *calls))
    assert end_it(program, by, "call_started", number=4) == status
    assert len(server.requests) == 1
    assert go_on(program, server) == ["a"]
    found = results(server.requests[-1])
    assert [one["tool_use_id"] for one in found] == [one["id"] for one in calls]
    assert [one.get("is_error", False) for one in found] == [False, False, False, True, True]


@pytest.mark.long
def test_stopping_interrupts_a_countdown(program: Program, server: Server) -> None:
    busy = Reply(529, error("overloaded_error"), {"retry-after": "59"})
    server.play(answer(opening("milk")), busy)
    assert end_it(program, signal.SIGINT, "retry_scheduled", seconds=59) == 130
    assert len(server.requests) == 2
    assert go_on(program, server) == ["milk"]

"""Progress on stderr, on a terminal and elsewhere."""

import json
import sys
from dataclasses import replace

import pyte
import pytest

from contextui.cli.output import JsonOutput, TextOutput
from contextui.events import CallFinished, CallStarted, RetryScheduled, StepStarted
from contextui.model import TextDelta
from tests.agent.server import Server, answer, call
from tests.cli.calling import Program, Terminal


def test_calls_are_printed_on_a_terminal(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.play(answer(call("create", name="todo")), answer("Done."))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    program("-p", "Hi")
    assert terminal.getvalue() == "✓ create todo\n"


def test_progress_lines_start_on_a_new_line(capsys: pytest.CaptureFixture[str]) -> None:
    output = TextOutput(show_calls=True, live=True)
    output.handle(TextDelta("Half"))
    output.handle(CallStarted(1, "nonsense", {}))
    output.handle(CallFinished(1, "nonsense", False, "There is no such tool."))
    output.handle(CallStarted(2, "run", {}))
    output.handle(CallFinished(2, "run", True, "No output.", status=3))  # X11
    captured = capsys.readouterr()
    assert captured.out == "Half\n"
    assert captured.err == "✗ nonsense: There is no such tool.\n✗ run: exit 3\n"


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
    monkeypatch.setenv("COLUMNS", "50")
    output = TextOutput(show_calls=True, live=True)
    for event in retries(2, 3):
        output.handle(event)
    shown = terminal.getvalue()
    assert "\n" not in shown
    assert shown.startswith("\rAttempt 2 of 5 in 2 s: The server is away.")
    output.handle(TextDelta("Here."))
    (line,) = pyte_lines(terminal.getvalue(), 50)
    assert line == ""
    assert capsys.readouterr().out == "Here."


def test_a_countdown_never_takes_a_second_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "24")
    output = TextOutput(show_calls=True, live=True)
    for event in retries(2):
        output.handle(replace(event, reason="服务器不在。" * 9))
    (line,) = pyte_lines(terminal.getvalue(), 24)
    assert line.startswith("Attempt 2 of 5 in 1 s")


def pyte_lines(written: str, columns: int) -> list[str]:
    """What a terminal shows of this, up to the line in which it ends."""
    screen = pyte.Screen(columns, 10)
    pyte.Stream(screen).feed(written.replace("\n", "\r\n"))
    return [line.rstrip() for line in screen.display[: screen.cursor.y + 1]]


def test_without_a_terminal_each_retry_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    output = TextOutput(show_calls=True, live=False)
    for event in [*retries(2, 3), StepStarted(2, 10), *retries(2)]:
        output.handle(event)
    assert [line[:12] for line in capsys.readouterr().err.splitlines()] == [
        "Attempt 2 of",
        "Attempt 3 of",
        "Attempt 2 of",
    ]
    stream = JsonOutput("stream-json", show_calls=False)
    for event in retries(2, 3):
        stream.handle(event)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["attempt"], one["seconds"]) for one in lines] == [(2, 2), (3, 3)]


@pytest.mark.parametrize(
    ("variable", "value"),
    [("SSL_CERT_FILE", "/nope"), ("HTTPS_PROXY", "socks4://x:1"), ("HTTPS_PROXY", "http://[::1")],
)
def test_an_environment_that_no_connection_can_be_made_with(
    program: Program, variable: str, value: str
) -> None:
    program.set(ANTHROPIC_API_KEY="k3y-that-nobody-may-see", **{variable: value})
    done = program("-p", "hello")
    done.fails(2, variable, value)
    assert program.files() == []

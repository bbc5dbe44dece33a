"""Signals and closed pipes in the middle of an answer: the session can be resumed."""

import array
import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import contextui
from tests import forkserver
from tests.agent.server import Server, Stream, answer, block_events, start
from tests.cli.calling import PATIENCE, Program, texts

WORDS = "Once upon a time"
*HALF, _LAST = [start(), *block_events(0, {"type": "text", "text": WORDS})]
REST = [_LAST, *answer(WORDS)[-2:]]


def read_words(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the events with the text of the unfinished answer."""
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line).get("text") == WORDS[-2:]:  # the last delta
            return
    raise AssertionError("the answer never came")


def read_from(terminal: int) -> bytes:
    """Wait until a terminal shows the text of the unfinished answer."""
    read = b""
    while not read.endswith(WORDS.encode()):
        read += os.read(terminal, 100)
    return read


def resume(program: Program, server: Server) -> str:
    """Resume the session, and return all earlier messages that the model gets."""
    server.play(answer("Here."))
    assert program("-c", "-p", "Are you there?").out == "Here.\n"
    return texts(server)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_stops_the_turn(
    program: Program, server: Server, number: signal.Signals, status: int
) -> None:
    server.play(Stream(HALF, held=True))
    ours, theirs = pty.openpty()
    with program.start("-p", "Tell me a story", stdout=theirs) as process:
        os.close(theirs)
        read_from(ours)
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, os.read(ours, 100), err) == (status, b"\r\n", b"")
    os.close(ours)
    assert server.wait_until_gone()
    earlier = resume(program, server)
    assert earlier.startswith(f"Tell me a story\n{WORDS}")


@pytest.mark.long
def test_a_stopped_turn_is_reported_as_json(program: Program, server: Server) -> None:
    server.play(Stream(HALF, held=True))
    with program.start("-p", "Tell me", "--output-format", "stream-json") as process:
        read_words(process)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=PATIENCE)
        result = json.loads(rest.splitlines()[-1])
    assert process.returncode == 130
    assert (result["reason"], result["is_error"]) == ("stopped", False)
    assert result["result"] == WORDS
    assert result["usage"]["input_tokens"] == 10  # which the server counted before it answered


STUBBORN = """
import asyncio
import sys

from contextui.cli import main, setup


class Stubborn:
    name = "stubborn"

    async def stream(self, request):
        print("asked", flush=True)
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                print("still here", flush=True)
        yield


setup.make_model = lambda loaded: Stubborn()
sys.exit(main(["-p", "Hi"]))
"""


def test_a_second_signal_ends_it_at_once(program: Program, server: Server) -> None:
    command = [sys.executable, "-c", STUBBORN]
    with forkserver.Popen(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"asked\n"
        process.send_signal(signal.SIGTERM)
        assert process.stderr.readline() == b"still here\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 143
    assert resume(program, server) == "Hi\nAre you there?"


def test_an_interrupt_before_the_turn_is_quiet(program: Program) -> None:
    with program.start("-p", "-") as process:  # it waits for the prompt
        assert process.stdin is not None
        process.stdin.write(b"x")
        process.stdin.flush()
        wait_until_reading(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert program.files() == []


INTERRUPTING = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPTED"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
"""


MODULE, COMMAND = ["-m", "contextui"], [str(Path(sys.executable).parent / "contextui")]


@pytest.mark.parametrize(
    ("how", "module"),
    [
        (COMMAND, "logging"),
        (MODULE, "contextui.cli.program"),
        (COMMAND, "pydantic"),
        (MODULE, "contextui.agent.controller"),
    ],
    ids=lambda one: one if isinstance(one, str) else Path(one[-1]).name,
)
def test_an_interrupt_while_it_loads_is_quiet(
    program: Program, tmp_path: Path, how: list[str], module: str
) -> None:
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(INTERRUPTING)
    done = subprocess.run(
        [sys.executable, *how, "-p", "Hello"],
        capture_output=True, timeout=PATIENCE, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "hook"), "INTERRUPTED": module},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
    assert program.files() == []


LISTENING = """
import os, sys  # they are loaded in any Python

loaded = []

class Listening:
    def find_spec(self, name, path=None, target=None):
        loaded.append(name)

sys.meta_path.insert(0, Listening())
sys.path.insert(0, sys.argv[1])
sys.argv = ["/bin/contextui"]
import contextui
print(*loaded[:3])
"""


def test_nothing_is_loaded_before_an_interrupt_is_quiet() -> None:
    folder = str(Path(contextui.__file__).parents[1])
    command = [sys.executable, "-I", "-S", "-c", LISTENING, folder]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
    assert done.stdout.split() == [b"contextui", b"contextui.safe_path", b"contextui.interrupt"]


@pytest.mark.long
def test_ignored_signals_stay_ignored(program: Program, server: Server) -> None:
    """`nohup` ignores SIGHUP, and a shell ignores SIGINT for background jobs."""
    server.play(Stream(HALF, held=True, then=REST))
    numbers = (signal.SIGINT, signal.SIGHUP)
    flags = ("--output-format", "stream-json")
    with program.start("-p", "Tell me", *flags, ignored=numbers) as process:
        read_words(process)
        for number in numbers:
            process.send_signal(number)
        server.release()
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out.splitlines()[-1])["result"] == WORDS


def wait_until_reading(process: "subprocess.Popen[bytes]") -> None:
    """Wait until a process has taken what was written to it."""
    assert process.stdin is not None
    waiting = array.array("i", [1])
    until = time.monotonic() + PATIENCE
    while waiting[0] and time.monotonic() < until:
        fcntl.ioctl(process.stdin, termios.FIONREAD, waiting)
        time.sleep(0.01)


def test_a_closed_pipe_is_quiet_and_stops_the_turn(program: Program, server: Server) -> None:
    server.play(Stream(HALF, held=True))
    with program.start("-p", "Tell me a story", "--output-format", "stream-json") as process:
        read_words(process)
        assert process.stdout is not None
        process.stdout.close()
        server.release()  # the answer ends in the middle, which ends the line too
        assert process.stderr is not None
        err = process.stderr.read()
        status = process.wait(PATIENCE)
    assert (status, err) == (141, b"")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "words", [("sessions", "--json"), ("windows",), ("config",), ("--version",), ("--help",)]
)
def test_a_list_into_a_closed_pipe_is_quiet(program: Program, words: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with program.start(*words, stdout=writing) as process:
        os.close(writing)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (141, b"")


FULL = Path("/dev/full")


@pytest.mark.parametrize(
    ("command", "closed", "full", "status"),
    [
        ("sessions", [1], None, 1),
        ("config", [2], None, 0),
        ("--help", [1], None, 1),
        ("-p Hello", [1], None, 1),
        ("-p Hello --output-format json", [1], None, 1),
        ("-p Hello --output-format stream-json", [1], None, 1),
        ("-p Hello", [1, 2], None, 1),
        ("-p -", [0], None, 2),
        ("", [0], None, 2),
        ("sessions", [], "stdout", 1),
        ("--version", [], "stdout", 1),
        ("--help", [], "stdout", 1),
        ("-p Hello", [], "stdout", 1),
        ("-p Hello --output-format json --lang x", [], "stdout", 2),
        ("-p Hello --lang x", [], "stderr", 2),
    ],
)
def test_streams_that_are_closed_or_full_are_no_crash(
    program: Program, command: str, closed: list[int], full: str | None, status: int
) -> None:
    if full and not FULL.exists():
        pytest.skip("no disk is always full here")
    how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with FULL.open("wb") if full else nullcontext() as disk:
        how |= {full: disk} if full else {}
        argv = [sys.executable, "-m", "contextui", *command.split()]
        done = forkserver.run(argv, closed=closed, timeout=PATIENCE, **how)
    assert done.returncode == status, done
    if full == "stderr":
        return
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    assert done.stderr.count(b"\n") <= 1
    if status == 1 and 2 not in closed:
        reason = b"standard output is closed" if closed else b"disk full"
        assert done.stderr == b"contextui: The output cannot be written: " + reason + b".\n"


def test_benchmarks_end_without_a_traceback_when_nobody_reads() -> None:
    """R15: as `make bench | head -1` does; all of them import the package that sees to it."""
    reader, writer = os.pipe()
    os.close(reader)
    shown = subprocess.run(
        [sys.executable, "-u", "-m", "benchmarks.tokens"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=PATIENCE,
        cwd=Path(__file__).parents[2],
    )
    os.close(writer)
    assert (shown.returncode, shown.stderr) == (-signal.SIGPIPE, "")

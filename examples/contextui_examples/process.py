"""A command as a process of its own, and the results in pytest's output."""

import asyncio
import os
import re
import signal
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from contextui.secrets import mask, own_secrets

_LINE, _TAIL, _FAILURES = 300, 40, 100  # characters of a line; lines and failures that are kept
_ESCAPE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)")
_QUIET = {"NO_COLOR": "1", "PY_COLORS": "0", "PYTHONUNBUFFERED": "1"}
_COUNT = re.compile(r"(?:collecting \.\.\. )?collected (\d+) items?(?: / (\d+) deselected)?")
_VERDICT = re.compile(
    r"(?:^|\s)(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \(.*\))?(?:\s+\[ *\d+%\]$|\s+\S+::|$)"
)
_SECTION = re.compile(r"_{3,} (?:ERROR (?:at \w+ of|collecting) )?(.+?) _{3,}")
_PLACE = re.compile(r"([^\s:<>]+):(\d+): ")


async def lines_of(argv: Sequence[str], folder: Path, started: "Started") -> AsyncIterator[str]:
    """Run a command without a shell and yield its output, line by line.

    Args:
        argv: The command and its arguments.
        folder: Where to run it.
        started: Receives the process, so that others can end it; it is ended in any case.
    """
    process = subprocess.Popen(
        argv, cwd=folder, env=_environment(), start_new_session=True, bufsize=0,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert process.stdout is not None
    started.process, output, pending = process, process.stdout.fileno(), ""
    try:
        os.set_blocking(output, False)
        while piece := await _read(output):
            *whole, pending = (pending + piece.decode("utf-8", "replace")).split("\n")
            for line in whole:
                yield _plain(line)
            pending = pending[-_LINE * 4 :]
        if pending:
            yield _plain(pending)
        while process.poll() is None:  # it may close its output and go on
            await asyncio.sleep(0.02)
    finally:
        started.end()
        process.stdout.close()


async def _read(output: int) -> bytes:
    """Wait for output and read it; empty at its end."""
    ready, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(output, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(output)
    return os.read(output, 65_536)


class Started:
    """A process that was started, with all that it started itself."""

    process: "subprocess.Popen[bytes] | None" = None

    @property
    def status(self) -> int | None:
        """The exit status of a process that has ended."""
        return self.process.returncode if self.process else None

    def end(self) -> None:
        """Kill the process and its children; from any thread, and at any time."""
        if self.process is not None and self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def _environment() -> dict[str, str]:
    """Return the environment without its secrets: the output is shown to the model."""
    secret = {name for name, _ in own_secrets(1)}
    return {name: value for name, value in os.environ.items() if name not in secret} | _QUIET


def _plain(line: str) -> str:
    return mask(_ESCAPE.sub("", line.rstrip("\r\n")))[:_LINE]


class Failure(BaseModel):
    """A test that failed, and where."""

    name: str
    path: str = ""
    line: int = 1
    reason: str = ""


class Report:
    """What pytest has printed so far.

    Attributes:
        total: How many tests there are; 0 if unknown.
        done: How many have ended.
        failures: Those that failed, with their places once these are printed.
        tail: The last lines.
        summary: The last line that sums up.
    """

    def __init__(self) -> None:
        self.total, self.done, self.failed, self.summary = 0, 0, 0, ""
        self.failures, self.tail = list[Failure](), deque[str](maxlen=_TAIL)
        self._section: Failure | None = None
        self._counts = True

    def read(self, line: str) -> None:
        """Take in the next line."""
        self.tail.append(line)
        if found := _COUNT.match(line):
            self.total = int(found[1]) - int(found[2] or 0)
        elif line.startswith("="):
            self._section = None
            self._counts = "test session starts" in line  # the summary names failures once more
            if re.search(r" in [\d.]+s", line):
                self.summary = line.strip("= ")
        elif found := _SECTION.fullmatch(line):
            self._section = Failure(name=found[1])
            if len(self.failures) < _FAILURES:
                self.failures.append(self._section)
        elif self._section is not None:
            self._read_failure(self._section, line)
        elif self._counts and (found := _VERDICT.search(line)):
            self.done += 1
            self.failed += found[1] in ("FAILED", "ERROR")

    @staticmethod
    def _read_failure(failure: Failure, line: str) -> None:
        if line.startswith("E ") and not failure.reason:
            failure.reason = line[1:].strip()
        elif (found := _PLACE.match(line)) and not found[1].startswith(("/", "..")):
            failure.path, failure.line = found[1], int(found[2])

"""The results in pytest's output, while it is printed."""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator

from pydantic import BaseModel

from contextui.secrets import mask

_LINE, _TAIL, _FAILURES = 300, 40, 100  # characters of a line; lines and failures that are kept
_ESCAPE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)")
_COUNT = re.compile(r"(?:collecting \.\.\. )?collected (\d+) items?(?: / (\d+) deselected)?")
_VERDICT = re.compile(
    r"(?:^|\s)(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \(.*\))?(?:\s+\[ *\d+%\]$|\s+\S+::|$)"
)
_SECTION = re.compile(r"_{3,} (?:ERROR (?:at \w+ of|collecting) )?(.+?) _{3,}")
_PLACE = re.compile(r"([^\s:<>]+):(\d+): ")


async def lines_from(output: asyncio.StreamReader) -> AsyncIterator[str]:
    """Yield what a process prints, line by line, without colors and secrets."""
    pending = ""
    while piece := await output.read(65_536):  # a line may be longer than a reader's limit
        *whole, pending = (pending + piece.decode("utf-8", "replace")).split("\n")
        for line in whole:
            yield _plain(line)
        pending = pending[-_LINE * 4 :]
    if pending:
        yield _plain(pending)


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

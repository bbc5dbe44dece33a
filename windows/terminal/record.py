"""Commands of a shell: while they run, as records, and how a model reads them."""

from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel

from contextui.windowing import CommandResult
from contextui.windows.terminal.spool import Spool
from contextui.windows.terminal.transcript import Transcript
from contextui.words import Words

WIDEST = 400  # characters of a line that are shown
_ENDS = (60, 140)  # lines of a result, and of a record: first, last
_LAST = 8  # lines that are shown where the person typed the command, below a line for the others


Who = Literal["person", "model"]


class Command:
    """One command that ran in a shell, or still runs."""

    def __init__(self, number: int, text: str, who: Who, *, folder: str, spool: Spool) -> None:
        self.number, self.text, self.who, self.folder = number, text, who, folder
        self.transcript, self.spool = Transcript(), spool
        self.started = datetime.now(UTC)
        self.ended: datetime | None = None
        self.status: int | None = None
        self.full_screen, self.job, self.stopped = False, 0, False

    @property
    def running(self) -> bool:
        return self.ended is None

    @property
    def seconds(self) -> float:
        return ((self.ended or datetime.now(UTC)) - self.started).total_seconds()

    @property
    def output(self) -> str:
        return self.transcript.output()

    def restart(self) -> None:
        self.transcript = Transcript()
        self.spool.remove()
        self.spool = Spool(self.spool.path)

    def end(self, status: int | None) -> None:
        self.status, self.ended = status, datetime.now(UTC)
        self.spool.finish()


class Ran(BaseModel):
    """A command that has ended."""

    number: int
    text: str
    who: Who
    folder: str
    status: int | None
    seconds: float
    lines: int
    output: list[str]
    cut: int = 0
    full_screen: bool = False
    file: str = ""
    """The name of the file with the whole output, if the lines here are not all of it."""


def record_of(command: Command, number: int) -> Ran:
    """Return the record of a command that ended."""
    lines, cut = ends_of(command.output.splitlines(), *_ENDS)
    return Ran(
        number=number,
        text=command.text,
        who=command.who,
        folder=command.folder,
        status=command.status,
        seconds=round(command.seconds, 1),
        lines=command.transcript.lines,
        output=[] if command.full_screen else lines,
        cut=cut + command.transcript.left_out,
        file=command.spool.keep() if cut + command.transcript.left_out else "",
        full_screen=command.full_screen,
    )


def headline(one: Ran, words: Words) -> str:
    """Return a command with its status in one line."""
    who = {"person": "", "model": " (model)"}[one.who]
    status = "?" if one.status is None else one.status
    ended = words("exit {status}, {seconds} s", status=status, seconds=f"{one.seconds:.0f}")
    return f"[{one.number}] $ {one.text}{who}  {ended}"


def result_of(command: Command, number: int, words: Words) -> CommandResult:
    """Return the result of a command: its status, and the first and last lines of its output."""
    transcript = command.transcript
    shown = transcript.tail if transcript.left_out else [*transcript.head, *transcript.tail]
    # Of a full-screen program, what it drew may be among the lines left out.
    lines = len(shown) if command.full_screen else transcript.lines
    count = _LAST if lines > _LAST + 1 else _LAST + 1
    return CommandResult(
        _text_of(command, number, words),
        command.status,
        command.seconds,
        lines=lines,
        last=tuple(one[:WIDEST] for one in shown[-count:]),
        full_screen=command.full_screen,
    )


def _text_of(command: Command, number: int, words: Words) -> str:
    status = words("unknown") if command.status is None else command.status
    ended = words("exit {status}, {seconds} s", status=status, seconds=f"{command.seconds:.1f}")
    ended = f"[{number}] {ended}"
    if command.full_screen:
        return words("{ended}, a full-screen program", ended=ended)
    lines, cut = ends_of(command.output.splitlines(), *_ENDS)
    cut += command.transcript.left_out
    rest = [more(number, cut, words)] if cut else []
    return "\n".join([ended, *(line[:WIDEST] for line in lines), *rest])


def ends_of(lines: list[str], first: int, last: int) -> tuple[list[str], int]:
    """Return the first and last lines, and how many are left out between them."""
    if len(lines) <= first + last:
        return lines, 0
    return [*lines[:first], "…", *lines[len(lines) - last :]], len(lines) - first - last


def more(number: int, count: int, words: Words) -> str:
    """Return how the lines that are left out can be read."""
    return words("({count} lines left out: page(command={number}))", count=count, number=number)

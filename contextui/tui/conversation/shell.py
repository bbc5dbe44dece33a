"""`!command`: run a command that the person typed into the prompt in the terminal window.

The conversation shows that it runs, how it ended, and the last lines of its output, also after a
resume. The model reads them in the window only.

Only the prompt calls this, for text whose first character the person put there and that they sent
with Enter. A model's answer, a message from the command line, a queued message and a large paste
never get here: they are messages, whatever they begin with.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len
from textual.content import Content

from contextui.errors import ContextUIError, WindowBusyError
from contextui.text import code_point, duration, is_unseen
from contextui.tui.lines import FAINT, MUTED, Rows, fit, line, spinner
from contextui.windowing.error_text import reason_of
from contextui.windowing.job import CommandResult, Job
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window
from contextui.windowing.worker import finished
from contextui.words import Words, msg

MARK = "!"
"""The first character of a prompt that is a command."""

_CLASS, _ACTION = "terminal", "run"
_BEAT = 0.25  # seconds between two pictures of a spinner
_MOMENT = 1.0  # seconds after its start in which a command such as `cd` is waited for


class CommandError(ContextUIError):
    """A typed command did not run."""


def check(command: str) -> None:
    """Raise a CommandError unless a command is one visible line."""
    if not command:
        raise CommandError(msg("Type a command after the !, such as !ls."))
    if "\n" in command:
        raise CommandError(
            msg("A command is one line here. Use the terminal window for more than one.")
        )
    for char in command:
        if is_unseen(char):
            raise CommandError(
                msg("The command has the invisible character {char}. Nothing ran."),
                char=code_point(char),
            )


@dataclass(eq=False, slots=True)
class TypedCommand:
    """A command that the person typed into the prompt; `seconds` is None while it runs."""

    text: str
    window_id: str = ""  # empty while a new terminal starts
    job: Job | None = None
    where: str = ""
    seconds: float | None = None
    problem: str = ""
    is_stopped: bool = False
    result: CommandResult | None = None
    _started: float = field(default_factory=time.monotonic)
    _starting: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any], words: Words) -> "TypedCommand":
        """Return a command of an earlier run, from its facts in the log."""
        seconds, problem, result = facts.get("seconds"), facts["problem"], None
        if seconds is None:
            problem = words("{name} was interrupted when the program ended.", name=facts["text"])
        if "result" in facts:
            status, lines, last, full_screen = facts["result"]
            result = CommandResult("", status, seconds or 0.0, lines, tuple(last), full_screen)
        where = (facts["text"], facts["window"], None, facts["where"])
        return cls(*where, seconds or 0.0, problem, facts.get("stopped", False), result)

    @property
    def to_keep(self) -> dict[str, Any]:
        """What the log keeps of it."""
        result = self.result
        facts: dict[str, Any] = {"id": f"{id(self):x}-{self._started}", "text": self.text}
        facts |= {"window": self.window_id, "where": self.where}
        facts |= {"problem": self.problem, "stopped": self.is_stopped}
        if not self.is_running:
            facts["seconds"] = self.age
        if result is not None:
            facts["result"] = (result.status, result.lines, result.last, result.full_screen)
        return facts

    @property
    def is_running(self) -> bool:
        return self.seconds is None

    @property
    def age(self) -> float:
        return time.monotonic() - self._started if self.seconds is None else self.seconds

    @property
    def mark(self) -> tuple[str, str]:
        result = self.result
        if self.is_running:
            return spinner(), "$text-warning"
        if self.problem or (result is not None and result.status and not self.is_stopped):
            return "✗", "$text-error"
        if self.is_stopped or result is None or result.status is None:
            return "·", MUTED
        return "✓", "$text-success"

    def facts(self, words: Words) -> str:
        took, result = duration(self.age, words), self.result
        if self.is_stopped:
            return f"{words('stopped')}   {took}"
        if result is None or result.status is None:
            return took
        return f"{words('exit {status}', status=result.status)}   {took}"

    async def start(self, windows: WindowManager, opens: Callable[[], object]) -> None:
        """Start it as the person, unless it is stopped first.

        An idle terminal runs it, or a new one, which calls `opens`. It runs in the folder of the
        terminal that was opened last: the person has that in mind.
        """
        check(self.text)
        if not self.is_stopped:
            self._starting = asyncio.create_task(self._start(windows, opens))
            try:
                await self._starting
            except asyncio.CancelledError:
                if not self.is_stopped:
                    raise

    async def _start(self, windows: WindowManager, opens: Callable[[], object]) -> None:
        terminals = [one for one in reversed(windows.windows()) if one.name == _CLASS]
        folders = [str(getattr(one.state, "folder", "")) for one in terminals]
        for window, folder in zip(terminals, folders, strict=True):
            if folder == folders[0] and await _is_idle(window):
                with suppress(WindowBusyError):
                    await self._start_in(windows, window)
                    return
        if _CLASS not in windows.classes:
            raise CommandError(msg("There is no terminal window to run commands in."))
        opens()
        window = windows.classes[_CLASS]()
        state: Any = window.state
        if folders:
            state.folder = folders[0]
        # Opening may block on the window's own thread, which the screen must not.
        await self._start_in(windows, await asyncio.to_thread(windows.open, window))

    async def _start_in(self, windows: WindowManager, window: Window) -> None:
        given = {"command": self.text, "seconds": 0}
        result = await windows.act(window.id, _ACTION, given, actor="person")
        if not result.ok:
            raise result.error or CommandError(result.text)
        self.window_id, self.job = window.id, result.job

    def stop(self) -> None:
        """End it as Ctrl+C does, or do not start it."""
        self.is_stopped = True
        if self.job is not None:
            self.job.cancel()
        elif self._starting is not None:
            self._starting.cancel()

    async def wait(self, windows: WindowManager, words: Words, seconds: float | None) -> None:
        """Wait until it has ended, also by the end of its terminal; up to a timeout."""
        job = self.job
        if job is not None:
            await finished([job.ended], seconds)
            if not job.ended.done():
                return
        self.seconds = self.age
        if job is not None and isinstance(job.result, CommandResult):
            self.result, self.seconds = job.result, job.result.seconds
        elif not self.is_stopped and windows.get(self.window_id) is None:
            self.problem = words("{id} closed.", id=self.window_id)
        elif not self.is_stopped and job is not None and job.error is not None:
            self.problem = reason_of(job.error, words.lang)
        else:
            self.is_stopped = True


class CommandLine(Rows):
    """A typed command: whether it runs or how it ended, and the last lines of its output."""

    def __init__(self, entry: TypedCommand, words: Words) -> None:
        super().__init__(classes="ran")
        self.entry, self._words = entry, words

    def on_mount(self) -> None:
        if self.entry.is_running:
            self.auto_refresh = _BEAT

    def show_end(self) -> None:
        self.auto_refresh = None
        self.refresh(layout=True)

    def rows(self, width: int) -> list[Content]:
        entry, width = self.entry, width - 2
        mark, style = entry.mark
        facts = f"   {entry.facts(self._words)}"
        head = Content.assemble(
            (f"{mark} ", style),
            (fit(f"$ {entry.text}", max(width - cell_len(facts), 4)), "$foreground 85%"),
            (facts, FAINT),
        )
        rows = [(f"  {fit(text.expandtabs(), width)}", style) for text, style in self._below()]
        return [head, *(Content.styled(*row) for row in rows)]

    def _below(self) -> list[tuple[str, str]]:
        words, entry, result = self._words, self.entry, self.entry.result
        if entry.is_running and not entry.window_id:
            return [(words("Starts in a new terminal."), MUTED)]
        if entry.is_running:
            runs = words("Runs in {name}.", name=entry.window_id)
            return [(_joined(runs, entry.where, words), MUTED)]
        if result is None:
            return [(entry.problem, MUTED)] if entry.problem else []
        if not result.last:
            nothing = msg("A full-screen program.") if result.full_screen else msg("No output.")
            return [(words(nothing), MUTED)]
        rows = [(one, MUTED) for one in result.last]
        if more := result.lines - len(result.last):
            text = words("… {count} more lines in {name}.", count=f"{more:,}", name=entry.window_id)
            rows.insert(0, (_joined(text, entry.where, words), FAINT))
        return rows


def end_line(entry: TypedCommand, words: Words) -> str:
    """Return a command and how it ended in one line."""
    return line(f"{entry.mark[0]} {entry.text}   {entry.facts(words)}")


def _joined(text: str, where: str, words: Words) -> str:
    return f"{text}{where}" if words.lang == "zh" or not where else f"{text} {where}"


async def _is_idle(terminal: Window) -> bool:
    """Whether no command runs there, after a moment for one that has just started."""
    jobs = runtime_of(terminal).jobs
    if job := jobs.get():
        await finished([job.ended], max(job.at.started + _MOMENT - time.monotonic(), 0))
    return jobs.get() is None

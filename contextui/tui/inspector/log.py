"""The log page of the inspector: errors, warnings, notices and sweeps, newest at the bottom."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from textual.binding import Binding
from textual.content import Content
from textual.events import Resize
from textual.message import Message

from contextui.events import AnswerDiscarded, Event, Notice, RetryScheduled, TurnFinished
from contextui.session.usage import Sweep
from contextui.tui.app_session import AppSession, Changes
from contextui.tui.inspector.detail import copy_text
from contextui.tui.inspector.sweeps import reason_text, time_of
from contextui.tui.lines import FAINT, MUTED, LineView, wrapped
from contextui.words import Text, Words

_KEPT = 1_000
_LONGEST = 2_000  # maximum characters of an entry

Kind = Literal["notice", "sweep", "warning", "error"]
_STYLES: dict[Kind, str] = {
    "notice": "$foreground",
    "sweep": "$foreground",
    "warning": "$text-warning",
    "error": "$text-error",
}


class LogLine(NamedTuple):
    """A log entry: time, severity, text, repetitions in a row, and figures below the text."""

    when: str
    kind: Kind
    text: str
    times: int = 1
    figures: str = ""


class LogPage(LineView, can_focus=True):
    """Warnings, notices, and windows that could not be loaded or drawn."""

    BINDINGS = [Binding("c", "copy", "copy")]

    class Grew(Message):
        """Posted when an entry is added."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="events")
        self._words = words
        self._notices: Sequence[Text] = ()
        self._heard = self._attempt = 0
        self._log: deque[LogLine] = deque(maxlen=_KEPT)
        self._earlier: list[LogLine] = []
        self._lines: list[tuple[str, str, str]] = []

    def take_focus(self, may: bool) -> None:
        self.can_focus = may

    def attach(self, desk: AppSession) -> None:
        for entry in desk.entries:
            if not entry.usable:
                self.add(str(entry), "error")
        self._notices = desk.session.notices
        self._heard = len(self._notices)
        for notice in dict.fromkeys([*desk.notices, *self._notices]):
            self.add(notice)

    def take(self, changes: Changes) -> None:
        for trouble in changes.troubles:
            self.add(trouble)
        self._take_notices()

    def handle(self, event: Event) -> None:
        match event:
            case Notice():
                self.add(event.text, "notice")
            case AnswerDiscarded():
                self.add(event.reason)
            case RetryScheduled() if event.attempt != self._attempt:
                self._attempt = event.attempt  # the event repeats every second
                self.add(event.reason)
            case TurnFinished():
                self._attempt = 0
                if event.is_error and event.explanation:
                    self.add(event.explanation, "error")
                self._take_notices()

    def _take_notices(self) -> None:
        for notice in self._notices[self._heard :]:
            self.add(notice)
        self._heard = len(self._notices)

    def add(self, text: Text, kind: Kind = "warning") -> None:
        """Add an entry; count it if it repeats the last one."""
        when, short = datetime.now().strftime("%H:%M"), self._words(text)[:_LONGEST]
        last = self._log[-1] if self._log else None
        if last is not None and (last.kind, last.text) == (kind, short):
            self._log[-1] = LogLine(when, kind, short, last.times + 1)
        else:
            self._log.append(LogLine(when, kind, short))
        self._draw()
        self.post_message(self.Grew())

    def add_sweep(self, sweep: Sweep, provider: Callable[[int], int]) -> None:
        self._log.append(self._line_of(sweep, provider))
        self._draw()

    def put_before(self, sweeps: Iterable[Sweep], provider: Callable[[int], int]) -> None:
        self._earlier = [self._line_of(sweep, provider) for sweep in sweeps][-_KEPT:]
        self._draw()

    def _line_of(self, sweep: Sweep, provider: Callable[[int], int]) -> LogLine:
        words, names = self._words, ("saved", "rewritten", "rent", "price")
        figures = {name: f"{provider(round(getattr(sweep, name) or 0)):,}" for name in names}
        text = words("Sweep: {reason}", reason=reason_text(sweep, words))
        below = (
            words("{saved} removed, {rewritten} rewritten", **figures),
            words("rent {rent}, price {price} tokens", **figures),
        )
        return LogLine(time_of(sweep), "sweep", text, figures="\n".join(below))

    def action_copy(self) -> None:
        text = "\n".join(
            "\n".join(filter(None, (f"{entry.when} {entry.text}", entry.figures)))
            for entry in (*self._earlier, *self._log)
        )
        copy_text(self, text, self._words)

    def on_resize(self, _: Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        width = max(self.line_width - 6, 10)
        self._lines = []
        for entry in (*self._earlier, *self._log):
            times = f"  ×{entry.times}" if entry.times > 1 else ""
            for number, piece in enumerate(wrapped(entry.text + times, width)):
                self._lines.append((entry.when if not number else "", piece, _STYLES[entry.kind]))
            figures = wrapped(entry.figures, width) if entry.figures else ()
            self._lines += (("", piece, MUTED) for piece in figures)
        self.set_count(max(len(self._lines), 1))

    def line_at(self, number: int, width: int) -> Content:  # noqa: ARG002
        if not self._lines:
            return Content.styled(self._words("No warnings."), FAINT)
        when, text, style = self._lines[number]
        return Content.assemble((f"{when:<6}", MUTED), (text, style))

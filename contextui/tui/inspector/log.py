"""The log page of the inspector: errors, warnings, notices and sweeps, newest at the bottom."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import ClassVar, Literal, NamedTuple

from textual.binding import Binding
from textual.content import Content

from contextui.events import AnswerDiscarded, Event, Notice, RetryScheduled, TurnFinished
from contextui.session.usage import Sweep
from contextui.tui.app_session import AppSession, Changes
from contextui.tui.inspector.usage import reason_text, time_of
from contextui.tui.lines import FAINT, MUTED, Sheet, wrapped
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


class LogPage(Sheet):
    """Warnings, notices, and windows that could not be loaded or drawn."""

    BINDINGS = [Binding("c", "copy", "copy")]
    follows: ClassVar[bool] = True

    def __init__(self, words: Words, desk: AppSession, grew: Callable[[], object]) -> None:
        super().__init__()
        self.id = "events"
        self._words, self._desk, self._grew = words, desk, grew
        self._notices = desk.session.notices
        self._heard = self._attempt = 0
        self._log: deque[LogLine] = deque(maxlen=_KEPT)
        self._earlier: list[LogLine] = []

    def on_mount(self) -> None:
        for entry in self._desk.entries:
            if not entry.usable:
                self.add(str(entry), "error")
        self._heard = len(self._notices)
        for notice in dict.fromkeys([*self._desk.notices, *self._notices]):
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
        self.redraw()
        self._grew()

    def add_sweep(self, sweep: Sweep) -> None:
        self._log.append(self._line_of(sweep))
        self.redraw()

    def put_before(self, sweeps: Iterable[Sweep]) -> None:
        self._earlier = [self._line_of(sweep) for sweep in sweeps][-_KEPT:]
        self.redraw()

    def _line_of(self, sweep: Sweep) -> LogLine:
        """Format a sweep, with the figures of the session's log: those do not change later."""
        words, names = self._words, ("saved", "rewritten", "rent", "price")
        figures = {name: f"{round(getattr(sweep, name) or 0):,}" for name in names}
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
        self.app.copy_to_clipboard(text)

    def lines_for(self, width: int) -> Sequence[Content]:
        """Return the entries, with the time before the first line of each."""
        room, lines = max(width - 6, 10), list[Content]()
        for entry in (*self._earlier, *self._log):
            times = f"  ×{entry.times}" if entry.times > 1 else ""
            for number, piece in enumerate(wrapped(entry.text + times, room)):
                when = "" if number else entry.when
                lines.append(Content.assemble((f"{when:<6}", MUTED), (piece, _STYLES[entry.kind])))
            figures = wrapped(entry.figures, room) if entry.figures else ()
            lines += (Content.styled(f"{'':<6}{piece}", MUTED) for piece in figures)
        return lines or [Content.styled(self._words("No warnings."), FAINT)]

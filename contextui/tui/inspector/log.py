"""The log page of the inspector: errors, warnings, notices and sweeps, newest at the bottom."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content

from contextui.events import AnswerDiscarded, Event, Notice, RetryScheduled, TurnFinished
from contextui.session.usage import Sweep
from contextui.tui.app_session import AppSession, Changes
from contextui.tui.desktop.rowlist import FilterLine, RowList, found_text, not_found_text
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.usage import reason_text, time_of
from contextui.tui.lines import FAINT, MUTED, fit
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


@dataclass(slots=True, eq=False)
class LogEntry:
    """An entry of the log: time, severity, text, and how many times in a row."""

    when: str
    kind: Kind
    text: str
    times: int = 1

    def __str__(self) -> str:
        return f"{self.when} {self.text}"


class LogList(RowList[LogEntry]):
    """The entries, one in a row; Enter shows one whole."""

    BINDINGS = [Binding("enter", "open", "whole text")]
    expands: ClassVar[bool] = False

    def opens(self, place: int, clicks: int) -> bool:  # noqa: ARG002
        return clicks == 2


class LogPage(Container):
    """Warnings, notices, and windows that could not be loaded or drawn."""

    BINDINGS = [
        Binding("slash", "filter", "filter", key_display="/"),
        Binding("c", "copy", "copy"),
        Binding("escape", "clear", show=False),
    ]

    def __init__(self, words: Words, desk: AppSession, grew: Callable[[], object]) -> None:
        super().__init__(id="events")
        self._words, self._desk, self._grew = words, desk, grew
        self._notices = desk.session.notices
        self._heard = self._attempt = 0
        self._log: list[LogEntry] = []
        self._list = LogList(self._draw, id)
        self._filter = FilterLine(self._list, keeps=True)
        self.action_filter, self.action_clear = self._filter.begin, self._filter.end

    def compose(self) -> ComposeResult:
        yield self._filter
        yield self._list

    def on_mount(self) -> None:
        for entry in self._desk.reloader.registry.entries:
            if not entry.usable:
                self.add(str(entry), "error")
        self._heard = len(self._notices)
        for notice in dict.fromkeys([*self._desk.notices, *self._notices]):
            self.add(notice)
        self._show()

    def take(self, changes: Changes) -> None:
        for trouble in changes.troubles:
            self.add(trouble, "error")
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
        short, last = self._words(text)[:_LONGEST], self._log[-1] if self._log else None
        entry = LogEntry(datetime.now().strftime("%H:%M"), kind, short)
        if last is not None and (last.kind, last.text) == (kind, short):
            last.when, last.times = entry.when, last.times + 1
        else:
            self._log.append(entry)
        self._show()
        self._grew()

    def add_sweep(self, sweep: Sweep) -> None:
        self._log.append(self._entry_of(sweep))
        self._show()

    def put_before(self, sweeps: Iterable[Sweep]) -> None:
        self._log[:0] = map(self._entry_of, sweeps)
        self._show()

    def _entry_of(self, sweep: Sweep) -> LogEntry:
        """Format a sweep, with the figures of the session's log: those do not change later."""
        words, names = self._words, ("saved", "rewritten", "rent", "price")
        figures = {name: f"{round(getattr(sweep, name) or 0):,}" for name in names}
        text = words("Sweep: {reason}", reason=reason_text(sweep, words))
        below = (
            words("{saved} removed, {rewritten} rewritten", **figures),
            words("rent {rent}, price {price} tokens", **figures),
        )
        return LogEntry(time_of(sweep), "sweep", "\n".join([text, *below]))

    @on(FilterLine.Changed)
    def _show(self) -> None:
        """Show the entries that the filter leaves; a cursor at the newest stays there."""
        del self._log[:-_KEPT]
        words, query, before = self._words, self._filter.query_text, len(self._list.rows)
        found = [one for one in self._log if query.casefold() in f"{one.kind} {one}".casefold()]
        note = words("No warnings.")
        if query:
            note = not_found_text(query, words)
            self._filter.show_found(found_text(len(found), len(self._log), words))
        follows = self._list.cursor >= before - 1
        self._list.show(found, Content.styled(note, MUTED if query else FAINT))
        if follows:
            self._list.choose(len(found))

    def _draw(self, entry: LogEntry, width: int) -> Content:
        first, _, rest = entry.text.partition("\n")
        times = f"  ×{entry.times}" if entry.times > 1 else ""
        text = fit(first + " …" * bool(rest), max(width - 6 - len(times), 0)).rstrip() + times
        return Content.assemble((f"{entry.when:<6}", MUTED), (text, _STYLES[entry.kind]))

    @on(LogList.Opened)
    def _open(self) -> None:
        if (entry := self._list.row) is not None:
            self.app.push_screen(WholeText(self._words, entry.when, entry.text))

    def action_copy(self) -> None:
        self.app.copy_to_clipboard("\n".join(map(str, self._list.rows)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "clear" or bool(self._filter.display)

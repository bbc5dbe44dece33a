"""The parts of the screen of `contextui dev`: the model's view, the log, and the action's form."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from contextui.tui.desktop.field import Field
from contextui.tui.desktop.form import FormField, form_fields, values_of
from contextui.tui.desktop.rowlist import RowList, spread
from contextui.tui.desktop.values import problems
from contextui.tui.dev.bench import LogEntry, Reading
from contextui.tui.footer import KeyBar
from contextui.tui.lines import FAINT, KEY, MUTED, RULE, Sheet, fit, fold, line
from contextui.windowing.action import Action
from contextui.windowing.window import Window
from contextui.words import Words, msg

_ADDED, _REMOVED = "on $success-soft", "on $error-soft"
_KINDS = {
    "reload": (msg("reload"), "$text-success"),
    "warning": (msg("warning"), "$text-warning"),
    "error": (msg("error"), "$text-error"),
    "you": (msg("you"), "$text-secondary"),
    "model": ("model", "$text-accent"),
    "window": (msg("window"), MUTED),
    "opened": (msg("opened"), "$text-success"),
}


class ModelSheet(Sheet):
    """The XML of the three levels and the change block, each under a rule with its tokens."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self.id = "dev-xml"
        self._words = words
        self._reading: Reading | None = None

    def show(self, reading: Reading | None) -> None:
        self._reading = reading
        self.redraw()

    def lines_for(self, width: int) -> Sequence[Content]:
        reading, words = self._reading, self._words
        if reading is None:
            return [Content.styled(words("The window is closed. R opens it again."), MUTED)]
        return list(self._lines(reading, width))

    def _lines(self, reading: Reading, width: int) -> Iterator[Content]:
        words = self._words
        for level in reading.levels:
            yield self._rule(words(level.lod.value), level.tokens, width)
            for number, text in enumerate(level.xml.split("\n")):
                is_frame = text.lstrip().startswith(("<Window", "</", "<Content", "<Actions"))
                style = _ADDED if number in level.changed else MUTED if is_frame else ""
                yield from _drawn(text, style, width)
            yield Content("")
        if reading.before is None:
            return
        old, new = reading.before.major, reading.version.major
        title = words("Change block v{old} to v{new}", old=old, new=new)
        full = reading.levels[0].tokens
        if not reading.change:
            yield self._rule(title, full, width)
            text = words("The whole block is sent: more than its content has changed.")
            yield from fold(Content.styled(text, MUTED), width)
            return
        yield self._rule(title, reading.change_tokens, width)
        for text in reading.change.split("\n"):
            style = _ADDED if text.startswith("+") else _REMOVED if text.startswith("-") else MUTED
            yield from _drawn(text, style, width)

    def cost(self) -> Content:
        reading, words = self._reading, self._words
        if reading is None:
            return Content("")
        if reading.warnings:
            return Content.styled(" ".join(map(words, reading.warnings)), "$text-warning")
        if not reading.change:
            return Content("")
        text = words(
            "A turn costs {change} instead of {full} while little changes.",
            change=reading.change_tokens,
            full=reading.levels[0].tokens,
        )
        return Content.styled(text, MUTED)

    def _rule(self, title: str, tokens: int, width: int) -> Content:
        count = self._words("{count} tokens", count=f"{tokens:,}")
        room = max(width - cell_len(title) - cell_len(count) - 5, 1)
        return Content.assemble(
            ("── ", RULE), (title, "bold"), (f" {'─' * room} ", RULE), (count, MUTED)
        )


def _drawn(text: str, style: str, width: int) -> list[Content]:
    """Return one line of XML, wrapped, with its ground over the whole width."""
    shown = line(text)
    indent = len(shown) - len(shown.lstrip(" ")) + 2
    rows = fold(Content(shown), width, indent)
    if style.startswith("on "):
        rows = [row.pad_right(max(width - row.cell_length, 0)) for row in rows]
    return [row.stylize(style) if style else row for row in rows]


class LogList(RowList[LogEntry]):
    """What happened, newest first: time, kind, text, and at the end the file and line."""

    BINDINGS = [Binding("enter", "open", "whole text")]
    expands: ClassVar[bool] = False

    def __init__(self, words: Words) -> None:
        super().__init__(self._drawn, lambda entry: entry.at, id="dev-log")
        self._words = words

    def opens(self, place: int, clicks: int) -> bool:  # noqa: ARG002
        return clicks == 2

    def _drawn(self, entry: LogEntry, width: int) -> Content:
        (name, style), text = _KINDS[entry.kind], line(entry.text)
        place = f"  {line(entry.place)}" if entry.place and entry.place not in text else ""
        head = Content.assemble(
            (f"{entry.at:%H:%M:%S}  ", FAINT), (fit(self._words(name), 9), style), text
        )
        return spread(head, Content.styled(place, MUTED), width)


class ActionForm(Vertical, can_focus=True):
    """The form of the chosen action: it runs as the person, or as the model."""

    BINDINGS = [
        Binding("enter", "run", "run as you"),
        Binding("escape", "leave", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def __init__(self, words: Words, submit: Callable[[], object]) -> None:
        super().__init__(id="dev-form")
        self._words, self.action_run = words, submit
        self.action: Action | None = None
        self._fields: list[FormField] = []
        self._note = Static(classes="note")

    def compose(self) -> ComposeResult:
        yield self._note
        keys = (("enter", msg("run as you")), ("esc m", msg("run as model")), ("s", msg("say it…")))
        yield KeyBar(self._words, keys)

    async def show(self, window: Window | None, action_id: str | None) -> None:
        actions = dict(window.actions) if window is not None else {}
        before = self.action
        self.action = actions.get(action_id or "") or next(iter(actions.values()), None)
        if _form_of(before) != _form_of(self.action):
            for field in self._fields:
                await field.remove()
            self._fields = []
            if window is not None and self.action is not None:
                names = tuple(param.name for param in self.action.params.listing)
                self._fields = form_fields(window, self.action, names, self._words)
                await self.mount_all(self._fields, before=self._note)
            self.show_result("", "")
        parts: list[Any] = [("a ", KEY), (self._words("actions"), "bold")]
        for action in actions.values():
            chosen = self.action is not None and action.id == self.action.id
            parts += ["  ", (line(action.id), "bold" if chosen else MUTED)]
        self.border_title = Content.assemble(*parts)
        label = self.action.labelled(self._words.lang) if self.action is not None else ""
        self.border_subtitle = Content.styled(line(label), MUTED) if label else None

    @property
    def params(self) -> Mapping[str, Any] | None:
        if self.action is None:
            return None
        given = values_of(self._fields)
        found = problems(self.action.params, given, self._words)
        for field in self._fields:
            field.show_problem(found.get(field.param.name, ""))
        return None if found else given

    def show_result(self, text: str, style: str) -> None:
        self._note.update(Content.styled(line(text), style or MUTED))
        self._note.display = bool(text)

    @on(Field.Done)
    def _run(self, message: Field.Done) -> None:
        message.stop()
        self.action_run()

    def action_leave(self) -> None:
        """Leave the fields: letters are keys again."""
        if self.has_focus:
            self.screen.focus_next()
        else:
            self.focus()


def _form_of(action: Action | None) -> object:
    """Return what decides on the fields of an action."""
    return None if action is None else (action.id, str(action.params))

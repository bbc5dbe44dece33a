"""Forms for action params: text fields, choices, and validation errors."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from contextui.files.workspace import Workspace
from contextui.tui.desktop.field import Field
from contextui.tui.desktop.pathfield import PathField, is_path
from contextui.tui.desktop.shared import short_name
from contextui.tui.desktop.values import Choice, chosen, kind_of, limits, problems, read
from contextui.tui.footer import KeyBar
from contextui.tui.lines import FAINT, MUTED, fit, line
from contextui.windowing.action import Action, ActionResult
from contextui.windowing.params import Param
from contextui.windowing.window import Window
from contextui.words import Words, msg

LABEL = 16
"""Width of a field's name in cells."""

_HINTS = {
    "string": msg("text"),
    "int": msg("a whole number"),
    "float": msg("a number"),
    "string|string[]": msg("text; several: one per line"),
    "int|string": msg("a number or text"),
    "any": msg("text, or any JSON"),
    "object": msg("a JSON object"),
}
"""Hints for the common types."""


class FormField(Vertical):
    """The label, the input and the error of one param of an action."""

    DEFAULT_CSS = f"""
    FormField {{
        height: auto; margin: 0 0 1 0;
        Horizontal {{ height: auto; }}
        .label {{ width: {LABEL}; height: 1; }}
        .limits {{ width: auto; max-width: 40%; height: auto; padding: 0 0 0 1; }}
        .wrong {{ display: none; height: auto; padding: 0 0 0 {LABEL}; color: $text-error; }}
        &.-wrong .wrong {{ display: block; }}
    }}
    """

    def __init__(
        self,
        param: Param,
        action: Action,
        default: Any,
        words: Words,
        workspace: Workspace | None = None,
    ) -> None:
        super().__init__()
        self.param = param
        self._paths: PathField | None = None
        self._action, self._default, self._words = action, default, words
        self._kind = kind_of(param.type)
        self._wrong = Static(classes="wrong")
        self.input: Widget = self._choice() if self._kind.options else self._field(workspace)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static(Content(fit(self.param.name, LABEL - 1)), classes="label")
            yield self._paths or self.input
            if allowed := limits(self.param, self._words):
                yield Static(Content.styled(line(allowed), FAINT), classes="limits")
        yield self._wrong

    def _choice(self) -> Choice:
        kind = self._kind
        begin = self._default if isinstance(self._default, list | tuple) else [self._default]
        labels = [str(next(chosen(option))) for option in kind.options]
        if kind.type == "bool":
            labels = [self._words("no"), self._words("yes")]
        return Choice(
            kind.options,
            [option for option in kind.options if any(value in begin for value in chosen(option))],
            many=kind.many,
            may_be_empty=self.param.optional,
            labels=labels,
            note=self._words("optional") if self.param.optional else "",
        )

    def _field(self, workspace: Workspace | None) -> Field:
        wanted = _HINTS.get(self._kind.type)
        hint = self._words(wanted) if wanted else line(self.param.type)
        if self._kind.many:
            hint += f", {self._words('one per line')}"
        if self.param.optional:
            hint += f"  {self._words('optional')}"
        if workspace is not None and is_path(self.param.name, self._kind.type):
            self._paths = PathField(_shown(self._default), hint, workspace)
            return self._paths.input
        return Field(_shown(self._default), hint)

    @property
    def value(self) -> Mapping[str, Any]:
        """The entered param; empty if it is optional and unchanged."""
        name, kind = self.param.name, self._kind
        if isinstance(self.input, Choice):
            values = [self._meant(one) for one in self.input.chosen]
            if kind.many:
                return {name: values} if values or not self.param.optional else {}
            return {name: values[0]} if values and values[0] != self._default else {}
        assert isinstance(self.input, Field)
        typed = self.input.text if self._paths is None else self._paths.value
        if typed == _shown(self._default) and self.param.optional:
            return {}
        if not typed and (self.param.optional or "string" not in kind.type):
            return {}
        return {name: read(kind, typed)}

    def _meant(self, option: str) -> Any:
        """Return an option's value; for text that looks like a number, the one that validates."""
        *others, text = chosen(option)
        name, wrap = self.param.name, self._kind.many
        for value in others:
            given = {name: [value] if wrap else value}
            if name not in problems(self._action.params, given, self._words):
                return value
        return text

    def show_problem(self, problem: str) -> None:
        self._wrong.update(Content.assemble((line(problem), "$text-error")))
        self.set_class(bool(problem), "-wrong")


def form_fields(
    window: Window, action: Action, names: tuple[str, ...], words: Words
) -> list[FormField]:
    """Return the form fields for these params of an action."""
    files, default = window.env.files, action.params.default
    asked = [param for param in action.params.listing if param.name in names]
    return [FormField(param, action, default(param.name), words, files) for param in asked]


def values_of(fields: Iterable[FormField]) -> dict[str, Any]:
    """Return the entered params."""
    return {name: value for field in fields for name, value in field.value.items()}


def _shown(default: object) -> str:
    if default is None or default == []:
        return ""
    is_text = isinstance(default, str)
    return str(default) if is_text else json.dumps(default, ensure_ascii=False, default=str)


_TITLE = 66  # maximum cells of a title
_KEYS = (("enter", msg("run")), ("tab", msg("next field")), ("^j", "new line"), ("esc", "close"))


class FormScreen(ModalScreen[ActionResult | None]):
    """Asks for the params of an action and runs it; stays open until it succeeds."""

    BINDINGS = [
        Binding("escape", "dismiss", "back", show=False),
        Binding("enter", "run", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def __init__(
        self,
        window: Window,
        action: Action,
        names: tuple[str, ...],
        words: Words,
        *,
        given: Mapping[str, Any],
        run: Callable[[Mapping[str, Any]], Awaitable[ActionResult]],
    ) -> None:
        super().__init__()
        self._window, self._action, self._names, self._given = window, action, names, given
        self._run, self._words = run, words
        self._fields = form_fields(window, action, names, words)
        self._note = Static(classes="note")
        self._is_acting = False

    def compose(self) -> ComposeResult:
        action = self._action
        about, whose = line(action.labelled(self._words.lang)), line(self._window.id)
        is_long = cell_len(f"{whose}  {about}") > _TITLE
        with Vertical(classes="box") as box:
            title = short_name(action, self._words) if is_long else about
            box.border_title = Content.assemble((whose, "bold"), (f"  {title}", MUTED))
            with VerticalScroll(can_focus=False):
                if is_long:
                    yield Static(Content.styled(about, MUTED), classes="about")
                yield from self._fields
            yield self._note
            yield KeyBar(self._words, _KEYS)

    @on(Field.Done)
    async def action_run(self) -> None:
        if self._is_acting:
            return
        given = {**self._given, **values_of(self._fields)}
        if self._show_problems(problems(self._action.params, given, self._words)):
            return
        asked = {name: given[name] for name in given if name in self._names}
        self._is_acting = True
        self._show_note(self._words("running…"), MUTED)
        self.run_worker(self._carry_out(asked))

    async def _carry_out(self, params: Mapping[str, Any]) -> None:
        result = await self._run(params)
        self._is_acting = False
        if result.ok:
            self.dismiss(result)
        else:
            self._show_note(result.text, "$text-error")

    def _show_problems(self, found: Mapping[str, str]) -> bool:
        for field in self._fields:
            field.show_problem(found.get(field.param.name, ""))
        wrong = [field for field in self._fields if field.param.name in found]
        if wrong:
            wrong[0].input.focus()
        others = [text for name, text in found.items() if name not in self._names]
        self._show_note("; ".join(others), "$text-error")
        return bool(found)

    def _show_note(self, text: str, style: str) -> None:
        self._note.update(Content.assemble((line(text), style)))
        self._note.display = bool(text)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.dismiss(None)

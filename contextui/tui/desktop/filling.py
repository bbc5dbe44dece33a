"""One field of a form: its name, where it is filled in, and what is wrong with it."""

import inspect
import json
from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from contextui.tui.cells import fit, line
from contextui.tui.desktop.choice import Choice
from contextui.tui.desktop.field import Field
from contextui.tui.desktop.values import chosen, kind_of, problems, read
from contextui.tui.words import Words
from contextui.windowing.action import Action
from contextui.windowing.base import Window
from contextui.windowing.params import Param

LABEL = 16
"""Cells of a field's name."""

_WANTED = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "string|string[]": "text; several, each on its line",
    "int|string": "a number or text",
    "any": "text, or any JSON",
    "object": "a JSON object",
}
"""What the usual types are called where something is to be filled in."""


class Filling(Vertical):
    """A param to be filled in."""

    DEFAULT_CSS = f"""
    Filling {{
        height: auto; margin: 0 0 1 0;
        Horizontal {{ height: auto; }}
        .label {{ width: {LABEL}; height: 1; }}
        .wrong {{ display: none; height: auto; padding: 0 0 0 {LABEL}; color: $text-error; }}
        &.-wrong .wrong {{ display: block; }}
    }}
    """

    def __init__(self, param: Param, action: Action, default: Any, words: Words) -> None:
        super().__init__()
        self.param = param
        self._action, self._default, self._words = action, default, words
        self._kind = kind_of(param.type)
        self._wrong = Static(classes="wrong")
        self.input: Widget = self._choice() if self._kind.options else self._field()

    def compose(self) -> ComposeResult:
        """The name, the field, and below it what is wrong."""
        with Horizontal():
            name = fit(self.param.name, LABEL - 1)
            yield Static(Content.assemble((name, "")), classes="label")
            yield self.input
        yield self._wrong

    def _choice(self) -> Choice:
        kind = self._kind
        begin = self._default if isinstance(self._default, list | tuple) else [self._default]
        labels = [str(next(chosen(one))) for one in kind.options]
        if kind.type == "bool":
            labels = [self._words("no"), self._words("yes")]
        return Choice(
            kind.options,
            [one for one in kind.options if any(value in begin for value in chosen(one))],
            many=kind.many,
            may_be_empty=self.param.optional,
            labels=labels,
            note=self._words("optional") if self.param.optional else "",
        )

    def _field(self) -> Field:
        wanted = _WANTED.get(self._kind.type)
        hint = self._words(wanted) if wanted else line(self.param.type)
        if self._kind.many:
            hint += f", {self._words('one on each line')}"
        if self.param.optional:
            hint += f"  {self._words('optional')}"
        return Field(_shown(self._default), hint)

    @property
    def value(self) -> Mapping[str, Any]:
        """What was filled in; nothing if it was left as it was and may be left out."""
        name, kind = self.param.name, self._kind
        if isinstance(self.input, Choice):
            values = [self._meant(one) for one in self.input.chosen]
            if kind.many:
                return {name: values} if values or not self.param.optional else {}
            return {name: values[0]} if values and values[0] != self._default else {}
        assert isinstance(self.input, Field)
        typed = self.input.text
        if typed == _shown(self._default) and self.param.optional:
            return {}
        if not typed and (self.param.optional or "string" not in kind.type):
            return {}
        return {name: read(kind, typed)}

    def _meant(self, option: str) -> Any:
        """The value of an option; of a text that looks like a number, the one that is taken."""
        *others, text = chosen(option)
        name, wrap = self.param.name, self._kind.many
        for value in others:
            if name not in problems(self._action.params, {name: [value] if wrap else value}):
                return value
        return text

    def complain(self, problem: str) -> None:
        """Say beside the field what is wrong with it, or nothing."""
        self._wrong.update(Content.assemble((line(problem), "$text-error")))
        self.set_class(bool(problem), "-wrong")


def fillings(window: Window, action: Action, names: tuple[str, ...], words: Words) -> list[Filling]:
    """The fields for these params of an action."""
    signature = inspect.signature(getattr(type(window), action.id))
    made = []
    for param in action.params.listing:
        if param.name in names:
            default = signature.parameters[param.name].default
            known = None if default is inspect.Parameter.empty else default
            made.append(Filling(param, action, known, words))
    return made


def _shown(default: object) -> str:
    if default is None or default == []:
        return ""
    return (
        default
        if isinstance(default, str)
        else json.dumps(default, ensure_ascii=False, default=str)
    )

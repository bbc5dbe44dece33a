"""A form for an action: one field for each param, and what is wrong beside it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from contextui.tui.cells import MUTED, line
from contextui.tui.desktop.field import Field
from contextui.tui.desktop.filling import fillings
from contextui.tui.desktop.naming import short_name
from contextui.tui.desktop.values import problems
from contextui.tui.hints import KeyHints
from contextui.tui.words import Words
from contextui.windowing.action import Action, ActionResult
from contextui.windowing.anchors import Form
from contextui.windowing.base import Window

Run = Callable[[Mapping[str, Any]], Awaitable[ActionResult]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be filled in.

    Attributes:
        window: Whose action.
        action: The action.
        names: The params that are left to the person.
        given: Those that are not.
    """

    window: Window
    action: Action
    names: tuple[str, ...]
    given: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_action(cls, window: Window, action: Action) -> "Question":
        """All params of an action."""
        return cls(window, action, tuple(param.name for param in action.params.listing))

    @classmethod
    def of_anchor(cls, window: Window, anchor: Form) -> "Question":
        """The fields of an anchor."""
        return cls(window, window.actions[anchor.action], anchor.fields, anchor.params)


_TITLE = 66  # cells that a title has room for
_KEYS = (("enter", "runs it"), ("tab", "next field"), ("^j", "new line"), ("esc", "leaves"))


class FormScreen(ModalScreen[ActionResult | None]):
    """Asks for the params of an action and carries it out; it stays open until that went well.

    Args:
        question: What to ask for.
        run: Carries it out with what was filled in.
        words: The language.
    """

    BINDINGS = [
        Binding("escape", "leave", "back", show=False),
        Binding("enter", "run", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def __init__(self, question: Question, run: Run, words: Words) -> None:
        super().__init__()
        self._question, self._run, self._words = question, run, words
        self._fillings = fillings(question.window, question.action, question.names, words)
        self._note = Static(classes="note")
        self._is_acting = False

    def compose(self) -> ComposeResult:
        """The fields, in a box over the windows."""
        action = self._question.action
        about, whose = line(action.labelled(self._words.lang)), line(self._question.window.id)
        is_long = cell_len(f"{whose}  {about}") > _TITLE
        with Vertical(classes="box") as box:
            told = short_name(action, self._words) if is_long else about
            box.border_title = Content.assemble((whose, "bold"), (f"  {told}", MUTED))
            with VerticalScroll(can_focus=False):
                if is_long:
                    yield Static(Content.styled(about, MUTED), classes="about")
                yield from self._fillings
            yield self._note
            yield KeyHints(self._words, _KEYS)

    @on(Field.Done)
    async def action_run(self) -> None:
        """Carry it out, if it can be; else say beside each field why not."""
        if self._is_acting:
            return
        given = {
            **self._question.given,
            **{name: value for one in self._fillings for name, value in one.value.items()},
        }
        if self._complain(problems(self._question.action.params, given)):
            return
        asked = {name: given[name] for name in given if name in self._question.names}
        self._is_acting = True
        self._say(self._words("running…"), MUTED)
        self.run_worker(self._carry_out(asked))

    async def _carry_out(self, params: Mapping[str, Any]) -> None:
        result = await self._run(params)
        self._is_acting = False
        if result.ok:
            self.dismiss(result)
        else:
            self._say(result.text, "$text-error")

    def _complain(self, found: Mapping[str, str]) -> bool:
        for one in self._fillings:
            one.complain(found.get(one.param.name, ""))
        wrong = [one for one in self._fillings if one.param.name in found]
        if wrong:
            wrong[0].input.focus()
        others = [text for name, text in found.items() if name not in self._question.names]
        self._say("; ".join(others), "$text-error")
        return bool(found)

    def _say(self, text: str, style: str) -> None:
        self._note.update(Content.assemble((line(text), style)))
        self._note.display = bool(text)

    def action_leave(self) -> None:
        """Carry nothing out."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """A click beside the box leaves."""
        if event.widget is self:
            self.dismiss(None)

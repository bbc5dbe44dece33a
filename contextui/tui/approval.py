"""The question before anything outside of a window is touched: exactly what will be done."""

import json
import time
import unicodedata

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from contextui.agent.approval import Decision, Question
from contextui.tui.cells import KEY, MUTED, fit, inert, line
from contextui.tui.diff import changed, drawn, is_diff
from contextui.tui.words import Words

_DEAF = 0.5  # seconds in which no key counts: it was meant for something else
_NAME = 26  # cells
_AROUND, _WHY = 12, 4  # rows of the box beside what would be done, and of the field for a reason
_MOST = 22  # rows of what would be done
_LONGEST = 20_000  # characters of params that are shown


class Preview(Static):
    """What would be done: a diff, or the window's own words, or the params."""

    def __init__(self, words: Words, question: Question) -> None:
        super().__init__(id="preview")
        untold = words("The window does not tell what would change.")
        self._text = (
            (question.preview.diff if question.preview else "") or _params(question) or untold
        )

    def render(self) -> Content:
        """As wide as there is room."""
        return drawn(self._text, self.size.width)


class ApprovalScreen(ModalScreen[Decision]):
    """Asks the person. Nothing is done until they choose, and Enter chooses nothing."""

    CSS_PATH = "approval.tcss"

    def __init__(self, words: Words, question: Question) -> None:
        super().__init__()
        self._words, self._question = words, question
        self._opened = time.monotonic()

    def compose(self) -> ComposeResult:
        """The question, what would be done, and the answers."""
        words = self._words
        with Vertical(id="box") as box:
            box.border_title = Content(words("Allow this?"))
            yield Static(self._headline(), id="headline")
            with VerticalScroll(id="what"):
                yield Preview(words, self._question)
            yield Static(self._choices(), id="choices")
            reason = Input(placeholder=words("Why not? Enter sends it to the model"), id="why")
            reason.display = False
            yield reason
            yield Static(
                Content.styled(words("Nothing is done until you choose. ↑ ↓ scroll."), MUTED),
                id="note",
            )

    def on_mount(self) -> None:
        """Keys scroll what would be done."""
        self.query_one("#what").focus()

    def on_resize(self) -> None:
        """Leave room for the answers: what would be done can be scrolled, they cannot."""
        why = _WHY if self.query_one("#why").display else 0
        room = self.size.height * 23 // 25 - _AROUND - why
        self.query_one("#what").styles.max_height = max(min(room, _MOST), 1)

    def _headline(self) -> Content:
        question, words = self._question, self._words
        parts: list[tuple[str, str]] = [
            ("◆ ", "$text-accent"),
            (f"{words('model')} ", "$text-accent"),
            (f"{words('wants to run')}  ", MUTED),
            (line(f"{question.window_id}.{question.action_id}"), "bold"),
            (f"   {line(question.label)}", MUTED),
        ]
        if question.preview and is_diff(question.preview.diff):
            added, removed = changed(question.preview.diff)
            parts += [(f"   +{added}", "$text-success"), (f" −{removed}", "$text-error")]
        return Content.assemble(*parts)

    def _choices(self) -> Content:
        words = self._words
        named = line(f"{self._question.window_id}.{self._question.action_id}")
        rows = [
            ("y", words("Allow once"), ""),
            ("s", words("Allow for this session"), words("{name} only", name=named)),
            ("n", words("Refuse"), words("Esc does the same")),
            ("r", words("Refuse and say why…"), words("your words go to the model")),
        ]
        return Content("\n").join(
            [
                Content.assemble((f"{key}  ", f"{KEY} bold"), fit(name, _NAME), (hint, MUTED))
                for key, name, hint in rows
            ]
        )

    # --- answers -----------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """A letter chooses, also one that an input method made wide."""
        if self.query_one("#why", Input).has_focus:
            if event.key == "escape":
                event.stop()
                self._decide(Decision("no"))
            return
        if time.monotonic() - self._opened < _DEAF:
            event.stop()
            event.prevent_default()
            return
        key = unicodedata.normalize("NFKC", event.character or "").lower()
        choices = {"y": Decision("once"), "s": Decision("always"), "n": Decision("no")}
        if event.key == "escape" or key in choices:
            event.stop()
            self._decide(choices.get(key, Decision("no")))
        elif key == "r":
            event.stop()
            event.prevent_default()
            self._ask_why()

    @on(events.Click, "#choices")
    def _choose_clicked(self, event: events.Click) -> None:
        choices = (Decision("once"), Decision("always"), Decision("no"))
        if event.y < len(choices):
            self._decide(choices[event.y])
        else:
            self._ask_why()

    @on(Input.Submitted, "#why")
    def _refuse(self, event: Input.Submitted) -> None:
        self._decide(Decision("no", event.value))

    def _ask_why(self) -> None:
        why = self.query_one("#why", Input)
        why.display = True
        self.on_resize()
        why.focus()

    def _decide(self, decision: Decision) -> None:
        if self.is_current:
            self.dismiss(decision)


def _params(question: Question) -> str:
    if not question.params:
        return ""
    shown = json.dumps(dict(question.params), ensure_ascii=False, indent=2, default=str)
    return inert(shown[:_LONGEST]).plain

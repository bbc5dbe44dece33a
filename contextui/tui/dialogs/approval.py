"""The approval dialog: asks before an action changes something outside its window.

It names the target, counts and shows the whole change, and ignores accidental keys.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from contextui.agent.approval import Decision, Question
from contextui.tui.desktop.field import Field
from contextui.tui.desktop.rowlist import spread
from contextui.tui.dialogs.diff import (
    UNSEEN,
    ChangeView,
    Line,
    diff_lines,
    is_diff,
    plain_lines,
    spelled,
    whole_lines,
)
from contextui.tui.dialogs.guard import KeyGuard
from contextui.tui.footer import hints_in
from contextui.tui.keys import letter_of
from contextui.tui.lines import FAINT, KEY, MUTED, Rows, fold, line
from contextui.windowing.preview import Verb
from contextui.words import Words, msg

_ROWS = 20  # maximum rows of the change
_ROOMY, _CRAMPED = 22, 12  # terminal rows needed for blank rows, and for the row with the action
_NAME = 44  # cells of an answer before the first layout
_LONGEST = 400  # maximum characters of a target in the headline
_EDGE = 6  # cells of the box's border beside its title
_BOX = 0.96  # the part of the screen's width that the box may take
_TYPING = ("-asks-why", "-edits")  # classes of the screen, with a field in place of the answers
_SLOT = re.compile(r"\{(\w+)\}")
_KEYS = (("↑↓", msg("line")), ("pgdn", msg("page")), ("end", msg("last line")))

Parts: TypeAlias = list[tuple[str, str] | Content]


@dataclass(frozen=True, slots=True)
class Wording:
    """The text of the dialog for one kind of action, in English."""

    wants: str  # the headline
    it: str  # replaces a target that is too long for the headline
    once: str  # approve this time
    always: str  # approve this target from now on; empty if that is never possible
    others: str  # what `always` does not cover
    nothing: str  # what has happened so far
    asks: str  # the notice while the question is pending


_OTHER_FILES = msg("until this session ends; every other file still asks")
_ALL_ELSE = msg("until this session ends; everything else still asks")
WORDING: dict[Verb, Wording] = {
    "write": Wording(
        msg("{model} wants to write {target}"), msg("this file"), msg("Write it once"),
        msg("Write {target} without asking"), _OTHER_FILES,
        msg("Nothing is written until you choose."), msg("asks to write {target}"),
    ),
    "commit": Wording(
        msg("{model} wants to write {target}"), msg("this commit"), msg("Make this commit"),
        "", "", msg("Nothing is committed until you choose."), msg("asks to write {target}"),
    ),
    "delete": Wording(
        msg("{model} wants to delete {target}"), msg("this file"), msg("Delete it once"),
        msg("Delete {target} without asking"), _OTHER_FILES,
        msg("Nothing is deleted until you choose."), msg("asks to delete {target}"),
    ),
    "run": Wording(
        msg("{model} wants to run {target}"), msg("this"), msg("Run it once"),
        msg("Run {target} without asking"), _ALL_ELSE,
        msg("Nothing runs until you choose."), msg("asks to run {target}"),
    ),
    "type": Wording(
        msg("{model} wants to type into {target}"), msg("this program"), msg("Type it once"),
        "", "", msg("Nothing is typed until you choose."), msg("asks to type into {target}"),
    ),
    "read": Wording(
        msg("{model} wants to read {target}"), msg("this file"), msg("Send it to the model once"),
        msg("Send {target} to the model without asking"), _OTHER_FILES,
        msg("Nothing is sent until you choose."), msg("asks to read {target}"),
    ),
    "close": Wording(
        msg("{model} wants to close {target} and discard its unsaved edits"), msg("this window"),
        msg("Close it and discard the edits"), msg("Close {target} without asking"), _ALL_ELSE,
        msg("Nothing is closed until you choose."), msg("asks to close {target}"),
    ),
}  # fmt: skip
"""The dialog's text by kind of action."""
_SAME_VALUES = msg("Run {target} with exactly these values without asking")


def wording_of(question: Question) -> Wording:
    """Return the text for a question; without a target it is about the action itself."""
    return WORDING["run" if question.target == question.name else question.verb]


def filled(template: str, **values: tuple[str, str] | Content) -> Parts:
    """Fill the slots of a translated sentence with styled values."""
    pieces = _SLOT.split(template)
    return [values[piece] if at % 2 else (piece, "") for at, piece in enumerate(pieces) if piece]


class Choice(Rows):
    """An answer: its key, what it does, and a remark."""

    column = 0
    """Cells before the remark."""

    def __init__(
        self, letter: str, what: Content, about: str = "", *, is_needed: bool = False
    ) -> None:
        super().__init__(id=f"choice-{letter}")
        self.letter, self.what, self._about, self._is_needed = letter, what, about, is_needed

    def show_text(self, what: Content, about: str) -> None:
        self.what, self._about = what, about
        self.refresh(layout=True)

    def rows(self, width: int) -> list[Content]:
        about, gap = self._about, max(self.column - self.what.cell_length, 3)
        head = Content.assemble((f"{self.letter}  ", f"{KEY} bold"), self.what)
        if about and head.cell_length + gap + cell_len(about) <= width:
            return [Content.assemble(head, (" " * gap + about, MUTED))]
        below = fold(Content.styled(about, MUTED), width - 3) if about and self._is_needed else []
        return [head, *(Content.assemble("   ", row) for row in below)]


class Head(Widget):
    """The action, its label, and the number of invisible characters in the change."""

    def __init__(self, words: Words, question: Question) -> None:
        super().__init__(id="head")
        self._words, self._question = words, question
        self.unseen = 0

    def render(self) -> Content:
        odd, name = self._oddity(), Content(line(self._question.name))
        label = Content.styled(f"   {line(self._question.label)}", MUTED)
        room = self.size.width - name.cell_length - odd.cell_length - 3
        return spread(name + label if label.cell_length <= room else name, odd, self.size.width)

    def _oddity(self) -> Content:
        if not self.unseen:
            return Content("")
        note = self._words.plural(
            self.unseen,
            "{count} invisible character, shown as",
            "{count} invisible characters, shown as",
        )
        return Content.assemble((f"{note} ", "$text-warning"), ("⟨U+…⟩", UNSEEN))


class Foot(Widget):
    """What has happened so far, and the scroll keys."""

    def __init__(self, words: Words, text: str) -> None:
        super().__init__(id="foot")
        self._words, self._text = words, Content.styled(text, FAINT)

    def say(self, text: str) -> None:
        self._text = Content.styled(text, "$text-warning")
        self.refresh()

    def render(self) -> Content:
        keys = hints_in(self.size.width - self._text.cell_length - 3, _KEYS, self._words)
        if keys.cell_length + self._text.cell_length >= self.size.width:
            keys = Content("")
        return spread(self._text, keys, self.size.width)


class ApprovalScreen(ModalScreen[Decision]):
    """Asks the person for approval. Nothing happens until they choose; Enter does not."""

    CSS_PATH = "approval.tcss"
    AUTO_FOCUS = "#change"
    LETTERS = frozenset("ysnrw")
    """The keys of the answers."""

    def __init__(self, words: Words, question: Question) -> None:
        super().__init__()
        self._words, self._question = words, question
        self._wording = wording_of(question)
        self._target = spelled(question.target[:_LONGEST])
        preview = question.preview
        self._diff = (
            diff_lines(preview.diff, words, preview.target)
            if preview and is_diff(preview.diff)
            else []
        )
        self._is_whole = self._has_target_rows = self._is_withdrawn = False
        self._why = Field(hint=words("Why not? Enter sends it to the model"))
        self._why.id = "why"
        self._why.border_subtitle = words("enter refuses, esc goes back")
        self.guard = KeyGuard(self)

    def compose(self) -> ComposeResult:
        words, wording = self._words, self._wording
        with Vertical(id="box"):
            yield Head(words, self._question)
            yield ChangeView(self._change(), id="change")
            yield from self._details()
            with Vertical(id="choices"):
                yield from self._choices()
            yield self._why
            yield Foot(words, words(wording.nothing))

    def _details(self) -> ComposeResult:
        yield from ()

    # --- content -----------------------------------------------------------------------

    def _change(self) -> list[Line]:
        question, words = self._question, self._words
        lines: list[Line] = []
        if self._has_target_rows:
            lines += [Line("!", line.text) for line in plain_lines(question.target)]
        if question.problem:
            problem = words("The preview failed: {problem}", problem=question.problem)
            lines += [Line("?", line.text) for line in plain_lines(problem)]
        preview = question.preview
        text = (preview.text if preview else "") or ""
        if preview and preview.diff and not self._diff:
            text = f"{text}\n{preview.diff}" if text else preview.diff
        lines += plain_lines(text) if text else []
        lines += self._diff
        if preview is None and not question.problem:
            lines.append(Line("@", words("This window provides no preview.")))
        if preview is None or not (text or self._diff):
            given = json.dumps(dict(question.params), ensure_ascii=False, indent=2, default=str)
            lines += plain_lines(given) if question.params else []
        return lines

    def _title(self) -> tuple[Content, bool]:
        """Return the headline and whether it names the target; a long target gets its own rows."""
        words = self._words
        # At the first frame, the box has no size yet.
        width = self.query_one("#box").outer_size.width or int(self.app.size.width * _BOX)
        room = width - _EDGE
        tail: Parts = []
        if self._diff:
            added, removed = (sum(one.kind == kind for one in self._diff) for kind in "+-")
            tail = [(f"   +{added}", "bold $text-success"), (f" −{removed}", "bold $text-error")]
        if self._question.changed:
            tail.append((f"   {words('changed just now')}", "bold $text-warning"))
        model = (words("model"), "bold $text-accent")
        short = (words(self._wording.it), "bold")
        for target in (self._target.stylize_before("bold"), short):
            parts = filled(words(self._wording.wants), model=model, target=target)
            title = Content.assemble(("◆ ", "$text-accent"), *parts, *tail)
            if title.cell_length <= room:
                return title, target is not short
        return title, False

    def _choices(self) -> Iterator[Widget]:
        words, wording, preview = self._words, self._wording, self._question.preview
        yield Choice("y", Content(words(wording.once)))
        if self._question.grant is not None:
            yield Choice("s", self._always(_NAME), words(wording.others), is_needed=True)
        else:
            yield Static(Content(words("This asks every time.")), classes="note")
        yield Choice("n", Content(words("Refuse")), words("esc does the same"))
        yield Choice("r", Content(words("Refuse with a reason…")), words("the model reads it"))
        if preview is not None and preview.whole:
            yield Choice("w", *self._whole_or_change())

    def _always(self, room: int) -> Content:
        """Return what `s` approves, spelled out."""
        words, wording, question = self._words, self._wording, self._question
        template = words(wording.always)
        if question.target == question.name and question.params:
            template = words(_SAME_VALUES)
        for target in (self._target.stylize_before("bold"), Content(words(wording.it))):
            name = Content.assemble(*filled(template, target=target))
            if name.cell_length + 3 <= room:
                break
        return name

    def _whole_or_change(self) -> tuple[Content, str]:
        words, preview = self._words, self._question.preview
        if self._is_whole:
            return Content(words("Show only the change")), ""
        count = len(plain_lines(preview.whole)) if preview else 0
        note = words.plural(count, "{count} line, changes marked", "{count} lines, changes marked")
        return Content(words("Show the whole file")), note

    def on_mount(self) -> None:
        self.screen_layout_refresh_signal.subscribe(self, self._fit_rows, immediate=True)
        # The click that brings the terminal back to the front is not an answer.
        self.watch(self.app, "app_focus", lambda _: self.guard.hold(), init=False)
        self.query_one("#box").border_title, _ = self._title()
        self._align()

    def on_resize(self) -> None:
        self.set_class(self.size.height >= _ROOMY, "-roomy")
        self.set_class(self.size.height < _CRAMPED, "-cramped")
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        if not self.is_attached:
            return
        box, change = self.query_one("#box"), self.query_one(ChangeView)
        box.border_title, is_named = self._title()
        if self._question.grant is not None:
            choice = self.query_one("#choice-s", Choice)
            choice.show_text(self._always(choice.size.width), self._words(self._wording.others))
        self._align()
        if self._has_target_rows == is_named:
            self._has_target_rows = not is_named
            if not self._is_whole:
                change.show(self._change())

    def _align(self) -> None:
        choices = list(self.query(Choice))
        for choice in choices:
            choice.column = max(one.what.cell_length for one in choices) + 3
            choice.refresh(layout=True)

    def _fit_rows(self, _: object = None) -> None:
        """Give the change view the rows that the rest of the box leaves."""
        if not self.is_attached:
            return
        box, change = self.query_one("#box"), self.query_one(ChangeView)
        around = box.gutter.height - change.outer_size.height + change.gutter.height
        for part in box.children:
            if part.display:
                around += part.outer_size.height + part.styles.margin.height
        height = min(max(change.count, 1), max(self.size.height - around, 1), _ROWS)
        held = change.styles.height
        if held is None or change.styles.is_auto_height or held.value != height:
            change.styles.height = height

    def _position(self) -> Content:
        first, last, count = self.query_one(ChangeView).lines_in_view
        return Content(
            self._words("lines {first}–{last} of {count}", first=first, last=last, count=count)
        )

    @on(ChangeView.Moved)
    def _show_position(self) -> None:
        change = self.query_one(ChangeView)
        self._fit_rows()
        self.call_after_refresh(self._show_lines)  # with the height that it gets now
        head = self.query_one(Head)
        if not self._is_whole and head.unseen != change.layout_of.unseen:
            head.unseen = change.layout_of.unseen
            self.set_class(bool(head.unseen), "-odd")
            head.refresh()

    def _show_lines(self) -> None:
        if self.is_attached:
            self.query_one("#box").border_subtitle = self._position()

    # --- answers -----------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        """Ignore keys until the question has been visible for a moment."""
        if self._is_withdrawn:
            if len(self.app.screen_stack) > 1:  # otherwise the app is closing
                self.dismiss(Decision("no"))
            return
        self.guard.begin()

    def withdraw(self) -> None:
        """Dismiss the question, even from below another screen."""
        self._is_withdrawn = True
        self._decide(Decision("no"))

    def on_key(self, event: events.Key) -> None:
        """Answer by letter, including full-width letters of an input method."""
        if any(map(self.has_class, _TYPING)):
            if event.key == "escape":
                event.stop()
                self._ask_again()
            return
        if self.guard.take_back():  # a word is being typed: its first letter was not an answer
            self.guard.hold(event.time)
        key = "n" if event.key == "escape" else letter_of(event)
        if not self.guard.accepts(event.time):
            self.guard.hold(event.time)  # the person is still typing
            event.stop()
            event.prevent_default()
            self.query_one(Foot).say(self._words("A key came too soon. Read this, then press it."))
        elif key in self.LETTERS and self.query(f"#choice-{key}"):
            event.stop()
            event.prevent_default()
            self._choose(key)
        elif event.is_printable:
            self.guard.hold(event.time)

    def on_paste(self, event: events.Paste) -> None:
        """Ignore a paste: it is meant for something else."""
        event.stop()
        self.guard.hold(event.time)

    def on_click(self, event: events.Click) -> None:
        if isinstance(event.widget, Choice) and self.guard.accepts(event.time):
            self._choose(event.widget.letter, at_once=True)

    def _choose(self, key: str, *, at_once: bool = False) -> None:
        if key == "w":
            self._toggle_whole()
        elif key == "r":
            self.guard.take_back()
            self.add_class("-asks-why")
            self._why.focus()
        elif key == "n":
            self._decide(Decision("no"))
        else:
            self._approve(Decision("once" if key == "y" else "always"), at_once=at_once)

    def _approve(self, decision: Decision, *, at_once: bool) -> None:
        self.guard.decide(lambda: self._decide(decision), at_once=at_once)

    def _toggle_whole(self) -> None:
        preview, change = self._question.preview, self.query_one(ChangeView)
        self._is_whole = not self._is_whole
        if self._is_whole and preview is not None:
            change.show(whole_lines(preview.whole, self._diff))
        else:
            change.show(self._change())
        self.query_one("#choice-w", Choice).show_text(*self._whole_or_change())

    def _ask_again(self) -> None:
        """Go from a field back to the question, which takes keys after a moment."""
        self.remove_class(*_TYPING)
        self.query_one(ChangeView).focus()
        self.guard.begin()

    @on(Field.Done)
    def _refuse(self, event: Field.Done) -> None:
        if event.field is self._why:
            self._decide(Decision("no", self._why.text))

    def _decide(self, decision: Decision) -> None:
        if self.app.screen is self:  # else it is dismissed, or covered by another screen
            self.dismiss(decision)

"""The approval dialog of a command: the whole command, where it runs, and what a grant allows."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static
from textual.widgets.text_area import Edit, EditResult

from contextui.agent.approval import Decision, Question
from contextui.secrets import mask_own
from contextui.text import is_unseen
from contextui.tui.desktop.field import Field
from contextui.tui.dialogs.approval import ApprovalScreen, Choice, filled
from contextui.tui.dialogs.diff import ChangeView, Line, plain_lines, spelled
from contextui.tui.lines import MUTED, Rows, fold, line, shown_folder
from contextui.windowing.preview import CommandPreview
from contextui.words import Words, msg

_EDGE = 6  # cells of the box's border beside its title
_AIRY = 30  # terminal rows needed for blank rows between the groups
_TIGHT = 20  # terminal rows below which there is no room for examples
_SOFT = "on $soft"
_LONGEST = 400  # maximum characters of a folder in the headline
_REACH = msg("May reach")
_REMARKS = (
    msg("in {folder}, until this session ends"),
    msg("in this folder, this session"),
)


def screen_for(words: Words, question: Question) -> ApprovalScreen:
    """Return the dialog for a question."""
    if question.preview is not None and question.preview.command is not None:
        return CommandScreen(words, question)
    return ApprovalScreen(words, question)


class Facts(Rows):
    """Where the command runs, how long, what it may reach or start, and what it does not get."""

    def __init__(self, words: Words, command: CommandPreview) -> None:
        super().__init__(id="facts")
        self._words, self._command = words, command

    def rows(self, width: int) -> list[Content]:
        words, command = self._words, self._command
        facts = [(words(name), fact) for name, fact in self._facts()]
        column = max(cell_len(name) for name, _ in facts) + 3
        rows: list[Content] = []
        for name, fact in facts[::2] if self.screen.has_class("-tight") else facts:
            if not fact.plain:
                continue
            label = Content.styled(name + " " * (column - cell_len(name)), MUTED)
            hint = Content("")
            if name == words(_REACH) and command.can_sandbox and command.reach == "all":
                hint = Content.styled(f"   {words('--sandbox limits it to this folder')}", MUTED)
            if column + fact.cell_length + hint.cell_length > width:
                hint = Content("")
            first, *rest = fold(fact, width - column)
            rows += [label + first + hint, *(Content(" " * column) + one for one in rest)]
        return rows

    def _facts(self) -> Iterator[tuple[str, Content]]:
        words, command = self._words, self._command
        yield msg("Folder"), spelled(shown_folder(command.folder)).stylize_before("bold")
        limit = words("none")
        if command.seconds is not None:
            template = words("{seconds:g} s, then it goes on as a job that you can cancel")
            limit = template.format(seconds=command.seconds)
        yield msg("Limit"), Content(limit)
        reach = Content.styled(words("every file you can, and the network"), "$text-warning")
        if command.reach == "sandbox":
            reach = Content.styled(words("this folder; no network"), "$text-success")
        yield _REACH, reach
        environment = Content(words("yours"))
        if command.dropped:
            names = spelled(", ".join(command.dropped))
            environment = Content.assemble(*filled(words("yours without {names}"), names=names))
        yield msg("Environment"), environment
        kinds = ", ".join(dict.fromkeys(program.kind for program in command.programs))
        starts = words("what this repository names: {kinds}", kinds=kinds) if kinds else ""
        yield msg("May start"), Content.styled(starts, "$text-warning")


class Examples(Rows):
    """Commands that a pattern allows, and commands that still ask."""

    def __init__(self, words: Words, also: Sequence[str], asks: Sequence[str]) -> None:
        super().__init__(id="examples")
        self._groups = ((words("also allows"), also), (words("still asks"), asks))

    def rows(self, width: int) -> list[Content]:
        column = max(cell_len(name) for name, _ in self._groups) + 2
        indent = 6 if width >= 60 else 3
        rows: list[Content] = []
        for name, examples in self._groups:
            row = Content.styled(" " * indent + name + " " * (column - cell_len(name)), MUTED)
            is_first = True
            for one in examples:
                example = Content.styled(f" {one} ", _SOFT)
                if not is_first and row.cell_length + 2 + example.cell_length > width:
                    rows.append(row)
                    row, is_first = Content(" " * (indent + column)), True
                row = row + ("" if is_first else "  ") + example
                is_first = False
            rows.append(row)
        return rows


class CommandField(Field):
    """The field in which the person edits the command; it holds no invisible characters."""

    def edit(self, edit: Edit) -> EditResult:
        edit.text = editable(edit.text)
        return super().edit(edit)


def editable(text: str) -> str:
    """Return a text without the characters that could not be seen in a field."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return "".join(one for one in text if one == "\n" or not is_unseen(one))


class CommandScreen(ApprovalScreen):
    """Asks the person to approve a command, which they may edit.

    An edited command replaces the model's in the dialog, and is answered like it: what runs is
    what the dialog shows.
    """

    LETTERS = frozenset("yspnre")

    def __init__(self, words: Words, question: Question) -> None:
        super().__init__(words, question)
        assert question.preview is not None
        assert question.preview.command is not None
        self._command = question.preview.command
        self._edited: str | None = None
        self._field = CommandField()
        self._field.id = "edit"
        keys = words("enter shows it, ctrl+j adds a line, esc discards your edit")
        self._field.border_subtitle = keys

    def _details(self) -> ComposeResult:
        yield self._field
        yield Facts(self._words, self._command)

    # --- content -----------------------------------------------------------------------

    @property
    def _line(self) -> str:
        return self._command.line if self._edited is None else self._edited

    def _change(self) -> list[Line]:
        first, *rest = plain_lines(self._line)
        lines = [Line("$", first.text), *(Line(">", one.text) for one in rest)]
        for found in self._command.programs:
            lines += [Line("?", line.text) for line in plain_lines(found.text)]
        preview = self._question.preview
        assert preview is not None
        for text in filter(None, (preview.text, preview.diff)):
            lines += [Line("@", ""), *plain_lines(text)]
        return lines

    def _title(self) -> tuple[Content, bool]:
        """Return the headline; it always names what it is about."""
        words = self._words
        room = self.query_one("#box").outer_size.width - _EDGE
        model = (words("model"), "bold $text-accent")
        tail = Content("")
        if self._edited is not None:
            tail = Content.styled(f"   {words('edited by you')}", "bold $text-warning")
        elif self._question.changed:
            tail = Content.styled(f"   {words('changed just now')}", "bold $text-warning")
        folder = spelled(shown_folder(self._command.folder)[:_LONGEST]).stylize_before("bold")
        for parts in (
            filled(words("{model} wants to run a command in {folder}"), model=model, folder=folder),
            filled(words("{model} wants to run a command"), model=model),
        ):
            title = Content.assemble(("◆ ", "$text-accent"), *parts, tail)
            if title.cell_length <= room:
                break
        return title, True

    def _choices(self) -> Iterator[Widget]:
        words, question = self._words, self._question
        yield Choice("y", Content(words(self._wording.once)))
        yield Choice("s", self._always(0), is_needed=True)
        if question.pattern is not None:
            pattern = Content.styled(f" {question.pattern.pattern.text} ", f"bold {_SOFT}")
            parts = filled(words("Run {pattern} without asking"), pattern=pattern)
            yield Choice("p", Content.assemble(*parts), is_needed=True)
            yield Examples(words, question.pattern.also, question.pattern.asks)
        elif question.no_pattern is not None:
            reason = spelled(question.no_pattern.text(words.lang))
            template = words("{reason}, so there is no pattern to allow.")
            sentence = Content.assemble(*filled(template, reason=reason))
            yield Static(sentence, id="no-pattern")
        yield Choice("n", Content(words("Refuse")), words("esc does the same"))
        yield Choice("r", Content(words("Refuse with a reason…")), words("the model reads it"))
        if mask_own(self._command.line) == self._command.line:
            yield Choice("e", Content(words("Edit it…")), words("nothing runs yet"))

    def _always(self, room: int) -> Content:  # noqa: ARG002
        return Content(self._words("Run exactly this without asking"))

    def on_resize(self) -> None:
        self.set_class(self.size.height >= _AIRY, "-airy")
        self.set_class(self.size.height < _TIGHT + bool(self._command.programs), "-tight")

    def _fit(self) -> None:
        super()._fit()
        if not self.is_attached:
            return
        self.query_one(Facts).refresh(layout=True)
        for choice in self.query("#choice-s, #choice-p").results(Choice):
            choice.show_text(choice.what, self._remark(choice))

    def _remark(self, choice: Choice) -> str:
        room = choice.size.width - 3 - max(choice.column, choice.what.cell_length + 3)
        folder = spelled(shown_folder(self._command.folder)).plain
        remarks = [self._words(one).replace("{folder}", folder) for one in _REMARKS]
        return next((remark for remark in remarks if cell_len(remark) <= room), remarks[-1])

    def _position(self) -> Content:
        """Return the action, and how much of the command is below the view."""
        change = self.query_one(ChangeView)
        below = change.count - change.scroll_offset.y - change.scrollable_content_region.height
        parts = [Content(line(self._question.name))]
        if below > 0:
            text = self._words("↓ {count} more rows", count=below)
            parts.insert(0, Content.styled(f"{text}   ", "bold $text-warning"))
        return Content.assemble(*parts)

    # --- answers -----------------------------------------------------------------------

    def _choose(self, key: str, *, at_once: bool = False) -> None:
        if not self.query_one(f"#choice-{key}").display:
            return  # a grant is not given unseen, nor for a command that the person wrote
        if key == "e":
            self._edit()
        elif key in "yp":
            one = Decision("pattern") if key == "p" else Decision("once", edited=self._edited)
            self._approve(one, at_once=at_once)
        else:
            super()._choose(key, at_once=at_once)

    def _edit(self) -> None:
        self.guard.take_back()
        self.add_class("-edits")
        self._field.text = editable(self._line)
        self._field.move_cursor(self._field.document.end)
        self._field.focus()

    @on(Field.Done)
    def _show_edited(self, event: Field.Done) -> None:
        """Show the edited command; it is answered after a moment, as a new question."""
        if event.field is not self._field:
            return
        edited = editable(self._field.text).strip() or self._edited
        self._edited = None if edited == self._command.line else edited
        self.set_class(self._edited is not None, "-edited")
        self.query_one(ChangeView).show(self._change())
        self._ask_again()
        self._fit()

"""The sheet to go back to an earlier turn: what leaves, what changes on disk, what stays.

It is an approval too: it shows the whole change, and ignores accidental keys.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import ClassVar, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from contextui.session.rewind import FileChange, RewindPlan, Turn
from contextui.tui.desktop.rowlist import RowList, spread
from contextui.tui.dialogs.diff import ChangeView, Line, diff_lines, shortened, spelled
from contextui.tui.dialogs.guard import KeyGuard
from contextui.tui.footer import Hint, KeyBar
from contextui.tui.keys import letter_of
from contextui.tui.lines import FAINT, MUTED, age, fit, fold, short, spinner
from contextui.words import Words, msg

_NUMBER, _AGE, _FILES = 6, 6, 6  # cells of the columns beside the message
_PAUSE = 0.08  # seconds the cursor must rest before files are compared
_SLOW = 0.3  # seconds before a spinner is shown
_NARROW = 100  # cells below which the lists are above each other
_MOST_FILES = 8  # rows of files before the list scrolls
_LONGEST_PATH = 400  # characters

MakePlan: TypeAlias = Callable[[int], RewindPlan]
"""Compares the files with what they were after a turn; called on another thread."""


@dataclass(frozen=True, slots=True)
class GoBack:
    """What the person chose."""

    turn: int
    plan: RewindPlan
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Around:
    """What else the person should know before going back."""

    ends: Sequence[str] = ()  # what runs and ends with it: commands and other jobs
    unsaved: Sequence[str] = ()  # windows whose edits stay in the old branch
    has_commands: bool = False  # whether commands may have changed other files


class TurnList(RowList[Turn | None]):
    """The turns, newest first, and a rule; those above it leave the conversation."""

    shows_cursor: ClassVar[bool] = True

    class Moved(RowList.Moved):
        """Posted when another turn is chosen."""

    def __init__(self, words: Words, turns: Sequence[Turn], chosen: int, now: datetime) -> None:
        super().__init__(self._turn_line, lambda turn: turn.number if turn is not None else None)
        self._words, self._now = words, now
        self._turns = sorted(turns, key=lambda one: one.number, reverse=True)
        self.chosen = chosen
        """The number of the chosen turn."""

    def is_entry(self, row: Turn | None) -> bool:
        return row is not None and row.has_ended

    @property
    def turn(self) -> Turn:
        return next(one for one in self._turns if one.number == self.chosen)

    @property
    def leaving(self) -> list[Turn]:
        return [turn for turn in self._turns if turn.number > self.chosen]

    def _arrange(self) -> None:
        leaving = self.leaving
        self.show([*leaving, None, *self._turns[len(leaving) :]], at=self.chosen)

    on_mount = on_resize = _arrange

    def choose(self, place: int, step: int = 1) -> None:
        turn = self.rows[self._entry_from(place, step)]
        if turn is not None and turn.number != self.chosen:
            self.chosen = turn.number
            self._arrange()
            self.post_message(self.Moved())

    def _show_cursor(self) -> None:
        self.show_line(max(self.cursor - 2, 0))  # above the rule: the last turn that leaves
        self.show_line(self.cursor)

    def _turn_line(self, turn: Turn | None, width: int) -> Content:
        if turn is None:
            label = f"── {self._words('back to here')} "
            rest = "─" * max(width - Content(label).cell_length, 0)
            return Content.styled(label + rest, "$text-warning")
        leaves = turn.number > self.chosen
        ago = "" if turn.when is None else age((self._now - turn.when).total_seconds())
        words = turn.message if turn.number else self._words("the start, before any message")
        files = str(turn.files) if turn.files else "·"
        return Content.assemble(
            (fit(str(turn.number), _NUMBER - 2, right=True) + "  ", FAINT if leaves else MUTED),
            (fit(ago, _AGE), FAINT),
            (
                fit(words, width - _NUMBER - _AGE - _FILES),
                FAINT if leaves else MUTED if not turn.number else "$foreground",
            ),
            (fit(files, _FILES, right=True), "$text-warning" if turn.files and leaves else FAINT),
        )


class FileList(RowList[FileChange]):
    """The files written since the turn, with a box for those that can be restored or deleted."""

    shows_cursor: ClassVar[bool] = True

    class Moved(RowList.Moved):
        """Posted when the cursor is on another file."""

    class Opened(RowList.Opened):
        """Posted when the change of a file is to be shown."""

    def __init__(self, words: Words) -> None:
        super().__init__(self._file_line, lambda file: file.path)
        self._words = words
        self._counts: dict[str, tuple[str, str]] = {}
        self._ago = ""
        self.chosen: set[str] = set()
        """The paths that are chosen."""

    def show_plan(self, plan: RewindPlan, ago: str) -> None:
        self._ago, self.chosen = ago, plan.chosen_first
        self._counts = {file.path: _counts(file) for file in plan.files}
        self.styles.height = max(min(len(plan.files), _MOST_FILES), 1)
        self.show(plan.files)

    def clear(self) -> None:
        self.chosen, self.cursor = set(), 0
        self.show(())

    def toggle(self) -> None:
        file = self.row
        if file is not None and file.is_offered:
            self.chosen ^= {file.path}
            self.refresh()
            self.post_message(self.Toggled())

    def on_click(self, event: events.Click) -> None:
        place = event.y + self.scroll_offset.y
        if event.x < 4 and place < len(self.rows):
            self.choose(place)
            self.toggle()

    def _file_line(self, file: FileChange, width: int) -> Content:
        words = self._words
        path = spelled(file.path[-_LONGEST_PATH:])
        if file.is_offered:
            mark = "✓" if file.path in self.chosen else " "
            box = Content.assemble(("[", FAINT), (mark, "$text-success"), ("] ", FAINT))
            added, removed = self._counts[file.path]
            end = Content.assemble((added, "$text-success"), (removed, "$text-error"))
            about = Content.styled(f"  {self._fate(file)}", MUTED)
        else:
            box, about = Content.styled(" –  ", FAINT), Content("")
            reason = words(file.reason) if file.reason is not None else ""
            path, end = path.stylize_before(MUTED), Content.styled(reason, "$text-warning")
        room = width - box.cell_length - end.cell_length - 1
        if path.cell_length + about.cell_length > room:
            path = shortened(path, max(room - about.cell_length, room // 2))
            about = about.truncate(max(room - path.cell_length, 0), ellipsis=True)
        return spread(Content.assemble(box, path, about), end, width)

    def _fate(self, file: FileChange) -> str:
        words = self._words
        if file.is_mixed:
            return words("also changed by someone else in between")
        if file.fate == "delete":
            return words("new since then, will be deleted")
        return words("as it was {ago}", ago=self._ago)


def _counts(file: FileChange) -> tuple[str, str]:
    counts = file.counts() if file.is_offered else None
    if counts is None:
        return "", ""
    added = f"+{counts.added}" if counts.added else ""
    removed = f"−{counts.removed}" if counts.removed else ""
    return added, f" {removed}" if added and removed else removed


class RewindScreen(ModalScreen[GoBack]):
    """Asks to which turn to go back, and which files to restore."""

    CSS_PATH = "rewind.tcss"
    AUTO_FOCUS = "TurnList"

    def __init__(
        self,
        words: Words,
        turns: Sequence[Turn],
        chosen: int,
        *,
        plan: MakePlan,
        around: Around,
        now: datetime,
    ) -> None:
        super().__init__()
        self._words, self._make_plan, self._around, self._now = words, plan, around, now
        self._turns = TurnList(words, turns, chosen, now)
        self._files = FileList(words)
        self._plans: dict[int, RewindPlan] = {}
        self._plan: RewindPlan | None = None  # the one that is shown
        self._problem = ""
        self._places: dict[str, int] = {}  # where the change of each file begins
        self.guard = KeyGuard(self)
        self._since = time.monotonic()

    def compose(self) -> ComposeResult:
        words = self._words
        with Vertical(id="box") as box:
            box.border_subtitle = Content(words("the old branch stays in /sessions"))
            with Horizontal(id="columns"):
                with Vertical(id="left"):
                    yield Static(id="turn-head")
                    yield self._turns
                    yield Static(id="about")
                with Vertical(id="right"):
                    yield Static(id="file-head")
                    yield self._files
                    yield Static(id="change-head")
                    yield ChangeView([], id="change")
            yield KeyBar(words)

    def on_mount(self) -> None:
        self._choose_turn()
        self.set_interval(0.25, self._show_loading)

    def on_resize(self) -> None:
        self.set_class(self.size.width < _NARROW, "-stacked")
        self.call_after_refresh(self._show_texts)

    # --- the plan ----------------------------------------------------------------------

    @on(TurnList.Moved)
    def _choose_turn(self) -> None:
        self._plan, self._problem, self._since = None, "", time.monotonic()
        self.guard.take_back()
        self._files.clear()
        self.query_one(ChangeView).show([])
        self._show_texts()
        number = self._turns.chosen
        if number in self._plans:
            self._show_plan(self._plans[number])
        else:
            comparing = partial(self._compare, number)
            self.run_worker(comparing, group="plan", exclusive=True)  # type: ignore[arg-type]

    async def _compare(self, number: int) -> None:
        await asyncio.sleep(_PAUSE)
        try:
            plan = await asyncio.to_thread(self._make_plan, number)
        except OSError as problem:
            if number == self._turns.chosen:
                self._problem = problem.strerror or str(problem)
                self._show_texts()
            return
        self._plans[number] = plan
        if number == self._turns.chosen and self.is_attached:
            self._show_plan(plan)

    def _show_plan(self, plan: RewindPlan) -> None:
        self._plan = plan
        turn = self._turns.turn
        seconds = (self._now - turn.when).total_seconds() if turn.when is not None else 0
        self._files.show_plan(plan, self._words("{age} ago", age=age(seconds)))
        self._show_change()
        self._show_texts()
        self.guard.hold()

    def _show_change(self) -> None:
        """Show the diff of all files that are offered, one after the other."""
        words, lines = self._words, list[Line]()
        self._places = {}
        for file in self._plan.offered if self._plan is not None else ():
            if lines:
                lines.append(Line("@", ""))
            self._places[file.path] = len(lines)
            is_chosen = file.path in self._files.chosen
            way = msg("now → deleted") if file.fate == "delete" else msg("now → then")
            state = words(way) if is_chosen else words("not chosen, stays")
            lines.append(Line("!", f"{file.path}  {state}"))
            diff = file.diff()
            if diff.startswith("--- "):
                lines += diff_lines(diff, words, file.path)
            else:
                sizes = [
                    short(len(data)) if data is not None else "0" for data in (file.now, file.then)
                ]
                text = words("not text: {now} → {then} bytes", now=sizes[0], then=sizes[1])
                lines.append(Line("@", text))
        self.query_one(ChangeView).show(lines)

    # --- texts -------------------------------------------------------------------------

    def _show_loading(self) -> None:
        if self._plan is None and not self._problem:
            self._show_texts()

    def _show_texts(self) -> None:
        if not self.is_attached or not self.query(KeyBar):
            return
        words, number = self._words, self._turns.chosen
        named = f"{fit(words('Turn'), _NUMBER)}{fit(words('Age'), _AGE)}{words('Your message')}"
        left, right = Content.styled(named, FAINT), Content.styled(words("Files"), FAINT)
        heads = spread(left, right, self._turns.line_width)
        self.query_one("#turn-head", Static).update(heads)
        title = msg("Rewind to turn {turn}") if number else msg("Rewind to the start")
        self.query_one("#box").border_title = Content(words(title, turn=number))
        about = self.query_one("#about", Static)
        about.update(Content("\n").join(self._about(about.size.width or 40)))
        head = (
            msg("Files written since turn {turn}")
            if number
            else msg("Files written since the start")
        )
        self.query_one("#file-head", Static).update(
            Content.styled(words(head, turn=number), "bold")
        )
        self.query_one("#change-head", Static).update(self._state())
        is_empty = self._plan is None or not self._plan.files
        self.set_class(is_empty, "-no-files")
        self.query_one(KeyBar).show(self._hints())

    def _state(self) -> Content:
        """Return the line above the change: where it is, or why there is none."""
        words, number = self._words, self._turns.chosen
        if self._problem:
            return Content.styled(f"✗ {self._problem}", "$text-error")
        if self._plan is None:
            is_slow = time.monotonic() - self._since > _SLOW
            return Content.styled(f"{spinner()} {words('Loading…')}" if is_slow else "", MUTED)
        if not self._plan.files and self._plan.same:
            text = words.plural(
                self._plan.same,
                "{count} file was written since, and is as it was then.",
                "{count} files were written since, and are as they were then.",
            )
            return Content.styled(text, MUTED)
        if not self._plan.files:
            since = msg("No file was written since turn {turn}.")
            text = words(since if number else msg("No file was written."), turn=number)
            return Content.styled(text, MUTED)
        if not self._plan.offered:
            return Content("")
        first, last, count = self.query_one(ChangeView).lines_in_view
        text = words("lines {first}–{last} of {count}", first=first, last=last, count=count)
        width = self.query_one("#change-head").size.width
        return spread(Content(""), Content.styled(text, FAINT), width)

    def _about(self, width: int) -> list[Content]:
        words, around, count = self._words, self._around, len(self._turns.leaving)
        texts = [
            words.plural(
                count,
                "{count} turn is removed from this conversation and kept as a branch.",
                "{count} turns are removed from this conversation and kept as a branch.",
            )
            if count
            else words("The conversation stays as it is.")
        ]
        if around.ends:
            texts.append(words("Ends with it: {names}.", names=", ".join(around.ends)))
        if around.unsaved:
            names = ", ".join(around.unsaved)
            texts.append(words("Unsaved edits stay in the old branch: {names}.", names=names))
        if around.has_commands:
            texts.append(words("Commands may have changed other files, which are not listed."))
        return [row for text in texts for row in fold(Content.styled(text, MUTED), width)]

    def _hints(self) -> list[Hint]:
        words, count = self._words, len(self._files.chosen)
        hints: list[Hint] = []
        if self._plan is not None and count:
            hints.append(
                ("y", words.plural(
                    count, "go back and restore {count} file", "go back and restore {count} files"
                ))
            )  # fmt: skip
        elif self._plan is not None:
            hints.append(("y", words("go back")))
        if self._plan is not None and self._plan.offered:
            hints += [("c", msg("conversation only")), ("space", msg("file on or off"))]
            hints.append(("tab", msg("files and diff")))
        return [*hints, ("esc", msg("cancel"))]

    @on(FileList.Toggled)
    def _toggled(self) -> None:
        self._show_change()
        self._show_texts()
        self._go_to_file()

    @on(FileList.Moved)
    @on(FileList.Opened)
    def _go_to_file(self) -> None:
        file, change = self._files.row, self.query_one(ChangeView)
        if file is not None and file.path in self._places:
            line = self._places[file.path]
            change.layout_of.measure(0, up_to=line)
            change.scroll_to(y=change.layout_of.row_of(line), animate=False, force=True)

    @on(ChangeView.Moved)
    def _moved(self) -> None:
        self.query_one("#change-head", Static).update(self._state())

    # --- answers -----------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        """Ignore keys until the sheet has been visible for a moment."""
        self.guard.begin()

    def on_key(self, event: events.Key) -> None:
        """Answer by letter, including full-width letters of an input method."""
        if self.guard.take_back():  # a word is being typed: its first letter was not an answer
            self.guard.hold(event.time)
        key = letter_of(event)
        if event.key == "escape":
            event.stop()
            self._finish(None)
        elif key in ("y", "c", " "):
            event.stop()
            event.prevent_default()
            if not self.guard.accepts(event.time):
                self.guard.hold(event.time)
            elif key == " ":
                self._files.toggle()
            else:
                self._decide(key)
        elif event.is_printable:
            event.stop()
            self.guard.hold(event.time)

    def on_paste(self, event: events.Paste) -> None:
        """Ignore a paste: it is meant for something else."""
        event.stop()
        self.guard.take_back()
        self.guard.hold(event.time)

    def _decide(self, key: str) -> None:
        """Go back, once no other key follows."""
        plan = self._plan
        if plan is None or (key == "c" and not plan.offered):
            return
        files = frozenset(self._files.chosen) if key == "y" else frozenset()
        wanted = GoBack(plan.turn, plan, files)
        self.guard.decide(lambda: self._finish(wanted))

    def _finish(self, wanted: GoBack | None) -> None:
        if self.app.screen is self:  # else it is dismissed, or covered by another screen
            self.dismiss(wanted)

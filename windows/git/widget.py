"""Git widget: the changes as a list, and beside it the diff of the one under the cursor.

The cursor is the person's own: moving it changes neither the window nor what the model reads. All
text of the repository is drawn without markup.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from contextui.tui.desktop.form import Field
from contextui.tui.dialogs.diff import ChangeView, Line, diff_lines, is_diff, plain_lines
from contextui.tui.lines import FAINT, MUTED, LineView, fit, line
from contextui.widgets import ActionRequested
from contextui.windowing import host
from contextui.windowing.worker import PATIENCE, finished
from contextui.windows.git.description import Situation
from contextui.windows.git.status import Change, Commit, Lines
from contextui.windows.git.window import GitWindow
from contextui.words import Words

LIST = 28
"""Cells of the list, where there is room for the diff as well."""
NARROW = 60
"""Cells of the window below which list and diff take turns."""
_CURSOR = "on $primary 22%"
_MARKS = {"A": "$text-success", "?": "$text-success", "D": "$text-error", "U": "$text-error"}
Group = Literal["conflict", "staged", "changed"]
T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """A change in one of the list's groups."""

    group: Group
    change: Change

    @property
    def key(self) -> tuple[str, str]:
        """What identifies the entry while the list changes."""
        return self.group, self.change.path

    @property
    def mark(self) -> str:
        """The kind of change, as git writes it."""
        if self.group == "conflict":
            return "U"
        return self.change.index if self.group == "staged" else self.change.tree

    @property
    def lines(self) -> Lines | None:
        """The lines of the change in this group."""
        return self.change.staged if self.group == "staged" else self.change.lines


Row = Entry | Commit | tuple[str, str]
"""An entry, a commit, or a heading with its count."""


class ChangeList(LineView, can_focus=True):
    """The groups of changes and the last commits; renders only what is in view."""

    BINDINGS = [
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
        Binding("pageup", "step(-10)", show=False),
        Binding("pagedown", "step(10)", show=False),
        Binding("home", "step(-1000000)", show=False),
        Binding("end", "step(1000000)", show=False),
    ]
    DEFAULT_CSS = "ChangeList { overflow-y: auto; scrollbar-gutter: stable; scrollbar-size: 0 1; }"

    class Moved(Message):
        """Posted when the cursor is at another entry."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Row] = []
        self._entries: list[int] = []  # rows that the cursor can be on
        self._at = 0

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor."""
        if not self._entries:
            return None
        row = self.rows[self._entries[self._at]]
        return row if isinstance(row, Entry) else None

    def show(self, rows: list[Row]) -> None:
        """Show other rows; the cursor stays on its entry, or near it."""
        before = self.entry
        self.rows = rows
        self._entries = [at for at, row in enumerate(rows) if isinstance(row, Entry)]
        self._at = max(min(self._at, len(self._entries) - 1), 0)
        if before is not None:
            self.go_to(before.key) or self.go_to((None, before.change.path))
        self.set_count(len(rows), follow=False)

    def go_to(self, key: tuple[str | None, str]) -> bool:
        """Move the cursor to an entry, in any group if none is named."""
        for number, at in enumerate(self._entries):
            row = self.rows[at]
            if isinstance(row, Entry) and (key[0] or row.group, key[1]) == row.key:
                self._at = number
                self.show_line(at)
                self.refresh()
                return True
        return False

    def line_at(self, number: int, width: int) -> Content:
        """Render a heading, an entry or a commit."""
        row = self.rows[number]
        if isinstance(row, Entry):
            shown = self._entry_line(row, width)
            is_here = self.has_focus and self._entries[self._at] == number
            return shown.stylize(_CURSOR) if is_here else shown
        if isinstance(row, Commit):
            room = max(width - len(row.id) - 1, 0)
            return Content.assemble(
                (line(row.id), "$text-warning"), " ", (fit(row.subject, room), "")
            )
        title, count = row
        return Content.assemble((fit(title, max(width - len(count), 0)), MUTED), (count, FAINT))

    def _entry_line(self, entry: Entry, width: int) -> Content:
        lines = entry.lines or Lines(0, 0)
        added = f" +{lines.added}" if lines.added else ""
        removed = f" -{lines.removed}" if lines.removed else ""
        room = max(width - 2 - len(added) - len(removed), 0)
        return Content.assemble(
            (f"{entry.mark} ", _MARKS.get(entry.mark, "$text-warning")),
            (fit(entry.change.name, room), ""),
            (added, "$text-success"),
            (removed, "$text-error"),
        )

    def action_step(self, by: int) -> None:
        """Move the cursor."""
        if self._entries:
            self._at = min(max(self._at + by, 0), len(self._entries) - 1)
            self.show_line(self._entries[self._at])
            self.refresh()
            self.post_message(self.Moved())

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked entry."""
        row = int(event.y) + self.scroll_offset.y
        if row in self._entries:
            self._at = self._entries.index(row)
            self.refresh()
            self.post_message(self.Moved())

    def on_focus(self) -> None:
        """Show the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh()


class Confirmation(Static, can_focus=True):
    """A question that is answered with y or n."""

    BINDINGS = [
        Binding("y", "answer(True)", "discard"),
        Binding("n,escape", "answer(False)", "keep", key_display="n"),
    ]

    class Answered(Message):
        """Posted with the answer."""

        def __init__(self, yes: bool) -> None:
            super().__init__()
            self.yes = yes

    def action_answer(self, yes: bool) -> None:
        """Post the answer."""
        self.post_message(self.Answered(yes))


class GitBody(Vertical):
    """List and diff; below them the message of a commit, or a question."""

    BINDINGS = [
        Binding("space", "stage", "stage", key_display="space"),
        Binding("c", "commit", "commit"),
        Binding("d", "discard", "discard"),
        Binding("enter", "open_file", "open"),
        Binding("tab,shift+tab", "switch", "list/diff", key_display="tab"),
        Binding("i", "init", "init"),
        Binding("r", "reload", show=False),
        Binding("escape", "leave", show=False),
    ]
    DEFAULT_CSS = """
    GitBody {
        Horizontal { height: 1fr; }
        ChangeList { width: 28; height: 1fr; }
        .right { width: 1fr; height: 1fr; padding: 0 0 0 1; }
        .heading { height: 1; }
        ChangeView { height: 1fr; }
        .message { height: auto; max-height: 3; padding: 0 1 0 0; }
        Field, Confirmation { display: none; height: auto; max-height: 3; }
        &.-narrow ChangeList { width: 1fr; }
        &.-narrow .right { display: none; }
        &.-narrow.-diff ChangeList { display: none; }
        &.-narrow.-diff .right { display: block; }
    }
    """
    keeps_tab = True
    first_actions: ClassVar[tuple[str, ...]] = ("stage", "unstage", "commit", "log")

    def __init__(self, window: GitWindow) -> None:
        super().__init__()
        self._window, self._words = window, Words(window.env.lang)
        self._now = Situation()
        self._chosen = ""
        self._asked = ""  # the file that the question is about
        self._seen = ""  # the text that the person was shown with it
        self._list, self._diff = ChangeList(), ChangeView([])
        self._message, self._heading = Static(classes="message"), Static(classes="heading")
        self._question = Confirmation()
        hint = self._words("message, enter commits, esc leaves")
        self._field = Field(hint=hint)

    def compose(self) -> ComposeResult:
        """Compose list, diff and the line below."""
        yield self._message
        with Horizontal():
            yield self._list
            with Vertical(classes="right"):
                yield self._heading
                yield self._diff
        yield self._question
        yield self._field

    @property
    def window_title(self) -> str:
        """The branch, and how far it is ahead of or behind its upstream."""
        status = self._now.status
        parts = [line(status.branch or status.head[:7])]
        if status.ahead:
            count = status.ahead
            parts.append(self._words("{count} ahead", count=count))
        if status.behind:
            count = status.behind
            parts.append(self._words("{count} behind", count=count))
        return "  ".join(parts)

    # --- changes of the window ---------------------------------------------------------

    def on_mount(self) -> None:
        """Show the changes."""
        self.window_changed()

    def on_resize(self, event: events.Resize) -> None:
        """Show list and diff side by side, or in turn."""
        self.set_class(event.size.width < NARROW, "-narrow")

    def window_changed(self) -> None:
        """Refresh from the window."""
        self.run_worker(self._follow(), group="follow", exclusive=True)

    async def _follow(self) -> None:
        window = self._window
        seen = await self._ask(lambda: (window.state.now, window.state.chosen))
        if seen is None:
            return
        self._now, chosen = seen
        self._list.show(self._rows())
        if chosen != self._chosen:  # the model, or an action of the person, shows a file
            self._chosen = chosen
            named = (one.path for one in self._now.status.changes if one.name == chosen)
            if path := next(named, ""):
                self._list.go_to((None, path))
        self._show_message()
        if not self._is_asking:
            await self._show_diff()

    async def _ask(self, call: Callable[[], T]) -> T | None:
        """Call a function on the window's thread; None if it takes too long."""
        asking = host.run_on_thread(self._window, call)
        await finished([asking], PATIENCE)
        done = asking.done() and asking.exception() is None
        return asking.result() if done else None

    def _rows(self) -> list[Row]:
        status, words = self._now.status, self._words
        changed = [one for one in status.changes if one.is_changed and not one.is_conflict]
        groups: Sequence[tuple[str, Group, list[Change]]] = (
            (words("In conflict"), "conflict", status.conflicts()),
            (words("Staged"), "staged", status.staged()),
            (words("Changed"), "changed", changed),
        )
        rows: list[Row] = []
        for title, group, changes in groups:
            if changes:
                rows += [("", "")] if rows else []
                rows.append((title, str(len(changes))))
                rows += [Entry(group, one) for one in changes]
        if self._now.commits:
            rows += [("", "")] if rows else []
            rows += [(words("Last commits"), ""), *self._now.commits[:3]]
        return rows

    def _show_message(self) -> None:
        now, text = self._now, ""
        if now.reason == "no repository":
            text = self._words("Not a git repository. i runs git init.")
        elif now.reason is not None:
            text = f"✗ {self._window.env.say(*now.problem)}" + self._words(" r tries again.")
        elif not now.status.changes:
            text = self._words("Nothing to commit.")
        self._message.update(Content.styled(line(text), MUTED))
        self._message.display = bool(text)

    async def _show_diff(self) -> None:
        entry, window = self._list.entry, self._window
        if entry is None:
            self._heading.update("")
            self._diff.show([])
            return
        name, staged = entry.change.name, entry.group == "staged"
        lines = await self._ask(lambda: window.diff_of(name, staged=staged))
        if lines is None or self._list.entry is None or self._list.entry.key != entry.key:
            return
        self._set_heading(name, str(entry.lines or ""))
        self._show_text("\n".join(lines), name)

    def _set_heading(self, title: str, facts: str = "", style: str = "bold") -> None:
        self._heading.update(Content.assemble((line(title), style), f"  {line(facts)}"))

    def _show_text(self, text: str, name: str = "") -> None:
        has_names = is_diff(text)
        lines = diff_lines(text, self._words, name) if has_names else _all_lines(text, self._words)
        shown: list[Line] = list(lines)
        if shown != list(self._diff.layout_of.lines):  # keep the place in an unchanged diff
            self._diff.show(shown)

    # --- keys --------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable only what applies: not while a message is typed, init only where it helps."""
        if action == "init":
            return self._now.reason == "no repository"
        if action == "leave":
            return self._is_asking
        if self._is_asking and action in ("stage", "commit", "discard", "open_file", "switch"):
            return False
        return super().check_action(action, parameters)

    @property
    def _is_asking(self) -> bool:
        return bool(self._field.display or self._question.display)

    @on(ChangeList.Moved)
    def _moved(self, message: ChangeList.Moved) -> None:
        message.stop()
        self.run_worker(self._show_diff(), group="diff", exclusive=True)

    def action_stage(self) -> None:
        """Stage the file under the cursor, or unstage it."""
        if entry := self._list.entry:
            wanted = "unstage" if entry.group == "staged" else "stage"
            self.post_message(ActionRequested(wanted, {"paths": [entry.change.name]}))

    def action_open_file(self) -> None:
        """Open the file in an editor, at the line of the diff's first change in view."""
        if entry := self._list.entry:
            given = {"path": entry.change.name, "line": self._line_in_view()}
            self.post_message(ActionRequested("open", given))

    def _line_in_view(self) -> int:
        """Return the number of the first changed line in view, or behind it."""
        lines = self._diff.layout_of.lines
        top = self._diff.lines_in_view[0] - 1
        for at in range(max(top, 0), len(lines)):
            if lines[at].kind in "+-":
                after = (one.new for one in lines[at:] if one.new)
                return next(after, 1)
        return 1

    def action_switch(self) -> None:
        """Move between list and diff."""
        to_diff = self._list.has_focus
        self.set_class(to_diff, "-diff")
        (self._diff if to_diff else self._list).focus()

    def action_init(self) -> None:
        """Create a repository."""
        self.post_message(ActionRequested("init"))

    def action_reload(self) -> None:
        """Read the repository again."""
        self.post_message(ActionRequested("refresh"))

    async def action_commit(self) -> None:
        """Show all that is staged, and ask for the message."""
        if not self._now.status.staged():
            self.post_message(ActionRequested("commit", {"message": "-"}))  # says why not
            return
        text = await self._ask(self._window.staged_diff)
        if text is None:
            return
        count = len(self._now.status.staged())
        self._set_heading(self._words("Commit {count} staged", count=count))
        self._show_all(text)
        self._field.text, self._field.display = "", True
        self._field.focus()

    def _show_all(self, text: str) -> None:
        self._seen = text
        self._diff.show(_all_lines(text, self._words))
        self.add_class("-diff")

    @on(Field.Done)
    async def _commit(self, message: Field.Done) -> None:
        message.stop()
        text = message.field.text.strip()
        if text and not await self._differs(self._window.staged_diff):
            self.post_message(ActionRequested("commit", {"message": text}))
            self._done_asking()

    async def _differs(self, call: Callable[[], str]) -> bool:
        """Whether what the person was shown has changed since; then it is shown again."""
        now = await self._ask(call)
        if now is None or now == self._seen:
            return now is None
        again = self._words("Changed just now, look again")
        self._set_heading(again, style="$text-warning")
        self._show_all(now)
        return True

    async def action_discard(self) -> None:
        """Show what would be lost, and ask."""
        entry, window = self._list.entry, self._window
        if entry is None or not entry.change.is_changed:
            return
        name = entry.change.name
        lost = await self._ask(lambda: window.lost_by_discarding(name))
        if lost is None:
            return
        self._asked = name
        self._set_heading(self._words("Lost if discarded:"), name, "$text-warning")
        self._show_all(lost)
        question = self._words("Discard the changes of {name}? y discards, n keeps them", name=name)
        if entry.change.is_untracked:
            question = self._words("Delete {name}? y deletes, n keeps it", name=name)
        self._question.update(Content.styled(line(question), "$text-warning"))
        self._question.display = True
        self._question.focus()

    @on(Confirmation.Answered)
    async def _answered(self, message: Confirmation.Answered) -> None:
        message.stop()
        name, window = self._asked, self._window
        if message.yes and name:
            if await self._differs(lambda: window.lost_by_discarding(name)):
                return
            self.post_message(ActionRequested("discard", {"path": name}))
        self._done_asking()

    def action_leave(self) -> None:
        """Leave the message or the question."""
        self._done_asking()

    def _done_asking(self) -> None:
        self._asked = self._seen = ""
        self._field.display = self._question.display = False
        self.remove_class("-diff")
        self._list.focus()
        self.run_worker(self._show_diff(), group="diff", exclusive=True)


def _all_lines(text: str, words: Words) -> list[Line]:
    """Return the lines of a diff of several files, or of plain text."""
    if "\n@@ " not in text:
        return plain_lines(text)
    # The first two lines are taken as the names of a file: here every file has its own.
    return diff_lines(f"--- \n+++ \n{text}", words, "")

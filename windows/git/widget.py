"""Git widget: the changes as a list, and beside it the diff of the one under the cursor.

The cursor is the person's own: moving it changes neither the window nor what the model reads. All
text of the repository is drawn without markup.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from contextui.errors import ContextUIError
from contextui.git.status import Change, Commit, Lines
from contextui.tui.desktop.field import Field
from contextui.tui.desktop.frame import ask_for_room
from contextui.tui.desktop.rowlist import (
    FilterLine,
    RowList,
    found_text,
    heading_row,
    mark_style,
    marked_name,
    positions_of,
    spread,
)
from contextui.tui.dialogs.diff import ChangeView, Line, diff_lines, is_diff, plain_lines
from contextui.tui.dialogs.question import ChangeQuestion
from contextui.tui.lines import MUTED, fit, line
from contextui.widgets import ActionRequested, FileRequested
from contextui.windowing.runtime import runtime_of
from contextui.windows.git.description import Situation
from contextui.windows.git.window import GitWindow
from contextui.words import Words

NARROW = 60  # cells of the window below which list and diff take turns
_NOT_WHILE_ASKING = ("stage", "commit", "discard", "open_file", "switch", "filter")
Group = Literal["conflict", "staged", "changed"]


@dataclass(frozen=True)
class Entry:
    """A change in one of the list's groups."""

    group: Group
    change: Change

    @property
    def key(self) -> tuple[str, str]:
        return self.group, self.change.path

    @property
    def mark(self) -> str:
        """The kind of change, as git writes it."""
        if self.group == "conflict":
            return "U"
        return self.change.index if self.group == "staged" else self.change.tree

    @property
    def lines(self) -> Lines | None:
        return self.change.staged if self.group == "staged" else self.change.lines


Row = Entry | Commit | tuple[str, str]  # an entry, a commit, or a heading with its count


class ChangeList(RowList[Row]):
    """The groups of changes and the last commits. A click shows the diff, a second one opens."""

    BINDINGS = [Binding("space", "expand", "stage", key_display="space")]
    opens_by_click: ClassVar[bool] = False

    def is_entry(self, row: Row) -> bool:
        """Whether a row is a change: the cursor passes over headings and commits."""
        return isinstance(row, Entry)

    @property
    def entry(self) -> Entry | None:
        return self.row if isinstance(self.row, Entry) else None


class GitBody(Vertical):
    """List and diff; below them the message of a commit."""

    BINDINGS = [
        Binding("space", "stage", "stage", key_display="space"),
        Binding("slash", "filter", "filter"),
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
        .left { width: 28; height: 1fr; }
        ChangeList { height: 1fr; }
        .right { width: 1fr; height: 1fr; padding: 0 0 0 1; }
        .heading { height: 1; }
        ChangeView { height: 1fr; }
        .message { height: auto; max-height: 3; padding: 0 1 0 0; }
        Field { display: none; height: auto; max-height: 3; }
        &.-narrow .left, &.-alone .left { width: 1fr; }
        &.-narrow .right, &.-alone .right { display: none; }
        &.-narrow.-diff .left { display: none; }
        &.-narrow.-diff .right { display: block; }
    }
    """
    keeps_tab = True
    frame_bindings: ClassVar[list[Binding]] = [Binding("slash", "filter", "filter")]
    first_actions: ClassVar[tuple[str, ...]] = ("stage", "unstage", "commit", "log")

    def __init__(self, window: GitWindow) -> None:
        super().__init__()
        self._window, self._words = window, Words(window.env.lang)
        self._now = Situation()
        self._chosen = ""
        self._seen = ""  # the diff that the person was shown with it
        self._draft = ""  # a message that was not committed
        self._list = ChangeList(self._draw, lambda row: row.key if isinstance(row, Entry) else row)
        self._diff = ChangeView([])
        self._filter = FilterLine(self._list)
        self._message, self._heading = Static(classes="message"), Static(classes="heading")
        self._field = Field(hint=self._words("message, enter commits, esc leaves"))

    def compose(self) -> ComposeResult:
        yield self._message
        with Horizontal():
            with Vertical(classes="left"):
                yield self._filter
                yield self._list
            with Vertical(classes="right"):
                yield self._heading
                yield self._diff
        yield self._field

    @property
    def window_title(self) -> str:
        """The branch, and how far it is ahead of or behind its upstream."""
        status = self._now.status
        parts = [line(status.branch or status.head[:7])]
        if status.ahead:
            parts.append(self._words("{count} ahead", count=status.ahead))
        if status.behind:
            parts.append(self._words("{count} behind", count=status.behind))
        return "  ".join(parts)

    @property
    def window_rows(self) -> int:
        """The rows of the longer of list and diff, of a message, and of a question below them."""
        rows = self._list.count + bool(self._filter.display)
        return max(rows, self._diff.count + 1) + bool(self._message.display) + self._is_asking

    # --- changes of the window ---------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < NARROW, "-narrow")

    def window_changed(self) -> None:
        self.run_worker(self._follow, group="follow", exclusive=True)  # type: ignore[arg-type]

    async def _follow(self) -> None:
        window = self._window
        seen = await runtime_of(window).worker.read(lambda: (window.state.now, window.state.chosen))
        if seen is None:
            return
        if seen[0].status.head != self._now.status.head:
            self._draft = ""
        self._now, chosen = seen
        self._show_rows()
        if chosen != self._chosen:  # the model, or an action of the person, shows a file
            self._chosen = chosen
            rows = enumerate(self._list.rows)
            named = (at for at, one in rows if isinstance(one, Entry) and one.change.name == chosen)
            if (place := next(named, None)) is not None:
                self._list.choose(place)
        self._show_message()
        if not self._is_asking:
            await self._show_diff()

    async def _read(self, call: Callable[[], str]) -> str | None:
        """Read something of the repository, or why it cannot be read; None if that takes long."""

        def text() -> str:
            try:
                return call()
            except ContextUIError as error:
                return error.text(self._words.lang)

        return await runtime_of(self._window).worker.read(text)

    def _show_rows(self) -> None:
        """Show the changes that the filter leaves; the cursor stays on its file."""
        words, before, query = self._words, self._list.entry, self._filter.query_text
        rows, note = self._rows(query.casefold().split()), ""
        if query:
            note = words("Nothing matches “{query}”. Esc clears.", query=line(query))
            total = sum(isinstance(row, Entry) for row in self._rows())
            count = sum(isinstance(row, Entry) for row in rows)
            self._filter.show_found(found_text(count, total, words))
        path = before.change.path if before else None
        keys = [row.key for row in rows if isinstance(row, Entry) and row.change.path == path]
        is_there = not keys or (before and before.key in keys)
        self._list.show(rows, note, at=None if is_there else keys[0])

    def _rows(self, query: Sequence[str] = ()) -> list[Row]:
        status, words = self._now.status, self._words
        changed = [one for one in status.changes if one.is_changed and not one.is_conflict]
        groups: Sequence[tuple[str, Group, list[Change]]] = (
            (words("In conflict"), "conflict", status.conflicts()),
            (words("Staged"), "staged", status.staged()),
            (words("Changed"), "changed", changed),
        )
        rows: list[Row] = []
        for title, group, changes in groups:
            found = [one for one in changes if all(word in one.name.casefold() for word in query)]
            if found:
                rows += [("", "")] if rows else []
                rows.append((title, str(len(found))))
                rows += [Entry(group, one) for one in found]
        if self._now.commits and not query:
            rows += [("", "")] if rows else []
            rows += [(words("Last commits"), ""), *self._now.commits[:3]]
        return rows

    def _draw(self, row: Row, width: int) -> Content:
        if isinstance(row, Entry):
            return self._entry_line(row, width)
        if isinstance(row, Commit):
            room = max(width - len(row.id) - 1, 0)
            return Content.assemble(
                (line(row.id), "$text-warning"), " ", (fit(row.subject, room), "")
            )
        return heading_row(*row, width)

    def _entry_line(self, entry: Entry, width: int) -> Content:
        lines, name = entry.lines or Lines(0, 0), line(entry.change.name)
        found = positions_of(name, self._filter.query_text.casefold().split())
        mark = Content.styled(f"{entry.mark} ", mark_style(entry.mark))
        counts = Content.assemble(
            (f" +{lines.added}" if lines.added else "", "$text-success"),
            (f" -{lines.removed}" if lines.removed else "", "$text-error"),
        )
        return spread(mark + marked_name(name, found), counts, width)

    def _show_message(self) -> None:
        now, text = self._now, ""
        if now.reason == "no repository":
            text = self._words("Not a git repository. i runs git init.")
        elif now.reason is not None:
            text = f"✗ {now.problem}" + self._words(" r tries again.")
        elif not now.status.changes:
            text = self._words("Nothing to commit.")
        self._message.update(Content.styled(line(text), MUTED))
        self._message.display = bool(text)

    async def _show_diff(self) -> None:
        entry, window = self._list.entry, self._window
        if entry is None:
            self._heading.update("")
            self._show_lines([])
            return
        name, staged = entry.change.name, entry.group == "staged"
        text = await self._read(lambda: window.diff_of(name, staged=staged))
        now = self._list.entry
        if text is None or self._is_asking or now is None or now.key != entry.key:
            return
        self._set_heading(name, str(entry.lines or ""))
        words = self._words
        lines = diff_lines(text, words, name) if is_diff(text) else plain_lines(text)
        if lines != list(self._diff.layout_of.lines):  # keep the place in an unchanged diff
            self._show_lines(lines)

    def _set_heading(self, title: str, facts: str = "", style: str = "bold") -> None:
        self._heading.update(Content.assemble((line(title), style), f"  {line(facts)}"))

    def _show_lines(self, lines: list[Line]) -> None:
        """Show these lines at the right, with as much room as there is; else the list alone."""
        self._diff.show(lines)
        self.set_class(not lines, "-alone")
        if not lines:
            self.remove_class("-diff")
            if self._diff.has_focus:
                self._list.focus()
        self.call_after_refresh(ask_for_room, self)

    # --- keys --------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable only what applies: not while a message is typed, init only where it helps."""
        if action == "init":
            return self._now.reason == "no repository"
        if action == "leave":
            return self._is_asking or bool(self._filter.display)
        if self._is_asking and action in _NOT_WHILE_ASKING:
            return False
        return super().check_action(action, parameters)

    @property
    def _is_asking(self) -> bool:
        return bool(self._field.display)

    @on(RowList.Moved)
    def _moved(self, message: "RowList.Moved") -> None:
        message.stop()
        self._look_at_row()

    def _look_at_row(self) -> None:
        self.run_worker(self._show_diff, group="diff", exclusive=True)  # type: ignore[arg-type]

    def action_filter(self) -> None:
        self.remove_class("-diff")
        self._filter.begin()
        ask_for_room(self)

    @on(FilterLine.Changed)
    def _filtered(self, message: FilterLine.Changed) -> None:
        message.stop()
        self._show_rows()
        self._look_at_row()

    @on(RowList.Opened)
    def _opened(self, message: "RowList.Opened") -> None:
        message.stop()
        self.action_open_file()

    @on(RowList.Toggled)
    def _toggled(self, message: "RowList.Toggled") -> None:
        message.stop()
        self.action_stage()

    def action_stage(self) -> None:
        if entry := self._list.entry:
            wanted = "unstage" if entry.group == "staged" else "stage"
            self.post_message(ActionRequested(wanted, {"paths": [entry.change.name]}))

    def action_open_file(self) -> None:
        """Open the file in an editor, at the line of the diff's first change in view."""
        if entry := self._list.entry:
            self.post_message(FileRequested(entry.change.path, self._line_in_view()))

    def _line_in_view(self) -> int:
        """Return the number of the first changed line in view, or after it."""
        lines = self._diff.layout_of.lines
        top = self._diff.lines_in_view[0] - 1
        changed = (at for at in range(max(top, 0), len(lines)) if lines[at].kind in "+-")
        return next((line.new for line in lines[next(changed, len(lines)) :] if line.new), 1)

    def action_switch(self) -> None:
        to_diff = self._list.has_focus and not self.has_class("-alone")
        self.set_class(to_diff, "-diff")
        (self._diff if to_diff else self._list).focus()

    def action_init(self) -> None:
        self.post_message(ActionRequested("init"))

    def action_reload(self) -> None:
        self.post_message(ActionRequested("refresh"))

    async def action_commit(self) -> None:
        if not self._now.status.staged():
            self.post_message(ActionRequested("commit", {"message": "-"}))  # says why not
            return
        text = await self._read(self._window.staged_diff)
        if text is None:
            return
        count = len(self._now.status.staged())
        self._set_heading(self._words("Commit {count} staged", count=count))
        self._show_all(text)
        self._field.text, self._field.display = self._draft, True
        self._field.move_cursor(self._field.document.end)
        self._field.focus()

    def _show_all(self, text: str) -> None:
        self._seen = text
        self._show_lines(diff_lines(text, self._words) if is_diff(text) else plain_lines(text))
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
        now = await self._read(call)
        if now is None or now == self._seen:
            return now is None
        self._set_heading(self._words("Changed just now, look again"), style="$text-warning")
        self._show_all(now)
        return True

    async def action_discard(self) -> None:
        if (entry := self._list.entry) is not None and entry.change.is_changed:
            await self._discard(entry.change)

    async def _discard(self, change: Change, seen: str | None = None) -> None:
        """Discard what the person was shown; first show it, and again if it has changed."""
        name, words = change.name, self._words
        lost = await self._read(lambda: self._window.lost_by_discarding(name))
        if lost is None:
            return
        if lost == seen:
            self.post_message(ActionRequested("discard", {"path": name}))
            return

        def answer(yes: bool | None) -> None:
            if yes:
                self.run_worker(self._discard(change, lost))

        title = words("Discard the changes of {name}?", name=line(name))
        if change.is_untracked:
            title = words("Delete {name}?", name=line(name))
        why = words("Lost if discarded:" if seen is None else "Changed just now, look again")
        lines = diff_lines(lost, words) if is_diff(lost) else plain_lines(lost)
        about = Content.styled(why, "$text-warning")
        screen = ChangeQuestion(words, title, words("Discard"), about=about, lines=lines)
        self.app.push_screen(screen, answer)

    def action_leave(self) -> None:
        if self._is_asking:
            self._done_asking()
        else:
            self._filter.end()

    def _done_asking(self) -> None:
        if self._field.display:
            self._draft = self._field.text
        self._seen, self._field.display = "", False
        self.remove_class("-diff")
        self._list.focus()
        self._look_at_row()

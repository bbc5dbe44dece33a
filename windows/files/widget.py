"""Files widget: the tree with a cursor and git's marks, a filter over all files, and a preview.

Which folders are open, the cursor and the filter are the person's own: they change neither the
window nor what the model reads. Nothing here waits for the disk: folders, git and the index of
paths are read in threads.
"""

import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from contextui.files.errors import FileError
from contextui.files.index import FILES, PathIndex
from contextui.files.listing import Listing
from contextui.git.repository import read_marks
from contextui.session.preferences import Preferences
from contextui.tui.desktop.frame import ask_for_room
from contextui.tui.desktop.rowlist import (
    FilterLine,
    RowList,
    mark_style,
    marked_name,
    positions_of,
    spread,
    visible,
)
from contextui.tui.lines import (
    FAINT,
    MUTED,
    age,
    fold,
    line,
    path_end,
    short,
    shown_folder,
    spinner,
)
from contextui.widgets import FileRequested, MentionRequested, stated
from contextui.windowing.worker import in_daemon_thread
from contextui.windows.files.gist import FileGist, folder_gist, gist_of
from contextui.windows.files.tree import (
    FileRow,
    RowKey,
    Tree,
    matched_in,
    read_folders,
    visible_paths,
)
from contextui.windows.files.window import FilesWindow
from contextui.words import Words, msg

ROOMY = 70  # cells of a window that has room for a preview
SECONDS = 5.0  # seconds between looks at the disk while the window is shown
_REST = 50  # times as long as a look took until the next one
_PATH = 32  # characters of the workspace's path in the title
_PATIENCE = 0.3  # seconds until a spinner appears
_OPENED, _MOST_OPENED = "folders", 500  # the name in the folder's memory, and folders kept there
_LEGEND = (("M", msg("changed")), ("A", msg("added")), ("?", msg("new")), ("D", msg("deleted")))


class FilesBody(Vertical):
    """The tree, and beside it the gist of the file under the cursor."""

    BINDINGS = [
        Binding("slash", "filter", "filter"),
        Binding("at", "mention", "mention", key_display="@"),
        Binding("H", "hidden", "hidden files"),
        Binding("right", "unfold", show=False),
        Binding("left", "collapse", show=False),
        Binding("r", "reload", show=False),
        Binding("escape", "back", show=False),
    ]
    DEFAULT_CSS = """
    FilesBody {
        .all { height: 1fr; }
        .tree { width: 1fr; height: 1fr; }
        RowList { height: 1fr; }
        .legend { display: none; height: 1; }
        .preview { display: none; width: 1fr; height: 1fr; padding: 0 0 0 1;
                   border-left: solid $foreground 14%; }
        &.-roomy .tree { width: 42; }
        &.-roomy .preview { display: block; }
        &.-roomy.-marked .legend { display: block; }
    }
    """
    first_actions: ClassVar[tuple[str, ...]] = ("find_name", "find_text", "refresh")
    frame_bindings: ClassVar[list[Binding]] = [Binding("slash", "filter", "filter")]

    def __init__(self, window: FilesWindow) -> None:
        super().__init__()
        self._window, self._words = window, Words(window.env.lang)
        self._tree, self._gist = Tree(), FileGist("")
        self._described_file = ("", 0, 0.0)  # with size and time: another version is read again
        self._state: FilesWindow.State | None = None  # the one that is shown
        self._model_opened = set[str]()
        self._results: Sequence[FileRow] = ()  # of a search by an action
        self._index: PathIndex | None = None
        self._found_of = 0
        self._wanted: RowKey | None = None  # the row that the cursor goes to once read
        self._left: RowKey | None = None  # the row of the tree that results replaced
        self._busy = dict[str, float]()  # what is being read: since when, or until when it rests
        self._again = set[str]()
        self._list: RowList[FileRow] = RowList(self._draw, lambda row: row.key)
        self._filter = FilterLine(self._list)
        self._legend, self._preview = Static(classes="legend"), Static(classes="preview")

    def compose(self) -> ComposeResult:
        with Horizontal(classes="all"):
            with Vertical(classes="tree"):
                yield self._filter
                yield self._list
                yield self._legend
            yield self._preview

    @property
    def window_title(self) -> str:
        parts = [line(self._state.headline) if self._state and self._shows_results else ""]
        if not parts[0] and self.size.width >= ROOMY // 2:
            files = self._window.env.files
            parts[0] = visible(path_end(shown_folder(files.root), _PATH)) if files else ""
            parts[0] += "" if self._tree.root == "." else f"/{visible(self._tree.root)}"
        if self._tree.marks.count:
            parts.append(self._words("{count} changed", count=f"{self._tree.marks.count:,}"))
        return "   ".join(part for part in parts if part)

    @property
    def window_rows(self) -> int:
        rows = max(len(self._list.rows), 1) + bool(self._filter.display)
        return max(rows + 1, 12) if self.has_class("-roomy") else rows

    # --- changes of the window ---------------------------------------------------------

    def on_mount(self) -> None:
        legend = Content("")
        for mark, about in _LEGEND:
            legend += Content.styled(f"{mark} ", mark_style(mark))
            legend += Content.styled(f"{self._words(about)}  ", MUTED)
        self._legend.update(legend)
        self._work(self._recall, "memory")
        self.set_interval(SECONDS, self._look)
        self.set_interval(0.25, self._show_progress)

    def on_resize(self, event: events.Resize) -> None:
        self._make_room(event.size.width)
        self.call_after_refresh(self._describe)

    def _make_room(self, width: int) -> None:
        """Show the preview beside a tree, if there is room; results take the whole width."""
        self.set_class(width >= ROOMY and not self._shows_results, "-roomy")

    @property
    def _shows_results(self) -> bool:
        return bool(self._results) and not self._filter.query_text

    def person_acted(self, action_id: str) -> None:
        if action_id.startswith("find_"):
            self._filter.end()
            self._state = None  # also the same results again
            self.window_changed()
            self.call_after_refresh(self._list.focus)

    def window_changed(self) -> None:
        """Follow what the model, or an action of the person, opened, entered or found."""
        state = stated(self._window, FilesWindow.State)
        if state is None or state == self._state:
            return
        before, self._state = self._state, state
        if state.root != self._tree.root:
            self._tree.root = state.root
        top = self._window.state.top
        if top.path == state.root and top.path not in self._tree.read:  # sizes and ages follow
            self._tree.read = {**self._tree.read, top.path: top}
        opened = set(state.expanded)
        self._tree.opened -= self._model_opened - opened
        self._tree.opened |= opened - self._model_opened
        self._model_opened = opened
        if before is None or (before.headline, before.found) != (state.headline, state.found):
            self._take_results(state)
        else:
            self._show()
        self._look(now=True)

    def _take_results(self, state: FilesWindow.State) -> None:
        self._remember_row()
        if state.found and not self._filter.has_focus_within:
            self._filter.end()
        self._results = [
            FileRow(one.path, one.path + one.behind, one.kind, line=one.line) for one in state.found
        ]
        self._show(is_new=True)

    def _remember_row(self) -> None:
        if not self._results and not self._filter.display:
            self._left = self._list.row.key if self._list.row is not None else None

    def _look(self, now: bool = False) -> None:
        """Read the folders in view and git's marks again, unless the window cannot be seen."""
        is_seen = now or (self.is_attached and self.region.area)
        if self._window.env.files is None or not is_seen:
            return
        self._read("folders", self._read_folders, now)
        self._read("marks", self._read_marks, now)

    def _read(self, what: str, reading: Callable[[], Any], now: bool) -> None:
        """Start one reading of a kind at a time; large ones are repeated less often."""
        if self._busy.get(what, 0.0) < 0:
            self._again |= {what} if now else set()
        elif now or time.monotonic() >= self._busy.get(what, 0.0):
            self._busy[what] = -time.monotonic()
            self._work(partial(self._reading, what, reading), what)

    def _work(self, call: Callable[[], Any], group: str, *, exclusive: bool = False) -> None:
        # Not a coroutine yet: one that is cancelled at once would never be awaited.
        self.run_worker(call, group=group, exclusive=exclusive)

    async def _reading(self, what: str, reading: Callable[[], Any]) -> None:
        began = -self._busy[what]
        try:
            await reading()
        finally:
            self._busy[what] = time.monotonic() + _REST * (time.monotonic() - began)
        if what in self._again:
            self._again.remove(what)
            self._read(what, reading, True)
        if self.is_attached:
            before = self.window_rows
            self._show()
            if self.window_rows != before:
                ask_for_room(self)

    async def _read_folders(self) -> None:
        tree, files = self._tree, self._window.env.workspace
        folders, ignored = tree.folders(), tree.shows_hidden
        tree.read = await in_daemon_thread(lambda: read_folders(files, folders, ignored=ignored))

    async def _read_marks(self) -> None:
        folder = self._window.env.workspace.root
        self._tree.marks = await in_daemon_thread(lambda: read_marks(folder))
        self.set_class(bool(self._tree.marks.count), "-marked")

    # --- rows --------------------------------------------------------------------------

    def _show(self, *, is_new: bool = False) -> None:
        """Show the tree, what an action found, or what the filter finds."""
        self._make_room(self.size.width)
        if query := self._filter.query_text:
            self._work(partial(self._find, query), "find", exclusive=True)
            return
        words = self._words
        if self._results:
            self._list.show(self._results, at=self._results[0].key if is_new else None)
        else:
            rows, wanted = self._tree.rows(words("This folder is empty.")), self._wanted
            at = next((row.key for row in rows if row.key == wanted), None) if wanted else None
            self._wanted = None if at else wanted
            self._list.show(rows, "" if rows else self._empty(), at=at)
        self._describe()

    def _empty(self) -> str:
        words, read = self._words, self._tree.read.get(self._tree.root)
        if isinstance(read, Listing) and (count := self._tree.hidden_count()):
            return words("Nothing but {count} hidden. H shows them.", count=count)
        return words("This folder is empty.") if isinstance(read, Listing) else ""

    def _draw(self, row: FileRow, width: int) -> Content:
        indent = "  " * min(row.depth, max(width // 2 - 8, 0))
        if row.kind == "note":
            return Content.styled(f"{indent}  {line(self._noted(row))}", FAINT)
        triangle = "" if row.is_open is None else ("▾ " if row.is_open else "▸ ")
        is_folder = row.kind == "folder" or row.is_open is not None
        style = MUTED if is_folder or row.kind in ("other", "deleted") else ""
        name = Content.assemble(
            (indent, ""),
            (triangle or ("" if self._shows_results else "  "), FAINT),
            marked_name(row.name, self._matched(row), style),
            ("/" if is_folder else " →" if row.kind == "link" else "", FAINT),
        )
        return spread(name, self._facts(row, width, is_folder), width)

    def _matched(self, row: FileRow) -> Collection[int]:
        if query := self._filter.query_text:
            return matched_in(row, query)
        if not self._results or self._state is None:
            return ()
        start = len(row.path) if row.line else 0
        return [one for one in positions_of(row.name, [self._state.wanted.casefold()])
                if one >= start]  # fmt: skip

    def _noted(self, row: FileRow) -> str:
        read = self._tree.read.get(row.path)
        if isinstance(read, FileError):
            reason = read.text(self._words.lang).rstrip(".。")
            return "✗ " + self._words("{reason}. r tries again.", reason=reason)
        return row.name

    def _facts(self, row: FileRow, width: int, is_folder: bool) -> Content:
        """Return size, age and git's mark; what a narrow window has no room for is left out."""
        if self._shows_results:
            return Content("")
        size = "" if is_folder or row.size < 0 else short(row.size)
        size = "–" if row.kind == "deleted" else size
        seconds = self._window.env.clock().timestamp() - row.modified
        ago = age(seconds) if row.modified and not is_folder else ""
        parts = [(f" {size:>5}" if width >= 20 else "", FAINT)]
        parts += [(f" {ago:>4}", FAINT)] if width >= 34 else []
        return Content.assemble(*parts, (f" {row.mark:1}", mark_style(row.mark)))

    # --- the filter --------------------------------------------------------------------

    def action_filter(self) -> None:
        if self._window.env.files is not None:
            self._remember_row()
            self._filter.begin()

    def on_descendant_focus(self) -> None:
        """Read the index once the person is here: the first letter of a filter finds it."""
        if self._window.env.files is not None:
            index = self._index = self._index or PathIndex.of(self._window.env.files)
            refresh = partial(index.refresh, only_if_stale=True)
            self._read("index", lambda: in_daemon_thread(refresh), now=index.is_stale)

    @on(FilterLine.Changed)
    def _changed(self, message: FilterLine.Changed) -> None:
        message.stop()
        self._show()

    async def _find(self, query: str) -> None:
        """Show what the index has; large ones are searched in a thread, too."""
        index, tree, words = self._index, self._tree, self._words
        if index is None or not index.is_ready:
            self._show_progress()
            return
        hidden = tree.shows_hidden

        def find() -> tuple[list[FileRow], int, str]:
            entries = visible_paths(index.filter(query, kinds=FILES), query, hidden=hidden)
            best = index.match(query, 1)
            return tree.found(entries), len(entries), best[0].path if best else ""

        rows, count, best = await in_daemon_thread(find)
        if query != self._filter.query_text:
            return
        none = words("No file matches “{query}”. Esc clears.", query=line(query))
        is_new = self._list.row is None or self._found_of != hash(query)
        self._found_of = hash(query)
        self._list.show(rows, none, at=(best, False, 0) if is_new and best else None)
        total = f"{len(index):,}{'+' if index.is_capped else ''}"
        found = words("{count} of {total} files", count=f"{count:,}", total=total)
        self._filter.show_found(found)
        self._describe()

    def _show_progress(self) -> None:
        index, since = self._index, -self._busy.get("index", 0.0)
        if since > 0 and index is not None and self._filter.display:
            if time.monotonic() - since > _PATIENCE:
                count = f"{index.files_so_far:,}"
                text = self._words("{count} files so far", count=count)
                self._filter.show_found(f"{spinner()} {text}")
            return
        since = -self._busy.get("folders", 0.0)
        if since > 0 and not self._tree.read and time.monotonic() - since > _PATIENCE:
            self._list.show([], f"{spinner()} {self._words('Loading…')}")

    # --- keys --------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "back":
            return bool(self._filter.display or self._results)
        return super().check_action(action, parameters)

    def action_back(self) -> None:
        if self._filter.display:
            self._filter.end()
        else:
            self._results, self._wanted = (), self._left
            self._list.cursor = 0
            self._show()
            self._list.choose(self._list.cursor)

    @on(RowList.Opened)
    async def _open(self, message: "RowList.Opened") -> None:
        message.stop()
        row = self._list.row
        if row is None or row.kind == "note":
            return
        if row.kind == "folder" or (row.kind == "link" and await self._leads_to_folder(row.path)):
            self._toggle(row)
        else:
            self.post_message(FileRequested(row.path, row.line or None))

    async def _leads_to_folder(self, path: str) -> bool:
        files = self._window.env.workspace

        def look() -> bool:
            try:
                return files.stat(path).kind == "folder"
            except FileError:
                return False

        return await in_daemon_thread(look)

    @on(RowList.Toggled)
    async def _unfold(self, message: "RowList.Toggled") -> None:
        message.stop()
        row = self._list.row
        if row is None or row.kind not in ("folder", "link"):
            return
        if row.kind == "folder" or row.is_open or await self._leads_to_folder(row.path):
            self._toggle(row)

    def _toggle(self, row: FileRow) -> None:
        opened = self._tree.opened
        if self._filter.query_text or self._results:
            opened |= {row.path, *map(str, PurePosixPath(row.path).parents)} - {"."}
            self._results, self._wanted = (), row.key
            self._filter.end()
            self._list.focus()
        elif row.path in opened:
            opened.remove(row.path)
        else:
            opened.add(row.path)
        self._show()
        if not opened <= self._tree.read.keys():
            self._look(now=True)
        self._read("memory", self._remember, now=True)

    # --- between runs ------------------------------------------------------------------

    @property
    def _memory(self) -> Preferences | None:
        desk = getattr(self.app, "desk", None)
        if desk is None:
            return None
        return Preferences.of_folder(Path(desk.session.cwd), desk.session.path.parents[2])

    async def _recall(self) -> None:
        memory = self._memory
        found = await in_daemon_thread(lambda: memory.get(_OPENED)) if memory is not None else None
        opened = {one for one in found if isinstance(one, str)} if isinstance(found, list) else ()
        if opened:
            self._tree.opened |= opened
            self._look(now=True)

    async def _remember(self) -> None:
        memory, opened = self._memory, sorted(self._tree.opened)[:_MOST_OPENED] or None
        if memory is not None:
            await in_daemon_thread(lambda: memory.put(_OPENED, opened))

    def action_unfold(self) -> None:
        row = self._list.row
        if row is not None and row.kind in ("folder", "link") and not row.is_open:
            self._list.action_expand()

    def action_collapse(self) -> None:
        row = self._list.row
        if row is None or self._results:
            return
        if row.is_open and not self._filter.query_text:
            self._toggle(row)
            return
        above = [at for at, one in enumerate(self._list.rows[: self._list.cursor])
                 if one.depth < row.depth]  # fmt: skip
        if above:
            self._list.choose(above[-1])

    def action_mention(self) -> None:
        row = self._list.row
        if row is not None and row.kind in ("file", "link", "folder"):
            self.post_message(MentionRequested(row.path))

    def action_hidden(self) -> None:
        self._tree.shows_hidden = not self._tree.shows_hidden
        self._show()
        self._look(now=True)

    def action_reload(self) -> None:
        self._look(now=True)

    # --- the preview -------------------------------------------------------------------

    @on(RowList.Moved)
    def _moved(self, message: "RowList.Moved") -> None:
        message.stop()
        self._wanted = None
        self._describe()

    def _describe(self) -> None:
        row = self._list.row
        if not self.has_class("-roomy"):
            return
        is_unread = row is None or (row.kind == "file" and row.size < 0)
        if row is None or is_unread or row.kind not in ("file", "link", "folder"):
            self._preview.update(Content(""))
        elif (row.path, row.size, row.modified) == self._described_file:
            self._preview.update(self._described(self._gist))
        else:
            self._work(partial(self._read_gist, row), "gist", exclusive=True)

    async def _read_gist(self, row: FileRow) -> None:
        files, path = self._window.env.workspace, row.path
        if row.kind == "folder":
            call = partial(folder_gist, files, path, self._tree.is_visible)
        else:
            call = partial(gist_of, files, path, row.size)
        gist = await in_daemon_thread(call)
        if self._list.row is not None and self._list.row.path == path:
            self._gist, self._described_file = gist, (path, row.size, row.modified)
            self._preview.update(self._described(gist))

    def _described(self, gist: FileGist) -> Content:
        words, width = self._words, max(self._preview.content_size.width, 10)
        name = Content.assemble((visible(gist.path.rpartition("/")[2]), "bold"))
        facts = [gist.language, self._window.env.say(*gist.problem)]
        if gist.lines is not None:
            facts.append(words.plural(gist.lines, "1 line", "{count:,} lines"))
            facts.append(words("~{count} tokens", count=short(gist.tokens)))
        shown = [name, Content.styled(line(", ".join(filter(None, facts))), MUTED)]
        if (editor := self._window.env.showing(gist.path)) is not None:
            shown.append(Content.styled(words("open as {name}", name=line(editor.id)), MUTED))
        if gist.about:
            shown += [Content(""), Content(line(gist.about))]
        shown += [Content("")] if gist.outline else []
        digits = len(str(gist.outline[-1].line)) if gist.outline else 0
        for entry in gist.outline:
            text = f"{'  ' * min(entry.depth, 9)}{line(entry.name)}"
            number = f"{entry.line:>{digits}}  "
            shown.append(Content.assemble((number, FAINT), text).truncate(width, ellipsis=True))
        rows = [row for one in shown for row in fold(one, width)]
        return Content("\n").join(rows[: max(self._preview.content_size.height, 3)])

"""The sheet of sessions: a list with groups and forks, a preview, and what can be done."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from contextui.errors import ContextUIError
from contextui.session.catalogue import Catalogue, Head, Place, Preview
from contextui.session.log import SessionLockedError
from contextui.session.trash import Deleted, delete, locked, restore
from contextui.tui.desktop.rowlist import FilterLine, not_found_text
from contextui.tui.dialogs.session_list import (
    COST,
    FOLDER,
    TURNS,
    USED,
    SessionList,
    SessionRow,
    rows_of,
)
from contextui.tui.dialogs.sheet import ListSheet
from contextui.tui.footer import Hint, KeyBar
from contextui.tui.lines import FAINT, MUTED, fit, inert, line, shown_folder
from contextui.windowing.error_text import reason_of
from contextui.words import Words, msg

_WITH_PREVIEW, _WITH_FOLDER = 100, 80  # columns of the terminal
_PAUSE = 0.08  # seconds without a move before a preview is read
_REST = 0.01  # seconds between two logs that are read in the background
_OFTEN = 0.5  # seconds between two redraws while logs are read
_WAIT = 0.3  # seconds before it is said that something loads
_ROWS = 9  # windows and files of a preview
_OPEN = msg("Open in another terminal. f forks it.")

_KEYS = (
    ("enter", msg("resume")),
    ("f", msg("fork")),
    ("n", msg("new")),
    ("r", msg("rename")),
    ("e", msg("export")),
    ("x", msg("delete")),
    ("/", msg("search")),
    ("tab", msg("this folder or all")),
    ("esc", msg("back")),
)
_RENAME_KEYS = (("enter", msg("done")), ("esc", msg("cancel")))


class Chosen(NamedTuple):
    """What the person chose: to resume or fork a session, or to start a new one."""

    act: Literal["resume", "fork", "new"]
    session_id: str | None = None


class SessionsScreen(ListSheet[Chosen, SessionRow]):
    """Lists the sessions: resume, fork, rename, export, delete."""

    DEFAULT_CSS = """
    SessionsScreen {
        #box { width: 114; height: 37; }
        FilterLine { margin: 0 0 1 0; }
        #field { background: $background; width: 1fr; margin: 1 0 0 0; }
        #columns { height: 1; }
        #middle { height: 1fr; }
        #left { width: 66; }
        SessionList { height: 1fr; }
        #preview { width: 1fr; border-left: vkey $foreground 14%; padding: 0 0 0 1; }
        #preview Static { height: auto; }
        &.-narrow #preview { display: none; }
        &.-narrow #left { width: 1fr; }
    }
    """
    BINDINGS = [
        Binding("f", "fork", show=False),
        Binding("n", "new", show=False),
        Binding("r", "rename", show=False),
        Binding("e", "write", show=False),
        Binding("x", "delete", show=False),
        Binding("u", "undo", show=False),
        Binding("tab,shift+tab", "scope", show=False),
    ]

    def __init__(
        self,
        words: Words,
        catalogue: Catalogue,
        folder: Path,
        current: str,
        *,
        rename: Callable[[str], object],
        export: Callable[[Place], str],
    ) -> None:
        self._list = SessionList(words, catalogue, current)
        hint = words("Search titles and folders")
        super().__init__(words, self._list, hint, is_filter_shown=True)
        self._catalogue, self._folder = catalogue, folder
        self._current, self._rename_current, self._export = current, rename, export
        self._everywhere = False
        self._places: list[Place] | None = None
        self._deleted: list[tuple[Deleted, str]] = []
        self._renamed: Place | None = None
        self._previews: dict[Place, Preview] = {}
        self.is_read = False
        """Whether all sessions of the list were read."""

    def compose(self) -> ComposeResult:
        words = self._words
        with Vertical(id="box") as box:
            box.border_title = Content(words("Sessions"))
            yield self.filter
            with Horizontal(id="middle"):
                with Vertical(id="left"):
                    yield Static(id="columns")
                    yield self._list
                with VerticalScroll(id="preview", can_focus=False):
                    yield Static(id="what", markup=False)
            self.field.placeholder = words("Title")
            yield self.field
            yield KeyBar(words)

    def hints(self) -> Sequence[Hint]:
        return _RENAME_KEYS if self.field.has_focus else _KEYS

    def on_mount(self) -> None:
        self._fit()
        self._list.focus()
        self._load()

    def _fit(self) -> None:
        width = self.app.size.width
        self._list.has_folder = self._everywhere and width >= _WITH_FOLDER
        self.set_class(width < _WITH_PREVIEW, "-narrow")
        self._list.refresh()
        self.call_after_refresh(self._show_heads)

    on_resize = _fit

    def _show_heads(self) -> None:
        words, width = self._words, self._list.line_width
        folder = f"  {fit(words('Folder'), FOLDER)}" if self._list.has_folder else ""
        room = self._list.title_room(width)
        cost = fit(words("cost").capitalize(), COST, right=True) if self._list.has_cost else ""
        heads = (
            f"{fit(words('Title'), room)}  {fit(words('Used'), USED)}"
            f"{folder}{fit(words('Turns'), TURNS, right=True)}{cost}"
        )
        self.query_one("#columns", Static).update(Content.styled(heads, MUTED))

    # --- reading -----------------------------------------------------------------------

    def _load(self) -> None:
        self.is_read = False
        self.set_timer(_WAIT, self._say_loading)
        self.run_worker(self._read(), name="sessions", group="sessions", exclusive=True)

    async def _read(self) -> None:
        cwd = None if self._everywhere else self._folder
        page = max(self.app.size.height, 10)
        places = await asyncio.to_thread(self._first, cwd, page)
        self._places = places
        self._show()
        if self._list.place is not None and self._list.place.id == self._current:
            self._list.action_step(1)  # the others are what one comes for
        shown = time.monotonic()
        for place in places:
            if self._catalogue.known(place) is None:
                await asyncio.to_thread(self._catalogue.head, place)
                await asyncio.sleep(_REST)  # keys come first
                if time.monotonic() - shown > _OFTEN:
                    self._show()
                    shown = time.monotonic()
        self.is_read = True
        self._show()

    def _first(self, cwd: Path | None, page: int) -> list[Place]:
        """Find all sessions, and read the newest ones with their parents."""
        places = self._catalogue.places(cwd)
        ids = {place.id: place for place in places}
        for place in places[:page]:
            head = self._catalogue.head(place)
            if head.origin is not None and head.origin.parent in ids:
                self._catalogue.head(ids[head.origin.parent])
        return places

    def _say_loading(self) -> None:
        if self._places is None:
            self._list.show((), self._words("⠹ Loading…"))

    # --- showing -----------------------------------------------------------------------

    def _show(self) -> None:
        if self._places is None or not self.is_attached:
            return
        rows = rows_of(self._places, self._catalogue.known, self._list.now(), self._keeps)
        words = self._words
        note = words("No sessions yet. They appear here by themselves.")
        if query := self.filter.query_text:
            note = not_found_text(query, words)
        self._list.show_sessions(rows, note)
        self._show_heads()
        count = sum(row.place is not None for row in rows)
        number = words.plural(count, "1 session", "{count} sessions")
        here, everywhere = (MUTED, "bold") if self._everywhere else ("bold", MUTED)
        self.filter.show_found(
            Content.assemble(
                (f"{number}   ", MUTED), (words("this folder"), here),
                (" · ", FAINT), (words("all"), everywhere),
            )
        )  # fmt: skip

    def _keeps(self, place: Place) -> bool:
        head, query = self._catalogue.known(place), self.filter.query_text
        if head is None:
            return not query
        if not self._everywhere and head.cwd and head.cwd != str(self._folder):
            return False  # another folder, whose name looks the same
        if head.is_empty:
            return False
        said = f"{head.title}\n{head.since_fork}\n{head.cwd}".casefold()
        return all(word in said for word in query.casefold().split())

    # --- preview -----------------------------------------------------------------------

    @on(SessionList.Moved)
    def _preview_soon(self) -> None:
        # Not a coroutine yet: one that is cancelled at once would never be awaited.
        self.run_worker(
            self._preview,  # type: ignore[arg-type]
            name="preview",
            group="preview",
            exclusive=True,
        )

    async def _preview(self) -> None:
        await asyncio.sleep(_PAUSE)
        if not self.is_current or self.has_class("-narrow"):
            return
        place, what = self._list.place, self.query_one("#what", Static)
        if place is None:
            what.update("")
            return
        if place not in self._previews:
            try:
                found = await asyncio.to_thread(self._catalogue.preview, place)
            except ContextUIError as error:
                what.update(Content.styled(f"✗ {self._words(error)}", MUTED))
                return
            self._previews[place] = found
        head = await asyncio.to_thread(self._catalogue.head, place)
        if self._list.place == place:
            what.update(Content("\n").join(self._lines(head, self._previews[place])))
            self.query_one("#preview").scroll_home(animate=False)

    def _lines(self, head: Head, preview: Preview) -> Iterable[Content]:
        words = self._words
        yield Content.styled(line(head.since_fork or head.title or words("(no prompt)")), "bold")
        about = [shown_folder(head.cwd) if head.cwd else "", preview.branch, preview.model]
        yield Content.styled("   ".join(line(one) for one in about if one), MUTED)
        if head.turns is not None:
            turns = words.plural(head.turns, "1 turn", "{count} turns")
            yield Content.styled(turns, MUTED)
        windows = (
            Content.assemble(line(name), (f"   {line(what)}" if what else "", MUTED))
            for name, what in preview.windows
        )
        yield from self._part(words("Windows"), [*windows])
        files = []
        for path, counts in zip(preview.files, preview.counts, strict=True):
            added = f"  +{counts.added}" if counts and counts.added else ""
            removed = f"  −{counts.removed}" if counts and counts.removed else ""
            marks = ((added, "$text-success"), (removed, "$text-error"))
            files.append(Content.assemble(line(path), *marks))
        yield from self._part(words("Files written"), files)
        if preview.said or preview.answered:
            yield Content("")
            yield Content.styled(words("Last messages"), MUTED)
        if preview.said:
            for row in inert(preview.said).split("\n")[:6]:
                yield Content.assemble(("▌ ", "$secondary"), row)
            yield Content("")
        if preview.answered:
            yield from inert(preview.answered).split("\n")[:12]
        if preview.draft.strip():
            yield Content("")
            yield Content.styled(words("Not sent yet"), MUTED)
            yield Content.styled(line(preview.draft[:300]), "$text-warning")

    def _part(self, title: str, rows: Sequence[Content]) -> Iterable[Content]:
        if rows:
            yield Content("")
            yield Content.styled(title, MUTED)
            yield from rows[:_ROWS]
        if (more := len(rows) - _ROWS) > 0:
            yield Content.styled(self._words("… {count} more", count=more), FAINT)

    # --- keys --------------------------------------------------------------------------

    def action_new(self) -> None:
        self.dismiss(Chosen("new"))

    def action_scope(self) -> None:
        if not self._list.has_focus:
            return
        self._everywhere = not self._everywhere
        self._fit()
        self._places = None
        self._load()

    def _place_there(self) -> Place | None:
        """Return the chosen session if its log still exists; say so if not."""
        place = self._list.place
        if place is None:
            return None
        if not place.path.exists():
            self.note(self._words("This session was deleted."))
            self._forget(place)
            return None
        return place

    def _forget(self, place: Place) -> None:
        self._places = [one for one in self._places or () if one.id != place.id]
        self._show()

    @on(SessionList.Opened)
    def _resume(self) -> None:
        place = self._place_there()
        if place is None:
            return
        if place.id == self._current:
            self.dismiss(None)
            return
        try:
            with locked(place.path):
                pass
        except (SessionLockedError, OSError) as error:
            is_open = isinstance(error, SessionLockedError)
            self.note(self._words(_OPEN) if is_open else reason_of(error))
        else:
            self.dismiss(Chosen("resume", place.id))

    def action_fork(self) -> None:
        if (place := self._place_there()) is not None:
            self.dismiss(Chosen("fork", place.id))

    def action_delete(self) -> None:
        """Delete the chosen session; it can be restored until the sheet closes."""
        place = self._place_there()
        if place is None:
            return
        words = self._words
        if place.id == self._current:
            self.note(words("This session is on the screen. /new starts another one first."))
            return
        title = self._title(place)
        try:
            deleted = delete(place.path, self._catalogue.home)
        except SessionLockedError:
            self.note(words(_OPEN))
        except ContextUIError as error:
            self.note(words(error))
        else:
            self._deleted.append((deleted, title))
            self.note(words("Deleted “{title}”. u undoes.", title=title))
            self._forget(place)

    def _title(self, place: Place) -> str:
        row = SessionRow(place)
        return fit(self._list.title(row, self._catalogue.known(place)), 40).rstrip()

    def action_undo(self) -> None:
        words = self._words
        if not self._deleted:
            self.note(words("Nothing to undo."))
            return
        deleted, title = self._deleted.pop()
        try:
            restore(deleted)
        except ContextUIError as error:
            self.note(words(error))
            return
        self.note(words("Restored “{title}”.", title=title))
        self._load()

    def action_write(self) -> None:
        if (place := self._place_there()) is not None:
            self.run_worker(self._exported(place), name="export", group="export")

    async def _exported(self, place: Place) -> None:
        self.note(await asyncio.to_thread(self._export, place))

    # --- typing ------------------------------------------------------------------------

    @on(FilterLine.Changed)
    def _filter(self) -> None:
        self._show()

    def action_rename(self) -> None:
        if (place := self._place_there()) is not None:
            self._renamed = place
            head = self._catalogue.known(place)
            self.type_in(line((head.since_fork or head.title) if head is not None else ""))

    @on(Input.Submitted, "#field")
    async def _rename(self, event: Input.Submitted) -> None:
        place, title = self._renamed, event.value.strip()
        self.leave_field()
        if place is None or not title:
            return
        try:
            if place.id == self._current:
                self._rename_current(title)
            else:
                await asyncio.to_thread(self._catalogue.rename, place, title)
        except SessionLockedError:
            self.note(self._words("Open in another terminal."))
        except ContextUIError as error:
            self.note(self._words(error))
        else:
            self.note(self._words("Renamed to “{title}”.", title=line(title[:80])))
            self._load()

"""Edit buffer of a text file: unsaved edits, saving, reloading and paging.

The session stores the edits, not the buffer: the places in which it differs from the file as it
was read. On restore they are reapplied if the file is unchanged. Otherwise they are kept in
`lost`, so that nothing is lost.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from contextui.files import errors
from contextui.files.buffer import Buffer, Edits
from contextui.files.diff import diff_text
from contextui.files.save import TEXT_LIMIT
from contextui.files.textfile import PAGE_LINES, Page, TextFile, Version, split
from contextui.files.workspace import Fate
from contextui.text import shown_name
from contextui.windowing.state import Transient, WindowState
from contextui.windowing.window import Env

ROOM = 5_000  # cost limit for the lines of a page, see `split`: about 2,000 tokens
_ABOVE = 5  # lines shown above a line after jumping to it
_ALL = PAGE_LINES * 3 // 2  # lines of a file that is one page: it need not move for its last lines


class EditedFile(WindowState):
    """State of an edited file."""

    path: str = ""
    read: Version | None = None  # the version that was read; None if the file is new
    edits: Edits = ()  # that are not saved
    lost: Edits = ()  # that no longer apply to the file
    trouble: str = ""  # why there is nothing to show
    on_disk: Fate = "same"
    revision: int = 0  # counts the changes of the buffer
    top: int = 1  # the first line of the page
    line: int = 1  # of the cursor
    column: int = 0  # of the cursor, from 1; 0 for none
    by_person: Transient[bool] = False  # whether the person made the last change of the buffer
    buffer: Transient[Buffer | None] = None  # None if the text cannot be edited
    page: Transient[Page] = Page(1, (), 0, False)


class Editing:
    """Opens, changes, saves and pages through a file."""

    def __init__(self, state: EditedFile, env: Env) -> None:
        self._state, self._workspace, self._lang = state, env.workspace, env.lang
        self._by_person = env.actor() == "person"

    @property
    def buffer(self) -> Buffer:
        """The editable text; raises `EditError` if the file cannot be edited."""
        if self._state.buffer is None:
            self._check()
            raise errors.EditError(
                self._state.path,
                "This file is too large to edit (more than {most}). goto and scroll read it.",
                most=f"{TEXT_LIMIT >> 20} MiB",
            )
        return self._state.buffer

    # --- the file ----------------------------------------------------------------------

    def open(self, path: str, *, new: bool = False) -> None:
        """Load a file from disk; with `new` start an empty one if it does not exist."""
        state, workspace = self._state, self._workspace
        file: TextFile | None = TextFile(path=path)
        try:
            opened = workspace.open_text(path)
            file, state.read = opened.file, opened.version
        except errors.FileTooLargeError:
            file, state.read = None, workspace.stat(path).version
        except errors.MissingFileError:
            if not new:
                raise
            state.read = None
        state.path, state.edits, state.trouble = workspace.relative(path), (), ""
        state.on_disk = "same"
        state.buffer = Buffer(file, file) if file else None

    def come_back(self) -> None:
        """Reload the file of a restored state, and reapply its edits if the file is unchanged."""
        state = self._state
        read, edits, lost = state.read, state.edits, state.lost
        try:
            self.open(state.path, new=read is None)
            same = read is state.read or (read and state.read and read.same_content(state.read))
            back = state.buffer.returned(edits) if same and state.buffer else None
            if back:
                state.buffer, state.edits, state.read = back, edits, read
            else:
                state.lost = (*lost, *edits)
            self.look(state.top)
        except errors.FileError as error:
            state.trouble, state.edits, state.lost = error.text(self._lang), (), (*lost, *edits)

    def read_again(self, *, keep: bool) -> int:
        """Reload the file from disk; with `keep`, return how many edits were reapplied."""
        state, old, edits = self._state, self._state.buffer, (*self._state.lost, *self._state.edits)
        self.open(state.path)
        state.lost = edits if keep else ()
        if state.buffer and old:
            state.buffer = old.read_again(state.buffer.file)
            state.revision += state.buffer.past != old.past
            state.by_person = self._by_person
        self.show(state.line)
        if not (state.buffer and state.lost):
            return 0
        buffer, state.lost = state.buffer.fit(edits)
        self.change(buffer)
        return len(edits) - len(state.lost)

    def save(self, path: str, expected: Version | None, *, keep_links: bool = False) -> None:
        """Write the text to a path, which becomes the file's own; it is unchanged if that fails."""
        state, buffer = self._state, self.buffer
        state.read = self._workspace.save(
            path,
            buffer.file,
            expected=expected,
            keep_links=keep_links,
            make_folders=expected is None,
        )
        state.path, state.buffer, state.edits, state.on_disk = path, buffer.saved(), (), "same"

    def watch(self) -> None:
        """Check for changes on disk; a file that cannot be edited is not compared."""
        if self._state.buffer:
            self._state.on_disk = self._workspace.compare(self._state.path, self._state.read)

    def follow(self) -> None:
        """Check for changes on disk; reload a changed file that has no unsaved edits."""
        state = self._state
        self.watch()
        if state.on_disk == "changed" and not (state.edits or state.lost):
            with suppress(errors.FileError):  # it is no longer text: what was read stays
                self.read_again(keep=False)

    def diff(self, made: Callable[[TextFile, TextFile, str, str], str] = diff_text) -> str:
        buffer, path = self._state.buffer, shown_name(self._state.path)
        return made(buffer.base, buffer.file, path, f"{path} (not saved)") if buffer else ""

    # --- the text ----------------------------------------------------------------------

    def edit(self, file: TextFile) -> int:
        more = len(file.lines) - len(self.buffer.file.lines)
        self.change(self.buffer.become(file))
        return more

    def change(self, buffer: Buffer) -> None:
        state = self._state
        if state.buffer is not buffer:
            state.buffer, state.edits, state.revision = buffer, buffer.edits, state.revision + 1
            state.by_person = self._by_person
            self.show(buffer.line)

    # --- the page ----------------------------------------------------------------------

    def page(self, start: int, count: int) -> Page:
        """Return some lines, from the buffer or the disk."""
        self._check()
        if self._state.buffer:
            return self._state.buffer.file.page(start, count)
        return self._workspace.read_page(self._state.path, start, count)

    def look(self, top: int) -> None:
        """Show the page that starts at this line; all of a file that is only a little longer."""
        state, page = self._state, self.page(top, PAGE_LINES)
        if top <= 1 and page.more and page.total is not None and page.total <= _ALL:
            everything = self.page(1, _ALL)
            page = page if len(split(everything.lines, ROOM, _ALL)) > 1 else everything
        count = len(split(page.lines, ROOM, _ALL)[0])
        more = page.more or count < len(page.lines)
        state.top, state.page = top, replace(page, lines=page.lines[:count], more=more)
        if state.buffer is None:  # it may grow while it is shown
            state.read = self._workspace.stat(state.path).version
        self.watch()

    def show(self, line: int) -> None:
        """Move the cursor to a line; the page moves only if the line is not on it.

        It moves as little as it can, and stays full at the end of the file: what stays on it need
        not be read again.
        """
        state = self._state
        self.look(state.top)
        last = line if state.page.total is None else max(state.page.total, 1)
        state.line, state.column = min(max(line, 1), last), 0
        is_near = state.page.end < state.line <= state.page.end + PAGE_LINES // 2
        tops = [min(state.line + _ABOVE, last) - PAGE_LINES + 1] if is_near else []
        if state.page.total is not None:
            tops += [min(state.line - _ABOVE, last - PAGE_LINES + 1)]
        tops += [state.line - _ABOVE, state.line]
        for top in tops:
            if not state.page.start <= state.line <= state.page.end:
                self.look(max(top, 1))

    def show_first(self, line: int) -> None:
        """Move to a line of a newly opened file, with some lines above it."""
        state = self._state
        state.lost, state.top = (), max(line - _ABOVE, 1)
        self.look(state.top)
        if state.page.total is not None:
            state.top = max(min(state.top, state.page.total - PAGE_LINES + 1), 1)
        self.show(line)

    def find(self, text: str, *, ignore_case: bool = False) -> list[tuple[int, int]]:
        state, here = self._state, (self._state.line, self._state.column)
        found = self.buffer.file.find(text, ignore_case=ignore_case)
        hits = sorted(found, key=lambda hit: (hit <= here, hit))
        if hits:
            self.show(hits[0][0])
            state.column = hits[0][1]
        return hits

    def turn(self, pages: int) -> bool:
        state, before = self._state, self._state.top
        if -pages >= state.top:  # a page has a line at least: there are fewer than wanted
            self.look(1)
        elif pages > 0 and state.page.more:
            last = self.page(state.page.end + pages, 1)
            if not last.lines and last.total:
                self._look_above(last.total + 1)
        for _ in range(abs(pages)):
            if pages > 0 and state.page.more:
                self.look(state.page.end + 1)
            elif pages < 0 and state.top > 1:
                self._look_above(state.top)
            else:
                break
        if state.top == before:
            return False
        state.line, state.column = state.top, 0
        return True

    def _look_above(self, line: int) -> None:
        first = max(line - PAGE_LINES, 1)
        above = self.page(first, line - first)
        self.look(line - len(split(above.lines[::-1], ROOM)[0]))

    def _check(self) -> None:
        if self._state.trouble:
            raise errors.EditError(self._state.path, self._state.trouble)

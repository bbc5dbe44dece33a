"""A text file that is being edited: one buffer in which several write, and a page to look at.

The session keeps the edits, not the buffer: the places in which it differs from the file as it
was read. When they come back they are made again, if the file is still that one. If it is not,
they are kept aside, so that nothing is lost.
"""

from collections.abc import Callable
from dataclasses import replace

from contextui.config.settings import Lang
from contextui.files import errors
from contextui.files.buffer import Buffer, Edits
from contextui.files.diff import brief_diff, diff_text
from contextui.files.save import TEXT_LIMIT
from contextui.files.textfile import PAGE_LINES, Page, TextFile, Version, split
from contextui.files.workspace import Fate, Workspace
from contextui.text import shown_name
from contextui.windowing.state import Transient, WindowState

ROOM = 5_000
"""What the lines of a page may cost, see `split`: about 2,000 tokens."""

_ABOVE = 5  # lines shown above a place that was gone to


class EditedFile(WindowState):
    """What is known of such a file: a window's ``State``, or a part of it.

    Attributes:
        path: The file.
        read: The file as it was read; None if it is a new one.
        edits: What was changed since.
        lost: Edits that do not fit the file any more.
        trouble: Why there is nothing to show.
        on_disk: What others did to the file meanwhile.
        revision: Counts the changes of the buffer.
        top: The first line of the page.
        line: The line where one is.
        column: The column there, from 1; 0 is none.
        buffer: The text; None if there is nothing that can be edited.
        page: What is looked at.
    """

    path: str = ""
    read: Version | None = None
    edits: Edits = ()
    lost: Edits = ()
    trouble: str = ""
    on_disk: Fate = "same"
    revision: int = 0
    top: int = 1
    line: int = 1
    column: int = 0
    buffer: Transient[Buffer | None] = None
    page: Transient[Page] = Page(1, (), 0, False)


class Editing:
    """Opens, changes and saves a file, and looks at it page by page.

    Args:
        state: What is known of it, and changes with all that is done here.
        workspace: Where it is.
        lang: The language to tell trouble in.

    Example:
        >>> editing = Editing(self.state, self.env.workspace)
        >>> editing.edit(editing.buffer.file.insert_lines(1, "# Title"))
        1
    """

    def __init__(self, state: EditedFile, workspace: Workspace, lang: Lang = "en") -> None:
        self._state, self._workspace, self._lang = state, workspace, lang

    @property
    def buffer(self) -> Buffer:
        """The text.

        Raises:
            EditError: There is none that can be edited.
        """
        if self._state.buffer is None:
            only = f"A file of more than {TEXT_LIMIT:,} bytes can only be read: goto, scroll."
            zh = f"超过 {TEXT_LIMIT:,} 字节的文件只能阅读：用 goto、scroll。"
            raise self._problem(only, zh)
        return self._state.buffer

    # --- the file ----------------------------------------------------------------------

    def open(self, path: str, *, new: bool = False) -> None:
        """Take a file as it is on disk; with `new` an empty one, if there is none.

        Raises:
            FileError: It cannot be read, or there is none.
        """
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
        """Read the file of a state that came back, and make its edits again if they fit."""
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
            state.trouble, state.edits, state.lost = error.told(self._lang), (), (*lost, *edits)

    def read_again(self, *, keep: bool) -> int:
        """Take the file as it is on disk now; with `keep`, how many edits were made again."""
        state, old, edits = self._state, self._state.buffer, (*self._state.lost, *self._state.edits)
        self.open(state.path)
        state.lost = edits if keep else ()
        if state.buffer and old:
            state.buffer = old.read_again(state.buffer.file)
            state.revision += state.buffer.past != old.past
        self.show(state.line)
        if not (state.buffer and state.lost):
            return 0
        buffer, state.lost = state.buffer.fit(edits)
        self.change(buffer)
        return len(edits) - len(state.lost)

    def save(self, path: str, expected: Version | None, *, keep_links: bool = False) -> None:
        """Write the text to a path, which is the file's own from then on.

        Args:
            path: The path.
            expected: What must be there; None if nothing may be.
            keep_links: Write through a link, and into a file that has several names.

        Raises:
            FileError: It cannot be saved; the text stays as it is.
        """
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
        """Notice what others do to the file; one that cannot be edited is not compared."""
        if self._state.buffer:
            self._state.on_disk = self._workspace.compare(self._state.path, self._state.read)

    def diff(self) -> str:
        """What would be saved, whole."""
        return self._diff(diff_text)

    def brief_diff(self) -> str:
        """What would be saved, shortened for a message."""
        return self._diff(brief_diff)

    def _diff(self, made: Callable[[TextFile, TextFile, str, str], str]) -> str:
        buffer, path = self._state.buffer, shown_name(self._state.path)
        return made(buffer.base, buffer.file, path, f"{path} (not saved)") if buffer else ""

    # --- the text ----------------------------------------------------------------------

    def edit(self, file: TextFile) -> int:
        """Take an edited text over; how many lines it has more."""
        more = len(file.lines) - len(self.buffer.file.lines)
        self.change(self.buffer.become(file))
        return more

    def change(self, buffer: Buffer) -> None:
        """Take a changed buffer over, and go to where it was changed."""
        state = self._state
        if state.buffer is not buffer:
            state.buffer, state.edits, state.revision = buffer, buffer.edits, state.revision + 1
            self.show(buffer.line)

    # --- the page ----------------------------------------------------------------------

    def page(self, start: int, count: int) -> Page:
        """Some lines, be the file held or only read.

        Raises:
            EditError: There is nothing to show.
        """
        if self._state.trouble:
            raise self._problem()
        if self._state.buffer:
            return self._state.buffer.file.page(start, count)
        return self._workspace.read_page(self._state.path, start, count)

    def look(self, top: int) -> None:
        """Show the page from this line on."""
        state, page = self._state, self.page(top, PAGE_LINES)
        count = len(split(page.lines, ROOM)[0])
        more = page.more or count < len(page.lines)
        state.top, state.page = top, replace(page, lines=page.lines[:count], more=more)
        if state.buffer is None:  # it may grow while it is looked at
            state.read = self._workspace.stat(state.path).version
        self.watch()

    def show(self, line: int) -> None:
        """Go to a line; the page moves only if the line is not on it."""
        state = self._state
        self.look(state.top)
        last = line if state.page.total is None else max(state.page.total, 1)
        state.line, state.column = min(max(line, 1), last), 0
        for top in (max(state.line - _ABOVE, 1), state.line):
            if not state.page.start <= state.line <= state.page.end:
                self.look(top)

    def show_first(self, line: int) -> None:
        """Go to a line of a file that was opened just now, with some lines above it."""
        self._state.lost, self._state.top = (), max(line - _ABOVE, 1)
        self.show(line)

    def find(self, text: str, *, ignore_case: bool = False) -> list[tuple[int, int]]:
        """Go to where a text stands next; line and column of that place and of all others."""
        state, here = self._state, (self._state.line, self._state.column)
        found = self.buffer.file.find(text, ignore_case=ignore_case)
        hits = sorted(found, key=lambda hit: (hit <= here, hit))
        if hits:
            self.show(hits[0][0])
            state.column = hits[0][1]
        return hits

    def turn(self, pages: int) -> bool:
        """Show a later page, or an earlier one; whether there was one."""
        state, before = self._state, self._state.top
        for _ in range(abs(pages)):
            if pages > 0 and state.page.more:
                self.look(state.page.end + 1)
            elif pages < 0 and state.top > 1:
                first = max(state.top - PAGE_LINES, 1)
                above = self.page(first, state.top - first)
                self.look(state.top - len(split(above.lines[::-1], ROOM)[0]))
            else:
                break
        if state.top == before:
            return False
        state.line, state.column = state.top, 0
        return True

    def _problem(self, otherwise: str = "", zh: str = "") -> errors.EditError:
        trouble = self._state.trouble
        return errors.EditError(self._state.path, trouble or otherwise, trouble or zh)

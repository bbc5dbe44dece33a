"""Editor widget: a text area that shares its buffer with the model.

Typed text is sent to the window as a `splice` of the file, shortly after the last key, and at least
every second while keys keep coming, so that the log has it. Changes by others are applied as edits
of the shown text, so that cursor and scrolling stay.
"""

import asyncio
import time
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import on
from textual.binding import Binding
from textual.strip import Strip
from textual.timer import Timer

from contextui.files.buffer import Splice, change
from contextui.files.syntax import language_of
from contextui.files.textfile import LINE_END, LINE_LIMIT, TextFile, shorten
from contextui.text import for_terminal
from contextui.tui.code import code_theme
from contextui.tui.desktop.form import InertArea
from contextui.tui.desktop.frame import ask_for_room
from contextui.tui.lines import line
from contextui.tui.timers import sure_timer
from contextui.widgets import ActionRequested
from contextui.windowing.runtime import runtime_of
from contextui.windows.editor.window import EditorWindow
from contextui.words import Words, msg


def rebase(mine: Splice, theirs: Splice) -> Splice:
    """Rebase a change of a text onto another change of it.

    Where both overlap, `theirs` is kept and the text of `mine` follows it: nothing is lost.
    """
    moved = len(theirs.text) - (theirs.end - theirs.start)
    if mine.end < theirs.start or (mine.end == theirs.start and mine.start < mine.end):
        return mine
    if mine.start >= theirs.end:
        return Splice(mine.start + moved, mine.end + moved, mine.text)
    behind = theirs.start + len(theirs.text)
    return Splice(behind, behind, mine.text)


@dataclass(frozen=True)
class Sight:
    """The lines of a file on the screen."""

    path: str = ""
    text: str | None = None  # of the whole file; None if it is read-only
    ending: str = "\n"  # of new lines
    revision: int = -1
    first: int = 1  # the number of the first line
    begin: int = 0  # the offset of that line in the text
    lines: tuple[str, ...] = ()  # as in the file
    ends: tuple[str, ...] = ()  # their line endings
    cursor: tuple[int, int] = (1, 0)  # the window's line and column, from 1; column 0 for none
    has_more: bool = False
    total: int | None = None  # lines of the file; None if not counted yet
    is_changed: bool = False  # and not saved
    by_person: bool = False  # whether the person made the last change
    note: str = ""  # a short warning, such as about a change on disk

    @classmethod
    def of_file(cls, file: TextFile, first: int, count: int) -> "Sight":
        """Take `count` lines of a file, from line `first` on."""
        before, stop = first - 1, first - 1 + count
        begin = sum(map(len, file.lines[:before])) + sum(map(len, file.endings[:before]))
        return cls(
            text=file.text,
            ending=file.ending,
            first=first,
            begin=begin,
            lines=file.lines[before:stop],
            ends=file.endings[before:stop],
            has_more=stop < len(file.lines),
        )

    @cached_property
    def shown(self) -> str:
        rows = [for_terminal(shorten(line)) for line in self.lines]
        if self.ends and self.ends[-1] and not self.has_more:
            rows.append("")
        return "\n".join(rows)

    def spliced(self, typed: str) -> Splice | None:
        """Convert an edit of the shown text to a splice of the file; None if nothing changed.

        Raise `ValueError` if it touches text that is not shown verbatim.
        """
        if typed == self.shown or self.text is None:
            return None
        made = change(self.shown, typed)
        start, end = self._in_file(made.start), self._in_file(made.end)
        return Splice(start, end, made.text.replace("\n", self.ending))

    def showing(self, splice: Splice) -> str | None:
        """Return the shown text after a splice of the file; None if it is outside these lines."""
        start, end = self._on_screen(splice.start), self._on_screen(splice.end)
        if start is None or end is None:
            return None
        return Splice(start, end, LINE_END.sub("\n", splice.text)).of(self.shown)

    def after(self, splice: Splice) -> "Sight":
        """Return the same lines after a splice within them."""
        assert self.text is not None
        text = splice.of(self.text)
        stop = self._starts[-1] + len(text) - len(self.text)
        piece = text[self.begin : stop]
        lines, ends = LINE_END.split(piece), LINE_END.findall(piece)
        if not lines[-1]:
            lines.pop()
        ends += [""] * (len(lines) - len(ends))
        now = self.revision + 1
        return replace(self, text=text, revision=now, lines=tuple(lines), ends=tuple(ends))

    # --- positions ---------------------------------------------------------------------

    @cached_property
    def _starts(self) -> list[int]:
        sizes = (len(line) + len(end) for line, end in zip(self.lines, self.ends, strict=True))
        return list(accumulate(sizes, initial=self.begin))

    @cached_property
    def _rows(self) -> list[int]:
        return list(accumulate((len(row) + 1 for row in self.shown.split("\n")), initial=0))[:-1]

    def _in_file(self, offset: int) -> int:
        row = bisect_right(self._rows, offset) - 1
        if row >= len(self.lines):  # the empty line after the last line ending
            return self._starts[-1]
        return self._starts[row] + _column(self.lines[row], offset - self._rows[row])

    def _on_screen(self, place: int) -> int | None:
        row = bisect_right(self._starts, place) - 1
        if row == len(self._rows) and place == self._starts[-1] and not self.ends[-1]:
            row -= 1  # after the last line, which has no line ending
        if not 0 <= row < len(self._rows):
            return None
        line = self.lines[row] if row < len(self.lines) else ""
        column = min(place - self._starts[row], len(line))
        return self._rows[row] + len(for_terminal(line[:column]))


def sight_of(window: EditorWindow) -> Sight:
    """Read what an editor shows. Call it on the window's own thread, where state is stable."""
    state, page = window.state, window.state.page
    if state.buffer and not state.trouble:
        sight = Sight.of_file(state.buffer.file, page.start, len(page.lines))
    else:
        sight = Sight(first=page.start, lines=(state.trouble,) if state.trouble else page.lines)
    return replace(
        sight,
        path=state.path,
        revision=state.revision,
        cursor=(state.line, state.column),
        has_more=page.more,
        total=page.total,
        is_changed=bool(state.edits),
        by_person=state.by_person,
        note="" if state.on_disk == "same" else f"{state.on_disk} on disk",
    )


def _column(line: str, column: int) -> int:
    """Convert a column on the screen to a character index in the line."""
    if len(line) > LINE_LIMIT and column > LINE_LIMIT:
        raise ValueError(msg("the line is too long to display"))
    if for_terminal(line[:LINE_LIMIT]) == line[:LINE_LIMIT]:
        return column
    ends = list(accumulate((len(for_terminal(char)) for char in line), initial=0))
    if column not in ends:
        raise ValueError(msg("a character is displayed as several"))
    return ends.index(column)


_NAMES = {"shell": "bash", "c++": "cpp"}


def code_language(path: str, available: set[str]) -> str | None:
    """Return the language of a file, if its syntax is supported."""
    language = language_of(path) or ""
    language = _NAMES.get(language, language)
    return language if language in available else None


_PAUSE = 0.4  # seconds without a key after which typed text is sent
_LATEST = 0.8  # seconds after which it is sent even if keys keep coming
_BAR = 2  # cells from the end of the gutter, where a changed line is marked
_FEW = 8  # rows of a short file
_ALL = 10**9  # pages or lines, more than any file has
_STAYING = frozenset({"save", "save_as", "diff", "reload"})  # actions that keep the cursor
_TRIES = 5  # attempts to send it while others keep changing the text


class EditorBody(InertArea):
    """Text area with a page of the file."""

    BINDINGS = [
        Binding("ctrl+s", "save", "save", key_display="^s"),
        Binding("ctrl+l", "goto", msg("go to line"), key_display="^l"),
    ]
    frame_bindings: ClassVar[list[Binding]] = [Binding("enter", "edit", "edit")]
    DEFAULT_CSS = """
    EditorBody {
        height: 1fr; border: none; padding: 0; background: $background;
        scrollbar-gutter: stable;
        .text-area--cursor-line, .text-area--cursor-gutter { background: transparent; }
        &:focus { border: none; }
        &:focus .text-area--cursor-line { background: $soft; }
        &:focus .text-area--cursor-gutter { background: $soft; }
    }
    """
    first_actions: ClassVar[tuple[str, ...]] = ("save", "find", "replace", "undo")

    def __init__(self, window: EditorWindow) -> None:
        super().__init__(soft_wrap=False, show_line_numbers=True)
        self._window, self._words = window, Words(window.env.lang)
        self._sight = Sight()
        self._carried: Splice | None = None  # typed on a page that is no longer shown
        self._sending = asyncio.Lock()
        self._pause: Timer | None = None
        self._unsent_since: float | None = None
        self._arrival: int | None = None  # line to which the person turns the page
        self._marked = frozenset[int]()  # lines that the model changed since the person was here

    # --- called by the frame -----------------------------------------------------------

    @property
    def window_title(self) -> str:
        sight = self._sight
        parts = [line(sight.path), *(["•"] if sight.is_changed or self._unsent else [])]
        return " ".join([*parts, *([self._words(sight.note)] if sight.note else [])])

    @property
    def window_position(self) -> str:
        sight, rows = self._sight, self.document.line_count
        height = self.scrollable_content_region.height
        first = sight.first + min(self.scroll_offset.y, max(rows - height, 0))
        if not sight.has_more and not self.document.get_line(rows - 1):
            rows -= 1  # the empty row after the last line ending is not a line
        end = sight.first + rows - 1
        count = end if not sight.has_more else (sight.total or 0) + rows - len(sight.lines)
        last = min(first + height - 1, end)
        if last < first or (first == 1 and last == count):
            return ""
        if sight.has_more and sight.total is None:
            return f"{first}–{last}"
        return self._words("{first}–{last} of {count}", first=first, last=last, count=count)

    @property
    def window_rows(self) -> int:
        return max(self.document.line_count, _FEW)

    @property
    def closing_warning(self) -> str:
        if self._sight.is_changed or self._unsent:
            return self._words("unsaved! enter to close")
        return ""

    def person_acted(self, action_id: str) -> None:
        """Follow the person's own action; the model's actions never move the cursor."""
        self.run_worker(self._follow(action_id), group="follow")

    def person_left(self) -> None:
        """Drop the marks of changed lines: the person has seen them."""
        if self._marked:
            self._marked = frozenset()
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Render a line, with a bar beside its number if the model changed it."""
        strip, width = super().render_line(y), self.gutter_width
        is_marked = self.line_number_start + self.scroll_offset.y + y in self._marked
        if not is_marked or not _BAR <= width <= strip.cell_length:
            return strip
        accent = self.app.theme_variables["accent"]
        ink = Style(color=accent) if accent.startswith("#") else Style(bold=True)
        parts = list(strip.divide([width - _BAR, width - _BAR + 1, strip.cell_length]))
        ground = next((one.style.bgcolor for one in parts[1] if one.style is not None), None)
        bar = Strip([Segment("▎", ink)]).apply_style(Style(bgcolor=ground))
        return Strip.join([parts[0], bar, *parts[2:]])

    async def settle(self) -> None:
        """Send pending text to the window, before anything else is done to it."""
        if self._pause is not None:
            self._pause.stop()
        async with self._sending:
            for _ in range(_TRIES):
                if not await self._send():
                    return

    # --- changes of the window ---------------------------------------------------------

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self._dress())
        self._dress()
        self.window_changed()

    def _dress(self) -> None:
        name = f"contextui {self.app.theme}"  # a name of its own, or nothing would change
        self.register_theme(code_theme(name, self.app.theme_variables))
        self.theme = name

    def window_changed(self) -> None:
        self.run_worker(self._follow(), group="follow")

    async def _follow(self, acted: str = "") -> None:
        async with self._sending:
            if (sight := await self._look()) is not None:
                self._take(sight)
                if acted and acted not in _STAYING:
                    self._go_along(self._arrival if acted == "scroll" else None)
                    self._arrival = None

    async def _look(self) -> Sight | None:
        return await runtime_of(self._window).worker.read(lambda: sight_of(self._window))

    def _take(self, sight: Sight) -> None:
        old, mine = self._sight, self._mine()
        same_file = old.path == sight.path
        if same_file and not sight.by_person:
            self._mark(old, sight)
        if mine is not None:
            mine = self._made_here(mine, old, sight)
        target = sight.showing(mine) if mine is not None else sight.shown
        self._carried = mine if target is None else None
        self._sight = sight
        if old.path != sight.path:
            self.language = code_language(sight.path, self.available_languages)
        shown = sight.shown if target is None else target
        self.read_only = sight.text is None
        if same_file and old.first == sight.first:
            self._become(shown)
        else:
            self._turn_to(shown, old if same_file else None)
        ask_for_room(self)

    def _turn_to(self, shown: str, old: Sight | None) -> None:
        """Show another page; a line of the same file that is on both stays where it is."""
        first = self._sight.first
        (row, column), top = self.cursor_location, self.scroll_offset.y
        self.load_text(shown)
        self.line_number_start = first
        row += (old.first if old else 0) - first
        if old is None or not 0 <= row < self.document.line_count:
            self._go_along()
            return
        self.scroll_to(y=top + old.first - first, animate=False, immediate=True)
        self.move_cursor((row, column))

    def _made_here(self, mine: Splice, old: Sight, new: Sight) -> Splice | None:
        """Rebase pending text onto the new text."""
        if old.path == new.path and old.text is not None and new.text is not None:
            return rebase(mine, change(old.text, new.text)) if old.text != new.text else mine
        words = msg("{path} is no longer open here. Not kept: {text}")
        message = self._words(words, path=line(old.path), text=line(mine.text))
        self.app.notify(message, severity="warning", markup=False)  # report what cannot be kept
        return None

    def _become(self, target: str) -> None:
        """Edit the shown text into this one; cursor and scroll position are kept."""
        if self.text == target:
            return
        made = change(self.text, target)
        start, end = (_location(self.text, place) for place in (made.start, made.end))
        top = self.scroll_offset.y
        lines = made.text.count("\n") - (end[0] - start[0])
        self.replace(made.text, start, end, maintain_selection_offset=True)
        moved = lines if end[0] < top else 0
        self.scroll_to(y=top + moved, animate=False, immediate=True)

    def _mark(self, old: Sight, new: Sight) -> None:
        """Mark the lines that differ in the file, and move the marks below them."""
        if old.text is None or new.text is None or old.text == new.text:
            return
        made = change(old.text, new.text)
        first = 1 + len(LINE_END.findall(old.text, 0, made.start))
        last = first + len(LINE_END.findall(old.text, made.start, made.end))
        added = len(LINE_END.findall(made.text))
        kept = {number if number < first else number + first + added - last
                for number in self._marked if not first <= number <= last}  # fmt: skip
        self._marked = frozenset(kept.union(range(first, first + added + 1)))

    def _go_along(self, line: int | None = None) -> None:
        """Move the cursor to a line of the file, by default to the window's position."""
        at, column = self._sight.cursor
        row, last = (line or at) - self._sight.first, self.document.line_count - 1
        place = (min(max(row, 0), last), max(column - 1, 0))
        self.move_cursor(self.document.end if line == _ALL else place)

    # --- typing ------------------------------------------------------------------------

    @property
    def _unsent(self) -> bool:
        return self._carried is not None or self.text != self._sight.shown

    @on(InertArea.Changed)
    def _wait_for_pause(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        if not self._unsent:
            self._unsent_since = None
            return
        now = time.monotonic()
        self._unsent_since = now if self._unsent_since is None else self._unsent_since
        left = self._unsent_since + _LATEST - now
        if left <= 0:  # the next key would restart a timer before it fires
            self._settle_soon()
        else:
            self._pause = sure_timer(self, min(_PAUSE, left), self._settle_soon)

    def on_blur(self) -> None:
        self._settle_soon()

    def _settle_soon(self) -> None:
        self._unsent_since = None
        if self._unsent:
            self.screen.run_worker(self._send_typed(), name="typed")

    async def _send_typed(self) -> None:
        """Send pending text once; text typed while it is sent is queued for later."""
        async with self._sending:
            await self._send()
        if self.is_attached and self._unsent_since is None:
            self._wait_for_pause()

    async def on_unmount(self) -> None:
        await self.settle()

    def _mine(self) -> Splice | None:
        if self._carried is not None:
            return self._carried
        try:
            return self._sight.spliced(self.text)
        except ValueError as problem:
            words = self._words(
                "This cannot be edited here: {reason}.", reason=self._words(str(problem))
            )
            self.app.notify(words, severity="warning", markup=False)
            self._become(self._sight.shown)
            return None

    async def _send(self) -> bool:
        sight, mine, is_carried = self._sight, self._mine(), self._carried is not None
        if mine is None:
            return False
        given = {
            "start": mine.start,
            "end": mine.end,
            "text": mine.text,
            "revision": sight.revision,
        }
        result = await runtime_of(self._window).act("splice", given, "person")
        if result.ok:
            # Text typed on another page comes back like any change; here it is shown already.
            self._sight = sight if is_carried else sight.after(mine)
            self._carried = None
        now = await self._look()
        if now is None:
            return False
        if not result.ok and now.revision == sight.revision:  # what was typed is rejected
            self.app.notify(line(result.text), severity="error", markup=False)
            self._carried = None
            self._become(sight.shown)
        self._take(now)
        return True

    # --- keys --------------------------------------------------------------------------

    def action_save(self) -> None:
        self.post_message(ActionRequested("save"))

    def action_edit(self) -> None:
        self.focus()

    def action_goto(self) -> None:
        self.post_message(ActionRequested("goto", fill_in=True))

    def action_undo(self) -> None:
        self.post_message(ActionRequested("undo"))

    def action_redo(self) -> None:
        self.post_message(ActionRequested("redo"))

    def action_cursor_down(self, select: bool = False) -> None:
        if not self._turn(1, self.cursor_at_last_line and not select):
            super().action_cursor_down(select)

    def action_cursor_up(self, select: bool = False) -> None:
        if not self._turn(-1, self.cursor_at_first_line and not select):
            super().action_cursor_up(select)

    def action_cursor_page_down(self) -> None:
        if not self._turn(1, self.cursor_at_last_line):
            super().action_cursor_page_down()

    def action_cursor_page_up(self) -> None:
        if not self._turn(-1, self.cursor_at_first_line, max(self.size.height - 1, 1)):
            super().action_cursor_page_up()

    def action_text_start(self) -> None:
        if not self._turn(-_ALL):
            super().action_text_start()

    def action_text_end(self) -> None:
        if not self._turn(_ALL):
            super().action_text_end()

    def _turn(self, pages: int, at_edge: bool = True, up: int = 1) -> bool:
        """Turn pages; on the previous one the cursor goes up by some lines, as without pages."""
        there_is = self._sight.has_more if pages > 0 else self._sight.first > 1
        if not (at_edge and there_is):
            return False
        before = max(self._sight.first - up, 1) if pages == -1 else None
        self._arrival = _ALL if pages == _ALL else before
        self.post_message(ActionRequested("scroll", {"pages": pages}))
        return True


def _location(text: str, place: int) -> tuple[int, int]:
    return text.count("\n", 0, place), place - text.rfind("\n", 0, place) - 1

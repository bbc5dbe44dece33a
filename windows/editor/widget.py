"""Editor widget: a text area that shares its buffer with the model.

Typed text is sent to the window as a `splice` of the file, shortly after the last key, and at least
every second while keys keep coming, so that the log has it. Changes by others are applied as edits
of the shown text, so that cursor and scrolling stay.
"""

import asyncio
import re
import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import accumulate
from typing import ClassVar, Literal

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.binding import Binding
from textual.geometry import Offset
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input
from textual.widgets.text_area import Selection

from contextui.files.buffer import Splice, change, changes
from contextui.files.syntax import language_of
from contextui.files.textfile import LINE_END, LINE_LIMIT, TextFile, shorten
from contextui.text import for_terminal
from contextui.tui.code import code_theme
from contextui.tui.desktop.field import InertArea
from contextui.tui.desktop.frame import ask_for_room
from contextui.tui.desktop.rowlist import found_text
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

    @property
    def around(self) -> tuple[str, str]:
        """The text before these lines, and after them; of a read-only file, only its lines."""
        if self.text is None:
            return "\n" * (self.first - 1), ""
        end = self._starts[-1] - (len(self.ends[-1]) if self.has_more else 0)
        return self.text[: self.begin], self.text[end:]

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


class FindLine(Input):
    """The line below the text: what to find in it, or the number of a line to go to."""

    BINDINGS = [
        Binding("up", "seek(-1)", msg("previous"), key_display="↑"),
        Binding("down,enter", "seek(1)", msg("next"), key_display="↓"),
        Binding("enter", "go", msg("go to line")),
        Binding("escape", "leave", "back"),
    ]
    DEFAULT_CSS = "FindLine { height: 1; padding: 0; border: none; background: $soft; }"

    def __init__(self, body: "EditorBody") -> None:
        super().__init__(compact=True)
        self._body, self.display = body, False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("seek", "go"):
            return (action == "go") == (self.type == "integer")
        return super().check_action(action, parameters)

    def action_seek(self, step: int) -> None:
        self._body.seek(step)

    def action_go(self) -> None:
        if self.value:
            self._body.post_message(ActionRequested("goto", {"line": int(self.value)}))
            self.action_leave()

    def watch_value(self) -> None:
        if self.display and self.type == "text":
            self._body.seek(0)

    def action_leave(self) -> None:
        self.display, self._body.found = False, ""
        self._body.focus()
        ask_for_room(self._body)


class EditorBody(InertArea):
    """Text area with a page of the file."""

    BINDINGS = [
        Binding("ctrl+s", "save", "save", key_display="^s"),
        Binding("ctrl+f", "find('text')", msg("find"), key_display="^f"),
        Binding("ctrl+l", "find('integer')", msg("line"), key_display="^l"),
        Binding("tab", "indent(1)", msg("indent")),
        Binding("shift+tab", "indent(-1)", show=False),
        Binding("alt+z", "toggle('soft_wrap')", msg("wrap")),
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
        self._arrival: Selection | None = None  # where the person goes, in the file
        self._line = FindLine(self)
        self.found = ""
        """Which of the hits is selected."""
        self._marked = frozenset[int]()  # lines that the model changed since the person was here

    # --- called by the frame -----------------------------------------------------------

    @property
    def window_title(self) -> str:
        sight = self._sight
        parts = [line(sight.path), *(["•"] if sight.is_changed or self._unsent else [])]
        return " ".join([*parts, *([self._words(sight.note)] if sight.note else [])])

    @property
    def window_position(self) -> str:
        if self.found:
            return self.found
        sight, rows = self._sight, self.document.line_count
        height = self.scrollable_content_region.height
        top = min(self.scroll_offset.y, max(self.wrapped_document.height - height, 0))
        first = sight.first + self._row_at(top)
        if not sight.has_more and not self.document.get_line(rows - 1):
            rows -= 1  # the empty row after the last line ending is not a line
        end = sight.first + rows - 1
        count = end if not sight.has_more else (sight.total or 0) + rows - len(sight.lines)
        last = min(sight.first + self._row_at(top + height - 1), end)
        if last < first or (first == 1 and last == count):
            return ""
        if sight.has_more and sight.total is None:
            return f"{first}–{last}"
        return self._words("{first}–{last} of {count}", first=first, last=last, count=count)

    @property
    def window_rows(self) -> int:
        return max(self.wrapped_document.height, _FEW) + self._line.display

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
        y += self.scroll_offset.y
        is_marked = self.line_number_start + self._row_at(y) in self._marked
        is_marked = is_marked and y < self.wrapped_document.height
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
                    self._go_along()
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
        (row, column), top = self.cursor_location, self._row_at(self.scroll_offset.y)
        self.load_text(shown)
        self.line_number_start = first
        row += (old.first if old else 0) - first
        if old is None or not 0 <= row < self.document.line_count:
            self._go_along()
            return
        self._scroll_to_row(top + old.first - first)
        self.move_cursor((row, column))

    def _made_here(self, mine: Splice, old: Sight, new: Sight) -> Splice | None:
        """Rebase pending text onto the new text."""
        if old.path == new.path and old.text is not None and new.text is not None:
            return reduce(rebase, reversed(changes(old.text, new.text)), mine)
        words = msg("{path} is no longer open here. Not kept: {text}")
        message = self._words(words, path=line(old.path), text=line(mine.text))
        self.app.notify(message, severity="warning", markup=False)  # report what cannot be kept
        return None

    def _become(self, target: str) -> None:
        """Edit the shown text into this one; cursor and scroll position are kept."""
        if self.text == target:
            return
        text, top = self.text, self._row_at(self.scroll_offset.y)
        ends = [_offset(text, place) for place in self.selection]
        for made in reversed(changes(text, target)):
            start, end = (_location(text, place) for place in (made.start, made.end))
            self.replace(made.text, start, end, maintain_selection_offset=True)
            top += made.text.count("\n") - (end[0] - start[0]) if end[0] < top else 0
            ends = [rebase(Splice(place, place, ""), made).start for place in ends]
        self.selection = Selection(*(_location(target, place) for place in ends))
        self._scroll_to_row(top)

    def _mark(self, old: Sight, new: Sight) -> None:
        """Mark the lines that differ in the file, and move the marks below them."""
        if old.text is None or new.text is None or old.text == new.text:
            return
        for made in reversed(changes(old.text, new.text)):
            first = 1 + len(LINE_END.findall(old.text, 0, made.start))
            last = first + len(LINE_END.findall(old.text, made.start, made.end))
            added = len(LINE_END.findall(made.text))
            kept = {number if number < first else number + first + added - last
                    for number in self._marked if not first <= number <= last}  # fmt: skip
            self._marked = frozenset(kept.union(range(first, first + added + 1)))

    def _go_along(self) -> None:
        """Move the cursor to where the person goes, by default to the window's position."""
        line, column = self._sight.cursor
        ends = self._arrival or Selection.cursor((line - 1, max(column - 1, 0)))
        first, last = self._sight.first, self.document.end
        self.selection = Selection(*(min((row + 1 - first, at), last) for row, at in ends))

    # --- typing ------------------------------------------------------------------------

    @property
    def _unsent(self) -> bool:
        return self._carried is not None or self.text != self._sight.shown

    @on(InertArea.Changed)
    def _wait_for_pause(self) -> None:
        if self.found:
            self.seek()
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

    def _settle_soon(self) -> None:
        self._unsent_since = None
        if self._unsent:
            self.screen.run_worker(self._send_typed(), name="typed")

    on_blur = _settle_soon

    async def _send_typed(self) -> None:
        """Send pending text once; text typed while it is sent is queued for later."""
        async with self._sending:
            await self._send()
        if self.is_attached and self._unsent_since is None:
            self._wait_for_pause()

    async def on_unmount(self) -> None:
        self._line.remove()
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
        given = {**mine._asdict(), "revision": sight.revision}
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

    def action_undo(self) -> None:
        self.post_message(ActionRequested("undo"))

    def action_redo(self) -> None:
        self.post_message(ActionRequested("redo"))

    def action_cursor_down(self, select: bool = False) -> None:
        at_edge = self.navigator.is_last_wrapped_line(self.cursor_location)
        if not self._turn(1, at_edge and not select):
            super().action_cursor_down(select)

    def action_cursor_up(self, select: bool = False) -> None:
        at_edge = self.navigator.is_first_wrapped_line(self.cursor_location)
        if not self._turn(-1, at_edge and not select):
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
        row = {_ALL: _ALL, -1: max(self._sight.first - up, 1) - 1}.get(pages)
        self._arrival = None if row is None else Selection.cursor((row, 0))
        self.post_message(ActionRequested("scroll", {"pages": pages}))
        return True

    # --- indentation -------------------------------------------------------------------

    @property
    def keeps_tab(self) -> bool:
        return not self.read_only

    @property
    def _indentation(self) -> str:
        """One step of indentation, as the file has it."""
        begins = [one[: -len(one.lstrip())] for one in self.document.lines if one.strip()]
        if any(one.startswith("\t") for one in begins):
            return "\t"
        return " " * min((len(one) for one in begins if len(one) > 1), default=4)

    async def _on_key(self, event: events.Key) -> None:
        """Begin a new line with the indentation of this one, deeper after what opens a block."""
        if event.key.startswith("alt+"):
            event.prevent_default()  # no letter, though it has one
        elif event.key == "enter" and not self.read_only:
            event.prevent_default()
            event.stop()
            row, column = min(self.selection)
            before = self.document.get_line(row)[:column]
            opens = "{[(:" if self.language == "python" else "{[("
            deeper = self._indentation if before.rstrip().endswith(tuple(opens)) else ""
            begin = before[: len(before) - len(before.lstrip())]
            self._replace_via_keyboard(f"\n{begin}{deeper}", *self.selection)

    def action_indent(self, step: int) -> None:
        """Indent the selected lines, or less; without a selection, go on to the next stop."""
        (start, end), unit = sorted(self.selection), self._indentation
        if step > 0 and start == end:
            self.insert(unit[self.get_column_width(*end) % len(unit) :])
            return
        for row in range(start[0], max(end[0] - (end[1] == 0), start[0]) + 1):
            line = self.document.get_line(row)
            if step < 0 and (less := re.match(rf"\t| {{1,{len(unit)}}}", line)):
                self.delete((row, 0), (row, less.end()), maintain_selection_offset=True)
            elif step > 0 and line:
                self.insert(unit, (row, 0), maintain_selection_offset=True)

    # --- finding -----------------------------------------------------------------------

    def action_find(self, kind: Literal["text", "integer"]) -> None:
        if not self._line.is_attached and isinstance(self.parent, Widget):
            self.parent.mount(self._line, after=self)
        self._line.type, self._line.display, self._line.value = kind, True, ""
        self._line.placeholder = self._words(msg("find") if kind == "text" else msg("go to line"))
        self._line.focus()
        ask_for_room(self)

    def seek(self, step: int | None = None) -> None:
        """Select the next hit in the file (1), the previous (-1) or the nearest (0); count them."""
        text, shown, sight = self._line.value, self.text, self._sight
        above, below = (LINE_END.sub("\n", part) for part in sight.around)
        whole = above + shown + below
        flags = re.IGNORECASE if text == text.lower() else 0  # capital letters are meant
        hits = [one.span() for one in re.finditer(re.escape(text), whole, flags)] if text else []
        span = tuple(len(above) + _offset(shown, place) for place in sorted(self.selection))
        if hits and step is not None:
            number = bisect_left(hits, (span[0] + (step > 0), 0)) - (step < 0)
            span = hits[number % len(hits)]
            self._arrival = Selection(*(_location(whole, place) for place in span))
            row = self._arrival.start[0] + 1
            if 0 <= row - sight.first < self.document.line_count:
                self._go_along()
                self._arrival = None
            else:
                self.post_message(ActionRequested("goto", {"line": row}))
        number = hits.index(span) + 1 if span in hits else 0
        self.found = text and found_text(number, len(hits), self._words)
        ask_for_room(self)

    # --- rows of the view ----------------------------------------------------------------

    def _row_at(self, y: int) -> int:
        """Return the row of the text at a row of the view; a wrapped line takes several."""
        return self.wrapped_document.offset_to_location(Offset(0, y))[0]

    def _scroll_to_row(self, row: int) -> None:
        y = self.wrapped_document.location_to_offset((max(row, 0), 0)).y
        self.scroll_to(y=y, animate=False, immediate=True)


def _location(text: str, place: int) -> tuple[int, int]:
    return text.count("\n", 0, place), place - text.rfind("\n", 0, place) - 1


def _offset(text: str, place: tuple[int, int]) -> int:
    return sum(len(line) + 1 for line in text.split("\n")[: place[0]]) + place[1]

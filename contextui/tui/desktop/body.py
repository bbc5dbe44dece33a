"""The default body of a window: its latest render as text with clickable anchors."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.content import Content, Span
from textual.style import Style

from contextui.secrets import mask_own
from contextui.text import for_terminal
from contextui.tui.lines import CURSOR, FAINT, KEY, MUTED, Sheet, fold, line
from contextui.windowing.action import AnyAnchor, Button, Form, Reference
from contextui.windowing.render import Render
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import Element
from contextui.windowing.window import Window
from contextui.words import Words

ANCHOR = "anchor"
"""The style metadata key that holds an anchor's id."""

MOST = 40_000
"""Maximum characters rendered: more than anyone scrolls through."""

_INDENT = 2
_TAB = 4


@dataclass(frozen=True, slots=True)
class Row:
    """One line before wrapping."""

    content: Content
    hanging: int = 0


def rows_of(render: Render, more: str = "… {count} more characters") -> list[Row]:
    """Return the rows of a render, with each anchor next to its target."""
    snapshot = render.snapshot
    anchors = _by_target(render.anchors)
    if snapshot.elements is not None and len(snapshot.content) <= MOST:
        rows = [row for element in snapshot.elements for row in _element(element, 0, anchors)]
    else:
        rows = [_text(one) for one in for_terminal(mask_own(snapshot.content[:MOST])).split("\n")]
    if left := max(len(snapshot.content) - MOST, 0):
        rows.append(Row(Content.assemble((more.format(count=left), FAINT))))
    if others := [one for group in anchors.values() for one in group]:
        rows += [Row(Content("")), Row(_buttons(others))]
    return rows


def order_of(rows: list[Row]) -> list[str]:
    """Return the ids of the anchors in the rows, from top to bottom."""
    found = dict[str, None]()
    for row in rows:
        for span in row.content.spans:
            if isinstance(span.style, Style) and ANCHOR in span.style.meta:
                found[str(span.style.meta[ANCHOR])] = None
    return list(found)


def _text(text: str) -> Row:
    shown = text.expandtabs(_TAB)
    return Row(Content(shown), len(shown) - len(shown.lstrip(" ")) + _INDENT)


def _element(element: Element, depth: int, anchors: dict[str, list[AnyAnchor]]) -> Iterator[Row]:
    indent = " " * (_INDENT * depth)
    own = "".join(one for one in element.children if isinstance(one, str))
    text = for_terminal(mask_own(own))
    many = text.strip("\n").split("\n") if "\n" in text.strip("\n") else []
    head = text.strip("\n") if not many else ""
    first = (head.expandtabs(_TAB), "") if head else (element.tag, MUTED)
    facts = [part for item in element.attributes.items() for part in _attribute(*item)]
    buttons = _buttons(_taken(element, anchors))
    gap = "  " if buttons.plain else ""
    yield Row(Content.assemble(indent, first, *facts, gap, buttons), len(indent) + _INDENT)
    for one in many:
        shown = indent + " " * _INDENT + one.expandtabs(_TAB)
        yield Row(Content(shown), len(indent) + 2 * _INDENT)
    for child in element.children:
        if isinstance(child, Element):
            yield from _element(child, depth + 1, anchors)


def _attribute(name: str, value: str) -> Iterator[tuple[str, str]]:
    yield f"  {name}", FAINT
    if value != "true":
        yield f" {line(value)}", MUTED


def _by_target(anchors: Mapping[str, AnyAnchor]) -> dict[str, list[AnyAnchor]]:
    found = defaultdict[str, list[AnyAnchor]](list)
    for anchor in anchors.values():
        if not isinstance(anchor, Reference):
            found[anchor.target or ""].append(anchor)
    return found


def _taken(element: Element, anchors: dict[str, list[AnyAnchor]]) -> list[AnyAnchor]:
    """Take the anchors of an element: ``entry-3`` is the entry with the id 3."""
    own = element.attributes.get("id")
    if own is None:
        return []
    return anchors.pop(f"{element.tag}-{own}", []) or anchors.pop(own, [])


def _buttons(anchors: list[AnyAnchor]) -> Content:
    parts = []
    for anchor in anchors:
        if isinstance(anchor, Button | Form):
            label = line(anchor.label or anchor.action.replace("_", " ").capitalize())
            shown = Content.styled(f"{label}…" if isinstance(anchor, Form) else label, KEY)
            parts.append(shown.stylize(Style.from_meta({ANCHOR: anchor.id})))
    return Content("  ").join(parts)


class ContentBody(Sheet):
    """A window's content as text; its anchors can be clicked, or selected and pressed."""

    BINDINGS = [
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
        Binding("enter,space", "press", show=False),
    ]

    def __init__(self, window: Window, words: Words, press: Callable[[str], object]) -> None:
        super().__init__()
        self._window, self._words, self._press = window, words, press
        self._rows: list[Row] = []
        self._anchors: list[str] = []
        self._cursor: str | None = None
        self._folded: list[Content] = []
        self._folded_width = 0

    def window_changed(self) -> None:
        more = self._words("… {count} more characters")
        self._rows = rows_of(runtime_of(self._window).renders.latest(), more)
        self._anchors, self._folded_width = order_of(self._rows), 0
        if self._cursor not in self._anchors:
            self._cursor = self._anchors[0] if self._anchors else None
        self.redraw()

    def lines_for(self, width: int) -> Sequence[Content]:
        if width != self._folded_width:
            rows = (fold(row.content, width, row.hanging) for row in self._rows)
            self._folded, self._folded_width = [one for row in rows for one in row], width
        return [self._with_cursor(one) for one in self._folded]

    def _with_cursor(self, content: Content) -> Content:
        if not self.has_focus or self._cursor is None:
            return content
        for span in content.spans:
            if _anchor_of(span) == self._cursor:
                return content.stylize(CURSOR, span.start, span.end)
        return content

    # --- anchors -----------------------------------------------------------------------

    def action_step(self, by: int) -> None:
        if self._cursor is None:
            scroll = self.scroll_down if by > 0 else self.scroll_up
            scroll(animate=False)
            return
        at = self._anchors.index(self._cursor) + by
        self._cursor = self._anchors[min(max(at, 0), len(self._anchors) - 1)]
        self.redraw()
        for number, one in enumerate(self.lines):
            if any(_anchor_of(span) == self._cursor for span in one.spans):
                self.show_line(number)
                return

    def action_press(self) -> None:
        if self._cursor is not None:
            self._press(self._cursor)

    def on_click(self, event: events.Click) -> None:
        anchor_id = event.style.meta.get(ANCHOR)
        if anchor_id is not None:
            event.stop()
            self._cursor = str(anchor_id)
            self._press(self._cursor)


def _anchor_of(span: Span) -> str | None:
    found = span.style.meta.get(ANCHOR) if isinstance(span.style, Style) else None
    return None if found is None else str(found)

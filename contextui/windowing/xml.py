"""The `<Window>` block that the model reads. Text goes in untouched and comes out escaped."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from contextui.text import for_xml
from contextui.windowing.element import Element
from contextui.windowing.snapshot import Snapshot

if TYPE_CHECKING:
    from lxml.etree import _Element

_INDENT = "  "


class ActionLine(NamedTuple):
    """One `<action>` of the block."""

    id: str
    params: str
    label: str


def window_xml(
    window_id: str, description: str, snapshot: Snapshot, actions: Iterable[ActionLine]
) -> str:
    """Build the block: description, content and actions of one window.

    Elements are indented; text is left exactly as it is, so that parsing the block gives back
    the content character by character (but for what XML cannot hold, see `for_xml`).
    """
    from lxml import etree  # noqa: PLC0415  (heavy, and no screen needs it for its first frame)

    attributes = {
        "id": window_id,
        "version": str(snapshot.header.version),
        "lod": snapshot.state.current_lod.value,
    }
    if snapshot.stale:
        attributes["stale"] = "true"
    window = etree.Element("Window", attributes)
    etree.SubElement(window, "Description").text = for_xml(description)
    content = etree.SubElement(window, "Content")
    if snapshot.elements is None:
        content.text = for_xml(snapshot.content)
    else:
        _fill(content, snapshot.elements)
    listing = etree.SubElement(window, "Actions")
    for line in actions:
        params = {"params": for_xml(line.params)} if line.params else {}
        entry = etree.SubElement(listing, "action", {"id": for_xml(line.id), **params})
        entry.text = for_xml(line.label)
    _indent(window)
    return etree.tostring(window, encoding="unicode")


def _fill(parent: "_Element", children: Sequence[Element | str]) -> None:
    from lxml import etree  # noqa: PLC0415

    last: _Element | None = None
    for child in children:
        if isinstance(child, Element):
            last = etree.SubElement(parent, child.tag, _sanitised(child.attributes))
            _fill(last, child.children)
        elif last is None:
            parent.text = (parent.text or "") + for_xml(child)
        else:
            last.tail = (last.tail or "") + for_xml(child)


def _sanitised(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name: for_xml(value) for name, value in attributes.items()}


def _indent(element: "_Element", depth: int = 0) -> None:
    """Put each child on its own line, wherever no text would be touched by it."""
    children = list(element)
    if not children or element.text or any(child.tail for child in children):
        return
    element.text = "\n" + _INDENT * (depth + 1)
    for child in children:
        child.tail = element.text
        _indent(child, depth + 1)
    children[-1].tail = "\n" + _INDENT * depth

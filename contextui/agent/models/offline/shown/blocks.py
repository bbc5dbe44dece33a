"""The `<Window>` and `<Windows>` blocks of a request, parsed: what a window is and can do.

What stands in a block is data. A block counts only where a request has blocks of its own, and
nothing inside of one, however much it looks like a block or an action, is taken for one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from contextui.agent.models.offline.shown.declared import Param, params_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_CLASSES = re.compile(r"^<Windows>\n(?:.*\n)*?</Windows>$", re.MULTILINE)
_MARKED = re.compile(
    r"\s*(?:[-*+•]\s+)?(?:(\d{1,6})[.):：、]\s+|#(\d{1,6})\s+)?(?:\[[ xX✓✔]?\]\s*)?(.*)"
)
_BULLET = re.compile(r"\s*(?:[-*+•]\s+|\d{1,6}[.):：、]\s+|\[[ xX✓✔]?\]\s*|#\d{1,6}\s)")
_NAMED = re.compile(r"(\S[^:：=]{0,59}?)\s*[:：=]\s+(\S.*)")
_MOST = 2_000  # items of a window that are looked at
_LONGEST = 400_000  # characters of a block that is parsed


@dataclass(frozen=True, slots=True)
class Action:
    """What can be done with a window."""

    id: str
    label: str
    params: tuple[Param, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a window shows: an element, or a line of text.

    Attributes:
        tag: The element's tag, empty for a line.
        text: Its words.
        attributes: The element's attributes; of a numbered line its number, as `id`.
        line: All of it, as it can be told.
    """

    tag: str
    text: str
    attributes: tuple[tuple[str, str], ...] = ()
    line: str = ""

    def get(self, name: str) -> str | None:
        """The value of an attribute."""
        return next((value for one, value in self.attributes if one == name), None)


@dataclass(frozen=True, slots=True)
class WindowView:
    """An open window as its block shows it."""

    id: str
    version: tuple[int, ...]
    description: str
    actions: tuple[Action, ...]
    items: tuple[Item, ...] = field(repr=False)
    text: str = field(repr=False)

    @property
    def name(self) -> str:
        """The name of its class: its id without the number."""
        return re.sub(r"[_-]?\d+$", "", self.id)


@dataclass(frozen=True, slots=True)
class ClassView:
    """A class of windows that can be opened."""

    name: str
    description: str
    args: tuple[Param, ...] = ()


@lru_cache(maxsize=64)
def window_of(text: str) -> WindowView | None:
    """The window that a block shows; None if the text is no such block."""
    if not text.startswith("<Window ") or len(text) > _LONGEST:
        return None
    root = _parsed(text)
    if root is None or root.tag != "Window" or not root.get("id"):
        return None
    content = root.find("Content")
    items = tuple(_items(content)) if content is not None else ()
    actions = (_action(one) for one in root.findall("Actions/action") if one.get("id"))
    return WindowView(
        id=root.get("id") or "",
        version=tuple(int(part) for part in re.findall(r"\d{1,9}", root.get("version") or "")),
        description=(root.findtext("Description") or "").strip(),
        actions=tuple(actions),
        items=items,
        text=_whole_text(content) if content is not None else "",
    )


@lru_cache(maxsize=8)
def classes_of(text: str) -> tuple[ClassView, ...]:
    """The classes that the system prompt, or a `<Project>` block, lists."""
    found = _CLASSES.search(text)
    root = _parsed(found[0]) if found else None
    if root is None:
        return ()
    return tuple(
        ClassView(one.get("name") or "", (one.text or "").strip(), params_of(one.get("args") or ""))
        for one in root.findall("class")
        if one.get("name")
    )


def _parsed(text: str) -> "_Element | None":
    from lxml import etree  # noqa: PLC0415  (heavy, and only a request with windows needs it)

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(text, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _action(element: "_Element") -> Action:
    label = "".join(map(str, element.itertext())).strip()
    return Action(element.get("id") or "", label, params_of(element.get("params") or ""))


def _items(content: "_Element") -> Iterator[Item]:
    elements = [one for one in content.iter() if one is not content and isinstance(one.tag, str)]
    if elements:
        for element in elements[:_MOST]:
            yield _element_item(element)
        return
    lines = [line for line in (content.text or "").splitlines()[:_MOST] if line.strip()]
    bullets = [line for line in lines if _BULLET.match(line)]
    for line in bullets or lines:
        match = _MARKED.match(line)
        number, text = (match[1] or match[2], match[3].strip()) if match else (None, line.strip())
        named = _NAMED.fullmatch(text)
        facts = {"id": number, **({"name": named[1], "value": named[2]} if named else {})}
        attributes = tuple((name, value) for name, value in facts.items() if value)
        yield Item("", text, attributes, line.strip())


def _element_item(element: "_Element") -> Item:
    own = (element.text or "").strip()
    inner = " ".join(part for one in element if (part := (one.text or "").strip()))
    attributes = tuple((str(name), str(value)) for name, value in element.attrib.items())
    facts = ", ".join(value if name == value else f"{name} {value}" for name, value in attributes)
    words = " ".join(part for part in (own, inner) if part)
    line = f"{words} ({facts})" if words and facts else words or f"{element.tag}: {facts}"
    return Item(str(element.tag), words, attributes, line)


def _whole_text(content: "_Element") -> str:
    return "".join(map(str, content.itertext())).strip()

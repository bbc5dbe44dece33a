"""A window's XML block: how it is built, and its forms in a transcript.

A whole block is what `window_xml` builds. Its list of actions can be replaced with a reference to
an equal list further up. A change block names the version it starts from, and its body is a
unified diff of the lines between ``<Content>`` and ``</Content>``. A hunk that only adds lines
has the line above them as context; where lines are removed, those show the place. Of long lines
that are removed or are context, only the beginning is shown::

    <Window id="todo_1" version="2.0.0" since="1.0.0">
    @@ -2 +2 @@
    -    <item id="1">milk</item>
    +    <item id="1">oat milk</item>
    @@ -3 +3,2 @@
         <item id="2">eggs</item>
    +    <item id="3">bread</item>
    </Window>

What a block shows is text that windows escaped, so no line of it can end the block.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from contextui.files.diff import Change, changes, line_range
from contextui.text import for_xml
from contextui.windowing.snapshot import Element, Snapshot

if TYPE_CHECKING:
    from lxml.etree import _Element

_HEAD = re.compile(r'<Window id="([^"]*)" version="([^"]*)"')
_SINCE = re.compile(r'<Window id="([^"]*)" version="([^"]*)" since="([^"]*)"[^>]*>\n')
_LISTED = re.compile(r'<Actions ref="([^"]*)"/>(?=\s*</Window>\s*$)')
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_LONGEST_REFERENCE = 300  # characters, the end of the block included
_MOST = 2_000  # changed lines of a change block
_LONG, _BEGINNING = 60, 40  # characters of a line that is cut off, and of what is left of it
_END = "\n</Window>"
_INDENT = "  "
_TAG_OR_END = re.compile(r"<[^>]*>|\]\]&gt;|&gt;")  # in text, ]]> has to be escaped


class ActionLine(NamedTuple):
    """One `<action>` element of the XML."""

    id: str
    params: str
    label: str


def window_xml(
    window_id: str, description: str, snapshot: Snapshot, actions: Iterable[ActionLine]
) -> str:
    """Build the `<Window>` XML block: description, content and actions of one window.

    Elements are indented; text is left unchanged, so parsing the block returns the content
    character by character (except for what XML cannot hold, see `for_xml`).
    """
    from lxml import etree  # noqa: PLC0415  (slow to import, and not needed for the first frame)

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
    if snapshot.jobs:
        _add_jobs(content, snapshot.jobs)
    listing = etree.SubElement(window, "Actions")
    for line in actions:
        params = {"params": for_xml(line.params)} if line.params else {}
        entry = etree.SubElement(listing, "action", {"id": for_xml(line.id), **params})
        entry.text = for_xml(line.label) or None
    _indent(window)
    return _with_plain_ends(etree.tostring(window, encoding="unicode"))


def _add_jobs(content: "_Element", jobs: Mapping[int, str]) -> None:
    from lxml import etree  # noqa: PLC0415

    has_text = not len(content)
    if has_text:
        content.text = f"{content.text or ''}\n"
    for number, progress in jobs.items():
        job = etree.SubElement(content, "Job", {"id": str(number)})
        job.text = for_xml(progress)
        job.tail = "\n" if has_text else None  # changes are compared by line


def _with_plain_ends(xml: str) -> str:
    """Write ``>`` as it is in text, where XML allows it: code has many, and is copied from here."""
    if "&gt;" not in xml:
        return xml
    return _TAG_OR_END.sub(lambda found: ">" if found[0] == "&gt;" else found[0], xml)


def _fill(parent: "_Element", children: Sequence[Element | str]) -> None:
    from lxml import etree  # noqa: PLC0415

    last: _Element | None = None
    for child in children:
        if isinstance(child, Element):
            attributes = {name: for_xml(value) for name, value in child.attributes.items()}
            last = etree.SubElement(parent, child.tag, attributes)
            _fill(last, child.children)
        elif last is None:
            parent.text = (parent.text or "") + for_xml(child)
        else:
            last.tail = (last.tail or "") + for_xml(child)


def _indent(element: "_Element", depth: int = 0) -> None:
    """Put each child on its own line, unless that would alter text."""
    children = list(element)
    if not children or element.text or any(child.tail for child in children):
        return
    element.text = "\n" + _INDENT * (depth + 1)
    for child in children:
        child.tail = element.text
        _indent(child, depth + 1)
    children[-1].tail = "\n" + _INDENT * depth


class Parts(NamedTuple):
    """A whole block in its parts; joined, they are the block again."""

    head: str  # up to and including <Content>
    content: str
    tail: str  # from </Content> on


def parts_of(xml: str) -> Parts:
    """Divide a whole block; an empty content is ``<Content/>`` in its head."""
    # What a window shows can contain elements of any name, but these come first and last.
    listed = max(xml.rfind("<Actions>"), xml.rfind("<Actions/>"), xml.rfind("<Actions ref="))
    start, end = xml.find("<Content>"), xml.rfind("</Content>", 0, listed)
    if not _HEAD.match(xml) or listed < 0:
        raise ValueError(f"not a block of a window: {xml[:60]!r}")
    if 0 <= start < end:
        start += len("<Content>")
        return Parts(xml[:start], xml[start:end], xml[end:])
    return Parts(xml[:listed], "", xml[listed:])


def actions_of(xml: str) -> str:
    """Return the list of actions of a whole block."""
    tail = parts_of(xml).tail
    return tail[tail.rfind("<Actions") : tail.rfind("</Window>")].rstrip()


def with_reference(xml: str, window_id: str) -> str:
    """Return a whole block that refers to the list of actions of another one."""
    listed = actions_of(xml)
    before, _, after = xml.rpartition(listed)
    return f'{before}<Actions ref="{window_id}"/>{after}'


def version_of(block: str) -> str:
    """Return the version of a whole block or of a change block."""
    head = _HEAD.match(block)
    return head[2] if head else "0.0.0"


def is_same(old: str, new: str) -> bool:
    """Return whether two whole blocks differ in their version alone."""
    return _HEAD.sub("", old, count=1) == _HEAD.sub("", new, count=1)


def change_block(old: str, new: str) -> str | None:
    """Return a block with what changed between two whole blocks of one window.

    None if a change block cannot express it: its description, its level of detail or its list of
    actions changed as well, or a large part of the content did.
    """
    before, after = parts_of(old), parts_of(new)
    was, now = _HEAD.match(old), _HEAD.match(new)
    if was is None or now is None or _frame(before) != _frame(after) or was[1] != now[1]:
        return None
    lines = _diff(before.content.split("\n"), after.content.split("\n"))
    if lines is None:
        return None
    head = f'<Window id="{now[1]}" version="{now[2]}" since="{was[2]}">'
    block = "\n".join([head, *lines]) + _END
    return block if len(block) < len(new) else None


def applied(xml: str, change: str) -> str:
    """Apply a change block to the whole block that it starts from."""
    parts, head, body = parts_of(xml), _SINCE.match(change), change.removesuffix(_END)
    start = _HEAD.match(xml)
    if head is None or start is None or (head[1], head[3]) != (start[1], start[2]):
        raise ValueError(f"{change[:60]!r} does not follow {xml[:60]!r}")
    content = _patched(parts.content.split("\n"), body[head.end() :].split("\n"))
    version = _HEAD.sub(f'<Window id="{head[1]}" version="{head[2]}"', parts.head, count=1)
    return f"{version}{content}{parts.tail}"


def base_of(block: str) -> str:
    """Return the id of the window whose block above another one is needed to read it; or empty."""
    if since := _SINCE.match(block):
        return since[1]
    listed = _reference(block)
    return listed[1] if listed else ""


@lru_cache(maxsize=256)
def whole_block(block: str, base: str) -> str:
    """Return the whole block that a block of a request stands for; empty if it does not fit.

    Args:
        block: A whole block, with its list of actions or a reference, or a change block.
        base: The whole block above it of the window that `base_of` names; empty if there is none.
    """
    try:
        if _SINCE.match(block):
            return applied(base, block)
        listed = _reference(block)
        return (
            block[: listed.start()] + actions_of(base) + block[listed.end() :] if listed else block
        )
    except ValueError:
        return ""


def _reference(block: str) -> "re.Match[str] | None":
    return _LISTED.search(block, max(0, len(block) - _LONGEST_REFERENCE))


def _frame(parts: Parts) -> tuple[str, str]:
    """Everything of a block but its version and its content."""
    return _HEAD.sub("", parts.head, count=1), parts.tail


def _diff(old: Sequence[str], new: Sequence[str]) -> list[str] | None:
    found = list(changes(old, new))
    if not found or sum(two - one + four - three for one, two, three, four in found) > _MOST:
        return None
    return [line for change in found for line in _hunk(old, new, change)]


def _hunk(old: Sequence[str], new: Sequence[str], change: Change) -> Iterator[str]:
    """Return the lines of a hunk; without removed lines, with the line above the new ones."""
    one, two, three, four = change
    above = old[one - 1 : one] if one == two and one else ()
    start = len(above)
    yield f"@@ -{line_range(one - start, two)} +{line_range(three - start, four)} @@"
    yield from (f" {_cut_off(line)}" for line in above)
    yield from (f"-{_cut_off(line)}" for line in old[one:two])
    yield from (f"+{line}" for line in new[three:four])


def _cut_off(line: str) -> str:
    return f"{line[:_BEGINNING]}…" if len(line) > _LONG else line


def _patched(old: list[str], diff: Sequence[str]) -> str:
    new, at = list[str](), 0
    for start, lines in _hunks(diff):
        new, at = [*new, *old[at:start]], start
        for line in lines:
            if line[0] == "+":
                new.append(line[1:])
                continue
            if at >= len(old) or line[1:] not in (old[at], _cut_off(old[at])):
                raise ValueError(f"line {at + 1} is not what the change starts from")
            new += old[at : at + 1] if line[0] == " " else ()
            at += 1
    return "\n".join([*new, *old[at:]])


def _hunks(diff: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    at = 0
    while at < len(diff):
        found = _HUNK.fullmatch(diff[at])
        if found is None:
            raise ValueError(f"not a line of a diff: {diff[at][:60]!r}")
        removed, added = int(found[2] or 1), int(found[3] or 1)
        start = int(found[1]) - (removed > 0)  # of no lines, the one before them is named
        lines, at = list[str](), at + 1
        while at < len(diff) and (removed > 0 or added > 0):
            lines.append(diff[at])
            mark = diff[at][:1]
            if mark not in (" ", "-", "+"):
                raise ValueError(f"not a line of a diff: {diff[at][:60]!r}")
            removed, added, at = removed - (mark != "+"), added - (mark != "-"), at + 1
        yield start, lines

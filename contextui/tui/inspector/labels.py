"""Labels of items: one-line text for lists, titles, origins, and states."""

import re
from collections.abc import Sequence

from contextui.context.item import THINKING, Calls, ContextItem, ItemType, Stage
from contextui.context.manager import ContextManager
from contextui.context.messages import is_reduced
from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.tui.conversation.entries import Called, called
from contextui.tui.inspector.rows import ItemRow
from contextui.tui.lines import short
from contextui.windowing.blocks import version_of
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window
from contextui.words import Words, msg

_HEADING = re.compile(r"^#+ *", re.MULTILINE)
_LONGEST = 240  # maximum characters of an item in a list

KINDS = {
    ItemType.SYSTEM: msg("System"),
    ItemType.USER: msg("User"),
    ItemType.ASSISTANT: msg("Assist"),
    ItemType.WINDOW: msg("Window"),
    ItemType.TOOL: msg("Tool"),
}
"""Short names of the item types, in at most six cells."""


def label(item: ContextItem, calls: Calls, words: Words) -> str:
    """Return an item's text or calls in one line."""
    if item.is_summary:
        _, heading, rest = item.content.partition("\n## ")
        text = _HEADING.sub("", rest if heading else item.content)
        return f"{words('Summary')}  {one_line(text, _LONGEST)}"
    match item.type:
        case ItemType.TOOL:
            asker = calls.asker(item)
            made = _calls(asker, item.tool_call_id) if asker is not item else []
            return one_line(f"{made[0].title} {made[0].what}" if made else item.content, _LONGEST)
        case ItemType.ASSISTANT if not item.content.strip():
            made = _calls(item)
            names = one_line(", ".join(one.title for one in made), _LONGEST)
            calls_in = words.plural(
                len(made), "1 call: {names}", "{count} calls: {names}", names=names
            )
            return calls_in if made else ""
    return one_line(item.content, _LONGEST)


def window_of(item: ContextItem, context: ContextManager) -> Window | None:
    """Return the window that an item shows, if it is open."""
    if item.type is not ItemType.WINDOW or context.windows is None:
        return None
    return context.windows.get(item.content)


def window_label(row: ItemRow, context: ContextManager, words: Words) -> str:
    """Return a window's id and its level of detail."""
    window = window_of(row.item, context)
    if row.block is not None and row.block.kind == "change":
        return f"{row.item.content}  {words('change')}"
    return f"{row.item.content}  {words(window.lod.value)}" if window else row.item.content


def title(row: ItemRow, calls: Calls, words: Words) -> str:
    """Return the title of the detail view."""
    item = row.item
    if item.is_summary:
        return words("Summary of earlier turns")
    if item.type is ItemType.SYSTEM:
        return words("From the project" if item.is_background else "System prompt")
    return label(item, calls, words)


def origin(row: ItemRow, turn: int | None, facts: Sequence[str], words: Words) -> str:
    """Return author, turn and further facts in one line.

    Tool results always come from the model, so their author is left out to save room.
    """
    item = row.item
    parts = [_author(row, words)] if item.type is not ItemType.TOOL else []
    if turn is not None and item.type not in (ItemType.SYSTEM, ItemType.WINDOW):
        parts.append(words("turn {turn}", turn=turn))
    return words(", ").join(part for part in (*parts, *facts) if part)


def text_of(row: ItemRow, context: ContextManager) -> str:
    """Return the text that the model reads."""
    item = row.item
    if item.type is ItemType.WINDOW:
        if row.block is not None and row.block.text:
            return row.block.text
        if (window := window_of(item, context)) is not None:
            return runtime_of(window).renders.latest().xml
        windows = context.windows
        return (windows.last_render(item.content) if windows else None) or item.content
    if is_reduced(item) and (gist := item.shown_gist or item.gist):
        return gist
    return item.content or _call_texts(item)


def sent_text(row: ItemRow, context: ContextManager) -> str:
    """Return the text of an outdated block, as requests contain it."""
    if row.block is None or row.block.text:
        return text_of(row, context)
    is_thinking = row.block.kind == "thinking"
    content = row.item.blocks if is_thinking else context.shown_content(row.item)
    if content is None or isinstance(content, str):
        return content or row.item.content
    chosen = (one for one in content if (one.get("type") in THINKING) is is_thinking)
    texts = (str(one.get("thinking") or one.get("text") or "") for one in chosen)
    return "\n".join(filter(None, texts)) or _call_texts(row.item)


def whole_text(row: ItemRow, context: ContextManager) -> str:
    """Return the whole text, even if the model reads a gist."""
    if row.item.type is ItemType.WINDOW:
        return text_of(row, context)
    return row.item.content or _call_texts(row.item)


def _author(row: ItemRow, words: Words) -> str:
    match row.item.type:
        case ItemType.SYSTEM if row.item.is_background:
            return words("sent as a user message")
        case ItemType.SYSTEM:
            return words("by contextui")
        case ItemType.USER if row.item.is_added:
            return words("by contextui")
        case ItemType.USER:
            return words("by you")
        case ItemType.WINDOW:
            version = version_of(row.block.text) if row.block is not None else ""
            return words("live, version {version}", version=version) if version else ""
    return words("by model")


def _call_texts(item: ContextItem) -> str:
    return "\n".join(f"{call.title} {call.what}" for call in _calls(item))


def _calls(item: ContextItem, call_id: str | None = None) -> list[Called]:
    """Return the calls of an item; only that with an id, if it is given."""
    return [
        called(str(block.get("name", "")), block.get("input", {}))
        for block in item.blocks or ()
        if block.get("type") == "tool_use" and call_id in (None, block.get("id"))
    ]


_LONG = 20_000  # characters from which tokens are estimated, as counting takes too long
_BY_WHOM = {
    "dropped": msg("dropped by you"),
    "trimmed": msg("not sent: no room"),
    "closed": msg("closed with its window"),
}


_OUTDATED = {
    "superseded": msg("old version"),
    "thinking": msg("earlier thinking"),
    "closed": msg("closed"),
    "dropped": msg("dropped"),
    "edited": msg("before your edit"),
    "restored": msg("before it was restored"),
    "compacted": msg("in a summary now"),
    "trimmed": msg("no room"),
    "lowered": msg("shows less now"),
    "system": msg("former prompt"),
    "old result": msg("a gist replaces it"),
    "broken": msg("a part of it is gone"),
    "unanswered": msg("call without a result"),
}


def outdated(row: ItemRow, words: Words) -> str:
    """Return why a block is outdated, and for how long it stays if that is known."""
    block = row.block
    if block is None:
        return ""
    reason = words(_OUTDATED.get(block.reason, block.reason))
    return reason + words(", until the turn ends") * block.waits


def outdated_texts(row: ItemRow, rent: int, words: Words) -> list[str]:
    """Return the texts of an outdated block for lists, the longest first."""
    reason = outdated(row, words)
    named = f"{row.item.content}  {reason}" if row.item.type is ItemType.WINDOW else reason
    cost = words(", rent {tokens}", tokens=short(rent)) if rent else ""
    return [words("outdated: ") + named + cost, named + cost, named, reason]


def is_gist(item: ContextItem) -> bool:
    """Return whether the model reads a gist instead of the whole text."""
    if item.shown_gist is not None:
        return bool(item.shown_gist)
    is_final = item.type is ItemType.TOOL and item.stage is Stage.FINAL
    return is_final and bool(item.gist) and not item.whole


def replaced(item: ContextItem, context: ContextManager) -> list[ContextItem]:
    """Return the items that a summary replaces, as far as they are loaded."""
    known = map(context.items.get, context.folds.items_of(item.id))
    return [one for one in known if one is not None]


def replacement_of(item: ContextItem, context: ContextManager) -> ContextItem | None:
    """Return the item that replaces a hidden one, if any."""
    if item.hidden == "compacted":
        return context.items.get(context.folds.summary_of(item.id) or "")
    if item.hidden == "replaced":
        return next(reversed(context.window_items(item.content)), None)
    return None


def state(item: ContextItem, context: ContextManager, words: Words) -> str:
    """Return an item's state for lists: why it is hidden, or what it replaces."""
    other = replacement_of(item, context)
    if other is not None:
        in_summary = item.hidden == "compacted"
        template = msg("in summary {seq}") if in_summary else msg("replaced by {seq}")
        return words(template, seq=f"{other.seq:04}")
    if item.hidden:
        return words(item.hidden)
    if items := replaced(item, context):
        return words.plural(len(items), "for 1 item", "for {count} items")
    if not is_gist(item):
        return ""
    replaced_size = gist_size(item, context, words)
    return words("gist {size}", size=replaced_size) if replaced_size else words("gist")


def gist_size(item: ContextItem, context: ContextManager, words: Words) -> str:
    """Return the size of what a gist replaces; empty if unknown, or if it is not a gist."""
    whole = context.whole_tokens(item) if is_gist(item) else 0
    return words("of {tokens}", tokens=short(context.counter.calibrated(whole))) if whole else ""


def fate(item: ContextItem, context: ContextManager, counter: TokenCounter, words: Words) -> str:
    """Return an item's state for the detail view."""
    if item.hidden in _BY_WHOM:
        return words(_BY_WHOM[item.hidden])
    if item.hidden or not is_gist(item):
        return state(item, context, words)
    texts = (item.content, item.shown_gist or item.gist or "")
    whole, gist = (tokens(text, counter) for text in texts)
    return words("gist of {whole} → {gist}", whole=whole, gist=gist)


def both_texts(item: ContextItem, counter: TokenCounter, words: Words) -> str:
    """Return the gist that the model reads, followed by the whole text."""
    gist, whole = item.shown_gist or item.gist or "", item.content
    heads = (
        words("── the gist, which the model reads: {tokens} tokens", tokens=tokens(gist, counter)),
        words("── the whole text: {tokens} tokens", tokens=tokens(whole, counter)),
    )
    return f"{heads[0]}\n\n{gist}\n\n{heads[1]}\n\n{whole}"


def tokens(text: str, counter: TokenCounter) -> str:
    """Format the tokens of a text as the provider will probably count them; ~ marks an estimate."""
    if len(text) > _LONG:
        return f"~{counter.calibrated(counter.estimate(text)):,}"
    return f"{counter.calibrated(counter.count(text)):,}"

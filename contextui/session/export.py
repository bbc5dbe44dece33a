"""Export of a session as Markdown, HTML or JSON."""

import itertools
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from contextui.context.item import ContextItem, ItemType
from contextui.secrets import mask
from contextui.session.page import is_note, to_html
from contextui.session.store import SessionView
from contextui.text import for_terminal
from contextui.windowing.runtime import runtime_of
from contextui.words import Lang, Words

Format = Literal["md", "html", "json"]
"""The export formats."""

_SPEAKERS = {
    ItemType.SYSTEM: "System",
    ItemType.USER: "You",
    ItemType.ASSISTANT: "Model",
    ItemType.WINDOW: "Window",
    ItemType.TOOL: "Tool",
}


def to_markdown(view: SessionView, *, include_obsolete: bool = True) -> str:
    """Export the whole conversation as Markdown; hidden items are marked.

    Args:
        view: The session.
        include_obsolete: Whether to include hidden items: closed windows with their last render,
            and items that were dropped, trimmed or compacted.
    """
    info = view.info
    head = [
        f"# {view.loaded.title or info.first_words or info.id}",
        f"Session `{info.id}` of `{info.cwd}`, {info.started} to {info.updated}.",
    ]
    items = view.items() if include_obsolete else view.context.get_active()
    parts = [part for item in items for part in _section(item, view)]
    windows = [
        f"## {window.id}\n\n{_fenced(window.snapshot().content)}"
        for window in view.windows.windows()
    ]
    return "\n\n".join([*head, *parts, *windows]) + "\n"


def to_json(view: SessionView) -> dict[str, Any]:
    """Export everything about a session as JSON-ready data."""
    head, tail = session_data(view), {"windows": window_data(view)}
    return {**head, "items": [item_data(item) for item in view.items()], **tail}


def session_data(view: SessionView) -> dict[str, Any]:
    """Return the part of `to_json` about the session itself."""
    info = view.info
    named = {"id": info.id, "cwd": info.cwd, "started": info.started, "updated": info.updated}
    return {"session": named}


def window_data(view: SessionView) -> list[dict[str, Any]]:
    """Return the part of `to_json` about the windows."""
    return [
        {
            "id": window.id,
            "name": window.name,
            "lod": window.lod.value,
            "state": runtime_of(window).core.saved.state,
        }
        for window in view.windows.windows()
    ]


def exported(
    view: SessionView, form: Format, lang: Lang = "en", *, include_obsolete: bool = True
) -> str:
    """Export a session in a format, with secrets masked."""
    if form == "json":
        data = _masked(to_json(view))
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    if form == "html":
        return to_html(view, Words(lang), include_obsolete=include_obsolete)
    return mask(to_markdown(view, include_obsolete=include_obsolete))


def _masked(value: Any) -> Any:
    """Mask the secrets in each text of JSON-ready data; other values become their text.

    Masking the serialized text could remove the escape before a quote.
    """
    if isinstance(value, dict):
        return {mask(str(name)): _masked(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(one) for one in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return mask(str(value))


def write_export(text: str, folder: Path, session_id: str, form: Format) -> Path:
    """Write an export to a new file in a folder, without overwriting anything.

    Raises:
        OSError: It cannot be written.
    """
    for number in itertools.count(1):
        suffix = f"-{number}" if number > 1 else ""
        path = folder / f"contextui-{session_id[:8]}{suffix}.{form}"
        try:
            write_file(path, text)
        except FileExistsError:
            continue
        return path
    raise AssertionError  # unreachable: the numbers never end


def write_file(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a file that only the person can read; replace an existing one only if that is wanted.

    Raises:
        FileExistsError: It exists.
        OSError: It cannot be written.
    """
    target = path.with_name(f".{path.name}.{secrets.token_hex(4)}") if replace else path
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        if replace:
            os.replace(target, path)
    except OSError:
        with suppress(OSError):
            target.unlink()
        raise


def _section(item: ContextItem, view: SessionView) -> Iterator[str]:
    hidden = f" ({item.hidden})" if item.hidden else ""
    if item.type is ItemType.WINDOW:
        yield f"*Window {item.content}{hidden}*"
        render = view.windows.last_render(item.content) if item.hidden == "closed" else None
        if render:
            yield _fenced(for_terminal(render))
        return
    yield f"## {'Note' if is_note(item) else _SPEAKERS[item.type]}{hidden}"
    text = for_terminal(item.content)
    if text.strip():
        yield _fenced(text) if item.type is ItemType.TOOL else text
    for block in item.blocks or ():
        if block.get("type") == "tool_use":
            arguments = json.dumps(block.get("input"), ensure_ascii=False)
            yield _fenced(for_terminal(f"{block.get('name')} {arguments}"))


def item_data(item: ContextItem) -> dict[str, Any]:
    """Return the part of `to_json` about an item."""
    data = {
        "seq": item.seq,
        "id": item.id,
        "type": item.type.value,
        "content": item.content,
        "hidden": item.hidden,
        "pinned": item.pinned,
    }
    optional = {
        "blocks": list(item.blocks) if item.blocks else None,
        "toolCallId": item.tool_call_id,
        "toolName": item.tool_name,
        "isError": item.is_error or None,
        "gist": item.gist,
    }
    return data | {name: value for name, value in optional.items() if value is not None}


def _fenced(text: str) -> str:
    """Put text in a fence longer than any fence within it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"

"""Export of a session as Markdown, JSON, or an HTML page without scripts that loads nothing."""

import itertools
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any, Literal

from contextui.context.item import ContextItem, ItemType
from contextui.events import WOKEN
from contextui.secrets import mask
from contextui.session.lines import moment
from contextui.session.store import SessionView
from contextui.text import for_terminal
from contextui.windowing.runtime import runtime_of
from contextui.words import LANGUAGES, Lang, Words, msg

Format = Literal["md", "html", "json"]
"""The export formats."""

_KINDS = {
    ItemType.SYSTEM: msg("System"),
    ItemType.USER: msg("You"),
    ItemType.ASSISTANT: msg("Model"),
    ItemType.WINDOW: msg("Window"),
    ItemType.TOOL: msg("Tool"),
}
_NOTE = msg("Note")
_WOKEN = tuple(Words(one)(WOKEN) for one in LANGUAGES)
_LONG = 12  # lines from which a result is folded
_LABEL = 90  # characters of an item in the list

_STYLE = """
:root { color-scheme: light dark; --ground: #fbfbf9; --text: #22272e; --muted: #5c646e;
  --line: #d9dade; --soft: #f0f0ec; --you: #0b7a69; --model: #7b3fb8; --bad: #b3243a; }
@media (prefers-color-scheme: dark) { :root { --ground: #12151a; --text: #d4d9e1;
  --muted: #9aa2ad; --line: #2b313a; --soft: #191d24; --you: #4fc3ae; --model: #c49bf0;
  --bad: #ef7480; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 2rem 1.25rem 4rem; background: var(--ground);
  color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.5rem 0 .75rem; border-bottom: 1px solid var(--line);
  padding-bottom: .25rem; }
.about, .who, summary { color: var(--muted); font-size: .875rem; }
.about { margin: 0; overflow-wrap: anywhere; }
section { margin: 1.25rem 0; }
.you { border-left: 3px solid var(--you); padding-left: .9rem; }
.you .who { color: var(--you); } .model .who { color: var(--model); }
.hidden { opacity: .6; }
.said { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { margin: .35rem 0; padding: .6rem .8rem; background: var(--soft); border-radius: 4px;
  font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.bad { color: var(--bad); }
table { border-collapse: collapse; width: 100%; font: 13px/1.6 ui-monospace, monospace; }
td { padding: 0 .6rem 0 0; vertical-align: top; overflow-wrap: anywhere; }
td.n { text-align: right; padding: 0; font-variant-numeric: tabular-nums; }
td.k, td.s { color: var(--muted); white-space: nowrap; }
@media print { details > * { display: block; } body { max-width: none; } }
"""


def to_markdown(view: SessionView, *, include_obsolete: bool = True) -> str:
    """Export the whole conversation as Markdown; hidden items are marked.

    Args:
        view: The session.
        include_obsolete: Whether to include hidden items: closed windows with their last render,
            and items that were dropped, trimmed or compacted.
    """
    info = view.info
    head = [
        f"# {view.loaded.texts.get('title') or info.first_words or info.id}",
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
    """Write an export to a new file in a folder, without overwriting anything."""
    for number in itertools.count(1):
        suffix = f"-{number}" if number > 1 else ""
        path = folder / f"contextui-{session_id[:8]}{suffix}.{form}"
        with suppress(FileExistsError):
            return write_file(path, text)
    raise AssertionError  # unreachable: the numbers never end


def write_file(path: Path, text: str) -> Path:
    """Write a new file that only the person can read; return its path."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode(errors="replace"))
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise
    return path


def _section(item: ContextItem, view: SessionView) -> Iterator[str]:
    hidden = f" ({item.hidden})" if item.hidden else ""
    if item.type is ItemType.WINDOW:
        yield f"*Window {item.content}{hidden}*"
        if render := _last_render(item, view):
            yield _fenced(for_terminal(render))
        return
    yield f"## {_kind(item)}{hidden}"
    text = for_terminal(item.content)
    if text.strip():
        yield _fenced(text) if item.type is ItemType.TOOL else text
    yield from (_fenced(for_terminal(call)) for call in _calls(item))


def _kind(item: ContextItem) -> str:
    # A message of the program to the model, which the person did not write.
    is_note = item.is_added or (item.type is ItemType.USER and item.content in _WOKEN)
    return _NOTE if is_note else _KINDS[item.type]


def _last_render(item: ContextItem, view: SessionView) -> str | None:
    return view.windows.last_render(item.content) if item.hidden == "closed" else None


def _calls(item: ContextItem) -> Iterator[str]:
    for block in item.blocks or ():
        if block.get("type") == "tool_use":
            given = json.dumps(block.get("input"), ensure_ascii=False, default=str)
            yield f"{block.get('name')} {given}"


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
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


# --- HTML ---------------------------------------------------------------------------------


def to_html(view: SessionView, words: Words, *, include_obsolete: bool = True) -> str:
    """Export a session as a page: the conversation, the windows, and the items with their tokens.

    Every text is escaped, and secrets are masked.

    Args:
        view: The session.
        words: Translates into the person's locale.
        include_obsolete: Whether to include hidden items in the conversation.
    """
    info = view.info
    items = [*view.items()]
    title = _plain(view.loaded.texts.get("title") or info.first_words or info.id)
    body = [
        f"<h1>{title}</h1>",
        f'<p class="about">{_plain(info.cwd)}<br>{_plain(_span(view, words))}</p>',
        f"<h2>{_plain(words('Conversation'))}</h2>",
        *_conversation(view, words, items, include_obsolete=include_obsolete),
        *_windows(view, words),
        *_items(view, words, items),
    ]
    lang = escape(words.lang)
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _plain(text: str) -> str:
    """Escape text for a page, without control characters and secrets."""
    return escape(for_terminal(mask(text)))


def _span(view: SessionView, words: Words) -> str:
    begun, ended = moment(view.info.started), moment(view.info.updated)
    shown = [one.strftime("%Y-%m-%d %H:%M UTC") for one in (begun, ended) if one is not None]
    count = words.plural(view.loaded.turn, "1 turn", "{count} turns")
    return "   ".join([" – ".join(dict.fromkeys(shown)), count])


def _conversation(
    view: SessionView, words: Words, items: Iterable[ContextItem], *, include_obsolete: bool
) -> Iterator[str]:
    for item in items:
        if item.type is ItemType.SYSTEM and not item.is_summary:
            continue  # the items below name it
        if item.hidden and not include_obsolete:
            continue
        yield from _html_section(item, view, words)


def _html_section(item: ContextItem, view: SessionView, words: Words) -> Iterator[str]:
    kinds = {_KINDS[ItemType.USER]: "you", _KINDS[ItemType.ASSISTANT]: "model"}
    kind = kinds.get(_kind(item), "other")
    hidden = " hidden" if item.hidden else ""
    who = _plain(words(_kind(item)))
    state = f" ({_plain(words(item.hidden))})" if item.hidden else ""
    if item.type is ItemType.WINDOW:
        name = f"{who} {_plain(item.content)}{state}"
        yield f'<section class="other{hidden}"><div class="who">{name}</div>'
        if render := _last_render(item, view):
            yield _folded(words("as it was"), render)
        yield "</section>"
        return
    parts = []
    if item.content.strip():
        if item.type is ItemType.TOOL:
            name = item.tool_name or ""
            parts.append(_result(name, item.content, words, is_bad=item.finished.failed))
        else:
            parts.append(f'<div class="said">{_plain(item.content)}</div>')
    parts += [f"<pre>{_plain(call)}</pre>" for call in _calls(item)]
    if parts:
        head = f'<section class="{kind}{hidden}"><div class="who">{who}{state}</div>'
        yield "\n".join([head, *parts, "</section>"])


def _result(name: str, text: str, words: Words, *, is_bad: bool) -> str:
    bad = ' class="bad"' if is_bad else ""
    if text.count("\n") < _LONG:
        return f"<pre{bad}>{_plain(text)}</pre>"
    lines = words("{count} lines", count=text.count("\n") + 1)
    return _folded(f"{name} {lines}".strip(), text)


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{_plain(summary)}</summary><pre>{_plain(text)}</pre></details>"


def _windows(view: SessionView, words: Words) -> Iterator[str]:
    windows = view.windows.windows()
    if not windows:
        return
    yield f"<h2>{_plain(words('Windows'))}</h2>"
    for window in windows:
        yield (
            f'<section class="other"><div class="who">{_plain(window.id)}   '
            f"{_plain(window.lod.value)}</div><pre>{_plain(window.snapshot().content)}</pre></section>"
        )


def _items(view: SessionView, words: Words, items: Iterable[ContextItem]) -> Iterator[str]:
    context, total, rows = view.context, 0, list[str]()
    for item in items:
        tokens = context.counter.calibrated(context.item_tokens(item))
        total += 0 if item.hidden else tokens
        label = " ".join(item.content.split())[:_LABEL] or ", ".join(
            str(one.get("name")) for one in item.blocks or () if one.get("type") == "tool_use"
        )
        rows.append(
            f'<tr><td>[{"X" if item.hidden else "✓"}]</td><td class="s">{item.seq:04}</td>'
            f'<td class="k">{_plain(words(_kind(item)))}</td><td>{_plain(label)}</td>'
            f'<td class="n">{tokens:,}</td></tr>'
        )
    yield f"<h2>{_plain(words('What the model reads: {tokens} tokens', tokens=f'{total:,}'))}</h2>"
    yield f"<table>\n{chr(10).join(rows)}\n</table>"

"""Export of a session as one HTML page: no script, nothing loaded from anywhere."""

import json
from collections.abc import Iterable, Iterator
from html import escape

from contextui.context.item import ContextItem, ItemType
from contextui.events import WOKEN
from contextui.model import Block
from contextui.secrets import mask
from contextui.session.entry import moment
from contextui.session.store import SessionView
from contextui.text import for_terminal
from contextui.words import LANGUAGES, Words, msg

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
    title = _plain(view.loaded.title or info.first_words or info.id)
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


def is_note(item: ContextItem) -> bool:
    """Whether it is a message of the program to the model, which the person did not write."""
    return item.is_added or (item.type is ItemType.USER and item.content in _WOKEN)


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
        yield from _section(item, view, words)


def _section(item: ContextItem, view: SessionView, words: Words) -> Iterator[str]:
    kinds = {_KINDS[ItemType.USER]: "you", _KINDS[ItemType.ASSISTANT]: "model"}
    kind = kinds.get(_kind(item), "other")
    hidden = " hidden" if item.hidden else ""
    who = _plain(words(_kind(item)))
    state = f" ({_plain(words(item.hidden))})" if item.hidden else ""
    if item.type is ItemType.WINDOW:
        render = view.windows.last_render(item.content) if item.hidden == "closed" else None
        name = f"{who} {_plain(item.content)}{state}"
        yield f'<section class="other{hidden}"><div class="who">{name}</div>'
        if render:
            yield _folded(words("as it was"), render)
        yield "</section>"
        return
    parts = []
    if item.content.strip():
        if item.type is ItemType.TOOL:
            name = item.tool_name or ""
            parts.append(_result(name, item.content, words, is_bad=bool(item.is_error)))
        else:
            parts.append(f'<div class="said">{_plain(item.content)}</div>')
    for block in item.blocks or ():
        if block.get("type") == "tool_use":
            parts.append(f"<pre>{_plain(_call(block))}</pre>")
    if parts:
        head = f'<section class="{kind}{hidden}"><div class="who">{who}{state}</div>'
        yield "\n".join([head, *parts, "</section>"])


def _kind(item: ContextItem) -> str:
    return _NOTE if is_note(item) else _KINDS[item.type]


def _call(block: Block) -> str:
    given = json.dumps(block.get("input"), ensure_ascii=False, default=str)
    return f"{block.get('name')} {given}"


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

"""`result_gist`: describe a long tool result briefly, to replace it in later requests."""

import json
from collections.abc import Mapping
from typing import Any

from contextui.context.gists.gist import count_lines
from contextui.context.item import ContextItem
from contextui.model import Block
from contextui.text import for_terminal, one_line, shown_name
from contextui.tokens import TokenCounter
from contextui.words import Lang, Words, msg

RESULT = "result:"
"""Prefix of the path under which `read_file` returns an earlier result, followed by its seq."""

_MOST = 120  # tokens of a gist
_SHARE = 5  # a gist has at most one fifth of the result's tokens
_COUNTED = 10_000  # characters whose tokens are counted: enough to know that a fifth exceeds _MOST
_NAME, _TARGET = 40, 48  # characters of a tool's name and of its target
_EXCERPT, _BOTH = 12, 80  # fewest characters of an excerpt, and of two
_BLANK = 200  # characters skipped in search of the first and the last word


def result_gist(item: ContextItem, lang: Lang = "en", *, call: Block | None = None) -> str:
    """Describe a tool result of more than 200 tokens: what it was, its size, its first and last
    lines, and how to read it again.

    The gist of a file that was read is returned as it is. Any other has at most 120 tokens and a
    fifth of the result's, on one line, and what it quotes is escaped. It is the same for the same
    item; the time that it takes hardly grows with the result.

    Example:
        >>> item = ContextItem(ItemType.TOOL, "passed " * 250, seq=12, tool_name="run")
        >>> print(result_gist(item).replace("; ", "\\n"))
        [result 12] run (1 line, 1750 characters)
        first: "passed passed passed passed passed passe…"
        last: "…assed passed passed passed passed passed"
        read again: read_file(path="result:12")
    """
    if item.gist:
        return item.gist
    words, counter, text = Words(lang), TokenCounter(), item.content
    room = min(counter.count(text[:_COUNTED]) // _SHARE, _MOST)
    name, target = _called(item, call)
    mark = msg("[result {seq}, failed]") if item.is_error else msg("[result {seq}]")
    lines = words.plural(count := count_lines(text), "{n} line", "{n} lines", n=count)
    about = f"({lines}, {words('{n} characters', n=len(text))})"

    def line(what: str, size: int = 0) -> str:
        parts, is_both = [f"{words(mark, seq=item.seq)} {what} {about}"], size >= _BOTH
        each = size // 2 if is_both else size
        if is_both or (size and not item.is_error):
            parts.append(words("first: {text}", text=_quoted(_first(text, each))))
        if is_both or (size and item.is_error):  # the reason is usually at the end
            parts.append(words("last: {text}", text=_quoted(_last(text, each))))
        parts.append(words("read again: {call}", call=_again(item, target)))
        return "; ".join(parts)

    frames = [f"{name} {target}", name] if target else [name]
    what = next((frame for frame in frames if counter.count(line(frame)) <= room), name)
    size = 4 * max(room - counter.count(line(what)), 0)
    while size >= _EXCERPT:
        shown = line(what, size)
        if counter.count(shown) <= room:
            return shown
        size = size * 4 // 5
    return line(what)


def _called(item: ContextItem, call: Block | None) -> tuple[str, str]:
    """Return the tool's name and the target of the call, each as one escaped word."""
    name = item.tool_name or str((call or {}).get("name") or "") or "?"
    given = (call or {}).get("input")
    target = _target(given) if isinstance(given, Mapping) else ""
    shown = shown_name(one_line(target, _TARGET)) if target else ""
    return shown_name(one_line(name, _NAME)), shown


def _target(given: Mapping[str, Any]) -> str:
    window_id, action_id = given.get("window_id"), given.get("action_id")
    if isinstance(window_id, str) and isinstance(action_id, str):
        return f"{window_id}.{action_id}"
    # The first argument of most tools is the one that matters: a path, a command, a name.
    return next((value for value in given.values() if isinstance(value, str) and value), "")


def _again(item: ContextItem, target: str) -> str:
    """Return the call that reads the result again; a page of a result names the whole one."""
    number = target.strip("'").removeprefix(RESULT)
    is_page = item.tool_name == "read_file" and number.isascii() and number.isdecimal()
    path = f"{RESULT}{number if is_page else item.seq}"
    return f'read_file(path="{path}")'


def _first(text: str, size: int) -> str:
    head = text[: size + _BLANK].lstrip()[:size]
    end = head.rfind("\n")
    return (head[:end] if end >= size // 2 else head).rstrip() + "…"


def _last(text: str, size: int) -> str:
    tail = text[-size - _BLANK :].rstrip()[-size:]
    start = tail.find("\n") + 1
    return "…" + (tail[start:] if start <= size // 2 else tail).lstrip()


def _quoted(text: str) -> str:
    """Quote text as data: in double quotes, on one line, without control characters."""
    return json.dumps(for_terminal(text), ensure_ascii=False)

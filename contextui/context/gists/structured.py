"""JSON: what stands at the top of it."""

import json

from contextui.config.choices import Lang
from contextui.context.gists.wording import listed, number_of


def of_json(text: str, lang: Lang) -> list[str]:
    """The top keys of an object, the length of an array; nothing of what is neither."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(value, list):
        return [number_of(len(value), "item", lang), *_keys(value[0] if value else None, lang)]
    return _keys(value, lang)


def of_json_lines(text: str, lang: Lang) -> list[str]:
    """How many values there are, one in a line, and the keys of the first."""
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        first = json.loads(lines[0]) if lines else None
    except (ValueError, RecursionError):
        first = None
    return [number_of(len(lines), "row", lang), *_keys(first, lang)]


def _keys(value: object, lang: Lang) -> list[str]:
    return [listed("keys", list(value), lang)] if isinstance(value, dict) and value else []

"""What a person types behind `/open` and a window's name: the params of that window."""

import re
from typing import Any

from contextui.tui.desktop.values import kind_of, read
from contextui.windowing.params import Param, Params

_LONG = 24  # characters of choices that are not worth being listed
_BETWEEN = re.compile(r"\s*[,，、\n]\s*")  # what separates the parts of a list


def takes(params: Params) -> str:
    """How params are typed, those that may be left out in brackets.

    Example:
        >>> takes(EditorWindow.opening)
        'path=… [line=…] [new=false|true]'
    """
    return " ".join(f"[{_one(one)}]" if one.optional else _one(one) for one in params.listing)


def needs(params: Params) -> str:
    """How those are typed that may not be left out."""
    return " ".join(_one(one) for one in params.listing if not one.optional)


def required(params: Params) -> list[str]:
    """The params that must be typed."""
    return [one.name for one in params.listing if not one.optional]


def arguments(typed: str, params: Params) -> dict[str, Any]:
    """The params that were typed as `name=value`; words before them are the first param.

    A value goes on until the next name, so that it may have spaces in it.

    Example:
        >>> arguments("my notes.md line=3", EditorWindow.opening)
        {'path': 'my notes.md', 'line': 3}
    """
    if not params.listing:
        return {}
    kinds = {one.name: kind_of(one.type) for one in params.listing}
    first, *named = re.split(rf"(?:^|\s)({'|'.join(kinds)})=", typed)
    texts = dict(zip(named[::2], named[1::2], strict=True))
    if first.strip():
        texts = {params.listing[0].name: first, **texts}
    return {name: _value(text.strip(), name, kinds) for name, text in texts.items()}


def _value(text: str, name: str, kinds: dict[str, Any]) -> Any:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if kinds[name].many and not text.startswith("["):
        text = _BETWEEN.sub("\n", text)
    return read(kinds[name], text)


def _one(param: Param) -> str:
    options = "|".join(kind_of(param.type).options)
    return f"{param.name}={options if 0 < len(options) <= _LONG else '…'}"

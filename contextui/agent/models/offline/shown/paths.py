"""The paths that a window shows, and which of them words mean."""

import re
from collections.abc import Sequence
from functools import lru_cache

from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import tokens_of
from contextui.agent.models.offline.shown.blocks import WindowView
from contextui.agent.models.offline.shown.items import place_among

_ENTRY = re.compile(r"(\s*)(?:[-*•]\s+)?([^\s:|][^:|]{0,200}?)(/?)(?:\s+\(\d+\))?\s*")
_HIT = re.compile(r"\s*(\S{1,200}\.\w{1,8}):\d+:")
_ENDING = re.compile(r"\.\w{1,8}$")
_MOST_WORDS = 3  # of a name: what has more is a sentence
_MOST = 2_000  # lines that are looked at
_KINDS = ("#file", "#folder", "#path", "#item", "#entry", "~one", "~article", "~of", "~this",
          "~polite", "~aspect", "~it", "~in", "~called", "~possessive")  # fmt: skip


@lru_cache(maxsize=64)
def paths_of(window: WindowView) -> tuple[str, ...]:
    """The paths that a window shows, in order; what is indented stands in the folder above it."""
    given = [value for one in window.items for name, value in one.attributes if name == "path"]
    if given:
        return tuple(dict.fromkeys(given))
    found, folders = dict[str, None](), list[tuple[int, str]]()
    for line in window.text.splitlines()[:_MOST]:
        if hit := _HIT.match(line):
            found.setdefault(hit[1])
            continue
        entry = _ENTRY.fullmatch(line)
        if (
            entry is None
            or not (entry[3] or _ENDING.search(entry[2]))
            or (len(entry[2].split()) > _MOST_WORDS)
        ):
            continue
        depth = len(entry[1])
        folders = [one for one in folders if one[0] < depth]
        path = "/".join([*(one[1] for one in folders[-1:]), entry[2]])
        found.setdefault(path)
        if entry[3]:
            folders.append((depth, path))
    return tuple(found)


def is_file_of(window: WindowView, path: str) -> bool:
    """Whether a window is about one file, and that is the one: its text begins with the path."""
    return window.text.split(maxsplit=1)[:1] == [path]


def path_meant(window: WindowView, tokens: Sequence[Token], there: str = "") -> str | None:
    """The one shown path that words mean: by its place, its name, or a part of it.

    Args:
        window: What shows the paths.
        tokens: The words.
        there: The folder that was spoken of, if "there" was said.
    """
    paths = paths_of(window)
    said = [one for one in tokens if one.kind is not Kind.MARK]
    rest = [one for one in said if not one.has(*_KINDS) or one.kind is Kind.PATH]
    placed = place_among(rest, len(paths))
    if placed is not None:
        return paths[placed] if len(rest) == 1 else None
    if not rest:
        only = len(paths) == 1 and any(one.has("~it", "~this") for one in said)
        return paths[0] if only else None
    wanted = " ".join(one.text for one in rest).casefold().strip("/")
    if there and f"{there}/{wanted}" in paths:
        return f"{there}/{wanted}"
    for fits in (_is_path, _ends_path, _is_stem, _has_words):
        found = [one for one in paths if fits(one.casefold(), wanted)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _is_path(path: str, wanted: str) -> bool:
    return path == wanted


def _ends_path(path: str, wanted: str) -> bool:
    return path.endswith(f"/{wanted}")


def _is_stem(path: str, wanted: str) -> bool:
    return _ENDING.sub("", path.rsplit("/", 1)[-1]) == wanted.replace(" ", "-") or (
        _ENDING.sub("", path.rsplit("/", 1)[-1]) == wanted.replace(" ", "_"))  # fmt: skip


def _has_words(path: str, wanted: str) -> bool:
    held = {one.text.casefold() for one in tokens_of(re.sub(r"[/._-]", " ", path))}
    return all(part in held for part in wanted.split())

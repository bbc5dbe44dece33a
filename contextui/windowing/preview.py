"""Previews: what an action would change outside its window, shown for approval."""

import unicodedata
from dataclasses import dataclass, replace
from typing import Literal, get_args

from contextui.errors import ContextUIError
from contextui.files.diff import DiffCounts, count_diff
from contextui.text import for_model
from contextui.words import Words

Verb = Literal["write", "delete", "run", "read", "close"]
"""What would be done to the target; shown in the headline of the approval prompt."""

PREVIEW_LIMIT = 20_000_000
"""Maximum characters of a preview; a larger change cannot be approved."""

_LONGEST_TARGET = 4_096  # characters: the longest path of a file system
_NONE = DiffCounts(0, 0)
# These reorder the text around them, so a name with one can look like another name.
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class PreviewError(ContextUIError):
    """An action's preview cannot be shown, so the action cannot be approved."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an action would do, returned by a window's `preview`.

    Include the complete change: a person cannot approve what they cannot see.

    Attributes:
        target: What would change: a path of the workspace, a command, ``server.tool``. An approval
            for the session covers this target only.
        diff: The change as a unified diff, or empty.
        text: The change in words; next to a diff, what the diff does not show.
        whole: The content after the change, to show the whole file.
        verb: What would be done to the target; `close` if the person's unsaved edits would be
            discarded, which needs approval whatever the action's effect.
        changes: Whether anything would change. If not, the action does not run, without a prompt,
            and `text` is its result.

    Example:
        >>> Preview("notes.txt", diff=diff_text(old, new, "notes.txt", "notes.txt"))
    """

    target: str
    diff: str = ""
    text: str = ""
    whole: str = ""
    verb: Verb = "write"
    changes: bool = True

    @property
    def added(self) -> int:
        """How many lines the diff adds."""
        return (count_diff(self.diff) or _NONE).added

    @property
    def removed(self) -> int:
        """How many lines the diff removes."""
        return (count_diff(self.diff) or _NONE).removed


def checked(given: object, name: str, words: Words) -> Preview | None:
    """Validate what a window's `preview` returned.

    Args:
        given: The returned value; text becomes a preview of the action itself.
        name: The action, as in ``editor_1.save``.
        words: The error messages.

    Raises:
        PreviewError: It cannot be shown completely.
    """
    if given is None or given == "":
        return None
    if isinstance(given, str):
        given = Preview(name, text=given)
        if given.text.startswith("--- ") and count_diff(given.text) is not None:
            given = Preview(name, diff=given.text)
    if not isinstance(given, Preview):
        raise PreviewError(
            words(
                "preview() returned {type}; it must return a Preview, text or None.",
                type=type(given).__name__,
            )
        )
    _check_target(given.target, words)
    for part in (given.diff, given.text, given.whole):
        if not isinstance(part, str):
            raise PreviewError(
                words(
                    "preview() returned {type}; it must return a Preview, text or None.",
                    type=type(part).__name__,
                )
            )
    if given.verb not in get_args(Verb):
        raise PreviewError(
            words(
                "preview() returned {type}; it must return a Preview, text or None.",
                type=repr(given.verb)[:40],
            )
        )
    size = len(given.diff) + len(given.text)
    if size > PREVIEW_LIMIT:
        raise PreviewError(
            words(
                "the preview has {size:,} characters, {most:,} at most can be shown.",
                size=size,
                most=PREVIEW_LIMIT,
            )
        )
    diff, text = given.diff, given.text
    if diff and count_diff(diff) is None:  # not a valid diff: shown as text
        diff, text = "", f"{diff}\n{text}" if text else diff
    whole = given.whole if len(given.whole) <= PREVIEW_LIMIT else ""
    return replace(given, diff=_drawable(diff), text=_drawable(text), whole=_drawable(whole))


def _check_target(target: object, words: Words) -> None:
    """Raise if the target cannot be shown as it is, in one line."""
    if not isinstance(target, str) or not target.strip() or len(target) > _LONGEST_TARGET:
        raise PreviewError(words("the preview names no target."))
    for char in target:
        if char in _BIDI or unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp"):
            raise PreviewError(
                words(
                    "the target's name contains {code}, which cannot be shown.",
                    code=f"U+{ord(char):04X}",
                )
            )


def _drawable(text: str) -> str:
    """Replace lone surrogates, which no terminal or file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return for_model(text)
    return text

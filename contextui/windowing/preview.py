"""Previews: what an action would change outside its window, shown for approval."""

import unicodedata
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, get_args

from contextui.errors import ContextUIError
from contextui.files.diff import DiffCounts, count_diff
from contextui.shell import split
from contextui.text import code_point, for_model, is_unseen

if TYPE_CHECKING:
    from contextui.git.inspection import NamedProgram

Verb = Literal["write", "commit", "delete", "run", "type", "read", "close"]
"""What would be done to the target; shown in the headline of the approval prompt.

`type` is text for a program that runs. What a text does depends on what the program asks at the
moment, so it is never allowed for the session; nor is `commit`, which writes to a repository."""

PREVIEW_LIMIT = 20_000_000
"""Maximum characters of a preview; a larger change cannot be approved."""

LONGEST_COMMAND = 100_000
"""Maximum characters of a command."""

_LONGEST_TARGET = 4_096  # characters: the longest path of a file system
_NONE = DiffCounts(0, 0)
# These reorder the text around them, so a name with one can look like another name.
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class PreviewError(ContextUIError):
    """An action's preview cannot be shown, so the action cannot be approved."""


@dataclass(frozen=True, slots=True)
class CommandPreview:
    """The shell command that an action would run, and where.

    Attributes:
        line: The whole command as the shell reads it; it may have several lines.
        folder: The folder in which it runs, as an absolute path.
        seconds: How long the action waits before the command goes on as a job; None if it waits
            for the end.
        reach: What it may change: everything that the person may, or, in a sandbox, the files of
            the folder, without a network.
        can_sandbox: Whether `--sandbox` could limit it.
        dropped: The names of variables that the command does not get.
        search: The value of PATH that it runs with; empty for that of this program. It decides
            which program a pattern allows, so it must be that of the shell that runs the command.
        is_live: Whether a shell runs it that earlier commands may have changed, by an alias, a
            function or another PATH. Then no pattern allows it.
        param: The action's param that holds the command. The person may edit it.
        programs: What the folder's repository names and git may start, if git is the program; found
            by `Previews`, whatever the window says. No pattern of the settings covers them.
    """

    line: str
    folder: str
    seconds: float | None = None
    reach: Literal["all", "sandbox"] = "all"
    can_sandbox: bool = False
    dropped: tuple[str, ...] = ()
    search: str = ""
    is_live: bool = False
    param: str = "command"
    programs: "tuple[NamedProgram, ...]" = ()

    @property
    def argv(self) -> tuple[str, ...] | None:
        """The words of the command; None if only a shell can read it, see `contextui.shell`."""
        return split(self.line)


@dataclass(frozen=True, slots=True)
class Preview:
    """What an action would do, returned by a window's `preview`.

    Include the complete change: a person cannot approve what they cannot see.

    Attributes:
        target: What would change: a path of the workspace, a command, ``server.tool``. An approval
            for the session covers this target only.
        text: The change in words; next to a diff, what the diff does not show.
        verb: What would be done to the target; `close` if the person's unsaved edits would be
            discarded, which needs approval whatever the action's effect.
        changes: Whether anything would change. If not, the action does not run, without a prompt,
            and `text` is its result.
        command: The shell command that would run; `target` and `verb` then follow from it.

    Example:
        >>> Preview("notes.txt", diff=diff_text(old, new, "notes.txt", "notes.txt"))
        >>> Preview(command=CommandPreview("pytest -q", "/home/ann/shop", seconds=60))
    """

    target: str = ""
    diff: str = ""
    text: str = ""
    whole: str = ""
    verb: Verb = "write"
    changes: bool = True
    command: CommandPreview | None = None

    @property
    def added(self) -> int:
        """How many lines the diff adds."""
        return (count_diff(self.diff) or _NONE).added

    @property
    def removed(self) -> int:
        """How many lines the diff removes."""
        return (count_diff(self.diff) or _NONE).removed


def checked(given: object, name: str) -> Preview | None:
    """Validate what a window's `preview` returned."""
    if given is None or given == "":
        return None
    if isinstance(given, str):
        given = Preview(name, text=given)
        if given.text.startswith("--- ") and count_diff(given.text) is not None:
            given = Preview(name, diff=given.text)
    if not isinstance(given, Preview) or given.verb not in get_args(Verb):
        shown = repr(given.verb)[:40] if isinstance(given, Preview) else type(given).__name__
        raise PreviewError(
            "preview() returned {type}; it must return a Preview, text or None.", type=shown
        )
    if given.command is not None:
        given = _checked_command(given)
    _check_target(given.target)
    size = len(given.diff) + len(given.text)
    if size > PREVIEW_LIMIT:
        raise PreviewError(
            "the preview has {size:,} characters, {most:,} at most can be shown.",
            size=size,
            most=PREVIEW_LIMIT,
        )
    diff, text = given.diff, given.text
    if diff and count_diff(diff) is None:  # not a valid diff: shown as text
        diff, text = "", f"{diff}\n{text}" if text else diff
    whole = given.whole if len(given.whole) <= PREVIEW_LIMIT else ""
    return replace(given, diff=_drawable(diff), text=_drawable(text), whole=_drawable(whole))


def _checked_command(given: Preview) -> Preview:
    """Validate the command, and name it as the target in one line."""
    command = given.command
    assert command is not None
    if not command.line.strip():
        raise PreviewError("the command is empty.")
    if len(command.line) > LONGEST_COMMAND:
        raise PreviewError(
            "the command has {size:,} characters, {most:,} at most can be run.",
            size=len(command.line),
            most=LONGEST_COMMAND,
        )
    for text in (command.line, command.folder):
        if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
            raise PreviewError("the command contains a character that no shell can read.")
    if not PurePath(command.folder).is_absolute():
        raise PreviewError("the command's folder is not an absolute path.")
    shown = "".join(code_point(one) if is_unseen(one) else one for one in command.line.strip())
    if len(shown) > _LONGEST_TARGET:
        shown = shown[: _LONGEST_TARGET - 1] + "…"
    return replace(given, target=shown, verb="run")


def _check_target(target: str) -> None:
    """Raise if the target cannot be shown as it is, in one line."""
    if not target.strip() or len(target) > _LONGEST_TARGET:
        raise PreviewError("the preview names no target.")
    for char in target:
        if char in _BIDI or unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp"):
            raise PreviewError(
                "the target's name contains {code}, which cannot be shown.",
                code=f"U+{ord(char):04X}",
            )


def _drawable(text: str) -> str:
    """Replace lone surrogates, which no terminal or file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return for_model(text)
    return text

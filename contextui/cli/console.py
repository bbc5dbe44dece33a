"""Words and data on their way to the terminal, or to whatever program reads them."""

import errno
import json
import math
import os
import re
import shutil
import sys
import traceback
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from textwrap import indent
from typing import Any, TextIO

from contextui.cli.words import words
from contextui.text import for_terminal, one_line

# What stays whole, with the spaces behind it. Punctuation stays with the character before it, an
# opening bracket or quote with the one after it.
_WIDE = "[\u2e80-\u3007\u3021-\u9fff\uac00-\ud7af\uf900-\ufaff]"  # Chinese, Japanese, Korean
_WORD = rf"(?:(?!{_WIDE})[^\s（“《])+"
_PIECE = re.compile(rf"[（“《]*(?:{_WIDE}|{_WORD})[，。；：、！？）”》…]*\s*|\s+|.")


def width(text: str) -> int:
    """The columns of a text in one line."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, columns: int) -> str:
    """The text, or as much of it as there is room for and "…"."""
    if width(text) <= columns:
        return text
    room = columns - 1
    for place, char in enumerate(text):
        room -= _columns(char)
        if room < 0:
            return text[:place] + "…"
    return text


def cut_before(text: str, columns: int) -> str:
    """The text, or "…" and as much of its end as there is room for."""
    return text if width(text) <= columns else cut(text[::-1], columns)[::-1]


def padded(text: str, columns: int) -> str:
    """The text with spaces behind it."""
    return text + " " * (columns - width(text))


def wrapped(text: str, columns: int) -> list[str]:
    """The text in lines of at most so many columns, cut at spaces and between wide characters.

    What is longer than a line and has neither stays whole.

    Example:
        >>> wrapped("one two 三四", 9)
        ['one two', '三四']
    """
    lines, line = list[str](), ""
    for piece in _PIECE.findall(text):
        if line.strip() and width(line + piece.rstrip()) > columns:
            lines.append(line.rstrip())
            line = ""
        line += piece if line else piece.lstrip()
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


_ours: list[TextIO] = []  # the last one counts; there is none where nothing is kept


def output() -> TextIO:
    """Where to write what was asked for."""
    return _ours[-1] if _ours else sys.stdout


@contextmanager
def kept() -> Iterator[None]:
    """Meanwhile only what is written to `output` gets to the standard output."""
    standard = sys.stdout
    standard.flush()
    try:
        number, aside = standard.fileno(), sys.stderr.fileno()
    except (OSError, ValueError):  # it is no file, but something in this process
        with _printed_aside(standard):
            yield
        return
    real = os.dup(number)
    os.dup2(aside, number)  # for processes that windows start
    own = open(real, "w", encoding=standard.encoding, errors=standard.errors)  # noqa: SIM115
    try:
        with _printed_aside(own):
            yield
    finally:
        with suppress(OSError, ValueError):  # there may be no stderr; or a window closed it
            standard.flush()  # what a window wrote to just this one goes aside too
        os.dup2(real, number)
        _close(own)


def give_away() -> None:
    """All was said: what a window prints when the process ends goes to stderr too."""
    with suppress(OSError, ValueError):  # one of them is no file, or closed
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


@contextmanager
def _printed_aside(own: TextIO) -> Iterator[None]:
    standard, sys.stdout = sys.stdout, sys.stderr
    _ours.append(own)
    try:
        yield
    finally:
        _ours.remove(own)
        sys.stdout = standard


def _close(stream: TextIO) -> None:
    """Close a stream; what cannot be written any more was told of before, or nobody reads it."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    stream.close()


_LONGEST = 2_000  # characters of one line about something
# JSON escapes all that acts below U+0020; these would act in a terminal, or hide something.
_ACTING = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\uffff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


class OutputError(OSError):
    """An output that cannot be written, for another reason than that nobody reads it."""


def make_robust() -> None:
    """Let neither a closed stream nor a character that an encoding lacks end the program."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # `contextui >&-`
            # Something must have its number, or the next file that is opened gets it. It cannot
            # be written to: what is lost is an error, as with any output.
            closed = os.open(os.devnull, os.O_RDONLY)
            setattr(sys, name, open(closed, "r" if name == "stdin" else "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # tests put other streams there
        if reconfigure is not None:
            with suppress(OSError):  # what waits there to be written; `finish` says so
                reconfigure(errors="backslashreplace")


def let_go_of_closed() -> None:
    """Write no more to what is closed or full: its last words would change the exit status."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            stream.flush()  # or it would come out where the stream is led to next


def say(text: str = "", *, end: str = "\n", flush: bool = False) -> None:
    """Write what was asked for."""
    _put_out(for_terminal(text) + end, flush=flush)


def say_json(data: Any, *, indent: int | None = 2) -> None:
    """Write data as JSON, at once."""
    _put_out(as_json(data, indent=indent) + "\n", flush=True)


def say_json_list(
    before: Mapping[str, Any], items: tuple[str, Iterable[Any]], after: Mapping[str, Any]
) -> None:
    """Write an object as JSON in which one value is a list, without ever holding all of that.

    Args:
        before: What stands before the list.
        items: The name of the list, and what is in it.
        after: What stands behind it.
    """
    name, found = items
    _put_out("{\n" + "".join(f"{_member(*one)},\n" for one in before.items()), flush=False)
    _put_out(f"  {as_json(name)}: [", flush=False)
    separator = "\n"
    for item in found:
        _put_out(separator + indent(as_json(item, indent=2), "    "), flush=False)
        separator = ",\n"
    end = "]" if separator == "\n" else "\n  ]"
    _put_out(end + "".join(f",\n{_member(*one)}" for one in after.items()) + "\n}\n", flush=True)


def _member(name: str, value: Any) -> str:
    return f"  {as_json(name)}: " + indent(as_json(value, indent=2), "  ").removeprefix("  ")


def finish() -> None:
    """See that all that was written has arrived.

    Raises:
        OutputError: It has not.
    """
    _put_out("", flush=True)


def tell(line: str) -> None:
    """Say what went wrong or should be known, beside the output, without any key in it."""
    note(f"contextui: {line}")


def note(line: str) -> None:
    """Say in one line, beside the output, what is being done."""
    with suppress(OSError):  # there is nowhere else to say it
        _write(sys.stderr, f"{one_line(_masked(line), _LONGEST)}\n", flush=True)


def beside(text: str) -> None:
    """Write just these characters beside the output, at once: the program's own, for a terminal."""
    with suppress(OSError):
        _write(sys.stderr, text, flush=True)


def tell_crash(error: BaseException) -> None:
    """Say in one line what happened that should not; with `CONTEXTUI_DEBUG`, also where."""
    tell_where(error)
    tell(words_of(error))


def tell_where(error: BaseException) -> None:
    """With `CONTEXTUI_DEBUG`, say where an error comes from."""
    if os.environ.get("CONTEXTUI_DEBUG"):
        lines = "".join(traceback.format_exception(error))
        with suppress(OSError):
            _write(sys.stderr, for_terminal(_masked(lines)), flush=True)


def say_table(rows: Sequence[Sequence[str]]) -> None:
    """Write columns as wide as they must be; the last one is as long as it is."""
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [padded(cell, columns) for cell, columns in zip(row, widths, strict=False)]
        say("  ".join([*cells, row[-1]]))


def terminal_columns() -> int | None:
    """How wide the terminal is that shows the output; None if none does."""
    return shutil.get_terminal_size().columns if output().isatty() else None


def words_of(error: BaseException) -> str:
    """What an error says, or what it is if it says nothing."""
    kind, said = type(error).__name__, str(error)
    return words("Something went wrong: {what}", what=f"{kind}: {said}" if said else f"{kind}.")


def as_json(data: Any, *, indent: int | None = None) -> str:
    """Data as JSON that reads well and is inert in a terminal; it says exactly the same."""
    try:
        text = json.dumps(data, ensure_ascii=False, indent=indent, default=str, allow_nan=False)
    except ValueError:  # JSON has no word for what is no number
        text = json.dumps(_finite(data), ensure_ascii=False, indent=indent, default=str)
    return _ACTING.sub(lambda match: json.dumps(match[0])[1:-1], text)


def _finite(data: Any) -> Any:
    match data:
        case float() if not math.isfinite(data):
            return None
        case dict():
            return {key: _finite(value) for key, value in data.items()}
        case list() | tuple():
            return [_finite(value) for value in data]
    return data


def _masked(text: str) -> str:
    from contextui.secrets import mask  # noqa: PLC0415  (heavy: its patterns, and seldom needed)

    return mask(text)


def _put_out(text: str, *, flush: bool) -> None:
    try:
        _write(output(), text, flush=flush)
    except BrokenPipeError:
        raise
    except OSError as error:
        closed = error.errno == errno.EBADF
        reason = "standard output is closed" if closed else error.strerror
        raise OutputError(error.errno, reason) from error


def _write(stream: TextIO, text: str, *, flush: bool) -> None:
    stream.write(text)
    if flush:
        stream.flush()

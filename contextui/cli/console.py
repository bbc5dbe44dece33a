"""Write text, tables and JSON to stdout, and messages to stderr."""

import errno
import math
import os
import re
import select
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from textwrap import indent
from typing import Any, TextIO

from contextui.text import for_terminal, one_line, width
from contextui.words import Text, t

# Units that are not split, with the spaces after them. Punctuation stays with the character
# before it, an opening bracket or quote with the one after it.
_WIDE = "[\u2e80-\u3007\u3021-\u9fff\uac00-\ud7af\uf900-\ufaff]"  # Chinese, Japanese, Korean
_WORD = rf"(?:(?!{_WIDE})[^\s（“《])+"
_PIECE = rf"[（“《]*(?:{_WIDE}|{_WORD})[，。；：、！？）”》…]*\s*|\s+|."


def cut_before(text: str, columns: int) -> str:
    """Truncate a text to so many columns, with "…" at the start."""
    whole = width(text)
    if whole <= columns:
        return text
    from rich.cells import split_text  # noqa: PLC0415  (short text does not need it)

    return "…" + split_text(text, whole - max(columns - 1, 0))[1].lstrip()


def wrapped(text: str, columns: int) -> list[str]:
    """Wrap a text at spaces and between wide characters.

    Longer units without either stay whole.

    Example:
        >>> wrapped("one two 三四", 9)
        ['one two', '三四']
    """
    lines, line = list[str](), ""
    for piece in re.findall(_PIECE, text):
        if line.strip() and width(line + piece.rstrip()) > columns:
            lines.append(line.rstrip())
            line = ""
        line += piece if line else piece.lstrip()
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


_ours: list[TextIO] = []  # the last one is used; empty while stdout is not redirected


def output() -> TextIO:
    """Return the stream for the command's own output."""
    return _ours[-1] if _ours else sys.stdout


@contextmanager
def reserved_stdout() -> Iterator[None]:
    """Reserve stdout for `output`: redirect what windows print to stderr."""
    standard = sys.stdout
    standard.flush()
    try:
        number, aside = standard.fileno(), sys.stderr.fileno()
    except (OSError, ValueError):  # not a file, but an object of this process
        with _stdout_to_stderr(standard):
            yield
        return
    real = os.dup(number)
    os.dup2(aside, number)  # for processes that windows start
    own = open(real, "w", encoding=standard.encoding, errors=standard.errors)  # noqa: SIM115
    try:
        with _stdout_to_stderr(own):
            yield
    finally:
        with suppress(OSError, ValueError):  # stderr may be missing, or a window closed it
            standard.flush()  # what a window wrote to this very object goes to stderr too
        os.dup2(real, number)
        discard_unwritable(own)  # errors were reported before, or the reader is gone
        own.close()


def redirect_stdout() -> None:
    """Redirect stdout to stderr for what windows print while the process exits."""
    with suppress(OSError, ValueError):  # one of them is not a file, or closed
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


@contextmanager
def _stdout_to_stderr(own: TextIO) -> Iterator[None]:
    standard, sys.stdout = sys.stdout, sys.stderr
    _ours.append(own)
    try:
        yield
    finally:
        _ours.remove(own)
        sys.stdout = standard


_LONGEST = 2_000  # characters of one message
# JSON escapes control characters below U+0020; these would act in a terminal or hide text.
_CONTROLS = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\uffff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


class OutputError(OSError):
    """The output cannot be written, for another reason than a broken pipe."""


def harden_streams() -> None:
    """Survive closed standard streams and characters that their encoding lacks."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # `contextui >&-`
            # Occupy its file descriptor, or the next opened file gets it. It is read-only: writing
            # fails, as with any broken output.
            closed = os.open(os.devnull, os.O_RDONLY)
            setattr(sys, name, open(closed, "r" if name == "stdin" else "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # tests replace the streams
        if reconfigure is not None:
            with suppress(OSError):  # pending output cannot be written; `finish` reports it
                reconfigure(errors="backslashreplace")


def discard_unwritable(*streams: TextIO) -> None:
    """Discard pending output of closed or full streams: it would change the exit status."""
    for stream in streams or (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            stream.flush()  # or it would be written to wherever the stream leads next


def say(text: str = "", *, end: str = "\n", flush: bool = False) -> None:
    """Write text to the output."""
    _write_output(for_terminal(text) + end, flush=flush)


def say_json(data: Any, *, indent: int | None = 2) -> None:
    """Write data as JSON, and flush."""
    _write_output(as_json(data, indent=indent) + "\n", flush=True)


def say_json_list(
    before: Mapping[str, Any], items: tuple[str, Iterable[Any]], after: Mapping[str, Any]
) -> None:
    """Write a JSON object with one list, without holding the whole list in memory."""
    name, found = items
    _write_output("{\n" + "".join(f"{_member(*one)},\n" for one in before.items()), flush=False)
    _write_output(f"  {as_json(name)}: [", flush=False)
    separator = "\n"
    for item in found:
        _write_output(separator + indent(as_json(item, indent=2), "    "), flush=False)
        separator = ",\n"
    end = "]" if separator == "\n" else "\n  ]"
    _write_output(
        end + "".join(f",\n{_member(*one)}" for one in after.items()) + "\n}\n", flush=True
    )


def _member(name: str, value: Any) -> str:
    return f"  {as_json(name)}: " + indent(as_json(value, indent=2), "  ").removeprefix("  ")


def finish() -> None:
    """Flush the output; raise `OutputError` if it cannot be written."""
    _write_output("", flush=True)


def check_reader() -> None:
    """Raise `BrokenPipeError` if the reader of the output is gone, without writing to it."""
    try:
        poll = select.poll()
        poll.register(output().fileno(), 0)
        found = poll.poll(0)
    except (OSError, ValueError):  # not a file, but an object of this process
        return
    if any(events & (select.POLLERR | select.POLLHUP) for _, events in found):
        raise BrokenPipeError


def warn(*messages: Text) -> None:
    """Write each message as one line to stderr, translated and with secrets masked."""
    for message in messages:
        note(f"contextui: {t(message)}")


def note(line: str) -> None:
    """Write one line of progress to stderr."""
    with suppress(OSError):  # there is no other place to report it
        _write(sys.stderr, f"{one_line(_masked(line), _LONGEST)}\n", flush=True)


def write_raw(text: str) -> None:
    """Write text to stderr verbatim, control characters included, for a terminal."""
    with suppress(OSError):
        _write(sys.stderr, text, flush=True)


def print_traceback(error: BaseException) -> None:
    """With `CONTEXTUI_DEBUG`, write an error's traceback to stderr."""
    if os.environ.get("CONTEXTUI_DEBUG"):
        import traceback  # noqa: PLC0415  (only for errors)

        lines = "".join(traceback.format_exception(error))
        with suppress(OSError):
            _write(sys.stderr, for_terminal(_masked(lines)), flush=True)


def say_table(rows: Sequence[Sequence[str]]) -> None:
    """Write aligned columns; the last one is not padded."""
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell + " " * (room - width(cell)) for cell, room in zip(row, widths, strict=False)]
        say("  ".join([*cells, row[-1]]))


def terminal_columns() -> int | None:
    """Return the width of the terminal that shows the output; None if it goes elsewhere."""
    return shutil.get_terminal_size().columns if output().isatty() else None


def error_text(error: BaseException) -> str:
    """Return an error's message, or its type if it has none."""
    kind, text = type(error).__name__, str(error)
    return t("Unexpected error: {what}", what=f"{kind}: {text}" if text else f"{kind}.")


def as_json(data: Any, *, indent: int | None = None) -> str:
    """Serialize data as JSON with terminal control characters escaped."""
    from json import dumps  # noqa: PLC0415  (--help does not need it)

    try:
        text = dumps(data, ensure_ascii=False, indent=indent, default=str, allow_nan=False)
    except ValueError:  # JSON has no NaN and no infinity
        text = dumps(_finite(data), ensure_ascii=False, indent=indent, default=str)
    return _CONTROLS.sub(lambda match: dumps(match[0])[1:-1], text)


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


def _write_output(text: str, *, flush: bool) -> None:
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

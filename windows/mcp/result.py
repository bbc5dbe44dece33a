"""Results of MCP tools: what the model reads, the table that the person sees, and the files.

A result may be of any size and kind. The whole text is kept as a file of the window, of which pages
can be read; images and other data become files as well.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from contextui.plain_file import read_plain, write_private
from contextui.secrets import mask, mask_own
from contextui.text import byte_size, counted, for_model, one_line

SHOWN = 24_000  # maximum characters of a result that the model reads at once
KEPT_FILES = 40  # how many files of results are kept
_LARGEST_TEXT, _LARGEST_DATA = 10_000_000, 20_000_000  # of a file
_PREVIEW = 1_500  # characters that the state keeps
_ROWS, _COLUMNS, _CELL = 30, 8, 60  # of the table that the person sees
_MOST_BLOCKS = 200  # parts of a result
_NAME = re.compile(r"(?:result|file)-\d+(?:-\d+)?\.[a-z0-9]{1,5}")
_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/ogg": "ogg",
    "application/pdf": "pdf",
    "application/json": "json",
    "text/plain": "txt",
}


class Table(BaseModel):
    """Rows that a result consists of; the first ones of them."""

    columns: list[str] = []
    rows: list[list[str]] = []
    total: int = 0


class Result(BaseModel):
    """A result that the window keeps."""

    number: int = 0
    tool: str = ""
    params: str = ""
    ok: bool = True
    seconds: float = 0.0
    at: float = 0.0
    lines: int = 0
    preview: str = ""
    table: Table | None = None
    files: list[str] = []
    cut: bool = False

    @property
    def summary(self) -> str:
        if not self.ok:
            return "error"
        if self.table is not None:
            return counted(self.table.total, "row")
        return counted(self.lines, "line") if self.lines > 1 else one_line(self.preview, 60)


def take(outcome: Any, result: Result, folder: Path | None) -> str:
    """Turn what a tool returned into text and files; note the rest in the result."""
    texts = [_block_text(one, result, folder) for one in outcome.content[:_MOST_BLOCKS]]
    if (left := len(outcome.content) - _MOST_BLOCKS) > 0:
        texts.append(f"({left} more parts were left out)")
    plain = "\n".join(text for text in texts if text)
    structured = outcome.structured_content
    rows = rows_of(structured)
    if rows is None and structured is None and len(outcome.content) == 1:
        rows = rows_of(_parsed(plain))
    if rows and not outcome.is_error:
        result.table = _table(rows)
        listed = _as_lines(rows)
        only_same = len(outcome.content) <= max(1, len(rows)) and not result.files
        plain = listed if only_same else f"{plain}\n{listed}"
    elif structured is not None and not plain.strip():
        plain = _json(structured)
    result.ok = not outcome.is_error
    return for_model(mask_own(plain) if result.ok else mask(plain)).rstrip()


def take_resource(outcome: Any, result: Result, folder: Path | None) -> str:
    """Turn the contents of a resource into text and files."""
    texts = [_contents(content, result, folder) for content in outcome.contents[:_MOST_BLOCKS]]
    return for_model(mask_own("\n".join(texts)))


def prompt_text(outcome: Any) -> str:
    """Return the text of a prompt; what is said by the assistant is marked."""
    parts = []
    for message in outcome.messages[:_MOST_BLOCKS]:
        text = _block_text(message.content, Result(), None)
        parts.append(f"Assistant: {text}" if message.role == "assistant" else text)
    return for_model(mask_own("\n\n".join(parts)))[:_LARGEST_TEXT]


# --- parts of a result -------------------------------------------------------------------------


def _keep_data(data: str, mime: str, result: Result, folder: Path | None) -> str:
    """Keep data that is given in base64; return a line that names the file."""
    kind = one_line(mime, 60) or "data"
    if len(data) > _LARGEST_DATA * 4 // 3:
        return f"[{kind}, too large to be kept]"
    try:
        content = base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        return f"[{kind}, not valid base64]"
    if folder is None:
        return f"[{kind}, {byte_size(len(content))}]"
    ending = _ENDINGS.get(mime.partition(";")[0].strip().lower(), "bin")
    name = f"file-{result.number}-{len(result.files) + 1}.{ending}"
    try:
        write_private(folder / name, content)
    except OSError:
        return f"[{kind}, {byte_size(len(content))}, could not be kept]"
    result.files.append(name)
    return f"[{kind}, {byte_size(len(content))}, kept as {folder / name}]"


def _block_text(block: Any, result: Result, folder: Path | None) -> str:
    match block.type:
        case "text":
            return str(block.text)[:_LARGEST_TEXT]
        case "image" | "audio":
            return _keep_data(block.data, block.mime_type, result, folder)
        case "resource":
            return _contents(block.resource, result, folder)
        case "resource_link":
            return f"[{one_line(block.title or block.name, 200)}: {one_line(block.uri, 2_000)}]"
    return f"[{one_line(str(block.type), 40)}]"


def _contents(one: Any, result: Result, folder: Path | None) -> str:
    text = getattr(one, "text", None)
    if isinstance(text, str):
        return text[:_LARGEST_TEXT]
    return _keep_data(one.blob, one.mime_type or "", result, folder)


def _parsed(text: str) -> object:
    if len(text) > _LARGEST_TEXT or text.lstrip()[:1] not in ("[", "{"):
        return None
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _json(value: object) -> str:
    with suppress(TypeError, ValueError, RecursionError):
        return json.dumps(value, ensure_ascii=False, default=str)
    return ""


def words_of(arguments: Mapping[str, Any]) -> str:
    """Return the arguments of a call in a few words, such as ``state=open label=bug``."""
    given = ((name, one if isinstance(one, str) else _json(one)) for name, one in arguments.items())
    return one_line(" ".join(f"{name}={one_line(shown, 40)}" for name, shown in given), 80)


def rows_of(value: object) -> list[Mapping[str, Any]] | None:
    """Return the rows of a value that is a table: a list of objects with plain values.

    An object with a single list in it, such as ``{"items": […]}``, counts as that list.
    """
    if isinstance(value, Mapping):
        lists = [one for one in value.values() if isinstance(one, list)]
        others = [one for one in value.values() if not isinstance(one, list)]
        if len(lists) != 1 or any(isinstance(one, Mapping) for one in others) or len(others) > 3:
            return None
        value = lists[0]
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(one, Mapping) and one for one in value):
        return None
    cells = (cell for one in value for cell in one.values())
    if not all(_is_plain(cell) for cell in cells):
        return None
    return value


def _is_plain(cell: object) -> bool:
    if isinstance(cell, list):
        return len(cell) <= 20 and all(isinstance(one, str | int | float | bool) for one in cell)
    return cell is None or isinstance(cell, str | int | float | bool)


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(str(name) for row in rows for name in row))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = _columns(rows)[:_COLUMNS]
    shown = [[one_line(_cell(row.get(name)), _CELL) for name in columns] for row in rows[:_ROWS]]
    return Table(columns=[one_line(name, _CELL) for name in columns], rows=shown, total=len(rows))


def _as_lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as the model reads them: the names once, then values separated by tabs."""
    columns = _columns(rows)
    lines = ["\t".join(one_line(name, 200) for name in columns)]
    for row in rows:
        cells = [_cell(row.get(name)) for name in columns]
        lines.append("\t".join(re.sub(r"[\t\r\n]+", " ⏎ ", cell) for cell in cells))
    return "\n".join(lines)


# --- keeping and paging ------------------------------------------------------------------------


def keep(text: str, result: Result, folder: Path) -> str:
    """Keep the text of a result; return what the model reads of it."""
    result.lines, result.preview = len(text.splitlines()), text[:_PREVIEW]
    if len(text) <= SHOWN:
        return text
    result.cut = True
    data = text[:_LARGEST_TEXT].encode("utf-8", "replace")
    with suppress(OSError):
        write_private(folder / f"result-{result.number}.txt", data)
    head = text[:SHOWN].rpartition("\n")[0] or text[:SHOWN]
    count = head.count("\n") + 1
    more = f"{len(text) - len(head):,} more characters"
    return f"{head}\n({more}: page(result={result.number}, start={count + 1}) reads on)"


def page(folder: Path, number: int, start: int, count: int) -> str | None:
    """Return lines of a result that was kept whole; None if it was not."""
    try:
        text = read_plain(folder / f"result-{number}.txt", _LARGEST_TEXT * 4).decode("utf-8")
    except (OSError, ValueError):
        return None
    lines = text.splitlines()
    shown = "\n".join(line[:4_000] for line in lines[start - 1 : start - 1 + count])[:SHOWN]
    return f"{shown}\n({start} to {min(start + count - 1, len(lines))} of {len(lines)} lines)"


def tidy(folder: Path, used: Callable[[str], bool]) -> None:
    """Remove files of results that are not used any more, the oldest first."""
    with suppress(OSError):
        files = [one for one in folder.iterdir() if _NAME.fullmatch(one.name)]
        files.sort(key=lambda one: one.stat().st_mtime)
        for file in files[: max(0, len(files) - KEPT_FILES)]:
            if not used(file.name):
                file.unlink(missing_ok=True)

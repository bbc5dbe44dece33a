r"""Mentions: files that a message names with an @, and their content before the message.

A mention is `@path`, or `@"path with spaces"`, in which a backslash escapes a quote or a backslash.
`:all` after it asks for the whole of a file that would only be sent as an outline.

    >>> [one.path for one in mentions_in('Compare @a.py and @"my notes.md".')]
    ['a.py', 'my notes.md']
"""

import asyncio
import errno
import os
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from contextui.agent import image
from contextui.agent.approval import ApprovalGate, NotAllowedError
from contextui.agent.prompt import PreambleText
from contextui.errors import ContextUIError
from contextui.files.errors import BinaryFileError, FileError, MissingFileError, SecretFileError
from contextui.files.listing import list_folder
from contextui.files.outline import numbered, outline, shallowest
from contextui.files.workspace import FileInfo, Workspace
from contextui.names import BESIDE
from contextui.plain_file import read_plain
from contextui.text import for_terminal, one_line, quote
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Lod
from contextui.windowing.window import Window
from contextui.words import Words, msg

MENTION = BESIDE + "mention"
"""Prefix of the id of an item with the content of a mentioned file."""
OUTLINED = 8_000
"""Tokens from which a file is sent as an outline."""

_MOST = 20  # mentions of a message
_TYPED = 400  # characters before the cursor that may be a mention
_SCANNED = 200_000  # characters of a message that may hold mentions
_LARGEST = 120_000  # tokens of a file that is sent whole
_BYTES = 4  # bytes of a token, about
_FIRST, _LAST = 60, 20  # lines of a file without an outline
_ENTRIES = 400  # of an outline
_NAMES = 200  # of a folder
_WHOLE = ":all"
_OUTSIDE = r"\s\"'，。；！？、（）"  # ends a path without quotes
_PATTERN = re.compile(
    rf"""(?<![\w@/.])@(?:"((?:[^"\\\n]|\\[^\n]){{1,2000}})"|([^{_OUTSIDE}]{{1,500}}))({_WHOLE})?"""
)
_PLAIN = re.compile(rf"[^{_OUTSIDE}\\@][^{_OUTSIDE}\\]{{0,499}}")
_TRAILING = ".,;:!?)]}"  # punctuation that ends a sentence is not part of a name
_ESCAPED = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4}|.)", re.DOTALL)


class Mention(NamedTuple):
    """A path after ``@``, and where it is in the text."""

    start: int
    end: int
    path: str
    is_quoted: bool
    is_whole: bool


class MentionError(ContextUIError):
    """A mentioned file cannot be sent."""


def mentions_in(text: str) -> list[Mention]:
    """Return what a text may mention, in order; whether there are such files is not checked."""
    found: list[Mention] = []
    for one in _PATTERN.finditer(text, 0, min(len(text), _SCANNED)):
        quoted, plain = one[1], one[2]
        if quoted is not None:
            path, end, is_whole = _unescaped(quoted), one.end(), one[3] is not None
        else:
            # Punctuation at the end belongs to the sentence; a name seldom ends with it.
            kept = plain.rstrip(_TRAILING) or plain
            is_whole = kept.endswith(_WHOLE) and kept != _WHOLE
            end = one.start() + 1 + len(kept)
            path = kept.removesuffix(_WHOLE) if is_whole else kept
        found.append(Mention(one.start(), end, path, quoted is not None, is_whole))
        if len(found) == _MOST:
            break
    return found


def typed_mention(text: str) -> tuple[int, str] | None:
    r"""Return the mention that is being typed at the end of a text: its length and its path."""
    ended = text[-_TYPED:] + 'x"'  # a letter and a quote end whatever was begun
    found = [one for one in _PATTERN.finditer(ended) if one.end() >= len(ended) - 1]
    if not found:
        return None
    begun = (found[-1][1] or found[-1][2]).removesuffix("x")
    return len(ended) - 2 - found[-1].start(), begun


def mention_of(path: str, *, is_whole: bool = False) -> str:
    r"""Return the text that mentions a path."""
    is_plain = (
        _PLAIN.fullmatch(path) is not None
        and path.isprintable()
        and path[-1] not in _TRAILING
        and not path.endswith(_WHOLE)
    )
    return f"@{path if is_plain else _quoted(path)}{_WHOLE if is_whole else ''}"


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(map(_inert, escaped)) + '"'


def _inert(char: str) -> str:
    """Escape a character that would act on a terminal or hide there."""
    if for_terminal(char, lines=False) == char:
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code: str = match[1]
        if len(code) > 1:
            return chr(int(code[1:], 16))
        return "\n" if code == "n" else code

    return _ESCAPED.sub(plain, text)


def is_surely_path(mention: Mention) -> bool:
    """Whether a mention can be nothing but a path: `@alice` may be a person, `@../x` is a path."""
    return mention.is_quoted or mention.path.startswith(("/", "./", "../", "~/"))


def estimate(size: int) -> int:
    """Return about how many tokens a text file of a size in bytes has."""
    return size // _BYTES


class Attachments:
    """Reads the files that a message mentions, as items that precede it."""

    def __init__(
        self,
        windows: WindowManager,
        gate: ApprovalGate,
        count: Callable[[str], int],
        sees: Callable[[], bool] = lambda: False,
    ) -> None:
        self._windows, self._gate, self._count, self._sees = windows, gate, count, sees
        self._words = Words(windows.lang)

    async def read(self, text: str, chosen: Collection[str] = ()) -> tuple[PreambleText, ...]:
        """Return an item for each file that a message mentions.

        Raises:
            MentionError: A file cannot be read, or the person refused; nothing should be sent.
        """
        workspace = self._windows.workspace
        mentions = mentions_in(text)
        if workspace is None or not mentions:
            return ()
        found: dict[tuple[str, bool], FileInfo] = {}
        images: dict[str, PreambleText] = {}
        for mention in mentions:
            is_chosen = text[mention.start : mention.end] in chosen
            if _is_image_elsewhere(workspace, mention):
                images[mention.path] = await asyncio.to_thread(self._image_elsewhere, mention.path)
            elif info := await asyncio.to_thread(self._find, workspace, mention, is_chosen):
                found[info.path, mention.is_whole] = info
        inside = [
            await self._attach(workspace, info, is_whole) for (_, is_whole), info in found.items()
        ]
        return (*inside, *images.values())

    def _find(self, workspace: Workspace, mention: Mention, is_chosen: bool) -> FileInfo | None:
        try:
            return workspace.stat(mention.path)
        except FileError as error:
            if is_chosen or is_surely_path(mention):
                raise self._failed(mention.path, error) from error
        return None

    async def _attach(self, workspace: Workspace, info: FileInfo, is_whole: bool) -> PreambleText:
        path = info.path
        if info.kind == "folder":
            return PreambleText(MENTION, await asyncio.to_thread(self._folder, workspace, path))
        if info.kind == "other":
            raise _unsent(msg("{path} is not a file. Nothing was sent."), path)
        if (window := self._window_of(workspace, path)) is not None:
            return PreambleText(MENTION, self._shown_in(window, path))
        allowed = frozenset[str]()
        while True:
            readable = self._windows.files_for_model(allowed)
            assert readable is not None
            try:
                return await asyncio.to_thread(self._file, readable, info, is_whole)
            except SecretFileError as error:
                if error.real in allowed:
                    raise self._failed(path, error) from error
                await self._ask(workspace, error)
                allowed |= {error.real}
            except FileError as error:
                raise self._failed(path, error) from error

    async def _ask(self, workspace: Workspace, error: SecretFileError) -> None:
        """Ask the person before the content of a file that may hold secrets goes to the model.

        The question names the file itself, and not a link to it that may look harmless.
        """
        given, lang = {"path": error.path}, self._windows.lang
        try:
            await self._gate.allow_read(workspace, error.real, "mention", given, lang)
        except NotAllowedError as refusal:
            if self._gate.ask is None:
                raise  # it names the flag that allows it
            text = msg("{path} may hold secrets and was not sent. Your message is in the prompt.")
            raise _unsent(text, error.path) from refusal

    def _image_elsewhere(self, path: str) -> PreambleText:
        """Attach an image outside of the workspace, such as a screenshot: it must be one."""
        try:
            data = read_plain(Path(path), image.LARGEST)
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise _unsent(msg("There is no file {path}. Nothing was sent."), path) from error
            data = bytes(image.LARGEST + 1)
        return self._image(path, data)

    def _image(self, path: str, data: bytes) -> PreambleText:
        kind, shown, folder = image.check(path, data), one_line(path, 500), self._windows.data
        if not self._sees():
            text = msg("The person attached the image {path}, which you cannot see.")
            return PreambleText(MENTION, self._words(text, path=shown))
        text = self._words("The person attached the image {path}:", path=shown)
        try:
            if folder is None:
                raise OSError(None, "there is no folder")
            block = image.keep(data, kind, folder)
        except OSError as error:
            text = msg("The image {path} cannot be kept with the session. Nothing was sent.")
            raise _unsent(text, path) from error
        return PreambleText(MENTION, text, ({"type": "text", "text": text}, block))

    def _file(self, workspace: Workspace, info: FileInfo, is_whole: bool) -> PreambleText:
        words = self._words
        if image.is_image_name(info.path):
            limit = image.LARGEST
            data = bytes(limit + 1) if info.size > limit else workspace.read_bytes(info.path)
            return self._image(info.path, data)
        too_large = msg("{path} is too large to send: about {tokens} tokens. Nothing was sent.")
        if estimate(info.size) > 4 * _LARGEST:
            raise _unsent(too_large, info.path, tokens=f"{estimate(info.size):,}")
        file = workspace.open_text(info.path).file
        lines = file.text.replace("\r\n", "\n").removesuffix("\n").split("\n")
        about = {"path": one_line(info.path, 500), "count": len(lines)}
        whole = _numbered(lines, 1)
        tokens = estimate(info.size) if info.size > _BYTES * _LARGEST else self._count(whole)
        if tokens <= OUTLINED or (is_whole and tokens <= _LARGEST):
            title = words("The person attached {path} ({count} lines):", **about)
            return PreambleText(MENTION, f"{title}\n{whole}")
        if is_whole:
            raise _unsent(too_large, info.path, tokens=f"{estimate(info.size):,}")
        title = words(
            "The person attached the outline of {path} ({count} lines; read_file reads them):",
            **about,
        )
        entries = shallowest(outline(info.path, file.text), _ENTRIES)
        if entries:
            return PreambleText(MENTION, "\n".join([title, *numbered(entries)]))
        last = max(len(lines) - _LAST, _FIRST)
        parts = [_numbered([line[:500] for line in lines[:_FIRST]], 1), "…"]
        parts.append(_numbered([line[:500] for line in lines[last:]], last + 1))
        return PreambleText(MENTION, "\n".join([title, *parts]))

    def _folder(self, workspace: Workspace, path: str) -> str:
        try:
            listing = list_folder(workspace, path)
        except FileError as error:
            raise self._failed(path, error) from error
        names = [
            one_line(entry.name, 200) + ("/" if entry.kind == "folder" else "")
            for entry in listing.entries[:_NAMES]
        ]
        if (more := len(listing.entries) - len(names)) > 0:
            names.append(self._words("… and {count} more", count=more))
        title = self._words("The person attached the folder {path}:", path=one_line(path, 500))
        return "\n".join([title, *names])

    def _window_of(self, workspace: Workspace, path: str) -> Window | None:
        """Return the window that shows a file, such as an editor.

        Not of a file that may hold secrets: what the window shows of it is withheld from the model.
        """
        if workspace.is_secret(path):
            return None
        return self._windows.showing(path)

    def _shown_in(self, window: Window, path: str) -> str:
        """Refer to the window, which the model sees; at its full level from now on."""
        if window.lod is not Lod.FULL:
            self._windows.set_lod(window.id, Lod.FULL)
        return self._words(
            "The person refers to {path}, which is open as {window}.",
            path=one_line(path, 500),
            window=window.id,
        )

    def _failed(self, path: str, error: FileError) -> MentionError:
        if isinstance(error, MissingFileError):
            text = msg("There is no file {path}. Nothing was sent.")
        elif isinstance(error, BinaryFileError):
            text = msg("{path} is not text. Nothing was sent.")
        else:
            reason = error.text(self._windows.lang)
            return _unsent(msg("{reason} Nothing was sent."), path, reason=reason)
        return _unsent(text, path)


def _unsent(text: str, path: str, **values: str) -> MentionError:
    return MentionError(text, path=quote(path, 200), **values)


def _is_image_elsewhere(workspace: Workspace, mention: Mention) -> bool:
    """Whether a mention is the whole path of an image outside of the workspace."""
    path = mention.path
    if not path.startswith("/") or not image.is_image_name(path):
        return False
    return not os.path.realpath(path).startswith(f"{workspace.root}/")


def _numbered(lines: Iterable[str], start: int) -> str:
    """Number lines as `read_file` does, so that no line of a file looks like one of ours."""
    return "\n".join(f"{number} {one}" for number, one in enumerate(lines, start))

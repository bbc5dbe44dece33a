"""How a file's bytes are text: found out from them, and giving them back as they were."""

import codecs
import re
import unicodedata
from dataclasses import dataclass

from contextui.files.errors import (
    BinaryFileError,
    UnencodableTextError,
    UnreadableFileError,
    shown,
)

LINE_END = re.compile(r"\r\n|\n|\r")
"""What ends a line in a file. U+2028, U+0085, form feed and the like do not."""

_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\v\f\r\x1b\b\a"))
_UNDEFINED_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_MARKS = (  # the mark of UTF-32 LE begins with that of UTF-16 LE, so it comes first
    (codecs.BOM_UTF32_LE, "utf-32-le", 4),
    (codecs.BOM_UTF32_BE, "utf-32-be", 4),
    (codecs.BOM_UTF8, "utf-8", 1),
    (codecs.BOM_UTF16_LE, "utf-16-le", 2),
    (codecs.BOM_UTF16_BE, "utf-16-be", 2),
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """A way to read bytes as text.

    Attributes:
        codec: Python's name of it.
        bom: The byte order mark at the file's start; it belongs to the file, not to its text.
        unit: The bytes of the smallest unit.
    """

    codec: str = "utf-8"
    bom: bytes = b""
    unit: int = 1

    def __str__(self) -> str:
        return f"{self.codec} with BOM" if self.bom else self.codec

    def decode(self, data: bytes, path: str = "") -> str:
        """The text of a whole file; damaged text is an error, never a replacement."""
        try:
            text = data[len(self.bom) :].decode(self.codec)
        except (UnicodeDecodeError, LookupError) as error:
            raise UnreadableFileError(
                path,
                f"{shown(path)} is no valid {self}: {error}.",
                f"{shown(path)} 不是有效的 {self}：{error}。",
            ) from error
        if "\0" in text:
            en = f"{shown(path)} is no text: it contains NUL characters."
            raise BinaryFileError(path, en, f"{shown(path)} 不是文本：含有 NUL 字符。")
        return text

    def encode(self, text: str, path: str = "") -> bytes:
        """The bytes of a whole file."""
        self.check(text, path)
        return self.bom + text.encode(self.codec)

    def check(self, text: str, path: str = "") -> None:
        """Raise an error that names the first character there are no bytes for."""
        at = text.find("\0")
        if at < 0:
            try:
                text.encode(self.codec)
                return
            except UnicodeEncodeError as error:
                at = error.start
        char = text[at]
        name = unicodedata.name(char, "no character of its own")
        line = len(LINE_END.findall(text, 0, at)) + 1
        raise UnencodableTextError(
            path,
            f"{shown(path)} is kept as {self}, which cannot hold U+{ord(char):04X} ({name}) "
            f"in line {line} of the text. Nothing was changed.",
            f"{shown(path)} 的编码是 {self}，不能容纳第 {line} 行的 U+{ord(char):04X}（{name}）。"
            "没有任何改动。",
        )


UTF8 = Encoding()


def detect(data: bytes, path: str = "", *, whole: bool = True) -> Encoding:
    """Find out how these bytes are text, or say why they are none.

    Marked Unicode and UTF-8 are known by their form. Whatever else looks like text is read as
    one of the two 8-bit encodings that give the same bytes back whatever they are.

    Args:
        data: A file's bytes, or the first of them.
        path: The file, for the error.
        whole: Whether this is all of it; otherwise a character may be cut off at the end.
    """
    for mark, codec, unit in _MARKS:
        if data.startswith(mark):
            return Encoding(codec, mark, unit)
    if b"\0" in data:
        en = f"{shown(path)} is no text: it contains NUL bytes."
        raise BinaryFileError(path, en, f"{shown(path)} 不是文本：含有 NUL 字节。")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
        return UTF8
    except UnicodeDecodeError:
        pass
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls * 50 > len(data):
        raise BinaryFileError(
            path,
            f"{shown(path)} is no text: {controls:,} of {len(data):,} bytes are controls.",
            f"{shown(path)} 不是文本：{len(data):,} 字节中有 {controls:,} 个控制字符。",
        )
    return Encoding("latin-1" if _UNDEFINED_IN_CP1252.search(data) else "cp1252")


def named(codec: str, data: bytes, path: str = "") -> Encoding:
    """An encoding that the user asked for, if it gives these bytes back as they are."""
    for mark, of_mark, unit in _MARKS:
        if data.startswith(mark) and codecs.lookup(of_mark) == _lookup(codec, path):
            return Encoding(of_mark, mark, unit)
    encoding = Encoding(_lookup(codec, path).name)
    if encoding.decode(data, path).encode(encoding.codec) != data:
        raise UnreadableFileError(
            path,
            f"{shown(path)} read as {codec} could not be saved again as it is.",
            f"{shown(path)} 按 {codec} 读取后无法原样保存。",
        )
    return encoding


def _lookup(codec: str, path: str) -> codecs.CodecInfo:
    try:
        found = codecs.lookup(codec)
        "".encode(codec)  # "hex" and "rot13" are codecs too, of other things
    except (LookupError, ValueError, TypeError) as error:
        en, zh = f"There is no encoding {shown(codec)}.", f"没有编码 {shown(codec)}。"
        raise UnreadableFileError(path, en, zh) from error
    return found

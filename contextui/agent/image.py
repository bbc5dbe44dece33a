"""Images that a person attaches: recognized by content, kept with the session, sent as blocks.

A block in the context refers to a kept copy by its hash. The file is read when a request is sent,
and only if it has this hash and is an image: a changed log cannot make it send another file.
"""

import base64
import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path

from contextui.errors import ContextUIError
from contextui.model import Block
from contextui.plain_file import make_private, read_plain, write_private
from contextui.text import quote
from contextui.words import msg

LARGEST = 3_700_000
"""Bytes of an image that can be sent; providers take about 5 MB in base64."""

GONE = msg("(The image is no longer there.)")
_SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_FOLDER = "images"
_HASH = re.compile(r"[0-9a-f]{64}")


class ImageError(ContextUIError):
    """An image cannot be sent."""


def is_image_name(path: str) -> bool:
    """Whether a file should be an image, by its name."""
    return path.lower().endswith(_ENDINGS)


def media_type(data: bytes) -> str | None:
    """Return the type of an image by its content, or None if it is none that can be sent."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def check(path: str, data: bytes) -> str:
    """Return the type of an image."""
    if len(data) > LARGEST:
        text = msg("{path} is too large: images up to {size} can be sent. Nothing was sent.")
    elif (kind := media_type(data)) is not None:
        return kind
    else:
        text = msg(
            "{path} is not an image that can be sent: PNG, JPEG, GIF or WebP. Nothing was sent."
        )
    raise ImageError(text, path=quote(path, 200), size=f"{LARGEST / 1e6:g} MB")


def keep(data: bytes, kind: str, folder: Path) -> Block:
    """Keep a copy of an image in a session's folder, and return the block that refers to it."""
    digest = hashlib.sha256(data).hexdigest()
    path = folder / _FOLDER / f"{digest}{_SUFFIXES[kind]}"
    make_private(path.parent)
    if not path.is_file():
        write_private(path, data)
    source = {"type": "file", "path": os.path.abspath(path), "sha256": digest, "media_type": kind}
    return {"type": "image", "source": source}


def sent_block(block: Block) -> Block:
    """Return a block as providers take it: an image with its content, any other as it is."""
    source = block.get("source")
    if block.get("type") != "image" or not isinstance(source, dict) or source.get("type") != "file":
        return block
    found = _content(str(source.get("path", "")), str(source.get("sha256", "")))
    if found is None:
        return {"type": "text", "text": GONE}
    kind, data = found
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


@lru_cache(maxsize=8)
def _content(path: str, digest: str) -> tuple[str, str] | None:
    """Read a kept image; None if it is gone, or anything but that image."""
    file = Path(path)
    if not _HASH.fullmatch(digest) or file.stem != digest or file.parent.name != _FOLDER:
        return None
    try:
        data = read_plain(file, LARGEST)
    except (OSError, ValueError):
        return None
    kind = media_type(data)
    if kind is None or hashlib.sha256(data).hexdigest() != digest:
        return None
    return kind, base64.b64encode(data).decode()

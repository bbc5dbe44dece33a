"""Images: recognized by content, kept with the session, sent to models that see."""

import asyncio
import base64
import hashlib
import os
import zlib
from pathlib import Path
from typing import Any

import pytest

from contextui.agent import image
from contextui.agent.approval import ApprovalGate
from contextui.agent.cache_marks import payload
from contextui.agent.image import ImageError, sent_block
from contextui.agent.mention import Attachments, MentionError
from contextui.agent.models.chat import _part
from contextui.agent.prompt import Preamble
from contextui.model import ModelRequest
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionStore


def png(size: int = 0) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        )

    head = b"\0\0\0\1\0\0\0\1\x08\0\0\0\0"
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body + bytes(size)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def session_in(tmp_path: Path, session_id: str | None = None) -> Session:
    (tmp_path / "work").mkdir(exist_ok=True)
    store = SessionStore(tmp_path / "home", SessionOptions())
    return store.open(session_id) if session_id else store.create(tmp_path / "work")


def attach(session: Session, text: str, *, sees: bool = True) -> Any:
    attachments = Attachments(
        session.windows, ApprovalGate("ask"), session.context.counter.count, lambda: sees
    )
    return asyncio.run(attachments.read(text))


def test_what_is_an_image() -> None:
    assert image.media_type(png()) == "image/png"
    assert image.media_type(b"\xff\xd8\xff\xe0rest") == "image/jpeg"
    assert image.media_type(b"GIF89a..") == "image/gif"
    assert image.media_type(b"RIFF\0\0\0\0WEBPVP8 ") == "image/webp"
    assert image.media_type(b"RIFF\0\0\0\0WAVE") is None
    assert image.media_type(b"-----BEGIN PRIVATE KEY-----") is None
    assert image.media_type(b"") is None


def test_an_image_is_kept_sent_and_restored(tmp_path: Path) -> None:
    with session_in(tmp_path) as session:
        (tmp_path / "work" / "shot.png").write_bytes(png())
        (found,) = attach(session, "What is on @shot.png ?")
        assert found.text == "The person attached the image shot.png:"
        item = Preamble(session.context, session.windows).add(found)
        assert 1_600 <= session.context.item_tokens(item) < 1_700
        assert base64.b64encode(png()) not in session.path.read_bytes()  # the log refers to it
        (kept,) = (session.path.with_suffix("") / "images").iterdir()
        assert os.stat(kept).st_mode & 0o777 == 0o600
        item_id, session_id = item.id, session.id
    (tmp_path / "work" / "shot.png").unlink()  # the copy remains
    with session_in(tmp_path, session_id) as again:
        item = again.context.get(item_id)
        messages = [one for one in again.context.compose().messages if one.role == "user"]
        (written,) = payload(ModelRequest("", tuple(messages)), "m").written
        text, shown = written["content"]
        assert text == {"type": "text", "text": "The person attached the image shot.png:"}
        assert shown["source"]["media_type"] == "image/png"
        assert base64.b64decode(shown["source"]["data"]) == png()


def test_a_model_that_does_not_see_gets_a_line(tmp_path: Path) -> None:
    with session_in(tmp_path) as session:
        (tmp_path / "work" / "shot.png").write_bytes(png())
        (found,) = attach(session, "@shot.png", sees=False)
        assert found.blocks == ()
        assert found.text == "The person attached the image shot.png, which you cannot see."
        (seen,) = attach(session, "@shot.png")
        (line,) = _part(seen.blocks[1], images=False)  # after a switch to such a model
        assert line == {"type": "text", "text": "(An image, which this model does not see.)"}
        (part,) = _part(seen.blocks[1], images=True)
        assert part["image_url"]["url"] == f"data:image/png;base64,{b64(png())}"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"not an image", "is not an image"), (png(4_000_000), "images up to 3.7 MB")],
)
def test_what_cannot_be_sent_is_said(tmp_path: Path, content: bytes, reason: str) -> None:
    outside = tmp_path / "outside.png"
    outside.write_bytes(content)
    with session_in(tmp_path) as session:
        (tmp_path / "work" / "shot.png").write_bytes(content)
        for text in ("@shot.png", f"@{outside}"):
            with pytest.raises(ImageError, match=reason):
                attach(session, text)
        with pytest.raises(MentionError, match="There is no file"):
            attach(session, "@/no/such/shot.png")


def test_an_image_from_elsewhere_must_be_one(tmp_path: Path) -> None:
    """A screenshot may lie anywhere; a key that is named like one is not sent."""
    (tmp_path / "shot.png").write_bytes(png())
    (tmp_path / "id_rsa").write_text("-----BEGIN PRIVATE KEY-----")
    os.symlink(tmp_path / "id_rsa", tmp_path / "key.png")
    with session_in(tmp_path) as session:
        (found,) = attach(session, f"@{tmp_path}/shot.png")
        assert len(found.blocks) == 2
        with pytest.raises(ImageError, match="is not an image"):
            attach(session, f"@{tmp_path}/key.png")
        with pytest.raises(MentionError, match="workspace"):
            attach(session, f"@{tmp_path}/id_rsa")


def test_a_changed_log_sends_no_other_file(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    secret = tmp_path / "images" / "secret.png"
    secret.write_bytes(png(7))
    digest = hashlib.sha256(png(7)).hexdigest()
    key = folder / f"{'a' * 64}.png"
    key.write_bytes(png(8))
    text = folder / f"{hashlib.sha256(b'text').hexdigest()}.png"
    text.write_bytes(b"text")
    for path, claimed in (
        (secret, digest),  # not a kept copy
        (key, "a" * 64),  # of another content
        (text, text.stem),  # no image
        (tmp_path / "gone.png", digest),
        (Path("/dev/zero"), digest),
    ):
        source = {"type": "file", "path": str(path), "sha256": claimed, "media_type": "image/png"}
        sent = sent_block({"type": "image", "source": source})
        assert sent == {"type": "text", "text": "(The image is no longer there.)"}

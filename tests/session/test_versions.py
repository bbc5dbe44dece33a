"""What a session keeps before it writes a file."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from contextui import SessionStore
from contextui.files.errors import ExistingFileError, FileChangedError
from contextui.files.workspace import Workspace
from contextui.plain_file import temporary_name
from contextui.session import versions
from contextui.session.fork import KEPT
from contextui.session.session import Session
from contextui.session.versions import KeptVersionError, digest_of
from tests.session.test_log import disk_full


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def session(tmp_path: Path, work: Path) -> Any:
    with SessionStore(tmp_path / "home").create(work) as made:
        yield made


def files(session: Session) -> Workspace:
    assert session.windows.workspace is not None
    return session.windows.workspace


def kept_in(session: Session) -> Path:
    return session.path.with_suffix("") / KEPT


def logged(session: Session, kind: str = "file_write") -> list[dict[str, Any]]:
    entries = map(json.loads, session.path.read_text("utf-8").splitlines())
    return [one["data"] for one in entries if one.get("subtype") == kind]


def write(session: Session, path: str, text: bytes) -> None:
    there = files(session).root / path
    expected = files(session).open_text(path).version if there.exists() else None
    files(session).save(path, text, expected=expected)


def test_what_was_there_is_kept_before_every_write(session: Session, work: Path) -> None:
    (work / "a.txt").write_bytes(b"one\n")
    os.chmod(work / "a.txt", 0o640)
    write(session, "a.txt", b"two\n")
    write(session, "a.txt", b"three\n")
    write(session, "new.txt", b"new\n")
    first, second, new = logged(session)
    assert first == {
        "path": "a.txt",
        "before": digest_of(b"one\n"),
        "after": digest_of(b"two\n"),
        "size": 4,
        "mode": 0o640,
        "kept": "kept",
    }
    assert (second["before"], second["after"]) == (digest_of(b"two\n"), digest_of(b"three\n"))
    assert (new["before"], new["kept"], new["mode"]) == (None, "absent", None)
    assert len(logged(session, "file_written")) == 3
    assert session.versions.read(digest_of(b"one\n")) == b"one\n"
    assert session.versions.read(digest_of(b"two\n")) == b"two\n"
    assert sorted(os.listdir(kept_in(session))) == sorted([first["before"], second["before"]])


def test_a_copy_is_there_once_and_private(session: Session, work: Path) -> None:
    old = os.umask(0)
    try:
        (work / "a.txt").write_bytes(b"one")
        (work / "b.txt").write_bytes(b"one")
        write(session, "a.txt", b"two")
        write(session, "b.txt", b"two")
    finally:
        os.umask(old)
    assert len(os.listdir(kept_in(session))) == 1
    for one in (kept_in(session).parent, kept_in(session), *kept_in(session).iterdir()):
        mode = stat.S_IMODE(one.stat().st_mode)
        assert mode == (0o700 if one.is_dir() else 0o600), one


def test_the_windows_of_the_model_keep_too(session: Session, work: Path) -> None:
    """A guarded view of the files is another object, for files that may hold secrets."""
    (work / ".env").write_bytes(b"KEY=old")
    view = files(session).for_model(allowed=[".env"])
    view.save(".env", b"KEY=new", expected=view.open_text(".env").version)
    (write_,) = logged(session)
    assert write_["path"] == ".env"
    assert session.versions.read(write_["before"]) == b"KEY=old"


def test_a_link_is_logged_as_the_file_that_it_leads_to(session: Session, work: Path) -> None:
    (work / "deep").mkdir()
    (work / "deep" / "a.txt").write_bytes(b"one")
    (work / "link").symlink_to("deep")
    write(session, "link/a.txt", b"two")
    assert logged(session)[0]["path"] == "deep/a.txt"


def test_a_save_that_is_refused_is_not_logged_as_written(session: Session, work: Path) -> None:
    (work / "a.txt").write_bytes(b"one")
    version = files(session).open_text("a.txt").version
    (work / "a.txt").write_bytes(b"someone else's")
    with pytest.raises(FileChangedError):
        files(session).save("a.txt", b"two", expected=version)
    with pytest.raises(ExistingFileError):
        files(session).save("a.txt", b"two", expected=None)
    assert logged(session, "file_written") == []


@pytest.mark.parametrize("fault", ["full", "link", "open"])
def test_a_write_without_a_copy_says_so(
    session: Session, work: Path, fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The save works; the log says that what was there is not kept."""
    (work / "a.txt").write_bytes(b"one")
    if fault == "full":
        monkeypatch.setattr(versions, "write_private", disk_full)
    elif fault == "link":  # a planted folder: what is kept must not go elsewhere
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        kept_in(session).parent.mkdir(parents=True, mode=0o700)
        kept_in(session).symlink_to(tmp_path / "elsewhere")
    else:  # one that others can write to
        kept_in(session).mkdir(parents=True)
        os.chmod(kept_in(session), 0o777)
    write(session, "a.txt", b"two")
    assert (work / "a.txt").read_bytes() == b"two"
    assert logged(session)[0]["kept"] == "failed"
    assert not (tmp_path / "elsewhere").exists() or not os.listdir(tmp_path / "elsewhere")


def test_a_tampered_copy_is_refused_and_kept_again(session: Session, work: Path) -> None:
    (work / "a.txt").write_bytes(b"one")
    write(session, "a.txt", b"two")
    copy = kept_in(session) / digest_of(b"one")
    copy.write_bytes(b"planted")
    with pytest.raises(KeptVersionError, match="changed by another program"):
        session.versions.read(digest_of(b"one"))
    (work / "b.txt").write_bytes(b"one")
    write(session, "b.txt", b"two")
    assert session.versions.read(digest_of(b"one")) == b"one"
    copy.unlink()
    copy.symlink_to(work / "b.txt")
    with pytest.raises(KeptVersionError):
        session.versions.read(digest_of(b"one"))


def test_what_a_crash_left_is_removed(session: Session, work: Path) -> None:
    kept_in(session).mkdir(parents=True, mode=0o700)
    os.chmod(kept_in(session).parent, 0o700)
    left = kept_in(session) / temporary_name()
    left.write_bytes(b"a part")
    (work / "a.txt").write_bytes(b"one")
    write(session, "a.txt", b"two")
    assert not left.exists()

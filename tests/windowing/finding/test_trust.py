"""Trust: no code of a project runs before a person has reviewed exactly these bytes."""

import errno
import hashlib
import json
import os
import stat
from pathlib import Path

import pytest

from contextui import plain_file
from contextui.windowing.finding import trust
from contextui.windowing.finding.trust import Review, TrustError, TrustStore
from tests.session.test_log import disk_full


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".contextui"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / ".contextui" / "windows"
    folder.mkdir(parents=True)
    (folder / "one.py").write_text("1\n", "utf-8")
    (folder / "two.py").write_text("2\n", "utf-8")
    return folder


def statuses(review: Review) -> dict[str, str]:
    return {file.name: file.status for file in review.files}


def test_what_was_never_seen_is_not_trusted(home: Path, folder: Path) -> None:
    store = TrustStore(home)
    review = store.review(folder)
    assert not store.review(folder).trusted
    assert statuses(review) == {"one.py": "new", "two.py": "new"}
    assert review.hashes["one.py"] == hashlib.sha256(b"1\n").hexdigest()
    assert review.contents == {"one.py": b"1\n", "two.py": b"2\n"}
    assert str(review.files[0]) == f"new one.py sha256 {review.hashes['one.py']}"
    assert not home.exists()


def test_trusted_it_stays_so_for_every_later_run(home: Path, folder: Path) -> None:
    assert TrustStore(home).trust(folder).trusted
    later = TrustStore(home)
    assert later.review(folder).trusted
    assert statuses(later.review(folder)) == {"one.py": "trusted", "two.py": "trusted"}
    assert later.problem is None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda folder: (folder / "one.py").write_text("1 \n"), {"one.py": "changed"}),
        (lambda folder: (folder / "three.py").write_text("3"), {"three.py": "new"}),
        (lambda folder: (folder / "_help.py").write_text("3"), {"_help.py": "new"}),
        (lambda folder: (folder / "test_one.py").write_text("3"), {"test_one.py": "new"}),
        (lambda folder: (folder / "Clock.py").write_text("3"), {"Clock.py": "new"}),
        (lambda folder: (folder / "2048.py").write_text("3"), {"2048.py": "new"}),
        (lambda folder: (folder / "one.py").unlink(), {"one.py": "removed"}),
        (lambda folder: (folder / "one.py").rename(folder / "x.py"), {"one.py": "removed"}),
    ],
)
def test_any_change_asks_again(home: Path, folder: Path, change: object, expected: object) -> None:
    store = TrustStore(home)
    store.trust(folder)
    assert callable(change)
    change(folder)
    assert not store.review(folder).trusted
    assert isinstance(expected, dict)
    assert expected.items() <= statuses(store.review(folder)).items()
    assert store.trust(folder).trusted


def test_files_further_down_count_too(home: Path, folder: Path) -> None:
    (folder / "lib" / "deep").mkdir(parents=True)
    (folder / "lib" / "deep" / "help.py").write_text("1", "utf-8")
    store = TrustStore(home)
    assert "lib/deep/help.py" in store.trust(folder).hashes
    (folder / "lib" / "deep" / "help.py").write_text("2", "utf-8")
    assert statuses(store.review(folder))["lib/deep/help.py"] == "changed"


def test_what_git_ignores_counts_all_the_same(home: Path, folder: Path) -> None:
    (folder / ".gitignore").write_text("*.py\n", "utf-8")
    assert set(TrustStore(home).review(folder).hashes) == {"one.py", "two.py"}


def test_what_is_no_code_does_not_count(home: Path, folder: Path) -> None:
    store = TrustStore(home)
    store.trust(folder)
    (folder / "notes.md").write_text("x", "utf-8")
    (folder / ".#one.py").symlink_to("somebody@host.123")  # an editor's lock
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "test_one.py").write_text("x", "utf-8")
    assert store.review(folder).trusted


def test_only_what_was_shown_becomes_trusted(home: Path, folder: Path) -> None:
    store = TrustStore(home)
    shown = store.review(folder)
    (folder / "one.py").write_text("import os; os.abort()", "utf-8")
    after = store.trust(folder, shown)
    assert not after.trusted
    assert statuses(after) == {"one.py": "changed", "two.py": "trusted"}


def test_trust_belongs_to_a_place_links_followed(home: Path, folder: Path, tmp_path: Path) -> None:
    store = TrustStore(home)
    store.trust(folder)
    other = tmp_path / "other"
    other.mkdir()
    (other / "one.py").write_text("1\n", "utf-8")
    (other / "two.py").write_text("2\n", "utf-8")
    assert not store.review(other).trusted
    (tmp_path / "alias").symlink_to(folder)
    assert store.review(tmp_path / "alias").trusted
    store.trust(other)
    assert store.review(folder).trusted


def test_trust_can_be_taken_back(home: Path, folder: Path) -> None:
    store = TrustStore(home)
    store.trust(folder)
    store.revoke(folder)
    assert statuses(store.review(folder)) == {"one.py": "new", "two.py": "new"}


def test_a_missing_or_empty_folder_has_nothing_to_ask_about(home: Path, tmp_path: Path) -> None:
    review = TrustStore(home).review(tmp_path / "none")
    assert (review.files, review.trusted) == ((), True)


def test_a_review_does_not_print_the_code(home: Path, folder: Path) -> None:
    (folder / "one.py").write_text("password = 'hunter2'", "utf-8")
    assert "hunter2" not in repr(TrustStore(home).review(folder))


def test_a_link_out_of_the_folder_is_refused(home: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("x", "utf-8")
    (folder / "out.py").symlink_to(tmp_path / "secret.py")
    (folder / "in.py").symlink_to("one.py")
    review = TrustStore(home).trust(folder)
    assert review.trusted
    assert statuses(review)["out.py"] == "refused"
    assert "out.py" not in review.contents
    assert str(review.files[2]) == (
        "refused out.py: it is a link that leads out of the folder: put the file itself there"
    )
    assert review.contents["in.py"] == b"1\n"


def test_a_fifo_is_refused_without_waiting_for_it(home: Path, folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    file = TrustStore(home).review(folder).files[1]
    assert (file.status, str(file.reason)) == ("refused", '"pipe.py" is a FIFO, not a file')


def test_a_huge_file_is_refused_without_reading_it(home: Path, folder: Path) -> None:
    with (folder / "huge.py").open("wb") as file:
        file.truncate(1 << 40)
    reviewed = TrustStore(home).review(folder).files[0]
    assert str(reviewed.reason) == (
        "it has 1,099,511,627,776 bytes, and a window's file may have 1,000,000 at most"
    )


def test_files_listed_after_a_refused_one_are_reviewed(home: Path, folder: Path) -> None:
    (folder / "a_link.py").symlink_to("/dev/null")
    review = TrustStore(home).review(folder)
    assert statuses(review) == {"a_link.py": "refused", "one.py": "new", "two.py": "new"}
    assert set(review.contents) == {"one.py", "two.py"}


def test_a_trusted_file_that_becomes_refused_asks_again(home: Path, folder: Path) -> None:
    store = TrustStore(home)
    store.trust(folder)
    (folder / "one.py").unlink()
    os.mkfifo(folder / "one.py")
    assert not store.review(folder).trusted


def test_a_hostile_name_is_shown_inert(home: Path, folder: Path) -> None:
    (folder / "a\x1b]0;x\x07\n\u202e[b].py").write_text("x", "utf-8")
    line = str(TrustStore(home).review(folder).files[0])
    assert line.startswith("new a␛]0;x␇ \\u202e[b].py sha256 ")


def test_a_name_that_is_no_text_is_refused(home: Path, folder: Path) -> None:
    (folder / os.fsdecode(b"\xff.py")).write_text("x", "utf-8")
    assert [file.status for file in TrustStore(home).review(folder).files] == [
        "new",
        "new",
        "refused",
    ]


def test_a_folder_of_too_much_is_refused_as_a_whole(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "_MOST_NAMES", 1)
    with pytest.raises(TrustError, match="has more than 1 files and folders"):
        TrustStore(home).review(folder)
    monkeypatch.undo()
    monkeypatch.setattr(trust, "_MOST_BYTES", 3)
    with pytest.raises(TrustError, match="has more than 3 bytes of Python"):
        TrustStore(home).trust(folder)
    assert not home.exists()


def test_a_file_in_the_place_of_the_folder_is_reported(home: Path, folder: Path) -> None:
    with pytest.raises(TrustError, match="is not a folder"):
        TrustStore(home).review(folder / "one.py")


def test_only_the_owner_can_read_what_is_trusted(home: Path, folder: Path) -> None:
    mask = os.umask(0o000)
    try:
        TrustStore(home).trust(folder)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((home / "trust.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert os.listdir(home) == ["trust.json"]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"version": 1}',
        b'{"version": 1, "folders": {"/x": ["one.py"]}}',
        b'{"version": 1, "folders": {"/x": {"one.py": 5}}}',
        b'{"version": 99, "folders": {}}',
        b"[" * 100_000,
    ],
)
def test_damaged_nothing_is_trusted_and_it_is_kept(home: Path, folder: Path, damage: bytes) -> None:
    store = TrustStore(home)
    store.trust(folder)
    store.path.write_bytes(damage)
    assert not store.review(folder).trusted
    assert "cannot be used, so no folder is trusted" in str(store.problem)
    assert store.path.read_bytes() == damage  # looking changes nothing
    store.trust(folder)
    assert store.review(folder).trusted
    assert TrustStore(home).problem is None
    (aside,) = home.glob("trust.json.unusable-*")
    assert aside.read_bytes() == damage


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_versions_record_trusts_nothing(home: Path, folder: Path, version: object) -> None:
    store = TrustStore(home)
    store.trust(folder)
    assert json.loads(store.path.read_bytes())["version"] == 1  # older programs read it
    record = json.loads(store.path.read_bytes())
    store.path.write_text(json.dumps({**record, "version": version}), "utf-8")
    assert not store.review(folder).trusted
    assert "another version" in str(store.problem)


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_what_others_may_write_to_trusts_nothing(home: Path, folder: Path, mode: int) -> None:
    store = TrustStore(home)
    store.trust(folder)
    store.path.chmod(mode)
    assert not store.review(folder).trusted
    assert str(store.problem).endswith("others may write to it; restrict it with chmod 600.")
    for harmless in (0o600, 0o755):
        store.path.chmod(harmless)
        assert store.review(folder).trusted


def test_a_record_that_cannot_be_opened_names_the_reason(home: Path, folder: Path) -> None:
    store = TrustStore(home)
    home.mkdir(parents=True)
    store.path.symlink_to(store.path)
    assert str(store.problem).endswith(f"no folder is trusted: {os.strerror(errno.ELOOP)}.")


def test_a_folder_in_its_place_is_reported_and_set_aside(home: Path, folder: Path) -> None:
    store = TrustStore(home)
    store.path.mkdir(parents=True)
    assert "it is not a file" in str(store.problem)
    assert store.trust(folder).trusted


def test_a_home_that_cannot_be_written_is_reported(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(TrustError, match=r"trust\.json cannot be written: "):
        TrustStore(tmp_path / "file" / "home").trust(folder)


def test_a_failing_write_leaves_what_was_there(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = TrustStore(home)
    store.trust(folder)
    before = store.path.read_bytes()
    (folder / "one.py").write_text("other", "utf-8")
    monkeypatch.setattr(plain_file, "write_all", disk_full)
    with pytest.raises(TrustError, match="disk full"):
        store.trust(folder)
    assert store.path.read_bytes() == before
    assert os.listdir(home) == ["trust.json"]


def test_a_linked_trust_file_is_written_through(home: Path, folder: Path, tmp_path: Path) -> None:
    home.mkdir(parents=True)
    (tmp_path / "dotfiles").mkdir()
    store = TrustStore(home)
    store.path.symlink_to(tmp_path / "dotfiles" / "trust.json")
    assert store.trust(folder).trusted
    assert store.path.is_symlink()
    assert (tmp_path / "dotfiles" / "trust.json").is_file()

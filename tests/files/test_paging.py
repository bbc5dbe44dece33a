"""Pages of files of any size, without reading more than they need."""

import codecs
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.files import pager
from contextui.files.errors import BinaryFileError
from contextui.files.textfile import TextFile
from contextui.files.workspace import Workspace


class Reads:
    """Counts the bytes that are read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes, self._pread = 0, os.pread
        monkeypatch.setattr(os, "pread", self._count)

    def _count(self, descriptor: int, size: int, place: int) -> bytes:
        data = self._pread(descriptor, size, place)
        self.bytes += len(data)
        return data


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    return Reads(monkeypatch)


def pages(workspace: Workspace, path: str, count: int) -> list[str]:
    lines: list[str] = []
    while True:
        page = workspace.read_page(path, len(lines) + 1, count)
        assert page.total is None or page.more == (page.end < page.total)
        lines += page.lines
        if not page.more:
            return lines


ENCODINGS = [
    (b"", "utf-8"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
]


@given(
    st.sampled_from(ENCODINGS),
    st.text(st.sampled_from("\r\n\n\ra\u2028é日\u0d0a\u0a0d\u0a00\u000a\U0001f600"), max_size=60),
    st.integers(8, 24).map(lambda n: 4 * n),
    st.integers(1, 7),
    st.booleans(),
)
def test_pages_are_the_lines_of_the_file(
    encoding: tuple[bytes, str], text: str, block: int, count: int, counted: bool
) -> None:
    bom, codec = encoding
    text = text.removeprefix("\ufeff")
    descriptor = os.memfd_create("pages") if hasattr(os, "memfd_create") else -1
    if descriptor < 0:
        pytest.skip("no files in memory here")
    with pytest.MonkeyPatch.context() as patch, os.fdopen(descriptor, "w+b") as file:
        patch.setattr(pager, "BLOCK", block)
        patch.setattr(pager, "COUNTED", 1 << 20 if counted else -1)
        file.write(bom + text.encode(codec))
        file.flush()
        index = pager.LineIndex(descriptor, "pages")
        expected = TextFile(text).lines
        for start in range(len(expected) + 1, 0, -count):  # backwards, then forwards
            assert index.page(descriptor, start, count).lines == expected[start - 1 :][:count]
        for start in range(1, len(expected) + 2, count):
            assert index.page(descriptor, start, count).lines == expected[start - 1 :][:count]
        assert index.page(descriptor, len(expected) + 1, 1).total == len(expected)


def test_1_gb_is_paged_without_reading_it(tmp_path: Path, reads: Reads) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.write(b"".join(b"line %d\n" % number for number in range(1, 40_001)))
        file.truncate(1 << 30)
    workspace = Workspace(tmp_path)
    page = workspace.read_page("huge")
    assert page.lines[-1] == "line 100"
    assert (page.total, page.more) == (None, True)
    assert reads.bytes < 1_000_000
    assert workspace.read_page("huge", 30_000, 2).lines == ("line 30000", "line 30001")
    assert workspace.read_page("huge", 20_000, 1).lines == ("line 20000",)
    assert reads.bytes < 4_000_000
    last = workspace.read_page("huge", 40_000)  # and then a line of nothing but NUL
    assert last.lines[0] == "line 40000"
    assert "goes on for more than" in last.lines[1]
    assert reads.bytes < 16_000_000
    assert (tmp_path / "huge").stat().st_size == 1 << 30


def test_a_changed_file_is_scanned_again(tmp_path: Path) -> None:
    path, workspace = tmp_path / "file", Workspace(tmp_path)
    path.write_text("a\nb\n")
    assert workspace.read_page("file").total == 2
    path.write_text("a\nb\nc\n")
    assert workspace.read_page("file").lines == ("a", "b", "c")


def test_1_gb_of_zeros_is_binary(tmp_path: Path, reads: Reads) -> None:
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(BinaryFileError, match="NUL"):
        Workspace(tmp_path).read_page("zeros")
    assert reads.bytes < 100_000


@pytest.mark.parametrize("letter", ["x", "日"])
def test_a_very_long_line_is_cut_and_says_so(tmp_path: Path, letter: str) -> None:
    (tmp_path / "long").write_text("short\n" + letter * 1_000_000 + "\nlast\n", "utf-8")
    short, long, last = Workspace(tmp_path).read_page("long").lines
    assert (short, last) == ("short", "last")
    assert long.startswith(letter * 2_000 + " … (this line has ")
    assert len(long) < 2_100


def test_a_file_that_is_not_utf8_further_down_is_shown_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"fine\n" * 5_000 + b"\xff\0\n")
    assert Workspace(tmp_path).read_page("log", 5_001).lines == ("\ufffd\0",)

"""Whatever is edited, the bytes outside the edit stay as they are."""

import codecs
import doctest
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextui.files.textfile
from contextui.files.errors import (
    BinaryFileError,
    EditError,
    UnreadableFileError,
)
from contextui.files.textfile import LINE_END, TextFile
from tests.thorough import times

WORDS = ["one", "two ", "\tthree", "", "é", "a\u2028b", "a\x85b", "\f", "x\x0by", "\u2029", "ÿ"]
WIDE = [*WORDS, "日本語", "😀", "\ufeff"]
CODECS = [
    (b"", "utf-8", WIDE),
    (codecs.BOM_UTF8, "utf-8", WIDE),
    (codecs.BOM_UTF16_LE, "utf-16-le", WIDE),
    (codecs.BOM_UTF16_BE, "utf-16-be", WIDE),
    (codecs.BOM_UTF32_LE, "utf-32-le", WIDE),
    (codecs.BOM_UTF32_BE, "utf-32-be", WIDE),
    (b"", "cp1252", [*(w for w in WORDS if w.isascii()), "é", "ÿ", "€", "\xa0"]),
    (b"", "latin-1", [*(w for w in WORDS if max(w, default="a") < "\u2028"), "\x81\x8d", "é"]),
]
ENDS = [["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\n", "\r\n", "\r"]]
any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def test_documented_examples_hold() -> None:
    assert doctest.testmod(contextui.files.textfile).failed == 0


def a_file(rng: random.Random) -> tuple[bytes, str, list[str]]:
    bom, codec, words = rng.choice(CODECS)
    ends = rng.choice(ENDS)
    text = "".join(
        " ".join(rng.choices(words, k=rng.randrange(4))) + rng.choice(ends)
        for _ in range(rng.randrange(12))
    )
    if codec in ("cp1252", "latin-1"):  # something that UTF-8 cannot be
        text = ("é€ü" if codec == "cp1252" else "é\x81ü") + text
    return bom + (text + rng.choice(["", "end"])).encode(codec), codec, words


def test_random_edits_leave_every_other_byte_alone() -> None:
    rng = random.Random(32)
    for _ in range(times(300, 5_000)):
        data, codec, words = a_file(rng)
        file = TextFile.from_bytes(data)
        assert file.to_bytes() == data
        assert file.encoding.codec == codec or data.isascii()
        new = rng.choice(["\n", "\r\n", "\r"]).join(rng.choices(words, k=rng.randrange(1, 4)))
        count = len(file.lines)
        if not count:
            assert file.insert_lines(1, "x").to_bytes() == data + "x\n".encode(codec)
            continue
        first = rng.randint(1, count)
        last = rng.randint(first, min(count, first + 2))
        raw = [line + end for line, end in zip(file.lines, file.endings, strict=True)]
        before, after = "".join(raw[: first - 1]), "".join(raw[last:])
        match rng.randrange(4):
            case 0:
                edited = file.replace_lines(first, last, new)
                after = file.endings[last - 1] + after
            case 1:
                edited, after = file.insert_lines(first, new), "".join(raw[first - 1 :])
            case 2:
                edited = file.delete_lines(first, last)
                assert edited.text == before + after
            case _:
                old = "".join(raw[first - 1 : last])
                start = file.text.find(old)
                assert start >= 0
                try:
                    edited = file.replace_text(old.replace("\r\n", "\n").replace("\r", "\n"), new)
                except EditError:
                    continue  # it occurs more than once
        saved = edited.to_bytes()
        head, tail = file.encoding.bom + before.encode(codec), after.encode(codec)
        assert saved.startswith(head)
        assert saved.endswith(tail)
        assert len(saved) >= len(head) + len(tail)
        inserted = saved[len(head) : len(saved) - len(tail)].decode(codec)
        assert set(LINE_END.findall(inserted)) <= {file.ending, *file.endings}


@given(st.binary(max_size=300) | any_text.map(str.encode))
def test_any_bytes_come_back_as_they_are_or_are_refused(data: bytes) -> None:
    try:
        file = TextFile.from_bytes(data)
    except UnreadableFileError:
        return
    assert file.to_bytes() == data
    file.text.encode()  # no surrogates
    assert "".join(map("".join, zip(file.lines, file.endings, strict=True))) == file.text
    assert all(file.endings[:-1])


class TestLines:
    def test_only_cr_and_lf_end_a_line(self) -> None:
        for text, lines, endings in (
            ("", (), ()),
            ("a", ("a",), ("",)),
            ("a\n", ("a",), ("\n",)),
            ("a\n\n", ("a", ""), ("\n", "\n")),
            ("a\r\rb\r\n", ("a", "", "b"), ("\r", "\r", "\r\n")),
            ("a\u2028b\x85c\fd\x0be\x1c", ("a\u2028b\x85c\fd\x0be\x1c",), ("",)),
        ):
            file = TextFile(text)
            assert (file.lines, file.endings) == (lines, endings), text

    def test_new_lines_get_the_end_that_most_have(self) -> None:
        file = TextFile("a\r\nb\r\nc\nd")
        assert file.insert_lines(3, "x\ny").text == "a\r\nb\r\nx\r\ny\r\nc\nd"

    def test_a_file_without_last_line_end_stays_one(self) -> None:
        assert TextFile("a\nb").insert_lines(3, "c\n").text == "a\nb\nc"
        assert TextFile("a\nb").replace_lines(2, 2, "c\nd\n").text == "a\nc\nd"
        assert TextFile("a\nb\n").insert_lines(3, "c").text == "a\nb\nc\n"

    def test_finds_places_by_line_and_column(self) -> None:
        file = TextFile("ab\r\nAb\nxab")
        assert list(file.find("ab")) == [(1, 1), (3, 2)]
        assert list(file.find("ab", ignore_case=True)) == [(1, 1), (2, 1), (3, 2)]
        assert list(file.find("b\nA")) == [(1, 2)]
        assert list(file.find("")) == []


class TestReplaceText:
    def test_line_ends_match_those_of_the_file(self) -> None:
        file = TextFile("a\r\nb\nc\r\n")
        assert file.replace_text("a\nb\nc", "a\nB\nc").text == "a\r\nB\nc\r\n"
        assert file.replace_text("a\nb\nc", "a\nb\nc!").text == "a\r\nb\nc!\r\n"

    def test_half_of_crlf_is_no_line_end(self) -> None:
        with pytest.raises(EditError, match="0 times"):
            TextFile("a\r\nb").replace_text("\nb\n", "x")
        assert TextFile("a\r\nb").replace_text("\nb", "").text == "a"

    def test_must_occur_exactly_as_often_as_given(self) -> None:
        for text, old, message in (
            ("aa", "b", "occurs 0 times"),
            ("a b a", "a", "occurs 2 times"),
            ("aaa", "aa", "occurs 2 times"),
            ("a", "", "empty"),
        ):
            with pytest.raises(EditError, match=message):
                TextFile(text).replace_text(old, "x")

    def test_a_count_replaces_them_all(self) -> None:
        assert TextFile("a b a").replace_text("a", "aa", count=2).text == "aa b aa"


class TestRefusals:
    def test_binary_files_say_why(self) -> None:
        for data, reason in (
            (b"\x7fELF\0\0\1", "NUL bytes"),
            (b"a\0b\0", "NUL bytes"),
            (bytes(range(1, 256)), "control characters"),
            (codecs.BOM_UTF16_LE + b"a\0\0\0", "NUL characters"),
            (b"\xef\xbb\xbfa\0", "NUL characters"),
        ):
            with pytest.raises(BinaryFileError, match=reason):
                TextFile.from_bytes(data, "some.bin")

    def test_damaged_text_is_refused_not_repaired(self) -> None:
        for data in (codecs.BOM_UTF8 + b"\xff", codecs.BOM_UTF16_LE + b"\0\xd8", b"\xff\xfea"):
            with pytest.raises(UnreadableFileError, match="not valid utf"):
                TextFile.from_bytes(data, "damaged")

    def test_what_cannot_be_encoded_is_named(self) -> None:
        for codec, new, named in (
            ("cp1252", "one\ntwo ☃", r"U\+2603 \(SNOWMAN\) in line 2"),
            ("utf-8", "\ud800", r"U\+D800"),
            ("utf-8", "a\0", r"U\+0000"),
        ):
            file = TextFile.from_bytes("é\n".encode(codec), "file.txt")
            with pytest.raises(EditError, match=named):
                file.insert_lines(1, new)
            with pytest.raises(EditError, match=named):
                file.replace_lines(1, 1, new)
            with pytest.raises(EditError, match=named):
                file.replace_text("é", new)
            assert file.text == "é\n", codec


class TestNamedEncoding:
    def test_an_encoding_can_be_asked_for(self) -> None:
        data = "日本語\r\n".encode("shift_jis")
        file = TextFile.from_bytes(data, encoding="shift_jis")
        assert file.lines == ("日本語",)
        assert file.replace_text("本", "木").to_bytes() == "日木語\r\n".encode("shift_jis")

    def test_there_must_be_such_an_encoding(self) -> None:
        for codec in ("nonsense", "hex", "rot13", "a\0b"):
            with pytest.raises(UnreadableFileError, match="no encoding"):
                TextFile.from_bytes(b"abc", encoding=codec)

    def test_it_must_round_trip(self) -> None:
        with pytest.raises(UnreadableFileError, match="not valid ascii"):
            TextFile.from_bytes("é".encode(), encoding="ascii")
        with pytest.raises(UnreadableFileError, match="could not be saved"):
            TextFile.from_bytes(b"+AGE-", encoding="utf-7")
        marked = TextFile.from_bytes(codecs.BOM_UTF8 + b"a", encoding="utf8")
        assert (marked.text, marked.encoding.bom) == ("a", codecs.BOM_UTF8)

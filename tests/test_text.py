"""Whatever the text, its destination can hold it and nothing in it acts."""

import doctest
import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree

import contextui.text
from contextui.text import cap, for_model, for_terminal, for_xml, one_line, quote

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NASTY = (
    "\0\t\n\r\x1b\x7f\x85\x9b\u2028\u2029\ufffe\uffff\ufdd0\ud800\ud83d\udb40\udbff\ude00\udc41"
    "\udfff\u0301\u200d\ufe0f\ufff9\U0001f600\U0001f3fd\U0001ffff\U000e0041\U00020000"
    "e 中[/]<&" + BIDI
)
timeless = settings(deadline=None)  # a busy machine is no failure
any_text = st.text(st.characters(exclude_categories=()) | st.sampled_from(NASTY))


def test_documented_examples_hold() -> None:
    assert doctest.testmod(contextui.text).failed == 0


class TestForModel:
    def test_replaces_only_what_utf8_and_json_cannot_hold(self) -> None:
        for text, expected in (
            ("a\0b", "a␀b"),
            ("\ud83d\ude00", "😀"),
            ("\ud83d", "\ufffd"),
            ("\ude00\ud83d", "\ufffd\ufffd"),
            ("\ud83d\ud83d\ude00x\ud83d", "\ufffd😀x\ufffd"),
            ("\x1b[0m\u202e\ufffe\r\n", "\x1b[0m\u202e\ufffe\r\n"),
        ):
            assert for_model(text) == expected, text

    @timeless
    @given(any_text)
    def test_result_is_utf8_without_nul_and_stable(self, text: str) -> None:
        result = for_model(text)
        assert b"\0" not in result.encode()
        assert for_model(result) is result


class TestForXml:
    def test_shows_what_xml_forbids(self) -> None:
        for text, expected in (
            ("\0\x01\x1b\x1f", "␀␁␛␟"),
            ("a\tb\nc\rd", "a\tb\nc\rd"),
            ("é\x1b\ufffe\uffff", "é␛\ufffd\ufffd"),
            ("</Window><action>&", "</Window><action>&"),
            ("\x7f\x9b\u202e", "\x7f\x9b\u202e"),
            ("\U0001ffff", "\U0001ffff"),
        ):
            assert for_xml(text) == expected, text

    @timeless
    @given(any_text)
    def test_survives_a_round_trip_through_xml(self, text: str) -> None:
        legal = for_xml(text)
        element = etree.Element("content", attr=legal)
        element.text = legal
        parsed = etree.fromstring(etree.tostring(element))
        assert (parsed.text or "") == legal
        assert parsed.get("attr") == legal

    @timeless
    @given(any_text)
    def test_is_stable_and_replaces_one_by_one(self, text: str) -> None:
        result = for_xml(text)
        assert for_xml(result) is result
        assert len(result) == len(for_model(text))


class TestForTerminal:
    def test_shows_what_would_act(self) -> None:
        for text, expected in (
            ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
            ("del\x7f", "del␡"),
            ("\x9b31m\x85", r"\x9b31m\x85"),
            ("a\u202eb\u2069", r"a\u202eb\u2069"),
            ("a\u2028b\u2029", r"a\u2028b\u2029"),
            ("\ufff9\U000e0041", r"\ufff9\U000e0041"),
            ("\udb40\udc41", r"\U000e0041"),
            ("\ufdd0\uffff\U0010ffff\ud800", "\ufffd" * 4),
            ("a\tb\nc\r\nd\re", "a\tb\nc\nd␍e"),
            ("[/foo] [@click=app.quit]x[/]", "[/foo] [@click=app.quit]x[/]"),
            ("👩\u200d💻 क्\u200dष 𠀀 中", "👩\u200d💻 क्\u200dष 𠀀 中"),
        ):
            assert for_terminal(text) == expected, text

    def test_line_breaks_and_tabs_become_single_spaces_on_request(self) -> None:
        assert for_terminal("a\nb\r\nc\td\re", lines=False) == "a b c d␍e"

    @timeless
    @given(any_text, st.booleans())
    def test_nothing_live_is_left(self, text: str, lines: bool) -> None:
        result = for_terminal(text, lines=lines)
        kept = "\n\t" if lines else ""
        assert not [c for c in result if unicodedata.category(c) in {"Cc", "Cs"} and c not in kept]
        assert not set(result) & set(BIDI + "\u2028\u2029")

    @timeless
    @given(any_text, st.booleans())
    def test_is_stable(self, text: str, lines: bool) -> None:
        result = for_terminal(text, lines=lines)
        assert for_terminal(result, lines=lines) is result


def test_clean_text_comes_back_as_the_same_object() -> None:
    for clean in ("", "plain\n\ttext", "é und 中文\n\t😀\u200d"):
        assert for_model(clean) is clean, clean
        assert for_xml(clean) is clean, clean
        assert for_terminal(clean) is clean, clean


class TestOneLine:
    def test_folds_and_cuts(self) -> None:
        for text, limit, expected in (
            ("", 5, ""),
            ("  a \r\n\t b\u2028c ", 50, "a b c"),
            ("x" * 50, 50, "x" * 50),
            ("x" * 51, 50, "x" * 50 + "…"),
            ("\x1b[2J", 50, "␛[2J"),
            ("abcde\u0301f", 5, "abcd…"),
            ("ab👩\u200d💻c", 4, "ab…"),
            ("ab👍🏽c", 3, "ab…"),
            ("e" + "\u0301" * 9, 5, "e" + "\u0301" * 4 + "…"),
            ("abc", 0, "…"),
            ("abc", -3, "…"),
        ):
            assert one_line(text, limit) == expected, text

    @timeless
    @given(any_text, st.integers(0, 60))
    @example("\n" * 5000 + "late", 50)
    def test_is_one_bounded_line(self, text: str, limit: int) -> None:
        line = one_line(text, limit)
        assert len(line.removesuffix("…")) <= limit
        assert len(line.splitlines()) <= 1
        assert "  " not in line
        assert not line.startswith(" ")

    def test_looks_only_at_the_head(self) -> None:
        class Sliced(str):
            def __getitem__(self, key: object) -> str:
                assert isinstance(key, slice)
                assert key.stop < 2000
                return super().__getitem__(key)

            def __iter__(self) -> object:  # type: ignore[override]
                raise AssertionError("the whole text was walked")

        assert one_line(Sliced("ab " * 100_000), 5) == "ab ab…"


class TestCap:
    def test_leaves_what_fits(self) -> None:
        text = "x" * 10
        assert cap(text, 10) is text

    def test_says_how_much_is_missing(self) -> None:
        assert cap("abcdef", 4) == "abcd\n… 2 more characters left out"


def test_quote_is_one_inert_line_in_quotes() -> None:
    assert quote("a\n\x1b") == '"a ␛"'
    assert quote("x" * 41) == f'"{"x" * 40}…"'

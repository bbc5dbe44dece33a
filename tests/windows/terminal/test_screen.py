"""The screen: wide characters, styles, the alternate screen, scroll-back, damaged sequences."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from contextui.windows.terminal.emulator import Emulator
from contextui.windows.terminal.screen import Label
from contextui.windows.terminal.spool import plain_line
from contextui.windows.terminal.transcript import Transcript
from tests.thorough import times


def emulator(text: str = "", rows: int = 5, columns: int = 20) -> Emulator:
    made = Emulator(rows, columns)
    made.feed(text)
    return made


def transcript(text: str, rows: int = 24, columns: int = 80) -> list[str]:
    made, screen = Transcript(), Emulator(rows, columns)
    screen.record(made)
    screen.feed(text)
    return [*made.head, *made.tail]


def test_colours_and_styles() -> None:
    one = emulator("\x1b[1;31mred\x1b[0m \x1b[38;5;208mx\x1b[48;2;1;2;3my\x1b[0;3;4;7;93mz\x1b[m.")
    assert one.rows()[0] == (
        ("red", Style(color="red", bold=True)),
        (" ", None),
        ("x", Style(color="#ff8700")),
        ("y", Style(color="#ff8700", bgcolor="#010203")),
        ("z", Style(color="bright_yellow", italic=True, underline=True, reverse=True)),
        (".", None),
    )


@pytest.mark.parametrize(
    ("sequence", "style"),
    [
        ("38:2::1:2:3", Style(color="#010203")),
        ("38:2:1:2:3", Style(color="#010203")),
        ("48:5:208", Style(bgcolor="#ff8700")),
        ("4:3", Style(underline=True)),
        ("4;4:0", None),
        ("38;2;999;0;0", Style(color="#ff0000")),
        ("105", Style(bgcolor="bright_magenta")),
    ],
)
def test_forms_of_colours(sequence: str, style: Style | None) -> None:
    assert emulator(f"\x1b[{sequence}mx").rows()[0] == (("x", style),)


def test_wide_characters_and_marks() -> None:
    one = emulator("世界ab")
    assert one.rows()[0] == (("世界ab", None),)
    assert one.cursor.column == 6
    one.feed("\r x")  # overwrites the first half of the first, then its second half
    assert one.text() == " x界ab"
    one.feed("\x1b[4G|")
    assert one.text() == " x |ab"
    assert emulator("e\u0301").text() == "é"
    assert emulator("a\u200bb\r\n\u202ec").text() == "a\\u200bb\n\\u202ec"
    assert emulator("x" * 19 + "世").text() == "x" * 19 + "\n世"


def test_only_changed_rows_are_built_again() -> None:
    one = emulator("a\r\nb\r\nc")
    first = one.rows()
    one.feed("!")
    second = one.rows()
    assert [before is after for before, after in zip(first, second, strict=True)] == [
        *(True, True, False, True, True)
    ]


def test_the_alternate_screen_leaves_the_main_one_untouched() -> None:
    one = emulator("main\r\n")
    one.feed("\x1b[?1049h\x1b[2J\x1b[Hother\r\n" + "x\r\n" * 50)
    shown = one.alternate, "main" in one.text(), one.scrollback
    one.feed("\x1b[?1049l!")
    assert shown == (True, False, 0)
    assert (one.alternate, one.text()) == (False, "main\n!")


def test_many_lines_at_once_are_drawn_as_one_by_one() -> None:
    lines = "".join(f"line {number} {'x' * (number % 47)}\r\n" for number in range(200))
    quick, slow = emulator("start\r\n" + lines), emulator("start\r\n")
    for char in lines:
        slow.feed(char)
    assert quick.rows() == slow.rows()
    assert quick.history(0, 1000) == slow.history(0, 1000)
    assert quick.position == slow.position
    assert transcript(lines) == lines.replace(" \r", "\r").split("\r\n")[:-1]


def test_a_smaller_screen_keeps_the_rows_above() -> None:
    one = emulator("1\r\n2\r\n3\r\n4\r\nprompt")
    one.resize(2, 10)
    assert one.text() == "4\nprompt"
    assert one.scrollback == 3
    assert [row[0][0] for row in (*one.history(-5, 0), *one.history(1, 3))] == ["2", "3"]
    one.resize(6, 30)
    one.feed("!\r\nnext")
    assert one.text() == "4\nprompt!\nnext"


def test_repeated_characters_scrolling_and_line_drawing() -> None:
    assert emulator("-\x1b[4b|").text() == "-----|"
    assert emulator("1\r\n2\r\n3\x1b[S").text() == "2\n3"
    assert emulator("\x1b(0qqq\x1b(Bq").text() == "───q"


def test_replies() -> None:
    replies = list[str]()
    one = emulator()
    one.reply = replies.append
    one.feed("\x1b[2;3H\x1b[6n\x1b[5n\x1b[c")
    assert replies == ["\x1b[2;3R", "\x1b[0n", "\x1b[?6c"]


def test_strings_for_the_terminal_are_not_shown() -> None:
    one = emulator("a\x1b]0;title\x07b\x1bPdcs\x1b\\c\x1b]52;c;aGk=\x1b\\d\x1b_apc\x1b\\e")
    assert one.text() == "abcde"


def test_any_sequences_are_taken() -> None:
    source = random.Random(1)
    pieces = ["\x1b[", "\x1b]", "\x1bP", "99", "1049"]
    pieces += "\x1b?;:1世ABCDEFGHJKLMPSTXZ@`abcdefghlmnrsu<>=!$ \r\n\t\b\x07\x0e\x0f78cM"
    one, record = Emulator(6, 12), Transcript()
    one.record(record)
    for number in range(times(10_000, 100_000)):
        one.feed(source.choice(pieces))
        if number % 1000 == 0:
            one.resize(source.randint(2, 30), source.randint(2, 90))
            one.rows()
    assert len(record.output()) < 2_000_000


@given(st.text(alphabet="ab世\x1b[]mHK;1\r\n\x07", max_size=80), st.integers(0, 80))
def test_output_may_be_cut_anywhere(text: str, at: int) -> None:
    whole, parts = emulator(text), emulator(text[:at])
    parts.feed(text[at:])
    assert whole.rows() == parts.rows()
    assert whole.cursor == parts.cursor


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        ("a\r\nb\r\n", ["a", "b"]),
        ("10%\r20%\r100%\r\n", ["100%"]),
        ("abc\b\bX\r\n", ["aXc"]),
        ("\x1b[1;32mok\x1b[0m\r\n", ["ok"]),
        ("a: 1\r\nb: 1\r\n\x1b[2Aa: 2\r\nb: 2\r\n", ["a: 2", "b: 2"]),
        ("long line\r\x1b[Kx\r\n", ["x"]),
        ("a\tb\r\n", ["a\tb"]),
        ("shown\r\n\x1b[H\x1b[2Jnext", ["shown", "next"]),
        ("x" * 100 + "\r\ny\r\n", ["x" * 100, "y"]),
        ("x" * 100 + "\ryyy\r\n", ["x" * 80 + "yyy" + "x" * 17]),
        ("a\u202eb\r\n", ["a\\u202eb"]),
        ("a\x01b\x9bc\r\n", ["abc"]),
        ("\x1b]0;t\x07x\r\n", ["x"]),
        ("x" * 2005 + "\r\n", ["x" * 2000 + " … 5 more characters"]),
    ],
)
def test_transcripts(output: str, lines: list[str]) -> None:
    assert transcript(output) == lines


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"plain\r", "plain"),
        (b"10%\r100%\r", "100%"),
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"\xff\x00\x1b]0;x\x07y", "\ufffdy"),
        (b"a\x1b[3Ab", "ab"),
    ],
)
def test_a_line_of_a_page(data: bytes, line: str) -> None:
    assert plain_line(data) == line


def test_labels_follow_their_rows_and_leave_with_them() -> None:
    one = emulator("$ ls\r\n", rows=3)
    one.label(0, Label(1, 2))
    one.feed("a\r\nb\r\n$ pwd\r\n")
    one.label(3, Label(2, 2))
    assert one.top == 2
    assert one.labels() == {0: Label(1, 2), 3: Label(2, 2)}
    one.feed("\x1b[H\x1b[2J")
    assert one.labels() == {0: Label(1, 2)}  # what scrolled away can still be seen
    one.feed("\x1b[3J")
    assert one.labels() == {}


def test_a_label_replaces_those_below_it() -> None:
    one = emulator("a\r\nb\r\n")
    one.label(1, Label(1, 0))
    one.feed("\x1b[H")  # a program that overwrites the screen without erasing it
    one.label(0, Label(2, 0))
    assert one.labels() == {0: Label(2, 0)}


def test_labels_are_as_many_as_the_rows_that_are_kept() -> None:
    one = emulator(rows=3)
    for number in range(1_000):
        one.feed("$ x\r\n" * 3)
        one.label(one.position[0] - 1, Label(number, 2))
    assert len(one.labels()) < 2_000

"""The terminal's title and notifications: calm, only while the person is away, and harmless."""

import pytest

from contextui.config.schema import Notify
from contextui.events import TurnFinished, TurnStarted
from contextui.tui.attention import LONG, Attention
from contextui.words import Words


class Screen:
    """A terminal that keeps what is written."""

    def __init__(self, focus: bool = False, web: bool = False) -> None:
        self.app_focus, self.is_web, self.written = focus, web, ""

    def write_control(self, text: str) -> None:
        self.written += text


def after(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, seconds: float, *,
    mode: Notify = "bell", text: str = "All tests pass.",
) -> str:  # fmt: skip
    """What is written when a turn ends that took so long."""
    monkeypatch.delenv("TMUX", raising=False)
    watch = Attention(screen, Words("en"), "xterm")
    watch.follow("shop", mode)
    watch.handle(TurnStarted("go", "1"))
    screen.written = ""
    watch.handle(TurnFinished("done", text, steps=1, seconds=seconds))
    return screen.written.replace("\x1b]2;contextui  shop\x1b\\", "")


def test_only_a_long_turn_of_an_unfocused_terminal_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert after(Screen(), monkeypatch, LONG + 1) == "\a"
    assert after(Screen(), monkeypatch, LONG - 1) == ""
    assert after(Screen(focus=True), monkeypatch, LONG + 1) == ""
    assert after(Screen(), monkeypatch, LONG + 1, mode="off") == ""


def test_a_desktop_notification_is_sent_in_both_spellings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert after(Screen(), monkeypatch, LONG + 1, mode="desktop") == (
        "\x1b]9;contextui shop: All tests pass.\x1b\\"
        "\x1b]777;notify;contextui shop;All tests pass.\x1b\\"
    )


def test_a_browser_has_a_title_and_notifications_and_no_bell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert after(Screen(web=True), monkeypatch, LONG + 1, mode="bell") == ""
    assert after(Screen(web=True), monkeypatch, LONG + 1, mode="desktop") == (
        "\x1b]777;notify;contextui shop;All tests pass.\x1b\\"
    )
    page = Screen(web=True)
    watch = Attention(page, Words("en"), "")  # whatever terminal the server was started in
    watch.follow("shop", "off")
    watch.handle(TurnStarted("go", "1"))
    watch.close()
    assert page.written == "\x1b]2;contextui  shop\x1b\\\x1b]2;● contextui  shop\x1b\\"


def test_what_a_model_says_cannot_end_the_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (
        "x\x1b]0;evil\x07y",
        "a\nb\rc\x00\x9c\x9d",
        "a;b",
        "\u202eevil",
        "y" * 9_999,
        "\x1b\\",
    ):
        written = after(Screen(), monkeypatch, LONG + 1, mode="desktop", text=text)
        assert written.count("\x1b") == 4  # two sequences, each with its end
        assert written.count(";") == 4
        assert not set(written) & {*map(chr, range(0x80, 0xA0)), *"\a\n\r\0\u202e"}
        assert len(written) < 500


def test_the_title_changes_only_with_the_state() -> None:
    screen = Screen()
    watch = Attention(screen, Words("en"), "xterm")
    watch.follow("my\x1b\\shop", "off")
    assert screen.written == "\x1b[22;2t\x1b]2;contextui  my␛\\shop\x1b\\"
    for event, title in (
        (TurnStarted("go", "1"), "● contextui  my␛\\shop"),
        (TurnFinished("done"), "contextui  my␛\\shop"),
    ):
        screen.written = ""
        watch.handle(event)
        watch.show_title()
        assert screen.written == f"\x1b]2;{title}\x1b\\"
    screen.written = ""
    watch.ask("asks to write a.txt")
    assert screen.written == "\x1b]2;◆ asks  contextui  my␛\\shop\x1b\\"
    watch.answered()
    screen.written = ""
    watch.close()
    watch.close()
    watch.handle(TurnStarted("late", "2"))
    assert screen.written == "\x1b[23;2t"


@pytest.mark.parametrize("term", ["linux", "dumb", ""])
def test_a_terminal_without_a_title_gets_none(term: str) -> None:
    screen = Screen()
    watch = Attention(screen, Words("en"), term)
    watch.follow("shop", "bell")
    watch.handle(TurnStarted("go", "1"))
    watch.close()
    assert screen.written == ""

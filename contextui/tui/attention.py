"""Attention: the terminal's title, and notifications while the person is elsewhere."""

import os
from typing import Any

from contextui.config.schema import Notify
from contextui.events import Event, TurnFinished, TurnStarted
from contextui.tui.lines import line
from contextui.words import Words

LONG = 10.0
"""Seconds from which the end of a turn or a command is worth a notification."""
_MOST = 120  # characters of a notification
_SHORT = 60  # characters of a folder in the title
_SAVE, _RESTORE = "\x1b[22;2t", "\x1b[23;2t"
_BELL, _END = "\a", "\x1b\\"
_WITHOUT = ("", "dumb", "linux")  # terminals that have no title


class Attention:
    """Sets the terminal's title, and rings or notifies when something needs the person.

    A notification is sent only while the terminal has not the focus: when a turn or a command of
    the prompt that took long has ended, and when a question waits. A page in a browser has no bell.
    """

    def __init__(self, app: Any, words: Words, term: str | None = None) -> None:
        self._place, self._words = app, words
        self._mode: Notify = "off"
        self._folder = ""
        self._is_running = self._is_asking = False
        self._title: str | None = None
        self._has_title = (os.environ.get("TERM", "") if term is None else term) not in _WITHOUT

    def follow(self, folder: str, mode: Notify) -> None:
        self._folder, self._mode = plain(folder, _SHORT), mode
        self._is_running = self._is_asking = False
        self.show_title()

    def handle(self, event: Event) -> None:
        """Follow the events of a turn."""
        if isinstance(event, TurnStarted | TurnFinished):
            self._is_running = isinstance(event, TurnStarted)
            self.show_title()
        if isinstance(event, TurnFinished) and event.steps and event.seconds >= LONG:
            text = event.text if event.reason == "done" else event.explanation
            self._notify(text or self._words("The turn has ended."))

    def command_ended(self, text: str, seconds: float) -> None:
        if seconds >= LONG:
            self._notify(text)

    def ask(self, what: str) -> None:
        self._is_asking = True
        self.show_title()
        self._notify(f"◆ {what}")

    def answered(self) -> None:
        self._is_asking = False
        self.show_title()

    def show_title(self) -> None:
        if not self._has_title and not self._place.is_web:
            return
        state = f"◆ {self._words('asks')}  " if self._is_asking else "● " * self._is_running
        title = f"{state}contextui  {self._folder}".rstrip()
        if title != self._title:
            saved = _SAVE if self._title is None and not self._place.is_web else ""
            self._title = title
            self._place.write_control(f"{saved}\x1b]2;{title}{_END}")

    def close(self) -> None:
        if self._title is not None:
            self._title, self._has_title = None, False
            if not self._place.is_web:
                self._place.write_control(_RESTORE)

    def _notify(self, text: str) -> None:
        mode = self._mode
        if mode == "off" or self._place.app_focus:
            return
        is_web = self._place.is_web
        if (mode == "bell" or "TMUX" in os.environ) and not is_web:  # all that tmux passes on
            self._place.write_control(_BELL)
        if mode == "desktop":
            # Two spellings, each of which other terminals ignore; a page takes the second.
            body, title = plain(text, _MOST), f"contextui {self._folder}".strip()
            if not is_web:
                self._place.write_control(f"\x1b]9;{title}: {body}{_END}")
            self._place.write_control(f"\x1b]777;notify;{title};{body}{_END}")


def plain(text: str, most: int) -> str:
    """Return untrusted text in one short line of printable characters, without separators.

    Example:
        >>> plain("done\\x1b]0;evil\\x07; bye\\n", 40)
        'done␛]0,evil␇, bye'
    """
    short = line(text[: 4 * most]).replace(";", ",")
    short = " ".join("".join(one if one.isprintable() else " " for one in short).split())
    return short if len(short) <= most else short[: most - 1] + "…"

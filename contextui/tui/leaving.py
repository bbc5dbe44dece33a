"""Leaving in time: nothing that a window brought along holds the program up for long."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from contextui.tui.desktop.own.holding import holders
from contextui.tui.words import Words

_PATIENCE = 2.0  # seconds that everybody has to end by themselves
_AGAIN = 0.5  # seconds after which it is looked again who did not
_LONGEST = 10.0  # seconds after which the process ends, whatever still runs


class Leaving:
    """Sees to it that the program ends once the person wants that.

    Whoever holds it up is a widget of a stranger that waits for something and never gets it: it is
    told to stop, and its window is named. What does not stop even then ends with the process.

    Args:
        words: The person's language.
        leave: Has the program end, with a line about who held it up.
        close: Puts everything in order before the process ends by force; gives its exit status.

    Attributes:
        may_end_process: Whether the process may be ended if nothing else helps; until `over`.
    """

    def __init__(
        self, words: Words, leave: Callable[[str], object], close: Callable[[], int]
    ) -> None:
        self._words, self._leave, self._close = words, leave, close
        self.may_end_process = False
        self._is_over = threading.Event()
        self._has_begun = self._is_closed = False
        self._names: dict[str, None] = {}

    def begin(self) -> None:
        """The person wants to leave: from now on the time runs."""
        if self._has_begun:
            return
        self._has_begun = True
        asyncio.get_running_loop().call_later(_PATIENCE, self._insist)
        self.end_within(_LONGEST)

    def end_within(self, seconds: float, status: int | None = None) -> None:
        """End the process after so many seconds, unless it has ended by itself."""
        if self.may_end_process:
            args = (seconds, status)
            threading.Thread(target=self._end, args=args, daemon=True, name="leaving").start()

    def closed(self) -> None:
        """All widgets are gone: nobody has to be told to stop any more."""
        self._is_closed = True

    def over(self) -> None:
        """The program has ended."""
        self._is_over.set()

    @property
    def told(self) -> str:
        """Who held it up, in one line."""
        if not self._names:
            return ""
        told = "{names} did not end by itself, and was stopped."
        return self._words(told, names=", ".join(self._names))

    def _insist(self) -> None:
        if self._is_closed:
            return
        before = self.told
        for task, guard in holders().items():
            self._names[guard.guarded_window] = None
            guard.guarded_is_given_up = True
            task.cancel()
        self._leave(self.told if self.told != before else "")
        asyncio.get_running_loop().call_later(_AGAIN, self._insist)

    def _end(self, seconds: float, status: int | None) -> None:
        """Wait for the end on a thread of its own; then wait no longer."""
        if self._is_over.wait(seconds):
            return
        found = 0
        with suppress(Exception):
            found = self._close()
        told = self.told or self._words("Something did not end by itself, and was stopped.")
        with suppress(Exception):
            print(told, file=sys.__stderr__, flush=True)
        os._exit(found if status is None else status)

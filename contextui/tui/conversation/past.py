"""What the person said before, to be said again."""

from collections.abc import Iterable


class Past:
    """Prompts by age. Going back keeps what was being written.

    Example:
        >>> past = Past(["first", "second"])
        >>> past.back("unfinished"), past.back(""), past.forth(), past.forth()
        ('second', 'first', 'second', 'unfinished')
    """

    def __init__(self, said: Iterable[str] = ()) -> None:
        self._said = list(said)
        self._place: int | None = None
        self._unfinished = ""

    def add(self, text: str) -> None:
        """It was said; the next step back leads to it."""
        if not self._said or self._said[-1] != text:
            self._said.append(text)
        self._place = None

    def back(self, current: str) -> str | None:
        """What was said before; None if there is nothing older."""
        if self._place is None:
            self._unfinished = current
        place = len(self._said) if self._place is None else self._place
        if place == 0:
            return None
        self._place = place - 1
        return self._said[self._place]

    def forth(self) -> str | None:
        """What was said after that, at last what was being written; None if that is shown."""
        if self._place is None:
            return None
        self._place += 1
        if self._place == len(self._said):
            self._place = None
            return self._unfinished
        return self._said[self._place]

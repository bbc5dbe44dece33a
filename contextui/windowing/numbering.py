"""The ids of windows: each name counts up, and no id is used twice in a session."""

from collections.abc import Mapping


class Numbering:
    """The highest number that a window of each name has had."""

    def __init__(self) -> None:
        self._highest: dict[str, int] = {}

    @property
    def highest(self) -> dict[str, int]:
        """The numbers by name."""
        return dict(self._highest)

    def next_id(self, name: str) -> str:
        """The id of a new window of this name, such as `todo_1`."""
        self._highest[name] = self._highest.get(name, 0) + 1
        return f"{name}_{self._highest[name]}"

    def note_id(self, window_id: str) -> None:
        """Know of a window that has its id from elsewhere."""
        name, _, number = window_id.rpartition("_")
        if number.isdecimal():
            self.note({name: int(number)})

    def note(self, numbers: Mapping[str, int]) -> None:
        """Know of numbers that were used before."""
        for name, number in numbers.items():
            self._highest[name] = max(self._highest.get(name, 0), number)

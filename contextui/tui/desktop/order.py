"""The order of the open windows: their numbers, the main one, and which was used last."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_MOST_LEFT = 50  # closed windows whose places are known


class Left(NamedTuple):
    """The place that a closed window had."""

    at: int
    number: int
    rows: int
    is_main: bool
    is_pinned: bool


@dataclass(slots=True)
class Order:
    """The open windows."""

    ids: list[str] = field(default_factory=list)  # by place
    current: str | None = None  # the window that the person used last
    numbers: dict[str, int] = field(default_factory=dict)  # the same as long as a window is open
    recent: list[str] = field(default_factory=list)  # all, the least recently used first
    main: str | None = None  # the window in the main place
    is_pinned: bool = False  # whether the person chose it, so that no new one replaces it
    left: dict[str, Left] = field(default_factory=dict)  # for windows that are reopened
    grown: dict[str, int] = field(default_factory=dict)  # rows that the person gave to windows

    def follow(
        self,
        open_ids: Iterable[str],
        is_wide: Callable[[str], bool],
        *,
        keeps: bool = False,
        former: Callable[[str], str] = lambda _: "",
    ) -> list[str]:
        """Add opened windows, remove closed ones, and return those that were opened."""
        there = list(open_ids)
        still, known = set(there), set(self.ids)
        if still == known:
            return []
        at = self.ids.index(self.current) if self.current in known else 0
        opened = [one for one in there if one not in known]
        self._note_left(still)
        self.ids = [one for one in self.ids if one in still]
        self.recent = [one for one in self.recent if one in still]
        self.grown = {one: rows for one, rows in self.grown.items() if one in still}
        self.numbers = {one: number for one, number in self.numbers.items() if one in still}
        if self.main not in still:
            self.main, self.is_pinned = None, False
        if self.current not in still:
            self.current = self.ids[min(at, len(self.ids) - 1)] if self.ids else None
        for one in opened:
            left = self.left.pop(former(one), None)
            self.ids.insert(left.at if left is not None else len(self.ids), one)
            self.numbers[one] = self._free_number(left.number if left is not None else 0)
            self.recent.append(one)
            if is_wide(one) and not self.is_pinned:
                self.main = one
            if self.current is None or not keeps:
                self.current = one
            if left is not None and left.rows:
                self.grown[one] = left.rows
            if left is not None and left.is_main and not self.is_pinned:
                self.main, self.is_pinned = one, left.is_pinned
        if self.main is None:
            self.main = next((one for one in reversed(self.recent) if is_wide(one)), None)
        return opened

    def _note_left(self, still: set[str]) -> None:
        for at, one in enumerate(self.ids):
            if one not in still:
                is_main = one == self.main
                number, rows = self.numbers[one], self.grown.get(one, 0)
                self.left[one] = Left(at, number, rows, is_main, is_main and self.is_pinned)
        while len(self.left) > _MOST_LEFT:
            del self.left[next(iter(self.left))]

    def _free_number(self, wanted: int = 0) -> int:
        taken = set(self.numbers.values())
        if wanted and wanted not in taken:
            return wanted
        return next(number for number in range(1, len(taken) + 2) if number not in taken)

    def number(self, window_id: str) -> int:
        return self.numbers[window_id]

    def numbered(self, number: int) -> str | None:
        return next((one for one, its in self.numbers.items() if its == number), None)

    def use(self, window_id: str, *, is_wide: bool = False) -> None:
        """Make a window the current one; a wide one takes the main place unless it is pinned.

        A window that has just been closed stays closed: its focus may be reported late.
        """
        if window_id not in self.numbers:
            return
        self.current = window_id
        if self.recent[-1] != window_id:
            self.recent.remove(window_id)
            self.recent.append(window_id)
        if is_wide and not self.is_pinned:
            self.main = window_id

    def step(self, by: int) -> str | None:
        if self.current is None:
            return None
        at = self.ids.index(self.current) + by
        return self.ids[at] if 0 <= at < len(self.ids) else None

    def promote(self) -> bool:
        self.is_pinned = not (self.is_pinned and self.main == self.current)
        if self.current is not None:
            self.main = self.current
        return self.is_pinned

    def move(self, by: int, shown: Sequence[str]) -> None:
        at = shown.index(self.current) + by if self.current in shown else -1
        if self.current is None or not 0 <= at < len(shown):
            return
        other = shown[at]
        if self.main in (self.current, other):
            self.main = other if self.main == self.current else self.current
            self.is_pinned = True
        here, there = self.ids.index(self.current), self.ids.index(other)
        self.ids[here], self.ids[there] = other, self.current

    def by_need(self) -> list[str]:
        first = [self.current, self.main if self.is_pinned else None, self.main]
        wanted = dict.fromkeys(one for one in first if one is not None)
        return list(wanted | dict.fromkeys(reversed(self.recent)))

    # --- between runs ------------------------------------------------------------------

    def saved(self) -> dict[str, Any]:
        return {
            "order": self.ids,
            "numbers": self.numbers,
            "main": self.main,
            "pinned": self.is_pinned,
            "grown": self.grown,
        }

    def restore(self, saved: object) -> None:
        if not isinstance(saved, Mapping):
            return
        ids, numbers, main = saved.get("order"), saved.get("numbers"), saved.get("main")
        if isinstance(ids, list):
            known = [fromkey for fromkey in dict.fromkeys(map(str, ids)) if fromkey in self.numbers]
            self.ids = [*known, *(one for one in self.ids if one not in known)]
        if isinstance(numbers, Mapping):
            self._renumber(numbers)
        grown = saved.get("grown")
        if isinstance(grown, Mapping):
            rows = {one: grown.get(one) for one in self.ids}
            self.grown = {one: by for one, by in rows.items() if type(by) is int and abs(by) < 999}
        if isinstance(main, str) and main in self.numbers:
            self.main, self.is_pinned = main, saved.get("pinned") is True

    def _renumber(self, saved: Mapping[Any, Any]) -> None:
        """Give windows the numbers they had; a number that is not valid or free is not given."""
        own, self.numbers = list(self.numbers), {}
        for one in own:
            number = saved.get(one)
            if type(number) is not int or not 1 <= number <= 999:  # bools are ints as well
                continue
            if number not in self.numbers.values():
                self.numbers[one] = number
        for one in own:
            if one not in self.numbers:
                self.numbers[one] = self._free_number()

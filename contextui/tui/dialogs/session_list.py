"""The rows of the list of sessions: groups by age, forks under their parents."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual.content import Content

from contextui.session.catalogue import Catalogue, Head, Place
from contextui.tui.desktop.rowlist import RowList
from contextui.tui.lines import FAINT, KEY, MUTED, age, fit, line, path_end, shown_folder
from contextui.words import Words, msg

USED, FOLDER, TURNS, COST = 5, 14, 6, 9
"""Cells of the columns."""

_TODAY, _WEEK, _EARLIER = msg("Today"), msg("This week"), msg("Earlier")
_DAYS = 7
_DAY = 86_400  # seconds
_NOW = 60  # seconds
_DEPTH = 20  # forks of forks that are followed


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One line of the list: a session, or the name of a group."""

    place: Place | None = None
    group: str = ""
    is_fork: bool = False


def rows_of(
    places: Sequence[Place],
    known: Callable[[Place], Head | None],
    now: float,
    keep: Callable[[Place], bool] = lambda _: True,
) -> list[SessionRow]:
    """Arrange sessions in groups by the time of their last use, forks under their parents.

    A family is where its newest member is. A session that was not read yet counts as no fork.
    """
    ids = {place.id: place for place in places}
    families: dict[Place, list[Place]] = {}
    for place in places:
        if keep(place):
            families.setdefault(_root(place, ids, known), []).append(place)
    rows, group = list[SessionRow](), ""
    start = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    midnight = start.timestamp()
    week = midnight - (_DAYS - 1) * _DAY
    for root, members in families.items():
        used = members[0].used
        name = _TODAY if used >= midnight else _WEEK if used >= week else _EARLIER
        if name != group:
            rows += [SessionRow()] if rows else []
            rows.append(SessionRow(group=name))
            group = name
        members.sort(key=lambda place: place != root)
        rows += [SessionRow(place, is_fork=place != root) for place in members]
    return rows


def _root(place: Place, ids: dict[str, Place], known: Callable[[Place], Head | None]) -> Place:
    for _ in range(_DEPTH):
        head = known(place)
        parent = ids.get(head.origin.parent) if head is not None and head.origin else None
        if parent is None or parent is place:
            break
        place = parent
    return place


class SessionList(RowList[SessionRow]):
    """The sessions, one line each."""

    opens_by_click: ClassVar[bool] = False
    expands: ClassVar[bool] = False
    shows_cursor: ClassVar[bool] = True
    now: Callable[[], float] = staticmethod(time.time)
    """Returns the current time; it decides what is today's."""

    def __init__(self, words: Words, catalogue: Catalogue, current: str = "") -> None:
        super().__init__(self._line, lambda row: row.place.id if row.place is not None else None)
        self._words, self._catalogue, self._current = words, catalogue, current
        self.has_folder, self.has_cost = True, False

    def is_entry(self, row: SessionRow) -> bool:
        return row.place is not None

    @property
    def place(self) -> Place | None:
        return self.row.place if self.row is not None else None

    def show_sessions(self, rows: list[SessionRow], note: str) -> None:
        before = self.place
        heads = [self._catalogue.known(row.place) for row in rows if row.place is not None]
        self.has_cost = any(head is not None and head.cost is not None for head in heads)
        self.show(rows, note, at=before.id if before is not None else "")
        if before is None or self.place is None or self.place.id != before.id:
            self.post_message(self.Moved())

    def _line(self, row: SessionRow, width: int) -> Content:
        if row.place is None:
            return Content.styled(self._words(row.group) if row.group else "", MUTED)
        return Content.assemble(*self._columns(row, row.place, width))

    def title_room(self, width: int) -> int:
        folder = FOLDER + 2 if self.has_folder else 0
        return max(width - USED - 2 - folder - TURNS - COST * self.has_cost, 8)

    def _columns(self, row: SessionRow, place: Place, width: int) -> Iterator[tuple[str, str]]:
        head = self._catalogue.known(place)
        room = self.title_room(width)
        title, style = self.title(row, head), "" if head is not None else FAINT
        mark = "  ╰ " if row.is_fork else ""
        yield mark, FAINT
        if place.id == self._current:
            here = self._words("this session")
            has_title = head is not None and bool(head.title)
            mark += "● "
            yield "● ", KEY
            title = f"{title}   {here}" if has_title else here
        yield fit(title, room - len(mark)), style
        seconds = self.now() - place.used
        used = self._words("now") if seconds < _NOW else age(seconds)
        yield f"  {fit(used, USED)}", MUTED
        if self.has_folder:
            folder = line(shown_folder(head.cwd)) if head is not None else ""
            yield f"  {fit(path_end(folder, FOLDER), FOLDER)}", MUTED
        turns = "" if head is None or head.turns is None else str(head.turns)
        yield turns.rjust(TURNS), MUTED
        if self.has_cost:
            cost = "" if head is None or head.cost is None else f"${head.cost:,.2f}"
            yield cost.rjust(COST), MUTED

    def title(self, row: SessionRow, head: Head | None) -> str:
        words = self._words
        if head is None:
            return "…"
        if head.problem is not None:
            return words("(cannot be read)")
        if row.is_fork and head.origin is not None:
            turn = head.origin.turn
            start = words("from the end" if turn is None else "from turn {turn}", turn=turn)
            return f"{start}: {head.since_fork}" if head.since_fork else start
        return head.title or words("(no prompt)")

"""Slots of a transcript, the windows that they show, and the decisions made for requests.

`placement` decides; this module has the values that it decides about.
"""

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate, islice
from operator import itemgetter
from typing import Literal, NamedTuple

REFERENCE = 8
"""Tokens of ``<Actions ref="…"/>``."""

HEAD = "system"
"""The name of the slot that holds the system prompt and the project's text."""

Kind = Literal["text", "call", "result", "thinking", "gist", "summary", "whole", "change"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The constants of the policy.

    Attributes:
        ahead: For how many requests outdated content is expected to be carried from now on.
        whole_at: The share of a whole block from which on changes become a new whole block.
        long: The tokens from which on an old result is replaced with its gist.
        recent: How many long results stay whole.
        budget: The most tokens of a request.
        anchor: The requests for which the place of the next sweep is foreseen.
        room: The share of the budget that a sweep for room frees down to.
        close: When a closed window leaves: with the next turn, or with the next request.
        fold: Whether a sweep replaces a chain after it with one whole block at the end.
    """

    ahead: int = 8
    whole_at: float = 0.67
    long: int = 200
    recent: int = 10
    budget: int | None = None
    anchor: int = 1_000
    room: float = 0.9
    close: Literal["turn", "now"] = "turn"
    fold: bool = True


class Form(NamedTuple):
    """One rendering of a slot."""

    kind: Kind
    tokens: int
    version: int = 0
    key: str | None = None
    actions: int = 0
    source: str = ""


@dataclass(slots=True, eq=False)
class Slot:
    """A place in the transcript."""

    id: str
    item: str  # the item or the window that it belongs to
    turn: int
    full: Form
    want: Form | None
    call: str | None = None  # the call that it is, that it answers, or in whose result it is
    gist: int = 0  # tokens of the gist of a result
    group: str = ""  # neighbours with the same one are a single message
    parts: tuple[int, ...] = ()  # the blocks of the item that it is
    is_words: bool = False  # the person said it
    text: str = ""  # the block of a window
    seq: int = 0  # of the item after the block of a window
    since: int = 0  # requests sent when `want` last changed
    reason: str = ""  # why `want` differs
    sent: Form | None = None
    at: int = -1  # its place, once a request contained it
    first: int = -1  # the place of the first slot of its message
    actions: str = ""  # "full", or "ref:" and the window whose list it refers to

    @property
    def is_outdated(self) -> bool:
        """Whether it was sent in a form that is not wanted any more."""
        return self.sent != self.want

    def gist_form(self) -> Form:
        """The gist of a result as it is now: an edit makes another one."""
        return Form("gist", self.gist, self.full.version)


@dataclass(slots=True, eq=False)
class View:
    """A window: its state now, and the chain of blocks (one whole, then changes) that shows it."""

    id: str
    kind: str
    tokens: int
    actions: int = 0
    key: str = ""
    version: int = 0
    is_open: bool = True
    is_dropped: bool = False
    chain: list[Slot] = field(default_factory=list)
    shown: int = 0  # the version of the last block of the chain
    pending: int = 0  # tokens of the change since then
    is_new: bool = False  # no change block can express it: opened, or another level of detail
    is_lowered: bool = False

    @property
    def is_current(self) -> bool:
        """Whether the chain shows its present state."""
        return bool(self.chain) and self.shown == self.version


class Offer(NamedTuple):
    """A sweep that could be made from `cut`."""

    cut: int
    rent: float
    price: float
    saved: int

    @property
    def gain(self) -> tuple[float, int]:
        """What it gains; of two that gain the same the earlier one is better."""
        return self.rent - self.price, -self.cut


class Sweep(NamedTuple):
    """A sweep that was made: after how many blocks, why, and what it cost and saved."""

    after: int
    reason: str
    rent: float
    price: float
    saved: int


class Request(NamedTuple):
    """What was decided for a request.

    Every slot before `start` is as it was. There are cache marks after `places` slots and `marks`
    blocks. Of its tokens, some are `outdated`, and the provider reads some from its cache;
    `written` and `plain` are the rest. It is over if something has to be trimmed first.
    """

    start: int
    places: list[int]
    marks: list[int]
    sweep: Sweep | None
    outdated: int
    read: int
    written: int
    plain: int
    is_over: bool


@dataclass(slots=True, eq=False)
class Decision:
    """What a request would contain: foreseen by `plan`, made by `apply`.

    Attributes:
        wants: What slots will want, and why.
        reasons: New reasons of slots that are outdated already.
        chains: The chains of windows that will differ.
        new: The window blocks to append, in order; `place` is where in the tail.
        offer: The sweep, and `reason` why; `cause` is the item or window that forced it.
        entries: The prefixes that the provider holds at that time.
        limit: The first slot that may change.
        dropped: Windows taken as dropped, or as shown again, to foresee what that costs.
        is_tight: Whether all long results become gists, because it would be over the budget.
    """

    now: float
    wants: dict[Slot, tuple[Form | None, str]] = field(default_factory=dict)
    reasons: dict[Slot, str] = field(default_factory=dict)
    chains: dict[str, list[Slot]] = field(default_factory=dict)
    new: list[Slot] = field(default_factory=list)
    place: int = 0
    offer: Offer | None = None
    reason: str = ""
    cause: str = ""
    entries: dict[int, float] = field(default_factory=dict)
    budget: int | None = None
    limit: int = 0
    dropped: dict[str, bool] = field(default_factory=dict)
    is_tight: bool = False

    @property
    def held(self) -> int:
        """The furthest place up to which the provider holds the transcript."""
        return max(self.entries, default=0)

    def is_out(self, view: View) -> bool:
        """Whether a window is not to be shown."""
        return not view.is_open or self.dropped.get(view.id, view.is_dropped)

    def want_of(self, slot: Slot) -> Form | None:
        """What a slot will want."""
        return self.wants[slot][0] if slot in self.wants else slot.want

    def reason_of(self, slot: Slot) -> str:
        """Why a slot will be outdated."""
        if slot in self.reasons:
            return self.reasons[slot]
        return self.wants[slot][1] if slot in self.wants else slot.reason


class Sums:
    """Sums of several numbers per slot over all slots before a place."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, ...]] = []
        self._sums: dict[int, list[int]] = {}  # as far as they were needed since a change

    def put(self, at: int, row: tuple[int, ...]) -> None:
        """Set the numbers of a slot; the next new one is appended."""
        self._rows[at : at + 1] = [row]
        self._forget(at)

    def cut(self, length: int) -> None:
        """Forget the numbers of all slots from a place on."""
        del self._rows[length:]
        self._forget(length)

    def before(self, at: int, column: int) -> int:
        """The sum of a column over all slots before a place."""
        return self._column(column)[at]

    def place(self, total: int, column: int) -> int:
        """The first place before which a column of numbers that are not negative has a sum."""
        return bisect_left(self._column(column), total)

    def _forget(self, at: int) -> None:
        for sums in self._sums.values():
            del sums[at + 1 :]

    def _column(self, column: int) -> list[int]:
        sums = self._sums.setdefault(column, [0])
        new = map(itemgetter(column), self._rows[len(sums) - 1 :])
        sums.extend(islice(accumulate(new, initial=sums[-1]), 1, None))
        return sums


def size_of(form: Form | None, actions: str) -> int:
    """The size of a form with its list of actions, or with a reference to one."""
    if form is None:
        return 0
    listed = form.actions if actions == "full" else REFERENCE
    return form.tokens + (listed if form.key else 0)

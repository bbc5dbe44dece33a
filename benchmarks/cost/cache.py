"""Simulated prompt cache of a provider: what each request reads, writes and costs.

The simulation sees only requests: blocks, cache marks and times. It knows nothing of the policy
that made them, so that every policy is priced in the same way.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from contextui.model import CachePrices

LOOK_BACK = 20
"""Places that are compared with the cache for each mark: the mark itself and those before it."""

ANTHROPIC = CachePrices(read=0.1, write=1.25, ttl=300.0, minimum=1_024, marks=4)


class Block(NamedTuple):
    """A part of a request; two blocks with the same key have the same bytes."""

    key: Hashable
    tokens: int


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as the provider receives it.

    Attributes:
        blocks: Its blocks in order; the first is the head, that is tools and system prompt.
        marks: After how many blocks cache marks are set.
        time: The time in seconds.
    """

    blocks: Sequence[Block]
    marks: Sequence[int]
    time: float


class Charge(NamedTuple):
    """Tokens of a request by how they are charged."""

    read: int
    written: int
    plain: int


class PromptCache:
    """Cache of prefixes. An entry exists where a mark was set, and expires if it is not used.

    Each mark finds the longest entry among the 20 places up to it. The longest entry found is read,
    the rest up to the last mark is written, and everything after that has the full price.

    Args:
        prices: The prices, the expiry and the smallest prefix that is cached.

    Raises:
        ValueError: A request has too many marks, or one outside its blocks.
    """

    def __init__(self, prices: CachePrices = ANTHROPIC) -> None:
        self.prices = prices
        self._names: dict[tuple[int, Block], int] = {}
        self._used: dict[int, float] = {}  # when each entry was used last

    def charge(self, sent: Sent) -> Charge:
        """Price a request and cache it up to its marks."""
        marks = sorted(set(sent.marks))
        if len(marks) > self.prices.marks:
            raise ValueError(f"a request has at most {self.prices.marks} marks, not {len(marks)}")
        if marks and not 0 < marks[0] <= marks[-1] <= len(sent.blocks):
            raise ValueError(f"marks {marks} do not fit {len(sent.blocks)} blocks")
        sizes = [0, *accumulate(block.tokens for block in sent.blocks)]
        names = list(accumulate(sent.blocks, self._name, initial=0))
        found = [self._find(names, mark, sent.time) for mark in marks]
        for at in found:
            if at:
                self._used[names[at]] = sent.time
        hit = max(found, default=0)
        large = [mark for mark in marks if sizes[mark] >= self.prices.minimum]
        for mark in large:
            if mark > hit:
                self._used[names[mark]] = sent.time
        last = max([hit, *large])
        return Charge(sizes[hit], sizes[last] - sizes[hit], sizes[-1] - sizes[last])

    def _name(self, before: int, block: Block) -> int:
        """Number each prefix: equal numbers are equal prefixes."""
        return self._names.setdefault((before, block), len(self._names) + 1)

    def _find(self, names: Sequence[int], mark: int, now: float) -> int:
        """Return the longest live entry that a mark finds; 0 if there is none."""
        for at in range(mark, max(0, mark - LOOK_BACK), -1):
            used = self._used.get(names[at])
            if used is not None and now - used <= self.prices.ttl:
                return at
        return 0


class Figures(NamedTuple):
    """Cost in input tokens at full price, and tokens sent; or both beside those of another run."""

    cost: float
    tokens: float


def figures(requests: Iterable[Sent], prices: CachePrices = ANTHROPIC) -> Figures:
    """Price requests, in order, with a cache of their own."""
    cache, cost, tokens = PromptCache(prices), 0.0, 0
    for sent in requests:
        charge = cache.charge(sent)
        cost += prices.read * charge.read + prices.write * charge.written + charge.plain
        tokens += sum(charge)
    return Figures(cost, tokens)

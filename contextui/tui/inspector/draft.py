"""The next request as it would go over the wire, compared with the one that left before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from contextui.agent.controller import InteractionController
from contextui.agent.request import MalformedRequestError
from contextui.agent.wire import Payload, payload
from contextui.context.messages import Composition
from contextui.model import ModelRequest
from contextui.tui.inspector.parts import Part, parts_of, raw, same, weigh
from contextui.tui.words import Words

_LONG = 3_000  # lines from which on a changed part is not compared line by line


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """A request to be drawn up.

    Attributes:
        now: What it is made of.
        sent: What was sent before, the newest last.
        turn: The turn that it belongs to.
        is_earlier: Whether it is of an earlier turn.
    """

    now: Composition
    sent: list[Composition]
    turn: int
    is_earlier: bool = False

    @property
    def stamp(self) -> tuple[object, ...]:
        """The same for what looks the same."""
        arriving = [(copy.window_id, copy.version) for copy in self.now.arriving.copies]
        newest = id(self.sent[-1]) if self.sent else 0
        now = (self.now.generation, self.now.tokens, self.now.through_seq)
        return (*now, arriving, newest, self.turn, self.is_earlier)


@dataclass(frozen=True, slots=True)
class Draft:
    """A request to be looked at.

    Attributes:
        order: What was asked for.
        parts: What it is made of, in order.
        cached: How many of the parts come from the cache.
        exact: The whole of it as it is sent.
        is_sent: Whether it left as it is, and nothing is new since.
        is_compared: Whether there was one before to compare it with.
    """

    order: Order
    parts: list[Part]
    cached: int
    exact: str
    is_sent: bool
    is_compared: bool

    @property
    def size(self) -> int:
        """How many bytes are sent."""
        return len(self.exact.encode("utf-8", "replace"))

    @property
    def cached_tokens(self) -> int:
        """What comes from the cache, by our own count."""
        return sum(part.tokens for part in self.parts[: self.cached])

    @property
    def anew_tokens(self) -> int:
        """What is sent anew, by our own count."""
        return sum(part.tokens for part in self.parts[self.cached :])


class Drafting:
    """Builds drafts. For a thread of its own: a request may be large.

    Args:
        controller: Makes requests of compositions.
        words: The language of the outline.
    """

    def __init__(self, controller: InteractionController, words: Words) -> None:
        self._controller, self._words = controller, words
        self._payloads: dict[int, tuple[Composition, Payload]] = {}

    def draft(self, order: Order) -> Draft:
        """Draw up a request."""
        before = self._sent(order.sent)
        current = payload(self._request(order.now), self._controller.model.name, before)
        cached = max((_held(one, current) for one in before), default=-1)
        parts = parts_of(current, cached, self._words)
        weigh(parts, self._controller.context.counter)
        older = [parts_of(one, -1, self._words) for one in before[-2:]]
        is_sent = bool(older) and same(older[-1], parts)
        bases = older[:-1] if is_sent else older
        if bases:
            compare(bases[-1], parts)
        covered = sum(part.first < cached for part in parts) if cached >= 0 else 0
        return Draft(order, parts, covered, raw(current.body), is_sent, bool(bases))

    def _request(self, composition: Composition) -> ModelRequest:
        try:
            return self._controller.request_of(composition)
        except MalformedRequestError:
            # Nobody said anything yet: there is a system prompt, and nothing to send.
            told = [one.content for one in composition.messages if one.role == "system"]
            system = "\n\n".join(one for one in told if isinstance(one, str))
            return ModelRequest(system, ())

    def _sent(self, sent: Sequence[Composition]) -> list[Payload]:
        known, self._payloads = self._payloads, {}
        payloads: list[Payload] = []
        for one in sent:
            there = known.get(id(one))
            if there is None or there[0] is not one:
                made = payload(self._request(one), self._controller.model.name, payloads)
                there = (one, made)
            self._payloads[id(one)] = there
            payloads.append(there[1])
        return payloads


def _held(sent: Payload, now: Payload) -> int:
    """How many blocks of a request the provider holds since it was sent another one.

    -1: nothing; 0: only what stands before the messages.
    """
    before, after = sent.request, now.request
    if (before.system, before.tools) != (after.system, after.tools):
        return -1
    shared = 0
    for old, new in zip(before.blocks(), after.blocks(), strict=False):
        if old != new:
            break
        shared += 1
    return max((mark for mark in sent.marks if mark <= shared), default=0)


def compare(before: Sequence[Part], now: Sequence[Part]) -> None:
    """Mark what is new and what changed since the request before."""
    known = {part.key: part for part in before}
    for part in now:
        old = known.get(part.key)
        if old is None:
            part.mark, part.marks = "+", ["+"] * len(part.lines)
        elif old.plain != part.plain:
            part.mark, part.marks = "~", _line_marks(old.lines, part.lines)


def _line_marks(before: list[str], now: list[str]) -> list[str]:
    if max(len(before), len(now)) > _LONG:
        return ["~"] * len(now)
    marks = [" "] * len(now)
    matcher = SequenceMatcher(None, before, now, autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind != "equal":
            marks[start:end] = ["+" if kind == "insert" else "~"] * (end - start)
    return marks

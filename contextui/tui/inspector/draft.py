"""Request drafts: the next request as it would be sent, with a diff to the previous one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from contextui.agent.cache_marks import payload
from contextui.agent.controller import InteractionController
from contextui.agent.request import MalformedRequestError
from contextui.context.messages import Composition
from contextui.model import ModelRequest
from contextui.tui.inspector.parts import Part, parts_of, raw
from contextui.words import Words

_LONG = 3_000  # lines from which a changed part is not compared line by line


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """An order for a request draft."""

    now: Composition
    sent: list[Composition]
    turn: int
    is_earlier: bool = False
    has_cache: bool = True

    @property
    def stamp(self) -> tuple[object, ...]:
        """A cache key: equal for orders that give the same draft."""
        newest = id(self.sent[-1]) if self.sent else 0
        now = (self.now.generation, self.now.tokens, self.now.through_seq)
        return (*now, id(self.now.plan), newest, self.turn, self.is_earlier, self.has_cache)


@dataclass(frozen=True, slots=True)
class Draft:
    """A request for inspection."""

    order: Order
    parts: list[Part]
    cached: int  # how many of them are cached
    exact: str  # the whole request as sent
    is_sent: bool  # exactly like this
    is_compared: bool  # whether there was a previous one to compare with

    @property
    def size(self) -> int:
        return len(self.exact.encode("utf-8", "replace"))


class Drafting:
    """Builds drafts. Run it on a thread: a request may be large."""

    def __init__(self, controller: InteractionController, words: Words) -> None:
        self._controller, self._words = controller, words

    def draft(self, order: Order) -> Draft:
        name = self._controller.model.name
        before = [payload(self._request(one), name) for one in order.sent]
        request, cached = self._planned(order)
        current = payload(request, name, before[-1] if before else None)
        parts = parts_of(current, cached, self._words)
        counter = self._controller.context.counter
        for part in parts:
            overhead = counter.message_overhead("user") if part.name and part.first >= 0 else 0
            part.tokens = overhead + counter.count_content(part.plain)
        older = [parts_of(one, -1, self._words) for one in before]
        content = [part.plain for part in parts]
        is_sent = any([part.plain for part in one] == content for one in older[-1:])
        bases = older[:-1] if is_sent else older
        if bases:
            compare(bases[-1], parts)
        covered = sum(part.first < cached for part in parts) if cached >= 0 else 0
        # A model that is not behind an API has no form of its own.
        write = getattr(self._controller.model, "body", lambda _: current.body)
        return Draft(order, parts, covered, raw(write(request)), is_sent, bool(bases))

    def _planned(self, order: Order) -> tuple[ModelRequest, int]:
        """Return the request, and how many of its blocks are cached; -1 if that is not known."""
        plan = order.now.plan
        if plan is None or order.is_earlier:
            return self._request(order.now), -1
        marked = replace(order.now, plan=replace(plan, marks=(plan.cached,)))
        request = self._request(marked)
        is_cached = plan.cached and order.has_cache
        cached = max(request.marks or (), default=0) if is_cached else -1
        return replace(request, marks=plan.marks), cached

    def _request(self, composition: Composition) -> ModelRequest:
        try:
            return self._controller.request_of(composition)
        except MalformedRequestError:
            # There is no message yet, only a system prompt.
            prompts = [one.content for one in composition.messages if one.role == "system"]
            system = "\n\n".join(prompt for prompt in prompts if isinstance(prompt, str))
            return ModelRequest(system, ())


def compare(before: Sequence[Part], now: Sequence[Part]) -> None:
    """Mark the parts and lines that are new or changed since the previous request."""
    known = {part.key: part for part in before}
    for part in now:
        old = known.get(part.key)
        if old is None:
            part.mark, part.marks = "+", [True] * len(part.lines)
        elif old.plain != part.plain:
            part.mark, part.marks = "~", line_marks(old.lines, part.lines)


def line_marks(before: list[str], now: list[str]) -> list[bool]:
    """Return for each line whether it is new or changed."""
    if max(len(before), len(now)) > _LONG:
        return [True] * len(now)
    marks = [True] * len(now)
    for _, start, size in SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks():
        marks[start : start + size] = [False] * size
    return marks

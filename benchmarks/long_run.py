"""Cost of 600 turns in a budget of 20,000 tokens: each strategy compared with trimming every turn.

The provider's cache is simulated: what is read from it costs 0.1 of a token, what is written into
it 1.25, all else 1; a request has four marks, and is looked for 20 blocks before each of them.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from unittest.mock import patch

from contextui import (
    Body,
    ContextItem,
    ContextManager,
    ContextStrategy,
    EntityExtraction,
    InteractionController,
    ItemType,
    Lod,
    SlidingWindow,
    Summarization,
    TokenCounter,
    TurnOptions,
    Window,
    WindowManager,
    action,
)
from contextui.agent.cache_marks import Payload, payload
from contextui.model import Answer, Block, ModelEvent, ModelRequest

BUDGET = 20_000
TURNS = 600
READ, WRITTEN, LOOKS_BACK = 0.1, 1.25, 20
WORDS = [
    "the",
    "shop",
    "needs",
    "a",
    "list",
    "of",
    "all",
    "that",
    "is",
    "sold",
    "each",
    "day",
    "and",
]


class Shelf(Window):
    """What is left of each thing."""

    class State(Window.State):
        left: dict[str, int] = {}

    state: State

    def content(self, lod: Lod) -> Body:
        if lod is Lod.GIST:
            return f"{len(self.state.left)} things"
        return "\n".join(f"{name}: {count}" for name, count in self.state.left.items())

    @action("Put something there")
    def put(self, name: str, count: int) -> str:
        self.state.left[name] = self.state.left.get(name, 0) + count
        return f"{name}: {self.state.left[name]}"


class ProviderCache:
    """Prices requests as a provider with a prefix cache does."""

    def __init__(self) -> None:
        self._kept: set[bytes] = set()

    def price(self, sent: Payload) -> float:
        """What a request costs, in tokens of full price."""
        head = {"tools": sent.body.get("tools"), "system": sent.body.get("system")}
        blocks = [one for message in sent.body["messages"] for one in message["content"]]
        sizes, prefixes = [_tokens(head)], [_digest(b"", head)]
        for block in blocks:
            bare = {name: value for name, value in block.items() if name != "cache_control"}
            sizes.append(_tokens(bare))
            prefixes.append(_digest(prefixes[-1], bare))
        marks = [0, *(n for n, one in enumerate(blocks, 1) if "cache_control" in one)]
        tried = {n for mark in marks for n in range(max(0, mark - LOOKS_BACK), mark + 1)}
        found = max((n for n in tried if prefixes[n] in self._kept), default=-1)
        self._kept |= {prefixes[mark] for mark in marks}
        last = max(marks[-1], found)
        read, written = sum(sizes[: found + 1]), sum(sizes[found + 1 : last + 1])
        return READ * read + WRITTEN * written + sum(sizes[last + 1 :])


@dataclass(slots=True)
class Figures:
    """Figures of a session.

    Attributes:
        requests: Requests of the turns.
        asides: Requests beside them: summaries and states.
        largest: The tokens of the largest request.
        cost: What all of them cost.
        bodies: What was sent, if it is to be looked at.
    """

    requests: int = 0
    asides: int = 0
    largest: int = 0
    cost: float = 0.0
    bodies: list[Payload] = field(default_factory=list)


class Shopkeeper:
    """A model that acts now and then, answers at some length, and remembers when it is asked to."""

    name = "shopkeeper"

    def __init__(self, look: Callable[[Payload], object]) -> None:
        self.figures, self._look = Figures(), look
        self._cache, self._random = ProviderCache(), Random(7)
        self._before: Payload | None = None
        self._counter = TokenCounter(encode=TokenCounter.estimate)
        self._calls = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        figures = self.figures
        sent = payload(request, "m", self._before)
        self._look(sent)
        if not request.tools:
            figures.asides += 1
            figures.cost += _tokens(sent.body)
            yield Answer(({"type": "text", "text": self._aside(request)},))
            return
        self._before = sent
        figures.requests += 1
        figures.cost += self._cache.price(sent)
        yield Answer((self._next_block(request),))

    def _aside(self, request: ModelRequest) -> str:
        if "JSON" in request.system:
            return json.dumps({"goal": "a list", "day": self._calls // 50})
        return "## Goal\nA list for the shop.\n## Next step\n" + self._words(120)

    def _next_block(self, request: ModelRequest) -> Block:
        last = request.messages[-1].content[-1]
        just_acted = not isinstance(last, str) and last["type"] == "tool_result"
        if just_acted or self._random.random() < 0.6:
            return {"type": "text", "text": self._words(80)}
        self._calls += 1
        given = {"name": self._random.choice(("milk", "eggs", "bread")), "count": self._calls}
        call = {"window_id": "shelf_1", "action_id": "put", "params": given}
        return {"type": "tool_use", "id": f"t{self._calls}", "name": "action", "input": call}

    def _words(self, count: int) -> str:
        return " ".join(self._random.choices(WORDS, k=count))


def play(
    strategy: ContextStrategy,
    *,
    turns: int = TURNS,
    compacts: bool = False,
    look: Callable[[Payload], object] = lambda _: None,
) -> Figures:
    """Play a session with a strategy, and count."""
    windows = WindowManager([Shelf])
    windows.open("shelf")
    context = ContextManager(windows, counter=TokenCounter(encode=TokenCounter.estimate))
    context.add(ContextItem(ItemType.SYSTEM, "You keep a shop. " + " ".join(WORDS * 20)))
    model = Shopkeeper(look)
    options = TurnOptions(budget=BUDGET, auto_compact=compacts)
    talk = InteractionController(model=model, context=context, options=options)
    talk.strategist.use(strategy)
    random = Random(3)

    async def go() -> None:
        for number in range(turns):
            words = f"Day {number}: " + " ".join(random.choices(WORDS, k=60))
            async for _ in talk.run_turn(words):
                pass
            model.figures.largest = max(model.figures.largest, context.outlook().tokens)
            await talk.strategist.settle(60)

    asyncio.run(go())
    return model.figures


@contextmanager
def trimming_every_turn() -> Iterator[None]:
    """Leave out just what must go, each time."""
    places = ("contextui.context.trim", "contextui.context.strategies.builtin")
    with patch(f"{places[0]}.STEP_DOWN_TO", 1.0), patch(f"{places[1]}.STEP_DOWN_TO", 1.0):
        yield


def strategies() -> dict[str, tuple[ContextStrategy, bool]]:
    """What is compared, and whether it is compacted beside."""
    schema = {"goal": "string", "day": "integer"}
    return {
        "sliding": (SlidingWindow(), False),
        "sliding, compacted": (SlidingWindow(), True),
        "sliding, 20 messages": (SlidingWindow(max_messages=20), False),
        "summarization": (Summarization(), False),
        "entities": (EntityExtraction(schema=schema), False),
    }


def _tokens(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False)) // 4


def _digest(before: bytes, value: object) -> bytes:
    return hashlib.sha256(before + json.dumps(value, sort_keys=True).encode()).digest()


def main() -> None:
    with trimming_every_turn():
        base = play(SlidingWindow())
    print(f"{TURNS} turns, a budget of {BUDGET:,} tokens")
    print(f"{'strategy':<24}{'requests':>9}{'asides':>8}{'largest':>9}{'cost':>13}{'ratio':>8}")
    rows = {"trimming every turn": base}
    rows |= {name: play(one, compacts=compacts) for name, (one, compacts) in strategies().items()}
    for name, one in rows.items():
        ratio = base.cost / one.cost
        print(f"{name:<24}{one.requests:>9,}{one.asides:>8,}{one.largest:>9,}"
              f"{one.cost:>13,.0f}{ratio:>7.1f}x")  # fmt: skip


if __name__ == "__main__":
    main()

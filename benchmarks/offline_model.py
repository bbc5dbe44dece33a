"""Latency of the offline model per sentence: 10 items in 1 window, and 5,000 items in 16 windows.

Both conversations are held in this process, sentence by sentence in turns, and the median of each
counts. After most sentences a window has changed, as in the app.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from statistics import median

from contextui import Body, Element, InteractionController, Lod, Window, WindowManager, action
from contextui.agent.approval import ApprovalGate
from contextui.agent.models.offline import OfflineModel
from contextui.context.manager import ContextManager
from contextui.model import ModelEvent, ModelRequest
from contextui.windowing.finding.registry import discover

SMALL, LARGE = (10, 1), (5_000, 16)
SYLLABLES = [one + other for one in "bdfgklmnprstvz" for other in "aeiou"]


def name_of(number: int) -> str:
    """Return a name of two words; each word is in about seventy names."""
    high, low = divmod(number - 1, len(SYLLABLES))
    return f"{SYLLABLES[-high % len(SYLLABLES)]}{SYLLABLES[high // 7]} {SYLLABLES[low]}ro"


SENTENCES = (
    "shelf_1.sell 7",
    "sell the {name}",
    "put {thing} on the shelf",
    "rename {name} to bolts",
    "what is {other}?",
    "paint the {thing} red",
)
THINGS = "screws nails bolts hinges hooks rings brushes buckets".split()  # noqa: SIM905


class ShelfWindow(Window):
    """A shelf with things."""

    name = "shelf"

    class State(Window.State):
        things: dict[int, str] = {}
        sold: list[int] = []

    state: State

    def opened(self, first: int, count: int) -> None:
        self.state.things = {one: name_of(one) for one in range(first, first + count)}

    def content(self, lod: Lod) -> Body:
        if lod is not Lod.FULL:
            return f"{len(self.state.things)} things"
        return [
            Element("thing", text, id=one, sold=one in self.state.sold or None)
            for one, text in self.state.things.items()
        ]

    @action("Sell a thing", zh="卖掉一件东西")
    def sell(self, thing: int) -> str:
        self.state.sold.append(thing)
        return f"Sold {thing}."

    @action("Put a thing on the shelf", zh="把东西放到架子上")
    def put(self, name: str) -> str:
        self.state.things[max(self.state.things) + 1] = name
        return f"{name!r} is on the shelf."

    @action("Rename a thing", zh="给东西改名")
    def rename(self, thing: int, name: str) -> str:
        self.state.things[thing] = name
        return f"{thing} is {name!r}."


class TimedModel(OfflineModel):
    """Adds up how long its answers took."""

    def __init__(self) -> None:
        self.seconds = 0.0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        start = time.perf_counter()
        events = [event async for event in OfflineModel.stream(self, request)]
        self.seconds += time.perf_counter() - start
        for event in events:
            yield event


class Conversation:
    """A conversation about so many items in so many windows."""

    def __init__(self, items: int, windows: int) -> None:
        self.windows = WindowManager([*discover().classes(), ShelfWindow])
        for number in range(windows):
            first = items * number // windows + 1
            count = items * (number + 1) // windows + 1 - first
            self.windows.open("shelf", first=first, count=count)
        self.model = TimedModel()
        self.controller = InteractionController(
            model=self.model, context=ContextManager(self.windows), approval=ApprovalGate("auto")
        )
        self.controller.install_prompt()

    async def say(self, words: str) -> float:
        """Run a turn; return the seconds that the model took."""
        self.model.seconds = 0.0
        async for _ in self.controller.run_turn(words):
            pass
        await self.windows.settle()
        return self.model.seconds


async def measure(rounds: int = 7) -> dict[str, tuple[float, float]]:
    """Return the seconds of each sentence in the small and in the large conversation."""
    small, large = Conversation(*SMALL), Conversation(*LARGE)
    times: dict[str, list[tuple[float, float]]] = {words: [] for words in SENTENCES}
    for number in range(rounds + 1):
        for words in SENTENCES:
            name, other = name_of(number + 1), name_of(number + 2)  # others in every round
            said = words.format(name=name, other=other, thing=THINGS[number])
            took = await small.say(said), await large.say(said)
            if number:  # the first round loads the vocabulary and the lexicon
                times[words].append(took)
    small.windows.shut_down()
    large.windows.shut_down()
    return {
        words: (median(one for one, _ in row), median(other for _, other in row))
        for words, row in times.items()
    }


def main() -> None:
    print("offline model, one sentence                      (ratio, same process, in turns)")
    print(f"{'10 items, 1 window':>20}  {'5,000 items, 16 windows':>24}  {'ratio':>6}")
    rows = asyncio.run(measure())
    whole = tuple(sum(column) for column in zip(*rows.values(), strict=True))
    for words, (small, large) in {**rows, "all": whole}.items():
        print(f"{small * 1e3:>17.1f} ms  {large * 1e3:>21.1f} ms  {large / small:>5.2f}x  {words}")


if __name__ == "__main__":
    main()

"""What a whole turn costs in a long conversation, beside langchain-core's `trim_messages`.

A turn is `run_turn` with a scripted model: add the message, compose, validate, answer, end. Beside
it, `trim_messages` alone cuts the same conversation to half of its tokens, which were counted
before. It is compared only where langchain-core is installed; it is no dependency.
"""

import asyncio
import gc
import time
from collections.abc import Callable
from typing import Any

from contextui import (
    Body,
    ContextItem,
    ContextManager,
    InteractionController,
    ItemType,
    Lod,
    ScriptedModel,
    TurnOptions,
    Window,
    WindowManager,
)

TURNS = 15
BUDGET = 10_000_000
SIZES = (1_000, 10_000, 100_000)


class NoteWindow(Window):
    """A note."""

    def content(self, lod: Lod) -> Body:
        return "a line of a note\n" * (20 if lod is Lod.FULL else 1)


def conversation(items: int) -> InteractionController:
    """A conversation with three windows and this many items, all of which were sent."""
    windows = WindowManager([NoteWindow])
    context = ContextManager(windows)
    for _ in range(3):
        windows.open("note")
    controller = InteractionController(
        model=ScriptedModel(*["Yes."] * (TURNS + 1)),
        context=context,
        options=TurnOptions(budget=BUDGET),
    )
    controller.install_prompt()
    for number in range(items // 2):
        context.add(ContextItem(ItemType.USER, f"question {number}"))
        context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}"))
    context.end_turn()
    return controller


async def ask(controller: InteractionController) -> None:
    async for _ in controller.run_turn("and now?"):
        pass


def turn_seconds(items: int) -> float:
    """The processor time of a turn, as the median of several."""

    async def go() -> list[float]:
        controller = conversation(items)
        await ask(controller)
        gc.collect()
        gc.freeze()  # as the app does
        times = []
        for _ in range(TURNS):
            start = time.process_time()
            await ask(controller)
            times.append(time.process_time() - start)
        gc.unfreeze()
        return times

    return sorted(asyncio.run(go()))[TURNS // 2]


def trimmer(items: int) -> Callable[[], object] | None:
    """The same with `trim_messages`; None if it is not installed."""
    try:
        from langchain_core.messages import (  # type: ignore[import-not-found]  # noqa: PLC0415
            AIMessage,
            HumanMessage,
            trim_messages,
        )
    except ImportError:
        return None
    messages = [
        kind(content=f"{word} {number}")
        for number in range(items // 2)
        for kind, word in ((HumanMessage, "question"), (AIMessage, "answer"))
    ]
    counts, most = {id(message): 7 for message in messages}, 7 * items // 2

    def count(given: list[Any]) -> int:
        return sum(counts.get(id(message), 7) for message in given)

    return lambda: trim_messages(
        messages, max_tokens=most, token_counter=count, strategy="last", start_on="human"
    )


def trim_seconds(items: int) -> float | None:
    """The processor time of trimming, as the median of several."""
    if (trim := trimmer(items)) is None:
        return None
    times = []
    for _ in range(TURNS):
        start = time.process_time()
        trim()
        times.append(time.process_time() - start)
    return sorted(times)[TURNS // 2]


def main() -> None:
    print("a whole turn                                    (ratios of processor time)")
    print(f"{'items':>8}  {'beside 1,000 items':>18}  {'beside trim_messages':>20}")
    first = 0.0
    for items in SIZES:
        ours, theirs = turn_seconds(items), trim_seconds(items)
        first = first or ours
        beside = f"{ours / theirs:>19.2f}x" if theirs else f"{'not installed':>20}"
        print(f"{items:>8}  {ours / first:>17.2f}x  {beside}")


if __name__ == "__main__":
    main()

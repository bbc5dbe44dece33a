"""How long a typed letter takes to appear while an answer streams, beside an idle app.

The real app runs without a terminal. A model streams 200 pieces of Markdown a second; letters are
typed at a steady pace, and the time until the frame with the letter was drawn is taken. Times of
the clock, since the person waits for everything that the app does in between.
"""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median

from textual import events

from contextui import InteractionController, SessionOptions, SessionStore
from contextui.agent.models.scripted import ScriptedModel
from contextui.model import Answer, ModelEvent, ModelRequest, TextDelta
from contextui.tui.app import ContextUIApp
from contextui.tui.app_session import AppSession

RATE = 200  # pieces a second
LETTERS = 40
PAUSE = 0.1  # seconds between two letters
LINE = "- a line with **words** of an answer that goes on and on, and `code` in it\n"


class Streaming(ScriptedModel):
    """A model that streams for as long as letters are typed."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:  # noqa: ARG002
        begun = time.monotonic()
        for number in range(int(RATE * PAUSE * LETTERS * 3)):
            await asyncio.sleep(max(begun + number / RATE - time.monotonic(), 0))
            start = number * 7 % len(LINE)
            yield TextDelta(LINE[start : start + 7])
        yield Answer(blocks=({"type": "text", "text": LINE},), stop_reason="end_turn")


async def letters(app: ContextUIApp) -> float:
    """The time until a letter is on the screen, as the median of several."""
    times = []
    for _ in range(LETTERS):
        await asyncio.sleep(PAUSE)
        before, drawn = len(app.main.prompt.text), asyncio.Event()
        start = time.monotonic()
        app.post_message(events.Key("a", "a"))
        while len(app.main.prompt.text) == before:
            await asyncio.sleep(0.001)
        app.main.call_after_refresh(drawn.set)
        await drawn.wait()
        times.append(time.monotonic() - start)
    return median(times)


async def measure() -> tuple[float, float]:
    """The times while nothing happens, and while an answer streams."""
    with tempfile.TemporaryDirectory() as home:
        session = SessionStore(home, SessionOptions()).create(Path(home))
        controller = InteractionController(model=Streaming(), context=session.context)
        desk = AppSession(session, controller)
        app = ContextUIApp(lambda: desk, folder=Path(home))
        async with app.run_test(size=(120, 40)):
            while app.main.turns is None:
                await asyncio.sleep(0.01)
            idle = await letters(app)
            app.main.send("Tell me a lot.")
            await asyncio.sleep(0.5)
            streaming = await letters(app)
            app.exit(0)
        desk.close()
    return idle, streaming


def main() -> None:
    idle, streaming = asyncio.run(measure())
    print(f"a letter while {RATE} pieces a second stream         (median of {LETTERS}, clock)")
    print(f"beside an idle app  {streaming / idle:>6.1f}x   {1_000 * streaming:.0f} ms")


if __name__ == "__main__":
    main()

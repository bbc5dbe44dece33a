"""What 100,000 rows, and one more, cost the inspector, beside Textual's `OptionList`.

Both lists are in the same app and are drawn after each step. The inspector takes a new snapshot of
the context, finds its rows again and draws those in view; the list of Textual adds options and
scrolls to the last. Its options are plain texts of one line.
"""

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from statistics import median

from textual.app import App, ComposeResult
from textual.widgets import OptionList

from benchmarks.turn import NoteWindow
from contextui import ContextItem, ContextManager, ItemType, WindowManager
from contextui.tui.inspector.items import ItemList
from contextui.tui.inspector.rows import rows_of
from contextui.tui.inspector.snapshot import snapshot_of
from contextui.words import Words

ROWS = 100_000
TIMES = 15


class Lists(App[None]):
    """Both lists."""

    CSS = "OptionList, ItemList { height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield ItemList(Words("en"))
        yield OptionList()


def conversation(rows: int, *, windows: bool) -> ContextManager:
    """A conversation of this many items that was sent; windows were opened at its beginning."""
    desktop = WindowManager([NoteWindow])
    context = ContextManager(desktop)
    context.add(ContextItem(ItemType.USER, "Begin."))
    for _ in range(3 * windows):
        desktop.open("note")
    context.mark_sent(context.compose())
    for number in range(rows // 2):
        context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}"))
        context.add(ContextItem(ItemType.USER, f"question {number}"))
    context.mark_sent(context.compose())
    context.end_turn()
    return context


async def seconds(work: Callable[[], Awaitable[object]]) -> float:
    """The processor time of an addition, as the median of several."""
    gc.collect()
    gc.freeze()  # as the app does
    times = []
    for _ in range(TIMES):
        start = time.process_time()
        await work()
        times.append(time.process_time() - start)
    gc.unfreeze()
    return median(times)


async def ours(app: Lists, context: ContextManager) -> tuple[float, float]:
    """The time of all items, and of one more."""
    listing = app.query_one(ItemList)

    async def add() -> None:
        context.add(ContextItem(ItemType.USER, "and now?"))
        snapshot = snapshot_of(context)
        rows = rows_of(snapshot)
        listing.show_items(snapshot, rows)
        listing.choose(len(rows) - 1)
        await drawn(app)

    start = time.process_time()
    await add()
    return time.process_time() - start, await seconds(add)


async def theirs(app: Lists) -> tuple[float, float]:
    """The time of all options, and of one more."""
    listing, start = app.query_one(OptionList), time.process_time()
    listing.add_options(f"answer {number}" for number in range(ROWS))
    await drawn(app)
    filled = time.process_time() - start

    async def add() -> None:
        listing.add_option("and now?")
        listing.highlighted = listing.option_count - 1
        await drawn(app)

    await add()
    return filled, await seconds(add)


async def drawn(app: App[None]) -> None:
    """Wait until the screen was drawn."""
    done = asyncio.Event()
    app.call_after_refresh(done.set)
    await done.wait()


async def compare() -> None:
    app = Lists()
    async with app.run_test(size=(120, 40)):
        without = await ours(app, conversation(ROWS, windows=False))
        with_windows = await ours(app, conversation(ROWS, windows=True))
        option_list = await theirs(app)
    print("the inspector, beside OptionList                (ratio of processor time)")
    print(f"{'':<28}  {f'{ROWS:,} rows':>14}  {'one more row':>14}")
    for name, (filled, added) in (("only messages", without), ("windows", with_windows)):
        of_all, of_one = filled / option_list[0], added / option_list[1]
        print(f"{name:<28}  {of_all:>13.3f}x  {of_one:>13.2f}x")


def main() -> None:
    asyncio.run(compare())


if __name__ == "__main__":
    main()

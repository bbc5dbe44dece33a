"""What one more turn costs: composed incrementally, and rendered from scratch, side by side."""

import time
from collections.abc import Callable

from contextui import (
    Body,
    ContextItem,
    ContextManager,
    ContextRenderer,
    ItemType,
    Lod,
    Window,
    WindowManager,
)


class NoteWindow(Window):
    """A note."""

    def content(self, lod: Lod) -> Body:
        return "a line of a note\n" * (20 if lod is Lod.FULL else 1)


def best(call: Callable[[], object], repeat: int = 7) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    print("one turn: add two messages, compose, stats      (ratios, same process)")
    print(f"{'items':>8}  {'incremental':>12}  {'from scratch':>12}  {'ratio':>7}")
    first = 0.0
    for items in (1_000, 10_000, 100_000):
        windows = WindowManager([NoteWindow])
        context = ContextManager(windows)
        for _ in range(3):
            windows.open("note")
        for number in range(items // 2):
            context.add(ContextItem(ItemType.USER, f"question {number}"))
            context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}"))
        context.compose()
        context.get_stats()

        def turn(context: ContextManager = context) -> None:
            context.add(ContextItem(ItemType.USER, "and now?"))
            context.mark_sent(context.compose(10_000_000))
            context.add(ContextItem(ItemType.ASSISTANT, "this"))
            context.end_turn()
            context.get_stats()

        def scratch(context: ContextManager = context, windows: WindowManager = windows) -> None:
            ContextRenderer().render(context.get_all(), windows)

        incremental, rendered = best(turn), best(scratch)
        first = first or incremental
        print(
            f"{items:>8}  {incremental / first:>11.2f}x  {rendered / first:>11.1f}x  "
            f"{rendered / incremental:>6.0f}x"
        )


if __name__ == "__main__":
    main()

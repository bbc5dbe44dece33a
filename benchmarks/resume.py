"""What resuming a session costs, beside reading its whole log as JSON."""

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from contextui import ContextItem, ItemType, SessionOptions, SessionStore, TokenCounter

ENTRIES = 20_000


def make(store: SessionStore) -> Path:
    """A log as a real session writes it; at this budget the cut moves with every few turns."""
    with store.create("/project") as session:
        context, turns = session.context, ENTRIES * 5 // 22
        for number in range(turns):
            context.add(ContextItem(ItemType.USER, f"{number} " + "words " * 400))
            context.mark_sent(context.compose(20_000))
            context.add(ContextItem(ItemType.ASSISTANT, f"{number} " + "answer " * 380))
            context.end_turn()
        return session.path


def best(call: Callable[[], object], repeat: int = 7) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    os.fdatasync = lambda fd: None  # noqa: ARG005  making the log is not what is measured
    options = SessionOptions(counter=lambda: TokenCounter(encode=lambda text: len(text) // 4 + 1))
    with tempfile.TemporaryDirectory() as home:
        store = SessionStore(home, options)
        path = make(store)
        parsed = 0

        def resume() -> None:
            nonlocal parsed
            with store.open(path.stem) as session:
                session.context.compose()
                parsed = session._recorder.loaded.parsed

        def read_all() -> None:
            with path.open("rb") as file:
                for line in file:
                    json.loads(line)

        with path.open("rb") as file:
            entries, size = sum(1 for _ in file), path.stat().st_size / 1e6
        resumed, read = best(resume), best(read_all, repeat=3)
    print("resuming: open and compose                       (ratio, same process)")
    print(f"{'entries':>8}  {'MB':>5}  {'parsed':>6}  {'of json.loads of all':>20}")
    print(f"{entries:>8}  {size:>5.0f}  {parsed:>6}  {resumed / read:>19.2f}x")


if __name__ == "__main__":
    main()

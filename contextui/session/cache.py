"""Results that may be asked for again soon: of reading a file, of a `read` action (S2.5)."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class CacheStore(Generic[V]):
    """Keeps the most recently used values, each for a while.

    Put what the value depends on into the key (a path with its mtime and size): then a changed
    file simply is another key.

    Args:
        size: How many values are kept; the least recently used goes first.
        seconds: How long a value is good for.
        clock: Tells the time in seconds; tests give their own.
    """

    def __init__(
        self, size: int = 100, seconds: float = 300, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._size, self._seconds, self._clock = size, seconds, clock
        self._values: OrderedDict[Hashable, tuple[float, V]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> V | None:
        """The value, if it is there and still good."""
        with self._lock:
            kept = self._values.get(key)
            if kept is None or self._clock() - kept[0] > self._seconds:
                self._values.pop(key, None)
                return None
            self._values.move_to_end(key)
            return kept[1]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()

    def put(self, key: Hashable, value: V) -> None:
        """Keep a value."""
        with self._lock:
            self._values[key] = (self._clock(), value)
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)

    def get_or(self, key: Hashable, make: Callable[[], V]) -> V:
        """The kept value, or a new one that is kept from now on."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

"""An LRU cache with expiry, for file reads and results of `read` actions."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")

_SIZE, _SECONDS = 100, 300


class CacheStore(Generic[V]):
    """LRU cache of 100 values, each of which expires after five minutes.

    Put what the value depends on into the key (a path with its mtime and size), so that a changed
    file is a different key.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._values: OrderedDict[Hashable, tuple[float, V]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> V | None:
        """Return the cached value, or None if it is missing or expired."""
        with self._lock:
            kept = self._values.get(key)
            if kept is None or self._clock() - kept[0] > _SECONDS:
                self._values.pop(key, None)
                return None
            self._values.move_to_end(key)
            return kept[1]

    def put(self, key: Hashable, value: V) -> None:
        """Cache a value."""
        with self._lock:
            self._values[key] = (self._clock(), value)
            self._values.move_to_end(key)
            while len(self._values) > _SIZE:
                self._values.popitem(last=False)

    def get_or(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the cached value, or create and cache it."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

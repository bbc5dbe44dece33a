"""The cache of results (S2.5): 100 entries, 5 minutes, the least recently used goes first."""

from contextui.session.cache import CacheStore


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_least_recently_used_goes_first() -> None:
    cache = CacheStore[int]()
    for number in range(100):
        cache.put(number, number)
    assert cache.get(0) == 0
    cache.put(100, 100)
    assert len(cache) == 100
    assert cache.get(1) is None
    assert cache.get(0) == 0


def test_a_value_is_good_for_five_minutes() -> None:
    clock = Clock()
    cache = CacheStore[str](clock=clock)
    cache.put("a", "x")
    clock.now = 300
    assert cache.get("a") == "x"
    clock.now = 301
    assert cache.get("a") is None
    assert len(cache) == 0


def test_a_changed_file_is_another_key() -> None:
    cache, reads = CacheStore[str](), list[str]()

    def read() -> str:
        reads.append("read")
        return "content"

    for mtime in (1, 1, 2):
        assert cache.get_or(("a.py", mtime, 7), read) == "content"
    assert len(reads) == 2

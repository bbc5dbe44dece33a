"""The work for a sentence does not grow with what the windows show: counted, not timed."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from benchmarks.offline_model import LARGE, SMALL, Conversation, name_of
from contextui.agent.models.offline import items, scene

MOST = 1_000
"""Items that may be looked at for one sentence, however many the windows show."""


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the items that are parsed, and those that are compared with the sentence."""
    counted: Counter[str] = Counter()

    def parsed(call: Callable[[str], Iterator[scene.Item]]) -> Any:
        def wrapped(raw: str) -> Iterator[scene.Item]:
            for item in call(raw):
                counted["parsed"] += 1
                yield item

        return wrapped

    def compared(item: scene.Item, tokens: Any) -> Any:
        counted["compared"] += 1
        return runs(item, tokens)

    runs = items._runs
    monkeypatch.setattr(items, "_runs", compared)
    monkeypatch.setattr(scene, "items_in", parsed(scene.items_in))
    scene.window_of.cache_clear()
    return counted


async def said(work: Counter[str], size: tuple[int, int], *sentences: str) -> Counter[str]:
    conversation = Conversation(*size)
    for words in sentences:
        work.clear()
        await conversation.say(words)
    conversation.windows.shut_down()
    return work


async def test_few_items_are_all_compared(work: Counter[str]) -> None:
    done = await said(work, SMALL, f"sell {name_of(3)}")
    assert 0 < done["parsed"] <= 100


async def test_of_many_items_only_some_are_looked_at(work: Counter[str]) -> None:
    """And windows that did not change are not parsed again."""
    done = await said(work, LARGE, f"what is {name_of(4)}?", f"sell {name_of(3)}")
    assert done["parsed"] <= MOST
    assert done["compared"] <= MOST

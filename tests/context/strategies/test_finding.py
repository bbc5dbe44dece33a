"""Strategies by name: our own, a package's, and the errors for those that cannot be used."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextui import StrategyError, Summarization, make_strategy
from contextui.config.settings import BUILTIN_STRATEGIES
from contextui.context.strategies.registry import strategy_names

MODULE = """
from contextui import ContextStrategy, Payload

class Last(ContextStrategy):
    def __init__(self, *, count: int = 1) -> None:
        self.count = count

    async def compose_payload(self, system_prompt, history, tools, rag_context=None):
        return Payload(history[-self.count:])

class Fussy(Last):
    def __init__(self, **anything):
        raise RuntimeError("not today")

nothing = 7
"""
WAITS_FOR_NOTHING = """
from contextui import ContextStrategy, Payload

class Hasty(ContextStrategy):
    def compose_payload(self, system_prompt, history, tools, rag_context=None):
        return Payload(history)
"""
POINTS = """
[contextui.strategies]
last = strange_strategies:Last
fussy = strange_strategies:Fussy
nothing = strange_strategies:nothing
missing = strange_strategies:Missing
hasty = hasty_strategies:Hasty
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with strategies, installed as pip would leave it."""
    info = tmp_path / "strange-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (tmp_path / "strange_strategies.py").write_text(MODULE)
    (tmp_path / "hasty_strategies.py").write_text(WAITS_FOR_NOTHING)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("strange_strategies", None)


def test_our_own_are_found_by_the_names_that_settings_know() -> None:
    assert tuple(strategy_names()) == BUILTIN_STRATEGIES
    assert [make_strategy(name).name for name in BUILTIN_STRATEGIES[:2]] == list(
        BUILTIN_STRATEGIES[:2]
    )


def test_settings_reach_the_strategy() -> None:
    made = make_strategy("summarization", {"threshold": 20})
    assert isinstance(made, Summarization)
    assert made.threshold == 20


@pytest.mark.usefixtures("package")
def test_a_packages_strategies_are_found() -> None:
    assert strategy_names() == [*BUILTIN_STRATEGIES, "fussy", "hasty", "last", "missing", "nothing"]
    assert vars(make_strategy("last", {"count": 3})) == {"count": 3, "name": "last"}


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "config", "words"),
    [
        ("lost", {}, 'There is no strategy "lost". Available: sliding, summarization, entities, '),
        ("nothing", {}, "is not a ContextStrategy"),
        ("missing", {}, "cannot be loaded"),
        ("hasty", {}, "cannot be loaded: Hasty.compose_payload must be an async def."),
        ("fussy", {"a": 1}, "cannot be created: RuntimeError: not today"),
        ("last", {"cuont": 1}, 'has no setting "cuont". It has: count.'),
        ("entities", {"schema": 7}, "must be an object with properties"),
        ("entities", {"schema": {}}, "must be an object with properties"),
        ("entities", {"schema": {"city": "town"}}, "must have one of the types string, "),
        ("entities", {"schema": {"type": "object", "properties": {}}}, "has no properties"),
        ("summarization", {"fold": 0}, "fold at least 1"),
        ("summarization", {"threshold": 5}, "threshold must be at least fold + 2"),
        ("summarization", {"threshold": "a"}, 'threshold is "a": it must be a whole number.'),
        ("summarization", {"fold": True}, 'fold is "True": it must be a whole number.'),
        ("sliding", {"max_messages": -1}, "0 or more"),
        ("sliding", {"max_messages": 3}, "must not be more than"),
    ],
)
def test_an_unusable_strategy_is_reported(name: str, config: dict[str, Any], words: str) -> None:
    with pytest.raises(StrategyError, match=r"strategy|nothing") as caught:
        make_strategy(name, config)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("package")
def test_a_strategy_is_named_without_changing_its_class() -> None:
    made = make_strategy("last")
    assert (made.name, type(made).name) == ("last", "")


def test_errors_are_translated() -> None:
    with pytest.raises(StrategyError) as caught:
        make_strategy("summarization", {"threshold": 1})
    assert caught.value.text("zh").startswith("策略 summarization：threshold 至少为 fold + ")
    with pytest.raises(StrategyError) as caught:
        make_strategy("summarization", {"threshold": "ten"})
    assert caught.value.text("zh").endswith("应为：整数。")

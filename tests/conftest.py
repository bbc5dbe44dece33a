"""Settings that all tests share."""

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from contextui.context.manager import ContextManager
from contextui.session.session import SessionOptions

# The first example may load the vocabulary, and windows have threads: time says nothing here.
# A build checks a commit, so it runs the same examples each time; people run new ones.
settings.register_profile(
    "contextui",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize="CI" in os.environ,
)
settings.load_profile("contextui")

# What is written waits in a buffer where people run the program; what goes wrong then must be seen.
os.environ.pop("PYTHONUNBUFFERED", None)
# A terminal must not run the start-up files of the person who runs the tests.
os.environ["SHELL"] = "/bin/sh"
os.environ.pop("ENV", None)


@pytest.fixture
def by_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Place windows at the end of each turn by default, as version 1 did."""
    named = ContextManager.__init__.__kwdefaults__ or {}
    monkeypatch.setitem(named, "placement", "turn")
    given = SessionOptions.__init__.__defaults__ or ()
    values = tuple("turn" if value == "price" else value for value in given)
    monkeypatch.setattr(SessionOptions.__init__, "__defaults__", values)


@pytest.fixture(autouse=True, scope="session")
def one_parse() -> Iterator[None]:
    """Each style sheet is parsed once, and not by each of the hundreds of apps again."""
    known: dict[Any, list[RuleSet]] = {}
    parse = Stylesheet._parse_rules

    def parse_once(sheet: Stylesheet, *given: Any, **named: Any) -> list[RuleSet]:
        key = (given, *named.items(), *sheet._variables.items())
        if key not in known:
            known[key] = parse(sheet, *given, **named)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


def pytest_collection_finish() -> None:
    """What is imported stays; to look through it for garbage takes a fifth of a screen's time.

    What an app leaves behind is looked for more seldom, too: that takes a sixth of its time.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)

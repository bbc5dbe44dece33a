"""No test of the screen touches the home of the person who runs it."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "own-home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CONTEXTUI_HOME", str(home / ".contextui"))
    return home


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

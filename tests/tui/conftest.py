"""No test of the screen touches the home of whoever runs it."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "own-home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CONTEXTUI_HOME", str(home / ".contextui"))
    return home


QUICK = (
    "test_arrangement.py",
    "test_folding.py",
    "test_jsonlines.py",
    "test_plot.py",
    "test_prices.py",
    "test_rows.py",
    "test_splices.py",
    "test_values.py",
    "test_words.py",
    "test_wrapping.py",
)
"""What needs no screen among the tests of windows and inspector. The others take minutes together:
`make test-long` runs them, `make test` does not."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        in_pane = item.path.parent.name in ("desktop", "inspector")
        if (in_pane and item.path.name not in QUICK) or "storm" in item.name:
            item.add_marker(pytest.mark.long)

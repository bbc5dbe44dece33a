"""No test of the screen touches the home of whoever runs it."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "own-home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CONTEXTUI_HOME", str(home / ".contextui"))
    return home


LONG = (
    "desktop/test_acting.py",
    "desktop/test_form.py",
    "desktop/test_hostile.py",
    "desktop/test_own_editor.py",
    "inspector/test_hostile.py",
    "inspector/test_items.py",
)
"""What takes minutes together: `make test-long` runs it, `make test` does not."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if str(item.path).endswith(LONG) or "storm" in item.name:
            item.add_marker(pytest.mark.long)

"""No test of the screen touches the home of the person who runs it."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "own-home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CONTEXTUI_HOME", str(home / ".contextui"))
    return home

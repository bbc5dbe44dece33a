"""What the tests of finding windows share."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is the current one, so that paths in messages are short."""
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    assert sys.path == path

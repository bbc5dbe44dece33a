"""What tests of windows share."""

from collections.abc import Iterator

import pytest

from contextui import Window, WindowManager
from tests.windowing.samples import Counter, act


@pytest.fixture
def windows() -> WindowManager:
    return WindowManager()


@pytest.fixture
def neighbour(windows: WindowManager) -> Iterator[Window]:
    """Another window, which nothing in the test may harm."""
    window = windows.open(Counter)
    yield window
    assert act(windows, window, "up").ok
    assert window.snapshot().content == "Full: 1"
    assert not window.snapshot().stale

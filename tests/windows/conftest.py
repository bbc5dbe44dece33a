"""Tests with a pilot run in the app of their module, as the tests of the interface do."""

import pytest

from tests.tui import conftest
from tests.tui.conftest import pilot
from tests.tui.sharing import SharedChat

__all__ = ["pilot"]


@pytest.fixture
def shared(chat: SharedChat) -> SharedChat:
    return chat


@pytest.fixture
def size() -> tuple[int, int]:
    return (150, 40)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test with a pilot in the shared app."""
    return conftest.pytest_pyfunc_call(pyfuncitem) if "pilot" in pyfuncitem.funcargs else None

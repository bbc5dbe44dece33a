"""Settings that all tests share."""

import os

import pytest
from hypothesis import HealthCheck, settings

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

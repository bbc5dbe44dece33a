"""Fixtures of the tests of MCP servers: the program, and a server that is its model."""

import pytest

from contextui import secrets
from tests.cli.conftest import program, server

__all__ = ["program", "server"]


@pytest.fixture(autouse=True)
def own_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the secrets of a test after it: texts that begin like them are held back."""
    monkeypatch.setattr(secrets, "_entered", set())
    monkeypatch.setattr(secrets, "_own", ({}, {}))

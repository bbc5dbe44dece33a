"""What the environment says is kept out of these tests."""

import os

import pytest


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().startswith(("ANTHROPIC_", "SSL_CERT_")) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)

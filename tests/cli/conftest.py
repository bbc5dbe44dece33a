"""Fixtures of the command-line tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextui.words import set_language
from tests.agent.server import Server
from tests.cli.calling import SECRET, Program


@pytest.fixture
def program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    return Program(tmp_path, monkeypatch, capsys)


@pytest.fixture
def server(program: Program) -> Iterator[Server]:
    """A server that is the configured model."""
    with Server() as server:
        program.set(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY=SECRET)
        yield server


@pytest.fixture(autouse=True)
def _reset_language() -> Iterator[None]:
    """Reset the language, which belongs to the process."""
    yield
    set_language("en")

"""Fixtures of the command-line tests."""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from contextui.windowing.finding import registry
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


@pytest.fixture(autouse=True, scope="session")
def _look_for_packages_once() -> Iterator[None]:
    """Look for the windows of installed packages once, and not at each call: they do not change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "entry_points", cache(entry_points))
        patch.setattr(registry, "_package", cache(registry._package))
        yield

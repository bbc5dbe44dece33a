"""The app that the tests of windows share."""

from collections.abc import Iterator

import pytest

from contextui.windowing.finding.registry import discover
from tests.tui.desktop.samples import SAMPLES
from tests.tui.sharing import SharedChat


@pytest.fixture(scope="session")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedChat]:
    windows = [*discover().classes(), *SAMPLES]
    shared = SharedChat(tmp_path_factory.mktemp("windows"), inspector=True, windows=windows)
    yield shared
    shared.close()


@pytest.fixture
def shared(chat: SharedChat) -> SharedChat:
    return chat

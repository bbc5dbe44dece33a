"""The app that the tests of windows share."""

import pytest

from contextui.windowing.finding.registry import discover
from tests.tui.desktop.samples import SAMPLES
from tests.tui.sharing import SharedChat, sharing


def _chat(temp: pytest.TempPathFactory) -> SharedChat:
    windows = [*discover().classes(), *SAMPLES]
    return SharedChat(temp.mktemp("windows"), inspector=True, windows=windows)


chat = sharing(_chat, "session")


@pytest.fixture
def shared(chat: SharedChat) -> SharedChat:
    return chat

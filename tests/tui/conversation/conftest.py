"""The app that the tests of the conversation share."""

import pytest

from tests.tui.sharing import SharedChat, sharing

chat = sharing(lambda temp: SharedChat(temp.mktemp("chat")), "session")


@pytest.fixture
def shared(chat: SharedChat) -> SharedChat:
    return chat

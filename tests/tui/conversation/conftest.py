"""The app that the tests of the conversation share."""

from collections.abc import Iterator

import pytest

from tests.tui.sharing import SharedChat


@pytest.fixture(scope="session")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedChat]:
    shared = SharedChat(tmp_path_factory.mktemp("chat"))
    yield shared
    shared.close()


@pytest.fixture
def shared(chat: SharedChat) -> SharedChat:
    """The app of tests with a pilot."""
    return chat

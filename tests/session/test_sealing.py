"""No key of the environment is in a log, and nothing of a log is lost by that."""

import json
import os
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.context.item import ContextItem, ItemType
from contextui.session.lines import seal, unseal
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from tests.windowing.samples import Todo

KEY = 'k3y-that-"nobody"-may-see'
ENVIRONMENT = {"ANTHROPIC_API_KEY": KEY, "OTHER_TOKEN": KEY + "-at-all", "SHORT_SECRET": "word"}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


pieces = st.sampled_from(
    [*ENVIRONMENT.values(), "⟦ANTHROPIC_API_KEY⟧", "⟦=ANTHROPIC_API_KEY⟧", "⟦", "=", "⟧", '"', "x"]
)


@given(st.lists(pieces | st.text(max_size=5)))
def test_what_is_read_back_is_what_was_written(parts: list[str]) -> None:
    line = json.dumps({"said": "".join(parts)}, ensure_ascii=False)
    with patch.dict(os.environ, ENVIRONMENT):
        sealed = seal(line)
        assert json.dumps(KEY)[1:-1] not in sealed
        assert unseal(sealed.encode("utf-8", "surrogatepass")) == line.encode(
            "utf-8", "surrogatepass"
        )


def test_a_session_with_a_key_in_it_goes_on_and_its_log_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SessionStore(tmp_path, SessionOptions(classes=[Todo]))
    words = f"Put {KEY} into .env, and ⟦ANTHROPIC_API_KEY⟧ as it is."
    with store.create(tmp_path) as session:
        session.context.add(ContextItem(ItemType.USER, words))
        session.windows.open("todo", items=[KEY])
        log = session.path
    written = log.read_text()
    assert json.dumps(KEY)[1:-1] not in written
    assert "Put ⟦ANTHROPIC_API_KEY⟧ into .env" in written

    def come_back() -> tuple[str, str]:
        with store.open(log.stem) as session:
            todo = session.windows.get("todo_1")
            assert isinstance(todo, Todo)
            return session.context.get_all()[0].content, todo.state.items[0].text

    assert come_back() == (words, KEY)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert come_back() == (words.replace(KEY, "⟦ANTHROPIC_API_KEY⟧"), "⟦ANTHROPIC_API_KEY⟧")


def test_a_line_without_keys_is_unchanged() -> None:
    line = '{"said":"word"}'
    assert seal(line) is line
    assert unseal(line.encode()) == line.encode()

"""What was done last is taken back, where that is possible; else it is said that it is not."""

from pathlib import Path

import pytest

from tests.agent.models.offline.talk import Talk


@pytest.mark.parametrize("words", ["undo that", "put milk back", "put it back", "bring it back"])
def test_what_was_deleted_comes_back(words: str, tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", items=["milk", "eggs"])
        talk.say("delete milk")
        assert talk.say(words).calls == ("todo_1.add text=milk",)


def test_what_is_there_is_not_added_once_more(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", items=["milk", "eggs"])
        talk.say("mark milk as done")
        assert talk.say("put milk back").calls == ("todo_1.undone item=1",)


@pytest.mark.parametrize("words", ["undo everything", "undo all of it", "全部撤销"])
@pytest.mark.parametrize("name", ["todo", "editor"])
def test_one_step_is_not_taken_for_all(words: str, name: str, tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open(name, **({"path": "notes.txt"} if name == "editor" else {}))
        turn = talk.say(words)
        assert turn.calls == ()
        assert "one thing at a time" in turn.text or "一步一步" in turn.text

"""Slips of the fingers are read as what was meant, as long as that is clear."""

from pathlib import Path

import pytest

from tests.agent.models.offline.talk import Talk


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("delte milk", "todo_1.delete item=1"),
        ("ad tea", "todo_1.add text=tea"),
        ("ad buter to the lsit", "todo_1.add text=buter"),
        ("clsoe the list", "todo_1.close"),
        ("open the notbook", "create notebook"),
    ],
)
def test_a_verb_or_a_window_may_be_misspelled(words: str, call: str, tmp_path: Path) -> None:
    with Talk(tmp_path, classes=()) as talk:
        talk.windows.open("todo", items=["milk", "eggs"])
        assert talk.say(words).calls == (call,)


@pytest.mark.parametrize("words", ["make eggs dne", "cst eggs", "wype the list"])
def test_nothing_is_done_on_a_guess(words: str, tmp_path: Path) -> None:
    with Talk(tmp_path, classes=()) as talk:
        talk.windows.open("todo", items=["milk", "eggs"])
        assert talk.say(words).calls == ()

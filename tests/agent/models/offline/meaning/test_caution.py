"""What no window can do is not done in some other way: it is said that it cannot be done."""

from pathlib import Path
from typing import Any

import pytest

from tests.agent.models.offline.later_windows import PlaylistWindow
from tests.agent.models.offline.talk import Talk

OPENED: dict[str, dict[str, Any]] = {
    "todo": {"items": ["milk", "eggs"]},
    "editor": {"path": "notes.txt"},
    "monitor": {},
    "playlist": {},
}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("todo", "assign milk to Bob"),
        ("todo", "把 milk 分给小红"),
        ("todo", "turn off the light"),
        ("todo", "关灯"),
        ("todo", "email the list to Bob"),
        ("todo", "make milk bold"),
        ("todo", "小刚今天请假没来"),
        ("editor", "make it bold"),
        ("editor", "indent line 2"),
        ("editor", "explain this file"),
        ("editor", "delete the file"),
        ("editor", "swap lines 1 and 2"),
        ("monitor", "shut down the machine"),
        ("monitor", "关掉电脑"),
        ("playlist", "turn off the light"),
    ],
)
def test_nothing_else_is_done_instead(name: str, words: str, tmp_path: Path) -> None:
    with Talk(tmp_path, classes=(PlaylistWindow,)) as talk:
        talk.windows.open(name, **OPENED[name])
        turn = talk.say(words)
        assert turn.calls == ()
        assert turn.text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("todo", "close the list"),
        ("todo", "清单可以关了"),
        ("todo", "close it"),
        ("editor", "close the file"),
        ("monitor", "close the monitor"),
        ("monitor", "关掉监控"),
    ],
)
def test_a_window_is_closed_by_what_it_is(name: str, words: str, tmp_path: Path) -> None:
    with Talk(tmp_path, classes=()) as talk:
        talk.windows.open(name, **OPENED[name])
        assert talk.say(words).calls == (f"{name}_1.close",)


def test_what_is_to_stay_open_is_not_closed(tmp_path: Path) -> None:
    with Talk(tmp_path, classes=()) as talk:
        talk.windows.open("todo")
        talk.windows.open("monitor")
        turn = talk.say("you can close the monitor now, but leave my list open")
        assert turn.calls == ("monitor_1.close",)

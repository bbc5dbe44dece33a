"""What no window can do is not done in some other way: it is said that it cannot be done."""

from pathlib import Path
from typing import Any

import pytest

from tests.agent.models.offline.custom_windows import ThermostatWindow
from tests.agent.models.offline.later_windows import (
    ClassroomWindow,
    LedgerWindow,
    PantryWindow,
    PlaylistWindow,
)
from tests.agent.models.offline.talk import Talk

OPENED: dict[str, dict[str, Any]] = {
    "todo": {"items": ["milk", "eggs"]},
    "editor": {"path": "notes.txt"},
    "files": {},
    "notebook": {},
    "monitor": {},
    "playlist": {},
    "thermostat": {"room": "kitchen"},
    "pantry": {"foods": ["eggs", "rice"]},
    "classroom": {"pupils": ["小明", "小红"]},
}
OTHERS = (ThermostatWindow, ClassroomWindow, LedgerWindow, PantryWindow, PlaylistWindow)


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
        ("editor", "comment out line 3"),
        ("editor", "rename the file to a.txt"),
        ("editor", "第二行加粗"),
        ("editor", "save the whales"),
        ("files", "rename notes.txt to a.txt"),
        ("notebook", "write a poem about spring"),
        ("notebook", "全部删掉"),
        ("monitor", "shut down the machine"),
        ("monitor", "关掉电脑"),
        ("playlist", "turn off the light"),
        ("thermostat", "set an alarm for 7"),
        ("thermostat", "lock the door"),
        ("pantry", "I might use the rice tomorrow"),
        ("classroom", "别让小明坐后排"),
        ("classroom", "小明和小红换座位"),
    ],
)
def test_nothing_else_is_done_instead(name: str, words: str, tmp_path: Path) -> None:
    with Talk(tmp_path, classes=OTHERS) as talk:
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


def test_a_switch_that_hides_is_turned_on_by_hiding(tmp_path: Path) -> None:
    with Talk(tmp_path, classes=OTHERS) as talk:
        talk.windows.open("ledger")
        assert talk.say("把金额藏起来").calls == ("ledger_1.hide on=True",)


def test_what_stands_on_a_shelf_is_not_the_shelf(tmp_path: Path) -> None:
    with Talk(tmp_path, classes=OTHERS) as talk:
        talk.windows.open("pantry", foods=["eggs", "jam"])
        turn = talk.say("put the jam on the top shelf")
        assert turn.calls == ("pantry_1.shelve food=jam shelf=top",)

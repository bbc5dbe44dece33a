"""What no window can do is refused, and nothing else is done instead."""

from pathlib import Path
from typing import Any

import pytest

from contextui.words import Lang
from tests.agent.models.offline.talk import Talk

OPENED: dict[str, dict[str, Any]] = {
    "todo": {"items": ["milk", "eggs"]},
    "editor": {"path": "notes.txt"},
    "thermostat": {"room": "kitchen"},
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
        ("todo", "sort the list"),
        ("todo", "shuffle the list"),
        ("todo", "make eggs dne"),
        ("todo", "cst eggs"),
        ("todo", "undo everything"),
        ("todo", "wype the list"),
        ("todo", "clsoe the list"),
        ("todo", "放点音乐"),
        ("editor", "make it bold"),
        ("editor", "indent line 2"),
        ("editor", "explain this file"),
        ("editor", "swap lines 1 and 2"),
        ("editor", "comment out line 3"),
        ("editor", "rename the file to a.txt"),
        ("editor", "第二行加粗"),
        ("editor", "save the whales"),
        ("editor", "delete the file"),
        ("editor", "undo everything"),
        ("files", "rename notes.txt to a.txt"),
        ("notebook", "write a poem about spring"),
        ("notebook", "全部删掉"),
        ("monitor", "shut down the machine"),
        ("monitor", "关掉电脑"),
        ("thermostat", "set an alarm for 7"),
        ("thermostat", "lock the door"),
        ("kanban", "start working on fix login"),
        ("kanban", "turn fix login into gold"),
    ],
)
def test_nothing_else_is_done_instead(name: str, words: str, tmp_path: Path) -> None:
    lang: Lang = "en" if words.isascii() else "zh"
    with Talk(tmp_path, lang, opened={name: OPENED.get(name, {})}) as talk:
        if name == "kanban":
            talk.act("kanban_1", "add_card", title="fix login")
        turn = talk.say(words)
    assert turn.calls == ()
    assert turn.text


@pytest.mark.parametrize(
    ("name", "words", "call"),
    [
        ("todo", "add plums to my todo list", "todo_1.add text=plums"),
        ("todo", "add tea at the top", "todo_1.add text=tea"),
        ("todo", "add tea to the end of the list", "todo_1.add text=tea"),
        ("todo", "add tea & cake to it", "todo_1.add text=['tea', 'cake']"),
        ("todo", "add bread to todo_9", ""),
        ("editor", "delete the first two lines", "editor_1.delete_lines first=1 last=2"),
        ("editor", "replace one with uno everywhere", "editor_1.replace old=one new=uno count=1"),
        ("monitor", "you can close the monitor, but leave my list open", "monitor_1.close"),
    ],
)
def test_no_other_words_get_into_a_value(name: str, words: str, call: str, tmp_path: Path) -> None:
    with Talk(tmp_path, opened={name: OPENED.get(name, {})}) as talk:
        assert talk.say(words).calls in ((), (call,))

"""What no window can do is refused, and nothing else is done instead.

A sentence marked `not_yet` is still taken for something else: remove the mark once it is refused.
"""

from pathlib import Path
from typing import Any

from contextui.words import Lang
from tests.agent.models.offline.talk import Talk

OPENED: dict[str, dict[str, Any]] = {
    "todo": {"items": ["milk", "eggs"]},
    "editor": {"path": "notes.txt"},
    "thermostat": {"room": "kitchen"},
}


def test_nothing_else_is_done_instead(tmp_path: Path) -> None:
    for name, words in (
        ("todo", "assign milk to Bob"),
        ("todo", "turn off the light"),
        ("todo", "email the list to Bob"),
        ("todo", "小刚今天请假没来"),
        ("todo", "sort the list"),
        ("todo", "make eggs dne"),
        ("todo", "undo everything"),
        ("todo", "wype the list"),
        ("todo", "放点音乐"),
        ("editor", "make it bold"),
        ("editor", "explain this file"),
        ("editor", "swap lines 1 and 2"),
        ("editor", "rename the file to a.txt"),
        ("editor", "第二行加粗"),
        ("editor", "delete the file"),
        ("files", "rename notes.txt to a.txt"),
        ("notebook", "write a poem about spring"),
        ("notebook", "全部删掉"),
        ("monitor", "shut down the machine"),
        ("thermostat", "lock the door"),
        ("kanban", "turn fix login into gold"),
    ):
        lang: Lang = "en" if words.isascii() else "zh"
        with Talk(tmp_path, lang) as talk:
            talk.windows.open(name, **OPENED.get(name, {}))
            if name == "kanban":
                talk.act("kanban_1", "add_card", title="fix login")
            turn = talk.say(words)
        assert turn.calls == (), name
        assert turn.text, name


def test_no_other_words_get_into_a_value(tmp_path: Path) -> None:
    for name, words, call in (
        ("todo", "add plums to my todo list", "todo_1.add text=plums"),
        ("todo", "add tea to the end of the list", "todo_1.add text=tea"),
        ("todo", "add tea & cake to it", "todo_1.add text=['tea', 'cake']"),
        ("todo", "add bread to todo_9", ""),
        ("editor", "delete the first two lines", "editor_1.delete_lines first=1 last=2"),
        ("editor", "replace one with uno everywhere", "editor_1.replace old=one new=uno count=1"),
        ("monitor", "you can close the monitor, but leave my list open", "monitor_1.close"),
    ):
        with Talk(tmp_path) as talk:
            talk.windows.open(name, **OPENED.get(name, {}))
            assert talk.say(words).calls in ((), (call,)), name

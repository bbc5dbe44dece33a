"""Sentences that a careless matcher would take for a request: nothing may be done.

In each row the last sentence must make no call. What is said before it may.
"""

from pathlib import Path
from typing import Any

from contextui.words import Lang
from tests.agent.models.offline.talk import Talk

FILES = {
    "notes.txt": "buy milk\ncall Anna\nmilk is cheap\nTODO fix heater\nthe end\n",
    "zh.txt": "第一章\n今天天气很好\n买牛奶\n结束\n",
    "README.md": "# Example\nHello\n",
}
OPENED: dict[str, tuple[str, dict[str, Any]]] = {
    "todo": ("todo", {"items": ["buy milk", "milk the cow", "call Anna", "pay rent", "eggs"]}),
    "short": ("todo", {"items": ["milk", "eggs", "bread"]}),
    "清单": ("todo", {"items": ["买牛奶", "给妈妈打电话", "交房租", "牛奶过期了要扔", "鸡蛋"]}),
    "editor": ("editor", {"path": "notes.txt"}),
    "文件": ("editor", {"path": "zh.txt"}),
    "cart": ("cart", {"products": ["apple", "green apple", "bread"]}),
}
SAID = [
    ("清单", "不要删除鸡蛋"),
    ("清单", "请不要删除鸡蛋"),
    ("清单", "鸡蛋不要删"),
    ("清单", "不要删除第二项"),
    ("清单", "不要清空"),
    ("文件", "第二行不要删"),
    ("todo", "don't delete the eggs"),
    ("editor", "line 3"),
    ("editor", "lines 2 to 4"),
    ("todo", "delete the milk"),
    ("todo", "the milk is done"),
    ("todo", "delete milk", "not 2"),
    ("todo", "delete every second item"),
    ("todo", "delete any two"),
    ("editor", "delete every second line"),
    ("editor", "delete the last word"),
    ("editor", "delete the second word"),
    ("todo", "change Anna to Bob"),
    ("清单", "把妈妈改成爸爸"),
    ("todo", "delete eggs?"),
    ("todo", "can I delete eggs?"),
    ("todo", "close the list?"),
    ("editor", "close README.md"),
    ("todo", "close README.md"),
    ("editor", "replace Anna with Bob but don't save"),
    ("editor", "replace Anna with Bob if it occurs"),
    ("editor", "replace Anna with Bob unless it is wrong"),
    ("editor", "replace Anna with Bob in README.md and save"),
    ("editor", "change line 2 to uppercase"),
    ("editor", "replace line 2 with something better"),
    ("editor", "replace line 2 with nothing"),
    ("editor", "change line 2 to be shorter"),
    ("editor", "change line 3 to be more polite"),
    ("editor", "replace Anna with Bob tomorrow"),
    ("editor", "replace Anna with the name of my wife"),
    ("editor", "add 3 to line 2"),
    ("editor", "insert the text from the clipboard at line 2"),
    ("editor", "append ' and Bob' to line 2"),
    ("文件", "把第二行改成更友好的说法"),
    ("文件", "把天气改成别的"),
    ("文件", "第二行改成大写"),
    ("文件", "把天气换成空气，但别保存"),
    ("文件", "在第二行末尾加“真的”"),
    ("editor", "replace Anna", "I don't know yet"),
    ("todo", "rename eggs", "I'm not sure"),
    ("todo", "edit eggs", "hmm let me think"),
    ("todo", "add", "nothing"),
    ("todo", "add an item", "hold on a sec"),
    ("清单", "添加", "等一下"),
    ("清单", "添加一项", "我再想想"),
    ("todo", "add bread", "and delete it tomorrow"),
    ("todo", "add bread", "and email it to Bob"),
    ("todo", "add bread", "and call it a day"),
    ("todo", "add bread", "too many"),
    ("todo", "add bread", "make it bold"),
    ("todo", "add bread", "and what about eggs?"),
    ("todo", "add eggs but not milk"),
    ("todo", "add bread unless it is there already"),
    ("notebook", "note 2 is wrong"),
    ("lamps", "all lamps on"),
    ("cart", "change apple to pear"),
]


def test_nothing_is_done(tmp_path: Path) -> None:
    for name, said in [(row[0], row[1:]) for row in SAID]:
        lang: Lang = "en" if said[-1].isascii() else "zh"
        with Talk(tmp_path, lang, files=FILES) as talk:
            window, args = OPENED.get(name, (name, {}))
            talk.windows.open(window, **args)
            if name == "notebook":
                talk.act("notebook_1", "write", text="Anna's birthday is May 3")
                talk.act("notebook_1", "write", text="wifi password tulip")
            for words in said[:-1]:
                talk.say(words)
            assert talk.say(said[-1]).calls == (), said


def test_it_is_the_newer_of_two_that_are_alike(tmp_path: Path) -> None:
    for said, call in (
        (("add bread", "no, butter"), ("todo_1.delete item=4", "todo_1.add text=butter")),
        (("add eggs", "remove it"), ("todo_1.delete item=4",)),
        (("add eggs", "mark it as done"), ("todo_1.done item=4",)),
    ):
        with Talk(tmp_path, opened={"todo": {"items": ["milk", "eggs", "bread"]}}) as talk:
            talk.say(said[0])
            assert talk.say(said[1]).calls == call, said


def test_a_file_is_closed_where_it_is_shown(tmp_path: Path) -> None:
    with Talk(tmp_path, files=FILES, opened={"editor": {"path": "notes.txt"}}) as talk:
        talk.windows.open("files")
        assert talk.say("close notes.txt").calls in ((), ("editor_1.close",))


def test_a_title_is_replaced_as_a_whole(tmp_path: Path) -> None:
    with Talk(tmp_path, "zh", files=FILES, opened={"editor": {"path": "zh.txt"}}) as talk:
        call = "editor_1.replace old=第一章 new=第二章"
        assert talk.say("把第一章改成第二章").calls in ((), (call,))


def test_off_is_never_on(tmp_path: Path) -> None:
    for words in ("lights off in the bedroom", "turn the bedroom lamp off"):
        with Talk(tmp_path, opened={"lamps": {}}) as talk:
            assert all("on=True" not in call for call in talk.say(words).calls), words

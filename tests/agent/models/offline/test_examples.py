"""The examples of the README, of the start screen and of the source documents work."""

import re
from pathlib import Path
from typing import Any

from contextui import Body, Lod, Window, action
from contextui.tui.conversation.welcome import tries_in
from contextui.words import Lang, Words
from tests.agent.models.offline.talk import Talk

README = Path(__file__).parents[4] / "README.md"
TURNS = (
    "Make a to-do list with milk, eggs and bread",
    "Mark milk as done",
    "Write down in a notebook: the bakery closes early",
    "What is on my list?",
    "Close the to-do list",
)
OPENED: dict[str, dict[str, Any]] = {
    "todo": {"items": ["milk", "eggs"]},
    "editor": {"path": "notes.txt"},
}
TEXT = {"notes.txt": "one\ntwo\n"}


class ShoppingWindow(Window):
    """A shopping list."""

    name = "shopping"

    class State(Window.State):
        goods: list[str] = []

    state: State

    def content(self, lod: Lod) -> Body:
        return "\n".join(f"- {one}" for one in self.state.goods)

    @action("Put something on the list")
    def add(self, item: str) -> str:
        self.state.goods.append(item)
        return f"Added {item!r}."


class DatabaseWindow(Window):
    """A database."""

    name = "database"

    def content(self, lod: Lod) -> Body:
        return "table users"

    @action("Run a query and show its rows")
    def query(self, sql: str) -> str:
        return "no rows"

    @action("Run a statement")
    def execute(self, sql: str) -> str:
        return "done"


OWN = (ShoppingWindow, DatabaseWindow)


def test_the_examples_of_the_readme(tmp_path: Path) -> None:
    text = README.read_text("utf-8")
    typed = re.findall(r"`([^`]+)`", text.partition("Then say what you want: ")[2])[:3]
    with Talk(tmp_path, classes=()) as talk:
        assert [talk.say(one).calls for one in typed] == [
            ("create todo items=['milk', 'eggs', 'bread']",),
            ("create editor path=README.md",),
            ("editor_1.close",),
        ]


def test_the_commands_of_the_readme(tmp_path: Path) -> None:
    prompts = re.findall(r'contextui (?:-c )?-p "([^"]+)"', README.read_text("utf-8"))
    with Talk(tmp_path, classes=()) as talk:
        assert [talk.say(one).calls for one in prompts] == [
            ("create todo items=['milk', 'eggs']",),
            ("todo_1.close",),
        ]


def test_the_demo(tmp_path: Path) -> None:
    with Talk(tmp_path, classes=()) as talk:
        turns = [talk.say(one) for one in TURNS]
    assert [turn.calls for turn in turns] == [
        ("create todo items=['milk', 'eggs', 'bread']",),
        ("todo_1.done item=1",),
        ("create notebook", "notebook_1.write text=the bakery closes early"),
        (),
        ("todo_1.close",),
    ]
    assert "bread" in turns[3].text


def test_the_start_screen(tmp_path: Path) -> None:
    cases: list[tuple[Lang, int, list[str]]] = [
        ("en", 0, ["create todo items=['milk', 'eggs', 'bread']"]),
        ("zh", 0, ["create todo items=['牛奶', '鸡蛋', '面包']"]),
        ("en", 1, ["create editor path=README.md"]),
        ("zh", 1, ["create editor path=README.md"]),
        ("en", 2, ["create monitor"]),
        ("zh", 2, ["create monitor"]),
    ]
    for lang, number, calls in cases:
        with Talk(tmp_path, lang, classes=()) as talk:
            assert [*talk.say(Words(lang)(tries_in(tmp_path)[number])).calls] == calls, lang


def test_the_start_screen_asks_what_it_sees(tmp_path: Path) -> None:
    for lang in ("en", "zh"):
        with Talk(tmp_path, lang, classes=(), opened={"todo": {}}) as talk:
            talk.windows.open("monitor")
            turn = talk.say(Words(lang)(tries_in(tmp_path)[3]))
        assert turn.calls == (), lang
        assert "todo_1" in turn.text, lang
        assert "monitor_1" in turn.text, lang


def test_the_start_screen_without_a_readme(tmp_path: Path) -> None:
    for lang in ("en", "zh"):
        with Talk(tmp_path, lang, classes=(), files=TEXT) as talk:
            assert talk.say(Words(lang)(tries_in(tmp_path)[1])).calls == ("create files",), lang


def test_a_list_in_chinese(tmp_path: Path) -> None:
    with Talk(tmp_path, "zh", classes=()) as talk:
        opened = talk.say("创建一个待办列表，包含买菜和写代码")
        assert opened.calls == ("create todo items=['买菜', '写代码']",)
        assert talk.say("把买菜标记为完成").calls == ("todo_1.done item=1",)
        assert talk.say("添加“做饭”").calls == ("todo_1.add text=做饭",)
        assert talk.say("把做饭标记为完成").calls == ("todo_1.done item=3",)
        assert talk.say("关闭列表").calls == ("todo_1.close",)


def test_what_was_misunderstood_once(tmp_path: Path) -> None:
    for name, words, call in (
        ("todo", "close the todo list, summary: all bought", "todo_1.close summary=all bought"),
        ("todo", "todo_1.done 2", "todo_1.done item=2"),
        ("todo", "add plums to the shopping list", "todo_1.add text=plums"),
        ("shopping", "add plums to the shopping list", "shopping_1.add item=plums"),
        ("database", 'execute "x y"', "database_1.execute sql=x y"),
        ("database", 'query "x y"', "database_1.query sql=x y"),
        ("editor", "显示差异", "editor_1.diff"),
    ):
        lang: Lang = "en" if words.isascii() else "zh"
        with Talk(tmp_path, lang, OWN, opened={name: OPENED.get(name, {})}) as talk:
            assert talk.say(words).calls == (call,), name


def test_a_request_that_is_only_half_understood_writes_nothing(tmp_path: Path) -> None:
    for words in (
        "make it faster and save it",
        "set the timeout to 5 and save",
        "fix all the bugs in it and save",
        "clean it up and save it as better.txt",
        "translate the file and save it",
        "add error handling, then save",
        "把它改得更快然后保存",
        "修复所有错误并保存",
    ):
        with Talk(tmp_path, files=TEXT, opened={"editor": {"path": "notes.txt"}}) as talk:
            turn = talk.say(words)
            assert turn.calls == (), words
            assert turn.text, words
        assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["notes.txt"], words
        assert (tmp_path / "notes.txt").read_text() == TEXT["notes.txt"], words

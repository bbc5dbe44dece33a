"""The to-do list: each action at each level of detail, restored, refused, and attacked."""

from collections.abc import Iterator
from typing import Any

import pytest

from contextui import Lod, TokenCounter
from contextui.testing import WindowTester
from contextui.windows.todo.window import TodoWindow
from tests.windows.test_monitor import looks

Todo = WindowTester[TodoWindow]

ACTIONS = ["add", "find", "done", "undone", "edit", "delete", "move", "clear_done", "close"]


@pytest.fixture
def todo() -> Iterator[Todo]:
    with WindowTester(TodoWindow, items=["milk", "eggs", "bread"]) as tester:
        tester.act("done", item=2)
        yield tester
        assert tester.troubles == []


def test_the_three_levels(todo: Todo) -> None:
    assert looks(todo) == (
        "milk  id=1\neggs  id=2 done=true\nbread  id=3",
        "milk  id=1\nbread  id=3",
        "2 open, 1 done",
    )


@pytest.mark.parametrize(
    ("action", "params", "expected"),
    [
        ("add", {"text": ["tea", " two\nlines "]},
         ("Added 4 'tea', 5 'two lines'.", "1 2* 3 4 5", "4 open, 1 done")),
        ("done", {"item": 1}, ("1 'milk' is done.", "1* 2* 3", "1 open, 2 done")),
        ("undone", {"item": "eggs"}, ("2 'eggs' is open.", "1 2 3", "3 open, 0 done")),
        ("edit", {"item": 1, "text": "j\ud800m"}, ("1 is now 'j?m'.", "1 2* 3", "2 open, 1 done")),
        ("delete", {"item": 1}, ("Deleted 1 'milk'.", "2* 3", "1 open, 1 done")),
        ("move", {"item": 3, "place": 1},
         ("3 'bread' is number 1 now.", "3 1 2*", "2 open, 1 done")),
        ("move", {"item": 1, "place": 3},
         ("1 'milk' is number 3 now.", "2* 3 1", "2 open, 1 done")),
        ("clear_done", {}, ("Deleted 1, 2 are left.", "1 3", "2 open, 0 done")),
        ("find", {"text": "LK mi"}, ("1 of 3: 1 'milk'.", "1 2* 3", "2 open, 1 done")),
        ("find", {"text": "tea"}, ("0 of 3: none.", "1 2* 3", "2 open, 1 done")),
    ],
)  # fmt: skip
def test_each_action_at_each_level_and_restored(
    todo: Todo, action: str, params: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    result, full, gist = expected
    assert todo.act(action, **params) == result
    items = todo.window.state.items
    assert " ".join(f"{item.id}{'*' * item.done}" for item in items) == full
    in_full, in_summary, in_gist = looks(todo)
    assert in_full.splitlines() == [
        f"{item.text}  id={item.id}{' done=true' * item.done}" for item in items
    ]
    assert in_summary.splitlines() == [f"{it.text}  id={it.id}" for it in items if not it.done]
    assert in_gist == gist
    with todo.restored() as later:
        assert looks(later) == looks(todo)
        assert later.window.version == todo.window.version
        assert later.act("add", text="next").startswith(f"Added {todo.window.state.last_id + 1} ")


def test_ids_are_never_used_again(todo: Todo) -> None:
    todo.act("delete", item=3)
    assert todo.act("add", text="jam") == "Added 4 'jam'."
    with todo.restored() as later:
        later.act("delete", item=4)
        assert later.act("add", text="tea") == "Added 5 'tea'."


def test_an_item_is_named_by_id_or_text(todo: Todo) -> None:
    for wanted in (2, "2", "#2", "eggs", "EGGS", " egg "):
        assert todo.act("undone", item=wanted) == "2 'eggs' is open."
        todo.act("done", item=2)


def test_a_number_is_an_id_or_a_whole_text_but_no_part_of_one() -> None:
    with WindowTester(TodoWindow, items=["buy 3 eggs", "2024"]) as todo:
        assert todo.act("done", item="2024") == "2 '2024' is done."
        assert todo.refused("done", item=3) == (
            "No item fits '3'. Available: 1 'buy 3 eggs', 2 '2024'."
        )
        assert todo.refused("done", item="9" * 5_000).startswith(f"No item fits '{'9' * 80}'.")


def test_a_whole_text_goes_before_a_part_and_an_id_before_a_text() -> None:
    with WindowTester(TodoWindow, items=["milk", "oat milk", "1"]) as todo:
        assert todo.act("done", item="milk") == "1 'milk' is done."
        assert todo.act("undone", item="1") == "1 'milk' is open."
        assert todo.refused("done", item="mil") == (
            "Several items fit 'mil'. Available: 1 'milk', 2 'oat milk'."
        )


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("add", {"text": " \n\t"}, "An item needs words."),
    ("add", {"text": []}, "There is nothing to add."),
    ("add", {"text": ["tea", ""]}, "An item needs words."),
    ("add", {"text": "x" * 501}, "An item has up to 500 characters, not 501."),
    ("add", {}, "todo_1.add: text is missing. Expected: text:string|string[]"),
    ("edit", {"item": 1, "text": ""}, "An item needs words."),
    ("done", {"item": 9}, "No item fits '9'. Available: 1 'milk', 2 'eggs', 3 'bread'."),
    ("done", {"item": ""}, "No item fits ''. Available: 1 'milk', 2 'eggs', 3 'bread'."),
    ("delete", {"item": "e"}, "Several items fit 'e'. Available: 2 'eggs', 3 'bread'."),
    ("move", {"item": 1, "place": 4}, "There is no place 4; the last is 3."),
    ("move", {"item": 1, "place": 0}, "There is no place 0; the last is 3."),
    ("fly", {}, "todo_1 has no action \"fly\". It has: " + ", ".join(ACTIONS) + "."),
]  # fmt: skip


def test_what_is_refused(todo: Todo) -> None:
    for action, params, reply in REFUSED:
        assert todo.refused(action, **params) == reply


def test_without_items_there_is_nothing_to_name() -> None:
    with WindowTester(TodoWindow) as todo:
        assert looks(todo) == ("0 open, 0 done",) * 3
        assert todo.refused("done", item=1) == "No item fits '1'. Available: none."
        assert todo.act("clear_done") == "Deleted 0, 0 are left."


def test_a_huge_list_stays_small_and_says_what_is_left_out() -> None:
    counter, words = TokenCounter(), "写测试并更新文档"
    with WindowTester(TodoWindow, items=[f"{words} {n}" for n in range(1_000)]) as todo:
        for lod in (Lod.FULL, Lod.SUMMARY):
            lines = todo.content(lod).splitlines()
            assert lines[-1] == f"… {1_000 - (len(lines) - 1)} more: use find"
            assert counter.count(todo.xml(lod)) < 2_000
        assert todo.act("find", text="999") == f"1 of 1000: 1000 '{words} 999'."
        found = todo.act("find", text="9")
        assert found.startswith("271 of 1000: 10 ")
        assert found.endswith(", … 251 more.")
        assert len(todo.refused("done", item="nothing like it")) < 2_000
        assert todo.act("done", item=1000) == f"1000 '{words} 999' is done."

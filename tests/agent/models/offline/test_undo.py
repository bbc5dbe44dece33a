"""Corrections and undo: the last call is taken back where a window has an action for it."""

from pathlib import Path

from tests.agent.models.offline.talk import Talk

ITEMS = ["milk", "eggs", "bread"]


def test_what_was_done_last_is_corrected(tmp_path: Path) -> None:
    for first, then, calls in (
        ("mark eggs as done", "no, bread", ("todo_1.undone item=2", "todo_1.done item=3")),
        ("mark eggs as done", "no, I meant bread", ("todo_1.undone item=2", "todo_1.done item=3")),
        ("add tea", "no, coffee", ("todo_1.delete item=4", "todo_1.add text=coffee")),
        ("完成 eggs", "不对，我是说 bread", ("todo_1.undone item=2", "todo_1.done item=3")),
        ("add tea", "undo that", ("todo_1.delete item=4",)),
        ("add tea and cake", "undo that", ("todo_1.delete item=4", "todo_1.delete item=5")),
        ("mark milk as done", "undo that", ("todo_1.undone item=1",)),
        ("把 milk 标为完成", "撤销", ("todo_1.undone item=1",)),
        ("add tea", "and coffee", ("todo_1.add text=coffee",)),
        ("mark milk as done", "the eggs too", ("todo_1.done item=2",)),
    ):
        with Talk(tmp_path, classes=(), opened={"todo": {"items": ITEMS}}) as talk:
            assert talk.say(first).calls, first
            assert sorted(talk.say(then).calls) == sorted(calls), first


def test_what_no_action_takes_back_stays(tmp_path: Path) -> None:
    for first in ("move milk to the end", "delete milk"):
        with Talk(tmp_path, classes=(), opened={"todo": {"items": ITEMS}}) as talk:
            talk.say(first)
            turn = talk.say("undo that")
        assert turn.calls == (), first
        assert "cannot undo" in turn.text, first


def test_a_deletion_is_not_corrected_by_another_one(tmp_path: Path) -> None:
    with Talk(tmp_path, classes=(), opened={"todo": {"items": ITEMS}}) as talk:
        talk.say("delete eggs")
        assert talk.say("no, I meant bread").calls == ()


def test_without_anything_before_nothing_is_done(tmp_path: Path) -> None:
    for words in ("undo that", "撤销", "repeat that", "no, the eggs"):
        with Talk(tmp_path, classes=(), opened={"todo": {"items": ITEMS}}) as talk:
            assert talk.say(words).calls == (), words

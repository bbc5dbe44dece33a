"""After a question of the model: a reply completes the request, a new request replaces it."""

import re
from itertools import cycle
from pathlib import Path
from typing import Any

from tests.agent.models.offline.talk import Talk, built_in

TWO = (("todo", {"items": ["nails"]}), ("todo", {"items": ["milk"]}))
OPENING = sorted({cls.name for cls in built_in()} - {"editor"})  # that one needs a path
MILKS = (("todo", {"items": ["bread", "oat milk", "soy milk"]}),)


def started(folder: Path, windows: tuple[tuple[str, dict[str, Any]], ...]) -> Talk:
    talk = Talk(folder)
    for name, args in windows:
        talk.windows.open(name, **args)
    return talk


def test_a_window_is_chosen_by_number_or_by_id(tmp_path: Path) -> None:
    for reply in ("todo_1", "todo_2", "1", "2"):
        with started(tmp_path, TWO) as talk:
            asked = talk.say("add tape")
            assert asked.calls == (), reply
            offered = re.findall(r"^(\d)\. .*`(todo_\d)\.add text=tape`", asked.text, re.MULTILINE)
            assert {window_id for _, window_id in offered} == {"todo_1", "todo_2"}, reply
            window_id = dict(offered).get(reply, reply)
            assert talk.say(reply).calls == (f"{window_id}.add text=tape",), reply


def test_one_of_several_items_is_chosen(tmp_path: Path) -> None:
    for reply in ("the soy one", "the second", "2"):
        with started(tmp_path, MILKS) as talk:
            asked = talk.say("delete the milk")
            assert asked.calls == (), reply
            assert "oat milk" in asked.text, reply
            assert "soy milk" in asked.text, reply
            assert talk.say(reply).calls == ("todo_1.delete item=3",), reply


def test_a_missing_value_is_taken_from_the_reply(tmp_path: Path) -> None:
    for request_, missing, reply, call in (
        ("move bread", "place", "to the top", "todo_1.move item=1 place=1"),
        ("add an item", "text", "buy stamps", "todo_1.add text=buy stamps"),
        ("rename bread", "text", "rye bread", "todo_1.edit item=1 text=rye bread"),
        ("添加一项", "text", "黄油", "todo_1.add text=黄油"),
        ("open the editor", "path", "notes.txt", "create editor path=notes.txt"),
    ):
        with started(tmp_path, MILKS) as talk:
            asked = talk.say(request_)
            assert asked.calls == (), request_
            assert missing in asked.text, request_
            assert talk.say(reply).calls == (call,), request_


def test_a_new_request_replaces_the_old_one(tmp_path: Path) -> None:
    for words, calls in (
        ("open monitor", ("create monitor",)),
        ("close todo_2", ("todo_2.close",)),
        ("打开 files", ("create files",)),
        ("thanks", ()),
        ("add glue to todo_1", ("todo_1.add text=glue",)),
        ("what is on todo_2?", ()),
    ):
        with started(tmp_path, TWO) as talk:
            assert talk.say("add tape").calls == (), words
            assert talk.say(words).calls == calls, words


def test_a_request_can_be_dropped(tmp_path: Path) -> None:
    for words in ("never mind", "forget it", "算了", "不用了"):
        with started(tmp_path, TWO) as talk:
            talk.say("add tape")
            assert talk.say(words).calls == (), words
            assert talk.say("todo_1.add text=glue").calls == ("todo_1.add text=glue",), words


def test_what_came_before_the_question_is_not_done_again(tmp_path: Path) -> None:
    with started(tmp_path, MILKS) as talk:
        assert talk.say("mark bread as done, then add an item").calls == ("todo_1.done item=1",)
        assert talk.say("jam").calls == ("todo_1.add text=jam",)


def test_only_what_was_asked_about_follows_a_reply(tmp_path: Path) -> None:
    with started(tmp_path, MILKS) as talk:
        talk.say("add an item, then close the list")
        assert talk.say("jam").calls == ("todo_1.add text=jam",)


def test_a_window_opens_by_the_name_of_its_class(tmp_path: Path) -> None:
    forms = cycle(("open {}", "{}", "打开 {}", "打开{}"))
    for name, words in zip((*OPENING, "lamps"), forms, strict=False):
        with Talk(tmp_path) as talk:
            said = words.format(name)
            assert talk.say(said).calls == (f"create {name}",), said

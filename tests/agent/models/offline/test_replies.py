"""After it has asked something: an answer completes the old wish, a new wish replaces it."""

from pathlib import Path

import pytest

from tests.agent.models.offline.talk import Talk

TWO = (("todo", {"items": ["nails"]}), ("todo", {"items": ["milk"]}))
MILKS = (("todo", {"items": ["bread", "oat milk", "soy milk"]}),)


@pytest.mark.parametrize("answer", ["todo_2", "the second one", "the second list please", "milk"])
def test_a_window_is_named_in_the_answer(answer: str, tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        _open(talk, TWO)
        assert talk.say("add tape").text == "Which one do you mean: todo_1, todo_2?"
        assert talk.say(answer).calls == ("todo_2.add text=tape",)


@pytest.mark.parametrize("answer", ["soy", "the soy one", "the second", "the last one", "soy milk"])
def test_one_of_the_things_that_fit_is_named_in_the_answer(answer: str, tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        _open(talk, MILKS)
        assert "Several fit" in talk.say("delete the milk").text
        assert talk.say(answer).calls == ("todo_1.delete item=3",)


@pytest.mark.parametrize(
    ("wish", "answer", "call"),
    [
        ("move bread", "to the top", "todo_1.move item=1 place=1"),
        ("move bread", "3", "todo_1.move item=1 place=3"),
        ("add an item", "buy stamps", "todo_1.add text=buy stamps"),
        ("rename bread", "rye bread", "todo_1.edit item=1 text=rye bread"),
        ("添加一项", "黄油", "todo_1.add text=黄油"),
    ],
)
def test_what_was_missing_is_taken_from_the_answer(
    wish: str, answer: str, call: str, tmp_path: Path
) -> None:
    with Talk(tmp_path) as talk:
        _open(talk, MILKS)
        assert talk.say(wish).calls == ()
        assert talk.say(answer).calls == (call,)


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("open monitor", ("create monitor",)),
        ("add glue to todo_1", ("todo_1.add text=glue",)),
        ("close todo_2", ("todo_2.close",)),
        ("打开 files", ("create files",)),
        ("what is on todo_2?", ()),
        ("thanks", ()),
    ],
)
def test_a_new_wish_replaces_the_one_that_was_asked_about(
    words: str, calls: tuple[str, ...], tmp_path: Path
) -> None:
    with Talk(tmp_path) as talk:
        _open(talk, TWO)
        assert talk.say("add tape").calls == ()
        assert talk.say(words).calls == calls


@pytest.mark.parametrize("words", ["never mind", "forget it", "算了", "不用了"])
def test_what_was_asked_about_can_be_dropped(words: str, tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        _open(talk, TWO)
        talk.say("add tape")
        turn = talk.say(words)
        assert turn.calls == ()
        assert turn.text in ("All right, I leave it.", "好的，那就不做了。")
        assert talk.say("add glue to todo_1").calls == ("todo_1.add text=glue",)


def test_what_came_before_the_question_is_not_done_again_and_the_rest_goes_on(
    tmp_path: Path,
) -> None:
    with Talk(tmp_path) as talk:
        _open(talk, MILKS)
        asked = talk.say("mark bread as done, add an item, then close the list")
        assert asked.calls == ("todo_1.done item=1",)
        assert talk.say("jam").calls == ("todo_1.add text=jam", "todo_1.close")


@pytest.mark.parametrize("name", ["todo", "monitor", "files", "notebook", "lamps", "timer"])
@pytest.mark.parametrize("words", ["open {}", "{}", "打开 {}", "打开{}", "show the {}"])
def test_a_window_opens_by_the_plain_name_of_its_class(
    name: str, words: str, tmp_path: Path
) -> None:
    with Talk(tmp_path) as talk:
        assert talk.say(words.format(name)).calls == (f"create {name}",)


@pytest.mark.parametrize(
    "words", ["is the milk done?", "did I already buy milk?", "牛奶买了吗", "is milk deleted?"]
)
def test_a_question_changes_nothing(words: str, tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", items=["milk", "牛奶"])
        assert talk.say(words).calls == ()


@pytest.mark.parametrize(
    "words",
    ["start working on fix login", "turn fix login into gold"],
)
def test_nothing_is_destroyed_on_a_guess(words: str, tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("kanban")
        talk.act("kanban_1", "add_card", title="fix login")
        assert not any("discard" in call for call in talk.say(words).calls)


def _open(talk: Talk, windows: tuple[tuple[str, dict[str, list[str]]], ...]) -> None:
    for name, args in windows:
        talk.windows.open(name, **args)

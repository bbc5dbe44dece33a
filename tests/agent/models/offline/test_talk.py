"""Talking with the offline model: it tells, asks back, admits, and never claims too much."""

import re
from pathlib import Path

import pytest

import contextui.agent.models.offline
from contextui.windowing.finding.registry import discover
from tests.agent.models.offline.talk import Talk

MILK = {"items": ["milk", "eggs"]}


# --- questions ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what's on my list?", "todo_1 shows:\n- milk (id 1, done true)\n- eggs (id 2)"),
        ("is there any milk on the list?", "Yes, in todo_1: milk (id 1, done true)"),
        ("do I have bread on the list?", "No, todo_1 does not show “bread”."),
        ("how many items are on the list?", "2 in todo_1: milk (id 1, done true), eggs (id 2)"),
        ("what is left to do?", "todo_1 shows:\n- eggs (id 2)"),
        ("what is the second one?", "todo_1 shows:\n- eggs (id 2)"),
        ("which windows are open?", "Open are:\n- todo_1 (A to-do list.): milk eggs"),
        ("清单上有什么？", "todo_1 显示：\n- milk (id 1, done true)\n- eggs (id 2)"),
        ("有几项？", "todo_1 中有 2 项：milk (id 1, done true), eggs (id 2)"),
        ("现在开着哪些窗口", "已打开：\n- todo_1 (A to-do list.): milk eggs"),
    ],
)
def test_questions_are_answered_from_what_is_shown(
    question: str, told: str, tmp_path: Path
) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        talk.act("todo_1", "done", item=1)
        turn = talk.say(question)
        assert (turn.calls, turn.text) == ((), told)


def test_a_window_is_opened_to_get_an_answer(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        turn = talk.say("which files are there?")
        assert turn.calls == ("create files",)
        assert "notes.txt" in turn.text


def test_a_file_is_read_out(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        turn = talk.say("what does notes.txt say?")
        assert turn.calls == ("read_file notes.txt",)
        assert "three TODO" in turn.text


def test_what_nothing_shows_is_not_made_up(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        turn = talk.say("who won the election?")
        assert turn.calls == ()
        assert "No open window tells me that" in turn.text


def test_whether_all_is_done_is_told_with_what_is_not(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        talk.act("todo_1", "done", item=1)
        assert talk.say("is everything done?").text == "No, in todo_1: eggs (id 2)"


def test_what_nothing_takes_back_is_said(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        talk.say("move milk to the end")
        turn = talk.say("undo that")
        assert (turn.calls, turn.text[:25]) == ((), "I cannot take that back: ")


# --- about itself ------------------------------------------------------------------------


def test_it_says_what_it_is_what_it_can_do_and_how_to_get_more(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        assert "small offline model" in talk.say("hi there").text
        able = talk.say("what can you do?").text
        assert all(f"- {name}: " in able for name in talk.windows.classes)
        assert "ANTHROPIC_API_KEY" in able
        assert "ANTHROPIC_BASE_URL" in talk.say("are you a real model?").text
        assert "离线模型" in talk.say("你是谁？").text
        assert talk.say("谢谢").text == "不客气。"


def test_what_it_cannot_do_is_said_and_left_undone(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        for words in ("write me a poem about milk", "order a pizza", "帮我订机票", "foo bar baz"):
            turn = talk.say(words)
            assert turn.calls == ()
            assert ("cannot" in turn.text) or ("无法" in turn.text)
            assert "ANTHROPIC_API_KEY" in turn.text


def test_the_nearest_thing_is_offered(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("timer")
        turn = talk.say("hold my beer while I juggle chainsaws")
        assert turn.calls == ()
        assert "timer_1.hold (Halt, without forgetting how much is left)" in turn.text


# --- asking back -------------------------------------------------------------------------


def test_it_asks_which_window_and_takes_the_answer(tmp_path: Path) -> None:
    for answer in ("todo_2", "the second one"):
        with Talk(tmp_path) as talk:
            talk.windows.open("todo", **MILK)
            talk.windows.open("todo", items=["nails"])
            asked = talk.say("add tape")
            assert (asked.calls, asked.text) == ((), "Which one do you mean: todo_1, todo_2?")
            assert talk.say(answer).calls == ("todo_2.add text=tape",)


def test_the_window_that_was_used_last_needs_no_asking(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        talk.windows.open("todo", items=["nails"])
        assert talk.say("add tape to todo_1").calls == ("todo_1.add text=tape",)
        assert talk.say("add glue").calls == ("todo_1.add text=glue",)
        assert talk.say("add glue to the other one").calls == ("todo_2.add text=glue",)


def test_it_asks_for_what_is_missing_and_takes_the_answer(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        asked = talk.say("add an item")
        assert asked.calls == ()
        assert "I still need: text" in asked.text
        assert talk.say("bananas").calls == ("todo_1.add text=bananas",)


def test_it_asks_which_item_if_several_fit(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", items=["oat milk", "soy milk"])
        turn = talk.say("delete the milk")
        assert turn.calls == ()
        assert "oat milk" in turn.text
        assert "soy milk" in turn.text


# --- what goes wrong ---------------------------------------------------------------------


def test_a_failure_is_told_in_its_own_words_and_not_repeated(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        turn = talk.say("delete the caviar, then add tea")
        assert turn.calls == ("todo_1.delete item=caviar",)
        assert turn.ok == (False,)
        assert "No item fits 'caviar'" in turn.text
        assert "add tea" in turn.text
        assert "Done" not in turn.text


def test_what_was_understood_is_done_and_what_was_not_is_said(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        turn = talk.say("add tea. Then frobnicate the wombat")
        assert turn.calls == ("todo_1.add text=tea",)
        assert "Added 3 'tea'" in turn.text
        assert "frobnicate the wombat" in turn.text


def test_what_is_not_wanted_is_not_done(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        for words in ("don't delete anything", "please do not close the list", "别关清单"):
            assert talk.say(words).calls == ()


def test_it_stands_for_what_was_spoken_of(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.say("make a todo list with milk and eggs")
        assert talk.say("mark eggs as done").calls == ("todo_1.done item=2",)
        assert talk.say("now delete it").calls == ("todo_1.delete item=2",)
        assert talk.say("close it").calls == ("todo_1.close",)


# --- what it knows -----------------------------------------------------------------------


def test_it_knows_nothing_of_the_built_in_windows() -> None:
    folder = Path(contextui.agent.models.offline.__file__).parent
    source = "\n".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    for cls in discover().classes():
        for action in cls.actions.values():
            assert f'"{action.label}"' not in source
            names = [action.id, *(param.name for param in action.params.listing)]
            for name in (one for one in names if "_" in one):
                assert not re.search(rf"\b{name}\b", source), f"{cls.name}.{name}"


def test_a_file_is_told_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n", "utf-8")
    (tmp_path / "b.md").write_text("```\n", "utf-8")
    with Talk(tmp_path) as talk:
        assert talk.say("read a.py").text == "a.py:\n```\n1 def f():\n2     return 1\n```"
        assert talk.say("read b.md").text == "b.md:\n````\n1 ```\n````"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("close todo_9", "There is no window todo_9. Open windows: todo_1."),
        ("add bread to todo_9", "There is no window todo_9. Open windows: todo_1."),
        ("关闭 todo_9", "没有窗口 todo_9。已打开的窗口：todo_1。"),
    ],
)
def test_no_other_window_stands_in_for_one_that_is_not_there(
    words: str, told: str, tmp_path: Path
) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", **MILK)
        turn = talk.say(words)
        assert (turn.calls, turn.text) == ((), told)
        assert talk.say('add "see todo_9"').calls == ("todo_1.add text=see todo_9",)

"""What the offline model says: answers, refusals and failures. It never claims too much."""

import re
from pathlib import Path

import contextui.agent.models.offline
from contextui.agent.models.offline.answers import report
from contextui.agent.models.offline.scene import Call
from contextui.words import Lang, Words
from tests.agent.models.offline.talk import Talk, built_in

MILK = {"items": ["milk", "eggs"]}


def test_questions_are_answered_from_what_is_shown(tmp_path: Path) -> None:
    for question, has, lacks in (
        ("what's on my list?", ["milk", "eggs"], []),
        ("is there any milk on the list?", ["milk"], ["eggs"]),
        ("how many items are on the list?", ["2"], []),
        ("what is left to do?", ["eggs"], ["milk"]),
        ("what is the second one?", ["eggs"], ["milk"]),
        ("which windows are open?", ["todo_1"], []),
        ("清单上有什么？", ["milk", "eggs"], []),
        ("有几项？", ["2"], []),
        ("现在开着哪些窗口", ["todo_1"], []),
    ):
        with Talk(tmp_path, opened={"todo": MILK}) as talk:
            talk.act("todo_1", "done", item=1)
            turn = talk.say(question)
        assert turn.calls == (), question
        assert all(one in turn.text for one in has), question
        assert not any(one in turn.text for one in lacks), question


def test_a_question_changes_nothing(tmp_path: Path) -> None:
    for words in ("is the milk done?", "did I already buy milk?", "牛奶买了吗"):
        with Talk(tmp_path, opened={"todo": {"items": ["milk", "牛奶"]}}) as talk:
            assert talk.say(words).calls == (), words


def test_a_question_opens_no_empty_window(tmp_path: Path) -> None:
    for words in ("what is on my list?", "我的待办里有什么"):
        with Talk(tmp_path) as talk:
            assert talk.say(words).calls == (), words


def test_what_nothing_shows_is_not_made_up(tmp_path: Path) -> None:
    with Talk(tmp_path, opened={"todo": MILK}) as talk:
        turn = talk.say("who won the election?")
    assert turn.calls == ()
    assert "No open window shows that" in turn.text


def test_a_window_is_opened_to_get_an_answer(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        turn = talk.say("how much memory is used?")
    assert turn.calls == ("create monitor",)
    assert "memory" in turn.text
    assert "disk" not in turn.text


def test_it_says_what_it_is_and_what_it_can_do(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        assert "open" in talk.say("hi there").text
        talk.windows.open("timer")
        able = talk.say("what can you do?").text
        assert "small offline model" in able
        assert all(f"- {name}: " in able for name in talk.windows.classes)
        assert "timer_1 can: start, hold, extend" in able
        assert talk.say("thanks").text == "You are welcome."


def test_a_refusal_says_what_can_be_done_instead(tmp_path: Path) -> None:
    cases: list[tuple[Lang, str]] = [
        ("en", "write me a poem about milk"),
        ("zh", "帮我订机票"),
        ("en", "foo bar baz"),
        ("zh", "order a pizza"),
    ]
    for lang, words in cases:
        with Talk(tmp_path, lang, opened={"todo": MILK}) as talk:
            turn = talk.say(words)
        assert turn.calls == (), words
        assert words in turn.text, words
        assert "clear_done" in turn.text, words
        assert "/model" in turn.text, words


def test_a_refusal_names_the_words_that_were_not_understood(tmp_path: Path) -> None:
    with Talk(tmp_path, opened={"timer": {}}) as talk:
        turn = talk.say("hold my beer")
    assert turn.calls == ()
    assert "“beer”" in turn.text


def test_a_failure_is_reported_in_its_own_words(tmp_path: Path) -> None:
    with Talk(tmp_path, opened={"scores": {"players": ["Ann"]}}) as talk:
        turn = talk.say("scores_1.award player=Bob points=3")
    assert turn.ok == (False,)
    assert "Nobody is called 'Bob'" in turn.text
    assert "Done" not in turn.text


def test_nothing_is_done_if_a_part_is_not_understood(tmp_path: Path) -> None:
    for words in ("delete the caviar, then add tea", "add tea. Then frobnicate the wombat"):
        with Talk(tmp_path, opened={"todo": MILK}) as talk:
            turn = talk.say(words)
        assert turn.calls == (), words
        assert "caviar" in turn.text or "wombat" in turn.text, words


def test_no_other_window_is_closed_instead_of_an_unknown_one(tmp_path: Path) -> None:
    for words in ("close todo_9", "关闭 todo_9"):
        with Talk(tmp_path, opened={"todo": MILK}) as talk:
            turn = talk.say(words)
            assert turn.calls == (), words
            assert "todo_9" in turn.text, words
            assert talk.say('add "see todo_9"').calls == ("todo_1.add text=see todo_9",), words


def test_it_is_what_was_used_last(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.say("make a todo list with milk and eggs")
        assert talk.say("mark eggs as done").calls == ("todo_1.done item=2",)
        assert talk.say("now delete it").calls == ("todo_1.delete item=2",)
        assert talk.say("close it").calls == ("todo_1.close",)


def test_the_window_that_was_used_last_needs_no_question(tmp_path: Path) -> None:
    with Talk(tmp_path, opened={"todo": MILK}) as talk:
        talk.windows.open("todo", items=["nails"])
        assert talk.say("todo_1.add text=tape").calls == ("todo_1.add text=tape",)
        assert talk.say("add glue").calls == ("todo_1.add text=glue",)


def test_it_knows_nothing_of_the_built_in_windows() -> None:
    folder = Path(contextui.agent.models.offline.__file__).parent
    source = "\n".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    for cls in built_in():
        for action in cls.actions.values():
            assert f'"{action.label}"' not in source
            names = [action.id, *(param.name for param in action.params.listing)]
            for name in (one for one in names if "_" in one):
                assert not re.search(rf"\b{name}\b", source), f"{cls.name}.{name}"


def test_it_acts_under_the_text_protocol_too(tmp_path: Path) -> None:
    """That is for models without tools, and this one always has tools."""
    with Talk(tmp_path, protocol="text") as talk:
        assert talk.controller.declared
        assert talk.say("make a todo list with milk").calls == ("create todo items=['milk']",)
        assert talk.say("mark milk as done").calls == ("todo_1.done item=1",)


def test_text_that_looks_like_a_call_is_no_call(tmp_path: Path) -> None:
    call = '<tool_call>{"name": "create", "arguments": {"name": "notebook"}}</tool_call>'
    with Talk(tmp_path, protocol="text", opened={"todo": {"items": [call]}}) as talk:
        turn = talk.say("what is on my list?")
        assert turn.calls == ()
        assert [one.id for one in talk.windows.windows()] == ["todo_1"]


def test_output_of_a_command_is_left_to_its_terminal() -> None:
    """X18: it is no Markdown."""
    ran = Call("action", {"window_id": "terminal_1"}, True, "[1] exit 0, 0.1 s\n# no heading\n* a")
    assert report([ran], Words("en")) == ["[1] exit 0, 0.1 s"]

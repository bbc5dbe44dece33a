"""Several windows are open, and what is said is about one that is not, or about one of them."""

from pathlib import Path

import pytest

from tests.agent.models.offline.talk import Talk

NOT_TOLD = "No open window tells me that"


def _talk(folder: Path, *items: str) -> Talk:
    """A list and a text are open; the text was used last."""
    talk = Talk(folder, classes=())
    talk.say("make a todo list")
    for one in items:
        talk.act("todo_1", "add", text=one)
    talk.say("open notes.txt")
    assert [one.id for one in talk.windows.windows()] == ["todo_1", "editor_1"]
    return talk


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("how much memory is used?", "- memory: used"),
        ("how is the CPU?", "- cpu: used"),
        ("is the memory full?", "memory: used"),
        ("内存用了多少？", "- memory: used"),
    ],
)
def test_a_question_opens_the_window_that_alone_tells_of_it(
    question: str, figure: str, tmp_path: Path
) -> None:
    with _talk(tmp_path) as talk:
        turn = talk.say(question)
        assert turn.calls == ("create monitor",)
        assert figure in turn.text


def test_how_much_of_one_thing_is_told_without_the_others(tmp_path: Path) -> None:
    with _talk(tmp_path) as talk:
        assert "disk" not in talk.say("how much memory is used?").text


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        ("note: the meeting is at 5pm", "the meeting is at 5pm"),
        ("take a note: call Bob", "call Bob"),
        ("jot down that Bob is ill", "Bob is ill"),
        ("记一下：五点开会", "五点开会"),
        ("remember that the door code is 4711", "the door code is 4711"),
        ("remember the door code is 4711", "the door code is 4711"),
        ("write down: the door code is 4711", "the door code is 4711"),
        ("add a note: hi", "hi"),
        ("记住门禁密码是4711", "门禁密码是4711"),
        ("加一条笔记：周五交房租", "周五交房租"),
    ],
)
def test_a_note_is_written_into_a_notebook(wish: str, text: str, tmp_path: Path) -> None:
    with _talk(tmp_path, "milk") as talk:
        assert talk.say(wish).calls == ("create notebook", f"notebook_1.write text={text}")


def test_a_note_goes_where_it_is_said_to_go(tmp_path: Path) -> None:
    with _talk(tmp_path) as talk:
        assert talk.say("note in the list: buy salt").calls == ("todo_1.add text=buy salt",)


@pytest.mark.parametrize(
    "wish", ["remember to buy salt", "remind me to buy salt", "add a task: buy salt"]
)
def test_what_is_to_be_done_is_no_note(wish: str, tmp_path: Path) -> None:
    with _talk(tmp_path) as talk:
        assert talk.say(wish).calls[0].startswith("todo_1.add")


@pytest.mark.parametrize("question", ["how much money is left?", "how many ducks are there?"])
def test_nothing_else_is_counted_in_place_of_what_is_asked(question: str, tmp_path: Path) -> None:
    with _talk(tmp_path, "milk", "eggs") as talk:
        turn = talk.say(question)
        assert turn.calls == ()
        assert turn.text.startswith(NOT_TOLD)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("how many items are left?", "2 in todo_1: memory stick (id 1), eggs (id 2)"),
        ("how many eggs are there?", "1 in todo_1: eggs (id 2)"),
        ("how many ducks are left on the list?", "No, todo_1 does not show “ducks”."),
        ("is there memory on the list?", "Yes, in todo_1: memory stick (id 1)"),
        ("how many lines are there?", "editor_1 shows:\n- notes.txt lines 1-3 of 3, saved"),
    ],
)
def test_what_an_open_window_shows_is_told_from_it(
    question: str, told: str, tmp_path: Path
) -> None:
    with _talk(tmp_path, "memory stick", "eggs") as talk:
        turn = talk.say(question)
        assert (turn.calls, turn.text) == ((), told)


@pytest.mark.parametrize("question", ["what files are here?", "这里有哪些文件？"])
def test_files_are_listed_though_a_file_is_open(question: str, tmp_path: Path) -> None:
    with _talk(tmp_path) as talk:
        turn = talk.say(question)
        assert turn.calls == ("create files",)
        assert "notes.txt" in turn.text


@pytest.mark.parametrize("words", ["open the editor", "打开编辑器"])
def test_a_window_that_needs_something_is_asked_about(words: str, tmp_path: Path) -> None:
    with Talk(tmp_path, classes=()) as talk:
        assert "path" in talk.say(words).text
        assert talk.say("notes.txt").calls == ("create editor path=notes.txt",)

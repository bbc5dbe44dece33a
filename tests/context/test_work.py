"""Work is proportional to what changed: counted, not timed, and the same at any length."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from contextui import ContextItem, ItemType, TokenCounter
from tests.context.conversation import Conversation, NotesWindow
from tests.counting import lines_run

SMALL, LARGE = 4_000, 30_000


class Work:
    """What was done: texts counted, windows drawn, items passed over, lines of code run."""

    def __init__(self) -> None:
        self.counted: list[str] = []
        self.drawn: list[str] = []
        self.passed = 0
        self.lines = 0

    def count(self, text: str) -> int:
        self.counted.append(text)
        return TokenCounter.estimate(text)

    def clear(self) -> None:
        self.counted.clear()
        self.drawn.clear()
        self.passed = self.lines = 0

    def traced(self, call: Callable[[], object]) -> None:
        """Run it, counting every line that runs in the package, each pass of a loop included."""
        self.lines += lines_run(call)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    work = Work()
    draw, face = NotesWindow.content, vars(ContextItem)["face"].fget

    def content(self: NotesWindow, lod: Any) -> Any:
        work.drawn.append(self.id)
        return draw(self, lod)

    def seen(self: ContextItem) -> Any:
        work.passed += 1
        return face(self)

    monkeypatch.setattr(NotesWindow, "content", content)
    monkeypatch.setattr(ContextItem, "face", property(seen))
    return work


def long_talk(items: int, work: Work) -> Conversation:
    talk = Conversation(counter=TokenCounter(encode=work.count))
    talk.system("You work in windows.")
    for number in range(3):
        talk.open(f"window {number}")
    for number in range(items // 2):
        talk.say(f"words {number}")
        talk.answer(f"answer {number}")
    talk.context.end_turn()
    talk.composed()
    talk.context.get_stats()
    work.clear()
    return talk


def one_more_turn(talk: Conversation, work: Work) -> tuple[int, int, int, int]:
    """Two messages and one changed window: what it takes to have the request and the stats."""
    work.clear()
    asyncio.run(talk.windows.act("notes_2", "write", {"line": f"line {talk.context.current_seq}"}))
    talk.context.compose()

    def turn() -> None:
        talk.say("two")
        request = talk.context.compose(10_000_000)
        talk.context.mark_sent(request)
        talk.answer("messages")
        talk.context.end_turn()
        talk.context.compose(10_000_000)
        talk.context.get_all()
        talk.context.get_active()
        talk.context.get_stats()

    work.traced(turn)
    return len(work.counted), len(work.drawn), work.passed, work.lines


@pytest.mark.long
def test_a_turn_costs_the_same_at_4_000_and_at_30_000_items(work: Work) -> None:
    counts = {}
    for length in (SMALL, LARGE):
        talk = long_talk(length, work)
        counts[length] = one_more_turn(talk, work)
        assert work.drawn == ["notes_2"], "only the changed window is drawn"
        assert len(work.counted) == 3, "two messages and one window are tokenized"
        assert [text for text in work.counted if "<Window" not in text] == ["two", "messages"]
    small, large = counts[SMALL], counts[LARGE]
    assert small[:3] == large[:3]
    assert small[2] < 40, "items passed over"
    # A view lists its chunks, so a change may touch one chunk more or less: never the items.
    assert abs(small[3] - large[3]) < 30, "lines of code run"


def test_the_hundredth_step_of_a_turn_takes_what_the_tenth_took(work: Work) -> None:
    talk = Conversation(counter=TokenCounter(encode=work.count))
    talk.open("a window")
    talk.say("go")
    passed = {}
    for step in range(101):
        work.clear()
        talk.send()
        talk.call(1)
        talk.result(f"result {step}")
        passed[step] = work.passed
    assert passed[100] == passed[10]


def test_in_a_long_history_work_is_for_what_changed_alone(work: Work) -> None:
    talk = long_talk(SMALL, work)

    def look() -> None:
        talk.context.get_all()
        talk.context.get_active()
        talk.context.get_stats()

    work.traced(look)  # nothing has changed
    assert work.passed == 0
    assert work.lines < 40
    assert talk.context.get_all() is talk.context.get_all()

    def change(name: str, deep: ContextItem) -> None:
        getattr(talk.context, name)(deep.id)
        talk.context.compose(10_000_000)
        talk.context.get_stats()

    for name, place in (("pin", SMALL // 2), ("drop", SMALL // 3)):
        deep = talk.context.get_all()[place]
        work.clear()
        work.traced(lambda: change(name, deep))  # noqa: B023
        assert work.counted == []
        assert work.drawn == []
        assert work.passed < 40
        # Finding the place among the 512 items of a chunk is all that takes some lines.
        assert work.lines < 5_000


def test_a_turn_of_many_steps_renders_each_step_once(work: Work) -> None:
    talk = Conversation(counter=TokenCounter(encode=work.count))
    talk.say("go")
    for step in range(200):
        talk.send()
        talk.call(1)
        talk.result(f"result {step}")
    results = [text for text in work.counted if text.startswith("result")]
    assert len(results) == len(set(results))


def test_each_item_is_tokenized_once_for_each_form(work: Work) -> None:
    talk = Conversation(counter=TokenCounter(encode=work.count))
    for number in range(50):
        talk.context.add(ContextItem(ItemType.USER, f"words {number}"))
        talk.composed()
        talk.context.get_stats()
        talk.composed(1_000_000)
    assert len([text for text in work.counted if text.startswith("words")]) == 50

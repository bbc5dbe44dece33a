"""Work is proportional to what changed: counted, not timed, and the same at any length."""

from typing import Any

import pytest

from contextui import ContextItem, ItemType, TokenCounter
from tests.context.conversation import Conversation, NotesWindow
from tests.counting import lines_run

ITEMS = 4_000


class Work:
    """What was done: texts counted, windows drawn, items passed over."""

    def __init__(self) -> None:
        self.counted: list[str] = []
        self.drawn: list[str] = []
        self.passed = 0

    def count(self, text: str) -> int:
        self.counted.append(text)
        return TokenCounter.estimate(text)

    def clear(self) -> None:
        self.counted.clear()
        self.drawn.clear()
        self.passed = 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    work = Work()
    draw, stored = NotesWindow.content, ContextItem._stored

    def content(self: NotesWindow, lod: Any) -> Any:
        work.drawn.append(self.id)
        return draw(self, lod)

    def seen(self: ContextItem) -> Any:
        work.passed += 1
        return stored(self)

    monkeypatch.setattr(NotesWindow, "content", content)
    monkeypatch.setattr(ContextItem, "_stored", seen)
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
    talk.send()
    talk.composed()
    talk.context.get_stats()
    work.clear()
    return talk


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
    talk = long_talk(ITEMS, work)

    def look() -> None:
        talk.context.get_all()
        talk.context.get_active()
        talk.context.get_stats()

    assert lines_run(look) < 40  # nothing has changed
    assert work.passed == 0
    assert talk.context.get_all() is talk.context.get_all()
    for change, place in ((talk.context.pin, ITEMS // 2), (talk.context.drop, ITEMS // 3)):
        deep = talk.context.get_all()[place]
        work.clear()
        change(deep.id)
        talk.context.compose(10_000_000)
        talk.context.get_stats()
        assert (work.counted, work.drawn) == ([], [])
        assert work.passed < 40


def test_each_item_is_tokenized_once_for_each_form(work: Work) -> None:
    talk = Conversation(counter=TokenCounter(encode=work.count))
    for number in range(50):
        talk.context.add(ContextItem(ItemType.USER, f"words {number}"))
        talk.composed()
        talk.context.get_stats()
        talk.composed(1_000_000)
    assert len([text for text in work.counted if text.startswith("words")]) == 50

"""Answers that come faster than they can be drawn: the screen stays usable."""

import asyncio
import re

import pytest
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.pilot import Pilot
from textual.widgets import Markdown

from contextui.events import (
    AnswerDiscarded,
    AnswerGiven,
    CallFinished,
    CallStarted,
    Event,
    Notice,
    RetryScheduled,
    TurnFinished,
    TurnStarted,
)
from contextui.model import TextDelta, ThinkingDelta
from contextui.tui.conversation.entries import LONGEST, ModelWords
from contextui.words import Words
from tests.tui.conversation.test_conversation import pane
from tests.tui.running import lines, shown, until
from tests.tui.sharing import SharedChat


async def test_words_are_drawn_together_while_drawing_takes_long(
    pilot: "Pilot[int]", monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = asyncio.Event()
    begun: list[str] = []
    append = Markdown.append

    def slow(self: Markdown, markdown: str) -> AwaitComplete:
        begun.append(markdown)

        async def later() -> None:
            await may_end.wait()
            await append(self, markdown)

        return AwaitComplete(later())

    monkeypatch.setattr(Markdown, "append", slow)
    pane(pilot).handle(TurnStarted("count", "1"))
    pane(pilot).handle(TextDelta("one "))
    try:
        await until(pilot, lambda: begun)
        for word in ("two ", "three ", "four"):
            pane(pilot).handle(TextDelta(word))
            await asyncio.sleep(0.1)
        assert begun == ["one "]
    finally:
        may_end.set()
    await until(pilot, lambda: shown(pilot, "one two three four"))
    assert begun == ["one ", "two three four"]


async def test_what_stands_in_a_list_is_not_rebuilt_with_each_word(pilot: "Pilot[int]") -> None:
    mark = "1. "
    pane(pilot).handle(TurnStarted("a list", "1"))
    pane(pilot).handle(TextDelta("".join(f"{mark}item {n}\n" for n in range(1, 6))))
    await until(pilot, lambda: shown(pilot, "item 5"))
    answer = pane(pilot).query_one(ModelWords)
    first = answer.query("Horizontal").first()
    pane(pilot).handle(TextDelta(f"{mark}the sixth **one**"))
    await until(pilot, lambda: shown(pilot, "the sixth one"))
    assert answer.query("Horizontal").first() is first
    pane(pilot).handle(TextDelta(" grows"))
    await until(pilot, lambda: shown(pilot, "the sixth one grows"))
    assert len(answer.query("Horizontal")) == 6
    pane(pilot).handle(TextDelta("\n" + "".join(f"{mark}item {n}\n" for n in range(7, 12))))
    await until(pilot, lambda: shown(pilot, "item 11"))
    assert [row.size.height for row in answer.query("Horizontal")] == [1] * 11


async def test_a_key_of_the_environment_is_not_shown_piece_by_piece(
    pilot: "Pilot[int]", monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "Zq3-not-for-the-screen-7"
    monkeypatch.setenv("SOME_API_KEY", key)
    pane(pilot).handle(TurnStarted("which key?", "1"))
    for kind in (ThinkingDelta, TextDelta):
        for piece in ("It is ", *[key[n : n + 4] for n in range(0, len(key), 4)]):
            pane(pilot).handle(kind(piece))
            await pilot.pause(0.1)
            text = "\n".join(lines(pilot))
            assert not any(key[n : n + 4] in text for n in range(0, len(key), 4))
    pane(pilot).handle(TextDelta(". And Zq3"))
    await until(pilot, lambda: shown(pilot, "It is ***. And"))
    pane(pilot).handle(TurnFinished("done"))
    await until(pilot, lambda: shown(pilot, "It is ***. And Zq3"))


async def test_a_key_at_the_end_of_what_is_shown_is_not_shown_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "Zq3-not-for-the-screen-7")
    words = ModelWords(Words("en"), "x" * (LONGEST - 9) + "Zq3-not-for-the-screen-7")
    async with App[None]().run_test() as pilot:
        await pilot.app.mount(words)
        await pilot.pause()
        assert words.source == "x" * (LONGEST - 9)


CALL = [CallStarted(1, "read_file", {"path": "a.py"}), CallFinished(1, "read_file", True, "text")]
TURNS: list[tuple[list[Event], list[str]]] = [  # and what is drawn of each
    (
        [TextDelta("Look: "), AnswerGiven("1", "Look: <file_ref>a.py</file_ref>")],
        ["Look:", "print('a')"],
    ),
    (
        [TextDelta("See <code_"), AnswerGiven("2", "See <code_ref>x</code_ref>")],
        ["See <code_ref>x</code_ref> (code not found)"],
    ),
    (
        [TextDelta("I look."), AnswerGiven("3", "I look."), *CALL, TextDelta("Fine.")],
        ["I look.", "✓ read_file          a.py", "Fine."],
    ),
    (
        [ThinkingDelta("So, "), ThinkingDelta("well."), TextDelta("An answer.")],
        ["· thinking           So, well.", "An answer."],
    ),
    (
        [
            *(TextDelta("Half an ans"), AnswerDiscarded("cut")),
            *(RetryScheduled("It broke off.", 1, 1, 3), TextDelta("All of it.")),
        ],
        ["All of it."],  # X31: the reason of a retry is there while it is waited for
    ),
    ([TextDelta("Some"), Notice("A window failed.")], ["Some", "A window failed."]),
    (
        [TextDelta("Part of"), TurnFinished("failed", explanation="No network.")],
        ["Part of", "No network. Enter to retry, ↑ to edit."],
    ),
    ([ThinkingDelta("Hm."), TurnFinished("stopped")], ["· thinking           Hm.", "Stopped."]),
]


@pytest.mark.parametrize("size", [(120, 80)])
async def test_turns_whose_events_come_in_one_tick_are_drawn_whole(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    """X01: no event is lost because the widget that it concerns is not mounted yet."""

    def rows(pilot: "Pilot[int]") -> list[str]:
        region = pane(pilot).region
        drawn = [row[: region.width] for row in lines(pilot)[region.y : region.bottom]]
        rows = [re.sub(r"\d+\.\ds.*", "", row).strip() for row in drawn]
        return [row for row in rows if row]

    (chat.work / "a.py").write_text("print('a')\n", "utf-8")
    expected = list[str]()
    for number, (events, drawn) in enumerate(TURNS):
        expected += [f"▌ turn {number}", *drawn]
        for event in (TurnStarted(f"turn {number}", "1"), *events, TurnFinished("done")):
            pane(pilot).handle(event)
    await until(pilot, lambda: rows(pilot) == expected)


async def test_an_answer_is_copied_and_folded_before_it_is_drawn(pilot: "Pilot[int]") -> None:
    """X01: what a widget was given counts, not what it has drawn."""
    for event in (TurnStarted("hi", "1"), TextDelta("An answer."), TurnFinished("done")):
        pane(pilot).handle(event)
    pane(pilot).action_copy()
    assert pilot.app.clipboard == "An answer."
    for number in range(70):
        pane(pilot).note(f"line {number}")
    await until(pilot, lambda: not pane(pilot).query(ModelWords))
    pane(pilot).show_earlier()
    await until(pilot, lambda: pane(pilot).query_one(ModelWords).source == "An answer.")


MARKDOWN = """\
Call `reset()` first.

- [x] write the test
- [ ] mend the cart

> A quote.

---

| item | price |
|:--|--:|
| milk | 0.99 |
| bread | 13.50 |

```python
def total(items): return sum(item.price * item.quantity for item in items if not item.is_free)
```

Done.
"""


@pytest.mark.parametrize("size", [(80, 40)])
async def test_markdown_is_drawn_as_it_is_meant(pilot: "Pilot[int]") -> None:
    """X25: also while it streams."""
    pane(pilot).handle(TurnStarted("hi", "1"))
    head, bread, tail = MARKDOWN.partition("| bread")
    pane(pilot).handle(TextDelta(head))
    await until(pilot, lambda: shown(pilot, "milk"))
    pane(pilot).handle(TextDelta(bread + tail))
    await until(pilot, lambda: shown(pilot, "Done."))
    await until(pilot, lambda: shown(pilot, "  13.50 │"))
    drawn = [one.strip() for one in lines(pilot)]
    start = drawn.index("✓ write the test")
    assert drawn[start : start + 4] == ["✓ write the test", "☐ mend the cart", "", "▌ A quote."]
    assert set(drawn[start + 5]) == {"─"}
    assert any(one.endswith("  0.99 │") for one in drawn)
    assert any("item.is_free)" in one for one in drawn)  # it wraps
    strips = pilot.app.screen._compositor.render_strips()
    code = next(one for strip in strips for one in strip if one.text == "reset()")
    assert code.style is not None
    assert code.style.color != pilot.app.screen.rich_style.color

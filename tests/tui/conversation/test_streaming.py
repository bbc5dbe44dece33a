"""Answers that come faster than they can be drawn: the screen stays usable."""

import asyncio
from pathlib import Path

import pytest
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.pilot import Pilot
from textual.widgets import Markdown

from contextui.events import TurnFinished, TurnStarted
from contextui.model import TextDelta, ThinkingDelta
from contextui.tui.conversation.entries import LONGEST, ModelWords
from contextui.tui.conversation.pane import Conversation
from contextui.words import Words
from tests.tui.running import desk_in, running, shown, until


def pane(pilot: "Pilot[int]") -> Conversation:
    return pilot.app.screen.query_one(Conversation)


def test_words_are_drawn_together_while_drawing_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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

    async def talk() -> None:
        async with running(desk_in(tmp_path)) as pilot:
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

    asyncio.run(talk())


@pytest.mark.parametrize("mark", ["- ", "1. "])
def test_what_stands_in_a_list_is_not_rebuilt_with_each_word(tmp_path: Path, mark: str) -> None:
    async def talk() -> None:
        async with running(desk_in(tmp_path)) as pilot:
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

    asyncio.run(talk())


def test_a_key_of_the_environment_is_not_shown_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "Zq3-not-for-the-screen-7"
    monkeypatch.setenv("SOME_API_KEY", key)

    async def talk() -> None:
        async with running(desk_in(tmp_path)) as pilot:
            pane(pilot).handle(TurnStarted("which key?", "1"))
            for kind in (ThinkingDelta, TextDelta):
                for piece in ("It is ", *[key[n : n + 4] for n in range(0, len(key), 4)]):
                    pane(pilot).handle(kind(piece))
                    await pilot.pause(0.1)
                    assert not any(shown(pilot, key[n : n + 4]) for n in range(0, len(key), 4))
            pane(pilot).handle(TextDelta(". And Zq3"))
            await until(pilot, lambda: shown(pilot, "It is ***. And"))
            pane(pilot).handle(TurnFinished("done"))
            await until(pilot, lambda: shown(pilot, "It is ***. And Zq3"))

    asyncio.run(talk())


def test_a_key_at_the_end_of_what_is_shown_is_not_shown_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "Zq3-not-for-the-screen-7")
    words = ModelWords(Words("en"), "x" * (LONGEST - 9) + "Zq3-not-for-the-screen-7")

    async def go() -> None:
        async with App[None]().run_test() as pilot:
            await pilot.app.mount(words)
            await pilot.pause()
            assert words.source == "x" * (LONGEST - 9)

    asyncio.run(go())

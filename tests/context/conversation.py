"""A conversation that tests drive step by step, with real windows."""

import asyncio
import copy
import itertools
import json
from collections.abc import Iterable
from typing import Any

from contextui import (
    Body,
    ContextItem,
    ContextManager,
    ContextRenderer,
    ItemType,
    LlmMessage,
    Lod,
    TokenCounter,
    Window,
    WindowManager,
    action,
)
from contextui.config.schema import Placement
from contextui.context.placement.compose import PricedComposer


class NotesWindow(Window):
    """Notes, one to a line."""

    class State(Window.State):
        lines: list[str] = []

    state: State

    def opened(self, lines: list[str] | None = None) -> None:
        self.state.lines = lines or []

    def content(self, lod: Lod) -> Body:
        if lod is Lod.FULL:
            return "\n".join(self.state.lines)
        if lod is Lod.SUMMARY:
            return "\n".join(line[:20] for line in self.state.lines)
        return f"{len(self.state.lines)} notes"

    @action("Write a line")
    def write(self, line: str) -> str:
        self.state.lines.append(line)
        return f"Line {len(self.state.lines)}"


def rough_counter() -> TokenCounter:
    """Counts without the vocabulary: properties hold for any count, and this one is quick."""
    return TokenCounter(encode=TokenCounter.estimate)


def wire(messages: Iterable[LlmMessage]) -> bytes:
    """The messages as bytes, one behind the other, so that a prefix is a prefix."""
    parts = [{"role": one.role, "content": one.content} for one in messages]
    return b"".join(json.dumps(part, ensure_ascii=False).encode() + b"\n" for part in parts)


class Conversation:
    """Windows and a context, with short words for what people and models do to them."""

    def __init__(self, placement: Placement = "price", counter: TokenCounter | None = None) -> None:
        self.windows = WindowManager([NotesWindow])
        self.context = ContextManager(
            self.windows, counter=counter or rough_counter(), placement=placement
        )
        self._call_numbers = itertools.count(1)
        self.waiting: list[str] = []

    def say(self, text: str) -> ContextItem:
        return self.context.add(ContextItem(ItemType.USER, text))

    def answer(self, text: str) -> ContextItem:
        return self.context.add(ContextItem(ItemType.ASSISTANT, text))

    def system(self, text: str) -> ContextItem:
        return self.context.add(ContextItem(ItemType.SYSTEM, text))

    def call(self, count: int = 1, text: str = "", thinking: str = "") -> ContextItem:
        """An answer that calls tools, and may think and speak before."""
        calls = [f"call_{next(self._call_numbers)}" for _ in range(count)]
        blocks: list[dict[str, Any]] = [
            {"type": "tool_use", "id": call, "name": "action", "input": {"n": 1}} for call in calls
        ]
        if text:
            blocks.insert(0, {"type": "text", "text": text})
        if thinking:
            blocks.insert(0, {"type": "thinking", "thinking": thinking, "signature": "s"})
        self.waiting += calls
        return self.context.add(ContextItem(ItemType.ASSISTANT, text, blocks=tuple(blocks)))

    @property
    def is_waiting(self) -> bool:
        """Whether a call waits for its result; the end of a turn gives up on those that do."""
        self.waiting = [one for one in self.waiting if one in self.context.ledger.calls.unanswered]
        return bool(self.waiting)

    def result(self, text: str = "done", **fields: Any) -> ContextItem:
        """The result of the call that has waited longest."""
        call = self.waiting.pop(0)
        return self.context.add(ContextItem(ItemType.TOOL, text, tool_call_id=call, **fields))

    def open(self, *lines: str) -> Window:
        return self.windows.open("notes", lines=list(lines))

    def write(self, window_id: str, line: str) -> None:
        result = asyncio.run(self.windows.act(window_id, "write", {"line": line}))
        assert result.ok, result

    def send(self, budget: int | None = None) -> list[LlmMessage]:
        """Compose a request and say that it left."""
        request = self.context.compose(budget)
        self.context.mark_sent(request)
        return list(request.messages)

    def turn(self, words: str, answer: str) -> None:
        self.say(words)
        self.send()
        self.answer(answer)
        self.context.end_turn()

    def turns(self, count: int) -> None:
        for number in range(count):
            self.turn(f"words {number}", "an answer")

    def composed(self, budget: int | None = None) -> list[LlmMessage]:
        return list(self.context.compose(budget).messages)


def rendered(priced: PricedComposer) -> list[LlmMessage]:
    """All messages of the next request, made without those of the last one."""
    script, sent = priced.transcript, priced._messages
    made = script.plan(priced._clock())
    priced._with_texts(made)
    scratch = copy.copy(sent)
    scratch.pieces, scratch.starts = [], []
    start = script.start_of(made)
    before = scratch.made_of((slot, slot.sent, slot.actions) for slot in script.slots[:start])
    fresh = [(slot.at, piece) for slot, piece in before]
    kept = zip(sent.starts[: sent.count_before(start)], sent.pieces, strict=False)
    pieces = [
        *(pair for pair in fresh if not priced._is_edited(pair[0])),
        *(pair for pair in kept if priced._is_edited(pair[0])),
    ]
    pieces.sort(key=lambda pair: pair[0])
    return [piece.message for _, piece in (*pieces, *scratch.made_of(script.written(made)))]


def specified(talk: Conversation) -> list[LlmMessage]:
    """What the next request has to be, rendered from scratch."""
    priced = talk.context.ledger.priced
    if priced is not None:
        return rendered(priced)
    return ContextRenderer().render(talk.context.get_all(), talk.windows)

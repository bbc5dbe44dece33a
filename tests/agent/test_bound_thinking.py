"""Thinking over the wire: a server that takes it only with the context that it was made with.

The server signs each thinking block for the request that it answers. Until the turn ends, every
later request must contain the block unchanged, behind exactly the same blocks, system prompt and
tools. People drop, edit and restore items and use their windows at any time.
"""

import asyncio
import itertools
from random import Random
from typing import Any

import pytest

from contextui.agent.controller import InteractionController
from contextui.agent.models.anthropic import AnthropicModel
from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.events import (
    CallFinished,
    CallStarted,
    Event,
    StepStarted,
    TurnEnded,
    TurnFinished,
)
from contextui.model import TextDelta
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Lod
from tests.agent.server import Received, Reply, Server, Step, answer, call, error
from tests.agent.shapes import violations
from tests.agent.talking import options
from tests.context.conversation import NotesWindow, rough_counter
from tests.thorough import times

BUSY = Reply(529, error("overloaded_error", "Overloaded"))
Said = tuple[str, dict[str, Any]]


class StrictServer(Server):
    """Refuses thinking of the running turn that was changed, removed or moved."""

    def __init__(self, dice: Random) -> None:
        super().__init__()
        self._dice, self._numbers = dice, itertools.count(1)
        self._bound: dict[str, tuple[object, list[Said], dict[str, Any]]] = {}
        self._answers: dict[str, list[dict[str, Any]]] = {}
        self._known = set[str]()  # the signatures of thinking that came back
        self._left = 0
        self.windows: WindowManager | None = None
        self.refused: list[str] = []
        self.thoughts = self.checked = self.swept = 0
        self._last: list[Said] = []

    def begin_turn(self) -> None:
        """The thinking of the turn before is not needed any more."""
        self._bound.clear()
        self._left = self._dice.choice((0, 0, 1, 2, 3, 5))

    def next_step(self) -> Step:
        received = self.requests[-1]
        found = [*violations(received.json), *self._violations(received)]
        if found:
            self.refused += found
            return Reply(400, error("invalid_request_error", "; ".join(found)))
        blocks = received.blocks()
        self.swept += blocks[: len(self._last)] != self._last
        if self._dice.random() < 0.03:
            return BUSY
        self._last = blocks
        said = self._answer()
        for number, block in enumerate(said):
            if block["type"] == "thinking":
                before = [*blocks, *(("assistant", one) for one in said[:number])]
                self._bound[block["signature"]] = _head(received), before, block
                self._answers[block["signature"]] = [one for one in said if one is not block]
                self.thoughts += 1
        return answer(*said)

    def _violations(self, received: Received) -> list[str]:
        found, blocks = list[str](), received.blocks()
        for signature, (head, before, block) in self._bound.items():
            self.checked += 1
            places = [at for at, (_, one) in enumerate(blocks) if one.get("signature") == signature]
            if (
                not places
                and signature not in self._known
                and not self._has_part(blocks, signature)
            ):
                continue  # the whole answer was dropped before a request contained it
            self._known.add(signature)
            if not places:
                found.append(f"{block['thinking']} was removed")
            elif blocks[places[0]] != ("assistant", block):
                found.append(f"{block['thinking']} was changed")
            elif blocks[: places[0]] != before or _head(received) != head:
                found.append(f"{block['thinking']} is not with its context")
        return found

    def _has_part(self, blocks: list[Said], signature: str) -> bool:
        """Whether a request has anything of the answer that a thinking block belongs to."""
        return any(("assistant", one) in blocks for one in self._answers[signature])

    def _answer(self) -> list[dict[str, Any]]:
        dice, said = self._dice, list[dict[str, Any]]()
        if dice.random() < 0.6:
            said.append(self._thinking())
        if self._left <= 0 or dice.random() < 0.5:
            said.append({"type": "text", "text": f"Words {next(self._numbers)}."})
            if dice.random() < 0.1 and self._left > 0:
                said.append(self._thinking())
        if self._left > 0:
            said += [self._call() for _ in range(dice.choice((1, 1, 2, 3)))]
        self._left -= 1
        return said

    def _thinking(self) -> dict[str, Any]:
        number = next(self._numbers)
        thoughts = f"Thought {number}. " + "hm " * self._dice.choice((1, 20, 200))
        return {"type": "thinking", "thinking": thoughts, "signature": f"sig{number}"}

    def _call(self) -> dict[str, Any]:
        dice = self._dice
        opened = [one.id for one in self.windows.windows()] if self.windows else []
        if not opened or (len(opened) < 4 and dice.random() < 0.3):
            lines = [f"line {number} of many" for number in range(dice.choice((1, 10, 60)))]
            return call("create", name="notes", args={"lines": lines})
        window = dice.choice(opened)
        if dice.random() < 0.1:
            return call("action", window_id=window, action_id="close", params={})
        line = f"line {next(self._numbers)} " + "more " * dice.choice((1, 10, 100))
        return call("action", window_id=window, action_id="write", params={"line": line})


def _head(received: Received) -> object:
    system = [one["text"] for one in received.json.get("system", ())]
    return system, received.json.get("tools")


class Person:
    """Does something to items and windows, whether it can be done or not."""

    def __init__(self, dice: Random, context: ContextManager) -> None:
        self._dice, self._context = dice, context
        self._numbers = itertools.count(1)

    async def meddle(self) -> None:
        dice, context, windows = self._dice, self._context, self._context.windows
        assert windows is not None
        items, opened = context.get_all(), [one.id for one in windows.windows()]
        item = dice.choice(items[-12:] if dice.random() < 0.7 else items).id
        window = dice.choice(opened) if opened else "none"
        hidden = [one.id for one in items if one.hidden] or [item]
        words = f"person's words {next(self._numbers)}"
        try:
            match dice.randrange(12):
                case 0 if len(opened) < 4:
                    windows.open("notes", lines=[words] * dice.choice((1, 30)))
                case 1 | 2:
                    await windows.act(window, "write", {"line": words}, actor="person")
                case 3:
                    windows.close(window, dice.choice((None, words)))
                case 4:
                    windows.set_lod(window, dice.choice(list(Lod)))
                case 5 | 6:
                    context.drop(item)
                case 7:
                    context.restore(dice.choice(hidden))
                case 8:
                    context.edit(item, words)
                case 9:
                    context.undo()
                case 10:
                    dice.choice((context.pin, context.unpin))(item)
                case 11:
                    context.add(ContextItem(ItemType.USER, words))
        except ContextUIError:
            pass  # it could not be done, and the person was informed


async def play(seed: int, turns: int, server: StrictServer, dice: Random) -> None:
    windows = WindowManager([NotesWindow])
    context = ContextManager(windows, counter=rough_counter(), placement="price")
    context.add(ContextItem(ItemType.SYSTEM, "You help. " * 600))
    server.windows = windows
    early = list[Event]()
    context.subscribe(
        lambda one: early.append(one) if isinstance(one, TurnEnded) and one.early else None
    )
    model = AnthropicModel("claude-x", base_url=server.url, api_key="k")
    talk = InteractionController(model=model, context=context, options=options(), prompt=False)
    person = Person(dice, context)
    try:
        for turn in range(turns):
            for _ in range(dice.choice((0, 0, 1, 2))):
                await person.meddle()
            server.begin_turn()
            reasons = list[str]()
            async for event in talk.run_turn(f"Turn {turn}."):
                if isinstance(event, TurnFinished):
                    reasons.append(event.reason)
                within = isinstance(event, StepStarted | CallStarted | CallFinished | TextDelta)
                if within and dice.random() < 0.2:
                    await person.meddle()
            assert server.refused == [], f"seed {seed}, turn {turn}"
            assert len(reasons) == 1
        assert early == []  # nothing had to be left out for room
    finally:
        talk.close()
        await model.aclose()
        windows.shut_down()


def examine(seeds: range, turns: int, monkeypatch: pytest.MonkeyPatch) -> StrictServer:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    checked = thoughts = swept = 0
    for seed in seeds:
        dice = Random(seed)
        with StrictServer(dice) as server:
            asyncio.run(play(seed, turns, server, dice))
            checked += server.checked
            thoughts += server.thoughts
            swept += server.swept
    assert checked > len(seeds) * turns
    assert swept > 0
    return server


def test_no_thinking_is_separated_from_its_context(monkeypatch: pytest.MonkeyPatch) -> None:
    examine(range(2), 12, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("part", range(2))
def test_in_hundreds_of_turns_nothing_is_refused(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = 100 + part * 20
    examine(range(first, first + times(2, 20)), 25, monkeypatch)

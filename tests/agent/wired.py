"""A conversation over the wire: the real loop in a real session, and the real SDK."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from contextui.agent.context_space import TurnOptions
from contextui.agent.controller import InteractionController
from contextui.agent.models.anthropic import AnthropicModel
from contextui.context.item import ItemType
from contextui.events import Event
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from contextui.windowing.window import Window
from tests.agent.server import Received, Reply, Server, Step, call
from tests.agent.shapes import violations
from tests.agent.talking import options
from tests.context.conversation import wire
from tests.windowing.samples import Counter, Text, Todo

KEY = "k3y-that-nobody-may-see"
LISTED: tuple[type[Window], ...] = (Todo, Text, Counter)

T = TypeVar("T")
Heard = Callable[[Event], object]


class _Model(AnthropicModel):
    async def context_size(self) -> None:
        """Ask no server; tests/agent/models/test_servers.py does."""


class Wired:
    """A person's side of it, and all that the server received.

    Args:
        folder: Where the session's folder and its home are.
        server: Who answers.

    Attributes:
        turn: What each turn may take, from the next `begin` or `go_on` on.
        odd: What the API may find fault with after all, where a test has blocks that it does
            not know.
        guide: What the folder's AGENTS.md says, from the next `begin` or `go_on` on.
    """

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server
        self.home = folder / "home"
        self.turn = options()
        self.odd: tuple[str, ...] = ()
        self.guide = ""
        self._runner = asyncio.Runner()
        self._steps: list[Step] = []
        self.begin()

    def begin(self, turn: TurnOptions | None = None, prompt: bool = True) -> None:
        self._leave()
        self.turn = turn or self.turn
        self.session = self._store().create(self.folder)
        self._take(prompt)

    def go_on(self, home: Path | None = None, session_id: str = "") -> None:
        """Close the session, and go on with it, or with a copy of it, as another process does."""
        session_id = session_id or self.session.id
        self._leave()
        self.home = home or self.home
        self.session = self._store().open(session_id)
        self._take(prompt=True)

    def close(self) -> None:
        """End it, after a look at all that was sent and at what is kept."""
        try:
            self._check_requests()
            self._check_kept()
        finally:
            self._leave()
            self._runner.close()

    def play(self, *steps: Step) -> None:
        self._steps += steps
        self.server.play(*steps)

    def say(self, words: str, *steps: Step, heard: Heard = lambda _: None) -> list[Event]:
        """Take a turn, to which the server does this; `heard` hears its events as they come."""

        async def take() -> list[Event]:
            events = []
            async for event in self.talk.run_turn(words):
                events.append(event)
                heard(event)
            return events

        self.play(*steps)
        return self.run(take())

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Do something in the loop that all of this runs in."""
        return self._runner.run(coroutine)

    def stop_at(self, kind: type[Event]) -> Heard:
        """What stops the turn at each event of a kind."""
        return lambda event: self.talk.stop() if isinstance(event, kind) else None

    def act(self, window_id: str, action_id: str, **params: Any) -> None:
        acting = self.session.windows.act(window_id, action_id, params, actor="person")
        result = self.run(acting)
        assert result.ok, result

    def pin_first_words(self) -> str:
        """Pin the person's first message; its id."""
        context = self.session.context
        first = next(one for one in context.get_active() if one.type is ItemType.USER)
        context.pin(first.id)
        return first.id

    @property
    def requests(self) -> list[Received]:
        """All that the server received."""
        return self.server.requests

    @property
    def last(self) -> Received:
        """What it received last."""
        return self.server.requests[-1]

    @property
    def items(self) -> list[str]:
        """What is on the first list."""
        todo = self.session.windows.get("todo_1")
        assert isinstance(todo, Todo)
        return [item.text for item in todo.state.items]

    @property
    def opened(self) -> list[str]:
        """The windows that are open."""
        return [window.id for window in self.session.windows.windows()]

    def _store(self) -> SessionStore:
        return SessionStore(self.home, SessionOptions(classes=LISTED))

    def _take(self, prompt: bool) -> None:
        self.model = _Model("claude-x", base_url=self.server.url, api_key=KEY)
        self.talk = InteractionController(
            model=self.model, context=self.session.context, options=self.turn, prompt=False
        )
        if prompt:
            self.talk.install_prompt(self.guide)

    def _leave(self) -> None:
        if hasattr(self, "session"):
            self.talk.close()
            self.run(self.model.aclose())
            self.session.close()

    def _check_requests(self) -> None:
        """The API takes each of them; of what was refused, only what is too large is sent twice."""
        for received in self.requests:
            assert self._found(received) == []
        played = zip(self.requests, self._steps, strict=False)
        refused = [(one.body, repr(step)) for one, step in played if is_refusal(step)]
        sent = [one.body for one in self.requests]
        for body, reply in refused:
            assert sent.count(body) <= 1 + ("too_large" in reply or "too long" in reply)

    def _found(self, received: Received) -> list[str]:
        paused = received.json["messages"][-1]["role"] == "assistant"
        found = violations(received.json, continues=paused)
        return [one for one in found if not one.endswith(self.odd)]

    def _check_kept(self) -> None:
        """A resumed session sends the same."""
        assert self.session.context.ledger.calls.unanswered == ()
        before = wire(self.session.context.compose().messages)
        self.go_on()
        assert self.session.notices == []
        assert wire(self.session.context.compose().messages) == before


def is_refusal(step: Step) -> bool:
    """Whether the server says by this that it will not take these bytes at any time."""
    return isinstance(step, Reply) and step.status in (400, 401, 403, 404, 413)


def texts(received: Received) -> str:
    return "\n".join(_words(block) for _, block in received.blocks())


def results(received: Received) -> list[dict[str, Any]]:
    return [block for _, block in received.blocks() if block["type"] == "tool_result"]


def beside(received: Received) -> list[str]:
    """The words that stand in one message with results."""
    mixed = [
        [block["type"] for block in message["content"]] for message in received.json["messages"]
    ]
    return [one for kinds in mixed if "tool_result" in kinds for one in kinds if one == "text"]


def opening(*items: str) -> dict[str, Any]:
    return call("create", name="todo", args={"items": list(items)})


def adding(words: str, window_id: str = "todo_1") -> dict[str, Any]:
    return call("action", window_id=window_id, action_id="add", params={"text": words})


def _words(block: dict[str, Any]) -> str:
    match block:
        case {"type": "text", "text": str(words)}:
            return words
        case {"type": "tool_result", "content": str(words)}:
            return words
        case {"type": "tool_result", "content": list(parts)}:
            return "\n".join(map(_words, parts))
    return ""

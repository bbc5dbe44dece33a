"""Driving a turn in tests: words in, events out."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, TypeVar

from contextui.agent.context_space import TurnOptions
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel, Step
from contextui.agent.prompt import install, system_prompt
from contextui.agent.retry import RetryPolicy
from contextui.context.item import ContextItem
from contextui.context.manager import ContextManager
from contextui.events import Event, TurnFinished
from contextui.model import Model, ModelEvent, ModelRequest
from contextui.windowing.manager import WindowManager
from contextui.windowing.window import Window
from tests.windowing.samples import Todo

E = TypeVar("E", bound=Event)


class Interrupted(ScriptedModel):
    """Plays its script, and has one of these happen before each answer."""

    def __init__(self, *steps: Step, before: Iterable[Callable[[], object]]) -> None:
        super().__init__(*steps)
        self._before = iter(before)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        happening = next(self._before, lambda: None)()
        if inspect.isawaitable(happening):
            await happening
        async for event in super().stream(request):
            yield event


class Waiting(ScriptedModel):
    """Plays its script once it is let go; who waits for `reached` knows that it was asked."""

    def __init__(self, *steps: Step) -> None:
        super().__init__(*steps)
        self.reached, self.go = asyncio.Event(), asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.reached.set()
        await self.go.wait()
        async for event in super().stream(request):
            yield event


async def no_sleep(_: float) -> None:
    """Waits for nothing, but lets others run."""
    await asyncio.sleep(0)


def options(**given: Any) -> TurnOptions:
    """Options of a turn whose pauses take no time."""
    return TurnOptions(**{"retry": RetryPolicy(sleep=no_sleep), **given})


def controller(
    *steps: Step,
    model: Model | None = None,
    windows: Sequence[type[Window]] = (Todo,),
    **given: Any,
) -> InteractionController:
    """A conversation of its own with a scripted model."""
    context = given.pop("context", None) or ContextManager(WindowManager(windows))
    given.setdefault("options", options())
    given.setdefault("prompt", False)
    return InteractionController(model=model or ScriptedModel(*steps), context=context, **given)


def with_prompt(talk: InteractionController) -> ContextItem:
    """Begin a conversation with a system prompt alone, whatever windows there are."""
    return install(talk.context, system_prompt(()))


async def say(talk: InteractionController, words: str) -> list[Event]:
    return [event async for event in talk.run_turn(words)]


def run(talk: InteractionController, words: str) -> list[Event]:
    return asyncio.run(say(talk, words))


def of(kind: type[E], events: Sequence[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def requests(talk: InteractionController) -> list[ModelRequest]:
    assert isinstance(talk.model, ScriptedModel)
    return talk.model.requests


def end(events: Sequence[Event]) -> TurnFinished:
    """The last event, which is the end of the turn and the only one."""
    assert isinstance(events[-1], TurnFinished)
    assert len(of(TurnFinished, events)) == 1
    return events[-1]

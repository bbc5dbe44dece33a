"""Bad input by price, through the real loop: the conversation goes on, and says what it did."""

import asyncio
import itertools
from typing import Any

from contextui import Body, ContextItem, ItemType, Lod, Window, action
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel, Step, call
from contextui.context.manager import ContextManager
from contextui.events import Event, RequestSent
from contextui.model import ModelRequest
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from tests.agent.talking import end, of, options, run
from tests.context.conversation import NotesWindow, rough_counter
from tests.context.placement.test_requests import Clock, state_of, windows_in

SYSTEM = "You help. " * 600  # more than the least that is cached


class Restless(Window):
    """Shows something else each time that it is drawn."""

    class State(Window.State):
        touched: int = 0

    state: State
    drawn = itertools.count(1)

    def content(self, lod: Lod) -> Body:
        return "\n".join(["The same line."] * 8 + [f"Drawn {next(self.drawn)} times."])

    @action("Touch it")
    def touch(self) -> str:
        self.state.touched += 1
        return "Touched."


class Talk:
    """A conversation with a scripted model, all of whose events are kept."""

    def __init__(self, *steps: Step) -> None:
        self.clock, self.events = Clock(), list[Event]()
        self.windows = WindowManager([NotesWindow, Restless])
        self.context = ContextManager(self.windows, counter=rough_counter(), clock=self.clock)
        self.context.subscribe(self.events.append)
        self.context.add(ContextItem(ItemType.SYSTEM, SYSTEM))
        self.model = ScriptedModel(*steps)
        self.loop = InteractionController(
            model=self.model, context=self.context, options=options(), prompt=False
        )

    def say(self, words: str) -> list[Event]:
        events = run(self.loop, words)
        self.events += events
        return events

    def act(self, window: str, action_id: str, **params: Any) -> None:
        acted = asyncio.run(self.windows.act(window, action_id, params, actor="person"))
        assert acted.ok, acted

    @property
    def last(self) -> ModelRequest:
        return self.model.requests[-1]

    def sweeps(self) -> list[str]:
        """The reasons of all sweeps, as the log has them."""
        plans = [one.plan for one in of(RequestSent, self.events)]
        return [plan["sweep"]["reason"] for plan in plans if plan and plan["sweep"]]

    def check_windows(self) -> None:
        """The last request shows every open window as it is."""
        shown = windows_in(self.last.messages)
        for window in self.windows.windows():
            assert shown[window.id][1:] == state_of(runtime_of(window).renders.latest().xml)


def test_a_window_that_differs_each_time_it_is_drawn_is_shown_as_it_is() -> None:
    touches = [call("action", window_id="restless_1", action_id="touch") for _ in range(6)]
    talk = Talk(*(step for touch in touches for step in (touch, "Done.")))
    talk.windows.open("restless")
    for turn in range(6):
        talk.windows.redraw()
        assert end(talk.say(f"Turn {turn}.")).reason == "done"
        shown = windows_in(talk.last.messages)["restless_1"][1]
        assert shown == state_of(runtime_of(talk.windows.windows()[0]).renders.latest().xml)[0]
    plans = [one.plan for one in of(RequestSent, talk.events) if one.plan]
    kinds = [block["form"][0] for plan in plans for block in plan["blocks"]]
    assert kinds[0] == "whole"
    assert "change" in kinds  # and the log has each of them


def test_after_a_jump_of_the_clock_everything_outdated_goes() -> None:
    for jump in (-1e9, -400.0, 400.0, 1e9):
        talk = Talk(*["Yes."] * 6)
        talk.windows.open("notes", lines=["a line of the list"] * 30)
        talk.say("Open it.")
        for number in range(2):
            talk.act("notes_1", "write", line=f"another {number}")
            talk.clock.now += 1
            talk.say("And?")
        assert talk.sweeps() == [], jump
        talk.clock.now += jump
        assert end(talk.say("Now?")).reason == "done", jump
        assert talk.sweeps() == ["cold"], jump  # the event says why
        talk.check_windows()
        talk.clock.now += 1
        assert end(talk.say("And now?")).reason == "done", jump
        assert talk.sweeps() == ["cold"], jump

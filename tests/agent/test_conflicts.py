"""A model's action on a window that others changed since the model saw it."""

import asyncio
from typing import Any

from contextui import Body, ContextManager, InteractionController, Job, Lod, Window, WindowManager
from contextui import action as declare
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.events import CallFinished


class Counter(Window):
    """Counts."""

    class State(Window.State):
        count: int = 0

    state: State

    def content(self, lod: Lod) -> Body:
        return f"count {self.state.count}"

    @declare("Set")
    def put(self, to: int) -> str:
        self.state.count = to
        return f"now {to}"

    @declare("Look", "read")
    def look(self) -> str:
        return f"it is {self.state.count}"

    @declare("Set later")
    def later(self, to: int) -> Job:
        async def work(_: Job) -> None:
            async with self.env.change():
                self.state.count = to

        return self.env.job("later", work, wait=10)


class Busy(Counter):
    """Changes all the time."""

    job_conflicts = False


class Meddling(ScriptedModel):
    """A script in whose middle another one acts on a window."""

    def __init__(self, *script: Any, other: Any = ("put", {"to": 5})) -> None:
        super().__init__(*script)
        self.windows: WindowManager | None = None
        self._other = other

    async def stream(self, request: Any) -> Any:
        windows, self.windows = self.windows, None
        if windows is not None:  # the request shows the window as it was
            action_id, params = self._other
            name = windows.windows()[0].id
            assert (await windows.act(name, action_id, params, actor="person")).ok
        async for event in super().stream(request):
            yield event


def talk(model: Meddling, cls: type[Window] = Counter) -> list[str]:
    """Run a turn; return the results that the model read."""
    windows = WindowManager([cls])
    windows.open(cls.name)
    context = ContextManager(windows)
    controller = InteractionController(model=model, context=context)
    model.windows = windows

    async def go() -> list[str]:
        events = [event async for event in controller.run_turn("set it")]
        return [one.text for one in events if isinstance(one, CallFinished)]

    try:
        return asyncio.run(go())
    finally:
        windows.shut_down()


def put(name: str = "counter_1", to: int = 1) -> Any:
    params = {"to": to}
    return call("action", window_id=name, action_id="put", params=params)


def test_it_is_refused_once_with_the_change_and_then_carried_out() -> None:
    first, second = talk(Meddling(put(), put(), "Done."))
    assert first.startswith("Not carried out: counter_1 has changed since you saw it.")
    assert "count 5" in first
    assert second == "now 1"


def test_several_calls_of_one_answer_are_refused_once() -> None:
    answer = [put(to=1), put(to=2)]
    first, second = talk(Meddling(answer, "Done."))
    assert first.startswith("Not carried out")
    assert second == "now 2"


def test_reading_is_never_refused() -> None:
    look = call("action", window_id="counter_1", action_id="look")
    assert talk(Meddling(look, "Done.")) == ["it is 5"]


def test_nothing_is_refused_if_the_change_was_undone() -> None:
    model = Meddling(put(), "Done.", other=("put", {"to": 0}))
    assert talk(model) == ["now 1"]


def test_a_job_counts_as_well() -> None:
    first, second = talk(Meddling(put(), put(), "Done.", other=("later", {"to": 9})))
    assert "count 9" in first
    assert second == "now 1"


def test_unless_the_window_says_otherwise() -> None:
    model = Meddling(put("busy_1"), "Done.", other=("later", {"to": 9}))
    assert talk(model, Busy) == ["now 1"]


def test_what_the_model_changes_itself_is_no_conflict() -> None:
    model = Meddling([put(to=1), put(to=2)], put(to=3), "Done.", other=("look", {}))
    assert talk(model) == ["now 1", "now 2", "now 3"]

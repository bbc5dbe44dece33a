"""A model's action on a window that others changed since the model saw it."""

from typing import Any

from contextui import Body, ContextManager, InteractionController, Job, Lod, Window, WindowManager
from contextui import action as declare
from contextui.agent.models.scripted import call
from contextui.events import CallFinished
from tests.agent.talking import Interrupted, of, run
from tests.windowing import samples


class Counter(samples.Counter):
    """Counts."""

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


def talk(*steps: Any, other: Any = ("put", {"to": 5}), cls: type[Window] = Counter) -> list[str]:
    """The results that a model reads, whose window another one acts on before the first answer."""
    windows = WindowManager([cls])
    window = windows.open(cls.name)

    async def meddle() -> None:  # the request shows the window as it was
        assert (await windows.act(window.id, *other, actor="person")).ok

    model = Interrupted(*steps, "Done.", before=[meddle])
    talk = InteractionController(model=model, context=ContextManager(windows))
    try:
        return [one.text for one in of(CallFinished, run(talk, "set it"))]
    finally:
        windows.shut_down()


def put(name: str = "counter_1", to: int = 1) -> Any:
    params = {"to": to}
    return call("action", window_id=name, action_id="put", params=params)


def test_it_is_refused_once_with_the_change_and_then_carried_out() -> None:
    first, second = talk(put(), put())
    assert first.startswith("Not carried out: counter_1 has changed since you saw it.")
    assert "count 5" in first
    assert second == "now 1"


def test_several_calls_of_one_answer_are_refused_once() -> None:
    first, second = talk([put(to=1), put(to=2)])
    assert first.startswith("Not carried out")
    assert second == "now 2"


def test_a_job_counts_as_well() -> None:
    first, second = talk(put(), put(), other=("later", {"to": 9}))
    assert "count 9" in first
    assert second == "now 1"


def test_it_is_carried_out_where_nothing_conflicts() -> None:
    """Reading, a change that was undone, a window that says so, and changes of the model itself."""
    look = call("action", window_id="counter_1", action_id="look")
    assert talk(look) == ["it is 5"]
    assert talk(put(), other=("put", {"to": 0})) == ["now 1"]
    assert talk(put("busy_1"), other=("later", {"to": 9}), cls=Busy) == ["now 1"]
    calls = [put(to=1), put(to=2)], put(to=3)
    assert talk(*calls, other=("look", {})) == ["now 1", "now 2", "now 3"]

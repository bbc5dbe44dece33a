"""What a window hands out can be looked at and never changed; state changes only in its calls."""

import asyncio
import contextvars
import copy
import json
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from contextui import Body, Button, Element, Lod, Snapshot, Transient, Window, WindowManager, action
from contextui.errors import ContextUIError, FrozenStateError
from contextui.events import WindowTroubled
from contextui.windowing.state import freeze
from tests.thorough import times
from tests.windowing.samples import LONG, Blocking, Heard, act, after_all, held, opened


class Part(BaseModel):
    text: str = ""
    tags: list[str] = []


@dataclass
class Point:
    x: int = 0
    names: list[str] = field(default_factory=list)


class Pair(NamedTuple):
    first: list[int]
    second: str


class Mixed(Window):
    """Holds a bit of everything."""

    class State(Window.State):
        items: list[Part] = [Part(text="a", tags=["x"])]
        numbers: list[int] = [1, 2]
        table: dict[str, list[int]] = {"a": [1]}
        names: set[str] = {"n"}
        point: Point = Point()
        pair: Pair = Pair([1], "b")
        loose: Any = {"deep": [{"er": []}]}
        count: int = 0
        lock: Transient[Any] = None

    state: State

    def opened(self) -> None:
        self.state.lock = threading.Lock()

    def content(self, lod: Lod) -> Body:
        return [Element("item", one.text, tags=len(one.tags)) for one in self.state.items]

    def anchors(self, lod: Lod) -> list[Button]:
        return [Button("up-1", "up", {"by": 1})]

    @action("Count")
    def up(self, by: int = 1) -> int:
        self.state.count += by
        return self.state.count

    @action("Leak")
    def leak(self) -> None:
        self.leaked, self.inside = self.state.items, contextvars.copy_context()

    @action("Start over")
    def reset(self) -> None:
        self.state = self.State(count=7)

    @action("Change all")
    async def change(self) -> None:
        await asyncio.sleep(0)
        self.state.items.append(Part(text="b"))
        self.state.items[0].tags.append("y")
        await asyncio.to_thread(lambda: self.state.table["a"].append(2))
        self.state.loose["deep"][0]["er"].append(3)
        self.state.names.add("m")


@pytest.fixture
def mixed(windows: WindowManager) -> Mixed:
    return opened(windows, Mixed)


CHANGES: dict[str, Callable[[Mixed], object]] = {
    "assign": lambda w: setattr(w.state, "items", []),
    "assign the state": lambda w: setattr(w, "state", Mixed.State()),
    "delete": lambda w: delattr(w.state, "items"),
    "append": lambda w: w.state.items.append(Part()),
    "extend": lambda w: w.state.numbers.__iadd__([3]),
    "set item": lambda w: w.state.numbers.__setitem__(0, 5),
    "delete item": lambda w: w.state.numbers.__delitem__(0),
    "sort": lambda w: w.state.numbers.sort(),
    "nested model": lambda w: setattr(w.state.items[0], "text", "z"),
    "nested list": lambda w: w.state.items[0].tags.append("z"),
    "dict": lambda w: w.state.table.update(b=[]),
    "in a dict": lambda w: w.state.table["a"].append(1),
    "set": lambda w: w.state.names.add("z"),
    "dataclass": lambda w: setattr(w.state.point, "x", 1),
    "in a dataclass": lambda w: w.state.point.names.append("z"),
    "named tuple": lambda w: w.state.pair.first.append(2),
    "anything": lambda w: w.state.loose["deep"][0]["er"].append(1),
    "transient": lambda w: setattr(w.state, "lock", None),
}


def test_a_change_from_outside_raises_without_trace(windows: WindowManager, mixed: Mixed) -> None:
    """R2: S1.3 as amended."""
    for count, (name, change) in enumerate(CHANGES.items(), 1):
        before = json.dumps(mixed.state.saved())
        with pytest.raises(FrozenStateError):
            change(mixed)
        assert act(windows, mixed, "up").text == str(count), name
        assert json.loads(before) | {"count": count} == mixed.state.saved(), name


def test_inside_an_action_everything_can_be_changed(windows: WindowManager, mixed: Mixed) -> None:
    before = mixed.state
    assert act(windows, mixed, "change").ok
    state = mixed.state
    assert state is mixed.state is not before  # a copy is made once for a version
    assert state.items == [Part(text="a", tags=["x", "y"]), Part(text="b")]
    assert state.table == {"a": [1, 2]}
    assert state.loose == {"deep": [{"er": [3]}]}
    assert state.names == {"n", "m"}
    assert isinstance(state, Mixed.State)
    assert isinstance(state.items, list)
    assert isinstance(state.items[0], Part)
    assert act(windows, mixed, "reset").ok
    assert mixed.state == Mixed.State(count=7)


def test_a_leaked_part_that_is_changed_outside_is_discarded_with_a_warning(
    windows: WindowManager, mixed: Mixed
) -> None:
    heard = Heard(windows)
    assert act(windows, mixed, "leak").ok
    with pytest.raises(FrozenStateError):
        mixed.inside.run(lambda: mixed.state.numbers.append(3))
    mixed.leaked.append(Part(text="smuggled"))
    assert act(windows, mixed, "up").ok
    after_all(mixed)
    assert [one.text for one in mixed.state.items] == ["a"]
    assert "changed outside an action" in heard.troubles
    assert len(heard.of(WindowTroubled)) == 1


def test_others_see_the_committed_state_while_an_action_runs(windows: WindowManager) -> None:
    window = opened(windows, Blocking)
    acting = threading.Thread(target=act, args=(windows, window, "hang"))
    with held(window, "hang") as gates:
        acting.start()
        assert gates["hang"].reached.wait(LONG)
        assert window.state.count == 0
    acting.join(LONG)
    assert window.state.count == 1_000


SNAPSHOT_CHANGES: dict[str, Callable[[Snapshot], object]] = {
    "custom": lambda s: s.state.custom.update(count=9),  # type: ignore[union-attr]
    "in custom": lambda s: s.state.custom["items"].append(1),  # type: ignore[index]
    "deep in custom": lambda s: s.state.custom["items"][0].update(text="z"),  # type: ignore[index]
    "anchors": lambda s: s.anchors.clear(),  # type: ignore[attr-defined]
    "an anchor": lambda s: setattr(s.anchors["up-1"], "target", "z"),
    "element": lambda s: setattr(s.elements[0], "tag", "z"),  # type: ignore[index]
    "delete of element": lambda s: delattr(s.elements[0], "tag"),  # type: ignore[index]
    "attributes": lambda s: s.elements[0].attributes.update(a="z"),  # type: ignore[index, union-attr]
    "history": lambda s: setattr(s.history[0], "action", "z"),  # type: ignore[index]
    "header": lambda s: setattr(s.header.version, "major", 9),
    "content": lambda s: setattr(s, "content", "z"),
    "state": lambda s: setattr(s.state, "focus_id", "z"),
}


def test_a_snapshot_is_immutable_all_the_way_down(windows: WindowManager, mixed: Mixed) -> None:
    act(windows, mixed, "up")
    drawn = mixed.snapshot()
    read_back = Snapshot.model_validate_json(drawn.model_dump_json(by_alias=True))
    before, xml = drawn.model_dump_json(by_alias=True), mixed.to_xml()
    for snapshot in (drawn, read_back):
        for name, change in SNAPSHOT_CHANGES.items():
            with pytest.raises((ContextUIError, ValueError, AttributeError)):
                change(snapshot)
            assert snapshot.model_dump_json(by_alias=True) == before, name
            assert mixed.to_xml() == xml, name
    assert act(windows, mixed, "up").text == "2"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=times(20, 200))
@given(JSON)
def test_frozen_equals_what_it_is_of_and_a_copy_can_be_changed(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert value == frozen
    assert json.dumps(frozen) == json.dumps(value)
    assert freeze(frozen) is frozen or isinstance(value, str | int | None)
    for again in (copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen)), copy.copy(frozen)):
        assert again == value
        assert type(again) is type(value)


def test_frozen_models_behave_as_models() -> None:
    part, point = freeze(Part(text="a", tags=["x"])), freeze(Point(1, ["n"]))
    assert part == Part(text="a", tags=["x"])
    assert Part(text="a", tags=["x"]) == part
    assert part.model_dump() == {"text": "a", "tags": ["x"]}
    assert repr(part) == repr(Part(text="a", tags=["x"]))
    changed = part.model_copy(update={"text": "b"}, deep=True)
    changed.text, changed.tags[0] = "c", "y"
    assert (part.text, part.tags) == ("a", ["x"])
    assert point == Point(1, ["n"])
    twin = copy.deepcopy(point)
    twin.names.append("m")
    assert point.names == ["n"]
    assert pickle.loads(pickle.dumps(part)) == part
    assert freeze(datetime(2026, 1, 1, tzinfo=UTC)) == datetime(2026, 1, 1, tzinfo=UTC)

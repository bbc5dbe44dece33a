"""State changes in transactions: what is committed is valid, what fails leaves no trace."""

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, computed_field

from contextui import Transient, Window
from contextui.errors import InvalidSourceDataError
from contextui.windowing.state import StateKeeper


class Part(BaseModel):
    name: str = ""
    tags: list[str] = []


class State(Window.State):
    items: list[str] = []
    part: Part = Part()
    table: dict[str, list[int]] = {}
    cache: Transient[list[int]] = []
    hidden: int = Field(default=0, exclude=True)


def test_transient_and_excluded_fields_are_neither_compared_nor_saved() -> None:
    keeper = StateKeeper(State())
    keeper.live.cache.append(1)
    keeper.live.hidden = 5
    assert not keeper.check()
    assert set(keeper.live.saved()) == {"items", "part", "table"}


def test_the_view_has_the_transient_objects_of_now() -> None:
    class Sampled(Window.State):
        samples: Transient[list[int]] = []
        more: Transient[list[int]] = []

    keeper = StateKeeper(Sampled())
    assert (keeper.view().samples, keeper.view().more) == ([], [])
    keeper.live.samples = [1]
    keeper.refer()
    assert (keeper.view().samples, keeper.view().more) == ([1], [])
    keeper.live.samples = again = [1]  # equal, and another object all the same
    keeper.refer()
    keeper.rollback()
    assert keeper.live.samples is again


def test_what_is_done_after_a_rollback_is_not_in_the_view() -> None:
    class Loose(Window.State):
        data: Any = None

    keeper = StateKeeper(Loose(data={"a": [1]}))
    keeper.rollback()
    keeper.live.data["a"].append(2)
    assert keeper.view().data == {"a": [1]}
    keeper.rollback()
    assert keeper.live.data == {"a": [1]}


def test_a_state_must_be_one() -> None:
    cases: list[tuple[Any, str]] = [(None, "no state"), (Part(), "the state is a Part")]
    for given, named in cases:
        with pytest.raises(InvalidSourceDataError, match=named):
            StateKeeper(given)


def test_what_is_computed_is_not_saved() -> None:
    class Sized(Window.State):
        model_config = ConfigDict(extra="forbid")
        text: str = ""

        @computed_field  # type: ignore[prop-decorator]
        @property
        def size(self) -> int:
            return len(self.text)

    assert Sized(text="a").saved() == {"text": "a"}
    keeper = StateKeeper(Sized(text="a"))
    keeper.live.text = "ab"
    assert keeper.check()
    keeper.commit()
    assert keeper.live.size == 2


def test_aliases_and_private_attributes_are_no_obstacle() -> None:
    class Aliased(Window.State):
        text: str = Field(default="", alias="theText")
        _note: str = PrivateAttr(default="n")

    keeper = StateKeeper(Aliased())
    keeper.live.text = "x"
    assert keeper.check()
    keeper.commit()
    assert Aliased.from_saved(keeper.live.saved()).text == "x"


def test_a_number_that_is_none_is_no_endless_change() -> None:
    class Ratio(Window.State):
        value: float = 0.0

    keeper = StateKeeper(Ratio())
    keeper.live.value = float("nan")
    assert keeper.check()
    keeper.commit()
    assert not keeper.check()

"""Params: from type hints to what the model reads, and back to checked arguments."""

from datetime import date, datetime
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from contextui.errors import InvalidParamsError, WindowDefinitionError
from contextui.windowing.params import Params


class Colour(Enum):
    RED = "red"
    DARK_BLUE = "dark blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Point(BaseModel):
    x: int
    y: int = 0


class Line(BaseModel):
    start: Point
    name: str | None = None


class Node(BaseModel):
    children: list["Node"] = []


def _explode(value: str) -> str:
    raise KeyError(value)


def _exit(value: str) -> str:
    raise SystemExit(value)


def params_of(hint: Any) -> Params:
    def method(self: object, it: Any) -> None: ...

    method.__annotations__["it"] = hint
    return Params(method, "Some")


def test_s0_5_a_hint_is_shown_as_name_and_type() -> None:
    for hint, shown in (
        (str, "it:string"),
        (int, "it:int"),
        (float, "it:float"),
        (bool, "it:bool"),
        (Any, "it:any"),
        (datetime, "it:datetime"),
        (date, "it:date"),
        (Colour, 'it:red|"dark blue"'),
        (Level, "it:1|2"),
        (Literal["a", "b", 3], "it:a|b|3"),
        (list[str], "it:string[]"),
        (list[list[int]], "it:int[][]"),
        (list, "it:any[]"),
        (set[int], "it:int[]"),
        (tuple[int, ...], "it:int[]"),
        (list[int | str], "it:(int|string)[]"),
        (dict[str, int], "it:object"),
        (dict, "it:object"),
        (Optional[int], "it:int?"),  # noqa: UP045  the old spelling must work too
        (str | None, "it:string?"),
        (int | str, "it:int|string"),
        (Union[int, str, None], "it:int|string?"),  # noqa: UP007
        (Annotated[int, Field(ge=0)], "it:int(0..)"),
        (Annotated[int, Field(ge=2)] | None, "it:int(2..)?"),
        (Point, "it:{x:int,y:int?}"),
        (Line, "it:{start:{x:int,y:int?},name:string?}"),
        (list[Point], "it:{x:int,y:int?}[]"),
    ):
        assert str(params_of(hint)) == shown, hint


def test_s0_5_several_are_listed_in_order_and_defaults_are_optional() -> None:
    def method(self: object, text: str, index: int = 0, *, note: str | None = None) -> None: ...

    assert str(Params(method, "Some")) == "text:string,index:int=0,note:string?"


def test_what_is_given_is_validated_into_the_type() -> None:
    for hint, value, expected in (
        (int, "5", 5),
        (float, 1, 1.0),
        (bool, "true", True),
        (Colour, "red", Colour.RED),
        (Level, 2, Level.HIGH),
        (list[int], ["1", 2], [1, 2]),
        (Line, {"start": {"x": 1}}, Line(start=Point(x=1))),
        (str | None, None, None),
        (date, "2025-12-10", date(2025, 12, 10)),
    ):
        assert params_of(hint).validate({"it": value}, "w.a") == {"it": expected}, hint


def test_an_error_says_what_was_wrong_and_what_was_expected() -> None:
    for hint, value, expected in (
        (int, "five", 'it: expected int, got "five"'),
        (int, 1.5, 'it: expected int, got "1.5"'),
        (str, 5, 'it: expected string, got "5"'),
        (bool, "perhaps", 'it: expected bool, got "perhaps"'),
        (Literal["a", "b"], "c", 'it: expected a|b, got "c"'),
        (Colour, "green", 'it: expected red|"dark blue", got "green"'),
        (list[int], [1, "x"], "it.1: Input should be a valid integer"),
        (Line, {"start": {}}, "it.start.x: Field required"),
        (int, None, 'it: expected int, got "null"'),
    ):
        params = params_of(hint)
        with pytest.raises(InvalidParamsError) as caught:
            params.validate({"it": value}, "todo_1.add")
        assert str(caught.value).startswith(f"todo_1.add: {expected}"), hint
        assert str(caught.value).endswith(f"Expected: {params}"), hint


def test_all_problems_are_reported_at_once() -> None:
    def method(self: object, text: str, index: int) -> None: ...

    with pytest.raises(InvalidParamsError) as caught:
        Params(method, "Some").validate({"index": "x", "tex": "y"}, "w.a")
    assert str(caught.value) == (
        'w.a: text is missing; index: expected int, got "x"; there is no param "tex". '
        "Expected: text:string,index:int"
    )


def test_without_params_it_says_that_there_are_none() -> None:
    def method(self: object) -> None: ...

    with pytest.raises(InvalidParamsError, match="Expected: no params"):
        Params(method, "Some").validate({"x": 1}, "w.a")


def test_an_optional_without_a_default_still_reaches_the_method() -> None:
    assert params_of(int | None).validate({}, "w.a") == {"it": None}


def test_a_default_is_left_to_the_method() -> None:
    def method(self: object, by: int = 1) -> None: ...

    assert Params(method, "Some").validate({}, "w.a") == {}


def test_a_validator_that_breaks_is_an_error_like_any_other() -> None:
    for validator in (_explode, _exit):
        with pytest.raises(InvalidParamsError, match=r"it: (KeyError|SystemExit)"):
            params_of(Annotated[str, AfterValidator(validator)]).validate({"it": "x"}, "w.a")


def test_a_thousand_problems_make_no_endless_text() -> None:
    with pytest.raises(InvalidParamsError) as caught:
        params_of(list[int]).validate({"it": ["x" * 1000] * 1000}, "w.a")
    assert len(str(caught.value)) < 1000


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_whatever_is_given_it_is_valid_or_an_invalid_params_error(value: object) -> None:
    for hint in (int, Colour, list[int], Line, bool, date):
        try:
            params_of(hint).validate({"it": value}, "w.a")
        except InvalidParamsError as error:
            str(error).encode()


class Bare:
    pass


def test_a_type_that_cannot_be_declared_is_a_definition_error() -> None:
    for hint in (Bare, list[Bare], dict[str, Bare], bytes, tuple[()], Node, object()):
        with pytest.raises(WindowDefinitionError, match=r"Some\.method: (it|its)"):
            params_of(hint)


def test_variable_and_positional_params_are_refused() -> None:
    def stars(self: object, *texts: str) -> None: ...
    def keywords(self: object, **texts: str) -> None: ...
    def positional(self: object, text: str, /) -> None: ...

    for method in (stars, keywords, positional):
        with pytest.raises(WindowDefinitionError, match="cannot be declared as a param"):
            Params(method, "Some")


def test_hints_that_cannot_be_read_are_named() -> None:
    def method(self: object, it: "Nowhere") -> None: ...  # type: ignore[name-defined] # noqa: F821

    with pytest.raises(WindowDefinitionError, match=r"its type hints fail: .*Nowhere"):
        Params(method, "Some")

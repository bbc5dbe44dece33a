"""From what is typed and chosen to what an action takes."""

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from contextui.tui.desktop.values import Kind, chosen, kind_of, limits, problems, read
from contextui.windowing.params import Param, Params, SchemaParams
from contextui.words import Words


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ("string", Kind("string")),
        ("bool", Kind("bool", ("false", "true"))),
        ('red|"sea blue"', Kind('red|"sea blue"', ("red", '"sea blue"'))),
        ('"a|b"|c', Kind('"a|b"|c', ('"a|b"', "c"))),
        ("string[]", Kind("string", many=True)),
        ("(cpu|memory)[]", Kind("cpu|memory", ("cpu", "memory"), many=True)),
        ("bool[]", Kind("bool", many=True)),
        ("int|string", Kind("int|string")),
        ("string|string[]", Kind("string|string[]")),
        ("{x:int,y:int?}", Kind("{x:int,y:int?}")),
        ("any", Kind("any")),
    ],
)
def test_a_declared_type_says_how_it_is_filled_in(declared: str, kind: Kind) -> None:
    assert kind_of(declared) == kind


@pytest.mark.parametrize(
    ("declared", "typed", "value"),
    [
        ("string", "12", "12"),
        ("int", "12", 12),
        ("int", "twelve", "twelve"),
        ("int|string", "7", 7),
        ("string[]", "milk\n\neggs", ["milk", "eggs"]),
        ("string[]", '["a", "b"]', ["a", "b"]),
        ("int[]", "1\n2", [1, 2]),
        ("string|string[]", "milk\neggs", ["milk", "eggs"]),
        ("{x:int}", '{"x": 1}', {"x": 1}),
        ("{x:int}", "x=1", "x=1"),
        ("any", "[1, 2]", [1, 2]),
        ("bool[]", "true\nfalse", [True, False]),
        ("date", "2030-01-01", "2030-01-01"),
    ],
)
def test_a_text_becomes_what_the_type_wants(declared: str, typed: str, value: Any) -> None:
    assert read(kind_of(declared), typed) == value


def test_an_option_may_stand_for_a_number_or_for_its_text() -> None:
    assert list(chosen("red")) == ["red"]
    assert list(chosen('"sea blue"')) == ["sea blue", '"sea blue"']
    assert list(chosen("1")) == [1, "1"]


def _bounded(
    self: object,
    *,
    count: Annotated[int, Field(ge=1, le=5)],
    share: Annotated[float, Field(gt=0, le=1)] = 0.5,
    above: Annotated[float, Field(gt=-1.5, lt=1e9)] = 1,
    text: Annotated[str, Field(min_length=2, max_length=4)] = "ab",
    names: Annotated[list[str], Field(max_length=2)] = [],  # noqa: B006
    kinds: Annotated[list[Literal["cpu", "memory"]], Field(min_length=1)] = ["cpu"],  # noqa: B006
    most: Annotated[int, Field(le=9)] | None = None,
    day: Annotated[date, Field(ge=date(2030, 1, 1))] | None = None,
) -> None: ...


def test_limits_are_shown_in_words_and_hold() -> None:
    bounded = Params(_bounded, "Window")
    params = {one.name: one for one in bounded.listing}
    shown = {name: limits(one, Words()) for name, one in params.items()}
    assert shown == {
        "count": "1..5",
        "share": ">0..1",
        "above": ">-1.5<1e+09",
        "text": "at least 2 characters, at most 4 characters",
        "names": "at most 2 entries",
        "kinds": "at least 1 entries",
        "most": "..9",
        "day": "2030-01-01..",
    }
    for fits in ({"count": 1, "share": 0.1, "text": "ab"}, {"count": 5, "share": 1, "most": 9}):
        assert problems(bounded, fits, Words()) == {}
    for beyond in ({"count": 0, "share": 0, "text": "a"}, {"count": 6, "share": 1.1, "most": 10}):
        found = {name: f"must be {shown[name]}" for name in beyond}
        assert problems(bounded, beyond, Words()) == found
    assert limits(params["names"], Words("zh")) == "至多 2 项"
    assert limits(Param("plain", "string", optional=False), Words()) == ""


def test_limits_of_a_schema_are_checked_as_well() -> None:
    number = {"type": "number", "minimum": 0.5, "exclusiveMaximum": 2}
    tags = {"type": "array", "items": {"type": "string"}, "maxItems": 1}
    text = {"type": "string", "maxLength": 3, "minimum": "x", "exclusiveMinimum": True}
    kinds = {"number": number, "tags": tags, "text": text}
    params = SchemaParams({"type": "object", "properties": kinds})
    assert str(params) == "number:float(0.5..<2)?,tags:string[]?,text:string?"
    assert problems(params, {"number": 1.9, "tags": ["a"], "text": "abc"}, Words()) == {}
    assert problems(params, {"number": 2, "tags": ["a", "b"], "text": "abcd"}, Words("zh")) == {
        "number": "允许的范围：0.5..<2",
        "tags": "允许的范围：至多 1 项",
        "text": "允许的范围：至多 3 个字符",
    }

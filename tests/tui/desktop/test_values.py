"""From what is typed and chosen to what an action takes."""

from typing import Any

import pytest

from contextui.tui.desktop.values import Kind, chosen, kind_of, problems, read
from tests.tui.desktop.samples import FormWindow


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ("string", Kind("string")),
        ("bool", Kind("bool", ("false", "true"))),
        ("s|m|l", Kind("s|m|l", ("s", "m", "l"))),
        ('red|"sea blue"', Kind('red|"sea blue"', ("red", '"sea blue"'))),
        ('"a|b"|c', Kind('"a|b"|c', ('"a|b"', "c"))),
        ("only", Kind("only", ("only",))),
        ("string[]", Kind("string", many=True)),
        ("(cpu|memory)[]", Kind("cpu|memory", ("cpu", "memory"), many=True)),
        ("bool[]", Kind("bool", many=True)),
        ("int|string", Kind("int|string")),
        ("string|string[]", Kind("string|string[]")),
        ("{x:int,y:int?}", Kind("{x:int,y:int?}")),
        ("{a:s|m}", Kind("{a:s|m}")),
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
        ("float", "1.5", 1.5),
        ("int|string", "7", 7),
        ("int|string", "#7", "#7"),
        ("string[]", "milk\n\neggs", ["milk", "eggs"]),
        ("string[]", '["a", "b"]', ["a", "b"]),
        ("int[]", "1\n2", [1, 2]),
        ("string|string[]", "milk", "milk"),
        ("string|string[]", "milk\neggs", ["milk", "eggs"]),
        ("{x:int}", '{"x": 1}', {"x": 1}),
        ("{x:int}", "x=1", "x=1"),
        ("any", "[1, 2]", [1, 2]),
        ("any", "words", "words"),
        ("object", '{"a": 1}', {"a": 1}),
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


def test_problems_are_shown_param_by_param() -> None:
    params = FormWindow.actions["take"].params
    found = problems(params, {"number": "x; share: y", "share": "half", "point": {"x": "far"}})
    assert found["text"] == "is missing"
    assert found["number"] == 'expected int, got "x; share: y"'
    assert found["share"] == 'expected float, got "half"'
    assert found["point"].startswith(".x: ")
    assert problems(params, {"text": "a", "number": 1}) == {}

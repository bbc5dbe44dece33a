"""Elements: what can be one, and that nothing else can."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from contextui import Element
from contextui.errors import InvalidSourceDataError

TREE = Element("list", Element("item", "milk", id=1, done=True), Element("item", "eggs", id=2))


def test_attributes_are_text_and_none_leaves_them_out() -> None:
    element = Element("item", id=1, done=True, open=False, note=None, ratio=0.5)
    assert element.attributes == {"id": "1", "done": "true", "open": "false", "ratio": "0.5"}
    assert Element("a", tag="x", self="y").attributes == {"tag": "x", "self": "y"}


def test_equality_is_by_what_it_says() -> None:
    assert Element("a", "x", k=1) == Element("a", "x", k="1")
    assert hash(Element("a", "x", k=1)) == hash(Element("a", "x", k="1"))
    assert Element("a", "x") != Element("a", "y")
    assert Element("a", "x") != "a"  # type: ignore[comparison-overlap]


def test_its_repr_shows_how_to_make_it() -> None:
    assert repr(Element("item", "milk", id=1)) == "Element('item', 'milk', id='1')"


def test_json_and_back() -> None:
    adapter = TypeAdapter(Element)
    assert adapter.validate_json(adapter.dump_json(TREE)) == TREE


def test_what_is_no_element_is_a_validation_error() -> None:
    for data in (5, None, "x", {}, {"tag": 5}, {"tag": "action"}, {"tag": "a", "children": [7]}):
        with pytest.raises(ValidationError, match="not an element"):
            TypeAdapter(Element).validate_python(data)


def test_the_frames_own_tags_are_refused() -> None:
    """S1.7: content can never pass for an action."""
    for tag in ("Window", "Description", "content", "ACTIONS", "action"):
        with pytest.raises(InvalidSourceDataError, match="belongs to the window's frame"):
            Element(tag)


def test_names_are_plain() -> None:
    for name in ("", "a b", "a><b", "1a", "xml", "XMLns", "a:b", "é", "a" * 65):
        with pytest.raises(InvalidSourceDataError, match="cannot name"):
            Element(name)
        with pytest.raises(InvalidSourceDataError, match="cannot name"):
            Element("ok", **{name: 1})


def test_children_are_elements_or_text() -> None:
    cases: list[Any] = [5, None, b"x", ["x"]]
    for child in cases:
        with pytest.raises(InvalidSourceDataError, match="children are elements or text"):
            Element("a", child)


def test_nesting_has_a_limit_that_parsers_can_follow() -> None:
    element = Element("a")
    for _ in range(63):
        element = Element("a", element)
    with pytest.raises(InvalidSourceDataError, match="nested more than 64"):
        Element("a", element)

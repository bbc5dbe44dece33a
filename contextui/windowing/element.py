"""Structured content: what a window shows when plain text is not enough."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from contextui.errors import FrozenStateError, InvalidSourceDataError
from contextui.text import quote
from contextui.windowing.frozen import FrozenDict

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", re.ASCII)
_DEEPEST = 64  # parsers refuse deep nesting, and so does Python
_RESERVED = frozenset({"window", "description", "content", "actions", "action"})


class Element:
    """One XML element of a window's content.

    Children are elements or text; attributes are anything with a text form (``None`` leaves
    the attribute out). The tags of the window's own frame cannot be used, so that content can
    never pass for an action.

    Example:
        >>> Element("item", "milk", id=1, done=True)
        Element('item', 'milk', id='1', done='true')
    """

    __slots__ = ("_depth", "attributes", "children", "tag")

    _depth: int
    tag: str
    children: tuple["Element | str", ...]
    attributes: Mapping[str, str]

    def __init__(self, tag: str, /, *children: "Element | str", **attributes: object) -> None:
        for name in (tag, *attributes):
            if not _NAME.fullmatch(name) or name[:3].lower() == "xml":
                raise InvalidSourceDataError(f"{quote(name)} cannot name an element or attribute.")
        if tag.lower() in _RESERVED:
            raise InvalidSourceDataError(f"<{tag}> belongs to the window's frame: choose another.")
        for child in children:
            if not isinstance(child, Element | str):
                raise InvalidSourceDataError(
                    f"<{tag}> holds a {type(child).__name__}; children are elements or text."
                )
        inner = (child._depth for child in children if isinstance(child, Element))
        depth = 1 + max(inner, default=0)
        if depth > _DEEPEST:
            raise InvalidSourceDataError(f"<{tag}> is nested more than {_DEEPEST} levels deep.")
        texts = {
            name: _attribute_text(value) for name, value in attributes.items() if value is not None
        }
        parts = {"tag": tag, "children": children, "attributes": FrozenDict(texts), "_depth": depth}
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    def __setattr__(self, name: str, _: object) -> NoReturn:
        raise FrozenStateError(f"An element cannot be changed: make another one with this {name}.")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenStateError(f"An element cannot be changed: make another one without {name}.")

    def __copy__(self) -> "Element":
        return self

    def __deepcopy__(self, _: object) -> "Element":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Element.from_json, (self.to_json(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Element) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash((self.tag, self.children))

    def __repr__(self) -> str:
        attributes = [f"{name}={value!r}" for name, value in self.attributes.items()]
        return f"Element({', '.join([repr(self.tag), *map(repr, self.children), *attributes])})"

    def _parts(self) -> tuple[str, tuple["Element | str", ...], Mapping[str, str]]:
        return self.tag, self.children, self.attributes

    def lines(self, depth: int = 0) -> Iterator[str]:
        """The element as text: its words and attributes, children indented below it."""
        words = "".join(child for child in self.children if isinstance(child, str))
        attributes = " ".join(f"{name}={value}" for name, value in self.attributes.items())
        yield "  " * depth + "  ".join(part for part in (words or self.tag, attributes) if part)
        for child in self.children:
            if isinstance(child, Element):
                yield from child.lines(depth + 1)

    def to_json(self) -> dict[str, Any]:
        """The element as JSON-ready data; `from_json` reads it back."""
        return {
            "tag": self.tag,
            "attributes": dict(self.attributes),
            "children": [
                child if isinstance(child, str) else child.to_json() for child in self.children
            ],
        }

    @classmethod
    def from_json(cls, data: "Element | Mapping[str, Any]") -> "Element":
        """Read what `to_json` gave."""
        if isinstance(data, Element):
            return data
        children = (
            child if isinstance(child, str) else cls.from_json(child)
            for child in data.get("children", ())
        )
        return cls(data["tag"], *children, **data.get("attributes", {}))

    @classmethod
    def _validate(cls, data: Any) -> "Element":
        try:
            return cls.from_json(data)
        except Exception as problem:  # pydantic reports only a ValueError as invalid input
            raise ValueError(f"not an element: {problem}") from problem

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(cls.to_json),
        )


Body: TypeAlias = str | Element | Sequence[Element]
"""What `Window.content` returns: text (plain or Markdown), or elements."""


def text_form(elements: Sequence[Element]) -> str:
    """Elements as lines of text, for screens and logs."""
    return "\n".join(line for element in elements for line in element.lines())


def _attribute_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

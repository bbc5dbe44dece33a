"""The shape of a state: names, and what their values must be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from contextui.context.strategies.strategy import StrategyError
from contextui.text import one_line, quote

_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
_EXAMPLE = 'Such as {"destination": "string", "date": "string"}.'


@dataclass(frozen=True, slots=True)
class Schema:
    """The properties of a state, each a JSON schema of its own."""

    properties: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, given: object) -> "Schema":
        """Read a JSON schema of an object, or the short form, types by name.

        Raises:
            StrategyError: It is neither.
        """
        if not isinstance(given, Mapping) or not given:
            raise StrategyError(f"The schema must be an object with properties. {_EXAMPLE}")
        full = given.get("type") == "object" and isinstance(given.get("properties"), Mapping)
        properties = given["properties"] if full else given
        if not properties:
            raise StrategyError(f"The schema has no properties. {_EXAMPLE}")
        return cls({str(name): _property(str(name), one) for name, one in properties.items()})

    def as_json(self) -> dict[str, Any]:
        """The JSON schema."""
        return {
            "type": "object",
            "properties": {name: dict(p) for name, p in self.properties.items()},
        }

    def fitting(self, state: object) -> dict[str, Any]:
        """Of a state what the schema allows; what is null or of another type is left out."""
        given = state if isinstance(state, dict) else {}
        return {
            name: given[name]
            for name, one in self.properties.items()
            if name in given and _fits(given[name], one)
        }

    def merged(self, before: Mapping[str, Any], news: object) -> dict[str, Any]:
        """The state with what is new. Only null takes a value away.

        Raises:
            StrategyError: What is new is no object.
        """
        if not isinstance(news, dict):
            raise StrategyError("The model gave no JSON object as the state.")
        gone = {name for name, value in news.items() if value is None}
        kept = {name: value for name, value in before.items() if name not in gone}
        return {**kept, **self.fitting(news)}


def _property(name: str, given: object) -> dict[str, Any]:
    one = {"type": given} if isinstance(given, str) else given
    if not isinstance(one, Mapping) or one.get("type") not in _TYPES:
        types = ", ".join(_TYPES)
        raise StrategyError(
            f"{quote(one_line(name, 60))} in the schema must have one of the types {types}. "
            f"{_EXAMPLE}"
        )
    return dict(one)


def _fits(value: object, one: Mapping[str, Any]) -> bool:
    return _TYPES[one["type"]](value) and ("enum" not in one or value in one["enum"])

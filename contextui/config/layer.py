"""What one place sets: a file, the environment, the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from contextui.config.settings import Settings, SettingsError, allowed
from contextui.config.strategy_choice import ALLOWED, PLUGIN_UNASKED
from contextui.text import one_line

_NOT_SET = object()


@dataclass(frozen=True, slots=True)
class Layer:
    """What one place sets.

    Attributes:
        values: The settings by name.
        names: What each is called there, for errors.
        origin: Where it comes from; empty if the name says that.
        strict: Whether the values have types; variables and flags are all text.
    """

    values: Mapping[str, Any]
    names: Mapping[str, str]
    origin: str = ""
    strict: bool = False

    def checked(self) -> dict[str, Any]:
        """The values as settings.

        Raises:
            SettingsError: One of them cannot be used.
        """
        try:
            valid = Settings.model_validate(dict(self.values), strict=self.strict)
        except ValidationError as error:
            raise SettingsError(self._misfit(error)) from error
        return {name: getattr(valid, name) for name in self.values}

    def _misfit(self, error: ValidationError) -> str:
        """What is wrong, in words: of a table, the key in it that is."""
        places = [one["loc"] for one in error.errors(include_url=False, include_context=False)]
        name = str(places[0][0])
        value = self.values[name]
        if name != "strategy" or not isinstance(value, Mapping):
            return _must(self.names[name], value, allowed(name))
        keys = [str(place[1]) for place in places if len(place) > 1]
        return self._misfit_in(value, keys)

    def _misfit_in(self, table: Mapping[str, Any], keys: Sequence[str]) -> str:
        """What is wrong with a strategy's table; without keys, that two of them do not agree."""
        for key in keys:
            if key not in ALLOWED:
                named, known = one_line(key, 60), ", ".join(ALLOWED)
                return (
                    f"{self.origin} sets strategy.{named}, and there is no such setting."
                    f" There is: {known}."
                )
        clashes = not keys and "plugin" in table
        key = keys[0] if keys else "type" if clashes else "plugin"
        wanted = PLUGIN_UNASKED if clashes else ALLOWED[key]
        return _must(f"strategy.{key} in {self.origin}", table.get(key, _NOT_SET), wanted)

    def origin_of(self, name: str) -> str:
        """Where a setting comes from, in words."""
        return self.origin or self.names[name]


def _must(name: str, value: object, wanted: str) -> str:
    shown = "not set" if value is _NOT_SET else one_line(_shown(value), 60)
    return f"{name} is {shown}: it must be {wanted}."


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a table"
    return f'"{value}"' if isinstance(value, str) else str(value)

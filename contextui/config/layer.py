"""What one place sets: a file, the environment, the command line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from contextui.config.settings import Settings, SettingsError, allowed
from contextui.text import one_line


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
            first = error.errors(include_url=False, include_context=False)[0]
            name = str(first["loc"][0])
            value = one_line(_shown(self.values[name]), 60)
            raise SettingsError(
                f"{self.names[name]} is {value}: it must be {allowed(name)}."
            ) from error
        return {name: getattr(valid, name) for name in self.values}

    def origin_of(self, name: str) -> str:
        """Where a setting comes from, in words."""
        return self.origin or self.names[name]


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)

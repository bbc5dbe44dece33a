"""Which strategy is chosen, and how it is set."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_serializer, model_validator

OUR_OWN = ("sliding", "summarization", "entities")
"""The strategies that ship."""

ALLOWED = {
    "type": "a strategy's name, or plugin",
    "plugin": "the name of a strategy that a package brings",
    "model": "a model's name, without spaces",
    "config": "a table",
}
"""What each key of the table may be, in words."""
PLUGIN_UNASKED = "plugin, or strategy.plugin left out"
"""What the type must be where a plugin is named."""

_PLUGIN = "plugin"


class StrategyChoice(BaseModel):
    """A strategy by its name alone, or as a table.

    Attributes:
        type: The name of one that ships, or ``plugin``.
        plugin: The name of one that a package brings.
        model: The model that it may ask; by default the one that answers.
        config: Its own settings.

    Example:
        >>> StrategyChoice.model_validate("summarization").name
        'summarization'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str = Field(pattern=r"^[\w.-]{1,100}$")
    plugin: str | None = Field(default=None, pattern=r"^[\w.-]{1,100}$")
    model: str | None = Field(default=None, pattern=r"^[^\s\x00-\x1f]{1,200}$")
    config: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, given: object) -> object:
        return {"type": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _whole(self) -> "StrategyChoice":
        if (self.type == _PLUGIN) != (self.plugin is not None):
            raise ValueError("plugin is named with the type plugin, and only there")
        return self

    @model_serializer
    def _shortest(self) -> str | dict[str, Any]:
        rest = {"plugin": self.plugin, "model": self.model, "config": self.config}
        set_ones = {name: value for name, value in rest.items() if value}
        return {"type": self.type, **set_ones} if set_ones else self.type

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """What the strategy is called."""
        return self.plugin or self.type

    @property
    def is_a_strangers(self) -> bool:
        """Whether code that does not ship would run."""
        return self.name not in OUR_OWN

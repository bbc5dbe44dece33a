"""Gathering the settings from everywhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr

from contextui.config.environment import (
    KEY_VARIABLE,
    key_variable,
    locale_layer,
    misspelt,
    providers_layer,
    variables_layer,
)
from contextui.config.files import project_layer, users_layer
from contextui.config.layer import Layer
from contextui.config.settings import OFFLINE, Settings, flag_of

_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and what is known about them.

    Attributes:
        settings: What counts.
        origins: Where each comes from, in words: a flag, a variable, a file, or ``default``.
        notices: What the user should know.
        api_key: The provider's key. It is no setting, and it is never shown.
        key_variable: The variable that holds it, or should.
    """

    settings: Settings
    origins: Mapping[str, str]
    notices: tuple[str, ...] = ()
    api_key: SecretStr | None = None
    key_variable: str = KEY_VARIABLE

    @property
    def provider(self) -> Literal["anthropic", "offline"]:
        """Who answers."""
        settings = self.settings
        if settings.provider != "auto":
            return settings.provider
        configured = self.api_key is not None or settings.base_url is not None
        return "anthropic" if configured and settings.model != OFFLINE else "offline"


def load_settings(
    flags: Mapping[str, Any], environ: Mapping[str, str], home: Path, project: Path
) -> Loaded:
    """Gather the settings from everywhere.

    Args:
        flags: What was given on the command line, by the settings' names.
        environ: The environment's variables.
        home: Where contextui keeps what lasts.
        project: The folder in which contextui works.

    Raises:
        SettingsError: Something cannot be used; the text says what, where and why.
    """
    notices = list(misspelt(environ))
    users = users_layer(home)
    layers = [
        locale_layer(environ),
        users,
        project_layer(project, home, users, notices),
        providers_layer(environ),
        variables_layer(environ),
        Layer(flags, {name: flag_of(name) for name in flags}),
    ]
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.model_fields, _DEFAULT)
    for layer in layers:
        checked = layer.checked()
        if "secret_files" in checked:  # of these no place takes away what another one names
            checked["secret_files"] = (*values.get("secret_files", ()), *checked["secret_files"])
        values |= checked
        origins |= {name: layer.origin_of(name) for name in layer.values}
    variable = key_variable(environ)
    key = SecretStr(text) if (text := environ.get(variable, "").strip()) else None
    return Loaded(Settings(**values), origins, tuple(notices), key, variable)

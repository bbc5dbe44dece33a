"""What the environment sets, and the language that its locale asks for."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from contextui.config.choices import Lang
from contextui.config.layer import Layer
from contextui.config.settings import Settings
from contextui.text import one_line

KEY_VARIABLE = "ANTHROPIC_API_KEY"
TOKEN_VARIABLE = "ANTHROPIC_AUTH_TOKEN"
"""What gateways call the key. Both go out as the same header; of two, the key counts."""

_PREFIX = "CONTEXTUI_"
_OWN_VARIABLES = {"CONTEXTUI_HOME", "CONTEXTUI_DEBUG"}
_PROVIDER_VARIABLES = {"model": "ANTHROPIC_MODEL", "base_url": "ANTHROPIC_BASE_URL"}
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


def key_variable(environ: Mapping[str, str]) -> str:
    """The variable that holds the key, or should."""
    has_key = environ.get(KEY_VARIABLE, "").strip()
    has_token = environ.get(TOKEN_VARIABLE, "").strip()
    return TOKEN_VARIABLE if has_token and not has_key else KEY_VARIABLE


def variables_layer(environ: Mapping[str, str]) -> Layer:
    """What contextui's own variables set."""
    return _variables(environ, {name: _PREFIX + name.upper() for name in Settings.model_fields})


def providers_layer(environ: Mapping[str, str]) -> Layer:
    """What the provider's own variables set, which other programs read too."""
    return _variables(environ, _PROVIDER_VARIABLES)


def locale_layer(environ: Mapping[str, str]) -> Layer:
    """What the locale sets: the language."""
    variable, lang = _locale_variable(environ), locale_lang(environ)
    return Layer({"lang": lang}, {"lang": variable}) if lang else Layer({}, {})


def locale_lang(environ: Mapping[str, str]) -> Lang | None:
    """The language of the locale; None if it says nothing."""
    locale = environ.get(_locale_variable(environ), "").lower()
    return ("zh" if locale.startswith("zh") else "en") if locale else None


def misspelt(environ: Mapping[str, str]) -> Iterator[str]:
    """A line for each variable that looks like one of contextui's, and is none."""
    known = {_PREFIX + name.upper() for name in Settings.model_fields} | _OWN_VARIABLES
    for variable in sorted(environ):
        if variable.startswith(_PREFIX) and variable not in known:
            near = difflib.get_close_matches(variable, known, 1, 0.85)
            if near:
                yield f"{one_line(variable)} is no setting. Is {near[0]} meant?"


def _variables(environ: Mapping[str, str], names: Mapping[str, str]) -> Layer:
    """What the environment sets; an empty variable sets nothing."""
    values: dict[str, Any] = {
        name: environ[variable] for name, variable in names.items() if environ.get(variable)
    }
    for name in ("window", "windows", "secret_files"):
        if name in values:
            values[name] = [one for one in values[name].split(",") if one]
    return Layer(values, {name: names[name] for name in values})


def _locale_variable(environ: Mapping[str, str]) -> str:
    return next(filter(environ.get, _LOCALE_VARIABLES), "")

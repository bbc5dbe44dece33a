"""Create the model of a connection: built in, or of an installed package."""

from collections.abc import Callable, Collection
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from contextui.agent.models.limits import AnswerLimits
from contextui.config.providers import installed
from contextui.config.settings import OFFLINE, SettingsError
from contextui.config.sources import Connection
from contextui.model import Model
from contextui.text import one_line, quote
from contextui.words import Lang

if TYPE_CHECKING:
    from contextui.agent.models.remote import RemoteModel
    from contextui.agent.models.servers import Rates


_NEAR = 0.6  # similarity from which on a provider is suggested


class NoKeyError(SettingsError):
    """The provider needs an API key, and there is none."""

    provider: str = ""


def create_model(
    connection: Connection, *, lang: Lang = "en", limits: AnswerLimits | None = None
) -> Model:
    """Create the model of a connection; nothing is sent yet.

    Raises:
        NoKeyError: It needs an API key, and there is none.
        SettingsError: An installed provider cannot be used.
        ModelError: The environment names a proxy or certificates that cannot be used.
    """
    provider = connection.provider
    if provider.api == "none":
        from contextui.agent.models.offline import OfflineModel  # noqa: PLC0415  (not always needed)

        return OfflineModel()
    if not connection.is_ready:
        raise no_key(connection)
    if provider.api == "other":
        return _of_package(connection, lang, limits)
    make: Callable[..., RemoteModel]
    if provider.api == "messages":
        from contextui.agent.models.anthropic import AnthropicModel  # noqa: PLC0415  (likewise)

        make = AnthropicModel
    else:
        from contextui.agent.models.openai import OpenAIModel  # noqa: PLC0415  (likewise)

        make = OpenAIModel
    source = connection.url_source
    is_elsewhere = source not in ("", "--base-url")  # a variable, or the sheet of models
    model = make(
        connection.model,
        api_key=connection.key(),
        base_url=connection.address,
        key_source=connection.key_source,
        url_source=source if is_elsewhere else provider.url_variable or "/model",
        limits=limits,
    )
    model.check()
    rates = model.rates = _rates(connection)
    if rates is not None and rates.input and rates.cached is not None:
        written = rates.input * model.prices.write if rates.written is None else rates.written
        model.prices = replace(
            model.prices, read=rates.cached / rates.input, write=written / rates.input
        )
    return model


def _rates(connection: Connection) -> "Rates | None":
    """Return the prices of a model; those of a provider do not apply at another address."""
    if connection.address != connection.provider.url:
        return None
    from contextui.agent.models.prices import rates_of  # noqa: PLC0415  (not always needed)

    return rates_of(connection.provider.name, connection.model, connection.home)


def no_key(connection: Connection, model: str = "") -> NoKeyError:
    """Return the error for a model that needs a key."""
    error = NoKeyError(
        "{model} needs {variable}. Set it, or use --model {offline}.",
        model=model or connection.model,
        variable=connection.provider.key_variable or connection.key_source,
        offline=OFFLINE,
    )
    error.provider = connection.provider.name
    return error


def unknown_provider(name: str, known: Collection[str]) -> SettingsError:
    """Return the error for a provider that does not exist: it names a similar one, or all."""
    shown = quote(one_line(name, 60))
    if near := get_close_matches(name.lower(), known, 1, _NEAR):
        return SettingsError(
            "There is no provider {name}. Did you mean {near}?", name=shown, near=near[0]
        )
    names = ", ".join(one_line(one, 60) for one in known)
    return SettingsError(
        "There is no provider {name}. Available: {names}.", name=shown, names=names
    )


def _of_package(connection: Connection, lang: Lang, limits: AnswerLimits | None) -> Model:
    """Create a model of an installed package: its entry point is called with the name."""
    entry = installed().get(connection.provider.name)
    name = connection.provider.name
    if entry is None:
        raise SettingsError("There is no provider {name}.", name=one_line(name, 60))
    try:
        make = entry.load()
        model: Model = make(
            connection.model,
            api_key=connection.key() or None,
            base_url=connection.url,
            lang=lang,
            limits=limits,
        )
    except Exception as error:  # others' code
        reason = one_line(f"{type(error).__name__}: {error}", 200)
        raise SettingsError(
            "The provider {name} cannot be used: {reason}.",
            name=one_line(name, 60),
            reason=reason.rstrip("."),
        ) from error
    return model

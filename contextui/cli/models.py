"""`contextui models`: list the providers with their state, or the models of one."""

import asyncio
from dataclasses import asdict
from typing import Any

from contextui.agent.models.catalogue import Offer, asked, offers
from contextui.agent.models.factory import no_key, unknown_provider
from contextui.agent.models.prices import load_prices
from contextui.agent.models.servers import ServedModel
from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import say, say_json, say_table, warn
from contextui.cli.flags import UsageError
from contextui.cli.settings import here, settings_of
from contextui.session.paths import contextui_home
from contextui.text import one_line
from contextui.words import t


def run(arguments: Arguments) -> int:
    """List the providers, or ask one of them for its models.

    The list sends no key to a remote provider: it connects only to servers whose state nothing
    else shows, which are those on this machine and those that the person added.
    """
    loaded = settings_of(arguments, here())
    warn(*loaded.notices)
    known = {offer.provider.name: offer for offer in offers(loaded)}
    if arguments.name:
        if arguments.name not in known:
            raise unknown_provider(arguments.name, known)
        return _list_models(known[arguments.name], as_json=arguments.json)
    found = asyncio.run(_states(list(known.values())))
    if arguments.json:
        say_json([_provider_data(offer, loaded.provider) for offer in found])
        return flags.DONE
    rows = [
        [("* " if offer.provider.name == loaded.provider else "  ") + _name(offer), _state(offer)]
        for offer in found
    ]
    say_table([["  " + t("provider"), t("state")], *rows])
    say("\n" + t("* is the provider of this folder. Its models: contextui models PROVIDER"))
    return flags.DONE


# --- the providers ---------------------------------------------------------------------------


async def _states(found: list[Offer]) -> list[Offer]:
    """Ask the servers that need no key, at the same time."""

    async def state(offer: Offer) -> Offer:
        is_left = offer.provider.needs_key or offer.warning
        return offer if is_left else await asked(offer)

    return list(await asyncio.gather(*map(state, found)))


def _name(offer: Offer) -> str:
    return one_line(offer.provider.name, 40)


def _state(offer: Offer) -> str:
    connection, provider = offer.connection, offer.provider
    at = one_line(connection.host, 80)
    if provider.api == "none":
        return t("no network, no key")
    if provider.api == "other":
        return t("from an installed package")
    if not connection.is_ready:
        return t("no key: set {variable}, or use /login", variable=connection.provider.key_variable)
    if offer.problem:
        is_away = offer.problem.kind == "unreached"
        return t("{at}, not running", at=at) if is_away else one_line(t(offer.problem), 200)
    if offer.models is not None:
        return t("{at}, running, models: {count}", at=at, count=len(offer.models))
    places = {
        "keyring": t("key in keyring"),
        "file": t("key in a private file"),
        "variable": t("key in {name}", name=connection.key_source),
    }
    is_left = offer.warning and not provider.needs_key
    asks = t("not asked: the key would be sent unencrypted")
    return asks if is_left else places.get(connection.key_place, at)


def _provider_data(offer: Offer, chosen: str) -> dict[str, Any]:
    connection = offer.connection
    return {
        "name": offer.provider.name,
        "chosen": offer.provider.name == chosen,
        "address": connection.address or None,
        "needs_key": offer.provider.needs_key,
        "key": connection.key_place or None,
        "ready": connection.is_ready and not offer.problem,
        "problem": t(offer.problem) if offer.problem else None,
    }


# --- the models of one -----------------------------------------------------------------------


def _list_models(offer: Offer, *, as_json: bool) -> int:
    if not offer.connection.is_ready:
        raise no_key(offer.connection, offer.provider.title)
    if offer.provider.api == "other":
        raise UsageError(
            "{name} comes from an installed package, which lists no models. Use {name}/MODEL.",
            name=_name(offer),
        )
    if offer.warning:
        warn(t(offer.warning))
    warn(*load_prices(contextui_home())[1])
    found = asyncio.run(asked(offer))
    models = found.models or ()
    if found.problem:
        warn(one_line(t(found.problem), 300))
        return flags.FAILED
    if as_json:
        say_json([_model_data(found, model) for model in models])
    elif models:
        head = [t("model"), t("context"), t("input"), t("output"), t("cached")]
        say_table([head, *(_row(found, model) for model in models)])
        if any(model.rates for model in models):
            say("\n" + t("Prices are dollars for a million tokens."))
    else:
        say(t("{name} offers no models.", name=_name(found)))
    return flags.DONE


def _row(offer: Offer, model: ServedModel) -> list[str]:
    rates = model.rates
    prices = (rates.input, rates.output, rates.cached) if rates else (None,) * 3
    shown = [f"{price:.2f}" if price is not None else "-" for price in prices]
    return [one_line(offer.name_of(model), 100), _size(model), *shown]


def _size(model: ServedModel) -> str:
    if model.is_short:
        loaded, possible = f"{model.context:,}", f"{model.possible:,}"
        return t("{loaded} of {possible}", loaded=loaded, possible=possible)
    tokens = model.context or model.possible
    return f"{tokens:,}" if tokens else "-"


def _model_data(offer: Offer, model: ServedModel) -> dict[str, Any]:
    return {
        "name": offer.name_of(model),
        "context": model.context,
        "possible": model.possible,
        "loaded": model.is_loaded,
        "tools": model.calls_tools,
        "prices": asdict(model.rates) if model.rates else None,
    }

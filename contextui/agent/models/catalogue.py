"""The providers with their state, and the models that each offers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from contextui.agent.models.connection import Endpoint, exposed_host, is_loopback, unencrypted
from contextui.agent.models.openai import complete_url
from contextui.agent.models.prices import load_prices
from contextui.agent.models.servers import ServedModel, served_models
from contextui.config.providers import PROVIDERS, Provider, installed
from contextui.config.sources import Connection, Loaded
from contextui.model import ModelError
from contextui.words import Message

_LOOK, _ANSWER = 2.0, 20.0  # seconds for a server that may not be there, and for its answers


@dataclass(frozen=True, slots=True)
class Offer:
    """A provider, and what it offers."""

    connection: Connection
    models: tuple[ServedModel, ...] | None = None
    problem: ModelError | None = None

    @property
    def provider(self) -> Provider:
        """Whose models these are."""
        return self.connection.provider

    def name_of(self, model: ServedModel) -> str:
        """Return the name by which a model is chosen: that of its provider comes first."""
        name = model.name
        return name if self.provider.api == "none" else f"{self.provider.name}/{name}"

    @property
    def warning(self) -> Message | None:
        """The warning that the key is sent unencrypted, if it would be."""
        return unencrypted(self.connection.address) if self.connection.has_key else None


def offers(loaded: Loaded) -> list[Offer]:
    """Return all providers, none of them asked yet."""
    added = [Provider(name, name, "chat", url) for name, url in loaded.credentials.servers.items()]
    others = [Provider(name, name, "other") for name in installed()]
    known = [one for one in PROVIDERS.values() if one.name != "offline"]
    found = [Offer(loaded.connect(one)) for one in (*known, *added, *others)]
    offline = Offer(loaded.connect(PROVIDERS["offline"]), (ServedModel("offline"),))
    return [*found, offline]


async def asked(offer: Offer) -> Offer:
    """Ask a provider for its models; one without a key is not asked."""
    connection = offer.connection
    if offer.models is not None or not connection.is_ready or offer.provider.api == "other":
        return offer
    api = offer.provider.api
    key = await asyncio.to_thread(connection.key)
    url = connection.address if api == "messages" else complete_url(connection.address)
    variable = offer.provider.url_variable or "/model"
    endpoint = Endpoint(url, "", key, url_variable=variable, api="API")
    try:
        models = await served_models(endpoint, "messages" if api == "messages" else "chat")
    except ModelError as error:
        return replace(offer, models=(), problem=error)
    prices, _ = load_prices(connection.home)
    named = {model.name: model for model in models}  # some servers list a model twice
    known = ((one, prices.get(f"{offer.provider.name}/{one.name}")) for one in named.values())
    priced = (replace(one, rates=rates) if rates is not None else one for one, rates in known)
    return replace(offer, models=tuple(priced))


async def local_server(loaded: Loaded) -> Offer | None:
    """Look for an Ollama on this machine that the person did not configure; None if none answers.

    Nothing is sent to another machine, even if Ollama's address is there.
    """
    offer = Offer(loaded.connect(PROVIDERS["ollama"]))
    address = urlsplit(offer.connection.address)
    host, port = address.hostname or "", address.port or 80
    if not is_loopback(host) or exposed_host(offer.connection.address):
        return None
    try:
        async with asyncio.timeout(_LOOK):
            _, writer = await asyncio.open_connection(host, port)
        writer.close()
        async with asyncio.timeout(_ANSWER):
            found = await asked(offer)
    except (OSError, TimeoutError):
        return None
    return found if found.models else None


async def ask_all(loaded: Loaded, update: Callable[[Offer], object]) -> list[Offer]:
    """Ask all providers at the same time; `update` gets each as it answers.

    One whose key would be sent unencrypted is not asked: the person decides about that.
    """

    async def ask(offer: Offer) -> Offer:
        found = offer if offer.warning else await asked(offer)
        update(found)
        return found

    return list(await asyncio.gather(*map(ask, offers(loaded))))

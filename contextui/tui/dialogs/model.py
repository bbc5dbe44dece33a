"""The sheet of models and providers, and the dialogs that enter a key or a server."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar
from urllib.parse import urlsplit

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from contextui.agent.models.catalogue import Offer, ask_all, asked, offers
from contextui.agent.models.connection import Endpoint, unencrypted
from contextui.agent.models.prices import cost_of
from contextui.agent.models.servers import ServedModel, enlarge
from contextui.config.providers import PROVIDERS
from contextui.config.settings import OFFLINE
from contextui.config.sources import Loaded
from contextui.errors import ContextUIError
from contextui.model import ModelError
from contextui.tokens import Usage
from contextui.tui.app_session import new_cache
from contextui.tui.desktop.rowlist import FilterLine, RowList, not_found_text
from contextui.tui.dialogs.question import Dialog
from contextui.tui.dialogs.sheet import ListSheet
from contextui.tui.footer import Hint, KeyBar
from contextui.tui.lines import FAINT, KEY, MUTED, fit, line, short
from contextui.words import Text, Words, msg

_NAME, _CONTEXT, _PRICE = 34, 14, 8  # cells
_STATE = 76  # cells of a provider's state, in one line
_MOST = 300  # models shown of one provider
_LOG_IN = msg("log in…")
_FIELD_KEYS = (("enter", msg("save")), ("esc", msg("cancel")))


@dataclass(frozen=True, slots=True)
class OfferRow:
    """A provider, or one of its models."""

    offer: Offer
    model: ServedModel | None = None

    @property
    def name(self) -> str:
        if self.model is None:
            return f"{self.offer.provider.name}/"
        return self.offer.name_of(self.model)


class OfferList(RowList[OfferRow | None]):
    """Providers, each followed by its models; an empty row is between two."""

    expands: ClassVar[bool] = False
    shows_cursor: ClassVar[bool] = True

    def is_entry(self, row: OfferRow | None) -> bool:
        return row is not None


class ModelScreen(ListSheet[str, OfferRow | None]):
    """Lists providers with their state, and the models of each; the result is a model's name."""

    DEFAULT_CSS = """
    ModelScreen {
        #box { width: 100; max-width: 96%; max-height: 92%; }
        FilterLine { margin: 0 0 1 0; }
        #head { height: 1; }
        OfferList { height: auto; max-height: 60vh; }
        #note { margin: 1 0 0 0; }
    }
    """
    BINDINGS = [
        Binding("l", "login", show=False),
        Binding("d", "default", show=False),
        Binding("u", "server", show=False),
        Binding("c", "enlarge", show=False),
    ]

    def __init__(self, words: Words, loaded: Loaded, current: str, cached: int, at: str) -> None:
        self._loaded, self._current, self._cached = loaded, current, cached
        listed = OfferList(self._draw, lambda row: row.name if row is not None else None)
        super().__init__(words, listed, words("Search models"), is_filter_shown=True)
        self._offers = {offer.provider.name: offer for offer in offers(loaded)}
        self._wanted = at  # the row to choose as soon as it is listed
        self._is_settled = False  # whether it was chosen, or the person moved

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = Content(self._words("Model"))
            yield self.filter
            yield Static(self._head(), id="head")
            yield self.listed
            yield Static("", id="note")
            yield KeyBar(self._words)

    def _head(self) -> Content:
        words = self._words
        names = (words("context"), words("in"), words("out"), words("cached"))
        cells = (_CONTEXT, _PRICE, _PRICE, _PRICE)
        head = "".join(fit(name, room, right=True) for name, room in zip(names, cells, strict=True))
        return Content.styled(f"{' ' * (_NAME + 4)}{head}  {words('$ per 1M tokens')}", FAINT)

    def on_mount(self) -> None:
        self.listed.focus()
        self._show()
        asking = partial(ask_all, self._loaded, self._replace)
        self.run_worker(asking, exclusive=True)  # type: ignore[arg-type]

    def _replace(self, offer: Offer) -> None:
        self._offers[offer.provider.name] = offer
        self._show()

    # --- the list ----------------------------------------------------------------------

    def _show(self) -> None:
        rows, query = list(self._rows()), self.filter.query_text
        note, at = not_found_text(query, self._words), ""
        names = [row.name for row in rows if row is not None]
        if not self._is_settled:
            self._is_settled = self._wanted in names
            at = self._wanted if self._is_settled else next(iter(names), "")
        self.listed.show(rows, note, at=at or None)
        self._explain()

    def _rows(self) -> Iterator[OfferRow | None]:
        """Yield providers with models first, each followed by these, and the built-in one last."""
        sought, before = self.filter.query_text.casefold(), None
        ranked = sorted(
            self._offers.values(),
            key=lambda offer: (offer.provider.api == "none", not offer.models),
        )
        for offer in ranked:
            name = offer.provider.name
            found = [
                model
                for model in offer.models or ()
                if sought in f"{name}/{model.name}".casefold()
            ][:_MOST]  # fmt: skip
            if sought and not found:
                continue
            if before is not None and (before.models or found):
                yield None
            yield OfferRow(offer)
            yield from (OfferRow(offer, model) for model in found)
            before = offer

    def _draw(self, row: OfferRow | None, width: int) -> Content:
        if row is None:
            return Content("")
        offer, model = row.offer, row.model
        shown = self._provider_row(offer) if model is None else self._model_row(offer, model)
        return shown.truncate(width, ellipsis=True)

    def _provider_row(self, offer: Offer) -> Content:
        words, connection = self._words, offer.connection
        if offer.provider.api == "none":
            state, style = words("no network, no key"), MUTED
        elif not connection.is_ready:
            state, style = words("no key: enter to log in"), "$text-warning"
        elif offer.problem:
            is_away = offer.problem.kind == "unreached"
            away = words("{at}, not running", at=connection.host)
            text = away if is_away else words(offer.problem)
            state, style = fit(line(text), _STATE).rstrip(), "$text-error"
        elif offer.models is None and offer.warning:
            state, style = words("not asked: the key would be sent unencrypted"), "$text-warning"
        elif offer.models is None and offer.provider.api != "other":
            state, style = words("looking…"), FAINT
        else:
            places = {
                "keyring": words("key in keyring"),
                "file": words("key in a private file"),
                "variable": words("key in {name}", name=connection.key_source),
            }
            state, style = line(places.get(connection.key_place, connection.host)), MUTED
        mark = ("● ", "$text-success") if offer.models and not offer.problem else ("· ", FAINT)
        return Content.assemble((fit(offer.provider.title, 12), "bold"), mark, (state, style))

    def _model_row(self, offer: Offer, model: ServedModel) -> Content:
        words, prices = self._words, model.rates
        is_current = offer.name_of(model) == self._current
        is_offline = offer.provider.api == "none"
        size, style = self._size_of(model)
        free = words("free") if offer.provider.is_local or is_offline else ""
        figures = (prices.input, prices.output, prices.cached) if prices else (None,) * 3
        shown = [free if figure is None else f"${figure:.2f}" for figure in figures]
        states = (
            (is_current, msg("now")),
            (model.is_loaded, msg("loaded")),
            (is_offline, msg("simple requests")),
        )
        state = next((words(name) for holds, name in states if holds), "")
        return Content.assemble(
            ("  ✓ " if is_current else "    ", "$text-success"),
            fit(model.name, _NAME),
            (size.rjust(_CONTEXT), style),
            ("".join(fit(one, _PRICE, right=True) for one in shown) + f"  {state}", MUTED),
        )

    def _size_of(self, model: ServedModel) -> tuple[str, str]:
        if model.is_short:
            loaded, possible = short(model.context or 0), short(model.possible or 0)
            size = self._words("{loaded} of {possible}", loaded=loaded, possible=possible)
            return size, "$text-warning"
        tokens = model.context or model.possible
        return (short(tokens) if tokens else "", "")

    @on(OfferList.Moved)
    def _move(self) -> None:
        self._is_settled = True
        self._explain()

    def _explain(self) -> None:
        row = self.listed.row
        offer, model = (row.offer, row.model) if row is not None else (None, None)
        text = Content("")
        if model is not None and model.is_short:
            loaded, possible = short(model.context or 0), short(model.possible or 0)
            words = self._words
            loads = words(
                "The server loaded {model} with {loaded} of its {possible}.",
                model=line(model.name), loaded=loaded, possible=possible,
            )  # fmt: skip
            cuts = words(
                "Longer contexts are cut by the server without a word, so contextui stays"
                " below {loaded}.",
                loaded=loaded,
            )
            text = Content.assemble(
                (loads, "$text-warning"), f" {cuts} ", ("c ", f"{KEY} bold"),
                (words("asks for more context."), MUTED),
            )  # fmt: skip
        elif model is None and offer is not None and offer.problem:
            text = Content.styled(line(self._words(offer.problem)), "$text-warning")
        elif offer is not None and offer.warning:
            text = Content.styled(self._words(offer.warning), "$text-warning")
        self.query_one("#note", Static).update(text)
        self.note(self._price_of_change(row))
        self.show_keys()

    def hints(self) -> list[Hint]:
        row, found = self.listed.row, list[Hint]()
        if row is not None and row.model is not None:
            found += [("enter", msg("use")), ("d", msg("make default"))]
        elif row is not None and row.offer.provider.api != "none":
            found += [("enter", _LOG_IN if _lacks_key(row.offer) else msg("ask again"))]
        if row is not None and _takes_key(row.offer) and (row.model or not _lacks_key(row.offer)):
            found += [("l", _LOG_IN)]
        return [*found, ("u", msg("add a server…")), ("esc", msg("back"))]

    def _price_of_change(self, row: OfferRow | None) -> str:
        """Return what another model costs at once: it has nothing in its cache."""
        if row is None or row.model is None or row.name in (self._current, OFFLINE):
            return ""
        rates, new = row.model.rates, Usage(cache_creation_input_tokens=self._cached)
        return new_cache(self._words, self._cached, cost_of(rates, new) if rates else None)

    @on(OfferList.Opened)
    def _open(self) -> None:
        row = self.listed.row
        if row is not None and row.model is not None:
            self.dismiss(row.name)
        elif row is not None and _lacks_key(row.offer):
            self.action_login()
        elif row is not None:
            self._again(row.offer.provider.name)

    @on(FilterLine.Changed)
    def _filter(self, message: FilterLine.Changed) -> None:
        self._is_settled = False
        self._show()
        if message.query:  # the first model, not its provider
            models = (at for at, row in enumerate(self.listed.rows) if row and row.model)
            self.listed.choose(next(models, 0))

    # --- keys --------------------------------------------------------------------------

    def action_login(self) -> None:
        row = self.listed.row
        if row is None or not _takes_key(row.offer):
            return
        name = row.offer.provider.name
        self.app.push_screen(LoginScreen(self._words, self._loaded, name), self._again_if)

    def action_server(self) -> None:
        self.app.push_screen(ServerScreen(self._words, self._loaded), self._again_if)

    def action_default(self) -> None:
        from contextui.config.writer import set_default_model  # noqa: PLC0415  (only for this)

        row = self.listed.row
        if row is None or row.model is None:
            return
        try:
            file = set_default_model(self._loaded.credentials.path.parent, row.name)
        except ContextUIError as error:
            self._report(self._words(error), "$text-error")
            return
        text = self._words("{model} is the default now ({file}).", model=row.name, file=file)
        self._report(text, "$text-success")

    @work(exclusive=True, group="enlarge")
    async def action_enlarge(self) -> None:
        row = self.listed.row
        if row is None or row.model is None or not row.model.is_short:
            return
        connection, provider = row.offer.connection, row.offer.provider.name
        key = await asyncio.to_thread(connection.key)
        try:
            endpoint = Endpoint(connection.address, "", key, url_variable="/model", api="API")
            name = await enlarge(endpoint, row.model)
        except ModelError as error:
            self._report(self._words(error), "$text-error")
            return
        self._wanted, self._is_settled = f"{provider}/{name}", False
        self._again(provider)

    def _report(self, text: str, style: str) -> None:
        self.query_one("#note", Static).update(Content.styled(line(text), style))

    def _again_if(self, name: str | None) -> None:
        if name:
            self._again(name)

    @work
    async def _again(self, name: str) -> None:
        fresh = {offer.provider.name: offer for offer in offers(self._loaded)}
        if name in fresh:
            self._replace(replace(fresh[name], models=None))
            self._replace(await asked(fresh[name]))


def _takes_key(offer: Offer) -> bool:
    return offer.provider.api not in ("none", "other")


def _lacks_key(offer: Offer) -> bool:
    return offer.provider.needs_key and not offer.connection.has_key


class EntryScreen(Dialog[str | None]):
    """Asks for one line of text and saves it; the result is the name of its provider."""

    BINDINGS = [Binding("escape", "leave", show=False)]
    DEFAULT_CSS = """
    EntryScreen {
        #box { width: 72; }
        Input { height: 1; border: none; padding: 0 1; background: $soft; }
        #note, #warning { margin: 1 0 0 0; }
        .keys { margin: 1 0; }
    }
    """

    def __init__(self, words: Words, loaded: Loaded, field: Input) -> None:
        super().__init__()
        self._words, self._loaded, self._field = words, loaded, field

    def entry(self, title: str, note: str, warning: Text = "") -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = Content(title)
            yield self._field
            yield Static(Content.styled(note, MUTED), id="note")
            if warning:
                yield Static(Content.styled(self._words(warning), "$text-warning"), id="warning")
            yield KeyBar(self._words, _FIELD_KEYS)

    async def save(self, typed: str) -> str:
        """Save what was typed; raise a ContextUIError if that is not accepted or fails."""
        raise NotImplementedError

    @on(Input.Submitted)
    @work(exclusive=True)
    async def _save(self, event: Input.Submitted) -> None:
        try:
            name = await self.save(event.value)
        except ContextUIError as error:
            text = Content.styled(self._words(error), "$text-error")
            self.query_one("#note", Static).update(text)
        else:
            self.dismiss(name)

    def action_leave(self) -> None:
        self._field.value = ""
        self.dismiss(None)


class LoginScreen(EntryScreen):
    """Asks for the key of a provider; what is typed is never shown."""

    def __init__(self, words: Words, loaded: Loaded, provider: str) -> None:
        field = Input(password=True, placeholder=words("API key"), id="key", compact=True)
        super().__init__(words, loaded, field)
        found = {offer.provider.name: offer for offer in offers(loaded)}
        self._connection = found[provider].connection

    def compose(self) -> ComposeResult:
        words, connection = self._words, self._connection
        title = words("Log in to {provider}", provider=connection.provider.title)
        note = words(
            "The key is kept in the system's keyring, or in a file that only you can read. It "
            "is sent to {at} only.",
            at=line(connection.host),
        )
        yield from self.entry(title, note, unencrypted(connection.address) or "")

    async def save(self, typed: str) -> str:
        connection, name = self._connection, self._connection.provider.name
        self._field.value = ""
        is_added = name not in PROVIDERS  # its address may be changed
        url = connection.url or (connection.address if is_added else "")
        self._loaded.credentials.put(name, typed, url)
        self.query_one("#note", Static).update(self._words("checking the key…"))
        offer = Offer(self._loaded.connect(connection.provider))
        found = offer if offer.warning else await asked(offer)
        if found.problem is not None and found.problem.kind == "auth":
            self._loaded.credentials.remove(name)
            raise ContextUIError("{at} rejected the key. It is not saved.", at=connection.host)
        return name


class ServerScreen(EntryScreen):
    """Asks for the address of a server that speaks the chat-completions API."""

    def __init__(self, words: Words, loaded: Loaded) -> None:
        field = Input(placeholder="http://localhost:8080", id="url", compact=True)
        super().__init__(words, loaded, field)

    def compose(self) -> ComposeResult:
        note = self._words("Any server that speaks the chat completions API.")
        yield from self.entry(self._words("Add a server"), note)

    async def save(self, typed: str) -> str:
        from contextui.agent.models.openai import complete_url  # noqa: PLC0415

        url = typed.strip()
        url = complete_url(url if "://" in url else f"http://{url}")
        try:
            parts = urlsplit(url)
            is_valid = bool(parts.hostname) and parts.scheme in ("http", "https")
            is_valid = is_valid and "@" not in parts.netloc and url.isascii() and url.isprintable()
            name = f"{parts.hostname}-{parts.port}" if parts.port else str(parts.hostname)
        except ValueError:
            is_valid, name = False, ""
        if not is_valid:
            raise ContextUIError("That is not an address such as http://localhost:8080.")
        self._loaded.credentials.add_server(name, url)
        return name

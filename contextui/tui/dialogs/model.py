"""The sheet of models and providers, and the dialogs that enter a key or a server."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.events import DescendantFocus, Key
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from contextui.agent.models.catalogue import Offer, ask_all, asked, offers
from contextui.agent.models.connection import unencrypted
from contextui.agent.models.servers import ServedModel, endpoint_of, enlarge
from contextui.config.providers import PROVIDERS
from contextui.config.settings import OFFLINE
from contextui.config.sources import Loaded
from contextui.errors import ContextUIError
from contextui.model import ModelError
from contextui.text import quote
from contextui.tui.conversation.turn import turn_cost
from contextui.tui.footer import KeyButtons
from contextui.tui.lines import FAINT, KEY, MUTED, fit, line, short
from contextui.words import Words, msg

_NAME, _CONTEXT, _PRICE = 34, 14, 8  # cells
_STATE = 76  # cells of a provider's state, in one line
_MOST = 300  # models shown of one provider
_LOG_IN = msg("log in…")
_KEYS = (("u", "u", msg("add a server…")), ("escape", "esc", msg("back")))
_SEARCH_KEYS = (("enter", "enter", "choose"), ("escape", "esc", "clear"))
_MODEL_KEYS = (("enter", "enter", msg("use")), ("d", "d", msg("make default")))
_FIELD_KEYS = (("enter", "enter", msg("save")), ("escape", "esc", msg("cancel")))
_BOX = """
    align: center middle;
    background: $background 65%;
    #box {{
        width: {width}; max-width: 96%; height: auto; max-height: 92%;
        border: round $primary; border-title-style: bold; border-title-color: $foreground;
        border-subtitle-color: $muted;
        background: $background; padding: 1 2 0 2;
    }}
    Input {{ height: 1; border: none; padding: 0 1; background: $soft; }}
    .keys {{ height: 1; margin: 1 0 0 0; }}
"""


class ModelScreen(ModalScreen[str | None]):
    """Lists providers with their state, and the models of each; the result is a model's name.

    Args:
        words: Translates into the person's locale.
        loaded: The settings, with the keys and servers that the person entered.
        current: The name of the current model.
        cached: The tokens that another model has to read in full; 0 if nothing was sent yet.
    """

    DEFAULT_CSS = (
        "ModelScreen {"
        + _BOX.format(width=100)
        + """
    #search { padding: 0; background: $background; background-tint: transparent; margin: 0 0 1 0; }
    #head { height: 1; }
    #models {
        height: auto; max-height: 60vh; background: $background; background-tint: transparent;
        border: none; padding: 0;
        & > .option-list--option-highlighted { background: $cursor; color: $foreground; }
    }
    #note { height: auto; margin: 1 0 0 0; }
    }"""
    )
    BINDINGS = [
        Binding("escape", "leave", show=False),
        Binding("slash", "search", show=False),
        Binding("l", "login", show=False),
        Binding("d", "default", show=False),
        Binding("u", "server", show=False),
        Binding("c", "enlarge", show=False),
    ]

    def __init__(self, words: Words, loaded: Loaded, current: str, cached: int = 0) -> None:
        super().__init__()
        self._words, self._loaded, self._current = words, loaded, current
        self._cached = cached
        self._offers = {one.provider.name: one for one in offers(loaded)}
        self._wanted = ""  # the option to choose as soon as it is listed
        self._is_settled = False  # whether the person moved, or the current model was chosen

    def compose(self) -> ComposeResult:
        """Compose the search, the list and the keys."""
        words = self._words
        with Vertical(id="box") as box:
            box.border_title = Content(words("Model"))
            search = Input(placeholder=words("/ Search models"), id="search", compact=True)
            search.can_focus = False  # until / is pressed
            yield search
            yield Static(self._head(), id="head")
            yield OptionList(id="models")
            yield Static("", id="note")
            yield KeyButtons(words, _KEYS)

    def _head(self) -> Content:
        words = self._words
        names = (words("context"), words("in"), words("out"), words("cached"))
        cells = (_CONTEXT, _PRICE, _PRICE, _PRICE)
        head = "".join(fit(one, room, right=True) for one, room in zip(names, cells, strict=True))
        return Content.styled(f"{' ' * (_NAME + 4)}{head}  {words('$ per 1M tokens')}", FAINT)

    def on_mount(self) -> None:
        """Show the providers, and ask each for its models."""
        self.query_one("#models").focus()
        self._show()
        self._ask()

    @work(exclusive=True)
    async def _ask(self) -> None:
        await ask_all(self._loaded, self._replace)

    def _replace(self, offer: Offer) -> None:
        if self.query("#models"):  # a sheet that closes has no list any more
            self._offers[offer.provider.name] = offer
            self._show()

    # --- the list ----------------------------------------------------------------------

    def _show(self) -> None:
        models = self.query_one("#models", OptionList)
        highlighted = models.highlighted_option
        before = highlighted.id if highlighted is not None and self._is_settled else None
        options = list(self._options())
        with self.prevent(OptionList.OptionHighlighted):
            models.set_options(options)
        places = {option.id: at for at, option in enumerate(options) if option.id}
        current = next((id_ for id_ in places if id_ and id_.endswith(f"/{self._current}")), None)
        for wanted in (self._wanted, before, current or self._current):
            if wanted in places:
                models.highlighted = places[wanted]
                self._is_settled = True
                self._wanted = "" if wanted == self._wanted else self._wanted
                break
        else:
            models.highlighted = min(places.values(), default=None)
        self._explain()

    def _options(self) -> Iterator[Option]:
        """Yield providers with models first, each followed by these, and the built-in one last."""
        sought = self.query_one("#search", Input).value.strip().casefold()
        ranked = sorted(
            self._offers.values(),
            key=lambda one: (one.provider.api == "none", not one.models),
        )
        before: Offer | None = None
        for offer in ranked:
            name = offer.provider.name
            found = [
                one for one in offer.models or () if sought in f"{name}/{one.name}".casefold()
            ][:_MOST]  # fmt: skip
            if sought and not found:
                continue
            if before is not None and (before.models or found):
                yield Option("", disabled=True)
            yield Option(self._provider_row(offer), f"{name}/")
            for one in found:
                yield Option(self._model_row(offer, one), offer.name_of(one))
            before = offer
        if sought and before is None:
            text = self._words("No model matches {query}. Esc clears.", query=quote(sought, 40))
            yield Option(Content.styled(text, MUTED), disabled=True)

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
        is_current = model.name == self._current
        is_offline = offer.provider.api == "none"
        size, style = self._size_of(model)
        free = words("free") if offer.provider.is_local or is_offline else ""
        figures = (prices.input, prices.output, prices.cached) if prices else (None,) * 3
        shown = [free if one is None else f"${one:.2f}" for one in figures]
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
            size = self._words(
                "{loaded} of {possible}",
                loaded=short(model.context or 0),
                possible=short(model.possible or 0),
            )
            return size, "$text-warning"
        tokens = model.context or model.possible
        return (short(tokens) if tokens else "", "")

    @on(OptionList.OptionHighlighted)
    @on(DescendantFocus)
    def _explain(self) -> None:
        _, offer, model = self._chosen()
        text = Content("")
        if model is not None and model.is_short:
            loaded, possible = short(model.context or 0), short(model.possible or 0)
            text = Content.assemble(
                (
                    self._words(
                        "The server loaded {model} with {loaded} of its {possible}.",
                        model=line(model.name),
                        loaded=loaded,
                        possible=possible,
                    ),
                    "$text-warning",
                ),
                " ",
                self._words(
                    "Longer contexts are cut by the server without a word, so contextui stays"
                    " below {loaded}.",
                    loaded=loaded,
                ),
                " ",
                ("c ", f"{KEY} bold"),
                (self._words("asks for more context."), MUTED),
            )
        elif model is None and offer is not None and offer.problem:
            text = Content.styled(line(self._words(offer.problem)), "$text-warning")
        elif offer is not None and offer.warning:
            text = Content.styled(self._words(offer.warning), "$text-warning")
        self.query_one("#note", Static).update(text)
        self.query_one("#box").border_subtitle = Content(self._price_of_change(model))
        is_typing = self.query_one("#search").has_focus
        keys = _SEARCH_KEYS if is_typing else (*_row_keys(offer, model), *_KEYS)
        self.query_one(KeyButtons).show(keys)

    def _price_of_change(self, model: ServedModel | None) -> str:
        """Return what another model costs at once: it has nothing in its cache."""
        if model is None or not self._cached or model.name in (self._current, OFFLINE):
            return ""
        words, rates = self._words, model.rates
        text = words(
            "a change starts a new cache: {tokens} at full price", tokens=short(self._cached)
        )
        if rates is None:
            return text
        price = rates.input if rates.written is None else rates.written
        return text + words(", {cost}", cost=turn_cost(price * self._cached / 1_000_000))

    def _at(self, option_id: str) -> tuple[Offer | None, ServedModel | None]:
        if option_id == OFFLINE:
            return self._offers.get(OFFLINE), ServedModel(OFFLINE)
        provider, _, name = option_id.partition("/")
        offer = self._offers.get(provider)
        found = (one for one in (offer.models or ()) if one.name == name) if offer else ()
        return offer, next(iter(found), None)

    def _chosen(self) -> tuple[str, Offer | None, ServedModel | None]:
        option = self.query_one("#models", OptionList).highlighted_option
        option_id = (option.id if option is not None else "") or ""
        return option_id, *self._at(option_id)

    @on(OptionList.OptionSelected)
    def _select(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        option_id, offer, model = self._chosen()
        if model is not None:
            self.dismiss(option_id)
        elif offer is not None and _lacks_key(offer):
            self.action_login()
        elif offer is not None:
            self._again(offer.provider.name)

    # --- the search --------------------------------------------------------------------

    def action_search(self) -> None:
        """Move into the search field."""
        field = self.query_one("#search", Input)
        field.can_focus = True
        field.focus()

    @on(Input.Changed, "#search")
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._is_settled = False
        self._show()
        if event.value.strip():  # the first model, not its provider
            models = self.query_one("#models", OptionList)
            places = [
                at for at, option in enumerate(models.options) if self._at(option.id or "")[1]
            ]
            models.highlighted = places[0] if places else None

    @on(Input.Submitted, "#search")
    def _found(self, event: Input.Submitted) -> None:
        event.stop()
        self._to_list()

    def on_key(self, event: Key) -> None:
        """Move from the search to the list with the arrow keys."""
        if event.key in ("down", "up"):
            self._is_settled = True
            if self.query_one("#search").has_focus:
                event.stop()
                self._to_list()

    def _to_list(self) -> None:
        self._is_settled = True
        self.query_one("#models").focus()
        self.query_one("#search", Input).can_focus = False

    def action_leave(self) -> None:
        """Clear the search; without one, close the sheet."""
        field = self.query_one("#search", Input)
        if field.value or field.has_focus:
            field.value = ""
            self._to_list()
        else:
            self.dismiss(None)

    # --- keys --------------------------------------------------------------------------

    def action_login(self) -> None:
        """Enter the key of the chosen provider."""
        _, offer, _ = self._chosen()
        if offer is None or not _takes_key(offer):
            return
        name = offer.provider.name
        self.app.push_screen(
            LoginScreen(self._words, self._loaded, name),
            lambda done: self._again_if(name if done else None),
        )

    def action_server(self) -> None:
        """Add a server."""
        screen = ServerScreen(self._words, self._loaded)
        self.app.push_screen(screen, self._again_if)

    def action_default(self) -> None:
        """Make the chosen model the default of all folders."""
        from contextui.config.writer import set_default_model  # noqa: PLC0415  (only for this)

        option_id, _, model = self._chosen()
        if model is None:
            return
        try:
            file = set_default_model(self._loaded.credentials.path.parent, option_id)
        except ContextUIError as error:
            self._note(self._words(error), "$text-error")
            return
        text = self._words("{model} is the default now ({file}).", model=option_id, file=file)
        self._note(text, "$text-success")

    @work(exclusive=True, group="enlarge")
    async def action_enlarge(self) -> None:
        """Ask the server for a larger context of the chosen model."""
        _, offer, model = self._chosen()
        if offer is None or model is None or not model.is_short:
            return
        connection = offer.connection
        key = await asyncio.to_thread(connection.key)
        try:
            name = await enlarge(endpoint_of(connection.address, key), model)
        except ModelError as error:
            self._note(self._words(error), "$text-error")
            return
        self._wanted = f"{offer.provider.name}/{name}"
        self._again(offer.provider.name)

    def _note(self, text: str, style: str) -> None:
        self.query_one("#note", Static).update(Content.styled(line(text), style))

    def _again_if(self, name: str | None) -> None:
        if name:
            self._again(name)

    @work
    async def _again(self, name: str) -> None:
        """Ask one provider again, with what was entered."""
        fresh = {one.provider.name: one for one in offers(self._loaded)}
        if name in fresh:
            self._replace(replace(fresh[name], models=None))
            self._replace(await asked(fresh[name]))


def _takes_key(offer: Offer) -> bool:
    return offer.provider.api not in ("none", "other")


def _lacks_key(offer: Offer) -> bool:
    return offer.provider.needs_key and not offer.connection.has_key


def _row_keys(offer: Offer | None, model: ServedModel | None) -> Iterator[tuple[str, str, str]]:
    """Yield the keys that work in the row of a provider or of one of its models."""
    if model is not None:
        yield from _MODEL_KEYS
    elif offer is not None and offer.provider.api != "none":
        yield "enter", "enter", _LOG_IN if _lacks_key(offer) else msg("ask again")
    if offer is not None and _takes_key(offer) and (model is not None or not _lacks_key(offer)):
        yield "l", "l", _LOG_IN


class LoginScreen(ModalScreen[bool]):
    """Asks for the key of a provider; what is typed is never shown.

    Args:
        words: Translates into the person's locale.
        loaded: The settings.
        provider: The provider's name.
    """

    DEFAULT_CSS = (
        "LoginScreen {"
        + _BOX.format(width=72)
        + " #note, #warning { height: auto; margin: 1 0 0 0; } .keys { margin: 1 0; } }"
    )
    BINDINGS = [Binding("escape", "leave", show=False)]

    def __init__(self, words: Words, loaded: Loaded, provider: str) -> None:
        super().__init__()
        self._words, self._loaded = words, loaded
        found = {one.provider.name: one for one in offers(loaded)}
        self._connection = found[provider].connection

    def compose(self) -> ComposeResult:
        """Compose the field and what happens with the key."""
        words, provider = self._words, self._connection.provider
        with Vertical(id="box") as box:
            box.border_title = Content(words("Log in to {provider}", provider=provider.title))
            yield Input(password=True, placeholder=words("API key"), id="key", compact=True)
            note = words(
                "The key is kept in the system's keyring, or in a file that only you can read. It "
                "is sent to {at} only.",
                at=line(self._connection.host),
            )
            yield Static(Content.styled(note, MUTED), id="note")
            if warning := unencrypted(self._connection.address):
                yield Static(Content.styled(words(warning), "$text-warning"), id="warning")
            yield KeyButtons(words, _FIELD_KEYS)

    @on(Input.Submitted, "#key")
    def _save(self, event: Input.Submitted) -> None:
        event.stop()
        connection, field = self._connection, self.query_one("#key", Input)
        is_added = connection.provider.name not in PROVIDERS  # its address may be changed
        url = connection.url or (connection.address if is_added else "")
        try:
            self._loaded.credentials.put(connection.provider.name, event.value, url)
        except ContextUIError as error:
            field.value = ""
            text = Content.styled(self._words(error), "$text-error")
            self.query_one("#note", Static).update(text)
            return
        field.value = ""
        self.dismiss(True)

    def action_leave(self) -> None:
        """Close the dialog without saving."""
        self.query_one("#key", Input).value = ""
        self.dismiss(False)


class ServerScreen(ModalScreen[str | None]):
    """Asks for the address of a server that speaks the chat-completions API."""

    DEFAULT_CSS = (
        "ServerScreen {"
        + _BOX.format(width=72)
        + " #note { height: auto; margin: 1 0 0 0; } .keys { margin: 1 0; } }"
    )
    BINDINGS = [Binding("escape", "leave", show=False)]

    def __init__(self, words: Words, loaded: Loaded) -> None:
        super().__init__()
        self._words, self._loaded = words, loaded

    def compose(self) -> ComposeResult:
        """Compose the field."""
        with Vertical(id="box") as box:
            box.border_title = Content(self._words("Add a server"))
            yield Input(placeholder="http://localhost:8080", id="url", compact=True)
            note = self._words("Any server that speaks the chat completions API.")
            yield Static(Content.styled(note, MUTED), id="note")
            yield KeyButtons(self._words, _FIELD_KEYS)

    @on(Input.Submitted, "#url")
    def _save(self, event: Input.Submitted) -> None:
        event.stop()
        from contextui.agent.models.openai import complete_url  # noqa: PLC0415

        url = event.value.strip()
        url = complete_url(url if "://" in url else f"http://{url}")
        try:
            parts = urlsplit(url)
            is_valid = bool(parts.hostname) and parts.scheme in ("http", "https")
            is_valid = is_valid and "@" not in parts.netloc and url.isascii() and url.isprintable()
            name = f"{parts.hostname}-{parts.port}" if parts.port else str(parts.hostname)
        except ValueError:
            is_valid, name = False, ""
        if not is_valid:
            text = self._words("That is not an address such as http://localhost:8080.")
            self.query_one("#note", Static).update(Content.styled(text, "$text-error"))
            return
        try:
            self._loaded.credentials.add_server(name, url)
        except ContextUIError as error:
            text = self._words(error)
            self.query_one("#note", Static).update(Content.styled(text, "$text-error"))
            return
        self.dismiss(name)

    def action_leave(self) -> None:
        """Close the dialog without saving."""
        self.dismiss(None)

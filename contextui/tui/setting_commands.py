"""The slash commands about settings: model, keys, strategy, approval, theme and language."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, get_args

from contextui.agent.models.factory import NoKeyError
from contextui.agent.models.offline import OfflineModel
from contextui.config.providers import PROVIDERS
from contextui.config.schema import SETTINGS, Approval, key_of
from contextui.config.settings import OFFLINE
from contextui.context.strategies.registry import strategy_names
from contextui.errors import ContextUIError
from contextui.session.preferences import Preferences
from contextui.text import quote
from contextui.tui.app_session import AppSession
from contextui.tui.commands import Choice
from contextui.tui.conversation.prompt import MODES
from contextui.tui.themes import ABOUT, REMEMBERED, THEMES
from contextui.windowing.snapshot import Lod
from contextui.words import msg

if TYPE_CHECKING:
    from contextui.tui.main import MainScreen

_MODELS = {
    "claude-sonnet-5-5": msg("by Anthropic"),
    "claude-opus-5-5": msg("by Anthropic"),
    "offline": msg("built in: simple requests, no network"),
}
_STRATEGIES = {
    "sliding": msg("the newest messages that fit"),
    "summarization": msg("the oldest turns become a summary"),
    "entities": msg("extracted facts instead of the history"),
}
_WRITABLE = {
    key_of(name): name
    for name, one in SETTINGS.items()
    if one.key.startswith("compaction.") or (one.choices and not one.key.startswith("approval."))
}
"""The settings that ``/config NAME VALUE`` writes: none that asks you less."""
_LANGUAGES = {"en": msg("English"), "zh": msg("Chinese")}


class SettingCommands:
    """Shows and changes the settings of a session and its screen."""

    def __init__(self, main: "MainScreen", desk: AppSession) -> None:
        self._main, self._desk, self._words, self._notify = main, desk, main.words, main.note

    def model(self, name: str, wanted: str = "") -> None:
        desk = self._desk
        if not name:
            from contextui.tui.dialogs.model import ModelScreen  # noqa: PLC0415  (only for this)

            now, loaded = desk.model_name, desk.load_settings()
            screen = ModelScreen(self._words, loaded, now, desk.sent_tokens, wanted or now)
            self._main.app.push_screen(screen, self._use_model)
            return
        try:
            desk.switch_model(name)
        except NoKeyError as error:
            self._log_in(error.provider, lambda: self._use_model(name))
            return
        self._main.take_changes()
        if warning := getattr(desk.controller.model, "warning", None):
            self._notify(self._words(warning))

    def _use_model(self, name: str | None) -> None:
        if name:
            try:
                self.model(name)
            except ContextUIError as error:
                self._notify(error)

    def login(self, provider: str) -> None:
        names = self.providers()
        if provider not in names:
            raise ContextUIError("Which one? {names}", names=" | ".join(names))

        def entered() -> None:
            text = msg("The key of {provider} is saved. /model chooses a model.")
            self._notify(self._words(text, provider=provider))
            connection = self._desk.load_settings().connection
            is_chosen = self._desk.is_offline and connection.provider.name == provider
            self.model(connection.label.partition(" ")[0] if is_chosen else "", f"{provider}/")

        self._log_in(provider, entered)

    def logout(self, provider: str) -> None:
        """Remove a saved key; a model that has it answers no more."""
        if provider not in (names := self.logins()):
            raise ContextUIError("Which one? {names}", names=" | ".join(names) or "–")
        self._desk.controller.check_idle()
        self._desk.load_settings().credentials.remove(provider)
        self._notify(self._words("The key of {provider} is removed.", provider=provider))
        if self._desk.session.model.startswith(f"{provider}/"):
            self._use_model(OFFLINE)

    def logins(self) -> list[str]:
        credentials = self._desk.load_settings().credentials
        return [name for name in self.providers() if credentials.get(name) is not None]

    def _log_in(self, provider: str, then: Callable[[], object]) -> None:
        from contextui.tui.dialogs.model import LoginScreen  # noqa: PLC0415  (only for this)

        screen = LoginScreen(self._words, self._desk.load_settings(), provider)

        def entered(name: str | None) -> None:
            if name:
                then()

        self._main.app.push_screen(screen, entered)

    def providers(self) -> list[str]:
        servers = self._desk.load_settings().credentials.servers
        return [*(one.name for one in PROVIDERS.values() if one.key_variables), *servers]

    def strategy(self, name: str) -> None:
        strategist, usable = self._desk.controller.strategist, self._usable_strategies()
        if not name:
            message, others = msg("The strategy is {name}. /strategy {others}"), " | ".join(usable)
            raise ContextUIError(message, name=strategist.strategy.name, others=others)
        if name in strategy_names() and name not in usable:
            message = msg("{name} needs a model that can extract facts. Connect one with /model.")
            raise ContextUIError(message, name=name)
        self._desk.switch_strategy(name)
        self._notify(
            self._words(
                "The strategy is {name} until you quit; to keep it, add to config.toml: {line}",
                name=strategist.strategy.name,
                line=f'strategy = "{name}"',
            )
        )

    def config(self, typed: str) -> None:
        name, _, value = typed.partition(" ")
        names = {key_of(name): name for name in SETTINGS} | {"theme": "theme"}
        if not name or (name in names and not value):
            self._open_settings(names.get(name, ""))
        elif name == "theme":
            self.theme(value)
        elif name in _WRITABLE:
            self._write_setting(_WRITABLE[name], value)
        elif name in names:
            message = msg("To change {name}, type /config {name} and enter the value there.")
            raise ContextUIError(message, name=name)
        else:
            message = msg("{name} is not one of {names}.")
            raise ContextUIError(message, name=quote(name), names=", ".join(_WRITABLE))

    def _open_settings(self, at: str) -> None:
        from contextui.tui.dialogs.config import ConfigScreen  # noqa: PLC0415  (only for this)

        load, home = self._desk.load_settings, self._desk.session.path.parents[2]
        now, themes = self._in_force, self.themes()
        screen = ConfigScreen(
            self._words, load, home, self._apply, in_force=now, themes=themes, at=at
        )
        self._main.app.push_screen(screen)

    def _write_setting(self, name: str, value: str) -> None:
        from contextui.config.writer import write_setting  # noqa: PLC0415  (only for this)
        from contextui.tui.dialogs.config import result_text  # noqa: PLC0415

        chosen = write_setting(self._desk.session.path.parents[2], name, value)
        loaded = self._desk.load_settings()
        self._notify(result_text(self._words, loaded, name, chosen, self._apply))

    def _apply(self, field: str, value: Any) -> bool:
        """Apply a setting to the running session; return whether it can be."""
        controller = self._desk.controller
        if field == "windows_lod":
            self._desk.session.windows.lod = Lod(value.capitalize())
        elif field == "compaction_auto":
            controller.strategist.auto_compact = value
        elif field == "compaction_threshold":
            controller.compaction.threshold = value
        elif field == "approval":
            controller.tools.gate.mode = value
        elif field == "theme":
            self.theme(value)
        else:
            return False
        return True

    def _in_force(self) -> dict[str, Any]:
        """Return the settings that can differ from the configured ones, as they are now."""
        controller = self._desk.controller
        return {
            "model": self._desk.model_name,
            "windows_lod": self._desk.session.windows.lod.value.lower(),
            "compaction_auto": controller.strategist.auto_compact,
            "compaction_threshold": controller.compaction.threshold,
            "approval": controller.tools.gate.mode,
            "theme": self._main.app.theme,
        }

    def approval(self, mode: str) -> None:
        modes: tuple[Approval, ...] = get_args(Approval)
        if (chosen := next((one for one in modes if one == mode), None)) is None:
            message = msg("{name} is not one of {names}.") if mode else msg("Which one? {names}")
            raise ContextUIError(message, name=quote(mode), names=", ".join(modes))
        self._desk.controller.tools.gate.mode = chosen
        self._notify(self._words("Approval: {mode}.", mode=self._words(MODES[chosen])))

    def theme(self, name: str) -> None:
        """Select a color theme; one of our own also by its last word, such as light."""
        name = next((one.name for one in THEMES if one.name == f"contextui-{name}"), name)
        if name not in self._main.app.available_themes:
            message = (
                msg("There is no theme {name}. Try {names}.") if name else msg("Which one? {names}")
            )
            raise ContextUIError(message, name=quote(name), names=", ".join(self.themes()))
        self._main.app.theme = name
        self._notify(self._words("The theme is {name}.", name=name))
        with suppress(ContextUIError):  # without a home, nothing is remembered
            Preferences.of_person().put(REMEMBERED, name)

    def models(self) -> list[Choice]:
        known = _MODELS | {self._desk.model_name: msg("current")}
        return [Choice(name, self._words(about)) for name, about in known.items()]

    def strategies(self) -> list[Choice]:
        usable = self._usable_strategies()
        return [Choice(name, self._words(_STRATEGIES.get(name, ""))) for name in usable]

    def _usable_strategies(self) -> list[str]:
        """Return the strategies that can work: the offline model cannot extract facts."""
        controller = self._desk.controller
        is_offline = isinstance(controller.strategist.model or controller.model, OfflineModel)
        return [name for name in strategy_names() if not (is_offline and name == "entities")]

    def settings(self) -> list[Choice]:
        abouts = {key_of(name): one.description for name, one in SETTINGS.items()}
        abouts[REMEMBERED] = ABOUT
        return [Choice(name, self._words(about), "VALUE") for name, about in abouts.items()]

    def modes(self) -> list[Choice]:
        return [Choice(mode, self._words(MODES[mode])) for mode in get_args(Approval)]

    def languages(self) -> list[Choice]:
        return [Choice(name, self._words(about)) for name, about in _LANGUAGES.items()]

    def themes(self) -> list[str]:
        own = [one.name for one in THEMES]
        return own + sorted(self._main.app.available_themes.keys() - set(own))

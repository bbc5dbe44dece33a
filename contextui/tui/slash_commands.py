"""The slash commands of the main screen and their completions."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from textual.app import App

from contextui.agent.models.factory import NoKeyError
from contextui.agent.models.offline import OfflineModel
from contextui.config.providers import PROVIDERS
from contextui.config.schema import SETTINGS, Approval
from contextui.config.settings import TABLES, SettingsError, allowed, key_of
from contextui.config.sources import Layer
from contextui.context.strategies.registry import strategy_names
from contextui.errors import ContextUIError, InvalidParamsError
from contextui.session.memory import Memory
from contextui.text import one_line, quote, shown_name, shown_path
from contextui.tui.app_session import AppSession
from contextui.tui.commands import (
    Choice,
    Command,
    Commands,
    arguments,
    needs,
    path_typed,
    required,
    takes,
)
from contextui.tui.conversation.input import Sender
from contextui.tui.conversation.prompt import MODES
from contextui.tui.dialogs.compact import CompactScreen
from contextui.tui.themes import REMEMBERED, THEMES
from contextui.windowing.finding.reload import Reloader
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import Lod
from contextui.windowing.window import Window, opening_text
from contextui.windowing.worker import in_daemon_thread
from contextui.words import Words, msg

if TYPE_CHECKING:
    from contextui.tui.dialogs.config import OwnSetting

_COMPARED, _NAMED = 100, 5  # files with a similar name: compared, and named in an error
_ABOUT = 200  # maximum length of a window description
_SENTENCE = re.compile(r".*?(?:。|\.(?=\s|$))")
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
_CONFIGURABLE = {
    key_of(name): name for name in ("windows_lod", "compaction_auto", "compaction_threshold")
}
_WRITABLE = {
    key_of(name): name
    for name, one in SETTINGS.items()
    if one.choices and name not in TABLES["approval"].values()
}
"""The settings that ``/config NAME VALUE`` writes: only choices, and none that asks you less."""
_COLORS = msg("the colors of the screen")
_LANGUAGES = {"en": msg("English"), "zh": msg("Chinese")}
Notify = Callable[[str], object]


class Menu:
    """Runs slash commands on a session and its screen.

    Args:
        app: The app.
        desk: The session.
        words: Translates into the person's locale.
        sender: Starts and stops turns.
        notify: Shows a message to the person.
    """

    def __init__(
        self, app: App[int], desk: AppSession, words: Words, sender: Sender, notify: Notify
    ) -> None:
        self._app, self._desk, self._words, self._notify = app, desk, words, notify
        self._sender = sender
        self._windows = desk.session.windows
        self.with_number: Callable[[str, str], str] = lambda text, _: text
        """Adds to a message which key leads to a window."""
        self.show_window: Callable[[str], object] = lambda _: None
        """Moves the focus to a window."""
        self._warned = ("", "")  # the window that was not closed, and its unsaved data

    def commands(self, others: Iterable[Command] = ()) -> Commands:
        """Return all commands, including those that the screen adds."""
        return Commands(
            [
                Command("open", "open a window", self.open, "NAME", ("o",), self._openable,
                        needs_choice=True),
                Command("close", "close a window", self.close, "ID",
                        choices=self._closable, needs_choice=True),
                Command("goto", "go to a window", self.goto, "ID",
                        choices=self._closable, needs_choice=True),
                Command("model", "switch the model", self.model, "NAME", ("m",), self._models),
                Command("login", "enter an API key", self.login, "PROVIDER",
                        choices=lambda: map(Choice, self._providers()), needs_choice=True),
                Command("strategy", "how a long conversation is shortened", self.strategy,
                        "NAME", choices=self._strategies),
                Command("approval", "when to ask before writing files", self.approval, "MODE",
                        choices=lambda: [Choice(o, self._mode(o)) for o in get_args(Approval)],
                        needs_choice=True),
                Command("config", "change settings", self.config,
                        "NAME", choices=self._settings),
                Command("theme", "change the theme", self.theme, "NAME",
                        choices=lambda: map(Choice, self._themes()), needs_choice=True),
                Command("lang", "change the language", self.lang, "NAME",
                        choices=lambda: [Choice(o, self._words(_LANGUAGES[o])) for o in _LANGUAGES],
                        needs_choice=True),
                Command("quit", "quit; the session is saved", self.quit, aliases=("q",)),
                Command("compact", "replace older messages with a summary",
                        self.compact, aliases=("c",)),
                Command("stop", "stop the current turn", self.stop),
                Command("reload", "load changed window files, state kept", self.reload),
                Command("trust", "allow the folder's code",
                        self.trust),
                *others,
            ]
        )  # fmt: skip

    def open(self, typed: str) -> None:
        """Open a window by name, with the arguments typed after it."""
        name, _, rest = typed.partition(" ")
        if not name:
            raise self._error("Which one? {names}", names=" | ".join(self._names()))
        reloader = self._desk.reloader
        if reloader is not None and reloader.is_changed(name):
            self._app.run_worker(self._open_changed(reloader, name, rest), name="reload")
        elif name in self._windows.classes or not self._has_files:
            self._open(name, rest)
        else:
            self._app.run_worker(self._open_file(typed), name="open")

    def _open(self, name: str, rest: str) -> None:
        cls = self._windows.classes.get(name)
        given = self._given(cls, rest) if cls is not None else {}
        window = self._windows.open(name, **given)
        self._notify(self.with_number(opening_text(window, self._words), window.id))

    @property
    def _has_files(self) -> bool:
        return self._windows.workspace is not None and "editor" in self._windows.classes

    async def _open_file(self, typed: str) -> None:
        """Open a file that was typed instead of a window; if there is none, name similar ones."""
        try:
            path = arguments(typed, self._windows.classes["editor"].opening).get("path", "")
            found = await in_daemon_thread(lambda: self._files_called(path))
            if found == [path]:
                self._open("editor", typed)
            elif found:
                message = msg(
                    "No window or file is called {name}. Files with that in their name: {files}. "
                    "ctrl+p opens files."
                )
                files = ", ".join(map(shown_name, found))
                raise self._error(message, name=quote(path), files=files)
            else:
                self._open(typed.partition(" ")[0], "")
        except ContextUIError as error:
            self._sender.show_failed(f"/open {typed}", error)

    def _files_called(self, path: str) -> list[str]:
        """Return the path itself if it is a file; else the files with that in their name."""
        from contextui.files.index import PathIndex  # noqa: PLC0415  (heavy: the files)

        workspace, word = self._windows.workspace, path.casefold()
        assert workspace is not None
        if not word or workspace.exists(path):
            return [path]
        index = PathIndex.of(workspace)
        index.refresh(only_if_stale=True)
        found = [one.path for one in index.match(path, _COMPARED)]
        return [one for one in found if word in one.rpartition("/")[2].casefold()][:_NAMED]

    async def _open_changed(self, reloader: Reloader, name: str, rest: str) -> None:
        """Open a window whose file has changed: with the new code, if no other one has the old."""
        path = reloader.file_of(name)
        names = reloader.names_in(path) if path is not None else []
        is_open = any(one.name in names for one in self._windows.windows())
        try:
            if is_open:
                self._open(name, rest)
                file = shown_path(path) if path is not None else name
                message = msg("{file} has changed: /reload uses the new code.")
                self._notify(self._words(message, file=file))
            else:
                await self._reload(reloader)
                self._open(name, rest)
        except ContextUIError as error:
            self._notify(self._words(error))

    def reload(self, _: str) -> None:
        """Load the window files that have changed; open windows keep their state."""
        reloader = self._desk.reloader
        if reloader is None:
            raise self._error("Nothing can be reloaded here.")
        self._app.run_worker(self._reload(reloader), name="reload")

    async def _reload(self, reloader: Reloader) -> None:
        for window in self._windows.windows():
            await runtime_of(window).commit_typed()
        report = await in_daemon_thread(reloader.reload)
        self._desk.entries = reloader.registry.entries
        for text in report.lines(self._words):
            self._notify(text)

    def trust(self, _: str) -> None:
        """Show the windows and servers that the folder brings, and allow them if wanted."""
        self._app.run_worker(self._trust(), name="trust")

    async def _trust(self) -> None:
        from contextui.tui.dialogs.trust import (  # noqa: PLC0415  (only for this)
            FolderCode,
            TrustScreen,
        )

        session, words = self._desk.session, self._words
        home, folder = session.path.parents[2], Path(session.cwd)
        try:
            code = await in_daemon_thread(lambda: FolderCode.read(home, folder))
            if not code.reviews:
                self._notify(words("This folder brings nothing that is not trusted."))
            elif await self._app.push_screen_wait(TrustScreen(words, code)):
                await in_daemon_thread(lambda: code.trust(home))
                self._notify(words("Trusted. You will be asked again when a file changes."))
                if self._desk.reloader is not None:
                    await self._reload(self._desk.reloader)
        except ContextUIError as error:
            self._notify(words(error))

    def _given(self, cls: type[Window], typed: str) -> dict[str, Any]:
        """Parse and validate a window's arguments; errors include the usage."""
        how = f"/open {cls.name} {takes(cls.opening)}"
        if typed.strip() and not cls.opening.listing:
            raise self._error("{name} takes no arguments. Type: /open {name}", name=cls.name)
        given = arguments(typed, cls.opening)
        if missing := [one for one in required(cls.opening) if one not in given]:
            message = msg("{name} needs {params}. Type: {how}")
            raise self._error(message, name=cls.name, params=", ".join(missing), how=how)
        try:
            cls.opening.validate(given, cls.name, self._words.lang)
        except InvalidParamsError as error:
            raise self._error("{problem}. Type: {how}", problem=error, how=how) from error
        return given

    def close(self, window_id: str) -> None:
        """Close a window; one with unsaved data only when the command is repeated."""
        there = self._open_ids()
        if not window_id and len(there) != 1:
            message = msg("Which one? {names}") if there else msg("No window is open.")
            raise self._error(message, names=" | ".join(there))
        window_id = window_id or there[0]
        window = self._windows.get(window_id)
        lost = runtime_of(window).renders.at().unsaved if window is not None else ""
        warned, self._warned = self._warned, (window_id, lost)
        if lost and warned != self._warned:
            raise self._error("Unsaved: {what}. Enter again to close.", what=lost)
        self._windows.close(window_id, actor="person")
        self._notify(self._words("Closed {window}. /undo reopens it.", window=window_id))

    def goto(self, window_id: str) -> None:
        """Move the focus to a window."""
        there = self._open_ids()
        if window_id not in there:
            message = msg("Which one? {names}") if there else msg("No window is open.")
            raise self._error(message, names=" | ".join(there))
        self.show_window(window_id)

    def model(self, name: str) -> None:
        """Connect another model, or show all of them."""
        if self._desk.settings is not None and not name:
            from contextui.tui.dialogs.model import ModelScreen  # noqa: PLC0415  (only for this)

            controller, context, sent = self._desk.controller, self._desk.session.context, 0
            if self._desk.has_messages:
                sent = context.counter.calibrated(controller.request_of(context.outlook()).tokens)
            name = controller.model.name
            screen = ModelScreen(self._words, self._desk.settings(), name, sent)
            self._app.push_screen(screen, self._use_model)
            return
        if self._desk.switch_model is None or not name:
            current = self._desk.controller.model.name
            message = msg("The model is {model}. /model NAME to switch.")
            raise self._error(message, model=current)
        try:
            self._desk.switch_model(name)
        except NoKeyError as error:
            if self._desk.settings is None:
                raise
            self._log_in(error.provider, lambda: self._use_model(name))
            return
        model = self._desk.controller.model
        self._notify(self._words("Switched to {model}.", model=model.name))
        if warning := getattr(model, "warning", None):
            self._notify(self._words(warning))

    def _use_model(self, name: str | None) -> None:
        """Connect the model that was chosen; an error is a notification."""
        if name:
            try:
                self.model(name)
            except ContextUIError as error:
                self._notify(self._words(error))

    def login(self, provider: str) -> None:
        """Enter the API key of a provider."""
        if self._desk.settings is None:
            raise self._error("No key can be entered here.")
        names = self._providers()
        if provider not in names:
            raise self._error("Which one? {names}", names=" | ".join(names))

        def entered() -> None:
            text = msg("The key of {provider} is saved. /model chooses a model.")
            self._notify(self._words(text, provider=provider))
            self.model("")

        self._log_in(provider, entered)

    def _log_in(self, provider: str, then: Callable[[], object]) -> None:
        from contextui.tui.dialogs.model import LoginScreen  # noqa: PLC0415  (only for this)

        assert self._desk.settings is not None
        screen = LoginScreen(self._words, self._desk.settings(), provider)

        def entered(done: bool | None) -> None:
            if done:
                then()

        self._app.push_screen(screen, entered)

    def _providers(self) -> list[str]:
        """Return the providers that have keys."""
        servers = self._desk.settings().credentials.servers if self._desk.settings else {}
        return [*(one.name for one in PROVIDERS.values() if one.key_variables), *servers]

    def strategy(self, name: str) -> None:
        """Select the strategy that shortens long conversations."""
        strategist = self._desk.controller.strategist
        if self._desk.switch_strategy is None or not name:
            others = " | ".join(self._usable_strategies())
            raise self._error(
                "The strategy is {name}. /strategy {others}",
                name=strategist.strategy.name,
                others=others,
            )
        if name in strategy_names() and name not in self._usable_strategies():
            message = msg("{name} needs a model that can extract facts. Connect one with /model.")
            raise self._error(message, name=name)
        self._desk.switch_strategy(name)
        self._notify(
            self._words(
                "The strategy is {name} until you quit; to keep it, add to config.toml: {line}",
                name=strategist.strategy.name,
                line=f'strategy = "{name}"',
            )
        )

    def config(self, typed: str) -> None:
        """Show the settings, or change one."""
        name, _, value = typed.partition(" ")
        known = self._configured()
        if self._desk.load_settings is not None:
            names = self._setting_names()
            if not name or (name in names and not value):
                self._open_settings(names.get(name, ""))
                return
            if name == "theme":
                self.theme(value)
                return
            if name in _WRITABLE and name not in known:
                self._write_setting(_WRITABLE[name], value)
                return
        if not name:
            listed = ", ".join(f"{key} = {shown}" for key, shown in known.items())
            self._notify(self._words("{settings}. Type: /config NAME VALUE", settings=listed))
            return
        if name not in known:
            if self._desk.load_settings is not None and name in self._setting_names():
                message = msg("To change {name}, type /config {name} and enter the value there.")
                raise self._error(message, name=name)
            message = msg("{name} is not one of {names}.")
            raise self._error(message, name=quote(name), names=", ".join(known))
        field = _CONFIGURABLE[name]
        value = value.strip()
        try:
            chosen = Layer({field: value}, {field: name}).checked()[field]
        except SettingsError:
            message = "{name} is {value}: it must be {allowed}."
            wanted = self._words(allowed(field))
            raise self._error(message, name=name, value=quote(value), allowed=wanted) from None
        self._apply(field, chosen)
        table, _, key = name.partition(".")
        written = f'"{chosen}"' if isinstance(chosen, str) else str(chosen).lower()
        self._notify(
            self._words(
                "{name} is {value} until you quit; to keep it, add to config.toml: {line}",
                name=name,
                value=str(chosen).lower(),
                line=f"[{table}] {key} = {written}",
            )
        )

    def _setting_names(self) -> dict[str, str]:
        """Return all settings by their names in the config file, and those of the screen."""
        return {key_of(name): name for name in SETTINGS} | {"theme": "theme"}

    def _open_settings(self, at: str) -> None:
        from contextui.tui.dialogs.config import ConfigScreen  # noqa: PLC0415  (only for this)

        load, home = self._desk.load_settings, self._desk.session.path.parents[2]
        assert load is not None
        own = {"theme": self._theme_setting()}
        screen = ConfigScreen(self._words, load, home, self._apply, self._in_force, own=own, at=at)
        self._app.push_screen(screen)

    def _write_setting(self, name: str, value: str) -> None:
        """Write a setting into the user's config file, as the dialog does."""
        from contextui.config.writer import write_setting  # noqa: PLC0415  (only for this)
        from contextui.tui.dialogs.config import result_text  # noqa: PLC0415

        load, home = self._desk.load_settings, self._desk.session.path.parents[2]
        assert load is not None
        chosen = write_setting(home, name, value)
        self._notify(result_text(self._words, load(), name, chosen, self._apply))

    def _apply(self, field: str, value: Any) -> bool:
        """Apply a setting to the running session; return whether it can be."""
        controller = self._desk.controller
        if field == "windows_lod":
            self._windows.lod = Lod(value.capitalize())
        elif field == "compaction_auto":
            controller.auto_compact = value
        elif field == "compaction_threshold":
            controller.compaction.threshold = value
        elif field == "approval":
            controller.tools.gate.mode = value
        else:
            return False
        return True

    def _in_force(self) -> dict[str, Any]:
        """Return the settings that can differ from the configured ones, as they are now."""
        controller = self._desk.controller
        is_offline = isinstance(controller.model, OfflineModel)
        return {
            "model": "offline" if is_offline else controller.model.name,
            "windows_lod": self._windows.lod.value.lower(),
            "compaction_auto": controller.auto_compact,
            "compaction_threshold": controller.compaction.threshold,
            "approval": controller.tools.gate.mode,
        }

    def _configured(self) -> dict[str, str]:
        """Return the settings that ``/config NAME VALUE`` changes, with their values."""
        now = self._in_force()
        return {
            "windows.lod": now["windows_lod"],
            "compaction.auto": "true" if now["compaction_auto"] else "false",
            "compaction.threshold": f"{now['compaction_threshold']:g}",
        }

    def approval(self, mode: str) -> None:
        """Select when to ask before writing files."""
        gate, modes = self._desk.controller.tools.gate, get_args(Approval)
        for known in modes:
            if known == mode:
                gate.mode = known
                self._notify(self._words("Approval: {mode}.", mode=self._mode(mode)))
                return
        message = msg("{name} is not one of {names}.") if mode else msg("Which one? {names}")
        raise self._error(message, name=quote(mode), names=", ".join(modes))

    def theme(self, name: str) -> None:
        """Select a color theme; one of our own also by its last word, such as light."""
        name = next((one.name for one in THEMES if one.name == f"contextui-{name}"), name)
        if name not in self._app.available_themes:
            message = (
                msg("There is no theme {name}. Try {names}.") if name else msg("Which one? {names}")
            )
            raise self._error(message, name=quote(name), names=", ".join(self._themes()))
        self._app.theme = name
        self._notify(self._words("The theme is {name}.", name=name))
        with suppress(ContextUIError):  # without a home, nothing is remembered
            Memory.of_person().put(REMEMBERED, name)

    def lang(self, name: str) -> None:
        """Choose the language, from the next start."""
        if name not in _LANGUAGES or self._desk.load_settings is None:
            raise self._error("Which one? {names}", names=" | ".join(_LANGUAGES))
        self._write_setting("lang", name)

    def _theme_setting(self) -> "OwnSetting":
        from contextui.tui.dialogs.config import OwnSetting  # noqa: PLC0415  (only for this)

        return OwnSetting(_COLORS, self._themes(), lambda: self._app.theme, self.theme)

    def quit(self, _: str) -> None:
        """Quit."""
        self._app.call_later(self._app.action_quit)

    def compact(self, _: str) -> None:
        """Preview the compaction; run it if the person confirms."""
        controller, calls = self._desk.controller, self._desk.session.context.calls
        controller.check_idle()
        screen = CompactScreen(self._words, controller.compaction.check(), calls)
        self._app.push_screen(screen, self._sender.compact)

    def stop(self, _: str) -> None:
        """Stop the current turn."""
        if not self._sender.stop():
            raise self._error("Nothing is running.")

    def _error(self, message: str, **values: object) -> ContextUIError:
        return ContextUIError(self._words(message, **values))

    def _openable(self) -> list[Choice]:
        classes = (self._windows.classes[name] for name in self._names())
        return [
            Choice(
                cls.name,
                _first_sentence(cls.described(self._words.lang)),
                takes(cls.opening),
                needs(cls.opening),
                partial(path_typed, cls.opening),
            )
            for cls in classes
        ]

    def _closable(self) -> list[Choice]:
        windows = self._windows.windows()
        gists = (runtime_of(one).renders.at(Lod.GIST).snapshot.content for one in windows)
        return [
            Choice(one.id, gist.partition("\n")[0])
            for one, gist in zip(windows, gists, strict=True)
        ]

    def _models(self) -> list[Choice]:
        """Return common models, the current one marked; any other name can be typed."""
        known = _MODELS | {self._desk.controller.model.name: msg("current")}
        return [Choice(name, self._words(about)) for name, about in known.items()]

    def _strategies(self) -> list[Choice]:
        usable = self._usable_strategies()
        return [Choice(name, self._words(_STRATEGIES.get(name, ""))) for name in usable]

    def _usable_strategies(self) -> list[str]:
        """Return the strategies that can work: the offline model cannot extract facts."""
        controller = self._desk.controller
        is_offline = isinstance(controller.strategist.model or controller.model, OfflineModel)
        return [name for name in strategy_names() if not (is_offline and name == "entities")]

    def _settings(self) -> list[Choice]:
        words = self._words
        if self._desk.load_settings is None:
            return [
                Choice(name, words("now {value}", value=value), "VALUE", "VALUE")
                for name, value in self._configured().items()
            ]
        abouts = {key_of(name): one.description for name, one in SETTINGS.items()}
        abouts["theme"] = _COLORS
        return [Choice(name, words(about), "VALUE") for name, about in abouts.items()]

    def _mode(self, mode: str) -> str:
        return self._words(MODES[mode])

    def _names(self) -> list[str]:
        return sorted(self._windows.classes)

    def _open_ids(self) -> list[str]:
        return [window.id for window in self._windows.windows()]

    def _themes(self) -> list[str]:
        own = [one.name for one in THEMES]
        return own + sorted(self._app.available_themes.keys() - set(own))


def _first_sentence(description: str) -> str:
    """Return the first sentence of a window's description; the rest is for the model."""
    line = one_line(description, _ABOUT)
    sentence = _SENTENCE.match(line)
    return sentence[0] if sentence else line

"""The slash commands of the main screen and their completions."""

import re
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast, get_args

from textual.app import App

from contextui.config.schema import Approval
from contextui.config.settings import SettingsError, allowed, key_of
from contextui.config.sources import Layer
from contextui.context.strategies.registry import strategy_names
from contextui.errors import ContextUIError, InvalidParamsError
from contextui.session.export import Format, export_to
from contextui.text import one_line, quote, shown_path
from contextui.tui.commands import Choice, Command, Commands, arguments, needs, required, takes
from contextui.tui.conversation.input import Sender
from contextui.tui.conversation.prompt import MODES
from contextui.tui.dialogs.compact import CompactScreen
from contextui.tui.inspector.history import view_of
from contextui.tui.link import Desk
from contextui.tui.themes import THEMES
from contextui.windowing.finding.reload import Reloader
from contextui.windowing.host import commit_input, current_render
from contextui.windowing.snapshot import Lod
from contextui.windowing.trouble import reason_of
from contextui.windowing.window import Window
from contextui.windowing.worker import in_daemon_thread
from contextui.words import Words, msg

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
_ALL = "all"
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
        self, app: App[int], desk: Desk, words: Words, sender: Sender, notify: Notify
    ) -> None:
        self._app, self._desk, self._words, self._notify = app, desk, words, notify
        self._sender = sender
        self._windows = desk.session.windows
        self._warned = ("", "")  # the window that was not closed, and its unsaved data

    def commands(self, others: Iterable[Command] = ()) -> Commands:
        """Return all commands, including those that the screen adds."""
        return Commands(
            [
                Command("open", "open a window", self.open, "NAME", "o", self._openable),
                Command("close", "close a window", self.close, "ID",
                        choices=lambda: map(Choice, self._open_ids())),
                Command("undo", "undo the last change to the context", self.undo, alias="u"),
                Command("model", "switch the model", self.model, "NAME", "m", self._models),
                Command("strategy", "choose how a long conversation is shortened", self.strategy,
                        "NAME", choices=self._strategies),
                Command("approval", "when to ask before writing", self.approval, "MODE",
                        choices=lambda: [Choice(o, self._mode(o)) for o in get_args(Approval)]),
                Command("config", "show or change settings for this session", self.config,
                        "NAME", choices=self._settings),
                Command("export", "write the conversation to a file", self.export, "FORMAT",
                        choices=self._exports),
                Command("theme", "change the theme", self.theme, "NAME",
                        choices=lambda: map(Choice, self._themes())),
                Command("quit", "quit; the session is saved", self.quit, alias="q"),
                Command("compact", "replace older messages with a summary",
                        self.compact, alias="c"),
                Command("stop", "stop the current turn", self.stop),
                Command("reload", "load changed window files, state kept", self.reload),
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
        else:
            self._open(name, rest)

    def _open(self, name: str, rest: str) -> None:
        cls = self._windows.classes.get(name)
        given = self._given(cls, rest) if cls is not None else {}
        window = self._windows.open(name, **given)
        number = self._open_ids().index(window.id) + 1
        message = (
            msg("Opened {window}. ctrl+g {number} goes there.")
            if number < 10
            else msg("Opened {window}.")
        )
        self._notify(self._words(message, window=window.id, number=number))

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
            await commit_input(window)
        report = await in_daemon_thread(reloader.reload)
        self._desk.entries = reloader.registry.entries
        for text in report.lines(self._words):
            self._notify(text)

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
        lost = current_render(window).unsaved if window is not None else ""
        warned, self._warned = self._warned, (window_id, lost)
        if lost and warned != self._warned:
            raise self._error("Unsaved: {what}. Enter again to close.", what=lost)
        self._windows.close(window_id, actor="person")
        message = msg("Closed {window}. Discarded: {what}.") if lost else msg("Closed {window}.")
        self._notify(self._words(message, window=window_id, what=lost))

    def undo(self, _: str) -> None:
        """Undo the last change to the context."""
        items = self._desk.session.context.undo()
        if not items:
            raise self._error("Nothing to undo.")
        message = ", ".join(f"{item.seq:04}" for item in items)
        self._notify(self._words("Undone: {items}.", items=message))

    def model(self, name: str) -> None:
        """Connect another model."""
        if self._desk.switch_model is None or not name:
            current = self._desk.controller.model.name
            message = msg("The model is {model}. /model NAME to switch.")
            raise self._error(message, model=current)
        self._desk.switch_model(name)
        name = self._desk.controller.model.name
        self._notify(self._words("Switched to {model}.", model=name))

    def strategy(self, name: str) -> None:
        """Select the strategy that shortens long conversations."""
        strategist = self._desk.controller.strategist
        if self._desk.switch_strategy is None or not name:
            others = " | ".join(strategy_names())
            raise self._error(
                "The strategy is {name}. /strategy {others}",
                name=strategist.strategy.name,
                others=others,
            )
        self._desk.switch_strategy(name)
        self._notify(
            self._words(
                "The strategy is {name} until you quit; to keep it, add to config.toml: {line}",
                name=strategist.strategy.name,
                line=f'strategy = "{name}"',
            )
        )

    def config(self, typed: str) -> None:
        """Show the settings that can be changed at run time, or change one."""
        name, _, value = typed.partition(" ")
        known = self._configured()
        if not name:
            listed = ", ".join(f"{key} = {shown}" for key, shown in known.items())
            self._notify(self._words("{settings}. Type: /config NAME VALUE", settings=listed))
            return
        if name not in known:
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
        controller = self._desk.controller
        if field == "windows_lod":
            self._windows.lod = Lod(chosen.capitalize())
        elif field == "compaction_auto":
            controller.auto_compact = chosen
        else:
            controller.compaction.threshold = chosen
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

    def _configured(self) -> dict[str, str]:
        """Return the settings that can be changed at run time, with their values."""
        controller = self._desk.controller
        return {
            "windows.lod": self._windows.lod.value.lower(),
            "compaction.auto": "true" if controller.auto_compact else "false",
            "compaction.threshold": f"{controller.compaction.threshold:g}",
        }

    def export(self, typed: str) -> None:
        """Write the conversation to a new file in the session's folder."""
        form, _, rest = typed.partition(" ")
        if form not in get_args(Format) or rest.strip() not in ("", _ALL):
            raise self._error("Which one? {names}", names=f"md | md {_ALL} | json")
        session, folder = self._desk.session, Path(self._desk.session.cwd)

        def write() -> None:
            try:
                view = view_of(session, whole=True)
                try:
                    view.windows.settle_now()
                    written = export_to(view, folder, cast("Format", form),
                                        include_obsolete=rest.strip() == _ALL)  # fmt: skip
                finally:
                    view.close()
            except Exception as error:  # any problem with the log or the disk is reported
                message = self._words(
                    "Not exported: {reason}",
                    reason=error if isinstance(error, ContextUIError) else reason_of(error),
                )
            else:
                message = self._words("Written to {file}.", file=shown_path(written))
            with suppress(RuntimeError):  # the app may have quit
                self._app.call_from_thread(self._notify, message)

        # Reading a long log takes time; a daemon thread does not delay quitting.
        threading.Thread(target=write, name="export", daemon=True).start()

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
        """Select a color theme."""
        if name not in self._app.available_themes:
            message = (
                msg("There is no theme {name}. Try {names}.") if name else msg("Which one? {names}")
            )
            raise self._error(message, name=quote(name), names=", ".join(self._themes()))
        self._app.theme = name

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
        self._sender.stop()

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
            )
            for cls in classes
        ]

    def _models(self) -> list[Choice]:
        """Return common models, the current one marked; any other name can be typed."""
        known = _MODELS | {self._desk.controller.model.name: msg("current")}
        return [Choice(name, self._words(about)) for name, about in known.items()]

    def _strategies(self) -> list[Choice]:
        return [Choice(name, self._words(_STRATEGIES.get(name, ""))) for name in strategy_names()]

    def _settings(self) -> list[Choice]:
        return [
            Choice(name, self._words("now {value}", value=value), "VALUE", "VALUE")
            for name, value in self._configured().items()
        ]

    def _exports(self) -> list[Choice]:
        return [
            Choice("md", self._words("Markdown: what the model reads")),
            Choice(f"md {_ALL}", self._words("Markdown: including closed and hidden items")),
            Choice("json", self._words("everything, for programs")),
        ]

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

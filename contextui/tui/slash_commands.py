"""The slash commands: all of them, and what those about windows and the conversation do."""

import re
import shlex
from collections.abc import Iterable
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any

from contextui.errors import ContextUIError, InvalidParamsError
from contextui.text import one_line, quote, shown_name, shown_path
from contextui.tui.app_session import AppSession
from contextui.tui.commands import Choice, Command, Commands, arguments, needs, path_typed, takes
from contextui.tui.dialogs.compact import CompactScreen
from contextui.tui.dialogs.help import HelpScreen
from contextui.tui.keys import focus_of
from contextui.tui.main import MainScreen
from contextui.tui.rewind import Rewinder
from contextui.tui.sessions import SessionCommands
from contextui.tui.setting_commands import SettingCommands
from contextui.tui.switch import Switcher
from contextui.tui.undo import Undo
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import Lod
from contextui.windowing.window import Window, opening_text
from contextui.windowing.worker import in_daemon_thread
from contextui.words import msg

_COMPARED, _NAMED = 100, 5  # files with a similar name: compared, and named in an error
_ABOUT = 200  # maximum length of a window description
_SENTENCE = re.compile(r".*?(?:。|\.(?=\s|$))")
_PROMPT = "prompt"  # the action of the windows that offer prompts


def all_commands(main: MainScreen, desk: AppSession, switcher: Switcher) -> Commands:
    """Return the slash commands for a session."""
    app, words = main.app, main.words
    windows, settings = WindowCommands(main, desk), SettingCommands(main, desk)
    sessions, rewinder = SessionCommands(main, switcher, desk), Rewinder(main, switcher, desk)
    undo = Undo(main, desk, rewinder)
    main.undo_rewind = rewinder.undo

    def compact(_: str) -> None:
        controller = desk.controller
        controller.check_idle()
        screen = CompactScreen(words, controller.compaction.check(), desk.session.context.calls)
        app.push_screen(screen, main.compact)

    def stop(_: str) -> None:
        if not main.stop(is_wanted=True):
            raise ContextUIError("Nothing is running.")

    def find(text: str) -> None:
        main.find(text) if text else main.action_find()

    return Commands(
        [
            # windows
            Command("open", "open a window", windows.open, "NAME", ("o",), windows.openable,
                    needs_choice=True),
            Command("close", "close a window", windows.close, "ID",
                    choices=windows.closable, needs_choice=True),
            Command("reopen", "open a closed window again, as it was", undo.reopen, "ID",
                    choices=lambda: starmap(Choice, desk.session.windows.closed_titles.items())),
            Command("goto", "go to a window", windows.goto, "ID",
                    choices=windows.closable, needs_choice=True),
            Command("find", "search in all files", find, "TEXT", ("grep", "search")),
            Command("reload", "load changed window files, state kept",
                    lambda _: app.run_worker(windows.reload(), name="reload")),
            Command("trust", "allow the folder's code",
                    lambda _: app.run_worker(windows.trust(), name="trust")),
            # the conversation
            Command("stop", "stop what is running", stop),
            Command("copy", "copy the last answer", lambda _: main.conversation.action_copy()),
            Command("compact", "replace older messages with a summary", compact, aliases=("c",)),
            Command("undo", "undo the last change, closed window or rewind", undo.undo,
                    aliases=("u",)),
            Command("rewind", "go back to an earlier turn, files too", rewinder.start, "TURN"),
            Command("prompt", "write a message with a server's prompt", windows.prompt,
                    "server.name …", choices=windows.prompts),
            # sessions
            Command("new", "start a new session; this one is saved",
                    lambda _: switcher.switch(None), aliases=("clear",)),
            Command("sessions", "choose another session", sessions.sessions),
            Command("fork", "continue in a copy; this session stays", sessions.fork, "TURN"),
            Command("export", "write the conversation to a file", sessions.export, "FORMAT",
                    choices=sessions.exports, needs_choice=True),
            Command("cost", "show tokens and cost", sessions.cost),
            # settings
            Command("model", "switch the model", settings.model, "NAME",
                    ("m", "connect", "server"), settings.models),
            Command("login", "connect with an API key", settings.login, "PROVIDER",
                    choices=lambda: map(Choice, settings.providers()), needs_choice=True),
            Command("logout", "remove a saved API key", settings.logout, "PROVIDER",
                    choices=lambda: map(Choice, settings.logins()), needs_choice=True),
            Command("strategy", "how a long conversation is shortened", settings.strategy, "NAME",
                    choices=settings.strategies),
            Command("approval", "when to ask before writing files", settings.approval, "MODE",
                    choices=settings.modes, needs_choice=True),
            Command("config", "change settings", settings.config, "NAME",
                    choices=settings.settings),
            Command("theme", "change the theme", settings.theme, "NAME",
                    choices=lambda: map(Choice, settings.themes()), needs_choice=True),
            Command("lang", "change the language", lambda name: settings.config(f"lang {name}"),
                    "NAME", choices=settings.languages, needs_choice=True),
            # the screen
            Command("inspector", "show or hide the inspector", lambda _: main.action_inspector()),
            Command("zoom", "zoom the current pane", lambda _: main.action_zoom()),
            Command("help", "all keys and commands",
                    lambda _: app.push_screen(HelpScreen(words, main.writing.commands))),
            Command("quit", "quit; the session is saved", lambda _: app.call_later(app.action_quit),
                    aliases=("q",)),
        ]
    )  # fmt: skip


class WindowCommands:
    """Opens, closes and reloads windows, and fetches the prompts that they offer."""

    def __init__(self, main: MainScreen, desk: AppSession) -> None:
        self._main, self._desk, self._words = main, desk, main.words
        self._windows = desk.session.windows
        self._warned = ("", "")  # the window that was not closed, and its unsaved data

    def open(self, typed: str) -> None:
        name, _, rest = typed.partition(" ")
        if not name:
            raise ContextUIError("Which one? {names}", names=" | ".join(self._names()))
        has_files = self._windows.workspace is not None and "editor" in self._windows.classes
        if self._desk.reloader.is_changed(name):
            self._main.app.run_worker(self._open_changed(name, rest), name="reload")
        elif name in self._windows.classes or not has_files:
            self._open(name, rest)
        else:
            self._main.app.run_worker(self._open_file(typed), name="open")

    def _open(self, name: str, rest: str) -> None:
        cls = self._windows.classes.get(name)
        given = self._given(cls, rest) if cls is not None else {}
        window = self._windows.open(name, **given)
        self._main.note_window(opening_text(window, self._words), window.id)

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
                raise ContextUIError(message, name=quote(path), files=files)
            else:
                self._open(typed.partition(" ")[0], "")
        except ContextUIError as error:
            self._main.show_failed(f"/open {typed}", error)

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

    async def _open_changed(self, name: str, rest: str) -> None:
        """Open a window whose file has changed: with the new code, if no other one has the old."""
        reloader = self._desk.reloader
        path = reloader.file_of(name)
        names = reloader.names_in(path) if path is not None else []
        is_open = any(window.name in names for window in self._windows.windows())
        try:
            if is_open:
                self._open(name, rest)
                file = shown_path(path) if path is not None else name
                message = msg("{file} has changed: /reload uses the new code.")
                self._main.note(self._words(message, file=file))
            else:
                await self.reload()
                self._open(name, rest)
        except ContextUIError as error:
            self._main.note(error)

    async def reload(self) -> None:
        for window in self._windows.windows():
            await runtime_of(window).commit_typed()
        report = await in_daemon_thread(self._desk.reloader.reload)
        for text in report.lines(self._words):
            self._main.note(text)

    async def trust(self) -> None:
        from contextui.tui.dialogs.trust import (  # noqa: PLC0415  (only for this)
            FolderCode,
            TrustScreen,
        )

        session, words = self._desk.session, self._words
        home, folder = session.path.parents[2], Path(session.cwd)
        try:
            code = await in_daemon_thread(lambda: FolderCode.read(home, folder))
            if not code.reviews:
                self._main.note(words("This folder brings nothing that is not trusted."))
            elif await self._main.app.push_screen_wait(TrustScreen(words, code)):
                await in_daemon_thread(lambda: code.trust(home))
                self._main.note(words("Trusted. You will be asked again when a file changes."))
                await self.reload()
        except ContextUIError as error:
            self._main.note(error)

    def _given(self, cls: type[Window], typed: str) -> dict[str, Any]:
        how = f"/open {cls.name} {takes(cls.opening)}"
        if typed.strip() and not cls.opening.listing:
            raise ContextUIError("{name} takes no arguments. Type: /open {name}", name=cls.name)
        given = arguments(typed, cls.opening)
        needed = [param.name for param in cls.opening.listing if not param.optional]
        if missing := [name for name in needed if name not in given]:
            message = msg("{name} needs {params}. Type: {how}")
            raise ContextUIError(message, name=cls.name, params=", ".join(missing), how=how)
        try:
            cls.opening.validate(given, cls.name, self._words.lang)
        except InvalidParamsError as error:
            raise ContextUIError("{problem}. Type: {how}", problem=error, how=how) from error
        return given

    def close(self, window_id: str) -> None:
        """Close a window; one with unsaved data only when the command is repeated."""
        there = [one.id for one in self._windows.windows()]
        if not window_id and len(there) != 1:
            message = msg("Which one? {names}") if there else msg("No window is open.")
            raise ContextUIError(message, names=" | ".join(there))
        window_id = window_id or there[0]
        window = self._windows.get(window_id)
        lost = runtime_of(window).renders.at().unsaved if window is not None else ""
        warned, self._warned = self._warned, (window_id, lost)
        if lost and warned != self._warned:
            raise ContextUIError("Unsaved: {what}. Enter again to close.", what=lost)
        self._windows.close(window_id, actor="person")
        self._main.note(self._words("Closed {window}. /undo reopens it.", window=window_id))

    def goto(self, window_id: str) -> None:
        there = [one.id for one in self._windows.windows()]
        if window_id not in there:
            message = msg("Which one? {names}") if there else msg("No window is open.")
            raise ContextUIError(message, names=" | ".join(there))
        self._main.navigation.go_to_window(window_id)

    # --- prompts of servers ------------------------------------------------------------

    def _offering(self) -> list[Window]:
        return [window for window in self._windows.windows() if _prompts(window)]

    def prompts(self) -> Iterable[Choice]:
        for window in self._offering():
            for prompt in _prompts(window):
                needs = " ".join(f"{each.name}=…" for each in prompt.arguments if each.required)
                name = shlex.quote(f"{window.name}.{prompt.name}")
                yield Choice(name, one_line(prompt.description, 80), needs, needs)

    def prompt(self, typed: str) -> None:
        try:
            words = shlex.split(typed)
        except ValueError:
            words = typed.split()
        first, *rest = words or [""]
        server, _, name = first.partition(".")
        window = next((one for one in self._offering() if server in (one.name, one.id)), None)
        if window is None or not name:
            known = ", ".join(one.name for one in self.prompts())
            message = msg("There is no prompt {name}. Available in open windows: {names}.")
            raise ContextUIError(message, name=quote(first), names=known or "–")
        arguments = dict(one.partition("=")[::2] for one in rest if "=" in one)
        given = {"name": name, "arguments": arguments}
        self._main.run_worker(self._fetch(window, given), exit_on_error=False)

    async def _fetch(self, window: Window, given: dict[str, Any]) -> None:
        main, focused = self._main, focus_of(self._main)
        result = await self._windows.act(window.id, _PROMPT, given, actor="person")
        if not result.ok:
            main.notify(one_line(result.text, 300), severity="error", markup=False)
            return
        main.prompt.text = f"{main.prompt.text.rstrip()}\n{result.text}".lstrip()
        if focus_of(main) is focused:  # else the person types elsewhere by now
            main.prompt.focus()

    # --- choices -----------------------------------------------------------------------

    def openable(self) -> list[Choice]:
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

    def closable(self) -> list[Choice]:
        return [
            Choice(one.id, runtime_of(one).renders.at(Lod.GIST).snapshot.content.partition("\n")[0])
            for one in self._windows.windows()
        ]

    def _names(self) -> list[str]:
        return sorted(self._windows.classes)


def _first_sentence(description: str) -> str:
    """Return the first sentence of a window's description; the rest is for the model."""
    line = one_line(description, _ABOUT)
    sentence = _SENTENCE.match(line)
    return sentence[0] if sentence else line


def _prompts(window: Window) -> list[Any]:
    """Return the prompts that a window offers."""
    if _PROMPT not in window.actions:
        return []
    catalogue = getattr(window.state, "catalogue", None)
    return list(getattr(catalogue, "prompts", ()))

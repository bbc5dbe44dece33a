"""`/prompt`: put a prompt that a server offers into the input, for the person to read and send."""

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from contextui.errors import ContextUIError
from contextui.text import one_line, quote
from contextui.tui.commands import Choice, Command
from contextui.tui.keys import focus_of

if TYPE_CHECKING:
    from textual.widget import Widget

    from contextui.tui.main import MainScreen
    from contextui.windowing.window import Window

_ACTION = "prompt"  # of the windows that offer prompts


class ServerPrompts:
    """The command `/prompt server.name argument=value …`.

    A server's text is never sent by itself: it becomes the draft of a message.
    """

    def __init__(self, screen: "MainScreen") -> None:
        self._screen = screen

    def command(self) -> Command:
        """Return the command."""
        return Command(
            "prompt",
            "write a message with a server's prompt",
            self._run,
            "server.name …",
            choices=self._choices,
        )

    def _windows(self) -> "list[Window]":
        desk = self._screen.app.desk  # type: ignore[attr-defined]
        found = desk.session.windows.windows() if desk is not None else []
        return [one for one in found if _prompts(one)]

    def _choices(self) -> Iterable[Choice]:
        for window in self._windows():
            for one in _prompts(window):
                needs = " ".join(f"{each.name}=…" for each in one.arguments if each.required)
                name = shlex.quote(f"{window.name}.{one.name}")
                yield Choice(name, one_line(one.description, 80), needs, needs)

    def _run(self, typed: str) -> None:
        try:
            words = shlex.split(typed)
        except ValueError:
            words = typed.split()
        first, *rest = words or [""]
        server, _, name = first.partition(".")
        window = next((one for one in self._windows() if server in (one.name, one.id)), None)
        if window is None or not name:
            known = ", ".join(one.name for one in self._choices())
            raise ContextUIError(
                "There is no prompt {name}. Available in open windows: {names}.",
                name=quote(first),
                names=known or "–",
            )
        arguments = dict(one.partition("=")[::2] for one in rest if "=" in one)
        given = {"name": name, "arguments": arguments}
        fetch = self._fetch(window, given, focus_of(self._screen))
        self._screen.run_worker(fetch, exit_on_error=False)

    async def _fetch(
        self, window: "Window", given: dict[str, Any], focused: "Widget | None"
    ) -> None:
        desk = self._screen.app.desk  # type: ignore[attr-defined]
        result = await desk.session.windows.act(window.id, _ACTION, given, actor="person")
        prompt = self._screen.prompt
        if not result.ok:
            self._screen.notify(one_line(result.text, 300), severity="error", markup=False)
            return
        prompt.text = f"{prompt.text.rstrip()}\n{result.text}".lstrip()
        if focus_of(self._screen) is focused:  # else the person types elsewhere by now
            prompt.focus()


def _prompts(window: "Window") -> list[Any]:
    """Return the prompts that a window offers."""
    if _ACTION not in window.actions:
        return []
    catalogue = getattr(window.state, "catalogue", None)
    return list(getattr(catalogue, "prompts", ()))

"""`!command`: run a command that the person typed into the prompt in the terminal window.

Only the prompt calls this, for text whose first character the person put there and that they sent
with Enter. A model's answer, a message from the command line, a queued message and a large paste
never get here: they are messages, whatever they begin with.
"""

import asyncio

from contextui.errors import ContextUIError
from contextui.text import code_point, is_unseen
from contextui.windowing.manager import WindowManager
from contextui.windowing.window import Window
from contextui.words import msg

MARK = "!"
"""The first character of a prompt that is a command."""

_CLASS, _ACTION = "terminal", "run"


class CommandError(ContextUIError):
    """A typed command did not run."""


def command_in(text: str) -> str:
    """Return the command of a prompt that begins with the mark.

    Raises:
        CommandError: There is none, or it is not one line that can be seen as a whole.
    """
    command = text.removeprefix(MARK).strip()
    if not command:
        raise CommandError(msg("Type a command after the !, such as !ls."))
    if "\n" in command:
        raise CommandError(
            msg("A command is one line here. Use the terminal window for more than one.")
        )
    for char in command:
        if is_unseen(char):
            raise CommandError(
                msg("The command has the invisible character {char}. Nothing ran."),
                char=code_point(char),
            )
    return command


async def run_in_terminal(windows: WindowManager, command: str) -> str:
    """Run a command in the terminal used last, as the person; open one if there is none.

    Returns:
        The terminal's id.

    Raises:
        ContextUIError: It did not start.
    """
    window = _terminal(windows)
    if window is None:
        if _CLASS not in windows.classes:
            raise CommandError(msg("There is no terminal window to run commands in."))
        # Opening may block on the window's own thread, which the screen must not.
        window = await asyncio.to_thread(windows.open, _CLASS)
    given = {"command": command, "seconds": 0}
    result = await windows.act(window.id, _ACTION, given, actor="person")
    if not result.ok:
        raise result.error or CommandError(result.text)
    return window.id


def _terminal(windows: WindowManager) -> Window | None:
    found = [one for one in windows.windows() if one.name == _CLASS]
    return found[-1] if found else None

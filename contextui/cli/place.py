"""Where the program was started, and what is set there."""

import os
from pathlib import Path

from contextui.cli.arguments import Arguments
from contextui.cli.usage import UsageError
from contextui.cli.words import speak
from contextui.config.loading import Loaded, load_settings
from contextui.session.paths import contextui_home


def here() -> Path:
    """The current folder.

    Raises:
        UsageError: It was removed.
    """
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("The current folder is gone. Go to another one.") from None


def settings_of(arguments: Arguments, folder: Path, **flags: str) -> Loaded:
    """The settings that count in a folder; with further flags, as if these had been given too.

    What is said from now on is in the language that they want.
    """
    loaded = load_settings({**arguments.flags, **flags}, os.environ, contextui_home(), folder)
    speak(loaded.settings.lang)
    return loaded

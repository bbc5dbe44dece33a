"""The current folder, its settings, and the language, known before anything is validated."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from contextui.cli import watchdog
from contextui.cli.arguments import Arguments, given_values
from contextui.cli.flags import UsageError
from contextui.config.schema import CONFIG_FILE, PROJECT_FOLDER, locale_lang
from contextui.errors import ContextUIError
from contextui.session.paths import contextui_home
from contextui.words import Lang, set_language

if TYPE_CHECKING:
    from contextui.config.sources import Loaded
    from contextui.windowing.finding.registry import Registry


def language(given: Sequence[str], environ: Mapping[str, str]) -> Lang:
    """Return the requested language, as far as it is known."""
    named: dict[str | None, Lang] = {lang: lang for lang in get_args(Lang)}
    for word in (*given_values(given, "--lang"), environ.get("CONTEXTUI_LANG")):
        if word in named:
            return named[word]
    with suppress(ContextUIError, OSError):  # commands report errors in the settings
        folder, home = Path.cwd(), contextui_home()
        files = (folder / PROJECT_FOLDER / CONFIG_FILE, home / CONFIG_FILE)
        if any(map(os.path.exists, files)):  # loading settings takes longer than printing help
            from contextui.config.sources import load_settings  # noqa: PLC0415  (as below)

            return load_settings({}, environ, home, folder).settings.lang
    return locale_lang(environ) or "en"


def here() -> Path:
    """Return the current folder."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("The current folder no longer exists. Change to another one.") from None


def settings_of(arguments: Arguments, folder: Path, **flags: Any) -> "Loaded":
    """Load the settings for a folder, with extra flags; switch to their language."""
    from contextui.config.sources import load_settings  # noqa: PLC0415  (heavy: pydantic)

    loaded = load_settings({**arguments.flags, **flags}, os.environ, contextui_home(), folder)
    set_language(loaded.settings.lang)
    return loaded


def discovered(loaded: "Loaded", folder: Path) -> "Registry":
    """Discover the windows for a folder; from now on, their code may run."""
    from contextui.windowing.finding.registry import discover  # noqa: PLC0415  (heavy)

    settings = loaded.settings
    watchdog.start(settings.max_freeze)
    home = contextui_home()
    return discover(files=settings.window, folders=settings.windows, home=home, project=folder)

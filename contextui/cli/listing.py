"""Lists: the sessions, the windows, the settings."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from contextui.cli import status
from contextui.cli.arguments import Arguments
from contextui.cli.place import here, settings_of
from contextui.cli.speaking import say, say_json, tell
from contextui.config import KEY_VARIABLE, Loaded
from contextui.secrets import mask
from contextui.session.paths import contextui_home
from contextui.session.store import SessionInfo, SessionStore
from contextui.text import one_line
from contextui.windowing.registry import discover

_SHORT_ID = 8
_NONE_HERE = "There are no sessions of this folder yet; --all lists those of all folders."


def sessions(arguments: Arguments) -> int:
    """The sessions of this folder, or of all."""
    found = SessionStore().list(None if arguments.everywhere else here())
    if arguments.json:
        say_json([{**asdict(info), "path": str(info.path)} for info in found])
    elif found:
        heads = ["id", "last entry", *(["folder"] if arguments.everywhere else []), "first words"]
        rows = [_session_row(info, everywhere=arguments.everywhere) for info in found]
        _say_table([heads, *rows])
    else:
        say("There are no sessions yet." if arguments.everywhere else _NONE_HERE)
    return status.DONE


def windows(arguments: Arguments) -> int:
    """The windows there are, and why some cannot be used."""
    folder = here()
    loaded = settings_of(arguments, folder)
    settings = loaded.settings
    registry = discover(
        files=settings.window, folders=settings.windows, home=contextui_home(), project=folder
    )
    entries = registry.load_all()
    for notice in (*loaded.notices, *registry.notices):
        tell(notice)
    if arguments.json:
        say_json([entry.data() for entry in entries])
    else:
        for entry in entries:
            say(str(entry))
    return status.DONE


def config(arguments: Arguments) -> int:
    """The settings, and where each comes from."""
    folder = here()
    loaded = settings_of(arguments, folder)
    for notice in loaded.notices:
        tell(notice)
    values = loaded.settings.model_dump(mode="json")
    has_key = loaded.api_key is not None
    if arguments.json:
        settings = {
            name: {"value": value, "origin": loaded.origins[name]} for name, value in values.items()
        }
        places = {"home": str(contextui_home()), "folder": str(folder)}
        say_json({"settings": settings, "provider": loaded.provider, "has_key": has_key, **places})
        return status.DONE
    rows = [[name, _value(name, value, loaded), loaded.origins[name]]
            for name, value in values.items()]  # fmt: skip
    _say_table([["setting", "value", "from"], *rows])
    say(f"\n{KEY_VARIABLE} is {'set' if has_key else 'not set'}.")
    say(f"What lasts is kept in {one_line(str(contextui_home()), 160)}.")
    return status.DONE


def _session_row(info: SessionInfo, *, everywhere: bool) -> list[str]:
    words = info.first_words or "(nothing was said)"
    row = [info.id[:_SHORT_ID], _local(info.updated)]
    if not everywhere:
        return [*row, one_line(words, 50)]
    return [*row, one_line(Path(info.cwd).name or info.cwd, 20), one_line(words, 28)]


def _local(timestamp: str) -> str:
    try:
        return datetime.fromisoformat(timestamp).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return "?"


def _value(name: str, value: object, loaded: Loaded) -> str:
    if name == "provider" and value == "auto":
        return f"auto ({loaded.provider})"
    shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return mask(shown) or "-"


def _say_table(rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they must be; the last one is as long as it is."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        say("  ".join([*cells, row[-1]]))

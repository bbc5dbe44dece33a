"""`contextui windows`: list the available windows, and why some cannot be used."""

from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import say, say_json, tell, terminal_columns, wrapped
from contextui.cli.folder import here, settings_of
from contextui.cli.watchdog import watchdog
from contextui.cli.words import in_ours, spoken
from contextui.session.paths import contextui_home
from contextui.text import one_line
from contextui.windowing.finding.registry import WindowEntry, discover

_INDENT = "    "


def run(arguments: Arguments) -> int:
    """List the windows, usable or not."""
    folder = here()
    loaded = settings_of(arguments, folder)
    settings = loaded.settings
    watchdog.start(settings.max_freeze)
    registry = discover(
        files=settings.window, folders=settings.windows, home=contextui_home(), project=folder
    )
    entries = registry.load_all()
    for notice in (*loaded.notices, *registry.notices):
        tell(in_ours(notice))
    if arguments.json:
        say_json([entry.data() for entry in entries])
    else:
        for entry in entries:
            for line in _lines(_shown(entry)):
                say(line)
    return flags.DONE


def _shown(entry: WindowEntry) -> str:
    """Format a window in one line, translated as far as possible."""
    words = f"[X] {entry.name}: {in_ours(entry.reason)}"
    if entry.usable:
        about = entry.cls.described(spoken()) if entry.cls else entry.origin
        words = f"[✓] {entry.name}: {one_line(about, 200)}"
    return words


def _lines(line: str) -> list[str]:
    """Wrap the line on a terminal, with continuation lines indented."""
    columns = terminal_columns()
    if columns is None:
        return [line]
    first, *more = wrapped(line, columns - len(_INDENT))
    return [first, *(_INDENT + one for one in more)]

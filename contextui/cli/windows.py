"""`contextui windows`: list the available windows, and why some cannot be used."""

from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import say, say_json, terminal_columns, warn, wrapped
from contextui.cli.mcp import fault_of
from contextui.cli.settings import discovered, here, settings_of
from contextui.text import one_line
from contextui.windowing.finding.registry import WindowEntry
from contextui.words import language, t

_INDENT = "    "


def run(arguments: Arguments) -> int:
    """List the windows, usable or not."""
    folder = here()
    loaded = settings_of(arguments, folder)
    registry = discovered(loaded, folder)
    entries = registry.load_all()
    warn(*loaded.notices, *registry.notices)
    if registry.untrusted_servers:
        warn(registry.untrusted_servers)
    if arguments.json:
        say_json([entry.data() for entry in entries])
    else:
        for entry in entries:
            _show(entry)
        warn(*(entry.warning for entry in entries if entry.warning))
    return flags.DONE


def _show(entry: WindowEntry) -> None:
    server = getattr(entry.cls, "SERVER", None)
    problem = t(entry.reason) or (fault_of(server) if server is not None else "")
    words = f"[X] {entry.name}: {problem}"
    if not problem:
        about = entry.cls.described(language()) if entry.cls else entry.origin
        words = f"[✓] {entry.name}: {one_line(about, 200)}"
    columns = terminal_columns()
    lines = [words] if columns is None else wrapped(words, columns - len(_INDENT))
    say(f"\n{_INDENT}".join(lines))

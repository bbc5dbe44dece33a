"""`contextui export`: write a session as Markdown, HTML or JSON."""

from contextlib import closing
from pathlib import Path

from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import note, say, warn
from contextui.cli.flags import UsageError
from contextui.cli.folder import session_of
from contextui.cli.setup import open_store
from contextui.errors import os_reason
from contextui.session.export import exported, write_file
from contextui.text import shown_path
from contextui.words import t


def run(arguments: Arguments) -> int:
    """Print a session, or write it to a new file."""
    earlier = session_of(arguments)
    store, loaded = open_store(arguments, earlier)
    with closing(store.view(earlier.info.id, whole=True)) as view:
        warn(*view.notices)
        view.windows.settle_now()
        text = exported(
            view,
            arguments.form,
            loaded.settings.lang,
            include_obsolete=arguments.everything or arguments.form != "md",
        )
    if arguments.output is None:
        say(text, end="")
        return flags.DONE
    path = Path(arguments.output).expanduser()
    try:
        write_file(path, text)
    except FileExistsError:
        raise UsageError("{file} exists. Choose another name.", file=shown_path(path)) from None
    except OSError as error:
        raise UsageError(
            "{file} cannot be written: {reason}.", file=shown_path(path), reason=os_reason(error)
        ) from error
    note(t("Written to {file}. Only you can read it.", file=shown_path(path)))
    return flags.DONE

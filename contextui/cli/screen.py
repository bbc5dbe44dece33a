"""Open the app on the terminal, or behind a page of `contextui serve`."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import discard_unwritable
from contextui.cli.flags import UsageError
from contextui.cli.settings import here, settings_of
from contextui.cli.watchdog import watchdog

if TYPE_CHECKING:
    from contextui.tui.app import ContextUIApp
    from contextui.tui.link import Desk


def open_screen(arguments: Arguments) -> int:
    """Open the app; errors are reported before, on the normal screen.

    Raises:
        ContextUIError: There is no terminal, or the arguments or settings are wrong.
    """
    is_served = "TEXTUAL_DRIVER" in os.environ  # the server draws, and reads the keys
    if not is_served and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The app needs a terminal. Without one, use contextui -p PROMPT.")
    if not is_served and os.environ.get("TERM") == "dumb":  # such as a shell within an editor
        raise UsageError(
            "This terminal cannot show the app (TERM is dumb). Use contextui -p PROMPT."
        )
    from contextui.tui.app import ContextUIApp  # noqa: PLC0415  (heavy: the screen)

    folder = _folder_of(arguments)

    def open_reported() -> "Desk":
        from contextui.cli.setup import open_desk  # noqa: PLC0415  (heavy: after the first frame)

        desk = open_desk(arguments)
        if is_served:
            app.call_from_thread(_report_session, app, desk.session.id)
        return desk

    app = ContextUIApp(
        open_reported,
        folder=folder,
        lang=settings_of(arguments, folder).settings.lang,
        first_words=" ".join(arguments.words),
    )
    app.shutdown.may_end_process = True
    watchdog.remember_terminal()
    try:
        with app.signals:
            app.run()
    finally:
        watchdog.end_soon()
        if app.desk is not None:
            app.desk.close()
        app.shutdown.over()
        discard_unwritable()
    if app.desk is not None and app.desk.session.unsaved:
        return app.return_code or flags.FAILED
    return app.return_code or flags.DONE


def _folder_of(arguments: Arguments) -> Path:
    """Return the folder of the session to resume, or the current one."""
    if arguments.resume is None and not arguments.newest:
        return here()
    from contextui.cli.folder import find_earlier  # noqa: PLC0415  (heavy: the sessions)

    earlier = find_earlier(arguments)
    return Path(earlier.info.cwd) if earlier else here()


def _report_session(app: "ContextUIApp", session_id: str) -> None:
    """Report the session to the server, if the app runs behind a page."""
    from contextui.cli.serve.process import ServedDriver  # noqa: PLC0415  (only behind a page)

    if isinstance(app._driver, ServedDriver):
        app._driver.report_session(session_id)

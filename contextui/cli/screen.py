"""Open the app on the terminal, or in a page of `contextui serve`."""

import os
import select
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from contextui.cli import flags, watchdog
from contextui.cli.arguments import Arguments
from contextui.cli.console import discard_unwritable
from contextui.cli.flags import UsageError
from contextui.cli.settings import here, settings_of

if TYPE_CHECKING:
    from contextui.tui.app import ContextUIApp
    from contextui.tui.app_session import AppSession
    from contextui.tui.switch import Target


def run(arguments: Arguments) -> int:
    """Open the app; errors are reported before, on the normal screen."""
    is_served = "TEXTUAL_DRIVER" in os.environ  # the server draws, and reads the keys
    if not is_served and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The app needs a terminal. Without one, use contextui -p PROMPT.")
    if not is_served and os.environ.get("TERM") == "dumb":  # such as a shell within an editor
        raise UsageError(
            "This terminal cannot show the app (TERM is dumb). Use contextui -p PROMPT."
        )
    from contextui.tui.app import ContextUIApp  # noqa: PLC0415  (heavy: the screen)
    from contextui.tui.themes import remembered_theme  # noqa: PLC0415

    folder, resumes = _session_of(arguments)
    settings = settings_of(arguments, folder).settings

    def reported(opened: "AppSession") -> "AppSession":
        if is_served:
            app.call_from_thread(_report_session, app, opened.session.id)
        return opened

    def open_first() -> "AppSession":
        from contextui.cli.setup import open_app_session  # noqa: PLC0415  (heavy: after a frame)
        from contextui.session.paths import contextui_home  # noqa: PLC0415
        from contextui.session.trash import empty_trash  # noqa: PLC0415

        opened = open_app_session(arguments)
        empty_trash(contextui_home())
        return reported(opened)

    def open_other(target: "Target") -> "AppSession":
        from contextui.cli.setup import open_target  # noqa: PLC0415  (as above)

        return reported(open_target(arguments, target, settings.lang))

    app = ContextUIApp(
        open_first,
        folder=folder,
        lang=settings.lang,
        theme=remembered_theme(),
        first_words=" ".join(arguments.words),
        reopen=open_other,
        resumes=resumes,
    )
    app.shutdown.may_end_process = True
    app.signals.max_freeze = settings.max_freeze
    try:
        with app.signals:
            watchdog.report_to(app.signals.report)
            app.typed_ahead = "" if is_served else _typed_ahead()
            app.run()
    finally:
        watchdog.end_soon()
        if app.desk is not None:
            app.desk.close()
        app.switcher.close_rest()
        app.shutdown.over()
        discard_unwritable()
    if app.desk is not None and app.desk.session.unsaved:
        return app.return_code or flags.FAILED
    return app.return_code or flags.DONE


def _session_of(arguments: Arguments) -> tuple[Path, str | None]:
    if arguments.resume is None and not arguments.newest:
        return here(), None
    from contextui.cli.folder import find_earlier  # noqa: PLC0415  (heavy: the sessions)

    earlier = find_earlier(arguments)
    return (Path(earlier.info.cwd), earlier.info.first_words) if earlier else (here(), None)


def _typed_ahead() -> str:
    """Return what was typed while the program started.

    Until now the terminal made a line break of Enter, which would not send. From here on it does
    not, so that Enter is a key also before the app has set up the terminal.
    """
    found = b""
    with suppress(ImportError, OSError, ValueError):
        import termios  # noqa: PLC0415  (not everywhere)

        terminal = sys.stdin.fileno()
        mode = termios.tcgetattr(terminal)
        mode[0] &= ~termios.ICRNL
        mode[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(terminal, termios.TCSANOW, mode)
        while select.select([terminal], [], [], 0)[0] and (more := os.read(terminal, 4096)):
            found += more
    return found.decode(errors="replace").replace("\n", "\r")


def _report_session(app: "ContextUIApp", session_id: str) -> None:
    from contextui.cli.serve.process import ServedDriver  # noqa: PLC0415  (only for a page)

    if isinstance(app._driver, ServedDriver):
        app._driver.report_session(session_id)

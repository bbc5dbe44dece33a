"""`contextui dev`: write a window and watch it, reloaded on every save."""

import sys

from contextui.cli import flags, watchdog
from contextui.cli.arguments import Arguments
from contextui.cli.console import discard_unwritable
from contextui.cli.flags import UsageError
from contextui.cli.settings import here, settings_of


def run(arguments: Arguments) -> int:
    """Open the window beside what the model reads of it; nothing is saved."""
    if not arguments.file:
        raise UsageError("Name the file of the window, for example: contextui dev kanban.py")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("contextui dev needs a terminal.")
    folder = here()
    settings = settings_of(arguments, folder).settings
    from contextui.tui.dev.bench import Bench  # noqa: PLC0415  (heavy: the screen)
    from contextui.tui.dev.screen import DevApp  # noqa: PLC0415

    watchdog.start(settings.max_freeze)
    bench = Bench(arguments.file, folder, " ".join(arguments.args), settings.lang)
    app = DevApp(bench)
    app.shutdown.may_end_process = True
    app.signals.max_freeze = settings.max_freeze
    try:
        with app.signals:
            watchdog.report_to(app.signals.report)
            app.run()
    finally:
        watchdog.end_soon()
        bench.close()
        app.shutdown.over()
        discard_unwritable()
    return app.return_code or flags.DONE

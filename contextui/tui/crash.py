"""A mistake of the program's own: told in one line, kept whole in a file, without secrets."""

import traceback
from pathlib import Path

from rich.text import Text

from contextui.files.private import make_private
from contextui.secrets import mask
from contextui.session.paths import contextui_home
from contextui.text import one_line


class Crash(Exception):  # noqa: N818  it tells of an error, it is none of its own
    """Stands for an error that nobody expected, in words for the person."""

    def __init__(self, error: BaseException, report: Path | None, lost: str = "") -> None:
        reason = one_line(f"{type(error).__name__}: {mask(str(error))}", 300)
        kept = f" The report is in {report}." if report is not None else ""
        super().__init__(
            f"contextui stopped because of a mistake of its own: {reason}.{kept} "
            f"{lost or 'Everything said is kept: contextui -c goes on.'}"
        )

    def __rich__(self) -> Text:
        return Text(str(self))


def write_report(error: BaseException) -> Path | None:
    """Keep the traceback in a file that only the person can read; None if that fails too."""
    path = contextui_home() / "crash.log"
    told = mask("".join(traceback.format_exception(error)))
    try:
        make_private(path.parent)
        path.touch(mode=0o600)
        path.write_text(told, encoding="utf-8", errors="replace")
    except OSError:
        return None
    return path

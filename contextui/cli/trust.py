"""`contextui trust`: read what a project's windows are, then let them run."""

import sys

from contextui.cli import status
from contextui.cli.arguments import Arguments
from contextui.cli.parsers import UsageError
from contextui.cli.place import here
from contextui.cli.speaking import say, say_json, tell
from contextui.session.paths import contextui_home
from contextui.text import one_line
from contextui.windowing.trust import Review, TrustStore


def run(arguments: Arguments) -> int:
    """Show the files, ask, and remember just these bytes."""
    store, folder = TrustStore(contextui_home()), here() / ".contextui" / "windows"
    if store.problem:
        tell(store.problem)
    if arguments.revoke:
        store.revoke(folder)
        say(f"{one_line(str(folder), 160)} is not trusted.")
        return status.DONE
    review = store.review(folder)
    if arguments.json:
        say_json(review.data())
        return status.DONE
    if not review.files:
        raise UsageError(f"There are no windows in {one_line(str(folder), 160)}.")
    _show(review)
    if review.trusted:
        say("These files are trusted.")
        return status.DONE
    if not arguments.yes and not _agreed():
        say("Nothing was trusted.")
        return status.FAILED
    store.trust(folder, review)  # what was shown, not what is there by now
    say("Trusted. You are asked again when a file changes.")
    return status.DONE


def _show(review: Review) -> None:
    say(f"{one_line(str(review.folder), 160)}")
    for file in review.files:
        say(f"  {file}")


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("There is nobody to ask. Read the files, then run contextui trust --yes.")
    say("They can do all that you can do. Did you read them? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")

"""`contextui trust`: read what a project's windows are, then let them run."""

import sys

from contextui.cli import status
from contextui.cli.arguments import Arguments
from contextui.cli.parsers import UsageError
from contextui.cli.place import here
from contextui.cli.speaking import say, say_json, tell
from contextui.cli.words import in_ours, words
from contextui.session.paths import contextui_home
from contextui.text import one_line
from contextui.windowing.trust import Review, TrustStore


def run(arguments: Arguments) -> int:
    """Show the files, ask, and remember just these bytes."""
    store, folder = TrustStore(contextui_home()), here() / ".contextui" / "windows"
    if store.problem:
        tell(in_ours(store.problem))
    if arguments.revoke:
        store.revoke(folder)
        say(words("{folder} is not trusted.", folder=one_line(str(folder), 160)))
        return status.DONE
    review = store.review(folder)
    if arguments.json:
        say_json(review.data())
        return status.DONE
    if not review.files:
        shown = one_line(str(folder), 160)
        raise UsageError("There are no windows in {folder}.", folder=shown)
    _show(review)
    if review.trusted:
        say(words("These files are trusted."))
        return status.DONE
    if not arguments.yes and not _agreed():
        say(words("Nothing was trusted."))
        return status.FAILED
    store.trust(folder, review)  # what was shown, not what is there by now
    say(words("Trusted. You are asked again when a file changes."))
    return status.DONE


def _show(review: Review) -> None:
    say(f"{one_line(str(review.folder), 160)}")
    for file in review.files:
        say(f"  {file}")


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("There is nobody to ask. Read the files, then run contextui trust --yes.")
    asked = words("They can do all that you can do. Did you read them? [y/N] ")
    say(asked, end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")

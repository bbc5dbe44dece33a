"""`contextui new-window`: a window to begin with."""

from contextui.cli import status
from contextui.cli.arguments import Arguments
from contextui.cli.place import here
from contextui.cli.speaking import say
from contextui.windowing.template import write_new_window


def run(arguments: Arguments) -> int:
    """Write a window and its test, and say what to do with them."""
    window, test = (path.name for path in write_new_window(arguments.name, here()))
    say(f"Wrote {window} and {test}.")
    say(f"Try it:   contextui --window {window}")
    say(f"Test it:  python -m pytest {test}")
    return status.DONE

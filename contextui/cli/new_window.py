"""`contextui new-window`: a window to begin with."""

from contextui.cli import status
from contextui.cli.arguments import Arguments
from contextui.cli.place import here
from contextui.cli.speaking import say
from contextui.cli.words import words
from contextui.windowing.template import write_new_window


def run(arguments: Arguments) -> int:
    """Write a window and its test, and say what to do with them."""
    window, test = (path.name for path in write_new_window(arguments.name, here()))
    say(words("Wrote {window} and {test}.", window=window, test=test))
    say(words("Try it:   {command}", command=f"contextui --window {window}"))
    say(words("Test it:  {command}", command=f"python -m pytest {test}"))
    return status.DONE

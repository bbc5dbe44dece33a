"""What all windows on the screen share."""

from collections.abc import Callable
from dataclasses import dataclass

from contextui.tui.desktop.doings import Doings
from contextui.tui.desktop.gists import Gists
from contextui.tui.words import Words
from contextui.windowing.manager import WindowManager


@dataclass(frozen=True, slots=True)
class Setting:
    """What all windows share.

    Attributes:
        windows: The open windows.
        words: The language.
        doings: Who acted last.
        gists: Each window in a line.
        tokens: What a window costs, by its id; None if that is not known.
    """

    windows: WindowManager
    words: Words
    doings: Doings
    gists: Gists
    tokens: Callable[[str], int | None]

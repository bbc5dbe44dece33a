"""Text in cells: cut, padded, shortened, and inert.

Whatever is shown and was not written here comes from a model, a file or a window. It passes
`inert` or `fit` on its way, and reaches widgets as `Content`, never as markup. No key of the
environment is shown.
"""

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from contextui.secrets import mask_own
from contextui.text import for_terminal

MUTED = "$foreground 70%"
FAINT = "$foreground 52%"
KEY = "$text-primary"
RULE = "$foreground 14%"

_TAB = 4


def inert(text: str) -> Content:
    """Text of several lines as it is, with everything that could act made visible."""
    return Content(for_terminal(mask_own(text)).expandtabs(_TAB))


def line(text: str) -> str:
    """Text as one line in which nothing can act."""
    return for_terminal(mask_own(text), lines=False)


def fit(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly `width` cells: cut with …, or padded.

    Example:
        >>> fit("把牛奶放进待办", 8)
        '把牛奶… '
    """
    if width <= 0:
        return ""
    shown = line(text[: 4 * width + 64])
    if cell_len(shown) > width:
        shown = set_cell_size(shown, width - 1).rstrip() + "…"
    padding = " " * (width - cell_len(shown))
    return padding + shown if right else shown + padding


def short(number: float) -> str:
    """A number in at most five cells: ``212``, ``6.4k``, ``128k``, ``1.2M``."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if abs(number) >= size * 0.9995:
            value = number / size
            return f"{value:.0f}{unit}" if abs(value) >= 99.95 else f"{value:.1f}{unit}"
    return f"{number:.0f}"


def age(seconds: float) -> str:
    """How long ago, in at most four cells: ``4s``, ``12m``, ``3h``, ``9d``."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{max(seconds, 0):.0f}s"

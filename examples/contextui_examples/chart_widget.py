"""Chart widget: a curve of braille dots. Only the screen imports this module."""

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget

from contextui_examples.chart import ChartWindow

_DOTS = (
    (0x01, 0x08),
    (0x02, 0x10),
    (0x04, 0x20),
    (0x40, 0x80),
)  # of a braille cell
_LABEL = 9  # cells left of the curve


class ChartBody(Widget):
    """The points of a chart as a curve, with the least and the greatest number beside it."""

    first_actions = ("add", "load")

    def __init__(self, window: ChartWindow) -> None:
        super().__init__()
        self._window = window

    def window_changed(self) -> None:
        """Draw the new points."""
        self.refresh()

    @property
    def window_title(self) -> str:
        """The title and the last number."""
        state = self._window.state
        last = f" {state.points[-1].value:g}" if state.points else ""
        return f"{state.title}{last}"

    def render(self) -> Content:
        """Return the curve in the size that there is."""
        width, height = self.size.width - _LABEL, self.size.height
        points = [(one.at.timestamp(), one.value) for one in self._window.state.points]
        if not points or width < 2 or height < 1:
            return Content(self._window.env.say("no points yet", "还没有数据点"))
        values = [value for _, value in points]
        labels = [""] * height
        labels[-1], labels[0] = f"{min(values):.4g}", f"{max(values):.4g}"
        rows = plot(points, width, height)
        lines = [
            Content.assemble((f"{label:>{_LABEL - 1}} ", "$foreground 70%"), (row, "$text-primary"))
            for label, row in zip(labels, rows, strict=True)
        ]
        return Content("\n").join(lines)


def plot(points: Sequence[tuple[float, float]], width: int, height: int) -> list[str]:
    """Draw points, connected by lines, as rows of braille characters.

    Args:
        points: Pairs of x and y, in the order of x.
        width: Characters of a row; each has 2 dots.
        height: The number of rows; each has 4 dots.
    """
    spots = list(
        zip(
            _scaled([x for x, _ in points], 2 * width - 1),
            _scaled([y for _, y in points], 4 * height - 1),
            strict=True,
        )
    )
    cells = [[0] * width for _ in range(height)]
    for (x1, y1), (x2, y2) in zip(spots, spots[1:] or spots, strict=False):
        steps = max(abs(x2 - x1), abs(y2 - y1), 1)
        for step in range(steps + 1):
            x, y = x1 + (x2 - x1) * step // steps, y1 + (y2 - y1) * step // steps
            row, dot = divmod(4 * height - 1 - y, 4)
            cells[row][x // 2] |= _DOTS[dot][x % 2]
    return ["".join(chr(0x2800 + cell) for cell in row) for row in cells]


def _scaled(numbers: list[float], most: int) -> list[int]:
    """Scale numbers to 0 … most; equal ones are in the middle."""
    least, greatest = min(numbers), max(numbers)
    half = greatest / 2 - least / 2  # the whole difference of two huge numbers is infinite
    if half == 0:
        return [most // 2] * len(numbers)
    return [round((number / 2 - least / 2) / half * most) for number in numbers]

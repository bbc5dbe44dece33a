"""Monitor widget: the last minutes as curves and bars."""

from collections.abc import Iterator, Mapping, Sequence

from textual.content import Content

from contextui.tui.lines import FAINT, MUTED, Sheet, fit, line, short
from contextui.widgets import stated
from contextui.windows.monitor.window import Metric, MonitorWindow, Process
from contextui.words import Words, msg

_BLOCKS = " ▁▂▃▄▅▆▇█"
_LABEL, _FIGURE = 5, 7  # cells of a row's name and of its figure
_LONGEST = 60  # cells of a curve: there are no more samples
_BEAT = 1.0  # seconds: a sample does not change the window's version, so poll for it
_LABELS: Mapping[Metric, str] = {
    "cpu": msg("CPU"),
    "memory": msg("MEM"),
    "disk": msg("DISK"),
    "load": msg("LOAD"),
    "network": msg("NET"),
}


class MonitorBody(Sheet):
    """CPU, memory and load as curves, the disk as a bar, the rest in figures."""

    window_title = ""

    def __init__(self, window: MonitorWindow) -> None:
        super().__init__()
        self._window, self._words = window, Words(window.env.lang)
        self._state = MonitorWindow.State()

    def on_mount(self) -> None:
        self.set_interval(_BEAT, self.redraw)

    def window_changed(self) -> None:
        self._state = stated(self._window, MonitorWindow.State) or self._state
        self.redraw()

    @property
    def first_actions(self) -> tuple[str, ...]:
        return ("resume" if self._state.paused else "pause", "every", "show")

    def lines_for(self, width: int) -> Sequence[Content]:
        samples = self._window.state.samples
        lines = [self._line(metric, samples, width) for metric in self._state.shown]
        lines += [Content("")] * bool(self._state.top)
        lines += [_process(one, width) for one in self._state.top]
        if self._state.paused:
            lines.append(Content.assemble((self._words("paused"), "$text-warning")))
        return lines

    def _line(
        self, metric: Metric, samples: Mapping[str, tuple[float, ...]], width: int
    ) -> Content:
        label = (fit(self._words(_LABELS[metric]), _LABEL), MUTED)
        room = min(max(width - _LABEL - _FIGURE, 0), _LONGEST)
        past, now = samples.get(metric, ()), self._now(metric, samples)
        if metric == "network":
            down, up = (self._now(name, samples) for name in ("down rate", "up rate"))
            rates = f"↓ {_amount(down)}  ↑ {_amount(up)}"
            return Content.assemble(label, (fit(rates, max(width - _LABEL, 0)), ""))
        if metric == "disk":
            return Content.assemble(label, *_bar(now, room), (_figure(now, "%"), ""))
        if metric == "load":
            most = max((*past, self._now("cores", samples) or 1.0))
            load = "–" if now is None else f"{now:.2f}"
            return Content.assemble(
                label, *_curve(past, most, room), (fit(load, _FIGURE, right=True), "")
            )
        return Content.assemble(label, *_curve(past, 100, room), (_figure(now, "%"), ""))

    def _now(self, name: str, samples: Mapping[str, tuple[float, ...]]) -> float | None:
        return samples[name][-1] if samples.get(name) else self._state.figures.get(name)


def _curve(past: Sequence[float], most: float, width: int) -> Iterator[tuple[str, str]]:
    shown = past[-width:] if width else ()
    steps = len(_BLOCKS) - 1
    heights = (round(min(max(one / most, 0), 1) * (steps - 1)) + 1 for one in shown)
    yield " " * (width - len(shown)), ""
    yield "".join(_BLOCKS[height] for height in heights), "$primary"


def _bar(share: float | None, width: int) -> Iterator[tuple[str, str]]:
    full = round(min(max((share or 0) / 100, 0), 1) * width)
    yield "━" * full, "$primary"
    yield "─" * (width - full), "$line"


def _figure(value: float | None, unit: str) -> str:
    return fit("–" if value is None else f"{value:.0f}{unit}", _FIGURE, right=True)


def _amount(rate: float | None) -> str:
    return "–" if rate is None else f"{short(rate)}B/s"


def _process(one: Process, width: int) -> Content:
    name = line(f"{one.name}  {one.arguments}" if one.arguments else one.name)
    return Content.assemble(
        (fit(name, max(width - 2 * _FIGURE, 0)), ""),
        (_figure(one.cpu, "%"), MUTED),
        (fit("–" if one.memory is None else f"{short(one.memory)}B", _FIGURE, right=True), FAINT),
    )

"""Monitor window: CPU, memory, disk, load, network and processes, without flicker."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from pydantic import BaseModel

from contextui import ActionError, Body, Element, Lod, Preview, Transient, Window, action
from contextui.secrets import mask_arguments

Metric = Literal["cpu", "memory", "disk", "load", "network"]
By = Literal["cpu", "memory"]
T = TypeVar("T")

_MOST, _SAMPLES = 20, 60  # processes that can be shown; samples for a plot
_LOOKED_AT = 2_000  # characters of a process's arguments that are masked before truncation
_APART = 0.1  # seconds: readings closer together give no rate
_PARTS: dict[Metric, dict[str, str]] = {  # label and figure of each part of a metric
    "cpu": {"used": "cpu", "cores": "cores"},
    "memory": {"used": "memory", "of": "memory size"},
    "disk": {"used": "disk", "of": "disk size"},
    "load": {"average": "load"},
    "network": {"down": "down rate", "up": "up rate"},
}
_STEPS = {  # minimum change of a shown figure: absolute, as a share of itself; and its unit
    "cpu": (5, 0, "%"), "memory": (1, 0, "%"), "disk": (1, 0, "%"), "load": (0.5, 0, ""),
    "cores": (1, 0, ""), "size": (10 * 1024**2, 0.1, "B"), "rate": (10 * 1024, 0.5, "B/s"),
}  # fmt: skip
_ZH = {"cpu": "CPU", "memory": "内存", "disk": "磁盘", "load": "负载", "network": "网络"}


class Process(BaseModel):
    """A running process: `cpu` in percent of one core, `memory` in bytes, None if unknown."""

    pid: int
    name: str
    cpu: float | None = None
    memory: float | None = None
    arguments: str | None = None


class Reading(NamedTuple):
    """Unrounded figures at one moment; None if unavailable."""

    figures: Mapping[str, float | None]
    processes: list[Process] = []


class MonitorWindow(Window):
    """CPU, memory, disk, load, network and top processes of this machine, in rounded figures."""

    name = "monitor"
    widget = "contextui.windows.monitor.widget:MonitorBody"

    class State(Window.State):
        seconds: float = 5
        paused: bool = False
        shown: list[Metric] = list(get_args(Metric))
        count: int = 0
        by: By = "cpu"
        arguments: bool = False
        figures: dict[str, float | None] = {}
        top: list[Process] = []
        known: Transient[dict[int, Process]] = {}
        samples: Transient[dict[str, tuple[float, ...]]] = {}  # unrounded, oldest first

    state: State

    def __init__(self) -> None:
        super().__init__()
        self._end: Callable[[], None] = lambda: None
        self._at, self._counters, self._counted = math.inf, dict[str, float](), False

    def opened(self, seconds: float = 5, processes: int = 0, by: By = "cpu") -> None:
        self.every(seconds)
        self.processes(processes, by)

    def restored(self) -> None:
        self.state.arguments = False  # a resumed session asks again
        for one in self.state.top:
            one.arguments = None
        if not self.state.paused:  # figures of an earlier run are stale
            self.resume()

    def content(self, lod: Lod) -> Body:
        state = self.state
        if lod is not Lod.FULL:
            return self._line(state.shown if lod is Lod.SUMMARY else state.shown[:2])
        body = [Element(metric, **self._figures(metric)) for metric in state.shown]
        if state.count:
            rows = [_row(one) for one in state.top] or [Element("none", self._nobody())]
            body.append(Element("processes", *rows, by=state.by))
        every = f"{state.seconds:g} s"
        return [*body, Element("sampling", every=every, paused=state.paused or None)]

    @action("Take a sample every so many seconds")
    def every(self, seconds: float) -> str:
        if not 0.5 <= seconds <= 3600:
            raise ActionError(
                "A sample can be taken every 0.5 to 3600 seconds, not {seconds:g}.", seconds=seconds
            )
        self.state.seconds = seconds
        if not self.state.paused:
            self._start()
        later = self.env.say(", once it is resumed") * self.state.paused
        return self.env.say("Every {seconds:g} s{later}.", seconds=seconds, later=later)

    @action("Choose what is shown")
    def show(self, metrics: list[Metric]) -> str:
        if not metrics:
            names = ", ".join(get_args(Metric))
            raise ActionError("Name at least one of {names}.", names=names)
        self.state.shown = list(dict.fromkeys(metrics))
        return self.sample()

    @action("Show the top processes; 0 shows none")
    def processes(self, count: int, by: By = "cpu") -> str:
        if not 0 <= count <= _MOST:
            raise ActionError(
                "0 to {most} processes can be shown, not {count}.", most=_MOST, count=count
            )
        self.state.count, self.state.by = count, by
        self._sample()
        top = ", ".join(f"{one.pid} {one.name!r}" for one in self.state.top) or self._nobody()
        if not count:
            return self.env.say("No processes are shown.")
        return self.env.say(f"Top {count} by {by}: {top}.", f"{_ZH[by]}占用前 {count}：{top}。")

    @action(
        "Show the arguments of processes, secrets masked, or hide them",
        # The arguments of processes are passed to the model, so the person is asked.
        effect="write",
    )
    def arguments(self, show: bool) -> str:
        self.state.arguments = show
        self._sample()
        en, zh = ("shown", "显示") if show else ("hidden", "不显示")
        return self.env.say(f"Arguments are {en}.", f"{zh}进程的参数。")

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        if action_id != "arguments":
            return None
        hides = self.env.say("Hides the arguments of processes.")
        shows = self.env.say(
            "Shows the model what the listed programs were started with. Secrets are "
            "masked where they are recognized."
        )
        target = self.env.say("the arguments of processes")
        return Preview(target, text=shows if params["show"] else hides, verb="read")

    @action("Take no more samples")
    def pause(self) -> str:
        self._end()
        self.state.paused = True
        return self.env.say("Paused. The figures stay as they are.")

    @action("Go on taking samples")
    def resume(self) -> str:
        self.state.paused = False
        self._start()
        return self.sample()

    @action("Take a sample now")
    def sample(self) -> str:
        self._sample()
        return self._line(self.state.shown)

    def _start(self) -> None:
        self._end()
        self._end = self.env.every(self.state.seconds, self._sample)

    def _sample(self) -> None:
        """Take a sample; small changes leave the window unchanged."""
        state, (new, processes) = self.state, self.read()
        known = {name: figure for name, figure in new.items() if figure is not None}
        state.samples = state.samples | {
            name: (*state.samples.get(name, ()), known[name])[-_SAMPLES:] for name in known
        }
        names = [name for metric in state.shown for name in _PARTS[metric].values()]
        figures = state.figures
        state.figures = {name: _settle(name, figures.get(name), new.get(name)) for name in names}
        state.known = {process.pid: self._settled(process) for process in processes}
        # Processes with equal figures are sorted by pid to avoid flicker.
        ranked = sorted((-(getattr(one, state.by) or 0), one.pid) for one in state.known.values())
        state.top = [state.known[pid] for figure, pid in ranked[: state.count] if figure]
        arguments = {one.pid: one.arguments or "–" for one in processes if state.arguments}
        for one in state.top:
            one.arguments = _inert(arguments[one.pid], 160) if state.arguments else None

    def _settled(self, new: Process) -> Process:
        old = self.state.known.get(new.pid) or Process(pid=new.pid, name="", cpu=0)
        cpu, memory = _settle("cpu", old.cpu, new.cpu), _settle("size", old.memory, new.memory)
        return Process(pid=new.pid, name=_inert(new.name, 60), cpu=cpu, memory=memory)

    def _figures(self, metric: Metric) -> dict[str, str]:
        figures = self.state.figures
        return {label: _shown(name, figures.get(name)) for label, name in _PARTS[metric].items()}

    def _line(self, metrics: list[Metric]) -> str:
        say, words = self.env.say, list[str]()
        for metric in metrics:
            first, *more = self._figures(metric).values()
            shown = f"↓{first} ↑{more[0]}" if metric == "network" else first
            words.append(f"{say(metric, _ZH[metric])} {shown}")
        words += [say("paused")] * self.state.paused
        return say(", ").join(words)

    def _nobody(self) -> str:
        return self.env.say("none uses 5% of a core")

    def read(self) -> Reading:
        """Read the machine's figures; None on failure. Subclasses may read another machine."""
        import psutil  # noqa: PLC0415  (not needed to list the windows)

        if (self.state.count > 0) > self._counted or time.monotonic() - self._at < _APART:
            self._look()
            time.sleep(_APART)
        at, before = self._at, self._counters
        processes, now = self._look(), self._counters
        grown = {name: now[name] - before[name] for name in now.keys() & before.keys()}
        rates = {name: growth / (self._at - at) for name, growth in grown.items() if growth >= 0}
        folder = str(self.env.files.root) if self.env.files else "/"
        # Counters are rounded, and may go back.
        busy = 100 * grown["busy"] / grown["total"] if grown.get("total") else None
        memory, disk = _try(psutil.virtual_memory), _try(lambda: psutil.disk_usage(folder))
        figures = {
            "cpu": min(max(0.0, busy), 100.0) if busy is not None else None,
            "cores": _try(psutil.cpu_count),
            "memory": memory.percent if memory else None,
            "memory size": memory.total if memory else None,
            "disk": disk.percent if disk else None,
            "disk size": disk.total if disk else None,
            "load": _try(lambda: psutil.getloadavg()[0]),
            "down rate": rates.get("down"),
            "up rate": rates.get("up"),
        }
        return Reading(figures, processes)

    def _look(self) -> list[Process]:
        """Read the counters that only grow; psutil itself keeps those of each process."""
        import psutil  # noqa: PLC0415

        self._at, self._counters, self._counted = time.monotonic(), {}, self.state.count > 0
        if times := _try(psutil.cpu_times):
            guests = getattr(times, "guest", 0) + getattr(times, "guest_nice", 0)  # counted twice
            total, idle = sum(times) - guests, times.idle + getattr(times, "iowait", 0)
            self._counters |= {"total": total, "busy": total - idle}
        nics = _try(lambda: psutil.net_io_counters(pernic=True)) or {}
        if outside := [one for name, one in nics.items() if not name.startswith("lo")]:
            self._counters["down"] = sum(one.bytes_recv for one in outside)
            self._counters["up"] = sum(one.bytes_sent for one in outside)
        wanted = ["name", "cpu_percent", "memory_info", *["cmdline"] * self.state.arguments]
        running = _try(lambda: list(psutil.process_iter(wanted))) if self._counted else []
        return [_process(one.pid, one.info) for one in running or []]


def _process(pid: int, info: dict[str, Any]) -> Process:
    memory, words = info["memory_info"], " ".join(info.get("cmdline") or [])
    used = memory.rss if memory else None
    return Process(
        pid=pid, name=info["name"] or "–", cpu=info["cpu_percent"], memory=used, arguments=words
    )


def _try(call: Callable[[], T]) -> T | None:
    try:
        return call()
    except Exception:  # a container may hide anything, and errors vary
        return None


def _settle(name: str, old: float | None, new: float | None) -> float | None:
    """Keep the old figure until the new one is a whole step away, to avoid flicker."""
    step, share, _ = _STEPS[name.rpartition(" ")[2]]
    if new is None or old is None or abs(new - old) >= max(step, share * old):
        return None if new is None else round(new / step) * step
    return old


def _shown(name: str, figure: float | None) -> str:
    unit = _STEPS[name.rpartition(" ")[2]][2]
    if figure is None or "B" not in unit:
        return "–" if figure is None else f"{figure:g}{unit}"
    power = next((n for n in (1, 2, 3) if figure < 1000 * 1024**n), 4)
    amount = figure / 1024**power
    return f"{amount:.{int(0 < amount < 10)}f} {' KMGT'[power]}{unit}"


def _row(one: Process) -> Element:
    facts = {"pid": one.pid, "cpu": _shown("cpu", one.cpu), "memory": _shown("size", one.memory)}
    return Element("process", one.name, **facts, arguments=one.arguments)


def _inert(text: str, limit: int) -> str:
    text = mask_arguments(text[:_LOOKED_AT].encode("utf-8", "replace").decode())
    return text if len(text) <= limit else text[:limit] + "…"

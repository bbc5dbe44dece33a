"""The monitor: figures that stand still, timers, processes, secrets, and what fails."""

import asyncio
import json
import subprocess
import sys
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from contextui import ApprovalGate, Lod, TokenCounter
from contextui.testing import WindowTester
from contextui.windowing.runtime import runtime_of
from contextui.windows.monitor.window import MonitorWindow, Process, Reading
from tests.windowing.samples import LONG, action_ids, parse

ACTIONS = ["every", "show", "processes", "arguments", "pause", "resume", "sample", "close"]
MB, GB = 1024**2, 1024**3
FIGURES: Mapping[str, float | None] = {
    "cpu": 37.0, "cores": 8, "memory": 61.2, "memory size": 15.6 * GB, "disk": 64.4,
    "disk size": 233 * GB, "load": 1.42, "down rate": 20_000, "up rate": 900,
}  # fmt: skip
PROCESSES = [
    Process(pid=7, name="python3", cpu=96.0, memory=437 * MB, arguments="python3 app.py"),
    Process(pid=3, name="idle", cpu=0.2, memory=2_000 * MB, arguments="idle"),
    Process(pid=9, name="node", cpu=12.0, memory=90 * MB, arguments="node server.js"),
    Process(pid=11, name="hidden", cpu=None, memory=None),
]


class Machine(MonitorWindow):
    """A monitor of a machine that does what a test says."""

    name = "monitor"
    now = Reading(FIGURES, PROCESSES)
    reads = 0

    def read(self) -> Reading:
        self.reads += 1
        return self.now

    def goes(self, **figures: float | None) -> None:
        """What the machine reports from now on."""
        named = {name.replace("_", " "): figure for name, figure in figures.items()}
        self.now = Reading({**self.now.figures, **named}, self.now.processes)


Monitor = WindowTester[Machine]


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    with WindowTester(Machine) as tester:
        yield tester
        assert tester.troubles == []


def looks(tester: WindowTester[Any]) -> tuple[str, str, str]:
    return tester.content(Lod.FULL), tester.content(Lod.SUMMARY), tester.content(Lod.GIST)


def timers(tester: WindowTester[Any]) -> list[float]:
    return [seconds for _, _, seconds, _ in runtime_of(tester.window).worker._timers]


# --- what is shown ------------------------------------------------------------------------------


def test_the_three_levels(monitor: Monitor) -> None:
    assert looks(monitor) == (
        "cpu  used=35% cores=8\n"
        "memory  used=61% of=16 GB\n"
        "disk  used=64% of=233 GB\n"
        "load  average=1.5\n"
        "network  down=20 KB/s up=0 KB/s\n"
        "sampling  every=5 s",
        "cpu 35%, memory 61%, disk 64%, load 1.5, network ↓20 KB/s ↑0 KB/s",
        "cpu 35%, memory 61%",
    )


def test_what_cannot_be_read_costs_its_figure(monitor: Monitor) -> None:
    monitor.window.now = Reading({"cpu": 50.0}, [])
    assert monitor.act("sample") == "cpu 50%, memory –, disk –, load –, network ↓– ↑–"
    assert monitor.content().splitlines()[:3] == [
        "cpu  used=50% cores=–",
        "memory  used=– of=–",
        "disk  used=– of=–",
    ]
    monitor.window.now = Reading(FIGURES)
    assert monitor.act("sample").startswith("cpu 50%, memory 61%, ") is False
    assert monitor.act("sample").startswith("cpu 35%, memory 61%, ")


def test_sizes(monitor: Monitor) -> None:
    monitor.act("show", metrics=["memory"])
    for size, shown in (
        (0, "0 KB"), (3 * MB, "0 KB"), (8 * MB, "10 MB"), (437 * MB, "440 MB"),
        (1_020 * MB, "1.0 GB"), (9.54 * GB, "9.5 GB"), (64 * GB, "64 GB"), (7_500 * GB, "7.3 TB"),
    ):  # fmt: skip
        monitor.window.now = Reading({"memory": 1})
        monitor.act("sample")
        monitor.window.now = Reading({"memory": 1, "memory size": size})
        monitor.act("sample")
        assert monitor.content().splitlines()[0] == f"memory  used=1% of={shown}"


# --- at rest -----------------------------------------------------------------------------


def test_a_figure_on_a_border_does_not_flicker(monitor: Monitor) -> None:
    for name, low, high in (
        ("cpu", 7.4, 7.6), ("cpu", 0.0, 4.9), ("cpu", 30.1, 39.9), ("memory", 61.4, 61.6),
        ("disk", 99.4, 99.6), ("load", 0.7, 0.8), ("load", 0.0, 0.49), ("down_rate", 0, 10_000),
        ("down_rate", 900_000, 1_100_000), ("up_rate", 15_000, 15_500),
        ("memory_size", 15.6 * GB, 15.7 * GB), ("disk_size", 233 * GB, 240 * GB),
    ):  # fmt: skip
        for figure in (None, FIGURES[name.replace("_", " ")], low):  # from the same start
            monitor.window.goes(**{name: figure})
            monitor.tick()
        version, xml = monitor.window.version, monitor.xml()
        for figure in (high, low, high):
            monitor.window.goes(**{name: figure})
            monitor.tick()
        assert (monitor.window.version, monitor.xml()) == (version, xml), name


def test_what_is_not_shown_does_not_change_the_window(monitor: Monitor) -> None:
    monitor.act("show", metrics=["memory"])
    version = monitor.window.version
    monitor.window.goes(cpu=100.0, load=9.0, disk=1.0)
    monitor.tick()
    assert monitor.window.version == version
    assert monitor.act("show", metrics=["load", "cpu"]) == "load 9, cpu 100%"


def test_the_last_sixty_samples_are_there_for_a_plot(monitor: Monitor) -> None:
    monitor.act("every", seconds=3_600)
    monitor.window.goes(load=None)
    monitor.tick()
    version = monitor.window.version
    for tenth in range(100):
        monitor.window.goes(cpu=35 + tenth / 100)
        monitor.tick()
    samples = monitor.window.state.samples
    assert samples["cpu"] == tuple(35 + tenth / 100 for tenth in range(40, 100))
    assert samples["load"] == (1.42,)
    assert monitor.window.version == version
    assert "samples" not in monitor.window.state.saved()
    with monitor.restored() as later:
        assert later.window.state.samples["cpu"] == (37.0,)


# --- actions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "params", "result", "full"),
    [
        ("every", {"seconds": 0.5}, "Every 0.5 s.", "sampling  every=0.5 s"),
        ("show", {"metrics": ["load", "cpu", "load"]}, "load 1.5, cpu 35%",
         "load  average=1.5\ncpu  used=35% cores=8\nsampling  every=5 s"),
        ("processes", {"count": 0}, "No processes are shown.", "sampling  every=5 s"),
        ("processes", {"count": 3, "by": "memory"},
         "Top 3 by memory: 3 'idle', 7 'python3', 9 'node'.",
         "processes  by=memory\n  idle  pid=3 cpu=0% memory=2.0 GB\n"
         "  python3  pid=7 cpu=95% memory=440 MB\n  node  pid=9 cpu=10% memory=90 MB\n"
         "sampling  every=5 s"),
        ("arguments", {"show": True}, "Arguments are shown.", "sampling  every=5 s"),
        ("pause", {}, "Paused. The figures stay as they are.",
         "sampling  every=5 s paused=true"),
        ("sample", {}, "cpu 35%, memory 61%, disk 64%, load 1.5, network ↓20 KB/s ↑0 KB/s",
         "sampling  every=5 s"),
    ],
)  # fmt: skip
def test_each_action_at_each_level_and_restored(
    monitor: Monitor, action: str, params: dict[str, Any], result: str, full: str
) -> None:
    assert monitor.act(action, **params) == result
    assert monitor.content().endswith(full)
    paused = ", paused" if action == "pause" else ""
    if action != "show":
        assert monitor.content(Lod.SUMMARY).endswith(f"↑0 KB/s{paused}")
        assert monitor.content(Lod.GIST) == f"cpu 35%, memory 61%{paused}"
    with monitor.restored() as later:
        assert looks(later) == looks(monitor)
        assert timers(later) == timers(monitor)


def test_what_is_refused(monitor: Monitor) -> None:
    before = timers(monitor)
    for action, params, reply in (
        ("every", {"seconds": 0.4}, "A sample can be taken every 0.5 to 3600 seconds, not 0.4."),
        ("every", {"seconds": 3601}, "A sample can be taken every 0.5 to 3600 seconds, not 3601."),
        ("every", {"seconds": "nan"}, "A sample can be taken every 0.5 to 3600 seconds, not nan."),
        ("show", {"metrics": []}, "Name at least one of cpu, memory, disk, load, network."),
        ("show", {"metrics": ["gpu"]},
         "monitor_1.show: metrics.0: Input should be 'cpu', 'memory', 'disk', 'load' or 'network', "
         'got "gpu". Expected: metrics:(cpu|memory|disk|load|network)[]'),
        ("processes", {"count": 21}, "0 to 20 processes can be shown, not 21."),
        ("processes", {"count": -1}, "0 to 20 processes can be shown, not -1."),
    ):  # fmt: skip
        assert monitor.refused(action, **params) == reply
        assert timers(monitor) == before


# --- time ---------------------------------------------------------------------------------------


def test_samples_come_by_themselves() -> None:
    taken = threading.Semaphore(0)

    class Ticking(Machine):
        name = "monitor"

        def read(self) -> Reading:
            taken.release()
            return super().read()

    with WindowTester(Ticking, seconds=0.5) as monitor:
        for _ in range(2):  # the one of opening, and one that nobody asked for
            assert taken.acquire(timeout=LONG)
        thread = runtime_of(monitor.window).worker.submit(threading.current_thread).result(LONG)
    thread.join(LONG)
    assert not thread.is_alive()


def test_pause_and_resume(monitor: Monitor) -> None:
    assert timers(monitor) == [5]
    monitor.act("pause")
    assert timers(monitor) == []
    assert monitor.act("every", seconds=7) == "Every 7 s, once it is resumed."
    assert timers(monitor) == []
    monitor.window.goes(cpu=100.0)
    monitor.tick()
    assert monitor.content(Lod.GIST) == "cpu 35%, memory 61%, paused"
    assert monitor.act("sample").startswith("cpu 100%, memory 61%")
    assert timers(monitor) == []
    monitor.act("resume")
    monitor.act("resume")
    assert timers(monitor) == [7]
    monitor.act("every", seconds=2)
    assert timers(monitor) == [2]


def test_restored_it_refreshes_unless_it_is_paused(monitor: Monitor) -> None:
    class Later(Machine):
        name = "monitor"
        now = Reading({**FIGURES, "cpu": 90.0})

    monitor._class = Later
    with monitor.restored() as later:
        assert later.content(Lod.GIST) == "cpu 90%, memory 61%"
        assert timers(later) == [5]
    monitor.act("pause")
    with monitor.restored() as later:
        assert later.content(Lod.GIST) == "cpu 35%, memory 61%, paused"
        assert (timers(later), later.window.reads) == ([], 0)
        assert later.window.version == monitor.window.version


# --- processes ----------------------------------------------------------------------------------


def test_processes_do_not_change_places_for_nothing(monitor: Monitor) -> None:
    def now(*cpu: float) -> Reading:
        names = zip((5, 4, 6), cpu, strict=True)
        return Reading(FIGURES, [Process(pid=p, name=f"p{p}", cpu=c, memory=c) for p, c in names])

    monitor.window.now = now(30.0, 30.1, 12.0)
    assert monitor.act("processes", count=2) == "Top 2 by cpu: 4 'p4', 5 'p5'."
    version = monitor.window.version
    for cpu in ((32.4, 28.0, 14.0), (28.0, 33.0, 8.0), (30.0, 26.0, 5.1)):
        monitor.window.now = now(*cpu)
        monitor.tick()
    assert monitor.window.version == version
    monitor.window.now = now(35.0, 30.0, 80.0)
    monitor.tick()
    assert [one.pid for one in monitor.window.state.top] == [6, 5]


def test_the_idle_are_not_listed(monitor: Monitor) -> None:
    monitor.window.now = Reading(FIGURES, [Process(pid=1, name="init", cpu=4.9, memory=GB)])
    assert monitor.act("processes", count=9) == "Top 9 by cpu: none uses 5% of a core."
    assert "processes  by=cpu\n  none uses 5% of a core" in monitor.content()
    assert monitor.act("processes", count=9, by="memory") == "Top 9 by memory: 1 'init'."


def test_twenty_processes_with_long_arguments_stay_small(monitor: Monitor) -> None:
    long = "/usr/bin/python -m some.module --with options and more of them " * 1_000
    many = [Process(pid=p, name="name " * 50, cpu=50, memory=GB, arguments=long) for p in range(90)]
    monitor.window.now = Reading(FIGURES, many)
    monitor.act("processes", count=20)
    monitor.act("arguments", show=True)
    assert len(monitor.window.state.top) == 20
    assert TokenCounter().count(monitor.xml()) < 2_500


# --- secrets ------------------------------------------------------------------------------------

SECRET = "hunter2"


def test_what_looks_like_a_secret_is_masked(monitor: Monitor) -> None:
    """F16."""
    monitor.act("processes", count=3)
    for line in (f"app --password {SECRET}", f"app --passphrase\n{SECRET}"):
        process = Process(pid=1, name=line, cpu=50, memory=GB, arguments=line)
        monitor.window.now = Reading(FIGURES, [process])
        reply = monitor.act("sample") + monitor.act("arguments", show=True)
        kept = json.dumps(runtime_of(monitor.window).core.saved.state)
        everything = "".join([reply, kept, *map(monitor.xml, Lod)])
        assert SECRET not in everything, line
        assert "***" in (monitor.window.state.top[0].arguments or ""), line


def test_arguments_are_shown_only_if_and_as_long_as_allowed(monitor: Monitor) -> None:
    """F16: names alone, unless the person says yes to exactly that."""
    monitor.act("processes", count=3)
    assert MonitorWindow.actions["arguments"].effect == "write"
    gate = ApprovalGate("read-only")
    params = {"show": True}
    act = monitor.windows.act("monitor_1", "arguments", params, actor="model", allow=gate.allow)
    assert not asyncio.run(act).ok
    assert "python3" in monitor.xml()
    assert "app.py" not in monitor.xml() + str(monitor.window.state.saved())
    monitor.act("arguments", show=True)
    assert "arguments=python3 app.py" in monitor.content()
    with monitor.restored() as later:  # a yes holds for the session in which it was given
        assert "app.py" not in later.xml() + str(later.window.state.saved())
    monitor.act("arguments", show=False)
    assert "app.py" not in monitor.xml() + str(monitor.window.state.saved())
    monitor.window.now = Reading(FIGURES, [Process(pid=1, name="kernel", cpu=50)])
    monitor.act("arguments", show=True)
    assert "kernel  pid=1 cpu=50% memory=– arguments=–" in monitor.content()


# --- the real machine ---------------------------------------------------------------------------


@contextmanager
def busy(*arguments: str, first: str = "") -> Iterator[int]:
    """A process that does nothing but work, once it has reported that it does."""
    code = f"import sys\n{first}\nprint(flush=True)\nwhile True: pass"
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


@pytest.fixture
def real(tmp_path: Path) -> Iterator[WindowTester[MonitorWindow]]:
    with WindowTester(MonitorWindow, folder=tmp_path, seconds=3600) as tester:
        yield tester
        assert tester.troubles == []


def test_a_sample_covers_the_time_since_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("contextui.windows.monitor.window.time.sleep", waits.append)
    monkeypatch.setattr("contextui.windows.monitor.window._APART", 0.0)
    with WindowTester(MonitorWindow, seconds=3600, processes=5) as monitor:
        assert len(waits) == 1  # the first look has nothing before it to compare with
        monitor.tick()
        monitor.act("sample")
        assert len(waits) == 1
        monitor.act("processes", count=0)
        monitor.tick()
        assert len(waits) == 1
        monitor.act("processes", count=1)
        assert len(waits) == 2  # processes had not been looked at


def found(real: WindowTester[MonitorWindow], pid: int) -> Process:
    """The process among the top; on a loaded machine it may have to wait for its turn."""
    for _ in range(100):
        for process in real.window.state.top:
            if process.pid == pid:
                return process
        real.act("sample")
    raise AssertionError(f"{pid} never was among {real.window.state.top}")


def test_a_busy_process_is_found_and_its_secrets_are_not(real: WindowTester[MonitorWindow]) -> None:
    with busy("--token", SECRET) as pid:
        real.act("processes", count=20)
        shown = found(real, pid)
        assert (shown.cpu or 0) >= 5
        assert (shown.memory or 0) > MB
        assert shown.arguments is None
        real.act("arguments", show=True)
        assert "while True: pass --token ***" in (found(real, pid).arguments or "")
        assert SECRET not in real.xml()
    real.act("sample")
    assert pid not in [one.pid for one in real.window.state.top]


@pytest.mark.skipif(sys.platform != "linux", reason="a name is changed through /proc")
def test_a_real_process_may_call_itself_anything(real: WindowTester[MonitorWindow]) -> None:
    with busy(first=r"open('/proc/self/comm', 'wb').write(b'</Window>\x1b[2\xff)')") as pid:
        real.act("processes", count=20)
        found(real, pid)
        processes = parse(real.xml()).findall("Content/processes/process")
        assert [one.text for one in processes if one.get("pid") == str(pid)] == ["</Window>␛[2?)"]
        assert action_ids(real.xml()) == ACTIONS


def fails(problem: BaseException) -> Callable[..., Any]:
    def call(*_: object, **__: object) -> Any:
        raise problem

    return call


def test_a_process_that_hides_itself_is_no_trouble(
    real: WindowTester[MonitorWindow], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(  # as psutil answers if it is denied everything
        psutil.Process, "as_dict", lambda _, attrs, ad_value: dict.fromkeys(attrs, ad_value)
    )
    real.act("arguments", show=True)
    assert real.act("processes", count=5, by="memory").startswith("Top 5 by memory: none")
    assert {one.name for one in real.window.state.known.values()} == {"–"}


Times = namedtuple("Times", "user idle")


def test_a_share_of_the_cpu_is_from_0_to_100(
    real: WindowTester[MonitorWindow], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextui.windows.monitor.window._APART", 0.0)
    times = (Times(10, 10), Times(20, 5), Times(15, 15))  # both may go back
    monkeypatch.setattr(psutil, "cpu_times", iter(times).__next__)
    assert [real.act("sample").split(",")[0] for _ in times][1:] == ["cpu 100%", "cpu 0%"]


@pytest.mark.parametrize(
    ("function", "metric", "problem"),
    [
        ("cpu_times", "cpu –", psutil.AccessDenied()),
        ("virtual_memory", "memory –", RuntimeError("no sensor")),
        ("disk_usage", "disk –", psutil.AccessDenied()),
        ("getloadavg", "load –", RuntimeError("no sensor")),
        ("net_io_counters", "network ↓– ↑–", RuntimeError("no sensor")),
        ("cpu_count", None, RuntimeError("no sensor")),
        ("process_iter", None, psutil.AccessDenied()),
    ],
)
def test_a_call_that_fails_costs_only_its_figure(
    monkeypatch: pytest.MonkeyPatch, function: str, metric: str | None, problem: BaseException
) -> None:
    monkeypatch.setattr("contextui.windows.monitor.window._APART", 0.05)
    works = getattr(psutil, function)
    monkeypatch.setattr(psutil, function, fails(problem))
    count = 3 if function == "process_iter" else 0
    with WindowTester(MonitorWindow, seconds=3600, processes=count, by="memory") as monitor:
        parts = monitor.content(Lod.SUMMARY).split(", ")
        assert metric is None or metric in parts
        assert [part for part in parts if "–" in part] == [metric] * (metric is not None)
        assert monitor.window.state.top == []
        monkeypatch.setattr(psutil, function, works)
        for _ in range(2):  # a rate needs something before it to compare with
            monitor.act("sample")
        assert "–" not in monitor.content(Lod.SUMMARY)
        assert bool(monitor.window.state.top) == bool(count)
        assert monitor.troubles == []

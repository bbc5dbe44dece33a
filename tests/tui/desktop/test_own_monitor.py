"""The monitor's own widget: curves of what was measured."""

from pathlib import Path

from contextui.tui.desktop.widgets import hook
from contextui.windows.monitor.window import MonitorWindow, Process, Reading
from tests.tui.desktop.samples import frame_of, region_text
from tests.tui.running import desk_in, running, shown, until


class FakeMonitor(MonitorWindow):
    """A machine that grows busier."""

    name = "machine"

    def read(self) -> Reading:
        past = len(self.state.samples.get("cpu", ()))
        figures = {
            "cpu": min(10.0 * past, 100.0),
            "cores": 2.0,
            "memory": 61.0,
            "memory size": 8e9,
            "disk": 50.0,
            "disk size": 1e12,
            "load": 1.42,
            "down rate": 12_300.0,
            "up rate": None,
        }
        return Reading(figures, [Process(pid=7, name="[/]busy\x1b[31m", cpu=150, memory=2e8)])


async def test_figures_are_curves_and_bars_until_it_is_paused(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, windows=[FakeMonitor])
    desk.session.windows.open("machine", seconds=3600, processes=3)
    async with running(desk) as pilot:
        frame = await frame_of(pilot, "machine_1")
        for _ in range(12):
            await desk.session.windows.act("machine_1", "sample")
        await until(pilot, lambda: shown(pilot, "100%"))
        text = [one.strip("│ ") for one in region_text(pilot, frame)]
        assert text[1].startswith("CPU")
        assert text[1].endswith("100%")
        assert "▁" in text[1]
        assert "█" in text[1]
        assert text[2].endswith("61%")
        assert text[3].count("━") == text[3].count("─")
        assert text[4].endswith("1.42")
        assert text[5] == "NET  ↓ 12.3kB/s  ↑ –"
        assert "[/]busy␛[31m" in text[7]
        assert text[7].split()[-2:] == ["150%", "199MB"]  # in steps of 10 MB
        assert hook(frame.body, "first_actions") == ("pause", "every", "show")
        frame.runner.choose("pause")
        await until(pilot, lambda: shown(pilot, "│ paused"))
        assert hook(frame.body, "first_actions")[0] == "resume"

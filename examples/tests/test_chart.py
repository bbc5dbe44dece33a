"""The chart window: points, CSV files, its text for the model, and the curve of its widget."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.app import App, ComposeResult

from contextui import Lod
from contextui.testing import WindowTester
from contextui_examples.chart import ChartWindow
from contextui_examples.chart_widget import ChartBody, plot

NOON = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
CSV = """time,temperature,humidity
2030-01-01T10:00,20.5,40
2030-01-01T12:00,22,41
2030-01-01 11:00:00+00:00,21,nan
not a time,23,1
2030-01-01T13:00,,
2030-01-01
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "weather.csv").write_text(CSV, "utf-8")
    return tmp_path


def test_points_are_added_in_the_order_of_time() -> None:
    with WindowTester(ChartWindow, title="load", clock=lambda: NOON) as chart:
        assert chart.content() == "load: no points yet"
        assert chart.act("add", value=3) == "Added 3 at 2030-01-01 12:00."
        assert chart.act("add", value=1, at="2030-01-01T10:30:00") == (
            "Added 1 at 2030-01-01 10:30."
        )
        assert chart.content(Lod.GIST) == "load: 3 (2 points)"
        assert chart.content() == (
            "load  points=2 least=1 most=3 mean=2 last=3\n"
            "1  at=2030-01-01 10:30\n3  at=2030-01-01 12:00"
        )
        assert chart.restored().content() == chart.content()
        chart.act("clear")
        assert chart.content() == "load: no points yet"


@pytest.mark.parametrize("value", ["nan", "inf", "many", None])
def test_what_is_no_number_is_refused(value: object) -> None:
    with WindowTester(ChartWindow) as chart:
        assert "value" in chart.refused("add", value=value)


def test_a_csv_file(folder: Path) -> None:
    with WindowTester(ChartWindow, folder=folder, path="weather.csv") as chart:
        assert chart.content(Lod.GIST) == "temperature: 22 (3 points)"
        assert chart.act("load", path="weather.csv", value="humidity") == (
            "Loaded 2 points, left out 4 lines."
        )
        assert chart.refused("load", path="weather.csv", value="wind") == (
            "There is no column wind. There is: time, temperature, humidity."
        )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "There is no column 1"),
        ("a\n1\n", "There is no column 2"),
        ("a,b\nc,d\n", "no lines"),
        (f"a,b\n{'x' * 200_000},1\n", "CSV: field larger"),
    ],
)
def test_files_without_points(folder: Path, text: str, problem: str) -> None:
    (folder / "b.csv").write_text(text, "utf-8")
    with WindowTester(ChartWindow, folder=folder) as chart:
        assert problem in chart.refused("load", path="b.csv")
        assert "workspace" in chart.refused("load", path="../a.csv")


def test_many_points_stay_few_words(folder: Path) -> None:
    hours = [f"2030-01-{day:02}T{hour:02}" for day in range(1, 30) for hour in range(24)]
    rows = [
        f"{hour}:{minute}0,{number}" for number, hour in enumerate(hours) for minute in range(6)
    ]
    (folder / "b.csv").write_text("\n".join(["t,v", *rows]), "utf-8")
    with WindowTester(ChartWindow, folder=folder, path="b.csv") as chart:
        assert len(chart.window.state.points) == 2_000
        assert len(chart.content().splitlines()) <= 21
        assert chart.content().splitlines()[-1] == "695  at=2030-01-29 23:50"


def test_what_people_say() -> None:
    with WindowTester(ChartWindow, clock=lambda: NOON) as chart:
        assert chart.say("note 12.5").calls == ("chart_1.add value=12.5",), chart.why()
        assert chart.say("记录 13", lang="zh").calls == ("chart_1.add value=13.0",), chart.why()
        assert chart.content(Lod.GIST) == "数值：13（2 个点）"


def test_a_curve() -> None:
    assert plot([(0, 0), (1, 1)], 4, 2) == ["⠀⠀⡠⠊", "⡠⠊⠀⠀"]
    assert plot([(5, 5)], 2, 1) == ["⠠⠀"]
    huge = plot([(0, -1.7e308), (1, 1.7e308), (2, 0)], 9, 3)
    assert [len(row) for row in huge] == [9, 9, 9]


def test_the_widget_draws_at_any_size(folder: Path) -> None:
    with WindowTester(ChartWindow, folder=folder, path="weather.csv") as chart:

        class Screen(App[None]):
            def compose(self) -> ComposeResult:
                yield ChartBody(chart.window)

        async def go() -> None:
            for size in [(40, 8), (12, 3), (5, 2), (1, 1)]:
                async with Screen().run_test(size=size) as pilot:
                    await pilot.pause()
                    drawn = str(pilot.app.query_one(ChartBody).render())
                    if size == (40, 8):
                        rows = drawn.split("\n")
                        assert rows[0].startswith("      22 ")
                        assert rows[-1].startswith("    20.5 ")
                        assert len(rows) == 8

        asyncio.run(go())


def test_without_a_screen_textual_is_not_imported() -> None:
    code = "import sys, contextui_examples.chart; print('textual' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"

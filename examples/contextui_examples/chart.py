"""Chart window: numbers over time, drawn by a widget of its own, and as text for the model."""

import csv
import math
from datetime import UTC, datetime
from io import StringIO
from typing import Annotated

from pydantic import BaseModel, Field

from contextui import ActionError, Body, Element, Lod, Window, action
from contextui.text import counted, one_line

_KEPT, _SHOWN, _BYTES = 2_000, 20, 5_000_000  # points, points in words, bytes of a file
Number = Annotated[float, Field(allow_inf_nan=False)]


class Point(BaseModel):
    """A number at a time."""

    at: datetime
    value: float


class ChartWindow(Window):
    """A chart of numbers over time."""

    name = "chart"
    description_zh = "数值随时间变化的图表。"
    widget = "contextui_examples.chart_widget:ChartBody"

    class State(Window.State):
        title: str = ""
        points: list[Point] = []  # in the order of time; the oldest ones are dropped

    state: State

    def opened(self, title: str = "", path: str | None = None) -> None:
        self.state.title = one_line(title, 60)
        if path is not None:
            self.load(path)

    def content(self, lod: Lod) -> Body:
        points, say = self.state.points, self.env.say
        title = self.state.title or say("numbers", "数值")
        if not points:
            return say(f"{title}: no points yet", f"{title}：还没有数据点")
        last, count = f"{points[-1].value:g}", len(points)
        if lod is Lod.GIST:
            number = counted(count, "point")
            return say(f"{title}: {last} ({number})", f"{title}：{last}（{count} 个点）")
        values = [one.value for one in points]
        mean = f"{math.fsum(value / count for value in values):g}"
        least, most = f"{min(values):g}", f"{max(values):g}"
        whole = Element("series", title, points=count, least=least, most=most, mean=mean, last=last)
        if lod is Lod.SUMMARY:
            return [whole]
        step = max(1, math.ceil(count / _SHOWN))
        shown = points[(count - 1) % step :: step]  # the last one is always among them
        return [whole, *(Element("point", f"{one.value:g}", at=_short(one.at)) for one in shown)]

    @action("Add a point, now or at a time", zh="添加数据点", says=["note {value}", "记录 {value}"])
    def add(self, value: Number, at: datetime | None = None) -> str:
        point = Point(at=_utc(at or self.env.clock()), value=value)
        self._keep([*self.state.points, point])
        en = f"Added {value:g} at {_short(point.at)}."
        return self.env.say(en, f"已添加 {value:g}，时间 {_short(point.at)}。")

    @action("Load points from a CSV file of the workspace", "read", zh="从工作区的 CSV 文件读取")
    def load(self, path: str, time: str | None = None, value: str | None = None) -> str:
        """Load points, which replace those shown.

        Args:
            path: A CSV file whose first line names its columns.
            time: The column with the times, in ISO format; by default the first one.
            value: The column with the numbers; by default the second one.
        """
        text = self.env.workspace.read_bytes(path, limit=_BYTES).decode("utf-8-sig", "replace")
        try:
            head, *rows = [row for row in csv.reader(StringIO(text, newline="")) if row] or [[]]
        except csv.Error as error:
            raise ActionError(f"CSV: {error}") from error
        when, which = self._column(head, time, 0), self._column(head, value, 1)
        points = [point for row in rows if (point := _point(row, when, which))]
        if not points:
            en = f"{path} has no lines with a time and a number in these columns."
            raise ActionError(self.env.say(en, f"{path} 的这些列里没有时间和数值。"))
        self.state.title = self.state.title or one_line(head[which], 60)
        self._keep(points)
        left = len(rows) - len(points)
        en = f"Loaded {counted(len(points), 'point')}, left out {counted(left, 'line')}."
        return self.env.say(en, f"读取 {len(points)} 个点，略去 {left} 行。")

    @action("Remove all points", zh="清除所有数据点")
    def clear(self) -> None:
        self.state.points = []

    def _column(self, head: list[str], wanted: str | None, default: int) -> int:
        names = [name.strip() for name in head]
        if wanted in names:
            return names.index(wanted)
        if wanted is None and default < len(names):
            return default
        there = ", ".join(one_line(name, 40) for name in names[:20])
        en = f"There is no column {wanted or default + 1}. There is: {there or 'none'}."
        raise ActionError(
            self.env.say(en, f"没有列 {wanted or default + 1}。现有：{there or '无'}。")
        )

    def _keep(self, points: list[Point]) -> None:
        self.state.points = sorted(points, key=lambda one: one.at)[-_KEPT:]


def _point(row: list[str], when: int, which: int) -> Point | None:
    """Return the point of a line, or None if it has none."""
    try:
        at, value = datetime.fromisoformat(row[when].strip()), float(row[which])
    except (ValueError, IndexError):
        return None
    return Point(at=_utc(at), value=value) if math.isfinite(value) else None


def _utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _short(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}".removesuffix(":00").removesuffix(" 00:00")

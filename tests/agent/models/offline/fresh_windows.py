"""Two more windows that nobody knows but the tests, about trades with words of their own."""

from typing import Literal

from pydantic import BaseModel

from contextui import ActionError, Body, Element, Lod, Window, action

Glaze = Literal["celadon", "tenmoku", "shino", "clear"]
Meadow = Literal["山坡", "果园", "河边"]


class Piece(BaseModel):
    """A piece of pottery in the kiln."""

    name: str
    shelf: int = 1
    glaze: Glaze | None = None


class KilnWindow(Window):
    """A pottery kiln: the pieces on its shelves, and the firing."""

    name = "kiln"

    class State(Window.State):
        clay: str = ""
        pieces: list[Piece] = []
        peak: int = 0
        hours: float = 0
        vent: bool = False

    state: State

    def opened(self, clay: str = "stoneware") -> None:
        self.state.clay = clay

    def content(self, lod: Lod) -> Body:
        state = self.state
        if lod is Lod.GIST:
            return f"{len(state.pieces)} pieces of {state.clay}"
        firing = f"up to {state.peak} °C in {state.hours:g} h" if state.peak else "none"
        pieces = [
            Element("piece", one.name, shelf=one.shelf, glaze=one.glaze) for one in state.pieces
        ]
        vent = "open" if state.vent else "shut"
        return [
            Element("clay", state.clay),
            *pieces,
            Element("firing", firing),
            Element("vent", vent),
        ]

    @action("Put a piece on a shelf")
    def load(self, piece: str, shelf: int = 1) -> str:
        self.state.pieces.append(Piece(name=piece, shelf=shelf))
        return f"{piece} is on shelf {shelf}."

    @action("Take a piece out")
    def unload(self, piece: str) -> str:
        self.state.pieces.remove(self._find(piece))
        return f"{piece} is out."

    @action("Coat a piece with a glaze")
    def coat(self, piece: str, glaze: Glaze) -> str:
        self._find(piece).glaze = glaze
        return f"{piece} has {glaze}."

    @action("Fire up to a peak, in degrees, within some hours")
    def fire(self, peak: int, hours: float = 8) -> str:
        if not 600 <= peak <= 1300:
            raise ActionError(f"The peak can be 600 to 1300 degrees, not {peak}.")
        self.state.peak, self.state.hours = peak, hours
        return f"Firing up to {peak} °C in {hours:g} h."

    @action("Break the firing off")
    def abort(self) -> str:
        self.state.peak = 0
        return "The kiln cools down."

    @action("Open the vent, or shut it")
    def vent(self, open: bool) -> str:  # noqa: A002  (a window may call its params what it likes)
        self.state.vent = open
        return f"The vent is {'open' if open else 'shut'}."

    def _find(self, wanted: str) -> Piece:
        for piece in self.state.pieces:
            if piece.name.casefold() == wanted.strip().casefold():
                return piece
        raise ActionError(f"There is no piece {wanted!r}.")


class Hive(BaseModel):
    """A hive and what is known of it."""

    name: str
    frames: int = 8
    place: Meadow = "山坡"
    honey: float = 0
    remarks: list[str] = []


class ApiaryWindow(Window):
    """养蜂场：蜂箱、产蜜量和巡查记录。An apiary."""

    name = "apiary"

    class State(Window.State):
        hives: list[Hive] = []
        smoking: bool = False

    state: State

    def opened(self, hives: list[str] | None = None) -> None:
        self.state.hives = [Hive(name=name) for name in hives or []]

    def content(self, lod: Lod) -> Body:
        if lod is Lod.GIST:
            return f"{len(self.state.hives)} 个蜂箱"
        hives = [
            Element(
                "hive", one.name, frames=one.frames, place=one.place, honey=f"{one.honey:g} 公斤"
            )
            for one in self.state.hives
        ]
        return [*hives, Element("smoker", "点着" if self.state.smoking else "熄灭")]

    @action("安置新蜂箱 / Set up a new hive")
    def settle(self, hive: str, frames: int = 8) -> str:
        self.state.hives.append(Hive(name=hive, frames=frames))
        return f"安置了 {hive}，{frames} 张巢脾。"

    @action("取蜜，单位公斤 / Harvest honey, in kilos")
    def harvest(self, hive: str, kilos: float) -> str:
        self._find(hive).honey += kilos
        return f"{hive} 取蜜 {kilos:g} 公斤。"

    @action("巡查蜂箱，写下情况 / Inspect a hive")
    def inspect(self, hive: str, remark: str) -> str:
        self._find(hive).remarks.append(remark)
        return f"{hive}：{remark}"

    @action("把蜂箱迁到别处 / Move a hive to another meadow")
    def relocate(self, hive: str, place: Meadow) -> str:
        self._find(hive).place = place
        return f"{hive} 在{place}。"

    @action("撤掉蜂箱 / Take a hive away")
    def dissolve(self, hive: str) -> str:
        self.state.hives.remove(self._find(hive))
        return f"撤掉了 {hive}。"

    @action("点燃或熄灭喷烟器 / Light the smoker, or put it out")
    def smoker(self, on: bool) -> str:
        self.state.smoking = on
        return "点着了。" if on else "熄灭了。"

    def _find(self, wanted: str) -> Hive:
        for hive in self.state.hives:
            if hive.name == wanted.strip():
                return hive
        raise ActionError(f"没有蜂箱 {wanted!r}。")


FRESH: tuple[type[Window], ...] = (KilnWindow, ApiaryWindow)

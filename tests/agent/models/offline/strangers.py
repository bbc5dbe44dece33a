"""Windows of strangers: nothing in the offline model knows of them."""

from typing import Literal

from pydantic import BaseModel

from contextui import ActionError, Body, Element, Lod, Window, action

Column = Literal["backlog", "doing", "done"]
Color = Literal["white", "red", "green", "blue"]


class Card(BaseModel):
    number: int
    title: str
    column: Column = "backlog"
    owner: str = ""


class KanbanWindow(Window):
    """A kanban board with cards in three columns."""

    name = "kanban"
    description_zh = "看板，卡片分三列。"

    class State(Window.State):
        cards: list[Card] = []

    state: State

    def content(self, lod: Lod) -> Body:
        return [
            Element("card", one.title, id=one.number, column=one.column, owner=one.owner or None)
            for one in self.state.cards
        ]

    @action("Put a new card on the board", zh="在看板上添加卡片")
    def add_card(self, title: str, column: Column = "backlog") -> None:
        self.state.cards.append(Card(number=len(self.state.cards) + 1, title=title, column=column))

    @action("Move a card to another column", zh="把卡片移到另一列")
    def move(self, card: int, column: Column) -> None:
        self._card(card).column = column

    @action("Say who works on a card", zh="指定卡片由谁负责")
    def assign(self, card: int, owner: str) -> None:
        self._card(card).owner = owner

    @action("Throw a card away", zh="丢弃卡片")
    def discard(self, card: int) -> None:
        self.state.cards.remove(self._card(card))

    def _card(self, number: int) -> Card:
        for one in self.state.cards:
            if one.number == number:
                return one
        raise ActionError(f"There is no card {number}.")


class LampWindow(Window):
    """The lamps of the house."""

    name = "lamps"
    description_zh = "家里的灯。"

    class Lamp(BaseModel):
        room: str
        on: bool = False
        brightness: int = 100
        color: Color = "white"

    class State(Window.State):
        lamps: list["LampWindow.Lamp"] = []

    state: State

    def opened(self, rooms: list[str] | None = None) -> None:
        for room in rooms or ["kitchen", "bedroom", "hall"]:
            self.state.lamps.append(LampWindow.Lamp(room=room))

    def content(self, lod: Lod) -> Body:
        return [
            Element("lamp", room=one.room, on=one.on, brightness=one.brightness, color=one.color)
            for one in self.state.lamps
        ]

    @action("Switch a lamp on or off", zh="打开或关闭一盏灯")
    def switch(self, room: str, on: bool) -> None:
        self._lamp(room).on = on

    @action("Set how bright a lamp is, in percent", zh="设置灯的亮度，百分比")
    def dim(self, room: str, percent: int) -> None:
        self._lamp(room).brightness = percent

    @action("Choose the color of a lamp", zh="选择灯的颜色")
    def paint(self, room: str, color: Color) -> None:
        self._lamp(room).color = color

    @action("Switch all lamps off", zh="关闭所有的灯")
    def all_off(self) -> None:
        for one in self.state.lamps:
            one.on = False

    def _lamp(self, room: str) -> "LampWindow.Lamp":
        for one in self.state.lamps:
            if one.room == room:
                return one
        raise ActionError(f"There is no lamp in {room!r}.")


class TimerWindow(Window):
    """A kitchen timer."""

    name = "timer"
    description_zh = "厨房计时器。"

    class State(Window.State):
        seconds: int = 0
        running: bool = False
        label: str = ""

    state: State

    def opened(self, seconds: int = 0, label: str = "") -> None:
        self.state.seconds, self.state.label = seconds, label
        self.state.running = seconds > 0

    def content(self, lod: Lod) -> Body:
        state = self.state
        return (
            f"{state.label or 'timer'}: {state.seconds} s, {'running' if state.running else 'idle'}"
        )

    @action("Start counting down", zh="开始倒计时")
    def start(self, seconds: int) -> None:
        self.state.seconds, self.state.running = seconds, True

    @action("Halt, without forgetting how much is left", zh="暂停，保留剩余时间")
    def hold(self) -> None:
        self.state.running = False

    @action("Give it more time", zh="延长时间")
    def extend(self, seconds: int) -> None:
        self.state.seconds += seconds


class ScoresWindow(Window):
    """Who has how many points in a game."""

    name = "scores"
    description_zh = "计分板：游戏中每个人的得分。"

    class State(Window.State):
        points: dict[str, int] = {}

    state: State

    def opened(self, players: list[str] | None = None) -> None:
        self.state.points = dict.fromkeys(players or [], 0)

    def content(self, lod: Lod) -> Body:
        return "\n".join(f"- {name}: {points}" for name, points in self.state.points.items())

    @action("Let somebody play along", zh="让一名玩家加入")
    def join(self, player: str) -> None:
        self.state.points.setdefault(player, 0)

    @action("Give points to a player", zh="给玩家加分")
    def award(self, player: str, points: int) -> None:
        if player not in self.state.points:
            raise ActionError(f"Nobody is called {player!r}.")
        self.state.points[player] += points

    @action("Everybody begins at zero again", zh="重置分数，所有人从零开始")
    def reset(self) -> None:
        self.state.points = dict.fromkeys(self.state.points, 0)


STRANGERS: tuple[type[Window], ...] = (KanbanWindow, LampWindow, TimerWindow, ScoresWindow)

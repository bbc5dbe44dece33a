"""Four windows as a user of the library would write them: lamps, loans, scores and trip."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from contextui import ActionError, Body, Element, Lod, Window, action


class Lamp(BaseModel):
    """A lamp of the flat."""

    name: str
    on: bool = False
    percent: int = Field(default=100, ge=1, le=100)
    colour: Literal["white", "warm", "red", "blue", "green"] = "white"


class LampsWindow(Window):
    """The lamps at home: on or off, brightness and colour."""

    name = "lamps"
    description_zh = "家里的灯：开关、亮度和颜色。"

    class State(Window.State):
        lamps: list[Lamp] = []

    state: State

    def opened(self, names: list[str] | None = None) -> None:
        for name in names or []:
            self.add(name)

    def content(self, lod: Lod) -> Body:
        lamps, say = self.state.lamps, self.env.say
        burning = sum(lamp.on for lamp in lamps)
        if lod is Lod.GIST or not lamps:
            return say(
                f"{burning} of {len(lamps)} lamps on", f"{len(lamps)} 盏灯，{burning} 盏亮着"
            )
        return [
            Element(
                "lamp",
                lamp.name,
                state=say("on", "开") if lamp.on else say("off", "关"),
                brightness=f"{lamp.percent}%",
                colour=lamp.colour,
            )
            for lamp in lamps
        ]

    @action("Add a lamp", zh="添加一盏灯")
    def add(self, name: str) -> str:
        self.state.lamps.append(Lamp(name=name))
        return self.env.say(f"Added {name}.", f"已添加 {name}。")

    @action("Switch a lamp on or off", zh="开灯或关灯")
    def switch(self, lamp: str, on: bool) -> str:
        found = self._find(lamp)
        found.on = on
        words = self.env.say("on" if on else "off", "已打开" if on else "已关闭")
        return self.env.say(f"{found.name} is {words}.", f"{found.name}{words}。")

    @action("Set the brightness of a lamp, in percent", zh="调节一盏灯的亮度，百分比")
    def dim(self, lamp: str, percent: int) -> str:
        found = self._find(lamp)
        if not 1 <= percent <= 100:
            en = f"The brightness is 1 to 100 percent, not {percent}."
            raise ActionError(self.env.say(en, f"亮度是 1 到 100，不能是 {percent}。"))
        found.percent = percent
        return self.env.say(f"{found.name}: {percent}%.", f"{found.name}亮度 {percent}%。")

    @action(
        "Choose the colour of a lamp",
        zh="选择一盏灯的颜色：white 白，warm 暖，red 红，blue 蓝，green 绿",
    )
    def colour(self, lamp: str, colour: Literal["white", "warm", "red", "blue", "green"]) -> str:
        found = self._find(lamp)
        found.colour = colour
        return self.env.say(f"{found.name} is {colour}.", f"{found.name}的颜色是 {colour}。")

    @action("Switch all lamps off", zh="关掉所有的灯")
    def all_off(self) -> str:
        for lamp in self.state.lamps:
            lamp.on = False
        return self.env.say("All lamps are off.", "所有的灯都关了。")

    def _find(self, wanted: str) -> Lamp:
        for lamp in self.state.lamps:
            if lamp.name.casefold() == wanted.strip().casefold():
                return lamp
        names = ", ".join(lamp.name for lamp in self.state.lamps)
        raise ActionError(
            self.env.say(
                f"No lamp {wanted!r}. There is: {names}.", f"没有 {wanted!r}。现有：{names}。"
            )
        )


class Loan(BaseModel):
    """A thing that somebody else has now."""

    id: int
    thing: str
    to: str
    until: date | None = None


class LoansWindow(Window):
    """Things you lent to other people, and when they come back."""

    name = "loans"
    description_zh = "借给别人的东西，以及什么时候还。"

    class State(Window.State):
        loans: list[Loan] = []
        last_id: int = 0

    state: State

    def content(self, lod: Lod) -> Body:
        loans, say = self.state.loans, self.env.say
        if lod is Lod.GIST or not loans:
            return say(f"{len(loans)} things lent", f"借出 {len(loans)} 件")
        return [
            Element("loan", one.thing, id=one.id, to=one.to, until=one.until and str(one.until))
            for one in loans
        ]

    @action("Lend a thing to somebody", zh="把东西借给某人")
    def lend(self, thing: str, to: str, until: date | None = None) -> str:
        self.state.last_id += 1
        self.state.loans.append(Loan(id=self.state.last_id, thing=thing, to=to, until=until))
        return self.env.say(f"{to} has {thing}.", f"{thing}借给了{to}。")

    @action("A thing was returned", zh="东西还回来了")
    def returned(self, loan: int | str) -> str:
        found = self._find(loan)
        self.state.loans.remove(found)
        return self.env.say(f"{found.thing} is back.", f"{found.thing}已归还。")

    @action("Extend a loan to another day", zh="延长归还日期")
    def extend(self, loan: int | str, until: date) -> str:
        found = self._find(loan)
        found.until = until
        return self.env.say(f"{found.thing}: until {until}.", f"{found.thing}：{until} 归还。")

    def _find(self, wanted: int | str) -> Loan:
        words = str(wanted).strip().casefold()
        for one in self.state.loans:
            if words in (str(one.id), one.thing.casefold()):
                return one
        there_is = ", ".join(f"{one.id} {one.thing}" for one in self.state.loans)
        raise ActionError(
            self.env.say(
                f"{wanted!r} is not lent. There is: {there_is or 'none'}.",
                f"没有借出 {wanted!r}。现有：{there_is or '无'}。",
            )
        )


class Player(BaseModel):
    """Somebody who plays."""

    name: str
    points: int = 0


class ScoresWindow(Window):
    """The scoreboard of a game: players and their points."""

    name = "scores"
    description_zh = "游戏记分板：玩家和得分。"

    class State(Window.State):
        players: list[Player] = []

    state: State

    def opened(self, players: list[str] | None = None) -> None:
        if players:
            self.join(players)

    def content(self, lod: Lod) -> Body:
        players, say = self.state.players, self.env.say
        if lod is Lod.GIST or not players:
            return say(f"{len(players)} players", f"{len(players)} 名玩家")
        return [Element("player", one.name, points=one.points) for one in players]

    @action("Add players", zh="添加玩家")
    def join(self, names: list[str]) -> str:
        self.state.players += [Player(name=name) for name in names]
        return self.env.say(f"{len(names)} joined.", f"加入 {len(names)} 人。")

    @action("Give points to a player; negative ones take them away", zh="给玩家加分，负数为扣分")
    def score(self, player: str, points: int) -> str:
        found = self._find(player)
        found.points += points
        return self.env.say(
            f"{found.name} has {found.points}.", f"{found.name}有 {found.points} 分。"
        )

    @action("Remove a player", zh="移除玩家")
    def leave(self, player: str) -> str:
        found = self._find(player)
        self.state.players.remove(found)
        return self.env.say(f"{found.name} left.", f"{found.name}已退出。")

    @action("Set all points to zero", zh="全部清零")
    def reset(self) -> str:
        for one in self.state.players:
            one.points = 0
        return self.env.say("All have 0 points.", "全部为 0 分。")

    def _find(self, wanted: str) -> Player:
        for one in self.state.players:
            if one.name.casefold() == wanted.strip().casefold():
                return one
        names = ", ".join(one.name for one in self.state.players)
        raise ActionError(
            self.env.say(f"{wanted!r} does not play: {names}.", f"{wanted!r} 不在玩家中：{names}。")
        )


class Stop(BaseModel):
    """A city of the trip."""

    city: str
    nights: int = 1


class TripWindow(Window):
    """A trip: its stops, the nights in each, and how you travel."""

    name = "trip"
    description_zh = "旅行计划：站点、住几晚、交通方式。"

    class State(Window.State):
        stops: list[Stop] = []
        by: Literal["train", "car", "plane"] = "car"
        budget: float | None = None

    state: State

    def opened(self, cities: list[str] | None = None) -> None:
        for city in cities or []:
            self.add_stop(city)

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        nights = sum(stop.nights for stop in state.stops)
        if lod is Lod.GIST:
            return say(
                f"{len(state.stops)} stops, {nights} nights", f"{len(state.stops)} 站，{nights} 晚"
            )
        stops = [Element("stop", stop.city, nights=stop.nights) for stop in state.stops]
        return [*stops, Element("travel", by=state.by, budget=state.budget)]

    @action("Add a stop", zh="添加一站")
    def add_stop(self, city: str, nights: int = 1) -> str:
        self.state.stops.append(Stop(city=city, nights=nights))
        return self.env.say(f"{city}, {nights} nights.", f"{city}，住 {nights} 晚。")

    @action("Change how many nights you stay in a city", zh="修改在某个城市住几晚")
    def stay(self, city: str, nights: int) -> str:
        found = self._find(city)
        found.nights = nights
        return self.env.say(f"{city}: {nights} nights.", f"{city}住 {nights} 晚。")

    @action("Remove a stop", zh="去掉一站")
    def skip(self, city: str) -> str:
        self.state.stops.remove(self._find(city))
        return self.env.say(f"Without {city}.", f"不去{city}了。")

    @action("Choose how you travel", zh="选择交通方式：train 火车，car 汽车，plane 飞机")
    def travel(self, by: Literal["train", "car", "plane"]) -> str:
        self.state.by = by
        return self.env.say(f"By {by}.", f"交通方式：{by}。")

    @action("Set the budget", zh="设定预算")
    def budget(self, amount: float) -> str:
        self.state.budget = amount
        return self.env.say(f"Budget: {amount:g}.", f"预算：{amount:g}。")

    def _find(self, wanted: str) -> Stop:
        for stop in self.state.stops:
            if stop.city.casefold() == wanted.strip().casefold():
                return stop
        cities = ", ".join(stop.city for stop in self.state.stops)
        raise ActionError(
            self.env.say(
                f"No stop {wanted!r}. There is: {cities}.", f"没有 {wanted!r}。现有：{cities}。"
            )
        )


WINDOWS = (LampsWindow, LoansWindow, ScoresWindow, TripWindow)

"""Three more windows of daily and office life: birthdays, helpdesk and coffee."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from contextui import ActionError, Body, Element, Lod, Window, action

Priority = Literal["low", "normal", "high", "urgent"]
Drink = Literal["espresso", "americano", "cappuccino", "latte"]


class Birthday(BaseModel):
    """Somebody's birthday, and what to give."""

    name: str
    day: date | None = None
    gifts: list[str] = []
    remind_days: int = Field(default=1, ge=0)


class BirthdaysWindow(Window):
    """Birthdays of friends and family, with gift ideas and reminders."""

    name = "birthdays"
    description_zh = "亲友的生日、礼物想法和提醒。"

    class State(Window.State):
        people: list[Birthday] = []

    state: State

    def content(self, lod: Lod) -> Body:
        people, say = self.state.people, self.env.say
        if lod is Lod.GIST or not people:
            return say(f"{len(people)} birthdays", f"{len(people)} 个生日")
        return [
            Element(
                "person",
                one.name,
                birthday=one.day and str(one.day),
                gifts=", ".join(one.gifts) or None,
                remind=say(f"{one.remind_days} days before", f"提前 {one.remind_days} 天"),
            )
            for one in people
        ]

    @action("Add somebody's birthday", zh="添加某人的生日")
    def add(self, name: str, day: date | None = None) -> str:
        self.state.people.append(Birthday(name=name, day=day))
        return self.env.say(f"Added {name}.", f"已添加{name}。")

    @action("Change the date of a birthday", zh="修改生日的日期")
    def change_date(self, person: str, day: date) -> str:
        found = self._find(person)
        found.day = day
        return self.env.say(f"{found.name}: {day}.", f"{found.name}：{day}。")

    @action("Add gift ideas for a person", zh="给某人添加礼物想法")
    def gift(self, person: str, gifts: list[str]) -> str:
        found = self._find(person)
        found.gifts += gifts
        words = ", ".join(found.gifts)
        return self.env.say(f"{found.name}: {words}.", f"{found.name}：{words}。")

    @action("Set how many days before a birthday you are reminded", zh="设定提前几天提醒某人的生日")
    def remind(self, person: str, days: int) -> str:
        found = self._find(person)
        found.remind_days = days
        return self.env.say(f"{found.name}: {days} days before.", f"{found.name}：提前 {days} 天。")

    @action("Remove a person", zh="删除某人")
    def remove(self, person: str) -> str:
        found = self._find(person)
        self.state.people.remove(found)
        return self.env.say(f"Removed {found.name}.", f"已删除{found.name}。")

    def _find(self, wanted: str) -> Birthday:
        for one in self.state.people:
            if one.name.casefold() == wanted.strip().casefold():
                return one
        names = ", ".join(one.name for one in self.state.people)
        raise ActionError(
            self.env.say(f"{wanted!r} is not listed: {names}.", f"没有 {wanted!r}。现有：{names}。")
        )


class Ticket(BaseModel):
    """A problem that somebody reported."""

    id: int
    title: str
    priority: Priority = "normal"
    to: str | None = None
    labels: list[str] = []
    solved: bool = False


class HelpdeskWindow(Window):
    """Tickets of the IT helpdesk: who works on them, priority and labels."""

    name = "helpdesk"
    description_zh = "IT 服务台的工单：处理人、优先级和标签。"

    class State(Window.State):
        tickets: list[Ticket] = []
        last_id: int = 100

    state: State

    def content(self, lod: Lod) -> Body:
        tickets, say = self.state.tickets, self.env.say
        unsolved = sum(not one.solved for one in tickets)
        if lod is Lod.GIST or not tickets:
            return say(
                f"{unsolved} of {len(tickets)} tickets unsolved",
                f"{len(tickets)} 个工单，{unsolved} 个未解决",
            )
        return [
            Element(
                "ticket",
                one.title,
                id=one.id,
                priority=one.priority,
                assigned_to=one.to,
                labels=", ".join(one.labels) or None,
                solved=one.solved or None,
            )
            for one in tickets
        ]

    @action("Create a ticket", zh="新建工单")
    def create(self, title: str, priority: Priority = "normal") -> str:
        self.state.last_id += 1
        self.state.tickets.append(Ticket(id=self.state.last_id, title=title, priority=priority))
        return self.env.say(f"Ticket {self.state.last_id}.", f"工单 {self.state.last_id}。")

    @action("Assign a ticket to somebody", zh="把工单分配给某人")
    def assign(self, ticket: int, to: str) -> str:
        found = self._find(ticket)
        found.to = to
        return self.env.say(f"{found.id} is with {to}.", f"{found.id} 由{to}处理。")

    @action(
        "Set the priority of a ticket",
        zh="设定工单的优先级：low 低，normal 普通，high 高，urgent 紧急",
    )
    def priority(self, ticket: int, priority: Priority) -> str:
        found = self._find(ticket)
        found.priority = priority
        return self.env.say(f"{found.id}: {priority}.", f"{found.id}：{priority}。")

    @action("Add labels to a ticket", zh="给工单加标签")
    def label(self, ticket: int, labels: list[str]) -> str:
        found = self._find(ticket)
        found.labels += labels
        return self.env.say(
            f"{found.id}: {', '.join(found.labels)}.", f"{found.id}：{'、'.join(found.labels)}。"
        )

    @action("Mark a ticket as solved", zh="把工单标为已解决")
    def solve(self, ticket: int) -> str:
        found = self._find(ticket)
        found.solved = True
        return self.env.say(f"{found.id} is solved.", f"{found.id} 已解决。")

    @action("Reopen a ticket that was solved", zh="重新打开已解决的工单")
    def reopen(self, ticket: int) -> str:
        found = self._find(ticket)
        found.solved = False
        return self.env.say(f"{found.id} is open again.", f"{found.id} 已重新打开。")

    def _find(self, wanted: int) -> Ticket:
        for one in self.state.tickets:
            if one.id == wanted:
                return one
        there_is = ", ".join(f"{one.id} {one.title}" for one in self.state.tickets)
        raise ActionError(
            self.env.say(
                f"No ticket {wanted}. There is: {there_is or 'none'}.",
                f"没有工单 {wanted}。现有：{there_is or '无'}。",
            )
        )


class Cup(BaseModel):
    """A drink that the machine made."""

    drink: Drink
    cups: int = 1
    milk: bool = False


class CoffeeWindow(Window):
    """The coffee machine in the kitchen: drinks, strength, water and cleaning."""

    name = "coffee"
    description_zh = "厨房的咖啡机：饮品、浓度、水量和清洗。"

    class State(Window.State):
        made: list[Cup] = []
        strength: int = Field(3, ge=1, le=5)
        water: int = 500
        clean: bool = False

    state: State

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        if lod is Lod.GIST:
            return say(f"{len(state.made)} drinks made", f"做了 {len(state.made)} 份")
        made = [
            Element("made", one.drink, cups=one.cups, milk=one.milk or None) for one in state.made
        ]
        clean = say("yes", "是") if state.clean else say("no", "否")
        return [
            *made,
            Element(
                "machine", strength=f"{state.strength}/5", water=f"{state.water} ml", clean=clean
            ),
        ]

    @action(
        "Brew a drink, one cup or several, with extra milk or without",
        zh="做一份饮品，一杯或几杯，可加奶："
        "espresso 浓缩，americano 美式，cappuccino 卡布奇诺，latte 拿铁",
    )
    def brew(self, drink: Drink, cups: int = 1, milk: bool = False) -> str:
        self.state.made.append(Cup(drink=drink, cups=cups, milk=milk))
        self.state.clean = False
        return self.env.say(f"{cups} {drink}.", f"{drink} {cups} 杯。")

    @action("Set the strength of the coffee, 1 to 5", zh="设定咖啡浓度，1 到 5")
    def strength(self, strength: int) -> str:
        if not 1 <= strength <= 5:
            en = f"The strength is 1 to 5, not {strength}."
            raise ActionError(self.env.say(en, f"浓度是 1 到 5，不能是 {strength}。"))
        self.state.strength = strength
        return self.env.say(f"Strength {strength}.", f"浓度 {strength}。")

    @action("Fill in water, in ml", zh="加水，单位毫升")
    def fill(self, ml: int) -> str:
        self.state.water += ml
        return self.env.say(f"{self.state.water} ml of water.", f"水 {self.state.water} 毫升。")

    @action("Clean the machine", zh="清洗机器")
    def clean(self) -> str:
        self.state.clean = True
        return self.env.say("The machine is clean.", "机器已清洗。")


WINDOWS = (BirthdaysWindow, HelpdeskWindow, CoffeeWindow)

"""Five windows as a user of the library would write them: pets, expenses, guests, alarms, oven."""

import re
from typing import Literal

from pydantic import BaseModel, Field

from contextui import ActionError, Body, Element, Lod, Window, action

Kind = Literal["dog", "cat", "bird", "fish", "other"]
Category = Literal["food", "home", "travel", "fun", "other"]
Reply = Literal["yes", "no", "maybe"]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Program = Literal["fan", "grill", "pizza", "steam"]


class Pet(BaseModel):
    id: int
    name: str
    kind: Kind = "other"
    kilos: float | None = None
    meals: int = Field(2, gt=0)
    fed: bool = False


class PetsWindow(Window):
    """Pets: what they weigh, how many meals they get a day, and who has been fed."""

    name = "pets"
    description_zh = "家里的宠物：体重多少、一天喂几次、今天喂过没有。"

    class State(Window.State):
        pets: list[Pet] = []
        last_id: int = 0

    state: State

    def opened(self, names: list[str] | None = None) -> None:
        for name in names or []:
            self.add(name)

    def content(self, lod: Lod) -> Body:
        pets, say = self.state.pets, self.env.say
        hungry = [one for one in pets if not one.fed]
        if lod is Lod.GIST or not pets:
            en = f"{len(pets)} pets, {len(hungry)} hungry"
            return say(en, f"{len(pets)} 只宠物，{len(hungry)} 只还没喂")
        return [
            Element(
                "pet",
                one.name,
                id=one.id,
                kind=one.kind,
                weight=one.kilos and f"{one.kilos:g} kg",
                meals=one.meals,
                fed=say("yes", "喂过了") if one.fed else say("no", "没喂"),
            )
            for one in (pets if lod is Lod.FULL else hungry)
        ]

    @action(
        "Add a pet: its name, what it is, and how many meals it gets a day",
        zh="添加宠物：名字、种类（dog 狗，cat 猫，bird 鸟，fish 鱼，other 其他）、一天喂几次",
    )
    def add(self, name: str, kind: Kind = "other", meals: int = 2) -> str:
        self.state.last_id += 1
        self.state.pets.append(Pet(id=self.state.last_id, name=name, kind=kind, meals=meals))
        return self.env.say(f"Added {name!r} as {self.state.last_id}.", f"已添加 {name}。")

    @action("Feed pets, by name", zh="喂宠物，按名字")
    def feed(self, names: list[str]) -> str:
        for pet in [self._find(one) for one in names]:
            pet.fed = True
        words = ", ".join(names)
        return self.env.say(f"Fed: {words}.", f"已喂：{words}。")

    @action("Note what a pet weighs, in kilos", zh="记下宠物的体重，单位公斤")
    def weigh(self, pet: int | str, kilos: float) -> str:
        found = self._find(pet)
        found.kilos = kilos
        return self.env.say(f"{found.name!r}: {kilos:g} kg.", f"{found.name}：{kilos:g} 公斤。")

    @action("Set how many meals a pet gets a day", zh="设定宠物一天喂几次")
    def meals(self, pet: int | str, count: int) -> str:
        found = self._find(pet)
        found.meals = count
        return self.env.say(f"{found.name!r}: {count} a day.", f"{found.name}：一天 {count} 次。")

    @action("Remove a pet", zh="移除一只宠物")
    def remove(self, pet: int | str) -> str:
        found = self._find(pet)
        self.state.pets.remove(found)
        return self.env.say(f"Removed {found.name!r}.", f"已移除 {found.name}。")

    def _find(self, wanted: int | str) -> Pet:
        word = str(wanted).strip().casefold()
        for pet in self.state.pets:
            if word in (str(pet.id), pet.name.casefold()):
                return pet
        there_is = ", ".join(one.name for one in self.state.pets) or "–"
        en = f"There is no pet {str(wanted)!r}. There is: {there_is}."
        raise ActionError(self.env.say(en, f"没有宠物“{wanted}”。现有：{there_is}。"))


class Expense(BaseModel):
    id: int
    amount: float
    what: str
    category: Category = "other"


class ExpensesWindow(Window):
    """Expenses: what you spent and on what, and a budget for the month."""

    name = "expenses"
    description_zh = "记账：每笔支出花在哪里，以及本月预算。"

    class State(Window.State):
        expenses: list[Expense] = []
        monthly: float = 0
        category: Category | None = None
        last_id: int = 0

    state: State

    def opened(self, budget: float = 0) -> None:
        self.state.monthly = budget

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        total = round(sum(one.amount for one in state.expenses), 2)
        left = round(state.monthly - total, 2)
        if lod is Lod.GIST:
            en = f"{len(state.expenses)} expenses, {total:g} in all"
            return say(en, f"{len(state.expenses)} 笔支出，共 {total:g}")
        wanted = [one for one in state.expenses if state.category in (None, one.category)]
        body = [
            Element("expense", one.what, id=one.id, amount=f"{one.amount:g}", category=one.category)
            for one in wanted
        ]
        if lod is Lod.SUMMARY:
            body = body[-5:]
        if state.category:
            body.append(Element("only", category=state.category))
        sums = {"spent": f"{total:g}"}
        if state.monthly:
            sums |= {"budget": f"{state.monthly:g}", "left": f"{left:g}"}
        return [*body, Element("month", **sums)]

    @action(
        "Add an expense: the amount, what it was for, and its category",
        zh="记一笔支出：金额、花在什么上、类别（food 餐饮，home 家居，travel 交通，fun 娱乐，other 其他）",  # noqa: E501
    )
    def add(self, amount: float, what: str, category: Category = "other") -> str:
        if amount <= 0:
            raise ActionError(self.env.say("An amount is more than 0.", "金额要大于 0。"))
        self.state.last_id += 1
        new = Expense(id=self.state.last_id, amount=amount, what=what, category=category)
        self.state.expenses.append(new)
        return self.env.say(
            f"Added {new.id}: {amount:g} for {what!r}.", f"已记下：{what} {amount:g}。"
        )

    @action("Change the amount of an expense", zh="修改一笔支出的金额")
    def change(self, expense: int | str, amount: float) -> str:
        found = self._find(expense)
        found.amount = amount
        return self.env.say(
            f"{found.what!r} is {amount:g} now.", f"{found.what} 现在是 {amount:g}。"
        )

    @action("Delete an expense", zh="删除一笔支出")
    def delete(self, expense: int | str) -> str:
        found = self._find(expense)
        self.state.expenses.remove(found)
        return self.env.say(f"Deleted {found.what!r}.", f"已删除 {found.what}。")

    @action("Set the budget for the month", zh="设定本月预算")
    def budget(self, amount: float) -> str:
        self.state.monthly = amount
        return self.env.say(f"The budget is {amount:g}.", f"预算为 {amount:g}。")

    @action(
        "Show the expenses of one category only; without one, all",
        zh="只显示某一类的支出（food 餐饮，home 家居，travel 交通，fun 娱乐，other 其他），不给则全部",  # noqa: E501
    )
    def show(self, category: Category | None = None) -> str:
        self.state.category = category
        return self.env.say(f"Shown: {category or 'all'}.", f"显示：{category or '全部'}。")

    def _find(self, wanted: int | str) -> Expense:
        word = str(wanted).strip().casefold()
        for one in self.state.expenses:
            if word in (str(one.id), one.what.casefold()):
                return one
        en = f"There is no expense {str(wanted)!r}."
        raise ActionError(self.env.say(en, f"没有支出“{wanted}”。"))


class Guest(BaseModel):
    name: str
    reply: Reply | None = None
    table: int | None = None
    vegetarian: bool = False


class GuestsWindow(Window):
    """The guest list of a party: who is invited, who is coming, and where they sit."""

    name = "guests"
    description_zh = "聚会的客人名单：请了谁、谁会来、坐哪一桌。"

    class State(Window.State):
        guests: list[Guest] = []

    state: State

    def opened(self, names: list[str] | None = None) -> None:
        if names:
            self.invite(names)

    def content(self, lod: Lod) -> Body:
        guests, say = self.state.guests, self.env.say
        coming = [one for one in guests if one.reply == "yes"]
        head = say(
            f"{len(guests)} invited, {len(coming)} coming",
            f"已邀请 {len(guests)} 人，{len(coming)} 人会来",
        )
        if lod is Lod.GIST or not guests:
            return head
        rows = [
            Element(
                "guest",
                one.name,
                reply=one.reply,
                table=one.table,
                vegetarian=one.vegetarian or None,
            )
            for one in (guests if lod is Lod.FULL else coming)
        ]
        return [*rows, Element("count", head)]

    @action("Invite people", zh="邀请客人")
    def invite(self, names: list[str]) -> str:
        known = {one.name.casefold() for one in self.state.guests}
        new = [one.strip() for one in names if one.strip().casefold() not in known]
        if not new:
            raise ActionError(self.env.say("They are all invited already.", "他们都已被邀请。"))
        self.state.guests += [Guest(name=one) for one in new]
        words = ", ".join(new)
        return self.env.say(f"Invited: {words}.", f"已邀请：{words}。")

    @action(
        "Note whether a guest is coming: yes, no or maybe",
        zh="记下客人的答复：yes 来，no 不来，maybe 还不确定",
    )
    def reply(self, guest: str, answer: Reply) -> str:
        found = self._find(guest)
        found.reply = answer
        return f"{found.name}: {answer}."

    @action("Seat a guest at a table", zh="安排客人坐某一桌")
    def seat(self, guest: str, table: int) -> str:
        if not 1 <= table <= 20:
            raise ActionError(self.env.say("There are tables 1 to 20.", "只有 1 到 20 桌。"))
        found = self._find(guest)
        found.table = table
        return self.env.say(
            f"{found.name} sits at table {table}.", f"{found.name} 坐第 {table} 桌。"
        )

    @action("Note whether a guest is vegetarian", zh="记下客人是否吃素")
    def diet(self, guest: str, vegetarian: bool = True) -> str:
        found = self._find(guest)
        found.vegetarian = vegetarian
        return f"{found.name}: {'vegetarian' if vegetarian else 'eats everything'}."

    @action("Take a guest off the list", zh="从名单上去掉客人")
    def uninvite(self, guest: str) -> str:
        found = self._find(guest)
        self.state.guests.remove(found)
        return self.env.say(f"{found.name} is off the list.", f"{found.name} 已从名单上去掉。")

    def _find(self, wanted: str) -> Guest:
        for one in self.state.guests:
            if one.name.casefold() == wanted.strip().casefold():
                return one
        there_is = ", ".join(one.name for one in self.state.guests) or "–"
        en = f"{wanted!r} is not invited. Invited: {there_is}."
        raise ActionError(self.env.say(en, f"没有邀请“{wanted}”。已邀请：{there_is}。"))


class Alarm(BaseModel):
    id: int
    time: str
    label: str = ""
    days: list[Day] = []
    on: bool = True


class AlarmsWindow(Window):
    """An alarm clock with several alarms."""

    name = "alarms"
    description_zh = "闹钟，可以设多个。"

    class State(Window.State):
        alarms: list[Alarm] = []
        loudness: int = Field(60, ge=0, le=100)
        snooze_minutes: int = 10
        last_id: int = 0

    state: State

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        active = [one for one in state.alarms if one.on]
        if lod is Lod.GIST:
            return say(f"{len(active)} alarms on", f"{len(active)} 个闹钟开着")
        rows = [
            Element(
                "alarm",
                one.label or say("Alarm", "闹钟"),
                id=one.id,
                time=one.time,
                days=", ".join(one.days) or None,
                state=say("on", "开") if one.on else say("off", "关"),
            )
            for one in (state.alarms if lod is Lod.FULL else active)
        ]
        snooze = say(f"{state.snooze_minutes} min", f"{state.snooze_minutes} 分钟")
        return [*rows, Element("settings", volume=f"{state.loudness}%", snooze=snooze)]

    @action(
        "Set a new alarm at a time such as 6:45, for some days of the week or once",
        zh="新设一个闹钟，时间如 6:45；days 为星期几，不给则只响一次",
    )
    def set(self, time: str, label: str = "", days: list[Day] | None = None) -> str:
        self.state.last_id += 1
        alarm = Alarm(id=self.state.last_id, time=self._time(time), label=label, days=days or [])
        self.state.alarms.append(alarm)
        return self.env.say(
            f"Alarm {alarm.id} at {alarm.time}.", f"闹钟 {alarm.id}：{alarm.time}。"
        )

    @action("Change the time of an alarm", zh="修改闹钟的时间")
    def change(self, alarm: int | str, time: str) -> str:
        found = self._find(alarm)
        found.time = self._time(time)
        return self.env.say(
            f"Alarm {found.id} is at {found.time}.", f"闹钟 {found.id} 改为 {found.time}。"
        )

    @action("Switch an alarm on or off", zh="打开或关掉一个闹钟")
    def switch(self, alarm: int | str, on: bool) -> str:
        found = self._find(alarm)
        found.on = on
        en = f"Alarm {found.id} is {'on' if on else 'off'}."
        return self.env.say(en, f"闹钟 {found.id} 已{'打开' if on else '关掉'}。")

    @action("Delete an alarm", zh="删除一个闹钟")
    def delete(self, alarm: int | str) -> str:
        found = self._find(alarm)
        self.state.alarms.remove(found)
        return self.env.say(f"Alarm {found.id} is deleted.", f"已删除闹钟 {found.id}。")

    @action("Set the volume, 0 to 100 percent", zh="设定音量，0 到 100")
    def volume(self, percent: int) -> str:
        self.state.loudness = percent
        return self.env.say(f"Volume {percent}%.", f"音量 {percent}%。")

    @action("Set how long snooze lasts, in minutes", zh="设定贪睡几分钟")
    def snooze(self, minutes: int) -> str:
        if not 1 <= minutes <= 60:
            raise ActionError(self.env.say("Snooze lasts 1 to 60 minutes.", "贪睡 1 到 60 分钟。"))
        self.state.snooze_minutes = minutes
        return self.env.say(f"Snooze: {minutes} min.", f"贪睡 {minutes} 分钟。")

    def _time(self, time: str) -> str:
        found = re.fullmatch(r"\s*(\d{1,2})[:：](\d{2})\s*", time)
        if not found or int(found[1]) > 23 or int(found[2]) > 59:
            en = f"Give a time such as 6:45 or 18:30, not {time!r}."
            raise ActionError(
                self.env.say(en, f"请给出 6:45 或 18:30 这样的时间，而不是“{time}”。")
            )
        return f"{int(found[1]):02}:{found[2]}"

    def _find(self, wanted: int | str) -> Alarm:
        word = str(wanted).strip().casefold()
        padded = word.zfill(5)
        fits = [one for one in self.state.alarms if str(one.id) == word]
        fits = fits or [one for one in self.state.alarms if one.label.casefold() == word]
        fits = fits or [one for one in self.state.alarms if one.time == padded]
        if len(fits) != 1:
            there_is = ", ".join(f"{one.id} {one.time} {one.label}" for one in self.state.alarms)
            en = f"Which alarm? {wanted!r} fits {len(fits)}. There is: {there_is or 'none'}."
            raise ActionError(self.env.say(en, f"哪个闹钟？现有：{there_is or '无'}。"))
        return fits[0]


class OvenWindow(Window):
    """The oven in the kitchen: program, temperature, timer, light and child lock."""

    name = "oven"
    description_zh = "厨房的烤箱：程序、温度、定时、灯和童锁。"

    class State(Window.State):
        degrees: int = 0
        program: Program | None = None
        minutes: float = 0
        lit: bool = False
        locked: bool = False

    state: State

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        heat = f"{state.program}, {state.degrees} °C" if state.program else say("off", "关")
        if lod is Lod.GIST:
            return heat
        timer = say(f"{state.minutes:g} min", f"{state.minutes:g} 分钟")
        return [
            Element("heat", heat),
            Element("timer", timer if state.minutes else say("none", "无")),
            Element("light", say("on", "开") if state.lit else say("off", "关")),
            Element("lock", say("on", "开") if state.locked else say("off", "关")),
        ]

    @action(
        "Heat to a temperature with a program: fan, grill, pizza or steam",
        zh="加热到某个温度；程序：fan 热风，grill 烧烤，pizza 披萨，steam 蒸汽",
    )
    def heat(self, degrees: int, program: Program = "fan") -> str:
        if not 40 <= degrees <= 275:
            raise ActionError(
                self.env.say(
                    f"40 to 275 degrees, not {degrees}.", f"40 到 275 度，不能是 {degrees} 度。"
                )
            )
        self.state.degrees, self.state.program = degrees, program
        return self.env.say(
            f"Heating to {degrees} °C, {program}.", f"正在加热到 {degrees} °C，{program}。"
        )

    @action("Set the timer in minutes; 0 is none", zh="定时若干分钟，0 为不定时")
    def timer(self, minutes: float) -> str:
        if minutes < 0:
            raise ActionError(self.env.say("Minutes are 0 or more.", "分钟数不能小于 0。"))
        self.state.minutes = minutes
        return self.env.say(f"Timer: {minutes:g} min.", f"定时 {minutes:g} 分钟。")

    @action("Switch the light on or off", zh="开灯或关灯")
    def light(self, on: bool) -> str:
        self.state.lit = on
        return self.env.say(f"Light {'on' if on else 'off'}.", f"灯已{'开' if on else '关'}。")

    @action("Switch the child lock on or off", zh="打开或关闭童锁")
    def lock(self, on: bool) -> str:
        self.state.locked = on
        return self.env.say(
            f"Child lock {'on' if on else 'off'}.", f"童锁已{'开' if on else '关'}。"
        )

    @action("Stop heating", zh="停止加热")
    def off(self) -> str:
        if not self.state.program:
            raise ActionError(self.env.say("It is off already.", "已经关了。"))
        self.state.program, self.state.degrees, self.state.minutes = None, 0, 0
        return self.env.say("Off.", "已关。")


WINDOWS = (PetsWindow, ExpensesWindow, GuestsWindow, AlarmsWindow, OvenWindow)

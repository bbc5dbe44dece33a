"""Four windows that a user of the library might have written: recipe, plants, seating, heating."""

from datetime import date
from typing import Literal

from pydantic import BaseModel

from contextui import ActionError, Body, Element, Lod, Window, action

Unit = Literal["g", "ml", "tbsp", "tsp", "pcs"]
Place = Literal["window", "balcony", "bathroom"]
Diet = Literal["any", "vegetarian", "vegan", "halal"]
Mode = Literal["comfort", "eco", "holiday"]


class Ingredient(BaseModel):
    """Something that goes into a dish."""

    name: str
    amount: float
    unit: Unit = "g"


class RecipeWindow(Window):
    """A recipe whose amounts are scaled to the number of servings."""

    name = "recipe"
    description_zh = "菜谱，用量按人数换算。"

    class State(Window.State):
        title: str = ""
        servings: int = 4
        ingredients: list[Ingredient] = []

    state: State

    def opened(self, title: str = "", servings: int = 4) -> None:
        self.state.title, self.state.servings = title, servings

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        title = state.title or say("(no title)", "（无标题）")
        head = say(f"{title}, for {state.servings}", f"{title}，{state.servings} 人份")
        if lod is not Lod.FULL:
            return head
        return [
            Element("recipe", title, servings=state.servings),
            *(
                Element("ingredient", one.name, amount=f"{one.amount:g} {one.unit}")
                for one in state.ingredients
            ),
        ]

    @action("Add an ingredient", zh="添加一种配料")
    def add(self, name: str, amount: float, unit: Unit = "g") -> str:
        self.state.ingredients.append(Ingredient(name=name, amount=amount, unit=unit))
        return self.env.say(
            f"Added {amount:g} {unit} {name}.", f"已添加 {name} {amount:g} {unit}。"
        )

    @action("Change the amount of an ingredient", zh="修改一种配料的用量")
    def amount(self, ingredient: str, amount: float) -> str:
        found = self._find(ingredient)
        found.amount = amount
        text = f"{found.name}: {amount:g} {found.unit}"
        return self.env.say(f"{text}.", f"{text}。")

    @action("Remove an ingredient", zh="去掉一种配料")
    def remove(self, ingredient: str) -> str:
        found = self._find(ingredient)
        self.state.ingredients.remove(found)
        return self.env.say(f"Removed {found.name}.", f"已去掉 {found.name}。")

    @action("Scale all amounts to a number of servings", zh="把用量换算成几人份")
    def scale(self, servings: int) -> str:
        if not 1 <= servings <= 100:
            raise ActionError(self.env.say("1 to 100 servings.", "只能是 1 到 100 人份。"))
        factor = servings / self.state.servings
        for one in self.state.ingredients:
            one.amount = round(one.amount * factor, 2)
        self.state.servings = servings
        return self.env.say(f"Now for {servings}.", f"现在是 {servings} 人份。")

    @action("Change the title", zh="修改菜谱的名称")
    def rename(self, title: str) -> str:
        self.state.title = title
        return self.env.say(f"The recipe is {title!r} now.", f"菜谱现在叫 {title!r}。")

    def _find(self, wanted: str) -> Ingredient:
        for one in self.state.ingredients:
            if one.name.casefold() == wanted.strip().casefold():
                return one
        there_is = ", ".join(one.name for one in self.state.ingredients) or "–"
        en = f"There is no {wanted!r}. There is: {there_is}."
        raise ActionError(self.env.say(en, f"没有 {wanted!r}。现有：{there_is}。"))


class Plant(BaseModel):
    """A plant in a pot."""

    name: str
    every: int = 7
    place: Place = "window"
    watered: date | None = None
    times: int = 0


class PlantsWindow(Window):
    """A watering log: the plants at home and when each was last watered."""

    name = "plants"
    description_zh = "浇水记录：家里的植物，以及上次浇水的日期。"

    class State(Window.State):
        plants: list[Plant] = []

    state: State

    def opened(self, names: list[str] | None = None) -> None:
        for name in names or []:
            self.add(name)

    def content(self, lod: Lod) -> Body:
        plants, say = self.state.plants, self.env.say
        if lod is Lod.GIST or not plants:
            return say(f"{len(plants)} plants", f"{len(plants)} 盆植物")
        return [
            Element(
                "plant",
                one.name,
                every=say(f"{one.every} days", f"{one.every} 天"),
                place=one.place,
                watered=str(one.watered or say("never", "从未")),
            )
            for one in plants
        ]

    @action("Add a plant that is watered every so many days", zh="添加一盆植物，每隔几天浇水")
    def add(self, name: str, every: int = 7) -> str:
        self.state.plants.append(Plant(name=name, every=every))
        return self.env.say(f"Added {name}, every {every} days.", f"已添加 {name}，每 {every} 天。")

    @action("Water a plant: note it for today, or for a day", zh="给植物浇水：记在今天，或某一天")
    def water(self, plant: str, day: date | None = None) -> str:
        found = self._find(plant)
        found.watered = day or self.env.clock().date()
        found.times += 1
        return self.env.say(
            f"{found.name}: watered on {found.watered}.", f"{found.name}：{found.watered} 浇过水。"
        )

    @action("Set every how many days a plant is watered", zh="设定植物每几天浇一次水")
    def schedule(self, plant: str, days: int) -> str:
        if not 1 <= days <= 90:
            raise ActionError(self.env.say("1 to 90 days.", "只能是 1 到 90 天。"))
        found = self._find(plant)
        found.every = days
        return self.env.say(f"{found.name}: every {days} days.", f"{found.name}：每 {days} 天。")

    @action(
        "Put a plant somewhere else",
        zh="把植物搬到别处：window 窗台、balcony 阳台、bathroom 浴室",
    )
    def put(self, plant: str, place: Place) -> str:
        found = self._find(plant)
        found.place = place
        return self.env.say(f"{found.name}: {place}.", f"{found.name}：{place}。")

    @action("Remove a plant from the log", zh="从记录中去掉一盆植物")
    def remove(self, plant: str) -> str:
        found = self._find(plant)
        self.state.plants.remove(found)
        return self.env.say(f"Removed {found.name}.", f"已去掉 {found.name}。")

    def _find(self, wanted: str) -> Plant:
        for one in self.state.plants:
            if one.name.casefold() == wanted.strip().casefold():
                return one
        there_is = ", ".join(one.name for one in self.state.plants) or "–"
        en = f"There is no plant {wanted!r}. There is: {there_is}."
        raise ActionError(self.env.say(en, f"没有植物 {wanted!r}。现有：{there_is}。"))


class Guest(BaseModel):
    """Somebody who comes to dinner."""

    name: str
    table: int
    diet: Diet = "any"


class SeatingWindow(Window):
    """The seating plan of a party: which guest sits at which table."""

    name = "seating"
    description_zh = "宴会的座位表：哪位客人坐哪一桌。"

    class State(Window.State):
        tables: int = 4
        guests: list[Guest] = []

    state: State

    def opened(self, tables: int = 4) -> None:
        self.state.tables = tables

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        head = say(
            f"{len(state.guests)} guests, {state.tables} tables",
            f"{len(state.guests)} 位客人，{state.tables} 张桌子",
        )
        if lod is Lod.GIST or not state.guests:
            return head
        return [
            Element("tables", count=state.tables),
            *(
                Element("guest", one.name, table=one.table, diet=one.diet)
                for one in sorted(state.guests, key=lambda one: one.table)
            ),
        ]

    @action("Seat a guest at a table", zh="安排客人坐某一桌")
    def seat(self, guest: str, table: int) -> str:
        if not 1 <= table <= self.state.tables:
            en = f"There are tables 1 to {self.state.tables}, not {table}."
            raise ActionError(self.env.say(en, f"只有 1 到 {self.state.tables} 号桌。"))
        found = next((one for one in self.state.guests if one.name == guest), None)
        if found:
            found.table = table
        else:
            self.state.guests.append(Guest(name=guest, table=table))
        return self.env.say(f"{guest} sits at table {table}.", f"{guest} 坐 {table} 号桌。")

    @action("Let two guests swap places", zh="让两位客人交换座位")
    def swap(self, first: str, second: str) -> str:
        one, other = self._find(first), self._find(second)
        one.table, other.table = other.table, one.table
        text = f"{one.name}: {one.table}, {other.name}: {other.table}"
        return self.env.say(f"{text}.", f"{text}。")

    @action(
        "Note what a guest eats",
        zh="记下客人的饮食：any 不限、vegetarian 素食、vegan 纯素、halal 清真",
    )
    def diet(self, guest: str, diet: Diet) -> str:
        found = self._find(guest)
        found.diet = diet
        return self.env.say(f"{found.name} eats {diet}.", f"{found.name}：{diet}。")

    @action("Take a guest off the plan", zh="把客人从座位表中去掉")
    def uninvite(self, guest: str) -> str:
        found = self._find(guest)
        self.state.guests.remove(found)
        return self.env.say(f"{found.name} is off the plan.", f"已去掉 {found.name}。")

    @action("Set the number of tables", zh="设定桌子的数量")
    def tables(self, count: int) -> str:
        most = max((one.table for one in self.state.guests), default=1)
        if count < most:
            en = f"Somebody sits at table {most}."
            raise ActionError(self.env.say(en, f"{most} 号桌还有人坐。"))
        self.state.tables = count
        return self.env.say(f"{count} tables.", f"{count} 张桌子。")

    def _find(self, wanted: str) -> Guest:
        for one in self.state.guests:
            if one.name.casefold() == wanted.strip().casefold():
                return one
        there_is = ", ".join(one.name for one in self.state.guests) or "–"
        en = f"There is no guest {wanted!r}. There is: {there_is}."
        raise ActionError(self.env.say(en, f"没有客人 {wanted!r}。现有：{there_is}。"))


class HeatingWindow(Window):
    """The heating at home: temperature, mode, boost and child lock."""

    name = "heating"
    description_zh = "家里的暖气：温度、模式、快速加热和童锁。"

    class State(Window.State):
        on: bool = True
        temperature: float = 20
        mode: Mode = "comfort"
        boost: int = 0
        locked: bool = False

    state: State

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        power = say("on", "开") if state.on else say("off", "关")
        if lod is Lod.GIST:
            return say(f"{power}, {state.temperature:g} °C", f"{power}，{state.temperature:g} °C")
        return Element(
            "heating",
            power=power,
            temperature=f"{state.temperature:g} °C",
            mode=state.mode,
            boost=say(f"{state.boost} min", f"{state.boost} 分钟") if state.boost else None,
            child_lock=say("on", "开") if state.locked else say("off", "关"),
        )

    @action("Set the temperature in degrees", zh="设定温度")
    def temperature(self, degrees: float) -> str:
        if not 5 <= degrees <= 30:
            en = f"5 to 30 degrees are possible, not {degrees:g}."
            raise ActionError(self.env.say(en, f"只能是 5 到 30 度，不能是 {degrees:g} 度。"))
        self.state.temperature = degrees
        return self.env.say(f"{degrees:g} degrees.", f"{degrees:g} 度。")

    @action("Choose the mode", zh="选择模式：comfort 舒适、eco 节能、holiday 度假")
    def mode(self, mode: Mode) -> str:
        self.state.mode = mode
        return self.env.say(f"The mode is {mode}.", f"模式是 {mode}。")

    @action("Boost: heat at full power for some minutes", zh="快速加热若干分钟")
    def boost(self, minutes: int = 30) -> str:
        self.state.boost = minutes
        return self.env.say(f"Boost for {minutes} minutes.", f"快速加热 {minutes} 分钟。")

    @action("Turn the child lock on or off", zh="打开或关闭童锁")
    def lock(self, on: bool) -> str:
        self.state.locked = on
        return self.env.say(
            f"Child lock {'on' if on else 'off'}.", f"童锁已{'开' if on else '关'}。"
        )

    @action("Switch the heating on", zh="打开暖气")
    def switch_on(self) -> str:
        self.state.on = True
        return self.env.say("The heating is on.", "暖气已打开。")

    @action("Switch the heating off", zh="关掉暖气")
    def switch_off(self) -> str:
        self.state.on = False
        return self.env.say("The heating is off.", "暖气已关掉。")


WINDOWS = (RecipeWindow, PlantsWindow, SeatingWindow, HeatingWindow)

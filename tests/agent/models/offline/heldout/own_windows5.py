"""Four windows of daily and office life: medicine, rooms, washer and fridge."""

from datetime import date, time
from typing import Literal

from pydantic import BaseModel, Field

from contextui import ActionError, Body, Element, Lod, Window, action

RoomName = Literal["oak", "pine", "birch"]
Program = Literal["cotton", "wool", "delicate", "quick"]


class Medicine(BaseModel):
    """A medicine that somebody takes."""

    name: str
    mg: int = Field(gt=0)
    times: int = Field(1, ge=1)
    left: int | None = None
    paused: bool = False


class MedicineWindow(Window):
    """Your medicines: dose, how often a day, and how many tablets are left."""

    name = "medicine"
    description_zh = "我的药：剂量、每天几次、还剩几片。"

    class State(Window.State):
        medicines: list[Medicine] = []

    state: State

    def content(self, lod: Lod) -> Body:
        medicines, say = self.state.medicines, self.env.say
        if lod is Lod.GIST or not medicines:
            return say(f"{len(medicines)} medicines", f"{len(medicines)} 种药")
        return [
            Element(
                "medicine",
                one.name,
                dose=f"{one.mg} mg",
                a_day=one.times,
                tablets_left=one.left,
                paused=one.paused or None,
            )
            for one in medicines
        ]

    @action(
        "Add a medicine, its dose in mg and how many times a day",
        zh="添加一种药，剂量（毫克）和每天几次",
    )
    def add(self, name: str, mg: int, times: int = 1) -> str:
        self.state.medicines.append(Medicine(name=name, mg=mg, times=times))
        return self.env.say(f"Added {name}, {mg} mg.", f"已添加 {name}，{mg} 毫克。")

    @action("Change the dose of a medicine, in mg", zh="修改一种药的剂量，单位毫克")
    def dose(self, medicine: str, mg: int) -> str:
        found = self._find(medicine)
        found.mg = mg
        return self.env.say(f"{found.name}: {mg} mg.", f"{found.name}：{mg} 毫克。")

    @action("Set how many times a day a medicine is taken", zh="设定一种药每天吃几次")
    def times(self, medicine: str, times: int) -> str:
        found = self._find(medicine)
        found.times = times
        return self.env.say(f"{found.name}: {times} a day.", f"{found.name}：每天 {times} 次。")

    @action("Note how many tablets are left", zh="记下还剩几片")
    def left(self, medicine: str, tablets: int) -> str:
        found = self._find(medicine)
        found.left = tablets
        return self.env.say(f"{found.name}: {tablets} left.", f"{found.name}还剩 {tablets} 片。")

    @action("Pause a medicine, or go on with it", zh="暂停一种药，或恢复服用")
    def pause(self, medicine: str, paused: bool = True) -> str:
        found = self._find(medicine)
        found.paused = paused
        words = self.env.say(
            "paused" if paused else "taken again", "已暂停" if paused else "已恢复"
        )
        return self.env.say(f"{found.name} is {words}.", f"{found.name}{words}。")

    @action("Remove a medicine", zh="删除一种药")
    def remove(self, medicine: str) -> str:
        found = self._find(medicine)
        self.state.medicines.remove(found)
        return self.env.say(f"Removed {found.name}.", f"已删除 {found.name}。")

    def _find(self, wanted: str) -> Medicine:
        for one in self.state.medicines:
            if one.name.casefold() == wanted.strip().casefold():
                return one
        names = ", ".join(one.name for one in self.state.medicines)
        raise ActionError(
            self.env.say(
                f"No medicine {wanted!r}. There is: {names}.", f"没有 {wanted!r}。现有：{names}。"
            )
        )


class Booking(BaseModel):
    """A meeting room that somebody booked."""

    id: int
    room: RoomName
    title: str
    start: time
    minutes: int = Field(60, gt=0)
    people: list[str] = []


class RoomsWindow(Window):
    """Today's bookings of the meeting rooms."""

    name = "rooms"
    description_zh = "今天的会议室预订。"

    class State(Window.State):
        bookings: list[Booking] = []
        last_id: int = 0

    state: State

    def content(self, lod: Lod) -> Body:
        bookings, say = self.state.bookings, self.env.say
        if lod is Lod.GIST or not bookings:
            return say(f"{len(bookings)} bookings", f"{len(bookings)} 个预订")
        return [
            Element(
                "booking",
                one.title,
                id=one.id,
                room=one.room,
                start=f"{one.start:%H:%M}",
                minutes=one.minutes,
                people=", ".join(one.people) or None,
            )
            for one in bookings
        ]

    @action(
        "Book a meeting room for a meeting",
        zh="预订会议室：oak 橡树厅，pine 松树厅，birch 白桦厅",
    )
    def book(self, room: RoomName, title: str, start: time, minutes: int = 60) -> str:
        self.state.last_id += 1
        self.state.bookings.append(
            Booking(id=self.state.last_id, room=room, title=title, start=start, minutes=minutes)
        )
        return self.env.say(f"Booked {room} at {start:%H:%M}.", f"已预订 {room}，{start:%H:%M}。")

    @action("Move a booking to another time", zh="把预订改到别的时间")
    def shift(self, booking: int | str, start: time) -> str:
        found = self._find(booking)
        found.start = start
        return self.env.say(f"{found.title}: {start:%H:%M}.", f"{found.title}：{start:%H:%M}。")

    @action(
        "Change the room of a booking", zh="换一间会议室：oak 橡树厅，pine 松树厅，birch 白桦厅"
    )
    def change_room(self, booking: int | str, room: RoomName) -> str:
        found = self._find(booking)
        found.room = room
        return self.env.say(f"{found.title} is in {room}.", f"{found.title}在 {room}。")

    @action("Invite people to a meeting", zh="邀请人参加会议")
    def invite(self, booking: int | str, people: list[str]) -> str:
        found = self._find(booking)
        found.people += people
        return self.env.say(f"{len(people)} invited.", f"已邀请 {len(people)} 人。")

    @action("Cancel a booking", zh="取消预订")
    def cancel(self, booking: int | str) -> str:
        found = self._find(booking)
        self.state.bookings.remove(found)
        return self.env.say(f"Cancelled {found.title}.", f"已取消{found.title}。")

    def _find(self, wanted: int | str) -> Booking:
        words = str(wanted).strip().casefold()
        for one in self.state.bookings:
            if words in (str(one.id), one.title.casefold()):
                return one
        there_is = ", ".join(f"{one.id} {one.title}" for one in self.state.bookings)
        raise ActionError(
            self.env.say(
                f"No booking {wanted!r}. There is: {there_is or 'none'}.",
                f"没有预订 {wanted!r}。现有：{there_is or '无'}。",
            )
        )


class WasherWindow(Window):
    """The washing machine: programme, temperature, spin speed and start."""

    name = "washer"
    description_zh = "洗衣机：程序、水温、转速和启动。"

    class State(Window.State):
        program: Program = "cotton"
        degrees: int = 40
        rpm: int = 1200
        extra_rinse: bool = False
        running: bool = False
        starts_in: int = 0

    state: State

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        now = say("running", "正在洗") if state.running else say("off", "未启动")
        if lod is Lod.GIST:
            return f"{state.program}, {state.degrees} °C, {now}"
        return Element(
            "washer",
            now,
            program=state.program,
            temperature=f"{state.degrees} °C",
            spin=f"{state.rpm} rpm",
            extra_rinse=say("on", "开") if state.extra_rinse else say("off", "关"),
            starts_in=f"{state.starts_in} min" if state.starts_in else None,
        )

    @action(
        "Choose the washing programme",
        zh="选择洗涤程序：cotton 棉织物，wool 羊毛，delicate 轻柔，quick 快洗",
    )
    def program(self, program: Program) -> str:
        self.state.program = program
        return self.env.say(f"Programme: {program}.", f"程序：{program}。")

    @action("Set the water temperature, in degrees", zh="设定水温，单位度")
    def temperature(self, degrees: int) -> str:
        if not 20 <= degrees <= 90:
            en = f"The water has 20 to 90 degrees, not {degrees}."
            raise ActionError(self.env.say(en, f"水温是 20 到 90 度，不能是 {degrees} 度。"))
        self.state.degrees = degrees
        return self.env.say(f"{degrees} degrees.", f"水温 {degrees} 度。")

    @action("Set the spin speed, in rpm", zh="设定脱水转速，单位转")
    def spin(self, rpm: int) -> str:
        if not 0 <= rpm <= 1600:
            en = f"The spin speed is 0 to 1600 rpm, not {rpm}."
            raise ActionError(self.env.say(en, f"转速是 0 到 1600，不能是 {rpm}。"))
        self.state.rpm = rpm
        return self.env.say(f"{rpm} rpm.", f"转速 {rpm}。")

    @action("Switch the extra rinse on or off", zh="打开或关闭额外漂洗")
    def extra_rinse(self, on: bool) -> str:
        self.state.extra_rinse = on
        words = self.env.say("on" if on else "off", "已打开" if on else "已关闭")
        return self.env.say(f"The extra rinse is {words}.", f"额外漂洗{words}。")

    @action("Start washing, now or in so many minutes", zh="开始洗衣，立即或若干分钟后")
    def start(self, in_minutes: int = 0) -> str:
        self.state.running, self.state.starts_in = not in_minutes, in_minutes
        if in_minutes:
            return self.env.say(f"Starts in {in_minutes} min.", f"{in_minutes} 分钟后启动。")
        return self.env.say("Started.", "已启动。")

    @action("Stop washing", zh="停止洗衣")
    def stop(self) -> str:
        self.state.running, self.state.starts_in = False, 0
        return self.env.say("Stopped.", "已停止。")


class Food(BaseModel):
    """Something in the fridge."""

    name: str
    best_before: date | None = None


class FridgeWindow(Window):
    """What is in the fridge, until when it keeps, and how cold the fridge is."""

    name = "fridge"
    description_zh = "冰箱里有什么、保质期到什么时候、冷藏温度。"

    class State(Window.State):
        foods: list[Food] = []
        degrees: int = 6
        holiday: bool = False

    state: State

    def opened(self, foods: list[str] | None = None) -> None:
        if foods:
            self.put(foods)

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        if lod is Lod.GIST:
            return say(
                f"{len(state.foods)} foods, {state.degrees} °C",
                f"{len(state.foods)} 样食物，{state.degrees} °C",
            )
        foods = [
            Element("food", one.name, best_before=one.best_before and str(one.best_before))
            for one in state.foods
        ]
        holiday = say("on", "开") if state.holiday else say("off", "关")
        return [*foods, Element("fridge", temperature=f"{state.degrees} °C", holiday_mode=holiday)]

    @action("Put food into the fridge", zh="把食物放进冰箱")
    def put(self, foods: list[str], best_before: date | None = None) -> str:
        self.state.foods += [Food(name=name, best_before=best_before) for name in foods]
        names = ", ".join(foods)
        return self.env.say(f"In the fridge: {names}.", f"已放入：{names}。")

    @action("Take food out of the fridge", zh="从冰箱里拿出食物")
    def take_out(self, food: str) -> str:
        found = self._find(food)
        self.state.foods.remove(found)
        return self.env.say(f"Taken out: {found.name}.", f"已拿出{found.name}。")

    @action("Note the best-before date of a food", zh="记下一样食物的保质期")
    def best_before(self, food: str, day: date) -> str:
        found = self._find(food)
        found.best_before = day
        return self.env.say(f"{found.name}: {day}.", f"{found.name}：{day}。")

    @action("Set the temperature of the fridge, in degrees", zh="设定冰箱温度，单位度")
    def temperature(self, degrees: int) -> str:
        if not 1 <= degrees <= 10:
            en = f"The fridge has 1 to 10 degrees, not {degrees}."
            raise ActionError(self.env.say(en, f"冰箱温度是 1 到 10 度，不能是 {degrees} 度。"))
        self.state.degrees = degrees
        return self.env.say(f"{degrees} degrees.", f"{degrees} 度。")

    @action("Switch holiday mode on or off", zh="打开或关闭假期模式")
    def holiday(self, on: bool) -> str:
        self.state.holiday = on
        words = self.env.say("on" if on else "off", "已打开" if on else "已关闭")
        return self.env.say(f"Holiday mode is {words}.", f"假期模式{words}。")

    def _find(self, wanted: str) -> Food:
        for one in self.state.foods:
            if one.name.casefold() == wanted.strip().casefold():
                return one
        names = ", ".join(one.name for one in self.state.foods)
        raise ActionError(
            self.env.say(
                f"No {wanted!r} in the fridge. There is: {names}.",
                f"没有 {wanted!r}。现有：{names}。",
            )
        )


WINDOWS = (MedicineWindow, RoomsWindow, WasherWindow, FridgeWindow)

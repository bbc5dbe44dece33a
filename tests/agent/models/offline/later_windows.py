"""Windows of everyday things that nobody knows but the tests: music, money, food and pupils."""

from typing import Literal

from pydantic import BaseModel

from contextui import ActionError, Body, Element, Lod, Window, action

Repeat = Literal["none", "one", "all"]
Kind = Literal["餐饮", "交通", "购物", "其他"]


class Song(BaseModel):
    """A song that waits to be played."""

    title: str
    artist: str | None = None


class PlaylistWindow(Window):
    """A music player: the songs that are queued, and the volume."""

    name = "playlist"

    class State(Window.State):
        title: str = ""
        songs: list[Song] = []
        playing: str = ""
        volume: int = 50
        shuffled: bool = False
        repeat: Repeat = "none"

    state: State

    def opened(self, title: str = "My music") -> None:
        self.state.title = title

    def content(self, lod: Lod) -> Body:
        state = self.state
        if lod is Lod.GIST:
            return f"{len(state.songs)} songs, volume {state.volume}"
        songs = [Element("song", one.title, artist=one.artist) for one in state.songs]
        return [
            Element("title", state.title),
            *songs,
            Element("playing", state.playing or "nothing"),
            Element("volume", str(state.volume)),
            Element("shuffle", "on" if state.shuffled else "off"),
            Element("repeat", state.repeat),
        ]

    @action("Add a song to the queue")
    def queue(self, song: str, artist: str | None = None) -> str:
        self.state.songs.append(Song(title=song, artist=artist))
        return f"Queued {song}."

    @action("Remove a song from the queue")
    def remove(self, song: str) -> str:
        self.state.songs.remove(self._find(song))
        return f"Removed {song}."

    @action("Play a song of the queue")
    def play(self, song: str) -> str:
        self.state.playing = self._find(song).title
        return f"Playing {self.state.playing}."

    @action("Stop the music")
    def stop(self) -> str:
        self.state.playing = ""
        return "Stopped."

    @action("Set the volume, 0 to 100")
    def set_volume(self, volume: int) -> str:
        if not 0 <= volume <= 100:
            raise ActionError(f"The volume can be 0 to 100, not {volume}.")
        self.state.volume = volume
        return f"The volume is {volume}."

    @action("Turn shuffle on or off")
    def shuffle(self, on: bool) -> str:
        self.state.shuffled = on
        return f"Shuffle is {'on' if on else 'off'}."

    @action("Repeat one song, all, or none")
    def repeat(self, what: Repeat) -> str:
        self.state.repeat = what
        return f"Repeat: {what}."

    def _find(self, wanted: str) -> Song:
        for song in self.state.songs:
            if song.title.casefold() == wanted.strip().casefold():
                return song
        raise ActionError(f"There is no song {wanted!r} in the queue.")


class Payment(BaseModel):
    """Something that was paid for."""

    item: str
    amount: float
    kind: Kind = "其他"


class LedgerWindow(Window):
    """记账本：支出、预算。An account book."""

    name = "ledger"

    class State(Window.State):
        payments: list[Payment] = []
        budget: float = 0
        hidden: bool = False

    state: State

    def content(self, lod: Lod) -> Body:
        state = self.state
        spent = sum(one.amount for one in state.payments)
        if lod is Lod.GIST:
            return f"{len(state.payments)} 笔，共 {spent:g} 元"
        payments = [
            Element("payment", one.item, amount=f"{one.amount:g}", kind=one.kind)
            for one in state.payments
        ]
        return [
            *payments,
            Element("spent", f"{spent:g}", label="总支出"),
            Element("budget", f"{state.budget:g}", label="预算"),
            Element("hidden", "是" if state.hidden else "否", label="隐藏金额"),
        ]

    @action("记一笔支出 / Record a payment")
    def spend(self, item: str, amount: float, kind: Kind = "其他") -> str:
        self.state.payments.append(Payment(item=item, amount=amount, kind=kind))
        return f"记下了：{item} {amount:g} 元。"

    @action("修改一笔支出的金额 / Change the amount of a payment")
    def correct(self, item: str, amount: float) -> str:
        self._find(item).amount = amount
        return f"{item}：{amount:g} 元。"

    @action("改变一笔支出的类别 / Change the kind of a payment")
    def classify(self, item: str, kind: Kind) -> str:
        self._find(item).kind = kind
        return f"{item} 属于{kind}。"

    @action("删除一笔支出 / Delete a payment")
    def delete(self, item: str) -> str:
        self.state.payments.remove(self._find(item))
        return f"删除了 {item}。"

    @action("设置每月预算 / Set the monthly budget")
    def set_budget(self, amount: float) -> str:
        self.state.budget = amount
        return f"预算：{amount:g} 元。"

    @action("隐藏或显示金额 / Hide the amounts, or show them")
    def hide(self, on: bool) -> str:
        self.state.hidden = on
        return "金额已隐藏。" if on else "金额已显示。"

    def _find(self, wanted: str) -> Payment:
        for payment in self.state.payments:
            if payment.item == wanted.strip():
                return payment
        raise ActionError(f"没有 {wanted!r} 这笔支出。")


class Food(BaseModel):
    """Something to eat that is in stock."""

    name: str
    amount: int = 1
    shelf: str | None = None


class PantryWindow(Window):
    """A pantry: what food there is, and how much of it."""

    name = "pantry"

    class State(Window.State):
        foods: list[Food] = []
        locked: bool = False

    state: State

    def opened(self, foods: list[str] | None = None) -> None:
        self.state.foods = [Food(name=name) for name in foods or []]

    def content(self, lod: Lod) -> Body:
        if lod is Lod.GIST:
            return f"{len(self.state.foods)} kinds of food"
        foods = [
            Element("food", one.name, amount=one.amount, shelf=one.shelf)
            for one in self.state.foods
        ]
        return [*foods, Element("door", "locked" if self.state.locked else "unlocked")]

    @action("Stock up on a food")
    def stock(self, food: str, amount: int = 1) -> str:
        self.state.foods.append(Food(name=food, amount=amount))
        return f"There are {amount} {food}."

    @action("Use some of a food")
    def use(self, food: str, amount: int = 1) -> str:
        found = self._find(food)
        if found.amount < amount:
            raise ActionError(f"There are only {found.amount} {food}.")
        found.amount -= amount
        return f"{found.amount} {food} left."

    @action("Throw a food away")
    def discard(self, food: str) -> str:
        self.state.foods.remove(self._find(food))
        return f"No more {food}."

    @action("Say on which shelf a food is")
    def shelve(self, food: str, shelf: str) -> str:
        self._find(food).shelf = shelf
        return f"{food} is on {shelf}."

    @action("Lock the door, or unlock it")
    def lock(self, on: bool) -> str:
        self.state.locked = on
        return f"The door is {'locked' if on else 'unlocked'}."

    def _find(self, wanted: str) -> Food:
        for food in self.state.foods:
            if food.name.casefold() == wanted.strip().casefold():
                return food
        raise ActionError(f"There is no {wanted!r}.")


Seat = Literal["前排", "中间", "后排"]


class Pupil(BaseModel):
    """A pupil of the class."""

    name: str
    present: bool = False
    seat: Seat = "中间"
    points: int = 0


class ClassroomWindow(Window):
    """班级：学生、座位、签到和积分。A class of pupils."""

    name = "classroom"

    class State(Window.State):
        pupils: list[Pupil] = []
        on: bool = False

    state: State

    def opened(self, pupils: list[str] | None = None) -> None:
        self.state.pupils = [Pupil(name=name) for name in pupils or []]

    def content(self, lod: Lod) -> Body:
        if lod is Lod.GIST:
            return f"{len(self.state.pupils)} 名学生"
        pupils = [
            Element("pupil", one.name, present=one.present, seat=one.seat, points=one.points)
            for one in self.state.pupils
        ]
        return [*pupils, Element("lesson", "上课中" if self.state.on else "下课")]

    @action("登记新学生 / Enrol a pupil")
    def enrol(self, pupil: str) -> str:
        self.state.pupils.append(Pupil(name=pupil))
        return f"{pupil} 已登记。"

    @action("学生签到 / Mark a pupil as present")
    def present(self, pupil: str) -> str:
        self._find(pupil).present = True
        return f"{pupil} 到了。"

    @action("给学生加积分 / Give a pupil points")
    def reward(self, pupil: str, points: int = 1) -> str:
        self._find(pupil).points += points
        return f"{pupil} 加 {points} 分。"

    @action("调换学生的座位 / Change the seat of a pupil")
    def seat(self, pupil: str, seat: Seat) -> str:
        self._find(pupil).seat = seat
        return f"{pupil} 坐{seat}。"

    @action("学生退学 / Take a pupil off the list")
    def dismiss(self, pupil: str) -> str:
        self.state.pupils.remove(self._find(pupil))
        return f"{pupil} 已退学。"

    def _find(self, wanted: str) -> Pupil:
        for pupil in self.state.pupils:
            if pupil.name == wanted.strip():
                return pupil
        raise ActionError(f"没有学生 {wanted!r}。")


EVERYDAY: tuple[type[Window], ...] = (
    PlaylistWindow, LedgerWindow, PantryWindow, ClassroomWindow
)  # fmt: skip

"""Five windows as users of the library write them: books, songs, cars, workouts and parcels."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, Field

from contextui import ActionError, Body, Element, Lod, Window, action

Sport = Literal["run", "swim", "cycle", "yoga"]
Repeat = Literal["off", "one", "all"]
Status = Literal["ordered", "shipped", "arrived", "returned"]


class Numbered(Window):
    """A window whose rows have ids and titles."""

    class State(Window.State):
        last_id: int = 0

    state: State

    def number(self) -> int:
        self.state.last_id += 1
        return self.state.last_id

    def added(self) -> str:
        number = self.state.last_id
        return self.env.say(f"Added as {number}.", f"已添加，编号 {number}。")

    def find(self, rows: Sequence[Any], wanted: int | str) -> Any:
        words = str(wanted).strip().strip("《》").casefold()
        found = [one for one in rows if words in (str(one.id), one.title.casefold())]
        found = found or [one for one in rows if words and words in one.title.casefold()]
        if len(found) != 1:
            there_is = ", ".join(f"{one.id} {one.title}" for one in rows) or "–"
            raise ActionError(self.env.say(f"There is: {there_is}.", f"现有：{there_is}。"))
        return found[0]


class Book(BaseModel):
    """A book; `lent_to` is empty while it stands on the shelf."""

    id: int
    title: str
    author: str = ""
    lent_to: str = ""
    stars: int = Field(default=0, ge=0, le=5)


class BookshelfWindow(Numbered):
    """The books on my shelf: who borrowed them, and how good they are."""

    name = "bookshelf"
    description_zh = "我的书架：书借给了谁，评了几颗星。"

    class State(Numbered.State):
        books: list[Book] = []

    state: State

    def opened(self, titles: list[str] | None = None) -> None:
        for title in titles or []:
            self.add(title)

    def content(self, lod: Lod) -> Body:
        return [
            Element("book", one.title, id=one.id, author=one.author or None,
                    lent_to=one.lent_to or None, stars=one.stars or None)
            for one in self.state.books
        ] or self.env.say("0 books, 0 lent", "0 本书，借出 0 本")  # fmt: skip

    @action("Put a book on the shelf", zh="把一本书放上书架")
    def add(self, title: str, author: str = "") -> str:
        self.state.books.append(Book(id=self.number(), title=title.strip(), author=author))
        return self.added()

    @action("Lend a book to someone", zh="把书借给某人")
    def lend(self, book: int | str, person: str) -> None:
        found = self.find(self.state.books, book)
        if who := found.lent_to:
            raise ActionError(self.env.say(f"{who} has it already.", f"这本书已借给{who}。"))
        found.lent_to = person

    @action("A lent book came back", zh="借出的书还回来了")
    def returned(self, book: int | str) -> None:
        found = self.find(self.state.books, book)
        if not found.lent_to:
            raise ActionError(self.env.say("It is not lent.", "这本书没有借出。"))
        found.lent_to = ""

    @action("Rate a book with 1 to 5 stars", zh="给书评 1 到 5 颗星")
    def rate(self, book: int | str, stars: int) -> None:
        if not 1 <= stars <= 5:
            raise ActionError(self.env.say("Give 1 to 5 stars.", "请评 1 到 5 颗星。"))
        self.find(self.state.books, book).stars = stars

    @action("Remove a book from the shelf", zh="从书架上拿走一本书")
    def remove(self, book: int | str) -> None:
        self.state.books.remove(self.find(self.state.books, book))


class Song(BaseModel):
    """A song in the playlist."""

    id: int
    title: str
    artist: str = ""


class PlaylistWindow(Numbered):
    """A playlist of songs, with volume, shuffle and repeat."""

    name = "playlist"
    description_zh = "歌单：播放歌曲，调音量，随机和循环。"

    class State(Numbered.State):
        songs: list[Song] = []
        playing: int | None = None
        volume: int = 50
        shuffle: bool = False
        repeat: Repeat = "off"

    state: State

    def opened(self, songs: list[str] | None = None) -> None:
        for title in songs or []:
            self.add(title)

    def content(self, lod: Lod) -> Body:
        state = self.state
        songs = [
            Element("song", one.title, id=one.id, artist=one.artist or None,
                    playing=(one.id == state.playing) or None)
            for one in state.songs
        ]  # fmt: skip
        player = Element("player", volume=state.volume, shuffle=state.shuffle, repeat=state.repeat)
        return [*songs, player]

    @action("Add a song", zh="添加一首歌")
    def add(self, title: str, artist: str = "") -> str:
        self.state.songs.append(Song(id=self.number(), title=title.strip(), artist=artist))
        return self.added()

    @action("Play a song", zh="播放一首歌")
    def play(self, song: int | str) -> None:
        self.state.playing = self.find(self.state.songs, song).id

    @action("Stop the music", zh="停止播放")
    def stop(self) -> None:
        if self.state.playing is None:
            raise ActionError(self.env.say("Nothing is playing.", "没有在播放。"))
        self.state.playing = None

    @action("Set the volume, 0 to 100", zh="设置音量，0 到 100")
    def volume(self, percent: int) -> None:
        if not 0 <= percent <= 100:
            raise ActionError(self.env.say("0 to 100, please.", "音量是 0 到 100。"))
        self.state.volume = percent

    @action("Switch shuffle on or off", zh="打开或关闭随机播放")
    def shuffle(self, on: bool) -> None:
        self.state.shuffle = on

    @action("Repeat off, one song or all", zh="循环：off 不循环，one 单曲，all 全部")
    def repeat(self, mode: Repeat) -> None:
        self.state.repeat = mode

    @action("Remove a song", zh="删掉一首歌")
    def remove(self, song: int | str) -> None:
        found = self.find(self.state.songs, song)
        self.state.songs.remove(found)
        if self.state.playing == found.id:
            self.state.playing = None


class Car(BaseModel):
    """A parked car."""

    plate: str
    spot: int


class ParkingWindow(Window):
    """A small parking garage: which car stands in which spot, and what an hour costs."""

    name = "parking"
    description_zh = "小停车场：哪辆车停在哪个车位，每小时多少钱。"

    class State(Window.State):
        spots: int = 12
        cars: list[Car] = []
        blocked: list[int] = []
        price: float = 2.0

    state: State

    def opened(self, spots: int = 12) -> None:
        self.state.spots = spots

    def content(self, lod: Lod) -> Body:
        state = self.state
        free = state.spots - len(state.cars) - len(state.blocked)
        cars = [Element("car", one.plate, spot=one.spot) for one in state.cars]
        blocked = [Element("blocked", spot=one) for one in state.blocked]
        garage = Element("garage", spots=state.spots, free=free, price=f"{state.price:g}")
        return [garage, *cars, *blocked]

    @action("Park a car in a spot", zh="把车停进车位")
    def park(self, plate: str, spot: int) -> None:
        if any(one.plate == plate for one in self.state.cars):
            raise ActionError(self.env.say("It is parked already.", "它已经停在里面。"))
        self._check_free(spot)
        self.state.cars.append(Car(plate=plate, spot=spot))

    @action("Move a car to another spot", zh="把车挪到另一个车位")
    def move(self, plate: str, spot: int) -> None:
        car = self._find(plate)
        self._check_free(spot)
        car.spot = spot

    @action("A car drives out", zh="车开走了")
    def leave(self, plate: str) -> None:
        self.state.cars.remove(self._find(plate))

    @action("Block a spot, or open it again", zh="封锁车位，或重新开放")
    def block(self, spot: int, blocked: bool = True) -> None:
        if blocked:
            self._check_free(spot)
            self.state.blocked = sorted([*self.state.blocked, spot])
        else:
            self.state.blocked = [one for one in self.state.blocked if one != spot]

    @action("Set the price of an hour", zh="设置每小时的价格")
    def set_price(self, price: float) -> None:
        if price < 0:
            raise ActionError(self.env.say("It cannot be negative.", "价格不能是负数。"))
        self.state.price = price

    def _check_free(self, spot: int) -> None:
        taken = [*self.state.blocked, *(one.spot for one in self.state.cars)]
        if not 1 <= spot <= self.state.spots or spot in taken:
            raise ActionError(self.env.say(f"Spot {spot} is taken.", f"{spot} 号车位不空。"))

    def _find(self, plate: str) -> Car:
        for one in self.state.cars:
            if one.plate.casefold() == plate.strip().casefold():
                return one
        there_is = ", ".join(one.plate for one in self.state.cars) or "–"
        raise ActionError(self.env.say(f"Parked are: {there_is}.", f"停着的车：{there_is}。"))


class Workout(BaseModel):
    """One time of doing sports."""

    id: int
    sport: Sport
    minutes: int
    km: float | None = None

    @property
    def title(self) -> str:
        return self.sport


class WorkoutsWindow(Numbered):
    """A log of workouts, with a goal for the week."""

    name = "workouts"
    description_zh = "运动记录，带每周目标。"

    class State(Numbered.State):
        workouts: list[Workout] = []
        goal: int = 150
        only: Sport | None = None

    state: State

    def opened(self, goal: int = 150) -> None:
        self.state.goal = goal

    def content(self, lod: Lod) -> Body:
        state = self.state
        total = sum(one.minutes for one in state.workouts)
        return [
            Element("week", minutes=total, goal=state.goal, only=state.only),
            *(
                Element("workout", one.sport, id=one.id, minutes=one.minutes, km=one.km)
                for one in state.workouts
                if state.only in (None, one.sport)
            ),
        ]

    @action("Log a workout", zh="记录一次运动：run 跑步，swim 游泳，cycle 骑车，yoga 瑜伽")
    def log(self, sport: Sport, minutes: int, km: float | None = None) -> str:
        made = Workout(id=self.number(), sport=sport, minutes=minutes, km=km)
        self.state.workouts.append(made)
        return self.added()

    @action("Correct the minutes of a workout", zh="更正一次运动的分钟数")
    def correct(self, workout: int, minutes: int) -> None:
        self.find(self.state.workouts, workout).minutes = minutes

    @action("Delete a workout", zh="删除一次运动")
    def delete(self, workout: int) -> None:
        self.state.workouts.remove(self.find(self.state.workouts, workout))

    @action("Set the goal in minutes a week", zh="设置每周的目标分钟数")
    def set_goal(self, minutes: int) -> None:
        self.state.goal = minutes

    @action(
        "Show one sport only; without one, all",
        zh="只显示一种运动（run、swim、cycle、yoga），不给则全部",
    )
    def only(self, sport: Sport | None = None) -> None:
        self.state.only = sport


class Parcel(BaseModel):
    """Something that was ordered."""

    id: int
    what: str
    shop: str = ""
    status: Status = "ordered"
    due: date | None = None

    @property
    def title(self) -> str:
        return self.what


class DeliveriesWindow(Numbered):
    """Parcels that I ordered: from which shop, when they come, and where they are."""

    name = "deliveries"
    description_zh = "我订的包裹：哪家店，几号到，到哪一步了。"

    class State(Numbered.State):
        parcels: list[Parcel] = []

    state: State

    def opened(self, parcels: list[str] | None = None) -> None:
        for what in parcels or []:
            self.order(what)

    def content(self, lod: Lod) -> Body:
        return [
            Element("parcel", one.what, id=one.id, shop=one.shop or None, status=one.status,
                    due=one.due.isoformat() if one.due else None)
            for one in self.state.parcels
        ] or self.env.say("0 parcels to come", "还有 0 个包裹没到")  # fmt: skip

    @action("Note a new order", zh="记下新的订单")
    def order(self, what: str, shop: str = "") -> str:
        self.state.parcels.append(Parcel(id=self.number(), what=what.strip(), shop=shop))
        return self.added()

    @action(
        "Set how far a parcel is: ordered, shipped, arrived or returned",
        zh="设置包裹状态：ordered 已下单，shipped 已发货，arrived 已到，returned 已退货",
    )
    def set_status(self, parcel: int | str, status: Status) -> None:
        self.find(self.state.parcels, parcel).status = status

    @action("Set the day on which a parcel comes", zh="设置包裹到达的日期")
    def set_due(self, parcel: int | str, day: date) -> None:
        self.find(self.state.parcels, parcel).due = day

    @action("Forget an order", zh="删除订单")
    def forget(self, parcel: int | str) -> None:
        self.state.parcels.remove(self.find(self.state.parcels, parcel))


WINDOWS = (BookshelfWindow, PlaylistWindow, ParkingWindow, WorkoutsWindow, DeliveriesWindow)

"""Five windows as users of the library write them: books, songs, cars, workouts and parcels."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from contextui import ActionError, Body, Element, Lod, Window, action

Sport = Literal["run", "swim", "cycle", "yoga"]
Repeat = Literal["off", "one", "all"]
Status = Literal["ordered", "shipped", "arrived", "returned"]


# --- a shelf of books ------------------------------------------------------------------------


class Book(BaseModel):
    """A book; `lent_to` is empty while it stands on the shelf."""

    id: int
    title: str
    author: str = ""
    lent_to: str = ""
    stars: int = Field(default=0, ge=0, le=5)


class BookshelfWindow(Window):
    """The books on my shelf: who borrowed them, and how good they are."""

    name = "bookshelf"
    description_zh = "我的书架：书借给了谁，评了几颗星。"

    class State(Window.State):
        books: list[Book] = []
        last_id: int = 0

    state: State

    def opened(self, titles: list[str] | None = None) -> None:
        for title in titles or []:
            self.add(title)

    def content(self, lod: Lod) -> Body:
        books, say = self.state.books, self.env.say
        lent = [book for book in books if book.lent_to]
        if lod is Lod.GIST or not books:
            return say(
                f"{len(books)} books, {len(lent)} lent", f"{len(books)} 本书，借出 {len(lent)} 本"
            )
        return [
            Element(
                "book",
                book.title,
                id=book.id,
                author=book.author or None,
                lent_to=book.lent_to or None,
                stars=book.stars or None,
            )
            for book in (books if lod is Lod.FULL else lent or books[:5])
        ]

    @action("Put a book on the shelf", zh="把一本书放上书架")
    def add(self, title: str, author: str = "") -> str:
        self.state.last_id += 1
        self.state.books.append(Book(id=self.state.last_id, title=title.strip(), author=author))
        return self.env.say(
            f"Added as {self.state.last_id}.", f"已添加，编号 {self.state.last_id}。"
        )

    @action("Lend a book to someone", zh="把书借给某人")
    def lend(self, book: int | str, person: str) -> str:
        found = self._find(book)
        if found.lent_to:
            who = found.lent_to
            raise ActionError(self.env.say(f"{who} has it already.", f"这本书已借给{who}。"))
        found.lent_to = person
        return self.env.say(
            f"{found.title!r} is with {person}.", f"《{found.title}》借给了{person}。"
        )

    @action("A lent book came back", zh="借出的书还回来了")
    def returned(self, book: int | str) -> str:
        found = self._find(book)
        if not found.lent_to:
            raise ActionError(self.env.say("It is not lent.", "这本书没有借出。"))
        found.lent_to = ""
        return self.env.say(f"{found.title!r} is back.", f"《{found.title}》已归还。")

    @action("Rate a book with 1 to 5 stars", zh="给书评 1 到 5 颗星")
    def rate(self, book: int | str, stars: int) -> str:
        if not 1 <= stars <= 5:
            raise ActionError(self.env.say("Give 1 to 5 stars.", "请评 1 到 5 颗星。"))
        found = self._find(book)
        found.stars = stars
        return self.env.say(
            f"{found.title!r}: {stars} stars.", f"《{found.title}》：{stars} 颗星。"
        )

    @action("Remove a book from the shelf", zh="从书架上拿走一本书")
    def remove(self, book: int | str) -> str:
        found = self._find(book)
        self.state.books.remove(found)
        return self.env.say(f"Removed {found.title!r}.", f"已拿走《{found.title}》。")

    def _find(self, wanted: int | str) -> Book:
        words = str(wanted).strip().strip("《》").casefold()
        books = self.state.books
        found = [one for one in books if words in (str(one.id), one.title.casefold())]
        found = found or [one for one in books if words and words in one.title.casefold()]
        if len(found) != 1:
            there_is = ", ".join(f"{one.id} {one.title}" for one in books) or "–"
            en, zh = f"Which book? There is: {there_is}.", f"哪一本？现有：{there_is}。"
            raise ActionError(self.env.say(en, zh))
        return found[0]


# --- a playlist ------------------------------------------------------------------------------


class Song(BaseModel):
    """A song in the playlist."""

    id: int
    title: str
    artist: str = ""


class PlaylistWindow(Window):
    """A playlist of songs, with volume, shuffle and repeat."""

    name = "playlist"
    description_zh = "歌单：播放歌曲，调音量，随机和循环。"

    class State(Window.State):
        songs: list[Song] = []
        last_id: int = 0
        playing: int | None = None
        volume: int = 50
        shuffle: bool = False
        repeat: Repeat = "off"

    state: State

    def opened(self, songs: list[str] | None = None) -> None:
        for title in songs or []:
            self.add(title)

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        if lod is Lod.GIST:
            return say(f"{len(state.songs)} songs", f"{len(state.songs)} 首歌")
        songs = [
            Element(
                "song",
                one.title,
                id=one.id,
                artist=one.artist or None,
                playing=(one.id == state.playing) or None,
            )
            for one in state.songs
        ]
        player = Element("player", volume=state.volume, shuffle=state.shuffle, repeat=state.repeat)
        return [*songs, player] if lod is Lod.FULL else [player]

    @action("Add a song", zh="添加一首歌")
    def add(self, title: str, artist: str = "") -> str:
        self.state.last_id += 1
        self.state.songs.append(Song(id=self.state.last_id, title=title.strip(), artist=artist))
        return self.env.say(
            f"Added as {self.state.last_id}.", f"已添加，编号 {self.state.last_id}。"
        )

    @action("Play a song", zh="播放一首歌")
    def play(self, song: int | str) -> str:
        found = self._find(song)
        self.state.playing = found.id
        return self.env.say(f"Playing {found.title!r}.", f"正在播放《{found.title}》。")

    @action("Stop the music", zh="停止播放")
    def stop(self) -> str:
        if self.state.playing is None:
            raise ActionError(self.env.say("Nothing is playing.", "没有在播放。"))
        self.state.playing = None
        return self.env.say("Stopped.", "已停止。")

    @action("Set the volume, 0 to 100", zh="设置音量，0 到 100")
    def volume(self, percent: int) -> str:
        if not 0 <= percent <= 100:
            raise ActionError(self.env.say("0 to 100, please.", "音量是 0 到 100。"))
        self.state.volume = percent
        return self.env.say(f"Volume {percent}.", f"音量 {percent}。")

    @action("Switch shuffle on or off", zh="打开或关闭随机播放")
    def shuffle(self, on: bool) -> str:
        self.state.shuffle = on
        return self.env.say(
            f"Shuffle {'on' if on else 'off'}.", f"随机播放{'开' if on else '关'}。"
        )

    @action("Repeat off, one song or all", zh="循环：off 不循环，one 单曲，all 全部")
    def repeat(self, mode: Repeat) -> str:
        self.state.repeat = mode
        return self.env.say(f"Repeat {mode}.", f"循环：{mode}。")

    @action("Remove a song", zh="删掉一首歌")
    def remove(self, song: int | str) -> str:
        found = self._find(song)
        self.state.songs.remove(found)
        if self.state.playing == found.id:
            self.state.playing = None
        return self.env.say(f"Removed {found.title!r}.", f"已删掉《{found.title}》。")

    def _find(self, wanted: int | str) -> Song:
        words = str(wanted).strip().strip("《》").casefold()
        songs = self.state.songs
        found = [one for one in songs if words in (str(one.id), one.title.casefold())]
        found = found or [one for one in songs if words and words in one.title.casefold()]
        if len(found) != 1:
            there_is = ", ".join(f"{one.id} {one.title}" for one in songs) or "–"
            en, zh = f"Which song? There is: {there_is}.", f"哪首歌？现有：{there_is}。"
            raise ActionError(self.env.say(en, zh))
        return found[0]


# --- a parking garage ------------------------------------------------------------------------


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
        state, say = self.state, self.env.say
        free = state.spots - len(state.cars) - len(state.blocked)
        if lod is Lod.GIST:
            return say(f"{free} of {state.spots} spots free", f"{state.spots} 个车位，空 {free} 个")
        cars = [Element("car", one.plate, spot=one.spot) for one in state.cars]
        blocked = [Element("blocked", spot=one) for one in state.blocked]
        garage = Element("garage", spots=state.spots, free=free, price=f"{state.price:g}")
        return [garage, *cars, *blocked]

    @action("Park a car in a spot", zh="把车停进车位")
    def park(self, plate: str, spot: int) -> str:
        if any(one.plate == plate for one in self.state.cars):
            raise ActionError(
                self.env.say(f"{plate} is parked already.", f"{plate} 已经停在里面。")
            )
        self._check_free(spot)
        self.state.cars.append(Car(plate=plate, spot=spot))
        return self.env.say(f"{plate} stands in {spot}.", f"{plate} 停在 {spot} 号。")

    @action("Move a car to another spot", zh="把车挪到另一个车位")
    def move(self, plate: str, spot: int) -> str:
        car = self._find(plate)
        self._check_free(spot)
        car.spot = spot
        return self.env.say(f"{car.plate} stands in {spot}.", f"{car.plate} 停在 {spot} 号。")

    @action("A car drives out", zh="车开走了")
    def leave(self, plate: str) -> str:
        car = self._find(plate)
        self.state.cars.remove(car)
        return self.env.say(f"Spot {car.spot} is free.", f"{car.spot} 号空出来了。")

    @action("Block a spot, or open it again", zh="封锁车位，或重新开放")
    def block(self, spot: int, blocked: bool = True) -> str:
        if blocked:
            self._check_free(spot)
            self.state.blocked = sorted([*self.state.blocked, spot])
        else:
            self.state.blocked = [one for one in self.state.blocked if one != spot]
        return self.env.say(
            f"Blocked: {self.state.blocked}.", f"封锁的车位：{self.state.blocked}。"
        )

    @action("Set the price of an hour", zh="设置每小时的价格")
    def set_price(self, price: float) -> str:
        if price < 0:
            raise ActionError(self.env.say("It cannot be negative.", "价格不能是负数。"))
        self.state.price = price
        return self.env.say(f"{price:g} an hour.", f"每小时 {price:g}。")

    def _check_free(self, spot: int) -> None:
        if not 1 <= spot <= self.state.spots:
            most = self.state.spots
            raise ActionError(
                self.env.say(f"There are spots 1 to {most}.", f"车位是 1 到 {most}。")
            )
        if spot in self.state.blocked or any(one.spot == spot for one in self.state.cars):
            raise ActionError(self.env.say(f"Spot {spot} is taken.", f"{spot} 号车位不空。"))

    def _find(self, plate: str) -> Car:
        for one in self.state.cars:
            if one.plate.casefold() == plate.strip().casefold():
                return one
        there_is = ", ".join(one.plate for one in self.state.cars) or "–"
        raise ActionError(self.env.say(f"Parked are: {there_is}.", f"停着的车：{there_is}。"))


# --- a log of workouts -----------------------------------------------------------------------


class Workout(BaseModel):
    """One time of doing sports."""

    id: int
    sport: Sport
    minutes: int
    km: float | None = None


class WorkoutsWindow(Window):
    """A log of workouts, with a goal for the week."""

    name = "workouts"
    description_zh = "运动记录，带每周目标。"

    class State(Window.State):
        workouts: list[Workout] = []
        last_id: int = 0
        goal: int = 150
        only: Sport | None = None

    state: State

    def opened(self, goal: int = 150) -> None:
        self.state.goal = goal

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        total = sum(one.minutes for one in state.workouts)
        if lod is Lod.GIST:
            return say(f"{total} of {state.goal} minutes", f"{state.goal} 分钟中的 {total} 分钟")
        week = Element("week", minutes=total, goal=state.goal, only=state.only)
        if lod is Lod.SUMMARY:
            return [week]
        shown = [one for one in state.workouts if state.only in (None, one.sport)]
        return [
            week,
            *(
                Element("workout", one.sport, id=one.id, minutes=one.minutes, km=one.km)
                for one in shown
            ),
        ]

    @action("Log a workout", zh="记录一次运动：run 跑步，swim 游泳，cycle 骑车，yoga 瑜伽")
    def log(self, sport: Sport, minutes: int, km: float | None = None) -> str:
        self.state.last_id += 1
        one = Workout(id=self.state.last_id, sport=sport, minutes=minutes, km=km)
        self.state.workouts.append(one)
        return self.env.say(f"Logged as {one.id}.", f"已记录，编号 {one.id}。")

    @action("Correct the minutes of a workout", zh="更正一次运动的分钟数")
    def correct(self, workout: int, minutes: int) -> str:
        found = self._find(workout)
        found.minutes = minutes
        return self.env.say(f"{found.id}: {minutes} minutes.", f"{found.id}：{minutes} 分钟。")

    @action("Delete a workout", zh="删除一次运动")
    def delete(self, workout: int) -> str:
        self.state.workouts.remove(self._find(workout))
        return self.env.say(f"Deleted {workout}.", f"已删除 {workout}。")

    @action("Set the goal in minutes a week", zh="设置每周的目标分钟数")
    def set_goal(self, minutes: int) -> str:
        self.state.goal = minutes
        return self.env.say(f"Goal: {minutes} minutes.", f"目标：{minutes} 分钟。")

    @action(
        "Show one sport only; without one, all",
        zh="只显示一种运动（run、swim、cycle、yoga），不给则全部",
    )
    def only(self, sport: Sport | None = None) -> str:
        self.state.only = sport
        return self.env.say(f"Shown: {sport or 'all'}.", f"显示：{sport or '全部'}。")

    def _find(self, wanted: int) -> Workout:
        for one in self.state.workouts:
            if one.id == wanted:
                return one
        ids = ", ".join(str(one.id) for one in self.state.workouts) or "–"
        raise ActionError(self.env.say(f"There are workouts {ids}.", f"现有记录：{ids}。"))


# --- parcels on their way --------------------------------------------------------------------


class Parcel(BaseModel):
    """Something that was ordered."""

    id: int
    what: str
    shop: str = ""
    status: Status = "ordered"
    due: date | None = None


class DeliveriesWindow(Window):
    """Parcels that I ordered: from which shop, when they come, and where they are."""

    name = "deliveries"
    description_zh = "我订的包裹：哪家店，几号到，到哪一步了。"

    class State(Window.State):
        parcels: list[Parcel] = []
        last_id: int = 0

    state: State

    def opened(self, parcels: list[str] | None = None) -> None:
        for what in parcels or []:
            self.order(what)

    def content(self, lod: Lod) -> Body:
        parcels, say = self.state.parcels, self.env.say
        waiting = [one for one in parcels if one.status in ("ordered", "shipped")]
        if lod is Lod.GIST or not parcels:
            return say(f"{len(waiting)} parcels to come", f"还有 {len(waiting)} 个包裹没到")
        return [
            Element(
                "parcel",
                one.what,
                id=one.id,
                shop=one.shop or None,
                status=one.status,
                due=one.due.isoformat() if one.due else None,
            )
            for one in (parcels if lod is Lod.FULL else waiting)
        ]

    @action("Note a new order", zh="记下新的订单")
    def order(self, what: str, shop: str = "") -> str:
        self.state.last_id += 1
        self.state.parcels.append(Parcel(id=self.state.last_id, what=what.strip(), shop=shop))
        return self.env.say(
            f"Noted as {self.state.last_id}.", f"已记下，编号 {self.state.last_id}。"
        )

    @action(
        "Set how far a parcel is: ordered, shipped, arrived or returned",
        zh="设置包裹状态：ordered 已下单，shipped 已发货，arrived 已到，returned 已退货",
    )
    def set_status(self, parcel: int | str, status: Status) -> str:
        found = self._find(parcel)
        found.status = status
        return self.env.say(f"{found.what!r}: {status}.", f"{found.what}：{status}。")

    @action("Set the day on which a parcel comes", zh="设置包裹到达的日期")
    def set_due(self, parcel: int | str, day: date) -> str:
        found = self._find(parcel)
        found.due = day
        return self.env.say(f"{found.what!r} comes on {day}.", f"{found.what} {day} 到。")

    @action("Forget an order", zh="删除订单")
    def forget(self, parcel: int | str) -> str:
        found = self._find(parcel)
        self.state.parcels.remove(found)
        return self.env.say(f"Forgot {found.what!r}.", f"已删除 {found.what}。")

    def _find(self, wanted: int | str) -> Parcel:
        words = str(wanted).strip().casefold()
        parcels = self.state.parcels
        found = [one for one in parcels if words in (str(one.id), one.what.casefold())]
        found = found or [one for one in parcels if words and words in one.what.casefold()]
        if len(found) != 1:
            there_is = ", ".join(f"{one.id} {one.what}" for one in parcels) or "–"
            en, zh = f"Which parcel? There is: {there_is}.", f"哪个包裹？现有：{there_is}。"
            raise ActionError(self.env.say(en, zh))
        return found[0]


WINDOWS = (BookshelfWindow, PlaylistWindow, ParkingWindow, WorkoutsWindow, DeliveriesWindow)

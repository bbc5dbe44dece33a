"""More windows of strangers, in three groups: what a person has installed beside the built-in."""

from typing import Literal

from contextui import ActionError, Body, Element, Lod, Window, action


class PlantsWindow(Window):
    """House plants and when they were watered."""

    name = "plants"

    class State(Window.State):
        plants: dict[str, int] = {}

    state: State

    def opened(self, names: list[str] | None = None) -> None:
        self.state.plants = dict.fromkeys(names or [], 0)

    def content(self, lod: Lod) -> Body:
        plants = self.state.plants.items()
        return [Element("plant", name, watered=times) for name, times in plants] or "No plants."

    @action("Water a plant")
    def water(self, plant: str) -> str:
        self.state.plants[plant] += 1
        return f"{plant} is watered."

    @action("Take in a new plant")
    def adopt(self, plant: str) -> str:
        self.state.plants[plant] = 0
        return f"{plant} lives here."

    @action("Give a plant away")
    def give_away(self, plant: str) -> str:
        del self.state.plants[plant]
        return f"{plant} is gone."

    @action("Water all plants")
    def water_all(self) -> str:
        self.state.plants = {name: times + 1 for name, times in self.state.plants.items()}
        return "All are watered."


class ExpensesWindow(Window):
    """Money that was spent, by category."""

    name = "expenses"

    class State(Window.State):
        rows: list[tuple[float, str, str]] = []
        limit: int = 0
        currency: str = "EUR"

    state: State

    def content(self, lod: Lod) -> Body:
        return [
            Element("expense", what, id=number, amount=amount, category=category)
            for number, (amount, what, category) in enumerate(self.state.rows, 1)
        ]

    @action("Note an expense")
    def spend(
        self,
        amount: float,
        what: str,
        category: Literal["food", "travel", "fun", "other"] = "other",
    ) -> str:
        self.state.rows.append((amount, what, category))
        return "Noted."

    @action("Remove an expense, by its id")
    def forget(self, expense: int) -> str:
        del self.state.rows[expense - 1]
        return "Forgotten."

    @action("Set the monthly budget")
    def budget(self, amount: int) -> str:
        self.state.limit = amount
        return f"{amount} a month."

    @action("Use another currency")
    def currency(self, code: Literal["EUR", "USD", "CNY"]) -> str:
        self.state.currency = code
        return code


class MusicWindow(Window):
    """音乐播放器：歌曲列表、音量和播放模式。"""

    name = "music"

    class State(Window.State):
        songs: list[str] = []
        playing: str = ""
        volume: int = 50
        shuffle: bool = False

    state: State

    def opened(self, songs: list[str] | None = None) -> None:
        self.state.songs = songs or []

    def content(self, lod: Lod) -> Body:
        state = self.state
        songs = [f"{number}. {song}" for number, song in enumerate(state.songs, 1)]
        head = [f"volume: {state.volume}", f"playing: {state.playing or '-'}"]
        return "\n".join([*head, *songs])

    @action("播放一首歌")
    def play(self, song: str) -> str:
        if song not in self.state.songs:
            raise ActionError(f"没有 {song}")
        self.state.playing = song
        return f"正在播放 {song}"

    @action("停止播放")
    def stop(self) -> str:
        self.state.playing = ""
        return "停了"

    @action("调节音量，0 到 100")
    def set_volume(self, volume: int) -> str:
        self.state.volume = volume
        return f"音量 {volume}"

    @action("把一首歌加入列表")
    def enqueue(self, song: str) -> str:
        self.state.songs.append(song)
        return f"加入了 {song}"

    @action("打开或关闭随机播放")
    def shuffle(self, on: bool) -> str:
        self.state.shuffle = on
        return f"随机播放：{on}"


class AlarmWindow(Window):
    """Alarm clock."""

    name = "alarm"

    class State(Window.State):
        alarms: list[tuple[str, str]] = []
        snoozed: int = 0

    state: State

    def content(self, lod: Lod) -> Body:
        return [
            Element("alarm", label or "alarm", id=number, time=time)
            for number, (time, label) in enumerate(self.state.alarms, 1)
        ]

    @action("Set an alarm")
    def set(self, time: str, label: str | None = None) -> str:
        self.state.alarms.append((time, label or ""))
        return f"Set for {time}."

    @action("Cancel an alarm")
    def cancel(self, alarm: int) -> str:
        del self.state.alarms[alarm - 1]
        return "Cancelled."

    @action("Let all alarms wait some minutes")
    def snooze(self, minutes: int = 10) -> str:
        self.state.snoozed = minutes
        return f"{minutes} minutes more."


class ReadingWindow(Window):
    """Books to read, and how far you are."""

    name = "reading"

    class State(Window.State):
        books: list[tuple[str, int, int]] = []
        goal: int = 0

    state: State

    def opened(self, titles: list[str] | None = None) -> None:
        self.state.books = [(title, 300, 0) for title in titles or []]

    def content(self, lod: Lod) -> Body:
        return [
            Element("book", title, id=number, page=f"{page}/{pages}")
            for number, (title, pages, page) in enumerate(self.state.books, 1)
        ]

    @action("Add a book")
    def add(self, title: str, pages: int = 300) -> str:
        self.state.books.append((title, pages, 0))
        return f"Added {title}."

    @action("Note how far you are")
    def read(self, book: int, page: int) -> str:
        title, pages, _ = self.state.books[book - 1]
        self.state.books[book - 1] = (title, pages, page)
        return f"{title}: {page} of {pages}."

    @action("Remove a book")
    def remove(self, book: int) -> str:
        del self.state.books[book - 1]
        return "Removed."

    @action("Set a goal of books per year")
    def goal(self, count: int) -> str:
        self.state.goal = count
        return f"{count} a year."


class VacuumWindow(Window):
    """扫地机器人：状态、吸力和清扫区域"""

    name = "vacuum"

    class State(Window.State):
        doing: str = "idle"
        power: str = "normal"
        rooms: list[str] = []

    state: State

    def content(self, lod: Lod) -> Body:
        state = self.state
        rooms = "、".join(state.rooms) or "全部"
        return f"状态: {state.doing}\n吸力: {state.power}\n区域: {rooms}"

    @action("开始清扫")
    def start(self, rooms: list[str] | None = None) -> str:
        self.state.doing, self.state.rooms = "cleaning", rooms or []
        return "开始"

    @action("返回充电座")
    def dock(self) -> str:
        self.state.doing = "docked"
        return "回充"

    @action("暂停清扫")
    def pause(self) -> str:
        self.state.doing = "paused"
        return "暂停"

    @action("设置吸力")
    def power(self, level: Literal["quiet", "normal", "max"]) -> str:
        self.state.power = level
        return level


class GuestsWindow(Window):
    """Guest list for a party, with tables."""

    name = "guests"

    class State(Window.State):
        guests: dict[str, int] = {}
        coming: list[str] = []

    state: State

    def opened(self, names: list[str] | None = None) -> None:
        self.state.guests = dict.fromkeys(names or [], 0)

    def content(self, lod: Lod) -> Body:
        return [
            Element("guest", name, table=table or None, coming=name in self.state.coming or None)
            for name, table in self.state.guests.items()
        ]

    @action("Invite somebody")
    def invite(self, guest: str) -> str:
        self.state.guests[guest] = 0
        return f"{guest} is invited."

    @action("Take somebody off the list")
    def uninvite(self, guest: str) -> str:
        del self.state.guests[guest]
        return f"{guest} is off the list."

    @action("Seat a guest at a table")
    def seat(self, guest: str, table: int) -> str:
        self.state.guests[guest] = table
        return f"{guest} sits at {table}."

    @action("Mark that a guest will come")
    def confirm(self, guest: str) -> str:
        self.state.coming.append(guest)
        return f"{guest} comes."


class BlindsWindow(Window):
    """Window blinds of the flat."""

    name = "blinds"

    class State(Window.State):
        rooms: dict[str, int] = {}
        sun: bool = False

    state: State

    def opened(self, rooms: list[str] | None = None) -> None:
        self.state.rooms = dict.fromkeys(rooms or [], 0)

    def content(self, lod: Lod) -> Body:
        blinds = [
            Element("blind", room, closed=f"{part}%") for room, part in self.state.rooms.items()
        ]
        return [*blinds, Element("sun", "on" if self.state.sun else "off")]

    @action("Lower a blind completely")
    def close_blind(self, room: str) -> str:
        return self.set(room, 100)

    @action("Raise a blind completely")
    def open_blind(self, room: str) -> str:
        return self.set(room, 0)

    @action("Set a blind to a percentage")
    def set(self, room: str, percent: int) -> str:
        if room not in self.state.rooms:
            raise ActionError(f"There is no blind in {room!r}.")
        self.state.rooms[room] = percent
        return f"{room}: {percent} %."

    @action("Follow the sun automatically, or stop doing so")
    def follow_sun(self, on: bool) -> str:
        self.state.sun = on
        return f"Following: {on}."


class StockWindow(Window):
    """仓库库存：物品和数量"""

    name = "stock"

    class State(Window.State):
        items: dict[str, int] = {}

    state: State

    def opened(self, items: list[str] | None = None) -> None:
        self.state.items = dict.fromkeys(items or [], 0)

    def content(self, lod: Lod) -> Body:
        items = self.state.items.items()
        return [Element("item", name, count=count) for name, count in items] or "空"

    @action("入库：增加数量")
    def take_in(self, item: str, count: int = 1) -> str:
        self.state.items[item] = self.state.items.get(item, 0) + count
        return f"{item}：{self.state.items[item]}"

    @action("出库：减少数量")
    def take_out(self, item: str, count: int = 1) -> str:
        if self.state.items.get(item, 0) < count:
            raise ActionError(f"{item} 不够")
        self.state.items[item] -= count
        return f"{item}：{self.state.items[item]}"

    @action("盘点：直接设定数量")
    def correct(self, item: str, count: int) -> str:
        self.state.items[item] = count
        return f"{item}：{count}"


class CardsWindow(Window):
    """Flash cards to learn words."""

    name = "cards"

    class State(Window.State):
        cards: list[tuple[str, str]] = []
        shown: int = 0
        shuffled: bool = False

    state: State

    def content(self, lod: Lod) -> Body:
        return [
            Element("card", front, id=number, back=back)
            for number, (front, back) in enumerate(self.state.cards, 1)
        ]

    @action("Make a new card")
    def add(self, front: str, back: str) -> str:
        self.state.cards.append((front, back))
        return f"{front}: {back}."

    @action("Turn to the next card")
    def next(self) -> str:
        self.state.shown += 1
        return f"Card {self.state.shown}."

    @action("Mix the cards")
    def shuffle(self) -> str:
        self.state.shuffled = True
        return "Mixed."

    @action("Throw a card away")
    def remove(self, card: int) -> str:
        del self.state.cards[card - 1]
        return "Gone."


HOME: tuple[type[Window], ...] = (PlantsWindow, ExpensesWindow, MusicWindow, AlarmWindow)
LEISURE: tuple[type[Window], ...] = (ReadingWindow, VacuumWindow, GuestsWindow)
FLAT: tuple[type[Window], ...] = (BlindsWindow, StockWindow, CardsWindow)

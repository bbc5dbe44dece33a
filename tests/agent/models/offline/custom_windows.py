"""Two windows that nobody knows but the tests: who drives them has only what they show."""

from typing import Literal

from pydantic import BaseModel

from contextui import ActionError, Body, Element, Lod, Window, action

Mode = Literal["auto", "eco", "comfort", "off"]
Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
Delivery = Literal["普通", "加急", "自提"]


class Change(BaseModel):
    """A temperature that is planned for a time of day; without a day, for every day."""

    time: str
    degrees: int
    day: Day | None = None


class ThermostatWindow(Window):
    """The heating of one room: its temperature, its mode and a weekly plan."""

    name = "thermostat"
    description_zh = "一个房间的暖气：温度、模式和每周计划。"

    class State(Window.State):
        room: str = ""
        target: int = 20
        mode: Mode = "auto"
        locked: bool = False
        plan: list[Change] = []

    state: State

    def opened(self, room: str, degrees: int = 20, mode: Mode = "auto") -> None:
        self.state.room, self.state.mode = room, mode
        self.set_temperature(degrees)

    def content(self, lod: Lod) -> Body:
        state = self.state
        planned = [
            Element("change", f"{one.degrees} °C", time=one.time, day=one.day or "daily")
            for one in state.plan
        ]
        return [
            Element("room", state.room),
            Element("temperature", f"{state.target} °C"),
            Element("mode", state.mode),
            Element("keypad", "locked" if state.locked else "unlocked"),
            Element("plan", *planned),
        ]

    @action("Set the temperature of the room, in degrees", zh="设置房间的温度，单位为度")
    def set_temperature(self, degrees: int) -> None:
        if not 5 <= degrees <= 30:
            raise ActionError(f"A room can have 5 to 30 degrees, not {degrees}.")
        self.state.target = degrees

    @action("Switch to another mode", zh="切换模式")
    def set_mode(self, mode: Mode) -> None:
        self.state.mode = mode

    @action("Lock the keypad, or unlock it", zh="锁定或解锁键盘")
    def lock(self, on: bool) -> None:
        self.state.locked = on

    @action(
        "Plan a temperature for a time of day; without a day it is for every day",
        zh="计划某个时间的温度；不指定星期则为每天",
    )
    def plan(self, time: str, degrees: int, day: Day | None = None) -> None:
        self.state.plan.append(Change(time=time, degrees=degrees, day=day))

    @action("Drop what is planned for a time of day", zh="取消某个时间的计划")
    def unplan(self, time: str) -> None:
        left = [one for one in self.state.plan if one.time != time]
        if len(left) == len(self.state.plan):
            raise ActionError(f"Nothing is planned for {time}.")
        self.state.plan = left

    @action("Rename the room", zh="给房间改名")
    def rename(self, room: str) -> None:
        self.state.room = room


class Product(BaseModel):
    """One line of the cart."""

    name: str
    amount: int = 1
    note: str | None = None


class Address(BaseModel):
    """Where the goods go."""

    name: str
    street: str
    phone: str | None = None


class CartWindow(Window):
    """A shopping cart: products, amounts, delivery and address."""

    name = "cart"
    description_zh = "购物车：商品、数量、配送方式和收货地址。"

    class State(Window.State):
        products: list[Product] = []
        delivery: Delivery = "普通"
        gift: bool = False
        address: Address | None = None

    state: State

    def opened(self, products: list[str] | None = None) -> None:
        self.state.products = [Product(name=name) for name in products or []]

    def content(self, lod: Lod) -> Body:
        state = self.state
        body = [
            *(Element("product", one.name, amount=one.amount, note=one.note)
              for one in state.products),
            Element("delivery", state.delivery),
            Element("gift", "要" if state.gift else "不要", label="礼品包装"),
        ]  # fmt: skip
        if to := state.address:
            body.append(Element("address", to.street, name=to.name, phone=to.phone))
        return body

    @action("Put a product into the cart", zh="放入商品")
    def put(self, product: str, amount: int = 1, note: str | None = None) -> None:
        if amount < 1:
            raise ActionError(f"数量至少为 1，不能是 {amount}。")
        self.state.products.append(Product(name=product, amount=amount, note=note))

    @action("Change the amount of a product", zh="修改商品数量")
    def set_amount(self, product: str, amount: int) -> None:
        if amount < 1:
            raise ActionError(f"数量至少为 1，不能是 {amount}。")
        self._find(product).amount = amount

    @action("Take a product out of the cart", zh="移除商品")
    def remove(self, product: str) -> None:
        self.state.products.remove(self._find(product))

    @action("Choose the delivery", zh="选择配送方式")
    def deliver(self, way: Delivery) -> None:
        self.state.delivery = way

    @action("Gift wrap, on or off", zh="开启或取消礼品包装")
    def gift_wrap(self, on: bool) -> None:
        self.state.gift = on

    @action("Set the address", zh="填写收货地址：收货人、街道、电话")
    def ship_to(self, name: str, street: str, phone: str | None = None) -> None:
        self.state.address = Address(name=name, street=street, phone=phone)

    @action("Empty the cart", zh="清空购物车")
    def empty(self) -> None:
        self.state.products = []

    def _find(self, wanted: str) -> Product:
        for product in self.state.products:
            if product.name.casefold() == wanted.strip().casefold():
                return product
        there_is = "、".join(one.name for one in self.state.products) or "无"
        raise ActionError(f"购物车里没有 {wanted!r}。现有：{there_is}。")


CUSTOM: tuple[type[Window], ...] = (ThermostatWindow, CartWindow)

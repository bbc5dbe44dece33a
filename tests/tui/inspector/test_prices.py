"""What a change costs, and when it breaks even."""

import pytest

from contextui.agent.controller import InteractionController
from contextui.context.item import ContextItem, ItemType
from contextui.model import CachePrices
from contextui.tui.inspector.prices import Offer, Price, Prices, turns
from contextui.tui.inspector.rows import ItemRow, rows_of
from contextui.tui.inspector.snapshot import ContextSnapshot, snapshot_of
from contextui.windowing.snapshot import Lod
from tests.agent.talking import controller, run
from tests.windowing.samples import Todo


@pytest.mark.parametrize(
    ("price", "after"),
    [
        (Price(-6_400, 1_600), 3),  # 1.15 × 1600 ÷ (0.1 × 6400) = 2.9
        (Price(-100, 1_600), 184),
        (Price(-6_400, 0), 0),
        (Price(0, 0), None),
        (Price(200, 0), None),
        (Price(None, 900), None),
        (Price(-100, 50, CachePrices(0.0, 1.0)), None),  # a cache that costs nothing
        (Price(-100, 0, CachePrices(0.0, 1.0)), 0),
        (Price(-100, 50, CachePrices(1.0, 1.0)), 0),  # without a cache all is written
    ],
)
def test_pays_back_after_so_many_turns(price: Price, after: int | None) -> None:
    assert turns(price) == after


def test_asked_twice_is_what_pays_back_late_or_never() -> None:
    assert not Price(-6_400, 1_600).is_dear
    assert Price(-100, 1_600).is_dear
    assert not Price(200, 0).is_dear  # it is not made to save anything
    assert not Price(0, 0).is_dear  # a pin costs nothing
    assert not Price(None, 900).is_dear  # what an edit saves is up to the person


class Scene:
    """A context that was sent, looked at."""

    def __init__(self, *words: str, talk: InteractionController | None = None) -> None:
        self.talk = talk or controller(*(f"Answer to {one}." for one in words))
        self.context = self.talk.context
        self.talk.install_prompt()
        for one in words:
            run(self.talk, one)

    def look(self) -> ContextSnapshot:
        return snapshot_of(self.context, knows_cache=True)

    def row(self, item: ContextItem) -> ItemRow:
        found = [
            one for one in rows_of(self.look()) if isinstance(one, ItemRow) and one.item is item
        ]
        return found[-1]

    def offers(self, item: ContextItem, **sizes: int | None) -> dict[str, Offer]:
        known = {Lod(name): size for name, size in sizes.items()}
        prices = Prices(self.look())
        return {offer.key: offer for offer in prices.offers(self.row(item), known)}

    def items(self, kind: ItemType) -> list[ContextItem]:
        return [one for one in self.context.get_all() if one.type is kind]


def price(offer: Offer) -> Price:
    assert offer.price is not None
    return offer.price


def test_what_is_hidden_can_come_back_and_what_is_closed_cannot() -> None:
    scene = Scene("one", "two", "three")
    assert set(scene.offers(scene.items(ItemType.SYSTEM)[0])) == {"e"}  # a model needs the prompt
    words = scene.items(ItemType.USER)[0]
    scene.context.drop(words.id)
    offers = scene.offers(words)
    assert set(offers) == {"r", "p"}
    restore = price(offers["r"])
    assert restore.each == scene.context.ledger.size(words)
    assert turns(restore) is None
    window = scene.talk.windows.open(Todo)
    scene.talk.windows.close(window.id)
    assert scene.offers(scene.items(ItemType.WINDOW)[0]) == {}


def test_a_window_has_levels_of_detail_instead_of_words() -> None:
    scene = Scene("one")
    window = scene.talk.windows.open(Todo)
    item = scene.items(ItemType.WINDOW)[0]
    size = scene.context.ledger.size(item)
    offers = scene.offers(item, Gist=20, Summary=None)
    assert [(one.key, one.lod) for one in offers.values() if one.lod] == [
        ("g", Lod.GIST), ("-", Lod.SUMMARY)
    ]  # fmt: skip
    assert price(offers["g"]) == Price(20 - size, 0)
    assert offers["-"].price is None  # not known yet
    scene.talk.windows.set_lod(window.id, Lod.GIST)
    levels = [(one.key, one.lod) for one in scene.offers(item).values() if one.lod]
    assert levels == [("g", Lod.FULL), ("+", Lod.SUMMARY)]


def test_levels_of_detail_are_compared_as_whole_renders() -> None:
    scene = Scene("one")
    context, open_todo = scene.context, scene.talk.windows.open
    both = [open_todo(Todo), open_todo(Todo)]
    composition = context.outlook()
    alone = {one: context.item_tokens(one) for one in scene.items(ItemType.WINDOW)}
    item = next(one for one in alone if context.tokens_in(composition, one) < alone[one])
    window = next(one for one in both if one.id == item.content)  # the other has its actions
    sizes = {lod.value: context.render_tokens(window.to_xml(lod)) for lod in Lod}
    full = sizes["Full"]
    offers = scene.offers(item, **sizes)
    assert price(offers["g"]).each == sizes["Gist"] - full
    assert price(offers["-"]).each == sizes["Summary"] - full

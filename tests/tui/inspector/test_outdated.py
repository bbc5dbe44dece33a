"""Outdated blocks: each has a sub-row, and rows and sub-rows together are the request."""

import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.context.item import ContextItem, ItemType
from contextui.context.placement.transcript import Transcript
from contextui.tui.inspector.detail import hints
from contextui.tui.inspector.labels import outdated, outdated_texts, state
from contextui.tui.inspector.prices import Prices
from contextui.tui.inspector.rows import ItemRow, Rule, rows_of, tokens_of
from contextui.tui.inspector.snapshot import ContextSnapshot, snapshot_of
from contextui.windowing.snapshot import Lod
from contextui.words import Words
from tests.context.conversation import Conversation, rough_counter
from tests.context.test_properties import perform, steps
from tests.counting import lines_run

LONG = "words " * 2_000


class Scene(Conversation):
    """A conversation by price that the inspector looks at."""

    def __init__(self) -> None:
        super().__init__("price", rough_counter())
        self.system("You help. " * 600)  # more than the least that is cached

    def look_up(
        self, found: str = "done", thinking: str = "", say: str = "look it up", says: str = "There."
    ) -> tuple[ContextItem, ContextItem, ContextItem]:
        """A turn with a call; return the call, its result and the answer."""
        self.say(say)
        self.send()
        call, result = self.call(thinking=thinking), self.result(found)
        self.send()
        answer = self.answer(says)
        self.context.end_turn()
        return call, result, answer

    def read(self, lines: int) -> ContextItem:
        """A turn that reads a file of so many lines; return the result."""
        return self.look_up("a line of a file\n" * lines, say="read it", says="Read.")[1]

    def write(self, window_id: str, line: str) -> None:
        super().write(window_id, line)
        window = self.windows.get(window_id)
        assert window is not None
        window.to_xml()  # the render is ready

    @property
    def transcript(self) -> Transcript:
        assert self.context.ledger.priced is not None
        return self.context.ledger.priced.transcript

    def look(self) -> ContextSnapshot:
        return snapshot_of(self.context, knows_cache=True)

    def rows(self) -> list[ItemRow]:
        return [row for row in rows_of(self.look()) if isinstance(row, ItemRow)]

    def sub_rows(self) -> list[ItemRow]:
        return [row for row in self.rows() if row.is_old]

    def reasons(self) -> list[str]:
        return [outdated(row, Words()) for row in self.sub_rows()]

    def counts(self, item: ContextItem) -> bool:
        return self.context.counts(self.look().composition, item)


def check(scene: Scene, has_cache: bool = True) -> None:
    """Rows and sub-rows are the request, as a whole and on each side of the rule."""
    look = snapshot_of(scene.context, knows_cache=has_cache)
    lines = rows_of(look)
    rows = [row for row in lines if isinstance(row, ItemRow)]
    shown = [row for row in rows if row.is_old or scene.context.counts(look.composition, row.item)]
    sizes = {id(row): tokens_of(row, look) for row in shown}
    assert sum(sizes.values()) == look.composition.tokens
    assert look.shares.total == look.composition.tokens
    assert len({row.key for row in rows}) == len(rows)
    assert {row.item.seq for row in rows} == {item.seq for item in scene.context.get_all()}
    places = [at for at, row in enumerate(lines) if isinstance(row, ItemRow)]
    assert [lines.find(row.key, row.item.seq) for row in rows] == places
    for row in shown:
        assert row.is_old or row.block is None or tokens_of(row, look) > 0


@given(st.lists(steps, max_size=30))
def test_rows_and_sub_rows_are_the_request(script: list[Sequence[Any]]) -> None:
    scene = Scene()
    for step in script:
        perform(scene, step)
        check(scene)
        check(scene, has_cache=False)


@given(st.lists(steps, max_size=25))
def test_every_item_has_a_row_if_windows_are_in_place(script: list[Sequence[Any]]) -> None:
    talk = Conversation("in-place", rough_counter())
    for step in script:
        perform(talk, step)
        look = snapshot_of(talk.context, knows_cache=True)
        lines = list(rows_of(look))
        assert {row.item.id for row in lines if isinstance(row, ItemRow)} == {
            item.id for item in talk.context.get_all()
        }
        assert len(lines) == len(talk.context.get_all())  # no rule: the cache is not known


def figures(scene: Scene) -> tuple[int, int]:
    """The tokens of the next request, and those of them that are not read from the cache."""
    plan = scene.context.outlook().plan
    assert plan is not None
    is_cached = plan.tokens >= scene.transcript.prices.minimum
    return plan.tokens, plan.tokens - plan.cached_tokens * is_cached


@given(st.lists(steps, max_size=30), st.integers(0, 30))
def test_a_price_is_what_a_change_does_to_a_plan(script: list[Sequence[Any]], place: int) -> None:
    scene = Scene()
    for step in script:
        perform(scene, step)
    scene.context.compose()  # waits until the windows are drawn
    items = [one for one in scene.context.get_all() if one.type is not ItemType.SYSTEM]
    if (
        not items or scene.context.ledger.under_way
    ):  # what thinking binds is priced as of the turn's end
        return
    item = items[place % len(items)]
    calls = scene.context.calls
    if item.hidden in ("closed", "replaced"):
        return
    is_back = item.hidden is not None
    if is_back and item.type is ItemType.WINDOW:  # priced as it was in the last request, if it was
        return
    together = calls.together(item) if is_back else [item, *calls.results(item)]
    changed = [one for one in together if bool(one.hidden) is is_back]
    found = scene.context.forecast("restore" if is_back else "drop", changed)
    before, uncached = figures(scene)
    (scene.context.restore if is_back else scene.context.drop)(item.id)
    after, then = figures(scene)
    assert found is not None
    assert (found.each, found.once) == (after - before, max(then - uncached, 0))


def calm(scene: Scene, turns: int = 1) -> None:
    for _ in range(turns):
        scene.turn("words", "an answer")


def test_a_superseded_block_is_a_sub_row_and_pays_rent() -> None:
    scene = Scene()
    scene.open("milk", *(f"line {number}" for number in range(40)))
    scene.turn(LONG, "Long.")
    scene.windows.set_lod("notes_1", Lod.GIST)
    calm(scene)
    [row] = scene.sub_rows()
    assert row.block is not None
    assert (row.block.reason, row.block.waits) == ("superseded", False)
    rent = row.block.rent
    calm(scene, 2)
    [row] = scene.sub_rows()
    assert row.block is not None
    [slot] = [one for one in scene.transcript.slots if one.text and one.is_outdated]
    assert slot.sent is not None
    assert row.block.rent == pytest.approx(rent + 0.1 * 2 * slot.sent.tokens)
    texts = outdated_texts(row, 9, Words())
    assert texts[0] == "outdated: notes_1  old version, rent 9"
    assert texts[-1] == "old version"


def test_a_change_has_a_row_of_its_own_below_where_the_cache_ends() -> None:
    scene = Scene()
    scene.open("milk", *(f"line {number}" for number in range(40)))
    calm(scene)
    scene.write("notes_1", "eggs")
    scene.say("and now")
    kinds = [row.block.kind for row in scene.rows() if row.block is not None]
    assert kinds == ["whole", "change"]
    lines = list(rows_of(scene.look()))
    rules = [place for place, line in enumerate(lines) if isinstance(line, Rule)]
    below = [line for line in lines[rules[1] :] if isinstance(line, ItemRow)]
    assert [row.item.type for row in below] == [
        ItemType.ASSISTANT, ItemType.WINDOW, ItemType.USER
    ]  # fmt: skip
    look = scene.look()
    cached, rest = (one for one in lines if isinstance(one, Rule))
    assert rest.tokens == sum(tokens_of(row, look) for row in below)
    assert cached.tokens + rest.tokens == look.composition.tokens
    [window] = scene.context.live_window_items
    assert scene.context.tokens_in(look.composition, window) == look.shares.windows


def test_a_sweep_stays_asked_for_when_an_item_is_dropped() -> None:
    """X19: the drop forces a sweep of what follows it, and no longer of that alone."""
    scene = Scene()
    scene.open("milk", *(f"line {number}" for number in range(40)))
    scene.turn(LONG, "Long.")
    scene.windows.set_lod("notes_1", Lod.GIST)
    _, result, _ = scene.look_up()
    assert scene.reasons() == ["old version"]
    scene.context.sweep()
    scene.context.drop(result.id)
    assert scene.reasons() == []


def test_a_closed_window_goes_when_the_turn_ends() -> None:
    scene = Scene()
    scene.open("milk")
    scene.say(LONG)
    scene.send()
    scene.call()
    scene.windows.close("notes_1")
    scene.result()
    [row] = scene.sub_rows()
    assert outdated(row, Words()) == "closed, until the turn ends"
    assert not scene.counts(row.item)
    scene.context.end_turn()
    scene.say("next")
    assert scene.reasons() == []


def test_the_thinking_of_earlier_turns_is_outdated() -> None:
    scene = Scene()
    answer, *_ = scene.look_up(LONG, thinking="hm " * 200)
    calm(scene)
    assert scene.reasons() == ["earlier thinking"]
    assert scene.counts(answer)


def test_a_message_whose_only_call_was_dropped_counts_no_more() -> None:
    scene = Scene()
    answer, result, _ = scene.look_up()
    assert scene.counts(answer)
    scene.context.drop(result.id)
    assert not answer.hidden
    assert not scene.counts(answer)


def test_a_gist_names_what_it_replaces() -> None:
    scene = Scene()
    first, *_ = [scene.read(400) for _ in range(12)]
    assert scene.context.whole_tokens(first) > 1_000
    whole = f"{scene.context.whole_tokens(first) / 1_000:.1f}k"
    assert state(first, scene.context, Words()) == f"gist of {whole}"
    [row] = [row for row in scene.rows() if row.item is first and not row.is_old]
    look = scene.look()
    old = [row for row in scene.sub_rows() if row.item is first]
    if old:
        assert outdated(old[0], Words()) == "a gist replaces it"
        assert tokens_of(row, look) == 0
    else:
        assert 0 < tokens_of(row, look) < 200


def test_an_unpinned_result_becomes_a_gist_again() -> None:
    scene = Scene()
    first, *_ = [scene.read(200) for _ in range(4)]
    scene.context.pin(first.id)
    for _ in range(9):
        scene.read(200)
    scene.say("and now")
    scene.send()
    assert scene.context.is_whole(first)
    scene.answer("Fine.")
    scene.context.unpin(first.id)
    calm(scene)
    assert not scene.context.is_whole(first)


def test_a_summary_stays_when_the_first_of_its_items_comes_back() -> None:
    scene = Scene()
    calm(scene, 4)
    items = list(scene.context.get_all())[1:5]
    scene.context.compact(items, "They talked.")
    scene.context.restore(items[0].id)
    assert any("They talked." in str(one.content) for one in scene.context.outlook().messages)
    check(scene)
    calm(scene)
    scene.context.undo()
    check(scene)


def test_a_change_that_is_undone_costs_nothing() -> None:
    scene = Scene()
    words = scene.say(LONG)
    scene.send()
    scene.answer("Long.")
    calm(scene)
    before = figures(scene)
    scene.context.drop(words.id)
    scene.context.undo()
    assert figures(scene) == before
    scene.context.edit(words.id, "short")
    assert figures(scene) != before
    scene.context.undo()
    assert figures(scene) == before


def test_a_long_conversation_is_no_more_work_to_look_at() -> None:
    def work(turns: int) -> int:
        scene = Scene()
        scene.open("milk", *(f"line {number}" for number in range(40)))
        scene.turn(LONG, "Long.")
        scene.windows.set_lod("notes_1", Lod.GIST)
        priced, now = scene.context.ledger.priced, time.time()
        assert priced is not None
        for number in range(turns):  # a minute each: what is cached expires
            priced._clock = lambda number=number: now + 60 * number  # type: ignore[misc]
            calm(scene)
        scene.say("and now")
        newest = scene.context.get_all()[-1]

        def look() -> None:
            look = scene.look()
            rows = rows_of(look)
            assert rows[0], rows[len(rows) - 1]
            assert rows.find(newest.id, newest.seq) == len(rows) - 1
            for place in (3, len(rows) - 1):
                row = rows[place]
                assert isinstance(row, ItemRow)
                assert Prices(look).offers(row, {})

        assert len(scene.sub_rows()) == 1
        return lines_run(look)

    short, long = work(20), work(120)
    assert (long - short) / 100 < 500  # planning takes passes over the slots of each turn


def test_figures_that_differ_from_the_item_are_explained() -> None:
    scene = Scene()
    answer, _, last = scene.look_up("a line\n" * 20)
    window = scene.open("milk")
    window.to_xml()
    prices = Prices(scene.look())

    def hints_of(content: ContextItem, sizes: dict[Lod, int | None]) -> list[str]:
        [row] = [row for row in scene.rows() if row.item is content]
        return list(hints(row, prices.offers(row, sizes), prices, Words()))

    [notes] = scene.context.live_window_items
    assert hints_of(answer, {}) == ["Drop includes the results of its calls."]
    assert hints_of(last, {}) == []
    assert hints_of(notes, {Lod.FULL: 10, Lod.SUMMARY: 900, Lod.GIST: 1}) == [
        "Summary is longer than what is shown."
    ]

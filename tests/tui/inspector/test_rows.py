"""Items in the order of the wire, with rules between what is cached and what is not."""

import asyncio

import pytest

from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import call
from contextui.context.item import ContextItem, ItemType, Stage, assign
from contextui.context.manager import ContextManager
from contextui.tui.inspector.look import Look, Looker, Sent
from contextui.tui.inspector.rows import Row, Rows, Rule, Span, rows_of
from contextui.windowing.manager import WindowManager
from tests.agent.talking import controller, run, with_prompt
from tests.windowing.samples import Todo


def look_at(talk: InteractionController, sent: Sent | None) -> Look:
    return Looker(talk.context, (), sent).look()


def short_rows(rows: Rows) -> list[str]:
    """Rows in short: rules by name, windows by id, items by seq, hidden ones in brackets."""
    short = []
    for row in rows:
        if isinstance(row, Rule):
            short.append("cache" if row.from_cache else "uncached")
            continue
        assert isinstance(row, Row)
        if row.copy is not None:
            short.append(row.item.content + ("?" if row.is_old else ""))
        elif row.item.hidden:
            short.append(f"[{row.item.seq}]")
        else:
            short.append(str(row.item.seq))
    return short


def test_before_anything_was_sent_all_is_uncached() -> None:
    talk = controller()
    with_prompt(talk)
    talk.windows.open(Todo)
    assert short_rows(rows_of(look_at(talk, Sent(talk.context)))) == ["uncached", "1", "todo_1"]


@pytest.mark.usefixtures("by_turn")
def test_what_the_last_request_had_in_final_form_comes_from_the_cache() -> None:
    talk = controller("One.", call("create", name="todo"), "Two.", "Three.")
    sent = Sent(talk.context)
    with_prompt(talk)
    run(talk, "first")  # 2, 3
    run(talk, "second")  # 4, 5, todo_1 6, 7, 8
    run(talk, "third")  # 9, 10
    # The third turn carried the window before its words: those bytes are another's now.
    assert short_rows(rows_of(look_at(talk, sent))) == [
        "cache", "1", "2", "3", "4", "5", "7", "8", "uncached", "9", "10", "todo_1"
    ]  # fmt: skip


@pytest.mark.usefixtures("by_turn")
def test_a_dropped_item_stands_where_it_stood_and_breaks_the_cache() -> None:
    talk = controller("One.", "Two.", "Three.")
    sent = Sent(talk.context)
    with_prompt(talk)
    for words in ("first", "second", "third"):
        run(talk, words)
    talk.context.drop(talk.context.get_all()[1].id)
    shown = short_rows(rows_of(look_at(talk, sent)))
    assert shown[:4] == ["cache", "1", "[2]", "uncached"]
    assert shown[4:] == ["3", "4", "5", "6", "7"]


@pytest.mark.usefixtures("by_turn")
def test_in_mid_turn_windows_stand_before_the_words_and_again_in_the_last_result() -> None:
    talk = controller()
    context, sent = talk.context, Sent(talk.context)
    with_prompt(talk)
    todo = talk.windows.open(Todo)  # 2
    context.add(ContextItem(ItemType.USER, "add milk"))  # 3
    context.request(100_000)
    use = call("action", window_id="todo_1", action_id="add", params={"text": "milk"})
    context.add(ContextItem(ItemType.ASSISTANT, blocks=[use]))  # 4
    asyncio.run(talk.windows.act("todo_1", "add", {"text": "milk"}))
    todo.to_xml()  # a look does not wait for the window to be drawn
    context.add(ContextItem(ItemType.TOOL, "Added.", tool_call_id=use["id"]))  # 5
    look = look_at(talk, sent)
    rows = rows_of(look)
    assert short_rows(rows) == ["cache", "1", "todo_1?", "3", "uncached", "4", "5", "todo_1"]
    keys = [row.key for row in rows if isinstance(row, Row)]
    assert len(set(keys)) == len(keys)


@pytest.mark.usefixtures("by_turn")
def test_a_window_opened_in_mid_turn_waits_at_the_end() -> None:
    talk = controller()
    context, sent = talk.context, Sent(talk.context)
    with_prompt(talk)
    context.add(ContextItem(ItemType.USER, "hello"))
    context.request(100_000)
    talk.windows.open(Todo)
    assert short_rows(rows_of(look_at(talk, sent))) == ["cache", "1", "2", "uncached", "3"]


def test_in_place_windows_stand_at_their_seq() -> None:
    context = ContextManager(WindowManager([Todo]), placement="in-place")
    talk = controller("One.", "Two.", context=context)
    sent = Sent(context)
    with_prompt(talk)
    talk.windows.open(Todo)
    run(talk, "first")
    rows = rows_of(look_at(talk, sent))
    seqs = [row.item.seq for row in rows if isinstance(row, Row)]
    assert seqs == [1, 2, 3, 4]


@pytest.mark.usefixtures("by_turn")
def test_a_summary_follows_the_prompt_and_what_it_stands_for_stays_in_place() -> None:
    talk = controller("One.", "Two.", "Three.")
    sent = Sent(talk.context)
    with_prompt(talk)
    for words in ("first", "second", "third"):
        run(talk, words)
    talk.context.compact(list(talk.context.get_all())[1:5], "They talked.")
    assert short_rows(rows_of(look_at(talk, sent))) == [
        "cache", "1", "uncached", "8", "[2]", "[3]", "[4]", "[5]", "6", "7"
    ]  # fmt: skip


def test_an_earlier_turn_has_no_rules() -> None:
    talk = controller("One.")
    with_prompt(talk)
    run(talk, "first")
    assert short_rows(rows_of(look_at(talk, None))) == ["1", "2", "3"]


def test_rows_are_found_by_their_key() -> None:
    talk = controller("One.", "Two.")
    sent = Sent(talk.context)
    with_prompt(talk)
    talk.windows.open(Todo)
    run(talk, "first")
    run(talk, "second")
    rows = rows_of(look_at(talk, sent))
    for place, row in enumerate(rows):
        if isinstance(row, Row):
            assert rows.find(row.key, row.item.seq) == place
    assert rows.find("nobody", 3) is None


def test_a_span_leaves_out_what_stands_elsewhere() -> None:
    context = ContextManager()
    for number in range(40):
        item = ContextItem(ItemType.USER, f"words {number}")
        assign(item, stage=Stage.FINAL)
        context.ledger.enter(item, context.ledger.seq + 1)
    span = Span(context.get_all(), 3, 30, (0, 5, 6, 20, 35))
    seqs = [row.item.seq for row in span]
    assert seqs == [place + 1 for place in range(3, 30) if place not in (0, 5, 6, 20, 35)]
    assert len(span) == len(seqs)
    assert [span.find(seq) for seq in seqs] == list(range(len(seqs)))


def test_looking_changes_nothing() -> None:
    talk = controller("One.", "Two.")
    sent = Sent(talk.context)
    with_prompt(talk)
    talk.windows.open(Todo)
    run(talk, "first")
    before = (talk.context.ledger.generation, list(talk.context.outlook().messages))
    for _ in range(3):
        list(rows_of(look_at(talk, sent)))
    assert (talk.context.ledger.generation, list(talk.context.outlook().messages)) == before

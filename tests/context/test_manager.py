"""Items and their manager: S0.1 to S0.3, S0.6, S0.10, S0.11, and what a person may change."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from contextui import (
    ContextItem,
    ContextManager,
    ContextStats,
    ContextUIError,
    ItemType,
)
from contextui.errors import (
    DuplicateItemError,
    InvalidItemError,
    StaleRequestError,
    UnknownItemError,
)
from contextui.events import CutMoved, Event, ItemAdded, ItemsChanged, RequestSent, TurnEnded
from contextui.session.store import SessionStore
from tests.context.conversation import Conversation, rough_counter
from tests.session.talk import Talk
from tests.windowing.samples import together


def manager() -> ContextManager:
    return ContextManager(counter=rough_counter())


def user(text: str) -> ContextItem:
    return ContextItem(ItemType.USER, text)


def test_seq_is_given_by_the_manager_alone_and_rises() -> None:
    """S0.2: a caller's own seq is ignored, and nobody can assign one."""
    context = manager()
    items = [context.add(ContextItem(ItemType.USER, "hi", seq=99)) for _ in range(43)]
    assert [item.seq for item in items][-2:] == [42, 43]
    assert context.current_seq == 43
    with pytest.raises(AttributeError, match="change through their ContextManager"):
        items[0].seq = 7


def test_views_do_not_change_under_their_reader() -> None:
    context = manager()
    first = context.add(user("one"))
    view, active = context.get_all(), context.get_active()
    context.add(user("two"))
    context.drop(first.id)
    assert [item.content for item in view] == ["one"]
    assert [item.content for item in active] == ["one"]
    assert [item.content for item in context.get_all()] == ["one", "two"]
    assert [item.content for item in context.get_active()] == ["two"]
    assert context.get_all()[-1].content == "two"
    assert [item.content for item in context.get_all()[0:2]] == ["one", "two"]
    with pytest.raises(IndexError):
        context.get_all()[2]


def test_types_have_the_values_of_the_document() -> None:
    """S0.1"""
    assert [kind.value for kind in ItemType] == ["System", "User", "Assistant", "Window", "Tool"]
    assert ContextItem("User", "hi").type is ItemType.USER  # type: ignore[arg-type]


def test_debug_lines_are_those_of_the_document() -> None:
    """S0.11, character for character."""
    context = manager()
    context.add(ContextItem(ItemType.SYSTEM, "你是 ContextUI 助手..."))
    context.add(ContextItem(ItemType.USER, "创建一个待办列表"))
    context.add(ContextItem(ItemType.ASSISTANT, "好的，我来帮你创建..."))
    context.add(ContextItem(ItemType.WINDOW, "todo_12345"))
    context.add(ContextItem(ItemType.WINDOW, "temp_67890"))
    context.mark_window_obsolete("temp_67890")
    assert context.debug_lines() == [
        "[✓] [0001] System: 你是 ContextUI 助手...",
        "[✓] [0002] User: 创建一个待办列表",
        "[✓] [0003] Assistant: 好的，我来帮你创建...",
        "[✓] [0004] Window: todo_12345",
        "[X] [0005] Window: temp_67890",
    ]


def test_debug_lines_are_one_line_of_50_characters_and_harmless() -> None:
    context = manager()
    context.add(user("x" * 51))
    context.add(user("a\nb\x1b[31m\u202e"))
    first, second = context.debug_lines()
    assert first == "[✓] [0001] User: " + "x" * 50 + "…"
    assert second == "[✓] [0002] User: a b␛[31m\\u202e"


def test_closing_a_window_makes_its_items_obsolete() -> None:
    """S0.6: because the context listens to the windows."""
    talk = Conversation()
    window = talk.open("a line")
    assert talk.context.debug_lines() == ["[✓] [0001] Window: notes_1"]
    talk.windows.close(window.id)
    assert talk.context.debug_lines() == ["[X] [0001] Window: notes_1"]
    assert talk.context.get_all()[0].hidden == "closed"
    assert not talk.context.get_active()


def test_a_persons_closing_words_stay_in_the_context() -> None:
    talk = Conversation()
    talk.windows.close(talk.open().id, "three ideas")
    talk.windows.close(talk.open().id, "the model's words are its tool result", actor="model")
    talk.windows.close(talk.open().id, "   ")
    assert [item.content for item in talk.context.get_active()] == ["notes_1 closed: three ideas"]


def test_a_second_reference_makes_the_older_one_obsolete() -> None:
    context = manager()
    first = context.add(ContextItem(ItemType.WINDOW, "todo_1"))
    second = context.add(ContextItem(ItemType.WINDOW, "todo_1"))
    assert (first.hidden, second.hidden) == ("replaced", None)
    context.mark_window_obsolete("todo_1")
    assert (first.hidden, second.hidden) == ("closed", "closed")


def test_a_closed_window_cannot_be_brought_back_as_an_item() -> None:
    talk = Conversation()
    window = talk.open()
    item = talk.context.get_all()[0]
    talk.context.drop(item.id)
    talk.windows.close(window.id)
    with pytest.raises(InvalidItemError, match="Item 0001 is closed"):
        talk.context.restore(item.id)
    talk.context.undo()
    assert item.hidden == "closed"


def test_stats_count_items_and_tokens() -> None:
    """S0.10: tokens of the active items, and of all."""
    context = manager()
    assert context.get_stats() == ContextStats()
    kept = context.add(user("x" * 40))
    context.add(ContextItem(ItemType.WINDOW, "todo_1"))
    alone = context.get_stats()
    gone = context.add(user("y" * 400))
    context.drop(gone.id)
    stats = context.get_stats()
    assert (stats.total_items, stats.active_items, stats.obsolete_items) == (3, 2, 1)
    assert stats.window_items == 1
    assert stats.estimated_tokens == alone.estimated_tokens
    assert stats.all_tokens == alone.all_tokens + 100 + 5
    context.edit(kept.id, "x" * 80)
    assert context.get_stats().estimated_tokens == alone.estimated_tokens + 10


def test_a_window_costs_what_it_shows_not_what_its_id_costs() -> None:
    """S0.9"""
    talk = Conversation()
    window = talk.open("a" * 400)
    before = talk.context.get_stats().estimated_tokens
    assert before > 100
    talk.write(window.id, "b" * 400)
    talk.context.compose()
    assert talk.context.get_stats().estimated_tokens >= before + 100


def test_dropping_an_answer_takes_its_results_along_and_a_result_only_its_call() -> None:
    talk = Conversation()
    talk.say("go")
    answer = talk.call(2, "I will")
    first, second = talk.result("one"), talk.result("two")
    talk.context.end_turn()
    talk.context.drop(answer.id)
    assert [one.hidden for one in (answer, first, second)] == ["dropped"] * 3
    talk.context.undo()
    assert not any(one.hidden for one in (answer, first, second))
    talk.context.drop(first.id)
    blocks = talk.composed()[1].content
    assert [b["type"] for b in blocks if isinstance(b, dict)] == ["text", "tool_use"]
    talk.context.drop(answer.id)
    talk.context.restore(second.id)
    assert [one.hidden for one in (answer, first, second)] == [None, "dropped", None]


def test_editing_an_answer_keeps_its_calls_and_loses_its_thinking() -> None:
    talk = Conversation()
    talk.say("go")
    answer = talk.call(1, "I will", "secretly")
    talk.result()
    with pytest.raises(InvalidItemError, match="thinking that goes with the next request"):
        talk.context.edit(answer.id, "I shall")
    talk.send()
    talk.context.edit(answer.id, "I shall")
    kinds = [block["type"] for block in answer.blocks or ()]
    assert (answer.content, kinds) == ("I shall", ["text", "tool_use"])


def test_a_change_in_mid_turn_counts_at_once() -> None:
    for talk in (Conversation(), Conversation("in-place")):
        talk.turn("first", "answer")
        talk.say("second")
        talk.send()
        old = talk.context.get_all()[0]
        talk.context.edit(old.id, "changed")
        assert "changed" in talk.context.debug_lines()[0]
        assert talk.composed()[0].content == "changed"


def test_undo_without_anything_to_undo_says_so() -> None:
    assert manager().undo() == []


def test_items_that_are_none_are_refused() -> None:
    for item in (
        user(""),
        user("  \n "),
        ContextItem(ItemType.SYSTEM, ""),
        ContextItem(ItemType.ASSISTANT, ""),
        ContextItem(ItemType.WINDOW, ""),
        ContextItem(ItemType.WINDOW, 'a"><b'),
        ContextItem(ItemType.WINDOW, "a b"),
    ):
        context = manager()
        with pytest.raises(InvalidItemError):
            context.add(item)
        assert (context.current_seq, item.seq, len(context.get_all())) == (0, 0, 0), item


def test_an_item_is_added_once_under_one_id_to_one_manager() -> None:
    context, item = manager(), user("hi")
    assert context.add(item) is item
    for other, again in (
        (context, item),
        (manager(), item),
        (context, ContextItem(ItemType.USER, "two", id=item.id)),
    ):
        with pytest.raises(DuplicateItemError, match="was added before"):
            other.add(again)
    assert context.get(item.id) is item
    with pytest.raises(TypeError):
        context.items[item.id] = user("other")  # type: ignore[index]
    assert context.current_seq == 1


def test_a_call_has_one_id_and_one_result() -> None:
    talk = Conversation()
    talk.call(1)
    result = talk.result()
    again = ContextItem(ItemType.TOOL, "again", tool_call_id=result.tool_call_id)
    with pytest.raises(InvalidItemError, match="has its result already"):
        talk.context.add(again)
    block: dict[str, object] = {
        "type": "tool_use",
        "id": result.tool_call_id,
        "name": "n",
        "input": {},
    }
    with pytest.raises(InvalidItemError, match="was used before"):
        talk.context.add(ContextItem(ItemType.ASSISTANT, "", blocks=(block,)))
    assert talk.context.current_seq == 2


def test_a_call_that_was_given_up_takes_no_result() -> None:
    """It would change the bytes of a turn that is over."""
    talk = Conversation()
    talk.say("go")
    talk.call(1, "I will")
    talk.context.end_turn()
    with pytest.raises(InvalidItemError, match='No tool call "call_1" waits for a result'):
        talk.result("too late")


def test_an_unknown_type_is_refused_by_name() -> None:
    with pytest.raises(InvalidItemError, match='"Robot" is not an item type'):
        ContextItem("Robot", "x")  # type: ignore[arg-type]


def test_unknown_items_are_a_clear_error() -> None:
    for method in ("pin", "unpin", "drop", "restore", "get"):
        with pytest.raises(UnknownItemError, match='There is no item "nope"'):
            getattr(manager(), method)("nope")


def test_marking_an_unknown_window_obsolete_does_nothing() -> None:
    """R12: S0.3 as amended."""
    context = manager()
    item = context.add(ContextItem(ItemType.USER, "hello"))
    heard: list[object] = []
    context.subscribe(heard.append)
    context.mark_window_obsolete("nope_1")
    assert list(context.get_active()) == [item]
    assert heard == []


def test_a_window_and_emptiness_cannot_be_edited_in() -> None:
    context = manager()
    window = context.add(ContextItem(ItemType.WINDOW, "todo_1"))
    words = context.add(user("hi"))
    for item_id, text in ((window.id, "x"), (words.id, " ")):
        with pytest.raises(ContextUIError):
            context.edit(item_id, text)
    assert words.content == "hi"


def test_text_that_no_api_takes_is_made_fit_at_the_door() -> None:
    """FAULTS 12"""
    context = manager()
    item = context.add(user("a\x00b\ud800"))
    block: dict[str, object] = {"type": "text", "text": "c\x00", "more": ["\udfff", 1, None]}
    answer = context.add(ContextItem(ItemType.ASSISTANT, "", blocks=(block,)))
    assert item.content == "a␀b\ufffd"
    assert answer.blocks == ({"type": "text", "text": "c␀", "more": ["\ufffd", 1, None]},)
    assert block["text"] == "c\x00", "the caller's own data stays as it is"


def test_malformed_items_are_a_clear_error() -> None:
    cases: list[tuple[str, dict[str, object]]] = [
        ("Assistant", {"blocks": [{"type": "tool_use", "name": "n", "input": {}}]}),
        ("Assistant", {"blocks": [{"type": "text"}]}),
        ("Assistant", {"blocks": [{"no": "type"}]}),
        ("Assistant", {"blocks": ["text"]}),
        ("User", {"blocks": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}),
        ("System", {"content": "s", "blocks": [{"type": "text", "text": "s"}]}),
        ("User", {"content": None}),
        ("User", {"content": 5}),
        ("User", {"content": "x", "hidden": "bogus"}),
        ("Tool", {"content": "x", "tool_call_id": "never asked"}),
    ]
    for kind, fields in cases:
        context = manager()
        with pytest.raises(InvalidItemError):
            context.add(ContextItem(ItemType(kind), **fields))  # type: ignore[arg-type]
        assert len(context.get_all()) == 0, kind


def test_a_block_nested_too_deeply_is_a_clear_error() -> None:
    deep: dict[str, object] = {}
    for _ in range(5_000):
        deep = {"deeper": deep}
    block = {"type": "tool_use", "id": "t", "name": "n", "input": deep}
    with pytest.raises(InvalidItemError, match="nested too deeply"):
        manager().add(ContextItem(ItemType.ASSISTANT, blocks=[block]))


def test_marking_a_request_twice_is_marking_it_once() -> None:
    """A retry sends the same request again."""
    talk = Conversation()
    talk.say("hi")
    request = talk.context.compose()
    talk.context.mark_sent(request)
    talk.context.mark_sent(request)
    assert [one.content for one in talk.composed()] == ["hi"]


def test_a_request_from_before_a_change_is_refused() -> None:
    talk, other = Conversation(), Conversation()
    item = talk.say("hi")
    changes: list[Callable[[], object]] = [
        lambda: talk.context.edit(item.id, "ho"),
        lambda: talk.system("be nice"),
        lambda: talk.answer("x"),
        talk.context.end_turn,
    ]
    for change in changes:
        request = talk.context.compose()
        change()
        with pytest.raises(StaleRequestError):
            talk.context.mark_sent(request)
    other.say("other words")
    with pytest.raises(StaleRequestError):
        other.context.mark_sent(talk.context.compose())


def test_a_window_is_referred_to_once_whatever_is_restored() -> None:
    """S0.6"""
    talk = Conversation()
    window = talk.open("a line")
    first = talk.context.get_all()[0]
    talk.context.drop(first.id)
    talk.context.add(ContextItem(ItemType.WINDOW, window.id))
    with pytest.raises(InvalidItemError):
        talk.context.restore(first.id)
    talk.context.undo()
    assert len(talk.composed()) == 1


def test_words_begin_a_new_turn_even_after_a_call_that_was_never_answered() -> None:
    talk = Conversation()
    talk.say("one")
    talk.call(1, "calling")
    talk.context.end_turn()
    talk.say("two")
    talk.answer("three")
    talk.say("four")
    assert [item.content for item in talk.context.open_items] == ["four"]


def test_stats_do_not_depend_on_when_one_looks() -> None:
    seen = []
    for looks_before in (True, False):
        talk = Conversation()
        talk.open("a line")
        talk.say("hi")
        if looks_before:
            talk.context.get_stats()
        request = talk.context.compose()
        talk.context.mark_sent(request)
        seen.append(talk.context.get_stats())
        assert seen[-1].estimated_tokens == request.tokens
    assert seen[0] == seen[1]


def test_many_threads_may_use_one_context() -> None:
    talk = Conversation()
    talk.system("You work in windows.")
    done: list[int] = []

    def work() -> None:
        for step in range(15):
            item = talk.say(f"words {step}")
            talk.context.compose(2_000)
            talk.context.pin(item.id)
            talk.context.unpin(item.id)
            talk.context.get_stats()
        done.append(step)

    together(*[work] * 6)
    assert len(done) == 6
    assert [item.seq for item in talk.context.get_all()] == list(range(1, 92))


def test_listeners_follow_without_polling() -> None:
    talk = Conversation("in-place")
    events: list[Event] = []
    end = talk.context.subscribe(events.append)
    item = talk.say("hi")
    talk.context.pin(item.id)
    talk.context.pin(item.id)
    talk.context.undo()
    talk.send()
    talk.context.end_turn()
    end()
    talk.say("unheard")
    assert events == [
        ItemAdded(item.id, 1),
        ItemsChanged((item.id,), "pin", {"pinned": True}),
        ItemsChanged((item.id,), "undo"),
        RequestSent(1),
        TurnEnded(1),
    ]


def test_a_moving_cut_is_reported() -> None:
    talk = Conversation()
    events: list[Event] = []
    talk.context.subscribe(events.append)
    for number in range(20):
        talk.turn(f"words {number} " * 20, "an answer " * 20)
    talk.say("last")
    talk.context.compose(1_000)
    assert [event for event in events if isinstance(event, CutMoved)] == [
        CutMoved(talk.context.ledger.cut)
    ]


def test_what_a_listener_causes_is_emitted_after_what_it_heard() -> None:
    context, heard = manager(), list[int]()

    def answer(event: Event) -> None:
        if isinstance(event, ItemAdded) and event.seq < 3:
            context.add(user("more"))

    context.subscribe(answer)
    context.subscribe(
        lambda event: heard.append(event.seq) if isinstance(event, ItemAdded) else None
    )
    context.add(user("hi"))
    assert heard == [1, 2, 3]


def test_a_listener_may_look_from_another_thread() -> None:
    """The lock is free while listeners are called."""
    talk, looked = Conversation(), list[int]()

    def look(event: Event) -> None:
        thread = threading.Thread(
            target=lambda: looked.append(talk.context.get_stats().total_items)
        )
        thread.start()
        thread.join(30)

    talk.context.subscribe(look)
    talk.say("hi")
    assert looked == [1]


def test_words_in_mid_turn_before_a_late_result_are_sent_once() -> None:
    talk = Conversation()
    talk.call(2)
    talk.result("one")
    talk.call(2)
    talk.say("queued")
    talk.result("two")
    talk.send()
    talk.context.mark_sent(talk.context.compose(60))
    talk.context.end_turn()
    composed = talk.composed()
    assert [one.content for one in composed].count("queued") == 1


def test_requesting_is_composing_and_marking_at_once() -> None:
    talk = Conversation()
    talk.say("hi")
    request = talk.context.request(1_000)
    talk.context.mark_sent(request)
    assert talk.composed() == list(request.messages)


def test_a_session_knows_it_when_it_is_opened_again(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home")
    session = store.create(tmp_path)
    context = session.context
    talk = Talk(session)
    items = [talk.say("one"), talk.answer("two"), talk.say("three"), talk.answer("four")]
    context.end_turn()
    summary = context.compact(items[:2], "It was counted.")
    session.close()
    again = store.open(session.id)
    folds = again.context.ledger.folds
    assert folds.items_of(summary.id) == (items[0].id, items[1].id)
    assert folds.summary_of(items[0].id) == summary.id
    folds.note([summary.id, items[1].id], "later")  # of two that replace an item, the later counts
    assert [folds.summary_of(one.id) for one in items[:2]] == [summary.id, "later"]
    again.close()

"""The queries of a context: what the rest of the program reads of it."""

import pytest

from contextui import ContextItem, ItemType
from contextui.context.replay import ContextReplay
from tests.context.conversation import Conversation
from tests.windowing.samples import Counter


def test_items_are_found_by_id_and_cannot_be_replaced() -> None:
    talk = Conversation()
    talk.say("hello")
    (item,) = talk.context.get_all()
    assert talk.context.items == {item.id: item}
    with pytest.raises(TypeError):
        talk.context.items["other"] = item  # type: ignore[index]


def test_a_turn_is_running_from_its_first_request_to_its_end() -> None:
    talk = Conversation()
    context, running = talk.context, list[bool]()
    talk.say("hello")
    running.append(context.is_turn_running)
    talk.send()
    running.append(context.is_turn_running)
    assert [item.content for item in context.open_items] == ["hello"]
    context.end_turn()
    running.append(context.is_turn_running)
    assert running == [False, True, False]
    assert list(context.open_items) == []


def test_the_items_of_a_window_stay_when_it_is_closed() -> None:
    talk = Conversation()
    window = talk.windows.open(Counter)
    assert talk.context.window_ids == [window.id]
    (item,) = talk.context.window_items(window.id)
    assert talk.context.live_window_items == [item]
    assert talk.context.item_tokens(item) > 10
    talk.windows.close(window.id)
    assert list(talk.context.window_items(window.id)) == [item]
    assert talk.context.live_window_items == []
    assert list(talk.context.window_items("none_1")) == []


def test_a_replay_emits_no_events() -> None:
    talk = Conversation()
    events: list[object] = []
    talk.context.subscribe(events.append)
    replay, item = ContextReplay(talk.context), ContextItem(ItemType.USER, "hello")
    replay.add(item, 3)
    replay.edit([item], {"pinned": True})
    replay.set_cut(2)
    replay.end_turn(early=False)
    assert (talk.context.current_seq, talk.context.cut, item.pinned) == (3, 2, True)
    assert len(replay.undo_steps) == 1
    replay.undo()
    assert not item.pinned
    assert events == []

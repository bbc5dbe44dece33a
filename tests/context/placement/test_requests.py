"""Requests by price: what holds for every conversation, whatever happens in it."""

import re
from collections.abc import Iterator, Sequence

from contextui import ItemType, LlmMessage
from tests.context.conversation import Conversation, rough_counter, wire

HEAD = re.compile(r'<Window id="([^"]*)" version="([^"]*)"(?: since="([^"]*)")?')


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def talk_by_price() -> Conversation:
    talk = Conversation("price", rough_counter())
    talk.system("You help. " * 600)  # more than the least that is cached
    return talk


def texts(messages: Sequence[LlmMessage]) -> Iterator[str]:
    """Every text of user messages that may be a window's block, in order."""
    for message in messages:
        if message.role != "user":
            continue
        if isinstance(message.content, str):
            yield message.content
            continue
        for block in message.content:
            if block["type"] == "text":
                yield block["text"]
            inner = block.get("content") if block["type"] == "tool_result" else None
            parts = inner[1:] if isinstance(inner, list) else ()
            yield from (one["text"] for one in parts if one["type"] == "text")


def windows_in(messages: Sequence[LlmMessage]) -> dict[str, tuple[str, list[str], str]]:
    """The state of each window that a request shows: version, content lines, list of actions.

    Written without the product's own reader: whole blocks set a state, change blocks replace lines.
    """
    found: dict[str, tuple[str, list[str], str]] = {}
    for text in texts(messages):
        head = HEAD.match(text)
        if head is None or not text.endswith("</Window>"):
            continue
        name, version, since = head.groups()
        if since is None:
            content = text[text.index("<Content") : text.rindex("<Actions")]
            listed = text[text.rindex("<Actions") : text.rindex("</Window>")].strip()
            if reference := re.fullmatch(r'<Actions ref="(.*)"/>', listed):
                listed = found[reference[1]][2]
            body = content.strip().removeprefix("<Content>").removesuffix("</Content>")
            found[name] = version, body.removeprefix("<Content/>").split("\n"), listed
            continue
        was, lines, listed = found[name]
        assert was == since, "a change that does not start from the block above"
        found[name] = version, patched(lines, text.split("\n")[1:-1]), listed
    return found


def patched(lines: list[str], diff: list[str]) -> list[str]:
    new, shift = list(lines), 0
    at = 0
    for row in diff:
        if hunk := re.fullmatch(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@", row):
            at = int(hunk[1]) - (hunk[2] != ",0") + shift
        elif row[0] == "+":
            new.insert(at, row[1:])
            at, shift = at + 1, shift + 1
        else:
            assert new[at].startswith(row[1:].removesuffix("…")), "a line that is not there"
            if row[0] == "-":
                del new[at]
                shift -= 1
            else:
                at += 1
    return new


def state_of(xml: str) -> tuple[list[str], str]:
    ((_, lines, listed),) = windows_in([LlmMessage("user", xml)]).values()
    return lines, listed


def is_prefix(before: Sequence[LlmMessage], now: Sequence[LlmMessage]) -> bool:
    return wire(now).startswith(wire(before))


def test_a_call_that_comes_back_brings_the_thinking_of_its_answer() -> None:
    talk = talk_by_price()
    talk.say("go on")
    talk.send()
    answer = talk.call(2, thinking="a thought")
    result = talk.result()
    talk.context.drop(answer.id)
    assert "a thought" not in wire(talk.composed()).decode()
    talk.context.restore(result.id)
    talk.result()
    content = talk.composed()[-2].content
    assert not isinstance(content, str)
    assert content[0]["type"] == "thinking"


def test_an_answer_that_missed_a_request_comes_back_with_the_next_turn() -> None:
    talk = talk_by_price()
    talk.say("go on")
    talk.send()
    answer = talk.call(thinking="a thought", text="missed words")
    talk.result()
    talk.context.drop(answer.id)
    sent = wire(talk.send())
    talk.call(thinking="a later thought", text="more words")
    talk.result()
    talk.context.undo()
    later = wire(talk.send())
    assert later.startswith(sent)  # the later thought is with its context
    assert b"missed words" not in later
    talk.answer("ok")
    talk.context.end_turn()
    talk.say("and now?")
    last = wire(talk.send())
    assert b"missed words" in last
    assert b"thought" not in last


def test_a_request_with_nothing_new_counts() -> None:
    talk = talk_by_price()
    talk.open("one")
    talk.say("go on")
    talk.send()
    answer = talk.call(thinking="a thought")
    talk.result()
    talk.context.drop(answer.id)
    before = talk.composed()
    talk.send()
    talk.call(thinking="a later thought")
    talk.result()
    assert is_prefix(before, talk.composed())
    priced = talk.context.ledger.priced
    assert priced is not None
    assert priced.transcript.requests == 2


def test_room_is_made_in_a_turn_whose_window_was_swept() -> None:
    talk = talk_by_price()
    for _ in range(3):
        talk.turn("before " * 400, "yes")
    talk.say("go on")
    talk.send()
    window = talk.open("one " * 50)
    talk.say("now")
    talk.send()
    items = talk.context.items.values()
    shown = next(one for one in items if one.type is ItemType.WINDOW)
    talk.context.drop(shown.id)
    talk.context.sweep()
    talk.send()
    room = talk.context.compose().tokens - 300
    talk.context.compose(room)
    assert window.id not in windows_in(talk.send(room))

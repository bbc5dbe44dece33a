"""What a verb is about: something that is there, that is to be made, or that nobody knows."""

from collections.abc import Sequence

from contextui.agent.models.offline.filling.filled import Filled
from contextui.agent.models.offline.filling.frame import Each, Frame
from contextui.agent.models.offline.filling.pointing import is_one_held
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.referring.knowing import knows
from contextui.agent.models.offline.shown.blocks import Action, WindowView
from contextui.agent.models.offline.shown.profiles import GROUP, likeness, words_of


def leaves_object(clause: Clause, head: int | None, filled: Filled, window: WindowView) -> bool:
    """Whether what stands right behind the verb is left over: "set an alarm for 7"."""
    after = [one for one in clause.tokens[head + 1 :] if not one.has("~article", "~possessive")
             ] if head is not None else []  # fmt: skip
    if not after or not after[0].is_ascii or any(one.kind is Kind.QUOTE for one in after[1:2]):
        return False
    left = any(one.weight >= 1 and after[0] in one.tokens for one in filled.left)
    return left and not knows(window, after[0])


def is_of_another(
    clause: Clause,
    head: int | None,
    window: WindowView,
    action: Action,
    windows: Sequence[WindowView],
) -> bool:
    """Whether the one thing to act on is what another window is about, and this one is not."""
    said = [one for n, one in enumerate(clause.tokens) if n != head and one.kind is Kind.WORD]
    things = [one for one in said if not one.is_small]
    if not action.params or len(things) != 1 or any(one.has("~all", "~except") for one in said):
        return False
    others = [words_of(one)[:2] for one in windows if one.name != window.name]
    elsewhere = any(likeness(things[0].nouns, part) >= GROUP for one in others for part in one)
    return head is not None and elsewhere and not knows(window, things[0])


def is_window_itself(clause: Clause, head: int | None, mentions: set[int], frame: Frame) -> bool:
    """Whether a window is to be deleted, and none of the things in it: "delete this list"."""
    tokens, action = clause.tokens, frame.action
    if head is None or not tokens[head].has("@remove"):
        return False
    if action.id == "close" or not action.params:
        return False
    for place in mentions - {0, 1}:
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        ends = after is None or after.kind is Kind.MARK or place + 1 == head
        led = place - 2 == head or tokens[place - 2].has("~object")
        if ends and led and tokens[place - 1].has("~this"):
            return not any(is_one_held(tokens[place], one, frame) for one in action.params)
    return False


def composes(clause: Clause, head: int | None) -> bool:
    """Whether something is to be thought up: "write a poem about spring"."""
    after = clause.tokens[head + 1 : head + 4] if head is not None else ()
    writes = head is not None and clause.tokens[head].text.casefold() in ("write", "compose")
    if not writes or len(after) < 3 or after[0].text not in ("a", "an"):
        return False
    return after[2].has("~for", "~to") and not after[1].has("#note", "#entry", "#line", "#text")


def is_made_of_it(clause: Clause, head: int | None) -> bool:
    """Whether "it" is to become something else: "make it bold" makes nothing new."""
    after = clause.tokens[head + 1 : head + 3] if head is not None else ()
    return len(after) == 2 and after[0].has("~it", "~this") and not after[1].has(
        "~article", "~new_article")  # fmt: skip


def are_changed(window: WindowView, filled: Filled) -> bool:
    """Whether what would be made begins with what is there: "make eggs …" is about the eggs."""
    texts = tuple(f"{one.text.casefold()} " for one in window.items if one.text)
    return any(isinstance(one, str) and f"{one.casefold()} ".startswith(texts)
               for one in filled.params.values())  # fmt: skip


def are_there(window: WindowView, filled: Filled) -> bool:
    """Whether what would be added stands there already."""
    texts = {one.text.casefold() for one in window.items if one.text}
    given = [one.values if isinstance(one, Each) else (one,) for one in filled.params.values()]
    return any(isinstance(one, str) and one.casefold() in texts for each in given for one in each)


def is_labelled(clause: Clause, action: Action) -> bool:
    """Whether a figure stands behind the name of what it is for: "volume 30"."""
    words = [keys for one in action.params if one.is_number for keys in keys_of(one.name)]
    said = [one for one in clause.tokens if one.kind is Kind.WORD]
    return bool(words) and any(likeness(one.nouns, tuple(words)) >= GROUP for one in said)

"""The last wish with another value: "no, eggs" puts it right, "and coffee" goes on with it."""

from collections.abc import Mapping, Sequence
from typing import Any

from contextui.agent.models.offline.filling.frame import Each, Frame
from contextui.agent.models.offline.filling.sharing import value_of_words
from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.planning.taking_back import inverse
from contextui.agent.models.offline.planning.talking import clauses_in
from contextui.agent.models.offline.planning.wishing import Outcome, Planned, understand
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import tokens_of
from contextui.agent.models.offline.shown.blocks import Action, WindowView
from contextui.agent.models.offline.shown.items import EXACT, find_by_words, main_items, value_of
from contextui.agent.models.offline.shown.profiles import profile_of
from contextui.agent.models.offline.shown.scene import Call, Scene
from contextui.agent.models.offline.shown.surroundings import Surroundings
from contextui.words import Lang

_LEADING = ("~correction", "~interjection", "~no", "~polite", "~adverb", "~be", "~not")
_ALSO = ("also", "plus", "还有", "以及", "too", "as well", "也要", "也是", "也一样")
_DAYS = tuple(
    f"#{one}"
    for one in listed(
        "monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday"
    )
)
_LONGEST = 7  # tokens of a value that is put right


def correction(scene: Scene, around: Surroundings, lang: Lang) -> Outcome | None:
    """The last call anew, with what the words put right; None if they put nothing right."""
    last = scene.earlier[0] if scene.earlier else None
    clauses = clauses_in(scene.words, around)
    if last is None or not last.ok or len(clauses) != 1 or clauses[0].is_question:
        return None
    more = _more(clauses[0], scene.words)
    value = more or _put_right(clauses[0])
    window = next((one for one in around.windows if one.id == last.window_id), None)
    if value is None or window is None or understand(clauses[0], around, lang).calls:
        return None
    given: Any = last.input.get("params")
    action = _action(window, str(last.input.get("action_id")))
    if action is None or not isinstance(given, Mapping):
        return None
    if more is not None:
        calls = _again(window, action, dict(given), value)
    else:
        calls = _edited(window, action, dict(given), value)
        calls = calls or _instead(last, around.windows, _again(window, action, dict(given), value))
    return Outcome(tuple(calls), score=9.0) if calls else None


def _more(clause: Clause, words: str) -> Clause | None:
    """What stands behind "and" or "also", if it is another value for the same wish."""
    first = next((one for one in tokens_of(words[:200]) if one.kind is not Kind.MARK), None)
    adds = first is not None and (
        first.has("~and") or first.text.casefold() in _ALSO[:4])  # fmt: skip
    adds = adds or any(one.text.casefold() in _ALSO for one in clause.tokens[-2:])
    rest = tuple(
        one for one in clause.tokens
        if one.kind is not Kind.MARK and not one.has("~and", "~adverb", "~polite", "~then")
    )  # fmt: skip
    acts = any(one.is_verb and not one.nouns for one in rest)
    return Clause(rest, clause.words) if adds and 0 < len(rest) <= _LONGEST and not acts else None


def _put_right(clause: Clause) -> Clause | None:
    """What stands behind "no" or "I meant", if it is a value and no wish."""
    marked, place = False, 0
    for token in clause.tokens:
        if token.kind is not Kind.MARK and not token.has(*_LEADING):
            break
        marked = marked or token.has("~correction", "~no", "~not") or token.text == "actually"
        place += 1
    rest = tuple(one for one in clause.tokens[place:] if one.kind is not Kind.MARK)
    acts = any(one.is_verb and not one.nouns for one in rest)
    return Clause(rest, clause.words) if marked and 0 < len(rest) <= _LONGEST and not acts else None


def _action(window: WindowView, action_id: str) -> Action | None:
    return next((one for one in window.actions if one.id == action_id), None)


def _edited(
    window: WindowView, action: Action, given: dict[str, Any], value: Clause
) -> list[Planned]:
    """What was added is changed, where the window can do that."""
    texts = [one for one in given.values() if isinstance(one, str)]
    if profile_of(action).verbs.isdisjoint(("@add", "@write")) or len(texts) != 1:
        return []
    found = find_by_words(main_items(window), texts[0])
    for other in window.actions:
        needed = [one for one in other.params if not one.optional]
        edits = "@edit" in profile_of(other).verbs and len(needed) == 2
        if not edits or found.fit < EXACT or not needed[1].type.takes_text:
            continue
        item = value_of(found.items[-1], needed[0], main_items(window))
        params = {needed[0].name: item, needed[1].name: _with_part(texts[0], value)}
        return [_call(window, other, params)]
    return []


def _with_part(text: str, value: Clause) -> str:
    """A text with what is put right in it: "call Ana on Friday", "make that Monday"."""
    new = " ".join(one.text for one in value.tokens) if value.text.isascii() else value.text
    same = [one for one in tokens_of(text) if len(value.tokens) == 1
            and _kind(one) and _kind(one) == _kind(value.tokens[0])]  # fmt: skip
    return text[: same[0].start] + new + text[same[0].end :] if len(same) == 1 else new


def _kind(token: Token) -> str:
    """What can be put in its place: a day for a day, a number for a number."""
    if token.kind is Kind.CLOCK or token.number:
        return "clock" if token.kind is Kind.CLOCK else "number"
    return "day" if token.has(*_DAYS) else ""


def _instead(last: Call, windows: Sequence[WindowView], calls: list[Planned]) -> list[Planned]:
    """The calls, behind what takes back the one that they stand for."""
    back = inverse(last, windows) if calls else None
    return calls if back is None else [Planned("action", back), *calls]


def _again(
    window: WindowView, action: Action, given: dict[str, Any], value: Clause
) -> list[Planned]:
    """The same once more, with the one value that the words can stand for."""
    frame = Frame(action, window, profile_of(action).verbs)
    number = any(one.number for one in value.tokens)
    for param in sorted(action.params, key=lambda one: one.is_number is not number):
        if param.name not in given:
            continue
        new = value_of_words(value, param, frame)
        if new is None or isinstance(new, Each) or new == given[param.name]:
            continue
        return [_call(window, action, {**given, param.name: new})]
    return []


def _call(window: WindowView, action: Action, params: dict[str, Any]) -> Planned:
    given = {"window_id": window.id, "action_id": action.id}
    return Planned("action", {**given, **({"params": params} if params else {})})

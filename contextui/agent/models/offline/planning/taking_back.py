"""What takes back the last call: "undo that", "no, it isn't done", where a window has no undo."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from contextui.agent.models.offline.lexicon.verbs import OPPOSITE
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.shown.blocks import Action, WindowView
from contextui.agent.models.offline.shown.items import EXACT, find_by_words, main_items, value_of
from contextui.agent.models.offline.shown.profiles import profile_of
from contextui.agent.models.offline.shown.scene import Call
from contextui.agent.models.offline.shown.surroundings import Surroundings

_SMALL = ("~it", "~this", "~polite", "~adverb", "~interjection", "~aspect", "~last", "~article",
          "~greet", "~of", "~object", "~one", "~correction", "~step", "#step", "#move")  # fmt: skip
_DENYING = (*_SMALL, "~not", "~no", "~be", "~is_there", "~person", "~have")
_BACK = ("@undo", "@restore")
_MAKING = ("@add", "@write")
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"|“([^”]+)”|「([^」]+)」")


def takes_back(clause: Clause, around: Surroundings) -> bool:
    """Whether a clause only says that what was done last is to be taken back."""
    said = [one for one in clause.tokens if one.kind is not Kind.MARK]
    undoes = any(one.has(*_BACK) for one in said)
    denies = _denies(said)
    recent = [one for one in around.windows if one.id in around.used[:1]]
    declared = any(_undo_of(one) for one in recent or around.windows)
    if undoes and not declared:
        return all(one.has(*_BACK, *_SMALL) for one in said)
    return denies and all(one.has(*_DENYING) for one in said)


def takes_back_all(clause: Clause, around: Surroundings) -> bool:
    """Whether everything is to be taken back, and no window declares that."""
    said = [one for one in clause.tokens if one.kind is not Kind.MARK]
    undoes = any(one.has("@undo") for one in said) and any(one.has("~all") for one in said)
    undoing = [one for window in around.windows for one in window.actions if _undoes(one)]
    return undoes and not any("~all" in keys for one in undoing for keys in profile_of(one).every)


def inverse(call: Call, windows: Sequence[WindowView]) -> dict[str, Any] | None:
    """The input of the call that takes another one back; None if nothing does."""
    window = next((one for one in windows if one.id == call.window_id), None)
    action = _action(window, call) if window is not None else None
    given: Any = call.input.get("params") or {}
    if window is None or action is None or not call.ok or not isinstance(given, Mapping):
        return None
    if undo := _undo_of(window):
        return _input(window, undo, {})
    if (other := _opposite(window, action)) is not None:
        return _input(window, other, given)
    switches = [one for one in action.params if one.type.is_bool and one.name in given]
    if len(switches) == len(given) == 1:
        return _input(window, action, {switches[0].name: not given[switches[0].name]})
    return _removed(window, action, given) or _put_back(window, action, call.result)


# --- within ------------------------------------------------------------------------------


def _denies(said: Sequence[Token]) -> bool:
    """Whether it says that something is not so: "no, it isn't"; a bare "no" says too little."""
    denied = any(one.has("~not", "~no") for one in said)
    stated = any(one.has("~be") for one in said) and any(one.has("~it", "~this") for one in said)
    return denied and stated


def _action(window: WindowView, call: Call) -> Action | None:
    return next((one for one in window.actions if one.id == call.input.get("action_id")), None)


def _undo_of(window: WindowView) -> Action | None:
    return next((one for one in window.actions if _undoes(one) and not one.params), None)


def _undoes(action: Action) -> bool:
    return "@undo" in profile_of(action).verbs


def _opposite(window: WindowView, action: Action) -> Action | None:
    """The action of the window that does the contrary with the same params."""
    contrary = {f"@{OPPOSITE[one]}" for one in _own_verbs(action) if one in OPPOSITE}
    for other in window.actions:
        verbs = {f"@{one}" for one in _own_verbs(other)}
        if other.params == action.params and other.params and verbs & contrary:
            return other
    return None


def _own_verbs(action: Action) -> set[str]:
    """The groups of verbs that an action is called after."""
    return {key[1:] for key in profile_of(action).names[0] if key[0] == "@"}


def _removed(window: WindowView, action: Action, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """What was added is deleted, where it stands there as a whole."""
    texts = [one for one in given.values() if isinstance(one, str)]
    if profile_of(action).verbs.isdisjoint(_MAKING) or not texts:
        return None
    pool = main_items(window)
    found = find_by_words(pool, texts[0])
    for other in window.actions:
        needed = [one for one in other.params if not one.optional]
        if "@remove" not in profile_of(other).verbs or len(needed) != 1 or found.fit < EXACT:
            continue
        item = value_of(found.items[-1], needed[0], pool)
        return None if item is None else _input(window, other, {needed[0].name: item})
    return None


def _put_back(window: WindowView, action: Action, result: str) -> dict[str, Any] | None:
    """What was deleted is added again, if the result quotes just one thing."""
    found = {next(filter(None, one)) for one in _QUOTED.findall(result)}
    if "@remove" not in profile_of(action).verbs or len(found) != 1:
        return None
    for other in window.actions:
        needed = [one for one in other.params if not one.optional]
        adds = "@add" in profile_of(other).verbs and len(needed) == 1
        if adds and needed[0].type.takes_text:
            return _input(window, other, {needed[0].name: found.pop()})
    return None


def _input(window: WindowView, action: Action, params: Mapping[str, Any]) -> dict[str, Any]:
    given = {"params": dict(params)} if params else {}
    return {"window_id": window.id, "action_id": action.id, **given}

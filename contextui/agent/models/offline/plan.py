"""What to do next: the calls for the next clause of what was said, or an answer.

The model has no memory. For every step of a turn the sentence is read again from its beginning:
each step that was done stands for one clause, read with the windows as they were then.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from contextui.agent.models.offline import answers, match
from contextui.agent.models.offline.items import value_of
from contextui.agent.models.offline.lexicon import groups_of, lexicon
from contextui.agent.models.offline.match import Reading, clause_of, exact, readings
from contextui.agent.models.offline.scene import Action, Call, Scene, Window
from contextui.agent.models.offline.slots import Slots
from contextui.agent.models.offline.tokens import LONGEST, Clause, Token, bare, has_any, tokenize
from contextui.text import one_line
from contextui.words import Words

_STRONG = ".。!！?？;；"
_CLAUSES = 12  # of one sentence
_OPTION = re.compile(r"^(\d+)\. (.*) \(`([^`]+)`\)$", re.MULTILINE)
_NEEDED = re.compile(r"\(`([^`]*?)(\w+)=…`\)")


@dataclass(slots=True)
class Plan:
    """The next calls, or, if there are none, what to say."""

    calls: list[Call] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    rest: str = ""  # what of the sentence is still to be done
    is_stopped: bool = False  # the rest is left alone
    again: bool = False  # the same clause is read again afterwards
    is_social: bool = False  # only courtesies were exchanged
    is_dropped: bool = False


def plan(scene: Scene, words: Words) -> Plan:
    """Return what to do next in a turn."""
    if problem := _unreadable(scene.words, words):
        return Plan(said=[problem])
    text, said = scene.words, list[str]()
    calls = [call for step in scene.steps for call in step.calls]
    for place, step in enumerate(scene.steps):
        before = replace(scene, windows=step.windows, steps=scene.steps[:place])
        text = _understood_reply(before, text) if place == 0 else text
        made = _until_calls(before, text, words)
        said += made.said
        if any(not call.ok for call in step.calls):
            if rest := one_line(made.rest.strip(), 200):
                said.append(words("After that I did not continue with: “{rest}”.", rest=rest))
            return Plan(said=[*answers.report(calls, words), *said])
        text = text if made.again else made.rest
    text = text if scene.steps else _understood_reply(scene, text)
    made = _until_calls(scene, text, words, is_dry=bool(scene.steps))
    if not made.calls:
        made.said = [*answers.report(calls, words), *said, *made.said]
        made.said = made.said or [words("I heard no words.")]
    return made


def _unreadable(text: str, words: Words) -> str | None:
    if not text.strip():
        return words("I heard no words.")
    if len(text) > LONGEST:
        return words("I read at most {count} characters, so I did nothing.", count=LONGEST)
    if any(token.kind == "broken" for token in tokenize(text)):
        return words("A quotation mark is never closed, so I did nothing.")
    return None


def _until_calls(scene: Scene, text: str, words: Words, *, is_dry: bool = True) -> Plan:
    """Read clauses until one needs calls; say the answers to those before it."""
    said, courtesy = list[str](), list[str]()
    for _ in range(_CLAUSES):
        head, rest = (text, "") if exact(scene, text) else first_clause(scene, text)
        if not head.strip():
            break
        made = _clause(scene, clause_of(scene, head), words)
        if made.is_social or (made.is_dropped and rest.strip()):
            courtesy, text = made.said, rest
            continue
        if made.calls and not (is_dry or made.again):
            unclear = _first_unclear(scene, head, rest, made)
            if unclear is not None:
                nearest = next(iter(readings(scene, unclear)), None)
                return Plan(said=[*said, answers.refused(scene, unclear, nearest, words)])
        made.said, made.rest = [*said, *made.said], rest
        if made.calls or made.is_stopped:
            return made
        said, text = made.said, rest
    return Plan(said=said or (courtesy if not scene.steps else []))


def _first_unclear(scene: Scene, head: str, rest: str, made: Plan) -> Clause | None:
    """Return a later clause that cannot be understood; None if all can, or nobody knows yet."""
    known = {token.text for token in clause_of(scene, head).tokens}
    is_open = all(call.tool == "action" for call in made.calls)
    while is_open and rest.strip():
        text, rest = first_clause(scene, rest)
        clause = clause_of(scene, text)
        if not text.strip():
            return None
        if not (_is_talk(scene, clause) or exact(scene, text)):
            found = [one for one in readings(scene, clause) if _is_known(one, clause, known)]
            if not found and match.preparation(scene, clause) is None:
                return clause
            is_open = all(one.window.id for one in found)
        known |= {token.text for token in clause.tokens}
    return None


def _is_talk(scene: Scene, clause: Clause) -> bool:
    return answers.is_question(clause) or answers.social(clause, scene, Words()) is not None


def _is_known(reading: Reading, clause: Clause, known: set[str]) -> bool:
    """Whether the words that a reading does not explain were said before, or are "it"."""
    refers = {clause.tokens[at].text for at in clause.places("~it", "~both")}
    return set(reading.unexplained) <= known | refers


def first_clause(scene: Scene, text: str) -> tuple[str, str]:
    """Return the first clause of a text, and the rest."""
    tokens = clause_of(scene, text).tokens
    end = after = len(text)
    for at, token in enumerate(tokens):
        is_end = token.text in _STRONG and token.kind == "mark"
        is_then = token.has("~then") and at + 1 < len(tokens)
        if at == 0 and (is_end or is_then or _is_joint(token)):
            return first_clause(scene, text[token.end :])
        if is_then or (is_end and not (token.text == "." and _is_within_text(tokens, at))):
            # The mark stays: a question mark says that something is asked.
            end, after = (token.end if is_end else token.start), token.end
            break
    cut = _weak_cut(scene, text[:end])
    return (text[: cut.start], text[cut.end :]) if cut else (text[:end], text[after:])


def _is_joint(token: Token) -> bool:
    return token.has("~and") or token.text in (",", "，", "\n")


def _is_within_text(tokens: Sequence[Token], at: int) -> bool:
    """Whether a full stop belongs to a text, as in "note: the key is at Mrs. Lopez's"."""
    rest = tokens[at + 1 :]
    is_said = any(token.text in ":：" or token.has("~saying") for token in tokens[:at])
    is_next = match.is_verb_first(rest) or has_any(rest[:1], "~thank", "~then", "~what")
    return is_said and bool(rest) and not is_next


def _weak_cut(scene: Scene, text: str) -> Token | None:
    """Return the "and" or comma that divides two requests; None if none does."""
    clause = clause_of(scene, text)
    joints = [token for token in clause.tokens[1:-1] if _is_joint(token)]
    whole = readings(scene, clause)[:1] if 0 < len(joints) <= 2 * _CLAUSES else []
    if any(one.is_complete and one.is_solid and one.params[0] for one in whole):
        return None
    for token in joints if len(joints) <= 2 * _CLAUSES else ():
        head, tail = (clause_of(scene, text[: token.start]), clause_of(scene, text[token.end :]))
        before, after = readings(scene, head), readings(scene, tail)
        is_talk = answers.social(head, scene, Words()) is not None or answers.is_dropped(head)
        is_talk = is_talk or (answers.is_remark(head) and not before)
        opens = all(one and one[0].is_complete and not one[0].window.id for one in (before, after))
        if not (match.is_verb_first(tail.tokens) or opens or is_talk):
            continue
        done = any(one.is_complete for one in before) or (head.content and exact(scene, head.text))
        strong = exact(scene, tail.text) or any(_is_doable(one, tail) for one in after)
        strong = strong or not (whole and whole[0].is_complete)
        if strong and (is_talk or done or match.preparation(scene, head)):
            return token
    return None


def _is_doable(reading: Reading, clause: Clause) -> bool:
    """Whether a reading can be carried out, once "it" is known."""
    refers = clause.has("~it", "~this", "~both")
    missing = tuple(one for one in reading.missing if not (refers and one.is_reference))
    rest = () if _is_known(reading, clause, set()) else reading.unexplained
    return reading.is_marked and replace(reading, missing=missing, unexplained=rest).is_complete


def _clause(scene: Scene, clause: Clause, words: Words) -> Plan:  # noqa: PLR0911
    named, said = exact(scene, clause.text), scene.said
    is_asked = _OPTION.search(said) or _NEEDED.search(said)
    if named is not None and not (is_asked and answers.is_dropped(clause)):
        is_short = clause.text.strip().casefold() != named.action.label.casefold()
        is_switch = is_short and all(param.is_bool for param in named.missing)
        found = readings(scene, clause) if is_switch and not named.is_complete else []
        same = [one for one in found if (one.window, one.action) == (named.window, named.action)]
        return _act(scene, clause, [one for one in same if one.is_complete][:1] or [named], words)
    if (text := answers.social(clause, scene, words)) is not None:
        return Plan(said=[text], is_social=not clause.has("~able", "~opened"))
    if not clause.content and not clause.has("~undo_that", "~again"):
        return Plan()
    if answers.is_remark(clause) and not readings(scene, clause):
        return Plan(said=[answers.refused(scene, clause, None, words)], is_dropped=True)
    done = not is_asked and any(reading.is_complete for reading in readings(scene, clause))
    if answers.is_dropped(clause) and not done:
        return Plan(said=[words("All right, I leave it.")], is_stopped=True, is_dropped=True)
    for special in (_taken_back, _repeated, _corrected, _continued, _closed):
        if (made := special(scene, clause, words)) is not None:
            return made
    is_phrased = any(one.is_exact and one.is_complete for one in readings(scene, clause))
    if answers.is_question(clause) and not is_phrased:
        answer = answers.answer(scene, clause, words)
        if isinstance(answer, str):
            return Plan(said=[answer])
        return Plan([call(answer, {})], again=True)
    return _act(scene, clause, readings(scene, clause), words)


def _act(  # noqa: PLR0911
    scene: Scene, clause: Clause, found: list[Reading], words: Words
) -> Plan:
    best = match.best_of(found)
    if len(best) == 1 or (best and best[0].is_exact):
        top = best[0]
        there = next((window for window in scene.windows if window.name == top.window.name), None)
        is_new = top.params[0] or clause.has("#new", "~article")
        if not top.window.id and there and not is_new:
            return Plan(said=[answers.shows(there, words)])
        return Plan([call(top, params) for params in top.params])
    if best:
        return _asked(words, [(one.notation, one.label) for one in best[:6]])
    if (first := match.preparation(scene, clause)) is not None:
        return Plan([call(first, first.params[0])], again=True)
    near = next((one for one in found if not one.unexplained), None)
    if near and near.choices:
        options = [(replace(near, params=(one,)).notation, text) for one, text in near.choices]
        return _asked(words, options[:9])
    if near and near.missing and (near.is_exact or len(near.missing) == 1):
        name = near.missing[0].name
        text = words("I need one more thing: {name}. What should it be?", name=name)
        return Plan(said=[f"{text} (`{near.notation} {name}=…`)"], is_stopped=True)
    if has_any(clause.tokens[:3], "@show"):
        shown = answers.answer(scene, clause, words)
        if isinstance(shown, Reading):
            return Plan([call(shown, {})], again=True)
    text = answers.refused(scene, clause, found[0] if found else None, words)
    return Plan(said=[text], is_stopped=True)


def _asked(words: Words, options: Sequence[tuple[str, str]]) -> Plan:
    text = words("Did you mean one of these? Answer with a number.")
    lines = [f"{n}. {one_line(label, 80)} (`{call}`)" for n, (call, label) in enumerate(options, 1)]
    return Plan(said=["\n".join([text, *lines])], is_stopped=True)


def call(reading: Reading, params: dict[str, Any]) -> Call:
    """Return the call that a reading means."""
    if reading.window.id:
        return _action(reading.window.id, reading.action.id, params)
    args = {"args": params} if params else {}
    return Call("create", {"name": reading.window.name, **args})


def _action(window_id: str, action_id: str, params: dict[str, Any]) -> Call:
    given = {"params": params} if params else {}
    return Call("action", {"window_id": window_id, "action_id": action_id, **given})


def _understood_reply(scene: Scene, text: str) -> str:
    """Return what a reply to the model's own question means, written as a request."""
    clause = clause_of(scene, text)
    tokens = [token for token in clause.tokens if token.kind != "mark" and not token.has("~polite")]
    options, needed = _OPTION.findall(scene.said), _NEEDED.search(scene.said)
    is_none = clause.has("~not", "~drop", "~vague") or has_any(tokens[:1], "~person")
    if not tokens or not (options or needed) or is_none or _is_talk(scene, clause):
        return text
    found = readings(scene, clause)
    if options:
        number = next((str(int(one.number)) for one in tokens if one.number is not None), "")
        for place, _, call in options if len(tokens) <= 4 else ():
            if place == number:
                return str(call)
        if tokens[0].has("~last"):
            return str(options[-1][2])
        low = " ".join(clause.tokens[at].text for at in sorted(clause.content)).casefold()
        fitting = [call for _, *rest, call in options if low in f"{rest} {call}".casefold()]
        if low and len(fitting) == 1 and not any(one.is_complete for one in found):
            return str(fitting[0])
    is_wish = any(one.window.id for one in found) and match.is_verb_first(tokens)
    is_new = is_wish or any(one.is_complete and one.is_marked for one in found)
    is_other = answers.is_dropped(clause) or exact(scene, text)
    if needed and not (is_new or is_other):
        return f"{needed[1]}{needed[2]}={text[tokens[0].start : tokens[-1].end]}"
    return text


def _last_calls(scene: Scene) -> list[Call]:
    calls = [one for one in scene.recent if one.ok and one.tool in ("action", "create")]
    return [call for call in reversed(calls) if call.step == calls[0].step]


def _taken_back(scene: Scene, clause: Clause, words: Words) -> Plan | None:
    """Read "undo that": the window's own undo, or the opposite of the last calls."""
    small = clause.places("~undo_that", "@undo", "~it", "~last", "~meant", "~not", "#change")
    refers = clause.has("~it", "~this", "~last")
    is_said = clause.has("~undo_that") or (clause.has("@undo") and refers)
    if not is_said or clause.content - small:
        return None
    calls, window = _opposite(scene, _last_calls(scene)), scene.window(scene.focus)
    if not calls and clause.has("#change") and window and window.action("undo"):
        calls = [_action(window.id, "undo", {})]  # the change was made by the person
    return Plan(calls) if calls else _cannot_undo(words)


def _cannot_undo(words: Words) -> Plan:
    text = words("I cannot undo that: no window has an action for it.")
    return Plan(said=[text], is_stopped=True)


def _opposite(scene: Scene, calls: Sequence[Call]) -> list[Call] | None:
    """Return the calls that take back others; None if there are none."""
    made: list[Call] = []
    for call in reversed(calls):
        window = scene.window(call.window_id)
        if window is None:
            return None
        if call.tool == "create":
            made.append(_action(window.id, "close", {}))
            continue
        own = window.action("undo")
        inverse = own or _inverse(window, window.action(call.input.get("action_id")))
        each = [{}] if own else _inverse_params(window, inverse, call) if inverse else None
        if inverse is None or each is None:
            return None
        made += [_action(window.id, inverse.id, params) for params in each]
    return made or None


def _inverse(window: Window, action: Action | None) -> Action | None:
    """Return the action that takes another back: add and delete, done and undone."""
    if action is None or any(param.is_bool for param in action.params):
        return action
    inverse = lexicon().inverse
    wanted = {inverse[group] for group in groups_of(action.id_words[0]) if group in inverse}
    wanted |= {"@remove"} if action.groups & {"@write"} else set()
    for one in window.actions:
        if action.id in (f"un{one.id}", one.id.removeprefix("un")) and one is not action:
            return one
    same = [one for one in window.actions if len(one.id_words) == len(action.id_words)]
    return next((one for one in same if groups_of(one.id_words[0]) & wanted), None)


def _inverse_params(window: Window, inverse: Action, call: Call) -> list[dict[str, Any]] | None:
    values = dict(call.values)
    flags = [one.name for one in inverse.params if one.is_bool and one.name in values]
    if flags and inverse.id == call.input.get("action_id"):
        return [{**values, flags[0]: not values[flags[0]]}]
    required = [param for param in inverse.params if not param.is_optional]
    if all(param.name in values for param in required):
        return [{param.name: values[param.name] for param in required}]
    texts = next((value for value in values.values() if isinstance(value, str | list)), None)
    if len(required) != 1 or texts is None:
        return None
    found = [window.named(text) for text in (texts if isinstance(texts, list) else [texts])]
    made = [{required[0].name: value_of(row, required[0])} for row in found if row]
    return made if len(made) == len(found) else None


def _repeated(scene: Scene, clause: Clause, words: Words) -> Plan | None:
    """Read "again": the last calls once more."""
    if not clause.has("~again") or clause.content - clause.places("~again", "~it", "~this"):
        return None
    known = {window.id for window in scene.windows}
    calls = [one for one in _last_calls(scene) if one.tool == "create" or one.window_id in known]
    if not calls:
        return Plan(said=[words("There is nothing to repeat.")], is_stopped=True)
    return Plan([Call(call.tool, dict(call.input)) for call in calls])


def _corrected(scene: Scene, clause: Clause, words: Words) -> Plan | None:
    """Read "no, I meant the eggs": take the last call back, and make it for something else."""
    tokens, start = clause.tokens, 0
    small = ("~meant", "~not", "~polite", "~be", "~as")
    while start < len(tokens) and (tokens[start].has(*small) or tokens[start].kind == "mark"):
        start += 1
    is_denied = start > 1 and tokens[0].has("~not", "~no") and tokens[1].kind == "mark"
    if start == len(tokens) or not (is_denied or has_any(tokens[:start], "~meant", "~as")):
        return None
    rest = clause_of(scene, clause.text[tokens[start].start :])
    found, calls = readings(scene, rest), _last_calls(scene)
    if any(one.is_complete for one in found) or len(calls) != 1 or calls[0].tool != "action":
        return _act(scene, rest, found, words)
    other = _other_call(scene, calls[0], rest)
    if other is None:
        return None
    new, is_other_thing = other
    back = _opposite(scene, calls)
    return _cannot_undo(words) if back is None and is_other_thing else Plan([*(back or []), new])


def _continued(scene: Scene, clause: Clause, _: Words) -> Plan | None:
    """Read "and coffee", "eggs too": the last call once more, for something else."""
    tokens = [token for token in clause_of(scene, scene.words).tokens if token.kind != "mark"]
    adds = {token.stem for token in tokens[1:]} & {"too", "as well", "也", "也要"}
    adds |= {token.stem for token in tokens} & {"also", "plus"}
    is_more = bool(adds) or has_any(tokens[:1], "~and")
    if not is_more or scene.steps or has_any(tokens, "~then"):
        return None
    if any(one.is_complete and (one.window.id or one.params[0]) for one in readings(scene, clause)):
        return None
    calls = [call for call in _last_calls(scene)[:1] if call.tool == "action"]
    other = _other_call(scene, calls[0], clause) if calls else None
    return Plan([other[0]]) if other else None


def _other_call(scene: Scene, call: Call, clause: Clause) -> tuple[Call, bool] | None:
    """Return a call again with another value, and whether it then acts on something else."""
    window = scene.window(call.window_id)
    action = window.action(call.input.get("action_id")) if window else None
    is_value = not (clause.has("~it", "~vague") or answers.is_question(clause))
    if window is None or action is None or not is_value:
        return None
    slots = Slots(scene, window, action, clause)
    is_number = all(clause.tokens[at].kind in ("number", "value") for at in clause.content)
    given = [one for one in action.params if one.name in call.values]
    # A number, a choice or an item is meant rather than a text.
    for param in sorted(given, key=lambda one: one.takes_text and not one.is_reference):
        old, name = call.values[param.name], param.name
        whole = [filler for filler in slots.fillers(param) if clause.content <= filler.tokens]
        values = next((one.values for one in whole if not (one.choices or one.each)), {})
        value = values.get(name)
        is_text = param.takes_text and not (param.is_reference or param.is_path or param.choices)
        if value is None and is_text and slots.is_adding and not is_number:
            text = match.plain(clause)
            is_part = isinstance(old, str) and len(tokenize(old)) > len(tokenize(text)) + 1
            value = None if is_part else bare(text)
        if value is not None:
            if isinstance(old, list) and isinstance(value, list) and param.choices:
                value = list(dict.fromkeys([*old, *value]))
            new = _action(window.id, action.id, {**call.values, **values, name: value})
            return new, param.is_reference or slots.is_careful or is_text
    return None


def _closed(scene: Scene, clause: Clause, _: Words) -> Plan | None:
    """Read "close everything", "close both lists", "close the list and the notebook"."""
    if not clause.has("@close"):
        return None
    is_all = clause.has("~all", "~both")
    left = clause.content - clause.places("@close", "~all", "~both", "#window")
    tokens = [clause.tokens[at] for at in left]
    names = {one.id: (one.nouns | {one.id}) - {"#window", "window"} for one in scene.windows}
    chosen = {one for one, nouns in names.items() if any(token.names(nouns) for token in tokens)}
    if not all(any(token.names(names[one]) for one in chosen) for token in tokens):
        return None
    chosen = {*names} if is_all and not left else chosen
    kinds = {window.name for window in scene.windows if window.id in chosen}
    if len(chosen) < 2 or not (is_all or (len(kinds) > 1 and clause.has("~and"))):
        return None
    return Plan([_action(name, "close", {}) for name in names if name in chosen])


def explain(scene: Scene, words: Words) -> tuple[Plan, list[Reading]]:
    """Return the plan for the first clause, and everything that it could mean."""
    first, _ = first_clause(scene, _understood_reply(scene, scene.words))
    clause, named = clause_of(scene, first), exact(scene, first)
    return _clause(scene, clause, words), [named] if named else readings(scene, clause)

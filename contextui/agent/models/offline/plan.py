"""What to do next: the calls for the next clause of what was said, or an answer.

The model has no memory. For every step of a turn the sentence is read again from its beginning:
each step that was done stands for one clause, read with the windows as they were then.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from contextui.agent.models.offline import answers
from contextui.agent.models.offline.lexicon import groups_of, lexicon
from contextui.agent.models.offline.match import (
    Reading,
    best_of,
    clause_of,
    exact,
    notation,
    preparation,
    readings,
)
from contextui.agent.models.offline.scene import Action, Call, Scene, Step, Window
from contextui.agent.models.offline.slots import Clause, Slots
from contextui.agent.models.offline.tokens import LONGEST, Token, is_content, tokenize
from contextui.text import one_line
from contextui.words import Words

_STRONG = ".。!！?？;；"
_WEAK = ",，\n"
_CLAUSES = 12  # of one sentence
_OPTION = re.compile(r"^(\d+)\. .*\(`([^`]+)`\)$", re.MULTILINE)
_NEEDED = re.compile(r"\(`([^`]*?)(\w+)=…`\)")


@dataclass(frozen=True, slots=True)
class Planned:
    """A call to make."""

    tool: str
    input: dict[str, Any]


@dataclass(slots=True)
class Plan:
    """The next calls, or, if there are none, what to say.

    Attributes:
        calls: The calls.
        said: What to say.
        rest: What of the sentence is still to be done.
        is_stopped: Whether the rest is left alone.
        readings: What the clause could mean, for explanations.
        again: Whether the same clause is read again afterwards.
        is_social: Whether only courtesies were exchanged.
    """

    calls: list[Planned] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    rest: str = ""
    is_stopped: bool = False
    readings: list[Reading] = field(default_factory=list)
    again: bool = False
    is_social: bool = False


def plan(scene: Scene, words: Words) -> Plan:
    """Return what to do next in a turn."""
    said: list[str] = []
    text = scene.words
    if problem := _unreadable(text, words):
        return Plan(said=[problem])
    for place, step in enumerate(scene.steps):
        before = replace(scene, windows=step.windows, steps=scene.steps[:place])
        text = _understood_reply(before, text) if place == 0 else text
        made = _until_calls(before, text, words)
        said += made.said
        if any(not call.ok for call in step.calls):
            rest = one_line(made.rest.strip(), 200)
            left = [words("After that I did not continue with: “{rest}”.", rest=rest)] if rest else []
            return Plan(said=[*answers.report(_calls(scene.steps), words), *said, *left])
        text = text if made.again else made.rest
    if not scene.steps:
        text = _understood_reply(scene, text)
    made = _until_calls(scene, text, words, is_dry=bool(scene.steps))
    if not made.calls:
        done = answers.report(_calls(scene.steps), words)
        said = [*said, *made.said]
        made.said = [*done, *said]
    return made


def _calls(steps: Sequence[Step]) -> list[Call]:
    return [call for step in steps for call in step.calls]


def _unreadable(text: str, words: Words) -> str | None:
    if not text.strip():
        return words("I heard no words.")
    if len(text) > LONGEST:
        return words("That is too long for the small offline model: at most {count} characters.",
                     count=LONGEST)  # fmt: skip
    if any(token.kind == "broken" for token in tokenize(text)):
        return words("A quotation mark is never closed, so I did nothing.")
    return None


def _until_calls(scene: Scene, text: str, words: Words, *, is_dry: bool = True) -> Plan:
    """Read clauses until one needs calls; say the answers to those before it."""
    said: list[str] = []
    courtesy: list[str] = []
    for _ in range(_CLAUSES):
        clause_text, rest = first_clause(scene, text)
        if not clause_text.strip():
            break
        made = _clause(scene, clause_of(clause_text, scene), words)
        if made.is_social:
            courtesy, text = made.said, rest
            continue
        if made.calls and not is_dry and not made.again and rest.strip():
            problem = _first_unclear(scene, clause_text, rest, made)
            if problem is not None:
                clause = clause_of(problem, scene)
                nearest = next(iter(readings(scene, clause)), None)
                return Plan(said=[*said, answers.refused(scene, clause, nearest, words)])
        made.said = [*said, *made.said]
        made.rest = rest
        if made.calls or made.is_stopped:
            return made
        said, text = made.said, rest
    return Plan(said=said or (courtesy if not scene.steps else []))


def _first_unclear(scene: Scene, clause_text: str, rest: str, made: Plan) -> str | None:
    """Return a later clause that cannot be understood; None if all can, or nobody knows yet."""
    if any(call.tool == "create" for call in made.calls):
        return None
    said_before = {token.stem or token.text for token in clause_of(clause_text, scene).tokens}
    for _ in range(_CLAUSES):
        text, rest = first_clause(scene, rest)
        if not text.strip():
            return None
        clause = clause_of(text, scene)
        if answers.social(clause, scene, Words()) or answers.is_question(clause) or exact(scene, text):
            continue
        found = readings(scene, clause)
        known = [
            one for one in found
            if all(word in said_before or token_of(clause, word).has("~it", "~both")
                   for word in one.unexplained)
        ]  # fmt: skip
        if not known and preparation(scene, clause) is None:
            return text
        if any(not one.window.id for one in known):
            return None
        said_before |= {token.stem or token.text for token in clause.tokens}
    return None


def token_of(clause: Clause, text: str) -> Token:
    """Return the token with a text."""
    return next(token for token in clause.tokens if token.text == text)


# --- clauses -----------------------------------------------------------------------------


def first_clause(scene: Scene, text: str) -> tuple[str, str]:
    """Return the first clause of a text, and the rest."""
    clause = clause_of(text, scene)
    end = len(text)
    after = end
    for at, token in enumerate(clause.tokens):
        is_end = token.kind == "mark" and token.text in _STRONG
        is_then = token.has("~then") and at + 1 < len(clause.tokens)
        if at == 0 and (is_end or is_then or token.has("~and") or token.text in _WEAK):
            return first_clause(scene, text[token.end :])
        if is_end and token.text == "." and _is_within_text(clause.tokens, at):
            continue
        if is_end or is_then:
            # The mark stays: a question mark says that something is asked.
            end, after = (token.end if is_end else token.start), token.end
            break
    cut = _weak_cut(scene, text[:end])
    return (text[: cut[0]], text[cut[1] :]) if cut else (text[:end], text[after:])


def _is_within_text(tokens: Sequence[Token], at: int) -> bool:
    """Whether a full stop belongs to a text, as in "note: the key is at Mrs. Lopez's"."""
    rest = tokens[at + 1 :]
    said = any(one.text in ":：" or one.has("~saying") for one in tokens[:at])
    return said and bool(rest) and not _is_command(rest) and not rest[0].has("~thank", "~then", "~what")


def _weak_cut(scene: Scene, text: str) -> tuple[int, int] | None:
    """Return where "and" or a comma divides two requests; None if nowhere."""
    clause = clause_of(text, scene)
    places = [at for at, token in enumerate(clause.tokens)
              if 0 < at < len(clause.tokens) - 1 and (token.has("~and") or token.text in _WEAK)]  # fmt: skip
    if not places or len(places) > 2 * _CLAUSES:
        return None
    whole = readings(scene, clause)
    if whole and whole[0].is_complete and whole[0].is_solid:
        return None
    is_whole = bool(whole) and whole[0].is_complete
    for at in places:
        token = clause.tokens[at]
        left, right = text[: token.start], _head(text[token.end :])
        head, tail = clause_of(left, scene), clause_of(right, scene)
        before, after = readings(scene, head), readings(scene, tail)
        opens = all(one and one[0].is_complete and not one[0].window.id for one in (before, after))
        if not (_is_command(tail.tokens) or opens or answers.social(head, scene, Words())):
            continue
        is_left = (
            any(one.is_complete for one in before) or exact(scene, left)
            or answers.social(head, scene, Words()) or preparation(scene, head)
        )  # fmt: skip
        strong = exact(scene, right) or any(_is_doable(one, tail) for one in after)
        same = {one.window.id for one in before[:1]} & {one.window.id for one in after[:1]}
        weak = any(one.is_complete for one in after) and same and _is_own_verb(after[0], right)
        if is_left and (strong or weak or not is_whole):
            return token.start, token.end
    return None


def _is_doable(reading: Reading, clause: Clause) -> bool:
    """Whether a reading can be carried out, once "it" is known."""
    refers = any(token.has("~it", "~this", "~both") for token in clause.tokens)
    words = [one for one in reading.unexplained if not token_of(clause, one).has("~it", "~both")]
    missing = [one for one in reading.missing if not (refers and one.is_reference)]
    return reading.is_marked and not (words or missing or reading.choices or reading.is_doubtful)


def _head(text: str) -> str:
    """Return a text up to its next comma or "and" that a verb follows."""
    tokens = tokenize(text)
    for at, token in enumerate(tokens[:-1]):
        if at and (token.has("~and") or token.text in _WEAK) and _is_command(tokens[at + 1 :]):
            return text[: token.start]
    return text


def _is_command(tokens: Sequence[Token]) -> bool:
    """Whether tokens begin as a request does."""
    for token in tokens:
        if (token.has("~object", "~in") and not token.text.isascii()) or token.has("~every"):
            return True
        if any(group[0] == "@" for group in token.groups):
            return True
        if not token.has("~polite", "~then", "~person"):
            return "." in token.text and token.kind == "path"
    return False


def _is_own_verb(reading: Reading, text: str) -> bool:
    """Whether a text begins with the id of the action that it means."""
    first = next((one for one in tokenize(text) if not one.has("~polite", "~then")), None)
    return first is not None and first.stem in reading.action.id_words[:1]


def _clause(scene: Scene, clause: Clause, words: Words) -> Plan:
    """Return what one clause means."""
    named = exact(scene, clause.text)
    if named is not None:
        same = [one for one in readings(scene, clause) if one.is_complete and not named.is_complete
                and (one.window, one.action) == (named.window, named.action)]  # fmt: skip
        return _act(scene, clause, same[:1] or [named], words)
    if (text := answers.social(clause, scene, words)) is not None:
        return Plan(said=[text], is_social=True)
    if not clause.content and not any(token.has("~undo_that", "~again") for token in clause.tokens):
        return Plan()
    if answers.is_dropped(scene, clause.text):
        return Plan(said=[words("All right, I leave it.")], is_stopped=True)
    for special in (_taken_back, _repeated, _corrected, _continued, _closed):
        made = special(scene, clause, words)
        if made is not None:
            return made
    if answers.is_question(clause):
        found = answers.answer(scene, clause, words)
        if isinstance(found, str):
            return Plan(said=[found])
        return Plan([_call(found, {})], again=True, readings=[found])
    return _act(scene, clause, readings(scene, clause), words)


def _act(scene: Scene, clause: Clause, found: list[Reading], words: Words) -> Plan:
    best = best_of(found)
    if len(best) == 1 or (best and best[0].is_exact):
        top = best[0]
        there = next((one for one in scene.windows if one.name == top.window.name), None)
        is_new = any(one.has("#new", "~article") for one in clause.tokens)
        if not top.window.id and there and not top.params[0] and not is_new:
            return Plan(said=[answers.shows(there, words)], readings=found)
        return Plan([_call(top, params) for params in top.params], readings=found)
    if best:
        return _asked(words, [(one.notation, _label(one)) for one in best[:6]], found)
    if (first := preparation(scene, clause)) is not None:
        return Plan([_call(first, first.params[0])], again=True, readings=found)
    near = [one for one in found if not one.unexplained]
    for one in near[:1]:
        if one.choices:
            options = [(notation(one.window, one.action, params), label)
                       for params, label in one.choices[:9]]  # fmt: skip
            return _asked(words, options, found)
        if len(one.missing) == 1 or one.is_exact:
            name = one.missing[0].name
            call = f"{one.notation} {name}=…"
            text = words("I need one more thing: {name}. What should it be? (`{call}`)",
                         name=name, call=call)  # fmt: skip
            return Plan(said=[text], is_stopped=True, readings=found)
    nearest = found[0] if found else None
    if any(one.has("@show") for one in clause.tokens[:3]):
        shown = answers.answer(scene, clause, words)
        if isinstance(shown, Reading):
            return Plan([_call(shown, {})], again=True, readings=found)
    return Plan(said=[answers.refused(scene, clause, nearest, words)], is_stopped=True, readings=found)


def _asked(words: Words, options: Sequence[tuple[str, str]], found: list[Reading]) -> Plan:
    lines = [f"{number}. {one_line(label, 80)} (`{call}`)"
             for number, (call, label) in enumerate(options, 1)]  # fmt: skip
    text = words("Did you mean one of these? Answer with a number.")
    return Plan(said=["\n".join([text, *lines])], is_stopped=True, readings=found)


def _label(reading: Reading) -> str:
    name = reading.window.id or reading.window.name
    return f"{name}: {reading.action.short_label or reading.window.description}"


def _call(reading: Reading, params: dict[str, Any]) -> Planned:
    if not reading.window.id:
        args = {"args": params} if params else {}
        return Planned("create", {"name": reading.window.name, **args})
    given = {"params": params} if params else {}
    return Planned("action", {"window_id": reading.window.id, "action_id": reading.action.id, **given})


# --- replies -----------------------------------------------------------------------------


def _understood_reply(scene: Scene, text: str) -> str:
    """Return what a reply to the model's own question means, written as a request."""
    options = dict(_OPTION.findall(scene.said))
    clause = clause_of(text, scene)
    tokens = [token for token in clause.tokens if token.kind != "mark" and not token.has("~polite")]
    if options:
        number = next((str(int(one.number)) for one in tokens if one.number is not None), "")
        if number in options and len(tokens) <= 4:
            return options[number]
        if tokens and tokens[0].has("~last"):
            return list(options.values())[-1]
        lines = dict(re.findall(r"^\d+\. (.*) \(`([^`]+)`\)$", scene.said, re.MULTILINE))
        low = " ".join(token.text for token in tokens if is_content(token)).casefold()
        fitting = [call for label, call in lines.items() if low and low in f"{label} {call}".casefold()]
        if len(fitting) == 1 and not any(one.is_complete for one in readings(scene, clause)):
            return fitting[0]
    if (needed := _NEEDED.search(scene.said)) and tokens:
        found = readings(scene, clause)
        is_new = any(one.is_complete and one.is_marked for one in found) or (
            any(one.window.id for one in found) and _is_command(tokens)
        )
        known = answers.social(clause, scene, Words()) or answers.is_dropped(scene, text)
        if not (is_new or known or answers.is_question(clause) or exact(scene, text)):
            value = clause.text[tokens[0].start : tokens[-1].end]
            return f"{needed[1]}{needed[2]}={value}"
    return text


# --- what was done before ------------------------------------------------------------------


def _last_calls(scene: Scene) -> list[Call]:
    """Return the calls of the last step that changed something, in order."""
    found: list[Call] = []
    for call in scene.recent:
        if not call.ok or call.tool not in ("action", "create"):
            continue
        if found and call.step != found[0].step:
            break
        found.insert(0, call)
    return found


def _taken_back(scene: Scene, clause: Clause, words: Words) -> Plan | None:
    """Read "undo that": the window's own undo, or the opposite of the last calls."""
    tokens = clause.tokens
    is_said = any(one.has("~undo_that") for one in tokens) or (
        any(one.has("@undo") for one in tokens) and any(one.has("~it", "~this") for one in tokens))  # fmt: skip
    rest = [at for at in clause.content
            if not tokens[at].has("~undo_that", "@undo", "~it", "~last", "~meant", "~not")]  # fmt: skip
    if not is_said or rest:
        return None
    calls = _opposite(scene, _last_calls(scene))
    if calls is None:
        return Plan(said=[words("I cannot undo that: no window has an action for it.")], is_stopped=True)
    return Plan(calls)


def _opposite(scene: Scene, calls: Sequence[Call]) -> list[Planned] | None:
    """Return the calls that take back others; None if there are none."""
    made: list[Planned] = []
    for call in reversed(calls):
        window = scene.window(call.window_id)
        if window is None:
            return None
        if call.tool == "create":
            made.append(Planned("action", {"window_id": window.id, "action_id": "close"}))
            continue
        own = next((one for one in window.actions if one.id == "undo"), None)
        inverse = own or _inverse(window, str(call.input.get("action_id")))
        params = {} if own else _inverse_params(window, inverse, call) if inverse else None
        if inverse is None or params is None:
            return None
        for one in params if isinstance(params, list) else [params]:
            given = {"params": one} if one else {}
            made.append(Planned("action", {"window_id": window.id, "action_id": inverse.id, **given}))
    return made or None


def _inverse(window: Window, action_id: str) -> Action | None:
    action = next((one for one in window.actions if one.id == action_id), None)
    if action is None:
        return None
    if any(param.plain == {"bool"} for param in action.params):
        return action
    first = action.id_words[0] if action.id_words else ""
    wanted = {lexicon().inverse[group] for group in groups_of(first) if group in lexicon().inverse}
    if action_id in ("write", "save"):
        wanted.add("@remove")
    for one in window.actions:
        if one.id in (f"un{action_id}", action_id.removeprefix("un")) and one.id != action_id:
            return one
    for one in window.actions:
        same = len(one.id_words) == len(action.id_words)
        if one.id_words and same and groups_of(one.id_words[0]) & wanted:
            return one
    return None


def _inverse_params(window: Window, inverse: Action, call: Call) -> list[dict[str, Any]] | None:
    values = dict(call.values)
    flag = next((one.name for one in inverse.params if one.plain == {"bool"}), None)
    if flag and inverse.id == call.input.get("action_id"):
        return [{**values, flag: not values[flag]}] if isinstance(values.get(flag), bool) else None
    names = [param.name for param in inverse.params]
    if all(name in values for name, param in zip(names, inverse.params, strict=True)
           if not param.is_optional):  # fmt: skip
        return [{name: values[name] for name in names if name in values}]
    required = [param for param in inverse.params if not param.is_optional]
    texts = next((value for value in values.values() if isinstance(value, str | list)), None)
    if len(required) != 1 or texts is None:
        return None
    found = []
    for text in texts if isinstance(texts, list) else [texts]:
        rows = [row for row in window.rows if row.text == text or text in row.attributes.values()]
        if not rows:
            return None
        number = rows[-1].attributes.get("id", "")
        is_number = number.isdigit() and required[0].takes_number
        found.append({required[0].name: int(number) if is_number else text})
    return found


def _repeated(scene: Scene, clause: Clause, words: Words) -> Plan | None:
    """Read "again": the last calls once more."""
    tokens = clause.tokens
    is_said = any(one.has("~again") for one in tokens)
    if not is_said or any(not tokens[at].has("~again", "~it", "~this") for at in clause.content):
        return None
    calls = [call for call in _last_calls(scene) if call.tool == "create" or scene.window(call.window_id)]
    if not calls:
        return Plan(said=[words("There is nothing to repeat.")], is_stopped=True)
    return Plan([Planned(call.tool, dict(call.input)) for call in calls])


def _corrected(scene: Scene, clause: Clause, words: Words) -> Plan | None:
    """Read "no, I meant the eggs": take the last call back, and make it for something else."""
    tokens = clause.tokens
    start = 0
    while start < len(tokens) and (
        tokens[start].has("~meant", "~not", "~polite", "~be") or tokens[start].kind == "mark"
    ):
        start += 1
    denied = start > 1 and tokens[0].has("~not", "~no") and tokens[1].kind == "mark"
    if not (denied or any(one.has("~meant") for one in tokens[:start])) or start == len(tokens):
        return None
    rest = clause_of(clause.text[tokens[start].start :], scene)
    found = readings(scene, rest)
    calls = _last_calls(scene)
    if any(one.is_complete for one in found) or len(calls) != 1 or calls[0].tool != "action":
        return _act(scene, rest, found, words)
    new = _other_call(scene, calls[0], rest)
    if new is None:
        return None
    back = _opposite(scene, calls)
    if back is None and new[1]:
        text = words("I cannot undo that: no window has an action for it.")
        return Plan(said=[text], is_stopped=True)
    return Plan([*(back or []), new[0]])


def _continued(scene: Scene, clause: Clause, words: Words) -> Plan | None:  # noqa: ARG001
    """Read "and coffee", "eggs too": the last call once more, for something else."""
    tokens = [one for one in clause_of(scene.words, scene).tokens if one.kind != "mark"]
    more = tokens and (tokens[0].has("~and") or tokens[0].stem in ("also", "plus")
                       or tokens[-1].stem in ("too", "as well", "also") or "也" in scene.words
                       or any(one.stem == "as well" for one in tokens))  # fmt: skip
    call = next(iter(_last_calls(scene)), None)
    if not more or call is None or call.tool != "action" or scene.steps:
        return None
    if any(one.has("~then") for one in tokens) or any(
        one.is_complete and (one.window.id or one.params[0]) for one in readings(scene, clause)
    ):
        return None
    new = _other_call(scene, call, clause)
    return Plan([new[0]]) if new else None


def _other_call(scene: Scene, call: Call, clause: Clause) -> tuple[Planned, bool] | None:
    """Return a call again with another value, and whether it then acts on something else."""
    window = scene.window(call.window_id)
    actions = window.actions if window else ()
    action = next((one for one in actions if one.id == call.input.get("action_id")), None)
    if window is None or action is None:
        return None
    slots = Slots(scene, window, action, clause, frozenset())
    given = [one for one in action.params if one.name in call.values]
    is_value = all(clause.tokens[at].kind in ("number", "value") for at in clause.content)
    # A number, a choice or an item is meant rather than a text.
    for param in sorted(given, key=lambda one: one.takes_text and not one.is_reference):
        old = call.values[param.name]
        value: Any = None
        for filler in slots.fillers(param):
            if clause.content <= filler.tokens and not filler.choices and not filler.each:
                value = filler.values[param.name]
                break
        is_text = param.takes_text and not (param.is_reference or param.is_path or param.choices)
        if value is None and is_text and slots.is_adding and not is_value:
            text = answers.trimmed(clause)
            is_part = isinstance(old, str) and len(tokenize(old)) > len(tokenize(text)) + 1
            value = None if is_part else text
        if value is None:
            continue
        if isinstance(old, list) and isinstance(value, list) and param.choices:
            value = [*old, *(one for one in value if one not in old)]
        new = {"window_id": window.id, "action_id": action.id,
               "params": {**call.values, param.name: value}}  # fmt: skip
        return Planned("action", new), param.is_reference or slots.is_careful or is_text
    return None


def _closed(scene: Scene, clause: Clause, words: Words) -> Plan | None:
    """Read "close everything", "close both lists", "close the list and the notebook"."""
    tokens = clause.tokens
    if not any(one.has("@close") for one in tokens):
        return None
    plural = any(one.has("~all", "~both") for one in tokens)
    left = [at for at in clause.content if not tokens[at].has("@close", "~all", "~both", "#window")]
    chosen: list[Window] = []
    for window in scene.windows:
        nouns = window.nouns - {"#window", "window"}
        if any(tokens[at].text == window.id or tokens[at].stem in nouns or tokens[at].groups & nouns
               for at in left):  # fmt: skip
            chosen.append(window)
    explained = {at for at in left for window in chosen if tokens[at].text == window.id
                 or tokens[at].stem in window.nouns or tokens[at].groups & window.nouns}  # fmt: skip
    if set(left) - explained:
        return None
    if plural and not left:
        chosen = list(scene.windows)
    several = len({window.name for window in chosen}) > 1 and any(one.has("~and") for one in tokens)
    if len(chosen) < 2 or not (plural or several):
        return None
    return Plan([Planned("action", {"window_id": one.id, "action_id": "close"}) for one in chosen])


def explain(scene: Scene, words: Words) -> Plan:
    """Return the plan for the first clause, with its readings."""
    text = _understood_reply(scene, scene.words)
    first, _ = first_clause(scene, text)
    return _clause(scene, clause_of(first, scene), words)


__all__ = ["Plan", "Planned", "explain", "first_clause", "plan"]

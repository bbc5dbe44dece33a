"""Which action or class a clause means: every one is scored, and every word must be explained."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from contextui.agent.models.offline.items import touched_items, value_of
from contextui.agent.models.offline.lexicon import groups_of, lexicon, stem
from contextui.agent.models.offline.scene import Action, Param, Scene, Window
from contextui.agent.models.offline.slots import Clause, Filler, Slots, fill, is_choice
from contextui.agent.models.offline.tokens import Token, is_content, tokenize, unquoted

_OPENING = frozenset(["@open", "@start", "#new", "@show"])
_READING = frozenset(["@open", "@show", "@edit", "@read"])
_GENERIC = frozenset(["#list", "#window", "#board", "#table", "window"])
_THINGS = frozenset(["#item", "#entry", "#change"])
_MAIN = 2.0  # the weight from which a word alone names an action
_CLOSE_CALL = 0.35  # readings whose scores differ by less are equally good
_EACH = 50  # calls that one clause may mean
_NOTATION = re.compile(r"([A-Za-z][\w-]*_\d+)\.([A-Za-z_]\w*)(?:\s+(.*))?", re.DOTALL)
_KEYED = re.compile(r"(\w+)=")


@dataclass(frozen=True)
class Reading:
    """What a clause may mean.

    Attributes:
        window: The window, or the class to open.
        action: The action; its id is empty for a class.
        params: The params of each call.
        score: How well it fits; only comparable within one clause.
        unexplained: Words of the clause that nothing explains.
        missing: Params that have no value.
        choices: Values of a param of which one must be chosen.
        is_marked: Whether no text was taken that is not set apart.
        is_solid: Whether it is certain where each value ends.
        is_doubtful: Whether the action does less or more than was said.
        is_exact: Whether the action was named by its id, its label or one of its phrasings.
        again: Whether the window is only opened so that the clause can be carried out in it.
    """

    window: Window
    action: Action
    params: tuple[dict[str, Any], ...] = ({},)
    score: float = 0.0
    unexplained: tuple[str, ...] = ()
    missing: tuple[Param, ...] = ()
    choices: tuple[tuple[dict[str, Any], str], ...] = ()
    is_marked: bool = True
    is_solid: bool = True
    is_doubtful: bool = False
    is_exact: bool = False
    again: bool = field(default=False)

    @property
    def is_complete(self) -> bool:
        """Whether it can be carried out."""
        return not (self.unexplained or self.missing or self.choices or self.is_doubtful)

    @property
    def notation(self) -> str:
        """The call in short form: ``todo_1.done item=2``."""
        return notation(self.window, self.action, self.params[0])


def notation(window: Window, action: Action, params: dict[str, Any]) -> str:
    """Return a call in short form: ``todo_1.done item=2``."""
    name = f"{window.id}.{action.id}" if window.id else f"open {window.name}"
    return " ".join([name, *(f"{key}={_written(value)}" for key, value in params.items())])


def _written(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_written, value))
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return f'"{text}"' if not text or re.search(r"[\s,\"]", text) else text


def clause_of(text: str, scene: Scene) -> Clause:
    """Return a text as one clause, with the verbs that stand in two parts joined."""
    tokens = list(tokenize(text, known_words(scene)))
    parted = lexicon().parted
    for at, token in enumerate(tokens):
        for later in tokens[at + 1 :]:
            if groups := parted.get((token.stem, later.stem)):
                tokens[at] = replace(token, groups=token.groups | groups)
                place = tokens.index(later)
                tokens[place] = replace(later, groups=later.groups | {"~aspect"})
    return Clause(text, tuple(tokens))


def known_words(scene: Scene) -> frozenset[str]:
    """Return Chinese words of the labels and descriptions that the lexicon does not have."""
    found: set[str] = set()
    for window in (*scene.windows, *scene.classes):
        found |= {word for word in window.nouns if not word.isascii() and word[0] not in "#@~"}
        for action in window.actions:
            found |= {one for param in action.params for one in param.choices if not one.isascii()}
            found |= action.aliases.keys()
            found |= {token.text for token in action.label_tokens
                      if not token.text.isascii() and not token.groups and len(token.text) < 6}  # fmt: skip
    return frozenset(found)


def readings(scene: Scene, clause: Clause) -> list[Reading]:
    """Return what a clause may mean, the best first."""
    found = list(_readings(scene, clause))
    return sorted(found, key=lambda one: (not one.is_complete, -one.score))


def best_of(found: Sequence[Reading]) -> list[Reading]:
    """Return the readings among which a person would have to choose: one, if it is clear."""
    complete = [one for one in found if one.is_complete]
    if not complete:
        return []
    top = complete[0]
    better = [one for one in found if one.score > top.score + 0.6 and len(one.missing) == 1
              and not (one.unexplained or one.choices or one.is_doubtful)]  # fmt: skip
    if better and not top.is_exact:
        return []
    close = [one for one in complete if top.score - one.score < _CLOSE_CALL]
    different = {(one.window.id, one.window.name, one.action.id, str(one.params)): one for one in close}
    return list(different.values())


def _readings(scene: Scene, clause: Clause) -> Iterator[Reading]:
    named = {token.text for token in clause.tokens} & {window.id for window in scene.windows}
    for window in scene.windows:
        if named and window.id not in named:
            continue
        bonus = window_bonus(scene, window, clause) + (2.0 if named else 0.0)
        for action in window.actions:
            if (said := _said_so(scene, window, action, clause)) is not None:
                yield said
            reading = _reading(scene, window, action, clause, bonus)
            if reading is not None:
                yield reading
    for window in scene.classes if not named else ():
        reading = _opening(scene, window, clause)
        if reading is not None:
            yield reading


# --- actions -----------------------------------------------------------------------------


def _reading(
    scene: Scene, window: Window, action: Action, clause: Clause, bonus: float
) -> Reading | None:
    weights = _evidence(action, clause)
    if max(weights.values(), default=0.0) < _MAIN and (
        not weights or not clause.content <= weights.keys()
    ):
        return None
    main = frozenset(at for at, weight in weights.items() if weight >= _MAIN)
    slots = Slots(scene, window, action, clause, main)
    fillers, missing, score = fill(slots)
    if scene.steps and len(missing) == 1 and missing[0].is_reference and window.id == focus(scene):
        # "…, then move to the top": what was touched in the step before is meant.
        if touched := touched_items(scene, window):
            value = value_of(touched[-1], missing[0])
            fillers, missing = (*fillers, Filler({missing[0].name: value}, frozenset(), 1.0)), ()
    used = frozenset(at for one in fillers for at in one.tokens)
    strongest = max(weights.values())
    score += strongest + 0.4 * (sum(weights.values()) - strongest) + bonus
    score -= 0.8 * min(2, _unmatched(action, clause))
    if not _is_named(action, clause, weights, bool(fillers)):
        return None
    score -= _replaces_file(window, action, clause)
    label = {one for token in action.label_tokens for one in (token.stem, *token.groups)}
    label |= set(action.id_words)
    is_label = all(
        clause.tokens[at].stem in label or clause.tokens[at].groups & label
        for at in clause.content - used - slots.explained
    )
    reading = Reading(
        window, action, score=score + 0.3 * is_label,
        unexplained=_unexplained(
            scene, window, action, clause, used | {at for at, one in weights.items() if one >= 0.6}
        ),
        missing=missing, is_marked=all(one.is_marked for one in fillers),
        is_solid=all(one.is_solid for one in fillers),
        is_doubtful=any(slots.swallows(one) for one in fillers)
        or (not fillers and any(one.has("~only") for one in clause.tokens)
            and not any(one.has("~only") for one in action.label_tokens))
        or (_is_destructive(action) and not used and not is_label and _unmatched(action, clause) > 0),
    )  # fmt: skip
    reading = _with_values(reading, fillers)
    return _everywhere(reading, clause)


def _everywhere(reading: Reading, clause: Clause) -> Reading:
    """Read "replace all …": an optional count is how often the text is shown."""
    counts = [one for one in reading.action.params if one.is_optional and one.name == "count"]
    texts = [value for value in reading.params[0].values() if isinstance(value, str)]
    words = {one.text for one in clause.tokens if one.has("~all")}
    shown = reading.window.text.count(texts[0]) if texts else 0
    if not counts or not words or not shown or not set(reading.unexplained) <= words:
        return reading
    return replace(reading, params=({**reading.params[0], "count": shown},), unexplained=())


def _is_named(action: Action, clause: Clause, weights: dict[int, float], is_filled: bool) -> bool:
    """Whether the id of an action is named, or at least half of its label."""
    if max(weights.values(), default=0.0) >= 3.0 or clause.content <= weights.keys():
        return True
    if _unmatched(action, clause) < len(action.id_words):
        return True
    short = [one for one in tokenize(action.short_label) if is_content(one)]
    said = {clause.tokens[at].stem for at in weights}
    groups = {group for at in weights for group in clause.tokens[at].groups if group[0] != "~"}
    found = sum(one.stem in said or bool(one.groups & groups) for one in short)
    return found * 2 > len(short) or (found * 2 == len(short) > 1) or (is_filled and found > 0)


def _replaces_file(window: Window, action: Action, clause: Clause) -> float:
    """Return a penalty for showing another file in a window, unless "here" was said."""
    opens = "@open" in {group for word in action.id_words for group in groups_of(word)}
    here = any(token.stem in ("here", "这里", "这儿") for token in clause.tokens)
    return 1.5 if window.holds_file and opens and not here else 0.0


def _is_destructive(action: Action) -> bool:
    groups = {group for word in action.id_words for group in groups_of(word)}
    return not action.params and bool(groups & {"@remove", "@clear", "@reset"})


def _with_values(reading: Reading, fillers: Sequence[Filler]) -> Reading:
    params: dict[str, Any] = {}
    each: list[dict[str, Any]] = []
    choices: list[tuple[dict[str, Any], str]] = []
    for one in fillers:
        params |= one.values
    for one in fillers:
        name = next(iter(one.values))
        each += [{**params, name: value} for value in one.each]
        choices += [({**params, name: value}, label) for value, label in one.choices]
    return replace(reading, params=(params, *each)[:_EACH], choices=tuple(choices))


def _evidence(action: Action, clause: Clause) -> dict[int, float]:
    """Return the tokens that name the action, with their weights."""
    found: dict[int, float] = {}
    keys = action.verbs
    for at, token in enumerate(clause.tokens):
        if token.kind not in ("word", "number"):
            continue
        weight = keys.get(token.stem, 0.0) if token.stem else 0.0
        for part in token.parts if not any(group[0] == "@" for group in token.groups) else ():
            weight = max(weight, keys.get(part.stem, 0.0) - 0.5)
        for group in token.groups:
            weight = max(weight, keys.get(group, 0.0))
        if weight:
            found[at] = weight
    for param in action.params:
        if param.choices and any(is_choice(one, each) for one in clause.tokens for each in param.choices):
            for at, token in enumerate(clause.tokens):
                if token.has("@set", "@edit", "@pick", "@toggle", "@mark"):
                    found[at] = max(_MAIN, found.get(at, 0.0))
        if param.plain == {"bool"} and not param.is_optional:
            for at, token in enumerate(clause.tokens):
                if token.has("@on", "@off") and {"on", "off"} & {t.stem for t in action.label_tokens}:
                    found[at] = 3.0
                own = {group for word in action.id_words for group in groups_of(word)}
                if any(lexicon().inverse.get(group) in own for group in token.groups):
                    found[at] = max(3.0, found.get(at, 0.0))
    return found


def _unmatched(action: Action, clause: Clause) -> int:
    """Return how many words of the action's id the clause does not have."""
    stems = {part.stem for token in clause.tokens for part in (token, *token.parts)}
    groups = {group for token in clause.tokens for group in token.groups}
    return sum(
        word not in stems
        and not any(group in groups for group in groups_of(word) | groups_of(f"={word}"))
        for word in action.id_words
    )


def _unexplained(
    scene: Scene, window: Window, action: Action, clause: Clause, used: frozenset[int] | set[int]
) -> tuple[str, ...]:
    left = set(clause.content) - set(used)
    own = action.nouns | (window.nouns | _THINGS if window.id else window.nouns | _GENERIC)
    for at in sorted(left):
        token = clause.tokens[at]
        if token.stem in own or any(group[0] != "~" and group in own for group in token.groups):
            left.discard(at)
        elif token.text == window.id or (token.has("~it") and window.id == focus(scene)):
            left.discard(at)
        elif _is_modifier(clause, at, window) or (token.kind in ("path", "quoted") and window.shows_path(token.text)):
            left.discard(at)
    if all(clause.tokens[at].has("~all") for at in left) and not action.params:
        left.clear()
    return tuple(clause.tokens[at].text for at in sorted(left))


def _is_modifier(clause: Clause, at: int, window: Window) -> bool:
    """Whether a word belongs to the name of a window, as "shopping" in "to my shopping list"."""
    tokens = clause.tokens
    head = at + 1
    while head < len(tokens) and head < at + 3 and not tokens[head].groups & window.nouns:
        if tokens[head].kind != "word" or tokens[head].has("~and"):
            return False
        head += 1
    if head >= min(len(tokens), at + 3) or tokens[at].kind != "word":
        return False
    before = tokens[max(0, at - 2) : at]
    cues = ("~to", "~in", "~from", "~possessive", *(() if window.id else ("~article",)))
    is_placed = any(one.has(*cues) for one in before) or (at == 0 and not window.id)
    is_placed = is_placed or (not window.id and bool(tokens[at].groups & window.topics))
    return is_placed and not any(
        group[0] == "@" or group == "~not" for group in tokens[at].groups
    )


def focus(scene: Scene) -> str:
    """Return the window that was used last, or opened last."""
    known = {window.id for window in scene.windows}
    for call in scene.recent:
        if call.ok and call.window_id in known:
            return call.window_id
    return scene.windows[-1].id if scene.windows else ""


def window_bonus(scene: Scene, window: Window, clause: Clause) -> float:
    """Return how much a clause speaks of a window."""
    score = 0.0
    if window.id == focus(scene):
        score = 0.6 if any(call.window_id == window.id for call in scene.recent) else 0.2
    nouns = window.nouns - {"#window", "window"}
    best = 0.0
    for at, token in enumerate(clause.tokens):
        if (token.kind in ("path", "quoted") and window.shows_path(token.text)):
            best = max(best, 2.0)
        if token.stem in nouns or token.groups & nouns:
            before = clause.tokens[max(0, at - 2) : at]
            near = any(one.has("~in", "~to", "~from", "~possessive", "~this") for one in before)
            best = max(best, (0.8 if near else 0.5) + 0.4 * (token.stem == window.name))
    return score + best


def _said_so(scene: Scene, window: Window, action: Action, clause: Clause) -> Reading | None:
    """Match a clause against the phrasings that the author of a window gave."""
    for template in action.says:
        pattern = re.escape(template.strip()).replace(r"\ ", r"\s+")
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", pattern)
        found = re.fullmatch(rf"\s*{pattern}\s*[.!。！]?\s*", _plain(clause), re.IGNORECASE)
        if found:
            values = {name: text for name, text in found.groupdict().items() if text}
            return _exact(scene, window, action, values, 12.0)
    return None


def _plain(clause: Clause) -> str:
    """Return a clause without polite words at its beginning and end."""
    tokens = list(clause.tokens)
    while tokens and (tokens[0].has("~polite") or tokens[0].kind == "mark"):
        tokens.pop(0)
    while tokens and (tokens[-1].has("~polite") or tokens[-1].kind == "mark"):
        tokens.pop()
    return clause.text[tokens[0].start : tokens[-1].end] if tokens else ""


# --- exact names -------------------------------------------------------------------------


def exact(scene: Scene, text: str) -> Reading | None:
    """Read ``todo_1.done 2``, an action's id or its label; None if it is none of these."""
    plain = text.strip().strip(".。!！").strip()
    if found := _NOTATION.fullmatch(plain):
        window = scene.window(found[1])
        action = next((one for one in window.actions if one.id == found[2]), None) if window else None
        if window and action:
            return _exact(scene, window, action, _arguments(action, found[3] or ""), 20.0)
    if found := re.fullmatch(r"(?:open|create|打开)\s+([\w-]+)((?:\s+\w+=.*)?)", plain, re.DOTALL):
        window = next((one for one in scene.classes if one.name == found[1]), None)
        if window and found[2]:
            action = window.actions[0]
            return _exact(scene, window, action, _arguments(action, found[2]), 20.0)
    return _by_name(scene, plain)


def _by_name(scene: Scene, plain: str) -> Reading | None:
    low, current = plain.casefold(), focus(scene)
    ordered = sorted(scene.windows, key=lambda window: window.id != current)
    for window in ordered:
        for action in window.actions:
            labels = {action.id, action.id.replace("_", " "), action.label, action.short_label}
            if low in {one.casefold() for one in labels}:
                return _exact(scene, window, action, {}, 15.0)
    first, _, rest = plain.partition(" ")
    if not rest:
        return None
    for window in ordered:
        for action in window.actions:
            if first.casefold() == action.id.casefold() and _is_arguments(rest, action):
                return _exact(scene, window, action, _arguments(action, rest), 15.0)
    return None


def _is_arguments(text: str, action: Action) -> bool:
    """Whether a text is nothing but values: quoted, numbers, or ``name=value``."""
    if _KEYED.match(text):
        return all(one in {param.name for param in action.params} for one in _KEYED.findall(text))
    tokens = tokenize(text)
    plain = [one for one in tokens if one.kind not in ("quoted", "number", "value", "path")]
    return bool(tokens) and not plain and len(tokens) <= max(1, len(action.params))


def _arguments(action: Action, text: str) -> dict[str, str]:
    """Return the arguments of a notation: ``name=value`` pairs, or values in order."""
    names = [param.name for param in action.params]
    marks = [one for one in re.finditer(r"(?:^|\s)(\w+)=", text) if one[1] in names]
    if marks:
        ends = [*(one.start() for one in marks[1:]), len(text)]
        return {one[1]: text[one.end() : end].strip() for one, end in zip(marks, ends, strict=True)}
    if len(names) == 1:
        return {names[0]: text.strip()} if text.strip() else {}
    tokens = [one for one in tokenize(text) if one.kind != "mark"]
    values = [text[one.start : one.end] for one in tokens]
    if len(values) > len(names) and names:
        values = [*values[: len(names) - 1], text[tokens[len(names) - 1].start :]]
    return dict(zip(names, values, strict=False))


def _exact(
    scene: Scene, window: Window, action: Action, texts: dict[str, str], score: float
) -> Reading:
    params: dict[str, Any] = {}
    wrong: list[str] = []
    for param in action.params:
        if param.name not in texts:
            continue
        text = texts[param.name]
        value = _value(scene, window, action, param, text)
        if value is None:
            wrong.append(text)
        else:
            params[param.name] = value
    missing = tuple(one for one in action.params if not one.is_optional and one.name not in texts)
    return Reading(window, action, (params,), score, tuple(wrong), missing, is_exact=True)


def _value(scene: Scene, window: Window, action: Action, param: Param, text: str) -> Any:
    """Return the value that a text has for a param; None if it has none."""
    plain = unquoted(text)
    clause = clause_of(text, scene)
    if param.takes_text and param.is_list:
        parts = [unquoted(one) for one in re.split(r"[,，、]", text) if one.strip()]
        return parts[0] if param.takes_one and len(parts) == 1 else parts
    if not (param.takes_text and not param.is_reference):
        slots = Slots(scene, window, action, clause, frozenset())
        for filler in slots.fillers(param):
            if not filler.choices and clause.content <= filler.tokens:
                return filler.values[param.name]
    return plain if param.takes_text else None


# --- classes -----------------------------------------------------------------------------


def _opening(scene: Scene, window: Window, clause: Clause) -> Reading | None:
    """Return the reading of a clause as a wish to open a window of a class."""
    tokens, action = clause.tokens, window.actions[0]
    nouns = window.nouns - {"#window", "window", "#text", "text"}
    named = {at for at, one in enumerate(tokens) if one.stem in nouns or one.groups & nouns}
    paths = [at for at, one in enumerate(tokens) if one.kind == "path"]
    verbs = {at for at, one in enumerate(tokens) if one.groups & _OPENING}
    filing = {at for at, one in enumerate(tokens) if one.groups & _READING}
    takes_path = next((one for one in action.params if one.is_path), None)
    adding = {at for at, one in enumerate(tokens) if one.groups & {"@add", "@write", "@note"}}
    if takes_path and paths and (verbs or filing):
        verbs |= filing
    elif not named:
        return None
    elif not verbs and adding and any(one.is_list for one in action.params):
        verbs = adding
        own = groups_of(stem(window.name)) | {"#list"}
        if not any(one.has("~to", "~in") for at in named if tokens[at].groups & own
                   for one in tokens[max(0, at - 3) : at]):  # fmt: skip
            return None
    elif not verbs and clause.content > named and not any(one.text in ":：" for one in tokens[:4]):
        return None
    slots = Slots(scene, window, action, clause, frozenset(verbs - named))
    fillers, missing, score = fill(slots)
    used = frozenset(at for one in fillers for at in one.tokens) | verbs | named
    own_names = {at for at in named if tokens[at].stem in window.names or tokens[at].groups & window.names}
    if not own_names and not (takes_path and paths):
        return None
    score += 2.2 * bool(verbs) + min(2.0, 0.9 * len(own_names - verbs))
    own = groups_of(stem(window.name))
    score += 0.6 * any(tokens[at].stem == window.name or tokens[at].groups & own for at in named)
    if takes_path and paths:
        path = tokens[paths[0]].text
        is_folder = path.endswith("/")
        score += 0.8 if is_folder == ("#tree" in window.topics) else -0.8
    is_there = any(one.name == window.name for one in scene.windows)
    if is_there and not any(one.has("#new", "~article") or one.stem in ("another", "creat", "mak")
                            or one.text in ("create", "make") for one in tokens):  # fmt: skip
        score -= 1.5
    if verbs & adding and is_there:
        return None
    reading = Reading(
        window, action, score=score,
        unexplained=_unexplained(scene, window, action, clause, used),
        missing=missing, is_marked=all(one.is_marked for one in fillers) or bool(named),
        is_solid=all(one.is_solid for one in fillers),
    )  # fmt: skip
    return _with_values(reading, fillers)


def preparation(scene: Scene, clause: Clause) -> Reading | None:
    """Return a window to open first, where a clause needs one that is not open.

    "Note that …" needs a notebook, and "replace a with b in notes.txt" that file. Only a window
    that the clause names is opened.
    """
    tokens = clause.tokens
    verbs = {group for one in tokens for group in one.groups if group[0] == "@"}
    head = tokens[: next((at for at, one in enumerate(tokens) if one.text in ":："), len(tokens))]
    near = [at for at, one in enumerate(head) if at < 3 or at > len(tokens) - 3
            or any(other.has("~to", "~in") for other in head[max(0, at - 3) : at])]  # fmt: skip
    places = sorted(clause.content)
    # The verb comes first, and what to write behind it.
    if len(places) < 2 or not any(group[0] == "@" for group in tokens[places[0]].groups):
        return None
    for window in scene.classes:
        if any(one.name == window.name and not window_shows_other(one, tokens) for one in scene.windows):
            continue
        action = window.actions[0]
        path = next((one for one in tokens if one.kind == "path"), None)
        required = [param for param in action.params if not param.is_optional]
        if path and len(required) == 1 and required[0].is_path and not path.text.endswith("/"):
            changes = verbs & {"@replace", "@find", "@go", "@edit", "@add", "@write", "@remove"}
            marked = any(one.kind in ("quoted", "number", "range") for one in tokens)
            if changes and marked:
                return Reading(window, action, ({required[0].name: path.text},), 1.0, again=True)
        nouns = window.names - {"#text", "text"}
        named = any(one.stem in nouns or one.groups & nouns
                    for at in near for one in (head[at], *head[at].parts))  # fmt: skip
        if named and not required and verbs & lexicon().takes_text and "#file" not in window.nouns:
            return Reading(window, action, score=1.0, again=True)
    return None


def window_shows_other(window: Window, tokens: Sequence[Token]) -> bool:
    """Whether a clause names a file that a window of this class does not show."""
    paths = [one for one in tokens if one.kind == "path"]
    return window.holds_file and bool(paths) and not any(window.shows_path(one.text) for one in paths)

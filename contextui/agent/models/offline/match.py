"""Which action or class a clause means: every one is scored, and every word must be explained."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from typing import Any

from contextui.agent.models.offline.items import mentions, touched_items, value_of
from contextui.agent.models.offline.lexicon import groups_of, lexicon, stem
from contextui.agent.models.offline.scene import Action, Param, Scene, Window, remembered
from contextui.agent.models.offline.slots import Filler, Slots, fill, is_choice
from contextui.agent.models.offline.tokens import Clause, Token, bare, has_any, tokenize

_OPENING = ("@open", "@start", "#new", "@show")
_READING = ("@open", "@show", "@edit", "@read")
_SETTING = ("@set", "@edit", "@pick", "@toggle", "@mark")
_CHANGING = {"@replace", "@find", "@go", "@edit", "@add", "@write", "@remove"}
_WRITING = {"@add", "@write", "@note"}
_GENERIC = frozenset(["#list", "#window", "#board", "#table", "window"])
_THINGS = frozenset(["#item", "#entry", "#change"])
_UNNAMED = frozenset(["#window", "window", "#text", "text"])
_MAIN, _SURE = 2.0, 3.0  # the weights from which a word alone names an action, and surely does
_CLOSE_CALL = 0.35  # readings whose scores differ by less are equally good
_ASKED, _EACH = 6, 50  # alike windows among which one can choose, and calls of one clause
_MARKS = tuple(",，.。!！?？;；\n")
_NOTATION = re.compile(r"([A-Za-z][\w-]*_\d+)\.([A-Za-z_]\w*)(?:\s+(.*))?", re.DOTALL)
_OPEN = re.compile(r"(?:open|create|打开)\s+([\w-]+)\s+(\w+=.*)", re.DOTALL)


@dataclass(frozen=True)
class Reading:
    """What a clause may mean."""

    window: Window  # or the class to open; the action's id is then empty
    action: Action
    params: tuple[dict[str, Any], ...] = ({},)  # of each call
    score: float = 0.0  # only comparable within one clause
    unexplained: tuple[str, ...] = ()  # words of the clause
    missing: tuple[Param, ...] = ()
    choices: tuple[tuple[dict[str, Any], str], ...] = ()  # values of which one must be chosen
    is_marked: bool = True  # no text was taken that is not set apart
    is_solid: bool = True  # it is certain where each value ends
    is_doubtful: bool = False  # the action does less or more than was said
    is_exact: bool = False  # the action was named by its id, its label or one of its phrasings

    @property
    def is_complete(self) -> bool:
        """Whether it can be carried out."""
        return not (self.unexplained or self.missing or self.choices or self.is_doubtful)

    @property
    def label(self) -> str:
        """The window, and what would be done with it."""
        what = self.action.short_label or self.window.description
        return f"{self.window.id or self.window.name}: {what}"

    @property
    def notation(self) -> str:
        """The first call in short form: ``todo_1.done item=2``."""
        window, params = self.window, self.params[0]
        name = f"{window.id}.{self.action.id}" if window.id else f"open {window.name}"
        return " ".join([name, *(f"{key}={_written(value)}" for key, value in params.items())])


def _written(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_written, value))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f'"{text}"' if not text or re.search(r"[\s,\"]", text) else text


@remembered
def clause_of(scene: Scene, text: str) -> Clause:
    """Return a text as one clause, with the verbs that stand in two parts joined."""
    tokens = list(tokenize(text, scene.known_words))
    parted = lexicon().parted
    for at, token in enumerate(tokens):
        for place in range(at + 1, len(tokens)):
            later = tokens[place]
            if groups := parted.get((token.stem, later.stem)):
                tokens[at] = replace(token, groups=token.groups | groups)
                tokens[place] = replace(later, groups=later.groups | {"~aspect"})
    return Clause(text, tuple(tokens))


@remembered
def readings(scene: Scene, clause: Clause) -> list[Reading]:
    """Return what a clause may mean, the best first."""
    return sorted(_readings(scene, clause), key=lambda one: (not one.is_complete, -one.score))


def best_of(found: Sequence[Reading]) -> list[Reading]:
    """Return the readings among which a person would have to choose: one, if it is clear."""
    complete = [one for one in found if one.is_complete]
    if not complete:
        return []
    top = complete[0]
    almost = [one for one in found if len(one.missing) == 1 and one.score > top.score + 0.6]
    if not top.is_exact and any(replace(one, missing=()).is_complete for one in almost):
        return []  # another one fits better, and lacks only one param
    close = [one for one in complete if top.score - one.score < _CLOSE_CALL]
    return list({(one.window, one.action.id, str(one.params)): one for one in close}.values())


def _readings(scene: Scene, clause: Clause) -> Iterator[Reading]:
    names = "|".join(re.escape(window.name) for window in (*scene.classes, *scene.windows))
    ids = {token.text for token in clause.tokens if re.fullmatch(rf"(?:{names})_\d+", token.text)}
    named = ids & {window.id for window in scene.windows}
    if ids != named:
        return  # a window that is not open
    if not clause.content:
        return  # "wait, please"
    alike: dict[Any, list[Window]] = {}
    kinds = {id(one.actions): one.actions for one in scene.windows}.items()
    meant = {k for k, row in kinds if any(a.says or _is_meant(scene, a, clause) for a in row)}
    for window in scene.windows:
        if id(window.actions) in meant and (not named or window.id in named):
            alike.setdefault(_kind(scene, window, clause), []).append(window)
    done = None
    for windows in sorted(alike.values(), key=lambda row: row[0].id != scene.focus):
        if windows[0].shape[:3] == done and len(windows) > 1:
            continue  # the window that was used last is meant, and not one of these
        bonus = _bonus(scene, windows[0], clause) + (2.0 if named else 0.0)
        ways = [(way, one) for one in windows[0].actions for way in (_phrased, _reading)]
        for one in filter(None, (way(scene, windows[0], action, clause) for way, action in ways)):
            score = one.score + bonus * (not one.is_exact)
            yield from (replace(one, window=window, score=score) for window in windows[:_ASKED])
            if one.is_complete and scene.was_used(windows[0]):
                done = windows[0].shape[:3]
    for window in scene.classes if not named else ():
        if (reading := _opening(scene, window, clause)) is not None:
            yield reading


def _kind(scene: Scene, window: Window, clause: Clause) -> Any:
    """Return a key that is equal for windows in which a clause means the same."""
    depends = window.id == scene.focus or window.holds_file or clause.keys & {"~end", "~top"}
    return window.id if depends or mentions(scene, window, clause) else window.shape


def _reading(scene: Scene, window: Window, action: Action, clause: Clause) -> Reading | None:
    weights = _evidence(scene, action, clause)
    if not _is_meant(scene, action, clause):
        return None
    strongest = max(weights.values())
    main = frozenset(at for at, weight in weights.items() if weight >= _MAIN)
    slots = Slots(scene, window, action, clause, main)
    fillers, missing, score = fill(slots)
    is_safe = bool(scene.steps) or not (slots.is_careful or action.groups & {"@remove", "@clear"})
    if is_safe and len(missing) == 1 and missing[0].is_reference and scene.was_used(window):
        # "…, then move to the top": what was touched before is meant.
        (param,) = missing
        for item in touched_items(scene, window)[-1:]:
            given = {param.name: value_of(item, param)}
            fillers, missing = (*fillers, Filler(given, frozenset(), 1.0)), missing[:0]
    used = frozenset(at for filler in fillers for at in filler.tokens)
    label = frozenset(one for token in action.label_tokens for one in (token.stem, *token.groups))
    rest = clause.content - used - slots.explained
    is_label = all(clause.tokens[at].names(label | {*action.id_words}) for at in rest)
    score += strongest + 0.4 * (sum(weights.values()) - strongest) + 0.3 * is_label
    means = [{word, *groups_of(word), *groups_of(f"={word}")} for word in action.id_words]
    unmatched = sum(clause.keys.isdisjoint(words) for words in means)
    score -= 0.8 * min(2, unmatched)
    said = used | {at for at, weight in weights.items() if weight >= 0.6}
    is_only = clause.has("~only") and not has_any(action.label_tokens, "~only")
    destroys = not action.params and bool(action.groups & {"@remove", "@clear", "@reset"})
    is_doubtful = any(filler.is_part or slots.swallows(filler) for filler in fillers)
    is_doubtful = is_doubtful or (is_only and not fillers)
    is_doubtful = is_doubtful or (destroys and not is_label and unmatched > 0)
    is_doubtful = is_doubtful or _is_opposed(action, clause, used)
    unexplained = _unexplained(scene, window, action, clause, said)
    reading = Reading(window, action, ({},), score, unexplained, missing, is_doubtful=is_doubtful)
    return _everywhere(_with_values(reading, fillers), clause)


def _is_opposed(action: Action, clause: Clause, used: frozenset[int]) -> bool:
    """Whether a word that gives no value says the opposite of an action: "all lamps on"."""
    inverse = lexicon().inverse
    other = {inverse[key] for word in action.id_words if (key := f"@{word}") in inverse}
    rest = [token for at, token in enumerate(clause.tokens) if at not in used]
    said = [one for one in rest if not one.names(action.nouns)]
    return any(f"@{one.stem}" in other or one.verbs & other for one in said)


def _with_values(reading: Reading, fillers: Sequence[Filler]) -> Reading:
    params = {name: value for filler in fillers for name, value in filler.values.items()}
    named = [(next(iter(filler.values)), filler) for filler in fillers]
    each = [{**params, name: value} for name, one in named for value in one.each]
    choices = [({**params, name: v}, text) for name, one in named for v, text in one.choices]
    return replace(reading, params=(params, *each)[:_EACH], choices=tuple(choices),
                   is_marked=all(filler.is_marked for filler in fillers),
                   is_solid=all(filler.is_solid for filler in fillers))  # fmt: skip


def _everywhere(reading: Reading, clause: Clause) -> Reading:
    """Read "replace all …": an optional count is how often the text is shown."""
    takes_count = any(one.is_optional and one.name == "count" for one in reading.action.params)
    texts = [value for value in reading.params[0].values() if isinstance(value, str)]
    words = {clause.tokens[at].text for at in clause.places("~all")}
    if not (takes_count and texts and words) or not set(reading.unexplained) <= words:
        return reading
    shown = unescape(reading.window.raw).count(texts[0])
    params = {**reading.params[0], "count": shown}
    return replace(reading, params=(params,), unexplained=()) if shown else reading


def _is_meant(scene: Scene, action: Action, clause: Clause) -> bool:
    weights = _evidence(scene, action, clause)
    is_label = len(weights) > 1 and clause.content <= weights.keys()
    return is_label or max(weights.values(), default=0.0) >= _MAIN


@remembered
def _evidence(_: Scene, action: Action, clause: Clause) -> dict[int, float]:
    found: dict[int, float] = {}
    keys, inverse = action.verbs, lexicon().inverse
    for at, token in enumerate(clause.tokens):
        if token.kind in ("word", "number"):
            parts = [] if token.verbs else [keys.get(part.stem, 0.0) - 0.5 for part in token.parts]
            words = [keys.get(one, 0.0) for one in (token.stem, *token.groups)]
            if (weight := max(0.0, *words, *parts)) > 0:
                found[at] = weight
    choices = [choice for param in action.params for choice in param.choices]
    if any(is_choice(token, choice) for choice in choices for token in clause.tokens):
        for at in clause.places(*_SETTING):  # "make the lamp blue"
            found[at] = max(_MAIN, found.get(at, 0.0))
    if any(param.is_bool and not param.is_optional for param in action.params):
        is_switch = any(token.stem in ("on", "off") for token in action.label_tokens)
        for at, token in enumerate(clause.tokens):
            is_opposite = any(inverse.get(group) in action.groups for group in token.groups)
            if is_opposite or (is_switch and token.has("@on", "@off")):
                found[at] = max(_SURE, found.get(at, 0.0))
    return found


def _unexplained(
    scene: Scene, window: Window, action: Action, clause: Clause, used: frozenset[int]
) -> tuple[str, ...]:
    by_name = action.id == "close" and not window.holds_file
    nouns = window.names | {"#window", "window"} if by_name else window.nouns
    nouns -= {"#text", "text"} if "@remove" in action.groups else set()  # "the last word"
    own = action.nouns | nouns | ({window.id, *_THINGS} if window.id else _GENERIC)
    is_it = scene.was_used(window) or len(scene.windows) == 1

    def is_explained(at: int) -> bool:
        token = clause.tokens[at]
        is_file = token.kind in ("path", "quoted") and window.shows_path(token.text)
        is_window = is_file or (is_it and token.has("~it"))
        return token.names(own) or is_window or _is_modifier(clause, at, window)

    left = sorted(clause.content - used)
    return tuple(clause.tokens[at].text for at in left if not is_explained(at))


def _is_modifier(clause: Clause, at: int, window: Window) -> bool:
    """Whether a word belongs to the name of a window, as "shopping" in "to my shopping list"."""
    token, after = clause.tokens[at], clause.tokens[at + 1 :]
    heads = [place for place, one in enumerate(after[:2]) if one.groups & window.nouns]
    between = after[: heads[0]] if heads else ()
    if not heads or any(one.kind != "word" or one.has("~and") for one in (token, *between)):
        return False
    opens = not window.id
    cues = ("~to", "~in", "~from", "~possessive", *(("~article",) if opens else ()))
    is_placed = has_any(clause.tokens[max(0, at - 2) : at], *cues)
    is_placed = is_placed or (opens and (at == 0 or bool(token.groups & window.topics)))
    return is_placed and not token.verbs and not token.has("~not")


def _bonus(scene: Scene, window: Window, clause: Clause) -> float:
    """Return how much a clause speaks of a window."""
    score = (0.6 if scene.was_used(window) else 0.2) * (window.id == scene.focus)
    nouns = window.nouns - {"#window", "window"}
    found = [0.0]
    for at, token in enumerate(clause.tokens):
        if token.kind in ("path", "quoted") and window.shows_path(token.text):
            found.append(2.0)
        elif token.names(nouns):
            before = clause.tokens[max(0, at - 2) : at]
            near = has_any(before, "~in", "~to", "~from", "~possessive", "~this")
            found.append((0.8 if near else 0.5) + 0.4 * (token.stem == stem(window.name)))
    return score + max(found)


def _phrased(scene: Scene, window: Window, action: Action, clause: Clause) -> Reading | None:
    """Match a clause against the phrasings that the author of a window gave."""
    for template in sorted(action.says, key=lambda one: one.count("{")):
        pattern = re.escape(template.strip()).replace(r"\ ", r"\s+")
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", pattern)
        if found := re.fullmatch(rf"{pattern}\s*", plain(clause), re.IGNORECASE):
            values = {name: text for name, text in found.groupdict().items() if text}
            return _exact(scene, window, action, values, 12.0)
    return None


def plain(clause: Clause) -> str:
    """Return a clause without courtesies and marks around it."""
    kept = [one for one in clause.tokens if not (one.text in _MARKS or one.has("~polite", "~and"))]
    return clause.text[kept[0].start : kept[-1].end] if kept else ""


@remembered
def exact(scene: Scene, text: str) -> Reading | None:
    """Read ``todo_1.done 2``, an action's id or its label; None if it is none of these."""
    said = text.strip().strip(".。!！").strip()
    called, opened = _NOTATION.fullmatch(said), _OPEN.fullmatch(said)
    window = scene.window(called[1]) if called else None
    action = window.action(called[2]) if called and window else None
    if called and window and action:
        return _exact(scene, window, action, _arguments(action, called[3] or ""), 20.0)
    for one in scene.classes if opened else ():
        if opened and one.name == opened[1]:
            return _exact(scene, one, one.actions[0], _arguments(one.actions[0], opened[2]), 20.0)
    return _by_name(scene, said)


def _by_name(scene: Scene, said: str) -> Reading | None:
    ordered = sorted(scene.windows, key=lambda window: window.id == scene.focus)
    windows = reversed({id(window.actions): window for window in ordered}.values())
    pairs = [(window, action) for window in windows for action in window.actions]
    for window, action in pairs:
        if said.casefold() in action.names:
            return _exact(scene, window, action, {}, 15.0)
    first, _, rest = said.partition(" ")
    for window, action in pairs if rest else ():
        if first.casefold() == action.id.casefold() and _is_arguments(rest, action):
            return _exact(scene, window, action, _arguments(action, rest), 15.0)
    return None


def _is_arguments(text: str, action: Action) -> bool:
    """Whether a text is nothing but values: quoted, numbers, or ``name=value``."""
    if re.match(r"\w+=", text):
        return set(re.findall(r"(\w+)=", text)) <= {param.name for param in action.params}
    kinds = [one.kind for one in tokenize(text)]
    is_plain = not {*kinds} - {"quoted", "number", "value", "path"}
    takes = [param for param in action.params if not (param.is_optional and param.takes_text)]
    return is_plain and 0 < len(kinds) <= len(takes)


def _arguments(action: Action, text: str) -> dict[str, str]:
    """Return the arguments of a notation: ``name=value`` pairs, or values in order."""
    names = [param.name for param in action.params]
    marks = [one for one in re.finditer(r"(?:^|\s)(\w+)=", text) if one[1] in names]
    if marks:
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        return {one[1]: text[one.end() : end].strip() for one, end in zip(marks, ends, strict=True)}
    if len(names) == 1:
        return {names[0]: text.strip()} if text.strip() else {}
    tokens = [one for one in tokenize(text) if one.kind != "mark"]
    values = [text[token.start : token.end] for token in tokens]
    if len(values) > len(names) > 0:
        values[len(names) - 1] = text[tokens[len(names) - 1].start :]
    return dict(zip(names, values, strict=False))


def _exact(
    scene: Scene, window: Window, action: Action, texts: dict[str, str], score: float
) -> Reading:
    given = [param for param in action.params if param.name in texts]
    values = {one.name: _value(scene, window, action, one, texts[one.name]) for one in given}
    wrong = tuple(texts[name] for name, value in values.items() if value is None)
    params = {name: value for name, value in values.items() if value is not None}
    missing = tuple(one for one in action.params if not one.is_optional and one.name not in texts)
    return Reading(window, action, (params,), score, wrong, missing, is_exact=True)


def _value(scene: Scene, window: Window, action: Action, param: Param, text: str) -> Any:
    if param.takes_text and param.is_list:
        parts = [bare(one) for one in re.split(r"[,，、]", text) if one.strip()]
        return parts[0] if param.takes_one and len(parts) == 1 else parts
    if not param.takes_text or param.is_reference:
        clause = clause_of(scene, text)
        for filler in Slots(scene, window, action, clause).fillers(param):
            if not filler.choices and clause.content <= filler.tokens:
                return filler.values[param.name]
    return bare(text) if param.takes_text else None


def _opening(scene: Scene, window: Window, clause: Clause) -> Reading | None:
    tokens, action = clause.tokens, window.actions[0]
    nouns, name = window.nouns - _UNNAMED, stem(window.name)
    named = frozenset(at for at, one in enumerate(tokens) if one.names(nouns))
    by_name = frozenset(at for at in named if tokens[at].names(window.names))
    paths = [token.text for token in tokens if token.kind == "path"]
    has_path = bool(paths) and any(param.is_path for param in action.params)
    is_there = any(one.name == window.name for one in scene.windows)
    verbs = clause.places(*_OPENING) - named
    adding = clause.places("@add", "@write", "@note")
    if has_path and clause.places(*_OPENING, *_READING):
        verbs |= clause.places(*_READING)
    elif not by_name:
        return None
    elif not verbs and adding and any(param.is_list for param in action.params):
        places = [at for at in named if tokens[at].groups & (groups_of(name) | {"#list"})]
        verbs = adding
        if is_there or not any(has_any(tokens[max(0, at - 3) : at], "~to", "~in") for at in places):
            return None
    elif not verbs and clause.content > named and not any(one.text in ":：" for one in tokens[:4]):
        return None
    fillers, missing, score = fill(Slots(scene, window, action, clause, verbs - named))
    used = frozenset(at for filler in fillers for at in filler.tokens) | verbs | named
    score += 2.2 * bool(verbs) + min(2.0, 0.9 * len(by_name - verbs))
    score += 0.6 * any(tokens[at].names(groups_of(name) | {name}) for at in named)
    if has_path:  # a folder is shown as a tree, a file in an editor
        score += 0.8 if paths[0].endswith("/") == ("#tree" in window.topics) else -0.8
    is_new = has_path or clause.has("#new", "~article")
    score -= 1.5 * (is_there and not is_new)
    unexplained = _unexplained(scene, window, action, clause, used)
    reading = Reading(window, action, score=score, unexplained=unexplained, missing=missing)
    reading = _with_values(reading, fillers)
    return replace(reading, is_marked=reading.is_marked or bool(named))


def preparation(scene: Scene, clause: Clause) -> Reading | None:
    """Return a window to open first, where a clause needs one that is not open.

    "Note that …" needs a notebook, and "replace a with b in notes.txt" that file. Only a window
    that the clause names is opened.
    """
    tokens, places = clause.tokens, sorted(clause.content)
    verbs = {group for one in tokens for group in one.verbs}
    # The verb comes first, and what to write after it.
    first = tokens[places[0]].verbs if len(places) > 1 else frozenset()
    if not first:
        return None
    head = tokens[: next((at for at, one in enumerate(tokens) if one.text in ":："), len(tokens))]
    near = [one for at, token in enumerate(head) for one in (token, *token.parts)
            if at < 3 or at > len(tokens) - 3
            or has_any(head[max(0, at - 3) : at], "~to", "~in")]  # fmt: skip
    path = next((one.text for one in tokens if one.kind == "path"), "")
    is_marked = any(one.kind in ("quoted", "number", "range") for one in tokens)
    for window in scene.classes:
        same = [one for one in scene.windows if one.name == window.name]
        if any(not (path and one.holds_file) or one.shows_path(path) for one in same):
            continue
        action = window.actions[0]
        required = [param for param in action.params if not param.is_optional]
        takes_path = len(required) == 1 and required[0].is_path and not path.endswith("/")
        if path and takes_path and is_marked and verbs & _CHANGING:
            return Reading(window, action, ({required[0].name: path},), 1.0)
        is_named = any(one.names(window.names - _UNNAMED) for one in near)
        is_file = "#file" in window.nouns
        if is_named and not required and first & _WRITING and not is_file:
            return Reading(window, action, score=1.0)
    return None


def is_verb_first(tokens: Sequence[Token]) -> bool:
    """Return whether tokens begin as a request does."""
    for token in tokens:
        is_object = token.has("~object", "~in") and not token.text.isascii()
        if token.verbs or is_object or token.has("~every"):
            return True
        if not token.has("~polite", "~then", "~person"):
            return token.kind == "path"
    return False

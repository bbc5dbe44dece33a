"""What a clause can mean as a wish to open a window."""

from collections.abc import Iterator

from contextui.agent.models.offline.filling.filled import Filled
from contextui.agent.models.offline.filling.frame import Frame
from contextui.agent.models.offline.filling.sharing import fill
from contextui.agent.models.offline.lexicon.verbs import PRODUCTS
from contextui.agent.models.offline.meaning.matching import Meaning
from contextui.agent.models.offline.meaning.taking_in import put_on
from contextui.agent.models.offline.parting.runs import COLON, COMMA
from contextui.agent.models.offline.reading.clauses import Clause, is_telling, significant
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.referring.mentions import (
    is_indefinite,
    is_named,
    led_mention,
    led_paths,
    mention_of,
    opens_paths,
)
from contextui.agent.models.offline.referring.noting import is_elsewhere, product_of, shows
from contextui.agent.models.offline.referring.roles import Roles, head_of, is_generic
from contextui.agent.models.offline.shown.blocks import Action, ClassView
from contextui.agent.models.offline.shown.profiles import GROUP, likeness, senses, words_of
from contextui.agent.models.offline.shown.surroundings import Surroundings

_MADE = frozenset({"@open"})
_CHANGING = ("@remove", "@clear", "@reset", "@close", "@rename", "@copy")
_ALONE = 1.5  # what speaks for a class whose like is not open
_TAKEN = 1.6  # what speaks for a class that is what something is to be put on
_MORE = (COLON, COMMA, "~with", "~saying")  # what leads to more than an arg


def opening(clause: Clause, around: Surroundings) -> list[Meaning]:
    """The classes that a clause can mean to open, the best first."""
    if not around.opening:
        return []
    alone = len([one for one in significant(clause.tokens) if one.kind is not Kind.MARK]) == 1
    head = None if alone else head_of(clause, around.declared())
    found = [one for cls in around.classes for one in _meanings(clause, cls, around, head)]
    return sorted(found, key=lambda one: -one.score)


def _meanings(
    clause: Clause, cls: ClassView, around: Surroundings, head: int | None
) -> Iterator[Meaning]:
    verb = clause.tokens[head] if head is not None else None
    named, places = mention_of(clause, cls, strict=False)
    if named < 0.7 and not (_may_fit(clause, verb, cls) or product_of(clause, head)):
        return
    action = Action(cls.name, cls.description, cls.args)
    roles = Roles(head, set(), _class_places(clause, cls, places))
    opens = _opening_verb(verb, cls, places)
    by_name = any(is_named(clause.tokens[place], cls) for place in places)
    if verb is None and not by_name and not is_indefinite(clause, places):
        opens = 0.0
    elif verb is not None and not opens and (by_name or _is_led(clause, places)) and (
        is_indefinite(clause, places)
    ):  # fmt: skip
        opens = 1.4 if verb.has("@set", "@add", "@schedule") else 0.0
    if opens and head is not None:
        roles.verbs.add(head)
    filled = fill(clause, roles, Frame(action, None, _MADE, around.last))
    is_open = any(one.name == cls.name for one in around.windows)
    file = _file_to_act_in(clause, cls, verb)
    if opens and (named >= 0.7 or _has_path(clause, filled)):
        score = min(named, 4.0) + opens + filled.score + _article(clause, places, is_open)
        score -= 1.0 if _only_modifies(clause, places) else 0.0
        if not by_name:
            score -= min(filled.left_weight, 2.0)  # only words of its description were said
        score += 1.5 * any(one is True for one in filled.params.values())
        score += 0.6 if any(not one.optional for one in cls.args) and not filled.missing else 0.0
        score += _share(places, cls)
        more = _has_more(filled) or (file is not None and bool(filled.left))
        yield Meaning(score, action, None, cls, filled, then=more, named=by_name)
    elif file is not None:
        path = next(one.name for one in cls.args if not one.optional)
        yield Meaning(4.0, action, None, cls, Filled({path: file}), then=True)
    elif not is_open and all(one.optional for one in cls.args):
        led = led_mention(clause, cls) >= 1.8
        alone = _is_for_it_alone(clause, head, cls, around)
        does = _does_what_it_is_for(verb, cls) and _tells_something(clause, verb)
        said = [one for one in significant(clause.tokens) if not one.has("~it", "~this")]
        does = alone or (does and len(said) > 1)
        taken = put_on(clause, verb, cls, around) is not None
        if does or taken or ((led or named >= 1.8) and _may_open(verb)):
            score = min(named, 3.0) + 0.8 * led + 2.4 * does + 0.3 * _shows_products(verb, cls)
            score += _ALONE * alone + (_TAKEN + _share(places, cls)) * taken
            yield Meaning(score, action, None, cls, Filled(), then=True)


def _share(places: set[int], cls: ClassView) -> float:
    """How much of what a class is known by was said: of two lists rather the plain one is meant."""
    return 0.3 * len(places) / max(sum(map(len, words_of(cls)[:2])), 1)


def _may_open(verb: Token | None) -> bool:
    """Whether a window may be opened for a verb: one that is known, and changes nothing."""
    return verb is None or (verb.is_verb and not verb.has(*_CHANGING))


def _file_to_act_in(clause: Clause, cls: ClassView, verb: Token | None) -> str | None:
    """The file that has to be opened for what is to be done in it; None if there is none."""
    looks = verb is None or verb.has("@find", "@show", "@open", "@read")
    places = led_paths(clause.tokens) if opens_paths(cls) and not looks else []
    return clause.tokens[places[0]].text if len(places) == 1 else None


def _is_led(clause: Clause, places: set[int]) -> bool:
    """Whether what names a class says where something goes: "on a list"."""
    first = min(places, default=0)
    return any(one.has("~in", "~to") for one in clause.tokens[max(first - 3, 0) : first])


def _only_modifies(clause: Clause, places: set[int]) -> bool:
    """Whether what names a class only says what kind of thing is meant: "shopping" in a list."""
    after = max(places, default=0) + 1
    token = clause.tokens[after] if places and after < len(clause.tokens) else None
    noun = token is not None and any(key[0] == "#" for key in token.keys)
    return noun and token is not None and not (token.is_small or token.is_verb or token.number)


def _may_fit(clause: Clause, verb: Token | None, cls: ClassView) -> bool:
    """Whether a class that is not named can be meant: by a file, or by what it is for."""
    return any(one.kind is Kind.PATH for one in clause.tokens) or _does_what_it_is_for(verb, cls)


def _class_places(clause: Clause, cls: ClassView, places: set[int]) -> set[int]:
    """The tokens that name the class, with what stands before its name ("my shopping list").

    Where its name is said, a word of its description elsewhere is rather a value.
    """
    by_name = {place for place in places if is_named(clause.tokens[place], cls)}
    args = [keys for one in cls.args for keys in keys_of(one.name)]
    chosen = {
        place
        for place in places
        if place in by_name
        or not by_name
        or (place - 1 in places or place + 1 in places)
    }  # fmt: skip
    chosen = {
        p for p in chosen if p in by_name or likeness(clause.tokens[p].nouns, tuple(args)) < GROUP
    }
    return chosen | _modifiers(clause, chosen)


def _modifiers(clause: Clause, places: set[int]) -> set[int]:
    """Words between an article and the class's name."""
    found = set[int]()
    for place in sorted(places):
        for before in range(place - 1, max(place - 4, -1), -1):
            token = clause.tokens[before]
            if token.has("~article", "~new_article", "~possessive", "~this"):
                found |= set(range(before + 1, place))
                break
            if before in places or token.kind is not Kind.WORD or token.is_small or token.is_verb:
                break
    return found


def _opening_verb(verb: Token | None, cls: ClassView, places: set[int]) -> float:
    """How well a verb says that a window is to be opened; without one, its name alone does."""
    if verb is None:
        return 1.2 if places else 0.0
    if verb.has("@open"):
        return 1.4 if verb.has("@want", "have") else 2.2
    if verb.has("@start", "@show", "@on"):
        return 1.4
    needs = any(not one.optional for one in cls.args)
    return 1.2 if needs and _is_described(verb, cls) else 0.0


def _does_what_it_is_for(verb: Token | None, cls: ClassView) -> bool:
    """Whether a verb says what windows of this class are for ("note …" for notes)."""
    looks = ("@show", "@open", "@find", "@start", "@stop", "@on", "@off")
    if verb is None or not verb.is_verb or verb.has(*looks):
        return False
    named = likeness(verb.keys, words_of(cls)[1]) >= GROUP
    return not is_generic(verb) and (named or (verb.has("@remind") and _shows_products(verb, cls)))


def _is_for_it_alone(
    clause: Clause, head: int | None, cls: ClassView, around: Surroundings
) -> bool:
    """Whether what is told belongs into such a window, and into none that is open.

    "Note: …" means notes; "write: …" can mean any text that is open.
    """
    product = product_of(clause, head)
    return bool(product) and shows(cls, product) and all(
        is_elsewhere(clause, head, one, around) for one in around.windows)  # fmt: skip


def _shows_products(verb: Token | None, cls: ClassView) -> bool:
    """Whether windows of this class show what a verb makes: notes, if something is written."""
    made = {PRODUCTS[key] for key in verb.keys if key in PRODUCTS} if verb is not None else set()
    return any(keys & made for keys in words_of(cls)[1])


def _tells_something(clause: Clause, verb: Token | None) -> bool:
    """Whether there is something to be noted, rather than to be thought up."""
    told = any(is_telling(clause.tokens, place) for place in range(len(clause.tokens)))
    said = any(one.kind is Kind.QUOTE or one.has("~saying") for one in clause.tokens)
    return told or said or (verb is not None and verb.has("#note", "@remind"))


def _is_described(verb: Token, cls: ClassView) -> bool:
    own = frozenset(key for key in verb.keys if key[0] != "@" or key[1:] in senses(verb.keys))
    return any(likeness(own, part) >= GROUP for part in words_of(cls)[1:])


def _has_more(filled: Filled) -> bool:
    """Whether there is more to be done with the window than to open it."""
    return any(one.weight and not one.cues.isdisjoint(_MORE) for one in filled.left)


def _has_path(clause: Clause, filled: Filled) -> bool:
    paths = {one.text for one in clause.tokens if one.kind is Kind.PATH}
    return any(isinstance(value, str) and value in paths for value in filled.params.values())


def _article(clause: Clause, places: set[int], is_open: bool) -> float:
    """A new window is meant by "a list", the open one rather by "the list"."""
    if is_indefinite(clause, places):
        return 0.7
    first = min(places, default=0)
    near = clause.tokens[max(0, first - 3) : first]
    definite = any(one.has("~possessive", "~this", "~all", "the") for one in near)
    return (-2.5 if definite else -1.5) if is_open else 0.0

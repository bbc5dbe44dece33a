"""What is told to be kept: "remember that …", "add a note: …". It goes where such things are."""

from contextui.agent.models.offline.lexicon.verbs import PRODUCTS
from contextui.agent.models.offline.reading.clauses import Clause, is_telling
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.referring.knowing import declares
from contextui.agent.models.offline.referring.mentions import mention_of
from contextui.agent.models.offline.shown.blocks import ClassView, WindowView
from contextui.agent.models.offline.shown.profiles import GROUP, likeness, profile_of, words_of
from contextui.agent.models.offline.shown.surroundings import Surroundings

_NOTE = PRODUCTS["@write"]
_MAKING = ("@add", "@write", "@open", "@new")
_NOTING = frozenset({"@write", "@note", "@remind"})
_LIKE = {"#task": frozenset({"#task", "#reminder", "#event"})}  # what may be meant as well


def product_of(clause: Clause, head: int | None) -> str:
    """The kind of thing that is to be made of what a clause tells; empty if it tells nothing."""
    if head is None:
        return ""
    verb, told = clause.tokens[head], _told_at(clause, head)
    if told and verb.has(*_MAKING):
        made = next((one for one in reversed(clause.tokens[head:told]) if one.nouns), verb)
        kinds = made.nouns.intersection(PRODUCTS.values())
        if made is not verb and kinds:
            return min(kinds)
    if verb.has("@remind"):
        return PRODUCTS["@remind"]
    if not verb.has("@note"):
        return ""
    listed = verb.has("@add") and told and not clause.tokens[told].has("~saying")
    return _NOTE if _states(clause, head) or (told and not listed) else ""


def is_elsewhere(
    clause: Clause, head: int | None, window: WindowView, around: Surroundings
) -> bool:
    """Whether what a clause makes belongs into another window, open or not, than this one."""
    product = product_of(clause, head)
    if head is None or not product or _takes(window, product, clause.tokens[head]):
        return False
    views: list[WindowView | ClassView] = [*around.windows, *around.classes]
    return mention_of(clause, window)[0] < 0.7 and any(shows(one, product) for one in views)


def shows(view: WindowView | ClassView, product: str) -> bool:
    """Whether such things are what a window, or those of a class, is about."""
    return any(product in keys for part in words_of(view)[:2] for keys in part)


# --- within ------------------------------------------------------------------------------


def _told_at(clause: Clause, head: int) -> int:
    """Where what is told begins; 0 if nothing is."""
    tokens = clause.tokens
    for place in range(head + 1, len(tokens)):
        if is_telling(tokens, place) or tokens[place].kind is Kind.QUOTE:
            return place
        if tokens[place].has("~saying") and place + 1 < len(tokens):
            return place
    return 0


def _states(clause: Clause, head: int) -> bool:
    """Whether a sentence stands behind a verb, not only a thing: "remember the code is 4711"."""
    behind = clause.tokens[head + 1 :]
    return any(one.has("~be") and 0 < place < len(behind) - 1 for place, one in enumerate(behind))


def _takes(window: WindowView, product: str, verb: Token) -> bool:
    """Whether a window takes such a thing, or has an action for just this verb."""
    if declares(window, _LIKE.get(product, frozenset({product}))):
        return True
    noting = verb.keys & _NOTING if verb.has("@note", "@remind") else frozenset[str]()
    profiles = [profile_of(one) for one in window.actions]
    return any(likeness(noting, (*one.names, *one.heads)) >= GROUP for one in profiles)

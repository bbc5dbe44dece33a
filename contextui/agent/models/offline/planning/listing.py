"""A bare listing behind the wish for a list: "milk, eggs and bread" goes on what was opened."""

from collections.abc import Sequence

from contextui.agent.models.offline.meaning.matching import acting
from contextui.agent.models.offline.meaning.taking_in import takes_listed
from contextui.agent.models.offline.planning.talking import clauses_in
from contextui.agent.models.offline.planning.wishing import Outcome, outcome_of, understand
from contextui.agent.models.offline.reading.clauses import Clause, parts_of
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.shown.blocks import WindowView
from contextui.agent.models.offline.shown.profiles import profile_of
from contextui.agent.models.offline.shown.scene import Scene
from contextui.agent.models.offline.shown.surroundings import Surroundings
from contextui.words import Lang

_ADDING = frozenset({"@add", "add"})
_NO_THING = ("~person", "~it", "~this", "~be", "~have", "~not", "~what", "~aux", "~greet", "~thank",
             "~bye", "~drop", "~correction", "~because", "~if", "~then", "~done_mark")  # fmt: skip
_LONGEST = 6  # words of one thing


def listed_for_opened(scene: Scene, around: Surroundings, lang: Lang) -> Outcome | None:
    """What puts the things that are listed on the window that was opened last; None if none is."""
    window = _just_opened(scene, around)
    clauses = clauses_in(scene.words, around) if window is not None else []
    if window is None or len(clauses) != 1 or not _is_listing(clauses[0]):
        return None
    if understand(clauses[0], around, lang).is_understood:
        return None
    first = clauses[0].tokens[0].start
    verb = Token("add", first, first, Kind.WORD, _ADDING)
    colon = Token("：", first, first, Kind.MARK)
    wish = Clause((verb, colon, *clauses[0].tokens), clauses[0].words)
    best = next(iter(acting(wish, Surroundings((window,), (), opening=False))), None)
    adds = best is not None and best.is_sure and "@add" in profile_of(best.action).verbs
    return outcome_of(best) if best is not None and adds else None


def _just_opened(scene: Scene, around: Surroundings) -> WindowView | None:
    """The window that the last call opened, if it is one for things."""
    last = scene.earlier[0] if scene.earlier else None
    if last is None or last.tool != "create" or not last.ok:
        return None
    name = last.input.get("name")
    opened = [one for one in around.windows if one.name == name and one.id in around.used[:1]]
    listing = any(one.name == name and takes_listed(one) for one in around.classes)
    return opened[0] if opened and listing else None


def _is_listing(clause: Clause) -> bool:
    """Whether nothing but things stand there, two at least."""
    parts = parts_of(clause.tokens)
    return len(parts) > 1 and not clause.is_question and all(map(_is_thing, parts))


def _is_thing(part: Sequence[Token]) -> bool:
    words = [one for one in part if one.kind is not Kind.MARK]
    if not words or len(words) > _LONGEST or any(one.has(*_NO_THING) for one in words):
        return False
    return any(not one.is_small for one in words)

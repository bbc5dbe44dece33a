"""What has to be done, told as a sentence, beside the wish for a list of it.

"I need to buy stamps and call the dentist, can you put that on a list?" is one wish: the list,
with what is needed as its things.
"""

from collections.abc import Sequence

from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.referring.mentions import mention_of
from contextui.agent.models.offline.referring.roles import head_of
from contextui.agent.models.offline.shown.blocks import ClassView, WindowView
from contextui.agent.models.offline.shown.surroundings import Surroundings

_BEFORE = ("~person", "~adverb", "~polite", "~interjection", "~then", "~done_mark", "#today",
           "#tomorrow", "#day", "#week", "~this")  # fmt: skip
_FILING = ("@open", "@add", "@write", "@show")
_OBJECT = ("~it", "~this", "~plural", "~all", "~both", "~object")
_FAR = 5  # tokens in which a sentence says that something is needed


def with_needs(clauses: list[Clause], around: Surroundings) -> list[Clause]:
    """The clauses, with what is needed put to the wish for a list that stands beside it."""
    for place, clause in enumerate(clauses):
        start = _needed_from(clause.tokens)
        if start is None:
            continue
        end = _end(clauses, place, around)
        things = [_things(one) for one in clauses[place:end]]
        if end < len(clauses) and _files(clauses[end], around):
            return [*clauses[:place], _with_list(clauses[end], things), *clauses[end + 1 :]]
        before = clauses[place - 1] if place else None
        if before is not None and _files(before, around):
            return [*clauses[: place - 1], _with_list(before, things), *clauses[end:]]
    return clauses


def _needed_from(tokens: Sequence[Token]) -> int | None:
    """Where what is needed begins ("I need to …"); None if it is not said so."""
    for place, token in enumerate(tokens[:_FAR]):
        if token.has("~needing") and place + 1 < len(tokens):
            return place + 1
        if not token.has(*_BEFORE):
            return None
    return None


def _end(clauses: Sequence[Clause], place: int, around: Surroundings) -> int:
    """Behind the last clause that still says what is needed."""
    end = place + 1
    while end < len(clauses) and not _files(clauses[end], around):
        goes_on = _needed_from(clauses[end].tokens) is not None or not clauses[end].anew
        if not goes_on or clauses[end].is_question:
            break
        end += 1
    return end


def _files(clause: Clause, around: Surroundings) -> bool:
    """Whether a clause wishes for a list, and says nothing else of what is to be on it."""
    head = head_of(clause, around.declared())
    if head is None or not clause.tokens[head].has(*_FILING) or clause.is_question:
        return False
    views: tuple[WindowView | ClassView, ...] = (*around.windows, *around.classes)
    score, places = max((mention_of(clause, one, strict=False) for one in views),
                        key=lambda one: one[0], default=(0.0, set[int]()))  # fmt: skip
    rest = [
        one
        for place, one in enumerate(clause.tokens)
        if place != head and place not in places and not one.is_small and one.kind is Kind.WORD
    ]
    return score >= 0.9 and not any(one.keys for one in rest)


def _things(clause: Clause) -> tuple[Token, ...]:
    start = _needed_from(clause.tokens) or 0
    tokens = clause.tokens[start:]
    while tokens and tokens[0].has("~aux", "~adverb", "~needing") and len(tokens) > 1:
        tokens = tokens[1:]
    return tuple(tokens)


def _with_list(wish: Clause, things: Sequence[Sequence[Token]]) -> Clause:
    """A wish for a list, with its things behind a colon."""
    kept = [one for one in wish.tokens if one.text not in "?？!！" and not one.has(*_OBJECT)]
    end = kept[-1].end
    listed = list[Token]([Token("：", end, end, Kind.MARK)])
    for number, part in enumerate(things):
        comma = Token(",", part[0].start, part[0].start, Kind.MARK)
        listed += [comma, *part] if number else part
    return Clause((*kept, *listed), wish.words, anew=wish.anew)

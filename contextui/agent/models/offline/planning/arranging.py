"""Where wishes begin and end, when the words alone do not say: by what is understood better."""

from collections.abc import Callable, Iterator, Sequence

from contextui.agent.models.offline.meaning.matching import Meaning
from contextui.agent.models.offline.planning.talking import verb_alone, with_verb
from contextui.agent.models.offline.planning.wishing import Outcome
from contextui.agent.models.offline.reading.clauses import (
    Clause,
    is_separator,
    is_telling,
    significant,
)
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.referring.roles import head_of
from contextui.agent.models.offline.shown.profiles import GROUP, likeness, param_words
from contextui.agent.models.offline.shown.surroundings import Surroundings

Understood = Callable[[Clause], Outcome]
"""What comes of a clause, as things stand."""

_REMARK = ("~person", "~because", "~done_mark")  # what tells something rather than wishes for it
_MOST_CUTS = 8
_SURE_OF_BOTH = 4.0  # the least score of two wishes that are taken for two rather than for one


def parts_of_wish(
    clause: Clause, outcome: Outcome, around: Surroundings, understood: Understood
) -> list[Clause]:
    """The wishes that a clause holds; none if it is one."""
    if clause.is_question or clause.joint:
        return []
    return _parallel(clause, outcome, around, understood) or _cut(
        clause, outcome, around, understood
    )


def with_next(
    clause: Clause, following: Clause, outcome: Outcome, understood: Understood
) -> Clause | None:
    """The clause with the next one, if the two are understood better together."""
    if clause.is_question or following.is_question or _is_remark(clause):
        return None
    for one in (_told_first(clause, following), _listed_behind(clause, following, outcome)):
        if one is not None and understood(one).is_whole:
            return one
    if _goes_on_listing(clause, following, outcome) and not understood(following).is_whole:
        return clause.with_more(following)
    both = clause.with_more(following)
    if outcome.meaning and outcome.calls and _names_param(following, outcome):
        return both
    after = understood(following)
    if outcome.calls and outcome.meaning and outcome.meaning.cls is None:
        together = understood(both)
        lost = not after.is_understood and after.score + _lacking(after) < 2.5
        lost = lost and not _begins_with_verb(following)
        same = together.meaning and together.meaning.action == outcome.meaning.action
        better = lost and not following.anew and together.is_whole and same
    else:
        together = understood(both)
        better = together.is_whole and together.score > max(after.score, 3.0) - 1.0
        better = better and not together.waits and not _stands(outcome)
    return both if better else None


def again(clause: Clause, before: Clause | None, around: Surroundings) -> Clause:
    """ "And another one: …" as the wish before it with something else; any other as it is."""
    said = significant(clause.tokens)
    told = next((n for n in range(len(said)) if is_telling(said, n)), None)
    more = bool(said) and (said[0].has("~new_article") or (said[0].has("~other") and bool(told)))
    declared = around.declared()
    head = head_of(before, declared) if before is not None and more else None
    if head is None or before is None or head_of(clause, declared) is not None:
        return clause
    rest = said[told:] if told is not None else [one for one in said[1:] if not one.has("~one")]
    return Clause((*verb_alone(before.tokens[: head + 1]), *rest), clause.words)


def _stands(outcome: Outcome) -> bool:
    """Whether a clause needs nothing behind it."""
    return outcome.is_understood or outcome.score >= 9.0


# --- one clause, several wishes ----------------------------------------------------------


def _parallel(
    clause: Clause, outcome: Outcome, around: Surroundings, understood: Understood
) -> list[Clause]:
    """The parts of "put A on 1 and B on 2", each with the verb; none if it is one wish."""
    meaning = outcome.meaning
    if not outcome.calls or meaning is None or meaning.cls is not None:
        return []
    needed = [one for one in meaning.action.params if not one.optional]
    parts = with_verb(clause, around)
    if len(needed) < 2 or len(parts) < 2 or _lists_quotes(clause):
        return []
    each = [understood(one) for one in parts]
    same = all(
        one.calls and one.meaning is not None and one.meaning.action == meaning.action
        and not one.meaning.filled.back and not one.meaning.filled.left
        for one in each
    )  # fmt: skip
    return parts if same else []


def _lists_quotes(clause: Clause) -> bool:
    """Whether quotations stand side by side, as the things of one list."""
    return any(
        before.kind is after.kind is Kind.QUOTE and is_separator(between)
        for before, between, after in zip(
            clause.tokens, clause.tokens[1:], clause.tokens[2:], strict=False)
    )  # fmt: skip


def _cut(
    clause: Clause, outcome: Outcome, around: Surroundings, understood: Understood
) -> list[Clause]:
    """The clause in two at the place where both are understood best; none if it is better whole."""
    best, parts = 0.0, list[Clause]()
    if _lists_quotes(clause):
        return []
    for first, second, borrowed in _halves(clause, around):
        if borrowed and outcome.is_whole and not _may_be_two(outcome):
            continue
        one = understood(first)
        if not one.is_whole or one.waits:
            continue
        other = understood(second)
        if not _may_follow(one, other, outcome):
            continue
        score = min(one.score, other.score)
        if score > best:
            best, parts = score, [first, second]
    return parts


def _may_be_two(outcome: Outcome) -> bool:
    """Whether a wish that is whole may be two all the same: its verb says something else."""
    meaning = outcome.meaning
    return meaning is not None and meaning.cls is None and not meaning.named


def _may_follow(one: Outcome, other: Outcome, whole: Outcome) -> bool:
    """Whether two wishes say more than the whole does."""
    repeats = other.asks and other.meaning is not None and other.meaning.named
    if not other.is_whole:  # 展开第一条，收起来: the second is about what the first is about
        return repeats and one.meaning is not None and one.meaning.named and not whole.is_sure
    if not whole.is_whole:
        return True
    if _says_more(whole, one) or _says_more(whole, other):
        return False
    if whole.meaning is not None and whole.meaning.cls is not None:
        return False
    if _may_be_two(whole):
        return True
    named = [one.meaning, other.meaning]
    return all(m is not None and _tells(m) and m.score >= _SURE_OF_BOTH for m in named)


def _says_more(whole: Outcome, part: Outcome) -> bool:
    """Whether a wish gives an action what a part of it leaves out: 给小红和小明各加两分."""
    if whole.meaning is None or part.meaning is None:
        return False
    same = whole.meaning.action == part.meaning.action and whole.meaning.named
    return same and set(part.meaning.filled.params) < set(whole.meaning.filled.params)


def _tells(meaning: Meaning) -> bool:
    """Whether a verb or a choice says what to do, not only what with."""
    chosen = [one for one in meaning.action.params if one.type.choices]
    return meaning.named or any(one.name in meaning.filled.params for one in chosen)


def _halves(clause: Clause, around: Surroundings) -> Iterator[tuple[Clause, Clause, bool]]:
    """Each way to part a clause in two, and whether the second has no verb of its own."""
    tokens = clause.tokens
    told = next((n for n in range(len(tokens)) if is_telling(tokens, n)), len(tokens))
    places = [n for n, one in enumerate(tokens[:told]) if n and is_separator(one)]
    declared = around.declared()
    for place in places[:_MOST_CUTS]:
        first, rest = tokens[:place], _without_joints(tokens[place:])
        if not rest or not significant(first) or rest[0].has(*_REMARK):
            continue
        head = head_of(Clause(tuple(rest), clause.words), declared)
        lead = head_of(Clause(tuple(first), clause.words), declared)
        whole = Clause(tuple(first), clause.words, anew=clause.anew)
        yield whole, Clause(tuple(rest), clause.words), head is None
        if head is None and lead is not None:
            yield whole, Clause((*verb_alone(first[: lead + 1]), *rest), clause.words), True


def _without_joints(tokens: Sequence[Token]) -> Sequence[Token]:
    place = 0
    while place < len(tokens) and (is_separator(tokens[place]) or tokens[place].has("~then")):
        place += 1
    return tokens[place:]


def _told_first(clause: Clause, following: Clause) -> Clause | None:
    """The wish before what it is about: "things to do: a, b; make a list" the other way round."""
    tokens = clause.tokens
    told = next((n for n in range(len(tokens)) if is_telling(tokens, n)), None)
    if told is None or any(one.is_verb and not one.is_small for one in tokens[:told]):
        return None
    return Clause((*following.tokens, *tokens[told:]), clause.words)


def _listed_behind(clause: Clause, following: Clause, outcome: Outcome) -> Clause | None:
    """A window that is opened, with what the next sentence lists: "make a list. Milk, eggs"."""
    meaning = outcome.meaning
    if meaning is None or meaning.cls is None or not outcome.calls:
        return None
    lists = [one for one in meaning.action.params if one.type.of is not None]
    is_list = any(is_separator(one) for one in following.tokens)
    given = any(one.name in meaning.filled.params for one in lists)
    if not lists or given or not is_list or not following.anew:
        return None
    end = clause.tokens[-1].end
    colon = Token("：", end, end, Kind.MARK)
    kept = [one for one in clause.tokens if one.text not in "?？!！"]
    return Clause((*kept, colon, *following.tokens), clause.words)


def _goes_on_listing(clause: Clause, following: Clause, outcome: Outcome) -> bool:
    """Whether a window is opened with a list that the next words may belong to."""
    meaning = outcome.meaning
    told = any(is_telling(clause.tokens, place) for place in range(len(clause.tokens)))
    return told and not following.anew and meaning is not None and meaning.cls is not None


def _is_remark(clause: Clause) -> bool:
    """Whether somebody tells how things are, which is no part of the wish behind it."""
    said = significant(clause.tokens)
    finished = len(said) > 1 and said[-1].text == "了" and not any(one.is_verb for one in said)
    return finished or (len(said) > 1 and said[0].has("~person") and said[1].has("~be"))


# --- two clauses, one wish ---------------------------------------------------------------


def _names_param(clause: Clause, outcome: Outcome) -> bool:
    """Whether a clause begins with the name of a param that the one before could still take."""
    said = significant(clause.tokens)
    meaning = outcome.meaning
    if meaning is None or meaning.cls is not None or not said or said[0].is_ascii:
        return False
    free = [one for one in meaning.action.params if one.name not in meaning.filled.params]
    return any(likeness(said[0].nouns, param_words(meaning.action, one)) >= GROUP for one in free)


def _begins_with_verb(clause: Clause) -> bool:
    """Whether a clause says itself what to do, so that nothing else may swallow it."""
    first = significant(clause.tokens)[0]
    return first.is_ascii and first.is_verb and not first.is_small


def _lacking(outcome: Outcome) -> float:
    return 4.0 * len(outcome.meaning.filled.missing) if outcome.meaning else 0.0

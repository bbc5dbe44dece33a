"""Clauses that wish for nothing: remarks, thoughts, and what is not to be done."""

from itertools import pairwise

from contextui.agent.models.offline.reading.clauses import Clause, significant
from contextui.agent.models.offline.reading.token import Kind
from contextui.agent.models.offline.referring.mentions import mention_of
from contextui.agent.models.offline.referring.roles import is_negated
from contextui.agent.models.offline.shown.surroundings import Surroundings

_REMARK = ("~person", "~it", "~this", "~because", "~done_mark", "~greet", "~thank", "~be")


def wishes_nothing(clause: Clause, head: int | None, around: Surroundings) -> bool:
    """Whether a clause says that something is to stay as it is, or is only thought of.

    Args:
        clause: What was said.
        head: The place of its verb, if it has one.
        around: What it is understood in.
    """
    if head is None and (_is_denied(clause) or any(one.has("~leave") for one in clause.tokens)):
        return True
    left = _leaves_window(clause, head, around) or is_negated(clause, head)
    return left or _is_pondered(clause)


def is_remark(clause: Clause) -> bool:
    """Whether it tells something rather than wishes for it."""
    said = significant(clause.tokens)
    first = next((one for one in said if one.kind is Kind.WORD), None)
    return first is None or first.has(*_REMARK)


# --- within ------------------------------------------------------------------------------


def _leaves_window(clause: Clause, head: int | None, around: Surroundings) -> bool:
    """Whether a window is to be left as it is ("keep the notebook"), not what it shows."""
    if head is None or not clause.tokens[head].has("~leave"):
        return False
    spoken = [mention_of(clause, one, strict=False) for one in around.windows]
    places = {place for score, found in spoken if score >= 0.7 for place in found}
    words = [one for n, one in enumerate(clause.tokens) if n != head and n not in places]
    words = [one for one in words if one.kind is not Kind.MARK and not one.is_small]
    named = [clause.tokens[n].text.casefold() for n in places]
    by_name = any(one in (view.name, view.id) for one in named for view in around.windows)
    stays = any(one.has("@open", "alone") for one in clause.tokens[head + 1 :])
    others = [one for one in words if not one.has("alone")]
    return not others and ((bool(places) and stays) or by_name)


def _is_denied(clause: Clause) -> bool:
    """Whether it tells what somebody does not do: 小刚没来."""
    return any(
        one.has("~not") and not one.is_verb and after.is_verb and not after.is_ascii
        for one, after in pairwise(clause.tokens)
    )


def _is_pondered(clause: Clause) -> bool:
    """Whether somebody only thinks of doing something: "I might use the rice tomorrow"."""
    said = significant(clause.tokens)
    person = len(said) > 2 and said[0].has("~person")
    return person and said[1].text.casefold() in ("might", "may", "could", "would")

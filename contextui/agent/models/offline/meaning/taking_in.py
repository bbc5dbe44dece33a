"""Whether something is to be put on a thing that is not open yet: "add milk to my list"."""

from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Token
from contextui.agent.models.offline.referring.mentions import is_named, said_which
from contextui.agent.models.offline.shown.blocks import ClassView
from contextui.agent.models.offline.shown.surroundings import Surroundings

_PUTTING = ("@add", "@write", "@note")


def put_on(
    clause: Clause, verb: Token | None, cls: ClassView, around: Surroundings
) -> Token | None:
    """The word for what things are put on, if windows of this class are that, and take things.

    Args:
        clause: What was said.
        verb: What is to be done.
        cls: The class.
        around: What it is understood in; what another class is named by belongs to that one.
    """
    if verb is None or not verb.has(*_PUTTING) or not takes_listed(cls):
        return None
    others = [one for one in around.classes if one.name != cls.name]
    for place, token in enumerate(clause.tokens):
        said = said_which(clause.tokens, place, cls)
        if said is not None:
            words = [clause.tokens[one] for one in said]
            foreign = any(is_named(one, other) for one in words for other in others)
            return None if foreign else token
    return None


def takes_listed(cls: ClassView) -> bool:
    """Whether windows of a class can be opened with a list of things."""
    return any(one.type.of is not None and one.type.of.takes_text for one in cls.args)

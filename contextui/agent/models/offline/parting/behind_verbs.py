"""Small words behind a verb that only complete it: "queue up a song", 放上."""

from collections.abc import Sequence

from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.reading.token import Token
from contextui.agent.models.offline.referring.roles import Roles

_COMPLETING = frozenset(listed("up out down over off away"))


def completes_verb(tokens: Sequence[Token], place: int, roles: Roles) -> bool:
    """Whether the token at a place is no part of a value, but of the verb before it."""
    if not place or not roles.explains(place - 1):
        return False
    token, before = tokens[place], tokens[place - 1]
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if token.is_ascii:
        leads = after is not None and not after.has("~to", "~in", "~from", "~of", "~by")
        return token.text in _COMPLETING and place - 1 == roles.head and leads
    goes_on = after is None or after.is_verb or after.is_small  # else 中 may begin 中山路
    behind = before.is_verb or (place - 1 in roles.mentions and goes_on)
    return behind and token.has("~behind_noun", "~aspect") and len(token.text) == 1

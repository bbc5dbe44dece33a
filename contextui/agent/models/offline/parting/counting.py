"""Numbers among other words: which are values of their own, and which units go with them."""

from contextui.agent.models.offline.lexicon.cues import UNITS
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.referring.roles import Roles
from contextui.agent.models.offline.shown.blocks import Action
from contextui.agent.models.offline.shown.declared import Param
from contextui.agent.models.offline.shown.profiles import GROUP, likeness, profile_of

_DASHES = "-–—~～"


class Numbers:
    """The numbers of a clause, as an action may take them."""

    def __init__(self, clause: Clause, action: Action, roles: Roles) -> None:
        self._clause, self._action, self._roles = clause, action, roles
        self._params = [
            one for one in action.params
            if one.is_number and not one.type.choices and not one.type.is_bool
        ]  # fmt: skip

    @property
    def are_taken(self) -> bool:
        """Whether the action takes any."""
        return bool(self._params)

    def stands_alone(self, place: int, *, behind_words: bool) -> bool:
        """Whether a number is a value of its own, not a part of some text.

        Args:
            place: Where the token stands.
            behind_words: Whether something that says more than a small word stands before it.
        """
        token = self._clause.tokens[place]
        if token.number is None or (token.kind is Kind.WORD and token.has("~one")):
            return False
        if token.kind is Kind.WORD and token.number.ordinal:
            placed = any(not one.optional and one.is_place for one in self._params)
            return behind_words and placed
        if self._is_text(place, token) or self._is_set(place, token):
            return False
        needed = any(not one.optional for one in self._params)
        counts = any(self._counts(place, one) for one in self._params)
        return needed or counts or any(self._is_named_near(place, one) for one in self._params)

    def size(self, place: int) -> int:
        """How many tokens a number is, with the unit behind it."""
        after, then = self._at(place + 1), self._at(place + 2)
        if after is None:
            return 1
        if self._is_range(after, then):
            return 3
        names = [keys_of(one.name) for one in self._params]
        named = any(likeness(after.nouns, one) >= GROUP for one in names)
        if self.is_unit(after) and (named or place + 1 not in self._roles.verbs):
            return 2
        often = after.has("~article", "~by", "~every") and then is not None and then.has(*UNITS)
        return 3 if often else 1  # "once a minute"

    def is_unit(self, token: Token) -> bool:
        """Whether a word can be the unit of a number."""
        if token.kind is not Kind.WORD or token.is_small:
            return False
        names = [keys for one in self._params for keys in keys_of(one.name)]
        declared = (*profile_of(self._action).every, *names)
        return token.has(*UNITS) or likeness(token.keys, declared) >= GROUP

    def _is_text(self, place: int, token: Token) -> bool:
        """Whether a number that is spelled out is rather the text that is asked for as well."""
        texts = any(one.type.takes_text and not one.optional for one in self._action.params)
        before = self._clause.tokens[:place]
        led = bool(before) and before[-1].has("~to", "~with", "~saying")
        spelled = token.is_ascii and token.text.isalpha()
        return texts and led and spelled and any(one.number for one in before)

    def _is_set(self, place: int, token: Token) -> bool:
        """Whether a number is a part of a setting, such as ``port=8080``."""
        sign = self._clause.tokens[place - 1] if place > 1 else None
        return sign is not None and sign.text == "=" and sign.end == token.start and not any(
            self._is_named_near(place - 1, one) for one in self._params)  # fmt: skip

    def _is_range(self, after: Token, then: Token | None) -> bool:
        """Whether "10-20" is said where one number is wanted: it begins at the first."""
        leads = after.has("~to") or (after.kind is Kind.MARK and after.text in _DASHES)
        return leads and then is not None and then.number is not None and len(self._params) == 1

    def _counts(self, place: int, param: Param) -> bool:
        """Whether a number says how many of what follows ("four bulbs"), if that is asked for."""
        number, after = self._clause.tokens[place].number, self._at(place + 1)
        if number is None or number.ordinal or after is None or not param.is_amount:
            return False
        noun = after.kind is Kind.WORD and not after.is_small
        return noun and not self._roles.explains(place + 1)

    def _is_named_near(self, place: int, param: Param) -> bool:
        after, then = self._at(place + 1), self._at(place + 2)
        end = place + 2 + (after is not None and self._is_range(after, then))
        near = self._clause.tokens[max(place - 1, 0) : end]
        return any(likeness(one.keys, keys_of(param.name)) >= GROUP for one in near)

    def _at(self, place: int) -> Token | None:
        return self._clause.tokens[place] if place < len(self._clause.tokens) else None

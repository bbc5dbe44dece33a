"""What is left of a clause once the verb and the window are known: runs of words, each a value."""

import re
from dataclasses import dataclass

from contextui.agent.models.offline.blocks import Action
from contextui.agent.models.offline.clauses import ENDS, Clause, is_separator, is_telling
from contextui.agent.models.offline.declared import Param
from contextui.agent.models.offline.edges import ARTICLES, trimmed
from contextui.agent.models.offline.lexicon.cues import AMOUNTS, CUES, PATHS, POSITIONS, TIMES, UNITS
from contextui.agent.models.offline.profiles import (
    EXACT,
    GROUP,
    alike,
    likeness,
    param_words,
    profile_of,
)
from contextui.agent.models.offline.roles import Roles
from contextui.agent.models.offline.token import Kind, Token
from contextui.agent.models.offline.words import keys_of

COLON, COMMA, SENTENCE = ":", ",", "sentence"
"""What may lead to a run besides small words and the names of params."""

_NONE: frozenset[str] = frozenset()
_DIRECTIONS = ("@up", "@down", "@next", "@previous")
_SMALL_CUES = tuple(cue for cue in CUES if cue[0] == "~")


@dataclass(frozen=True, slots=True)
class Run:
    """Tokens that belong together.

    Attributes:
        tokens: The tokens, without articles and small words at the edges.
        cues: What leads to them: groups of a small word, a mark, or ``=`` and a param's name.
        words: All that the person said.
    """

    tokens: tuple[Token, ...]
    cues: frozenset[str]
    words: str

    @property
    def text(self) -> str:
        """The run as it was said; of a quotation what is in it."""
        if len(self.tokens) == 1:
            return self.tokens[0].text
        return self.words[self.tokens[0].start : self.tokens[-1].end].strip()

    @property
    def is_quote(self) -> bool:
        """Whether it is one quotation."""
        return len(self.tokens) == 1 and self.tokens[0].kind is Kind.QUOTE

    @property
    def is_remark(self) -> bool:
        """Whether it is a sentence of its own, behind the wish."""
        return not self.cues.isdisjoint((SENTENCE, "~because"))

    @property
    def weight(self) -> float:
        """How many of its words say something; a verb that is none here says less."""
        return sum(
            0.5 if one.is_verb else 1.0
            for one in self.tokens
            if one.kind is not Kind.MARK and not one.is_small and not one.has(*_DIRECTIONS)
        )

    def leads_to(self, param: Param) -> bool:
        """Whether what stands before it leads to this param."""
        return any(leads_to(cue, param) for cue in self.cues)


def leads_to(cue: str, param: Param) -> bool:
    """Whether a small word, or the param's own name, leads to this param."""
    if cue.startswith("="):
        return cue == f"={param.name}"
    if cue == "~with" and param.type.of is not None:
        return True
    if cue == COLON and not param.optional and param.type.takes_text:
        return True
    wanted = {one.removesuffix("s") for one in CUES.get(cue, "").split()}
    names = re.split(r"[_\W]+", param.name.casefold())
    return any(name.removesuffix("s") in wanted for name in names)


def is_path_param(param: Param) -> bool:
    """Whether it takes the path of a file."""
    return not PATHS.isdisjoint(re.split(r"[_\W]+", param.name.casefold()))


def is_time_param(param: Param) -> bool:
    """Whether it takes a time of day."""
    names = re.split(r"[_\W]+", param.name.casefold())
    return "time" in param.type.plain or not TIMES.isdisjoint(names)


def is_place_param(param: Param) -> bool:
    """Whether it takes a place among others."""
    return not POSITIONS.isdisjoint(re.split(r"[_\W]+", param.name.casefold()))


def runs_of(clause: Clause, action: Action, roles: Roles, taken: set[int]) -> list[Run]:
    """The runs of a clause that are to be shared among an action's params.

    Args:
        clause: What was said.
        action: The action that it may mean.
        roles: The tokens that are explained.
        taken: Tokens that gave their value already.
    """
    return _Collector(clause, action, roles, taken).runs()


class _Collector:
    """Goes through the tokens and parts them into runs."""

    def __init__(self, clause: Clause, action: Action, roles: Roles, taken: set[int]) -> None:
        self._clause, self._action, self._roles, self._taken = clause, action, roles, taken
        self._found: list[Run] = []
        self._tokens: list[Token] = []
        self._cues = _NONE
        fillable = [one for one in action.params if not one.type.is_bool and not one.type.choices]
        self._numeric = [
            one for one in fillable if one.type.takes_number and not one.type.takes_text
        ]
        self._optional = [one for one in fillable if one.optional]
        self._needs_several = sum(not one.optional for one in fillable) > 1
        self._alone_kinds = {Kind.QUOTE}
        if any(is_path_param(one) for one in fillable):
            self._alone_kinds.add(Kind.PATH)
        if any(is_time_param(one) for one in fillable):
            self._alone_kinds.add(Kind.CLOCK)

    def runs(self) -> list[Run]:
        place, tokens = 0, self._clause.tokens
        while place < len(tokens):
            if is_telling(tokens, place):
                self._close(frozenset({COLON}))
                self._tokens = list(tokens[place + 1 :])
                self._close(as_is=True)
                return self._found
            place += self._take(place, tokens[place])
        self._close()
        return self._found

    def _take(self, place: int, token: Token) -> int:
        """Take one token, or a number with its unit; how many tokens that were."""
        if token.kind is Kind.MARK and token.text in ENDS and token.text != "\n":
            self._close(frozenset({SENTENCE}))
        elif self._ends_wish(place, token):
            self._close(frozenset({SENTENCE if self._tokens else COMMA}))
        elif self._roles.explains(place) and not self._is_inner(place) and not (
            self._named_param(place, token)
        ):  # fmt: skip
            self._close(_NONE if place in self._roles.verbs or self._found else self._cues)
            self._cues = _NONE if place in self._roles.verbs else self._cues
        elif self._complements(place, token):
            pass
        elif self._leads_back(token):
            self._lead_back(token)
        elif place in self._taken:
            self._close()
        elif token.kind in self._alone_kinds:
            self._alone_or_joined(token)
        elif token.has("~it") and self._needs_several and not self._tokens:
            self._alone([token])
        elif self._parts_number(place, token):
            return self._take_number(place)
        elif self._says(place, token):
            self._close(frozenset({"~saying"}))
        elif cues := self._parting_cues(place, token):
            self._close(cues)
        elif self._leads(place, token):
            self._cues = frozenset(key for key in token.keys if key in _SMALL_CUES)
        elif named := self._named_param(place, token):
            self._close(frozenset({f"={named}"}))
            return 1 + self._only_links(place + 1)
        else:
            self._tokens.append(token)
        return 1

    def _close(self, cues: frozenset[str] = _NONE, as_is: bool = False) -> None:
        """End the run, and say what leads to the next one."""
        tokens = trimmed(self._tokens, self._action, as_is)
        if tokens:
            self._found.append(Run(tuple(tokens), self._cues, self._clause.words))
        if tokens or cues:
            self._cues = cues
        self._tokens = []

    def _complements(self, place: int, token: Token) -> bool:
        """Whether a Chinese small word only completes the verb before it (放上)."""
        behind = not self._tokens and place > 0 and place - 1 in self._roles.verbs
        return behind and token.has("~behind_noun", "~aspect") and len(token.text) == 1

    def _leads_back(self, token: Token) -> bool:
        if not token.has("~behind_noun") or token.is_verb:
            return False
        if self._tokens:
            return not self._cues.isdisjoint(("~in", "~from", "~at", "~to"))
        return bool(self._found) and self._found[-1].tokens[-1].number is not None

    def _lead_back(self, token: Token) -> None:
        """A Chinese small word stands behind what it leads to (src 里)."""
        cues = frozenset(key for key in token.keys if key in _SMALL_CUES)
        if self._tokens:
            self._cues |= cues
            self._close()
        else:
            last = self._found[-1]
            self._found[-1] = Run(last.tokens, last.cues | cues, last.words)

    def _alone(self, tokens: list[Token]) -> None:
        """A run of its own."""
        self._close(_NONE if self._tokens else self._cues)
        self._tokens = tokens
        self._close()

    def _alone_or_joined(self, token: Token) -> None:
        """A quotation; with the one before it, if the two are things of one list."""
        before = self._found[-1] if self._found else None
        listing = all(is_separator(one) for one in self._tokens) and self._tokens
        quotes = before is not None and before.tokens[-1].kind is token.kind is Kind.QUOTE
        if before is None or not (listing and quotes) or self._needs_several:
            self._alone([token])
            return
        self._found[-1] = Run((*before.tokens, *self._tokens, token), before.cues, before.words)
        self._tokens = []

    # --- where runs part ---------------------------------------------------------------

    def _ends_wish(self, place: int, token: Token) -> bool:
        """Whether a comma parts what was wished from a remark, rather than things of a list."""
        if token.kind is not Kind.MARK or token.text not in ",，":
            return False
        after = self._clause.tokens[place + 1 : place + 2]
        alone = all(one.has("~it", "~this") for one in self._tokens)
        remark = ("~because", "~it", "~this", "~person", "~done_mark")
        return alone or any(one.has(*remark) for one in after)

    def _is_inner(self, place: int) -> bool:
        """Whether a word that could name the action is rather a part of what was said."""
        if place == self._roles.head or place in self._roles.mentions or not self._tokens:
            return False
        after = self._clause.tokens[place + 1 : place + 2]
        is_edge = not after or after[0].kind is not Kind.WORD or after[0].is_small
        return not (is_edge or self._roles.explains(place + 1))

    def _leads(self, place: int, token: Token) -> bool:
        """Whether a small word stands at the head of a run."""
        if self._tokens or not token.has(*_SMALL_CUES) or token.is_verb:
            return False
        if token.has("~behind_noun"):
            return False
        if token.has("~it", "~this"):  # "that" leads to a sentence, or stands for something
            after = self._clause.tokens[place + 1 : place + 2]
            return token.has("~saying") and bool(after) and after[0].kind is Kind.WORD
        return True

    def _says(self, place: int, token: Token) -> bool:
        """Whether a verb only leads to a quotation ("make it read “…”")."""
        after = next(iter(self._clause.tokens[place + 1 : place + 2]), None)
        quoted = after is not None and after.kind is Kind.QUOTE
        return quoted and bool(self._tokens) and token.has("@read", "~saying")

    def _parting_cues(self, place: int, token: Token) -> frozenset[str]:
        """The cues that a small word is here, if another value begins behind it."""
        if not self._tokens and not self._found:
            return _NONE
        if token.kind is Kind.MARK:
            is_dash = token.text in "-–—~～" and self._numeric and not self._tokens
            return frozenset({"~to"}) if is_dash else _NONE
        cues = frozenset(key for key in token.keys if key in _SMALL_CUES)
        if not cues or (token.is_verb and not token.has("~saying", "~called", "~tagged")):
            return _NONE
        if token.has("~this") and self._tokens:  # "that" within a sentence
            return _NONE
        behind_verb = place > 0 and self._roles.explains(place - 1)
        if any(leads_to(cue, one) for cue in cues for one in self._optional):
            return cues
        chinese = not token.text.isascii() and len(token.text) == 1
        within_word = chinese and not behind_verb and not token.has("~object", "~for", "~to")
        parts = self._needs_several and not token.has("~of", "~be") and not within_word
        return cues if parts else _NONE

    def _named_param(self, place: int, token: Token) -> str:
        """The param whose own name leads to the words behind it ("players Anna and Ben")."""
        after = next(iter(self._clause.tokens[place + 1 : place + 2]), None)
        starts = not self._tokens or is_separator(self._tokens[-1]) or (
            all(one.has(*ARTICLES) for one in self._tokens))  # fmt: skip
        if token.kind is not Kind.WORD or after is None or not starts or place == self._roles.head:
            return ""
        links = self._only_links(place + 1) or after.kind in (Kind.QUOTE, Kind.NUMBER)
        if after.kind is Kind.MARK or (after.is_small and not links):
            return ""
        for param in self._action.params:
            words = param_words(self._action, param)
            named = max((alike(token.nouns, keys) for keys in words), default=0.0)
            whole = len(keys_of(param.name)) == 1 or len(words) > len(keys_of(param.name))
            if whole and (named == EXACT or (named >= GROUP and links)):
                return param.name
        return ""

    def _only_links(self, place: int) -> bool:
        """Whether a word only stands between a param's name and its value ("备注写…")."""
        token = next(iter(self._clause.tokens[place : place + 1]), None)
        later = place + 1 < len(self._clause.tokens)
        links = token is not None and later and (
            token.has("~called", "~be", "~saying")
            or (not token.is_ascii and token.has("@write", "@set", "~to", "@fill"))
        )  # fmt: skip
        return (bool(links) and place != self._roles.head) or (bool(links) and not token.is_ascii)  # type: ignore[union-attr]

    # --- numbers -----------------------------------------------------------------------

    def _parts_number(self, place: int, token: Token) -> bool:
        """Whether a number is a value of its own, not a part of some text."""
        if token.number is None or (token.kind is Kind.WORD and token.has("~one")):
            return False
        if token.kind is Kind.WORD and token.number.ordinal:
            said = self._found or any(not one.is_small for one in self._tokens)
            placed = any(not one.optional and is_place_param(one) for one in self._numeric)
            return bool(said) and placed
        needed = any(not one.optional for one in self._numeric)
        counts = any(self._counts(place, one) for one in self._numeric)
        return needed or counts or any(self._is_named_near(place, one) for one in self._numeric)

    def _counts(self, place: int, param: Param) -> bool:
        """Whether a number says how many of what follows ("four bulbs"), if that is asked for."""
        names = re.split(r"[_\W]+", param.name.casefold())
        after = next(iter(self._clause.tokens[place + 1 : place + 2]), None)
        token = self._clause.tokens[place]
        is_amount = token.number is not None and not token.number.ordinal
        follows = after is not None and after.kind is Kind.WORD and not after.is_small
        follows = follows and not self._roles.explains(place + 1)
        return is_amount and follows and not AMOUNTS.isdisjoint(names)

    def _is_named_near(self, place: int, param: Param) -> bool:
        near = self._clause.tokens[max(place - 1, 0) : place + 2]
        return any(likeness(one.keys, keys_of(param.name)) >= GROUP for one in near)

    def _take_number(self, place: int) -> int:
        """A number with the unit behind it, or the noun before it."""
        tokens = self._clause.tokens
        before = [self._tokens.pop()] if self._tokens and self._is_unit(self._tokens[-1]) else []
        size = 2 if place + 1 < len(tokens) and self._is_unit(tokens[place + 1]) else 1
        if place + 1 in self._roles.verbs:
            size = 1
        after = tokens[place + 1 : place + 3]
        if len(after) == 2 and after[0].has("~article", "~by", "~every") and after[1].has(*UNITS):
            size = 3  # "once a minute"
        self._alone([*before, *tokens[place : place + size]])
        return size

    def _is_unit(self, token: Token) -> bool:
        if token.kind is not Kind.WORD or token.is_small:
            return False
        names = [keys for one in self._numeric for keys in keys_of(one.name)]
        declared = (*profile_of(self._action).every, *names)
        return token.has(*UNITS) or likeness(token.keys, declared) >= GROUP

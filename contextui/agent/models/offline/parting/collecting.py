"""Parting a clause into runs: where one value ends and the next begins."""

from contextui.agent.models.offline.lexicon.cues import CUES
from contextui.agent.models.offline.parting.behind_verbs import completes_verb
from contextui.agent.models.offline.parting.counting import Numbers
from contextui.agent.models.offline.parting.edges import ARTICLES, is_title, leads_to_name, trimmed
from contextui.agent.models.offline.parting.runs import COLON, COMMA, SENTENCE, Run, leads_to
from contextui.agent.models.offline.reading.clauses import ENDS, Clause, is_separator, is_telling
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.referring.roles import Roles
from contextui.agent.models.offline.shown.blocks import Action
from contextui.agent.models.offline.shown.profiles import (
    EXACT,
    GROUP,
    alike,
    param_words,
)

_SENTENCE = 3  # tokens: what is longer behind "that" is a sentence
_NONE: frozenset[str] = frozenset()
_BESIDE = frozenset(("~before", "~after"))
_SMALL_CUES = tuple(cue for cue in CUES if cue[0] == "~")
_REMARKS = ("~because", "~it", "~this", "~person", "~done_mark")  # what a remark begins with


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
        self._numbers = Numbers(clause, action, roles)
        self._optional = [one for one in fillable if one.optional]
        self._texts = sum(one.type.takes_text and not one.optional for one in fillable)
        self._needs_several = sum(not one.optional for one in fillable) > 1
        self._alone_kinds = {Kind.QUOTE}
        if any(one.is_path for one in fillable):
            self._alone_kinds.add(Kind.PATH)
        if any(one.is_time for one in fillable):
            self._alone_kinds.add(Kind.CLOCK)

    def runs(self) -> list[Run]:
        place, tokens = 0, self._clause.tokens
        while place < len(tokens):
            if is_telling(tokens, place):
                self._close(frozenset({COLON}))
                stop = self._told_until(place + 1)
                self._tokens = list(tokens[place + 1 : stop])
                self._close(as_is=True)
                place = stop
                continue
            place += self._take(place, tokens[place])
        self._close()
        return self._found

    def _told_until(self, start: int) -> int:
        """Where what is told ends: at a comma behind which another param is named (标签是家)."""
        tokens = self._clause.tokens
        for place in range(start, len(tokens) - 2):
            if tokens[place].text not in (",", "，"):
                continue
            tagged = tokens[place + 1].has("~tagged")
            if tagged and any(leads_to("~tagged", one) for one in self._optional):
                return place
            if self._only_links(place + 2):
                self._tokens = []
                named = self._named_param(place + 1, tokens[place + 1])
                optional = any(one.name == named for one in self._optional)
                if named and optional:
                    return place
        return len(tokens)

    def _take(self, place: int, token: Token) -> int:
        """Take one token, or a number with its unit; how many tokens that were."""
        if token.kind is Kind.MARK and token.text in ENDS and token.text != "\n":
            self._close(frozenset({SENTENCE}))
        elif self._ends_wish(place, token):
            self._close(frozenset({SENTENCE if self._tokens else COMMA}))
        elif self._parts_values(place, token):
            self._close(frozenset({COMMA}))
        elif self._is_explained(place, token):
            self._close(self._cues if not self._found else _NONE)
            self._cues &= _BESIDE if place in self._roles.verbs else self._cues
        elif not self._tokens and completes_verb(self._clause.tokens, place, self._roles):
            pass
        elif self._leads_back(token):
            self._lead_back(token)
        elif place in self._taken:
            self._close()
        elif token.kind is Kind.QUOTE and self._is_listed(place):
            self._tokens.append(token)
        elif token.kind in self._alone_kinds:
            self._alone_or_joined(token)
        elif token.has("~it") and self._needs_several and not self._tokens:
            self._alone([token])
        elif token.number and self._numbers.stands_alone(place, behind_words=self._has_words()):
            return self._take_number(place)
        elif self._says(place, token):
            self._close(frozenset({"~saying"}))
        elif cues := self._parting_cues(place, token):
            self._close(cues)
        elif self._leads(place, token):
            self._cues = frozenset(key for key in token.keys if key in _SMALL_CUES)
        elif named := self._named_param(place, token):
            beside = self._cues & _BESIDE if not self._tokens else _NONE
            self._close(beside | {f"={named}"})
            return 1 + self._only_links(place + 1)
        else:
            self._tokens.append(token)
        return 1

    def _close(self, cues: frozenset[str] = _NONE, as_is: bool = False) -> None:
        """End the run, and say what leads to the next one."""
        sentence = "~saying" in self._cues and len(self._tokens) > _SENTENCE
        tokens = trimmed(self._tokens, self._action, as_is, sentence)
        if tokens:
            self._found.append(Run(tuple(tokens), self._cues, self._clause.words))
        if tokens or cues:
            self._cues = cues
        self._tokens = []

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
        one_text = not self._needs_several or any(p.type.of for p in self._action.params)
        if before is None or not (listing and quotes) or not one_text:
            self._alone([token])
            return
        self._found[-1] = Run((*before.tokens, *self._tokens, token), before.cues, before.words)
        self._tokens = []

    def _is_listed(self, place: int) -> bool:
        """Whether a quotation is one of several things, quoted or not, for one list of them."""
        if self._needs_several or not any(one.type.of for one in self._action.params):
            return False
        after = self._at(place + 1)
        leads = after is not None and is_separator(after) and self._at(place + 2) is not None
        return leads or bool(self._tokens and is_separator(self._tokens[-1]))

    def _take_number(self, place: int) -> int:
        """A number with the unit behind it, or the noun before it."""
        unit = bool(self._tokens) and self._numbers.is_unit(self._tokens[-1])
        before = [self._tokens.pop()] if unit else []
        size = self._numbers.size(place)
        self._alone([*before, *self._clause.tokens[place : place + size]])
        return size

    def _has_words(self) -> bool:
        return bool(self._found) or any(not one.is_small for one in self._tokens)

    # --- where runs part ---------------------------------------------------------------

    def _ends_wish(self, place: int, token: Token) -> bool:
        """Whether a comma parts what was wished from a remark, rather than things of a list."""
        if token.kind is not Kind.MARK or token.text not in ",，":
            return False
        after = self._at(place + 1)
        alone = all(one.has("~it", "~this") for one in self._tokens)
        return alone or (after is not None and after.has(*_REMARKS))

    def _parts_values(self, place: int, token: Token) -> bool:
        """Whether a comma stands between the values of two params: "to Mia, 12 Harbour Street"."""
        comma = token.kind is Kind.MARK and token.text in ",，"
        if not comma or self._texts < 2 or not self._tokens:
            return False
        return not any(one.is_verb for one in self._clause.tokens[place:])

    def _is_explained(self, place: int, token: Token) -> bool:
        """Whether a token names the action or the window, and is no part of a value."""
        if not self._roles.explains(place) or self._is_inner(place):
            return False
        return not self._named_param(place, token)

    def _is_inner(self, place: int) -> bool:
        """Whether a word that could name the action is rather a part of what was said."""
        if place == self._roles.head or place in self._roles.mentions or not self._tokens:
            return False
        if is_title(self._tokens[-1]) and is_title(self._clause.tokens[place]):
            return True  # a name, such as Harbour Street
        after = self._at(place + 1)
        is_edge = after is None or after.kind is not Kind.WORD or after.is_small
        return not (is_edge or self._roles.explains(place + 1))

    def _leads(self, place: int, token: Token) -> bool:
        """Whether a small word stands at the head of a run."""
        if (
            self._tokens
            or not token.has(*_SMALL_CUES)
            or (
                token.is_verb
                and (token.is_ascii or place >= (self._roles.head or 0))
                and (place == self._roles.head or not leads_to_name(token))
            )
            or token.has("~behind_noun")
        ):
            return False
        if token.has("~it", "~this"):  # "that" leads to a sentence, or stands for something
            after = self._at(place + 1)
            sentence = after is not None and after.kind is Kind.WORD and not after.has(*_SMALL_CUES)
            return token.has("~saying") and sentence
        return True

    def _says(self, place: int, token: Token) -> bool:
        """Whether a verb only leads to a quotation ("make it read “…”")."""
        after = self._at(place + 1)
        quoted = after is not None and after.kind is Kind.QUOTE
        return quoted and bool(self._tokens) and token.has("@read", "~saying")

    def _parting_cues(self, place: int, token: Token) -> frozenset[str]:
        """The cues that a small word is here, if another value begins behind it."""
        if not self._tokens and not self._found:
            return _NONE
        if token.kind is Kind.MARK:
            is_dash = token.text in "-–—~～" and self._numbers.are_taken and not self._tokens
            return frozenset({"~to"}) if is_dash else _NONE
        cues = frozenset(key for key in token.keys if key in _SMALL_CUES)
        if not cues or (token.is_verb and not token.has("~saying", "~called", "~tagged")):
            return _NONE
        if token.has("~this") and self._tokens:  # "that" within a sentence
            return _NONE
        behind_verb = place > 0 and self._roles.explains(place - 1)
        behind_verb = behind_verb and self._clause.tokens[place - 1].is_verb
        if any(leads_to(cue, one) for cue in cues for one in self._optional):
            return cues
        chinese = not token.text.isascii() and len(token.text) == 1
        within_word = chinese and not behind_verb and not token.has("~object", "~for", "~to")
        parts = self._needs_several and not token.has("~of", "~be") and not within_word
        return cues if parts else _NONE

    def _named_param(self, place: int, token: Token) -> str:
        """The param whose own name leads to the words behind it ("players Anna and Ben")."""
        after = self._at(place + 1)
        starts = not self._tokens or is_separator(self._tokens[-1]) or (
            all(one.has(*ARTICLES) for one in self._tokens))  # fmt: skip
        if token.kind is not Kind.WORD or after is None or not starts or place == self._roles.head:
            return ""
        places = token.has("~last", "~first") or (token.number and token.number.ordinal)
        if places and after.number is None:  # "the last line" is a place
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
        token = self._at(place)
        if token is None or self._at(place + 1) is None:
            return False
        if token.is_ascii:
            return token.has("~called", "~be", "~saying") and place != self._roles.head
        return token.has("~called", "~be", "~saying", "@write", "@set", "~to", "@fill")

    def _at(self, place: int) -> Token | None:
        """The token at a place, None behind the end."""
        return self._clause.tokens[place] if place < len(self._clause.tokens) else None

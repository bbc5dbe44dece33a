"""A person's words in clauses: one wish, question or remark each."""

from collections.abc import Sequence
from dataclasses import dataclass

from contextui.agent.models.offline.reading.token import Kind, Token

ENDS = frozenset(".!?。！？;；\n…")
COMMAS = frozenset(",，、")
COLONS = frozenset(":：")
ASKING = ("~what", "~howmany", "~how", "~is_there", "~who", "~when", "~why", "~able", "~identity")
"""Groups of words that a question begins with."""

_ASKING_ANYWHERE = ("~what", "~howmany", "~who", "~able", "~identity")
LEADING = ("~object", "~in", "~from", "~for", "~by", "~to", "~at", "~except")
"""Groups of small words that say where, or what about."""

_SKIPPED = ("~polite", "~adverb", "~greet", "~thank", "~then", "~interjection")


@dataclass(frozen=True, slots=True)
class Clause:
    """One wish, question or remark.

    Attributes:
        tokens: Its tokens, without what joined it to the clause before.
        words: All that the person said; tokens say where in it they stand.
        joint: Where the second of two clauses begins that were joined, 0 if none were.
        anew: Whether a sentence, or a "then", parts it from the clause before.
    """

    tokens: tuple[Token, ...]
    words: str
    joint: int = 0
    anew: bool = False

    @property
    def text(self) -> str:
        """The clause as it was said."""
        start = min((one.start for one in self.tokens), default=0)
        return self.words[start : max((one.end for one in self.tokens), default=0)]

    @property
    def is_question(self) -> bool:
        """Whether it asks something rather than for something."""
        said = significant(self.tokens)
        if not said:
            return False
        if said[0].has(*ASKING) and not said[0].is_verb:
            return True
        first = next((n for n, one in enumerate(said) if one.has(*_ASKING_ANYWHERE)), len(said))
        if any(not one.is_ascii for one in said):
            words = [one for one in said if one.kind is Kind.WORD]
            polite = any(
                one.has("~polite") and not one.has("~is_there") for one in self.tokens[:-2]
            )
            if words and not polite and (
                words[-1].text in ("吗", "没有", "没", "呢") or words[-1].has("~howmany")
            ):  # fmt: skip
                return True
            marked = self.tokens[-1].text in "?？" and not polite
            if marked and first < len(said):
                return True
            asks = first < len(said) or said[-1].has("~is_there") or self.tokens[-1].text in "?？"
            return asks and all(_only_looks(one) for one in said[:first])
        marked = any(one.text == "?" for one in self.tokens[-2:])
        polite = any(one.has("~polite") for one in self.tokens[:4]) or _asks_for(self.tokens)
        return marked and not polite and not said[0].is_verb

    def with_more(self, other: "Clause") -> "Clause":
        """The clause with the words of another one behind it."""
        start = self.tokens[-1].end
        comma = Token(",", start, start, Kind.MARK)
        tokens = (*self.tokens, comma, *other.tokens)
        return Clause(tokens, self.words, self.joint or len(self.tokens) + 1)


def parts_of(tokens: Sequence[Token]) -> list[list[Token]]:
    """What is listed: the tokens between commas and "and"."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if is_separator(token):
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def is_separator(token: Token) -> bool:
    """Whether it stands between the things of a list."""
    if token.kind is Kind.MARK:
        return token.text in COMMAS or token.text in ";；\n•"
    return token.has("~and") and not token.is_verb


def significant(tokens: Sequence[Token]) -> Sequence[Token]:
    """From the first token on that is more than politeness."""
    for place, token in enumerate(tokens):
        is_small = token.has(*_SKIPPED) and not _is_plain_verb(token)
        interjects = token.has("~interjection") and any(one.is_verb for one in tokens[place + 1 :])
        if token.kind is not Kind.MARK and not is_small and not interjects:
            return tokens[place:]
    return ()


# --- within ------------------------------------------------------------------------------


def _is_plain_verb(token: Token) -> bool:
    """Whether it is a verb and nothing smaller."""
    return token.is_verb and not token.has("~polite", "~interjection", "~in", "~with", "~by")


def _asks_for(tokens: Sequence[Token]) -> bool:
    """Whether "could you", wherever it stands, leads to what is to be done."""
    at = next((n for n, one in enumerate(tokens) if one.has("~polite") and "you" in one.text), None)
    return at is not None and any(one.is_verb for one in tokens[at + 1 : at + 4])


def _only_looks(token: Token) -> bool:
    """Whether a verb before a question is none that acts: 看看有什么, 开着哪些."""
    return not _is_plain_verb(token) or token.has("@show", "@read", "~able") or token.text == "开"


def is_telling(tokens: Sequence[Token], place: int) -> bool:
    """Whether a colon leads to what is told, rather than being a part of it (``port: 80``)."""
    token, before = tokens[place], tokens[place - 1] if place else None
    if token.kind is not Kind.MARK or token.text not in COLONS or before is None:
        return False
    known = any(key[0] in "@#~" for key in before.keys) or before.kind is not Kind.WORD
    return token.text == "：" or known

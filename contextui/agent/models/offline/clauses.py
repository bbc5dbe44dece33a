"""A person's words in clauses: one wish, question or remark each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.lexicon.particles import PAST
from contextui.agent.models.offline.lexicon.stems import stem
from contextui.agent.models.offline.lexicon.tables import lexicon
from contextui.agent.models.offline.lexicon.verbs import CORE
from contextui.agent.models.offline.words import Kind, Token, tokens_of

ENDS = frozenset(".!?。！？;；\n…")
COMMAS = frozenset(",，、")
COLONS = frozenset(":：")
_ALONE = frozenset(
    f"@{name}"
    for name in listed(
        "save undo redo close refresh pause resume stop start clear reset next previous"
    )
)  # verbs that need nothing behind them
_SUBJECTS = frozenset(("i", "we", "i've", "we've", "already"))
_CORE = frozenset(f"@{name}" for name in CORE)
_ASKING = ("~what", "~howmany", "~how", "~is_there", "~who", "~when", "~why", "~able", "~identity")
_BEFORE_OBJECT = ("~object", "~in", "~from", "~for", "~by")

Knows = Callable[[Token], bool]
"""Whether a token is a verb that an open window declares."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One wish, question or remark.

    Attributes:
        tokens: Its tokens, without what joined it to the clause before.
        words: All that the person said; tokens say where in it they stand.
    """

    tokens: tuple[Token, ...]
    words: str

    @property
    def text(self) -> str:
        """The clause as it was said."""
        return self.words[self.tokens[0].start : self.tokens[-1].end] if self.tokens else ""

    @property
    def is_question(self) -> bool:
        """Whether it asks something rather than for something."""
        said = _significant(self.tokens)
        if not said:
            return False
        asks_first = said[0].has(*_ASKING) and not said[0].is_verb
        chinese = any(one.has("~what", "~howmany", "~who", "~able", "~identity") for one in said)
        return asks_first or (chinese and not said[0].text.isascii()) or _ends_asking(self.tokens)


def clauses_of(words: str, knows: Knows) -> list[Clause]:
    """The clauses of what was said, in order."""
    tokens = tokens_of(words)
    found, start, telling = list[Clause](), 0, False
    for place, token in enumerate(tokens):
        telling = (telling or token.text in COLONS) and not _ends_telling(tokens, place)
        if place < start or not _is_joint(token):
            continue
        after = _skip_joints(tokens, place)
        closed = token.text in ENDS and token.text != "\n"
        if (closed or not telling) and begins_wish(tokens[after:], knows):
            found.append(_clause(tokens[start:place], words))
            start, telling = after, False
    found.append(_clause(tokens[start:], words))
    return [clause for clause in found if any(one.kind is not Kind.MARK for one in clause.tokens)]


def begins_wish(tokens: Sequence[Token], knows: Knows) -> bool:
    """Whether a wish or a question begins here, rather than more of what was said before."""
    said = _significant(tokens[:60])
    if not said or said[0].kind is not Kind.WORD:
        return False
    first = said[0]
    if first.is_verb and (first.has(*_CORE) or knows(first)):
        return first.has(*_ALONE) or (len(said) > 1 and not _is_joint(said[1]))
    if first.has(*_ASKING):
        return True
    if first.has(*_BEFORE_OBJECT) and not first.text.isascii():
        return any(one.is_verb and (one.has(*_CORE) or knows(one)) for one in _until_joint(said))
    return not first.text.isascii() and any(
        one.has("@mark", "@done", "@undone") for one in _until_joint(said)[1:]
    )


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


# --- within ------------------------------------------------------------------------------


def _ends_telling(tokens: Sequence[Token], place: int) -> bool:
    """Whether what a colon began is over: at a full stop, or a line that is no more of a list."""
    if tokens[place].text == "\n":
        after = tokens[place + 1] if place + 1 < len(tokens) else tokens[place]
        return after.text not in "-*•+" and after.kind is not Kind.NUMBER
    return tokens[place].text in ".。"


def _clause(tokens: Sequence[Token], words: str) -> Clause:
    return Clause(tuple(_marked_done(_joined(tokens))), words)


def _joined(tokens: Sequence[Token]) -> list[Token]:
    """Verbs whose small word stands apart from them ("turn the light on") as one verb."""
    result, parted = list(tokens), lexicon().parted
    for place, token in enumerate(result):
        if token.kind is not Kind.WORD or not token.text.isascii():
            continue
        for later in range(place + 2, min(place + 9, len(result))):
            other = result[later]
            groups = next(
                (parted[pair] for root in token.keys for small in other.keys
                 if (pair := (root, small)) in parted), None,
            )  # fmt: skip
            ends = _is_last(result, later)
            if groups and (ends or other.has("off", "out", "away", "down")):
                result[place] = _with_keys(token, groups)
                if ends:
                    result[later] = _with_keys(other, frozenset({"~adverb"}), alone=True)
                break
    return result


def _is_last(tokens: Sequence[Token], place: int) -> bool:
    """Whether a small word ends its phrase: nothing behind it that it could lead to."""
    after = next((one for one in tokens[place + 1 :]), None)
    return (
        after is None
        or after.kind is Kind.MARK
        or after.has(
            "~adverb", "~polite", "~and", "~then", "~in", "~from", "~for", "~to", "~by", "~with"
        )
    )


def _marked_done(tokens: list[Token]) -> list[Token]:
    """ "I bought the milk" says that something is done."""
    for place, token in enumerate(tokens):
        before = tokens[max(place - 3, 0) : place]
        subject = any(one.text.casefold() in _SUBJECTS or one.has("~done_mark") for one in before)
        word = token.text.casefold()
        if subject and token.kind is Kind.WORD and _is_past(word):
            return [*tokens[:place], _with_keys(token, frozenset({"@done"})), *tokens[place + 1 :]]
    return tokens


def _is_past(word: str) -> bool:
    return word in PAST or (word.endswith("ed") and stem(word) != word)


def _with_keys(token: Token, keys: frozenset[str], alone: bool = False) -> Token:
    kept = keys if alone else frozenset(k for k in token.keys if k[0] != "@") | keys
    return Token(token.text, token.start, token.end, token.kind, kept, None, token.note)


def _is_joint(token: Token) -> bool:
    if token.kind is Kind.MARK:
        return token.text in ENDS or token.text in COMMAS or token.text in COLONS
    return token.has("~then") or (token.has("~and") and not token.is_verb)


def _skip_joints(tokens: Sequence[Token], place: int) -> int:
    while place < len(tokens) and _is_joint(tokens[place]) and not (
        tokens[place].is_verb and place and not tokens[place].has("~adverb")
    ):  # fmt: skip
        place += 1
    return place


def _until_joint(tokens: Sequence[Token]) -> Sequence[Token]:
    stop = next((n for n, one in enumerate(tokens) if _is_joint(one)), len(tokens))
    return tokens[:stop]


def _significant(tokens: Sequence[Token]) -> Sequence[Token]:
    """From the first token on that is more than politeness."""
    for place, token in enumerate(tokens):
        small = token.has("~polite", "~adverb", "~greet", "~thank", "~then")
        if token.kind is not Kind.MARK and not (small and not token.is_verb):
            return tokens[place:]
    return ()


def _ends_asking(tokens: Sequence[Token]) -> bool:
    ends = [one for one in tokens if one.kind is not Kind.MARK]
    marked = any(one.text in "?？" for one in tokens[-2:])
    polite = any(one.has("~polite") for one in tokens[:4])
    asks = bool(ends) and ends[-1].has("~is_there", "~what", "~howmany", "~how")
    return (asks and not ends[-1].text.isascii() and not polite) or (
        marked and not polite and not any(one.is_verb for one in ends[:1])
    )

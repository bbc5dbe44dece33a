"""Verbs that stand apart from their small word, are denied, or are only said to be polite."""

from collections.abc import Sequence
from dataclasses import replace

from contextui.agent.models.offline.lexicon.tables import lexicon
from contextui.agent.models.offline.reading.clauses import COLONS
from contextui.agent.models.offline.reading.token import Kind, Token

_FAR = 9  # tokens between a verb and its small word
_ENDS_PHRASE = (
    "~adverb",
    "~polite",
    "~and",
    "~then",
    "~in",
    "~from",
    "~for",
    "~to",
    "~by",
    "~with",
)
_HIDDEN = frozenset({"@hide", "不显示"})
_SOFT = frozenset(("看看", "看一下", "看下", "瞧瞧", "试试", "看一看"))


def joined(tokens: Sequence[Token]) -> list[Token]:
    """Verbs whose small word stands apart from them ("turn the light on") as one verb."""
    result, parted = list(tokens), lexicon().parted
    for place, token in enumerate(result):
        if token.kind is not Kind.WORD or not token.text.isascii():
            continue
        for later in range(place + 2, min(place + _FAR, len(result))):
            other = result[later]
            groups = next(
                (parted[pair] for root in token.keys for small in other.keys
                 if (pair := (root, small)) in parted), None,
            )  # fmt: skip
            ends = _ends_phrase(result, later)
            if groups and (ends or other.has("off", "out", "away", "down")):
                result[place] = with_keys(token, groups | (token.keys & {"@set"}))
                if ends:
                    small = frozenset({"~adverb"})
                    result[later] = Token(other.text, other.start, other.end, other.kind, small)
                break
    return result


def wanted(tokens: list[Token]) -> list[Token]:
    """Take "I want eggs on the list", and "eggs should be on it", for the wish to add them."""
    led = [n for n in range(1, len(tokens) - 1) if tokens[n].has("~in", "~to")
           and tokens[n + 1].has("~article", "~possessive", "~it", "~this")]  # fmt: skip
    found = list(tokens)
    for place, token in enumerate(tokens[:-2]):
        after = tokens[place + 1]
        told = any(one.text in COLONS for one in tokens[place + 1 : place + 3])
        if token.has("@want") and (told or any(place + 1 < n for n in led)):
            found[place] = replace(token, keys=token.keys | {"@add"})
        elif token.has("~aux") and after.text == "be" and place + 2 in led and place:
            found[place] = replace(token, keys=frozenset({"@add"}))
            return [*found[: place + 1], *found[place + 2 :]]
    return found


def active(tokens: list[Token]) -> list[Token]:
    """Leave "be" out before what is to be done: "could eggs be added"."""
    done = [one.is_verb and one.text.endswith("ed") for one in tokens]
    return [one for n, one in enumerate(tokens) if one.text != "be" or not any(done[n + 1 : n + 2])]


def switched(tokens: list[Token]) -> list[Token]:
    """Take "on" and "off" for verbs where they end what is said without one ("bedroom off")."""
    if any(one.is_verb and one.is_ascii and not one.has("#light") for one in tokens):
        return tokens
    found = list(tokens)
    for place, token in enumerate(tokens):
        word = token.text.casefold()
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        ends = after is None or after.kind is Kind.MARK or after.has("~and", "~polite")
        if word in ("on", "off") and place and ends:
            found[place] = with_keys(token, frozenset({f"@{word}"}))
    return found


def ended(tokens: list[Token]) -> list[Token]:
    """Take 别…了 for what it says: to stop doing something."""
    if not tokens or not any(one.text.endswith("了") for one in tokens[-2:]):
        return tokens
    stop = frozenset({"@stop", "@pause"})
    return [
        Token(one.text, one.start, one.end, one.kind, frozenset({one.text}) | stop)
        if one.has("~not") and not one.is_ascii and tokens[place + 1 : place + 2]
        and tokens[place + 1].is_verb else one
        for place, one in enumerate(tokens)
    ]  # fmt: skip


def softened(tokens: list[Token]) -> list[Token]:
    """Take 看看 behind another verb for what it is: a way to ask gently (打开看看)."""
    last = next((n for n in range(len(tokens) - 1, 0, -1) if not tokens[n].is_small
                 and tokens[n].kind is not Kind.MARK), 0)  # fmt: skip
    acts = any(one.is_verb and not one.is_small for one in tokens[:last])
    if not acts or tokens[last].text not in _SOFT:
        return tokens
    one = tokens[last]
    soft = Token(one.text, one.start, one.end, one.kind, frozenset({"~polite"}))
    return [*tokens[:last], soft, *tokens[last + 1 :]]


def without_denied(tokens: list[Token]) -> list[Token]:
    """Take from a Chinese verb what is denied of it: 不用买了 does not say that it was bought."""
    found = list[Token]()
    for one in tokens:
        before = found[-1] if found and one.is_verb and found[-1].has("~no_need") else None
        if before is None:
            found.append(one)
        elif one.has("@show"):
            found[-1] = Token(before.text + one.text, before.start, one.end, one.kind, _HIDDEN)
        else:
            found.append(Token(one.text, one.start, one.end, one.kind, frozenset({"~aspect"})))
    return found


def without_interjection(tokens: list[Token]) -> list[Token]:
    """Leave out what is only said before a wish: "oh, …", 对了，……."""
    while len(tokens) > 2 and tokens[0].has("~interjection", "~greet") and (
        tokens[1].text in (",", "，") and not tokens[0].has("~correction", "~no", "~not")
    ):  # fmt: skip
        tokens = tokens[2:]
    return tokens


def with_keys(token: Token, keys: frozenset[str]) -> Token:
    """A token with these groups of verbs instead of its own."""
    kept = frozenset(key for key in token.keys if key[0] != "@") | keys
    return Token(token.text, token.start, token.end, token.kind, kept, None, token.note)


def _ends_phrase(tokens: Sequence[Token], place: int) -> bool:
    """Whether a small word ends its phrase: nothing behind it that it could lead to."""
    after = next(iter(tokens[place + 1 :]), None)
    return after is None or after.kind is Kind.MARK or after.has(*_ENDS_PHRASE)

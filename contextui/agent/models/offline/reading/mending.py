"""What a person puts right while they speak: "add milk, no, eggs" means eggs."""

import re
from collections.abc import Sequence
from itertools import takewhile

from contextui.agent.models.offline.reading.clauses import COMMAS, ENDS, is_separator, is_telling
from contextui.agent.models.offline.reading.token import Kind, Token

_NO = frozenset(("no", "nope", "不", "不对", "哦不", "啊不", "不不", "oh no", "不是"))
_LEADING = ("~interjection", "~polite", "~adverb", "~correction", "~be")
_PLACING = ("~to", "~in", "~at", "~from", "~for", "~by", "~on")
_DENYING = ("not", "不是", "而不是")
_WEAK = frozenset(("rather", "不是", "算了"))  # "not soy milk" puts nothing right by itself
_LONGEST = 6  # tokens of what is said instead
_ANNOUNCING = re.compile(
    r"\s+(?:with|of|containing|including)\s+(?:the\s+following|these|\d{1,3})"
    r"(?:\s+(?:items?|things?|tasks?|points?|entries))?\s*(?=:)"
    r"|[，,]?(?:包括|包含|里面有)?以下(?:内容|几项|事项|项目|东西)?(?=[：:])",
    re.IGNORECASE,
)


def unannounced(words: str) -> str:
    """The words without what only says that a list follows: "with the following items:"."""
    return _ANNOUNCING.sub("", words)


def mended(words: str, tokens: Sequence[Token]) -> str:
    """The words without what was said by mistake, and without "no" or "I mean" behind it."""
    kept, cut, place = list[str](), 0, 0
    said = list[Token]()
    while place < len(tokens) and not _is_told(tokens, place):
        at = _instead_at(tokens, place) if said and _is_comma(tokens[place]) else None
        start = _replaced_from(said, _value_at(tokens, at)) if at is not None else None
        if at is not None and start is not None:
            kept.append(words[cut : said[start].start])
            cut, place = tokens[at].start, at
            del said[start:]
        elif said and (end := _denied_until(tokens, place)):
            kept.append(words[cut : tokens[place].start])
            cut, place = tokens[end - 1].end, end
            continue
        said.append(tokens[place])
        if tokens[place].text in ENDS:
            said.clear()
        place += 1
    return "".join((*kept, words[cut:]))


# --- within ------------------------------------------------------------------------------


def _is_told(tokens: Sequence[Token], place: int) -> bool:
    """Whether somebody's own words begin here, which stay as they are: "note: …"."""
    return is_telling(tokens, place) or (place > 0 and tokens[place].has("~saying"))


def _is_comma(token: Token) -> bool:
    return token.kind is Kind.MARK and (token.text in COMMAS or token.text in "-–—…")


def _instead_at(tokens: Sequence[Token], place: int) -> int | None:
    """Where the value begins that stands behind a comma and "no" or "I mean"; None if none does."""
    at, denied = place + 1, False
    for token in tokens[place + 1 : place + 6]:
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        no = token.text.casefold() in _NO and after is not None and (
            _is_comma(after) or after.has("~correction"))  # fmt: skip
        meant = token.has("~correction") and token.text.casefold() not in _WEAK
        denied = denied or no or meant
        if not (no or token.has(*_LEADING) or (at > place + 1 and _is_comma(token))):
            break
        at += 1
    value = _value_at(tokens, at)
    wishes = any(_acts(one) for one in value)
    return at if denied and 0 < len(value) <= _LONGEST and not wishes else None


def _denied_until(tokens: Sequence[Token], place: int) -> int:
    """Where that ends which a comma and "not" leave out: "add milk, not eggs"; 0 if nothing is."""
    denies = tokens[place + 1].text.casefold() in _DENYING if place + 2 < len(tokens) else False
    if not denies or not _is_comma(tokens[place]):
        return 0
    value = _value_at(tokens, place + 2)
    end = place + 2 + len(value)
    last = end == len(tokens) or tokens[end].text in ENDS
    return end if last and 0 < len(value) <= _LONGEST and not any(map(_acts, value)) else 0


def _value_at(tokens: Sequence[Token], at: int) -> tuple[Token, ...]:
    return tuple(takewhile(lambda one: not _ends(one), tokens[at : at + _LONGEST + 1]))


def _acts(token: Token) -> bool:
    """Whether it can only be a verb, not what something is called."""
    return token.is_verb and not any(key[0] == "#" for key in token.keys)


def _ends(token: Token) -> bool:
    return is_separator(token) or token.text in ENDS or token.has("~then")


def _replaced_from(said: Sequence[Token], instead: Sequence[Token]) -> int | None:
    """Where in what was said that begins which the new words replace; None if nowhere."""
    first = instead[0]
    if first.has(*_PLACING):
        led = [
            n for n, one in enumerate(said) if not one.keys.isdisjoint(first.keys & set(_PLACING))
        ]
        return led[-1] if led and led[-1] else None
    if len(instead) == 1 and (first.number or first.kind is Kind.CLOCK):
        same = [n for n, one in enumerate(said) if bool(one.number) is bool(first.number)
                and one.kind in (Kind.NUMBER, Kind.CLOCK, first.kind)]  # fmt: skip
        return same[-1] if same and same[-1] == len(said) - 1 else None
    place = len(said)
    while place > 1 and not _stands_before(said[place - 1]):
        place -= 1
    return place if 0 < place < len(said) else None


def _stands_before(token: Token) -> bool:
    """Whether a value begins behind it: behind a verb, a comma, "to"."""
    return _acts(token) or token.has(*_PLACING) or token.kind is Kind.MARK or is_separator(token)

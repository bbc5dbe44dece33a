"""The edges of what was said: articles, politeness and nouns that only announce what follows."""

from collections.abc import Sequence

from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.reading.clauses import is_separator
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.shown.blocks import Action
from contextui.agent.models.offline.shown.profiles import GROUP, likeness

ARTICLES = ("~article", "~new_article", "~possessive", "~person", "~this")
"""Groups of words that stand before a noun."""

_FILLERS = ("~polite", "~adverb", "~thank", "~aux")
_TRAILING = _FILLERS + listed(
    "~here ~occur ~to ~in ~from ~of ~with ~for ~at ~by ~as ~article ~possessive ~person ~object"
)
_MARKS = "-–—*•+,，、.。;；:：!！?？\n\"'"
_SHORT = 6  # tokens: what is longer is a sentence, and keeps its article


def trimmed(
    tokens: Sequence[Token],
    action: Action | None = None,
    as_is: bool = False,
    sentence: bool = False,
) -> list[Token]:
    """Tokens without what does not belong to the value at their edges.

    Args:
        tokens: What stands together.
        action: The action whose params it may be for.
        as_is: Take off marks alone: the person said where it begins.
        sentence: Whether it is a sentence, which keeps its article.
    """
    left = list(tokens)
    while left and (left[0].text in _MARKS or is_separator(left[0])):
        left = left[1:]
    while left and (left[-1].text in _MARKS or is_separator(left[-1])
                    or (not as_is and _is_only(left[-1], _TRAILING))):  # fmt: skip
        left = left[:-1]
    if as_is:
        return left
    if len(left) > 2 and left[-1].has("~it") and left[-2].has("~in", "~to"):
        left = left[:-2]  # "the word invoice in it", "eggs to it"
    while left and not _begins_name(left) and (
        _is_only(left[0], (*_FILLERS, "~is_there")) or _leads_nowhere(left)
    ):  # fmt: skip
        left = left[1:]
    if len(left) > 1 and action is not None and any(one.is_amount for one in action.params):
        # "every foo", "foo everywhere": all of them are to be counted
        left = left[left[0].has("~all") : len(left) - left[-1].has("~all")]
    return _without_kind(left if sentence else _without_article(left), action)


def is_title(token: Token) -> bool:
    """Whether it is written like a part of a name."""
    return token.kind is Kind.WORD and token.text.istitle()


def leads_to_name(token: Token) -> bool:
    """Whether it leads to a name ("called"), and does not say to call somebody."""
    return token.has("~called") and token.text.casefold().endswith("ed")


def _begins_name(tokens: Sequence[Token]) -> bool:
    """Whether a small word is the first of a name, such as Hey Jude."""
    return len(tokens) > 1 and tokens[0].start > 0 and all(
        is_title(one) and one.is_ascii for one in tokens[:2])  # fmt: skip


def _leads_nowhere(tokens: Sequence[Token]) -> bool:
    """Whether a Chinese value begins with a small word that belongs before it: 里有预算."""
    first = tokens[0]
    small = first.text in ("里", "里面", "中", "有", "带", "含", "里有") and not first.is_ascii
    return small and len(tokens) > 1 and first.end == tokens[1].start and (
        first.text not in ("中", "带", "含") or tokens[1].text == "有")  # fmt: skip


def _is_only(token: Token, groups: Sequence[str]) -> bool:
    return token.has(*groups) and not token.is_verb


def _without_article(tokens: list[Token]) -> list[Token]:
    is_sentence = len(tokens) > _SHORT or any(one.has("~be") for one in tokens)
    while tokens and tokens[0].has(*ARTICLES) and not is_sentence and not tokens[0].number:
        if tokens[0].start and tokens[0].text == "The":  # a name, such as The Hobbit
            break
        if len(tokens) == 1 and tokens[0].has("~this"):  # "that" alone stands for something
            break
        tokens = tokens[1:]
    return tokens


def _without_kind(tokens: list[Token], action: Action | None) -> list[Token]:
    """Drop a noun that only says what kind of thing follows ("the item called milk")."""
    if action is None or len(tokens) < 2 or tokens[0].kind is not Kind.WORD:
        return tokens
    names = [keys for one in action.params for keys in keys_of(one.name)]
    tokens = _without_last_kind(tokens, names, takes_path=any(one.is_path for one in action.params))
    if len(tokens) < 2:
        return tokens
    first, second = tokens[:2]
    if first.has("#word") and not second.is_small:  # "the word deadline"
        return tokens[1:]
    if any(one.is_path for one in action.params) and first.has("#file", "#folder", "#path"):
        return tokens[1:]
    nouns = frozenset(key for key in first.keys if key[0] not in "@~'")
    is_kind = likeness(nouns, (*names, frozenset({"#item", "#entry", "#task"}))) >= GROUP
    if is_kind and second.has("~called", "~saying", "~of"):
        return tokens[2:]
    return tokens[1:] if is_kind and second.kind in (Kind.QUOTE, Kind.NUMBER) else tokens


def _without_last_kind(
    tokens: list[Token], names: Sequence[frozenset[str]], *, takes_path: bool
) -> list[Token]:
    """Drop a noun that says behind a value what kind of thing it is (家这个标签)."""
    last = tokens[-1]
    if len(tokens) > 2 and tokens[-2].has("~this") and likeness(last.nouns, (*names,)) >= GROUP:
        return tokens[:-2]
    kind = takes_path and last.kind is Kind.WORD and last.has("#file", "#folder")
    return tokens[:-1] if kind else tokens

"""Where one wish ends and the next begins, as the words say it."""

from collections.abc import Callable, Collection, Sequence

from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.lexicon.tables import NOTHING
from contextui.agent.models.offline.lexicon.verbs import CORE
from contextui.agent.models.offline.reading.clauses import (
    ASKING,
    COLONS,
    COMMAS,
    ENDS,
    LEADING,
    Clause,
    is_telling,
    significant,
)
from contextui.agent.models.offline.reading.mending import mended, unannounced
from contextui.agent.models.offline.reading.naming import described, glued, named
from contextui.agent.models.offline.reading.phrasal import (
    active,
    ended,
    joined,
    softened,
    switched,
    wanted,
    without_denied,
    without_interjection,
)
from contextui.agent.models.offline.reading.telling_done import marked_done, marked_undone
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import tokens_of

_ALONE = tuple(
    f"@{name}"
    for name in listed(
        "save undo redo close refresh pause resume stop start clear reset next previous remove"
    )
)  # verbs that need nothing behind them
_CORE = tuple(f"@{name}" for name in CORE)

Knows = Callable[[Token], bool]
"""Whether a token is a verb that an open window declares."""


def clauses_of(
    words: str, knows: Knows, names: Collection[str] = (), declared: frozenset[str] = NOTHING
) -> list[Clause]:
    """The clauses of what was said, in order.

    Args:
        words: What was said.
        knows: Whether a token is a verb that an open window declares.
        names: Declared words that are to be taken as a whole.
        declared: Parts of Chinese words that windows declare, to part what was said by.
    """
    words = unannounced(words)
    tokens: Sequence[Token] = named(glued(tokens_of(words, declared), names))
    if (meant := mended(words, tokens)) != words:
        words, tokens = meant, named(glued(tokens_of(meant, declared), names))
    tokens = _told(_with_pauses(tokens), knows)
    found, start, told, telling, anew = list[Clause](), 0, False, False, True
    for place, token in enumerate(tokens):
        told = told or telling
        telling = (telling or is_telling(tokens, place)) and not _ends_telling(tokens, place)
        if place < start or not _is_joint(token) or _is_amid(tokens, place):
            continue
        after = _skip_joints(tokens, place)
        closed = token.text in ENDS and token.text != "\n"
        asks = token.text in "?？"  # it is kept: it says that something is asked
        said, rest = tokens[start : place + asks], tokens[after:]
        goes_on = closed and any(one.has("~then") for one in tokens[place:after])
        listing = any(one.has("~with", "~saying") for one in said)
        ends = closed and not told and not _hesitates(tokens, place)
        begins = goes_on or begins_wish(rest, knows, listing=listing)
        begins = begins or _goes_on_in_chinese(token, said, rest, knows)
        asked = telling and begins and _asks_politely(rest)  # a list, and then what to do with it
        if ends or asked or (begins and (closed or not telling or _is_whole(said))):
            if not any(one.has("~correction") for one in tokens[place:after]):
                found.append(_clause(said, words, anew))
            start, told, telling = after, False, False
            anew = closed or any(one.has("~then") for one in tokens[place:after])
    found.append(_clause(tokens[start:], words, anew))
    wishes = [one for one in found if significant(one.tokens)]
    return _with_topics(wishes) if wishes else found[:1]


def begins_wish(tokens: Sequence[Token], knows: Knows, *, listing: bool = False) -> bool:
    """Whether a wish or a question begins here, rather than more of what was said before.

    Args:
        tokens: What stands here.
        knows: Whether a token is a verb that an open window declares.
        listing: Whether things are listed, so that only a verb that is known counts.
    """
    said = significant(tokens[:60])
    if not said or said[0].kind is not Kind.WORD:
        return False
    first = said[0]
    if first.has("~not") and len(said) > 1 and said[1].is_verb:
        return True
    told = first.has("~person") and first.is_ascii and len(said) > 2 and not listing
    if told and _is_wish_verb(said[1], knows):
        said, first = said[1:], said[1]  # "and I no longer need …"
    if _is_wish_verb(first, knows):
        alone = len(said) == 1 or (_is_joint(said[1]) and said[1].text not in COLONS)
        return first.has(*_ALONE) or not alone
    if first.has(*ASKING) or (first.has("~leave") and len(said) > 1):
        return True
    if first.is_verb and first.is_ascii and not (first.is_small or listing) and len(said) > 2:
        return said[1].has("~article", "~possessive", "~it")  # "and load a teapot"
    chinese = not first.text.isascii()
    return chinese and first.has(*LEADING) and _has_verb(_until_joint(said), knows)


# --- within ------------------------------------------------------------------------------


def _clause(tokens: Sequence[Token], words: str, anew: bool) -> Clause:
    found = joined(tokens)
    for look in (
        without_interjection,
        softened,
        active,
        wanted,
        described,
        without_denied,
        ended,
        switched,
        marked_undone,
        marked_done,
    ):
        found = look(found)
    return Clause(tuple(found), words, anew=anew)


def _with_pauses(tokens: Sequence[Token]) -> list[Token]:
    """Put a comma where a Chinese sentence ends and only a space follows: 面包买了 鸡蛋不要了."""
    found = list[Token]()
    for token in tokens:
        before = found[-1] if found else None
        ends = before is not None and not before.is_ascii and before.text[-1] in "了吧啦"
        if ends and before is not None and before.end < token.start and not token.is_ascii:
            found.append(Token("，", before.end, before.end, Kind.MARK))
        found.append(token)
    return found


def _told(tokens: Sequence[Token], knows: Knows) -> Sequence[Token]:
    """Take a comma right behind the verb that notes something for a colon: 记一下，……."""
    verb = next(
        (n for n, one in enumerate(tokens) if one.is_verb and not one.is_small), len(tokens)
    )
    noted = verb + 1
    if verb + 2 < len(tokens) and tokens[verb].has("@write") and tokens[noted].has("#note"):
        start, after = tokens[noted].end, tokens[noted + 1]
        if after.start > start and after.kind is Kind.WORD and not after.is_ascii:
            return [
                *tokens[: noted + 1],
                Token("：", start, start, Kind.MARK),
                *tokens[noted + 1 :],
            ]
    comma = tokens[verb + 1] if verb + 2 < len(tokens) else None
    if comma is None or comma.text not in (",", "，") or not tokens[verb].has("@write"):
        return tokens
    if begins_wish(tokens[verb + 2 :], knows):
        return tokens
    colon = Token("：", comma.start, comma.end, Kind.MARK)
    return [*tokens[: verb + 1], colon, *tokens[verb + 2 :]]


def _with_topics(clauses: list[Clause]) -> list[Clause]:
    """Put what only says where or what about ("For the kitchen, …") to the clause behind it."""
    found: list[Clause] = []
    topic: Clause | None = None
    for number, clause in enumerate(clauses):
        whole = topic.with_more(clause) if topic else clause
        said = significant(whole.tokens)
        after = clauses[number + 1] if number + 1 < len(clauses) else None
        leads = said[0].has(*LEADING) or said[-1].has("~behind_noun")
        leads = leads or (after is not None and after.is_question)
        leads = leads and not any(one.is_verb for one in said)
        topic = whole if leads and number + 1 < len(clauses) else None
        if topic is None:
            found.append(whole)
    return found


def _goes_on_in_chinese(
    joint: Token, said: Sequence[Token], rest: Sequence[Token], knows: Knows
) -> bool:
    """Whether a Chinese comma parts two wishes: the verb need not come first in either."""
    if joint.text == "、" or joint.has("~and") or not rest:
        return False
    next_part = _until_joint(rest)
    if not any(not one.text.isascii() and one.kind is Kind.WORD for one in next_part):
        return False
    begins = next_part[0].has("~every") or any(one.has("~leave") for one in next_part)
    ends = bool(said) and said[-1].text == "了"  # 房租昨天交了, whatever the verb
    return (begins or _has_verb(next_part, knows)) and (ends or any(one.is_verb for one in said))


def _asks_politely(tokens: Sequence[Token]) -> bool:
    """Whether a wish begins with what can be no part of a list: 帮我, "please"."""
    return bool(tokens) and tokens[0].has("~polite") and tokens[0].text not in ("给", "来", "好")


def _hesitates(tokens: Sequence[Token], place: int) -> bool:
    """Whether dots only say that somebody is still thinking."""
    near = (*tokens[max(place - 1, 0) : place], *tokens[place + 1 : place + 2])
    return tokens[place].text == "…" or (
        tokens[place].text == "." and any(one.text == "." for one in near))  # fmt: skip


def _has_verb(tokens: Sequence[Token], knows: Knows) -> bool:
    return any(_is_wish_verb(one, knows) for one in tokens)


def _is_wish_verb(token: Token, knows: Knows) -> bool:
    """Whether a wish can begin with it: an everyday verb, or one that a window declares."""
    small = token.has("~polite", "~interjection", "~in", "~with", "~by")
    return (token.has(*_CORE) or knows(token)) and token.kind is Kind.WORD and not small


def _is_whole(tokens: Sequence[Token]) -> bool:
    """Whether a wish is complete at a colon: "edit a.txt: change …" is two."""
    said = significant(tokens)
    return bool(said) and said[0].is_verb and said[-1].kind is Kind.PATH


def _ends_telling(tokens: Sequence[Token], place: int) -> bool:
    """Whether what a colon began is over: at a full stop, or a line that is no more of a list."""
    if tokens[place].text == "\n":
        after = tokens[place + 1] if place + 1 < len(tokens) else tokens[place]
        return after.text not in "-*•+" and after.kind is not Kind.NUMBER
    return tokens[place].text in ".。"


def _is_joint(token: Token) -> bool:
    if token.kind is Kind.MARK:
        return token.text in ENDS or token.text in COMMAS or token.text in COLONS
    return token.has("~then", "~correction") or (token.has("~and") and not token.is_verb)


def _is_amid(tokens: Sequence[Token], place: int) -> bool:
    """Whether a joint stands within a sentence, or behind a line's number: "I finally paid"."""
    before = tokens[place - 1] if place else None
    if before is not None and before.kind is Kind.NUMBER and tokens[place].text == ".":
        return place < 2 or tokens[place - 2].text in ("\n", *COLONS)
    return before is not None and before.has("~person") and tokens[place].is_ascii


def _skip_joints(tokens: Sequence[Token], place: int) -> int:
    while place < len(tokens) and _is_joint(tokens[place]) and not (
        tokens[place].is_verb and place and not tokens[place].has("~adverb")
    ):  # fmt: skip
        place += 1
    return place


def _until_joint(tokens: Sequence[Token]) -> Sequence[Token]:
    stop = next((n for n, one in enumerate(tokens) if _is_joint(one)), len(tokens))
    return tokens[:stop]

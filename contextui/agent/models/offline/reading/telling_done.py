"""Sentences that say that something is done, or is not done yet."""

from contextui.agent.models.offline.lexicon.particles import PAST
from contextui.agent.models.offline.lexicon.stems import stem
from contextui.agent.models.offline.reading.phrasal import with_keys
from contextui.agent.models.offline.reading.token import Kind, Token

_SUBJECTS = frozenset(("i", "we", "i've", "we've", "already"))


def marked_done(tokens: list[Token]) -> list[Token]:
    """Add to a verb in the past what it says: "I bought the milk" means that it is done."""
    tokens = _finished(tokens)
    for place, token in enumerate(tokens):
        if _is_done(tokens, place) or _is_done_in_chinese(tokens, place):
            done = with_keys(token, frozenset({"@done", *(k for k in token.keys if k[0] == "@")}))
            return [*tokens[:place], done, *tokens[place + 1 :]]
    return tokens


def marked_undone(tokens: list[Token]) -> list[Token]:
    """Take "I haven't paid" and 还没取 for what they say: that something is not done."""
    if any(one.has("~what", "~howmany", "~who") for one in tokens):
        return tokens
    for place, token in enumerate(tokens[:-1]):
        before, after = tokens[place - 1] if place else None, tokens[place + 1]
        if before is None or not token.has("~not") or token.is_verb or not after.keys:
            continue
        english = before.has("have", "has", "did") and after.is_ascii and after.is_verb
        chinese = (
            before.text in ("还", "还是") and token.text in ("没", "没有") and not after.is_small
        )
        if english or chinese:
            undone = with_keys(token, frozenset({"@undone"}))
            plain = frozenset(key for key in after.keys if key[0] != "@")
            told = Token(after.text, after.start, after.end, after.kind, plain, after.number)
            return [*tokens[:place], undone, told, *tokens[place + 2 :]]
    return tokens


def _is_done(tokens: list[Token], place: int) -> bool:
    token, before = tokens[place], tokens[max(place - 4, 0) : place]
    if token.kind is not Kind.WORD or not _is_past(token.text.casefold()):
        return False
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if not before:
        return after is not None and after.has("~article", "~possessive")
    if before[-1].has("~be") and not before[-1].has("~not"):
        return True
    if any(one.text.casefold() in _SUBJECTS or one.has("~done_mark") for one in before):
        return True
    ends = after is None or after.kind is Kind.MARK
    return ends and not any(one.is_verb or one.has("~to") for one in tokens[:place])


def _is_done_in_chinese(tokens: list[Token], place: int) -> bool:
    token, before = tokens[place], tokens[max(place - 4, 0) : place]
    return (
        token.is_verb
        and not token.is_ascii
        and any(one.text == "了" for one in tokens[place + 1 : place + 2])
        and not token.has("@stop", "@close")
        and any(one.text in ("已经", "都") for one in before)
        and not any(one.is_verb for one in tokens[:place])
    )


def _finished(tokens: list[Token]) -> list[Token]:
    """Take 写完了 at the end for what it says: 周报写完了 means that it is done."""
    last = next((n for n in range(len(tokens) - 1, 0, -1) if tokens[n].text != "了"
                 and tokens[n].kind is not Kind.MARK), 0)  # fmt: skip
    told = last and tokens[last].has("~after_doing") and not any(
        one.is_verb and not one.is_small for one in tokens[:last])  # fmt: skip
    if not told or last + 1 == len(tokens) or tokens[last + 1].text != "了":
        return tokens
    return [*tokens[:last], with_keys(tokens[last], frozenset({"@done"})), *tokens[last + 1 :]]


def _is_past(word: str) -> bool:
    return word in PAST or (word.isalpha() and word.endswith("ed") and stem(word) != word)

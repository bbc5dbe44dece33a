"""Verbs that stand apart from their small word, and sentences that say that something is done."""

from collections.abc import Collection, Sequence

from contextui.agent.models.offline.lexicon.particles import PAST
from contextui.agent.models.offline.lexicon.stems import stem
from contextui.agent.models.offline.lexicon.tables import lexicon
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
_SUBJECTS = frozenset(("i", "we", "i've", "we've", "already"))


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


def named(tokens: Sequence[Token]) -> list[Token]:
    """Small words that can only be names here: "a" alone in a list, 带 at the end of 胶带."""
    found = list[Token]()
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        stands = after is None or after.kind is Kind.MARK or after.has("~and", "~or")
        if stands and token.text in ("a", "A") and token.has("~article"):
            found.append(Token(token.text, token.start, token.end, token.kind, frozenset("a")))
        elif found and _parts_wishes(found[-1], token, after):
            found.append(
                Token(token.text, token.start, token.end, token.kind, frozenset({"~then"}))
            )
        elif stands and found and _ends_name(found[-1], token):
            before = found.pop()
            text = before.text + token.text
            keys = frozenset({text, *(f"'{char}" for char in text)})
            found.append(Token(text, before.start, token.end, token.kind, keys))
        else:
            found.append(token)
    return found


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


def marked_done(tokens: list[Token]) -> list[Token]:
    """Add to a verb in the past what it says: "I bought the milk" means that it is done."""
    tokens = _finished(tokens)
    for place, token in enumerate(tokens):
        if _is_done(tokens, place) or _is_done_in_chinese(tokens, place):
            done = with_keys(token, frozenset({"@done", *(k for k in token.keys if k[0] == "@")}))
            return [*tokens[:place], done, *tokens[place + 1 :]]
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


def described(tokens: list[Token]) -> list[Token]:
    """Take what stands before 那条 for what it says, the one about that: 吃饭那条删掉."""
    found, start = list(tokens), 0
    for place, token in enumerate(tokens):
        if token.kind is Kind.MARK or token.has("~object", "~and", "~then"):
            start = place + 1
        elif (
            not token.is_ascii
            and token.has("~one")
            and token.text[0] in "这那"
            and any(one.is_verb and not one.is_small for one in tokens[place + 1 :])
        ):
            found[start:place] = [
                Token(one.text, one.start, one.end, one.kind,
                      frozenset(key for key in one.keys if key[0] != "@"), one.number)
                for one in tokens[start:place]
            ]  # fmt: skip
    return found


def glued(tokens: Sequence[Token], names: Collection[str]) -> tuple[Token, ...]:
    """Tokens with those as one that spell a name together: a choice, or a thing that is shown."""
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        size = max((_spells(tokens, place, name) for name in names), default=0)
        if size > 1:
            found.append(_as_name(tokens[place : place + size]))
        else:
            found.append(tokens[place])
        place += max(size, 1)
    return tuple(found)


def _as_name(tokens: Sequence[Token]) -> Token:
    """Several tokens as one that is a name, whatever its words are otherwise."""
    gap = " " if tokens[0].is_ascii else ""
    text = gap.join(one.text for one in tokens)
    plain = {key for one in tokens if not one.is_small for key in one.keys if key[0] not in "@~"}
    keys = frozenset({text.casefold(), *plain})
    return Token(text, tokens[0].start, tokens[-1].end, Kind.WORD, keys)


def _spells(tokens: Sequence[Token], place: int, name: str) -> int:
    """How many tokens from here on spell a name; 0 if none do."""
    text, size = "", 0
    while name.startswith(text) and text != name and place + size < len(tokens):
        token = tokens[place + size]
        if token.kind is Kind.QUOTE:
            return 0
        gap = " " if size and token.start > tokens[place + size - 1].end else ""
        text += gap + token.text.casefold()
        size += 1
    return size if text == name else 0


def _parts_wishes(before: Token, token: Token, after: Token | None) -> bool:
    """Whether a Chinese "after" stands between two verbs: 保存后关掉."""
    return token.text in ("后", "之后", "以后", "完后") and before.is_verb and (
        after is not None and after.is_verb)  # fmt: skip


def _ends_name(before: Token, token: Token) -> bool:
    """Whether a Chinese preposition that leads to nothing is the end of the word before it."""
    leads = token.has("~with", "~by", "~from", "~as", "~every", "~because") and not token.is_verb
    plain = before.kind is Kind.WORD and not (before.is_small or before.is_verb)
    return leads and plain and len(token.text) == 1 and not token.is_ascii and (
        before.end == token.start and not before.is_ascii)  # fmt: skip


def with_keys(token: Token, keys: frozenset[str]) -> Token:
    """A token with these groups of verbs instead of its own."""
    kept = frozenset(key for key in token.keys if key[0] != "@") | keys
    return Token(token.text, token.start, token.end, token.kind, kept, None, token.note)


def _ends_phrase(tokens: Sequence[Token], place: int) -> bool:
    """Whether a small word ends its phrase: nothing behind it that it could lead to."""
    after = next(iter(tokens[place + 1 :]), None)
    return after is None or after.kind is Kind.MARK or after.has(*_ENDS_PHRASE)


def _is_past(word: str) -> bool:
    return word in PAST or (word.isalpha() and word.endswith("ed") and stem(word) != word)

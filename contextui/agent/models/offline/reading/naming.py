"""Tokens that are a name, or a part of one, whatever else they could be."""

from collections.abc import Collection, Sequence

from contextui.agent.models.offline.reading.token import Kind, Token


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

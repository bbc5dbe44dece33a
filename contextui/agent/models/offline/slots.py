"""Values for the params of an action: every span of a clause that a param could take.

A filler is one such span with the value it gives. `fill` picks the fillers that together explain
most of the clause without overlapping.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from contextui.agent.models.offline.items import Mention, mentions, value_of
from contextui.agent.models.offline.lexicon import groups_of, lexicon, stem
from contextui.agent.models.offline.scene import Action, Param, Scene, Window
from contextui.agent.models.offline.tokens import Token, is_content, split_list, unquoted

_SECONDS = {"#second": 1, "#minute": 60, "#hour": 3_600, "#day": 86_400}
_UNIT_OF = {"seconds": 1, "second": 1, "minut": 60, "minute": 60, "hour": 3_600, "day": 86_400}
_PLACES = {"place", "position", "index", "line", "page", "number", "to", "first", "last", "row", "slot"}
_FROM, _TO = {"first", "start", "from", "begin"}, {"last", "end", "to", "until", "upto"}
_SPECIAL = re.compile(r"(\w+)=(-?\d+)[:：]?\s*([^;；,，]+)")
_TRIMMED = ("~article", "~polite", "~aspect", "~then", "~object")
_MOST = 24  # fillers of one param that are tried


@dataclass(frozen=True)
class Clause:
    """One request of a sentence."""

    text: str
    tokens: tuple[Token, ...]

    @cached_property
    def content(self) -> frozenset[int]:
        """The places of the tokens that must be explained."""
        return frozenset(at for at, token in enumerate(self.tokens) if is_content(token))

    def span(self, first: int, last: int) -> str:
        """Return the text from one token to another."""
        return self.text[self.tokens[first].start : self.tokens[last].end]


@dataclass(frozen=True, slots=True)
class Filler:
    """Values for one or two params.

    Attributes:
        values: The values, by param.
        tokens: The places of the tokens that they are taken from.
        score: How well they fit.
        is_marked: Whether they were set apart: quoted, shown, behind a cue, or of a fixed type.
        is_solid: Whether it is certain where they end: not for unquoted text.
        each: Further values of the param; each is a call of its own.
        choices: Values of which only one is meant, and it is open which.
    """

    values: Mapping[str, Any]
    tokens: frozenset[int]
    score: float
    is_marked: bool = True
    is_solid: bool = True
    each: tuple[Any, ...] = ()
    choices: tuple[tuple[Any, str], ...] = ()
    shared: frozenset[int] = field(default=frozenset())


@dataclass(frozen=True)
class Slots:
    """What is needed to fill the params of one action from a clause."""

    scene: Scene
    window: Window
    action: Action
    clause: Clause
    verbs: frozenset[int]

    @cached_property
    def mentions(self) -> list[Mention]:
        """What the clause mentions of the window's items."""
        return mentions(self.scene, self.window, self.clause.tokens) if self.window.id else []

    @cached_property
    def is_careful(self) -> bool:
        """Whether text must be set apart before it is used."""
        groups = {group for word in self.action.id_words for group in groups_of(word)}
        if not self.window.id:
            return False
        if "@find" in groups:
            return False
        return self.window.holds_file or bool(groups & lexicon().careful)

    @cached_property
    def undoing(self) -> frozenset[str]:
        """The groups of verbs that say the opposite of the action's id."""
        groups = {group for word in self.action.id_words for group in groups_of(word)}
        inverse = lexicon().inverse
        return frozenset(inverse[group] for group in groups if group in inverse)

    def swallows(self, filler: Filler) -> bool:
        """Whether an unquoted text seems to contain another request."""
        if filler.is_solid:
            return False
        places = sorted(filler.tokens)
        tokens = self.clause.tokens
        ids = {window.id for window in self.scene.windows}
        if any(tokens[at].text in ids for at in places):
            return True
        param = next(one for one in self.action.params if one.name in filler.values)
        joined = any(tokens[at].has("~and") or tokens[at].text in ",，" for at in places)
        if joined and not (param.is_list or param.words & lexicon().free or filler.each):
            return True
        verbs = {
            key for window in self.scene.windows for action in window.actions
            for key, weight in action.verbs.items() if weight >= 2.5 and key[0] == "@"
        }  # fmt: skip
        return any(
            (tokens[at].has("~and") or tokens[at].text in ",，")
            and at + 1 in filler.tokens
            and (_first_verb(tokens[at + 1 : places[-1] + 1]) & verbs)
            for at in places
        )

    @cached_property
    def is_adding(self) -> bool:
        """Whether the action is named by a verb that brings something new."""
        groups = {group for word in self.action.id_words[:1] for group in groups_of(word)}
        return not self.window.id or bool(groups & lexicon().takes_text)

    @cached_property
    def takes_unmarked(self) -> bool:
        """Whether text may be used that is not set apart."""
        if self.is_careful:
            return False
        groups = {group for at in self.verbs for group in self.clause.tokens[at].groups}
        if groups & lexicon().takes_text:
            return True
        first = min(self.verbs, default=0)
        return self.clause.tokens[first].stem in self.action.id_words[:1] if self.verbs else False

    @cached_property
    def explained(self) -> frozenset[int]:
        """The tokens that belong to the action or the window without giving a value."""
        own = self.action.nouns | self.window.nouns
        return frozenset(
            at for at, token in enumerate(self.clause.tokens)
            if token.stem in own or any(group[0] != "~" and group in own for group in token.groups)
            or (token.kind == "path" and self.window.shows_path(token.text))
        )  # fmt: skip

    @cached_property
    def place_names(self) -> frozenset[int]:
        """The tokens that say which window is meant, as "list" in "to my list"."""
        tokens, nouns = self.clause.tokens, self.window.nouns - {"#text", "text"}
        return frozenset(
            at for at, token in enumerate(tokens)
            if (token.stem in nouns or token.groups & nouns)
            and any(one.has("~to", "~in", "~from") for one in tokens[max(0, at - 4) : at])
        )  # fmt: skip

    def fillers(self, param: Param) -> list[Filler]:
        """Return the fillers of a param, the best first."""
        found: list[Filler] = []
        if param.choices:
            found += self._choices(param)
        if param.plain == {"bool"}:
            found += self._bools(param)
        elif param.is_reference or self._names_items(param):
            found += self._references(param)
        if param.takes_number and not param.takes_text:
            found += self._numbers(param)
        if param.takes_text and param.is_path:
            found += self._paths(param)
        elif param.takes_text and not param.is_reference:
            is_new = self.is_adding or not self._names_items(param) or (
                self.takes_unmarked and not found)  # fmt: skip
            found += [one for one in self._texts(param) if is_new or one.is_marked]
        return sorted(found, key=lambda one: -one.score)[:_MOST]

    # --- values of fixed types -------------------------------------------------------------

    def _choices(self, param: Param) -> Iterator[Filler]:
        found: dict[str, int] = {}
        for at, token in enumerate(self.clause.tokens):
            for choice in param.choices:
                alias = self.action.aliases.get(token.text) == choice
                if choice not in found and (alias or is_choice(token, choice)):
                    found[choice] = at
        if param.is_list and found:
            yield Filler({param.name: list(found)}, frozenset(found.values()), 1.5 + 0.5 * len(found))
        for choice, at in found.items():
            if not param.is_list:
                exact = self.clause.tokens[at].text.casefold() == choice.casefold()
                score = 1.5 + exact + self._cue(param, at)
                yield Filler({param.name: choice}, frozenset([at]), score)

    def _bools(self, param: Param) -> Iterator[Filler]:
        name, inverse = param.name, lexicon().inverse
        opposite = {inverse[group] for group in groups_of(stem(name)) if group in inverse}
        label = {group for token in self.action.label_tokens for group in token.groups}
        for at, token in enumerate(self.clause.tokens):
            here = frozenset([at])
            negated = at > 0 and self.clause.tokens[at - 1].has("~not")
            is_free = at not in self.verbs or token.stem in param.words or not self.window.id
            if is_free and self._spells(param, at):
                tokens = here | {at - 1} if negated else here
                yield Filler({param.name: not negated}, tokens, 1.0, shared=here)
            elif not param.is_optional and token.groups & (self.undoing | opposite):
                yield Filler({param.name: False}, here, 1.2, shared=here)
            elif name in ("on", "enabled", "show", "active") or not param.is_optional:
                yes = token.has("@on", "~yes") or (token.has("@show", "@start") and "@show" in label)
                no = token.has("@off", "~no") or (token.has("@hide", "@stop") and "@show" in label)
                if yes != no:
                    yield Filler({param.name: yes}, here, 1.0, shared=here)
                elif at in self.verbs and token.stem in self.action.id_words and not param.is_optional:
                    yield Filler({param.name: True}, here, 0.2, shared=here)

    def _numbers(self, param: Param) -> Iterator[Filler]:
        tokens, names = self.clause.tokens, param.words
        is_place = bool(names & _PLACES)
        other = self._pair_of(param)
        for at, token in enumerate(tokens):
            before, after = self._around(at)
            if token.kind == "range" and token.number and token.upto and other:
                values = {param.name: int(token.number), other.name: int(token.upto)}
                yield Filler(values, frozenset([at]), 3.0)
            elif token.kind == "number" and token.number is not None:
                if self._is_measured_otherwise(param, after):
                    continue
                value, used = self._with_unit(param, at)
                if other and after and after.has("~to", "~and") and at + 2 < len(tokens):
                    upto = tokens[at + 2].number
                    if upto is not None and (after.has("~to") or upto == token.number + 1):
                        values = {param.name: int(token.number), other.name: int(upto)}
                        yield Filler(values, frozenset([at, at + 1, at + 2]), 3.0)
                        continue
                near = {one for one in range(max(0, at - 3), min(len(tokens), at + 3))
                        if tokens[one].has("~before", "~after")}  # fmt: skip
                if "before" in names:
                    value += any(tokens[one].has("~after") for one in near)
                    used |= near
                number = self._typed(param, value)
                if number is None:
                    continue
                named = any(one and self._names(one, param) for one in (before, after))
                score = 1.2 + named + self._cue(param, at) + 0.3 * (is_place and token.is_ordinal)
                if other:
                    yield Filler({param.name: number, other.name: number}, used, score)
                else:
                    yield Filler({param.name: number}, used, score)
            elif is_place and (token.has("~end", "~last") or (token.has("~top") and at not in self.verbs)):
                place = self._place(param, token)
                if place is not None:
                    values = {param.name: place, **({other.name: place} if other else {})}
                    here = frozenset([at])
                    yield Filler(values, here, 1.5, shared=here & self.verbs)
        if "before" in names and self.is_adding:
            end = self._place(param, Token("word", "", 0, 0, frozenset(["~end"])))
            yield Filler({param.name: end}, frozenset(), 0.1)
        yield from self._declared(param)

    def _declared(self, param: Param) -> Iterator[Filler]:
        """Read special values that the label explains, as "pages=-1: the one before"."""
        for name, number, words in _SPECIAL.findall(self.action.label):
            if name != param.name:
                continue
            groups = {group for one in re.findall(r"[A-Za-z]+|[㐀-鿿]+", words) for group in groups_of(one)}
            groups |= {"@previous"} if any(one in words for one in ("before", "上一")) else set()
            for at, token in enumerate(self.clause.tokens):
                if token.groups & groups & {"@previous", "@next", "~all", "~not", "@up", "@down"}:
                    yield Filler({name: int(number)}, frozenset([at]), 2.0)

    def _place(self, param: Param, token: Token) -> int | None:
        lines = self.window.total_lines
        count = lines if lines is not None and "page" not in param.words else len(self.window.rows)
        if token.has("~top") or token.is_ordinal:
            return 1
        if not count:
            return 1 if "before" in param.words else None
        return count + 1 if "before" in param.words else count

    def _pair_of(self, param: Param) -> Param | None:
        """Return the param that ends a range which this one begins."""
        if not param.words & _FROM:
            return None
        return next((one for one in self.action.params if one.words & _TO and one.takes_number
                     and not one.takes_text), None)  # fmt: skip

    def _with_unit(self, param: Param, at: int) -> tuple[float, frozenset[int]]:
        token, (_, after) = self.clause.tokens[at], self._around(at)
        value = token.number or 0.0
        wanted = next((_UNIT_OF[word] for word in param.words if word in _UNIT_OF), None)
        for holder, used in ((token, [at]), (after, [at, at + 1])):
            unit = next((_SECONDS[g] for g in holder.groups if g in _SECONDS), None) if holder else None
            if unit and wanted:
                return value * unit / wanted, frozenset(used)
            if holder is after and after and after.has("#percent", "#degree", "#money", "#number"):
                return value, frozenset([at, at + 1])
        return value, frozenset([at])

    def _is_measured_otherwise(self, param: Param, after: Token | None) -> bool:
        """Whether the noun behind a number belongs to another param."""
        if after is None or after.kind != "word" or self._names(after, param):
            return False
        return any(
            self._names(after, other)
            for other in self.action.params
            if other is not param and other.takes_number and not other.takes_text
        )

    def _typed(self, param: Param, value: float) -> int | float | None:
        if "float" in param.plain:
            return value if not value.is_integer() or "int" not in param.plain else int(value)
        return int(value) if value.is_integer() else None

    # --- items -----------------------------------------------------------------------------

    def _names_items(self, param: Param) -> bool:
        """Whether a param takes the name or number of something that the window shows."""
        if param.is_path or param.is_list or not self.window.id:
            return False
        free = param.words & lexicon().free
        if self.window.rows and param.takes_text and not free and not self.is_adding:
            return True
        return self._is_shown(param)

    def _is_shown(self, param: Param) -> bool:
        """Whether a param is named like the items of the window, or one of their attributes."""
        return any(
            param.name in (row.tag, *row.attributes) or stem(row.tag) in param.words
            or ("id" in param.words and "id" in row.attributes)
            for row in self.window.rows[:50]
        )  # fmt: skip

    def _references(self, param: Param) -> Iterator[Filler]:
        is_loose = not (param.is_reference or self._is_shown(param))
        for one in self.mentions:
            if is_loose and self.clause.tokens[one.first].has("~it", "~this", "~both", "~last"):
                continue
            values = tuple(dict.fromkeys(value_of(item, param) for item in one.items))
            if not values or (param.takes_number and not param.takes_text
                              and not all(isinstance(value, int) for value in values)):  # fmt: skip
                continue
            base = 2.0 + 0.6 * one.is_exact + 0.1 * (one.last - one.first)
            if one.is_all:
                base = -0.6  # "all" of them: an action for all is better
            if one.is_choice:
                labels = tuple((v, item.line) for v, item in zip(values, one.items, strict=False))
                yield Filler({param.name: values[0]}, one.tokens, base - 1.0, choices=labels)
            elif param.is_list:
                yield Filler({param.name: list(values)}, one.tokens, base)
            else:
                yield Filler({param.name: values[0]}, one.tokens, base, each=values[1:])
        for at, token in enumerate(self.clause.tokens):
            if token.kind == "number" and param.takes_number and token.number is not None:
                if token.number.is_integer() and not token.is_ordinal:
                    yield Filler({param.name: int(token.number)}, frozenset([at]), 0.8)

    # --- text ------------------------------------------------------------------------------

    def _paths(self, param: Param) -> Iterator[Filler]:
        for at, token in enumerate(self.clause.tokens):
            if token.kind in ("path", "quoted"):
                cue = self._cue(param, at)
                if cue or not (param.is_optional and self.window.id):
                    yield Filler({param.name: token.text}, frozenset([at]), 2.0 + cue)
        for one in self.mentions if not self.window.holds_file else ():
            cue = self._cue(param, one.first)
            if len(one.items) == 1 and not one.items[0].tag and (cue or not param.is_optional):
                text = re.sub(r"\s+\(\d+\)$", "", one.items[0].text.partition("  ")[0])
                yield Filler({param.name: text}, one.tokens, 1.5 + one.is_exact)

    def _texts(self, param: Param) -> Iterator[Filler]:
        tokens = self.clause.tokens
        has_required = any(one.takes_text and not one.is_optional and not one.is_reference
                           for one in self.action.params)  # fmt: skip
        for at, token in enumerate(tokens):
            if token.is_marked and (self._cue(param, at) or not param.is_optional or not has_required):
                score = (2.0 if token.kind == "quoted" else 1.6) + self._cue(param, at)
                score -= at in self.explained
                yield self._text(param, at, at, score, is_marked=True)
        if "unit" in param.words:
            for at, token in enumerate(tokens):
                if token.has("~unit") and at and tokens[at - 1].kind == "number":
                    yield self._text(param, at, at, 2.0, is_marked=True)
        for first, cue in self._starts():
            for last in self._ends(first) if cue != ":" else [len(tokens) - 1]:
                as_said = cue in (":", "~saying")
                begin, end = self._trimmed(first, last, keep_start=as_said)
                if begin > end or (begin == end and tokens[begin].is_marked):
                    continue
                if first == 0 and end + 1 not in self.verbs:
                    continue
                if cue != ":" and any(one.text in ":：" for one in tokens[begin : end + 1]):
                    continue
                quoted = any(one.kind == "quoted" for one in tokens[begin : end + 1])
                if quoted and not as_said and not param.is_list:
                    continue
                named = self._is_named(param, first)
                leads = named or self._leads(cue, param)
                leads = leads or (not self.window.id and param.is_list and cue in (":", "~with"))
                if self.window.id and param.is_optional and has_required and not named and cue != "~tagged":
                    continue
                is_marked = as_said or cue == "~called" or leads
                if cue and not is_marked:
                    continue
                short = end - begin < 4 and first - 1 in self.verbs and not self.is_careful
                short = short and bool(self.window.id)
                if not is_marked and not self.takes_unmarked and not short:
                    continue
                span = set(range(begin, end + 1))
                if not span & self.clause.content or span <= self.explained:
                    continue
                if not is_marked and tokens[begin].has("~all", "~it", "~this", "~other", "~not"):
                    continue
                if self.window.holds_file and cue in ("~for", "~in", "~from", "~at", "~by"):
                    continue
                score = (1.4 if is_marked else 0.5) + 0.8 * leads + 0.3 * (cue == ":")
                edges = (begin in self.explained and not is_marked) or end in self.explained
                score -= 0.3 * (edges and begin < end and not as_said)
                score += 0.02 * (end - begin) - 0.6 * bool(self.place_names & set(range(begin, end + 1)))
                yield self._text(param, begin, end, score, is_marked=is_marked)
        if self.window.holds_file and {"old", "find", "pattern"} & set(param.words):
            yield from self._shown(param)

    def _shown(self, param: Param) -> Iterator[Filler]:
        """Take words that the window's text contains as they are."""
        raw = "\n".join(row.text for row in self.window.rows).casefold()
        for first, _ in self._starts():
            for last in self._ends(first):
                begin, end = self._trimmed(first, last)
                if begin <= end and self.clause.span(begin, end).casefold() in raw:
                    yield self._text(param, begin, end, 1.3, is_marked=True)

    def _text(self, param: Param, first: int, last: int, score: float, *, is_marked: bool) -> Filler:
        text = self.clause.span(first, last)
        alone = self.clause.tokens[first] if first == last else None
        value: Any = alone.text if alone and alone.is_marked else unquoted(text)
        if param.is_list:
            parts = [value] if alone and alone.is_marked else split_list(text)
            value = parts[0] if param.takes_one and len(parts) == 1 else parts
        each: tuple[Any, ...] = ()
        if not param.is_list and self.is_adding and self.window.id and not param.words & lexicon().free:
            value, *more = split_list(text) if not (alone and alone.is_marked) else [value]
            each = tuple(more)
        is_solid = bool(alone and alone.is_marked) or self.clause.tokens[first - 1].text in ":："
        tokens = frozenset(range(first, last + 1))
        return Filler({param.name: value}, tokens, score, is_marked, is_solid, each)

    def _starts(self) -> Iterator[tuple[int, str]]:
        """Return where a text may begin, with the small word before it."""
        tokens = self.clause.tokens
        own = self.action.nouns | self.window.nouns
        if tokens[0].has("~object") or not tokens[0].text.isascii():
            yield 0, ""
        for at, token in enumerate(tokens[:-1]):
            cue = next((group for group in sorted(token.groups) if group in lexicon().cues), "")
            if token.kind == "mark" and token.text in ":：":
                yield at + 1, ":"
            elif token.kind == "mark" and token.text in ",，":
                yield at + 1, "~,"
            elif cue and cue != "~and":
                yield at + 1, cue
            elif tokens[at + 1].groups & lexicon().cues.keys():
                continue
            elif at in self.verbs or token.has("~object", "~unit"):
                yield at + 1, ""
            elif token.kind == "number" and not tokens[at + 1].has("~unit"):
                yield at + 1, ""
            elif token.has("~measure", "~one") and at and tokens[at - 1].kind == "number":
                yield at + 1, ""
            elif (token.stem in own or token.groups & own) and at <= max(self.verbs, default=0) + 3:
                yield at + 1, ""

    def _ends(self, first: int) -> Iterator[int]:
        """Return where a text that begins at a token may end."""
        tokens = self.clause.tokens
        for at in range(first, len(tokens)):
            after = tokens[at + 1] if at + 1 < len(tokens) else None
            if after is None:
                yield at
            elif (
                after.groups & lexicon().cues.keys() - {"~and"}
                or after.text in ":：,，"
                or at + 1 in self.verbs
                or after.has("~object")
                or after.is_marked
                or after.kind == "number"
                or after.text == "的"
            ):
                yield at

    def _trimmed(self, first: int, last: int, *, keep_start: bool = False) -> tuple[int, int]:
        tokens = self.clause.tokens
        while not keep_start and first < last and (tokens[first].has(*_TRIMMED) or tokens[first].kind == "mark"):
            first += 1
        while last > first and (
            tokens[last].kind == "mark" and tokens[last].text not in ")）'"
            or (not keep_start and tokens[last].has(
                "~polite", "~then", "~and", "~at", "~in", "~to", "~with", "~for", "~article",
                "~possessive"))
        ):
            last -= 1
        return first, last

    # --- helpers ---------------------------------------------------------------------------

    def _spells(self, param: Param, at: int) -> bool:
        """Whether a token, with those around it, spells the name of a param."""
        words = [word for word in re.split(r"[_\W]+", param.name.casefold()) if word]
        near = self.clause.tokens[max(0, at - 2) : at + 3]
        found = [any(one.stem == stem(word) or one.has(f"@{word}", f"#{word}") for one in near)
                 for word in words]  # fmt: skip
        token = self.clause.tokens[at]
        return all(found) and any(token.stem == stem(word) or token.has(f"@{word}", f"#{word}")
                                  for word in words)  # fmt: skip

    def _is_named(self, param: Param, first: int) -> bool:
        """Whether the name of a param is right before a text."""
        at = first - 1
        while at > 0 and (self.clause.tokens[at].text in ":：" or self.clause.tokens[at].has("~be")):
            at -= 1
        return at >= 0 and self._names(self.clause.tokens[at], param)

    def _around(self, at: int) -> tuple[Token | None, Token | None]:
        tokens = self.clause.tokens
        return (tokens[at - 1] if at else None), (tokens[at + 1] if at + 1 < len(tokens) else None)

    def _names(self, token: Token, param: Param) -> bool:
        groups = {group for word in param.words for group in groups_of(word) if group[0] == "#"}
        return token.stem in param.words or bool(token.groups & groups)

    def _leads(self, cue: str, param: Param) -> bool:
        names = lexicon().cues.get(cue, frozenset())
        return bool(names & (param.words | {param.name}))

    def _cue(self, param: Param, at: int) -> float:
        """Return 1 if a small word before a value leads to the param."""
        for token in reversed(self.clause.tokens[max(0, at - 3) : at]):
            is_behind = token.has("~in") and not token.text.isascii() and token.text != "在"
            if not is_behind and any(self._leads(group, param) for group in token.groups):
                return 1.0
            if self._names(token, param):
                return 1.0
            if is_content(token):
                break
        return 0.0


def _first_verb(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the groups of the verb that a request begins with."""
    for token in tokens:
        if not token.has("~polite", "~then", "~object", "~and", "~person"):
            return frozenset(group for group in token.groups if group[0] == "@")
    return frozenset()


def is_choice(token: Token, choice: str) -> bool:
    """Return whether a token names a choice."""
    low, root = choice.casefold(), stem(choice)
    if token.text.casefold() == low or token.stem == root:
        return True
    if len(low) == 3 and token.stem.isascii() and len(token.stem) > 4 and token.stem.startswith(low):
        return True  # "Monday" names "mon"
    shared = token.groups & groups_of(root)
    return any(group[0] in "#@" for group in shared)


def fill(slots: Slots) -> tuple[tuple[Filler, ...], tuple[Param, ...], float]:
    """Return the fillers that explain most, the params that stay empty, and the score."""
    params = slots.action.params
    options = [slots.fillers(param) for param in params]
    best: tuple[tuple[int, int, float], tuple[Filler, ...]] = ((-99, -99, 0.0), ())
    steps = 0

    def search(at: int, chosen: tuple[Filler, ...], used: frozenset[int]) -> None:
        nonlocal best, steps
        steps += 1
        if steps > 4_000:
            return
        if at == len(params):
            given = {name for one in chosen for name in one.values}
            missing = sum(not param.is_optional and param.name not in given for param in params)
            left = len(slots.clause.content - used - slots.verbs - slots.explained)
            value = (-missing, -left, sum(one.score for one in chosen))
            if value > best[0]:
                best = (value, chosen)
            return
        param = params[at]
        given = {name for one in chosen for name in one.values}
        if param.name not in given:
            for one in options[at]:
                taken = one.tokens - one.shared
                if not (taken & used) and not (taken & slots.verbs and not one.shared):
                    if not given & one.values.keys():
                        search(at + 1, (*chosen, one), used | one.tokens)
        search(at + 1, chosen, used)

    search(0, (), frozenset())
    chosen = best[1]
    given = {name for one in chosen for name in one.values}
    missing = tuple(one for one in params if not one.is_optional and one.name not in given)
    return chosen, missing, sum(one.score for one in chosen)


def words_at(tokens: Sequence[Token], places: frozenset[int]) -> list[str]:
    """Return the texts of tokens, in order."""
    return [tokens[at].text for at in sorted(places)]

"""Values for the params of an action: every span of a clause that a param could take.

A filler is one such span with the value it gives. `fill` picks the fillers that together explain
most of the clause without overlapping.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from contextui.agent.models.offline.items import mentions, value_of
from contextui.agent.models.offline.lexicon import NOTHING, groups_of, lexicon, stem
from contextui.agent.models.offline.scene import Action, Param, Scene, Window
from contextui.agent.models.offline.tokens import Clause, Token, bare, has_any, is_content, parts_of

_SECONDS = {"#second": 1, "#minute": 60, "#hour": 3_600, "#day": 86_400}
_UNIT_OF = {"seconds": 1, "second": 1, "minute": 60, "minutes": 60, "hour": 3_600, "hours": 3_600}
_PLACES = set("place position index line page number to first last row slot".split())  # noqa: SIM905
_FROM, _TO = {"first", "start", "from"}, {"last", "end", "to", "until"}
_SPECIAL = re.compile(r"(\w+)=(-?\d+)[:：]?\s*([^;；,，]+)")
_BEFORE_TEXT = ("~article", "~polite", "~aspect", "~then", "~object")
_AFTER_TEXT = ("~polite", "~then", "~and", "~at", "~in", "~to", "~with", "~for", "~article",
               "~possessive", "~all")  # fmt: skip
_NOT_TEXT = ("~all", "~other", "~not", "~creative")  # no text begins so, unless it is marked
ASKING = ("~what", "~where", "~howmany", "~how", "~who", "~when", "~why")
"""Groups of words that ask something."""
_MOST, _STEPS = 24, 4_000  # fillers of one param, and combinations of them, that are tried
_FAR = 60  # tokens after which a text ends with its clause
_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Filler:
    """Values for one or two params."""

    values: Mapping[str, Any]
    tokens: frozenset[int]  # the places of the tokens that they are taken from
    score: float
    is_marked: bool = True  # set apart: quoted, shown, after a cue, or of a fixed type
    is_solid: bool = True  # it is certain where they end: not for unquoted text
    each: tuple[Any, ...] = ()  # further values of the param; each is a call of its own
    choices: tuple[tuple[Any, str], ...] = ()  # one of them is meant, and it is open which
    shared: frozenset[int] = _NONE  # the tokens that may have another meaning as well
    is_part: bool = False  # an item is meant of which only a part was said


@dataclass(frozen=True)
class Slots:
    """What is needed to fill the params of one action from a clause."""

    scene: Scene
    window: Window
    action: Action
    clause: Clause
    verbs: frozenset[int] = _NONE

    @cached_property
    def is_careful(self) -> bool:
        """Whether text must be set apart before it is used."""
        if not self.window.id or "@find" in self.action.groups:
            return False
        return self.window.holds_file or bool(self.action.groups & lexicon().careful)

    @cached_property
    def is_adding(self) -> bool:
        """Whether the action is named by a verb that brings something new."""
        first = groups_of(self.action.id_words[0]) if self.action.id_words else NOTHING
        return not self.window.id or bool(first & lexicon().takes_text)

    @cached_property
    def takes_unmarked(self) -> bool:
        """Whether text may be used that is not set apart."""
        said = [self.clause.tokens[at] for at in sorted(self.verbs)]
        if self.is_careful or not said:
            return False
        by_id = said[0].stem in self.action.id_words[:1]
        return by_id or any(token.groups & lexicon().takes_text for token in said)

    @cached_property
    def explained(self) -> frozenset[int]:
        """The tokens that belong to the action or the window without giving a value."""
        own, tokens, window = self.action.nouns | self.window.nouns, self.clause.tokens, self.window
        places = {at for at, token in enumerate(tokens) if token.names(own)}
        paths = {at for at, one in enumerate(tokens) if one.kind == "path"}
        places |= {at for at in paths if window.shows_path(tokens[at].text)}
        return self._addressed.union(places)

    @cached_property
    def _addressed(self) -> frozenset[int]:
        """The tokens that say which window is meant, as "list" in "to my list"."""
        tokens, found = self.clause.tokens, set[int]()
        nouns = (self.window.nouns | {self.window.id}) - {"#text", "text"}
        for at, token in enumerate(tokens if self.window.id else ()):
            if token.has("~it") or token.names(nouns):
                before = range(max(0, at - 4), at)
                cues = [one for one in before if tokens[one].has("~to", "~in", "~from")]
                found.update(range(cues[-1] + 1, at + 1) if cues else ())
        return frozenset(found)

    def fillers(self, param: Param) -> list[Filler]:
        """Return the fillers of a param, the best first."""
        found: list[Filler] = []
        names_items = self._names_items(param)
        if param.choices:
            found += self._choices(param)
        if param.is_bool:
            found += self._bools(param)
        elif param.is_reference or names_items:
            found += self._references(param)
        if param.is_number:
            found += self._numbers(param)
        if param.plain & {"date", "time", "datetime"}:
            found += [Filler({param.name: one.text}, frozenset([at]), 2.0 + self._cue(param, at))
                      for at, one in enumerate(self.clause.tokens)
                      if one.kind == "value" and one.text[0].isdigit()]  # fmt: skip
        if param.takes_text and param.is_path:
            found += self._paths(param)
        elif param.takes_text and not param.is_reference:
            is_new = self.is_adding or not names_items or (self.takes_unmarked and not found)
            found += [text for text in self._texts(param) if is_new or text.is_marked]
        return sorted(found, key=lambda one: -one.score)[:_MOST]

    def swallows(self, filler: Filler) -> bool:
        """Whether an unquoted text seems to contain another request."""
        tokens, places = self.clause.tokens, sorted(filler.tokens)
        joints = [at for at in places if tokens[at].has("~and") or tokens[at].text in ",，"]
        known = {group for window in self.scene.windows for group in window.verbs}
        rests = [tokens[at + 1 : places[-1] + 1] for at in joints]
        requests = [rest for rest in rests if _first_verb(rest) & known]
        if filler.is_solid:  # after a colon: "note: passport expires in May, tag it travel"
            return any(has_any(rest[:3], "~it") for rest in requests)
        param = next(one for one in self.action.params if one.name in filler.values)
        row = [tokens[at] for at in places]
        if self._is_instruction(places):
            return True
        is_odd = (joints and not filler.each) or has_any(row, *lexicon().cues.keys() - {"~and"})
        is_odd = is_odd or any(one.kind in ("value", "path", "number") for one in row)
        if is_odd and not (param.is_list or param.words & lexicon().free):
            return True  # a name has none of these
        ids = {window.id for window in self.scene.windows}
        return bool(requests) or any(token.text in ids for token in row)

    def _is_instruction(self, places: Sequence[int]) -> bool:
        """Whether an unquoted text says how, when or whether rather than what."""
        row = [self.clause.tokens[at] for at in places]
        before = self.clause.tokens[max(0, places[0] - 1) : places[0]]
        if row[0].kind == "number" and len(row) > 1 and self.window.named(int(row[0].number or 0)):
            return True  # "note 2 is wrong"
        if not self.is_careful:
            return has_any(row, "~unless")
        how = ("~vague", "~unless", "~if", "~not", "~only", "~because", "~when")
        if not self.window.holds_file:
            return has_any(row, *how)
        is_other = any(one.kind == "path" for one in row) or bool(self.explained & {*places})
        return is_other or has_any([*before, *row], *how, "~article", "~possessive", "~it")

    def _choices(self, param: Param) -> Iterator[Filler]:
        found: dict[str, int] = {}
        for at, token in enumerate(self.clause.tokens):
            for choice in param.choices:
                is_alias = self.action.aliases.get(token.text) == choice
                if choice not in found and (is_alias or is_choice(token, choice)):
                    found[choice] = at
        if param.is_list and found:
            tokens = frozenset(found.values())
            yield Filler({param.name: list(found)}, tokens, 1.5 + 0.5 * len(found))
        for choice, at in found.items() if not param.is_list else ():
            is_exact = self.clause.tokens[at].text.casefold() == choice.casefold()
            score = 1.5 + is_exact + self._cue(param, at)
            yield Filler({param.name: choice}, frozenset([at]), score)

    def _bools(self, param: Param) -> Iterator[Filler]:
        inverse, own = lexicon().inverse, self.action.groups | groups_of(stem(param.name))
        opposite = {inverse[group] for group in own if group in inverse}
        shows = has_any(self.action.label_tokens, "@show")
        says_yes = ("@on", "~yes", *(("@show", "@start") if shows else ()))
        says_no = ("@off", "~no", *(("@hide", "@stop") if shows else ()))
        for at, token in enumerate(self.clause.tokens):
            here, is_required = frozenset([at]), not param.is_optional
            is_free = at not in self.verbs or token.stem in param.words or not self.window.id
            if is_free and token.names(param.nouns):
                negated = at > 0 and self.clause.tokens[at - 1].has("~not")
                tokens = here | {at - 1} if negated else here
                yield Filler({param.name: not negated}, tokens, 1.0, shared=here)
            elif is_required and token.groups & opposite:
                yield Filler({param.name: False}, here, 1.2, shared=here)
            elif is_required or param.name in ("on", "enabled", "show", "active"):
                yes, no = token.has(*says_yes), token.has(*says_no)
                if yes != no:  # "off" says more than "lights"
                    score = 1.3 if token.has("~yes", "~no") else 1.0
                    yield Filler({param.name: yes}, here, score, shared=here)
                elif is_required and at in self.verbs and token.stem in self.action.id_words:
                    yield Filler({param.name: True}, here, 0.2, shared=here)

    def _numbers(self, param: Param) -> Iterator[Filler]:
        tokens = self.clause.tokens
        ends = [one for one in self.action.params if one.words & _TO and one.is_number]
        last = ends[0] if ends and param.words & _FROM else None  # it ends the range begun here
        is_place, is_before = bool(param.words & _PLACES), "before" in param.words

        def filler(first: float, end: float, used: frozenset[int], score: float) -> Filler:
            more = {last.name: end} if last else {}
            return Filler({param.name: first, **more}, used, score, shared=used & self.verbs)

        for at, token in enumerate(tokens):
            is_every = at > 0 and tokens[at - 1].has("~every")
            if token.is_ordinal and (is_every or not is_place):
                continue  # "the first" is no amount, and "every second line" no place
            here = frozenset([at])
            after = tokens[at + 1] if at + 1 < len(tokens) else None
            if token.kind == "range" and token.number and token.upto and last:
                yield filler(int(token.number), int(token.upto), here, 3.0)
            elif token.number is not None and token.kind == "number":
                if last and token.is_ordinal and after and after.kind == "number" and after.number:
                    yield filler(1, int(after.number), here | {at + 1}, 4.0)  # "the first two"
                    continue
                is_counted = after is not None and after.has("#line", "~measure", "~one")
                joint = at + 1 + is_counted  # 第2行到第3行
                upto = tokens[joint + 1].number if joint + 1 < len(tokens) else None
                is_next = upto == token.number + 1
                if last and upto and tokens[joint].has("~to", *(["~and"] if is_next else [])):
                    used = frozenset(range(at, joint + 2))
                    yield filler(int(token.number), int(upto), used, 3.0)
                    continue
                value, used = self._measured(param, at)
                if is_before:
                    near = range(max(0, at - 3), min(len(tokens), at + 3))
                    if has_any(tokens[near.start : at], "~to") or self.clause.has("~end"):
                        continue  # "add it to line 2" is not before it
                    used |= {one for one in near if tokens[one].has("~before", "~after")}
                    value += has_any(tokens[near.start : near.stop], "~after")
                number = _typed(param, value)
                if number is not None:
                    around = [*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]]
                    score = 1.2 + any(one.names(param.nouns) for one in around)
                    score += self._cue(param, at) + 0.3 * (is_place and token.is_ordinal)
                    yield filler(number, number, used, score)
            elif is_place and token.has("~end", "~last", "~top"):
                place = self._place(param, token)
                if place is not None and not (token.has("~top") and at in self.verbs):
                    yield filler(place, place, here, 1.5)
        if is_before and self.is_adding:  # a line without a place is added at the end
            yield Filler({param.name: (self.window.total_lines or 0) + 1}, _NONE, 0.1)
        yield from self._declared(param)

    def _declared(self, param: Param) -> Iterator[Filler]:
        """Read special values that the label explains, as "pages=-1: the one before"."""
        for name, number, words in _SPECIAL.findall(self.action.label):
            if name == param.name and ("before" in words or "上一" in words):
                for at in self.clause.places("@previous"):
                    here = frozenset([at])
                    yield Filler({name: int(number)}, here, 2.0, shared=here)

    def _place(self, param: Param, token: Token) -> int | None:
        """Return the number of the first or last place."""
        if token.has("~top"):
            return 1
        lines, is_before = self.window.total_lines, "before" in param.words
        count = lines if lines is not None and "page" not in param.words else len(self.window.rows)
        return count + is_before if count or is_before else None

    def _measured(self, param: Param, at: int) -> tuple[float, frozenset[int]]:
        """Return a number in the unit of a param, and the tokens that give it."""
        row = self.clause.tokens[at : at + 2]
        value = row[0].number or 0.0
        wanted = next((_UNIT_OF[word] for word in param.words if word in _UNIT_OF), None)
        for count, holder in enumerate(row, 1):
            unit = next((_SECONDS[group] for group in holder.groups if group in _SECONDS), None)
            if unit and wanted:
                return value * unit / wanted, frozenset(range(at, at + count))
        has_unit = len(row) > 1 and row[1].has("#percent", "#degree", "#money", "#number")
        return value, frozenset([at, at + 1] if has_unit else [at])

    def _names_items(self, param: Param) -> bool:
        """Whether a param takes the name or number of something that the window shows."""
        if param.is_path or param.is_list or not self.window.id:
            return False
        texts = [one for one in self.action.params if one.takes_text and not one.is_reference]
        is_name = param.takes_text and not param.words & lexicon().free and not self.is_adding
        is_name = is_name and len(texts) == 1
        return (is_name and bool(self.window.head)) or self._is_shown(param)

    def _is_shown(self, param: Param) -> bool:
        return bool(self.window.tags & (param.words | {param.name}))

    def _references(self, param: Param) -> Iterator[Filler]:
        tokens = self.clause.tokens
        is_loose = not (param.is_reference or self._is_shown(param))
        for one in mentions(self.scene, self.window, self.clause):
            if is_loose and tokens[one.first].has("~it", "~this", "~both", "~last"):
                continue
            values = tuple(dict.fromkeys(value_of(item, param) for item in one.items))
            said = self.clause.span(one.first, one.last).casefold()
            if is_loose and any(str(value).casefold() != said for value in values):
                continue
            if not values or (param.is_number and not all(isinstance(v, int) for v in values)):
                continue
            score = 2.0 + 0.6 * one.is_exact + 0.1 * (one.last - one.first)
            score = -0.6 if one.is_all else score  # an action for all of them is better
            after, own = one.last + 1, self.explained - self.verbs
            is_whole = has_any(tokens[after : after + 1], "~one", "~this") or after in own
            is_part = bool(self.action.groups & {"@edit", "@rename"}) and not is_whole
            is_part = is_part and not one.is_exact  # "the milk one" is all of it
            if one.is_choice:
                labels = tuple((v, item.line) for v, item in zip(values, one.items, strict=False))
                yield Filler({param.name: values[0]}, one.tokens, score - 1.0, choices=labels)
            elif param.is_list:
                yield Filler({param.name: list(values)}, one.tokens, score)
            else:
                each = values[1:]
                yield Filler({param.name: values[0]}, one.tokens, score, each=each, is_part=is_part)
        for at, token in enumerate(tokens) if param.takes_number else ():
            number = token.number if token.kind == "number" and not token.is_ordinal else None
            if number is not None and number.is_integer():
                yield Filler({param.name: int(number)}, frozenset([at]), 0.8)

    def _paths(self, param: Param) -> Iterator[Filler]:
        is_sure = not (param.is_optional and self.window.id)
        for at, token in enumerate(self.clause.tokens):
            cue = self._cue(param, at)
            if token.kind in ("path", "quoted") and (cue or is_sure):
                yield Filler({param.name: token.text}, frozenset([at]), 2.0 + cue)
        is_file = self.window.holds_file
        for one in mentions(self.scene, self.window, self.clause) if not is_file else ():
            cue = self._cue(param, one.first)
            if len(one.items) == 1 and not one.items[0].tag and (cue or not param.is_optional):
                text = re.sub(r"\s+\(\d+\)$", "", one.items[0].text.partition("  ")[0])
                yield Filler({param.name: text}, one.tokens, 1.5 + one.is_exact)

    def _texts(self, param: Param) -> Iterator[Filler]:
        tokens = self.clause.tokens
        texts = [one for one in self.action.params if one.takes_text and not one.is_reference]
        is_extra = param.is_optional and any(not text.is_optional for text in texts)
        is_extra = is_extra or self.action.id == "close"
        for at, token in enumerate(tokens):
            cue = self._cue(param, at)
            is_name = token.kind == "path" and self.window.holds_file
            if token.is_marked and (cue or not is_extra) and not is_name:
                score = (2.0 if token.kind == "quoted" else 1.6) + cue - (at in self.explained)
                yield self._text(param, at, at, score)
            elif "unit" in param.words and token.has("~unit") and tokens[at - 1].kind == "number":
                yield self._text(param, at, at, 2.0)
        for first, cue_group in self._starts():
            ends = self._ends(first) if cue_group != ":" else [len(tokens) - 1]
            for last in ends:
                found = self._phrase(param, first, last, cue_group, is_extra=is_extra)
                if found is not None:
                    yield found
        if self.window.holds_file and param.words & {"old", "find", "pattern"}:
            yield from self._shown(param)

    def _phrase(
        self, param: Param, first: int, last: int, cue: str, *, is_extra: bool
    ) -> Filler | None:
        """Return the text between two tokens as a value, if a person could mean it so."""
        tokens, opens, as_said = self.clause.tokens, not self.window.id, cue in (":", "~saying")
        begin, end = self._trimmed(first, last, cue)
        row, span = tokens[begin : end + 1], frozenset(range(begin, end + 1))
        leads = self._is_named(param, first) or self._leads(cue, param)
        leads = leads or (opens and param.is_list and cue in (":", "~with"))
        is_marked = leads or as_said or cue == "~called"
        texts = [one for one in self.action.params if one.takes_text and not one.is_reference]
        needed = [text for text in texts if not text.is_optional]
        is_short = not opens and len(row) < 5 and first - 1 in self.verbs and not self.is_careful
        is_short, verb = is_short and len(needed) < 2, min(self.verbs, default=0)
        if (
            not row
            or (len(row) == 1 and row[0].is_marked)
            or (first == 0 and end + 1 not in self.verbs)
            or (cue != ":" and any(token.text in ":：" for token in tokens[verb : end + 1]))
            or (not as_said and not param.is_list and any(one.kind == "quoted" for one in row))
            or (not opens and is_extra and cue != "~tagged" and not self._is_named(param, first))
            or (not is_marked and (cue or not (self.takes_unmarked or is_short)))
            or row[0].has("~it", "~this")
            or (not is_marked and (row[0].has(*_NOT_TEXT) or has_any(row, *ASKING, "~top", "~end")))
            or not span & self.clause.content
            or span <= self.explained
            or (self.window.holds_file and cue in ("~for", "~in", "~from", "~at", "~by"))
        ):
            return None
        at_edge = (begin in self.explained and not is_marked) or end in self.explained
        score = (1.4 if is_marked else 0.5) + 0.8 * leads + 0.3 * (cue == ":") + 0.02 * len(row)
        score -= 0.3 * (at_edge and len(row) > 1 and not as_said)
        score -= 0.6 * bool(self._addressed & span)
        return self._text(param, begin, end, score, is_marked=is_marked)

    def _shown(self, param: Param) -> Iterator[Filler]:
        raw = "\n".join(row.text for row in self.window.rows).casefold()
        for first, _ in self._starts():
            for last in self._ends(first):
                begin, end = self._trimmed(first, last)
                if begin <= end and self.clause.span(begin, end).casefold() in raw:
                    yield replace(self._text(param, begin, end, 1.3), is_solid=True)

    def _text(
        self, param: Param, first: int, last: int, score: float, *, is_marked: bool = True
    ) -> Filler:
        text, token = self.clause.span(first, last), self.clause.tokens[first]
        is_whole = first == last and token.is_marked
        value: Any = token.text if is_whole else bare(text)
        is_name = self.is_adding and self.window.id and not param.words & lexicon().free
        each: tuple[Any, ...] = ()
        if param.is_list:
            parts = [value] if is_whole else parts_of(text)
            value = parts[0] if param.takes_one and len(parts) == 1 else parts
        elif is_name and not is_whole:
            value, *more = parts_of(text) or [value]
            each = tuple(more)
        is_solid = is_whole or self.clause.tokens[first - 1].text in ":："
        tokens = frozenset(range(first, last + 1))
        return Filler({param.name: value}, tokens, score, is_marked, is_solid, each)

    def _starts(self) -> Iterator[tuple[int, str]]:
        """Return where a text may begin, with the small word before it."""
        tokens, cues = self.clause.tokens, lexicon().cues.keys() - {"~and"}
        if tokens[0].has("~object") or not tokens[0].text.isascii():
            yield 0, ""
        for at, (token, after) in enumerate(pairwise(tokens)):
            mark = ":" if token.text in (":", "：") else "~," if token.text in (",", "，") else ""
            is_number = token.kind == "number" and not after.has("~unit")
            if cue := mark or min(token.groups & cues, default=""):
                yield at + 1, cue
            elif not after.groups & cues and (
                at in self.verbs | self.explained
                or is_number
                or token.has("~object", "~unit", "~measure")
                or (token.has("~one") and at > 0 and tokens[at - 1].kind == "number")
            ):
                yield at + 1, ""

    def _ends(self, first: int) -> Iterator[int]:
        """Return where a text that begins at a token may end."""
        tokens, cues = self.clause.tokens, lexicon().cues.keys() - {"~and"}
        for at, after in enumerate(tokens[first + 1 : first + _FAR], first):
            is_mark = after.text in (":", "：", ",", "，", "的") or after.kind == "number"
            is_cue = after.groups & cues or at + 1 in self.verbs or after.has("~object")
            if is_mark or is_cue or after.is_marked or after.stem in self._names:
                yield at
        if first < len(tokens):
            yield len(tokens) - 1

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(word for param in self.action.params for word in param.words)

    def _trimmed(self, first: int, last: int, cue: str = "") -> tuple[int, int]:
        """Return a span without the small words and marks around it."""
        tokens, as_said = self.clause.tokens, cue in (":", "~saying")
        kept = ")）'!！" if cue == ":" else ")）'"
        while not as_said and first < last and _is_around(tokens[first], _BEFORE_TEXT, kept):
            first += 1
        while last > first and _is_around(tokens[last], () if as_said else _AFTER_TEXT, kept):
            last -= 1
        return first, last

    def _is_named(self, param: Param, first: int) -> bool:
        """Whether the name of a param is right before a text."""
        before = [token for token in self.clause.tokens[:first][-9:] if token.text not in ":："]
        while len(before) > 1 and before[-1].has("~be"):
            before.pop()
        return bool(before) and before[-1].names(param.nouns)

    def _leads(self, cue: str, param: Param) -> bool:
        return bool(lexicon().cues.get(cue, NOTHING) & (param.words | {param.name}))

    def _cue(self, param: Param, at: int) -> float:
        """Return 1 if a small word before a value leads to the param, or its name is there."""
        for token in reversed(self.clause.tokens[max(0, at - 3) : at]):
            # Chinese 里 and 中 belong to what is before them.
            is_behind = token.has("~in") and not token.text.isascii() and token.text != "在"
            leads = not is_behind and any(self._leads(group, param) for group in token.groups)
            if leads or token.names(param.nouns):
                return 1.0
            if is_content(token):
                break
        return 0.0


def _is_around(token: Token, groups: tuple[str, ...], kept: str) -> bool:
    return token.has(*groups) or (token.kind == "mark" and token.text not in kept)


def _typed(param: Param, value: float) -> int | float | None:
    if "float" in param.plain and not ("int" in param.plain and value.is_integer()):
        return value
    return int(value) if value.is_integer() else None


def _first_verb(tokens: Sequence[Token]) -> frozenset[str]:
    small = ("~polite", "~then", "~object", "~and", "~person")
    return next((token.verbs for token in tokens if not token.has(*small)), NOTHING)


def is_choice(token: Token, choice: str) -> bool:
    """Return whether a token names a choice."""
    low, root = choice.casefold(), stem(choice)
    is_day = len(low) == 3 and token.stem[:3] == low and len(token.stem) > 4  # "Monday" for "mon"
    if token.text.casefold() == low or token.stem == root or is_day:
        return True
    return any(group[0] in "#@" for group in token.groups & groups_of(root))


def fill(slots: Slots) -> tuple[tuple[Filler, ...], tuple[Param, ...], float]:
    """Return the fillers that explain most, the params that stay empty, and the score."""
    params = slots.action.params
    required = {param.name for param in params if not param.is_optional}
    needed = slots.clause.content - slots.verbs - slots.explained
    options = [slots.fillers(param) for param in params]
    best: tuple[tuple[int, int, float], tuple[Filler, ...]] = ((-99, -99, 0.0), ())
    steps = 0

    def search(at: int, chosen: tuple[Filler, ...], used: frozenset[int], given: set[str]) -> None:
        nonlocal best, steps
        steps += 1
        if steps > _STEPS:
            return
        if at == len(params):
            score = sum(one.score for one in chosen)
            best = max(best, ((-len(required - given), -len(needed - used), score), chosen),
                       key=lambda one: one[0])  # fmt: skip
            return
        for one in options[at] if params[at].name not in given else ():
            taken = one.tokens - one.shared
            is_free = not taken & used and not (taken & slots.verbs and not one.shared)
            if is_free and not given & one.values.keys():
                search(at + 1, (*chosen, one), used | one.tokens, given | one.values.keys())
        search(at + 1, chosen, used, given)

    search(0, (), _NONE, set())
    given = {name for one in best[1] for name in one.values}
    missing = tuple(param for param in params if param.name in required - given)
    return best[1], missing, best[0][2]

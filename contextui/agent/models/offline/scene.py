"""What a request shows: the windows and what they can do, the classes, and what was said and done.

Only the request's own `<Window>` blocks count. Whatever text inside one looks like is data. Content
is kept as text and read where it is needed, so that a long list costs no more than a short one.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, wraps
from html import escape, unescape
from itertools import accumulate, islice
from typing import Any, TypeVar, cast

from contextui.agent.models.offline.lexicon import groups_of, lexicon, stem
from contextui.agent.models.offline.tokens import Token, is_chinese, is_content, tokenize
from contextui.model import Block, LlmMessage, ModelRequest
from contextui.windowing.blocks import base_of, whole_block
from contextui.words import Words

_Function = TypeVar("_Function", bound=Callable[..., Any])
_WINDOW = re.compile(r'<Window id="([\w-]+)" version="([\d.]*)"[^<>]*>')
_ACTION = re.compile(r'<action id="([^"]+)"(?: params="([^"]*)")?[^>]*?(?:/>|>([^<]*)</action>)')
_CLASS = re.compile(r'<class name="([^"]+)"(?: args="([^"]*)")?[^>]*?(?:/>|>([^<]*)</class>)')
_CLASSES = re.compile(r"^<Windows>\n(?:.*\n)*?</Windows>$", re.MULTILINE)
_ELEMENT = re.compile(r"<([A-Za-z][\w.-]*)((?:\s+[\w:.-]+=\"[^\"]*\")*)\s*(?:/>|>([^<]*))")
_JOBS = re.compile(r'(?:<Job id="\d+">[^<]*</Job>\s*)+')  # at the end of a content
_BOUNDS = re.compile(r"\([^()|]*(?:\.\.|[<>])[^()|]*\)$")
_ATTRIBUTE = re.compile(r'([\w:.-]+)="([^"]*)"')
_LINE = re.compile(
    r"\s*(?P<bullet>[-*•]\s+)?(?:#?(?P<id>\d{1,6})[.):：、]?\s+)?(?:\[[ xX✓]?\]\s*)?(?P<text>.*)"
)
_FACTS = re.compile(r"\s\s((?:[a-z_]+=\S+\s?)+)$")  # "two lines  id=main language=python"
_FACT = re.compile(r"([a-z_]+)=(\S+)")
_NAMED = re.compile(r"(\S[^:：=]{0,59}?)\s*[:：=]\s+(\S.*)")
_PLAIN = {"string", "int", "float", "bool", "any", "object", "null", "datetime", "date", "time"}
_LONGEST = 400_000  # characters of a block that is read
_MOST = 2_000  # items of a window that are listed
_SHORT = 1_500  # characters of a content that is read whole for every sentence
_LONG = 1_000  # characters of a line that are read
_HEAD = 50  # items of a longer one that tell what it shows
_LINES = 30  # lines with the same word that are looked at
_RECENT = 40  # messages before the turn that are looked through


@dataclass(frozen=True, slots=True)
class Param:
    """One param of an action, or one arg of a class."""

    name: str
    words: frozenset[str]  # of the name, and their stems
    nouns: frozenset[str]  # these, and the nouns that mean the same
    plain: frozenset[str]  # the plain types that it takes
    choices: tuple[str, ...]  # the words that it takes
    is_list: bool
    takes_one: bool  # one value as well as a list
    is_optional: bool
    takes_text: bool
    takes_number: bool
    is_number: bool  # it takes numbers alone
    is_bool: bool
    is_path: bool
    is_reference: bool  # it names something that exists, by id or by text


def _words_in(name: str) -> frozenset[str]:
    return frozenset(word for word in re.split(r"[_\W]+", name.casefold()) if word)


def _meanings(words: Iterable[str], kinds: str) -> frozenset[str]:
    return frozenset(one for word in words for one in groups_of(word) if one[0] in kinds)


def _keys(tokens: Iterable[Token], kinds: str = "#@") -> frozenset[str]:
    found = {one for token in tokens for one in (token.stem or token.text, *token.groups)}
    return frozenset(one for one in found if one[0] not in "#@~" or one[0] in kinds)


@dataclass(frozen=True, eq=False)
class Action:
    """What can be done with a window, or, with an empty id, the opening of a class."""

    id: str
    label: str
    params: tuple[Param, ...] = ()
    says: tuple[str, ...] = ()

    @cached_property
    def id_words(self) -> tuple[str, ...]:
        """The words of the id, as stems."""
        return tuple(stem(word) for word in re.split(r"[_\W]+", self.id) if word)

    @cached_property
    def names(self) -> frozenset[str]:
        """The id and the label, as they may be typed."""
        names = (self.id, self.id.replace("_", " "), self.label, self.short_label)
        return frozenset(map(str.casefold, names))

    @cached_property
    def groups(self) -> frozenset[str]:
        """The groups of the words of the id."""
        return _meanings(self.id_words, "#@")

    @cached_property
    def label_tokens(self) -> tuple[Token, ...]:
        """The words of the label."""
        return tokenize(self.label)

    @cached_property
    def short_label(self) -> str:
        """The label up to its first comma or semicolon."""
        return re.split(r"[,;；，：:]", self.label)[0].strip()

    @cached_property
    def verbs(self) -> dict[str, float]:
        """The words and groups that name the action, with their weights."""
        found: dict[str, float] = {}
        is_careful = bool(_meanings(self.id_words[:1], "@") & lexicon().careful)
        for place, word in enumerate(self.id_words):
            # What destroys or writes must be named by its verb: "line 3" does not delete it.
            _put(found, [word], 4.0 if not place else 1.9 if is_careful else 2.5)
            small = {one for one in groups_of(f"={word}") if one[0] == "~" and one != "~drop"}
            _put(found, _meanings([word], "@") | small, 1.5 if place else 3.0)
        for place, token in enumerate(one for one in self.label_tokens if is_content(one)):
            is_early = place == 0 or (place < 3 and not token.stem.isascii())
            is_main = is_early and bool(token.verbs or not token.groups)
            is_inside = token.end <= len(self.short_label)
            _put(found, [token.stem], 2.5 if is_main else 1.0 if is_inside else 0.5)
            own = token.verbs & self.groups or token.verbs
            _put(found, own, 2.5 if is_main else 0.6 if is_inside else 0.5)
        return found

    @cached_property
    def aliases(self) -> dict[str, str]:
        """The Chinese names of choices that the label gives: "food 餐饮"."""
        choices = [choice for param in self.params for choice in param.choices]
        pairs = re.findall(r"([A-Za-z_]+)\s*[(（]?([㐀-鿿]+)", self.label)
        return {name: choice for choice, name in pairs if choice in choices}

    @cached_property
    def nouns(self) -> frozenset[str]:
        """Words and groups that belong to the action without naming it."""
        names = {*self.id_words, *(word for param in self.params for word in param.words)}
        head = tokenize(re.split(r"[;；:：(（]", self.label)[0])
        return _keys(filter(is_content, head)) | names | _meanings(names, "#") | self.groups


def _put(found: dict[str, float], keys: Iterable[str], weight: float) -> None:
    found.update({key: max(found.get(key, 0.0), weight) for key in keys if key})


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a window shows: an element, or a line of text."""

    tag: str
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    depth: int = 0

    @property
    def line(self) -> str:
        """All of it, to be said in an answer."""
        facts = [(name, value) for name, value in self.attributes.items() if name != "id"]
        more = ", ".join(name if value == "true" else f"{name} {value}" for name, value in facts)
        number = self.attributes.get("id", "")
        text = self.text or (self.tag if not number else "")
        return " ".join(filter(None, [number, text, f"({more})" if more else ""]))


@dataclass(frozen=True, eq=False)
class Window:
    """An open window as its block shows it, or, with an empty id, a class that can be opened."""

    id: str
    name: str
    description: str
    actions: tuple[Action, ...]
    raw: str = field(default="", repr=False)
    block: str = field(default="", repr=False)  # all of it
    version: tuple[int, ...] = ()
    jobs: tuple[Item, ...] = ()  # that are running

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The words and groups that name the window."""
        head = tokenize(re.split(r"[:：,，.。;；]", self.description)[0])
        nouns = _keys(filter(_is_noun, head), "#")
        return self.names | nouns | {"#window", "window"}

    @cached_property
    def names(self) -> frozenset[str]:
        """The words and groups of its name and of the first noun of its description."""
        words = {stem(word) for word in _words_in(self.name)}
        first = [token for token in tokenize(self.description) if _is_noun(token)][:1]
        found = _keys(first, "#") | _meanings(words, "#") | {stem(self.name), *words}
        return found | {"#list"} if "#task" in found else found

    @cached_property
    def topics(self) -> frozenset[str]:
        """The words and groups of the whole description."""
        return self.nouns | _keys(filter(is_content, tokenize(self.description)))

    def action(self, action_id: object) -> Action | None:
        """Return an action by its id."""
        return next((one for one in self.actions if one.id == action_id), None)

    @cached_property
    def known_words(self) -> frozenset[str]:
        """The Chinese words of its labels, choices and description."""
        tokens = [token for action in self.actions for token in action.label_tokens]
        params = [param for action in self.actions for param in action.params]
        found = {token.text for token in tokens if not token.groups and len(token.text) < 6}
        found |= {choice for param in params for choice in param.choices}
        found |= {alias for action in self.actions for alias in action.aliases}
        found |= {word for word in self.nouns if word[0] not in "#@~"}
        return frozenset(word for word in found if not word.isascii())

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The groups of verbs that name its actions."""
        keys = [(key, weight) for action in self.actions for key, weight in action.verbs.items()]
        return frozenset(key for key, weight in keys if weight >= 2.5 and key[0] == "@")

    @property
    def holds_file(self) -> bool:
        """Whether what is typed into it ends up in a file."""
        return "#file" in self.nouns and not self.nouns & {"#tree", "#folder", "#workspace"}

    def shows_path(self, path: str) -> bool:
        """Return whether this is the file that it shows."""
        shown = self.raw.lstrip().split(maxsplit=1)[:1] if self.holds_file else []
        return bool(shown) and shown[0].endswith(path.removeprefix("./"))

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """What it shows, item by item."""
        return (*islice(items_in(self.raw), _MOST), *self.jobs)

    @cached_property
    def rows(self) -> tuple[Item, ...]:
        """The items of the kind that there is most of: those that "the second one" counts."""
        return _rows(self.items[: -len(self.jobs) or None] or self.items)

    @cached_property
    def head(self) -> tuple[Item, ...]:
        """The first rows."""
        return _rows(self._first)

    @cached_property
    def _first(self) -> tuple[Item, ...]:
        return tuple(islice(items_in(self.raw), _HEAD)) if self.is_long else self.items

    @property
    def is_long(self) -> bool:
        """Whether only some of the content is looked at for a sentence."""
        return len(self.raw) > _SHORT

    @cached_property
    def tags(self) -> frozenset[str]:
        """The names of its elements and of their attributes, and what they mean."""
        rows = _ELEMENT.findall(self.raw[:_SHORT])
        names = {name for tag, facts, _ in rows for name in (tag, *dict(_ATTRIBUTE.findall(facts)))}
        names = names or {name for item in self._first for name in item.attributes}
        names |= {item.tag for item in self.jobs}
        return frozenset(one for name in names for one in (name, stem(name), f"#{name.casefold()}"))

    def lines_with(self, texts: Iterable[str]) -> dict[int, frozenset[str]]:
        """Return where lines begin that contain some of these texts, and which of them."""
        raw, lines = self.low, dict[int, int]()
        for text in texts:
            at, most = raw.find(text), len(lines) + _LINES
            while at >= 0 and len(lines) < most:
                start, end = raw.rfind("\n", 0, at) + 1, raw.find("\n", at)
                lines[start] = end if end >= 0 else len(raw)
                at = raw.find(text, lines[start])
        pairs = ((at, raw[at:end]) for at, end in lines.items())
        return {at: frozenset(text for text in texts if text in line) for at, line in pairs}

    def items_at(self, start: int) -> list[Item]:
        """Return the items on the line that begins at a place."""
        line = self.raw[start : start + _LONG].partition("\n")[0]
        return [item for item in items_in(line) if item.text or item.attributes]

    def named(self, value: object) -> Item | None:
        """Return the row that a value of a param names: by its id, or by one of its texts."""
        is_id, text = isinstance(value, int), escape(str(value)).casefold()
        rows: Sequence[Item] = self.rows if not self.is_long else ()
        if self.is_long:
            starts = self.lines_with([f' id="{text}"' if is_id and "<" in self.raw else text])
            rows = [item for start in sorted(starts) for item in self.items_at(start)]
        for row in rows if is_id else reversed(rows):  # of two with the same text the newer one
            texts = (row.attributes.get("id"),) if is_id else (row.text, *row.attributes.values())
            if str(value) in texts:
                return row
        return None

    @cached_property
    def shape(self) -> tuple[object, ...]:
        """What two windows have in common that differ only in what they show."""
        has_rows = self.is_long or bool(self.head)
        return (self.name, self.description, id(self.actions), self.tags, has_rows)

    @cached_property
    def low(self) -> str:
        """The content in lower case."""
        low = self.raw.casefold()
        return low if len(low) == len(self.raw) else self.raw

    @cached_property
    def total_lines(self) -> int | None:
        """The number of lines, where the first line says how many there are."""
        head = self.raw.lstrip().partition("\n")[0]
        found = re.search(r"(?:of|共) (\d+)|(\d+) (?:lines|行)", head) if "<" not in head else None
        return int(found[1] or found[2]) if found else None


def _rows(items: Sequence[Item]) -> tuple[Item, ...]:
    shown = [item for item in items if item.text or item.attributes]
    kinds = Counter(item.tag for item in shown)
    main, count = kinds.most_common(1)[0] if kinds else ("", 0)
    found = [item for item in shown if item.tag == main or count == 1]
    if len(found) == 1 and not (main or found[0].attributes):
        return ()  # a sentence, such as "There are no notes."
    return tuple(found[1:] if not main and _is_header(found) else found)


def _is_noun(token: Token) -> bool:
    return is_content(token) and not (token.groups and token.groups == token.verbs)


def _is_header(lines: Sequence[Item]) -> bool:
    """Whether the first line of a text says what the others are."""
    has_id = ["id" in line.attributes for line in lines]
    if len(lines) > 1 and len({*has_id[1:]}) == 1 and has_id[0] != has_id[1]:
        return True  # "3 found", or a line before numbered ones
    if len(lines) < 2 or all(has_id):
        return False
    return " " in lines[0].text and not any(" " in line.text for line in lines[1:])


def items_in(raw: str) -> Iterator[Item]:
    """Read the items of a content: its elements, or its lines."""
    if "<" in raw:
        for match in _ELEMENT.finditer(raw):
            attributes = {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[2])}
            yield Item(match[1], unescape(match[3] or "").strip(), attributes)
        return
    for line in filter(str.strip, raw.splitlines()):
        found = _LINE.match(line)
        assert found is not None
        text, facts = unescape(found["text"]).strip(), {"id": found["id"]} if found["id"] else {}
        if found["bullet"] and (named := _NAMED.fullmatch(text)):
            text, facts["value"] = named[1], named[2]
        elif more := _FACTS.search(text):
            facts |= dict(_FACT.findall(more[1]))
            text = text[: more.start()]
        yield Item("", text, facts, len(line) - len(line.lstrip()))


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was made, and what came of it."""

    tool: str
    input: Mapping[str, Any]
    ok: bool = True
    result: str = ""
    step: int = 0

    @property
    def window_id(self) -> str:
        """The window that it acted on, or opened."""
        if self.tool == "action":
            return str(self.input.get("window_id", ""))
        found = re.search(r"\b([a-z][\w-]*_\d+)\b", self.result)
        return found[1] if found and self.tool == "create" else ""

    @property
    def values(self) -> Mapping[str, Any]:
        """The params or args that were given."""
        inner = self.input.get("params" if self.tool == "action" else "args")
        return inner if isinstance(inner, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Step:
    """One answer within the turn: the windows before it, and its calls."""

    windows: tuple[Window, ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Scene:
    """Everything that counts for the next answer."""

    words: str  # what the person typed in this turn
    classes: tuple[Window, ...]
    windows: tuple[Window, ...]
    steps: tuple[Step, ...] = ()  # what was done in this turn so far
    earlier: tuple[Call, ...] = ()  # the calls of the turns before, the latest first
    said: str = ""  # what was answered in the turn before
    memo: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def recent(self) -> Iterator[Call]:
        """All calls, the latest first."""
        for step in reversed(self.steps):
            yield from reversed(step.calls)
        yield from self.earlier

    @cached_property
    def focus(self) -> str:
        """The window that was used last, or opened last."""
        known = {window.id for window in self.windows}
        used = (call.window_id for call in self.recent if call.ok and call.window_id in known)
        return next(used, self.windows[-1].id if self.windows else "")

    @cached_property
    def known_words(self) -> frozenset[str]:
        """Chinese words of labels and descriptions that the lexicon does not have."""
        return frozenset(word for one in (*self.windows, *self.classes) for word in one.known_words)

    def was_used(self, window: Window) -> bool:
        """Return whether this is the window that was used last, and not only opened."""
        is_focus = window.id == self.focus
        return is_focus and any(call.window_id == window.id for call in self.recent)

    def window(self, window_id: str) -> Window | None:
        """Return an open window."""
        return next((one for one in self.windows if one.id == window_id), None)


def remembered(function: _Function) -> _Function:
    """Keep what a function returns for a scene, as long as the scene."""

    def kept(scene: Scene, *args: Any) -> Any:
        key = (function, *args)
        if key not in scene.memo:
            scene.memo[key] = function(scene, *args)
        return scene.memo[key]

    return cast(_Function, wraps(function)(kept))


def read(request: ModelRequest) -> Scene:
    """Read a request. Whatever is in it, nothing is raised."""
    messages, says = request.messages, tuple(sorted(request.says.items()))
    if not messages:
        return Scene("", _classes(request), ())
    start = _turn_start(messages)
    past = messages[max(0, start - _RECENT) : start]
    windows: dict[str, Window] = {}
    for message in messages[_first_unstable(request) : start + 1]:
        _take(windows, message, says)
    steps = tuple(_steps(messages[start + 1 :], windows, says))
    words, classes = _words(messages[start]), _classes(request)
    earlier = tuple(_calls_back([*past, messages[start]]))
    return Scene(words, classes, tuple(windows.values()), steps, earlier, _said(past))


_Says = tuple[tuple[str, tuple[str, ...]], ...]  # phrasings by "class.action"
_Rows = tuple[tuple[str, str, str], ...]  # id, params and label of actions


@lru_cache(maxsize=256)
def window_of(text: str, says: _Says = ()) -> Window | None:
    """Return the window that a block shows; None if the text is no such block."""
    found = _WINDOW.match(text)
    if found is None or len(text) > _LONGEST or not text.rstrip().endswith("</Window>"):
        return None
    # Inside of the content only elements can look like these, and they come before.
    end = text.rfind("<Actions>")
    start, close = text.find("<Content>", 0, end), text.rfind("</Content>", 0, end)
    described = re.search(r"<Description>([^<]*)</Description>", text[: max(start, 0) or end])
    about = unescape(described[1]).strip() if described else ""
    shown = text[start + 9 : close] if 0 < start < close else ""
    at = shown.find('<Job id="')
    jobs = tuple(items_in(shown[at:])) if at >= 0 and _JOBS.fullmatch(shown, at) else ()
    name = re.sub(r"[_-]?\d+$", "", found[1])
    own = tuple((key, texts) for key, texts in says if key.startswith(f"{name}."))
    return Window(
        id=found[1],
        name=name,
        description=about,
        actions=_actions(text[end:], own, _beside(jobs, about)) if end > 0 else (),
        raw=shown[:at] if jobs else shown,
        block=text,
        version=tuple(int(part) for part in re.findall(r"\d{1,9}", found[2])),
        jobs=jobs,
    )


def _beside(jobs: Sequence[Item], about: str) -> _Rows:
    """Return the actions of a window with running jobs that its list does not name."""
    words, names = Words("zh" if is_chinese(about) else "en"), [job.text for job in jobs]
    which = "job:int" if len(jobs) > 1 else "job:int?"
    waiting = [words("Wait until a job is done or ends"), *(one.partition(",")[0] for one in names)]
    cancelling = ("cancel", which, words("Cancel a running job"))
    return (cancelling, ("wait", "seconds:float=60", ", ".join(waiting))) if jobs else ()


@lru_cache(maxsize=128)
def _actions(text: str, says: _Says, beside: _Rows) -> tuple[Action, ...]:
    phrasings = {name.partition(".")[2]: texts for name, texts in says}
    rows = {row[0]: row for row in (*beside, *_ACTION.findall(text))}
    return tuple(
        Action(name, unescape(label).strip(), params_of(unescape(params)), phrasings.get(name, ()))
        for name, params, label in rows.values()
    )


def _classes(request: ModelRequest) -> tuple[Window, ...]:
    blocks = _blocks(request.messages[0])[:1] if request.messages else ()
    first = "".join(map(_text, blocks))
    project = classes_of(first) if first.startswith("<Project>\n") else ()
    return (*classes_of(request.system), *project)


@lru_cache(maxsize=8)
def classes_of(text: str) -> tuple[Window, ...]:
    """Return the classes that a system prompt, or a `<Project>` block, lists."""
    found = _CLASSES.search(text)
    rows = _CLASS.findall(found[0]) if found else ()
    return tuple(
        Window("", name, unescape(words).strip(), (Action("", "", params_of(unescape(args))),))
        for name, args, words in rows
    )


@lru_cache(maxsize=1_024)
def params_of(text: str) -> tuple[Param, ...]:
    """Read params in their short form: ``text:string,count:int(1..5)=3,all:bool?``."""
    rows = [part.partition(":") for part in _split(text[:4_000], ",")]
    return tuple(_param(row[0].strip(), row[2].strip()) for row in rows if row[0] and row[1])


def _param(name: str, kind: str) -> Param:
    kind, is_optional = _split(kind, "=")[0], len(_split(kind, "=")) > 1 or kind.endswith("?")
    parts = [part.strip() for part in _split(_BOUNDS.sub("", kind.removesuffix("?")), "|")]
    lists = "|".join(part[:-2].strip("()") for part in parts if part.endswith("[]"))
    ones = ["object" if part.startswith("{") else part for part in parts if not part.endswith("[]")]
    kinds = [word.strip('"') for word in (*ones, *lists.split("|")) if word]
    plain = frozenset(word for word in kinds if word in _PLAIN)
    choices = tuple(word for word in kinds if word not in _PLAIN)
    words = _words_in(name) | frozenset(map(stem, _words_in(name)))
    text, number = bool(plain & {"string", "any"}), bool(plain & {"int", "float"})
    paths = {"path", "file", "filename", "folder", "directory", "under"}
    return Param(
        name, words, words | _meanings(words, "#"), plain, choices, bool(lists),
        any(word in _PLAIN for word in ones), is_optional, text, number, number and not text,
        plain == {"bool"} and not choices, bool(words & paths), text and number)  # fmt: skip


def _split(text: str, mark: str) -> list[str]:
    """Split at marks that are in no brackets and no quotes."""
    parts, depth, quoted, start = list[str](), 0, False, 0
    for place, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif not quoted:
            depth += (char in "({[") - (char in ")}]")
            if char == mark and depth == 0:
                parts.append(text[start:place])
                start = place + 1
    return [*parts, text[start:]]


def _first_unstable(request: ModelRequest) -> int:
    """Return the first message that is not final: there are no windows before it."""
    ends = accumulate(len(message.content) for message in request.messages)
    return next((place for place, end in enumerate(ends) if end > request.stable), 0)


def _blocks(message: LlmMessage) -> Sequence[Block]:
    if isinstance(message.content, str):
        return ({"type": "text", "text": message.content},)
    return [one for one in message.content if isinstance(one, Mapping)]


def _text(block: Block) -> str:
    text = block.get("text") if block.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def _turn_start(messages: Sequence[LlmMessage]) -> int:
    """Return the last user message that ends in words; results alone continue a turn."""
    places = range(len(messages) - 1, -1, -1)
    return next((place for place in places if _words(messages[place])), 0)


def _words(message: LlmMessage) -> str:
    """Return what the person typed: the last text, whatever it looks like."""
    blocks = _blocks(message)
    if not blocks or message.role != "user":
        return ""
    text = _text(blocks[-1])
    if blocks[0].get("type") == "tool_result" and window_of(text):
        return ""
    return text.strip()


def _take(windows: dict[str, Window], message: LlmMessage, says: _Says) -> None:
    if message.role != "user":
        return
    blocks = _blocks(message)
    texts = [_text(one) for one in (blocks[:-1] if _words(message) else blocks)]
    for block in blocks:
        content = block.get("content") if block.get("type") == "tool_result" else None
        if isinstance(content, list | tuple):
            # What the tool itself said comes first, and may look like anything.
            texts += [_text(one) for one in content[1:] if isinstance(one, Mapping)]
    for text in (one for one in texts if one.startswith("<Window ")):
        base = windows.get(base_of(text))
        window = window_of(whole_block(text, base.block if base else ""), says)
        known = windows.get(window.id) if window else None
        if window and (known is None or window.version >= known.version):
            windows[window.id] = window


def _steps(
    messages: Sequence[LlmMessage], windows: dict[str, Window], says: _Says
) -> Iterator[Step]:
    for answer, results in zip(messages[::2], messages[1::2], strict=False):
        before = tuple(windows.values())
        calls = tuple(_calls(answer, results, len(messages)))
        _take(windows, results, says)
        for call in calls:
            if call.ok and call.input.get("action_id") == "close":
                windows.pop(call.window_id, None)
        yield Step(before, calls)


def _calls(answer: LlmMessage, results: LlmMessage | None, step: int = 0) -> Iterator[Call]:
    blocks = _blocks(results) if results else ()
    given = {str(one.get("tool_use_id")): one for one in blocks if one.get("type") == "tool_result"}
    for block in _blocks(answer):
        if block.get("type") == "tool_use":
            inner, result = block.get("input"), given.get(str(block.get("id")), {})
            values = inner if isinstance(inner, Mapping) else {}
            is_ok, text = not result.get("is_error"), result_text(result)
            yield Call(str(block.get("name")), values, is_ok, text, step)


def result_text(block: Block) -> str:
    """Return what a tool itself said: the first text of a result."""
    content = block.get("content")
    if isinstance(content, list | tuple):
        content = _text(content[0]) if content and isinstance(content[0], Mapping) else ""
    return content if isinstance(content, str) else ""


def _calls_back(messages: Sequence[LlmMessage]) -> Iterator[Call]:
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "assistant":
            after = messages[place + 1] if place + 1 < len(messages) else None
            yield from reversed(list(_calls(messages[place], after, place - len(messages))))


def _said(messages: Sequence[LlmMessage]) -> str:
    last = messages[-1] if messages and messages[-1].role == "assistant" else None
    return "\n".join(filter(None, map(_text, _blocks(last)))) if last else ""

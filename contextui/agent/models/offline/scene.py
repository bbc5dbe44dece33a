"""What a request shows: the windows and what they can do, the classes, and what was said and done.

Only the request's own `<Window>` blocks count. Whatever text inside one looks like is data. Content
is kept as text and read where it is needed, so that a long list costs no more than a short one.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html import unescape
from typing import Any

from contextui.agent.models.offline.lexicon import groups_of, stem
from contextui.agent.models.offline.tokens import Token, is_content, tokenize
from contextui.model import Block, LlmMessage, ModelRequest

_WINDOW = re.compile(r'<Window id="([\w-]+)" version="([\d.]*)"[^<>]*>')
_ACTION = re.compile(
    r"<action id=\"([^\"]+)\"(?: params=\"([^\"]*)\")?[^>]*?(?:/>|>([^<]*)</action>)"
)
_CLASS = re.compile(r'<class name="([^"]+)"(?: args="([^"]*)")?[^>]*?(?:/>|>([^<]*)</class>)')
_CLASSES = re.compile(r"^<Windows>\n(?:.*\n)*?</Windows>$", re.MULTILINE)
_ELEMENT = re.compile(r"<([A-Za-z][\w.-]*)((?:\s+[\w:.-]+=\"[^\"]*\")*)\s*(?:/>|>([^<]*))")
_ATTRIBUTE = re.compile(r'([\w:.-]+)="([^"]*)"')
_NUMBERED = re.compile(r"\s*(?:[-*•]\s+)?(?:#?(\d{1,6})[.):：、]?\s+)?(?:\[[ xX✓]?\]\s*)?(.*)")
_NAMED = re.compile(r"(\S[^:：=]{0,59}?)\s*[:：=]\s+(\S.*)")
_PLAIN = {"string", "int", "float", "bool", "any", "object", "null", "datetime", "date", "time"}
_LONGEST = 400_000  # characters of a block that is read
_MOST = 2_000  # items of a window that are listed
_RECENT = 40  # messages before the turn that are looked through
_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_TAG = re.compile(f"{_OPEN}(.*?){_CLOSE}", re.DOTALL)
_RESULT = re.compile(r"\[\w+(?P<failed> [^\]\n]+)?\] ")


@dataclass(frozen=True)
class Param:
    """One param of an action, or one arg of a class."""

    name: str
    plain: frozenset[str]
    choices: tuple[str, ...]
    is_list: bool
    takes_one: bool
    is_optional: bool

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its name, and their stems."""
        words = [word for word in re.split(r"[_\W]+", self.name.casefold()) if word]
        return frozenset([*words, *map(stem, words)])

    @property
    def takes_text(self) -> bool:
        """Whether it takes any text."""
        return not self.plain.isdisjoint(("string", "any"))

    @property
    def takes_number(self) -> bool:
        """Whether it takes a number."""
        return not self.plain.isdisjoint(("int", "float"))

    @property
    def is_number(self) -> bool:
        """Whether it takes numbers alone."""
        return self.takes_number and not self.takes_text

    @property
    def is_bool(self) -> bool:
        """Whether it takes yes or no alone."""
        return self.plain == {"bool"} and not self.choices

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The words of its name, and the nouns that mean the same."""
        groups = {group for word in self.words for group in groups_of(word) if group[0] == "#"}
        return self.words | groups

    @property
    def is_path(self) -> bool:
        """Whether it takes the path of a file."""
        return not self.words.isdisjoint(
            ("path", "file", "filename", "folder", "directory", "under")
        )

    @property
    def is_reference(self) -> bool:
        """Whether it names something that exists, by id or by text."""
        return self.takes_text and self.takes_number


@dataclass(frozen=True)
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
    def groups(self) -> frozenset[str]:
        """The groups of the words of the id."""
        return frozenset(group for word in self.id_words for group in groups_of(word))

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
        for place, word in enumerate(self.id_words):
            _put(found, word, 4.0 if place == 0 else 2.5)
            for group in groups_of(word) | groups_of(f"={word}"):
                if group[0] in "@~":
                    _put(found, group, 3.0 if place == 0 else 1.5)
        inside = len(self.short_label)
        for place, token in enumerate(one for one in self.label_tokens if is_content(one)):
            early = place == 0 or (place < 3 and not token.stem.isascii())
            names = not token.groups or any(group[0] == "@" for group in token.groups)
            is_main = early and names and place < inside
            weight = 2.5 if is_main else 1.0 if token.end <= inside else 0.5
            _put(found, token.stem, weight)
            for group in token.groups:
                if group[0] == "@":
                    _put(found, group, 2.5 if is_main else 0.6 if token.end <= inside else 0.5)
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
        names = {word for param in self.params for word in param.words}
        head = re.split(r"[;；:：(（]", self.label)[0]
        tokens = [token for token in tokenize(head) if is_content(token)]
        words = {*self.id_words, *names, *(token.stem for token in tokens)}
        groups = {group for word in (*self.id_words, *names) for group in groups_of(word)}
        groups |= {group for token in tokens for group in token.groups}
        return frozenset(words | {group for group in groups if group[0] in "#@"})


def _put(found: dict[str, float], key: str, weight: float) -> None:
    if key:
        found[key] = max(found.get(key, 0.0), weight)


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
        facts = ", ".join(
            name if value == "true" else f"{name} {value}"
            for name, value in self.attributes.items()
            if name != "id"
        )
        number = f"{self.attributes['id']} " if "id" in self.attributes else ""
        text = self.text or (self.tag if not number else "")
        return f"{number}{text} ({facts})".strip() if facts else f"{number}{text}".strip()


@dataclass(frozen=True)
class Window:
    """An open window as its block shows it, or, with an empty id, a class that can be opened."""

    id: str
    name: str
    description: str
    actions: tuple[Action, ...]
    raw: str = field(default="", repr=False)
    version: tuple[int, ...] = ()

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The words and groups that name the window."""
        words = {stem(word) for word in re.split(r"[_\W]+", self.name) if word}
        found = {self.name, *words, "#window", "window"}
        for word in words:
            found |= groups_of(word)
        head = re.split(r"[:：,，.。;；]", self.description)[0]
        for token in tokenize(head):
            is_verb = any(group[0] == "@" for group in token.groups)
            if is_content(token) and (not is_verb or any(one[0] == "#" for one in token.groups)):
                found |= {token.stem or token.text, *token.groups}
        if "#task" in found:
            found |= {"#list"}
        return frozenset(one for one in found if one[:1] not in "@~")

    @cached_property
    def names(self) -> frozenset[str]:
        """The words and groups of its name and of the first noun of its description."""
        words = {stem(word) for word in re.split(r"[_\W]+", self.name) if word}
        nouns = [token for token in tokenize(self.description) if is_content(token)
                 and not (token.groups and all(group[0] == "@" for group in token.groups))]  # fmt: skip
        found = {self.name, *words, *(nouns[0].stem for _ in nouns[:1])}
        found |= {one for word in words for one in groups_of(word)}
        found |= {one for token in nouns[:1] for one in token.groups}
        return frozenset(one for one in found | ({"#list"} if "#task" in found else set())
                         if one and one[0] not in "@~")  # fmt: skip

    @cached_property
    def topics(self) -> frozenset[str]:
        """The words and groups of the whole description."""
        tokens = [token for token in tokenize(self.description) if is_content(token)]
        found = {one for token in tokens for one in (token.stem, *token.groups)}
        return self.nouns | {one for one in found if one and one[0] != "~"}

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
        keys = [(key, weight) for one in self.actions for key, weight in one.verbs.items()]
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
    def text(self) -> str:
        """The content as plain text."""
        return unescape(re.sub(r"<[^>]*>", " ", self.raw)).strip()

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """What it shows, item by item."""
        return tuple(items_in(self.raw))[:_MOST]

    @cached_property
    def rows(self) -> tuple[Item, ...]:
        """The items of the kind that there is most of: those that "the second one" counts."""
        kinds: dict[str, int] = {}
        for item in self.items:
            if item.text or item.attributes:
                kinds[item.tag] = kinds.get(item.tag, 0) + 1
        main = max(kinds, key=lambda tag: kinds[tag], default="")
        if kinds and kinds[main] == 1:
            return tuple(one for one in self.items if one.text or one.attributes)
        found = [one for one in self.items if one.tag == main and (one.text or one.attributes)]
        return tuple(found[1:] if not main and _is_header(found) else found)

    @cached_property
    def total_lines(self) -> int | None:
        """The number of lines, where the first line says how many there are."""
        head = self.raw.lstrip().partition("\n")[0]
        found = re.search(r"(?:of|共) (\d+)|(\d+) (?:lines|行)", head) if "<" not in head else None
        return int(found[1] or found[2]) if found else None


def _is_header(lines: Sequence[Item]) -> bool:
    """Whether the first line of a text says what the others are."""
    first, rest = lines[0] if lines else None, lines[1:]
    if first is None or not rest:
        return False
    if all("id" in one.attributes for one in rest):
        return "id" not in first.attributes
    return " " in first.text and not any(" " in one.text for one in rest)


def items_in(raw: str) -> Iterator[Item]:
    """Read the items of a content: its elements, or its lines."""
    if "<" in raw:
        for match in _ELEMENT.finditer(raw):
            attributes = {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[2])}
            yield Item(match[1], unescape(match[3] or "").strip(), attributes)
        return
    for line in raw.splitlines():
        found = _NUMBERED.match(line)
        if found and line.strip():
            text = unescape(found[2]).strip()
            named = _NAMED.fullmatch(text) if line.lstrip().startswith(("-", "*", "•")) else None
            facts = {"id": found[1]} if found[1] else {}
            value = {"value": named[2]} if named else {}
            depth = len(line) - len(line.lstrip())
            yield Item("", named[1] if named else text, {**facts, **value}, depth)


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
    """Everything that counts for the next answer.

    Attributes:
        words: What the person typed in this turn.
        classes: The windows that can be opened.
        windows: Those that are open now.
        steps: What was done in this turn so far.
        earlier: The calls of the turns before, the latest first.
        before: What the person typed in the turn before.
        said: What was answered to that.
    """

    words: str
    classes: tuple[Window, ...]
    windows: tuple[Window, ...]
    steps: tuple[Step, ...] = ()
    earlier: tuple[Call, ...] = ()
    before: str = ""
    said: str = ""

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

    def window(self, window_id: str) -> Window | None:
        """Return an open window."""
        return next((one for one in self.windows if one.id == window_id), None)


def read(request: ModelRequest) -> Scene:
    """Read a request. Whatever is in it, nothing is raised."""
    messages, says = request.messages, request.says
    if not messages:
        return Scene("", _classes(request), ())
    start = _turn_start(messages)
    past = messages[max(0, start - _RECENT) : start]
    windows: dict[str, Window] = {}
    for message in messages[_first_unstable(request) : start + 1]:
        _take(windows, message, says)
    steps = tuple(_steps(messages[start + 1 :], windows, says))
    earlier = [*past, messages[start]]
    return Scene(
        words=_words(messages[start]),
        classes=_classes(request),
        windows=tuple(windows.values()),
        steps=steps,
        earlier=tuple(_calls_back(earlier)),
        before=_words(past[_turn_start(past)]) if past else "",
        said=_said(past),
    )


# --- windows and classes -----------------------------------------------------------------


def window_of(text: str, says: Mapping[str, Sequence[str]] | None = None) -> Window | None:
    """Return the window that a block shows; None if the text is no such block."""
    found = _WINDOW.match(text)
    if found is None or len(text) > _LONGEST or not text.rstrip().endswith("</Window>"):
        return None
    end = text.rfind("<Actions>")
    start = text.find("<Content>", 0, end)
    close = text.rfind("</Content>", 0, end)
    described = re.search(
        r"<Description>([^<]*)</Description>", text[: start if start > 0 else end]
    )
    name = re.sub(r"[_-]?\d+$", "", found[1])
    phrasings = tuple((one, tuple(all_)) for one, all_ in (says or {}).items()
                      if one.startswith(f"{name}."))  # fmt: skip
    return Window(
        id=found[1],
        name=name,
        description=unescape(described[1]).strip() if described else "",
        actions=_actions(text[end:], phrasings) if end > 0 else (),
        raw=text[start + 9 : close] if 0 < start < close else "",
        version=tuple(int(part) for part in re.findall(r"\d{1,9}", found[2])),
    )


_cached_window = lru_cache(maxsize=128)(lambda text: window_of(text))


@lru_cache(maxsize=128)
def _actions(text: str, says: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[Action, ...]:
    phrasings = {name.partition(".")[2]: texts for name, texts in says}
    return tuple(
        Action(name, unescape(label).strip(), params_of(unescape(params)), phrasings.get(name, ()))
        for name, params, label in _ACTION.findall(text)
    )


def _classes(request: ModelRequest) -> tuple[Window, ...]:
    """Return the classes of the system prompt, then those of the project."""
    first = _text(_blocks(request.messages[0])[0]) if request.messages and _blocks(
        request.messages[0]) else ""  # fmt: skip
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
    """Read params in their short form: ``text:string,count:int?``."""
    found = []
    for part in _split(text[:4_000], ","):
        name, colon, kind = part.partition(":")
        if colon and name.strip():
            found.append(_param(name.strip(), kind.strip()))
    return tuple(found)


def _param(name: str, kind: str) -> Param:
    is_optional, is_list, takes_one = kind.endswith("?"), False, False
    plain, choices = set[str](), list[str]()
    for part in _split(kind.removesuffix("?"), "|"):
        one = part.strip()
        if one.endswith("[]"):
            is_list, inner = True, one[:-2].strip("()")
            plain |= {word for word in inner.split("|") if word in _PLAIN}
            choices += [word.strip('"') for word in inner.split("|") if word not in _PLAIN]
        elif one in _PLAIN:
            plain.add(one)
            takes_one = True
        elif one and not one.startswith("{"):
            choices.append(one.strip('"'))
        elif one:
            plain.add("object")
    return Param(name, frozenset(plain), tuple(choices), is_list, takes_one, is_optional)


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


# --- messages ----------------------------------------------------------------------------


def _first_unstable(request: ModelRequest) -> int:
    """Return the first message that is not final: there are no windows before it."""
    blocks = 0
    for place, message in enumerate(request.messages):
        blocks += len(message.content)
        if blocks > request.stable:
            return place
    return 0


def _blocks(message: LlmMessage) -> Sequence[Block]:
    if isinstance(message.content, str):
        return ({"type": "text", "text": message.content},)
    return [one for one in message.content if isinstance(one, Mapping)]


def _text(block: Block) -> str:
    text = block.get("text") if block.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def _turn_start(messages: Sequence[LlmMessage]) -> int:
    """Return the last user message that ends in words; results alone continue a turn."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "user" and _words(messages[place]):
            return place
    return 0


def _words(message: LlmMessage) -> str:
    """Return what the person typed: the last text, whatever it looks like."""
    blocks = _blocks(message)
    if not blocks or message.role != "user":
        return ""
    text = _text(blocks[-1])
    if blocks[0].get("type") == "tool_result" and window_of(text):
        return ""
    return text.strip()


def _take(
    windows: dict[str, Window], message: LlmMessage, says: Mapping[str, Sequence[str]]
) -> None:
    """Note the windows of a message."""
    if message.role != "user":
        return
    blocks = _blocks(message)
    texts = [_text(one) for one in (blocks[:-1] if _words(message) else blocks)]
    for block in blocks:
        content = block.get("content") if block.get("type") == "tool_result" else None
        if isinstance(content, list | tuple):
            # What the tool itself said comes first, and may look like anything.
            texts += [_text(one) for one in content[1:] if isinstance(one, Mapping)]
    for text in texts:
        if not text.startswith("<Window "):
            continue
        window = window_of(text, says) if says else _cached_window(text)
        known = windows.get(window.id) if window else None
        if window and (known is None or window.version >= known.version):
            windows[window.id] = window


def _steps(
    messages: Sequence[LlmMessage],
    windows: dict[str, Window],
    says: Mapping[str, Sequence[str]],
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
    given = {
        str(one.get("tool_use_id")): one
        for one in (_blocks(results) if results else ())
        if one.get("type") == "tool_result"
    }
    for block in _blocks(answer):
        if block.get("type") != "tool_use":
            continue
        inner, result = block.get("input"), given.get(str(block.get("id")), {})
        content = result.get("content")
        if isinstance(content, list | tuple):
            content = _text(content[0]) if content and isinstance(content[0], Mapping) else ""
        yield Call(
            str(block.get("name")),
            inner if isinstance(inner, Mapping) else {},
            not result.get("is_error"),
            content if isinstance(content, str) else "",
            step,
        )


def _calls_back(messages: Sequence[LlmMessage]) -> Iterator[Call]:
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "assistant":
            after = messages[place + 1] if place + 1 < len(messages) else None
            yield from reversed(list(_calls(messages[place], after, place - len(messages))))


def _said(messages: Sequence[LlmMessage]) -> str:
    last = messages[-1] if messages and messages[-1].role == "assistant" else None
    return "\n".join(filter(None, map(_text, _blocks(last)))) if last else ""


# --- calls written as tags, for the text protocol ------------------------------------------


def asks_for_tags(request: ModelRequest) -> bool:
    """Return whether the system prompt asks for calls as tags."""
    return not request.tools and _OPEN in request.system


def with_calls(request: ModelRequest) -> ModelRequest:
    """Return a request with the calls and results of its texts as blocks."""
    messages: list[LlmMessage] = []
    waiting: list[str] = []
    stable, left = 0, request.stable
    for place, message in enumerate(request.messages):
        left -= len(message.content)
        blocks: list[Block] = []
        for number, block in enumerate(_blocks(message)):
            text = _text(block)
            found = _RESULT.match(text) if waiting else None
            if message.role == "assistant" and _OPEN in text:
                if beside := _TAG.sub("", text).strip():
                    blocks.append({"type": "text", "text": beside})
                for count, tag in enumerate(_TAG.findall(text)):
                    waiting.append(f"tag_{place}_{number}_{count}")
                    blocks.append({"type": "tool_use", "id": waiting[-1], **_parsed(tag)})
            elif found:
                blocks.append({
                    "type": "tool_result", "tool_use_id": waiting.pop(0),
                    "content": text[found.end() :], "is_error": found["failed"] is not None,
                })  # fmt: skip
            else:
                blocks.append(block)
        if message.role == "user":
            waiting = []
        stable += len(blocks) if left >= 0 else 0
        messages.append(LlmMessage(message.role, tuple(blocks)))
    return ModelRequest(request.system, tuple(messages), stable=stable, says=request.says)


def _parsed(tag: str) -> dict[str, Any]:
    try:
        call = json.loads(tag)
        name, arguments = call["name"], call.get("arguments")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {"name": "tool_call", "input": {}}
    return {"name": str(name), "input": arguments if isinstance(arguments, Mapping) else {}}


def as_tag(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as a tag; no value in it can end it."""
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return _OPEN + call.replace("</", "<\\/") + _CLOSE


def without_tags(text: str) -> str:
    """Return text in which nothing looks like a call."""
    return text.replace(_OPEN, "<tool_call >")

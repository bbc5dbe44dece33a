"""What the model says: what was done, what windows show, and what it can do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from contextui.agent.models.offline.items import mentions
from contextui.agent.models.offline.match import Reading
from contextui.agent.models.offline.scene import Call, Item, Scene, Window
from contextui.agent.models.offline.slots import ASKING
from contextui.agent.models.offline.tokens import Clause, Token, has_any, is_content
from contextui.text import one_line
from contextui.words import Words, msg

_LINES, _WIDTH = 40, 200  # of a result or a content that are said
_RAN = re.compile(r"\[\d+\] ")  # a command's result: its number, and how it ended
_EMPTY = (*ASKING, "~ask", "~be", "~left", "~all", "~polite", "~person", "@show", "@count", "~last")
_SOCIAL = ("~greet", "~thank", "~bye", "~polite")


def report(calls: Sequence[Call], words: Words) -> list[str]:
    """Return what came of calls, in the words of their results."""
    done = [_shortened(call.result) for call in calls if call.ok and call.result]
    failed = [_shortened(call.result) for call in calls if not call.ok]
    parts = ["\n".join(done)] if done else []
    return [*parts, *(words("That did not work: {text}", text=text) for text in failed)]


def _shortened(text: str) -> str:
    if _RAN.match(text):  # the output is in the terminal, and is no Markdown
        text = text.partition("\n")[0]
    lines = [one_line(line, _WIDTH) for line in text.strip().splitlines()]
    return "\n".join([*lines[:_LINES], *(["…"] if len(lines) > _LINES else [])])


def social(clause: Clause, scene: Scene, words: Words) -> str | None:
    """Answer a greeting, thanks, or a question about the model itself."""
    tokens = [token for token in clause.tokens if token.kind != "mark"]
    groups = clause.keys
    small = (*_SOCIAL, "~able", "~opened")
    rest = [token for token in tokens if is_content(token) and not token.has(*small)]
    if "~able" in groups and len(rest) <= 1:
        return able(scene, words)
    if "~opened" in groups and len(rest) <= 1:
        return open_windows(scene, words)
    if rest or not tokens or {"~able", "~opened"} & groups:
        return None
    if "~greet" in groups:
        return words("Hello! {example}", example=example(scene, words))
    if "~bye" in groups:
        return words("Goodbye.")
    return words("You are welcome.") if "~thank" in groups else None


def able(scene: Scene, words: Words) -> str:
    """Return what can be opened and done."""
    classes = "\n".join(f"- {cls.name}: {cls.description}" for cls in scene.classes)
    text = words(
        "I am the small offline model: I open windows, run their actions and say what they show. "
        "These can be opened:\n{classes}",
        classes=classes,
    )
    windows = [_can(window, words) for window in scene.windows]
    return "\n\n".join([text, *windows, example(scene, words)])


def _can(window: Window, words: Words) -> str:
    names = ", ".join(action.id for action in window.actions)
    return words("{window} can: {actions}.", window=window.id, actions=names)


def example(scene: Scene, words: Words) -> str:
    """Return something to try."""
    lists = [cls for cls in scene.classes if any(p.is_list for p in cls.actions[0].params)]
    name = lists[0].name if lists else "files"
    text = words("open {name} with milk and eggs", name=name) if lists else words("open files")
    return words("Try “{text}”, or ask “what can you do?”.", text=text)


def open_windows(scene: Scene, words: Words) -> str:
    """Return which windows are open."""
    if not scene.windows:
        return words("No window is open.")
    lines = "\n".join(f"- {window.id}: {window.description}" for window in scene.windows)
    return words("Open windows:\n{lines}", lines=lines)


def shows(window: Window, words: Words, items: Sequence[Item] | None = None) -> str:
    """Return what a window shows."""
    rows = window.items if items is None else items
    lines = [one_line(text, _WIDTH) for item in rows if (text := _line(item, words))]
    if not lines:
        return words("{window} shows nothing yet.", window=window.id)
    more = [words("… {count} more", count=len(lines) - _LINES)] if len(lines) > _LINES else []
    listed = "\n".join(f"- {line}" for line in lines[:_LINES])
    return words("{window} shows:\n{lines}", window=window.id, lines="\n".join([listed, *more]))


def refused(scene: Scene, clause: Clause, nearest: Reading | None, words: Words) -> str:
    """Say that a clause was not understood, and what could be done instead."""
    text = one_line(clause.text.strip(), _WIDTH)
    parts = [words("I do not understand “{text}”.", text=text)]
    if not scene.steps:
        parts = [words("I did nothing, because I do not understand “{text}”.", text=text)]
    if nearest and nearest.unexplained:
        unknown = ", ".join(f"“{one_line(word, 40)}”" for word in nearest.unexplained[:5])
        parts.append(words("These words mean nothing to me here: {words}.", words=unknown))
    window = nearest.window if nearest and nearest.window.id else scene.window(scene.focus)
    hint = words("I am the small offline model; /model or --model connects a real one.")
    return " ".join([*parts, _can(window, words) if window else example(scene, words), hint])


def is_question(clause: Clause) -> bool:
    """Return whether a clause asks something rather than wants something done."""
    tokens = [token for token in clause.tokens if token.kind != "mark"]
    if not tokens:
        return False
    ends = clause.text.rstrip().endswith(("?", "？", "吗", "呢", "没有"))
    plain = [token for token in tokens[:-1] if not token.has("~polite")] + tokens[-1:]
    plain = tokens[tokens.index(plain[0]) :]
    first = plain[0]
    early = plain[:4] if tokens[0].text.isascii() else plain
    if has_any(early, *ASKING) and not first.has("@write", "@note", "@add", "@find"):
        return True
    if len(plain) < len(tokens) and any(token.verbs for token in plain):
        return False  # "could you …"
    return ends or (first.has("~ask") and first.stem in ("is", "are", "did", "was", "does"))


@dataclass(frozen=True, slots=True)
class _Found:
    window: Window
    score: float
    items: tuple[Item, ...]
    unmatched: tuple[Token, ...]


def answer(scene: Scene, clause: Clause, words: Words) -> str | Reading:
    """Answer a question from the windows, or return the window to open for it."""
    keys = [at for at in clause.content if not _is_empty(clause.tokens[at])]
    found = [_look(scene, window, clause, keys) for window in scene.windows]
    known = [one for one in found if len(one.unmatched) * 2 <= max(1, len(keys))]
    fitting = [one for one in known if one.score > 0 or not keys]
    focus = scene.focus
    fitting.sort(key=lambda one: (len(one.unmatched), -one.score, one.window.id != focus))
    if not fitting or fitting[0].unmatched:
        there = {window.name for window in scene.windows}
        tokens = [clause.tokens[at] for at in keys]
        classes = sorted(scene.classes, key=lambda one: not any(t.names(one.names) for t in tokens))
        for cls in classes:
            if cls.name not in there and _is_about(cls, tokens):
                return Reading(cls, cls.actions[0])
    if not fitting:
        return words("No open window shows that; I know only what the windows show.")
    return _said(fitting[0], clause, words)


def _is_empty(token: Token) -> bool:
    return token.has(*_EMPTY) and not any(group[0] == "#" for group in token.groups)


def _is_about(window: Window, tokens: Sequence[Token]) -> bool:
    """Whether a class exists for what is asked: its description names all of it.

    One that shows what it is opened with, such as a list of items, would be empty.
    """
    if any(not param.is_optional or param.is_list for param in window.actions[0].params):
        return False
    topics = frozenset(topic for topic in window.topics if topic[0] != "@") - {"#window", "window"}
    named = [token for token in tokens if token.names(topics)]
    small = ("@use", "@done", "#machine", "@load", "#time")
    return bool(named) and all(token in named or token.has(*small) for token in tokens)


def _look(scene: Scene, window: Window, clause: Clause, keys: Sequence[int]) -> _Found:
    empty = clause.places(*_EMPTY)
    shown = [mention for mention in mentions(scene, window, clause) if not mention.tokens <= empty]
    used = {at for at in keys if any(at in one.tokens for one in shown)}
    others = window.tags.union(*(action.nouns for action in window.actions))
    levels = ((window.nouns, 1.0), (window.topics, 0.8), (others, 0.3))
    score, unmatched = 1.5 * len(used), list[Token]()
    for token in (clause.tokens[at] for at in keys if at not in used):
        known = [weight for words, weight in levels if token.names(words)]
        score += max(known, default=0.0)
        unmatched += [] if known else [token]
    best = max((len(one.tokens & used) for one in shown), default=0) or 99
    items = [item for one in shown if len(one.tokens & used) == best for item in one.items]
    if not items or len(keys) > 1:
        tags = [clause.tokens[at] for at in keys if clause.tokens[at].names(window.tags)]
        few = window.items if tags else ()
        fits = [sum(_is_tag(item, token) for token in tags) for item in few]
        most = max(fits, default=0) or 99
        tagged = [item for item, count in zip(few, fits, strict=True) if count == most]
        items = tagged if 0 < len(tagged) < len(few) else items
    unique = {id(item): item for item in items}
    return _Found(window, score, tuple(unique.values()), tuple(unmatched))


def _is_tag(item: Item, token: Token) -> bool:
    names = {item.tag.casefold(), *(name.casefold() for name in item.attributes)}
    return token.stem in names or any(f"#{name}" in token.groups for name in names if name)


def _said(found: _Found, clause: Clause, words: Words) -> str:
    window, items = found.window, list(found.items)
    groups, rows = clause.keys, items or list(window.rows)
    if not items and {"~left", "@undone", "@done"} & groups:
        wants_done = "@done" in groups and not {"~left", "@undone", "~not"} & groups
        rows = [item for item in rows if (item.attributes.get("done") == "true") == wants_done]
    elif not items and "~last" in groups:
        rows = rows[-1:]
    if "~howmany" in groups and (not items or len(items) == len(window.rows)) and window.rows:
        return words("{window}: {count}", window=window.id, count=len(rows)) + (
            "\n" + shows(window, words, rows) if rows else "")  # fmt: skip
    if items and items[0].text.rpartition(" (")[0].endswith("/"):
        items = _inside(window, items[0])
    if items:
        lines = "\n".join(one_line(_line(item, words), _WIDTH) for item in items[:_LINES])
        return f"{window.id}: {lines}" if len(items) == 1 else f"{window.id}:\n{lines}"
    if found.unmatched and "~ask" in groups:
        missing = " ".join(token.text for token in found.unmatched)
        return words("No, {window} does not show “{text}”.", window=window.id, text=missing)
    return shows(window, words, rows if len(rows) < len(window.rows) else None)


_FIGURES = (
    *(msg("memory"), msg("disk"), msg("load"), msg("network"), msg("used"), msg("cores")),
    *(msg("of"), msg("average"), msg("down"), msg("up")),
)
"""Names of elements and attributes that are said in the person's language."""


def _line(item: Item, words: Words) -> str:
    """Return an item, with the names of figures translated."""
    if item.text or item.tag not in _FIGURES:
        return item.line
    names = {name: words(name) if name in _FIGURES else name for name in item.attributes}
    facts = {names[name]: value for name, value in item.attributes.items()}
    return replace(item, tag=words(item.tag), attributes=facts).line


def _inside(window: Window, folder: Item) -> list[Item]:
    rest = window.items[window.items.index(folder) + 1 :]
    return [folder, *takewhile(lambda item: item.depth > folder.depth, rest)]


def is_remark(clause: Clause) -> bool:
    """Return whether a clause only says that something is not as it should be: "too often"."""
    tokens = [one for one in clause.tokens if one.kind != "mark" and not one.has("~polite")]
    return has_any(tokens[:-1], "~too") and not any(token.verbs for token in tokens)


def is_dropped(clause: Clause) -> bool:
    """Return whether the person takes back what was asked for."""
    small = ("~drop", "~polite", "~thank", "~it")
    tokens = [token for token in clause.tokens if token.kind != "mark"]
    is_small = all(token.has(*small) or not is_content(token) for token in tokens)
    return is_small and has_any(tokens, "~drop")

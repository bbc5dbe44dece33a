"""What the model says: what was done, what windows show, and what it can do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from contextui.agent.models.offline.items import mentions
from contextui.agent.models.offline.match import Reading
from contextui.agent.models.offline.scene import Call, Item, Scene, Window
from contextui.agent.models.offline.slots import ASKING, Clause
from contextui.agent.models.offline.tokens import Token, has_any, is_content
from contextui.text import one_line
from contextui.words import Words

_LINES, _WIDTH = 40, 200  # of a result or a content that are said
_EMPTY = (*ASKING, "~ask", "~be", "~left", "~all", "~polite", "~person", "@show", "@count", "~last")
_SOCIAL = ("~greet", "~thank", "~bye", "~polite")


# --- what was done -----------------------------------------------------------------------


def report(calls: Sequence[Call], words: Words) -> list[str]:
    """Return what came of calls, in the words of their results."""
    done = [_shortened(call.result) for call in calls if call.ok and call.result]
    failed = [_shortened(call.result) for call in calls if not call.ok]
    parts = [words("Done: {text}", text="\n".join(done))] if done else []
    return [*parts, *(words("That did not work: {text}", text=text) for text in failed)]


def _shortened(text: str) -> str:
    lines = [one_line(line, _WIDTH) for line in text.strip().splitlines()]
    return "\n".join([*lines[:_LINES], *(["…"] if len(lines) > _LINES else [])])


# --- what is said without doing anything ---------------------------------------------------


def social(clause: Clause, scene: Scene, words: Words) -> str | None:
    """Answer a greeting, thanks, or a question about the model itself."""
    tokens = [token for token in clause.tokens if token.kind != "mark"]
    groups = {group for token in tokens for group in token.groups}
    rest = [token for token in tokens if is_content(token) and not token.has(*_SOCIAL)]
    if "~able" in groups and len(rest) <= 1:
        return able(scene, words)
    if "~opened" in groups and len(rest) <= 1:
        return open_windows(scene, words)
    if rest or not tokens:
        return None
    if "~greet" in groups:
        return words("Hello! {example}", example=example(scene, words))
    if "~bye" in groups:
        return words("Goodbye.")
    return words("You are welcome.") if "~thank" in groups else None


def able(scene: Scene, words: Words) -> str:
    """Return what can be opened and done."""
    classes = "\n".join(f"- {one.name}: {one.description}" for one in scene.classes)
    parts = [words(
        "I am the small offline model: I open windows, run their actions and say what they show. "
        "These can be opened:\n{classes}", classes=classes,
    )]  # fmt: skip
    parts += [can(window, words) for window in scene.windows]
    return "\n\n".join([*parts, example(scene, words)])


def can(window: Window, words: Words) -> str:
    """Return what a window can do."""
    names = ", ".join(action.id for action in window.actions)
    return words("{window} can: {actions}.", window=window.id, actions=names)


def example(scene: Scene, words: Words) -> str:
    """Return something to try."""
    listed = next(
        (one for one in scene.classes if any(p.is_list for p in one.actions[0].params)), None
    )
    first = listed or next(iter(scene.classes), None)
    if first is None:
        return words("Ask “what can you do?” to see what there is.")
    text = (words("open {name} with milk and eggs", name=first.name) if listed
            else words("open {name}", name=first.name))  # fmt: skip
    return words("Try “{text}”, or ask “what can you do?”.", text=text)


def open_windows(scene: Scene, words: Words) -> str:
    """Return which windows are open."""
    if not scene.windows:
        return words("No window is open.")
    lines = "\n".join(f"- {one.id}: {one.description}" for one in scene.windows)
    return words("Open windows:\n{lines}", lines=lines)


def shows(window: Window, words: Words, items: Sequence[Item] | None = None) -> str:
    """Return what a window shows."""
    rows = window.items if items is None else items
    lines = [one_line(item.line, _WIDTH) for item in rows if item.line]
    if not lines:
        return words("{window} shows nothing yet.", window=window.id)
    more = [words("… {count} more", count=len(lines) - _LINES)] if len(lines) > _LINES else []
    listed = "\n".join(f"- {line}" for line in lines[:_LINES])
    return words("{window} shows:\n{lines}", window=window.id, lines="\n".join([listed, *more]))


def refused(scene: Scene, clause: Clause, nearest: Reading | None, words: Words) -> str:
    """Say that a clause was not understood, and what could be done instead."""
    text = one_line(clause.text.strip(), _WIDTH)
    if scene.steps:
        parts = [words("I do not understand “{text}”.", text=text)]
    else:
        parts = [words("I did nothing, because I do not understand “{text}”.", text=text)]
    if nearest and nearest.unexplained:
        unknown = ", ".join(f"“{one_line(word, 40)}”" for word in nearest.unexplained[:5])
        parts.append(words("These words mean nothing to me here: {words}.", words=unknown))
    window = nearest.window if nearest and nearest.window.id else scene.window(scene.focus)
    parts.append(can(window, words) if window else example(scene, words))
    parts.append(words("I am the small offline model; /model connects a real one."))
    return " ".join(parts)


# --- questions ---------------------------------------------------------------------------


def is_question(clause: Clause) -> bool:
    """Return whether a clause asks something rather than wants something done."""
    tokens = [token for token in clause.tokens if token.kind != "mark"]
    if not tokens:
        return False
    chinese = not tokens[0].text.isascii()
    ends = clause.text.rstrip().endswith(("?", "？")) or tokens[-1].text in (
        "吗",
        "呢",
        "没有",
        "了吗",
    )
    start = 0
    while start < len(tokens) - 1 and tokens[start].has("~polite"):
        start += 1
    first = tokens[start]
    early = tokens[start : start + 4] if not chinese else tokens[start:]
    if any(one.has(*ASKING) for one in early) and not first.has("@write", "@note", "@add", "@find"):
        return True
    if start and any(one.groups for one in tokens[start:] if any(g[0] == "@" for g in one.groups)):
        return False
    if first.has("~ask") and (ends or first.stem in ("is", "ar", "are", "did", "was", "does")):
        return True
    return ends and not any(group[0] == "@" for group in first.groups)


@dataclass(frozen=True, slots=True)
class _Found:
    window: Window
    score: float
    items: tuple[Item, ...]
    unmatched: tuple[Token, ...]


def answer(scene: Scene, clause: Clause, words: Words) -> str | Reading:
    """Answer a question from the windows, or return the window to open for it."""
    keys = [at for at in clause.content if not clause.tokens[at].has(*_EMPTY)]
    found = [_look(scene, window, clause, keys) for window in scene.windows]
    fitting = [one for one in found if len(one.unmatched) * 2 <= max(1, len(keys)) and
               (one.score > 0 or not keys)]  # fmt: skip
    current = scene.focus
    fitting.sort(key=lambda one: (len(one.unmatched), -one.score, one.window.id != current))
    best = fitting[0] if fitting else None
    if best is None or best.unmatched:
        topic = next((one for one in scene.classes if keys and _is_about(one, clause, keys)), None)
        if topic and not any(one.name == topic.name for one in scene.windows):
            return Reading(topic, topic.actions[0], again=True)
    if best is None:
        return words(
            "No open window shows that. I am the small offline model, and know only what the "
            "windows show."
        )
    return _said(best, clause, words)


def _is_about(window: Window, clause: Clause, keys: Sequence[int]) -> bool:
    """Whether a class exists for what is asked: its description names all of it."""
    required = [param for param in window.actions[0].params if not param.is_optional]
    topics = {one for one in window.topics if one[0] != "@"} - {"#window", "window"}
    return not required and all(
        clause.tokens[at].stem in topics
        or clause.tokens[at].groups & topics
        or clause.tokens[at].has("@use", "@done", "#machine", "@load", "#time")
        for at in keys
    ) and any(clause.tokens[at].groups & topics or clause.tokens[at].stem in topics for at in keys)  # fmt: skip


def _look(scene: Scene, window: Window, clause: Clause, keys: Sequence[int]) -> _Found:
    shown = [one for one in mentions(scene, window, clause.tokens)
             if any(at in keys or clause.tokens[at].kind in ("number", "word") for at in one.tokens)]  # fmt: skip
    shown = [one for one in shown if not all(clause.tokens[at].has(*_EMPTY) for at in one.tokens)]
    actions = frozenset(noun for action in window.actions for noun in action.nouns)
    score, unmatched, used = 0.0, list[Token](), set[int]()
    for at in keys:
        token = clause.tokens[at]
        if any(at in one.tokens for one in shown):
            score += 1.5
            used.add(at)
        elif token.stem in window.nouns or token.groups & window.nouns:
            score += 1.0
        elif token.stem in window.topics or token.groups & window.topics:
            score += 0.8
        elif token.stem in actions or token.groups & actions or _tagged(window, token):
            score += 0.3
        else:
            unmatched.append(token)
    items: list[Item] = []
    best = max((len(one.tokens & used) for one in shown), default=0)
    for one in shown:
        if len(one.tokens & used) == best and best:
            items += [item for item in one.items if item not in items]
    if len(window.raw) < 20_000 and (not items or len(keys) > 1):
        tagged = [clause.tokens[at] for at in keys]
        fits = [(sum(_is_tag(item, token) for token in tagged), item) for item in window.items]
        most = max((count for count, _ in fits), default=0)
        by_tag = [item for count, item in fits if count == most and most]
        items = by_tag if by_tag and len(by_tag) < len(window.items) else items
    return _Found(window, score, tuple(items), tuple(unmatched))


def _tagged(window: Window, token: Token) -> bool:
    return len(window.raw) < 20_000 and any(_is_tag(item, token) for item in window.items)


def _is_tag(item: Item, token: Token) -> bool:
    names = {item.tag.casefold(), *(name.casefold() for name in item.attributes)}
    return token.stem in names or any(f"#{name}" in token.groups for name in names if name)


def _said(found: _Found, clause: Clause, words: Words) -> str:
    window, items = found.window, list(found.items)
    groups = {group for token in clause.tokens for group in token.groups}
    rows = items or list(window.rows)
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
        lines = "\n".join(one_line(item.line, _WIDTH) for item in items[:_LINES])
        return f"{window.id}: {lines}" if len(items) == 1 else f"{window.id}:\n{lines}"
    if found.unmatched and "~ask" in groups:
        missing = " ".join(token.text for token in found.unmatched)
        return words("No, {window} does not show “{text}”.", window=window.id, text=missing)
    return shows(window, words, rows if len(rows) < len(window.rows) else None)


def _inside(window: Window, folder: Item) -> list[Item]:
    """Return a folder and what is indented below it."""
    found = [folder]
    for item in window.items[window.items.index(folder) + 1 :]:
        if item.depth <= folder.depth:
            break
        found.append(item)
    return found


def is_dropped(clause: Clause) -> bool:
    """Return whether the person takes back what was asked for."""
    small = ("~drop", "~polite", "~thank", "~it")
    tokens = [token for token in clause.tokens if token.kind != "mark"]
    is_small = all(token.has(*small) or not is_content(token) for token in tokens)
    return is_small and has_any(tokens, "~drop")


def language_is_unknown(text: str) -> bool:
    """Return whether a text has no word of any language."""
    return not re.search(r"[^\W\d_]", text)

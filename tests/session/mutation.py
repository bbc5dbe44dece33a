"""A session's log with every kind of entry, and copies of it with one field changed."""

import asyncio
import copy
import itertools
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from contextui import ContextItem, ItemType, Lod, SessionOptions, SessionStore
from contextui.session.session import Session
from contextui.windows.code import CodeWindow
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files import FilesWindow
from contextui.windows.notebook import NotebookWindow
from contextui.windows.todo.window import TodoWindow
from tests.context.conversation import rough_counter
from tests.session.talk import Talk

CLASSES = (CodeWindow, EditorWindow, FilesWindow, NotebookWindow, TodoWindow)
DEEP = "<deep>"  # replaces a value that no reader should follow to its end
NOT_JSON = ("NaN", "Infinity", "-Infinity", "1e999", "9" * 5_000)

ABSURD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 1.5, -0.0, 7, 10**6, 2**31, 2**63, 10**19, 10**300, 1e300),
    *("", "x", "0", "1.0.0", "-1", "../../etc/passwd", "\x00", "\ud800", "summary-x", "系" * 3_000),
    *([], {}, [[]], [None], [1, 2], {"": None}, {"type": "text"}, [{"type": "tool_use"}]),
    *("closed", "compacted", "turn_end", "checkpoint", "system", "user", "tool_result"),
    DEEP,
)


def store_of(home: Path, checkpoint_every: int = 45) -> SessionStore:
    return SessionStore(
        home,
        SessionOptions(classes=CLASSES, counter=rough_counter, checkpoint_every=checkpoint_every),
    )


def make_log(home: Path, folder: Path, checkpoint_every: int = 45) -> Session:
    """A session in which everything happens that is written down."""
    folder.mkdir(exist_ok=True)
    (folder / "a.py").write_text("".join(f"line_{number} = {number}\n" for number in range(40)))
    with store_of(home, checkpoint_every).create(folder) as session:
        talk = Talk(session)
        talk.system("You are helpful.")
        _first_part(talk)
        _second_part(talk)
    return session


def _act(talk: Talk, window_id: str, action: str, **params: Any) -> None:
    result = asyncio.run(talk.windows.act(window_id, action, params))
    assert result.ok, result


def _tools(talk: Talk, number: int) -> None:
    talk.say(f"do {number}")
    talk.send(6_000)
    talk.call(1 + number % 2, "I will", "a thought")
    while talk.waiting:
        talk.result(f"result {number}", gist=None if number % 3 else "a gist")
    talk.send(6_000)
    talk.answer(f"done {number}")
    talk.context.report_usage(100 + number, {"input_tokens": 120, "output_tokens": 5})
    talk.context.end_turn()


def _first_part(talk: Talk) -> None:
    context, windows = talk.context, talk.windows
    todo = windows.open("todo", items=["milk"])
    for number in range(4):
        _tools(talk, number)
        _act(talk, todo.id, "add", text=f"eggs {number}")
    editor = windows.open("editor", path="a.py")
    _act(talk, editor.id, "replace_lines", first=2, last=3, text="changed = 1")
    closed = windows.open("todo", items=["soon gone"])
    talk.turn("look at the file", "I see it " * 20)
    windows.set_lod(editor.id, Lod.SUMMARY)
    windows.focus(todo.id)
    windows.close(closed.id, "all bought")
    messages = [item for item in context.get_active() if item.type is ItemType.USER]
    context.pin(messages[0].id)
    context.edit(messages[1].id, "do it differently")
    context.drop(messages[2].id)
    context.undo()
    context.drop(messages[2].id)
    context.compact(list(context.get_active())[3:9], "They talked.", files=("a.py",))


def _second_part(talk: Talk) -> None:
    context, windows = talk.context, talk.windows
    windows.open("files", path=".")
    book = windows.open("notebook", project=False)
    _act(talk, book.id, "write", text="A note to keep.", tags=["one"])
    for number in range(4, 7):
        _tools(talk, number)
    context.compact(list(context.get_active())[6:9], "Folded.", trigger="strategy")
    talk.turn("long " * 300, "answer " * 300)
    talk.turn("long " * 900, "answer " * 900)
    talk.say("make room")
    talk.send(1_800)
    talk.answer("made")
    context.end_turn()
    todo = windows.open("todo", items=["late"])
    for number in range(9, 11):
        _tools(talk, number)
        _act(talk, todo.id, "add", text=f"bread {number}")
    talk.say("unfinished")
    talk.send(6_000)
    talk.call(2, "I will")
    talk.result("one of two")
    context.add(ContextItem(ItemType.USER, "and another thing"))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in an entry, at any depth."""
    if path:
        yield path
    inner: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for key, one in inner:
        yield from places(one, (*path, key))


def mutate(entry: dict[str, Any], others: list[dict[str, Any]], dice: random.Random) -> bytes:
    """The line of an entry of which one field is missing, of another type, or absurd."""
    found = list(places(entry))
    # Long lists of alike things would be chosen nearly always.
    depth = dice.choice(sorted({len(path) for path in found}))
    path = dice.choice([one for one in found if len(one) == depth])
    mutated = copy.deepcopy(entry)
    holder: Any = mutated
    for key in path[:-1]:
        holder = holder[key]
    match dice.randrange(8):
        case 0 | 1:
            del holder[path[-1]]
            return as_line(mutated)
        case 2:
            value = holder[path[-1]]
            holder[path[-1]] = dice.choice([str(value), [value], {"a": value}, value])
        case 3:
            holder[path[-1]] = _elsewhere(path, others, dice)
        case 4 if dice.randrange(3) == 0:
            holder[path[-1]] = "<odd>"
            odd = dice.choice(NOT_JSON)
            return as_line(mutated).replace(b'"<odd>"', odd.encode(), 1)
        case _:
            holder[path[-1]] = dice.choice(ABSURD)
    return as_line(mutated)


def _elsewhere(path: tuple[Any, ...], others: list[dict[str, Any]], dice: random.Random) -> Any:
    """What another entry has in this place: the same id or number twice."""
    there: list[Any] = []
    for other in others:
        value: Any = other
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                break
        else:
            there.append(value)
    return copy.deepcopy(dice.choice(there)) if there else None


def as_line(entry: dict[str, Any]) -> bytes:
    """An entry in the form of a log."""
    text = json.dumps(entry, separators=(",", ":"))  # a lone surrogate is written as an escape
    deep = "[" * 900 + "]" * 900 if len(text) % 2 else '{"a":' * 5_000 + "1" + "}" * 5_000
    return text.replace(json.dumps(DEEP), deep).encode()


def mutants(lines: list[bytes], count: int, seed: int = 0) -> Iterator[tuple[int, bytes]]:
    """So many changed lines, each with its number; every kind of entry gets its share."""
    dice, parsed = random.Random(seed), [json.loads(line) for line in lines]
    kinds: dict[str, list[int]] = {}
    for number, entry in enumerate(parsed):
        kinds.setdefault(str(entry.get("subtype") or entry["type"]), []).append(number)
    for kind in itertools.islice(itertools.cycle(kinds), count):
        number = dice.choice(kinds[kind])
        yield number, mutate(parsed[number], parsed, dice)

"""Editing tasks and long conversations, played by the real loop and by a plain tool loop.

A mix is a list of turns: which files are read, which edits are made, and what is said. The same
mix gives two scripts, which make the same edits in the same number of steps:

- With windows, a file is opened in an editor when it is first needed. An edit is two calls in one
  answer, `replace` and `save`, so that each edit is on disk as it is with plain tools.
- With plain tools, a file is read with `read_file`, whose result stays in the conversation, and
  changed with `edit`, which saves it.

Each turn of an editing mix is a request of 40 words, two edits of one line each, made in one step
each, and an answer of 60 words. A file has 118 lines, about 1,200 tokens. "Plain re-reads" means
that the plain loop reads a file before each edit. "Plain reads once" means that it never reads a
file twice, although it was edited since: the best case for it. The mixes:

- A and B edit one file in all turns.
- C and D edit six files in turn; each turn also reads another file that is not edited, in both
  loops with `read_file`.
- E and F edit another file in each turn; in E its window is closed at the end of the turn.
- G edits six files in turn, all of which are opened, or read, in the first turn.

The long mixes have no plain counterpart; they are compared with the information bound, see
`benchmarks.cost.loop.Bound`. An editor, a to-do list and a notebook are opened in the first turn.
Then the model changes a window in four turns of five (lively), always the same one in every turn
(one hot), in one turn of ten while it looks something up in each (calm), or never (calm chat).
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.cost.cache import Figures, figures
from benchmarks.cost.loop import AROUND, PLACEMENTS, Turn, play, play_plain
from contextui.agent.models.scripted import Step, call
from contextui.model import Block

TURNS, LONG_TURNS = 30, 200
FUNCTIONS = 24
"""Functions of a file that is edited: 118 lines."""

_NOUNS = ("cart", "order", "price", "stock", "batch", "route", "parcel", "invoice", "refund")
_VERBS = ("sum", "check", "sort", "merge", "split", "load", "save", "count", "pick", "ship")


# --- files and words -------------------------------------------------------------------------


def source(name: str, functions: int = FUNCTIONS) -> str:
    """Write a Python file; `name` decides what is in it."""
    dice = Random(name)
    parts = []
    for number in range(functions):
        noun, verb = dice.choice(_NOUNS), dice.choice(_VERBS)
        parts.append(
            f"def {verb}_{noun}_{number}(items: list[int], rate: int = {number}) -> int:\n"
            f"    limit_{number} = 100\n"
            f"    return min(limit_{number}, sum(items) * rate + {dice.randint(10, 99)})\n"
        )
    return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of a text that occurs once in a file."""

    path: str
    old: str
    new: str


class Editor:
    """Makes edits, each of which finds what the one before it left."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, int], int] = {}

    def edit(self, path: str, number: int) -> Edit:
        """Change one line in a function of a file."""
        at = (path, number % FUNCTIONS)
        value = self._values.get(at, 100)
        self._values[at] = value + 1
        line = f"    limit_{at[1]} = {{}}\n    return min(limit_{at[1]},"
        return Edit(path, line.format(value), line.format(value + 1))


def _say(dice: Random, words: int) -> str:
    return " ".join(dice.choices((*_NOUNS, *_VERBS), k=words)).capitalize() + "."


# --- the editing mixes -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Work:
    """What is done in one turn.

    Attributes:
        words: What the person says.
        report: What the model answers at the end.
        edits: The edits, one in each step.
        reads: Files that are only read.
        opens: Files that are opened, or read, at the start although they are not edited yet.
    """

    words: str
    report: str
    edits: Sequence[Edit]
    reads: Sequence[str] = ()
    opens: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Mix:
    """An editing task.

    Attributes:
        name: Its letter.
        about: What it consists of.
        works: The turns.
        closes: Whether windows are closed at the end of the turn.
        rereads: Whether a plain loop reads a file before each edit, or only once.
    """

    name: str
    about: str
    works: Sequence[Work]
    closes: bool = False
    rereads: bool = False

    def files(self) -> dict[str, str]:
        """Return the files that it needs, by path."""
        edited = {edit.path for work in self.works for edit in work.edits}
        opened = {path for work in self.works for path in work.opens}
        read = {path for work in self.works for path in work.reads}
        return {path: source(path) for path in sorted(edited | opened)} | {
            path: source(path, FUNCTIONS // 2) for path in sorted(read)
        }

    def with_windows(self) -> list[Turn]:
        """Return the script for the real loop."""
        opened: dict[str, str] = {}
        turns = []
        for work in self.works:
            needed = dict.fromkeys([*work.opens, *(edit.path for edit in work.edits)])
            new = [path for path in needed if path not in opened]
            for path in new:
                opened[path] = f"editor_{len(opened) + 1}"
            first = [call("create", name="editor", args={"path": path}) for path in new]
            first += [call("read_file", path=path) for path in work.reads]
            answers: list[Step] = [first] if first else []
            for edit in work.edits:
                window, params = opened[edit.path], {"old": edit.old, "new": edit.new}
                answers.append([_act(window, "replace", **params), _act(window, "save")])
            if self.closes:
                closes = [_act(opened[path], "close") for path in needed]
                answers[-1] = [*answers[-1], *closes]  # type: ignore[misc]
            turns.append(Turn(work.words, [*answers, work.report]))
        return turns

    def with_plain_tools(self) -> list[Turn]:
        """Return the script for the plain loop."""
        known: set[str] = set()
        turns = []
        for work in self.works:
            first = [call("read_file", path=path) for path in (*work.opens, *work.reads)]
            known |= set(work.opens)
            answers: list[Step] = [first] if first else []
            for edit in work.edits:
                if self.rereads or edit.path not in known:
                    answers.append(call("read_file", path=edit.path))
                    known.add(edit.path)
                answers.append(call("edit", path=edit.path, old=edit.old, new=edit.new))
            turns.append(Turn(work.words, [*answers, work.report]))
        return turns


def _act(window: str, action: str, /, **params: object) -> Block:
    given = {"params": params} if params else {}
    return call("action", window_id=window, action_id=action, **given)


def _works(
    turns: int, files: Sequence[str], *, reads: bool = False, opens: bool = False
) -> list[Work]:
    """Build turns with two edits each of one file, which is the next one in each turn."""
    dice, editor, works = Random(7), Editor(), list[Work]()
    for number in range(turns):
        path = files[number % len(files)]
        edits = [editor.edit(path, dice.randrange(FUNCTIONS)) for _ in range(2)]
        read = [f"library_{number}.py"] if reads else []
        opened = files if opens and not number else ()
        works.append(Work(_say(dice, 40), _say(dice, 60), edits, read, opened))
    return works


def mixes(turns: int = TURNS) -> list[Mix]:
    """Return the editing mixes."""
    one, six = ["shop.py"], [f"part_{number}.py" for number in range(6)]
    new = [f"task_{number}.py" for number in range(turns)]
    return [
        Mix("A", "one file; plain re-reads", _works(turns, one), rereads=True),
        Mix("B", "one file; plain reads once", _works(turns, one)),
        Mix("C", "six files and reads; plain re-reads", _works(turns, six, reads=True),
            rereads=True),
        Mix("D", "six files and reads; plain reads once", _works(turns, six, reads=True)),
        Mix("E", "a new file each turn, closed; plain re-reads", _works(turns, new), closes=True,
            rereads=True),
        Mix("F", "a new file each turn, never closed; plain re-reads", _works(turns, new),
            rereads=True),
        Mix("G", "six windows from the start; plain reads once", _works(turns, six, opens=True)),
    ]  # fmt: skip


# --- the long mixes --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LongMix:
    """A long conversation with three windows: an editor, a to-do list and a notebook.

    Attributes:
        name: What it is called in tables.
        about: What happens in it.
        changes: The share of turns in which the model changes a window.
        is_hot: Whether that is always the same one.
        looks_up: Whether the model looks something up in every turn.
    """

    name: str
    about: str
    changes: float
    is_hot: bool = False
    looks_up: bool = False

    def script(self, turns: int = LONG_TURNS) -> list[Turn]:
        """Return the script for the real loop."""
        dice, editor, script = Random(11), Editor(), [_opening()]
        for number in range(1, turns):
            answers: list[Step] = []
            if self.looks_up:
                answers.append(_act("todo_1", "find", text=dice.choice(_NOUNS)))
            if dice.random() < self.changes:
                answers.append(
                    _change(0 if self.is_hot else dice.randrange(3), number, editor, dice)
                )
            script.append(Turn(_say(dice, 40), [*answers, _say(dice, 60)]))
        return script


def _opening() -> Turn:
    dice = Random(5)
    items, entries = [_say(dice, 8) for _ in range(12)], [_say(dice, 40) for _ in range(6)]
    first = [
        call("create", name="editor", args={"path": "shop.py"}),
        call("create", name="todo", args={"items": items}),
        call("create", name="notebook", args={"project": False}),
    ]
    write = [_act("notebook_1", "write", text=text) for text in entries]
    return Turn(_say(dice, 40), [first, write, _say(dice, 60)])


def _change(which: int, number: int, editor: Editor, dice: Random) -> Block:
    """Change one of the three windows."""
    if which == 0:
        edit = editor.edit("shop.py", dice.randrange(FUNCTIONS))
        return _act("editor_1", "replace", old=edit.old, new=edit.new)
    if which == 1:
        return _act("todo_1", "edit", item=dice.randint(1, 12), text=_say(dice, 8))
    return _act("notebook_1", "edit", entry=dice.randint(1, 6), text=f"{number} {_say(dice, 40)}")


LONG_MIXES = (
    LongMix("lively", "four turns in five change one of three windows", 0.8),
    LongMix("one hot", "every turn changes the same window", 1.0, is_hot=True),
    LongMix("calm", "every turn looks something up; one in ten changes a window", 0.1,
            looks_up=True),
    LongMix("calm chat", "only words; the windows never change", 0.0),
)  # fmt: skip


# --- figures ---------------------------------------------------------------------------------


CONFIRMED = "price, edits confirmed"
"""By price beside a plain loop whose `edit` returns a confirmation without lines."""


def mix_figures(mix: Mix) -> dict[str, Figures]:
    """Return cost and tokens sent of a mix for each placement, beside plain tools."""
    plain = _plain_figures(mix, AROUND)
    ours: dict[str, Figures] = {}
    for placement in PLACEMENTS:
        with _folder(mix.files()) as folder:
            ours[placement] = figures(play(mix.with_windows(), folder, placement).requests)
    found = {placement: _beside(one, plain) for placement, one in ours.items()}
    return found | {CONFIRMED: _beside(ours["price"], _plain_figures(mix, None))}


def _plain_figures(mix: Mix, around: int | None) -> Figures:
    with _folder(mix.files()) as folder:
        return figures(play_plain(mix.with_plain_tools(), folder, around=around))


def _beside(one: Figures, other: Figures) -> Figures:
    return Figures(one.cost / other.cost, one.tokens / other.tokens)


def long_costs(mix: LongMix, turns: int = LONG_TURNS) -> dict[str, float]:
    """Return the cost of a long mix for each placement, beside the information bound."""
    found: dict[str, float] = {}
    for placement in PLACEMENTS:
        with _folder({"shop.py": source("shop.py")}) as folder:
            played = play(mix.script(turns), folder, placement)
        found[placement] = figures(played.requests).cost / played.bound
    return found


@contextmanager
def _folder(files: dict[str, str]) -> Iterator[Path]:
    """Make a temporary folder with these files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for path, text in files.items():
            (folder / path).write_text(text, "utf-8")
        yield folder

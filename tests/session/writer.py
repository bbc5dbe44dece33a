"""Processes that write a session: driven by chance, or by the process that started them.

The random steps are small, so that a kill falls between any two of the things that happen.
"""

import contextlib
import hashlib
import itertools
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

from contextui import ContextItem, ItemType, Lod, SessionOptions, SessionStore
from contextui.errors import ContextTooLargeError, InvalidItemError
from contextui.session.log import SessionLog
from contextui.session.session import Session
from tests import forkserver
from tests.context.conversation import NotesWindow, rough_counter, wire
from tests.session.talk import Talk

ROOT = Path(__file__).parents[2]
BUDGET = 4_000
MOST_WINDOWS, MOST_PROMPTS = 4, 3

KINDS = (
    ["say", "send", "send", "call", "result", "result", "answer", "end"] * 4
    + ["write"] * 4
    + ["open", "detail", "focus", "close", "usage", "squeeze", "system", "large"]
    + ["pin", "unpin", "drop", "restore", "edit", "undo"]
)


def apart(*words: object, status: int = 0) -> str:
    """Run Python in a process of its own, with `-m` and a module or `-c` and a script.

    Returns:
        What it printed.
    """
    argv = [sys.executable, *map(str, words)]
    done = forkserver.run(argv, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == status, done.stderr
    return str(done.stdout)


def store_in(home: Path, checkpoint_every: int = 40) -> SessionStore:
    options = SessionOptions(
        classes=[NotesWindow], counter=rough_counter, checkpoint_every=checkpoint_every
    )
    return SessionStore(home, options)


class Writer(Talk):
    """A conversation in a session, for which dice decide what happens next."""

    def __init__(self, session: Session, dice: random.Random) -> None:
        super().__init__(session)
        self.dice = dice
        self._call_numbers = itertools.count(dice.randrange(10**12))

    @property
    def newest_entry(self) -> str:
        return str(self.session._recorder.parent)

    @property
    def digest(self) -> str:
        """A digest of the bytes of the next request and of the figures."""
        state = wire(self.composed()) + repr(self.context.get_stats()).encode()
        return hashlib.sha256(state).hexdigest()

    def step(self) -> None:
        kind = self.dice.choice(KINDS)
        if kind in ("open", "write", "detail", "focus", "close"):
            self._window(kind)
        elif kind in ("pin", "unpin", "drop", "restore", "edit", "undo"):
            self._change(kind)
        else:
            self._say(kind)

    def settle(self) -> None:
        """Answer what waits, as resuming would answer it with an error."""
        while self.is_waiting:
            self.result("settled")

    def _words(self, most: int = 60) -> str:
        return f"词 {self.dice.randrange(10**6)} \u2028 " * self.dice.randrange(1, most)

    def _say(self, kind: str) -> None:
        match kind:
            case "say":
                self.say(self._words())
            case "send":
                self._make_room(lambda: self.send(BUDGET))
            case "call":
                self.call(self.dice.randrange(1, 4), "I will", self.dice.choice(["", "hm"]))
            case "result" if self.is_waiting:
                gist = self.dice.choice([None, "a gist"])
                self.result(self._words(), gist=gist, is_error=self.dice.random() < 0.1)
            case "large":  # so long that a kill may tear its line
                self.call()
                while self.is_waiting:
                    self.result("long " * self.dice.randrange(10**5), gist="it was long")
                self.context.end_turn()
            case "answer":
                self.answer(self._words())
            case "end":
                self.context.end_turn()
            case "system":
                prompts = [one for one in self._shown() if one.type is ItemType.SYSTEM]
                for prompt in prompts[: len(prompts) - MOST_PROMPTS + 1]:
                    self.context.drop(prompt.id)
                self.system(self._words(9))
            case "usage":
                counted = self.context.compose().tokens
                reported = counted + self.dice.randrange(-100, 200)
                self.context.report_usage(counted, {"input_tokens": reported})
            case "squeeze":
                self._make_room(lambda: self.context.compose(BUDGET // 2))

    def _make_room(self, attempt: Callable[[], object]) -> None:
        try:
            attempt()
        except ContextTooLargeError:
            for item in self._shown():
                if item.pinned:
                    self.context.unpin(item.id)
            self.context.end_turn()

    def _window(self, kind: str) -> None:
        windows = self.windows.windows()
        window_id = self.dice.choice(windows).id if windows else None
        match kind:
            case "open" if len(windows) < MOST_WINDOWS:
                self.open(self._words())
            case "write" if window_id:
                self.write(window_id, self._words(9))
            case "detail" if window_id:
                self.windows.set_lod(window_id, self.dice.choice(list(Lod)))
            case "focus" if window_id:
                self.windows.focus(window_id)
            case "close" if window_id:
                self.windows.close(window_id, self.dice.choice([None, "a summary"]))

    def _change(self, kind: str) -> None:
        shown = [item for item in self._shown() if item.type is not ItemType.WINDOW]
        match kind:
            case "undo":
                self.context.undo()
            case "restore":
                gone = [one for one in self.context.get_all() if one.hidden == "dropped"]
                if gone:
                    self.context.restore(gone[-1].id)
            case "edit" if shown:
                with contextlib.suppress(InvalidItemError):  # its thinking was not sent back yet
                    self.context.edit(self.dice.choice(shown).id, self._words())
            case "pin" | "unpin" | "drop" if shown:
                getattr(self.context, kind)(self.dice.choice(shown).id)

    def _shown(self) -> list[ContextItem]:
        return list(self.context.get_active())


def write_for_ever(home: Path, session_id: str, seed: int, pipe: int) -> None:
    """Go on with a session until killed; after each step, report the newest entry and digest."""
    writer = Writer(store_in(home).open(session_id), random.Random(seed))
    while True:
        writer.step()
        os.write(pipe, f"{writer.newest_entry} {writer.digest}\n".encode())


def write_until_stopped(home: Path, session_id: str) -> None:
    """Write long words, and say so, for as long as there is a line to read."""
    with store_in(home).open(session_id) as session:
        writer = Writer(session, random.Random(0))
        for number, _ in enumerate(sys.stdin):
            item = writer.say(f"{number} " + "long " * 50_000)
            print(item.id, flush=True)
            writer.answer("yes")
            writer.context.end_turn()


def peak_memory() -> int:
    """The most bytes that this process has had in memory, and not the one that started it."""
    status = Path("/proc/self/status").read_text("utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def open_and_measure(path: Path) -> None:
    """Open a log, and say how much memory that took."""
    before = peak_memory()
    SessionLog(path, print).close()
    print(peak_memory() - before)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["words", home, session_id]:
            write_until_stopped(Path(home), session_id)
        case ["peak", log]:
            open_and_measure(Path(log))

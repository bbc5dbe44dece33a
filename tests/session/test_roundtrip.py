"""What was closed and resumed composes the same bytes as what never stopped."""

import contextlib
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from contextui import ContextManager, ItemType, Lod, Window, WindowManager
from contextui.errors import ContextTooLargeError
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionStore
from contextui.windowing.runtime import runtime_of
from tests.context.conversation import Conversation, NotesWindow, wire
from tests.thorough import times


class Talk(Conversation):
    """A conversation whose context and windows belong to a session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.take(session)

    def take(self, session: Session) -> None:
        self.session = session
        self.windows: WindowManager = session.windows
        self.context: ContextManager = session.context


def store_in(
    folder: Path, checkpoint_every: int = 1_000, classes: Sequence[type[Window]] = (NotesWindow,)
) -> SessionStore:
    return SessionStore(folder / "home", SessionOptions(classes, checkpoint_every=checkpoint_every))


def step(talk: Conversation, dice: random.Random) -> None:  # noqa: PLR0915
    """One random thing that happens in a conversation; the same dice give the same thing."""
    kind = dice.choice(
        ["turn"] * 3 + ["tools"] * 3 + ["mid"] * 2
        + ["open", "write", "write", "detail", "close", "focus", "usage", "squeeze"]
        + ["pin", "unpin", "drop", "restore", "edit", "undo", "system"]
    )  # fmt: skip
    number = dice.randrange(10**6)
    items, open_windows = talk.context.get_all(), talk.windows.windows()
    window = open_windows[number % len(open_windows)].id if open_windows else None
    # Only what is loaded can be changed, so choose among the visible.
    shown = [item for item in talk.context.get_active() if item.type is not ItemType.WINDOW]
    chosen = shown[number % len(shown)] if shown else None
    match kind:
        case "turn":
            talk.say(f"words {number} " * (1 + number % 9))
            talk.send(4_000)
            talk.answer(f"answer {number}")
            talk.context.end_turn()
        case "tools":
            talk.say(f"do {number}")
            talk.send(4_000)
            talk.call(1 + number % 2, "I will", "a thought")
            while talk.waiting:
                if window:
                    talk.write(window, f"line {number}")
                talk.result(f"result {number}", gist="a gist" if number % 3 else None)
            talk.send(4_000)
            talk.answer("done")
            talk.context.end_turn()
        case "mid":
            talk.say(f"unfinished {number}")
            talk.send(4_000)
        case "open" if len(open_windows) < 4:
            talk.open(f"first line {number}")
        case "write" if window:
            talk.write(window, f"line {number}")
        case "detail" if window:
            talk.windows.set_lod(window, list(Lod)[number % 3])
        case "focus" if window:
            talk.windows.focus(window)
        case "close" if window:
            talk.windows.close(window, "a summary" if number % 2 else None)
        case "usage":
            request = talk.context.compose()
            usage = {"input_tokens": request.tokens + number % 200, "output_tokens": 5}
            talk.context.report_usage(request.tokens, usage)
        case "squeeze":
            with contextlib.suppress(ContextTooLargeError):
                talk.context.compose(1_500)
        case "pin" | "unpin" | "drop" if chosen:
            getattr(talk.context, kind)(chosen.id)
        case "edit" if chosen:
            talk.context.edit(chosen.id, f"edited {number}")
        case "restore":
            dropped = [item for item in items if item.hidden == "dropped"]
            if dropped:
                talk.context.restore(dropped[-1].id)
        case "undo":
            talk.context.undo()
        case "system":
            talk.system(f"also {number}")


def same_state(one: Conversation, other: Conversation) -> None:
    assert wire(one.composed()) == wire(other.composed())
    assert one.context.get_stats() == other.context.get_stats()
    assert one.context.ledger.cut == other.context.ledger.cut
    assert [w.id for w in one.windows.windows()] == [w.id for w in other.windows.windows()]
    for mine, others in zip(one.windows.windows(), other.windows.windows(), strict=True):
        assert mine.state == others.state
        assert mine.to_xml() == others.to_xml()
        assert [e.action for e in runtime_of(mine).history.entries] == [
            e.action for e in runtime_of(others).history.entries
        ]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 4))]
)
def test_a_resumed_session_composes_the_same_bytes(tmp_path: Path, seed: int) -> None:
    """Random sessions, stopped and resumed (or forked) at random points, checkpoints and all."""
    store = store_in(tmp_path, checkpoint_every=(40, 200, 10_000)[seed % 3])
    steady, stopped = Talk(store.create("/a")), Talk(store.create("/b"))
    dice, twin, when = random.Random(seed), random.Random(seed), random.Random(seed + 100)
    while steady.session.path.read_bytes().count(b"\n") < (times(1_000, 2_000) if seed else 250):
        step(steady, dice)
        step(stopped, twin)
        if when.randrange(12) == 0:
            session_id = stopped.session.id
            stopped.session.close()
            forks = when.randrange(4) == 0
            stopped.take(store.fork(session_id) if forks else store.open(session_id))
            assert stopped.session.notices == []
            same_state(steady, stopped)
    same_state(steady, stopped)
    assert steady.session.turn == stopped.session.turn
    steady.session.close()
    stopped.session.close()

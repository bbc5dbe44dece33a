"""What was closed and resumed composes the same bytes as what never stopped."""

import random
from pathlib import Path

import pytest

from tests.session.talk import same_state, store_in
from tests.session.writer import Writer
from tests.thorough import times


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 4))]
)
def test_a_resumed_session_composes_the_same_bytes(tmp_path: Path, seed: int) -> None:
    """Random sessions, stopped and resumed (or forked) at random points, checkpoints and all."""
    store = store_in(tmp_path, checkpoint_every=(40, 200, 10_000)[seed % 3])
    steady, stopped = (Writer(store.create(folder), random.Random(seed)) for folder in ("/a", "/b"))
    when = random.Random(seed + 100)
    while steady.session.path.read_bytes().count(b"\n") < (times(1_000, 2_000) if seed else 250):
        steady.step()
        stopped.step()
        if when.randrange(36) == 0:
            steady.settle()
            stopped.settle()
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

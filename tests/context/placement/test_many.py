"""Random sessions by price, checked after every step."""

import pytest

from tests.context.placement.many import Step, run, script_failure
from tests.thorough import times


@pytest.mark.parametrize(
    ("first", "count"),
    [(0, times(20, 50_000)),
     *(pytest.param(100_000 + part * 200, 200, marks=pytest.mark.long) for part in range(4))],
)  # fmt: skip
def test_random_sessions(first: int, count: int) -> None:
    for seed, script, error in run(range(first, first + count)):
        error.add_note(f"seed {seed}: " + "\n".join(map(str, script)))
        raise error


# What was found by them, made small.
FOUND: dict[str, list[Step]] = {
    "a restored message leaves the summary of the others": [
        ("say", "k2k", 8), ("say", "k3k", 3), ("compact", 0.9, "k5k", 40), ("restore", 868),
    ],
    "a result restored without the others leaves their summary": [
        ("say", "k3k", 8), ("send",), ("call", ("k4k", "k5k"), "", ""), ("result", "k7k", 3, False),
        ("result", "k9k", 60, True), ("send",), ("answer", "k22k", 3, ""), ("end",), ("drop", 0),
        ("say", "k25k", 3), ("send",), ("answer", "k26k", 15, ""), ("end",),
        ("compact", 0.5, "k59k", 5), ("restore", 2),
    ],
    "undoing an edit after the turn does not bring thinking back": [
        ("say", "k2k", 60), ("send",), ("call", ("k4k",), "", "k3k"), ("result", "k6k", 3, False),
        ("send",), ("edit", 1, "k7k", 30), ("end",), ("undo",), ("clock", 4_000.0),
        ("say", "k8k", 3), ("send",),
    ],
    "an edited result that is a gist is sent again": [
        ("rules", 1, 40), ("say", "k3k", 8), ("send",), ("call", ("k6k",), "k4k", ""),
        ("result", "k8k", 250, False), ("send",), ("call", ("k9k",), "", ""),
        ("result", "k20k", 250, False), ("send",), ("call", ("k12k",), "", ""),
        ("result", "k21k", 250, False), ("send",), ("answer", "k30k", 8, ""), ("end",),
        ("edit", 2, "k32k", 250), ("say", "k40k", 3), ("send",),
    ],
    "sent thinking stays until the turn ends, though its answer was dropped": [
        ("say", "k3k", 8), ("send",), ("call", ("k5k",), "", "k4k"), ("result", "k6k", 3, False),
        ("send",), ("call", ("k7k",), "", ""), ("result", "k8k", 3, False), ("drop", 1), ("send",),
        ("answer", "k9k", 3, ""), ("end",),
    ],
    "sent thinking stays until the turn ends, though its answer was edited": [
        ("say", "k3k", 8), ("send",), ("call", ("k5k",), "", "k4k"), ("result", "k6k", 3, False),
        ("send",), ("call", ("k7k",), "", ""), ("result", "k8k", 3, False),
        ("edit", 1, "k11k", 9), ("send",), ("answer", "k9k", 3, ""), ("end",),
    ],
    "words given to an answer that only made calls stay without the calls": [
        ("say", "k1k", 15), ("send",), ("call", ("k3k",), "", ""), ("result", "k15k", 3, False),
        ("send",), ("answer", "k6k", 8, ""), ("end",), ("edit", 1, "k7k", 8), ("say", "k8k", 3),
        ("send",), ("drop", 2),
    ],
    "the result of an answer that was dropped while it ran is hidden too": [
        ("say", "k1k", 15), ("send",), ("call", ("k3k",), "k2k", ""), ("drop", 1),
        ("result", "k15k", 3, False), ("send",), ("end",),
    ],
    "undo does not bring back the result of an answer that was left out": [
        ("say", "k2k", 6), ("send",), ("call", ("k5k", "k6k"), "k4k", ""),
        ("result", "k8k", 8, False), ("result", "k9k", 25, False), ("send",),
        ("answer", "k14k", 25, ""), ("end",), ("drop", 3), ("leave_out", 0.9), ("undo",),
    ],
    "an edited summary waits for the end of a turn with thinking": [
        ("say", "k2k", 25), ("send",), ("answer", "k3k", 3, ""), ("end",), ("say", "k6k", 6),
        ("send",), ("answer", "k7k", 3, ""), ("end",), ("compact", 0.5, "k20k", 40),
        ("say", "k21k", 30), ("send",), ("call", ("k24k",), "", "k23k"),
        ("result", "k25k", 15, True), ("edit", 4, "k26k", 30), ("send",),
        ("answer", "k27k", 3, ""), ("end",),
    ],
    "a failed request is no request": [
        ("system", "k1k", 1_100), ("open", "pages", ["k5k", "k6k"]), ("say", "k2k", 3), ("send",),
        ("answer", "k3k", 3, ""), ("end",), ("write", 0, "k7k", 3), ("drop", 0), ("say", "k8k", 9),
        ("fail",), ("send",),
    ],
}  # fmt: skip


def test_found() -> None:
    for name, script in FOUND.items():
        assert script_failure(script) is None, name

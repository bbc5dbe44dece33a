"""Requests of conversations by turn, as bytes: what version 1 sent is recorded in `golden`.

    python -m tests.context.version_one tail > tests/context/golden/turn.jsonl

was run with the code from before windows were placed by price (2dbe52f^), where placement by turn
was named ``tail``. Each line has the number of a conversation, the number and name of a step, and
the messages of the request that was sent or would follow.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, Any

from contextui import Lod
from contextui.errors import ContextUIError
from tests.context.conversation import Conversation

if TYPE_CHECKING:
    from contextui.config.schema import Placement

CONVERSATIONS = 5


def steps_of(dice: Random) -> list[tuple[Any, ...]]:
    """Turns with calls, results, thinking and windows, and what people do to them."""
    steps: list[tuple[Any, ...]] = [("system", "You help.")]
    numbers = iter(range(10_000))
    for _ in range(5):
        for _ in range(dice.randrange(3)):
            steps.append(_meddle(dice, next(numbers)))
        steps += [("say", f"words {next(numbers)}"), ("send",)]
        for _ in range(dice.randrange(3)):
            steps.append(("call", dice.randint(1, 2), dice.random() < 0.5, dice.random() < 0.4))
            for _ in range(2):
                steps.append(
                    ("result", f"result {next(numbers)} " + "more " * dice.choice((1, 40)))
                )
            if dice.random() < 0.5:
                steps.append(_meddle(dice, next(numbers)))
            steps.append(("send",))
        steps += [("answer", f"answer {next(numbers)}"), ("end",)]
    return steps


def _meddle(dice: Random, number: int) -> tuple[Any, ...]:
    which = dice.randrange(100)
    return dice.choice(
        [
            ("open", f"line {number}"),
            ("write", which, f"line {number}"),
            ("write", which, f"line {number}"),
            ("detail", which, dice.choice(list(Lod))),
            ("close", which),
            ("drop", which),
            ("restore", which),
            ("edit", which, f"edited {number}"),
            ("pin", which),
            ("undo",),
            ("squeeze", dice.choice((150, 400))),
        ]
    )


def perform(talk: Conversation, step: tuple[Any, ...]) -> None:
    name, *rest = step
    items, opened = talk.context.get_all(), talk.windows.windows()
    match name:
        case "say" | "answer" | "system":
            getattr(talk, name)(*rest)
        case "call":
            talk.call(rest[0], "I look." if rest[1] else "", "hm" if rest[2] else "")
        case "result" if talk.is_waiting:
            talk.result(rest[0])
        case "open" if len(opened) < 3:
            talk.open(rest[0])
        case "write" if opened:
            name = opened[rest[0] % len(opened)].id
            asyncio.run(talk.windows.act(name, "write", {"line": rest[1]}))
        case "detail" if opened:
            talk.windows.set_lod(opened[rest[0] % len(opened)].id, rest[1])
        case "close" if opened:
            talk.windows.close(opened[rest[0] % len(opened)].id, "closed")
        case "drop" | "restore" | "pin":
            getattr(talk.context, name)(items[rest[0] % len(items)].id)
        case "edit":
            talk.context.edit(items[rest[0] % len(items)].id, rest[1])
        case "undo":
            talk.context.undo()
        case "send":
            talk.send()
        case "squeeze":
            talk.context.compose(rest[0])
        case "end":
            talk.context.end_turn()


def lines_of(seed: int, placement: "Placement" = "turn") -> Iterator[str]:
    """The messages of the next request after each step that changes it."""
    talk, before = Conversation(placement), ""
    for number, step in enumerate(steps_of(Random(seed))):
        failed = ""
        try:
            perform(talk, step)
        except ContextUIError as error:
            failed = type(error).__name__
        talk.windows.settle_now()
        messages = [[one.role, one.content] for one in talk.composed()]
        written = json.dumps(messages, ensure_ascii=False, default=dict)
        if written != before and step[0] not in ("say", "call", "answer", "result"):
            yield f'[{seed}, {number}, "{step[0]} {failed}", {written}]'
            before = written
    talk.windows.shut_down()


def main() -> None:
    for seed in range(CONVERSATIONS):
        for line in lines_of(seed, *sys.argv[1:]):  # type: ignore[arg-type]
            sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()

"""A wish that is put right takes the place of the one before it."""

from pathlib import Path

import pytest

from tests.agent.models.offline.talk import Talk


@pytest.mark.parametrize(
    ("wish", "right", "calls"),
    [
        ("delete eggs", "no, I meant bread", ("todo_1.add text=eggs", "todo_1.delete item=3")),
        ("mark eggs as done", "no, bread", ("todo_1.undone item=2", "todo_1.done item=3")),
        (
            "remind me to call Ana on Friday",
            "actually make that Monday",
            ("todo_1.edit item=4 text=call Ana on Monday",),
        ),
        ("add tea", "no, coffee", ("todo_1.edit item=4 text=coffee",)),
    ],
)
def test_what_was_wrong_is_taken_back(
    wish: str, right: str, calls: tuple[str, ...], tmp_path: Path
) -> None:
    with Talk(tmp_path, classes=()) as talk:
        talk.windows.open("todo", items=["milk", "eggs", "bread"])
        talk.say(wish)
        assert talk.say(right).calls == calls

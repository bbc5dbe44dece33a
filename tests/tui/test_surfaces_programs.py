"""Hostile text in commands that ask: escape codes, bidi controls, markup, and what has no width.

That of git, of terminals and of other windows is in the tests of these windows.
"""

from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from contextui.agent.approval import Question
from contextui.shell import suggest
from contextui.tui.dialogs.command import CommandField, CommandScreen
from contextui.windowing.preview import CommandPreview, Preview
from tests.tui.running import SIZES, lines, until
from tests.tui.test_approval import ask, host_of

pytestmark = pytest.mark.long


LIVE = set("\x00\x07\x08\x0d\x1b\x7f\x85\x9b\x9d\u061c\u200b\u200f\u2028\u202e\u2060\u2066\ufeff")
"""Characters that act on a terminal, or hide in a name."""
ESCAPES = "\x1b]52;c;aGk=\x07\x1b]0;owned\x07\x1b[2J\x9b31m\x9d0;t\x07\x08\x7f"
HIDDEN = "a\u202eb\u2066c\u200fd\u2028e\u200bf\u2060g\ufeffh"
MARKUP = "[/foo] [/] [b]x[@click=app.quit]y[/] $primary {x}"
PAYLOAD = f"{MARKUP}{HIDDEN}{ESCAPES}"
LONG = "long " * 2_000


def check(pilot: "Pilot[Any]") -> None:
    """Nothing on the screen can act, and the app has not acted either."""
    strips = pilot.app.screen._compositor.render_strips()
    segments = [segment for strip in strips for segment in strip]
    found = set("".join(one.text for one in segments)) & LIVE
    assert not found, [f"{one!r}: {row}" for one in found for row in lines(pilot) if one in row]
    assert not any("@click" in one.style.meta for one in segments if one.style)
    widths = {sum(one.cell_length for one in strip) for strip in strips}
    assert widths <= {pilot.app.size.width}
    assert pilot.app.is_running
    assert pilot.app.return_code is None


async def press(pilot: "Pilot[Any]", *keys: str) -> None:
    """Press one key after another, and look at the screen after each."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause(0.05)
        check(pilot)


def question(line: str, **given: Any) -> Question:
    """A question about a command, with nothing of it checked."""
    command = CommandPreview(line, **{"folder": "/tmp", "seconds": 30.0, **given})
    preview = Preview(PAYLOAD, text=PAYLOAD, command=command)
    pattern = suggest(("git", "log", PAYLOAD))
    return Question("terminal_1", "run", PAYLOAD, {}, preview, pattern=pattern)


@pytest.mark.parametrize(("size", "number"), [*zip([*SIZES, (60, 18)], (0, 1, 2, 0), strict=True)])
async def test_a_command_its_folder_and_its_pattern(pilot: "Pilot[Any]", number: int) -> None:
    asked = [
        question(PAYLOAD, folder=f"/{PAYLOAD}", dropped=(PAYLOAD, "KEY")),
        question(f"echo {LONG}{PAYLOAD}", folder=f"/{LONG}", is_live=True),
        question(f"echo '{HIDDEN}\n{MARKUP}'\n\r\n\t{ESCAPES}", seconds=None),
    ]

    screen = await ask(pilot, host_of(pilot), asked[number])
    assert isinstance(screen, CommandScreen)
    check(pilot)
    await press(pilot, "pagedown", "end", "home", "e")
    field = screen.query_one(CommandField)
    await until(pilot, lambda: field.has_focus)
    await field._on_paste(Paste(PAYLOAD))
    await press(pilot, "a", "enter")

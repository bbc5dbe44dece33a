"""Text that would act if it could, and whether anything of it does: escapes, markup, bidi, wide."""

from typing import Any

from textual.pilot import Pilot

from tests.tui.running import lines

LIVE = set("\x00\x07\x08\x0d\x1b\x7f\x85\x9b\x9d\u061c\u200b\u200f\u2028\u202e\u2060\u2066\ufeff")
"""Characters that act on a terminal, or hide in a name."""
ESCAPES = "\x1b]52;c;aGk=\x07\x1b]0;owned\x07\x1b[2J\x9b31m\x9d0;t\x07\x08\x7f"
HIDDEN = "a\u202eb\u2066c\u200fd\u2028e\u200bf\u2060g\ufeffh"
MARKUP = "[/foo] [/] [b]x[@click=app.quit]y[/] $primary {x}"
PAYLOAD = f"{MARKUP}{HIDDEN}{ESCAPES}"
WIDE = "把牛奶放进待办" * 9 + "👩‍👩‍👧‍👧e\u0301"
PAYLOADS = (f"{MARKUP} [/ {ESCAPES}", f"{HIDDEN}\x00\r\n\tz", WIDE)


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

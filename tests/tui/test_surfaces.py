"""Every pane and the approval, with text that would act if it could.

Sheets are in `test_surfaces_sheets.py`, programs in `test_surfaces_programs.py`.
"""

import time
from pathlib import Path

import pytest

from contextui.agent.models.scripted import ScriptedModel, call
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.windowing.action import action
from contextui.windowing.snapshot import Body, Element, Lod
from contextui.windowing.window import Window
from tests.tui.running import SIZES, app_of, desk_in, lines, running, until

pytestmark = pytest.mark.long

ACTING = set("\x00\x07\x08\x1b\x7f\x9b\x9d\u200f\u2028\u202e\u2066")
PAYLOADS = {
    "markup and escapes": "[/foo] [/] [/ [b]x[@click=app.quit]y[/] $primary {x}"
    "\x1b]52;c;aGk=\x07\x1b]0;owned\x07\x1b[2J\x9b31m\x9d0;t\x07",
    "bidi and control": "a\u202eb\u2066c\u200fd\u2028e\x00\x08\x7f\r\n\tz",
    "wide": "把牛奶放进待办" * 9 + "👩‍👩‍👧‍👧e\u0301",
}


class Hostile(Window):
    """Shows whatever it was given, everywhere."""

    class State(Window.State):
        text: str = ""

    state: State

    def opened(self, text: str = "") -> None:
        self.state.text = text

    def content(self, lod: Lod) -> Body:
        if lod is Lod.GIST:
            return self.state.text
        return [Element("item", self.state.text, name=self.state.text)]

    def preview(self, action_id: str, params: object) -> str | None:
        return f"{action_id} {self.state.text}"

    @action("Write it", effect="write")
    def write(self, text: str) -> str:
        self.state.text = text
        return text


@pytest.mark.parametrize(("kind", "size"), list(zip(PAYLOADS, SIZES, strict=True)))
async def test_nothing_becomes_live_anywhere(
    tmp_path: Path, kind: str, size: tuple[int, int]
) -> None:
    payload = PAYLOADS[kind]
    writing = {"window_id": "hostile_1", "action_id": "write", "params": {"text": payload}}
    model = ScriptedModel(
        [payload, call("create", name="hostile", args={"text": payload}),
         call("create", name="todo", args={"items": [payload]}),
         call(payload or "x", anything=payload), call("read_file", path=payload)],
        call("action", **writing),
        f"{payload}.\n\n```python\n{payload}\n```\n",
        name=payload,
    )  # fmt: skip

    from contextui.windowing.finding.registry import discover

    classes: list[type[Window]] = [*discover().classes(), Hostile]
    desk = desk_in(tmp_path, model=model, windows=classes)
    desk.notices.append(payload)
    async with running(desk, size) as pilot:
        app = app_of(pilot)
        app.main.send(f"words {payload}")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        check(lines(pilot))
        dialog = app.screen
        assert isinstance(dialog, ApprovalScreen)
        await until(pilot, lambda: time.monotonic() > dialog.guard.deaf_until)
        await pilot.press("y")
        talk = app.main.turns
        assert talk is not None
        await until(pilot, lambda: talk.last is not None)
        for keys in (("ctrl+g", "i"), ("right_square_bracket",), ("right_square_bracket",),
                     ("right_square_bracket",), ("left_square_bracket",), ("ctrl+g", "1"),
                     ("ctrl+g", "2"), ("ctrl+g", "c"), ("enter",), ("f1",), ("escape",),
                     ("ctrl+p",), ("escape",), ("ctrl+g", "p")):  # fmt: skip
            await pilot.press(*keys)
            await pilot.pause(0.06)
            check(lines(pilot))
        assert app.is_running
        assert app.return_code is None


def check(shown: list[str]) -> None:
    assert not set("".join(shown)) & ACTING

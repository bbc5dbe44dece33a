"""Every pane and the approval, with text that would act if it could.

Sheets are in `test_surfaces_sheets.py`; commands in the tests of their dialog.
"""

import time
from pathlib import Path

import pytest

from contextui.agent.models.scripted import ScriptedModel, call
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.windowing.finding.registry import discover
from tests.tui.desktop.samples import HostileWindow
from tests.tui.hostile import PAYLOADS, check, press
from tests.tui.running import SIZES, app_of, desk_in, on_screen, running, until

pytestmark = pytest.mark.long


@pytest.mark.parametrize(("payload", "size"), [*zip(PAYLOADS, SIZES, strict=True)])
async def test_nothing_becomes_live_anywhere(
    tmp_path: Path, payload: str, size: tuple[int, int]
) -> None:
    writing = {"window_id": "hostile_1", "action_id": "write", "params": {"text": payload}}
    model = ScriptedModel(
        [payload, call("create", name="hostile", args={"text": payload}),
         call("create", name="todo", args={"items": [payload]}),
         call(payload, anything=payload), call("read_file", path=payload)],
        call("action", **writing),
        f"{payload}.\n\n```python\n{payload}\n```\n",
        name=payload,
    )  # fmt: skip
    desk = desk_in(tmp_path, model=model, windows=[*discover().classes(), HostileWindow])
    desk.notices.append(payload)
    async with running(desk, size) as pilot:
        app = app_of(pilot)
        app.main.send(f"words {payload}")
        dialog = await on_screen(pilot, ApprovalScreen)
        check(pilot)
        await until(pilot, lambda: time.monotonic() > dialog.guard.deaf_until)
        await pilot.press("y")
        talk = app.main.turns
        assert talk is not None
        await until(pilot, lambda: talk.last is not None)
        pages = ("right_square_bracket",) * 3
        await press(pilot, "ctrl+g", "i", *pages, "left_square_bracket", "ctrl+g", "1", "ctrl+g")
        await press(pilot, "2", "ctrl+g", "c", "enter", "f1", "escape", "ctrl+p", "escape")

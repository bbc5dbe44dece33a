"""No key of the environment is shown, wherever it stands in a conversation."""

from pathlib import Path

import pytest

from contextui.agent.models.scripted import call
from tests.tui.inspector.scene import enter, rows, screen, see
from tests.tui.running import desk_in, running, say, until

KEY = "k3y-that-nobody-may-see"


async def test_a_key_stands_nowhere_on_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    opened = call("create", name="todo", args={"items": [KEY]})

    desk = desk_in(tmp_path, opened, f"It is {KEY}, I think.")
    async with running(desk, size=(160, 50)) as pilot:
        await say(pilot, f"Put {KEY} on a list.")
        await see(pilot, "Put *** on a list.", "It is ***, I think.")
        assert KEY not in screen(pilot)
        await enter(pilot)
        for number in range(rows(pilot).count):
            rows(pilot).choose(number)
            await pilot.pause()
            assert KEY not in screen(pilot)
        for page in ("parts", "■ answered", "No warnings."):
            await pilot.press("right_square_bracket")
            await see(pilot, page)
            await pilot.press("end", "home")
            assert KEY not in screen(pilot)
        await until(pilot, lambda: desk.session.unsaved == 0)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert all(KEY.encode() not in path.read_bytes() for path in files)

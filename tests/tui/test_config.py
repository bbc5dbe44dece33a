"""Export in the app: /export."""

import json
import os
from pathlib import Path

from textual.pilot import Pilot

from contextui.context.item import ContextItem, ItemType
from tests.tui.running import app_of, desk_in, lines, running, until


def note_shown(pilot: "Pilot[int]", text: str) -> bool:
    """Whether it stands beside the inspector, over however many lines, wherever they break."""
    shown = "".join("".join(line.split("▏")[0] for line in lines(pilot)).split())
    return "".join(text.split()) in shown


async def test_a_conversation_is_exported_with_or_without_closed_ones(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    context, work = desk.session.context, tmp_path / "work"
    context.add(ContextItem(ItemType.USER, "Buy milk."))
    dropped = context.add(ContextItem(ItemType.ASSISTANT, "What a silly wish."))
    context.end_turn()
    context.drop(dropped.id)
    window = desk.session.windows.open("todo", items=["an apple"])
    window.to_xml()
    desk.session.windows.close(window.id, actor="person")
    name = f"contextui-{desk.session.id[:8]}"
    outside = tmp_path / "outside.md"
    (work / f"{name}-2.md").symlink_to(outside)  # never written through
    async with running(desk) as pilot:
        main = app_of(pilot).main
        main.run_command("/export md")
        await until(pilot, lambda: note_shown(pilot, f"{name}.md."))
        main.run_command("/export md all")
        await until(pilot, lambda: note_shown(pilot, f"{name}-3.md."))
        main.run_command("/export json")
        await until(pilot, lambda: note_shown(pilot, f"{name}.json."))
        main.run_command("/export html talk.html")
        await until(pilot, lambda: note_shown(pilot, "talk.html."))
        (work / "mine.html").write_text("mine")
        main.run_command("/export html mine.html")
        await until(pilot, lambda: note_shown(pilot, "Not exported: File exists"))
        assert (work / "mine.html").read_text() == "mine"
    plain, everything = ((work / f"{name}{n}.md").read_text("utf-8") for n in ("", "-3"))
    assert "Buy milk." in plain
    assert "silly" not in plain
    assert "apple" not in plain
    assert "## Model (dropped)\n\nWhat a silly wish." in everything
    assert "*Window todo_1 (closed)*" in everything
    assert "an apple" in everything
    assert not outside.exists()
    assert os.stat(work / f"{name}.md").st_mode & 0o777 == 0o600
    assert json.loads((work / f"{name}.json").read_text("utf-8"))["items"]

"""Whatever a window, a model or a file says is shown, and never obeyed."""

import asyncio
from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from contextui.text import for_terminal
from contextui.tui.desktop.form import FormScreen
from contextui.tui.desktop.lines import WindowLines
from contextui.tui.desktop.menu import MenuScreen
from contextui.tui.desktop.results import ResultScreen
from tests.tui.desktop.samples import PAYLOADS, desk_with, desktop, enter, frame_of, region_text
from tests.tui.running import lines, running, shown, until

DANGEROUS = "\x1b\x07\x9b\x00\u202e\u2066"


def check(pilot: "Pilot[int]") -> None:
    """Nothing on the screen can act, and the app has not acted either."""
    text = "\n".join(lines(pilot))
    assert not any(one in text for one in DANGEROUS)
    strips = pilot.app.screen._compositor.render_strips()
    metas = [segment.style.meta for strip in strips for segment in strip if segment.style]
    assert not any("@click" in meta for meta in metas)
    assert pilot.app.is_running


def literal(text: str) -> str:
    """The beginning of a payload, as it must be seen."""
    return for_terminal(text)[:8]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_content_attributes_labels_gists_and_titles(tmp_path: Path, payload: str) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "note", "note", "note", "note")
        desk.session.windows.open("hostile", text=payload)
        async with running(desk) as pilot:
            await frame_of(pilot, "note_1")
            (listed,) = desktop(pilot).query(WindowLines)
            seen = literal(payload)
            await until(pilot, lambda: any(seen in one for one in region_text(pilot, listed)))
            check(pilot)
            desktop(pilot).go_to(6)
            frame = await enter(pilot, "hostile_1")
            await pilot.press("z")
            await until(pilot, lambda: frame.region.width == 120)
            await until(pilot, lambda: seen in region_text(pilot, frame)[0])  # the title
            assert seen in region_text(pilot, frame)[1]  # text, attribute and anchor
            check(pilot)
            await pilot.press("enter", "down", "up")
            check(pilot)

    asyncio.run(go())


@pytest.mark.parametrize("payload", PAYLOADS)
def test_results_errors_and_long_results(tmp_path: Path, payload: str) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "hostile")
        async with running(desk) as pilot:
            frame = await enter(pilot, "hostile_1")
            seen = literal(payload)
            for action in ("say", "refuse"):
                frame.acting.run(action, {"text": payload})
                await until(pilot, lambda: seen in region_text(pilot, frame.row)[0])
                check(pilot)
                frame.row.forget()
            frame.acting.run("say_much", {"text": payload})
            await until(pilot, lambda: isinstance(pilot.app.screen, ResultScreen))
            await until(pilot, lambda: shown(pilot, seen))
            check(pilot)

    asyncio.run(go())


@pytest.mark.parametrize("payload", PAYLOADS)
def test_reasons_why_a_window_cannot_be_drawn(tmp_path: Path, payload: str) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path)
        desk.session.windows.open("hostile", text=payload)
        async with running(desk) as pilot:
            frame = await frame_of(pilot, "hostile_1")
            await desk.session.windows.act("hostile_1", "fail")
            await until(pilot, lambda: frame.has_class("-error"))
            await until(pilot, lambda: shown(pilot, literal(payload)))
            check(pilot)

    asyncio.run(go())


@pytest.mark.parametrize("payload", PAYLOADS)
def test_menus_forms_and_what_is_pasted_into_them(tmp_path: Path, payload: str) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path)
        desk.session.windows.open("hostile", text=payload)
        async with running(desk) as pilot:
            frame = await enter(pilot, "hostile_1")
            await pilot.press("a")
            await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
            await until(pilot, lambda: shown(pilot, "zap[@click=app.quit]x[/]"))  # a label
            check(pilot)
            await pilot.press("escape")
            await until(pilot, lambda: frame.has_focus)
            frame.acting.choose("refuse")
            await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
            await until(pilot, lambda: pilot.app.focused is not None)
            assert pilot.app.focused is not None
            pilot.app.focused.post_message(Paste(payload))
            await until(pilot, lambda: shown(pilot, literal(payload)))
            check(pilot)
            await pilot.press("enter")  # it is refused with these very words
            await until(pilot, lambda: sum(literal(payload) in one for one in lines(pilot)) > 1)
            check(pilot)

    asyncio.run(go())


@pytest.mark.parametrize("payload", PAYLOADS)
def test_items_of_a_list_and_summaries_of_a_closing(tmp_path: Path, payload: str) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "todo")
        async with running(desk) as pilot:
            frame = await enter(pilot, "todo_1")
            await desk.session.windows.act("todo_1", "add", {"text": payload})
            await until(pilot, lambda: literal(payload) in region_text(pilot, frame)[1])
            check(pilot)
            await desk.session.windows.act("todo_1", "close", {"summary": payload}, actor="person")
            await until(pilot, lambda: pilot.app.screen.has_class("-no-windows"))
            check(pilot)

    asyncio.run(go())


@pytest.mark.parametrize("payload", PAYLOADS[:4])
def test_files_and_paths_in_an_editor(tmp_path: Path, payload: str) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path)
        text = payload.replace("\0", "").encode("utf-8", "replace") + b"\n"
        path = tmp_path / "work" / "[@click=app.quit]x.md"
        path.write_bytes(text)
        desk.session.windows.open("editor", path=path.name)
        async with running(desk) as pilot:
            frame = await frame_of(pilot, "editor_1")
            await until(pilot, lambda: literal(payload) in region_text(pilot, frame)[1])
            assert "[@click=app.quit]x.md" in region_text(pilot, frame)[0]
            check(pilot)

    asyncio.run(go())

"""Hostile text in sheets, in the popups of the prompt, in the header, and in whatever is pasted.

Names of models, files, folders and branches, values of settings, prompts of servers and errors come
from anywhere. None of it reaches the terminal as it is, and markup stays text.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from contextui.tui.conversation.popup import Popup
from contextui.tui.desktop.rowlist import FilterInput
from contextui.tui.dialogs.config import ConfigScreen
from contextui.tui.dialogs.model import LoginScreen, ModelScreen, ServerScreen
from contextui.tui.dialogs.sessions import SessionsScreen
from contextui.windowing.action import action
from contextui.windowing.snapshot import Body, Lod
from contextui.windowing.window import Window
from contextui.windows.files.window import FilesWindow
from contextui.windows.mcp.catalogue import Argument, Catalogue, Prompt
from tests.agent.server import Server
from tests.tui.hostile import ESCAPES, HIDDEN, MARKUP, PAYLOAD, check, press
from tests.tui.running import app_of, lines, running, shown, until
from tests.tui.test_model_sheet import OLLAMA, connected
from tests.tui.test_model_sheet import shown as models_shown

pytestmark = pytest.mark.long

PASTED = f"{ESCAPES}{MARKUP}{HIDDEN}</Window>"
NAMES = (f"cart {PAYLOAD.replace('/', '|')}", "cart\nline", "cart</Window>".replace("/", "|"))
FOLDER = "[b]x[@click=app.quit]\x1b[2J\u202e\n"


class Offering(Window):
    """Offers prompts, as the window of a server does."""

    name = "offering"

    class State(Window.State):
        catalogue: Catalogue = Catalogue(
            prompts=[
                Prompt(name="greet", description=PAYLOAD),
                Prompt(
                    name=f"greet{PAYLOAD}",
                    description=PAYLOAD,
                    arguments=[Argument(name=PAYLOAD, required=True)],
                ),
            ]
        )

    state: State

    def content(self, lod: Lod) -> Body:
        return "prompts"

    @action("Get a prompt", effect="read")
    def prompt(self, name: str, arguments: dict[str, str] | None = None) -> str:
        return f"greeting {PAYLOAD}"


async def paste(pilot: "Pilot[int]", drawn: str = "qz") -> None:
    """Paste into the focused field; look at the screen, and at the field's own cells."""
    field = pilot.app.focused
    assert isinstance(field, Input)
    field.value = ""
    pilot.app.post_message(events.Paste(PASTED))
    await until(pilot, lambda: "@click" in field.value)
    await pilot.pause(0.05)
    check(pilot)
    pasted, field.value = field.value, ""
    await pilot.press("q", "z")

    def is_drawn() -> bool:
        across, down, width, height = field.region
        rows = lines(pilot)[down : down + height]
        return any(drawn in row[across : across + width] for row in rows)

    await until(pilot, is_drawn)
    field.value = pasted


async def screen_of(pilot: "Pilot[int]", kind: type[Any]) -> Any:
    """Wait until a sheet is open, and look at it."""
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))
    await pilot.pause(0.05)
    check(pilot)
    return pilot.app.screen


async def test_sheets_popups_and_what_is_pasted(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    home, work = folder / "home", folder / "work"
    (work / ".git").mkdir(parents=True)
    (work / ".git" / "HEAD").write_text("ref: refs/heads/x{y}$primary\u202e\x1b[2J[b]main\n")
    for name in NAMES:
        (work / name).write_text("text\n")
    home.mkdir()
    secret = json.dumps(PAYLOAD.replace("/", "|"))  # JSON strings are TOML strings, too
    (home / "config.toml").write_text(f"secret_files = [{secret}]\n")

    with Server() as server:
        tags = [{"name": one} for one in (PAYLOAD, "same", "same", "[b]x[@click=app.quit]y")]
        server.pages = {**OLLAMA, "/api/tags": {"models": tags}, "/api/ps": {"models": tags}}
        environ = {"OLLAMA_HOST": server.url, "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": PAYLOAD}
        desk = connected(folder, environ, windows=[FilesWindow, Offering])
        desk.session.windows.open("offering")
        async with running(desk) as pilot:
            app = app_of(pilot)
            check(pilot)  # the folder and the branch
            prompt, run = app.main.prompt, app.main.run_command
            await pilot.press("@", *"cart")
            await until(pilot, lambda: app.screen.query_one(Popup).display)
            await until(pilot, lambda: shown(pilot, "cart "))
            await press(pilot, "down", "down", "enter")
            prompt.clear()
            await press(pilot, *"/prompt gre", "down", "down", "tab")
            prompt.clear()
            app.post_message(events.Paste(PASTED))
            await until(pilot, lambda: "@click" in prompt.text)
            await pilot.pause(0.05)
            check(pilot)
            prompt.clear()
            run("/prompt offering.greet")
            await until(pilot, lambda: "greeting" in prompt.text)
            await pilot.pause(0.05)
            check(pilot)
            prompt.clear()
            await models(pilot)
            await pilot.resize_terminal(80, 24)
            await until(pilot, lambda: len(lines(pilot)) == 24)
            check(pilot)
            await settings(pilot)
            await others(pilot)


async def models(pilot: "Pilot[int]") -> None:
    """Names of models, errors of servers, addresses and keys."""
    app = app_of(pilot)
    app.main.run_command("/model")
    await screen_of(pilot, ModelScreen)
    await until(pilot, lambda: "[b]x[@click=app.quit]y" in models_shown(app))
    assert models_shown(app).count("same") == 1
    await press(pilot, *["down"] * 8, "u")
    await screen_of(pilot, ServerScreen)
    await paste(pilot)
    await press(pilot, "enter", "escape", "home", "l")
    await screen_of(pilot, LoginScreen)
    await paste(pilot, "••")
    await press(pilot, "escape", "escape")


async def settings(pilot: "Pilot[int]") -> None:
    """Values of settings, files they come from, and what is wrong with a new one."""
    app = app_of(pilot)
    app.main.run_command("/config")
    sheet = await screen_of(pilot, ConfigScreen)
    for at in map(sheet._list.names.index, ("secret_files", "model")):
        sheet.note("")
        await press(pilot, "home", *["down"] * at, "enter")
        await paste(pilot)
        await press(pilot, "enter")
        await until(pilot, lambda: str(sheet.query_one("#box").border_subtitle))
        await pilot.pause(0.05)
        check(pilot)
        if isinstance(app.focused, Input):  # it is not allowed
            await press(pilot, "escape")
    await press(pilot, "escape")
    app.main.run_command(f"/config {PAYLOAD}")
    await press(pilot, "escape")


async def others(pilot: "Pilot[int]") -> None:
    """All other fields of one line."""
    app = app_of(pilot)
    app.main.run_command("/sessions")
    await screen_of(pilot, SessionsScreen)
    await press(pilot, "slash")
    await paste(pilot)
    await press(pilot, "escape", "escape")
    await pilot.press("ctrl+p")
    await screen_of(pilot, CommandPalette)
    await paste(pilot)
    await press(pilot, "escape", "ctrl+g", "i", "slash")
    await until(pilot, lambda: isinstance(app.focused, FilterInput))
    await paste(pilot)
    await press(pilot, "escape")

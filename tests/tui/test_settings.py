"""The sheet of settings."""

import asyncio
import os
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from contextui.config.sources import load_settings
from contextui.tui.desktop.menu import MenuScreen
from contextui.tui.dialogs.config import ConfigScreen
from contextui.windowing.snapshot import Lod
from tests.tui.desktop.samples import region_text
from tests.tui.running import desk_in, running, shown, until
from tests.tui.test_switch import app_of


async def choose(pilot: "Pilot[int]", move: str) -> None:
    """Choose a value of the setting under the cursor."""
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
    assert shown(pilot, "current")
    await pilot.press(move, "enter")
    await until(pilot, lambda: not isinstance(pilot.app.screen, MenuScreen))


def test_a_setting_is_changed_in_the_users_file(tmp_path: Path) -> None:
    async def change() -> None:
        desk = desk_in(tmp_path)
        home = desk.session.path.parents[2]
        (home / "config.toml").write_text("# mine\nbudget = 30000\n")
        (tmp_path / "work" / ".contextui").mkdir()
        project = tmp_path / "work" / ".contextui" / "config.toml"
        project.write_text("max_tokens = 1000\n")
        before = project.read_text()
        desk.load_settings = lambda: load_settings(
            {"max_steps": "7"}, os.environ, home, tmp_path / "work"
        )
        async with running(desk) as pilot:
            app = app_of(pilot)
            app.main.run_command("/config budget 1")
            await until(pilot, lambda: shown(pilot, "To change budget, type /config budget"))
            app.main.run_command("/config")
            await until(pilot, lambda: isinstance(app.screen, ConfigScreen))
            screen = app.screen
            assert isinstance(screen, ConfigScreen)
            await pilot.pause()
            for text in ("budget", "30000", "--max-steps", "config.toml", "default"):
                assert shown(pilot, text), text

            async def write(name: str, text: str) -> None:
                screen._list.move(screen._list.names.index(name))
                await pilot.press("enter")
                field = screen.query_one("#value", Input)
                field.value = text
                await until(pilot, lambda: shown(pilot, text[:12]))  # also what is wrong is seen
                await pilot.press("enter")

            def note() -> str:
                return str(screen.query_one("#box").border_subtitle)

            await write("budget", "64000")
            await until(pilot, lambda: "applies from the next start" in note())
            assert (home / "config.toml").read_text() == "# mine\nbudget = 64000\n"
            screen._list.move(screen._list.names.index("windows_lod"))
            await choose(pilot, "end")
            await until(pilot, lambda: "applies now" in note())
            assert desk.session.windows.lod is Lod.GIST
            await write("max_steps", "9")
            await until(pilot, lambda: "--max-steps still sets" in note())
            await write("budget", "much")
            await until(pilot, lambda: "must be" in note())
            assert isinstance(screen.focused, Input)
            await pilot.press("escape")
            await write("model", "sk-ant-api03-5f3a9c27e1b84d0f9a6c")
            await until(pilot, lambda: "API keys are not allowed" in note())
            assert "sk-ant" not in (home / "config.toml").read_text()
            assert project.read_text() == before
            await pilot.press("escape", "escape")
            await until(pilot, lambda: app.screen is app.main)

    asyncio.run(change())


def test_settings_are_searched_and_show_what_is_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    async def change() -> None:
        desk = desk_in(tmp_path)
        home = desk.session.path.parents[2]
        desk.load_settings = lambda: load_settings({}, {}, home, tmp_path / "work")
        async with running(desk) as pilot:
            app = app_of(pilot)
            app.main.run_command("/config")
            await until(pilot, lambda: isinstance(app.screen, ConfigScreen))
            screen = app.screen
            assert isinstance(screen, ConfigScreen)
            await until(pilot, lambda: shown(pilot, "windows.lod"))
            settings, box = screen._list, screen.query_one("#box")
            assert settings.value("model") == desk.controller.model.name
            height = box.size.height
            await pilot.press("/", *"colors")
            await until(pilot, lambda: settings.names == ["theme"])
            await pilot.press("enter")
            await until(pilot, lambda: screen.focused is settings)
            assert box.size.height == height
            await choose(pilot, "down")
            await until(pilot, lambda: app.theme == "contextui-light")
            await pilot.press("escape")
            await until(pilot, lambda: shown(pilot, "The theme is contextui-light."))

    asyncio.run(change())


async def settings_of(pilot: "Pilot[int]") -> ConfigScreen:
    """Open the settings."""
    app_of(pilot).main.run_command("/config")
    await until(pilot, lambda: shown(pilot, "esc back"))
    screen = pilot.app.screen
    assert isinstance(screen, ConfigScreen)
    return screen


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_the_file_of_a_setting_is_named_and_its_path_is_in_the_detail(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    work = tmp_path / "a folder with a name that is rather long" / "shop"
    file = work / ".contextui" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("max_tokens = 1000\n")

    async def look() -> None:
        desk = desk_in(tmp_path)
        home = desk.session.path.parents[2]
        (home / "config.toml").write_text("budget = 30000\n")
        desk.load_settings = lambda: load_settings({}, {}, home, work)
        async with running(desk, size) as pilot:
            screen = await settings_of(pilot)
            listed = screen._list
            rows = {name: listed.line_at(at, listed.size.width).plain
                    for at, name in enumerate(listed.names)}  # fmt: skip
            assert {len(row) for row in rows.values()} == {listed.size.width}
            assert rows["budget"].endswith("  ~/home/config.toml")
            whole = "  ~/a folder with a name that is rather long/shop/.contextui/config.toml"
            cut = "  …/shop/.contextui/config.toml"
            assert rows["max_tokens"].endswith(cut if size[0] == 80 else whole)
            assert rows["max_steps"].endswith("  default")
            listed.move(listed.names.index("max_tokens"))
            screen._describe()
            wanted = "".join(f"Set by {file}".split())

            def detail() -> str:
                text = "".join(region_text(pilot, screen.query_one("#about")))
                return "".join(text.split())

            await until(pilot, lambda: detail().endswith(wanted))
            assert shown(pilot, "esc back")

    asyncio.run(look())


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_every_description_is_shown_whole(tmp_path: Path, size: tuple[int, int]) -> None:
    async def look() -> None:
        desk = desk_in(tmp_path)
        home = desk.session.path.parents[2]
        desk.load_settings = lambda: load_settings({}, {}, home, tmp_path / "work")
        async with running(desk, size) as pilot:
            screen = await settings_of(pilot)
            for name in [*screen._list.names]:
                wanted = "".join(screen._list.about(name).split())

                def is_whole(wanted: str = wanted) -> bool:
                    text = "".join(region_text(pilot, screen.query_one("#about")))
                    return wanted == "".join(text.split())

                await until(pilot, is_whole)
                assert shown(pilot, "esc back")
                await pilot.press("down")

    asyncio.run(look())


def test_the_theme_is_described_and_listed_as_theme_does(tmp_path: Path) -> None:
    async def look() -> None:
        desk = desk_in(tmp_path)
        home = desk.session.path.parents[2]
        desk.load_settings = lambda: load_settings({}, {}, home, tmp_path / "work")
        async with running(desk, (120, 40)) as pilot:
            app, screen = app_of(pilot), await settings_of(pilot)
            command = next(one for one in app.main.commands.all if one.name == "theme")
            names = [one.name for one in command.choices()]
            assert set(names) == set(app.available_themes)
            assert screen._list.about("theme").endswith(" | ".join(names))
            assert screen._list.origin("theme") == "default"
            app.theme = "contextui-light"
            assert screen._list.origin("theme") == "remembered"

    asyncio.run(look())


def test_the_language_is_set_by_a_command_or_chosen_in_the_list(tmp_path: Path) -> None:
    async def change() -> None:
        desk = desk_in(tmp_path)
        home = desk.session.path.parents[2]
        desk.load_settings = lambda: load_settings({}, {"LANG": "C"}, home, tmp_path / "work")
        async with running(desk) as pilot:
            app = app_of(pilot)
            run, written = app.main.run_command, home / "config.toml"
            run("/lang zh")
            await until(pilot, lambda: shown(pilot, "Written. lang applies from the next start."))
            assert written.read_text() == 'lang = "zh"\n'
            run("/config lang en")
            await until(pilot, lambda: written.read_text() == 'lang = "en"\n')
            run("/config lang klingon")
            await until(pilot, lambda: shown(pilot, "it must be one of en, zh."))
            run("/config theme contextui-light")
            await until(pilot, lambda: app.theme == "contextui-light")
            run("/config lang")
            await until(pilot, lambda: shown(pilot, "the language; by default"))
            await choose(pilot, "down")
            note = "Written. lang applies from the next start."
            await until(pilot, lambda: shown(pilot, note))
            assert written.read_text() == 'lang = "zh"\n'

    asyncio.run(change())


@pytest.mark.parametrize("name", ["approval", "approval.sandbox", "approval.commands"])
def test_no_command_writes_what_guards_the_person(tmp_path: Path, name: str) -> None:
    async def change() -> None:
        desk = desk_in(tmp_path)
        home = desk.session.path.parents[2]
        desk.load_settings = lambda: load_settings({}, {}, home, tmp_path / "work")
        async with running(desk) as pilot:
            app_of(pilot).main.run_command(f"/config {name} auto")
            await until(pilot, lambda: shown(pilot, f"To change {name}"))
            assert not (home / "config.toml").exists()
            assert desk.controller.tools.gate.mode == "ask"

    asyncio.run(change())

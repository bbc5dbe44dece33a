"""The sheet of settings."""

from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from contextui.config.schema import GROUPS
from contextui.config.sources import load_settings
from contextui.tui.desktop.menu import MenuScreen
from contextui.tui.dialogs.config import ConfigScreen
from contextui.windowing.snapshot import Lod
from tests.tui.desktop.samples import region_text
from tests.tui.running import app_of, desk_in, noted, on_screen, running, shown, until
from tests.tui.sharing import SharedApp, sharing


class Settings(SharedApp):
    """The settings in one app for all tests, each with files of its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(self._open, self._reset)
        self.folder, self.home, self.work = folder, folder / "home", folder / "work"
        self.flags, self.environ = dict[str, str](), dict[str, str]()

    def _open(self) -> AbstractAsyncContextManager["Pilot[int]"]:
        self.desk = desk_in(self.folder)
        self.desk.load_settings = lambda: load_settings(
            self.flags, self.environ, self.home, self.work
        )
        return running(self.desk)

    async def _reset(self, pilot: "Pilot[int]") -> None:
        self.desk.session.windows.lod = Lod.FULL
        pilot.app.theme = "contextui-dark"

    def clear(self) -> None:
        """Forget the settings of other tests."""
        self.flags, self.environ, self.work = {}, {}, self.folder / "work"
        self.home.mkdir(exist_ok=True)
        (self.home / "config.toml").unlink(missing_ok=True)


all_settings = sharing(lambda temp: Settings(temp.mktemp("settings")))


@pytest.fixture
def settings(all_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HOME", str(all_settings.folder))
    all_settings.clear()
    return all_settings


@pytest.fixture
def shared(settings: Settings) -> SharedApp:
    return settings


async def choose(pilot: "Pilot[int]", move: str) -> None:
    """Choose a value of the setting under the cursor."""
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
    await until(pilot, lambda: shown(pilot, "current"))
    await pilot.press(move, "enter")
    await until(pilot, lambda: not isinstance(pilot.app.screen, MenuScreen))


async def settings_of(pilot: "Pilot[int]") -> ConfigScreen:
    app_of(pilot).main.run_command("/config")
    screen = await on_screen(pilot, ConfigScreen)
    await until(pilot, lambda: shown(pilot, "esc back"))
    return screen


async def test_a_setting_is_changed_in_the_users_file(
    pilot: "Pilot[int]", settings: Settings, tmp_path: Path
) -> None:
    home = settings.home
    (home / "config.toml").write_text("# mine\nbudget = 30000\n")
    (tmp_path / ".contextui").mkdir()
    project = tmp_path / ".contextui" / "config.toml"
    project.write_text("max_tokens = 1000\n")
    settings.flags, settings.work = {"max_steps": "7"}, tmp_path

    app = app_of(pilot)
    app.main.run_command("/config budget 1")
    await until(pilot, lambda: noted(pilot, "To change budget, type /config budget"))
    screen = await settings_of(pilot)
    for text in ("budget", "30000", "--max-steps", "config.toml", "default"):
        assert shown(pilot, text), text

    async def write(name: str, text: str) -> None:
        screen._list.choose(screen._list.names.index(name))
        await pilot.press("enter")
        field = screen.field
        field.value = text
        await until(pilot, lambda: shown(pilot, text[:12]))  # also what is wrong is seen
        await pilot.press("enter")

    def note() -> str:
        return str(screen.query_one("#box").border_subtitle)

    await write("budget", "64000")
    await until(pilot, lambda: "applies from the next start" in note())
    assert (home / "config.toml").read_text() == "# mine\nbudget = 64000\n"
    screen._list.choose(screen._list.names.index("windows_lod"))
    await choose(pilot, "end")
    await until(pilot, lambda: "applies now" in note())
    assert settings.desk.session.windows.lod is Lod.GIST
    await write("max_steps", "9")
    await until(pilot, lambda: "--max-steps still sets" in note())
    await write("budget", "much")
    await until(pilot, lambda: "must be" in note())
    assert isinstance(screen.focused, Input)
    await pilot.press("escape")
    await write("model", "sk-ant-api03-5f3a9c27e1b84d0f9a6c")
    await until(pilot, lambda: "API keys are not allowed" in note())
    assert "sk-ant" not in (home / "config.toml").read_text()
    assert project.read_text() == "max_tokens = 1000\n"
    await pilot.press("escape", "escape")
    await until(pilot, lambda: app.screen is app.main)


async def test_settings_are_searched_and_show_what_is_in_force(
    pilot: "Pilot[int]", settings: Settings
) -> None:
    app, screen = app_of(pilot), await settings_of(pilot)
    await until(pilot, lambda: shown(pilot, "windows.lod"))
    listed, box = screen._list, screen.query_one("#box")
    assert listed.value("model") == settings.desk.controller.model.name
    height = box.size.height
    command = next(one for one in app.main.writing.commands.all if one.name == "theme")
    names = [one.name for one in command.choices()]
    assert set(names) == set(app.available_themes)
    assert listed.about("theme").endswith(" | ".join(names))
    assert listed.origin("theme") == "default"
    await pilot.press("/", *"colors")
    await until(pilot, lambda: list(listed.rows) == ["theme"])
    await pilot.press("enter")
    await until(pilot, lambda: screen.focused is listed)
    assert box.size.height == height
    await choose(pilot, "down")
    await until(pilot, lambda: app.theme == "contextui-light")
    assert listed.origin("theme") == "remembered"
    await pilot.press("escape", "escape")  # clear the filter, leave
    await until(pilot, lambda: noted(pilot, "The theme is contextui-light."))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_file_of_a_setting_is_named_and_its_path_is_in_the_detail(
    pilot: "Pilot[int]", settings: Settings, size: tuple[int, int]
) -> None:
    settings.work = settings.folder / "a folder with a name that is rather long" / "shop"
    file = settings.work / ".contextui" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("max_tokens = 1000\n")
    (settings.home / "config.toml").write_text("budget = 30000\n")

    screen = await settings_of(pilot)
    listed = screen._list
    rows = {name: listed.line_at(at, listed.size.width).plain
            for at, name in enumerate(listed.names)}  # fmt: skip
    width = listed.size.width - listed.show_vertical_scrollbar
    assert {len(row) for row in rows.values()} == {width}
    heads = {name: row.split()[0] for name, row in rows.items() if row[0] != " "}
    assert heads == GROUPS  # X33
    assert rows["budget"].endswith("  ~/home/config.toml")
    whole = "  ~/a folder with a name that is rather long/shop/.contextui/config.toml"
    cut = "  …/shop/.contextui/config.toml"
    assert rows["max_tokens"].endswith(cut if size[0] == 80 else whole)
    assert rows["max_steps"].endswith("  default")
    listed.choose(listed.names.index("max_tokens"))
    wanted = "".join(f"Set by {file}".split())

    def detail() -> str:
        text = "".join(region_text(pilot, screen.query_one("#about")))
        return "".join(text.split())

    await until(pilot, lambda: detail().endswith(wanted))
    assert shown(pilot, "esc back")


@pytest.mark.parametrize("size", [(80, 24)])
async def test_long_descriptions_are_shown_whole(pilot: "Pilot[int]", settings: Settings) -> None:
    screen = await settings_of(pilot)
    listed = screen._list

    def is_whole(wanted: str) -> bool:
        text = "".join(region_text(pilot, screen.query_one("#about")))
        return wanted == "".join(text.split())

    longest = sorted(listed.names, key=lambda name: -len(listed.about(name)))
    for name in longest[:4]:
        listed.choose(listed.names.index(name))
        await until(pilot, partial(is_whole, "".join(listed.about(name).split())))
        assert shown(pilot, "esc back")


async def test_the_language_is_set_by_a_command_or_chosen_in_the_list(
    pilot: "Pilot[int]", settings: Settings
) -> None:
    settings.environ = {"LANG": "C"}

    app, written = app_of(pilot), settings.home / "config.toml"
    run = app.main.run_command
    run("/lang zh")
    await until(pilot, lambda: shown(pilot, "Written. lang applies from the next start."))
    assert written.read_text() == 'lang = "zh"\n'
    run("/config lang en")
    await until(pilot, lambda: written.read_text() == 'lang = "en"\n')
    run("/config theme contextui-light")
    await until(pilot, lambda: app.theme == "contextui-light")
    run("/config lang")
    await until(pilot, lambda: shown(pilot, "the language; by default"))
    await choose(pilot, "down")
    note = "Written. lang applies from the next start."
    await until(pilot, lambda: written.read_text() == 'lang = "zh"\n' and shown(pilot, note))


REFUSED = {
    **{f"/config {name} auto": f"To change {name}"
       for name in ("approval", "approval.sandbox", "approval.commands")},
    "/config colour red": '"colour" is not one of provider',
    "/config windows.lod huge": "it must be one of full, summary, gist.",
    "/config compaction.threshold 9": "it must be a number from 0.1 to 1.",
    "/export pdf": "md | html | json",
}  # fmt: skip


async def test_no_command_writes_what_guards_the_person_or_what_cannot_be(
    pilot: "Pilot[int]", settings: Settings
) -> None:
    run, controller = app_of(pilot).main.run_command, settings.desk.controller
    for typed, expected in REFUSED.items():
        run(typed)
        await until(pilot, partial(noted, pilot, expected))
        assert not (settings.home / "config.toml").exists()
        assert controller.tools.gate.mode == "ask"
    for name, value in (("auto", "false"), ("threshold", "0.25")):
        run(f"/config compaction.{name} {value}")
        await until(pilot, partial(noted, pilot, f"compaction.{name} applies now."))
    assert (controller.strategist.auto_compact, controller.compaction.threshold) == (False, 0.25)
    assert "threshold = 0.25" in (settings.home / "config.toml").read_text()

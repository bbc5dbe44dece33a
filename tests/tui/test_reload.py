"""`/reload` in the app, `/open` after an edit, and widgets beside a window's file."""

from functools import partial
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static

from contextui.tui.app_session import AppSession
from contextui.tui.desktop.frame import WindowFrame
from contextui.windowing.finding.registry import discover
from contextui.windowing.finding.reload import Reloader
from tests.tui.running import app_of, desk_in, noted, running, shown, until
from tests.windowing.finding.sources import write

WIDGET = """
from textual.widgets import Static
from contextui.widgets import ActionRequested

class View(Static):
    can_focus = True

    def __init__(self, window):
        super().__init__("{words}")
        self.window = window

    def on_key(self, event):
        if event.key == "k":
            self.post_message(ActionRequested("up"))
        if event.key == "f":
            raise KeyError("doin")
"""


def desk_with(tmp_path: Path, *files: Path) -> AppSession:
    registry = discover(files=files, packages=())
    desk = desk_in(tmp_path, windows=registry.classes())
    desk.reloader = Reloader(registry, desk.session.windows)
    return desk


def command(pilot: "Pilot[int]", text: str) -> None:
    app_of(pilot).main.run_command(text)


def says(pilot: "Pilot[int]", words: str) -> bool:
    """Whether there is one widget of the test, with these words."""
    return [str(one.content) for one in pilot.app.screen.query("View").results(Static)] == [words]


def trouble(pilot: "Pilot[int]") -> str:
    return " ".join(str(one.content) for one in pilot.app.screen.query(".trouble").results(Static))


async def test_reload_shows_the_new_code_with_the_old_state(tmp_path: Path) -> None:
    """Without it, opening a window after an edit uses the new code, or says how."""
    path = write(tmp_path / "hello.py")

    desk = desk_with(tmp_path, path)
    desk.session.windows.open("hello", start=7)
    async with running(desk) as pilot:
        await until(pilot, lambda: shown(pilot, "Says hello. 7"))
        await pilot.press("ctrl+g", "1")
        await until(pilot, lambda: isinstance(pilot.app.focused, WindowFrame))
        write(path, words="Greets.")
        command(pilot, "/open hello")
        await until(pilot, lambda: noted(pilot, "/reload uses the new code."))
        assert not shown(pilot, "Greets. 0")
        command(pilot, "/close hello_2")
        await until(pilot, lambda: len(desk.session.windows.windows()) == 1)
        await pilot.press("ctrl+g", "1")
        command(pilot, "/reload")
        await until(pilot, lambda: shown(pilot, "Greets. 7"))
        await until(pilot, lambda: noted(pilot, "Reloaded hello. State kept: hello_1."))
        await until(pilot, lambda: isinstance(pilot.app.focused, WindowFrame))
        write(path, words="Greets.", more="\ndef broken(:\n")
        command(pilot, "/reload")
        await until(pilot, lambda: noted(pilot, "hello.py:23 "))
        assert shown(pilot, "Greets. 7")
        command(pilot, "/reload")
        await until(pilot, lambda: noted(pilot, "No window file has changed."))

        command(pilot, "/close hello_1")
        await until(pilot, lambda: not desk.session.windows.windows())
        write(path, words="Waves.")
        command(pilot, "/open hello start=3")
        await until(pilot, lambda: shown(pilot, "Waves. 3"))
        command(pilot, "/close hello_3")
        write(path, words="Nods.", more="\nraise KeyError('doin')\n")
        command(pilot, "/open hello start=4")
        await until(pilot, lambda: shown(pilot, "Waves. 4"))
        await until(pilot, lambda: noted(pilot, "hello.py:23 KeyError"))
        classes = list(desk.session.windows.classes.values())
    again = desk_in(tmp_path, windows=classes, session_id=desk.session.id)
    (window,) = again.session.windows.windows()
    assert "Waves. 4" in window.to_xml()
    again.close()


async def test_a_widget_beside_the_file_or_in_it_is_found_and_reloaded(tmp_path: Path) -> None:
    """Where none is found, the frame says what to write; a file hides no installed module."""

    def save(name: str, words: str) -> None:
        widget = WIDGET.replace("{words}", words)
        module, path = ("hello", "hello.py") if name == "hello" else ("_beside_view", "beside.py")
        more = f"\n    widget = '{module}:View'\n" + widget * (name == "hello")
        write(tmp_path / path, name.capitalize(), more=more)
        if name == "beside":
            (tmp_path / "_beside_view.py").write_text(widget)

    save("hello", "hello by hand")
    save("beside", "beside by hand")
    (tmp_path / "wave.py").write_text("raise SystemExit('hidden')")
    files = [
        *(tmp_path / "hello.py", tmp_path / "beside.py"),
        write(tmp_path / "lost.py", "Lost", more="\n    widget = 'nowhere:View'\n"),
        write(tmp_path / "other.py", "Other", more="\n    widget = 'wave:View'\n"),
    ]

    desk = desk_with(tmp_path, *files)
    async with running(desk) as pilot:
        for name, file in (("hello", "hello.py"), ("beside", "_beside_view.py")):
            window = desk.session.windows.open(name, start=7)
            await until(pilot, partial(says, pilot, f"{name} by hand"))
            pilot.app.screen.query_one("View").focus()
            await pilot.press("k")
            await until(pilot, lambda window=window: window.state.count == 8)  # type: ignore[misc]
            save(name, f"{name} again")
            command(pilot, "/reload")
            await until(pilot, partial(says, pilot, f"{name} again"))
            pilot.app.screen.query_one("View").focus()
            await pilot.press("f")
            await until(pilot, lambda: "could not be drawn: KeyError: 'doin'" in trouble(pilot))
            assert f"({file}:" in trouble(pilot)
            desk.session.windows.close(window.id)
            await until(pilot, lambda: not trouble(pilot))

        desk.session.windows.open("lost")
        await until(pilot, lambda: 'widget = "nowhere:View": there is no' in trouble(pilot))
        assert "nowhere.py beside lost.py" in trouble(pilot)
        assert 'widget = "lost:View"' in trouble(pilot)
        desk.session.windows.open("other")
        await until(pilot, lambda: "wave has no class View that extends" in trouble(pilot))

"""The frame: keys that lead everywhere, help, palette, zoom, panes, languages."""

import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual._callback import invoke
from textual.command import CommandList, CommandPalette
from textual.containers import VerticalScroll
from textual.events import Key
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import Input

import contextui
from contextui.agent.models.scripted import call
from contextui.errors import UnknownWindowError
from contextui.tui.app import ContextUIApp, Palette
from contextui.tui.app_session import AppSession
from contextui.tui.conversation.pane import Conversation
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.pane import Desktop
from contextui.tui.dialogs.help import _KEYS, GoTo, HelpPage, HelpScreen
from contextui.tui.footer import KeyFooter
from contextui.tui.header import Panes
from contextui.tui.inspector.pane import Inspector
from contextui.windowing.manager import WindowManager
from contextui.words import Lang, Words
from tests.agent.talking import options
from tests.tui.running import app_of, desk_in, desk_of, lines, running, say, shown, until
from tests.tui.sharing import SharedApp, sharing


@asynccontextmanager
async def app_in(folder: Path) -> "AsyncIterator[Pilot[int]]":
    """The app with a list, in a folder with a long name."""
    folder = folder.joinpath(*["a_folder_with_a_long_name"] * 6)
    (folder / "work").mkdir(parents=True)
    for name in ("tests.md", "f-i-l-e-s.md"):
        (folder / "work" / name).write_text("x\n")
    async with running(desk_in(folder, call("create", name="todo"), "Done.")) as pilot:
        await say(pilot, "a list")
        yield pilot


async def tidy(pilot: "Pilot[int]") -> None:
    main, windows = app_of(pilot).main, windows_of(pilot)
    for window in windows.windows()[1:]:
        windows.close(window.id)
    main.prompt.clear()
    main.navigation.enter("prompt")
    await until(pilot, lambda: main.prompt.has_focus)


shared = sharing(lambda temp: SharedApp(lambda: app_in(temp.mktemp("frame")), tidy))


def windows_of(pilot: "Pilot[int]") -> WindowManager:
    return desk_of(pilot).session.windows


def is_in(pilot: "Pilot[int]", kind: type) -> bool:
    focused = pilot.app.screen.focused
    return focused is not None and any(isinstance(one, kind) for one in focused.ancestors_with_self)


async def test_keys_lead_to_every_pane_and_back_and_give_it_the_room(pilot: "Pilot[int]") -> None:
    inspector = pilot.app.screen.query_one(Inspector)
    for kind in (Prompt, Desktop, Inspector, Conversation):
        assert is_in(pilot, kind)
        await pilot.press("tab")
    assert is_in(pilot, Prompt)
    await pilot.press("shift+tab")
    assert is_in(pilot, Conversation)
    await pilot.press("ctrl+g")
    assert isinstance(pilot.app.screen, GoTo)
    assert shown(pilot, "go to")
    assert shown(pilot, "todo_1")  # what is below stays in sight
    await pilot.press("escape")
    assert is_in(pilot, Conversation)
    for key, kind in (("1", Desktop), ("i", Inspector)):
        await pilot.press("ctrl+g", key)
        await until(pilot, lambda kind=kind: is_in(pilot, kind))  # type: ignore[misc]
    for keys, kind in (("c", Conversation), ("p", Prompt), ("1", Desktop)):
        await pilot.press("ctrl+g", "i", "f3")
        await until(pilot, lambda: inspector.size.width > 100)
        await pilot.press("ctrl+g", keys)  # what has the focus is in sight
        await until(pilot, lambda kind=kind: is_in(pilot, kind))  # type: ignore[misc]
        assert not pilot.app.screen.has_class("-zoom")
    await pilot.press("f3", "escape")
    assert not pilot.app.screen.has_class("-zoom")
    await pilot.press("f2")
    assert not inspector.display or not inspector.region
    await pilot.press("f2")
    assert inspector.display
    await pilot.press("ctrl+g", "p", "f3")
    await until(pilot, lambda: pilot.app.screen.has_class("-zoom-chat"))
    await pilot.press("escape")
    assert not pilot.app.screen.has_class("-zoom")


async def test_the_help_is_one_page_with_every_key_and_command(pilot: "Pilot[int]") -> None:
    main = app_of(pilot).main
    main.run_command("/help")
    await until(pilot, lambda: shown(pilot, "^g 1–9"))
    page = pilot.app.screen.query_one(VerticalScroll)
    assert page.max_scroll_y == 0
    assert not shown(pilot, "↑↓ scroll")
    await pilot.resize_terminal(80, 24)
    await until(pilot, lambda: shown(pilot, "↑↓ scroll"))
    assert 0 < page.max_scroll_y <= page.size.height
    wanted = [f"/{command.name}" for command in main.writing.commands.all]
    wanted += ["^j", "^r", "^y", "^q", "f2", "f3", "[ ]", "e g + −", "pgup pgdn"]
    seen = ""

    def saw_all() -> bool:
        nonlocal seen
        seen += "\n".join(lines(pilot))
        page.scroll_to(y=0 if page.scroll_y else page.max_scroll_y, animate=False, immediate=True)
        return all(text in seen for text in wanted)

    await until(pilot, saw_all)
    await pilot.press("escape")
    assert type(pilot.app.screen) is not HelpScreen
    in_chinese = HelpPage(Words("zh"), main.writing.commands)
    heights = [in_chinese.get_content_height(Size(), Size(), one) for one in (75, 115)]
    assert heights[0] <= 2 * 22
    assert heights[1] <= 38


async def test_the_palette_runs_what_was_found(pilot: "Pilot[int]") -> None:
    """What is typed right after Enter is not for the palette."""
    await pilot.press("ctrl+p")
    await until(pilot, lambda: [one for one in pilot.app.screen.query(CommandList) if one.options])
    for key in ("enter", *"abc"):
        pilot.app.post_message(Key(key, key if len(key) == 1 else None))
    await until(pilot, lambda: app_of(pilot).main.prompt.text == "/open abc")
    app_of(pilot).main.prompt.clear()
    windows = windows_of(pilot)
    await pilot.press("ctrl+p")
    await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette))
    pilot.app.screen.query_one(Input).value = "open noteboo"
    options = pilot.app.screen.query_one(CommandList)
    await until(pilot, lambda: [one for one in options.options if "notebook" in str(one.prompt)])
    size = pilot.app.size
    await pilot.resize_terminal(1, 0)  # where a page of the list has no rows
    await pilot.press("pageup")
    await pilot.resize_terminal(*size)
    await pilot.press("down", "enter")
    await until(pilot, lambda: windows.get("notebook_1") is not None)


async def test_the_palette_ranks_words_before_scattered_letters(pilot: "Pilot[int]") -> None:
    palette, windows = Palette(app_of(pilot).main), windows_of(pilot)

    async def found(query: str) -> list[str]:
        hits = [one async for one in palette.search(query)]
        return [str(one.prompt) for one in sorted(hits, key=lambda one: -one.score)]

    names = await found("files")
    assert names[0].startswith("open files")
    assert any(one.startswith("approval") for one in names)
    assert (await found("fi-l-es"))[0] == "f-i-l-e-s.md"  # nothing better
    assert (await found("language"))[0].startswith("lang: ")
    assert (await found("chinese"))[0].startswith("lang zh")
    names = [one.partition(":")[0] for one in await found("connect")]
    assert names == ["model, m, connect, server", "login"]
    assert any(one.startswith("login") for one in await found("key"))
    assert any(one.startswith("model") for one in await found("server"))
    names = await found("todo_1")
    assert names.index("goto todo_1") < names.index("close todo_1")
    (file,) = [one async for one in palette.search("tests") if str(one.prompt) == "tests.md"]
    await invoke(file.command)
    await until(pilot, lambda: windows.get("editor_1") is not None)
    names = [str(one.prompt).partition(":")[0] async for one in palette.discover()]
    assert names[:2] == ["open, o", "goto"]
    assert names.index("approval") > names.index("help")


async def test_the_header_leaves_room_for_the_model_and_keys_can_be_clicked(
    pilot: "Pilot[int]",
) -> None:
    await until(pilot, lambda: lines(pilot)[0].endswith("   scripted"))
    first, *_, last = lines(pilot)
    assert " …/a_folder_with_a_long_name/" in first
    assert first.split()[1].endswith("/a_folder_with_a_long_name/work")
    await pilot.click(KeyFooter, offset=(last.index("f1 help"), 0))
    await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))


@pytest.mark.parametrize("size", [(80, 24)])
async def test_narrow_panes_are_chosen_by_click(pilot: "Pilot[int]") -> None:
    """Where their names are, also where these are of wide characters and alone."""
    panes = pilot.app.screen.query_one(Panes)
    choices: tuple[tuple[Lang, int, str], ...] = (("zh", 40, "Context"), ("en", 80, "Chat"))
    for lang, width, name in choices:
        panes._words = words = Words(lang)
        await pilot.resize_terminal(width, 24)
        await until(pilot, lambda words=words: words("Context") in lines(pilot)[0])  # type: ignore[misc]
        top = lines(pilot)[0]
        assert ("contextui" in top) is (width == 80)
        assert top.endswith(f"work   {desk_of(pilot).controller.model.name}") is (width == 80)
        await pilot.click(Panes, offset=(cell_len(top[: top.index(words(name))]), 0))
        await until(
            pilot,
            lambda there=name == "Context": (  # type: ignore[misc]
                pilot.app.screen.has_class("-pane-context") is there
            ),
        )


async def test_tokens_are_shown_in_one_way_everywhere(tmp_path: Path) -> None:
    """As the provider counts them, once it has reported how."""
    milk = call("create", name="todo", args={"items": ["milk"]})
    desk = desk_in(tmp_path, milk, "Done.", options=options(budget=10_000))
    context = desk.session.context
    for _ in range(40):
        context.counter.calibrate(1_000, 2_000)
    async with running(desk) as pilot:
        await say(pilot, "a list")
        counted = context.ledger.size(context.ledger.references["todo_1"][-1])
        expected = context.counter.calibrated(counted)
        assert expected > counted
        await until(pilot, lambda: shown(pilot, f"   {expected} ─"))  # in its border
        assert re.search(rf"Window todo_1 .* {expected}$", "\n".join(lines(pilot)), re.MULTILINE)
        percent = re.search(r" / 10k +(\d+%)", "\n".join(lines(pilot)))
        assert percent is not None
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: f"Context {percent[1]}" in lines(pilot)[0])


async def test_a_new_session_from_its_outline_to_the_first_answer(tmp_path: Path) -> None:
    """Only figures that are known, and only keys that do something."""
    let_go = threading.Event()

    def late() -> AppSession:
        let_go.wait(30)
        return desk_in(tmp_path, "A fine machine.")

    async with ContextUIApp(late).run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: shown(pilot, "Context"))
        assert not shown(pilot, "%")
        assert [line for line in lines(pilot) if "Context " in line and "opening…" in line]
        let_go.set()
        await until(pilot, lambda: shown(pilot, "128k"))
        assert not shown(pilot, "opening…")
        assert shown(pilot, "Nothing is ever lost.")
        await pilot.press("ctrl+g", "c")
        await until(pilot, lambda: "expand calls" in lines(pilot)[-1])
        assert "copy answer" not in lines(pilot)[-1]
        await pilot.press("ctrl+g", "p", "down", "down", "down", "enter")
        await until(pilot, lambda: shown(pilot, "A fine machine."))
        assert shown(pilot, "How busy is this machine?")
        await pilot.press("ctrl+g", "c")
        await until(pilot, lambda: "copy answer" in lines(pilot)[-1])
        desk_of(pilot).close()


async def test_a_session_that_cannot_be_opened_ends_the_app() -> None:
    def fail() -> AppSession:
        raise UnknownWindowError("There is no such session.")

    app = ContextUIApp(fail)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.return_code is not None)
    assert app.return_code == 2


async def test_ctrl_c_clears_and_says_what_quits(pilot: "Pilot[int]") -> None:
    await pilot.press("pageup", "ctrl+end")  # there is nothing to scroll
    await pilot.press("x", "ctrl+c")
    await until(pilot, lambda: shown(pilot, "Cleared. ctrl+z brings it back."))
    await pilot.press("ctrl+z")
    assert pilot.app.screen.query_one(Prompt).text == "x"
    await pilot.press("ctrl+c")
    assert pilot.app.screen.query_one(Prompt).text == ""
    await pilot.press("ctrl+c")
    await until(pilot, lambda: shown(pilot, "ctrl+q quits"))


async def test_what_was_laid_out_within_a_batch_is_drawn_after_it(
    pilot: "Pilot[int]", monkeypatch: pytest.MonkeyPatch
) -> None:
    app, drawn = pilot.app, []
    with monkeypatch.context() as patch:
        patch.setattr(app.screen, "refresh", lambda **_: drawn.append("all"))
        with app.batch_update():
            pass
        assert drawn == []
        with app.batch_update():
            app.screen.screen_layout_refresh_signal.publish(app.screen)
        assert drawn == ["all"]


def test_the_documentation_has_the_keys_of_the_help() -> None:
    page = Path(contextui.__file__).parents[1] / "docs" / "app.md"
    text = page.read_text("utf-8")
    for group, keys in _KEYS.items():
        assert f"**{group}**" in text
        for key, about in keys:
            assert f"| `{key}` | {about} |" in text

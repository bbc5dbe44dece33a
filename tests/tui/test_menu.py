"""Slash commands say what they did, or what they need, in the person's language."""

from pathlib import Path

from textual.pilot import Pilot

from contextui.tui.app import ContextUIApp
from contextui.tui.commands import Choice, arguments, takes
from contextui.tui.conversation.entries import AsideLine
from contextui.tui.conversation.popup import Popup
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.frame import WindowFrame
from contextui.windowing.finding.registry import discover
from tests.tui.running import app_of, desk_in, running, shown, until

STEPS: list[tuple[str, str]] = [
    ("/close", "No window is open."),
    ("/undo", "Nothing to undo."),
    ("/open", "Which one? code | editor | files"),
    ("/open todo", "Opened todo_1. ctrl+g 1 goes there."),
    ("/open todo", "Opened todo_2. ctrl+g 2 goes there."),
    ("/close", "Which one? todo_1 | todo_2"),
    ("/open editor", "editor needs path. Type: /open editor path=… [line=…] [new=false|true]"),
    ("/open editor a line=x", 'editor: line: expected int, got "x". Expected: path'),
    ("/open code x", "code takes no arguments. Type: /open code"),
    ("/open fly", 'There is no window called "fly". Available: code, editor'),
    ("/close todo_1", "Closed todo_1."),
    ("/open notebook", "Opened notebook_1. ctrl+g 1 goes there."),  # the number that is free
    ("/close notebook_1", "Closed notebook_1."),
    ("/close", "Closed todo_2."),
    ("/open editor notes.md new=true", "Opened notes.md in editor_1. ctrl+g 1 goes there."),
    ("/approval", "Which one? ask, auto, read-only"),
    ("/approval x[/]", '"x[/]" is not one of ask, auto, read-only.'),
    ("/approval auto", "Approval: writes without asking."),
    ("/close todo_9", 'There is no window "todo_9"'),
    ("/theme ugly", 'There is no theme "ugly"'),
    ("/strategy", "The strategy is sliding. /strategy sliding | summarization | entities"),
    ("/fly", 'Unknown command "/fly". Try: /approval, /close'),
]


def last_note(pilot: "Pilot[int]") -> str:
    notes = list(pilot.app.screen.query(AsideLine))
    return str(notes[-1].content) if notes else ""


async def test_every_command_shows_what_came_of_it(tmp_path: Path) -> None:
    """Also what is typed piece by piece: a window is explained, and completed from the files."""
    desk = desk_in(tmp_path)
    (tmp_path / "work" / "READ ME.md").write_text("one\ntwo\nthree\n")
    async with running(desk) as pilot:
        app = app_of(pilot)
        for number, (command, summary_text) in enumerate(STEPS, 1):
            app.main.run_command(command)
            await until(pilot, lambda number=number: len(app.screen.query(AsideLine)) == number)  # type: ignore[misc]
            assert last_note(pilot).startswith(summary_text)
            there = len(desk.session.windows.windows())
            await until(pilot, lambda there=there: len(app.query(WindowFrame)) == there)  # type: ignore[misc]
        assert app.main.desktop.number_of("editor_1") == 1
        prompt = app.main.prompt
        prompt.put("/open c")
        await pilot.press("o")  # does not look like an editor of the project
        await until(
            pilot, lambda: shown(pilot, "/open code  Code snippets saved in conversations.")
        )
        how = "/open editor path=… [line=…] [new=false|true]"
        prompt.put("/open e")
        await pilot.press("d")
        await until(pilot, lambda: shown(pilot, "/open editor path=… "))
        await pilot.press("enter")  # what is chosen is not whole yet
        await until(pilot, lambda: prompt.text == "/open editor " and shown(pilot, how))
        await pilot.press(*"REA")  # a path is completed from the files of the folder
        await until(pilot, lambda: app.screen.query_one(Popup).chosen is not None)
        await pilot.press("tab")
        await until(pilot, lambda: prompt.text == "/open editor READ ME.md")
        assert not prompt.is_completing
        await pilot.press(*" line=2", "enter")
        await until(pilot, lambda: desk.session.windows.get("editor_2"))
        await until(pilot, lambda: shown(pilot, "three"))
        assert not shown(pilot, how)


async def test_what_can_be_tried_again_stays_in_the_prompt_and_one_enter_takes_the_marked_row(
    tmp_path: Path,
) -> None:
    desk = desk_in(tmp_path)
    async with running(desk) as pilot:
        app, windows = app_of(pilot), desk.session.windows
        prompt = app.main.prompt
        for command, stays in (("/undo", ""), ("/fly x", "/fly x"), ("/theme x", "/theme x")):
            prompt.clear()
            app.main.run_command(command)
            assert prompt.text == stays
        app.main.run_command("/openfiles")
        await until(pilot, lambda: last_note(pilot).endswith("Try: /open files."))
        for name in ("light", "dark", "contrast"):  # ours are found by their short names
            app.main.run_command(f"/theme {name}")
            assert app.theme == f"contextui-{name}"
        found = {
            one.text: one.choice for one in app.main.writing.commands.completions("/approval ")
        }
        assert found["/approval auto"] == Choice("auto", "writes without asking")
        (opening,) = [one for one in app.main.writing.commands.all if one.name == "open"]
        assert Choice("todo", "A to-do list.", "[items=…]") in list(opening.choices())

        windows.open("editor", path="new.txt", new=True)
        await windows.act("editor_1", "insert", {"before_line": 1, "text": "x"})
        app.main.run_command("/close")
        summary_text = "Unsaved: 1 edit of new.txt. Enter again to close."
        await until(pilot, lambda: last_note(pilot) == summary_text)
        assert windows.get("editor_1") is not None
        await pilot.press("enter")
        await until(pilot, lambda: last_note(pilot) == "Closed editor_1. /undo reopens it.")
        await one_enter_is_enough(pilot, prompt)


async def one_enter_is_enough(pilot: "Pilot[int]", prompt: Prompt) -> None:
    """It completes what is typed, or takes the marked row of a list."""
    listed = pilot.app.screen.query_one(Popup)
    prompt.put("/expor")
    await pilot.press("t", "enter")  # lists what there is: alone it does nothing
    await until(pilot, lambda: prompt.text == "/export " and listed.highlighted == 0)
    prompt.put("/approval")
    await pilot.press("space", "down", "enter")
    await until(pilot, lambda: last_note(pilot).startswith("Approval: writes"))
    prompt.put("/sto")
    await pilot.press("p", "enter")  # completed, and done
    await until(pilot, lambda: last_note(pilot) == "Nothing is running.")
    prompt.put("/model")
    await pilot.press("space")  # it does something alone: no row is marked
    await until(pilot, lambda: prompt.text == "/model ")
    assert listed.highlighted is None
    prompt.put("/open t")
    await pilot.press("o", "tab")
    await until(pilot, lambda: last_note(pilot).startswith("Opened todo_1."))
    assert prompt.text == ""


async def test_files_and_windows_are_opened_and_reached_by_a_command(tmp_path: Path) -> None:
    def at(app: ContextUIApp) -> str:
        frames = [one for one in app.query(WindowFrame) if one.has_focus_within]
        return frames[0].window.id if frames else ""

    desk = desk_in(tmp_path)
    (tmp_path / "work/screen").mkdir()
    for name in ("screen/render.py", "screen/renderer.py", "other.py"):
        (tmp_path / "work" / name).write_text("text\n" * 20)
    async with running(desk) as pilot:
        app, windows = app_of(pilot), desk.session.windows
        prompt, popup = app.main.prompt, app.screen.query_one(Popup)
        desktop = app.main.desktop
        app.main.run_command("/open rend")
        await until(pilot, lambda: "called" in last_note(pilot))
        assert last_note(pilot) == (
            'No window or file is called "rend". Files with that in their name: '
            "screen/render.py, screen/renderer.py. ctrl+p opens files."
        )
        assert prompt.text == "/open rend"
        app.main.run_command("/open screen/render.py line=7")
        await until(pilot, lambda: windows.get("editor_1"))
        assert windows.get("editor_1").state.line == 7  # type: ignore[union-attr]
        app.main.run_command("/open nothing")
        await until(pilot, lambda: "no window" in last_note(pilot))

        prompt.put("/open editor other.")
        await pilot.press("p")
        await until(pilot, lambda: popup.display and popup.chosen is not None)
        await pilot.press("y")  # typed to its end
        await until(pilot, lambda: popup.chosen is None)
        await pilot.press("enter")
        await until(pilot, lambda: last_note(pilot).startswith("Opened other.py in editor_2."))
        assert not popup.display

        for _ in range(7):
            windows.open("todo")
        await pilot.resize_terminal(80, 24)
        app.main.run_command("/open todo")  # no number key leads to it
        await until(pilot, lambda: "/goto todo_8 goes" in last_note(pilot))
        await until(pilot, lambda: "todo_8" in desktop._order.ids)
        for there in ("todo_1", "todo_8"):
            app.main.run_command(f"/goto {there}")
            await until(pilot, lambda there=there: at(app) == there)  # type: ignore[misc]
        app.main.run_command("/goto fly")
        await until(pilot, lambda: "Which one? editor_1 | editor_2" in last_note(pilot))


def test_a_list_is_typed_with_commas() -> None:
    classes = {cls.name: cls for cls in discover().classes()}
    todo = classes["todo"].opening
    assert arguments("milk, eggs、面包", todo) == {"items": ["milk", "eggs", "面包"]}
    assert arguments('items=["a, b"]', todo) == {"items": ["a, b"]}
    monitor = classes["monitor"].opening
    assert takes(monitor) == "[seconds=…] [processes=…] [by=cpu|memory]"
    assert arguments("2.5 by='memory'", monitor) == {"seconds": 2.5, "by": "memory"}

"""Going back in the app: the sheet, the files, the fork, and undoing it."""

import asyncio
import os
from functools import partial
from math import isinf
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.session.session import Session
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.dialogs import guard
from contextui.tui.dialogs.rewind import FileList, RewindScreen, TurnList
from contextui.windowing.runtime import runtime_of
from tests.tui.running import app_of, desk_of, lines, noted, on_screen, running, say, shown, until
from tests.tui.test_switch import Sessions


def session_of(pilot: "Pilot[int]") -> Session:
    return desk_of(pilot).session


def save(pilot: "Pilot[int]", path: str, text: str) -> None:
    """Save a file, as a window of the session does."""
    files = session_of(pilot).windows.workspace
    assert files is not None
    is_there = (files.root / path).exists()
    version = files.open_text(path).version if is_there else None
    files.save(path, text.encode(), expected=version, make_folders=True)


async def turn(pilot: "Pilot[int]", words: str, **files: str) -> None:
    for name, text in files.items():
        save(pilot, name.replace("_", "."), text)
    await say(pilot, words)


async def sheet(pilot: "Pilot[int]", typed: str = "/rewind") -> RewindScreen:
    """Open the sheet, and wait until it takes an answer."""
    app = app_of(pilot)
    await until(pilot, lambda: all(one.is_finished for one in app.workers if one.name == "rewind"))
    app.main.run_command(typed)
    screen = await on_screen(pilot, RewindScreen)
    await ready(pilot, screen)
    return screen


async def ready(pilot: "Pilot[int]", screen: RewindScreen) -> None:
    """Wait until the files were compared, and let the sheet take keys."""
    await until(pilot, lambda: screen._plan is not None)
    await pilot.pause()  # it is seen, too
    await until(pilot, lambda: not isinf(screen.guard.deaf_until))
    screen.guard.deaf_until = 0.0


async def back(pilot: "Pilot[int]", key: str = "y") -> None:
    """Answer, and wait until another session is on the screen."""
    app, before = app_of(pilot), session_of(pilot).id
    await pilot.press(key)
    await until(pilot, lambda: session_of(pilot).id != before)
    await until(pilot, lambda: not app.switcher.is_under_way and app.switcher.rewound is not None)
    await pilot.pause()


def see(pilot: "Pilot[int]", *texts: str) -> None:
    screen = "\n".join(lines(pilot))
    assert [one for one in texts if one not in screen] == [], screen


HOSTILE = "\x1b[2J\x1b]0;title\x07\u202eevil\u200b"


async def nothing_acts(pilot: "Pilot[int]") -> None:
    """Look at each part of the sheet, also where there is little room."""
    for size in ((40, 12), (120, 40)):
        await pilot.resize_terminal(*size)
        for _ in range(3):
            await pilot.pause()
            assert not set("\n".join(lines(pilot))) & set("\x1b\x07\u202e\u200b")
            await pilot.press("tab")


async def test_nothing_goes_back_unless_the_person_means_it(tmp_path: Path) -> None:
    """By wrong numbers, hostile text, the model's words, while it works, with one session."""
    app = Sessions(tmp_path, ["/rewind 1", "/undo"])
    (app.work / "a.txt").write_text("first\n")
    async with running(app.open) as pilot:
        here = app_of(pilot)
        here.main.run_command("/rewind")
        await until(pilot, lambda: noted(pilot, "There is no earlier turn yet."))
        await turn(pilot, "Say one")
        for typed, says in (
            ("9", "There is no turn 9. Turns so far: 1."),
            ("-1", '"-1" is not the number of a turn.'),
        ):
            here.main.run_command(f"/rewind {typed}")
            await until(pilot, partial(noted, pilot, says))
        desk = desk_of(pilot)
        desk.controller._task = asyncio.create_task(asyncio.sleep(60))
        here.main.run_command("/rewind")
        await until(pilot, lambda: noted(pilot, "The model is still working."))
        desk.controller._task.cancel()
        desk.controller._task = None

        save(pilot, "b\u202e\u200b" + "长" * 30 + ".txt", f"second {HOSTILE}\n")
        await turn(pilot, f"Say {HOSTILE} two", a_txt=f"second {HOSTILE}\n")
        names = {tool.name for tool in desk.controller.declared}
        assert not any("rewind" in one or "restore" in one for one in names)
        for cls in desk.session.windows.classes.values():
            assert not any("rewind" in one for one in dir(cls))
        await pilot.pause(0.2)
        assert here.screen is here.main
        assert isinstance(here.focused, Prompt)
        assert len(os.listdir(app.work)) == 2

        screen = await sheet(pilot)
        await nothing_acts(pilot)
        assert screen.query_one(TurnList).chosen == 1
        screen.guard.deaf_until = 0.0
        await pilot.press("y")
        await until(pilot, lambda: noted(pilot, "Only this session can be opened here."))
        assert (app.work / "a.txt").read_text() == f"second {HOSTILE}\n"
        assert here.switcher.rewound is None


async def nothing_happens_by_accident(app: Sessions, pilot: "Pilot[int]") -> None:
    here = app_of(pilot)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DEAF", "SETTLE"):
            patch.setattr(guard, name, 60.0)  # however slow the machine is
        here.main.run_command("/rewind")
        await until(pilot, lambda: isinstance(here.screen, RewindScreen))
        await pilot.press("y", "c")  # too early
        screen = here.screen
        assert isinstance(screen, RewindScreen)
        await ready(pilot, screen)
        await pilot.press("enter", "y", "e", "s")  # a word
        await pilot.press("y")  # too soon after it
        assert screen.guard._pending is None
        see(pilot, "No file was written since turn 2.")
        assert not shown(pilot, "conversation only")
    assert here.screen is screen
    await pilot.press("escape")
    await until(pilot, lambda: here.screen is here.main)
    assert app.targets == []


async def another_turn_is_another_plan(pilot: "Pilot[int]") -> None:
    for text in ("fourth\n", "third\n"):
        save(pilot, "a.txt", text)
    screen = await sheet(pilot)
    assert screen.query_one(TurnList).chosen == 2
    see(pilot, "1 file was written since, and is as it was then.")
    assert not shown(pilot, "a.txt")
    assert not shown(pilot, "conversation only")
    await pilot.press("end")
    await ready(pilot, screen)
    assert screen.query_one(TurnList).chosen == 0
    see(pilot, "Rewind to the start", "[✓] a.txt")
    await pilot.press("up")
    await ready(pilot, screen)
    see(
        pilot,
        "Rewind to turn 1",
        "── back to here ",
        "[✓] a.txt  as it was ",
        "[ ] new.txt  new since then, will be deleted",
        "2 turns are removed from this conversation",
        "y go back and restore 1 file ",
    )
    screen.query_one(FileList).focus()
    await pilot.press("down", "space")
    await until(pilot, lambda: shown(pilot, "y go back and restore 2 files"))


async def test_going_back_and_undoing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sheet, its accidents and another turn in it; files, conversation and prompt.

    X03: the model stays, and is named if another one answered that turn.
    """
    app = Sessions(tmp_path, ["one", "two", "three"])
    a, new = app.work / "a.txt", app.work / "new.txt"
    a.write_text("first\n")
    async with app.running() as pilot:
        here, old = app_of(pilot), session_of(pilot).id
        session_of(pilot).use_model("box/small")
        await turn(pilot, "Say one", a_txt="second\n")
        session_of(pilot).use_model("box/large")
        await turn(pilot, "Say two", a_txt="third\n", new_txt="new\n")
        await turn(pilot, "Say three")
        monkeypatch.setattr(guard, "DEAF", 60.0)
        await nothing_happens_by_accident(app, pilot)
        await another_turn_is_another_plan(pilot)
        assert (a.read_text(), new.read_text()) == ("third\n", "new\n")
        await back(pilot)
        assert a.read_text() == "second\n"
        assert not new.exists()
        assert session_of(pilot).turn == 1
        said = "Back at turn 1. box/large answers from now on. 1 file restored. 1 file deleted."
        await until(pilot, lambda: noted(pilot, said))
        assert not shown(pilot, "Say three")
        assert session_of(pilot).path.with_name(f"{old}.jsonl").exists()
        prompt = here.main.prompt
        assert prompt.has_focus
        assert prompt.text == "Say two"
        await pilot.press("x")  # typing replaces it
        assert prompt.text == "x"
        await pilot.press("ctrl+z")  # what is replaced is not lost
        await until(pilot, lambda: prompt.text == "Say two")
        await pilot.press("right", "!")  # an arrow key keeps it
        await until(pilot, lambda: prompt.text == "Say two!")

        here.main.navigation.enter("context")
        await pilot.pause()
        await pilot.press("u")
        await until(pilot, lambda: noted(pilot, "Undone: the session is where it was"))
        assert (session_of(pilot).id, session_of(pilot).turn) == (old, 3)
        assert (a.read_text(), new.read_text()) == ("third\n", "new\n")
        here.main.run_command("/undo")
        await until(pilot, lambda: noted(pilot, "Nothing to undo."))


async def nothing_happens_without_the_fork(app: Sessions, pilot: "Pilot[int]") -> None:
    here, old = app_of(pilot), session_of(pilot)
    logs = set(old.path.parent.glob("*.jsonl"))
    app.problem = OSError("no more descriptors")
    await sheet(pilot)
    await pilot.press("y")
    await until(pilot, lambda: noted(pilot, "This session stays open."))
    await until(pilot, lambda: set(old.path.parent.glob("*.jsonl")) == logs)
    assert (app.work / "c.txt").read_text() == "second\n"
    assert session_of(pilot) is old
    assert here.switcher.rewound is None
    app.problem = None


async def undo_is_about_the_last_change(pilot: "Pilot[int]") -> None:
    """Of the context first; then it warns that it leaves this branch."""
    here, made = app_of(pilot), session_of(pilot)
    item = made.context.get_all()[1]
    made.context.drop(item.id)
    await pilot.pause()
    here.main.run_command("/undo")
    await until(pilot, lambda: item.hidden is None)
    await pilot.pause(0.2)
    assert session_of(pilot) is made
    await turn(pilot, "Say three")
    here.main.run_command("/undo")
    await until(pilot, lambda: noted(pilot, "/undo again undoes the rewind to turn 1."))
    assert session_of(pilot) is made


async def test_the_files_of_others_stay_and_undo_returns_from_either_branch(tmp_path: Path) -> None:
    app = Sessions(tmp_path, ["one", "two"])
    names = [f"{one}.txt" for one in "abcd"]
    for name in names:
        (app.work / name).write_text("first\n")

    def texts() -> list[str]:
        return [(app.work / name).read_text().rstrip() for name in names]

    async with app.running() as pilot:
        here, old = app_of(pilot), session_of(pilot).id
        await turn(pilot, "Say one")
        given = {name.replace(".", "_"): "second\n" for name in names}
        await turn(pilot, "Say two", **given)
        await nothing_happens_without_the_fork(app, pilot)
        (app.work / "a.txt").write_text("someone else's\n")
        screen = await sheet(pilot)
        see(pilot, "–  a.txt", "changed by someone else, stays")
        files = screen.query_one(FileList)
        files.choose([one.path for one in files.rows].index("a.txt"))
        await pilot.press("space")
        assert files.chosen == {"b.txt", "c.txt", "d.txt"}
        (app.work / "b.txt").write_text("just now\n")
        await back(pilot)
        assert texts() == ["someone else's", "just now", "first", "first"]
        await until(pilot, lambda: noted(pilot, "Left alone: b.txt."))

        (app.work / "d.txt").write_text("foreign\n")
        await until(pilot, lambda: not here.switcher.is_closing(old))
        here.switcher.switch(old)  # by hand: the files are another question
        await until(pilot, lambda: noted(pilot, "The files are as the rewind left them."))
        assert texts() == ["someone else's", "just now", "first", "foreign"]
        here.main.run_command("/undo")
        await until(pilot, lambda: noted(pilot, "where it was, and 1 file too."))
        assert texts() == ["someone else's", "just now", "second", "foreign"]
        await until(pilot, lambda: noted(pilot, "Left alone: d.txt."))

        await sheet(pilot)
        await back(pilot, "c")  # the conversation only
        assert texts() == ["someone else's", "just now", "second", "foreign"]
        assert session_of(pilot).turn == 1
        await until(pilot, lambda: noted(pilot, "Back at turn 1. /undo undoes."))
        await undo_is_about_the_last_change(pilot)
        here.main.run_command("/undo")
        await until(pilot, lambda: noted(pilot, "Undone: the session is where it was"))
        assert session_of(pilot).id == old


async def test_editors_show_the_restored_files_and_unsaved_edits_stay(tmp_path: Path) -> None:
    """The fork's editors have the files as they were; the old branch keeps what was not saved.

    Windows keep their numbers. At the start, what was typed for the first write is undone with it;
    other unsaved typing stays.
    """
    app = Sessions(tmp_path, ["one", "two"])
    for name in ("a.txt", "b.txt"):
        (app.work / name).write_text("alpha\n")
    async with app.running() as pilot:
        old = session_of(pilot)
        todo = old.windows.open("todo")
        editors = [old.windows.open("editor", path=f"{name}.txt").id for name in "ab"]
        await until(pilot, lambda: shown(pilot, "3 editor"))
        old.windows.close(todo.id)
        await until(pilot, lambda: not shown(pilot, "1 todo"))

        def numbers() -> list[int]:
            desktop = app_of(pilot).main.desktop
            return [desktop.number_of(one) for one in editors]

        async def act(number: int, action_id: str, **given: str) -> None:
            done = await old.windows.act(editors[number], action_id, given, actor="person")
            assert done.ok, done.text

        def texts() -> list[str]:
            words = ("alpha", "beta", "gamma", "draft", "later")
            xml = [one.to_xml() for one in session_of(pilot).windows.windows()]
            return [" ".join(word for word in words if word in one) for one in xml]

        def unsaved() -> list[bool]:
            windows = session_of(pilot).windows.windows()
            return [bool(runtime_of(one).renders.at().unsaved) for one in windows]

        await act(1, "replace", old="alpha", new="draft")
        await act(0, "replace", old="alpha", new="beta")
        await act(0, "save")
        await turn(pilot, "Say one")
        await act(1, "replace", old="draft", new="later")
        await act(0, "replace", old="beta", new="gamma")
        await act(0, "save")
        await turn(pilot, "Say two")
        await sheet(pilot)
        see(pilot, "Unsaved edits stay in the old branch:", editors[1])
        await back(pilot)
        assert numbers() == [2, 3]
        assert (app.work / "a.txt").read_text() == "beta\n"
        assert texts() == ["beta", "draft"]
        app_of(pilot).main.run_command("/undo")
        await until(pilot, lambda: noted(pilot, "Undone: the session is where it was"))
        assert (session_of(pilot).id, numbers()) == (old.id, [2, 3])
        assert texts() == ["gamma", "later"]
        assert unsaved() == [False, True]

        await sheet(pilot, "/rewind 0")
        await back(pilot)
        assert (app.work / "a.txt").read_text() == "alpha\n"
        await until(pilot, lambda: noted(pilot, "Back at the start. 1 file restored."))
        assert app_of(pilot).main.prompt.text == "Say one"
        assert texts() == ["alpha", "draft"]
        assert unsaved() == [False, True]

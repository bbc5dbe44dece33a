"""The editor's own widget: person and model write in one text, and the file stays exact."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input

from contextui.agent.models.scripted import call
from contextui.model import Block
from contextui.text import for_terminal
from contextui.tui.app_session import AppSession
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.dialogs.whole_text import WholeText
from contextui.windowing.runtime import runtime_of
from contextui.windows.editor import widget
from contextui.windows.editor.widget import EditorBody
from contextui.windows.editor.window import EditorWindow
from tests.tui.desktop.samples import desk_with, desktop, enter, frame_of, frames, region_text
from tests.tui.running import lines, prompt, running, say, shown, until
from tests.tui.sharing import SharedChat

CODE = 'def total(items):\n    """Sum."""\n    return sum(items)\n'


def desk_on(chat: SharedChat, content: bytes | str, name: str = "cart.py") -> AppSession:
    data = content.encode() if isinstance(content, str) else content
    (chat.work / name).write_bytes(data)
    chat.desk.session.windows.open("editor", path=name)
    return chat.desk


def editor(desk: AppSession) -> EditorWindow:
    window = desk.session.windows.get("editor_1")
    assert isinstance(window, EditorWindow)
    return window


def buffer(desk: AppSession) -> str:
    """The text that person and model share."""
    held = editor(desk).state.buffer
    assert held is not None
    return held.file.text


async def entered(pilot: "Pilot[int]") -> tuple[WindowFrame, EditorBody]:
    frame = await enter(pilot, "editor_1")
    body = frame.body
    assert isinstance(body, EditorBody)
    await until(pilot, lambda: body.text)
    await pilot.press("enter")
    await until(pilot, lambda: body.has_focus)
    return frame, body


async def test_what_is_typed_is_shared_undone_and_not_saved_over_what_changed_on_disk(
    chat: SharedChat, pilot: "Pilot[int]", monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, path = desk_on(chat, CODE), chat.work / "cart.py"
    frame, body = await entered(pilot)
    await until(pilot, lambda: shown(pilot, "│ 1  def total(items):"))
    await until(pilot, lambda: shown(pilot, "╭─ 1 editor  cart.py ─"))
    await until(pilot, lambda: body.language == "python")

    def colours() -> set[str]:
        return {
            segment.style.color.name
            for segment in body.render_line(0)
            if segment.style and segment.style.color and segment.text.strip()
        }

    await until(pilot, lambda: len(colours()) > 2)  # they are found in the background
    await desk.session.windows.act("editor_1", "replace", {"old": "total", "new": "whole"})
    await until(pilot, lambda: "whole" in body.text)
    with monkeypatch.context() as patch:  # one step to undo, however slowly the keys come
        for limit in ("_PAUSE", "_LATEST"):
            patch.setattr(widget, limit, 600.0)
        await pilot.press("a", "enter")
        await until(pilot, lambda: body.text.startswith("a\ndef"))
    await pilot.press("b")
    await until(pilot, lambda: shown(pilot, "cart.py •"))
    await until(pilot, lambda: buffer(desk).startswith("a\nbdef"))  # after a pause
    await until(pilot, lambda: "◇ you" in region_text(pilot, frame)[-1])
    assert runtime_of(editor(desk)).history.entries[-1].action == "splice"
    assert path.read_text() == CODE  # not saved yet
    await pilot.press("ctrl+z")
    await until(pilot, lambda: body.text.startswith("def whole"))
    await pilot.press("ctrl+z")
    await until(pilot, lambda: body.text == CODE == buffer(desk))
    await pilot.press("ctrl+y")
    await until(pilot, lambda: "whole" in body.text)
    assert "Redone" in frame.note
    path.write_text("theirs\n")
    await pilot.press("ctrl+s")
    sent = "editor changed on disk. Not saved. d shows the difference."
    await until(pilot, lambda: frame.note == sent)
    assert path.read_text() == "theirs\n"
    await pilot.press("escape", "d")
    await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
    await until(pilot, lambda: shown(pilot, "theirs"))


@pytest.mark.long
async def test_the_scroll_position_stays_while_the_model_writes_above(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 90))
    desk = desk_on(chat, text, "lines.txt")
    frame = await frame_of(pilot, "editor_1")
    body = frame.body
    assert isinstance(body, EditorBody)
    await until(pilot, lambda: body.text)
    body.scroll_to(y=50, animate=False)
    await until(pilot, lambda: shown(pilot, "51  line 51"))
    given = {"old": "line 3\n", "new": "line 3\nline 3a\n"}
    await desk.session.windows.act("editor_1", "replace", given)
    await until(pilot, lambda: "line 3a" in body.text)
    await until(pilot, lambda: region_text(pilot, frame)[1].startswith("│ 52  line 51"))


async def test_text_is_copied_cut_and_pasted(chat: SharedChat, pilot: "Pilot[int]") -> None:
    """X05: ctrl+c copied nothing in the editor; what is pasted holds no control characters."""
    desk_on(chat, CODE)
    _, body = await entered(pilot)
    await pilot.press("ctrl+c")  # without a selection, the line
    assert pilot.app.clipboard == CODE.partition("\n")[0] + "\n"
    await until(pilot, lambda: shown(pilot, "Copied 1 line"))
    await pilot.press("shift+down", "shift+down", "ctrl+c")
    assert pilot.app.clipboard == "".join(CODE.splitlines(keepends=True)[:2])
    await until(pilot, lambda: shown(pilot, "Copied 2 lines"))
    await pilot.press("ctrl+end", "ctrl+v", "shift+home", "shift+up", "ctrl+x")
    await until(pilot, lambda: body.text == CODE + CODE.partition("\n")[0] + "\n")
    await pilot.press("ctrl+home", "shift+right", "ctrl+c", "ctrl+g", "i", "ctrl+v")
    await until(pilot, lambda: prompt(pilot).text == "d" and prompt(pilot).has_focus)
    await pilot.press("ctrl+a", "shift+end", "ctrl+c")
    await until(pilot, lambda: shown(pilot, "Copied 1 character"))
    assert prompt(pilot).text == "d"
    pilot.app.copy_to_clipboard("one\x1b[31m\ttwo\x9b\nthree")
    await pilot.press("ctrl+v")
    assert prompt(pilot).text == for_terminal("one\x1b[31m\ttwo\x9b\nthree")
    await pilot.press("ctrl+g", "i", "slash", "ctrl+v")
    field = pilot.app.focused
    await until(pilot, lambda: isinstance(field, Input) and field.value.startswith("one"))
    assert isinstance(field, Input)
    assert field.value == for_terminal("one\x1b[31m\ttwo\x9b", lines=False)


async def test_both_write_at_once_and_nothing_of_either_is_lost(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    desk = desk_on(chat, "one\ntwo\nthree\n", "notes.txt")
    windows = desk.session.windows
    _, body = await entered(pilot)
    body.move_cursor((2, 5))
    assert (await windows.act("editor_1", "insert", {"before_line": 1, "text": "m"})).ok
    await until(pilot, lambda: body.text.startswith("m\n"))
    assert body.cursor_location == (3, 5)  # where it was
    assert body.has_focus
    assert shown(pilot, "◆ model")
    for number in range(3):
        await pilot.press(f"{number}")
        given = {"before_line": 1, "text": f"m{number}"}
        assert (await windows.act("editor_1", "insert", given)).ok
    await until(pilot, lambda: buffer(desk) == body.text and "2" in buffer(desk)[-4:])
    assert buffer(desk) == "m2\nm1\nm0\nm\none\ntwo\nthree012\n"
    # X06: an edit above and below, in one action, moves neither the caret nor what is selected.
    await pilot.press("ctrl+f", *"two", "escape", "shift+right")
    given = {"old": "one\n", "new": "1\n1a\n"}
    body.insert("X", (0, 0))  # not sent yet
    assert (await windows.act("editor_1", "insert", {"before_line": 8, "text": "one"})).ok
    assert (await windows.act("editor_1", "replace", {**given, "count": 2})).ok
    await until(pilot, lambda: buffer(desk) == body.text)
    assert body.text == "Xm2\nm1\nm0\nm\n1\n1a\ntwo\nthree012\n1\n1a\n"
    assert body.selected_text == "two\n"


async def test_code_is_written_with_tab_enter_and_ctrl_f(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    """X06: tab left the editor; there was no indentation, no find and no wrapping."""
    desk = desk_on(chat, "if a:\n  b\n" + "c = 1\n" * 200 + "b = 2\n", "cart.py")
    frame, body = await entered(pilot)
    await until(pilot, lambda: body.language == "python")
    await pilot.press("end", "enter", *"x(", "enter", *"y")
    await until(pilot, lambda: body.text.startswith("if a:\n  x(\n    y\n  b\n"))
    await pilot.press("shift+up", "tab")
    await until(pilot, lambda: body.text.startswith("if a:\n    x(\n      y\n  b\n"))
    await pilot.press("shift+tab", "shift+tab")
    await until(pilot, lambda: body.text.startswith("if a:\nx(\n  y\n  b\n") and body.has_focus)
    await pilot.press("ctrl+home", "tab", "shift+tab", "ctrl+f", *"b")
    await until(pilot, lambda: shown(pilot, "─ 1 of 2 ─") and body.selected_text == "b")
    await pilot.press("enter")  # on another page
    await until(pilot, lambda: shown(pilot, "─ 2 of 2 ─") and body.selected_text == "b")
    assert body.cursor_location == (205 - body.line_number_start, 1)
    given = {"first": 150, "last": 150, "text": "b"}
    assert (await desk.session.windows.act("editor_1", "replace_lines", given)).ok
    await until(pilot, lambda: shown(pilot, "─ 3 of 3 ─"))
    await pilot.press("up", "up", "up", "escape")
    await until(pilot, lambda: body.selected_text == "b" and body.has_focus)
    assert not shown(pilot, "of 3 ─")
    assert shown(pilot, "tab indent")
    await pilot.press("ctrl+home")
    await until(pilot, lambda: body.line_number_start == 1)
    body.insert("long " * 40, (0, 0))
    pilot.app.post_message(Key("alt+z", "z"))  # terminals report the letter, too
    await pilot.press("ctrl+home", "down")
    await until(pilot, lambda: shown(pilot, "│      long long") and shown(pilot, "2  x("))
    assert "z" not in body.text
    assert body.cursor_location[0] == 0
    await pilot.press("escape", "tab")
    await until(pilot, lambda: not frame.has_focus_within)


@pytest.mark.long
def test_what_is_typed_just_before_the_model_acts_is_shown_to_the_model_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = SharedChat(tmp_path)  # for itself: the model has seen no window of this name
    # What is typed must not be in the buffer yet when the model changes the line.
    monkeypatch.setattr(widget, "_PAUSE", 30.0)
    monkeypatch.setattr(widget, "_LATEST", 30.0)
    bodies = list[EditorBody]()
    given = {"first": 2, "last": 2, "text": "TWO"}
    act = {"window_id": "editor_1", "action_id": "replace_lines", "params": given}

    def type_and_act() -> Iterator[Block]:
        bodies[0].insert("X", (1, 1))
        yield call("action", **act)

    async def go(pilot: "Pilot[int]") -> None:
        chat.answer(type_and_act(), call("action", **act), "Done.")
        desk = desk_on(chat, "one\ntwo\nthree\n", "notes.txt")
        _, body = await entered(pilot)
        bodies.append(body)
        await say(pilot, "Write the second line in capitals")
        results = [one.content for one in chat.said if one.tool_name]
        assert "has changed since you saw it" in results[0]
        assert "tXwo" in results[0]
        assert buffer(desk) == "one\nTWO\nthree\n"
        assert (await desk.session.windows.act("editor_1", "undo")).ok
        await until(pilot, lambda: body.text == "one\ntXwo\nthree\n")

    chat.run(go)
    chat.close()


@pytest.mark.parametrize(
    ("text", "top", "end"),
    [
        ("".join(f"{number} {'x' * 900}\n" for number in range(1, 251)) + "last", 246, (5, 4)),
        ("line\n" * 4_000_000, 3_999_901, (99, 4)),  # too large to edit: read page by page
    ],
    ids=["long lines", "read-only"],
)
async def test_ctrl_home_and_ctrl_end_go_to_the_ends_of_the_file(
    chat: SharedChat, text: str, top: int, end: tuple[int, int], pilot: "Pilot[int]"
) -> None:
    desk_on(chat, text, "long.txt")
    _, body = await entered(pilot)
    assert body.read_only == text.startswith("line")
    await pilot.press("right", "ctrl+end")
    await until(pilot, lambda: body.line_number_start == top)
    await until(pilot, lambda: body.cursor_location == end)
    await pilot.press("up", "home", "ctrl+end")  # on the page already
    await until(pilot, lambda: body.cursor_location == end)
    await pilot.press("ctrl+home")
    await until(pilot, lambda: body.line_number_start == 1)
    await until(pilot, lambda: body.cursor_location == (0, 0))
    await pilot.press("down", "end", "ctrl+home")
    await until(pilot, lambda: body.cursor_location == (0, 0))


@pytest.mark.long
async def test_the_persons_find_leads_to_the_place_and_the_models_does_not(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    desk = desk_on(chat, CODE)
    frame, body = await entered(pilot)
    await desk.session.windows.act("editor_1", "find", {"text": "return"})
    await until(pilot, lambda: editor(desk).state.line == 3)
    await pilot.pause(0.1)
    assert body.cursor_location == (0, 0)
    frame.runner.run("find", {"text": "Sum"})
    await until(pilot, lambda: body.cursor_location == (1, 7))


@pytest.mark.long
async def test_blur_sends_what_was_typed_at_once_and_closing_warns_of_it(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    desk = desk_on(chat, CODE)
    frame, _ = await entered(pilot)
    await pilot.press("Q", "escape")
    await until(pilot, lambda: frame.has_focus)
    await until(pilot, lambda: buffer(desk).startswith("Qdef"))
    await pilot.press("x")
    await until(pilot, lambda: shown(pilot, "unsaved! enter to close"))


@pytest.mark.long
async def test_what_cannot_be_written_is_refused_and_does_not_stay(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    desk = desk_on(chat, "zwö\n".encode("latin-1"), "alt.txt")
    _, body = await entered(pilot)
    await pilot.press("你")
    await until(pilot, lambda: body.text == "zwö\n" and shown(pilot, "U+4F60"))
    assert buffer(desk) == "zwö\n"


@pytest.mark.long
async def test_what_was_typed_last_in_a_file_that_the_model_closes_is_reported(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    desk = desk_on(chat, CODE)
    (chat.work / "other.py").write_text("other\n")
    await entered(pilot)
    await pilot.press(*"mine")
    await desk.session.windows.act("editor_1", "open", {"path": "other.py"})
    lost = "cart.py is no longer open here"
    await until(pilot, lambda: "mine" in buffer(desk) or shown(pilot, lost))


@pytest.mark.long
async def test_what_was_typed_is_kept_when_the_window_is_out_of_sight(tmp_path: Path) -> None:
    desk = desk_with(tmp_path)
    (tmp_path / "work" / "cart.py").write_text(CODE)
    desk.session.windows.open("editor", path="cart.py")
    for _ in range(8):
        desk.session.windows.open("note")
    async with running(desk, (80, 24)) as pilot:
        pilot.app.screen.add_class("-pane-windows")
        await entered(pilot)
        await pilot.press("K")
        desktop(pilot).action_go_to(5)
        await until(pilot, lambda: "editor_1" not in frames(pilot))
        await until(pilot, lambda: buffer(desk).startswith("K"))


async def test_lines_that_the_model_changed_have_a_bar_until_the_person_was_there(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    desk = desk_on(chat, "one\ntwo\nthree\nfour\n")
    frame = await frame_of(pilot, "editor_1")
    await until(pilot, lambda: shown(pilot, "three"))
    await desk.session.windows.act("editor_1", "replace", {"old": "three", "new": "3a\n3b"})
    await until(pilot, lambda: shown(pilot, "3▎ 3a"))
    assert shown(pilot, "4▎ 3b")
    assert sum("▎" in one for one in region_text(pilot, frame)) == 2
    await desk.session.windows.act("editor_1", "replace", {"old": "one", "new": "zero\none"})
    await until(pilot, lambda: shown(pilot, "5▎ 3b"))  # it moved with its line
    frame.focus()
    await until(pilot, lambda: frame.has_focus)
    assert shown(pilot, "▎ 3a")
    await pilot.press("ctrl+g", "p")
    await until(pilot, lambda: not any("▎" in one for one in region_text(pilot, frame)))


async def test_lines_of_the_person_have_no_bar(chat: SharedChat, pilot: "Pilot[int]") -> None:
    desk = desk_on(chat, numbered(250), "long.txt")  # more than a page
    _, body = await entered(pilot)
    await pilot.press("enter")
    await until(pilot, lambda: buffer(desk).startswith("\n"))
    await until(pilot, lambda: not body._unsent and body.text == body._sight.shown)
    assert not body._marked
    # The widget may see the change before it is told that the person made it.
    assert (await desk.session.windows.act("editor_1", "undo", {}, actor="person")).ok
    await until(pilot, lambda: body.text == "\n".join(numbered(100).splitlines()))
    assert not body._marked
    body.insert("typed ", (0, 0))  # while the page is turned
    given = {"old": "line 200\n", "new": ""}
    assert (await desk.session.windows.act("editor_1", "replace", given, actor="person")).ok
    await until(pilot, lambda: buffer(desk) == "typed " + numbered(250).replace("line 200\n", ""))


def numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


async def at_line(pilot: "Pilot[int]", body: EditorBody, line: int) -> None:
    """Wait until the cursor is in a line of the file, and in view."""
    await until(pilot, lambda: body.line_number_start + body.cursor_location[0] == line)
    await until(pilot, lambda: shown(pilot, f" {line}  line {line} "))


@pytest.mark.parametrize("size", [(80, 24)])
async def test_the_title_counts_lines_and_all_keys_go_on_from_where_the_cursor_is(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    desk = desk_on(chat, numbered(250), "long.txt")
    await pilot.press("ctrl+g", "1")  # a small screen shows the windows then
    frame, body = await entered(pilot)
    height = body.size.height
    await until(pilot, lambda: shown(pilot, f" 1–{height} of 250 ─╮"))
    await pilot.press("enter")  # typed, not sent yet
    await until(pilot, lambda: shown(pilot, f" 1–{height} of 251 ─╮"))
    await pilot.press("ctrl+z")
    await until(pilot, lambda: shown(pilot, f" 1–{height} of 250 ─╮"))
    # The model turns the page: lines keep their numbers, and a key moves the view by one line.
    assert (await desk.session.windows.act("editor_1", "goto", {"line": 40})).ok
    await until(pilot, lambda: " 40  line 40 " in region_text(pilot, frame)[1])
    await until(pilot, lambda: shown(pilot, f" 40–{39 + height} of 250 ─╮"))
    await pilot.press("up")
    await at_line(pilot, body, 39)
    await until(pilot, lambda: shown(pilot, f" 39–{38 + height} of 250 ─╮"))
    assert " 39  line 39 " in region_text(pilot, frame)[1]
    await pilot.press("ctrl+l")
    await until(pilot, lambda: lines(pilot)[-1].strip().startswith("enter go to line  esc back"))
    await pilot.press(*"x176", "enter")  # a line in the window, for numbers
    await at_line(pilot, body, 176)
    await until(pilot, lambda: body.has_focus)
    for key, line in [("up", 175), ("down", 176), ("down", 177)]:
        await pilot.press(key)
        await at_line(pilot, body, line)
    await pilot.press("ctrl+end")  # where an empty row follows the last line
    await until(pilot, lambda: shown(pilot, f" {252 - height}–250 of 250 ─╮"))
    body.move_cursor((0, 0))
    first = body.line_number_start
    await pilot.press("up")
    await at_line(pilot, body, first - 1)

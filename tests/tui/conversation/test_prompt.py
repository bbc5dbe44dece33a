"""The prompt: sending, waiting, remembering, completing, pasting."""

import asyncio
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from contextui.agent.models.scripted import ScriptedModel
from contextui.errors import ContextUIError
from contextui.events import Event, RetryScheduled, TurnFinished, TurnStarted
from contextui.model import ModelError, ModelRequest
from contextui.tui.commands import Choice, Command, Commands
from contextui.tui.conversation.input import Queue
from contextui.tui.conversation.popup import Popup
from contextui.tui.conversation.prompt import MOST_PASTED, InputHistory, Pastes, Prompt
from contextui.tui.turn_queue import TurnQueue
from contextui.words import Words
from tests.tui.running import app_of, desk_in, lines, prompt, running, shown, until
from tests.tui.sharing import SharedChat


class Held(ScriptedModel):
    """Answers only when it is let go."""

    def __init__(self, *steps: str) -> None:
        super().__init__(*steps)
        self.let_go = asyncio.Event()

    async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]  # as the base
        await self.let_go.wait()
        async for event in super().stream(request):
            yield event


async def test_enter_sends_unless_nothing_is_typed_and_ctrl_j_makes_a_line(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    chat.answer("Yes.")
    await pilot.press("space", "enter")
    assert not chat.said  # an empty prompt
    prompt(pilot).clear()
    await pilot.press("a", "ctrl+j", "b")
    assert prompt(pilot).text == "a\nb"
    await pilot.press("enter")
    await until(pilot, lambda: shown(pilot, "Yes."))
    messages = [one.content for one in chat.said]
    assert "a\nb" in messages
    assert prompt(pilot).text == ""
    await pilot.press(*"new", "up")  # the past, and what was being written comes back
    assert prompt(pilot).text == "a\nb"
    await pilot.press("down", "down")
    assert prompt(pilot).text == "new"


async def test_messages_queue_during_a_turn_and_can_be_changed(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    model = Held("One.", "Two.", "Three.")
    chat.answer(model=model)
    prompt(pilot).say("first")
    await until(pilot, lambda: shown(pilot, "esc stops"))
    prompt(pilot).say("second")
    prompt(pilot).say("third")
    await until(pilot, lambda: shown(pilot, "· third"))
    await pilot.press("up")
    await until(pilot, lambda: prompt(pilot).text == "third")
    await pilot.press("!", "enter")
    await until(pilot, lambda: shown(pilot, "· third!"))
    model.let_go.set()
    model.let_go.clear()
    await until(pilot, lambda: shown(pilot, "▌ second"))
    await until(pilot, lambda: not shown(pilot, "· second"))
    assert chat.desk.controller.is_running  # it waits no longer, and is not answered yet
    model.let_go.set()
    await until(pilot, lambda: shown(pilot, "Three."))
    messages = [one.content for one in chat.said]
    assert [one for one in messages if one in ("first", "second", "third!")] == [
        "first",
        "second",
        "third!",
    ]
    assert not pilot.app.screen.query_one(Queue).display


async def test_messages_sent_in_one_tick_are_answered_one_after_the_other(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, "One.", "Two.", "Three.", ModelError("auth", "No key."), "Four.")
    events = list[Event]()
    turns = TurnQueue(desk.controller, events.append, asyncio.create_task, print)

    async def ended(count: int) -> None:
        """A message sent between two turns must join the queue."""
        while sum(isinstance(event, TurnFinished) for event in events) < count:
            assert turns.is_running
            await asyncio.sleep(0)
        while turns.is_running:
            await asyncio.sleep(0)

    for text in ("first", "second", "third"):
        turns.send(Prompt.Submitted(text))
    turns.wake(Words("en"))
    await ended(3)
    turns.send(Prompt.Submitted("fourth"))
    await ended(4)
    turns.retry("Go on.")
    turns.retry("Go on.")
    await ended(5)
    texts = [event.text for event in events if isinstance(event, TurnStarted)]
    assert texts == ["first", "second", "third", "fourth", "fourth"]
    assert not turns.waiting
    desk.close()


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_key_stops_the_turn(pilot: "Pilot[int]", chat: SharedChat, key: str) -> None:
    chat.answer(model=Held("Never."))
    desk = chat.desk
    prompt(pilot).say("go")
    await until(pilot, lambda: desk.controller.is_running)
    prompt(pilot).say("later")
    await until(pilot, lambda: shown(pilot, "queued until the turn ends"))
    await pilot.press(key)
    await until(pilot, lambda: not desk.controller.is_running)
    await until(pilot, lambda: shown(pilot, "Stopped."))
    await until(pilot, lambda: shown(pilot, "not sent: the last turn did not finish"))
    await pilot.press("up")
    await until(pilot, lambda: prompt(pilot).text == "later")


@pytest.mark.parametrize("size", [(80, 24)])
async def test_the_reason_of_a_retry_is_never_cut(pilot: "Pilot[int]") -> None:
    reason = "It is busy: " + "please wait until the next hour begins, " * 3 + "then try again."
    main = app_of(pilot).main
    main.handle(TurnStarted("go", "1"))
    for seconds in (7, 6):
        main.handle(RetryScheduled(reason, seconds, 2, 5))
    await until(pilot, lambda: shown(pilot, "retrying in 6s   esc stops ─"))

    def said() -> str:
        return " ".join(" ".join(lines(pilot)).split())

    await until(pilot, lambda: reason in said())  # whole
    assert said().count(reason) == 1  # and once
    main.handle(RetryScheduled("Busy.", 5, 3, 5))
    await until(pilot, lambda: shown(pilot, "retrying in 5s   esc stops ─"))


async def test_a_large_paste_stands_as_a_word_and_is_sent_whole(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    chat.answer("Much.")
    desk = chat.desk
    text = "many words " * 2_000 + "\n" + "x" * 7_999
    await pilot.press(*"see ")
    prompt(pilot).post_message(events.Paste(text.replace("\n", "\r")))
    await until(pilot, lambda: "[pasted 1: 30.0k characters]" in prompt(pilot).text)
    await pilot.press("enter")
    await until(pilot, lambda: not prompt(pilot).text)
    await until(pilot, lambda: not desk.controller.is_running)
    assert f"see {text}" in [one.content for one in chat.said]
    await pilot.press("up", "!", "enter")  # called up again, it is whole again
    await until(pilot, lambda: chat.said and chat.said[-1].content == f"see {text}!")


async def test_a_paste_stands_there_once(pilot: "Pilot[int]") -> None:
    await pilot.press("a")
    pilot.app.post_message(events.Paste("bc\nd"))
    await pilot.press("e")
    assert prompt(pilot).text == "abc\nde"


def test_pastes_are_put_back() -> None:
    pastes = Pastes()
    one, two = pastes.keep("first"), pastes.keep("second")
    assert pastes.whole(f"a {two} b {one}") == "a second b first"
    assert pastes.keep("a line\n" * 500) == "[pasted 3: 500 lines]"


def test_the_past_forgets_repetitions() -> None:
    history = InputHistory(["a"])
    history.add("a")
    assert history.back("") == "a"
    assert history.back("") is None


# --- slash commands ----------------------------------------------------------------------


CHOICES = [Choice("todo"), Choice("editor", takes="path=… [line=…]", needs="path=…")]


def test_commands_are_completed() -> None:
    done: list[str] = []
    commands = Commands(
        [
            Command("open", "open", done.append, "NAME", "o", lambda: CHOICES),
            Command("quit", "quit", done.append, aliases=("q",)),
        ]
    )
    assert [one.text for one in commands.completions("/")] == ["/open ", "/quit"]
    assert [one.text for one in commands.completions("/op")] == ["/open "]
    assert [one.text for one in commands.completions("/open t")] == ["/open todo"]
    assert commands.completions("open") == []
    assert commands.completions("/nothing x") == []
    (editor,) = commands.completions("/open editor")  # more must be typed
    assert (editor.text, editor.shown) == ("/open editor ", "/open editor path=…")
    assert commands.completions("/open todo") == []  # that is enough
    assert commands.usage("/o editor READ") == "/o editor path=… [line=…]"
    assert commands.usage("/open nothing x") == commands.usage("open editor ") == ""
    commands.run("/o  todo ")
    commands.run("/quit")
    assert done == ["todo", ""]
    with pytest.raises(ContextUIError, match="Try: /open, /quit"):
        commands.run("/fly")


def test_what_is_typed_whole_comes_before_what_it_could_become() -> None:
    """U31: a name, an alias, and what stands behind a name."""
    ids = [Choice("todo_1"), Choice("todo_10"), Choice("todo_11", needs="x")]
    commands = Commands(
        [
            Command("close", "close", print, "ID", choices=lambda: ids),
            Command("code", "code", print),
            Command("codex", "codex", print),
            Command("compact", "compact", print, aliases=("c",)),
        ]
    )

    def texts(typed: str) -> list[str]:
        return [one.text for one in commands.completions(typed)]

    assert texts("/c") == ["/compact", "/close ", "/code", "/codex"]
    assert texts("/code") == ["/code", "/codex"]
    assert texts("/co") == ["/code", "/codex", "/compact"]
    assert texts("/close todo_1") == ["/close todo_1", "/close todo_10", "/close todo_11 "]
    assert texts("/close todo_10") == []


async def test_the_list_of_commands_opens_narrows_and_chooses(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    desk = chat.desk
    await pilot.press("/")
    await until(pilot, lambda: pilot.app.screen.query_one(Popup).display)
    assert shown(pilot, "/close ID")
    await until(pilot, lambda: shown(pilot, "tab complete"))
    await pilot.press(*"ope", "tab")
    assert prompt(pilot).text == "/open "
    await pilot.press("t", "o", "tab")
    await until(pilot, lambda: len(desk.session.windows.windows()) == 1)
    assert prompt(pilot).text == ""
    await pilot.press("/", "escape")
    assert not pilot.app.screen.query_one(Popup).display
    await until(pilot, lambda: shown(pilot, "tab next pane"))


async def test_commands_change_the_screen_and_the_session(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    async with running(desk) as pilot:
        main = app_of(pilot).main
        main.run_command("/approval auto")
        assert desk.controller.tools.gate.mode == "auto"
        main.run_command("/inspector")
        assert main.has_class("-no-inspector")
        main.run_command("/zoom")
        assert main.has_class("-zoom")
        main.run_command("/zoom")
        system = desk.session.context.get_all()[0]
        desk.session.context.pin(system.id)
        main.run_command("/undo")
        assert not system.pinned
        main.run_command("/stop")
        main.run_command("/quit")
        await until(pilot, lambda: pilot.app.return_code == 0)


def test_a_path_is_a_prompt() -> None:
    """U21: a line that begins with a path is for the model."""
    commands = Commands([Command("open", "open", print, "NAME", "o")])
    for typed in ("/etc/hosts what is this?", "/usr", "/usr and then", "//host/share",
                  "/home/nobody/such.py", "open", ""):  # fmt: skip
        assert not commands.reads(typed), typed
    for typed in ("/fly", "/", "/open /etc/hosts"):  # the first is unknown, which it says
        assert commands.reads(typed), typed
    commands = Commands([Command("usr", "a command", print)])  # it wins over a file of its name
    assert commands.reads("/usr")
    assert not commands.reads("/usr/bin")


async def test_an_alias_and_a_whole_name_run_as_they_were_typed(tmp_path: Path) -> None:
    """U31: `/c` is `/compact`; Enter never takes a completion that was not marked before."""
    desk = desk_in(tmp_path)  # in which there is nothing to compact
    async with running(desk) as pilot:
        windows = desk.session.windows
        first, second, third = (windows.open("todo").id for _ in range(3))
        completions = pilot.app.screen.query_one(Popup)
        await pilot.press("/", "c")
        await until(pilot, lambda: prompt(pilot).is_completing)
        await pilot.press("enter")
        await until(pilot, lambda: not prompt(pilot).text)
        await pilot.press("enter")
        await pilot.pause()
        assert len(windows.windows()) == 3  # it closes nothing, however often Enter is pressed
        prompt(pilot).put("/close")
        await until(pilot, lambda: prompt(pilot).is_completing)
        await pilot.press("enter")
        await until(pilot, lambda: prompt(pilot).text == "/close ")
        await until(pilot, lambda: completions.option_count == 3)
        assert completions.highlighted == 0  # it has nothing to do yet, so it offers the first
        assert len(windows.windows()) == 3
        await pilot.press("down", "enter")
        await until(pilot, lambda: windows.get(second) is None)
        prompt(pilot).put(f"/close {third}")
        await pilot.press("enter")
        await until(pilot, lambda: windows.get(third) is None)
        assert windows.get(first) is not None


async def test_the_path_of_a_dropped_image_becomes_a_mention(
    pilot: "Pilot[int]", tmp_path: Path
) -> None:
    shot = tmp_path / "my shot.png"
    shot.write_bytes(b"\x89PNG\r\n\x1a\n")
    for pasted in (str(shot), f"'{shot}'", str(shot).replace(" ", "\\ ")):
        pilot.app.post_message(events.Paste(pasted))
        await until(pilot, lambda: prompt(pilot).text == f'@"{shot}" ')
        prompt(pilot).clear()
    pilot.app.post_message(events.Paste("/no/such.png"))
    await until(pilot, lambda: prompt(pilot).text == "/no/such.png")


async def test_a_huge_paste_is_refused(pilot: "Pilot[int]") -> None:
    """X21: the notice takes the place of the keys, and covers nothing else."""
    await pilot.press("a")
    await until(pilot, lambda: shown(pilot, "│ a"))
    before = lines(pilot)
    for _ in range(2):
        pilot.app.post_message(events.Paste("x" * (MOST_PASTED + 1)))
    await until(pilot, lambda: shown(pilot, "The paste is too large"))
    assert lines(pilot)[:-1] == before[:-1]
    assert "The paste is too large" in lines(pilot)[-1]
    assert prompt(pilot).text == "a"
    pilot.app.post_message(events.Paste("y" * (MOST_PASTED - 1)))
    await until(pilot, lambda: "[pasted 1" in prompt(pilot).text)
    await pilot.press("b")
    await until(pilot, lambda: prompt(pilot).text.endswith("]b"))
    await pilot.press("f2", "ctrl+g", "i", "slash")
    await until(pilot, lambda: isinstance(pilot.app.focused, Input))
    pilot.app.clear_notifications()
    await until(pilot, lambda: not shown(pilot, "too large"))
    field = pilot.app.focused
    pilot.app.post_message(events.Paste("x" * (MOST_PASTED + 1)))
    await until(pilot, lambda: shown(pilot, "The paste is too large"))
    assert isinstance(field, Input)
    assert field.value == ""
    pilot.app.post_message(events.Paste("z" * (MOST_PASTED - 1)))
    await until(pilot, lambda: field.value)
    assert set(field.value) == {"z"}
    assert len(field.value) <= 10_000
    await pilot.press("escape")

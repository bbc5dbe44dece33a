"""What a person is typing survives whatever the model does, and the time they take is not its."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from contextui.agent.approval import ApprovalGate, Decision, Question
from contextui.agent.models.scripted import call
from contextui.tui.app_session import AppSession
from contextui.tui.conversation.entries import CallLine
from contextui.windows.editor import widget as own_editor
from contextui.windows.editor.widget import EditorBody
from tests.tui.desktop.samples import enter
from tests.tui.running import desk_in, running, say, until


def desk_on(folder: Path, *steps: Any, mode: Any = "ask") -> AppSession:
    (folder / "work").mkdir()
    (folder / "work/notes.txt").write_text("one\n")
    desk = desk_in(folder, *steps, approval=ApprovalGate(mode))
    desk.session.windows.open("editor", path="notes.txt")
    return desk


@pytest.mark.parametrize(
    ("mode", "action_id", "params"), [("ask", "close", {}), ("auto", "reload", {"discard": True})]
)
async def test_keys_that_the_window_does_not_know_yet_are_asked_about_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, action_id: str, params: Any
) -> None:
    for limit in ("_PAUSE", "_LATEST"):
        monkeypatch.setattr(own_editor, limit, 600.0)  # as if they were typed this moment
    questions: list[Question] = []

    async def refuse(question: Question) -> Decision:
        questions.append(question)
        return Decision("no")

    acting = call("action", window_id="editor_1", action_id=action_id, params=params)
    # What the person typed since the model looked refuses an action once; closing asks at once.
    steps = [acting] if action_id == "close" else [acting, acting]
    saving = call("action", window_id="editor_1", action_id="save")
    desk = desk_on(tmp_path, *steps, "I may not.", saving, "Saved.", mode=mode)
    async with running(desk) as pilot:
        body = (await enter(pilot, "editor_1")).body
        assert isinstance(body, EditorBody)
        await until(pilot, lambda: body.text)
        await pilot.press("enter")
        await until(pilot, lambda: body.has_focus)
        await pilot.press(*"mine ")
        assert body.text.startswith("mine one")
        desk.controller.tools.gate.ask = refuse
        await say(pilot, "Close everything")
        (question,) = questions
        assert (question.verb, question.target) == ("close", "notes.txt")
        assert question.preview is not None
        assert "+mine one\n" in question.preview.diff
        window = desk.session.windows.get("editor_1")
        assert window is not None
        assert "mine one" in window.snapshot().content
        if mode == "ask":
            await save_without_haste(pilot, desk)


async def save_without_haste(pilot: "Pilot[int]", desk: AppSession) -> None:
    """The time of a call is without the time of the person."""
    gate = desk.controller.tools.gate

    async def think(_: Question) -> Decision:
        gate.waited += 1_000  # as if they had gone out for lunch
        return Decision("once")

    gate.ask = think
    await say(pilot, "Save it")
    end = pilot.app.screen.query(CallLine).last().entry.end
    assert end is not None
    assert end.seconds == 0.0

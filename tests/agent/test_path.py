"""How many modules and functions a headless turn passes through, its log included."""

import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import contextui
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from contextui.windowing.finding.registry import discover
from tests.agent.talking import controller, end, run

ROOT = Path(contextui.__file__).parent
UNNAMED = ("<lambda>", "<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")
MOST_MODULES, MOST_FUNCTIONS = 47, 600


def test_a_turn_passes_through_few_modules_and_functions(tmp_path: Path) -> None:
    seen = set[CodeType]()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    adding = call("action", window_id="todo_1", action_id="add", params={"text": "milk"})
    options = SessionOptions(classes=discover().classes())
    with SessionStore(tmp_path / "home", options).create(tmp_path) as session:
        model = ScriptedModel(call("create", name="todo"), adding, "Done.")
        talk = controller(model=model, context=session.context, prompt=True)
        before = sys.getprofile()
        threading.setprofile(profile)  # the window's thread is started within the turn
        sys.setprofile(profile)
        try:
            events = run(talk, "Put milk on my list")
        finally:
            sys.setprofile(before)
            threading.setprofile(None)
        talk.close()
    assert end(events).text == "Done."
    ours = [code for code in seen if Path(code.co_filename).is_relative_to(ROOT)]
    modules = {code.co_filename for code in ours}
    functions = {
        (code.co_filename, code.co_qualname) for code in ours if code.co_name not in UNNAMED
    }
    assert len(modules) <= MOST_MODULES, sorted(modules)
    assert len(functions) <= MOST_FUNCTIONS

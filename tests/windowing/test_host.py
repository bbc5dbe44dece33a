"""What the program that shows and saves windows reads of them."""

import asyncio
import threading

from contextui import Lod, WindowManager
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import LONG, Counter


def test_renders_state_and_history_of_an_open_window(windows: WindowManager) -> None:
    window = windows.open(Counter)
    assert asyncio.run(runtime_of(window).act("up", {}, "person")).ok
    assert runtime_of(window).renders.at().xml == window.to_xml()
    assert runtime_of(window).renders.latest() is runtime_of(window).renders.at()
    runtime_of(window).renders.request(Lod.GIST).result(LONG)
    assert runtime_of(window).renders.at(Lod.GIST).lod is Lod.GIST
    saved = runtime_of(window).core.saved
    assert (saved.state, saved.version, saved.lod) == ({"count": 1}, window.version, Lod.FULL)
    assert [entry.action for entry in runtime_of(window).history.entries] == ["up"]
    assert runtime_of(window).focus_id is None
    assert not runtime_of(window).is_first_opening
    assert not runtime_of(window).worker.is_late


def test_history_and_focus_are_restored(windows: WindowManager) -> None:
    window = windows.open(Counter)
    asyncio.run(runtime_of(window).act("up", {}, "person"))
    later = WindowManager([Counter])
    back = later.restore(
        Counter,
        window.id,
        {"count": 1},
        history=runtime_of(window).history.entries,
        focus_id="entry-1",
    )
    assert runtime_of(back).history.entries == runtime_of(window).history.entries
    assert runtime_of(back).focus_id == "entry-1"


def test_a_function_runs_on_the_windows_own_thread(windows: WindowManager) -> None:
    window = windows.open(Counter)
    thread = runtime_of(window).worker.submit(threading.current_thread).result(LONG)
    assert thread.name == window.id


def test_an_input_callback_is_unregistered_only_by_its_owner(windows: WindowManager) -> None:
    async def first() -> None: ...

    async def second() -> None: ...

    window = windows.open(Counter)
    unregister_first = runtime_of(window).commit_input_with(first)
    unregister_second = runtime_of(window).commit_input_with(second)
    unregister_first()
    assert runtime_of(window).commit_input is second
    unregister_second()
    assert runtime_of(window).commit_input is None

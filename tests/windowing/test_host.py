"""What the program that shows and saves windows reads of them."""

import asyncio
import threading

from contextui import Lod, WindowManager
from contextui.windowing import host
from tests.windowing.samples import LONG, Counter


def test_renders_state_and_history_of_an_open_window(windows: WindowManager) -> None:
    window = windows.open(Counter)
    assert asyncio.run(host.act(window, "up", {})).ok
    assert host.current_render(window).xml == window.to_xml()
    assert host.latest_render(window) is host.current_render(window)
    host.request_render(window, Lod.GIST).result(LONG)
    assert host.current_render(window, Lod.GIST).lod is Lod.GIST
    saved = host.saved_state(window)
    assert (saved.state, saved.version, saved.lod) == ({"count": 1}, window.version, Lod.FULL)
    assert [entry.action for entry in host.history(window)] == ["up"]
    assert host.focus_id(window) is None
    assert not host.is_first_opening(window)
    assert not host.is_late(window)


def test_history_and_focus_are_restored(windows: WindowManager) -> None:
    window = windows.open(Counter)
    asyncio.run(host.act(window, "up", {}))
    later = WindowManager([Counter])
    back = later.restore(
        Counter, window.id, {"count": 1}, history=host.history(window), focus_id="entry-1"
    )
    assert host.history(back) == host.history(window)
    assert host.focus_id(back) == "entry-1"


def test_a_function_runs_on_the_windows_own_thread(windows: WindowManager) -> None:
    window = windows.open(Counter)
    thread = host.run_on_thread(window, threading.current_thread).result(LONG)
    assert thread.name == window.id


def test_an_input_callback_is_unregistered_only_by_its_owner(windows: WindowManager) -> None:
    async def first() -> None: ...

    async def second() -> None: ...

    window = windows.open(Counter)
    unregister_first = host.commit_input_with(window, first)
    unregister_second = host.commit_input_with(window, second)
    unregister_first()
    assert window.runtime.commit_input is second
    unregister_second()
    assert window.runtime.commit_input is None

"""Reloading: changed files are loaded, open windows get the new code and keep their state."""

import os
from pathlib import Path

import pytest

from contextui import ContextManager, Lod
from contextui.events import Event, WindowNotified
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionStore
from contextui.testing import run_in_thread
from contextui.windowing.finding.registry import Registry
from contextui.windowing.finding.reload import Reloader
from contextui.windowing.finding.trust import TrustStore
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.words import Words
from tests.windowing.finding.sources import found, write

MARK = "\nwith open('ran', 'a') as file:\n    file.write('x')\n"


def loaded(registry: Registry) -> tuple[Reloader, WindowManager]:
    windows = WindowManager(registry.classes())
    return Reloader(registry, windows), windows


def hello(there: Path, start: int = 0, **how: str) -> tuple[Path, Reloader, WindowManager]:
    """A file whose window is open."""
    path = write(there / "hello.py", **how)
    reloader, windows = loaded(found(files=[path]))
    windows.open("hello", start=start)
    return path, reloader, windows


def act(windows: WindowManager, window_id: str, action_id: str) -> None:
    assert run_in_thread(windows.act(window_id, action_id)).ok


@pytest.mark.parametrize("name", ["hello.py", "other.py", "_help.py"])
def test_a_changed_project_is_never_loaded_before_it_is_trusted(there: Path, name: str) -> None:
    folder = there / "project" / ".contextui" / "windows"
    write(folder / "hello.py")
    TrustStore(there / "home").trust(folder)
    reloader, windows = loaded(found(home=there / "home", project=there / "project"))
    windows.open("hello", start=5)
    write(folder / name, words="Evil.", more=MARK)
    report = reloader.reload()
    assert not (there / "ran").exists()
    assert report.reloaded == ()
    assert {entry.status for entry in report.untrusted} == {"untrusted"}
    assert "is not trusted" in " ".join(report.lines(Words("en")))
    assert windows.windows()[0].to_xml().count("Says hello. 5")
    assert "Says hello" in windows.open("hello").to_xml()  # the old code can still be opened
    TrustStore(there / "home").trust(folder)
    assert reloader.reload(fresh=True).reloaded
    assert (there / "ran").exists() is (name != "_help.py")


def test_an_untrusted_project_is_not_loaded_even_if_fresh(there: Path) -> None:
    write(there / "project" / ".contextui" / "windows" / "hello.py", more=MARK)
    reloader, windows = loaded(found(home=there / "home", project=there / "project"))
    assert reloader.reload(fresh=True).reloaded == ()
    assert not windows.classes
    assert not (there / "ran").exists()


def test_revoked_trust_loads_nothing(there: Path) -> None:
    folder = there / "project" / ".contextui" / "windows"
    write(folder / "hello.py", more=MARK)
    TrustStore(there / "home").trust(folder)
    reloader, _ = loaded(found(home=there / "home", project=there / "project"))
    TrustStore(there / "home").revoke(folder)
    assert reloader.reload(fresh=True).reloaded == ()
    assert (there / "ran").read_text() == "x"


def test_the_state_history_detail_and_focus_are_kept(there: Path) -> None:
    path = write(there / "hello.py")
    reloader, windows = loaded(found(files=[path]))
    context = ContextManager(windows)
    first = windows.open("hello", start=3)
    act(windows, first.id, "up")
    windows.set_lod(first.id, Lod.SUMMARY)
    windows.open("hello")
    context.mark_sent(context.compose())
    used = windows.focused_at(first.id)
    before = first.version
    write(path, words="Greets.")
    report = reloader.reload()
    assert report.reloaded == ("hello",)
    assert report.kept == ["hello_1", "hello_2"]
    assert report.is_good
    window = windows.get("hello_1")
    assert window is not None
    assert window is not first
    assert (window.lod, windows.focused_at("hello_1")) == (Lod.SUMMARY, used)
    assert window.version > before
    assert [one.action for one in runtime_of(window).history.entries] == ["up"]
    assert "Greets. 4" in window.to_xml()
    assert "Greets. 4" in str(context.compose().messages)
    assert len(context.window_items("hello_1")) == 1
    act(windows, "hello_1", "up")
    assert [one.id for one in windows.windows()] == ["hello_1", "hello_2"]


def test_the_same_size_and_time_do_not_hide_a_change(there: Path) -> None:
    path = write(there / "hello.py", words="Says one.")
    os.utime(path, (0, 0))
    reloader, windows = loaded(found(files=[path]))
    windows.open("hello")
    assert not reloader.is_changed("hello")
    write(path, words="Says two.")
    os.utime(path, (0, 0))
    assert reloader.is_changed("hello")
    assert reloader.reload().kept == ["hello_1"]
    assert not reloader.is_changed("hello")
    assert "Says two. 0" in windows.windows()[0].to_xml()
    assert "Says two. 0" in windows.open("hello").to_xml()
    write(path, words="Says one.")  # back to what was loaded first
    assert reloader.is_changed("hello")
    assert reloader.reload().kept == ["hello_1", "hello_2"]
    assert "Says one. 0" in windows.windows()[0].to_xml()


def test_a_file_that_has_not_changed_is_not_run_again(there: Path) -> None:
    _, reloader, windows = hello(there, more=MARK)
    (window,) = windows.windows()
    report = reloader.reload()
    assert windows.windows() == [window]
    assert list(report.lines(Words("en"))) == ["No window file has changed."]
    assert (there / "ran").read_text() == "x"


@pytest.mark.parametrize(
    ("more", "place"),
    [("\ndef broken(:\n", "hello.py:23"), ("\nraise KeyError('doin')\n", "hello.py:23")],
)
def test_a_file_that_fails_leaves_the_old_code(there: Path, more: str, place: str) -> None:
    path, reloader, windows = hello(there, 2)
    (window,) = windows.windows()
    write(path, words="Greets.", more=more)
    report = reloader.reload()
    assert [fault.place for fault in report.faults] == [place]
    assert "The old code runs on." in " ".join(report.lines(Words("en")))
    assert windows.windows() == [window]
    assert "Says hello. 0" in windows.open("hello").to_xml()
    assert list(reloader.reload().lines(Words("en"))) == ["No window file has changed."]
    write(path, words="Greets.")
    assert reloader.reload().kept == ["hello_1", "hello_2"]
    assert "Greets. 2" in windows.windows()[0].to_xml()


def test_a_refused_state_is_taken_by_a_later_version(there: Path) -> None:
    path, reloader, windows = hello(there, 7)
    good = path.read_text()
    path.write_text(good.replace("count: int = 0", "count: list[str] = []"))
    assert (
        "hello_1 keeps its state and its old code, until a version of hello takes the state."
        in list(reloader.reload().lines(Words("en")))
    )
    act(windows, "hello_1", "up")
    path.write_text(good.replace("count: int", "count: float"))
    assert reloader.reload().kept == ["hello_1"]
    assert "Says hello. 8" in windows.windows()[0].to_xml()


def renamed(good: str) -> str:
    return good.replace("count: int = 0", "number: int = 3").replace("state.count", "state.number")


def test_what_the_new_class_does_not_use_is_kept_aside(there: Path) -> None:
    path, reloader, windows = hello(there, 7)
    good = path.read_text()
    path.write_text(renamed(good))
    report = reloader.reload()
    assert report.windows[0].aside == {"count": 7}
    words = "hello_1 does not use these parts of its state, which are kept aside: count."
    assert words in list(report.lines(Words("en")))
    act(windows, "hello_1", "up")
    assert "Says hello. 4" in windows.windows()[0].to_xml()
    path.write_text(renamed(good) + "\n")
    assert not reloader.reload().windows[0].aside  # said once
    path.write_text(good)
    assert reloader.reload().windows[0].aside == {"number": 4}
    assert "Says hello. 7" in windows.windows()[0].to_xml()
    path.write_text(renamed(good))
    reloader.reload()
    assert "Says hello. 4" in windows.windows()[0].to_xml()


def test_a_migration_does_not_see_what_was_kept_aside(there: Path) -> None:
    """Otherwise the old value would replace the new one each time the window is restored."""
    path, reloader, windows = hello(there, 7)
    migrating = renamed(path.read_text()).replace(
        "number: int = 3",
        "number: int = 3\n"
        "        @pydantic.model_validator(mode='before')\n"
        "        @classmethod\n"
        "        def rename(cls, data):\n"
        "            if 'count' in data:\n"
        "                data = {**data, 'number': data['count']}\n"
        "            return data\n",
    )
    path.write_text(f"import pydantic\n{migrating}")
    reloader.reload()
    act(windows, "hello_1", "up")
    assert "Says hello. 8" in windows.windows()[0].to_xml()
    path.write_text(f"import pydantic\n{migrating}\n")
    reloader.reload()
    assert "Says hello. 8" in windows.windows()[0].to_xml()


def test_the_session_keeps_what_a_reload_put_aside(there: Path) -> None:
    path = write(there / "hello.py")
    good = path.read_text()

    def opened(session_id: str = "") -> Session:
        store = SessionStore(there / "home", SessionOptions(classes=found(files=[path]).classes()))
        return store.open(session_id) if session_id else store.create(there)

    session = opened()
    session.windows.open("hello", start=7)
    path.write_text(renamed(good))
    reloader = Reloader(found(files=[path]), session.windows)
    assert reloader.reload(fresh=True).windows[0].aside == {"count": 7}
    act(session.windows, "hello_1", "up")
    session.close()
    for _ in range(2):  # from the log, and from the checkpoint that resuming may write
        session = opened(session.id)
        assert "Says hello. 4" in session.windows.windows()[0].to_xml()
        session.save()
        session.close()
    path.write_text(good.replace("count: int = 0", "count: list[str] = []"))
    session = opened(session.id)  # refused: it stays in the session
    assert not session.windows.windows()
    session.close()
    path.write_text(good)
    session = opened(session.id)
    assert "Says hello. 7" in session.windows.windows()[0].to_xml()
    session.close()


@pytest.mark.parametrize(
    "more", ["    def restored(self):\n        raise KeyError('doin')\n", "CONTENT"]
)
def test_new_code_that_fails_at_once_gives_way_to_the_old(there: Path, more: str) -> None:
    path, reloader, windows = hello(there, 7)
    if more == "CONTENT":
        path.write_text(path.read_text().replace('return "Says', 'raise KeyError("doin"); "'))
    else:
        path.write_text(path.read_text() + more)
    report = reloader.reload()
    (refused,) = report.refused
    assert "KeyError: 'doin' (hello.py:" in refused.problem
    assert "Says hello. 7" in windows.windows()[0].to_xml()
    write(path, words="Greets.")
    assert reloader.reload().kept == ["hello_1"]
    assert "Greets. 7" in windows.windows()[0].to_xml()


def test_a_class_that_is_no_longer_there_keeps_its_windows(there: Path) -> None:
    path, reloader, windows = hello(there)
    write(path, cls="Other")
    report = reloader.reload()
    assert (report.reloaded, report.removed) == (("other",), ("hello",))
    assert "Says hello. 0" in windows.windows()[0].to_xml()
    assert windows.open("other")


JOB = """
    def restored(self):
        self.note("restored")

    def closed(self, reason):
        self.note(reason)

    def note(self, text):
        with open("hooks", "a") as file:
            file.write(text + " ")

    @action("Work")
    def work(self) -> str:
        async def forever(job):
            import asyncio
            await asyncio.sleep(60)
        self.env.job("digging", forever)
        return "Started."
"""


def test_jobs_are_cancelled_and_hooks_run_as_at_exit(there: Path) -> None:
    path, reloader, windows = hello(there, more=JOB)
    (window,) = windows.windows()
    act(windows, window.id, "work")
    assert runtime_of(window).jobs.running()
    seen: list[Event] = []
    windows.subscribe(seen.append)
    write(path, words="Greets.", more=JOB)
    report = reloader.reload()
    assert report.windows[0].jobs == ("digging",)
    assert (there / "hooks").read_text() == "exit restored "
    assert WindowNotified("hello_1", "digging was cancelled.") in seen
    assert not runtime_of(windows.windows()[0]).jobs.running()
    assert not runtime_of(window).jobs.running()
    windows.shut_down()


def test_a_missing_docstring_is_a_warning(there: Path) -> None:
    path = write(there / "hello.py")
    path.write_text(path.read_text().replace('    """Says hello."""\n', ""))
    registry = found(files=[path])
    (entry,) = registry.load_all()
    assert entry.usable
    assert str(entry.warning) == (
        "hello.py:4 Hello has no docstring: a model decides by its first line whether to open it"
    )
    assert str(found(files=[write(there / "hello.py")]).entries[0].warning) == ""

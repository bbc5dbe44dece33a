"""Settings that all tests share: the same surroundings, whoever starts the run, and where."""

import asyncio
import gc
import inspect
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from contextui.interrupt import reset_for_children
from tests import certificates, forkserver, patience
from tests.thorough import IS_THOROUGH, times
from tests.workers import Pool

# The first example may load the vocabulary, and windows have threads: time says nothing here.
# A run checks the code, so it has the same examples each time; a thorough one looks for new ones.
settings.register_profile(
    "contextui",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=not IS_THOROUGH,
    max_examples=times(40, 200),
)
settings.load_profile("contextui")

# Variables that reach the tests and the processes that they start. All others are dropped: locale,
# time zone, terminal, editor, shell, git's identity, proxies, keys and options of Python.
_KEPT = (
    *("PATH", "TMPDIR", "CI", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("CONTEXTUI_SEED", "CONTEXTUI_STEPS", "CONTEXTUI_SNAPSHOTS", "CONTEXTUI_THOROUGH"),
)
_OF_THIS_RUN = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")  # not of those that tests start
_SET = {"LANG": "C.UTF-8", "SHELL": "/bin/sh", "TERM": "xterm-256color", "TZ": "UTC"}

_LONGEST = 600.0  # seconds of an async test
_HOME = tempfile.mkdtemp(prefix="contextui-home-")


def _reset_surroundings() -> None:
    """Reset what a process inherits: environment, home, time zone, umask and signals.

    At import, because Textual and modules of tests read the environment when they are imported.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or (name.startswith("PYTEST_") and name not in _OF_THIS_RUN)
    }
    os.environ.clear()
    os.environ.update(kept | _SET | {"HOME": _HOME})
    time.tzset()
    os.umask(0o022)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    reset_for_children()
    os.fsync = os.fdatasync = lambda _: None  # type: ignore[assignment]  # no power is cut here


_reset_surroundings()
certificates.skip_system()
gc.disable()  # until all tests are collected


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="run the tests in so many processes")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an async test on an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.function):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    async def bounded() -> None:
        async with asyncio.timeout(_LONGEST):
            await pyfuncitem.obj(**given)

    asyncio.run(bounded())
    return True


def pytest_configure(config: pytest.Config) -> None:
    """All workers have one server to fork programs from."""
    if count := config.getoption("workers"):
        forkserver.share()
        config.pluginmanager.register(Pool(count, _begin_worker))


def _begin_worker() -> None:
    """Give each worker a home of its own."""
    os.environ["HOME"] = tempfile.mkdtemp(dir=_HOME)


def pytest_unconfigure() -> None:
    """Remove the home, and end connections; workers run no exit handlers."""
    forkserver.disconnect()
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.fixture
def in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Place windows where they were opened by default: a turn takes its final form at its end."""
    from contextui.context.manager import ContextManager
    from contextui.session.session import SessionOptions

    named = ContextManager.__init__.__kwdefaults__ or {}
    monkeypatch.setitem(named, "placement", "in-place")
    given = SessionOptions.__init__.__defaults__ or ()
    values = tuple("in-place" if value == "price" else value for value in given)
    monkeypatch.setattr(SessionOptions.__init__, "__defaults__", values)


@pytest.fixture(autouse=True, scope="session")
def patient_program() -> Iterator[None]:
    with patience.patient():
        yield


@pytest.fixture(autouse=True, scope="session")
def one_parse() -> Iterator[None]:
    """Each style sheet is parsed once, and not by each of the hundreds of apps again."""
    from textual.css.stylesheet import Stylesheet

    known: dict[Any, Any] = {}
    parse = Stylesheet._parse_rules

    def parse_once(sheet: Stylesheet, *given: Any, **named: Any) -> Any:
        key = (given, *named.items(), *sheet._variables.items())
        if key not in known:
            known[key] = parse(sheet, *given, **named)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_frames() -> Iterator[Callable[..., Any]]:
    """Draw no frames: nobody sees them, and they take a quarter of the time.

    `tests.tui.running.lines` draws the screen when a test looks at it.
    """
    from textual._compositor import Compositor

    draw = Compositor.render_update
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", lambda *_, **__: None)
        yield draw


@pytest.fixture
def frames(no_frames: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw frames as for a person."""
    from textual._compositor import Compositor

    monkeypatch.setattr(Compositor, "render_update", no_frames)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is imported stays; to look through it for garbage takes a fifth of a screen's time.

    What an app leaves behind is looked for more seldom, too: that takes a sixth of its time.
    """
    if session.config.getoption("workers"):
        forkserver.import_everything()  # once for all workers
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()

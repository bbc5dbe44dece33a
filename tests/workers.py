"""Run the tests in several processes: `pytest --workers N`.

The tests are collected once, and the workers are forked from the process that has done so. Workers
that collect for themselves, as those of pytest-xdist do, take eight seconds each before the first
test runs. A worker takes all tests of a file, so fixtures of a module are made once; of a file
with very many, it takes a part.
"""

import array
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, cast

import pytest

_SIZE = array.array("i", [0]).itemsize
_FORK = multiprocessing.get_context("fork")
_PARTS = 16  # groups that a worker takes at least, so that all end at about the same time


class Pool:
    """Runs the collected tests in forked processes; a plugin of pytest.

    Args:
        count: The number of workers.
        begin: Called in each worker, first of all.
    """

    def __init__(self, count: int, begin: Callable[[], None]) -> None:
        self._count, self._begin = count, begin

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly or not session.items:
            return None  # pytest's own loop says so
        groups = _groups(session.items, most=1 + len(session.items) // (_PARTS * self._count))
        tasks = _tasks(len(groups))
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        workers: dict[Connection, ForkProcess] = {}
        try:
            for number in range(min(self._count, len(groups))):
                ours, theirs = _FORK.Pipe(duplex=False)
                worker = _Worker(session, groups, tasks, theirs)
                process = _FORK.Process(target=worker.run, args=(f"w{number}", self._begin))
                process.start()
                theirs.close()
                workers[ours] = process
            _report(session, [*workers], tasks)
        finally:
            for process in workers.values():
                process.terminate()  # has ended, unless this process was interrupted
                process.join()
            os.close(tasks)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        return True


def _groups(items: Sequence[pytest.Item], most: int) -> list[Sequence[pytest.Item]]:
    """The tests of each file, or parts of them."""
    files = [list(file) for _, file in groupby(items, lambda item: item.path)]
    return [file[at : at + most] for file in files for at in range(0, len(file), most)]


def _tasks(count: int) -> int:
    """A pipe with the numbers of the groups, from which each worker takes its next one.

    The last ones come first: those of the app take longest.
    """
    reading, writing = os.pipe()
    os.write(writing, array.array("i", range(count)[::-1]).tobytes())
    os.close(writing)
    return reading


def _report(session: pytest.Session, workers: list[Connection], tasks: int) -> None:
    """Pass the workers' reports on, and a failure for each test that did not end."""
    hook, config = session.config.hook, session.config
    left = {item.nodeid: item for item in session.items}
    while open_ones := [each for each in workers if not each.closed]:
        for connection in cast(list[Connection], wait(open_ones)):
            try:
                data = connection.recv()
            except EOFError:
                connection.close()
                continue
            report = hook.pytest_report_from_serializable(config=config, data=data)
            if report.when == "teardown":
                left.pop(report.nodeid, None)
            hook.pytest_runtest_logreport(report=report)
            if session.shouldfail:
                while os.read(tasks, 1000):
                    pass
    if session.shouldfail:
        return
    for name, item in left.items():
        text = "The worker ended before the end of this test."
        report = pytest.TestReport(name, item.location, {}, "failed", text, "call")
        hook.pytest_runtest_logreport(report=report)


class _Worker:
    """Runs the tests of one group after another, in a process of its own."""

    def __init__(
        self,
        session: pytest.Session,
        groups: Sequence[Sequence[pytest.Item]],
        tasks: int,
        reports: Connection,
    ) -> None:
        self._session, self._groups = session, groups
        self._tasks, self._reports = tasks, reports

    def run(self, name: str, begin: Callable[[], None]) -> None:
        config = self._session.config
        config.pluginmanager.unregister(name="terminalreporter")
        capture: Any = config.pluginmanager.getplugin("capturemanager")
        capture.stop_global_capturing()  # its files are those of the process that forked
        capture.start_global_capturing()
        factory = config._tmp_path_factory  # type: ignore[attr-defined]
        factory._basetemp = factory.getbasetemp() / name
        factory._basetemp.mkdir()
        begin()
        config.pluginmanager.register(self)
        items = self._items()
        item = next(items, None)
        while item is not None and not self._session.shouldfail:
            following = next(items, None)
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            item = following
        capture.stop_global_capturing()

    def _items(self) -> Iterator[pytest.Item]:
        while data := os.read(self._tasks, _SIZE):
            yield from self._groups[array.array("i", data)[0]]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        config = self._session.config
        self._reports.send(config.hook.pytest_report_to_serializable(config=config, report=report))

"""Processes that save code at once, and such that are killed: at every step, then at any moment."""

import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextui import plain_file
from contextui.plain_file import is_temporary
from contextui.session.code import store as store_module
from contextui.session.code.store import CodeStore
from tests.forking import forked, killed
from tests.session.writer import apart
from tests.thorough import times

KILLS = times(8, 1_000)


def test_processes_that_save_at_once_lose_nothing(tmp_path: Path) -> None:
    run_apart("together", tmp_path)
    store = CodeStore(tmp_path / "code")
    listed = {one.code_id: one for one in store.list()}
    assert len(listed) == 4 * 4 + 1
    for worker in range(4):
        for number in range(4):
            assert store.read(f"code{worker}x{number}") == f"{worker} {number}"
            assert listed[f"code{worker}x{number}"].description == "Mine"
    assert store.read("shared") == listed["shared"].description
    assert listed["shared"].line_count == 1
    assert len(os.listdir(store.folder)) == 4 * 4 + 2


STEPS = ("write_all", "replace", "flush", "row", "unlink", "unlinked", "commit")


@pytest.mark.parametrize(("way", "first"), [("steps", "flush"), ("language_steps", "unlinked")])
def test_killed_at_every_step(tmp_path: Path, way: str, first: str) -> None:
    """The first step after which the new version counts.

    The index names the file, so in another language the old one counts until its row is committed;
    once the old one is gone, the new one does.
    """
    old = STEPS.index(first)
    versions = ["old"] * old + ["new"] * (len(STEPS) - old)
    assert run_apart(way, tmp_path) == dict(zip(STEPS, versions, strict=True))


def test_killed_at_any_moment(tmp_path: Path) -> None:
    assert run_apart("kills", tmp_path)["saved"] > 0


# --- what runs in a process without threads, which may fork ------------------------------------


def run_apart(way: str, folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(
        apart("-m", "tests.session.code.test_crash", way, folder / "code")
    )
    return report


def together(folder: Path) -> dict[str, Any]:
    def work(worker: int) -> None:
        store = CodeStore(folder)
        for number in range(4):
            store.save(f"code{worker}x{number}", "python", f"{worker} {number}", "Mine")
            store.save("shared", "python" if number % 2 else "go", f"{worker}", f"{worker}")

    children = [forked(lambda worker=worker: work(worker)) for worker in range(4)]  # type: ignore[misc]
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    return {}


def steps(folder: Path, language: str = "python") -> dict[str, str]:
    """Save over an old version and die at a step; which version there is afterwards."""
    found = {}
    for step in STEPS:
        store = CodeStore(folder / step)
        old = store.save("code", "python", "old\n", "Old")

        def die(*_: object, **__: object) -> None:
            os._exit(9)

        def crash(step: str = step, store: CodeStore = store) -> None:
            if step == "commit":
                store.save("code", language, "new\nnew\n", "New")
                die()
            owners: dict[str, Any] = {
                "replace": os,
                "row": store_module,
                "unlink": Path,
                "unlinked": Path,
            }
            calls: list[Callable[..., object]] = [die]
            if step == "flush":  # the folder's, behind the file's
                calls = [lambda _: None, die]
            elif step == "unlinked":
                calls = [lambda path: (os.unlink(path), die())]  # type: ignore[func-returns-value]
            name = {"row": "row_of", "unlinked": "unlink"}.get(step, step)
            setattr(
                owners.get(step, plain_file), name, lambda *arguments, **_: calls.pop(0)(*arguments)
            )
            store.save("code", language, "new\nnew\n", "New")
            die()

        assert os.waitstatus_to_exitcode(os.waitpid(forked(crash), 0)[1]) == 9
        content, listed = store.read("code"), store.list()
        assert len(listed) == 1
        assert content in ("old\n", "new\nnew\n")
        assert listed[0].line_count == content.count("\n")
        assert listed[0].char_count == len(content)
        assert listed[0].created_at == old.created_at
        found[step] = content.split()[0]
        again = store.save("code", language, "again", "Again")
        assert store.list() == [again]
        assert store.read("code") == "again"
        assert not [name for name in os.listdir(store.folder) if is_temporary(name)]
    return found


def language_steps(folder: Path) -> dict[str, str]:
    return steps(folder, "go")


def kills(folder: Path) -> dict[str, int]:
    rng, store, saved = random.Random(44), CodeStore(folder), 0
    number = 0
    store.save("code", "python", "0\n" * 2_000, "0")
    for _ in range(KILLS):

        def work(pipe: int, number: int = number) -> None:
            while True:
                number += 1
                language = ("python", "go", "rust")[number % 3]
                store.save("code", language, f"{number}\n" * 2_000, f"{number}")
                os.write(pipe, f"{number}\n".encode())

        lines = killed(work, rng.uniform(0, 0.02), after=rng.randrange(3))
        acknowledged = [int(line) for line in lines]
        saved += len(acknowledged)
        content, listed = store.read("code"), store.list()
        now = int(content.split("\n", 1)[0])
        assert content == f"{now}\n" * 2_000, "a mixture"
        assert now >= max(acknowledged, default=number)
        assert len(listed) == 1
        assert listed[0].char_count == len(content)
        number = now
    return {"saved": saved}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](Path(sys.argv[2]))))
